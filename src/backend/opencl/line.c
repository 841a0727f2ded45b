/* Pending commands: finding out which are done, and recording how they went. */
#include "backend/opencl/line.h"
#include "core/allocate.h"
#include <sched.h>
#include <string.h>

static pthread_mutex_t lines_mutex = PTHREAD_MUTEX_INITIALIZER;
static weft__line *lines;

weft__pending *weft__line_prepare(weft__line *line, weft_stream *stream, const weft__work *work)
{
    const bool few = work->uses_count <= WEFT__PENDING_USES;
    const size_t more = few ? 0 : work->uses_count - WEFT__PENDING_USES;
    weft__pending *pending = NULL;
    pthread_mutex_lock(&line->mutex);
    if (few && (pending = line->spare))
        line->spare = pending->next;
    pthread_mutex_unlock(&line->mutex);
    if (!pending && !(pending = weft__allocate(sizeof *pending + more * sizeof *work->uses)))
        return NULL;
    *pending = (weft__pending){.stream = stream, .work = *work};
    if (work->uses_count)
        memcpy(pending->uses, work->uses, work->uses_count * sizeof *work->uses);
    pending->work.uses = pending->uses;
    return pending;
}

void weft__line_drop(weft__line *line, weft__pending *pending)
{
    if (pending->event)
        weft__cl.ReleaseEvent(pending->event);
    if (pending->work.uses_count > WEFT__PENDING_USES) {
        weft__free(pending);
        return;
    }
    pthread_mutex_lock(&line->mutex);
    pending->next = line->spare;
    line->spare = pending;
    pthread_mutex_unlock(&line->mutex);
}

void weft__line_add(weft__line *line, weft__pending *pending)
{
    pthread_mutex_lock(&line->mutex);
    *(line->first ? &line->last->next : &line->first) = pending;
    line->last = pending;
    pthread_mutex_unlock(&line->mutex);
}

static weft__pending *first_of(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    weft__pending *first = line->first;
    pthread_mutex_unlock(&line->mutex);
    return first;
}

static void take_first(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    weft__pending *first = line->first;
    line->first = first->next;
    pthread_mutex_unlock(&line->mutex);
    atomic_store(&line->timeline->completed, first->work.sequence);
    weft__line_drop(line, first);
}

/* Above 0 it is not done, below 0 it failed. */
static cl_int state_of(const weft__pending *pending)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = weft__cl.GetEventInfo(pending->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                              sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : code;
}

static void keep_time(weft__line *line, const weft__pending *pending)
{
    cl_ulong nanoseconds = 0;
    if (line->times && pending->work.kind == WEFT__WORK_NONE &&
        weft__cl.GetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof nanoseconds,
                                       &nanoseconds, NULL) == CL_SUCCESS)
        weft__times_add(line->times, pending->work.sequence, nanoseconds);
}

/* The record of the thread that looks stays as it is. */
static void settle(const weft__pending *pending, cl_int state)
{
    const weft_error before = *weft_error_last();
    const char *operation = weft__operation();
    weft__operation_begin(pending->work.operation);
    const weft_status status = state == CL_COMPLETE ? WEFT_OK : weft__cl_fail(NULL, state);
    weft__work_settle(pending->stream, &pending->work, status);
    weft__operation_begin(operation);
    weft__error_restore(&before);
}

/* With `settling` held. */
static void advance(weft__line *line, bool fully)
{
    weft__pending *first;
    while ((first = first_of(line))) {
        const cl_int state = state_of(first);
        const bool plain = atomic_load(&first->settled) ||
                           (state == CL_COMPLETE && weft__work_is_plain(&first->work));
        if (state > CL_COMPLETE || (!plain && !fully))
            return;
        if (!plain)
            settle(first, state);
        keep_time(line, first);
        if (first->work.kind == WEFT__WORK_LAUNCH)
            weft__opencl_module_ran(first->work.of.launch.module);
        take_first(line);
    }
}

