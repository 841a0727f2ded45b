/* The memory pool: size classes, per-thread magazines for small memory, and running out. */
#include "core/pool.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/thread.h"
#include "core/traced.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCAN = 32, SWEEPS = 10000, SMALLEST = 64 };

static _Atomic uint64_t epoch;

uint64_t weft__memory_epoch(void) { return atomic_load_explicit(&epoch, memory_order_relaxed); }

void weft__memory_epoch_move(void) { atomic_fetch_add(&epoch, 1); }

/* Eight classes between two powers of two: at most an eighth is wasted. */
static uint16_t class_of(size_t bytes, size_t *capacity)
{
    if (bytes <= SMALLEST) {
        *capacity = SMALLEST;
        return 0;
    }
    size_t last = bytes - 1;
    unsigned power = 63u - (unsigned)__builtin_clzll(last);
    size_t eighth = last >> (power - 3); /* 8 … 15 */
    *capacity = (((eighth + 1) << (power - 3)) + SMALLEST - 1) / SMALLEST * SMALLEST;
    return (uint16_t)((power - 6) * 8 + (eighth - 8) + 1);
}

/* "64M" as bytes; false if it cannot be read. */
static bool read_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (errno || !*end)
        return errno == 0;
    if (!unit || !*unit || end[1] || *bytes > UINT64_MAX >> (10 * (unit - units + 1)))
        return false;
    *bytes <<= 10 * (unit - units + 1);
    return true;
}

/* A value that cannot be read is remembered: it must not turn into no limit in silence. */
static uint64_t bytes_from_environment(weft__pool *pool, const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t bytes = otherwise;
    if (text && *text && !read_bytes(text, &bytes)) {
        pool->misread = name;
        return otherwise;
    }
    return bytes;
}

void weft__pool_open(weft__device *device)
{
    weft__pool *pool = &device->pool;
    pthread_mutex_init(&pool->mutex, NULL);
    atomic_init(&pool->threshold,
                bytes_from_environment(pool, "WEFT_MEMORY_THRESHOLD", UINT64_MAX));
    atomic_init(&pool->limit, bytes_from_environment(pool, "WEFT_MEMORY_LIMIT", 0));
}

/* The cell is the parent's. */
void weft__pool_after_fork(weft__device *device)
{
    pthread_mutex_init(&device->pool.mutex, NULL);
    atomic_store(&device->pool.cell, NULL);
}

/* What other threads keep in their magazines cannot be taken from them; it does not count, as they
 * give it up at their next allocation. */
static uint64_t magazine_bytes(const weft__device *device)
{
    return device->id.kind == WEFT_DEVICE_CPU ? weft__thread_count().magazine_bytes : 0;
}

static bool within_limit(const weft__device *device, size_t bytes)
{
    uint64_t limit = atomic_load(&device->pool.limit), held = atomic_load(&device->pool.held);
    if (limit == 0 || (bytes <= limit && held <= limit - bytes))
        return true;
    return bytes <= limit && held - magazine_bytes(device) <= limit - bytes;
}

static void *try_allocate(weft__device *device, weft_memory kind, size_t bytes, bool *zeroed)
{
    if (!within_limit(device, bytes))
        return NULL;
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    void *data = device->backend->memory_allocate(device->id.index, kind, bytes, zeroed);
    if (data)
        COUNT(device->pool.held, bytes);
    if (data && begin)
        weft__traced_allocation(device->id, bytes, false, begin);
    return data;
}

static uint64_t cached_in(weft__pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    uint64_t cached = pool->cached;
    pthread_mutex_unlock(&pool->mutex);
    return cached;
}

