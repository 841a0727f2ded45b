/* Judging a loop by the elements that its iterations use: whether one writes what another one uses,
 * and whether all of them are there. What cannot be decided counts against it. */
#include "function/task.h"
#include <string.h>

enum { COLUMNS = WEFT__INEQUALITY_COLUMNS, SECOND = WEFT__TASK_SYMBOLS };

/* row + by*form, with the form's symbols from column `side` on. */
static bool add_form(weft__inequality *row, const weft__affine *form, int64_t by, int side)
{
    int64_t term, *constant = &row->c[COLUMNS - 1];
    bool fits = form->valid && !__builtin_mul_overflow(form->constant, by, &term) &&
                !__builtin_add_overflow(*constant, term, constant);
    for (int k = 0; k < WEFT__TASK_SYMBOLS && fits; k++)
        fits = !__builtin_mul_overflow(form->factor[k], by, &term) &&
               !__builtin_add_overflow(row->c[side + k], term, &row->c[side + k]);
    return fits;
}

static void add_facts(const weft__task_view *v, weft__inequalities *known, int32_t fact, int side)
{
    for (int32_t at = fact; at >= 0; at = v->facts[at].parent) {
        weft__inequality row = {{0}};
        if (add_form(&row, &v->facts[at].form, 1, side))
            weft__inequality_add(known, &row);
    }
}

/* What is the same element has the same subscripts; false if that cannot be. */
static bool add_subscripts(const weft__task_access *a, const weft__task_access *b,
                           weft__inequalities *known)
{
    for (int k = 0; k < a->count; k++) {
        weft__inequality zero = {{0}};
        if (!add_form(&zero, &a->subscripts[k], 1, 0) ||
            !add_form(&zero, &b->subscripts[k], -1, SECOND))
            continue; /* any integer */
        if (weft__inequality_is_impossible(&zero))
            return false;
        weft__inequality_equal(known, &zero);
    }
    return true;
}

/* Adds by times where the element is, from the array's first; false if that is not known. */
static bool add_place(const weft_array *array, const weft__task_access *a, int64_t by, int side,
                      weft__inequality *row)
{
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    bool fits = true;
    for (int k = 0; k < a->count && fits; k++)
        fits = array->stride[k] % bytes == 0 &&
               add_form(row, &a->subscripts[k], by * (array->stride[k] / bytes), side);
    return fits;
}

static void add_inside(const weft_array *array, const weft__task_access *a, int side,
                       weft__inequalities *known)
{
    for (int k = 0; k < a->count; k++) {
        weft__inequality least = {{0}}, most = {{0}};
        most.c[COLUMNS - 1] = array->shape.size[k] - 1;
        if (!add_form(&least, &a->subscripts[k], 1, side) ||
            !add_form(&most, &a->subscripts[k], -1, side))
            continue;
        weft__inequality_add(known, &least);
        weft__inequality_add(known, &most);
    }
}

static bool lie_alike(const weft_array *x, const weft_array *y)
{
    return x->data == y->data && x->dtype == y->dtype && weft__shape_same(&x->shape, &y->shape) &&
           !memcmp(x->stride, y->stride, (size_t)x->shape.ndim * sizeof *x->stride);
}

/* Elements of two arrays that share memory: their addresses are the same. */
static bool add_addresses(const weft_array *x, const weft__task_access *a, const weft_array *y,
                          const weft__task_access *b, weft__inequalities *known)
{
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)x->dtype);
    const int64_t apart = (int64_t)((intptr_t)x->data - (intptr_t)y->data);
    weft__inequality zero = {{0}};
    if (weft_dtype_size((weft_dtype)y->dtype) != (size_t)bytes || apart % bytes)
        return true;
    zero.c[COLUMNS - 1] = apart / bytes;
    add_inside(x, a, 0, known);
    add_inside(y, b, SECOND, known);
    if (!add_place(x, a, 1, 0, &zero) || !add_place(y, b, -1, SECOND, &zero))
        return true;
    if (weft__inequality_is_impossible(&zero))
        return false;
    weft__inequality_equal(known, &zero);
    return true;
}

