/* A notation for expansions: each function adds one value, of the type of its first argument. */
#ifndef WEFT_KERNEL_MATH_TERMS_H
#define WEFT_KERNEL_MATH_TERMS_H

#include "kernel/math.h"

#include <string.h>

/* What an expansion works with. `value` is a float type, the others are integers of its size. */
typedef struct weft__terms {
    weft__builder *builder;
    weft_dtype value, word, number; /* f32, u32, i32 or f64, u64, i64 */
    bool wide;                      /* f64 */
    uint32_t first; /* where the expansion begins: constants are shared from there */
} weft__terms;

/* A number in two parts, the second small. */
typedef struct weft__pair {
    int32_t high, low;
} weft__pair;

/* For an expansion that begins here; dtype is f32 or f64. */
static inline weft__terms weft__terms_of(weft__builder *builder, weft_dtype dtype)
{
    const bool wide = dtype == WEFT_F64;
    return (weft__terms){.builder = builder,
                         .value = dtype,
                         .word = wide ? WEFT_U64 : WEFT_U32,
                         .number = wide ? WEFT_I64 : WEFT_I32,
                         .wide = wide,
                         .first = builder->kernel.values_count};
}

static inline int32_t constant_bits(weft__terms *t, weft_dtype dtype, uint64_t bits)
{
    const weft__kernel *kernel = &t->builder->kernel;
    for (uint32_t k = t->first; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op == WEFT__OP_constant && value->dtype == dtype && value->bits == bits)
            return (int32_t)k;
    }
    return weft__build_constant(t->builder, dtype, bits);
}

/* A float constant, rounded to the type in use. */
static inline int32_t constant(weft__terms *t, double number)
{
    const float narrow = (float)number;
    uint64_t bits = 0;
    if (t->wide)
        memcpy(&bits, &number, sizeof number);
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return constant_bits(t, t->value, bits);
}

/* One constant for f32, another for f64. */
static inline int32_t constant_of(weft__terms *t, double f32, double f64)
{
    return constant(t, t->wide ? f64 : f32);
}

static inline int32_t negative_of(weft__terms *t, double f32, double f64)
{
    return constant(t, t->wide ? -f64 : -f32);
}

static inline int32_t word(weft__terms *t, uint64_t bits)
{
    return constant_bits(t, t->word, t->wide ? bits : (uint32_t)bits);
}

static inline weft_dtype type_of(const weft__terms *t, int32_t value)
{
    return (weft_dtype)t->builder->kernel.values[value].dtype;
}

#define WEFT__TERM_1(name, op)                                                                     \
    static inline int32_t name(weft__terms *t, int32_t x)                                          \
    {                                                                                              \
        return weft__build(t->builder, WEFT__OP_##op, type_of(t, x), x, 0, 0);                     \
    }
#define WEFT__TERM_2(name, op)                                                                     \
    static inline int32_t name(weft__terms *t, int32_t x, int32_t y)                               \
    {                                                                                              \
        return weft__build(t->builder, WEFT__OP_##op, type_of(t, x), x, y, 0);                     \
    }
#define WEFT__TERM_COMPARISON(name, op)                                                            \
    static inline int32_t name(weft__terms *t, int32_t x, int32_t y)                               \
    {                                                                                              \
        return weft__build(t->builder, WEFT__OP_##op, WEFT_BOOL, x, y, 0);                         \
    }

WEFT__TERM_1(negative, neg)
WEFT__TERM_1(magnitude, abs)
WEFT__TERM_1(square_root, sqrt)
WEFT__TERM_1(rounded, round)
WEFT__TERM_1(truncated, trunc)
WEFT__TERM_1(rounded_down, floor)
WEFT__TERM_1(inverted, not )
WEFT__TERM_2(add, add)
WEFT__TERM_2(subtract, sub)
WEFT__TERM_2(multiply, mul)
WEFT__TERM_2(multiply_high, mul_high)
WEFT__TERM_2(divide, div)
WEFT__TERM_2(modulo, rem)
WEFT__TERM_2(smaller, min)
WEFT__TERM_2(larger, max)
WEFT__TERM_2(bits_and, and)
WEFT__TERM_2(bits_or, or)
WEFT__TERM_2(bits_xor, xor)
WEFT__TERM_2(shift_left, shl)
WEFT__TERM_2(shift_right, shr)
WEFT__TERM_COMPARISON(equal, eq)
WEFT__TERM_COMPARISON(unequal, ne)
WEFT__TERM_COMPARISON(less, lt)
WEFT__TERM_COMPARISON(less_equal, le)

/* x*y + z, rounded once. */
static inline int32_t fused(weft__terms *t, int32_t x, int32_t y, int32_t z)
{
    return weft__build(t->builder, WEFT__OP_fma, type_of(t, x), x, y, z);
}

static inline int32_t choose(weft__terms *t, int32_t condition, int32_t yes, int32_t no)
{
    return weft__build(t->builder, WEFT__OP_select, type_of(t, yes), condition, yes, no);
}

static inline int32_t converted(weft__terms *t, weft_dtype to, int32_t x)
{
    return weft__build(t->builder, WEFT__OP_cast, to, x, 0, 0);
}

/* The bits of x as another type. Of a float that may be NaN they are those of the canonical NaN. */
static inline int32_t reinterpreted(weft__terms *t, weft_dtype to, int32_t x)
{
    return weft__build(t->builder, WEFT__OP_bitcast, to, x, 0, 0);
}

/* The same in fewer instructions, but a NaN has any bits: for results that are NaN then anyway. */
static inline int32_t raw_bits(weft__terms *t, int32_t x)
{
    return weft__build_raw_bitcast(t->builder, t->word, x);
}

static inline int32_t infinity(weft__terms *t)
{
    return constant_bits(t, t->value, t->wide ? UINT64_C(0x7ff0000000000000) : 0x7f800000);
}

static inline int32_t not_a_number(weft__terms *t)
{
    return constant_bits(t, t->value, t->wide ? UINT64_C(0x7ff8000000000000) : 0x7fc00000);
}

/* The sign bit alone. */
static inline int32_t sign_mask(weft__terms *t)
{
    return word(t, t->wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31);
}

static inline int mantissa_bits(const weft__terms *t) { return t->wide ? 52 : 23; }

/* A table of coefficients, lowest power first, one for each float type. */
typedef struct weft__polynomial {
    const double *f32, *f64;
    uint8_t f32_count, f64_count;
} weft__polynomial;

/* Files of this folder share these. */
int32_t weft__polynomial_of(weft__terms *t, const weft__polynomial *p, int32_t x);
/* high + low = x + y exactly; the second if |x| >= |y| or x is 0. */
weft__pair weft__sum_exact(weft__terms *t, int32_t x, int32_t y);
weft__pair weft__sum_ordered(weft__terms *t, int32_t x, int32_t y);
/* high + low = x*y exactly, unless low underflows. */
weft__pair weft__product_exact(weft__terms *t, int32_t x, int32_t y);
/* x/y, x*y and the square root of x of numbers in two parts, to some bits less than twice those of
 * one. */
weft__pair weft__quotient(weft__terms *t, weft__pair x, weft__pair y);
weft__pair weft__product(weft__terms *t, weft__pair x, weft__pair y);
weft__pair weft__root(weft__terms *t, weft__pair x);
/* x + x^3 * p(x^2) */
int32_t weft__odd_polynomial(weft__terms *t, const weft__polynomial *p, int32_t x);
/* The sign bit of y on |x|; x is not negative. */
int32_t weft__with_sign(weft__terms *t, int32_t x, int32_t y);

#endif
