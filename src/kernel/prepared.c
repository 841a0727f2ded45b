/* Launches that are kept: made once for arrays of certain layouts, then filled with addresses. */
#include "kernel/prepared.h"
#include "backend/kernel_text.h"
#include "kernel/canonical.h"
#include <string.h>

/* Whether a point reads other elements of the operand than its own, or not all at once. */
static bool is_displaced(const weft__kernel *kernel, uint32_t operand)
{
    if (kernel->folds_count)
        return true;
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (kernel->values[i].slot == operand &&
            ((kernel->values[i].op == WEFT__OP_load && kernel->values[i].shift) ||
             kernel->values[i].op == WEFT__OP_gather))
            return true;
    return false;
}

/* Kernels with folds have one argument more: the buffer between two stages. */
static uint32_t arguments_count(const weft__kernel *kernel)
{
    return kernel->operands_count + (kernel->folds_count > 0);
}

static size_t launch_bytes(const weft__kernel *kernel)
{
    return sizeof(weft__launch) + arguments_count(kernel) * sizeof(weft__argument) +
           kernel->scalars_count * sizeof(uint64_t);
}

/* What a kernel as text is given, and a few words for each argument. */
static size_t again_bytes(const weft__kernel *kernel)
{
    const size_t count = arguments_count(kernel);
    return (8 + 3 * count) * sizeof(void *) +
           weft__kernel_text_bytes(count, WEFT_NDIM_MAX, kernel->scalars_count);
}

size_t weft__prepared_bytes(const weft__kernel *kernel, bool kept)
{
    size_t operands = kernel->operands_count;
    return sizeof(weft__prepared) + operands * sizeof(weft__prepared_operand) +
           (operands + 2) * sizeof(weft__use) + launch_bytes(kernel) +
           (kept ? again_bytes(kernel) : 0);
}

static void prepare_operand(const weft__kernel *kernel, uint32_t i, const weft_array *array,
                            weft__prepared_operand *operand)
{
    memcpy(operand->stride, array->stride, sizeof operand->stride);
    weft__array_reach(array, &operand->low, &operand->high);
    operand->output = kernel->operands[i].output;
    operand->bytes = weft_array_bytes(array);
    operand->displaced = is_displaced(kernel, i);
}

static void prepare_uses(weft__prepared *prepared)
{
    uint32_t count = 0;
    for (int output = 0; output < 2; output++) {
        for (uint32_t i = 0; i < prepared->operands_count; i++) {
            if (prepared->operands[i].output != output)
                continue;
            prepared->operands[i].use = count;
            prepared->uses[count++].write = output;
        }
        prepared->inputs_count = output ? prepared->inputs_count : count;
    }
}

static void prepare_launch(weft__prepared *prepared, const weft__kernel *kernel,
                           const weft_shape *space, weft_array *const *arrays)
{
    weft__launch *launch = prepared->launch;
    weft__argument *arguments = weft__launch_arguments(launch);
    uint32_t count = arguments_count(kernel);
    memset(launch, 0, launch_bytes(kernel));
    launch->bytes = (uint32_t)launch_bytes(kernel);
    launch->arguments_count = (uint16_t)count;
    launch->scalars_count = (uint16_t)kernel->scalars_count;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        launch->cost += (uint32_t)weft_dtype_size((weft_dtype)kernel->operands[i].dtype);
    weft__canonical(kernel, space, arrays, launch);
    prepared->points = launch->count;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        prepared->operands[i].offset = arguments[i].data - arrays[i]->data;
}

weft__prepared *weft__prepare(void *memory, const weft__kernel *kernel, weft_device device,
                              const weft_shape *space, weft_array *const *arrays, bool kept)
{
    weft__prepared *prepared = memory;
    uint32_t count = kernel->operands_count;
    prepared->device = device;
    prepared->operands_count = count;
    prepared->filled = false;
    prepared->hazard = -1;
    prepared->groups = NULL;
    prepared->compiled[0].generation = prepared->compiled[1].generation = 0;
    prepared->operands = (weft__prepared_operand *)(void *)(prepared + 1);
    prepared->uses = (weft__use *)(void *)(prepared->operands + count);
    prepared->launch = (weft__launch *)(void *)(prepared->uses + count + 2);
    prepared->again = (weft__again){.what = (char *)prepared->launch + launch_bytes(kernel),
                                    .launches = 1,
                                    .room = kept ? again_bytes(kernel) : 0};
    for (uint32_t i = 0; i < count; i++)
        prepare_operand(kernel, i, arrays[i], &prepared->operands[i]);
    prepare_uses(prepared);
    prepare_launch(prepared, kernel, space, arrays);
    return prepared;
}

/* Strides of axes that an array does not have may make a difference: it is prepared again, then. */
bool weft__prepared_fits(const weft__prepared *prepared, weft_device device,
                         weft_array *const *arrays)
{
    if (prepared->device.kind != device.kind || prepared->device.index != device.index)
        return false;
    for (uint32_t i = 0; i < prepared->operands_count; i++)
        if (!weft__axes_same(prepared->operands[i].stride, arrays[i]->stride))
            return false;
    return true;
}

void weft__prepared_fill_scalars(weft__prepared *prepared, const uint64_t *scalars)
{
    weft__launch *launch = prepared->launch;
    if (launch->scalars_count)
        memcpy(weft__launch_arguments(launch) + launch->arguments_count, scalars,
               launch->scalars_count * sizeof *scalars);
}

void weft__prepared_fill(weft__prepared *prepared, weft_array *const *arrays,
                         const uint64_t *scalars)
{
    weft__argument *arguments = weft__launch_arguments(prepared->launch);
    atomic_store_explicit(&prepared->again.window, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < prepared->operands_count; i++) {
        const weft__prepared_operand *operand = &prepared->operands[i];
        weft__buffer *buffer = arrays[i]->buffer;
        weft__use *use = &prepared->uses[operand->use];
        arguments[i].data = arrays[i]->data + operand->offset;
        use->buffer = buffer;
        use->generation = atomic_load_explicit(&buffer->generation, memory_order_relaxed);
        use->whole = operand->bytes == buffer->elements;
    }
    weft__prepared_fill_scalars(prepared, scalars);
}
