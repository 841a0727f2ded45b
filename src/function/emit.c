/* Writing a loop as the text of a portable kernel: conditions become choices, sums become values
 * that are folded, and what the loop counts is an index plus its first value. */
#include "function/emit.h"
#include "core/allocate.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 16 };

bool weft__emit_refused(const weft__emitter *e) { return e->nest->reason.text[0] != 0; }

weft_status weft__emit_bytes(weft__emitter *e, const char *text, size_t length)
{
    if (e->length + length + 1 > e->room) {
        size_t room = 2 * (e->room + length) + 256;
        char *grown = room > TEXT_MAX ? NULL : weft__reallocate(e->nest->text, room);
        if (!grown && room > TEXT_MAX) {
            weft__nest_refuse(e->nest, 0, "its body is too long for a kernel");
            return WEFT_OK;
        }
        if (!grown)
            return WEFT_ERROR_MEMORY;
        e->nest->text = grown;
        e->room = room;
    }
    memcpy(e->nest->text + e->length, text, length);
    e->length += length;
    e->nest->text[e->length] = 0;
    return WEFT_OK;
}

__attribute__((format(printf, 2, 3))) weft_status weft__emit_text(weft__emitter *e,
                                                                  const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return weft__emit_bytes(e, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

/* The parameter of the kernel for something; a new one if need be. */
weft__nest_operand *weft__emit_operand(weft__emitter *e, weft__nest_role role, int32_t index,
                                       weft__lang_name name)
{
    weft__function_nest *nest = e->nest;
    for (int i = 0; i < nest->operands_count; i++)
        if (nest->operands[i].role == (uint8_t)role && nest->operands[i].index == index)
            return &nest->operands[i];
    if (nest->operands_count == WEFT__NEST_OPERANDS_MAX) {
        weft__nest_refuse(nest, 0, "it has more than %d variables", (int)WEFT__NEST_OPERANDS_MAX);
        return &nest->operands[0];
    }
    nest->names[nest->operands_count] = name;
    nest->operands[nest->operands_count] =
        (weft__nest_operand){.role = (uint8_t)role, .index = index};
    return &nest->operands[nest->operands_count++];
}

weft__lang_name weft__emit_name(weft__function_nest *nest, int slot, const char *kind, int number)
{
    char *text = nest->own_names[slot];
    int length = snprintf(text, sizeof nest->own_names[slot], "weft_%s%d", kind, number);
    return (weft__lang_name){text, (size_t)length};
}

static int loop_of(const weft__function_nest *nest, int32_t variable)
{
    for (int k = 0; k < nest->depth; k++)
        if (nest->loops[k].variable == variable)
            return k;
    return -1;
}

/* What a loop counts, at this point. */
static weft_status write_counter(weft__emitter *e, int loop)
{
    int64_t step = e->nest->loops[loop].step;
    weft__lang_name name = e->f->variables[e->nest->loops[loop].index].name;
    weft__lang_name base = weft__emit_name(e->nest, loop, "b", loop);
    weft__emit_operand(e, WEFT__ROLE_BASE, loop, base)->fixed = true;
    if (step == 1)
        return weft__emit_text(e, "(%s+%.*s)", base.text, (int)name.length, name.text);
    return weft__emit_text(e, "(%s%s%lld*%.*s)", base.text, step < 0 ? "-" : "+",
                           (long long)(step < 0 ? -step : step), (int)name.length, name.text);
}

static weft_status note_column(weft__emitter *e, uint32_t column)
{
    weft__function_nest *nest = e->nest;
    TRY(weft__lang_room(&nest->columns, nest->columns_count, &nest->columns_room,
                        sizeof *nest->columns));
    nest->columns[nest->columns_count][0] = (uint32_t)e->length;
    nest->columns[nest->columns_count++][1] = column;
    return WEFT_OK;
}

/* A name of the body. */
static weft_status write_name(weft__emitter *e, weft__token token, bool element)
{
    weft__lang_name name = {e->f->code.text + token.at, token.length};
    int32_t variable = weft__function_variable_named(e->f, name.text, name.length);
    int loop = variable < 0 ? -1 : loop_of(e->nest, variable);
    if (loop >= 0)
        return write_counter(e, loop);
    if (variable >= 0 && e->assigned[variable] != WEFT__STATE_OUTSIDE &&
        e->assigned[variable] != WEFT__STATE_SET && !element)
        weft__nest_refuse(e->nest, token.at, "'%s' is carried from one iteration to the next",
                          QUOTE(name.text, name.length));
    if (variable >= 0 && !e->assigned[variable])
        weft__emit_operand(e, WEFT__ROLE_VARIABLE, variable, name)->element |= element;
    return weft__emit_bytes(e, name.text, name.length);
}

/* The text from `begin` to `end`, with counters and parameters in it. */
weft_status weft__emit_part(weft__emitter *e, uint32_t begin, uint32_t end)
{
    weft__lexer lexer = {e->f->code.text, end, begin};
    int depth = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer)) {
        weft__lexer ahead = lexer;
        weft__token_kind next = weft__lex(&ahead).kind;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        if (token.kind == WEFT__TOKEN_NAME && depth > 0 && next == WEFT__TOKEN_ASSIGN)
            weft__nest_refuse(e->nest, token.at, "it has an operation on whole arrays in it");
        TRY(note_column(e, token.at));
        if (token.kind == WEFT__TOKEN_NAME)
            TRY(write_name(e, token, next == WEFT__TOKEN_OPEN));
        else
            TRY(weft__emit_bytes(e, e->f->code.text + token.at, token.length));
        TRY(weft__emit_bytes(e, " ", 1));
    }
    return WEFT_OK;
}

