/* Fusion of loops: loops that follow each other over the same points are one kernel, if no point
 * needs what another one of an earlier loop wrote. What is declared between them is computed first.
 *
 * Which loops may be one is found when the function is opened: their texts become that of one
 * kernel. Whether they are is decided for the bounds and arrays of a call, as for any loop. */
#include "core/allocate.h"
#include "function/emit.h"
#include <string.h>

static bool part_names(const weft__function_part *part, int32_t variable)
{
    for (int i = 0; i < part->names_count; i++)
        if (part->variables[i] == variable)
            return true;
    for (int i = 0; i < part->elements_count; i++)
        if (part->elements[i].variable == variable)
            return true;
    return false;
}

static bool list_names(const weft__function *f, int32_t first, int32_t variable);

/* Whether the statement, or what is in it, has the variable. */
static bool names(const weft__function *f, const weft__function_statement *s, int32_t variable)
{
    for (int32_t k = 0; k < s->parts_count; k++)
        if (part_names(&f->parts[s->part + k], variable))
            return true;
    return s->variable == variable || list_names(f, s->init, variable) ||
           list_names(f, s->step, variable) || list_names(f, s->child, variable) ||
           list_names(f, s->other, variable);
}

static bool list_names(const weft__function *f, int32_t first, int32_t variable)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next)
        if (names(f, &f->statements[at], variable))
            return true;
    return false;
}

static bool list_assigns(const weft__function *f, int32_t first, int32_t variable);

/* Whether it assigns the variable, or an element of it. */
static bool assigns(const weft__function *f, const weft__function_statement *s, int32_t variable)
{
    const weft__function_part *part = s->part < 0 ? NULL : &f->parts[s->part];
    bool element = s->kind == WEFT__STATEMENT_ASSIGN && s->variable < 0 && part &&
                   part->elements[part->target - part->names_count].variable == variable;
    return element || s->variable == variable || list_assigns(f, s->init, variable) ||
           list_assigns(f, s->step, variable) || list_assigns(f, s->child, variable) ||
           list_assigns(f, s->other, variable);
}

static bool list_assigns(const weft__function *f, int32_t first, int32_t variable)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next)
        if (assigns(f, &f->statements[at], variable))
            return true;
    return false;
}

static weft__function_nest *nest_of(const weft__function *f, int32_t loop)
{
    return f->nests[f->statements[loop].nest];
}

static bool is_local_array(const weft__function *f, int32_t variable)
{
    for (uint32_t i = 0; i < f->statements_count; i++)
        if (f->statements[i].kind == WEFT__STATEMENT_ARRAY && f->statements[i].variable == variable)
            return true;
    return false;
}

/* A number that may as well be computed before the loops. */
static bool moves(const weft__function *f, const weft__function_join *join,
                  const weft__function_statement *s)
{
    bool number = s->kind == WEFT__STATEMENT_DECLARE ||
                  (s->kind == WEFT__STATEMENT_ASSIGN && s->variable >= 0 &&
                   f->variables[s->variable].dtype != WEFT_DTYPE_DEFAULT);
    if (!number || is_local_array(f, s->variable))
        return false;
    for (int k = 0; k < join->count; k++) {
        const weft__function_statement *loop = &f->statements[join->loops[k]];
        for (uint32_t v = 0; v < f->variables_count; v++)
            if (names(f, s, (int32_t)v) && assigns(f, loop, (int32_t)v))
                return false;
        if (names(f, loop, s->variable))
            return false;
    }
    return true;
}

/* The next loop, with nothing before it that must come after the loops of the join; or -1. */
static int32_t next_loop(const weft__function *f, const weft__function_join *join)
{
    int32_t at = f->statements[join->last].next;
    while (at >= 0 && moves(f, join, &f->statements[at]))
        at = f->statements[at].next;
    bool loop = at >= 0 && f->statements[at].kind == WEFT__STATEMENT_FOR;
    return loop && nest_of(f, at)->candidate && !nest_of(f, at)->second ? at : -1;
}

static bool is_counter(const weft__function_nest *nest, int32_t variable)
{
    for (int k = 0; k < nest->depth; k++)
        if (nest->loops[k].variable == variable)
            return true;
    return false;
}

/* Its bounds are made of what an earlier loop leaves. */
static bool bounds_follow(const weft__function *f, const weft__function_nest *nest,
                          const weft__function_statement *earlier)
{
    for (uint32_t v = 0; v < f->variables_count; v++)
        for (int k = 0; k < nest->depth && assigns(f, earlier, (int32_t)v); k++)
            if (part_names(&f->parts[nest->loops[k].bound_part], (int32_t)v)
                    ? !is_counter(nest, (int32_t)v)
                    : part_names(&f->parts[nest->loops[k].lower_part], (int32_t)v) &&
                          !is_counter(nest, (int32_t)v))
                return true;
    return false;
}