/* Where more is kept than what was asked for, that is what there is no room for. */
static void fail_full(weft__device *device, size_t asked, size_t bytes)
{
    char kept[48] = "";
    unsigned long long in_use = atomic_load(&device->statistics.bytes_in_use);
    unsigned long long limit = atomic_load(&device->pool.limit);
    unsigned long long cached =
        atomic_load(&device->statistics.bytes_cached) + magazine_bytes(device);
    if (bytes != asked)
        snprintf(kept, sizeof kept, " (%zu as they are kept)", bytes);
    if (limit)
        FAIL(WEFT_ERROR_MEMORY,
             "%s has no room for %zu bytes%s: %llu are in use and %llu cached, and the limit is "
             "%llu; release arrays, or raise the limit (weft_memory_set_limit, WEFT_MEMORY_LIMIT)",
             device->name, asked, kept, in_use, cached, limit);
    else
        FAIL(WEFT_ERROR_MEMORY,
             "%s has no room for %zu bytes%s: %llu are in use and %llu cached, and the system "
             "gives no more; release arrays, or ask for less",
             device->name, asked, kept, in_use, cached);
}

static size_t most_of(const weft__device *device)
{
    return device->backend->memory_most ? device->backend->memory_most(device->id.index) : SIZE_MAX;
}

/* Caches are dropped, then the work that still holds cached memory is waited for. */
static void *allocate_after_dropping(weft__device *device, weft_memory kind, size_t bytes,
                                     bool *zeroed)
{
    weft__thread *thread = weft__thread_peek();
    weft__memory_epoch_move();
    if (thread)
        weft__magazines_flush(thread);
    weft__pool_trim(device, 0);
    bool may_wait = !(thread && thread->waits_forbidden) && !weft__in_callback();
    /* Asked first: what is given back between the two is there for the second try. */
    bool pending = cached_in(&device->pool) > 0 || atomic_load(&weft__retired_count) > 0;
    void *data = try_allocate(device, kind, bytes, zeroed);
    if (data || !may_wait || !pending)
        return data;
    weft__stream_wait_all(device->id);
    for (int i = 0; i < SWEEPS && atomic_load(&weft__retired_count) > 0; i++) {
        weft__retired_sweep(); /* another thread may be giving some back just now */
        sched_yield();
    }
    weft__pool_trim(device, 0);
    return try_allocate(device, kind, bytes, zeroed);
}

void *weft__pool_allocate(weft__device *device, weft_memory kind, size_t bytes, size_t asked,
                          bool *zeroed)
{
    const char *misread = device->pool.misread;
    if (misread)
        return FAIL_NULL(
            WEFT_ERROR_ARGUMENT,
            "the environment variable %s is '%.40s'; a number of bytes, or one with K, M, G "
            "or T behind it, was expected",
            misread, getenv(misread) ? getenv(misread) : "");
    const size_t most = most_of(device);
    if (bytes > most)
        return FAIL_NULL(WEFT_ERROR_MEMORY,
                         "an array of %zu bytes is more than %s gives at once, its driver's limit "
                         "is %zu; take several arrays that are smaller, or another device",
                         bytes, device->name, most);
    void *data = try_allocate(device, kind, bytes, zeroed);
    if (!data)
        data = allocate_after_dropping(device, kind, bytes, zeroed);
    if (!data)
        fail_full(device, asked, bytes);
    return data;
}

void weft__pool_release(weft__device *device, weft_memory kind, void *data, size_t bytes)
{
    device->backend->memory_release(device->id.index, kind, data, bytes);
    atomic_fetch_sub(&device->pool.held, bytes);
}

void *weft__pool_cell_take(weft__device *device)
{
    bool zeroed;
    void *cell = atomic_exchange(&device->pool.cell, NULL);
    return cell ? cell : try_allocate(device, WEFT_MEMORY_HOST, WEFT__POOL_CELL, &zeroed);
}

void weft__pool_cell_give(weft__device *device, void *cell, bool keep)
{
    void *none = NULL;
    if (!keep || !atomic_compare_exchange_strong(&device->pool.cell, &none, cell))
        weft__pool_release(device, WEFT_MEMORY_HOST, cell, WEFT__POOL_CELL);
}

