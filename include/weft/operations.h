/* Operations as functions: every operator and function of expressions that works on elements.
 * scripts/operations.sh writes this header from the table of operations. */
#ifndef WEFT_OPERATIONS_H
#define WEFT_OPERATIONS_H

#include <weft/array.h>
#include <weft/each.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What operations can be told. All of them give a new array, queued on the operands' stream, and do
 * not wait. Operands are arrays, which broadcast, or C
 * numbers; types are those of expressions: weft_add(a, 1) is weft_new(a + 1, a).
 *     weft_add(a, b)
 *     weft_exp(a, .out = b)    into an array that is there, or a handle: returns it, retained
 * An expression of several operations is one kernel in weft(...), and one for each of them here. */
typedef struct weft_operation_options {
    size_t struct_size;
    weft_array *out; /* where the result goes; default: a new array */
} WEFT__NAMED weft_operation_options;

/* Operators. */

/* x + y */
#define weft_add(...) WEFT__APPLY(add, 2, __VA_ARGS__, )
/* x - y */
#define weft_subtract(...) WEFT__APPLY(subtract, 2, __VA_ARGS__, )
/* x * y */
#define weft_multiply(...) WEFT__APPLY(multiply, 2, __VA_ARGS__, )
/* x / y; of integers truncated, as in C */
#define weft_divide(...) WEFT__APPLY(divide, 2, __VA_ARGS__, )
/* x % y, with the sign of x, as in C */
#define weft_modulo(...) WEFT__APPLY(modulo, 2, __VA_ARGS__, )
/* -x */
#define weft_negative(...) WEFT__APPLY(negative, 1, __VA_ARGS__, )
/* +x, which is x */
#define weft_positive(...) WEFT__APPLY(positive, 1, __VA_ARGS__, )
/* x & y */
#define weft_bitwise_and(...) WEFT__APPLY(bitwise_and, 2, __VA_ARGS__, )
/* x | y */
#define weft_bitwise_or(...) WEFT__APPLY(bitwise_or, 2, __VA_ARGS__, )
/* x ^ y */
#define weft_bitwise_xor(...) WEFT__APPLY(bitwise_xor, 2, __VA_ARGS__, )
/* ~x; of bool, the other one */
#define weft_bitwise_not(...) WEFT__APPLY(bitwise_not, 1, __VA_ARGS__, )
/* x << y */
#define weft_shift_left(...) WEFT__APPLY(shift_left, 2, __VA_ARGS__, )
/* x >> y; the sign moves in */
#define weft_shift_right(...) WEFT__APPLY(shift_right, 2, __VA_ARGS__, )
/* x == y */
#define weft_equal(...) WEFT__APPLY(equal, 2, __VA_ARGS__, )
/* x != y */
#define weft_not_equal(...) WEFT__APPLY(not_equal, 2, __VA_ARGS__, )
/* x < y */
#define weft_less(...) WEFT__APPLY(less, 2, __VA_ARGS__, )
/* x <= y */
#define weft_less_equal(...) WEFT__APPLY(less_equal, 2, __VA_ARGS__, )
/* x > y */
#define weft_greater(...) WEFT__APPLY(greater, 2, __VA_ARGS__, )
/* x >= y */
#define weft_greater_equal(...) WEFT__APPLY(greater_equal, 2, __VA_ARGS__, )
/* x && y: both are not 0 */
#define weft_logical_and(...) WEFT__APPLY(logical_and, 2, __VA_ARGS__, )
/* x || y: one of them is not 0 */
#define weft_logical_or(...) WEFT__APPLY(logical_or, 2, __VA_ARGS__, )
/* !x: x is 0 */
#define weft_logical_not(...) WEFT__APPLY(logical_not, 1, __VA_ARGS__, )

/* Choosing. */

/* x where the condition holds, else y */
#define weft_where(...) WEFT__APPLY(where, 3, __VA_ARGS__, )
/* the smaller of two; NaN if either is */
#define weft_minimum(...) WEFT__APPLY(minimum, 2, __VA_ARGS__, )
/* the larger of two; NaN if either is */
#define weft_maximum(...) WEFT__APPLY(maximum, 2, __VA_ARGS__, )
/* x, but not below the second nor above the third argument */
#define weft_clip(...) WEFT__APPLY(clip, 3, __VA_ARGS__, )

/* Mathematical functions. */

