/* Expressions: a Pratt parser whose stack is an array, so that no text can overflow the C stack. */
#include "lang/parser.h"
#include <string.h>

typedef struct binary {
    uint8_t power, operation;
} binary;

/* C's binary operators; 0 binds not at all. */
static const binary binaries[WEFT__TOKEN_KINDS] = {
    [WEFT__TOKEN_OR_OR] = {1, WEFT__LANG_logical_or},
    [WEFT__TOKEN_AND_AND] = {2, WEFT__LANG_logical_and},
    [WEFT__TOKEN_OR] = {3, WEFT__LANG_bitwise_or},
    [WEFT__TOKEN_XOR] = {4, WEFT__LANG_bitwise_xor},
    [WEFT__TOKEN_AND] = {5, WEFT__LANG_bitwise_and},
    [WEFT__TOKEN_EQUAL] = {6, WEFT__LANG_equal},
    [WEFT__TOKEN_NOT_EQUAL] = {6, WEFT__LANG_not_equal},
    [WEFT__TOKEN_LESS] = {7, WEFT__LANG_less},
    [WEFT__TOKEN_LESS_EQUAL] = {7, WEFT__LANG_less_equal},
    [WEFT__TOKEN_GREATER] = {7, WEFT__LANG_greater},
    [WEFT__TOKEN_GREATER_EQUAL] = {7, WEFT__LANG_greater_equal},
    [WEFT__TOKEN_SHIFT_LEFT] = {8, WEFT__LANG_shift_left},
    [WEFT__TOKEN_SHIFT_RIGHT] = {8, WEFT__LANG_shift_right},
    [WEFT__TOKEN_PLUS] = {9, WEFT__LANG_add},
    [WEFT__TOKEN_MINUS] = {9, WEFT__LANG_subtract},
    [WEFT__TOKEN_STAR] = {10, WEFT__LANG_multiply},
    [WEFT__TOKEN_SLASH] = {10, WEFT__LANG_divide},
    [WEFT__TOKEN_PERCENT] = {10, WEFT__LANG_modulo},
};

void weft__parser_next(weft__parser *p) { p->token = weft__lex(&p->lexer); }

weft__token weft__parser_peek(const weft__parser *p)
{
    weft__lexer ahead = p->lexer;
    return weft__lex(&ahead);
}

bool weft__parser_token_is(const weft__parser *p, const char *text)
{
    size_t length = strlen(text);
    return p->token.length == length && !memcmp(TOKEN_TEXT(p, p->token), text, length);
}

/* What is written otherwise in Python, or nothing. */
static const char *advice_on(const weft__parser *p)
{
    static const char *const words[][2] = {
        {"and", "; both is x && y"},
        {"or", "; either is x || y"},
        {"if", "; where(condition, x, y) chooses between elements"},
    };
    const weft__token t = p->token;
    if (t.kind == WEFT__TOKEN_STAR && t.at && p->lexer.text[t.at - 1] == '*')
        return "; a power is pow(x, y)";
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (t.kind == WEFT__TOKEN_NAME && weft__parser_token_is(p, words[k][0]))
            return words[k][1];
    return "";
}

weft_status weft__parser_expected(weft__parser *p, const char *what)
{
    weft__token t = p->token;
    if (t.kind == WEFT__TOKEN_BAD)
        return PARSE_FAIL(p, t.at, "%s: '%s'", t.why, QUOTE(TOKEN_TEXT(p, t), t.length));
    if (t.kind == WEFT__TOKEN_END)
        return PARSE_FAIL(p, t.at, "%s was expected before the end", what);
    if (t.kind == WEFT__TOKEN_INCREMENT || t.kind == WEFT__TOKEN_DECREMENT)
        return PARSE_FAIL(
            p, t.at, "there is no '%s'; write %s= 1, or put a blank between two signs",
            QUOTE(TOKEN_TEXT(p, t), t.length), t.kind == WEFT__TOKEN_INCREMENT ? "+" : "-");
    return PARSE_FAIL(p, t.at, "%s was expected, not '%s'%s", what,
                      QUOTE(TOKEN_TEXT(p, t), t.length), advice_on(p));
}

