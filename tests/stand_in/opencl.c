/* A libOpenCL with a device that computes nothing, for failures that no real one has to offer.
 * STAND_IN says which: "no platform", "no device", "no compiler", "lost" (while its fourth launch
 * runs), "fourth fails" (that launch alone), "fourth fails early" (and markers are not done before
 * somebody waits for them), "lost again" and "again fails" (the same with the first
 * launch that has no event; of the latter the next event tells), "no f64", "no times", "plain
 * compiler" (only for texts in which nothing is special), "little memory" (1,000,010 bytes at
 * once); "gpu" and "another gpu" are a GPU in slot 1 of bus 7 or 9. Commands are done when they are
 * queued. */
#include "backend/opencl/library.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct weft__cl_mem {
    char *data;
    int references;
};

/* How a command went. */
struct weft__cl_event {
    cl_int state;
    int references;
    cl_ulong end; /* when; 0 if there is no time for it */
};

/* Parts of memory objects, and that of the only argument of a kernel: it does not hold it. */
static struct weft__cl_mem parts[8];
static cl_mem argument;

static int is_part(const struct weft__cl_mem *object)
{
    return object >= parts && object < parts + sizeof parts / sizeof *parts;
}

static int something; /* what handles point to that nobody looks into */
static int launches;
static int is_lost;
static cl_int untold;   /* how a launch without an event went */
static cl_ulong moment; /* in nanoseconds: each command takes 1000 */

static int wants(const char *what)
{
    const char *given = getenv("STAND_IN");
    return given && strcmp(given, what) == 0;
}

static void *handle(void) { return &something; }

static void *made(void *object, cl_int *code)
{
    if (code)
        *code = is_lost ? -5 : CL_SUCCESS;
    return is_lost ? NULL : object;
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *size)
{
    if (size)
        *size = bytes;
    if (to && room >= bytes)
        memcpy(to, value, bytes);
    return to && room < bytes ? -30 : CL_SUCCESS;
}

static cl_int queued(cl_event *event)
{
    if (is_lost)
        return -5;
    if (event) {
        *event = calloc(1, sizeof **event);
        if (!*event)
            return -6;
        (*event)->references = 1;
        (*event)->state = untold;
        untold = CL_SUCCESS;
        (*event)->end = __atomic_add_fetch(&moment, 1000, __ATOMIC_SEQ_CST);
    }
    return CL_SUCCESS;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count);
cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    char *colon = getenv("OCL_ICD_FILENAMES") ? strchr(getenv("OCL_ICD_FILENAMES"), ':') : NULL;
    if (colon)
        *colon = 0; /* as the loader of Khronos does */
    if (wants("no platform"))
        return -1001;
    if (count)
        *count = 1;
    if (to && room)
        *to = handle();
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_uint what, size_t room, void *to, size_t *size);
cl_int clGetPlatformInfo(cl_platform_id p, cl_uint what, size_t room, void *to, size_t *size)
{
    (void)p, (void)what;
    return answer("stand-in", 9, room, to, size);
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_bitfield type, cl_uint room, cl_device_id *to,
                      cl_uint *count);
cl_int clGetDeviceIDs(cl_platform_id p, cl_bitfield type, cl_uint room, cl_device_id *to,
                      cl_uint *count)
{
    (void)p, (void)type;
    if (wants("no device"))
        return -1;
    if (count)
        *count = 1;
    if (to && room)
        *to = handle();
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_uint what, size_t room, void *to, size_t *size);
cl_int clGetDeviceInfo(cl_device_id d, cl_uint what, size_t room, void *to, size_t *size)
{
    const cl_ulong all = 0xff, none = 0, group = 1024;
    const cl_ulong bytes = wants("little memory") ? 1000010 : 1 << 30;
    const cl_ulong gpu = 1 << 2;
    const cl_uint bus[] = {0, wants("gpu") ? 7 : 9, 1, 0};
    const bool is_gpu = wants("gpu") || wants("another gpu");
    (void)d;
    if (what == CL_DEVICE_TYPE && is_gpu)
        return answer(&gpu, sizeof gpu, room, to, size);
    if (what == CL_DEVICE_PCI_BUS_INFO)
        return is_gpu ? answer(bus, sizeof bus, room, to, size) : -30;
    if (what == CL_DEVICE_NAME || what == CL_DRIVER_VERSION || what == CL_DEVICE_VERSION)
        return answer("stand-in", 9, room, to, size);
    if (what == CL_DEVICE_DOUBLE_FP_CONFIG)
        return answer(wants("no f64") ? &none : &all, sizeof all, room, to, size);
    if (what == CL_DEVICE_SVM_CAPABILITIES)
        return answer(&none, sizeof none, room, to, size);
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        return answer(&group, sizeof group, room, to, size);
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE || what == CL_DEVICE_GLOBAL_MEM_SIZE)
        return answer(&bytes, sizeof bytes, room, to, size);
    return answer(&all, sizeof all, room, to, size);
}

