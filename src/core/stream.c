/* Streams: making and releasing them, the current one of a thread, failures, waiting. */
#include "core/stream.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/record.h"
#include "core/window.h"
#include "trace/trace.h"
#include <string.h>

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static weft_stream *list;
static uint64_t made;

void weft__stream_list_lock(void) { pthread_mutex_lock(&list_mutex); }

void weft__stream_submission_lock(weft_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    if (stream->timeline && stream->backend->claims) {
        weft__turn_take(stream->timeline, WEFT__TURN_LOCKS);
        weft__window_end(stream->timeline);
    }
}

void weft__stream_submission_unlock(weft_stream *stream)
{
    if (stream->timeline && stream->backend->claims)
        weft__turn_end(stream->timeline);
    pthread_mutex_unlock(&stream->mutex);
}

void weft__stream_submissions_lock(void)
{
    for (weft_stream *stream = list; stream; stream = stream->next)
        weft__stream_submission_lock(stream);
}

void weft__stream_submissions_unlock(void)
{
    for (weft_stream *stream = list; stream; stream = stream->next)
        weft__stream_submission_unlock(stream);
}

void weft__stream_list_unlock(void) { pthread_mutex_unlock(&list_mutex); }

void weft__stream_list_after_fork(void)
{
    pthread_mutex_init(&list_mutex, NULL);
    for (weft_stream *stream = list; stream; stream = stream->next)
        pthread_mutex_init(&stream->mutex, NULL);
}

void weft__stream_each(void (*visit)(weft_stream *stream, void *argument), void *argument)
{
    weft__stream_list_lock();
    for (weft_stream *stream = list; stream; stream = stream->next)
        visit(stream, argument);
    weft__stream_list_unlock();
}

static void link_stream(weft_stream *stream)
{
    weft__stream_list_lock();
    stream->next = list;
    stream->number = made++;
    if (list)
        list->previous = stream;
    list = stream;
    weft__stream_list_unlock();
    if (weft__tracing() && stream->timeline)
        atomic_store(&stream->timeline->trace_row,
                     weft__trace_new_row(stream->device, stream->number));
}

static uint64_t launches_of(const weft_stream *stream)
{
    return stream->timeline ? atomic_load(&stream->timeline->launches) : 0;
}

uint64_t weft__stream_launches(weft__device *device)
{
    weft__stream_list_lock();
    uint64_t launches = atomic_load(&device->statistics.launches);
    for (const weft_stream *stream = list; stream; stream = stream->next)
        if (weft_device_equal(stream->device, device->id))
            launches += launches_of(stream);
    weft__stream_list_unlock();
    return launches;
}

/* The turn first: if the window is a new one by then, a turn of an older one has ended. */
static bool is_again(const weft__timeline *timeline, uint64_t generation)
{
    return timeline && atomic_load(&timeline->turn) == WEFT__TURN_AGAIN &&
           atomic_load(&timeline->window_generation) != generation;
}

bool weft__stream_any_again(void)
{
    const uint64_t generation = atomic_load(&weft__generation);
    bool any = false;
    weft__stream_list_lock();
    for (const weft_stream *stream = list; stream && !any; stream = stream->next)
        any = is_again(stream->timeline, generation);
    weft__stream_list_unlock();
    return any;
}

static void unlink_stream(weft_stream *stream)
{
    weft__stream_list_lock();
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        list = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    COUNT(weft__device_get(stream->device)->statistics.launches, launches_of(stream));
    weft__stream_list_unlock();
}

static void free_stream(weft_stream *stream)
{
    weft__failures_drop(&stream->failures);
    weft__timeline_release(stream->timeline);
    pthread_mutex_destroy(&stream->mutex);
    weft__free(stream);
}

/* `foreign` is the handle that the stream wraps, or NULL. */
static weft_stream *new_stream(weft__device *device, const weft_stream_options *options,
                               void *foreign)
{
    weft_stream *stream = weft__thread_get() ? weft__allocate_zeroed(sizeof *stream) : NULL;
    if (!stream)
        return NULL;
    atomic_init(&stream->references, 1);
    pthread_mutex_init(&stream->mutex, NULL);
    stream->device = device->id;
    stream->backend = device->backend;
    stream->async = options->async;
    stream->profiling = options->profiling;
    stream->priority = options->priority;
    if (stream->async && !(stream->timeline = weft__timeline_new())) {
        free_stream(stream);
        return NULL;
    }
    if (stream->timeline)
        stream->timeline->stream = stream;
    weft_status status = foreign ? stream->backend->stream_wrap(stream, foreign)
                                 : stream->backend->stream_open(stream);
    if (status != WEFT_OK) {
        free_stream(stream);
        return NULL;
    }
    link_stream(stream);
    return stream;
}

weft_stream *weft_stream_new_with(weft_device id, const weft_stream_options *options)
{
    weft_stream_options all = {.struct_size = sizeof all};
    OPERATION("weft_stream_new");
    weft__options_copy(&all, sizeof all, options);
    weft__device *device = weft__device_get(id);
    return device ? new_stream(device, &all, NULL) : NULL;
}

