/* From the text of a body to statements: their structure first, then their expressions, when all
 * variables are known. */
#include "core/allocate.h"
#include "function/function.h"
#include "function/types.h"
#include "lang/parser.h"
#include <string.h>

typedef struct parser {
    weft__function *f;
    weft__lexer lexer; /* behind `token` */
    weft__token token;
    int depth, loops;
} parser;

static weft_status parse_statement(parser *p, int32_t *made);

static const char *text_of(const parser *p, weft__token token)
{
    return p->f->code.text + token.at;
}

static void next(parser *p) { p->token = weft__lex(&p->lexer); }

static weft__token peek(const parser *p)
{
    weft__lexer ahead = p->lexer;
    return weft__lex(&ahead);
}

static bool is_word(const parser *p, const char *word)
{
    return p->token.kind == WEFT__TOKEN_NAME && p->token.length == strlen(word) &&
           !memcmp(text_of(p, p->token), word, p->token.length);
}

static weft_status expected(const parser *p, const char *what)
{
    const char *text = text_of(p, p->token);
    if (p->token.kind == WEFT__TOKEN_END)
        return FUNCTION_FAIL(p->f, p->token.at, WEFT_ERROR_SYNTAX, "%s was expected before the end",
                             what);
    return FUNCTION_FAIL(p->f, p->token.at, WEFT_ERROR_SYNTAX, "%s was expected, not '%s'", what,
                         QUOTE(text, p->token.length));
}

static weft_status take(parser *p, weft__token_kind kind, const char *what)
{
    if (p->token.kind != kind)
        return expected(p, what);
    next(p);
    return WEFT_OK;
}

static weft_status new_statement(parser *p, weft__function_kind kind, int32_t *made)
{
    weft__function *f = p->f;
    TRY(weft__lang_room(&f->statements, f->statements_count, &f->statements_room,
                        sizeof *f->statements));
    *made = (int32_t)f->statements_count++;
    f->statements[*made] = (weft__function_statement){.kind = (uint8_t)kind,
                                                      .variable = -1,
                                                      .part = -1,
                                                      .child = -1,
                                                      .other = -1,
                                                      .next = -1,
                                                      .init = -1,
                                                      .step = -1,
                                                      .host = -1,
                                                      .nest = -1,
                                                      .group = -1,
                                                      .join = -1,
                                                      .column = p->token.at};
    return WEFT_OK;
}

static weft_status new_part(parser *p, int32_t statement, uint32_t begin, uint32_t end, bool value)
{
    weft__function *f = p->f;
    TRY(weft__lang_room(&f->parts, f->parts_count, &f->parts_room, sizeof *f->parts));
    if (f->statements[statement].part < 0)
        f->statements[statement].part = (int32_t)f->parts_count;
    f->statements[statement].parts_count++;
    f->parts[f->parts_count++] = (weft__function_part){.begin = begin, .end = end, .value = value};
    return WEFT_OK;
}

static weft_status declare(parser *p, weft__token name, weft_dtype dtype, int32_t *variable)
{
    weft__function *f = p->f;
    const char *text = text_of(p, name);
    *variable = weft__function_variable_named(f, text, name.length);
    if (*variable < 0) {
        if (f->variables_count == WEFT__FUNCTION_VARIABLES_MAX)
            return FUNCTION_FAIL(f, name.at, WEFT_ERROR_SYNTAX,
                                 "a function has at most %d variables",
                                 (int)WEFT__FUNCTION_VARIABLES_MAX);
        TRY(weft__lang_room(&f->variables, f->variables_count, &f->variables_room,
                            sizeof *f->variables));
        *variable = (int32_t)f->variables_count++;
        f->variables[*variable] = (weft__function_variable){{text, name.length}, 0, false};
    }
    weft__function_variable *v = &f->variables[*variable];
    if (dtype && v->parameter)
        return FUNCTION_FAIL(f, name.at, WEFT_ERROR_SYNTAX,
                             "'%s' is a parameter and cannot be declared",
                             QUOTE(text, name.length));
    if (dtype && v->dtype && v->dtype != (uint8_t)dtype)
        return FUNCTION_FAIL(
            f, name.at, WEFT_ERROR_SYNTAX,
            "'%s' was declared as %s before; a variable has one type in a function",
            QUOTE(text, name.length), weft_dtype_name((weft_dtype)v->dtype));
    if (dtype)
        v->dtype = (uint8_t)dtype;
    return WEFT_OK;
}

