/* Failures of queued work (S6): told once, with the operation, and never hidden. */
#include "core/allocate.h"
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <string.h>

static weft_status fail_call(void *argument)
{
    return weft_error_set(WEFT_ERROR_CALLBACK, argument ? argument : "the disk is full");
}

static weft_status add_one(void *argument)
{
    atomic_fetch_add((_Atomic int *)argument, 1);
    return WEFT_OK;
}

/* Queues a call that fails and was to write the array. */
static weft_status fail_writing(weft_stream *stream, weft_array *array)
{
    weft_array *const writes[] = {array};
    return weft_stream_call(stream, fail_call, NULL, .name = "load_frame", .writes = writes,
                            .writes_count = 1);
}

static weft_status assign_on(weft_stream *stream, weft_array *target, weft_array *source)
{
    weft_status status = weft_stream_set_current(WEFT_CPU, stream);
    if (status == WEFT_OK)
        status = weft_assign(target, source);
    weft_stream_set_current(WEFT_CPU, NULL);
    return status;
}

/* Waits for the stream without asking it how it went. */
static bool settle(weft_stream *stream)
{
    AUTO_STREAM watch = weft_stream_new(WEFT_CPU, .async = true);
    return watch && weft_stream_wait_stream(watch, stream) == WEFT_OK &&
           weft_stream_synchronize(watch) == WEFT_OK;
}

TEST(S6_told_once_by_the_next_call_with_the_operation)
{
    _Atomic int ran = 0;
    bool done = false;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_call(stream, fail_call, NULL, .name = "load_frame"), WEFT_OK);
    CHECK(settle(stream));
    CHECK_STATUS(weft_stream_call(stream, add_one, &ran), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "the disk is full");
    CHECK_ERROR(WEFT_ERROR_STREAM, "load_frame");
    CHECK_INT(atomic_load(&ran), 0); /* the call that told did nothing else */
    CHECK_STATUS(weft_stream_query(stream, &done), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, add_one, &ran), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(atomic_load(&ran), 1);
}

TEST(S6_every_call_on_the_stream_can_tell)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_EVENT event = weft_event_new();
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(10), 1, .stream = stream);
    bool done;
    CHECK(stream && event && a);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    for (int call = 0; call < 6; call++) {
        CHECK_STATUS(weft_stream_call(stream, fail_call, NULL), WEFT_OK);
        CHECK(settle(stream));
        weft_status status = WEFT_OK;
        switch (call) {
        case 0:
            status = weft_stream_synchronize(stream);
            break;
        case 1:
            status = weft_stream_query(stream, &done);
            break;
        case 2:
            status = weft_event_record(event, stream);
            break;
        case 3:
            status = weft_stream_wait_event(stream, event);
            break;
        case 4:
            status = weft_fill(a, 2);
            break;
        case 5:
            status = weft_event_synchronize(event);
            break;
        }
        CHECK_STATUS(status, WEFT_ERROR_STREAM);
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    }
    CHECK(holds(a, 1)); /* the fill that told was not done */
}

/* The end of a guard has no status to return: the failure stays for the next call. */
TEST(S6_the_end_of_a_guard_swallows_nothing)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    {
        WEFT_STREAM(stream);
        CHECK_STATUS(weft_stream_call(stream, fail_call, NULL), WEFT_OK);
    }
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
}

TEST(S6_reading_what_was_never_computed_is_an_error_for_ever)
{
    int data[1000], item = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(stream && a);
    CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    for (int again = 0; again < 3; again++) {
        CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
        CHECK_ERROR(WEFT_ERROR_RESULT, "the disk is full");
        CHECK_ERROR(WEFT_ERROR_RESULT, "load_frame");
        CHECK_STATUS(weft_item(a, &item), WEFT_ERROR_RESULT);
        CHECK_STATUS(weft_copy_to_host(a, data, sizeof data), WEFT_ERROR_RESULT);
        WEFT_AUTO weft_array *copy = weft_copy(a);
        CHECK(!copy);
        CHECK_ERROR(WEFT_ERROR_RESULT, "the disk is full");
    }
    WEFT_AUTO weft_array *view = weft_slice(a, WEFT_RANGE(5, 10));
    CHECK(view);
    CHECK_STATUS(weft_eval(view), WEFT_ERROR_RESULT);
}

TEST(S6_only_a_whole_write_makes_it_good_again)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(stream && a);
    CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    WEFT_AUTO weft_array *part = weft_slice(a, WEFT_RANGE(0, 999));
    CHECK(part);
    CHECK_STATUS(weft_fill(part, 3), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_eval(part), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_fill(a, 4), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK(holds(a, 4));
    CHECK(holds(part, 4));
}