weft_stream *weft_stream_wrap(weft_device id, void *handle)
{
    weft_stream_options options = {.struct_size = sizeof options, .async = true};
    OPERATION("weft_stream_wrap");
    weft__device *device = weft__device_get(id);
    if (!device)
        return NULL;
    if (!device->backend->stream_wrap)
        return FAIL_AT_NULL(WEFT_ERROR_UNSUPPORTED, "device",
                            "%s has no streams but Weft's own; make one with weft_stream_new",
                            device->name);
    return new_stream(device, &options, handle);
}

weft_stream *weft_stream_retain(weft_stream *stream)
{
    if (stream)
        atomic_fetch_add(&stream->references, 1);
    return stream;
}

void weft_stream_release(weft_stream *stream)
{
    if (!stream || atomic_fetch_sub(&stream->references, 1) != 1)
        return;
    if (stream->timeline && !weft__in_callback_of(stream)) {
        weft__point last = {stream->timeline, atomic_load(&stream->timeline->submitted)};
        weft__wait_points(&last, 1, stream->device, false);
    }
    stream->backend->stream_close(stream);
    if (atomic_load(&stream->references) != 0)
        return; /* its own work released it: the backend does, when that is done */
    unlink_stream(stream);
    free_stream(stream);
}

weft_device weft_stream_device(const weft_stream *stream)
{
    return stream ? stream->device : WEFT_NO_DEVICE;
}

bool weft_stream_is_async(const weft_stream *stream) { return stream && stream->async; }

bool weft_stream_equivalent(const weft_stream *a, const weft_stream *b)
{
    return a && b && weft_device_equal(a->device, b->device) && a->async == b->async &&
           a->profiling == b->profiling && a->priority == b->priority;
}

/* On the CPU it is the calling thread. */
static weft_stream *default_stream(weft__device *device)
{
    const weft_stream_options options = {.struct_size = sizeof options,
                                         .async = device->id.kind != WEFT_DEVICE_CPU};
    weft_stream *stream = atomic_load_explicit(&device->default_stream, memory_order_acquire);
    if (stream)
        return stream;
    pthread_mutex_lock(&device->mutex);
    if (!(stream = atomic_load(&device->default_stream))) {
        stream = new_stream(device, &options, NULL);
        atomic_store_explicit(&device->default_stream, stream, memory_order_release);
    }
    pthread_mutex_unlock(&device->mutex);
    return stream;
}

/* The entry of a device, or the number of entries if it has none. */
static int find_current(const weft__thread *thread, weft_device device)
{
    int i = 0;
    while (i < thread->streams_count && !weft_device_equal(thread->streams[i].device, device))
        i++;
    return i;
}

static void forget_current(weft__thread *thread, int at)
{
    weft_stream *stream = thread->streams[at].stream;
    thread->streams[at] = thread->streams[--thread->streams_count];
    thread->streams_moved++;
    weft_stream_release(stream);
}

weft_stream *weft__stream_current(weft_device id)
{
    weft__device *device = weft__device_get(id);
    weft__thread *thread = device ? weft__thread_get() : NULL;
    if (!thread)
        return NULL;
    int at = find_current(thread, id);
    if (at < thread->streams_count) {
        if (thread->streams[at].reset == atomic_load(&device->resets))
            return thread->streams[at].stream;
        forget_current(thread, at);
    }
    return default_stream(device);
}

weft_stream *weft__stream_default(weft_device id)
{
    weft__device *device = weft__device_get(id);
    return device ? default_stream(device) : NULL;
}

weft_stream *weft_stream_current(weft_device device)
{
    OPERATION("weft_stream_current");
    return weft__stream_current(device);
}

static weft_status set_current(weft__device *device, weft_stream *stream)
{
    weft__thread *thread = weft__thread_get();
    if (!thread)
        return WEFT_ERROR_MEMORY;
    int at = find_current(thread, device->id);
    if (at == WEFT__STREAMS_MAX)
        return FAIL(WEFT_ERROR_ARGUMENT, "a thread can have current streams on %d devices at most",
                    WEFT__STREAMS_MAX);
    weft_stream *kept = weft_stream_retain(stream);
    if (at < thread->streams_count)
        forget_current(thread, at);
    if (!kept)
        return WEFT_OK;
    at = thread->streams_count++;
    thread->streams_moved++;
    thread->streams[at].device = device->id;
    thread->streams[at].reset = atomic_load(&device->resets);
    thread->streams[at].stream = kept;
    return WEFT_OK;
}

weft_status weft_stream_set_current(weft_device id, weft_stream *stream)
{
    OPERATION("weft_stream_set_current");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if (stream && !weft_device_equal(stream->device, id))
        return FAIL_AT(WEFT_ERROR_PLACEMENT, "stream",
                       "the stream is on %s; a stream of %s was expected",
                       weft_device_id(stream->device), device->name);
    return set_current(device, stream);
}

