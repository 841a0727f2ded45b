/* Arrays that one stream of a CUDA device alone uses need no lock, and other streams and threads
 * that come to use them find everything in order. */
#include "backend/cuda/cuda.h"
#include "backend/cuda_device.h"
#include "core/claim.h"
#include "support/gate.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <time.h>

enum { ELEMENTS = 64 };

static weft_array *full(int value)
{
    return weft_full(WEFT_SHAPE(ELEMENTS), value, .dtype = WEFT_I32, .device = device());
}

/* What all elements are; -1 if they differ. */
static int value_of(weft_array *array)
{
    int data[ELEMENTS];
    if (!array || weft_copy_to_host(array, data, sizeof data) != WEFT_OK)
        return -1;
    for (int i = 1; i < ELEMENTS; i++)
        if (data[i] != data[0])
            return -1;
    return data[0];
}

static weft_status add_one(weft_array *a) { return weft(a += 1, a); }

static weft_status add_one_on(weft_stream *stream, weft_array *a)
{
    weft_stream_set_current(device(), stream);
    const weft_status status = add_one(a);
    weft_stream_set_current(device(), NULL);
    return status;
}

static weft_stream *here(void) { return weft_stream_current(device()); }

/* Until the stream has the array as its own; adds 2. */
static bool claim(weft_stream *stream, weft_array *a)
{
    return weft_eval(a) == WEFT_OK && add_one_on(stream, a) == WEFT_OK &&
           weft_stream_synchronize(stream) == WEFT_OK && add_one_on(stream, a) == WEFT_OK;
}

#define NEEDS_DEVICE                                                                               \
    if (device().kind == WEFT_DEVICE_INVALID)                                                      \
    SKIP(weft_error_message())

TEST(S1_a_stream_with_its_own_arrays_takes_no_lock)
{
    NEEDS_DEVICE;
    enum { LAUNCHES = 300 };
    WEFT_AUTO weft_array *a = full(0), *b = full(1);
    CHECK(a && b);
    CHECK_STATUS(weft(a += b, a, b), WEFT_OK);
    const uint64_t before = weft__buffer_locks();
    for (int k = 1; k < LAUNCHES; k++)
        CHECK_STATUS(weft(a += b, a, b), WEFT_OK);
    CHECK_INT(weft__buffer_locks() - before, 0);
    CHECK_INT(value_of(a), LAUNCHES);
}

/* A stream that is held has the array as its own: another one waits for what that queued. */
TEST(S5_what_a_stream_has_claimed_is_waited_for)
{
    NEEDS_DEVICE;
    AUTO_STREAM first = weft_stream_new(device(), .async = true);
    AUTO_STREAM second = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0);
    CHECK(first && second && a && claim(first, a));
    for (int reads = 0; reads < 2; reads++) {
        AUTO_GATE gate = GATE;
        WEFT_AUTO weft_array *b = full(0);
        const int old = value_of(a) + 2;
        CHECK(b && claim(first, b) && claim(first, a));
        CHECK_STATUS(hold(first, &gate), WEFT_OK);
        weft_stream_set_current(device(), first);
        const uint64_t before = weft__buffer_locks();
        const weft_status queued = reads ? weft(b = a + 0, a, b) : add_one(a);
        const uint64_t locks = weft__buffer_locks() - before;
        weft_stream_set_current(device(), NULL);
        CHECK_STATUS(queued, WEFT_OK);
        CHECK_INT(locks, 0);
        CHECK_STATUS(add_one_on(second, a), WEFT_OK);
        CHECK(stays_busy(second));
        gate_open(&gate);
        CHECK_INT(value_of(a), old + (reads ? 1 : 2));
        CHECK(!reads || value_of(b) == old);
    }
}

/* The host waits as well. */
TEST(E3_a_read_waits_for_what_a_stream_has_claimed)
{
    NEEDS_DEVICE;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0);
    CHECK(stream && a);
    for (int k = 0; k < 100; k++) {
        CHECK(claim(stream, a));
        CHECK_INT(value_of(a), 2 * (k + 1));
    }
}

