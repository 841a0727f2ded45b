/* Types of C, in casts and declarations, and what they are here. */
#include "lang/lexer.h"
#include <string.h>

static const struct {
    const char *name;
    uint8_t dtype;
} types[] = {
    {"float", WEFT_F32},  {"double", WEFT_F64},   {"int", WEFT_I32},      {"short", WEFT_I16},
    {"char", WEFT_I8},    {"_Bool", WEFT_BOOL},   {"bool", WEFT_BOOL},    {"long", WEFT_I64},
    {"int8_t", WEFT_I8},  {"int16_t", WEFT_I16},  {"int32_t", WEFT_I32},  {"int64_t", WEFT_I64},
    {"uint8_t", WEFT_U8}, {"uint16_t", WEFT_U16}, {"uint32_t", WEFT_U32}, {"uint64_t", WEFT_U64},
    {"size_t", WEFT_U64},
};

static bool is(const weft__lexer *lexer, weft__token token, const char *text)
{
    return token.kind == WEFT__TOKEN_NAME && token.length == strlen(text) &&
           !memcmp(lexer->text + token.at, text, token.length);
}

static weft_dtype plain_type(const weft__lexer *lexer, weft__token token)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (is(lexer, token, types[i].name))
            return (weft_dtype)types[i].dtype;
    return WEFT_DTYPE_DEFAULT;
}

weft_dtype weft__lang_dtype_named(const char *text, size_t length)
{
    for (int d = 1; d < WEFT_DTYPE_END; d++)
        if (strlen(weft_dtype_name((weft_dtype)d)) == length &&
            !memcmp(weft_dtype_name((weft_dtype)d), text, length))
            return (weft_dtype)d;
    return WEFT_DTYPE_DEFAULT;
}

bool weft__lang_is_type(const char *text, size_t length)
{
    weft__lexer lexer = {text, (uint32_t)length, 0};
    weft__token token = weft__lex(&lexer);
    return plain_type(&lexer, token) || is(&lexer, token, "unsigned") ||
           is(&lexer, token, "signed") || is(&lexer, token, "const") ||
           weft__lang_dtype_named(text, length);
}

static weft_dtype unsigned_of(weft_dtype dtype)
{
    return dtype >= WEFT_I8 && dtype <= WEFT_I64 ? (weft_dtype)(dtype + (WEFT_U8 - WEFT_I8))
                                                 : WEFT_DTYPE_DEFAULT;
}

/* unsigned, signed, const and a second long or int go with the type. */
weft_dtype weft__lang_type(weft__lexer *lexer, bool dtypes)
{
    weft__lexer at = *lexer, behind = *lexer;
    weft_dtype dtype = WEFT_DTYPE_DEFAULT;
    bool is_unsigned = false, words = false;
    for (;;) {
        weft__token token = weft__lex(&at);
        weft_dtype plain = plain_type(&at, token);
        bool sign = is(&at, token, "unsigned"), other = is(&at, token, "signed");
        if (!plain && dtypes && token.kind == WEFT__TOKEN_NAME)
            plain = weft__lang_dtype_named(at.text + token.at, token.length);
        if (!plain && !sign && !other && !is(&at, token, "const"))
            break;
        is_unsigned |= sign;
        words |= sign || other;
        if (plain && !(dtype && is(&at, token, "int")))
            dtype = plain;
        behind = at;
    }
    if (words && !dtype)
        dtype = WEFT_I32;
    if (is_unsigned)
        dtype = unsigned_of(dtype);
    if (dtype)
        *lexer = behind;
    return dtype;
}
