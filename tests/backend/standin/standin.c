/* The stand-in's devices, contexts and memory. */
#include "backend/standin/standin.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct name {
    const char *symbol;
    int calls, fails;
} names[NAMES];
static int fault_next;
static size_t in_use;

/* Memory, behind what is known of it. */
typedef struct block {
    struct block *next;
    CUcontext context;
    size_t bytes, room;
    _Alignas(512) char data[];
} block;
static block *live, *lost; /* what contexts have; what those had that are gone */

static struct weft__cu_context primary[STANDIN_DEVICES] = {{.device = 0, .primary = true},
                                                           {.device = 1, .primary = true}};
static __thread CUcontext stack[8];
static __thread int depth;

bool standin_has(const char *word)
{
    const char *text = getenv("WEFT_STANDIN");
    return text && strstr(text, word);
}

static struct name *name_of(const char *symbol)
{
    int k = 0;
    while (k < NAMES - 1 && names[k].symbol && strcmp(names[k].symbol, symbol) != 0)
        k++;
    if (!names[k].symbol)
        names[k].symbol = strdup(symbol);
    return &names[k];
}

void standin_fail_next(const char *symbol, int code)
{
    pthread_mutex_lock(&mutex);
    name_of(symbol)->fails = code;
    pthread_mutex_unlock(&mutex);
}

void standin_fault_next(int code)
{
    pthread_mutex_lock(&mutex);
    fault_next = code;
    pthread_mutex_unlock(&mutex);
}

int standin_calls(const char *symbol)
{
    pthread_mutex_lock(&mutex);
    const int calls = name_of(symbol)->calls;
    pthread_mutex_unlock(&mutex);
    return calls;
}

int standin_take_fault(void)
{
    pthread_mutex_lock(&mutex);
    const int fault = fault_next;
    fault_next = 0;
    pthread_mutex_unlock(&mutex);
    return fault;
}

CUcontext standin_current(void) { return depth > 0 ? stack[depth - 1] : NULL; }

CUresult standin_enter(const char *symbol)
{
    pthread_mutex_lock(&mutex);
    struct name *name = name_of(symbol);
    name->calls++;
    CUresult code = name->fails;
    name->fails = 0;
    pthread_mutex_unlock(&mutex);
    if (code != CUDA_SUCCESS)
        return code;
    CUcontext current = standin_current();
    return current ? __atomic_load_n(&current->fault, __ATOMIC_SEQ_CST) : 201;
}

/* Of functions that need no context. */
static CUresult enter_free(const char *symbol)
{
    const CUresult code = standin_enter(symbol);
    return standin_current() && code == standin_current()->fault ? CUDA_SUCCESS
           : code == 201                                         ? CUDA_SUCCESS
                                                                 : code;
}

