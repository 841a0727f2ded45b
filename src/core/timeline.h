/* Timelines: how far the work of a stream, or of a thread that computes in its calls, has come. */
#ifndef WEFT_CORE_TIMELINE_H
#define WEFT_CORE_TIMELINE_H

#include "core/library.h"
#include "core/status.h"
#include <pthread.h>
#include <stdatomic.h>

/* A store that no later load comes before. Any sequentially consistent store is one, and on x86
 * this is the same instruction; but QEMU, where 64-bit Arm is tested, lets loads overtake plain
 * stores, and who waits for them would sleep on. */
#define WEFT__STORE_FIRST(object, value) ((void)atomic_exchange(object, value))

enum { WEFT__CLAIMED_MAX = 16 };

typedef struct weft__timeline weft__timeline;

/* How a device that numbers nothing itself says how far it has come: it is asked. What it is asked
 * through is never freed while the library is loaded, as timelines are not. */
typedef struct weft__progress {
    /* Moves `completed` on. Unless `fully`, takes no lock and records nothing: it stops at work
     * that failed, or that follows from work that did. */
    void (*look)(struct weft__progress *progress, weft__timeline *timeline, bool fully);
    /* Returns when `completed` has reached the number. */
    void (*wait)(struct weft__progress *progress, weft__timeline *timeline, uint64_t sequence);
} weft__progress;

/* Work on a timeline is numbered 1, 2, 3 … and finishes in that order. Timelines are never freed
 * while the library is loaded: a released one is reused and its numbers go on, so a point on a
 * timeline that is gone reads as done, and nobody needs to hold a reference. */
struct weft__timeline {
    _Alignas(64) _Atomic uint64_t submitted; /* the last number given out */
    /* Of a stream's, as src/core/window.h has it. What is not atomic is the turn's. */
    _Atomic int turn;                   /* who queues work now: weft__turn of src/core/claim.h */
    uint32_t window_works;              /* pieces of work that were added to it */
    _Atomic uint64_t window;            /* a number that no other has or had; 0: it is closed */
    _Atomic uint64_t window_generation; /* what it depends on has not changed since */
    uint64_t window_end;                /* it takes no number after this */
    void *handle;                       /* the backend's, for weft__again */
    _Atomic uint64_t launches;          /* kernels that were queued by number alone */
    _Atomic uint64_t window_first;      /* its first number; 0: none */
    _Atomic uint64_t window_before;     /* the last number of those before it */
    /* Of a calling thread's: the buffers that its last work uses, if that has claimed them all, as
     * src/core/claim.c writes them. */
    _Atomic uint32_t uses_count;
    _Atomic uintptr_t uses[WEFT__CLAIMED_MAX];
    char apart[64];             /* the submitter writes the one, the worker the other */
    _Atomic uint64_t completed; /* everything up to this number is done */
    _Atomic int waiters;
    pthread_mutex_t mutex; /* guards the condition only */
    pthread_cond_t changed;
    struct weft__timeline *next_free;
    struct weft_stream *stream;         /* whose it is; NULL for a calling thread's */
    _Atomic(const void *) owner;        /* of a calling thread's: the thread's state */
    _Atomic(weft__progress *) progress; /* NULL: `completed` is moved on by who does the work */
    _Atomic uint32_t trace_row;         /* of a stream's, if there is a trace; else 0 */
};

/* "after number `sequence` on this timeline"; a NULL timeline is always done. */
typedef struct weft__point {
    weft__timeline *timeline;
    uint64_t sequence;
} weft__point;

weft__timeline *weft__timeline_new(void); /* NULL if memory ran out */
void weft__timeline_release(weft__timeline *timeline);
/* Everything up to `sequence` is done: wakes who waits. */
void weft__timeline_complete(weft__timeline *timeline, uint64_t sequence);
/* Waits on this thread; does not count as a hidden wait, the caller decides that. */
void weft__timeline_wait(weft__timeline *timeline, uint64_t sequence);

/* Asks the device whether a point that is not known to be done is. */
bool weft__point_ask(weft__point point);
static inline bool weft__point_done(weft__point point)
{
    return !point.timeline || atomic_load(&point.timeline->completed) >= point.sequence ||
           (atomic_load_explicit(&point.timeline->progress, memory_order_relaxed) &&
            weft__point_ask(point));
}
/* Brings `completed` and the failures up to date, where the device has to be asked. No lock is
 * held. */
void weft__timeline_look(weft__timeline *timeline);

void weft__timeline_fork(weft__fork_stage stage);
/* After fork, in the child: no thread but this one, whose state is `owner`, is left. */
void weft__timeline_after_fork(const void *owner);
/* When the library is unloaded. */
void weft__timeline_free_all(void);

#endif
