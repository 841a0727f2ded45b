/* Values: operands, numbers, constants, locals, prefix operators, and what opens a parenthesis. */
#include "lang/parser.h"
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t dtype;
    double value;
} constants[] = {
    {"true", WEFT_BOOL, 1},      {"false", WEFT_BOOL, 0}, {"pi", WEFT_F64, 3.14159265358979323846},
    {"inf", WEFT_F64, INFINITY}, {"nan", WEFT_F64, NAN},
};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

static bool is_constant(weft__lang_name name)
{
    for (int i = 0; i < CONSTANTS; i++)
        if (strlen(constants[i].name) == name.length &&
            !memcmp(constants[i].name, name.text, name.length))
            return true;
    return false;
}

bool weft__is_reserved(const char *text, size_t length)
{
    static const char *const words[] = {"if",     "else",   "for",   "while",  "do",      "return",
                                        "break",  "switch", "case",  "goto",   "const",   "void",
                                        "static", "struct", "union", "sizeof", "continue"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], text, length))
            return true;
    return is_constant((weft__lang_name){text, length});
}

/* How far a name reaches: s->u.v, a[3]. Empty, if a bracket is not closed. */
static weft__lang_name whole_name(const weft__parser *p)
{
    weft__lexer ahead = p->lexer;
    uint32_t end = p->token.at + p->token.length;
    int depth = 0;
    for (;;) {
        weft__token token = weft__lex(&ahead);
        bool member = token.kind == WEFT__TOKEN_DOT || token.kind == WEFT__TOKEN_ARROW;
        bool bracket = token.kind == WEFT__TOKEN_OPEN_BRACKET;
        if (token.kind == WEFT__TOKEN_END || (!member && !bracket && !depth))
            break;
        depth += bracket - (token.kind == WEFT__TOKEN_CLOSE_BRACKET);
        if (member)
            token = weft__lex(&ahead);
        if (depth == 0)
            end = token.at + token.length;
    }
    return (weft__lang_name){TOKEN_TEXT(p, p->token), depth ? 0 : end - p->token.at};
}

/* Whether a later statement sets this name. */
static bool is_set_later(const weft__parser *p)
{
    weft__lexer ahead = p->lexer;
    weft__token token = p->token;
    bool starts = false;
    while (token.kind != WEFT__TOKEN_END) {
        bool name = starts && token.kind == WEFT__TOKEN_NAME && token.length == p->token.length &&
                    !memcmp(TOKEN_TEXT(p, token), TOKEN_TEXT(p, p->token), token.length);
        starts = token.kind == WEFT__TOKEN_SEMICOLON;
        token = weft__lex(&ahead);
        if (name && token.kind == WEFT__TOKEN_ASSIGN)
            return true;
    }
    return false;
}

static void offer_functions(weft__lang_nearest *nearest)
{
    for (int i = 0; i < WEFT__LANG_OPERATION_END; i++) {
        const weft__lang_facts *facts = &weft__lang_operations[i];
        if (facts->group != WEFT__GROUP_operator)
            weft__lang_offer(nearest, facts->name, strlen(facts->name));
    }
    for (int d = 1; d < WEFT_DTYPE_END; d++) {
        const char *name = weft_dtype_name((weft_dtype)d);
        weft__lang_offer(nearest, name, strlen(name));
    }
}

/* As NumPy calls it, or WEFT_DTYPE_DEFAULT. */
static weft_dtype dtype_of_numpy(weft__lang_name name)
{
    static const char *const names[WEFT_DTYPE_END] = {
        [WEFT_I8] = "int8",       [WEFT_I16] = "int16",      [WEFT_I32] = "int32",
        [WEFT_I64] = "int64",     [WEFT_U8] = "uint8",       [WEFT_U16] = "uint16",
        [WEFT_U32] = "uint32",    [WEFT_U64] = "uint64",     [WEFT_F16] = "float16",
        [WEFT_BF16] = "bfloat16", [WEFT_F32] = "float32",    [WEFT_F64] = "float64",
        [WEFT_C64] = "complex64", [WEFT_C128] = "complex128"};
    for (int d = 1; d < WEFT_DTYPE_END; d++)
        if (names[d] && strlen(names[d]) == name.length &&
            !memcmp(names[d], name.text, name.length))
            return (weft_dtype)d;
    return WEFT_DTYPE_DEFAULT;
}

/* The operand, parameter, local or index that is nearest. */
static void offer_own(weft__parser *p, bool function, weft__lang_nearest *nearest)
{
    if (!function || p->kernel)
        weft__names_offer(&p->names, p->syntax, nearest);
    for (int i = 0; i < p->syntax->indices_count && !function; i++)
        weft__lang_offer(nearest, p->syntax->indices[i].text, p->syntax->indices[i].length);
}

