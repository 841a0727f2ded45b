/* Work that a stream of an OpenCL device has a record of is queued again by number alone. How
 * failures of such work are found is in test_opencl_failures.c. */
#include "backend/opencl/opencl.h"
#include "backend/windows.h"
#include "support/opencl.h"
#include <sys/wait.h>
#include <unistd.h>

static weft_device device(void) { return opencl_device(); }

/* So often on the stream, by one call site. */
static weft_status add_often(weft_stream *stream, weft_array *a, int times)
{
    weft_status status = WEFT_OK;
    weft_stream_set_current(device(), stream);
    for (int k = 0; k < times && status == WEFT_OK; k++)
        status = add(a, 1);
    weft_stream_set_current(device(), NULL);
    return status;
}

typedef struct pointed {
    const int *data;
    _Atomic int first, last;
} pointed;

static weft_status look_at_ends(void *argument)
{
    pointed *p = argument;
    atomic_store(&p->first, p->data[0]);
    atomic_store(&p->last, p->data[LARGE - 1]);
    return WEFT_OK;
}

/* The host sees all of what was queued again, and the device goes on after the function. */
TEST(S4_functions_come_after_what_was_queued_again)
{
    NEEDS_DEVICE;
    enum { TIMES = 40 };
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(LARGE), 0, .dtype = WEFT_I32, .device = device(),
                                        .memory = WEFT_MEMORY_SHARED);
    if (!a || !weft_array_host_readable(a))
        SKIP("the device has no memory that the host may read at any time");
    CHECK(stream && weft_eval(a) == WEFT_OK);
    pointed p = {.data = weft_array_data(a)};
    for (int round = 1; round <= 3; round++) {
        const uint64_t before = again(stream);
        CHECK_STATUS(add_often(stream, a, TIMES), WEFT_OK);
        CHECK(again(stream) > before);
        CHECK_STATUS(weft_stream_call(stream, look_at_ends, &p, .reads = &a, .reads_count = 1),
                     WEFT_OK);
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
        CHECK_INT(atomic_load(&p.first), round * TIMES);
        CHECK_INT(atomic_load(&p.last), round * TIMES);
    }
}

typedef struct asking {
    weft_stream *stream;
    _Atomic bool stop;
} asking;

static void *ask_on(void *argument)
{
    asking *a = argument;
    while (!atomic_load(&a->stop))
        (void)is_done(a->stream);
    return NULL;
}

static weft_status count_call(void *argument)
{
    ++*(int *)argument;
    return WEFT_OK;
}

/* Somebody asks just when a function is queued: it does not wait for itself. */
TEST(S4_functions_do_not_wait_for_who_asks)
{
    NEEDS_DEVICE;
    const int rounds = test_quick() ? 200 : 2000;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    CHECK(stream && a && holds(a, 0));
    asking asks = {.stream = stream};
    pthread_t thread;
    int calls = 0, failed = 0;
    CHECK_INT(pthread_create(&thread, NULL, ask_on, &asks), 0);
    for (int k = 0; k < rounds; k++) {
        failed += add_often(stream, a, 5) != WEFT_OK;
        failed += weft_stream_call(stream, count_call, &calls) != WEFT_OK;
    }
    failed += weft_stream_synchronize(stream) != WEFT_OK;
    atomic_store(&asks.stop, true);
    pthread_join(thread, NULL);
    CHECK_INT(failed, 0);
    CHECK_INT(calls, rounds);
    CHECK(holds(a, 5 * rounds));
}

typedef struct numbered {
    weft_stream *stream;
    weft_array *array;
    int from, to, failed;
} numbered;

static void *add_numbers(void *argument)
{
    numbered *n = argument;
    weft_stream_set_current(device(), n->stream);
    for (int k = n->from; k < n->to; k++)
        n->failed += add(n->array, k) != WEFT_OK;
    weft_stream_set_current(device(), NULL);
    return NULL;
}

/* A kernel has one set of arguments, whoever queues it: other arrays and other numbers each time.
 */
TEST(S5_threads_queue_one_kernel_again)
{
    NEEDS_DEVICE;
    const int rounds = test_quick() ? 2000 : 20000;
    AUTO_STREAM one = weft_stream_new(device(), .async = true);
    AUTO_STREAM two = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(8, 0), *b = full(8, 0);
    CHECK(one && two && a && b && holds(a, 0) && holds(b, 0));
    numbered first = {one, a, 0, rounds, 0}, second = {two, b, rounds, 2 * rounds, 0};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, add_numbers, &first), 0);
    add_numbers(&second);
    pthread_join(thread, NULL);
    CHECK(first.failed == 0 && second.failed == 0 && again(one) > 0 && again(two) > 0);
    CHECK(holds(a, rounds * (rounds - 1) / 2));
    CHECK(holds(b, rounds * (rounds - 1) / 2 + rounds * rounds));
}

/* Each of its commands has a time of its own. */
TEST(S3_a_profiling_stream_queues_nothing_again)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true, .profiling = true);
    AUTO_EVENT begin = weft_event_new();
    AUTO_EVENT end = weft_event_new();
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    double seconds = -1;
    CHECK(stream && begin && end && a && holds(a, 0));
    CHECK_STATUS(weft_event_record(begin, stream), WEFT_OK);
    CHECK_STATUS(add_often(stream, a, 20), WEFT_OK);
    CHECK_STATUS(weft_event_record(end, stream), WEFT_OK);
    CHECK_STATUS(weft_event_synchronize(end), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(begin, end, &seconds), WEFT_OK);
    CHECK(again(stream) == 0 && seconds > 0 && holds(a, 20));
}