/* An assignment: where its operator is. */
weft__token weft__emit_operator(const weft__function *f, const weft__function_part *part)
{
    weft__lexer lexer = {f->code.text, part->end, part->begin};
    int depth = 0;
    for (;;) {
        weft__token token = weft__lex(&lexer);
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        if (token.kind == WEFT__TOKEN_END || (!depth && weft__function_assigns(token.kind)))
            return token;
    }
}

void weft__emit_end(weft__emitter *e, bool merges)
{
    if (e->statements == 256)
        weft__nest_refuse(e->nest, 0, "its body has more than 256 statements");
    else
        e->merges[e->statements++] = merges;
}

/* The right side of an assignment: "old + (new)" for +=. */
static weft_status write_right(weft__emitter *e, const weft__function_part *part, weft__token sign,
                               const char *old)
{
    uint32_t after = sign.at + sign.length;
    if (sign.kind == WEFT__TOKEN_ASSIGN)
        return weft__emit_part(e, after, part->end);
    if (old)
        TRY(weft__emit_text(e, "%s ", old));
    else
        TRY(weft__emit_part(e, part->begin, sign.at));
    TRY(weft__emit_bytes(e, e->f->code.text + sign.at, sign.length - 1));
    TRY(weft__emit_bytes(e, " (", 2));
    TRY(weft__emit_part(e, after, part->end));
    return weft__emit_bytes(e, ")", 1);
}

static weft_status emit_element(weft__emitter *e, const weft__function_statement *s,
                                const char *guard)
{
    const weft__function_part *part = &e->f->parts[s->part];
    weft__token sign = weft__emit_operator(e->f, part);
    int32_t element = part->target - part->names_count;
    int32_t variable = part->elements[element].variable;
    if (e->inner) {
        weft__nest_refuse(e->nest, s->column, "a loop beside other statements writes elements");
        return WEFT_OK;
    }
    TRY(weft__emit_part(e, part->begin, sign.at));
    weft__emit_operand(e, WEFT__ROLE_VARIABLE, variable, e->f->variables[variable].name)->written =
        true;
    TRY(weft__emit_bytes(e, "= ", 2));
    if (guard)
        TRY(weft__emit_text(e, "where(%s, ", guard));
    TRY(write_right(e, part, sign, NULL));
    if (guard) {
        TRY(weft__emit_bytes(e, ", ", 2));
        TRY(weft__emit_part(e, part->begin, sign.at));
        TRY(weft__emit_bytes(e, ")", 1));
    }
    weft__emit_end(e, false);
    return weft__emit_bytes(e, "; ", 2);
}

