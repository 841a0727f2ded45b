/* log, log2, log10, log1p. x is split into 2^e * (1 + r), with 1 + r between sqrt(1/2) and sqrt(2).
 */
#include "kernel/math/functions.h"

/* e as a float and as an integer, and x / 2^e, for positive finite x. */
typedef struct split {
    int32_t exponent, integer, mantissa;
} split;

static split split_of(weft__terms *t, int32_t x)
{
    const int32_t shift = constant_bits(t, t->number, (uint64_t)mantissa_bits(t));
    const int32_t root =
        constant_bits(t, t->number, t->wide ? UINT64_C(0x3fe6a09e667f3bcd) : 0x3f3504f3);
    const uint64_t mask = t->wide ? UINT64_C(0xfffffffffffff) : 0x7fffff;
    const int32_t subnormal = less(t, x, constant_of(t, 0x1p-126, 0x1p-1022));
    const int32_t lifted = multiply(t, x, constant_of(t, 0x1p32, 0x1p64));
    const int32_t normal = choose(t, subnormal, lifted, x);
    const int32_t bits = subtract(t, reinterpreted(t, t->number, normal), root);
    const int32_t fraction = bits_and(t, bits, constant_bits(t, t->number, mask));
    const int32_t integer = shift_right(t, bits, shift);
    const int32_t lift = choose(t, subnormal, constant_of(t, -32, -64), constant(t, 0));
    const int32_t e = add(t, converted(t, t->value, integer), lift);
    return (split){e, integer, reinterpreted(t, t->value, add(t, fraction, root))};
}

/* log(1 + r + more) - e*log(2), the larger part first. `more` may be -1: none. */
static weft__pair log_near_one(weft__terms *t, int32_t mantissa, int32_t more)
{
    const int32_t half = constant(t, -0.5);
    const int32_t r = subtract(t, mantissa, constant(t, 1)), z = multiply(t, r, r);
    const int32_t high = fused(t, half, z, r);
    int32_t low = fused(t, half, z, subtract(t, r, high));
    if (more >= 0)
        low = add(t, low, more);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_log, r);
    return (weft__pair){high, fused(t, multiply(t, r, z), rest, low)};
}

/* e*first + e*second + x, where e*first is exact and 0 or at least as large as x. */
static int32_t with_exponent(weft__terms *t, int32_t e, int32_t first, int32_t second, weft__pair x)
{
    const weft__pair sum = weft__sum_ordered(t, multiply(t, e, first), x.high);
    return add(t, sum.high, add(t, sum.low, fused(t, e, second, x.low)));
}

/* The logarithms of what is not positive and finite. */
static int32_t finished(weft__terms *t, int32_t x, int32_t result)
{
    const int32_t zero = constant(t, 0);
    const int32_t outside = choose(t, equal(t, x, zero), negative(t, infinity(t)), not_a_number(t));
    const int32_t above = choose(t, less(t, x, infinity(t)), result, x);
    return choose(t, less_equal(t, x, zero), outside, above);
}

int32_t weft__math_log(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const split of = split_of(t, x);
    const int32_t result =
        with_exponent(t, of.exponent, constant_of(t, WEFT__LN2_SHORT_1),
                      constant_of(t, WEFT__LN2_SHORT_2), log_near_one(t, of.mantissa, -1));
    return finished(t, x, result);
}

/* x times a constant in two parts. */
static weft__pair pair_scaled(weft__terms *t, weft__pair x, int32_t first, int32_t second)
{
    const weft__pair product = weft__product_exact(t, x.high, first);
    const int32_t more = fused(t, x.low, first, fused(t, x.high, second, product.low));
    return (weft__pair){product.high, more};
}

int32_t weft__math_log2(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const split of = split_of(t, x);
    const weft__pair part =
        pair_scaled(t, log_near_one(t, of.mantissa, -1), constant_of(t, WEFT__LOG2_E_1),
                    constant_of(t, WEFT__LOG2_E_2));
    const weft__pair sum = weft__sum_ordered(t, of.exponent, part.high);
    return finished(t, x, add(t, sum.high, add(t, sum.low, part.low)));
}

int32_t weft__math_log10(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const split of = split_of(t, x);
    const weft__pair part =
        pair_scaled(t, log_near_one(t, of.mantissa, -1), constant_of(t, WEFT__LOG10_E_1),
                    constant_of(t, WEFT__LOG10_E_2));
    const int32_t result = with_exponent(t, of.exponent, constant_of(t, WEFT__LOG10_2_SHORT_1),
                                         constant_of(t, WEFT__LOG10_2_SHORT_2), part);
    return finished(t, x, result);
}

