/* Buffers: making them from each source of memory, and giving them back when no work uses them. */
#include "core/buffer.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/lent.h"
#include "core/library.h"
#include "core/record.h"
#include "core/stream.h"
#include "core/window.h"
#include <sched.h>
#include <string.h>

_Atomic int weft__retired_count;
_Atomic int weft__buffers_failed;
static weft__buffer *retired;
static pthread_mutex_t retired_mutex = PTHREAD_MUTEX_INITIALIZER;

/* How often this process is the child of a fork, from 1: a lock that a thread held which is not
 * here any more has an older number, and counts as free. */
static uint32_t forks = 1;

void weft__buffer_after_fork(void) { forks++; }

static WEFT__THREAD_LOCAL uint64_t locks;

uint64_t weft__buffer_locks(void) { return locks; }

void weft__buffer_lock(weft__buffer *buffer)
{
    locks++;
    for (int spins = 0;;) {
        uint32_t holder = atomic_load_explicit(&buffer->locked, memory_order_relaxed);
        if (holder != forks &&
            atomic_compare_exchange_weak_explicit(&buffer->locked, &holder, forks,
                                                  memory_order_acquire, memory_order_relaxed))
            return;
        if (++spins % 64 == 0)
            sched_yield();
    }
}

void weft__buffer_unlock(weft__buffer *buffer)
{
    atomic_store_explicit(&buffer->locked, 0, memory_order_release);
}

/* A function that a stream calls may release what it was given before the call that queued it has
 * finished recording. */
static void wait_unlocked(const weft__buffer *buffer)
{
    while (atomic_load_explicit(&buffer->locked, memory_order_acquire) == forks)
        sched_yield();
}

weft__buffer *weft__buffer_make(void)
{
    weft__buffer *buffer = weft__allocate_zeroed(sizeof *buffer);
    if (buffer) {
        buffer->reads = buffer->reads_inline;
        buffer->reads_room = WEFT__READS_INLINE;
    }
    return buffer;
}

/* Counted before it is there, and as long as it is. Returns what was there. */
static weft__failure *exchange_failure(weft__buffer *buffer, weft__failure *failure)
{
    if (failure)
        atomic_fetch_add(&weft__buffers_failed, 1);
    weft__failure *old = atomic_exchange(&buffer->failure, failure);
    if (failure)
        weft__generation_move();
    if (old)
        atomic_fetch_sub(&weft__buffers_failed, 1);
    return old;
}

void weft__buffer_free(weft__buffer *buffer)
{
    weft__failure_release(exchange_failure(buffer, NULL));
    if (buffer->reads != buffer->reads_inline)
        weft__free(buffer->reads);
    weft__free(buffer);
}

void weft__buffer_revive(weft__buffer *buffer, size_t bytes)
{
    weft__failure *old = NULL;
    atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
    buffer->bytes = bytes;
    buffer->elements = bytes;
    /* Work of the last life may still want to record how it went; not if a thread has claimed it.
     */
    bool used = (buffer->write.timeline && !atomic_load(&buffer->claimant)) ||
                atomic_load_explicit(&buffer->claim_write, memory_order_relaxed) ||
                atomic_load_explicit(&buffer->claim_read, memory_order_relaxed);
    if (used || atomic_load(&buffer->failure)) {
        weft__buffer_lock(buffer);
        atomic_store_explicit(&buffer->generation, buffer->generation + 1, memory_order_relaxed);
        if (atomic_load(&buffer->failure) && weft__buffer_idle(buffer, NULL))
            old = exchange_failure(buffer, NULL); /* nobody will ask any more */
        weft__buffer_unlock(buffer);
    }
    weft__failure_release(old);
}

static bool done(weft__point point, const weft__timeline *timeline)
{
    return point.timeline == timeline || weft__point_done(point);
}

bool weft__buffer_idle(const weft__buffer *buffer, const weft__timeline *timeline)
{
    weft__point claimed;
    if (!done(buffer->write, timeline) ||
        (weft__claim_pending(buffer, false, &claimed) && !done(claimed, timeline)))
        return false;
    for (uint32_t i = 0; i < buffer->reads_count; i++)
        if (!done(buffer->reads[i], timeline))
            return false;
    return true;
}

void weft__buffer_add_read(weft__buffer *buffer, weft__point point)
{
    for (uint32_t k = 0; k < buffer->reads_count; k++)
        if (buffer->reads[k].timeline == point.timeline) {
            buffer->reads[k] = point;
            return;
        }
    buffer->reads[buffer->reads_count++] = point;
}

void weft__buffer_set_failure(weft__buffer *buffer, uint64_t generation, weft__failure *failure)
{
    weft__failure *old = NULL;
    weft__buffer_lock(buffer);
    if (!atomic_load(&buffer->failure) || buffer->failure_generation <= generation) {
        if (failure)
            weft__failure_retain(failure);
        old = exchange_failure(buffer, failure);
        buffer->failure_generation = generation;
    }
    weft__buffer_unlock(buffer);
    weft__failure_release(old);
}

