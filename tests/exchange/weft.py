"""The functions that exchanges need, by ctypes, and capsules, which is how Python hands tensors over."""

import ctypes

POINTER, SIZE, TEXT, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int32), ("size", ctypes.c_int64 * 8)]

    @staticmethod
    def of(sizes):
        return Shape(len(sizes), (ctypes.c_int64 * 8)(*sizes))


class Options(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("dtype", ctypes.c_int32), ("device", Device), ("memory", ctypes.c_int32),
                ("allocator", ctypes.c_int32), ("user_allocator", POINTER), ("stream", POINTER),
                ("copy", ctypes.c_int32), ("random", POINTER)]


class Ordering(ctypes.Structure):
    """weft_from_dlpack_options, and the beginning of weft_to_dlpack_options."""
    _fields_ = [("struct_size", SIZE), ("stream", POINTER)]


class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "bytes_in_use", "bytes_peak", "bytes_cached", "allocations", "reuses", "copies_to_device", "copies_to_host",
        "copies_on_device", "bytes_to_device", "bytes_to_host", "bytes_on_device", "launches")]


class Tensor(ctypes.Structure):
    _fields_ = [("data", POINTER), ("device_type", ctypes.c_int32), ("device_index", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", POINTER), ("strides", POINTER), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, POINTER)


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", POINTER), ("deleter", POINTER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


class Unversioned(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", POINTER), ("deleter", POINTER)]


SIGNATURES = {
    "weft_error_message": (TEXT, []),
    "weft_device_named": (Device, [TEXT]),
    "weft_from_host_with": (POINTER, [POINTER, SIZE, Shape, POINTER]),
    "weft_array_release": (None, [POINTER]),
    "weft_array_data": (POINTER, [POINTER]),
    "weft_array_bytes": (SIZE, [POINTER]),
    "weft_array_dtype": (INT, [POINTER]),
    "weft_dtype_named": (INT, [TEXT]),
    "weft_copy_to_host": (INT, [POINTER, POINTER, SIZE]),
    "weft_copy_from_host": (INT, [POINTER, POINTER, SIZE]),
    "weft_transpose": (POINTER, [POINTER]),
    "weft_memory_stats_sized": (INT, [Device, POINTER, SIZE]),
    "weft_stream_wrap": (POINTER, [Device, POINTER]),
    "weft_stream_release": (None, [POINTER]),
    "weft_from_dlpack_with": (POINTER, [POINTER, POINTER]),
    "weft_from_dlpack_unversioned_with": (POINTER, [POINTER, POINTER]),
    "weft_to_dlpack_with": (POINTER, [POINTER, POINTER]),
    "weft_to_dlpack_unversioned_with": (POINTER, [POINTER, POINTER]),
}

python = ctypes.pythonapi
python.PyCapsule_New.restype, python.PyCapsule_New.argtypes = ctypes.py_object, [POINTER, TEXT, POINTER]
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = POINTER, [ctypes.py_object, TEXT]
python.PyCapsule_SetName.restype, python.PyCapsule_SetName.argtypes = INT, [ctypes.py_object, TEXT]
python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = TEXT, [ctypes.py_object]
python.PyCapsule_SetDestructor.argtypes = [ctypes.py_object, POINTER]

# A capsule keeps the address of its name.
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}


class Weft:
    def __init__(self, path, device):
        self.handle = ctypes.CDLL(path)
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(self.handle, name)
            function.restype, function.argtypes = result, arguments
        self.device = self.handle.weft_device_named(device.encode())
        self.memory = 2 if device.startswith("opencl") else 0  # shared: what the host can read, too
        self.deleted = 0  # deleters of others that were called
        self.kept = {}  # deleters by the address of their tensor

    def checked(self, result):
        if not result:
            raise RuntimeError(self.handle.weft_error_message().decode())
        return result

    def statistics(self):
        statistics = Statistics()
        self.handle.weft_memory_stats_sized(self.device, ctypes.byref(statistics), ctypes.sizeof(statistics))
        return statistics

    def new(self, values, dtype):
        options = Options(struct_size=ctypes.sizeof(Options), dtype=self.handle.weft_dtype_named(dtype.encode()),
                          device=self.device, memory=self.memory)
        return self.checked(self.handle.weft_from_host_with(values.ctypes.data, values.nbytes, Shape.of(values.shape),
                                                            ctypes.byref(options)))

    def bits(self, array):
        data = ctypes.create_string_buffer(self.handle.weft_array_bytes(array))
        if self.handle.weft_copy_to_host(array, data, len(data)) != 0:
            raise RuntimeError(self.handle.weft_error_message().decode())
        return data.raw

    def ordering(self, stream):
        return ctypes.byref(Ordering(ctypes.sizeof(Ordering), stream)) if stream else None

    def count(self, address, kind):
        """Counts the calls of a tensor's deleter."""
        managed = kind.from_address(address)
        own = DELETER(managed.deleter)

        def delete(tensor):
            self.deleted += 1
            self.kept[tensor] = None
            own(tensor)

        counting = DELETER(delete)
        self.kept[address] = counting
        managed.deleter = ctypes.cast(counting, POINTER).value

    def take(self, capsule, stream=None):
        """The tensor in a capsule, as an array."""
        versioned = python.PyCapsule_GetName(capsule) == NAMES[True]
        address = python.PyCapsule_GetPointer(capsule, NAMES[versioned])
        python.PyCapsule_SetName(capsule, USED[versioned])
        self.count(address, Versioned if versioned else Unversioned)
        name = "weft_from_dlpack_with" if versioned else "weft_from_dlpack_unversioned_with"
        return self.checked(getattr(self.handle, name)(address, self.ordering(stream)))


class Given:
    """An array that others take with from_dlpack; it counts what they delete."""

    def __init__(self, weft, array, device, wrap=None):
        self.weft, self.array, self.device, self.wrap = weft, array, device, wrap

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        name = "weft_to_dlpack_with" if versioned else "weft_to_dlpack_unversioned_with"
        consumer = self.wrap(stream) if self.wrap else None
        address = self.weft.checked(getattr(self.weft.handle, name)(self.array, None if not consumer
                                                                    else self.weft.ordering(consumer)))
        if consumer:
            self.weft.handle.weft_stream_release(consumer)
        self.weft.count(address, Versioned if versioned else Unversioned)
        return python.PyCapsule_New(address, NAMES[versioned], None)
