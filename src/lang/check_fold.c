/* Reductions: axes, shapes and dtypes. */
#include "core/shape.h"
#include "lang/check.h"

static weft_status wrong_kind(weft__checker *c, const weft__syntax_node *call, weft_dtype dtype)
{
    const weft__lang_facts *facts = &weft__lang_operations[call->operation];
    return CHECK_FAIL(c, call->column, WEFT_ERROR_DTYPE, "%s is for %s, not %s; cast first%s",
                      facts->name, weft__check_kinds_name(facts->kinds), weft_dtype_name(dtype),
                      weft__dtype_rank(dtype) == WEFT__RANK_INTEGER ? ", as in f64(...)" : "");
}

/* The axes that are folded, as bits. */
static weft_status folded_axes(weft__checker *c, const weft__syntax_node *call,
                               const weft__syntax_attributes *a, int ndim, uint8_t *axes)
{
    int count = a ? a->axes : 0;
    *axes = 0;
    if (!count)
        *axes = (uint8_t)((1u << ndim) - 1);
    for (int i = 0; i < count; i++) {
        int axis = a->axis[i] < 0 ? a->axis[i] + ndim : a->axis[i];
        if (axis < 0 || axis >= ndim)
            return CHECK_FAIL(c, a->column, WEFT_ERROR_SHAPE,
                              "axis %d is out of range for %d dimensions", a->axis[i], ndim);
        if (*axes >> axis & 1)
            return CHECK_FAIL(c, a->column, WEFT_ERROR_SHAPE, "axis %d is given twice", axis);
        *axes |= (uint8_t)(1u << axis);
    }
    bool position = call->operation == WEFT__LANG_argmin || call->operation == WEFT__LANG_argmax;
    if (position && count > 1)
        return CHECK_FAIL(c, a->column, WEFT_ERROR_SHAPE,
                          "%s goes along one axis, or without axis= over all elements",
                          weft__lang_operations[call->operation].name);
    return WEFT_OK;
}

/* The shape that is left; *folded is the number of elements that go into one of the result. */
static weft_shape folded_shape(const weft_shape *shape, uint8_t axes, bool keep, int64_t *folded)
{
    weft_shape result = {0, {0}};
    *folded = 1;
    for (int k = 0; k < shape->ndim; k++) {
        bool gone = axes >> k & 1;
        if (gone && shape->size[k] == 0)
            *folded = 0;
        if (!gone || keep)
            result.size[result.ndim++] = gone ? 1 : shape->size[k];
    }
    return result;
}

/* What the argument becomes before it is folded, and what the result is. */
static void fold_dtypes(const weft__lang_facts *facts, weft_dtype *argument, weft_dtype *result)
{
    weft__rank rank = weft__dtype_rank(*argument);
    bool is_unsigned = *argument >= WEFT_U8 && *argument <= WEFT_U64;
    switch (facts->result) {
    case WEFT__RESULT_WIDE:
        if (rank <= WEFT__RANK_INTEGER)
            *argument = is_unsigned ? WEFT_U64 : WEFT_I64;
        *result = *argument;
        break;
    case WEFT__RESULT_BOOLEAN:
        *result = *argument = WEFT_BOOL;
        break;
    case WEFT__RESULT_POSITION:
        *result = WEFT_I64;
        break;
    case WEFT__RESULT_REAL:
        *result = weft__check_real(*argument);
        break;
    default:
        *result = *argument;
    }
}

static bool has_neutral(uint8_t operation)
{
    return operation != WEFT__LANG_min && operation != WEFT__LANG_max &&
           operation != WEFT__LANG_argmin && operation != WEFT__LANG_argmax;
}

static weft_status fold_shape(weft__checker *c, const weft__syntax_node *call, int32_t argument,
                              weft__lang_node *node)
{
    const weft__syntax_attributes *a = call->index < 0 ? NULL : &c->syntax->attributes[call->index];
    weft_shape shape = *weft__check_shape(c, argument);
    int64_t folded, left;
    TRY(folded_axes(c, call, a, shape.ndim, &node->axes));
    node->keep = a && a->keep;
    node->order = a ? a->order : 2;
    node->correction = a ? a->correction : 0;
    weft_shape result = folded_shape(&shape, node->axes, node->keep, &folded);
    TRY(weft__shape_check(&result, &left));
    if (folded == 0 && left > 0 && !has_neutral(call->operation))
        return CHECK_FAIL(c, call->column, WEFT_ERROR_SHAPE,
                          "%s of no elements: the shape is %.100s and has nothing along an axis",
                          weft__lang_operations[call->operation].name,
                          weft__shape_text_of(&shape).text);
    return weft__check_shape_add(c, &result, &node->shape);
}

/* What a loop folds has a value for each of its points, also if they are all the same. */
static weft_status spread(weft__checker *c, uint32_t column, int32_t *node)
{
    const weft__lang_node *from = &c->program->nodes[*node];
    weft__lang_node repeated =
        weft__check_node(WEFT__NODE_BROADCAST, (weft_dtype)from->dtype, column);
    repeated.argument[0] = *node;
    if (!c->syntax->loop || weft_shape_equal(*weft__check_shape(c, from->shape), c->syntax->points))
        return WEFT_OK;
    TRY(weft__check_shape_add(c, &c->syntax->points, &repeated.shape));
    return weft__check_emit(c, repeated, node);
}

weft_status weft__check_fold(weft__checker *c, const weft__syntax_node *call,
                             weft__check_value *value)
{
    const weft__lang_facts *facts = &weft__lang_operations[call->operation];
    weft__check_value argument = weft__check_argument(c, call, 0);
    weft_dtype dtype = (weft_dtype)argument.dtype, result;
    int32_t points = argument.shape;
    if (c->syntax->loop)
        TRY(weft__check_shape_add(c, &c->syntax->points, &points));
    else if (argument.weak && !argument.open && argument.shape == 0)
        return CHECK_FAIL(c, call->column, WEFT_ERROR_SHAPE, "%s is for arrays, not for a number",
                          facts->name);
    if (!(facts->kinds >> weft__dtype_rank(dtype) & 1))
        return wrong_kind(c, call, dtype);
    TRY(weft__check_close(c, &argument, points, call->column));
    fold_dtypes(facts, &dtype, &result);
    weft__lang_node node = weft__check_node(WEFT__NODE_FOLD, result, call->column);
    node.operation = call->operation;
    TRY(fold_shape(c, call, c->syntax->loop ? points : argument.shape, &node));
    TRY(weft__check_use(c, &argument, dtype, call->column, &node.argument[0]));
    TRY(spread(c, call->column, &node.argument[0]));
    TRY(weft__check_emit(c, node, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}
