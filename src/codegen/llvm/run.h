/* Running compiled code: what the files of it share. */
#ifndef WEFT_CODEGEN_LLVM_RUN_H
#define WEFT_CODEGEN_LLVM_RUN_H

#include "codegen/interpreter/memory.h"
#include "codegen/llvm/object.h"

/* A range of a launch that is run, and the patch of it that is at hand. */
typedef struct weft__frame {
    const weft__native *native;
    const weft__launch *launch;
    const weft__argument *arguments;
    const weft__variant *variant;
    weft__tiling tiling;
    bool more; /* another tile follows along the columns */
    char *tiles;
    weft__patch patch;
} weft__frame;

/* Where an operand's element at the position is. */
static inline char *weft__frame_data(const weft__frame *frame, uint32_t operand)
{
    const weft__argument *argument = &frame->arguments[operand];
    char *data = argument->data;
    for (int32_t k = 0; k < frame->launch->ndim; k++)
        data += frame->patch.position[k] * argument->stride[k];
    return data;
}

/* tile_run.c: runs the patch at hand; operands that lie across its rows go through tiles. */
void weft__run_tile(weft__frame *frame);

/* run_whole.c: runs the patch at hand with code that takes whole turns. */
void weft__run_whole(weft__frame *frame);

static inline void weft__frame_run(weft__frame *frame)
{
    if (frame->native->header.width == 0)
        frame->native->run(&frame->patch);
    else
        weft__run_whole(frame);
}

/* streaming.c */
weft__streaming weft__frame_streaming(const weft__frame *frame);

#endif