/* Moves to the token that ends an expression: one of the two, outside of parentheses. */
static weft_status skip(parser *p, weft__token_kind end, weft__token_kind other, uint32_t *at)
{
    int depth = 0;
    for (;; next(p)) {
        weft__token_kind kind = p->token.kind;
        if (!depth && (kind == end || kind == other))
            break;
        depth += (kind == WEFT__TOKEN_OPEN) - (kind == WEFT__TOKEN_CLOSE);
        bool stray = kind == WEFT__TOKEN_OPEN_BRACE || kind == WEFT__TOKEN_CLOSE_BRACE ||
                     kind == WEFT__TOKEN_SEMICOLON;
        if (depth < 0 || stray || kind == WEFT__TOKEN_END || kind == WEFT__TOKEN_BAD)
            return expected(p, end == WEFT__TOKEN_CLOSE || depth > 0 ? "')'" : "';'");
    }
    *at = p->token.at;
    return WEFT_OK;
}

/* Expressions with commas between, up to `end`. */
static weft_status parse_list(parser *p, int32_t statement, weft__token_kind end)
{
    if (p->token.kind == end)
        return WEFT_OK;
    for (;;) {
        uint32_t begin = p->token.at, at;
        TRY(skip(p, end, WEFT__TOKEN_COMMA, &at));
        TRY(new_part(p, statement, begin, at, true));
        if (p->token.kind == end)
            return WEFT_OK;
        next(p);
    }
}

/* ++i, i++, i--. */
static weft_status parse_step(parser *p, int32_t *made)
{
    bool before = p->token.kind != WEFT__TOKEN_NAME;
    weft__token sign = before ? p->token : peek(p);
    TRY(new_statement(p, WEFT__STATEMENT_STEP, made));
    if (before)
        next(p);
    if (p->token.kind != WEFT__TOKEN_NAME)
        return expected(p, "a variable");
    weft__token name = p->token;
    next(p);
    if (!before)
        next(p);
    p->f->statements[*made].delta = sign.kind == WEFT__TOKEN_INCREMENT ? 1 : -1;
    return declare(p, name, WEFT_DTYPE_DEFAULT, &p->f->statements[*made].variable);
}

static bool is_sign(weft__token_kind kind)
{
    return kind == WEFT__TOKEN_INCREMENT || kind == WEFT__TOKEN_DECREMENT;
}

/* An assignment, up to `end`, which stays. */
static weft_status parse_assignment(parser *p, weft__token_kind end, int32_t *made)
{
    uint32_t begin = p->token.at, at;
    int32_t variable;
    if (is_sign(p->token.kind) || (p->token.kind == WEFT__TOKEN_NAME && is_sign(peek(p).kind)))
        return parse_step(p, made);
    TRY(new_statement(p, WEFT__STATEMENT_ASSIGN, made));
    if (p->token.kind != WEFT__TOKEN_NAME)
        return expected(p, "a statement");
    if (is_word(p, "do") || is_word(p, "switch"))
        return FUNCTION_FAIL(p->f, begin, WEFT_ERROR_SYNTAX, "there is no '%s'; write %s",
                             QUOTE(text_of(p, p->token), p->token.length),
                             is_word(p, "do") ? "while" : "if and else");
    if (weft__function_assigns(peek(p).kind)) {
        if (weft__is_reserved(text_of(p, p->token), p->token.length))
            return expected(p, "a variable");
        TRY(declare(p, p->token, WEFT_DTYPE_DEFAULT, &variable));
        p->f->statements[*made].variable = variable;
    }
    TRY(skip(p, end, end, &at));
    return new_part(p, *made, begin, at, false);
}

