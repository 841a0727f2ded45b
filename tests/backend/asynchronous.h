/* Tests of streams, memory and errors for devices that work on their own. The file that includes
 * this defines device(), the one under test. */
#ifndef WEFT_TESTS_BACKEND_ASYNCHRONOUS_H
#define WEFT_TESTS_BACKEND_ASYNCHRONOUS_H

#include "support/check.h"
#include "support/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static weft_device device(void);

#define NEEDS_DEVICE                                                                               \
    do {                                                                                           \
        if (device().kind == WEFT_DEVICE_INVALID)                                                  \
            SKIP(weft_error_message());                                                            \
    } while (0)

static weft_array *full(int value, weft_device on)
{
    return weft_full(WEFT_SHAPE(1000), value, .dtype = WEFT_I32, .device = on);
}

TEST(D2_facts)
{
    NEEDS_DEVICE;
    weft_device_info info;
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    CHECK(info.name[0] && info.driver[0] && info.compiler[0]);
    CHECK(info.compute_units > 0 && info.memory_total > 0);
    CHECK(info.same_bits == !info.same_bits_why[0]);
    void *context = NULL, *queue = NULL;
    CHECK_STATUS(weft_device_native(device(), &context), WEFT_OK);
    CHECK_STATUS(weft_stream_native(weft_stream_current(device()), &queue), WEFT_OK);
    CHECK(context && queue);
}

TEST(D6_there_and_back)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = weft_arange(0, 24, 1, .dtype = WEFT_I32);
    WEFT_AUTO weft_array *grid = weft_reshape(a, WEFT_SHAPE(4, 6));
    WEFT_AUTO weft_array *part = weft_slice(grid, WEFT_ALL, WEFT_STEP(5, -7, -2));
    WEFT_AUTO weft_array *there = weft_to_device(part, device(), NULL);
    WEFT_AUTO weft_array *turned = weft_transpose(there);
    WEFT_AUTO weft_array *back = weft_to_device(turned, WEFT_CPU, NULL);
    int values[12];
    CHECK(back && weft_device_equal(weft_array_device(there), device()));
    CHECK_STATUS(weft_copy_to_host(back, values, sizeof values), WEFT_OK);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            CHECK_INT(values[i * 4 + j], j * 6 + 5 - 2 * i);
}

/* Work of the device waits for a stream of the CPU, and the other way round. */
TEST(S5_order_between_devices)
{
    NEEDS_DEVICE;
    AUTO_STREAM cpu = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    CHECK(cpu && other);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = cpu);
    CHECK_STATUS(hold(cpu, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 5), WEFT_OK);
    WEFT_AUTO weft_array *b = weft_to_device(a, device(), other);
    WEFT_AUTO weft_array *c = weft_new(b * 2, b);
    CHECK(b && c);
    CHECK(stays_busy(other));
    gate_open(&gate);
    CHECK(holds(c, 10));
    CHECK(finishes(other));
}

/* Goes to the host and back while it is not computed yet, and nobody waits; a driver may read the
 * host's memory before it writes it, unless it is kept from that. */
static void there_and_back(weft_stream *from, weft_stream *to, int value)
{
    AUTO_STREAM cpu = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = from);
    CHECK(cpu && a);
    CHECK_STATUS(hold(from, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, value), WEFT_OK);
    WEFT_AUTO weft_array *host = weft_to_device(a, WEFT_CPU, cpu);
    WEFT_AUTO weft_array *back = host ? weft_to_device(host, device(), to) : NULL;
    CHECK(back);
    CHECK(stays_busy(to));
    gate_open(&gate);
    CHECK(holds(back, value));
}

TEST(S5_there_and_back_in_order)
{
    NEEDS_DEVICE;
    AUTO_STREAM one = weft_stream_new(device(), .async = true);
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    CHECK(one && other);
    there_and_back(one, other, 7);
    there_and_back(one, one, 8);
}

static weft_status count_call(void *argument)
{
    ++*(int *)argument;
    return WEFT_OK;
}

static weft_status fail_on_purpose(void *argument)
{
    (void)argument;
    return weft_error_set(WEFT_ERROR_CALLBACK, "on purpose");
}

TEST(S3_functions_are_called_in_order)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    int calls = 0;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = stream);
    CHECK(stream && a);
    CHECK_STATUS(weft_stream_call(stream, count_call, &calls), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(calls, 1);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 7), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, count_call, &calls), WEFT_OK);
    CHECK(stays_busy(stream));
    CHECK_INT(calls, 1);
    gate_open(&gate);
    CHECK(holds(a, 7));
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(calls, 2);
}

TEST(S6_failures_follow_the_data)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = stream);
    CHECK(stream && a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, fail_on_purpose, NULL, .writes = &a, .writes_count = 1),
                 WEFT_OK);
    WEFT_AUTO weft_array *b = weft_new(a + 1, a);
    int first;
    CHECK(b);
    gate_open(&gate);
    CHECK_STATUS(weft_item(b, &first), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "on purpose");
    weft_stream_synchronize(stream); /* tells it, if nobody was told */
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    CHECK(holds(a, 2));
}

/* b = a + 1, on a stream. */
static weft_status add_on(weft_stream *stream, weft_array *b, weft_array *a)
{
    weft_status status = weft_stream_set_current(device(), stream);
    if (status == WEFT_OK)
        status = weft(b = a + 1, a, b);
    weft_stream_set_current(device(), NULL);
    return status;
}

/* What reads an array that failed is queued after a write of it that is not done, on the same
 * stream and on another. */
