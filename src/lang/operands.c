/* The texts of operands: cutting a list of them, and checking that each is an expression. */
#include "lang/error.h"
#include "lang/names.h"
#include <string.h>

/* The tokens of an operand's text. */
typedef struct shape_of_text {
    uint8_t kinds[WEFT__LANG_OPERAND_TOKENS_MAX + 1]; /* ends with END */
    int count;
} shape_of_text;

static const char closing[] = {WEFT__TOKEN_CLOSE, WEFT__TOKEN_CLOSE_BRACKET,
                               WEFT__TOKEN_CLOSE_BRACE};

/* Which bracket a token opens or closes: 0, 1, 2, or -1. */
static int opens(int kind)
{
    return kind == WEFT__TOKEN_OPEN           ? 0
           : kind == WEFT__TOKEN_OPEN_BRACKET ? 1
           : kind == WEFT__TOKEN_OPEN_BRACE   ? 2
                                              : -1;
}

static int closes(int kind)
{
    const char *found = memchr(closing, kind, sizeof closing);
    return found ? (int)(found - closing) : -1;
}

static bool is_separator(int kind)
{
    return kind == WEFT__TOKEN_COMMA || kind == WEFT__TOKEN_SEMICOLON ||
           kind == WEFT__TOKEN_ASSIGN ||
           (kind >= WEFT__TOKEN_ADD_ASSIGN && kind <= WEFT__TOKEN_XOR_ASSIGN) ||
           kind == WEFT__TOKEN_SHIFT_LEFT_ASSIGN || kind == WEFT__TOKEN_SHIFT_RIGHT_ASSIGN;
}

/* Reads the tokens: brackets pair up, and outside of them nothing separates expressions. */
static weft_status read_operand(weft__lang_name name, int operand, shape_of_text *shape)
{
    weft__lexer lexer = {name.text, (uint32_t)name.length, 0};
    uint8_t open[WEFT__LANG_OPERAND_TOKENS_MAX];
    int depth = 0;
    const char *why = NULL;
    weft__token token = weft__lex(&lexer);
    for (shape->count = 0; token.kind != WEFT__TOKEN_END; token = weft__lex(&lexer)) {
        if (token.kind == WEFT__TOKEN_BAD)
            why = token.why;
        else if (shape->count == WEFT__LANG_OPERAND_TOKENS_MAX)
            why = "the text is too long; give it a name in C";
        else if (depth == 0 && is_separator((int)token.kind))
            why = "an operand is one expression";
        else if (closes((int)token.kind) >= 0 &&
                 (!depth || open[--depth] != closes((int)token.kind)))
            why = "this bracket was not opened";
        if (why)
            break;
        if (opens((int)token.kind) >= 0)
            open[depth++] = (uint8_t)opens((int)token.kind);
        shape->kinds[shape->count++] = (uint8_t)token.kind;
    }
    if (!why && depth)
        why = "a bracket is not closed";
    if (!why && !shape->count)
        why = "the text is empty";
    shape->kinds[shape->count] = WEFT__TOKEN_END;
    return why ? weft__lang_fail(name, token.at, WEFT_ERROR_SYNTAX, "operand %d: %s", operand + 1,
                                 why)
               : WEFT_OK;
}

/* The position behind the bracket that closes the one at `at`. */
static int skip_brackets(const shape_of_text *shape, int at)
{
    int depth = 0;
    do {
        depth += opens(shape->kinds[at]) >= 0;
        depth -= closes(shape->kinds[at]) >= 0;
        at++;
    } while (depth > 0 && at < shape->count);
    return at;
}

static int skip_prefixes(const shape_of_text *shape, int at)
{
    static const char prefixes[] = {WEFT__TOKEN_STAR, WEFT__TOKEN_AND, WEFT__TOKEN_MINUS,
                                    WEFT__TOKEN_PLUS, WEFT__TOKEN_NOT, WEFT__TOKEN_TILDE,
                                    WEFT__TOKEN_SCOPE};
    while (memchr(prefixes, shape->kinds[at], sizeof prefixes))
        at++;
    return at;
}

static bool is_word(int kind)
{
    return kind == WEFT__TOKEN_NAME || kind == WEFT__TOKEN_NUMBER || kind == WEFT__TOKEN_STRING;
}

/* Whether the text is a prefix, primary and postfix expression of C, which no operator around it
 * can pull apart: *p, s->u, a[i+1], f(x), (n+1), (float)x. */
static bool is_primary(const shape_of_text *shape)
{
    const uint8_t *kinds = shape->kinds;
    int at = skip_prefixes(shape, 0);
    while (kinds[at] == WEFT__TOKEN_OPEN) { /* casts, or the primary expression itself */
        at = skip_brackets(shape, at);
        if (at == shape->count)
            return true;
        if (!is_word(kinds[at]) && kinds[at] != WEFT__TOKEN_OPEN)
            break;
    }
    if (is_word(kinds[at]))
        at++;
    for (;;) {
        bool member = kinds[at] == WEFT__TOKEN_DOT || kinds[at] == WEFT__TOKEN_ARROW ||
                      kinds[at] == WEFT__TOKEN_SCOPE;
        if (member && kinds[at + 1] == WEFT__TOKEN_NAME)
            at += 2;
        else if (kinds[at] == WEFT__TOKEN_OPEN || kinds[at] == WEFT__TOKEN_OPEN_BRACKET)
            at = skip_brackets(shape, at);
        else
            return at == shape->count;
    }
}

weft_status weft__names_add_operands(weft__names *names, const weft__lang_syntax *syntax)
{
    shape_of_text shape;
    for (int i = 0; i < syntax->names_count; i++) {
        TRY(read_operand(syntax->names[i], i, &shape));
        names->compound[i] = !is_primary(&shape);
        TRY(weft__names_insert(names, syntax->names[i], i));
    }
    return WEFT_OK;
}

weft_status weft__lang_split(const char *text, size_t length, int count, weft__lang_name *names)
{
    weft__lang_name all = {text, length};
    weft__lexer lexer = {text, (uint32_t)length, 0};
    int found = 0, depth = 0;
    uint32_t start = 0;
    if (length > WEFT__LANG_TEXT_MAX)
        return FAIL_AT(WEFT_ERROR_SYNTAX, "operands",
                       "the list of operands has %zu bytes; %d are possible", length,
                       (int)WEFT__LANG_TEXT_MAX);
    for (weft__token token = weft__lex(&lexer);; token = weft__lex(&lexer)) {
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        bool end = token.kind == WEFT__TOKEN_END;
        if (end || (token.kind == WEFT__TOKEN_COMMA && depth == 0)) {
            if (found < count)
                names[found] = (weft__lang_name){text + start, token.at - start};
            found++;
            start = token.at + token.length;
        }
        if (end)
            break;
    }
    return found == count
               ? WEFT_OK
               : weft__lang_fail(all, WEFT__NO_COLUMN, WEFT_ERROR_SYNTAX,
                                 "the text names %d operands; %d were given", found, count);
}
