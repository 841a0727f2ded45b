/* The stand-in's streams: a thread each, which does tasks in order; events; copies. */
#include "backend/standin/standin.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct task {
    struct task *next;
    void (*run)(CUstream stream, void *argument);
    void *argument;
    bool kept; /* the argument is a graph's */
} task;

struct weft__cu_stream {
    CUcontext context;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    task *first, *last;
    uint64_t queued, done;
    bool stop;
    CUgraph capture; /* takes what is queued, if there is one */
};

/* What is captured, and what is made of it: the same. */
struct weft__cu_graph {
    task *first, *last;
    int references; /* the owner's, one for each CUgraphExec, one for each launch */
};

struct weft__cu_event {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t recorded, reached;
    struct timespec time;
};

CUcontext standin_context_of(CUstream stream) { return stream->context; }

static void *run(void *argument)
{
    CUstream stream = argument;
    pthread_mutex_lock(&stream->mutex);
    while (stream->first || !stream->stop) {
        task *t = stream->first;
        if (!t) {
            pthread_cond_wait(&stream->changed, &stream->mutex);
            continue;
        }
        stream->first = t->next;
        pthread_mutex_unlock(&stream->mutex);
        t->run(stream, t->argument);
        if (!t->kept)
            free(t->argument);
        free(t);
        pthread_mutex_lock(&stream->mutex);
        stream->done++;
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

static void queue(CUstream stream, void (*function)(CUstream, void *), void *argument, bool kept)
{
    task *t = malloc(sizeof *t);
    *t = (task){NULL, function, argument, kept};
    pthread_mutex_lock(&stream->mutex);
    if (stream->capture) {
        CUgraph graph = stream->capture;
        *(graph->first ? &graph->last->next : &graph->first) = t;
        graph->last = t;
        pthread_mutex_unlock(&stream->mutex);
        return;
    }
    *(stream->first ? &stream->last->next : &stream->first) = t;
    stream->last = t;
    stream->queued++;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
}

void standin_queue(CUstream stream, void (*function)(CUstream, void *), void *argument)
{
    queue(stream, function, argument, false);
}

static void drop_graph(CUgraph graph)
{
    if (__atomic_sub_fetch(&graph->references, 1, __ATOMIC_SEQ_CST) > 0)
        return;
    for (task *t = graph->first, *next; t; t = next) {
        next = t->next;
        free(t->argument);
        free(t);
    }
    free(graph);
}

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    const CUresult code = standin_enter("cuStreamBeginCapture_v2");
    if (code != CUDA_SUCCESS || mode != CU_STREAM_CAPTURE_MODE_RELAXED || stream->capture)
        return code != CUDA_SUCCESS ? code : 1;
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->references = 1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    const CUresult code = standin_enter("cuStreamEndCapture");
    if (code != CUDA_SUCCESS) {
        drop_graph(stream->capture);
        stream->capture = NULL;
        return code;
    }
    *graph = stream->capture;
    stream->capture = NULL;
    return *graph ? CUDA_SUCCESS : 1;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                            unsigned long long flags)
{
    const CUresult code = standin_enter("cuGraphInstantiateWithFlags");
    if (code != CUDA_SUCCESS || flags != 0)
        return code != CUDA_SUCCESS ? code : 1;
    __atomic_add_fetch(&graph->references, 1, __ATOMIC_SEQ_CST);
    *executable = (CUgraphExec)(void *)graph;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
    drop_graph(graph);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable)
{
    drop_graph((CUgraph)(void *)executable);
    return CUDA_SUCCESS;
}

static void end_graph(CUstream stream, void *argument)
{
    (void)stream;
    drop_graph(argument);
}

EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
    const CUresult code = standin_enter("cuGraphLaunch");
    CUgraph graph = (CUgraph)(void *)executable;
    if (code != CUDA_SUCCESS)
        return code;
    __atomic_add_fetch(&graph->references, 1, __ATOMIC_SEQ_CST);
    for (const task *t = graph->first; t; t = t->next)
        queue(stream, t->run, t->argument, true);
    queue(stream, end_graph, graph, true);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    const CUresult code = standin_enter("cuStreamCreateWithPriority");
    (void)flags;
    if (code != CUDA_SUCCESS)
        return code;
    if (priority > 0 || priority < -5)
        return 1;
    *stream = calloc(1, sizeof **stream);
    (*stream)->context = standin_current();
    pthread_mutex_init(&(*stream)->mutex, NULL);
    pthread_cond_init(&(*stream)->changed, NULL);
    return pthread_create(&(*stream)->thread, NULL, run, *stream) == 0 ? CUDA_SUCCESS : 999;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    const CUresult code = standin_enter("cuStreamDestroy_v2");
    pthread_mutex_lock(&stream->mutex);
    stream->stop = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    pthread_join(stream->thread, NULL);
    free(stream);
    return code;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
    pthread_mutex_lock(&stream->mutex);
    const uint64_t queued = stream->queued;
    while (stream->done < queued)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    pthread_mutex_unlock(&stream->mutex);
    return standin_enter("cuStreamSynchronize");
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    const CUresult code = standin_enter("cuEventCreate");
    (void)flags;
    if (code != CUDA_SUCCESS)
        return code;
    *event = calloc(1, sizeof **event);
    pthread_mutex_init(&(*event)->mutex, NULL);
    pthread_cond_init(&(*event)->changed, NULL);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event)
{
    free(event);
    return standin_enter("cuEventDestroy_v2");
}

