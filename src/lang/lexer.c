/* The lexer: names, numbers, strings, punctuators; comments and blanks are skipped. */
#include "lang/lexer.h"
#include "lang/error.h"
#include <string.h>

static const char *const punctuators[] = {
#define PUNCTUATOR_TEXT(name, text) text,
    WEFT__PUNCTUATOR_LIST(PUNCTUATOR_TEXT)
#undef PUNCTUATOR_TEXT
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The byte that is so many further on, or NUL. */
static char peek(const weft__lexer *lexer, uint32_t ahead)
{
    return ahead < lexer->length - lexer->at ? lexer->text[lexer->at + ahead] : 0;
}

/* Bytes of the character of a name at `at`; 0 if it is none. */
static uint32_t name_character(const weft__lexer *lexer, uint32_t at)
{
    if (at >= lexer->length)
        return 0;
    char c = lexer->text[at];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$')
        return 1;
    if ((unsigned char)c < 0x80)
        return 0;
    return (uint32_t)weft__lang_character(lexer->text + at, lexer->length - at);
}

/* The position behind a comment that begins here; the same one if there is none, or if it is not
 * closed, which then becomes a BAD token. */
static uint32_t comment_end(const weft__lexer *lexer)
{
    const char *text = lexer->text;
    uint32_t at = lexer->at + 2;
    if (peek(lexer, 0) != '/' || (peek(lexer, 1) != '/' && peek(lexer, 1) != '*'))
        return lexer->at;
    if (text[at - 1] == '/') {
        while (at < lexer->length && text[at] != '\n')
            at++;
        return at;
    }
    while (at + 1 < lexer->length && !(text[at] == '*' && text[at + 1] == '/'))
        at++;
    return at + 1 < lexer->length ? at + 2 : lexer->at;
}

static void skip_blanks(weft__lexer *lexer)
{
    for (uint32_t before = UINT32_MAX; before != lexer->at;) {
        while (lexer->at < lexer->length && is_blank(lexer->text[lexer->at]))
            lexer->at++;
        before = lexer->at;
        lexer->at = comment_end(lexer);
    }
}

static uint32_t name_length(const weft__lexer *lexer)
{
    uint32_t at = lexer->at, size;
    while ((size = name_character(lexer, at)))
        at += size;
    return at - lexer->at;
}

/* Digits, letters and points, and a sign after the letter of an exponent. */
static uint32_t number_length(const weft__lexer *lexer)
{
    bool hex = peek(lexer, 0) == '0' && (peek(lexer, 1) | 0x20) == 'x';
    uint32_t length = 1;
    for (;; length++) {
        char c = peek(lexer, length), before = (char)(peek(lexer, length - 1) | 0x20);
        bool sign = (c == '+' || c == '-') && before == (hex ? 'p' : 'e');
        if (!sign && c != '.' &&
            !((unsigned char)c < 0x80 && name_character(lexer, lexer->at + length)))
            return length;
    }
}

static weft__token string_token(const weft__lexer *lexer)
{
    char quote = peek(lexer, 0);
    for (uint32_t at = lexer->at + 1; at < lexer->length; at++) {
        if (lexer->text[at] == quote)
            return (weft__token){WEFT__TOKEN_STRING, lexer->at, at + 1 - lexer->at, NULL};
        if (lexer->text[at] == '\\')
            at++;
    }
    return (weft__token){WEFT__TOKEN_BAD, lexer->at, 1, "the quotation mark is not closed"};
}

static weft__token punctuator_token(const weft__lexer *lexer)
{
    uint32_t rest = lexer->length - lexer->at;
    const char *text = lexer->text + lexer->at;
    for (int i = 0; i < (int)(sizeof punctuators / sizeof punctuators[0]); i++) {
        if (punctuators[i][0] != text[0])
            continue;
        uint32_t length = (uint32_t)strlen(punctuators[i]);
        if (length <= rest && !memcmp(punctuators[i], text, length))
            return (weft__token){(weft__token_kind)(WEFT__TOKEN_STRING + 1 + i), lexer->at, length,
                                 NULL};
    }
    return (weft__token){WEFT__TOKEN_BAD, lexer->at, 1,
                         "this character is not part of the language"};
}

static weft__token token_here(const weft__lexer *lexer)
{
    char c = peek(lexer, 0);
    if (lexer->at >= lexer->length)
        return (weft__token){WEFT__TOKEN_END, lexer->length, 0, NULL};
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1))))
        return (weft__token){WEFT__TOKEN_NUMBER, lexer->at, number_length(lexer), NULL};
    if (name_character(lexer, lexer->at))
        return (weft__token){WEFT__TOKEN_NAME, lexer->at, name_length(lexer), NULL};
    if (c == '"' || c == '\'')
        return string_token(lexer);
    if (c == '/' && peek(lexer, 1) == '*')
        return (weft__token){WEFT__TOKEN_BAD, lexer->at, 2, "the comment is not closed"};
    if ((unsigned char)c >= 0x80)
        return (weft__token){WEFT__TOKEN_BAD, lexer->at, 1, "this byte is no UTF-8"};
    return punctuator_token(lexer);
}

weft__token weft__lex(weft__lexer *lexer)
{
    skip_blanks(lexer);
    weft__token token = token_here(lexer);
    lexer->at += token.length;
    return token;
}
