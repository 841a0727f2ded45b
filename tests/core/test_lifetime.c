/* Lifetimes: what keeps memory (M4), its reuse and its limits (M5), synchronize and reset (D3). */
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 100000 }; /* i32: larger than what threads cache for themselves */

TEST(M4_views_keep_their_memory)
{
    WEFT_AUTO weft_array *view = NULL, *deep = NULL;
    {
        WEFT_AUTO weft_array *a = weft_arange(0, 1000, 1, .dtype = WEFT_I32);
        WEFT_AUTO weft_array *middle = weft_slice(a, WEFT_RANGE(100, 200));
        view = weft_reshape(middle, WEFT_SHAPE(10, 10), .copy = WEFT_COPY_NEVER);
        deep = weft_slice(view, WEFT_AT(9), WEFT_AT(9));
        CHECK(a && middle && view && deep);
    }
    WEFT_AUTO weft_array *other = weft_full(WEFT_SHAPE(1000), -1); /* would take freed memory */
    int value = 0;
    CHECK(other);
    CHECK_STATUS(weft_item(view, &value), WEFT_OK);
    CHECK_INT(value, 100);
    CHECK_STATUS(weft_item(deep, &value), WEFT_OK);
    CHECK_INT(value, 199);
}

TEST(M4_pending_work_keeps_its_operands)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *sum = make_full(0);
    AUTO_GATE gate = GATE;
    CHECK(stream && sum);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = WEFT_OK;
    for (int i = 1; i <= 20 && status == WEFT_OK; i++) {
        weft_array *a = make_full(i);
        status = a ? weft_assign(sum, a) : WEFT_ERROR_MEMORY;
        weft_array_release(a);
    }
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    for (int i = 0; i < 20; i++)
        weft_array_release(make_full(-1)); /* on this thread, now: must not take that memory */
    gate_open(&gate);
    CHECK(holds(sum, 20));
}

/* Lent memory, and how often its deleter was called. */
typedef struct lent {
    int data[1000];
    _Atomic int deleted;
} lent;

static void delete_lent(void *context, void *data)
{
    lent *l = context;
    if (data != l->data)
        abort();
    atomic_fetch_add(&l->deleted, 1);
}

static weft_array *lend(lent *l)
{
    return weft_borrow(l->data, sizeof l->data, WEFT_SHAPE(1000), WEFT_I32, .deleter = delete_lent,
                       .deleter_context = l);
}

TEST(M4_deleter_is_called_once_after_the_last_use)
{
    lent l = {.deleted = 0};
    {
        WEFT_AUTO weft_array *a = lend(&l);
        WEFT_AUTO weft_array *view = weft_slice(a, WEFT_RANGE(0, 10));
        CHECK(a && view);
        weft_array *same = weft_array_retain(a);
        weft_array_release(same);
        CHECK_INT(atomic_load(&l.deleted), 0);
    }
    CHECK_INT(atomic_load(&l.deleted), 1);
    weft_device_synchronize(WEFT_CPU);
    CHECK_INT(atomic_load(&l.deleted), 1);
}

TEST(M4_deleter_waits_for_queued_work)
{
    lent l = {.deleted = 0};
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM idle = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream && idle);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    {
        WEFT_AUTO weft_array *a = lend(&l);
        CHECK(a);
        CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
        weft_status status = weft_fill(a, 6);
        weft_stream_set_current(WEFT_CPU, NULL);
        CHECK_STATUS(status, WEFT_OK);
    }
    CHECK_INT(atomic_load(&l.deleted), 0);
    CHECK_STATUS(weft_stream_synchronize(idle), WEFT_OK);
    pause_ms(5);
    CHECK_INT(atomic_load(&l.deleted), 0);
    gate_open(&gate);
    CHECK(finishes(stream));
    for (int i = 0; i < 20000 && !atomic_load(&l.deleted); i++)
        pause_ms(1);
    CHECK_INT(atomic_load(&l.deleted), 1);
    CHECK_INT(l.data[0], 6);
    CHECK_INT(l.data[999], 6);
}

/* What a deleter that computes came to, once it is done; 0 where that failed. */
struct filled {
    _Atomic int result;
    _Atomic bool done;
};

static void delete_by_filling(void *context, void *data)
{
    (void)data;
    struct filled *filled = context;
    weft_array *a = make_full(4);
    int value = 0;
    if (a && weft_item(a, &value) == WEFT_OK)
        atomic_store(&filled->result, value);
    weft_array_release(a);
    atomic_store(&filled->done, true);
}

