/* Arrays on the device that is tested, in every layout, and what they hold. */
#ifndef WEFT_TESTS_SUPPORT_ARRAYS_H
#define WEFT_TESTS_SUPPORT_ARRAYS_H

#include "support/check.h"
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static inline weft_device device(void) { return weft_device_named(test_device()); }

static inline weft_array *from(const void *values, size_t bytes, weft_shape shape, weft_dtype dtype)
{
    return weft_from_host(values, bytes, shape, .dtype = dtype, .device = device());
}

/* Whether the elements of the array are these bytes, all of them. */
static inline bool holds(weft_array *array, const void *expected, size_t bytes)
{
    char *actual = malloc(bytes + 1);
    bool same = actual && array && weft_array_bytes(array) == bytes &&
                weft_copy_to_host(array, actual, bytes) == WEFT_OK &&
                memcmp(actual, expected, bytes) == 0;
    free(actual);
    return same;
}

enum { CONTIGUOUS, TRANSPOSED, REVERSED, SLICED, PITCHED, LAYOUTS };

/* A new array with the elements of another one, in memory of its own that is laid out like that:
 * axes in the other order, every axis backwards, every second element, rows with padding. */
static inline weft_array *laid_out(weft_array *array, int layout)
{
    weft_shape shape = weft_array_shape(array), turned = shape;
    weft_range ranges[WEFT_NDIM_MAX];
    weft_axes axes = {.count = shape.ndim};
    if (layout == PITCHED)
        return weft_copy(array, .allocator = WEFT_ALLOCATOR_PITCHED);
    if (layout == CONTIGUOUS || shape.ndim == 0)
        return weft_copy(array);
    for (int k = 0; k < shape.ndim; k++) {
        axes.axis[k] = layout == TRANSPOSED ? shape.ndim - 1 - k : k;
        turned.size[k] = shape.size[axes.axis[k]] * (layout == SLICED ? 2 : 1);
        ranges[k] = layout == REVERSED ? WEFT_REVERSED
                    : layout == SLICED ? WEFT_STEP(1, WEFT_END, 2)
                                       : WEFT_ALL;
    }
    WEFT_AUTO weft_array *memory =
        weft_zeros(turned, .dtype = weft_array_dtype(array), .device = device());
    WEFT_AUTO weft_array *permuted = weft_permute(memory, axes);
    weft_array *view = permuted ? weft_slice_with(permuted, shape.ndim, ranges) : NULL;
    if (view && weft_assign(view, array) != WEFT_OK) {
        weft_array_release(view);
        return NULL;
    }
    return view;
}

/* A call that makes an array fails, with that code and that text in the message. */
#define CHECK_FAILS(call, code, part)                                                              \
    do {                                                                                           \
        weft_error_clear();                                                                        \
        WEFT_AUTO weft_array *made = (call);                                                       \
        CHECK(!made);                                                                              \
        CHECK_ERROR(code, part);                                                                   \
    } while (0)

/* Kernels launched so far on the device. */
static inline uint64_t launches(void)
{
    weft_statistics statistics = {0};
    weft_memory_stats(device(), &statistics);
    return statistics.launches;
}

#endif
