/* Streams on CUDA devices. What takes the host's part (functions of the user's, waiting for other
 * kinds of devices, copies of memory that the driver does not know) is done by the helper, and all
 * that follows until it has nothing left: the device itself never waits for the host. */
#include "backend/call.h"
#include "backend/cuda/cuda.h"
#include "core/allocate.h"
#include <string.h>

static weft_status open_handle(weft__cuda_stream *s)
{
    int least = 0, greatest = 0, priority = s->stream->priority;
    const bool entered = weft__cuda_enter(s->device);
    weft__cu.CtxGetStreamPriorityRange(&least, &greatest);
    priority = priority < greatest ? greatest : priority > least ? least : priority;
    const CUresult code =
        weft__cu.StreamCreateWithPriority(&s->handle, CU_STREAM_NON_BLOCKING, priority);
    weft__cuda_leave(entered);
    s->generation = atomic_load(&s->device->generation);
    return weft__cuda_check(s->device, "StreamCreateWithPriority", code);
}

static void free_stream(weft__cuda_stream *s)
{
    if (s->line)
        weft__line_close(s->line);
    if (s->handle && !s->foreign && weft__cuda_usable() && !atomic_load(&s->device->fault) &&
        s->generation == atomic_load(&s->device->generation)) {
        const bool entered = weft__cuda_enter(s->device);
        weft__cu.StreamDestroy(s->handle);
        weft__cuda_leave(entered);
    }
    weft__free(s);
}

static weft_status open_rest(weft_stream *stream, weft__cuda_stream *s)
{
    if (!stream->async)
        return WEFT_OK;
    if (!(s->helper = weft__helper_new(stream)))
        return WEFT_ERROR_MEMORY;
    return (s->line = weft__line_open(stream, &weft__cuda_line, s)) ? WEFT_OK : WEFT_ERROR_MEMORY;
}

static weft_status open_stream(weft_stream *stream, void *foreign)
{
    weft__cuda_device *device = weft__cuda_device_get(stream->device.index);
    weft__cuda_stream *s = device ? weft__allocate_zeroed(sizeof *s) : NULL;
    if (!s)
        return weft_error_code();
    *s = (weft__cuda_stream){.stream = stream,
                             .device = device,
                             .handle = foreign,
                             .foreign = foreign != NULL,
                             .generation = atomic_load(&device->generation)};
    stream->native = s;
    weft_status status = foreign ? WEFT_OK : open_handle(s);
    if (status == WEFT_OK)
        status = open_rest(stream, s);
    if (status != WEFT_OK) {
        if (s->helper)
            weft__helper_close(s->helper);
        free_stream(s);
    }
    return status;
}

weft_status weft__cuda_stream_open(weft_stream *stream) { return open_stream(stream, NULL); }

weft_status weft__cuda_stream_wrap(weft_stream *stream, void *handle)
{
    return open_stream(stream, handle);
}

void weft__cuda_stream_close(weft_stream *stream)
{
    weft__cuda_stream *s = stream->native;
    if (s->helper && !weft__helper_close(s->helper))
        return;
    free_stream(s);
}

/* After a fault and a reset the device has another context. */
static weft_status open_again(weft__cuda_stream *s)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    weft_status status = WEFT_OK;
    if (s->foreign)
        return FAIL(WEFT_ERROR_STREAM,
                    "the stream's handle was lost when cuda:%d faulted; wrap a new one",
                    s->device->index);
    pthread_mutex_lock(&mutex);
    if (s->generation != atomic_load(&s->device->generation))
        status = open_handle(s);
    pthread_mutex_unlock(&mutex);
    return status;
}

static weft_status check(weft__cuda_stream *s, const weft__work *work)
{
    weft__cuda_device *device = s->device;
    if (!weft__cuda_is_ready(device) && !weft__cuda_device_get(device->index))
        return weft_error_code();
    const uint64_t generation = atomic_load_explicit(&device->generation, memory_order_relaxed);
    if (s->generation != generation)
        TRY(open_again(s));
    return generation ? weft__cuda_memory_check(device, work) : WEFT_OK;
}

/* What it must come after is done already. */
static weft_status run_now(weft__cuda_stream *s, const weft__work *work)
{
    if (work->kind == WEFT__WORK_CALL)
        return weft__call_user(work, 0, 0);
    if (work->kind == WEFT__WORK_NONE)
        return WEFT_OK;
    const bool entered = weft__cuda_enter(s->device);
    weft_status status = weft__cuda_copy_waits(work)
                             ? weft__cuda_copy_staged(s->device, s->handle, work)
                             : weft__cuda_enqueue(s->device, s->handle, work);
    if (status == WEFT_OK)
        status = weft__cuda_check(s->device, NULL, weft__cu.StreamSynchronize(s->handle));
    weft__cuda_leave(entered);
    return status;
}

/* With the context current: what the stream is given from now on comes after the point, if the
 * device can see to that. */
