/* Whether a variable's value is needed after a loop: statements in the order they may run. */
#include "function/function.h"

typedef enum meets { MEETS_NONE, MEETS_READ, MEETS_WRITE } meets;

/* `inside`: a jump leads to a place that is looked at anyway, as of a loop in question. */
static meets of_list(const weft__function *f, int32_t first, int32_t variable, bool inside);

/* An array that an element is assigned to is read, too: the other elements stay. */
static bool reads(const weft__function *f, const weft__function_statement *s, int32_t variable)
{
    for (int32_t k = 0; k < s->parts_count; k++) {
        const weft__function_part *part = &f->parts[s->part + k];
        for (int i = 0; i < part->names_count; i++)
            if (part->variables[i] == variable && part->whole[i])
                return true;
        for (int i = 0; i < part->elements_count; i++)
            if (part->elements[i].variable == variable)
                return true;
    }
    return false;
}

static meets of_if(const weft__function *f, const weft__function_statement *s, int32_t variable,
                   bool inside)
{
    meets then = of_list(f, s->child, variable, inside);
    meets other = of_list(f, s->other, variable, inside);
    if (then == MEETS_READ || other == MEETS_READ)
        return MEETS_READ;
    return then == MEETS_WRITE && other == MEETS_WRITE ? MEETS_WRITE : MEETS_NONE;
}

static meets of_loop(const weft__function *f, const weft__function_statement *s, int32_t variable)
{
    meets init = of_list(f, s->init, variable, false);
    if (init != MEETS_NONE)
        return init;
    if (reads(f, s, variable) || of_list(f, s->child, variable, true) == MEETS_READ ||
        of_list(f, s->step, variable, true) == MEETS_READ)
        return MEETS_READ;
    return MEETS_NONE;
}

static meets of_statement(const weft__function *f, const weft__function_statement *s,
                          int32_t variable, bool inside)
{
    if (s->kind == WEFT__STATEMENT_BREAK || s->kind == WEFT__STATEMENT_CONTINUE)
        return inside ? MEETS_NONE : MEETS_READ; /* it may be, where they lead to */
    if (s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE)
        return of_loop(f, s, variable);
    if (s->kind == WEFT__STATEMENT_STEP)
        return s->variable == variable ? MEETS_READ : MEETS_NONE;
    if (reads(f, s, variable))
        return MEETS_READ;
    if (s->kind == WEFT__STATEMENT_IF)
        return of_if(f, s, variable, inside);
    if (s->kind == WEFT__STATEMENT_BLOCK)
        return of_list(f, s->child, variable, inside);
    if (s->kind == WEFT__STATEMENT_RETURN)
        return MEETS_WRITE;
    return s->variable == variable ? MEETS_WRITE : MEETS_NONE;
}

static meets of_list(const weft__function *f, int32_t first, int32_t variable, bool inside)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        meets found = of_statement(f, &f->statements[at], variable, inside);
        if (found != MEETS_NONE)
            return found;
    }
    return MEETS_NONE;
}

static void set_parents(const weft__function *f, int32_t first, int32_t parent, int32_t *parents)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next)
        parents[at] = parent;
}

void weft__function_parents(const weft__function *f, int32_t *parents)
{
    set_parents(f, f->first, -1, parents);
    for (uint32_t i = 0; i < f->statements_count; i++) {
        const weft__function_statement *s = &f->statements[i];
        set_parents(f, s->child, (int32_t)i, parents);
        set_parents(f, s->other, (int32_t)i, parents);
        set_parents(f, s->init, (int32_t)i, parents);
        set_parents(f, s->step, (int32_t)i, parents);
    }
}

bool weft__function_live_after(const weft__function *f, int32_t statement, int32_t variable)
{
    for (int32_t at = statement; at >= 0; at = f->parents[at]) {
        meets after = of_list(f, f->statements[at].next, variable, false);
        int32_t parent = f->parents[at];
        if (after != MEETS_NONE)
            return after == MEETS_READ;
        if (parent < 0)
            return false;
        const weft__function_statement *around = &f->statements[parent];
        bool loop = around->kind == WEFT__STATEMENT_FOR || around->kind == WEFT__STATEMENT_WHILE;
        if (loop &&
            (reads(f, around, variable) || of_list(f, around->step, variable, true) == MEETS_READ ||
             of_list(f, around->child, variable, true) == MEETS_READ))
            return true;
    }
    return false;
}

bool weft__function_carries(const weft__function *f, int32_t statement, int32_t variable)
{
    return of_list(f, f->statements[statement].child, variable, true) == MEETS_READ;
}
