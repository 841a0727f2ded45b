/* Reductions as functions: what sum(a) and the like are in expressions. */
#ifndef WEFT_REDUCE_H
#define WEFT_REDUCE_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A new array, with the array's dtype unless it is said; queued on the array's stream, no wait.
 *     weft_sum(a)                                         all elements
 *     weft_sum(a, .axes = WEFT_AXES(0, 2), .keep = true)  some axes, which stay with size 1
 *     weft_sum(a, .axes = WEFT_AXES(-1), .out = row)      into an array that is there: returns it,
 *                                                         retained
 * The order of additions depends on the shape and the axes alone (docs/semantics.md). */
typedef struct weft_reduce_options {
    size_t struct_size;
    weft_axes axes;     /* none: all */
    bool keep;          /* the axes stay, with size 1 */
    weft_array *out;    /* into this array, or handle; default: a new one */
    int32_t correction; /* var, std: taken off the number of elements; from 0 to 65535 */
    int32_t order;      /* norm: 1, 2, or WEFT_NORM_INF; 0 is 2 */
} WEFT__NAMED weft_reduce_options;

/* The order of the norm that is the largest absolute value. */
enum { WEFT_NORM_INF = -1 };

#define WEFT__REDUCE(name, array, ...)                                                             \
    name((array), WEFT__OPTIONS(weft_reduce_options, __VA_ARGS__))
#define WEFT__REDUCE_(...) WEFT__REDUCE(__VA_ARGS__)

/* Integers and bool give i64 or u64. Of nothing: 0 and 1. */
#define weft_sum(...) WEFT__REDUCE_(weft_sum_with, __VA_ARGS__, )
#define weft_prod(...) WEFT__REDUCE_(weft_prod_with, __VA_ARGS__, )
/* NaN if there is one; an error of nothing. */
#define weft_min(...) WEFT__REDUCE_(weft_min_with, __VA_ARGS__, )
#define weft_max(...) WEFT__REDUCE_(weft_max_with, __VA_ARGS__, )
/* Of floats; the mean of complex numbers, too. Of nothing: NaN. */
#define weft_mean(...) WEFT__REDUCE_(weft_mean_with, __VA_ARGS__, )
#define weft_var(...) WEFT__REDUCE_(weft_var_with, __VA_ARGS__, )
#define weft_std(...) WEFT__REDUCE_(weft_std_with, __VA_ARGS__, )
/* Whether some element is not 0, and whether none is: bool. Of nothing: false and true. */
#define weft_any(...) WEFT__REDUCE_(weft_any_with, __VA_ARGS__, )
#define weft_all(...) WEFT__REDUCE_(weft_all_with, __VA_ARGS__, )
/* The position, i64, of the first smallest or largest along one axis, or in C order over all. A NaN
 * counts as both. */
#define weft_argmin(...) WEFT__REDUCE_(weft_argmin_with, __VA_ARGS__, )
#define weft_argmax(...) WEFT__REDUCE_(weft_argmax_with, __VA_ARGS__, )
/* The square root of the sum of squares; the sum or the largest of the absolute values. Of complex
 * numbers real. */
#define weft_norm(...) WEFT__REDUCE_(weft_norm_with, __VA_ARGS__, )

/* The functions under the macros. NULL options are no options. */
WEFT_API weft_array *weft_sum_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_prod_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_min_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_max_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_mean_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_var_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_std_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_any_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_all_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_argmin_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_argmax_with(weft_array *array, const weft_reduce_options *options);
WEFT_API weft_array *weft_norm_with(weft_array *array, const weft_reduce_options *options);

#ifdef __cplusplus
}
#endif
#endif