/* Whether an iteration may use an element that another one writes, the latter before or after it.
 */
static bool meet(const weft__task_view *v, const weft__task_access *a, const weft__task_access *b,
                 bool before, weft__inequalities *known)
{
    const weft_array *x = weft__held_any(&v->r->held[a->variable]);
    const weft_array *y = weft__held_any(&v->r->held[b->variable]);
    weft__inequality order = {{0}};
    weft__inequalities_clear(known);
    if (a->variable == b->variable || lie_alike(x, y)) {
        if (!add_subscripts(a, b, known))
            return false;
    } else if (!add_addresses(x, a, y, b, known))
        return false;
    add_facts(v, known, a->fact, 0);
    add_facts(v, known, b->fact, SECOND);
    order.c[0] = before ? -1 : 1;
    order.c[SECOND] = before ? 1 : -1;
    order.c[COLUMNS - 1] = -1;
    weft__inequality_add(known, &order);
    return weft__inequalities_have_solution(known);
}

/* Whether the two may use the same memory at all. */
static bool are_apart(const weft__task_view *v, const weft__task_access *a,
                      const weft__task_access *b)
{
    if (a->variable == b->variable)
        return v->private[a->variable];
    return !v->r->shared || v->private[a->variable] || v->private[b->variable] ||
           !weft__array_may_overlap(weft__held_any(&v->r->held[a->variable]),
                                    weft__held_any(&v->r->held[b->variable]));
}

/* Whether iterations that meet in the array fold into it: of integers, so that any order will do,
 * and of no memory that they use otherwise. */
static bool is_folded(weft__task_view *v, const weft__task_access *a, const weft__task_access *b)
{
    const uint8_t fold = v->folds[a->variable];
    const uint8_t dtype = weft__held_any(&v->r->held[a->variable])->dtype;
    bool fine = a->variable == b->variable && fold != 0 && fold != UINT8_MAX && dtype >= WEFT_I8 &&
                dtype <= WEFT_U64;
    for (int k = 0; k < v->accesses_count && fine; k++)
        fine = v->accesses[k].variable == a->variable || are_apart(v, a, &v->accesses[k]);
    for (int k = 0; k < v->folded_count && fine; k++)
        if (v->folded[k] == a->variable)
            return true;
    if (!fine || v->folded_count == WEFT__TASK_FOLDED)
        return false;
    v->folded[v->folded_count++] = a->variable;
    return true;
}

bool weft__task_is_parallel(weft__task_view *v, weft__inequalities *known)
{
    for (int i = 0; i < v->accesses_count; i++) {
        const weft__task_access *a = &v->accesses[i];
        if (!a->written)
            continue;
        if (weft__held_any(&v->r->held[a->variable])->overlapping)
            return false;
        for (int k = 0; k < v->accesses_count; k++) {
            const weft__task_access *b = &v->accesses[k];
            if (!are_apart(v, a, b) &&
                (meet(v, a, b, true, known) || meet(v, a, b, false, known)) && !is_folded(v, a, b))
                return false;
        }
    }
    return true;
}

/* Whether form + by*… is never negative here. */
static bool is_natural(const weft__task_view *v, weft__inequalities *known, int32_t fact,
                       const weft__affine *form, int64_t by, int64_t plus)
{
    weft__inequality below = {{0}};
    weft__inequalities_clear(known);
    below.c[COLUMNS - 1] = -plus - 1;
    if (!add_form(&below, form, -by, 0))
        return false;
    add_facts(v, known, fact, 0);
    weft__inequality_add(known, &below);
    return !weft__inequalities_have_solution(known);
}

bool weft__task_is_inside(weft__task_view *v, weft__inequalities *known)
{
    for (int i = 0; i < v->accesses_count; i++) {
        const weft__task_access *a = &v->accesses[i];
        const weft_shape *shape = &weft__held_any(&v->r->held[a->variable])->shape;
        for (int k = 0; k < a->count; k++)
            if (!is_natural(v, known, a->fact, &a->subscripts[k], 1, 0) ||
                !is_natural(v, known, a->fact, &a->subscripts[k], -1, shape->size[k] - 1))
                return false;
    }
    return true;
}
