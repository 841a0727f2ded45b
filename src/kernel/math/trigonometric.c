/* sin, cos, tan. x is split into k*pi/2 + r; k modulo 4 says which function of r the result is. */
#include "kernel/math/functions.h"

/* r in two parts, and an integer whose two last bits are those of k. */
typedef struct turned {
    weft__pair r;
    int32_t quadrant;
} turned;

/* pi/2 in three parts is enough for arguments up to here. */
static int32_t near_limit(weft__terms *t) { return constant_of(t, 0x1p16, 0x1p28); }

/* The first part of the products k*pi/2 is subtracted exactly, the second with what is rounded
 * away. */
static turned turned_near(weft__terms *t, int32_t x)
{
    const int32_t magic = constant_of(t, 0x1.8p23, 0x1.8p52);
    const int32_t two_over_pi = constant_of(t, 0x1.45f306p-1, 0x1.45f306dc9c883p-1);
    const int32_t sum = fused(t, x, two_over_pi, magic), k = subtract(t, sum, magic);
    const int32_t rough = fused(t, k, negative_of(t, WEFT__HALF_PI_1), x);
    const int32_t second = multiply(t, k, constant_of(t, WEFT__HALF_PI_2));
    const int32_t high = subtract(t, rough, second);
    const int32_t lost = subtract(t, subtract(t, rough, high), second);
    const int32_t more = fused(t, k, negative_of(t, WEFT__HALF_PI_2), second);
    const int32_t third = fused(t, k, negative_of(t, WEFT__HALF_PI_3), more);
    return (turned){{high, add(t, lost, third)}, reinterpreted(t, t->word, sum)};
}

/* The part of x*2/pi that counts for large x is the fraction of a turn of four quadrants: with the
 * mantissa as an integer m and x = m * 2^e, the digits of 2/pi with weights of 4 and more, after
 * the product, say nothing. What is needed are so many digits from place e-2 on. These words have
 * `zeros` in front, so that the place is never negative. */
static int32_t digits(weft__terms *t, int at, int zeros)
{
    const uint64_t before = at == 0 ? 0 : weft__two_over_pi[at - 1];
    return constant_bits(t, WEFT_U64, before << (64 - zeros) | weft__two_over_pi[at] >> zeros);
}

static int32_t word_64(weft__terms *t, uint64_t bits) { return constant_bits(t, WEFT_U64, bits); }

/* The 64 digits that begin in the first word, `by` places on; by is less than 64. */
static int32_t window(weft__terms *t, int32_t first, int32_t next, int32_t by)
{
    const int32_t rest = subtract(t, word_64(t, 64), by);
    return bits_or(t, shift_left(t, first, by), shift_right(t, next, rest));
}

/* r as a fraction of a quadrant, from -1/2 to 1/2: the nearest float in units of 2^-64, and the
 * rest, in the same units or, for f64, in units of 2^-117. */
typedef struct fraction {
    int32_t high, low, quadrant;
} fraction;

static int32_t quadrant_of(weft__terms *t, int32_t turn)
{
    const int32_t half = word_64(t, UINT64_C(1) << 61);
    return shift_right(t, add(t, turn, half), word_64(t, 62));
}

/* m has 24 bits; 96 digits are enough, and two words to choose them from. */
static fraction fraction_f32(weft__terms *t, int32_t bits)
{
    const int32_t field = shift_right(t, bits, word(t, 23));
    const int32_t kept = bits_or(t, bits_and(t, bits, word(t, 0x7fffff)), word(t, 0x800000));
    const int32_t m = converted(t, WEFT_U64, kept);
    const int32_t place = converted(t, WEFT_U64, subtract(t, field, word(t, 127 + 23 + 2 - 16)));
    const int32_t late = less(t, word_64(t, 63), place);
    const int32_t by = bits_and(t, place, word_64(t, 63));
    int32_t words[3];
    for (int k = 0; k < 3; k++)
        words[k] = choose(t, late, digits(t, k + 1, 16), digits(t, k, 16));
    const int32_t high = window(t, words[0], words[1], by);
    const int32_t low = window(t, words[1], words[2], by), half = word_64(t, 32);
    const int32_t carried = multiply(t, m, shift_right(t, low, half));
    const int32_t turn = add(t, multiply(t, m, high), shift_right(t, carried, half));
    const int32_t part = reinterpreted(t, WEFT_I64, shift_left(t, turn, word_64(t, 2)));
    const int32_t nearest = converted(t, WEFT_F32, part);
    const int32_t rest = subtract(t, part, converted(t, WEFT_I64, nearest));
    return (fraction){nearest, converted(t, WEFT_F32, rest),
                      converted(t, WEFT_U32, quadrant_of(t, turn))};
}

