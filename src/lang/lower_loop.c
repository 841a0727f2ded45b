/* From loops of programs to those of kernels, and elements at any position. */
#include "core/shape.h"
#include "lang/lowering.h"

static int parts_of(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1; }

static bool is_part(const weft__lang_node *node, weft__loop_part part)
{
    return node->kind == WEFT__NODE_LOOP && node->operation == (uint8_t)part;
}

/* One value of the kernel for each part of a number. */
static void lower_carried(weft__lowering_of *l, weft__op op, weft_dtype dtype,
                          const weft__element *first, const weft__element *second,
                          weft__element *element)
{
    element->dtype = dtype;
    for (int k = 0; k < parts_of(dtype); k++)
        element->part[k] = weft__build_flow(&l->out->builder, op, weft__value_dtype(dtype),
                                            first->part[k], second ? second->part[k] : 0);
}

void weft__lower_loop(weft__lowering_of *l, weft__phase phase, const weft__lang_node *node,
                      weft__element *element)
{
    weft__builder *b = &l->out->builder;
    const weft__element *values = l->values[phase];
    const weft__element *a = node->argument[0] < 0 ? NULL : &values[node->argument[0]];
    const weft_dtype dtype = (weft_dtype)node->dtype;
    *element = (weft__element){.dtype = WEFT_BOOL};
    switch ((weft__loop_part)node->operation) {
    case WEFT__LOOP_CARRY:
        lower_carried(l, WEFT__OP_carry, dtype, a, NULL, element);
        break;
    case WEFT__LOOP_ENTER:
        weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
        break;
    case WEFT__LOOP_TEST:
        weft__build_flow(b, WEFT__OP_test, WEFT_BOOL, a->part[0], 0);
        break;
    case WEFT__LOOP_NEXT:
        lower_carried(l, WEFT__OP_next, dtype, a, &values[node->argument[1]], element);
        break;
    case WEFT__LOOP_END:
        weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
        break;
    case WEFT__LOOP_RESULT:
        *element = *a;
        break;
    }
}

/* The type of positions in an array: processors do more of the smaller one at once. */
static weft_dtype position_type(const weft_shape *shape)
{
    int64_t count;
    const bool known = weft__shape_check(shape, &count) == WEFT_OK;
    return known && count <= INT32_MAX ? WEFT_I32 : WEFT_I64;
}

/* Positions are known to be inside at points that there are; others must not leave the array,
 * wherever they are then: one before its first element is a large number that has no sign. */
weft__element weft__lower_gather(weft__lowering_of *l, weft__phase phase,
                                 const weft__lang_node *node)
{
    weft__builder *b = &l->out->builder;
    const weft_shape *shape = &l->program->shapes[node->shift];
    const weft_dtype type = position_type(shape);
    const weft_dtype bounded = type == WEFT_I32 ? WEFT_U32 : WEFT_U64;
    int slot = weft__lower_operand(l, phase, node->operand, (weft_dtype)node->dtype, false);
    int32_t position = shape->ndim ? 0 : weft__build_constant(b, type, 0);
    for (int k = 0; k < shape->ndim; k++) {
        int32_t at = l->values[phase][node->argument[k]].part[0];
        int32_t last = weft__lower_count(l, bounded, shape->size[k] - 1);
        at = weft__build(b, WEFT__OP_cast, bounded, at, 0, 0);
        at = weft__build(b, WEFT__OP_min, bounded, at, last, 0);
        at = weft__build(b, WEFT__OP_cast, type, at, 0, 0);
        if (k > 0) {
            int32_t size = weft__lower_count(l, type, shape->size[k]);
            position = weft__build(b, WEFT__OP_mul, type, position, size, 0);
            at = weft__build(b, WEFT__OP_add, type, position, at, 0);
        }
        position = at;
    }
    if (type != WEFT_I64)
        position = weft__build(b, WEFT__OP_cast, WEFT_I64, position, 0, 0);
    return weft__build_gather(b, slot, position);
}

static bool depends(const weft__lowering_of *l, const weft__lang_node *node)
{
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0 && l->varies[node->argument[k]])
            return true;
    return node->kind == WEFT__NODE_LOOP;
}

uint32_t weft__lower_varies(const weft__lowering_of *l, uint32_t enter, uint32_t end)
{
    const int32_t *order = l->schedule->pieces.order;
    const weft__lang_node *nodes = l->program->nodes;
    uint32_t last = enter, depth = 0;
    for (last = enter; last < end; last++) { /* to the END that belongs to it */
        depth += is_part(&nodes[order[last]], WEFT__LOOP_ENTER);
        depth -= is_part(&nodes[order[last]], WEFT__LOOP_END);
        if (depth == 0)
            break;
    }
    for (uint32_t k = 0; k < end; k++)
        l->varies[order[k]] = 0;
    for (uint32_t k = enter; k < last; k++)
        if (is_part(&nodes[order[k]], WEFT__LOOP_NEXT))
            l->varies[nodes[order[k]].argument[0]] = 1;
    for (uint32_t k = enter; k < last; k++)
        l->varies[order[k]] |= depends(l, &nodes[order[k]]);
    return last;
}
