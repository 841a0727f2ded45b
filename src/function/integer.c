/* Integers without kernels: subscripts, bounds of loops, conditions. */
#include "function/function.h"
#include "function/number.h"

enum { DEPTH_MAX = 48 };

typedef struct reader {
    weft__running *r;
    weft__function_part *part;
} reader;

static bool value_of(const reader *x, int32_t node, int depth, int64_t *value);

/* What C leaves open is as in kernels. */
static bool apply(uint8_t operation, int64_t a, int64_t b, int64_t *value)
{
    switch (operation) {
    case WEFT__LANG_add:
        *value = (int64_t)((uint64_t)a + (uint64_t)b);
        return true;
    case WEFT__LANG_subtract:
        *value = (int64_t)((uint64_t)a - (uint64_t)b);
        return true;
    case WEFT__LANG_multiply:
        *value = (int64_t)((uint64_t)a * (uint64_t)b);
        return true;
    case WEFT__LANG_divide:
        *value = b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
        return true;
    case WEFT__LANG_modulo:
        *value = b == 0 ? a : b == -1 ? 0 : a % b;
        return true;
    case WEFT__LANG_less:
        *value = a < b;
        return true;
    case WEFT__LANG_less_equal:
        *value = a <= b;
        return true;
    case WEFT__LANG_greater:
        *value = a > b;
        return true;
    case WEFT__LANG_greater_equal:
        *value = a >= b;
        return true;
    case WEFT__LANG_equal:
        *value = a == b;
        return true;
    case WEFT__LANG_not_equal:
        *value = a != b;
        return true;
    case WEFT__LANG_logical_and:
        *value = a && b;
        return true;
    case WEFT__LANG_logical_or:
        *value = a || b;
        return true;
    default:
        return false;
    }
}

static bool apply_one(uint8_t operation, int64_t a, int64_t *value)
{
    *value = operation == WEFT__LANG_negative   ? (int64_t)(0 - (uint64_t)a)
             : operation == WEFT__LANG_positive ? a
                                                : !a;
    return operation == WEFT__LANG_negative || operation == WEFT__LANG_positive ||
           operation == WEFT__LANG_logical_not;
}

static bool call_of(const reader *x, const weft__syntax_node *node, int depth, int64_t *value)
{
    const int32_t *arguments = x->part->syntax->arguments + node->first;
    int64_t a = 0, b = 0;
    if (node->count < 1 || node->count > 2 || !value_of(x, arguments[0], depth + 1, &a))
        return false;
    if (node->count == 1)
        return apply_one(node->operation, a, value);
    return value_of(x, arguments[1], depth + 1, &b) && apply(node->operation, a, b, value);
}

/* An element that is an integer. */
static bool element_of(const reader *x, int element, int64_t *value)
{
    int32_t variable = x->part->elements[element].variable;
    const weft__held *held = &x->r->held[variable];
    weft_array *array;
    char *address;
    if (held->holding != WEFT__ARRAY || weft__held_any(held)->dtype > WEFT_U64)
        return false;
    if (weft__held_host(x->r, variable, false, &array) != WEFT_OK ||
        weft__function_address(x->r, x->part, element, array, &address) != WEFT_OK)
        return false;
    weft_operand number = weft__number_load(address, (weft_dtype)array->dtype);
    return weft__number_integer(&number, value);
}

static bool value_of(const reader *x, int32_t at, int depth, int64_t *value)
{
    const weft__syntax_node *node = &x->part->syntax->nodes[at];
    if (depth > DEPTH_MAX)
        return false;
    if (node->kind == WEFT__SYNTAX_CALL)
        return call_of(x, node, depth, value);
    if (node->kind == WEFT__SYNTAX_LITERAL) {
        bool fits = node->weak && node->dtype <= WEFT_I64 && node->value.integer <= INT64_MAX;
        *value = node->negative ? -(int64_t)(node->value.integer & INT64_MAX)
                                : (int64_t)(node->value.integer & INT64_MAX);
        return fits;
    }
    if (node->kind != WEFT__SYNTAX_OPERAND)
        return false;
    if (node->index >= x->part->names_count)
        return element_of(x, node->index - x->part->names_count, value);
    const weft__held *held = &x->r->held[x->part->variables[node->index]];
    return held->holding == WEFT__NUMBER && weft__number_integer(&held->number, value);
}

bool weft__function_integer(weft__running *r, weft__function_part *part, int32_t node,
                            int64_t *value)
{
    reader x = {r, part};
    return value_of(&x, node, 0, value);
}

static weft_status fail_subscript(weft__running *r, weft__function_part *part, int element,
                                  uint32_t k)
{
    const weft__function_element *e = &part->elements[element];
    int32_t node = part->syntax->arguments[e->first + k];
    weft__lang_name name = r->function->variables[e->variable].name;
    return FUNCTION_FAIL(r->function, part->syntax->nodes[node].column, WEFT_ERROR_UNSUPPORTED,
                         "a subscript of '%s' is made of integers by + - * / %% and comparisons; "
                         "compute this one in a variable before",
                         QUOTE(name.text, name.length));
}

static weft_status fail_range(weft__running *r, weft__function_part *part, int element, uint32_t k,
                              int64_t index, int64_t size)
{
    const weft__function_element *e = &part->elements[element];
    int32_t node = part->syntax->arguments[e->first + k];
    weft__lang_name name = r->function->variables[e->variable].name;
    return FUNCTION_FAIL(r->function, part->syntax->nodes[node].column, WEFT_ERROR_SHAPE,
                         "subscript %u of '%s' is %lld; 0 to %lld are possible", k + 1,
                         QUOTE(name.text, name.length), (long long)index, (long long)size - 1);
}

weft_status weft__function_address(weft__running *r, weft__function_part *part, int element,
                                   const weft_array *base, char **address)
{
    const weft__function_element *e = &part->elements[element];
    bool linear = e->count == 1 && base->shape.ndim != 1;
    if (!linear && (int)e->count != base->shape.ndim) {
        weft__lang_name name = r->function->variables[e->variable].name;
        return FUNCTION_FAIL(r->function, e->column, WEFT_ERROR_SHAPE,
                             "%u subscripts are given for '%s', which has %d dimensions", e->count,
                             QUOTE(name.text, name.length), base->shape.ndim);
    }
    *address = base->data;
    for (uint32_t k = 0; k < e->count; k++) {
        int64_t index, size = linear ? weft__array_count(base) : base->shape.size[k];
        if (!weft__function_integer(r, part, part->syntax->arguments[e->first + k], &index))
            return fail_subscript(r, part, element, k);
        if (index < 0 || index >= size)
            return fail_range(r, part, element, k, index, size);
        if (!linear)
            *address += index * base->stride[k];
        for (int axis = base->shape.ndim - 1; linear && axis >= 0; axis--) {
            *address += index % base->shape.size[axis] * base->stride[axis];
            index /= base->shape.size[axis];
        }
    }
    return WEFT_OK;
}
