/* Memory of OpenCL devices. A memory object has no address, but arrays do: each object gets a range
 * of addresses that faults when it is touched, behind a page that says whose it is.
 *
 * A driver for CPUs takes large blocks from the C library, in small pages. Those that are given to
 * it are in huge ones: a sum of all elements takes a tenth less. Smaller ones, unless there are
 * many, are made over memory that is shared: a kernel is given its address, and the driver has no
 * object to keep account of, which takes it less time for each call. */
#include "backend/opencl/opencl.h"
#include "core/allocate.h"
#include <sys/mman.h>
#include <unistd.h>

/* At the beginning of the page. */
typedef struct label {
    cl_mem object;
    char *shared; /* what it is made over, if kernels can be given that */
    size_t bytes; /* of the whole range */
    uint64_t number;
} label;

static _Atomic uint64_t labels_count;

static size_t page(void)
{
    static _Atomic size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0)
        atomic_store_explicit(&known, bytes = (size_t)sysconf(_SC_PAGESIZE), memory_order_relaxed);
    return bytes;
}

static char *map_range(cl_mem object, char *shared, size_t bytes)
{
    const size_t unit = page(), whole = unit + (bytes + unit - 1) / unit * unit;
    char *range = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    if (mprotect(range, unit, PROT_READ | PROT_WRITE) != 0) {
        munmap(range, whole);
        return NULL;
    }
    *(label *)(void *)range = (label){object, shared, whole, ++labels_count};
    return range + unit;
}

static label *label_of(const void *data)
{
    return (label *)(void *)((char *)(uintptr_t)data - page());
}

enum { HUGE = 2 << 20 };

/* What is behind memory that was given to a driver. */
typedef struct trailer {
    char *memory;
    size_t bytes;       /* of the whole, this included */
    cl_context context; /* that shares it; NULL if it is mapped */
} trailer;

/* Blocks that objects are made over. PoCL looks through all of them for each object that it makes:
 * with 20,000 that took 1 ms. */
enum { SHARED_MOST = 256 };
static _Atomic int shared_count;

static void free_given(cl_mem object, void *data)
{
    const trailer own = *(const trailer *)data;
    (void)object;
    if (own.context) {
        weft__cl.SVMFree(own.context, own.memory);
        atomic_fetch_sub(&shared_count, 1);
    } else
        munmap(own.memory, own.bytes);
}

/* Maps more than is needed and gives the beginning back. */
static trailer *map_given(size_t bytes)
{
    const size_t unit = page(), room = (bytes + unit - 1) / unit * unit, whole = room + unit;
    char *data =
        mmap(NULL, whole + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    const size_t before = (HUGE - (uintptr_t)data % HUGE) % HUGE;
    if (before)
        munmap(data, before);
    data += before;
    madvise(data, bytes / HUGE * HUGE, MADV_HUGEPAGE);
    trailer *own = (trailer *)(void *)(data + room);
    *own = (trailer){data, whole + HUGE - before, NULL};
    return own;
}

static trailer *share_given(const weft__opencl_device *device, size_t bytes)
{
    enum { UNIT = 64 };
    const cl_bitfield flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    const size_t room = (bytes + UNIT - 1) / UNIT * UNIT, whole = room + sizeof(trailer);
    char *data = NULL;
    if (device->why_not_fine)
        return NULL;
    if (atomic_fetch_add(&shared_count, 1) < SHARED_MOST)
        data = weft__cl.SVMAlloc(device->context, flags, whole, UNIT);
    if (!data) {
        atomic_fetch_sub(&shared_count, 1);
        return NULL;
    }
    trailer *own = (trailer *)(void *)(data + room);
    *own = (trailer){data, whole, device->context};
    return own;
}

static bool takes_given(const weft__opencl_device *device, weft_memory kind)
{
    return device->is_cpu && kind == WEFT_MEMORY_DEVICE && weft__cl.SetMemObjectDestructorCallback;
}

/* An object in memory that lives as long as it does, whoever keeps it; NULL if there is none. */
static cl_mem create_given(const weft__opencl_device *device, size_t bytes, char **shared)
{
    cl_int code;
    trailer *own = bytes >= HUGE ? map_given(bytes) : share_given(device, bytes);
    cl_mem object =
        own ? weft__cl.CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                    own->memory, &code)
            : NULL;
    if (object && weft__cl.SetMemObjectDestructorCallback(object, free_given, own) == CL_SUCCESS) {
        *shared = own->context ? own->memory : NULL;
        return object;
    }
    if (object)
        weft__cl.ReleaseMemObject(object);
    if (own)
        free_given(NULL, own);
    return NULL;
}

