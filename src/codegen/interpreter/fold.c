/* Running kernels with folds. Points are computed patch by patch; the results of each chunk are
 * combined with those of the others, and the rest is computed for many kept points at once. */
#include "codegen/interpreter/mode.h"
#include "codegen/interpreter/patch.h"
#include "core/thread.h"

#include <string.h>

enum {
    SLOTS_BYTES = 32 << 10, /* for what is being folded, of all folds */
    SIDE = 64,              /* of a square patch, for an operand with another order of axes */
    CHUNKS_BYTES = 16 << 10 /* for the results of chunks */
};

typedef struct weft__folding {
    const weft__folds *folds;
    const weft__launch *launch;
    weft__patch points, results;
    bool vertical;                /* columns are kept points, not elements that are folded */
    int64_t length, lanes;        /* of a chunk */
    int64_t columns;              /* kept points that are being folded */
    int64_t column;               /* not vertical: the one of them */
    int64_t begin;                /* the first element of the chunk */
    char *slot[WEFT__FOLDS_MAX];  /* lanes × columns, or just lanes */
    char *chunk[WEFT__FOLDS_MAX]; /* results of chunks; then of all of them */
} folding;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

char *weft__fold_result(const weft__patch *frame, int32_t fold)
{
    return frame->folding->chunk[fold];
}

/* Combines `count` values of fold k, at offsets in values, with others; or puts these there. */
static void combine(const folding *f, int32_t k, char *const *to, int64_t at, const char *x,
                    const char *y, int64_t count, unsigned uniform)
{
    const weft__fold *fold = &f->folds->fold[k];
    char *first = to[k] + (at << fold->size);
    if (fold->pair)
        fold->pair(first, to[k + 1] + (at << fold[1].size), x, y, count, uniform);
    else
        fold->combine(first, first, x, x, count, uniform & 1 ? 2 : 0);
}

static void put(const folding *f, int32_t k, char *const *to, int64_t at, const char *x,
                const char *y, int64_t count, unsigned uniform)
{
    const weft__variant *variant = f->points.program->variant;
    const char *from[] = {x, y};
    for (int j = 0; j <= (f->folds->fold[k].pair != NULL); j++) {
        const int size = f->folds->fold[k + j].size;
        char *dst = to[k + j] + (at << size);
        if (uniform >> j & 1)
            variant->move_row[size](dst, (int64_t)1 << size, from[j], 0, count);
        else
            memcpy(dst, from[j], (size_t)count << size);
    }
}

/* Values of the patch from `first` on, which are the next of slots `slot` and after. */
static void fold_values(const folding *f, const weft__patch *frame, const weft__step *step,
                        int64_t first, int64_t slot, int64_t count, bool fresh)
{
    const int32_t k = step->slot;
    const weft__fold *fold = &f->folds->fold[k];
    const char *x = frame->at[step->argument[0]], *y = frame->at[step->argument[1]];
    if (!(step->uniform & 1))
        x += first << fold->size;
    if (fold->pair && !(step->uniform & 2))
        y += first << fold[1].size;
    (fresh ? put : combine)(f, k, f->slot, slot, x, y, count, step->uniform);
}

/* Whole rows of lanes in one go: returns how many elements these were. */
static int64_t fold_rows(const folding *f, const weft__patch *frame, const weft__step *step,
                         int64_t first, int64_t at, int64_t count)
{
    const weft__fold *fold = &f->folds->fold[step->slot];
    const int64_t rows = count / f->lanes;
    if (!fold->rows || at < f->lanes || at % f->lanes != 0 || rows < 2 || step->uniform)
        return 0;
    fold->rows(f->slot[step->slot], frame->at[step->argument[0]] + (first << fold->size), rows);
    return rows * f->lanes;
}

void weft__fold_step(const weft__patch *frame, const weft__step *step)
{
    const folding *f = frame->folding;
    int64_t at = frame->folded - f->begin;
    if (f->vertical) {
        for (int64_t r = 0; r < frame->rows; r++, at++)
            fold_values(f, frame, step, r * frame->columns, at % f->lanes * f->columns,
                        frame->columns, at < f->lanes);
        return;
    }
    const int64_t count = frame->rows * frame->columns;
    for (int64_t done = 0, piece; done < count; done += piece, at += piece) {
        const int64_t lane = at % f->lanes;
        piece = fold_rows(f, frame, step, done, at, count - done);
        if (piece > 0)
            continue;
        piece = least(f->lanes - lane, count - done);
        fold_values(f, frame, step, done, lane, piece, at < f->lanes);
    }
}