static void look(weft__progress *progress, weft__timeline *timeline, bool fully)
{
    weft__line *line = (weft__line *)progress;
    (void)timeline;
    if (pthread_mutex_trylock(&line->settling) != 0) /* somebody looks already */
        return;
    advance(line, fully);
    pthread_mutex_unlock(&line->settling);
    if (fully && atomic_load(&weft__retired_count) != 0)
        weft__retired_sweep();
}

/* With `mutex` held. */
static cl_event find_event(const weft__line *line, uint64_t sequence)
{
    for (const weft__pending *pending = line->first; pending; pending = pending->next)
        if (pending->work.sequence == sequence)
            return weft__cl.RetainEvent(pending->event) == CL_SUCCESS ? pending->event : NULL;
    return NULL;
}

/* What is not there was taken out, and the number will be written any moment. */
static void wait_for(weft__progress *progress, weft__timeline *timeline, uint64_t sequence)
{
    weft__line *line = (weft__line *)progress;
    while (atomic_load(&timeline->completed) < sequence) {
        pthread_mutex_lock(&line->mutex);
        cl_event event = find_event(line, sequence);
        pthread_mutex_unlock(&line->mutex);
        if (event) {
            weft__cl.WaitForEvents(1, &event);
            weft__cl.ReleaseEvent(event);
        } else
            sched_yield();
        look(progress, timeline, true);
    }
}

cl_event weft__line_event(weft__point point, cl_context context)
{
    weft__progress *progress = atomic_load(&point.timeline->progress);
    cl_event event = NULL;
    if (!progress || progress->look != look)
        return NULL;
    weft__line *line = (weft__line *)progress;
    pthread_mutex_lock(&line->mutex);
    if (line->timeline == point.timeline && line->context == context)
        event = find_event(line, point.sequence);
    pthread_mutex_unlock(&line->mutex);
    return event;
}

/* With lines_mutex held. */
static weft__line *take_line(void)
{
    weft__line *line = lines;
    while (line && line->used)
        line = line->next;
    if (line || !(line = weft__allocate_zeroed(sizeof *line)))
        return line;
    weft__allocation_end(); /* never given back while the library is loaded */
    line->progress = (weft__progress){look, wait_for};
    pthread_mutex_init(&line->settling, NULL);
    pthread_mutex_init(&line->mutex, NULL);
    line->next = lines;
    lines = line;
    return line;
}

weft__line *weft__line_open(weft_stream *stream, cl_context context)
{
    weft__times *times = stream->profiling ? weft__times_new() : NULL;
    if (stream->profiling && !times)
        return NULL;
    pthread_mutex_lock(&lines_mutex);
    weft__line *line = take_line();
    if (line)
        line->used = true;
    pthread_mutex_unlock(&lines_mutex);
    if (!line) {
        weft__free(times);
        return NULL;
    }
    pthread_mutex_lock(&line->mutex);
    line->timeline = stream->timeline;
    line->context = context;
    line->times = times;
    pthread_mutex_unlock(&line->mutex);
    atomic_store(&stream->timeline->progress, &line->progress);
    return line;
}

void weft__line_close(weft__line *line)
{
    atomic_store(&line->timeline->progress, NULL);
    pthread_mutex_lock(&line->settling); /* somebody may be looking */
    pthread_mutex_lock(&line->mutex);
    weft__pending *spare = line->spare;
    line->spare = NULL;
    line->timeline = NULL;
    weft__free(line->times);
    line->times = NULL;
    pthread_mutex_unlock(&line->mutex);
    pthread_mutex_unlock(&line->settling);
    for (weft__pending *next; spare; spare = next) {
        next = spare->next;
        weft__free(spare);
    }
    pthread_mutex_lock(&lines_mutex);
    line->used = false;
    pthread_mutex_unlock(&lines_mutex);
}

void weft__lines_after_fork(void)
{
    pthread_mutex_init(&lines_mutex, NULL);
    for (weft__line *line = lines; line; line = line->next) {
        pthread_mutex_init(&line->settling, NULL);
        pthread_mutex_init(&line->mutex, NULL);
        line->first = NULL;
        if (line->timeline)
            atomic_store(&line->timeline->completed, atomic_load(&line->timeline->submitted));
    }
}
