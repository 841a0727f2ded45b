/* Folding in lanes where the elements of a chunk lie across the lines of memory. Many rows, which
 * differ along an axis with elements that are close together, are packed and folded side by side,
 * window by window; each row has lanes of its own.
 *
 * Rows are kept points, or longer than a chunk. A chunk that begins in one row and ends in the next
 * is finished after the last window, with what the next row begins with. */
#include "codegen/llvm/fold_run.h"

#include <string.h>

enum {
    ROWS = 64,
    WIDTH = 1024, /* elements of a row in a window */
    TILE = 64     /* and of what is moved at once, for the lines that come next to be asked for */
};

struct window {
    int32_t axis;
    int64_t inner, step; /* elements of a row; from the number of its first to that of the next */
    int64_t rows, width; /* of a window */
    int64_t first;       /* the number of the first element of the first row */
    int64_t chunk, end;  /* chunks that are folded */
    char *const *to;
    int64_t column, column_step, pitch; /* results, by row and by chunk */
    char *memory, *state;
    int64_t state_bytes; /* of the lanes of a row */
};

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t state_bytes(const weft__fold_frame *frame)
{
    int64_t bytes = 0;
    for (int32_t k = 0; k < frame->count; k++)
        bytes += (int64_t)WEFT__FOLD_LANES << frame->size[k];
    return bytes;
}

static void find_slots(const weft__fold_frame *frame, const struct window *w, int64_t row,
                       char **slots)
{
    char *at = w->state + row * w->state_bytes;
    for (int32_t k = 0; k < frame->count; k++) {
        slots[k] = at;
        at += (int64_t)WEFT__FOLD_LANES << frame->size[k];
    }
}

/* Moves the elements from number `at` on of `rows` rows into those of the window from `row` on. */
static void pack_rows(weft__fold_frame *frame, const struct window *w, int64_t at, int64_t row,
                      int64_t rows, int64_t count)
{
    const weft__launch *launch = frame->launch;
    const int32_t last = launch->ndim - 1;
    char *memory = w->memory;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int size = frame->native->operands[k].size;
        const int64_t *stride = frame->arguments[k].stride, pitch = w->width << size;
        if (!weft__fold_is_packed(frame, k))
            continue;
        for (int64_t done = 0, piece; done < count; done += piece) {
            weft__fold_place(frame, launch->kept_ndim, launch->ndim, at + done);
            piece =
                weft__fold_least(count - done, launch->size[last] - frame->points.position[last]);
            piece = weft__fold_least(piece, TILE);
            weft__fold_move(
                frame, size,
                (weft__plane){memory + row * pitch + (done << size), pitch, (int64_t)1 << size},
                (weft__plane){weft__fold_data(frame, k), stride[w->axis], stride[last]}, rows,
                piece);
        }
        memory += w->rows * pitch;
    }
}

/* Makes the operands those of row `row` of the window, from its element `offset` on. */
static void use_row(weft__fold_frame *frame, const struct window *w, int64_t row, int64_t offset)
{
    char *memory = w->memory;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int size = frame->native->operands[k].size;
        if (!weft__fold_is_packed(frame, k))
            continue;
        frame->points.operands[k] =
            (weft__patch_operand){memory + ((row * w->width + offset) << size),
                                  (int64_t)WEFT__FOLD_LANES << size, (int64_t)1 << size};
        memory += w->rows * w->width << size;
    }
}

/* Whether a chunk ends with an element: then its lanes are combined, by a call of its own. */
static void end_chunk(weft__fold_frame *frame, const struct window *w, int64_t row, int64_t chunk,
                      int64_t count)
{
    char *slots[WEFT__FOLDS_MAX];
    const int64_t at = w->column + row * w->column_step + (chunk - w->chunk) * w->pitch;
    find_slots(frame, w, row, slots);
    if (frame->product)
        weft__fold_groups(frame, slots, weft__fold_least(count, WEFT__FOLD_LANES), 1, 1);
    for (int32_t k = 0; k < frame->count; k++) {
        frame->sheet.slot[k] = slots[k];
        frame->sheet.result[k] = w->to[k] + (at << frame->size[k]);
        if (frame->product)
            memcpy(frame->sheet.result[k], slots[k], (size_t)1 << frame->size[k]);
    }
    frame->sheet.fresh = 0;
    frame->sheet.halves = 1;
    if (!frame->product)
        weft__fold_call(frame, 0, 0);
    frame->sheet.halves = 0;
}

