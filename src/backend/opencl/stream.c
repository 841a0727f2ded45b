/* Streams on OpenCL devices: in-order queues. */
#include "backend/call.h"
#include "backend/helper.h"
#include "backend/opencl/opencl.h"
#include "core/allocate.h"
#include "trace/trace.h"

static void free_native(weft__opencl_stream *n)
{
    if (n->line)
        weft__line_close(n->line);
    if (n->queue && !n->foreign && weft__opencl_usable())
        weft__cl.ReleaseCommandQueue(n->queue);
    weft__free(n);
}

static cl_ulong queue_fact(cl_command_queue queue, cl_uint what)
{
    cl_ulong value = 0;
    weft__cl.GetCommandQueueInfo(queue, what, sizeof value, &value, NULL);
    return value;
}

/* A foreign queue must know the device's memory, and keep the order of what it is given. */
static weft_status check_foreign(const weft__opencl_device *device, cl_command_queue queue)
{
    if (queue_fact(queue, CL_QUEUE_CONTEXT) != (cl_ulong)(uintptr_t)device->context ||
        queue_fact(queue, CL_QUEUE_DEVICE) != (cl_ulong)(uintptr_t)device->id)
        return FAIL_AT(WEFT_ERROR_STREAM, "handle",
                       "the queue is of another context or device; make it in the context that "
                       "weft_device_native gives");
    if (queue_fact(queue, CL_QUEUE_PROPERTIES) & CL_QUEUE_OUT_OF_ORDER)
        return FAIL_AT(WEFT_ERROR_STREAM, "handle",
                       "the queue does not keep the order of its work");
    return WEFT_OK;
}

/* `foreign` is the queue to use, or NULL. */
static weft_status open_queue(const weft_stream *stream, const weft__opencl_device *device,
                              cl_command_queue foreign, weft__opencl_stream *n)
{
    const bool timed = stream->profiling || (weft__tracing() && stream->async);
    const cl_bitfield properties = timed ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int code = CL_SUCCESS;
    if (foreign)
        TRY(check_foreign(device, foreign));
    n->foreign = n->shared = foreign != NULL;
    n->queue =
        foreign ? foreign : weft__cl.CreateCommandQueue(n->context, device->id, properties, &code);
    return n->queue ? WEFT_OK : weft__cl_fail("CreateCommandQueue", code);
}

static weft_status open_native(weft_stream *stream, cl_command_queue foreign,
                               weft__opencl_stream *n)
{
    const weft__opencl_device *device = weft__opencl_device_get(stream->device.index);
    if (!device)
        return weft_error_code();
    n->context = device->context;
    n->timeline = stream->timeline;
    TRY(open_queue(stream, device, foreign, n));
    if (!stream->async)
        return WEFT_OK;
    if (!(n->helper = weft__helper_new(stream)))
        return WEFT_ERROR_MEMORY;
    return (n->line = weft__line_open(stream, &weft__opencl_line, n)) ? WEFT_OK : WEFT_ERROR_MEMORY;
}

static weft_status open_stream(weft_stream *stream, cl_command_queue foreign)
{
    weft__opencl_stream *n = weft__allocate_zeroed(sizeof *n);
    if (!n)
        return WEFT_ERROR_MEMORY;
    stream->native = n;
    const weft_status status = open_native(stream, foreign, n);
    if (status != WEFT_OK) {
        if (n->helper)
            weft__helper_close(n->helper);
        free_native(n);
    }
    return status;
}

weft_status weft__opencl_stream_open(weft_stream *stream) { return open_stream(stream, NULL); }

weft_status weft__opencl_stream_wrap(weft_stream *stream, void *handle)
{
    if (!handle)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "handle",
                       "handle is NULL; a cl_command_queue was "
                       "expected");
    return open_stream(stream, handle);
}

void weft__opencl_stream_close(weft_stream *stream)
{
    weft__opencl_stream *n = stream->native;
    if (n->helper && !weft__helper_close(n->helper))
        return;
    free_native(n);
}

