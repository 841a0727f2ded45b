/* What a function does, as JSON: the same facts as the text. */
#include "function/explain.h"
#include <string.h>

static void write_string(weft__text *w, const char *text, size_t length)
{
    weft__text_add(w, "\"");
    for (size_t i = 0; i < length;) {
        size_t size = weft__lang_character(text + i, length - i);
        if (size == 1 && (text[i] == '"' || text[i] == '\\'))
            weft__text_add(w, "\\%c", text[i]);
        else if (size)
            weft__text_add(w, "%.*s", (int)size, text + i);
        else
            weft__text_add(w, "\\u%04x", (unsigned)(unsigned char)text[i]);
        i += size ? size : 1;
    }
    weft__text_add(w, "\"");
}

static void write_text(weft__text *w, const char *key, const char *text)
{
    weft__text_add(w, "\"%s\": ", key);
    write_string(w, text, strlen(text));
}

typedef struct lines {
    weft__text *w;
    const weft__function *f;
    bool any;
} lines;

static void write_list(lines *l, int32_t first, int depth);

static void write_loop(const lines *l, const weft__function_statement *s)
{
    const weft__function_nest *nest = s->nest < 0 ? NULL : l->f->nests[s->nest];
    const bool serial = weft__explain_is_serial(l->f, s);
    char why[WEFT__EXPLAIN_WHY];
    const bool decided = weft__explain_is_decided(l->f, s);
    weft__text_add(l->w, ", \"parallel\": %s", !decided ? "null" : serial ? "false" : "true");
    if (nest && !serial)
        weft__text_add(l->w, ", \"loops\": %d, \"folds\": %d", nest->depth, nest->folds_count);
    if (!nest)
        weft__text_add(l->w, ", \"why\": \"it runs for as long as its condition holds\"");
    weft__explain_why(l->f, nest, why);
    if (!why[0])
        return;
    weft__text_add(l->w, ", ");
    write_text(l->w, "why", why);
    weft__explain_position(l->f, nest->reason.column, why);
    weft__text_add(l->w, ", ");
    write_text(l->w, "why_at", why);
}

static const char *kind_of(const weft__function_statement *s)
{
    switch (s->kind) {
    case WEFT__STATEMENT_FOR:
    case WEFT__STATEMENT_WHILE:
        return "loop";
    case WEFT__STATEMENT_HOST:
        return "host call";
    case WEFT__STATEMENT_IF:
        return "choice";
    case WEFT__STATEMENT_RETURN:
        return "return";
    case WEFT__STATEMENT_ARRAY:
        return "local array";
    default:
        return "statement";
    }
}

static void write_statement(lines *l, const weft__function_statement *s, int depth)
{
    char code[WEFT__EXPLAIN_CODE], place[WEFT__EXPLAIN_PLACE];
    weft__explain_statement(l->f, s, code);
    weft__explain_position(l->f, s->column, place);
    weft__text_add(l->w, "%s\n    {", l->any ? "," : "");
    l->any = true;
    write_text(l->w, "at", place);
    weft__text_add(l->w, ", \"depth\": %d, \"kind\": \"%s\", ", depth, kind_of(s));
    write_text(l->w, "code", code);
    if (s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE)
        write_loop(l, s);
    if (s->kind == WEFT__STATEMENT_HOST) {
        weft__lang_name name = l->f->hosts[s->host];
        weft__text_add(l->w, ", \"calls\": ");
        write_string(l->w, name.text, name.length);
    }
    char why[WEFT__EXPLAIN_WHY];
    const weft__function_join *join = weft__explain_join(l->f, s, why);
    if (join) {
        weft__text_add(l->w, ", \"fused\": %s, \"loops\": %d", join->done ? "true" : "false",
                       join->count);
        if (!join->done) {
            weft__text_add(l->w, ", \"why\": ");
            write_string(l->w, why, strlen(why));
        }
    }
    if (s->group >= 0) {
        const weft__function_group *group = &l->f->groups[s->group];
        weft__text_add(l->w, ", \"fused\": %s, \"statements\": %d",
                       group->why[0] ? "false" : "true", weft__explain_count(l->f, group));
        if (group->why[0]) {
            weft__text_add(l->w, ", \"why\": ");
            write_string(l->w, group->why, strcspn(group->why, "\n"));
        }
    }
    weft__text_add(l->w, "}");
}

