/* break and continue in kernels: locals say who is still there, and what follows is a choice. */
#include "function/emit.h"
#include <stdio.h>

bool weft__emit_breaks(const weft__function *f, int32_t first)
{
    bool found = false;
    for (int32_t at = first; at >= 0 && !found; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        bool loop = s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE;
        found = s->kind == WEFT__STATEMENT_BREAK ||
                (!loop && (weft__emit_breaks(f, s->child) || weft__emit_breaks(f, s->other)));
    }
    return found;
}

/* "weft_k0 = weft_k0 && !guard; "; without `before` nobody has left yet. */
static weft_status emit_flag(weft__emitter *e, int flag, bool before, const char *guard)
{
    TRY(weft__emit_text(e, "weft_k%d = ", flag));
    if (before)
        TRY(weft__emit_text(e, "weft_k%d && ", flag));
    TRY(weft__emit_text(e, guard ? "!%s; " : "0 != 0; ", guard));
    weft__emit_end(e, false);
    return WEFT_OK;
}

/* Nothing follows in the round. */
static bool is_last(const weft__function *f, int32_t at)
{
    bool last = true;
    while (last && f->statements[at].kind != WEFT__STATEMENT_FOR &&
           f->statements[at].kind != WEFT__STATEMENT_WHILE) {
        last = f->statements[at].next < 0;
        at = f->parents[at];
    }
    return last;
}

weft_status weft__emit_jump(weft__emitter *e, const weft__function_statement *s, const char *guard)
{
    const bool breaks = s->kind == WEFT__STATEMENT_BREAK, again = e->skips > 0;
    if (breaks && !e->inner) {
        weft__nest_refuse(e->nest, s->column, "it may end before its bound");
        return WEFT_OK;
    }
    if (!breaks && is_last(e->f, (int32_t)(s - e->f->statements)))
        return WEFT_OK;
    e->jumps++;
    if (breaks)
        return emit_flag(e, e->leaves - 1, true, guard);
    if (!again)
        e->skips = 1 + e->flags++;
    return emit_flag(e, e->skips - 1, again, guard);
}

weft_status weft__emit_behind(weft__emitter *e, const char *guard, char *name)
{
    snprintf(name, WEFT__GUARD_NAME, "weft_g%d", e->guards++);
    TRY(weft__emit_text(e, "%s = %s%s", name, guard ? guard : "", guard ? " && " : ""));
    if (e->skips)
        TRY(weft__emit_text(e, "weft_k%d%s", e->skips - 1, e->leaves ? " && " : ""));
    if (e->leaves)
        TRY(weft__emit_text(e, "weft_k%d", e->leaves - 1));
    weft__emit_end(e, false);
    return weft__emit_text(e, "; ");
}

void weft__emit_unset(const weft__emitter *e, const uint8_t *before)
{
    for (uint32_t i = 0; i < e->f->variables_count; i++)
        if (before[i] != WEFT__STATE_SET && e->assigned[i] == WEFT__STATE_SET)
            e->assigned[i] = WEFT__STATE_PERHAPS;
}
