/* Graphs: recording work, and replaying it piece by piece or, where the device can, at once. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/record.h"
#include "kernel/cache.h"
#include "trace/trace.h"
#include <string.h>
#include <weft/graph.h>

/* A piece of work, copied, with its uses and its launch. */
typedef struct recorded {
    weft__work work;
    void *block; /* where those are */
} recorded;

struct weft_graph {
    _Atomic int references;
    weft__device *device;
    uint64_t resets; /* of the device, when it was recorded */
    recorded *works;
    weft__use *uses; /* of all works together; each buffer is retained once */
    uint32_t works_count, works_room, uses_count, uses_room;
    uint64_t launches;    /* kernels among the works */
    uint64_t number;      /* of the recording */
    weft__failure *unset; /* of arrays that were made in it, until it is launched */
    _Atomic bool launched;
    void *native; /* the backend's; NULL: work is replayed piece by piece */
    weft__again again;
};

/* What a thread has while it records. */
typedef struct recording {
    weft__recorder recorder; /* first */
    weft_graph *graph;
} recording;

/* Whether the device was reset since, with kernels and all; stays so for as long as this thread
 * reads. */
static bool is_lost(const weft_graph *graph)
{
    return atomic_load(&graph->device->resets) != graph->resets;
}

static void let_kernels_go(const weft_graph *graph)
{
    weft__thread_reading(true);
    for (uint32_t i = 0; !is_lost(graph) && i < graph->works_count; i++)
        if (graph->works[i].work.kind == WEFT__WORK_LAUNCH)
            weft__cache_hold(graph->works[i].work.of.launch.entry, false);
    weft__thread_reading(false);
}

static void free_graph(weft_graph *graph)
{
    if (graph->native)
        graph->device->backend->graph_release(graph->native);
    if (weft__thread_get())
        let_kernels_go(graph);
    for (uint32_t i = 0; i < graph->uses_count; i++)
        weft__buffer_release(graph->uses[i].buffer);
    for (uint32_t i = 0; i < graph->works_count; i++)
        weft__free(graph->works[i].block);
    weft__failure_release(graph->unset);
    weft__free(graph->uses);
    weft__free(graph->works);
    weft__free(graph);
}

static weft_status reserve(void **list, uint32_t count, uint32_t *room, size_t size)
{
    enum { FIRST = 16 };
    if (count < *room)
        return WEFT_OK;
    const uint32_t more = *room ? 2 * *room : FIRST;
    void *grown = weft__reallocate(*list, more * size);
    if (!grown)
        return WEFT_ERROR_MEMORY;
    *list = grown;
    *room = more;
    return WEFT_OK;
}

static weft__use *find_use(const weft_graph *graph, const weft__buffer *buffer, bool write)
{
    for (uint32_t i = 0; i < graph->uses_count; i++)
        if (graph->uses[i].buffer == buffer && graph->uses[i].write == write)
            return &graph->uses[i];
    return NULL;
}

/* What the graph does to the buffer as a whole: a read of what it has written itself is none. */
static weft_status add_use(weft_graph *graph, weft__use use)
{
    weft__use *same = find_use(graph, use.buffer, use.write);
    const weft__use *written = find_use(graph, use.buffer, true);
    if (same)
        same->whole |= use.whole;
    if (same || (!use.write && written && written->whole))
        return WEFT_OK;
    void *list = graph->uses;
    const weft_status status =
        reserve(&list, graph->uses_count, &graph->uses_room, sizeof *graph->uses);
    graph->uses = list;
    TRY(status);
    weft__buffer_retain(use.buffer);
    graph->uses[graph->uses_count++] = use;
    return WEFT_OK;
}

/* The uses, then the launch or what the parts of a function are given. */
static weft_status copy_work(const weft__work *work, recorded *copy)
{
    const size_t uses = work->uses_count * sizeof *work->uses;
    const void *rest = NULL;
    size_t bytes = 0;
    if (work->kind == WEFT__WORK_LAUNCH)
        rest = work->of.launch.launch, bytes = work->of.launch.launch->bytes;
    if (work->kind == WEFT__WORK_PARTS)
        rest = work->of.parts.block, bytes = work->of.parts.bytes;
    char *block = weft__allocate(uses + bytes + 1);
    if (!block)
        return WEFT_ERROR_MEMORY;
    *copy = (recorded){*work, block};
    copy->work.again = NULL;
    copy->work.uses = uses ? memcpy(block, work->uses, uses) : NULL;
    if (bytes)
        memcpy(block + uses, rest, bytes);
    if (work->kind == WEFT__WORK_LAUNCH)
        copy->work.of.launch.launch = (const weft__launch *)(const void *)(block + uses);
    if (work->kind == WEFT__WORK_PARTS)
        copy->work.of.parts.block = block + uses;
    return WEFT_OK;
}

