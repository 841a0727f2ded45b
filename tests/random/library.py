"""The library through its public functions, by ctypes. Several copies of it can be open, each with its own settings."""

import ctypes
import os
import shutil

import numpy as np

from dtypes import NAMES, NUMBER, RANK, SIGNED, STORAGE, FLOAT, COMPLEX_RANK
from program import text_of

UNSUPPORTED = 10  # WEFT_ERROR_UNSUPPORTED
ARRAY, INPUT, PLAIN = 0, 1, 2  # weft_operand_tag
STEP, AT, NEW_AXIS = 0x57000001, 0x57000002, 0x57000003  # weft_range_kind
END_OF_RANGE = -(1 << 63)


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int32), ("size", ctypes.c_int64 * 8)]

    @staticmethod
    def of(sizes):
        return Shape(len(sizes), (ctypes.c_int64 * 8)(*sizes))


class Axes(ctypes.Structure):
    _fields_ = [("axis", ctypes.c_int32 * 8), ("count", ctypes.c_int32)]


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class Range(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("start", ctypes.c_int64), ("stop", ctypes.c_int64), ("step", ctypes.c_int64)]


class OperandValue(ctypes.Union):
    _fields_ = [("array", ctypes.c_void_p), ("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("f", ctypes.c_double),
                ("complex", ctypes.c_double * 2)]


class OperandRecord(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_int32), ("dtype", ctypes.c_int32), ("value", OperandValue)]


