/* Tests of work that is queued again by number alone, for devices that do so: who asks about it or
 * uses its arrays finds everything in order. The file that includes this defines device(), the one
 * under test. */
#ifndef WEFT_TESTS_BACKEND_WINDOWS_H
#define WEFT_TESTS_BACKEND_WINDOWS_H

#include "core/array.h"
#include "core/window.h"
#include "support/check.h"
#include "support/gate.h"
#include "support/streams.h"
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void);

enum { ELEMENTS = 1000, LARGE = 1 << 21 };

static weft_array *full(int64_t count, int value)
{
    return weft_full(WEFT_SHAPE(count), value, .dtype = WEFT_I32, .device = device());
}

static weft_stream *here(void) { return weft_stream_current(device()); }

static weft_status add(weft_array *a, int number) { return weft(a += number, a, number); }

/* So many kernels of the stream were queued by number alone. */
static uint64_t again(const weft_stream *stream)
{
    return atomic_load(&stream->timeline->launches);
}

static inline void auto_graph(weft_graph **graph) { weft_graph_release(*graph); }
#define AUTO_GRAPH __attribute__((cleanup(auto_graph), unused)) weft_graph *

/* Of a body that adds 1 to the array. */
static weft_graph *record_add(weft_array *a)
{
    if (weft_graph_begin(here()) != WEFT_OK)
        return NULL;
    const weft_status status = add(a, 1);
    weft_graph *graph = weft_graph_end(here());
    if (status == WEFT_OK)
        return graph;
    weft_graph_release(graph);
    return NULL;
}

#define NEEDS_DEVICE                                                                               \
    do {                                                                                           \
        if (device().kind == WEFT_DEVICE_INVALID)                                                  \
            SKIP(weft_error_message());                                                            \
    } while (0)

/* Several call sites in turn, with new scalars each time; all are counted. */
TEST(S1_calls_are_queued_again)
{
    NEEDS_DEVICE;
    enum { ROUNDS = 300 };
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0), *b = full(ELEMENTS, 1);
    weft_statistics before, after;
    int expected = 0;
    CHECK(stream && a && b && holds(a, 0) && holds(b, 1));
    weft_stream_set_current(device(), stream);
    weft_memory_stats(device(), &before);
    for (int k = 0; k < ROUNDS; k++) {
        const weft_status added = add(a, k), combined = weft(a += 2 * b, a, b);
        expected += k + 2;
        CHECK(added == WEFT_OK && combined == WEFT_OK);
    }
    weft_memory_stats(device(), &after);
    weft_stream_set_current(device(), NULL);
    CHECK(again(stream) > ROUNDS);
    CHECK(holds(a, expected));
    CHECK_INT(after.launches - before.launches, 2 * ROUNDS);
    weft_stream_release(stream);
    stream = NULL;
    weft_memory_stats(device(), &after);
    CHECK_INT(after.launches - before.launches, 2 * ROUNDS);
}

/* The last number of the stream, however often it was queued, is what others come after. */
TEST(S5_others_wait_for_what_was_queued_again)
{
    NEEDS_DEVICE;
    enum { TIMES = 20 };
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(LARGE, 0), *b = full(LARGE, 0);
    CHECK(other && a && b);
    for (int round = 1; round <= 3; round++) {
        const uint64_t before = again(here());
        CHECK_STATUS(weft_eval(a), WEFT_OK);
        for (int k = 0; k < TIMES; k++)
            CHECK_STATUS(add(a, 1), WEFT_OK);
        CHECK(again(here()) > before);
        weft_stream_set_current(device(), other);
        const weft_status read = weft(b = a + 0, a, b);
        weft_stream_set_current(device(), NULL);
        CHECK_STATUS(read, WEFT_OK);
        int most = -1, least = -1;
        CHECK_STATUS(weft_value(&most, max(b), b), WEFT_OK);
        CHECK_STATUS(weft_value(&least, min(b), b), WEFT_OK);
        CHECK_INT(most, round * TIMES);
        CHECK_INT(least, round * TIMES);
    }
}

