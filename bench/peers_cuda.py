"""The rows of the benchmark on a CUDA device in what a user would take instead of Weft: one library a process.

    peers_cuda.py torch|jax|cupy --device cuda:N

As peers.py: each row as that library's users would write it for speed. Large rows are queued CALLS times, and what counts
is the time until the last is done; of small ones the time until they are queued.
"""
import os
import sys

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # others work on the same device

from peers import ADD_SMALL, FUSED_SMALL, QUEUED, SMALL, Row, seconds_of, serve, spread, torch_laplacian, warm_up

SIDE, CUBE, CALLS = 16384, 640, 20
COUNT = SIDE * SIDE
LAPLACIAN = f"laplacian(a), {CUBE}^3"
MOVED = {  # bytes of each row
    "a += b": 12 * COUNT, "c = a + b": 12 * COUNT, "c += 1/a + 2ab": 16 * COUNT,
    "where(a >= b, a - b, b - a)": 12 * COUNT, "sin(exp(a))": 8 * COUNT, "sin(a) to 10^6": 8 * COUNT,
    "a + b.T": 12 * COUNT, "(a - row)*row": 8 * COUNT, "a[:, ::2]*2": 6 * COUNT,
    "sum(a)": 4 * COUNT, "sum(a) axis 0": 4 * COUNT, "sum(a) axis 1": 4 * COUNT,
    "sum(sin(a)*a)": 4 * COUNT, "sum(sin(a)*a) axis 0": 4 * COUNT, "sum(sin(a)*a) axis 1": 4 * COUNT,
    LAPLACIAN: 8 * CUBE**3, "uniform random": 4 * COUNT,
}


class DeviceRow(Row):
    """Large rows: until the device has done them."""

    def measure(self, wait):
        if self.repeat == QUEUED:
            return super().measure(wait)

        def calls():
            for _ in range(CALLS):
                self.body()
            wait()

        self.body = self.body or self.make()
        if self.last is None:
            warm_up(calls)
        self.last = seconds_of(calls, 1) / CALLS
        return self.last


def row_of(who, version, work, body):
    if work in MOVED:
        count = CUBE**3 if work == LAPLACIAN else COUNT // 2 if work == "a[:, ::2]*2" else COUNT
        return DeviceRow(who, version, work, lambda: body, count, MOVED[work])
    return DeviceRow(who, version, work, lambda: body, SMALL, 0, QUEUED)