class Options(ctypes.Structure):
    """weft_options; nothing but the dtype is ever given."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int32), ("device", ctypes.c_int32 * 2),
                ("memory", ctypes.c_int32), ("allocator", ctypes.c_int32), ("user_allocator", ctypes.c_void_p),
                ("stream", ctypes.c_void_p), ("copy", ctypes.c_int32)]

    @staticmethod
    def of(dtype):
        return Options(struct_size=ctypes.sizeof(Options), dtype=NUMBER[dtype] if dtype else 0)


class BorrowOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("strides", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("context", ctypes.c_void_p)]


class Refused(Exception):
    """The library did not take the program."""

    def __init__(self, status, message):
        super().__init__("status %d: %s" % (status, message))
        self.status = status


POINTER, SIZE, TEXT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
SIGNATURES = {
    "weft_error_code": (ctypes.c_int, []),
    "weft_error_message": (TEXT, []),
    "weft_device_named": (Device, [TEXT]),
    "weft_device_push": (ctypes.c_int, [Device]),
    "weft_array_release": (None, [POINTER]),
    "weft_array_dtype": (ctypes.c_int, [POINTER]),
    "weft_array_shape": (Shape, [POINTER]),
    "weft_array_stride": (ctypes.c_int64, [POINTER, ctypes.c_int]),
    "weft_array_bytes": (SIZE, [POINTER]),
    "weft_slice_with": (POINTER, [POINTER, ctypes.c_int, POINTER]),
    "weft_permute": (POINTER, [POINTER, Axes]),
    "weft_broadcast": (POINTER, [POINTER, Shape]),
    "weft_handle_with": (POINTER, [POINTER]),
    "weft_from_host_with": (POINTER, [POINTER, SIZE, Shape, POINTER]),
    "weft_borrow_with": (POINTER, [POINTER, SIZE, Shape, ctypes.c_int, POINTER]),
    "weft_copy_from_host": (ctypes.c_int, [POINTER, POINTER, SIZE]),
    "weft_copy_to_host": (ctypes.c_int, [POINTER, POINTER, SIZE]),
    "weft_evaluate": (ctypes.c_int, [TEXT, ctypes.c_int, POINTER, POINTER]),
    "weft_evaluate_new": (POINTER, [TEXT, ctypes.c_int, POINTER, POINTER]),
    "weft_evaluate_site": (ctypes.c_int, [POINTER, SIZE, ctypes.c_int, POINTER]),
    "weft_new_site": (POINTER, [POINTER, SIZE, ctypes.c_int, POINTER]),
}


class Library:
    """One copy of the library, opened under environment variables of its own."""

    copies = 0

    def __init__(self, path, folder, environment):
        self.environment = dict(environment)
        Library.copies += 1
        own = os.path.join(folder, "libweft-%d-%d.so" % (os.getpid(), Library.copies))
        shutil.copyfile(path, own)  # another file is another library, with state of its own
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        self.handle = ctypes.CDLL(own)
        os.unlink(own)
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(self.handle, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[len("weft_"):], function)
        self.sites = ctypes.create_string_buffer(1 << 16)  # its addresses are call sites, used again and again
        if "WEFT_DEVICE" in environment:  # what is lent follows the context alone
            self.check(self.device_push(self.device_named(environment["WEFT_DEVICE"].encode())))
        self.function("exp", [np.ones(3, np.float32)])  # reads the environment
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

    def __str__(self):
        return " ".join("%s=%s" % pair for pair in sorted(self.environment.items()))

    def check(self, status):
        if status != 0:
            raise Refused(status, self.error_message().decode(errors="replace"))

    def made(self, array):
        if not array:
            raise Refused(self.error_code(), self.error_message().decode(errors="replace"))
        return array

    # Arrays.

    def borrow(self, array, dtype, end=None):
        """An array over NumPy's memory, with its strides; `end` is the address behind the memory."""
        strides = (ctypes.c_int64 * max(array.ndim, 1))(*array.strides)
        options = BorrowOptions(ctypes.sizeof(BorrowOptions), ctypes.addressof(strides), None, None)
        start = array.ctypes.data
        return self.made(self.borrow_with(start, end - start if end else array.nbytes, Shape.of(array.shape),
                                          NUMBER[dtype], ctypes.byref(options)))

    def from_host(self, array, dtype):
        return self.made(self.from_host_with(array.ctypes.data, array.nbytes, Shape.of(array.shape),
                                             ctypes.byref(Options.of(dtype))))

    def to_host(self, array):
        """dtype, shape and elements of an array."""
        dtype = NAMES[self.array_dtype(array) - 1]
        shape = self.array_shape(array)
        result = np.empty(tuple(shape.size[:shape.ndim]), dtype=STORAGE[dtype])
        self.check(self.copy_to_host(array, result.ctypes.data, result.nbytes))
        return dtype, result.shape, result

    def step(self, array, kind, argument):
        """A view of an array, as NumPy makes it in program.view_of."""
        if kind == "slice":
            ranges = (Range * len(argument))(*[range_of(item) for item in argument])
            return self.made(self.slice_with(array, len(argument), ranges))
        if kind == "permute":
            return self.made(self.permute(array, Axes((ctypes.c_int32 * 8)(*argument), len(argument))))
        return self.made(self.broadcast(array, Shape.of(argument)))

    def view(self, base, steps):
        array = None
        for kind, argument in steps:
            made = self.step(array or base, kind, argument)
            if array:
                self.array_release(array)
            array = made
        return array

    # Programs.

    def evaluate_text(self, code, names, records, wants_value, site):
        """Runs code; gives the value's array, or None."""
        operands = (OperandRecord * max(len(records), 1))(*records)
        if site is None:
            texts = (TEXT * max(len(names), 1))(*[name.encode() for name in names])
            if wants_value:
                return self.made(self.evaluate_new(code.encode(), len(records), texts, operands))
            self.check(self.evaluate(code.encode(), len(records), texts, operands))
            return None
        text = b"random.c:1\0" + code.encode() + b"\0" + ", ".join(names).encode()
        address = ctypes.addressof(self.sites) + site
        ctypes.memmove(address, text + b"\0", len(text) + 1)
        if wants_value:
            return self.made(self.new_site(address, len(text), len(records), operands))
        self.check(self.evaluate_site(address, len(text), len(records), operands))
        return None

    def function(self, name, arrays):
        """A function or operator of arrays of floats or complex numbers that have one shape."""
        dtype = {"f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}[arrays[0].dtype.str[1:]]
        names = ("x", "y", "z")[:len(arrays)]
        kept = [np.ascontiguousarray(array) for array in arrays]
        handles = [self.borrow(array, dtype) for array in kept]
        records = [array_record(handle, INPUT) for handle in handles]
        code = "x / y" if name == "divide" else "%s(%s)" % (name, ", ".join(names))
        try:
            value = self.evaluate_text(code, names, records, True, None)
            result = self.to_host(value)[2].reshape(arrays[0].shape)
            self.array_release(value)
        finally:
            for handle in handles:
                self.array_release(handle)
        return result


def array_record(handle, tag):
    record = OperandRecord(tag, 0)
    record.value.array = handle
    return record


def number_record(operand):
    record = OperandRecord(PLAIN, NUMBER[operand.dtype])
    rank = RANK[operand.dtype]
    if rank == COMPLEX_RANK:
        record.value.complex[:] = [operand.value.real, operand.value.imag]
    elif rank == FLOAT:
        record.value.f = operand.value
    elif operand.dtype in SIGNED:
        record.value.i = operand.value
    else:
        record.value.u = int(operand.value)
    return record


def range_of(item):
    if item is None:
        return Range(NEW_AXIS, 0, 0, 0)
    if isinstance(item, int):
        return Range(AT, item, 0, 0)
    ends = [END_OF_RANGE if end is None else end for end in (item.start, item.stop)]
    return Range(STEP, ends[0], ends[1], item.step or 1)


class Outcome:
    """What a program left behind: all memories, the handles' arrays, the value."""

    def __init__(self, memories, handles, result):
        self.memories, self.handles, self.result = memories, handles, result


class Run:
    """A program with its operands in one library; it can be run several times."""

    def __init__(self, library, program):
        self.library, self.program = library, program
        self.made = []
        self.blocks = [memory.data.copy() for memory in program.memories]
        self.bases = []
        for memory, block in zip(program.memories, self.blocks):
            make = library.borrow if program.lent else library.from_host
            self.bases.append(self.keep(make(block, memory.dtype)))

    def keep(self, array):
        self.made.append(array)
        return array

    def operand_array(self, operand):
        position = self.program.memories.index(operand.memory)
        block, base, steps = self.blocks[position], self.bases[position], operand.steps
        expected = operand.view(block)
        if self.program.lent and expected.size and min(expected.strides, default=0) >= 0:
            return self.keep(self.library.borrow(expected, operand.dtype, block.ctypes.data + block.nbytes))
        if steps and steps[0][0] == "cast":
            base, steps = self.keep(self.library.borrow(block.view(steps[0][1]), operand.dtype)), steps[1:]
        made = self.library.view(base, steps)
        array = self.keep(made) if made else base
        self.check_strides(array, operand, expected)
        return array

    def check_strides(self, array, operand, expected):
        for axis, (size, stride) in enumerate(zip(expected.shape, expected.strides)):
            given = self.library.array_stride(array, axis)
            if size > 1 and expected.size and given != stride:
                raise AssertionError("a view of %s has stride %d along axis %d, and NumPy %d" % (
                    operand.name, given, axis, stride))

    def records(self):
        records, handles = [], {}
        for number, operand in enumerate(self.program.operands):
            if operand.kind == "number":
                records.append(number_record(operand))
                continue
            if operand.kind == "handle":
                options = Options.of(operand.dtype)
                array = handles[number] = self.keep(self.library.made(self.library.handle_with(ctypes.byref(options))))
            else:
                array = self.operand_array(operand)
            records.append(array_record(array, INPUT if operand.kind == "input" else ARRAY))
        return records, handles

    def restore(self):
        """Memory as it was before the program."""
        for base, block, memory in zip(self.bases, self.blocks, self.program.memories):
            block[...] = memory.data
            if not self.program.lent:
                self.library.check(self.library.copy_from_host(base, block.ctypes.data, block.nbytes))

    def run(self):
        self.restore()
        records, handles = self.records()
        names = [operand.name for operand in self.program.operands]
        value = self.library.evaluate_text(text_of(self.program), names, records, self.program.wants_value,
                                           self.program.site)
        result = None
        if value:
            result = self.library.to_host(value)
            self.library.array_release(value)
        if not self.program.lent:
            for base, block in zip(self.bases, self.blocks):
                self.library.check(self.library.copy_to_host(base, block.ctypes.data, block.nbytes))
        memories = [block.copy() for block in self.blocks]
        return Outcome(memories, {number: self.library.to_host(array) for number, array in handles.items()}, result)

    def close(self):
        for array in self.made:
            self.library.array_release(array)
        self.made = []