/* Makes the operands those of a row from number `at` on, which is in the window at `offset`. Where
 * rows are kept points, those that are not packed lie elsewhere for each of them. */
static void find_operands(weft__fold_frame *frame, const struct window *w, int64_t row, int64_t at,
                          int64_t offset)
{
    const int64_t point = w->step == 0 ? row : 0;
    weft__fold_place(frame, frame->launch->kept_ndim, frame->launch->ndim, at);
    frame->points.position[w->axis] += point;
    weft__fold_find_operands(frame);
    frame->points.position[w->axis] -= point;
    use_row(frame, w, row, offset);
}

/* The elements [at, end) of a chunk, which are in the window at `offset`. */
static void fold_part(weft__fold_frame *frame, const struct window *w, int64_t row, int64_t at,
                      int64_t end, int64_t offset)
{
    const int64_t chunk = at / WEFT__FOLD_CHUNK, begin = chunk * WEFT__FOLD_CHUNK;
    const int64_t stop = weft__fold_least(begin + WEFT__FOLD_CHUNK, frame->launch->folded);
    char *slots[WEFT__FOLDS_MAX];
    find_slots(frame, w, row, slots);
    for (int64_t next; at < end; offset += next - at, at = next) {
        const int64_t lane = (at - begin) % WEFT__FOLD_LANES;
        next = lane == 0 ? end : weft__fold_least(end, at + WEFT__FOLD_LANES - lane);
        find_operands(frame, w, row, at, offset);
        weft__fold_piece(frame, slots, at, next, begin);
    }
    if (end == stop)
        end_chunk(frame, w, row, chunk, stop - begin);
}

/* What a row has of the window that begins with its element `j`. */
static void fold_row(weft__fold_frame *frame, const struct window *w, int64_t row, int64_t j,
                     int64_t count)
{
    const int64_t base = w->first + row * w->step, chunk = WEFT__FOLD_CHUNK;
    const int64_t begin = most((base + chunk - 1) / chunk, w->chunk) * chunk;
    const int64_t end = weft__fold_least(base + j + count, w->end * chunk);
    for (int64_t at = most(base + j, begin), next; at < end; at = next) {
        next = weft__fold_least(end, (at / chunk + 1) * chunk);
        fold_part(frame, w, row, at, next, at - base - j);
    }
}

/* How many elements of the next row the last chunk of a row needs. */
static int64_t missing(const weft__fold_frame *frame, const struct window *w, int64_t row)
{
    const int64_t end = w->first + row * w->step + w->inner, chunk = end / WEFT__FOLD_CHUNK;
    if (w->step == 0 || end % WEFT__FOLD_CHUNK == 0 || chunk < w->chunk || chunk >= w->end)
        return 0;
    return weft__fold_least((chunk + 1) * WEFT__FOLD_CHUNK, frame->launch->folded) - end;
}

/* The last row of its plane is followed by one that lies elsewhere. */
static void fold_rest(weft__fold_frame *frame, const struct window *w, bool is_last)
{
    int64_t longest = 0;
    const int64_t near = w->rows - is_last;
    for (int64_t row = 0; row < w->rows; row++)
        longest = most(longest, missing(frame, w, row));
    for (int64_t j = 0; j < longest; j += w->width) {
        const int64_t count = weft__fold_least(w->width, longest - j);
        const int64_t after = w->first + w->rows * w->step;
        if (near > 0)
            pack_rows(frame, w, w->first + w->step + j, 0, near, count);
        if (is_last && j < missing(frame, w, near))
            pack_rows(frame, w, after + j, near, 1,
                      weft__fold_least(count, missing(frame, w, near) - j));
        for (int64_t row = 0; row < w->rows; row++) {
            const int64_t end = weft__fold_least(missing(frame, w, row), j + count);
            const int64_t base = w->first + (row + 1) * w->step;
            if (j < end)
                fold_part(frame, w, row, base + j, base + end, 0);
        }
    }
}

