/* Names in the code: operands are matched token by token, locals by a hash table. */
#include "lang/names.h"
#include "core/allocate.h"
#include "lang/error.h"
#include <string.h>

static bool same(weft__lang_name a, const char *text, size_t length)
{
    return a.length == length && !memcmp(a.text, text, length);
}

/* The step for a token among the alternatives that begin with `first`, or -1. */
static int32_t find_step(const weft__names *names, int32_t first, const char *text, size_t length)
{
    int32_t step = first;
    while (step >= 0 && !same(names->steps[step].token, text, length))
        step = names->steps[step].next;
    return step;
}

/* The first alternatives are the children of step 0, which has no token. */
static weft_status add_step(weft__names *names, int32_t parent, weft__lang_name token,
                            int32_t *step)
{
    TRY(weft__lang_room(&names->steps, names->steps_count, &names->steps_room,
                        sizeof *names->steps));
    *step = (int32_t)names->steps_count++;
    names->steps[*step] = (weft__names_step){token, -1, -1, -1};
    if (parent >= 0) {
        names->steps[*step].next = names->steps[parent].child;
        names->steps[parent].child = *step;
    }
    return WEFT_OK;
}

weft_status weft__names_insert(weft__names *names, weft__lang_name name, int operand)
{
    weft__lexer lexer = {name.text, (uint32_t)name.length, 0};
    int32_t step = 0;
    if (!names->steps_count)
        TRY(add_step(names, -1, (weft__lang_name){"", 0}, &step));
    for (weft__token t = weft__lex(&lexer); t.kind != WEFT__TOKEN_END; t = weft__lex(&lexer)) {
        weft__lang_name token = {name.text + t.at, t.length};
        int32_t next = find_step(names, names->steps[step].child, token.text, token.length);
        if (next < 0)
            TRY(add_step(names, step, token, &next));
        step = next;
    }
    if (names->steps[step].operand >= 0)
        return FAIL_AT(WEFT_ERROR_SYNTAX, "operands",
                       "operands %d and %d are both '%s'; give each operand once",
                       names->steps[step].operand + 1, operand + 1, QUOTE(name.text, name.length));
    names->steps[step].operand = operand;
    return WEFT_OK;
}

void weft__names_free(weft__names *names)
{
    weft__free(names->steps);
    weft__free(names->locals);
    weft__free(names->slots);
}

/* Whether an operand's text may end before this token: it would be part of something larger. */
static bool may_end(const weft__names *names, int operand, weft__token_kind next, bool whole)
{
    switch (next) {
    case WEFT__TOKEN_CLOSE:
    case WEFT__TOKEN_COMMA:
    case WEFT__TOKEN_SEMICOLON:
    case WEFT__TOKEN_COLON:
    case WEFT__TOKEN_END:
        return whole || !names->compound[operand];
    case WEFT__TOKEN_DOT:
    case WEFT__TOKEN_ARROW:
    case WEFT__TOKEN_SCOPE:
    case WEFT__TOKEN_OPEN:
    case WEFT__TOKEN_OPEN_BRACKET:
        return false;
    default:
        return !names->compound[operand];
    }
}

int weft__names_match(const weft__names *names, weft__lexer *lexer, bool whole)
{
    weft__lexer ahead = *lexer, behind = *lexer;
    int32_t step = names->steps_count ? names->steps[0].child : -1;
    int found = -1;
    while (step >= 0) {
        weft__token token = weft__lex(&ahead);
        step = find_step(names, step, ahead.text + token.at, token.length);
        if (step < 0)
            break;
        int operand = names->steps[step].operand;
        weft__lexer after = ahead;
        if (operand >= 0 && may_end(names, operand, weft__lex(&after).kind, whole)) {
            found = operand;
            behind = ahead;
        }
        step = names->steps[step].child;
    }
    *lexer = behind;
    return found;
}

static uint32_t hash(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

/* The slot where a name is, or goes. */
static uint32_t find_slot(const weft__names *names, const char *text, size_t length)
{
    uint32_t slot = hash(text, length) & (names->slots_count - 1);
    while (names->slots[slot] >= 0 && !same(names->locals[names->slots[slot]].name, text, length))
        slot = (slot + 1) & (names->slots_count - 1);
    return slot;
}

weft__names_local *weft__names_local_find(const weft__names *names, const char *text, size_t length)
{
    int32_t found = names->slots_count ? names->slots[find_slot(names, text, length)] : -1;
    return found < 0 ? NULL : &names->locals[found];
}

/* The table is at most half full. */
static weft_status grow_slots(weft__names *names)
{
    uint32_t count = names->slots_count ? 2 * names->slots_count : 32;
    if (2 * (names->locals_count + 1) <= names->slots_count)
        return WEFT_OK;
    int32_t *slots = weft__allocate(count * sizeof *slots);
    if (!slots)
        return WEFT_ERROR_MEMORY;
    weft__free(names->slots);
    memset(slots, -1, count * sizeof *slots);
    names->slots = slots;
    names->slots_count = count;
    for (uint32_t i = 0; i < names->locals_count; i++) {
        weft__lang_name name = names->locals[i].name;
        slots[find_slot(names, name.text, name.length)] = (int32_t)i;
    }
    return WEFT_OK;
}

weft_status weft__names_local_set(weft__names *names, weft__lang_name name, int32_t node,
                                  uint32_t column)
{
    weft__names_local *local = weft__names_local_find(names, name.text, name.length);
    if (!local) {
        TRY(grow_slots(names));
        TRY(weft__lang_room(&names->locals, names->locals_count, &names->locals_room,
                            sizeof *names->locals));
        names->slots[find_slot(names, name.text, name.length)] = (int32_t)names->locals_count;
        local = &names->locals[names->locals_count++];
    }
    *local = (weft__names_local){name, node, column, false};
    return WEFT_OK;
}

void weft__names_offer(const weft__names *names, const weft__lang_syntax *syntax,
                       weft__lang_nearest *nearest)
{
    for (int i = 0; i < syntax->names_count; i++)
        weft__lang_offer(nearest, syntax->names[i].text, syntax->names[i].length);
    for (uint32_t i = 0; i < names->locals_count && i < 4096; i++)
        weft__lang_offer(nearest, names->locals[i].name.text, names->locals[i].name.length);
}
