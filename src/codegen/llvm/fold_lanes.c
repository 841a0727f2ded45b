/* Folding in lanes: chunks of elements that follow each other, for one kept point after the other.
 */
#include "codegen/llvm/fold_run.h"

#include <string.h>

void weft__fold_call(weft__fold_frame *frame, int64_t rows, int64_t tail)
{
    frame->points.rows = rows;
    frame->sheet.tail = tail;
    frame->native->fold(&frame->points);
}

static void use_slots(weft__fold_frame *frame)
{
    for (int32_t k = 0; k < frame->count; k++)
        frame->sheet.slot[k] = frame->slot[k];
}

/* Where results go; those of the next group are `step` values further on. */
static void use_results(weft__fold_frame *frame, char *const *to, int64_t at, int64_t step)
{
    for (int32_t k = 0; k < frame->count; k++) {
        frame->sheet.result[k] = to[k] + (at << frame->size[k]);
        frame->sheet.result_step[k] = step << frame->size[k];
    }
}

/* Combines the first `lanes` lanes, where compiled code does not. */
static void halve(weft__fold_frame *frame, int64_t lanes)
{
    weft__fold_groups(frame, frame->slot, weft__fold_least(lanes, WEFT__FOLD_LANES), 1, 1);
    for (int32_t k = 0; k < frame->count; k++)
        memcpy(frame->sheet.result[k], frame->slot[k], (size_t)1 << frame->size[k]);
}

/* Makes the operands those of the rows at the position, in steps along the last axis. */
void weft__fold_find_operands(weft__fold_frame *frame)
{
    const int32_t axis = frame->plan.column_axis;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int64_t column = axis < 0 ? 0 : frame->arguments[k].stride[axis];
        if (frame->native->operands[k].flags != 0)
            frame->points.operands[k] =
                (weft__patch_operand){weft__fold_data(frame, k), WEFT__FOLD_LANES * column, column};
    }
}

/* Makes the operands those of the first group, which begins with element `first`. */
static void begin_groups(weft__fold_frame *frame, int64_t first, int64_t groups, int32_t axis,
                         int64_t step)
{
    weft__sheet *sheet = &frame->sheet;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++)
        sheet->group[k] = axis < 0 ? 0 : step * frame->arguments[k].stride[axis];
    sheet->folded = first;
    sheet->folded_group = axis == frame->plan.column_axis ? step : 0;
    sheet->groups = groups;
    sheet->fresh = sheet->halves = 1;
    use_slots(frame);
    weft__fold_place(frame, frame->launch->kept_ndim, frame->launch->ndim, first);
    weft__fold_find_operands(frame);
}

static void fold_groups(weft__fold_frame *frame, int64_t first, int64_t length, int64_t groups,
                        int32_t axis, int64_t step, int64_t packed)
{
    begin_groups(frame, first, groups, axis, step);
    if (frame->plan.packs)
        weft__fold_use_packs(frame, packed);
    weft__fold_call(frame, length / WEFT__FOLD_LANES, length % WEFT__FOLD_LANES);
}

void weft__fold_set(weft__fold_frame *frame, int64_t first, int64_t length, int64_t groups,
                    int32_t axis, int64_t step, char *const *to, int64_t at, int64_t result_step)
{
    const bool kept = axis >= 0 && axis < frame->launch->kept_ndim;
    use_results(frame, to, at, result_step);
    if (!frame->product && !frame->has_index) {
        fold_groups(frame, first, length, groups, axis, step, 0);
        return;
    }
    for (int64_t k = 0; k < groups; k++) {
        use_results(frame, to, at + k * result_step, 0);
        fold_groups(frame, kept ? first : first + k * step, length, 1, axis, step, k);
        if (frame->product)
            halve(frame, length);
        if (kept)
            frame->points.position[axis] += step;
    }
    if (kept)
        frame->points.position[axis] -= groups * step;
}

void weft__fold_piece(weft__fold_frame *frame, char *const *slots, int64_t at, int64_t end,
                      int64_t begin)
{
    const int64_t lane = (at - begin) % WEFT__FOLD_LANES, count = end - at;
    frame->sheet.fresh = at == begin ? 1 : at - begin < WEFT__FOLD_LANES ? 2 : 0;
    frame->sheet.folded = at;
    for (int32_t k = 0; k < frame->count; k++)
        frame->sheet.slot[k] = slots[k] + (lane << frame->size[k]);
    if (lane == 0)
        weft__fold_call(frame, count / WEFT__FOLD_LANES, count % WEFT__FOLD_LANES);
    else
        weft__fold_call(frame, 0, count);
}

/* A chunk, in pieces of the last axis; a piece that begins between lanes ends with the last one. */
static void fold_pieces(weft__fold_frame *frame, int64_t begin, int64_t end)
{
    const int64_t size = frame->launch->size[frame->launch->ndim - 1];
    frame->sheet.groups = 1;
    frame->sheet.halves = 0;
    for (int64_t at = begin, stop; at < end; at = stop) {
        const int64_t lane = (at - begin) % WEFT__FOLD_LANES;
        stop = weft__fold_least(end, at + size - at % size);
        if (lane != 0)
            stop = weft__fold_least(stop, at + WEFT__FOLD_LANES - lane);
        weft__fold_place(frame, frame->launch->kept_ndim, frame->launch->ndim, at);
        weft__fold_find_operands(frame);
        weft__fold_piece(frame, frame->slot, at, stop, begin);
    }
    if (frame->product) {
        halve(frame, end - begin);
        return;
    }
    use_slots(frame);
    frame->sheet.fresh = 0;
    frame->sheet.halves = 1;
    weft__fold_call(frame, 0, 0);
}