static void write_list(lines *l, int32_t first, int depth)
{
    for (int32_t at = first; at >= 0; at = l->f->statements[at].next) {
        const weft__function_statement *s = &l->f->statements[at];
        const bool block = s->kind == WEFT__STATEMENT_BLOCK;
        if (s->kind == WEFT__STATEMENT_TAKE || s->kind == WEFT__STATEMENT_GIVE)
            continue;
        if (!block)
            write_statement(l, s, depth);
        if (block || s->kind == WEFT__STATEMENT_IF || weft__explain_is_serial(l->f, s)) {
            write_list(l, s->child, depth + !block);
            write_list(l, s->other, depth + !block);
        }
    }
}

static void write_region(weft__text *w, const weft__function *f, uint32_t event)
{
    const weft__function_event *e = &f->events[event];
    char why[WEFT__EXPLAIN_WHY];
    const char *apart = weft__explain_apart(f, event, why);
    const bool host = e->at_host || f->called_on.kind == WEFT_DEVICE_CPU;
    weft__text_add(w, ", \"kernels\": %llu, \"on\": \"%s\"", (unsigned long long)e->bytes,
                   host ? "host" : "device");
    if (e->here > 0)
        weft__text_add(w, ", \"host_seconds\": %.0fe-12, \"device_seconds\": %.0fe-12",
                       e->here * 1e12, e->there * 1e12); /* without a point, which locales change */
    if (apart) {
        weft__text_add(w, ", ");
        write_text(w, "not_fused", apart);
    }
}

static void write_event(weft__text *w, const weft__function *f, uint32_t event)
{
    static const char *const kinds[] = {[WEFT__DID_REGION] = "array statement",
                                        [WEFT__DID_LOOP] = "loop",
                                        [WEFT__DID_LOOK] = "look",
                                        [WEFT__DID_COMPILED] = "compiled",
                                        [WEFT__DID_SERIAL] = "serial loop",
                                        [WEFT__DID_HOST] = "host call",
                                        [WEFT__DID_TO_DEVICE] = "copy",
                                        [WEFT__DID_TO_HOST] = "copy"};
    const weft__function_event *e = &f->events[event];
    char place[WEFT__EXPLAIN_PLACE];
    weft__text_add(w, "%s\n      {\"kind\": \"%s\"", event ? "," : "", kinds[e->did]);
    if (weft__explain_is_copy(e)) {
        weft__explain_variable(f, e->what, place);
        weft__text_add(w, ", ");
        write_text(w, "array", place);
        weft__text_add(w, ", \"to\": \"%s\", \"bytes\": %llu}",
                       e->did == WEFT__DID_TO_DEVICE ? "device" : "host",
                       (unsigned long long)e->bytes);
        return;
    }
    weft__explain_position(f, (uint32_t)e->what, place);
    weft__text_add(w, ", ");
    write_text(w, "at", place);
    if (weft__explain_is_region(e))
        write_region(w, f, event);
    weft__text_add(w, "}");
}

static void write_call(weft__text *w, const weft__function *f)
{
    uint64_t all = 0;
    for (int k = 0; k < WEFT__EVENTS; k++)
        all += f->totals[k];
    weft__text_add(w, "{\"device\": \"%s\", \"kernels\": %llu, \"kernels_on_host\": %llu,\n",
                   weft_device_id(f->called_on), (unsigned long long)(weft__explain_kernels(f)),
                   (unsigned long long)f->kernels_at_host);
    weft__text_add(w,
                   "    \"to_device\": {\"copies\": %llu, \"bytes\": %llu}, "
                   "\"to_host\": {\"copies\": %llu, \"bytes\": %llu},\n    \"events\": [",
                   (unsigned long long)f->totals[WEFT__DID_TO_DEVICE],
                   (unsigned long long)f->bytes[WEFT__DID_TO_DEVICE],
                   (unsigned long long)f->totals[WEFT__DID_TO_HOST],
                   (unsigned long long)f->bytes[WEFT__DID_TO_HOST]);
    for (uint32_t i = 0; i < f->events_count; i++)
        write_event(w, f, i);
    weft__text_add(w, "],\n    \"more_events\": %llu}",
                   (unsigned long long)(all - f->events_count));
}

void weft__explain_json(weft__text *w, const weft__function *f)
{
    lines l = {.w = w, .f = f};
    weft__text_add(w, "{\"function\": ");
    write_string(w, f->name.text, f->name.length);
    weft__text_add(w, ", \"parameters\": ");
    write_string(w, f->parameters.text, f->parameters.length);
    weft__text_add(w, ", ");
    write_text(w, "place", f->key->place ? f->key->place : "");
    weft__text_add(w, ",\n  \"statements\": [");
    write_list(&l, f->first, 0);
    weft__text_add(w, "],\n  \"call\": ");
    if (weft__explain_was_called(f))
        write_call(w, f);
    else
        weft__text_add(w, "null");
    weft__text_add(w, "}\n");
}
