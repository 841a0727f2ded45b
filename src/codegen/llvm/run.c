/* Running compiled code over a range of a launch: cuts it into patches, and sees to the
 * floating-point mode. */
#include "codegen/llvm/run.h"
#include "codegen/interpreter/mode.h"
#include "core/thread.h"

enum { LINE = 64 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* With rows along `axis`, or a single one. Single columns count as dense ones: classes.c. */
static void find_operands(weft__frame *frame, int32_t axis)
{
    weft__patch *patch = &frame->patch;
    const int32_t last = frame->launch->ndim - 1;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int64_t *stride = frame->arguments[k].stride;
        weft__patch_operand *operand = &patch->operands[k];
        operand->data = weft__frame_data(frame, k);
        operand->row = axis < 0 ? 0 : stride[axis];
        operand->column = frame->launch->size[last] > 1
                              ? stride[last]
                              : (int64_t)1 << frame->native->operands[k].size;
    }
}

static void run_patch(weft__frame *frame, int32_t axis, int64_t rows, int64_t columns)
{
    weft__patch *patch = &frame->patch;
    patch->rows = rows;
    patch->columns = columns;
    find_operands(frame, axis);
    if (frame->tiling.axis < 0) {
        weft__frame_run(frame);
        return;
    }
    weft__run_tile(frame);
}

/* A patch of which each part has its displaced operands elsewhere. */
static void run_displaced(weft__frame *frame, int64_t rows, int64_t columns)
{
    weft__patch *patch = &frame->patch;
    const int32_t last = frame->launch->ndim - 1;
    const int64_t first_row = last > 0 ? patch->position[last - 1] : 0;
    const int64_t first_column = patch->position[last];
    for (int64_t column = 0; column < columns; column += patch->columns) {
        patch->position[last] = first_column + column;
        patch->columns = columns - column;
        weft__displace_columns(frame->native, frame->launch, patch);
        for (int64_t row = 0; row < rows; row += patch->rows) {
            if (last > 0)
                patch->position[last - 1] = first_row + row;
            patch->rows = rows - row;
            find_operands(frame, last - 1);
            (void)weft__displace(frame->native, frame->launch, patch);
            frame->native->run(patch);
        }
    }
    patch->position[last] = first_column;
    if (last > 0)
        patch->position[last - 1] = first_row;
}

/* To the next point of the axes from `first` to `axis`; false if that was the last. */
static bool advance(weft__frame *frame, int32_t first, int32_t axis)
{
    int64_t *position = frame->patch.position;
    for (int32_t k = axis; k >= first; k--) {
        if (++position[k] < frame->launch->size[k])
            return true;
        position[k] = 0;
    }
    return false;
}

/* The position of the point with this number, of the axes up to `axis`. */
static void place(weft__frame *frame, int32_t axis, int64_t number)
{
    int64_t *position = frame->patch.position;
    for (int32_t k = 0; k < frame->launch->ndim; k++)
        position[k] = 0;
    for (int32_t k = axis; k >= 0 && number != 0; k--) {
        position[k] = number % frame->launch->size[k];
        number /= frame->launch->size[k];
    }
}

/* Whole rows, as many as there are one after the other, and what is left of rows at both ends. */
static void run_rows(weft__frame *frame, int64_t begin, int64_t end)
{
    const int32_t last = frame->launch->ndim - 1;
    const int64_t *size = frame->launch->size, most = frame->tiling.columns;
    int64_t *position = frame->patch.position;
    place(frame, last, begin);
    while (begin < end) {
        int64_t rows = 1, columns = least(size[last] - position[last], end - begin);
        if (frame->tiling.axis >= 0)
            columns = least(columns, most);
        else if (columns == size[last] && last > 0)
            rows = least(size[last - 1] - position[last - 1], (end - begin) / columns);
        if (frame->native->header.displaced_count > 0)
            run_displaced(frame, rows, columns);
        else
            run_patch(frame, last - 1, rows, columns);
        begin += rows * columns;
        position[last] += columns;
        if (position[last] < size[last])
            continue;
        position[last] = 0;
        if (last > 0)
            position[last - 1] += rows - 1;
        (void)advance(frame, 0, last - 1);
    }
}

/* Whole planes of rows, a block of the same rows of each after the other: what rows of one plane
 * need of the next is then still in the cache when it comes to that. */
static void run_planes(weft__frame *frame, int64_t begin, int64_t end)
{
    const int32_t last = frame->launch->ndim - 1;
    const int64_t rows = frame->launch->size[last - 1], columns = frame->launch->size[last];
    const int64_t block = weft__displaced_rows(frame->native->operands,
                                               frame->native->header.operands_count, columns);
    for (int64_t row = 0; row < rows; row += block) {
        place(frame, last - 2, begin);
        for (int64_t plane = begin; plane < end; plane++) {
            frame->patch.position[last - 1] = row;
            run_displaced(frame, least(block, rows - row), columns);
            frame->patch.position[last - 1] = 0;
            (void)advance(frame, 0, last - 2);
        }
    }
}

