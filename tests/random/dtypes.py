"""Dtypes, how they combine, and how NumPy holds them: written from the documents, not from the library."""

import numpy as np

NAMES = ("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128").split()
NUMBER = {name: 1 + k for k, name in enumerate(NAMES)}  # of weft_dtype

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")

BOOL, INTEGER, FLOAT, COMPLEX_RANK = range(4)
RANK = {"bool": BOOL}
RANK.update(dict.fromkeys(INTEGERS, INTEGER))
RANK.update(dict.fromkeys(FLOATS, FLOAT))
RANK.update(dict.fromkeys(COMPLEX, COMPLEX_RANK))

# What memory holds. bool is kept as bytes, f16 and bf16 as their bits, complex numbers as pairs.
STORAGE = {
    "bool": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
    "u64": "u8", "f16": "u2", "bf16": "u2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}
STORAGE = {name: np.dtype(text) for name, text in STORAGE.items()}
BYTES = {name: STORAGE[name].itemsize for name in NAMES}

# What values are computed in; of complex numbers, each part.
VALUE = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
    "u64": "u8", "f16": "f4", "bf16": "f4", "f32": "f4", "f64": "f8", "c64": "f4", "c128": "f8",
}
VALUE = {name: np.dtype(text) for name, text in VALUE.items()}

CANONICAL_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}


class Invalid(Exception):
    """A program that the language does not allow."""


def bits_of(dtype):
    return 8 * BYTES[dtype]


def integer_range(dtype):
    bits = bits_of(dtype)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype in SIGNED else (0, (1 << bits) - 1)


def real_of(dtype):
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


def complex_of(dtype):
    return "c128" if dtype in ("f64", "c128") else "c64"


def promote(a, b):
    """The common dtype of two typed values, by the array API standard; bf16 with f16 is f32."""
    if a == b:
        return a
    ranks = sorted((RANK[a], RANK[b]))
    if ranks == [INTEGER, INTEGER]:
        return promote_integers(a, b)
    if ranks == [FLOAT, FLOAT]:
        if BYTES[a] == BYTES[b]:
            return "f32"
        return a if BYTES[a] > BYTES[b] else b
    if ranks[0] >= FLOAT:
        return "c128" if {"f64", "c128"} & {a, b} else "c64"
    raise Invalid("%s and %s have no common dtype" % (a, b))


def promote_integers(a, b):
    if (a in SIGNED) == (b in SIGNED):
        return a if BYTES[a] > BYTES[b] else b
    signed, other = (a, b) if a in SIGNED else (b, a)
    if BYTES[signed] > BYTES[other]:
        return signed
    if other == "u64":
        raise Invalid("%s and %s have no common dtype" % (a, b))
    return {"u8": "i16", "u16": "i32", "u32": "i64"}[other]


def weak_of(dtype):
    """What an untyped number is computed as."""
    rank = RANK[dtype]
    if rank == INTEGER:
        return "u64" if dtype == "u64" else "i64"
    return ("bool", None, "f64", "c128")[rank]


def combine(first, second):
    """The common type of two (dtype, weak) pairs."""
    (a, a_weak), (b, b_weak) = first, second
    if a_weak and b_weak:
        if RANK[a] != RANK[b]:
            return (a if RANK[a] > RANK[b] else b), True
        return ("u64" if "u64" in (a, b) else a), True
    if not a_weak and not b_weak:
        return promote(a, b), False
    weak, typed = (a, b) if a_weak else (b, a)
    if RANK[weak] == COMPLEX_RANK and RANK[typed] == FLOAT:
        return complex_of(typed), False
    if RANK[weak] > RANK[typed]:
        raise Invalid("an untyped %s does not become %s" % (weak, typed))
    return typed, False


def is_assignable(target, dtype, weak):
    if weak:
        return RANK[dtype] <= RANK[target]
    return RANK[target] == RANK[dtype] or (RANK[target], RANK[dtype]) == (COMPLEX_RANK, FLOAT)


def broadcast(a, b):
    """The common shape, by NumPy's rules."""
    if a == b or not b:
        return a
    if not a:
        return b
    length = max(len(a), len(b))
    result = []
    for x, y in zip((1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b):
        if x != y and x != 1 and y != 1:
            raise Invalid("shapes %s and %s do not go together" % (a, b))
        result.append(y if x == 1 else x)
    return tuple(result)
