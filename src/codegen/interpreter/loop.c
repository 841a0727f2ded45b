/* Loops: blocks go round as long as a point of theirs is in the loop, and points that have left it
 * keep what they carry. */
#include "codegen/interpreter/compile.h"
#include "core/status.h"

static int32_t add_step(weft__lowering *lowering, weft__step step)
{
    lowering->program->steps[lowering->program->steps_count] = step;
    return lowering->program->steps_count++;
}

/* A block of its own, whatever its first value is. */
static void lower_carry(weft__lowering *lowering, int32_t position)
{
    const int32_t from = lowering->value[lowering->kernel->values[position].argument[0]];
    weft__step step = {.kind = WEFT__STEP_COPY, .size = lowering->live[from].size};
    weft__lower_use(lowering, &step, 0, from);
    step.result = weft__lower_live(lowering, WEFT__STORAGE_BLOCK, step.size);
    add_step(lowering, step);
    lowering->value[position] = step.result;
}

static weft_status lower_loop(weft__lowering *lowering)
{
    const int open = lowering->loops_count;
    weft__step step = {.kind = WEFT__STEP_ENTER, .slot = open > 0};
    if (open == WEFT__LOOPS_DEEP)
        return FAIL(WEFT_ERROR_COMPILE, "the kernel has more than %d loops in one another",
                    (int)WEFT__LOOPS_DEEP);
    if (open > 0)
        weft__lower_use(lowering, &step, 0, lowering->loops[open - 1].active);
    step.result = weft__lower_live(lowering, WEFT__STORAGE_BLOCK, 0);
    add_step(lowering, step);
    lowering->loops[open].step = lowering->program->steps_count;
    lowering->loops[open].test = -1;
    lowering->loops[open].lives = lowering->live_count;
    lowering->loops[open].active = step.result;
    lowering->loops_count++;
    return WEFT_OK;
}

/* Several tests of one loop leave by way of the one before. */
static void lower_test(weft__lowering *lowering, int32_t position)
{
    const int open = lowering->loops_count - 1;
    weft__step step = {.kind = WEFT__STEP_TEST, .to = lowering->loops[open].test};
    weft__lower_use(lowering, &step, 0,
                    lowering->value[lowering->kernel->values[position].argument[0]]);
    weft__lower_use(lowering, &step, 1, lowering->loops[open].active);
    lowering->loops[open].test = add_step(lowering, step);
}

/* What is carried next is computed here, and copied when all of it is there. */
static void lower_next(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const int open = lowering->loops_count - 1;
    const int32_t arguments[] = {lowering->loops[open].active, lowering->value[value->argument[1]],
                                 lowering->value[value->argument[0]]};
    weft__primitive *select = lowering->program->variant->primitive[WEFT__OP_select][value->dtype];
    lowering->value[position] =
        weft__lower_compute(lowering, select, (weft_dtype)value->dtype, 3, arguments);
}

/* What the loop uses from before it must stay until it ends. */
static void keep_lives(weft__lowering *lowering, int open)
{
    const int32_t last = lowering->program->steps_count;
    for (int32_t k = 0; k < lowering->loops[open].lives; k++)
        if (lowering->live[k].last >= lowering->loops[open].step)
            lowering->live[k].last = last;
}

static void lower_end(weft__lowering *lowering, int32_t position)
{
    const weft__value *values = lowering->kernel->values;
    weft__program *program = lowering->program;
    const int open = --lowering->loops_count;
    for (int32_t k = position - 1; k >= 0 && values[k].op == WEFT__OP_next; k--) {
        weft__step copy = {.kind = WEFT__STEP_COPY,
                           .size = lowering->live[lowering->value[k]].size};
        weft__lower_use(lowering, &copy, 0, lowering->value[k]);
        copy.result = lowering->value[values[k].argument[0]];
        lowering->live[copy.result].last = program->steps_count;
        add_step(lowering, copy);
    }
    keep_lives(lowering, open);
    add_step(lowering, (weft__step){.kind = WEFT__STEP_AGAIN, .to = lowering->loops[open].step});
    for (int32_t test = lowering->loops[open].test, before; test >= 0; test = before) {
        before = program->steps[test].to;
        program->steps[test].to = program->steps_count;
    }
}

weft_status weft__lower_flow(weft__lowering *lowering, int32_t position)
{
    switch ((weft__op)lowering->kernel->values[position].op) {
    case WEFT__OP_carry:
        lower_carry(lowering, position);
        return WEFT_OK;
    case WEFT__OP_loop:
        return lower_loop(lowering);
    case WEFT__OP_test:
        lower_test(lowering, position);
        return WEFT_OK;
    case WEFT__OP_next:
        lower_next(lowering, position);
        return WEFT_OK;
    default:
        lower_end(lowering, position);
        return WEFT_OK;
    }
}
