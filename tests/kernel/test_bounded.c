/* The table of kernels is bounded: what was not used the longest goes, nothing that is in use. */
#include "kernel/cache.h"
#include "kernel/engines.h"
#include "support/streams.h"

enum { LIMIT = 16, THREADS = 4, ELEMENTS = 40 };

static void limit_end(int *unused)
{
    (void)unused;
    weft__cache_limit(WEFT__KERNELS_MOST);
}
#define AUTO_LIMIT __attribute__((cleanup(limit_end), unused)) int

static int limit_begin(void)
{
    weft__cache_limit(LIMIT);
    return 0;
}

/* Each number is another kernel, as a constant is a part of it. */
static weft_status run_number(int number, weft_array *a, weft_array *c)
{
    static const char *const names[] = {"a", "c"};
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(c)};
    char code[32];
    snprintf(code, sizeof code, "c = a*%d.0f", number);
    return weft_evaluate(code, 2, names, operands);
}

/* Whether all elements are that. */
static bool is_all(weft_array *array, float expected)
{
    float data[ELEMENTS];
    bool same = weft_copy_to_host(array, data, sizeof data) == WEFT_OK;
    for (int i = 0; i < ELEMENTS; i++)
        same = same && data[i] == expected;
    return same;
}

TEST(X1_endless_kernels_are_bounded)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    AUTO_LIMIT limit = limit_begin();
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 2.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    CHECK(a && c);
    for (int i = 1; i <= (test_faults() ? 40 : 1000); i++) {
        const int number = i % 7 ? i : i / 7; /* some come again, after they are gone */
        CHECK_STATUS(run_number(number, a, c), WEFT_OK);
        CHECK(is_all(c, 2.0f * (float)number));
        uint32_t waiting, all = weft__cache_count(&waiting);
        CHECK(all <= LIMIT + 1);
        CHECK(waiting <= LIMIT);
    }
}

/* One that is called all the time is found each time. */
TEST(X1_what_is_used_stays)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    AUTO_LIMIT limit = limit_begin();
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 2.0f);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    CHECK(a && b && c);
    CHECK_STATUS(run_number(1, a, c), WEFT_OK);
    for (int i = 2; i < 200; i++) {
        if (i % 3 == 0)
            CHECK_STATUS(weft(b = a + b, a, b), WEFT_OK);
        const uint64_t before = counters().compilations;
        if (i > 3 && i % 3 == 0)
            CHECK_STATUS(weft(b = b - a, a, b), WEFT_OK);
        if (i > 6)
            CHECK_INT(counters().compilations - before, 0);
        CHECK_STATUS(run_number(i, a, c), WEFT_OK);
        if (i > 6)
            CHECK_INT(counters().compilations - before, 1);
    }
    CHECK(is_all(c, 398));
}

/* Work that is queued keeps its kernel, however many come after it. */
TEST(X1_a_kernel_that_a_stream_will_run_stays)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    AUTO_LIMIT limit = limit_begin();
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 2.0f);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    uint32_t waiting;
    CHECK(stream && a && b && c);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status queued = run_number(1000, a, b);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, NULL), WEFT_OK);
    CHECK_STATUS(queued, WEFT_OK);
    for (int i = 1; i <= 4 * LIMIT; i++)
        CHECK_STATUS(run_number(i, a, c), WEFT_OK);
    (void)weft__cache_count(&waiting);
    CHECK(waiting > 0);
    gate_open(&gate);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK(is_all(b, 2000));
    CHECK_STATUS(run_number(2000, a, c), WEFT_OK);
    (void)weft__cache_count(&waiting);
    CHECK(waiting <= LIMIT);
}

static void *run_many(void *argument)
{
    const int first = *(const int *)argument;
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 2.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    for (int i = 0; a && c && i < 300; i++) {
        const int number = first + i / 2 % 60; /* twice each, so that it is compiled */
        if (run_number(number, a, c) != WEFT_OK || !is_all(c, 2.0f * (float)number))
            return NULL;
    }
    return a && c ? argument : NULL;
}

/* Code is made in the background, of kernels that may be gone by then. */
TEST(X1_several_threads_and_the_background)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_LIMIT limit = limit_begin();
    weft__engine_set_maker(make_interpreted);
    pthread_t threads[THREADS];
    int first[THREADS], started = 0;
    for (; started < THREADS; started++) {
        first[started] = 1 + 30 * started; /* some are others' too */
        if (pthread_create(&threads[started], NULL, run_many, &first[started]) != 0)
            break;
    }
    bool right = started == THREADS;
    for (int i = 0; i < started; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        right = right && result;
    }
    CHECK(right);
    uint32_t waiting;
    CHECK(weft__cache_count(&waiting) <= LIMIT + 1);
}

TEST_MAIN(TEST_OF(X1_endless_kernels_are_bounded),
          TEST_NO_FAULTS(X1_what_is_used_stays, "it counts what is made"),
          TEST_OF(X1_a_kernel_that_a_stream_will_run_stays),
          TEST_NO_FAULTS(X1_several_threads_and_the_background,
                         "its threads have records of their own"));
