/* The math functions at special values, where one result is right: compared bit by bit. */
#include "math/expand.h"
#include "math/samples.h"
#include "support/check.h"

#include <stdio.h>

#define INF INFINITY
#define ANY 12.5 /* an argument that does not matter */

struct value {
    weft__math_function function;
    double x, y, expected;
};

#define V1(name, x, expected)                                                                      \
    {                                                                                              \
        WEFT__MATH_##name, x, 0, expected                                                          \
    }
#define V2(name, x, y, expected)                                                                   \
    {                                                                                              \
        WEFT__MATH_##name, x, y, expected                                                          \
    }
/* An odd function at its usual points. */
#define ODD(name, at_inf)                                                                          \
    V1(name, 0.0, 0.0), V1(name, -0.0, -0.0), V1(name, INF, at_inf), V1(name, -INF, -(at_inf)),    \
        V1(name, NAN, NAN)

/* clang-format off */
static const struct value values[] = {
    V1(square, -3, 9), V1(square, -INF, INF), V1(square, NAN, NAN), V1(square, -0.0, 0.0),
    V1(sign, -3, -1), V1(sign, 4, 1), V1(sign, 0.0, 0.0), V1(sign, -0.0, -0.0), V1(sign, -INF, -1),
    V1(sign, NAN, NAN),
    V1(isnan, NAN, 1), V1(isnan, INF, 0), V1(isnan, 1, 0), V1(isinf, -INF, 1), V1(isinf, NAN, 0),
    V1(isinf, 1, 0),
    V1(isfinite, 1, 1), V1(isfinite, -INF, 0), V1(isfinite, NAN, 0),
    V1(signbit, -0.0, 1), V1(signbit, 0.0, 0), V1(signbit, -INF, 1), V1(signbit, 2, 0),
    V1(signbit, NAN, 0),
    V1(exp, 0.0, 1), V1(exp, -0.0, 1), V1(exp, INF, INF), V1(exp, -INF, 0.0), V1(exp, NAN, NAN),
    V1(exp, 800, INF), V1(exp, -800, 0.0),
    V1(exp2, 0.0, 1), V1(exp2, 10, 1024), V1(exp2, -3, 0.125), V1(exp2, -149, 0x1p-149),
    V1(exp2, 127, 0x1p127), V1(exp2, -126, 0x1p-126), V1(exp2, INF, INF), V1(exp2, -INF, 0.0),
    V1(exp2, NAN, NAN), V1(exp2, 1e30, INF), V1(exp2, -1e30, 0.0),
    V1(expm1, 0.0, 0.0), V1(expm1, -0.0, -0.0), V1(expm1, INF, INF), V1(expm1, -INF, -1),
    V1(expm1, NAN, NAN), V1(expm1, -100, -1), V1(expm1, 0x1p-149, 0x1p-149),
    V1(expm1, -0x1p-140, -0x1p-140),
    V1(log, 1, 0.0), V1(log, 0.0, -INF), V1(log, -0.0, -INF), V1(log, -1, NAN), V1(log, INF, INF),
    V1(log, -INF, NAN), V1(log, NAN, NAN),
    V1(log2, 1, 0.0), V1(log2, 8, 3), V1(log2, 0x1p-149, -149), V1(log2, 0x1p127, 127),
    V1(log2, 0.0, -INF), V1(log2, -2, NAN), V1(log2, INF, INF), V1(log2, NAN, NAN),
    V1(log10, 1, 0.0), V1(log10, 10, 1), V1(log10, 1000, 3), V1(log10, 1e10, 10),
    V1(log10, -0.0, -INF), V1(log10, -2, NAN), V1(log10, INF, INF), V1(log10, NAN, NAN),
    V1(log1p, 0.0, 0.0), V1(log1p, -0.0, -0.0), V1(log1p, -1, -INF), V1(log1p, -2, NAN),
    V1(log1p, INF, INF), V1(log1p, -INF, NAN), V1(log1p, NAN, NAN), V1(log1p, 0x1p-149, 0x1p-149),
    V1(log1p, -0x1p-130, -0x1p-130),
    ODD(sin, NAN), ODD(tan, NAN),
    V1(sin, 0x1p-149, 0x1p-149), V1(sin, -0x1p-130, -0x1p-130), V1(tan, 0x1p-149, 0x1p-149),
    V1(cos, 0.0, 1), V1(cos, -0.0, 1), V1(cos, INF, NAN), V1(cos, -INF, NAN), V1(cos, NAN, NAN),
    V1(cos, 0x1p-149, 1),
    V1(asin, 0.0, 0.0), V1(asin, -0.0, -0.0), V1(asin, 1.5, NAN), V1(asin, -INF, NAN),
    V1(asin, NAN, NAN), V1(asin, 0x1p-149, 0x1p-149),
    V1(acos, 1, 0.0), V1(acos, 1.5, NAN), V1(acos, -1.5, NAN), V1(acos, INF, NAN),
    V1(acos, NAN, NAN),
    V1(atan, 0.0, 0.0), V1(atan, -0.0, -0.0), V1(atan, NAN, NAN), V1(atan, 0x1p-149, 0x1p-149),
    ODD(sinh, INF), V1(sinh, 1000, INF), V1(sinh, -0x1p-149, -0x1p-149),
    V1(cosh, 0.0, 1), V1(cosh, -0.0, 1), V1(cosh, INF, INF), V1(cosh, -INF, INF),
    V1(cosh, NAN, NAN), V1(cosh, -1000, INF),
    ODD(tanh, 1), V1(tanh, 100, 1), V1(tanh, 0x1p-149, 0x1p-149),
    ODD(asinh, INF), V1(asinh, 0x1p-149, 0x1p-149),
    V1(acosh, 1, 0.0), V1(acosh, 0.5, NAN), V1(acosh, -1, NAN), V1(acosh, -1e30, NAN),
    V1(acosh, INF, INF), V1(acosh, -INF, NAN), V1(acosh, NAN, NAN),
    ODD(atanh, NAN), V1(atanh, 1, INF), V1(atanh, -1, -INF), V1(atanh, 1.5, NAN),
    V1(atanh, 0x1p-149, 0x1p-149),
    V1(rsqrt, 4, 0.5), V1(rsqrt, 0.0, INF), V1(rsqrt, -0.0, -INF), V1(rsqrt, INF, 0.0),
    V1(rsqrt, -1, NAN), V1(rsqrt, -INF, NAN), V1(rsqrt, NAN, NAN), V1(rsqrt, 0x1p-148, 0x1p74),
    ODD(cbrt, INF), V1(cbrt, 27, 3), V1(cbrt, -8, -2), V1(cbrt, 0x1p-147, 0x1p-49),
    V1(cbrt, 343, 7), V1(cbrt, 0x1p126, 0x1p42),
    ODD(erf, 1), V1(erf, 10, 1), V1(erf, -7, -1),
    V1(tgamma, 0.0, INF), V1(tgamma, -0.0, -INF), V1(tgamma, -1, NAN), V1(tgamma, -30, NAN),
    V1(tgamma, INF, INF), V1(tgamma, -INF, NAN), V1(tgamma, NAN, NAN), V1(tgamma, 1, 1),
    V1(tgamma, 2, 1), V1(tgamma, 3, 2), V1(tgamma, 200, INF), V1(tgamma, -200.5, -0.0),
    V1(tgamma, -199.5, 0.0),
    V1(lgamma, 1, 0.0), V1(lgamma, 2, 0.0), V1(lgamma, 0.0, INF), V1(lgamma, -0.0, INF),
    V1(lgamma, -3, INF), V1(lgamma, INF, INF), V1(lgamma, -INF, INF), V1(lgamma, NAN, NAN),
    V2(pow, ANY, 0.0, 1), V2(pow, NAN, -0.0, 1), V2(pow, 1, NAN, 1), V2(pow, 1, -INF, 1),
    V2(pow, -1, INF, 1), V2(pow, -1, -INF, 1), V2(pow, NAN, 1, NAN), V2(pow, 2, NAN, NAN),
    V2(pow, -1, NAN, NAN), V2(pow, -2, 0.5, NAN), V2(pow, -2, 3, -8), V2(pow, -2, 2, 4),
    V2(pow, -2, -1, -0.5), V2(pow, 0.0, 3, 0.0), V2(pow, -0.0, 3, -0.0), V2(pow, -0.0, 2, 0.0),
    V2(pow, -0.0, 0.5, 0.0), V2(pow, 0.0, -3, INF), V2(pow, -0.0, -3, -INF), V2(pow, -0.0, -2, INF),
    V2(pow, -0.0, -0.5, INF), V2(pow, 0.0, -INF, INF), V2(pow, -0.0, INF, 0.0),
    V2(pow, 0.0, INF, 0.0), V2(pow, 0.5, -INF, INF), V2(pow, -2, -INF, 0.0), V2(pow, 0.5, INF, 0.0),
    V2(pow, -2, INF, INF), V2(pow, -INF, -3, -0.0), V2(pow, -INF, -2, 0.0), V2(pow, -INF, 3, -INF),
    V2(pow, -INF, 2, INF), V2(pow, -INF, 0.5, INF), V2(pow, -INF, -0.5, 0.0), V2(pow, INF, -2, 0.0),
    V2(pow, INF, 0.5, INF), V2(pow, INF, INF, INF), V2(pow, INF, -INF, 0.0),
    V2(pow, -INF, INF, INF), V2(pow, -INF, -INF, 0.0), V2(pow, 3, 4, 81), V2(pow, 4, 0.5, 2),
    V2(pow, 2, -149, 0x1p-149), V2(pow, 10, 3, 1000), V2(pow, 2, 1e9, INF), V2(pow, 2, -1e9, 0.0),
    V2(pow, -3, 1e30, INF),
    V2(atan2, 0.0, 1, 0.0), V2(atan2, -0.0, 1, -0.0), V2(atan2, 0.0, 0.0, 0.0),
    V2(atan2, -0.0, 0.0, -0.0), V2(atan2, 3, INF, 0.0), V2(atan2, -3, INF, -0.0),
    V2(atan2, NAN, 1, NAN), V2(atan2, 1, NAN, NAN), V2(atan2, NAN, NAN, NAN),
    V2(atan2, 0x1p-149, 1, 0x1p-149),
    V2(hypot, 3, 4, 5), V2(hypot, INF, NAN, INF), V2(hypot, NAN, -INF, INF), V2(hypot, NAN, 1, NAN),
    V2(hypot, 1, NAN, NAN), V2(hypot, -0.0, 0.0, 0.0), V2(hypot, -7, 0.0, 7),
    V2(hypot, 0x1p-149, 0.0, 0x1p-149), V2(hypot, 0x3p120, 0x4p120, 0x5p120),
    V2(hypot, 0x3p-140, 0x4p-140, 0x5p-140),
    V2(logaddexp, INF, -INF, INF), V2(logaddexp, -INF, -INF, -INF), V2(logaddexp, 0.0, -INF, 0.0),
    V2(logaddexp, INF, INF, INF), V2(logaddexp, NAN, 1, NAN), V2(logaddexp, -INF, 2, 2),
    V2(logaddexp, 1, NAN, NAN),
    V2(fmod, 5, 3, 2), V2(fmod, -5, 3, -2), V2(fmod, 5, -3, 2), V2(fmod, -6, 3, -0.0),
    V2(fmod, 0.0, 3, 0.0), V2(fmod, -0.0, 3, -0.0), V2(fmod, 5, INF, 5), V2(fmod, -5, -INF, -5),
    V2(fmod, INF, 3, NAN), V2(fmod, 5, 0.0, NAN), V2(fmod, NAN, 1, NAN), V2(fmod, 1, NAN, NAN),
    V2(fmod, 0x1p127, 0x3p-149, 0x1p-149), V2(fmod, 0x1p-148, 0x1p-149, 0.0),
    V2(remainder, 5, 3, 2), V2(remainder, -5, 3, 1), V2(remainder, 5, -3, -1),
    V2(remainder, -5, -3, -2), V2(remainder, 6, -3, -0.0), V2(remainder, -6, 3, 0.0),
    V2(remainder, -5, INF, INF), V2(remainder, 5, INF, 5), V2(remainder, 1, 0.0, NAN),
    V2(remainder, INF, 2, NAN), V2(remainder, NAN, 2, NAN),
    V2(copysign, 3, -0.0, -3), V2(copysign, -3, INF, 3), V2(copysign, -INF, 1, INF),
    V2(copysign, NAN, -1, NAN), V2(copysign, 0.0, -1, -0.0),
    V2(nextafter, 1, 1, 1), V2(nextafter, 0.0, -0.0, -0.0), V2(nextafter, NAN, 1, NAN),
    V2(nextafter, 1, NAN, NAN), V2(nextafter, INF, INF, INF), V2(nextafter, -INF, -INF, -INF),
};
/* clang-format on */