static weft_status record(weft__recorder *recorder, const weft__work *work)
{
    weft_graph *graph = ((recording *)recorder)->graph;
    void *list = graph->works;
    const weft_status status =
        reserve(&list, graph->works_count, &graph->works_room, sizeof *graph->works);
    graph->works = list;
    TRY(status);
    for (uint32_t i = 0; i < work->uses_count; i++)
        TRY(add_use(graph, work->uses[i]));
    TRY(copy_work(work, &graph->works[graph->works_count]));
    graph->works_count++;
    if (work->kind == WEFT__WORK_LAUNCH)
        weft__cache_hold(work->of.launch.entry, true);
    graph->launches += work->kind != WEFT__WORK_COPY;
    return WEFT_OK;
}

/* Of a thread that ends, too. */
static void free_recording(void *handle)
{
    recording *r = handle;
    weft_stream_release(r->recorder.stream);
    if (r->graph)
        free_graph(r->graph);
    weft__free(r);
}

static weft_status check_begin(const weft_stream *stream)
{
    const weft__thread *thread = weft__thread_get();
    if (!stream)
        return weft__fail_null("stream");
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (thread->recorder)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "this thread records a graph already; call weft_graph_end first");
    if (weft__in_callback())
        return FAIL(WEFT_ERROR_STREAM, "a function called by a stream cannot record a graph");
    return WEFT_OK;
}

/* NULL if memory ran out. */
static weft__failure *new_unset(void)
{
    const weft_error before = *weft_error_last();
    (void)FAIL(WEFT_ERROR_RESULT,
               "what computes it was recorded in a graph and not done; call weft_graph_launch");
    weft__failure *unset = weft__failure_new(weft__operation());
    if (unset->error.code == WEFT_ERROR_RESULT) {
        weft__error_restore(&before);
        return unset;
    }
    weft__failure_release(unset);
    return NULL;
}

static weft_graph *new_graph(weft__device *device)
{
    static _Atomic uint64_t count;
    weft_graph *graph = weft__allocate_zeroed(sizeof *graph);
    if (!graph || !(graph->unset = new_unset())) {
        weft__free(graph);
        return NULL;
    }
    atomic_init(&graph->references, 1);
    graph->device = device;
    graph->resets = atomic_load(&device->resets);
    graph->number = atomic_fetch_add(&count, 1) + 1;
    return graph;
}

weft_status weft_graph_begin(weft_stream *stream)
{
    OPERATION("weft_graph_begin");
    TRY(check_begin(stream));
    recording *r = weft__allocate_zeroed(sizeof *r);
    weft_graph *graph = r ? new_graph(weft__device_get(stream->device)) : NULL;
    if (!graph) {
        weft__free(r);
        return WEFT_ERROR_MEMORY;
    }
    r->graph = graph;
    r->recorder = (weft__recorder){.stream = weft_stream_retain(stream),
                                   .record = record,
                                   .number = graph->number,
                                   .unset = graph->unset};
    weft__thread_state->recorder_free = free_recording;
    weft__thread_state->recorder = &r->recorder;
    return WEFT_OK;
}

/* The backend's form of it, if it has one. */
static weft_status make_native(weft_graph *graph)
{
    const weft__backend *backend = graph->device->backend;
    if (!backend->graph_make || graph->works_count == 0)
        return WEFT_OK;
    const weft__work **works = weft__allocate(graph->works_count * sizeof *works);
    if (!works)
        return WEFT_ERROR_MEMORY;
    for (uint32_t i = 0; i < graph->works_count; i++)
        works[i] = &graph->works[i].work;
    weft__thread_reading(true);
    const weft_status status = is_lost(graph)
                                   ? WEFT_OK
                                   : backend->graph_make(graph->device->id.index, works,
                                                         graph->works_count, &graph->native);
    weft__thread_reading(false);
    weft__free(works);
    graph->again.launches = graph->launches;
    if (graph->native && backend->graph_again)
        backend->graph_again(graph->native, &graph->again);
    return status;
}

weft_graph *weft_graph_end(weft_stream *stream)
{
    OPERATION("weft_graph_end");
    weft__thread *thread = weft__thread_peek();
    recording *r = thread ? (recording *)thread->recorder : NULL;
    if (!stream)
        return weft__fail_null("stream"), NULL;
    if (!r || r->recorder.stream != stream)
        return FAIL_AT_NULL(WEFT_ERROR_ARGUMENT, "stream",
                            "this thread does not record a graph of that stream; call "
                            "weft_graph_begin with it first");
    thread->recorder = NULL;
    weft_graph *graph = NULL;
    if (r->recorder.refused.code != WEFT_OK)
        weft__error_restore(&r->recorder.refused);
    else if (make_native(r->graph) == WEFT_OK) {
        graph = r->graph;
        r->graph = NULL;
    }
    free_recording(r);
    return graph;
}

weft_graph *weft_graph_retain(weft_graph *graph)
{
    if (graph)
        atomic_fetch_add(&graph->references, 1);
    return graph;
}

void weft_graph_release(weft_graph *graph)
{
    if (graph && atomic_fetch_sub(&graph->references, 1) == 1)
        free_graph(graph);
}

