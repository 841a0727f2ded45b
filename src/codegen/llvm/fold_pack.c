/* Folding in lanes where some operands are packed first: their elements are moved to where those of
 * a chunk follow each other. Lines of memory are used up by moving several chunks at once. */
#include "codegen/llvm/fold_run.h"

/* Rows of an operand: positions along `axis`, each with `inner` folded elements; their number and
 * what follows are those among the folded elements. */
struct rows {
    int32_t axis;
    int64_t inner;
};

bool weft__fold_is_packed(const weft__fold_frame *frame, uint32_t operand)
{
    return frame->native->operands[operand].flags != 0 &&
           weft__fold_packed(&frame->plan, frame->launch, operand);
}

int64_t weft__fold_packed_bytes(const weft__fold_frame *frame)
{
    int64_t bytes = 0;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++)
        bytes += weft__fold_is_packed(frame, k) ? (int64_t)1 << frame->native->operands[k].size : 0;
    return bytes;
}

/* The axis along which most is gained, or -1. */
static int32_t band_of(const weft__fold_frame *frame)
{
    int32_t axis = -1;
    for (uint32_t k = 0; axis < 0 && k < frame->native->header.operands_count; k++)
        if (weft__fold_is_packed(frame, k))
            axis = weft__fold_band(frame->launch, k);
    return axis;
}

int64_t weft__fold_inner(const weft__launch *launch, int32_t axis)
{
    int64_t inner = 1;
    for (int32_t k = axis + 1; k < launch->ndim; k++)
        inner *= launch->size[k];
    return inner;
}

/* Moves the elements [at, end) of one row, in pieces of the last axis. */
static void pack_row(weft__fold_frame *frame, uint32_t operand, char *dst, int64_t at, int64_t end)
{
    const weft__launch *launch = frame->launch;
    const int32_t last = launch->ndim - 1;
    const int size = frame->native->operands[operand].size;
    const weft__plane near = {dst, 0, (int64_t)1 << size};
    for (int64_t piece, done = 0; at < end; at += piece, done += piece) {
        weft__fold_place(frame, launch->kept_ndim, launch->ndim, at);
        piece = weft__fold_least(end - at, launch->size[last] - frame->points.position[last]);
        const weft__plane far = {weft__fold_data(frame, operand), 0,
                                 frame->arguments[operand].stride[last]};
        weft__fold_move(frame, size, (weft__plane){near.data + (done << size), 0, near.column}, far,
                        1, piece);
    }
}

/* Moves `count` whole rows from element `at` on, pieces of the last axis of all rows at a time. */
static void pack_rows(weft__fold_frame *frame, uint32_t operand, char *dst, int64_t at,
                      const struct rows *rows, int64_t count)
{
    const weft__launch *launch = frame->launch;
    const int64_t *stride = frame->arguments[operand].stride,
                  columns = launch->size[launch->ndim - 1];
    const int size = frame->native->operands[operand].size;
    for (int64_t done = 0; done < rows->inner; done += columns) {
        weft__fold_place(frame, launch->kept_ndim, launch->ndim, at + done);
        const weft__plane far = {weft__fold_data(frame, operand), stride[rows->axis],
                                 stride[launch->ndim - 1]};
        const weft__plane near = {dst + (done << size), rows->inner << size, (int64_t)1 << size};
        weft__fold_move(frame, size, near, far, count, columns);
    }
}