enum { COUNT = sizeof values / sizeof values[0] };

static bool same(double got, double expected)
{
    return isnan(expected) ? isnan(got) : got == expected && signbit(got) == signbit(expected);
}

/* Whether what was stored is what was expected; a NaN has the bits of the canonical one. */
static bool stored(const char *result, const struct value *value, weft_dtype dtype)
{
    double got;
    float narrow;
    uint64_t bits = 0;
    memcpy(&got, result, sizeof got);
    memcpy(&narrow, result, sizeof narrow);
    memcpy(&bits, result, dtype == WEFT_F64 ? 8 : 4);
    if (weft__math_functions[value->function].boolean)
        return result[0] == (value->expected != 0);
    if (isnan(value->expected))
        return bits == (dtype == WEFT_F64 ? UINT64_C(0x7ff8000000000000) : 0x7fc00000);
    return same(dtype == WEFT_F64 ? got : (double)narrow, value->expected);
}

static bool check_value(const expanded *at, const struct value *value, weft_dtype dtype)
{
    const double x = value->x, y = value->y;
    const float x32 = (float)x, y32 = (float)y;
    char result[8] = {0};
    if (dtype == WEFT_F64)
        expand_run(at, 1, &x, &y, result);
    else
        expand_run(at, 1, &x32, &y32, result);
    const bool right = stored(result, value, dtype);
    if (!right)
        fprintf(stderr, "%s(%a, %a) in %s should be %a\n",
                weft__math_functions[value->function].name, x, y, weft_dtype_name(dtype),
                value->expected);
    return right;
}

