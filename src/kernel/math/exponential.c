/* exp, exp2, expm1. An argument is split into k*log(2) + r, and the result is 2^k * e^r. */
#include "kernel/math/functions.h"

#define LOG2_E 0x1.71547652b82fep+0

/* 1.5 * 2^23 or 2^52: adding it rounds to an integer, which the last bits of the sum then hold. */
static double magic(const weft__terms *t) { return t->wide ? 0x1.8p52 : 0x1.8p23; }

static int bias(const weft__terms *t) { return t->wide ? 1023 : 127; }

/* 2^k for the integer in the last bits of `sum`, to which the bias was added. */
static int32_t power_of_two(weft__terms *t, int32_t sum)
{
    const int32_t bits = raw_bits(t, sum);
    const int32_t shift = word(t, (uint64_t)mantissa_bits(t));
    return reinterpreted(t, t->value, shift_left(t, bits, shift));
}

/* y * 2^k is made as y * 2^(k - c) * 2^c, so that nothing overflows before the result does, nor is
 * rounded twice. The constant c depends on the sign of the argument. */
typedef struct scale {
    int32_t sum;    /* has k - c + bias in its last bits */
    int32_t k;      /* as a float */
    int32_t second; /* 2^c */
} scale;

static scale scale_of(weft__terms *t, int32_t x, double factor)
{
    const double low = t->wide ? 512 : 64;
    const int32_t below = less(t, x, constant(t, 0));
    const int32_t offset = choose(t, below, constant(t, magic(t) + bias(t) + low),
                                  constant(t, magic(t) + bias(t) - 1));
    const int32_t sum = factor == 1 ? add(t, x, offset) : fused(t, x, constant(t, factor), offset);
    const int32_t second = choose(t, below, constant_of(t, 0x1p-64, 0x1p-512), constant(t, 2));
    return (scale){sum, subtract(t, sum, offset), second};
}

/* A number first and then x is one instruction on many processors; a NaN stays. */
static int32_t clamped(weft__terms *t, int32_t x, int32_t low, int32_t high)
{
    return smaller(t, high, larger(t, low, x));
}

static int32_t scaled_by(weft__terms *t, int32_t x, const scale *by)
{
    return multiply(t, multiply(t, x, power_of_two(t, by->sum)), by->second);
}

/* Beyond these, exp is 0 or infinite. */
static int32_t within_range(weft__terms *t, int32_t x)
{
    return clamped(t, x, constant_of(t, -104, -746), constant_of(t, 89, 710));
}

int32_t weft__math_exp(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    x = within_range(t, x);
    const scale by = scale_of(t, x, LOG2_E);
    int32_t r = fused(t, by.k, negative_of(t, WEFT__LN2_1), x);
    r = fused(t, by.k, negative_of(t, WEFT__LN2_2), r);
    const int32_t one = constant(t, 1);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_exp, r);
    return scaled_by(t, fused(t, fused(t, rest, r, one), r, one), &by);
}

int32_t weft__math_exp2(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    x = clamped(t, x, constant_of(t, -151, -1076), constant_of(t, 129, 1025));
    const scale by = scale_of(t, x, 1);
    const int32_t r = subtract(t, x, by.k);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_exp2, r);
    return scaled_by(t, fused(t, rest, r, constant(t, 1)), &by);
}

/* e^(x - k*log(2)) - 1, the larger part first. */
static weft__pair reduced_expm1(weft__terms *t, weft__pair x, int32_t k)
{
    const int32_t rough = fused(t, k, negative_of(t, WEFT__LN2_1), x.high);
    const int32_t second = fused(t, k, negative_of(t, WEFT__LN2_2), x.low);
    const weft__pair r = weft__sum_ordered(t, rough, second);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_expm1, r.high);
    const int32_t lost = fused(t, r.high, r.low, r.low);
    return (weft__pair){r.high, fused(t, multiply(t, r.high, r.high), rest, lost)};
}

/* 2^-k for 2^(k - 1), as long as that matters. */
static int32_t inverse_power(weft__terms *t, int32_t power)
{
    const uint64_t most = (uint64_t)(bias(t) + 60) << mantissa_bits(t);
    const uint64_t twice = (uint64_t)(2 * bias(t) - 1) << mantissa_bits(t);
    const int32_t bits = smaller(t, reinterpreted(t, t->word, power), word(t, most));
    return reinterpreted(t, t->value, subtract(t, word(t, twice), bits));
}

