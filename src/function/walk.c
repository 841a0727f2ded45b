/* Statements of a function that is being written out: what they call comes before them, and what
 * returns becomes an assignment, with the rest of the body in the other branch. */
#include "core/allocate.h"
#include "function/expand_text.h"
#include "function/types.h"
#include <string.h>

/* Whether a statement ends the function. */
typedef enum leaving {
    LEAVES_NEVER,
    LEAVES_THEN, /* an if without else, whose branch does: what follows can be the other one */
    LEAVES_PERHAPS,
    LEAVES_ALWAYS
} leaving;

typedef struct cursor {
    weft__expander *x;
    weft__expand_frame *frame;
    weft__lexer lexer;
    weft__token token;
} cursor;

static weft_status write_statement(cursor *c, bool single, leaving *leaves);

static void next(cursor *c) { c->token = weft__lex(&c->lexer); }

static void go(cursor *c, uint32_t at)
{
    c->lexer.at = at;
    next(c);
}

static bool is_word(const cursor *c, weft__token token, const char *word)
{
    return token.kind == WEFT__TOKEN_NAME && token.length == strlen(word) &&
           !memcmp(c->frame->code.text + token.at, word, token.length);
}

static uint32_t end_of(weft__token token) { return token.at + token.length; }

/* The first of these tokens outside of parentheses; a brace ends it too. */
static weft__token find(const cursor *c, uint32_t from, weft__token_kind kind,
                        weft__token_kind other)
{
    weft__lexer lexer = c->lexer;
    int depth = 0;
    lexer.at = from;
    for (;;) {
        weft__token token = weft__lex(&lexer);
        bool stops = token.kind == WEFT__TOKEN_END || token.kind == WEFT__TOKEN_OPEN_BRACE ||
                     token.kind == WEFT__TOKEN_CLOSE_BRACE;
        if (stops || (!depth && (token.kind == kind || token.kind == other)))
            return token;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
    }
}

static bool has_calls(const cursor *c, uint32_t begin, uint32_t end)
{
    return weft__expand_has_calls(c->x, c->frame, begin, end);
}

/* float a = f(x), b = g(a); each for itself, since a is there when g is called. */
static weft_status write_declarations(cursor *c, uint32_t type, uint32_t names, uint32_t end)
{
    for (uint32_t begin = names;;) {
        weft__token comma = find(c, begin, WEFT__TOKEN_COMMA, WEFT__TOKEN_SEMICOLON);
        uint32_t until = comma.at < end ? comma.at : end;
        TRY(weft__expand_calls(c->x, c->frame, begin, until, NULL));
        TRY(weft__expand_copy(c->x, c->frame, type, names));
        TRY(weft__expand_put(c->x, " "));
        TRY(weft__expand_copy(c->x, c->frame, begin, until));
        if (until == end)
            return WEFT_OK;
        TRY(weft__expand_put(c->x, "; "));
        begin = end_of(comma);
    }
}

/* Everything up to the semicolon. */
static weft_status write_simple(cursor *c, bool single)
{
    uint32_t begin = c->token.at;
    weft__token end = find(c, begin, WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_SEMICOLON);
    weft__lexer type = {c->frame->code.text, end.at, begin};
    bool braces = single && has_calls(c, begin, end.at), whole = false;
    if (braces)
        TRY(weft__expand_put(c->x, "{ "));
    if (has_calls(c, begin, end.at) && weft__function_type(&type))
        TRY(write_declarations(c, begin, type.at, end.at));
    else {
        TRY(weft__expand_calls(c->x, c->frame, begin, end.at, &whole));
        if (!whole)
            TRY(weft__expand_copy(c->x, c->frame, begin, end.at));
    }
    if (!whole && end.kind == WEFT__TOKEN_SEMICOLON)
        TRY(weft__expand_put(c->x, ";"));
    if (braces)
        TRY(weft__expand_put(c->x, " }"));
    go(c, end.kind == WEFT__TOKEN_SEMICOLON ? end_of(end) : end.at);
    return WEFT_OK;
}

