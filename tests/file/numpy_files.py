"""NPY and NPZ files of NumPy's, read by Weft, and the other way round: every dtype, byte order, memory order, version."""

import argparse
import ctypes
import itertools
import os
import sys
import tempfile
import warnings
import zipfile

import numpy as np

NAMES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "V2", "f4", "f8", "c8", "c16"]  # from WEFT_BOOL on
SHAPES = [(), (0,), (7,), (3, 5), (2, 3, 4), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)]


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int32), ("size", ctypes.c_int64 * 8)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("device", ctypes.c_int32 * 2),
                ("memory", ctypes.c_int32), ("mapped", ctypes.c_bool)]


class SaveOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("compress", ctypes.c_bool)]


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        for name, result, arguments in [
                ("weft_error_message", text, []), ("weft_load_with", pointer, [text, pointer]),
                ("weft_save_with", ctypes.c_int, [text, pointer, pointer]),
                ("weft_save_all", ctypes.c_int, [text, ctypes.c_int, pointer, pointer, pointer]),
                ("weft_array_dtype", ctypes.c_int, [pointer]), ("weft_array_shape", Shape, [pointer]),
                ("weft_array_bytes", size, [pointer]), ("weft_array_release", None, [pointer]),
                ("weft_copy_to_host", ctypes.c_int, [pointer, pointer, size])]:
            getattr(self.calls, name).restype = result
            getattr(self.calls, name).argtypes = arguments

    def fail(self):
        raise AssertionError(self.calls.weft_error_message().decode())

    def load(self, path, name=None, mapped=False):
        options = LoadOptions(struct_size=ctypes.sizeof(LoadOptions), name=name and name.encode(), mapped=mapped)
        return self.calls.weft_load_with(path.encode(), ctypes.byref(options)) or self.fail()

    def values(self, array):
        """What an array holds, as NumPy's, in C order."""
        dtype = np.dtype(NAMES[self.calls.weft_array_dtype(array) - 1])
        shape = self.calls.weft_array_shape(array)
        data = ctypes.create_string_buffer(self.calls.weft_array_bytes(array) or 1)
        if self.calls.weft_copy_to_host(array, data, self.calls.weft_array_bytes(array)):
            self.fail()
        made = np.frombuffer(data.raw[:self.calls.weft_array_bytes(array)], dtype)
        return made.reshape(shape.size[:shape.ndim])

    def save(self, path, array, **options):
        options = SaveOptions(struct_size=ctypes.sizeof(SaveOptions), **options)
        if self.calls.weft_save_with(path.encode(), array, ctypes.byref(options)):
            self.fail()

    def save_all(self, path, names, arrays, compress):
        options = SaveOptions(struct_size=ctypes.sizeof(SaveOptions), compress=compress)
        names = (ctypes.c_char_p * len(names))(*[name.encode() for name in names])
        arrays = (ctypes.c_void_p * len(arrays))(*arrays)
        if self.calls.weft_save_all(path.encode(), len(arrays), names, arrays, ctypes.byref(options)):
            self.fail()


def same(actual, expected, what):
    expected = np.array(expected, order="C")
    native = expected.astype(expected.dtype.newbyteorder("=")) if expected.dtype.kind != "V" else expected
    if actual.shape != native.shape or actual.dtype != native.dtype or actual.tobytes() != native.tobytes():
        raise AssertionError("%s: got %r of %s, expected %r of %s" %
                             (what, actual.shape, actual.dtype, native.shape, native.dtype))


def random_array(generator, name, shape, order):
    dtype = np.dtype(name)
    count = int(np.prod(shape, dtype=np.int64))
    data = generator.integers(0, 2 if name == "?" else 120, count * dtype.itemsize, dtype=np.uint8)
    made = np.frombuffer(data.tobytes(), dtype).reshape(shape)
    return np.asfortranarray(made) if order == "F" else made


def write(path, array, version):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def check_npy(library, folder, generator):
    path, back = os.path.join(folder, "a.npy"), os.path.join(folder, "b.npy")
    count = 0
    for name, shape, order, mapped in itertools.product(NAMES, SHAPES, "CF", (False, True)):
        for byte_order, version in itertools.product("<>", ((1, 0), (2, 0), (3, 0))):
            plain = random_array(generator, name, shape, order)
            array = plain if name == "V2" else plain.astype(plain.dtype.newbyteorder(byte_order), order="K")
            write(path, array, version)
            loaded = library.load(path, mapped=mapped)
            same(library.values(loaded), array, "read %s %s %s %s" % (array.dtype, shape, order, version))
            library.save(back, loaded)
            library.calls.weft_array_release(loaded)
            again = np.load(back)
            same(np.ascontiguousarray(again).reshape(again.shape), array, "written %s %s" % (array.dtype, shape))
            if again.ndim > 1 and min(shape) > 1 and again.flags.f_contiguous != (order == "F"):
                raise AssertionError("the memory order of %s is lost" % (shape,))
            count += 1
    return count


def check_npz(library, folder, generator):
    path, back = os.path.join(folder, "a.npz"), os.path.join(folder, "b.npz")
    count = 0
    for save, mapped in itertools.product((np.savez, np.savez_compressed), (False, True)):
        arrays = {"a_%d" % k: random_array(generator, name, (3, 50), "CF"[k % 2]) for k, name in enumerate(NAMES)}
        arrays["\u00e4 b"] = np.arange(100000.0)
        save(path, **arrays)
        loaded = {name: library.load(path, name, mapped) for name in arrays}
        for name, array in arrays.items():
            same(library.values(loaded[name]), array, "%s of %s" % (name, save.__name__))
        library.save_all(back, list(loaded), list(loaded.values()), save is np.savez_compressed)
        for array in loaded.values():
            library.calls.weft_array_release(array)
        with np.load(back) as file:
            if sorted(file.files) != sorted(arrays):
                raise AssertionError("names: %r" % file.files)
            for name, array in arrays.items():
                same(file[name], array, "%s written as NPZ" % name)
                count += 1
    return count


def check_twice(library, folder):
    """An array that was added again under its name."""
    path = os.path.join(folder, "twice.npz")
    np.savez(path, a=np.arange(3.0), b=np.arange(4.0))
    np.save(os.path.join(folder, "a.npy"), np.arange(5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "a") as archive:
            archive.write(os.path.join(folder, "a.npy"), "a.npy")
    loaded = library.load(path, "a")
    with np.load(path) as file:
        same(library.values(loaded), file["a"], "the last of two")
    library.calls.weft_array_release(loaded)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    library = Library(parser.parse_args().library)
    generator = np.random.default_rng(8)
    with tempfile.TemporaryDirectory() as folder:
        check_twice(library, folder)
        print("%d NPY files, %d arrays in NPZ files: the same as NumPy's" %
              (check_npy(library, folder, generator), check_npz(library, folder, generator)))


if __name__ == "__main__":
    sys.exit(main())
