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

/* Whether a point reads other elements of the operand than its own, or not all at once. */
static bool is_displaced(const weft__kernel *kernel, uint32_t operand)
{
    if (kernel->folds_count)
        return true;
    for (uint32_t i = 0; kernel->shifts_count && i < kernel->values_count; i++)
        if (kernel->values[i].op == WEFT__OP_load && kernel->values[i].slot == operand &&
            kernel->values[i].shift)
            return true;
    return false;
}

/* Whether the output may be written before some input has been read, or after a later output. */
static bool has_hazard(const weft__kernel *kernel, weft_array *const *arrays, uint32_t output)
{
    for (uint32_t i = 0; i < kernel->operands_count; i++) {
        if (kernel->operands[i].output && i >= output)
            continue;
        if (weft__array_may_overlap(arrays[i], arrays[output]) &&
            (!same_map(arrays[i], arrays[output]) || is_displaced(kernel, i)))
            return true;
    }
    return false;
}

static weft_status submit(weft_stream *stream, weft__module *module, const weft__launch *launch,
                          const weft__use *uses, uint32_t uses_count)
{
    weft__work work = {.kind = WEFT__WORK_LAUNCH,
                       .operation = weft__operation(),
                       .uses = uses,
                       .uses_count = uses_count,
                       .of.launch = {module, launch}};
    TRY(weft__submit(stream, &work));
    COUNT(weft__device_get(stream->device)->statistics.launches, 1);
    return WEFT_OK;
}

static weft_status compile_and_submit(const weft__kernel *kernel, weft_stream *stream,
                                      weft__launch *launch, const weft__use *uses, uint32_t count)
{
    weft__compiled compiled;
    TRY(weft__cache_enter(kernel, stream->device, launch, &compiled));
    launch->grain = compiled.grain;
    weft_status status = submit(stream, compiled.module, launch, uses, count);
    weft__cache_leave();
    return status;
}

static weft__use use_of(const weft_array *array, bool write)
{
    return (weft__use){array->buffer, atomic_load(&array->buffer->generation), write,
                       weft_array_bytes(array) == array->buffer->elements};
}

/* Inputs first, so that a stage that writes none of the outputs can leave them out. */
static uint32_t fill_uses(const weft__kernel *kernel, weft_array *const *arrays, weft__use *uses)
{
    uint32_t inputs = 0, count = 0;
    for (int output = 0; output < 2; output++) {
        for (uint32_t i = 0; i < kernel->operands_count; i++)
            if (kernel->operands[i].output == output)
                uses[count++] = use_of(arrays[i], output);
        inputs = output ? inputs : count;
    }
    return inputs;
}

static uint32_t cost_of(const weft__kernel *kernel)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        cost += (uint32_t)weft_dtype_size((weft_dtype)kernel->operands[i].dtype);
    return cost;
}

