/* Parts of serial loops: the kernels that they have for one point each, put behind one another.
 * Elements are found by positions that are checked, and variables are values. */
#include "core/allocate.h"
#include "function/number.h"
#include "function/serial.h"
#include <string.h>

static int32_t element_value(weft__serial *s, const weft__function_part *part, int element);
static int32_t integer(weft__serial *s, const weft__function_part *part, int32_t node, int depth);

static int32_t truth(weft__serial *s, int32_t a)
{
    return weft__build(&s->builder, WEFT__OP_ne, WEFT_BOOL, a,
                       weft__build_constant(&s->builder, WEFT_I64, 0), 0);
}

static const weft__value *value_at(const weft__serial *s, int32_t value)
{
    return &s->builder.kernel.values[value];
}

weft_dtype weft__serial_kept(uint8_t dtype)
{
    return dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_BOOL || dtype == WEFT_U64
               ? (weft_dtype)dtype
               : WEFT_I64;
}

int32_t weft__serial_and(weft__serial *s, int32_t a, int32_t b)
{
    return a < 0 ? b : b < 0 ? a : weft__build(&s->builder, WEFT__OP_and, WEFT_BOOL, a, b, 0);
}

int32_t weft__serial_not(weft__serial *s, int32_t a)
{
    return weft__build(&s->builder, WEFT__OP_not, WEFT_BOOL, a, 0, 0);
}

/* A float that was widened becomes what it was. */
int32_t weft__serial_cast(weft__serial *s, weft_dtype dtype, int32_t a)
{
    const weft__value *from = value_at(s, a);
    if ((weft_dtype)from->dtype == dtype)
        return a;
    if (from->op == WEFT__OP_cast && from->dtype == WEFT_F64 && dtype == WEFT_F32 &&
        value_at(s, from->argument[0])->dtype == WEFT_F32)
        return from->argument[0];
    return weft__build(&s->builder, WEFT__OP_cast, dtype, a, 0, 0);
}

int32_t weft__serial_scalar_of(weft__serial *s, weft__serial_input kind, int32_t index, int axis,
                               weft_dtype dtype)
{
    for (int k = 0; k < s->scalars_count; k++)
        if (s->scalars[k].kind == kind && s->scalars[k].index == index &&
            s->scalars[k].axis == axis)
            return s->scalars[k].value;
    if (s->scalars_count == WEFT__SERIAL_SCALARS)
        return weft__serial_refuse(s);
    const int32_t value = weft__build_scalar(&s->builder, dtype);
    s->scalars[s->scalars_count++] =
        (weft__serial_scalar){(uint8_t)kind, (int8_t)axis, index, value};
    return value;
}

static int32_t variable_value(weft__serial *s, int32_t variable)
{
    weft__serial_variable *v = &s->variables[variable];
    return v->set && v->value >= 0 ? v->value : weft__serial_refuse(s);
}

int weft__serial_operand(weft__serial *s, int32_t variable)
{
    const weft_array *array = weft__held_any(&s->r->held[variable]);
    for (int k = 0; k < s->arrays_count; k++)
        if (s->arrays[k] == variable)
            return k;
    if (s->arrays_count == WEFT__SERIAL_ARRAYS || array->dtype == WEFT_BOOL ||
        array->dtype == WEFT_F16 || array->dtype == WEFT_BF16 ||
        weft__number_is_complex(array->dtype))
        return weft__serial_refuse(s);
    s->arrays[s->arrays_count] = variable;
    weft__build_operand(&s->builder, (weft_dtype)array->dtype, true);
    return s->arrays_count++;
}

/* The subscript, or 0 and a note if it is out of range where it is needed. */
static int32_t checked(weft__serial *s, int32_t index, int32_t size, int32_t needed)
{
    weft__builder *b = &s->builder;
    int32_t inside = weft__build(b, WEFT__OP_lt, WEFT_BOOL, weft__serial_cast(s, WEFT_U64, index),
                                 weft__serial_cast(s, WEFT_U64, size), 0);
    int32_t fine =
        needed < 0 ? inside
                   : weft__build(b, WEFT__OP_or, WEFT_BOOL, inside, weft__serial_not(s, needed), 0);
    s->inside = weft__serial_and(s, s->inside, fine);
    return weft__build(b, WEFT__OP_select, WEFT_I64, inside, index,
                       weft__build_constant(b, WEFT_I64, 0));
}

