/* Streams: kinds, the current one, scopes, events, callbacks, profiling, release (S1 to S3). */
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>

static weft_status add_one(void *argument)
{
    atomic_fetch_add((_Atomic int *)argument, 1);
    return WEFT_OK;
}

static weft_status note_thread(void *argument)
{
    *(pthread_t *)argument = pthread_self();
    return WEFT_OK;
}

TEST(S1_default_stream_is_the_calling_thread)
{
    pthread_t ran_on;
    weft_stream *stream = weft_stream_current(WEFT_CPU);
    CHECK(stream);
    CHECK(!weft_stream_is_async(stream));
    CHECK(weft_device_equal(weft_stream_device(stream), WEFT_CPU));
    CHECK_STATUS(weft_stream_call(stream, note_thread, &ran_on), WEFT_OK);
    CHECK(pthread_equal(ran_on, pthread_self()));
    WEFT_AUTO weft_array *a = make_full(3);
    CHECK(a);
    CHECK_INT(((const int *)weft_array_data(a))[999], 3); /* no wait needed */
    CHECK(is_done(stream));
}

TEST(S1_asynchronous_stream_has_a_worker)
{
    pthread_t first, second;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK(weft_stream_is_async(stream));
    CHECK_STATUS(weft_stream_call(stream, note_thread, &first), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, note_thread, &second), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK(!pthread_equal(first, pthread_self()));
    CHECK(pthread_equal(first, second));
}

/* Each operation reads what the one before it wrote. */
TEST(S1_worker_keeps_the_order)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(0), *b = make_full(0);
    AUTO_GATE gate = GATE;
    CHECK(stream && a && b);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = hold(stream, &gate);
    for (int i = 1; i <= 50 && status == WEFT_OK; i++) {
        status = weft_fill(a, i);
        if (status == WEFT_OK && i % 2)
            status = weft_assign(b, a);
    }
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    gate_open(&gate);
    CHECK(holds(a, 50));
    CHECK(holds(b, 49));
}

TEST(S1_release_waits_and_drops_nothing)
{
    _Atomic int count = 0;
    int queued = 0;
    {
        AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
        AUTO_GATE gate = GATE;
        CHECK(stream);
        CHECK_STATUS(hold(stream, &gate), WEFT_OK);
        for (int i = 0; i < 300; i++)
            queued += weft_stream_call(stream, add_one, &count) == WEFT_OK;
        CHECK_INT(atomic_load(&count), 0);
    }
    CHECK_INT(atomic_load(&count), queued);
    CHECK(queued == 300 || test_faults());
}

/* An array and an event hold the stream, too. */
TEST(S1_streams_are_reference_counted)
{
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(10), 1, .stream = stream);
    AUTO_EVENT event = weft_event_new();
    weft_status status = event ? weft_event_record(event, stream) : WEFT_ERROR_MEMORY;
    weft_stream *same = weft_stream_retain(stream);
    weft_stream_release(stream);
    weft_stream_release(same);
    CHECK(stream && a && event);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(same == stream);
    CHECK(weft_array_stream(a) == stream);
    CHECK_STATUS(weft_fill(a, 4), WEFT_OK);
    CHECK(holds(a, 4));
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    weft_stream_release(NULL);
}

typedef struct farewell {
    weft_stream *stream;
    _Atomic int count;
    stream_gate released;
} farewell;

static weft_status release_own_stream(void *argument)
{
    farewell *f = argument;
    gate_pass(&f->released);
    weft_stream_release(f->stream);
    return WEFT_OK;
}

/* The last reference goes away on the stream's own thread while more work is queued. */
TEST(S1_release_inside_its_own_callback)
{
    enum { ROUNDS = 10, QUEUED = 20 };
    static farewell all[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        farewell *f = &all[r];
        *f = (farewell){.released = GATE};
        f->stream = weft_stream_new(WEFT_CPU, .async = true);
        CHECK(f->stream);
        CHECK_STATUS(weft_stream_call(f->stream, release_own_stream, f), WEFT_OK);
        for (int i = 0; i < QUEUED; i++)
            CHECK_STATUS(weft_stream_call(f->stream, add_one, &f->count), WEFT_OK);
        gate_open(&f->released); /* from here on the stream is not ours */
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < 20000 && atomic_load(&all[r].count) < QUEUED; i++)
            pause_ms(1);
        CHECK_INT(atomic_load(&all[r].count), QUEUED);
    }
    CHECK_STATUS(weft_device_synchronize(WEFT_CPU), WEFT_OK);
}

