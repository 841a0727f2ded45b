"""Polynomials close to the best ones, whose coefficients are numbers of few bits: weighted least squares on
Chebyshev points, each coefficient rounded in turn while those still to come make up for what was lost."""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, floor, log, fabs, ldexp

mp.prec = 300


def rounded(value, bits):
    """The nearest number with so many significant bits."""
    if value == 0:
        return mpf(0)
    exponent = int(floor(log(fabs(value), 2))) + 1 - bits
    return ldexp(mp.nint(ldexp(value, -exponent)), exponent)


def solve(rows, values, first):
    """Least squares for the columns from `first` on."""
    count = len(rows[0]) - first
    system, right = matrix(count, count), matrix(count, 1)
    for i in range(count):
        right[i] = mp.fdot((row[first + i], value) for row, value in zip(rows, values))
        for j in range(i, count):
            system[i, j] = system[j, i] = mp.fdot((row[first + i], row[first + j]) for row in rows)
    return lu_solve(system, right)


def fit(function, weight, powers, low, high, bits):
    """Coefficients of `bits` bits each (a number, or a list with one for each power) for the powers, lowest
    first, and the largest weight * |function - polynomial|."""
    powers = list(powers)
    count = len(powers)
    points = 6 * count + 12
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * points)) for k in range(points)]
    weights = [weight(x) for x in nodes]
    rows = [[w * x ** p for p in powers] for x, w in zip(nodes, weights)]
    values = [w * function(x) for x, w in zip(nodes, weights)]
    bits = bits if isinstance(bits, list) else [bits] * count
    result = []
    for k in range(count):
        value = rounded(solve(rows, values, k)[0], bits[k])
        result.append(value)
        values = [v - value * row[k] for v, row in zip(values, rows)]
    return result, max(fabs(v) for v in values)