/* Combines `count` groups of values by halving into the first of them; groups have `columns` values
 * and are `pitch` values apart. */
static void halve(const folding *f, char *const *groups, int64_t count, int64_t pitch,
                  int64_t columns)
{
    int64_t half = 1;
    while (2 * half < count)
        half *= 2;
    for (; count > 1; count = least(count, half), half /= 2) {
        const bool one = pitch == columns;
        const int64_t pairs = count - half, steps = one ? 1 : pairs;
        for (int32_t k = 0; k < f->folds->count; k++) {
            const weft__fold *fold = &f->folds->fold[k];
            if (fold->second)
                continue;
            for (int64_t s = 0; s < steps; s++) {
                const int64_t other = (half + s) * pitch;
                combine(f, k, groups, s * pitch, groups[k] + (other << fold->size),
                        fold->pair ? groups[k + 1] + (other << fold[1].size) : NULL,
                        one ? pairs * columns : columns, 0);
            }
        }
    }
}

/* Sets the position along the axes from `first` on, before `end`, to that of a point. */
static void place(int64_t *position, const weft__launch *launch, int32_t first, int32_t end,
                  int64_t point)
{
    for (int32_t k = end - 1; k >= first; k--) {
        position[k] = point % launch->size[k];
        point /= launch->size[k];
    }
}

/* The next patch of the elements [at, end) that are folded; returns how many it has. */
static int64_t next_patch(folding *f, int64_t at, int64_t end)
{
    weft__patch *frame = &f->points;
    const weft__launch *launch = f->launch;
    const int32_t last = launch->ndim - 1;
    const bool axes = launch->ndim > launch->kept_ndim;
    const int64_t size = axes ? launch->size[last] : 1, most = frame->program->elements;
    frame->folded = at;
    place(frame->position, launch, launch->kept_ndim, launch->ndim, at);
    const int64_t here = axes ? frame->position[last] : 0, piece = least(end - at, size - here);
    frame->rows = 1;
    if (f->vertical) {
        frame->columns = f->columns;
        frame->rows = least(piece, most / f->columns);
        return frame->rows;
    }
    const int64_t block = frame->program->moves ? most : least(most, WEFT__BLOCK);
    frame->columns = least(piece, block);
    if (here == 0 && launch->ndim - launch->kept_ndim > 1 && 2 * size <= block) {
        const int64_t left = launch->size[last - 1] - frame->position[last - 1];
        const int64_t rows = least(least((end - at) / size, left), block / size);
        frame->rows = rows > 1 ? rows : 1;
    }
    return frame->rows * frame->columns;
}

/* Folds one chunk, of all columns or of one; the results are in the first slots. */
static void fold_elements(folding *f, int64_t chunk)
{
    f->begin = chunk * f->length;
    const int64_t end = least(f->begin + f->length, f->launch->folded);
    for (int64_t at = f->begin; at < end;) {
        at += next_patch(f, at, end);
        weft__patch_run(&f->points);
    }
    const int64_t columns = f->vertical ? f->columns : 1;
    halve(f, f->slot, least(end - f->begin, f->lanes), columns, columns);
}

/* Folds a chunk for all columns; its results go to `to`. */
static void fold_chunk(folding *f, int64_t chunk, char *const *to)
{
    int64_t *position = f->points.position;
    const int32_t axis = f->launch->kept_ndim - 1;
    const int64_t columns = f->vertical ? 1 : f->columns;
    for (int64_t c = 0; c < columns; c++) {
        if (c > 0)
            position[axis]++;
        fold_elements(f, chunk);
        for (int32_t k = 0; k < f->folds->count; k++) {
            const int size = f->folds->fold[k].size;
            memcpy(to[k] + (c << size), f->slot[k], (size_t)(f->vertical ? f->columns : 1) << size);
        }
    }
    if (columns > 1)
        position[axis] -= columns - 1;
}

static void fill_neutral(const folding *f)
{
    for (int32_t k = 0; k < f->folds->count; k++) {
        const weft__fold *fold = &f->folds->fold[k];
        f->points.program->variant->move_row[fold->size](
            f->chunk[k], (int64_t)1 << fold->size, (const char *)&fold->neutral, 0, f->columns);
    }
}

