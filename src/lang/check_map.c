/* Operations element by element: common dtypes, kinds, and operators that others stand for. */
#include "lang/check.h"
#include "lang/lexer.h"

/* What the user wrote: an operator's sign or a function's name. */
static weft__lang_quoted written(const weft__checker *c, uint32_t column)
{
    weft__lang_name code = c->syntax->code;
    weft__lexer lexer = {code.text, (uint32_t)code.length, column};
    weft__token token = weft__lex(&lexer);
    return weft__lang_quote(code.text + token.at, token.length);
}

static weft_status no_common(weft__checker *c, uint32_t column, weft_dtype a, bool a_weak,
                             weft_dtype b, bool b_weak)
{
    weft_dtype typed = a_weak ? b : a;
    const weft__lang_quoted sign = written(c, column);
    const bool compares =
        (sign.text[0] == '<' || sign.text[0] == '>') && sign.text[1] != sign.text[0];
    if (typed == WEFT_BOOL && (a_weak || b_weak) && compares)
        return CHECK_FAIL(c, column, WEFT_ERROR_DTYPE,
                          "'%s' compares a bool with a number; cast the bool, as in i32(...); what "
                          "lies between two is low < x && x < high",
                          sign.text);
    if (a_weak || b_weak)
        return CHECK_FAIL(
            c, column, WEFT_ERROR_DTYPE, "'%s': %s does not become %s; cast the %s, as in %s(...)",
            sign.text, weft__check_type_name(a_weak ? a : b, true), weft_dtype_name(typed),
            typed == WEFT_BOOL ? "bool" : "integers", typed == WEFT_BOOL ? "i32" : "f64");
    return CHECK_FAIL(c, column, WEFT_ERROR_DTYPE,
                      "'%s': %s and %s have no common dtype; cast one of them, as in %s(...)",
                      sign.text, weft_dtype_name(a), weft_dtype_name(b),
                      weft_dtype_name(weft__dtype_rank(a) > weft__dtype_rank(b) ? a : b));
}

static weft_status wrong_kind(weft__checker *c, weft__lang_operation operation, uint32_t column,
                              weft_dtype dtype, bool weak)
{
    const weft__lang_facts *facts = &weft__lang_operations[operation];
    bool floats = weft__dtype_rank(dtype) == WEFT__RANK_FLOAT;
    const char *advice = operation == WEFT__LANG_modulo && floats        ? "; use fmod"
                         : operation == WEFT__LANG_bitwise_xor && floats ? "; a power is pow(x, y)"
                                                                         : "; cast first";
    if (weft__dtype_rank(dtype) == WEFT__RANK_COMPLEX)
        advice = "; use abs, real or imag first";
    return CHECK_FAIL(c, column, WEFT_ERROR_DTYPE, "'%s' is for %s, not %s%s",
                      written(c, column).text, weft__check_kinds_name(facts->kinds),
                      weft__check_type_name(dtype, weak), advice);
}

static weft_status common_dtype(weft__checker *c, uint32_t column,
                                const weft__check_value *arguments, int count, weft_dtype *dtype,
                                bool *weak)
{
    *dtype = (weft_dtype)arguments[0].dtype;
    *weak = arguments[0].weak;
    for (int i = 1; i < count; i++) {
        weft_dtype before = *dtype;
        bool before_weak = *weak;
        if (!weft__check_combine(dtype, weak, (weft_dtype)arguments[i].dtype, arguments[i].weak))
            return no_common(c, column, before, before_weak, (weft_dtype)arguments[i].dtype,
                             arguments[i].weak);
    }
    return WEFT_OK;
}

static weft_dtype result_dtype(weft__lang_result result, weft_dtype common)
{
    switch (result) {
    case WEFT__RESULT_BOOLEAN:
        return WEFT_BOOL;
    case WEFT__RESULT_REAL:
        return weft__check_real(common);
    default:
        return common;
    }
}

/* Emits the operation on arguments that become `common`. Where all are weak, what does not fit is
 * cut, as in C. */