static void drop_cell(weft__device *device)
{
    void *cell = atomic_exchange(&device->pool.cell, NULL);
    if (cell)
        weft__pool_cell_give(device, cell, false);
}

static void drop(weft__device *device, weft__buffer *buffer)
{
    weft__pool_release(device, WEFT_MEMORY_DEVICE, buffer->data, buffer->capacity);
    weft__buffer_free(buffer);
}

static weft__buffer *take_from_magazine(weft__thread *thread, uint16_t size_class)
{
    weft__buffer *buffer = thread->magazines[size_class].first;
    if (buffer) {
        thread->magazines[size_class].first = buffer->next;
        thread->magazines[size_class].count--;
        weft__count_own(&thread->magazine_bytes, -(uint64_t)buffer->capacity);
    }
    return buffer;
}

static weft__buffer *take_from_pool(weft__pool *pool, uint16_t size_class,
                                    const weft__timeline *timeline)
{
    weft__buffer *found = NULL, **link = &pool->first[size_class];
    pthread_mutex_lock(&pool->mutex);
    for (int i = 0; i < SCAN && *link && !found; i++) {
        if (weft__buffer_idle(*link, timeline)) {
            found = *link;
            *link = found->next;
            pool->cached -= found->capacity;
        } else
            link = &(*link)->next;
    }
    pthread_mutex_unlock(&pool->mutex);
    return found;
}

static weft__buffer *make(weft__device *device, uint16_t size_class, size_t capacity, size_t asked,
                          bool *zeroed)
{
    weft__buffer *buffer = weft__buffer_make();
    if (!buffer)
        return NULL;
    buffer->data = weft__pool_allocate(device, WEFT_MEMORY_DEVICE, capacity, asked, zeroed);
    if (!buffer->data) {
        weft__buffer_free(buffer);
        return NULL;
    }
    buffer->device = device->id;
    buffer->memory = WEFT_MEMORY_DEVICE;
    buffer->source = WEFT__SOURCE_POOL;
    buffer->size_class = size_class;
    buffer->capacity = capacity;
    return buffer;
}

static void give_to_pool(weft__pool *pool, weft__buffer *buffer)
{
    pthread_mutex_lock(&pool->mutex);
    buffer->next = pool->first[buffer->size_class];
    pool->first[buffer->size_class] = buffer;
    pool->cached += buffer->capacity;
    pthread_mutex_unlock(&pool->mutex);
}

static void empty_magazines(weft__thread *thread, bool keep)
{
    thread->epoch = weft__memory_epoch();
    for (int c = 0; c < WEFT__MAGAZINE_CLASSES; c++) {
        weft__buffer *buffer;
        while ((buffer = take_from_magazine(thread, (uint16_t)c))) {
            weft__device *device = weft__device_get(buffer->device);
            if (!keep || atomic_load(&device->pool.threshold) == 0) {
                drop(device, buffer);
                continue;
            }
            COUNT(device->statistics.bytes_cached, buffer->capacity);
            give_to_pool(&device->pool, buffer);
        }
    }
}

void weft__magazines_flush(weft__thread *thread) { empty_magazines(thread, true); }

/* What is cached, or NULL. */
static weft__buffer *take_cached(weft__device *device, uint16_t size_class,
                                 const weft__timeline *timeline)
{
    weft__thread *thread = weft__thread_state;
    weft__buffer *buffer = NULL;
    if (thread->epoch != weft__memory_epoch()) /* somebody trims */
        empty_magazines(thread, false);
    if (size_class < WEFT__MAGAZINE_CLASSES && device->id.kind == WEFT_DEVICE_CPU)
        buffer = take_from_magazine(thread, size_class);
    if (buffer) {
        weft__count_own(&thread->magazine_hits, 1);
        return buffer;
    }
    COUNT(device->statistics.allocations, 1);
    buffer = take_from_pool(&device->pool, size_class, timeline);
    if (!buffer)
        return NULL;
    COUNT(device->statistics.reuses, 1);
    atomic_fetch_sub_explicit(&device->statistics.bytes_cached, buffer->capacity,
                              memory_order_relaxed);
    return buffer;
}

