/* Loops in functions against the same loops in plain C: bits, and which of them are parallel. */
#include "function/data.h"
#include "function/open.h"
#include "support/arrays.h"
#include "support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { PARALLEL, SERIAL, REDUCTION, STENCIL, TRIANGULAR, ALIASED, INDIRECT, INNER, SORTS };

#include "function/elements.h"
#define LOOP(name, sort, independent, alias, ...) ORACLE(name, __VA_ARGS__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion" /* loops that cut what they sum */
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#include "function/corpus.h"
#pragma GCC diagnostic pop
#undef LOOP
#include "function/elements.h"

static const struct loop {
    weft_function function;
    oracle *oracle;
    int sort, alias;
    bool independent;
} loops[] = {
#define LOOP(name, sort, independent, alias, ...)                                                  \
    {FUNCTION(#name, #__VA_ARGS__), c_##name, sort, alias, independent},
#include "function/corpus.h"
#undef LOOP
};
enum { LOOPS = sizeof loops / sizeof loops[0] };

/* Whether the loop, and not one inside of it alone, was a kernel. */
static weft_status call(const struct loop *loop, data *d, bool *parallel)
{
    weft__function *opened;
    weft_status status = call_twice(&loop->function, d, loop->alias);
    if (status == WEFT_OK)
        status = weft__function_find(&loop->function, &opened);
    *parallel = status == WEFT_OK && opened->totals[WEFT__DID_LOOP] > 0 &&
                opened->totals[WEFT__DID_SERIAL] == 0;
    return status;
}

static void check_loop(const struct loop *loop, bool *parallel)
{
    data actual, expected;
    fill(&expected);
    call_oracle(loop->oracle, &expected, loop->alias);
    const weft_status status = call(loop, &actual, parallel);
    if (status != WEFT_OK && !test_faults())
        fprintf(stderr, "%s: %s\n", loop->function.name, weft_error_message());
    CHECK_STATUS(status, WEFT_OK);
    if (memcmp(&actual, &expected, sizeof actual) != 0)
        fprintf(stderr, "%s differs from C (%s)\n", loop->function.name,
                *parallel ? "parallel" : "serial");
    CHECK_BITS(&actual, &expected, sizeof actual);
}

/* semantics: Functions / Loops; Functions / Loops in loops; Functions / Integers and bool; Points,
 * memory and order / A gather; Points, memory and order / A loop; Functions / Conditions */
TEST(F3_loops)
{
    int independent = 0, found = 0, sorts[SORTS] = {0};
    for (int i = 0; i < LOOPS; i++) {
        bool parallel = false;
        check_loop(&loops[i], &parallel);
        sorts[loops[i].sort]++;
        independent += loops[i].independent;
        found += loops[i].independent && parallel;
        if (parallel && !loops[i].independent)
            fprintf(stderr, "%s is called parallel\n", loops[i].function.name);
        CHECK(!parallel || loops[i].independent || test_faults());
        if (!parallel && loops[i].independent && getenv("WEFT_TEST_VERBOSE")) {
            char *text = NULL;
            if (weft_function_explain(&text, &loops[i].function) == WEFT_OK)
                fprintf(stderr, "%s\n", text);
            weft_explain_free(text);
        }
    }
    if (test_faults())
        return;
    printf("%d loops, %d independent, %d of them found\n", (int)LOOPS, independent, found);
    for (int i = 0; i < SORTS; i++)
        CHECK(sorts[i] >= 8);
    CHECK(LOOPS >= 60);
    CHECK(10 * found >= 9 * independent);
}

/* A triangle, or with slope 0 a square in which iterations need each other: the bounds of a call
 * decide, though both have as many points around them.
 * semantics: Functions / Loops */
WEFT_FUNCTION(mirror, (a, slope), {
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < slope * i - 5 * slope + 5; j++)
            a(i, j) = a(j, i) + 1;
});

TEST(F3_bounds_of_a_call)
{
    static const int slopes[] = {1, 0, 2, 1, 0};
    for (size_t call = 0; call < sizeof slopes / sizeof slopes[0]; call++) {
        double actual[6][6], expected[6][6];
        const int slope = slopes[call];
        for (int i = 0; i < 36; i++)
            actual[i / 6][i % 6] = expected[i / 6][i % 6] = i * 5 % 17;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < slope * i - 5 * slope + 5; j++)
                expected[i][j] = expected[j][i] + 1;
        WEFT_AUTO weft_array *a = weft_borrow(actual, sizeof actual, WEFT_SHAPE(6, 6), WEFT_F64);
        CHECK_STATUS(a ? weft_call(mirror, NULL, a, slope) : weft_error_code(), WEFT_OK);
        CHECK_BITS(actual, expected, sizeof actual);
    }
}

