/* Arrays that one thread alone uses need no lock, and other threads that come to use them find
 * everything in order (S5). */
#include "core/array.h"
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>

enum { ELEMENTS = 64 };

static weft_array *zeros(void) { return weft_zeros(WEFT_SHAPE(ELEMENTS), .dtype = WEFT_I32); }

/* What all elements are; -1 if they differ. */
static int value_of(weft_array *array)
{
    int data[ELEMENTS];
    if (weft_copy_to_host(array, data, sizeof data) != WEFT_OK)
        return -1;
    for (int i = 1; i < ELEMENTS; i++)
        if (data[i] != data[0])
            return -1;
    return data[0];
}

static weft_status add_one(weft_array *a)
{
    const char *names[] = {"a"};
    weft_operand operands[] = {WEFT_OPERAND(a)};
    return weft_evaluate("a += 1", 1, names, operands);
}

typedef struct adder {
    weft_array *own, *shared;
    int rounds, own_each; /* uses of the own array for each of the shared one */
    bool async;
    _Atomic int failed;
} adder;

static void *add_many(void *argument)
{
    adder *a = argument;
    AUTO_STREAM stream = a->async ? weft_stream_new(WEFT_CPU, .async = true) : NULL;
    if (a->async && (!stream || weft_stream_set_current(WEFT_CPU, stream) != WEFT_OK))
        atomic_store(&a->failed, 1);
    for (int i = 0; i < a->rounds; i++) {
        for (int k = 0; k < a->own_each; k++)
            atomic_fetch_add(&a->failed, add_one(a->own) != WEFT_OK);
        atomic_fetch_add(&a->failed, add_one(a->shared) != WEFT_OK);
    }
    weft_stream_set_current(WEFT_CPU, NULL);
    return NULL;
}

/* Every addition counts: a lost one is work of two threads that ran at the same time. */
static void check_sums(int own_each, int asyncs)
{
    enum { THREADS = 3 };
    const int rounds = test_faults() ? 3 : test_quick() ? 500 : 5000;
    pthread_t threads[THREADS];
    adder adders[THREADS] = {{0}};
    int failed = 0, started = 0, wrong = 0;
    WEFT_AUTO weft_array *shared = zeros();
    WEFT_AUTO weft_array *first = zeros(), *second = zeros(), *third = zeros();
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

TEST(S5_additions_of_threads_are_all_there) { check_sums(0, 0); }
TEST(S5_arrays_change_hands_between_threads) { check_sums(3, 0); }
TEST(S5_arrays_change_hands_between_threads_and_streams) { check_sums(2, 1); }

TEST(S1_a_thread_with_its_own_arrays_takes_no_lock)
{
    WEFT_AUTO weft_array *a = zeros(), *b = zeros();
    CHECK(a && b);
    CHECK_STATUS(weft_assign(b, a), WEFT_OK);
    uint64_t before = weft__buffer_locks();
    for (int i = 0; i < 10; i++)
        CHECK_STATUS(weft_assign(b, a), WEFT_OK);
    CHECK_INT(weft__buffer_locks() - before, 0);
}

/* A queue takes the array over, and the thread gets it back. */
TEST(S1_the_lock_is_taken_again_after_a_stream)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = zeros();
    CHECK(stream && a);
    CHECK_STATUS(add_one(a), WEFT_OK);
    {
        WEFT_STREAM(stream);
        CHECK_STATUS(add_one(a), WEFT_OK);
    }
    uint64_t before = weft__buffer_locks();
    CHECK_STATUS(add_one(a), WEFT_OK);
    CHECK(weft__buffer_locks() > before);
    before = weft__buffer_locks();
    CHECK_STATUS(add_one(a), WEFT_OK);
    CHECK_INT(weft__buffer_locks() - before, 0);
    CHECK_INT(value_of(a), 4);
}

/* Holds an array in a call of its own thread. */
typedef struct holder {
    weft_array *array;
    stream_gate *gate;
    bool write;
    weft_status status;
} holder;

static void *hold_array(void *argument)
{
    holder *h = argument;
    weft_stream *here = weft_stream_current(WEFT_CPU);
    weft_array *const list[] = {h->array};
    h->status = add_one(h->array); /* which leaves it to this thread alone */
    if (h->status == WEFT_OK && h->write)
        h->status = weft_stream_call(here, gate_pass, h->gate, .writes = list, .writes_count = 1);
    else if (h->status == WEFT_OK)
        h->status = weft_stream_call(here, gate_pass, h->gate, .reads = list, .reads_count = 1);
    gate_open(h->gate); /* also if it was never reached */
    return NULL;
}

/* What another thread is doing with an array is seen for what it is, a read or a write; what it is
 * doing with others is of no interest. */
static void check_seen(bool write)
{
    pthread_t thread;
    WEFT_AUTO weft_array *held = zeros(), *other = zeros(), *copy = zeros();
    stream_gate gate = GATE;
    holder h = {held, &gate, write, WEFT_OK};
    CHECK(held && other && copy);
    CHECK_INT(pthread_create(&thread, NULL, hold_array, &h), 0);
    gate_wait_entered(&gate);
    bool before = weft_waits_forbid(true);
    weft_status read = weft_assign(copy, held), written = add_one(held), apart = add_one(other);
    weft_waits_forbid(before);
    gate_open(&gate);
    pthread_join(thread, NULL);
    CHECK_STATUS(h.status, WEFT_OK);
    CHECK_STATUS(read, write ? WEFT_ERROR_WAIT : WEFT_OK);
    CHECK_STATUS(written, WEFT_ERROR_WAIT);
    CHECK_STATUS(apart, WEFT_OK);
    CHECK_INT(value_of(held), 1);
    CHECK_INT(value_of(copy), write ? 0 : 1);
}

TEST(E3_reads_beside_a_read_do_not_wait) { check_seen(false); }
TEST(E3_reads_beside_a_write_wait) { check_seen(true); }

TEST_MAIN(TEST_OF(S5_additions_of_threads_are_all_there),
          TEST_OF(S5_arrays_change_hands_between_threads),
          TEST_OF(S5_arrays_change_hands_between_threads_and_streams),
          TEST_OF(S1_a_thread_with_its_own_arrays_takes_no_lock),
          TEST_OF(S1_the_lock_is_taken_again_after_a_stream),
          TEST_OF(E3_reads_beside_a_read_do_not_wait), TEST_OF(E3_reads_beside_a_write_wait));