TEST(S1_a_thousand_streams)
{
    enum { COUNT = 1000 };
    static weft_stream *streams[COUNT];
    _Atomic int count = 0;
    int made = 0, queued = 0;
    while (made < COUNT && (streams[made] = weft_stream_new(WEFT_CPU, .async = true)))
        made++;
    for (int i = 0; i < made; i++)
        queued += weft_stream_call(streams[i], add_one, &count) == WEFT_OK;
    weft_status status = weft_device_synchronize(WEFT_CPU);
    int after = atomic_load(&count);
    for (int i = 0; i < made; i++)
        weft_stream_release(streams[i]);
    CHECK_INT(made, COUNT);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(queued, COUNT);
    CHECK_INT(after, COUNT); /* synchronize waited for every one of them */
}

static void *report_current(void *argument)
{
    *(weft_stream **)argument = weft_stream_current(WEFT_CPU);
    return NULL;
}

TEST(S2_current_stream_is_per_thread)
{
    pthread_t thread;
    weft_stream *theirs = NULL, *before = weft_stream_current(WEFT_CPU);
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream && before);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_stream *mine = weft_stream_current(WEFT_CPU);
    int error = pthread_create(&thread, NULL, report_current, &theirs);
    if (!error)
        pthread_join(thread, NULL);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK(mine == stream);
    CHECK(error == 0 && (theirs == before || test_faults()));
    CHECK(weft_stream_current(WEFT_CPU) == before);
}

TEST(S2_work_goes_to_the_current_stream)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    AUTO_GATE gate = GATE;
    CHECK(stream && a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = weft_fill(a, 2);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(stays_busy(stream));
    CHECK_INT(((const int *)weft_array_data(a))[0], 1);
    gate_open(&gate);
    CHECK(holds(a, 2));
}