/* The write that makes it good is queued and not done, when what reads it is queued. */
TEST(S6_a_write_on_its_way_makes_it_good_again)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1), *b = make_full(2), *c = make_full(3), *d = make_full(4);
    WEFT_AUTO weft_array *part = weft_slice(a, WEFT_RANGE(0, 999));
    AUTO_GATE gate = GATE;
    CHECK(first && second && a && b && c && d && part);
    CHECK_STATUS(fail_writing(first, a), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(first), WEFT_ERROR_STREAM);
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    WEFT_AUTO weft_array *same = weft_slice(d, WEFT_RANGE(0, 999));
    CHECK_STATUS(assign_on(first, part, same), WEFT_OK); /* not all of it */
    CHECK_STATUS(assign_on(first, b, a), WEFT_OK);
    CHECK_STATUS(assign_on(first, a, d), WEFT_OK);
    CHECK_STATUS(assign_on(first, c, a), WEFT_OK);
    CHECK_STATUS(assign_on(second, d, a), WEFT_OK);
    gate_open(&gate);
    CHECK(holds(c, 4) && holds(d, 4) && holds(a, 4));
    CHECK_STATUS(weft_eval(b), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "the disk is full");
    CHECK_STATUS(weft_stream_synchronize(first), WEFT_OK);
}

TEST(S6_dependent_work_does_not_run)
{
    _Atomic int ran = 0;
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1), *b = make_full(2), *c = make_full(3);
    AUTO_GATE gate = GATE;
    CHECK(first && second && a && b && c);
    weft_array *const reads[] = {a}, *const writes[] = {c};
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    CHECK_STATUS(fail_writing(first, a), WEFT_OK);
    CHECK_STATUS(assign_on(second, b, a), WEFT_OK);
    CHECK_STATUS(weft_stream_call(second, add_one, &ran, .reads = reads, .reads_count = 1,
                                  .writes = writes, .writes_count = 1),
                 WEFT_OK);
    gate_open(&gate);
    CHECK_STATUS(weft_eval(b), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "the disk is full");
    CHECK_STATUS(weft_eval(c), WEFT_ERROR_RESULT);
    CHECK_INT(atomic_load(&ran), 0);
    CHECK_INT(((const int *)weft_array_data(b))[0], 2);
    CHECK_STATUS(weft_stream_synchronize(second), WEFT_OK); /* nothing of its own failed */
}

TEST(S6_stream_and_other_arrays_go_on)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1), *b = make_full(2), *c = make_full(3);
    AUTO_GATE gate = GATE;
    CHECK(stream && a && b && c);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
    CHECK_STATUS(assign_on(stream, b, c), WEFT_OK);
    gate_open(&gate);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK(holds(b, 3));
    CHECK_STATUS(assign_on(stream, a, b), WEFT_OK);
    CHECK(holds(a, 3));
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
}

/* The failed array is gone and its memory has a new life on the same stream before the work that
 * reads it has begun: that work must still know. */
TEST(S6_not_hidden_when_the_memory_is_reused)
{
    enum { COUNT = 100000 }; /* not cached by threads, so the pool gives it to the same stream */
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(COUNT), 2);
    AUTO_GATE gate = GATE;
    CHECK(stream && b);
    {
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(COUNT), 1);
        CHECK(a);
        CHECK_STATUS(hold(stream, &gate), WEFT_OK);
        CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
        CHECK_STATUS(assign_on(stream, b, a), WEFT_OK);
    }
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(COUNT), 3, .stream = stream);
    CHECK(c);
    gate_open(&gate);
    CHECK_STATUS(weft_eval(b), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_eval(c), WEFT_OK);
}

/* The same, where the failure happened on another stream before the memory was reused. */
TEST(S6_not_hidden_when_the_memory_is_reused_later)
{
    enum { COUNT = 100000 };
    AUTO_STREAM failing = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(COUNT), 2);
    AUTO_GATE first = GATE, second = GATE;
    CHECK(failing && stream && b);
    {
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(COUNT), 1);
        CHECK(a);
        CHECK_STATUS(hold(failing, &first), WEFT_OK);
        CHECK_STATUS(hold(stream, &second), WEFT_OK);
        CHECK_STATUS(fail_writing(failing, a), WEFT_OK);
        CHECK_STATUS(assign_on(stream, b, a), WEFT_OK);
    }
    gate_open(&first);
    CHECK_STATUS(weft_stream_synchronize(failing), WEFT_ERROR_STREAM);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(COUNT), 3, .stream = stream);
    CHECK(c);
    gate_open(&second);
    CHECK_STATUS(weft_eval(b), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_eval(c), WEFT_OK);
}

