/* Random programs whose arrays are spread over devices, streams and threads: what they compute is
 * what the same program computes on one stream, and what plain C computes.
 *
 * The steps of a program are called in its order, each by one of several threads on one of several
 * streams; their work runs beside each other, and only the library knows what must come first.
 * Several groups of threads run programs at once, on the same streams and from the same memory. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

enum { ARRAYS = 5, SIZE = 64, STEPS = 16, THREADS = 3, GROUPS = 3, STREAMS = 3, DEVICES = 4 };

static const size_t BYTES = SIZE * sizeof(uint32_t);

typedef enum kind {
    COMBINE,   /* x = y + 3z */
    SHIFT,     /* x = x ^ (y >> 1) */
    NEIGHBOUR, /* x = shift(y, 1) - y, in place if they are the same */
    SLICE,     /* every second element of x = the first half of y, backwards */
    TOTAL,     /* x = x + sum(y) */
    FILL,      /* x = number */
    UPLOAD,    /* x = number, number + 1, … from the host */
    READ,      /* x is what it should be */
    MOVE,      /* x to a device */
    REBIND,    /* x is bound to a stream */
    RENEW,     /* x is a copy of y, in new memory of some kind */
    CALL,      /* a function of the host's adds the number to x */
    KINDS
} kind;

typedef struct step {
    uint8_t kind, x, y, z;
    uint8_t thread, stream, device;
    uint32_t number;
    uint32_t expected[SIZE]; /* of x, after it */
} step;

typedef struct program {
    uint64_t seed;
    step steps[STEPS];
    uint32_t expected[ARRAYS][SIZE];
} program;

/* The devices that programs are spread over, with their streams; the last stream is the default. */
static weft_device devices[DEVICES];
static weft_stream *streams[DEVICES][STREAMS + 1];
static int devices_count;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* What a step does to the arrays, in plain C. */
static void apply(const step *s, uint32_t a[ARRAYS][SIZE])
{
    uint32_t y[SIZE], z[SIZE], sum = 0, *x = a[s->x];
    memcpy(y, a[s->y], sizeof y);
    memcpy(z, a[s->z], sizeof z);
    for (int i = 0; i < SIZE; i++)
        sum += y[i];
    for (int i = 0; i < SIZE; i++)
        switch (s->kind) {
        case COMBINE:
            x[i] = y[i] + 3 * z[i];
            break;
        case SHIFT:
            x[i] ^= y[i] >> 1;
            break;
        case NEIGHBOUR:
            x[i] = i + 1 < SIZE ? y[i + 1] - y[i] : 0;
            break;
        case SLICE:
            if (i % 2 == 0)
                x[i] = y[SIZE / 2 - 1 - i / 2];
            break;
        case TOTAL:
            x[i] += sum;
            break;
        case FILL:
            x[i] = s->number;
            break;
        case UPLOAD:
            x[i] = s->number + (uint32_t)i;
            break;
        case RENEW:
            x[i] = y[i];
            break;
        case CALL:
            x[i] += s->number;
            break;
        default:
            break;
        }
}

static void generate(program *p, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    p->seed = seed;
    for (uint32_t k = 0; k < ARRAYS; k++)
        for (uint32_t i = 0; i < SIZE; i++)
            p->expected[k][i] = 1000 * k + i;
    for (int k = 0; k < STEPS; k++) {
        step *s = &p->steps[k];
        s->kind = (uint8_t)(next_random(&state) % KINDS);
        s->x = (uint8_t)(next_random(&state) % ARRAYS);
        s->y = (uint8_t)(next_random(&state) % ARRAYS);
        s->z = (uint8_t)(next_random(&state) % ARRAYS);
        s->thread = (uint8_t)(next_random(&state) % THREADS);
        s->stream = (uint8_t)(next_random(&state) % (STREAMS + 1));
        s->device = (uint8_t)(next_random(&state) % (uint32_t)devices_count);
        s->number = next_random(&state);
        apply(s, p->expected);
        memcpy(s->expected, p->expected[s->x], BYTES);
    }
}

