/* Portable kernels that are wrong: what is said, and where the caret stands. */
#include "support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

struct wrong {
    const char *body;
    weft_status status;
    const char *says;
    const char *at; /* what the caret stands under, or NULL: there is none */
};

/* Over (4, 5), with arrays a and out (4, 5), row (5), a const array c (4, 5) and n = 3.
 * semantics: Portable kernels / Assigned */
static const struct wrong wrongs[] = {
    {"out(i, j) = a(i, j", WEFT_ERROR_SYNTAX, "was expected before the end", ""},
    {"out(i, j) = a(i, j) +", WEFT_ERROR_SYNTAX, "a value was expected", ""},
    {"out(i, j) = aa(i, j)", WEFT_ERROR_SYNTAX, "unknown function 'aa'; did you mean 'a'?", "aa("},
    {"out(i, j) = a(i, k)", WEFT_ERROR_SYNTAX, "or an index, a name that stands in every", "k)"},
    {"out(index, j) = indx + a(index, j)", WEFT_ERROR_SYNTAX, "did you mean 'index'?", "indx"},
    {"out(i, j) = m; m = a(i, j)", WEFT_ERROR_SYNTAX, "'m' is read before it is set", "m;"},
    {"i = 2; out(i, j) = a(i, j)", WEFT_ERROR_SYNTAX, "'i' is an index and cannot be", "i = 2"},
    {"m = a(i, j); out(i, j) = 1", WEFT_ERROR_SYNTAX, "as a local it is never read", "m ="},
    {"a(i, j) + out(i, j)", WEFT_ERROR_SYNTAX, "unknown name 'i'", "i, j) + out"},
    {"out(i, j) = 1; a(i, j)", WEFT_ERROR_SYNTAX, "this value goes nowhere", "a(i, j)"},
    {"out(i, j) + 1 = a(i, j)", WEFT_ERROR_SYNTAX, "unknown name 'i'", "i, j) + 1"},
    {"out(i, j) = 1; a(i, j) + 1 = 2", WEFT_ERROR_SYNTAX, "only an element", "= 2"},
    {"out = a", WEFT_ERROR_SYNTAX, "give 'out' its indices", "out = a"},
    {"", WEFT_ERROR_SYNTAX, "the kernel is empty", NULL},
    {"boundary = wrap;", WEFT_ERROR_SYNTAX, "assigns to no element", "boundary"},
    {"out(i, j) = sum(a(i, j))", WEFT_ERROR_SYNTAX, "sum is for whole arrays", "sum"},
    {"out(i, j) = shift(a, 1)", WEFT_ERROR_SYNTAX, "shift is for whole arrays", "shift"},
    {"out(i, j) = f32(index(0))", WEFT_ERROR_SYNTAX, "index is for whole arrays", "index"},
    {"out(i, j, k, l, m, o, p, q, r) = 1", WEFT_ERROR_SYNTAX, "at most 8 indices", "r)"},
    {"out(pi, j) = 1", WEFT_ERROR_SYNTAX, "'pi' has a meaning of its own", "pi"},
    {"out(i, j) = a(i, j, edge=clamp)", WEFT_ERROR_SYNTAX, "no argument named 'edge'", "edge"},
    {"out(i, j) = a(i, j, boundary=mirror)", WEFT_ERROR_SYNTAX, "unshifted, clamp, wrap or zero",
     "mirror"},
    {"out(i, j, boundary=clamp) = 1", WEFT_ERROR_SYNTAX, "for elements that are read", "out"},
    {"out(i, j) = 1; boundary = wrap", WEFT_ERROR_SYNTAX, "is the first statement", "boundary"},
    {"{ out(i, j) = 1; }; a(i, j) = 1", WEFT_ERROR_SYNTAX, "was expected, not '{'", "{"},
    {"out(i, j) = a", WEFT_ERROR_ARGUMENT, "'a' is an array; a kernel works on its elements", "a"},
    {"out(i, j) = n(i)", WEFT_ERROR_ARGUMENT, "'n' is a number and has no elements", "n(i)"},
    {"c(i, j) = 1", WEFT_ERROR_ARGUMENT, "'c' is a const array", "c(i, j)"},
    {"out(i, j) = a(i, j, 0)", WEFT_ERROR_SHAPE, "3 indices are given for 'a', which has 2", "a("},
    {"out(i, j) = row(i, j)", WEFT_ERROR_SHAPE, "2 indices are given for 'row', which has 1",
     "row("},
    {"out(i, j, k) = 1", WEFT_ERROR_SHAPE, "3 indices and the index space 2", "out("},
    {"out(i, j) = 1; a(i, 0) = 2", WEFT_ERROR_ARGUMENT, "without the index 'j'", "a(i, 0)"},
    {"row(j) = a(0, j); out(i, j) = 1", WEFT_ERROR_ARGUMENT, "without the index 'i'", "row(j)"},
    {"out(0, i + j) = 1", WEFT_ERROR_SHAPE, "out(0, i + j) is out of bounds at i = 3, j = 4",
     "out("},
    {"out(i, 0*j) = 1", WEFT_ERROR_ARGUMENT, "without the index 'j'", "out("},
    {"out(2*i + j) = 1", WEFT_ERROR_ARGUMENT, "several points may write one element", "out("},
    {"out(i + 1, j) = 1", WEFT_ERROR_SHAPE,
     "out(i + 1, j) is out of bounds at i = 3: index 4, and 'out' has 4 elements along axis 0",
     "out("},
    {"out(i, j) = row(i + 6)", WEFT_ERROR_SHAPE, "as large as the index space", "row("},
    {"out(i, j) = a(j, i)", WEFT_ERROR_SHAPE, "index 4, and 'a' has 4 elements along axis 0", "a("},
    {"out(i, j) = a(2*i, j)", WEFT_ERROR_SHAPE, "only an index plus a constant", "a("},
    {"out(i, j) = a(i, n + 2)", WEFT_ERROR_SHAPE, "index 5, and 'a' has 5", "a("},
    {"out(i, j) = a(9*i + j)", WEFT_ERROR_SHAPE, "index 31, and 'a' has 20 elements in C order",
     "a("},
    {"out(i, j) = a(i, j/2)", WEFT_ERROR_UNSUPPORTED, "with + - and * by a constant", "/2"},
    {"out(i, j) = a(i, i*j)", WEFT_ERROR_UNSUPPORTED, "with + - and * by a constant", "*j"},
    {"out(i, j) = a(i64(row(j)), j)", WEFT_ERROR_UNSUPPORTED, "the value of another element",
     "i64"},
    {"out(i, j) = a(1.5, j)", WEFT_ERROR_UNSUPPORTED, "made of the kernel's indices", "1.5"},
    {"out(i, j) = a(9223372036854775807 + 1, j)", WEFT_ERROR_SHAPE, "do not fit into 64 b", "+ 1"},
    {"out(i, j) = a(i + 9223372036854775807 + 9223372036854775807)", WEFT_ERROR_SHAPE,
     "do not fit into 64 bits", "+ 9223372036854775807)"},
    {"out(i, j) = a(i + 18446744073709551615)", WEFT_ERROR_SHAPE, "do not fit into 64 b", "+ 18"},
    {"out(i, j) = a(i*2*9223372036854775807)", WEFT_ERROR_SHAPE, "do not fit into 64 b", "*9"},
    {"out(i, j) = a(18446744073709551615/3*i)", WEFT_ERROR_SHAPE, "do not fit into 64 b", "*i"},
    {"out(i, j) = a(i - -9223372036854775808)", WEFT_ERROR_SHAPE, "do not fit into 64 b", "- -"},
    {"out(i, j) = a(2*i + -9223372036854775808)", WEFT_ERROR_SHAPE, "out of bounds", "a("},
    {"out(i, j) = a(i*j + 18446744073709551615)", WEFT_ERROR_UNSUPPORTED, "made of", "+ 18"},
    {"out(i, j) = a(9223372036854775807*i, j)", WEFT_ERROR_SHAPE, "do not fit into 64 bits", "a("},
    {"out(i, j) = i", WEFT_ERROR_DTYPE, "'out(i, j)' is f32 and the value is i64", "out"},
    {"out(i, j) = a(i, j) + i", WEFT_ERROR_DTYPE, "f32 and i64 have no common dtype", "+ i"},
    {"out(i, j) = a(i-1, j, value=a(0, 0))", WEFT_ERROR_SHAPE, "value= is one number", "a(i-1"},
    {"out(i, j) = a(i, j, value=a(0, 0))", WEFT_ERROR_SHAPE, "value= is one number", "a(i, j, v"},
    {"m = f32(j) + 1; out(i, j) = a(i, j, value=m)", WEFT_ERROR_SHAPE, "value= is one", "a(i, j,"},
};

