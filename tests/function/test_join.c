/* Loops that follow each other, against the same loops in plain C: bits, and which of them are one
 * kernel. Calls with other bounds, what is said about them, and loops that are too many. */
#include "function/data.h"
#include "function/open.h"
#include "support/arrays.h"
#include "support/check.h"
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

enum { ANY = 99 };

#include "function/elements.h"
#define NEIGHBOURS(name, loops, serial, alias, ...) ORACLE(name, __VA_ARGS__)
#include "function/neighbours.h"
#undef NEIGHBOURS
#include "function/elements.h"

static const struct pair {
    weft_function function;
    oracle *oracle;
    uint64_t loops, serial;
    int alias;
} pairs[] = {
#define NEIGHBOURS(name, loops, serial, alias, ...)                                                \
    {FUNCTION(#name, #__VA_ARGS__), c_##name, loops, serial, alias},
#include "function/neighbours.h"
#undef NEIGHBOURS
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void check_counts(const struct pair *pair)
{
    weft__function *opened;
    if (test_faults() || pair->loops == ANY ||
        weft__function_find(&pair->function, &opened) != WEFT_OK)
        return;
    const uint64_t loops = opened->totals[WEFT__DID_LOOP],
                   serial = opened->totals[WEFT__DID_SERIAL];
    if (loops != pair->loops || serial != pair->serial) {
        char *text = NULL;
        (void)weft_function_explain(&text, &pair->function);
        fprintf(stderr, "%s: %llu loops and %llu serial ones\n%s\n", pair->function.name,
                (unsigned long long)loops, (unsigned long long)serial, text ? text : "");
        weft_explain_free(text);
    }
    CHECK(loops == pair->loops);
    CHECK(serial == pair->serial);
}

/* semantics: Functions / Fusion */
TEST(F3_neighbours)
{
    for (int i = 0; i < PAIRS; i++) {
        const struct pair *pair = &pairs[i];
        data actual, expected;
        if (test_faults() && i % 16 != 1)
            continue; /* their allocations are those of the others */
        fill(&expected);
        call_oracle(pair->oracle, &expected, pair->alias);
        const weft_status status = call_twice(&pair->function, &actual, pair->alias);
        CHECK_STATUS(status, WEFT_OK);
        if (status == WEFT_OK && memcmp(&actual, &expected, sizeof actual) != 0)
            fprintf(stderr, "%s differs from C\n", pair->function.name);
        CHECK_BITS(&actual, &expected, sizeof actual);
        check_counts(pair);
    }
}

/* Where the second loop reads is up to the call: its own elements, its neighbours', or others. */
WEFT_FUNCTION(apart_by, (x, y, n, d), {
    for (int i = 0; i < n; i++)
        x(i) = x(i) + 1;
    for (int i = 0; i < n; i++)
        y(i) = x(i + d) * 2;
});

static void check_apart(int d, uint64_t loops)
{
    enum { COUNT = 40, HALF = COUNT / 2 };
    int32_t x[COUNT], y[HALF];
    weft__function *opened;
    for (int i = 0; i < COUNT; i++)
        x[i] = 3 * i;
    WEFT_AUTO weft_array *there = weft_borrow(x, sizeof x, WEFT_SHAPE(COUNT), WEFT_I32);
    WEFT_AUTO weft_array *result = weft_borrow(y, sizeof y, WEFT_SHAPE(HALF), WEFT_I32);
    CHECK(there && result);
    if (!there || !result)
        return;
    CHECK_STATUS(weft_call(apart_by, NULL, there, result, HALF, d), WEFT_OK);
    for (int i = 0; i < HALF; i++)
        CHECK(y[i] == 2 * (3 * (i + d) + (i + d < HALF)));
    if (weft__function_find(&apart_by, &opened) == WEFT_OK)
        CHECK(opened->totals[WEFT__DID_LOOP] == loops);
}

TEST(F3_neighbours_of_a_call)
{
    if (test_faults())
        return;
    check_apart(0, 1);
    check_apart(1, 2);
    check_apart(20, 1);
    check_apart(3, 2);
    check_apart(0, 1);
}

/* The sum is over what the loop overwrites, and read before: no copy is made for it. */
WEFT_FUNCTION(store_and_sum, (x, y, n), {
    double s = 0;
    for (int i = 0; i < n; i++) {
        double t = x(i) - 0.5 * y(i);
        x(i) = t;
        s += t * t;
    }
    return s;
});

TEST(F3_sum_beside_a_store)
{
    enum { COUNT = 1 << 15 };
    static double x[COUNT], y[COUNT];
    weft_statistics before, after;
    double sum = 0, expected = 0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i % 16;
        y[i] = i % 4;
        expected += (i % 16 - 0.5 * (i % 4)) * (i % 16 - 0.5 * (i % 4));
    }
    WEFT_AUTO weft_array *ax = weft_borrow(x, sizeof x, WEFT_SHAPE(COUNT), WEFT_F64);
    WEFT_AUTO weft_array *ay = weft_borrow(y, sizeof y, WEFT_SHAPE(COUNT), WEFT_F64);
    weft_status status = ax && ay ? WEFT_OK : weft_error_code();
    (void)weft_memory_reset_peak(WEFT_CPU);
    (void)weft_memory_stats(WEFT_CPU, &before);
    if (status == WEFT_OK)
        status = weft_call(store_and_sum, &sum, ax, ay, COUNT);
    (void)weft_memory_stats(WEFT_CPU, &after);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(sum == expected || test_faults());
    for (int i = 0; i < COUNT && status == WEFT_OK; i++)
        CHECK(x[i] == i % 16 - 0.5 * (i % 4));
    CHECK(after.bytes_peak - before.bytes_in_use < sizeof x);
}

static bool says(const weft_function *function, const char *what)
{
    char *text = NULL;
    bool found = weft_function_explain(&text, function) == WEFT_OK && strstr(text, what);
    if (!found && text)
        fprintf(stderr, "'%s' is not in\n%s\n", what, text);
    weft_explain_free(text);
    return found;
}

/* semantics: Functions / Fusion */
TEST(F7_neighbours_explained)
{
    static const struct {
        const char *name, *what;
    } said[] = {
        {"forwarded", "the next 2 loops are fused"},
        {"four", "the next 4 loops are fused"},
        {"first_two", "the next 2 loops are fused"},
        {"declared_between", "the next 2 loops are fused"},
        {"ahead", "not fused: this element of 'y' may be one that another iteration writes"},
        {"found_by_index", "not fused: this element of 'y' may be one that another iteration"},
        {"other_end", "not fused: they are not over the same points"},
        {"other_step", "not fused: they do not count by the same"},
        {"other_depth", "not fused: they are not as deep"},
        {"stored_and_summed", "not fused: they would be as many kernels together"},
        {"same_sum", "not fused: both fold into the same variable"},
        {"overlapping", "not fused: arguments share memory"},
    };
    if (test_faults())
        return;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (int p = 0; p < PAIRS; p++) {
            data d;
            if (strcmp(pairs[p].function.name, said[i].name) != 0)
                continue;
            fill(&d);
            CHECK_STATUS(call_function(&pairs[p].function, &d, pairs[p].alias), WEFT_OK);
            CHECK(says(&pairs[p].function, said[i].what));
        }
}

TEST_MAIN(TEST_OF(F3_neighbours), TEST_OF(F3_neighbours_of_a_call), TEST_OF(F3_sum_beside_a_store),
          TEST_OF(F7_neighbours_explained));