/* What a condition says depends on the numbers of the call: the same loop is a kernel, or an error.
 */
WEFT_FUNCTION(below, (x, y, k, limit), {
    for (int i = 0; i < 8; i++)
        if (k(i) >= 0 && k(i) < limit)
            y(i) = x(k(i));
});

TEST(F3_conditions_of_a_call)
{
    static const int limits[] = {8, 4, 9, 8, 20, 12};
    const int32_t positions[8] = {3, -1, 7, 11, 0, -5, 2, 6};
    for (size_t call = 0; call < sizeof limits / sizeof limits[0]; call++) {
        float from[8], actual[8] = {0}, expected[8] = {0};
        for (int i = 0; i < 8; i++)
            from[i] = (float)(i + 1);
        for (int i = 0; i < 8; i++)
            if (positions[i] >= 0 && positions[i] < limits[call] && positions[i] < 8)
                expected[i] = from[positions[i]];
        WEFT_AUTO weft_array *x = weft_borrow(from, sizeof from, WEFT_SHAPE(8), WEFT_F32);
        WEFT_AUTO weft_array *y = weft_borrow(actual, sizeof actual, WEFT_SHAPE(8), WEFT_F32);
        WEFT_AUTO weft_array *k =
            weft_from_host(positions, sizeof positions, WEFT_SHAPE(8), .dtype = WEFT_I32);
        const bool outside = limits[call] > 11;
        weft_status status = weft_call(below, NULL, x, y, k, limits[call]);
        CHECK_STATUS(status, outside ? WEFT_ERROR_SHAPE : WEFT_OK);
        if (outside)
            CHECK(strstr(weft_error_message(), "subscript 1 of 'x' is 11; 0 to 7 are possible"));
        else
            CHECK_BITS(actual, expected, sizeof actual);
    }
}

static weft_status call_body(const char *name, const char *body, weft_array *x, weft_array *y)
{
    const weft_function f = {.struct_size = sizeof f,
                             .name = name,
                             .parameters = "(x, y)",
                             .body = body,
                             .place = "here"};
    return weft_call(f, NULL, x, y);
}

/* Each is wrong for one i, by one. */
TEST(F3_conditions_that_do_not_suffice)
{
    static const char *const bodies[] = {
        "{ for (int i = 0; i < 6; i++) if (i > 0) y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (0 < i) y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i >= 1) y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (1 <= i) y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i < 5) y(i) = x(i + 2); }",
        "{ for (int i = 0; i < 6; i++) if (i <= 4) y(i) = x(i + 2); }",
        "{ for (int i = 0; i < 6; i++) if (i > 4) y(i) = 0.0f; else y(i) = x(i + 2); }",
        "{ for (int i = 0; i < 6; i++) if (i >= 5) y(i) = 0.0f; else y(i) = x(i + 2); }",
        "{ for (int i = 0; i < 6; i++) if (i < 1) y(i) = 0.0f; else y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i <= 0) y(i) = 0.0f; else y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i == 0) y(i) = 0.0f; else y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i != 0) y(i) = x(i - 2); }",
        "{ for (int i = 0; i < 6; i++) if (i == 4) y(i) = x(i + 2); }",
    };
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(6)), *y = weft_zeros(WEFT_SHAPE(6));
    CHECK(x && y);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CHECK_STATUS(call_body("short_by_one", bodies[i], x, y), WEFT_ERROR_SHAPE);
    }
}

/* An index in two subscripts, of which one is inside only where it is read. */
WEFT_FUNCTION(two_subscripts, (x, y, z), {
    for (int i = 0; i < 5; i++)
        if (i > 0)
            y(i) = x(2 * i, i - 1);
    for (int i = 0; i < 5; i++)
        z(i) = i < 3 ? x(2 * i + 1, i + 2) : 0.0f;
});

