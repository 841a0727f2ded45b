/* rsqrt, cbrt, hypot. */
#include "kernel/math/functions.h"

/* 1/sqrt(x), corrected by half of 1 - x*y^2; not where that is no number. */
int32_t weft__math_rsqrt(weft__terms *t, int32_t x, int32_t unused)
{
    (void)unused;
    const int32_t one = constant(t, 1), y = divide(t, one, square_root(t, x));
    const weft__pair product = weft__product_exact(t, x, y);
    const int32_t minus = negative(t, y);
    const int32_t error = fused(t, minus, product.low, fused(t, minus, product.high, one));
    const int32_t better = fused(t, multiply(t, y, constant(t, 0.5)), error, y);
    return choose(t, equal(t, error, error), better, y);
}

/* A third of the exponent, and a number close to the cube root's inverse: the bits as an integer
 * are close to a logarithm. */
static int32_t rough_inverse(weft__terms *t, int32_t x)
{
    const int32_t third = constant_bits(t, WEFT_U32, 0x55555556);
    if (!t->wide) {
        const int32_t bits = reinterpreted(t, WEFT_U32, x);
        const int32_t start = constant_bits(t, WEFT_U32, 0x54a21d2a);
        return reinterpreted(t, WEFT_F32, subtract(t, start, multiply_high(t, bits, third)));
    }
    const int32_t half = constant_bits(t, WEFT_U64, 32);
    const int32_t bits = reinterpreted(t, WEFT_U64, x);
    const int32_t top = converted(t, WEFT_U32, shift_right(t, bits, half));
    const int32_t start = constant_bits(t, WEFT_U32, 0x553ef0ff);
    const int32_t less_third = subtract(t, start, multiply_high(t, top, third));
    return reinterpreted(t, WEFT_F64, shift_left(t, converted(t, WEFT_U64, less_third), half));
}

/* y * (1 + e/3 + 2*e^2/9 + 14*e^3/81), where e = 1 - x*y^3. */
static int32_t better_inverse(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t square = multiply(t, y, y);
    const int32_t e = fused(t, negative(t, multiply(t, x, y)), square, constant(t, 1));
    int32_t series = fused(t, e, constant(t, 14.0 / 81), constant(t, 2.0 / 9));
    series = fused(t, e, series, constant(t, 1.0 / 3));
    return fused(t, multiply(t, y, e), series, y);
}

int32_t weft__math_cbrt(weft__terms *t, int32_t x, int32_t unused)
{
    (void)unused;
    const int32_t size = magnitude(t, x);
    const int32_t subnormal = less(t, size, constant_of(t, 0x1p-126, 0x1p-1022));
    const int32_t lifted = multiply(t, size, constant_of(t, 0x1p24, 0x1p54));
    const int32_t normal = choose(t, subnormal, lifted, size);
    int32_t y = rough_inverse(t, normal);
    y = better_inverse(t, normal, y);
    y = better_inverse(t, normal, y);
    const int32_t square = multiply(t, y, y), root = multiply(t, normal, square);
    const weft__pair twice = weft__product_exact(t, root, root);
    const int32_t minus = negative(t, root);
    int32_t rest = fused(t, minus, twice.high, normal);
    rest = fused(t, minus, twice.low, rest);
    const int32_t slope = multiply(t, square, constant(t, 1.0 / 3));
    const int32_t better = fused(t, rest, slope, root);
    const int32_t lowered = multiply(t, better, constant_of(t, 0x1p-8, 0x1p-18));
    const int32_t result = choose(t, subnormal, lowered, better);
    const int32_t plain = bits_or(t, equal(t, size, constant(t, 0)), equal(t, size, infinity(t)));
    return choose(t, plain, x, weft__with_sign(t, result, x));
}

weft__scaling weft__scaling_of(weft__terms *t, int32_t most)
{
    weft__scaling scaling = {less(t, constant_of(t, 0x1p60, 0x1p500), most),
                             less(t, most, constant_of(t, 0x1p-40, 0x1p-400)), 0};
    scaling.by = weft__scaled_choice(t, &scaling, constant_of(t, WEFT__SCALE_DOWN),
                                     constant_of(t, WEFT__SCALE_UP), constant(t, 1));
    return scaling;
}

int32_t weft__scaled_choice(weft__terms *t, const weft__scaling *scaling, int32_t down, int32_t up,
                            int32_t none)
{
    return choose(t, scaling->large, down, choose(t, scaling->small, up, none));
}

/* Scaled so that squares neither overflow nor lose bits; sqrt of a sum in two parts. */
int32_t weft__math_hypot(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t a = magnitude(t, x), b = magnitude(t, y);
    const int32_t most = larger(t, a, b), least = smaller(t, a, b);
    const weft__scaling scaling = weft__scaling_of(t, most);
    const int32_t back = weft__scaled_choice(t, &scaling, constant_of(t, WEFT__SCALE_UP),
                                             constant_of(t, WEFT__SCALE_DOWN), constant(t, 1));
    const int32_t p = multiply(t, most, scaling.by), q = multiply(t, least, scaling.by);
    const weft__pair square = weft__product_exact(t, p, p), other = weft__product_exact(t, q, q);
    weft__pair sum = weft__sum_ordered(t, square.high, other.high);
    sum.low = add(t, sum.low, add(t, square.low, other.low));
    const weft__pair root = weft__root(t, sum);
    const int32_t result = multiply(t, add(t, root.high, root.low), back);
    const int32_t infinite = infinity(t);
    const int32_t far = bits_or(t, equal(t, a, infinite), equal(t, b, infinite));
    return choose(t, far, infinite, result);
}