/* One name of a declaration, whose type was read. */
static weft_status parse_declared(parser *p, weft_dtype dtype, weft__token_kind end, int32_t *made)
{
    uint32_t at;
    int32_t variable;
    weft__token name = p->token;
    TRY(new_statement(p, WEFT__STATEMENT_DECLARE, made));
    TRY(take(p, WEFT__TOKEN_NAME, "a variable"));
    TRY(declare(p, name, dtype, &variable));
    p->f->statements[*made].variable = variable;
    p->f->statements[*made].dtype = (uint8_t)dtype;
    if (p->token.kind == WEFT__TOKEN_OPEN) {
        p->f->statements[*made].kind = WEFT__STATEMENT_ARRAY;
        next(p);
        TRY(parse_list(p, *made, WEFT__TOKEN_CLOSE));
        next(p);
        if (p->f->statements[*made].parts_count < 1 ||
            p->f->statements[*made].parts_count > WEFT_NDIM_MAX)
            return FUNCTION_FAIL(p->f, name.at, WEFT_ERROR_SHAPE, "an array has 1 to %d sizes",
                                 (int)WEFT_NDIM_MAX);
        return WEFT_OK;
    }
    if (p->token.kind != WEFT__TOKEN_ASSIGN)
        return WEFT_OK;
    next(p);
    uint32_t begin = p->token.at;
    TRY(skip(p, end, WEFT__TOKEN_COMMA, &at));
    return new_part(p, *made, begin, at, true);
}

/* float s = 0, t(n): a block of declarations, if there are several. */
static weft_status parse_declaration(parser *p, weft_dtype dtype, weft__token_kind end,
                                     int32_t *made)
{
    int32_t block, last, more;
    TRY(parse_declared(p, dtype, end, made));
    if (p->token.kind != WEFT__TOKEN_COMMA)
        return WEFT_OK;
    TRY(new_statement(p, WEFT__STATEMENT_BLOCK, &block));
    p->f->statements[block].child = last = *made;
    while (p->token.kind == WEFT__TOKEN_COMMA) {
        next(p);
        TRY(parse_declared(p, dtype, end, &more));
        p->f->statements[last].next = more;
        last = more;
    }
    *made = block;
    return WEFT_OK;
}

/* A type of C or Weft at the lexer's position, which then moves behind it. */
static weft_dtype take_type(parser *p)
{
    weft__lexer lexer = {p->lexer.text, p->lexer.length, p->token.at};
    weft_dtype dtype = weft__function_type(&lexer);
    if (!dtype)
        return WEFT_DTYPE_DEFAULT;
    p->lexer = lexer;
    next(p);
    return dtype;
}

static weft_status parse_simple(parser *p, weft__token_kind end, int32_t *made)
{
    weft_dtype dtype = p->token.kind == WEFT__TOKEN_NAME ? take_type(p) : WEFT_DTYPE_DEFAULT;
    return dtype ? parse_declaration(p, dtype, end, made) : parse_assignment(p, end, made);
}

/* The condition in parentheses. */
static weft_status parse_condition(parser *p, int32_t statement)
{
    uint32_t begin, at;
    TRY(take(p, WEFT__TOKEN_OPEN, "'('"));
    begin = p->token.at;
    TRY(skip(p, WEFT__TOKEN_CLOSE, WEFT__TOKEN_CLOSE, &at));
    if (at == begin)
        return expected(p, "a condition");
    next(p);
    return new_part(p, statement, begin, at, true);
}

static weft_status parse_if(parser *p, int32_t *made)
{
    int32_t inner;
    TRY(new_statement(p, WEFT__STATEMENT_IF, made));
    next(p);
    TRY(parse_condition(p, *made));
    TRY(parse_statement(p, &inner));
    p->f->statements[*made].child = inner;
    if (!is_word(p, "else"))
        return WEFT_OK;
    next(p);
    TRY(parse_statement(p, &inner));
    p->f->statements[*made].other = inner;
    return WEFT_OK;
}

static weft_status parse_body(parser *p, int32_t loop)
{
    int32_t inner;
    p->loops++;
    TRY(parse_statement(p, &inner));
    p->loops--;
    p->f->statements[loop].child = inner;
    return WEFT_OK;
}

static weft_status parse_while(parser *p, int32_t *made)
{
    TRY(new_statement(p, WEFT__STATEMENT_WHILE, made));
    next(p);
    TRY(parse_condition(p, *made));
    return parse_body(p, *made);
}