static bool is_integer_value(const weft__serial *s, const weft__function_part *part, int32_t at,
                             int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[at];
    if (n->kind == WEFT__SYNTAX_LITERAL)
        return n->weak && n->dtype <= WEFT_I64;
    if (n->kind == WEFT__SYNTAX_OPERAND && n->index >= part->names_count) {
        const weft__held *held = &s->r->held[part->elements[n->index - part->names_count].variable];
        return held->holding == WEFT__ARRAY && weft__held_any(held)->dtype < WEFT_U64;
    }
    if (n->kind == WEFT__SYNTAX_OPERAND)
        return s->variables[part->variables[n->index]].dtype < WEFT_U64;
    bool integers = n->kind == WEFT__SYNTAX_CALL && depth < 32;
    for (uint32_t k = 0; k < n->count && integers; k++)
        integers = is_integer_value(s, part, part->syntax->arguments[n->first + k], depth + 1);
    return integers;
}

/* Bool: the condition may be so, as far as it is made of integers; -1: always, as in integer.c. */
static int32_t may_be(weft__serial *s, const weft__function_part *part, int32_t at, bool so)
{
    const weft__syntax_node *n = &part->syntax->nodes[at];
    const int32_t *arguments = part->syntax->arguments + n->first;
    bool calls = n->kind == WEFT__SYNTAX_CALL;
    bool both = calls && n->operation == WEFT__LANG_logical_and;
    bool either = calls && n->operation == WEFT__LANG_logical_or;
    if (calls && n->operation == WEFT__LANG_logical_not)
        return may_be(s, part, arguments[0], !so);
    if (both || either) {
        int32_t a = may_be(s, part, arguments[0], so), b = may_be(s, part, arguments[1], so);
        if (both == so)
            return weft__serial_and(s, a, b);
        return a < 0 || b < 0 ? -1 : weft__build(&s->builder, WEFT__OP_or, WEFT_BOOL, a, b, 0);
    }
    if (!is_integer_value(s, part, at, 0))
        return -1;
    int32_t value = truth(s, integer(s, part, at, 0));
    return so ? value : weft__serial_not(s, value);
}

/* Whether the node is made of the element, and when it needs it: -1 if always. */
static bool find_needed(weft__serial *s, const weft__function_part *part, int32_t at, int element,
                        int depth, int32_t *needed)
{
    const weft__syntax_node *n = &part->syntax->nodes[at];
    const int inner = n->kind == WEFT__SYNTAX_OPERAND ? n->index - part->names_count : -1;
    uint32_t first = n->first, count = n->count;
    *needed = -1;
    if (n->kind == WEFT__SYNTAX_LITERAL || depth > 32 ||
        (n->kind == WEFT__SYNTAX_OPERAND && inner < 0))
        return false;
    if (inner >= 0) {
        first = part->elements[inner].first;
        count = part->elements[inner].count;
    }
    bool found = inner == element;
    for (uint32_t k = 0; k < count && !found; k++) {
        found =
            find_needed(s, part, part->syntax->arguments[first + k], element, depth + 1, needed);
        if (!found || k == 0 || n->kind != WEFT__SYNTAX_CALL)
            continue;
        bool also = n->operation == WEFT__LANG_logical_and || n->operation == WEFT__LANG_choose;
        if (also || n->operation == WEFT__LANG_logical_or)
            *needed = weft__serial_and(
                s, may_be(s, part, part->syntax->arguments[first], also && k == 1), *needed);
    }
    return found;
}

/* Bool: the part looks at the element; -1: it always does. */
static int32_t needed_when(weft__serial *s, const weft__function_part *part, int element)
{
    int32_t needed;
    find_needed(s, part, part->node, element, 0, &needed);
    return part->target == part->names_count + element ? -1 : needed;
}

int32_t weft__serial_count(weft__serial *s, int operand, int ndim)
{
    int32_t count = weft__build_constant(&s->builder, WEFT_I64, 1);
    for (int k = 0; k < ndim && !s->refused; k++)
        count = weft__build(&s->builder, WEFT__OP_mul, WEFT_I64, count,
                            weft__serial_scalar_of(s, WEFT__INPUT_SIZE, operand, k, WEFT_I64), 0);
    return count;
}