/* Synchronous: what it must come after is done already. */
static weft_status run_now(const weft__opencl_stream *n, const weft__work *work)
{
    const weft__opencl_waits none = {NULL, 0};
    cl_event event = NULL;
    if (work->kind == WEFT__WORK_CALL)
        return weft__call_user(work, 0, 0);
    if (work->kind == WEFT__WORK_NONE)
        return WEFT_OK;
    TRY(weft__opencl_enqueue(n->queue, n->context, work, &none, &event));
    const cl_int code = weft__cl.WaitForEvents(1, &event);
    weft__cl.ReleaseEvent(event);
    if (work->kind == WEFT__WORK_LAUNCH)
        weft__opencl_module_ran(work->of.launch.module);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("WaitForEvents", code);
}

/* The events that the work comes after. Points of other kinds of devices go to the helper, which
 * sets one event for all of them. */
typedef struct gathered {
    weft__opencl_waits waits;
    weft__helper_job *job; /* NULL if it has nothing to do */
} gathered;

static void free_gathered(gathered *g)
{
    for (cl_uint i = 0; i < g->waits.count; i++)
        weft__cl.ReleaseEvent(g->waits.events[i]);
    weft__free(g->waits.events);
}

static void open_gate(void *event)
{
    weft__cl.SetUserEventStatus(event, CL_COMPLETE);
    weft__cl.ReleaseEvent(event);
}

static void drop_gate(void *event) { weft__cl.ReleaseEvent(event); }

/* Adds an event of the helper's: `points` come before it, and the call of `pending`. */
static weft_status add_own(const weft__opencl_stream *n, const weft__point *points, uint32_t count,
                           weft__pending *pending, gathered *g)
{
    cl_int code = CL_SUCCESS;
    cl_event event = weft__cl.CreateUserEvent(n->context, &code);
    if (!event)
        return weft__cl_fail("CreateUserEvent", code);
    g->waits.events[g->waits.count++] = event;
    g->job = weft__helper_prepare(n->helper, points, count, pending,
                                  (weft__gate){event, open_gate, drop_gate});
    if (!g->job)
        return weft_error_code();
    weft__cl.RetainEvent(event);
    return WEFT_OK;
}

/* The last write of memory of the host's that a copy reads. A driver may read it when the copy is
 * queued, whatever commands come before it (NVIDIA's does), unless it waits for a user event. All
 * that is no memory object is the host's, also what another driver shares with it. */
static weft__point source_of(const weft__work *work)
{
    if (work->kind != WEFT__WORK_COPY)
        return (weft__point){0};
    const weft__opencl_place from = weft__opencl_place_of(work, work->of.copy.src);
    for (uint32_t i = 0; i < work->uses_count && !from.object; i++)
        if (!work->uses[i].write)
            return work->uses[i].buffer->write; /* which is locked */
    return (weft__point){0};
}

static weft_status gather(const weft__opencl_stream *n, const weft__work *work, weft__point source,
                          weft__point *others, gathered *g)
{
    const bool held = !weft__point_done(source); /* by the helper alone */
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->waits_count; i++) {
        cl_event event = held ? NULL : weft__opencl_event(work->waits[i], n->context);
        if (event)
            g->waits.events[g->waits.count++] = event;
        else if (!weft__point_done(work->waits[i]))
            others[count++] = work->waits[i];
    }
    if (held && source.timeline == work->timeline)
        others[count++] = source;
    return count ? add_own(n, others, count, NULL, g) : WEFT_OK;
}

/* A function of the host's comes after everything before it on the stream. */
static weft_status gather_call(const weft__opencl_stream *n, const weft__work *work,
                               weft__point *others, weft__pending *pending, gathered *g)
{
    for (uint32_t i = 0; i < work->waits_count; i++)
        others[i] = work->waits[i];
    others[work->waits_count] = (weft__point){work->timeline, work->sequence - 1};
    return add_own(n, others, work->waits_count + 1, pending, g);
}

