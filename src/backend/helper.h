/* The thread of a stream that does what a device cannot: calling functions of the host's, and
 * waiting for work of other kinds of devices. */
#ifndef WEFT_BACKEND_HELPER_H
#define WEFT_BACKEND_HELPER_H

#include "backend/line.h"

typedef struct weft__helper weft__helper;
typedef struct weft__helper_job weft__helper_job;

/* What lets the device go on after a job: one of the two is called, once. */
typedef struct weft__gate {
    void *handle;
    void (*open)(void *handle);
    void (*drop)(void *handle); /* nothing was queued */
} weft__gate;

/* NULL, with the record set, if memory ran out; the thread begins with the first job. */
weft__helper *weft__helper_new(weft_stream *stream);
/* All jobs are done. From a function that it calls: takes a reference to the stream instead, and
 * releases it when that is done. True if the helper is gone. */
bool weft__helper_close(weft__helper *helper);

/* A job: waits for the points, calls the function of `pending`, if that is not NULL, and then opens
 * the gate. NULL, with the record set, if there is no memory or no thread for it; the gate is then
 * the caller's. */
weft__helper_job *weft__helper_prepare(weft__helper *helper, const weft__point *points,
                                       uint32_t count, weft__pending *pending, weft__gate gate);
/* Queues it, or drops it; one thread at a time. */
void weft__helper_add(weft__helper *helper, weft__helper_job *job);
void weft__helper_drop(weft__helper_job *job);

/* At the end of the process: ends all threads of the kind of devices but this one. */
void weft__helpers_finish(int32_t kind);
/* In the child of a fork: they are not there. */
void weft__helpers_after_fork(void);

#endif
