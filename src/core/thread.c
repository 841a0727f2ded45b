/* The state of each thread, freed when the thread or the library goes away. */
#include "core/thread.h"
#include "core/allocate.h"
#include "core/library.h"
#include "core/pool.h"
#include <sched.h>

WEFT__THREAD_LOCAL weft__thread *weft__thread_state;
static pthread_key_t key; /* its destructor runs when a thread ends */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static weft__thread *threads;
static bool closed; /* guarded too: no thread comes any more, for the process ends */
static _Atomic uint64_t reading_epoch = 1;
static weft__thread_counts ended; /* of threads that are gone; guarded too */

static void unlink_thread(weft__thread *thread)
{
    pthread_mutex_lock(&mutex);
    weft__thread **link = &threads;
    while (*link && *link != thread)
        link = &(*link)->next;
    if (*link)
        *link = thread->next;
    ended.magazine_hits += atomic_load(&thread->magazine_hits);
    ended.launches += atomic_load(&thread->launches);
    pthread_mutex_unlock(&mutex);
}

weft__thread_counts weft__thread_count(void)
{
    pthread_mutex_lock(&mutex);
    weft__thread_counts all = ended;
    for (weft__thread *thread = threads; thread; thread = thread->next) {
        all.magazine_bytes += atomic_load_explicit(&thread->magazine_bytes, memory_order_relaxed);
        all.magazine_hits += atomic_load_explicit(&thread->magazine_hits, memory_order_relaxed);
        all.launches += atomic_load_explicit(&thread->launches, memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
    return all;
}

static void free_thread(weft__thread *thread)
{
    for (int i = 0; i < thread->streams_count; i++)
        weft_stream_release(thread->streams[i].stream);
    if (thread->sites)
        thread->sites_free(thread->sites);
    if (thread->kernels)
        thread->kernels_free(thread->kernels);
    if (thread->functions)
        thread->functions_free(thread->functions);
    if (thread->recorder)
        thread->recorder_free(thread->recorder);
    weft__magazines_flush(thread);
    for (int i = 0; i < WEFT__DEPTH_MAX; i++)
        weft__timeline_release(thread->timelines[i]);
    weft__reserve_free(&thread->reserve);
    weft__free(thread->scratch);
    weft__free(thread);
}

static void end_thread(void *argument)
{
    weft__thread *thread = argument;
    unlink_thread(thread);
    free_thread(thread);
    weft__thread_state = NULL;
}

static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

/* Not where the process ends: what a thread would use may be gone, and so is the key. */
static weft_status link_thread(weft__thread *thread)
{
    pthread_mutex_lock(&mutex);
    const bool late = closed, linked = !late && key_made && pthread_setspecific(key, thread) == 0;
    if (linked) {
        thread->next = threads;
        threads = thread;
    }
    pthread_mutex_unlock(&mutex);
    if (late)
        return FAIL(WEFT_ERROR_STREAM, "the process ends: nothing is computed any more");
    return linked
               ? WEFT_OK
               : FAIL(WEFT_ERROR_MEMORY, "the system has no memory left for this thread's state");
}

weft__thread *weft__thread_make(void)
{
    pthread_once(&key_once, make_key);
    weft__thread *thread = weft__allocate_zeroed(sizeof *thread);
    if (!thread)
        return NULL;
    thread->scratch = weft__allocate(WEFT__SCRATCH_BYTES + 64);
    thread->epoch = weft__memory_epoch();
    if (!thread->scratch || link_thread(thread) != WEFT_OK) {
        weft__free(thread->scratch);
        weft__free(thread);
        return NULL;
    }
    weft__thread_state = thread;
    return thread;
}

weft__timeline *weft__thread_timeline_make(void)
{
    weft__thread *thread = weft__thread_get();
    if (!thread)
        return NULL;
    if (thread->depth >= WEFT__DEPTH_MAX)
        return FAIL_NULL(WEFT_ERROR_ARGUMENT,
                         "functions that streams call are nested %d deep, which is the most",
                         WEFT__DEPTH_MAX);
    weft__timeline **timeline = &thread->timelines[thread->depth];
    if (!*timeline && (*timeline = weft__timeline_new()))
        atomic_store(&(*timeline)->owner, thread);
    return *timeline;
}

/* Threads take numbers from blocks of their own. */
uint64_t weft__thread_number(void)
{
    enum { BLOCK = 1 << 20 };
    static _Atomic uint64_t blocks = 1;
    static WEFT__THREAD_LOCAL uint64_t last;
    if (last % BLOCK == BLOCK - 1 || last == 0)
        last = atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed) * BLOCK;
    return ++last;
}

void weft__thread_reading(bool begin)
{
    if (begin && weft__thread_state->reading_depth++ == 0)
        WEFT__STORE_FIRST(&weft__thread_state->reading,
                          atomic_load(&reading_epoch)); /* before what is read then */
    if (!begin && --weft__thread_state->reading_depth == 0)
        atomic_store_explicit(&weft__thread_state->reading, 0, memory_order_release);
}

static bool others_read(uint64_t until)
{
    bool read = false;
    pthread_mutex_lock(&mutex);
    for (weft__thread *thread = threads; thread && !read; thread = thread->next) {
        uint64_t since = atomic_load(&thread->reading);
        read = thread != weft__thread_state && since != 0 && since <= until;
    }
    pthread_mutex_unlock(&mutex);
    return read;
}

uint64_t weft__thread_quiesce_begin(void) { return atomic_fetch_add(&reading_epoch, 1); }

bool weft__thread_quiesced(uint64_t until)
{
    return !others_read(until) && !weft__stream_any_again();
}

void weft__thread_quiesce(uint64_t until)
{
    while (!weft__thread_quiesced(until))
        sched_yield();
}

bool weft__thread_close(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    pthread_mutex_unlock(&mutex);
    if (key_made)
        pthread_key_delete(key);
    if (weft__thread_state)
        end_thread(weft__thread_state);
    pthread_mutex_lock(&mutex);
    bool alone = !threads;
    pthread_mutex_unlock(&mutex);
    return alone;
}

void weft__thread_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }

void weft__thread_after_fork(void)
{
    closed = false; /* the process that ends is the other one */
    for (weft__thread *thread = threads, *next; thread; thread = next) {
        next = thread->next;
        if (thread == weft__thread_state)
            continue;
        unlink_thread(thread); /* what it cached and held stays allocated, and unused */
    }
}