static weft_status gather_all(const weft__opencl_stream *n, const weft__work *work,
                              weft__pending *pending, gathered *g)
{
    enum { INLINE = 16 };
    weft__point few[INLINE], *others = few;
    *g = (gathered){0};
    const bool call = work->kind == WEFT__WORK_CALL;
    const weft__point source = source_of(work);
    if (!call && work->waits_count == 0 && weft__point_done(source))
        return WEFT_OK;
    g->waits.events = weft__allocate((work->waits_count + 1) * sizeof(cl_event));
    if (!g->waits.events)
        return WEFT_ERROR_MEMORY;
    if (work->waits_count + 1 > INLINE &&
        !(others = weft__allocate((work->waits_count + 1) * sizeof *others)))
        return WEFT_ERROR_MEMORY;
    const weft_status status =
        call ? gather_call(n, work, others, pending, g) : gather(n, work, source, others, g);
    if (others != few)
        weft__free(others);
    if (g->waits.count == 0) { /* all is done by now: a list of none is NULL */
        weft__free(g->waits.events);
        g->waits.events = NULL;
    }
    return status;
}

/* Where each command has a time of its own, or may be followed by one of a user's that waits for
 * the host: an event that is put behind both would wait as well. */
static bool needs_events(const weft__opencl_stream *n) { return n->line->times || n->shared; }

/* The helper gets its job last: then nothing can fail any more. */
static weft_status submit(weft__opencl_stream *n, weft__pending *pending)
{
    gathered g;
    cl_event event = NULL;
    if (pending->work.again && needs_events(n)) {
        pending->work.again->queue = NULL;
        pending->work.again = NULL;
    }
    weft_status status = gather_all(n, &pending->work, pending, &g);
    if (status == WEFT_OK && g.waits.count > 0)
        status = weft__opencl_mark(n->line);
    if (status == WEFT_OK)
        status = weft__opencl_enqueue(n->queue, n->context, &pending->work, &g.waits, &event);
    pending->event = event;
    pending->finish = NULL;
    pending->until = pending->work.sequence;
    n->timeline->handle = n;
    free_gathered(&g);
    atomic_store(&pending->deferred, g.job != NULL);
    if (status == WEFT_OK)
        weft__line_add(n->line, pending);
    if (g.job && status == WEFT_OK)
        weft__helper_add(n->helper, g.job);
    else if (g.job)
        weft__helper_drop(g.job);
    return status;
}

weft_status weft__opencl_stream_submit(weft_stream *stream, const weft__work *work)
{
    weft__opencl_stream *n = stream->native;
    if (!weft__opencl_device_get(stream->device.index))
        return weft_error_code();
    if (!stream->async)
        return run_now(n, work);
    weft__pending *pending = weft__line_prepare(n->line, stream, work);
    if (!pending)
        return WEFT_ERROR_MEMORY;
    const weft_status status = submit(n, pending);
    if (status != WEFT_OK) {
        weft__line_drop(n->line, pending);
        return status;
    }
    weft__cl.Flush(n->queue);
    return WEFT_OK;
}

weft_status weft__opencl_stream_time(weft_stream *stream, uint64_t sequence, double *seconds)
{
    const weft__opencl_stream *n = stream->native;
    if (!n->line || !n->line->times)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "the stream keeps no times; make it with .async = true and .profiling = true");
    return weft__times_find(n->line->times, sequence, seconds);
}

/* What was queued again until now has an event from now on. */
static weft_status share(weft_stream *stream, weft__opencl_stream *n)
{
    weft__stream_submission_lock(stream);
    n->shared = true;
    const weft_status status = weft__opencl_mark(n->line);
    weft__stream_submission_unlock(stream);
    return status;
}

weft_status weft__opencl_stream_native(weft_stream *stream, void **handle)
{
    weft__opencl_stream *n = stream->native;
    if (n->line)
        TRY(share(stream, n));
    *handle = n->queue;
    return WEFT_OK;
}

/* Work that is known to be done has no event any more: then it is one of the queue as it is now. */
weft_status weft__opencl_event_native(weft_stream *stream, uint64_t sequence, void **handle)
{
    const weft__opencl_stream *n = stream->native;
    const weft__point point = {stream->timeline, sequence};
    if (!weft__opencl_device_get(stream->device.index))
        return weft_error_code();
    cl_event event = n->line ? weft__opencl_event(point, n->context) : NULL;
    const cl_int code =
        event ? CL_SUCCESS : weft__cl.EnqueueBarrierWithWaitList(n->queue, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return weft__cl_fail("EnqueueBarrierWithWaitList", code);
    weft__cl.Flush(n->queue);
    *handle = event;
    return WEFT_OK;
}
