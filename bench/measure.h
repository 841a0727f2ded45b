/* Measuring, for the programs of this folder: each has a table of rows, and measures them all, or
 * one whenever it is asked to. */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, SIDE = 8192, CUBE = 400, SMALL = 1024 };
static const double WARM_UP = 0.2, WARM_UP_MOST = 10; /* seconds */

typedef void bench_body(void *argument);

typedef struct bench_row {
    const char *work, *who;
    double elements, bytes; /* that the work must move */
    int repeat;             /* calls in one timing */
    bench_body *body;
    void *argument;
    double (*memory)(bool begin); /* bytes allocated at most since `begin` beyond inputs; or NULL */
    double output;                /* bytes of new arrays that are the result */
    double (*seconds)(void *argument); /* of one call, in place of `body`; or NULL */
    bool queued; /* what counts is the time until calls are queued, not until they are done */
    void (*hold)(void *argument, bool begin); /* makes and drops what the row needs; or NULL */
} bench_row;

/* What the rows are of; waits for a device that works on its own, NULL on the CPU. */
static const char *bench_device = "cpu";
static void (*bench_wait)(void);
/* Whether code is still to come that is faster than what runs; NULL where there is none. */
static bool (*bench_compiles)(void);

static inline void wait_for_device(void)
{
    if (bench_wait)
        bench_wait();
}

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

static inline void call_once(const bench_row *row)
{
    if (row->seconds)
        (void)row->seconds(row->argument);
    else
        row->body(row->argument);
    wait_for_device();
}

static inline void warm_up(const bench_row *row)
{
    double begin = now(), seconds;
    do {
        call_once(row);
        seconds = now() - begin;
    } while (seconds < WARM_UP || (bench_compiles && bench_compiles() && seconds < WARM_UP_MOST));
    call_once(row);
}

/* Seconds until as many calls as the row repeats are queued, or done. */
static inline double time_calls(const bench_row *row)
{
    double start = now();
    for (int i = 0; i < row->repeat; i++)
        row->body(row->argument);
    double queued = now() - start;
    wait_for_device();
    return row->queued ? queued : now() - start;
}

/* Seconds of one call: the mean of as many as the row repeats. Calls that are queued meet a device
 * that is at work or asleep, which takes one time or another: of those it is the mean of many. */
static inline double time_once(const bench_row *row)
{
    enum { QUEUES = 40 };
    const int times = row->queued && bench_wait ? QUEUES : 1;
    double seconds = 0;
    if (row->seconds)
        return row->seconds(row->argument);
    for (int k = 0; k < times; k++)
        seconds += time_calls(row);
    return seconds / times / row->repeat;
}

/* The median of `count` calls. */
static inline double time_median(const bench_row *row, int count)
{
    double seconds[RUNS];
    for (int i = 0; i < count; i++)
        seconds[i] = time_once(row);
    qsort(seconds, (size_t)count, sizeof *seconds, compare_times);
    return seconds[count / 2];
}

static inline void print_row(const bench_row *row, double seconds, double extra)
{
    printf("{\"work\": \"%s\", \"who\": \"%s\", \"device\": \"%s\", \"n\": %.0f, \"bytes\": %.0f",
           row->work, row->who, bench_device, row->elements, row->bytes);
    if (seconds > 0)
        printf(", \"seconds\": %.9g, \"gbps\": %.4g", seconds, row->bytes / seconds * 1e-9);
    if (extra >= 0)
        printf(", \"extra_bytes\": %.0f", extra);
    printf("}\n");
    fflush(stdout);
}

static inline void hold_row(const bench_row *row, bool begin)
{
    if (row->hold)
        row->hold(row->argument, begin);
}

/* Warms up, runs and prints. What a call allocates is known from the warm-up. */
static inline void measure_row(const bench_row *row, bool warm, int count)
{
    double extra = -1;
    if (row->memory && !warm)
        (void)row->memory(true);
    if (!warm)
        warm_up(row);
    if (row->memory && !warm)
        extra = row->memory(false) - row->output;
    double seconds = time_median(row, count);
    print_row(row, seconds, row->memory && !warm ? (extra > 0 ? extra : 0) : -1);
}

/* Lists the rows, then measures those whose numbers it reads: for the first time after a warm-up,
 * later after a few calls; a few calls at a time, where they are short. */
static inline void serve_rows(const bench_row *rows, int count)
{
    enum { ROWS = 64, FEW = 3 };
    bool warm[ROWS] = {false};
    int number;
    for (int k = 0; k < count; k++)
        print_row(&rows[k], 0, -1);
    printf("ready\n");
    fflush(stdout);
    while (scanf("%d", &number) == 1 && number >= 0 && number < count && number < ROWS) {
        hold_row(&rows[number], true);
        for (int k = 0; warm[number] && k < FEW; k++) /* as peers.py does */
            call_once(&rows[number]);
        measure_row(&rows[number], warm[number], FEW);
        hold_row(&rows[number], false);
        warm[number] = true;
    }
}

/* With the argument "serve", for run.py; else all rows whose name has the text of the environment
 * variable WEFT_BENCH_ONLY in it, medians of five. */
static inline int run_rows(int argc, char **argv, const bench_row *rows, int count)
{
    const char *only = getenv("WEFT_BENCH_ONLY");
    if (argc > 1 && strcmp(argv[1], "serve") == 0) {
        serve_rows(rows, count);
        return 0;
    }
    for (int k = 0; k < count; k++)
        if (!only || strstr(rows[k].work, only)) {
            hold_row(&rows[k], true);
            measure_row(&rows[k], false, RUNS);
            hold_row(&rows[k], false);
        }
    return 0;
}

/* The same numbers in every program and for every peer: from low to high, in steps that follow no
 * pattern of the memory. */
static inline void fill_spread(float *data, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(low + (high - low) * (double)(i * 7919 % 1000003) / 1000003);
}

#endif