/* Memory is not given to another stream before. */
TEST(M6_memory_of_what_was_queued_again_is_used_by_others)
{
    NEEDS_DEVICE;
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    CHECK(other);
    for (int round = 0; round < 5; round++) {
        WEFT_AUTO weft_array *a = full(LARGE, 0);
        CHECK(a);
        for (int k = 0; k < 10; k++)
            CHECK_STATUS(add(a, 1), WEFT_OK);
        weft_array_release(a);
        a = NULL;
        weft_stream_set_current(device(), other);
        WEFT_AUTO weft_array *b = full(LARGE, 7);
        int most = -1, least = -1;
        const weft_status status[] = {weft_value(&most, max(b), b), weft_value(&least, min(b), b)};
        weft_stream_set_current(device(), NULL);
        CHECK(status[0] == WEFT_OK && status[1] == WEFT_OK);
        CHECK_INT(most, 7);
        CHECK_INT(least, 7);
    }
}

/* A call goes to the stream that is current now. */
TEST(A5_the_current_stream_changes)
{
    NEEDS_DEVICE;
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    CHECK(other && a);
    int sum = 0;
    for (int k = 0; k < 40; k++) {
        weft_stream *stream = k / 10 % 2 ? other : NULL;
        weft_stream_set_current(device(), stream);
        stream = here();
        const uint64_t before = atomic_load(&stream->timeline->submitted);
        const weft_status status = add(a, k);
        const uint64_t after = atomic_load(&stream->timeline->submitted);
        weft_stream_set_current(device(), NULL);
        CHECK_STATUS(status, WEFT_OK);
        CHECK_INT(after, before + 1);
        sum += k;
    }
    CHECK(holds(a, sum));
}

/* What the host does on the stream comes first. */
TEST(S4_nothing_is_queued_before_a_function)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    AUTO_GATE gate = GATE;
    weft_status status[6];
    CHECK(stream && a && holds(a, 0));
    weft_stream_set_current(device(), stream);
    for (int k = 0; k < 6; k++) {
        if (k == 3)
            hold(stream, &gate);
        status[k] = add(a, 1);
    }
    weft_stream_set_current(device(), NULL);
    for (int k = 0; k < 6; k++)
        CHECK_STATUS(status[k], WEFT_OK);
    CHECK(stays_busy(stream));
    gate_open(&gate);
    CHECK(holds(a, 6));
}

/* While a graph is recorded, calls are not done. */
TEST(S3_what_was_queued_again_is_recorded)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    CHECK(a);
    AUTO_GRAPH graph = NULL;
    for (int k = 0; k < 4; k++) {
        if (k == 3)
            CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
        CHECK_STATUS(add(a, 1), WEFT_OK);
    }
    graph = weft_graph_end(here());
    CHECK(graph && holds(a, 3));
    for (int k = 0; k < 3; k++)
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK(holds(a, 6));
}

/* Numbers that are passed in memory are not kept, and such a launch is queued anew each time. */
TEST(A4_launches_with_many_operands_are_not_queued_again)
{
    NEEDS_DEVICE;
    enum { RESULTS = 60, ALL = RESULTS + 1 };
    weft_array *arrays[ALL];
    char code[2000] = "", names[ALL][8] = {"a"};
    const char *list[ALL];
    weft_operand operands[ALL];
    const weft_shape shape = WEFT_SHAPE(2, 2, 2, 2, 2, 2, 2, 2);
    WEFT_AUTO weft_array *ones = weft_ones(shape, .dtype = WEFT_I32, .device = device());
    bool right = ones != NULL;
    arrays[0] = weft_transpose(ones); /* so that all axes are left */
    for (int k = 1; k < ALL; k++) {
        const size_t length = strlen(code);
        arrays[k] = weft_zeros(shape, .dtype = WEFT_I32, .device = device());
        snprintf(names[k], sizeof names[k], "r%d", k);
        snprintf(code + length, sizeof code - length, "r%d = a + %d; ", k, k);
    }
    for (int k = 0; k < ALL; k++) {
        list[k] = names[k];
        operands[k] = WEFT_OPERAND(arrays[k]);
        right &= arrays[k] != NULL;
    }
    for (int round = 0; round < 5 && right; round++)
        right = weft_evaluate(code, ALL, list, operands) == WEFT_OK;
    for (int k = 1; k < ALL; k++)
        right &= holds(arrays[k], 1 + k);
    for (int k = 0; k < ALL; k++)
        weft_array_release(arrays[k]);
    CHECK(right);
}