/* One run of a program. Spread, its arrays are where the steps say; else on the CPU, and all work
 * is the calling thread's. */
typedef struct run {
    const program *program;
    bool spread;
    weft_array *arrays[ARRAYS];
    weft_status status;
    char message[256];
} run;

static int index_of(weft_device device)
{
    int k = 0;
    while (k + 1 < devices_count && !weft_device_equal(devices[k], device))
        k++;
    return k;
}

static weft_stream *stream_of(const run *r, const step *s, weft_device device)
{
    return r->spread ? streams[index_of(device)][s->stream] : NULL;
}

/* What is computed on x takes its operands to where x is. */
static weft_array *beside(const run *r, const step *s, int which)
{
    weft_device device = weft_array_device(r->arrays[s->x]);
    return weft_to_device(r->arrays[which], device, NULL);
}

typedef struct addition {
    uint32_t *data, number;
} addition;

static weft_status add_number(void *argument)
{
    addition *a = argument;
    for (int i = 0; i < SIZE; i++)
        a->data[i] += a->number;
    free(a);
    return WEFT_OK;
}

/* On the host where it can be, else on the device. */
static weft_status call(const run *r, const step *s, weft_array *x)
{
    weft_stream *stream = stream_of(r, s, weft_array_device(x));
    const uint32_t number = s->number;
    if (!stream || !weft_array_host_readable(x))
        return weft(x = x + number, x, number);
    addition *a = malloc(sizeof *a);
    if (!a)
        return WEFT_ERROR_MEMORY;
    *a = (addition){weft_array_data(x), number};
    weft_array *const writes[] = {x}, *const *reads = writes;
    return weft_stream_call(stream, add_number, a, .reads = reads, .reads_count = 1,
                            .writes = writes, .writes_count = 1);
}

static weft_status slice(weft_array *x, weft_array *y)
{
    WEFT_AUTO weft_array *to = weft_slice(x, WEFT_STEP(0, SIZE, 2));
    WEFT_AUTO weft_array *half = weft_slice(y, WEFT_RANGE(0, SIZE / 2));
    WEFT_AUTO weft_array *from = weft_slice(half, WEFT_REVERSED);
    return weft_assign(to, from);
}

static weft_status read_back(run *r, const step *s)
{
    uint32_t values[SIZE];
    weft_status status = weft_copy_to_host(r->arrays[s->x], values, BYTES);
    if (status != WEFT_OK || memcmp(values, s->expected, BYTES) == 0)
        return status;
    return weft_error_set(WEFT_ERROR_RESULT, "an array that was read in between is wrong");
}

static weft_status replace(run *r, const step *s, weft_array *made)
{
    if (!made)
        return weft_error_code();
    weft_array_release(r->arrays[s->x]);
    r->arrays[s->x] = made;
    return WEFT_OK;
}

static weft_status upload(run *r, const step *s)
{
    uint32_t values[SIZE];
    for (uint32_t i = 0; i < SIZE; i++)
        values[i] = s->number + i;
    return weft_copy_from_host(r->arrays[s->x], values, BYTES);
}

static weft_status compute(run *r, const step *s)
{
    weft_array *x = r->arrays[s->x];
    WEFT_AUTO weft_array *y = beside(r, s, s->y);
    WEFT_AUTO weft_array *z = s->kind == COMBINE ? beside(r, s, s->z) : NULL;
    switch (s->kind) {
    case COMBINE:
        return weft(x = y + 3 * z, x, y, z);
    case SHIFT:
        return weft(x = x ^ (y >> 1), x, y);
    case NEIGHBOUR:
        return weft(x = shift(y, 1) - y, x, y);
    case TOTAL:
        return weft(x = x + u32(sum(y)), x, y);
    default:
        return slice(x, y);
    }
}

