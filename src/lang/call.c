/* Calls: arguments by position and by name, their number, and which must be constants or operands.
 */
#include "lang/parser.h"
#include <stdio.h>
#include <string.h>

static weft__frame *top_frame(weft__parser *p) { return &p->frames[p->frames_count - 1]; }

static const weft__lang_facts *facts_of(const weft__frame *frame)
{
    return &weft__lang_operations[frame->operation];
}

/* What is called, for messages: an operand, if it is an element. */
static weft__lang_quoted name_of(const weft__parser *p, const weft__frame *frame)
{
    if (frame->kind != WEFT__FRAME_ACCESS)
        return weft__lang_quote(facts_of(frame)->name, strlen(facts_of(frame)->name));
    weft__lang_name name = p->syntax->names[frame->operation];
    return weft__lang_quote(name.text, name.length);
}

/* An integer constant: digits, perhaps with a sign. */
static weft_status parse_integer(weft__parser *p, int64_t least, int64_t most, int64_t *value)
{
    weft__number number = {WEFT_DTYPE_DEFAULT, false, 0, 0};
    uint32_t at = p->token.at;
    bool negative = p->token.kind == WEFT__TOKEN_MINUS;
    if (negative || p->token.kind == WEFT__TOKEN_PLUS)
        weft__parser_next(p);
    if (p->token.kind != WEFT__TOKEN_NUMBER)
        return weft__parser_expected(p, p->token.kind == WEFT__TOKEN_OPEN_BRACKET
                                            ? "an integer constant, or several in parentheses"
                                            : "an integer constant");
    const char *why = weft__lang_number(TOKEN_TEXT(p, p->token), p->token.length, &number);
    *value = negative ? -(int64_t)(number.integer & INT64_MAX) : (int64_t)number.integer;
    if (why || number.dtype > WEFT_U64 || number.integer > INT32_MAX || *value < least ||
        *value > most)
        return PARSE_FAIL(p, at, "an integer from %lld to %lld was expected", (long long)least,
                          (long long)most);
    weft__parser_next(p);
    return WEFT_OK;
}

static weft_status parse_axis(weft__parser *p, weft__syntax_attributes *a)
{
    int64_t axis;
    if (a->axes == 0)
        a->column = p->token.at;
    if (a->axes == WEFT_NDIM_MAX)
        return PARSE_FAIL(p, p->token.at, "there are at most %d axes", (int)WEFT_NDIM_MAX);
    TRY(parse_integer(p, -WEFT_NDIM_MAX, WEFT_NDIM_MAX - 1, &axis));
    a->axis[a->axes++] = (int32_t)axis;
    return WEFT_OK;
}

/* axis=1 or axis=(0, 2). */
static weft_status parse_axes(weft__parser *p, weft__syntax_attributes *a)
{
    bool several = p->token.kind == WEFT__TOKEN_OPEN;
    if (!several)
        return parse_axis(p, a);
    do {
        weft__parser_next(p);
        TRY(parse_axis(p, a));
    } while (p->token.kind == WEFT__TOKEN_COMMA);
    if (p->token.kind != WEFT__TOKEN_CLOSE)
        return weft__parser_expected(p, "',' or ')'");
    weft__parser_next(p);
    return WEFT_OK;
}

/* One of some words; gives its position. */
static weft_status parse_word(weft__parser *p, const char *const *words, const char *expected,
                              uint8_t *which)
{
    for (uint8_t i = 0; words[i]; i++)
        if (weft__parser_token_is(p, words[i])) {
            *which = i;
            weft__parser_next(p);
            return WEFT_OK;
        }
    return weft__parser_expected(p, expected);
}

static weft_status parse_keep(weft__parser *p, weft__syntax_attributes *a)
{
    static const char *const words[] = {"false", "true", "0", "1", NULL};
    uint8_t which = 0;
    TRY(parse_word(p, words, "true or false", &which));
    a->keep = which & 1;
    return WEFT_OK;
}

weft_status weft__parse_boundary(weft__parser *p, uint8_t *boundary)
{
    static const char *const words[] = {"unshifted", "clamp", "wrap", "zero", NULL};
    return parse_word(p, words, "unshifted, clamp, wrap or zero", boundary);
}