EXPORT CUresult cuInit(unsigned flags)
{
    (void)flags;
    return standin_has("no_start") ? 999 : enter_free("cuInit");
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    *version = standin_has("old_driver") ? 10010 : 13000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorString(CUresult code, const char **text)
{
    *text = code == 700   ? "an illegal memory access was encountered"
            : code == 2   ? "out of memory"
            : code == 201 ? "invalid device context"
            : code == 999 ? "unknown error"
                          : NULL;
    return *text ? CUDA_SUCCESS : 1;
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = standin_has("no_device") ? 0 : STANDIN_DEVICES;
    return *count ? CUDA_SUCCESS : 100;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal < STANDIN_DEVICES ? CUDA_SUCCESS : 101;
}

EXPORT CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    snprintf(name, (size_t)room, "Stand-in %d", device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID                  ? 7 + device
             : attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID             ? 1
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT      ? 4
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR  ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS ? 1
                                                                          : 0;
    return CUDA_SUCCESS;
}

static size_t memory_there(void)
{
    const char *text = getenv("WEFT_STANDIN"), *at = text ? strstr(text, "memory=") : NULL;
    return at ? (size_t)strtoull(at + 7, NULL, 10) : (size_t)1 << 32;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = memory_there();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = &primary[device];
    return enter_free("cuDevicePrimaryCtxRetain");
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    (void)device;
    return CUDA_SUCCESS;
}

static void lose_memory(CUcontext context)
{
    pthread_mutex_lock(&mutex);
    for (block **at = &live; *at;) {
        block *b = *at;
        if (b->context != context) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        in_use -= b->bytes;
        b->next = lost;
        lost = b;
    }
    pthread_mutex_unlock(&mutex);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    lose_memory(&primary[device]);
    if (!standin_has("no_primary") && !standin_has("no_recovery"))
        __atomic_store_n(&primary[device].fault, 0, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    (void)flags;
    *context = calloc(1, sizeof **context);
    (*context)->device = device;
    (*context)->fault = standin_has("no_recovery") ? 700 : 0;
    stack[depth++] = *context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context)
{
    lose_memory(context); /* itself it stays: threads may still hold it as their current one */
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = standin_current();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
    depth = depth ? depth : 1;
    stack[depth - 1] = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    if (!context || depth == 8)
        return 201;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    if (depth == 0)
        return 201;
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSynchronize(void) { return standin_enter("cuCtxSynchronize"); }

EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    pthread_mutex_lock(&mutex);
    *total = memory_there();
    *free_bytes = *total - in_use;
    pthread_mutex_unlock(&mutex);
    return standin_enter("cuMemGetInfo_v2");
}

/* Takes it out of a list, if it is there; with the mutex held. */
static bool unlink_block(block **list, const block *b)
{
    while (*list && *list != b)
        list = &(*list)->next;
    const bool there = *list;
    if (there)
        *list = b->next;
    return there;
}

/* One of a lost context's that is as large, as the driver gives addresses again, or a new one. */
static block *take_block(size_t bytes)
{
    const size_t room = (bytes + 511) / 512 * 512;
    block *b = lost;
    while (b && b->room != room)
        b = b->next;
    if (b)
        unlink_block(&lost, b);
    else
        b = aligned_alloc(512, sizeof *b + room);
    if (b)
        b->room = room;
    return b;
}

static CUresult allocate(size_t bytes, void **data)
{
    pthread_mutex_lock(&mutex);
    block *b = in_use + bytes <= memory_there() ? take_block(bytes) : NULL;
    if (b) {
        in_use += bytes;
        b->bytes = bytes;
        b->context = standin_current();
        b->next = live;
        live = b;
    }
    pthread_mutex_unlock(&mutex);
    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(b->data, 0xcd, bytes < 4096 ? bytes : 4096); /* what is never written shows */
    *data = b->data;
    return CUDA_SUCCESS;
}

static void release(void *data)
{
    block *b = (block *)(void *)((char *)data - offsetof(block, data));
    pthread_mutex_lock(&mutex);
    const bool there = unlink_block(&live, b); /* else its context is gone, and it with that */
    in_use -= there ? b->bytes : 0;
    pthread_mutex_unlock(&mutex);
    if (there)
        free(b);
}

static CUresult allocate_address(const char *symbol, CUdeviceptr *address, size_t bytes)
{
    void *data = NULL;
    CUresult code = standin_enter(symbol);
    if (code == CUDA_SUCCESS)
        code = allocate(bytes, &data);
    *address = (CUdeviceptr)(uintptr_t)data;
    return code;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    return allocate_address("cuMemAlloc_v2", address, bytes);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate_address("cuMemAllocManaged", address, bytes);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address)
{
    const CUresult code = standin_enter("cuMemFree_v2");
    if (code == CUDA_SUCCESS)
        release((void *)(uintptr_t)address);
    return code;
}

EXPORT CUresult cuMemHostAlloc(void **data, size_t bytes, unsigned flags)
{
    (void)flags;
    const CUresult code = standin_enter("cuMemHostAlloc");
    return code == CUDA_SUCCESS ? allocate(bytes, data) : code;
}

EXPORT CUresult cuMemFreeHost(void *data)
{
    const CUresult code = standin_enter("cuMemFreeHost");
    if (code == CUDA_SUCCESS)
        release(data);
    return code;
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    (void)stream;
    return allocate_address("cuMemAllocAsync", address, bytes);
}

static void free_task(CUstream stream, void *argument)
{
    (void)stream;
    release(*(void **)argument);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    const CUresult code = standin_enter("cuMemFreeAsync");
    if (code != CUDA_SUCCESS)
        return code;
    void **freed = malloc(sizeof *freed);
    *freed = (void *)(uintptr_t)address;
    standin_queue(stream, free_task, freed);
    return CUDA_SUCCESS;
}
