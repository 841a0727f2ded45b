/* Streams on the CPU: the caller does the work of synchronous ones, a worker that of asynchronous
 * ones. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/worker.h"

/* `native` is the worker; a synchronous stream needs nothing. */
weft_status weft__cpu_stream_open(weft_stream *stream)
{
    if (stream->async)
        stream->native = weft__worker_new(stream);
    return stream->native || !stream->async ? WEFT_OK : WEFT_ERROR_MEMORY;
}

void weft__cpu_stream_close(weft_stream *stream)
{
    if (stream->async)
        weft__worker_close(stream->native);
}

weft_status weft__cpu_stream_submit(weft_stream *stream, const weft__work *work)
{
    return stream->async ? weft__worker_submit(stream->native, work) : weft__cpu_work_run(work);
}

weft_status weft__cpu_stream_time(weft_stream *stream, uint64_t sequence, double *seconds)
{
    const weft__worker *worker = stream->native;
    if (!worker || !worker->times)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "the stream keeps no times; make it with .async = true and "
                    ".profiling = true");
    return weft__times_find(worker->times, sequence, seconds);
}