static weft_status parse_unlike(weft__parser *p, weft__lang_name name, bool function)
{
    const uint32_t at = p->token.at;
    if (!function && name.text[name.length - 1] == ']')
        return PARSE_FAIL(
            p, at, "unknown name '%s'; %s", QUOTE(name.text, name.length),
            p->kernel || p->loops
                ? "elements are written with parentheses, as a(i)"
                : "a part of an array is an operand of its own, made with weft_slice");
    if (p->kernel && !function)
        return PARSE_FAIL(
            p, at,
            "unknown name '%s'; what is read is a parameter, or an index, a name that "
            "stands in every element assigned to, as i in out(i) = ...",
            QUOTE(name.text, name.length));
    if (!function)
        return PARSE_FAIL(
            p, at, "unknown name '%s'; %s", QUOTE(name.text, name.length),
            name.length == p->lexer.length
                ? "operands are named after the code; a C string that has code in it is for "
                  "weft_evaluate"
                : "what is read is set before, a parameter, or an operand: arrays and C numbers "
                  "are named after the code");
    return PARSE_FAIL(p, at, "unknown function '%s'", QUOTE(name.text, name.length));
}

/* A name that is none, but not one of another language: what is near, or what is said of it. */
static weft_status parse_unheard(weft__parser *p, weft__lang_name name, bool function)
{
    const uint32_t at = p->token.at;
    weft__lang_nearest nearest = {name, {NULL, 0}, 0};
    offer_own(p, function, &nearest);
    const char *habit = nearest.best.text ? NULL : weft__lang_habit(name);
    if (habit)
        return PARSE_FAIL(p, at, "unknown %s '%s'; %s", function ? "function" : "name",
                          QUOTE(name.text, name.length), habit);
    if (!function && !nearest.best.text &&
        weft__lang_function_named(name.text, name.length) != WEFT__LANG_OPERATION_END)
        return PARSE_FAIL(p, at,
                          "'%s' is a function, whose arguments stand in parentheses, as %s(x)",
                          QUOTE(name.text, name.length), QUOTE(name.text, name.length));
    if (function)
        offer_functions(&nearest);
    for (int i = 0; i < CONSTANTS && !function; i++)
        weft__lang_offer(&nearest, constants[i].name, strlen(constants[i].name));
    if (!nearest.best.text)
        return parse_unlike(p, name, function);
    return PARSE_FAIL(p, at, "unknown %s '%s'%s", function ? "function" : "name",
                      QUOTE(name.text, name.length), weft__lang_hint_of(&nearest).text);
}

weft_status weft__parse_unknown(weft__parser *p, bool function)
{
    weft__lang_name name = whole_name(p);
    uint32_t at = p->token.at;
    weft__lexer type = {p->lexer.text, p->lexer.length, at};
    if (name.length == 0)
        return PARSE_FAIL(p, at, "a bracket that begins after '%s' is not closed",
                          QUOTE(TOKEN_TEXT(p, p->token), p->token.length));
    weft_dtype dtype = weft__lang_type(&type, false);
    if (dtype)
        return PARSE_FAIL(p, at,
                          "'%s' is a type of C; a cast is written %s(x), and locals need none",
                          QUOTE(name.text, type.at - at), weft_dtype_name(dtype));
    if ((dtype = dtype_of_numpy(name)))
        return PARSE_FAIL(p, at, "'%s' is a type of NumPy; a cast is written %s(x)",
                          QUOTE(name.text, name.length), weft_dtype_name(dtype));
    if (!function && weft__lang_dtype_named(name.text, name.length))
        return PARSE_FAIL(p, at, "'%s' is a dtype; a cast is written %s(x)",
                          QUOTE(name.text, name.length), QUOTE(name.text, name.length));
    if (is_constant(name))
        return PARSE_FAIL(p, at, "'%s' is a constant, and is not assigned to nor called",
                          QUOTE(name.text, name.length));
    if (weft__is_reserved(name.text, name.length))
        return PARSE_FAIL(p, at, "'%s' has a meaning of its own in C and is not possible here%s",
                          QUOTE(name.text, name.length),
                          name.length == 2 && !memcmp(name.text, "if", 2)
                              ? "; where(condition, x, y) chooses between elements"
                          : name.text[0] == 'f' || name.text[0] == 'w' /* for, while */
                              ? "; the code is computed for each element"
                              : "");
    if (!function && is_set_later(p))
        return PARSE_FAIL(p, at, "'%s' is read before it is set", QUOTE(name.text, name.length));
    return parse_unheard(p, name, function);
}

static weft_status parse_number(weft__parser *p, int32_t *node)
{
    weft__number number;
    weft__token t = p->token;
    const char *why = weft__lang_number(TOKEN_TEXT(p, t), t.length, &number);
    if (why)
        return PARSE_FAIL(p, t.at, "'%s': %s", QUOTE(TOKEN_TEXT(p, t), t.length), why);
    weft__syntax_node literal = {.kind = WEFT__SYNTAX_LITERAL,
                                 .dtype = (uint8_t)number.dtype,
                                 .weak = number.weak,
                                 .column = t.at};
    if (number.dtype > WEFT_U64)
        literal.value.real = number.real;
    else
        literal.value.integer = number.integer;
    weft__parser_next(p);
    return weft__parser_node(p, literal, node);
}

