/* Running kernels on arrays: hazards, canonical form, submission. */
#include "kernel/run.h"
#include "core/allocate.h"
#include "core/device.h"
#include "kernel/build.h"
#include "kernel/cache.h"
#include "kernel/canonical.h"
#include <string.h>

enum { LAUNCH_INLINE = 1024 };

/* Whether element k of one is element k of the other, for all k. */
static bool same_map(const weft_array *a, const weft_array *b)
{
    if (a->data != b->data || a->dtype != b->dtype || !weft_shape_equal(a->shape, b->shape))
        return false;
    for (int k = 0; k < a->shape.ndim; k++)
        if (a->shape.size[k] > 1 && a->stride[k] != b->stride[k])
            return false;
    return true;
}

/* By address, not by buffer: memory that was lent twice overlaps too. */
static bool may_overlap(const weft_array *a, const weft_array *b)
{
    int64_t a_low, a_high, b_low, b_high;
    weft__array_reach(a, &a_low, &a_high);
    weft__array_reach(b, &b_low, &b_high);
    return a->data + a_low < b->data + b_high && b->data + b_low < a->data + a_high;
}

/* Whether the output may be written before some input has been read. */
static bool has_hazard(const weft__kernel *kernel, weft_array *const *arrays, uint32_t output)
{
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        if (!kernel->operands[i].output && !same_map(arrays[i], arrays[output]) &&
            may_overlap(arrays[i], arrays[output]))
            return true;
    return false;
}

static weft_status submit(weft_stream *stream, weft__module *module, const weft__launch *launch,
                          const weft__use *uses)
{
    weft__work work = {.kind = WEFT__WORK_LAUNCH,
                       .operation = weft__operation(),
                       .uses = uses,
                       .uses_count = launch->arguments_count,
                       .of.launch = {module, launch}};
    TRY(weft__submit(stream, &work));
    COUNT(weft__device_get(stream->device)->statistics.launches, 1);
    return WEFT_OK;
}

static weft_status compile_and_submit(const weft__kernel *kernel, weft_stream *stream,
                                      weft__launch *launch, const weft__use *uses)
{
    weft__compiled compiled;
    TRY(weft__cache_enter(kernel, stream->device, &compiled));
    launch->grain = compiled.grain(kernel, launch);
    weft_status status = submit(stream, compiled.module, launch, uses);
    weft__cache_leave();
    return status;
}

static void fill_uses(const weft__kernel *kernel, weft_array *const *arrays, weft__use *uses)
{
    for (uint32_t i = 0; i < kernel->operands_count; i++) {
        weft__buffer *buffer = arrays[i]->buffer;
        uses[i] = (weft__use){buffer, atomic_load(&buffer->generation), kernel->operands[i].output,
                              weft_array_bytes(arrays[i]) == buffer->elements};
    }
}

static uint32_t cost_of(const weft__kernel *kernel)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        cost += (uint32_t)weft_dtype_size((weft_dtype)kernel->operands[i].dtype);
    return cost;
}

static weft_status run(const weft__kernel *kernel, weft_stream *stream, const weft_shape *space,
                       weft_array *const *arrays, const uint64_t *scalars)
{
    _Alignas(16) char inline_memory[LAUNCH_INLINE], *memory = inline_memory;
    size_t arguments = kernel->operands_count * sizeof(weft__argument);
    size_t bytes = sizeof(weft__launch) + arguments + kernel->scalars_count * sizeof *scalars;
    size_t uses_bytes = kernel->operands_count * sizeof(weft__use);
    if (bytes + uses_bytes > sizeof inline_memory && !(memory = weft__allocate(bytes + uses_bytes)))
        return WEFT_ERROR_MEMORY;
    weft__launch *launch = (weft__launch *)(void *)memory;
    weft__use *uses = (weft__use *)(void *)(memory + bytes);
    memset(launch, 0, sizeof *launch);
    launch->bytes = (uint32_t)bytes;
    launch->arguments_count = (uint16_t)kernel->operands_count;
    launch->scalars_count = (uint16_t)kernel->scalars_count;
    launch->cost = cost_of(kernel);
    if (kernel->scalars_count)
        memcpy(memory + sizeof *launch + arguments, scalars,
               kernel->scalars_count * sizeof *scalars);
    weft__canonical(kernel, space, arrays, launch);
    fill_uses(kernel, arrays, uses);
    weft_status status = WEFT_OK;
    if (launch->count > 0)
        status = compile_and_submit(kernel, stream, launch, uses);
    if (memory != inline_memory)
        weft__free(memory);
    return status;
}

static weft_status move(weft_array *to, weft_array *from, weft_stream *stream)
{
    weft__builder b;
    weft_array *arrays[] = {from, to};
    weft__build_begin(&b);
    int source = weft__build_operand(&b, (weft_dtype)from->dtype, false);
    int target = weft__build_operand(&b, (weft_dtype)to->dtype, true);
    weft__build_store(&b, target, weft__build_load(&b, source));
    b.kernel.ndim = to->shape.ndim;
    return run(&b.kernel, stream, &to->shape, arrays, NULL);
}

/* Computes into new memory first, then moves the result. */
static weft_status run_through_copy(const weft__kernel *kernel, weft_stream *stream,
                                    const weft_shape *space, weft_array *const *arrays,
                                    const uint64_t *scalars, uint32_t output)
{
    weft_array *through[WEFT__OPERANDS_MAX];
    weft_options options = {.struct_size = sizeof options, .device = stream->device};
    weft_array *copy = weft__array_new(&arrays[output]->shape, (weft_dtype)arrays[output]->dtype,
                                       &options, NULL, NULL);
    if (!copy)
        return weft_error_code();
    memcpy(through, arrays, kernel->operands_count * sizeof *through);
    through[output] = copy;
    weft_status status = weft__kernel_run(kernel, stream, space, through, scalars);
    if (status == WEFT_OK)
        status = move(arrays[output], copy, stream);
    weft_array_release(copy);
    return status;
}

weft_status weft__kernel_run(const weft__kernel *kernel, weft_stream *stream,
                             const weft_shape *space, weft_array *const *arrays,
                             const uint64_t *scalars)
{
    for (int k = 0; k < space->ndim; k++)
        if (space->size[k] == 0)
            return WEFT_OK;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        if (kernel->operands[i].output && has_hazard(kernel, arrays, i))
            return run_through_copy(kernel, stream, space, arrays, scalars, i);
    return run(kernel, stream, space, arrays, scalars);
}
