/* fmod and remainder, exact for all arguments: the remainder of m * 2^d by an integer n. */
#include "kernel/math/functions.h"

/* |x| = integer * 2^(exponent - bias), the integer with its highest bit set. */
typedef struct whole {
    int32_t integer;  /* u64 */
    int32_t exponent; /* i64 */
} whole;

static whole whole_of(weft__terms *t, int32_t size)
{
    const uint64_t implied = UINT64_C(1) << mantissa_bits(t);
    const int32_t subnormal = less(t, size, constant_of(t, 0x1p-126, 0x1p-1022));
    const int32_t lifted = multiply(t, size, constant(t, 0x1p64));
    const int32_t normal = choose(t, subnormal, lifted, size);
    const int32_t bits = reinterpreted(t, t->word, normal);
    const int32_t field = shift_right(t, bits, word(t, (uint64_t)mantissa_bits(t)));
    const int32_t kept = bits_or(t, bits_and(t, bits, word(t, implied - 1)), word(t, implied));
    const int32_t minus = constant_bits(t, WEFT_I64, UINT64_MAX - 63);
    const int32_t lift = choose(t, subnormal, minus, constant_bits(t, WEFT_I64, 0));
    return (whole){converted(t, WEFT_U64, kept), add(t, converted(t, WEFT_I64, field), lift)};
}

static int32_t number_64(weft__terms *t, uint64_t bits) { return constant_bits(t, WEFT_U64, bits); }

/* m * 2^d modulo n, of 24 bits: 2^d is 2^(d/32), squared five times, times a power below 2^32. */
static int32_t rest_f32(weft__terms *t, int32_t m, int32_t d, int32_t n)
{
    const int32_t one = number_64(t, 1);
    int32_t power = shift_left(t, one, shift_right(t, d, number_64(t, 5)));
    for (int k = 0; k < 5; k++)
        power = modulo(t, multiply(t, power, power), n);
    const int32_t shifted = shift_left(t, m, bits_and(t, d, number_64(t, 31)));
    return modulo(t, multiply(t, modulo(t, shifted, n), power), n);
}

/* An integer in both types. */
typedef struct twofold {
    int32_t integer, value; /* i64, f64 */
} twofold;

/* n and 1/n. */
typedef struct modulus {
    int32_t integer, inverse;
} modulus;

/* x less the multiple of n that is close to `estimate` times n, modulo 2^64: for what is left is
 * small. */
static twofold reduced(weft__terms *t, int32_t x, int32_t estimate, const modulus *n)
{
    const int32_t multiple = converted(t, WEFT_I64, rounded(t, estimate));
    const int32_t rest = subtract(t, x, multiply(t, multiple, n->integer));
    return (twofold){rest, converted(t, WEFT_F64, rest)};
}

/* a*b modulo n, of 53 bits, between -n and n. The first estimate of the quotient is off by a few.
 */
static twofold product_modulo(weft__terms *t, twofold a, twofold b, const modulus *n)
{
    const int32_t quotient = multiply(t, multiply(t, a.value, b.value), n->inverse);
    const twofold rough = reduced(t, multiply(t, a.integer, b.integer), quotient, n);
    return reduced(t, rough.integer, multiply(t, rough.value, n->inverse), n);
}

static twofold twofold_of(weft__terms *t, int32_t integer)
{
    const int32_t signed_one = reinterpreted(t, WEFT_I64, integer);
    return (twofold){signed_one, converted(t, WEFT_F64, signed_one)};
}

/* The same for 53 bits: 2^(d/64), squared six times, times a power below 2^64. */
static int32_t rest_f64(weft__terms *t, int32_t m, int32_t d, int32_t n)
{
    const int32_t one = number_64(t, 1), n_value = converted(t, WEFT_F64, n);
    const modulus by = {reinterpreted(t, WEFT_I64, n), divide(t, constant(t, 1), n_value)};
    const int32_t few = shift_left(t, one, shift_right(t, d, number_64(t, 6)));
    const int32_t rest = shift_left(t, one, bits_and(t, d, number_64(t, 63)));
    twofold power = twofold_of(t, few);
    for (int k = 0; k < 6; k++)
        power = product_modulo(t, power, power, &by);
    power = product_modulo(t, power, twofold_of(t, modulo(t, rest, n)), &by);
    const twofold result = product_modulo(t, power, twofold_of(t, m), &by);
    const int32_t below = less(t, result.integer, constant_bits(t, WEFT_I64, 0));
    return choose(t, below, add(t, result.integer, by.integer), result.integer);
}

/* 2^e for an e that a float can have, less half of it; e is i64. */
static int32_t power_of(weft__terms *t, int32_t e)
{
    const int32_t bias = constant_bits(t, WEFT_I64, t->wide ? 1023 : 127);
    const int32_t field = converted(t, t->word, add(t, e, bias));
    const int32_t bits = shift_left(t, field, word(t, (uint64_t)mantissa_bits(t)));
    return reinterpreted(t, t->value, bits);
}

/* In two steps, as the power alone may be too small for a float. */
static int32_t scaled_to(weft__terms *t, int32_t integer, int32_t exponent)
{
    const int64_t unit = t->wide ? 1023 + 52 : 127 + 23;
    const int32_t e = subtract(t, exponent, constant_bits(t, WEFT_I64, (uint64_t)unit));
    const int32_t half = shift_right(t, e, constant_bits(t, WEFT_I64, 1));
    const int32_t first = multiply(t, converted(t, t->value, integer), power_of(t, half));
    return multiply(t, first, power_of(t, subtract(t, e, half)));
}

int32_t weft__math_fmod(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t a = magnitude(t, x), b = magnitude(t, y);
    const whole over = whole_of(t, a), under = whole_of(t, b);
    const int32_t gap = subtract(t, over.exponent, under.exponent);
    const int32_t d = reinterpreted(t, WEFT_U64, gap);
    const int32_t rest = t->wide ? rest_f64(t, over.integer, d, under.integer)
                                 : rest_f32(t, over.integer, d, under.integer);
    const int32_t result = weft__with_sign(t, scaled_to(t, rest, under.exponent), x);
    const int32_t right = bits_and(t, less(t, a, infinity(t)), less(t, constant(t, 0), b));
    return choose(t, right, choose(t, less(t, a, b), x, result), not_a_number(t));
}

int32_t weft__math_remainder(weft__terms *t, int32_t x, int32_t y)
{
    const int32_t zero = constant(t, 0), rest = weft__math_fmod(t, x, y);
    const int32_t differ = unequal(t, less(t, rest, zero), less(t, y, zero));
    const int32_t moved = choose(t, differ, add(t, rest, y), rest);
    return choose(t, equal(t, rest, zero), weft__with_sign(t, zero, y), moved);
}
