/* Tests of graphs, for every kind of device. The file that includes this defines device(), the one
 * under test. */
#ifndef WEFT_TESTS_SUPPORT_GRAPHS_H
#define WEFT_TESTS_SUPPORT_GRAPHS_H

#include "kernel/cache.h"
#include "support/check.h"
#include "support/streams.h"
#include <stdio.h>

static weft_device device(void);

static inline void auto_graph(weft_graph **graph) { weft_graph_release(*graph); }
#define AUTO_GRAPH __attribute__((cleanup(auto_graph), unused)) weft_graph *

/* Ends a recording that a failed check left. */
static inline void auto_end(weft_stream **stream)
{
    weft_graph_release(*stream ? weft_graph_end(*stream) : NULL);
}
#define AUTO_END __attribute__((cleanup(auto_end), unused)) weft_stream *

#define NEEDS_GRAPHS                                                                               \
    if (device().kind == WEFT_DEVICE_INVALID)                                                      \
    SKIP(weft_error_message())

static weft_array *ints(int count, int value)
{
    return weft_full(WEFT_SHAPE(count), value, .dtype = WEFT_I32, .device = device());
}

static weft_stream *here(void) { return weft_stream_current(device()); }

/* Recording does nothing; each launch does all of it. */
TEST(S3_graph_replays_its_work)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1), *b = ints(1000, 0);
    weft_statistics before, after;
    CHECK(a && b);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    CHECK_STATUS(weft(a += 1, a), WEFT_OK);
    CHECK_STATUS(weft(b = 2 * a + b, a, b), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph && holds(a, 1) && holds(b, 0));
    int expected_a = 1, expected_b = 0;
    weft_memory_stats(device(), &before);
    for (int k = 0; k < 20; k++) {
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
        expected_a += 1;
        expected_b += 2 * expected_a;
    }
    weft_memory_stats(device(), &after);
    CHECK(holds(a, expected_a) && holds(b, expected_b));
    CHECK_INT(after.launches, before.launches + 40);
    CHECK_STATUS(weft(a += 1, a), WEFT_OK); /* what comes later is done as always */
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK(holds(a, expected_a + 2));
}

static weft_status add_sum(weft_array *sum, weft_array *a)
{
    WEFT_AUTO weft_array *all = weft_sum(a);
    return all ? weft(sum += all, sum, all) : weft_error_code();
}

/* Slices, sums over all and some axes, arrays that are made and released in the body: against plain
 * loops. */
