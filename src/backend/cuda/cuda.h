/* The CUDA backend: what its files share. */
#ifndef WEFT_BACKEND_CUDA_CUDA_H
#define WEFT_BACKEND_CUDA_CUDA_H

#include "backend/cuda/library.h"
#include "backend/helper.h"
#include "backend/kernel_text.h"
#include "core/window.h"

extern const weft__backend weft__backend_cuda;

/* device.c */
typedef struct weft__cuda_device {
    int index;
    CUdevice id;
    int architecture;           /* 90 for capability 9.0 */
    int concurrent;             /* host and device may use managed memory at the same time */
    _Atomic(CUcontext) context; /* made when it is first needed */
    bool primary;
    _Atomic int fault;           /* a CUresult: the context is lost */
    _Atomic uint64_t generation; /* how many contexts were lost and replaced */
} weft__cuda_device;

int weft__cuda_device_count(const char **why);
weft_status weft__cuda_device_describe(int index, weft_device_info *info);
bool weft__cuda_device_is_gpu(int index);
uint64_t weft__cuda_device_place(int index);
weft_status weft__cuda_device_reset(int index);
weft_status weft__cuda_device_native(int index, void **handle);
/* What was found out when it was found. */
weft__cuda_device *weft__cuda_device_at(int index);
/* With its context; NULL, with the record set, if that cannot be made, has faulted, or if CUDA
 * cannot be used any more: in the child of a fork, or when the process ends. */
weft__cuda_device *weft__cuda_device_get(int index);
/* Why CUDA may not be called any more, for messages; NULL if it may. */
extern _Atomic(const char *) weft__cuda_given_up;
static inline bool weft__cuda_usable(void) { return !atomic_load(&weft__cuda_given_up); }
void weft__cuda_give_up(const char *why);
/* Whether weft__cuda_device_get would give it as it is. */
static inline bool weft__cuda_is_ready(const weft__cuda_device *device)
{
    return atomic_load_explicit(&device->context, memory_order_acquire) &&
           !atomic_load_explicit(&device->fault, memory_order_relaxed) && weft__cuda_usable();
}

/* Makes the device's context current for this thread, unless it is; leave with what enter
 * returned. A thread that had none keeps it, so that later calls find it there. */
bool weft__cuda_enter(const weft__cuda_device *device);
void weft__cuda_leave(bool entered);
/* Whether another context is current, or none: then a launch that was refused may have been for
 * that, and has done nothing. Asking first would cost all others a call of the driver. */
bool weft__cuda_is_elsewhere(const weft__cuda_device *device) __attribute__((cold));
/* Notes a fault if the code is one; returns the code. */
CUresult weft__cuda_note(weft__cuda_device *device, CUresult code);
/* WEFT_OK, or fails with what the call said, and notes a fault. */
weft_status weft__cuda_check(weft__cuda_device *device, const char *call, CUresult code);

/* memory.c */
void *weft__cuda_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed);
void weft__cuda_memory_release(int index, weft_memory kind, void *data, size_t bytes);
bool weft__cuda_memory_host_readable(int index, weft_memory kind);
/* Fails if memory that the work uses was lost with a context. */
weft_status weft__cuda_memory_check(const weft__cuda_device *device, const weft__work *work);

/* copy.c */
/* Whether the copy has an end in memory that the driver does not know, so that it takes the host's
 * part: then weft__cuda_copy_staged does it, which waits. */
bool weft__cuda_copy_waits(const weft__work *work);
weft_status weft__cuda_copy_rows(weft__cuda_device *device, CUstream stream, void *dst,
                                 const void *src, const weft__rows *rows);
