/* Cutting a program into kernels. Values that are read at other points than their own (the array
 * under a shift, the result of a reduction that is repeated) are stored first, and so are those
 * that another piece of a very large program needs. */
#include "lang/schedule.h"
#include "core/allocate.h"
#include "core/status.h"
#include <string.h>

/* Reductions of one kernel; each takes part of its scratch memory. */
enum { FOLDS_MAX = 8 };

typedef struct scheduling {
    const weft__lang_program *program;
    weft__schedule *out;
    uint8_t *wanted;   /* whether a result depends on the node */
    uint8_t *folds;    /* how many reductions the node's kernel has for it */
    uint8_t *looped;   /* whether the node's kernel has a loop for it */
    int32_t *assigned; /* the operand whose last value the node is, or -1 */
    int32_t base;      /* the first level of this piece … */
    int32_t last;      /* … and the last level so far */
} scheduling;

bool weft__fold_has_mean(const weft__lang_node *fold)
{
    return fold->kind == WEFT__NODE_FOLD &&
           (fold->operation == WEFT__LANG_var || fold->operation == WEFT__LANG_std);
}

static const weft_shape *shape_of(const scheduling *s, int32_t node)
{
    return &s->program->shapes[s->program->nodes[node].shape];
}

static bool same_shape(const scheduling *s, int32_t a, int32_t b)
{
    return weft_shape_equal(*shape_of(s, a), *shape_of(s, b));
}

/* Whether two reductions go over the same axes of the same shape. */
static bool same_fold(const scheduling *s, int32_t a, int32_t b)
{
    const weft__lang_node *x = &s->program->nodes[a], *y = &s->program->nodes[b];
    return x->axes == y->axes && x->keep == y->keep &&
           same_shape(s, x->argument[0], y->argument[0]);
}

/* Marks the nodes that the results depend on; arguments come before their users. */
static void mark_wanted(const scheduling *s)
{
    const weft__lang_program *p = s->program;
    for (uint32_t i = 0; i < p->assignments_count; i++)
        if (p->assignments[i].last)
            s->wanted[p->assignments[i].node] = 1;
    if (p->value >= 0)
        s->wanted[p->value] = 1;
    for (uint32_t i = p->nodes_count; i-- > 0;)
        for (int k = 0; s->wanted[i] && k < 3; k++)
            if (p->nodes[i].argument[k] >= 0)
                s->wanted[p->nodes[i].argument[k]] = 1;
}

/* A node that is an operand's last value is kept there, others in temporaries. */
static int32_t new_home(const scheduling *s, int32_t node)
{
    return s->assigned[node] >= 0 ? s->assigned[node]
                                  : WEFT__PLACE_TEMPORARY - (int32_t)s->out->temporaries_count++;
}

static void add_store(scheduling *s, int32_t node, int32_t place, int32_t level, bool mean)
{
    s->out->stores[s->out->stores_count++] = (weft__scheduled){node, place, level, mean};
}

static void store(scheduling *s, int32_t node)
{
    if (s->out->home[node] != WEFT__PLACE_NONE)
        return;
    s->out->home[node] = new_home(s, node);
    add_store(s, node, s->out->home[node], s->out->level[node], false);
}

/* Whether the argument belongs to another piece than its user. */
static bool is_outside(const scheduling *s, int32_t argument, int32_t user)
{
    return s->out->pieces.piece[argument] != s->out->pieces.piece[user];
}

/* The reduction whose kernel can compute the node as well, or -1. */
static int32_t fold_around(const scheduling *s, int32_t node)
{
    const weft__lang_node *n = &s->program->nodes[node];
    int32_t found = -1;
    int folds = 0;
    if (n->kind == WEFT__NODE_SHIFT || n->kind == WEFT__NODE_FOLD)
        return -1;
    for (int k = 0; k < 3; k++) {
        int32_t fold = n->argument[k] < 0 ? -1 : s->out->fold[n->argument[k]];
        if (fold < 0 || is_outside(s, n->argument[k], node))
            continue;
        if (!same_shape(s, node, fold) || (found >= 0 && !same_fold(s, found, fold)))
            return -1;
        folds += s->folds[n->argument[k]];
        found = fold;
    }
    s->folds[node] = (uint8_t)folds;
    return folds > FOLDS_MAX ? -1 : found;
}

