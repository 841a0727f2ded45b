/* How a launch is cut into patches, and so where its work may be split. */
#include "codegen/interpreter.h"
#include "codegen/interpreter/program.h"

enum {
    SIDE = 64,      /* of a square tile: whole cache lines of any element, both ways */
    CHUNKS = 8,     /* work is worth this many pieces, when it is LARGE */
    LARGE = 1 << 16 /* points */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

int64_t weft__launch_inner(const weft__launch *launch, int32_t axis)
{
    int64_t points = 1;
    for (int32_t k = axis + 1; k < launch->ndim; k++)
        points *= launch->size[k];
    return points;
}

/* The axis along which the elements of an operand are closer together than along the last, or -1.
 */
static int32_t closest_axis(const weft__launch *launch, const weft__argument *argument)
{
    const int32_t last = launch->ndim - 1;
    int64_t closest = magnitude(argument->stride[last]);
    int32_t axis = -1;
    for (int32_t k = 0; k < last; k++) {
        const int64_t stride = magnitude(argument->stride[k]);
        if (stride != 0 && stride < closest && launch->size[k] > 1) {
            closest = stride;
            axis = k;
        }
    }
    return axis;
}

static int32_t tile_axis(const weft__launch *launch)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (uint32_t k = 0; k < launch->arguments_count; k++) {
        const int32_t axis = closest_axis(launch, &arguments[k]);
        if (axis >= 0)
            return axis;
    }
    return -1;
}

static weft__plan plan_rows(const weft__launch *launch, int64_t elements)
{
    const int32_t last = launch->ndim - 1;
    const int64_t size = launch->size[last], block = least(elements, WEFT__BLOCK);
    if (last > 0 && 2 * size <= block && size > 0)
        return (weft__plan){.row_axis = last - 1, .rows = block / size, .columns = size};
    return (weft__plan){.row_axis = -1, .rows = 1, .columns = block};
}

/* A square, unless one of the sizes is short. Rows are given up, if need be, to have enough pieces
 * for threads to share. */
static weft__plan plan_tiles(const weft__launch *launch, int32_t axis, int64_t elements)
{
    const int64_t rows = launch->size[axis], columns = launch->size[launch->ndim - 1];
    int64_t side = SIDE;
    while (side > 1 && side * side > elements)
        side /= 2;
    weft__plan plan = {.row_axis = axis, .columns = least(columns, side)};
    plan.rows = least(rows, elements / plan.columns);
    if (launch->count > LARGE) {
        const int64_t all = launch->count / weft__launch_inner(launch, axis);
        plan.rows = least(plan.rows, all / CHUNKS);
    }
    if (plan.rows < 2)
        return plan_rows(launch, elements);
    plan.columns = least(columns, elements / plan.rows);
    return plan;
}

weft__plan weft__plan_launch(const weft__launch *launch, int64_t elements)
{
    const int32_t axis = launch->count > 0 ? tile_axis(launch) : -1;
    return axis < 0 ? plan_rows(launch, elements)
                    : plan_tiles(launch, axis, least(elements, WEFT__TILE));
}

int64_t weft__interpreter_grain(const weft__kernel *kernel, const weft__launch *launch)
{
    if (kernel->folds_count > 0)
        return weft__fold_is_short(launch) || !weft__kernel_has_lanes(kernel) ? SIDE : 1;
    if (kernel->scatters_count > 0)
        return 1;
    const weft__plan plan = weft__plan_launch(launch, WEFT__TILE);
    if (plan.row_axis < 0)
        return WEFT__BLOCK;
    return plan.rows * weft__launch_inner(launch, plan.row_axis);
}
