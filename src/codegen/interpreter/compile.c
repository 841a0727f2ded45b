/* Compiling a kernel: gives the values of the lowered program blocks, and the image its entry. */
#include "codegen/interpreter/compile.h"
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

/* Blocks that no value needs at the moment; the one used last is taken first. */
struct pool {
    int32_t *free;
    int32_t free_count, count;
};

static int32_t pool_take(struct pool *pool)
{
    return pool->free_count > 0 ? pool->free[--pool->free_count] : pool->count++;
}

static void pool_give(struct pool *pool, int32_t block) { pool->free[pool->free_count++] = block; }

/* Gives back the blocks of a step's arguments that nothing uses after it: those that the result may
 * overwrite, which have elements of its size, or the others. */
static void give_arguments(weft__lowering *lowering, struct pool *pool, int32_t position,
                           bool before)
{
    const weft__step *step = &lowering->program->steps[position];
    const int count = weft__step_arguments(step);
    for (int k = 0; k < count; k++) {
        weft__live *live = &lowering->live[step->argument[k]];
        const bool overwritten = live->size == step->size && step->kind != WEFT__STEP_EDGE;
        if (live->last != position || live->block < 0 || overwritten != before)
            continue;
        pool_give(pool, live->block);
        live->last = -1;
    }
}

static void place_step(weft__lowering *lowering, struct pool *pool, int32_t position)
{
    weft__step *step = &lowering->program->steps[position];
    give_arguments(lowering, pool, position, true);
    if (weft__step_has_result(step) && lowering->live[step->result].block < 0) {
        weft__live *live = &lowering->live[step->result];
        live->block = pool_take(pool);
        if (live->last < 0)
            pool_give(pool, live->block);
        if (live->size > lowering->program->size)
            lowering->program->size = live->size;
    }
    give_arguments(lowering, pool, position, false);
}

/* Decides what may be read or written in memory, which needs the lives that place_step ends. */
static void mark_in_place(weft__lowering *lowering)
{
    weft__program *program = lowering->program;
    for (int32_t k = 0; k < program->steps_count; k++) {
        weft__step *step = &program->steps[k];
        const weft__live *live = &lowering->live[step->result];
        if (step->kind == WEFT__STEP_FETCH)
            step->in_place = lowering->first_put < 0 || live->last <= lowering->first_put;
        else if (step->kind == WEFT__STEP_COMPUTE && k + 1 < program->steps_count)
            step->in_place = step[1].kind == WEFT__STEP_PUT && live->last == k + 1 &&
                             step[1].argument[0] == step->result;
        program->moves &= step->kind == WEFT__STEP_FETCH || step->kind == WEFT__STEP_PUT ||
                          step->kind == WEFT__STEP_FOLD;
    }
}

/* From positions among the live values to rows of the table of addresses. */
static void resolve(const weft__lowering *lowering, weft__step *steps, int32_t count)
{
    const weft__program *program = lowering->program;
    int32_t first[WEFT__STORAGES] = {0};
    for (int k = 1; k < WEFT__STORAGES; k++)
        first[k] = first[k - 1] + program->rows[k - 1];
    for (int32_t k = 0; k < count; k++) {
        int32_t *rows[] = {&steps[k].result, &steps[k].argument[0], &steps[k].argument[1],
                           &steps[k].argument[2], &steps[k].condition};
        steps[k].block = lowering->live[steps[k].result].block;
        for (int j = 0; j < 5; j++) {
            const weft__live *live = &lowering->live[*rows[j]];
            *rows[j] = live->storage == WEFT__STORAGE_BLOCK ? live->block
                                                            : first[live->storage] + live->ordinal;
        }
    }
}

/* How many elements a block can have within the scratch. */
static weft_status fit(weft__program *program)
{
    int64_t locations = 0;
    for (int k = 0; k < WEFT__STORAGES; k++)
        locations += program->rows[k];
    const int64_t tables =
        8 * (locations + program->rows[WEFT__STORAGE_UNIFORM]) + 64 + program->frame;
    const int64_t blocks = program->rows[WEFT__STORAGE_BLOCK];
    int64_t elements = WEFT__TILE;
    if (blocks > 0) {
        const int64_t bytes = (WEFT__SCRATCH - tables) / blocks - 2 * (int64_t)WEFT__BLOCK_ROOM;
        elements = bytes <= 0 ? 0 : bytes >> program->size;
    }
    const bool fits = elements >= 16 && tables <= WEFT__SCRATCH;
    if (!fits && program->lanes > 0)
        return WEFT_ERROR_UNSUPPORTED; /* without a frame there may be room */
    if (!fits)
        return FAIL(WEFT_ERROR_COMPILE,
                    "the kernel needs %lld values at a time, which is more than the interpreter "
                    "has room for; cut it into several",
                    (long long)locations);
    program->elements = (int32_t)(elements < WEFT__TILE ? elements - elements % 16 : WEFT__TILE);
    return WEFT_OK;
}

