/* A look at a program: its statements, which names they assign and read, which functions look
 * beyond one element. The library has the last word on what is right. */
#include "command.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char unnamed[] = "result";

/* All that are not of single elements, from docs/operations.md. */
static const char *const far[] = {
    "sum",    "prod",   "min",  "max",   "mean",         "var",       "std",       "any",  "all",
    "argmin", "argmax", "norm", "shift", "forward_diff", "back_diff", "laplacian", "index"};

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool is_name(const char *text, size_t length)
{
    bool good = length > 0 && length < NAME_ROOM && begins_name(text[0]);
    for (size_t k = 0; k < length; k++)
        good = good && in_name(text[k]);
    return good;
}

/* The next name at or after *at, in [*at, end); its length, or 0. Numbers as 1e5f are passed. */
static size_t next_name(const char *text, size_t end, size_t *at)
{
    while (*at < end) {
        const size_t begin = *at;
        if (!in_name(text[begin]) && text[begin] != '.') {
            ++*at;
            continue;
        }
        while (*at < end && (in_name(text[*at]) || (text[*at] == '.' && !begins_name(text[begin]))))
            ++*at;
        if (begins_name(text[begin])) {
            const size_t length = *at - begin;
            *at = begin;
            return length;
        }
    }
    return 0;
}

bool text_names(const char *text, size_t length, const char *name)
{
    size_t at = 0, found;
    while ((found = next_name(text, length, &at)) > 0) {
        if (found == strlen(name) && memcmp(text + at, name, found) == 0)
            return true;
        at += found;
    }
    return false;
}

const char *program_far_call(const char *text, size_t length)
{
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++)
        if (text_names(text, length, far[k]))
            return far[k];
    return NULL;
}

/* Takes "name =" or "name +=" off the front of a statement. */
static void find_name(const char *text, statement *s)
{
    size_t at = s->begin, length = next_name(text, s->end, &at), next = at + length;
    s->value = s->begin;
    s->name[0] = 0;
    for (size_t k = s->begin; k < at; k++)
        if (!isspace((unsigned char)text[k]))
            return;
    while (next < s->end && isspace((unsigned char)text[next]))
        next++;
    const size_t sign = next;
    while (next < s->end && strchr("+-*/%&|^<>", text[next]) && text[next])
        next++;
    if (length == 0 || length >= NAME_ROOM || next >= s->end || text[next] != '=' ||
        (next + 1 < s->end && text[next + 1] == '='))
        return;
    if (next == sign + 1 && strchr("<>", text[sign])) /* a comparison */
        return;
    memcpy(s->name, text + at, length);
    s->name[length] = 0;
    s->plain = next == sign;
    s->value = next + 1;
}

static bool is_blank(const char *text, size_t begin, size_t end)
{
    while (begin < end && isspace((unsigned char)text[begin]))
        begin++;
    return begin >= end;
}

/* Cuts at semicolons. */
static bool cut(program *p)
{
    const size_t length = strlen(p->text);
    for (size_t begin = 0, end; begin < length; begin = end + 1) {
        const char *semicolon = strchr(p->text + begin, ';');
        end = semicolon ? (size_t)(semicolon - p->text) : length;
        if (is_blank(p->text, begin, end))
            continue;
        if (p->count == STATEMENTS_MAX)
            return false;
        statement *s = &p->list[p->count++];
        *s = (statement){.begin = begin, .end = end};
        find_name(p->text, s);
    }
    return true;
}

/* Names the expression at the end. */
static bool name_last(program *p)
{
    const statement *last = &p->list[p->count - 1];
    const size_t room = strlen(p->text) + sizeof unnamed + 8;
    char *text = malloc(room);
    if (!text)
        return false;
    size_t begin = last->begin;
    while (isspace((unsigned char)p->text[begin]))
        begin++;
    (void)snprintf(text, room, "%.*s%s = %s", (int)begin, p->text, unnamed, p->text + begin);
    free(p->text);
    p->text = text;
    p->count = 0;
    return cut(p);
}

/* What is in them is no code. One that does not end is left for the library to complain of. */
static void blank_comments(char *text)
{
    for (char *at = text; (at = strchr(at, '/')) != NULL;) {
        char *end = at[1] == '/'   ? at + strcspn(at, "\n")
                    : at[1] == '*' ? strstr(at + 2, "*/")
                                   : NULL;
        if (end && at[1] == '*')
            end += 2;
        for (; end && at < end; at++)
            if (*at != '\n')
                *at = ' ';
        at += !end;
    }
}

bool program_open(program *p, const char *code)
{
    p->count = 0;
    p->text = strdup(code);
    if (p->text)
        blank_comments(p->text);
    if (!p->text || !cut(p))
        return false;
    return p->count == 0 || p->list[p->count - 1].name[0] || name_last(p);
}

void program_close(program *p)
{
    free(p->text);
    p->text = NULL;
}

bool program_assigns(const program *p, const char *name)
{
    for (int k = 0; k < p->count; k++)
        if (strcmp(p->list[k].name, name) == 0)
            return true;
    return false;
}

bool program_reads(const program *p, const char *name)
{
    for (int k = 0; k < p->count; k++) {
        const statement *s = &p->list[k];
        if (text_names(p->text + s->value, s->end - s->value, name) ||
            (!s->plain && strcmp(s->name, name) == 0))
            return true;
    }
    return false;
}
