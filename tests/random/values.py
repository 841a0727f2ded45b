"""Values in NumPy: loads, stores and conversions of every dtype, as docs/semantics.md has them."""

import numpy as np

from dtypes import (CANONICAL_NAN, COMPLEX, COMPLEX_RANK, FLOAT, INTEGER, RANK, STORAGE, VALUE, integer_range,
                    real_of)

LONG = np.longdouble


class Value:
    """`parts` has one array, of complex values two, in the dtype that they are computed in.

    A copy moves the bytes: `moved` has, for each part, the dtype of the memory that it is nothing but a load of, or
    None; `raw` is what that memory held, where the part does not tell (bool, f16, bf16).
    """

    __slots__ = ("dtype", "parts", "moved", "raw")

    def __init__(self, dtype, parts, moved=(None, None), raw=None):
        self.dtype, self.parts, self.moved, self.raw = dtype, parts, moved, raw

    def map(self, function):
        """The same rearrangement of the parts and of what memory held."""
        raw = None if self.raw is None else function(self.raw)
        return Value(self.dtype, [function(part) for part in self.parts], self.moved, raw)


def f32_of_bf16(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def load(dtype, stored):
    """A value from what memory holds."""
    stored = np.ascontiguousarray(stored).reshape(stored.shape)
    moved = dtype, dtype
    if dtype == "bool":
        return Value(dtype, [stored != 0], moved, stored)
    if dtype == "f16":
        return Value(dtype, [stored.view(np.float16).astype(np.float32)], moved, stored)
    if dtype == "bf16":
        return Value(dtype, [f32_of_bf16(stored)], moved, stored)
    if dtype in COMPLEX:
        return Value(dtype, [stored.real.copy(), stored.imag.copy()], moved)
    return Value(dtype, [stored], moved)


def canonical(part, name):
    """The part with every NaN made canonical."""
    missing = np.isnan(part)
    if not missing.any():
        return part
    unsigned = np.uint32 if part.dtype == np.float32 else np.uint64
    bits = np.array(part).view(unsigned)
    bits[missing] = CANONICAL_NAN[name]
    return bits.view(part.dtype)


def bits_f16(part):
    """f32 to the bits of the nearest f16."""
    bits = part.astype(np.float16).view(np.uint16)
    return np.where(np.isnan(part), np.uint16(CANONICAL_NAN["f16"]), bits)


def bits_bf16(part):
    """f32 to the bits of the nearest bf16, ties to even."""
    bits = np.asarray(part).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(part), np.uint16(CANONICAL_NAN["bf16"]), rounded.astype(np.uint16))


def store(value):
    """What memory holds after a store of the value."""
    dtype = value.dtype
    if value.raw is not None and value.moved[0] == dtype:
        return value.raw
    part = value.parts[0]
    if dtype == "bool":
        return part.astype(np.uint8)
    if dtype == "f16":
        return bits_f16(part)
    if dtype == "bf16":
        return bits_bf16(part)
    if RANK[dtype] < FLOAT:
        return part
    name = real_of(dtype)
    parts = [p if moved == dtype else canonical(p, name) for p, moved in zip(value.parts, value.moved)]
    if dtype not in COMPLEX:
        return parts[0]
    pair = np.stack(np.broadcast_arrays(*parts), axis=-1)
    return np.ascontiguousarray(pair).view(STORAGE[dtype])[..., 0]


def round_narrow(part, dtype):
    """f32 rounded to f16 or bf16, as f32."""
    if dtype == "f16":
        return part.astype(np.float16).astype(np.float32)
    return np.where(np.isnan(part), part, f32_of_bf16(bits_bf16(part)))


def round_once(part, dtype):
    """f64 or an integer to the nearest f16 or bf16, as f32: scaled so that rint does the rounding."""
    exact = np.asarray(part).astype(LONG)
    digits, least, most = (11, -24, 65504.0) if dtype == "f16" else (8, -133, float.fromhex("0x1.fep127"))
    exponent = np.maximum(np.frexp(exact)[1] - digits, least)
    rounded = np.ldexp(np.rint(np.ldexp(exact, -exponent)), exponent)
    rounded = np.where(np.abs(rounded) > most, np.copysign(LONG(np.inf), exact), rounded)
    return np.where(np.isfinite(exact), rounded, exact).astype(np.float32)


def saturate(part, dtype):
    """Floats truncated to integers: the nearest end of the range beyond it, 0 for NaN."""
    low, high = integer_range(dtype)
    target = VALUE[dtype]
    above = part >= part.dtype.type(float(high + 1))
    below = part <= part.dtype.type(float(low))
    inside = np.where(above | below | np.isnan(part), part.dtype.type(0), part)
    result = np.trunc(inside).astype(target)
    result = np.where(above, target.type(high), result)
    return np.where(below, target.type(low), result)


def convert_part(part, source, dtype):
    if dtype in ("f16", "bf16"):
        return round_narrow(part, dtype) if VALUE[source] == np.float32 else round_once(part, dtype)
    target = VALUE[dtype]
    if RANK[source] >= FLOAT and RANK[dtype] == INTEGER:
        return saturate(part, dtype)
    return part if part.dtype == target else part.astype(target)


def convert(value, dtype, explicit=False):
    """A value as another dtype. To f16 and bf16 an explicit cast rounds even what has that dtype."""
    source = value.dtype
    if source == dtype and not (explicit and dtype in ("f16", "bf16")):
        return value
    if dtype == "bool":
        truth = value.parts[0] != 0
        if RANK[source] == COMPLEX_RANK:
            truth = truth | (value.parts[1] != 0)
        return Value(dtype, [truth])
    if source == dtype:
        return value if value.moved[0] == dtype else Value(dtype, [round_narrow(value.parts[0], dtype)])
    parts = [convert_part(value.parts[0], source, dtype)]
    if VALUE[source] == VALUE[dtype] and RANK[source] >= FLOAT and dtype not in ("f16", "bf16"):
        moved = value.moved  # nothing happens to the number
    else:
        moved = None, None
    if dtype in COMPLEX:
        imaginary = value.parts[1] if RANK[source] == COMPLEX_RANK else np.zeros_like(parts[0])
        parts.append(convert_part(imaginary, source if RANK[source] == COMPLEX_RANK else dtype, dtype))
        moved = moved if RANK[source] == COMPLEX_RANK else (moved[0], None)
    return Value(dtype, parts, moved)


def number(dtype, value):
    """A number of a weak dtype from Python's."""
    if RANK[dtype] == COMPLEX_RANK:
        return Value(dtype, [np.array(part, dtype=VALUE[dtype]) for part in (value.real, value.imag)])
    return Value(dtype, [np.array(value, dtype=VALUE[dtype])])
