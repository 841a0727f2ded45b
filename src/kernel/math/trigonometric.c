/* sin, cos, tan. x is split into k*pi/2 + r; k modulo 4 says which function of r the result is. */
#include "kernel/math/functions.h"

/* sin(r) is r.high - lacks, and cos(r) is 1 + r.high*lean. */
typedef struct wave {
    int32_t lacks, lean;
} wave;

/* `excess` may be -1: none. The sine is corrected by it as if its slope were 1, the cosine as if it
 * were -r.high: that is close enough. */
static wave wave_of(weft__terms *t, const weft__turned *r)
{
    const int32_t z = multiply(t, r->high, r->high);
    const int32_t rest = weft__polynomial_of(t, &weft__polynomial_sin, z);
    const int32_t bend = weft__polynomial_of(t, &weft__polynomial_cos, z);
    const int32_t cube = multiply(t, r->high, z);
    const int32_t curve = fused(t, bend, z, constant(t, -0.5));
    if (r->excess < 0)
        return (wave){multiply(t, cube, rest), multiply(t, r->high, curve)};
    return (wave){fused(t, cube, rest, r->excess), fused(t, r->high, curve, r->excess)};
}

static int32_t sine_of(weft__terms *t, const weft__turned *r, const wave *of)
{
    return subtract(t, r->high, of->lacks);
}

static int32_t cosine_of(weft__terms *t, const weft__turned *r, const wave *of)
{
    return fused(t, r->high, of->lean, constant(t, 1));
}

static int32_t has_bit(weft__terms *t, int32_t quadrant, uint64_t bit)
{
    return unequal(t, bits_and(t, quadrant, word(t, bit)), word(t, 0));
}

/* x with its sign changed if this bit of `quadrant` is set. */
static int32_t turned_sign(weft__terms *t, int32_t x, int32_t quadrant, uint64_t bit)
{
    return choose(t, has_bit(t, quadrant, bit), negative(t, x), x);
}

int32_t weft__math_sin(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const weft__turned r = weft__turn(t, x, false);
    const wave of = wave_of(t, &r);
    const int32_t sine = sine_of(t, &r, &of), cosine = cosine_of(t, &r, &of);
    return turned_sign(t, choose(t, has_bit(t, r.quadrant, 1), cosine, sine), r.quadrant, 2);
}

int32_t weft__math_cos(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const weft__turned r = weft__turn(t, x, false);
    const wave of = wave_of(t, &r);
    const int32_t sine = sine_of(t, &r, &of), cosine = cosine_of(t, &r, &of);
    const int32_t next = add(t, r.quadrant, word(t, 1));
    return turned_sign(t, choose(t, has_bit(t, r.quadrant, 1), sine, cosine), next, 2);
}

static weft__circular circular_of(weft__terms *t, const weft__turned *r, const wave *of)
{
    const int32_t sine = sine_of(t, r, of), cosine = cosine_of(t, r, of);
    const int32_t odd = has_bit(t, r->quadrant, 1), next = add(t, r->quadrant, word(t, 1));
    const int32_t over = turned_sign(t, choose(t, odd, cosine, sine), r->quadrant, 2);
    const int32_t under = turned_sign(t, choose(t, odd, sine, cosine), next, 2);
    return (weft__circular){over, under, -1};
}

weft__circular weft__sin_cos(weft__terms *t, int32_t x, bool by_log_2)
{
    const weft__turned r = weft__turn(t, x, by_log_2);
    const wave of = wave_of(t, &r);
    weft__circular result = circular_of(t, &r, &of);
    const int32_t first = equal(t, bits_and(t, r.quadrant, word(t, 3)), word(t, 0));
    const int32_t near = magnitude(t, multiply(t, r.high, of.lean)); /* not -0 */
    result.lacks = choose(t, first, near, subtract(t, constant(t, 1), result.cosine));
    return result;
}

static weft__pair choose_pair(weft__terms *t, int32_t condition, weft__pair yes, weft__pair no)
{
    return (weft__pair){choose(t, condition, yes.high, no.high),
                        choose(t, condition, yes.low, no.low)};
}

/* sin/cos or -cos/sin, the quotient corrected by what its parts had lost. */
int32_t weft__math_tan(weft__terms *t, int32_t x, int32_t y)
{
    (void)y;
    const weft__turned r = weft__turn(t, x, false);
    const wave of = wave_of(t, &r);
    const int32_t odd = has_bit(t, r.quadrant, 1), one = constant(t, 1);
    const weft__pair sine = weft__sum_ordered(t, r.high, negative(t, of.lacks));
    const int32_t rounded_off = cosine_of(t, &r, &of);
    const int32_t rest = fused(t, r.high, of.lean, subtract(t, one, rounded_off));
    const weft__pair cosine = {rounded_off, rest};
    const weft__pair over = choose_pair(t, odd, cosine, sine);
    const weft__pair under = choose_pair(t, odd, sine, cosine);
    const int32_t quotient = weft__quotient(t, over, under).high;
    const int32_t result = turned_sign(t, quotient, r.quadrant, 1);
    return choose(t, equal(t, x, constant(t, 0)), x, result);
}

/* The angle is a number of quadrants, from which `r` is at most an eighth of a circle away,
 * exactly.
 */
void weft__math_circle(weft__builder *builder, weft_dtype dtype, int32_t turn, int32_t results[2])
{
    weft__terms terms = weft__terms_of(builder, dtype), *t = &terms;
    const int bits = t->wide ? 62 : 30; /* of a quadrant */
    const int32_t at = reinterpreted(t, t->word, turn), by = word(t, (uint64_t)bits);
    const int32_t half = word(t, UINT64_C(1) << (bits - 1));
    const int32_t quadrant = shift_right(t, add(t, at, half), by);
    const int32_t rest = subtract(t, at, shift_left(t, quadrant, by));
    const int32_t unit = constant_of(t, 0x1.921fb6p-30, 0x1.921fb54442d18p-62); /* of pi/2 */
    const int32_t angle = converted(t, t->value, reinterpreted(t, t->number, rest));
    const weft__turned r = {multiply(t, angle, unit), -1, quadrant};
    const wave of = wave_of(t, &r);
    const weft__circular result = circular_of(t, &r, &of);
    results[0] = result.cosine;
    results[1] = result.sine;
}