/* A deleter runs on whatever thread ends the last use, and may compute there. */
TEST(M4_deleters_may_call_weft)
{
    static int data[1000];
    struct filled filled = {0, false};
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    {
        WEFT_AUTO weft_array *a =
            weft_borrow(data, sizeof data, WEFT_SHAPE(1000), WEFT_I32, .deleter = delete_by_filling,
                        .deleter_context = &filled);
        CHECK(a);
        CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
        weft_status status = weft_fill(a, 6);
        weft_stream_set_current(WEFT_CPU, NULL);
        CHECK_STATUS(status, WEFT_OK);
    }
    gate_open(&gate);
    CHECK(finishes(stream));
    for (int i = 0; i < 20000 && !atomic_load(&filled.done); i++)
        pause_ms(1);
    CHECK_INT(atomic_load(&filled.result), 4);
}

typedef struct last_words {
    weft_stream *stream;
    _Atomic int status;
} last_words;

static void delete_by_waiting(void *context, void *data)
{
    (void)data;
    last_words *l = context;
    atomic_store(&l->status, (int)weft_stream_synchronize(l->stream));
}

/* On the stream's own thread a deleter cannot wait for what comes after it. */
TEST(M4_a_deleter_that_would_wait_for_itself_gets_an_error)
{
    static int data[1000];
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    last_words l = {.stream = stream, .status = -1};
    AUTO_GATE gate = GATE, later = GATE;
    CHECK(stream);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    {
        WEFT_AUTO weft_array *a = weft_borrow(data, sizeof data, WEFT_SHAPE(1000), WEFT_I32,
                                              .deleter = delete_by_waiting, .deleter_context = &l);
        CHECK(a);
        CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
        weft_status status = weft_fill(a, 6);
        weft_stream_set_current(WEFT_CPU, NULL);
        if (status == WEFT_OK)
            status = hold(stream, &later);
        if (status != WEFT_OK)
            gate_open(&gate);
        CHECK_STATUS(status, WEFT_OK);
    }
    gate_open(&gate);
    gate_wait_entered(&later);
    CHECK_INT(atomic_load(&l.status), WEFT_ERROR_STREAM);
}

static weft_status release_array(void *argument)
{
    weft_array_release(argument);
    return WEFT_OK;
}

/* The function owns the array that it was queued with, and may be done before that call returns. */
TEST(M4_a_call_may_release_its_array)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    for (int i = 0; i < (test_faults() ? 3 : 2000); i++) {
        weft_array *array = weft_full(WEFT_SHAPE(100), i, .memory = WEFT_MEMORY_HOST);
        weft_array *const used[] = {array};
        weft_status status = array ? weft_stream_call(stream, release_array, array, .writes = used,
                                                      .writes_count = 1)
                                   : WEFT_ERROR_MEMORY;
        if (status != WEFT_OK)
            weft_array_release(array);
        CHECK_STATUS(status, WEFT_OK);
    }
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
}

/* Fills new memory on the stream and gives it up; where it was. */
static void *use_and_release(weft_stream *stream)
{
    weft_array *a = weft_full(WEFT_SHAPE(LARGE), 1, .stream = stream);
    void *data = weft_array_data(a);
    weft_array_release(a);
    return data;
}

TEST(M5_freed_memory_is_reused_in_stream_order_without_waiting)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream && other);
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    void *first = use_and_release(stream);
    CHECK(first);
    weft_statistics before = stats();
    WEFT_AUTO weft_array *elsewhere = weft_full(WEFT_SHAPE(LARGE), 2, .stream = other);
    WEFT_AUTO weft_array *here = weft_full(WEFT_SHAPE(LARGE), 2);
    CHECK(elsewhere && here);
    CHECK(weft_array_data(elsewhere) != first);
    CHECK(weft_array_data(here) != first);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_array *again = weft_full(WEFT_SHAPE(LARGE), 3);
    void *second = weft_array_data(again);
    weft_array_release(again);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK(again);
    CHECK(second == first); /* the current stream's … */
    WEFT_AUTO weft_array *bound = weft_full(WEFT_SHAPE(LARGE), 4, .stream = stream);
    CHECK(bound);
    CHECK(weft_array_data(bound) == first); /* … and that of a bound array */
    CHECK_INT(stats().waits, before.waits);
    CHECK_INT(stats().reuses, before.reuses + 2);
    CHECK(!is_done(stream));
    gate_open(&gate);
    CHECK_STATUS(weft_eval(bound), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(bound))[LARGE - 1], 4);
    CHECK_STATUS(weft_eval(elsewhere), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(elsewhere))[LARGE - 1], 2);
}

