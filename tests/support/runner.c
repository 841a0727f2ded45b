/* The runner of the test harness: options, plain runs, runs with failing allocations.
 * Built with cmocka (WEFT_TEST_CMOCKA defined) each test is a cmocka test; without it a plain loop
 * does the same. Either way the last line is "N passed, N failed".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

#include <weft/weft.h>

#include "core/allocate.h"
#include "support/check.h"
#include "support/record.h"

#ifdef WEFT_TEST_CMOCKA
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#endif

enum { SKIPPED = 77, MOST_TESTS = 1024, HANG_SECONDS = 120 };

static int passed;
static int failed;
static int skipped;
static char story[4096]; /* why the test failed */

/* For the signal handler: what was running. */
static const char *running_test;
static long long running_fault;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A crash or a hang says which test and which allocation, then goes its usual way. */
static void on_signal(int number)
{
    char line[512];
    int size = snprintf(line, sizeof line, "%s: %s when allocation %lld failed\n", running_test,
                        number == SIGALRM ? "hangs" : "crashes", running_fault);
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)size);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(void (*handler)(int))
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        signal(numbers[i], handler);
    }
}

/* After the tests, when handlers and threads of libraries end: which calls led there. */
__attribute__((unused)) static void on_signal_at_the_end(int number)
{
    static const char line[] = "crashes at the end of the process:\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
#if __has_include(<execinfo.h>)
    void *calls[64];
    backtrace_symbols_fd(calls, backtrace(calls, 64), STDERR_FILENO);
#endif
    signal(number, SIG_DFL);
    raise(number);
}

static void run_once(const struct test *test)
{
    test_record_clear();
    weft_error_clear();
    test->function();
}

/* The test passes without any failure, and is warm: what it makes once has been made. */
static bool warm_up(const struct test *test)
{
    run_once(test);
    weft__shutdown_caches();
    if (test_record_failure()) {
        snprintf(story, sizeof story, "%s", test_record_failure());
        return false;
    }
    return true;
}

/* How many allocations more there are than before the test, which ran with its allocation `n`
 * failing. */
static int64_t left_behind(const struct test *test, int64_t n, bool *fired)
{
    int64_t before = weft__allocation_live();
    weft__allocation_fail_at(n);
    run_once(test);
    *fired = weft__allocation_failed();
    weft__allocation_fail_at(0);
    weft__shutdown_caches();
    return weft__allocation_live() - before;
}

/* What is kept for later work (a record of a thread that came for the first time) is left once; a
 * leak is left each time. */
static bool run_with_fault(const struct test *test, int64_t n, bool *fired, int *other_errors)
{
    enum { TIMES = 6 };
    int64_t left = 0;
    int times = 0;
    do {
        left = left_behind(test, n, fired);
    } while (left != 0 && ++times < TIMES);
    const char *failure = test_record_failure();

    if (left != 0) {
        snprintf(story, sizeof story,
                 "when allocation %lld failed, %lld allocations were left behind, %d times in a "
                 "row (%s)",
                 (long long)n, (long long)left, TIMES, failure ? failure : "the test passed");
        return false;
    }
    if (failure && !*fired) {
        snprintf(story, sizeof story, "after %lld failed allocations, with none failing: %s",
                 (long long)n - 1, failure);
        return false;
    }
    if (failure && test_record_error_code() != (int)WEFT_ERROR_MEMORY) {
        (*other_errors)++;
    }
    return true;
}

static double fault_seconds(void)
{
    const char *text = getenv("WEFT_TEST_FAULTS_SECONDS");
    return text && *text ? atof(text) : 60;
}

static bool run_with_faults(const struct test *test)
{
    if (test->no_faults) {
        test_skip(test->no_faults);
        return true;
    }
    if (!warm_up(test)) {
        return false;
    }
    double end = seconds() + fault_seconds();
    bool good = true;
    bool fired = true;
    int other_errors = 0;
    int64_t n = 0;
    running_test = test->name;
    watch_signals(on_signal);
    while (good && fired && seconds() < end) {
        running_fault = ++n;
        alarm(HANG_SECONDS);
        good = run_with_fault(test, n, &fired, &other_errors);
    }
    alarm(0);
    watch_signals(SIG_DFL);
    printf("%s: %lld allocations failed in turn%s", test->name, (long long)(fired ? n : n - 1),
           fired && good ? ", then the time was up" : "");
    printf(other_errors ? "; note: %d ended with another error than memory\n" : "\n", other_errors);
    return good;
}

/* Runs a test as the environment asks, and counts it. */
static bool run(const struct test *test)
{
    story[0] = '\0';
    test_record_clear();
    bool good;
    if (test_faults()) {
        good = run_with_faults(test);
    } else {
        run_once(test);
        good = !test_record_failure();
        if (!good) {
            snprintf(story, sizeof story, "%s", test_record_failure());
        }
    }
    if (!good) {
        failed++;
    } else if (test_record_skip()) {
        skipped++;
        printf("skipped: %s: %s\n", test->name, test_record_skip());
    } else {
        passed++;
    }
    return good;
}

#ifdef WEFT_TEST_CMOCKA

static void run_in_cmocka(void **state)
{
    if (!run(*state)) {
        fail_msg("%s", story);
    }
    if (test_record_skip()) {
        skip();
    }
}

static void run_all(const struct test *const *tests, size_t count)
{
    static struct CMUnitTest units[MOST_TESTS];
    for (size_t i = 0; i < count; i++) {
        units[i].name = tests[i]->name;
        units[i].test_func = run_in_cmocka;
        units[i].initial_state = (void *)(uintptr_t)tests[i];
    }
    int broken = _cmocka_run_group_tests("tests", units, count, NULL, NULL);
    if (broken > failed) {
        failed = broken; /* cmocka goes on after a crash, which never came back to `run` */
    }
}

#else

static void run_all(const struct test *const *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("[ RUN      ] %s\n", tests[i]->name);
        fflush(stdout);
        if (run(tests[i])) {
            printf("[ %s ] %s\n", test_record_skip() ? " SKIPPED" : "      OK", tests[i]->name);
        } else {
            printf("[  FAILED  ] %s\n%s\n", tests[i]->name, story);
        }
    }
}

#endif

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [--list] [--only SUBSTRING]\n", program);
    return 2;
}

int test_main(const struct test *tests, size_t count, int argc, char **argv)
{
    if (!getenv("WEFT_CACHE_DIR")) {
        setenv("WEFT_CACHE", "off", 0); /* the user's own is not for tests */
    }
    const char *only = getenv("WEFT_TEST_ONLY");
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else {
            return usage(argv[0]);
        }
    }

    static const struct test *chosen[MOST_TESTS];
    size_t chosen_count = 0;
    for (size_t i = 0; i < count && chosen_count < MOST_TESTS; i++) {
        if (!only || strstr(tests[i].name, only)) {
            chosen[chosen_count++] = &tests[i];
            if (list) {
                printf("%s\n", tests[i].name);
            }
        }
    }
    if (list) {
        return 0;
    }
    if (test_faults()) {
        weft__allocation_live(); /* counting begins with the first call */
    }
    run_all(chosen, chosen_count);
    fflush(stderr);
    if (!test_alone()) { /* the process that started this one counts */
        printf("%d passed, %d failed\n", passed, failed);
        fflush(stdout);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they say more */
    watch_signals(on_signal_at_the_end);
#endif
    return failed ? 1 : passed ? 0 : SKIPPED;
}