/* All tiles of the rows from position[axis] on, along the axes after it. */
static void run_band(weft__frame *frame, int64_t rows)
{
    const int32_t last = frame->launch->ndim - 1, axis = frame->tiling.axis;
    const int64_t size = frame->launch->size[last], columns = frame->tiling.columns;
    int64_t *column = &frame->patch.position[last];
    do {
        for (*column = 0; *column < size; *column += columns) {
            frame->more = *column + columns < size;
            run_patch(frame, axis, rows, least(columns, size - *column));
        }
        *column = 0;
    } while (advance(frame, axis + 1, last - 1));
}

static void run_tiles(weft__frame *frame, int64_t begin, int64_t end)
{
    const int32_t axis = frame->tiling.axis;
    const int64_t size = frame->launch->size[axis];
    while (begin < end) {
        place(frame, axis, begin);
        const int64_t row = frame->patch.position[axis];
        const int64_t rows = least(least(frame->tiling.rows, size - row), end - begin);
        run_band(frame, rows);
        begin += rows;
    }
}

/* With tiles, whole bands of rows; a range that cuts through them goes row by row. */
static void run_range(weft__frame *frame, int64_t begin, int64_t end)
{
    int64_t inner = 1;
    for (int32_t k = frame->tiling.axis + 1; k < frame->launch->ndim; k++)
        inner *= frame->launch->size[k];
    if (frame->tiling.axis >= 0 && begin % inner == 0 && end % inner == 0)
        run_tiles(frame, begin / inner, end / inner);
    else
        run_rows(frame, begin, end);
}

/* Whether displaced loads reach from one plane of rows to another. */
static bool crosses_planes(const weft__native *native, int32_t ndim)
{
    for (uint32_t k = 0; k < native->header.displaced_count; k++)
        for (int32_t axis = 0; axis < ndim - 2; axis++)
            if (native->displaced[k].offset[axis] != 0)
                return true;
    return false;
}

/* Whole planes in blocks, and what is left of planes row by row. */
static void run_plain(weft__frame *frame, int64_t begin, int64_t end)
{
    const weft__launch *launch = frame->launch;
    const int32_t last = launch->ndim - 1;
    if (!crosses_planes(frame->native, launch->ndim)) {
        run_rows(frame, begin, end);
        return;
    }
    const int64_t plane = launch->size[last] * launch->size[last - 1];
    const int64_t first = begin / plane + (begin % plane != 0), after = end / plane;
    if (first >= after) {
        run_rows(frame, begin, end);
        return;
    }
    run_rows(frame, begin, first * plane);
    run_planes(frame, first, after);
    run_rows(frame, after * plane, end);
}

/* For threads that have no memory of their own for this: those of the library, with large stacks.
 */
static __attribute__((noinline)) void run_tiled_on_stack(weft__frame *frame, int64_t begin,
                                                         int64_t end)
{
    _Alignas(LINE) char tiles[WEFT__TILES_BYTES];
    frame->tiles = tiles;
    run_range(frame, begin, end);
}

static void run_tiled(weft__frame *frame, int64_t begin, int64_t end)
{
    const weft__thread *thread = weft__thread_peek();
    frame->variant = weft__variant_chosen();
    if (thread == NULL) {
        run_tiled_on_stack(frame, begin, end);
        return;
    }
    frame->tiles = (char *)thread->scratch + (-(uintptr_t)thread->scratch & (LINE - 1));
    run_range(frame, begin, end);
}
_Static_assert((int)WEFT__TILES_BYTES <= (int)WEFT__SCRATCH_BYTES, "tiles");

/* An index space of one axis, which most have after all: a part of its only row. */
static void run_row(weft__frame *frame, int64_t begin, int64_t end)
{
    const weft__native *native = frame->native;
    weft__patch *patch = &frame->patch;
    const bool several = frame->launch->size[0] > 1;
    patch->position[0] = begin;
    patch->rows = 1;
    patch->columns = end - begin;
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        const weft__argument *argument = &frame->arguments[k];
        const int64_t stride = argument->stride[0];
        patch->operands[k].data = argument->data + begin * stride;
        patch->operands[k].row = 0;
        patch->operands[k].column = several ? stride : (int64_t)1 << native->operands[k].size;
    }
    weft__frame_run(frame);
}

void weft__native_run(const void *program, const weft__launch *launch, int64_t begin, int64_t end)
{
    const weft__native *native = program;
    weft__frame frame; /* of which each field is set before it is used */
    if (begin >= end)
        return;
    frame.native = native;
    frame.launch = launch;
    frame.more = false;
    frame.arguments = weft__launch_arguments_of(launch);
    frame.tiling = native->header.displaced_count > 0
                       ? (weft__tiling){.axis = -1}
                       : weft__tiling_of(launch, native->operands, native->header.has_index != 0);
    frame.patch.scalars = weft__launch_scalars(launch);
    frame.patch.streaming = weft__frame_streaming(&frame);
    const weft__mode mode = weft__mode_enter();
    if (frame.tiling.axis >= 0)
        run_tiled(&frame, begin, end);
    else if (launch->ndim == 1 && native->header.displaced_count == 0)
        run_row(&frame, begin, end);
    else
        run_plain(&frame, begin, end);
    weft__mode_leave(mode);
    if (frame.patch.streaming == WEFT__STREAMING_STORES)
        weft__memory_fence();
}
