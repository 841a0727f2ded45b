/* Measuring, for the programs of this folder: medians, as one JSON object a line. */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, SIDE = 8192, CUBE = 400, SMALL = 1024 };
static const double WARM_UP = 0.2; /* seconds: compilers in the background have finished */

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the rows are of. */
static const char *bench_device = "cpu";

/* `bytes` are those that the work must move; `extra` those allocated beyond inputs and outputs, or
 * negative if nobody counted. */
static inline void report(const char *work, const char *who, double elements, double *seconds,
                          double bytes, double extra)
{
    qsort(seconds, RUNS, sizeof *seconds, compare_times);
    double median = seconds[RUNS / 2];
    printf("{\"work\": \"%s\", \"who\": \"%s\", \"device\": \"%s\", \"n\": %.0f, "
           "\"seconds\": %.9g, \"gbps\": %.4g",
           work, who, bench_device, elements, median, bytes / median * 1e-9);
    if (extra >= 0)
        printf(", \"extra_bytes\": %.0f", extra);
    printf("}\n");
    fflush(stdout);
}

/* Only the rows whose name has the text of the environment variable WEFT_BENCH_ONLY in it. */
static inline bool is_wanted(const char *work)
{
    const char *only = getenv("WEFT_BENCH_ONLY");
    return !only || strstr(work, only);
}

typedef void bench_body(void *argument);

/* Waits for a device that works on its own; NULL on the CPU. */
static void (*bench_wait)(void);

static inline void wait_for_device(void)
{
    if (bench_wait)
        bench_wait();
}

/* Seconds of one call, RUNS times, each the mean of `repeat` calls, after a warm-up. If `queued`,
 * what counts is the time until they are queued, else until they are done. */
static inline void measure_calls(int repeat, bool queued, bench_body *body, void *argument,
                                 double *seconds)
{
    double begin = now();
    do {
        body(argument);
        wait_for_device();
    } while (now() - begin < WARM_UP);
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < repeat; i++)
            body(argument);
        if (queued)
            seconds[r] = (now() - start) / repeat;
        wait_for_device();
        if (!queued)
            seconds[r] = (now() - start) / repeat;
    }
}

static inline void measure_times(int repeat, bench_body *body, void *argument, double *seconds)
{
    measure_calls(repeat, false, body, argument, seconds);
}

static inline void measure(const char *work, const char *who, double elements, double bytes,
                           int repeat, bench_body *body, void *argument)
{
    double seconds[RUNS];
    if (!is_wanted(work))
        return;
    measure_times(repeat, body, argument, seconds);
    report(work, who, elements, seconds, bytes, -1);
}

/* The same numbers in every program and for every peer: from low to high, in steps that follow no
 * pattern of the memory. */
static inline void fill_spread(float *data, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(low + (high - low) * (double)(i * 7919 % 1000003) / 1000003);
}

#endif
