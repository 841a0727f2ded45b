/* sinh, cosh, tanh and their inverses. */
#include "kernel/math/functions.h"

weft__pair weft__sinh_cosh(weft__terms *t, int32_t size)
{
    const weft__pair rise = weft__exp_quarter(t, size);
    const int32_t fall = divide(t, constant(t, 0.0625), add(t, rise.high, rise.low));
    const int32_t large = add(t, rise.high, subtract(t, rise.low, fall));
    const int32_t small = weft__odd_polynomial(t, &weft__polynomial_sinh, size);
    const int32_t is_small = less(t, size, constant(t, 1));
    const int32_t half = add(t, rise.high, add(t, rise.low, fall));
    return (weft__pair){choose(t, is_small, small, add(t, large, large)), add(t, half, half)};
}

int32_t weft__math_sinh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t size = magnitude(t, x);
    const weft__pair rise = weft__exp_quarter(t, smaller(t, size, constant_of(t, 89.5, 710.5)));
    const int32_t fall = divide(t, constant(t, 0.0625), add(t, rise.high, rise.low));
    const int32_t large = add(t, rise.high, subtract(t, rise.low, fall));
    const int32_t small = weft__odd_polynomial(t, &weft__polynomial_sinh, size);
    const int32_t is_small = less(t, size, constant(t, 1));
    return weft__with_sign(t, choose(t, is_small, small, add(t, large, large)), x);
}

int32_t weft__math_cosh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t size = magnitude(t, x);
    const weft__pair rise = weft__exp_quarter(t, smaller(t, size, constant_of(t, 89.5, 710.5)));
    const int32_t fall = divide(t, constant(t, 0.0625), add(t, rise.high, rise.low));
    const int32_t half = add(t, rise.high, add(t, rise.low, fall));
    return add(t, half, half);
}

/* 1 - 2/(e^2x + 1), or a polynomial near 0. */
int32_t weft__math_tanh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t size = magnitude(t, x), inside = smaller(t, size, constant_of(t, 10, 20));
    const weft__pair rise = weft__exp_quarter(t, add(t, inside, inside));
    const int32_t under = add(t, rise.high, add(t, rise.low, constant(t, 0.25)));
    const int32_t fall = divide(t, constant(t, 0.5), under);
    const int32_t large = subtract(t, constant(t, 1), fall);
    const int32_t small = weft__odd_polynomial(t, &weft__polynomial_tanh, size);
    const int32_t is_small = less(t, size, constant(t, 0.55));
    return weft__with_sign(t, choose(t, is_small, small, large), x);
}

/* From here on the square of x does not matter beside x itself, and x + sqrt(x^2 +- 1) is 2*x. */
static int32_t is_large(weft__terms *t, int32_t size) { return less(t, constant(t, 0x1p28), size); }

/* log(x + sqrt(x^2 + one)) */
static int32_t inverse_by_root(weft__terms *t, int32_t size, int32_t one)
{
    const int32_t large = is_large(t, size), zero = constant(t, 0);
    const weft__pair square = weft__product_exact(t, size, size);
    weft__pair sum = weft__sum_exact(t, square.high, one);
    sum.low = add(t, sum.low, square.low);
    const weft__pair root = weft__root(t, sum);
    weft__pair total = weft__sum_exact(t, size, root.high);
    total.low = add(t, total.low, root.low);
    total.high = choose(t, large, size, total.high);
    total.low = choose(t, large, zero, total.low);
    return weft__log_pair(t, total, choose(t, large, constant(t, 1), zero));
}

/* x + factor*x^3, which is enough near 0, else the other. */
static int32_t cubic_or(weft__terms *t, int32_t size, double factor, int32_t other)
{
    const int32_t cube = multiply(t, multiply(t, size, size), size);
    const int32_t curve = fused(t, cube, constant(t, factor), size);
    return choose(t, less(t, size, constant_of(t, 0x1p-8, 0x1p-14)), curve, other);
}

int32_t weft__math_asinh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t size = magnitude(t, x);
    const int32_t other = inverse_by_root(t, size, constant(t, 1));
    return weft__with_sign(t, cubic_or(t, size, -1.0 / 6, other), x);
}

int32_t weft__math_acosh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t result = inverse_by_root(t, x, constant(t, -1));
    return choose(t, less(t, x, constant(t, 1)), not_a_number(t), result);
}

/* log((1 + x) / (1 - x)) / 2 */
int32_t weft__math_atanh(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t size = magnitude(t, x), one = constant(t, 1);
    const weft__pair over = weft__sum_ordered(t, one, size);
    const weft__pair under = weft__sum_ordered(t, one, negative(t, size));
    const weft__pair quotient = weft__quotient(t, over, under);
    const int32_t whole = weft__log_pair(t, quotient, -1);
    const int32_t half = multiply(t, whole, constant(t, 0.5));
    const int32_t other = choose(t, equal(t, size, one), infinity(t), half);
    return weft__with_sign(t, cubic_or(t, size, 1.0 / 3, other), x);
}
