/* Folding with kept points as columns: rows in order, for many points side by side. */
#include "codegen/llvm/fold_run.h"

enum {
    ROWS = 8,   /* long ones at a time: as many streams as processors follow */
    LONG = 1024 /* columns */
};

int64_t weft__fold_columns_most(const weft__fold_frame *frame)
{
    int64_t bytes = 0, room = frame->pack_bytes;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        if (!weft__fold_is_packed(frame, k))
            continue;
        bytes += (int64_t)WEFT__FOLD_RUN << frame->native->operands[k].size;
        room -= 64;
    }
    if (bytes == 0 || frame->plan.mode == WEFT__FOLD_LANES_MODE)
        return INT64_MAX;
    return room < bytes ? 1 : room / bytes;
}

/* Part by part where elements are longer than what can be moved at once, or less aligned. */
void weft__fold_move(const weft__fold_frame *frame, int size, weft__plane dst, weft__plane src,
                     int64_t rows, int64_t columns)
{
    const uint64_t element = (uint64_t)1 << size;
    const uint64_t bits = (uintptr_t)dst.data | (uint64_t)dst.row | (uint64_t)dst.column |
                          (uintptr_t)src.data | (uint64_t)src.row | (uint64_t)src.column;
    if (size < WEFT__SIZES && (bits & (element - 1)) == 0) {
        weft__memory_move(frame->variant, size, dst, src, rows, columns, false);
        return;
    }
    weft__memory_move(frame->variant, size - 1, dst, src, rows, columns, false);
    dst.data += element / 2;
    src.data += element / 2;
    weft__memory_move(frame->variant, size - 1, dst, src, rows, columns, false);
}

/* Makes the operands those of the rows at the position. */
static void find_operands(weft__fold_frame *frame)
{
    const weft__fold_plan *plan = &frame->plan;
    weft__patch *patch = &frame->points;
    char *pack = frame->pack;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int64_t *stride = frame->arguments[k].stride;
        const int size = frame->native->operands[k].size;
        if (frame->native->operands[k].flags == 0)
            continue;
        weft__patch_operand far = {weft__fold_data(frame, k),
                                   plan->row_axis < 0 ? 0 : stride[plan->row_axis],
                                   plan->column_axis < 0 ? 0 : stride[plan->column_axis]};
        patch->operands[k] = far;
        if (!weft__fold_is_packed(frame, k))
            continue;
        const weft__patch_operand near = {pack, patch->columns << size, (int64_t)1 << size};
        weft__fold_move(frame, size, (weft__plane){near.data, near.row, near.column},
                        (weft__plane){far.data, far.row, far.column}, patch->rows, patch->columns);
        patch->operands[k] = near;
        pack += patch->rows * near.row;
        pack += -(uintptr_t)pack & 63U;
    }
}

/* The elements [begin, end) of all columns, into what `to` holds. */
static void fold_run(weft__fold_frame *frame, int64_t begin, int64_t end, char *const *to)
{
    const weft__launch *launch = frame->launch;
    const int32_t axis = frame->plan.row_axis;
    const bool in_place = weft__fold_columns_most(frame) == INT64_MAX,
               long_rows = in_place && frame->columns >= LONG;
    weft__patch *patch = &frame->points;
    for (int32_t k = 0; k < frame->count; k++)
        frame->sheet.slot[k] = to[k];
    patch->columns = frame->columns;
    patch->streaming =
        long_rows && weft__fold_is_large(frame) ? WEFT__STREAMING_LOADS_ONLY : WEFT__STREAMING_NOT;
    frame->sheet.groups = 1;
    for (int64_t at = begin; at < end; at += patch->rows) {
        weft__fold_place(frame, launch->kept_ndim, launch->ndim, at);
        const int64_t left = axis < 0 ? 1 : launch->size[axis] - patch->position[axis];
        patch->rows = weft__fold_least(end - at, left);
        if (long_rows)
            patch->rows = weft__fold_least(patch->rows, ROWS);
        frame->sheet.fresh = at == begin;
        frame->sheet.folded = at;
        find_operands(frame);
        frame->native->fold(patch);
    }
}

void weft__fold_columns(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                        int64_t pitch)
{
    const int64_t length = frame->plan.length;
    char *at[WEFT__FOLDS_MAX];
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t begin = (chunk + c) * length;
        for (int32_t k = 0; k < frame->count; k++)
            at[k] = to[k] + ((c * pitch) << frame->size[k]);
        fold_run(frame, begin, weft__fold_least(begin + length, frame->launch->folded), at);
    }
}
