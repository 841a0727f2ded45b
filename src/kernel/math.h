/* Mathematical functions, each written once, in primitives. docs/accuracy.md has what was measured.
 */
#ifndef WEFT_KERNEL_MATH_H
#define WEFT_KERNEL_MATH_H

#include "kernel/build.h"

/* name, number of arguments, result (SAME: the arguments' dtype, or BOOL), the largest error in
 * units in the last place of the exact result for f32 and for f64. 0 is exact.
 *
 * Special values are those of C11 Annex F. What that leaves open:
 * - sign of a zero is that zero, of NaN it is NaN.
 * - remainder has the sign of y, as in the array API: fmod(x, y), plus y if the signs differ.
 * - logaddexp is measured in ulps of the largest of |x|, |y| and |result|: where the sum of two
 *   exponentials is close to 1, the result is a small difference of large terms. */
#define WEFT__MATH_LIST(X)                                                                         \
    X(square, 1, SAME, 0.5, 0.5)                                                                   \
    X(sign, 1, SAME, 0, 0)                                                                         \
    X(isnan, 1, BOOL, 0, 0)                                                                        \
    X(isinf, 1, BOOL, 0, 0)                                                                        \
    X(isfinite, 1, BOOL, 0, 0)                                                                     \
    X(signbit, 1, BOOL, 0, 0)                                                                      \
    X(exp, 1, SAME, 1, 1)                                                                          \
    X(exp2, 1, SAME, 1, 1)                                                                         \
    X(expm1, 1, SAME, 1, 1)                                                                        \
    X(log, 1, SAME, 1, 1)                                                                          \
    X(log2, 1, SAME, 1, 1)                                                                         \
    X(log10, 1, SAME, 1, 1)                                                                        \
    X(log1p, 1, SAME, 1, 1)                                                                        \
    X(sin, 1, SAME, 1, 1)                                                                          \
    X(cos, 1, SAME, 1, 1)                                                                          \
    X(tan, 1, SAME, 2, 2)                                                                          \
    X(asin, 1, SAME, 2, 2)                                                                         \
    X(acos, 1, SAME, 2, 2)                                                                         \
    X(atan, 1, SAME, 2, 2)                                                                         \
    X(sinh, 1, SAME, 2, 2)                                                                         \
    X(cosh, 1, SAME, 2, 2)                                                                         \
    X(tanh, 1, SAME, 2, 2)                                                                         \
    X(asinh, 1, SAME, 2, 2)                                                                        \
    X(acosh, 1, SAME, 2, 2)                                                                        \
    X(atanh, 1, SAME, 2, 2)                                                                        \
    X(rsqrt, 1, SAME, 1, 1)                                                                        \
    X(cbrt, 1, SAME, 1, 1)                                                                         \
    X(erf, 1, SAME, 2, 2)                                                                          \
    X(tgamma, 1, SAME, 4, 4)                                                                       \
    X(lgamma, 1, SAME, 4, 4)                                                                       \
    X(pow, 2, SAME, 4, 4)                                                                          \
    X(atan2, 2, SAME, 2, 2)                                                                        \
    X(hypot, 2, SAME, 1, 1)                                                                        \
    X(logaddexp, 2, SAME, 2, 2)                                                                    \
    X(fmod, 2, SAME, 0, 0)                                                                         \
    X(remainder, 2, SAME, 0.5, 0.5)                                                                \
    X(copysign, 2, SAME, 0, 0)                                                                     \
    X(nextafter, 2, SAME, 0, 0)

typedef enum weft__math_function {
#define WEFT__MATH_ENUM(name, arity, result, ulp_f32, ulp_f64) WEFT__MATH_##name,
    WEFT__MATH_LIST(WEFT__MATH_ENUM)
#undef WEFT__MATH_ENUM
        WEFT__MATH_COUNT
} weft__math_function;

typedef struct weft__math_facts {
    const char *name;
    uint8_t arity;
    bool boolean; /* the result is bool */
    float ulp[2]; /* of f32, f64 */
} weft__math_facts;

/* One entry for each weft__math_function. */
extern const weft__math_facts weft__math_functions[WEFT__MATH_COUNT];

/* Adds the function of values x and y of `dtype`, which is f32 or f64; y is not used if there is
 * one argument. Gives the number of the result's value. A value that is only of use for rare
 * arguments (large ones of sin) is used by nothing but other such values and one side of selects,
 * and follows the condition of those: an engine may skip it where no element of a block needs it.
 */
int32_t weft__math(weft__builder *builder, weft__math_function function, weft_dtype dtype,
                   int32_t x, int32_t y);

/* The cosine and the sine, in this order, of the angle that is `turn` / 2^32 or 2^64 of a circle:
 * `turn` is i32 for f32, i64 for f64. */
