/* Reduction of angles: x*unit is split into k*pi/2 + r, where the unit is 1 or log(2). */
#include "kernel/math/functions.h"

/* What the reduction depends on. A quarter of a turn is pi/2 over the unit. */
typedef struct circle {
    double over;            /* 1/quarter */
    double part[3];         /* of the quarter */
    const uint64_t *digits; /* of 1/quarter */
} circle;

static double first_of(bool wide, double f32, double f64) { return wide ? f64 : f32; }

static circle circle_of(bool wide, bool by_log_2)
{
    if (by_log_2)
        return (circle){0x1.c3dc98f7e969cp-2,
                        {first_of(wide, WEFT__QUARTER_OF_2_1), first_of(wide, WEFT__QUARTER_OF_2_2),
                         first_of(wide, WEFT__QUARTER_OF_2_3)},
                        weft__two_log_2_over_pi};
    return (circle){0x1.45f306dc9c883p-1,
                    {first_of(wide, WEFT__QUARTER_1), first_of(wide, WEFT__QUARTER_2),
                     first_of(wide, WEFT__QUARTER_3)},
                    weft__two_over_pi};
}

/* A quarter in three parts is enough for arguments up to here; beyond it k would also be off so far
 * that r leaves the range of the polynomials. */
static int32_t near_limit(weft__terms *t) { return constant_of(t, 0x1p20, 0x1p28); }

/* k times the first part is subtracted exactly, k times the second with what is rounded away: the
 * difference of `high` and `rough` is exact. All is made so that of x = -0, r is -0 less +0. */
static weft__turned turned_near(weft__terms *t, const circle *by, int32_t x)
{
    const int32_t magic = constant_of(t, 0x1.8p23, 0x1.8p52);
    const int32_t sum = fused(t, x, constant(t, by->over), magic), k = subtract(t, sum, magic);
    const int32_t rough = fused(t, k, constant(t, -by->part[0]), x);
    const int32_t part = constant(t, by->part[1]);
    const int32_t high = subtract(t, rough, multiply(t, k, part));
    const int32_t excess = fused(t, k, part, subtract(t, high, rough));
    return (weft__turned){high, fused(t, k, constant(t, by->part[2]), excess), raw_bits(t, sum)};
}

/* r times log(2). */
static weft__turned scaled(weft__terms *t, weft__turned r)
{
    const int32_t first = constant_of(t, WEFT__LN2_1), second = constant_of(t, WEFT__LN2_2);
    const weft__pair product = weft__product_exact(t, r.high, first);
    const int32_t low = fused(t, r.high, second, product.low);
    return (weft__turned){product.high, fused(t, r.excess, first, negative(t, low)), r.quadrant};
}

/* The part of x/quarter that counts for large x is the fraction of a turn of four quadrants: with
 * the mantissa as an integer m and x = m * 2^e, the digits of 1/quarter with weights of 4 and more,
 * after the product, say nothing. What is needed are so many digits from place e-2 on. These words
 * have `zeros` in front, so that the place is never negative. */
static int32_t digits(weft__terms *t, const uint64_t *of, int at, int zeros)
{
    const uint64_t before = at == 0 ? 0 : of[at - 1];
    return constant_bits(t, WEFT_U64, before << (64 - zeros) | of[at] >> zeros);
}

static int32_t word_64(weft__terms *t, uint64_t bits) { return constant_bits(t, WEFT_U64, bits); }

/* The digits that begin `by` places on in these words, as one word less; by is less than 64. */
static void move_digits(weft__terms *t, int32_t *words, int count, int32_t by)
{
    const int32_t rest = subtract(t, word_64(t, 64), by);
    for (int k = 0; k < count - 1; k++)
        words[k] = bits_or(t, shift_left(t, words[k], by), shift_right(t, words[k + 1], rest));
}

/* r as a fraction of a quadrant, from -1/2 to 1/2: the nearest float in units of 2^-64, and the
 * rest, in the same units or, for f64, in units of 2^-117. Of |x| if x is f64. */
typedef struct fraction {
    int32_t high, low, quadrant;
} fraction;

static int32_t quadrant_of(weft__terms *t, int32_t turn)
{
    const int32_t half = word_64(t, UINT64_C(1) << 61);
    return shift_right(t, add(t, turn, half), word_64(t, 62));
}

static int32_t is_negative(weft__terms *t, int32_t x) { return less(t, x, constant(t, 0)); }

/* m has 24 bits; 96 digits are enough, and two words to choose them from. */
static fraction fraction_f32(weft__terms *t, const uint64_t *of, int32_t x, int32_t bits)
{
    const int32_t field = shift_right(t, bits, word(t, 23));
    const int32_t kept = bits_or(t, bits_and(t, bits, word(t, 0x7fffff)), word(t, 0x800000));
    const int32_t m = converted(t, WEFT_U64, kept);
    const int32_t place = converted(t, WEFT_U64, subtract(t, field, word(t, 127 + 23 + 2 - 16)));
    const int32_t late = less(t, word_64(t, 63), place);
    int32_t words[3];
    for (int k = 0; k < 3; k++)
        words[k] = choose(t, late, digits(t, of, k + 1, 16), digits(t, of, k, 16));
    move_digits(t, words, 3, bits_and(t, place, word_64(t, 63)));
    const int32_t half = word_64(t, 32);
    const int32_t carried = multiply(t, m, shift_right(t, words[1], half));
    const int32_t ahead = add(t, multiply(t, m, words[0]), shift_right(t, carried, half));
    const int32_t turn = choose(t, is_negative(t, x), negative(t, ahead), ahead);
    const int32_t part = reinterpreted(t, WEFT_I64, shift_left(t, turn, word_64(t, 2)));
    const int32_t nearest = converted(t, WEFT_F32, part);
    const int32_t rest = subtract(t, part, converted(t, WEFT_I64, nearest));
    return (fraction){nearest, converted(t, WEFT_F32, rest),
                      converted(t, WEFT_U32, quadrant_of(t, turn))};
}

