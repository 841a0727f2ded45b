/* Loops beside other statements, as loops of the kernel: what they assign and was set before is
 * carried from round to round, by each iteration of the loops around for itself. */
#include "core/allocate.h"
#include "function/emit.h"
#include <stdio.h>
#include <string.h>

/* Marks what the statements assign. */
static void find_assigned(const weft__function *f, int32_t first, bool *assigned)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        if (s->variable >= 0)
            assigned[s->variable] = true;
        find_assigned(f, s->child, assigned);
        find_assigned(f, s->other, assigned);
        find_assigned(f, s->init, assigned);
        find_assigned(f, s->step, assigned);
    }
}

/* "weft_loop x y; ". */
static weft_status begin(weft__emitter *e, const weft__function_statement *s, const bool *assigned)
{
    TRY(weft__emit_text(e, "weft_loop"));
    for (uint32_t i = 0; i < e->f->variables_count; i++) {
        const weft__function_variable *v = &e->f->variables[i];
        if (assigned[i] && e->assigned[i] == WEFT__STATE_PERHAPS)
            weft__nest_refuse(e->nest, s->column, "'%s' is set in some iterations only",
                              QUOTE(v->name.text, v->name.length));
        if (assigned[i] && e->assigned[i] == WEFT__STATE_SET)
            TRY(weft__emit_text(e, " %.*s", (int)v->name.length, v->name.text));
    }
    if (e->leaves)
        TRY(weft__emit_text(e, " weft_k%d", e->leaves - 1));
    weft__emit_end(e, false);
    return weft__emit_text(e, "; ");
}

/* "weft_test guard && (condition); ": inside of the loop the guard holds. */
static weft_status test(weft__emitter *e, const weft__function_statement *s, const char *guard)
{
    TRY(weft__emit_text(e, "weft_test "));
    if (e->leaves)
        TRY(weft__emit_text(e, "weft_k%d && ", e->leaves - 1));
    TRY(weft__emit_text(e, "%s%s", guard ? guard : "", guard ? " && (" : "("));
    if (s->part < 0)
        TRY(weft__emit_text(e, "1"));
    else
        TRY(weft__emit_part(e, e->f->parts[s->part].begin, e->f->parts[s->part].end));
    weft__emit_end(e, false);
    return weft__emit_text(e, "); ");
}

/* The step is for those who have not left the loop, also if the round ended before. */
static weft_status emit_step(weft__emitter *e, const weft__function_statement *s, int jumps,
                             const uint8_t *before)
{
    char stays[WEFT__GUARD_NAME];
    if (e->jumps != jumps)
        weft__emit_unset(e, before);
    if (!e->leaves)
        return weft__emit_list(e, s->step, NULL);
    snprintf(stays, sizeof stays, "weft_k%d", e->leaves - 1);
    return weft__emit_list(e, s->step, stays);
}

static weft_status emit_rounds(weft__emitter *e, const weft__function_statement *s,
                               const char *guard, const bool *assigned, const uint8_t *before)
{
    const int jumps = e->jumps;
    TRY(begin(e, s, assigned));
    e->inner++;
    TRY(test(e, s, guard));
    TRY(weft__emit_list(e, s->child, NULL));
    TRY(emit_step(e, s, jumps, before));
    e->inner--;
    e->jumps = jumps; /* they were of this loop */
    weft__emit_end(e, false);
    return weft__emit_text(e, "weft_end; ");
}

/* "weft_k0 = 0 == 0; ", if there is a break. */
static weft_status begin_leaving(weft__emitter *e, const weft__function_statement *s)
{
    e->skips = e->leaves = 0;
    if (!weft__emit_breaks(e->f, s->child))
        return WEFT_OK;
    e->leaves = ++e->flags;
    TRY(weft__emit_text(e, "weft_k%d = 0 == 0; ", e->leaves - 1));
    weft__emit_end(e, false);
    return WEFT_OK;
}

/* What only the loop has set is not there after it. */
weft_status weft__emit_loop(weft__emitter *e, const weft__function_statement *s, const char *guard)
{
    const size_t count = e->f->variables_count;
    bool *assigned = weft__allocate_zeroed(2 * count + 1);
    if (!assigned)
        return WEFT_ERROR_MEMORY;
    uint8_t *before = (uint8_t *)(assigned + count);
    const int skips = e->skips, leaves = e->leaves;
    find_assigned(e->f, s->child, assigned);
    find_assigned(e->f, s->step, assigned);
    weft_status status = weft__emit_list(e, s->init, guard);
    memcpy(before, e->assigned, count);
    if (status == WEFT_OK)
        status = begin_leaving(e, s);
    if (status == WEFT_OK && !weft__emit_refused(e))
        status = emit_rounds(e, s, guard, assigned, before);
    e->skips = skips;
    e->leaves = leaves;
    for (size_t i = 0; i < count; i++)
        if (assigned[i] && before[i] != WEFT__STATE_SET)
            e->assigned[i] = before[i];
    weft__free(assigned);
    return status;
}

weft_status weft__nest_emit_inner(weft__function *f, weft__function_nest *nest)
{
    char why[sizeof nest->reason.text];
    const uint32_t column = nest->reason.column;
    memcpy(why, nest->reason.text, sizeof why);
    weft__nest_clear(nest);
    TRY(weft__nest_emit(f, nest, true));
    if (nest->candidate)
        return WEFT_OK;
    weft__nest_clear(nest);
    weft__nest_refuse(nest, column, "%s", why);
    return WEFT_OK;
}