weft_status weft__emit_private(weft__emitter *e, const weft__function_statement *s,
                               const char *guard)
{
    const weft__function_variable *v = &e->f->variables[s->variable];
    const weft__function_part *part = s->part < 0 ? NULL : &e->f->parts[s->part];
    char name[72];
    bool set = e->assigned[s->variable] == WEFT__STATE_SET,
         declares = s->kind != WEFT__STATEMENT_ASSIGN;
    bool choose = guard && (set || e->assigned[s->variable] == WEFT__STATE_PERHAPS);
    snprintf(name, sizeof name, "%.*s", (int)v->name.length, v->name.text);
    if (v->name.length >= sizeof name || weft__function_live_after(e->f, e->scope, s->variable))
        weft__nest_refuse(e->nest, s->column, "'%s' is needed after the loop",
                          QUOTE(v->name.text, v->name.length));
    weft__token sign = part && !declares ? weft__emit_operator(e->f, part)
                                         : (weft__token){WEFT__TOKEN_ASSIGN, 0, 0, NULL};
    if ((sign.kind != WEFT__TOKEN_ASSIGN || s->kind == WEFT__STATEMENT_STEP) && !set)
        weft__nest_refuse(e->nest, s->column, "'%s' is carried from one iteration to the next",
                          QUOTE(v->name.text, v->name.length));
    e->nest->has_privates = true;
    TRY(weft__emit_text(e, "%s = ", name));
    if (choose)
        TRY(weft__emit_text(e, "where(%s, ", guard));
    if (v->dtype)
        TRY(weft__emit_text(e, "%s(", weft_dtype_name((weft_dtype)v->dtype)));
    if (!part && s->kind == WEFT__STATEMENT_STEP)
        TRY(weft__emit_text(e, "%s + (%d)", name, s->delta));
    else if (!part)
        TRY(weft__emit_bytes(e, "0", 1));
    else if (declares)
        TRY(weft__emit_part(e, part->begin, part->end));
    else
        TRY(write_right(e, part, sign, name));
    if (v->dtype)
        TRY(weft__emit_bytes(e, ")", 1));
    if (choose)
        TRY(weft__emit_text(e, ", %s)", name));
    e->assigned[s->variable] = WEFT__STATE_SET;
    if (guard && !choose && e->statements < 256)
        snprintf(e->under[e->statements], sizeof *e->under, "%s", guard);
    weft__emit_end(e, choose);
    return weft__emit_bytes(e, "; ", 2);
}

static weft_status emit_assign(weft__emitter *e, const weft__function_statement *s,
                               const char *guard)
{
    if (s->variable < 0)
        return weft__emit_folds_element(e, s) ? weft__emit_fold(e, s, guard)
                                              : emit_element(e, s, guard);
    if (!e->inner && e->assigned[s->variable] == WEFT__STATE_ASSIGNED &&
        weft__emit_only_folds(e, e->f->statements[e->scope].child, s))
        return weft__emit_fold(e, s, guard);
    return weft__emit_private(e, s, guard);
}

/* A local of the kernel that says whether something is done. */
static weft_status emit_guard(weft__emitter *e, const char *guard, const char *inverse,
                              const weft__function_part *part, char *name)
{
    snprintf(name, WEFT__GUARD_NAME, "weft_g%d", e->guards++);
    TRY(weft__emit_text(e, "%s = %s%s", name, guard ? guard : "", guard ? " && " : ""));
    if (inverse)
        TRY(weft__emit_text(e, "!%s", inverse));
    else {
        TRY(weft__emit_bytes(e, "(", 1));
        TRY(weft__emit_part(e, part->begin, part->end));
        TRY(weft__emit_bytes(e, ")", 1));
    }
    weft__emit_end(e, false);
    return weft__emit_bytes(e, "; ", 2);
}

/* What both ways set is set. */
static void join(weft__emitter *e, const uint8_t *before, const uint8_t *after, bool has_other)
{
    for (uint32_t i = 0; i < e->f->variables_count; i++) {
        bool both = has_other && after[i] == WEFT__STATE_SET && e->assigned[i] == WEFT__STATE_SET;
        bool touched = after[i] != before[i] || e->assigned[i] != before[i];
        e->assigned[i] = (uint8_t)(before[i] == WEFT__STATE_SET || both ? WEFT__STATE_SET
                                   : touched                            ? WEFT__STATE_PERHAPS
                                                                        : before[i]);
    }
}

static weft_status emit_if(weft__emitter *e, const weft__function_statement *s, const char *guard)
{
    size_t count = e->f->variables_count;
    char then[WEFT__GUARD_NAME], other[WEFT__GUARD_NAME];
    if (weft__emit_is_extreme(e, s))
        return weft__emit_extreme(e, s, guard);
    TRY(emit_guard(e, guard, NULL, &e->f->parts[s->part], then));
    uint8_t *before = weft__allocate(2 * count + 1), *after = before + count;
    if (!before)
        return WEFT_ERROR_MEMORY;
    memcpy(before, e->assigned, count);
    weft_status status = weft__emit_list(e, s->child, then);
    memcpy(after, e->assigned, count);
    if (status == WEFT_OK && s->other >= 0) {
        weft__emit_unset(e, before); /* what one way sets is not set for the other */
        status = emit_guard(e, guard, then, NULL, other);
        if (status == WEFT_OK)
            status = weft__emit_list(e, s->other, other);
    }
    join(e, before, after, s->other >= 0);
    weft__free(before);
    return status;
}

