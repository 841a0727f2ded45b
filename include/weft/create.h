/* Making arrays. */
#ifndef WEFT_CREATE_H
#define WEFT_CREATE_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each of these takes the options of weft_options by name:
 *     weft_zeros(WEFT_SHAPE(2, 3), .dtype = WEFT_F64, .device = gpu)
 * A dtype that is not given is f32, except where it is said. */

/* Memory that holds anything. */
#define weft_empty(...) WEFT__EMPTY(__VA_ARGS__, )
#define WEFT__EMPTY(shape, ...) weft_empty_with((shape), WEFT__NEW(__VA_ARGS__))
/* Every element is 0, or 1. */
#define weft_zeros(...) WEFT__ZEROS(__VA_ARGS__, )
#define WEFT__ZEROS(shape, ...) weft_zeros_with((shape), WEFT__NEW(__VA_ARGS__))
#define weft_ones(...) WEFT__ONES(__VA_ARGS__, )
#define WEFT__ONES(shape, ...) weft_ones_with((shape), WEFT__NEW(__VA_ARGS__))
/* weft_full(shape, 2.5): the dtype is that of the C number, but f32 for a double. */
#define weft_full(...) WEFT__FULL(__VA_ARGS__, )
#define WEFT__FULL(shape, ...) WEFT__FULL_(shape, __VA_ARGS__)
#define WEFT__FULL_(shape, number, ...)                                                            \
    weft_full_with((shape), WEFT_OPERAND(number), WEFT__NEW(__VA_ARGS__))
/* start, start + step, … below stop (above, if step < 0): weft_arange(0, 10, 1). Element k is
 * start + k*step, rounded once from f64. */
#define weft_arange(...) WEFT__ARANGE(__VA_ARGS__, )
#define WEFT__ARANGE(start, ...) WEFT__ARANGE_(start, __VA_ARGS__)
#define WEFT__ARANGE_(start, stop, ...) WEFT__ARANGE__(start, stop, __VA_ARGS__)
#define WEFT__ARANGE__(start, stop, step, ...)                                                     \
    weft_arange_with((start), (stop), (step), WEFT__NEW(__VA_ARGS__))
/* `count` numbers from start to stop, both included. */
#define weft_linspace(...) WEFT__LINSPACE(__VA_ARGS__, )
#define WEFT__LINSPACE(start, ...) WEFT__LINSPACE_(start, __VA_ARGS__)
#define WEFT__LINSPACE_(start, stop, ...) WEFT__LINSPACE__(start, stop, __VA_ARGS__)
#define WEFT__LINSPACE__(start, stop, count, ...)                                                  \
    weft_linspace_with((start), (stop), (count), WEFT__NEW(__VA_ARGS__))
/* rows × columns, one where column − row = diagonal, else zero: weft_eye(3, 3, 0). */
#define weft_eye(...) WEFT__EYE(__VA_ARGS__, )
#define WEFT__EYE(rows, ...) WEFT__EYE_(rows, __VA_ARGS__)
#define WEFT__EYE_(rows, columns, ...) WEFT__EYE__(rows, columns, __VA_ARGS__)
#define WEFT__EYE__(rows, columns, diagonal, ...)                                                  \
    weft_eye_with((rows), (columns), (diagonal), WEFT__NEW(__VA_ARGS__))

/* Shape, dtype, device, memory kind and stream of another array, unless given. */
#define weft_empty_like(...) WEFT__EMPTY_LIKE(__VA_ARGS__, )
#define WEFT__EMPTY_LIKE(array, ...) weft_empty_like_with((array), WEFT__NEW(__VA_ARGS__))
#define weft_zeros_like(...) WEFT__ZEROS_LIKE(__VA_ARGS__, )
#define WEFT__ZEROS_LIKE(array, ...) weft_zeros_like_with((array), WEFT__NEW(__VA_ARGS__))
#define weft_ones_like(...) WEFT__ONES_LIKE(__VA_ARGS__, )
#define WEFT__ONES_LIKE(array, ...) weft_ones_like_with((array), WEFT__NEW(__VA_ARGS__))
#define weft_full_like(...) WEFT__FULL_LIKE(__VA_ARGS__, )
#define WEFT__FULL_LIKE(array, ...) WEFT__FULL_LIKE_(array, __VA_ARGS__)
#define WEFT__FULL_LIKE_(array, number, ...)                                                       \
    weft_full_like_with((array), WEFT_OPERAND(number), WEFT__NEW(__VA_ARGS__))