/* Whether the caret of the last message stands under `at`. */
static bool caret_under(const char *at)
{
    const char *message = weft_error_last()->message, *line = strchr(message, '\n');
    const char *below = line ? strchr(line + 1, '\n') : NULL;
    if (!below || !at)
        return !below && !at;
    size_t column = strspn(below + 1, " ");
    return below[1 + column] == '^' && strncmp(line + 1 + column, at, strlen(at)) == 0;
}

TEST(K1_errors_say_what_and_where)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4, 5), .device = device());
    WEFT_AUTO weft_array *out = weft_zeros_like(a), *c = weft_zeros_like(a);
    WEFT_AUTO weft_array *row = weft_ones(WEFT_SHAPE(5), .device = device());
    static const char *const all[] = {"a", "out", "row", "c", "n"};
    CHECK(a && out && row && c);
    for (size_t w = 0; w < sizeof wrongs / sizeof wrongs[0]; w++) {
        weft_operand given[] = {WEFT_OPERAND(a), WEFT_OPERAND(out), WEFT_OPERAND(row),
                                WEFT_OPERAND((const weft_array *)c), WEFT_OPERAND(3)};
        weft_operand used[5];
        char parameters[64] = "(";
        int count = 0;
        for (int p = 0; p < 5; p++) { /* every parameter must be used */
            char open[8];
            snprintf(open, sizeof open, "%s(", all[p]);
            const char *found = strstr(wrongs[w].body, open);
            while (found && found > wrongs[w].body && found[-1] >= 'a' && found[-1] <= 'z')
                found = strstr(found + 1, open);
            bool bare = !strncmp(wrongs[w].body, "out = a", 7) && p < 2;
            bare |= !strcmp(wrongs[w].body, "out(i, j) = a") && p == 0;
            bare |= strstr(wrongs[w].body, "n + 2") && p == 4;
            bare |= strstr(wrongs[w].body, "shift(a") && p == 0;
            bare |= strstr(wrongs[w].body, "aa(") && p == 0;
            if (!found && !bare)
                continue;
            snprintf(parameters + strlen(parameters), 8, "%s%s", count ? ", " : "", all[p]);
            used[count++] = given[p];
        }
        strcat(parameters, ")");
        weft_kernel kernel = {.struct_size = sizeof kernel,
                              .name = "wrong",
                              .parameters = parameters,
                              .body = wrongs[w].body};
        weft_status status = weft_launch_over(&kernel, out, count, used);
        if (status == WEFT_ERROR_MEMORY && test_faults())
            return;
        if (status != wrongs[w].status || !strstr(weft_error_message(), wrongs[w].says) ||
            !caret_under(wrongs[w].at))
            fprintf(stderr, "%s %s:\n%s\n", parameters, wrongs[w].body, weft_error_message());
        CHECK_STATUS(status, wrongs[w].status);
        CHECK_ERROR(wrongs[w].status, wrongs[w].says);
        CHECK_ERROR(wrongs[w].status, "kernel 'wrong': ");
        CHECK(caret_under(wrongs[w].at));
    }
}

