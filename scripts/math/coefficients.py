"""Makes src/kernel/math/coefficients.c and .h, to be formatted after: run it as
`python3 scripts/math/coefficients.py`. Needs mpmath. Prints how close each polynomial is, in powers of two."""
import os
import sys

from mpmath import mp, mpf, log, log1p, expm1, sin, cos, sinh, tanh, atanh, atan, asin, sqrt, pi, fabs, exp, ldexp, floor, nint
from mpmath import erf, erfc, gamma, loggamma

from fit import fit

ONE = mpf(1)


def odd_rest(function, z):
    """(function(s) - s) / s^3 for s = sqrt(z)."""
    s = sqrt(z)
    return (function(s) - s) / s**3


def one(_):
    return ONE


def stirling(w):
    """lgamma(1/w), less the parts that grow."""
    x = 1 / w
    return loggamma(x) - ((x - ONE / 2) * log(x) - x + log(2 * pi) / 2)


# name, what the polynomial stands for, the function, the weight of its error, from, to, terms in f32, in f64.
POLYNOMIALS = [
    ("exp", "(e^r - 1 - r) / r^2", lambda r: (expm1(r) - r) / r**2, lambda r: r * r, -0.348, 0.348, 5, 10),
    ("expm1", "the same, for more", lambda r: (expm1(r) - r) / r**2, lambda r: r * r, -0.348, 0.348, 6, 11),
    ("exp2", "(2^r - 1) / r", lambda r: expm1(r * log(2)) / r, fabs, -0.5, 0.5, 6, 12),
    ("log", "(log(1 + r) - r + r^2/2) / r^3", lambda r: (log1p(r) - r + r * r / 2) / r**3, lambda r: r * r,
     sqrt(ONE / 2) - 1, sqrt(ONE * 2) - 1, 9, 20),
    ("sin", "(r - sin(r)) / r^3, in z = r^2", lambda z: (sqrt(z) - sin(sqrt(z))) / sqrt(z)**3, lambda z: z, 0, 0.686, 3, 6),
    ("cos", "(cos(r) - 1 + z/2) / z^2, in z = r^2", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z * z, 0,
     0.686, 3, 6),
    ("asin", "(asin(s) - s) / s^3, in z = s^2", lambda z: odd_rest(asin, z), lambda z: z, 0, 0.25, 5, 13),
    ("atan", "(atan(s) - s) / s^3, in z = s^2", lambda z: odd_rest(atan, z), lambda z: z, 0, 1, 9, 21),
    ("sinh", "(sinh(s) - s) / s^3, in z = s^2", lambda z: odd_rest(sinh, z), lambda z: z, 0, 1, 4, 8),
    ("tanh", "(tanh(s) - s) / s^3, in z = s^2", lambda z: odd_rest(tanh, z), lambda z: z, 0, 0.3026, 5, 11),
    ("atanh", "(atanh(s) - s - s^3/3) / s^5, in z = s^2", lambda z: (odd_rest(atanh, z) - ONE / 3) / z,
     lambda z: z * z, 0, 0.0295, 3, 8),
    ("erf", "erf(s) / s - 1, in z = s^2", lambda z: erf(sqrt(z)) / sqrt(z) - 1, one, 0, 1, 7, 14),
    ("log_erfc_f32", "log(erfc(1 + u))", lambda u: log(erfc(1 + u)), lambda u: erfc(1 + u), 0, 3, 8, 0),
    ("log_erfc_f64", "the same", lambda u: log(erfc(1 + u)), lambda u: erfc(1 + u), 0, 5, 0, 20),
    ("gamma", "gamma(1.5 + u)", lambda u: gamma(1.5 + u), one, -0.5, 0.5, 0, 23),
    ("stirling", "gamma(x) / (x^(x - 1/2) * e^-x), in w = 1/x", lambda w: sqrt(2 * pi) * exp(stirling(w)), one, 0.001,
     ONE / 3, 0, 15),
    ("lgamma", "lgamma(2 + u) / (u * (u + 1))", lambda u: loggamma(u + 2) / (u * (u + 1)), one, -1, 1, 0, 28),
    ("log_stirling", "log of stirling, less log(2*pi)/2, over w, in w^2", lambda z: stirling(sqrt(z)) / sqrt(z), sqrt,
     0.00001, ONE / 9, 0, 12),
    ("sin_pi", "(sin(pi*r)/pi - r) / r^3, in z = r^2", lambda z: (sin(pi * sqrt(z)) / (pi * sqrt(z)) - 1) / z,
     lambda z: z, 0, 0.25, 0, 8),
]


