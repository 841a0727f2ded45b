/* Events: a place in the work of a stream. */
#include "core/allocate.h"
#include "core/record.h"
#include <time.h>

struct weft_event {
    _Atomic int references;
    pthread_mutex_t mutex; /* guards what follows */
    weft_stream *stream;   /* retained; NULL if never recorded */
    weft__point point;
    double seconds; /* when it was recorded on a synchronous stream with profiling */
};

weft_event *weft_event_new(void)
{
    OPERATION("weft_event_new");
    weft_event *event = weft__allocate_zeroed(sizeof *event);
    if (event) {
        atomic_init(&event->references, 1);
        pthread_mutex_init(&event->mutex, NULL);
    }
    return event;
}

weft_event *weft_event_retain(weft_event *event)
{
    if (event)
        atomic_fetch_add(&event->references, 1);
    return event;
}

void weft_event_release(weft_event *event)
{
    if (!event || atomic_fetch_sub(&event->references, 1) != 1)
        return;
    weft_stream_release(event->stream);
    pthread_mutex_destroy(&event->mutex);
    weft__free(event);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void set_event(weft_event *event, weft_stream *stream, weft__point point)
{
    weft_stream *old;
    weft_stream_retain(stream);
    pthread_mutex_lock(&event->mutex);
    old = event->stream;
    event->stream = stream;
    event->point = point;
    event->seconds = stream->async ? 0 : now();
    pthread_mutex_unlock(&event->mutex);
    weft_stream_release(old);
}

weft_status weft_event_record(weft_event *event, weft_stream *stream)
{
    OPERATION("weft_event_record");
    if (!event || !stream)
        return weft__fail_null(event ? "stream" : "event");
    weft__work work = {.kind = WEFT__WORK_NONE, .operation = weft__operation()};
    TRY(weft__submit(stream, &work));
    set_event(event, stream, (weft__point){work.timeline, work.sequence});
    return WEFT_OK;
}

/* The point of an event, and its stream, retained; an error if it was never recorded. */
static weft_status get_event(const weft_event *event, weft__point *point, weft_stream **stream,
                             double *seconds)
{
    weft_event *inside = (weft_event *)event; /* only its mutex is written */
    if (!event)
        return weft__fail_null("event");
    pthread_mutex_lock(&inside->mutex);
    *point = event->point;
    *stream = weft_stream_retain(event->stream);
    *seconds = event->seconds;
    pthread_mutex_unlock(&inside->mutex);
    if (*stream)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "event",
                   "the event was never recorded; call weft_event_record first");
}

weft_status weft_stream_wait_event(weft_stream *stream, const weft_event *event)
{
    weft__point point;
    weft_stream *of;
    double seconds;
    OPERATION("weft_stream_wait_event");
    if (!stream)
        return weft__fail_null("stream");
    TRY(get_event(event, &point, &of, &seconds));
    weft_status status = weft__stream_wait_point(stream, point);
    weft_stream_release(of);
    return status;
}

weft_status weft_event_synchronize(const weft_event *event)
{
    weft__point point;
    weft_stream *stream;
    double seconds;
    OPERATION("weft_event_synchronize");
    TRY(weft__record_refuse(WEFT__RECORD_WAITS));
    TRY(get_event(event, &point, &stream, &seconds));
    weft_status status = weft__wait_points(&point, 1, stream->device, false);
    if (status == WEFT_OK)
        status = weft__stream_check(stream);
    weft_stream_release(stream);
    return status;
}

weft_status weft_event_query(const weft_event *event, bool *done)
{
    weft__point point;
    weft_stream *stream;
    double seconds;
    OPERATION("weft_event_query");
    TRY(weft__check_result(done, "done"));
    TRY(get_event(event, &point, &stream, &seconds));
    weft__timeline_look(point.timeline);
    *done = weft__point_done(point);
    weft_stream_release(stream);
    return WEFT_OK;
}

static weft_status event_time(const weft_event *event, double *seconds)
{
    weft__point point;
    weft_stream *stream;
    TRY(get_event(event, &point, &stream, seconds));
    weft_status status = WEFT_OK;
    if (!stream->profiling)
        status =
            FAIL_AT(WEFT_ERROR_ARGUMENT, "event",
                    "the event was recorded on a stream without profiling; make the stream with "
                    ".profiling = true");
    else if (!weft__point_done(point))
        status = FAIL_AT(WEFT_ERROR_ARGUMENT, "event",
                         "the event is not done; call weft_event_synchronize first");
    else if (stream->async)
        status = stream->backend->stream_time(stream, point.sequence, seconds);
    weft_stream_release(stream);
    return status;
}

weft_status weft_event_elapsed(const weft_event *start, const weft_event *end, double *seconds)
{
    double from, to;
    OPERATION("weft_event_elapsed");
    TRY(weft__check_result(seconds, "seconds"));
    TRY(event_time(start, &from));
    TRY(event_time(end, &to));
    *seconds = to - from;
    return WEFT_OK;
}

weft_status weft_event_native(const weft_event *event, void **handle)
{
    weft__point point;
    weft_stream *stream;
    double seconds;
    OPERATION("weft_event_native");
    if (!handle)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "handle",
                       "handle is NULL; a place for it was expected");
    TRY(get_event(event, &point, &stream, &seconds));
    weft_status status;
    if (stream->backend->event_native)
        status = stream->backend->event_native(stream, point.sequence, handle);
    else
        status = FAIL_AT(WEFT_ERROR_UNSUPPORTED, "event", "an event on %s has no native handle",
                         weft_device_id(stream->device));
    weft_stream_release(stream);
    return status;
}