WEFT_KERNEL(copy, (in, out), { out(i) = in(i); });

TEST(K1_wrong_arguments)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(6), .device = device());
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    WEFT_AUTO weft_array *wide = weft_broadcast(a, WEFT_SHAPE(2, 6));
    CHECK(a && handle && wide);
    CHECK_STATUS(weft_launch(copy, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "has 2 parameters, (in, out), and 1 argument was given");
    CHECK_STATUS(weft_launch(copy, a, a, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch(copy, a, a, handle), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "'out' has no memory yet");
    CHECK_STATUS(weft_launch(copy, wide, wide, wide), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "broadcast");
    CHECK_STATUS(weft_launch(copy, WEFT_SHAPE(-1), a, a), WEFT_ERROR_SHAPE);
    weft_array *none = weft_slice(a, WEFT_AT(7));
    for (int k = 0; k < 2; k++) { /* the cause stays what it was */
        CHECK_STATUS(weft_launch(copy, a, none, a), WEFT_ERROR_SHAPE);
        CHECK(!strncmp(weft_error_message(), "weft_slice: index 7 ", 20));
    }
    weft_error_clear();
    CHECK_STATUS(weft_launch(copy, a, (weft_array *)NULL, a), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch(copy, (weft_array *)NULL, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch_over(NULL, a, 0, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch_over(&copy, a, 2, NULL), WEFT_ERROR_ARGUMENT);
    weft_kernel other = copy;
    other.language = 77;
    CHECK_STATUS(weft_launch(other, a, a, a), WEFT_ERROR_UNSUPPORTED);
    other = copy;
    for (size_t size = 3; size < sizeof other; size += sizeof other - 4) {
        other.struct_size = size;
        CHECK_STATUS(weft_launch(other, a, a, a), WEFT_ERROR_ARGUMENT);
        CHECK_ERROR(WEFT_ERROR_ARGUMENT, "struct_size");
    }
    other.struct_size = 0; /* all fields are known */
    CHECK_STATUS(weft_launch(other, a, a, a), WEFT_OK);
}

/* (in, out) with something wrong. */
static const struct wrong wrong_parameters[] = {
    {"(in, out +)", WEFT_ERROR_SYNTAX, "parameter 2 is no name", "out +"},
    {"(in, out", WEFT_ERROR_SYNTAX, "the parameters have no ')'", ""},
    {"in, out)", WEFT_ERROR_SYNTAX, "the parameters have no '('", "in, out)"},
    {"(in), (out)", WEFT_ERROR_SYNTAX, "parameter 1 is no name", "in)"},
    {"(in, out,)", WEFT_ERROR_SYNTAX, "parameter 3 is no name", ""},
    {"(in out)", WEFT_ERROR_SYNTAX, "parameter 1 is no name", "in out"},
    {"(, in)", WEFT_ERROR_SYNTAX, "parameter 1 is no name", ", in"},
    {"(", WEFT_ERROR_SYNTAX, "the parameters have no ')'", ""},
    {"()", WEFT_ERROR_ARGUMENT, "has 0 parameters, (), and 2 arguments were given", NULL},
    {"(in)", WEFT_ERROR_ARGUMENT, "has 1 parameter, (in), and 2 arguments were given", NULL},
};

TEST(K1_wrong_parameters)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(6), .device = device());
    CHECK(a);
    weft_operand given[] = {WEFT_OPERAND(a), WEFT_OPERAND(a)};
    for (size_t w = 0; w < sizeof wrong_parameters / sizeof wrong_parameters[0]; w++) {
        const struct wrong *wrong = &wrong_parameters[w];
        weft_kernel kernel = {.name = "wrong", .parameters = wrong->body, .body = "out(i) = in(i)"};
        CHECK_STATUS(weft_launch_over(&kernel, a, 2, given), wrong->status);
        CHECK_ERROR(wrong->status, wrong->says);
        CHECK_ERROR(wrong->status, "kernel 'wrong'");
        CHECK(caret_under(wrong->at));
    }
}

WEFT_KERNEL(moved, (in, out, n), { out(i) = in(i + n); });
WEFT_KERNEL(moved_back, (in, out, n), { out(i) = in(i - n) + in(-n + i); });

TEST(K1_numbers_that_do_not_fit_into_64_bits)
{
    WEFT_AUTO weft_array *a = weft_arange(0, 6, 1, .device = device());
    WEFT_AUTO weft_array *out = weft_zeros(WEFT_SHAPE(3), .device = device());
    const uint64_t most = UINT64_MAX, three = 3;
    const int64_t least = INT64_MIN;
    CHECK(a && out);
    for (int n = 0; n < 2; n++) { /* what was made for 3 is not for another number */
        CHECK_STATUS(weft_launch(moved, out, a, out, most), WEFT_ERROR_SHAPE);
        CHECK_ERROR(WEFT_ERROR_SHAPE, "do not fit into 64 bits");
        CHECK_STATUS(weft_launch(moved, out, a, out, three), WEFT_OK);
    }
    CHECK_STATUS(weft_launch(moved_back, out, a, out, least), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "do not fit into 64 bits");
}

WEFT_KERNEL(by_position, (a), {
    a(i + 1) = 1;
    a(i, 0) = 2;
});

TEST(K1_a_copy_that_would_undo_what_is_written)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4, 5), .device = device());
    WEFT_AUTO weft_array *t = weft_transpose(a);
    CHECK(t);
    CHECK_STATUS(weft_launch(by_position, WEFT_SHAPE(4), a), WEFT_OK);
    CHECK_STATUS(weft_launch(by_position, WEFT_SHAPE(4), t), WEFT_ERROR_UNSUPPORTED);
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "'a' is written by its position in C order");
    CHECK(caret_under("a(i + 1)"));
}