#define CREATE(result, name, parameters)                                                           \
    result name parameters;                                                                        \
    result name parameters

#define RELEASE(name, type)                                                                        \
    cl_int name(type x);                                                                           \
    cl_int name(type x)                                                                            \
    {                                                                                              \
        (void)x;                                                                                   \
        return CL_SUCCESS;                                                                         \
    }

CREATE(cl_context, clCreateContext,
       (const cl_properties *p, cl_uint n, const cl_device_id *d,
        void (*f)(const char *, const void *, size_t, void *), void *x, cl_int *code))
{
    (void)p, (void)n, (void)d, (void)f, (void)x;
    return made(handle(), code);
}
CREATE(cl_command_queue, clCreateCommandQueue,
       (cl_context c, cl_device_id d, cl_bitfield p, cl_int *code))
{
    (void)c, (void)d, (void)p;
    return made(handle(), code);
}
CREATE(cl_int, clGetCommandQueueInfo,
       (cl_command_queue q, cl_uint what, size_t room, void *to, size_t *size))
{
    void *device = handle();
    (void)q, (void)what;
    return answer(&device, sizeof device, room, to, size);
}
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clFlush, cl_command_queue)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)

CREATE(cl_mem, clCreateBuffer,
       (cl_context c, cl_bitfield flags, size_t bytes, void *from, cl_int *code))
{
    cl_mem object = is_lost ? NULL : calloc(1, sizeof *object);
    (void)c;
    if (object && (object->data = calloc(1, bytes)) && flags & CL_MEM_COPY_HOST_PTR)
        memcpy(object->data, from, bytes);
    return made(object, code);
}
CREATE(cl_mem, clCreateSubBuffer,
       (cl_mem of, cl_bitfield flags, cl_uint kind, const void *region, cl_int *code))
{
    static int next;
    cl_mem part = &parts[next++ % (int)(sizeof parts / sizeof *parts)];
    (void)flags, (void)kind, (void)region;
    *part = (struct weft__cl_mem){of->data, 1};
    return made(part, code);
}
CREATE(cl_int, clGetMemObjectInfo,
       (cl_mem object, cl_uint what, size_t room, void *to, size_t *size))
{
    (void)object, (void)what, (void)room, (void)to, (void)size;
    return -38;
}
CREATE(cl_int, clRetainMemObject, (cl_mem object))
{
    (void)object;
    return -38;
}
CREATE(cl_int, clReleaseMemObject, (cl_mem object))
{
    if (is_part(object)) {
        object->references--;
        return CL_SUCCESS;
    }
    free(object->data);
    free(object);
    return CL_SUCCESS;
}

