/* Memory of CUDA devices: device, managed and pinned. What there is is noted, with the context that
 * it is in: a lost context takes its memory with it. */
#include "backend/cuda/cuda.h"
#include "core/allocate.h"
#include "core/buffer.h"
#include <stdlib.h>

/* Open addressing, by address; at most half full. */
typedef struct noted {
    uintptr_t address; /* 0: free; 1: was given back */
    uint64_t generation;
} noted;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the next */
static noted *table;
static size_t room, used; /* a power of two; with those that were given back */

static noted *find(uintptr_t address, bool to_add)
{
    size_t at = (address >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    noted *given_back = NULL; /* the first: what is added lies there, not behind all of them */
    for (size_t k = 0; k < room; k++, at++) {
        noted *entry = &table[at & (room - 1)];
        if (entry->address == address)
            return entry;
        if (entry->address == 0)
            return !to_add ? NULL : given_back ? given_back : entry;
        if (entry->address == 1 && !given_back)
            given_back = entry;
    }
    return to_add ? given_back : NULL;
}

/* Leaves out those that were given back, and is larger only where there are still many. Never
 * given back itself while the library is loaded. */
static bool grow(void)
{
    const size_t old_room = room;
    size_t there = 0;
    for (size_t k = 0; k < old_room; k++)
        there += table[k].address > 1;
    const size_t new_room = old_room == 0 ? 1024 : 4 * there < old_room ? old_room : 2 * old_room;
    noted *old = table, *more = calloc(new_room, sizeof *more);
    if (!more)
        return false;
    table = more;
    room = new_room;
    used = there;
    for (size_t k = 0; k < old_room; k++)
        if (old[k].address > 1)
            *find(old[k].address, true) = old[k];
    free(old);
    return true;
}

static bool note(void *data, uint64_t generation)
{
    pthread_mutex_lock(&mutex);
    const bool fits = 2 * (used + 1) <= room || grow();
    noted *entry = fits ? find((uintptr_t)data, true) : NULL;
    if (entry) {
        used += entry->address == 0;
        *entry = (noted){(uintptr_t)data, generation};
    }
    pthread_mutex_unlock(&mutex);
    return entry != NULL;
}

/* Whether it is of this generation; an address that is not known belongs to somebody else. */
static bool is_current(const void *data, uint64_t generation, bool forget)
{
    pthread_mutex_lock(&mutex);
    noted *entry = room ? find((uintptr_t)data, false) : NULL;
    const bool current = !entry || entry->generation == generation;
    if (entry && forget)
        entry->address = 1;
    pthread_mutex_unlock(&mutex);
    return current;
}

static CUresult allocate(weft_memory kind, size_t bytes, void **data)
{
    CUdeviceptr address = 0;
    CUresult code;
    if (kind == WEFT_MEMORY_HOST)
        return weft__cu.MemHostAlloc(data, bytes, CU_MEMHOSTALLOC_PORTABLE);
    if (kind == WEFT_MEMORY_SHARED)
        code = weft__cu.MemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL);
    else
        code = weft__cu.MemAlloc(&address, bytes);
    *data = (void *)(uintptr_t)address;
    return code;
}

static void give_back(weft_memory kind, void *data)
{
    if (kind == WEFT_MEMORY_HOST)
        weft__cu.MemFreeHost(data);
    else
        weft__cu.MemFree((CUdeviceptr)(uintptr_t)data);
}

/* Not where an array lies that was lost and is still there: it would look like this one. */
static CUresult allocate_apart(weft_memory kind, size_t bytes, uint64_t generation, void **data)
{
    CUresult code = allocate(kind, bytes, data);
    if (code != CUDA_SUCCESS || is_current(*data, generation, false))
        return code;
    void *taken = *data;
    code = allocate_apart(kind, bytes, generation, data);
    give_back(kind, taken);
    return code;
}

void *weft__cuda_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed)
{
    weft__cuda_device *device = weft__cuda_device_get(index);
    void *data = NULL;
    *zeroed = false;
    if (!device || !weft__allocation_begin(bytes))
        return NULL;
    const bool entered = weft__cuda_enter(device);
    const uint64_t generation = atomic_load(&device->generation);
    if (weft__cuda_note(device, allocate_apart(kind, bytes, generation, &data)) != CUDA_SUCCESS)
        data = NULL;
    if (data && !note(data, generation)) {
        give_back(kind, data);
        data = NULL;
    }
    weft__cuda_leave(entered);
    if (!data)
        weft__allocation_end();
    return data;
}

/* What the driver held is gone with it when it cannot be called any more. */
void weft__cuda_memory_release(int index, weft_memory kind, void *data, size_t bytes)
{
    weft__cuda_device *device = weft__cuda_device_at(index);
    (void)bytes;
    if (!data)
        return;
    weft__allocation_end();
    const bool current = is_current(data, atomic_load(&device->generation), true);
    if (!current || !weft__cuda_usable() || atomic_load(&device->fault))
        return;
    const bool entered = weft__cuda_enter(device);
    give_back(kind, data);
    weft__cuda_leave(entered);
}

bool weft__cuda_memory_host_readable(int index, weft_memory kind)
{
    return kind == WEFT_MEMORY_HOST ||
           (kind == WEFT_MEMORY_SHARED && weft__cuda_device_at(index)->concurrent);
}

weft_status weft__cuda_memory_check(const weft__cuda_device *device, const weft__work *work)
{
    const uint64_t generation = atomic_load_explicit(&device->generation, memory_order_relaxed);
    for (uint32_t i = 0; generation && i < work->uses_count; i++)
        if (work->uses[i].buffer->device.kind == WEFT_DEVICE_CUDA &&
            work->uses[i].buffer->device.index == device->index &&
            !is_current(work->uses[i].buffer->data, generation, false))
            return FAIL(WEFT_ERROR_RESULT,
                        "an array was lost when cuda:%d faulted, before it was reset; make it anew",
                        device->index);
    return WEFT_OK;
}

void weft__cuda_memory_after_fork(void) { pthread_mutex_init(&mutex, NULL); }
