"""Whole programs, each one function of Weft, beside the same in what a user would take instead, in one run.

    functions.py [--device cpu|cuda:0] [--peers NAMES]   starts Weft's program and the peers; a table of medians
    functions.py NAME DEVICE                             one peer: serves its rows as the programs of this folder do

Peers are written as their documentation advises: Numba with parallel=True and loops over prange, on a GPU kernels of
numba.cuda; JAX and CuPy compiled whole where they can be. None has fast-math options, nor has Weft.
"""
import argparse
import json
import math
import os
import sys
import time

THREADS = int(os.environ.get("WEFT_THREADS", len(os.sched_getaffinity(0))))
os.environ["NUMBA_NUM_THREADS"] = str(THREADS)

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
WORKS = ("Black-Scholes, 2^26 options", "Mandelbrot, 2000^2, 1000 steps", "Gray-Scott, 2048^2, 200 steps",
         "k-means, 2^20 points of 4, 16 centres, 20 steps", "conjugate gradient, 256^3, 20 steps")
OPTIONS, PLANE, LIMIT, SHEET, SHEET_STEPS = 1 << 26, 2000, 1000, 2048, 200
POINTS, DIMS, CLUSTERS, ROUNDS, BOX, BOX_STEPS = 1 << 20, 4, 16, 20, 256, 20
RATE, VOLATILITY, FEED, KILL = np.float32(0.02), np.float32(0.3), np.float32(0.035), np.float32(0.06)
PEERS = {"cpu": ("numba", "jax"), "cuda": ("numba", "jax", "cupy")}
TURNS = 5


def spread(shape, low, high):
    steps = np.arange(1000003, dtype=np.int64) * 7919 % 1000003
    return np.resize((low + (high - low) * (steps / 1000003)).astype(np.float32), shape)


class Data:
    """What all peers begin with, as Weft's program does."""

    def __init__(self):
        self.spot, self.strike, self.years = (spread(OPTIONS, *ends) for ends in ((10, 50), (50, 12), (0.2, 2)))
        self.v = spread((SHEET, SHEET), 0, 0.5)
        self.x = np.ascontiguousarray(spread((DIMS, POINTS), 0, 1).T)  # Weft has a row for each coordinate
        self.centre = spread((CLUSTERS, DIMS), 0, 1)
        self.b = spread((BOX,) * 3, -1, 1).astype(np.float64)


