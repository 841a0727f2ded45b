/* What a function does, as text; the public functions of all forms. */
#include "function/explain.h"
#include "function/open.h"
#include "function/task.h"
#include <stdio.h>
#include <string.h>

static void write_list(weft__text *w, const weft__function *f, int32_t first, int depth);

static void write_line(weft__text *w, const weft__function *f, const weft__function_statement *s,
                       int depth)
{
    char code[WEFT__EXPLAIN_CODE], place[WEFT__EXPLAIN_PLACE];
    weft__explain_position(f, s->column, place);
    weft__explain_statement(f, s, code);
    weft__text_add(w, "%6s  %*s%s", place, 2 * depth, "", code);
}

static void write_loop(weft__text *w, const weft__function *f, const weft__function_statement *s,
                       int depth)
{
    const weft__function_nest *nest = s->nest < 0 ? NULL : f->nests[s->nest];
    const bool serial = weft__explain_is_serial(f, s);
    char why[WEFT__EXPLAIN_WHY];
    write_line(w, f, s, depth);
    if (!weft__explain_is_decided(f, s))
        weft__text_add(w, ": perhaps parallel, as the bounds of a call decide");
    else
        weft__text_add(w, ": %s", !serial ? "parallel" : "serial");
    const bool tasks = nest && nest->task && weft__task_has_run(nest->task);
    if (tasks)
        weft__text_add(w, weft__task_has_parts(nest->task) ? ", in parts that are put together"
                                                           : ", each iteration in order");
    if (nest && !serial && !tasks && nest->depth > 1)
        weft__text_add(w, ", %d loops together", nest->depth);
    if (nest && !serial && !tasks && nest->folds_count)
        weft__text_add(w, ", %d fold%s", nest->folds_count, nest->folds_count == 1 ? "" : "s");
    weft__explain_why(f, nest, why);
    if (why[0])
        weft__text_add(w, ": %s", why);
    if (!nest)
        weft__text_add(w, ": it runs for as long as its condition holds");
    weft__text_add(w, "\n");
    if (serial)
        write_list(w, f, s->child, depth + 1);
}

static void write_statement(weft__text *w, const weft__function *f,
                            const weft__function_statement *s, int depth)
{
    switch (s->kind) {
    case WEFT__STATEMENT_BLOCK:
        write_list(w, f, s->child, depth);
        return;
    case WEFT__STATEMENT_FOR:
    case WEFT__STATEMENT_WHILE:
        write_loop(w, f, s, depth);
        return;
    case WEFT__STATEMENT_TAKE:
    case WEFT__STATEMENT_GIVE:
        return;
    default:
        write_line(w, f, s, depth);
        weft__text_add(w, s->kind == WEFT__STATEMENT_HOST ? ": host call\n" : "\n");
        if (s->kind == WEFT__STATEMENT_IF) {
            write_list(w, f, s->child, depth + 1);
            write_list(w, f, s->other, depth + 1);
        }
    }
}

/* Whether neighbours are one program. */
static void write_group(weft__text *w, const weft__function *f, const weft__function_group *group,
                        int depth)
{
    weft__text_add(w, "        %*sthe next %d statements are ", 2 * depth, "",
                   weft__explain_count(f, group));
    if (group->why[0])
        weft__text_add(w, "not fused: %.*s\n", (int)strcspn(group->why, "\n"), group->why);
    else
        weft__text_add(w, "fused\n");
}

/* The same for loops. */
static void write_join(weft__text *w, const weft__function *f, const weft__function_statement *s,
                       int depth)
{
    char why[WEFT__EXPLAIN_WHY];
    const weft__function_join *join = weft__explain_join(f, s, why);
    if (!join)
        return;
    weft__text_add(w, "        %*sthe next %d loops are ", 2 * depth, "", join->count);
    if (join->done)
        weft__text_add(w, "fused\n");
    else
        weft__text_add(w, "not fused: %s\n", why);
}

static void write_list(weft__text *w, const weft__function *f, int32_t first, int depth)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        write_join(w, f, &f->statements[at], depth);
        if (f->statements[at].group >= 0)
            write_group(w, f, &f->groups[f->statements[at].group], depth);
        write_statement(w, f, &f->statements[at], depth);
    }
}

