/* Threads, streams and shared arrays, at random, for WEFT_STRESS_SECONDS (3), repeatable in what
 * each thread tries with WEFT_STRESS_SEED. Shared arrays are only ever written as a whole, so at
 * every moment all their elements are equal; each thread also knows what its private arrays hold.
 */
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, STREAMS = 32, SHARED = 12, PRIVATE = 4, COUNT = 1000 };

/* A place that any thread may take a reference from, or replace. */
typedef struct slot {
    pthread_mutex_t mutex;
    void *value;
} slot;

static slot arrays[SHARED], streams[STREAMS], event_slot;
static _Atomic bool stop;
static _Atomic long operations, wrong;
static _Atomic int kept; /* calls that were queued and have not run */

typedef struct worker {
    uint64_t random;
    int number;
    weft_array *own[PRIVATE];
    int expected[PRIVATE];
    long failed;
} worker;

static uint32_t draw(worker *w, uint32_t below)
{
    w->random ^= w->random << 13; /* xorshift64 */
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 32) % below;
}

static weft_array *take_array(worker *w)
{
    slot *s = &arrays[draw(w, SHARED)];
    pthread_mutex_lock(&s->mutex);
    weft_array *array = weft_array_retain(s->value);
    pthread_mutex_unlock(&s->mutex);
    return array;
}

static weft_stream *take_stream(worker *w)
{
    slot *s = &streams[draw(w, STREAMS)];
    pthread_mutex_lock(&s->mutex);
    weft_stream *stream = weft_stream_retain(s->value);
    pthread_mutex_unlock(&s->mutex);
    return stream;
}

static void *exchange(slot *s, void *value)
{
    pthread_mutex_lock(&s->mutex);
    void *old = s->value;
    s->value = value;
    pthread_mutex_unlock(&s->mutex);
    return old;
}

static void expect(worker *w, bool good, const char *what)
{
    if (good)
        return;
    if (atomic_fetch_add(&wrong, 1) < 5)
        fprintf(stderr, "thread %d: %s (%s)\n", w->number, what, weft_error_message());
    atomic_store(&stop, true);
}

/* A call may meet the failure of an earlier one of the stream's; nothing else may go wrong. */
static void tried(worker *w, weft_status status, const char *what)
{
    atomic_fetch_add_explicit(&operations, 1, memory_order_relaxed);
    w->failed += status != WEFT_OK;
    expect(w, status == WEFT_OK || status == WEFT_ERROR_STREAM || status == WEFT_ERROR_RESULT,
           what);
}

static bool elements_equal(const int *data, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (data[i] != data[0])
            return false;
    return true;
}

static void read_shared(worker *w, weft_array *array)
{
    int data[COUNT];
    weft_status status = weft_copy_to_host(array, data, sizeof data);
    tried(w, status, "a shared array cannot be read");
    if (status == WEFT_OK)
        expect(w, elements_equal(data, COUNT), "a shared array holds parts of two writes");
}

static void read_private(worker *w, int k)
{
    int data[COUNT];
    weft_status status = weft_copy_to_host(w->own[k], data, sizeof data);
    expect(w, status == WEFT_OK, "a private array cannot be read");
    if (status == WEFT_OK)
        expect(w, data[0] == w->expected[k] && elements_equal(data, COUNT),
               "a private array does not hold what was written");
}

static void fill_private(worker *w, int k)
{
    int value = (int)draw(w, 1 << 30);
    weft_status status = weft_fill(w->own[k], value);
    tried(w, status, "a private array cannot be filled");
    if (status == WEFT_OK)
        w->expected[k] = value;
}

static void assign_private(worker *w, int from, int to)
{
    weft_status status = weft_assign(w->own[to], w->own[from]);
    tried(w, status, "a private array cannot be assigned");
    if (status == WEFT_OK)
        w->expected[to] = w->expected[from];
}

/* Through a cast, through views of both halves, or through itself backwards. */
static void rewrite_private(worker *w, int k)
{
    WEFT_AUTO weft_array *wide = weft_cast(w->own[k], WEFT_F64);
    WEFT_AUTO weft_array *back = weft_slice(w->own[k], WEFT_REVERSED);
    WEFT_AUTO weft_array *even = weft_slice(w->own[k], WEFT_STEP(0, WEFT_END, 2));
    WEFT_AUTO weft_array *odd = weft_slice(w->own[k], WEFT_STEP(1, WEFT_END, 2));
    if (!wide || !back) {
        tried(w, weft_error_code(), "a private array cannot be cast");
        return;
    }
    tried(w, weft_assign_cast(w->own[k], wide), "it cannot be assigned back");
    tried(w, weft_assign(w->own[k], back), "it cannot be reversed");
    tried(w, weft_assign(even, odd), "its halves cannot be assigned");
}

