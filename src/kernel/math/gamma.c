/* erf, tgamma, lgamma. The gamma functions of f32 are computed in f64. */
#include "kernel/math/functions.h"

/* x + x*p(x^2) near 0, else 1 - e^q(|x|). */
int32_t weft__math_erf(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t one = constant(t, 1), size = magnitude(t, x);
    const int32_t inside = smaller(t, size, constant_of(t, 4, 6));
    const int32_t u = subtract(t, inside, one);
    const weft__polynomial *tail =
        t->wide ? &weft__polynomial_log_erfc_f64 : &weft__polynomial_log_erfc_f32;
    const int32_t rest = weft__math_exp(t, weft__polynomial_of(t, tail, u), u);
    const int32_t z = multiply(t, x, x);
    const int32_t small = fused(t, size, weft__polynomial_of(t, &weft__polynomial_erf, z), size);
    const int32_t is_small = less(t, size, one);
    return weft__with_sign(t, choose(t, is_small, small, subtract(t, one, rest)), x);
}

/* |sin(pi*size)| / pi is sin(pi*|r|) / pi, where size = whole + r. */
typedef struct reflection {
    int32_t whole, r, sine;
} reflection;

static reflection reflection_of(weft__terms *t, int32_t size)
{
    const int32_t whole = rounded(t, size), r = magnitude(t, subtract(t, size, whole));
    return (reflection){whole, r, weft__odd_polynomial(t, &weft__polynomial_sin_pi, r)};
}

/* (size - 1/2) * (log(size) - 1) - 1/2, for size >= 3 */
static weft__pair growth(weft__terms *t, int32_t size, weft__pair logarithm)
{
    const int32_t factor = subtract(t, size, constant(t, 0.5));
    weft__pair rate = weft__sum_exact(t, logarithm.high, constant(t, -1));
    rate.low = add(t, rate.low, logarithm.low);
    weft__pair product = weft__product_exact(t, factor, rate.high);
    product.low = fused(t, factor, rate.low, product.low);
    const weft__pair sum = weft__sum_exact(t, product.high, constant(t, -0.5));
    return weft__sum_ordered(t, sum.high, add(t, sum.low, product.low));
}

/* gamma(size) = value / divisor * powers.high * powers.low */
typedef struct factors {
    int32_t value, divisor;
    weft__pair powers;
} factors;

/* Below 3 a polynomial for gamma from 1 to 2, and up to one more factor; else Stirling's series. */
static factors factors_of(weft__terms *t, int32_t size)
{
    const int32_t one = constant(t, 1), three = constant(t, 3);
    const int32_t small = less(t, size, three);
    const int32_t large = smaller(t, larger(t, size, three), constant(t, 190));
    const int32_t below = smaller(t, size, constant(t, 0x1.7ffffffffffffp+1));
    const int32_t fraction = subtract(t, below, rounded_down(t, below));
    const int32_t u = subtract(t, fraction, constant(t, 0.5));
    const int32_t middle = weft__polynomial_of(t, &weft__polynomial_gamma, u);
    const int32_t from_two = less_equal(t, constant(t, 2), size);
    const int32_t factor = choose(t, from_two, subtract(t, size, one), one);
    const int32_t inverse = divide(t, one, large);
    const int32_t series = weft__polynomial_of(t, &weft__polynomial_stirling, inverse);
    factors of;
    const weft__pair power =
        weft__exp_split(t, growth(t, large, weft__log_precise(t, large)), &of.powers);
    const int32_t high = fused(t, series, power.high, multiply(t, series, power.low));
    of.value = choose(t, small, multiply(t, middle, factor), high);
    of.divisor = choose(t, less(t, size, one), size, one);
    of.powers.high = choose(t, small, one, of.powers.high);
    of.powers.low = choose(t, small, one, of.powers.low);
    return of;
}

