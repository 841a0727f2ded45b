/* What the functions should give: by MPFR where it was found, else by the C library's long double.
 */
#ifndef WEFT_TESTS_MATH_ORACLE_H
#define WEFT_TESTS_MATH_ORACLE_H

#include "kernel/math.h"

#include <float.h>
#include <math.h>
#ifdef WEFT_TEST_MPFR
#include <mpfr.h>
#endif

/* Whether errors of f64 can be told: the reference must have some bits more. */
#ifdef WEFT_TEST_MPFR
#define ORACLE_NAME "MPFR"
enum { ORACLE_WIDE = 1 };
#else
#define ORACLE_NAME "the C library"
enum { ORACLE_WIDE = LDBL_MANT_DIG >= 64 };
#endif

static inline double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/* y's sign, or the sign of a zero that fmod gave. */
static inline long double floored(long double rest, long double y)
{
    if (rest == 0)
        return copysignl(rest, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline long double log_sum(long double x, long double y)
{
    if (x == y)
        return x + logl(2);
    return fmaxl(x, y) + log1pl(expl(-fabsl(x - y)));
}

#ifdef WEFT_TEST_MPFR
static inline void floored_mpfr(mpfr_t r, const mpfr_t a, const mpfr_t b)
{
    mpfr_fmod(r, a, b, MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_copysign(r, r, b, MPFR_RNDN);
    else if (!mpfr_nan_p(r) && mpfr_signbit(r) != mpfr_signbit(b))
        mpfr_add(r, r, b, MPFR_RNDN);
}

static inline void log_sum_mpfr(mpfr_t r, const mpfr_t a, const mpfr_t b)
{
    const bool same = mpfr_equal_p(a, b) != 0;
    mpfr_t part;
    mpfr_init2(part, 100);
    mpfr_sub(part, a, b, MPFR_RNDN);
    if (same)
        mpfr_set_zero(part, 1);
    mpfr_abs(part, part, MPFR_RNDN);
    mpfr_neg(part, part, MPFR_RNDN);
    mpfr_exp(part, part, MPFR_RNDN);
    mpfr_log1p(part, part, MPFR_RNDN);
    if (mpfr_nan_p(a) || mpfr_nan_p(b))
        mpfr_set_nan(r);
    else
        mpfr_max(r, a, b, MPFR_RNDN);
    mpfr_add(r, r, part, MPFR_RNDN);
    mpfr_clear(part);
}
#endif

/* One row for each function: its name, then what it is of two arguments. The functions of MPFR are
 * called on `r`, with the arguments in a and b. */
#define ORACLES(X)                                                                                 \
    X(square, x *x, mpfr_sqr(r, a, MPFR_RNDN))                                                     \
    X(exp, F(exp)(x), mpfr_exp(r, a, MPFR_RNDN))                                                   \
    X(exp2, F(exp2)(x), mpfr_exp2(r, a, MPFR_RNDN))                                                \
    X(expm1, F(expm1)(x), mpfr_expm1(r, a, MPFR_RNDN))                                             \
    X(log, F(log)(x), mpfr_log(r, a, MPFR_RNDN))                                                   \
    X(log2, F(log2)(x), mpfr_log2(r, a, MPFR_RNDN))                                                \
    X(log10, F(log10)(x), mpfr_log10(r, a, MPFR_RNDN))                                             \
    X(log1p, F(log1p)(x), mpfr_log1p(r, a, MPFR_RNDN))                                             \
    X(sin, F(sin)(x), mpfr_sin(r, a, MPFR_RNDN))                                                   \
    X(cos, F(cos)(x), mpfr_cos(r, a, MPFR_RNDN))                                                   \
    X(tan, F(tan)(x), mpfr_tan(r, a, MPFR_RNDN))                                                   \
    X(asin, F(asin)(x), mpfr_asin(r, a, MPFR_RNDN))                                                \
    X(acos, F(acos)(x), mpfr_acos(r, a, MPFR_RNDN))                                                \
    X(atan, F(atan)(x), mpfr_atan(r, a, MPFR_RNDN))                                                \
    X(sinh, F(sinh)(x), mpfr_sinh(r, a, MPFR_RNDN))                                                \
    X(cosh, F(cosh)(x), mpfr_cosh(r, a, MPFR_RNDN))                                                \
    X(tanh, F(tanh)(x), mpfr_tanh(r, a, MPFR_RNDN))                                                \
    X(asinh, F(asinh)(x), mpfr_asinh(r, a, MPFR_RNDN))                                             \
    X(acosh, F(acosh)(x), mpfr_acosh(r, a, MPFR_RNDN))                                             \
    X(atanh, F(atanh)(x), mpfr_atanh(r, a, MPFR_RNDN))                                             \
    X(rsqrt, 1 / F(sqrt)(x), (mpfr_sqrt(r, a, MPFR_RNDN), mpfr_ui_div(r, 1, r, MPFR_RNDN)))        \
    X(cbrt, F(cbrt)(x), mpfr_cbrt(r, a, MPFR_RNDN))                                                \
    X(erf, F(erf)(x), mpfr_erf(r, a, MPFR_RNDN))                                                   \
    X(tgamma, F(tgamma)(x), mpfr_gamma(r, a, MPFR_RNDN))                                           \
    X(lgamma, F(lgamma)(x), mpfr_lgamma(r, &(int){0}, a, MPFR_RNDN))                               \
    X(pow, F(pow)(x, y), mpfr_pow(r, a, b, MPFR_RNDN))                                             \
    X(atan2, F(atan2)(x, y), mpfr_atan2(r, a, b, MPFR_RNDN))                                       \
    X(hypot, F(hypot)(x, y), mpfr_hypot(r, a, b, MPFR_RNDN))                                       \
    X(fmod, F(fmod)(x, y), mpfr_fmod(r, a, b, MPFR_RNDN))                                          \
    X(logaddexp, log_sum(x, y), log_sum_mpfr(r, a, b))                                             \
    X(remainder, floored(F(fmod)(x, y), y), floored_mpfr(r, a, b))

/* By the C library's functions of double: for f32, and fast. */
static inline double oracle_fast(weft__math_function function, double x, double y)
{
    switch (function) {
#define F(name) name
#define CASE(name, c, mpfr)                                                                        \
    case WEFT__MATH_##name:                                                                        \
        return (double)(c);
        ORACLES(CASE)
#undef CASE
#undef F
    case WEFT__MATH_sign:
        return sign_of(x);
    case WEFT__MATH_copysign:
        return copysign(x, y);
    default:
        return NAN;
    }
}

/* The exact result to at least 60 bits. */
#ifdef WEFT_TEST_MPFR
static inline long double oracle_exact(weft__math_function function, double x, double y)
{
    static _Thread_local bool ready;
    static _Thread_local mpfr_t a, b, r;
    if (!ready) {
        mpfr_inits2(100, a, b, r, (mpfr_ptr)0);
        ready = true;
    }
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    switch (function) {
#define CASE(name, c, mpfr)                                                                        \
    case WEFT__MATH_##name:                                                                        \
        mpfr;                                                                                      \
        return mpfr_get_ld(r, MPFR_RNDN);
        ORACLES(CASE)
#undef CASE
    default:
        return oracle_fast(function, x, y);
    }
}
#else
static inline long double oracle_exact(weft__math_function function, double x_double,
                                       double y_double)
{
    const long double x = x_double, y = y_double;
    switch (function) {
#define F(name) name##l
#define CASE(name, c, mpfr)                                                                        \
    case WEFT__MATH_##name:                                                                        \
        return c;
        ORACLES(CASE)
#undef CASE
#undef F
    default:
        return oracle_fast(function, x_double, y_double);
    }
}
#endif

/* The bits of a float type, the exponent of its smallest number, and the one that is too large. */
struct float_format {
    int bits, least, most;
};

static inline struct float_format format_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F16:
        return (struct float_format){11, -24, 16};
    case WEFT_BF16:
        return (struct float_format){8, -133, 128};
    case WEFT_F32:
    case WEFT_C64:
        return (struct float_format){24, -149, 128};
    default:
        return (struct float_format){53, -1074, 1024};
    }
}

/* A unit in the last place of a number of this magnitude, as a power of two. */
static inline int unit_of_size(long double size, struct float_format format)
{
    int exponent = format.least;
    if (size != 0 && ilogbl(size) - (format.bits - 1) > format.least)
        exponent = ilogbl(size) - (format.bits - 1);
    return exponent > format.most - format.bits ? format.most - format.bits : exponent;
}

/* How far `got` is from `exact`, in units in the last place of `exact`. Infinity is taken for the
 * power of two after the largest number. */
static inline double oracle_ulps(long double got, long double exact, weft_dtype dtype)
{
    const struct float_format format = format_of(dtype);
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    const long double limit = ldexpl(1, format.most);
    if (fabsl(exact) >= limit || isinf(got)) {
        got = isinf(got) ? copysignl(limit, got) : got;
        exact = fabsl(exact) >= limit ? copysignl(limit, exact) : exact;
    }
    return (double)fabsl(ldexpl(got - exact, -unit_of_size(fabsl(exact), format)));
}

/* What the table promises. f16 and bf16 are rounded from an f32 with that error. */
static inline double oracle_bound(weft__math_function function, weft_dtype dtype)
{
    const double narrow = (double)weft__math_functions[function].ulp[0];
    if (dtype == WEFT_F16 || dtype == WEFT_BF16)
        return 0.5 + narrow * (dtype == WEFT_F16 ? 0x1p-13 : 0x1p-16);
    return dtype == WEFT_F64 ? (double)weft__math_functions[function].ulp[1] : narrow;
}

/* The error as the bounds of math.h count it: where a result is a difference of larger terms, it is
 * measured by those. */
static inline double oracle_error(weft__math_function function, long double got, long double exact,
                                  double x, double y, weft_dtype dtype)
{
    const double ulps = oracle_ulps(got, exact, dtype);
    long double most = fabsl(exact);
    if (function == WEFT__MATH_logaddexp)
        most = fmaxl(most, fmaxl(fabsl(x), fabsl(y)));
    else if (function == WEFT__MATH_lgamma && dtype == WEFT_F64 && x < -2)
        most = fmaxl(most, fmaxl(1, fabsl(lgammal(-x))));
    if (!isfinite(ulps) || isnan(exact) || exact == 0 || isinf(most) || most == fabsl(exact))
        return ulps;
    return ldexp(ulps, ilogbl(exact) - ilogbl(most));
}

#endif