/* Reused memory still has the order of its last life: another stream that gets the array waits. */
TEST(M5_reused_memory_keeps_the_order_of_its_last_life)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *copy = NULL, *again = NULL;
    AUTO_GATE gate = GATE;
    CHECK(stream && other);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    {
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(LARGE), 1, .stream = stream);
        copy = weft_copy(a);
        CHECK(a && copy);
    }
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    again = weft_empty(WEFT_SHAPE(LARGE), .dtype = WEFT_I32);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, other), WEFT_OK);
    weft_status status = again ? weft_fill(again, 7) : WEFT_ERROR_MEMORY;
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(stays_busy(other));
    gate_open(&gate);
    CHECK_STATUS(weft_eval(copy), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(copy))[LARGE - 1], 1);
    CHECK_STATUS(weft_eval(again), WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(again))[LARGE - 1], 7);
}

TEST(M5_trim_gives_cached_memory_back)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    uint64_t cached = stats().bytes_cached;
    CHECK(use_and_release(weft_stream_current(WEFT_CPU)));
    CHECK(stats().bytes_cached >= cached + LARGE * sizeof(int));
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, UINT64_MAX), WEFT_OK);
    CHECK(stats().bytes_cached >= cached + LARGE * sizeof(int));
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    CHECK_INT(stats().bytes_cached, cached);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK(use_and_release(stream));
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    CHECK(stats().bytes_cached >= cached + LARGE * sizeof(int)); /* queued work still uses it */
    gate_open(&gate);
    CHECK(finishes(stream));
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    CHECK_INT(stats().bytes_cached, cached);
}

/* A thread that caches small memory, and allocates once more after the main thread has trimmed. */
typedef struct cacher {
    stream_gate cached, trimmed;
    bool good;
    uint64_t left;
} cacher;

static void *cache_small(void *argument)
{
    cacher *c = argument;
    weft_array *a = make_full(1), *b = make_full(2);
    c->good = a && b;
    weft_array_release(a);
    weft_array_release(b);
    gate_open(&c->cached);
    gate_pass(&c->trimmed);
    a = weft_full(WEFT_SHAPE(2), 1);
    c->good &= a != NULL;
    c->left = stats().bytes_cached;
    weft_array_release(a);
    return NULL;
}

TEST(M5_trim_reaches_the_caches_of_other_threads)
{
    cacher c = {.cached = GATE, .trimmed = GATE};
    pthread_t thread;
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    uint64_t before = stats().bytes_cached;
    CHECK_INT(pthread_create(&thread, NULL, cache_small, &c), 0);
    gate_pass(&c.cached);
    uint64_t cached = stats().bytes_cached;
    weft_status status = weft_memory_trim(WEFT_CPU, 0);
    gate_open(&c.trimmed);
    pthread_join(thread, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(c.good);
    CHECK(cached >= before + 8000);
    CHECK_INT(c.left, before);
}

static void restore_limits(const int *unused)
{
    (void)unused;
    weft_memory_set_threshold(WEFT_CPU, UINT64_MAX);
    weft_memory_set_limit(WEFT_CPU, 0);
}
#define RESTORE_LIMITS __attribute__((cleanup(restore_limits), unused)) const int limits = 0

TEST(M5_threshold_bounds_the_cache)
{
    RESTORE_LIMITS;
    CHECK_STATUS(weft_memory_set_threshold(WEFT_CPU, 0), WEFT_OK);
    uint64_t cached = stats().bytes_cached;
    CHECK(use_and_release(weft_stream_current(WEFT_CPU)));
    CHECK_INT(stats().bytes_cached, cached);
    CHECK_STATUS(weft_memory_set_threshold(WEFT_CPU, cached + 2 * LARGE * sizeof(int)), WEFT_OK);
    CHECK(use_and_release(weft_stream_current(WEFT_CPU)));
    CHECK(stats().bytes_cached > cached);
    CHECK_STATUS(weft_memory_set_threshold(WEFT_CPU, cached), WEFT_OK);
    CHECK_INT(stats().bytes_cached, cached);
}

TEST(M5_out_of_memory_says_what_is_there)
{
    RESTORE_LIMITS;
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(LARGE), 1);
    CHECK(a);
    weft_statistics before = stats();
    CHECK_STATUS(
        weft_memory_set_limit(WEFT_CPU, before.bytes_in_use + before.bytes_cached + 100000),
        WEFT_OK);
    char used[64];
    snprintf(used, sizeof used, "%llu are in use", (unsigned long long)before.bytes_in_use);
    CHECK(!weft_zeros(WEFT_SHAPE(30, LARGE)));
    CHECK_ERROR(WEFT_ERROR_MEMORY, "no room for 1"); /* and what rounding adds */
    CHECK_ERROR(WEFT_ERROR_MEMORY, "cached");
    CHECK_ERROR(WEFT_ERROR_MEMORY, used);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "limit");
    CHECK_INT(stats().bytes_in_use, before.bytes_in_use);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK_STATUS(weft_memory_set_limit(WEFT_CPU, 0), WEFT_OK);
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(30, LARGE));
    CHECK(b);
}

