/* Dependences: whether one iteration reads or writes an element that an earlier one wrote. The
 * elements are affine in what the loops count, so this asks whether a system of linear inequalities
 * has a solution. What cannot be decided counts as a dependence. */
#include "function/inequality.h"
#include "function/nest.h"
#include <string.h>

enum { COLUMNS = WEFT__INEQUALITY_COLUMNS };

typedef weft__inequality row;

/* What a question is about. */
typedef struct question {
    weft__function_nest *nest;
    const weft_shape *space;
    const weft__affine *forms;
    bool whole; /* about all points of the kernel, those outside of a loop's bounds too */
    weft__inequalities known;
} question;

/* a's form in one iteration minus b's in the other; `side` is where b's variables are. */
static bool subtract(const weft__affine *a, int a_side, const weft__affine *b, int b_side,
                     row *difference)
{
    memset(difference, 0, sizeof *difference);
    if (!a->valid || !b->valid ||
        __builtin_sub_overflow(a->constant, b->constant, &difference->c[COLUMNS - 1]))
        return false;
    for (int k = 0; k < WEFT__NEST_DEPTH_MAX; k++) {
        int64_t *x = &difference->c[a_side * WEFT__NEST_DEPTH_MAX + k];
        int64_t *y = &difference->c[b_side * WEFT__NEST_DEPTH_MAX + k];
        if (a->factor[k] == INT64_MIN || b->factor[k] == INT64_MIN)
            return false;
        *x = a->factor[k];
        if (__builtin_sub_overflow(*y, b->factor[k], y))
            return false;
    }
    return true;
}

/* left + less <= right in one iteration. */
static void add_comparison(question *q, int32_t left, int32_t right, int64_t less, int side)
{
    row difference;
    if (!subtract(&q->forms[right], side, &q->forms[left], side, &difference) ||
        __builtin_sub_overflow(difference.c[COLUMNS - 1], less, &difference.c[COLUMNS - 1]))
        return; /* less is known, which is safe */
    weft__inequality_add(&q->known, &difference);
}

/* The bounds of loops that depend on others. None of them wraps around: count_loop in nest_run.c
 * has found their ranges over all points, and where one does not fit the loop is serial. */
static void add_guard(question *q, int32_t node, int side, int depth)
{
    const weft__syntax_node *n = &q->nest->syntax->nodes[node];
    const int32_t *sides = q->nest->syntax->arguments + n->first;
    if (n->kind != WEFT__SYNTAX_CALL || n->count != 2 || depth > 8)
        return;
    switch (n->operation) {
    case WEFT__LANG_logical_and:
        add_guard(q, sides[0], side, depth + 1);
        add_guard(q, sides[1], side, depth + 1);
        return;
    case WEFT__LANG_less:
        add_comparison(q, sides[0], sides[1], 1, side);
        return;
    case WEFT__LANG_less_equal:
        add_comparison(q, sides[0], sides[1], 0, side);
        return;
    case WEFT__LANG_greater:
        add_comparison(q, sides[1], sides[0], 1, side);
        return;
    case WEFT__LANG_greater_equal:
        add_comparison(q, sides[1], sides[0], 0, side);
        return;
    default:
        return;
    }
}

static void add_space(question *q, int side)
{
    for (int k = 0; k < q->space->ndim; k++) {
        row least = {{0}}, most = {{0}};
        least.c[side * WEFT__NEST_DEPTH_MAX + k] = 1;
        most.c[side * WEFT__NEST_DEPTH_MAX + k] = -1;
        most.c[COLUMNS - 1] = q->space->size[k] - 1;
        weft__inequality_add(&q->known, &least);
        weft__inequality_add(&q->known, &most);
    }
    for (int k = 0; k < q->nest->depth && !q->whole; k++)
        if (q->nest->loops[k].guard >= 0)
            add_guard(q, q->nest->syntax->statements[q->nest->loops[k].guard].node, side, 0);
}

/* The first iteration comes before the second: they differ first in this loop; with one more than
 * there are loops, they are the same. */
static void add_order(question *q, int level)
{
    for (int k = 0; k <= level && k < q->nest->depth; k++) {
        row difference = {{0}};
        difference.c[q->nest->axis[k]] = -1;
        difference.c[WEFT__NEST_DEPTH_MAX + q->nest->axis[k]] = 1;
        if (k < level)
            weft__inequality_equal(&q->known, &difference);
        else {
            difference.c[COLUMNS - 1] = -1;
            weft__inequality_add(&q->known, &difference);
        }
    }
}

/* Whether both may be the same element, the first in an iteration before that of the second (or
 * the same one: level is the depth). */