static weft_status parse_boundary(weft__parser *p, weft__syntax_attributes *a)
{
    a->bounded = true;
    return weft__parse_boundary(p, &a->boundary);
}

static weft_status parse_order(weft__parser *p, weft__syntax_attributes *a)
{
    static const char *const words[] = {"inf", "1", "2", NULL};
    return parse_word(p, words, "1, 2 or inf", &a->order);
}

static weft_status parse_correction(weft__parser *p, weft__syntax_attributes *a)
{
    int64_t correction;
    TRY(parse_integer(p, 0, UINT16_MAX, &correction));
    a->correction = (uint16_t)correction;
    return WEFT_OK;
}

/* value=: an expression follows. */
static weft_status parse_value(weft__parser *p, weft__syntax_attributes *a)
{
    top_frame(p)->value = true;
    a->boundary = WEFT__BOUNDARY_CONSTANT;
    a->bounded = true;
    return WEFT_OK;
}

static const struct {
    const char *name;
    uint8_t bit; /* of those that exclude each other: the same */
    int group;
    int operations[2]; /* if only these of the group have it */
    weft_status (*parse)(weft__parser *p, weft__syntax_attributes *a);
} named[] = {
    {"axis", 1, WEFT__GROUP_reduction, {-1, -1}, parse_axes},
    {"keep", 2, WEFT__GROUP_reduction, {-1, -1}, parse_keep},
    {"order", 4, WEFT__GROUP_reduction, {WEFT__LANG_norm, -1}, parse_order},
    {"correction", 8, WEFT__GROUP_reduction, {WEFT__LANG_var, WEFT__LANG_std}, parse_correction},
    {"boundary", 1, WEFT__GROUP_stencil, {-1, -1}, parse_boundary},
    {"value", 1, WEFT__GROUP_stencil, {-1, -1}, parse_value},
};
enum { NAMED = sizeof named / sizeof named[0] };

static bool takes(const weft__frame *frame, int i)
{
    bool access = frame->kind == WEFT__FRAME_ACCESS; /* takes what shift does */
    if (access)
        return named[i].group == WEFT__GROUP_stencil;
    return named[i].group == facts_of(frame)->group &&
           (named[i].operations[0] < 0 || named[i].operations[0] == frame->operation ||
            named[i].operations[1] == frame->operation);
}

static weft_status unknown_argument(weft__parser *p, weft__token name)
{
    const weft__frame *frame = top_frame(p);
    weft__lang_nearest nearest = {{TOKEN_TEXT(p, name), name.length}, {NULL, 0}, 0};
    char known[80] = "";
    size_t length = 0;
    for (int i = 0; i < NAMED; i++)
        if (takes(frame, i)) {
            weft__lang_offer(&nearest, named[i].name, strlen(named[i].name));
            length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                       length ? ", " : "; there are: ", named[i].name);
        }
    const weft__lang_hint hint = weft__lang_hint_of(&nearest);
    return PARSE_FAIL(p, name.at, "%s has no argument named '%s'%s", name_of(p, frame).text,
                      QUOTE(TOKEN_TEXT(p, name), name.length), hint.text[0] ? hint.text : known);
}

static weft_status add_attributes(weft__parser *p)
{
    weft__lang_syntax *s = p->syntax;
    if (top_frame(p)->attributes >= 0)
        return WEFT_OK;
    TRY(weft__lang_room(&s->attributes, s->attributes_count, &s->attributes_room,
                        sizeof *s->attributes));
    top_frame(p)->attributes = (int32_t)s->attributes_count;
    s->attributes[s->attributes_count++] = (weft__syntax_attributes){.order = 2, .value = -1};
    return WEFT_OK;
}

static weft_status note_named(weft__parser *p, int i)
{
    weft__frame *frame = top_frame(p);
    if ((frame->named & named[i].bit) != 0)
        return PARSE_FAIL(p, p->token.at, "%s takes %s once", name_of(p, frame).text,
                          named[i].group == WEFT__GROUP_stencil ? "one of boundary and value"
                                                                : named[i].name);
    frame->named |= named[i].bit;
    return WEFT_OK;
}

