/* The table of kernels: read without a lock, dropped when a device is reset. */
#include "kernel/cache.h"
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "kernel/disk.h"
#include "kernel/version.h"

enum { BUCKETS = 1024 };

/* Entries are linked in, and freed only by a drop that has made sure that nobody reads. */
typedef struct entry {
    _Atomic(struct entry *) next;
    weft__kernel *kernel;                /* a copy */
    _Atomic(weft__module *) interpreter; /* NULL: was not needed yet */
    weft__versions versions;
} entry;

_Atomic uint64_t weft__cache_generation = 1;
static _Atomic(entry *) buckets[BUCKETS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one adds at a time */

static entry *find(const weft__key *key, weft_device device)
{
    entry *e = atomic_load(&buckets[key->hash % BUCKETS]); /* in order with weft__thread_reading */
    while (e && !(weft__key_equal(&e->versions.key, key) &&
                  weft_device_equal(e->versions.device->id, device)))
        e = atomic_load_explicit(&e->next, memory_order_acquire);
    return e;
}

static void free_entry(entry *e)
{
    weft__versions_free(&e->versions);
    e->versions.device->backend->module_release(atomic_load(&e->interpreter));
    weft__free(e->kernel);
    weft__free(e);
}

static weft_status add(const weft__kernel *kernel, weft__device *device, entry **added)
{
    entry *e = weft__allocate_zeroed(sizeof *e);
    if (!e || !(e->kernel = weft__kernel_copy(kernel))) {
        weft__free(e);
        return WEFT_ERROR_MEMORY;
    }
    e->versions.device = device;
    e->versions.kernel = e->kernel;
    e->versions.key = weft__key_of(e->kernel);
    _Atomic(entry *) *bucket = &buckets[e->versions.key.hash % BUCKETS];
    atomic_init(&e->next, atomic_load(bucket));
    atomic_store_explicit(bucket, e, memory_order_release);
    if (device->id.kind == WEFT_DEVICE_CPU)
        COUNT(device->statistics.compilations, 1);
    *added = e;
    return WEFT_OK;
}

/* Takes the device's entries out; a reader may then miss one, and looks again with the lock. */
static entry *unlink_entries(weft_device device)
{
    entry *dropped = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BUCKETS; i++) {
        entry *kept = NULL;
        for (entry *e = atomic_exchange(&buckets[i], NULL), *next; e; e = next) {
            next = e->next;
            entry **list = weft_device_equal(e->versions.device->id, device) ? &dropped : &kept;
            e->next = *list;
            *list = e;
        }
        atomic_store(&buckets[i], kept);
    }
    pthread_mutex_unlock(&mutex);
    return dropped;
}

/* Frees the device's entries, when no thread looks at one (and could hand it to the background
 * thread), the background thread has none, and no stream runs one. */
static void drop(weft_device device)
{
    entry *dropped = unlink_entries(device);
    if (!dropped)
        return;
    atomic_fetch_add(&weft__cache_generation, 1);
    weft__thread_quiesce();
    weft__background_wait_past(weft__background_drop(device));
    weft__stream_wait_all(device);
    for (entry *next; dropped; dropped = next) {
        next = dropped->next;
        free_entry(dropped);
    }
}

/* First of all the background thread ends its job, for which it may need the other locks. */
static void around_fork(weft__fork_stage stage)
{
    weft__background_fork(stage);
    weft__mutex_fork(&mutex, stage);
    weft__engine_fork(stage);
    weft__disk_fork(stage);
}

static weft_status find_or_add(const weft__kernel *kernel, weft_device id, entry **found)
{
    const weft__key key = weft__key_of(kernel);
    weft__device *device = weft__device_get(id);
    weft_status status = WEFT_OK;
    if (!device)
        return WEFT_ERROR_DEVICE;
    if ((*found = find(&key, id)))
        return WEFT_OK;
    pthread_mutex_lock(&mutex);
    weft__device_on_reset(drop);
    weft__library_on_fork(around_fork);
    weft__library_on_close(weft__background_close);
    if (!(*found = find(&key, id)))
        status = add(kernel, device, found);
    pthread_mutex_unlock(&mutex);
    return status;
}

/* With the mutex held. */
static weft_status interpret(entry *e)
{
    weft__device *device = e->versions.device;
    weft__image image = {0};
    weft__module *module;
    if (atomic_load(&e->interpreter))
        return WEFT_OK;
    TRY(weft__interpreter_compile(e->kernel, &image));
    TRY(device->backend->module_load(device->id.index, &image, &module));
    atomic_store(&e->interpreter, module);
    return WEFT_OK;
}

static weft_status use_interpreter(entry *e, const weft__launch *launch, weft__compiled *found)
{
    found->module = atomic_load(&e->interpreter);
    if (!found->module) {
        pthread_mutex_lock(&mutex);
        const weft_status status = interpret(e);
        pthread_mutex_unlock(&mutex);
        TRY(status);
        found->module = atomic_load(&e->interpreter);
    }
    found->grain = weft__interpreter_grain(e->kernel, launch);
    return WEFT_OK;
}

static weft_status enter(const weft__kernel *kernel, weft_device device, const weft__launch *launch,
                         weft__compiled *found)
{
    weft__version_found version = {NULL, true};
    weft__engine engine;
    entry *e;
    TRY(weft__engine_get(&engine));
    TRY(find_or_add(kernel, device, &e));
    if (device.kind != WEFT_DEVICE_CPU) {
        found->grain = 1;
        return weft__version_find_text(&e->versions, launch, &mutex, &found->module);
    }
    if (engine != WEFT__ENGINE_INTERPRETER && weft__llvm_wants(e->kernel, launch))
        TRY(weft__version_find(&e->versions, launch, engine, &mutex, &version));
    if (!version.settled)
        found->generation = 0;
    if (!version.module)
        return use_interpreter(e, launch, found);
    found->module = version.module;
    found->grain = weft__llvm_grain(e->kernel, launch);
    return WEFT_OK;
}

weft_status weft__cache_enter(const weft__kernel *kernel, weft_device device,
                              const weft__launch *launch, weft__compiled *found)
{
    if (!weft__thread_get())
        return WEFT_ERROR_MEMORY;
    weft__thread_reading(true);
    found->generation = atomic_load(&weft__cache_generation); /* before what it stands for */
    const weft_status status = enter(kernel, device, launch, found);
    if (status != WEFT_OK)
        weft__thread_reading(false);
    return status;
}

void weft__cache_leave(void) { weft__thread_reading(false); }
