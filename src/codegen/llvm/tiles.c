/* Which operands of a launch lie across its rows, and the tiles that they go through. */
#include "codegen/llvm/object.h"

enum {
    LINE = 64,       /* of the cache */
    SIDE = 64,       /* of a square tile: whole cache lines of any element, both ways */
    TURN = 256,      /* bytes: of the columns that compiled code takes in a turn */
    CHUNKS = 8,      /* work is worth this many pieces, when it is LARGE */
    LARGE = 1 << 16, /* points */
    SIZE_MOST = 3    /* log2 of the largest element that can be moved */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* The axis along which the elements of an operand are closer together than along the last, or -1.
 */
static int32_t closest_axis(const weft__launch *launch, uint32_t operand)
{
    const int64_t *stride = weft__launch_arguments_of(launch)[operand].stride;
    const int32_t last = launch->ndim - 1;
    int64_t closest = magnitude(stride[last]);
    int32_t axis = -1;
    for (int32_t k = 0; k < last && launch->size[last] > 1; k++) {
        if (stride[k] != 0 && magnitude(stride[k]) < closest && launch->size[k] > 1) {
            closest = magnitude(stride[k]);
            axis = k;
        }
    }
    return axis;
}

bool weft__tiled(const weft__launch *launch, uint32_t operand, int size)
{
    return size <= SIZE_MOST && closest_axis(launch, operand) >= 0;
}

/* A tile for elements of up to 1 << size bytes, of which there is room for so many: a square, or
 * wider where elements are small, unless one of the sizes is short. Rows are given up to have
 * enough pieces for threads. */
static weft__tiling cut(const weft__launch *launch, int32_t axis, int size, int64_t room)
{
    const int64_t columns = launch->size[launch->ndim - 1];
    int64_t wide = most(SIDE, TURN >> size), high = least(wide, 2 * SIDE), outer = 1;
    for (; wide * high > room && wide > 1; wide /= 2)
        high = most(1, high / 2);
    const int64_t elements = wide * high;
    weft__tiling tiling = {.axis = axis, .columns = least(columns, wide)};
    tiling.rows = least(launch->size[axis], elements / tiling.columns);
    for (int32_t k = 0; k <= axis; k++)
        outer *= launch->size[k];
    if (launch->count > LARGE && outer / CHUNKS > 0)
        tiling.rows = least(tiling.rows, outer / CHUNKS);
    tiling.columns = least(columns, elements / tiling.rows);
    return tiling;
}

weft__tiling weft__tiling_of(const weft__launch *launch, const weft__object_operand *operands,
                             bool has_index)
{
    int32_t axis = -1;
    int64_t bytes = 0, room = WEFT__TILES_BYTES;
    int size = 0;
    if (launch->ndim < 2 || launch->count == 0)
        return (weft__tiling){.axis = -1};
    for (uint32_t k = 0; k < launch->arguments_count; k++) {
        if (!weft__tiled(launch, k, operands[k].size))
            continue;
        bytes += (int64_t)1 << operands[k].size;
        room -= LINE; /* tiles begin at lines */
        if (operands[k].size > size)
            size = operands[k].size;
        if (axis < 0)
            axis = closest_axis(launch, k);
    }
    if (axis < 0 || (has_index && axis != launch->ndim - 2))
        return (weft__tiling){.axis = -1};
    return cut(launch, axis, size, room / bytes);
}