void weft__math_circle(weft__builder *builder, weft_dtype dtype, int32_t turn, int32_t results[2]);

/* name, number of arguments, result (COMPLEX, REAL: a float, or BOOL), the largest error for c64
 * and c128: the distance from the exact result in units in the last place of that one's modulus.
 * pow is measured in those times the modulus of y*log(x), for c64 divided by 2^28, if that is more
 * than 1.
 *
 * Special values, signed zeros and branch cuts are those of C11 Annex G; docs/semantics.md has what
 * that leaves open. */
#define WEFT__COMPLEX_LIST(X)                                                                      \
    X(divide, 2, COMPLEX, 4, 4)                                                                    \
    X(abs, 1, REAL, 1, 1)                                                                          \
    X(arg, 1, REAL, 2, 2)                                                                          \
    X(sign, 1, COMPLEX, 3, 3)                                                                      \
    X(isnan, 1, BOOL, 0, 0)                                                                        \
    X(isinf, 1, BOOL, 0, 0)                                                                        \
    X(isfinite, 1, BOOL, 0, 0)                                                                     \
    X(sqrt, 1, COMPLEX, 2, 2)                                                                      \
    X(exp, 1, COMPLEX, 2, 2)                                                                       \
    X(exp2, 1, COMPLEX, 2, 2)                                                                      \
    X(expm1, 1, COMPLEX, 3, 3)                                                                     \
    X(log, 1, COMPLEX, 3, 3)                                                                       \
    X(log2, 1, COMPLEX, 3, 3)                                                                      \
    X(log10, 1, COMPLEX, 3, 3)                                                                     \
    X(log1p, 1, COMPLEX, 3, 3)                                                                     \
    X(sin, 1, COMPLEX, 3, 3)                                                                       \
    X(cos, 1, COMPLEX, 3, 3)                                                                       \
    X(tan, 1, COMPLEX, 5, 5)                                                                       \
    X(asin, 1, COMPLEX, 4, 4)                                                                      \
    X(acos, 1, COMPLEX, 4, 4)                                                                      \
    X(atan, 1, COMPLEX, 3, 3)                                                                      \
    X(sinh, 1, COMPLEX, 3, 3)                                                                      \
    X(cosh, 1, COMPLEX, 3, 3)                                                                      \
    X(tanh, 1, COMPLEX, 5, 5)                                                                      \
    X(asinh, 1, COMPLEX, 4, 4)                                                                     \
    X(acosh, 1, COMPLEX, 4, 4)                                                                     \
    X(atanh, 1, COMPLEX, 3, 3)                                                                     \
    X(pow, 2, COMPLEX, 1, 4)

typedef enum weft__complex_function {
#define WEFT__COMPLEX_ENUM(name, arity, result, ulp_c64, ulp_c128) WEFT__COMPLEX_##name,
    WEFT__COMPLEX_LIST(WEFT__COMPLEX_ENUM)
#undef WEFT__COMPLEX_ENUM
        WEFT__COMPLEX_COUNT
} weft__complex_function;

typedef enum weft__complex_result {
    WEFT__COMPLEX_IS_COMPLEX,
    WEFT__COMPLEX_IS_REAL,
    WEFT__COMPLEX_IS_BOOL
} weft__complex_result;

typedef struct weft__complex_facts {
    const char *name;
    uint8_t arity;
    uint8_t result; /* weft__complex_result */
    float ulp[2];   /* of c64, c128 */
} weft__complex_facts;

/* One entry for each weft__complex_function. */
extern const weft__complex_facts weft__complex_functions[WEFT__COMPLEX_COUNT];

/* Adds the function of complex numbers; their parts are of `dtype`, f32 or f64. The second part of
 * the result, and y, only where there is one. */
void weft__math_complex(weft__builder *builder, weft__complex_function function, weft_dtype dtype,
                        const int32_t x[2], const int32_t y[2], int32_t result[2]);

/* x to the power y, both integers of `dtype`, modulo 2^bits; docs/semantics.md. */
int32_t weft__math_pow_integer(weft__builder *builder, weft_dtype dtype, int32_t x, int32_t y);
/* The number of bits of an integer that are 1. */
int32_t weft__math_popcount(weft__builder *builder, weft_dtype dtype, int32_t x);
/* nextafter of f16 or bf16, which are computed in f32: both arguments are rounded first. */
int32_t weft__math_nextafter_narrow(weft__builder *builder, weft_dtype dtype, int32_t x, int32_t y);

/* x, but not below `low` nor above `high`; NaN if any is. Any dtype but bool. */
int32_t weft__math_clip(weft__builder *builder, int32_t x, int32_t low, int32_t high);

#endif
