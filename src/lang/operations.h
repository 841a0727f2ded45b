/* The one table of operations: operators and functions, for the parser, the checker, documents and
 * tests. */
#ifndef WEFT_LANG_OPERATIONS_H
#define WEFT_LANG_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, fewest and most arguments, kinds of operands, result, group, what it gives.
 *
 * Kinds: BOOL, INTEGER, FLOAT, COMPLEX, or a union of them (weft__lang_kinds). Arguments are
 * brought to their common dtype first, which must be of one of these kinds. Results: SAME (the
 * common dtype), REAL (the same; of complex, the dtype of its parts), BOOLEAN, WIDE (the same;
 * integers become i64 or u64, bool i64), POSITION (i64), SELECT (the first argument is bool; the
 * common dtype of the others).
 * Groups: operators are written with their symbols and cannot be called by name; reductions take
 * axis= and keep=; stencils take an operand, boundary= and value=; the others work element by
 * element.
 *
 * min and max of two or more arguments are minimum and maximum. */
#define WEFT__LANG_OPERATION_LIST(X)                                                               \
    X(add, 2, 2, NUMBER, SAME, operator, "x + y")                                                  \
    X(subtract, 2, 2, NUMBER, SAME, operator, "x - y")                                             \
    X(multiply, 2, 2, NUMBER, SAME, operator, "x * y")                                             \
    X(divide, 2, 2, NUMBER, SAME, operator, "x / y; of integers truncated, as in C")               \
    X(modulo, 2, 2, INTEGER, SAME, operator, "x % y, with the sign of x, as in C")                 \
    X(negative, 1, 1, NUMBER, SAME, operator, "-x")                                                \
    X(positive, 1, 1, NUMBER, SAME, operator, "+x, which is x")                                    \
    X(bitwise_and, 2, 2, BITS, SAME, operator, "x & y")                                            \
    X(bitwise_or, 2, 2, BITS, SAME, operator, "x | y")                                             \
    X(bitwise_xor, 2, 2, BITS, SAME, operator, "x ^ y")                                            \
    X(bitwise_not, 1, 1, BITS, SAME, operator, "~x; of bool, the other one")                       \
    X(shift_left, 2, 2, INTEGER, SAME, operator, "x << y")                                         \
    X(shift_right, 2, 2, INTEGER, SAME, operator, "x >> y; the sign moves in")                     \
    X(equal, 2, 2, ANY, BOOLEAN, operator, "x == y")                                               \
    X(not_equal, 2, 2, ANY, BOOLEAN, operator, "x != y")                                           \
    X(less, 2, 2, ORDERED, BOOLEAN, operator, "x < y")                                             \
    X(less_equal, 2, 2, ORDERED, BOOLEAN, operator, "x <= y")                                      \
    X(greater, 2, 2, ORDERED, BOOLEAN, operator, "x > y")                                          \
    X(greater_equal, 2, 2, ORDERED, BOOLEAN, operator, "x >= y")                                   \
    X(logical_and, 2, 2, ANY, BOOLEAN, operator, "x && y: both are not 0")                         \
    X(logical_or, 2, 2, ANY, BOOLEAN, operator, "x || y: one of them is not 0")                    \
    X(logical_not, 1, 1, ANY, BOOLEAN, operator, "!x: x is 0")                                     \
    X(choose, 3, 3, ANY, SELECT, operator, "c ? x : y; c may be a number, which is true if not 0") \
    X(where, 3, 3, ANY, SELECT, choice, "x where the condition holds, else y")                     \
    X(minimum, 2, 2, REAL, SAME, choice, "the smaller of two; NaN if either is")                   \
    X(maximum, 2, 2, REAL, SAME, choice, "the larger of two; NaN if either is")                    \
    X(clip, 3, 3, REAL, SAME, choice, "x, but not below the second nor above the third argument")  \
    X(abs, 1, 1, NUMBER, REAL, math, "absolute value")                                             \
    X(sign, 1, 1, NUMBER, SAME, math, "-1, 0 or 1; of complex x, x over its absolute value")       \
    X(square, 1, 1, NUMBER, SAME, math, "x times x")                                               \
    X(sqrt, 1, 1, FLOATING, SAME, math, "square root")                                             \
    X(rsqrt, 1, 1, FLOAT, SAME, math, "one over the square root")                                  \
    X(cbrt, 1, 1, FLOAT, SAME, math, "cube root")                                                  \
    X(exp, 1, 1, FLOATING, SAME, math, "e to the power x")                                         \
    X(exp2, 1, 1, FLOATING, SAME, math, "2 to the power x")                                        \
    X(expm1, 1, 1, FLOATING, SAME, math, "e to the power x, minus 1, accurate near 0")             \
    X(log, 1, 1, FLOATING, SAME, math, "natural logarithm")                                        \
    X(log2, 1, 1, FLOATING, SAME, math, "logarithm to base 2")                                     \
    X(log10, 1, 1, FLOATING, SAME, math, "logarithm to base 10")                                   \
    X(log1p, 1, 1, FLOATING, SAME, math, "natural logarithm of 1 + x, accurate near 0")            \
    X(sin, 1, 1, FLOATING, SAME, math, "sine")                                                     \
    X(cos, 1, 1, FLOATING, SAME, math, "cosine")                                                   \
    X(tan, 1, 1, FLOATING, SAME, math, "tangent")                                                  \
    X(asin, 1, 1, FLOATING, SAME, math, "inverse sine")                                            \
    X(acos, 1, 1, FLOATING, SAME, math, "inverse cosine")                                          \
    X(atan, 1, 1, FLOATING, SAME, math, "inverse tangent")                                         \
    X(sinh, 1, 1, FLOATING, SAME, math, "hyperbolic sine")                                         \
    X(cosh, 1, 1, FLOATING, SAME, math, "hyperbolic cosine")                                       \
    X(tanh, 1, 1, FLOATING, SAME, math, "hyperbolic tangent")                                      \
    X(asinh, 1, 1, FLOATING, SAME, math, "inverse hyperbolic sine")                                \
    X(acosh, 1, 1, FLOATING, SAME, math, "inverse hyperbolic cosine")                              \
    X(atanh, 1, 1, FLOATING, SAME, math, "inverse hyperbolic tangent")                             \
    X(erf, 1, 1, FLOAT, SAME, math, "error function")                                              \
    X(tgamma, 1, 1, FLOAT, SAME, math, "gamma function")                                           \
    X(lgamma, 1, 1, FLOAT, SAME, math, "logarithm of the gamma function's absolute value")         \
    X(pow, 2, 2, NUMBER, SAME, math, "x to the power y")                                           \
    X(atan2, 2, 2, FLOAT, SAME, math, "angle of the point with coordinates y, x: atan2(y, x)")     \
    X(hypot, 2, 2, FLOAT, SAME, math, "square root of x*x + y*y, without overflow in between")     \
    X(fmod, 2, 2, FLOAT, SAME, math, "x minus the truncated quotient times y")                     \
    X(remainder, 2, 2, FLOAT, SAME, math, "x minus the floored quotient times y")                  \
    X(copysign, 2, 2, FLOAT, SAME, math, "x with the sign of y")                                   \
    X(nextafter, 2, 2, FLOAT, SAME, math, "the next number after x in the direction of y")         \
    X(logaddexp, 2, 2, FLOAT, SAME, math, "log(exp(x) + exp(y)), without overflow in between")     \
    X(fma, 3, 3, FLOAT, SAME, math, "x*y + z, rounded once")                                       \
    X(floor, 1, 1, FLOAT, SAME, rounding, "the largest integer not above x")                       \
    X(ceil, 1, 1, FLOAT, SAME, rounding, "the smallest integer not below x")                       \
    X(trunc, 1, 1, FLOAT, SAME, rounding, "x without its fraction")                                \
    X(round, 1, 1, FLOAT, SAME, rounding, "the nearest integer, ties to even")                     \
    X(isnan, 1, 1, FLOATING, BOOLEAN, test, "x is NaN")                                            \
    X(isinf, 1, 1, FLOATING, BOOLEAN, test, "x is infinite")                                       \
    X(isfinite, 1, 1, FLOATING, BOOLEAN, test, "x is neither NaN nor infinite")                    \
    X(signbit, 1, 1, FLOAT, BOOLEAN, test, "x is negative, -0 included")                           \
    X(real, 1, 1, FLOATING, REAL, complex, "real part")                                            \
    X(imag, 1, 1, FLOATING, REAL, complex, "imaginary part")                                       \
    X(conj, 1, 1, FLOATING, SAME, complex, "complex conjugate")                                    \
    X(arg, 1, 1, FLOATING, REAL, complex, "angle of a complex number, from -pi to pi")             \
    X(popcount, 1, 1, INTEGER, SAME, bits, "number of bits that are set")                          \
    X(sum, 1, 1, ANY, WIDE, reduction, "sum")                                                      \
    X(prod, 1, 1, ANY, WIDE, reduction, "product")                                                 \
    X(min, 1, 1, REAL, SAME, reduction, "smallest element; NaN if there is one")                   \
    X(max, 1, 1, REAL, SAME, reduction, "largest element; NaN if there is one")                    \
    X(mean, 1, 1, FLOATING, SAME, reduction, "arithmetic mean")                                    \
    X(var, 1, 1, FLOAT, SAME, reduction, "variance; correction= is taken off the count")           \
    X(std, 1, 1, FLOAT, SAME, reduction, "standard deviation; correction= as for var")             \
    X(any, 1, 1, ANY, BOOLEAN, reduction, "whether some element is not 0")                         \
    X(all, 1, 1, ANY, BOOLEAN, reduction, "whether no element is 0")                               \
    X(argmin, 1, 1, REAL, POSITION, reduction, "position of the first smallest element")           \
    X(argmax, 1, 1, REAL, POSITION, reduction, "position of the first largest element")            \
    X(norm, 1, 1, FLOATING, REAL, reduction, "norm of order= 2 (the default), 1 or inf")           \
    X(shift, 2, 9, ANY, SAME, stencil, "shift(a, k0, k1...): the element of a at i + k")           \
    X(forward_diff, 2, 2, NUMBER, SAME, stencil, "forward_diff(a, axis): next element minus this") \
    X(back_diff, 2, 2, NUMBER, SAME, stencil, "back_diff(a, axis): this element minus the last")   \
    X(laplacian, 1, 1, NUMBER, SAME, stencil, "2*ndim*a minus the neighbours along each axis")     \
    X(index, 1, 1, ANY, POSITION, position, "index(axis): position along an axis, from 0")