/* 2^k * (1 + p) - 1: 2^k - 1 is exact if k is small, else 2^-k is a small part of p. */
int32_t weft__math_expm1(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const int32_t inside = clamped(t, x, constant_of(t, -18, -38), constant_of(t, 89, 710));
    const scale by = scale_of(t, inside, LOG2_E);
    const weft__pair p = reduced_expm1(t, (weft__pair){inside, constant(t, 0)}, by.k);
    const int32_t first = power_of_two(t, by.sum);
    const int32_t below = less(t, x, constant(t, 0));
    const int32_t one = choose(t, below, constant_of(t, 0x1p64, 0x1p512), constant(t, 0.5));
    const int32_t small = less(t, by.k, constant_of(t, 24, 53));
    const int32_t folded = subtract(t, p.low, inverse_power(t, first));
    const int32_t low = choose(t, small, p.low, folded);
    const int32_t start = choose(t, small, subtract(t, first, one), first);
    const weft__pair sum = weft__sum_ordered(t, start, multiply(t, first, p.high));
    const int32_t total = add(t, sum.high, fused(t, first, low, sum.low));
    const int32_t result = multiply(t, total, by.second);
    const int32_t tiny = less(t, magnitude(t, x), constant_of(t, 0x1p-25, 0x1p-54));
    return choose(t, tiny, x, result);
}

weft__pair weft__exp_quarter(weft__terms *t, int32_t x)
{
    const int32_t offset = constant(t, magic(t) + bias(t) - 2);
    const int32_t sum = fused(t, x, constant(t, LOG2_E), offset);
    const weft__pair argument = {x, constant(t, 0)};
    const weft__pair p = reduced_expm1(t, argument, subtract(t, sum, offset));
    const int32_t power = power_of_two(t, sum);
    const weft__pair total = weft__sum_ordered(t, power, multiply(t, power, p.high));
    return (weft__pair){total.high, fused(t, power, p.low, total.low)};
}

weft__pair weft__exp_negative(weft__terms *t, int32_t x)
{
    const int32_t inside = larger(t, x, constant_of(t, -80, -700));
    const int32_t offset = constant(t, magic(t) + bias(t));
    const int32_t sum = fused(t, inside, constant(t, LOG2_E), offset);
    const weft__pair argument = {inside, constant(t, 0)};
    const weft__pair p = reduced_expm1(t, argument, subtract(t, sum, offset));
    const weft__pair total = weft__sum_ordered(t, constant(t, 1), p.high);
    const int32_t power = power_of_two(t, sum);
    const weft__pair both = weft__sum_ordered(t, total.high, add(t, total.low, p.low));
    return (weft__pair){multiply(t, both.high, power), multiply(t, both.low, power)};
}

int32_t weft__exp_pair(weft__terms *t, weft__pair x)
{
    const int32_t inside = within_range(t, x.high);
    const int32_t more = choose(t, equal(t, inside, x.high), x.low, constant(t, 0));
    const scale by = scale_of(t, inside, LOG2_E);
    const weft__pair p = reduced_expm1(t, (weft__pair){inside, more}, by.k);
    const weft__pair sum = weft__sum_ordered(t, constant(t, 1), p.high);
    return scaled_by(t, add(t, sum.high, add(t, sum.low, p.low)), &by);
}

/* 2^k for an integer as a float. */
static int32_t power_of_integer(weft__terms *t, int32_t k)
{
    return power_of_two(t, add(t, k, constant(t, magic(t) + bias(t))));
}

/* e^(x - k*log(2)) in two parts. */
static weft__pair reduced_exp(weft__terms *t, weft__pair x, int32_t k)
{
    const weft__pair p = reduced_expm1(t, x, k);
    const weft__pair sum = weft__sum_ordered(t, constant(t, 1), p.high);
    return weft__sum_ordered(t, sum.high, add(t, sum.low, p.low));
}

weft__pair weft__exp_split(weft__terms *t, weft__pair x, weft__pair *powers)
{
    const int32_t k = rounded(t, multiply(t, x.high, constant(t, LOG2_E)));
    const int32_t half = rounded(t, multiply(t, k, constant(t, 0.5)));
    powers->high = power_of_integer(t, half);
    powers->low = power_of_integer(t, subtract(t, k, half));
    return reduced_exp(t, x, k);
}

int32_t weft__exp_thirds(weft__terms *t, weft__pair x, int32_t powers[2])
{
    const int32_t k = rounded(t, multiply(t, x.high, constant(t, LOG2_E)));
    const int32_t third = rounded(t, multiply(t, k, constant(t, 1.0 / 3)));
    powers[0] = power_of_integer(t, third);
    powers[1] = power_of_integer(t, subtract(t, k, add(t, third, third)));
    return reduced_exp(t, x, k).high;
}
