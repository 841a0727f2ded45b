/* Cumulative sums and products: what the files of that name share. */
#ifndef WEFT_OPS_CUMULATIVE_H
#define WEFT_OPS_CUMULATIVE_H

#include "core/array.h"

/* Which, along which axis, and where. */
typedef struct weft__cumulative {
    weft_stream *stream;
    int axis;
    bool product;
} weft__cumulative;

/* The dtype in which elements of this one are added up. */
weft_dtype weft__cumulative_dtype(weft_dtype dtype);
/* Writes the sums or products of `in` to `out`, which has its shape and is elsewhere or has its
 * map.
 */
weft_status weft__cumulative_run(const weft__cumulative *c, const weft_array *in,
                                 const weft_array *out);

#endif
