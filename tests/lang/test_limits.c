/* Any bytes end with a result or an error: huge texts, deep nesting, random and damaged programs.
 */
#include "support/check.h"

#include <stdlib.h>

#include "programs.h"
#include "support/reference.h"

enum { TEN_MB = 10 << 20 };

/* A text that is a beginning, a piece repeated up to a length, and an end; to be freed. */
static char *repeated(const char *begin, const char *piece, size_t length, const char *end,
                      size_t *total)
{
    size_t first = strlen(begin), one = strlen(piece), last = strlen(end);
    char *text = malloc(first + length + one + last + 1);
    if (!text)
        return NULL;
    memcpy(text, begin, first);
    *total = first;
    while (*total - first < length) {
        memcpy(text + *total, piece, one);
        *total += one;
    }
    memcpy(text + *total, end, last + 1);
    *total += last;
    return text;
}

static weft_status compile_repeated(const char *begin, const char *piece, size_t length,
                                    const char *end, weft__lang_program **program)
{
    size_t total = 0;
    char *text = repeated(begin, piece, length, end, &total);
    if (!text)
        return WEFT_ERROR_MEMORY;
    weft_status status = compile_bytes(text, total, "a, c", false, program);
    free(text);
    return status;
}

TEST(X5_ten_thousand_terms)
{
    static const char *const pieces[] = {"+a",   "*a",  "-a*c",    "+sin(a)",
                                         "?1:a", " <a", "+2.5f*a", "+shift(a,1)"};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        AUTO_PROGRAM program = NULL;
        if (pieces[i][0] == '?')
            continue;
        size_t length = 10000 * strlen(pieces[i]);
        weft_status status = compile_repeated("c = a", pieces[i], length, "", &program);
        /* a chain of comparisons compares a bool with a number */
        CHECK_STATUS(status, pieces[i][0] == ' ' ? WEFT_ERROR_DTYPE : WEFT_OK);
        if (status == WEFT_OK)
            CHECK(program->nodes_count > 10000);
    }
}

TEST(X5_nine_thousand_alternatives)
{
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile_repeated("c = ", "a<1?1:", 9000 * 6, "a", &program), WEFT_OK);
    CHECK(program->nodes_count > 9000);
}

TEST(X5_many_statements_and_locals)
{
    enum { COUNT = 20000 };
    size_t room = COUNT * 48 + 64, length = 0;
    char *text = malloc(room);
    AUTO_PROGRAM program = NULL;
    CHECK(text);
    length += (size_t)snprintf(text, room, "x0 = a;");
    for (int i = 1; i < COUNT; i++)
        length += (size_t)snprintf(text + length, room - length, "x%d = x%d + 1;", i, i - 1);
    length += (size_t)snprintf(text + length, room - length, "c = x%d", COUNT - 1);
    weft_status status = compile_bytes(text, length, "a, c", false, &program);
    free(text);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(program->assignments_count, 1);
}

