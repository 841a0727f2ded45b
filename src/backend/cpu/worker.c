/* The workers of all asynchronous streams: their lives, and what happens to them at fork and at the
 * end. */
#include "backend/cpu/worker.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/futex.h"
#include "backend/thread.h"
#include "core/allocate.h"
#include <errno.h>
#include <string.h>

enum { LOOK_NANOSECONDS = 100000 }; /* how often to look at what nobody announces */

static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards what follows; held during fork */
static weft__worker *workers;
static bool orphan_left; /* a thread that outlived its worker is to be joined: */
static pthread_t orphan_thread;

static _Atomic bool ending; /* of the process, or of the library */
static pthread_t ending_thread;

static void link_worker(weft__worker *worker)
{
    pthread_mutex_lock(&mutex);
    worker->next = workers;
    if (workers)
        workers->previous = worker;
    workers = worker;
    pthread_mutex_unlock(&mutex);
}

/* With the mutex held. */
static void unlink_worker(weft__worker *worker)
{
    if (worker->previous)
        worker->previous->next = worker->next;
    else
        workers = worker->next;
    if (worker->next)
        worker->next->previous = worker->previous;
}

weft__worker *weft__worker_new(weft_stream *stream)
{
    weft__worker *worker = weft__allocate_zeroed(sizeof *worker);
    if (!worker)
        return NULL;
    worker->stream = stream;
    if (stream->profiling && !(worker->times = weft__times_new())) {
        weft__free(worker);
        return NULL;
    }
    link_worker(worker);
    return worker;
}

static void free_worker(weft__worker *worker)
{
    weft__queue_close(&worker->queue);
    weft__free(worker->times);
    weft__free(worker);
}

/* Makes the caller the one who joins the thread, if nobody is yet. */
static bool claim_thread(weft__worker *worker)
{
    if (!atomic_exchange(&worker->joinable, false))
        return false;
    weft__allocation_end();
    return true;
}

static void stop_worker(weft__worker *worker)
{
    WEFT__STORE_FIRST(&worker->stop, true);
    weft__worker_wake(worker);
}

/* The thread of the stream, with no work left, has released the last reference to it. It cannot
 * join itself; the next thread in this position does, or the end of the library. */
static void close_orphan(weft__worker *worker)
{
    pthread_t before;
    pthread_mutex_lock(&mutex);
    unlink_worker(worker);
    bool claimed = claim_thread(worker), join = claimed && orphan_left;
    if (claimed) {
        before = orphan_thread;
        orphan_thread = pthread_self();
        orphan_left = true;
    }
    pthread_mutex_unlock(&mutex);
    if (join)
        pthread_join(before, NULL);
    free_worker(worker);
}

/* If another thread is joining it, at the end of the library, its activity tells when it has ended.
 */
static void end_thread(weft__worker *worker)
{
    uint32_t activity;
    stop_worker(worker);
    if (claim_thread(worker))
        pthread_join(worker->thread, NULL);
    while ((activity = atomic_load(&worker->activity)) != WEFT__WORKER_ABSENT)
        weft__futex_wait(&worker->activity, activity, LOOK_NANOSECONDS);
    pthread_mutex_lock(&worker->stream->mutex); /* which the thread may be about to unlock */
    pthread_mutex_unlock(&worker->stream->mutex);
}

void weft__worker_close(weft__worker *worker)
{
    if (weft__worker_current() == worker) {
        if (worker->orphan) {
            close_orphan(worker);
        } else {
            worker->orphan = true;
            atomic_store(&worker->stream->references, 1);
        }
        return;
    }
    end_thread(worker);
    pthread_mutex_lock(&mutex);
    unlink_worker(worker);
    pthread_mutex_unlock(&mutex);
    free_worker(worker);
}

/* Starts the thread of a worker that has none; 0 or an errno. */
static int start_thread(weft__worker *worker)
{
    if (!weft__allocation_begin(0))
        return ENOMEM;
    atomic_store(&worker->stop, false);
    atomic_store(&worker->activity, WEFT__WORKER_RESTING);
    int error =
        weft__backend_thread_start(&worker->thread, "weft-stream", weft__worker_main, worker);
    if (error) {
        atomic_store(&worker->activity, WEFT__WORKER_ABSENT);
        weft__allocation_end();
        return error;
    }
    atomic_store(&worker->joinable, true);
    worker->present = true;
    return 0;
}