/* Four words of digits, from the one on in which `place` is. */
static void words_from(weft__terms *t, const uint64_t *of, int32_t place, int32_t words[11])
{
    int count = 11;
    for (int step = 8; step > 0; step /= 2) {
        const int32_t bit = word_64(t, (uint64_t)step * 64);
        const int32_t skip = unequal(t, bits_and(t, place, bit), word_64(t, 0));
        for (int k = 0; k < count; k++) {
            const int32_t here = step == 8 ? digits(t, of, k, 32) : words[k];
            const int32_t there = step == 8 ? digits(t, of, k + 8, 32) : words[k + step];
            words[k] = choose(t, skip, there, here);
        }
        count -= step / 2;
    }
}

/* The highest 128 bits, of 192, of the product of m and three words; modulo 2^128. */
static weft__pair product_of(weft__terms *t, int32_t m, const int32_t words[3])
{
    const int32_t middle = multiply(t, m, words[1]);
    const int32_t low = add(t, middle, multiply_high(t, m, words[2]));
    const int32_t carry = converted(t, WEFT_U64, less(t, low, middle));
    const int32_t high = add(t, multiply(t, m, words[0]), multiply_high(t, m, words[1]));
    return (weft__pair){add(t, high, carry), low};
}

/* m has 53 bits, and 192 digits are needed. */
static fraction fraction_f64(weft__terms *t, const uint64_t *of, int32_t bits)
{
    const uint64_t implied = UINT64_C(1) << 52;
    const int32_t field = shift_right(t, bits, word_64(t, 52));
    const int32_t kept = bits_and(t, bits, word_64(t, implied - 1));
    const int32_t m = bits_or(t, kept, word_64(t, implied));
    const int32_t place = subtract(t, field, word_64(t, 1023 + 52 + 2 - 32));
    const int32_t by = bits_and(t, place, word_64(t, 63));
    int32_t words[11];
    words_from(t, of, place, words);
    move_digits(t, words, 4, by);
    const weft__pair turn = product_of(t, m, words);
    const int32_t two = word_64(t, 2), upper = shift_left(t, turn.high, two);
    const int32_t joined = bits_or(t, upper, shift_right(t, turn.low, word_64(t, 62)));
    const int32_t part = reinterpreted(t, WEFT_I64, joined);
    const int32_t nearest = converted(t, WEFT_F64, part);
    const int32_t over = subtract(t, part, converted(t, WEFT_I64, nearest));
    const int32_t below = shift_right(t, shift_left(t, turn.low, two), word_64(t, 11));
    const int32_t rest = bits_or(t, shift_left(t, over, constant_bits(t, WEFT_I64, 53)),
                                 reinterpreted(t, WEFT_I64, below));
    return (fraction){nearest, converted(t, WEFT_F64, rest), quadrant_of(t, turn.high)};
}

static weft__turned reflected(weft__terms *t, int32_t x, const weft__turned *r)
{
    const int32_t below = is_negative(t, x);
    return (weft__turned){choose(t, below, negative(t, r->high), r->high),
                          choose(t, below, negative(t, r->excess), r->excess),
                          choose(t, below, negative(t, r->quadrant), r->quadrant)};
}

/* For |x| from near_limit on. The difference of x and x makes a NaN of infinity. */
static weft__turned turned_far(weft__terms *t, const circle *by, int32_t x, int32_t size)
{
    const int32_t bits = raw_bits(t, size);
    const fraction part =
        t->wide ? fraction_f64(t, by->digits, bits) : fraction_f32(t, by->digits, x, bits);
    const double first = first_of(t->wide, WEFT__HALF_PI_1) * 0x1p-64;
    const double second = first_of(t->wide, WEFT__HALF_PI_2) * 0x1p-64;
    const double unit = t->wide ? 0x1p-53 : 1;
    const weft__pair r = weft__product_exact(t, part.high, constant(t, first));
    int32_t low = fused(t, part.high, constant(t, second), r.low);
    low = fused(t, part.low, constant(t, first * unit), low);
    const int32_t high = add(t, r.high, low);
    const int32_t excess = subtract(t, subtract(t, high, r.high), low);
    const weft__turned turned = {high, add(t, excess, subtract(t, x, x)), part.quadrant};
    return t->wide ? reflected(t, x, &turned) : turned;
}

weft__turned weft__turn(weft__terms *t, int32_t x, bool by_log_2)
{
    const circle by = circle_of(t->wide, by_log_2);
    weft__turned near = turned_near(t, &by, x);
    if (by_log_2)
        near = scaled(t, near);
    const int32_t size = magnitude(t, x), distant = less_equal(t, near_limit(t), size);
    const weft__turned far = turned_far(t, &by, x, size);
    return (weft__turned){choose(t, distant, far.high, near.high),
                          choose(t, distant, far.excess, near.excess),
                          choose(t, distant, far.quadrant, near.quadrant)};
}