static void begin_stage(weft__launch *launch, weft__stage stage, int64_t count, int64_t bytes)
{
    launch->stage = (int32_t)stage;
    launch->count = count;
    launch->cost = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* A new buffer for the results of all chunks. */
static weft_array *new_chunks(const weft__kernel *kernel, weft_stream *stream,
                              const weft__launch *launch)
{
    weft_options options = {.struct_size = sizeof options, .device = stream->device};
    weft_shape shape = {1, {0}};
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (kernel->values[i].op == WEFT__OP_fold)
            shape.size[0] +=
                weft__fold_bytes((int64_t)weft_dtype_size((weft_dtype)kernel->values[i].dtype),
                                 launch->chunks * launch->kept);
    return weft__array_new(&shape, WEFT_U8, &options, NULL, NULL);
}

/* The uses have room for two more. */
static weft_status run_two_stages(const weft__kernel *kernel, weft_stream *stream,
                                  weft__launch *launch, weft__use *uses, uint32_t inputs)
{
    weft__use output[2];
    int64_t cost = cost_of(kernel), chunk = (launch->folded + launch->chunks - 1) / launch->chunks;
    weft_array *chunks = new_chunks(kernel, stream, launch);
    if (!chunks)
        return weft_error_code();
    weft__launch_arguments(launch)[kernel->operands_count].data = chunks->data;
    begin_stage(launch, WEFT__STAGE_CHUNKS, launch->chunks * launch->kept, cost * chunk);
    output[0] = uses[inputs];
    uses[inputs] = use_of(chunks, true);
    weft_status status = compile_and_submit(kernel, stream, launch, uses, inputs + 1);
    uses[inputs] = output[0];
    uses[kernel->operands_count] = use_of(chunks, false);
    uses[kernel->operands_count + 1] = use_of(chunks, true);
    begin_stage(launch, WEFT__STAGE_FINISH, launch->kept, 8 * launch->chunks);
    if (status == WEFT_OK)
        status = compile_and_submit(kernel, stream, launch, uses, kernel->operands_count + 2);
    weft_array_release(chunks);
    return status;
}

/* Two stages where there are many chunks, or few points for threads to share. */
static weft_status run_folds(const weft__kernel *kernel, weft_stream *stream, weft__launch *launch,
                             weft__use *uses, uint32_t inputs)
{
    enum { FEW_CHUNKS = 16, FEW_POINTS = 256, LARGE = 1 << 17 };
    int64_t length = weft__kernel_has_lanes(kernel) ? WEFT__FOLD_CHUNK : WEFT__FOLD_RUN;
    launch->chunks = launch->folded / length + (launch->folded % length != 0);
    if (launch->kept == 0)
        return WEFT_OK;
    if (launch->chunks > FEW_CHUNKS ||
        (launch->chunks > 1 && launch->kept < FEW_POINTS && launch->count > LARGE))
        return run_two_stages(kernel, stream, launch, uses, inputs);
    int64_t cost = cost_of(kernel), bytes;
    if (__builtin_mul_overflow(cost, launch->folded, &bytes))
        bytes = INT64_MAX;
    begin_stage(launch, WEFT__STAGE_WHOLE, launch->kept, bytes);
    return compile_and_submit(kernel, stream, launch, uses, kernel->operands_count);
}

static weft_status run(const weft__kernel *kernel, weft_stream *stream, const weft_shape *space,
                       weft_array *const *arrays, const uint64_t *scalars)
{
    _Alignas(16) char inline_memory[LAUNCH_INLINE], *memory = inline_memory;
    uint32_t count = kernel->operands_count + (kernel->folds_count > 0);
    size_t arguments = count * sizeof(weft__argument);
    size_t bytes = sizeof(weft__launch) + arguments + kernel->scalars_count * sizeof *scalars;
    size_t uses_bytes = (kernel->operands_count + 2) * sizeof(weft__use);
    if (bytes + uses_bytes > sizeof inline_memory && !(memory = weft__allocate(bytes + uses_bytes)))
        return WEFT_ERROR_MEMORY;
    weft__launch *launch = (weft__launch *)(void *)memory;
    weft__use *uses = (weft__use *)(void *)(memory + bytes);
    memset(launch, 0, sizeof *launch + arguments);
    launch->bytes = (uint32_t)bytes;
    launch->arguments_count = (uint16_t)count;
    launch->scalars_count = (uint16_t)kernel->scalars_count;
    launch->cost = cost_of(kernel);
    if (kernel->scalars_count)
        memcpy(memory + sizeof *launch + arguments, scalars,
               kernel->scalars_count * sizeof *scalars);
    weft__canonical(kernel, space, arrays, launch);
    uint32_t inputs = fill_uses(kernel, arrays, uses);
    weft_status status = WEFT_OK;
    if (kernel->folds_count)
        status = run_folds(kernel, stream, launch, uses, inputs);
    else if (launch->count > 0)
        status = compile_and_submit(kernel, stream, launch, uses, kernel->operands_count);
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
    weft_array *few[16], **through = few;
    weft_options options = {.struct_size = sizeof options, .device = stream->device};
    size_t bytes = kernel->operands_count * sizeof *through;
    if (bytes > sizeof few && !(through = weft__allocate(bytes)))
        return WEFT_ERROR_MEMORY;
    weft_array *copy = weft__array_new(&arrays[output]->shape, (weft_dtype)arrays[output]->dtype,
                                       &options, NULL, NULL);
    weft_status status = copy ? WEFT_OK : weft_error_code();
    memcpy(through, arrays, bytes);
    through[output] = copy;
    if (status == WEFT_OK)
        status = weft__kernel_run(kernel, stream, space, through, scalars);
    if (status == WEFT_OK)
        status = move(arrays[output], copy, stream);
    weft_array_release(copy);
    if (through != few)
        weft__free(through);
    return status;
}

/* Whether there is nothing to write. */
static bool is_empty(const weft__kernel *kernel, const weft_shape *space)
{
    for (int k = 0; k < space->ndim; k++)
        if (space->size[k] == 0 && !(kernel->folded >> k & 1))
            return true;
    return false;
}

weft_status weft__kernel_run_apart(const weft__kernel *kernel, weft_stream *stream,
                                   const weft_shape *space, weft_array *const *arrays,
                                   const uint64_t *scalars)
{
    return is_empty(kernel, space) ? WEFT_OK : run(kernel, stream, space, arrays, scalars);
}

weft_status weft__kernel_run(const weft__kernel *kernel, weft_stream *stream,
                             const weft_shape *space, weft_array *const *arrays,
                             const uint64_t *scalars)
{
    if (is_empty(kernel, space))
        return WEFT_OK;
    for (uint32_t i = kernel->operands_count; i-- > 0;) /* the last output is moved last */
        if (kernel->operands[i].output && has_hazard(kernel, arrays, i))
            return run_through_copy(kernel, stream, space, arrays, scalars, i);
    return run(kernel, stream, space, arrays, scalars);
}
