/* The cost of nodes: an operation is built on trial, once for each type. */
#include "lang/cost.h"
#include "lang/lower_map.h"
#include <stdatomic.h>

enum { UNKNOWN_COST = 64 }; /* where the trial ran out of memory */

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

static weft__element trial_argument(weft__builder *b, weft_dtype dtype)
{
    weft__element element = {.dtype = dtype};
    for (int part = 0; part < (is_complex(dtype) ? 2 : 1); part++)
        element.part[part] = weft__build_scalar(b, weft__value_dtype(dtype));
    return element;
}

/* 0 if memory ran out. */
static uint32_t try_map(const weft__lang_program *program, const weft__lang_node *node)
{
    weft__builder b;
    weft__element arguments[3] = {{{0}, WEFT_DTYPE_DEFAULT}}, result;
    weft__build_begin(&b);
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0)
            arguments[k] = trial_argument(&b, (weft_dtype)program->nodes[node->argument[k]].dtype);
    uint32_t before = b.kernel.values_count;
    weft__lower_map(&b, (weft__lang_operation)node->operation, (weft_dtype)node->dtype, arguments,
                    &result);
    uint32_t cost = b.failed ? 0 : b.kernel.values_count - before + 1;
    weft__build_free(&b);
    return cost;
}

/* The last argument has the type that the operation goes by: the first of where is bool. */
static uint32_t map_cost(const weft__lang_program *program, const weft__lang_node *node)
{
    static _Atomic uint16_t known[WEFT__LANG_OPERATION_END][WEFT_DTYPE_END]; /* 0: not yet */
    int last = 2;
    while (last > 0 && node->argument[last] < 0)
        last--;
    int dtype = node->argument[last] < 0 ? 0 : program->nodes[node->argument[last]].dtype;
    _Atomic uint16_t *place = &known[node->operation][dtype];
    uint32_t cost = atomic_load_explicit(place, memory_order_relaxed);
    if (!cost) {
        cost = try_map(program, node);
        atomic_store_explicit(place, (uint16_t)cost, memory_order_relaxed);
    }
    return cost ? cost : UNKNOWN_COST;
}

uint32_t weft__node_cost(const weft__lang_program *program, int32_t at)
{
    const weft__lang_node *node = &program->nodes[at];
    switch ((weft__lang_kind)node->kind) {
    case WEFT__NODE_MAP:
        return map_cost(program, node);
    case WEFT__NODE_CAST:
    case WEFT__NODE_SHIFT:
    case WEFT__NODE_FOLD:
        return 4;
    default:
        return 1;
    }
}