static weft_status parse_for(parser *p, int32_t *made)
{
    int32_t inner;
    uint32_t begin, at;
    TRY(new_statement(p, WEFT__STATEMENT_FOR, made));
    next(p);
    TRY(take(p, WEFT__TOKEN_OPEN, "'('"));
    if (p->token.kind != WEFT__TOKEN_SEMICOLON) {
        TRY(parse_simple(p, WEFT__TOKEN_SEMICOLON, &inner));
        p->f->statements[*made].init = inner;
    }
    TRY(take(p, WEFT__TOKEN_SEMICOLON, "';'"));
    begin = p->token.at;
    TRY(skip(p, WEFT__TOKEN_SEMICOLON, WEFT__TOKEN_SEMICOLON, &at));
    if (at > begin)
        TRY(new_part(p, *made, begin, at, true));
    next(p);
    if (p->token.kind != WEFT__TOKEN_CLOSE) {
        TRY(parse_assignment(p, WEFT__TOKEN_CLOSE, &inner));
        p->f->statements[*made].step = inner;
    }
    TRY(take(p, WEFT__TOKEN_CLOSE, "')'"));
    return parse_body(p, *made);
}

static weft_status parse_return(parser *p, int32_t *made)
{
    TRY(new_statement(p, WEFT__STATEMENT_RETURN, made));
    next(p);
    TRY(parse_list(p, *made, WEFT__TOKEN_SEMICOLON));
    return take(p, WEFT__TOKEN_SEMICOLON, "';'");
}

static weft_status parse_jump(parser *p, weft__function_kind kind, int32_t *made)
{
    TRY(new_statement(p, kind, made));
    if (!p->loops)
        return FUNCTION_FAIL(p->f, p->token.at, WEFT_ERROR_SYNTAX, "'%s' is not in a loop",
                             QUOTE(text_of(p, p->token), p->token.length));
    next(p);
    return take(p, WEFT__TOKEN_SEMICOLON, "';'");
}

/* Whether what begins here is a call as a statement: name ( … ) ; */
static bool is_call(const parser *p)
{
    weft__lexer ahead = p->lexer;
    int depth = 0;
    if (p->token.kind != WEFT__TOKEN_NAME || peek(p).kind != WEFT__TOKEN_OPEN)
        return false;
    for (;;) {
        weft__token_kind kind = weft__lex(&ahead).kind;
        depth += (kind == WEFT__TOKEN_OPEN) - (kind == WEFT__TOKEN_CLOSE);
        if (kind == WEFT__TOKEN_END || kind == WEFT__TOKEN_SEMICOLON)
            return false;
        if (depth == 0)
            return weft__lex(&ahead).kind == WEFT__TOKEN_SEMICOLON;
    }
}

static weft_status parse_host(parser *p, int32_t *made)
{
    weft__function *f = p->f;
    TRY(new_statement(p, WEFT__STATEMENT_HOST, made));
    TRY(weft__lang_room(&f->hosts, f->hosts_count, &f->hosts_room, sizeof *f->hosts));
    f->statements[*made].host = (int32_t)f->hosts_count;
    f->hosts[f->hosts_count++] = (weft__lang_name){text_of(p, p->token), p->token.length};
    next(p);
    next(p);
    TRY(parse_list(p, *made, WEFT__TOKEN_CLOSE));
    next(p);
    return take(p, WEFT__TOKEN_SEMICOLON, "';'");
}

/* Statements up to `end`, which stays. */
static weft_status parse_sequence(parser *p, weft__token_kind end, int32_t *first)
{
    int32_t last = -1, made;
    *first = -1;
    while (p->token.kind != end) {
        if (p->token.kind == WEFT__TOKEN_END)
            return expected(p, "'}'");
        if (p->token.kind == WEFT__TOKEN_SEMICOLON) {
            next(p);
            continue;
        }
        TRY(parse_statement(p, &made));
        if (last < 0)
            *first = made;
        else
            p->f->statements[last].next = made;
        last = made;
    }
    return WEFT_OK;
}

static weft_status parse_block(parser *p, int32_t *made)
{
    int32_t inner;
    TRY(new_statement(p, WEFT__STATEMENT_BLOCK, made));
    next(p);
    TRY(parse_sequence(p, WEFT__TOKEN_CLOSE_BRACE, &inner));
    p->f->statements[*made].child = inner;
    next(p);
    return WEFT_OK;
}