TEST(F3_an_index_in_two_subscripts)
{
    const float expected[2][5] = {{0, 10, 21, 32, 43}, {7, 18, 29, 0, 0}};
    float actual[2][5] = {{0}, {0}};
    WEFT_AUTO weft_array *line = weft_arange(0, 75, 1);
    WEFT_AUTO weft_array *x = weft_reshape(line, WEFT_SHAPE(15, 5));
    WEFT_AUTO weft_array *y = weft_borrow(actual[0], sizeof *actual, WEFT_SHAPE(5), WEFT_F32);
    WEFT_AUTO weft_array *z = weft_borrow(actual[1], sizeof *actual, WEFT_SHAPE(5), WEFT_F32);
    CHECK(x && y && z);
    CHECK_STATUS(weft_call(two_subscripts, NULL, x, y, z), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
}

/* Elements out of range are refused where nothing comes of them, in loops of an iteration too. */
TEST(F3_reads_for_nothing)
{
    static const char *const bodies[] = {
        "{ for (int i = 0; i < 6; i++) { t = x(i + 1); y(i) = 1; } }",
        "{ for (int i = 0; i < 6; i++) { t = 0; for (int j = 0; j < 2; j++) t = x(i + j); "
        "y(i) = 1; } }",
        "{ for (int i = 0; i < 6; i++) { j = 0; t = 0; while (j < 2) { t = t + x(i + j); j++; } "
        "y(i) = 1; } }",
        "{ for (int i = 0; i < 6; i++) { j = i; while (x(j) > 0) j++; y(i) = 1; } }",
        "{ for (int i = 0; i < 6; i++) { t = x(i + 1); if (i > 4) t = 2; y(i) = t; } }",
        "{ for (int i = 0; i < 6; i++) { t = 1; if (i > 0) { t = x(i + 1); if (i > 4) t = 2; } "
        "y(i) = t; } }",
        "{ for (int i = 0; i < 6; i++) { t = x(i + 1); if (i < 5) y(i) = t; } }",
        "{ for (int i = 0; i < 6; i++) if (i > 0) { t = x(i + 1); if (i < 5) y(i) = t; } }",
    };
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(6)), *y = weft_zeros(WEFT_SHAPE(6));
    CHECK(x && y);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        CHECK_STATUS(call_body("reads_for_nothing", bodies[i], x, y), WEFT_ERROR_SHAPE);
        CHECK_ERROR(WEFT_ERROR_SHAPE, "subscript 1 of 'x' is 6; 0 to 5 are possible");
    }
}

/* What is read under a condition into a variable is a kernel as before. */
WEFT_FUNCTION(through_variables, (x, y, z), {
    for (int i = 0; i < 6; i++)
        if (i > 0) {
            t = x(i - 1);
            y(i) = t;
        }
    for (int i = 0; i < 6; i++) {
        if (i < 5)
            u = x(i + 1);
        else
            u = 7.0f;
        z(i) = u;
    }
});