/* Folds the chunks from number `chunk` on that are `step` apart, and combines them by halving: the
 * odd ones of them with the even ones, last. There are few results at any time. */
static void fold_chunks(folding *f, int64_t chunk, int64_t step, char *const *to)
{
    char *next[WEFT__FOLDS_MAX];
    if (chunk + step >= f->launch->chunks) {
        fold_chunk(f, chunk, to);
        return;
    }
    for (int32_t k = 0; k < f->folds->count; k++)
        next[k] = to[k] + (f->columns << f->folds->fold[k].size);
    fold_chunks(f, chunk, 2 * step, to);
    fold_chunks(f, chunk + step, 2 * step, next);
    halve(f, to, 2, f->columns, f->columns);
}

static void finish(folding *f)
{
    f->results.columns = f->columns;
    memcpy(f->results.position, f->points.position,
           (size_t)f->launch->kept_ndim * sizeof *f->results.position);
    weft__patch_run(&f->results);
}

/* Where the results of group `group` of kept point `point` are in the buffer. */
static void locate(const folding *f, int64_t group, int64_t point, char **at)
{
    const weft__launch *launch = f->launch;
    char *buffer = weft__launch_arguments_of(launch)[launch->arguments_count - 1].data;
    for (int32_t k = 0; k < f->folds->count; k++) {
        const int size = f->folds->fold[k].size;
        at[k] = buffer + ((group * launch->kept + point) << size);
        buffer += weft__fold_bytes((int64_t)1 << size, launch->groups * launch->kept);
    }
}

/* The kept points from number `point` on, as many as can be done at once, at most `most`. */
static void take_columns(folding *f, int64_t point, int64_t most)
{
    const weft__launch *launch = f->launch;
    const int32_t axis = launch->kept_ndim - 1;
    place(f->points.position, launch, 0, launch->kept_ndim, point);
    const int64_t left = axis < 0 ? 1 : launch->size[axis] - f->points.position[axis];
    f->columns = least(least(left, most), f->columns);
}

static void run_group(folding *f, int64_t group, int64_t point)
{
    char *to[WEFT__FOLDS_MAX];
    locate(f, group, point, to);
    fold_chunks(f, group, f->launch->groups, f->chunk);
    for (int32_t k = 0; k < f->folds->count; k++)
        memcpy(to[k], f->chunk[k], (size_t)f->columns << f->folds->fold[k].size);
}

static void run_kept(folding *f, int64_t group, int64_t point)
{
    if (f->launch->stage == WEFT__STAGE_CHUNKS) {
        run_group(f, group, point);
        return;
    }
    if (f->launch->chunks == 0) {
        fill_neutral(f);
    } else if (f->launch->stage == WEFT__STAGE_FINISH) {
        locate(f, 0, point, f->chunk);
        halve(f, f->chunk, f->launch->groups, f->launch->kept, f->columns);
    } else {
        fold_chunks(f, 0, 1, f->chunk);
    }
    finish(f);
}

/* Whether some operand's elements are closer together along axis `near` than along `far`. */
static bool is_closer(const weft__launch *launch, int32_t near, int32_t far)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (int k = 0; near >= 0 && far >= 0 && k < launch->arguments_count - 1; k++) {
        const int64_t a = arguments[k].stride[near], b = arguments[k].stride[far];
        if (a != 0 && b != 0 && (a < 0 ? -a : a) < (b < 0 ? -b : b))
            return true;
    }
    return false;
}

/* How many kept points at once are fastest, if there is room for `most`. */
static int64_t vertical_columns(const folding *f, int64_t most)
{
    const weft__program *program = f->points.program;
    const int64_t rows = least(f->launch->folded, SIDE), points = program->elements;
    int64_t columns = least(most, program->moves ? points : least(points, WEFT__BLOCK));
    if (is_closer(f->launch, f->points.plan.row_axis, f->points.column_axis))
        columns = least(columns, rows < 1 ? points : points / rows);
    return columns;
}