static cl_mem create_own(const weft__opencl_device *device, weft_memory kind, size_t bytes)
{
    const bool pinned = kind == WEFT_MEMORY_HOST;
    const cl_bitfield flags = CL_MEM_READ_WRITE | (pinned ? CL_MEM_ALLOC_HOST_PTR : 0);
    cl_int code;
    return weft__cl.CreateBuffer(device->context, flags, bytes, NULL, &code);
}

static void *allocate_object(weft__opencl_device *device, weft_memory kind, size_t bytes)
{
    char *shared = NULL;
    cl_mem object = takes_given(device, kind) ? create_given(device, bytes, &shared) : NULL;
    if (!object)
        object = create_own(device, kind, bytes);
    char *data = object ? map_range(object, shared, bytes) : NULL;
    if (object && !data)
        weft__cl.ReleaseMemObject(object);
    return data;
}

static bool is_shared(const weft__opencl_device *device, weft_memory kind)
{
    return !device->why_not_fine && (kind == WEFT_MEMORY_SHARED || kind == WEFT_MEMORY_HOST);
}

void *weft__opencl_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed)
{
    weft__opencl_device *device = weft__opencl_device_get(index);
    void *data = NULL;
    *zeroed = false;
    if (!device || !weft__allocation_begin(bytes))
        return NULL;
    if (is_shared(device, kind))
        data = weft__cl.SVMAlloc(device->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
                                 bytes, 64);
    else
        data = allocate_object(device, kind, bytes);
    if (!data)
        weft__allocation_end();
    return data;
}

size_t weft__opencl_memory_most(int index)
{
    enum { UNIT = 64 };
    return weft__opencl_device_at(index)->most_bytes / UNIT * UNIT;
}

/* What the driver held is gone with it when it cannot be called any more. */
void weft__opencl_memory_release(int index, weft_memory kind, void *data, size_t bytes)
{
    (void)bytes;
    if (!data)
        return;
    weft__allocation_end();
    weft__opencl_device *device = weft__opencl_usable() ? weft__opencl_device_get(index) : NULL;
    if (weft__opencl_memory_host_readable(index, kind)) {
        if (device)
            weft__cl.SVMFree(device->context, data);
        return;
    }
    label *own = label_of(data);
    if (device)
        weft__cl.ReleaseMemObject(own->object);
    munmap(own, own->bytes);
}

static weft_status look_at(const weft__opencl_device *device, cl_mem object, size_t *bytes)
{
    cl_context context = NULL;
    cl_int code = weft__cl.GetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = weft__cl.GetMemObjectInfo(object, CL_MEM_SIZE, sizeof *bytes, bytes, NULL);
    if (code != CL_SUCCESS)
        return weft__cl_fail("GetMemObjectInfo", code);
    if (context != device->context)
        return FAIL_AT(WEFT_ERROR_DEVICE, "data",
                       "the memory object is of another context; make it in the one that "
                       "weft_device_native gives");
    return WEFT_OK;
}

weft_status weft__opencl_memory_wrap(int index, void *handle, void **data, size_t *bytes)
{
    const weft__opencl_device *device = weft__opencl_device_get(index);
    if (!device)
        return weft_error_code();
    TRY(look_at(device, handle, bytes));
    const bool begun = weft__allocation_begin(*bytes);
    *data = begun ? map_range(handle, NULL, *bytes) : NULL;
    if (*data) {
        weft__cl.RetainMemObject(handle);
        return WEFT_OK;
    }
    if (begun)
        weft__allocation_end();
    return FAIL(WEFT_ERROR_MEMORY, "there are no addresses for %zu bytes", *bytes);
}

void *weft__opencl_memory_native(const void *data) { return label_of(data)->object; }

bool weft__opencl_memory_host_readable(int index, weft_memory kind)
{
    return is_shared(weft__opencl_device_at(index), kind);
}

/* Memory of the device's own, other than what a user allocator gave, has a label. */
static bool has_label(const weft__buffer *buffer)
{
    return buffer->device.kind == WEFT_DEVICE_OPENCL && buffer->source != WEFT__SOURCE_USER &&
           !weft__opencl_memory_host_readable(buffer->device.index, (weft_memory)buffer->memory);
}

weft__opencl_place weft__opencl_place_of(const weft__work *work, const void *address)
{
    const char *at = address;
    for (uint32_t i = 0; i < work->uses_count; i++) {
        const weft__buffer *buffer = work->uses[i].buffer;
        if (at < buffer->data || at >= buffer->data + buffer->capacity)
            continue;
        const size_t offset = (size_t)(at - buffer->data);
        if (has_label(buffer)) {
            const label *own = label_of(buffer->data);
            return (weft__opencl_place){own->object, own->shared, offset, buffer->capacity,
                                        own->number};
        }
        if (buffer->device.kind == WEFT_DEVICE_OPENCL)
            return (weft__opencl_place){NULL, buffer->data, offset, buffer->capacity, 0};
    }
    return (weft__opencl_place){NULL, NULL, 0, 0, 0};
}
