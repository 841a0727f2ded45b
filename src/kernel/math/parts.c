/* What many expansions are made of: polynomials, sums and products in two parts. */
#include "kernel/math/terms.h"

int32_t weft__polynomial_of(weft__terms *t, const weft__polynomial *p, int32_t x)
{
    const double *coefficients = t->wide ? p->f64 : p->f32;
    int k = t->wide ? p->f64_count : p->f32_count;
    int32_t result = constant(t, coefficients[--k]);
    while (k-- > 0)
        result = fused(t, result, x, constant(t, coefficients[k]));
    return result;
}

weft__pair weft__sum_ordered(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t high = add(t, x, y);
    return (weft__pair){high, add(t, subtract(t, x, high), y)};
}

weft__pair weft__sum_exact(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t high = add(t, x, y), part = subtract(t, high, x);
    const int32_t rest = subtract(t, x, subtract(t, high, part));
    return (weft__pair){high, add(t, rest, subtract(t, y, part))};
}

weft__pair weft__product_exact(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t high = multiply(t, x, y);
    return (weft__pair){high, fused(t, x, y, negative(t, high))};
}

/* The first quotient is off by what its rounding and the lower parts make: the rest of the
 * division. */
weft__pair weft__quotient(weft__terms *t, weft__pair x, weft__pair y)
{
    const int32_t inverse = divide(t, constant(t, 1), y.high);
    const int32_t rough = multiply(t, x.high, inverse), minus = negative(t, rough);
    int32_t rest = fused(t, minus, y.high, x.high);
    rest = add(t, rest, x.low);
    rest = fused(t, minus, y.low, rest);
    return weft__sum_ordered(t, rough, multiply(t, rest, inverse));
}

weft__pair weft__product(weft__terms *t, weft__pair x, weft__pair y)
{
    const weft__pair exact = weft__product_exact(t, x.high, y.high);
    const int32_t low = fused(t, x.high, y.low, fused(t, x.low, y.high, exact.low));
    return weft__sum_ordered(t, exact.high, low);
}

weft__pair weft__root(weft__terms *t, weft__pair x)
{
    const int32_t root = square_root(t, x.high), minus = negative(t, root);
    const int32_t rest = add(t, fused(t, minus, root, x.high), x.low);
    const int32_t least = constant_of(t, 0x1p-60, 0x1p-500); /* the root of 0 is 0 */
    const int32_t inverse = divide(t, constant(t, 0.5), larger(t, root, least));
    return (weft__pair){root, multiply(t, rest, inverse)};
}

int32_t weft__odd_polynomial(weft__terms *t, const weft__polynomial *p, int32_t x)
{
    const int32_t z = multiply(t, x, x);
    return fused(t, multiply(t, x, z), weft__polynomial_of(t, p, z), x);
}

int32_t weft__with_sign(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t sign = bits_and(t, reinterpreted(t, t->word, y), sign_mask(t));
    return reinterpreted(t, t->value, bits_or(t, reinterpreted(t, t->word, x), sign));
}
