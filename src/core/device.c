/* Devices: the table of those that exist, their names, facts, resets. */
#include "core/device.h"
#include "core/library.h"
#include "core/thread.h"
#include "core/window.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DROPS_MAX = 8 };

static weft__device devices[WEFT__DEVICES_MAX]; /* the CPU first */
_Atomic(weft__device *) weft__devices_known[WEFT__DEVICE_KINDS][WEFT__DEVICES_MAX];
static _Atomic int devices_count; /* those before it are complete */
static _Atomic bool ready;        /* the CPU is there */
static pthread_once_t once = PTHREAD_ONCE_INIT, others_once = PTHREAD_ONCE_INIT;
static const char *absent[4]; /* by kind: why a backend has no device */
static void (*drops[DROPS_MAX])(weft_device device);
static _Atomic int drops_count; /* grows under the lock of the layer that registers */

static void add_device(const weft__backend *backend, int index)
{
    weft__device *device = &devices[devices_count];
    device->id = (weft_device){backend->kind, index};
    device->backend = backend;
    if (backend->kind == WEFT_DEVICE_CPU)
        snprintf(device->name, sizeof device->name, "%s", backend->name);
    else
        snprintf(device->name, sizeof device->name, "%s:%d", backend->name, index);
    pthread_mutex_init(&device->mutex, NULL);
    weft__pool_open(device);
    atomic_fetch_add(&devices_count, 1);
    if (index < WEFT__DEVICES_MAX && backend->kind != WEFT_DEVICE_CPU)
        atomic_store_explicit(&weft__devices_known[backend->kind][index], device,
                              memory_order_release);
}

static void add_devices(const weft__backend *backend)
{
    int count = backend->device_count(&absent[backend->kind]);
    for (int k = 0; k < count && devices_count < WEFT__DEVICES_MAX; k++)
        add_device(backend, k);
}

static void open_cpu(void)
{
    add_devices(weft__backends[0]);
    weft__library_open();
    atomic_store_explicit(&weft__devices_known[WEFT_DEVICE_CPU][0], &devices[0],
                          memory_order_release);
    atomic_store_explicit(&ready, true, memory_order_release);
}

static void open_others(void)
{
    for (int b = 1; b < weft__backends_count; b++)
        add_devices(weft__backends[b]);
}

static void open_first(void)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        pthread_once(&once, open_cpu);
}

/* Their drivers take long to open: only who asks for another device than the CPU waits for that. */
static void open_devices(void)
{
    open_first();
    pthread_once(&others_once, open_others);
}

int weft__device_count(void)
{
    open_first();
    return devices_count;
}

weft__device *weft__device_at(int position)
{
    return position >= 0 && position < weft__device_count() ? &devices[position] : NULL;
}

static weft__device *find(weft_device id)
{
    open_first();
    if (id.kind == WEFT_DEVICE_CPU && id.index == 0)
        return &devices[0];
    if (id.kind > WEFT_DEVICE_CPU)
        open_devices();
    for (int k = 1; k < devices_count; k++)
        if (weft_device_equal(devices[k].id, id))
            return &devices[k];
    return NULL;
}

/* "cpu, cuda:0" for messages. */
static const char *device_list(char *text, size_t room)
{
    size_t length = 0;
    text[0] = 0;
    open_devices();
    for (int k = 0; k < weft__device_count() && length < room; k++) {
        int more = snprintf(text + length, room - length, "%s%s", k ? ", " : "", devices[k].name);
        length += (size_t)more;
    }
    return text;
}

static weft__device *fail_absent(weft_device id)
{
    char text[256];
    if (id.kind == WEFT_DEVICE_INVALID && weft_error_code() == WEFT_ERROR_DEVICE)
        return NULL; /* the record says how it became invalid */
    FAIL_AT(
        WEFT_ERROR_DEVICE, "device",
        "there is no device of kind %d (CPU %d, CUDA %d, OpenCL %d) with index %d; there are: %s",
        id.kind, WEFT_DEVICE_CPU, WEFT_DEVICE_CUDA, WEFT_DEVICE_OPENCL, id.index,
        device_list(text, sizeof text));
    return NULL;
}