class Data:
    """The arrays that all rows work on, made by the library's own function of arrays of NumPy."""

    def __init__(self, make):
        self.a, self.b = make(spread((SIDE, SIDE), 0.5, 1.5)), make(spread((SIDE, SIDE), 0.7, 1.4))
        self.c, self.far = make(spread((SIDE, SIDE), 0, 0)), make(spread((SIDE, SIDE), -1e6, 1e6))
        self.row, self.half = make(spread((SIDE,), 0.5, 1.5)), make(spread((SIDE, SIDE // 2), 0, 0))
        self.cube, self.cube_out = make(spread((CUBE,) * 3, 0.5, 1.5)), make(spread((CUBE,) * 3, 0, 0))
        self.x, self.y, self.z = (make(spread((SMALL,), 0.5, 1.5)) for _ in range(3))


def torch_rows(number):
    import torch
    torch.set_grad_enabled(False)
    torch.cuda.set_device(number)
    d = Data(lambda array: torch.from_numpy(array).cuda())
    laplacian = torch_laplacian(torch)
    version = torch.__version__
    eager = [
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
        ("sum(sin(a)*a)", lambda: torch.mul(torch.sin(d.a, out=d.c), d.a, out=d.c).sum()),
        (LAPLACIAN, lambda: laplacian(d.cube, d.cube_out)),
        ("uniform random", lambda: d.c.uniform_(-1, 1)),
    ]

    def compiled(function, *arguments):
        f = torch.compile(function)
        return lambda: f(*arguments)

    fast = [
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
        (LAPLACIAN, compiled(laplacian, d.cube, d.cube_out)),
    ]
    rows = [("torch", version, *row) for row in eager] + [("torch.compile", version, *row) for row in fast]
    return rows, torch.cuda.synchronize


def jax_rows(number):
    import jax
    import jax.numpy as jnp
    device = jax.devices("cuda")[number]
    d = Data(lambda array: jax.device_put(array, device))
    key = jax.device_put(jax.random.key(0), device)
    last = []

    def compiled(function, *arguments):
        f = jax.jit(function)

        def call():
            last[:] = [f(*arguments)]
        return call

    def laplacian(a):
        result = 6 * a
        for axis in range(3):
            padded = jnp.pad(a, [(1, 1) if k == axis else (0, 0) for k in range(3)], mode="edge")
            result = (result - jax.lax.slice_in_dim(padded, 2, CUBE + 2, axis=axis)
                      - jax.lax.slice_in_dim(padded, 0, CUBE, axis=axis))
        return result

    rows = [
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
        (LAPLACIAN, compiled(laplacian, d.cube)),
        ("uniform random", compiled(lambda key: jax.random.uniform(key, (SIDE, SIDE)), key)),
    ]
    return [("jax", jax.__version__, *row) for row in rows], lambda: [array.block_until_ready() for array in last]


def cupy_rows(number):
    import cupy
    import cupy.cublas
    from cupy import ElementwiseKernel, ReductionKernel
    cupy.cuda.Device(number).use()
    d = Data(cupy.asarray)
    generator = cupy.random.default_rng(0)

    def elementwise(inputs, outputs, code, *arrays):
        kernel = ElementwiseKernel(", ".join(f"float32 {name}" for name in inputs),
                                   ", ".join(f"float32 {name}" for name in outputs), code)
        return lambda: kernel(*arrays)

    sin_total = ReductionKernel("float32 x", "float32 y", "sin(x)*x", "a + b", "y = a", "0")
    rows = [
        (ADD_SMALL, elementwise("ab", "c", "c = a + b", d.x, d.y, d.z)),
        (FUSED_SMALL, elementwise("ab", "c", "c += 1/a + 2*a*b", d.x, d.y, d.z)),
        ("a += b", elementwise("b", "c", "c += b", d.b, d.c)),
        ("c = a + b", elementwise("ab", "c", "c = a + b", d.a, d.b, d.c)),
        ("c += 1/a + 2ab", elementwise("ab", "c", "c += 1/a + 2*a*b", d.a, d.b, d.c)),
        ("where(a >= b, a - b, b - a)", elementwise("ab", "c", "c = a >= b ? a - b : b - a", d.a, d.b, d.c)),
        ("sin(exp(a))", elementwise("a", "c", "c = sin(exp(a))", d.a, d.c)),
        ("sin(a) to 10^6", elementwise("a", "c", "c = sin(a)", d.far, d.c)),
        ("a + b.T", elementwise("ab", "c", "c = a + b", d.a, d.b.T, d.c)),
        ("(a - row)*row", elementwise("ar", "c", "c = (a - r)*r", d.a, d.row, d.c)),
        ("a[:, ::2]*2", elementwise("a", "c", "c = a*2", d.a[:, ::2], d.half)),
        ("sum(a)", lambda: d.a.sum()),
        ("sum(a) axis 0", lambda: d.a.sum(0)),
        ("sum(a) axis 1", lambda: d.a.sum(1)),
        ("sum(sin(a)*a)", lambda: sin_total(d.a)),
        ("sum(sin(a)*a) axis 0", lambda: sin_total(d.a, axis=0)),
        ("sum(sin(a)*a) axis 1", lambda: sin_total(d.a, axis=1)),
        ("uniform random", lambda: generator.random(dtype=cupy.float32, out=d.c)),
    ]
    flat_b, flat_c = d.b.ravel(), d.c.ravel()
    saxpy = ("cuBLAS", cupy.__version__, "a += b", lambda: cupy.cublas.axpy(1, flat_b, flat_c))
    return [("cupy", cupy.__version__, *row) for row in rows] + [saxpy], cupy.cuda.runtime.deviceSynchronize


PEERS = {"torch": torch_rows, "jax": jax_rows, "cupy": cupy_rows}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in PEERS or not sys.argv[3].startswith("cuda:"):
        sys.exit(f"usage: peers_cuda.py {'|'.join(PEERS)} --device cuda:N")
    rows, wait = PEERS[sys.argv[1]](int(sys.argv[3].split(":")[1]))
    serve([row_of(*row) for row in rows], sys.argv[3], wait)


if __name__ == "__main__":
    main()