/* Four words of digits, from the one on in which `place` is. */
static void words_from(weft__terms *t, int32_t place, int32_t words[11])
{
    int count = 11;
    for (int step = 8; step > 0; step /= 2) {
        const int32_t bit = word_64(t, (uint64_t)step * 64);
        const int32_t skip = unequal(t, bits_and(t, place, bit), word_64(t, 0));
        for (int k = 0; k < count; k++) {
            const int32_t here = step == 8 ? digits(t, k, 32) : words[k];
            const int32_t there = step == 8 ? digits(t, k + 8, 32) : words[k + step];
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
static fraction fraction_f64(weft__terms *t, int32_t bits)
{
    const uint64_t implied = UINT64_C(1) << 52;
    const int32_t field = shift_right(t, bits, word_64(t, 52));
    const int32_t kept = bits_and(t, bits, word_64(t, implied - 1));
    const int32_t m = bits_or(t, kept, word_64(t, implied));
    const int32_t place = subtract(t, field, word_64(t, 1023 + 52 + 2 - 32));
    const int32_t by = bits_and(t, place, word_64(t, 63));
    int32_t words[11];
    words_from(t, place, words);
    for (int k = 0; k < 3; k++)
        words[k] = window(t, words[k], words[k + 1], by);
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

static double first_of(bool wide, double f32, double f64) { return wide ? f64 : f32; }

/* For |x| from near_limit on. The difference makes a NaN of infinity. */
static turned turned_far(weft__terms *t, int32_t x, int32_t size)
{
    const int32_t bits = reinterpreted(t, t->word, size);
    const fraction part = t->wide ? fraction_f64(t, bits) : fraction_f32(t, bits);
    const double first = first_of(t->wide, WEFT__HALF_PI_1) * 0x1p-64;
    const double second = first_of(t->wide, WEFT__HALF_PI_2) * 0x1p-64;
    const double unit = t->wide ? 0x1p-53 : 1;
    const weft__pair r = weft__product_exact(t, part.high, constant(t, first));
    int32_t low = fused(t, part.high, constant(t, second), r.low);
    low = fused(t, part.low, constant(t, second * unit), low);
    low = fused(t, part.low, constant(t, first * unit), low);
    const weft__pair sum = weft__sum_ordered(t, r.high, low);
    const int32_t checked = add(t, sum.low, subtract(t, x, x));
    const int32_t below = less(t, x, constant(t, 0));
    return (turned){{choose(t, below, negative(t, sum.high), sum.high),
                     choose(t, below, negative(t, checked), checked)},
                    choose(t, below, negative(t, part.quadrant), part.quadrant)};
}

/* Both reductions: the second is for rare arguments only. */
static turned turned_by(weft__terms *t, int32_t x)
{
    const turned near = turned_near(t, x);
    const int32_t size = magnitude(t, x), distant = less_equal(t, near_limit(t), size);
    const turned far = turned_far(t, x, size);
    return (turned){
        {choose(t, distant, far.r.high, near.r.high), choose(t, distant, far.r.low, near.r.low)},
        choose(t, distant, far.quadrant, near.quadrant)};
}

static weft__pair sin_of(weft__terms *t, weft__pair r, int32_t z)
{
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_sin, z);
    return (weft__pair){r.high, fused(t, multiply(t, r.high, z), rest, r.low)};
}

/* 1 - z/2 is exact in two parts. */
static weft__pair cos_of(weft__terms *t, weft__pair r, int32_t z)
{
    const int32_t one = constant(t, 1), half = constant(t, -0.5);
    const int32_t high = fused(t, half, z, one);
    const int32_t lost = fused(t, half, z, subtract(t, one, high));
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_cos, z);
    const int32_t low = fused(t, multiply(t, z, z), rest, lost);
    return (weft__pair){high, subtract(t, low, multiply(t, r.high, r.low))};
}

static weft__pair choose_pair(weft__terms *t, int32_t condition, weft__pair yes, weft__pair no)
{
    return (weft__pair){choose(t, condition, yes.high, no.high),
                        choose(t, condition, yes.low, no.low)};
}

/* x with its sign changed if bit 1 of `quadrant` is set. */
static int32_t turned_sign(weft__terms *t, int32_t x, int32_t quadrant)
{
    const int32_t shift = word(t, t->wide ? 62 : 30);
    const int32_t sign = bits_and(t, shift_left(t, quadrant, shift), sign_mask(t));
    return reinterpreted(t, t->value, bits_xor(t, reinterpreted(t, t->word, x), sign));
}

static int32_t is_odd(weft__terms *t, int32_t quadrant)
{
    return unequal(t, bits_and(t, quadrant, word(t, 1)), word(t, 0));
}

/* Zeros are left as they are, for their sign. */
static int32_t odd_at_zero(weft__terms *t, int32_t x, int32_t result)
{
    return choose(t, equal(t, x, constant(t, 0)), x, result);
}

int32_t weft__math_sin(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const turned by = turned_by(t, x);
    const int32_t z = multiply(t, by.r.high, by.r.high);
    const weft__pair sine = sin_of(t, by.r, z), cosine = cos_of(t, by.r, z);
    const weft__pair part = choose_pair(t, is_odd(t, by.quadrant), cosine, sine);
    return odd_at_zero(t, x, turned_sign(t, add(t, part.high, part.low), by.quadrant));
}

int32_t weft__math_cos(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const turned by = turned_by(t, x);
    const int32_t z = multiply(t, by.r.high, by.r.high);
    const weft__pair sine = sin_of(t, by.r, z), cosine = cos_of(t, by.r, z);
    const weft__pair part = choose_pair(t, is_odd(t, by.quadrant), sine, cosine);
    return turned_sign(t, add(t, part.high, part.low), add(t, by.quadrant, word(t, 1)));
}

/* sin/cos or -cos/sin, the quotient corrected by what its parts had lost. */
int32_t weft__math_tan(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const turned by = turned_by(t, x);
    const int32_t z = multiply(t, by.r.high, by.r.high), odd = is_odd(t, by.quadrant);
    const weft__pair sine = sin_of(t, by.r, z), cosine = cos_of(t, by.r, z);
    weft__pair over = choose_pair(t, odd, cosine, sine), under = choose_pair(t, odd, sine, cosine);
    over = weft__sum_ordered(t, over.high, over.low);
    under = weft__sum_ordered(t, under.high, under.low);
    const int32_t quotient = weft__quotient(t, over, under).high;
    const int32_t turn = shift_left(t, by.quadrant, word(t, 1));
    return odd_at_zero(t, x, turned_sign(t, quotient, turn));
}

/* The angle is a number of quadrants, from which `r` is at most an eighth of a circle away,
 * exactly.
 */
void weft__math_circle(weft__builder *builder, weft_dtype dtype, int32_t turn, int32_t results[2])
{
    const bool wide = dtype == WEFT_F64;
    weft__terms terms = {builder,
                         dtype,
                         wide ? WEFT_U64 : WEFT_U32,
                         wide ? WEFT_I64 : WEFT_I32,
                         wide,
                         builder->kernel.values_count};
    weft__terms *t = &terms;
    const int bits = wide ? 62 : 30; /* of a quadrant */
    const int32_t at = reinterpreted(t, t->word, turn), by = word(t, (uint64_t)bits);
    const int32_t half = word(t, UINT64_C(1) << (bits - 1));
    const int32_t quadrant = shift_right(t, add(t, at, half), by);
    const int32_t rest = subtract(t, at, shift_left(t, quadrant, by));
    const int32_t unit = constant(t, first_of(wide, WEFT__HALF_PI_1) * (wide ? 0x1p-62 : 0x1p-30));
    const int32_t r = multiply(t, converted(t, t->value, reinterpreted(t, t->number, rest)), unit);
    const int32_t z = multiply(t, r, r), odd = is_odd(t, quadrant);
    const weft__pair whole = {r, constant(t, 0)};
    const weft__pair sine = sin_of(t, whole, z), cosine = cos_of(t, whole, z);
    const int32_t s = add(t, sine.high, sine.low), c = add(t, cosine.high, cosine.low);
    const int32_t x = choose(t, odd, s, c), y = choose(t, odd, c, s);
    const int32_t two = word(t, 2), none = word(t, 0);
    const int32_t down = unequal(t, bits_and(t, quadrant, two), none);
    const int32_t left = unequal(t, bits_and(t, add(t, quadrant, word(t, 1)), two), none);
    results[0] = choose(t, left, negative(t, x), x);
    results[1] = choose(t, down, negative(t, y), y);
}
