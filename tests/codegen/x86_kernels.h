/* Random kernels of what machine code of our own is made for: long, with many values that live at
 * once, and with choices whose sides are worth a branch, in each other. */
#ifndef WEFT_TESTS_CODEGEN_X86_KERNELS_H
#define WEFT_TESTS_CODEGEN_X86_KERNELS_H

#include "codegen/random_kernels.h"
#include "codegen/x86_trials.h"

/* A kernel while it grows. Values of a side are not seen outside of it. */
struct x86_growth {
    struct x86_trial *trial;
    int seen[X86_VALUES], seen_count;
    uint16_t uses[X86_VALUES];
    int near; /* one in so many arguments is any value that is seen; others are late ones */
};

static inline int x86_grow(struct x86_growth *g, weft__op op, weft_dtype dtype, int x, int y, int z)
{
    const int at = x86_value(g->trial, op, dtype, x, y, z), argument[] = {x, y, z};
    g->uses[at] = 0;
    for (int k = 0; k < weft__value_arguments(&g->trial->kernel, &g->trial->values[at]); k++)
        g->uses[argument[k]]++;
    g->seen[g->seen_count++] = at;
    return at;
}

static inline weft_dtype x86_dtype_of(const struct x86_growth *g, int value)
{
    return (weft_dtype)g->trial->values[value].dtype;
}

static inline weft_dtype x86_random_type(void) { return x86_types[random_below(X86_TYPES)]; }

static inline int x86_new_constant(struct x86_growth *g, weft_dtype dtype)
{
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    const int at = x86_grow(g, WEFT__OP_constant, dtype, 0, 0, 0);
    g->trial->values[at].bits = random_below(2) ? corner[random_below(corners)] : random_of(dtype);
    return at;
}

/* A value of the dtype that is seen, or a new constant or cast. */
static inline int x86_pick(struct x86_growth *g, weft_dtype dtype)
{
    for (int tries = random_below(12) ? 16 : 0; tries > 0 && g->seen_count > 0; tries--) {
        const int late = g->seen_count < 24 ? g->seen_count : 24;
        const int at =
            g->seen[random_below(g->near) == 0 ? random_below(g->seen_count)
                                               : g->seen_count - 1 - (int)random_below(late)];
        if (x86_dtype_of(g, at) == dtype)
            return at;
    }
    if (g->seen_count > 0 && random_below(2))
        return x86_grow(g, WEFT__OP_cast, dtype, g->seen[random_below(g->seen_count)], 0, 0);
    return x86_new_constant(g, dtype);
}

/* The same bits; if those of a NaN are left open, of what is none. */
static inline int x86_grow_bits(struct x86_growth *g, weft_dtype dtype, int x)
{
    const weft_dtype from = x86_dtype_of(g, x);
    const bool open = is_float(from) && random_below(3) == 0;
    if (open) {
        const int is_number = x86_grow(g, WEFT__OP_eq, WEFT_BOOL, x, x, 0);
        const int one = x86_grow(g, WEFT__OP_constant, from, 0, 0, 0);
        g->trial->values[one].bits = float_bits(from, 1);
        x = x86_grow(g, WEFT__OP_select, from, is_number, x, one);
    }
    const int at = x86_grow(g, WEFT__OP_bitcast, dtype, x, 0, 0);
    g->trial->values[at].part = open;
    return at;
}

static inline void x86_operation(struct x86_growth *g)
{
    const weft__op op = (weft__op)(WEFT__OP_cast + random_below(WEFT__OP_shr + 1 - WEFT__OP_cast));
    const weft_dtype dtype = x86_random_type();
    if (op == WEFT__OP_cast) {
        (void)x86_grow(g, op, dtype, x86_pick(g, x86_random_type()), 0, 0);
    } else if (op == WEFT__OP_bitcast) {
        const weft_dtype from = x86_random_type();
        if (bits_in(from) == bits_in(dtype))
            (void)x86_grow_bits(g, dtype, x86_pick(g, from));
    } else if (is_defined(op, dtype)) {
        const bool compare = op >= WEFT__OP_eq && op <= WEFT__OP_le, choice = op == WEFT__OP_select;
        const int x = x86_pick(g, choice ? WEFT_BOOL : dtype);
        const int y = random_below(8) || choice ? x86_pick(g, dtype) : x;
        const int z = random_below(8) ? x86_pick(g, dtype) : y;
        (void)x86_grow(g, op, compare ? WEFT_BOOL : dtype, x, y, z);
    }
}

/* A value as a number without sign, of 32 or 64 bits, of which no bit is lost. */
static inline int x86_as_bits(struct x86_growth *g, int value, weft_dtype to)
{
    const weft_dtype from = x86_dtype_of(g, value);
    if (is_float(from))
        value = x86_grow(g, WEFT__OP_bitcast, from == WEFT_F32 ? WEFT_U32 : WEFT_U64, value, 0, 0);
    return x86_dtype_of(g, value) == to ? value : x86_grow(g, WEFT__OP_cast, to, value, 0, 0);
}