static void check_values(weft_dtype dtype)
{
    for (int f = 0; f < WEFT__MATH_COUNT; f++) {
        bool right = true;
        expanded at;
        CHECK_STATUS(expand_begin(&at, (weft__math_function)f, dtype), WEFT_OK);
        for (int k = 0; k < COUNT; k++)
            right = (values[k].function != (weft__math_function)f ||
                     check_value(&at, &values[k], dtype)) &&
                    right;
        expand_end(&at);
        CHECK(right);
    }
}

TEST(A4_special_values_f32) { check_values(WEFT_F32); }

TEST(A4_special_values_f64) { check_values(WEFT_F64); }

enum { SAMPLES = 20000 };

/* The functions that only move bits, and fmod, against the C library. */
static double exact_f64(weft__math_function function, double x, double y)
{
    return function == WEFT__MATH_copysign    ? copysign(x, y)
           : function == WEFT__MATH_nextafter ? nextafter(x, y)
                                              : fmod(x, y);
}

static float exact_f32(weft__math_function function, float x, float y)
{
    return function == WEFT__MATH_copysign    ? copysignf(x, y)
           : function == WEFT__MATH_nextafter ? nextafterf(x, y)
                                              : fmodf(x, y);
}

static void check_exact(weft__math_function function)
{
    static double x[SAMPLES], y[SAMPLES], result[SAMPLES];
    static float x32[SAMPLES], y32[SAMPLES], result32[SAMPLES];
    expanded wide, narrow;
    for (int k = 0; k < SAMPLES; k++) {
        sample_two(function, WEFT_F64, &x[k], &y[k]);
        y[k] = isnan(y[k]) ? 1 : y[k]; /* a NaN's sign is not defined in a kernel */
        x32[k] = (float)x[k];
        y32[k] = (float)y[k];
    }
    CHECK_STATUS(expand_begin(&wide, function, WEFT_F64), WEFT_OK);
    expand_run(&wide, SAMPLES, x, y, result);
    expand_end(&wide);
    CHECK_STATUS(expand_begin(&narrow, function, WEFT_F32), WEFT_OK);
    expand_run(&narrow, SAMPLES, x32, y32, result32);
    expand_end(&narrow);
    for (int k = 0; k < SAMPLES; k++) {
        CHECK(same(result[k], exact_f64(function, x[k], y[k])));
        CHECK(same((double)result32[k], (double)exact_f32(function, x32[k], y32[k])));
    }
}