static weft_status ensure_thread(weft__worker *worker)
{
    TRY(weft__queue_open(&worker->queue));
    int error = start_thread(worker);
    if (error == ENOMEM)
        return FAIL(WEFT_ERROR_MEMORY, "there is no memory for the thread of the stream");
    if (error)
        return FAIL(WEFT_ERROR_SYSTEM,
                    "the system starts no thread for the stream: %s; release streams that are not "
                    "needed, or raise the limit of threads",
                    strerror(error));
    return WEFT_OK;
}

/* Threads that go on and on would keep the process from its end. What work itself queues is done.
 */
static weft_status check_ending(void)
{
    if (!atomic_load_explicit(&ending, memory_order_acquire) || weft__in_callback() ||
        pthread_equal(pthread_self(), ending_thread))
        return WEFT_OK;
    return FAIL(WEFT_ERROR_STREAM, "the process ends, in another thread: what was queued is "
                                   "finished, and nothing is added to it");
}

weft_status weft__worker_submit(weft__worker *worker, const weft__work *work)
{
    TRY(check_ending());
    if (!worker->present)
        TRY(ensure_thread(worker));
    TRY(weft__queue_push(&worker->queue, work));
    weft__worker_wake(worker);
    return WEFT_OK;
}

void weft__workers_pause(void)
{
    const weft__worker *own = weft__worker_current();
    pthread_mutex_lock(&mutex);
    weft__worker_gate(true);
    for (weft__worker *worker = workers; worker; worker = worker->next)
        while (worker != own && atomic_load(&worker->activity) == WEFT__WORKER_RUNNING)
            weft__futex_wait(&worker->activity, WEFT__WORKER_RUNNING, LOOK_NANOSECONDS);
}

void weft__workers_resume(void)
{
    weft__worker_gate(false);
    pthread_mutex_unlock(&mutex);
}

/* In the child of a fork: the thread is not here. One that had nothing left to do comes back with
 * the next work. A stream that was being released by its own thread stays as it is. */
static void revive(weft__worker *worker)
{
    uint32_t activity = atomic_load(&worker->activity);
    claim_thread(worker);
    worker->present = false;
    atomic_store(&worker->sleeping, 0);
    atomic_store(&worker->activity, WEFT__WORKER_ABSENT);
    bool interrupted = activity == WEFT__WORKER_CALLING || activity == WEFT__WORKER_COMPLETING;
    if (interrupted)
        worker->interrupted = activity;
    bool left = worker->interrupted || !weft__queue_empty(&worker->queue) || worker->orphan;
    if (left && activity != WEFT__WORKER_LEAVING)
        start_thread(worker);
}

void weft__workers_after_fork(void)
{
    const weft__worker *own = weft__worker_current();
    orphan_left = false;
    atomic_store(&ending, false);
    weft__worker_gate(false);
    for (weft__worker *worker = workers; worker; worker = worker->next)
        if (worker != own)
            revive(worker);
    pthread_mutex_unlock(&mutex);
}

/* Ends one thread, once its queue is empty; false if there is none. */
static bool end_one(const weft__worker *own)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    bool found = orphan_left;
    if (found)
        thread = orphan_thread;
    orphan_left = false;
    for (weft__worker *worker = workers; worker && !found; worker = worker->next)
        if (worker != own && claim_thread(worker)) {
            found = true;
            thread = worker->thread;
            stop_worker(worker);
        }
    pthread_mutex_unlock(&mutex);
    if (found)
        pthread_join(thread, NULL);
    return found;
}

void weft__workers_finish(void)
{
    weft__worker *own = weft__worker_current();
    ending_thread = pthread_self();
    atomic_store(&ending, true);
    if (own) {
        claim_thread(own);
        own->interrupted = atomic_load(&own->activity);
    }
    /* functions that are called meanwhile may give work to other streams, and to this one */
    do {
        do {
            if (own)
                weft__worker_take_over(own);
        } while (end_one(own));
    } while (own && !weft__worker_leave(own));
}
