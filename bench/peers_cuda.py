"""The rows of the benchmark on a CUDA device in what a user would take instead of Weft: one library a process.

    peers_cuda.py torch|jax|cupy --device cuda:N

As peers.py: each row as that library's users would write it for speed. Large rows are queued CALLS times, and what counts
is the time until the last is done; of small ones the time until they are queued.
"""
import os
import sys

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # others work on the same device

from peers import (ADD_SMALL, FUSED_SMALL, QUEUED, SMALL, Row, jax_compiled, seconds_of, serve, spread, torch_compiled,
                   torch_eager, torch_laplacian, warm_up)

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
    version, eager, fast = torch.__version__, torch_eager(torch, d, laplacian), torch_compiled(torch, d, laplacian)
    rows = [("torch", version, *row) for row in eager] + [("torch.compile", version, *row) for row in fast]
    return rows, torch.cuda.synchronize


def jax_rows(number):
    import jax
    device = jax.devices("cuda")[number]
    d = Data(lambda array: jax.device_put(array, device))
    key = jax.device_put(jax.random.key(0), device)
    last = []

    def compiled(function, *arguments):
        f = jax.jit(function)

        def call():
            last[:] = [f(*arguments)]
        return call

    rows = jax_compiled(jax, d, key, compiled)
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
