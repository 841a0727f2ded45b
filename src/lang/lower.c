/* From typed programs to kernels: nodes become values, one after the other. */
#include "lang/lower.h"
#include "core/allocate.h"
#include "core/dtype.h"
#include "core/status.h"
#include "lang/lower_map.h"
#include <string.h>

typedef struct lowering {
    const weft__lang_program *program;
    weft__lowered *out;
    uint8_t *wanted; /* whether a result depends on the node */
} lowering;

/* Marks the nodes that the results depend on; arguments come before their users. */
static void mark(const lowering *l, const weft__lang_result_of *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        l->wanted[results[i].node] = 1;
    for (uint32_t i = l->program->nodes_count; i-- > 0;)
        for (int k = 0; l->wanted[i] && k < 3; k++)
            if (l->program->nodes[i].argument[k] >= 0)
                l->wanted[l->program->nodes[i].argument[k]] = 1;
}

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

static uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t bits_of_f32(double x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* A literal of the dtype; float literals are f64 until they are cast, which folds here. */
static weft__element lower_literal(weft__builder *b, const weft__lang_literal *literal,
                                   weft_dtype dtype)
{
    weft__element element = {.dtype = dtype};
    weft_dtype value = weft__value_dtype(dtype);
    if (weft__dtype_rank(dtype) <= WEFT__RANK_INTEGER) {
        element.part[0] = weft__build_constant(b, dtype, literal->u);
        return element;
    }
    for (int part = 0; part < (is_complex(dtype) ? 2 : 1); part++) {
        double x = is_complex(dtype) ? literal->complex_[part] : literal->f;
        uint64_t bits = value == WEFT_F32 ? bits_of_f32(x) : bits_of_f64(x);
        element.part[part] = weft__build_constant(b, value, bits);
    }
    return element;
}

static int kernel_operand(lowering *l, int32_t operand, weft_dtype dtype, bool output)
{
    weft__lowered *out = l->out;
    for (uint32_t i = 0; !output && i < out->operands_count; i++)
        if (out->operands[i] == operand && !out->builder.kernel.operands[i].output)
            return (int)i;
    out->operands[out->operands_count++] = operand;
    return weft__build_operand(&out->builder, dtype, output);
}

/* A C number: its parts are scalars of the launch. */
static weft__element lower_number(lowering *l, const weft__lang_node *node)
{
    weft__element element = {.dtype = (weft_dtype)node->dtype};
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++) {
        l->out->scalars[l->out->scalars_count++] = node->operand * 2 + part;
        element.part[part] = weft__build_scalar(&l->out->builder, weft__value_dtype(element.dtype));
    }
    return element;
}

static weft__element lower_operand(lowering *l, const weft__lang_node *node)
{
    if (node->weak)
        return lower_number(l, node);
    int slot = kernel_operand(l, node->operand, (weft_dtype)node->dtype, false);
    return weft__build_load(&l->out->builder, slot);
}

/* To f16 and bf16 a cast always rounds: values of these types are computed in f32. */
static weft__element lower_cast(lowering *l, const weft__lang_node *node)
{
    weft__builder *b = &l->out->builder;
    const weft__lang_node *from = &l->program->nodes[node->argument[0]];
    weft__element element = l->out->values[node->argument[0]];
    weft_dtype to = (weft_dtype)node->dtype;
    bool folds =
        from->kind == WEFT__NODE_LITERAL && (from->dtype == WEFT_F64 || from->dtype == WEFT_C128);
    if (folds && (to == WEFT_F32 || to == WEFT_F64 || (to == WEFT_C64 && from->dtype == WEFT_C128)))
        return lower_literal(b, &from->literal, to);
    if (element.dtype == to && (to == WEFT_F16 || to == WEFT_BF16))
        element.dtype = WEFT_F32;
    return weft__build_convert(b, element, to);
}

static weft_status fail_unsupported(const weft__lang_node *node)
{
    bool fold = node->kind == WEFT__NODE_FOLD;
    const char *what = fold                             ? "reductions"
                       : node->kind == WEFT__NODE_SHIFT ? "shifts"
                                                        : "this function";
    return FAIL(WEFT_ERROR_UNSUPPORTED, "%s (%s) cannot be computed in an expression yet", what,
                fold || node->kind == WEFT__NODE_MAP ? weft__lang_operations[node->operation].name
                                                     : "shift");
}

static weft_status lower_node(lowering *l, const weft__lang_node *node, weft__element *element)
{
    weft__builder *b = &l->out->builder;
    weft__element arguments[3] = {{{0}, WEFT_DTYPE_DEFAULT}};
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0)
            arguments[k] = l->out->values[node->argument[k]];
    switch ((weft__lang_kind)node->kind) {
    case WEFT__NODE_LITERAL:
        *element = lower_literal(b, &node->literal, (weft_dtype)node->dtype);
        break;
    case WEFT__NODE_OPERAND:
        *element = lower_operand(l, node);
        break;
    case WEFT__NODE_CAST:
        *element = lower_cast(l, node);
        break;
    case WEFT__NODE_BROADCAST:
        *element = arguments[0];
        break;
    case WEFT__NODE_INDEX:
        element->dtype = WEFT_I64;
        element->part[0] = weft__build_index(b, l->out->space.ndim - 1 - node->axis);
        break;
    case WEFT__NODE_MAP:
        if (!weft__lower_map(b, (weft__lang_operation)node->operation, (weft_dtype)node->dtype,
                             arguments, element))
            return fail_unsupported(node);
        break;
    case WEFT__NODE_SHIFT:
    case WEFT__NODE_FOLD:
        return fail_unsupported(node);
    }
    return WEFT_OK;
}

static weft_status lower_nodes(lowering *l, const weft__lang_result_of *results, uint32_t count)
{
    mark(l, results, count);
    for (uint32_t i = 0; i < l->program->nodes_count; i++)
        if (l->wanted[i])
            TRY(lower_node(l, &l->program->nodes[i], &l->out->values[i]));
    for (uint32_t i = 0; i < count; i++) {
        weft_dtype dtype = (weft_dtype)l->program->nodes[results[i].node].dtype;
        int slot = kernel_operand(l, results[i].operand, dtype, true);
        weft__build_store(&l->out->builder, slot, l->out->values[results[i].node]);
    }
    return weft__build_finish(&l->out->builder);
}

weft_status weft__lang_lower(const weft__lang_program *program, const weft__lang_result_of *results,
                             uint32_t count, weft__lowered *out)
{
    size_t nodes = program->nodes_count, operands = WEFT__LANG_OPERANDS_MAX + (size_t)count;
    memset(out, 0, sizeof *out);
    weft__build_begin(&out->builder);
    out->space = program->shapes[program->nodes[results[0].node].shape];
    out->builder.kernel.ndim = out->space.ndim;
    size_t bytes = nodes * (sizeof *out->values + 1) + (operands + 2 * nodes) * sizeof(int32_t);
    char *memory = weft__allocate_zeroed(bytes);
    if (!memory)
        return WEFT_ERROR_MEMORY;
    out->values = (weft__element *)(void *)memory;
    out->operands = (int32_t *)(void *)(out->values + nodes);
    out->scalars = out->operands + operands;
    lowering l = {program, out, (uint8_t *)(out->scalars + 2 * nodes)};
    return lower_nodes(&l, results, count);
}

void weft__lowered_free(weft__lowered *lowered)
{
    weft__build_free(&lowered->builder);
    weft__free(lowered->values);
    lowered->values = NULL;
}
