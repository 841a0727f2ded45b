/* Complex exp, exp2, expm1, log, log2, log10, log1p, pow. */
#include "kernel/math/functions.h"

weft__large weft__exp_large(weft__terms *t, int32_t x, bool by_log_2)
{
    const int32_t most = by_log_2 ? constant_of(t, 290, 2110) : constant_of(t, 200, 1460);
    const int32_t inside = smaller(t, larger(t, x, negative(t, most)), most);
    weft__pair exponent = {inside, constant(t, 0)};
    if (by_log_2) {
        exponent = weft__product_exact(t, inside, constant_of(t, WEFT__LN2_1));
        exponent.low = fused(t, inside, constant_of(t, WEFT__LN2_2), exponent.low);
    }
    weft__large result;
    result.value = weft__exp_thirds(t, exponent, result.power);
    return result;
}

int32_t weft__times_large(weft__terms *t, int32_t x, const weft__large *by)
{
    const int32_t first = multiply(t, multiply(t, x, by->power[0]), by->value);
    return multiply(t, multiply(t, first, by->power[0]), by->power[1]);
}

/* Where the angle is no number: 0 for -infinity, infinite for infinity; and imaginary parts of 0.
 */
static weft__complex finished(weft__terms *t, weft__complex x, weft__complex result)
{
    const int32_t zero = constant(t, 0), nothing = not_a_number(t), infinite = infinity(t);
    const int32_t turns = less(t, magnitude(t, x.imaginary), infinite);
    const int32_t gone = equal(t, x.real, negative(t, infinite));
    const int32_t far = choose(t, equal(t, x.real, infinite), infinite, nothing);
    const int32_t real = choose(t, gone, zero, far), imaginary = choose(t, gone, zero, nothing);
    const int32_t turned = choose(t, turns, result.imaginary, imaginary);
    return (weft__complex){choose(t, turns, result.real, real),
                           choose(t, is_zero(t, x.imaginary), x.imaginary, turned)};
}

static weft__complex power_complex(weft__terms *t, weft__complex x, bool by_log_2)
{
    const weft__circular at = weft__sin_cos(t, x.imaginary, by_log_2);
    const weft__large power = weft__exp_large(t, x.real, by_log_2);
    const weft__complex result = {weft__times_large(t, at.cosine, &power),
                                  weft__times_large(t, at.sine, &power)};
    return finished(t, x, result);
}

weft__complex weft__complex_exp(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return power_complex(t, x, false);
}

weft__complex weft__complex_exp2(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return power_complex(t, x, true);
}

/* (e^a - 1)*cos(b) - (1 - cos(b)) is the real part; where e^a is very large or small, e^a*cos(b)
 * - 1.
 */
weft__complex weft__complex_expm1(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__circular at = weft__sin_cos(t, x.imaginary, false);
    const weft__large power = weft__exp_large(t, x.real, false);
    const weft__complex raised = {weft__times_large(t, at.cosine, &power),
                                  weft__times_large(t, at.sine, &power)};
    const weft__complex whole = finished(t, x, raised);
    const int32_t rise = weft__math_expm1(t, x.real, x.real);
    const int32_t near = fused(t, rise, at.cosine, negative(t, at.lacks));
    const int32_t far = less(t, constant_of(t, 20, 40), magnitude(t, x.real));
    return (weft__complex){choose(t, far, subtract(t, whole.real, constant(t, 1)), near),
                           whole.imaginary};
}