WEFT_KERNEL(checked, (in, out), { out(i, j) = in(i, j - 2) + in(i, j + 1, boundary = wrap); });
WEFT_KERNEL(inside, (in, out), { out(i, j) = in(i, j); });

/* Whether a test that was not alone passes alone, with that WEFT_CHECK. */
static bool passes_with_check(const char *value, const char *name)
{
    setenv("WEFT_CHECK", value, 1);
    bool passed = test_passes_alone(name);
    unsetenv("WEFT_CHECK");
    return passed;
}

TEST(K1_bounds_are_checked_on_request)
{
    if (!test_alone()) {
        CHECK(passes_with_check("bounds", "K1_bounds_are_checked_on_request"));
        return;
    }
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4, 5), .device = device());
    CHECK(a);
    CHECK_STATUS(weft_launch(checked, a, a, a), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "kernel 'checked': in(i, j - 2) is out of bounds at j = 0: index "
                                  "-2, and 'in' has 5 elements along axis 1");
    CHECK_STATUS(weft_launch(checked, WEFT_SHAPE(0, 5), a, a), WEFT_OK);
    CHECK_STATUS(weft_launch(inside, a, a, a), WEFT_OK);
}

TEST(K1_an_unknown_check_is_an_error)
{
    if (!test_alone()) {
        CHECK(passes_with_check("bound", "K1_an_unknown_check_is_an_error"));
        return;
    }
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4, 5), .device = device());
    CHECK(a);
    CHECK_STATUS(weft_launch(inside, a, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "WEFT_CHECK is 'bound'");
}