/* Moves the folded elements [at, end) of an operand, of the kept point at the position. */
static void pack(weft__fold_frame *frame, uint32_t operand, char *dst, int64_t at, int64_t end)
{
    const weft__launch *launch = frame->launch;
    const int size = frame->native->operands[operand].size;
    const int32_t band = weft__fold_band(launch, operand);
    struct rows rows = {.axis = band >= launch->kept_ndim ? band : launch->ndim - 2};
    if (rows.axis < launch->kept_ndim) {
        pack_row(frame, operand, dst, at, end);
        return;
    }
    rows.inner = weft__fold_inner(launch, rows.axis);
    while (at < end) {
        const int64_t place = at % rows.inner, row = at / rows.inner;
        const int64_t left = launch->size[rows.axis] - row % launch->size[rows.axis];
        int64_t count = place == 0 ? weft__fold_least((end - at) / rows.inner, left) : 0, next;
        if (count > 0) {
            pack_rows(frame, operand, dst, at, &rows, count);
            next = at + count * rows.inner;
        } else {
            next = weft__fold_least(end, at + rows.inner - place);
            pack_row(frame, operand, dst, at, next);
        }
        dst += (next - at) << size;
        at = next;
    }
}

void weft__fold_use_packs(weft__fold_frame *frame, int64_t chunk)
{
    char *memory = frame->pack;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int size = frame->native->operands[k].size;
        if (!weft__fold_is_packed(frame, k))
            continue;
        frame->points.operands[k] =
            (weft__patch_operand){memory + ((chunk * WEFT__FOLD_CHUNK) << size),
                                  (int64_t)WEFT__FOLD_LANES << size, (int64_t)1 << size};
        frame->sheet.group[k] = (int64_t)WEFT__FOLD_CHUNK << size;
        memory += frame->pack_elements << size;
    }
}

/* Packs what all operands have of the elements [at, end). */
static void pack_all(weft__fold_frame *frame, int64_t at, int64_t end)
{
    char *memory = frame->pack;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        if (!weft__fold_is_packed(frame, k))
            continue;
        pack(frame, k, memory, at, end);
        memory += frame->pack_elements << frame->native->operands[k].size;
    }
}

/* The chunks of one kept point, as many at once as there is room for if that is of use. */
static void fold_point(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                       int64_t column, int64_t pitch, bool band)
{
    const int64_t folded = frame->launch->folded, whole = folded / WEFT__FOLD_CHUNK - chunk;
    const int64_t room = band ? frame->pack_elements / WEFT__FOLD_CHUNK : 1;
    for (int64_t c = 0, count; c < chunks; c += count) {
        const int64_t begin = (chunk + c) * WEFT__FOLD_CHUNK;
        count = weft__fold_least(room, weft__fold_least(whole, chunks) - c);
        count = count < 1 ? 1 : count;
        const int64_t end = weft__fold_least(begin + count * WEFT__FOLD_CHUNK, folded);
        const int64_t length = weft__fold_least(end - begin, WEFT__FOLD_CHUNK);
        pack_all(frame, begin, end);
        weft__fold_set(frame, begin, length, count, frame->plan.column_axis, WEFT__FOLD_CHUNK, to,
                       column + c * pitch, pitch);
    }
}

void weft__fold_packs(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                      int64_t pitch)
{
    const int32_t axis = frame->launch->kept_ndim - 1, band = band_of(frame);
    const int64_t bytes = weft__fold_packed_bytes(frame);
    if (bytes == 0) { /* what was to be packed is not folded */
        weft__fold_lanes(frame, chunk, chunks, to, pitch);
        return;
    }
    frame->pack_elements = frame->pack_bytes / bytes / WEFT__FOLD_CHUNK * WEFT__FOLD_CHUNK;
    if (band >= 0 && band == axis && frame->columns > 1) {
        weft__fold_kept_windows(frame, chunk, chunks, to, pitch);
        return;
    }
    const bool folded = band > axis,
               windows = folded && weft__fold_inner(frame->launch, band) >= WEFT__FOLD_CHUNK;
    for (int64_t j = 0; j < frame->columns; j++) {
        if (windows)
            weft__fold_folded_windows(frame, band, chunk, chunks, to, j, pitch);
        else
            fold_point(frame, chunk, chunks, to, j, pitch, folded);
        if (axis >= 0)
            frame->points.position[axis]++;
    }
    if (axis >= 0)
        frame->points.position[axis] -= frame->columns;
}
