/* Asynchronous streams on the CPU: order, failures, releases inside callbacks, many of them. */
#include "core/allocate.h"
#include "core/stream.h"
#include "support/check.h"
#include "support/threads.h"
#include <string.h>
#include <time.h>
#include <weft/weft.h>

static void release_stream(weft_stream **stream) { weft_stream_release(*stream); }
#define AUTO_STREAM __attribute__((cleanup(release_stream), unused)) weft_stream *

static void pause_ms(long milliseconds)
{
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/* The calls of one test; each checks that it is the next. */
typedef struct ordered {
    long next, wrong;
} ordered;
typedef struct turn {
    ordered *all;
    long number;
} turn;

static weft_status take_turn(void *argument)
{
    turn *mine = argument;
    mine->all->wrong += mine->all->next++ != mine->number;
    return WEFT_OK;
}

TEST(S1_work_runs_in_order)
{
    enum { COUNT = 100000 };
    static turn turns[COUNT];
    ordered all = {0, 0};
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    int count = test_faults() ? 500 : COUNT;
    CHECK(stream);
    for (int i = 0; i < count; i++) {
        turns[i] = (turn){&all, i};
        CHECK_STATUS(weft_stream_call(stream, take_turn, &turns[i]), WEFT_OK);
    }
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(all.next, count);
    CHECK_INT(all.wrong, 0);
}

static weft_status add_one(void *argument)
{
    atomic_fetch_add((_Atomic long *)argument, 1);
    return WEFT_OK;
}

static weft_status slow(void *argument)
{
    pause_ms(5);
    return add_one(argument);
}

TEST(S1_release_waits_and_drops_nothing)
{
    _Atomic long count = 0;
    long queued = 0;
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    for (int i = 0; i < 4; i++)
        queued += weft_stream_call(stream, slow, &count) == WEFT_OK;
    weft_stream_release(stream);
    CHECK_INT(atomic_load(&count), queued);
    CHECK(queued == 4 || test_faults());
}

static weft_status refuse(void *argument) { return weft_error_set(WEFT_ERROR_CALLBACK, argument); }

static weft_status refuse_silently(void *argument)
{
    (void)argument;
    return WEFT_ERROR_UNSUPPORTED;
}

TEST(S6_failure_is_kept_and_told_once)
{
    _Atomic long count = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_call(stream, refuse, "the tide is out"), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "the tide is out");
    CHECK_STATUS(weft_stream_call(stream, add_one, &count), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(atomic_load(&count), 1);
    CHECK_STATUS(weft_stream_call(stream, refuse_silently, NULL), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "WEFT_ERROR_UNSUPPORTED");
}

TEST(S6_synchronous_call_keeps_the_record_of_the_caller)
{
    _Atomic long count = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU);
    CHECK(stream);
    weft_error_set(WEFT_ERROR_SHAPE, "from before");
    CHECK_STATUS(weft_stream_call(stream, add_one, &count), WEFT_OK);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "from before");
    CHECK_STATUS(weft_stream_call(stream, refuse, "no"), WEFT_ERROR_CALLBACK);
    CHECK_ERROR(WEFT_ERROR_CALLBACK, "no");
}

/* A callback that gives work to another stream. */
typedef struct relay {
    weft_stream *other;
    _Atomic long count;
} relay;

static weft_status hand_on(void *argument)
{
    relay *r = argument;
    return weft_stream_call(r->other, add_one, &r->count);
}

TEST(S3_callbacks_submit_to_other_streams)
{
    relay r = {0};
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true); /* released before the other */
    CHECK(first && second);
    r.other = second;
    for (int i = 0; i < 100; i++)
        CHECK_STATUS(weft_stream_call(first, hand_on, &r), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(first), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(second), WEFT_OK);
    CHECK_INT(atomic_load(&r.count), 100);
}

/* A stream, and whether the test has let go of it. */
typedef struct last_one {
    weft_stream *stream;
    _Atomic bool alone;
} last_one;

