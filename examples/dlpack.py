"""dlpack.py LIBRARY: tensors of PyTorch and NumPy go to dlpack.c and come from it, without a copy."""

import ctypes
import importlib.util
import math
import sys

GIVEN, TAKEN = b"dltensor", b"used_dltensor"  # the names of a capsule before and after it was taken
python = ctypes.pythonapi
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_New.restype = ctypes.py_object


def give(tensor):
    """The DLManagedTensor over the tensor's memory; who takes it calls its deleter."""
    capsule = tensor.__dlpack__()
    pointer = python.PyCapsule_GetPointer(capsule, GIVEN)
    python.PyCapsule_SetName(capsule, TAKEN)
    return pointer


class Given:
    """A DLManagedTensor on the CPU as what from_dlpack takes."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __dlpack__(self, **options):
        return python.PyCapsule_New(self.pointer, GIVEN, None)

    def __dlpack_device__(self):
        return 1, 0


def exchange(c, name):
    other = importlib.import_module(name)
    rows = other.asarray([[3.0, 4.0], [5.0, 12.0], [0.0, 2.0]])
    if c.rows_of_length_one(give(rows)):  # the same memory: rows itself has changed
        sys.exit(c.message().decode())
    expected = [[0.6, 0.8], [5 / 13, 12 / 13], [0.0, 1.0]]
    for row, wanted in zip(rows.tolist(), expected):
        if any(abs(a - b) > 1e-6 for a, b in zip(row, wanted)):
            sys.exit(f"{name}: {row}, not {wanted}")

    pointer = c.circle(5)
    if not pointer:
        sys.exit(c.message().decode())
    points = other.from_dlpack(Given(pointer)).tolist()
    for k, (x, y) in enumerate(points):
        if abs(x - math.cos(k * math.pi / 2)) > 1e-12 or abs(y - math.sin(k * math.pi / 2)) > 1e-12:
            sys.exit(f"{name}: point {k} is {x}, {y}")
    print(f"{name} {other.__version__}: {len(expected)} rows and {len(points)} points, no copy")


def main():
    c = ctypes.CDLL(sys.argv[1])
    c.rows_of_length_one.argtypes = [ctypes.c_void_p]
    c.circle.restype = ctypes.c_void_p
    c.message.restype = ctypes.c_char_p
    here = [name for name in ("torch", "numpy") if importlib.util.find_spec(name)]
    if not here:
        print("skipped: neither PyTorch nor NumPy is here (apt-get install python3-numpy)")
        sys.exit(77)
    for name in here:
        exchange(c, name)


main()
