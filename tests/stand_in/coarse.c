/* The system's libOpenCL, whose devices say that the host may use shared memory only while it is
 * mapped, as NVIDIA's do. All other functions are found in the library that this one is linked
 * with. */
#include "backend/opencl/library.h"
#include <dlfcn.h>
#include <string.h>

typedef cl_int (*device_info)(cl_device_id, cl_uint, size_t, void *, size_t *);

static device_info own(void)
{
    void *symbol = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), "clGetDeviceInfo");
    device_info function;
    memcpy(&function, &symbol, sizeof symbol);
    return function;
}

cl_int clGetDeviceInfo(cl_device_id id, cl_uint what, size_t room, void *to, size_t *size);
cl_int clGetDeviceInfo(cl_device_id id, cl_uint what, size_t room, void *to, size_t *size)
{
    const cl_bitfield coarse = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    const cl_int code = own()(id, what, room, to, size);
    if (code == CL_SUCCESS && what == CL_DEVICE_SVM_CAPABILITIES && to)
        memcpy(to, &coarse, sizeof coarse);
    return code;
}