static void write_region(weft__text *w, const weft__function *f, uint32_t event)
{
    const weft__function_event *e = &f->events[event];
    const weft__function_statement *s = weft__explain_region(f, e);
    char why[WEFT__EXPLAIN_WHY], code[WEFT__EXPLAIN_CODE] = "";
    const char *apart = weft__explain_apart(f, event, why);
    if (s)
        weft__explain_statement(f, s, code);
    weft__text_add(w, "%s, %llu kernel%s", weft__explain_kind(e), (unsigned long long)e->bytes,
                   e->bytes == 1 ? "" : "s");
    if (e->here > 0)
        weft__text_add(w, " on the %s, %.3g us, not %.3g us on the %s",
                       e->at_host ? "host" : "device", 1e6 * (e->at_host ? e->here : e->there),
                       1e6 * (e->at_host ? e->there : e->here), e->at_host ? "device" : "host");
    weft__text_add(w, ": %s\n", code);
    if (apart)
        weft__text_add(w, "          not fused with the one before: %s\n", apart);
}

static void write_event(weft__text *w, const weft__function *f, uint32_t event)
{
    const weft__function_event *e = &f->events[event];
    char place[WEFT__EXPLAIN_PLACE];
    if (weft__explain_is_copy(e)) {
        weft__explain_variable(f, e->what, place);
        weft__text_add(w, "        copy %s to the %s, %llu bytes\n", place,
                       e->did == WEFT__DID_TO_DEVICE ? "device" : "host",
                       (unsigned long long)e->bytes);
        return;
    }
    weft__explain_position(f, (uint32_t)e->what, place);
    weft__text_add(w, "%6s  ", place);
    if (weft__explain_is_region(e))
        write_region(w, f, event);
    else
        weft__text_add(w, e->did == WEFT__DID_HOST       ? "host call\n"
                          : e->did == WEFT__DID_COMPILED ? "compiled, from here on\n"
                                                         : "serial loop\n");
}

static void write_call(weft__text *w, const weft__function *f)
{
    const uint64_t kernels = weft__explain_kernels(f);
    uint64_t all = 0;
    for (int k = 0; k < WEFT__EVENTS; k++)
        all += f->totals[k];
    if (!weft__explain_was_called(f)) {
        weft__text_add(w, "not called yet by this thread\n");
        return;
    }
    weft__text_add(w, "last call, on %s, by column:\n", weft_device_id(f->called_on));
    for (uint32_t i = 0; i < f->events_count; i++)
        write_event(w, f, i);
    if (all > f->events_count)
        weft__text_add(w, "        and %llu more\n", (unsigned long long)(all - f->events_count));
    weft__text_add(w, "altogether %llu kernel%s", (unsigned long long)kernels,
                   kernels == 1 ? "" : "s");
    if (f->kernels_at_host)
        weft__text_add(w, " (%llu on the host, where it is cheaper)",
                       (unsigned long long)f->kernels_at_host);
    weft__text_add(w, ", %llu cop%s to the device (%llu bytes), %llu to the host (%llu bytes)\n",
                   (unsigned long long)f->totals[WEFT__DID_TO_DEVICE],
                   f->totals[WEFT__DID_TO_DEVICE] == 1 ? "y" : "ies",
                   (unsigned long long)f->bytes[WEFT__DID_TO_DEVICE],
                   (unsigned long long)f->totals[WEFT__DID_TO_HOST],
                   (unsigned long long)f->bytes[WEFT__DID_TO_HOST]);
}

void weft__explain_text(weft__text *w, const weft__function *f)
{
    weft__text_add(w, "function %s%s\n", QUOTE(f->name.text, f->name.length),
                   QUOTE(f->parameters.text, f->parameters.length));
    write_list(w, f, f->first, 0);
    write_call(w, f);
}

weft_status weft_function_explain_as(char **text, weft_explain_form form,
                                     const weft_function *function)
{
    static void (*const forms[])(weft__text *, const weft__function *) = {
        [WEFT_EXPLAIN_TEXT] = weft__explain_text,
        [WEFT_EXPLAIN_JSON] = weft__explain_json,
        [WEFT_EXPLAIN_SVG] = weft__explain_svg};
    weft__function *f;
    weft__text w = {0};
    OPERATION("weft_function_explain");
    TRY(weft__check_result(text, "text"));
    *text = NULL;
    if (!function || !function->name || !function->parameters || !function->body)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "function",
                       "the function, its name, its parameters or its body are NULL");
    if ((unsigned)form > WEFT_EXPLAIN_SVG)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "form", "%d is none of text, JSON and SVG", (int)form);
    TRY(weft__function_find(function, &f));
    forms[form](&w, f);
    return weft__text_take(&w, text);
}

weft_status weft_function_explain(char **text, const weft_function *function)
{
    return weft_function_explain_as(text, WEFT_EXPLAIN_TEXT, function);
}
