/* Values: nodes of the program, and literals that get their dtype when they are used. */
#include "lang/check.h"
#include <stdio.h>

weft__lang_node weft__check_node(weft__lang_kind kind, weft_dtype dtype, uint32_t column)
{
    return (weft__lang_node){.kind = (uint8_t)kind,
                             .dtype = (uint8_t)dtype,
                             .column = column,
                             .shift = -1,
                             .argument = {-1, -1, -1}};
}

weft_status weft__check_emit(weft__checker *c, weft__lang_node node, int32_t *position)
{
    weft__lang_program *p = c->program;
    if (p->nodes_count >= 4u * WEFT__LANG_NODES_MAX)
        return CHECK_FAIL(c, node.column, WEFT_ERROR_SYNTAX, "the program is too large; split it");
    TRY(weft__lang_room(&p->nodes, p->nodes_count, &p->nodes_room, sizeof *p->nodes));
    TRY(weft__lang_room(&c->is_open, p->nodes_count, &c->is_open_room, sizeof *c->is_open));
    *position = (int32_t)p->nodes_count++;
    p->nodes[*position] = node;
    c->is_open[*position] = node.kind == WEFT__NODE_INDEX;
    for (int k = 0; k < 3 && node.argument[k] >= 0; k++)
        c->is_open[*position] |= node.kind != WEFT__NODE_SHIFT && c->is_open[node.argument[k]];
    return WEFT_OK;
}

weft__check_value weft__check_value_of(const weft__checker *c, int32_t node)
{
    const weft__lang_node *n = &c->program->nodes[node];
    return (weft__check_value){node, -1, n->shape, n->dtype, n->weak, c->is_open[node]};
}

/* The largest magnitudes, above and below 0, that an integer dtype holds. */
static bool integer_fits(const weft__syntax_node *literal, weft_dtype dtype)
{
    unsigned bits = 8 * (unsigned)weft_dtype_size(dtype);
    bool is_signed = dtype <= WEFT_I64;
    uint64_t most = UINT64_MAX >> (64 - bits);
    if (is_signed)
        most = (most >> 1) + literal->negative;
    else if (literal->negative)
        return false;
    return literal->value.integer <= most;
}

/* An integer as f64. Where that is rounded again, to a narrower float, it is rounded to odd here,
 * so that together they round once. */
static double real_of_integer(uint64_t integer, weft_dtype dtype)
{
    bool wide = dtype == WEFT_F64 || dtype == WEFT_C128;
    if (!wide && integer >> 53 && integer & 0x7ff)
        integer = (integer & ~UINT64_C(0x7ff)) | 0x800;
    return (double)integer;
}

static void set_literal(weft__lang_node *node, const weft__syntax_node *literal)
{
    bool integer = literal->dtype <= WEFT_U64;
    uint64_t bits = literal->negative ? 0 - literal->value.integer : literal->value.integer;
    double real = integer ? real_of_integer(literal->value.integer, (weft_dtype)node->dtype)
                          : literal->value.real;
    if (integer && literal->negative)
        real = -real;
    bool imaginary = literal->dtype >= WEFT_C64;
    switch (weft__dtype_rank((weft_dtype)node->dtype)) {
    case WEFT__RANK_BOOL:
        node->literal.u = integer ? bits != 0 : real != 0;
        break;
    case WEFT__RANK_INTEGER:
        node->literal.u = bits;
        break;
    case WEFT__RANK_FLOAT:
        node->literal.f = real;
        break;
    default:
        node->literal.complex_[0] = imaginary ? 0 : real;
        node->literal.complex_[1] = imaginary ? real : 0;
    }
}

static weft_status emit_cast(weft__checker *c, int32_t argument, weft_dtype dtype, bool weak,
                             uint32_t column, int32_t *node)
{
    weft__lang_node cast = weft__check_node(WEFT__NODE_CAST, dtype, column);
    cast.shape = c->program->nodes[argument].shape;
    cast.weak = weak;
    cast.argument[0] = argument;
    return weft__check_emit(c, cast, node);
}