/* What `low` adds to log(2^e * m): low / 2^e / m, where 1/m is 1 - r + r^2 - r^3 and a little more.
 */
static int32_t correction(weft__terms *t, const split *of, int32_t low)
{
    const int32_t shift = constant_bits(t, t->number, (uint64_t)mantissa_bits(t));
    const int32_t most = constant_bits(t, t->number, t->wide ? 1022 : 126);
    const int32_t e = smaller(t, of->integer, most);
    const int32_t one = constant_bits(t, t->number, t->wide ? UINT64_C(1023) << 52 : 127 << 23);
    const int32_t bits = subtract(t, one, shift_left(t, e, shift));
    const int32_t r = subtract(t, of->mantissa, constant(t, 1)), z = multiply(t, r, r);
    const int32_t line = subtract(t, constant(t, 1), r);
    const int32_t inverse = fused(t, z, line, line);
    return multiply(t, multiply(t, low, reinterpreted(t, t->value, bits)), inverse);
}

int32_t weft__log_pair(weft__terms *t, weft__pair x, int32_t doubled)
{
    split of = split_of(t, x.high);
    const int32_t more = correction(t, &of, x.low);
    if (doubled >= 0)
        of.exponent = add(t, of.exponent, doubled);
    const int32_t result =
        with_exponent(t, of.exponent, constant_of(t, WEFT__LN2_SHORT_1),
                      constant_of(t, WEFT__LN2_SHORT_2), log_near_one(t, of.mantissa, more));
    return finished(t, x.high, result);
}

/* 1 + x is exact in two parts; of the smaller part, the first derivative is enough, unless it is
 * all that there is. */
int32_t weft__math_log1p(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const weft__pair sum = weft__sum_exact(t, constant(t, 1), x);
    const int32_t result = weft__log_pair(t, sum, -1);
    const int32_t tiny = less(t, magnitude(t, x), constant_of(t, 0x1p-18, 0x1p-40));
    const int32_t curve = fused(t, multiply(t, x, constant(t, -0.5)), x, x);
    return choose(t, tiny, curve, result);
}

/* The larger of the two plus log(1 + e^-d), where d is their difference. */
int32_t weft__math_logaddexp(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t most = larger(t, x, y), least = smaller(t, x, y);
    const int32_t same = equal(t, x, y); /* infinities too */
    const int32_t gap = choose(t, same, constant(t, 0), subtract(t, least, most));
    const weft__pair power = weft__exp_negative(t, gap);
    weft__pair sum = weft__sum_ordered(t, constant(t, 1), power.high);
    sum.low = add(t, sum.low, power.low);
    const int32_t far = less(t, gap, constant_of(t, -80, -700));
    return choose(t, far, most, add(t, most, weft__log_pair(t, sum, -1)));
}

/* log(x) for the power function: x = 2^e * m, s = (m - 1) / (m + 1), and log(m) is
 * 2*s * (1 + s^2/3 + s^4*p(s^2)). All but the last term has two parts. */
weft__pair weft__log_precise(weft__terms *t, int32_t x)
{
    const int32_t one = constant(t, 1);
    const split of = split_of(t, x);
    const weft__pair over = {subtract(t, of.mantissa, one), constant(t, 0)};
    const weft__pair s = weft__quotient(t, over, weft__sum_ordered(t, one, of.mantissa));
    const weft__pair z = weft__product(t, s, s);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_atanh, z.high);
    const weft__pair third = {constant_of(t, WEFT__THIRD_1), constant_of(t, WEFT__THIRD_2)};
    weft__pair series = weft__product(t, z, third);
    series.low = fused(t, multiply(t, z.high, z.high), rest, series.low);
    const weft__pair curve = weft__product(t, s, series);
    weft__pair half = weft__sum_ordered(t, s.high, curve.high);
    half.low = add(t, half.low, add(t, s.low, curve.low));
    const int32_t e = of.exponent, two = constant(t, 2);
    const int32_t first = multiply(t, e, constant_of(t, WEFT__LN2_SHORT_1));
    const weft__pair sum = weft__sum_ordered(t, first, multiply(t, half.high, two));
    const int32_t second = fused(t, e, constant_of(t, WEFT__LN2_SHORT_2), sum.low);
    return weft__sum_ordered(t, sum.high, fused(t, half.low, two, second));
}
