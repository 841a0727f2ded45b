/* What the line of an OpenCL stream asks: each command has an event. */
#include "backend/opencl/opencl.h"
#include "core/traced.h"

static int state(weft__line *line, weft__pending *first)
{
    cl_int result = CL_COMPLETE;
    const cl_int code = weft__cl.GetEventInfo(first->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof result, &result, NULL);
    (void)line;
    return code == CL_SUCCESS ? result : code;
}

static weft_status fail(int code) { return weft__cl_fail(NULL, code); }

/* With the line's mutex held. */
static cl_event find_event(const weft__line *line, uint64_t sequence)
{
    const weft__pending *pending = weft__line_find(line, sequence);
    if (!pending || weft__cl.RetainEvent(pending->event) != CL_SUCCESS)
        return NULL;
    return pending->event;
}

static void wait_for(weft__line *line, uint64_t sequence)
{
    pthread_mutex_lock(&line->mutex);
    cl_event event = find_event(line, sequence);
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

static void done(weft__line *line, weft__pending *pending)
{
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
    cl_event event = line->owner == context ? find_event(line, point.sequence) : NULL;
    pthread_mutex_unlock(&line->mutex);
    return event;
}