weft_status weft__emit_statement(weft__emitter *e, const weft__function_statement *s,
                                 const char *guard)
{
    switch (s->kind) {
    case WEFT__STATEMENT_ASSIGN:
        return emit_assign(e, s, guard);
    case WEFT__STATEMENT_STEP:
        if (e->assigned[s->variable] == WEFT__STATE_SET)
            return weft__emit_private(e, s, guard);
        if (!e->inner && weft__emit_only_folds(e, e->f->statements[e->scope].child, s))
            return weft__emit_fold(e, s, guard);
        weft__nest_refuse(e->nest, s->column, "what this counts is needed in other iterations");
        return WEFT_OK;
    case WEFT__STATEMENT_DECLARE:
    case WEFT__STATEMENT_TAKE:
        return weft__emit_private(e, s, guard);
    case WEFT__STATEMENT_GIVE: /* a number stays the caller's, and an array is none here */
        return WEFT_OK;
    case WEFT__STATEMENT_BLOCK:
        return weft__emit_list(e, s->child, guard);
    case WEFT__STATEMENT_IF:
        return emit_if(e, s, guard);
    case WEFT__STATEMENT_FOR:
    case WEFT__STATEMENT_WHILE:
        if (e->loops)
            return weft__emit_loop(e, s, guard);
        weft__nest_refuse(e->nest, s->column, "there is a loop beside other statements in it");
        return WEFT_OK;
    case WEFT__STATEMENT_BREAK:
    case WEFT__STATEMENT_CONTINUE:
        return weft__emit_jump(e, s, guard);
    case WEFT__STATEMENT_HOST:
        weft__nest_refuse(e->nest, s->column, "it calls a host function");
        return WEFT_OK;
    default:
        weft__nest_refuse(e->nest, s->column,
                          "a statement in it is not one that a kernel can have");
        return WEFT_OK;
    }
}

weft_status weft__emit_list(weft__emitter *e, int32_t first, const char *guard)
{
    char behind[WEFT__GUARD_NAME];
    const char *now = guard;
    int jumps = e->jumps;
    for (int32_t at = first; at >= 0 && !weft__emit_refused(e); at = e->f->statements[at].next) {
        if (e->jumps != jumps) {
            TRY(weft__emit_behind(e, guard, behind));
            now = behind;
            jumps = e->jumps;
        }
        TRY(weft__emit_statement(e, &e->f->statements[at], now));
    }
    return WEFT_OK;
}

void weft__emit_mark(const weft__emitter *e, int32_t first)
{
    for (int32_t at = first; at >= 0; at = e->f->statements[at].next) {
        const weft__function_statement *s = &e->f->statements[at];
        if (s->variable >= 0)
            e->assigned[s->variable] = WEFT__STATE_ASSIGNED;
        weft__emit_mark(e, s->child);
        weft__emit_mark(e, s->other);
        weft__emit_mark(e, s->init);
        weft__emit_mark(e, s->step);
    }
}

/* (j >= lower && j < bound), for bounds that depend on other loops. */
static weft_status emit_bounds(weft__emitter *e, int loop, const char *guard, char *name)
{
    weft__nest_loop *l = &e->nest->loops[loop];
    const weft__function_part *lower = &e->f->parts[l->lower_part];
    const weft__function_part *bound = &e->f->parts[l->bound_part];
    bool assigns = !lower->value;
    uint32_t begin = assigns ? weft__emit_operator(e->f, lower).at + 1 : lower->begin;
    snprintf(name, WEFT__GUARD_NAME, "weft_g%d", e->guards++);
    TRY(weft__emit_text(e, "%s = %s%s(", name, guard ? guard : "", guard ? " && " : ""));
    TRY(write_counter(e, loop));
    TRY(weft__emit_text(e, " %s (", l->step > 0 ? ">=" : "<="));
    TRY(weft__emit_part(e, begin, lower->end));
    if (l->every > 1) {
        TRY(weft__emit_text(e, ")) && (("));
        TRY(write_counter(e, loop));
        TRY(weft__emit_text(e, " - ("));
        TRY(weft__emit_part(e, begin, lower->end));
        TRY(weft__emit_text(e, ")) %% %lld == 0", (long long)l->every));
    } else
        TRY(weft__emit_text(e, ")"));
    TRY(weft__emit_text(e, ") && ("));
    TRY(weft__emit_part(e, bound->begin, bound->end));
    l->guard = e->statements;
    weft__emit_end(e, false);
    return weft__emit_bytes(e, "); ", 3);
}

