/* The table of compiled kernels: read without a lock, dropped when a device is reset. */
#include "kernel/cache.h"
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/library.h"
#include <sched.h>
#include <string.h>

enum { BUCKETS = 1024, PIECES = 4 };

/* Entries are linked in, never changed, and freed only by a drop that has made sure that nobody
 * reads. */
typedef struct entry {
    _Atomic(struct entry *) next;
    uint64_t hash;
    weft_device device;
    weft__module *module;
    const weft__backend *backend;
    uint32_t key_bytes;
    char key[];
} entry;

_Atomic uint64_t weft__cache_generation = 1;
static _Atomic(entry *) buckets[BUCKETS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one compiles at a time */

/* The parts of a kernel that its code depends on, as bytes in order. */
typedef struct key {
    const void *piece[PIECES];
    size_t bytes[PIECES];
    size_t total;
    uint64_t hash;
} key;

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, byte + i, bytes - i < 8 ? bytes - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static key key_of(const weft__kernel *kernel)
{
    key k = {{kernel->values, kernel->operands, kernel->shifts, &kernel->ndim},
             {kernel->values_count * sizeof *kernel->values,
              kernel->operands_count * sizeof *kernel->operands,
              kernel->shifts_count * sizeof *kernel->shifts,
              sizeof kernel->ndim + sizeof kernel->folded},
             0,
             kernel->values_count};
    for (int i = 0; i < PIECES; i++) {
        k.hash = mix(k.hash, k.piece[i], k.bytes[i]);
        k.total += k.bytes[i];
    }
    return k;
}

static bool same_key(const entry *e, const key *k)
{
    const char *at = e->key;
    if (e->hash != k->hash || e->key_bytes != k->total)
        return false;
    for (int i = 0; i < PIECES; at += k->bytes[i++])
        if (k->bytes[i] && memcmp(at, k->piece[i], k->bytes[i]) != 0)
            return false;
    return true;
}

static entry *find(const key *k, weft_device device)
{
    entry *e = atomic_load(&buckets[k->hash % BUCKETS]); /* in order with weft__thread_reading */
    while (e && !(same_key(e, k) && weft_device_equal(e->device, device)))
        e = atomic_load_explicit(&e->next, memory_order_acquire);
    return e;
}

static weft_status compile(const weft__kernel *kernel, weft__device *device, weft__module **module)
{
    weft__image image = {0};
    TRY(weft__interpreter_compile(kernel, &image));
    TRY(device->backend->module_load(device->id.index, &image, module));
    COUNT(device->statistics.compilations, 1);
    return WEFT_OK;
}

static void free_entry(entry *e)
{
    e->backend->module_release(e->module);
    weft__free(e);
}

static weft_status add(const key *k, const weft__kernel *kernel, weft__device *device,
                       entry **added)
{
    entry *e = weft__allocate(sizeof *e + k->total);
    char *at = e ? e->key : NULL;
    if (!e)
        return WEFT_ERROR_MEMORY;
    weft_status status = compile(kernel, device, &e->module);
    if (status != WEFT_OK) {
        weft__free(e);
        return status;
    }
    for (int i = 0; i < PIECES; at += k->bytes[i++])
        if (k->bytes[i])
            memcpy(at, k->piece[i], k->bytes[i]);
    e->key_bytes = (uint32_t)k->total;
    e->hash = k->hash;
    e->device = device->id;
    e->backend = device->backend;
    atomic_init(&e->next, atomic_load(&buckets[k->hash % BUCKETS]));
    atomic_store_explicit(&buckets[k->hash % BUCKETS], e, memory_order_release);
    *added = e;
    return WEFT_OK;
}

/* Unlinks the device's entries (a reader may then miss one, and looks again with the lock), waits
 * until no thread and no stream uses one, and frees them. */
static void drop(weft_device device)
{
    entry *dropped = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BUCKETS; i++) {
        entry *kept = NULL;
        for (entry *e = atomic_exchange(&buckets[i], NULL), *next; e; e = next) {
            next = e->next;
            entry **list = weft_device_equal(e->device, device) ? &dropped : &kept;
            e->next = *list;
            *list = e;
        }
        atomic_store(&buckets[i], kept);
    }
    pthread_mutex_unlock(&mutex);
    if (!dropped)
        return;
    atomic_fetch_add(&weft__cache_generation, 1);
    weft__thread_quiesce();
    weft__stream_wait_all(device);
    for (entry *next; dropped; dropped = next) {
        next = dropped->next;
        free_entry(dropped);
    }
}

static void around_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }

static weft_status find_or_add(const weft__kernel *kernel, weft_device id, entry **found)
{
    key k = key_of(kernel);
    weft__device *device = weft__device_get(id);
    weft_status status = WEFT_OK;
    if (!device)
        return WEFT_ERROR_DEVICE;
    if ((*found = find(&k, id)))
        return WEFT_OK;
    pthread_mutex_lock(&mutex);
    weft__device_on_reset(drop);
    weft__library_on_fork(around_fork);
    if (!(*found = find(&k, id)))
        status = add(&k, kernel, device, found);
    pthread_mutex_unlock(&mutex);
    return status;
}

weft_status weft__cache_enter(const weft__kernel *kernel, weft_device device,
                              const weft__launch *launch, weft__compiled *found)
{
    entry *e;
    if (!weft__thread_get())
        return WEFT_ERROR_MEMORY;
    weft__thread_reading(true);
    found->generation = atomic_load(&weft__cache_generation); /* before what it stands for */
    weft_status status = find_or_add(kernel, device, &e);
    if (status != WEFT_OK) {
        weft__thread_reading(false);
        return status;
    }
    found->module = e->module;
    found->grain = weft__interpreter_grain(kernel, launch);
    return WEFT_OK;
}

void weft__cache_leave(void) { weft__thread_reading(false); }
