/* Copies from and to memory of the host's that the driver does not know: through pinned buffers, in
 * pieces, while the next one is filled or the one before is emptied. One thread fills them more
 * slowly than a device takes them, so that large copies have several. */
#include "backend/cuda/cuda.h"
#include "backend/thread.h"
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 20, SLOTS = 2, LANES = 4, SPARES = SLOTS * LANES, DEVICES_MAX = 32 };

/* Buffers of a device that nobody uses now. */
typedef struct spare_buffers {
    void *data[SPARES];
    int count;
} spare_buffers;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static spare_buffers spares[DEVICES_MAX];

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
    if (!kept && own->count < SPARES) {
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

void weft__cuda_copy_after_fork(void) { pthread_mutex_init(&mutex, NULL); }

/* A copy in pieces, which lanes take one after the other. */
typedef struct staged {
    weft__cuda_device *device;
    CUstream stream;
    char *dst;
    const char *src;
    size_t bytes;
    const weft__rows *rows;
    bool up; /* to the device */
    _Atomic size_t next;
    _Atomic bool failed;
} staged;

/* What one thread works with. */
typedef struct lane {
    staged *s;
    pthread_t thread;
    bool started;
    size_t begun;
    struct {
        void *buffer;
        CUevent event;
        size_t at, bytes; /* of what is on its way; none: 0 */
    } slots[SLOTS];
    weft_error error; /* its code is WEFT_OK if all is well */
} lane;

static void close_lane(lane *l)
{
    for (int k = 0; k < SLOTS; k++) {
        give_buffer(l->s->device, l->slots[k].buffer);
        weft__cuda_event_give(l->s->device, l->slots[k].event, false);
    }
}

/* Whether there is memory for it. */
static bool open_lane(lane *l, staged *s)
{
    bool ready = true;
    *l = (lane){.s = s};
    for (int k = 0; k < SLOTS && ready; k++)
        ready = (l->slots[k].buffer = take_buffer(s->device)) &&
                (l->slots[k].event = weft__cuda_event_take(s->device, false));
    if (!ready)
        close_lane(l);
    return ready;
}

static weft_status end_piece(lane *l, int slot)
{
    const staged *s = l->s;
    const size_t bytes = l->slots[slot].bytes;
    l->slots[slot].bytes = 0;
    if (bytes == 0)
        return WEFT_OK;
    TRY(weft__cuda_check(s->device, "EventSynchronize",
                         weft__cu.EventSynchronize(l->slots[slot].event)));
    if (!s->up)
        weft__rows_scatter(s->rows, s->dst, l->slots[slot].buffer, l->slots[slot].at,
                           l->slots[slot].at + bytes);
    return WEFT_OK;
}

/* Between the buffer, where bytes are without gaps, and the device. */
static weft_status copy_span(const staged *s, char *buffer, const weft__span *span)
{
    const weft__pitch there = s->up ? s->rows->dst : s->rows->src;
    const weft__pitch packed = {span->width, span->width * span->rows};
    const weft__rows rows = {span->width, span->rows, 1, s->up ? there : packed,
                             s->up ? packed : there};
    char *dst = s->up ? s->dst + span->dst : buffer;
    const char *src = s->up ? buffer : s->src + span->src;
    if (span->rows > 1 && there.row != span->width)
        return weft__cuda_copy_rows(s->device, s->stream, dst, src, &rows);
    return weft__cuda_check(s->device, "MemcpyAsync",
                            weft__cu.MemcpyAsync(weft__cuda_address(dst), weft__cuda_address(src),
                                                 span->width * span->rows, s->stream));
}

static weft_status begin_piece(lane *l, int slot, size_t at)
{
    const staged *s = l->s;
    const size_t bytes = s->bytes - at < PIECE ? s->bytes - at : PIECE, end = at + bytes;
    char *buffer = l->slots[slot].buffer;
    if (s->up)
        weft__rows_gather(s->rows, buffer, s->src, at, end);
    for (size_t next = at; next < end;) {
        const weft__span span = weft__rows_span(s->rows, next, end);
        TRY(copy_span(s, buffer + (next - at), &span));
        next += span.width * span.rows;
    }
    l->slots[slot].at = at;
    l->slots[slot].bytes = bytes;
    return weft__cuda_check(s->device, "EventRecord",
                            weft__cu.EventRecord(l->slots[slot].event, s->stream));
}

static weft_status copy_pieces(lane *l)
{
    size_t at;
    while (!atomic_load(&l->s->failed) &&
           (at = atomic_fetch_add(&l->s->next, PIECE)) < l->s->bytes) {
        const int slot = (int)(l->begun++ % SLOTS);
        TRY(end_piece(l, slot));
        TRY(begin_piece(l, slot, at));
    }
    for (int k = 0; k < SLOTS; k++)
        TRY(end_piece(l, (int)(l->begun++ % SLOTS)));
    return WEFT_OK;
}

static void run_lane(lane *l)
{
    const bool entered = weft__cuda_enter(l->s->device);
    if (copy_pieces(l) != WEFT_OK) {
        l->error = *weft_error_last();
        atomic_store(&l->s->failed, true);
    }
    weft__cuda_leave(entered);
}

static void *run_thread(void *argument)
{
    run_lane(argument);
    return NULL;
}

static int lanes_for(size_t bytes)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t lanes = bytes / ((size_t)SLOTS * PIECE);
    lanes = lanes > LANES ? LANES : lanes;
    lanes = processors > 0 && lanes > (size_t)processors ? (size_t)processors : lanes;
    return lanes > 0 ? (int)lanes : 1;
}

/* Lanes that there is no memory or no thread for are left out. */
static int start_lanes(lane *lanes, int wanted, staged *s)
{
    int count = 1;
    while (count < wanted && open_lane(&lanes[count], s)) {
        lane *l = &lanes[count++];
        l->started = weft__backend_thread_start(&l->thread, "weft-copy", run_thread, l) == 0;
    }
    return count;
}

weft_status weft__cuda_copy_staged(weft__cuda_device *device, CUstream stream,
                                   const weft__work *work)
{
    staged s = {.device = device,
                .stream = stream,
                .dst = work->of.copy.dst,
                .src = work->of.copy.src,
                .bytes = work->of.copy.bytes,
                .rows = &work->of.copy.rows,
                .up = !weft__cuda_copy_knows(work, work->of.copy.src)};
    lane lanes[LANES];
    if (!open_lane(&lanes[0], &s))
        return FAIL(WEFT_ERROR_MEMORY,
                    "cuda:%d has no pinned memory for a copy from or to "
                    "the host: %d bytes were asked for",
                    device->index, SLOTS * PIECE);
    const int count = start_lanes(lanes, lanes_for(s.bytes), &s);
    run_lane(&lanes[0]);
    for (int k = 1; k < count; k++)
        if (lanes[k].started)
            pthread_join(lanes[k].thread, NULL);
    weft_status status = WEFT_OK;
    if (atomic_load(&s.failed)) /* nothing may write to the buffers any more */
        weft__cu.StreamSynchronize(stream);
    for (int k = 0; k < count; k++) {
        if (lanes[k].error.code != WEFT_OK && status == WEFT_OK) {
            weft__error_restore(&lanes[k].error);
            status = lanes[k].error.code;
        }
        close_lane(&lanes[k]);
    }
    return status;
}