/* At a name and "=". */
static weft_status parse_named(weft__parser *p)
{
    weft__token name = p->token;
    TRY(add_attributes(p));
    for (int i = 0; i < NAMED; i++)
        if (takes(top_frame(p), i) && weft__parser_token_is(p, named[i].name)) {
            TRY(note_named(p, i));
            weft__parser_next(p);
            weft__parser_next(p);
            return named[i].parse(p, &p->syntax->attributes[top_frame(p)->attributes]);
        }
    return unknown_argument(p, name);
}

static bool is_integer_constant(const weft__syntax_node *node)
{
    return node->kind == WEFT__SYNTAX_LITERAL && node->dtype >= WEFT_I8 &&
           node->dtype <= WEFT_U64 && node->value.integer <= INT32_MAX;
}

/* Arguments of stencils and of index: an operand, then integers. */
static weft_status check_constants(weft__parser *p, const weft__frame *frame, uint32_t count)
{
    const weft__lang_facts *facts = facts_of(frame);
    uint32_t first = facts->group == WEFT__GROUP_stencil;
    const int32_t *arguments = p->pending + frame->first;
    const weft__syntax_node *nodes = p->syntax->nodes;
    if (facts->group != WEFT__GROUP_stencil && facts->group != WEFT__GROUP_position)
        return WEFT_OK;
    if (first && (nodes[arguments[0]].kind != WEFT__SYNTAX_OPERAND ||
                  nodes[arguments[0]].column < frame->column))
        return PARSE_FAIL(
            p, frame->column,
            "the first argument of %s is an operand, not an expression; assign that to an "
            "array first",
            facts->name);
    for (uint32_t i = first; i < count; i++)
        if (!is_integer_constant(&nodes[arguments[i]]))
            return PARSE_FAIL(
                p, nodes[arguments[i]].column,
                "argument %u of %s must be an integer constant of less than 2^31; in a kernel, "
                "in(i + n) takes a C number",
                i + 1, facts->name);
    return WEFT_OK;
}

static weft_status wrong_count(weft__parser *p, const weft__frame *frame, uint32_t count)
{
    const weft__lang_facts *facts = facts_of(frame);
    char most[16] = "";
    if (facts->most > facts->least)
        snprintf(most, sizeof most, " to %d", facts->most);
    return PARSE_FAIL(p, frame->column, "%s takes %d%s argument%s; %u %s given%s", facts->name,
                      facts->least, most, facts->most == 1 ? "" : "s", count,
                      count == 1 ? "was" : "were",
                      facts->group == WEFT__GROUP_reduction && (int)count > facts->most
                          ? " (an axis is named: axis=0)"
                          : "");
}

/* min(a, b, c): two at a time. */
static weft_status chain(weft__parser *p, const weft__frame *frame, uint32_t count, int32_t *node)
{
    weft__lang_operation two =
        frame->operation == WEFT__LANG_min ? WEFT__LANG_minimum : WEFT__LANG_maximum;
    if (frame->attributes >= 0)
        return PARSE_FAIL(p, frame->column, "axis and keep go with %s of one array",
                          facts_of(frame)->name);
    *node = p->pending[frame->first];
    for (uint32_t i = 1; i < count; i++) {
        int32_t pair[] = {*node, p->pending[frame->first + i]};
        TRY(weft__parser_call(p, two, frame->column, pair, 2, node));
    }
    return WEFT_OK;
}

/* At the parenthesis that closes the innermost call. */
static weft_status finish_call(weft__parser *p, int32_t *node)
{
    weft__frame frame = *top_frame(p);
    uint32_t count = p->pending_count - frame.first;
    bool call = frame.kind == WEFT__FRAME_CALL;
    bool several = frame.operation == WEFT__LANG_min || frame.operation == WEFT__LANG_max;
    if (call && p->kernel)
        TRY(weft__parse_kernel_call(p, &frame, count));
    if (!call)
        TRY(weft__parse_access_end(p, &frame, count, node));
    else if (several && count > 1)
        TRY(chain(p, &frame, count, node));
    else {
        if (count < facts_of(&frame)->least || count > facts_of(&frame)->most)
            return wrong_count(p, &frame, count);
        TRY(check_constants(p, &frame, count));
        TRY(weft__parser_call(p, (weft__lang_operation)frame.operation, frame.column,
                              p->pending + frame.first, count, node));
        p->syntax->nodes[*node].index = frame.attributes;
    }
    p->pending_count = frame.first;
    p->frames_count--;
    weft__parser_next(p);
    return WEFT_OK;
}

