/* The lexer: tokens, comments, numbers with their suffixes, and bytes that are none of these. */
#include "support/check.h"

#include <math.h>

#include "lang/lexer.h"
#include "programs.h"

/* The tokens of a text, with blanks between. */
static struct printed tokens_of(const char *text, size_t length)
{
    struct printed out = {""};
    weft__lexer lexer = {text, (uint32_t)length, 0};
    for (weft__token t = weft__lex(&lexer); t.kind != WEFT__TOKEN_END; t = weft__lex(&lexer)) {
        char piece[64];
        snprintf(piece, sizeof piece, "%s%s%.*s", *out.text ? " " : "",
                 t.kind == WEFT__TOKEN_BAD ? "BAD:" : "", (int)t.length, text + t.at);
        append(&out, piece);
    }
    return out;
}

TEST(X2_tokens)
{
    static const char *const cases[][2] = {
        {"", ""},
        {" \t\r\n\v\f", ""},
        {"c+=1.0f/a", "c += 1.0f / a"},
        {"a<<=b>>c<=d<e", "a <<= b >> c <= d < e"},
        {"s->u.v[3]", "s -> u . v [ 3 ]"},
        {"a- -b--c", "a - - b -- c"},
        {"a&&b&c||d|e", "a && b & c || d | e"},
        {"x/* c+d */y//z\nw", "x y w"},
        {"x/**/y/***/z", "x y z"},
        {"/*/ a */b", "b"},
        {"//", ""},
        {"a/*", "a BAD:/*"},
        {"a/", "a /"},
        {"1.5e+3-2", "1.5e+3 - 2"},
        {"0xe+1", "0xe + 1"},
        {"0x1p-3-1", "0x1p-3 - 1"},
        {".5.", ".5."},
        {"a.5", "a .5"},
        {"1e+", "1e+"},
        {"\"a,b\\\"c\" 'x'", "\"a,b\\\"c\" 'x'"},
        {"\"a", "BAD:\" a"},
        {"_a$1", "_a$1"},
        {"\xce\xb1+\xe2\x82\xac", "\xce\xb1 + \xe2\x82\xac"},
        {"a@#`\\", "a BAD:@ BAD:# BAD:` BAD:\\"},
        {"\xff\xc3", "BAD:\xff BAD:\xc3"},
        {"\xc0\x80", "BAD:\xc0 BAD:\x80"},
        {"\xed\xa0\x80", "BAD:\xed BAD:\xa0 BAD:\x80"},
        {"a::b:c", "a :: b : c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(tokens_of(cases[i][0], strlen(cases[i][0])).text, cases[i][1]);
}

TEST(X2_every_punctuator_is_itself)
{
#define PUNCTUATOR_CASE(name, text) {text, WEFT__TOKEN_##name},
    static const struct {
        const char *text;
        weft__token_kind kind;
    } cases[] = {WEFT__PUNCTUATOR_LIST(PUNCTUATOR_CASE)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft__lexer lexer = {cases[i].text, (uint32_t)strlen(cases[i].text), 0};
        weft__token token = weft__lex(&lexer);
        CHECK_INT(token.kind, cases[i].kind);
        CHECK_INT(token.length, strlen(cases[i].text));
        CHECK_INT(weft__lex(&lexer).kind, WEFT__TOKEN_END);
        CHECK_INT(weft__lex(&lexer).kind, WEFT__TOKEN_END);
    }
}

TEST(X2_nul_bytes_are_no_end) { CHECK_STR(tokens_of("a\0b", 3).text, "a BAD: b"); }

TEST(X2_integers)
{
    static const struct {
        const char *text;
        uint64_t value;
        weft_dtype dtype;
        bool weak;
    } cases[] = {
        {"0", 0, WEFT_I64, true},
        {"42", 42, WEFT_I64, true},
        {"0x1F", 31, WEFT_I64, true},
        {"0XaB", 171, WEFT_I64, true},
        {"017", 15, WEFT_I64, true},
        {"0b1011", 11, WEFT_I64, true},
        {"9223372036854775807", INT64_MAX, WEFT_I64, true},
        {"9223372036854775808", UINT64_C(1) << 63, WEFT_U64, true},
        {"18446744073709551615", UINT64_MAX, WEFT_U64, true},
        {"0xffffffffffffffff", UINT64_MAX, WEFT_U64, true},
        {"01777777777777777777777", UINT64_MAX, WEFT_U64, true},
        {"1u", 1, WEFT_U32, false},
        {"4294967296u", UINT64_C(1) << 32, WEFT_U64, false},
        {"1l", 1, WEFT_I64, false},
        {"1L", 1, WEFT_I64, false},
        {"1ll", 1, WEFT_I64, false},
        {"1ul", 1, WEFT_U64, false},
        {"1LLU", 1, WEFT_U64, false},
        {"0x10ul", 16, WEFT_U64, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft__number number;
        CHECK_STR(weft__lang_number(cases[i].text, strlen(cases[i].text), &number), NULL);
        CHECK(number.integer == cases[i].value);
        CHECK_INT(number.dtype, cases[i].dtype);
        CHECK_INT(number.weak, cases[i].weak);
    }
}

TEST(X2_floats)
{
    static const struct {
        const char *text;
        double value;
        weft_dtype dtype;
        bool weak;
    } cases[] = {
        {"1.5", 1.5, WEFT_F64, true},
        {"1.", 1, WEFT_F64, true},
        {".25", 0.25, WEFT_F64, true},
        {"1e3", 1000, WEFT_F64, true},
        {"1E-2", 0.01, WEFT_F64, true},
        {"010.5", 10.5, WEFT_F64, true},
        {"0.1f", (double)0.1f, WEFT_F32, false},
        {"0.1l", 0.1, WEFT_F64, false},
        {"0x1.8p1", 3, WEFT_F64, true},
        {"0x1p-2f", 0.25, WEFT_F32, false},
        {"2.0i", 2, WEFT_C128, true},
        {"2i", 2, WEFT_C128, true},
        {"1.0if", 1, WEFT_C64, false},
        {"1.0fi", 1, WEFT_C64, false},
        {"1e-400", 0, WEFT_F64, true},
        {"16777217.0f", 16777216, WEFT_F32, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft__number number;
        CHECK_STR(weft__lang_number(cases[i].text, strlen(cases[i].text), &number), NULL);
        CHECK_BITS(&number.real, &cases[i].value, sizeof(double));
        CHECK_INT(number.dtype, cases[i].dtype);
        CHECK_INT(number.weak, cases[i].weak);
    }
}

TEST(X2_what_is_no_number)
{
    static const char *const wrong[] = {"1x",
                                        "1.0x",
                                        "0x",
                                        "0b",
                                        "0b2",
                                        "08",
                                        "1uu",
                                        "1lll",
                                        "1ulu",
                                        "1f",
                                        "1e",
                                        "1e+",
                                        "0x1.8",
                                        "0xp1",
                                        "1.2.3",
                                        "1.0ff",
                                        "1.0ii",
                                        "1e999",
                                        "1e99f",
                                        "0x1g",
                                        "1_000",
                                        "0b1i",
                                        "18446744073709551616",
                                        "0x1ffffffffffffffff",
                                        "9223372036854775808l",
                                        "1.0u",
                                        ".e5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft__number number;
        const char *why = weft__lang_number(wrong[i], strlen(wrong[i]), &number);
        CHECK(why || !printf("%s is taken for a number\n", wrong[i]));
        CHECK(strlen(why) > 10);
    }
}

TEST(X2_lists_of_operands_are_split)
{
    weft__lang_name names[4];
    const char *text = "a, f(b, (c)), s->u[','], \"x,y\"";
    CHECK_STATUS(weft__lang_split(text, strlen(text), 4, names), WEFT_OK);
    static const char *const expected[] = {"a", " f(b, (c))", " s->u[',']", " \"x,y\""};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(names[i].length, strlen(expected[i]));
        CHECK_BITS(names[i].text, expected[i], names[i].length);
    }
    CHECK_STATUS(weft__lang_split(text, strlen(text), 3, names), WEFT_ERROR_SYNTAX);
    CHECK_ERROR(WEFT_ERROR_SYNTAX, "4 operands; 3 were given");
}

TEST_MAIN(TEST_OF(X2_tokens), TEST_OF(X2_every_punctuator_is_itself),
          TEST_OF(X2_nul_bytes_are_no_end), TEST_OF(X2_integers), TEST_OF(X2_floats),
          TEST_OF(X2_what_is_no_number), TEST_OF(X2_lists_of_operands_are_split));
