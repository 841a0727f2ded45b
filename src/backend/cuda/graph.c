/* CUDA graphs: recorded work is put into a stream of our own that captures it. */
#include "backend/cuda/cuda.h"
#include "core/allocate.h"

typedef struct cuda_graph {
    _Atomic int references; /* the owner's, and one for each launch that the helper has */
    weft__cuda_device *device;
    uint64_t generation; /* of the context that it is in */
    CUgraph graph;
    CUgraphExec executable;
} cuda_graph;

/* Whether the driver keeps all that a launch is given: not the numbers of large ones, which are in
 * memory that lives until the kernel has run. */
static bool is_capturable(const weft__work *work)
{
    if (work->kind == WEFT__WORK_COPY)
        return !weft__cuda_copy_waits(work);
    return work->kind == WEFT__WORK_LAUNCH &&
           !weft__cuda_module_text(work->of.launch.module)->pointed;
}

static weft_status capture(cuda_graph *g, CUstream stream, const weft__work *const *works,
                           uint32_t count)
{
    weft__cuda_device *device = g->device;
    TRY(weft__cuda_check(device, "StreamBeginCapture",
                         weft__cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < count && status == WEFT_OK; i++)
        status = weft__cuda_enqueue(device, stream, works[i]);
    const CUresult code = weft__cu.StreamEndCapture(stream, &g->graph);
    TRY(status);
    return weft__cuda_check(device, "StreamEndCapture", code);
}

static weft_status fill(cuda_graph *g, const weft__work *const *works, uint32_t count)
{
    CUstream stream = NULL;
    TRY(weft__cuda_check(g->device, "StreamCreateWithPriority",
                         weft__cu.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0)));
    weft_status status = capture(g, stream, works, count);
    weft__cu.StreamDestroy(stream);
    TRY(status);
    return weft__cuda_check(g->device, "GraphInstantiate",
                            weft__cu.GraphInstantiate(&g->executable, g->graph, 0));
}

weft_status weft__cuda_graph_make(int index, const weft__work *const *works, uint32_t count,
                                  void **graph)
{
    weft__cuda_device *device = weft__cuda_device_get(index);
    if (!device)
        return weft_error_code();
    for (uint32_t i = 0; i < count; i++)
        if (!weft__cu.GraphLaunch || !is_capturable(works[i]))
            return WEFT_OK;
    cuda_graph *g = weft__allocate_zeroed(sizeof *g);
    if (!g)
        return WEFT_ERROR_MEMORY;
    atomic_init(&g->references, 1);
    g->device = device;
    g->generation = atomic_load(&device->generation);
    const bool entered = weft__cuda_enter(device);
    const weft_status status = fill(g, works, count);
    weft__cuda_leave(entered);
    if (status == WEFT_OK)
        *graph = g;
    else
        weft__cuda_graph_release(g);
    return status;
}

void weft__cuda_graph_retain(void *graph)
{
    atomic_fetch_add(&((cuda_graph *)graph)->references, 1);
}

/* What the device has of it, it still does. */
void weft__cuda_graph_release(void *graph)
{
    cuda_graph *g = graph;
    if (!g || atomic_fetch_sub(&g->references, 1) != 1)
        return;
    weft__cuda_device *device = g->device;
    if (weft__cuda_usable() && !atomic_load(&device->fault) &&
        g->generation == atomic_load(&device->generation)) {
        const bool entered = weft__cuda_enter(device);
        if (g->executable)
            weft__cu.GraphExecDestroy(g->executable);
        if (g->graph)
            weft__cu.GraphDestroy(g->graph);
        weft__cuda_leave(entered);
    }
    weft__free(g);
}

void *weft__cuda_graph_native(const void *graph) { return ((const cuda_graph *)graph)->graph; }

static int launch_again(void *executable, void *stream)
{
    return weft__cu.GraphLaunch(executable, stream);
}

void weft__cuda_graph_again(const void *graph, weft__again *again)
{
    again->what = ((const cuda_graph *)graph)->executable;
    again->queue = launch_again;
}

weft_status weft__cuda_graph_launch(void *graph, CUstream stream)
{
    const cuda_graph *g = graph;
    if (g->generation != atomic_load(&g->device->generation))
        return FAIL(WEFT_ERROR_DEVICE, "the graph was lost when cuda:%d faulted; record it again",
                    g->device->index);
    CUresult code = weft__cu.GraphLaunch(g->executable, stream);
    if (code != CUDA_SUCCESS && weft__cuda_is_elsewhere(g->device)) {
        const bool entered = weft__cuda_enter(g->device);
        code = weft__cu.GraphLaunch(g->executable, stream);
        weft__cuda_leave(entered);
    }
    return weft__cuda_check(g->device, "GraphLaunch", code);
}
