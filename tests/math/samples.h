/* Inputs for the tests of the math functions: the same in every run. */
#ifndef WEFT_TESTS_MATH_SAMPLES_H
#define WEFT_TESTS_MATH_SAMPLES_H

#include "kernel/math.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

static inline double f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static inline double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double rounded_to(weft_dtype dtype, double x)
{
    return dtype == WEFT_F32 ? (double)(float)x : x;
}

/* A number with an exponent from -spread/2 on. */
static inline double sample_near_one(int spread)
{
    const uint64_t bits = random_bits();
    const uint64_t exponent = (uint64_t)(1023 - spread / 2) + (bits >> 53) % (uint64_t)spread;
    return f64_of((bits & UINT64_C(0x800fffffffffffff)) | exponent << 52);
}

/* A multiple of a fourth or of pi/2, exact or a few steps away. */
static inline double sample_landmark(weft_dtype dtype, bool angle)
{
    const uint64_t bits = random_bits();
    const int64_t k = (int64_t)(bits >> (11 + (bits & 31)) >> (bits >> 5 & 31)) - 400;
    double x =
        angle ? (double)((long double)k * 1.57079632679489661923132L) : (double)(k % 800) / 4;
    x = rounded_to(dtype, x);
    for (uint64_t steps = bits >> 10 & 3; steps > 0; steps--)
        x = dtype == WEFT_F32 ? (double)nextafterf((float)x, INFINITY) : nextafter(x, INFINITY);
    return x;
}

/* One of: bits at random, so that all exponents are there; a number near 1, or within so many
 * powers of two of it; a landmark. */
static inline double sample(weft_dtype dtype)
{
    const uint64_t bits = random_bits();
    static const int spread[] = {2, 8, 16, 64};
    const int kind = (int)(bits % 7);
    if (kind == 0)
        return dtype == WEFT_F32 ? f32_of((uint32_t)(bits >> 32)) : f64_of(random_bits());
    if (kind <= 2)
        return sample_landmark(dtype, kind == 2);
    return rounded_to(dtype, sample_near_one(spread[kind - 3]));
}

/* Two arguments. Of pow, half of them with a result that is finite. */
static inline void sample_two(weft__math_function function, weft_dtype dtype, double *x, double *y)
{
    *x = sample(dtype);
    *y = sample(dtype);
    if (function == WEFT__MATH_pow && (random_bits() & 1) != 0 && *x != 0 && isfinite(*x)) {
        const double most = dtype == WEFT_F32 ? 160 : 1100;
        const double part = (double)(int64_t)random_bits() * 0x1p-63 * most;
        const double exponent = part / log2(fabs(*x));
        *x = fabs(*x);
        *y = rounded_to(dtype, isfinite(exponent) ? exponent : 3);
    }
}

#endif
