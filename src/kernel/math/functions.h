/* The expansions of the functions, and what they share. */
#ifndef WEFT_KERNEL_MATH_FUNCTIONS_H
#define WEFT_KERNEL_MATH_FUNCTIONS_H

#include "kernel/math/coefficients.h"
#include "kernel/math/terms.h"

#define WEFT__MATH_EXPANSION(name, arity, result, ulp_f32, ulp_f64)                                \
    int32_t weft__math_##name(weft__terms *t, int32_t x, int32_t y);
WEFT__MATH_LIST(WEFT__MATH_EXPANSION)
#undef WEFT__MATH_EXPANSION

/* A complex number. */
typedef struct weft__complex {
    int32_t real, imaginary;
} weft__complex;

#define WEFT__COMPLEX_EXPANSION(name, arity, result, ulp_c64, ulp_c128)                            \
    weft__complex weft__complex_##name(weft__terms *t, weft__complex x, weft__complex y);
WEFT__COMPLEX_LIST(WEFT__COMPLEX_EXPANSION)
#undef WEFT__COMPLEX_EXPANSION

/* e^x / 4 for x >= 0 of which e^x / 2 may still be finite. */
weft__pair weft__exp_quarter(weft__terms *t, int32_t x);
/* e^x in two parts for x <= 0, but not below e^-80 or e^-700. */
weft__pair weft__exp_negative(weft__terms *t, int32_t x);
/* e^x; 0 or infinity if it is out of range, also if x.low is then NaN. */
int32_t weft__exp_pair(weft__terms *t, weft__pair x);
/* e^x as a number close to 1 and two powers of two, for |x| below 1400 (f64). */
weft__pair weft__exp_split(weft__terms *t, weft__pair x, weft__pair *powers);
/* e^x is the result times the square of the first power and the second, for |x| below 230 or 1700.
 */
int32_t weft__exp_thirds(weft__terms *t, weft__pair x, int32_t powers[2]);
/* log(x * 2^doubled), where doubled is a float, or -1: none. x.low is at most an ulp of x.high. */
int32_t weft__log_pair(weft__terms *t, weft__pair x, int32_t doubled);
/* log(x) in two parts, for positive finite x. */
weft__pair weft__log_precise(weft__terms *t, int32_t x);

/* An angle less k*pi/2: it is high - excess, and the last two bits of `quadrant` are those of k. */
typedef struct weft__turned {
    int32_t high, excess, quadrant;
} weft__turned;

/* Of the angle x, or x*log(2). Large x are reduced by values that only three selects use. */
weft__turned weft__turn(weft__terms *t, int32_t x, bool by_log_2);

/* The sine and the cosine of an angle, and 1 - cosine without cancellation. */
typedef struct weft__circular {
    int32_t sine, cosine, lacks;
} weft__circular;

weft__circular weft__sin_cos(weft__terms *t, int32_t x, bool by_log_2);

/* A real number as a product that may be much larger than a float: value * power[0]^2 * power[1].
 */
typedef struct weft__large {
    int32_t value, power[2];
} weft__large;

/* e^x, or 2^x, for all x: clamped to where a product with any float other than 0 is 0 or infinite.
 */
weft__large weft__exp_large(weft__terms *t, int32_t x, bool by_log_2);
/* x times that, rounded once unless it is subnormal. */
int32_t weft__times_large(weft__terms *t, int32_t x, const weft__large *by);

/* sinh(|x|) and cosh(x); x is not above 89 or 709. */
weft__pair weft__sinh_cosh(weft__terms *t, int32_t size);

/* A power of two for numbers of which `most` is the largest magnitude, so that their squares
 * neither overflow nor lose bits: `down` if it is large, `up` if it is small, else 1. */
typedef struct weft__scaling {
    int32_t large, small; /* whether it is */
    int32_t by;
} weft__scaling;

#define WEFT__SCALE_DOWN 0x1p-100, 0x1p-600
#define WEFT__SCALE_UP 0x1p100, 0x1p600

weft__scaling weft__scaling_of(weft__terms *t, int32_t most);
/* The first, the second or the third, by what the scaling is: down, up, or none. */
int32_t weft__scaled_choice(weft__terms *t, const weft__scaling *scaling, int32_t down, int32_t up,
                            int32_t none);

/* The same expansion in f64. */
static inline weft__terms widened(const weft__terms *t)
{
    weft__terms wide = *t;
    wide.value = WEFT_F64;
    wide.word = WEFT_U64;
    wide.number = WEFT_I64;
    wide.wide = true;
    return wide;
}

/* What functions of complex numbers share. */
static inline int32_t is_zero(weft__terms *t, int32_t x) { return equal(t, x, constant(t, 0)); }

static inline int32_t is_infinite(weft__terms *t, int32_t size)
{
    return equal(t, size, infinity(t));
}

#endif
