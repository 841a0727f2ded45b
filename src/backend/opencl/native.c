/* Kernels that a user wrote in OpenCL C: their arguments, and how many work-items there are. */
#include "backend/opencl/opencl.h"
#include "core/allocate.h"
#include "core/status.h"

enum { DIMENSIONS = 3 };

/* Where a pointer begins inside of a memory object; as the standard has it. */
typedef struct region {
    size_t origin, size;
} region;

/* Objects that are made for a launch. A kernel does not hold its arguments, a launch in a queue
 * does: they are released once there is one. */
typedef struct parts {
    cl_mem *objects;
    uint32_t count;
} parts;

static weft_status set_number(cl_kernel kernel, cl_uint at, const weft__argument *argument)
{
    const size_t bytes = (size_t)argument->stride[WEFT__NUMBER_SIZE];
    if (weft__cl.SetKernelArg(kernel, at, bytes, argument->stride) == CL_SUCCESS)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_ARGUMENT,
                "argument %u is a C number of %zu bytes, and the parameter is something else",
                at + 1, bytes);
}

/* A memory object has no addresses: what begins inside of it is an object of its own. */
static weft_status set_part(cl_kernel kernel, cl_uint at, weft__opencl_place place, parts *made)
{
    const region part = {place.offset, place.bytes - place.offset};
    cl_int code = CL_SUCCESS;
    cl_mem object = weft__cl.CreateSubBuffer(place.object, CL_MEM_READ_WRITE,
                                             CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
    if (!object)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "argument %u begins %zu bytes into its memory, where this device has no "
                    "pointer begin; give a copy of it (weft_copy)",
                    at + 1, place.offset);
    made->objects[made->count++] = object;
    code = weft__cl.SetKernelArg(kernel, at, sizeof object, &object);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("SetKernelArg", code);
}

static weft_status set_array(const weft__opencl_command *c, cl_uint at,
                             const weft__argument *argument, parts *made)
{
    cl_kernel kernel = c->work->of.launch.module->built.kernel;
    weft__opencl_place place = weft__opencl_place_of(c->work, argument->data);
    if (!place.object && !place.shared)
        return FAIL(WEFT_ERROR_PLACEMENT, "argument %u is not in memory of the device", at + 1);
    if (place.object && place.offset)
        return set_part(kernel, at, place, made);
    if (place.object)
        place.shared = NULL; /* what it is made over is for kernels of our own */
    else
        place.shared += place.offset;
    return weft__opencl_set_pointer(kernel, at, place);
}

static weft_status set_all(const weft__opencl_command *c, parts *made)
{
    const weft__launch *launch = c->work->of.launch.launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    cl_kernel kernel = c->work->of.launch.module->built.kernel;
    cl_uint parameters = 0;
    weft__cl.GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, NULL);
    if (parameters != launch->arguments_count)
        return FAIL(WEFT_ERROR_ARGUMENT, "it has %u parameters in its text, and %u arguments",
                    parameters, (unsigned)launch->arguments_count);
    for (cl_uint i = 0; i < launch->arguments_count; i++)
        TRY(arguments[i].stride[WEFT__NUMBER_SIZE] && !arguments[i].data
                ? set_number(kernel, i, &arguments[i])
                : set_array(c, i, &arguments[i], made));
    return WEFT_OK;
}

/* What the text fixes with reqd_work_group_size; the standard leaves no other choice then. */
static bool fixed_group(const weft__opencl_command *c, size_t *group)
{
    cl_kernel kernel = c->work->of.launch.module->built.kernel;
    const size_t bytes = DIMENSIONS * sizeof *group;
    cl_device_id device = NULL;
    weft__cl.GetCommandQueueInfo(c->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    return weft__cl.GetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, bytes,
                                           group, NULL) == CL_SUCCESS &&
           group[0] != 0;
}

static weft_status start(const weft__opencl_command *c)
{
    const weft__launch *launch = c->work->of.launch.launch;
    size_t all[DIMENSIONS] = {1, 1, 1}, group[DIMENSIONS] = {0};
    for (int axis = 0; axis < launch->ndim; axis++)
        all[launch->ndim - 1 - axis] = (size_t)launch->size[axis];
    const bool fixed = fixed_group(c, group);
    for (int k = 0; fixed && k < DIMENSIONS; k++)
        if (all[k] % group[k])
            return FAIL(WEFT_ERROR_SHAPE,
                        "its groups have %zu work-items along dimension %d, which does not divide "
                        "the %zu of the index space",
                        group[k], k, all[k]);
    const cl_int code = weft__cl.EnqueueNDRangeKernel(
        c->queue, c->work->of.launch.module->built.kernel, DIMENSIONS, NULL, all,
        fixed ? group : NULL, c->waits->count, c->waits->events, c->event);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("EnqueueNDRangeKernel", code);
}

weft_status weft__opencl_start_native(const weft__opencl_command *c)
{
    enum { INLINE = 32 };
    const size_t arguments = c->work->of.launch.launch->arguments_count;
    cl_mem few[INLINE];
    parts made = {few, 0};
    if (arguments > INLINE && !(made.objects = weft__allocate(arguments * sizeof *made.objects)))
        return WEFT_ERROR_MEMORY;
    weft_status status = set_all(c, &made);
    if (status == WEFT_OK)
        status = start(c);
    for (uint32_t i = 0; i < made.count; i++)
        weft__cl.ReleaseMemObject(made.objects[i]);
    if (made.objects != few)
        weft__free(made.objects);
    return status;
}
