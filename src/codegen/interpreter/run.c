/* Running a program over a range of a launch, patch by patch. */
#include "codegen/interpreter/mode.h"
#include "codegen/interpreter/patch.h"
#include "core/thread.h"

#include <string.h>

static void fetch(weft__patch *frame, const weft__step *step)
{
    weft__plane memory = weft__patch_plane(frame, step);
    if (step->shift && !weft__shift_inside(frame, step, &memory)) {
        frame->at[step->result] = frame->at[step->block];
        weft__shift_fetch(frame, step);
        return;
    }
    if (step->in_place && weft__machine_reads(frame) &&
        weft__plane_dense(&memory, frame->rows, frame->columns, (int64_t)1 << step->size)) {
        frame->at[step->result] = memory.data;
        return;
    }
    char *block = frame->at[step->block];
    frame->at[step->result] = block;
    weft__memory_move(frame->program->variant, step->size,
                      weft__patch_block(frame, block, step->size), memory, frame->rows,
                      frame->columns, false);
}

static void put(const weft__patch *frame, const weft__step *step)
{
    char *source = frame->at[step->argument[0]];
    const weft__plane uniform = {.data = source};
    weft__memory_move(frame->program->variant, step->size, weft__patch_plane(frame, step),
                      step->uniform ? uniform : weft__patch_block(frame, source, step->size),
                      frame->rows, frame->columns, frame->streaming);
}

/* Positions along an axis, as i64. */
static void number(const weft__patch *frame, const weft__step *step)
{
    const int32_t axis = step->slot, last = frame->launch->ndim - 1;
    const bool folded = axis == WEFT__INDEX_FOLDED;
    int64_t *result = (int64_t *)(void *)frame->at[step->result];
    const int64_t first = folded ? frame->folded : axis <= last ? frame->position[axis] : 0;
    int64_t by_row = axis == frame->plan.row_axis, by_column = axis == frame->column_axis;
    if (folded) {
        by_row = frame->folded_rows ? 1 : frame->columns;
        by_column = !frame->folded_rows;
    }
    for (int64_t r = 0; r < frame->rows; r++)
        for (int64_t c = 0; c < frame->columns; c++)
            *result++ = first + r * by_row + c * by_column;
}

static void compute(const weft__patch *frame, const weft__step *step, char *result, int64_t count)
{
    char *const *at = frame->at;
    step->primitive(result, at[step->argument[0]], at[step->argument[1]], at[step->argument[2]],
                    count, step->uniform);
}

/* Computes a step straight to where the put after it goes, if that is one piece of memory. */
static bool compute_in_place(const weft__patch *frame, const weft__step *step, int64_t count)
{
    const weft__step *next = step + 1;
    if (!step->in_place || frame->streaming)
        return false;
    const weft__plane memory = weft__patch_plane(frame, next);
    if (!weft__plane_dense(&memory, frame->rows, frame->columns, (int64_t)1 << next->size))
        return false;
    compute(frame, step, memory.data, count);
    return true;
}

/* The result of a fold is read where it is, or from a block. */
static void folded(weft__patch *frame, const weft__step *step, int64_t count)
{
    char *result = weft__fold_result(frame, step->slot);
    if (!weft__machine_reads(frame))
        result = memcpy(frame->at[step->block], result, (size_t)count << step->size);
    frame->at[step->result] = result;
}

/* Whether any element of a patch needs what a step may skip. */
static bool is_needed(const weft__patch *frame, const weft__step *step, int64_t count)
{
    return memchr(frame->at[step->condition], step->side, (size_t)count) != NULL;
}