/* return v; of a function that is called: its value is what the call stands for. */
static weft_status write_return(cursor *c, bool single, leaving *leaves)
{
    weft__expander *x = c->x;
    weft__expand_frame *frame = c->frame;
    uint32_t begin = end_of(c->token);
    weft__token end = find(c, begin, WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_SEMICOLON);
    weft__token first = find(c, begin, WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_COMMA);
    weft__lexer value = {frame->code.text, first.at, begin};
    *leaves = LEAVES_ALWAYS;
    bool has_value = weft__lex(&value).kind != WEFT__TOKEN_END;
    frame->returns |= has_value;
    if (single)
        TRY(weft__expand_put(x, "{ "));
    TRY(weft__expand_calls(x, frame, begin, end.at, NULL));
    if (has_value && frame->value) {
        TRY(weft__expand_put(x, "%s =", frame->result));
        TRY(weft__expand_copy(x, frame, begin, first.at));
        TRY(weft__expand_put(x, ";"));
    }
    if (frame->flagged)
        TRY(weft__expand_put(x, " %s = 1;", frame->left));
    TRY(weft__expand_put(x, "%s%s", frame->loops ? " break;" : "", single ? " }" : ""));
    go(c, end.kind == WEFT__TOKEN_SEMICOLON ? end_of(end) : end.at);
    return WEFT_OK;
}

/* A branch, in braces where a return may be in it. */
static weft_status write_branch(cursor *c, leaving *leaves)
{
    if (!c->frame->number)
        return write_statement(c, true, leaves);
    TRY(weft__expand_put(c->x, "{ "));
    TRY(write_statement(c, false, leaves));
    return weft__expand_put(c->x, " }");
}

static weft_status write_if(cursor *c, bool single, leaving *leaves)
{
    uint32_t begin = c->token.at;
    weft__lexer lexer = c->lexer;
    uint32_t open = weft__lex(&lexer).at;
    weft__token close = find(c, open + 1, WEFT__TOKEN_CLOSE, WEFT__TOKEN_CLOSE);
    bool braces = single && has_calls(c, begin, close.at);
    leaving then, other = LEAVES_NEVER;
    if (braces)
        TRY(weft__expand_put(c->x, "{ "));
    TRY(weft__expand_calls(c->x, c->frame, open, close.at, NULL));
    TRY(weft__expand_copy(c->x, c->frame, begin, end_of(close)));
    TRY(weft__expand_put(c->x, " "));
    go(c, end_of(close));
    TRY(write_branch(c, &then));
    bool has_other = is_word(c, c->token, "else");
    if (has_other) {
        TRY(weft__expand_put(c->x, " else "));
        next(c);
        TRY(write_statement(c, true, &other));
    }
    if (braces)
        TRY(weft__expand_put(c->x, " }"));
    *leaves = LEAVES_PERHAPS;
    if (then == LEAVES_ALWAYS && other == LEAVES_ALWAYS)
        *leaves = LEAVES_ALWAYS;
    else if (then == LEAVES_ALWAYS && !braces && (!has_other || other == LEAVES_THEN))
        *leaves = LEAVES_THEN;
    else if (then == LEAVES_NEVER && other == LEAVES_NEVER)
        *leaves = LEAVES_NEVER;
    return WEFT_OK;
}

