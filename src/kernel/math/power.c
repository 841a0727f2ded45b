/* pow: e^(y*log(x)), with the logarithm and the product in two parts. */
#include "kernel/math/functions.h"

static int32_t is_integer(weft__terms *t, int32_t x) { return equal(t, truncated(t, x), x); }

/* |x|^y for x of 0 or infinity and y other than 0: 0 or infinity. */
static int32_t power_of_edge(weft__terms *t, int32_t size, int32_t y)
{
    const int32_t zero = constant(t, 0);
    const int32_t up = equal(t, equal(t, size, zero), less(t, y, zero));
    return choose(t, up, infinity(t), zero);
}

/* |x|^y, if neither is NaN. */
static int32_t power_of_size(weft__terms *t, int32_t size, int32_t y)
{
    const weft__pair logarithm = weft__log_precise(t, size);
    weft__pair exponent = weft__product_exact(t, y, logarithm.high);
    exponent.low = fused(t, y, logarithm.low, exponent.low);
    const int32_t result = weft__exp_pair(t, exponent);
    const int32_t one = constant(t, 1), zero = constant(t, 0);
    const int32_t edge = bits_or(t, equal(t, size, zero), equal(t, size, infinity(t)));
    const int32_t inner = choose(t, equal(t, size, one), one, result);
    return choose(t, edge, power_of_edge(t, size, y), inner);
}

int32_t weft__math_pow(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t one = constant(t, 1), zero = constant(t, 0), size = magnitude(t, x);
    const int32_t result = power_of_size(t, size, y);
    const int32_t whole = is_integer(t, y);
    const int32_t even = is_integer(t, multiply(t, y, constant(t, 0.5)));
    const int32_t odd = bits_and(t, whole, inverted(t, even));
    const int32_t with_sign = choose(t, odd, weft__with_sign(t, result, x), result);
    const int32_t below = bits_and(t, less(t, x, zero), less(t, size, infinity(t)));
    const int32_t unordered = bits_or(t, unequal(t, x, x), unequal(t, y, y));
    const int32_t wrong = bits_or(t, unordered, bits_and(t, below, inverted(t, whole)));
    const int32_t sure = bits_or(t, equal(t, x, one), equal(t, y, zero));
    return choose(t, sure, one, choose(t, wrong, not_a_number(t), with_sign));
}
