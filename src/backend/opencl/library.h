/* libOpenCL, opened at run time: the declarations that are used, and what is found. */
#ifndef WEFT_BACKEND_OPENCL_LIBRARY_H
#define WEFT_BACKEND_OPENCL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <weft/status.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint, cl_bool;
typedef uint64_t cl_ulong, cl_bitfield;
typedef intptr_t cl_properties;
typedef struct weft__cl_platform *cl_platform_id;
typedef struct weft__cl_device_id *cl_device_id;
typedef struct weft__cl_context *cl_context;
typedef struct weft__cl_queue *cl_command_queue;
typedef struct weft__cl_mem *cl_mem;
typedef struct weft__cl_program *cl_program;
typedef struct weft__cl_kernel *cl_kernel;
typedef struct weft__cl_event *cl_event;

/* As the standard numbers them. */
enum {
    CL_SUCCESS = 0,
    CL_COMPLETE = 0,
    CL_QUEUE_OUT_OF_ORDER = 1 << 0,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_DEVICE_SVM_CAPABILITIES = 0x1053,
    CL_DEVICE_PCI_BUS_INFO = 0x410F, /* an extension's, as the next three are NVIDIA's */
    CL_DEVICE_PCI_BUS_ID_NV = 0x4008,
    CL_DEVICE_PCI_SLOT_ID_NV = 0x4009,
    CL_DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
    CL_FP_DENORM = 1 << 0,
    CL_FP_INF_NAN = 1 << 1,
    CL_FP_ROUND_TO_NEAREST = 1 << 2,
    CL_FP_FMA = 1 << 5,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER = 1 << 0,
    CL_DEVICE_SVM_FINE_GRAIN_BUFFER = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_READ_ONLY = 1 << 2,
    CL_MEM_USE_HOST_PTR = 1 << 3,
    CL_MEM_ALLOC_HOST_PTR = 1 << 4,
    CL_MEM_COPY_HOST_PTR = 1 << 5,
    CL_MEM_SVM_FINE_GRAIN_BUFFER = 1 << 10,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_CONTEXT = 0x1106,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283
};
#define CL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* result, name without "cl", parameters */
#define WEFT__CL_FUNCTIONS(X)                                                                      \
    X(cl_int, GetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                              \
    X(cl_int, GetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))                \
    X(cl_int, GetDeviceIDs, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))     \
    X(cl_int, GetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                    \
    X(cl_context, CreateContext,                                                                   \
      (const cl_properties *, cl_uint, const cl_device_id *,                                       \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                    \
    X(cl_command_queue, CreateCommandQueue, (cl_context, cl_device_id, cl_bitfield, cl_int *))     \
    X(cl_int, GetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void *, size_t *))          \
    X(cl_int, ReleaseCommandQueue, (cl_command_queue))                                             \
    X(cl_mem, CreateBuffer, (cl_context, cl_bitfield, size_t, void *, cl_int *))                   \
    X(cl_mem, CreateSubBuffer, (cl_mem, cl_bitfield, cl_uint, const void *, cl_int *))             \
    X(cl_int, GetMemObjectInfo, (cl_mem, cl_uint, size_t, void *, size_t *))                       \
    X(cl_int, RetainMemObject, (cl_mem))                                                           \
    X(cl_int, ReleaseMemObject, (cl_mem))                                                          \
    X(cl_program, CreateProgramWithSource,                                                         \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    X(cl_program, CreateProgramWithBinary,                                                         \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **,          \
       cl_int *, cl_int *))                                                                        \
    X(cl_int, GetProgramInfo, (cl_program, cl_uint, size_t, void *, size_t *))                     \
    X(cl_int, BuildProgram,                                                                        \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),      \
       void *))                                                                                    \
    X(cl_int, GetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))  \
    X(cl_int, ReleaseProgram, (cl_program))                                                        \
    X(cl_kernel, CreateKernel, (cl_program, const char *, cl_int *))                               \
    X(cl_int, GetKernelInfo, (cl_kernel, cl_uint, size_t, void *, size_t *))                       \
    X(cl_int, GetKernelWorkGroupInfo,                                                              \
      (cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *))                                \
    X(cl_int, SetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                            \
    X(cl_int, ReleaseKernel, (cl_kernel))                                                          \
    X(cl_int, EnqueueNDRangeKernel,                                                                \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,       \
       cl_uint, const cl_event *, cl_event *))                                                     \
    X(cl_int, EnqueueReadBuffer,                                                                   \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,       \
       cl_event *))                                                                                \
    X(cl_int, EnqueueWriteBuffer,                                                                  \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, \
       cl_event *))                                                                                \
    X(cl_int, EnqueueCopyBuffer,                                                                   \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *,        \
       cl_event *))                                                                                \
    X(cl_int, EnqueueReadBufferRect,                                                               \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t,  \
       size_t, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))                     \
    X(cl_int, EnqueueWriteBufferRect,                                                              \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t,  \
       size_t, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))               \
    X(cl_int, EnqueueCopyBufferRect,                                                               \
      (cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, size_t,   \
       size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))                             \
    X(cl_int, EnqueueBarrierWithWaitList,                                                          \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                   \
    X(cl_int, EnqueueMarkerWithWaitList,                                                           \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                   \
    X(cl_int, Flush, (cl_command_queue))                                                           \
    X(cl_event, CreateUserEvent, (cl_context, cl_int *))                                           \
    X(cl_int, SetUserEventStatus, (cl_event, cl_int))                                              \
    X(cl_int, WaitForEvents, (cl_uint, const cl_event *))                                          \
    X(cl_int, GetEventInfo, (cl_event, cl_uint, size_t, void *, size_t *))                         \
    X(cl_int, GetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))                \
    X(cl_int, RetainEvent, (cl_event))                                                             \
    X(cl_int, ReleaseEvent, (cl_event))

/* NULL in a loader that is older than OpenCL 2.0, or that has no more than what is needed. */
#define WEFT__CL_OPTIONAL(X)                                                                       \
    X(cl_int, SetMemObjectDestructorCallback, (cl_mem, void (*)(cl_mem, void *), void *))          \
    X(void *, SVMAlloc, (cl_context, cl_bitfield, size_t, cl_uint))                                \
    X(void, SVMFree, (cl_context, void *))                                                         \
    X(cl_int, SetKernelArgSVMPointer, (cl_kernel, cl_uint, const void *))

typedef struct weft__cl_functions {
#define WEFT__CL_FIELD(result, name, parameters) result(*name) parameters;
    WEFT__CL_FUNCTIONS(WEFT__CL_FIELD) WEFT__CL_OPTIONAL(WEFT__CL_FIELD)
#undef WEFT__CL_FIELD
} weft__cl_functions;

extern weft__cl_functions weft__cl;

/* Opens it; false, with a sentence, if there is none. Called once. */
bool weft__cl_open(const char **why);
/* clGetPlatformIDs, which opens the drivers; the environment stays as it is. */
cl_int weft__cl_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count);
/* Fails with what the call said, or, if that is NULL, with how a command ended. */
weft_status weft__cl_fail(const char *call, cl_int code);

#endif
