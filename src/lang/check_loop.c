/* Types of loops, and of elements at any position. What a loop carries keeps its type. */
#include "lang/check.h"

static weft_status emit(weft__checker *c, weft__lang_node node, weft__check_value *value)
{
    TRY(weft__check_emit(c, node, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

static weft_status check_carry(weft__checker *c, weft__lang_node node,
                               const weft__check_value *from, weft__check_value *value)
{
    node.dtype = from->dtype;
    node.weak = from->weak;
    TRY(weft__check_use(c, from, (weft_dtype)from->dtype, node.column, &node.argument[0]));
    TRY(weft__check_shape_add(c, &c->syntax->points, &node.shape));
    return emit(c, node, value);
}

static weft_status check_next(weft__checker *c, weft__lang_node node,
                              const weft__check_value *arguments, weft__check_value *value)
{
    if (arguments[0].dtype != arguments[1].dtype || arguments[0].weak != arguments[1].weak)
        return CHECK_FAIL(c, node.column, WEFT_ERROR_DTYPE,
                          "a variable is %s before a loop and %s in it; declare it",
                          weft__check_type_name((weft_dtype)arguments[0].dtype, arguments[0].weak),
                          weft__check_type_name((weft_dtype)arguments[1].dtype, arguments[1].weak));
    node.dtype = arguments[0].dtype;
    node.argument[0] = arguments[0].node;
    node.argument[2] = arguments[2].node;
    TRY(weft__check_use(c, &arguments[1], (weft_dtype)node.dtype, node.column, &node.argument[1]));
    return emit(c, node, value);
}

/* Parts that are no values are weak, so that nothing is made of them. */
weft_status weft__check_loop(weft__checker *c, const weft__syntax_node *part,
                             weft__check_value *value)
{
    weft__check_value arguments[3] = {{0}};
    weft__lang_node node = weft__check_node(WEFT__NODE_LOOP, WEFT_BOOL, part->column);
    node.operation = part->operation;
    node.weak = true;
    for (uint32_t k = 0; k < part->count; k++)
        arguments[k] = weft__check_argument(c, part, k);
    switch ((weft__loop_part)part->operation) {
    case WEFT__LOOP_CARRY:
        return check_carry(c, node, &arguments[0], value);
    case WEFT__LOOP_NEXT:
        return check_next(c, node, arguments, value);
    case WEFT__LOOP_TEST:
        TRY(weft__check_use(c, &arguments[0], WEFT_BOOL, node.column, &node.argument[0]));
        node.argument[1] = arguments[1].node;
        return emit(c, node, value);
    case WEFT__LOOP_RESULT:
        node.dtype = arguments[0].dtype;
        node.weak = arguments[0].weak;
        node.shape = arguments[0].shape;
        node.argument[1] = arguments[1].node;
        break;
    default:
        break;
    }
    if (part->count)
        node.argument[0] = arguments[0].node;
    return emit(c, node, value);
}

weft_status weft__check_gather(weft__checker *c, const weft__syntax_node *gather,
                               weft__check_value *value)
{
    weft__lang_node node = weft__check_node(
        WEFT__NODE_GATHER, (weft_dtype)c->operands[gather->index].dtype, gather->column);
    node.operand = (uint16_t)gather->index;
    TRY(weft__check_shape_add(c, &c->syntax->points, &node.shape));
    TRY(weft__check_shape_add(c, &c->syntax->shapes[gather->value.attributes], &node.shift));
    for (uint32_t k = 0; k < gather->count; k++) {
        weft__check_value position = weft__check_argument(c, gather, k);
        if (weft__dtype_rank((weft_dtype)position.dtype) != WEFT__RANK_INTEGER)
            return CHECK_FAIL(c, gather->column, WEFT_ERROR_DTYPE, "a position is an integer");
        TRY(weft__check_use(c, &position, WEFT_I64, gather->column, &node.argument[k]));
    }
    TRY(emit(c, node, value));
    return weft__check_loosen(c, gather->column, value);
}
