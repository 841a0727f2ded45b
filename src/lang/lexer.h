/* Tokens: C's, read one after another from a text. */
#ifndef WEFT_LANG_LEXER_H
#define WEFT_LANG_LEXER_H

#include "lang/lang.h"

/* Punctuators, longest first where one begins another. */
#define WEFT__PUNCTUATOR_LIST(X)                                                                   \
    X(SHIFT_LEFT_ASSIGN, "<<=")                                                                    \
    X(SHIFT_RIGHT_ASSIGN, ">>=")                                                                   \
    X(SHIFT_LEFT, "<<")                                                                            \
    X(SHIFT_RIGHT, ">>")                                                                           \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(EQUAL, "==")                                                                                 \
    X(NOT_EQUAL, "!=")                                                                             \
    X(AND_AND, "&&")                                                                               \
    X(OR_OR, "||")                                                                                 \
    X(ADD_ASSIGN, "+=")                                                                            \
    X(SUBTRACT_ASSIGN, "-=")                                                                       \
    X(MULTIPLY_ASSIGN, "*=")                                                                       \
    X(DIVIDE_ASSIGN, "/=")                                                                         \
    X(MODULO_ASSIGN, "%=")                                                                         \
    X(AND_ASSIGN, "&=")                                                                            \
    X(OR_ASSIGN, "|=")                                                                             \
    X(XOR_ASSIGN, "^=")                                                                            \
    X(ARROW, "->")                                                                                 \
    X(INCREMENT, "++")                                                                             \
    X(DECREMENT, "--")                                                                             \
    X(SCOPE, "::")                                                                                 \
    X(ASSIGN, "=")                                                                                 \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(STAR, "*")                                                                                   \
    X(SLASH, "/")                                                                                  \
    X(PERCENT, "%")                                                                                \
    X(AND, "&")                                                                                    \
    X(OR, "|")                                                                                     \
    X(XOR, "^")                                                                                    \
    X(LESS, "<")                                                                                   \
    X(GREATER, ">")                                                                                \
    X(NOT, "!")                                                                                    \
    X(TILDE, "~")                                                                                  \
    X(QUESTION, "?")                                                                               \
    X(COLON, ":")                                                                                  \
    X(SEMICOLON, ";")                                                                              \
    X(COMMA, ",")                                                                                  \
    X(DOT, ".")                                                                                    \
    X(OPEN, "(")                                                                                   \
    X(CLOSE, ")")                                                                                  \
    X(OPEN_BRACKET, "[")                                                                           \
    X(CLOSE_BRACKET, "]")                                                                          \
    X(OPEN_BRACE, "{")                                                                             \
    X(CLOSE_BRACE, "}")

typedef enum weft__token_kind {
    WEFT__TOKEN_END,    /* the text is over */
    WEFT__TOKEN_BAD,    /* `why` says what is wrong */
    WEFT__TOKEN_NAME,   /* a C identifier, characters beyond ASCII included */
    WEFT__TOKEN_NUMBER, /* a preprocessing number; weft__lang_number says whether it is one */
    WEFT__TOKEN_STRING, /* a string or character constant: only in the text of an operand */
#define WEFT__TOKEN_ENUM(name, text) WEFT__TOKEN_##name,
    WEFT__PUNCTUATOR_LIST(WEFT__TOKEN_ENUM)
#undef WEFT__TOKEN_ENUM
        WEFT__TOKEN_KINDS
} weft__token_kind;

typedef struct weft__token {
    weft__token_kind kind;
    uint32_t at, length; /* in the text */
    const char *why;
} weft__token;

/* Where reading goes on; a copy of it is a bookmark. */
typedef struct weft__lexer {
    const char *text;
    uint32_t length, at;
} weft__lexer;

/* The next token. Blanks and comments are skipped. Never fails: what is no token is BAD, and END is
 * followed by END. */
weft__token weft__lex(weft__lexer *lexer);

/* A numeric literal. An integer is `integer`, others are `real`. */
typedef struct weft__number {
    weft_dtype dtype; /* weak: WEFT_I64, WEFT_U64 (beyond i64), WEFT_F64 or WEFT_C128 */
    bool weak;        /* written without a suffix that says its type */
    uint64_t integer;
    double real; /* of a complex one: the imaginary part */
} weft__number;

/* Reads a NUMBER token, of a text that does not end with it (a NUL will do). Returns NULL, or what
 * is wrong. */
const char *weft__lang_number(const char *text, size_t length, weft__number *number);

/* The type of C at the lexer's position, as "unsigned char", which then moves behind it;
 * WEFT_DTYPE_DEFAULT if there is none. With `dtypes`, names of dtypes are types too. */
weft_dtype weft__lang_type(weft__lexer *lexer, bool dtypes);
/* Whether the word is a type of C or of Weft, or part of one. */
bool weft__lang_is_type(const char *text, size_t length);
/* WEFT_DTYPE_DEFAULT if it is none's name. */
weft_dtype weft__lang_dtype_named(const char *text, size_t length);

#endif
