/* Asynchronous eager execution: calls that return, reads that wait, waits that are forbidden. */
#include "support/check.h"
#include "support/streams.h"
#include <string.h>

/* Everything that makes or changes arrays can be queued while the stream cannot run any of it. */
TEST(E1_every_call_returns_while_the_stream_is_held)
{
    int data[100];
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    for (int i = 0; i < 100; i++)
        data[i] = i;
    WEFT_AUTO weft_array *full = NULL, *eye = NULL, *range = NULL, *space = NULL, *like = NULL;
    WEFT_AUTO weft_array *host = NULL, *cast = NULL, *copy = NULL, *shaped = NULL, *handle = NULL;
    WEFT_AUTO weft_array *turned = NULL, *flat = NULL;
    AUTO_GATE gate = GATE;
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    gate_wait_entered(&gate);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    uint64_t waits = stats().waits;
    full = weft_full(WEFT_SHAPE(10, 10), 5);
    like = weft_zeros_like(full);
    eye = weft_eye(10, 10, 0, .dtype = WEFT_I32);
    range = weft_arange(0, 100, 1, .dtype = WEFT_I32);
    space = weft_linspace(0, 99, 100, .dtype = WEFT_F64);
    host = weft_from_host(data, sizeof data, WEFT_SHAPE(100), .dtype = WEFT_I32);
    cast = weft_cast(space, WEFT_I32);
    copy = weft_copy(eye);
    shaped = weft_reshape(range, WEFT_SHAPE(10, 10));
    turned = weft_transpose(shaped);
    flat = weft_reshape(turned, WEFT_SHAPE(100)); /* copies */
    handle = weft_handle(.dtype = WEFT_I32);
    weft_status status = weft_assign(like, full);
    if (status == WEFT_OK)
        status = weft_assign(handle, flat);
    if (status == WEFT_OK)
        status = weft_copy_from_host(range, data, sizeof data);
    memset(data, 0, sizeof data);
    bool done = true;
    weft_status query = weft_stream_query(stream, &done);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK(full && like && eye && range && space && host && cast && copy && flat && handle);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(query, WEFT_OK);
    CHECK(!done);
    CHECK_INT(stats().waits, waits);
    gate_open(&gate);
    int value = -1;
    CHECK(holds(like, 5));
    CHECK_STATUS(weft_item(handle, &value), WEFT_OK);
    CHECK_INT(value, 0);
    int expected[100], actual[100];
    for (int i = 0; i < 100; i++)
        expected[i] = i % 10 * 10 + i / 10;
    CHECK_STATUS(weft_copy_to_host(handle, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    for (int i = 0; i < 100; i++)
        expected[i] = i;
    CHECK_STATUS(weft_copy_to_host(cast, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK_STATUS(weft_copy_to_host(host, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
}

TEST(E2_eval_waits_for_one_array_on_its_stream)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM held = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 1, .stream = stream);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(1000), 2, .stream = held);
    AUTO_GATE gate = GATE;
    CHECK(stream && held && a && b);
    CHECK_STATUS(hold(held, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(b, 4), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 3), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(a))[999], 3);
    CHECK(!is_done(held)); /* the other stream is still at the gate */
    gate_open(&gate);
    CHECK_STATUS(weft_eval(b), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(b))[0], 4);
}

/* Work queued on the stream after the array's is not waited for. */
TEST(E2_eval_waits_for_no_later_work)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 1, .stream = stream);
    AUTO_GATE gate = GATE;
    int value = 0;
    CHECK(stream && a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK_STATUS(weft_item(a, &value), WEFT_OK);
    CHECK_INT(value, 1);
    CHECK(!is_done(stream));
}

static weft_status slow(void *argument)
{
    (void)argument;
    pause_ms(20);
    return WEFT_OK;
}

