/* The points of the series, for Weft's program and the one by hand; peers_series.py has the same.
 */
#ifndef WEFT_BENCH_SERIES_H
#define WEFT_BENCH_SERIES_H

#include <stdint.h>
#include <stdio.h>

enum {
    SERIES_SIZES = 15,        /* 1, 4, 16, ... 2^28 elements */
    SERIES_LENGTHS = 7,       /* 2, 8, 32, ... 8192 terms, */
    SERIES_COUNT = 1 << 20,   /* on so many elements */
    SERIES_KEPT = 1 << 24,    /* arrays of more are dropped after each measurement */
    SERIES_TOGETHER = 1 << 22 /* elements that one timing computes, at least */
};

/* Calls in one timing. */
static inline int series_calls(int64_t count, int most)
{
    const int64_t calls = SERIES_TOGETHER / count;
    return calls < 1 ? 1 : calls > most ? most : (int)calls;
}

static inline const char *series_size_name(char room[64], int k)
{
    (void)snprintf(room, 64, "c += 1/a + 2ab, 2^%d elements", 2 * k);
    return room;
}

static inline const char *series_length_name(char room[64], int k)
{
    (void)snprintf(room, 64, "%d terms on 2^20 elements", 2 << 2 * k);
    return room;
}

#endif