/* New memory does not inherit the failure of its last life. */
TEST(S6_reused_memory_is_good)
{
    enum { COUNT = 100000 };
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    for (int round = 0; round < 3; round++) {
        WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(COUNT), .dtype = WEFT_I32);
        CHECK(a);
        CHECK_STATUS(weft_eval(a), WEFT_OK);
        CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    }
}

/* The array was told of; the stream need not say it again. */
TEST(S6_told_by_the_array_is_told)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(stream && a);
    CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
}

/* Also when there is no memory to keep it in: a few records are there for that. */
TEST(S6_told_once_without_memory)
{
    enum { TIMES = 3 };
    for (int i = 0; i < TIMES; i++) {
        AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
        AUTO_GATE gate = GATE;
        WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4), .stream = stream);
        CHECK(stream && a);
        CHECK_STATUS(hold(stream, &gate), WEFT_OK);
        CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
        weft__allocation_fail_at(1);
        gate_open(&gate);
        const weft_status status = weft_eval(a);
        const bool failed = weft__allocation_failed();
        weft__allocation_fail_at(0);
        CHECK(failed);
        CHECK_INT(status, WEFT_ERROR_RESULT);
        CHECK_ERROR(WEFT_ERROR_RESULT, "the disk is full");
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    }
}

TEST(S6_a_failure_survives_its_stream)
{
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(a);
    {
        AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
        CHECK(stream);
        CHECK_STATUS(fail_writing(stream, a), WEFT_OK);
    }
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
}

TEST(S6_synchronous_calls_fail_at_once)
{
    weft_stream *here = weft_stream_current(WEFT_CPU);
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(here && a);
    CHECK_STATUS(fail_writing(here, a), WEFT_ERROR_CALLBACK);
    CHECK_ERROR(WEFT_ERROR_CALLBACK, "the disk is full");
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_stream_synchronize(here), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    CHECK(holds(a, 2));
}

/* An operation that fails inside the function is the cause; the call still is the operation. */
static weft_status fail_inside(void *argument)
{
    weft_array *bad = weft_reshape(argument, WEFT_SHAPE(7));
    weft_array_release(bad);
    return bad ? WEFT_OK : weft_error_code();
}

TEST(S6_the_message_of_a_call_inside_is_kept)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    CHECK(stream && a);
    CHECK_STATUS(weft_stream_call(stream, fail_inside, a, .name = "load_frame"), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "load_frame");
    CHECK_ERROR(WEFT_ERROR_STREAM, "weft_reshape");
    CHECK_ERROR(WEFT_ERROR_STREAM, "1000");
}

/* Neither of two failures goes untold. */
TEST(S6_two_failures_are_both_told)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_call(stream, fail_call, "the first"), WEFT_OK);
    weft_status second = weft_stream_call(stream, fail_call, "the second");
    bool told = second == WEFT_ERROR_STREAM; /* the first may have failed already */
    if (told)
        CHECK_STATUS(weft_stream_call(stream, fail_call, "the second"), WEFT_OK);
    CHECK(settle(stream));
    if (!told) {
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
        CHECK_ERROR(WEFT_ERROR_STREAM, "the first");
    }
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "the second");
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
}

TEST_MAIN(TEST_OF(S6_told_once_by_the_next_call_with_the_operation),
          TEST_OF(S6_every_call_on_the_stream_can_tell),
          TEST_OF(S6_the_end_of_a_guard_swallows_nothing),
          TEST_OF(S6_reading_what_was_never_computed_is_an_error_for_ever),
          TEST_OF(S6_only_a_whole_write_makes_it_good_again),
          TEST_OF(S6_a_write_on_its_way_makes_it_good_again),
          TEST_OF(S6_dependent_work_does_not_run), TEST_OF(S6_stream_and_other_arrays_go_on),
          TEST_OF(S6_not_hidden_when_the_memory_is_reused),
          TEST_OF(S6_not_hidden_when_the_memory_is_reused_later), TEST_OF(S6_reused_memory_is_good),
          TEST_OF(S6_told_by_the_array_is_told),
          TEST_NO_FAULTS(S6_told_once_without_memory, "it fails an allocation itself"),
          TEST_OF(S6_a_failure_survives_its_stream), TEST_OF(S6_synchronous_calls_fail_at_once),
          TEST_OF(S6_the_message_of_a_call_inside_is_kept), TEST_OF(S6_two_failures_are_both_told));
