/* Running code that takes whole turns only: what a row has before it is aligned, if it is to be,
 * and after the last turn is moved to memory of whole turns, many rows at a time, and back. */
#include "codegen/llvm/run.h"

#include <string.h>

enum { LINE = 64 };

/* A part of the columns of some rows. */
struct part {
    int64_t row, rows, column, columns;
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static bool is_moved(const weft__native *native, const weft__patch *patch, uint32_t operand)
{
    return native->operands[operand].flags != 0 && patch->operands[operand].column != 0;
}

/* For one row. */
static int64_t bytes_moved(const weft__native *native, const weft__patch *patch)
{
    int64_t bytes = 0;
    for (uint32_t k = 0; k < native->header.operands_count; k++)
        if (is_moved(native, patch, k))
            bytes += (int64_t)native->header.width << native->operands[k].size;
    return bytes;
}

/* Moves the elements of an operand to `room`, or back. */
static void move(const weft__patch_operand *operand, int size, const struct part *part, char *room,
                 int64_t pitch, bool in)
{
    const size_t bytes = (size_t)part->columns << size;
    char *data = operand->data + part->row * operand->row + (part->column << size);
    for (int64_t k = 0; k < part->rows; k++, data += operand->row, room += pitch)
        memcpy(in ? room : data, in ? data : room, bytes);
}

/* Of all operands that are read, or of all that are written. */
static void move_all(const weft__native *native, const weft__patch *patch, const struct part *part,
                     char *room, bool in)
{
    const int flags = in ? WEFT__OPERAND_READ | WEFT__OPERAND_PARTIAL : WEFT__OPERAND_WRITTEN;
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        const int size = native->operands[k].size;
        const int64_t pitch = (int64_t)native->header.width << size;
        if (!is_moved(native, patch, k))
            continue;
        if ((native->operands[k].flags & flags) != 0)
            move(&patch->operands[k], size, part, room, pitch, in);
        room += part->rows * pitch;
    }
}

/* Where the code finds the part: in the room, or where it is. */
static void place(const weft__frame *frame, const struct part *part, char *room,
                  weft__patch *placed)
{
    const weft__native *native = frame->native;
    const weft__patch *patch = &frame->patch;
    const int32_t last = frame->launch->ndim - 1;
    placed->rows = part->rows;
    placed->columns = room == NULL ? part->columns : native->header.width;
    placed->streaming = room == NULL ? patch->streaming : WEFT__STREAMING_NOT;
    placed->scalars = patch->scalars;
    memcpy(placed->position, patch->position, sizeof placed->position);
    placed->position[last] += part->column;
    if (last > 0)
        placed->position[last - 1] += part->row;
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        weft__patch_operand *to = &placed->operands[k];
        const int size = native->operands[k].size;
        *to = patch->operands[k];
        to->data += part->row * to->row + part->column * to->column;
        if (room == NULL || !is_moved(native, patch, k))
            continue;
        to->data = room;
        to->row = (int64_t)native->header.width << size;
        room += part->rows * to->row;
    }
}

/* Lanes that hold nothing are 0, for which nothing takes long. */
static __attribute__((noinline)) void run_moved(const weft__frame *frame, const struct part *part,
                                                weft__patch *placed)
{
    _Alignas(LINE) char room[WEFT__WHOLE_BYTES];
    memset(room, 0, (size_t)(part->rows * bytes_moved(frame->native, &frame->patch)));
    move_all(frame->native, &frame->patch, part, room, true);
    place(frame, part, room, placed);
    frame->native->run(placed);
    move_all(frame->native, &frame->patch, part, room, false);
}

/* Whether rows begin with what comes before they are aligned. Stores that go past the caches need
 * that; in long rows that are aligned at the same columns it takes less than vectors that cross
 * lines do. */
static bool aligns(const weft__frame *frame)
{
    enum { LONG = 2048 };
    const int32_t streamed = frame->native->header.streamed;
    if (streamed < 0 || frame->patch.streaming == WEFT__STREAMING_STORES)
        return streamed >= 0;
    const weft__patch_operand *to = &frame->patch.operands[streamed];
    return (uintptr_t)to->data % LINE != 0 && (to->row % LINE == 0 || frame->patch.rows == 1) &&
           frame->patch.columns << frame->native->operands[streamed].size >= LONG;
}

/* The columns before the row is aligned. */
static int64_t head_of(const weft__frame *frame, int64_t row)
{
    const weft__native *native = frame->native;
    if (!aligns(frame))
        return 0;
    const weft__patch_operand *streamed = &frame->patch.operands[native->header.streamed];
    const uintptr_t first = (uintptr_t)(streamed->data + row * streamed->row);
    return least((int64_t)(-first & (LINE - 1)) >> native->operands[native->header.streamed].size,
                 frame->patch.columns);
}

/* How many rows go together: there is room for them, and all are aligned at the same columns. */
static int64_t rows_of(const weft__frame *frame)
{
    const weft__native *native = frame->native;
    const weft__patch *patch = &frame->patch;
    const int64_t bytes = bytes_moved(native, patch);
    if (patch->streaming == WEFT__STREAMING_STORES && native->header.streamed >= 0 &&
        patch->operands[native->header.streamed].row % LINE != 0)
        return 1;
    return bytes == 0 ? patch->rows : WEFT__WHOLE_BYTES / bytes;
}

/* All columns from `first` to before `end` of some rows, a turn at a time. */
static void run_parts(const weft__frame *frame, int64_t row, int64_t rows, int64_t first,
                      int64_t end, weft__patch *placed)
{
    const int64_t width = frame->native->header.width;
    for (int64_t at = first; at < end; at += width) {
        const struct part part = {row, rows, at, least(width, end - at)};
        run_moved(frame, &part, placed);
    }
}

/* A line may be longer than a turn. */
void weft__run_whole(weft__frame *frame)
{
    const int64_t width = frame->native->header.width, columns = frame->patch.columns;
    const int64_t rows = frame->patch.rows, most = rows_of(frame);
    weft__patch placed; /* of which each field is set before it is used */
    if (columns % width == 0 && !aligns(frame)) {
        frame->native->run(&frame->patch);
        return;
    }
    for (int64_t row = 0; row < rows; row += most) {
        const int64_t count = least(most, rows - row), head = head_of(frame, row);
        const int64_t turns = (columns - head) / width * width;
        const struct part whole = {row, count, head, turns};
        run_parts(frame, row, count, 0, head, &placed);
        if (turns > 0) {
            place(frame, &whole, NULL, &placed);
            frame->native->run(&placed);
        }
        run_parts(frame, row, count, head + turns, columns, &placed);
    }
}