static void write_shared(worker *w, weft_array *array)
{
    WEFT_AUTO weft_array *other = take_array(w);
    int value = (int)draw(w, 1 << 30);
    switch (draw(w, 3)) {
    case 0:
        tried(w, weft_fill(array, value), "fill");
        break;
    case 1:
        tried(w, weft_assign(array, other), "assign");
        break;
    case 2: {
        WEFT_AUTO weft_array *copy = weft_copy(other);
        tried(w, copy ? weft_assign(array, copy) : weft_error_code(), "copy");
    }
    }
}

/* What a call carries: it owns the references, and gives them up when it runs. */
typedef struct parcel {
    weft_array *array;
    bool fail;
} parcel;

static weft_status deliver(void *argument)
{
    parcel *p = argument;
    bool fail = p->fail;
    bool good = fail || weft_array_data(p->array) != NULL;
    weft_array_release(p->array);
    free(p);
    atomic_fetch_sub(&kept, 1);
    if (fail)
        return weft_error_set(WEFT_ERROR_CALLBACK, "on purpose");
    return good ? WEFT_OK : WEFT_ERROR_CALLBACK;
}

/* Not with .writes when it is to fail: an array would not be readable until it is written again,
 * and the stress wants to read. */
static void call(worker *w, weft_stream *stream)
{
    parcel *p = malloc(sizeof *p);
    if (!p)
        return;
    *p = (parcel){take_array(w), draw(w, 50) == 0 && weft_stream_is_async(stream)};
    weft_array *const used[] = {p->array};
    atomic_fetch_add(&kept, 1);
    weft_status status = weft_stream_call(stream, deliver, p, .reads = used, .reads_count = 1);
    tried(w, status, "call");
    if (status != WEFT_OK) {
        atomic_fetch_sub(&kept, 1);
        weft_array_release(p->array);
        free(p);
    }
}

static void use_event(worker *w, weft_stream *stream)
{
    AUTO_EVENT fresh = weft_event_new();
    AUTO_STREAM other = take_stream(w);
    tried(w, weft_event_record(fresh, stream), "record");
    AUTO_EVENT old = exchange(&event_slot, weft_event_retain(fresh));
    bool done;
    if (old && weft_event_query(old, &done) == WEFT_OK)
        tried(w, weft_stream_wait_event(other, old), "wait for an event");
    tried(w, weft_stream_wait_stream(stream, other), "wait for a stream");
}

static void replace_stream(worker *w)
{
    slot *s = &streams[draw(w, STREAMS)];
    weft_stream *fresh = weft_stream_new(WEFT_CPU, .async = draw(w, 8) != 0);
    expect(w, fresh != NULL, "a stream cannot be made");
    AUTO_STREAM old = exchange(s, fresh);
    if (old && draw(w, 2))
        tried(w, weft_stream_synchronize(old), "synchronize");
}

static void replace_array(worker *w)
{
    weft_array *fresh = weft_full(WEFT_SHAPE(COUNT), (int)draw(w, 1 << 30));
    tried(w, fresh ? WEFT_OK : weft_error_code(), "a new array");
    if (fresh)
        weft_array_release(exchange(&arrays[draw(w, SHARED)], fresh));
}

static void replace_private(worker *w, int k)
{
    int value = (int)draw(w, 1 << 30);
    weft_array *fresh = weft_full(WEFT_SHAPE(COUNT), value);
    tried(w, fresh ? WEFT_OK : weft_error_code(), "a new private array");
    if (!fresh)
        return;
    weft_array_release(w->own[k]);
    w->own[k] = fresh;
    w->expected[k] = value;
}

static void manage(worker *w)
{
    uint32_t what = draw(w, 40);
    if (what == 0)
        tried(w, weft_memory_trim(WEFT_CPU, draw(w, 100000)), "trim");
    else if (what == 1 && w->number == 0)
        tried(w, weft_device_reset(WEFT_CPU), "reset");
    else if (what == 2)
        tried(w, weft_device_synchronize(WEFT_CPU), "synchronize the device");
    else if (what < 10)
        replace_stream(w);
    else if (what < 20)
        replace_array(w);
}

