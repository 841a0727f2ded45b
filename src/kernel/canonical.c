/* The canonical form of a launch. */
#include "kernel/canonical.h"
#include <stdlib.h>

static bool uses_index(const weft__kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (kernel->values[i].op == WEFT__OP_index)
            return true;
    return false;
}

/* The strides of an operand along the axes of the index space; 0 where it is broadcast. */
static void broadcast_strides(const weft_array *array, const weft_shape *space, int64_t *strides)
{
    int shift = space->ndim - array->shape.ndim;
    for (int k = 0; k < space->ndim; k++) {
        bool repeated = k < shift || array->shape.size[k - shift] != space->size[k];
        strides[k] = repeated ? 0 : array->stride[k - shift];
    }
}

static void drop_axis(weft__launch *launch, int axis)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    launch->ndim--;
    for (int k = axis; k < launch->ndim; k++)
        launch->size[k] = launch->size[k + 1];
    for (int i = 0; i < launch->arguments_count; i++)
        for (int k = axis; k < launch->ndim; k++)
            arguments[i].stride[k] = arguments[i].stride[k + 1];
}

static void swap_axes(weft__launch *launch, int a, int b)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    int64_t size = launch->size[a];
    launch->size[a] = launch->size[b];
    launch->size[b] = size;
    for (int i = 0; i < launch->arguments_count; i++) {
        int64_t stride = arguments[i].stride[a];
        arguments[i].stride[a] = arguments[i].stride[b];
        arguments[i].stride[b] = stride;
    }
}

static void turn_axes(weft__launch *launch, int output)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    for (int k = 0; k < launch->ndim; k++) {
        if (arguments[output].stride[k] >= 0)
            continue;
        for (int i = 0; i < launch->arguments_count; i++) {
            arguments[i].data += (launch->size[k] - 1) * arguments[i].stride[k];
            arguments[i].stride[k] = -arguments[i].stride[k];
        }
    }
}

/* Insertion sort, stable: nearly always in order already. */
static void order_axes(weft__launch *launch, int output)
{
    const int64_t *stride = weft__launch_arguments(launch)[output].stride;
    for (int k = 1; k < launch->ndim; k++)
        for (int j = k; j > 0 && stride[j] > stride[j - 1]; j--)
            swap_axes(launch, j, j - 1);
}

/* Whether axis k + 1 goes on where axis k steps, in every operand. */
static bool is_mergeable(const weft__launch *launch, int k)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (int i = 0; i < launch->arguments_count; i++)
        if (arguments[i].stride[k] != arguments[i].stride[k + 1] * launch->size[k + 1])
            return false;
    return true;
}

static void merge_axes(weft__launch *launch)
{
    for (int k = launch->ndim - 2; k >= 0; k--)
        if (is_mergeable(launch, k)) {
            launch->size[k + 1] *= launch->size[k];
            drop_axis(launch, k);
        }
}

static int first_output(const weft__kernel *kernel)
{
    int i = 0;
    while (i < (int)kernel->operands_count - 1 && !kernel->operands[i].output)
        i++;
    return i;
}

void weft__canonical(const weft__kernel *kernel, const weft_shape *space, weft_array *const *arrays,
                     weft__launch *launch)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    int output = first_output(kernel);
    launch->ndim = space->ndim;
    launch->count = 1;
    for (int k = 0; k < space->ndim; k++) {
        launch->size[k] = space->size[k];
        launch->count *= space->size[k];
    }
    for (int i = 0; i < launch->arguments_count; i++) {
        arguments[i].data = arrays[i]->data;
        broadcast_strides(arrays[i], space, arguments[i].stride);
    }
    if (launch->count > 0 && !uses_index(kernel)) {
        for (int k = launch->ndim - 1; k >= 0; k--)
            if (launch->size[k] == 1)
                drop_axis(launch, k);
        turn_axes(launch, output);
        order_axes(launch, output);
        merge_axes(launch);
    }
    if (launch->ndim == 0) {
        launch->ndim = 1;
        launch->size[0] = 1;
        for (int i = 0; i < launch->arguments_count; i++)
            arguments[i].stride[0] = 0;
    }
}
