/* The device that a program of this folder measures: the argument --device NAME, else the CPU. */
#ifndef WEFT_BENCH_DEVICE_H
#define WEFT_BENCH_DEVICE_H

#include "measure.h"
#include <weft/weft.h>

static weft_device where;

static inline void check(bool fine)
{
    if (fine)
        return;
    fprintf(stderr, "%s\n", weft_error_message());
    exit(1);
}

static inline void wait_there(void) { check(weft_device_synchronize(where) == WEFT_OK); }

static inline bool compiles_there(void)
{
    weft_statistics all = {0};
    check(weft_memory_stats(where, &all) == WEFT_OK);
    return all.compilations_waiting > 0;
}

/* New arrays are there, and rows are timed until the device has done them. */
static inline void choose_device(int count, char **arguments)
{
    int at = 1;
    where = WEFT_CPU;
    while (at < count && strcmp(arguments[at], "--device") != 0)
        at++;
    if (at + 1 < count)
        where = weft_device_named(arguments[at + 1]);
    check(where.kind != WEFT_DEVICE_INVALID && weft_device_set_default(where) == WEFT_OK);
    bench_device = weft_device_id(where);
    bench_compiles = compiles_there;
    if (where.kind != WEFT_DEVICE_CPU)
        bench_wait = wait_there;
}

#endif