def numba_cpu():
    from numba import njit, prange
    import numba

    @njit(parallel=True)
    def options(spot, strike, years, rate, volatility, call, put):
        for i in prange(spot.size):
            root = volatility * np.sqrt(years[i])
            d1 = (np.log(spot[i] / strike[i])
                  + (rate + np.float32(0.5) * volatility * volatility) * years[i]) / root
            d2 = d1 - root
            n1 = np.float32(0.5) + np.float32(0.5) * np.float32(math.erf(np.float32(0.70710678) * d1))
            n2 = np.float32(0.5) + np.float32(0.5) * np.float32(math.erf(np.float32(0.70710678) * d2))
            discounted = strike[i] * np.exp(-rate * years[i])
            call[i] = spot[i] * n1 - discounted * n2
            put[i] = discounted * (np.float32(1) - n2) - spot[i] * (np.float32(1) - n1)

    @njit(parallel=True)
    def mandelbrot(count, left, top, step, limit):
        for i in prange(count.shape[0]):
            for j in range(count.shape[1]):
                a, b, x, y, k = left + j * step, top + i * step, 0.0, 0.0, 0
                while k < limit and x * x + y * y <= 4.0:
                    x, y = x * x - y * y + a, 2.0 * x * y + b
                    k += 1
                count[i, j] = k

    @njit(parallel=True)
    def react(u, v, p, q, feed, kill):
        four = np.float32(4)
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                uvv = u[i, j] * v[i, j] * v[i, j]
                lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - four * u[i, j]
                lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - four * v[i, j]
                p[i, j] = u[i, j] + (np.float32(0.16) * lu - uvv + feed * (np.float32(1) - u[i, j]))
                q[i, j] = v[i, j] + (np.float32(0.08) * lv + uvv - (feed + kill) * v[i, j])

    @njit
    def gray_scott(u, v, p, q, steps, feed, kill):
        for _ in range(steps // 2):
            react(u, v, p, q, feed, kill)
            react(p, q, u, v, feed, kill)

    @njit(parallel=True)
    def kmeans(x, centre, label, steps, threads):
        n, dims = x.shape
        clusters = centre.shape[0]
        for _ in range(steps):
            for i in prange(n):
                least, nearest = np.float32(3e38), 0
                for k in range(clusters):
                    distance = np.float32(0)
                    for d in range(dims):
                        t = x[i, d] - centre[k, d]
                        distance += t * t
                    if distance < least:
                        least, nearest = distance, k
                label[i] = nearest
            total = np.zeros((threads, clusters, dims))
            members = np.zeros((threads, clusters))
            for t in prange(threads):
                for i in range(t * n // threads, (t + 1) * n // threads):
                    members[t, label[i]] += 1
                    for d in range(dims):
                        total[t, label[i], d] += x[i, d]
            for k in range(clusters):
                m = members[:, k].sum()
                if m > 0:
                    for d in range(dims):
                        centre[k, d] = total[:, k, d].sum() / m

    @njit(parallel=True)
    def multiply(p, q):
        n, pq = p.shape[0], 0.0
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    t = (6.0 * p[i, j, k] - p[i - 1, j, k] - p[i + 1, j, k] - p[i, j - 1, k] - p[i, j + 1, k]
                         - p[i, j, k - 1] - p[i, j, k + 1])
                    q[i, j, k] = t
                    pq += p[i, j, k] * t
        return pq

    @njit(parallel=True)
    def go_on(x, r, p, q, alpha):
        n, rr = p.shape[0], 0.0
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    x[i, j, k] += alpha * p[i, j, k]
                    t = r[i, j, k] - alpha * q[i, j, k]
                    r[i, j, k] = t
                    rr += t * t
        return rr

    @njit(parallel=True)
    def turn(r, p, beta):
        n = p.shape[0]
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    p[i, j, k] = r[i, j, k] + beta * p[i, j, k]

    @njit(parallel=True)
    def begin(x, b, r, p):
        n, rr = p.shape[0], 0.0
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    r[i, j, k] = p[i, j, k] = b[i, j, k]
                    x[i, j, k] = 0.0
                    rr += b[i, j, k] * b[i, j, k]
        return rr

    @njit
    def gradient(x, b, r, p, q, steps):
        rr = begin(x, b, r, p)
        for _ in range(steps):
            alpha = rr / multiply(p, q)
            after = go_on(x, r, p, q, alpha)
            turn(r, p, after / rr)
            rr = after
        return rr

    d = Data()
    call, put = np.zeros_like(d.spot), np.zeros_like(d.spot)
    count = np.zeros((PLANE, PLANE), np.int32)
    u, v, p, q = (np.zeros_like(d.v) for _ in range(4))
    centre, label = d.centre.copy(), np.zeros(POINTS, np.int32)
    box = [np.zeros_like(d.b) for _ in range(4)]

    def run_gray_scott():
        u[:] = 1
        v[:] = d.v
        gray_scott(u, v, p, q, SHEET_STEPS, FEED, KILL)

    def run_kmeans():
        centre[:] = d.centre
        kmeans(d.x, centre, label, ROUNDS, THREADS)

    return "numba " + numba.__version__, (
        lambda: options(d.spot, d.strike, d.years, RATE, VOLATILITY, call, put),
        lambda: mandelbrot(count, -2.0, -1.25, 2.5 / PLANE, LIMIT),
        run_gray_scott, run_kmeans, lambda: gradient(box[0], d.b, box[1], box[2], box[3], BOX_STEPS))


def jax_rows(device):
    import jax
    import jax.numpy as jnp
    from jax import lax
    jax.config.update("jax_platforms", device)
    jax.config.update("jax_enable_x64", True)
    half, one = jnp.float32(0.5), jnp.float32(1)

    @jax.jit
    def options(spot, strike, years):
        root = VOLATILITY * jnp.sqrt(years)
        d1 = (jnp.log(spot / strike) + (RATE + half * VOLATILITY * VOLATILITY) * years) / root
        n1, n2 = (half + half * lax.erf(jnp.float32(0.70710678) * d) for d in (d1, d1 - root))
        discounted = strike * jnp.exp(-RATE * years)
        return spot * n1 - discounted * n2, discounted * (one - n2) - spot * (one - n1)

    @jax.jit
    def mandelbrot():
        a = (-2.0 + jnp.arange(PLANE) * (2.5 / PLANE))[None, :] + jnp.zeros((PLANE, PLANE))
        b = (-1.25 + jnp.arange(PLANE) * (2.5 / PLANE))[:, None] + jnp.zeros((PLANE, PLANE))

        def step(state):
            k, x, y, count = state
            inside = x * x + y * y <= 4.0
            return (k + 1, jnp.where(inside, x * x - y * y + a, x), jnp.where(inside, 2.0 * x * y + b, y),
                    count + inside)

        start = (0, jnp.zeros_like(a), jnp.zeros_like(a), jnp.zeros((PLANE, PLANE), jnp.int32))
        return lax.while_loop(lambda state: (state[0] < LIMIT), step, start)[3]

    @jax.jit
    def gray_scott(u, v):
        def step(_, state):
            u, v = state
            inner, uvv = (slice(1, -1),) * 2, None
            lu, lv = (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:] - 4 * w[inner] for w in (u, v))
            s, t = u[inner], v[inner]
            uvv = s * t * t
            return (u.at[inner].set(s + (jnp.float32(0.16) * lu - uvv + FEED * (one - s))),
                    v.at[inner].set(t + (jnp.float32(0.08) * lv + uvv - (FEED + KILL) * t)))
        return lax.fori_loop(0, SHEET_STEPS, step, (u, v))

    @jax.jit
    def kmeans(x, centre):
        def step(_, state):
            centre, _ = state
            label = jnp.argmin(((x[:, None, :] - centre[None, :, :]) ** 2).sum(2), 1)
            total = jax.ops.segment_sum(x.astype(jnp.float64), label, CLUSTERS)
            members = jax.ops.segment_sum(jnp.ones(POINTS), label, CLUSTERS)[:, None]
            return jnp.where(members > 0, total / members, centre).astype(jnp.float32), label
        return lax.fori_loop(0, ROUNDS, step, (centre, jnp.zeros(POINTS, jnp.int64)))

    @jax.jit
    def gradient(b):
        inner = (slice(1, -1),) * 3
        b = jnp.zeros_like(b).at[inner].set(b[inner])

        def multiply(p):
            t = (6 * p[1:-1, 1:-1, 1:-1] - p[:-2, 1:-1, 1:-1] - p[2:, 1:-1, 1:-1] - p[1:-1, :-2, 1:-1]
                 - p[1:-1, 2:, 1:-1] - p[1:-1, 1:-1, :-2] - p[1:-1, 1:-1, 2:])
            return jnp.zeros_like(p).at[inner].set(t)

        def step(_, state):
            x, r, p, rr = state
            q = multiply(p)
            alpha = rr / jnp.vdot(p, q)
            r = r - alpha * q
            after = jnp.vdot(r, r)
            return x + alpha * p, r, r + after / rr * p, after
        return lax.fori_loop(0, BOX_STEPS, step, (jnp.zeros_like(b), b, b, jnp.vdot(b, b)))

    d = Data()
    spot, strike, years, v, x, centre, b = (
        jnp.asarray(a) for a in (d.spot, d.strike, d.years, d.v, d.x, d.centre, d.b))
    bodies = (lambda: options(spot, strike, years), mandelbrot, lambda: gray_scott(jnp.ones_like(v), v),
              lambda: kmeans(x, centre), lambda: gradient(b))
    return "jax " + jax.__version__, [lambda body=body: jax.block_until_ready(body()) for body in bodies]


def cupy_rows():
    import cupy
    from cupyx.scipy.special import erf
    d = Data()
    spot, strike, years, first_v, x, first_centre, b = (
        cupy.asarray(a) for a in (d.spot, d.strike, d.years, d.v, d.x, d.centre, d.b))

    @cupy.fuse()
    def options(spot, strike, years):
        root = VOLATILITY * cupy.sqrt(years)
        d1 = (cupy.log(spot / strike) + (RATE + np.float32(0.5) * VOLATILITY * VOLATILITY) * years) / root
        n1 = np.float32(0.5) + np.float32(0.5) * erf(np.float32(0.70710678) * d1)
        n2 = np.float32(0.5) + np.float32(0.5) * erf(np.float32(0.70710678) * (d1 - root))
        discounted = strike * cupy.exp(-RATE * years)
        return (spot * n1 - discounted * n2,
                discounted * (np.float32(1) - n2) - spot * (np.float32(1) - n1))

    escape = cupy.ElementwiseKernel(
        "int32 width, float64 left, float64 top, float64 step, int32 limit", "int32 count",
        "const double a = left + (i % width)*step, b = top + (i / width)*step; double x = 0, y = 0; int k = 0;"
        "while (k < limit && x*x + y*y <= 4.0) { const double t = x*x - y*y + a; y = 2.0*x*y + b; x = t; k++; }"
        "count = k;", "escape")
    count = cupy.zeros((PLANE, PLANE), cupy.int32)
    react = cupy.RawKernel(r"""
    extern "C" __global__ void react(const float *u, const float *v, float *p, float *q, int n, float feed, float kill) {
        int j = blockIdx.x*blockDim.x + threadIdx.x + 1, i = blockIdx.y*blockDim.y + threadIdx.y + 1, at = i*n + j;
        if (i >= n - 1 || j >= n - 1) return;
        float s = u[at], t = v[at], uvv = s*t*t;
        float lu = u[at - n] + u[at + n] + u[at - 1] + u[at + 1] - 4.0f*s;
        float lv = v[at - n] + v[at + n] + v[at - 1] + v[at + 1] - 4.0f*t;
        p[at] = s + (0.16f*lu - uvv + feed*(1.0f - s));
        q[at] = t + (0.08f*lv + uvv - (feed + kill)*t);
    }""", "react")
    u, v, p, q = (cupy.zeros_like(first_v) for _ in range(4))
    grid, block = ((SHEET + 31) // 32, (SHEET + 7) // 8), (32, 8)

    def run_gray_scott():
        u.fill(1)
        v[:] = first_v
        for _ in range(SHEET_STEPS // 2):
            react(grid, block, (u, v, p, q, np.int32(SHEET), FEED, KILL))
            react(grid, block, (p, q, u, v, np.int32(SHEET), FEED, KILL))

    nearest = cupy.ElementwiseKernel(
        "raw float32 x, raw float32 centre, int32 clusters, int32 dims", "int32 label",
        "float least = 3e38f; label = 0; for (int k = 0; k < clusters; k++) { float s = 0;"
        "for (int d = 0; d < dims; d++) { float t = x[i*dims + d] - centre[k*dims + d]; s += t*t; }"
        "if (s < least) { least = s; label = k; } }", "nearest")
    label, numbers = cupy.zeros(POINTS, cupy.int32), cupy.arange(CLUSTERS)

    def run_kmeans():
        centre = first_centre.copy()
        for _ in range(ROUNDS):
            nearest(x, centre, np.int32(CLUSTERS), np.int32(DIMS), label)
            total = cupy.stack([cupy.bincount(label, x[:, k], CLUSTERS) for k in range(DIMS)], 1)
            members = cupy.bincount(label, minlength=CLUSTERS)[:, None]
            centre = cupy.where(members > 0, total / members, centre).astype(cupy.float32)

    multiply = cupy.ElementwiseKernel(
        "raw float64 p, int32 n", "float64 q",
        "int k = i % n, j = i / n % n, h = i / n / n; q = 0;"
        "if (h > 0 && j > 0 && k > 0 && h < n - 1 && j < n - 1 && k < n - 1) q = 6.0*p[i] - p[i - n*n] - p[i + n*n]"
        " - p[i - n] - p[i + n] - p[i - 1] - p[i + 1];", "multiply")
    axpy = cupy.ElementwiseKernel("float64 s, float64 a, float64 t", "float64 r", "r = t + s*a", "axpy")

    def run_gradient():
        r = cupy.zeros_like(b)
        r[1:-1, 1:-1, 1:-1] = b[1:-1, 1:-1, 1:-1]
        s, t, w = r.copy(), cupy.zeros_like(b), cupy.empty_like(b)
        rr = cupy.vdot(r, r)
        for _ in range(BOX_STEPS):
            multiply(s, np.int32(BOX), w)
            alpha = rr / cupy.vdot(s, w)
            axpy(alpha, s, t, t)
            axpy(-alpha, w, r, r)
            after = cupy.vdot(r, r)
            axpy(after / rr, s, r, s)
            rr = after

    bodies = (lambda: options(spot, strike, years),
              lambda: escape(np.int32(PLANE), -2.0, -1.25, 2.5 / PLANE, np.int32(LIMIT), count),
              run_gray_scott, run_kmeans, run_gradient)
    wait = cupy.cuda.Device().synchronize
    return "cupy " + cupy.__version__, [lambda body=body: (body(), wait()) for body in bodies]


def numba_cuda():
    """Kernels of one thread a point, and sums in shared memory with one atomic addition a block, as the manual has them."""
    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # Numba 0.68.0 looks for names that NumPy 2.5 has no more
            setattr(np, old, getattr(np, new))
    from numba import cuda, float32, float64
    import numba
    threads = 256

    @cuda.jit(device=True)
    def add_up(value, total):
        shared = cuda.shared.array(256, float64)
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        shared[t] = value
        cuda.syncthreads()
        half = 128
        while half > 0:
            if t < half:
                shared[t] += shared[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            cuda.atomic.add(total, 0, shared[0])

    @cuda.jit
    def options(spot, strike, years, rate, volatility, call, put):
        i = cuda.grid(1)
        if i < spot.size:
            root = volatility * math.sqrt(years[i])
            d1 = (math.log(spot[i] / strike[i])
                  + (rate + float32(0.5) * volatility * volatility) * years[i]) / root
            d2 = d1 - root
            n1 = float32(0.5) + float32(0.5) * math.erf(float32(0.70710678) * d1)
            n2 = float32(0.5) + float32(0.5) * math.erf(float32(0.70710678) * d2)
            discounted = strike[i] * math.exp(-rate * years[i])
            call[i] = spot[i] * n1 - discounted * n2
            put[i] = discounted * (float32(1) - n2) - spot[i] * (float32(1) - n1)

    @cuda.jit
    def mandelbrot(count, left, top, step, limit):
        j, i = cuda.grid(2)
        if i < count.shape[0] and j < count.shape[1]:
            a, b, x, y, k = left + j * step, top + i * step, 0.0, 0.0, 0
            while k < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + a, 2.0 * x * y + b
                k += 1
            count[i, j] = k

    @cuda.jit
    def react(u, v, p, q, feed, kill):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            s, t = u[i, j], v[i, j]
            uvv = s * t * t
            lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - float32(4) * s
            lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - float32(4) * t
            p[i, j] = s + (float32(0.16) * lu - uvv + feed * (float32(1) - s))
            q[i, j] = t + (float32(0.08) * lv + uvv - (feed + kill) * t)

    @cuda.jit
    def nearest(x, centre, label, total, members):
        sums = cuda.shared.array((CLUSTERS, DIMS), float64)
        counts = cuda.shared.array(CLUSTERS, float64)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if t < CLUSTERS:
            counts[t] = 0
            for d in range(DIMS):
                sums[t, d] = 0
        cuda.syncthreads()
        if i < x.shape[0]:
            least, best = float32(3e38), 0
            for k in range(centre.shape[0]):
                distance = float32(0)
                for d in range(DIMS):
                    difference = x[i, d] - centre[k, d]
                    distance += difference * difference
                if distance < least:
                    least, best = distance, k
            label[i] = best
            cuda.atomic.add(counts, best, 1.0)
            for d in range(DIMS):
                cuda.atomic.add(sums, (best, d), float64(x[i, d]))
        cuda.syncthreads()
        if t < CLUSTERS:
            cuda.atomic.add(members, t, counts[t])
            for d in range(DIMS):
                cuda.atomic.add(total, (t, d), sums[t, d])

    @cuda.jit
    def move(centre, total, members):
        k, d = cuda.grid(2)
        if k < centre.shape[0] and d < centre.shape[1]:
            if members[k] > 0:
                centre[k, d] = float32(total[k, d] / members[k])
            total[k, d] = 0
            cuda.syncthreads()
            if d == 0:
                members[k] = 0

    @cuda.jit
    def begin(x, b, r, p, sums):
        k, j, i = cuda.grid(3)
        n, value = p.shape[0], 0.0
        if 0 < i < n - 1 and 0 < j < n - 1 and 0 < k < n - 1:
            value = b[i, j, k]
            r[i, j, k] = value
            p[i, j, k] = value
            x[i, j, k] = 0.0
        add_up(value * value, sums[0:1])

    @cuda.jit
    def multiply(p, q, sums, s):
        k, j, i = cuda.grid(3)
        n, value = p.shape[0], 0.0
        if 0 < i < n - 1 and 0 < j < n - 1 and 0 < k < n - 1:
            t = (6.0 * p[i, j, k] - p[i - 1, j, k] - p[i + 1, j, k] - p[i, j - 1, k] - p[i, j + 1, k]
                 - p[i, j, k - 1] - p[i, j, k + 1])
            q[i, j, k] = t
            value = p[i, j, k] * t
        add_up(value, sums[2 * s + 1:2 * s + 2])

    @cuda.jit
    def go_on(r, q, sums, s):
        k, j, i = cuda.grid(3)
        n, t = r.shape[0], 0.0
        if 0 < i < n - 1 and 0 < j < n - 1 and 0 < k < n - 1:
            t = r[i, j, k] - sums[2 * s] / sums[2 * s + 1] * q[i, j, k]
            r[i, j, k] = t
        add_up(t * t, sums[2 * s + 2:2 * s + 3])

    @cuda.jit
    def turn(x, r, p, sums, s):
        k, j, i = cuda.grid(3)
        n = p.shape[0]
        if 0 < i < n - 1 and 0 < j < n - 1 and 0 < k < n - 1:
            x[i, j, k] += sums[2 * s] / sums[2 * s + 1] * p[i, j, k]
            p[i, j, k] = r[i, j, k] + sums[2 * s + 2] / sums[2 * s] * p[i, j, k]

    d = Data()
    spot, strike, years, first_v, x, first_centre, b = (
        cuda.to_device(a) for a in (d.spot, d.strike, d.years, d.v, d.x, d.centre, d.b))
    call, put = cuda.device_array_like(spot), cuda.device_array_like(spot)
    count = cuda.device_array((PLANE, PLANE), np.int32)
    u, v, p, q = (cuda.to_device(np.zeros_like(d.v)) for _ in range(4))
    ones = cuda.to_device(np.ones_like(d.v))
    centre, label = cuda.device_array_like(first_centre), cuda.device_array(POINTS, np.int32)
    total, members = cuda.to_device(np.zeros((CLUSTERS, DIMS))), cuda.to_device(np.zeros(CLUSTERS))
    box = [cuda.to_device(np.zeros_like(d.b)) for _ in range(4)]
    sums, no_sums = cuda.device_array(2 * BOX_STEPS + 1), cuda.to_device(np.zeros(2 * BOX_STEPS + 1))
    plane = (-(-PLANE // 32), -(-PLANE // 8)), (32, 8)
    sheet = (-(-SHEET // 32), -(-SHEET // 8)), (32, 8)
    cube = (-(-BOX // 64), -(-BOX // 4), BOX), (64, 4, 1)

    def run_gray_scott():
        u.copy_to_device(ones)
        v.copy_to_device(first_v)
        for _ in range(SHEET_STEPS // 2):
            react[sheet](u, v, p, q, FEED, KILL)
            react[sheet](p, q, u, v, FEED, KILL)

    def run_kmeans():
        centre.copy_to_device(first_centre)
        for _ in range(ROUNDS):
            nearest[-(-POINTS // threads), threads](x, centre, label, total, members)
            move[(CLUSTERS, 1), (1, DIMS)](centre, total, members)

    def run_gradient():
        sums.copy_to_device(no_sums)
        begin[cube](box[0], b, box[1], box[2], sums)
        for s in range(BOX_STEPS):
            multiply[cube](box[2], box[3], sums, s)
            go_on[cube](box[1], box[3], sums, s)
            turn[cube](box[0], box[1], box[2], sums, s)

    bodies = (lambda: options[-(-OPTIONS // threads), threads](spot, strike, years, RATE, VOLATILITY, call, put),
              lambda: mandelbrot[plane](count, -2.0, -1.25, 2.5 / PLANE, LIMIT),
              run_gray_scott, run_kmeans, run_gradient)
    return "numba.cuda " + numba.__version__, [lambda body=body: (body(), cuda.synchronize()) for body in bodies]


def serve(name, device):
    """Lists the rows, then measures those whose numbers it reads: after a call to warm up, the first time."""
    if name == "jax":
        who, bodies = jax_rows(device)
    elif name == "cupy":
        who, bodies = cupy_rows()
    elif device == "cpu":
        who, bodies = numba_cpu()
    else:
        who, bodies = numba_cuda()
    for work in WORKS:
        print(json.dumps({"work": work, "who": who, "device": device, "n": 0, "bytes": 0}))
    print("ready", flush=True)
    warm = set()
    for line in sys.stdin:
        number = int(line)
        try:
            if number not in warm:
                bodies[number]()
            warm.add(number)
            begin = time.perf_counter()
            bodies[number]()
            answer = {"seconds": time.perf_counter() - begin}
        except Exception as error:  # one row that a library cannot do does not end the others
            answer = {"error": f"{type(error).__name__}: {str(error)[:100]}"}
        print(json.dumps(answer), flush=True)


def main():
    import run
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peers", help="some of them, with commas")
    parser.add_argument("--only", default="", help="rows with this text in their names")
    options = parser.parse_args()
    kind = run.kind_of(options.device)
    folder = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "bench")
    programs = [run.Program("weft", [os.path.join(folder, "functions"), "serve", "--device", options.device])]
    for name in options.peers.split(",") if options.peers else PEERS.get(kind, ()):
        programs.append(run.Program(name, [sys.executable, os.path.abspath(__file__), name, kind]))
    for number, work in enumerate(WORKS):
        if options.only not in work:
            continue
        rows = [p.rows[number] for p in programs if len(p.rows) > number and p.measure(number)]
        for row in rows:
            row["all_seconds"] = []
        for _ in range(TURNS):
            for p in programs:
                if len(p.rows) > number and p.rows[number] in rows:
                    p.measure(number)
        print(work)
        for row in rows:
            times = sorted(row["all_seconds"])
            print(f"    {row['who']:16} {times[len(times) // 2]:9.4f} s   {times[0]:.4f} to {times[-1]:.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[1].startswith("-"):
        serve(*sys.argv[1:])
    else:
        main()
