/* Running a kernel with folds over a range of a launch: many kept points at a time, chunk by chunk,
 * then all that is computed of the results. */
#include "codegen/llvm/fold_run.h"
#include "codegen/interpreter/mode.h"
#include "core/thread.h"

#include <string.h>

enum {
    SLOT_BYTES = 1024 + 64,  /* of all lanes of one fold */
    CHUNK_BYTES = 160 << 10, /* for the results of chunks, of all folds */
    COLUMNS_MOST = 8192
};

/* Every other time chunks are taken from the last to the first: those that were used last may be in
 * a cache. */
static WEFT__THREAD_LOCAL bool backwards;

weft__fold_combine_function weft__fold_combiner(const weft__object_fold *fold)
{
    const weft__variant *variant = weft__variant_chosen();
    if (fold->kind >= WEFT__FOLD_ARGMIN && fold->kind < WEFT__FOLD_END)
        return (weft__fold_combine_function){
            NULL, variant->pair[fold->kind - WEFT__FOLD_ARGMIN][fold->dtype]};
    if (fold->kind < WEFT__OP_COUNT)
        return (weft__fold_combine_function){variant->primitive[fold->kind][fold->dtype], NULL};
    return (weft__fold_combine_function){NULL, NULL};
}

/* Combines `count` values of fold k from value number `to` on with those from `from` on. */
static void combine(const weft__fold_frame *frame, int32_t k, char *const *groups, int64_t to,
                    int64_t from, int64_t count)
{
    const weft__fold_combine_function function = weft__fold_combiner(&frame->native->folds[k]);
    const int *size = &frame->size[k];
    char *first = groups[k] + (to << size[0]), *x = groups[k] + (from << size[0]);
    if (function.pair != NULL)
        function.pair(first, groups[k + 1] + (to << size[1]), x, groups[k + 1] + (from << size[1]),
                      count, 0);
    else
        function.primitive(first, first, x, x, count, 0);
}

void weft__fold_groups(const weft__fold_frame *frame, char *const *groups, int64_t count,
                       int64_t pitch, int64_t columns)
{
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    for (; count > 1; count = weft__fold_least(count, half), half /= 2) {
        const int64_t pairs = count - half, steps = pitch == columns ? 1 : pairs;
        for (int32_t k = 0; k < frame->count; k++)
            for (int64_t s = 0; frame->native->folds[k].part == 0 && s < steps; s++)
                combine(frame, k, groups, s * pitch, (half + s) * pitch,
                        steps == 1 ? pairs * columns : columns);
    }
}

static void fill_neutral(const weft__fold_frame *frame)
{
    for (int32_t k = 0; k < frame->count; k++) {
        const weft__object_fold *fold = &frame->native->folds[k];
        const uint64_t neutral =
            weft__fold_neutral(fold->kind, (weft_dtype)fold->dtype, fold->part);
        frame->variant->move_row[frame->size[k]](frame->chunk[k], (int64_t)1 << frame->size[k],
                                                 (const char *)&neutral, 0, frame->columns);
    }
}

/* What is computed of the folds, whose results are in frame->chunk. */
static void run_results(weft__fold_frame *frame)
{
    const weft__native *native = frame->native;
    const int32_t axis = frame->launch->kept_ndim - 1;
    const uint32_t operands = native->header.operands_count;
    weft__patch *patch = &frame->results;
    for (int32_t k = frame->launch->kept_ndim; k < frame->launch->ndim; k++)
        frame->points.position[k] = 0;
    if (native->run == NULL) {
        weft__fold_store(frame);
        return;
    }
    for (uint32_t k = 0; k < operands; k++)
        patch->operands[k] = (weft__patch_operand){weft__fold_data(frame, k), 0,
                                                   axis < 0 ? 0 : frame->arguments[k].stride[axis]};
    for (int32_t k = 0; k < frame->count; k++)
        patch->operands[operands + (uint32_t)k] =
            (weft__patch_operand){frame->chunk[k], 0, (int64_t)1 << frame->size[k]};
    memcpy(patch->position, frame->points.position, sizeof patch->position);
    patch->rows = 1;
    patch->columns = frame->columns;
    native->run(patch);
}

/* Where the results of a group of a kept point are in the buffer between two stages. */
static void locate(const weft__fold_frame *frame, int64_t group, int64_t point, char **at)
{
    const weft__launch *launch = frame->launch;
    char *buffer = frame->arguments[launch->arguments_count - 1].data;
    for (int32_t k = 0; k < frame->count; k++) {
        at[k] = buffer + ((group * launch->kept + point) << frame->size[k]);
        buffer += weft__fold_bytes((int64_t)1 << frame->size[k], launch->groups * launch->kept);
    }
}