typedef struct holding {
    stream_gate *gate;
    _Atomic bool ended;
    weft_status status;
} holding;

/* What it computes in its calls has the first timeline that is free. */
static void *hold_here(void *argument)
{
    holding *h = argument;
    weft_stream *stream = weft_stream_new(WEFT_CPU);
    h->status = weft_stream_call(stream, gate_pass, h->gate);
    weft_stream_release(stream);
    atomic_store(&h->ended, true);
    return NULL;
}

static bool is_entered(stream_gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    const bool entered = gate->entered;
    pthread_mutex_unlock(&gate->mutex);
    return entered;
}

/* What a stream that is gone has queued again is done, whoever has its timeline now. */
TEST(S5_nobody_waits_for_who_comes_after_a_stream)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    stream_gate gate = GATE;
    holding h = {.gate = &gate, .status = WEFT_OK};
    weft__point point;
    pthread_t thread;
    CHECK(stream && a && holds(a, 0));
    weft_stream_set_current(device(), stream);
    for (int k = 0; k < 7; k++)
        (void)add(a, 1);
    weft_stream_set_current(device(), NULL);
    weft_stream_release(stream);
    stream = NULL;
    CHECK_INT(pthread_create(&thread, NULL, hold_here, &h), 0);
    while (!is_entered(&gate) && !atomic_load(&h.ended))
        pause_ms(1);
    const bool pending = weft__claim_pending(a->buffer, false, &point);
    gate_open(&gate);
    pthread_join(thread, NULL);
    CHECK_STATUS(h.status, WEFT_OK);
    CHECK(!pending && holds(a, 7));
}

static void *close_window(void *argument)
{
    weft__window_close(argument);
    return NULL;
}

/* Who waits for turns of before waits for no later ones: a thread that queues all the time leaves
 * few moments in which it is nobody's. */
TEST(S6_only_turns_of_before_are_waited_for)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(a && stream && holds(a, 0));
    weft_stream_set_current(device(), stream);
    for (int k = 0; k < 4; k++)
        (void)add(a, 1);
    weft_stream_set_current(device(), NULL);
    weft__timeline *timeline = stream->timeline;
    CHECK(weft__window_enter(timeline, atomic_load(&timeline->window)));
    const bool new_one = weft__stream_any_again();
    weft__generation_move();
    const bool old_one = weft__stream_any_again();
    pthread_t thread;
    const bool started = pthread_create(&thread, NULL, close_window, timeline) == 0;
    while (started && atomic_load(&timeline->window) != 0)
        pause_ms(1);
    atomic_fetch_add(&timeline->submitted, 1); /* as if it had queued something */
    if (started)
        pthread_join(thread, NULL);
    weft__turn_end(timeline);
    CHECK(started && !new_one && old_one && !weft__stream_any_again());
    CHECK(holds(a, 4));
}

typedef struct adding {
    weft_stream *stream;
    weft_array *array;
    _Atomic bool stop;
    int added, failed;
} adding;

static void *add_on(void *argument)
{
    adding *l = argument;
    weft_stream_set_current(device(), l->stream);
    for (; !atomic_load(&l->stop); l->added++)
        l->failed += add(l->array, 1) != WEFT_OK;
    weft_stream_set_current(device(), NULL);
    return NULL;
}

/* With the buffer's lock and without a claim: whether its last use is the last number of the
 * stream, and stays so. */
static bool stays_unused(const weft__buffer *buffer, const weft__timeline *timeline)
{
    const uint64_t last = atomic_load(&timeline->submitted);
    for (volatile int k = 0; k < 30000; k++)
        continue;
    return atomic_load(&timeline->submitted) == last && buffer->write.timeline == timeline &&
           buffer->write.sequence == last;
}

