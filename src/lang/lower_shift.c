/* Displaced operands in a kernel. */
#include "lang/lowering.h"

/* The displacement along the axes of the index space. An axis of size 1 that is repeated is out of
 * bounds wherever it is displaced, which is settled here: false if all of the result is. */
static bool map_shift(const weft__lowering_of *l, weft__phase phase, const weft__lang_node *node,
                      weft__kernel_shift *shift, bool *displaced)
{
    const weft__lang_shift *given = &l->program->shifts[node->shift];
    const weft_shape *shape = &l->program->shapes[node->shape];
    *displaced = false;
    shift->boundary = given->boundary;
    for (int k = 0; k < shape->ndim; k++) {
        int axis = weft__lower_axis(l, phase, shape->ndim - 1 - k);
        if (given->offset[k] == 0)
            continue;
        if (shape->size[k] != 1 || l->out->space.size[axis] == 1) {
            shift->offset[axis] = given->offset[k];
            *displaced = true;
        } else if (shift->boundary == WEFT__BOUNDARY_UNSHIFTED ||
                   shift->boundary == WEFT__BOUNDARY_CONSTANT) {
            return false;
        }
    }
    return true;
}

weft__element weft__lower_shift(weft__lowering_of *l, weft__phase phase,
                                const weft__lang_node *node, int32_t place,
                                const weft__element *constant)
{
    weft__kernel_shift shift = {{0}, 0};
    bool displaced;
    weft_dtype dtype = weft__lower_stored(place, (weft_dtype)node->dtype);
    bool inside = map_shift(l, phase, node, &shift, &displaced);
    if (!inside && constant)
        return *constant;
    weft__element element =
        !inside || !displaced
            ? weft__lower_load(l, phase, place, dtype)
            : weft__build_shifted(&l->out->builder,
                                  weft__lower_operand(l, phase, place, dtype, false), &shift,
                                  constant);
    element.dtype = (weft_dtype)node->dtype;
    return element;
}
