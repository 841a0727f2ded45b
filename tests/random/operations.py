"""The operations element by element in NumPy: those that are exact. functions.py has the others."""

import numpy as np

import extra
from dtypes import BOOL, COMPLEX_RANK, FLOAT, INTEGER, RANK, SIGNED
from folds import maximum, minimum
from values import bits_bf16, f32_of_bf16, round_narrow


def unsigned(x):
    return x.view("u%d" % x.dtype.itemsize)


def magnitude_integer(x):
    """The absolute value as an unsigned integer, of the smallest too."""
    if x.dtype.kind == "u":
        return x
    return np.where(x < 0, unsigned(-x), unsigned(x))


def divide_integers(x, y):
    """Truncated; by 0 it is 0; the smallest over -1 is itself."""
    zero = y == 0
    size = magnitude_integer(x) // np.where(zero, 1, magnitude_integer(y)).astype(unsigned(y).dtype)
    quotient = np.where((x < 0) != (y < 0), -size, size).astype(x.dtype)
    return np.where(zero, x.dtype.type(0), quotient)


def modulo_integers(x, y):
    return (x - divide_integers(x, y) * y).astype(x.dtype)


def shift_counts(x, y):
    """The distance as an unsigned number, whether it is too far, and one that is safe."""
    distance = unsigned(y)
    bits = distance.dtype.type(8 * x.dtype.itemsize)
    far = distance >= bits
    return far, np.where(far, distance.dtype.type(0), distance)


def shift_left(x, y):
    far, distance = shift_counts(x, y)
    shifted = (unsigned(x) << distance).astype(unsigned(x).dtype).view(x.dtype)
    return np.where(far, x.dtype.type(0), shifted)


def shift_right(x, y):
    far, distance = shift_counts(x, y)
    beyond = np.where(x < 0, x.dtype.type(-1), x.dtype.type(0)) if x.dtype.kind == "i" else x.dtype.type(0)
    return np.where(far, beyond, x >> distance.astype(x.dtype))


def popcount(x):
    octets = np.ascontiguousarray(x).view(np.uint8).reshape(x.shape + (x.dtype.itemsize,))
    return np.unpackbits(octets, axis=-1).sum(axis=-1).astype(x.dtype)


def power_integers(x, y):
    """By repeated squaring, modulo 2^bits; for negative exponents the power of 1/x truncated."""
    one = x.dtype.type(1)
    result, base, rest = np.ones_like(x + y), x, np.where(y < 0, x.dtype.type(0), y)
    while rest.any():
        result = np.where(rest & one, result * base, result)
        base = base * base
        rest = rest >> one
    if x.dtype.kind == "u":
        return result
    turned = np.where(y & one, -one, one)
    below = np.where(x == 1, one, np.where(x == -1, turned, x.dtype.type(0)))
    return np.where(y < 0, below, result)


def angle(x):
    """Of real numbers: pi if the sign bit is set."""
    return np.where(np.isnan(x), x, np.where(np.signbit(x), x.dtype.type(np.pi), x.dtype.type(0)))


def next_narrow(x, y, dtype):
    """nextafter of f16 and bf16, of which both are rounded first."""
    x, y = round_narrow(x, dtype), round_narrow(y, dtype)
    if dtype == "f16":
        after = np.nextafter(x.astype(np.float16), y.astype(np.float16)).astype(np.float32)
        return np.where(x == y, y, after)  # old versions give x: another zero
    bits = bits_bf16(x).astype(np.int32)
    larger = np.where(x < y, x >= 0, x < 0)  # in magnitude
    moved = np.where(x == 0, np.where(y < 0, 0x8001, 1), bits + np.where(larger, 1, -1))
    stepped = f32_of_bf16(moved.astype(np.uint16))
    return np.where(np.isnan(x) | np.isnan(y), x + y, np.where(x == y, y, stepped))


def sign(x):
    if x.dtype.kind == "u":
        return (x > 0).astype(x.dtype)
    one = x.dtype.type(1)
    return np.where(x < 0, -one, np.where(x > 0, one, x))