/* What the text of loop number `k` would mistake for something else; NULL if there is nothing. */
static const char *clash(const weft__function *f, const weft__function_join *join, int k)
{
    const weft__function_nest *all = join->nest, *nest = nest_of(f, join->loops[k]);
    const weft__function_statement *s = &f->statements[join->loops[k]];
    if (nest->depth != all->depth)
        return "they are not as deep";
    for (int l = 0; l < nest->depth; l++) {
        int32_t index = all->loops[l].index;
        if (nest->loops[l].step != all->loops[l].step)
            return "they do not count by the same";
        if (nest->loops[l].depends || all->loops[l].depends)
            return "the bounds of an inner loop depend on another loop";
        if (!is_counter(nest, index) && names(f, s, index))
            return "one uses what the other counts";
    }
    for (int l = 0; l < k; l++)
        if (bounds_follow(f, nest, &f->statements[join->loops[l]]))
            return "the bounds of one are made of what the other leaves";
    for (int i = 0; i < all->operands_count; i++)
        if (all->operands[i].role == WEFT__ROLE_VARIABLE && !all->operands[i].element &&
            assigns(f, s, all->operands[i].index))
            return "one assigns a number that the other reads";
    return NULL;
}

static bool folds_twice(const weft__function_nest *nest)
{
    for (int k = 0; k < nest->folds_count; k++)
        for (int l = 0; l < k; l++)
            if (nest->folds[k].variable == nest->folds[l].variable)
                return true;
    return false;
}

/* The body of loop number `k`, whose counters are called as those of the first loop. */
static weft_status emit_body(weft__emitter *e, const weft__function_join *join, int k)
{
    const weft__function_nest *nest = nest_of(e->f, join->loops[k]);
    int32_t body = e->f->statements[nest->loops[nest->depth - 1].statement].child;
    const char *why = clash(e->f, join, k);
    if (why) {
        weft__nest_refuse(e->nest, e->f->statements[join->loops[k]].column, "%s", why);
        return WEFT_OK;
    }
    for (int l = 0; l < nest->depth; l++)
        e->nest->loops[l].variable = nest->loops[l].variable;
    e->scope = join->loops[k];
    e->skips = 0;
    weft__emit_mark(e, body);
    TRY(weft__emit_list(e, body, NULL));
    e->nest->joined_ends[k] = e->statements;
    return WEFT_OK;
}

static weft_status emit_bodies(weft__emitter *e, const weft__function_join *join)
{
    const weft__function_nest *first = nest_of(e->f, join->loops[0]);
    for (int k = 0; k < join->count && !weft__emit_refused(e); k++)
        TRY(emit_body(e, join, k));
    for (int l = 0; l < first->depth; l++)
        e->nest->loops[l].variable = first->loops[l].variable;
    if (!weft__emit_refused(e) && folds_twice(e->nest))
        weft__nest_refuse(e->nest, e->f->statements[join->last].column,
                          "both fold into the same variable");
    return WEFT_OK;
}

static weft_status emit(weft__function *f, weft__function_join *join)
{
    const weft__function_nest *first = nest_of(f, join->loops[0]);
    weft__function_nest *nest = join->nest = weft__allocate_zeroed(sizeof *nest);
    weft__emitter e = {.f = f, .nest = nest};
    if (!nest)
        return WEFT_ERROR_MEMORY;
    nest->statement = join->loops[0];
    nest->depth = first->depth;
    nest->joined = join->count;
    memcpy(nest->loops, first->loops, sizeof nest->loops);
    weft_status status =
        weft__emit_begin(&e, f->statements[first->loops[first->depth - 1].statement].child);
    if (status == WEFT_OK && !weft__emit_refused(&e))
        status = emit_bodies(&e, join);
    if (status == WEFT_OK && !weft__emit_refused(&e))
        status = weft__emit_parse(&e);
    weft__free(e.assigned);
    return status;
}

void weft__function_join_free(weft__function_join *join)
{
    while (join) {
        weft__function_join *shorter = join->shorter;
        weft__function_nest_free(join->nest);
        weft__free(join);
        join = shorter;
    }
}

/* One with one more loop, or what there was if these cannot be one. The first two are kept even so,
 * for their reason. */
