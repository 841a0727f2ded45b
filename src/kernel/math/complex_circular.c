/* Complex sin, cos, tan, sinh, cosh, tanh and their inverses. Those of a circle are those of a
 * hyperbola with the parts of argument and result exchanged. */
#include "kernel/math/functions.h"

static weft__complex exchanged(weft__complex x) { return (weft__complex){x.imaginary, x.real}; }

/* sinh(a) and cosh(a); where those may be too large for a float, both are half of e^|a|. */
typedef struct growth {
    weft__large sinh, cosh;
} growth;

static growth growth_of(weft__terms *t, int32_t a)
{
    const int32_t size = magnitude(t, a), limit = constant(t, 64), one = constant(t, 1);
    const weft__pair near = weft__sinh_cosh(t, smaller(t, size, limit));
    const weft__large power = weft__exp_large(t, size, false);
    const int32_t far = less(t, limit, size), half = multiply(t, power.value, constant(t, 0.5));
    const int32_t sinh = choose(t, far, half, near.high), cosh = choose(t, far, half, near.low);
    const int32_t first = choose(t, far, power.power[0], one);
    const int32_t second = choose(t, far, power.power[1], one);
    return (growth){{weft__with_sign(t, sinh, a), {first, second}}, {cosh, {first, second}}};
}

/* Whether the angle is a number. */
static int32_t turns(weft__terms *t, int32_t angle)
{
    return less(t, magnitude(t, angle), infinity(t));
}

weft__complex weft__complex_sinh(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__circular at = weft__sin_cos(t, x.imaginary, false);
    const growth of = growth_of(t, x.real);
    const int32_t real = weft__times_large(t, at.cosine, &of.sinh);
    const int32_t imaginary = weft__times_large(t, at.sine, &of.cosh);
    const int32_t edge = bits_or(t, is_zero(t, x.real), is_infinite(t, magnitude(t, x.real)));
    const int32_t other = choose(t, edge, x.real, not_a_number(t));
    return (weft__complex){choose(t, turns(t, x.imaginary), real, other),
                           choose(t, is_zero(t, x.imaginary), x.imaginary, imaginary)};
}

weft__complex weft__complex_cosh(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__circular at = weft__sin_cos(t, x.imaginary, false);
    const growth of = growth_of(t, x.real);
    const int32_t real = weft__times_large(t, at.cosine, &of.cosh);
    const int32_t imaginary = weft__times_large(t, at.sine, &of.sinh);
    const int32_t infinite = infinity(t), size = magnitude(t, x.real);
    const int32_t other = choose(t, equal(t, size, infinite), infinite, not_a_number(t));
    const int32_t finite = bits_and(t, less(t, size, infinite), turns(t, x.imaginary));
    const int32_t zero = bits_or(t, is_zero(t, x.real), is_zero(t, x.imaginary));
    const int32_t nothing = bits_and(t, zero, inverted(t, finite));
    return (weft__complex){choose(t, turns(t, x.imaginary), real, other),
                           choose(t, nothing, constant(t, 0), imaginary)};
}

/* With e = e^(-2*|a|) and d = e - 1, the parts are -d*(2 + d) and 4*e*sin(b)*cos(b) over
 * d^2 + 4*e*cos(b)^2: nothing cancels, and nothing overflows. */
weft__complex weft__complex_tanh(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__circular at = weft__sin_cos(t, x.imaginary, false);
    const int32_t size = magnitude(t, x.real), exponent = multiply(t, size, constant(t, -2));
    const int32_t d = weft__math_expm1(t, exponent, exponent);
    const int32_t e = multiply(t, weft__math_exp(t, exponent, exponent), constant(t, 4));
    const int32_t across = multiply(t, e, at.cosine);
    const int32_t under = fused(t, d, d, multiply(t, across, at.cosine));
    const int32_t over = multiply(t, negative(t, d), add(t, d, constant(t, 2)));
    const int32_t real = weft__with_sign(t, divide(t, over, under), x.real);
    const int32_t imaginary = divide(t, multiply(t, across, at.sine), under);
    const int32_t far = is_infinite(t, size), one = weft__with_sign(t, constant(t, 1), x.real);
    const int32_t edge = choose(t, is_zero(t, x.real), x.real, not_a_number(t));
    const int32_t no_turn = inverted(t, turns(t, x.imaginary));
    const int32_t lost = bits_and(t, far, no_turn);
    const int32_t whole = choose(t, no_turn, choose(t, far, one, edge), real);
    const int32_t part = choose(t, lost, constant(t, 0), imaginary);
    return (weft__complex){whole, choose(t, is_zero(t, x.imaginary), x.imaginary, part)};
}

