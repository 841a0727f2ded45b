/* Several threads on the same arrays (S5), and functions called by streams that use Weft (S3). */
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <stdlib.h>

/* A thread of a test: it works on what it shares with others, and counts what is wrong. */
typedef struct member {
    weft_array *a, *b;
    int number, rounds;
    bool async;
    _Atomic int wrong;
} member;

/* All elements are equal; -1 if not, or if it cannot be read. */
static int common_value(weft_array *array)
{
    int data[1000];
    if (weft_copy_to_host(array, data, sizeof data) != WEFT_OK)
        return -1;
    for (int i = 1; i < 1000; i++)
        if (data[i] != data[0])
            return -1;
    return data[0];
}

static bool run_members(void *(*body)(void *), member *members, int count)
{
    pthread_t threads[8];
    int started = 0;
    while (started < count && pthread_create(&threads[started], NULL, body, &members[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == count;
}

static int count_wrong(member *members, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += atomic_load(&members[i].wrong);
    return wrong;
}

static void *fill_and_read(void *argument)
{
    member *m = argument;
    AUTO_STREAM stream = m->async ? weft_stream_new(WEFT_CPU, .async = true) : NULL;
    bool good = !m->async || (stream && weft_stream_set_current(WEFT_CPU, stream) == WEFT_OK);
    for (int i = 0; i < m->rounds && good; i++) {
        good = weft_fill(m->a, m->number * 100000 + i) == WEFT_OK;
        WEFT_AUTO weft_array *copy = good ? weft_copy(m->a) : NULL;
        good = good && common_value(copy) >= 0 && common_value(m->a) >= 0;
    }
    atomic_fetch_add(&m->wrong, !good);
    weft_stream_set_current(WEFT_CPU, NULL);
    return NULL;
}

/* Every operation is seen whole or not at all, whoever does it and wherever it runs. */
TEST(S5_operations_of_two_threads_on_one_array_are_whole)
{
    WEFT_AUTO weft_array *a = make_full(0);
    CHECK(a);
    for (int mix = 0; mix < 4; mix++) {
        member members[2];
        for (int i = 0; i < 2; i++)
            members[i] = (member){
                .a = a, .number = i, .rounds = test_faults() ? 3 : 200, .async = mix >> i & 1};
        CHECK(run_members(fill_and_read, members, 2));
        CHECK_INT(count_wrong(members, 2), 0);
    }
}

/* Takes turns through the array: each adds what it finds there to what it writes. */
static void *pass_on(void *argument)
{
    member *m = argument;
    AUTO_STREAM stream = m->async ? weft_stream_new(WEFT_CPU, .async = true) : NULL;
    bool good = !m->async || (stream && weft_stream_set_current(WEFT_CPU, stream) == WEFT_OK);
    for (int i = 0; i < m->rounds && good; i++)
        good = weft_assign(m->a, m->b) == WEFT_OK && weft_assign(m->b, m->a) == WEFT_OK;
    atomic_fetch_add(&m->wrong, !good);
    weft_stream_set_current(WEFT_CPU, NULL);
    return NULL;
}

/* Two threads use two arrays in opposite orders: neither the locks nor the work get stuck. */
TEST(S5_opposite_orders_do_not_deadlock)
{
    WEFT_AUTO weft_array *a = make_full(1), *b = make_full(1);
    CHECK(a && b);
    member members[4];
    for (int i = 0; i < 4; i++)
        members[i] = (member){.a = i % 2 ? a : b,
                              .b = i % 2 ? b : a,
                              .rounds = test_faults() ? 3 : 300,
                              .async = i >= 2};
    CHECK(run_members(pass_on, members, 4));
    CHECK_INT(count_wrong(members, 4), 0);
    CHECK(holds(a, 1));
    CHECK(holds(b, 1));
}

typedef struct held_call {
    weft_stream *stream;
    weft_array *array;
    stream_gate gate;
} held_call;

static void *call_held(void *argument)
{
    held_call *c = argument;
    weft_array *const writes[] = {c->array};
    weft_stream *here = weft_stream_current(WEFT_CPU);
    if (here)
        weft_stream_call(here, gate_pass, &c->gate, .writes = writes, .writes_count = 1);
    gate_open(&c->gate); /* also if the call failed */
    return NULL;
}

/* Work in another thread's call is ordered, too: streams come after it, and reads wait for it. */
TEST(S5_work_of_a_synchronous_stream_takes_part_in_the_order)
{
    pthread_t thread;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    held_call c = {.array = a, .gate = GATE};
    CHECK(stream && a);
    CHECK_INT(pthread_create(&thread, NULL, call_held, &c), 0);
    gate_wait_entered(&c.gate);
    weft_stream_set_current(WEFT_CPU, stream);
    weft_status filled = weft_fill(a, 2);
    weft_stream_set_current(WEFT_CPU, NULL);
    bool busy = test_faults() || stays_busy(stream);
    weft_waits_forbid(true);
    int value;
    weft_status refused = weft_item(a, &value);
    weft_waits_forbid(false);
    gate_open(&c.gate);
    pthread_join(thread, NULL);
    CHECK_STATUS(filled, WEFT_OK);
    CHECK(busy);
    CHECK_STATUS(refused, WEFT_ERROR_WAIT);
    CHECK(holds(a, 2));
}

static void *leave_current(void *argument)
{
    member *m = argument;
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    bool good = stream && weft_stream_set_current(WEFT_CPU, stream) == WEFT_OK;
    weft_stream_release(stream); /* the thread's current stream is the last reference */
    for (int i = 0; i < m->rounds && good; i++)
        good = weft_fill(m->a, i) == WEFT_OK;
    atomic_fetch_add(&m->wrong, !good);
    return NULL;
}

TEST(S1_the_end_of_a_thread_releases_its_stream)
{
    WEFT_AUTO weft_array *a = make_full(-1);
    CHECK(a);
    member m = {.a = a, .rounds = 100};
    CHECK(run_members(leave_current, &m, 1));
    CHECK_INT(atomic_load(&m.wrong), 0);
    CHECK_INT(((const int *)weft_array_data(a))[999], 99); /* its work was waited for */
}

/* What a function called by a stream does with Weft. */
typedef struct inside {
    weft_stream *own, *other;
    weft_array *a, *b;
    weft_event *event;
    stream_gate gate;
    weft_status status[12];
    int value;
} inside;

static weft_status compute_inside(void *argument)
{
    inside *in = argument;
    WEFT_AUTO weft_array *x = make_full(5);
    WEFT_AUTO weft_array *y = weft_copy(x);
    WEFT_AUTO weft_array *wide = weft_cast(y, WEFT_F64);
    double value = 0;
    if (!wide || weft_fill(y, 6) != WEFT_OK || weft_item(wide, &value) != WEFT_OK)
        return weft_error_code();
    in->value = (int)value;
    return holds(y, 6) && holds(x, 5) ? WEFT_OK : weft_error_set(WEFT_ERROR_CALLBACK, "wrong");
}

TEST(S3_functions_called_by_streams_compute)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *here = weft_stream_current(WEFT_CPU);
    inside in = {.value = 0};
    CHECK(stream && here);
    CHECK_STATUS(weft_stream_call(stream, compute_inside, &in), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(in.value, 5);
    in.value = 0;
    CHECK_STATUS(weft_stream_call(here, compute_inside, &in), WEFT_OK);
    CHECK_INT(in.value, 5);
}

static weft_status call_deeper(void *argument)
{
    inside *in = argument;
    weft_stream *here = weft_stream_current(WEFT_CPU);
    if (--in->value > 0)
        return here ? weft_stream_call(here, call_deeper, in) : weft_error_code();
    return compute_inside(in);
}

TEST(S3_calls_nest)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *here = weft_stream_current(WEFT_CPU);
    inside in = {.value = 6};
    CHECK(stream && here);
    CHECK_STATUS(weft_stream_call(here, call_deeper, &in), WEFT_OK);
    CHECK_INT(in.value, 5);
    in.value = 6;
    CHECK_STATUS(weft_stream_call(stream, call_deeper, &in), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(in.value, 5);
}

/* Gives work to another stream that depends on what was computed here, and waits for it. */
static weft_status offload_inside(void *argument)
{
    inside *in = argument;
    WEFT_AUTO weft_array *x = make_full(3);
    if (!x)
        return weft_error_code();
    {
        WEFT_STREAM(in->other);
        weft_status status = weft_assign(in->b, x);
        if (status != WEFT_OK)
            return status;
    }
    return weft_item(in->b, &in->value);
}

TEST(S3_functions_called_by_streams_may_wait_for_other_streams)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *here = weft_stream_current(WEFT_CPU);
    WEFT_AUTO weft_array *b = make_full(0);
    inside in = {.other = other, .b = b};
    CHECK(stream && other && here && b);
    CHECK_STATUS(weft_stream_call(stream, offload_inside, &in), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(in.value, 3);
    in.value = 0;
    CHECK_STATUS(weft_stream_call(here, offload_inside, &in), WEFT_OK);
    CHECK_INT(in.value, 3);
}

/* Uses an array that the call itself was declared to write or read, then stays for a while. */
static weft_status fill_own_and_stay(void *argument)
{
    inside *in = argument;
    in->status[0] = weft_fill(in->a, 7);
    gate_pass(&in->gate);
    return in->status[0];
}

static void inside_end(inside *in)
{
    gate_open(&in->gate);
    weft_stream_release(in->own);
    weft_stream_release(in->other);
    weft_event_release(in->event);
    weft_array_release(in->a);
    weft_array_release(in->b);
}
#define AUTO_INSIDE __attribute__((cleanup(inside_end))) inside

static bool inside_begin(inside *in)
{
    *in = (inside){.gate = GATE};
    in->own = weft_stream_new(WEFT_CPU, .async = true);
    in->other = weft_stream_new(WEFT_CPU, .async = true);
    in->event = weft_event_new();
    in->a = make_full(1);
    in->b = make_full(2);
    return in->own && in->other && in->event && in->a && in->b;
}

static weft_status on_other(inside *in, bool write)
{
    weft_status status = weft_stream_set_current(WEFT_CPU, in->other);
    if (status == WEFT_OK)
        status = write ? weft_fill(in->a, 8) : weft_assign(in->b, in->a);
    weft_stream_set_current(WEFT_CPU, NULL);
    return status;
}

/* The array belongs to the function until it returns, whatever it does with it meanwhile. */
TEST(S3_a_function_may_use_the_arrays_it_was_declared_with)
{
    for (int writes = 0; writes < 2; writes++) {
        AUTO_INSIDE in;
        CHECK(inside_begin(&in));
        weft_array *const used[] = {in.a};
        CHECK_STATUS(weft_stream_call(in.own, fill_own_and_stay, &in, .reads = used,
                                      .reads_count = !writes, .writes = used,
                                      .writes_count = (size_t)writes),
                     WEFT_OK);
        gate_wait_entered(&in.gate);
        CHECK_STATUS(in.status[0], WEFT_OK);
        CHECK_STATUS(on_other(&in, !writes), WEFT_OK);
        CHECK(stays_busy(in.other));
        gate_open(&in.gate);
        CHECK(finishes(in.other));
        CHECK(holds(in.a, writes ? 7 : 8));
        CHECK(holds(in.b, writes ? 7 : 2));
    }
}

/* Waits, in every way there is, for work that cannot begin before this function returns. */
static weft_status wait_for_itself(void *argument)
{
    inside *in = argument;
    gate_pass(&in->gate); /* until the work after it is queued */
    for (int again = 0; again < 2; again++) {
        in->status[0] = weft_stream_synchronize(in->own);
        in->status[1] = weft_event_synchronize(in->event);
        in->status[2] = weft_eval(in->a);
        in->status[3] = weft_item(in->a, &in->value);
        in->status[4] = weft_device_synchronize(WEFT_CPU);
        in->status[5] = weft_device_reset(WEFT_CPU);
        in->status[6] = weft_fill(in->a, 50); /* on this thread: after the work that is queued */
        if (compute_inside(in) != WEFT_OK)    /* and again after it has computed something */
            return weft_error_code();
    }
    return WEFT_OK;
}

TEST(S3_a_function_that_would_wait_for_itself_gets_an_error)
{
    AUTO_INSIDE in;
    CHECK(inside_begin(&in));
    CHECK_STATUS(weft_stream_call(in.own, wait_for_itself, &in), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, in.own), WEFT_OK);
    weft_status status = weft_fill(in.a, 3);
    if (status == WEFT_OK)
        status = weft_event_record(in.event, in.own);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    gate_open(&in.gate);
    CHECK(finishes(in.own));
    for (int i = 0; i < 7; i++)
        CHECK_STATUS(in.status[i], WEFT_ERROR_STREAM);
    CHECK(holds(in.a, 3));
}

/* What was refused has changed nothing: other streams still come after the work that is queued. */
static weft_status fill_refused(void *argument)
{
    inside *in = argument;
    in->status[0] = weft_fill(in->a, 50);
    return WEFT_OK;
}

TEST(S3_a_refused_wait_does_not_disturb_the_order)
{
    AUTO_INSIDE in;
    CHECK(inside_begin(&in));
    stream_gate first = GATE;
    weft_status status = hold(in.own, &first);
    if (status == WEFT_OK)
        status = weft_stream_call(in.own, fill_refused, &in);
    if (status == WEFT_OK)
        status = hold(in.own, &in.gate);
    weft_stream_set_current(WEFT_CPU, in.own);
    if (status == WEFT_OK)
        status = weft_fill(in.a, 3);
    weft_stream_set_current(WEFT_CPU, NULL);
    gate_open(&first);
    if (status == WEFT_OK)
        gate_wait_entered(&in.gate);
    else
        weft_stream_synchronize(in.own);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(in.status[0], WEFT_ERROR_STREAM);
    CHECK_STATUS(on_other(&in, false), WEFT_OK);
    CHECK(stays_busy(in.other));
    gate_open(&in.gate);
    CHECK(holds(in.b, 3));
}

/* Streams, arrays and events are made by one thread and given up by another. */
static void *give_up(void *argument)
{
    inside *in = argument;
    weft_stream_release(in->own);
    weft_array_release(in->a);
    weft_event_release(in->event);
    in->own = NULL;
    in->a = NULL;
    in->event = NULL;
    return NULL;
}

TEST(M4_any_thread_may_release)
{
    pthread_t thread;
    AUTO_INSIDE in;
    CHECK(inside_begin(&in));
    CHECK_STATUS(weft_event_record(in.event, in.own), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, in.own), WEFT_OK);
    weft_status status = weft_assign(in.b, in.a);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(pthread_create(&thread, NULL, give_up, &in), 0);
    pthread_join(thread, NULL);
    CHECK(holds(in.b, 1));
}

TEST_MAIN(TEST_OF(S5_operations_of_two_threads_on_one_array_are_whole),
          TEST_OF(S5_opposite_orders_do_not_deadlock),
          TEST_OF(S5_work_of_a_synchronous_stream_takes_part_in_the_order),
          TEST_OF(S1_the_end_of_a_thread_releases_its_stream),
          TEST_OF(S3_functions_called_by_streams_compute), TEST_OF(S3_calls_nest),
          TEST_OF(S3_functions_called_by_streams_may_wait_for_other_streams),
          TEST_OF(S3_a_function_may_use_the_arrays_it_was_declared_with),
          TEST_OF(S3_a_function_that_would_wait_for_itself_gets_an_error),
          TEST_OF(S3_a_refused_wait_does_not_disturb_the_order),
          TEST_OF(M4_any_thread_may_release));
