/* What a function does, as text for people. */
#include "core/allocate.h"
#include "function/nest.h"
#include "function/open.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows; an allocation that fails ends it. */
typedef struct writer {
    char *text;
    size_t length, room;
    weft_status status;
} writer;

__attribute__((format(printf, 2, 3))) static void write_text(writer *w, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int printed = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t length = printed < (int)sizeof line ? (size_t)printed : sizeof line - 1;
    if (w->status != WEFT_OK)
        return;
    if (w->length + length + 1 > w->room) {
        char *grown = weft__reallocate(w->text, 2 * w->room + length + 256);
        if (!grown) {
            w->status = WEFT_ERROR_MEMORY;
            return;
        }
        w->text = grown;
        w->room = 2 * w->room + length + 256;
    }
    memcpy(w->text + w->length, line, length + 1);
    w->length += length;
}

/* A piece of the body, on one line. */
static void write_code(writer *w, const weft__function *f, uint32_t begin, uint32_t end)
{
    char shown[64];
    size_t length = 0;
    for (uint32_t i = begin; i < end && i < f->code.length && length < sizeof shown - 4; i++) {
        bool blank = (unsigned char)f->code.text[i] <= ' ';
        if (!blank || (length && shown[length - 1] != ' '))
            shown[length++] = blank ? ' ' : f->code.text[i];
    }
    shown[length] = 0;
    write_text(w, "%s", shown);
}

static uint32_t end_of(const weft__function *f, const weft__function_statement *s)
{
    return s->part >= 0 ? f->parts[s->part + s->parts_count - 1].end : s->column + 1;
}

static void write_list(writer *w, const weft__function *f, int32_t first, int depth);

static void write_loop(writer *w, const weft__function *f, const weft__function_statement *s,
                       int depth)
{
    const weft__function_nest *nest = s->nest < 0 ? NULL : f->nests[s->nest];
    bool serial = !nest || !nest->candidate || nest->why[0];
    write_text(w, "%4u  %*s", s->column + 1, 2 * depth, "");
    write_code(w, f, s->column, end_of(f, s));
    write_text(w, "): %s", !serial ? "parallel" : "serial");
    if (nest && !serial && nest->depth > 1)
        write_text(w, ", %d loops together", nest->depth);
    if (nest && !serial && nest->folds_count)
        write_text(w, ", %d fold%s", nest->folds_count, nest->folds_count == 1 ? "" : "s");
    if (nest && nest->why[0])
        write_text(w, ": %s (column %u)", nest->why, nest->why_column + 1);
    if (!nest)
        write_text(w, ": it runs for as long as its condition holds");
    write_text(w, "\n");
    if (serial)
        write_list(w, f, s->child, depth + 1);
}

static void write_statement(writer *w, const weft__function *f, const weft__function_statement *s,
                            int depth)
{
    if (s->kind == WEFT__STATEMENT_BLOCK) {
        write_list(w, f, s->child, depth);
        return;
    }
    if (s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE) {
        write_loop(w, f, s, depth);
        return;
    }
    write_text(w, "%4u  %*s", s->column + 1, 2 * depth, "");
    write_code(w, f, s->column, end_of(f, s));
    write_text(w, "%s\n",
               s->kind == WEFT__STATEMENT_HOST ? "): host call"
               : s->kind == WEFT__STATEMENT_IF ? ")"
                                               : "");
    if (s->kind == WEFT__STATEMENT_IF) {
        write_list(w, f, s->child, depth + 1);
        write_list(w, f, s->other, depth + 1);
    }
}

/* Whether neighbours are one program. */
static void write_group(writer *w, const weft__function *f, const weft__function_group *group,
                        int depth)
{
    int count = 1;
    for (int32_t at = group->first; at != group->last; at = f->statements[at].next)
        count++;
    write_text(w, "      %*sthe next %d statements are ", 2 * depth, "", count);
    if (group->why[0])
        write_text(w, "not fused: %.*s\n", (int)strcspn(group->why, "\n"), group->why);
    else
        write_text(w, "fused\n");
}

static void write_list(writer *w, const weft__function *f, int32_t first, int depth)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        if (f->statements[at].group >= 0)
            write_group(w, f, &f->groups[f->statements[at].group], depth);
        write_statement(w, f, &f->statements[at], depth);
    }
}

static void write_event(writer *w, const weft__function *f, const weft__function_event *e)
{
    static const char *const names[] = {
        [WEFT__DID_REGION] = "array statement",  [WEFT__DID_LOOP] = "loop",
        [WEFT__DID_SERIAL] = "serial loop",      [WEFT__DID_HOST] = "host call",
        [WEFT__DID_TO_DEVICE] = "to the device", [WEFT__DID_TO_HOST] = "to the host"};
    if (e->did == WEFT__DID_TO_DEVICE || e->did == WEFT__DID_TO_HOST) {
        weft__lang_name name = f->variables[e->what].name;
        write_text(w, "      copy '%s' %s, %llu bytes\n", QUOTE(name.text, name.length),
                   names[e->did], (unsigned long long)e->bytes);
        return;
    }
    write_text(w, "%4u  %s", (uint32_t)e->what + 1, names[e->did]);
    if (e->did == WEFT__DID_REGION || e->did == WEFT__DID_LOOP)
        write_text(w, ", %llu kernel%s", (unsigned long long)e->bytes, e->bytes == 1 ? "" : "s");
    write_text(w, "\n");
}

static void write_call(writer *w, const weft__function *f)
{
    const uint64_t kernels = f->bytes[WEFT__DID_REGION] + f->bytes[WEFT__DID_LOOP];
    uint64_t all = 0;
    for (int k = 0; k < WEFT__EVENTS; k++)
        all += f->totals[k];
    if (!all) {
        write_text(w, "not called yet by this thread\n");
        return;
    }
    write_text(w, "last call, by column:\n");
    for (uint32_t i = 0; i < f->events_count; i++)
        write_event(w, f, &f->events[i]);
    if (all > f->events_count)
        write_text(w, "      and %llu more\n", (unsigned long long)(all - f->events_count));
    write_text(w,
               "altogether %llu kernel%s, %llu copies to the device (%llu bytes), %llu to the "
               "host (%llu bytes)\n",
               (unsigned long long)kernels, kernels == 1 ? "" : "s",
               (unsigned long long)f->totals[WEFT__DID_TO_DEVICE],
               (unsigned long long)f->bytes[WEFT__DID_TO_DEVICE],
               (unsigned long long)f->totals[WEFT__DID_TO_HOST],
               (unsigned long long)f->bytes[WEFT__DID_TO_HOST]);
}

weft_status weft_function_explain(char **text, const weft_function *function)
{
    weft__function *f;
    writer w = {.status = WEFT_OK};
    OPERATION("weft_function_explain");
    TRY(weft__check_result(text, "text"));
    *text = NULL;
    if (!function || !function->name || !function->parameters || !function->body)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "function",
                       "the function, its name, its parameters or its body are NULL");
    TRY(weft__function_find(function, &f));
    write_text(&w, "function %s%s\n", QUOTE(f->name.text, f->name.length),
               QUOTE(f->parameters.text, f->parameters.length));
    write_list(&w, f, f->first, 0);
    write_call(&w, f);
    if (w.status == WEFT_OK)
        *text = w.text;
    else
        weft__free(w.text);
    return w.status;
}