/* absolute value */
#define weft_abs(...) WEFT__APPLY(abs, 1, __VA_ARGS__, )
/* -1, 0 or 1; of complex x, x over its absolute value */
#define weft_sign(...) WEFT__APPLY(sign, 1, __VA_ARGS__, )
/* x times x */
#define weft_square(...) WEFT__APPLY(square, 1, __VA_ARGS__, )
/* square root */
#define weft_sqrt(...) WEFT__APPLY(sqrt, 1, __VA_ARGS__, )
/* one over the square root */
#define weft_rsqrt(...) WEFT__APPLY(rsqrt, 1, __VA_ARGS__, )
/* cube root */
#define weft_cbrt(...) WEFT__APPLY(cbrt, 1, __VA_ARGS__, )
/* e to the power x */
#define weft_exp(...) WEFT__APPLY(exp, 1, __VA_ARGS__, )
/* 2 to the power x */
#define weft_exp2(...) WEFT__APPLY(exp2, 1, __VA_ARGS__, )
/* e to the power x, minus 1, accurate near 0 */
#define weft_expm1(...) WEFT__APPLY(expm1, 1, __VA_ARGS__, )
/* natural logarithm */
#define weft_log(...) WEFT__APPLY(log, 1, __VA_ARGS__, )
/* logarithm to base 2 */
#define weft_log2(...) WEFT__APPLY(log2, 1, __VA_ARGS__, )
/* logarithm to base 10 */
#define weft_log10(...) WEFT__APPLY(log10, 1, __VA_ARGS__, )
/* natural logarithm of 1 + x, accurate near 0 */
#define weft_log1p(...) WEFT__APPLY(log1p, 1, __VA_ARGS__, )
/* sine */
#define weft_sin(...) WEFT__APPLY(sin, 1, __VA_ARGS__, )
/* cosine */
#define weft_cos(...) WEFT__APPLY(cos, 1, __VA_ARGS__, )
/* tangent */
#define weft_tan(...) WEFT__APPLY(tan, 1, __VA_ARGS__, )
/* inverse sine */
#define weft_asin(...) WEFT__APPLY(asin, 1, __VA_ARGS__, )
/* inverse cosine */
#define weft_acos(...) WEFT__APPLY(acos, 1, __VA_ARGS__, )
/* inverse tangent */
#define weft_atan(...) WEFT__APPLY(atan, 1, __VA_ARGS__, )
/* hyperbolic sine */
#define weft_sinh(...) WEFT__APPLY(sinh, 1, __VA_ARGS__, )
/* hyperbolic cosine */
#define weft_cosh(...) WEFT__APPLY(cosh, 1, __VA_ARGS__, )
/* hyperbolic tangent */
#define weft_tanh(...) WEFT__APPLY(tanh, 1, __VA_ARGS__, )
/* inverse hyperbolic sine */
#define weft_asinh(...) WEFT__APPLY(asinh, 1, __VA_ARGS__, )
/* inverse hyperbolic cosine */
#define weft_acosh(...) WEFT__APPLY(acosh, 1, __VA_ARGS__, )
/* inverse hyperbolic tangent */
#define weft_atanh(...) WEFT__APPLY(atanh, 1, __VA_ARGS__, )
/* error function */
#define weft_erf(...) WEFT__APPLY(erf, 1, __VA_ARGS__, )
/* gamma function */
#define weft_tgamma(...) WEFT__APPLY(tgamma, 1, __VA_ARGS__, )
/* logarithm of the gamma function's absolute value */
#define weft_lgamma(...) WEFT__APPLY(lgamma, 1, __VA_ARGS__, )
/* x to the power y */
#define weft_pow(...) WEFT__APPLY(pow, 2, __VA_ARGS__, )
/* angle of the point with coordinates y, x: atan2(y, x) */
#define weft_atan2(...) WEFT__APPLY(atan2, 2, __VA_ARGS__, )
/* square root of x*x + y*y, without overflow in between */
#define weft_hypot(...) WEFT__APPLY(hypot, 2, __VA_ARGS__, )
/* x minus the truncated quotient times y */
#define weft_fmod(...) WEFT__APPLY(fmod, 2, __VA_ARGS__, )
/* x minus the floored quotient times y */
#define weft_remainder(...) WEFT__APPLY(remainder, 2, __VA_ARGS__, )
/* x with the sign of y */
#define weft_copysign(...) WEFT__APPLY(copysign, 2, __VA_ARGS__, )
/* the next number after x in the direction of y */
#define weft_nextafter(...) WEFT__APPLY(nextafter, 2, __VA_ARGS__, )
/* log(exp(x) + exp(y)), without overflow in between */
#define weft_logaddexp(...) WEFT__APPLY(logaddexp, 2, __VA_ARGS__, )
/* x*y + z, rounded once */
#define weft_fma(...) WEFT__APPLY(fma, 3, __VA_ARGS__, )