TEST(S3_graph_of_reductions_and_temporaries)
{
    NEEDS_GRAPHS;
    enum { ROWS = 37, COLUMNS = 1100, STEPS = 3 };
    static int64_t values[ROWS][COLUMNS], row[COLUMNS];
    int64_t total = 0, seen = 0;
    WEFT_AUTO weft_array *a =
        weft_full(WEFT_SHAPE(ROWS, COLUMNS), 1, .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *sum = weft_zeros(WEFT_SCALAR, .dtype = WEFT_I64, .device = device());
    CHECK(a && sum);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    WEFT_AUTO weft_array *t =
        weft_zeros(WEFT_SHAPE(ROWS, COLUMNS), .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *odd = weft_slice(a, WEFT_ALL, WEFT_STEP(1, WEFT_END, 2));
    CHECK(t && odd);
    CHECK_STATUS(weft(t += a, t, a), WEFT_OK); /* zero again in each replay */
    CHECK_STATUS(weft(odd = 2 * odd + 1, odd), WEFT_OK);
    WEFT_AUTO weft_array *columns = weft_sum(t, .axes = WEFT_AXES(0));
    CHECK(columns);
    CHECK_STATUS(add_sum(sum, a), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            values[i][j] = 1;
    for (int k = 0; k < STEPS; k++) {
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
        for (int j = 0; j < COLUMNS; j++)
            row[j] = 0;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                row[j] += values[i][j];
                values[i][j] = j % 2 ? 2 * values[i][j] + 1 : values[i][j];
                total += values[i][j];
            }
    }
    static int64_t there[ROWS][COLUMNS], row_there[COLUMNS];
    CHECK_STATUS(weft_copy_to_host(a, there, sizeof there), WEFT_OK);
    CHECK_BITS(there, values, sizeof values);
    CHECK_STATUS(weft_copy_to_host(columns, row_there, sizeof row_there), WEFT_OK);
    CHECK_BITS(row_there, row, sizeof row);
    CHECK_STATUS(weft_item(sum, &seen), WEFT_OK);
    CHECK_INT(seen, total);
}

static weft_status nothing(void *argument)
{
    (void)argument;
    return WEFT_OK;
}

enum { READ, ITEM, WRITE, CALL, EVENT, WAIT, STREAM, MOVE, LENT, GRAPH, REFUSALS };

/* What each of them returns. */
static weft_status refused(int which, weft_array *a, weft_graph *other)
{
    static int values[1000];
    int first = 0;
    AUTO_EVENT event = weft_event_new();
    AUTO_STREAM elsewhere = which == STREAM ? weft_stream_new(device(), .async = true) : NULL;
    WEFT_AUTO weft_array *array = NULL;
    switch (which) {
    case READ:
        return weft_copy_to_host(a, values, sizeof values);
    case ITEM:
        return weft_value(&first, sum(a), a);
    case WRITE:
        return weft_copy_from_host(a, values, sizeof values);
    case CALL:
        return weft_stream_call(here(), nothing, NULL);
    case EVENT:
        return weft_event_record(event, here());
    case WAIT:
        return weft_stream_synchronize(here());
    case STREAM:
        weft_stream_set_current(device(), elsewhere);
        const weft_status status = weft(a += 1, a);
        weft_stream_set_current(device(), NULL);
        return status;
    case MOVE:
        array = weft_from_host(values, sizeof values, WEFT_SHAPE(1000), .dtype = WEFT_I32,
                               .device = WEFT_CPU);
        return array ? WEFT_OK : weft_error_code();
    case LENT:
        array = weft_borrow(values, sizeof values, WEFT_SHAPE(1000), WEFT_I32);
        return array ? weft(array += 1, array) : weft_error_code();
    default:
        return weft_graph_launch(other, here());
    }
}

/* An error of the call, and of the end, which makes nothing. */
TEST(S3_graph_refuses_what_it_cannot_replay)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1);
    CHECK(a);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_GRAPH empty = weft_graph_end(here());
    CHECK(empty);
    CHECK_STATUS(weft_graph_launch(empty, here()), WEFT_OK);
    for (int which = 0; which < REFUSALS; which++) {
        CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
        weft_status status = weft(a += 1, a);
        const weft_status refusal = refused(which, a, empty);
        const weft_error error = *weft_error_last();
        if (status == WEFT_OK)
            status = weft(a += 1, a); /* is recorded, but what is missing counts */
        weft_error_clear();
        AUTO_GRAPH graph = weft_graph_end(here());
        CHECK_INT(which * 100 + (int)refusal, which * 100 + WEFT_ERROR_UNSUPPORTED);
        CHECK_STATUS(status, WEFT_OK);
        CHECK(!graph);
        CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "cannot be recorded in a graph");
        CHECK_STR(weft_error_message(), error.message);
    }
    CHECK(holds(a, 1));
}

TEST(S3_graph_calls_that_are_wrong)
{
    NEEDS_GRAPHS;
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    CHECK(other);
    CHECK(!weft_graph_end(here()));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "does not record a graph of that stream");
    CHECK_STATUS(weft_graph_begin(NULL), WEFT_ERROR_ARGUMENT);
    CHECK(!weft_graph_end(NULL));
    CHECK_STATUS(weft_graph_launch(NULL, here()), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    CHECK_STATUS(weft_graph_begin(here()), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "records a graph already");
    CHECK(!weft_graph_end(other));
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    CHECK_STATUS(weft_graph_launch(graph, NULL), WEFT_ERROR_ARGUMENT);
    if (device().kind != WEFT_DEVICE_CPU) {
        CHECK_STATUS(weft_graph_launch(graph, weft_stream_current(WEFT_CPU)), WEFT_ERROR_PLACEMENT);
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "the stream is on cpu");
    }
    void *handle = NULL;
    CHECK_STATUS(weft_graph_native(graph, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_graph_native(graph, &handle), WEFT_ERROR_UNSUPPORTED);
    weft_graph_release(NULL);
}

