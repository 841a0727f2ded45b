/* What there is to say about statements and events. */
#include "function/expand.h"
#include "function/explain.h"
#include "function/task.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft__explain_code(const weft__function *f, uint32_t begin, uint32_t end, char *code)
{
    size_t length = 0;
    uint32_t i = begin;
    for (; i < end && i < f->code.length && length < WEFT__EXPLAIN_CODE - 8; i++) {
        const char *at = f->code.text + i;
        bool blank = (unsigned char)*at <= ' ';
        size_t digits = f->sources_count && end - i > 2 && at[0] == '_' && at[1] == '_'
                            ? strspn(at + 2, "0123456789")
                            : 0;
        if (digits)
            i += 1 + (uint32_t)digits; /* a name of a function that is called */
        else if (!blank || (length && code[length - 1] != ' '))
            code[length++] = blank ? ' ' : *at;
    }
    while (length && ((unsigned char)code[length - 1] & 0xc0) == 0x80 && i < end)
        length--; /* no half characters */
    while (length && code[length - 1] == ' ')
        length--;
    snprintf(code + length, 8, i < end && i < f->code.length ? " ..." : "");
}

void weft__explain_variable(const weft__function *f, int32_t variable, char *name)
{
    if (variable < 0) {
        snprintf(name, WEFT__EXPLAIN_PLACE, "a number");
        return;
    }
    const weft__lang_name text = f->variables[variable].name;
    snprintf(name, WEFT__EXPLAIN_PLACE, "%s", QUOTE(text.text, text.length));
    if (f->sources_count && weft__function_is_made(name, strlen(name)))
        *strrchr(name, '_') = 0, name[strlen(name) - 1] = 0;
}

static uint32_t end_of(const weft__function *f, const weft__function_statement *s)
{
    return s->part >= 0 ? f->parts[s->part + s->parts_count - 1].end : s->column + 1;
}

void weft__explain_statement(const weft__function *f, const weft__function_statement *s, char *code)
{
    const bool closes = s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE ||
                        s->kind == WEFT__STATEMENT_IF || s->kind == WEFT__STATEMENT_HOST ||
                        s->kind == WEFT__STATEMENT_ARRAY;
    if (s->part < 0) {
        uint32_t end = s->column;
        while (end < f->code.length && f->code.text[end] != ';')
            end++;
        weft__explain_code(f, s->column, end, code);
        return;
    }
    weft__explain_code(f, s->column, end_of(f, s), code);
    size_t length = strlen(code);
    if (closes)
        snprintf(code + length, 2, ")");
}

/* The line of the file that the body begins in, if the place says so. */
static long first_line(const weft__function *f)
{
    const char *colon = f->key->place ? strrchr(f->key->place, ':') : NULL;
    return colon ? strtol(colon + 1, NULL, 10) : 1;
}

