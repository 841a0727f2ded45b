/* CUDA devices: finding them, what they can do, their contexts, and what happens when one is lost.
 */
#include "backend/cuda/cuda.h"
#include "core/status.h"
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 32 };

static weft__cuda_device devices[DEVICES_MAX];
static int devices_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the making of contexts */
_Atomic(const char *) weft__cuda_given_up;

static int attribute(CUdevice id, int which)
{
    int value = 0;
    return weft__cu.DeviceGetAttribute(&value, which, id) == CUDA_SUCCESS ? value : 0;
}

static void add_device(int ordinal)
{
    weft__cuda_device *device = &devices[devices_count];
    CUdevice id;
    if (weft__cu.DeviceGet(&id, ordinal) != CUDA_SUCCESS)
        return;
    device->index = devices_count++;
    device->id = id;
    device->architecture = 10 * attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                           attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    device->concurrent = attribute(id, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
}

int weft__cuda_device_count(const char **why)
{
    int count = 0;
    if (!weft__cuda_open(why))
        return 0;
    if (weft__cu.DeviceGetCount(&count) != CUDA_SUCCESS || count <= 0) {
        *why = "CUDA: there is a driver, but it has no device (CUDA_VISIBLE_DEVICES may hide them)";
        return 0;
    }
    for (int k = 0; k < count && devices_count < DEVICES_MAX; k++)
        add_device(k);
    return devices_count;
}

weft__cuda_device *weft__cuda_device_at(int index) { return &devices[index]; }

void weft__cuda_give_up(const char *why)
{
    atomic_store(&weft__cuda_given_up, why);
    weft__generation_move();
}

bool weft__cuda_enter(const weft__cuda_device *device)
{
    CUcontext current = NULL, own = atomic_load_explicit(&device->context, memory_order_relaxed);
    const CUresult code = weft__cu.CtxGetCurrent(&current);
    if (code == CUDA_SUCCESS && current == own)
        return false;
    if (code == CUDA_SUCCESS && !current && weft__cu.CtxSetCurrent(own) == CUDA_SUCCESS)
        return false;
    return weft__cu.CtxPushCurrent(own) == CUDA_SUCCESS;
}

bool weft__cuda_is_elsewhere(const weft__cuda_device *device)
{
    CUcontext current = NULL;
    return weft__cu.CtxGetCurrent(&current) == CUDA_SUCCESS &&
           current != atomic_load_explicit(&device->context, memory_order_relaxed);
}

void weft__cuda_leave(bool entered)
{
    CUcontext popped;
    if (entered)
        weft__cu.CtxPopCurrent(&popped);
}

CUresult weft__cuda_note(weft__cuda_device *device, CUresult code)
{
    int none = 0;
    if (code != CUDA_SUCCESS && weft__cuda_is_fatal(code) &&
        atomic_compare_exchange_strong(&device->fault, &none, code))
        weft__generation_move();
    return code;
}

weft_status weft__cuda_check(weft__cuda_device *device, const char *call, CUresult code)
{
    return code == CUDA_SUCCESS ? WEFT_OK : weft__cuda_fail(call, weft__cuda_note(device, code));
}

/* With the mutex held. */
static CUresult make_context(weft__cuda_device *device)
{
    CUcontext context = NULL;
    const CUresult code = weft__cu.DevicePrimaryCtxRetain(&context, device->id);
    if (code == CUDA_SUCCESS) {
        device->primary = true;
        atomic_store(&device->context, context);
    }
    return code;
}

static weft_status open_context(weft__cuda_device *device)
{
    CUresult code = CUDA_SUCCESS;
    if (atomic_load_explicit(&device->context, memory_order_acquire))
        return WEFT_OK;
    pthread_mutex_lock(&mutex);
    if (!atomic_load(&device->context))
        code = make_context(device);
    pthread_mutex_unlock(&mutex);
    return weft__cuda_check(device, "DevicePrimaryCtxRetain", code);
}

static void *fail_fault(int index, int fault)
{
    return FAIL_NULL(WEFT_ERROR_DEVICE,
                     "cuda:%d has faulted, and what was on it is lost: %s (%d); other devices "
                     "work on, and weft_device_reset gives this one a new beginning",
                     index, weft__cuda_text_of(fault), fault);
}

weft__cuda_device *weft__cuda_device_get(int index)
{
    weft__cuda_device *device = &devices[index];
    const char *why = atomic_load_explicit(&weft__cuda_given_up, memory_order_relaxed);
    const int fault = atomic_load_explicit(&device->fault, memory_order_relaxed);
    if (why)
        return FAIL_NULL(WEFT_ERROR_DEVICE, "cuda:%d cannot be used any more: %s", index, why);
    if (fault)
        return fail_fault(index, fault);
    return open_context(device) == WEFT_OK ? device : NULL;
}

static uint64_t free_memory(weft__cuda_device *device)
{
    const weft_error before = *weft_error_last();
    size_t free = 0, total = 0;
    if (!weft__cuda_device_get(device->index)) {
        weft__error_restore(&before);
        return 0;
    }
    const bool entered = weft__cuda_enter(device);
    if (weft__cuda_note(device, weft__cu.MemGetInfo(&free, &total)) != CUDA_SUCCESS)
        free = 0;
    weft__cuda_leave(entered);
    return free;
}

static void describe_software(weft_device_info *info)
{
    const int driver = weft__cuda_driver_version(), compiler = weft__nvrtc_version();
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    if (compiler)
        snprintf(info->compiler, sizeof info->compiler, "NVRTC %d.%d", compiler / 1000,
                 compiler % 1000 / 10);
    else
        snprintf(info->compiler, sizeof info->compiler, "none: NVRTC is not found (WEFT_NVRTC)");
}

weft_status weft__cuda_device_describe(int index, weft_device_info *info)
{
    weft__cuda_device *device = &devices[index];
    size_t total = 0;
    memset(info, 0, sizeof *info);
    info->kind = WEFT_DEVICE_CUDA;
    if (weft__cu.DeviceGetName(info->name, (int)sizeof info->name, device->id) != CUDA_SUCCESS)
        snprintf(info->name, sizeof info->name, "a CUDA device");
    if (weft__cu.DeviceTotalMem(&total, device->id) == CUDA_SUCCESS)
        info->memory_total = total;
    info->memory_free = free_memory(device);
    info->compute_units = attribute(device->id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->unified_memory = attribute(device->id, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    for (int dtype = WEFT_DTYPE_DEFAULT + 1; dtype < WEFT_DTYPE_END; dtype++)
        info->dtypes |= 1u << dtype;
    info->same_bits = true;
    describe_software(info);
    return WEFT_OK;
}

bool weft__cuda_device_is_gpu(int index)
{
    (void)index;
    return true;
}

uint64_t weft__cuda_device_place(int index)
{
    const CUdevice id = devices[index].id;
    return weft__bus_place((uint32_t)attribute(id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                           (uint32_t)attribute(id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                           (uint32_t)attribute(id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

static bool works(const weft__cuda_device *device)
{
    CUdeviceptr memory = 0;
    const bool entered = weft__cuda_enter(device);
    const bool good = weft__cu.MemAlloc(&memory, 64) == CUDA_SUCCESS &&
                      weft__cu.MemFree(memory) == CUDA_SUCCESS &&
                      weft__cu.CtxSynchronize() == CUDA_SUCCESS;
    weft__cuda_leave(entered);
    return good;
}

/* A driver that keeps the fault with the primary context may still make another one. */
static bool replace_context(weft__cuda_device *device)
{
    CUcontext context = atomic_load(&device->context);
    if (device->primary) {
        weft__cu.DevicePrimaryCtxRelease(device->id);
        weft__cu.DevicePrimaryCtxReset(device->id);
    } else if (context)
        weft__cu.CtxDestroy(context);
    atomic_store(&device->context, NULL);
    if (make_context(device) == CUDA_SUCCESS && works(device))
        return true;
    if (atomic_load(&device->context))
        weft__cu.DevicePrimaryCtxRelease(device->id);
    atomic_store(&device->context, NULL);
    device->primary = false;
    if (weft__cu.CtxCreate(&context, 0, device->id) != CUDA_SUCCESS)
        return false;
    weft__cu.CtxPopCurrent(&context); /* it was made current */
    atomic_store(&device->context, context);
    return works(device);
}

/* Kernels and memory are cached by the layers above. What a lost context held went with it: streams
 * are opened anew when they are used, and arrays say that they are lost. */
weft_status weft__cuda_device_reset(int index)
{
    weft__cuda_device *device = &devices[index];
    const int fault = atomic_load(&device->fault);
    if (!fault) {
        weft__cuda_copy_drop(index);
        return WEFT_OK;
    }
    pthread_mutex_lock(&mutex);
    weft__cuda_events_forget(index);
    weft__cuda_copy_drop(index);
    const bool replaced = replace_context(device);
    if (replaced) {
        atomic_fetch_add(&device->generation, 1);
        atomic_store(&device->fault, 0);
    }
    pthread_mutex_unlock(&mutex);
    if (replaced)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_DEVICE,
                "cuda:%d cannot be reset after its fault: %s (%d); the driver needs a new process "
                "for that, and other devices work on",
                index, weft__cuda_text_of(fault), fault);
}

weft_status weft__cuda_device_native(int index, void **handle)
{
    weft__cuda_device *device = weft__cuda_device_get(index);
    if (!device)
        return weft_error_code();
    *handle = atomic_load(&device->context);
    return WEFT_OK;
}