weft_status weft__emit_guards(weft__emitter *e, const char **guard)
{
    *guard = NULL;
    for (int k = 0; k < e->nest->depth; k++)
        if (e->nest->loops[k].depends) {
            TRY(emit_bounds(e, k, *guard, e->guard_names[k]));
            *guard = e->guard_names[k];
        }
    return WEFT_OK;
}

/* The first of the statements before the loop inside of loop `k`. */
static int32_t first_before(const weft__emitter *e, int k)
{
    return weft__nest_body(e->f, e->f->statements[e->nest->loops[k].statement].child);
}

static weft_status emit_body(weft__emitter *e)
{
    const weft__function_nest *nest = e->nest;
    const char *guard;
    TRY(weft__emit_guards(e, &guard));
    for (int k = 0; k + 1 < nest->depth; k++)
        for (int32_t at = first_before(e, k);
             at != nest->loops[k + 1].statement && !weft__emit_refused(e);
             at = e->f->statements[at].next)
            TRY(weft__emit_statement(e, &e->f->statements[at], guard));
    return weft__emit_list(e, e->f->statements[nest->loops[nest->depth - 1].statement].child,
                           guard);
}

/* Which index of the kernel each loop is. */
static void find_axes(const weft__function *f, weft__function_nest *nest)
{
    for (int k = 0; k < nest->depth; k++) {
        weft__lang_name name = f->variables[nest->loops[k].index].name;
        nest->axis[k] = -1;
        for (int i = 0; i < nest->syntax->indices_count; i++)
            if (nest->syntax->indices[i].length == name.length &&
                !memcmp(nest->syntax->indices[i].text, name.text, name.length))
                nest->axis[k] = i;
        if (nest->axis[k] < 0)
            weft__nest_refuse(nest, f->statements[nest->loops[k].statement].column,
                              "every iteration over '%s' writes the same elements",
                              QUOTE(name.text, name.length));
    }
}

/* Which points are inside of the bounds decides about dependences. */
static void mark_guards(weft__function_nest *nest, bool *fixed)
{
    const weft__lang_syntax *s = nest->syntax;
    for (int k = 0; k < nest->depth; k++) {
        int32_t guard = nest->loops[k].guard;
        for (uint32_t i = guard > 0 ? s->statements[guard - 1].end : 0;
             guard >= 0 && i < s->statements[guard].end; i++)
            if (s->nodes[i].kind == WEFT__SYNTAX_OPERAND && s->nodes[i].index >= 0 &&
                s->nodes[i].index < nest->operands_count)
                fixed[s->nodes[i].index] = true;
    }
}

/* An element that is read for nothing, by a loop that leaves nothing, would not be looked at. */
static void mark_fixed(weft__function_nest *nest)
{
    int32_t unused = -1;
    bool fixed[WEFT__LANG_OPERANDS_MAX] = {false}, positions[WEFT__LANG_OPERANDS_MAX] = {false};
    if (weft__portable_fixed(nest->syntax, fixed, positions, &unused) != WEFT_OK)
        weft__nest_refuse(nest, 0, "memory ran out");
    if (unused >= 0)
        weft__nest_refuse(nest, weft__nest_column(nest, nest->syntax->nodes[unused].column),
                          "a value in it is never used");
    mark_guards(nest, fixed);
    for (int i = 0; i < nest->operands_count; i++) {
        nest->operands[i].fixed |= fixed[i];
        nest->operands[i].position = positions[i];
        nest->positions |= positions[i];
    }
}

/* The conditions that locals are set under, by their names. */
static void find_conditions(const weft__emitter *e)
{
    weft__lang_syntax *s = e->nest->syntax;
    for (uint32_t i = 1; i < s->statements_count && i < 256; i++) {
        const size_t length = strlen(e->under[i]);
        for (uint32_t k = i; length && k-- > 0;) {
            const char *text = s->code.text + s->statements[k].column;
            if (strncmp(text, e->under[i], length) != 0 || text[length] != ' ')
                continue;
            s->statements[i].under = s->statements[k].node + 1;
            break;
        }
    }
}