/* A launch that has to wait for the host goes on when the graph is gone, and in the order of other
 * streams. */
TEST(S5_graph_keeps_the_order)
{
    NEEDS_GRAPHS;
    AUTO_STREAM first = weft_stream_new(device(), .async = true);
    AUTO_STREAM second = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = ints(1000, 1), *b = ints(1000, 0);
    AUTO_GATE gate = GATE;
    CHECK(first && second && a && b);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    CHECK_STATUS(weft(a = 3 * a + 1, a), WEFT_OK);
    weft_graph *graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    weft_status status = hold(first, &gate);
    if (status == WEFT_OK)
        status = weft_graph_launch(graph, first);
    if (status == WEFT_OK)
        status = weft_graph_launch(graph, second); /* after the first, which writes the array */
    weft_graph_release(graph);
    CHECK_STATUS(status, WEFT_OK);
    weft_stream_set_current(device(), second);
    status = weft(b = a, a, b);
    weft_stream_set_current(device(), NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(stays_busy(second));
    gate_open(&gate);
    CHECK(holds(b, 13));
}

TEST(S3_graph_gives_memory_back)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1);
    weft_statistics before, during, after;
    CHECK(a && holds(a, 1));
    weft_memory_stats(device(), &before);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    weft_array *t = weft_new(a + 1, a);
    weft_status status = t ? weft(a = 2 * t, a, t) : weft_error_code();
    weft_array_release(t);
    CHECK_STATUS(status, WEFT_OK);
    weft_graph *graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    weft_memory_stats(device(), &during);
    status = weft_graph_launch(graph, here());
    weft_graph_retain(graph);
    weft_graph_release(graph);
    if (status == WEFT_OK)
        status = weft_graph_launch(graph, here());
    weft_graph_release(graph);
    CHECK_STATUS(status, WEFT_OK);
    weft_memory_stats(device(), &after);
    CHECK_INT(during.bytes_in_use, before.bytes_in_use + 4000);
    CHECK_INT(after.bytes_in_use, before.bytes_in_use);
    CHECK(holds(a, 10));
}

/* Kernels that others push out of the cache stay with the graph; a reset takes them. */
TEST(S3_graph_keeps_its_kernels_until_a_reset)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1), *b = ints(1000, 1);
    static const char *const names[] = {"b"};
    weft_operand operands[] = {WEFT_OPERAND(b)};
    char text[32] = "b = b + b";
    CHECK(a && b);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    CHECK_STATUS(weft(a = a * a + 1, a), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    weft__cache_limit(2);
    weft_status status = WEFT_OK;
    for (int k = 0; k < 8 && status == WEFT_OK; k++) {
        snprintf(text, sizeof text, "b = b %c b %c b", "+*-&"[k % 4], "|+"[k / 4]);
        status = weft_evaluate(text, 1, names, operands);
    }
    weft__cache_limit(WEFT__KERNELS_MOST);
    CHECK_STATUS(status, WEFT_OK);
    for (int k = 0; k < 3; k++)
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK(holds(a, 26));
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "was reset; record it again");
    CHECK(holds(a, 26));
}

/* b = a + 1. */
static weft_status add_one(weft_array *b, weft_array *a) { return weft(b = a + 1, a, b); }

/* Before the first launch, an array that was made in the body has no values to read. */
TEST(S6_graph_whose_arrays_are_not_computed_yet)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1), *b = ints(1000, 0);
    CHECK(a && b);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    WEFT_AUTO weft_array *made = weft_new(a + 1, a);
    WEFT_AUTO weft_array *parts = weft_empty_like(a), *apart = weft_empty_like(a);
    WEFT_AUTO weft_array *low = weft_slice(parts, WEFT_RANGE(0, 400));
    WEFT_AUTO weft_array *high = weft_slice(parts, WEFT_RANGE(400, 1000));
    CHECK(made && low && high && apart);
    CHECK_STATUS(weft_fill(low, 5), WEFT_OK);
    CHECK_STATUS(weft_fill(high, 5), WEFT_OK);
    CHECK_STATUS(weft(made += parts, made, parts), WEFT_OK);
    CHECK_STATUS(add_one(a, a), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    int first = 0;
    CHECK_STATUS(weft_item(made, &first), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "was recorded in a graph and not done; call weft_graph_launch");
    CHECK_STATUS(weft_item(low, &first), WEFT_ERROR_RESULT);
    CHECK_STATUS(add_one(b, made), WEFT_ERROR_RESULT);
    CHECK(holds(a, 1) && holds(b, 0)); /* which were there before */
    weft_fill(apart, 3);               /* nothing that is recorded has to do with it */
    CHECK(holds(apart, 3));
    for (int k = 0; k < 2; k++) {
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
        CHECK_STATUS(add_one(b, made), WEFT_OK);
        CHECK(holds(b, k + 8) && holds(made, k + 7) && holds(parts, 5));
    }
}