/* Memory that a stream has claimed is used again by others once its work is done. */
TEST(M6_memory_that_a_stream_has_claimed_is_used_again)
{
    NEEDS_DEVICE;
    AUTO_STREAM first = weft_stream_new(device(), .async = true);
    AUTO_STREAM second = weft_stream_new(device(), .async = true);
    CHECK(first && second);
    for (int k = 0; k < 50; k++) {
        WEFT_AUTO weft_array *a = full(k);
        CHECK(a && claim(first, a));
        WEFT_AUTO weft_array *b = full(2 * k);
        CHECK(b && add_one_on(second, b) == WEFT_OK);
        weft_array_release(a);
        a = full(3 * k);
        CHECK(a && add_one_on(second, a) == WEFT_OK);
        CHECK_INT(value_of(a), 3 * k + 1);
        CHECK_INT(value_of(b), 2 * k + 1);
    }
}

/* What was not queued is not waited for. */
TEST(S6_a_launch_on_claimed_arrays_that_is_refused)
{
    NEEDS_STANDIN;
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0);
    CHECK(other && a && claim(here(), a));
    CHECK_INT(value_of(a), 2);
    fail_next("cuLaunchKernel", 999);
    CHECK_STATUS(add_one(a), WEFT_ERROR_DEVICE);
    CHECK_INT(value_of(a), 2);
    CHECK_STATUS(add_one_on(other, a), WEFT_OK);
    CHECK_INT(value_of(a), 3);
    CHECK_STATUS(add_one(a), WEFT_OK);
    CHECK_INT(value_of(a), 4);
}

/* Work that fails when its array is gone says nothing about the next one in that memory. */
TEST(S6_memory_that_a_stream_has_claimed_begins_anew)
{
    NEEDS_STANDIN;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0);
    AUTO_GATE gate = GATE;
    CHECK(stream && a && claim(stream, a));
    const void *data = weft_array_data(a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(add_one_on(stream, a), WEFT_OK);
    fail_next("cuLaunchKernel", 999);
    weft_array_release(a);
    a = weft_empty(WEFT_SHAPE(ELEMENTS), .dtype = WEFT_I32, .device = device(), .stream = stream);
    CHECK(a && weft_array_data(a) == data);
    gate_open(&gate);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_ERROR_STREAM);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
}

/* A launch is made without asking which context is current; where that is none, or another's, it is
 * made again there. */
TEST(A5_another_context_is_current)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(0);
    CHECK(a && claim(here(), a));
    CUcontext before = NULL;
    weft__cu.CtxGetCurrent(&before);
    weft__cu.CtxSetCurrent(NULL);
    const weft_status status = add_one(a);
    weft__cu.CtxSetCurrent(before);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(value_of(a), 3);
}

typedef struct adder {
    weft_array *own, *shared;
    int rounds, own_each; /* uses of the own array for each of the shared one */
    bool async;           /* on a stream of its own, else on the CPU's thread's default one */
    _Atomic int failed;
} adder;

static void *add_many(void *argument)
{
    adder *a = argument;
    AUTO_STREAM stream = weft_stream_new(device(), .async = a->async);
    if (!stream || weft_stream_set_current(device(), stream) != WEFT_OK)
        atomic_store(&a->failed, 1);
    for (int i = 0; i < a->rounds; i++) {
        for (int k = 0; k < a->own_each; k++)
            atomic_fetch_add(&a->failed, add_one(a->own) != WEFT_OK);
        atomic_fetch_add(&a->failed, add_one(a->shared) != WEFT_OK);
    }
    weft_stream_set_current(device(), NULL);
    return NULL;
}

