/* CUDA as a backend: the table of its functions, and what happens around fork and at the end. */
#include "backend/cuda/cuda.h"
#include <stdlib.h>

/* Registered after the driver has started, so it runs before the driver ends. */
static void finish(void)
{
    if (!weft__cuda_usable())
        return;
    weft__stream_wait_all(WEFT_NO_DEVICE);
    weft__helpers_finish(WEFT_DEVICE_CUDA);
    weft__cuda_give_up("the process is ending");
}

static int device_count(const char **why)
{
    const int count = weft__cuda_device_count(why);
    if (count > 0 && atexit(finish) != 0) {
        *why = "CUDA: the system does not let the library end its work at exit";
        return 0;
    }
    return count;
}

/* The driver does not work there. */
static void fork_child(void)
{
    weft__cuda_give_up("the process forked, and the driver works in its parent alone");
    weft__cuda_events_after_fork();
    weft__cuda_memory_after_fork();
    weft__cuda_copy_after_fork();
    weft__lines_after_fork();
    weft__helpers_after_fork();
}

const weft__backend weft__backend_cuda = {
    .name = "cuda",
    .kind = WEFT_DEVICE_CUDA,
    .device_count = device_count,
    .device_describe = weft__cuda_device_describe,
    .device_is_gpu = weft__cuda_device_is_gpu,
    .device_place = weft__cuda_device_place,
    .device_reset = weft__cuda_device_reset,
    .memory_allocate = weft__cuda_memory_allocate,
    .memory_release = weft__cuda_memory_release,
    .memory_host_readable = weft__cuda_memory_host_readable,
    .stream_open = weft__cuda_stream_open,
    .stream_close = weft__cuda_stream_close,
    .stream_submit = weft__cuda_stream_submit,
    .look_every = 128,
    .claims = true,
    .stream_time = weft__cuda_stream_time,
    .device_native = weft__cuda_device_native,
    .stream_native = weft__cuda_stream_native,
    .event_native = weft__cuda_event_native,
    .stream_wrap = weft__cuda_stream_wrap,
    .module_load = weft__cuda_module_load,
    .module_binary = weft__cuda_module_binary,
    .module_release = weft__cuda_module_release,
    .graph_make = weft__cuda_graph_make,
    .graph_release = weft__cuda_graph_release,
    .graph_native = weft__cuda_graph_native,
    .graph_again = weft__cuda_graph_again,
    .fork_child = fork_child,
};
