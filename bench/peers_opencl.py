"""The rows of the benchmark in PyOpenCL, with the kernels that its documentation advises: peers_opencl.py pyopencl
--device opencl:N. Started by bench/run.py, as peers.py.
"""
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array
import pyopencl.clrandom
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel

from peers import ADD_SMALL, CUBE, FUSED_SMALL, SIDE, Data, main_row, serve

LAPLACIAN = f"""
    int x = i % {CUBE}, y = i / {CUBE} % {CUBE}, z = i / ({CUBE} * {CUBE});
    c[i] = 6*a[i] - a[z < {CUBE - 1} ? i + {CUBE * CUBE} : i] - a[z > 0 ? i - {CUBE * CUBE} : i]
         - a[y < {CUBE - 1} ? i + {CUBE} : i] - a[y > 0 ? i - {CUBE} : i]
         - a[x < {CUBE - 1} ? i + 1 : i] - a[x > 0 ? i - 1 : i]"""


def find_device(name):
    """The device of this number, counted over all platforms, as Weft does."""
    devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    return devices[int(name.partition(":")[2] or 0)]


def pyopencl_rows(device):
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    data = Data()
    d = type("Arrays", (), {k: cl.array.to_device(queue, v) for k, v in vars(data).items()})
    generator = cl.clrandom.PhiloxGenerator(context)

    def elementwise(code, *arrays):
        names = "abc"[3 - len(arrays):] if len(arrays) > 1 else "c"
        kernel = ElementwiseKernel(context, ", ".join(f"float *{name}" for name in names), code)
        return lambda: kernel(*arrays, queue=queue)

    def total(code, array):
        kernel = ReductionKernel(context, np.float32, neutral="0", reduce_expr="a+b", map_expr=code,
                                 arguments="const float *x")
        return lambda: kernel(array, queue=queue)

    def done(body):
        def run():
            body()
            queue.finish()
        return run

    large = [
        ("a += b", elementwise("c[i] += b[i]", d.b, d.c)),
        ("c = a + b", elementwise("c[i] = a[i] + b[i]", d.a, d.b, d.c)),
        ("c += 1/a + 2ab", elementwise("c[i] += 1/a[i] + 2*a[i]*b[i]", d.a, d.b, d.c)),
        ("where(a >= b, a - b, b - a)",
         elementwise("c[i] = a[i] >= b[i] ? a[i] - b[i] : b[i] - a[i]", d.a, d.b, d.c)),
        ("sin(exp(a))", elementwise("c[i] = sin(exp(b[i]))", d.a, d.c)),
        ("sin(a) to 10^6", elementwise("c[i] = sin(b[i])", d.far, d.c)),
        ("a + b.T", elementwise(f"c[i] = a[i] + b[i % {SIDE} * {SIDE} + i / {SIDE}]", d.a, d.b, d.c)),
        ("(a - row)*row", elementwise(f"c[i] = (a[i] - b[i % {SIDE}]) * b[i % {SIDE}]", d.a, d.row, d.c)),
        ("a[:, ::2]*2", lambda kernel=ElementwiseKernel(context, "float *c, float *a", "c[i] = a[2*i] * 2"):
            kernel(d.half, d.a, queue=queue)),
        ("sum(a)", total("x[i]", d.a)),
        ("sum(sin(a)*a)", total("sin(x[i])*x[i]", d.a)),
        (f"laplacian(a), {CUBE}^3",
         lambda kernel=ElementwiseKernel(context, "float *c, float *a", LAPLACIAN): kernel(d.cube_out, d.cube, queue=queue)),
        ("uniform random", lambda: generator.fill_uniform(d.c, a=-1, b=1, queue=queue)),
    ]
    small = [
        (ADD_SMALL, elementwise("c[i] = a[i] + b[i]", d.x, d.y, d.z)),
        (FUSED_SMALL, elementwise("c[i] += 1/a[i] + 2*a[i]*b[i]", d.x, d.y, d.z)),
    ]
    bodies = small + [(work, done(body)) for work, body in large]
    return [main_row("pyopencl", cl.VERSION_TEXT, work, body, queued=True) for work, body in bodies], queue.finish


def main():
    if len(sys.argv) != 4 or sys.argv[2] != "--device":
        sys.exit("usage: peers_opencl.py pyopencl --device opencl:N")
    rows, wait = pyopencl_rows(find_device(sys.argv[3]))
    serve(rows, sys.argv[3], wait)


if __name__ == "__main__":
    main()