CREATE(cl_program, clCreateProgramWithSource,
       (cl_context c, cl_uint n, const char **text, const size_t *bytes, cl_int *code))
{
    (void)c, (void)n, (void)text, (void)bytes;
    return made(handle(), code);
}
CREATE(cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *bytes,
        const unsigned char **data, cl_int *taken, cl_int *code))
{
    (void)c, (void)n, (void)d, (void)bytes, (void)data, (void)taken;
    *code = -42;
    return NULL;
}
CREATE(cl_int, clGetProgramInfo, (cl_program p, cl_uint what, size_t room, void *to, size_t *size))
{
    const size_t none = 0;
    (void)p, (void)what;
    return answer(&none, sizeof none, room, to, size);
}
CREATE(cl_int, clBuildProgram,
       (cl_program p, cl_uint n, const cl_device_id *d, const char *options,
        void (*f)(cl_program, void *), void *x))
{
    const int plain = strstr(options, "-DWEFT_PLAIN") != NULL;
    (void)p, (void)n, (void)d, (void)f, (void)x;
    return wants("no compiler") || (wants("plain compiler") && !plain) ? -11 : CL_SUCCESS;
}
CREATE(cl_int, clGetProgramBuildInfo,
       (cl_program p, cl_device_id d, cl_uint what, size_t room, void *to, size_t *size))
{
    static const char log[] = "line 1: the compiler is out of letters";
    (void)p, (void)d, (void)what;
    return answer(log, sizeof log, room, to, size);
}
CREATE(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *code))
{
    (void)p, (void)name;
    return made(handle(), code);
}
CREATE(cl_int, clGetKernelInfo, (cl_kernel k, cl_uint what, size_t room, void *to, size_t *size))
{
    const cl_uint one = 1;
    (void)k, (void)what;
    return answer(&one, sizeof one, room, to, size);
}
CREATE(cl_int, clGetKernelWorkGroupInfo,
       (cl_kernel k, cl_device_id d, cl_uint what, size_t room, void *to, size_t *size))
{
    (void)k, (void)d, (void)what, (void)room, (void)to, (void)size;
    return -30;
}
CREATE(cl_int, clSetKernelArg, (cl_kernel k, cl_uint at, size_t bytes, const void *value))
{
    (void)k, (void)at;
    argument = NULL;
    if (bytes == sizeof argument && value)
        memcpy(&argument, value, sizeof argument);
    return CL_SUCCESS;
}

/* A launch that has no event. */
static void run_untold(void)
{
    static int done;
    if (done++)
        return;
    is_lost |= wants("lost again");
    untold = wants("again fails") ? -5 : CL_SUCCESS;
}
CREATE(cl_int, clEnqueueNDRangeKernel,
       (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *offset, const size_t *all,
        const size_t *group, cl_uint waits, const cl_event *after, cl_event *event))
{
    (void)q, (void)k, (void)n, (void)offset, (void)all, (void)group, (void)waits, (void)after;
    if (is_part(argument) && argument->references < 1)
        return -52;
    const cl_int code = queued(event);
    const int goes_on = wants("fourth fails") || wants("fourth fails early");
    if (code == CL_SUCCESS && event && (wants("lost") || goes_on) && ++launches == 4) {
        (*event)->state = -5;
        is_lost = !goes_on;
    }
    if (code == CL_SUCCESS && !event)
        run_untold();
    return code;
}
CREATE(cl_int, clEnqueueReadBuffer,
       (cl_command_queue q, cl_mem from, cl_bool waits, size_t offset, size_t bytes, void *to,
        cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)waits, (void)n, (void)after;
    const cl_int code = queued(event);
    if (code == CL_SUCCESS)
        memcpy(to, from->data + offset, bytes);
    return code;
}
CREATE(cl_int, clEnqueueWriteBuffer,
       (cl_command_queue q, cl_mem to, cl_bool waits, size_t offset, size_t bytes, const void *from,
        cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)waits, (void)n, (void)after;
    const cl_int code = queued(event);
    if (code == CL_SUCCESS)
        memcpy(to->data + offset, from, bytes);
    return code;
}
CREATE(cl_int, clEnqueueCopyBuffer,
       (cl_command_queue q, cl_mem from, cl_mem to, size_t first, size_t second, size_t bytes,
        cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)n, (void)after;
    const cl_int code = queued(event);
    if (code == CL_SUCCESS)
        memmove(to->data + second, from->data + first, bytes);
    return code;
}