static weft_status parse_constant(weft__parser *p, int which, int32_t *node)
{
    weft__syntax_node literal = {.kind = WEFT__SYNTAX_LITERAL,
                                 .dtype = constants[which].dtype,
                                 .weak = true,
                                 .column = p->token.at};
    if (literal.dtype == WEFT_BOOL)
        literal.value.integer = constants[which].value != 0;
    else
        literal.value.real = constants[which].value;
    weft__parser_next(p);
    return weft__parser_node(p, literal, node);
}

static weft_status parse_index(weft__parser *p, int index, int32_t *node)
{
    weft__syntax_node read = {.kind = WEFT__SYNTAX_INDEX, .column = p->token.at, .index = index};
    weft__parser_next(p);
    return weft__parser_node(p, read, node);
}

static weft_status parse_name(weft__parser *p, int32_t *node)
{
    weft__token name = p->token, next = weft__parser_peek(p);
    if (next.kind == WEFT__TOKEN_OPEN)
        return weft__parse_call(p, name, node);
    int index = weft__parse_index_named(p, TOKEN_TEXT(p, name), name.length);
    if (index >= 0)
        return parse_index(p, index, node);
    weft__names_local *local = weft__names_local_find(&p->names, TOKEN_TEXT(p, name), name.length);
    if (local && next.kind != WEFT__TOKEN_DOT && next.kind != WEFT__TOKEN_ARROW &&
        next.kind != WEFT__TOKEN_OPEN_BRACKET) {
        local->read = true;
        *node = local->node;
        weft__parser_next(p);
        return WEFT_OK;
    }
    for (int i = 0; i < CONSTANTS; i++)
        if (weft__parser_token_is(p, constants[i].name))
            return parse_constant(p, i, node);
    return weft__parse_unknown(p, false);
}

/* An operand whose text begins with the token to look at. */
static weft_status parse_operand(weft__parser *p, int32_t *node)
{
    weft__lexer lexer = {p->lexer.text, p->lexer.length, p->token.at};
    int top = p->frames_count ? p->frames[p->frames_count - 1].kind : WEFT__FRAME_GROUP;
    bool whole = top != WEFT__FRAME_UNARY && top != WEFT__FRAME_PREFIX &&
                 top != WEFT__FRAME_BINARY && top != WEFT__FRAME_ELSE;
    int operand = weft__names_match(&p->names, &lexer, whole);
    weft__syntax_node read = {
        .kind = WEFT__SYNTAX_OPERAND, .column = p->token.at, .index = operand};
    if (operand < 0)
        return WEFT_OK;
    p->names.used[operand] = true;
    p->lexer = lexer;
    weft__parser_next(p);
    return weft__parser_node(p, read, node);
}

static weft_status open_frame(weft__parser *p, weft__frame_kind kind,
                              weft__lang_operation operation)
{
    weft__frame frame = {.kind = (uint8_t)kind,
                         .operation = (uint8_t)operation,
                         .power = UINT8_MAX,
                         .column = p->token.at};
    weft__parser_next(p);
    return weft__parser_push(p, frame);
}

/* What "(int)" or "(unsigned char)" casts to, at its parenthesis, and where that ends; 0 if it is
 * something else. */
static weft_dtype cast_ahead(const weft__parser *p, uint32_t *end)
{
    weft__lexer ahead = p->lexer;
    const weft_dtype dtype = weft__lang_type(&ahead, false);
    *end = ahead.at;
    return weft__lex(&ahead).kind == WEFT__TOKEN_CLOSE ? dtype : WEFT_DTYPE_DEFAULT;
}

static weft_status open_parenthesis(weft__parser *p)
{
    uint32_t end;
    const weft_dtype dtype = cast_ahead(p, &end);
    weft__frame frame = {.kind = WEFT__FRAME_PREFIX,
                         .operation = (uint8_t)dtype,
                         .power = UINT8_MAX,
                         .column = p->token.at};
    if (!dtype)
        return open_frame(p, WEFT__FRAME_GROUP, WEFT__LANG_OPERATION_END);
    p->lexer.at = end;
    weft__parser_next(p); /* the parenthesis, and what is behind it */
    weft__parser_next(p);
    return weft__parser_push(p, frame);
}

weft_status weft__parse_primary(weft__parser *p, int32_t *node)
{
    TRY(parse_operand(p, node));
    if (*node >= 0)
        return WEFT_OK;
    switch (p->token.kind) {
    case WEFT__TOKEN_NUMBER:
        return parse_number(p, node);
    case WEFT__TOKEN_NAME:
        return parse_name(p, node);
    case WEFT__TOKEN_OPEN:
        return open_parenthesis(p);
    case WEFT__TOKEN_MINUS:
        return open_frame(p, WEFT__FRAME_UNARY, WEFT__LANG_negative);
    case WEFT__TOKEN_PLUS:
        return open_frame(p, WEFT__FRAME_UNARY, WEFT__LANG_positive);
    case WEFT__TOKEN_NOT:
        return open_frame(p, WEFT__FRAME_UNARY, WEFT__LANG_logical_not);
    case WEFT__TOKEN_TILDE:
        return open_frame(p, WEFT__FRAME_UNARY, WEFT__LANG_bitwise_not);
    default:
        return weft__parser_expected(p, "a value");
    }
}
