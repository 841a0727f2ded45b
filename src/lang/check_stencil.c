/* Stencils: shift, and the differences that are made of it. */
#include "lang/check.h"

/* A stencil that is being written. */
typedef struct stencil {
    weft__checker *c;
    const weft__syntax_node *call;
    weft__check_value array; /* the operand's value at this point */
    int operand, ndim;
    uint8_t boundary;
    int32_t constant; /* the node of the value out of bounds, or -1 */
} stencil;

/* The operand displaced by the offsets, of which there is one for each axis. */
static weft_status emit_shift(const stencil *s, const int64_t *offsets, weft__check_value *value)
{
    weft__lang_program *p = s->c->program;
    weft__lang_shift shift = {.boundary = s->boundary};
    weft__lang_node node =
        weft__check_node(WEFT__NODE_SHIFT, (weft_dtype)s->array.dtype, s->call->column);
    for (int k = 0; k < s->ndim; k++)
        shift.offset[k] = offsets[k];
    node.shape = s->array.shape;
    node.operand = (uint16_t)s->operand;
    node.shift = (int32_t)p->shifts_count;
    node.argument[0] = s->array.node;
    node.argument[1] = s->constant;
    TRY(weft__lang_room(&p->shifts, p->shifts_count, &p->shifts_room, sizeof *p->shifts));
    p->shifts[p->shifts_count++] = shift;
    TRY(weft__check_emit(s->c, node, &value->node));
    *value = weft__check_value_of(s->c, value->node);
    return WEFT_OK;
}

/* The neighbour at a distance along one axis. */
static weft_status emit_neighbour(const stencil *s, int axis, int distance,
                                  weft__check_value *value)
{
    int64_t offsets[WEFT_NDIM_MAX] = {0};
    offsets[axis] = distance;
    return emit_shift(s, offsets, value);
}

static weft_status subtract(const stencil *s, weft__check_value a, weft__check_value b,
                            weft__check_value *value)
{
    weft__check_value pair[] = {a, b};
    return weft__check_apply(s->c, WEFT__LANG_subtract, s->call->column, pair, 2, value);
}

static weft_status check_shift(const stencil *s, weft__check_value *value)
{
    int64_t offsets[WEFT_NDIM_MAX] = {0};
    int count = (int)s->call->count - 1;
    if (count > s->ndim)
        return CHECK_FAIL(s->c, s->call->column, WEFT_ERROR_SHAPE,
                          "shift has %d distances for an array of %d dimensions", count, s->ndim);
    for (int k = 0; k < count; k++)
        offsets[k] = weft__check_integer(s->c, s->call, (uint32_t)k + 1);
    return emit_shift(s, offsets, value);
}

static weft_status check_difference(const stencil *s, weft__check_value *value)
{
    int64_t given = weft__check_integer(s->c, s->call, 1),
            axis = given < 0 ? given + s->ndim : given;
    weft__check_value neighbour = {-1, -1, 0, 0, false, false};
    bool forward = s->call->operation == WEFT__LANG_forward_diff;
    if (axis < 0 || axis >= s->ndim)
        return CHECK_FAIL(s->c, s->call->column, WEFT_ERROR_SHAPE,
                          "axis %lld is out of range for %d dimensions", (long long)given, s->ndim);
    TRY(emit_neighbour(s, (int)axis, forward ? 1 : -1, &neighbour));
    return forward ? subtract(s, neighbour, s->array, value)
                   : subtract(s, s->array, neighbour, value);
}