/* The cache is dropped before giving up; then queued work that holds cached memory is waited for.
 */
TEST(M5_out_of_memory_drops_caches_and_retries)
{
    RESTORE_LIMITS;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    weft_statistics before = stats();
    uint64_t room = before.bytes_in_use + before.bytes_cached + 5 * LARGE * sizeof(int);
    CHECK_STATUS(weft_memory_set_limit(WEFT_CPU, room), WEFT_OK);
    weft_array *small = weft_zeros(WEFT_SHAPE(3 * LARGE));
    weft_array_release(small); /* cached: there is room for it or for what follows, not for both */
    CHECK(small);
    weft_array *large = weft_zeros(WEFT_SHAPE(4 * LARGE));
    weft_array_release(large);
    CHECK(large);
    CHECK_STATUS(weft_memory_trim(WEFT_CPU, 0), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    weft_array *pending = weft_full(WEFT_SHAPE(3 * LARGE), 1, .stream = stream);
    weft_array_release(pending);
    CHECK(pending);
    weft_waits_forbid(true);
    WEFT_AUTO weft_array *refused = weft_zeros(WEFT_SHAPE(4 * LARGE));
    weft_waits_forbid(false);
    CHECK(!refused); /* without waiting there is no room */
    CHECK(!is_done(stream));
    gate_open(&gate);
    WEFT_AUTO weft_array *given = weft_zeros(WEFT_SHAPE(4 * LARGE));
    CHECK(given);
}

TEST(D3_synchronize_waits_for_all_streams)
{
    enum { STREAMS = 100 };
    weft_stream *streams[STREAMS] = {0};
    WEFT_AUTO weft_array *a = make_full(0);
    AUTO_GATE gate = GATE;
    weft_status status = a ? WEFT_OK : WEFT_ERROR_MEMORY;
    int made = 0;
    gate_open(&gate);
    for (; made < STREAMS && status == WEFT_OK; made++) {
        streams[made] = weft_stream_new(WEFT_CPU, .async = true);
        status = streams[made] ? hold(streams[made], &gate) : WEFT_ERROR_MEMORY;
    }
    weft_status synchronized = weft_device_synchronize(WEFT_CPU);
    int busy = 0;
    for (int i = 0; i < made; i++)
        busy += streams[i] && !is_done(streams[i]);
    for (int i = 0; i < made; i++)
        weft_stream_release(streams[i]);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(synchronized, WEFT_OK);
    CHECK_INT(busy, 0);
}

static weft_status fail_call(void *argument)
{
    (void)argument;
    return weft_error_set(WEFT_ERROR_CALLBACK, "no");
}

TEST(D3_reset_drops_caches_and_keeps_arrays)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *usual = weft_stream_current(WEFT_CPU);
    WEFT_AUTO weft_array *a = make_full(5), *bound = weft_full(WEFT_SHAPE(50), 6, .stream = stream);
    CHECK(stream && usual && a && bound);
    CHECK(use_and_release(usual));
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    weft_stream *after = weft_stream_current(WEFT_CPU);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK(after == usual); /* the current stream is forgotten */
    CHECK_INT(stats().bytes_cached, 0);
    CHECK(holds(a, 5));
    CHECK(holds(bound, 6));
    uint64_t compiled = stats().compilations;
    CHECK_STATUS(weft_fill(a, 7), WEFT_OK); /* its kernel is gone: compiled again */
    CHECK_INT(stats().compilations, compiled + 1);
    CHECK_STATUS(weft_fill(a, 8), WEFT_OK);
    CHECK_INT(stats().compilations, compiled + 1);
    CHECK(holds(a, 8));
    CHECK_STATUS(weft_fill(bound, 9), WEFT_OK); /* the stream that was held still works */
    CHECK(holds(bound, 9));
    CHECK_STATUS(weft_stream_call(stream, fail_call, NULL), WEFT_OK);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK); /* failures are forgotten */
}

