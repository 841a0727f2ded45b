/* What each thread has of its own: contexts, current streams, its timeline, its cache of small
 * memory. */
#ifndef WEFT_CORE_THREAD_H
#define WEFT_CORE_THREAD_H

#include "core/allocate.h"
#include "core/stream.h"

enum {
    WEFT__CONTEXTS_MAX = 64,
    WEFT__STREAMS_MAX = 16,      /* devices with a current stream of their own */
    WEFT__DEPTH_MAX = 32,        /* work inside functions that work calls */
    WEFT__MAGAZINE_CLASSES = 81, /* size classes that a thread caches: up to 64 KiB */
    WEFT__MAGAZINE_DEPTH = 8,
    WEFT__SCRATCH_BYTES = 640 << 10 /* aligned to 64; kernels without folds touch 64 KiB */
};

typedef struct weft__thread {
    void *sites;                         /* what src/lang keeps for this thread … */
    void (*sites_free)(void *);          /* … and how it is freed */
    struct weft__recorder *recorder;     /* takes this thread's work while it records a graph … */
    void (*recorder_free)(void *handle); /* … and how it is freed */
    uint64_t streams_moved; /* how often a current stream of this thread has become another */
    bool sites_busy;        /* they are in use */
    weft_device contexts[WEFT__CONTEXTS_MAX];
    int contexts_count;
    struct {
        weft_device device;
        uint64_t reset; /* how often the device had been reset then */
        weft_stream *stream;
    } streams[WEFT__STREAMS_MAX];
    int streams_count;
    weft__timeline *timelines[WEFT__DEPTH_MAX]; /* of work done in this thread's calls, by depth */
    int depth; /* work inside work: a function of the user's that it calls may compute */
    bool waits_forbidden, lent_forbidden;
    uint64_t
        epoch; /* of the memory caches; a trim or reset by another thread moves the global one */
    struct {
        weft__buffer *first;
        uint32_t count;
    } magazines[WEFT__MAGAZINE_CLASSES];
    void *scratch; /* WEFT__SCRATCH_BYTES for kernels that run in this thread's calls, whose stack
                      may be small */
    _Atomic uint64_t magazine_bytes; /* cached there; written by this thread alone */
    _Atomic uint64_t magazine_hits;  /* allocations that were served from there, likewise */
    _Atomic uint64_t launches;       /* on the CPU, likewise */
    _Atomic uint64_t reading; /* since which epoch it uses compiled kernels; 0: it does not */
    int reading_depth;
    weft__reserve reserve; /* for programs that are under way */
    void *kernels;         /* the same as sites for portable kernels */
    void (*kernels_free)(void *);
    bool kernels_busy;
    void *functions; /* and for functions, which are marked as busy themselves */
    void (*functions_free)(void *);
    int functions_depth;       /* calls that are under way */
    struct weft__thread *next; /* all threads */
} weft__thread;

/* This thread's state, made at the first call. NULL, with the record set, if memory ran out
 * or the process ends. */
extern WEFT__THREAD_LOCAL weft__thread *weft__thread_state;
weft__thread *weft__thread_make(void);
static inline weft__thread *weft__thread_get(void)
{
    return weft__thread_state ? weft__thread_state : weft__thread_make();
}
/* NULL if this thread has none yet. */
static inline weft__thread *weft__thread_peek(void) { return weft__thread_state; }

/* The timeline of work done in this thread's calls, at the present depth. NULL, with the record
 * set, if memory ran out or the work is nested too deeply. */
weft__timeline *weft__thread_timeline_make(void);
static inline weft__timeline *weft__thread_timeline(void)
{
    const weft__thread *thread = weft__thread_state;
    bool made = thread && thread->depth < WEFT__DEPTH_MAX && thread->timelines[thread->depth];
    return made ? thread->timelines[thread->depth] : weft__thread_timeline_make();
}

/* A number that nobody else has or had: of an array whose dtype, shape, strides, memory or stream
 * are new, or of a window. */
uint64_t weft__thread_number(void);

/* Begins and ends the use of shared tables that are read without a lock; nests. */
void weft__thread_reading(bool begin);
/* A number for the next two: of the uses that have begun by now. Turns in which work is queued
 * again (core/window.h) count as uses, if the generation was moved before. */
uint64_t weft__thread_quiesce_begin(void);
/* Whether every other thread has ended the uses of that number. */
bool weft__thread_quiesced(uint64_t until);
/* Waits for that; uses that begin later do not delay it. */
void weft__thread_quiesce(uint64_t until);
/* Counts of all threads, for the CPU. */
typedef struct weft__thread_counts {
    uint64_t magazine_bytes; /* cached in magazines now */
    uint64_t magazine_hits, launches;
} weft__thread_counts;
weft__thread_counts weft__thread_count(void);
/* A counter that only one thread writes needs no atomic addition. */
static inline void weft__count_own(_Atomic uint64_t *counter, uint64_t amount)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + amount, memory_order_relaxed);
}
/* Frees this thread's state, when the library is unloaded or the process exits; no state is freed
 * after that. Whether no other thread has one. */
bool weft__thread_close(void);
void weft__thread_fork(weft__fork_stage stage);
/* After fork, in the child: the other threads' states are nobody's. */
void weft__thread_after_fork(void);

#endif