/* The body of a loop; before it, what its condition calls. */
static weft_status write_loop_body(cursor *c, uint32_t begin, uint32_t end, leaving *leaves)
{
    leaving body;
    bool calls = has_calls(c, begin, end);
    if (calls) {
        TRY(weft__expand_put(c->x, "{ "));
        TRY(weft__expand_calls(c->x, c->frame, begin, end, NULL));
        TRY(weft__expand_put(c->x, "if (!("));
        TRY(weft__expand_copy(c->x, c->frame, begin, end));
        TRY(weft__expand_put(c->x, ")) break; "));
    }
    c->frame->loops++;
    TRY(write_statement(c, !calls, &body));
    c->frame->loops--;
    if (calls)
        TRY(weft__expand_put(c->x, " }"));
    *leaves = body == LEAVES_NEVER ? LEAVES_NEVER : LEAVES_PERHAPS;
    c->frame->flagged |= body != LEAVES_NEVER;
    return WEFT_OK;
}

static weft_status write_while(cursor *c, leaving *leaves)
{
    uint32_t begin = c->token.at;
    weft__lexer lexer = c->lexer;
    uint32_t open = weft__lex(&lexer).at;
    weft__token close = find(c, open + 1, WEFT__TOKEN_CLOSE, WEFT__TOKEN_CLOSE);
    if (has_calls(c, open + 1, close.at))
        TRY(weft__expand_put(c->x, "while (1) "));
    else {
        TRY(weft__expand_copy(c->x, c->frame, begin, end_of(close)));
        TRY(weft__expand_put(c->x, " "));
    }
    go(c, end_of(close));
    return write_loop_body(c, open + 1, close.at, leaves);
}

static weft_status check_for(const cursor *c, uint32_t open, weft__token first, weft__token second,
                             weft__token close)
{
    weft__token comma = find(c, open + 1, WEFT__TOKEN_COMMA, WEFT__TOKEN_SEMICOLON);
    if (has_calls(c, end_of(second), close.at) ||
        (comma.kind == WEFT__TOKEN_COMMA && has_calls(c, open, first.at)))
        return EXPAND_FAIL(c->x, c->frame, c->token.at, WEFT_ERROR_UNSUPPORTED,
                           "a function is called in the step of this loop, or between two "
                           "variables that it declares; call it before the loop, or in its body");
    return WEFT_OK;
}

static weft_status write_for(cursor *c, bool single, leaving *leaves)
{
    uint32_t begin = c->token.at;
    weft__lexer lexer = c->lexer;
    uint32_t open = weft__lex(&lexer).at;
    weft__token first = find(c, open + 1, WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_SEMICOLON);
    weft__token second = find(c, end_of(first), WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_SEMICOLON);
    weft__token close = find(c, end_of(second), WEFT__TOKEN_CLOSE, WEFT__TOKEN_CLOSE);
    bool braces = single && has_calls(c, open, first.at);
    TRY(check_for(c, open, first, second, close));
    if (braces)
        TRY(weft__expand_put(c->x, "{ "));
    TRY(weft__expand_calls(c->x, c->frame, open, first.at, NULL));
    if (has_calls(c, end_of(first), second.at)) {
        TRY(weft__expand_copy(c->x, c->frame, begin, end_of(first)));
        TRY(weft__expand_copy(c->x, c->frame, second.at, end_of(close)));
    } else
        TRY(weft__expand_copy(c->x, c->frame, begin, end_of(close)));
    TRY(weft__expand_put(c->x, " "));
    go(c, end_of(close));
    TRY(write_loop_body(c, end_of(first), second.at, leaves));
    return braces ? weft__expand_put(c->x, " }") : WEFT_OK;
}

static weft_status write_sequence(cursor *c, weft__token_kind end, leaving *leaves);

/* What follows a statement that may have returned: only if it has not. */
static weft_status write_rest(cursor *c, weft__token_kind end, leaving before, leaving *leaves)
{
    leaving rest;
    if (before == LEAVES_THEN)
        TRY(weft__expand_put(c->x, " else { "));
    else {
        c->frame->flagged = true;
        TRY(weft__expand_put(c->x, " if (!%s) { ", c->frame->left));
    }
    TRY(write_sequence(c, end, &rest));
    *leaves = rest == LEAVES_ALWAYS ? LEAVES_ALWAYS : LEAVES_PERHAPS;
    return weft__expand_put(c->x, " }");
}

