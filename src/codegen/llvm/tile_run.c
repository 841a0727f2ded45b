/* Running a patch whose operands lie across its rows: they are turned into tiles, or back. */
#include "codegen/llvm/run.h"

enum {
    LINE = 64,
    ASKED_ROWS = 16 /* at a time: the processor does not wait for more lines than they have */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static uint64_t bits_of(const weft__plane *plane)
{
    return (uintptr_t)plane->data | (uint64_t)plane->row | (uint64_t)plane->column;
}

/* Complex numbers may be aligned as their parts are: those are moved one after the other. */
static void move(const weft__frame *frame, int size, weft__plane dst, weft__plane src)
{
    const weft__patch *patch = &frame->patch;
    const uint64_t element = (uint64_t)1 << size;
    if (((bits_of(&dst) | bits_of(&src)) & (element - 1)) == 0) {
        weft__memory_move(frame->variant, size, dst, src, patch->rows, patch->columns, false);
        return;
    }
    weft__memory_move(frame->variant, size - 1, dst, src, patch->rows, patch->columns, false);
    dst.data += element / 2;
    src.data += element / 2;
    weft__memory_move(frame->variant, size - 1, dst, src, patch->rows, patch->columns, false);
}

/* Moves the tiles of operands that are read in, or those of operands that are written out. */
static void move_tiles(weft__frame *frame, bool in)
{
    const weft__native *native = frame->native;
    weft__patch *patch = &frame->patch;
    char *tile = frame->tiles;
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        const int size = native->operands[k].size, flags = native->operands[k].flags;
        if (flags == 0 || !weft__tiled(frame->launch, k, size))
            continue;
        const int64_t *stride = frame->arguments[k].stride, bytes = patch->columns << size;
        const weft__plane far = {weft__frame_data(frame, k), stride[frame->tiling.axis],
                                 stride[frame->launch->ndim - 1]};
        const weft__plane near = {tile, bytes, (int64_t)1 << size};
        if (in && (flags & (WEFT__OPERAND_READ | WEFT__OPERAND_PARTIAL)) != 0)
            move(frame, size, near, far);
        else if (!in && (flags & WEFT__OPERAND_WRITTEN) != 0)
            move(frame, size, far, near);
        if (in) {
            patch->operands[k].data = near.data;
            patch->operands[k].row = near.row;
            patch->operands[k].column = near.column;
        }
        tile += patch->rows * bytes + (-(patch->rows * bytes) & (LINE - 1));
    }
}

/* Asks for the same rows of the next tile. */
static void ask_for_rows(const weft__frame *frame)
{
    const weft__native *native = frame->native;
    const weft__patch *patch = &frame->patch;
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        const weft__patch_operand *operand = &patch->operands[k];
        const int flags = native->operands[k].flags;
        const int64_t bytes = patch->columns * operand->column;
        if (flags == 0 || operand->row == 0 || bytes <= 0 ||
            (patch->streaming == WEFT__STREAMING_STORES && (flags & WEFT__OPERAND_STREAMED) != 0) ||
            weft__tiled(frame->launch, k, native->operands[k].size))
            continue;
        const uintptr_t first = (uintptr_t)operand->data + (uintptr_t)bytes;
        for (int64_t row = 0; row < patch->rows; row++)
            for (int64_t at = 0; at < bytes; at += LINE)
                __builtin_prefetch((const void *)(first + (uintptr_t)(row * operand->row + at)), 0,
                                   2);
    }
}

/* Some rows at a time. */
static void run_rows(weft__frame *frame)
{
    weft__patch *patch = &frame->patch;
    const int64_t rows = patch->rows, first = patch->position[frame->tiling.axis];
    for (int64_t row = 0; row < rows; row += ASKED_ROWS) {
        patch->rows = least(ASKED_ROWS, rows - row);
        patch->position[frame->tiling.axis] = first + row;
        if (frame->more)
            ask_for_rows(frame);
        weft__frame_run(frame);
        for (uint32_t k = 0; k < frame->native->header.operands_count; k++)
            patch->operands[k].data += ASKED_ROWS * patch->operands[k].row;
    }
    patch->position[frame->tiling.axis] = first;
    patch->rows = rows;
}

void weft__run_tile(weft__frame *frame)
{
    move_tiles(frame, true);
    run_rows(frame);
    move_tiles(frame, false);
}