weft_status weft__parser_push(weft__parser *p, weft__frame frame)
{
    if (p->frames_count == WEFT__LANG_DEPTH_MAX)
        return PARSE_FAIL(p, frame.column, "the expression is nested more than %d deep",
                          (int)WEFT__LANG_DEPTH_MAX);
    TRY(weft__lang_room(&p->frames, p->frames_count, &p->frames_room, sizeof *p->frames));
    p->frames[p->frames_count++] = frame;
    return WEFT_OK;
}

weft_status weft__parser_pend(weft__parser *p, int32_t node)
{
    TRY(weft__lang_room(&p->pending, p->pending_count, &p->pending_room, sizeof *p->pending));
    p->pending[p->pending_count++] = node;
    return WEFT_OK;
}

weft_status weft__parser_node(weft__parser *p, weft__syntax_node node, int32_t *result)
{
    weft__lang_syntax *s = p->syntax;
    if (s->nodes_count == WEFT__LANG_NODES_MAX)
        return PARSE_FAIL(p, node.column, "the program has more than %d operations; split it",
                          (int)WEFT__LANG_NODES_MAX);
    TRY(weft__lang_room(&s->nodes, s->nodes_count, &s->nodes_room, sizeof *s->nodes));
    *result = (int32_t)s->nodes_count++;
    s->nodes[*result] = node;
    return WEFT_OK;
}

weft_status weft__parser_call(weft__parser *p, weft__lang_operation operation, uint32_t column,
                              const int32_t *arguments, uint32_t count, int32_t *result)
{
    weft__lang_syntax *s = p->syntax;
    weft__syntax_node node = {.kind = WEFT__SYNTAX_CALL,
                              .operation = (uint8_t)operation,
                              .column = column,
                              .first = s->arguments_count,
                              .count = count,
                              .index = -1};
    for (uint32_t i = 0; i < count; i++) {
        TRY(weft__lang_room(&s->arguments, s->arguments_count, &s->arguments_room,
                            sizeof *s->arguments));
        s->arguments[s->arguments_count++] = arguments[i];
    }
    return weft__parser_node(p, node, result);
}

static void negate(weft__syntax_node *literal)
{
    if (literal->dtype > WEFT_U64) {
        literal->value.real = -literal->value.real;
        return;
    }
    literal->negative = literal->value.integer && !literal->negative;
    bool large = literal->value.integer > INT64_MAX && !literal->negative;
    literal->dtype = large ? WEFT_U64 : WEFT_I64;
}

/* A sign before an untyped literal is part of it. */
static bool sign_literal(weft__parser *p, weft__frame frame, int32_t node)
{
    weft__syntax_node *literal = &p->syntax->nodes[node];
    bool fresh = node == (int32_t)p->syntax->nodes_count - 1 && literal->column > frame.column;
    bool sign = frame.operation == WEFT__LANG_negative || frame.operation == WEFT__LANG_positive;
    if (!fresh || !sign || literal->kind != WEFT__SYNTAX_LITERAL || !literal->weak ||
        literal->dtype == WEFT_BOOL)
        return false;
    if (literal->dtype == WEFT_U64 && literal->value.integer > (uint64_t)INT64_MAX + 1)
        return false;
    if (frame.operation == WEFT__LANG_negative)
        negate(literal);
    literal->column = frame.column;
    return true;
}

static weft_status cast(weft__parser *p, weft__frame frame, int32_t *node)
{
    TRY(weft__parser_call(p, WEFT__LANG_positive, frame.column, node, 1, node));
    p->syntax->nodes[*node].kind = WEFT__SYNTAX_CAST;
    p->syntax->nodes[*node].dtype = frame.operation;
    return WEFT_OK;
}