/* Once it is done everything before it is, so that the host may read. */
TEST(A5_native_events_come_after_what_was_queued_again)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_EVENT event = weft_event_new();
    WEFT_AUTO weft_array *a = full(LARGE, 0);
    AUTO_GATE gate = GATE;
    void *native = NULL;
    cl_int before = -1;
    CHECK(stream && event && a && weft_eval(a) == WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(add_often(stream, a, 20), WEFT_OK);
    CHECK(again(stream) > 0);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_event_native(event, &native), WEFT_OK);
    weft__cl.GetEventInfo(native, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof before, &before, NULL);
    gate_open(&gate);
    cl_event only = native;
    CHECK_INT(weft__cl.WaitForEvents(1, &only), CL_SUCCESS);
    CHECK_INT(weft__cl.ReleaseEvent(only), CL_SUCCESS);
    CHECK(before > CL_COMPLETE && is_done(stream));
}

/* Work of Weft's, and behind it a command that waits for the host: the work is done nevertheless.
 */
static bool ends_before_others(weft_stream *stream, cl_command_queue queue, weft_array *a)
{
    const weft__opencl_device *d = weft__opencl_device_get(device().index);
    cl_int code;
    cl_event gate = weft__cl.CreateUserEvent(d->context, &code), behind = NULL;
    bool fine = gate && add_often(stream, a, 100) == WEFT_OK &&
                weft__cl.EnqueueBarrierWithWaitList(queue, 1, &gate, &behind) == CL_SUCCESS;
    fine = fine && holds(a, 100);
    weft__cl.SetUserEventStatus(gate, CL_COMPLETE);
    weft__cl.ReleaseEvent(gate);
    return fine && weft__cl.ReleaseEvent(behind) == CL_SUCCESS;
}

TEST(A5_nothing_is_queued_again_in_a_foreign_queue)
{
    NEEDS_DEVICE;
    const weft__opencl_device *d = weft__opencl_device_get(device().index);
    cl_int code;
    cl_command_queue queue = weft__cl.CreateCommandQueue(d->context, d->id, 0, &code);
    CHECK(queue);
    {
        AUTO_STREAM stream = weft_stream_wrap(device(), queue);
        WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
        CHECK(stream && a && holds(a, 0));
        CHECK(ends_before_others(stream, queue, a));
        CHECK_INT(again(stream), 0);
    }
    CHECK_INT(weft__cl.Flush(queue), CL_SUCCESS);
    CHECK_INT(weft__cl.ReleaseCommandQueue(queue), CL_SUCCESS);
}

TEST(A5_nothing_is_queued_again_in_a_queue_that_was_handed_out)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(ELEMENTS, -100);
    void *queue = NULL;
    CHECK(stream && a && holds(a, -100));
    CHECK_STATUS(add_often(stream, a, 100), WEFT_OK);
    const uint64_t before = again(stream);
    CHECK_STATUS(weft_stream_native(stream, &queue), WEFT_OK);
    CHECK(before > 50 && ends_before_others(stream, queue, a));
    CHECK_INT(again(stream), before);
}

/* Memory objects, and addresses that are given to the kernel as they are. */
TEST(M1_kinds_of_memory_are_used_again)
{
    NEEDS_DEVICE;
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    for (int i = 0; i < 9; i++) {
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 0, .dtype = WEFT_I32,
                                            .device = device(), .memory = kinds[i / 3]);
        WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(ELEMENTS), 3, .dtype = WEFT_I32,
                                            .device = device(), .memory = kinds[i % 3]);
        if (!a || !b)
            continue; /* the device has no such memory */
        const uint64_t before = again(here());
        for (int k = 0; k < 10; k++)
            CHECK_STATUS(weft(a += b, a, b), WEFT_OK);
        CHECK(again(here()) > before && holds(a, 30));
    }
}

/* The driver's threads are not in the child. */
TEST(a_child_queues_nothing_again)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    weft_status last = WEFT_OK;
    pid_t child = -1;
    CHECK(a);
    for (int k = 0; k < 11; k++) { /* one call site in both */
        if (k == 10)
            child = fork();
        last = k < 10 || child == 0 ? add(a, 1) : WEFT_OK;
        CHECK(child == 0 || last == WEFT_OK);
    }
    if (child == 0)
        _exit(last != WEFT_OK && strstr(weft_error_message(), "fork") ? 0 : 1);
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(holds(a, 10));
}

TEST_MAIN(WINDOW_TESTS, TEST_NO_FAULTS(S4_functions_come_after_what_was_queued_again, VARIES),
          TEST_NO_FAULTS(S4_functions_do_not_wait_for_who_asks, VARIES),
          TEST_NO_FAULTS(S5_threads_queue_one_kernel_again, VARIES),
          TEST_NO_FAULTS(S3_a_profiling_stream_queues_nothing_again, VARIES),
          TEST_NO_FAULTS(A5_native_events_come_after_what_was_queued_again, VARIES),
          TEST_NO_FAULTS(A5_nothing_is_queued_again_in_a_foreign_queue, VARIES),
          TEST_NO_FAULTS(A5_nothing_is_queued_again_in_a_queue_that_was_handed_out, VARIES),
          TEST_NO_FAULTS(M1_kinds_of_memory_are_used_again, VARIES),
          TEST_NO_FAULTS(a_child_queues_nothing_again, VARIES));