static void fold(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                 int64_t pitch)
{
    if (frame->plan.mode == WEFT__FOLD_LANES_MODE)
        (frame->plan.packs ? weft__fold_packs : weft__fold_lanes)(frame, chunk, chunks, to, pitch);
    else
        weft__fold_columns(frame, chunk, chunks, to, pitch);
}

/* Folds the chunks from number `chunk` on that are `step` apart, and combines them by halving: the
 * odd ones of them with the even ones, last. The results are number `to` of frame->chunk; those
 * from `free` on are nobody's. There are few at any time. */
static void fold_apart(weft__fold_frame *frame, int64_t chunk, int64_t step, int64_t to,
                       int64_t free)
{
    char *results[WEFT__FOLDS_MAX];
    for (int32_t k = 0; k < frame->count; k++)
        results[k] = frame->chunk[k] + ((to * frame->columns) << frame->size[k]);
    if (chunk + step >= frame->plan.chunks) {
        weft__fold_columns(frame, chunk, 1, results, 0);
        return;
    }
    if (!backwards)
        fold_apart(frame, chunk, 2 * step, to, free);
    fold_apart(frame, chunk + step, 2 * step, free, free + 1);
    if (backwards)
        fold_apart(frame, chunk, 2 * step, to, free + 1);
    weft__fold_groups(frame, results, 2, (free - to) * frame->columns, frame->columns);
}

/* Folds all chunks of the columns, or those of a group; the results are in frame->chunk. */
static void fold_all(weft__fold_frame *frame, int64_t group, int64_t groups)
{
    const int64_t chunks = frame->plan.chunks, columns = frame->columns;
    if (frame->plan.mode == WEFT__FOLD_COLUMNS_MODE) {
        fold_apart(frame, group, groups, 0, 1);
        backwards = !backwards;
        return;
    }
    fold(frame, 0, chunks, frame->chunk, columns);
    weft__fold_groups(frame, frame->chunk, chunks, columns, columns);
}

/* Groups from number `group` on of the columns, of which the first is kept point `point`. In lanes
 * a group is a chunk. */
static void run_groups(weft__fold_frame *frame, int64_t group, int64_t groups, int64_t point)
{
    char *to[WEFT__FOLDS_MAX];
    locate(frame, group, point, to);
    if (frame->plan.mode == WEFT__FOLD_LANES_MODE) {
        fold(frame, group, groups, to, frame->launch->kept);
        return;
    }
    fold_all(frame, group, frame->launch->groups);
    for (int32_t k = 0; k < frame->count; k++)
        memcpy(to[k], frame->chunk[k], (size_t)frame->columns << frame->size[k]);
}

static void run_points(weft__fold_frame *frame, int64_t point)
{
    const weft__launch *launch = frame->launch;
    if (frame->plan.chunks == 0) {
        fill_neutral(frame);
    } else if (launch->stage == WEFT__STAGE_FINISH) {
        locate(frame, 0, point, frame->chunk);
        weft__fold_groups(frame, frame->chunk, launch->groups, launch->kept, frame->columns);
    } else {
        fold_all(frame, 0, 1);
    }
    run_results(frame);
}

/* How many results of a column there are at once, in memory of the thread. */
static int64_t results_most(const weft__fold_frame *frame)
{
    const weft__launch *launch = frame->launch;
    const int64_t chunks = frame->plan.chunks;
    const int64_t groups = launch->stage == WEFT__STAGE_CHUNKS ? launch->groups : 1;
    if (chunks == 0)
        return 1;
    if (launch->stage == WEFT__STAGE_FINISH)
        return 0;
    if (frame->plan.mode == WEFT__FOLD_COLUMNS_MODE)
        return weft__fold_levels((chunks + groups - 1) / groups);
    return frame->plan.mode == WEFT__FOLD_SHORT_MODE || launch->stage == WEFT__STAGE_WHOLE ? chunks
                                                                                           : 0;
}

/* Cuts the memory after the frame into parts; returns how many columns there is room for. */
static int64_t lay_out(weft__fold_frame *frame, char *memory, char *end)
{
    const int64_t results = results_most(frame);
    int64_t columns = COLUMNS_MOST, bytes = 0;
    memory += -(uintptr_t)memory & 63U;
    for (int32_t k = 0; k < frame->count; k++) {
        frame->size[k] =
            __builtin_ctzll(weft_dtype_size((weft_dtype)frame->native->folds[k].dtype));
        frame->product |= frame->native->folds[k].kind == WEFT__FOLD_PRODUCT;
        frame->slot[k] = memory;
        memory += SLOT_BYTES;
        bytes += (int64_t)1 << frame->size[k];
    }
    if (results > 0)
        columns = weft__fold_least(columns, CHUNK_BYTES / (bytes * results));
    for (int32_t k = 0; k < frame->count; k++) {
        frame->chunk[k] = memory;
        memory += weft__fold_bytes((int64_t)1 << frame->size[k], results * columns);
    }
    frame->pack = memory;
    frame->pack_bytes = end - memory;
    return weft__fold_least(columns, weft__fold_columns_most(frame));
}

