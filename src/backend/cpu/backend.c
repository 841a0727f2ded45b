/* The CPU as a backend: the table of its functions, and the order of things around fork and
 * unloading. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/worker.h"

/* Streams first: a worker that has to finish its work may need the pool for it. */
static void fork_prepare(void)
{
    weft__workers_pause();
    weft__cpu_pool_pause();
}

static void fork_parent(void)
{
    weft__cpu_pool_resume();
    weft__workers_resume();
}

static void fork_child(void)
{
    weft__cpu_pool_after_fork();
    weft__workers_after_fork();
}

static void shut_down(void)
{
    weft__workers_finish();
    weft__cpu_pool_stop();
}

const weft__backend weft__backend_cpu = {
    .name = "cpu",
    .kind = WEFT_DEVICE_CPU,
    .device_count = weft__cpu_device_count,
    .device_describe = weft__cpu_device_describe,
    .device_reset = weft__cpu_device_reset,
    .memory_allocate = weft__cpu_memory_allocate,
    .memory_release = weft__cpu_memory_release,
    .memory_host_readable = weft__cpu_memory_host_readable,
    .stream_open = weft__cpu_stream_open,
    .stream_close = weft__cpu_stream_close,
    .stream_submit = weft__cpu_stream_submit,
    .stream_time = weft__cpu_stream_time,
    .module_load = weft__cpu_module_load,
    .module_release = weft__cpu_module_release,
    .fork_prepare = fork_prepare,
    .fork_parent = fork_parent,
    .fork_child = fork_child,
    .shutdown = shut_down,
};
