/* The thread of a stream's worker: does what is in the queue, one after the other. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/futex.h"
#include "backend/cpu/worker.h"
#include "core/traced.h"

/* Before it sleeps a worker looks for work this long: waking it costs the submitter about as much.
 */
enum { SPIN_NANOSECONDS = 5000 };

static _Atomic uint32_t gate; /* 1: closed */
static WEFT__THREAD_LOCAL weft__worker *current;

weft__worker *weft__worker_current(void) { return current; }

void weft__worker_gate(bool closed)
{
    WEFT__STORE_FIRST(&gate, closed);
    if (!closed)
        weft__futex_wake(&gate, INT_MAX);
}

/* Begins to run, once the gate is open. Whoever closes it reads the activity after that, so either
 * he sees RUNNING and waits for its end, or the gate is seen here. */
static void enter(weft__worker *worker, weft__activity from)
{
    for (;;) {
        WEFT__STORE_FIRST(&worker->activity, WEFT__WORKER_RUNNING);
        if (!atomic_load(&gate))
            return;
        atomic_store(&worker->activity, from);
        while (atomic_load(&gate))
            weft__futex_wait(&gate, 1, 0);
    }
}

static void become(weft__worker *worker, weft__activity activity)
{
    atomic_store_explicit(&worker->activity, activity, memory_order_release);
}

static void wait_points(weft__worker *worker, const weft__work *work)
{
    become(worker, WEFT__WORKER_WAITING);
    for (uint32_t i = 0; i < work->waits_count; i++)
        if (weft__point_done(work->waits[i]))
            continue;
        else if (weft__tracing())
            weft__traced_wait(work->waits[i], work->timeline);
        else
            weft__timeline_wait(work->waits[i].timeline, work->waits[i].sequence);
    enter(worker, WEFT__WORKER_WAITING);
}

static weft_status do_work(weft__worker *worker, const weft__work *work)
{
    if (work->kind != WEFT__WORK_CALL)
        return weft__cpu_work_run(work);
    become(worker, WEFT__WORKER_CALLING);
    weft_status status = weft__cpu_work_run(work);
    enter(worker, WEFT__WORKER_CALLING);
    return status;
}

static weft_status run_work(weft__worker *worker, const weft__work *work)
{
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    const weft_status status = do_work(worker, work);
    if (begin)
        weft__traced_work(worker->stream, work, begin);
    return status;
}

/* The first work in the queue is done, one way or the other. */
static void complete(weft__worker *worker, const weft__work *work)
{
    become(worker, WEFT__WORKER_COMPLETING);
    weft__work_complete(work);
    enter(worker, WEFT__WORKER_COMPLETING);
    weft__queue_pop(&worker->queue);
}

static void run_first(weft__worker *worker, const weft__work *work)
{
    if (work->waits_count)
        wait_points(worker, work);
    if (weft__work_begin(work))
        weft__work_end(worker->stream, work, run_work(worker, work));
    if (worker->times && work->kind == WEFT__WORK_NONE)
        weft__times_add(worker->times, work->sequence, weft__nanoseconds());
    complete(worker, work);
}

static void run_queue(weft__worker *worker)
{
    const weft__work *work;
    enter(worker, WEFT__WORKER_RESTING);
    while ((work = weft__queue_first(&worker->queue)))
        run_first(worker, work);
    become(worker, WEFT__WORKER_RESTING);
}

static void recover(weft__worker *worker)
{
    uint32_t interrupted = worker->interrupted;
    worker->interrupted = WEFT__WORKER_ABSENT;
    if (interrupted != WEFT__WORKER_CALLING && interrupted != WEFT__WORKER_COMPLETING)
        return;
    enter(worker, (weft__activity)interrupted);
    const weft__work *work = weft__queue_first(&worker->queue);
    if (interrupted == WEFT__WORKER_CALLING) {
        weft__operation_begin(work->operation);
        weft_status status =
            FAIL(WEFT_ERROR_SYSTEM,
                 "the function that the stream was calling did not return: the process "
                 "forked meanwhile, or the function itself ended the process");
        weft__work_end(worker->stream, work, status);
    }
    complete(worker, work);
}

void weft__worker_take_over(weft__worker *worker)
{
    current = worker;
    recover(worker);
    run_queue(worker);
    current = NULL;
}

static bool has_work(weft__worker *worker) { return !weft__queue_empty(&worker->queue); }

static bool must_end(weft__worker *worker) { return atomic_load(&worker->stop) || worker->orphan; }

/* Returns when there is work, or false if there is none and the thread is to end. */
static bool wait_for_work(weft__worker *worker)
{
    uint64_t until = weft__cpu_may_spin() ? weft__nanoseconds() + SPIN_NANOSECONDS : 0;
    while (!has_work(worker)) {
        if (must_end(worker))
            return false;
        if (until && weft__spin(until))
            continue;
        until = 0;
        WEFT__STORE_FIRST(&worker->sleeping, 1);
        if (!has_work(worker) && !must_end(worker))
            weft__futex_wait(&worker->sleeping, 1, 0);
        atomic_store(&worker->sleeping, 0);
    }
    return true;
}

void weft__worker_wake(weft__worker *worker)
{
    if (atomic_load(&worker->sleeping) && atomic_exchange(&worker->sleeping, 0))
        weft__futex_wake(&worker->sleeping, 1);
}

bool weft__worker_leave(weft__worker *worker)
{
    become(worker, WEFT__WORKER_LEAVING);
    if (worker->orphan)
        return true;
    pthread_mutex_lock(&worker->stream->mutex);
    bool done = !has_work(worker);
    worker->present = !done;
    become(worker, done ? WEFT__WORKER_ABSENT : WEFT__WORKER_RESTING);
    pthread_mutex_unlock(&worker->stream->mutex);
    return done;
}

void *weft__worker_main(void *argument)
{
    weft__worker *worker = argument;
    weft_stream *orphan;
    current = worker;
    recover(worker);
    do {
        do {
            run_queue(worker);
        } while (wait_for_work(worker));
        orphan = worker->orphan ? worker->stream : NULL;
    } while (
        !weft__worker_leave(worker)); /* after this the worker may be gone, if it is no orphan */
    weft_stream_release(orphan);
    current = NULL;
    return NULL;
}