static weft_status wait_for(weft__cuda_stream *s, weft__point point, bool *there)
{
    CUevent event;
    TRY(weft__cuda_event_after(point, there, &event));
    if (!*there || !event)
        return WEFT_OK;
    return weft__cuda_check(s->device, "StreamWaitEvent",
                            weft__cu.StreamWaitEvent(s->handle, event, 0));
}

/* An event on a stream with profiling carries a time. */
static weft_status add_time(weft__cuda_stream *s, weft__pending *pending)
{
    if (!s->line->times || pending->work.kind != WEFT__WORK_NONE)
        return WEFT_OK;
    CUevent event = weft__cuda_event_take(s->device, true);
    if (!event)
        return FAIL(WEFT_ERROR_DEVICE, "cuda:%d makes no event", s->device->index);
    pthread_mutex_lock(&s->line->mutex);
    const CUresult code = weft__cu.EventRecord(event, s->handle);
    pending->event = event;
    pthread_mutex_unlock(&s->line->mutex);
    return weft__cuda_check(s->device, "EventRecord", code);
}

/* With the context current. */
static weft_status start(weft__cuda_stream *s, weft__pending *pending)
{
    const weft__work *work = &pending->work;
    if (pending->submitted)
        weft__cuda_trace_begin(s, pending);
    const weft_status status = work->kind == WEFT__WORK_COPY && weft__cuda_copy_waits(work)
                                   ? weft__cuda_copy_staged(s->device, s->handle, work)
                                   : weft__cuda_enqueue(s->device, s->handle, work);
    if (pending->submitted)
        weft__cuda_trace_end(s, pending, status);
    TRY(status);
    return add_time(s, pending);
}

/* Work that the helper has: with its launch, and what it comes after. */
typedef struct deferred {
    weft__cuda_stream *s;
    weft__pending *pending;
    void *graph; /* held until it is launched, or NULL */
    uint32_t count;
    weft__point points[];
} deferred;

static void free_deferred(deferred *d)
{
    weft__cuda_graph_release(d->graph);
    weft__free(d);
}

static weft_status wait_and_enqueue(const deferred *d)
{
    weft__cuda_stream *s = d->s;
    for (uint32_t i = 0; i < d->count; i++) {
        bool there = false;
        TRY(wait_for(s, d->points[i], &there));
        if (!there)
            weft__timeline_wait(d->points[i].timeline, d->points[i].sequence);
    }
    return start(s, d->pending);
}

static void do_deferred(const deferred *d)
{
    weft_status status = check(d->s, &d->pending->work);
    weft__operation_begin(d->pending->work.operation);
    if (status == WEFT_OK) {
        const bool entered = weft__cuda_enter(d->s->device);
        status = wait_and_enqueue(d);
        weft__cuda_leave(entered);
    }
    if (status != WEFT_OK) {
        weft__work_settle(d->s->stream, &d->pending->work, status);
        atomic_store(&d->pending->settled, true);
    }
    weft__operation_begin("weft"); /* the work's name may be the user's, and gone after this */
}

/* The gate of a job. */
static void open_gate(void *handle)
{
    deferred *d = handle;
    weft__cuda_stream *s = d->s;
    if (d->pending->work.kind != WEFT__WORK_CALL)
        do_deferred(d);
    pthread_mutex_lock(&s->line->mutex);
    atomic_fetch_sub(&s->deferred, 1); /* first: who knows that this is done need not defer more */
    atomic_store(&d->pending->deferred, false);
    pthread_cond_broadcast(&s->line->changed);
    pthread_mutex_unlock(&s->line->mutex);
    free_deferred(d);
}

static void drop_gate(void *handle) { free_deferred(handle); }

static deferred *new_deferred(weft__cuda_stream *s, weft__pending *pending)
{
    weft__work *work = &pending->work;
    const weft__launch *launch = work->kind == WEFT__WORK_LAUNCH ? work->of.launch.launch : NULL;
    const size_t points = work->waits_count * sizeof(weft__point);
    deferred *d = weft__allocate(sizeof *d + points + (launch ? launch->bytes : 0));
    if (!d)
        return NULL;
    *d = (deferred){.s = s, .pending = pending, .count = work->waits_count};
    if (work->kind == WEFT__WORK_GRAPH)
        weft__cuda_graph_retain(d->graph = work->of.graph);
    if (points)
        memcpy(d->points, work->waits, points);
    if (launch)
        work->of.launch.launch = memcpy((char *)(d + 1) + points, launch, launch->bytes);
    return d;
}

/* A function of the user's comes after everything before it on the stream. */
static weft__helper_job *call_job(weft__cuda_stream *s, weft__pending *pending, weft__gate gate)
{
    enum { INLINE = 16 };
    const weft__work *work = &pending->work;
    const uint32_t count = work->waits_count;
    weft__point few[INLINE], *points = few;
    if (count + 1 > INLINE && !(points = weft__allocate((count + 1) * sizeof *points)))
        return NULL;
    if (count)
        memcpy(points, work->waits, count * sizeof *points);
    points[count] = (weft__point){work->timeline, work->sequence - 1};
    weft__helper_job *job = weft__helper_prepare(s->helper, points, count + 1, pending, gate);
    if (points != few)
        weft__free(points);
    return job;
}

