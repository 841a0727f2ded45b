"""exchange.py LIBRARY DEVICE: arrays go to and from NumPy, PyTorch and CuPy, a thousand times."""

import gc
import importlib
import sys

import numpy

from weft import Given, Weft

DTYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
          "c128": "complex128"}
EXCHANGES = 1000


def values(name, shape):
    generator = numpy.random.default_rng(7)
    if name == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if name[0] == "c":
        return (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(DTYPES[name])
    return (generator.normal(size=shape) * 50).astype(DTYPES[name], casting="unsafe")


class Numpy:
    """How NumPy makes arrays, hands them out and takes them."""
    name, on = "NumPy", "cpu"

    def __init__(self, device):
        release = tuple(int(part) for part in numpy.__version__.split(".")[:2])
        self.versioned = release >= (2, 1)
        self.dtypes = tuple(name for name in DTYPES if name != "bool" or release >= (1, 25))

    def make(self, array, name):
        return array.copy()

    def address(self, array):
        return array.__array_interface__["data"][0]

    def bits(self, array):
        return numpy.ascontiguousarray(array).tobytes()

    def capsule(self, array):
        return array.__dlpack__(max_version=(1, 1)) if self.versioned else array.__dlpack__()

    def take(self, given):
        return numpy.from_dlpack(given)

    def stream(self):
        return None


class Torch:
    name = "PyTorch"
    dtypes = ("bool", "i8", "i16", "i32", "i64", "u8", "f16", "bf16", "f32", "f64", "c64", "c128")

    def __init__(self, device):
        self.torch = importlib.import_module("torch")
        self.on = device if device.startswith("cuda") else "cpu"
        if self.on != "cpu" and not self.torch.cuda.is_available():
            raise ImportError("no GPU for PyTorch")

    def make(self, array, name):
        tensor = self.torch.from_numpy(array.copy())
        return tensor.to(self.on, self.torch.bfloat16 if name == "bf16" else tensor.dtype)

    def address(self, tensor):
        return tensor.data_ptr()

    def bits(self, tensor):
        tensor = tensor.detach().contiguous().cpu()
        return tensor.reshape(-1).view(self.torch.uint8).numpy().tobytes()

    def capsule(self, tensor):
        try:
            return tensor.__dlpack__(max_version=(1, 1))
        except TypeError:  # an old one has no versions
            return tensor.__dlpack__()

    def take(self, given):
        return self.torch.from_dlpack(given)

    def stream(self):
        if self.on == "cpu":
            return None
        stream = self.torch.cuda.current_stream()
        if not stream.cuda_stream:  # the default one has no handle to wrap
            stream.synchronize()
        return stream.cuda_stream


class Cupy:
    name, dtypes = "CuPy", tuple(DTYPES)

    def __init__(self, device):
        if not device.startswith("cuda"):
            raise ImportError("CuPy is for GPUs")
        self.cupy = importlib.import_module("cupy")
        self.on = device

    def make(self, array, name):
        return self.cupy.asarray(array)

    def address(self, array):
        return array.data.ptr

    def bits(self, array):
        return self.cupy.ascontiguousarray(array).get().tobytes()

    def capsule(self, array):
        try:
            return array.__dlpack__(max_version=(1, 1))
        except TypeError:
            return array.__dlpack__()

    def take(self, given):
        return self.cupy.from_dlpack(given)

    def stream(self):
        stream = self.cupy.cuda.get_current_stream()
        if not stream.ptr:
            stream.synchronize()
        return stream.ptr


class Checks:
    def __init__(self, weft, library):
        self.weft, self.library, self.failures, self.done = weft, library, 0, 0

    def check(self, condition, text):
        self.done += 1
        if not condition:
            self.failures += 1
            print("failed: %s: %s" % (self.library.name, text))

    def wrap(self, stream):
        return self.weft.handle.weft_stream_wrap(self.weft.device, stream) if stream and stream > 2 else None

    def source(self, name, shape=(3, 4)):
        array = values("f32" if name == "bf16" else name, shape)
        return self.library.make(array, name)

    def incoming(self, name, turned):
        """An array of theirs, as one of ours."""
        weft, library = self.weft, self.library
        theirs = self.source(name)
        theirs = theirs.T if turned else theirs
        deleted = weft.deleted
        consumer = self.wrap(library.stream())
        ours = weft.take(library.capsule(theirs), consumer)
        weft.handle.weft_stream_release(consumer)
        what = "%s%s in" % (name, " turned" if turned else "")
        self.check(weft.handle.weft_array_dtype(ours) == weft.handle.weft_dtype_named(name.encode()), what + ": dtype")
        self.check(weft.handle.weft_array_data(ours) == library.address(theirs), what + ": address")
        self.check(weft.bits(ours) == library.bits(theirs), what + ": bits")
        self.check(weft.deleted == deleted, what + ": deleted while it is used")
        expected = library.bits(theirs)
        view = weft.handle.weft_transpose(ours)
        weft.handle.weft_array_release(ours)
        del theirs  # ours keeps it
        gc.collect()
        again = weft.handle.weft_transpose(view)
        self.check(weft.bits(again) == expected, what + ": bits after theirs is gone")
        weft.handle.weft_array_release(again)
        weft.handle.weft_array_release(view)
        self.check(weft.deleted == deleted + 1, what + ": deleter called %d times" % (weft.deleted - deleted))

    def given(self, name):
        stored = self.library.bits(self.source(name))
        shape, plain = (3, 4), numpy.frombuffer(stored, numpy.uint8)
        host = numpy.empty(shape, numpy.dtype(("V", len(stored) // 12)))
        host.view(numpy.uint8).reshape(-1)[:] = plain
        return self.weft.new(host, name), stored

    def offer(self, ours):
        on = (1, 0) if self.library.on == "cpu" else (2, self.weft.device.index)
        return Given(self.weft, ours, on, self.wrap)

    def outgoing(self, name):
        """An array of ours, as one of theirs."""
        weft, library = self.weft, self.library
        ours, expected = self.given(name)
        deleted, what = weft.deleted, "%s out" % name
        theirs = library.take(self.offer(ours))
        self.check(library.address(theirs) == weft.handle.weft_array_data(ours), what + ": address")
        self.check(library.bits(theirs) == expected, what + ": bits")
        changed = bytes(reversed(expected))
        self.check(weft.handle.weft_copy_from_host(ours, changed, len(changed)) == 0, what + ": a write")
        if name != "bool" and library.on == "cpu":
            self.check(library.bits(theirs) == changed, what + ": a write of ours is seen")
        weft.handle.weft_array_release(ours)
        gc.collect()
        self.check(weft.deleted == deleted, what + ": deleted while it is used")
        theirs_bits = library.bits(theirs)
        self.check(len(theirs_bits) == len(expected), what + ": bits after ours is gone")
        del theirs
        gc.collect()
        self.check(weft.deleted == deleted + 1, what + ": deleter called %d times" % (weft.deleted - deleted))

    def many(self):
        weft = self.weft
        before, deleted = weft.statistics(), weft.deleted
        for number in range(EXCHANGES):
            theirs = self.source("f32")
            weft.handle.weft_array_release(weft.take(self.library.capsule(theirs), None))
        for number in range(EXCHANGES):
            ours, _ = self.given("f32")
            theirs = self.library.take(self.offer(ours))
            weft.handle.weft_array_release(ours)
            del theirs
        gc.collect()
        after = weft.statistics()
        self.check(weft.deleted == deleted + 2 * EXCHANGES, "%d deletions of %d exchanges" % (weft.deleted - deleted,
                                                                                             2 * EXCHANGES))
        self.check(after.bytes_in_use == before.bytes_in_use, "%d bytes are still in use" % (after.bytes_in_use -
                                                                                            before.bytes_in_use))
        self.check(after.allocations == before.allocations + EXCHANGES, "%d allocations for %d arrays of our own" %
                   (after.allocations - before.allocations, EXCHANGES))

    def run(self):
        for name in self.library.dtypes:
            self.incoming(name, False)
            self.incoming(name, True)
            self.outgoing(name)
        self.many()
        print("%s: %d checks, %d failed, on %s" % (self.library.name, self.done, self.failures, self.library.on))
        return self.failures


def read_only(weft):
    """NumPy says what may not be written, from 2.1 on; and takes our word for it."""
    array = numpy.arange(6, dtype=numpy.float32)
    array.flags.writeable = False
    ours = weft.take(array.__dlpack__(max_version=(1, 1)))
    refused = weft.handle.weft_copy_from_host(ours, bytes(24), 24) != 0
    theirs = numpy.from_dlpack(Given(weft, ours, (1, 0), None))
    kept = not theirs.flags.writeable
    weft.handle.weft_array_release(ours)
    if not (refused and kept):
        print("failed: NumPy: read-only arrays are written")
    return not (refused and kept)


def main(path, device):
    print("Python %s, NumPy %s, %s" % (sys.version.split()[0], numpy.__version__, device))
    host = Weft(path, "cpu" if device.startswith("cuda") else device)
    failures = 0
    for kind in (Numpy, Torch, Cupy):
        try:
            library = kind(device)
        except ImportError as why:
            print("%s: left out: %s" % (kind.name, why))
            continue
        failures += Checks(host if library.on == "cpu" else Weft(path, device), library).run()
    if Numpy(device).versioned:
        failures += read_only(host)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
