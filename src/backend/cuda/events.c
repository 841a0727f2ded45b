/* Events, and how far a stream has come. Work has no event of its own, since recording one costs a
 * part of a launch: when somebody asks, one is recorded after all that the stream has. */
#include "backend/cuda/cuda.h"
#include <stdlib.h>

enum { DEVICES_MAX = 32 };

/* Events that nobody uses now. They are not destroyed, so that who has just looked one up may still
 * wait for it: at worst it waits for later work. */
typedef struct spare_events {
    CUevent *list;
    size_t count, room, made;
} spare_events;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static spare_events spares[2 * DEVICES_MAX];

/* There is always room for all that were made. Never given back while the library is loaded. */
static bool grow(spare_events *own)
{
    if (own->made < own->room)
        return true;
    const size_t room = own->room ? 2 * own->room : 64;
    CUevent *list = realloc(own->list, room * sizeof *list);
    if (!list)
        return false;
    own->list = list;
    own->room = room;
    return true;
}

CUevent weft__cuda_event_take(weft__cuda_device *device, bool timing)
{
    spare_events *own = &spares[2 * device->index + timing];
    CUevent event = NULL;
    pthread_mutex_lock(&mutex);
    if (own->count > 0)
        event = own->list[--own->count];
    else if (grow(own) &&
             weft__cuda_note(device,
                             weft__cu.EventCreate(&event, timing ? 0 : CU_EVENT_DISABLE_TIMING)) ==
                 CUDA_SUCCESS)
        own->made++;
    else
        event = NULL;
    pthread_mutex_unlock(&mutex);
    return event;
}

void weft__cuda_event_give(weft__cuda_device *device, CUevent event, bool timing)
{
    spare_events *own = &spares[2 * device->index + timing];
    pthread_mutex_lock(&mutex);
    if (event && own->count < own->made)
        own->list[own->count++] = event;
    pthread_mutex_unlock(&mutex);
}

void weft__cuda_events_forget(int index)
{
    pthread_mutex_lock(&mutex);
    for (int timing = 0; timing < 2; timing++)
        spares[2 * index + timing].count = spares[2 * index + timing].made = 0;
    pthread_mutex_unlock(&mutex);
}

void weft__cuda_events_after_fork(void) { pthread_mutex_init(&mutex, NULL); }

/* With the line's mutex held: the first work from there on that has an event, which is recorded for
 * the last that the device has if there is none. NULL if it cannot be recorded. */
static weft__pending *mark(weft__line *line, weft__pending *from)
{
    weft__cuda_stream *s = line->owner;
    weft__pending *last = from;
    for (weft__pending *p = from; p && !atomic_load(&p->deferred); p = weft__pending_next(p)) {
        if (p->event)
            return p;
        last = p;
    }
    CUevent event = weft__cuda_event_take(s->device, line->times != NULL);
    weft__window_close(line->timeline); /* after the last was seen: nothing is added to that now */
    if (event &&
        weft__cuda_note(s->device, weft__cu.EventRecord(event, s->handle)) != CUDA_SUCCESS) {
        weft__cuda_event_give(s->device, event, line->times != NULL);
        event = NULL;
    }
    last->event = event;
    return event ? last : NULL;
}

/* 0 if the first work is done, 1 if not, below 0 if that is an error. */
static int query(weft__cuda_stream *s, weft__pending *first)
{
    weft__line *line = s->line;
    const bool entered = weft__cuda_enter(s->device);
    pthread_mutex_lock(&line->mutex);
    const weft__pending *marked = mark(line, first);
    CUevent event = marked ? marked->event : NULL;
    const uint64_t reached = marked ? weft__line_until(line, marked) : 0;
    pthread_mutex_unlock(&line->mutex);
    const CUresult code =
        event ? weft__cuda_note(s->device, weft__cu.EventQuery(event)) : CUDA_ERROR_NOT_READY;
    if (code == CUDA_SUCCESS)
        s->reached = reached;
    weft__cuda_leave(entered);
    return code == CUDA_ERROR_NOT_READY ? 1 : -code;
}

/* When the device has faulted, all that it had is lost; what the helper has still comes. */
static int state_of(weft__line *line, weft__pending *first)
{
    weft__cuda_stream *s = line->owner;
    if (first->work.sequence <= s->reached)
        return 0;
    if (atomic_load(&first->deferred))
        return 1;
    if (first->work.kind == WEFT__WORK_CALL || atomic_load(&first->settled))
        return 0;
    if (!weft__cuda_usable() || s->generation != atomic_load(&s->device->generation))
        return 0;
    const int state = atomic_load(&s->device->fault) ? 1 : query(s, first);
    const int fault = atomic_load(&s->device->fault);
    return state == 1 && fault ? -fault : state;
}

