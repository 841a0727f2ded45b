/* asin, acos, atan, atan2. */
#include "kernel/math/functions.h"

/* asin(x) for |x| <= 1/2 is a polynomial; for larger |x| it is pi/2 - 2*asin(sqrt((1 - |x|) / 2)).
 */
typedef struct arc {
    weft__pair part; /* asin of |x|, or of the root */
    int32_t big;     /* which of them */
} arc;

static arc arc_of(weft__terms *t, int32_t size)
{
    const int32_t half = constant(t, 0.5), big = less(t, half, size);
    const int32_t other = fused(t, constant(t, -0.5), size, half);
    const int32_t s = choose(t, big, square_root(t, other), size);
    const int32_t z = choose(t, big, other, multiply(t, size, size));
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_asin, z);
    return (arc){{s, multiply(t, multiply(t, s, z), rest)}, big};
}

int32_t weft__math_asin(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const arc of = arc_of(t, magnitude(t, x));
    const int32_t high = constant_of(t, WEFT__HALF_PI_1), low = constant_of(t, WEFT__HALF_PI_2);
    const int32_t minus = constant(t, -2), other = fused(t, minus, of.part.high, high);
    const int32_t lost = fused(t, minus, of.part.high, subtract(t, high, other));
    const int32_t more = add(t, fused(t, minus, of.part.low, low), lost);
    const int32_t first = choose(t, of.big, other, of.part.high);
    const int32_t second = choose(t, of.big, more, of.part.low);
    return weft__with_sign(t, add(t, first, second), x);
}

/* pi/2 - asin(x), which is 2*part or pi - 2*part for large |x|. */
int32_t weft__math_acos(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const arc of = arc_of(t, magnitude(t, x));
    const int32_t part = add(t, of.part.high, of.part.low), twice = add(t, part, part);
    const int32_t below = less(t, x, constant(t, 0));
    const int32_t half = constant_of(t, WEFT__HALF_PI_1), more = constant_of(t, WEFT__HALF_PI_2);
    const int32_t whole = constant_of(t, WEFT__PI_1), rest = constant_of(t, WEFT__PI_2);
    const int32_t with_sign = choose(t, below, negative(t, part), part);
    const int32_t middle = add(t, half, subtract(t, more, with_sign));
    const int32_t left = add(t, whole, subtract(t, rest, twice));
    return choose(t, of.big, choose(t, below, left, twice), middle);
}

/* atan(over / under) for 0 <= over <= under, or pi/2 less that if they were exchanged. */
static int32_t angle(weft__terms *t, int32_t quotient, int32_t exchanged)
{
    const int32_t part = weft__odd_polynomial(t, &weft__polynomial_atan, quotient);
    const int32_t high = constant_of(t, WEFT__HALF_PI_1), low = constant_of(t, WEFT__HALF_PI_2);
    const int32_t other = add(t, high, subtract(t, low, part));
    return choose(t, exchanged, other, part);
}

int32_t weft__math_atan(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t one = constant(t, 1), size = magnitude(t, x), large = less(t, one, size);
    const int32_t quotient = choose(t, large, divide(t, one, size), size);
    return weft__with_sign(t, angle(t, quotient, large), x);
}

/* x is the ordinate, y the abscissa. 0/0 is 0 here, and two infinities are equal. */
int32_t weft__math_atan2(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t one = constant(t, 1), zero = constant(t, 0);
    const int32_t rise = magnitude(t, x), run = magnitude(t, y);
    const int32_t steep = less(t, run, rise);
    const int32_t over = smaller(t, rise, run), under = larger(t, rise, run);
    const int32_t finite = choose(t, equal(t, over, under), one, divide(t, over, under));
    const int32_t quotient = choose(t, equal(t, under, zero), zero, finite);
    const int32_t right = angle(t, quotient, steep);
    const int32_t high = constant_of(t, WEFT__PI_1), low = constant_of(t, WEFT__PI_2);
    const int32_t left = add(t, high, subtract(t, low, right));
    const int32_t bits = reinterpreted(t, t->number, y);
    const int32_t backward = less(t, bits, constant_bits(t, t->number, 0));
    return weft__with_sign(t, choose(t, backward, left, right), x);
}
