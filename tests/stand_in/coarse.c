/* The system's libOpenCL, whose devices do what NVIDIA's do: the host may use shared memory only
 * while it is mapped, and a copy from the host's memory takes that when it is queued, unless it
 * waits for a user event. With STAND_IN "first as it is" the first device does not. All other
 * functions are found in the library that this one is linked with. */
#include "backend/opencl/library.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CL_EVENT_COMMAND_TYPE = 0x11D1, CL_COMMAND_USER = 0x1204 };

typedef cl_int (*device_ids)(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *);
typedef cl_int (*device_info)(cl_device_id, cl_uint, size_t, void *, size_t *);
typedef cl_int (*write_buffer)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,
                               cl_uint, const cl_event *, cl_event *);

/* A function of the system's, which C does not convert from an address. */
static void find(const char *name, void *function)
{
    void *symbol = dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name);
    memcpy(function, &symbol, sizeof symbol);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield kinds, cl_uint room, cl_device_id *ids,
                      cl_uint *count);
cl_int clGetDeviceInfo(cl_device_id id, cl_uint what, size_t room, void *to, size_t *size);
cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_uint what, size_t room, void *to,
                             size_t *size);

static cl_device_id first; /* that the system has */

/* Devices are listed by one thread, before anything else is done with them. */
cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield kinds, cl_uint room, cl_device_id *ids,
                      cl_uint *count)
{
    device_ids own;
    find("clGetDeviceIDs", &own);
    const cl_int code = own(platform, kinds, room, ids, count);
    if (code == CL_SUCCESS && ids && room && !first)
        first = ids[0];
    return code;
}

static bool is_as_it_is(cl_device_id id)
{
    const char *given = getenv("STAND_IN");
    return given && strcmp(given, "first as it is") == 0 && id == first;
}

cl_int clGetDeviceInfo(cl_device_id id, cl_uint what, size_t room, void *to, size_t *size)
{
    const cl_bitfield coarse = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    device_info own;
    find("clGetDeviceInfo", &own);
    const cl_int code = own(id, what, room, to, size);
    if (code == CL_SUCCESS && what == CL_DEVICE_SVM_CAPABILITIES && to && !is_as_it_is(id))
        memcpy(to, &coarse, sizeof coarse);
    return code;
}

cl_int clGetEventInfo(cl_event event, cl_uint what, size_t room, void *to, size_t *size);
cl_int clSetEventCallback(cl_event event, cl_int state, void (*call)(cl_event, cl_int, void *),
                          void *argument);

static bool waits_for_user(cl_uint count, const cl_event *events)
{
    bool found = false;
    for (cl_uint i = 0; i < count; i++) {
        cl_uint kind = 0;
        clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof kind, &kind, NULL);
        found |= kind == CL_COMMAND_USER;
    }
    return found;
}

static bool is_of_first(cl_command_queue queue)
{
    cl_device_id id = NULL;
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    return is_as_it_is(id);
}

static void drop(cl_event event, cl_int state, void *taken)
{
    (void)event, (void)state;
    free(taken);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool waits, size_t offset,
                            size_t bytes, const void *from, cl_uint count, const cl_event *events,
                            cl_event *event);
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool waits, size_t offset,
                            size_t bytes, const void *from, cl_uint count, const cl_event *events,
                            cl_event *event)
{
    write_buffer own;
    find("clEnqueueWriteBuffer", &own);
    const bool early = event && !is_of_first(queue) && !waits_for_user(count, events);
    void *taken = early ? malloc(bytes) : NULL;
    if (taken)
        memcpy(taken, from, bytes);
    const cl_int code =
        own(queue, to, waits, offset, bytes, taken ? taken : from, count, events, event);
    if (taken && (code != CL_SUCCESS || clSetEventCallback(*event, CL_COMPLETE, drop, taken)))
        free(taken);
    return code;
}