/* A graph that was refused, or is gone, leaves such arrays without values; a write of all of them
 * is as good as any. */
TEST(S6_graph_that_is_never_launched)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 1);
    CHECK(a);
    for (int refuse = 0; refuse < 2; refuse++) {
        CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
        AUTO_END recording = here();
        WEFT_AUTO weft_array *made = weft_new(a + 1, a);
        CHECK(made);
        if (refuse)
            CHECK_STATUS(weft_eval(made), WEFT_ERROR_UNSUPPORTED);
        weft_graph *graph = weft_graph_end(recording);
        recording = NULL;
        weft_graph_release(graph);
        CHECK_INT(graph == NULL, refuse);
        CHECK_STATUS(weft_eval(made), WEFT_ERROR_RESULT);
        CHECK_STATUS(add_one(made, a), WEFT_OK);
        CHECK(holds(made, 2));
    }
}

enum { THREADS = 4, LAUNCHES = 50 };
typedef struct replayer {
    weft_graph *graph;
    weft_status status;
} replayer;

static void *replay(void *argument)
{
    replayer *r = argument;
    weft_stream *stream = weft_stream_new(device(), .async = true);
    r->status = stream ? WEFT_OK : weft_error_code();
    for (int k = 0; k < LAUNCHES && r->status == WEFT_OK; k++)
        r->status = weft_graph_launch(r->graph, stream);
    weft_stream_release(stream);
    return NULL;
}

TEST(S5_graph_of_several_threads)
{
    NEEDS_GRAPHS;
    WEFT_AUTO weft_array *a = ints(1000, 0);
    pthread_t threads[THREADS];
    replayer replayers[THREADS];
    CHECK(a);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    CHECK_STATUS(weft(a += 1, a), WEFT_OK);
    CHECK_STATUS(weft(a += 2, a), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    for (int k = 0; k < THREADS; k++) {
        replayers[k] = (replayer){graph, WEFT_OK};
        CHECK(pthread_create(&threads[k], NULL, replay, &replayers[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++)
        CHECK_STATUS(replayers[k].status, WEFT_OK);
    CHECK(holds(a, 3 * THREADS * LAUNCHES));
}

static void *leave_recording(void *argument)
{
    WEFT_AUTO weft_array *a = ints(1000, 0);
    *(weft_status *)argument = a ? weft_graph_begin(here()) : weft_error_code();
    if (*(weft_status *)argument == WEFT_OK)
        *(weft_status *)argument = weft(a += 1, a);
    return NULL;
}

/* A thread that ends while it records takes the recording with it. */
TEST(S3_graph_that_is_never_ended)
{
    NEEDS_GRAPHS;
    pthread_t thread;
    weft_status status = WEFT_OK;
    CHECK(pthread_create(&thread, NULL, leave_recording, &status) == 0);
    pthread_join(thread, NULL);
    CHECK_STATUS(status, WEFT_OK);
}

#define GRAPHS(OF)                                                                                 \
    OF(S3_graph_replays_its_work), OF(S3_graph_of_reductions_and_temporaries),                     \
        OF(S3_graph_refuses_what_it_cannot_replay), OF(S3_graph_calls_that_are_wrong),             \
        OF(S5_graph_keeps_the_order), OF(S3_graph_gives_memory_back),                              \
        OF(S3_graph_keeps_its_kernels_until_a_reset), OF(S5_graph_of_several_threads),             \
        OF(S3_graph_that_is_never_ended), OF(S6_graph_whose_arrays_are_not_computed_yet),          \
        OF(S6_graph_that_is_never_launched)

#endif