static weft_status fail(int state) { return weft__cuda_fail(NULL, -state); }

/* Without an event there is still the whole stream to wait for. Once the line is unlocked the work
 * may be done, and its stream gone. */
static void wait_for(weft__line *line, uint64_t sequence)
{
    weft__pending *pending, *marked = NULL;
    pthread_mutex_lock(&line->mutex);
    weft__cuda_stream *s = line->owner;
    while ((pending = weft__line_find(line, sequence)) && atomic_load(&pending->deferred))
        pthread_cond_wait(&line->changed, &line->mutex);
    if (!pending || atomic_load(&s->device->fault) || !weft__cuda_usable()) {
        pthread_mutex_unlock(&line->mutex);
        return;
    }
    weft__cuda_device *device = s->device;
    CUstream handle = s->handle;
    const bool entered = weft__cuda_enter(device);
    marked = mark(line, pending);
    CUevent event = marked ? marked->event : NULL;
    pthread_mutex_unlock(&line->mutex);
    weft__cuda_note(device,
                    event ? weft__cu.EventSynchronize(event) : weft__cu.StreamSynchronize(handle));
    weft__cuda_leave(entered);
}

/* Times are counted from an event of the device's. As they are told in a float of milliseconds, a
 * later one takes its place when they become inexact. */
static struct origin {
    CUevent event;
    double nanoseconds;
} origins[DEVICES_MAX];
static pthread_mutex_t origins_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Whether the event is now the origin. */
static bool keep_time(weft__line *line, const weft__pending *pending)
{
    enum { EXACT_MS = 4000 };
    const weft__cuda_stream *s = line->owner;
    struct origin *origin = &origins[s->device->index];
    float milliseconds = 0;
    bool taken = false;
    pthread_mutex_lock(&origins_mutex);
    const bool known = origin->event && weft__cu.EventElapsedTime(&milliseconds, origin->event,
                                                                  pending->event) == CUDA_SUCCESS;
    const double now = known ? origin->nanoseconds + 1e6 * (double)milliseconds : 1e9;
    if (!known || milliseconds > EXACT_MS) {
        *origin = (struct origin){pending->event, now};
        taken = true;
    }
    pthread_mutex_unlock(&origins_mutex);
    weft__times_add(line->times, pending->work.sequence, (uint64_t)now);
    return taken;
}

static void done(weft__line *line, weft__pending *pending)
{
    weft__cuda_stream *s = line->owner;
    if (pending->submitted)
        weft__cuda_trace_done(s, pending);
    if (!line->times || pending->work.kind != WEFT__WORK_NONE || !pending->event ||
        !weft__cuda_usable() || atomic_load(&s->device->fault))
        return;
    const bool entered = weft__cuda_enter(s->device);
    if (keep_time(line, pending))
        pending->event = NULL;
    weft__cuda_leave(entered);
}

static void release(weft__line *line, void *event)
{
    const weft__cuda_stream *s = line->owner;
    if (s->generation == atomic_load(&s->device->generation))
        weft__cuda_event_give(s->device, event, line->times != NULL);
}

const weft__line_device weft__cuda_line = {state_of, fail, wait_for, done, release};

weft_status weft__cuda_event_after(weft__point point, bool *there, CUevent *event)
{
    *event = NULL;
    *there = true;
    if (weft__point_done(point))
        return WEFT_OK;
    weft__line *line = weft__line_lock(point, &weft__cuda_line);
    if (!line) {
        *there = weft__point_done(point);
        return WEFT_OK;
    }
    const weft__cuda_stream *s = line->owner;
    weft__pending *pending = weft__line_find(line, point.sequence), *marked = pending;
    *there = pending && !atomic_load(&pending->deferred);
    if (*there) {
        const bool entered = weft__cuda_enter(s->device);
        if ((marked = mark(line, pending)))
            *event = marked->event;
        weft__cuda_leave(entered);
    }
    pthread_mutex_unlock(&line->mutex);
    if (!pending) /* it was taken out, and will be known to be done any moment */
        *there = true;
    return marked || !pending
               ? WEFT_OK
               : FAIL(WEFT_ERROR_DEVICE, "cuda:%d has no event for a wait", s->device->index);
}
