/* Names in the text of a body: which are its variables, before anything is parsed. */
#include "function/expand.h"
#include "function/types.h"
#include <string.h>

static bool same(const weft__lexer *lexer, weft__token token, const char *text, size_t length)
{
    return token.kind == WEFT__TOKEN_NAME && token.length == length &&
           !memcmp(lexer->text + token.at, text, length);
}

int weft__function_parameters(weft__lang_name list)
{
    weft__lexer lexer = {list.text, (uint32_t)list.length, 0};
    int count = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer))
        count += token.kind == WEFT__TOKEN_NAME;
    return count;
}

int weft__function_parameter(weft__lang_name list, const char *text, size_t length)
{
    weft__lexer lexer = {list.text, (uint32_t)list.length, 0};
    int position = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer)) {
        if (same(&lexer, token, text, length))
            return position;
        position += token.kind == WEFT__TOKEN_NAME;
    }
    return -1;
}

/* Whether a declaration, behind its type, declares the name. */
static bool declares(weft__lexer *lexer, const char *text, size_t length)
{
    bool found = false, begins = true;
    int depth = 0;
    for (;;) {
        weft__token token = weft__lex(lexer);
        if (token.kind == WEFT__TOKEN_SEMICOLON || token.kind == WEFT__TOKEN_END || depth < 0)
            return found;
        found |= begins && same(lexer, token, text, length);
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        begins = !depth && token.kind == WEFT__TOKEN_COMMA;
    }
}

/* Where a statement may begin, what is assigned is a variable; in a call it names an argument. */
static bool begins_statement(const weft__lexer *lexer, weft__token before, weft__token last)
{
    return before.kind == WEFT__TOKEN_END || before.kind == WEFT__TOKEN_SEMICOLON ||
           before.kind == WEFT__TOKEN_OPEN_BRACE || before.kind == WEFT__TOKEN_CLOSE_BRACE ||
           before.kind == WEFT__TOKEN_CLOSE || same(lexer, before, "else", 4) ||
           (before.kind == WEFT__TOKEN_OPEN && same(lexer, last, "for", 3));
}

static bool is_sign(weft__token_kind kind)
{
    return kind == WEFT__TOKEN_INCREMENT || kind == WEFT__TOKEN_DECREMENT;
}

bool weft__function_text_assigns(weft__lang_name code, const char *text, size_t length)
{
    weft__lexer lexer = {code.text, (uint32_t)code.length, 0};
    weft__token last = {WEFT__TOKEN_END, 0, 0, NULL}, before = last;
    for (;;) {
        weft__lexer ahead = lexer;
        if (weft__function_type(&ahead)) {
            if (declares(&ahead, text, length))
                return true;
            before = last = (weft__token){WEFT__TOKEN_SEMICOLON, 0, 0, NULL};
            lexer = ahead;
            continue;
        }
        weft__token token = weft__lex(&lexer);
        if (token.kind == WEFT__TOKEN_END)
            return false;
        ahead = lexer;
        weft__token_kind next = weft__lex(&ahead).kind;
        if (same(&lexer, token, text, length) &&
            (is_sign(before.kind) || is_sign(next) ||
             (begins_statement(&lexer, before, last) && weft__function_assigns(next))))
            return true;
        last = before;
        before = token;
    }
}

bool weft__function_is_made(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
        digits++;
    return digits && length > digits + 2 && text[length - 1 - digits] == '_' &&
           text[length - 2 - digits] == '_';
}