weft_status weft__cuda_copy(weft__cuda_device *device, CUstream stream, const weft__work *work);
/* Whether the driver knows the memory at the address, which the work uses. */
bool weft__cuda_copy_knows(const weft__work *work, const void *address);
static inline CUdeviceptr weft__cuda_address(const void *data)
{
    return (CUdeviceptr)(uintptr_t)data;
}
/* stage.c */
weft_status weft__cuda_copy_staged(weft__cuda_device *device, CUstream stream,
                                   const weft__work *work);
/* Gives the buffers between host and device back. */
void weft__cuda_copy_drop(int index);

/* compile.c: a module's image from its text, to be freed with weft__free. */
weft_status weft__cuda_compile(const weft__cuda_device *device, const weft__kernel_text *text,
                               char **image, size_t *bytes);

/* launch.c */
weft_status weft__cuda_module_load(int index, weft__image *image, weft__module **module);
bool weft__cuda_module_binary(weft__module *module, void **data, size_t *bytes);
void weft__cuda_module_release(weft__module *module);
const weft__kernel_text *weft__cuda_module_text(const weft__module *module);
/* Queues a launch, a copy that does not wait or a graph; nothing for other work. Of these, only a
 * copy needs the context to be current. */
weft_status weft__cuda_enqueue(weft__cuda_device *device, CUstream stream, const weft__work *work);

/* graph.c */
weft_status weft__cuda_graph_make(int index, const weft__work *const *works, uint32_t count,
                                  void **graph);
void weft__cuda_graph_retain(void *graph);
void weft__cuda_graph_release(void *graph);
void *weft__cuda_graph_native(const void *graph);
void weft__cuda_graph_again(const void *graph, weft__again *again);
weft_status weft__cuda_graph_launch(void *graph, CUstream stream);

/* events.c */
typedef struct weft__cuda_stream {
    weft_stream *stream;
    weft__cuda_device *device;
    CUstream handle;
    bool foreign;        /* the handle is the user's */
    uint64_t generation; /* of the device's context that it was made in */
    weft__line *line;    /* NULL if synchronous, as the next */
    weft__helper *helper;
    _Atomic uint32_t deferred; /* pieces of work that the helper has */
    uint64_t reached;          /* known to be done; guarded by the line's `settling` */
} weft__cuda_stream;

/* What the line of a stream asks; its owner is the weft__cuda_stream. */
extern const weft__line_device weft__cuda_line;
/* Whether the point is on a stream of CUDA's, which has it: then *event is one after it, or NULL if
 * it is done. False: only the host can wait for it. Fails if no event can be had. */
weft_status weft__cuda_event_after(weft__point point, bool *there, CUevent *event);
/* An event of the device's context; NULL if there is none. */
CUevent weft__cuda_event_take(weft__cuda_device *device, bool timing);
void weft__cuda_event_give(weft__cuda_device *device, CUevent event, bool timing);
/* Forgets all, with their context. */
void weft__cuda_events_forget(int index);
/* In the child of a fork: locks of threads that are not there. */
void weft__cuda_events_after_fork(void);
void weft__cuda_memory_after_fork(void);
void weft__cuda_copy_after_fork(void);

/* trace.c: around work that is queued, if there is a trace, and when it is done. */
void weft__cuda_trace_begin(weft__cuda_stream *s, weft__pending *pending);
void weft__cuda_trace_end(weft__cuda_stream *s, weft__pending *pending, weft_status status);
void weft__cuda_trace_done(weft__cuda_stream *s, weft__pending *pending);

/* stream.c */
weft_status weft__cuda_stream_open(weft_stream *stream);
weft_status weft__cuda_stream_wrap(weft_stream *stream, void *handle);
void weft__cuda_stream_close(weft_stream *stream);
weft_status weft__cuda_stream_submit(weft_stream *stream, const weft__work *work);
weft_status weft__cuda_stream_time(weft_stream *stream, uint64_t sequence, double *seconds);
weft_status weft__cuda_stream_native(weft_stream *stream, void **handle);
weft_status weft__cuda_event_native(weft_stream *stream, uint64_t sequence, void **handle);

#endif
