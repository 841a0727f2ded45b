/* Moving elements from one array to another, wherever the two are. */
#ifndef WEFT_KERNEL_MOVE_H
#define WEFT_KERNEL_MOVE_H

#include "core/array.h"

/* Writes source, broadcast and converted, into target on the stream. Both are checked already. If
 * the stream cannot reach one of them, bytes are copied between the devices, on a stream of the one
 * that is not the CPU; a synchronous stream is waited for. */
weft_status weft__move(weft_array *target, weft_array *source, weft_stream *stream);
/* Gets the compiled code for it, so that it does not run out of memory if it is called later. Not
 * for arrays that overlap or that the stream cannot reach. */
weft_status weft__move_reserve(weft_array *target, weft_array *source, weft_stream *stream);

/* transfer.c: the case that takes a copy between devices. */
weft_status weft__transfer(weft_array *target, weft_array *source, weft_stream *stream);
/* Both are in C order, of one shape and dtype, and one is the stream's device's. */
weft_status weft__transfer_bytes(weft_array *target, const weft_array *source, weft_stream *stream);
/* Whether both are rows of the same bytes that a driver copies as they lie; then that. */
bool weft__transfer_has_rows(const weft_array *target, const weft_array *source, weft__rows *rows);
weft_status weft__transfer_rows(weft_array *target, const weft_array *source,
                                const weft__rows *rows, weft_stream *stream);

#endif