/* Cuts memory; false if there is none for even one row. */
static void lay_out(const weft__fold_frame *frame, struct window *w, int64_t rows)
{
    const int64_t bytes = weft__fold_packed_bytes(frame);
    w->state_bytes = state_bytes(frame);
    w->rows = weft__fold_least(rows, ROWS);
    while (w->rows > 1 && w->rows * (w->state_bytes + bytes * WEFT__FOLD_LANES) > frame->pack_bytes)
        w->rows /= 2;
    w->width = (frame->pack_bytes - w->rows * w->state_bytes) / (w->rows * bytes);
    w->width = weft__fold_least(w->width, WIDTH) / WEFT__FOLD_LANES * WEFT__FOLD_LANES;
    w->state = frame->pack;
    w->memory = w->state + w->rows * w->state_bytes;
    w->memory += -(uintptr_t)w->memory & 63U;
}

/* All windows of the rows. */
static void fold_rows(weft__fold_frame *frame, const struct window *w, bool is_last)
{
    const int64_t chunk = WEFT__FOLD_CHUNK, from = most(w->chunk * chunk - w->first, 0);
    const int64_t begin = w->rows == 1 || w->step == 0 ? from / w->width * w->width : 0;
    const int64_t end =
        weft__fold_least(w->inner, w->end * chunk - w->first); /* of the first, the longest */
    frame->sheet.groups = 1;
    frame->sheet.halves = 0;
    for (int64_t j = begin; j < end; j += w->width) {
        const int64_t count = weft__fold_least(w->width, w->inner - j);
        pack_rows(frame, w, w->first + j, 0, w->rows, count);
        for (int64_t row = 0; row < w->rows; row++)
            fold_row(frame, w, row, j, count);
    }
    fold_rest(frame, w, is_last);
}

void weft__fold_kept_windows(weft__fold_frame *frame, int64_t chunk, int64_t chunks,
                             char *const *to, int64_t pitch)
{
    const int32_t axis = frame->launch->kept_ndim - 1;
    struct window w = {.axis = axis,
                       .inner = frame->launch->folded,
                       .chunk = chunk,
                       .end = chunk + chunks,
                       .to = to,
                       .column_step = 1,
                       .pitch = pitch};
    for (int64_t j = 0; j < frame->columns; j += w.rows) {
        lay_out(frame, &w, frame->columns - j);
        w.column = j;
        fold_rows(frame, &w, false);
        frame->points.position[axis] += w.rows;
    }
    frame->points.position[axis] -= frame->columns;
}

void weft__fold_folded_windows(weft__fold_frame *frame, int32_t axis, int64_t chunk, int64_t chunks,
                               char *const *to, int64_t column, int64_t pitch)
{
    const int64_t inner = weft__fold_inner(frame->launch, axis), size = frame->launch->size[axis];
    struct window w = {.axis = axis,
                       .inner = inner,
                       .step = inner,
                       .chunk = chunk,
                       .end = chunk + chunks,
                       .to = to,
                       .column = column,
                       .pitch = pitch};
    const int64_t end = weft__fold_least(w.end * WEFT__FOLD_CHUNK, frame->launch->folded);
    const int64_t last = (end + inner - 1) / inner;
    for (int64_t row = chunk * WEFT__FOLD_CHUNK / inner; row < last; row += w.rows) {
        const int64_t left = size - row % size;
        lay_out(frame, &w, weft__fold_least(left, last - row));
        w.first = row * inner;
        fold_rows(frame, &w, w.rows == left);
    }
}