static weft_status extend(weft__function *f, weft__function_join **join, int32_t loop, bool *more)
{
    weft__function_join *longer = weft__allocate_zeroed(sizeof *longer);
    *more = false;
    if (!longer)
        return WEFT_ERROR_MEMORY;
    *longer = **join;
    longer->loops[longer->count++] = longer->last = loop;
    longer->nest = NULL;
    longer->shorter = (*join)->nest ? *join : NULL;
    weft_status status = emit(f, longer);
    *more = status == WEFT_OK && longer->nest->candidate;
    if (status == WEFT_OK && (*more || longer->count == 2)) {
        *join = longer;
        return WEFT_OK;
    }
    longer->shorter = NULL;
    weft__function_join_free(longer);
    return status;
}

/* The loops from `first` on that may be one. */
static weft_status add_join(weft__function *f, int32_t first)
{
    weft__function_join alone = {.last = first, .loops = {first}, .count = 1}, *join = &alone;
    weft_status status = WEFT_OK;
    bool more = true;
    for (int32_t loop = next_loop(f, join);
         loop >= 0 && more && status == WEFT_OK && join->count < WEFT__JOINED_MAX;
         loop = next_loop(f, join))
        status = extend(f, &join, loop, &more);
    if (status == WEFT_OK && join != &alone)
        status = weft__lang_room(&f->joins, f->joins_count, &f->joins_room, sizeof(void *));
    if (status == WEFT_OK && join != &alone) {
        f->statements[first].join = (int32_t)f->joins_count;
        f->joins[f->joins_count++] = join;
    } else if (join != &alone)
        weft__function_join_free(join);
    return status;
}

weft_status weft__function_joins(weft__function *f)
{
    for (uint32_t i = 0; i < f->statements_count; i++)
        if (f->statements[i].kind == WEFT__STATEMENT_FOR) {
            const weft__function_nest *nest = nest_of(f, (int32_t)i);
            if (nest->candidate && !nest->second)
                TRY(add_join(f, (int32_t)i));
        }
    return WEFT_OK;
}

/* Whether all loops have the bounds of the first. */
static bool have_same_bounds(weft__running *r, const weft__function_join *join)
{
    weft__nest_bounds first, other;
    if (!weft__nest_count(r, join->nest, &first))
        return false;
    for (int k = 1; k < join->count; k++) {
        if (!weft__nest_count(r, nest_of(r->function, join->loops[k]), &other))
            return false;
        for (int l = 0; l < join->nest->depth; l++)
            if (other.base[l] != first.base[l] || other.trips[l] != first.trips[l])
                return false;
    }
    return true;
}

/* What is between the loops. */
static weft_status declare(weft__running *r, const weft__function_join *join)
{
    const weft__function *f = r->function;
    for (int32_t at = join->loops[0]; at != join->last; at = f->statements[at].next)
        if (f->statements[at].kind != WEFT__STATEMENT_FOR)
            TRY(weft__function_declare(r, &f->statements[at]));
    return WEFT_OK;
}

/* Of the parameters of the call: other numbers, or arrays of other layouts, have another one. */
static uint64_t signature_of(const weft__running *r)
{
    uint64_t signature = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < r->function->parameters_count; i++) {
        const weft__held *held = &r->held[i];
        const weft_array *array = held->holding == WEFT__ARRAY ? weft__held_any(held) : NULL;
        signature ^= array ? array->layout : held->number.value.u;
        signature *= UINT64_C(0x100000001b3);
    }
    return signature | 1;
}

/* What was not possible is not tried again with the same parameters: that takes as long as a loop
 * of few points. */
static weft_status run(weft__running *r, weft__function_join *join, uint64_t signature)
{
    const weft__function *f = r->function;
    join->done = false;
    if (!join->nest->candidate || join->refused == signature)
        return WEFT_OK;
    if (r->shared) {
        weft__nest_refuse(join->nest, f->statements[join->last].column, "arguments share memory");
        return WEFT_OK;
    }
    TRY(declare(r, join));
    if (!have_same_bounds(r, join)) {
        weft__nest_refuse(join->nest, f->statements[join->last].column,
                          "they are not over the same points");
        return WEFT_OK;
    }
    TRY(weft__nest_run(r, join->nest, &join->done));
    join->refused = join->done ? 0 : signature;
    for (int k = 1; k < join->count && join->done; k++) {
        const weft__function_nest *nest = nest_of(f, join->loops[k]);
        const weft__held *counted = &r->held[join->nest->loops[0].variable];
        weft__function_set(r, nest->loops[0].variable, &counted->number, false);
    }
    return WEFT_OK;
}

weft_status weft__function_join_run(weft__running *r, int32_t at, int32_t *last)
{
    const uint64_t signature = signature_of(r);
    *last = -1;
    for (weft__function_join *join = r->function->joins[at]; join; join = join->shorter) {
        TRY(run(r, join, signature));
        if (!join->done)
            continue;
        *last = join->last;
        return WEFT_OK;
    }
    return WEFT_OK;
}
