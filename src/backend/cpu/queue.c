/* The queue of a stream: segments in a chain, records one after the other in each. */
#include "backend/cpu/queue.h"
#include "core/allocate.h"
#include "core/stream.h"
#include <stdalign.h>
#include <string.h>

enum { SEGMENT_BYTES = 64 << 10, UNIT = 16 };

struct weft__segment {
    _Atomic(weft__segment *) next; /* set when no more will be put into this one */
    _Atomic size_t filled;         /* bytes that the consumer may read */
    size_t room;
    alignas(UNIT) char bytes[];
};

/* Followed by the uses, the waits and the launch or block. */
typedef struct record {
    alignas(UNIT) size_t bytes; /* of all of it */
    weft__work work;
} record;

static weft__segment *new_segment(size_t room)
{
    weft__segment *segment = weft__allocate(sizeof *segment + room);
    if (!segment)
        return NULL;
    atomic_init(&segment->next, NULL);
    atomic_init(&segment->filled, 0);
    segment->room = room;
    return segment;
}

weft_status weft__queue_open(weft__queue *queue)
{
    if (!queue->tail)
        queue->head = queue->tail = new_segment(SEGMENT_BYTES - sizeof(weft__segment));
    return queue->tail ? WEFT_OK : WEFT_ERROR_MEMORY;
}

void weft__queue_close(weft__queue *queue)
{
    for (weft__segment *segment = queue->head, *next; segment; segment = next) {
        next = atomic_load(&segment->next);
        weft__free(segment);
    }
    weft__free(atomic_load(&queue->spare));
    *queue = (weft__queue){0};
}

/* Copies `bytes` to *at and moves it on; what was copied stays aligned for 8-byte values. */
static const void *put(char **at, const void *from, size_t bytes)
{
    char *to = *at;
    if (bytes)
        memcpy(to, from, bytes);
    *at = to + (bytes + 7) / 8 * 8;
    return to;
}

static size_t block_bytes(const weft__work *work)
{
    return work->kind == WEFT__WORK_LAUNCH  ? work->of.launch.launch->bytes
           : work->kind == WEFT__WORK_PARTS ? work->of.parts.bytes
                                            : 0;
}

static size_t record_bytes(const weft__work *work)
{
    size_t bytes = sizeof(record) + work->uses_count * sizeof *work->uses +
                   work->waits_count * sizeof *work->waits + (block_bytes(work) + 7) / 8 * 8;
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static void write_record(void *to, const weft__work *work, size_t bytes)
{
    record *written = to;
    char *at = (char *)(written + 1);
    written->bytes = bytes;
    written->work = *work;
    written->work.uses = put(&at, work->uses, work->uses_count * sizeof *work->uses);
    written->work.waits = put(&at, work->waits, work->waits_count * sizeof *work->waits);
    if (work->kind == WEFT__WORK_LAUNCH)
        written->work.of.launch.launch = put(&at, work->of.launch.launch, block_bytes(work));
    if (work->kind == WEFT__WORK_PARTS)
        written->work.of.parts.block = put(&at, work->of.parts.block, block_bytes(work));
}

/* An empty segment with room for that many bytes. */
static weft__segment *take_segment(weft__queue *queue, size_t bytes)
{
    const size_t usual = SEGMENT_BYTES - sizeof(weft__segment);
    weft__segment *segment = atomic_exchange(&queue->spare, NULL);
    if (segment && segment->room >= bytes) {
        atomic_store_explicit(&segment->next, NULL, memory_order_relaxed);
        atomic_store_explicit(&segment->filled, 0, memory_order_relaxed);
        return segment;
    }
    weft__free(segment);
    const weft_error before = *weft_error_last();
    if (bytes < usual && (segment = new_segment(usual)))
        return segment;
    weft__error_restore(&before);
    return new_segment(bytes); /* for this record alone: a program keeps blocks for that */
}

weft_status weft__queue_push(weft__queue *queue, const weft__work *work)
{
    weft__segment *tail = queue->tail;
    size_t bytes = record_bytes(work);
    size_t filled = atomic_load_explicit(&tail->filled, memory_order_relaxed);
    if (tail->room - filled >= bytes) {
        write_record(tail->bytes + filled, work, bytes);
        WEFT__STORE_FIRST(&tail->filled, filled + bytes);
        return WEFT_OK;
    }
    weft__segment *segment = take_segment(queue, bytes);
    if (!segment)
        return WEFT_ERROR_MEMORY;
    write_record(segment->bytes, work, bytes);
    atomic_store_explicit(&segment->filled, bytes, memory_order_relaxed);
    queue->tail = segment;
    WEFT__STORE_FIRST(&tail->next, segment);
    return WEFT_OK;
}

bool weft__queue_empty(const weft__queue *queue)
{
    const weft__segment *head = queue->head;
    return !head || (queue->read == atomic_load(&head->filled) && !atomic_load(&head->next));
}

/* Leaves the segment that has been read, which becomes the spare one unless it is of one record. */
static void next_segment(weft__queue *queue, weft__segment *next)
{
    weft__segment *old = queue->head;
    queue->head = next;
    queue->read = queue->known = 0;
    const bool small = old->room < SEGMENT_BYTES - sizeof *old;
    weft__free(small ? old : atomic_exchange(&queue->spare, old));
}

/* Whether there is more in the segment that is being read. */
static bool look(weft__queue *queue)
{
    if (queue->read == queue->known)
        queue->known = atomic_load_explicit(&queue->head->filled, memory_order_acquire);
    return queue->read != queue->known;
}

const weft__work *weft__queue_first(weft__queue *queue)
{
    if (!look(queue)) {
        weft__segment *next = atomic_load_explicit(&queue->head->next, memory_order_acquire);
        if (!next)
            return NULL;
        if (!look(queue)) { /* it is final now */
            next_segment(queue, next);
            look(queue);
        }
    }
    return &((const record *)(const void *)(queue->head->bytes + queue->read))->work;
}

void weft__queue_pop(weft__queue *queue)
{
    const record *done = (const record *)(const void *)(queue->head->bytes + queue->read);
    queue->read += done->bytes;
}
