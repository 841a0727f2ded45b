/* Whether a launch is large, and its stores go past the caches: it writes much, and whole lines. */
#include "codegen/llvm/run.h"

enum {
    LINE = 64,
    STREAMED_ROW = 512, /* bytes: shorter rows are not worth being aligned */
    FEW = 1 << 16       /* points, of which nothing needs to be known */
};

/* Whether two operands reach the alignment of a line at the same columns of every row. */
static bool same_alignment(const weft__frame *frame, const weft__argument *a,
                           const weft__argument *b)
{
    int64_t difference = (int64_t)((uintptr_t)a->data - (uintptr_t)b->data) % LINE;
    for (int32_t k = 0; k < frame->launch->ndim - 1; k++)
        difference |= (a->stride[k] - b->stride[k]) % LINE;
    return difference == 0;
}

/* Whether all rows, and so all tiles, are made of whole lines. */
static bool has_aligned_rows(const weft__frame *frame, const weft__argument *argument)
{
    uint64_t rest = (uintptr_t)argument->data;
    for (int32_t k = 0; k < frame->launch->ndim - 1; k++)
        rest |= (uint64_t)argument->stride[k];
    return rest % LINE == 0;
}

/* Whether an operand that may be streamed can be in this launch: memory that is read as well is in
 * the cache already. */
static bool can_stream(const weft__frame *frame, uint32_t operand)
{
    const weft__native *native = frame->native;
    const weft__argument *argument = &frame->arguments[operand];
    const int64_t element = (int64_t)1 << native->operands[operand].size;
    if (!same_alignment(frame, argument, &frame->arguments[native->header.streamed]) ||
        (frame->tiling.axis >= 0 &&
         weft__tiled(frame->launch, operand, native->operands[operand].size)))
        return false;
    uint64_t unaligned = (uintptr_t)argument->data % (uint64_t)element;
    for (int32_t k = 0; k < frame->launch->ndim - 1; k++)
        unaligned |= (uint64_t)(argument->stride[k] % element);
    for (uint32_t k = 0; k < native->header.operands_count; k++)
        if ((native->operands[k].flags & WEFT__OPERAND_READ) != 0 &&
            frame->arguments[k].data == argument->data)
            return false;
    return unaligned == 0 && (frame->tiling.axis < 0 || has_aligned_rows(frame, argument));
}

/* For each point, of operands with one of the flags. */
static int64_t bytes_moved(const weft__frame *frame, int flags)
{
    const weft__native *native = frame->native;
    int64_t bytes = 0;
    for (uint32_t k = 0; k < native->header.operands_count; k++)
        if ((native->operands[k].flags & flags) != 0)
            bytes += (int64_t)1 << native->operands[k].size;
    return bytes;
}

static bool stores_stream(const weft__frame *frame)
{
    const weft__native *native = frame->native;
    if (native->header.streamed < 0)
        return false;
    for (uint32_t k = 0; k < native->header.operands_count; k++)
        if ((native->operands[k].flags & WEFT__OPERAND_STREAMED) != 0 && !can_stream(frame, k))
            return false;
    return true;
}

weft__streaming weft__frame_streaming(const weft__frame *frame)
{
    const weft__launch *launch = frame->launch;
    if (launch->count < FEW)
        return WEFT__STREAMING_NOT;
    const bool streams = frame->native->header.streamed >= 0;
    const int64_t bytes = bytes_moved(frame, streams ? WEFT__OPERAND_STREAMED : WEFT__OPERAND_READ);
    if (launch->count * bytes <= weft__memory_streaming_bytes() ||
        launch->size[launch->ndim - 1] * bytes < STREAMED_ROW)
        return WEFT__STREAMING_NOT;
    if (stores_stream(frame))
        return WEFT__STREAMING_STORES;
    return frame->tiling.axis < 0 ? WEFT__STREAMING_LOADS_ONLY : WEFT__STREAMING_NOT;
}
