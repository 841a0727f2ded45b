/* Functions that work on bits: powers and counts of integers, and the neighbours of f16 and bf16.
 */
#include "kernel/math/functions.h"

static int bits_of(weft_dtype dtype) { return 8 * (int)weft_dtype_size(dtype); }

static bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

/* A product that grows by the powers of x that the bits of an exponent choose. */
typedef struct product {
    weft__terms *t;
    weft_dtype dtype;
    int32_t result, power, exponent;
} product;

static int32_t integer(product *p, uint64_t bits)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits_of(p->dtype));
    return constant_bits(p->t, p->dtype, bits & mask);
}

static int32_t has_bit(product *p, int bit)
{
    const int32_t part = bits_and(p->t, p->exponent, integer(p, UINT64_C(1) << bit));
    return unequal(p->t, part, integer(p, 0));
}

static void multiply_bits(product *p, int from, int to)
{
    for (int bit = from; bit < to; bit++) {
        const int32_t factor = choose(p->t, has_bit(p, bit), p->power, integer(p, 1));
        p->result = bit == 0 ? factor : multiply(p->t, p->result, factor);
        p->power = multiply(p->t, p->power, p->power);
    }
}

/* 1/x to the power -y, truncated: 0 but for x of 1 and -1. */
static int32_t power_negative(product *p, int32_t x)
{
    weft__terms *t = p->t;
    const int32_t one = integer(p, 1), minus = integer(p, UINT64_MAX);
    const int32_t turned = choose(t, has_bit(p, 0), minus, one);
    const int32_t other = choose(t, equal(t, x, minus), turned, integer(p, 0));
    return choose(t, equal(t, x, one), one, other);
}

/* By squaring; the bits of exponents of 64 and more are used by one select only. */
int32_t weft__math_pow_integer(weft__builder *builder, weft_dtype dtype, int32_t x, int32_t y)
{
    weft__terms t = weft__terms_of(builder, dtype);
    product p = {&t, dtype, x, x, y};
    const int bits = bits_of(dtype) - (is_signed(dtype) ? 1 : 0), few = 6;
    multiply_bits(&p, 0, few);
    const int32_t near = p.result, many = less(&t, integer(&p, 63), y);
    multiply_bits(&p, few, bits);
    const int32_t result = choose(&t, many, p.result, near);
    if (!is_signed(dtype))
        return result;
    const int32_t below = less(&t, y, integer(&p, 0));
    return choose(&t, below, power_negative(&p, x), result);
}

/* Sums of the bits in twos, fours and bytes; a product then adds the bytes. */
int32_t weft__math_popcount(weft__builder *builder, weft_dtype dtype, int32_t x)
{
    static const weft_dtype types[] = {WEFT_U8, WEFT_U16, WEFT_U32, WEFT_U64};
    const int bits = bits_of(dtype);
    const weft_dtype of = types[(bits > 8) + (bits > 16) + (bits > 32)];
    weft__terms t = weft__terms_of(builder, of);
    product p = {&t, of, 0, 0, 0};
    const int32_t twos = integer(&p, UINT64_C(0x5555555555555555));
    const int32_t fours = integer(&p, UINT64_C(0x3333333333333333));
    const int32_t bytes = integer(&p, UINT64_C(0x0f0f0f0f0f0f0f0f));
    int32_t v = reinterpreted(&t, of, x);
    v = subtract(&t, v, bits_and(&t, shift_right(&t, v, integer(&p, 1)), twos));
    const int32_t upper = bits_and(&t, shift_right(&t, v, integer(&p, 2)), fours);
    v = add(&t, bits_and(&t, v, fours), upper);
    v = bits_and(&t, add(&t, v, shift_right(&t, v, integer(&p, 4))), bytes);
    if (bits > 8) {
        v = multiply(&t, v, integer(&p, UINT64_C(0x0101010101010101)));
        v = shift_right(&t, v, integer(&p, (uint64_t)bits - 8));
    }
    return reinterpreted(&t, dtype, v);
}

/* The neighbour of f16 x above or below it, neither 0 nor NaN: by bits, or where it is subnormal by
 * the distance of all of those. */
static int32_t neighbour_f16(weft__terms *t, int32_t x, int32_t by_bits, int32_t up)
{
    const int32_t size = magnitude(t, x), least = constant(t, 0x1p-24);
    const int32_t step = choose(t, up, least, negative(t, least));
    const int32_t moved = weft__with_sign(t, magnitude(t, add(t, x, step)), x);
    const int32_t small = less_equal(t, size, constant(t, 0x1p-14));
    const int32_t most = weft__with_sign(t, constant(t, 65504), x);
    const int32_t inside = choose(t, small, moved, by_bits);
    return choose(t, is_infinite(t, size), most, inside);
}

int32_t weft__math_nextafter_narrow(weft__builder *builder, weft_dtype dtype, int32_t x, int32_t y)
{
    weft__terms terms = weft__terms_of(builder, WEFT_F32), *t = &terms;
    const bool half = dtype == WEFT_F16;
    const weft__op op = half ? WEFT__OP_round_f16 : WEFT__OP_round_bf16;
    x = weft__build(builder, op, WEFT_F32, x, 0, 0);
    y = weft__build(builder, op, WEFT_F32, y, 0, 0);
    const int32_t zero = constant(t, 0), up = less(t, x, y);
    const int32_t outward = equal(t, up, less(t, zero, x));
    const uint32_t unit = half ? 0x2000 : 0x10000;
    const int32_t step = choose(t, outward, word(t, unit), word(t, 0 - (uint64_t)unit));
    const int32_t bits = add(t, reinterpreted(t, WEFT_U32, x), step);
    int32_t moved = reinterpreted(t, WEFT_F32, bits);
    if (half)
        moved = neighbour_f16(t, x, moved, up);
    const int32_t least = constant(t, half ? 0x1p-24 : 0x1p-133);
    const int32_t first = choose(t, up, least, negative(t, least));
    const int32_t next = choose(t, is_zero(t, x), first, moved);
    const int32_t there = choose(t, equal(t, x, y), y, next);
    const int32_t unordered = bits_or(t, unequal(t, x, x), unequal(t, y, y));
    const int32_t result = choose(t, unordered, not_a_number(t), there);
    return weft__build(builder, op, WEFT_F32, result, 0, 0);
}
