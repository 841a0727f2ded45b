/* C functions as kernels: called for the parts of an index space by the threads of the CPU. */
#include "core/allocate.h"
#include "core/device.h"
#include "lang/error.h"
#include "lang/launch.h"
#include "trace/trace.h"
#include <stdio.h>
#include <string.h>

/* What the parts of a launch share, in one block that can be copied; the arguments follow it. */
typedef struct function_block {
    weft_kernel_function *function;
    const char *name;
    weft_shape space;
    int32_t count;
} function_block;

static weft_kernel_argument *arguments_of(function_block *block)
{
    return (weft_kernel_argument *)(void *)(block + 1);
}

static weft_status run_part(const void *argument, int64_t begin, int64_t end)
{
    const function_block *block = argument;
    const weft_kernel_part part = {begin, end, block->space, block->count,
                                   (const weft_kernel_argument *)(const void *)(block + 1)};
    weft_status status = block->function(&part);
    if (status == WEFT_OK)
        return WEFT_OK;
    if ((unsigned)status > WEFT_ERROR_SYSTEM)
        status = WEFT_ERROR_CALLBACK;
    bool told = weft_error_code() != WEFT_OK;
    return weft__fail(status, NULL, "function '%s' failed with %s%s%s",
                      QUOTE(block->name, strlen(block->name)), weft_status_name(status),
                      told ? ": " : "", told ? weft_error_last()->message : "");
}

weft_status weft__launch_place(const weft_kernel *kernel, int count, const weft_operand *arguments,
                               weft_stream **stream)
{
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    weft__lang_name names[WEFT__LANG_OPERANDS_MAX];
    char texts[WEFT__LANG_OPERANDS_MAX][24];
    const char *shown[WEFT__LANG_OPERANDS_MAX];
    int found = 0;
    weft__lang_name list = weft__launch_inside(
        (weft__lang_name){kernel->parameters, strlen(kernel->parameters)}, '(', ')');
    if (count)
        TRY(weft__lang_split(list.text, list.length, count, names));
    for (int i = 0; i < count; i++) {
        if (arguments[i].tag == WEFT_OPERAND_NUMBER)
            continue;
        TRY(weft__array_check(arguments[i].value.input, "argument"));
        if (arguments[i].tag == WEFT_OPERAND_ARRAY && arguments[i].value.input->read_only)
            return FAIL_AT(WEFT_ERROR_ARGUMENT, "argument",
                           "argument %d is over memory that may not be written; pass it as a const "
                           "weft_array *, or a copy of it",
                           i + 1);
        names[i] = weft__launch_inside(names[i], ' ', ' ');
        snprintf(texts[found], sizeof texts[found], "%.*s", (int)names[i].length, names[i].text);
        shown[found] = texts[found];
        arrays[found++] = arguments[i].value.array;
    }
    return weft__place(arrays, shown, found, stream);
}

/* The stream is one of the CPU. */
static weft_status place(const weft_kernel *kernel, int count, const weft_operand *arguments,
                         weft_stream **stream)
{
    TRY(weft__launch_place(kernel, count, arguments, stream));
    if ((*stream)->device.kind == WEFT_DEVICE_CPU)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_DEVICE,
                "'%s' is a C function and runs on the CPU, but its arguments are on %s; bring them "
                "with weft_to_device(..., WEFT_CPU, NULL)",
                QUOTE(kernel->name, strlen(kernel->name)), weft_device_id((*stream)->device));
}

static weft_kernel_argument argument_of(const weft_operand *operand)
{
    weft_kernel_argument argument;
    const weft_array *array = operand->value.input;
    memset(&argument, 0, sizeof argument);
    argument.tag = operand->tag;
    argument.dtype = operand->dtype;
    if (operand->tag == WEFT_OPERAND_NUMBER) {
        argument.number = *operand;
        return argument;
    }
    argument.dtype = array->dtype;
    argument.data = array->data;
    argument.shape = array->shape;
    memcpy(argument.stride, array->stride, sizeof argument.stride);
    return argument;
}

uint32_t weft__launch_uses(int count, const weft_operand *arguments, weft__use *uses,
                           uint64_t *bytes)
{
    uint32_t filled = 0;
    *bytes = 0;
    for (int i = 0; i < count; i++) {
        const weft_array *array = arguments[i].value.input;
        if (arguments[i].tag == WEFT_OPERAND_NUMBER)
            continue;
        weft__use use = {array->buffer, atomic_load(&array->buffer->generation), false, false};
        uses[filled++] = use;
        use.write = true;
        if (arguments[i].tag == WEFT_OPERAND_ARRAY)
            uses[filled++] = use;
        *bytes += weft_array_bytes(array);
    }
    return filled;
}

static weft_status submit(weft_stream *stream, const function_block *block, size_t bytes,
                          int64_t points, const weft_operand *arguments)
{
    weft__use uses[2 * WEFT__LANG_OPERANDS_MAX];
    weft__work work = {.kind = WEFT__WORK_PARTS,
                       .source = weft__trace_source,
                       .operation = weft__operation(),
                       .uses = uses,
                       .of.parts = {run_part, block, bytes, points, 0}};
    work.uses_count = weft__launch_uses(block->count, arguments, uses, &work.of.parts.cost);
    TRY(weft__submit(stream, &work));
    COUNT(weft__device_get(stream->device)->statistics.launches, 1);
    return WEFT_OK;
}

weft_status weft__launch_function(const weft_kernel *kernel, const weft_shape *space, int count,
                                  const weft_operand *arguments)
{
    enum { INLINE = 12 };
    struct {
        function_block block;
        weft_kernel_argument arguments[INLINE];
    } few;
    function_block *block = &few.block;
    weft_stream *stream;
    int64_t points;
    size_t bytes = sizeof *block + (size_t)count * sizeof(weft_kernel_argument);
    if (!kernel->function)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "kernel", "kernel '%s' has no function",
                       QUOTE(kernel->name, strlen(kernel->name)));
    TRY(weft__shape_check(space, &points));
    TRY(place(kernel, count, arguments, &stream));
    if (points == 0)
        return WEFT_OK;
    if (count > INLINE && !(block = weft__allocate(bytes)))
        return WEFT_ERROR_MEMORY;
    *block = (function_block){kernel->function, kernel->name, *space, count};
    for (int i = 0; i < count; i++)
        arguments_of(block)[i] = argument_of(&arguments[i]);
    weft_status status = submit(stream, block, bytes, points, arguments);
    if (block != &few.block)
        weft__free(block);
    return status;
}