/* 2*ndim times the array. */
static weft_status emit_centre(const stencil *s, weft__check_value *value)
{
    weft__lang_node factor =
        weft__check_node(WEFT__NODE_LITERAL, (weft_dtype)s->array.dtype, s->call->column);
    switch (weft__dtype_rank((weft_dtype)factor.dtype)) {
    case WEFT__RANK_FLOAT:
        factor.literal.f = 2 * s->ndim;
        break;
    case WEFT__RANK_COMPLEX:
        factor.literal.complex_[0] = 2 * s->ndim;
        break;
    default:
        factor.literal.u = 2 * (uint64_t)s->ndim;
    }
    TRY(weft__check_emit(s->c, factor, &value->node));
    weft__check_value pair[] = {weft__check_value_of(s->c, value->node), s->array};
    return weft__check_apply(s->c, WEFT__LANG_multiply, s->call->column, pair, 2, value);
}

static weft_status check_laplacian(const stencil *s, weft__check_value *value)
{
    TRY(emit_centre(s, value));
    for (int axis = 0; axis < s->ndim; axis++)
        for (int distance = 1; distance >= -1; distance -= 2) {
            weft__check_value neighbour = {-1, -1, 0, 0, false, false};
            TRY(emit_neighbour(s, axis, distance, &neighbour));
            TRY(subtract(s, *value, neighbour, value));
        }
    return WEFT_OK;
}

/* boundary= and value=. */
static weft_status read_boundary(stencil *s)
{
    weft__checker *c = s->c;
    const weft__syntax_attributes *a =
        s->call->index < 0 ? NULL : &c->syntax->attributes[s->call->index];
    weft_dtype dtype = (weft_dtype)s->array.dtype;
    s->constant = -1;
    s->boundary = a ? a->boundary : WEFT__BOUNDARY_UNSHIFTED;
    if (s->boundary != WEFT__BOUNDARY_CONSTANT)
        return WEFT_OK;
    if (a->value < 0)
        return weft__check_emit(c, weft__check_node(WEFT__NODE_LITERAL, dtype, s->call->column),
                                &s->constant);
    weft__check_value value = weft__check_value_at(c, a->value);
    if (value.open || weft__check_shape(c, value.shape)->ndim > 0)
        return CHECK_FAIL(c, s->call->column, WEFT_ERROR_SHAPE,
                          "value= is one number, not an array");
    if (!weft__check_assignable(dtype, &value))
        return CHECK_FAIL(c, s->call->column, WEFT_ERROR_DTYPE,
                          "value= is %s and the array %s; cast it, as in %s(...)",
                          weft__check_type_name((weft_dtype)value.dtype, value.weak),
                          weft_dtype_name(dtype), weft_dtype_name(dtype));
    return weft__check_use(c, &value, dtype, s->call->column, &s->constant);
}

static weft_status check_array(const stencil *s)
{
    const weft__lang_facts *facts = &weft__lang_operations[s->call->operation];
    weft_dtype dtype = (weft_dtype)s->array.dtype;
    if (s->c->operands[s->operand].tag == WEFT_OPERAND_NUMBER || s->ndim == 0)
        return CHECK_FAIL(s->c, s->call->column, WEFT_ERROR_SHAPE,
                          "%s is for an array with at least one dimension", facts->name);
    if (!(facts->kinds >> weft__dtype_rank(dtype) & 1))
        return CHECK_FAIL(s->c, s->call->column, WEFT_ERROR_DTYPE, "%s is for %s, not %s",
                          facts->name, weft__check_kinds_name(facts->kinds),
                          weft_dtype_name(dtype));
    return WEFT_OK;
}

weft_status weft__check_stencil(weft__checker *c, const weft__syntax_node *call,
                                weft__check_value *value)
{
    int32_t first = c->syntax->arguments[call->first];
    stencil s = {.c = c, .call = call, .operand = c->syntax->nodes[first].index};
    s.array = weft__check_argument(c, call, 0);
    s.ndim = weft__check_shape(c, s.array.shape)->ndim;
    TRY(check_array(&s));
    TRY(read_boundary(&s));
    switch (call->operation) {
    case WEFT__LANG_shift:
        return check_shift(&s, value);
    case WEFT__LANG_laplacian:
        return check_laplacian(&s, value);
    default:
        return check_difference(&s, value);
    }
}