weft__device *weft__device_look_up(weft_device id)
{
    weft__device *device = find(id);
    return device ? device : fail_absent(id);
}

weft_status weft__device_choose(weft_device given, weft_device like, weft_device *result)
{
    weft_device device = given;
    if (device.kind == WEFT_DEVICE_NONE)
        device = like;
    if (device.kind == WEFT_DEVICE_NONE)
        device = weft_device_context();
    if (device.kind == WEFT_DEVICE_NONE)
        device = weft__device_default();
    *result = device;
    return weft__device_get(device) ? WEFT_OK : WEFT_ERROR_DEVICE;
}

static bool is_gpu(const weft__device *device)
{
    return device->backend->device_is_gpu && device->backend->device_is_gpu(device->id.index);
}

static uint64_t place_of(const weft__device *device)
{
    return device->backend->device_place ? device->backend->device_place(device->id.index) : 0;
}

/* Whether a device of another backend, which comes first, is the same GPU. */
static bool is_repeated(int k)
{
    const uint64_t place = place_of(&devices[k]);
    for (int i = 0; place && i < k; i++)
        if (devices[i].backend != devices[k].backend && is_gpu(&devices[i]) &&
            place_of(&devices[i]) == place)
            return true;
    return false;
}

/* The N-th device that is a GPU; each physical one once: CUDA devices, then OpenCL ones that are
 * not CPUs and that no CUDA device is. */
static weft__device *find_gpu(int n)
{
    for (int k = 0; k < devices_count; k++)
        if (is_gpu(&devices[k]) && !is_repeated(k) && n-- == 0)
            return &devices[k];
    return NULL;
}

static weft__device *find_free_gpu(void)
{
    weft__device *best = NULL, *device;
    uint64_t most = 0;
    for (int n = 0; (device = find_gpu(n)); n++) {
        weft_device_info info = {0};
        if (device->backend->device_describe(device->id.index, &info) == WEFT_OK &&
            (!best || info.memory_free > most)) {
            best = device;
            most = info.memory_free;
        }
    }
    return best;
}

static weft__device *find_named(const char *name)
{
    char *end;
    if (!strcmp(name, "gpu:free"))
        return find_free_gpu();
    for (int k = 0; k < devices_count; k++) {
        size_t length = strlen(devices[k].backend->name);
        bool whole = !strcmp(name, devices[k].name);
        bool first = devices[k].id.index == 0 && !strcmp(name, devices[k].backend->name);
        bool numbered = devices[k].id.kind == WEFT_DEVICE_CPU && !strncmp(name, "cpu", length) &&
                        !strcmp(name + length, ":0");
        if (whole || first || numbered)
            return &devices[k];
    }
    if (!strcmp(name, "gpu"))
        return find_gpu(0);
    if (strncmp(name, "gpu:", 4) || name[4] < '0' || name[4] > '9')
        return NULL;
    unsigned long n = strtoul(name + 4, &end, 10);
    return *end || n >= WEFT__DEVICES_MAX ? NULL : find_gpu((int)n);
}

/* Whether GPUs would be among the devices of a kind, if there were any. */
static bool is_of(const char *name, const char *kind)
{
    return !strncmp(name, kind, strlen(kind)) || (!strncmp(name, "gpu", 3) && !find_gpu(0));
}

weft_device weft_device_named(const char *name)
{
    char text[256];
    OPERATION("weft_device_named");
    if (name && !strcmp(name, "cpu"))
        open_first();
    else
        open_devices();
    weft__device *device = name ? find_named(name) : NULL;
    if (device)
        return device->id;
    const char *cuda = name && is_of(name, "cuda") ? absent[WEFT_DEVICE_CUDA] : NULL;
    const char *opencl = name && is_of(name, "opencl") ? absent[WEFT_DEVICE_OPENCL] : NULL;
    FAIL_AT(WEFT_ERROR_DEVICE, "name",
            "there is no device '%.60s'; there are: %s%s%s%s%s. Names look like cpu, cuda:0, "
            "opencl:0, gpu, gpu:1 or gpu:free",
            name ? name : "(NULL)", device_list(text, sizeof text), cuda ? ". " : "",
            cuda ? cuda : "", opencl ? ". " : "", opencl ? opencl : "");
    return (weft_device){WEFT_DEVICE_INVALID, 0};
}