def remainder(x, y):
    """fmod, plus y if the signs differ; a zero has the sign of y."""
    rest = np.fmod(x, y)
    moved = np.where((rest < 0) != (y < 0), rest + y, rest)
    return np.where(rest == 0, np.copysign(x.dtype.type(0), y), moved)


def copysign(x, y):
    """A NaN has no sign."""
    return np.where(np.isnan(y), np.abs(x), np.copysign(x, y))


REAL = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "negative": lambda x: -x, "bitwise_and": lambda x, y: x & y, "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y, "bitwise_not": lambda x: ~x, "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y, "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y, "greater_equal": lambda x, y: x >= y, "logical_and": lambda x, y: x & y,
    "logical_or": lambda x, y: x | y, "logical_not": lambda x: ~x, "minimum": minimum, "maximum": maximum,
    "clip": lambda x, low, high: minimum(maximum(x, low), high), "abs": np.abs, "sign": sign,
    "square": lambda x: x * x, "positive": lambda x: x, "real": lambda x: x, "conj": lambda x: x,
    "imag": np.zeros_like,
}
INTEGERS = {
    "divide": divide_integers, "modulo": modulo_integers, "shift_left": shift_left, "shift_right": shift_right,
    "popcount": popcount, "pow": power_integers, "negative": lambda x: (0 - x).astype(x.dtype),
}
FLOATS = {
    "divide": lambda x, y: x / y, "sqrt": np.sqrt, "fma": extra.fma, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "signbit": lambda x: np.signbit(x) & ~np.isnan(x), "copysign": copysign, "nextafter": np.nextafter, "fmod": np.fmod,
    "remainder": remainder, "arg": angle,
}


def multiply_complex(x, y):
    (xr, xi), (yr, yi) = x, y
    return [xr * yr - xi * yi, xr * yi + xi * yr]


COMPLEX = {
    "add": lambda x, y: [x[0] + y[0], x[1] + y[1]], "subtract": lambda x, y: [x[0] - y[0], x[1] - y[1]],
    "multiply": multiply_complex, "square": lambda x: multiply_complex(x, x), "negative": lambda x: [-x[0], -x[1]],
    "positive": lambda x: x, "conj": lambda x: [x[0], -x[1]], "real": lambda x: x[:1], "imag": lambda x: x[1:],
    "equal": lambda x, y: [(x[0] == y[0]) & (x[1] == y[1])],
    "not_equal": lambda x, y: [(x[0] != y[0]) | (x[1] != y[1])],
    "isnan": lambda x: [np.isnan(x[0]) | np.isnan(x[1])], "isinf": lambda x: [np.isinf(x[0]) | np.isinf(x[1])],
    "isfinite": lambda x: [np.isfinite(x[0]) & np.isfinite(x[1])],
}


def part_moved(name, argument):
    """What the parts of a complex operation's result are loads of."""
    first, second = argument.moved
    return {"real": (first, None), "imag": (second, None), "conj": (first, None), "positive": (first, second)}.get(
        name, (None, None))


def with_an_axis(function, arguments):
    """NumPy before 2 chooses dtypes by the values of arrays that have no axes: here they have one."""
    bare = all(part.ndim == 0 for argument in arguments for part in argument.parts)
    parts = function([[np.atleast_1d(part) for part in argument.parts] for argument in arguments])
    return [part.reshape(()) for part in parts] if bare else parts


def exact(name, common, arguments):
    """The parts of the result, or None if the operation is one of functions.py."""
    if RANK[common] == COMPLEX_RANK:
        function = COMPLEX.get(name)
        return function and with_an_axis(lambda parts: function(*parts), arguments)
    table = {BOOL: REAL, INTEGER: INTEGERS, FLOAT: FLOATS}[RANK[common]]
    function = table.get(name) or REAL.get(name)
    if name == "nextafter" and common in ("f16", "bf16"):
        function = lambda x, y: next_narrow(x, y, common)
    if name == "abs" and common in SIGNED:
        function = lambda x: np.where(x < 0, (0 - x).astype(x.dtype), x)
    return function and with_an_axis(lambda parts: [function(*[part[0] for part in parts])], arguments)