static weft_status emit_map(weft__checker *c, weft__lang_node node, weft_dtype common, bool weak,
                            const weft__check_value *arguments, int count, weft__check_value *value)
{
    for (int i = 0; i < count; i++) {
        const bool condition = node.operation == WEFT__LANG_where && i == 0;
        TRY((weak ? weft__check_become : weft__check_use)(
            c, &arguments[i], condition ? WEFT_BOOL : common, node.column, &node.argument[i]));
        TRY(weft__check_broadcast(c, node.shape, c->program->nodes[node.argument[i]].shape,
                                  node.column, &node.shape));
    }
    TRY(weft__check_emit(c, node, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

static weft_status apply_select(weft__checker *c, weft__lang_operation operation, uint32_t column,
                                const weft__check_value *arguments, weft__check_value *value)
{
    weft_dtype common;
    bool weak;
    TRY(common_dtype(c, column, arguments + 1, 2, &common, &weak));
    if (operation == WEFT__LANG_where && arguments[0].dtype != WEFT_BOOL)
        return CHECK_FAIL(c, column, WEFT_ERROR_DTYPE,
                          "the condition of where is bool, not %s; compare, as in x != 0",
                          weft__check_type_name((weft_dtype)arguments[0].dtype, arguments[0].weak));
    weft__lang_node node = weft__check_node(WEFT__NODE_MAP, common, column);
    node.operation = WEFT__LANG_where;
    node.weak = weak && arguments[0].weak;
    return emit_map(c, node, common, weak, arguments, 3, value);
}

/* Operators that are written with others, once the arguments are there. */
static weft__lang_operation plain_operation(weft__lang_operation operation)
{
    switch (operation) {
    case WEFT__LANG_logical_and:
        return WEFT__LANG_bitwise_and;
    case WEFT__LANG_logical_or:
        return WEFT__LANG_bitwise_or;
    case WEFT__LANG_logical_not:
        return WEFT__LANG_bitwise_not;
    case WEFT__LANG_greater:
        return WEFT__LANG_less;
    case WEFT__LANG_greater_equal:
        return WEFT__LANG_less_equal;
    default:
        return operation;
    }
}

static weft_status apply_logic(weft__checker *c, weft__lang_operation operation, uint32_t column,
                               const weft__check_value *arguments, int count,
                               weft__check_value *value)
{
    weft__lang_node node = weft__check_node(WEFT__NODE_MAP, WEFT_BOOL, column);
    node.operation = (uint8_t)plain_operation(operation);
    node.weak = true;
    for (int i = 0; i < count; i++)
        node.weak &= arguments[i].weak || c->syntax->loop;
    return emit_map(c, node, WEFT_BOOL, node.weak, arguments, count, value);
}

/* +x is x; an untyped bool becomes an integer. */
static weft_status apply_positive(weft__checker *c, uint32_t column, weft_dtype common,
                                  const weft__check_value *x, weft__check_value *value)
{
    *value = *x;
    if (x->dtype == common)
        return WEFT_OK;
    TRY(weft__check_use(c, x, common, column, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

static weft_status apply_common(weft__checker *c, weft__lang_operation operation, uint32_t column,
                                const weft__check_value *arguments, int count,
                                weft__check_value *value)
{
    const weft__lang_facts *facts = &weft__lang_operations[operation];
    bool swapped = operation == WEFT__LANG_greater || operation == WEFT__LANG_greater_equal;
    weft__check_value other_way[2] = {arguments[count - 1], arguments[0]};
    weft_dtype common;
    bool weak;
    TRY(common_dtype(c, column, arguments, count, &common, &weak));
    if (!weft__check_kind(&common, weak, facts->kinds))
        return wrong_kind(c, operation, column, common, weak);
    if (operation == WEFT__LANG_positive)
        return apply_positive(c, column, common, arguments, value);
    weft__lang_node node = weft__check_node(WEFT__NODE_MAP, WEFT_BOOL, column);
    node.operation = (uint8_t)plain_operation(operation);
    node.dtype = (uint8_t)result_dtype((weft__lang_result)facts->result, common);
    node.weak = weak || (c->syntax->loop && facts->result == WEFT__RESULT_BOOLEAN);
    return emit_map(c, node, common, weak, swapped ? other_way : arguments, count, value);
}

weft_status weft__check_apply(weft__checker *c, weft__lang_operation operation, uint32_t column,
                              const weft__check_value *arguments, int count,
                              weft__check_value *value)
{
    switch (operation) {
    case WEFT__LANG_where:
    case WEFT__LANG_choose:
        return apply_select(c, operation, column, arguments, value);
    case WEFT__LANG_logical_and:
    case WEFT__LANG_logical_or:
    case WEFT__LANG_logical_not:
        return apply_logic(c, operation, column, arguments, count, value);
    default:
        return apply_common(c, operation, column, arguments, count, value);
    }
}

weft_status weft__check_map(weft__checker *c, const weft__syntax_node *call,
                            weft__check_value *value)
{
    weft__check_value arguments[3];
    for (uint32_t k = 0; k < call->count; k++)
        arguments[k] = weft__check_argument(c, call, k);
    for (int k = 1; call->negative && k < 3; k++)
        TRY(weft__check_loosen(c, call->column, &arguments[k]));
    if (call->negative &&
        (arguments[1].dtype != arguments[2].dtype || arguments[1].weak != arguments[2].weak))
        return CHECK_FAIL(c, call->column, WEFT_ERROR_DTYPE,
                          "a variable is %s or %s here; declare it",
                          weft__check_type_name((weft_dtype)arguments[1].dtype, arguments[1].weak),
                          weft__check_type_name((weft_dtype)arguments[2].dtype, arguments[2].weak));
    return weft__check_apply(c, (weft__lang_operation)call->operation, call->column, arguments,
                             (int)call->count, value);
}