TEST(S2_wrong_streams_are_refused)
{
    weft_device none = {WEFT_DEVICE_CUDA, 99};
    CHECK(!weft_stream_new(none, .async = true));
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cpu");
    CHECK(!weft_stream_current(none));
    CHECK_STATUS(weft_stream_set_current(none, NULL), WEFT_ERROR_DEVICE);
    weft_error_clear();
    CHECK_STATUS(weft_stream_synchronize(NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_query(NULL, &(bool){0}), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_wait_stream(NULL, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_call(NULL, add_one, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_event_record(NULL, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_event_synchronize(NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_call(weft_stream_current(WEFT_CPU), NULL, NULL), WEFT_ERROR_ARGUMENT);
}

/* Fills the array inside a guarded block, slowly, and leaves the block in one of five ways. */
static weft_status slow(void *argument)
{
    (void)argument;
    pause_ms(10);
    return WEFT_OK;
}

static weft_status leave_guard(int way, weft_stream *stream, weft_array *a, int value)
{
    for (int i = 0; i < 1; i++) {
        WEFT_STREAM(stream);
        weft_status status = weft_stream_call(stream, slow, NULL);
        if (status != WEFT_OK || weft_stream_current(WEFT_CPU) != stream)
            return WEFT_ERROR_MEMORY;
        status = weft_fill(a, value);
        if (status != WEFT_OK || way == 0)
            return status;
        if (way == 1)
            break;
        if (way == 2)
            continue;
        if (way == 3)
            goto out;
    }
out:
    return WEFT_OK;
}

TEST(S2_guard_restores_and_waits_on_every_way_out)
{
    static const char *const ways[] = {"return", "break", "continue", "goto", "end"};
    weft_stream *before = weft_stream_current(WEFT_CPU);
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(0);
    CHECK(before && stream && a);
    for (int way = 0; way < 5; way++) {
        CHECK_STATUS(leave_guard(way, stream, a, way + 1), WEFT_OK);
        const char *wrong = weft_stream_current(WEFT_CPU) != before ? ways[way] : NULL;
        CHECK_STR(wrong, NULL);
        /* the host may read at once: the guard has waited */
        CHECK_INT(((const int *)weft_array_data(a))[7], way + 1);
    }
}

TEST(S2_guards_nest)
{
    weft_stream *before = weft_stream_current(WEFT_CPU);
    AUTO_STREAM outer = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM inner = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(before && outer && inner);
    {
        WEFT_STREAM(outer);
        CHECK(weft_stream_current(WEFT_CPU) == outer);
        {
            WEFT_STREAM(inner);
            CHECK(weft_stream_current(WEFT_CPU) == inner);
        }
        CHECK(weft_stream_current(WEFT_CPU) == outer);
    }
    CHECK(weft_stream_current(WEFT_CPU) == before);
}

/* What the block does to the current stream does not change which work the guard waits for. */
TEST(S2_guard_waits_for_its_own_stream)
{
    weft_stream *before = weft_stream_current(WEFT_CPU);
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(0);
    CHECK(before && stream && a);
    {
        WEFT_STREAM(stream);
        CHECK_STATUS(weft_stream_call(stream, slow, NULL), WEFT_OK);
        CHECK_STATUS(weft_fill(a, 5), WEFT_OK);
        CHECK_STATUS(weft_stream_set_current(WEFT_CPU, NULL), WEFT_OK);
    }
    CHECK(is_done(stream));
    CHECK(weft_stream_current(WEFT_CPU) == before);
}

TEST(S2_on_a_stream_sets_device_and_stream)
{
    weft_stream *before = weft_stream_current(WEFT_CPU);
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(before && stream);
    CHECK_INT(weft_device_context().kind, WEFT_DEVICE_NONE);
    {
        WEFT_ON(stream);
        CHECK(weft_device_equal(weft_device_context(), WEFT_CPU));
        CHECK(weft_stream_current(WEFT_CPU) == stream);
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 6);
        CHECK(a && weft_device_equal(weft_array_device(a), WEFT_CPU));
        CHECK(holds(a, 6));
    }
    CHECK_INT(weft_device_context().kind, WEFT_DEVICE_NONE);
    CHECK(weft_stream_current(WEFT_CPU) == before);
}

TEST(S3_waits_for_events_of_other_streams)
{
    _Atomic int ran = 0;
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_EVENT event = weft_event_new();
    AUTO_GATE before = GATE, after = GATE;
    bool done = true;
    CHECK(first && second && event);
    CHECK_STATUS(hold(first, &before), WEFT_OK);
    CHECK_STATUS(weft_event_record(event, first), WEFT_OK);
    CHECK_STATUS(hold(first, &after), WEFT_OK);
    CHECK_STATUS(weft_stream_wait_event(second, event), WEFT_OK);
    CHECK_STATUS(weft_stream_call(second, add_one, &ran), WEFT_OK);
    CHECK(stays_busy(second));
    CHECK_INT(atomic_load(&ran), 0);
    CHECK_STATUS(weft_event_query(event, &done), WEFT_OK);
    CHECK(!done);
    gate_open(&before);
    CHECK(finishes(second)); /* the event, not all of the stream, was waited for */
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_STATUS(weft_event_query(event, &done), WEFT_OK);
    CHECK(done);
    CHECK(!is_done(first));
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    CHECK(!is_done(first));
}

TEST(S3_waits_for_all_of_another_stream)
{
    _Atomic int ran = 0;
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE, later = GATE;
    CHECK(first && second);
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_wait_stream(second, first), WEFT_OK);
    CHECK_STATUS(hold(first, &later), WEFT_OK); /* queued after the wait: does not count */
    CHECK_STATUS(weft_stream_call(second, add_one, &ran), WEFT_OK);
    CHECK(stays_busy(second));
    CHECK_INT(atomic_load(&ran), 0);
    gate_open(&gate);
    CHECK(finishes(second));
    CHECK_INT(atomic_load(&ran), 1);
    CHECK_STATUS(weft_stream_wait_stream(second, second), WEFT_OK); /* itself: nothing to do */
    CHECK(finishes(second));
}

TEST(S3_events_can_be_recorded_again)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_EVENT event = weft_event_new();
    AUTO_GATE gate = GATE;
    bool done = false;
    CHECK(stream && event);
    CHECK_STATUS(weft_event_query(event, &done), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "never recorded");
    CHECK_STATUS(weft_stream_wait_event(stream, event), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_event_query(event, &done), WEFT_OK);
    CHECK(!done);
    gate_open(&gate);
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    AUTO_EVENT same = weft_event_retain(event);
    CHECK_STATUS(weft_event_query(same, &done), WEFT_OK);
    CHECK(done);
}

TEST(S3_query_does_not_wait)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    bool done = false;
    CHECK(stream);
    CHECK_STATUS(weft_stream_query(stream, &done), WEFT_OK);
    CHECK(done);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    uint64_t waits = stats().waits;
    CHECK_STATUS(weft_stream_query(stream, &done), WEFT_OK);
    CHECK(!done);
    CHECK_INT(stats().waits, waits);
    gate_open(&gate);
    CHECK(finishes(stream));
}

TEST(S3_profiling_times_what_lies_between)
{
    double seconds = -1;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true, .profiling = true);
    AUTO_STREAM plain = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_EVENT start = weft_event_new();
    AUTO_EVENT end = weft_event_new();
    AUTO_GATE gate = GATE;
    CHECK(stream && plain && start && end);
    CHECK_STATUS(weft_event_record(start, stream), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, slow, NULL), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_event_record(end, stream), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(start, end, &seconds), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "not done");
    gate_open(&gate);
    CHECK_STATUS(weft_event_synchronize(end), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(start, end, &seconds), WEFT_OK);
    CHECK(seconds >= 0.010 && seconds < 60);
    CHECK_STATUS(weft_event_record(end, plain), WEFT_OK);
    CHECK_STATUS(weft_event_synchronize(end), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(start, end, &seconds), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "without profiling");
}