/* The kept points from number `point` on, of `left`, at most `most` at once; where those are not
 * all of a row, parts of much the same length. */
static void take_columns(weft__fold_frame *frame, int64_t point, int64_t left, int64_t most)
{
    enum { UNIT = 128 };
    const int32_t axis = frame->launch->kept_ndim - 1;
    weft__fold_place(frame, 0, frame->launch->kept_ndim, point);
    left = weft__fold_least(
        left, axis < 0 ? 1 : frame->launch->size[axis] - frame->points.position[axis]);
    const int64_t parts = (left + most - 1) / most;
    const int64_t part = (left / parts + UNIT - 1) / UNIT * UNIT;
    frame->columns = weft__fold_least(left, weft__fold_least(part, most));
}

/* Items of the first stage from `first` on, up to `most` columns at once; returns how many. In
 * lanes many chunks of a point go together, if the range has all points of them. */
static int64_t run_items(weft__fold_frame *frame, int64_t first, int64_t end, int64_t most)
{
    const int64_t kept = frame->launch->kept, group = first / kept, point = first % kept;
    int64_t groups = 1, points = weft__fold_least(kept - point, end - first);
    if (frame->plan.mode == WEFT__FOLD_LANES_MODE && point == 0 && end - first >= kept)
        groups = (end - first) / kept;
    for (int64_t p = 0; p < points; p += frame->columns) {
        take_columns(frame, point + p, points - p, most);
        run_groups(frame, group, groups, point + p);
    }
    return groups * points;
}

bool weft__fold_is_large(const weft__fold_frame *frame)
{
    const double elements = (double)frame->launch->kept * (double)frame->launch->folded;
    int64_t bytes = 0;
    for (uint32_t k = 0; k < frame->native->header.operands_count; k++)
        if ((frame->native->operands[k].flags & WEFT__OPERAND_READ) != 0)
            bytes += (int64_t)1 << frame->native->operands[k].size;
    return elements * (double)bytes > (double)weft__memory_streaming_bytes();
}

static void begin(weft__fold_frame *frame, const weft__native *native, const weft__launch *launch)
{
    frame->native = native;
    frame->launch = launch;
    frame->arguments = weft__launch_arguments_of(launch);
    frame->variant = weft__variant_chosen();
    frame->has_index = native->header.has_index != 0;
    frame->plan = weft__fold_plan_of(launch, native->header.lanes != 0, frame->has_index,
                                     native->header.operands_count);
    frame->count = (int32_t)native->header.folds_count;
    frame->product = false;
    frame->points.scalars = frame->results.scalars = weft__launch_scalars(launch);
    frame->points.streaming = frame->results.streaming = WEFT__STREAMING_NOT;
    if (frame->plan.mode == WEFT__FOLD_LANES_MODE && !frame->plan.packs &&
        weft__fold_is_large(frame))
        frame->points.streaming = WEFT__STREAMING_LOADS_ONLY;
    frame->points.sheet = &frame->sheet;
}

static void run(const weft__native *native, const weft__launch *launch, int64_t first, int64_t end,
                char *scratch)
{
    weft__fold_frame *frame = (weft__fold_frame *)(void *)scratch;
    begin(frame, native, launch);
    const int64_t most = lay_out(frame, scratch + sizeof *frame, scratch + WEFT__SCRATCH_BYTES);
    const weft__mode mode = weft__mode_enter();
    while (first < end) {
        if (launch->stage == WEFT__STAGE_CHUNKS) {
            first += run_items(frame, first, end, most);
            continue;
        }
        take_columns(frame, first, end - first, most);
        run_points(frame, first);
        first += frame->columns;
    }
    weft__mode_leave(mode);
}

_Static_assert(sizeof(weft__fold_frame) + 64 + WEFT__FOLDS_MAX * (SLOT_BYTES + 64) + CHUNK_BYTES +
                       WEFT__FOLD_PACK_BYTES <=
                   WEFT__SCRATCH_BYTES,
               "scratch");

/* Our own threads have room on their stacks. */
__attribute__((noinline)) static void
run_on_stack(const weft__native *native, const weft__launch *launch, int64_t begin, int64_t end)
{
    _Alignas(64) char scratch[WEFT__SCRATCH_BYTES];
    run(native, launch, begin, end, scratch);
}

void weft__native_fold(const void *native, const weft__launch *launch, int64_t begin, int64_t end)
{
    const weft__thread *thread = weft__thread_peek();
    if (begin >= end)
        return;
    if (thread == NULL) {
        run_on_stack(native, launch, begin, end);
        return;
    }
    const uintptr_t scratch = ((uintptr_t)thread->scratch + 63) & ~(uintptr_t)63;
    run(native, launch, begin, end, (char *)scratch);
}
