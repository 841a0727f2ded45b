"""Functions of complex numbers with an error bound, as functions.py has those of real ones.

Errors are distances in units in the last place of the exact result's modulus. The reference is NumPy's long double, by
formulas that do not cancel. Results that are not finite, and those of arguments that are not, are only compared between
engines: tests/math/test_complex.c has Annex G.
"""

import numpy as np

import tables
from functions import CHECKED, LONG, OutOfBound, SLACK, unit


def modulus(z):
    return np.hypot(z.real, z.imag)


def join(real, imaginary):
    result = np.empty(np.broadcast(real, imaginary).shape, dtype=np.clongdouble)
    result.real, result.imag = real, imaginary
    return result


def log1p(z):
    x, y = z.real, z.imag
    near = modulus(z) < 0.5
    close = np.log1p(np.where(near, 2 * x + (x * x + y * y), 0)) / 2
    return join(np.where(near, close, np.log(np.hypot(1 + x, y))), np.arctan2(y, 1 + x))


def log(z):
    near = modulus(z - 1) < 0.5
    plain = join(np.log(modulus(z)), np.arctan2(z.imag, z.real))
    return np.where(near, log1p(np.where(near, z - 1, 0)), plain)


def exp(z):
    return join(np.exp(z.real) * np.cos(z.imag), np.exp(z.real) * np.sin(z.imag))


LOG_2, LOG_10 = np.log(LONG(2)), np.log(LONG(10))


def exp2(z):
    angle = z.imag * LOG_2
    return join(np.exp2(z.real) * np.cos(angle), np.exp2(z.real) * np.sin(angle))


def expm1(z):
    half = np.sin(z.imag / 2)
    return join(np.expm1(z.real) * np.cos(z.imag) - 2 * half * half, np.exp(z.real) * np.sin(z.imag))


FUNCTIONS = {
    "divide": lambda x, y: x / y, "sign": lambda z: z / modulus(z), "sqrt": np.sqrt,
    "exp": exp, "exp2": exp2,
    "expm1": expm1, "log": log, "log2": lambda z: log(z) / LOG_2,
    "log10": lambda z: log(z) / LOG_10, "log1p": log1p, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "pow": lambda x, y: exp(y * log(x)),
}
BOUNDS = tables.bounds("WEFT__COMPLEX_LIST")
# The angle times log 2 has the error of a long double, which is too much for large ones.
LARGEST = {"exp2": 2.0**10, "pow": 2.0**30}


def is_plain(name, arguments):
    """Where the reference can be trusted: finite arguments, no huge and no tiny ones."""
    plain = True
    for z in arguments:
        size = modulus(z)
        plain = plain & np.isfinite(size) & (size < LARGEST.get(name, 2.0**200)) & ((size > 2.0**-200) | (size == 0))
    return plain


def scale(name, arguments, wide):
    """What the unit is multiplied by: pow is off by a part of its exponent, which is an f64."""
    if name != "pow":
        return LONG(1)
    length = modulus(log(arguments[0])) * modulus(arguments[1]) * LONG(1 if wide else 2.0**-28)
    return np.where(np.isfinite(length), np.maximum(length, 1), 1)


def check(name, arguments, given):
    """Raises OutOfBound; gives the numbers of results that were compared, and that were left to the engines."""
    flat = [np.ravel(z) for z in np.broadcast_arrays(*arguments)]
    results = np.ravel(given)
    if results.size > CHECKED:
        chosen = np.arange(CHECKED) * (results.size // CHECKED)
        flat, results = [z[chosen] for z in flat], results[chosen]
    wide = results.dtype == np.complex128
    part = np.float64 if wide else np.float32
    exact = [z.astype(np.clongdouble) for z in flat]
    bound, reference = BOUNDS[name][wide], FUNCTIONS[name](*exact)
    size = modulus(reference)
    plain = is_plain(name, exact) & np.isfinite(size) & (size < LONG(np.finfo(part).max) / 2)
    allowed = (bound + SLACK) * unit(np.where(plain, size, 1), part) * scale(name, exact, wide)
    right = ~plain | (modulus(results.astype(np.clongdouble) - reference) <= allowed)
    if not right.all():
        k = int(np.argmin(right))
        raise OutOfBound("%s(%s) of %s gave %s, and NumPy %s" % (
            name, ", ".join(shown(z[k]) for z in flat), results.dtype, shown(results[k]), repr(reference[k])))
    return int(np.count_nonzero(plain)), int(np.count_nonzero(~plain))


def shown(z):
    return "%s + i*%s" % (float(z.real).hex(), float(z.imag).hex())