/* Nested less deep than the bound it works, deeper it is an error that says so. */
TEST(X5_nesting)
{
    static const struct {
        const char *open, *close;
    } cases[] = {{"(", ")"}, {"sin(", ")"},  {"f32(", ")"},   {"- ", ""},
                 {"!", ""},  {"a*(1+", ")"}, {"min(a,", ")"}, {"a ? 1 : ", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const int depths[] = {3000, 100000};
        for (int d = 0; d < 2; d++) {
            size_t head = 0, tail = 0, depth = (size_t)depths[d];
            char *end = repeated("", cases[i].close, depth * strlen(cases[i].close), "", &tail);
            char *whole =
                repeated("c = ", cases[i].open, depth * strlen(cases[i].open), "a", &head);
            char *both = end && whole ? malloc(head + tail + 1) : NULL;
            AUTO_PROGRAM program = NULL;
            weft_status status = WEFT_ERROR_MEMORY;
            bool logic = cases[i].open[0] == '!';
            if (both) {
                memcpy(both, whole, head);
                memcpy(both + head, tail ? end : "", tail);
                status = compile_bytes(both, head + tail, "a, c", false, &program);
            }
            free(end);
            free(whole);
            free(both);
            CHECK_STATUS(status, d ? WEFT_ERROR_SYNTAX : logic ? WEFT_ERROR_DTYPE : WEFT_OK);
            if (d)
                CHECK_ERROR(WEFT_ERROR_SYNTAX, "nested more than 10000 deep");
        }
    }
}

TEST(X5_ten_megabytes)
{
    static const struct {
        const char *begin, *piece, *end;
    } cases[] = {
        {"c = ", "(", ""},
        {"c = ", ")", ""},
        {"c = a", "+a", ""},
        {"c = ", "a+", ""},
        {"c = ", "-", "a"},
        {"c = ", "- ", "a"},
        {"c = ", "~", "a"},
        {"c = a", ";c=a", ""},
        {"c = ", "sin(", ""},
        {"", ";", ""},
        {"c = a", "?a:", ""},
        {"c = ", "a?", ""},
        {"", "x", " = a"},
        {"c = ", "9", ""},
        {"c = 0.", "9", " + a"},
        {"c = 0x", "f", ""},
        {"c = a /*", "x", ""},
        {"c = a /*", "x", "*/"},
        {"c = a", " ", ""},
        {"c = a", "\n", "+"},
        {"c = \"", "x", ""},
        {"c = ", "\xff", ""},
        {"c = ", "\xce\xb1", ""},
        {"c = a", "//\n", ""},
        {"c = a.", "b.", ""},
        {"c = a[", "[", ""},
        {"c = max(a", ",a", ")"},
        {"c = shift(a", ",1", ")"},
        {"c = sum(a", ",axis=0", ")"},
        {"c = a", "<<a", ""},
        {"c = a", "/**/", ""},
        {"h = a", ";h=h+1", ";c=h"},
        {"c = 1e", "9", ""},
        {"", "c=a;", "c=b"},
        {"c = h", " + h", "; h = a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_PROGRAM program = NULL;
        weft_status status =
            compile_repeated(cases[i].begin, cases[i].piece, test_quick() ? TEN_MB / 16 : TEN_MB,
                             cases[i].end, &program);
        CHECK(status == WEFT_OK || status == WEFT_ERROR_SYNTAX || status == WEFT_ERROR_DTYPE);
        CHECK((status == WEFT_OK) == (program != NULL));
    }
}

TEST(X5_texts_beyond_the_bounds)
{
    size_t length = 65 << 20;
    char *text = malloc(length);
    AUTO_PROGRAM program = NULL;
    CHECK(text);
    memset(text, ' ', length);
    weft_status status = compile_bytes(text, length, "a, c", false, &program);
    free(text);
    CHECK_STATUS(status, WEFT_ERROR_SYNTAX);
}

/* Two hundred and fifty-six operands with long common beginnings, matched again and again. */
TEST(X5_many_long_operands)
{
    enum { COUNT = 256, TOKENS = 60 };
    static char texts[COUNT][2 * TOKENS + 16];
    static weft__lang_name names[COUNT];
    static weft__lang_operand types[COUNT];
    size_t room = 2000 * (2 * TOKENS + 16), length = 0;
    for (int i = 0; i < COUNT; i++) {
        size_t at = 0;
        for (int k = 0; k < TOKENS; k++)
            at += (size_t)snprintf(texts[i] + at, sizeof texts[i] - at, "x.");
        snprintf(texts[i] + at, sizeof texts[i] - at, "y%d", i);
        names[i] = (weft__lang_name){texts[i], strlen(texts[i])};
        types[i] = known_operands[0].type;
    }
    char *code = malloc(room);
    CHECK(code);
    length += (size_t)snprintf(code, room, "%s = 1", texts[0]);
    for (int i = 0; i < 1500; i++)
        length += (size_t)snprintf(code + length, room - length, "+%s", texts[i % COUNT]);
    weft__lang_syntax *syntax = NULL;
    AUTO_PROGRAM program = NULL;
    weft_status status = weft__lang_parse(code, length, names, COUNT, false, &syntax);
    free(code);
    if (status == WEFT_OK)
        status = weft__lang_check(syntax, types, &program);
    weft__lang_syntax_free(syntax);
    CHECK_STATUS(status, WEFT_OK);
}

static const char *const valid[] = {
    "c += 1.0f/a + 2.0f*a*b",
    "h = a*b; c = h + 1; b = h - 1",
    "c = where(a >= b, a - b, b - a)",
    "c = shift(a, 1, -1, boundary=wrap) - shift(b, 0, 1, value=2.5) + laplacian(a)",
    "c = a - mean(b, axis=(0, 1), keep=true) + sum(a, axis=0) * max(a, b, 0x1F)",
    "b = a ? f32(index(0)) : f32(i64(index(1)) % 3); c = b /* x */ * 2",
    "c = min(a) + norm(b, order=inf) + fma(a, b, -1e-3) * (2 + 3 << 1 & 7 | 1)",
    "c = real(c64(a) * 2.0i) + abs(conj(1.0if + b)) // end",
    "i = index(0); j = index(1); c = f32(i*10 + j) + a; b = var(c, correction=1) + b",
};
enum { VALID = sizeof valid / sizeof valid[0] };

/* Whatever comes out is consistent. */
static bool is_sound(weft_status status, const weft__lang_program *p)
{
    if (status != WEFT_OK)
        return !p && weft_error_code() == status && weft_error_message()[0];
    for (uint32_t i = 0; i < p->nodes_count; i++) {
        if (p->nodes[i].shape < 0 || p->nodes[i].shape >= (int32_t)p->shapes_count)
            return false;
        for (int k = 0; k < 3; k++)
            if (p->nodes[i].argument[k] >= (int32_t)i)
                return false;
    }
    return true;
}

static bool run_bytes(const char *text, size_t length, bool wants_value)
{
    weft__lang_program *program = NULL;
    weft_status status = compile_bytes(text, length, "a, b, c", wants_value, &program);
    bool sound = is_sound(status, program);
    weft__lang_free(program);
    if (!sound && !test_faults())
        printf("%.*s\n", (int)length, text);
    return sound;
}

TEST(X5_random_bytes)
{
    static const char *const pieces[] = {
        "a",   "b",  "c",     "=",    "+=", "(",     ")",  ",", ";",   "?",  ":",  "1",
        "2.5", "-",  "sum",   "axis", "<<", "shift", "&&", "~", "f32", "[",  ".",  "->",
        "/*",  "*/", "index", "h",    "==", "i",     "0x", "e", "\"",  "\\", "\n", "where"};
    uint64_t state = 815;
    int count = test_faults() ? 5 : 100000;
    if (!test_faults())
        printf("seed %llu\n", (unsigned long long)state);
    for (int i = 0; i < count; i++) {
        char text[256];
        size_t length = 0, wanted = (size_t)random_below(&state, 60);
        bool bytes = random_below(&state, 4) == 0;
        while (length < wanted) {
            const char *piece = pieces[random_below(&state, sizeof pieces / sizeof pieces[0])];
            if (bytes)
                text[length++] = (char)random_bits(&state);
            else
                length += (size_t)snprintf(text + length, sizeof text - length, "%s ", piece);
        }
        CHECK(run_bytes(text, length, random_below(&state, 2)));
    }
}

/* Removes, repeats, exchanges or overwrites bytes. */
static size_t damage(char *text, size_t length, size_t room, uint64_t *state)
{
    size_t at = (size_t)random_below(state, (int64_t)length + 1), rest = length - at;
    size_t size = (size_t)random_below(state, 8);
    const char *other = valid[random_below(state, VALID)];
    size_t from = (size_t)random_below(state, (int64_t)strlen(other));
    switch (random_below(state, 5)) {
    case 0: /* remove */
        size = size < rest ? size : rest;
        memmove(text + at, text + at + size, rest - size);
        return length - size;
    case 1: /* a piece of another program */
        size = size < strlen(other) - from ? size : strlen(other) - from;
        if (length + size > room)
            return length;
        memmove(text + at + size, text + at, rest);
        memcpy(text + at, other + from, size);
        return length + size;
    case 2:
        return at; /* cut off */
    default:
        if (rest)
            text[at] = random_below(state, 3) ? other[from] : (char)random_bits(state);
        return length;
    }
}

TEST(X5_damaged_programs)
{
    uint64_t state = 4711;
    int count = test_faults() ? 5 : 100000;
    if (!test_faults())
        printf("seed %llu\n", (unsigned long long)state);
    for (int i = 0; i < count; i++) {
        char text[256];
        const char *start = valid[random_below(&state, VALID)];
        size_t length = strlen(start);
        memcpy(text, start, length);
        for (int64_t n = random_below(&state, 4); n >= 0; n--)
            length = damage(text, length, sizeof text, &state);
        CHECK(run_bytes(text, length, false));
    }
}

/* Random texts and types of operands, beside a program that stays. */
TEST(X5_damaged_operands)
{
    static const char *const texts[] = {"a",       "s->u[3]", "*p",   "(float)x",
                                        "f(a, b)", "2*n",     "x.y.z"};
    uint64_t state = 99;
    int count = test_faults() ? 5 : 20000;
    for (int i = 0; i < count; i++) {
        char text[64], code[128];
        const char *start = texts[random_below(&state, 7)];
        size_t length = strlen(start);
        memcpy(text, start, length);
        for (int64_t n = random_below(&state, 3); n > 0; n--)
            length = damage(text, length, sizeof text - 8, &state);
        int size = snprintf(code, sizeof code, "c = %.*s + 1", (int)length, text);
        weft__lang_name names[] = {{"c", 1}, {text, length}};
        weft__lang_operand types[2] = {known_operands[0].type, known_operands[0].type};
        weft__lang_syntax *syntax = NULL;
        weft__lang_program *program = NULL;
        weft_status status = weft__lang_parse(code, (size_t)size, names, 2, false, &syntax);
        if (status == WEFT_OK)
            status = weft__lang_check(syntax, types, &program);
        bool sound = is_sound(status, program);
        weft__lang_syntax_free(syntax);
        weft__lang_free(program);
        CHECK(sound);
    }
}

/* Each of these in full, with every allocation failing in turn. */
TEST(X5_valid_programs)
{
    for (int i = 0; i < VALID; i++) {
        AUTO_PROGRAM program = NULL;
        CHECK_STATUS(compile(valid[i], "a, b, c", false, &program), WEFT_OK);
    }
}

TEST_MAIN(TEST_OF(X5_valid_programs), TEST_OF(X5_ten_thousand_terms),
          TEST_OF(X5_nine_thousand_alternatives), TEST_OF(X5_many_statements_and_locals),
          TEST_NO_FAULTS(X5_nesting, "each run is long"),
          TEST_NO_FAULTS(X5_ten_megabytes, "each run is long"), TEST_OF(X5_texts_beyond_the_bounds),
          TEST_OF(X5_many_long_operands), TEST_OF(X5_random_bytes), TEST_OF(X5_damaged_programs),
          TEST_OF(X5_damaged_operands));