static weft_status finish_late(void *argument)
{
    pause_ms(20);
    atomic_store((_Atomic int *)argument, 1);
    return WEFT_OK;
}

TEST(D3_reset_waits_for_queued_work)
{
    _Atomic int finished = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(0);
    CHECK(stream && a);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK); /* no kernel is left to wait for */
    CHECK_STATUS(weft_stream_call(stream, finish_late, &finished), WEFT_OK);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    CHECK_INT(atomic_load(&finished), 1);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = WEFT_OK;
    for (int i = 1; i <= 200 && status == WEFT_OK; i++)
        status = weft_fill(a, i);
    weft_status reset = weft_device_reset(WEFT_CPU);
    weft_stream_set_current(WEFT_CPU, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(reset, WEFT_OK);
    CHECK_INT(((const int *)weft_array_data(a))[0], 200);
}

/* Threads that compute without a pause, each on arrays of its own. */
typedef struct busy {
    _Atomic bool *stop;
    bool async;
    _Atomic int rounds, wrong;
} busy;

static void *compute(void *argument)
{
    busy *b = argument;
    AUTO_STREAM stream = b->async ? weft_stream_new(WEFT_CPU, .async = true) : NULL;
    WEFT_AUTO weft_array *a = make_full(0);
    for (int i = 0; a && !atomic_load(b->stop); i++) {
        if (stream && weft_stream_set_current(WEFT_CPU, stream) != WEFT_OK)
            break;
        WEFT_AUTO weft_array *c = weft_fill(a, i) == WEFT_OK ? weft_copy(a) : NULL;
        atomic_fetch_add(&b->wrong, !holds(c, i));
        atomic_fetch_add(&b->rounds, 1);
    }
    weft_stream_set_current(WEFT_CPU, NULL);
    return NULL;
}

/* A reset comes to its end although others never pause, and they notice nothing. */
TEST(D3_reset_while_other_threads_compute)
{
    enum { THREADS = 4, RESETS = 20 };
    _Atomic bool stop = false;
    pthread_t threads[THREADS];
    busy all[THREADS];
    int started = 0, wrong = 0, rounds = 0;
    uint64_t compiled = stats().compilations;
    for (int i = 0; i < THREADS; i++) {
        all[i] = (busy){.stop = &stop, .async = i % 2};
        if (pthread_create(&threads[i], NULL, compute, &all[i]) != 0)
            break;
        started++;
    }
    weft_status status = WEFT_OK;
    for (int i = 0; i < RESETS && status == WEFT_OK; i++) {
        int before = atomic_load(&all[0].rounds);
        for (int k = 0; k < 5000 && atomic_load(&all[0].rounds) == before; k++)
            pause_ms(1);
        status = weft_device_reset(WEFT_CPU);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        wrong += atomic_load(&all[i].wrong);
        rounds += atomic_load(&all[i].rounds);
    }
    CHECK_INT(started, THREADS);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(wrong, 0);
    CHECK(rounds >= THREADS);
    CHECK(stats().compilations > compiled + RESETS); /* the others' tables noticed */
}

TEST_MAIN(TEST_OF(M4_views_keep_their_memory), TEST_OF(M4_pending_work_keeps_its_operands),
          TEST_OF(M4_deleter_is_called_once_after_the_last_use),
          TEST_OF(M4_deleter_waits_for_queued_work), TEST_OF(M4_deleters_may_call_weft),
          TEST_OF(M4_a_call_may_release_its_array),
          TEST_OF(M4_a_deleter_that_would_wait_for_itself_gets_an_error),
          TEST_OF(M5_freed_memory_is_reused_in_stream_order_without_waiting),
          TEST_OF(M5_reused_memory_keeps_the_order_of_its_last_life),
          TEST_OF(M5_trim_gives_cached_memory_back),
          TEST_OF(M5_trim_reaches_the_caches_of_other_threads),
          TEST_OF(M5_threshold_bounds_the_cache), TEST_OF(M5_out_of_memory_says_what_is_there),
          TEST_OF(M5_out_of_memory_drops_caches_and_retries),
          TEST_NO_FAULTS(D3_synchronize_waits_for_all_streams,
                         "hundreds of allocations that are all alike"),
          TEST_OF(D3_reset_drops_caches_and_keeps_arrays), TEST_OF(D3_reset_waits_for_queued_work),
          TEST_NO_FAULTS(D3_reset_while_other_threads_compute,
                         "threads that never pause: which allocation fails is chance"));
