/* OpenCL as a backend: the table of its functions, and what happens around fork and at the end. */
#include "backend/helper.h"
#include "backend/opencl/opencl.h"
#include "core/library.h"
#include <stdlib.h>

static void finish(void)
{
    if (!weft__opencl_usable())
        return;
    weft__stream_wait_all(WEFT_NO_DEVICE);
    weft__helpers_finish(WEFT_DEVICE_OPENCL);
    weft__opencl_give_up("the process is ending");
}

bool weft__opencl_end_first(void) { return atexit(finish) == 0; }

static int device_count(const char **why)
{
    const int count = weft__opencl_device_count(why);
    if (count > 0 && !weft__opencl_end_first()) {
        *why = "OpenCL: the system does not let the library end its work at exit";
        return 0;
    }
    return count;
}

/* The driver's threads are not there. */
static void fork_child(void)
{
    weft__opencl_give_up("the process forked, and the driver's threads are in its parent");
    weft__lines_after_fork();
    weft__helpers_after_fork();
}

const weft__backend weft__backend_opencl = {
    .name = "opencl",
    .kind = WEFT_DEVICE_OPENCL,
    .device_count = device_count,
    .device_describe = weft__opencl_device_describe,
    .device_is_gpu = weft__opencl_device_is_gpu,
    .device_place = weft__opencl_device_place,
    .device_reset = weft__opencl_device_reset,
    .memory_allocate = weft__opencl_memory_allocate,
    .memory_release = weft__opencl_memory_release,
    .memory_host_readable = weft__opencl_memory_host_readable,
    .memory_most = weft__opencl_memory_most,
    .memory_wrap = weft__opencl_memory_wrap,
    .memory_native = weft__opencl_memory_native,
    .look_every = 64,
    .claims = true,
    .stream_open = weft__opencl_stream_open,
    .stream_close = weft__opencl_stream_close,
    .stream_submit = weft__opencl_stream_submit,
    .stream_time = weft__opencl_stream_time,
    .device_native = weft__opencl_device_native,
    .stream_wrap = weft__opencl_stream_wrap,
    .stream_native = weft__opencl_stream_native,
    .event_native = weft__opencl_event_native,
    .module_load = weft__opencl_module_load,
    .module_binary = weft__opencl_module_binary,
    .module_release = weft__opencl_module_release,
    .fork_child = fork_child,
};