TEST(A4_exact_functions)
{
    check_exact(WEFT__MATH_copysign);
    check_exact(WEFT__MATH_nextafter);
    check_exact(WEFT__MATH_fmod);
}

/* Results that are numbers of the type come out exactly. */
TEST(A4_exact_cases)
{
    expanded exp2, log2, cbrt, pow, log10;
    CHECK_STATUS(expand_begin(&exp2, WEFT__MATH_exp2, WEFT_F64), WEFT_OK);
    CHECK_STATUS(expand_begin(&log2, WEFT__MATH_log2, WEFT_F64), WEFT_OK);
    CHECK_STATUS(expand_begin(&cbrt, WEFT__MATH_cbrt, WEFT_F64), WEFT_OK);
    CHECK_STATUS(expand_begin(&pow, WEFT__MATH_pow, WEFT_F64), WEFT_OK);
    CHECK_STATUS(expand_begin(&log10, WEFT__MATH_log10, WEFT_F64), WEFT_OK);
    double result;
    bool right = true;
    for (int k = -1074; k < 1024; k++) {
        expand_run(&exp2, 1, &(double){k}, NULL, &result);
        right = right && result == ldexp(1, k);
        expand_run(&log2, 1, &(double){ldexp(1, k)}, NULL, &result);
        right = right && result == k;
        expand_run(&cbrt, 1, &(double){(double)k * k * k}, NULL, &result);
        right = right && result == k;
        expand_run(&pow, 1, &(double){k}, &(double){5}, &result);
        right = right && result == (double)k * k * k * k * k;
    }
    double power = 1;
    for (int k = 0; k <= 22; k++, power *= 10) {
        expand_run(&log10, 1, &power, NULL, &result);
        right = right && result == k;
    }
    expand_end(&exp2);
    expand_end(&log2);
    expand_end(&cbrt);
    expand_end(&pow);
    expand_end(&log10);
    CHECK(right);
}

TEST_MAIN(TEST_NO_FAULTS(A4_special_values_f32, "there are too many kernels"),
          TEST_NO_FAULTS(A4_special_values_f64, "there are too many kernels"),
          TEST_OF(A4_exact_functions), TEST_NO_FAULTS(A4_exact_cases, "it leaks when it fails"));
