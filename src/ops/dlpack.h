/* DLPack: what taking tensors in and giving them out share. */
#ifndef WEFT_OPS_DLPACK_H
#define WEFT_OPS_DLPACK_H

#include "core/array.h"
#include <weft/dlpack.h>

/* What DLPack calls a dtype; NULL if that is none. */
typedef struct weft__dlpack_dtype {
    uint8_t dtype; /* weft_dtype */
    uint8_t code, bits;
} weft__dlpack_dtype;
const weft__dlpack_dtype *weft__dlpack_dtype_of(weft_dtype dtype);
/* WEFT_DTYPE_DEFAULT if Weft has no such elements. */
weft_dtype weft__dlpack_dtype_named(uint8_t code, uint8_t bits);

/* The array that a tensor of ours is over, or NULL if it is another library's. */
weft_array *weft__dlpack_own(const weft_dlpack *managed);
weft_array *weft__dlpack_own_unversioned(const weft_dlpack_unversioned *managed);

/* What the stream is given from now on comes after the work on the buffer, and what uses the buffer
 * from now on after what the stream has: nothing waits. */
weft_status weft__dlpack_hand_over(weft__buffer *buffer, weft_stream *stream, bool write);

#endif
