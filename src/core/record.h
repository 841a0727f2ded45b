/* Recording: while a thread records a graph, its work is noted instead of done. */
#ifndef WEFT_CORE_RECORD_H
#define WEFT_CORE_RECORD_H

#include "core/thread.h"

typedef struct weft__recorder {
    weft_stream *stream; /* whose work is recorded; retained */
    weft_status (*record)(struct weft__recorder *recorder, const weft__work *work);
    weft_error refused;   /* the first that could not be; its code is WEFT_OK if all could */
    uint64_t number;      /* of the recording, from 1 */
    weft__failure *unset; /* of arrays that are made meanwhile and written by what is recorded */
} weft__recorder;

/* The number of what this thread records; 0 if it does not. */
static inline uint64_t weft__recording(void)
{
    const weft__thread *thread = weft__thread_peek();
    return thread && thread->recorder ? thread->recorder->number : 0;
}

/* For weft__submit, in a thread that records. */
weft_status weft__record(weft_stream *stream, const weft__work *work);
/* Fails if this thread records, since such a call cannot be recorded, for a reason. */
weft_status weft__record_refuse(const char *why);
/* The reason of calls that wait. */
#define WEFT__RECORD_WAITS                                                                         \
    "it waits for work that is recorded and not done; call it after weft_graph_launch"

#endif