weft__timeline *weft__stream_timeline(weft_stream *stream)
{
    return stream->timeline ? stream->timeline : weft__thread_timeline();
}

weft_status weft__stream_check_known(weft_stream *stream)
{
    weft__failure *failure;
    weft_status status = WEFT_OK;
    while (status == WEFT_OK &&
           atomic_load_explicit(&stream->failures.count, memory_order_relaxed) &&
           (failure = weft__failures_take(&stream->failures))) {
        if (!atomic_load(&failure->reported)) /* by an array */
            status = weft__failure_report(failure, WEFT_ERROR_STREAM);
        weft__failure_release(failure);
    }
    return status;
}

weft_status weft__stream_check(weft_stream *stream)
{
    if (stream->timeline)
        weft__timeline_look(stream->timeline);
    return weft__stream_check_known(stream);
}

void weft__stream_keep_failure(weft_stream *stream, weft__failure *failure)
{
    weft__failures_add(&stream->failures, failure);
    weft__generation_move();
}

/* A thread that uses streams has a state: exit() in another leaves alone then what it may use. */
static weft_status check_argument(const weft_stream *stream)
{
    if (!stream)
        return weft__fail_null("stream");
    return weft__thread_get() ? WEFT_OK : WEFT_ERROR_MEMORY;
}

static weft__point last_point(weft_stream *stream)
{
    weft__timeline *timeline = weft__stream_timeline(stream);
    return (weft__point){timeline, timeline ? atomic_load(&timeline->submitted) : 0};
}

weft_status weft__stream_wait(weft_stream *stream)
{
    weft__point last = last_point(stream);
    return weft__wait_points(&last, 1, stream->device, false);
}

weft_status weft_stream_synchronize(weft_stream *stream)
{
    OPERATION("weft_stream_synchronize");
    TRY(check_argument(stream));
    TRY(weft__record_refuse(WEFT__RECORD_WAITS));
    TRY(weft__stream_wait(stream));
    weft__pool_settle(weft__device_get(stream->device));
    return weft__stream_check(stream);
}

weft_status weft_stream_query(weft_stream *stream, bool *done)
{
    OPERATION("weft_stream_query");
    TRY(check_argument(stream));
    TRY(weft__check_result(done, "done"));
    *done = !stream->async || weft__point_done(last_point(stream));
    return weft__stream_check(stream);
}

static weft_status submit_wait(weft_stream *stream, weft__point point)
{
    weft__work work = {
        .kind = WEFT__WORK_NONE, .operation = weft__operation(), .waits = &point, .waits_count = 1};
    return weft__submit(stream, &work);
}

weft_status weft_stream_wait_stream(weft_stream *stream, weft_stream *other)
{
    OPERATION("weft_stream_wait_stream");
    TRY(check_argument(stream));
    TRY(check_argument(other));
    return submit_wait(stream, last_point(other));
}

weft_status weft__stream_wait_point(weft_stream *stream, weft__point point)
{
    return submit_wait(stream, point);
}

weft_status weft_stream_native(weft_stream *stream, void **handle)
{
    OPERATION("weft_stream_native");
    TRY(check_argument(stream));
    TRY(weft__check_result(handle, "handle"));
    *handle = NULL;
    if (!stream->backend->stream_native)
        return FAIL_AT(
            WEFT_ERROR_UNSUPPORTED, "stream",
            "a stream on %s has no native handle; to run code of your own in its order use "
            "weft_stream_call",
            weft_device_id(stream->device));
    return stream->backend->stream_native(stream, handle);
}

bool weft_waits_forbid(bool forbid)
{
    OPERATION("weft_waits_forbid");
    weft__thread *thread = weft__thread_get();
    bool old = thread && thread->waits_forbidden;
    if (thread)
        thread->waits_forbidden = forbid;
    return old;
}

static bool is_busy(weft_stream *stream, weft_device device)
{
    bool wanted = device.kind == WEFT_DEVICE_NONE || weft_device_equal(device, stream->device);
    return wanted && stream->async && !weft__point_done(last_point(stream));
}

/* In rounds of a fixed size, since this also runs when memory has run out; the waiting happens
 * without the list's lock. Each stream is looked at once, the youngest first, so new work and new
 * streams of other threads cannot make it go on for ever. */
void weft__stream_wait_all(weft_device device)
{
    enum { ROUND = 64 };
    weft__point points[ROUND];
    uint32_t busy;
    uint64_t below = UINT64_MAX; /* the streams that are left */
    do {
        busy = 0;
        weft__stream_list_lock();
        for (weft_stream *stream = list; stream && busy < ROUND; stream = stream->next)
            if (stream->number < below && is_busy(stream, device)) {
                points[busy++] = last_point(stream);
                below = stream->number;
            }
        weft__stream_list_unlock();
        if (weft__wait_points(points, busy, WEFT_CPU, false) != WEFT_OK)
            return;
    } while (busy == ROUND);
}