typedef enum weft__lang_operation {
#define WEFT__LANG_OPERATION_ENUM(name, least, most, kinds, result, group, text) WEFT__LANG_##name,
    WEFT__LANG_OPERATION_LIST(WEFT__LANG_OPERATION_ENUM)
#undef WEFT__LANG_OPERATION_ENUM
        WEFT__LANG_OPERATION_END
} weft__lang_operation;

/* Sets of kinds; the single bits are 1 << weft__dtype_rank(dtype). */
typedef enum weft__lang_kinds {
    WEFT__KINDS_BOOL = 1,
    WEFT__KINDS_INTEGER = 2,
    WEFT__KINDS_FLOAT = 4,
    WEFT__KINDS_COMPLEX = 8,
    WEFT__KINDS_BITS = 1 | 2,
    WEFT__KINDS_REAL = 2 | 4,
    WEFT__KINDS_ORDERED = 1 | 2 | 4,
    WEFT__KINDS_FLOATING = 4 | 8,
    WEFT__KINDS_NUMBER = 2 | 4 | 8,
    WEFT__KINDS_ANY = 1 | 2 | 4 | 8
} weft__lang_kinds;

typedef enum weft__lang_result {
    WEFT__RESULT_SAME,
    WEFT__RESULT_REAL,
    WEFT__RESULT_BOOLEAN,
    WEFT__RESULT_WIDE,
    WEFT__RESULT_POSITION,
    WEFT__RESULT_SELECT
} weft__lang_result;

typedef enum weft__lang_group {
    WEFT__GROUP_operator,
    WEFT__GROUP_choice,
    WEFT__GROUP_math,
    WEFT__GROUP_rounding,
    WEFT__GROUP_test,
    WEFT__GROUP_complex,
    WEFT__GROUP_bits,
    WEFT__GROUP_reduction,
    WEFT__GROUP_stencil,
    WEFT__GROUP_position
} weft__lang_group;

typedef struct weft__lang_facts {
    const char *name;
    const char
        *text; /* one line for the documents; of an operator it begins with how it is written */
    uint8_t least, most;
    uint8_t kinds, result, group; /* weft__lang_kinds, weft__lang_result, weft__lang_group */
} weft__lang_facts;

/* One entry for each weft__lang_operation. */
extern const weft__lang_facts weft__lang_operations[WEFT__LANG_OPERATION_END];

/* The function that is called by this name; WEFT__LANG_OPERATION_END if there is none. */
weft__lang_operation weft__lang_function_named(const char *name, size_t length);

#endif
