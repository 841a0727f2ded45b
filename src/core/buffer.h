/* Buffers: memory on one device, with the points of the work that uses it. */
#ifndef WEFT_CORE_BUFFER_H
#define WEFT_CORE_BUFFER_H

#include "core/failure.h"
#include "core/timeline.h"
#include <weft/array.h>
#include <weft/create.h>

typedef enum weft__source {
    WEFT__SOURCE_POOL,   /* pooled: cached when released */
    WEFT__SOURCE_DIRECT, /* the backend's, given back when released */
    WEFT__SOURCE_USER,   /* a user allocator's */
    WEFT__SOURCE_LENT,   /* the user's own, on no device */
    WEFT__SOURCE_FOREIGN /* another library's, on a device */
} weft__source;

enum { WEFT__READS_INLINE = 4 };

/* The pool caches whole buffers, so a new array takes over memory together with the points of the
 * work that may still use it. A buffer is freed only when all its points are done: queued work
 * never holds a reference, only the generation, which changes with every new life of the buffer. */
typedef struct weft__buffer {
    _Atomic int references; /* arrays */
    uint8_t memory;         /* weft_memory */
    uint8_t source;         /* weft__source */
    uint16_t size_class;
    weft_device device; /* of lent memory: none */
    char *data;
    size_t bytes;    /* asked for */
    size_t elements; /* … of it for elements, without padding between rows */
    size_t capacity; /* there */
    _Atomic uint64_t generation;
    uint64_t recording;        /* in which it was made: weft__recorder.number; else 0 */
    struct weft__buffer *next; /* in a cache */

    _Atomic(weft__timeline *) claimant; /* that alone uses it, without the lock: core/claim.h */
    _Atomic uint64_t claim_write, claim_read; /* … the last uses, if that is a stream's; else 0 */
    _Atomic(weft__failure *) failure;         /* the contents were never computed … */
    uint64_t failure_generation;              /* … in this life */
    _Atomic uint32_t locked;                  /* 0: free; guards what follows */
    uint32_t reads_count, reads_room;
    weft__point write;  /* the last write */
    weft__point *reads; /* reads since then, and what the devices may not be known to have done; one
                           per timeline */
    weft__point reads_inline[WEFT__READS_INLINE];

    const weft_user_allocator *user_allocator;
    weft_deleter *deleter;
    void *deleter_context;
    struct weft__buffer *lent_next; /* in the table of what has a deleter */
} weft__buffer;

/* What memory is wanted. */
typedef struct weft__request {
    weft_device device;
    weft_memory memory;
    weft_allocator allocator;
    const weft_user_allocator *user_allocator;
    weft_stream *stream; /* where it will be used first */
    bool placed;         /* the device was asked for */
} weft__request;

/* Gives a reference up; true if it was the last. A holder of the only one needs no atomic
 * subtraction. */
static inline bool weft__reference_drop(_Atomic int *references)
{
    return atomic_load_explicit(references, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

/* New buffers have one reference. NULL, with the record set, on failure. *zeroed, if asked for,
 * says that the memory is known to be zero. */
weft__buffer *weft__buffer_new(size_t bytes, const weft__request *request, bool *zeroed);
weft__buffer *weft__buffer_lent(void *data, size_t bytes, weft_deleter *deleter, void *context);
/* Memory of another library's on a device. If the backend has wrapped it (memory_wrap), that is
 * undone with the buffer. */
weft__buffer *weft__buffer_foreign(weft_device device, weft_memory memory, void *data,
                                   size_t bytes);
void weft__buffer_retain(weft__buffer *buffer);
void weft__buffer_release(weft__buffer *buffer);

void weft__buffer_lock(weft__buffer *buffer);
void weft__buffer_unlock(weft__buffer *buffer);
/* How often this thread has locked one, for tests. */
uint64_t weft__buffer_locks(void);
/* Records a read; the buffer is locked and has room for one. */
void weft__buffer_add_read(weft__buffer *buffer, weft__point point);
void weft__buffer_after_fork(void);
/* Whether all recorded work is done or runs on `timeline` (may be NULL); the buffer is locked or
 * unshared. */
bool weft__buffer_idle(const weft__buffer *buffer, const weft__timeline *timeline);
/* How many have a failure, of whatever life: where that is none, nobody has to look. */
extern _Atomic int weft__buffers_failed;
/* Replaces the failure unless there is one of a later life; NULL clears it. Work of one life may
 * run, and fail, when the memory has been promised to the next: in order, so one failure is enough.
 */
void weft__buffer_set_failure(weft__buffer *buffer, uint64_t generation, weft__failure *failure);
/* Clears that failure alone. */
void weft__buffer_clear_failure(weft__buffer *buffer, const weft__failure *failure);
/* The failure of that life, retained, or NULL. */
weft__failure *weft__buffer_failure(weft__buffer *buffer, uint64_t generation);

/* Makes and frees the struct itself, for the pool. */
weft__buffer *weft__buffer_make(void);
void weft__buffer_free(weft__buffer *buffer);
/* Begins a new life: one reference, no failure, a new generation; points are kept. */
void weft__buffer_revive(weft__buffer *buffer, size_t bytes);

/* Buffers that are not pooled and that nobody holds wait here until queued work is done with them.
 */
extern _Atomic int weft__retired_count;
void weft__retired_sweep(void);
void weft__retired_fork(weft__fork_stage stage);

#endif