/* Texts of any bytes end in an error or run, in bounded time. */
TEST(K1_any_text)
{
    enum { LONGEST = 60 };
    static const char *const pieces[] = {
        "out", "in", "(",  ")", "i",    "j",        ",",     "=",     "+",       "-",
        "*",   "1",  "2",  ";", " ",    "where",    "0",     "/",     "n",       "=",
        "{",   "}",  "\"", "'", "\xff", "boundary", "clamp", "value", "in(i-1)", "out(i) = "};
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(9), .device = device());
    WEFT_AUTO weft_array *b = weft_zeros_like(a);
    CHECK(a && b);
    uint64_t state = 88172645463325252U;
    for (int n = 0; n < (test_faults() ? 5 : test_quick() ? 300 : 5000); n++) {
        char body[1024] = "out(i) = in(i)";
        for (int k = (int)(state >> 7) % LONGEST; k > 0; k--) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            strcat(body, pieces[state % (sizeof pieces / sizeof pieces[0])]);
        }
        weft_kernel kernel = {
            .struct_size = sizeof kernel, .name = "any", .parameters = "(in, out)", .body = body};
        weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b)};
        weft_status status = weft_launch_over(&kernel, a, 2, operands);
        CHECK(status == WEFT_OK || weft_error_message()[0]);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
}

TEST(K1_deep_and_long_texts)
{
    enum { DEEP = 100000 };
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(9), .device = device());
    static char body[2 * DEEP];
    CHECK(a);
    weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(a)};
    weft_kernel kernel = {
        .struct_size = sizeof kernel, .name = "deep", .parameters = "(in, out)", .body = body};
    strcpy(body, "out(i) = in(");
    memset(body + 12, '(', DEEP);
    strcpy(body + 12 + DEEP, "i");
    weft_status deep = weft_launch_over(&kernel, a, 2, operands);
    strcpy(body, "out(i) = in(i");
    for (int k = 0; k < 1000; k++)
        memcpy(body + 13 + 4 * k, " - 1", 4);
    strcpy(body + 13 + 4000, ")");
    weft_status longer = weft_launch_over(&kernel, a, 2, operands);
    CHECK_STATUS(deep, WEFT_ERROR_SYNTAX);
    CHECK_STATUS(longer, WEFT_OK); /* out of bounds: in(i) */
}

TEST_MAIN(TEST_OF(K1_errors_say_what_and_where), TEST_OF(K1_wrong_arguments),
          TEST_OF(K1_wrong_parameters), TEST_OF(K1_numbers_that_do_not_fit_into_64_bits),
          TEST_OF(K1_a_copy_that_would_undo_what_is_written),
          TEST_OF(K1_bounds_are_checked_on_request), TEST_OF(K1_an_unknown_check_is_an_error),
          TEST_OF(K1_any_text), TEST_OF(K1_deep_and_long_texts));
