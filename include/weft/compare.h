/* Comparing whole arrays: equal, or close. */
#ifndef WEFT_COMPARE_H
#define WEFT_COMPARE_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How close is close; what is equal. */
typedef struct weft_compare_options {
    size_t struct_size;
    double rtol, atol; /* weft_allclose: neither given, 1e-5 and 1e-8; one given, the other is 0 */
    bool equal_nan;    /* a NaN is equal to a NaN */
} WEFT__NAMED weft_compare_options;

/* Whether |x - y| <= atol + rtol*|y| for all elements of x and y, which broadcast. Infinities must
 * be equal. Operands are arrays or C numbers, also two of those; integers are compared as f64, f16
 * and bf16 as f32. Waits; false if it fails, with the thread's error record set.
 *     weft_allclose(a, b)
 *     weft_allclose(a, 1.5, .atol = 1e-6) */
#define weft_allclose(...) WEFT__COMPARE_(weft_allclose_with, __VA_ARGS__, )
/* Whether both have the same shape and equal elements. Waits; false if it fails, too. */
#define weft_array_equal(...) WEFT__COMPARE_(weft_array_equal_with, __VA_ARGS__, )
/* The same as a new bool array of no dimensions: no wait. */
#define weft_allclose_new(...) WEFT__COMPARE_(weft_allclose_new_with, __VA_ARGS__, )
#define weft_array_equal_new(...) WEFT__COMPARE_(weft_array_equal_new_with, __VA_ARGS__, )

#define WEFT__COMPARE_(name, x, ...) WEFT__COMPARE__(name, x, __VA_ARGS__)
#define WEFT__COMPARE__(name, x, y, ...)                                                           \
    name(WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT__OPTIONS(weft_compare_options, __VA_ARGS__))

/* The functions under the macros. NULL options are no options. */
WEFT_API bool weft_allclose_with(weft_operand x, weft_operand y,
                                 const weft_compare_options *options);
WEFT_API bool weft_array_equal_with(weft_operand x, weft_operand y,
                                    const weft_compare_options *options);
WEFT_API weft_array *weft_allclose_new_with(weft_operand x, weft_operand y,
                                            const weft_compare_options *options);
WEFT_API weft_array *weft_array_equal_new_with(weft_operand x, weft_operand y,
                                               const weft_compare_options *options);

#ifdef __cplusplus
}
#endif
#endif
