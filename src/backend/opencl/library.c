/* Opening libOpenCL, and the names of its errors. */
#include "backend/opencl/library.h"
#include "core/status.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

weft__cl_functions weft__cl;

/* A function pointer from a data pointer, which C does not convert. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool weft__cl_open(const char **why)
{
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"};
    const char *given = getenv("WEFT_OPENCL");
    void *library = given && given[0] ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    bool found = true;
    if (!library && given && given[0]) {
        *why = "OpenCL: WEFT_OPENCL is no library that can be opened";
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        *why = "OpenCL: the system has no libOpenCL.so.1 (the package ocl-icd-libopencl1)";
        return false;
    }
#define FIND(result, name, parameters) found &= find(library, "cl" #name, &weft__cl.name);
    WEFT__CL_FUNCTIONS(FIND)
#undef FIND
#define FIND(result, name, parameters) (void)find(library, "cl" #name, &weft__cl.name);
    WEFT__CL_OPTIONAL(FIND)
#undef FIND
    if (!found)
        *why = "OpenCL: the libOpenCL that was found does not have all of OpenCL 1.2";
    return found;
}

/* A list in the environment, and what was in it. */
typedef struct list {
    char *place; /* NULL if there is none, or if it is longer than fits */
    size_t bytes;
    char kept[2048];
} list;

static void keep(const char *name, list *l)
{
    l->place = getenv(name);
    l->bytes = l->place ? strlen(l->place) + 1 : 0;
    if (l->bytes > sizeof l->kept)
        l->place = NULL;
    if (l->place)
        memcpy(l->kept, l->place, l->bytes);
}

static void put_back(const char *name, const list *l)
{
    if (l->place && getenv(name) == l->place)
        memcpy(l->place, l->kept, l->bytes);
}

/* The loader of Khronos cuts these lists at their colons, in place: a process that was started
 * later would find the first driver only. */
cl_int weft__cl_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    static const char *const names[] = {"OCL_ICD_FILENAMES", "OPENCL_LAYERS"};
    list lists[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        keep(names[i], &lists[i]);
    const cl_int code = weft__cl.GetPlatformIDs(room, platforms, count);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_back(names[i], &lists[i]);
    return code;
}

static const char *name_of(cl_int code)
{
    static const char *const names[] = {
        "success",
        "device not found",
        "device not available",
        "compiler not available",
        "memory object allocation failure",
        "out of resources",
        "out of host memory",
        "profiling info not available",
        "memory copy overlap",
        "image format mismatch",
        "image format not supported",
        "build program failure",
        "map failure",
        "misaligned sub-buffer offset",
        "exec status error for events in wait list",
        "compile program failure",
        "linker not available",
        "link program failure",
        "device partition failed",
        "kernel argument info not available",
    };
    static const char *const invalid[] = {
        "invalid value",
        "invalid device type",
        "invalid platform",
        "invalid device",
        "invalid context",
        "invalid queue properties",
        "invalid command queue",
        "invalid host pointer",
        "invalid memory object",
        "invalid image format",
        "invalid image size",
        "invalid sampler",
        "invalid binary",
        "invalid build options",
        "invalid program",
        "invalid program executable",
        "invalid kernel name",
        "invalid kernel definition",
        "invalid kernel",
        "invalid argument index",
        "invalid argument value",
        "invalid argument size",
        "invalid kernel arguments",
        "invalid work dimension",
        "invalid work-group size",
        "invalid work-item size",
        "invalid global offset",
        "invalid event wait list",
        "invalid event",
        "invalid operation",
        "invalid GL object",
        "invalid buffer size",
        "invalid mip level",
        "invalid global work size",
    };
    const int known = sizeof names / sizeof *names, more = sizeof invalid / sizeof *invalid;
    if (code <= 0 && code > -known)
        return names[-code];
    if (code <= -30 && code > -30 - more)
        return invalid[-30 - code];
    return "an error of the driver's own";
}

weft_status weft__cl_fail(const char *call, cl_int code)
{
    const bool memory = code == -4 || code == -5 || code == -6;
    if (!call)
        return FAIL(memory ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE,
                    "the OpenCL device did not finish it: %s (%d)", name_of(code), (int)code);
    return FAIL(memory ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE, "OpenCL's cl%s says: %s (%d)", call,
                name_of(code), (int)code);
}