void weft__explain_position(const weft__function *f, uint32_t column, char *place)
{
    const weft__function_source *source = weft__function_origin_of(f, &column);
    weft__lang_name code = source ? source->code : f->code;
    long line = 0;
    uint32_t begin = 0;
    for (uint32_t i = 0; i < column && i < code.length; i++)
        if (code.text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    const bool lines = memchr(code.text, '\n', code.length) != NULL;
    const bool own = !source || source->caller < 0;
    int used = own ? 0
                   : snprintf(place, WEFT__EXPLAIN_PLACE, "%s ",
                              QUOTE(source->name.text, source->name.length));
    if (lines && own)
        snprintf(place, WEFT__EXPLAIN_PLACE, "%ld:%u", first_line(f) + line, column - begin + 1);
    else
        snprintf(place + used, (size_t)(WEFT__EXPLAIN_PLACE - used), "%u", column + 1);
}

void weft__explain_why(const weft__function *f, const weft__function_nest *nest, char *why)
{
    char at[WEFT__EXPLAIN_PLACE], from[WEFT__EXPLAIN_PLACE];
    why[0] = 0;
    if (!nest || !nest->reason.text[0] ||
        (nest->task && (weft__task_has_run(nest->task) || !weft__task_was_tried(nest->task))))
        return;
    weft__explain_position(f, nest->reason.column, at);
    if (nest->reason.from)
        weft__explain_position(f, nest->reason.from - 1, from);
    snprintf(why, WEFT__EXPLAIN_WHY, "%s%s%s (column %s)", nest->reason.text,
             nest->reason.from ? " at column " : "", nest->reason.from ? from : "", at);
}

const weft__function_join *weft__explain_join(const weft__function *f,
                                              const weft__function_statement *s, char *why)
{
    const weft__function_join *join = s->join < 0 ? NULL : f->joins[s->join];
    while (join && !join->done && join->shorter)
        join = join->shorter;
    why[0] = 0;
    if (join && !join->done)
        weft__explain_why(f, join->nest, why);
    return join && (join->done || why[0]) ? join : NULL;
}

bool weft__explain_is_serial(const weft__function *f, const weft__function_statement *s)
{
    const weft__function_nest *nest = s->nest < 0 ? NULL : f->nests[s->nest];
    if (s->kind == WEFT__STATEMENT_FOR && nest && nest->task &&
        (weft__task_has_run(nest->task) || (!nest->candidate && !weft__task_was_tried(nest->task))))
        return false;
    return s->kind == WEFT__STATEMENT_WHILE ||
           (s->kind == WEFT__STATEMENT_FOR && (!nest || !nest->candidate || nest->reason.text[0]));
}

bool weft__explain_is_decided(const weft__function *f, const weft__function_statement *s)
{
    const weft__function_nest *nest = s->nest < 0 ? NULL : f->nests[s->nest];
    bool made = weft__explain_is_serial(f, s);
    for (int i = 0; nest && i < WEFT__NEST_PLANS; i++)
        made |= nest->plans[i].made;
    made |= nest && (nest->done || (nest->task && weft__task_has_run(nest->task)));
    return made;
}

int weft__explain_count(const weft__function *f, const weft__function_group *group)
{
    int count = 1;
    for (int32_t at = group->first; at != group->last; at = f->statements[at].next)
        count++;
    return count;
}

const weft__function_statement *weft__explain_region(const weft__function *f,
                                                     const weft__function_event *e)
{
    for (uint32_t i = 0; i < f->statements_count; i++) {
        const weft__function_statement *s = &f->statements[i];
        if ((int32_t)s->column == e->what && s->kind != WEFT__STATEMENT_BLOCK)
            return s;
        for (int32_t k = 0; k < s->parts_count; k++)
            if (weft__explain_is_region(e) && (int32_t)f->parts[s->part + k].begin == e->what)
                return s;
    }
    return NULL;
}

static bool has_reduction(const weft__function *f, const weft__function_statement *s)
{
    for (int32_t k = 0; k < s->parts_count; k++) {
        const weft__lang_syntax *syntax = f->parts[s->part + k].syntax;
        for (uint32_t i = 0; i < syntax->nodes_count; i++)
            if (syntax->nodes[i].kind == WEFT__SYNTAX_CALL &&
                weft__lang_operations[syntax->nodes[i].operation].group == WEFT__GROUP_reduction)
                return true;
    }
    return false;
}

/* Why two statements are not one program, if nothing comes between them. */
static const char *apart(const weft__function *f, const weft__function_statement *a,
                         const weft__function_statement *b, char *why)
{
    const weft__function_group *group = a->group < 0 ? NULL : &f->groups[a->group];
    if (group && group->why[0]) {
        snprintf(why, WEFT__EXPLAIN_WHY, "%.*s", (int)strcspn(group->why, "\n"), group->why);
        return why;
    }
    if (f->parents[b - f->statements] != f->parents[a - f->statements])
        return "one of them is inside of a loop or a choice";
    if (has_reduction(f, b))
        return "it folds, and what it folds is complete before";
    if (has_reduction(f, a))
        return "the one before is a fold";
    if (f->parts[b->part].elements_count || f->parts[a->part].elements_count)
        return "single elements are read or written";
    return "other statements are between them";
}

const char *weft__explain_apart(const weft__function *f, uint32_t event, char *why)
{
    const weft__function_event *last = NULL, *e = &f->events[event];
    bool host = false, serial = false;
    for (uint32_t i = 0; i < event; i++) {
        bool region = weft__explain_is_region(&f->events[i]);
        last = region ? &f->events[i] : last;
        host = !region && (host || f->events[i].did == WEFT__DID_HOST);
        serial = !region && (serial || f->events[i].did == WEFT__DID_SERIAL);
    }
    if (!last || !weft__explain_is_region(e) || last->what == e->what)
        return NULL;
    if (host)
        return "a host function is called between them";
    if (serial)
        return "a serial loop runs between them";
    const weft__function_statement *a = weft__explain_region(f, last),
                                   *b = weft__explain_region(f, e);
    if (last->did == WEFT__DID_LOOP && e->did == WEFT__DID_LOOP && a &&
        weft__explain_join(f, a, why) && why[0])
        return why;
    if (last->did != WEFT__DID_REGION || e->did != WEFT__DID_REGION)
        return "a loop is a kernel of its own";
    return a && b && a->part >= 0 && b->part >= 0 ? apart(f, a, b, why) : NULL;
}

const char *weft__explain_kind(const weft__function_event *region)
{
    return region->did == WEFT__DID_LOOP   ? "loop"
           : region->did == WEFT__DID_LOOK ? "look at positions"
                                           : "array statement";
}

uint64_t weft__explain_kernels(const weft__function *f)
{
    return f->bytes[WEFT__DID_REGION] + f->bytes[WEFT__DID_LOOP] + f->bytes[WEFT__DID_LOOK];
}

bool weft__explain_was_called(const weft__function *f)
{
    uint64_t all = 0;
    for (int k = 0; k < WEFT__EVENTS; k++)
        all += f->totals[k];
    return all > 0 || f->called;
}
