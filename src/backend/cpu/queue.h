/* The queue of a stream: work copied in place into segments, one producer at a time, one consumer.
 */
#ifndef WEFT_BACKEND_CPU_QUEUE_H
#define WEFT_BACKEND_CPU_QUEUE_H

#include "backend/backend.h"
#include <stdatomic.h>

typedef struct weft__segment weft__segment;

/* Grows without bound. In the steady state nothing is allocated: the consumer hands the segment
 * that it has emptied back to the producer. The three groups are on cache lines
 * of their own. */
typedef struct weft__queue {
    weft__segment *tail; /* the producer's, who holds the stream's mutex */
    char apart[64 - sizeof(weft__segment *)];
    weft__segment *head; /* the consumer's */
    size_t read;         /* bytes of it that are done */
    size_t known;        /* bytes that were filled when it last looked */
    char apart_too[64 - sizeof(weft__segment *) - 2 * sizeof(size_t)];
    _Atomic(weft__segment *) spare;
} weft__queue;

/* Before the first push; does nothing the second time. */
weft_status weft__queue_open(weft__queue *queue);
void weft__queue_close(weft__queue *queue);

/* Appends a copy of the work with its uses, waits and launch. Sequentially consistent with what the
 * caller reads after it. */
weft_status weft__queue_push(weft__queue *queue, const weft__work *work);

/* The consumer's. The first piece of work stays where it is until it is popped. */
bool weft__queue_empty(const weft__queue *queue);
const weft__work *weft__queue_first(weft__queue *queue); /* NULL if it is empty */
void weft__queue_pop(weft__queue *queue);

#endif