/* Closes the innermost frame, whose last operand is `node`. */
static weft_status reduce(weft__parser *p, int32_t *node)
{
    weft__frame frame = p->frames[--p->frames_count];
    weft__lang_operation operation = (weft__lang_operation)frame.operation;
    int32_t two[] = {frame.left, *node}, three[] = {frame.left, frame.middle, *node};
    if (frame.kind == WEFT__FRAME_PREFIX)
        return cast(p, frame, node);
    if (frame.kind == WEFT__FRAME_BINARY)
        return weft__parser_call(p, operation, frame.column, two, 2, node);
    if (frame.kind == WEFT__FRAME_ELSE)
        return weft__parser_call(p, WEFT__LANG_choose, frame.column, three, 3, node);
    if (sign_literal(p, frame, *node))
        return WEFT_OK;
    return weft__parser_call(p, operation, frame.column, two + 1, 1, node);
}

/* Closes operators that bind at least as strongly as `power`, and with power 0 also what follows :
 */
static weft_status reduce_all(weft__parser *p, uint32_t base, int power, int32_t *node)
{
    while (p->frames_count > base) {
        const weft__frame *top = &p->frames[p->frames_count - 1];
        bool binds = (top->kind == WEFT__FRAME_UNARY || top->kind == WEFT__FRAME_PREFIX ||
                      top->kind == WEFT__FRAME_BINARY) &&
                     top->power >= power;
        if (!binds && !(power == 0 && top->kind == WEFT__FRAME_ELSE))
            break;
        TRY(reduce(p, node));
    }
    return WEFT_OK;
}

/* After ":", with everything closed that was open since "?". */
static weft_status turn_to_else(weft__parser *p, uint32_t base, int32_t *node)
{
    weft__frame *top = p->frames_count > base ? &p->frames[p->frames_count - 1] : NULL;
    if (!top || top->kind != WEFT__FRAME_THEN)
        return PARSE_FAIL(p, p->token.at, "':' without a '?' before it");
    top->kind = WEFT__FRAME_ELSE;
    top->middle = *node;
    *node = -1;
    weft__parser_next(p);
    return WEFT_OK;
}

/* At a token that closes something, or that ends the expression (then *done). */
static weft_status close_frame(weft__parser *p, uint32_t base, int32_t *node, bool *done)
{
    TRY(reduce_all(p, base, 0, node));
    if (p->token.kind == WEFT__TOKEN_COLON)
        return turn_to_else(p, base, node);
    *done = p->frames_count == base;
    if (*done)
        return WEFT_OK;
    weft__frame top = p->frames[p->frames_count - 1];
    if (top.kind == WEFT__FRAME_THEN)
        return weft__parser_expected(p, "':' and another value");
    if (top.kind == WEFT__FRAME_CALL || top.kind == WEFT__FRAME_ACCESS)
        return weft__parse_argument_end(p, *node, node);
    if (p->token.kind != WEFT__TOKEN_CLOSE)
        return weft__parser_expected(p, "an operator or ')'");
    p->frames_count--;
    weft__parser_next(p);
    if (top.kind == WEFT__FRAME_GROUP)
        return WEFT_OK;
    return cast(p, top, node);
}

/* After a value: an operator, or the end of something. */
static weft_status parse_operator(weft__parser *p, uint32_t base, int32_t *node, bool *done)
{
    binary b = binaries[p->token.kind];
    weft__frame frame = {.kind = WEFT__FRAME_BINARY,
                         .operation = b.operation,
                         .power = b.power,
                         .column = p->token.at};
    if (p->token.kind == WEFT__TOKEN_QUESTION)
        frame.kind = WEFT__FRAME_THEN;
    else if (!b.power)
        return close_frame(p, base, node, done);
    TRY(reduce_all(p, base, b.power ? b.power : 1, node));
    frame.left = *node;
    *node = -1;
    weft__parser_next(p);
    return weft__parser_push(p, frame);
}

weft_status weft__parse_expression(weft__parser *p, int32_t *node)
{
    uint32_t base = p->frames_count;
    bool done = false;
    *node = -1;
    while (!done) {
        if (*node < 0)
            TRY(weft__parse_primary(p, node));
        else
            TRY(parse_operator(p, base, node, &done));
    }
    return WEFT_OK;
}
