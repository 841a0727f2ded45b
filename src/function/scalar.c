/* Parts of numbers and elements, computed at once on the host by the interpreter: one point. */
#include "function/function.h"
#include "function/number.h"
#include <string.h>

bool weft__function_has_arrays(const weft__running *r, const weft__function_part *part)
{
    for (int i = 0; i < part->names_count; i++)
        if (part->whole[i] && r->held[part->variables[i]].holding == WEFT__ARRAY)
            return true;
    return false;
}

static weft_status fail_unset(weft__running *r, const weft__function_part *part, int name)
{
    uint32_t column = part->begin;
    for (uint32_t i = part->syntax->nodes_count; i-- > 0;)
        if (part->syntax->nodes[i].kind == WEFT__SYNTAX_OPERAND &&
            part->syntax->nodes[i].index == name)
            column = part->syntax->nodes[i].column;
    weft__lang_name text = part->syntax->names[name];
    return FUNCTION_FAIL(r->function, column, WEFT_ERROR_ARGUMENT, "'%s' is read before it is set",
                         QUOTE(text.text, text.length));
}

static void type_of_array(const weft__held *held, bool element, weft__lang_operand *type)
{
    const weft_array *array = weft__held_any(held);
    type->tag = (uint8_t)(held->input ? WEFT_OPERAND_INPUT : WEFT_OPERAND_ARRAY);
    type->dtype = array->dtype;
    if (!element)
        type->shape = array->shape;
}

