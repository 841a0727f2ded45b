/* From typed programs to kernels: nodes become values, one after the other. */
#include "core/allocate.h"
#include "core/dtype.h"
#include "core/status.h"
#include "lang/lower_map.h"
#include "lang/lowering.h"
#include <string.h>

/* Whether the node is in memory when the kernel runs, and where. */
static int32_t home_of(const weft__lowering_of *l, int32_t node)
{
    int32_t home = l->schedule->home[node];
    if (home == WEFT__PLACE_NONE || l->schedule->level[node] >= l->level)
        return WEFT__PLACE_NONE;
    return home < 0 ? home : home + WEFT__PLACE_ASSIGNED;
}

static void want_arguments(const weft__lowering_of *l, weft__phase phase, int32_t node)
{
    const weft__lang_node *n = &l->program->nodes[node];
    bool shift = n->kind == WEFT__NODE_SHIFT; /* reads memory, not argument 0 */
    for (int k = shift ? 1 : 0; k < 3; k++)
        if (n->argument[k] >= 0)
            l->wanted[phase][n->argument[k]] = 1;
}

/* Marks the nodes that the stores depend on: arguments come before their users. */
static void mark(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        l->wanted[WEFT__PHASE_RESULTS][stores[i].node] |= stores[i].mean ? 2 : 1;
    for (int32_t i = (int32_t)l->program->nodes_count; i-- > 0;) {
        bool fold = l->program->nodes[i].kind == WEFT__NODE_FOLD;
        uint8_t result = l->wanted[WEFT__PHASE_RESULTS][i];
        bool in_memory = home_of(l, i) != WEFT__PLACE_NONE;
        if (l->wanted[WEFT__PHASE_POINTS][i] && !in_memory)
            want_arguments(l, WEFT__PHASE_POINTS, i);
        if ((result & 1 && !in_memory) || result & 2) {
            want_arguments(l, fold ? WEFT__PHASE_POINTS : WEFT__PHASE_RESULTS, i);
            l->fold = fold ? i : l->fold;
        }
    }
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

int weft__lower_axis(const weft__lowering_of *l, weft__phase phase, int back)
{
    int axis = l->out->space.ndim - 1;
    const weft__lang_node *fold = l->fold < 0 ? NULL : &l->program->nodes[l->fold];
    if (phase == WEFT__PHASE_POINTS || !fold || fold->keep)
        return axis - back;
    for (; axis >= 0; axis--)
        if (!(fold->axes >> axis & 1) && back-- == 0)
            break;
    return axis;
}

/* Whether operands in this phase have only the axes that a reduction leaves. */
static bool has_kept_axes(const weft__lowering_of *l, weft__phase phase)
{
    return phase == WEFT__PHASE_RESULTS && l->fold >= 0 && !l->program->nodes[l->fold].keep;
}

int weft__lower_operand(weft__lowering_of *l, weft__phase phase, int32_t place, weft_dtype dtype,
                        bool output)
{
    weft__lowered *out = l->out;
    const weft__kernel *kernel = &out->builder.kernel;
    bool kept = has_kept_axes(l, phase);
    for (uint32_t i = 0; !output && i < out->operands_count; i++)
        if (out->operands[i] == place && !kernel->operands[i].output &&
            kernel->operands[i].kept == kept)
            return (int)i;
    if (out->operands_count == WEFT__OPERANDS_MAX) {
        l->status = FAIL(WEFT_ERROR_UNSUPPORTED,
                         "the expression needs more than %d arrays at once; cut it into several",
                         (int)WEFT__OPERANDS_MAX);
        return 0;
    }
    out->operands[out->operands_count++] = place;
    int slot = weft__build_operand(&out->builder, dtype, output);
    out->builder.kernel.operands[slot].kept = kept;
    return slot;
}

weft__element weft__lower_load(weft__lowering_of *l, weft__phase phase, int32_t place,
                               weft_dtype dtype)
{
    return weft__build_load(&l->out->builder, weft__lower_operand(l, phase, place, dtype, false));
}

int32_t weft__lower_count(weft__lowering_of *l, weft_dtype dtype, int64_t number)
{
    weft__lowered *out = l->out;
    uint64_t bits = dtype == WEFT_F32   ? bits_of_f32((double)number)
                    : dtype == WEFT_F64 ? bits_of_f64((double)number)
                                        : (uint64_t)number;
    out->numbers[out->numbers_count++] = bits;
    out->scalars[out->scalars_count++] = -(int32_t)out->numbers_count;
    return weft__build_scalar(&out->builder, dtype);
}

/* A C number: its parts are scalars of the launch. */
static weft__element lower_number(weft__lowering_of *l, const weft__lang_node *node)
{
    weft__element element = {.dtype = (weft_dtype)node->dtype};
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++) {
        l->out->scalars[l->out->scalars_count++] = node->operand * 2 + part;
        element.part[part] = weft__build_scalar(&l->out->builder, weft__value_dtype(element.dtype));
    }
    return element;
}

/* To f16 and bf16 a cast always rounds: values of these types are computed in f32. */
static weft__element lower_cast(weft__lowering_of *l, weft__phase phase,
                                const weft__lang_node *node)
{
    weft__builder *b = &l->out->builder;
    const weft__lang_node *from = &l->program->nodes[node->argument[0]];
    weft__element element = l->values[phase][node->argument[0]];
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
    return FAIL(WEFT_ERROR_UNSUPPORTED,
                "this function (%s) cannot be computed in an expression yet",
                weft__lang_operations[node->operation].name);
}

