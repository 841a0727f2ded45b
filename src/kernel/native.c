/* The table of kernels in the languages of devices: read without a lock, dropped when a device is
 * reset. */
#include "kernel/native.h"
#include "backend/kernel_text.h"
#include "core/allocate.h"
#include "core/library.h"
#include "core/stream.h"
#include "core/thread.h"
#include "core/traced.h"
#include <pthread.h>
#include <string.h>

/* Linked in, and freed only by a drop that has made sure that nobody reads. */
typedef struct entry {
    struct entry *next;
    weft__device *device;
    const weft__kernel_text *text; /* the module's */
    weft__module *module;
} entry;

static _Atomic(entry *) entries;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one adds at a time */

static entry *find(weft_device device, const char *name, const char *text)
{
    entry *e = atomic_load(&entries);
    while (e && !(weft_device_equal(e->device->id, device) && strcmp(e->text->name, name) == 0 &&
                  strcmp(e->text->text, text) == 0))
        e = e->next;
    return e;
}

static entry *unlink_entries(weft_device device)
{
    entry *dropped = NULL, *kept = NULL;
    pthread_mutex_lock(&mutex);
    for (entry *e = atomic_exchange(&entries, NULL), *next; e; e = next) {
        next = e->next;
        entry **list = weft_device_equal(e->device->id, device) ? &dropped : &kept;
        e->next = *list;
        *list = e;
    }
    atomic_store(&entries, kept);
    pthread_mutex_unlock(&mutex);
    return dropped;
}

static void drop(weft_device device)
{
    entry *dropped = unlink_entries(device);
    if (!dropped)
        return;
    weft__thread_quiesce(weft__thread_quiesce_begin());
    weft__stream_wait_all(device);
    for (entry *next; dropped; dropped = next) {
        next = dropped->next;
        dropped->device->backend->module_release(dropped->module);
        weft__free(dropped);
    }
}

static void around_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }

static char *copy_of(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = weft__allocate(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static weft_status load(entry *e, const char *name, const char *text)
{
    weft__kernel_text given = {.text = copy_of(text), .name = copy_of(name)};
    weft__image image;
    if (!given.text || !given.name) {
        weft__free(given.text);
        weft__free(given.name);
        return WEFT_ERROR_MEMORY;
    }
    TRY(weft__kernel_text_image(&given, &image));
    e->text = image.program;
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    TRY(e->device->backend->module_load(e->device->id.index, &image, &e->module));
    if (begin)
        weft__traced_compilation(e->device->id, "its own compiler", weft__trace_source, begin);
    COUNT(e->device->statistics.compilations, 1);
    return WEFT_OK;
}

/* With the mutex held. */
static weft_status add(weft__device *device, const char *name, const char *text, entry **added)
{
    if ((*added = find(device->id, name, text)))
        return WEFT_OK;
    entry *e = weft__allocate_zeroed(sizeof *e);
    if (!e)
        return WEFT_ERROR_MEMORY;
    e->device = device;
    const weft_status status = load(e, name, text);
    if (status != WEFT_OK) {
        weft__free(e);
        return status;
    }
    e->next = atomic_load(&entries);
    atomic_store(&entries, e);
    *added = e;
    return WEFT_OK;
}

static weft_status find_or_add(weft_device id, const char *name, const char *text, entry **found)
{
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if ((*found = find(id, name, text)))
        return WEFT_OK;
    pthread_mutex_lock(&mutex);
    weft__device_on_reset(drop);
    weft__library_on_fork(around_fork);
    const weft_status status = add(device, name, text, found);
    pthread_mutex_unlock(&mutex);
    return status;
}

weft_status weft__native_enter(weft_device device, const char *name, const char *text,
                               weft__module **module)
{
    entry *found;
    if (!weft__thread_get())
        return WEFT_ERROR_MEMORY;
    weft__thread_reading(true);
    const weft_status status = find_or_add(device, name, text, &found);
    if (status == WEFT_OK)
        *module = found->module;
    else
        weft__thread_reading(false);
    return status;
}

void weft__native_leave(void) { weft__thread_reading(false); }