/* gamma(-a) is -pi / (a * sin(pi*a) * gamma(a)). */
static int32_t gamma_of_negative(weft__terms *t, int32_t size, const factors *of)
{
    const reflection at = reflection_of(t, size);
    const int32_t one = constant(t, 1), half = multiply(t, at.whole, constant(t, 0.5));
    const int32_t factor = choose(t, less(t, size, one), one, size);
    const weft__pair product = weft__product_exact(t, of->value, factor);
    const weft__pair sine = {at.sine, constant(t, 0)}, whole = {one, constant(t, 0)};
    int32_t result = weft__quotient(t, whole, weft__product(t, product, sine)).high;
    result = divide(t, divide(t, result, of->powers.high), of->powers.low);
    const int32_t up = less(t, size, at.whole);
    const int32_t even = equal(t, truncated(t, half), half);
    const int32_t signed_result = choose(t, equal(t, up, even), result, negative(t, result));
    return choose(t, equal(t, at.r, constant(t, 0)), not_a_number(t), signed_result);
}

static int32_t gamma_wide(weft__terms *t, int32_t x)
{
    const int32_t size = magnitude(t, x), zero = constant(t, 0);
    const factors of = factors_of(t, size);
    const int32_t quotient = divide(t, of.value, of.divisor);
    const int32_t above = multiply(t, multiply(t, quotient, of.powers.high), of.powers.low);
    const int32_t below = gamma_of_negative(t, size, &of);
    const int32_t result = choose(t, less(t, x, zero), below, above);
    const int32_t tiny = less(t, size, constant(t, 0x1p-60));
    return choose(t, tiny, divide(t, constant(t, 1), x), result);
}

int32_t weft__math_tgamma(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    if (t->wide)
        return gamma_wide(t, x);
    weft__terms wide = widened(t);
    return converted(t, WEFT_F32, gamma_wide(&wide, converted(t, WEFT_F64, x)));
}

/* lgamma(1 + size) for size < 1, of other size lgamma(size); and the logarithm that the first is
 * off by. */
static weft__pair lgamma_parts(weft__terms *t, int32_t size)
{
    const int32_t one = constant(t, 1), three = constant(t, 3), zero = constant(t, -0.0);
    const int32_t small = less(t, size, one), middle = less(t, size, three);
    const weft__pair logarithm = weft__log_precise(t, size);
    const int32_t first = choose(t, small, size, subtract(t, size, one));
    const int32_t u = smaller(t, subtract(t, first, one), one);
    const int32_t low = weft__polynomial_of(t, &weft__polynomial_lgamma, u);
    const int32_t near = multiply(t, multiply(t, first, u), low);
    const weft__pair grown = growth(t, size, logarithm);
    const int32_t inverse = divide(t, one, larger(t, size, three));
    const int32_t z = multiply(t, inverse, inverse);
    const int32_t series = weft__polynomial_of(t, &weft__polynomial_log_stirling, z);
    const int32_t constant_part = constant(t, 0x1.d67f1c864beb5p-1); /* log(2*pi) / 2 */
    const int32_t rest = fused(t, inverse, series, add(t, grown.low, constant_part));
    const int32_t far = add(t, grown.high, rest);
    return (weft__pair){choose(t, middle, near, far), choose(t, small, logarithm.high, zero)};
}

/* lgamma(-a) is -log(|sin(pi*a)| / pi) - lgamma(1 + a). */
static int32_t lgamma_of_negative(weft__terms *t, int32_t size, int32_t part)
{
    const reflection at = reflection_of(t, size);
    const int32_t one = constant(t, 1), factor = choose(t, less(t, size, one), one, size);
    const int32_t product = multiply(t, at.sine, factor);
    return negative(t, add(t, weft__math_log(t, product, product), part));
}

static int32_t lgamma_wide(weft__terms *t, int32_t x)
{
    const int32_t size = magnitude(t, x), zero = constant(t, 0), infinite = infinity(t);
    const weft__pair parts = lgamma_parts(t, size);
    const int32_t above = subtract(t, parts.high, parts.low);
    const int32_t below = lgamma_of_negative(t, size, parts.high);
    const int32_t result = choose(t, less(t, x, zero), below, above);
    const int32_t huge = less(t, constant(t, 0x1.754d9278b51a6p+1014), size);
    const int32_t edge = bits_or(t, equal(t, size, zero), huge);
    return choose(t, edge, infinite, choose(t, equal(t, x, x), result, x));
}

int32_t weft__math_lgamma(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    if (t->wide)
        return lgamma_wide(t, x);
    weft__terms wide = widened(t);
    return converted(t, WEFT_F32, lgamma_wide(&wide, converted(t, WEFT_F64, x)));
}
