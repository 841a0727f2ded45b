/* The test harness: checks that return instead of jumping, a runner, and allocation failures.
 *
 *     #include "support/check.h"
 *
 *     TEST(D1_names) {
 *         CHECK_INT(1 + 1, 2);
 *     }
 *
 *     TEST_MAIN(TEST_OF(D1_names));
 *
 * A failed check records where and what, once, and returns from the function it stands in, so
 * that variables with a cleanup attribute are released. Checks may be used on any thread.
 *
 * With WEFT_TEST_FAULTS=1 in the environment each test runs many times, the n-th allocation
 * inside the library failing, for n = 1, 2, 3 ... until a run needs fewer than n allocations.
 * A test may then fail, but not crash, and it must leave no allocation behind.
 */
#ifndef WEFT_TESTS_SUPPORT_CHECK_H
#define WEFT_TESTS_SUPPORT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name;
    void (*function)(void);
    const char *no_faults; /* why allocations must not fail in this test, or NULL */
};

/* Defines a test. It must be listed in TEST_MAIN, or the compiler warns that it is unused. */
#define TEST(name) static void test_##name(void)

/* clang-format off */

/* A test in the list of TEST_MAIN. */
#define TEST_OF(name) {#name, test_##name, NULL}

/* The same, left out of the runs with failing allocations for the reason given. */
#define TEST_NO_FAULTS(name, reason) {#name, test_##name, reason}

/* clang-format on */

/* Defines main. Stands at the end of the file, followed by a semicolon. */
#define TEST_MAIN(...)                                                                             \
    static const struct test test_list[] = {__VA_ARGS__};                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return test_main(test_list, sizeof test_list / sizeof test_list[0], argc, argv);           \
    }                                                                                              \
    struct test

/* The condition holds. */
#define CHECK(condition) TEST_RETURN_UNLESS(test_check(TEST_HERE, (condition), #condition), )

/* The same in a function that returns a value: returns `value` when the condition fails. */
#define CHECK_OR(condition, value)                                                                 \
    TEST_RETURN_UNLESS(test_check(TEST_HERE, (condition), #condition), value)

/* Two integers are equal, compared as int64_t. */
#define CHECK_INT(actual, expected)                                                                \
    TEST_RETURN_UNLESS(test_check_int(TEST_HERE, #actual, (int64_t)(actual), (int64_t)(expected)), )

/* Two strings are equal; NULL is equal to NULL only. */
#define CHECK_STR(actual, expected)                                                                \
    TEST_RETURN_UNLESS(test_check_str(TEST_HERE, #actual, (actual), (expected)), )

/* Two pieces of memory hold the same bytes. */
#define CHECK_BITS(actual, expected, bytes)                                                        \
    TEST_RETURN_UNLESS(test_check_bits(TEST_HERE, #actual, (actual), (expected), (size_t)(bytes)), )

/* A call returns the given weft_status. */
#define CHECK_STATUS(call, status)                                                                 \
    TEST_RETURN_UNLESS(test_check_status(TEST_HERE, #call, (int)(call), (int)(status)), )

/* The error record of this thread has the given code, and a message with `part` in it. */
#define CHECK_ERROR(code, part)                                                                    \
    TEST_RETURN_UNLESS(test_check_error(TEST_HERE, (int)(code), (part)), )

/* Leaves the test, which then counts as skipped, not as passed. */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        test_skip(reason);                                                                         \
        return;                                                                                    \
    } while (0)

/* The device to test, by name: WEFT_TEST_DEVICE, or "cpu". */
const char *test_device(void);

/* True in a run with failing allocations: a long stress test may then do less. */
bool test_faults(void);

/* True where everything is many times slower, under a sanitizer or an emulator (WEFT_TEST_QUICK=1):
 * a test that goes through very many cases may then take every tenth. */
bool test_quick(void);

/* Runs the tests with `name` in their name in a process of its own, with the environment of this
 * one; true if they pass there. In that process test_alone() is true. */
bool test_passes_alone(const char *name);
bool test_alone(void);
/* The two halves of it, for processes side by side: starts one, and waits until it has ended. */
int test_start_alone(const char *name);
bool test_ended_well(int process);

/* A library that was built for the test: where it was built or, if it is not there since the test
 * was taken to another machine, beside the test. */
const char *test_library(const char *built);

/* What the macros above are made of. */
struct test_place {
    const char *file;
    int line;
};

#define TEST_HERE ((struct test_place){__FILE__, __LINE__})

#define TEST_RETURN_UNLESS(passed, value)                                                          \
    do {                                                                                           \
        if (!(passed)) {                                                                           \
            return value;                                                                          \
        }                                                                                          \
    } while (0)

bool test_check(struct test_place place, bool passed, const char *text);
bool test_check_int(struct test_place place, const char *text, int64_t actual, int64_t expected);
bool test_check_str(struct test_place place, const char *text, const char *actual,
                    const char *expected);
bool test_check_bits(struct test_place place, const char *text, const void *actual,
                     const void *expected, size_t bytes);
bool test_check_status(struct test_place place, const char *text, int actual, int expected);
bool test_check_error(struct test_place place, int code, const char *part);
void test_skip(const char *reason);
int test_main(const struct test *tests, size_t count, int argc, char **argv);

#endif