void weft__patch_run(weft__patch *frame)
{
    const weft__step *step = frame->program->steps, *end = step + frame->program->steps_count;
    const int64_t count = frame->rows * frame->columns;
    for (; step < end; step++) {
        if (step->skips > 0 && !is_needed(frame, step, count)) {
            step += step->skips - 1;
            continue;
        }
        switch ((weft__step_kind)step->kind) {
        case WEFT__STEP_COMPUTE:
            if (compute_in_place(frame, step, count))
                step++;
            else
                compute(frame, step, frame->at[step->result], count);
            break;
        case WEFT__STEP_FETCH:
            fetch(frame, step);
            break;
        case WEFT__STEP_PUT:
            put(frame, step);
            break;
        case WEFT__STEP_INDEX:
            number(frame, step);
            break;
        case WEFT__STEP_EDGE:
            weft__shift_edge(frame, step);
            break;
        case WEFT__STEP_FOLD:
            weft__fold_step(frame, step);
            break;
        case WEFT__STEP_FOLDED:
            folded(frame, step, count);
            break;
        case WEFT__STEP_GATHER:
            weft__loop_gather(frame, step);
            break;
        case WEFT__STEP_SCATTER:
            weft__loop_scatter(frame, step);
            break;
        case WEFT__STEP_COPY:
            weft__loop_copy(frame, step);
            break;
        case WEFT__STEP_ENTER:
            weft__loop_enter(frame, step);
            break;
        case WEFT__STEP_TEST:
            if (!weft__loop_test(frame, step))
                step = frame->program->steps + step->to - 1;
            break;
        case WEFT__STEP_AGAIN:
            step = frame->program->steps + step->to - 1;
            break;
        case WEFT__STEP_TAKE:
            weft__machine_take(frame, step);
            break;
        case WEFT__STEP_GIVE:
            weft__machine_give(frame, step);
            break;
        case WEFT__STEP_CALL:
            weft__machine_call(frame, step);
            break;
        }
    }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Sets position to the point with this number along axes 0 to `axis`, and 0 along those after. */
static void place(weft__patch *frame, int32_t axis, int64_t point)
{
    for (int32_t k = frame->launch->ndim - 1; k > axis; k--)
        frame->position[k] = 0;
    for (int32_t k = axis; k > 0; k--) {
        const int64_t size = frame->launch->size[k];
        frame->position[k] = point % size;
        point /= size;
    }
    frame->position[0] = point;
}

/* Goes to the next point along the axes from `first` to `axis`; false if that was the last. */
static bool advance(weft__patch *frame, int32_t first, int32_t axis)
{
    for (int32_t k = axis; k >= first; k--) {
        if (++frame->position[k] < frame->launch->size[k])
            return true;
        frame->position[k] = 0;
    }
    return false;
}

/* Pieces of single rows; the range may begin and end anywhere. */
static void run_rows(weft__patch *frame, int64_t begin, int64_t end)
{
    const int32_t last = frame->launch->ndim - 1;
    const int64_t size = frame->launch->size[last];
    int64_t *column = &frame->position[last];
    place(frame, last, begin);
    frame->rows = 1;
    while (begin < end) {
        const int64_t stop = least(size, *column + (end - begin));
        begin += stop - *column;
        for (; *column < stop; *column += frame->columns) {
            frame->columns = least(frame->plan.columns, stop - *column);
            weft__patch_run(frame);
        }
        *column = 0;
        (void)advance(frame, 0, last - 1);
    }
}

/* All patches of the rows from position[row_axis] on, along the axes after row_axis. */
static void run_band(weft__patch *frame, int64_t rows)
{
    const int32_t last = frame->launch->ndim - 1, row_axis = frame->plan.row_axis;
    const int64_t size = frame->launch->size[last];
    frame->rows = rows;
    do {
        for (int64_t c = 0; c < size; c += frame->columns) {
            frame->position[last] = c;
            frame->columns = least(frame->plan.columns, size - c);
            weft__patch_run(frame);
        }
        frame->position[last] = 0;
    } while (advance(frame, row_axis + 1, last - 1));
}

static void run_tiles(weft__patch *frame, int64_t begin, int64_t end)
{
    const int32_t row_axis = frame->plan.row_axis;
    const int64_t size = frame->launch->size[row_axis];
    while (begin < end) {
        place(frame, row_axis, begin);
        const int64_t row = frame->position[row_axis];
        const int64_t rows = least(least(frame->plan.rows, size - row), end - begin);
        run_band(frame, rows);
        begin += rows;
    }
}

/* Whether every fetch can be read in place a whole row at a time. */
static bool rows_in_place(const weft__patch *frame)
{
    const weft__program *program = frame->program;
    const int32_t last = frame->launch->ndim - 1;
    for (int32_t k = 0; k < program->steps_count; k++) {
        const weft__step *step = &program->steps[k];
        if (step->kind == WEFT__STEP_FETCH &&
            (!step->in_place || step->shift ||
             frame->arguments[step->slot].stride[last] != (int64_t)1 << step->size))
            return false;
    }
    return true;
}

static void plan(weft__patch *frame, int64_t begin, int64_t end)
{
    const weft__launch *launch = frame->launch;
    const int64_t elements = frame->program->elements;
    frame->plan = weft__plan_launch(launch, elements);
    if (frame->plan.row_axis >= 0) {
        const int64_t inner = weft__launch_inner(launch, frame->plan.row_axis);
        if (begin % inner != 0 || end % inner != 0)
            frame->plan = (weft__plan){-1, 1, least(elements, WEFT__BLOCK)};
    }
    if (frame->plan.row_axis < 0 && frame->program->moves && rows_in_place(frame))
        frame->plan.columns = launch->size[launch->ndim - 1];
}

/* Large results go past the caches, unless they are written where something was just read. */
static bool streaming(const weft__patch *frame)
{
    const weft__program *program = frame->program;
    if (frame->launch->count * program->bytes_put <= weft__memory_streaming_bytes())
        return false;
    for (int32_t k = 0; k < program->steps_count; k++) {
        if (program->steps[k].kind != WEFT__STEP_PUT)
            continue;
        const char *written = frame->arguments[program->steps[k].slot].data;
        for (int32_t j = 0; j < program->steps_count; j++) {
            if (program->steps[j].kind == WEFT__STEP_FETCH &&
                frame->arguments[program->steps[j].slot].data == written)
                return false;
        }
    }
    return true;
}

static char *aligned(char *pointer) { return pointer + (-(uintptr_t)pointer & 63U); }

/* Lays out the table, the uniform values and the blocks. */
static void lay_out(weft__patch *frame, char *scratch, int64_t points)
{
    const weft__program *program = frame->program;
    const int32_t *rows = program->rows;
    char **at = frame->at = (char **)(void *)scratch;
    int32_t locations = 0;
    for (int k = 0; k < WEFT__STORAGES; k++)
        locations += rows[k];
    char *uniforms = scratch + (size_t)locations * sizeof *at;
    frame->machine = aligned(uniforms + 8 * rows[WEFT__STORAGE_UNIFORM]);
    char *blocks = frame->machine + program->frame;
    const int64_t bytes = (least(points, program->elements) << program->size) + WEFT__BLOCK_ROOM;
    for (int32_t k = 0; k < rows[WEFT__STORAGE_BLOCK]; k++)
        *at++ = blocks + k * (bytes + (-bytes & 63));
    at += rows[WEFT__STORAGE_FETCH];
    for (int32_t k = 0; k < rows[WEFT__STORAGE_CONSTANT]; k++)
        *at++ = (char *)&program->constants[k];
    for (int32_t k = 0; k < rows[WEFT__STORAGE_SCALAR]; k++)
        *at++ = (char *)(uintptr_t)&weft__launch_scalars(frame->launch)[k];
    for (int32_t k = 0; k < rows[WEFT__STORAGE_UNIFORM]; k++)
        *at++ = uniforms + 8 * k;
}

void weft__patch_begin(weft__patch *frame, char *scratch, int64_t points)
{
    const weft__program *program = frame->program;
    lay_out(frame, scratch, points);
    for (int32_t k = 0; k < program->prologue_count; k++)
        compute(frame, &program->prologue[k], frame->at[program->prologue[k].result], 1);
}

static void run(const weft__program *program, const weft__launch *launch, int64_t begin,
                int64_t end, char *scratch)
{
    weft__patch frame; /* of which each field is set before it is used */
    frame.program = program;
    frame.launch = launch;
    frame.arguments = weft__launch_arguments_of(launch);
    frame.column_axis = launch->ndim - 1;
    frame.streaming = streaming(&frame);
    plan(&frame, begin, end);
    const weft__mode mode = weft__mode_enter();
    weft__patch_begin(&frame, scratch, frame.plan.rows * frame.plan.columns);
    if (frame.plan.row_axis < 0) {
        run_rows(&frame, begin, end);
    } else {
        const int64_t inner = weft__launch_inner(launch, frame.plan.row_axis);
        run_tiles(&frame, begin / inner, end / inner);
    }
    weft__mode_leave(mode);
    if (frame.streaming)
        weft__memory_fence();
}

/* Our own threads have room on their stacks. */
__attribute__((noinline)) static void
run_on_stack(const weft__program *program, const weft__launch *launch, int64_t begin, int64_t end)
{
    _Alignas(64) char scratch[WEFT__SCRATCH];
    run(program, launch, begin, end, scratch);
}

void weft__program_run(const void *program, const weft__launch *launch, int64_t begin, int64_t end)
{
    const weft__thread *thread = weft__thread_peek();
    if (begin >= end)
        return;
    if (!thread) {
        run_on_stack(program, launch, begin, end);
        return;
    }
    uintptr_t scratch = ((uintptr_t)thread->scratch + 63) & ~(uintptr_t)63;
    run(program, launch, begin, end, (char *)scratch);
}