TEST(S6_a_write_on_its_way_makes_it_good_again)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0, device()), *b = full(1, device()), *c = full(2, device());
    CHECK(stream && other && a && b && c);
    for (int k = 0; k < 20; k++) {
        CHECK_STATUS(
            weft_stream_call(stream, fail_on_purpose, NULL, .writes = &a, .writes_count = 1),
            WEFT_OK);
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
        AUTO_GATE gate = GATE;
        CHECK_STATUS(hold(stream, &gate), WEFT_OK);
        CHECK_STATUS(add_on(stream, a, b), WEFT_OK);
        CHECK_STATUS(add_on(stream, b, a), WEFT_OK);
        gate_open(&gate);
        CHECK_STATUS(add_on(other, c, a), WEFT_OK);
        CHECK(holds(c, 2 * k + 3) && holds(b, 2 * k + 3) && holds(a, 2 * k + 2));
    }
}

static weft_status release_it(void *argument)
{
    weft_stream_release(*(weft_stream **)argument);
    return WEFT_OK;
}

TEST(S1_released_by_its_own_work)
{
    NEEDS_DEVICE;
    weft_stream *stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0, device());
    AUTO_GATE gate = GATE;
    CHECK(stream && a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_call(stream, release_it, &stream), WEFT_OK);
    {
        WEFT_AUTO weft_array *bound = weft_asarray(a, .stream = stream);
        CHECK_STATUS(weft_fill(bound, 4), WEFT_OK);
    }
    gate_open(&gate);
    CHECK(holds(a, 4));
}

TEST(S1_synchronous_stream)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device());
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = stream);
    CHECK(stream && a && !weft_stream_is_async(stream));
    CHECK_STATUS(weft_fill(a, 9), WEFT_OK);
    CHECK(is_done(stream));
    CHECK(holds(a, 9));
}

TEST(S3_profiling)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true, .profiling = true);
    AUTO_EVENT begin = weft_event_new();
    AUTO_EVENT end = weft_event_new();
    double seconds = -1;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1 << 20), .stream = stream);
    CHECK(stream && begin && end && a);
    CHECK_STATUS(weft_event_record(begin, stream), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 1), WEFT_OK);
    CHECK_STATUS(weft_event_record(end, stream), WEFT_OK);
    CHECK_STATUS(weft_event_synchronize(end), WEFT_OK);
    CHECK_STATUS(weft_event_elapsed(begin, end, &seconds), WEFT_OK);
    CHECK(seconds > 0 && seconds < 60);
}

/* Lent memory is brought to the context's device, and back. */
TEST(D5_lent_memory)
{
    NEEDS_DEVICE;
    float x[100], y[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    WEFT_AUTO weft_array *a = weft_borrow(x, sizeof x, WEFT_SHAPE(100), WEFT_F32);
    WEFT_AUTO weft_array *b = weft_borrow(y, sizeof y, WEFT_SHAPE(100), WEFT_F32);
    weft_statistics before = {0}, after = {0};
    CHECK(a && b);
    weft_memory_stats(device(), &before);
    {
        WEFT_ON(device());
        CHECK_STATUS(weft(b = sqrt(a), a, b), WEFT_OK);
        CHECK_STATUS(weft_eval(b), WEFT_OK);
    }
    weft_memory_stats(device(), &after);
    CHECK(after.launches > before.launches);
    for (int i = 0; i < 100; i++)
        CHECK(y[i] == sqrtf((float)i));
}

TEST(E3_reads_wait)
{
    NEEDS_DEVICE;
    int value = 1;
    WEFT_AUTO weft_array *a = full(3, device());
    CHECK(a);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    const bool before = weft_waits_forbid(true);
    const weft_status status = weft_item(a, &value);
    weft_waits_forbid(before);
    CHECK_INT(status, WEFT_ERROR_WAIT);
    CHECK_INT(value, 1);
}

/* The driver's threads are not in the child: it says so, and its CPU works. */
TEST(fork_leaves_the_device_behind)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(1, device());
    CHECK(a);
    const pid_t child = fork();
    if (child == 0) {
        WEFT_AUTO weft_array *b = full(2, WEFT_CPU);
        const bool cpu = b && holds(b, 2);
        const bool refused = weft_fill(a, 2) != WEFT_OK && strstr(weft_error_message(), "fork");
        _exit(cpu && refused ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(holds(a, 1));
}

#define ASYNCHRONOUS(reason)                                                                       \
    TEST_NO_FAULTS(D2_facts, reason), TEST_NO_FAULTS(D6_there_and_back, reason),                   \
        TEST_NO_FAULTS(S5_order_between_devices, reason),                                          \
        TEST_NO_FAULTS(S5_there_and_back_in_order, reason),                                        \
        TEST_NO_FAULTS(S3_functions_are_called_in_order, reason),                                  \
        TEST_NO_FAULTS(S6_failures_follow_the_data, reason),                                       \
        TEST_NO_FAULTS(S6_a_write_on_its_way_makes_it_good_again, reason),                         \
        TEST_NO_FAULTS(S1_released_by_its_own_work, reason),                                       \
        TEST_NO_FAULTS(S1_synchronous_stream, reason), TEST_NO_FAULTS(S3_profiling, reason),       \
        TEST_NO_FAULTS(D5_lent_memory, reason), TEST_NO_FAULTS(E3_reads_wait, reason),             \
        TEST_NO_FAULTS(fork_leaves_the_device_behind, reason)

#endif