TEST(S3_profiling_works_on_a_synchronous_stream)
{
    double seconds = -1;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .profiling = true);
    AUTO_EVENT start = weft_event_new();
    AUTO_EVENT end = weft_event_new();
    CHECK(stream && start && end);
    CHECK_STATUS(weft_event_record(start, stream), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, slow, NULL), WEFT_OK);
    CHECK_STATUS(weft_event_record(end, stream), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(start, end, &seconds), WEFT_OK);
    CHECK(seconds >= 0.010 && seconds < 60);
}

TEST(S3_priority_is_a_property)
{
    _Atomic int ran = 0;
    AUTO_STREAM low = weft_stream_new(WEFT_CPU, .async = true, .priority = 3);
    AUTO_STREAM high = weft_stream_new(WEFT_CPU, .async = true, .priority = -3);
    CHECK(low && high);
    CHECK(!weft_stream_equivalent(low, high));
    CHECK_STATUS(weft_stream_call(low, add_one, &ran), WEFT_OK);
    CHECK_STATUS(weft_stream_call(high, add_one, &ran), WEFT_OK);
    CHECK(finishes(low) && finishes(high));
    CHECK_INT(atomic_load(&ran), 2);
}

TEST_MAIN(TEST_OF(S1_default_stream_is_the_calling_thread),
          TEST_OF(S1_asynchronous_stream_has_a_worker), TEST_OF(S1_worker_keeps_the_order),
          TEST_OF(S1_release_waits_and_drops_nothing), TEST_OF(S1_streams_are_reference_counted),
          TEST_NO_FAULTS(S1_release_inside_its_own_callback, "nobody can wait for its end"),
          TEST_NO_FAULTS(S1_a_thousand_streams, "thousands of allocations that are all alike"),
          TEST_OF(S2_current_stream_is_per_thread), TEST_OF(S2_work_goes_to_the_current_stream),
          TEST_OF(S2_wrong_streams_are_refused),
          TEST_OF(S2_guard_restores_and_waits_on_every_way_out), TEST_OF(S2_guards_nest),
          TEST_OF(S2_guard_waits_for_its_own_stream),
          TEST_OF(S2_on_a_stream_sets_device_and_stream),
          TEST_OF(S3_waits_for_events_of_other_streams),
          TEST_OF(S3_waits_for_all_of_another_stream), TEST_OF(S3_events_can_be_recorded_again),
          TEST_OF(S3_query_does_not_wait), TEST_OF(S3_profiling_times_what_lies_between),
          TEST_OF(S3_profiling_works_on_a_synchronous_stream), TEST_OF(S3_priority_is_a_property));