/* On the CPU with the machine code that there is by now. */
static weft_status replay_launch(weft_stream *stream, weft__work work)
{
    enum { INLINE = 2048 };
    _Alignas(16) char memory[INLINE];
    const weft__launch *launch = work.of.launch.launch;
    weft__compiled found;
    if (stream->device.kind != WEFT_DEVICE_CPU || !work.of.launch.entry ||
        launch->bytes > sizeof memory)
        return weft__submit(stream, &work);
    weft__launch *copy = memcpy(memory, launch, launch->bytes);
    TRY(weft__cache_find_held(work.of.launch.entry, launch, &found));
    copy->grain = found.grain;
    work.of.launch.module = found.module;
    work.of.launch.launch = copy;
    return weft__submit(stream, &work);
}

__attribute__((noinline)) static weft_status replay(const weft_graph *graph, weft_stream *stream)
{
    for (uint32_t i = 0; i < graph->works_count; i++) {
        weft__work work = graph->works[i].work;
        TRY(work.kind == WEFT__WORK_LAUNCH ? replay_launch(stream, work)
                                           : weft__submit(stream, &work));
    }
    return WEFT_OK;
}

static weft_status launch_native(weft_graph *graph, weft_stream *stream, uint64_t generation)
{
    weft__work work = {.kind = WEFT__WORK_GRAPH,
                       .again = graph->again.queue ? &graph->again : NULL,
                       .generation = generation,
                       .operation = weft__operation(),
                       .uses = graph->uses,
                       .uses_count = graph->uses_count,
                       .of.graph = graph->native};
    return weft__submit(stream, &work);
}

static weft_status check_launch(const weft_graph *graph, const weft_stream *stream)
{
    if (!graph || !stream)
        return weft__fail_null(graph ? "stream" : "graph");
    TRY(weft__record_refuse("it launches another graph; launch them one after the other"));
    if (!weft_device_equal(stream->device, graph->device->id))
        return FAIL_AT(WEFT_ERROR_PLACEMENT, "stream",
                       "the graph was recorded on %s and the stream is on %s; record it there too",
                       graph->device->name, weft_device_id(stream->device));
    return weft__thread_get() ? WEFT_OK : WEFT_ERROR_MEMORY;
}

/* Says of the arrays that were made in the recording that they will have values, or still have
 * none. */
__attribute__((noinline)) static void set_unset(const weft_graph *graph, bool unset)
{
    for (const weft__use *use = graph->uses, *end = use + graph->uses_count; use < end; use++)
        if (use->write && use->buffer->recording == graph->number && unset)
            weft__buffer_set_failure(use->buffer, use->generation, graph->unset);
        else if (use->write)
            weft__buffer_clear_failure(use->buffer, graph->unset);
}

static weft_status launch(weft_graph *graph, weft_stream *stream, uint64_t generation)
{
    const bool first = !atomic_load(&graph->launched);
    if (first)
        set_unset(graph, false);
    const weft_status status = graph->native && !weft__tracing() /* a timeline shows the pieces */
                                   ? launch_native(graph, stream, generation)
                                   : replay(graph, stream);
    if (first && status == WEFT_OK)
        atomic_store(&graph->launched, true);
    else if (first)
        set_unset(graph, true);
    return status;
}

__attribute__((noinline)) static weft_status launch_checked(weft_graph *graph, weft_stream *stream)
{
    TRY(check_launch(graph, stream));
    weft__thread_reading(true);
    weft_status status;
    const uint64_t generation = atomic_load(&weft__generation); /* before what it stands for */
    if (is_lost(graph))
        status = FAIL_AT(WEFT_ERROR_DEVICE, "graph",
                         "the graph was recorded before %s was reset; record it again",
                         graph->device->name);
    else
        status = launch(graph, stream, generation);
    weft__thread_reading(false);
    if (status == WEFT_OK)
        COUNT(graph->device->statistics.launches, graph->launches);
    return status;
}

/* As long as it is in the window of the stream, everything is as it was then. */
static bool launch_again(const weft_graph *graph, const weft_stream *stream)
{
    const weft__thread *thread = weft__thread_peek();
    return graph && stream && stream->timeline && thread && !thread->recorder &&
           weft__window_enter(stream->timeline,
                              atomic_load_explicit(&graph->again.window, memory_order_relaxed)) &&
           weft__window_queue(stream->timeline, &graph->again);
}

weft_status weft_graph_launch(weft_graph *graph, weft_stream *stream)
{
    OPERATION("weft_graph_launch");
    return launch_again(graph, stream) ? WEFT_OK : launch_checked(graph, stream);
}

weft_status weft_graph_native(weft_graph *graph, void **handle)
{
    OPERATION("weft_graph_native");
    if (!graph)
        return weft__fail_null("graph");
    TRY(weft__check_result(handle, "handle"));
    *handle = NULL;
    if (!graph->native)
        return FAIL_AT(WEFT_ERROR_UNSUPPORTED, "graph",
                       "a graph on %s has no native handle: it is replayed piece by piece",
                       graph->device->name);
    *handle = graph->device->backend->graph_native(graph->native);
    return WEFT_OK;
}
