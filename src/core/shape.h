/* Shapes: checks and strides. */
#ifndef WEFT_CORE_SHAPE_H
#define WEFT_CORE_SHAPE_H

#include "core/status.h"
#include <weft/shape.h>

/* Checks the rank and the sizes; gives the number of elements. */
weft_status weft__shape_check(const weft_shape *shape, int64_t *count);
/* Also checks that `item` bytes an element fit into a size. */
weft_status weft__shape_bytes(const weft_shape *shape, size_t item, size_t *bytes);
/* C-order strides in bytes; rows are padded to a multiple of `row_alignment` bytes (1: no padding).
 * Gives the bytes from the first element to the end of the last row. */
weft_status weft__shape_strides(const weft_shape *shape, size_t item, size_t row_alignment,
                                int64_t *strides, size_t *bytes);
weft_status weft__shape_broadcast(const weft_shape *a, const weft_shape *b, weft_shape *result);
/* Turns a negative axis into the one it stands for; an error if it is out of range. */
weft_status weft__axis_check(int axis, int ndim, int *result);

/* A shape as text, for messages. */
typedef struct weft__shape_text {
    char text[WEFT_NDIM_MAX * 22 + 4];
} weft__shape_text;
weft__shape_text weft__shape_text_of(const weft_shape *shape);

/* Whether all of WEFT_NDIM_MAX sizes or strides are the same, unused ones too: without branches. */
static inline bool weft__axes_same(const int64_t *a, const int64_t *b)
{
    int64_t different = 0;
    for (int k = 0; k < WEFT_NDIM_MAX; k++)
        different |= a[k] ^ b[k];
    return different == 0;
}

/* As weft_shape_equal, without copies of both. */
static inline bool weft__shape_same(const weft_shape *a, const weft_shape *b)
{
    if (a->ndim != b->ndim)
        return false;
    if (weft__axes_same(a->size, b->size))
        return true;
    for (int k = 0; k < a->ndim; k++)
        if (a->size[k] != b->size[k])
            return false;
    return true;
}

#endif
