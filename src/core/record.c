/* Recording: what is noted, and what cannot be. */
#include "core/record.h"

static weft_status refuse(weft__recorder *recorder, const char *why)
{
    const weft_status status =
        FAIL(WEFT_ERROR_UNSUPPORTED, "this cannot be recorded in a graph: %s", why);
    if (recorder->refused.code == WEFT_OK)
        recorder->refused = *weft_error_last();
    return status;
}

weft_status weft__record_refuse(const char *why)
{
    const weft__thread *thread = weft__thread_peek();
    return thread && thread->recorder ? refuse(thread->recorder, why) : WEFT_OK;
}

static const char *check(const weft__recorder *recorder, const weft_stream *stream,
                         const weft__work *work)
{
    if (stream != recorder->stream)
        return "its work goes to another stream than the one that is recorded; make that one "
               "current, and do the rest before or after";
    if (work->kind == WEFT__WORK_CALL)
        return "it calls a function of the host's; call that between launches of graphs";
    if (work->kind == WEFT__WORK_NONE)
        return "it is an event or a wait for one; do that between launches of graphs";
    for (uint32_t i = 0; i < work->uses_count; i++)
        if (!weft_device_equal(work->uses[i].buffer->device, stream->device))
            return "it uses memory of another device, or that was lent; copy before or after";
    return NULL;
}

/* They have no values before they are computed for the first time. */
static void mark_unset(const weft__recorder *recorder, const weft__work *work)
{
    for (const weft__use *use = work->uses, *end = use + work->uses_count; use < end; use++)
        if (use->write && use->buffer->recording == recorder->number)
            weft__buffer_set_failure(use->buffer, use->generation, recorder->unset);
}

weft_status weft__record(weft_stream *stream, const weft__work *work)
{
    weft__recorder *recorder = weft__thread_peek()->recorder;
    const char *why = check(recorder, stream, work);
    if (why)
        return refuse(recorder, why);
    const weft_status status = recorder->record(recorder, work);
    if (status == WEFT_OK)
        mark_unset(recorder, work);
    if (status != WEFT_OK && recorder->refused.code == WEFT_OK)
        recorder->refused = *weft_error_last();
    return status;
}
