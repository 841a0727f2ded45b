/* The canonical form of a launch. */
#include "kernel/canonical.h"
#include <stdlib.h>

/* Whether values depend on where they are along the axes. */
static bool uses_positions(const weft__kernel *kernel)
{
    if (kernel->shifts_count)
        return true;
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (kernel->values[i].op == WEFT__OP_index && kernel->values[i].slot != WEFT__INDEX_FOLDED)
            return true;
    return false;
}

/* The strides of an operand along the axes of the index space; 0 where it is broadcast, and along
 * `missing` axes, which it does not have. */
static void broadcast_strides(const weft_array *array, const weft_shape *space, uint32_t missing,
                              int64_t *strides)
{
    int axis = array->shape.ndim - 1;
    for (int k = space->ndim - 1; k >= 0; k--) {
        bool repeated = missing >> k & 1 || axis < 0 || array->shape.size[axis] != space->size[k];
        strides[k] = repeated ? 0 : array->stride[axis];
        axis -= !(missing >> k & 1);
    }
}

static void drop_axis(weft__launch *launch, int axis)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    launch->ndim--;
    launch->kept_ndim -= axis < launch->kept_ndim;
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
    for (int k = 0; k < launch->kept_ndim; k++) {
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
    for (int k = 1; k < launch->kept_ndim; k++)
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
        if (k + 1 != launch->kept_ndim && is_mergeable(launch, k)) {
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

/* Moves the axes that are folded behind the others; both stay in order. */
static void part_axes(const weft__kernel *kernel, weft__launch *launch)
{
    int kept = 0;
    for (int k = 0; k < launch->ndim; k++) {
        if (kernel->folded >> k & 1)
            continue;
        for (int j = k; j > kept; j--)
            swap_axes(launch, j, j - 1);
        kept++;
    }
    launch->kept_ndim = kept;
}

/* The product of sizes; 0 if one of them is, however large the others are. */
static int64_t product(const int64_t *sizes, int begin, int end)
{
    uint64_t all = 1;
    for (int k = begin; k < end; k++) {
        if (sizes[k] == 0)
            return 0;
        all *= (uint64_t)sizes[k];
    }
    return (int64_t)all;
}

static void count_points(weft__launch *launch)
{
    launch->kept = product(launch->size, 0, launch->kept_ndim);
    launch->folded = product(launch->size, launch->kept_ndim, launch->ndim);
    launch->count = launch->kept * launch->folded;
}

void weft__canonical(const weft__kernel *kernel, const weft_shape *space, weft_array *const *arrays,
                     weft__launch *launch)
{
    weft__argument *arguments = weft__launch_arguments(launch);
    int output = first_output(kernel);
    launch->ndim = space->ndim;
    for (int k = 0; k < space->ndim; k++)
        launch->size[k] = space->size[k];
    for (uint32_t i = 0; i < kernel->operands_count; i++) {
        arguments[i].data = arrays[i]->data;
        broadcast_strides(arrays[i], space, kernel->operands[i].kept ? kernel->folded : 0,
                          arguments[i].stride);
    }
    part_axes(kernel, launch);
    count_points(launch);
    if (launch->count > 0 && !uses_positions(kernel)) {
        for (int k = launch->ndim - 1; k >= 0; k--)
            if (launch->size[k] == 1)
                drop_axis(launch, k);
        turn_axes(launch, output);
        order_axes(launch, output);
        merge_axes(launch);
    }
    if (launch->ndim == 0) {
        launch->ndim = launch->kept_ndim = 1;
        launch->size[0] = 1;
        for (int i = 0; i < launch->arguments_count; i++)
            arguments[i].stride[0] = 0;
    }
}
