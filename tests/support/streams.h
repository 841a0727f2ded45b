/* For tests of streams: waiting for them, and arrays whose elements are all one number. */
#ifndef WEFT_TESTS_SUPPORT_STREAMS_H
#define WEFT_TESTS_SUPPORT_STREAMS_H

#include "support/gate.h"
#include <time.h>

static inline void pause_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static inline bool is_done(weft_stream *stream)
{
    bool done = false;
    return weft_stream_query(stream, &done) == WEFT_OK && done;
}

/* The stream comes to its end by itself, within a time that only a hang exceeds. */
static inline bool finishes(weft_stream *stream)
{
    for (int i = 0; i < 20000 && !is_done(stream); i++)
        pause_ms(1);
    return is_done(stream);
}

/* The stream has had time to run, and has not come to its end. */
static inline bool stays_busy(weft_stream *stream)
{
    pause_ms(15);
    bool done = true;
    return weft_stream_query(stream, &done) == WEFT_OK && !done;
}

/* Every element of an array of up to 4096 i32 is the value: reads, so it waits. */
static inline bool holds(weft_array *array, int value)
{
    int data[4096];
    size_t count = (size_t)weft_array_count(array);
    if (count == 0 || count > 4096 ||
        weft_copy_to_host(array, data, count * sizeof *data) != WEFT_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (data[i] != value)
            return false;
    return true;
}

/* An array of 1000 i32, all the value. */
static inline weft_array *make_full(int value)
{
    return weft_full(WEFT_SHAPE(1000), value, .device = WEFT_CPU);
}

static inline weft_statistics stats(void)
{
    weft_statistics all = {0};
    weft_memory_stats(WEFT_CPU, &all);
    return all;
}

#endif