/* The first element of a task's own array. */
static int32_t private_first(weft__serial *s, int operand, int ndim)
{
    const int32_t count = weft__serial_count(s, operand, ndim);
    return s->refused ? 0 : weft__build(&s->builder, WEFT__OP_mul, WEFT_I64, s->point, count, 0);
}

/* Where an element is, in elements from the first one. */
static int32_t position(weft__serial *s, const weft__function_part *part, int element, int *operand)
{
    const weft__function_element *e = &part->elements[element];
    weft__builder *b = &s->builder;
    if (s->r->held[e->variable].holding != WEFT__ARRAY)
        return weft__serial_refuse(s);
    const weft_array *array = weft__held_any(&s->r->held[e->variable]);
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    int32_t sum = -1, needed = needed_when(s, part, element);
    *operand = weft__serial_operand(s, e->variable);
    if (s->point >= 0 && s->private[e->variable] && !s->refused)
        sum = private_first(s, *operand, array->shape.ndim);
    if ((int)e->count != array->shape.ndim) /* a position in C order */
        return weft__serial_refuse(s);
    for (uint32_t k = 0; k < e->count && !s->refused; k++) {
        int32_t index = integer(s, part, part->syntax->arguments[e->first + k], 0);
        int32_t size = weft__serial_scalar_of(s, WEFT__INPUT_SIZE, *operand, (int)k, WEFT_I64);
        if (s->refused)
            break;
        int32_t term = checked(s, index, size, needed);
        if (s->point >= 0 || array->stride[k] != bytes) /* is compared before it is used again */
            term = weft__build(
                b, WEFT__OP_mul, WEFT_I64, term,
                weft__serial_scalar_of(s, WEFT__INPUT_STRIDE, *operand, (int)k, WEFT_I64), 0);
        sum = sum < 0 ? term : weft__build(b, WEFT__OP_add, WEFT_I64, sum, term, 0);
    }
    return sum;
}

static int32_t element_value(weft__serial *s, const weft__function_part *part, int element)
{
    int operand;
    int32_t at = position(s, part, element, &operand);
    return s->refused ? 0 : weft__build_gather(&s->builder, operand, at).part[0];
}

static int32_t binary(weft__serial *s, uint8_t operation, int32_t a, int32_t b)
{
    static const struct {
        uint8_t operation, op;
        bool compares, swapped;
    } table[] = {{WEFT__LANG_add, WEFT__OP_add, false, false},
                 {WEFT__LANG_subtract, WEFT__OP_sub, false, false},
                 {WEFT__LANG_multiply, WEFT__OP_mul, false, false},
                 {WEFT__LANG_divide, WEFT__OP_div, false, false},
                 {WEFT__LANG_modulo, WEFT__OP_rem, false, false},
                 {WEFT__LANG_less, WEFT__OP_lt, true, false},
                 {WEFT__LANG_less_equal, WEFT__OP_le, true, false},
                 {WEFT__LANG_greater, WEFT__OP_lt, true, true},
                 {WEFT__LANG_greater_equal, WEFT__OP_le, true, true},
                 {WEFT__LANG_equal, WEFT__OP_eq, true, false},
                 {WEFT__LANG_not_equal, WEFT__OP_ne, true, false},
                 {WEFT__LANG_logical_and, WEFT__OP_and, true, false},
                 {WEFT__LANG_logical_or, WEFT__OP_or, true, false}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        if (table[k].operation != operation)
            continue;
        bool logical = table[k].op == WEFT__OP_and || table[k].op == WEFT__OP_or;
        int32_t x = logical ? truth(s, a) : a, y = logical ? truth(s, b) : b;
        weft_dtype dtype = table[k].compares ? WEFT_BOOL : WEFT_I64;
        int32_t made = weft__build(&s->builder, (weft__op)table[k].op, dtype,
                                   table[k].swapped ? y : x, table[k].swapped ? x : y, 0);
        return weft__serial_cast(s, WEFT_I64, made);
    }
    return weft__serial_refuse(s);
}

static int32_t call(weft__serial *s, const weft__function_part *part, const weft__syntax_node *n,
                    int depth)
{
    const int32_t *arguments = part->syntax->arguments + n->first;
    if (n->count < 1 || n->count > 2)
        return weft__serial_refuse(s);
    int32_t a = integer(s, part, arguments[0], depth + 1);
    if (n->count == 2) {
        int32_t b = integer(s, part, arguments[1], depth + 1);
        return s->refused ? 0 : binary(s, n->operation, a, b);
    }
    if (s->refused || n->operation == WEFT__LANG_positive)
        return a;
    if (n->operation == WEFT__LANG_negative)
        return weft__build(&s->builder, WEFT__OP_neg, WEFT_I64, a, 0, 0);
    if (n->operation != WEFT__LANG_logical_not)
        return weft__serial_refuse(s);
    return weft__serial_cast(s, WEFT_I64, weft__serial_not(s, truth(s, a)));
}