/* Statements that nothing leads to. */
static void skip(cursor *c, weft__token_kind end)
{
    for (int depth = 0; c->token.kind != WEFT__TOKEN_END && (depth || c->token.kind != end);
         next(c))
        depth +=
            (c->token.kind == WEFT__TOKEN_OPEN_BRACE) - (c->token.kind == WEFT__TOKEN_CLOSE_BRACE);
}

/* Statements up to `end`, which stays. */
static weft_status write_sequence(cursor *c, weft__token_kind end, leaving *leaves)
{
    *leaves = LEAVES_NEVER;
    while (c->token.kind != end && c->token.kind != WEFT__TOKEN_END) {
        bool loop = is_word(c, c->token, "for") || is_word(c, c->token, "while");
        leaving one;
        TRY(write_statement(c, false, &one));
        TRY(weft__expand_put(c->x, " "));
        bool more = c->token.kind != end && c->token.kind != WEFT__TOKEN_END;
        if (one == LEAVES_ALWAYS) {
            *leaves = one;
            skip(c, end);
        } else if (one == LEAVES_PERHAPS && c->frame->loops) {
            *leaves = one;
            if (loop)
                TRY(weft__expand_put(c->x, "if (%s) break; ", c->frame->left));
        } else if (one != LEAVES_NEVER && more)
            return write_rest(c, end, one, leaves);
        else if (one != LEAVES_NEVER)
            *leaves = LEAVES_PERHAPS;
    }
    return WEFT_OK;
}

static weft_status write_block(cursor *c, leaving *leaves)
{
    TRY(weft__expand_copy(c->x, c->frame, c->token.at, end_of(c->token)));
    next(c);
    TRY(weft__expand_put(c->x, " "));
    TRY(write_sequence(c, WEFT__TOKEN_CLOSE_BRACE, leaves));
    TRY(weft__expand_copy(c->x, c->frame, c->token.at, end_of(c->token)));
    next(c);
    return WEFT_OK;
}

static weft_status write_any(cursor *c, bool single, leaving *leaves)
{
    if (c->token.kind == WEFT__TOKEN_OPEN_BRACE)
        return write_block(c, leaves);
    if (is_word(c, c->token, "if"))
        return write_if(c, single, leaves);
    if (is_word(c, c->token, "while"))
        return write_while(c, leaves);
    if (is_word(c, c->token, "for"))
        return write_for(c, single, leaves);
    if (is_word(c, c->token, "return") && c->frame->number)
        return write_return(c, single, leaves);
    return write_simple(c, single);
}

static weft_status write_statement(cursor *c, bool single, leaving *leaves)
{
    *leaves = LEAVES_NEVER;
    if (c->frame->depth == WEFT__FUNCTION_DEPTH_MAX)
        return EXPAND_FAIL(c->x, c->frame, c->token.at, WEFT_ERROR_SYNTAX,
                           "statements are nested more than %d deep",
                           (int)WEFT__FUNCTION_DEPTH_MAX);
    uint32_t at = c->token.at;
    c->frame->depth++;
    weft_status status = write_any(c, single, leaves);
    c->frame->depth--;
    if (status == WEFT_OK && c->token.at == at && c->token.kind != WEFT__TOKEN_END) {
        /* a brace that closes nothing: the parser says so */
        TRY(weft__expand_copy(c->x, c->frame, at, end_of(c->token)));
        next(c);
    }
    return status;
}

weft_status weft__expand_body(weft__expander *x, weft__expand_frame *frame)
{
    cursor c = {.x = x, .frame = frame};
    leaving leaves;
    c.lexer = (weft__lexer){frame->code.text, (uint32_t)frame->code.length, 0};
    frame->calls_count = 0;
    frame->loops = frame->depth = 0;
    next(&c);
    return write_sequence(&c, WEFT__TOKEN_END, &leaves);
}
