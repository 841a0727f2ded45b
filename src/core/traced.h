/* Work on the timeline: what is recorded of it. Called only where there is one. */
#ifndef WEFT_CORE_TRACED_H
#define WEFT_CORE_TRACED_H

#include "core/stream.h"
#include "trace/trace.h"

/* The work took from `begin` to now, in this thread. */
void weft__traced_work(const weft_stream *stream, const weft__work *work, uint64_t begin);
/* The same of work that a device did: from `begin` to `end` on its own clock, after `submitted` on
 * the host's; both 0 if it cannot tell. */
void weft__traced_on_device(const weft_stream *stream, const weft__work *work, uint64_t submitted,
                            uint64_t begin, uint64_t end);
/* Does the work in this thread, and records it. */
weft_status weft__traced_run(weft_stream *stream, const weft__work *work);
/* Waits for the point, in this thread or, if `worker` is its timeline, in that of a stream. */
void weft__traced_wait(weft__point point, const weft__timeline *worker);
/* An allocation from `begin` to now. */
void weft__traced_allocation(weft_device device, uint64_t bytes, bool reused, uint64_t begin);
/* A compilation from `begin` to now, of code that comes from `source`. */
void weft__traced_compilation(weft_device device, const char *compiler, uint32_t source,
                              uint64_t begin);

#endif
