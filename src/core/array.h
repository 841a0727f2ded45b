/* Arrays: the struct behind the handle, and how they are made. */
#ifndef WEFT_CORE_ARRAY_H
#define WEFT_CORE_ARRAY_H

#include "core/buffer.h"
#include "core/shape.h"
#include "core/stream.h"

struct weft_array {
    _Atomic int references; /* of one that is not on the heap 1, so that it is never the last */
    uint8_t dtype;          /* of a handle that was made without one: WEFT_DTYPE_DEFAULT */
    bool overlapping;       /* elements may share memory (broadcast): not to be written */
    bool read_only;         /* whose memory it is forbids it */
    bool on_host; /* placed on the CPU, though its memory, which the CPU can use, is lent or another
                     device's */
    weft_shape shape;
    uint64_t layout; /* a number that no other array has or had, and a new one whenever anything
                        above or below is changed: what was found out about an array with this
                        number holds. 0: of one that is not on the heap */
    int64_t stride[WEFT_NDIM_MAX]; /* bytes */
    char *data;                    /* the first element */
    weft__buffer *buffer;          /* NULL: a handle with no memory yet */
    weft_stream *stream;           /* bound to it; retained, or NULL */
    weft__request request;         /* how memory is got when a resize gives some */
};

/* The device it is placed on; of lent memory that is nowhere, none. */
static inline weft_device weft__array_device(const weft_array *array)
{
    return array->on_host ? WEFT_CPU : array->buffer->device;
}
/* Lent memory that is placed nowhere. */
static inline bool weft__array_is_lent(const weft_array *array)
{
    return array->buffer->memory == WEFT_MEMORY_LENT && !array->on_host;
}

/* A new array over a buffer, whose reference it takes over also when it fails. */
weft_array *weft__array_over(weft__buffer *buffer, weft_dtype dtype, const weft_shape *shape,
                             const int64_t *strides);
/* A new handle on the same memory, to be turned into a view. */
weft_array *weft__array_view(const weft_array *array);
/* Uninitialised memory; `like` (may be NULL) gives what the options leave open. *zeroed as for
 * buffers. */
weft_array *weft__array_new(const weft_shape *shape, weft_dtype dtype, const weft_options *options,
                            const weft_array *like, bool *zeroed);
/* New memory of another shape; fails with the array unchanged. */
weft_status weft__array_resize(weft_array *array, const weft_shape *shape);
/* Gives a handle memory of the shape; it is of the dtype if it has none of its own. */
weft_status weft__array_become(weft_array *handle, weft_dtype dtype, const weft_shape *shape);
/* Makes it a handle of that dtype again. */
void weft__array_empty(weft_array *array, uint8_t dtype);
/* Number of elements; the shape was checked when the array was made. */
int64_t weft__array_count(const weft_array *array);
bool weft__array_contiguous(const weft_array *array);
/* Checks that an array can be an operand: not NULL, has memory. */
weft_status weft__array_check(const weft_array *array, const char *operand);
/* … that it can be written: elements do not share memory. */
weft_status weft__array_check_output(const weft_array *array, const char *operand);
/* The lowest and the highest byte offset from `data` that elements reach: [*low, *high). */
void weft__array_reach(const weft_array *array, int64_t *low, int64_t *high);
/* Whether elements may share memory. Conservative: axes in the order of their strides must each
 * step over all that the ones before reach. */
bool weft__array_overlaps(const weft_array *array);
/* Whether some element of one may be in the memory of the other. By address, not by buffer: memory
 * that was lent twice overlaps too. */
bool weft__array_may_overlap(const weft_array *a, const weft_array *b);
/* Whether work on the device can use the array's memory: it is the device's, or that of the host
 * and the device is the CPU. */
bool weft__array_reachable(const weft_array *array, weft_device device);
/* Options with all fields that this library knows, whatever the caller was built with. */
weft_options weft__options_of(const weft_options *options);

/* Where work on these operands runs: their common device and stream. Lent memory alone runs on the
 * context's device, else on the CPU. Errors name each operand with device, kind and queue, and the
 * call that would help. */
weft_status weft__place_lent(const weft_array *array); /* fails where lent memory is refused */
weft_status weft__place(weft_array *const *arrays, const char *const *names, int count,
                        weft_stream **stream);
/* What a new array with the result of such work is made with: on the stream's device, of the kind
 * that the operands' kinds combine to, and bound to a stream if one of them is. Arrays without
 * memory do not count. */
weft_options weft__place_result(weft_array *const *arrays, int count, const weft_stream *stream);
/* The same for a handle that is about to be given memory: what it was made with stays. */
void weft__place_handle(weft_array *handle, weft_array *const *arrays, int count);
/* Options for an array like that one: bound as it is, unless they say where. */
void weft__place_like(weft_options *options, const weft_array *like);
/* weft__place where there is nothing to decide, without names: arrays of one device, bound to no
 * stream. NULL, with the record as it was, if it takes more than that. */
weft_stream *weft__place_plain(weft_array *const *arrays, int count);

#endif