void weft__buffer_clear_failure(weft__buffer *buffer, const weft__failure *failure)
{
    weft__buffer_lock(buffer);
    weft__failure *old = atomic_load(&buffer->failure);
    if (old == failure)
        (void)exchange_failure(buffer, NULL);
    weft__buffer_unlock(buffer);
    weft__failure_release(old == failure ? old : NULL);
}

weft__failure *weft__buffer_failure(weft__buffer *buffer, uint64_t generation)
{
    if (!atomic_load_explicit(&buffer->failure, memory_order_acquire))
        return NULL;
    weft__buffer_lock(buffer);
    weft__failure *failure = atomic_load(&buffer->failure);
    if (failure && buffer->failure_generation != generation)
        failure = NULL;
    if (failure)
        weft__failure_retain(failure);
    weft__buffer_unlock(buffer);
    return failure;
}

static void count_use(weft__device *device, uint64_t bytes)
{
    weft__statistics *s = &device->statistics;
    uint64_t in_use = COUNT(s->bytes_in_use, bytes) + bytes;
    uint64_t peak = atomic_load_explicit(&s->bytes_peak, memory_order_relaxed);
    while (in_use > peak && !atomic_compare_exchange_weak(&s->bytes_peak, &peak, in_use))
        continue;
}

static weft__buffer *new_direct(weft__device *device, size_t bytes, weft_memory memory,
                                bool *zeroed)
{
    size_t capacity = bytes ? bytes : 1;
    weft__buffer *buffer = weft__buffer_make();
    COUNT(device->statistics.allocations, 1);
    if (!buffer)
        return NULL;
    buffer->data = weft__pool_allocate(device, memory, capacity, bytes, zeroed);
    if (!buffer->data) {
        weft__buffer_free(buffer);
        return NULL;
    }
    buffer->source = WEFT__SOURCE_DIRECT;
    buffer->memory = (uint8_t)memory;
    buffer->capacity = capacity;
    return buffer;
}

static weft__buffer *new_from_user(weft__device *device, size_t bytes,
                                   const weft_user_allocator *user)
{
    size_t capacity = bytes ? bytes : 1;
    if (!user->allocate || !user->release)
        return FAIL_AT_NULL(WEFT_ERROR_ARGUMENT, "user_allocator",
                            "the user allocator has no function to %s",
                            user->allocate ? "release" : "allocate");
    weft__buffer *buffer = weft__buffer_make();
    COUNT(device->statistics.allocations, 1);
    if (!buffer)
        return NULL;
    buffer->data = user->allocate(user->context, capacity, device->id);
    if (!buffer->data || (uintptr_t)buffer->data % 64 != 0) {
        if (buffer->data)
            user->release(user->context, buffer->data, capacity, device->id);
        FAIL_AT(WEFT_ERROR_MEMORY, "user_allocator",
                "the user allocator gave %s for %zu bytes; 64-byte aligned memory was expected",
                buffer->data ? "misaligned memory" : "NULL", capacity);
        weft__buffer_free(buffer);
        return NULL;
    }
    buffer->source = WEFT__SOURCE_USER;
    buffer->memory = (uint8_t)(user->memory ? user->memory : WEFT_MEMORY_DEVICE);
    buffer->capacity = capacity;
    buffer->user_allocator = user;
    return buffer;
}

/* The kind that an allocator gives; an error if another was asked for. */
static weft_status resolve_memory(const weft__request *request, weft_memory *memory)
{
    static const weft_memory given[] = {WEFT_MEMORY_DEFAULT, WEFT_MEMORY_DEVICE, WEFT_MEMORY_DEVICE,
                                        WEFT_MEMORY_HOST, WEFT_MEMORY_SHARED};
    if ((unsigned)request->allocator > WEFT_ALLOCATOR_MANAGED)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "allocator",
                       "%d is no allocator; WEFT_ALLOCATOR_DEFAULT to _MANAGED are",
                       (int)request->allocator);
    if ((unsigned)request->memory > WEFT_MEMORY_HOST)
        return FAIL_AT(
            WEFT_ERROR_ARGUMENT, "memory",
            "memory of kind %s (%d) cannot be allocated; device, shared and host memory can, and "
            "weft_borrow lends",
            weft_memory_name(request->memory), (int)request->memory);
    weft_memory kind = given[request->allocator];
    if (request->user_allocator)
        kind =
            request->user_allocator->memory ? request->user_allocator->memory : WEFT_MEMORY_DEVICE;
    if ((unsigned)kind > WEFT_MEMORY_HOST)
        return FAIL_AT(
            WEFT_ERROR_ARGUMENT, "user_allocator",
            "the user allocator says that it gives %s memory (%d); device, shared or host "
            "was expected",
            weft_memory_name(kind), (int)kind);
    if (kind && request->memory && kind != request->memory)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "memory",
                       "the allocator gives %s memory, but %s memory was asked for",
                       weft_memory_name(kind), weft_memory_name(request->memory));
    *memory = kind ? kind : request->memory ? request->memory : WEFT_MEMORY_DEVICE;
    return WEFT_OK;
}

