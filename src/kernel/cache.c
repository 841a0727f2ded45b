/* The table of kernels: read without a lock, dropped when a device is reset, and bounded. */
#include "kernel/cache.h"
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "core/traced.h"
#include "kernel/disk.h"
#include "kernel/version.h"

enum { BUCKETS = 1024 };

/* Entries are linked in, and freed only when it is sure that nobody reads them. */
typedef struct entry {
    _Atomic(struct entry *) next;
    _Atomic uint64_t used;               /* how many had been added when it was last looked for */
    _Atomic uint32_t held;               /* by so many graphs */
    weft__kernel *kernel;                /* a copy */
    _Atomic(weft__module *) interpreter; /* NULL: was not needed yet */
    weft__versions versions;
} entry;

static _Atomic(entry *) buckets[BUCKETS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one adds at a time */
static uint32_t count, most = WEFT__KERNELS_MOST;         /* guarded by it */
static _Atomic uint64_t additions;

/* A look without a lock leaves a trace only where it is new. */
static void note_use(entry *e)
{
    const uint64_t now = atomic_load_explicit(&additions, memory_order_relaxed);
    if (atomic_load_explicit(&e->used, memory_order_relaxed) != now)
        atomic_store_explicit(&e->used, now, memory_order_relaxed);
}

static entry *find(const weft__key *key, weft_device device)
{
    entry *e = atomic_load(&buckets[key->hash % BUCKETS]); /* in order with weft__thread_reading */
    while (e && !(weft__key_equal(&e->versions.key, key) &&
                  weft_device_equal(e->versions.device->id, device)))
        e = atomic_load_explicit(&e->next, memory_order_acquire);
    if (e)
        note_use(e);
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
    atomic_init(&e->used, atomic_fetch_add(&additions, 1) + 1);
    atomic_init(&e->next, atomic_load(bucket));
    atomic_store_explicit(bucket, e, memory_order_release);
    count++;
    if (device->id.kind == WEFT_DEVICE_CPU)
        COUNT(device->statistics.compilations, 1);
    *added = e;
    return WEFT_OK;
}

/* Takes the entries out for which `wanted` is true, in front of `list`; a reader may then miss one,
 * and looks again with the lock, which is held. */
static entry *unlink_entries(bool (*wanted)(const entry *e, const void *context),
                             const void *context, entry *list)
{
    for (int i = 0; i < BUCKETS; i++) {
        entry *kept = NULL;
        for (entry *e = atomic_exchange(&buckets[i], NULL), *next; e; e = next) {
            next = e->next;
            entry **to = wanted(e, context) ? &list : &kept;
            count -= to == &list;
            e->next = *to;
            *to = e;
        }
        atomic_store(&buckets[i], kept);
    }
    return list;
}

static void free_entries(entry *list)
{
    for (entry *next; list; list = next) {
        next = list->next;
        free_entry(list);
    }
}

/* Entries that were taken out, together, and are freed when nobody can use them any more. */
typedef struct batch {
    struct batch *next;
    entry *entries;
    uint64_t until; /* who began to read later does not see them */
    bool quiet;     /* nobody reads them, and these points are when streams have run them: */
    uint32_t points_count, points_room;
    weft__point *points;
} batch;

static batch *retired; /* guarded by the mutex */

static void free_batch(batch *b)
{
    free_entries(b->entries);
    weft__free(b->points);
    weft__free(b);
}

static bool is_old(const entry *e, const void *window)
{
    return atomic_load(&e->held) == 0 &&
           atomic_load(&additions) - atomic_load(&e->used) > *(const uint64_t *)window;
}

/* Callers keep what they found. Now and then they have to look for it again, so that it counts as
 * used. With the mutex held. */
static void refresh_uses(void)
{
    if (atomic_load(&additions) % (most / 4 + 1) == 0)
        atomic_fetch_add(&weft__generation, 1);
}

/* Of too many, those that were not looked for the longest. With the mutex held. */
static void retire_old(void)
{
    if (count <= most)
        return;
    const weft_error before = *weft_error_last();
    batch *b = weft__allocate_zeroed(sizeof *b);
    if (!b) { /* is no failure of the call: it is tried again */
        weft__error_restore(&before);
        return;
    }
    for (uint64_t window = most / 2;; window /= 2) {
        b->entries = unlink_entries(is_old, &window, b->entries);
        if (window == 0 || count <= most - most / 4)
            break;
    }
    atomic_fetch_add(&weft__generation, 1);
    b->until = weft__thread_quiesce_begin();
    b->next = retired;
    retired = b;
}

static void count_stream(weft_stream *stream, void *argument)
{
    ((batch *)argument)->points_room += stream->timeline != NULL;
}

static void add_point(weft_stream *stream, void *argument)
{
    batch *b = argument;
    if (stream->timeline && b->points_count < b->points_room)
        b->points[b->points_count++] =
            (weft__point){stream->timeline, atomic_load(&stream->timeline->submitted)};
}

/* What streams have queued by now. A stream that is made meanwhile has nothing of the batch. */
static bool take_points(batch *b)
{
    const weft_error before = *weft_error_last();
    b->points_room = 0;
    weft__stream_each(count_stream, b);
    b->points = weft__allocate((b->points_room + 1) * sizeof *b->points);
    if (b->points)
        weft__stream_each(add_point, b);
    else
        weft__error_restore(&before);
    return b->points != NULL;
}

/* Whether no thread and no stream uses the batch any more; waits for nothing. */
static bool is_quiet(batch *b)
{
    if (!b->quiet)
        b->quiet = weft__thread_quiesced(b->until) && take_points(b);
    for (uint32_t i = 0; i < b->points_count; i++)
        if (!weft__point_done(b->points[i]))
            return false;
    return b->quiet;
}

/* Takes out what may be freed, but for jobs. */
static batch *take_quiet(void)
{
    batch *quiet = NULL;
    pthread_mutex_lock(&mutex);
    for (batch **link = &retired; *link;) {
        batch *b = *link;
        if (!is_quiet(b)) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        b->next = quiet;
        quiet = b;
    }
    pthread_mutex_unlock(&mutex);
    return quiet;
}

static bool has_jobs(const batch *b)
{
    const entry *e = b->entries;
    while (e && weft__versions_idle(&e->versions))
        e = e->next;
    return e != NULL;
}

static void put_back(batch *b)
{
    pthread_mutex_lock(&mutex);
    b->next = retired;
    retired = b;
    pthread_mutex_unlock(&mutex);
}

/* Frees what was retired, where that is possible now. */
static void sweep(void)
{
    if (weft__thread_state->reading_depth > 1) /* it may be in use further out */
        return;
    for (batch *b = take_quiet(), *next; b; b = next) {
        next = b->next;
        if (has_jobs(b))
            put_back(b);
        else
            free_batch(b);
    }
}

static bool is_of_device(const entry *e, const void *device)
{
    return weft_device_equal(e->versions.device->id, *(const weft_device *)device);
}

/* All of a device that are in the table. */
static entry *unlink_device(weft_device device)
{
    pthread_mutex_lock(&mutex);
    entry *dropped = unlink_entries(is_of_device, &device, NULL);
    pthread_mutex_unlock(&mutex);
    return dropped;
}

/* Moves those of a device from the batch to the list. */
static entry *take_device(batch *b, weft_device device, entry *list)
{
    entry *kept = NULL;
    for (entry *e = b->entries, *next; e; e = next) {
        next = e->next;
        entry **to = is_of_device(e, &device) ? &list : &kept;
        e->next = *to;
        *to = e;
    }
    b->entries = kept;
    return list;
}

/* Those that were retired before that number. */
static entry *take_retired(weft_device device, uint64_t until, entry *list)
{
    pthread_mutex_lock(&mutex);
    for (batch **link = &retired; *link;) {
        batch *b = *link;
        if (b->until < until)
            list = take_device(b, device, list);
        if (b->entries) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        free_batch(b);
    }
    pthread_mutex_unlock(&mutex);
    return list;
}

/* Frees the device's entries, when no thread looks at one (and could hand it to the background
 * threads), these have none, and no stream runs one. */
static void drop(weft_device device)
{
    entry *dropped = unlink_device(device);
    atomic_fetch_add(&weft__generation, 1);
    const uint64_t until = weft__thread_quiesce_begin();
    weft__thread_quiesce(until);
    weft__background_drop(device);
    weft__stream_wait_all(device);
    free_entries(take_retired(device, until, dropped));
}

/* First of all the background threads end their jobs, for which they may need the other locks. */
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
    sweep(); /* before anything is found that another thread may retire */
    pthread_mutex_lock(&mutex);
    weft__device_on_reset(drop);
    weft__library_on_fork(around_fork);
    weft__library_on_close(weft__background_close);
    if (!(*found = find(&key, id)))
        status = add(kernel, device, found);
    refresh_uses();
    retire_old();
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
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    TRY(weft__interpreter_compile(e->kernel, &image));
    TRY(device->backend->module_load(device->id.index, &image, &module));
    if (begin)
        weft__traced_compilation(device->id, "interpreter", weft__trace_source_or_operation(),
                                 begin);
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

static weft_status find_version(entry *e, const weft__launch *launch, weft__compiled *found)
{
    weft__version_found version = {NULL, true};
    weft__engine engine;
    TRY(weft__engine_get(&engine));
    if (e->versions.device->id.kind != WEFT_DEVICE_CPU) {
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

static weft_status enter(const weft__kernel *kernel, weft_device device, const weft__launch *launch,
                         weft__compiled *found)
{
    entry *e;
    TRY(find_or_add(kernel, device, &e));
    found->entry = e;
    return find_version(e, launch, found);
}

void weft__cache_hold(void *held, bool hold)
{
    entry *e = held;
    if (e)
        atomic_fetch_add(&e->held, hold ? 1 : UINT32_MAX);
}

weft_status weft__cache_find_held(void *held, const weft__launch *launch, weft__compiled *found)
{
    *found = (weft__compiled){.entry = held};
    return find_version(held, launch, found);
}

weft_status weft__cache_enter(const weft__kernel *kernel, weft_device device,
                              const weft__launch *launch, weft__compiled *found)
{
    if (!weft__thread_get())
        return WEFT_ERROR_MEMORY;
    weft__thread_reading(true);
    found->generation = atomic_load(&weft__generation); /* before what it stands for */
    const weft_status status = enter(kernel, device, launch, found);
    if (status != WEFT_OK)
        weft__thread_reading(false);
    return status;
}

void weft__cache_leave(void) { weft__thread_reading(false); }

uint32_t weft__cache_count(uint32_t *waiting)
{
    *waiting = 0;
    pthread_mutex_lock(&mutex);
    for (const batch *b = retired; b; b = b->next)
        for (const entry *e = b->entries; e; e = e->next)
            ++*waiting;
    const uint32_t all = count;
    pthread_mutex_unlock(&mutex);
    return all;
}

void weft__cache_limit(uint32_t limit)
{
    pthread_mutex_lock(&mutex);
    most = limit;
    pthread_mutex_unlock(&mutex);
}