/* One value of the dtype that depends on all that nobody has used, of those seen from `begin` on.
 */
static inline int x86_gather(struct x86_growth *g, int begin, weft_dtype dtype)
{
    const weft_dtype whole =
        bits_in(dtype) == 64 || (dtype == WEFT_BOOL && random_below(2)) ? WEFT_U64 : WEFT_U32;
    const int end = g->seen_count;
    int sum = -1, by = -1;
    for (int k = begin; k < end; k++) {
        const int at = g->seen[k];
        if (g->uses[at] > 0 || g->trial->values[at].op == WEFT__OP_constant)
            continue;
        const int x = x86_as_bits(g, at, whole);
        if (by < 0) {
            by = x86_grow(g, WEFT__OP_constant, whole, 0, 0, 0);
            g->trial->values[by].bits = 0x9e3779b1U;
        }
        sum = sum < 0 ? x
                      : x86_grow(g, WEFT__OP_add, whole,
                                 x86_grow(g, WEFT__OP_mul, whole, sum, by, 0), x, 0);
    }
    if (sum < 0)
        return x86_pick(g, dtype);
    if (dtype == WEFT_BOOL)
        return x86_grow(g, WEFT__OP_lt, dtype, by, sum, 0);
    return x86_grow(g, is_float(dtype) ? WEFT__OP_bitcast : WEFT__OP_cast, dtype, sum, 0, 0);
}

/* A choice by a condition between two sides of about so many operations, with up to three results;
 * there may be more choices in a side. */
static inline void x86_choice(struct x86_growth *g, int condition, int operations, int depth)
{
    enum { RESULTS = 3 };
    const int results = 1 + (int)random_below(RESULTS), begin = g->seen_count;
    const int long_sides = (int)random_below(3); /* the first, the second or both */
    int side[2][RESULTS];
    weft_dtype dtypes[RESULTS];
    for (int k = 0; k < results; k++)
        dtypes[k] = x86_random_type();
    for (int s = 0; s < 2; s++) {
        const int now = s == long_sides ? 0 : operations;
        for (int k = 0; k < now; k++) {
            x86_operation(g);
            if (depth > 0 && k > 0 && k % (operations / 2) == 0)
                x86_choice(g, x86_pick(g, WEFT_BOOL), operations, depth - 1);
        }
        for (int k = 0; k < results; k++)
            side[s][k] =
                k == 0 && now > 0 ? x86_gather(g, begin, dtypes[k]) : x86_pick(g, dtypes[k]);
        g->seen_count = begin;
    }
    for (int k = 0; k < results; k++) {
        (void)x86_grow(g, WEFT__OP_select, dtypes[k], condition, side[0][k], side[1][k]);
        for (int64_t between = random_below(12); between > 6; between--)
            x86_operation(g);
    }
}

static inline void x86_grow_begin(struct x86_growth *g, struct x86_trial *trial, int inputs)
{
    g->trial = trial;
    g->seen_count = 0;
    g->near = 3;
    x86_begin(trial);
    for (int k = 0; k < inputs; k++) {
        const int at = x86_load(trial, k < X86_TYPES ? x86_types[k] : x86_random_type());
        g->uses[at] = 0;
        g->seen[g->seen_count++] = at;
    }
}

/* Stores what nobody has used, and some of the rest. */
static inline void x86_grow_end(struct x86_growth *g, int outputs)
{
    static bool stored[X86_VALUES];
    int end = g->seen_count, count = 0;
    const int rest = x86_gather(g, 0, random_below(2) ? WEFT_U64 : WEFT_U32);
    memset(stored, 0, sizeof stored);
    for (int k = g->seen_count; k-- > end;) /* not what only leads to the rest */
        g->seen_count--;
    if (g->trial->values[rest].op >= WEFT__OP_cast) {
        x86_store(g->trial, rest);
        stored[rest] = true;
        count++;
    }
    for (int tries = 0; tries < 4 * outputs && count < outputs; tries++) {
        const int at = g->seen[random_below(end)];
        if (stored[at] || g->trial->values[at].op < WEFT__OP_cast)
            continue;
        x86_store(g->trial, at);
        stored[at] = true;
        count++;
    }
}

/* About so many operations, some of them in choices. */
static inline void x86_random_kernel(struct x86_growth *g, struct x86_trial *trial, int operations)
{
    x86_grow_begin(g, trial, 1 + (int)random_below(30));
    g->near = random_below(2) ? 3 : 12;
    const bool chooses = random_below(3) != 0;
    while ((int)trial->kernel.values_count < operations) {
        x86_operation(g);
        if (chooses && random_below(40) == 0)
            x86_choice(g, x86_pick(g, WEFT_BOOL), 8 + (int)random_below(40), (int)random_below(3));
    }
    x86_grow_end(g, 1 + (int)random_below(40));
}

#endif
