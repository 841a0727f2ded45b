/* Texts in the language of a device as kernels: arrays become pointers, C numbers stay numbers. */
#include "core/allocate.h"
#include "core/device.h"
#include "kernel/native.h"
#include "lang/error.h"
#include "lang/launch.h"
#include "trace/trace.h"
#include <string.h>

enum { DIMENSIONS = 3 };

static weft_status check_kind(const weft_kernel *kernel, const weft_stream *stream)
{
    const bool cuda = kernel->language == WEFT_KERNEL_CUDA;
    const char *language = cuda ? "CUDA" : "OpenCL";
    if (stream->device.kind == (cuda ? WEFT_DEVICE_CUDA : WEFT_DEVICE_OPENCL))
        return WEFT_OK;
    return FAIL(WEFT_ERROR_DEVICE,
                "'%s' is %s C and runs on %s devices, but its arguments are on %s; bring "
                "them with weft_to_device, or launch it in WEFT_ON(device)",
                QUOTE(kernel->name, strlen(kernel->name)), language, language,
                weft_device_id(stream->device));
}

/* The bytes of a C number as the kernel gets them. */
static weft__argument number_of(const weft_operand *operand)
{
    weft__argument argument = {0};
    float halves[2] = {(float)operand->value.complex_[0], (float)operand->value.complex_[1]};
    const float single = (float)operand->value.f;
    const void *bytes = &operand->value;
    if (operand->dtype == WEFT_F32)
        bytes = &single;
    if (operand->dtype == WEFT_C64)
        bytes = halves;
    const size_t size = weft_dtype_size((weft_dtype)operand->dtype);
    memcpy(argument.stride, bytes, size); /* the machine is little-endian */
    argument.stride[WEFT__NUMBER_SIZE] = (int64_t)size;
    return argument;
}

static weft_status array_of(const weft_operand *operand, int position, weft__argument *argument)
{
    const weft_array *array = operand->value.input;
    for (int axis = 0; axis < array->shape.ndim; axis++)
        if (array->stride[axis] < 0 && array->shape.size[axis] > 1)
            return FAIL(WEFT_ERROR_ARGUMENT,
                        "argument %d lies backwards along axis %d, which a pointer to its first "
                        "element does not tell; give a copy of it (weft_copy)",
                        position + 1, axis);
    *argument = (weft__argument){.data = array->data};
    return WEFT_OK;
}

static weft_status fill(const weft_shape *space, int count, const weft_operand *arguments,
                        weft__launch *launch)
{
    launch->arguments_count = (uint16_t)count;
    launch->ndim = space->ndim;
    memcpy(launch->size, space->size, sizeof launch->size);
    for (int i = 0; i < count; i++) {
        weft__argument *argument = &weft__launch_arguments(launch)[i];
        if (arguments[i].tag == WEFT_OPERAND_NUMBER)
            *argument = number_of(&arguments[i]);
        else
            TRY(array_of(&arguments[i], i, argument));
    }
    return WEFT_OK;
}

static weft_status submit(const weft_kernel *kernel, weft_stream *stream,
                          const weft__launch *launch, const weft_operand *arguments)
{
    weft__use uses[2 * WEFT__LANG_OPERANDS_MAX];
    weft__module *module;
    uint64_t bytes;
    TRY(weft__native_enter(stream->device, kernel->name, kernel->body, &module));
    weft__work work = {.kind = WEFT__WORK_LAUNCH,
                       .source = weft__trace_source,
                       .operation = weft__operation(),
                       .uses = uses,
                       .of.launch = {module, launch, NULL, 0}};
    work.uses_count = weft__launch_uses(launch->arguments_count, arguments, uses, &bytes);
    work.of.launch.bytes = bytes;
    const weft_status status = weft__submit(stream, &work);
    weft__native_leave();
    if (status == WEFT_OK)
        COUNT(weft__device_get(stream->device)->statistics.launches, 1);
    return status;
}

static weft_status run(const weft_kernel *kernel, weft_stream *stream, const weft_shape *space,
                       int count, const weft_operand *arguments)
{
    enum { INLINE = 12 };
    struct {
        weft__launch launch;
        weft__argument arguments[INLINE];
    } few;
    weft__launch *launch = &few.launch;
    const size_t bytes = sizeof *launch + (size_t)count * sizeof(weft__argument);
    if (count > INLINE && !(launch = weft__allocate(bytes)))
        return WEFT_ERROR_MEMORY;
    memset(launch, 0, sizeof *launch);
    launch->bytes = (uint32_t)bytes;
    weft_status status = fill(space, count, arguments, launch);
    if (status == WEFT_OK)
        status = submit(kernel, stream, launch, arguments);
    if (launch != &few.launch)
        weft__free(launch);
    return status;
}

weft_status weft__launch_native(const weft_kernel *kernel, const weft_shape *space, int count,
                                const weft_operand *arguments)
{
    weft_stream *stream;
    int64_t points;
    if (!kernel->body)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "kernel", "kernel '%s' has no text",
                       QUOTE(kernel->name, strlen(kernel->name)));
    TRY(weft__shape_check(space, &points));
    if (space->ndim > DIMENSIONS)
        return FAIL(WEFT_ERROR_SHAPE,
                    "the index space has %d axes; kernels in a device's language have at most %d",
                    space->ndim, (int)DIMENSIONS);
    TRY(weft__launch_place(kernel, count, arguments, &stream));
    TRY(check_kind(kernel, stream));
    if (points == 0)
        return WEFT_OK;
    return weft__launch_failed(kernel, run(kernel, stream, space, count, arguments));
}
