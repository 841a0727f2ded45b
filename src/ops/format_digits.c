/* Decimal digits of binary floats: shortest that round-trip, or a number of exact ones. */
#include "ops/format.h"
#include <assert.h>
#include <string.h>

/* Digits come from exact integer arithmetic: the number is value / scale, and what lies within
 * margin / scale of it rounds to it. Each step multiplies value and margins by ten; the quotient is
 * a digit. */

/* The largest is the 1 / 5e-324 of an f64, about 2^1085. */
enum { LIMBS = 40 };

typedef struct natural {
    int count; /* limbs in use, the highest of them not zero */
    uint32_t limb[LIMBS];
} natural;

static void multiply(natural *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (int k = 0; k < n->count; k++) {
        carry += (uint64_t)n->limb[k] * factor;
        n->limb[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        assert(n->count < LIMBS);
        n->limb[n->count++] = (uint32_t)carry;
    }
}

static void multiply_power_of_ten(natural *n, int power)
{
    for (; power >= 9; power -= 9)
        multiply(n, 1000000000);
    for (; power > 0; power--)
        multiply(n, 10);
}

static natural shifted(uint64_t x, int shift)
{
    natural n = {.count = shift / 32 + 2};
    assert(n.count <= LIMBS);
    n.limb[n.count - 2] = (uint32_t)x;
    n.limb[n.count - 1] = (uint32_t)(x >> 32);
    while (n.count > 0 && n.limb[n.count - 1] == 0)
        n.count--;
    multiply(&n, (uint32_t)1 << shift % 32);
    return n;
}

static int compare(const natural *a, const natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int k = a->count - 1; k >= 0; k--)
        if (a->limb[k] != b->limb[k])
            return a->limb[k] < b->limb[k] ? -1 : 1;
    return 0;
}

/* Where a + b lies from c. */
static int compare_sum(const natural *a, const natural *b, const natural *c)
{
    const natural *longer = a->count > b->count ? a : b, *other = longer == a ? b : a;
    natural sum = *longer;
    uint64_t carry = 0;
    for (int k = 0; k < sum.count; k++) {
        carry += (uint64_t)sum.limb[k] + (k < other->count ? other->limb[k] : 0);
        sum.limb[k] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        assert(sum.count < LIMBS);
        sum.limb[sum.count++] = (uint32_t)carry;
    }
    return compare(&sum, c);
}

static void subtract(natural *a, const natural *b)
{
    int64_t borrow = 0;
    for (int k = 0; k < a->count; k++) {
        borrow += (int64_t)a->limb[k] - (k < b->count ? (int64_t)b->limb[k] : 0);
        a->limb[k] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

typedef struct generator {
    natural value, scale, below, above; /* below, above: the margins */
    bool even;                          /* then the ends of the margins round to the number too */
    bool low, high; /* the digits so far, or with the last one more, are enough */
} generator;

/* Makes value / scale the number, and then, divided by a power of ten, less than one and at least a
 * tenth; returns that power. */
static int generator_begin(generator *g, const weft__number *number)
{
    int up = number->exponent > 0 ? number->exponent : 0;
    int down = number->exponent < 0 ? -number->exponent : 0;
    int uneven = number->uneven ? 1 : 0, log2 = number->exponent - 1;
    g->value = shifted(number->mantissa, up + 1 + uneven);
    g->scale = shifted(1, down + 1 + uneven);
    g->below = shifted(1, up);
    g->above = shifted(1, up + uneven);
    g->even = number->mantissa % 2 == 0;
    for (uint64_t rest = number->mantissa; rest; rest >>= 1)
        log2++;
    int power = (int)((double)log2 * 0.30102999566398120) - 1; /* too small, by up to three */
    if (power >= 0) {
        multiply_power_of_ten(&g->scale, power);
    } else {
        multiply_power_of_ten(&g->value, -power);
        multiply_power_of_ten(&g->below, -power);
        multiply_power_of_ten(&g->above, -power);
    }
    for (; compare(&g->value, &g->scale) >= 0; power++)
        multiply(&g->scale, 10);
    return power;
}

static int generator_next(generator *g)
{
    int digit = 0;
    multiply(&g->value, 10);
    multiply(&g->below, 10);
    multiply(&g->above, 10);
    for (; compare(&g->value, &g->scale) >= 0; digit++)
        subtract(&g->value, &g->scale);
    int to_below = compare(&g->value, &g->below);
    int to_above = compare_sum(&g->value, &g->above, &g->scale);
    g->low = g->even ? to_below <= 0 : to_below < 0;
    g->high = g->even ? to_above >= 0 : to_above > 0;
    return digit;
}

/* Whether the last digit is to be one more. */
static bool generator_rounds_up(const generator *g, int digit)
{
    if (g->low != g->high)
        return g->high;
    int to_half = compare_sum(&g->value, &g->value, &g->scale);
    return to_half > 0 || (to_half == 0 && digit % 2 != 0);
}

static void add_one(weft__digits *digits)
{
    while (digits->count > 0 && digits->digit[digits->count - 1] == '9')
        digits->count--;
    if (digits->count > 0) {
        digits->digit[digits->count - 1]++;
    } else {
        digits->digit[digits->count++] = '1';
        digits->exponent++;
    }
}

weft__digits weft__digits_of(const weft__number *number, weft__places places)
{
    weft__digits digits = {.count = 1, .digit = "0"};
    generator g;
    bool enough = false;
    int digit = 0;
    if (number->kind != WEFT__NUMBER_FINITE)
        return digits;
    digits.exponent = generator_begin(&g, number) - 1;
    int before = places.from_first_digit ? 1 : digits.exponent + 1; /* digits before the point */
    for (digits.count = 0; !enough && digits.count < WEFT__DIGITS_MAX;) {
        digit = generator_next(&g);
        digits.digit[digits.count++] = (char)('0' + digit);
        int after = digits.count - before;
        enough = ((g.low || g.high) && after >= places.least) || after >= places.most;
    }
    if (generator_rounds_up(&g, digit))
        add_one(&digits);
    return digits;
}