/* All chunks of one kept point. */
static void fold_point(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                       int64_t column, int64_t pitch)
{
    const int64_t folded = frame->launch->folded, length = WEFT__FOLD_CHUNK;
    for (int64_t c = 0, groups; c < chunks; c += groups) {
        const int64_t begin = (chunk + c) * length, whole = folded / length - (chunk + c);
        const int64_t end = weft__fold_least(begin + length, folded), at = column + c * pitch;
        groups = whole < 1 || !frame->plan.linear ? 1 : weft__fold_least(whole, chunks - c);
        if (frame->plan.linear) {
            weft__fold_set(frame, begin, end - begin, groups, frame->plan.column_axis, length, to,
                           at, pitch);
            continue;
        }
        use_results(frame, to, at, 0);
        fold_pieces(frame, begin, end);
    }
}

/* Moves the operands on along the last axis that is kept and along those that are folded. */
static void advance(weft__fold_frame *frame, int64_t points, int64_t elements)
{
    const int32_t kept = frame->launch->kept_ndim - 1, folded = frame->plan.column_axis;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int64_t *stride = frame->arguments[k].stride;
        if (frame->native->operands[k].flags != 0)
            frame->points.operands[k].data +=
                (kept < 0 ? 0 : points * stride[kept]) + elements * stride[folded];
    }
}

/* The elements of a point that come after so many whole chunks. */
static void fold_rest(weft__fold_frame *frame, int64_t whole, int64_t rest, char *const *to,
                      int64_t at)
{
    const int64_t before = whole * WEFT__FOLD_CHUNK;
    use_results(frame, to, at, 0);
    advance(frame, 0, before);
    frame->sheet.folded += before;
    frame->sheet.groups = 1;
    weft__fold_call(frame, rest / WEFT__FOLD_LANES, rest % WEFT__FOLD_LANES);
    frame->sheet.groups = whole;
    frame->sheet.folded -= before;
    advance(frame, 0, -before);
}

/* As fold_point for all columns, from a whole chunk on. Little is done between them: a processor
 * asks for the memory of the next one as soon as it knows where that is. */
static void fold_points(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                        int64_t pitch)
{
    const int64_t length = WEFT__FOLD_CHUNK, first = chunk * length;
    const int64_t count = weft__fold_least(chunks * length, frame->launch->folded - first);
    const int64_t whole = count / length, rest = count % length;
    begin_groups(frame, first, whole, frame->plan.column_axis, length);
    for (int64_t c = 0; c < frame->columns; c++) {
        use_results(frame, to, c, pitch);
        weft__fold_call(frame, length / WEFT__FOLD_LANES, 0);
        if (rest != 0)
            fold_rest(frame, whole, rest, to, c + whole * pitch);
        advance(frame, 1, 0);
    }
}

/* Whether the elements of the next point follow those of the one before, as the rows of an array
 * do. */
static bool points_follow(const weft__fold_frame *frame)
{
    const int32_t kept = frame->launch->kept_ndim - 1, folded = frame->plan.column_axis;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++) {
        const int64_t *stride = frame->arguments[k].stride;
        if (frame->native->operands[k].flags != 0 &&
            (kept < 0 || stride[kept] != frame->launch->folded * stride[folded]))
            return false;
    }
    return true;
}

/* Room for so many results of each fold; false if there is too little. */
static bool use_room(const weft__fold_frame *frame, int64_t results, char **room)
{
    int64_t used = 0;
    for (int32_t k = 0; k < frame->count; k++) {
        const int64_t bytes = weft__fold_bytes((int64_t)1 << frame->size[k], results);
        if (bytes > frame->pack_bytes - used)
            return false;
        room[k] = frame->pack + used;
        used += bytes;
    }
    return true;
}

/* As fold_points, of all chunks of points that follow each other, in one go; false if that cannot
 * be done. Compiled code has the results of a point side by side. */
static bool fold_together(weft__fold_frame *frame, int64_t chunks, char *const *to, int64_t pitch)
{
    char *results[WEFT__FOLDS_MAX];
    const int64_t length = WEFT__FOLD_CHUNK, columns = frame->columns;
    if (frame->launch->folded != chunks * length || frame->native->header.numbered != 0 ||
        !points_follow(frame) || !use_room(frame, columns * chunks, results))
        return false;
    begin_groups(frame, 0, columns * chunks, frame->plan.column_axis, length);
    use_results(frame, results, 0, 1);
    weft__fold_call(frame, length / WEFT__FOLD_LANES, 0);
    for (int32_t k = 0; k < frame->count; k++)
        for (int64_t c = 0; c < chunks; c++)
            frame->variant->move_row[frame->size[k]](
                to[k] + ((c * pitch) << frame->size[k]), (int64_t)1 << frame->size[k],
                results[k] + (c << frame->size[k]), chunks << frame->size[k], columns);
    return true;
}

void weft__fold_lanes(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                      int64_t pitch)
{
    const int32_t axis = frame->launch->kept_ndim - 1;
    const int64_t begin = chunk * WEFT__FOLD_CHUNK, columns = frame->columns;
    if (frame->plan.linear && chunks == 1) {
        weft__fold_set(frame, begin,
                       weft__fold_least(WEFT__FOLD_CHUNK, frame->launch->folded - begin), columns,
                       axis, 1, to, 0, 1);
        return;
    }
    if (frame->plan.linear && !frame->product && !frame->has_index && !frame->plan.packs) {
        if (columns == 1 || !fold_together(frame, chunks, to, pitch))
            fold_points(frame, chunk, chunks, to, pitch);
        return;
    }
    for (int64_t c = 0; c < columns; c++) {
        fold_point(frame, chunk, chunks, to, c, pitch);
        if (axis >= 0)
            frame->points.position[axis]++;
    }
    if (axis >= 0)
        frame->points.position[axis] -= columns;
}
