/* The helper of a stream: jobs in order, done by one thread. */
#include "backend/helper.h"
#include "backend/call.h"
#include "backend/thread.h"
#include "core/allocate.h"
#include "core/traced.h"
#include <string.h>

typedef struct weft__helper_job job;
struct weft__helper_job {
    job *next;
    weft__pending *pending; /* whose function is called, or NULL */
    weft__gate gate;
    uint32_t count;
    weft__point points[];
};

struct weft__helper {
    weft_stream *stream;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    job *first, *last;
    bool started, stop;
    bool orphan; /* the thread owns the last reference of the stream */
    bool left;   /* by the stream, to whoever waits for the thread's end */
    pthread_t thread;
    weft__helper *next, *previous; /* all helpers */
};

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static weft__helper *list;

static WEFT__THREAD_LOCAL weft__helper *current;

weft__helper *weft__helper_new(weft_stream *stream)
{
    weft__helper *helper = weft__allocate_zeroed(sizeof *helper);
    if (!helper)
        return NULL;
    helper->stream = stream;
    pthread_mutex_init(&helper->mutex, NULL);
    pthread_cond_init(&helper->changed, NULL);
    pthread_mutex_lock(&list_mutex);
    helper->next = list;
    if (list)
        list->previous = helper;
    list = helper;
    pthread_mutex_unlock(&list_mutex);
    return helper;
}

/* With list_mutex held. */
static void free_helper(weft__helper *helper)
{
    if (helper->previous)
        helper->previous->next = helper->next;
    else
        list = helper->next;
    if (helper->next)
        helper->next->previous = helper->previous;
    pthread_mutex_destroy(&helper->mutex);
    pthread_cond_destroy(&helper->changed);
    weft__free(helper);
}

/* Its number is not done while the gate is shut, so nothing else records how it went. */
static void call(weft__helper *helper, weft__pending *pending)
{
    const weft__work *work = &pending->work;
    if (weft__work_begin(work)) {
        const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
        const weft_status status = weft__call_user(work, 0, 0);
        if (begin)
            weft__traced_work(helper->stream, work, begin);
        weft__work_end(helper->stream, work, status);
    }
    weft__operation_begin("weft"); /* the work's name may be the user's, and gone after this */
    atomic_store(&pending->settled, true);
}

static void do_job(weft__helper *helper, job *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        if (weft__point_done(j->points[i]))
            continue;
        else if (weft__tracing())
            weft__traced_wait(j->points[i], NULL);
        else
            weft__timeline_wait(j->points[i].timeline, j->points[i].sequence);
    if (j->pending)
        call(helper, j->pending);
    j->gate.open(j->gate.handle);
    weft__free(j);
}

/* NULL when the thread is to end. */
static job *next_job(weft__helper *helper)
{
    pthread_mutex_lock(&helper->mutex);
    while (!helper->first && !helper->stop && !helper->orphan)
        pthread_cond_wait(&helper->changed, &helper->mutex);
    job *j = helper->first;
    if (j)
        helper->first = j->next;
    pthread_mutex_unlock(&helper->mutex);
    return j;
}

static void *run(void *argument)
{
    weft__helper *helper = argument;
    current = helper;
    for (job *j; (j = next_job(helper));)
        do_job(helper, j);
    weft_stream *orphan = helper->orphan ? helper->stream : NULL;
    weft_stream_release(orphan); /* then the helper is gone */
    current = NULL;
    return NULL;
}

/* With the mutex held. */
static weft_status start(weft__helper *helper)
{
    if (helper->started)
        return WEFT_OK;
    const int error = weft__backend_thread_start(&helper->thread, "weft-helper", run, helper);
    if (error)
        return FAIL(WEFT_ERROR_SYSTEM,
                    "the system starts no thread for the stream: %s; release streams that are not "
                    "needed, or raise the limit of threads",
                    strerror(error));
    helper->started = true;
    return WEFT_OK;
}

weft__helper_job *weft__helper_prepare(weft__helper *helper, const weft__point *points,
                                       uint32_t count, weft__pending *pending, weft__gate gate)
{
    pthread_mutex_lock(&helper->mutex);
    const weft_status status = start(helper);
    pthread_mutex_unlock(&helper->mutex);
    job *j = status == WEFT_OK ? weft__allocate(sizeof *j + count * sizeof *points) : NULL;
    if (!j)
        return NULL;
    *j = (job){.pending = pending, .gate = gate, .count = count};
    if (count)
        memcpy(j->points, points, count * sizeof *points);
    return j;
}

void weft__helper_add(weft__helper *helper, weft__helper_job *j)
{
    pthread_mutex_lock(&helper->mutex);
    *(helper->first ? &helper->last->next : &helper->first) = j;
    helper->last = j;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->mutex);
}

void weft__helper_drop(weft__helper_job *j)
{
    j->gate.drop(j->gate.handle);
    weft__free(j);
}

static void end_thread(weft__helper *helper)
{
    pthread_mutex_lock(&helper->mutex);
    const bool started = helper->started;
    helper->started = false;
    helper->stop = true;
    pthread_cond_signal(&helper->changed);
    pthread_mutex_unlock(&helper->mutex);
    if (started)
        pthread_join(helper->thread, NULL);
}

void weft__helpers_finish(int32_t kind)
{
    pthread_mutex_lock(&list_mutex);
    for (weft__helper *helper = list, *next; helper; helper = next) {
        next = helper->next;
        if (helper == current || helper->stream->device.kind != kind)
            continue;
        end_thread(helper);
        if (helper->left)
            free_helper(helper);
    }
    pthread_mutex_unlock(&list_mutex);
}

void weft__helpers_after_fork(void)
{
    pthread_mutex_init(&list_mutex, NULL);
    for (weft__helper *helper = list; helper; helper = helper->next) {
        pthread_mutex_init(&helper->mutex, NULL);
        pthread_cond_init(&helper->changed, NULL);
        helper->started = false;
    }
}

/* By its own thread, which somebody may already be waiting for with the list locked. */
static void leave(weft__helper *helper)
{
    pthread_mutex_lock(&helper->mutex);
    const bool awaited = !helper->started;
    helper->started = false;
    helper->left = awaited;
    pthread_mutex_unlock(&helper->mutex);
    if (awaited)
        return;
    pthread_detach(pthread_self());
    pthread_mutex_lock(&list_mutex);
    free_helper(helper);
    pthread_mutex_unlock(&list_mutex);
}

bool weft__helper_close(weft__helper *helper)
{
    if (current == helper && !helper->orphan) {
        pthread_mutex_lock(&helper->mutex);
        helper->orphan = true;
        pthread_mutex_unlock(&helper->mutex);
        atomic_store(&helper->stream->references, 1);
        return false;
    }
    if (current == helper) {
        leave(helper);
        return true;
    }
    end_thread(helper);
    pthread_mutex_lock(&list_mutex);
    free_helper(helper);
    pthread_mutex_unlock(&list_mutex);
    return true;
}
