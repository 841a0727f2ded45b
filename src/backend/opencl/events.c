/* What the line of an OpenCL stream asks: each record has an event. */
#include "backend/opencl/opencl.h"
#include "core/traced.h"

/* How far the command of an event has come: above 0 it is not done, below 0 it failed. */
static int progress_of(cl_event event)
{
    cl_int result = CL_COMPLETE;
    const cl_int code = weft__cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof result, &result, NULL);
    return code == CL_SUCCESS ? result : code;
}

/* With the line's mutex held, of its last record: an event behind all that the queue has, unless
 * nothing was queued again after that record. What is queued after this has a record of its own, so
 * that there is one such event at most. */
static cl_int mark(weft__line *line, weft__pending *last)
{
    const weft__opencl_stream *s = line->owner;
    const uint64_t until = weft__line_until(line, last);
    cl_event event = NULL;
    if (until <= last->until)
        return CL_SUCCESS;
    const cl_int code = weft__cl.EnqueueMarkerWithWaitList(s->queue, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return code;
    weft__cl.Flush(s->queue);
    last->finish = event;
    last->until = until;
    return CL_SUCCESS;
}

weft_status weft__opencl_mark(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    const cl_int code = line->last == line->before ? CL_SUCCESS : mark(line, line->last);
    pthread_mutex_unlock(&line->mutex);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("EnqueueMarkerWithWaitList", code);
}

/* Work that was queued again after the first has no event: it is done when what came next is, or
 * what is put behind it. If that failed, this may have failed as well. */
static int progress_behind(weft__line *line, weft__pending *first)
{
    const weft__pending *next = weft__pending_next(first);
    if (next && next->work.sequence > first->until + 1)
        return progress_of(next->event);
    const cl_int code = next ? CL_SUCCESS : mark(line, first);
    if (code != CL_SUCCESS)
        return code;
    return first->finish ? progress_of(first->finish) : CL_COMPLETE;
}

/* Also of a first one that failed: what was queued again after it may still run. */
static int state(weft__line *line, weft__pending *first)
{
    pthread_mutex_lock(&line->mutex);
    const int own = progress_of(first->event);
    const int behind = own > 0 ? CL_COMPLETE : progress_behind(line, first);
    pthread_mutex_unlock(&line->mutex);
    return own == CL_COMPLETE || behind > 0 ? behind : own;
}

static weft_status fail(int code) { return weft__cl_fail(NULL, code); }

/* With the line's mutex held, of a record that stands for the number: an event after that,
 * retained. NULL if it is being taken out, or if the device has no event for it, which `state`
 * fails with. */
static cl_event event_after(weft__line *line, weft__pending *pending, uint64_t sequence)
{
    const weft__pending *next = weft__pending_next(pending);
    cl_event event = NULL;
    if (sequence <= pending->work.sequence)
        event = pending->event;
    else if (next && sequence > pending->until)
        event = next->event;
    else if (mark(line, pending) == CL_SUCCESS)
        event = pending->finish;
    return event && weft__cl.RetainEvent(event) == CL_SUCCESS ? event : NULL;
}

/* Numbers are not known to be done before all are that their record stands for. */
static void wait_for(weft__line *line, uint64_t sequence)
{
    pthread_mutex_lock(&line->mutex);
    weft__pending *pending = weft__line_find(line, sequence);
    cl_event event = pending ? event_after(line, pending, weft__line_until(line, pending)) : NULL;
    pthread_mutex_unlock(&line->mutex);
    if (!event)
        return;
    weft__cl.WaitForEvents(1, &event);
    weft__cl.ReleaseEvent(event);
}

/* A foreign queue may keep no times. */
static void trace(const weft__pending *pending)
{
    cl_ulong begin = 0, end = 0;
    if (weft__cl.GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_START, sizeof begin,
                                       &begin, NULL) != CL_SUCCESS ||
        weft__cl.GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                       NULL) != CL_SUCCESS)
        begin = end = 0;
    weft__traced_on_device(pending->stream, &pending->work, pending->submitted, begin, end);
}

/* A 0 is no time: the driver has none for this command. */
static void note_time(weft__line *line, const weft__pending *pending)
{
    cl_ulong nanoseconds = 0;
    if (weft__cl.GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof nanoseconds,
                                       &nanoseconds, NULL) == CL_SUCCESS &&
        nanoseconds > 0)
        weft__times_add(line->times, pending->work.sequence, nanoseconds);
}

/* Others may look for it until the record is taken out. */
static void release_mark(weft__line *line, weft__pending *pending)
{
    if (!pending->finish)
        return;
    pthread_mutex_lock(&line->mutex);
    weft__cl.ReleaseEvent(pending->finish);
    pending->finish = NULL;
    pthread_mutex_unlock(&line->mutex);
}

static void done(weft__line *line, weft__pending *pending)
{
    release_mark(line, pending);
    if (pending->submitted && weft__tracing())
        trace(pending);
    if (line->times && pending->work.kind == WEFT__WORK_NONE)
        note_time(line, pending);
    if (pending->work.kind == WEFT__WORK_LAUNCH)
        weft__opencl_module_ran(pending->work.of.launch.module);
}

static void release(weft__line *line, void *event)
{
    (void)line;
    weft__cl.ReleaseEvent(event);
}

const weft__line_device weft__opencl_line = {state, fail, wait_for, done, release};

cl_event weft__opencl_event(weft__point point, cl_context context)
{
    weft__line *line = weft__line_lock(point, &weft__opencl_line);
    if (!line)
        return NULL;
    const weft__opencl_stream *s = line->owner;
    weft__pending *pending = s->context == context ? weft__line_find(line, point.sequence) : NULL;
    cl_event event = pending ? event_after(line, pending, point.sequence) : NULL;
    pthread_mutex_unlock(&line->mutex);
    return event;
}