/* The array under a shift is the operand as it was, or what an earlier kernel has stored. */
static weft__element lower_shift(weft__lowering_of *l, weft__phase phase,
                                 const weft__lang_node *node)
{
    bool bounded = l->program->shifts[node->shift].boundary == WEFT__BOUNDARY_CONSTANT;
    int32_t home = home_of(l, node->argument[0]);
    return weft__lower_shift(l, phase, node, home == WEFT__PLACE_NONE ? node->operand : home,
                             bounded ? &l->values[phase][node->argument[1]] : NULL);
}

static weft_status lower_map(weft__lowering_of *l, weft__phase phase, const weft__lang_node *node,
                             weft__element *element)
{
    weft__element arguments[3] = {{{0}, WEFT_DTYPE_DEFAULT}};
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0)
            arguments[k] = l->values[phase][node->argument[k]];
    if (weft__lower_map(&l->out->builder, (weft__lang_operation)node->operation,
                        (weft_dtype)node->dtype, arguments, element))
        return WEFT_OK;
    return fail_unsupported(node);
}

static weft_status lower_node(weft__lowering_of *l, weft__phase phase, int32_t at)
{
    weft__builder *b = &l->out->builder;
    const weft__lang_node *node = &l->program->nodes[at];
    weft__element *element = &l->values[phase][at];
    int32_t home = home_of(l, at);
    if (home != WEFT__PLACE_NONE) {
        *element = weft__lower_load(l, phase, home, (weft_dtype)node->dtype);
        return l->status;
    }
    switch ((weft__lang_kind)node->kind) {
    case WEFT__NODE_LITERAL:
        *element = lower_literal(b, &node->literal, (weft_dtype)node->dtype);
        break;
    case WEFT__NODE_OPERAND:
        *element = node->weak ? lower_number(l, node)
                              : weft__lower_load(l, phase, node->operand, (weft_dtype)node->dtype);
        break;
    case WEFT__NODE_CAST:
        *element = lower_cast(l, phase, node);
        break;
    case WEFT__NODE_BROADCAST:
        *element = l->values[phase][node->argument[0]];
        break;
    case WEFT__NODE_INDEX:
        element->dtype = WEFT_I64;
        element->part[0] = weft__build_index(b, weft__lower_axis(l, phase, node->axis));
        break;
    case WEFT__NODE_MAP:
        return lower_map(l, phase, node, element);
    case WEFT__NODE_SHIFT:
        *element = lower_shift(l, phase, node);
        break;
    case WEFT__NODE_FOLD:
        return weft__lower_fold(l, at, false, element);
    }
    return l->status;
}

static weft_status lower_stores(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weft__element element = l->values[WEFT__PHASE_RESULTS][stores[i].node];
        if (stores[i].mean)
            TRY(weft__lower_fold(l, stores[i].node, true, &element));
        int slot =
            weft__lower_operand(l, WEFT__PHASE_RESULTS, stores[i].place, element.dtype, true);
        TRY(l->status);
        weft__build_store(&l->out->builder, slot, element);
    }
    return weft__build_finish(&l->out->builder);
}

static weft_status lower_all(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    const weft__lang_program *p = l->program;
    const weft__lang_node *node = &p->nodes[stores[0].node];
    mark(l, stores, count);
    if (l->fold >= 0)
        node = &p->nodes[p->nodes[l->fold].argument[0]];
    l->out->space = p->shapes[node->shape];
    l->out->builder.kernel.ndim = l->out->space.ndim;
    if (l->fold >= 0)
        l->out->builder.kernel.folded = p->nodes[l->fold].axes;
    for (int phase = 0; phase < WEFT__PHASES; phase++)
        for (uint32_t i = 0; i < p->nodes_count; i++)
            if (l->wanted[phase][i] & 1)
                TRY(lower_node(l, (weft__phase)phase, (int32_t)i));
    return lower_stores(l, stores, count);
}

weft_status weft__lang_lower(const weft__lang_program *program, const weft__schedule *schedule,
                             uint32_t kernel, weft__lowered *out)
{
    const weft__scheduled *stores = schedule->stores + schedule->first[kernel];
    size_t nodes = program->nodes_count;
    weft__lowering_of l = {program, schedule, out, stores->level, -1, {0}, {0}, WEFT_OK};
    memset(out, 0, sizeof *out);
    weft__build_begin(&out->builder);
    size_t bytes =
        4 * nodes * sizeof(uint64_t) + (WEFT__OPERANDS_MAX + 4 * nodes) * sizeof(int32_t);
    size_t scratch = 2 * nodes * (sizeof(weft__element) + 1);
    out->memory = weft__allocate_zeroed(bytes);
    char *memory = weft__allocate_zeroed(scratch);
    weft_status status = WEFT_ERROR_MEMORY;
    if (out->memory && memory) {
        out->numbers = out->memory;
        out->operands = (int32_t *)(void *)(out->numbers + 4 * nodes);
        out->scalars = out->operands + WEFT__OPERANDS_MAX;
        l.values[0] = (weft__element *)(void *)memory;
        l.values[1] = l.values[0] + nodes;
        l.wanted[0] = (uint8_t *)(l.values[1] + nodes);
        l.wanted[1] = l.wanted[0] + nodes;
        status = lower_all(&l, stores, schedule->first[kernel + 1] - schedule->first[kernel]);
    }
    weft__free(memory);
    return status;
}

void weft__lowered_free(weft__lowered *lowered)
{
    weft__build_free(&lowered->builder);
    weft__free(lowered->prepared);
    weft__free(lowered->memory);
    lowered->prepared = NULL;
    lowered->memory = NULL;
}