/* After eval the host may write: reads that are queued are waited for as well. */
TEST(E2_eval_waits_for_queued_reads)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1), *b = make_full(0);
    AUTO_GATE gate = GATE;
    CHECK(stream && a && b);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, slow, NULL), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = weft_assign(b, a);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    gate_open(&gate);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    ((int *)weft_array_data(a))[0] = 9;
    CHECK(holds(b, 1));
}

TEST(E2_item_reads_from_pending_arrays)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    WEFT_AUTO weft_array *a = weft_arange(5, 10, 1, .dtype = WEFT_I16, .stream = stream);
    WEFT_AUTO weft_array *last = weft_slice(a, WEFT_STEP(4, 3, 1));
    CHECK(a && last);
    int value = 0;
    double wide = 0;
    CHECK_STATUS(weft_item(a, &value), WEFT_OK);
    CHECK_INT(value, 5);
    CHECK_STATUS(weft_item(last, &wide), WEFT_ERROR_SHAPE); /* from 4 up to 3: empty */
    WEFT_AUTO weft_array *back = weft_slice(a, WEFT_REVERSED);
    CHECK_STATUS(weft_item(back, &wide), WEFT_OK);
    CHECK(wide == 9.0);
}

static void allow_waits(const bool *before) { weft_waits_forbid(*before); }
#define FORBID_WAITS                                                                               \
    __attribute__((cleanup(allow_waits), unused)) const bool waits_before = weft_waits_forbid(true)

/* Each call that would have to wait is refused, and nothing has changed after it. */
TEST(E3_every_hidden_wait_is_an_error_and_changes_nothing)
{
    int data[1000] = {0}, value = 77;
    char text[100] = "";
    size_t length = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *here = weft_stream_current(WEFT_CPU);
    AUTO_EVENT event = weft_event_new();
    WEFT_AUTO weft_array *pending = weft_full(WEFT_SHAPE(1000), 1, .stream = stream);
    WEFT_AUTO weft_array *a = make_full(2), *handle = weft_handle(.dtype = WEFT_I32);
    WEFT_AUTO weft_array *free_view = weft_asarray(pending, .stream = here);
    AUTO_GATE gate = GATE;
    CHECK(stream && here && event && pending && a && handle && free_view);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(pending, 3), WEFT_OK);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    weft_statistics before = stats();
    FORBID_WAITS;
    CHECK_STATUS(weft_item(pending, &value), WEFT_ERROR_WAIT);
    CHECK_INT(value, 77);
    CHECK_STATUS(weft_copy_to_host(pending, data, sizeof data), WEFT_ERROR_WAIT);
    CHECK_INT(data[0], 0);
    CHECK_STATUS(weft_format(pending, text, sizeof text, &length), WEFT_ERROR_WAIT);
    CHECK_STATUS(weft_assign(a, free_view), WEFT_ERROR_WAIT);
    CHECK_ERROR(WEFT_ERROR_WAIT, "weft_waits_forbid");
    CHECK_STATUS(weft_fill(free_view, 8), WEFT_ERROR_WAIT);
    CHECK_STATUS(weft_copy_from_host(free_view, data, sizeof data), WEFT_ERROR_WAIT);
    CHECK(!weft_copy(free_view));
    CHECK_ERROR(WEFT_ERROR_WAIT, "");
    CHECK(!weft_cast(free_view, WEFT_F32));
    CHECK_STATUS(weft_assign(handle, free_view), WEFT_ERROR_WAIT);
    CHECK(weft_array_is_handle(handle));
    weft_array *const used[] = {pending};
    CHECK_STATUS(weft_stream_call(here, gate_pass, &gate, .reads = used, .reads_count = 1),
                 WEFT_ERROR_WAIT);
    CHECK_STATUS(weft_stream_wait_event(here, event), WEFT_ERROR_WAIT);
    CHECK_STATUS(weft_stream_wait_stream(here, stream), WEFT_ERROR_WAIT);
    CHECK_INT(stats().waits, before.waits);
    CHECK_INT(stats().launches, before.launches);
    CHECK(holds(a, 2));
    CHECK(!is_done(stream));
    gate_open(&gate);
    CHECK_STATUS(weft_eval(pending), WEFT_OK); /* to wait is its purpose */
    CHECK(holds(pending, 3));
}