weft__buffer *weft__pool_take(weft__device *device, size_t bytes, const weft__timeline *timeline,
                              bool *zeroed)
{
    size_t capacity;
    uint16_t size_class = class_of(bytes, &capacity);
    if (!weft__thread_get())
        return NULL;
    *zeroed = false;
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    /* of the class in which the device's limit is, all that fit have the bytes of the limit */
    const size_t most = most_of(device);
    if (capacity > most)
        capacity = bytes > most ? bytes : most;
    weft__buffer *buffer = bytes > most ? NULL : take_cached(device, size_class, timeline);
    if (!buffer)
        return make(device, size_class, capacity, bytes, zeroed);
    if (begin)
        weft__traced_allocation(device->id, buffer->capacity, true, begin);
    return buffer;
}

static bool give_to_magazine(weft__device *device, weft__buffer *buffer)
{
    weft__thread *thread = weft__thread_peek();
    if (buffer->size_class >= WEFT__MAGAZINE_CLASSES || device->id.kind != WEFT_DEVICE_CPU ||
        atomic_load(&device->pool.threshold) != UINT64_MAX || !thread ||
        thread->epoch != weft__memory_epoch() ||
        thread->magazines[buffer->size_class].count >= WEFT__MAGAZINE_DEPTH)
        return false;
    buffer->next = thread->magazines[buffer->size_class].first;
    thread->magazines[buffer->size_class].first = buffer;
    thread->magazines[buffer->size_class].count++;
    weft__count_own(&thread->magazine_bytes, buffer->capacity);
    return true;
}

void weft__pool_give(weft__device *device, weft__buffer *buffer)
{
    bool idle = weft__buffer_idle(buffer, NULL);
    uint64_t cached = atomic_load_explicit(&device->statistics.bytes_cached, memory_order_relaxed);
    if (idle && cached + buffer->capacity > atomic_load(&device->pool.threshold)) {
        drop(device, buffer);
        return;
    }
    if (idle && give_to_magazine(device, buffer))
        return;
    COUNT(device->statistics.bytes_cached, buffer->capacity);
    give_to_pool(&device->pool, buffer);
    weft__pool_settle(device);
}

void weft__pool_settle(weft__device *device)
{
    uint64_t threshold = atomic_load_explicit(&device->pool.threshold, memory_order_relaxed);
    if (atomic_load(&device->statistics.bytes_cached) > threshold)
        weft__pool_trim(device, threshold);
}

/* Unlinks buffers that no work uses, largest classes first, until `keep` bytes are left. */
static weft__buffer *unlink_idle(weft__pool *pool, uint64_t keep)
{
    weft__buffer *idle = NULL;
    pthread_mutex_lock(&pool->mutex);
    for (int c = WEFT__POOL_CLASSES - 1; c >= 0 && pool->cached > keep; c--) {
        for (weft__buffer **link = &pool->first[c]; *link && pool->cached > keep;) {
            weft__buffer *buffer = *link;
            if (!weft__buffer_idle(buffer, NULL)) {
                link = &buffer->next;
                continue;
            }
            *link = buffer->next;
            pool->cached -= buffer->capacity;
            buffer->next = idle;
            idle = buffer;
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return idle;
}

void weft__pool_trim(weft__device *device, uint64_t keep)
{
    if (keep == 0)
        drop_cell(device);
    for (weft__buffer *buffer = unlink_idle(&device->pool, keep), *next; buffer; buffer = next) {
        next = buffer->next;
        atomic_fetch_sub(&device->statistics.bytes_cached, buffer->capacity);
        drop(device, buffer);
    }
}