/* Cuts the memory for slots and chunks into parts; returns how many columns there is room for. */
static int64_t lay_out(folding *f, char *slots, char *chunks)
{
    const weft__launch *launch = f->launch;
    const int64_t lanes = f->lanes < launch->folded ? f->lanes
                          : launch->folded > 0      ? launch->folded
                                                    : 1;
    const int64_t slots_bytes = SLOTS_BYTES / f->folds->count / 64 * 64;
    const int64_t chunks_bytes = CHUNKS_BYTES / f->folds->count / 64 * 64;
    const int64_t groups = launch->stage == WEFT__STAGE_CHUNKS ? launch->groups : 1;
    const int64_t levels = weft__fold_levels((launch->chunks + groups - 1) / groups);
    int64_t largest = 1;
    for (int32_t k = 0; k < f->folds->count; k++) {
        const int64_t bytes = (int64_t)1 << f->folds->fold[k].size;
        largest = bytes > largest ? bytes : largest;
        f->slot[k] = slots + k * slots_bytes;
        f->chunk[k] = chunks + k * chunks_bytes;
    }
    int64_t columns = f->results.program->elements;
    if (launch->stage != WEFT__STAGE_FINISH || launch->chunks == 0)
        columns = least(columns, chunks_bytes / (8 * levels));
    if (f->vertical && launch->stage != WEFT__STAGE_FINISH)
        columns = least(columns, vertical_columns(f, slots_bytes / (largest * lanes)));
    return columns < 1 ? 1 : columns;
}

static void begin(folding *f, weft__patch *frame, const weft__program *program, int32_t columns)
{
    memset(frame, 0, sizeof *frame);
    frame->program = program;
    frame->launch = f->launch;
    frame->arguments = weft__launch_arguments_of(f->launch);
    frame->folding = f;
    frame->plan.row_axis = -1;
    frame->column_axis = columns;
    frame->rows = 1;
}

static void begin_both(folding *f)
{
    const weft__launch *launch = f->launch;
    const int32_t folded = launch->ndim - launch->kept_ndim, last = launch->ndim - 1;
    f->lanes = f->folds->lanes ? WEFT__FOLD_LANES : 1;
    f->length = f->folds->lanes ? WEFT__FOLD_CHUNK : WEFT__FOLD_RUN;
    f->vertical = !f->folds->lanes ||
                  (launch->kept > 4 &&
                   (weft__fold_is_short(launch) || is_closer(launch, launch->kept_ndim - 1, last)));
    begin(f, &f->points, f->folds->points, f->vertical ? launch->kept_ndim - 1 : last);
    begin(f, &f->results, f->folds->results, launch->kept_ndim - 1);
    if (f->vertical)
        f->points.plan.row_axis = folded > 0 ? last : -1;
    else if (folded > 1)
        f->points.plan.row_axis = last - 1;
    if (!f->vertical && folded == 0)
        f->points.column_axis = -1;
    f->points.folded_rows = f->vertical;
}

static void run(const weft__folds *folds, const weft__launch *launch, int64_t first, int64_t end,
                char *scratch)
{
    folding f = {.folds = folds, .launch = launch};
    char *slots = scratch + 2 * WEFT__SCRATCH;
    begin_both(&f);
    const int64_t most = lay_out(&f, slots, slots + SLOTS_BYTES);
    const weft__mode mode = weft__mode_enter();
    weft__patch_begin(&f.points, scratch, f.points.program->elements);
    weft__patch_begin(&f.results, scratch + WEFT__SCRATCH, f.results.program->elements);
    while (first < end) {
        const int64_t group = first / launch->kept, point = first % launch->kept;
        f.columns = most;
        take_columns(&f, point, end - first);
        run_kept(&f, group, point);
        first += f.columns;
    }
    weft__mode_leave(mode);
}

_Static_assert(2 * WEFT__SCRATCH + SLOTS_BYTES + CHUNKS_BYTES <= WEFT__SCRATCH_BYTES, "scratch");

/* Our own threads have room on their stacks. */
__attribute__((noinline)) static void
run_on_stack(const weft__folds *folds, const weft__launch *launch, int64_t first, int64_t end)
{
    _Alignas(64) char scratch[WEFT__SCRATCH_BYTES];
    run(folds, launch, first, end, scratch);
}

void weft__folds_run(const void *folds, const weft__launch *launch, int64_t first, int64_t end)
{
    const weft__thread *thread = weft__thread_peek();
    if (first >= end)
        return;
    if (!thread) {
        run_on_stack(folds, launch, first, end);
        return;
    }
    uintptr_t scratch = ((uintptr_t)thread->scratch + 63) & ~(uintptr_t)63;
    run(folds, launch, first, end, (char *)scratch);
}