/* A handle with no memory yet. An assignment gives it some, where the operands are unless it was
 * made with .device, or a resize. Without .dtype it gets that of what is assigned; f32 in a resize.
 * weft_assign always makes it a copy of the source. */
#define weft_handle(...) weft_handle_with(WEFT__NEW(__VA_ARGS__))
/* A new array with a copy of host memory in C order; `bytes` is checked. */
#define weft_from_host(...) WEFT__FROM_HOST(__VA_ARGS__, )
#define WEFT__FROM_HOST(data, ...) WEFT__FROM_HOST_(data, __VA_ARGS__)
#define WEFT__FROM_HOST_(data, bytes, ...) WEFT__FROM_HOST__(data, bytes, __VA_ARGS__)
#define WEFT__FROM_HOST__(data, bytes, shape, ...)                                                 \
    weft_from_host_with((data), (bytes), (shape), WEFT__NEW(__VA_ARGS__))

/* Frees memory that was lent, on any thread. */
typedef void weft_deleter(void *context, void *data);
/* What weft_borrow can be told. */
typedef struct weft_borrow_options {
    size_t struct_size;
    const int64_t *strides; /* one per axis, in bytes; default: C order without gaps */
    weft_deleter *deleter;  /* called once, when no array and no queued work uses the memory */
    void *deleter_context;  /* handed to the deleter */
} WEFT__NAMED weft_borrow_options;
/* An array over host memory that the user lends: its kind is WEFT_MEMORY_LENT, and it is placed on
 * no device. Strides must keep every element within [data, data + bytes). Work that is queued reads
 * and writes it later: the host may change or free it after weft_eval of the array, or when the
 * deleter is called; a release does not wait. If weft_borrow fails, the deleter is not called. */
#define weft_borrow(...) WEFT__BORROW(__VA_ARGS__, )
#define WEFT__BORROW(data, ...) WEFT__BORROW_(data, __VA_ARGS__)
#define WEFT__BORROW_(data, bytes, ...) WEFT__BORROW__(data, bytes, __VA_ARGS__)
#define WEFT__BORROW__(data, bytes, shape, ...) WEFT__BORROW___(data, bytes, shape, __VA_ARGS__)
#define WEFT__BORROW___(data, bytes, shape, dtype, ...)                                            \
    weft_borrow_with((data), (bytes), (shape), (dtype),                                            \
                     WEFT__OPTIONS(weft_borrow_options, __VA_ARGS__))

/* The functions under the macros. NULL options are no options. */
#define WEFT__NEW(...) WEFT__OPTIONS(weft_options, __VA_ARGS__)
WEFT_API weft_array *weft_empty_with(weft_shape shape, const weft_options *options);
WEFT_API weft_array *weft_zeros_with(weft_shape shape, const weft_options *options);
WEFT_API weft_array *weft_ones_with(weft_shape shape, const weft_options *options);
WEFT_API weft_array *weft_full_with(weft_shape shape, weft_operand number,
                                    const weft_options *options);
WEFT_API weft_array *weft_arange_with(double start, double stop, double step,
                                      const weft_options *options);
WEFT_API weft_array *weft_linspace_with(double start, double stop, int64_t count,
                                        const weft_options *options);
WEFT_API weft_array *weft_eye_with(int64_t rows, int64_t columns, int64_t diagonal,
                                   const weft_options *options);
WEFT_API weft_array *weft_empty_like_with(weft_array *array, const weft_options *options);
WEFT_API weft_array *weft_zeros_like_with(weft_array *array, const weft_options *options);
WEFT_API weft_array *weft_ones_like_with(weft_array *array, const weft_options *options);
WEFT_API weft_array *weft_full_like_with(weft_array *array, weft_operand number,
                                         const weft_options *options);
WEFT_API weft_array *weft_handle_with(const weft_options *options);
WEFT_API weft_array *weft_from_host_with(const void *data, size_t bytes, weft_shape shape,
                                         const weft_options *options);
WEFT_API weft_array *weft_borrow_with(void *data, size_t bytes, weft_shape shape, weft_dtype dtype,
                                      const weft_borrow_options *options);

#ifdef __cplusplus
}
#endif
#endif
