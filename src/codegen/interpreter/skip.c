/* Finds steps that are skipped in blocks where no element needs them: what math functions do for
 * rare arguments, and the sides of a user's own choice. */
#include "codegen/interpreter/compile.h"

#include <string.h>

enum {
    WORTH = 4,   /* steps in a row that are worth looking at a condition */
    WINDOW = 512 /* steps that are looked at, for a condition */
};

/* The steps from `begin` to the last of the selects that have one condition. */
struct attempt {
    int32_t condition; /* a live value */
    int32_t begin, first, last;
    int side;              /* the argument of the selects that may not be needed */
    int32_t *uses, *inner; /* of each live value: all, and those that this attempt knows */
    bool *marked;          /* of each step */
};

static bool is_select(const weft__lowering *lowering, const weft__step *step)
{
    if (step->kind != WEFT__STEP_COMPUTE)
        return false;
    for (int dtype = 0; dtype < WEFT_DTYPE_END; dtype++)
        if (step->primitive == lowering->program->variant->primitive[WEFT__OP_select][dtype])
            return true;
    return false;
}

static bool is_for(const weft__lowering *lowering, const struct attempt *attempt, int32_t k)
{
    const weft__step *step = &lowering->program->steps[k];
    return step->argument[0] == attempt->condition && is_select(lowering, step) &&
           step->argument[1] != step->argument[2];
}

/* Goes backwards from the last select. What is marked is used by what is marked, and by the selects
 * as the side that may not be needed, alone. */
static void mark(const weft__lowering *lowering, const struct attempt *attempt)
{
    const weft__step *steps = lowering->program->steps;
    for (int32_t k = attempt->last; k >= attempt->begin; k--) {
        const weft__step *step = &steps[k];
        if (is_for(lowering, attempt, k)) {
            attempt->inner[step->argument[attempt->side]]++;
            continue;
        }
        attempt->marked[k] = k < attempt->first && step->kind == WEFT__STEP_COMPUTE &&
                             attempt->uses[step->result] > 0 &&
                             attempt->inner[step->result] == attempt->uses[step->result];
        for (int j = 0; attempt->marked[k] && j < weft__step_arguments(step); j++)
            attempt->inner[step->argument[j]]++;
    }
}

/* Forgets what was counted. */
static void forget(const weft__lowering *lowering, const struct attempt *attempt)
{
    for (int32_t k = attempt->begin; k <= attempt->last; k++)
        for (int j = 0; j < weft__step_arguments(&lowering->program->steps[k]); j++)
            attempt->inner[lowering->program->steps[k].argument[j]] = 0;
}

/* Rows of steps that are marked are skipped by their first one. */
static void skip_rows(const weft__lowering *lowering, const struct attempt *attempt)
{
    for (int32_t k = attempt->begin, end; k < attempt->first; k = end + 1) {
        for (end = k; attempt->marked[end]; end++) {
        }
        weft__step *step = &lowering->program->steps[k];
        if (end - k < WORTH || end - k <= step->skips)
            continue;
        step->skips = end - k;
        step->condition = attempt->condition;
        step->side = attempt->side == 1;
    }
}

/* The step after the one that makes a value, or -1 if that is too far away. */
static int32_t step_after(const weft__lowering *lowering, int32_t live, int32_t before)
{
    for (int32_t k = before; k-- > 0 && before - k < WINDOW;)
        if (lowering->program->steps[k].kind == WEFT__STEP_COMPUTE &&
            lowering->program->steps[k].result == live)
            return k + 1;
    return -1;
}

static bool find_selects(const weft__lowering *lowering, int32_t first, struct attempt *attempt)
{
    const weft__program *program = lowering->program;
    attempt->condition = program->steps[first].argument[0];
    attempt->begin = step_after(lowering, attempt->condition, first);
    attempt->first = attempt->last = first;
    for (int32_t k = attempt->begin; attempt->begin >= 0 && k < first; k++)
        if (is_for(lowering, attempt, k))
            return false; /* it is not the first one */
    for (int32_t k = first; k < program->steps_count && k - first < WINDOW; k++)
        if (is_for(lowering, attempt, k))
            attempt->last = k;
    return attempt->begin >= 0;
}

void weft__lower_skips(weft__lowering *lowering, int32_t *room, bool *marked)
{
    const weft__program *program = lowering->program;
    if (lowering->kernel->loops_count > 0)
        return;
    struct attempt attempt = {.uses = room, .inner = room + lowering->live_count, .marked = marked};
    for (int32_t k = 0; k < program->steps_count; k++)
        for (int j = 0; j < weft__step_arguments(&program->steps[k]); j++)
            attempt.uses[program->steps[k].argument[j]]++;
    for (int32_t k = 0; k < program->steps_count; k++) {
        if (!is_select(lowering, &program->steps[k]) || program->steps[k].uniform & 1 ||
            !find_selects(lowering, k, &attempt))
            continue;
        for (attempt.side = 1; attempt.side <= 2; attempt.side++) {
            mark(lowering, &attempt);
            skip_rows(lowering, &attempt);
            forget(lowering, &attempt);
        }
    }
}