/* A copy in memory of any kind, and on any stream; the old memory goes back to the pool. */
static weft_status renew(run *r, const step *s)
{
    const weft_memory memory = (weft_memory)(WEFT_MEMORY_DEVICE + s->number % 3);
    return replace(r, s, weft_copy(r->arrays[s->y], .memory = memory));
}

static weft_status run_step(run *r, const step *s)
{
    weft_array *x = r->arrays[s->x];
    const weft_device there = r->spread ? devices[s->device] : WEFT_CPU;
    const uint32_t number = s->number;
    if (s->kind <= TOTAL)
        return compute(r, s);
    switch (s->kind) {
    case FILL:
        return weft_fill(x, number);
    case UPLOAD:
        return upload(r, s);
    case READ:
        return read_back(r, s);
    case MOVE:
        return replace(r, s, weft_to_device(x, there, stream_of(r, s, there)));
    case REBIND:
        return replace(r, s, weft_asarray(x, .stream = stream_of(r, s, weft_array_device(x))));
    case RENEW:
        return renew(r, s);
    default:
        return call(r, s, x);
    }
}

/* The thread's current streams are those of the step. */
static void take_step(run *r, int number)
{
    const step *s = &r->program->steps[number];
    for (int k = 0; k < devices_count; k++) {
        weft_stream *stream = r->spread ? streams[k][s->stream] : NULL;
        weft_stream_set_current(devices[k], stream);
    }
    if (r->status == WEFT_OK && (r->status = run_step(r, s)) != WEFT_OK)
        snprintf(r->message, sizeof r->message, "step %d of kind %d: %s", number, s->kind,
                 weft_error_message());
}

static void begin_run(run *r, const program *p, bool spread)
{
    *r = (run){.program = p, .spread = spread};
    for (int k = 0; k < ARRAYS; k++) {
        const weft_device device =
            spread ? devices[(p->seed + (uint64_t)k) % (uint64_t)devices_count] : WEFT_CPU;
        r->arrays[k] =
            weft_arange(1000 * k, 1000 * k + SIZE, 1, .dtype = WEFT_U32, .device = device);
        if (!r->arrays[k])
            r->status = weft_error_code();
    }
}

/* Compares, and releases; whether all was as expected. */
static bool end_run(run *r)
{
    uint32_t values[SIZE];
    for (int k = 0; k < ARRAYS; k++) {
        if (r->status == WEFT_OK &&
            (r->status = weft_copy_to_host(r->arrays[k], values, BYTES)) == WEFT_OK &&
            memcmp(values, r->program->expected[k], BYTES) != 0) {
            int i = 0;
            while (values[i] == r->program->expected[k][i])
                i++;
            r->status = WEFT_ERROR_RESULT;
            snprintf(r->message, sizeof r->message, "element %d of array %d is %u, expected %u", i,
                     k, values[i], r->program->expected[k][i]);
        }
        weft_array_release(r->arrays[k]);
    }
    if (r->status != WEFT_OK)
        fprintf(stderr, "program %llu, %s: %s\n", (unsigned long long)r->program->seed,
                r->spread ? "spread" : "on one stream", r->message);
    return r->status == WEFT_OK;
}

typedef struct group {
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int next;              /* step */
    uint64_t first, count; /* seeds */
    program program;
    run run;
    int failures;
} group;

typedef struct worker {
    group *group;
    int number;
} worker;

/* This thread's steps, each when those before it have been called. */
static void take_turns(group *g, int number)
{
    pthread_mutex_lock(&g->mutex);
    while (g->next < STEPS) {
        if (g->program.steps[g->next].thread != number) {
            pthread_cond_wait(&g->changed, &g->mutex);
            continue;
        }
        pthread_mutex_unlock(&g->mutex);
        take_step(&g->run, g->next);
        pthread_mutex_lock(&g->mutex);
        g->next++;
        pthread_cond_broadcast(&g->changed);
    }
    pthread_mutex_unlock(&g->mutex);
}