/* Rows of one end to the other, whose first bytes these are. */
static cl_int copy_rows(char *to, const char *from, const size_t *region, const size_t *pitches,
                        cl_event *event)
{
    const cl_int code = queued(event);
    for (size_t k = 0; code == CL_SUCCESS && k < region[1] * region[2]; k++) {
        const size_t row = k % region[1], slice = k / region[1];
        memcpy(to + row * pitches[0] + slice * pitches[1],
               from + row * pitches[2] + slice * pitches[3], region[0]);
    }
    return code;
}
static size_t first_of(const size_t *origin, size_t row, size_t slice)
{
    return origin[0] + origin[1] * row + origin[2] * slice;
}
CREATE(cl_int, clEnqueueReadBufferRect,
       (cl_command_queue q, cl_mem from, cl_bool waits, const size_t *origin, const size_t *host,
        const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
        void *to, cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)waits, (void)n, (void)after;
    return copy_rows((char *)to + first_of(host, host_row, host_slice),
                     (const char *)from->data + first_of(origin, row, slice), region,
                     (size_t[]){host_row, host_slice, row, slice}, event);
}
CREATE(cl_int, clEnqueueWriteBufferRect,
       (cl_command_queue q, cl_mem to, cl_bool waits, const size_t *origin, const size_t *host,
        const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
        const void *from, cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)waits, (void)n, (void)after;
    return copy_rows((char *)to->data + first_of(origin, row, slice),
                     (const char *)from + first_of(host, host_row, host_slice), region,
                     (size_t[]){row, slice, host_row, host_slice}, event);
}
CREATE(cl_int, clEnqueueCopyBufferRect,
       (cl_command_queue q, cl_mem from, cl_mem to, const size_t *first, const size_t *second,
        const size_t *region, size_t row, size_t slice, size_t to_row, size_t to_slice, cl_uint n,
        const cl_event *after, cl_event *event))
{
    (void)q, (void)n, (void)after;
    return copy_rows((char *)to->data + first_of(second, to_row, to_slice),
                     (const char *)from->data + first_of(first, row, slice), region,
                     (size_t[]){to_row, to_slice, row, slice}, event);
}
/* Has no time, as NVIDIA's; a marker has one unless asked not to. */
static cl_int queued_event(cl_event *event, int timed)
{
    const cl_int code = queued(event);
    if (code == CL_SUCCESS && event && !timed)
        (*event)->end = 0;
    return code;
}
CREATE(cl_int, clEnqueueBarrierWithWaitList,
       (cl_command_queue q, cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)n, (void)after;
    return queued_event(event, 0);
}
CREATE(cl_int, clEnqueueMarkerWithWaitList,
       (cl_command_queue q, cl_uint n, const cl_event *after, cl_event *event))
{
    (void)q, (void)n, (void)after;
    const cl_int code = queued_event(event, !wants("no times"));
    if (code == CL_SUCCESS && wants("fourth fails early"))
        (*event)->state = 1;
    return code;
}

CREATE(cl_event, clCreateUserEvent, (cl_context c, cl_int *code))
{
    cl_event event = NULL;
    (void)c;
    *code = queued(&event);
    return event;
}
CREATE(cl_int, clSetUserEventStatus, (cl_event event, cl_int state))
{
    event->state = state;
    return CL_SUCCESS;
}
CREATE(cl_int, clWaitForEvents, (cl_uint n, const cl_event *events))
{
    if (n && events[0]->state > 0)
        events[0]->state = CL_COMPLETE;
    return n && events[0]->state < 0 ? -14 : CL_SUCCESS;
}
CREATE(cl_int, clGetEventInfo, (cl_event event, cl_uint what, size_t room, void *to, size_t *size))
{
    (void)what;
    return answer(&event->state, sizeof event->state, room, to, size);
}
CREATE(cl_int, clGetEventProfilingInfo,
       (cl_event event, cl_uint what, size_t room, void *to, size_t *size))
{
    (void)what;
    return answer(&event->end, sizeof event->end, room, to, size);
}
CREATE(cl_int, clRetainEvent, (cl_event event))
{
    __atomic_add_fetch(&event->references, 1, __ATOMIC_SEQ_CST);
    return CL_SUCCESS;
}
CREATE(cl_int, clReleaseEvent, (cl_event event))
{
    if (__atomic_sub_fetch(&event->references, 1, __ATOMIC_SEQ_CST) == 0)
        free(event);
    return CL_SUCCESS;
}
