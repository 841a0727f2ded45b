/* The checker: every value gets a dtype and a shape, in one pass over the syntax. */
#include "lang/check.h"
#include "core/allocate.h"
#include "core/shape.h"

weft__check_value weft__check_value_at(const weft__checker *c, int32_t position)
{
    const weft__check_value *value = &c->values[position];
    return value->node < 0 ? *value : weft__check_value_of(c, value->node);
}

weft__check_value weft__check_argument(const weft__checker *c, const weft__syntax_node *call,
                                       uint32_t k)
{
    return weft__check_value_at(c, c->syntax->arguments[call->first + k]);
}

int64_t weft__check_integer(const weft__checker *c, const weft__syntax_node *call, uint32_t k)
{
    const weft__syntax_node *literal = &c->syntax->nodes[c->syntax->arguments[call->first + k]];
    int64_t value = (int64_t)literal->value.integer;
    return literal->negative ? -value : value;
}

weft_status weft__check_loosen(weft__checker *c, uint32_t column, weft__check_value *value)
{
    weft_dtype dtype = weft__check_weak_dtype((weft_dtype)value->dtype);
    if (!c->syntax->loop || value->weak || value->node < 0 ||
        weft__dtype_rank(dtype) > WEFT__RANK_INTEGER)
        return WEFT_OK;
    TRY(weft__check_cast(c, value, dtype, true, column, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

/* Reads an operand, or what has been assigned to it. */
static weft_status check_operand(weft__checker *c, const weft__syntax_node *read,
                                 weft__check_value *value)
{
    const weft__lang_operand *operand = &c->operands[read->index];
    int32_t *current = &c->current[read->index];
    weft_dtype dtype = (weft_dtype)operand->dtype;
    bool number = operand->tag == WEFT_OPERAND_NUMBER;
    if (*current < 0) {
        weft__lang_name name = c->syntax->names[read->index];
        if (operand->unset)
            return CHECK_FAIL(c, read->column, WEFT_ERROR_ARGUMENT,
                              "'%s' has no memory yet; assign to it before it is read",
                              QUOTE(name.text, name.length));
        weft__lang_node node = weft__check_node(
            WEFT__NODE_OPERAND, number ? weft__check_weak_dtype(dtype) : dtype, read->column);
        node.operand = (uint16_t)read->index;
        node.weak = number;
        if (!number)
            TRY(weft__check_shape_add(c, &operand->shape, &node.shape));
        TRY(weft__check_emit(c, node, current));
        if (number && operand->typed) {
            weft__check_value read_value = weft__check_value_of(c, *current);
            TRY(weft__check_cast(c, &read_value, dtype, false, read->column, current));
        }
    }
    *value = weft__check_value_of(c, *current);
    return weft__check_loosen(c, read->column, value);
}

static weft_status check_cast(weft__checker *c, const weft__syntax_node *cast,
                              weft__check_value *value)
{
    weft__check_value argument = weft__check_argument(c, cast, 0);
    TRY(weft__check_cast(c, &argument, (weft_dtype)cast->dtype, false, cast->column, &value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

static weft_status check_node(weft__checker *c, uint32_t position)
{
    const weft__syntax_node *node = &c->syntax->nodes[position];
    weft__check_value *value = &c->values[position];
    *value = (weft__check_value){-1, (int32_t)position, 0, node->dtype, node->weak, false};
    switch (node->kind) {
    case WEFT__SYNTAX_LITERAL:
        return WEFT_OK;
    case WEFT__SYNTAX_OPERAND:
        return check_operand(c, node, value);
    case WEFT__SYNTAX_CAST:
        return check_cast(c, node, value);
    case WEFT__SYNTAX_GATHER:
        return weft__check_gather(c, node, value);
    case WEFT__SYNTAX_LOOP:
        return weft__check_loop(c, node, value);
    default:
        break;
    }
    switch (weft__lang_operations[node->operation].group) {
    case WEFT__GROUP_reduction:
        return weft__check_fold(c, node, value);
    case WEFT__GROUP_stencil:
        return weft__check_stencil(c, node, value);
    case WEFT__GROUP_position:
        return weft__check_index(c, node, value);
    default:
        return weft__check_map(c, node, value);
    }
}

static weft_status check_target(weft__checker *c, const weft__syntax_statement *s)
{
    const weft__lang_operand *operand = &c->operands[s->target];
    weft__lang_name name = c->syntax->names[s->target];
    if (operand->tag == WEFT_OPERAND_ARRAY)
        return WEFT_OK;
    return CHECK_FAIL(c, s->column, WEFT_ERROR_ARGUMENT, "'%s' is a %s and cannot be assigned to%s",
                      QUOTE(name.text, name.length),
                      operand->tag == WEFT_OPERAND_NUMBER ? "C number" : "const array",
                      operand->tag == WEFT_OPERAND_NUMBER ? "; use an array of no dimensions" : "");
}

/* The dtype and the shape that the target has, or gets from the value. */
static weft_status target_type(weft__checker *c, int32_t target, const weft__check_value *value,
                               weft_dtype *dtype, int32_t *shape)
{
    const weft__lang_operand *operand = &c->operands[target];
    *dtype = (weft_dtype)operand->dtype;
    if (!operand->unset)
        return weft__check_shape_add(c, &operand->shape, shape);
    bool assigned = c->current[target] >= 0;
    if (*dtype == WEFT_DTYPE_DEFAULT)
        *dtype =
            (weft_dtype)(assigned ? c->program->nodes[c->current[target]].dtype : value->dtype);
    if (c->syntax->loop &&
        (value->node < 0 || c->program->nodes[value->node].kind != WEFT__NODE_FOLD))
        return weft__check_shape_add(c, &c->syntax->points, shape); /* a value for each point */
    *shape = assigned ? c->program->nodes[c->current[target]].shape : value->shape;
    return WEFT_OK;
}

static weft_status check_fit(weft__checker *c, const weft__syntax_statement *s,
                             const weft__check_value *value, weft_dtype dtype, int32_t shape)
{
    weft__lang_name name = c->syntax->names[s->target];
    weft_shape both;
    const weft_shape *from = weft__check_shape(c, value->shape), *to = weft__check_shape(c, shape);
    if (weft__shape_broadcast(from, to, &both) != WEFT_OK || !weft_shape_equal(both, *to))
        return CHECK_FAIL(c, s->column, WEFT_ERROR_SHAPE,
                          "a value of shape %.100s does not fit into '%s', whose shape is %.100s",
                          weft__shape_text_of(from).text, QUOTE(name.text, name.length),
                          weft__shape_text_of(to).text);
    if (!weft__check_assignable(dtype, value))
        return CHECK_FAIL(c, s->column, WEFT_ERROR_DTYPE,
                          "'%s' is %s and the value is %s; cast it, as in %s(...)",
                          QUOTE(name.text, name.length), weft_dtype_name(dtype),
                          weft__check_type_name((weft_dtype)value->dtype, value->weak),
                          weft_dtype_name(dtype));
    return WEFT_OK;
}

/* What memory holds after the assignment: rounded, and of the target's shape. */
static weft_status emit_stored(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                               int32_t shape, uint32_t column, int32_t *node)
{
    TRY(weft__check_use(c, value, dtype, column, node));
    int kind = c->program->nodes[*node].kind;
    if (kind == WEFT__NODE_LITERAL)
        c->program->nodes[*node].weak = false; /* each use has its own literal */
    weft__check_value stored = weft__check_value_of(c, *node);
    if (stored.weak || (kind != WEFT__NODE_CAST && kind != WEFT__NODE_OPERAND))
        TRY(weft__check_cast(c, &stored, dtype, false, column, node));
    weft__lang_node repeated = weft__check_node(WEFT__NODE_BROADCAST, dtype, column);
    repeated.shape = shape;
    repeated.argument[0] = *node;
    bool same = weft_shape_equal(*weft__check_shape(c, c->program->nodes[*node].shape),
                                 *weft__check_shape(c, shape));
    return same ? WEFT_OK : weft__check_emit(c, repeated, node);
}

static weft_status assign(weft__checker *c, const weft__syntax_statement *s,
                          weft__check_value value)
{
    weft__lang_program *p = c->program;
    weft_dtype dtype;
    int32_t shape, node;
    TRY(check_target(c, s));
    TRY(target_type(c, s->target, &value, &dtype, &shape));
    TRY(weft__check_close(c, &value, shape, s->column));
    TRY(check_fit(c, s, &value, dtype, shape));
    TRY(emit_stored(c, &value, dtype, shape, s->column, &node));
    c->current[s->target] = node;
    TRY(weft__lang_room(&p->assignments, p->assignments_count, &p->assignments_room,
                        sizeof *p->assignments));
    p->assignments[p->assignments_count++] =
        (weft__lang_assignment){s->target, node, s->column, false};
    return WEFT_OK;
}

/* A local that is only made of index() waits for the array it is used with. */
static weft_status check_statement(weft__checker *c, const weft__syntax_statement *s)
{
    weft__check_value value = weft__check_value_at(c, s->node);
    if (s->target >= 0)
        return assign(c, s, value);
    if (s->target == WEFT__TARGET_LOCAL && weft__check_shape(c, value.shape)->ndim)
        TRY(weft__check_close(c, &value, value.shape, s->column));
    if (s->target == WEFT__TARGET_LOCAL) {
        TRY(weft__check_loosen(c, s->column, &value));
        c->values[s->node] = value;
        return WEFT_OK;
    }
    TRY(weft__check_close(c, &value, value.shape, s->column));
    return weft__check_use(c, &value, (weft_dtype)value.dtype, s->column, &c->program->value);
}

static weft_status check_operands(weft__checker *c)
{
    int64_t count;
    for (int i = 0; i < c->syntax->names_count; i++) {
        const weft__lang_operand *operand = &c->operands[i];
        weft__lang_name name = c->syntax->names[i];
        c->current[i] = -1;
        bool named = operand->dtype > WEFT_DTYPE_DEFAULT && operand->dtype < WEFT_DTYPE_END;
        if (!named && !(operand->unset && operand->dtype == WEFT_DTYPE_DEFAULT))
            return FAIL_AT(WEFT_ERROR_DTYPE, "operands", "'%s' has no dtype",
                           QUOTE(name.text, name.length));
        if (operand->tag != WEFT_OPERAND_NUMBER && !operand->unset)
            TRY(weft__shape_check(&operand->shape, &count));
    }
    return WEFT_OK;
}

static weft_status check_program(weft__checker *c)
{
    const weft_shape scalar = {0, {0}};
    int32_t first;
    uint32_t position = 0;
    TRY(check_operands(c));
    TRY(weft__check_shape_add(c, &scalar, &first));
    for (uint32_t i = 0; i < c->syntax->statements_count; i++) {
        for (; position < c->syntax->statements[i].end; position++)
            TRY(check_node(c, position));
        TRY(check_statement(c, &c->syntax->statements[i]));
    }
    return WEFT_OK;
}

static void mark_last(weft__lang_program *p)
{
    bool seen[WEFT__LANG_OPERANDS_MAX] = {false};
    for (uint32_t i = p->assignments_count; i-- > 0;) {
        p->assignments[i].last = !seen[p->assignments[i].operand];
        seen[p->assignments[i].operand] = true;
    }
}

weft_status weft__lang_check(const weft__lang_syntax *syntax, const weft__lang_operand *operands,
                             weft__lang_program **program)
{
    weft__checker c = {.syntax = syntax, .operands = operands};
    *program = NULL;
    c.program = weft__allocate_zeroed(sizeof *c.program);
    c.values = weft__allocate((syntax->nodes_count + (size_t)1) * sizeof *c.values);
    weft_status status = WEFT_ERROR_MEMORY;
    if (c.program && c.values) {
        c.program->value = -1;
        status = check_program(&c);
    }
    weft__free(c.values);
    weft__free(c.open);
    weft__free(c.is_open);
    if (status != WEFT_OK) {
        weft__lang_free(c.program);
        return status;
    }
    mark_last(c.program);
    *program = c.program;
    return WEFT_OK;
}

void weft__lang_free(weft__lang_program *program)
{
    if (!program)
        return;
    weft__free(program->nodes);
    weft__free(program->shapes);
    weft__free(program->shifts);
    weft__free(program->assignments);
    weft__free(program);
}
