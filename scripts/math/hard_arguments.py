"""Prints the f64 or f32 numbers closest to multiples of pi/2, for tests of sin, cos and tan: run it as
`python3 scripts/math/hard_arguments.py [24]`. They are denominators of convergents of 2^e * 2/pi."""
import sys

from mpmath import mp, mpf, pi, floor, nint, log, ldexp

mp.prec = 3000


def convergent_denominators(value, limit):
    before, last = 1, 0
    while True:
        whole = int(floor(value))
        before, last = last, whole * last + before
        if last >= limit:
            return
        if last > 0:
            yield last
        value = 1 / (value - whole)


def closest(bits, exponents):
    found = []
    for e in exponents:
        turns = mpf(2)**e * 2 / pi
        for m in convergent_denominators(turns, 2**bits):
            if m >= 2**(bits - 12):
                found.append((abs(m * turns - nint(m * turns)), m, e))
    return sorted(found)


if __name__ == "__main__":
    narrow = sys.argv[1:] == ["24"]
    for distance, m, e in closest(*((24, range(-10, 105)) if narrow else (53, range(-30, 972))))[:20]:
        print(f"{float(ldexp(mpf(m), e)).hex()} is 2^{float(log(distance, 2)):.2f} quadrants away")