weft__complex weft__complex_sin(weft__terms *t, weft__complex x, weft__complex y)
{
    return exchanged(weft__complex_sinh(t, exchanged(x), y));
}

weft__complex weft__complex_cos(weft__terms *t, weft__complex x, weft__complex y)
{
    return weft__complex_cosh(t, (weft__complex){x.imaginary, negative(t, x.real)}, y);
}

weft__complex weft__complex_tan(weft__terms *t, weft__complex x, weft__complex y)
{
    return exchanged(weft__complex_tanh(t, exchanged(x), y));
}

/* sqrt(1 - x) and sqrt(1 + x): of their products, no sum cancels. Those of large x may overflow, so
 * that one factor is to be multiplied by `quarter`, which is then 1/4, else 1. */
typedef struct roots {
    weft__complex minus, plus;
    int32_t infinite, large; /* whether x is */
    int32_t quarter;
} roots;

static roots roots_of(weft__terms *t, weft__complex x)
{
    const int32_t one = constant(t, 1);
    const weft__complex minus = {subtract(t, one, x.real), negative(t, x.imaginary)};
    const weft__complex plus = {add(t, one, x.real), x.imaginary};
    const int32_t a = magnitude(t, x.real), b = magnitude(t, x.imaginary);
    const int32_t large = less(t, constant_of(t, 0x1p100, 0x1p1000), larger(t, a, b));
    return (roots){weft__complex_sqrt(t, minus, minus), weft__complex_sqrt(t, plus, plus),
                   bits_or(t, is_infinite(t, a), is_infinite(t, b)), large,
                   choose(t, large, constant(t, 0.25), one)};
}

static weft__complex reduced(weft__terms *t, weft__complex x, const roots *of)
{
    return (weft__complex){multiply(t, x.real, of->quarter), multiply(t, x.imaginary, of->quarter)};
}

/* asinh of Im(conj(x) * y), where x is one of the roots, reduced, and y the other one. */
static int32_t asinh_of_cross(weft__terms *t, weft__complex x, weft__complex y, int32_t large)
{
    const int32_t minus = negative(t, multiply(t, x.imaginary, y.real));
    const int32_t slope = fused(t, x.real, y.imaginary, minus);
    const int32_t result = weft__math_asinh(t, slope, slope);
    const int32_t log_4 = weft__with_sign(t, constant(t, 0x1.62e42fefa39efp+0), slope);
    return choose(t, large, add(t, result, log_4), result);
}

weft__complex weft__complex_asin(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const roots of = roots_of(t, x);
    const weft__complex minus = reduced(t, of.minus, &of);
    const int32_t other = negative(t, multiply(t, minus.imaginary, of.plus.imaginary));
    const int32_t product = fused(t, minus.real, of.plus.real, other);
    const int32_t under = choose(t, of.infinite, magnitude(t, x.imaginary), product);
    const int32_t real = weft__math_atan2(t, multiply(t, x.real, of.quarter), under);
    const int32_t imaginary = asinh_of_cross(t, minus, of.plus, of.large);
    const int32_t far = weft__with_sign(t, infinity(t), x.imaginary);
    return (weft__complex){choose(t, is_zero(t, x.real), x.real, real),
                           choose(t, of.infinite, far, imaginary)};
}

