/* The memory pool of a device: released buffers, kept for reuse in stream order. */
#ifndef WEFT_CORE_POOL_H
#define WEFT_CORE_POOL_H

#include "core/buffer.h"

enum { WEFT__POOL_CLASSES = 512 };

typedef struct weft__device weft__device;
typedef struct weft__thread weft__thread;

typedef struct weft__pool {
    pthread_mutex_t mutex;
    weft__buffer *first[WEFT__POOL_CLASSES];
    uint64_t cached;            /* bytes in this pool's lists */
    _Atomic uint64_t held;      /* bytes taken from the backend: in use and cached */
    _Atomic uint64_t threshold; /* of bytes cached */
    _Atomic uint64_t limit;     /* of bytes held; 0: none */
    const char *misread;        /* an environment variable whose value is no number of bytes */
    _Atomic(void *) cell;       /* pinned memory that nobody reads through now, or NULL */
} weft__pool;

void weft__pool_open(weft__device *device);
/* A buffer with room for `bytes`, from this thread's magazine, the pool or the backend; *zeroed if
 * its memory is known to be zero. NULL, with the record set, if memory ran out after the caches
 * were dropped. */
weft__buffer *weft__pool_take(weft__device *device, size_t bytes, const weft__timeline *timeline,
                              bool *zeroed);
/* Takes a buffer that nobody holds any more. */
void weft__pool_give(weft__device *device, weft__buffer *buffer);
/* Frees cached memory that no queued work uses until at most `keep` bytes are cached. */
void weft__pool_trim(weft__device *device, uint64_t keep);

/* Trims to the threshold, once work that used cached memory is done. */
void weft__pool_settle(weft__device *device);

/* Memory from the backend beside the pool, counted against the limit, dropping caches if need be. A
 * user asked for `asked` of the bytes. */
void *weft__pool_allocate(weft__device *device, weft_memory kind, size_t bytes, size_t asked,
                          bool *zeroed);
void weft__pool_release(weft__device *device, weft_memory kind, void *data, size_t bytes);

/* Pinned memory for a few bytes on their way to the host, or NULL. It is kept only if nothing went
 * wrong with it. */
enum { WEFT__POOL_CELL = 4096 };
void *weft__pool_cell_take(weft__device *device);
void weft__pool_cell_give(weft__device *device, void *cell, bool keep);

/* Gives a thread's cached buffers back to the pools. */
void weft__magazines_flush(weft__thread *thread);
/* Moves when threads must flush their magazines. */
uint64_t weft__memory_epoch(void);
void weft__memory_epoch_move(void);
void weft__pool_after_fork(weft__device *device);

#endif