/* Where an argument begins. Named ones are read here, except the expression of value=. */
static weft_status begin_argument(weft__parser *p, int32_t *node)
{
    for (*node = -1;; weft__parser_next(p)) {
        bool has_name =
            p->token.kind == WEFT__TOKEN_NAME && weft__parser_peek(p).kind == WEFT__TOKEN_ASSIGN;
        if (!has_name && top_frame(p)->named)
            return weft__parser_expected(p, "another argument with a name");
        if (!has_name)
            return WEFT_OK;
        TRY(parse_named(p));
        if (top_frame(p)->value)
            return WEFT_OK;
        if (p->token.kind == WEFT__TOKEN_CLOSE)
            return finish_call(p, node);
        if (p->token.kind != WEFT__TOKEN_COMMA)
            return weft__parser_expected(p, "',' or ')'");
    }
}

weft_status weft__parse_argument_end(weft__parser *p, int32_t argument, int32_t *node)
{
    weft__frame *frame = top_frame(p);
    if (frame->value)
        p->syntax->attributes[frame->attributes].value = argument;
    else
        TRY(weft__parser_pend(p, argument));
    top_frame(p)->value = false;
    if (p->token.kind == WEFT__TOKEN_CLOSE)
        return finish_call(p, node);
    if (p->token.kind != WEFT__TOKEN_COMMA)
        return weft__parser_expected(p, "an operator, ',' or ')'");
    weft__parser_next(p);
    return begin_argument(p, node);
}

static weft_dtype dtype_named(const char *text, size_t length)
{
    for (int d = 1; d < WEFT_DTYPE_END; d++) {
        const char *name = weft_dtype_name((weft_dtype)d);
        if (strlen(name) == length && !memcmp(name, text, length))
            return (weft_dtype)d;
    }
    return WEFT_DTYPE_DEFAULT;
}

/* A name with a parenthesis that is no function. */
static weft_status no_function(weft__parser *p, weft__token name)
{
    weft__lexer lexer = {p->lexer.text, p->lexer.length, name.at};
    const char *text = TOKEN_TEXT(p, name);
    lexer.length = name.at + name.length;
    if (weft__names_match(&p->names, &lexer, true) >= 0)
        return PARSE_FAIL(p, name.at, "'%s' is an operand, not a function",
                          QUOTE(text, name.length));
    if (weft__names_local_find(&p->names, text, name.length))
        return PARSE_FAIL(p, name.at, "'%s' is a local, not a function", QUOTE(text, name.length));
    return weft__parse_unknown(p, true);
}

weft_status weft__parse_call(weft__parser *p, weft__token name, int32_t *node)
{
    const char *text = TOKEN_TEXT(p, name);
    weft_dtype dtype = dtype_named(text, name.length);
    weft__lang_operation function = weft__lang_function_named(text, name.length);
    bool elements = p->kernel || p->elements;
    int operand = elements ? weft__parse_operand_named(p, text, name.length) : -1;
    weft__frame frame = {.column = name.at, .attributes = -1, .first = p->pending_count};
    if (operand < 0 && dtype == WEFT_DTYPE_DEFAULT && function == WEFT__LANG_OPERATION_END)
        return no_function(p, name);
    frame.kind = operand >= 0 ? WEFT__FRAME_ACCESS : dtype ? WEFT__FRAME_CAST : WEFT__FRAME_CALL;
    frame.operation = (uint8_t)(operand >= 0 ? operand : dtype ? (int)dtype : (int)function);
    weft__parser_next(p);
    weft__parser_next(p);
    TRY(weft__parser_push(p, frame));
    if (frame.kind == WEFT__FRAME_CAST)
        return WEFT_OK;
    if (p->token.kind == WEFT__TOKEN_CLOSE)
        return finish_call(p, node);
    return begin_argument(p, node);
}