weft__complex weft__complex_acos(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const roots of = roots_of(t, x);
    const int32_t b = magnitude(t, x.imaginary);
    const int32_t over = choose(t, of.infinite, b, of.minus.real);
    const int32_t under = choose(t, of.infinite, x.real, of.plus.real);
    const int32_t angle = weft__math_atan2(t, over, under);
    const int32_t real = choose(t, of.infinite, angle, add(t, angle, angle));
    const int32_t imaginary = asinh_of_cross(t, reduced(t, of.plus, &of), of.minus, of.large);
    const int32_t far = negative(t, weft__with_sign(t, infinity(t), x.imaginary));
    const int32_t middle = bits_and(t, is_zero(t, x.real), unequal(t, b, b));
    return (weft__complex){choose(t, middle, constant_of(t, WEFT__HALF_PI_1), real),
                           choose(t, of.infinite, far, imaginary)};
}

weft__complex weft__complex_asinh(weft__terms *t, weft__complex x, weft__complex y)
{
    return exchanged(weft__complex_asin(t, exchanged(x), y));
}

weft__complex weft__complex_acosh(weft__terms *t, weft__complex x, weft__complex y)
{
    const weft__complex angle = weft__complex_acos(t, x, y);
    return (weft__complex){magnitude(t, angle.imaginary),
                           weft__with_sign(t, angle.real, x.imaginary)};
}

/* log(1 + 4*a/((1-a)^2 + b^2)) / 4 for a >= 0. */
static int32_t atanh_real(weft__terms *t, int32_t a, int32_t b)
{
    const int32_t one = constant(t, 1), zero = constant(t, 0);
    const int32_t gap = subtract(t, one, a);
    const weft__scaling scaling =
        weft__scaling_of(t, larger(t, magnitude(t, gap), magnitude(t, b)));
    const int32_t u = multiply(t, gap, scaling.by), v = multiply(t, b, scaling.by);
    const int32_t under = fused(t, u, u, multiply(t, v, v));
    const int32_t by = choose(t, scaling.large, scaling.by, one);
    const int32_t over = multiply(t, multiply(t, a, by), constant(t, 4));
    const int32_t quotient = multiply(t, divide(t, over, under), by);
    const weft__pair sum = weft__sum_exact(t, one, quotient);
    const weft__pair total = {choose(t, scaling.small, quotient, sum.high),
                              choose(t, scaling.small, zero, sum.low)};
    const int32_t doubled = choose(t, scaling.small, constant_of(t, 200, 1200), zero);
    const int32_t whole = choose(t, scaling.small, one, quotient);
    const int32_t tiny = less(t, whole, constant_of(t, 0x1p-18, 0x1p-40));
    const int32_t half = multiply(t, quotient, constant(t, -0.5));
    const int32_t curve = fused(t, half, quotient, quotient);
    const int32_t log = choose(t, tiny, curve, weft__log_pair(t, total, doubled));
    return multiply(t, log, constant(t, 0.25));
}

weft__complex weft__complex_atanh(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const int32_t one = constant(t, 1), half = constant(t, 0.5), infinite = infinity(t);
    const int32_t a = magnitude(t, x.real), b = magnitude(t, x.imaginary);
    const int32_t product = multiply(t, subtract(t, one, a), add(t, one, a));
    const int32_t under = fused(t, negative(t, b), b, product);
    const int32_t angle = weft__math_atan2(t, x.imaginary, multiply(t, under, half));
    const int32_t far = bits_or(t, equal(t, a, infinite), equal(t, b, infinite));
    const int32_t quarter = weft__with_sign(t, constant_of(t, WEFT__HALF_PI_1), x.imaginary);
    const int32_t known = choose(t, equal(t, b, b), quarter, b);
    const int32_t nothing = bits_or(t, far, is_zero(t, a));
    const int32_t real = choose(t, nothing, constant(t, 0), atanh_real(t, a, b));
    return (weft__complex){weft__with_sign(t, real, x.real),
                           choose(t, far, known, multiply(t, angle, half))};
}

weft__complex weft__complex_atan(weft__terms *t, weft__complex x, weft__complex y)
{
    return exchanged(weft__complex_atanh(t, exchanged(x), y));
}
