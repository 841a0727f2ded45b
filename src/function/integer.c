/* Integers without kernels: subscripts, bounds of loops, conditions. */
#include "function/function.h"
#include "function/number.h"

enum { DEPTH_MAX = 48 };

typedef struct reader {
    weft__running *r;
    weft__function_part *part;
    weft_status *failed; /* of an element that could not be read; NULL: nobody asks */
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
    bool decided = (node->operation == WEFT__LANG_logical_and && !a) ||
                   (node->operation == WEFT__LANG_logical_or && a);
    *value = a != 0;
    return decided ||
           (value_of(x, arguments[1], depth + 1, &b) && apply(node->operation, a, b, value));
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
    weft_status status = weft__held_host(x->r, variable, false, &array);
    if (status == WEFT_OK)
        status = weft__function_address(x->r, x->part, element, array, &address);
    if (status != WEFT_OK && x->failed)
        *x->failed = status;
    if (status != WEFT_OK)
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
    reader x = {r, part, NULL};
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
    if (size == 0)
        return FUNCTION_FAIL(r->function, part->syntax->nodes[node].column, WEFT_ERROR_SHAPE,
                             "subscript %u of '%s' is %lld, and that axis has no elements", k + 1,
                             QUOTE(name.text, name.length), (long long)index);
    return FUNCTION_FAIL(r->function, part->syntax->nodes[node].column, WEFT_ERROR_SHAPE,
                         "subscript %u of '%s' is %lld; 0 to %lld are possible", k + 1,
                         QUOTE(name.text, name.length), (long long)index, (long long)size - 1);
}

/* Whether the condition may be so, as far as it is made of integers. */
static bool may_be(const reader *x, int32_t condition, bool so)
{
    weft_error saved = *weft_error_last();
    int64_t value;
    bool known = value_of(x, condition, 0, &value);
    if (!known)
        weft__error_restore(&saved); /* of an element of its */
    return !known || (value != 0) == so;
}

/* Whether the node is made of the element, and needs it: what is behind && or || or ? is not always
 * looked at. */
static bool needs(const reader *x, int32_t at, int element, int depth)
{
    const weft__lang_syntax *s = x->part->syntax;
    const weft__syntax_node *node = &s->nodes[at];
    const int names = x->part->names_count;
    uint32_t first = node->first, count = node->count;
    if (node->kind == WEFT__SYNTAX_LITERAL || depth > DEPTH_MAX)
        return depth > DEPTH_MAX;
    if (node->kind == WEFT__SYNTAX_OPERAND) {
        if (node->index < names || node->index - names == element)
            return node->index - names == element;
        first = x->part->elements[node->index - names].first;
        count = x->part->elements[node->index - names].count;
    }
    bool calls = node->kind == WEFT__SYNTAX_CALL;
    bool also = calls &&
                (node->operation == WEFT__LANG_logical_and || node->operation == WEFT__LANG_choose);
    bool either = calls && node->operation == WEFT__LANG_logical_or;
    for (uint32_t k = 0; k < count; k++)
        if (needs(x, s->arguments[first + k], element, depth + 1))
            return k == 0 || !(also || either) || may_be(x, s->arguments[first], also && k == 1);
    return false;
}

/* The element that is assigned to is needed, and so is what its subscripts are made of. */
static bool is_needed(weft__running *r, weft__function_part *part, int element)
{
    reader x = {r, part, NULL};
    const int target = part->target - part->names_count;
    bool needed = target == element || needs(&x, part->node, element, 0);
    for (uint32_t k = 0; target >= 0 && !needed && k < part->elements[target].count; k++)
        needed = needs(&x, part->syntax->arguments[part->elements[target].first + k], element, 0);
    return needed;
}

weft_status weft__function_read_address(weft__running *r, weft__function_part *part, int element,
                                        const weft_array *base, char **address)
{
    static char nothing[16];
    weft_error saved = *weft_error_last();
    weft_status status = weft__function_address(r, part, element, base, address);
    if (status != WEFT_ERROR_SHAPE || is_needed(r, part, element))
        return status;
    weft__error_restore(&saved);
    *address = nothing;
    return WEFT_OK;
}

weft_status weft__function_address(weft__running *r, weft__function_part *part, int element,
                                   const weft_array *base, char **address)
{
    weft_status failed = WEFT_OK;
    reader x = {r, part, &failed};
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
        if (!value_of(&x, part->syntax->arguments[e->first + k], 0, &index))
            return failed != WEFT_OK ? failed : fail_subscript(r, part, element, k);
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