/* p :: a; and p -> a; which are written where functions are called. */
static weft_status parse_lending(parser *p, int32_t *made)
{
    weft__token sign = peek(p), name = p->token, other;
    bool takes = sign.kind == WEFT__TOKEN_SCOPE;
    int32_t variable;
    TRY(new_statement(p, takes ? WEFT__STATEMENT_TAKE : WEFT__STATEMENT_GIVE, made));
    next(p);
    next(p);
    other = p->token;
    TRY(take(p, WEFT__TOKEN_NAME, "a variable"));
    TRY(declare(p, takes ? name : other, WEFT_DTYPE_DEFAULT, &variable));
    *(takes ? &p->f->statements[*made].variable : &p->f->statements[*made].delta) = variable;
    if (takes)
        TRY(new_part(p, *made, other.at, other.at + other.length, true));
    else
        TRY(new_part(p, *made, name.at, name.at + name.length, true));
    return take(p, WEFT__TOKEN_SEMICOLON, "';'");
}

static bool is_lending(const parser *p)
{
    weft__token_kind kind = peek(p).kind;
    return p->f->sources_count && p->token.kind == WEFT__TOKEN_NAME &&
           (kind == WEFT__TOKEN_SCOPE || kind == WEFT__TOKEN_ARROW);
}

static weft_status parse_any(parser *p, int32_t *made)
{
    if (p->token.kind == WEFT__TOKEN_OPEN_BRACE)
        return parse_block(p, made);
    if (p->token.kind == WEFT__TOKEN_SEMICOLON) {
        TRY(new_statement(p, WEFT__STATEMENT_BLOCK, made));
        next(p);
        return WEFT_OK;
    }
    if (is_word(p, "if"))
        return parse_if(p, made);
    if (is_word(p, "while"))
        return parse_while(p, made);
    if (is_word(p, "for"))
        return parse_for(p, made);
    if (is_word(p, "return"))
        return parse_return(p, made);
    if (is_word(p, "break"))
        return parse_jump(p, WEFT__STATEMENT_BREAK, made);
    if (is_word(p, "continue"))
        return parse_jump(p, WEFT__STATEMENT_CONTINUE, made);
    if (is_lending(p))
        return parse_lending(p, made);
    if (is_call(p))
        return parse_host(p, made);
    TRY(parse_simple(p, WEFT__TOKEN_SEMICOLON, made));
    return take(p, WEFT__TOKEN_SEMICOLON, "';'");
}

static weft_status parse_statement(parser *p, int32_t *made)
{
    if (p->depth == WEFT__FUNCTION_DEPTH_MAX)
        return FUNCTION_FAIL(p->f, p->token.at, WEFT_ERROR_SYNTAX,
                             "statements are nested more than %d deep",
                             (int)WEFT__FUNCTION_DEPTH_MAX);
    p->depth++;
    weft_status status = parse_any(p, made);
    p->depth--;
    return status;
}

/* Host functions are known by now, or never called: a name that is a variable or the function
 * itself is none. */
static weft_status check_hosts(const weft__function *f)
{
    for (uint32_t i = 0; i < f->statements_count; i++) {
        const weft__function_statement *s = &f->statements[i];
        if (s->kind != WEFT__STATEMENT_HOST)
            continue;
        weft__lang_name name = f->hosts[s->host];
        if (name.length == f->name.length && !memcmp(name.text, f->name.text, name.length))
            return FUNCTION_FAIL(f, s->column, WEFT_ERROR_UNSUPPORTED,
                                 "'%s' calls itself; recursion is not possible, write a loop",
                                 QUOTE(name.text, name.length));
        if (weft__function_variable_named(f, name.text, name.length) >= 0)
            return FUNCTION_FAIL(f, s->column, WEFT_ERROR_SYNTAX,
                                 "this element goes nowhere; assign it, or assign to it");
    }
    return WEFT_OK;
}

weft_status weft__function_parse(weft__function *f)
{
    parser p = {.f = f, .lexer = {f->code.text, (uint32_t)f->code.length, 0}};
    next(&p);
    TRY(parse_sequence(&p, WEFT__TOKEN_END, &f->first));
    TRY(check_hosts(f));
    for (uint32_t i = 0; i < f->parts_count; i++)
        TRY(weft__function_part_parse(f, &f->parts[i], NULL));
    f->parents = weft__allocate((f->statements_count + (size_t)1) * sizeof *f->parents);
    if (!f->parents)
        return WEFT_ERROR_MEMORY;
    weft__function_parents(f, f->parents);
    TRY(weft__function_nests(f));
    TRY(weft__function_joins(f));
    return weft__function_groups(f);
}
