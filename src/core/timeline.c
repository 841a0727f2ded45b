/* Timelines: numbering work, finishing it, and waiting for it. */
#include "core/timeline.h"
#include "core/allocate.h"
#include "core/buffer.h"
#include "core/library.h"
#include <sched.h>
#include <stdlib.h>

enum { SLAB_SIZE = 64, SPINS = 200 };

typedef struct slab {
    struct slab *next;
    void *block; /* that it is in: it begins with a line of the cache */
    weft__timeline timelines[SLAB_SIZE];
} slab;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static slab *slabs;
static weft__timeline *free_list;

static bool add_slab(void)
{
    enum { LINE = _Alignof(slab) };
    char *block = weft__allocate_zeroed(sizeof(slab) + LINE);
    if (!block)
        return false;
    slab *more = (slab *)(void *)(block + (LINE - (uintptr_t)block % LINE) % LINE);
    more->block = block;
    weft__allocation_end(); /* never given back while the library is loaded */
    more->next = slabs;
    slabs = more;
    for (int i = 0; i < SLAB_SIZE; i++) {
        weft__timeline *timeline = &more->timelines[i];
        pthread_mutex_init(&timeline->mutex, NULL);
        pthread_cond_init(&timeline->changed, NULL);
        timeline->next_free = free_list;
        free_list = timeline;
    }
    return true;
}

weft__timeline *weft__timeline_new(void)
{
    weft__timeline *timeline = NULL;
    pthread_mutex_lock(&mutex);
    if (free_list || add_slab()) {
        timeline = free_list;
        free_list = timeline->next_free;
        timeline->next_free = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return timeline;
}

void weft__timeline_release(weft__timeline *timeline)
{
    if (!timeline)
        return;
    timeline->stream = NULL;
    atomic_store(&timeline->owner, NULL);
    atomic_store(&timeline->progress, NULL);
    atomic_store(&timeline->trace_row, 0);
    atomic_store(&timeline->uses_count, 0); /* a stream may be the next to have it */
    atomic_store(&timeline->window, 0);
    atomic_store(&timeline->window_first, 0); /* all that it had is done, whoever is the next */
    atomic_store(&timeline->launches, 0);
    pthread_mutex_lock(&mutex);
    timeline->next_free = free_list;
    free_list = timeline;
    pthread_mutex_unlock(&mutex);
}

void weft__timeline_complete(weft__timeline *timeline, uint64_t sequence)
{
    WEFT__STORE_FIRST(&timeline->completed, sequence);
    if (atomic_load(&timeline->waiters) != 0) {
        pthread_mutex_lock(&timeline->mutex);
        pthread_cond_broadcast(&timeline->changed);
        pthread_mutex_unlock(&timeline->mutex);
    }
    if (atomic_load(&weft__retired_count) != 0)
        weft__retired_sweep();
}

bool weft__point_ask(weft__point point)
{
    weft__progress *progress = atomic_load(&point.timeline->progress);
    if (progress)
        progress->look(progress, point.timeline, false);
    return atomic_load(&point.timeline->completed) >= point.sequence;
}

void weft__timeline_look(weft__timeline *timeline)
{
    weft__progress *progress = timeline ? atomic_load(&timeline->progress) : NULL;
    if (progress)
        progress->look(progress, timeline, true);
}

void weft__timeline_wait(weft__timeline *timeline, uint64_t sequence)
{
    weft__point point = {timeline, sequence};
    weft__progress *progress = atomic_load(&timeline->progress);
    if (progress) {
        progress->wait(progress, timeline, sequence);
        return;
    }
    for (int i = 0; i < SPINS; i++) {
        if (weft__point_done(point))
            return;
        if (i % 16 == 15)
            sched_yield();
    }
    atomic_fetch_add(&timeline->waiters, 1);
    pthread_mutex_lock(&timeline->mutex);
    while (atomic_load(&timeline->completed) < sequence)
        pthread_cond_wait(&timeline->changed, &timeline->mutex);
    pthread_mutex_unlock(&timeline->mutex);
    atomic_fetch_sub(&timeline->waiters, 1);
}

void weft__timeline_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }

void weft__timeline_after_fork(const void *owner)
{
    for (slab *s = slabs; s; s = s->next)
        for (int i = 0; i < SLAB_SIZE; i++) {
            weft__timeline *timeline = &s->timelines[i];
            pthread_mutex_init(&timeline->mutex, NULL);
            pthread_cond_init(&timeline->changed, NULL);
            atomic_store(&timeline->waiters, 0);
            atomic_store(&timeline->turn, 0);
            /* of a thread that is not here any more */
            if (!timeline->stream && (!owner || atomic_load(&timeline->owner) != owner))
                atomic_store(&timeline->completed, atomic_load(&timeline->submitted));
        }
}

void weft__timeline_free_all(void)
{
    pthread_mutex_lock(&mutex); /* the last to use them may have been a thread that nobody joined */
    for (slab *s = slabs, *next; s; s = next) {
        next = s->next;
        free(s->block);
    }
    slabs = NULL;
    free_list = NULL;
    pthread_mutex_unlock(&mutex);
}