/* Floats do not become integers or bool here, and integers that do not fit are not cut. */
static bool is_direct(const weft__syntax_node *literal, weft_dtype dtype)
{
    weft__rank to = weft__dtype_rank(dtype), from = weft__dtype_rank((weft_dtype)literal->dtype);
    if (to == WEFT__RANK_INTEGER && from <= WEFT__RANK_INTEGER)
        return integer_fits(literal, dtype);
    return to >= from;
}

static weft_status emit_literal(weft__checker *c, const weft__syntax_node *literal,
                                weft_dtype dtype, bool weak, int32_t *node)
{
    weft__lang_node emitted = weft__check_node(WEFT__NODE_LITERAL, dtype, literal->column);
    emitted.weak = weak;
    set_literal(&emitted, literal);
    return weft__check_emit(c, emitted, node);
}

weft_status weft__check_cast(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                             bool weak, uint32_t column, int32_t *node)
{
    const weft__syntax_node *literal =
        value->literal < 0 ? NULL : &c->syntax->nodes[value->literal];
    bool rounds = dtype == WEFT_F16 || dtype == WEFT_BF16;
    *node = value->node;
    if (literal && is_direct(literal, dtype))
        return emit_literal(c, literal, dtype, weak, node);
    if (literal)
        TRY(emit_literal(c, literal, (weft_dtype)literal->dtype, literal->weak, node));
    else if (value->dtype == dtype && value->weak == weak && !rounds)
        return WEFT_OK;
    return emit_cast(c, *node, dtype, weak, column, node);
}

static weft_status fail_literal(weft__checker *c, const weft__syntax_node *literal,
                                weft_dtype dtype)
{
    char number[24];
    const weft_dtype wider = integer_fits(literal, WEFT_I64)   ? WEFT_I64
                             : integer_fits(literal, WEFT_U64) ? WEFT_U64
                                                               : WEFT_F64;
    snprintf(number, sizeof number, "%s%llu", literal->negative ? "-" : "",
             (unsigned long long)literal->value.integer);
    return CHECK_FAIL(c, literal->column, WEFT_ERROR_DTYPE,
                      "%s does not fit into %s; cast the array, as in %s(a), or cut the number, as "
                      "in %s(%s)",
                      number, weft_dtype_name(dtype), weft_dtype_name(wider),
                      weft_dtype_name(dtype), number);
}

static bool holds(weft_dtype dtype, weft_dtype other)
{
    const bool is_signed = dtype <= WEFT_I64, other_signed = other <= WEFT_I64;
    const size_t size = weft_dtype_size(dtype), other_size = weft_dtype_size(other);
    return is_signed == other_signed ? size >= other_size : is_signed && size > other_size;
}

/* A C number becomes an integer dtype as an untyped literal does; only a run knows whether it fits.
 * In loops of a function numbers are C's. */
static void note_limit(weft__checker *c, const weft__check_value *value, weft_dtype dtype)
{
    const weft__lang_node *node = &c->program->nodes[value->node];
    if (c->syntax->loop || node->kind != WEFT__NODE_OPERAND ||
        c->operands[node->operand].computed ||
        holds(dtype, (weft_dtype)c->operands[node->operand].dtype))
        return;
    c->program->limits[node->operand] |= (uint8_t)(1 << (dtype - WEFT_I8));
}

weft_status weft__check_become(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                               uint32_t column, int32_t *node)
{
    *node = value->node;
    if (value->literal < 0 && value->dtype == dtype)
        return WEFT_OK;
    const bool weak = value->weak && weft__check_weak_dtype(dtype) == dtype;
    return weft__check_cast(c, value, dtype, weak, column, node);
}

weft_status weft__check_use(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                            uint32_t column, int32_t *node)
{
    const weft__syntax_node *literal =
        value->literal < 0 ? NULL : &c->syntax->nodes[value->literal];
    bool integers = weft__dtype_rank((weft_dtype)value->dtype) == WEFT__RANK_INTEGER &&
                    weft__dtype_rank(dtype) == WEFT__RANK_INTEGER;
    if (literal && value->weak && integers && !integer_fits(literal, dtype))
        return fail_literal(c, literal, dtype);
    if (!literal && value->weak && integers)
        note_limit(c, value, dtype);
    return weft__check_become(c, value, dtype, column, node);
}