/* The text as syntax; what the kernel cannot be is no error here. */
weft_status weft__emit_parse(weft__emitter *e)
{
    weft__function_nest *nest = e->nest;
    weft_error saved = *weft_error_last();
    weft_status status = weft__lang_parse_loop(nest->text, e->length, nest->names,
                                               nest->operands_count, &nest->syntax);
    if (status == WEFT_ERROR_MEMORY)
        return status;
    if (status != WEFT_OK) {
        weft__nest_refuse_kernel(e->f, nest, (weft__lang_name){nest->text, e->length});
        weft__error_restore(&saved);
        return WEFT_OK;
    }
    for (uint32_t i = 0; i < nest->syntax->statements_count && i < 256; i++)
        nest->syntax->nodes[nest->syntax->statements[i].node].negative |= e->merges[i];
    find_conditions(e);
    find_axes(e->f, nest);
    mark_fixed(nest);
    nest->candidate = !weft__emit_refused(e);
    return WEFT_OK;
}

/* What is counted is known afterwards only for the outermost loop. */
static void check_counters(const weft__emitter *e)
{
    for (int k = 0; k < e->nest->depth; k++) {
        int32_t variable = e->nest->loops[k].variable;
        const weft__function_statement *s = &e->f->statements[e->nest->loops[k].statement];
        if (k && weft__function_live_after(e->f, e->nest->statement, variable))
            weft__nest_refuse(
                e->nest, s->column, "'%s' is needed after the loop",
                QUOTE(e->f->variables[variable].name.text, e->f->variables[variable].name.length));
    }
}

/* Bounds are computed before the loop. */
static void check_bounds(const weft__emitter *e)
{
    for (int k = 0; k < e->nest->depth; k++) {
        const weft__nest_loop *loop = &e->nest->loops[k];
        const weft__function_part *parts[] = {&e->f->parts[loop->lower_part],
                                              &e->f->parts[loop->bound_part]};
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < parts[side]->names_count; i++)
                if (e->assigned[parts[side]->variables[i]] || parts[side]->elements_count)
                    weft__nest_refuse(e->nest, parts[side]->begin,
                                      "its bounds are not known before it");
    }
}

weft_status weft__emit_begin(weft__emitter *e, int32_t body)
{
    const weft__function_nest *nest = e->nest;
    e->assigned = weft__allocate_zeroed(e->f->variables_count + (size_t)1);
    if (!e->assigned)
        return WEFT_ERROR_MEMORY;
    e->scope = nest->statement;
    weft__emit_mark(e, body);
    for (int k = 0; k < nest->depth; k++)
        if (e->assigned[nest->loops[k].variable])
            weft__nest_refuse(e->nest, e->f->statements[nest->loops[k].statement].column,
                              "its body assigns what it counts");
    check_bounds(e);
    check_counters(e);
    return WEFT_OK;
}

/* Variables that are set before a loop inside of another one, and nowhere else, may as well be set
 * in all of its iterations; what they fold may not. */
static void check_before(const weft__emitter *e)
{
    for (int k = 0; k + 1 < e->nest->depth; k++)
        for (int32_t at = first_before(e, k); at != e->nest->loops[k + 1].statement;
             at = e->f->statements[at].next) {
            const weft__function_statement *s = &e->f->statements[at];
            weft__lang_name name = e->f->variables[s->variable].name;
            if (e->assigned[s->variable] || weft__emit_is_fold(e, s))
                weft__nest_refuse(e->nest, s->column,
                                  "'%s' is carried from one iteration to the next",
                                  QUOTE(name.text, name.length));
            e->assigned[s->variable] = WEFT__STATE_ASSIGNED;
        }
    check_bounds(e);
}

weft_status weft__nest_emit(weft__function *f, weft__function_nest *nest, bool loops)
{
    weft__emitter e = {.f = f, .nest = nest, .loops = loops};
    weft_status status =
        weft__emit_begin(&e, f->statements[nest->loops[nest->depth - 1].statement].child);
    if (status == WEFT_OK && !weft__emit_refused(&e))
        check_before(&e);
    if (status == WEFT_OK && !weft__emit_refused(&e))
        status = emit_body(&e);
    if (status == WEFT_OK && !weft__emit_refused(&e))
        status = weft__emit_parse(&e);
    weft__free(e.assigned);
    return status;
}