const char *weft_device_id(weft_device device)
{
    weft__device *known = find(device);
    if (known)
        return known->name;
    return device.kind == WEFT_DEVICE_NONE ? "none" : "invalid";
}

bool weft_device_equal(weft_device a, weft_device b)
{
    return a.kind == b.kind && a.index == b.index;
}

int weft_device_count(void)
{
    open_devices();
    return weft__device_count();
}

weft_device weft_device_at(int position)
{
    OPERATION("weft_device_at");
    if (position != 0)
        open_devices();
    weft__device *device = weft__device_at(position);
    if (device)
        return device->id;
    FAIL_AT(WEFT_ERROR_DEVICE, "position",
            "there is no device at position %d; there are %d devices", position,
            weft__device_count());
    return (weft_device){WEFT_DEVICE_INVALID, 0};
}

weft_status weft_device_describe_sized(weft_device id, weft_device_info *info, size_t info_size)
{
    weft_device_info all = {0};
    OPERATION("weft_device_describe");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if (!info)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "info",
                       "info is NULL; a place for the facts was expected");
    all.kind = id.kind;
    TRY(device->backend->device_describe(id.index, &all));
    all.shared_memory = device->backend->memory_host_readable(id.index, WEFT_MEMORY_SHARED) &&
                        device->backend->memory_host_readable(id.index, WEFT_MEMORY_HOST);
    memset(info, 0, info_size);
    memcpy(info, &all, info_size < sizeof all ? info_size : sizeof all);
    return WEFT_OK;
}

bool weft_device_supports(weft_device device, weft_dtype dtype)
{
    weft_device_info info;
    return weft_device_describe(device, &info) == WEFT_OK && weft_dtype_size(dtype) != 0 &&
           (info.dtypes >> dtype & 1u) != 0;
}

weft_status weft_device_native(weft_device id, void **handle)
{
    OPERATION("weft_device_native");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if (!handle)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "handle",
                       "handle is NULL; a place for it was expected");
    if (!device->backend->device_native)
        return FAIL_AT(WEFT_ERROR_UNSUPPORTED, "device", "%s has no context of its own",
                       device->name);
    return device->backend->device_native(id.index, handle);
}

weft_status weft_device_synchronize(weft_device id)
{
    OPERATION("weft_device_synchronize");
    if (!weft__device_get(id))
        return WEFT_ERROR_DEVICE;
    if (weft__in_callback())
        return FAIL(WEFT_ERROR_STREAM,
                    "a function called by a stream cannot wait for its device: it "
                    "would wait for itself");
    weft__stream_wait_all(id);
    weft__pool_settle(weft__device_get(id));
    return WEFT_OK;
}

static void forget_failure(weft_stream *stream, void *argument)
{
    if (weft_device_equal(stream->device, *(weft_device *)argument))
        weft__failures_drop(&stream->failures);
}

void weft__device_on_reset(void (*drop)(weft_device device))
{
    for (int k = 0; k < drops_count; k++)
        if (drops[k] == drop)
            return;
    int at = drops_count;
    if (at < DROPS_MAX) {
        drops[at] = drop; /* before the count, which others read */
        drops_count = at + 1;
    }
}

void weft__device_drop(weft__device *device)
{
    weft__thread *thread = weft__thread_peek();
    for (int k = 0; k < drops_count; k++)
        drops[k](device->id);
    weft__memory_epoch_move();
    if (thread)
        weft__magazines_flush(thread);
    weft__retired_sweep();
    weft__pool_trim(device, 0);
}

weft_status weft_device_reset(weft_device id)
{
    OPERATION("weft_device_reset");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if (weft__in_callback())
        return FAIL(WEFT_ERROR_STREAM,
                    "a function called by a stream cannot reset a device: it would "
                    "wait for itself");
    weft__stream_wait_all(id);
    atomic_fetch_add(&device->resets, 1);
    weft__generation_move(); /* after what it stands for */
    weft__stream_each(forget_failure, &id);
    weft__device_drop(device);
    return device->backend->device_reset(id.index);
}
