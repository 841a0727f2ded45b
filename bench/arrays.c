/* Arrays, streams and copies. */
#include "measure.h"
#include <weft/weft.h>

static void check(bool fine)
{
    if (fine)
        return;
    fprintf(stderr, "%s\n", weft_error_message());
    exit(1);
}

static void make_and_release(void *argument)
{
    (void)argument;
    weft_array_release(weft_empty(WEFT_SHAPE(1024)));
}

static void make_zeros(void *argument)
{
    enum { PAGE = 1024 }; /* floats: some libraries' pages come when they are touched */
    const int count = *(int *)argument;
    weft_array *array = weft_zeros(WEFT_SHAPE(count));
    check(array != NULL);
    float *data = weft_array_data(array);
    for (int i = 0; i < count; i += PAGE)
        data[i] = 1;
    weft_array_release(array);
}

typedef struct pair {
    weft_array *target, *source;
    void *to, *from;
    size_t bytes;
} pair;

static void assign(void *argument)
{
    pair *p = argument;
    check(weft_assign(p->target, p->source) == WEFT_OK);
}

static void plain_copy(void *argument)
{
    pair *p = argument;
    memcpy(p->to, p->from, p->bytes);
}

static weft_status nothing(void *argument)
{
    (void)argument;
    return WEFT_OK;
}

static weft_stream *stream;

static void queue_nothing(void) { check(weft_stream_call(stream, nothing, NULL) == WEFT_OK); }

/* The worker has nothing to do for a while, then one call: from the call to its end. */
static double seconds_to_wake(void *argument)
{
    enum { TIMES = 20 };
    double seconds = 0;
    (void)argument;
    for (int i = 0; i < TIMES; i++) {
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
        double start = now();
        queue_nothing();
        check(weft_stream_synchronize(stream) == WEFT_OK);
        seconds += (now() - start) / TIMES;
    }
    return seconds;
}

static double seconds_to_queue(void *argument)
{
    enum { CALLS = 200000 };
    (void)argument;
    double start = now();
    for (int i = 0; i < CALLS; i++)
        queue_nothing();
    check(weft_stream_synchronize(stream) == WEFT_OK);
    return (now() - start) / CALLS;
}

static int small = SMALL, large = 1 << 26;
static pair plain, transposed, sliced;

enum { COUNT = SIDE * SIDE };
#define ROW(name, count, moved, calls, function, given)                                            \
    {                                                                                              \
        .work = name, .who = "weft", .elements = count, .bytes = moved, .repeat = calls,           \
        .body = function, .argument = given                                                        \
    }
#define QUEUE(name, function)                                                                      \
    {                                                                                              \
        .work = name, .who = "weft", .elements = 1, .seconds = function                            \
    }
#define MEMCPY(name)                                                                               \
    {                                                                                              \
        .work = name, .who = "memcpy", .elements = COUNT, .bytes = 8.0 * COUNT, .repeat = 1,       \
        .body = plain_copy, .argument = &plain                                                     \
    }
static const bench_row rows[] = {
    ROW("make and release 1024 f32", SMALL, 0, 100000, make_and_release, NULL),
    ROW("zeros, 1024 f32", SMALL, 4.0 * SMALL, 100000, make_zeros, &small),
    ROW("zeros, 2^26 f32, each page touched", 1 << 26, 4.0 * (1 << 26), 1, make_zeros, &large),
    QUEUE("queue an empty call, and run it", seconds_to_queue),
    QUEUE("wake an idle worker and wait", seconds_to_wake),
    ROW("copy 8192^2 f32", COUNT, 8.0 * COUNT, 1, assign, &plain),
    MEMCPY("copy 8192^2 f32"),
    ROW("copy of a transposed 8192^2 f32", COUNT, 8.0 * COUNT, 1, assign, &transposed),
    MEMCPY("copy of a transposed 8192^2 f32"),
    ROW("copy of a[:, ::2], 8192^2 f32", COUNT / 2.0, 6.0 * COUNT, 1, assign, &sliced),
};

int main(int argc, char **argv)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(SIDE, SIDE));
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(SIDE, SIDE));
    WEFT_AUTO weft_array *turned = weft_transpose(a);
    WEFT_AUTO weft_array *slice = weft_slice(a, WEFT_ALL, WEFT_STEP(0, WEFT_END, 2));
    WEFT_AUTO weft_array *half = weft_ones(WEFT_SHAPE(SIDE, SIDE / 2));
    stream = weft_stream_new(WEFT_CPU, .async = true);
    check(a && b && turned && slice && half && stream);
    plain = (pair){b, a, weft_array_data(b), weft_array_data(a), weft_array_bytes(a)};
    transposed = (pair){b, turned, NULL, NULL, 0};
    sliced = (pair){half, slice, NULL, NULL, 0};
    int status = run_rows(argc, argv, rows, sizeof rows / sizeof *rows);
    weft_stream_release(stream);
    return status;
}