/* Every addition counts: a lost one is work of two streams that ran at the same time. */
static void check_sums(int own_each, int asyncs)
{
    enum { THREADS = 3 };
    const int rounds = test_quick() ? 100 : 1000;
    pthread_t threads[THREADS];
    adder adders[THREADS] = {{0}};
    int failed = 0, started = 0, wrong = 0;
    WEFT_AUTO weft_array *shared = full(0);
    WEFT_AUTO weft_array *first = full(0), *second = full(0), *third = full(0);
    weft_array *owns[THREADS] = {first, second, third};
    CHECK(shared && first && second && third);
    for (int i = 0; i < THREADS; i++) {
        adders[i].own = owns[i];
        adders[i].shared = shared;
        adders[i].rounds = rounds;
        adders[i].own_each = own_each;
        adders[i].async = i < asyncs;
    }
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, add_many, &adders[started]) == 0)
        started++;
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        failed += atomic_load(&adders[i].failed);
        wrong += value_of(owns[i]) != rounds * own_each;
    }
    CHECK_INT(failed, 0);
    CHECK_INT(started, THREADS);
    CHECK_INT(wrong, 0);
    CHECK_INT(value_of(shared), THREADS * rounds);
}

TEST(S5_additions_of_streams_are_all_there)
{
    NEEDS_DEVICE;
    check_sums(0, 3);
}

TEST(S5_arrays_change_hands_between_streams)
{
    NEEDS_DEVICE;
    check_sums(3, 3);
}

TEST(S5_arrays_change_hands_between_streams_and_threads)
{
    NEEDS_DEVICE;
    check_sums(2, 1);
}

typedef struct ending {
    weft_stream *stream;
    weft_array *array;
    weft_status status;
    _Atomic bool ended;
} ending;

static void *end_claim(void *argument)
{
    ending *e = argument;
    e->status = add_one_on(e->stream, e->array);
    atomic_store(&e->ended, true);
    return NULL;
}

/* While work is being queued on what a stream has claimed, another stream waits for that. */
TEST(S5_a_claim_does_not_end_while_work_is_queued)
{
    NEEDS_DEVICE;
    AUTO_STREAM first = weft_stream_new(device(), .async = true);
    AUTO_STREAM second = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(0);
    CHECK(first && second && a && claim(first, a));
    ending e = {.stream = second, .array = a};
    pthread_t thread;
    CHECK(weft__turn_try(first->timeline, WEFT__TURN_CLAIMS));
    const bool started = pthread_create(&thread, NULL, end_claim, &e) == 0;
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    const bool early = atomic_load(&e.ended);
    weft__turn_end(first->timeline);
    CHECK(started && pthread_join(thread, NULL) == 0);
    CHECK(!early);
    CHECK_STATUS(e.status, WEFT_OK);
    CHECK_INT(value_of(a), 3);
}

#define VARIES "how many launches wait at once, whose records are kept for others, varies"
TEST_MAIN(TEST_NO_FAULTS(S1_a_stream_with_its_own_arrays_takes_no_lock, VARIES),
          TEST_NO_FAULTS(S5_what_a_stream_has_claimed_is_waited_for, VARIES),
          TEST_NO_FAULTS(E3_a_read_waits_for_what_a_stream_has_claimed, VARIES),
          TEST_NO_FAULTS(M6_memory_that_a_stream_has_claimed_is_used_again, VARIES),
          TEST_NO_FAULTS(S6_a_launch_on_claimed_arrays_that_is_refused, VARIES),
          TEST_NO_FAULTS(S6_memory_that_a_stream_has_claimed_begins_anew, VARIES),
          TEST_NO_FAULTS(A5_another_context_is_current, VARIES),
          TEST_NO_FAULTS(S5_additions_of_streams_are_all_there, VARIES),
          TEST_NO_FAULTS(S5_arrays_change_hands_between_streams, VARIES),
          TEST_NO_FAULTS(S5_arrays_change_hands_between_streams_and_threads, VARIES),
          TEST_NO_FAULTS(S5_a_claim_does_not_end_while_work_is_queued, VARIES));
