"""The rows of the benchmark in what a user would take instead of Weft: one library a process, JSON lines on stdout.

    peers.py numpy|numexpr|numba|torch|jax

Each row is written as that library's users would write it for speed: into arrays that are there already where it
can, compiled where it can compile. Started by bench/run.py, one process for each; it prints its rows and measures
those that it is asked for, so that all libraries do a row one right after the other.
"""
import json
import os
import statistics
import sys
import time

THREADS = int(os.environ.get("WEFT_THREADS", len(os.sched_getaffinity(0))))
for name in ("NUMEXPR_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np

WARM_UP, FEW, LONG = 0.2, 3, 0.05  # seconds, calls, seconds
QUEUED = 500  # small calls, fewer than a driver queues before it waits
SIDE, CUBE, SMALL = 8192, 400, 1024
COUNT = SIDE * SIDE
TOUCHED = "zeros, 2^26 f32, each page touched"  # some pages come only then

BYTES = {  # that each row must move
    "a += b": 12 * COUNT, "c = a + b": 12 * COUNT, "c += 1/a + 2ab": 16 * COUNT,
    "where(a >= b, a - b, b - a)": 12 * COUNT, "sin(exp(a))": 8 * COUNT, "sin(a) to 10^6": 8 * COUNT,
    "a + b.T": 12 * COUNT, "(a - row)*row": 8 * COUNT, "a[:, ::2]*2": 6 * COUNT,
    "sum(a)": 4 * COUNT, "sum(a) axis 0": 4 * COUNT, "sum(a) axis 1": 4 * COUNT,
    "sum(sin(a)*a)": 4 * COUNT, "sum(sin(a)*a) axis 0": 4 * COUNT, "sum(sin(a)*a) axis 1": 4 * COUNT,
    "laplacian(a), 400^3": 8 * CUBE**3, "uniform random": 4 * COUNT,
    TOUCHED: 4 << 26,
    "copy 8192^2 f32": 8 * COUNT, "copy of a transposed 8192^2 f32": 8 * COUNT,
    "copy of a[:, ::2], 8192^2 f32": 6 * COUNT,
}
COUNTS = {"laplacian(a), 400^3": CUBE**3, "a[:, ::2]*2": COUNT // 2, "copy of a[:, ::2], 8192^2 f32": COUNT // 2}
ADD_SMALL, FUSED_SMALL = (f"call on 1024 elements, 1-d: {code}" for code in ("c = a + b", "c += 1/a + 2ab"))
SMALL_ROWS = {ADD_SMALL: 2000, FUSED_SMALL: 2000, "make and release 1024 f32": 20000, "zeros, 1024 f32": 20000}


def spread(shape, low, high):
    period = 1000003
    steps = np.arange(period, dtype=np.int64) * 7919 % period
    return np.resize((low + (high - low) * (steps / period)).astype(np.float32), shape)


class Data:
    """The arrays that all rows work on, made once."""

    def __init__(self):
        self.a, self.b = spread((SIDE, SIDE), 0.5, 1.5), spread((SIDE, SIDE), 0.7, 1.4)
        self.c = np.zeros((SIDE, SIDE), np.float32)
        self.row, self.far = spread((SIDE,), 0.5, 1.5), spread((SIDE, SIDE), -1e6, 1e6)
        self.half = np.zeros((SIDE, SIDE // 2), np.float32)
        self.cube = spread((CUBE,) * 3, 0.5, 1.5)
        self.cube_out = np.zeros_like(self.cube)
        self.x, self.y = spread((SMALL,), 0.5, 1.5), spread((SMALL,), 0.7, 1.4)
        self.z = np.zeros(SMALL, np.float32)


def warm_up(body):
    """Until the body has run for a while: what it compiles at first is compiled."""
    begin = time.perf_counter()
    body()
    while time.perf_counter() - begin < WARM_UP:
        body()


def seconds_of(body, repeat, wait=None):
    """The median of a few calls, of one where it is long; without the time that `wait` takes."""
    runs = []
    while len(runs) < FEW and sum(runs) < LONG:
        start = time.perf_counter()
        for _ in range(repeat):
            body()
        runs.append((time.perf_counter() - start) / repeat)
        if wait:
            wait()
    return statistics.median(runs)


class Row:
    """One piece of work by one peer. `make` gives the body; what it holds is dropped after use where it is large."""

    def __init__(self, who, version, work, make, count, moved, repeat=1, kept=True):
        self.who, self.version, self.work, self.count, self.moved, self.repeat = who, version, work, count, moved, repeat
        self.make, self.kept, self.body = make, kept, None
        self.last = None  # seconds, when it was measured last

    def listed(self, device):
        return {"work": self.work, "who": self.who, "version": self.version, "device": device, "n": self.count,
                "bytes": self.moved}

    def measure(self, wait):
        self.body = self.body or self.make()
        try:
            if self.last is None:
                warm_up(self.body)
            elif self.last * self.repeat < LONG:
                seconds_of(self.body, 1, wait)
            self.last = seconds_of(self.body, self.repeat, wait)
        finally:
            if not self.kept:
                self.body = None
        return self.last


def main_row(who, version, work, body, queued=False):
    """A row of the tables of this file."""
    small = work in SMALL_ROWS
    count = SMALL if small else COUNTS.get(work, COUNT)
    return Row(who, version, work, lambda: body, count, BYTES.get(work, 0),
               (QUEUED if queued else SMALL_ROWS[work]) if small else 1)


def serve(rows, device="cpu", wait=None):
    """Lists the rows, then measures those whose numbers it reads, the first time after a warm-up.

    With `wait`, calls of small rows are queued, and what counts is how long that takes.
    """
    for row in rows:
        print(json.dumps(row.listed(device)))
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            answer = {"seconds": rows[int(line)].measure(wait)}
        except Exception as error:  # one row that a library cannot do does not end the others
            answer = {"error": f"{type(error).__name__}: {str(error)[:100]}"}
        print(json.dumps(answer), flush=True)


def laplacian_by_slices(a, out):
    """Six slices, each added in place: what NumPy's users write."""
    np.multiply(a, 6, out=out)
    for axis in range(3):
        first = [slice(None)] * 3
        last, inner, edge = list(first), list(first), list(first)
        last[axis], inner[axis], edge[axis] = slice(1, None), slice(None, -1), slice(-1, None)
        out[tuple(inner)] -= a[tuple(last)]
        out[tuple(edge)] -= a[tuple(edge)]
        edge[axis] = slice(0, 1)
        out[tuple(last)] -= a[tuple(inner)]
        out[tuple(edge)] -= a[tuple(edge)]


def numpy_rows():
    d = Data()
    generator = np.random.default_rng(0)
    two = np.float32(2)

    def fused(a, b, c):
        c += 1 / a + two * a * b

    def touched_zeros():
        np.zeros(1 << 26, np.float32)[::1024] = 1

    yield "numpy", np.__version__, [
        ("make and release 1024 f32", lambda: np.empty(SMALL, np.float32)),
        ("zeros, 1024 f32", lambda: np.zeros(SMALL, np.float32)),
        (TOUCHED, touched_zeros),
        ("copy 8192^2 f32", lambda: np.copyto(d.c, d.a)),
        ("copy of a transposed 8192^2 f32", lambda: np.copyto(d.c, d.a.T)),
        ("copy of a[:, ::2], 8192^2 f32", lambda: np.copyto(d.half, d.a[:, ::2])),
        (ADD_SMALL, lambda: np.add(d.x, d.y, out=d.z)),
        (FUSED_SMALL, lambda: fused(d.x, d.y, d.z)),
        ("a += b", lambda: np.add(d.c, d.b, out=d.c)),
        ("c = a + b", lambda: np.add(d.a, d.b, out=d.c)),
        ("c += 1/a + 2ab", lambda: fused(d.a, d.b, d.c)),
        ("where(a >= b, a - b, b - a)", lambda: np.where(d.a >= d.b, d.a - d.b, d.b - d.a)),
        ("sin(exp(a))", lambda: np.sin(np.exp(d.a, out=d.c), out=d.c)),
        ("sin(a) to 10^6", lambda: np.sin(d.far, out=d.c)),
        ("a + b.T", lambda: np.add(d.a, d.b.T, out=d.c)),
        ("(a - row)*row", lambda: np.multiply(np.subtract(d.a, d.row, out=d.c), d.row, out=d.c)),
        ("a[:, ::2]*2", lambda: np.multiply(d.a[:, ::2], two, out=d.half)),
        ("sum(a)", lambda: d.a.sum()),
        ("sum(a) axis 0", lambda: d.a.sum(0)),
        ("sum(a) axis 1", lambda: d.a.sum(1)),
        ("sum(sin(a)*a)", lambda: np.multiply(np.sin(d.a, out=d.c), d.a, out=d.c).sum()),
        ("sum(sin(a)*a) axis 0", lambda: np.multiply(np.sin(d.a, out=d.c), d.a, out=d.c).sum(0)),
        ("sum(sin(a)*a) axis 1", lambda: np.multiply(np.sin(d.a, out=d.c), d.a, out=d.c).sum(1)),
        ("laplacian(a), 400^3", lambda: laplacian_by_slices(d.cube, d.cube_out)),
        ("uniform random", lambda: generator.random(dtype=np.float32, out=d.c)),
    ]


def numexpr_rows():
    import numexpr
    numexpr.set_num_threads(THREADS)
    d = Data()
    names = dict(a=d.a, b=d.b, c=d.c, row=d.row, far=d.far, h=d.a[:, ::2], t=d.b.T, x=d.x, y=d.y, z=d.z)

    def run(code, out=None):
        return lambda: numexpr.evaluate(code, names, out=out)

    yield "numexpr", numexpr.__version__, [
        (ADD_SMALL, run("x + y", d.z)),
        (FUSED_SMALL, run("z + 1/x + 2*x*y", d.z)),
        ("a += b", run("c + b", d.c)),
        ("c = a + b", run("a + b", d.c)),
        ("c += 1/a + 2ab", run("c + 1/a + 2*a*b", d.c)),
        ("where(a >= b, a - b, b - a)", run("where(a >= b, a - b, b - a)", d.c)),
        ("sin(exp(a))", run("sin(exp(a))", d.c)),
        ("sin(a) to 10^6", run("sin(far)", d.c)),
        ("a + b.T", run("a + t", d.c)),
        ("(a - row)*row", run("(a - row)*row", d.c)),
        ("a[:, ::2]*2", run("h*2", d.half)),
        ("sum(a)", run("sum(a)")),
        ("sum(a) axis 0", run("sum(a, axis=0)")),
        ("sum(a) axis 1", run("sum(a, axis=1)")),
        ("sum(sin(a)*a)", run("sum(sin(a)*a)")),
    ]


def numba_rows():
    import numba
    from numba import njit, prange
    numba.set_num_threads(THREADS)
    d = Data()
    one, two, six, zero = (np.float32(k) for k in (1, 2, 6, 0))
    flat = {name: getattr(d, name).reshape(-1) for name in ("a", "b", "c", "far")}

    def elementwise(text):
        """A parallel loop over flat arrays."""
        scope = {"prange": prange, "one": one, "two": two, "sin": np.sin, "exp": np.exp}
        exec("def loop(a, b, c):\n  for i in prange(c.size):\n    " + text, scope)
        return njit(parallel=True)(scope["loop"])

    @njit(parallel=True)
    def turned(a, b, c):
        for block in prange(a.shape[0] // 64):
            for other in range(0, a.shape[1], 64):
                for i in range(block * 64, block * 64 + 64):
                    for j in range(other, other + 64):
                        c[i, j] = a[i, j] + b[j, i]

    @njit(parallel=True)
    def with_row(a, row, c):
        for i in prange(a.shape[0]):
            for j in range(a.shape[1]):
                c[i, j] = (a[i, j] - row[j]) * row[j]

    @njit(parallel=True)
    def stepped(a, half):
        for i in prange(a.shape[0]):
            for j in range(half.shape[1]):
                half[i, j] = a[i, 2 * j] * two

    @njit(parallel=True, fastmath=True)
    def total(a):
        s = zero
        for i in prange(a.size):
            s += a[i]
        return s

    @njit(parallel=True, fastmath=True)
    def total_sin(a):
        s = zero
        for i in prange(a.size):
            s += np.sin(a[i]) * a[i]
        return s

    @njit(parallel=True, fastmath=True)
    def total_0(a):
        out = np.zeros(a.shape[1], np.float32)
        stripe = 1024
        for part in prange(a.shape[1] // stripe):
            for i in range(a.shape[0]):
                for j in range(part * stripe, (part + 1) * stripe):
                    out[j] += a[i, j]
        return out

    @njit(parallel=True, fastmath=True)
    def total_1(a):
        out = np.empty(a.shape[0], np.float32)
        for i in prange(a.shape[0]):
            s = zero
            for j in range(a.shape[1]):
                s += a[i, j]
            out[i] = s
        return out

    @njit(parallel=True)
    def laplacian(a, out):
        last = a.shape[0] - 1
        for z in prange(last + 1):
            z0, z1 = max(z - 1, 0), min(z + 1, last)
            for y in range(last + 1):
                y0, y1 = max(y - 1, 0), min(y + 1, last)
                for x in range(1, last):
                    out[z, y, x] = (six * a[z, y, x] - a[z1, y, x] - a[z0, y, x] - a[z, y1, x] - a[z, y0, x]
                                    - a[z, y, x + 1] - a[z, y, x - 1])
                for x, other in ((0, 1), (last, last - 1)):
                    out[z, y, x] = (six * a[z, y, x] - a[z1, y, x] - a[z0, y, x] - a[z, y1, x] - a[z, y0, x]
                                    - a[z, y, x] - a[z, y, other])

    add, accumulate = elementwise("c[i] = a[i] + b[i]"), elementwise("c[i] += b[i]")
    fused = elementwise("c[i] += one/a[i] + two*a[i]*b[i]")
    choose = elementwise("c[i] = a[i] - b[i] if a[i] >= b[i] else b[i] - a[i]")
    sin_exp, sin = elementwise("c[i] = sin(exp(a[i]))"), elementwise("c[i] = sin(a[i])")
    a, b, c, far = (flat[name] for name in ("a", "b", "c", "far"))
    yield "numba", numba.__version__, [
        (ADD_SMALL, lambda: add(d.x, d.y, d.z)),
        (FUSED_SMALL, lambda: fused(d.x, d.y, d.z)),
        ("a += b", lambda: accumulate(a, b, c)),
        ("c = a + b", lambda: add(a, b, c)),
        ("c += 1/a + 2ab", lambda: fused(a, b, c)),
        ("where(a >= b, a - b, b - a)", lambda: choose(a, b, c)),
        ("sin(exp(a))", lambda: sin_exp(a, b, c)),
        ("sin(a) to 10^6", lambda: sin(far, b, c)),
        ("a + b.T", lambda: turned(d.a, d.b, d.c)),
        ("(a - row)*row", lambda: with_row(d.a, d.row, d.c)),
        ("a[:, ::2]*2", lambda: stepped(d.a, d.half)),
        ("sum(a)", lambda: total(a)),
        ("sum(a) axis 0", lambda: total_0(d.a)),
        ("sum(a) axis 1", lambda: total_1(d.a)),
        ("sum(sin(a)*a)", lambda: total_sin(a)),
        ("laplacian(a), 400^3", lambda: laplacian(d.cube, d.cube_out)),
    ]


def laplacian_of(cube):
    return f"laplacian(a), {cube.shape[0]}^3"


def torch_laplacian(torch):
    def neighbours(a, axis):
        size = a.shape[axis]
        up = torch.cat((a.narrow(axis, 1, size - 1), a.narrow(axis, size - 1, 1)), axis)
        down = torch.cat((a.narrow(axis, 0, 1), a.narrow(axis, 0, size - 1)), axis)
        return up, down

    def laplacian(a, out):
        result = 6 * a
        for axis in range(3):
            up, down = neighbours(a, axis)
            result = result - up - down
        return out.copy_(result)

    return laplacian


def torch_eager(torch, d, laplacian):
    """The rows of expressions, by operations that write where they are told."""
    def sin_total(a, c, *axes):
        return torch.mul(torch.sin(a, out=c), a, out=c).sum(*axes)

    return [
        (ADD_SMALL, lambda: torch.add(d.x, d.y, out=d.z)),
        (FUSED_SMALL, lambda: d.z.add_(1 / d.x + 2 * d.x * d.y)),
        ("a += b", lambda: d.c.add_(d.b)),
        ("c = a + b", lambda: torch.add(d.a, d.b, out=d.c)),
        ("c += 1/a + 2ab", lambda: d.c.add_(1 / d.a + 2 * d.a * d.b)),
        ("where(a >= b, a - b, b - a)", lambda: torch.where(d.a >= d.b, d.a - d.b, d.b - d.a, out=d.c)),
        ("sin(exp(a))", lambda: torch.sin(torch.exp(d.a, out=d.c), out=d.c)),
        ("sin(a) to 10^6", lambda: torch.sin(d.far, out=d.c)),
        ("a + b.T", lambda: torch.add(d.a, d.b.T, out=d.c)),
        ("(a - row)*row", lambda: torch.mul(torch.sub(d.a, d.row, out=d.c), d.row, out=d.c)),
        ("a[:, ::2]*2", lambda: torch.mul(d.a[:, ::2], 2, out=d.half)),
        ("sum(a)", lambda: d.a.sum()),
        ("sum(a) axis 0", lambda: d.a.sum(0)),
        ("sum(a) axis 1", lambda: d.a.sum(1)),
        ("sum(sin(a)*a)", lambda: sin_total(d.a, d.c)),
        ("sum(sin(a)*a) axis 0", lambda: sin_total(d.a, d.c, 0)),
        ("sum(sin(a)*a) axis 1", lambda: sin_total(d.a, d.c, 1)),
        (laplacian_of(d.cube), lambda: laplacian(d.cube, d.cube_out)),
        ("uniform random", lambda: d.c.uniform_(-1, 1)),
    ]


def torch_compiled(torch, d, laplacian):
    def compiled(function, *arguments):
        f = torch.compile(function)
        return lambda: f(*arguments)

    return [
        (FUSED_SMALL, compiled(lambda a, b, c: c.add_(1 / a + 2 * a * b), d.x, d.y, d.z)),
        ("a += b", compiled(lambda b, c: c.add_(b), d.b, d.c)),
        ("c = a + b", compiled(lambda a, b, c: c.copy_(a + b), d.a, d.b, d.c)),
        ("c += 1/a + 2ab", compiled(lambda a, b, c: c.add_(1 / a + 2 * a * b), d.a, d.b, d.c)),
        ("where(a >= b, a - b, b - a)",
         compiled(lambda a, b, c: c.copy_(torch.where(a >= b, a - b, b - a)), d.a, d.b, d.c)),
        ("sin(exp(a))", compiled(lambda a, c: c.copy_(torch.sin(torch.exp(a))), d.a, d.c)),
        ("sin(a) to 10^6", compiled(lambda a, c: c.copy_(torch.sin(a)), d.far, d.c)),
        ("a + b.T", compiled(lambda a, b, c: c.copy_(a + b.T), d.a, d.b, d.c)),
        ("(a - row)*row", compiled(lambda a, row, c: c.copy_((a - row) * row), d.a, d.row, d.c)),
        ("a[:, ::2]*2", compiled(lambda a, c: c.copy_(a[:, ::2] * 2), d.a, d.half)),
        ("sum(a)", compiled(lambda a: a.sum(), d.a)),
        ("sum(a) axis 0", compiled(lambda a: a.sum(0), d.a)),
        ("sum(a) axis 1", compiled(lambda a: a.sum(1), d.a)),
        ("sum(sin(a)*a)", compiled(lambda a: (torch.sin(a) * a).sum(), d.a)),
        ("sum(sin(a)*a) axis 0", compiled(lambda a: (torch.sin(a) * a).sum(0), d.a)),
        ("sum(sin(a)*a) axis 1", compiled(lambda a: (torch.sin(a) * a).sum(1), d.a)),
        (laplacian_of(d.cube), compiled(laplacian, d.cube, d.cube_out)),
    ]


def torch_rows():
    import torch
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    data = Data()
    d = type("Tensors", (), {k: torch.from_numpy(v) for k, v in vars(data).items()})
    laplacian = torch_laplacian(torch)

    def touched_zeros():
        torch.zeros(1 << 26)[::1024] = 1

    yield "torch", torch.__version__, [
        ("make and release 1024 f32", lambda: torch.empty(SMALL)),
        ("zeros, 1024 f32", lambda: torch.zeros(SMALL)),
        (TOUCHED, touched_zeros),
        ("copy 8192^2 f32", lambda: d.c.copy_(d.a)),
        ("copy of a transposed 8192^2 f32", lambda: d.c.copy_(d.a.t())),
        ("copy of a[:, ::2], 8192^2 f32", lambda: d.half.copy_(d.a[:, ::2])),
    ] + torch_eager(torch, d, laplacian)
    yield "torch.compile", torch.__version__, torch_compiled(torch, d, laplacian)


def jax_compiled(jax, d, key, compiled):
    """`compiled` makes a call of a function and its arguments."""
    jnp = jax.numpy

    def laplacian(a):
        result = 6 * a
        for axis in range(3):
            padded = jnp.pad(a, [(1, 1) if k == axis else (0, 0) for k in range(3)], mode="edge")
            result = (result - jax.lax.slice_in_dim(padded, 2, a.shape[axis] + 2, axis=axis)
                      - jax.lax.slice_in_dim(padded, 0, a.shape[axis], axis=axis))
        return result

    return [
        (ADD_SMALL, compiled(lambda a, b: a + b, d.x, d.y)),
        (FUSED_SMALL, compiled(lambda a, b, c: c + (1 / a + 2 * a * b), d.x, d.y, d.z)),
        ("a += b", compiled(lambda b, c: c + b, d.b, d.c)),
        ("c = a + b", compiled(lambda a, b: a + b, d.a, d.b)),
        ("c += 1/a + 2ab", compiled(lambda a, b, c: c + (1 / a + 2 * a * b), d.a, d.b, d.c)),
        ("where(a >= b, a - b, b - a)", compiled(lambda a, b: jnp.where(a >= b, a - b, b - a), d.a, d.b)),
        ("sin(exp(a))", compiled(lambda a: jnp.sin(jnp.exp(a)), d.a)),
        ("sin(a) to 10^6", compiled(jnp.sin, d.far)),
        ("a + b.T", compiled(lambda a, b: a + b.T, d.a, d.b)),
        ("(a - row)*row", compiled(lambda a, row: (a - row) * row, d.a, d.row)),
        ("a[:, ::2]*2", compiled(lambda a: a[:, ::2] * 2, d.a)),
        ("sum(a)", compiled(lambda a: a.sum(), d.a)),
        ("sum(a) axis 0", compiled(lambda a: a.sum(0), d.a)),
        ("sum(a) axis 1", compiled(lambda a: a.sum(1), d.a)),
        ("sum(sin(a)*a)", compiled(lambda a: (jnp.sin(a) * a).sum(), d.a)),
        ("sum(sin(a)*a) axis 0", compiled(lambda a: (jnp.sin(a) * a).sum(0), d.a)),
        ("sum(sin(a)*a) axis 1", compiled(lambda a: (jnp.sin(a) * a).sum(1), d.a)),
        (laplacian_of(d.cube), compiled(laplacian, d.cube)),
        ("uniform random", compiled(lambda key: jax.random.uniform(key, d.a.shape), key)),
    ]


def jax_rows():
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_platforms", "cpu")
    data = Data()
    d = type("Arrays", (), {k: jnp.asarray(v) for k, v in vars(data).items()})
    key = jax.random.key(0)

    def compiled(function, *arguments):
        f = jax.jit(function)
        return lambda: f(*arguments).block_until_ready()

    yield "jax", jax.__version__, jax_compiled(jax, d, key, compiled)


PEERS = {"numpy": numpy_rows, "numexpr": numexpr_rows, "numba": numba_rows, "torch": torch_rows, "jax": jax_rows}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PEERS:
        sys.exit(f"usage: peers.py {'|'.join(PEERS)}")
    serve([main_row(who, version, work, body) for who, version, rows in PEERS[sys.argv[1]]() for work, body in rows])


if __name__ == "__main__":
    main()
