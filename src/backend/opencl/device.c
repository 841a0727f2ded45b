/* OpenCL devices: finding them, and what they can do. */
#include "backend/opencl/opencl.h"
#include "core/status.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 32, GROUP_ITEMS = 256 };

static weft__opencl_device devices[DEVICES_MAX];
static int devices_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the making of contexts */
static _Atomic(const char *) given_up;

static cl_ulong number(cl_device_id id, cl_uint what)
{
    cl_ulong value = 0; /* some are shorter, and the machine is little-endian */
    return weft__cl.GetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

static void text(cl_device_id id, cl_uint what, char *to, size_t room)
{
    char all[1024] = "";
    if (weft__cl.GetDeviceInfo(id, what, sizeof all, all, NULL) != CL_SUCCESS)
        all[0] = 0;
    all[sizeof all - 1] = 0;
    snprintf(to, room, "%.*s", (int)room - 1, all);
}

static bool is_usable(cl_device_id id)
{
    return number(id, CL_DEVICE_AVAILABLE) && number(id, CL_DEVICE_COMPILER_AVAILABLE) &&
           number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE) >= GROUP_ITEMS;
}

/* PoCL reads the header of the clang compiler, which has a guard. */
static bool is_brief(cl_platform_id platform)
{
    char name[64] = "";
    return weft__cl.GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) ==
               CL_SUCCESS &&
           strcmp(name, "Portable Computing Language") == 0;
}

/* Why host and device may not use the same memory at any time; NULL if they may. */
static const char *why_not_fine(cl_device_id id)
{
    if (!weft__cl.SVMAlloc || !weft__cl.SVMFree || !weft__cl.SetKernelArgSVMPointer)
        return "the system's libOpenCL is older than OpenCL 2.0, which has shared virtual memory";
    const cl_ulong svm = number(id, CL_DEVICE_SVM_CAPABILITIES);
    if (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
        return NULL;
    return svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
               ? "the driver has CL_DEVICE_SVM_COARSE_GRAIN_BUFFER only, which the host may not "
                 "use at any time"
               : "the driver has no shared virtual memory (CL_DEVICE_SVM_CAPABILITIES)";
}

static void add_device(cl_platform_id platform, cl_device_id id)
{
    weft__opencl_device *device = &devices[devices_count++];
    device->platform = platform;
    device->id = id;
    device->brief = is_brief(platform);
    device->is_cpu = number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    device->why_not_fine = why_not_fine(id);
    device->most_bytes = (size_t)number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    device->f32_config = number(id, CL_DEVICE_SINGLE_FP_CONFIG);
    device->f64_config = number(id, CL_DEVICE_DOUBLE_FP_CONFIG);
}

static void add_platform(cl_platform_id platform)
{
    cl_device_id ids[DEVICES_MAX];
    cl_uint count = 0;
    if (weft__cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &count) != CL_SUCCESS)
        return;
    for (cl_uint k = 0; k < count && k < DEVICES_MAX && devices_count < DEVICES_MAX; k++)
        if (is_usable(ids[k]))
            add_device(platform, ids[k]);
}

int weft__opencl_device_count(const char **why)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    if (!weft__cl_open(why))
        return 0;
    if (weft__cl_platforms(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS || count == 0) {
        *why = "OpenCL: there is a libOpenCL, but no platform is installed that it can open "
               "(/etc/OpenCL/vendors, or where OCL_ICD_VENDORS says; Debian: pocl-opencl-icd)";
        return 0;
    }
    for (cl_uint k = 0; k < count && k < PLATFORMS_MAX; k++)
        add_platform(platforms[k]);
    if (devices_count == 0)
        *why = "OpenCL: there are platforms, but none has a device that can be used: one that is "
               "available, has a compiler, and takes 256 items in a group";
    return devices_count;
}