/* An integer, as integer.c computes it. */
static int32_t integer(weft__serial *s, const weft__function_part *part, int32_t node, int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[node];
    int32_t value = 0;
    if (depth > 32 || s->refused)
        return weft__serial_refuse(s);
    if (n->kind == WEFT__SYNTAX_CALL)
        return call(s, part, n, depth);
    if (n->kind == WEFT__SYNTAX_LITERAL) {
        if (!n->weak || n->dtype > WEFT_I64 || n->value.integer > INT64_MAX)
            return weft__serial_refuse(s);
        uint64_t bits = n->negative ? 0 - n->value.integer : n->value.integer;
        return weft__build_constant(&s->builder, WEFT_I64, bits);
    }
    if (n->kind != WEFT__SYNTAX_OPERAND)
        return weft__serial_refuse(s);
    value = n->index < part->names_count ? variable_value(s, part->variables[n->index])
                                         : element_value(s, part, n->index - part->names_count);
    if (s->refused)
        return 0;
    weft_dtype dtype = (weft_dtype)value_at(s, value)->dtype;
    if (dtype > WEFT_U64 || dtype == WEFT_U64)
        return weft__serial_refuse(s);
    return weft__serial_cast(s, WEFT_I64, value);
}

/* The types of a part's operands at this point of the loop. */
static bool find_types(weft__serial *s, const weft__function_part *part, weft__lang_operand *types)
{
    memset(types, 0, (size_t)part->syntax->names_count * sizeof *types);
    for (int i = 0; i < part->names_count; i++) {
        const int32_t variable = part->variables[i];
        const weft__serial_variable *v = &s->variables[variable];
        const bool array = s->r->held[variable].holding == WEFT__ARRAY;
        types[i] = (weft__lang_operand){.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
        if (part->whole[i] && (array || !v->set))
            return false;
        if (!array && v->set) {
            types[i].dtype = v->dtype;
            types[i].typed = v->typed;
        }
    }
    for (int k = 0; k < part->elements_count; k++) {
        const weft__held *held = &s->r->held[part->elements[k].variable];
        if (held->holding != WEFT__ARRAY)
            return false;
        types[part->names_count + k] = (weft__lang_operand){
            .tag = (uint8_t)(held->input ? WEFT_OPERAND_INPUT : WEFT_OPERAND_ARRAY),
            .dtype = weft__held_any(held)->dtype};
    }
    return true;
}

/* What the loads of a part are made of. */
typedef struct copying {
    weft__serial *s;
    const weft__function_part *part;
    const weft__lowered *lowered;
    int32_t *made;     /* of the part's values */
    int32_t *position; /* of its operands */
    int *operand;
    int32_t result;
} copying;

static int32_t copy_scalar(const copying *c, const weft__value *value)
{
    weft__serial *s = c->s;
    const int32_t from = c->lowered->scalars[value->slot];
    if (from < 0)
        return weft__build_constant(&s->builder, (weft_dtype)value->dtype,
                                    c->lowered->numbers[-1 - from]);
    if (from % 2)
        return weft__serial_refuse(s);
    const int32_t number = variable_value(s, c->part->variables[from / 2]);
    return s->refused ? 0 : weft__serial_cast(s, (weft_dtype)value->dtype, number);
}

static void copy_store(copying *c, const weft__value *value)
{
    weft__serial *s = c->s;
    const int32_t stored = c->made[value->argument[0]];
    const int32_t to = c->lowered->operands[value->slot];
    c->result = stored;
    if (to == WEFT__PLACE_VALUE)
        return;
    const int operand = c->operand[value->slot];
    int32_t condition = weft__serial_and(s, s->active, s->inside);
    if (condition < 0)
        condition = weft__build_constant(&s->builder, WEFT_BOOL, 1);
    s->written[operand] = true;
    weft__build_scatter(&s->builder, operand, c->position[value->slot], stored, condition);
}

static void copy_value(copying *c, uint32_t k)
{
    weft__serial *s = c->s;
    const weft__kernel *kernel = &c->lowered->builder.kernel;
    const weft__value *value = &kernel->values[k];
    weft__value copy = *value;
    switch ((weft__op)value->op) {
    case WEFT__OP_load:
        if (value->shift)
            weft__serial_refuse(s);
        else
            c->made[k] =
                weft__build_gather(&s->builder, c->operand[value->slot], c->position[value->slot])
                    .part[0];
        return;
    case WEFT__OP_store:
        copy_store(c, value);
        return;
    case WEFT__OP_scalar:
        c->made[k] = copy_scalar(c, value);
        return;
    case WEFT__OP_index:
    case WEFT__OP_fold:
        weft__serial_refuse(s);
        return;
    default:
        break;
    }
    for (int j = 0; j < weft__value_arguments(kernel, value); j++)
        copy.argument[j] = c->made[value->argument[j]];
    if (value->op == WEFT__OP_cast) {
        c->made[k] = weft__serial_cast(s, (weft_dtype)value->dtype, copy.argument[0]);
        return;
    }
    c->made[k] = weft__build(&s->builder, (weft__op)value->op, (weft_dtype)value->dtype, 0, 0, 0);
    if (!s->builder.failed)
        s->builder.kernel.values[c->made[k]] = copy;
}

static weft_status copy_kernel(weft__serial *s, const weft__function_part *part,
                               const weft__lowered *lowered, int32_t *value)
{
    const weft__kernel *kernel = &lowered->builder.kernel;
    size_t values = kernel->values_count, operands = lowered->operands_count;
    copying c = {.s = s, .part = part, .lowered = lowered};
    c.made = weft__allocate_zeroed((values + 2 * operands + 1) * sizeof *c.made);
    if (!c.made)
        return WEFT_ERROR_MEMORY;
    c.position = c.made + values;
    c.operand = c.position + operands;
    for (uint32_t i = 0; i < lowered->operands_count && !s->refused; i++) {
        if (lowered->operands[i] == WEFT__PLACE_VALUE)
            continue;
        c.position[i] =
            position(s, part, (int)lowered->operands[i] - part->names_count, &c.operand[i]);
    }
    for (uint32_t k = 0; k < values && !s->refused && !s->builder.failed; k++)
        copy_value(&c, k);
    *value = c.result;
    weft__free(c.made);
    return WEFT_OK;
}

/* If a subscript is out of range nothing more is done. */
static void note_failure(weft__serial *s, int32_t part)
{
    weft__builder *b = &s->builder;
    if (s->inside < 0 || s->refused)
        return;
    int32_t bad = weft__serial_and(s, s->active, weft__serial_not(s, s->inside));
    int32_t number = weft__build_constant(b, WEFT_I64, (uint64_t)part + 1);
    s->failed = weft__build(b, WEFT__OP_select, WEFT_I64, bad, number, s->failed);
    s->gone = s->gone < 0 ? bad : weft__build(b, WEFT__OP_or, WEFT_BOOL, s->gone, bad, 0);
    s->active = weft__serial_and(s, s->active, s->inside);
}

weft_status weft__serial_part(weft__serial *s, int32_t at, bool as_value, int32_t *value,
                              uint8_t *dtype, bool *typed)
{
    weft__function_part *part = &s->f->parts[at];
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    weft_error saved = *weft_error_last();
    weft__function_version *v;
    if (!find_types(s, part, types)) {
        weft__serial_refuse(s);
        return WEFT_OK;
    }
    weft_status status = weft__function_version_get(s->f, part, types, as_value, true, &v);
    if (status == WEFT_ERROR_MEMORY)
        return status;
    if (status != WEFT_OK) { /* an error, when it is run */
        weft__error_restore(&saved);
        weft__serial_refuse(s);
        return WEFT_OK;
    }
    s->inside = -1;
    TRY(copy_kernel(s, part, &v->evaluation->kernels[0], value));
    note_failure(s, at);
    if (!as_value)
        return WEFT_OK;
    const weft__lang_node *node = &v->evaluation->program->nodes[v->evaluation->program->value];
    *dtype = node->dtype;
    *typed = !node->weak && node->dtype > WEFT_U64;
    if (node->dtype == WEFT_F16 || node->dtype == WEFT_BF16 || weft__number_is_complex(node->dtype))
        weft__serial_refuse(s);
    return WEFT_OK;
}
