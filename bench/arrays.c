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
    weft_array *array = weft_zeros(WEFT_SHAPE(*(int *)argument));
    check(array != NULL);
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

static void queue_nothing(void *argument)
{
    check(weft_stream_call(argument, nothing, NULL) == WEFT_OK);
}

static void wake_worker(void *argument)
{
    struct timespec pause = {0, 300000};
    nanosleep(&pause, NULL);
    queue_nothing(argument);
}

/* The worker has nothing to do for a while, then one call: from the call to its end. */
static void measure_waking(weft_stream *stream)
{
    double seconds[RUNS];
    for (int r = 0; r < RUNS; r++) {
        seconds[r] = 0;
        for (int i = 0; i < 100; i++) {
            struct timespec pause = {0, 2000000};
            nanosleep(&pause, NULL);
            double start = now();
            queue_nothing(stream);
            check(weft_stream_synchronize(stream) == WEFT_OK);
            seconds[r] += (now() - start) / 100;
        }
    }
    report("wake an idle worker and wait", "weft", 1, seconds, 0, -1);
}

static void measure_queue(void)
{
    enum { CALLS = 1000000 };
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    double seconds[RUNS];
    check(stream != NULL);
    wake_worker(stream);
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            queue_nothing(stream);
        check(weft_stream_synchronize(stream) == WEFT_OK);
        seconds[r] = (now() - start) / CALLS;
    }
    report("queue an empty call, and run it", "weft", 1, seconds, 0, -1);
    measure_waking(stream);
    weft_stream_release(stream);
}

static void measure_copies(void)
{
    double count = (double)SIDE * SIDE;
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(SIDE, SIDE));
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(SIDE, SIDE));
    WEFT_AUTO weft_array *turned = weft_transpose(a);
    WEFT_AUTO weft_array *slice = weft_slice(a, WEFT_ALL, WEFT_STEP(0, WEFT_END, 2));
    WEFT_AUTO weft_array *half = weft_ones(WEFT_SHAPE(SIDE, SIDE / 2));
    check(a && b && turned && slice && half);
    pair p = {b, turned, weft_array_data(b), weft_array_data(a), weft_array_bytes(a)};
    measure("copy 8192^2 f32", "memcpy", count, 8 * count, 1, plain_copy, &p);
    measure("copy of a transposed 8192^2 f32", "memcpy", count, 8 * count, 1, plain_copy, &p);
    measure("copy of a transposed 8192^2 f32", "weft", count, 8 * count, 1, assign, &p);
    p.source = a;
    measure("copy 8192^2 f32", "weft", count, 8 * count, 1, assign, &p);
    pair s = {half, slice, NULL, NULL, 0};
    measure("copy of a[:, ::2], 8192^2 f32", "weft", count / 2, 6 * count, 1, assign, &s);
}

int main(void)
{
    int small = 1024, large = 1 << 26;
    measure("make and release 1024 f32", "weft", small, 0, 100000, make_and_release, NULL);
    measure("zeros, 1024 f32", "weft", small, 4.0 * small, 100000, make_zeros, &small);
    measure("zeros, 2^26 f32", "weft", large, 4.0 * large, 1, make_zeros, &large);
    measure_queue();
    measure_copies();
    return 0;
}
