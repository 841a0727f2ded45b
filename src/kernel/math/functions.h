/* The expansions of the functions, and what they share. */
#ifndef WEFT_KERNEL_MATH_FUNCTIONS_H
#define WEFT_KERNEL_MATH_FUNCTIONS_H

#include "kernel/math/coefficients.h"
#include "kernel/math/terms.h"

#define WEFT__MATH_EXPANSION(name, arity, result, ulp_f32, ulp_f64)                                \
    int32_t weft__math_##name(weft__terms *t, int32_t x, int32_t y);
WEFT__MATH_LIST(WEFT__MATH_EXPANSION)
#undef WEFT__MATH_EXPANSION

/* e^x / 4 for x >= 0 of which e^x / 2 may still be finite. */
weft__pair weft__exp_quarter(weft__terms *t, int32_t x);
/* e^x in two parts for x <= 0, but not below e^-80 or e^-700. */
weft__pair weft__exp_negative(weft__terms *t, int32_t x);
/* e^x; 0 or infinity if it is out of range, also if x.low is then NaN. */
int32_t weft__exp_pair(weft__terms *t, weft__pair x);
/* e^x as a number close to 1 and two powers of two, for |x| below 1400 (f64). */
weft__pair weft__exp_split(weft__terms *t, weft__pair x, weft__pair *powers);
/* log(x * 2^doubled), where doubled is a float, or -1: none. x.low is at most an ulp of x.high. */
int32_t weft__log_pair(weft__terms *t, weft__pair x, int32_t doubled);
/* log(x) in two parts, for positive finite x. */
weft__pair weft__log_precise(weft__terms *t, int32_t x);

#endif