weft__buffer *weft__buffer_new(size_t bytes, const weft__request *request, bool *zeroed)
{
    weft__device *device = weft__device_get(request->device);
    weft__buffer *buffer;
    weft_memory memory = WEFT_MEMORY_DEVICE;
    bool fresh = false;
    if (!device)
        return NULL;
    TRY_NULL(resolve_memory(request, &memory));
    if (request->user_allocator)
        buffer = new_from_user(device, bytes, request->user_allocator);
    else if (memory != WEFT_MEMORY_DEVICE)
        buffer = new_direct(device, bytes, memory, &fresh);
    else {
        const weft_stream *stream = request->stream;
        buffer = weft__pool_take(device, bytes, stream ? stream->timeline : NULL, &fresh);
    }
    if (!buffer)
        return NULL;
    buffer->device = device->id;
    buffer->recording = weft__recording();
    weft__buffer_revive(buffer, bytes);
    count_use(device, bytes);
    if (zeroed)
        *zeroed = fresh;
    return buffer;
}

weft__buffer *weft__buffer_lent(void *data, size_t bytes, weft_deleter *deleter, void *context)
{
    weft__buffer *buffer = weft__buffer_make();
    if (!buffer)
        return NULL;
    buffer->source = WEFT__SOURCE_LENT;
    buffer->memory = WEFT_MEMORY_LENT;
    buffer->data = data;
    buffer->capacity = bytes;
    buffer->deleter = deleter;
    buffer->deleter_context = context;
    weft__buffer_revive(buffer, bytes);
    return buffer;
}

weft__buffer *weft__buffer_foreign(weft_device device, weft_memory memory, void *data, size_t bytes)
{
    weft__buffer *buffer = weft__buffer_lent(data, bytes, NULL, NULL);
    if (!buffer)
        return NULL;
    buffer->source = WEFT__SOURCE_FOREIGN;
    buffer->memory = (uint8_t)memory;
    buffer->device = device;
    return buffer;
}

void weft__buffer_retain(weft__buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}

/* What the backend made of a foreign handle goes before whose handle it is. */
static void unwrap(weft__buffer *buffer)
{
    const weft__backend *backend = weft__device_get(buffer->device)->backend;
    if (backend->memory_wrap)
        backend->memory_release(buffer->device.index, (weft_memory)buffer->memory, buffer->data,
                                buffer->capacity);
}

/* Gives unpooled memory back to whom it came from. */
static void give_back(weft__buffer *buffer)
{
    if (buffer->source == WEFT__SOURCE_FOREIGN)
        unwrap(buffer);
    if (buffer->source == WEFT__SOURCE_DIRECT)
        weft__pool_release(weft__device_get(buffer->device), buffer->memory, buffer->data,
                           buffer->capacity);
    else if (buffer->source == WEFT__SOURCE_USER)
        buffer->user_allocator->release(buffer->user_allocator->context, buffer->data,
                                        buffer->capacity, buffer->device);
    else if (buffer->deleter) {
        weft__lent_remove(buffer);
        buffer->deleter(buffer->deleter_context, buffer->data);
    }
    weft__buffer_free(buffer);
}

void weft__retired_sweep(void)
{
    weft__buffer *idle = NULL;
    pthread_mutex_lock(&retired_mutex);
    for (weft__buffer **link = &retired; *link;) {
        weft__buffer *buffer = *link;
        if (!weft__buffer_idle(buffer, NULL)) {
            link = &buffer->next;
            continue;
        }
        *link = buffer->next;
        buffer->next = idle;
        idle = buffer;
    }
    pthread_mutex_unlock(&retired_mutex);
    for (weft__buffer *next; idle; idle = next) { /* outside the lock: a deleter may call Weft */
        next = idle->next;
        give_back(idle);
        atomic_fetch_sub(&weft__retired_count, 1);
    }
}

void weft__retired_fork(weft__fork_stage stage) { weft__mutex_fork(&retired_mutex, stage); }

static void retire(weft__buffer *buffer)
{
    if (weft__buffer_idle(buffer, NULL)) {
        give_back(buffer);
        return;
    }
    pthread_mutex_lock(&retired_mutex);
    buffer->next = retired;
    retired = buffer;
    atomic_fetch_add(&weft__retired_count, 1);
    pthread_mutex_unlock(&retired_mutex);
    weft__retired_sweep(); /* its work may have ended meanwhile */
}

void weft__buffer_release(weft__buffer *buffer)
{
    if (!buffer || !weft__reference_drop(&buffer->references))
        return;
    wait_unlocked(buffer);
    if (buffer->source < WEFT__SOURCE_LENT) {
        weft__device *device = weft__device_get(buffer->device);
        atomic_fetch_sub_explicit(&device->statistics.bytes_in_use, buffer->bytes,
                                  memory_order_relaxed);
        if (buffer->source == WEFT__SOURCE_POOL) {
            weft__pool_give(device, buffer);
            return;
        }
    }
    retire(buffer);
}