/* Rounding. */

/* the largest integer not above x */
#define weft_floor(...) WEFT__APPLY(floor, 1, __VA_ARGS__, )
/* the smallest integer not below x */
#define weft_ceil(...) WEFT__APPLY(ceil, 1, __VA_ARGS__, )
/* x without its fraction */
#define weft_trunc(...) WEFT__APPLY(trunc, 1, __VA_ARGS__, )
/* the nearest integer, ties to even */
#define weft_round(...) WEFT__APPLY(round, 1, __VA_ARGS__, )

/* Tests. */

/* x is NaN */
#define weft_isnan(...) WEFT__APPLY(isnan, 1, __VA_ARGS__, )
/* x is infinite */
#define weft_isinf(...) WEFT__APPLY(isinf, 1, __VA_ARGS__, )
/* x is neither NaN nor infinite */
#define weft_isfinite(...) WEFT__APPLY(isfinite, 1, __VA_ARGS__, )
/* x is negative, -0 included */
#define weft_signbit(...) WEFT__APPLY(signbit, 1, __VA_ARGS__, )

/* Parts of complex numbers. */

/* real part */
#define weft_real(...) WEFT__APPLY(real, 1, __VA_ARGS__, )
/* imaginary part */
#define weft_imag(...) WEFT__APPLY(imag, 1, __VA_ARGS__, )
/* complex conjugate */
#define weft_conj(...) WEFT__APPLY(conj, 1, __VA_ARGS__, )
/* angle of a complex number, from -pi to pi */
#define weft_arg(...) WEFT__APPLY(arg, 1, __VA_ARGS__, )

/* Bits. */

/* number of bits that are set */
#define weft_popcount(...) WEFT__APPLY(popcount, 1, __VA_ARGS__, )

/* The functions under the macros, weft_add_with and so on: operands, then options; NULL options are
 * no options. */
#define WEFT__APPLY(name, count, ...) WEFT__APPLY_##count(weft_##name##_with, __VA_ARGS__)
#define WEFT__APPLY_1(name, x, ...) name(WEFT_OPERAND(x), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_2(name, x, ...) WEFT__APPLY_2_(name, x, __VA_ARGS__)
#define WEFT__APPLY_2_(name, x, y, ...)                                                            \
    name(WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_3(name, x, ...) WEFT__APPLY_3_(name, x, __VA_ARGS__)
#define WEFT__APPLY_3_(name, x, y, ...) WEFT__APPLY_3__(name, x, y, __VA_ARGS__)
#define WEFT__APPLY_3__(name, x, y, z, ...)                                                        \
    name(WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT_OPERAND(z), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_OPTIONS(...) WEFT__OPTIONS(weft_operation_options, __VA_ARGS__)

#define WEFT__APPLY_DECLARE_1(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, const weft_operation_options *options);
#define WEFT__APPLY_DECLARE_2(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, weft_operand y,                        \
                                            const weft_operation_options *options);
#define WEFT__APPLY_DECLARE_3(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, weft_operand y, weft_operand z,        \
                                            const weft_operation_options *options);
WEFT__EACH(WEFT__APPLY_DECLARE_1, negative, positive, bitwise_not, logical_not, abs, sign, square,
           sqrt, rsqrt, cbrt, exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos,
           atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, tgamma, lgamma)
WEFT__EACH(WEFT__APPLY_DECLARE_1, floor, ceil, trunc, round, isnan, isinf, isfinite, signbit, real,
           imag, conj, arg, popcount)
WEFT__EACH(WEFT__APPLY_DECLARE_2, add, subtract, multiply, divide, modulo, bitwise_and, bitwise_or,
           bitwise_xor, shift_left, shift_right, equal, not_equal, less, less_equal, greater,
           greater_equal, logical_and, logical_or, minimum, maximum, pow, atan2, hypot, fmod,
           remainder, copysign, nextafter, logaddexp)
WEFT__EACH(WEFT__APPLY_DECLARE_3, where, clip, fma)

#ifdef __cplusplus
}
#endif
#endif