/* A complex one is two, and so is a position with its value. */
static uint8_t folds_of(const scheduling *s, const weft__lang_node *fold)
{
    weft_dtype dtype = (weft_dtype)s->program->nodes[fold->argument[0]].dtype;
    bool pair = dtype == WEFT_C64 || dtype == WEFT_C128 || fold->operation == WEFT__LANG_argmin ||
                fold->operation == WEFT__LANG_argmax;
    return pair ? 2 : 1;
}

/* The level at which argument `k` is there; `around` is the reduction around its user. */
static int32_t argument_level(scheduling *s, int32_t node, int k, int32_t around)
{
    weft__schedule *out = s->out;
    const weft__lang_node *n = &s->program->nodes[node];
    int32_t a = n->argument[k];
    bool outside = is_outside(s, a, node), repeats = weft__piece_repeats(s->program, a);
    bool moved = n->kind == WEFT__NODE_SHIFT && k == 0;
    bool stored = (moved && s->program->nodes[a].kind != WEFT__NODE_OPERAND) ||
                  (s->looped[a] && n->kind == WEFT__NODE_FOLD) || (outside && !repeats) ||
                  (out->fold[a] >= 0 && around < 0);
    if (stored)
        store(s, a);
    return out->level[a] + stored;
}

static void schedule_node(scheduling *s, int32_t node)
{
    weft__schedule *out = s->out;
    const weft__lang_node *n = &s->program->nodes[node];
    int32_t level = s->base, around = fold_around(s, node);
    s->looped[node] = n->kind == WEFT__NODE_LOOP;
    for (int k = 0; k < 3; k++)
        s->looped[node] |=
            n->argument[k] >= 0 && s->looped[n->argument[k]] && n->kind != WEFT__NODE_FOLD;
    for (int k = 0; k < 3; k++) {
        int32_t there = n->argument[k] < 0 ? 0 : argument_level(s, node, k, around);
        level = level > there ? level : there;
    }
    out->fold[node] = around;
    if (n->kind == WEFT__NODE_FOLD) {
        out->fold[node] = node;
        s->folds[node] = folds_of(s, n);
    }
    if (weft__fold_has_mean(n)) {
        out->mean[node] = WEFT__PLACE_TEMPORARY - (int32_t)out->temporaries_count++;
        add_store(s, node, out->mean[node], level++, true);
    }
    out->level[node] = level;
    s->last = level > s->last ? level : s->last;
}

/* Piece after piece: each begins at a level of its own. */
static void schedule_nodes(scheduling *s)
{
    const weft__pieces *pieces = &s->out->pieces;
    s->last = -1;
    for (uint32_t p = 0; p < pieces->count; p++) {
        s->base = s->last + 1;
        for (uint32_t i = pieces->first[p]; i < pieces->first[p + 1]; i++)
            schedule_node(s, pieces->order[i]);
    }
}

/* The level of a result: that of its reductions, which then need no second kernel, or of an earlier
 * piece, else the last. */
static int32_t result_level(const scheduling *s, int32_t node)
{
    const weft__pieces *pieces = &s->out->pieces;
    bool early =
        pieces->piece[node] + 1 < (int32_t)pieces->count && !weft__piece_repeats(s->program, node);
    return s->out->fold[node] >= 0 || early ? s->out->level[node] : s->last;
}

/* What the program leaves behind, and is not stored already. */
static void add_results(scheduling *s)
{
    const weft__lang_program *p = s->program;
    for (uint32_t i = 0; i < p->assignments_count; i++) {
        const weft__lang_assignment *a = &p->assignments[i];
        if (a->last && s->out->home[a->node] != a->operand)
            add_store(s, a->node, a->operand, result_level(s, a->node), false);
    }
    if (p->value >= 0)
        add_store(s, p->value, WEFT__PLACE_VALUE, result_level(s, p->value), false);
}

/* The reduction whose kernel makes the store, or -1: one that is in memory by then is only read. */
static int32_t fold_of(const scheduling *s, const weft__scheduled *store)
{
    const weft__schedule *out = s->out;
    bool read =
        out->home[store->node] != WEFT__PLACE_NONE && out->level[store->node] < store->level;
    return read && !store->mean ? -1 : out->fold[store->node];
}

