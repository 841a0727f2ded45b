/* Work on the timeline: its name, bytes and place. */
#include "core/traced.h"
#include "core/buffer.h"
#include <stdio.h>
#include <string.h>

static uint32_t text_of(const char *text) { return weft__trace_text(text, strlen(text)); }

static const char *device_id(const weft__buffer *buffer)
{
    return buffer->device.kind == WEFT_DEVICE_NONE ? "host" : weft_device_id(buffer->device);
}

/* From where to where: what is not a buffer's is the host's. */
static uint32_t name_of_copy(const weft__work *work)
{
    const char *from = "host", *to = "host";
    char name[80];
    for (uint32_t i = 0; i < work->uses_count; i++)
        *(work->uses[i].write ? &to : &from) = device_id(work->uses[i].buffer);
    snprintf(name, sizeof name, "copy %s to %s", from, to);
    return text_of(name);
}

static uint64_t bytes_of(const weft__work *work)
{
    switch (work->kind) {
    case WEFT__WORK_LAUNCH:
        return work->of.launch.bytes;
    case WEFT__WORK_COPY:
        return work->of.copy.bytes;
    case WEFT__WORK_PARTS:
        return work->of.parts.cost;
    default:
        return 0;
    }
}

/* What is done on a stream that has no timeline of its own is in the row of the calling thread. */
static uint32_t row_of(const weft__timeline *timeline)
{
    return timeline ? atomic_load(&timeline->trace_row) : 0;
}

static weft__trace_event event_of(const weft_stream *stream, const weft__work *work)
{
    const bool copy = work->kind == WEFT__WORK_COPY, call = work->kind == WEFT__WORK_CALL;
    return (weft__trace_event){.bytes = bytes_of(work),
                               .row = row_of(stream->timeline),
                               .name = copy ? name_of_copy(work) : text_of(work->operation),
                               .source = work->source,
                               .device = stream->device,
                               .kind = copy   ? WEFT__TRACE_COPY
                                       : call ? WEFT__TRACE_CALL
                                              : WEFT__TRACE_KERNEL};
}

void weft__traced_work(const weft_stream *stream, const weft__work *work, uint64_t begin)
{
    const uint64_t end = weft__trace_now();
    if (work->kind == WEFT__WORK_NONE)
        return;
    weft__trace_event event = event_of(stream, work);
    event.begin = begin;
    event.end = end;
    weft__trace_add(&event);
}

void weft__traced_on_device(const weft_stream *stream, const weft__work *work, uint64_t submitted,
                            uint64_t begin, uint64_t end)
{
    if (work->kind == WEFT__WORK_NONE || work->kind == WEFT__WORK_CALL) /* that, the helper does */
        return;
    weft__trace_event event = event_of(stream, work);
    event.device_clock = end != 0;
    event.begin = end ? begin : submitted;
    event.end = end ? end : submitted;
    if (event.device_clock)
        weft__trace_align(stream->device, submitted, begin);
    weft__trace_add(&event);
}

weft_status weft__traced_run(weft_stream *stream, const weft__work *work)
{
    const uint64_t begin = weft__trace_now();
    const weft_status status = stream->backend->stream_submit(stream, work);
    weft__traced_work(stream, work, begin);
    return status;
}

void weft__traced_wait(weft__point point, const weft__timeline *worker)
{
    char name[80];
    const uint32_t of = row_of(point.timeline);
    snprintf(name, sizeof name, "wait for %s", of ? weft__trace_row_name(of) : "another thread");
    weft__trace_event event = {.row = row_of(worker),
                               .name = text_of(name),
                               .source = weft__trace_source,
                               .device = of ? weft__trace_row_device(of) : WEFT_CPU,
                               .kind = WEFT__TRACE_WAIT};
    event.begin = weft__trace_now();
    weft__timeline_wait(point.timeline, point.sequence);
    event.end = weft__trace_now();
    weft__trace_add(&event);
}

void weft__traced_allocation(weft_device device, uint64_t bytes, bool reused, uint64_t begin)
{
    const weft__trace_event event = {.begin = begin,
                                     .end = weft__trace_now(),
                                     .bytes = bytes,
                                     .name = text_of(reused ? "reuse memory" : "allocate memory"),
                                     .source = weft__trace_source,
                                     .device = device,
                                     .kind = WEFT__TRACE_ALLOCATION};
    weft__trace_add(&event);
}

void weft__traced_compilation(weft_device device, const char *compiler, uint32_t source,
                              uint64_t begin)
{
    char name[80];
    snprintf(name, sizeof name, "compile for %s (%s)", weft_device_id(device), compiler);
    const weft__trace_event event = {.begin = begin,
                                     .end = weft__trace_now(),
                                     .name = text_of(name),
                                     .source = source,
                                     .device = device,
                                     .kind = WEFT__TRACE_COMPILE};
    weft__trace_add(&event);
}
