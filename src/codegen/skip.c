/* Finds values that can be skipped where no lane needs them: what math functions do for rare
 * arguments, and the sides of a user's own choice. */
#include "codegen/skip.h"

enum {
    WORTH = 16,   /* operations that are worth a branch */
    DEAR = 8,     /* what a division or a root counts for */
    WINDOW = 2048 /* values that are looked at, for a select */
};

static bool is_point(const weft__skips *skips, uint32_t k)
{
    return skips->needed[k] != 0 && skips->level[k] == skips->point;
}

static uint32_t cost_of(const weft__value *value)
{
    switch ((weft__op)value->op) {
    case WEFT__OP_div:
    case WEFT__OP_rem:
    case WEFT__OP_sqrt:
        return DEAR;
    default:
        return 1;
    }
}

/* What belongs to a skip that is tried: the selects that it is for, and the values it would have.
 */
struct attempt {
    weft__skip skip;
    uint32_t last;        /* of the selects */
    uint8_t outer;        /* the skip that all of it is in */
    uint8_t number;       /* that it would have */
    uint32_t *inner;      /* of each value: how many of its uses are in the attempt */
    const uint32_t *next; /* of each select: the next one with its condition, or 0 */
};

static bool is_for(const weft__skips *skips, const struct attempt *attempt, uint32_t k)
{
    const weft__value *value = &skips->kernel->values[k];
    return value->op == WEFT__OP_select && is_point(skips, k) && skips->skip[k] == attempt->outer &&
           value->argument[0] == (int32_t)attempt->skip.condition &&
           value->argument[1] != value->argument[2];
}

/* Goes backwards from the last select; returns what the values cost that are marked with the
 * number. */
static uint32_t mark(weft__skips *skips, const struct attempt *attempt, const uint32_t *uses)
{
    const weft__kernel *kernel = skips->kernel;
    const uint32_t begin = attempt->skip.condition + 1;
    uint32_t cost = 0;
    for (uint32_t k = attempt->last; k >= begin; k--) {
        const weft__value *value = &kernel->values[k];
        if (is_for(skips, attempt, k)) {
            attempt->inner[value->argument[attempt->skip.side]]++;
            continue;
        }
        const bool inside = k < attempt->skip.first && is_point(skips, k) &&
                            skips->skip[k] == attempt->outer && uses[k] > 0 &&
                            attempt->inner[k] == uses[k] && value->op != WEFT__OP_load &&
                            value->op != WEFT__OP_store;
        for (int j = 0; inside && j < weft__value_arguments(kernel, value); j++)
            attempt->inner[value->argument[j]]++;
        if (inside) {
            skips->skip[k] = attempt->number;
            cost += cost_of(value);
        }
    }
    return cost;
}

/* Forgets the counts, and the marks too if they are not wanted. */
static void unmark(weft__skips *skips, const struct attempt *attempt, bool wanted)
{
    const weft__kernel *kernel = skips->kernel;
    for (uint32_t k = attempt->skip.condition + 1; k <= attempt->last; k++) {
        const weft__value *value = &kernel->values[k];
        for (int j = 0; j < weft__value_arguments(kernel, value); j++)
            attempt->inner[value->argument[j]] = 0;
        if (!wanted && skips->skip[k] == attempt->number)
            skips->skip[k] = attempt->outer;
    }
}

static void attempt_skip(weft__skips *skips, uint32_t first, uint8_t side, uint32_t *uses)
{
    const weft__kernel *kernel = skips->kernel;
    const uint32_t condition = (uint32_t)kernel->values[first].argument[0];
    struct attempt attempt = {.skip = {condition, first, side},
                              .last = first,
                              .outer = skips->skip[first],
                              .number = (uint8_t)(skips->count + 1),
                              .inner = uses + kernel->values_count,
                              .next = uses + 2 * (size_t)kernel->values_count};
    for (uint32_t k = first; k > 0 && k - first < WINDOW; k = attempt.next[k])
        if (is_for(skips, &attempt, k))
            attempt.last = k;
    if (mark(skips, &attempt, uses) >= WORTH) {
        unmark(skips, &attempt, true);
        skips->skips[skips->count++] = attempt.skip;
    } else {
        unmark(skips, &attempt, false);
    }
}

/* Whether no select before this one has its condition, in the same skip. */
static bool is_first(const weft__skips *skips, uint32_t k)
{
    const weft__value *values = skips->kernel->values;
    for (uint32_t j = k; j-- > (uint32_t)values[k].argument[0];)
        if (values[j].op == WEFT__OP_select && values[j].argument[0] == values[k].argument[0] &&
            skips->skip[j] == skips->skip[k] && is_point(skips, j))
            return false;
    return true;
}

static void count_uses(const weft__skips *skips, uint32_t *uses)
{
    const weft__kernel *kernel = skips->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        for (int j = 0;
             skips->needed[k] != 0 && j < weft__value_arguments(kernel, &kernel->values[k]); j++)
            uses[kernel->values[k].argument[j]]++;
}

/* `last` is all 0, and is so again afterwards. */
static void link_selects(const weft__kernel *kernel, uint32_t *last, uint32_t *next)
{
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        if (value->op != WEFT__OP_select)
            continue;
        next[k] = last[value->argument[0]];
        last[value->argument[0]] = k;
    }
    for (uint32_t k = 0; k < kernel->values_count; k++)
        last[k] = 0;
}

/* From the last select to the first, so that outer skips come before those inside of them. */
void weft__skips_find(weft__skips *skips, uint32_t *room)
{
    const weft__kernel *kernel = skips->kernel;
    if (kernel->loops_count > 0) /* a branch around parts of loops is none of these */
        return;
    count_uses(skips, room);
    link_selects(kernel, room + kernel->values_count, room + 2 * (size_t)kernel->values_count);
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        if (value->op != WEFT__OP_select || !is_point(skips, k) ||
            k - (uint32_t)value->argument[0] > WINDOW ||
            !is_point(skips, (uint32_t)value->argument[0]) || !is_first(skips, k))
            continue;
        for (uint8_t side = 1; side <= 2 && skips->count < WEFT__SKIPS_MOST; side++)
            attempt_skip(skips, k, side, room);
    }
}
