/* libcuda and libnvrtc, opened at run time: the declarations that are used, and what is found. */
#ifndef WEFT_BACKEND_CUDA_LIBRARY_H
#define WEFT_BACKEND_CUDA_LIBRARY_H

#include <stddef.h>
#include <stdint.h>
#include <weft/status.h>

typedef int CUresult, CUdevice, nvrtcResult;
typedef unsigned long long CUdeviceptr;
typedef struct weft__cu_context *CUcontext;
typedef struct weft__cu_stream *CUstream;
typedef struct weft__cu_event *CUevent;
typedef struct weft__cu_module *CUmodule;
typedef struct weft__cu_function *CUfunction;
typedef struct weft__cu_graph *CUgraph;
typedef struct weft__cu_graph_exec *CUgraphExec;
typedef struct weft__nvrtc_program *nvrtcProgram;

/* As the driver numbers them. */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_READY = 600,
    CU_STREAM_NON_BLOCKING = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEMORYTYPE_UNIFIED = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89
};

/* One end of a copy of rows, and the copy. */
typedef struct CUDA_MEMCPY3D_end {
    size_t x, y, z, lod;
    int kind;
    const void *host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch, height;
} CUDA_MEMCPY3D_end;
typedef struct CUDA_MEMCPY3D {
    CUDA_MEMCPY3D_end src, dst;
    size_t width, height, depth;
} CUDA_MEMCPY3D;

/* field, symbol, parameters; each returns a CUresult. */
#define WEFT__CU_FUNCTIONS(X)                                                                      \
    X(Init, "cuInit", (unsigned))                                                                  \
    X(DriverGetVersion, "cuDriverGetVersion", (int *))                                             \
    X(GetErrorString, "cuGetErrorString", (CUresult, const char **))                               \
    X(DeviceGetCount, "cuDeviceGetCount", (int *))                                                 \
    X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                 \
    X(DeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                   \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                          \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                                 \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                 \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                         \
    X(DevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2", (CUdevice))                             \
    X(CtxCreate, "cuCtxCreate_v2", (CUcontext *, unsigned, CUdevice))                              \
    X(CtxDestroy, "cuCtxDestroy_v2", (CUcontext))                                                  \
    X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                             \
    X(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                               \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                          \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                          \
    X(CtxSynchronize, "cuCtxSynchronize", (void))                                                  \
    X(CtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", (int *, int *))                    \
    X(MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                         \
    X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                          \
    X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                      \
    X(MemAllocAsync, "cuMemAllocAsync", (CUdeviceptr *, size_t, CUstream))                         \
    X(MemFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream))                                     \
    X(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                 \
    X(MemFreeHost, "cuMemFreeHost", (void *))                                                      \
    X(MemAllocManaged, "cuMemAllocManaged", (CUdeviceptr *, size_t, unsigned))                     \
    X(MemcpyAsync, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                  \
    X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, CUstream))      \
    X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, CUstream))            \
    X(Memcpy3DAsync, "cuMemcpy3DAsync_v2", (const CUDA_MEMCPY3D *, CUstream))                      \
    X(StreamCreateWithPriority, "cuStreamCreateWithPriority", (CUstream *, unsigned, int))         \
    X(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                                             \
    X(StreamSynchronize, "cuStreamSynchronize", (CUstream))                                        \
    X(StreamWaitEvent, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                         \
    X(EventCreate, "cuEventCreate", (CUevent *, unsigned))                                         \
    X(EventDestroy, "cuEventDestroy_v2", (CUevent))                                                \
    X(EventRecord, "cuEventRecord", (CUevent, CUstream))                                           \
    X(EventQuery, "cuEventQuery", (CUevent))                                                       \
    X(EventSynchronize, "cuEventSynchronize", (CUevent))                                           \
    X(EventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))                         \
    X(ModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                              \
    X(ModuleUnload, "cuModuleUnload", (CUmodule))                                                  \
    X(ModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))            \
    X(LaunchKernel, "cuLaunchKernel",                                                              \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))

/* What drivers before CUDA 11.4 lack: NULL there, all of them. */
#define WEFT__CU_NEWER_FUNCTIONS(X)                                                                \
    X(StreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, int))                              \
    X(StreamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph *))                               \
    X(GraphInstantiate, "cuGraphInstantiateWithFlags",                                             \
      (CUgraphExec *, CUgraph, unsigned long long))                                                \
    X(GraphDestroy, "cuGraphDestroy", (CUgraph))                                                   \
    X(GraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))                                       \
    X(GraphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))

/* The same of NVRTC; each returns an nvrtcResult. */
#define WEFT__NVRTC_FUNCTIONS(X)                                                                   \
    X(Version, "nvrtcVersion", (int *, int *))                                                     \
    X(GetNumSupportedArchs, "nvrtcGetNumSupportedArchs", (int *))                                  \
    X(GetSupportedArchs, "nvrtcGetSupportedArchs", (int *))                                        \
    X(CreateProgram, "nvrtcCreateProgram",                                                         \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
    X(CompileProgram, "nvrtcCompileProgram", (nvrtcProgram, int, const char *const *))             \
    X(GetCUBINSize, "nvrtcGetCUBINSize", (nvrtcProgram, size_t *))                                 \
    X(GetCUBIN, "nvrtcGetCUBIN", (nvrtcProgram, char *))                                           \
    X(GetPTXSize, "nvrtcGetPTXSize", (nvrtcProgram, size_t *))                                     \
    X(GetPTX, "nvrtcGetPTX", (nvrtcProgram, char *))                                               \
    X(GetProgramLogSize, "nvrtcGetProgramLogSize", (nvrtcProgram, size_t *))                       \
    X(GetProgramLog, "nvrtcGetProgramLog", (nvrtcProgram, char *))                                 \
    X(DestroyProgram, "nvrtcDestroyProgram", (nvrtcProgram *))

#define WEFT__CU_FIELD(name, symbol, parameters) CUresult(*name) parameters;
typedef struct weft__cu_functions {
    WEFT__CU_FUNCTIONS(WEFT__CU_FIELD)
    WEFT__CU_NEWER_FUNCTIONS(WEFT__CU_FIELD)
} weft__cu_functions;
typedef struct weft__nvrtc_functions {
    WEFT__NVRTC_FUNCTIONS(WEFT__CU_FIELD)
} weft__nvrtc_functions;
#undef WEFT__CU_FIELD

extern weft__cu_functions weft__cu;
extern weft__nvrtc_functions weft__nvrtc;

/* Opens the driver: the file that WEFT_CUDA names, else libcuda.so.1. False, with a sentence, if
 * there is none that can be used. Called once. */
bool weft__cuda_open(const char **why);
/* 13000 for CUDA 13.0. */
int weft__cuda_driver_version(void);

/* Opens NVRTC: the file that WEFT_NVRTC names, else the newest that is found. Later calls give the
 * same answer at once. WEFT_ERROR_UNSUPPORTED and a message if there is none. */
weft_status weft__nvrtc_open(void);
/* 13000 for 13.0; 0 if there is none. Opens it if need be, and leaves the record as it was. */
int weft__nvrtc_version(void);

/* "an illegal memory access was encountered" */
const char *weft__cuda_text_of(CUresult code);
/* Fails with what the call said, or, if that is NULL, with how work ended. */
weft_status weft__cuda_fail(const char *call, CUresult code);
/* Whether the context, and all that was in it, is lost. */
bool weft__cuda_is_fatal(CUresult code);

#endif