static weft_status drop_stream(void *argument)
{
    last_one *last = argument;
    while (!atomic_load(&last->alone))
        pause_ms(1);
    weft_stream_release(last->stream);
    return WEFT_OK;
}

/* The last reference goes away on the stream's own thread, with work still behind it. */
TEST(S1_release_inside_a_callback)
{
    enum { ROUNDS = 20, EACH = 10 };
    static last_one lasts[ROUNDS];
    _Atomic long count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        last_one *last = &lasts[round];
        last->stream = weft_stream_new(WEFT_CPU, .async = true);
        weft_stream *held = weft_stream_retain(last->stream);
        CHECK(held);
        CHECK_STATUS(weft_stream_call(held, drop_stream, last), WEFT_OK);
        for (int i = 0; i < EACH; i++)
            CHECK_STATUS(weft_stream_call(held, add_one, &count), WEFT_OK);
        weft_stream_release(held);
        atomic_store(&last->alone, true);
    }
    for (int i = 0; i < 20000 && atomic_load(&count) < ROUNDS * EACH; i++)
        pause_ms(1);
    CHECK_INT(atomic_load(&count), ROUNDS * EACH);
}

TEST(S1_a_thousand_streams)
{
    enum { COUNT = 1000, BUSY = 100 };
    static weft_stream *streams[COUNT];
    _Atomic long count = 0;
    int before = threads_before(), made = 0, queued = 0;
    while (made < COUNT && (streams[made] = weft_stream_new(WEFT_CPU, .async = true)))
        made++;
    int idle = threads_now();
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < made; i += COUNT / BUSY)
            queued += weft_stream_call(streams[i], add_one, &count) == WEFT_OK;
    int busy = threads_now();
    for (int i = 0; i < made; i++)
        weft_stream_release(streams[i]);
    CHECK_INT(atomic_load(&count), queued);
    CHECK_INT(made, COUNT);
    CHECK(idle <= before);
    CHECK_INT(queued, BUSY * 10);
    CHECK(busy <= before + BUSY);
    CHECK(threads_settle(before));
}

TEST(S3_profiling_measures_the_work_between)
{
    _Atomic long count = 0;
    double seconds = 0;
    weft_event *start = weft_event_new(), *end = weft_event_new();
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true, .profiling = true);
    bool good = start && end && stream && weft_event_record(start, stream) == WEFT_OK &&
                weft_stream_call(stream, slow, &count) == WEFT_OK &&
                weft_event_record(end, stream) == WEFT_OK && weft_event_synchronize(end) == WEFT_OK;
    weft_status status = good ? weft_event_elapsed(start, end, &seconds) : WEFT_OK;
    for (int i = 0; good && i < 1024; i++)
        good = weft_event_record(end, stream) == WEFT_OK;
    weft_status late = good && weft_event_synchronize(end) == WEFT_OK
                           ? weft_event_elapsed(start, end, &(double){0})
                           : WEFT_OK;
    weft_event_release(start);
    weft_event_release(end);
    CHECK(good);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(seconds >= 0.005 && seconds < 60);
    CHECK_STATUS(late, WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "1024 later events");
}

TEST(A5_no_native_stream_on_the_cpu)
{
    void *handle = &handle;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_native(stream, &handle), WEFT_ERROR_UNSUPPORTED);
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "weft_stream_call");
    CHECK(handle == NULL);
}

TEST_MAIN(TEST_OF(S1_work_runs_in_order), TEST_OF(S1_release_waits_and_drops_nothing),
          TEST_OF(S6_failure_is_kept_and_told_once),
          TEST_OF(S6_synchronous_call_keeps_the_record_of_the_caller),
          TEST_OF(S3_callbacks_submit_to_other_streams),
          TEST_NO_FAULTS(S1_release_inside_a_callback, "what is left ends on a thread of its own"),
          TEST_NO_FAULTS(S1_a_thousand_streams, "thousands of allocations that are all alike"),
          TEST_OF(S3_profiling_measures_the_work_between), TEST_OF(A5_no_native_stream_on_the_cpu));