TEST(F3_reads_into_variables)
{
    const float from[6] = {1, 2, 3, 4, 5, 6},
                expected[2][6] = {{0, 1, 2, 3, 4, 5}, {2, 3, 4, 5, 6, 7}};
    float actual[2][6] = {{0}, {0}};
    char *text = NULL;
    WEFT_AUTO weft_array *x = weft_from_host(from, sizeof from, WEFT_SHAPE(6));
    WEFT_AUTO weft_array *y = weft_borrow(actual[0], sizeof *actual, WEFT_SHAPE(6), WEFT_F32);
    WEFT_AUTO weft_array *z = weft_borrow(actual[1], sizeof *actual, WEFT_SHAPE(6), WEFT_F32);
    CHECK(x && y && z);
    CHECK_STATUS(weft_call(through_variables, NULL, x, y, z), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK_STATUS(weft_function_explain(&text, &through_variables), WEFT_OK);
    const bool serial = text && (strstr(text, "serial") || strstr(text, "in order"));
    weft_explain_free(text);
    CHECK(!serial);
}

/* Bounds that wrap around are what they are in C with -fwrapv, also where the elements are inside
 * again. */
WEFT_FUNCTION(wraps, (y, m, k), {
    for (i = 0; i < 3; i++)
        for (j = i + k; j < m; j++)
            y(j - k) = y(j - k - 1) + i + 1;
});
WEFT_FUNCTION(wraps_at_once, (y, m, k), {
    for (j = m + k; j < m + k + 3; j++)
        y(j - m - k + 1) = y(j - m - k) + 1;
});
WEFT_FUNCTION(wraps_in_a_square, (y, m, k), {
    for (i = 0; i < 4; i++)
        for (j = 2 * i * k; j < m + 2 * i * k; j++)
            y(j - 2 * i * k) = y(j - 2 * i * k) + i;
});

TEST(F3_bounds_that_wrap)
{
    int64_t values[3][8];
    static const int64_t expected[3][8] = {
        {0, 2, 5, 8, 11, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {6, 7, 8, 3, 4, 5, 6, 7}};
    for (int64_t k = 0; k < 24; k++)
        values[k / 8][k % 8] = k % 8;
    WEFT_AUTO weft_array *a = weft_borrow(values[0], sizeof *values, WEFT_SHAPE(8), WEFT_I64);
    WEFT_AUTO weft_array *b = weft_borrow(values[1], sizeof *values, WEFT_SHAPE(8), WEFT_I64);
    WEFT_AUTO weft_array *c = weft_borrow(values[2], sizeof *values, WEFT_SHAPE(8), WEFT_I64);
    CHECK(a && b && c);
    CHECK_STATUS(weft_call(wraps, NULL, a, INT64_MIN + 4, INT64_MAX), WEFT_OK);
    CHECK_STATUS(weft_call(wraps_at_once, NULL, b, INT64_MAX - 4, (int64_t)2), WEFT_OK);
    CHECK_STATUS(weft_call(wraps_in_a_square, NULL, c, (int64_t)3, INT64_C(1) << 62), WEFT_OK);
    CHECK_BITS(values, expected, sizeof values);
}

/* A NaN is less than nothing, and where() needs both of its values.
 * semantics: Functions / Smallest and largest; Functions / Conditions */
WEFT_FUNCTION(smallest, (x), {
    float s = x(0);
    for (int i = 1; i < 6; i++)
        if (x(i) < s)
            s = x(i);
    return s;
});
WEFT_FUNCTION(both_values, (x, y), {
    for (int i = 0; i < 6; i++)
        y(i) = where(i > 0, x(i - 1), 0.0f);
});
WEFT_FUNCTION(one_value, (x, y), {
    for (int i = 0; i < 6; i++)
        y(i) = i > 0 ? x(i - 1) : 0.0f;
});

TEST(F3_conditions_and_nan)
{
    float nan = __builtin_nanf(""), s = 0;
    float some[2][6] = {{3, nan, 2, nan, 5, 2.5f}, {nan, 1, 2, 3, 4, 5}}, shifted[6] = {1};
    const float expected[6] = {0, 3, 7, 2, 8, 5};
    WEFT_AUTO weft_array *x = weft_borrow(some[0], sizeof some[0], WEFT_SHAPE(6), WEFT_F32);
    WEFT_AUTO weft_array *from_nan = weft_borrow(some[1], sizeof some[1], WEFT_SHAPE(6), WEFT_F32);
    WEFT_AUTO weft_array *y = weft_borrow(shifted, sizeof shifted, WEFT_SHAPE(6), WEFT_F32);
    CHECK_STATUS(weft_call(smallest, &s, x), WEFT_OK);
    CHECK(s == 2);
    CHECK_STATUS(weft_call(smallest, &s, from_nan), WEFT_OK);
    CHECK(s != s);
    CHECK_STATUS(weft_call(both_values, NULL, x, y), WEFT_ERROR_SHAPE);
    memcpy(some[0], (float[6]){3, 7, 2, 8, 5, 1}, sizeof some[0]);
    CHECK_STATUS(weft_call(one_value, NULL, x, y), WEFT_OK);
    CHECK_BITS(shifted, expected, sizeof shifted);
}

/* What explain says is about the body: no names of the kernel, and the place. */
WEFT_FUNCTION(leaving, (x, y), {
    for (int i = 0; i < 6; i++)
        y(i) = x(i - 1);
});

TEST(F7_names_of_the_body)
{
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(6)), *y = weft_zeros(WEFT_SHAPE(6));
    char *text = NULL;
    CHECK_STATUS(weft_call(leaving, NULL, x, y), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_function_explain(&text, &leaving), WEFT_OK);
    const bool named = text && strstr(text, "weft_b");
    const bool placed =
        text && strstr(text, "x ( i - 1 ) is out of bounds at i = 0: index -1, and 'x' has 6 "
                             "elements along axis 0 (column 36)");
    weft_explain_free(text);
    CHECK(!named);
    CHECK(placed);
}

TEST_MAIN(TEST_OF(F3_loops), TEST_OF(F3_bounds_of_a_call), TEST_OF(F3_conditions_of_a_call),
          TEST_OF(F3_conditions_that_do_not_suffice), TEST_OF(F3_an_index_in_two_subscripts),
          TEST_OF(F3_reads_for_nothing), TEST_OF(F3_reads_into_variables),
          TEST_OF(F3_bounds_that_wrap), TEST_OF(F3_conditions_and_nan),
          TEST_OF(F7_names_of_the_body));