static bool same_kernel(const scheduling *s, const weft__scheduled *a, const weft__scheduled *b)
{
    int32_t x = fold_of(s, a), y = fold_of(s, b);
    return a->level == b->level && same_shape(s, a->node, b->node) && (x < 0) == (y < 0) &&
           (x < 0 || same_fold(s, x, y));
}

/* In the order of their levels; of one level, reductions first, which often read what others write,
 * and write what nobody reads. Otherwise as they are. */
static void sort_by_level(const scheduling *s, weft__scheduled *to, uint32_t *begin)
{
    const weft__schedule *out = s->out;
    for (uint32_t i = 0; i < out->stores_count; i++)
        begin[out->stores[i].level + 1]++;
    for (int32_t k = 0; k <= s->last; k++)
        begin[k + 1] += begin[k];
    for (int folds = 1; folds >= 0; folds--)
        for (uint32_t i = 0; i < out->stores_count; i++)
            if ((fold_of(s, &out->stores[i]) >= 0) == folds)
                to[begin[out->stores[i].level]++] = out->stores[i];
}

/* Takes what the kernel of store `head` can store, too; the rest stays in `left`. */
static void take_kernel(scheduling *s, weft__scheduled *left, uint32_t head, uint32_t *done)
{
    const weft__scheduled first = left[head];
    int folds = 0;
    for (uint32_t j = head; j < s->out->stores_count && left[j].level == first.level; j++) {
        if (left[j].node < 0 || !same_kernel(s, &first, &left[j]))
            continue;
        int more = fold_of(s, &first) < 0 ? 0 : s->folds[left[j].node];
        if (folds + more > FOLDS_MAX)
            break;
        folds += more;
        s->out->stores[(*done)++] = left[j];
        left[j].node = -1;
    }
}

static void group(scheduling *s, weft__scheduled *sorted)
{
    weft__schedule *out = s->out;
    uint32_t done = 0;
    sort_by_level(s, sorted, out->first);
    for (uint32_t i = 0; i < out->stores_count; i++) {
        if (sorted[i].node < 0)
            continue;
        out->first[out->kernels_count++] = done;
        take_kernel(s, sorted, i, &done);
    }
    out->first[out->kernels_count] = done;
}

static void find_assigned(const scheduling *s)
{
    const weft__lang_program *p = s->program;
    memset(s->assigned, -1, p->nodes_count * sizeof *s->assigned);
    for (uint32_t i = p->assignments_count; i-- > 0;)
        if (p->assignments[i].last)
            s->assigned[p->assignments[i].node] = p->assignments[i].operand;
}

weft_status weft__schedule_make(const weft__lang_program *program, weft__schedule *schedule)
{
    /* A node may add two levels, and a piece one. */
    size_t nodes = program->nodes_count, most = 2 * nodes + program->assignments_count + 1;
    size_t levels = 3 * nodes + most + 2;
    size_t bytes =
        2 * most * sizeof(weft__scheduled) + (levels + 5 * nodes) * sizeof(int32_t) + 3 * nodes;
    memset(schedule, 0, sizeof *schedule);
    char *memory = weft__allocate_zeroed(bytes);
    if (!memory)
        return WEFT_ERROR_MEMORY;
    schedule->stores = (weft__scheduled *)(void *)memory;
    weft__scheduled *sorted = schedule->stores + most;
    schedule->first = (uint32_t *)(void *)(sorted + most);
    schedule->level = (int32_t *)(void *)(schedule->first + levels);
    schedule->home = schedule->level + nodes;
    schedule->mean = schedule->home + nodes;
    schedule->fold = schedule->mean + nodes;
    scheduling s = {.program = program, .out = schedule};
    s.assigned = schedule->fold + nodes;
    s.wanted = (uint8_t *)(s.assigned + nodes);
    s.folds = s.wanted + nodes;
    s.looped = s.folds + nodes;
    for (size_t i = 0; i < nodes; i++)
        schedule->fold[i] = -1, schedule->home[i] = schedule->mean[i] = WEFT__PLACE_NONE;
    mark_wanted(&s);
    find_assigned(&s);
    TRY(weft__pieces_make(program, s.wanted, &schedule->pieces));
    schedule_nodes(&s);
    add_results(&s);
    group(&s, sorted);
    return WEFT_OK;
}

void weft__schedule_free(weft__schedule *schedule)
{
    weft__pieces_free(&schedule->pieces);
    weft__free(schedule->stores);
    schedule->stores = NULL;
}