static void begin_program(group *g, uint64_t seed)
{
    run alone;
    generate(&g->program, seed);
    begin_run(&alone, &g->program, false);
    for (int k = 0; k < STEPS; k++)
        take_step(&alone, k);
    g->failures += !end_run(&alone);
    begin_run(&g->run, &g->program, true);
    g->next = 0;
}

static void *work(void *argument)
{
    worker *w = argument;
    group *g = w->group;
    for (uint64_t k = 0; k < g->count; k++) {
        if (w->number == 0)
            begin_program(g, g->first + k);
        pthread_barrier_wait(&g->barrier);
        take_turns(g, w->number);
        pthread_barrier_wait(&g->barrier);
        if (w->number == 0)
            g->failures += !end_run(&g->run);
    }
    for (int k = 0; k < devices_count; k++)
        weft_stream_set_current(devices[k], NULL);
    return NULL;
}

/* The CPU alone, or the device that is tested and all others. */
static void list_devices(void)
{
    devices[0] = weft_device_named(test_device());
    devices_count = 1;
    for (int i = 0; !weft_device_equal(devices[0], WEFT_CPU) && i < weft_device_count(); i++)
        if (devices_count < DEVICES && !weft_device_equal(weft_device_at(i), devices[0]))
            devices[devices_count++] = weft_device_at(i);
}

static bool open_devices(void)
{
    bool opened = true;
    list_devices();
    for (int k = 0; k < devices_count; k++)
        for (int i = 0; i < STREAMS; i++) {
            streams[k][i] = weft_stream_new(devices[k], .async = true);
            opened = opened && streams[k][i];
        }
    return opened;
}

static void close_devices(void)
{
    for (int k = 0; k < devices_count; k++)
        for (int i = 0; i < STREAMS; i++)
            weft_stream_release(streams[k][i]);
}

static int run_groups(uint64_t count)
{
    static group groups[GROUPS];
    static worker workers[GROUPS][THREADS];
    int failures = 0;
    for (int k = 0; k < GROUPS; k++) {
        group *g = &groups[k];
        g->first = 1 + (uint64_t)k * (count / GROUPS + 1);
        g->count = count / GROUPS + 1;
        g->failures = 0;
        pthread_barrier_init(&g->barrier, NULL, THREADS);
        pthread_mutex_init(&g->mutex, NULL);
        pthread_cond_init(&g->changed, NULL);
        for (int i = 0; i < THREADS; i++) {
            workers[k][i] = (worker){g, i};
            pthread_create(&g->threads[i], NULL, work, &workers[k][i]);
        }
    }
    for (int k = 0; k < GROUPS; k++) {
        for (int i = 0; i < THREADS; i++)
            pthread_join(groups[k].threads[i], NULL);
        failures += groups[k].failures;
    }
    return failures;
}

static uint64_t bytes_in_use(int k)
{
    weft_statistics statistics = {0};
    weft_memory_stats(devices[k], &statistics);
    return statistics.bytes_in_use;
}

TEST(S5_programs_spread_over_devices_streams_and_threads)
{
    const char *given = getenv("WEFT_TEST_PROGRAMS");
    const bool many = !test_quick() && strcmp(test_device(), "cpu") == 0;
    const uint64_t count = given ? (uint64_t)atoll(given) : many ? 10000 : 500;
    CHECK(open_devices());
    uint64_t before[DEVICES] = {0};
    for (int k = 0; k < devices_count; k++)
        before[k] = bytes_in_use(k);
    int failures = run_groups(count);
    for (int k = 0; k < devices_count; k++)
        CHECK_INT(bytes_in_use(k), before[k]);
    close_devices();
    CHECK_INT(failures, 0);
}

TEST_MAIN(TEST_NO_FAULTS(S5_programs_spread_over_devices_streams_and_threads,
                         "it runs for long, on threads of its own"));
