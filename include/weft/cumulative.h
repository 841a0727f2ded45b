/* Cumulative sums and products along an axis. */
#ifndef WEFT_CUMULATIVE_H
#define WEFT_CUMULATIVE_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What weft_cumulative_sum and weft_cumulative_prod can be told. */
typedef struct weft_cumulative_options {
    size_t struct_size;
    weft_array *out;      /* into an array that is there, or a handle: returns it, retained */
    bool include_initial; /* begins with the sum or product of nothing: one element more */
} WEFT__NAMED weft_cumulative_options;

/* A new array, whose element k along the axis is the sum or product of the elements 0 to k; a
 * negative axis counts from the end. Queued on the array's stream, no wait.
 *     weft_cumulative_sum(a, -1)
 *     weft_cumulative_sum(a, 0, .include_initial = true)
 *     weft_cumulative_prod(a, 1, .out = a)
 * Integers and bool give i64 or u64; any other dtype stays. The order of additions depends on the
 * size of the axis alone (docs/semantics.md). */
#define weft_cumulative_sum(...) WEFT__CUMULATIVE_(weft_cumulative_sum_with, __VA_ARGS__, )
#define weft_cumulative_prod(...) WEFT__CUMULATIVE_(weft_cumulative_prod_with, __VA_ARGS__, )
#define WEFT__CUMULATIVE_(name, array, ...) WEFT__CUMULATIVE__(name, array, __VA_ARGS__)
#define WEFT__CUMULATIVE__(name, array, axis, ...)                                                 \
    name((array), (axis), WEFT__OPTIONS(weft_cumulative_options, __VA_ARGS__))

/* The functions under the macros. NULL options are no options. */
WEFT_API weft_array *weft_cumulative_sum_with(weft_array *array, int axis,
                                              const weft_cumulative_options *options);
WEFT_API weft_array *weft_cumulative_prod_with(weft_array *array, int axis,
                                               const weft_cumulative_options *options);

#ifdef __cplusplus
}
#endif
#endif