static weft_status defer(weft__cuda_stream *s, weft__pending *pending)
{
    deferred *d = new_deferred(s, pending);
    if (!d)
        return WEFT_ERROR_MEMORY;
    const weft__gate gate = {d, open_gate, drop_gate};
    pending->work.again = NULL;
    weft__window_end(s->stream->timeline); /* nothing is queued before it */
    weft__helper_job *job = pending->work.kind == WEFT__WORK_CALL
                                ? call_job(s, pending, gate)
                                : weft__helper_prepare(s->helper, NULL, 0, NULL, gate);
    if (!job) {
        free_deferred(d);
        return weft_error_code();
    }
    atomic_store(&pending->deferred, true);
    atomic_fetch_add(&s->deferred, 1);
    weft__line_add(s->line, pending);
    weft__helper_add(s->helper, job);
    return WEFT_OK;
}

/* Fails if it cannot be told; *there is false if the helper has to do it. */
static weft_status enqueue(weft__cuda_stream *s, weft__pending *pending, bool *there)
{
    const weft__work *work = &pending->work;
    *there = true;
    for (uint32_t i = 0; i < work->waits_count && *there; i++)
        TRY(wait_for(s, work->waits[i], there));
    if (!*there)
        return WEFT_OK;
    return start(s, pending);
}

/* Whether the driver is called for the launch itself only, which finds out about the context. */
static bool is_bare(const weft__pending *pending)
{
    const weft__work *work = &pending->work;
    return (work->kind == WEFT__WORK_LAUNCH || work->kind == WEFT__WORK_GRAPH) &&
           !work->waits_count && !pending->submitted;
}

static weft_status submit(weft__cuda_stream *s, weft__pending *pending)
{
    bool there = false;
    const weft__work_kind kind = pending->work.kind;
    if (atomic_load(&s->deferred) == 0 && kind != WEFT__WORK_CALL &&
        (kind != WEFT__WORK_COPY || !weft__cuda_copy_waits(&pending->work))) {
        const bool entered = !is_bare(pending) && weft__cuda_enter(s->device);
        const weft_status status = enqueue(s, pending, &there);
        weft__cuda_leave(entered);
        TRY(status);
    }
    if (!there)
        return defer(s, pending);
    weft__line_add(s->line, pending);
    s->stream->timeline->handle = s->handle;
    return WEFT_OK;
}

weft_status weft__cuda_stream_submit(weft_stream *stream, const weft__work *work)
{
    weft__cuda_stream *s = stream->native;
    TRY(check(s, work));
    if (!stream->async)
        return run_now(s, work);
    weft__pending *pending = weft__line_prepare(s->line, stream, work);
    if (!pending)
        return WEFT_ERROR_MEMORY;
    const weft_status status = submit(s, pending);
    if (status != WEFT_OK)
        weft__line_drop(s->line, pending);
    return status;
}

weft_status weft__cuda_stream_time(weft_stream *stream, uint64_t sequence, double *seconds)
{
    const weft__cuda_stream *s = stream->native;
    if (!s->line || !s->line->times)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "the stream keeps no times; make it with .async = true and .profiling = true");
    return weft__times_find(s->line->times, sequence, seconds);
}

weft_status weft__cuda_stream_native(weft_stream *stream, void **handle)
{
    const weft__cuda_stream *s = stream->native;
    *handle = s->handle;
    return WEFT_OK;
}

/* Whether the device has not been given the work yet, since the helper has something to do first.
 */
static bool is_deferred(const weft__cuda_stream *s, uint64_t sequence)
{
    if (!s->line)
        return false;
    pthread_mutex_lock(&s->line->mutex);
    const weft__pending *pending = weft__line_find(s->line, sequence);
    const bool waits = pending && atomic_load(&pending->deferred);
    pthread_mutex_unlock(&s->line->mutex);
    return waits;
}

weft_status weft__cuda_event_native(weft_stream *stream, uint64_t sequence, void **handle)
{
    weft__cuda_stream *s = stream->native;
    const weft__work nothing = {.kind = WEFT__WORK_NONE};
    CUevent event = NULL;
    TRY(check(s, &nothing));
    if (is_deferred(s, sequence))
        return FAIL_AT(
            WEFT_ERROR_UNSUPPORTED, "event",
            "cuda:%d has no event for it yet: a function of the host's, or a copy by way "
            "of the host, comes first; ask again after weft_event_synchronize",
            s->device->index);
    const bool entered = weft__cuda_enter(s->device);
    CUresult code = weft__cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (code == CUDA_SUCCESS && (code = weft__cu.EventRecord(event, s->handle)) != CUDA_SUCCESS)
        weft__cu.EventDestroy(event);
    weft__cuda_leave(entered);
    TRY(weft__cuda_check(s->device, "EventRecord", code));
    *handle = event;
    return WEFT_OK;
}