/* Whatever a thread does just then that queues work, and opens windows for it. */
TEST(S5_nothing_is_queued_again_once_a_claim_has_ended)
{
    NEEDS_DEVICE;
    const int rounds = test_quick() ? 300 : 4000;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(8, 0);
    CHECK(stream && a && holds(a, 0));
    adding l = {.stream = stream, .array = a, .added = 1};
    weft_stream_set_current(device(), stream);
    const weft_status first = add(a, 1);
    weft_stream_set_current(device(), NULL);
    CHECK_STATUS(first, WEFT_OK);
    pthread_t thread;
    int used = 0;
    CHECK_INT(pthread_create(&thread, NULL, add_on, &l), 0);
    for (int k = 0; k < rounds; k++) {
        for (volatile int i = 0; i < k * 7919 % 30000; i++)
            continue;
        weft__buffer_lock(a->buffer);
        weft__claim_end(a->buffer);
        used += !stays_unused(a->buffer, stream->timeline);
        weft__buffer_unlock(a->buffer);
    }
    atomic_store(&l.stop, true);
    pthread_join(thread, NULL);
    CHECK_INT(used, 0);
    CHECK_INT(l.failed, 0);
    CHECK(holds(a, l.added));
}

typedef struct launching {
    weft_graph *graph;
    weft_array *own;
    weft_stream *stream;
    int rounds;
    _Atomic int failed;
} launching;

static void *launch_many(void *argument)
{
    launching *l = argument;
    weft_stream_set_current(device(), l->stream);
    for (int k = 0; k < l->rounds; k++) {
        atomic_fetch_add(&l->failed, weft_graph_launch(l->graph, l->stream) != WEFT_OK);
        atomic_fetch_add(&l->failed, add(l->own, 1) != WEFT_OK);
    }
    weft_stream_set_current(device(), NULL);
    return NULL;
}

/* Two threads on one stream, a third on another, and one that asks how far they are. */
TEST(S5_threads_queue_again)
{
    NEEDS_DEVICE;
    enum { THREADS = 3 };
    const int rounds = test_quick() ? 200 : 2000;
    AUTO_STREAM first = weft_stream_new(device(), .async = true);
    AUTO_STREAM second = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *shared = full(ELEMENTS, 0);
    WEFT_AUTO weft_array *one = full(ELEMENTS, 0), *two = full(ELEMENTS, 0),
                         *three = full(ELEMENTS, 0);
    CHECK(first && second && shared && one && two && three);
    AUTO_GRAPH graph = record_add(shared);
    CHECK(graph && holds(shared, 0) && holds(one, 0) && holds(two, 0) && holds(three, 0));
    launching all[THREADS] = {{graph, one, first, rounds, 0},
                              {graph, two, first, rounds, 0},
                              {graph, three, second, rounds / 10, 0}};
    pthread_t threads[THREADS];
    int started = 0, failed = 0;
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, launch_many, &all[started]) == 0)
        started++;
    for (int k = 0; k < rounds; k++)
        (void)(is_done(first) && is_done(second));
    for (int k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        failed += atomic_load(&all[k].failed);
    }
    CHECK_INT(started, THREADS);
    CHECK_INT(failed, 0);
    CHECK(holds(one, rounds) && holds(two, rounds) && holds(three, rounds / 10));
    CHECK(holds(shared, 2 * rounds + rounds / 10));
}

#define VARIES "how many launches wait at once, whose records are kept for others, varies"
#define WINDOW_TESTS                                                                               \
    TEST_NO_FAULTS(S1_calls_are_queued_again, VARIES),                                             \
        TEST_NO_FAULTS(S5_others_wait_for_what_was_queued_again, VARIES),                          \
        TEST_NO_FAULTS(M6_memory_of_what_was_queued_again_is_used_by_others, VARIES),              \
        TEST_NO_FAULTS(A5_the_current_stream_changes, VARIES),                                     \
        TEST_NO_FAULTS(S4_nothing_is_queued_before_a_function, VARIES),                            \
        TEST_NO_FAULTS(S3_what_was_queued_again_is_recorded, VARIES),                              \
        TEST_NO_FAULTS(A4_launches_with_many_operands_are_not_queued_again, VARIES),               \
        TEST_NO_FAULTS(S5_nobody_waits_for_who_comes_after_a_stream, VARIES),                      \
        TEST_NO_FAULTS(S6_only_turns_of_before_are_waited_for, VARIES),                            \
        TEST_NO_FAULTS(S5_nothing_is_queued_again_once_a_claim_has_ended, VARIES),                 \
        TEST_NO_FAULTS(S5_threads_queue_again, VARIES)

#endif
