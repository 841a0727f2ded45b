/* Times of a timeline: events before and after each piece of work, which nobody waits for. */
#include "backend/cuda/cuda.h"
#include "core/traced.h"

enum { DEVICES_MAX = 32, EXACT_MS = 2000 };

/* An event of each device that times count from; differences are floats of milliseconds, so a later
 * one takes its place when they become inexact. */
static struct origin {
    CUevent event;
    uint64_t generation; /* of the context that it is of */
    uint64_t nanoseconds;
} origins[DEVICES_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards it */

static void *record(const weft__cuda_stream *s)
{
    CUevent event = weft__cuda_event_take(s->device, true);
    if (!event || weft__cuda_note(s->device, weft__cu.EventRecord(event, s->handle)) == 0)
        return event;
    weft__cuda_event_give(s->device, event, true);
    return NULL;
}

static void give(const weft__cuda_stream *s, void *event)
{
    if (event && s->generation == atomic_load(&s->device->generation))
        weft__cuda_event_give(s->device, event, true);
}

void weft__cuda_trace_begin(weft__cuda_stream *s, weft__pending *pending)
{
    const weft__work_kind kind = pending->work.kind;
    if (pending->submitted && (kind == WEFT__WORK_LAUNCH || kind == WEFT__WORK_COPY))
        pending->start = record(s);
}

void weft__cuda_trace_end(weft__cuda_stream *s, weft__pending *pending, weft_status status)
{
    if (!pending->start)
        return;
    if (status == WEFT_OK)
        pending->finish = record(s);
    if (pending->finish)
        return;
    give(s, pending->start);
    pending->start = NULL;
}

/* When the work began, in nanoseconds; 0 if the device cannot tell. The start may become the
 * origin, and is the pending work's no more then. */
static uint64_t time_of(const weft__cuda_stream *s, weft__pending *pending)
{
    struct origin *origin = &origins[s->device->index];
    float milliseconds = 0;
    pthread_mutex_lock(&mutex);
    const bool known =
        origin->event && origin->generation == s->generation &&
        weft__cu.EventElapsedTime(&milliseconds, origin->event, pending->start) == CUDA_SUCCESS;
    const double since = 1e6 * (double)milliseconds;
    uint64_t now = origin->nanoseconds + (uint64_t)(int64_t)since;
    if (!known && origin->nanoseconds) /* another context: its clock is another one, too */
        now = 0;
    else if (!known || milliseconds > EXACT_MS) {
        now = known ? now : UINT64_C(1000000000000);
        if (known)
            give(s, origin->event);
        *origin = (struct origin){pending->start, s->generation, now};
        pending->start = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return now;
}

void weft__cuda_trace_done(weft__cuda_stream *s, weft__pending *pending)
{
    float milliseconds = 0;
    uint64_t begin = 0;
    const bool timed = pending->finish && weft__cuda_usable() && !atomic_load(&s->device->fault) &&
                       s->generation == atomic_load(&s->device->generation);
    if (timed) {
        const bool entered = weft__cuda_enter(s->device);
        if (weft__cu.EventElapsedTime(&milliseconds, pending->start, pending->finish) ==
            CUDA_SUCCESS)
            begin = time_of(s, pending);
        weft__cuda_leave(entered);
    }
    const double took = 1e6 * (double)milliseconds;
    if (weft__tracing())
        weft__traced_on_device(pending->stream, &pending->work, pending->submitted, begin,
                               begin ? begin + (uint64_t)took : 0);
    give(s, pending->start);
    give(s, pending->finish);
    pending->start = pending->finish = NULL;
}