static weft_status place(weft__lowering *lowering, int32_t *free_blocks)
{
    weft__program *program = lowering->program;
    struct pool pool = {.free = free_blocks};
    for (int32_t k = 0; k < lowering->live_count; k++)
        lowering->live[k].block = -1;
    mark_in_place(lowering);
    for (int32_t k = 0; k < program->steps_count; k++)
        place_step(lowering, &pool, k);
    lowering->live[0].block = 0;
    program->rows[WEFT__STORAGE_BLOCK] = pool.count;
    program->rows[WEFT__STORAGE_SCALAR] = (int32_t)lowering->kernel->scalars_count;
    resolve(lowering, program->prologue, program->prologue_count);
    resolve(lowering, program->steps, program->steps_count);
    return fit(program);
}

/* Every value becomes at most three steps and three live values; one more of these is never used,
 * so that steps without a result or argument have something to refer to. */
static weft_status build(const weft__kernel *kernel, const uint8_t *wanted, bool machine,
                         weft__program *program)
{
    const size_t values = kernel->values_count, most = 3 * values + 1;
    char *memory =
        weft__allocate_zeroed(most * (sizeof(weft__live) + 3 * sizeof(int32_t) + sizeof(bool)) +
                              values * (2 * sizeof(int32_t) + sizeof(bool)));
    if (memory == NULL)
        return WEFT_ERROR_MEMORY;
    weft__lowering lowering = {.kernel = kernel, .wanted = wanted, .program = program};
    lowering.live = (weft__live *)(void *)memory;
    int32_t *numbers = (int32_t *)(void *)(lowering.live + most);
    lowering.value = numbers + 3 * most;
    lowering.raw = lowering.value + values;
    lowering.used = (bool *)(void *)(lowering.raw + values);
    lowering.live[0].last = -1;
    lowering.live_count = 1;
    weft_status status = machine ? weft__lower_machine(&lowering) : weft__lower(&lowering);
    if (status == WEFT_OK) {
        weft__lower_skips(&lowering, numbers + most, lowering.used + values);
        status = place(&lowering, numbers);
    }
    weft__free(memory);
    return status;
}

void weft__program_free(void *pointer)
{
    weft__program *program = pointer;
    if (program != NULL)
        weft__executable_free(&program->code);
    weft__free(program);
}

weft_status weft__program_make(const weft__kernel *kernel, const uint8_t *wanted, bool machine,
                               weft__program **made)
{
    const size_t values = kernel->values_count, steps = 3 * values;
    const size_t shifts = kernel->shifts_count * sizeof(weft__kernel_shift);
    weft__program *program = weft__allocate(sizeof *program + 2 * steps * sizeof(weft__step) +
                                            values * sizeof(uint64_t) + shifts);
    if (program == NULL)
        return WEFT_ERROR_MEMORY;
    *program = (weft__program){.variant = weft__variant_chosen(), .moves = true};
    program->steps = (weft__step *)(void *)(program + 1);
    program->prologue = program->steps + steps;
    program->constants = (uint64_t *)(void *)(program->prologue + steps);
    program->shifts = memset(program->constants + values, 0, shifts);
    for (uint32_t k = 0; k < kernel->shifts_count; k++) {
        program->shifts[k].boundary = kernel->shifts[k].boundary;
        for (int axis = 0; axis < kernel->ndim; axis++)
            program->shifts[k].offset[weft__axis_launched(kernel, axis)] =
                kernel->shifts[k].offset[axis];
    }
    const weft_status status = build(kernel, wanted, machine, program);
    if (status == WEFT_OK)
        *made = program;
    else
        weft__program_free(program);
    return status;
}

static weft_status compile(const weft__kernel *kernel, bool machine, weft__image *image)
{
    weft__program *program;
    weft__folds *folds;
    if (kernel->folds_count > 0) {
        TRY(weft__folds_make(kernel, machine, &folds));
        *image =
            (weft__image){.entry = weft__folds_run, .program = folds, .destroy = weft__folds_free};
        return WEFT_OK;
    }
    TRY(weft__program_make(kernel, NULL, machine, &program));
    *image = (weft__image){
        .entry = weft__program_run, .program = program, .destroy = weft__program_free};
    return WEFT_OK;
}

weft_status weft__interpreter_compile(const weft__kernel *kernel, weft__image *image)
{
    return compile(kernel, false, image);
}

weft_status weft__interpreter_assemble(const weft__kernel *kernel, weft__image *image)
{
    return compile(kernel, true, image);
}