/* A refused call leaves the order of what is queued as it was. */
TEST(E3_a_refused_call_does_not_disturb_the_order)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *here = weft_stream_current(WEFT_CPU);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 1, .stream = first);
    WEFT_AUTO weft_array *on_second = weft_asarray(a, .stream = second);
    WEFT_AUTO weft_array *on_here = weft_asarray(a, .stream = here);
    AUTO_GATE gate = GATE;
    CHECK(first && second && here && a && on_second && on_here);
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    weft_waits_forbid(true);
    weft_status refused = weft_fill(on_here, 9);
    weft_waits_forbid(false);
    CHECK_STATUS(refused, WEFT_ERROR_WAIT);
    CHECK_STATUS(weft_fill(on_second, 3), WEFT_OK);
    CHECK(stays_busy(second));
    gate_open(&gate);
    CHECK(holds(a, 3));
}

TEST(E3_explicit_waits_still_wait)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_EVENT event = weft_event_new();
    WEFT_AUTO weft_array *a = make_full(0);
    CHECK(stream && event && a);
    FORBID_WAITS;
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    CHECK_STATUS(weft_device_synchronize(WEFT_CPU), WEFT_OK);
    {
        WEFT_STREAM(stream);
        for (int i = 0; i < 20; i++)
            CHECK_STATUS(weft_fill(a, i), WEFT_OK);
    }
    CHECK_INT(((const int *)weft_array_data(a))[0], 19);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(other);
    {
        WEFT_STREAM(other);
        CHECK_STATUS(weft_fill(a, 20), WEFT_OK);
    }
    CHECK(holds(a, 20)); /* it is done, so reading it waits for nothing */
}

/* The loop that a user wants to prove: it never blocks, whatever the streams are doing. */
TEST(E3_a_loop_over_streams_never_blocks)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 0, .stream = first);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(1000), 0, .stream = second);
    AUTO_GATE gate = GATE;
    CHECK(first && second && a && b);
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    uint64_t waits = stats().waits;
    {
        FORBID_WAITS;
        for (int i = 0; i < 100; i++) {
            CHECK_STATUS(weft_fill(a, i), WEFT_OK);
            CHECK_STATUS(weft_assign(b, a), WEFT_OK);
            WEFT_AUTO weft_array *temporary = weft_copy(b);
            CHECK(temporary);
            CHECK_STATUS(weft_assign(a, temporary), WEFT_OK);
        }
        CHECK_INT(stats().waits, waits);
    }
    gate_open(&gate);
    CHECK(holds(a, 99));
}

static void *ask_forbidden(void *argument)
{
    *(bool *)argument = weft_waits_forbid(false);
    return NULL;
}

TEST(E3_is_for_this_thread)
{
    pthread_t thread;
    bool theirs = true;
    CHECK(!weft_waits_forbid(true));
    int error = pthread_create(&thread, NULL, ask_forbidden, &theirs);
    if (!error)
        pthread_join(thread, NULL);
    bool mine = weft_waits_forbid(false);
    CHECK_INT(error, 0);
    CHECK(mine && !theirs);
    CHECK(!weft_waits_forbid(false));
}

TEST_MAIN(TEST_OF(E1_every_call_returns_while_the_stream_is_held),
          TEST_OF(E2_eval_waits_for_one_array_on_its_stream),
          TEST_OF(E2_eval_waits_for_no_later_work), TEST_OF(E2_eval_waits_for_queued_reads),
          TEST_OF(E2_item_reads_from_pending_arrays),
          TEST_OF(E3_every_hidden_wait_is_an_error_and_changes_nothing),
          TEST_OF(E3_a_refused_call_does_not_disturb_the_order),
          TEST_OF(E3_explicit_waits_still_wait), TEST_OF(E3_a_loop_over_streams_never_blocks),
          TEST_OF(E3_is_for_this_thread));
