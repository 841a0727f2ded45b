"""Functions with an error bound: what the library gives for each argument is compared with NumPy's long double.

The same function of the same number has the same bits wherever it stands. So the library is asked for it alone,
over plain arrays; its answer is checked against the bound, and then taken as exact in the program around it. All
that follows can be compared bit by bit.
"""

import numpy as np

import extra
import tables

LONG = np.longdouble
CHECKED = 1024  # results that are compared with NumPy, of one call
SLACK = 0.15  # the long double functions are off by some of its last places, and bounds were measured, not proved

def power(x, y):
    """powl of x86 is wrong for an infinite base and a large exponent."""
    narrow = np.power(x.astype(np.float64), y.astype(np.float64)).astype(LONG)
    return np.where(np.isinf(x), narrow, np.power(x, y))


FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "erf": extra.erf, "tgamma": extra.tgamma,
    "lgamma": extra.lgamma, "pow": power, "atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp,
}
BOUNDS = tables.bounds("WEFT__MATH_LIST")


class OutOfBound(Exception):
    """A function gave something further from the right result than its bound allows."""


def unit(reference, dtype):
    """One unit in the last place of each number."""
    digits, least = (24, -149) if dtype == np.float32 else (53, -1074)
    exponent = np.frexp(reference)[1]
    return np.ldexp(LONG(1), np.maximum(exponent - digits, least))


def measure(name, arguments, reference):
    """What the error is measured by: functions with zeros of their own have larger units."""
    size = np.abs(reference)
    if name == "logaddexp":
        size = np.maximum(size, np.maximum(np.abs(arguments[0]), np.abs(arguments[1])))
    if name == "lgamma":
        x = arguments[0]
        size = np.where(x < -2, np.maximum(np.maximum(size, 1), np.abs(extra.lgamma(np.abs(x)))), size)
    return size


def fits(name, bound, arguments, given):
    """Which of the results are within the bound, and the reference."""
    wide = [np.asarray(x, dtype=LONG) for x in arguments]
    reference = FUNCTIONS[name](*wide)
    most = LONG(np.finfo(given.dtype).max)
    allowed = (bound + SLACK) * unit(np.where(np.isfinite(reference), measure(name, wide, reference), 1), given.dtype)
    near = np.abs(given.astype(LONG) - reference) <= allowed
    beyond = np.abs(reference) > most - allowed  # rounds to infinity, or nearly does
    same_sign = np.signbit(reference) == np.signbit(given)
    infinite = np.isinf(given) & beyond & same_sign
    same = (given.astype(LONG) == reference) | (np.isnan(given) & np.isnan(reference))
    return near | infinite | same, reference


def check(name, arguments, given):
    """Raises OutOfBound if the library's results are too far off. Gives the number of those compared."""
    flat = [np.ravel(x) for x in np.broadcast_arrays(*arguments)]
    results = np.ravel(given)
    if results.size > CHECKED:  # spread over all
        chosen = np.arange(CHECKED) * (results.size // CHECKED)
        flat, results = [x[chosen] for x in flat], results[chosen]
    bound = BOUNDS[name][results.dtype == np.float64]
    right, reference = fits(name, bound, flat, results)
    if not right.all():
        k = int(np.argmin(right))
        given_arguments = ", ".join(float(x[k]).hex() for x in flat)
        raise OutOfBound("%s(%s) of %s gave %s, and NumPy %s" % (
            name, given_arguments, results.dtype, float(results[k]).hex(), repr(reference[k])))
    return results.size