/* A number of an event. */
typedef struct ticket {
    CUevent event;
    uint64_t number;
} ticket;

static void reach(CUstream stream, void *argument)
{
    ticket *t = argument;
    (void)stream;
    pthread_mutex_lock(&t->event->mutex);
    if (t->event->reached < t->number)
        t->event->reached = t->number;
    clock_gettime(CLOCK_MONOTONIC, &t->event->time);
    pthread_cond_broadcast(&t->event->changed);
    pthread_mutex_unlock(&t->event->mutex);
}

static void await(CUevent event, uint64_t number)
{
    pthread_mutex_lock(&event->mutex);
    while (event->reached < number)
        pthread_cond_wait(&event->changed, &event->mutex);
    pthread_mutex_unlock(&event->mutex);
}

static void await_task(CUstream stream, void *argument)
{
    ticket *t = argument;
    (void)stream;
    await(t->event, t->number);
}

static uint64_t recorded(CUevent event)
{
    pthread_mutex_lock(&event->mutex);
    const uint64_t number = event->recorded;
    pthread_mutex_unlock(&event->mutex);
    return number;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    const CUresult code = standin_enter("cuEventRecord");
    if (code != CUDA_SUCCESS)
        return code;
    ticket *t = malloc(sizeof *t);
    pthread_mutex_lock(&event->mutex);
    *t = (ticket){event, ++event->recorded};
    pthread_mutex_unlock(&event->mutex);
    standin_queue(stream, reach, t);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    const CUresult code = standin_enter("cuStreamWaitEvent");
    (void)flags;
    if (code != CUDA_SUCCESS)
        return code;
    ticket *t = malloc(sizeof *t);
    *t = (ticket){event, recorded(event)};
    standin_queue(stream, await_task, t);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event)
{
    pthread_mutex_lock(&event->mutex);
    const bool done = event->reached >= event->recorded;
    pthread_mutex_unlock(&event->mutex);
    const CUresult code = standin_enter("cuEventQuery");
    return code != CUDA_SUCCESS ? code : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuEventSynchronize(CUevent event)
{
    await(event, recorded(event));
    return standin_enter("cuEventSynchronize");
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    *milliseconds = 1e3f * (float)(end->time.tv_sec - start->time.tv_sec) +
                    1e-6f * (float)(end->time.tv_nsec - start->time.tv_nsec);
    return standin_enter("cuEventElapsedTime");
}

typedef struct copying {
    void *dst;
    const void *src;
    size_t bytes;
    char taken[]; /* what the driver takes of the host's memory at once */
} copying;

static void copy_task(CUstream stream, void *argument)
{
    copying *c = argument;
    if (stream->context->fault == 0)
        memcpy(c->dst, c->src, c->bytes);
}

static CUresult copy(const char *symbol, void *dst, const void *src, size_t bytes, CUstream stream,
                     bool take)
{
    const CUresult code = standin_enter(symbol);
    if (code != CUDA_SUCCESS)
        return code;
    copying *c = malloc(sizeof *c + (take ? bytes : 0));
    *c = (copying){dst, take ? c->taken : src, bytes};
    if (take)
        memcpy(c->taken, src, bytes);
    standin_queue(stream, copy_task, c);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy("cuMemcpyAsync", (void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes,
                stream, false);
}

static void rows_task(CUstream stream, void *argument)
{
    const CUDA_MEMCPY3D *c = argument;
    for (size_t k = 0; stream->context->fault == 0 && k < c->height * c->depth; k++) {
        const size_t slice = k / c->height, row = k % c->height;
        memcpy((char *)(uintptr_t)c->dst.device + (slice * c->dst.height + row) * c->dst.pitch,
               (const char *)(uintptr_t)c->src.device +
                   (slice * c->src.height + row) * c->src.pitch,
               c->width);
    }
}

EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copied, CUstream stream)
{
    const CUresult code = standin_enter("cuMemcpy3DAsync_v2");
    if (code != CUDA_SUCCESS)
        return code;
    if (copied->src.pitch < copied->width || copied->dst.pitch < copied->width ||
        copied->src.height < copied->height || copied->dst.height < copied->height)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    CUDA_MEMCPY3D *c = malloc(sizeof *c);
    *c = *copied;
    standin_queue(stream, rows_task, c);
    return CUDA_SUCCESS;
}

/* Small copies are taken at once, as if the memory were not pinned. */
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes,
                                     CUstream stream)
{
    return copy("cuMemcpyHtoDAsync_v2", (void *)(uintptr_t)dst, src, bytes, stream,
                bytes <= 64 << 10);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return copy("cuMemcpyDtoHAsync_v2", dst, (const void *)(uintptr_t)src, bytes, stream, false);
}
