/* Copies of CUDA devices. Memory that the driver does not know goes through pinned buffers, in
 * pieces: while one is on its way, the host fills or empties the next. */
#include "backend/cuda/cuda.h"
#include "core/buffer.h"
#include <stdio.h>
#include <string.h>

enum {
    PIECE = 4 << 20,
    SMALL = 64 << 10, /* the driver takes so much of the host's memory at once, without waiting */
    PIECES = 3,
    DEVICES_MAX = 32
};

/* Buffers of a device that nobody uses now. */
typedef struct spare_buffers {
    void *data[PIECES];
    int count;
} spare_buffers;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static spare_buffers spares[DEVICES_MAX];

static bool is_known(const weft__work *work, const void *address)
{
    const char *at = address;
    for (uint32_t i = 0; i < work->uses_count; i++) {
        const weft__buffer *buffer = work->uses[i].buffer;
        if (at >= buffer->data && at < buffer->data + buffer->capacity)
            return buffer->device.kind == WEFT_DEVICE_CUDA;
    }
    return false;
}

bool weft__cuda_copy_waits(const weft__work *work)
{
    if (work->kind != WEFT__WORK_COPY)
        return false;
    return !is_known(work, work->of.copy.dst) ||
           (work->of.copy.bytes > SMALL && !is_known(work, work->of.copy.src));
}

static CUdeviceptr address_of(const void *data) { return (CUdeviceptr)(uintptr_t)data; }

weft_status weft__cuda_copy(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    void *dst = work->of.copy.dst;
    const void *src = work->of.copy.src;
    const size_t bytes = work->of.copy.bytes;
    if (!is_known(work, src))
        return weft__cuda_check(device, "MemcpyHtoDAsync",
                                weft__cu.MemcpyHtoDAsync(address_of(dst), src, bytes, stream));
    return weft__cuda_check(device, "MemcpyAsync",
                            weft__cu.MemcpyAsync(address_of(dst), address_of(src), bytes, stream));
}

static void *take_buffer(weft__cuda_device *device)
{
    spare_buffers *own = &spares[device->index];
    void *data = NULL;
    pthread_mutex_lock(&mutex);
    if (own->count > 0)
        data = own->data[--own->count];
    pthread_mutex_unlock(&mutex);
    if (!data &&
        weft__cuda_note(device, weft__cu.MemHostAlloc(&data, PIECE, CU_MEMHOSTALLOC_PORTABLE)) != 0)
        data = NULL;
    return data;
}

static void give_buffer(weft__cuda_device *device, void *data)
{
    spare_buffers *own = &spares[device->index];
    bool kept = !data;
    pthread_mutex_lock(&mutex);
    if (!kept && own->count < PIECES) {
        own->data[own->count++] = data;
        kept = true;
    }
    pthread_mutex_unlock(&mutex);
    if (!kept)
        weft__cu.MemFreeHost(data);
}

void weft__cuda_copy_drop(int index)
{
    weft__cuda_device *device = weft__cuda_device_at(index);
    pthread_mutex_lock(&mutex);
    spare_buffers all = spares[index];
    spares[index].count = 0;
    pthread_mutex_unlock(&mutex);
    if (all.count == 0 || atomic_load(&device->fault) || !weft__cuda_usable())
        return; /* they went with the context */
    const bool entered = weft__cuda_enter(device);
    for (int k = 0; k < all.count; k++)
        weft__cu.MemFreeHost(all.data[k]);
    weft__cuda_leave(entered);
}

/* A copy in pieces: `begin` puts one on its way, `end` is called when it has arrived. */
typedef struct staged {
    weft__cuda_device *device;
    CUstream stream;
    char *dst;
    const char *src;
    size_t bytes;
    bool up; /* to the device */
    void *buffer[PIECES];
    CUevent event[PIECES];
} staged;

static size_t piece_bytes(const staged *s, size_t number)
{
    const size_t begin = number * PIECE;
    return s->bytes - begin < PIECE ? s->bytes - begin : PIECE;
}

static weft_status begin_piece(const staged *s, size_t number)
{
    const size_t at = number * PIECE, bytes = piece_bytes(s, number), slot = number % PIECES;
    CUresult code;
    if (s->up) {
        memcpy(s->buffer[slot], s->src + at, bytes);
        code = weft__cu.MemcpyHtoDAsync(address_of(s->dst + at), s->buffer[slot], bytes, s->stream);
    } else
        code = weft__cu.MemcpyDtoHAsync(s->buffer[slot], address_of(s->src + at), bytes, s->stream);
    TRY(weft__cuda_check(s->device, s->up ? "MemcpyHtoDAsync" : "MemcpyDtoHAsync", code));
    return weft__cuda_check(s->device, "EventRecord",
                            weft__cu.EventRecord(s->event[slot], s->stream));
}

static weft_status end_piece(const staged *s, size_t number)
{
    const size_t slot = number % PIECES;
    TRY(weft__cuda_check(s->device, "EventSynchronize", weft__cu.EventSynchronize(s->event[slot])));
    if (!s->up)
        memcpy(s->dst + number * PIECE, s->buffer[slot], piece_bytes(s, number));
    return WEFT_OK;
}

static weft_status copy_pieces(const staged *s)
{
    const size_t pieces = (s->bytes + PIECE - 1) / PIECE;
    weft_status status = WEFT_OK;
    size_t begun = 0, ended = 0;
    while (status == WEFT_OK && ended < pieces) {
        if (begun < pieces && begun - ended < PIECES)
            status = begin_piece(s, begun++);
        else
            status = end_piece(s, ended++);
    }
    if (status != WEFT_OK) /* nothing may write to the buffers any more */
        weft__cu.StreamSynchronize(s->stream);
    return status;
}

weft_status weft__cuda_copy_staged(weft__cuda_device *device, CUstream stream,
                                   const weft__work *work)
{
    staged s = {device,
                stream,
                work->of.copy.dst,
                work->of.copy.src,
                work->of.copy.bytes,
                !is_known(work, work->of.copy.src),
                {NULL},
                {NULL}};
    bool ready = true;
    for (int k = 0; k < PIECES && ready; k++)
        ready = (s.buffer[k] = take_buffer(device)) &&
                (s.event[k] = weft__cuda_event_take(device, false));
    weft_status status = ready ? WEFT_OK
                               : FAIL(WEFT_ERROR_MEMORY,
                                      "cuda:%d has no pinned memory for a copy from or to "
                                      "the host: %d bytes were asked for",
                                      device->index, PIECES * PIECE);
    if (status == WEFT_OK)
        status = copy_pieces(&s);
    for (int k = 0; k < PIECES; k++) {
        give_buffer(device, s.buffer[k]);
        weft__cuda_event_give(device, s.event[k], false);
    }
    return status;
}

void weft__cuda_copy_after_fork(void) { pthread_mutex_init(&mutex, NULL); }