def literal(value):
    """A hexadecimal constant of C that is exactly this number."""
    text = float(value).hex()
    assert mpf(float(value)) == value
    head, exponent = text.split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return head + "p" + exponent


def rows(values):
    lines, line = [], "   "
    for value in values:
        text = " " + literal(value) + ","
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


def split(value, bits, rounding=nint):
    """A number as a sum of numbers with so many bits each."""
    parts = []
    for count in bits:
        exponent = int(floor(log(fabs(value), 2))) + 1 - count
        part = ldexp(rounding(ldexp(value, -exponent)), exponent)
        parts.append(part)
        value -= part
    return parts


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "kernel", "math")
    source = ["/* Polynomials for the functions, made by scripts/math/coefficients.py. */",
              '#include "kernel/math/coefficients.h"', ""]
    header = ["/* Polynomials and digits for the functions, made by scripts/math/coefficients.py. */",
              "#ifndef WEFT_KERNEL_MATH_COEFFICIENTS_H", "#define WEFT_KERNEL_MATH_COEFFICIENTS_H", "",
              '#include "kernel/math/terms.h"', ""]
    for name, text, function, weight, low, high, short, long in POLYNOMIALS:
        header += [f"/* {text}, for arguments from {float(low):.4g} to {float(high):.4g}. */",
                   f"extern const weft__polynomial weft__polynomial_{name};"]
        names = []
        for suffix, count, bits in (("f32", short, 24), ("f64", long, 53)):
            if count == 0:
                names.append("NULL")
                continue
            found, error = fit(function, weight, range(count), low, high, bits)
            print(name, suffix, float(log(error, 2)))
            names.append(name if name.endswith(suffix) else f"{name}_{suffix}")
            source += [f"static const double {names[-1]}[] = {{", rows(found), "};"]
        source += [f"const weft__polynomial weft__polynomial_{name} = {{{names[0]}, {names[1]}, {short}, {long}}};", ""]
    header += [""] + parts() + ["", "/* The binary digits of 2/pi, and of that times log(2), 64 in each word. */",
                                "extern const uint64_t weft__two_over_pi[20], weft__two_log_2_over_pi[20];", "", "#endif"]
    source += digits("two_over_pi", lambda: 2 / pi) + [""]
    source += digits("two_log_2_over_pi", lambda: 2 * log(mpf(2)) / pi)
    open(os.path.join(folder, "coefficients.c"), "w").write("\n".join(source) + "\n")
    open(os.path.join(folder, "coefficients.h"), "w").write("\n".join(header) + "\n")


# name, number, bits of its parts in f32, in f64. The parts of quarters are rounded down.
PARTS = [
    ("LN2", lambda: log(mpf(2)), (24, 24), (53, 53)),
    ("LN2_SHORT", lambda: log(mpf(2)), (15, 24), (41, 53)),
    ("LOG2_E", lambda: 1 / log(mpf(2)), (24, 24), (53, 53)),
    ("LOG10_E", lambda: 1 / log(mpf(10)), (24, 24), (53, 53)),
    ("LOG10_2_SHORT", lambda: log(mpf(2)) / log(mpf(10)), (15, 24), (41, 53)),
    ("THIRD", lambda: ONE / 3, (24, 24), (53, 53)),
    ("PI", lambda: +pi, (24, 24), (53, 53)),
    ("HALF_PI", lambda: pi / 2, (24, 24), (53, 53)),
    ("QUARTER", lambda: pi / 2, (24, 24, 24), (53, 53, 53)),
    ("QUARTER_OF_2", lambda: pi / 2 / log(mpf(2)), (24, 24, 24), (53, 53, 53)),
]


def parts():
    lines = ["/* Numbers as sums of parts, for f32 and for f64. Those called SHORT have a first part that is exact",
             " * when multiplied by an exponent. QUARTER, which is pi/2, and QUARTER_OF_2, which is pi/2 over",
             " * log(2), have positive parts. */"]
    for name, value, narrow, wide in PARTS:
        rounding = floor if name.startswith("QUARTER") else nint
        for at, (short, long) in enumerate(zip(split(value(), narrow, rounding), split(value(), wide, rounding))):
            lines.append(f"#define WEFT__{name}_{at + 1} {literal(short)}, {literal(long)}")
    return lines


def digits(name, value):
    with mp.workprec(2000):
        bits = int(floor(ldexp(value(), 64 * 20)))
    words = [f"0x{(bits >> (64 * (19 - k))) & (2**64 - 1):016x}" for k in range(20)]
    lines = ["    " + ", ".join(words[k:k + 4]) + "," for k in range(0, 20, 4)]
    return [f"const uint64_t weft__{name}[20] = {{"] + lines + ["};"]


if __name__ == "__main__":
    sys.exit(main())