weft_status weft__function_types(weft__running *r, const weft__function_part *part, bool as_value,
                                 weft__lang_operand *types, weft_operand *operands)
{
    int count = part->syntax->names_count;
    memset(types, 0, (size_t)count * sizeof *types);
    for (int i = 0; i < part->names_count; i++) {
        const weft__held *held = &r->held[part->variables[i]];
        bool array = held->holding == WEFT__ARRAY;
        if (held->holding == WEFT__UNSET && part->whole[i])
            return fail_unset(r, part, i);
        types[i].tag = WEFT_OPERAND_NUMBER;
        types[i].dtype = WEFT_I64;
        operands[i] = (weft_operand){.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
        if (array && (part->whole[i] || (!as_value && i == part->target)))
            type_of_array(held, false, &types[i]);
        else if (held->holding == WEFT__NUMBER) {
            operands[i] = held->number;
            types[i].dtype = (uint8_t)held->number.dtype;
            types[i].typed = held->typed;
            types[i].computed = held->computed;
        }
    }
    for (int k = 0; k < part->elements_count; k++) {
        const weft__function_element *e = &part->elements[k];
        weft__lang_name name = r->function->variables[e->variable].name;
        if (r->held[e->variable].holding != WEFT__ARRAY)
            return FUNCTION_FAIL(r->function, e->column, WEFT_ERROR_ARGUMENT,
                                 "'%s' is %s and has no elements", QUOTE(name.text, name.length),
                                 r->held[e->variable].holding == WEFT__NUMBER ? "a number"
                                                                              : "not set");
        type_of_array(&r->held[e->variable], true, &types[part->names_count + k]);
    }
    return WEFT_OK;
}

static uint64_t scalar_of(const weft_operand *operands, const weft__lowered *lowered, uint32_t i)
{
    uint64_t bits;
    if (lowered->scalars[i] < 0)
        return lowered->numbers[-1 - lowered->scalars[i]];
    const weft_operand *number = &operands[lowered->scalars[i] / 2];
    bool is_complex = number->dtype == WEFT_C64 || number->dtype == WEFT_C128;
    const double *part = &number->value.complex_[lowered->scalars[i] % 2];
    memcpy(&bits, is_complex ? (const void *)part : (const void *)&number->value, sizeof bits);
    return bits;
}

static weft_status fill_arguments(weft__running *r, weft__function_part *part,
                                  const weft__function_version *v, void *value)
{
    const weft__lowered *lowered = &v->evaluation->kernels[0];
    weft__argument *arguments = weft__launch_arguments(v->launch);
    for (uint32_t i = 0; i < lowered->operands_count; i++) {
        int element = (int)lowered->operands[i] - part->names_count;
        weft_array *array;
        arguments[i].data = value;
        if (lowered->operands[i] == WEFT__PLACE_VALUE)
            continue;
        TRY(weft__held_host(r, part->elements[element].variable, false, &array));
        TRY(weft__function_read_address(r, part, element, array, &arguments[i].data));
    }
    return WEFT_OK;
}

static bool is_truth(uint8_t operation)
{
    switch (operation) {
    case WEFT__LANG_less:
    case WEFT__LANG_less_equal:
    case WEFT__LANG_greater:
    case WEFT__LANG_greater_equal:
    case WEFT__LANG_equal:
    case WEFT__LANG_not_equal:
    case WEFT__LANG_logical_and:
    case WEFT__LANG_logical_or:
    case WEFT__LANG_logical_not:
        return true;
    default:
        return false;
    }
}

/* Integers of variables and literals need no kernel. */
static bool integer_value(weft__running *r, weft__function_part *part, weft_operand *value)
{
    const weft__syntax_node *node = &part->syntax->nodes[part->node];
    int64_t integer;
    bool call = node->kind == WEFT__SYNTAX_CALL;
    if (!part->integer || part->elements_count ||
        !weft__function_integer(r, part, part->node, &integer))
        return false;
    *value = (weft_operand){.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    if ((call && is_truth(node->operation)) ||
        (node->kind == WEFT__SYNTAX_LITERAL && node->dtype == WEFT_BOOL))
        value->dtype = WEFT_BOOL;
    if (node->kind == WEFT__SYNTAX_OPERAND)
        value->dtype = r->held[part->variables[node->index]].number.dtype;
    value->value.i = integer;
    return true;
}

/* Elements that share memory are not written. */
static weft_status check_target(weft__running *r, const weft__function_part *part)
{
    int32_t variable = part->elements[part->target - part->names_count].variable;
    const weft__held *held = &r->held[variable];
    weft__lang_name name = r->function->variables[variable].name;
    if (held->holding != WEFT__ARRAY || !weft__held_any(held)->overlapping)
        return WEFT_OK;
    return weft__array_check_output(weft__held_any(held), QUOTE(name.text, name.length));
}

weft_status weft__function_scalar(weft__running *r, weft__function_part *part, weft_operand *value,
                                  bool *typed)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    weft_operand operands[WEFT__LANG_OPERANDS_MAX];
    weft__function_version *v;
    _Alignas(16) char memory[16];
    bool as_value = part->target < part->names_count;
    *typed = false;
    if (as_value && integer_value(r, part, value))
        return WEFT_OK;
    if (!as_value)
        TRY(check_target(r, part));
    TRY(weft__function_types(r, part, as_value, types, operands));
    TRY(weft__function_version_get(r->function, part, types, as_value, true, &v));
    TRY(fill_arguments(r, part, v, memory));
    const weft__lowered *lowered = &v->evaluation->kernels[0];
    uint64_t *scalars =
        (uint64_t *)(void *)(weft__launch_arguments(v->launch) + v->launch->arguments_count);
    for (uint32_t i = 0; i < lowered->scalars_count; i++)
        scalars[i] = scalar_of(operands, lowered, i);
    v->image.entry(v->image.program, v->launch, 0, 1);
    if (!as_value) {
        weft__held_wrote(r, part->elements[part->target - part->names_count].variable, false);
        return WEFT_OK;
    }
    const weft__lang_program *program = v->evaluation->program;
    const weft__lang_node *node = &program->nodes[program->value];
    if (node->dtype == WEFT_F16 || node->dtype == WEFT_BF16)
        return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_DTYPE,
                             "variables hold no %s; cast it, as in f32(...)",
                             weft_dtype_name((weft_dtype)node->dtype));
    *value = weft__number_load(memory, (weft_dtype)node->dtype);
    *typed = !node->weak && node->dtype > WEFT_U64; /* integers of variables are untyped */
    return WEFT_OK;
}
