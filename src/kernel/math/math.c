/* The table of functions, and those that need only a few primitives. */
#include "kernel/math/functions.h"

const weft__math_facts weft__math_functions[WEFT__MATH_COUNT] = {
#define FACTS(name, arity, result, ulp_f32, ulp_f64)                                               \
    {#name, arity, IS_##result, {ulp_f32, ulp_f64}},
#define IS_SAME false
#define IS_BOOL true
    WEFT__MATH_LIST(FACTS)
#undef FACTS
};

int32_t weft__math(weft__builder *builder, weft__math_function function, weft_dtype dtype,
                   int32_t x, int32_t y)
{
    static int32_t (*const expansions[])(weft__terms *, int32_t, int32_t) = {
#define EXPANSION(name, arity, result, ulp_f32, ulp_f64) weft__math_##name,
        WEFT__MATH_LIST(EXPANSION)
#undef EXPANSION
    };
    weft__terms terms = weft__terms_of(builder, dtype);
    return expansions[function](&terms, x, y);
}

int32_t weft__math_clip(weft__builder *builder, int32_t x, int32_t low, int32_t high)
{
    weft__terms terms = {.builder = builder};
    return smaller(&terms, larger(&terms, x, low), high);
}

int32_t weft__math_square(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    return multiply(t, x, x);
}

int32_t weft__math_sign(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t zero = constant(t, 0);
    const int32_t up = choose(t, less(t, zero, x), constant(t, 1), x);
    return choose(t, less(t, x, zero), constant(t, -1), up);
}

int32_t weft__math_isnan(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    return unequal(t, x, x);
}

int32_t weft__math_isinf(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    return equal(t, magnitude(t, x), infinity(t));
}

int32_t weft__math_isfinite(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    return less(t, magnitude(t, x), infinity(t));
}

/* A NaN counts as positive: its sign is not defined inside a kernel. */
int32_t weft__math_signbit(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    return less(t, reinterpreted(t, t->number, x), constant_bits(t, t->number, 0));
}

int32_t weft__math_copysign(weft__terms *t, int32_t x, int32_t y)
{
    return weft__with_sign(t, magnitude(t, x), y);
}

/* The bits of floats of one sign are ordered as the floats are. */
int32_t weft__math_nextafter(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t zero = constant(t, 0), bits = reinterpreted(t, t->word, x);
    const int32_t outward = equal(t, less(t, x, y), less(t, zero, x));
    const int32_t step = choose(t, outward, word(t, 1), word(t, UINT64_MAX));
    const int32_t moved = reinterpreted(t, t->value, add(t, bits, step));
    const int32_t least = reinterpreted(t, t->value, word(t, 1));
    const int32_t first = choose(t, less(t, y, zero), negative(t, least), least);
    const int32_t next = choose(t, equal(t, x, zero), first, moved);
    const int32_t there = choose(t, equal(t, x, y), y, next);
    const int32_t unordered = bits_or(t, unequal(t, x, x), unequal(t, y, y));
    return choose(t, unordered, not_a_number(t), there);
}