static void step(worker *w)
{
    AUTO_STREAM stream = take_stream(w);
    WEFT_AUTO weft_array *array = take_array(w);
    int k = (int)draw(w, PRIVATE);
    tried(w, weft_stream_set_current(WEFT_CPU, draw(w, 4) ? stream : NULL), "set the stream");
    switch (draw(w, 12)) {
    case 0:
        read_shared(w, array);
        break;
    case 1:
        read_private(w, k);
        break;
    case 2:
    case 3:
        fill_private(w, k);
        break;
    case 4:
        assign_private(w, k, (int)draw(w, PRIVATE));
        break;
    case 5:
        rewrite_private(w, k);
        break;
    case 6:
        call(w, stream);
        break;
    case 7:
        use_event(w, stream);
        break;
    case 8:
        replace_private(w, k);
        break;
    case 9:
        manage(w);
        break;
    default:
        write_shared(w, array);
    }
}

static void *work(void *argument)
{
    worker *w = argument;
    for (int k = 0; k < PRIVATE; k++)
        w->own[k] = weft_full(WEFT_SHAPE(COUNT), w->expected[k] = k);
    for (int k = 0; k < PRIVATE; k++)
        expect(w, w->own[k] != NULL, "private arrays cannot be made");
    while (!atomic_load(&stop))
        step(w);
    weft_stream_set_current(WEFT_CPU, NULL);
    for (int k = 0; k < PRIVATE; k++) {
        if (w->own[k])
            read_private(w, k);
        weft_array_release(w->own[k]);
    }
    return NULL;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static bool open_slots(void)
{
    bool good = true;
    for (int i = 0; i < SHARED; i++) {
        pthread_mutex_init(&arrays[i].mutex, NULL);
        good &= (arrays[i].value = weft_full(WEFT_SHAPE(COUNT), i)) != NULL;
    }
    for (int i = 0; i < STREAMS; i++) {
        pthread_mutex_init(&streams[i].mutex, NULL);
        good &= (streams[i].value = weft_stream_new(WEFT_CPU, .async = i % 8 != 0)) != NULL;
    }
    pthread_mutex_init(&event_slot.mutex, NULL);
    return good;
}

static void close_slots(void)
{
    for (int i = 0; i < SHARED; i++)
        weft_array_release(exchange(&arrays[i], NULL));
    for (int i = 0; i < STREAMS; i++)
        weft_stream_release(exchange(&streams[i], NULL));
    weft_event_release(exchange(&event_slot, NULL));
}

static void run_threads(uint64_t seed, uint64_t seconds)
{
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    int started = 0;
    for (; started < THREADS; started++) {
        workers[started] =
            (worker){.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)started * 77,
                     .number = started};
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0)
            break;
    }
    for (uint64_t tenth = 0; tenth < 10 * seconds && !atomic_load(&stop); tenth++)
        pause_ms(100);
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(started, THREADS);
}

TEST(S5_stress)
{
    uint64_t seed = number_from("WEFT_STRESS_SEED", (uint64_t)time(NULL));
    uint64_t seconds = number_from("WEFT_STRESS_SECONDS", 3);
    printf("WEFT_STRESS_SEED=%llu WEFT_STRESS_SECONDS=%llu\n", (unsigned long long)seed,
           (unsigned long long)seconds);
    fflush(stdout);
    uint64_t in_use = stats().bytes_in_use;
    atomic_store(&stop, false);
    atomic_store(&operations, 0);
    CHECK(open_slots());
    run_threads(seed, seconds);
    worker last = {.random = seed + 1, .number = -1};
    for (int i = 0; i < SHARED; i++)
        read_shared(&last, arrays[i].value);
    close_slots();
    printf("%ld operations\n", atomic_load(&operations));
    CHECK_INT(atomic_load(&wrong), 0);
    CHECK_INT(atomic_load(&kept), 0); /* nothing that was queued was dropped */
    CHECK_INT(stats().bytes_in_use, in_use);
    CHECK(atomic_load(&operations) > 0);
}

TEST_MAIN(TEST_NO_FAULTS(S5_stress, "its threads choose at random which allocation fails"));
