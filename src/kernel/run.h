/* Running kernels on arrays. */
#ifndef WEFT_KERNEL_RUN_H
#define WEFT_KERNEL_RUN_H

#include "core/array.h"
#include "kernel/prepared.h"

/* Queues the kernel on the stream. Operand k of the kernel is arrays[k], broadcast to the index
 * space; an output has exactly its shape, and was checked with weft__array_check_output. `scalars`
 * are the run-time scalars, each in the low bytes of its word. The result is as if every input had
 * been read before any output was written, and the outputs in the order of the operands. */
weft_status weft__kernel_run(const weft__kernel *kernel, weft_stream *stream,
                             const weft_shape *space, weft_array *const *arrays,
                             const uint64_t *scalars);
/* The same, of operands that the caller knows not to overlap, unless an output has the map of an
 * input: many parts of one array, which would take long to tell apart. */
weft_status weft__kernel_run_apart(const weft__kernel *kernel, weft_stream *stream,
                                   const weft_shape *space, weft_array *const *arrays,
                                   const uint64_t *scalars);
/* The same for a kernel with scatters, over `points` points that move `cost` bytes each. Operands
 * are first elements, as arrays without axes. */
weft_status weft__kernel_run_tasks(const weft__kernel *kernel, weft_stream *stream, int64_t points,
                                   uint32_t cost, weft_array *const *arrays,
                                   const uint64_t *scalars);
/* The same for a kernel that is run again and again, over the same index space and arrays of the
 * same shapes: what was prepared is kept in *kept, which is NULL before the first run, is used by
 * one thread at a time, and is freed with weft__free. */
weft_status weft__kernel_run_again(const weft__kernel *kernel, weft__prepared **kept,
                                   weft_stream *stream, const weft_shape *space,
                                   weft_array *const *arrays, const uint64_t *scalars);
/* Once more with the very same arrays, none of which has a new `layout`, on a stream of the same
 * device. What was kept must be `filled`. */
weft_status weft__kernel_run_same(const weft__kernel *kernel, weft__prepared *kept,
                                  weft_stream *stream, const uint64_t *scalars);

/* For the same, without a look at anything: true if it may be queued at once, and must be then,
 * with weft__window_queue, after the scalars are put where kept->again says. */
static inline bool weft__kernel_enter_again(const weft__prepared *kept)
{
    const uint64_t window = atomic_load_explicit(&kept->again.window, memory_order_relaxed);
    const weft__thread *thread = weft__thread_state;
    return window && kept->streams_moved == thread->streams_moved && !thread->recorder &&
           weft__window_enter(kept->timeline, window);
}

/* Gets what weft__kernel_run_again needs beyond its arguments, so that it does not run out of
 * memory if it is called next with the same ones: memory, and compiled code. Not for operands that
 * must be brought to the device. Where (*kept)->hazard is an output, nothing was got: reserve and
 * run with a new array instead of it, and move that afterwards, after those of earlier outputs. */
weft_status weft__kernel_reserve(const weft__kernel *kernel, weft__prepared **kept,
                                 weft_stream *stream, const weft_shape *space,
                                 weft_array *const *arrays, const uint64_t *scalars);
/* Gives it up again, if it was not run. */
void weft__kernel_unreserve(weft__prepared *kept);

#endif