/* log of the modulus of x + i*y, half the logarithm of its square, which is kept in two parts. */
static int32_t log_modulus(weft__terms *t, weft__pair x, int32_t y)
{
    const int32_t x_size = magnitude(t, x.high), y_size = magnitude(t, y);
    const weft__scaling scaling = weft__scaling_of(t, larger(t, x_size, y_size));
    const int32_t doubled = weft__scaled_choice(t, &scaling, constant_of(t, 200, 1200),
                                                constant_of(t, -200, -1200), constant(t, 0));
    const int32_t p = multiply(t, x.high, scaling.by), q = multiply(t, y, scaling.by);
    const weft__pair first = weft__product_exact(t, p, p), second = weft__product_exact(t, q, q);
    const weft__pair sum = weft__sum_exact(t, first.high, second.high);
    const int32_t more = multiply(t, add(t, p, p), multiply(t, x.low, scaling.by));
    const int32_t low = add(t, sum.low, add(t, first.low, add(t, second.low, more)));
    const weft__pair square = weft__sum_ordered(t, sum.high, low);
    const int32_t half = multiply(t, weft__log_pair(t, square, doubled), constant(t, 0.5));
    const int32_t far = bits_or(t, is_infinite(t, x_size), is_infinite(t, y_size));
    return choose(t, far, infinity(t), half);
}

weft__complex weft__complex_log(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__pair real = {x.real, constant(t, 0)};
    return (weft__complex){log_modulus(t, real, x.imaginary),
                           weft__math_atan2(t, x.imaginary, x.real)};
}

static weft__complex log_scaled(weft__terms *t, weft__complex x, int32_t factor)
{
    const weft__complex natural = weft__complex_log(t, x, x);
    return (weft__complex){multiply(t, natural.real, factor),
                           multiply(t, natural.imaginary, factor)};
}

weft__complex weft__complex_log2(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return log_scaled(t, x, constant_of(t, WEFT__LOG2_E_1));
}

weft__complex weft__complex_log10(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return log_scaled(t, x, constant_of(t, WEFT__LOG10_E_1));
}

/* 1 + x is exact in two parts. Of tiny x it is x. */
weft__complex weft__complex_log1p(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__pair sum = weft__sum_exact(t, constant(t, 1), x.real);
    const int32_t most = larger(t, magnitude(t, x.real), magnitude(t, x.imaginary));
    const int32_t tiny = less(t, most, constant_of(t, 0x1p-25, 0x1p-54));
    const int32_t real = log_modulus(t, sum, x.imaginary);
    return (weft__complex){choose(t, tiny, x.real, real),
                           weft__math_atan2(t, x.imaginary, sum.high)};
}

/* e^(y*log(x)) */
static weft__complex power_wide(weft__terms *t, weft__complex x, weft__complex y)
{
    const weft__complex log = weft__complex_log(t, x, x);
    const int32_t minus = negative(t, y.imaginary);
    const weft__complex exponent = {
        fused(t, y.real, log.real, multiply(t, minus, log.imaginary)),
        fused(t, y.real, log.imaginary, multiply(t, y.imaginary, log.real))};
    const weft__complex result = power_complex(t, exponent, false);
    const int32_t zero = constant(t, 0), one = constant(t, 1);
    const int32_t none = bits_and(t, is_zero(t, x.real), is_zero(t, x.imaginary));
    const int32_t sure = bits_and(t, is_zero(t, y.real), is_zero(t, y.imaginary));
    const int32_t edge = choose(t, less(t, zero, y.real), zero, not_a_number(t));
    return (weft__complex){choose(t, sure, one, choose(t, none, edge, result.real)),
                           choose(t, sure, zero, choose(t, none, edge, result.imaginary))};
}

static weft__complex widen(weft__terms *t, weft__complex x)
{
    return (weft__complex){converted(t, WEFT_F64, x.real), converted(t, WEFT_F64, x.imaginary)};
}

/* Of c64 it is computed in f64: its error grows with the exponent. */
weft__complex weft__complex_pow(weft__terms *t, weft__complex x, weft__complex y)
{
    if (t->wide)
        return power_wide(t, x, y);
    weft__terms wide = widened(t);
    const weft__complex result = power_wide(&wide, widen(t, x), widen(t, y));
    return (weft__complex){converted(t, WEFT_F32, result.real),
                           converted(t, WEFT_F32, result.imaginary)};
}