static bool meet(question *q, int32_t first, int32_t second, int level)
{
    const weft__lang_syntax *s = q->nest->syntax;
    const weft__syntax_node *a = &s->nodes[first], *b = &s->nodes[second];
    weft__inequalities_clear(&q->known);
    if (a->count != b->count)
        return true;
    for (uint32_t k = 0; k < a->count; k++) {
        row zero;
        if (!subtract(&q->forms[s->arguments[a->first + k]], 0,
                      &q->forms[s->arguments[b->first + k]], 1, &zero))
            return true;
        if (weft__inequality_is_impossible(&zero))
            return false;
        weft__inequality_equal(&q->known, &zero);
    }
    add_space(q, 0);
    add_space(q, 1);
    add_order(q, level);
    return weft__inequalities_have_solution(&q->known);
}

static bool is_same_form(const question *q, int32_t first, int32_t second)
{
    const weft__lang_syntax *s = q->nest->syntax;
    const weft__syntax_node *a = &s->nodes[first], *b = &s->nodes[second];
    bool same = a->count == b->count;
    for (uint32_t k = 0; same && k < a->count; k++) {
        const weft__affine *x = &q->forms[s->arguments[a->first + k]];
        const weft__affine *y = &q->forms[s->arguments[b->first + k]];
        same = x->valid && y->valid && x->constant == y->constant &&
               !memcmp(x->factor, y->factor, sizeof x->factor);
    }
    return same;
}

static void refuse(question *q, int32_t write, int32_t other)
{
    const weft__lang_syntax *s = q->nest->syntax;
    weft__lang_name name = s->names[s->nodes[write].index];
    uint32_t at = weft__nest_column(q->nest, s->nodes[other].column);
    uint32_t from = weft__nest_column(q->nest, s->nodes[write].column);
    if (at == from)
        weft__nest_refuse(q->nest, at, "several iterations may write the same element of '%s'",
                          QUOTE(name.text, name.length));
    else {
        weft__nest_refuse(q->nest, at,
                          "this element of '%s' may be one that an earlier iteration wrote",
                          QUOTE(name.text, name.length));
        q->nest->reason.from = from + 1;
    }
}

static bool is_target(const weft__lang_syntax *s, int32_t node)
{
    for (uint32_t i = 0; i < s->statements_count; i++)
        if (s->statements[i].target >= 0 && s->statements[i].access == node)
            return true;
    return false;
}

/* Which of the loops that are one kernel a node belongs to. */
static int loop_of(const weft__function_nest *nest, int32_t node)
{
    int loop = 0;
    while (loop + 1 < nest->joined &&
           (!nest->joined_ends[loop] ||
            node >= (int32_t)nest->syntax->statements[nest->joined_ends[loop] - 1].end))
        loop++;
    return loop;
}

/* Whether loops that are apart use the same element at different points, or as different forms at
 * one: the first loop is complete before the second. */
static bool meet_across(question *q, int32_t first, int32_t second)
{
    if (!is_same_form(q, first, second) && meet(q, first, second, q->nest->depth))
        return true;
    for (int level = 0; level < q->nest->depth; level++)
        if (meet(q, first, second, level) || meet(q, second, first, level))
            return true;
    return false;
}

static void refuse_across(question *q, int32_t write, int32_t other)
{
    const weft__lang_syntax *s = q->nest->syntax;
    weft__lang_name name = s->names[s->nodes[write].index];
    weft__nest_refuse(q->nest, weft__nest_column(q->nest, s->nodes[other].column),
                      "this element of '%s' may be one that another iteration writes",
                      QUOTE(name.text, name.length));
    q->nest->reason.from = weft__nest_column(q->nest, s->nodes[write].column) + 1;
}

/* What the statement writes, against every element of the same array. */
static bool depends_on(question *q, const weft__syntax_statement *w)
{
    const weft__lang_syntax *s = q->nest->syntax;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        if (s->nodes[i].kind != WEFT__SYNTAX_ACCESS || s->nodes[i].index != w->target)
            continue;
        if (loop_of(q->nest, w->access) != loop_of(q->nest, (int32_t)i)) {
            if (!meet_across(q, w->access, (int32_t)i))
                continue;
            refuse_across(q, w->access, (int32_t)i);
            return true;
        }
        bool after = i >= w->end && !is_same_form(q, w->access, (int32_t)i);
        q->whole = is_target(s, (int32_t)i); /* points outside write back what was there */
        for (int level = 0; level < q->nest->depth + after; level++)
            if (meet(q, w->access, (int32_t)i, level)) {
                refuse(q, w->access, (int32_t)i);
                return true;
            }
    }
    return false;
}

bool weft__nest_depends(weft__function_nest *nest, const weft_shape *space,
                        const weft__affine *forms)
{
    question q = {.nest = nest, .space = space, .forms = forms};
    bool depends = !weft__inequalities_open(&q.known);
    if (depends)
        weft__nest_refuse(nest, 0, "memory ran out");
    for (uint32_t i = 0; !depends && i < nest->syntax->statements_count; i++) {
        const weft__syntax_statement *w = &nest->syntax->statements[i];
        bool array = w->target >= 0 && nest->operands[w->target].role == WEFT__ROLE_VARIABLE;
        depends = array && depends_on(&q, w);
    }
    weft__inequalities_close(&q.known);
    return depends;
}