/* What its floats must do for the same bits; f64 likewise, where it has them. */
static const char *why_other_bits(const weft__opencl_device *device)
{
    const cl_bitfield common = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA;
    if ((device->f32_config & common) != common)
        return "its f32 has no fma, no infinities and NaN, or does not round to nearest";
    if (!(device->f32_config & CL_FP_DENORM))
        return "its f32 has no subnormal numbers";
    if (!(device->f32_config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) && !device->f64_config)
        return "its f32 division and square root are not correctly rounded, and it has no f64";
    return NULL;
}

static uint32_t dtypes_of(const weft__opencl_device *device)
{
    uint32_t dtypes = 0;
    for (int dtype = WEFT_DTYPE_DEFAULT + 1; dtype < WEFT_DTYPE_END; dtype++)
        dtypes |= 1u << dtype;
    return device->f64_config ? dtypes : dtypes & ~(1u << WEFT_F64 | 1u << WEFT_C128);
}

weft_status weft__opencl_device_describe(int index, weft_device_info *info)
{
    const weft__opencl_device *device = &devices[index];
    const char *why = why_other_bits(device);
    memset(info, 0, sizeof *info);
    info->kind = WEFT_DEVICE_OPENCL;
    text(device->id, CL_DEVICE_NAME, info->name, sizeof info->name);
    text(device->id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    text(device->id, CL_DEVICE_VERSION, info->compiler, sizeof info->compiler);
    info->compute_units = (int32_t)number(device->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->memory_total = number(device->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->memory_free = info->memory_total; /* OpenCL does not tell */
    info->dtypes = dtypes_of(device);
    info->unified_memory = number(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info->same_bits = !why;
    snprintf(info->same_bits_why, sizeof info->same_bits_why, "%s", why ? why : "");
    snprintf(info->shared_memory_why, sizeof info->shared_memory_why, "%s",
             device->why_not_fine ? device->why_not_fine : "");
    return WEFT_OK;
}

bool weft__opencl_device_is_gpu(int index) { return !devices[index].is_cpu; }

uint64_t weft__opencl_device_place(int index)
{
    const cl_device_id id = devices[index].id;
    cl_uint bus[4], of_nvidia = 0; /* domain, bus, slot, function */
    if (weft__cl.GetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO, sizeof bus, bus, NULL) == CL_SUCCESS)
        return weft__bus_place(bus[0], bus[1], bus[2]);
    if (weft__cl.GetDeviceInfo(id, CL_DEVICE_PCI_BUS_ID_NV, sizeof of_nvidia, &of_nvidia, NULL) !=
        CL_SUCCESS)
        return 0;
    /* The slot there has the function in its lower bits. */
    return weft__bus_place((cl_uint)number(id, CL_DEVICE_PCI_DOMAIN_ID_NV), of_nvidia,
                           (cl_uint)number(id, CL_DEVICE_PCI_SLOT_ID_NV) >> 3);
}

const weft__opencl_device *weft__opencl_device_at(int index) { return &devices[index]; }

bool weft__opencl_usable(void) { return !atomic_load(&given_up); }

void weft__opencl_give_up(const char *why)
{
    atomic_store(&given_up, why);
    weft__generation_move();
}

static weft_status open_context(weft__opencl_device *device)
{
    cl_int code = CL_SUCCESS;
    pthread_mutex_lock(&mutex);
    if (!device->context)
        device->context = weft__cl.CreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    pthread_mutex_unlock(&mutex);
    return device->context ? WEFT_OK : weft__cl_fail("CreateContext", code);
}

weft__opencl_device *weft__opencl_device_get(int index)
{
    weft__opencl_device *device = &devices[index];
    const char *why = atomic_load(&given_up);
    if (why)
        return FAIL_NULL(WEFT_ERROR_DEVICE, "opencl:%d cannot be used any more: %s", index, why);
    return open_context(device) == WEFT_OK ? device : NULL;
}

/* Kernels and memory are cached by the layers above. */
weft_status weft__opencl_device_reset(int index)
{
    (void)index;
    return WEFT_OK;
}

weft_status weft__opencl_device_native(int index, void **handle)
{
    weft__opencl_device *device = weft__opencl_device_get(index);
    if (!device)
        return weft_error_code();
    *handle = device->context;
    return WEFT_OK;
}
