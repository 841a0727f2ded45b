/* The table of functions of complex numbers, and those of modulus and angle: divide, sqrt, sign. */
#include "kernel/math/functions.h"

const weft__complex_facts weft__complex_functions[WEFT__COMPLEX_COUNT] = {
#define FACTS(name, arity, result, ulp_c64, ulp_c128)                                              \
    {#name, arity, WEFT__COMPLEX_IS_##result, {ulp_c64, ulp_c128}},
    WEFT__COMPLEX_LIST(FACTS)
#undef FACTS
};

void weft__math_complex(weft__builder *builder, weft__complex_function function, weft_dtype dtype,
                        const int32_t x[2], const int32_t y[2], int32_t result[2])
{
    static weft__complex (*const expansions[])(weft__terms *, weft__complex, weft__complex) = {
#define EXPANSION(name, arity, result, ulp_c64, ulp_c128) weft__complex_##name,
        WEFT__COMPLEX_LIST(EXPANSION)
#undef EXPANSION
    };
    const weft__complex_facts *facts = &weft__complex_functions[function];
    weft__terms terms = weft__terms_of(builder, dtype);
    const weft__complex first = {x[0], x[1]};
    const weft__complex second = facts->arity == 2 ? (weft__complex){y[0], y[1]} : first;
    const weft__complex value = expansions[function](&terms, first, second);
    result[0] = value.real;
    if (facts->result == WEFT__COMPLEX_IS_COMPLEX)
        result[1] = value.imaginary;
}

static weft__complex one_value(int32_t value) { return (weft__complex){value, value}; }

weft__complex weft__complex_abs(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return one_value(weft__math_hypot(t, x.real, x.imaginary));
}

weft__complex weft__complex_arg(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return one_value(weft__math_atan2(t, x.imaginary, x.real));
}

weft__complex weft__complex_isnan(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return one_value(bits_or(t, unequal(t, x.real, x.real), unequal(t, x.imaginary, x.imaginary)));
}

/* Whether a part is infinite, also if the other is NaN. */
static int32_t has_infinity(weft__terms *t, weft__complex size)
{
    return bits_or(t, is_infinite(t, size.real), is_infinite(t, size.imaginary));
}

static weft__complex magnitudes(weft__terms *t, weft__complex x)
{
    return (weft__complex){magnitude(t, x.real), magnitude(t, x.imaginary)};
}

weft__complex weft__complex_isinf(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    return one_value(has_infinity(t, magnitudes(t, x)));
}

weft__complex weft__complex_isfinite(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__complex size = magnitudes(t, x);
    return one_value(less(t, larger(t, size.real, size.imaginary), infinity(t)));
}

/* The power of two that brings numbers of this largest magnitude close to 1: below 8, and not below
 * 1 unless they are subnormal. */
static int32_t normalizing(weft__terms *t, int32_t most)
{
    const int32_t shift = word(t, (uint64_t)mantissa_bits(t));
    const int32_t field = shift_right(t, reinterpreted(t, t->word, most), shift);
    const int32_t kept = smaller(t, field, word(t, t->wide ? 2044 : 252));
    const int32_t other = subtract(t, word(t, t->wide ? 2046 : 254), kept);
    return reinterpreted(t, t->value, shift_left(t, other, shift));
}

static weft__complex scaled(weft__terms *t, weft__complex x, int32_t by)
{
    return (weft__complex){multiply(t, x.real, by), multiply(t, x.imaginary, by)};
}

/* a*b + c*d with the error of a product, so that it is 0 where it should be, with the sign that the
 * rounded products would give it. */
static int32_t sum_of_products(weft__terms *t, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t second = multiply(t, c, d);
    const int32_t excess = fused(t, negative(t, c), d, second);
    return subtract(t, fused(t, a, b, second), excess);
}

static weft__complex times_conjugate(weft__terms *t, weft__complex x, weft__complex y)
{
    const int32_t minus = negative(t, x.real);
    return (weft__complex){sum_of_products(t, x.real, y.real, x.imaginary, y.imaginary),
                           sum_of_products(t, x.imaginary, y.real, minus, y.imaginary)};
}

/* 1, 0 or -1: the direction in which a part is infinite. */
static int32_t direction(weft__terms *t, int32_t x, int32_t size)
{
    const int32_t inside = smaller(t, larger(t, x, constant(t, -1)), constant(t, 1));
    return choose(t, is_infinite(t, size), inside, constant(t, 0));
}

static weft__complex directions(weft__terms *t, weft__complex x, weft__complex size)
{
    return (weft__complex){direction(t, x.real, size.real),
                           direction(t, x.imaginary, size.imaginary)};
}

static weft__complex choose_complex(weft__terms *t, int32_t condition, weft__complex yes,
                                    weft__complex no)
{
    return (weft__complex){choose(t, condition, yes.real, no.real),
                           choose(t, condition, yes.imaginary, no.imaginary)};
}

/* x/y for y of 0: infinite where x is not 0. With one of them infinite: its direction, times
 * infinity or 0. */
static weft__complex divide_edge(weft__terms *t, weft__complex x, weft__complex y)
{
    const weft__complex x_size = magnitudes(t, x), y_size = magnitudes(t, y);
    const int32_t up = has_infinity(t, x_size), down = has_infinity(t, y_size);
    const int32_t one = constant(t, 1), infinite = infinity(t);
    const int32_t nothing = is_zero(t, larger(t, y_size.real, y_size.imaginary));
    const weft__complex over =
        choose_complex(t, up, directions(t, x, x_size), scaled(t, x, constant(t, 0.25)));
    const weft__complex under = choose_complex(t, down, directions(t, y, y_size), y);
    const int32_t rise = choose(t, up, infinite, one);
    const int32_t by = multiply(t, rise, choose(t, down, constant(t, 0), one));
    const weft__complex result = scaled(t, times_conjugate(t, over, under), by);
    const weft__complex raised = scaled(t, x, weft__with_sign(t, infinite, y.real));
    return choose_complex(t, nothing, raised, result);
}

/* x * conj(y) / |y|^2, with both brought near 1 first as far as that is needed. */
static weft__complex divide_plain(weft__terms *t, weft__complex x, weft__complex y, int32_t x_most,
                                  int32_t y_most)
{
    const int32_t one = constant(t, 1), factor = normalizing(t, y_most);
    const int32_t large = less(t, constant_of(t, 0x1p120, 0x1p1000), x_most);
    const int32_t small = less(t, x_most, constant_of(t, 0x1p-100, 0x1p-900));
    const int32_t up = choose(t, small, constant_of(t, 0x1p48, 0x1p120), one);
    const int32_t by = choose(t, large, constant(t, 0x1p-10), up);
    const int32_t down = choose(t, small, constant_of(t, 0x1p-48, 0x1p-120), one);
    const int32_t back = choose(t, large, constant(t, 0x1p10), down);
    const weft__complex under = scaled(t, y, factor);
    const weft__complex over = times_conjugate(t, scaled(t, x, by), under);
    const int32_t other = multiply(t, under.imaginary, under.imaginary);
    const int32_t square = fused(t, under.real, under.real, other);
    const weft__complex quotient = {divide(t, over.real, square),
                                    divide(t, over.imaginary, square)};
    return scaled(t, scaled(t, quotient, factor), back);
}

weft__complex weft__complex_divide(weft__terms *t, weft__complex x, weft__complex y)
{
    const weft__complex x_size = magnitudes(t, x), y_size = magnitudes(t, y);
    const int32_t x_most = larger(t, x_size.real, x_size.imaginary);
    const int32_t y_most = larger(t, y_size.real, y_size.imaginary);
    const int32_t infinite = infinity(t);
    const int32_t finite = bits_and(t, less(t, x_most, infinite), less(t, y_most, infinite));
    const int32_t plain = bits_and(t, finite, less(t, constant(t, 0), y_most));
    return choose_complex(t, plain, divide_plain(t, x, y, x_most, y_most), divide_edge(t, x, y));
}

static int32_t modulus(weft__terms *t, int32_t a, int32_t b)
{
    return square_root(t, fused(t, a, a, multiply(t, b, b)));
}

/* Of what is infinite it is the direction. */
weft__complex weft__complex_sign(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__complex size = magnitudes(t, x);
    const int32_t most = larger(t, size.real, size.imaginary);
    const weft__complex near = choose_complex(t, has_infinity(t, size), directions(t, x, size),
                                              scaled(t, x, normalizing(t, most)));
    const int32_t length = modulus(t, near.real, near.imaginary);
    const weft__complex result = {divide(t, near.real, length), divide(t, near.imaginary, length)};
    return choose_complex(t, is_zero(t, most), x, result);
}

/* With p and q the magnitudes of the parts and r the modulus, one part of the root is
 * u = sqrt((p + r) / 2), the other q / (2*u); which is which depends on the sign of x. */
weft__complex weft__complex_sqrt(weft__terms *t, weft__complex x, weft__complex y)
{
    (void)y;
    const weft__complex size = magnitudes(t, x);
    const weft__scaling scaling = weft__scaling_of(t, larger(t, size.real, size.imaginary));
    const int32_t back = weft__scaled_choice(t, &scaling, constant_of(t, 0x1p50, 0x1p300),
                                             constant_of(t, 0x1p-50, 0x1p-300), constant(t, 1));
    const weft__complex at = scaled(t, size, scaling.by);
    const int32_t half = constant(t, 0.5), length = modulus(t, at.real, at.imaginary);
    const int32_t root = square_root(t, multiply(t, add(t, at.real, length), half));
    const int32_t least = constant_of(t, 0x1p-60, 0x1p-500); /* the root of 0 is 0 */
    const int32_t quotient = divide(t, multiply(t, at.imaginary, half), larger(t, root, least));
    const int32_t infinite = infinity(t), up = is_infinite(t, size.imaginary);
    const int32_t u = choose(t, has_infinity(t, size), infinite, multiply(t, root, back));
    const int32_t v = choose(t, up, infinite, multiply(t, quotient, back));
    const int32_t left = less(t, x.real, constant(t, 0));
    return (weft__complex){choose(t, left, v, u),
                           weft__with_sign(t, choose(t, left, u, v), x.imaginary)};
}
