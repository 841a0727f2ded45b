/* Polynomials and digits for the functions, made by scripts/math/coefficients.py. */
#ifndef WEFT_KERNEL_MATH_COEFFICIENTS_H
#define WEFT_KERNEL_MATH_COEFFICIENTS_H

#include "kernel/math/terms.h"

/* (e^r - 1 - r) / r^2, for arguments from -0.348 to 0.348. */
extern const weft__polynomial weft__polynomial_exp;
/* the same, for more, for arguments from -0.348 to 0.348. */
extern const weft__polynomial weft__polynomial_expm1;
/* (2^r - 1) / r, for arguments from -0.5 to 0.5. */
extern const weft__polynomial weft__polynomial_exp2;
/* (log(1 + r) - r + r^2/2) / r^3, for arguments from -0.2929 to 0.4142. */
extern const weft__polynomial weft__polynomial_log;
/* (r - sin(r)) / r^3, in z = r^2, for arguments from 0 to 0.686. */
extern const weft__polynomial weft__polynomial_sin;
/* (cos(r) - 1 + z/2) / z^2, in z = r^2, for arguments from 0 to 0.686. */
extern const weft__polynomial weft__polynomial_cos;
/* (asin(s) - s) / s^3, in z = s^2, for arguments from 0 to 0.25. */
extern const weft__polynomial weft__polynomial_asin;
/* (atan(s) - s) / s^3, in z = s^2, for arguments from 0 to 1. */
extern const weft__polynomial weft__polynomial_atan;
/* (sinh(s) - s) / s^3, in z = s^2, for arguments from 0 to 1. */
extern const weft__polynomial weft__polynomial_sinh;
/* (tanh(s) - s) / s^3, in z = s^2, for arguments from 0 to 0.3026. */
extern const weft__polynomial weft__polynomial_tanh;
/* (atanh(s) - s - s^3/3) / s^5, in z = s^2, for arguments from 0 to 0.0295. */
extern const weft__polynomial weft__polynomial_atanh;
/* erf(s) / s - 1, in z = s^2, for arguments from 0 to 1. */
extern const weft__polynomial weft__polynomial_erf;
/* log(erfc(1 + u)), for arguments from 0 to 3. */
extern const weft__polynomial weft__polynomial_log_erfc_f32;
/* the same, for arguments from 0 to 5. */
extern const weft__polynomial weft__polynomial_log_erfc_f64;
/* gamma(1.5 + u), for arguments from -0.5 to 0.5. */
extern const weft__polynomial weft__polynomial_gamma;
/* gamma(x) / (x^(x - 1/2) * e^-x), in w = 1/x, for arguments from 0.001 to 0.3333. */
extern const weft__polynomial weft__polynomial_stirling;
/* lgamma(2 + u) / (u * (u + 1)), for arguments from -1 to 1. */
extern const weft__polynomial weft__polynomial_lgamma;
/* log of stirling, less log(2*pi)/2, over w, in w^2, for arguments from 1e-05 to 0.1111. */
extern const weft__polynomial weft__polynomial_log_stirling;
/* (sin(pi*r)/pi - r) / r^3, in z = r^2, for arguments from 0 to 0.25. */
extern const weft__polynomial weft__polynomial_sin_pi;

/* Numbers as sums of parts, for f32 and for f64. Those called SHORT have a first part that is exact
 * when multiplied by an exponent. QUARTER, which is pi/2, and QUARTER_OF_2, which is pi/2 over
 * log(2), have positive parts. */
#define WEFT__LN2_1 0x1.62e43p-1, 0x1.62e42fefa39efp-1
#define WEFT__LN2_2 -0x1.05c61p-29, 0x1.abc9e3b39803fp-56
#define WEFT__LN2_SHORT_1 0x1.62e4p-1, 0x1.62e42fefa4p-1
#define WEFT__LN2_SHORT_2 0x1.7f7d1cp-20, -0x1.8432a1b0e2634p-43
#define WEFT__LOG2_E_1 0x1.715476p+0, 0x1.71547652b82fep+0
#define WEFT__LOG2_E_2 0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56
#define WEFT__LOG10_E_1 0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2
#define WEFT__LOG10_E_2 -0x1.5b235ep-27, 0x1.95355baaafad3p-57
#define WEFT__LOG10_2_SHORT_1 0x1.344p-2, 0x1.34413509f8p-2
#define WEFT__LOG10_2_SHORT_2 0x1.3509f8p-18, -0x1.80433b83b532ap-44
#define WEFT__THIRD_1 0x1.555556p-2, 0x1.5555555555555p-2
#define WEFT__THIRD_2 -0x1.555556p-27, 0x1.5555555555555p-56
#define WEFT__PI_1 0x1.921fb6p+1, 0x1.921fb54442d18p+1
#define WEFT__PI_2 -0x1.777a5cp-24, 0x1.1a62633145c07p-53
#define WEFT__HALF_PI_1 0x1.921fb6p+0, 0x1.921fb54442d18p+0
#define WEFT__HALF_PI_2 -0x1.777a5cp-25, 0x1.1a62633145c07p-54
#define WEFT__QUARTER_1 0x1.921fb4p+0, 0x1.921fb54442d18p+0
#define WEFT__QUARTER_2 0x1.4442dp-24, 0x1.1a62633145c06p-54
#define WEFT__QUARTER_3 0x1.846988p-48, 0x1.c1cd129024e08p-107
#define WEFT__QUARTER_OF_2_1 0x1.22123p+1, 0x1.22123045b5debp+1
#define WEFT__QUARTER_OF_2_2 0x1.16d77ap-25, 0x1.38a7319d0580dp-52
#define WEFT__QUARTER_OF_2_3 0x1.ce29ccp-50, 0x1.92e036d2e5eb8p-105

/* The binary digits of 2/pi, and of that times log(2), 64 in each word. */
extern const uint64_t weft__two_over_pi[20], weft__two_log_2_over_pi[20];

#endif
