/* From typed programs to kernels: nodes become values, one after the other. */
#include "core/allocate.h"
#include "core/dtype.h"
#include "core/status.h"
#include "lang/lower_map.h"
#include "lang/lowering.h"
#include <math.h>
#include <string.h>

/* Whether the node is in memory when the kernel runs, and where. */
static int32_t home_of(const weft__lowering_of *l, int32_t node)
{
    int32_t home = l->schedule->home[node];
    if (home == WEFT__PLACE_NONE || l->schedule->level[node] >= l->level)
        return WEFT__PLACE_NONE;
    return home < 0 ? home : home + WEFT__PLACE_ASSIGNED;
}

static uint32_t wanted(const weft__lowering_of *l, weft__phase phase, int32_t node)
{
    uint32_t found = l->wanted[phase][node];
    return found / 4 == l->mark ? found % 4 : 0;
}

static void want(const weft__lowering_of *l, weft__phase phase, int32_t node, uint32_t what)
{
    l->wanted[phase][node] = 4 * l->mark + (wanted(l, phase, node) | what);
}

/* A float literal is f64 until it is cast, which is done here. */
static bool casts_literal(const weft__lang_program *program, const weft__lang_node *node)
{
    if (node->kind != WEFT__NODE_CAST)
        return false;
    const weft__lang_node *from = &program->nodes[node->argument[0]];
    if (from->kind != WEFT__NODE_LITERAL || (from->dtype != WEFT_F64 && from->dtype != WEFT_C128))
        return false;
    return node->dtype == WEFT_F32 || node->dtype == WEFT_F64 ||
           (node->dtype == WEFT_C64 && from->dtype == WEFT_C128);
}

/* The first argument whose value the node needs: a shift reads memory, not argument 0. */
static int first_argument(const weft__lowering_of *l, const weft__lang_node *node)
{
    return node->kind == WEFT__NODE_SHIFT ? 1 : casts_literal(l->program, node) ? 3 : 0;
}

static void want_arguments(const weft__lowering_of *l, weft__phase phase, int32_t node)
{
    const weft__lang_node *n = &l->program->nodes[node];
    for (int k = first_argument(l, n); k < 3; k++)
        if (n->argument[k] >= 0)
            want(l, phase, n->argument[k], 1);
}

/* A run of the order of evaluation. */
typedef struct range {
    uint32_t first, end;
} range;

/* The piece that the kernel belongs to. What it stores of others is in memory or is repeated. */
static range range_of(const weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    const weft__pieces *pieces = &l->schedule->pieces;
    int32_t piece = 0;
    for (uint32_t i = 0; i < count; i++)
        piece = pieces->piece[stores[i].node] > piece ? pieces->piece[stores[i].node] : piece;
    return (range){pieces->first[piece], pieces->first[piece + 1]};
}

/* Marks the nodes that the stores depend on: arguments come before their users. */
static void mark(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count, range piece)
{
    for (uint32_t i = 0; i < count; i++)
        want(l, WEFT__PHASE_RESULTS, stores[i].node, stores[i].mean ? 2 : 1);
    for (uint32_t k = piece.end; k-- > piece.first;) {
        int32_t i = l->schedule->pieces.order[k];
        bool fold = l->program->nodes[i].kind == WEFT__NODE_FOLD;
        uint32_t result = wanted(l, WEFT__PHASE_RESULTS, i);
        bool in_memory = home_of(l, i) != WEFT__PLACE_NONE;
        if (wanted(l, WEFT__PHASE_POINTS, i) && !in_memory)
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

/* The nearest f16 or bf16, ties to even, in any rounding mode. */
static double round_narrow(double x, weft_dtype dtype)
{
    const int digits = dtype == WEFT_F16 ? 11 : 8, least = dtype == WEFT_F16 ? -24 : -133;
    const double most = dtype == WEFT_F16 ? 65504 : 0x1.fep127;
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    frexp(x, &exponent);
    exponent = exponent - digits > least ? exponent - digits : least;
    double scaled = ldexp(x, -exponent), whole = floor(scaled), rest = scaled - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0))
        whole++;
    double rounded = copysign(ldexp(whole, exponent), x);
    return fabs(rounded) > most ? copysign(INFINITY, x) : rounded;
}

static int32_t lower_bits(weft__lowering_of *l, weft_dtype dtype, uint64_t bits)
{
    weft__lowered *out = l->out;
    if (l->schedule->pieces.count == 1)
        return weft__build_constant(&out->builder, dtype, bits);
    out->numbers[out->numbers_count++] = bits;
    out->scalars[out->scalars_count++] = -(int32_t)out->numbers_count;
    return weft__build_scalar(&out->builder, dtype);
}

static weft__element lower_literal(weft__lowering_of *l, const weft__lang_literal *literal,
                                   weft_dtype dtype)
{
    weft__element element = {.dtype = dtype};
    weft_dtype value = weft__value_dtype(dtype);
    if (weft__dtype_rank(dtype) <= WEFT__RANK_INTEGER) {
        element.part[0] = lower_bits(l, dtype, literal->u);
        return element;
    }
    for (int part = 0; part < (is_complex(dtype) ? 2 : 1); part++) {
        double x = is_complex(dtype) ? literal->complex_[part] : literal->f;
        if (dtype == WEFT_F16 || dtype == WEFT_BF16)
            x = round_narrow(x, dtype);
        uint64_t bits = value == WEFT_F32 ? bits_of_f32(x) : bits_of_f64(x);
        element.part[part] = lower_bits(l, value, bits);
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

static bool is_load(const weft__builder *b, const weft__element *element)
{
    const weft__value *value = &b->kernel.values[element->part[0]];
    return value->op == WEFT__OP_load && b->kernel.operands[value->slot].dtype == element->dtype;
}

/* To f16 and bf16 a cast always rounds: values of these types are computed in f32. What memory of
 * that type holds stays as it is, so that copies of shifted arrays are copies. */
static weft__element lower_cast(weft__lowering_of *l, weft__phase phase,
                                const weft__lang_node *node)
{
    weft_dtype to = (weft_dtype)node->dtype;
    if (casts_literal(l->program, node))
        return lower_literal(l, &l->program->nodes[node->argument[0]].literal, to);
    weft__element element = l->values[phase][node->argument[0]];
    if (element.dtype == to && (to == WEFT_F16 || to == WEFT_BF16) &&
        !is_load(&l->out->builder, &element))
        element.dtype = WEFT_F32;
    return weft__build_convert(&l->out->builder, element, to);
}

/* The array under a shift is an operand as it was (after b = a, that is a), or what an earlier
 * kernel has stored. */
static weft__element lower_shift(weft__lowering_of *l, weft__phase phase,
                                 const weft__lang_node *node)
{
    bool bounded = l->program->shifts[node->shift].boundary == WEFT__BOUNDARY_CONSTANT;
    int32_t home = home_of(l, node->argument[0]);
    int32_t operand = l->program->nodes[node->argument[0]].operand;
    return weft__lower_shift(l, phase, node, home == WEFT__PLACE_NONE ? operand : home,
                             bounded ? &l->values[phase][node->argument[1]] : NULL);
}

static void lower_map(weft__lowering_of *l, weft__phase phase, const weft__lang_node *node,
                      weft__element *element)
{
    weft__element arguments[3] = {{{0}, WEFT_DTYPE_DEFAULT}};
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0)
            arguments[k] = l->values[phase][node->argument[k]];
    weft__lower_map(&l->out->builder, (weft__lang_operation)node->operation,
                    (weft_dtype)node->dtype, arguments, element);
}

/* Along an axis of size 1 the position stays 0 where the value is repeated over a longer one. */
static weft__element lower_index(weft__lowering_of *l, weft__phase phase,
                                 const weft__lang_node *node)
{
    weft__builder *b = &l->out->builder;
    weft__element element = {.dtype = WEFT_I64};
    element.part[0] = l->program->shapes[node->shape].size[0] == 1
                          ? weft__build_constant(b, WEFT_I64, 0)
                          : weft__build_index(b, weft__lower_axis(l, phase, node->axis));
    return element;
}

weft_dtype weft__lower_stored(int32_t place, weft_dtype dtype)
{
    bool narrow = dtype == WEFT_F16 || dtype == WEFT_BF16;
    return place <= WEFT__PLACE_TEMPORARY && narrow ? WEFT_F32 : dtype;
}

static weft_status lower_kind(weft__lowering_of *l, weft__phase phase, int32_t at,
                              weft__element *element)
{
    const weft__lang_node *node = &l->program->nodes[at];
    switch ((weft__lang_kind)node->kind) {
    case WEFT__NODE_LITERAL:
        *element = lower_literal(l, &node->literal, (weft_dtype)node->dtype);
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
        *element = lower_index(l, phase, node);
        break;
    case WEFT__NODE_MAP:
        lower_map(l, phase, node, element);
        break;
    case WEFT__NODE_SHIFT:
        *element = lower_shift(l, phase, node);
        break;
    case WEFT__NODE_FOLD:
        return weft__lower_fold(l, at, false, element);
    case WEFT__NODE_GATHER:
        *element = weft__lower_gather(l, phase, node);
        break;
    case WEFT__NODE_LOOP:
        weft__lower_loop(l, phase, node, element);
        break;
    }
    return l->status;
}

/* Of what is not lowered yet when it is used: values of other pieces, which are in memory, and
 * nodes that each piece repeats, which have at most a leaf below them. */
static weft_status lower_outside(weft__lowering_of *l, weft__phase phase, int32_t at)
{
    const weft__lang_node *node = &l->program->nodes[at];
    bool converts = node->kind == WEFT__NODE_CAST || node->kind == WEFT__NODE_BROADCAST;
    int32_t home = home_of(l, at), leaf = node->argument[0];
    if (l->lowered[phase][at] == l->mark)
        return WEFT_OK;
    l->lowered[phase][at] = l->mark;
    weft__element *element = &l->values[phase][at];
    if (home != WEFT__PLACE_NONE) {
        *element =
            weft__lower_load(l, phase, home, weft__lower_stored(home, (weft_dtype)node->dtype));
        element->dtype = (weft_dtype)node->dtype;
        return l->status;
    }
    if (converts && l->lowered[phase][leaf] != l->mark && !casts_literal(l->program, node)) {
        l->lowered[phase][leaf] = l->mark;
        TRY(lower_kind(l, phase, leaf, &l->values[phase][leaf]));
    }
    return lower_kind(l, phase, at, element);
}

static weft_status lower_node(weft__lowering_of *l, weft__phase phase, int32_t at)
{
    const weft__lang_node *node = &l->program->nodes[at];
    weft__phase below = node->kind == WEFT__NODE_FOLD ? WEFT__PHASE_POINTS : phase;
    bool in_memory = home_of(l, at) != WEFT__PLACE_NONE;
    for (int k = first_argument(l, node); k < 3 && !in_memory; k++)
        if (node->argument[k] >= 0)
            TRY(lower_outside(l, below, node->argument[k]));
    return lower_outside(l, phase, at);
}

static weft_status lower_stores(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t node = stores[i].node;
        weft__element element = {.dtype = WEFT_DTYPE_DEFAULT};
        if (stores[i].mean) {
            TRY(lower_outside(l, WEFT__PHASE_POINTS, l->program->nodes[node].argument[0]));
            TRY(weft__lower_fold(l, node, true, &element));
        } else {
            TRY(lower_outside(l, WEFT__PHASE_RESULTS, node));
            element = l->values[WEFT__PHASE_RESULTS][node];
        }
        element.dtype = weft__lower_stored(stores[i].place, element.dtype);
        int slot =
            weft__lower_operand(l, WEFT__PHASE_RESULTS, stores[i].place, element.dtype, true);
        TRY(l->status);
        weft__build_store(&l->out->builder, slot, element);
    }
    return weft__build_finish(&l->out->builder);
}

/* What a loop has in it and does not change is computed before it. */
static weft_status lower_before(weft__lowering_of *l, weft__phase phase, uint32_t enter,
                                uint32_t end)
{
    if (l->schedule->pieces.count > 1)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "what is around a loop is too long for one kernel");
    end = weft__lower_varies(l, enter, end);
    for (uint32_t k = enter; k < end; k++) {
        int32_t i = l->schedule->pieces.order[k];
        if (wanted(l, phase, i) & 1 && !l->varies[i])
            TRY(lower_node(l, phase, i));
    }
    return WEFT_OK;
}

static weft_status lower_values(weft__lowering_of *l, const weft__scheduled *stores, uint32_t count)
{
    const weft__lang_program *p = l->program;
    const weft__lang_node *node = &p->nodes[stores[0].node];
    const range piece = range_of(l, stores, count);
    mark(l, stores, count, piece);
    if (l->fold >= 0)
        node = &p->nodes[p->nodes[l->fold].argument[0]];
    l->out->space = p->shapes[node->shape];
    l->out->builder.kernel.ndim = l->out->space.ndim;
    if (l->fold >= 0)
        l->out->builder.kernel.folded = p->nodes[l->fold].axes;
    for (int phase = 0; phase < WEFT__PHASES; phase++)
        for (uint32_t k = piece.first; k < piece.end; k++) {
            int32_t i = l->schedule->pieces.order[k];
            bool enters =
                p->nodes[i].kind == WEFT__NODE_LOOP && p->nodes[i].operation == WEFT__LOOP_ENTER;
            if (wanted(l, (weft__phase)phase, i) & 1 && enters)
                TRY(lower_before(l, (weft__phase)phase, k, piece.end));
            if (wanted(l, (weft__phase)phase, i) & 1)
                TRY(lower_node(l, (weft__phase)phase, i));
        }
    return lower_stores(l, stores, count);
}

/* Copies the lists, which are in memory for the largest kernel until now. */
static weft_status keep_lists(weft__lowered *out)
{
    size_t numbers = out->numbers_count * sizeof *out->numbers;
    size_t operands = out->operands_count * sizeof *out->operands;
    size_t scalars = out->scalars_count * sizeof *out->scalars;
    char *memory = weft__allocate(numbers + operands + scalars + 1);
    if (!memory)
        return WEFT_ERROR_MEMORY;
    out->memory = memory;
    memcpy(memory, out->numbers, numbers);
    memcpy(memory + numbers, out->operands, operands);
    memcpy(memory + numbers + operands, out->scalars, scalars);
    out->numbers = out->memory;
    out->operands = (int32_t *)(void *)(memory + numbers);
    out->scalars = (int32_t *)(void *)(memory + numbers + operands);
    return WEFT_OK;
}

static weft_status lower_kernel(weft__lowering_of *l, uint32_t kernel, void *lists, size_t room)
{
    const weft__schedule *schedule = l->schedule;
    const weft__scheduled *stores = schedule->stores + schedule->first[kernel];
    weft__lowered *out = l->out;
    l->level = stores->level;
    l->fold = -1;
    l->mark = kernel + 1;
    weft__build_begin(&out->builder);
    out->numbers = lists;
    out->scalars = (int32_t *)(void *)(out->numbers + room);
    out->operands = out->scalars + room;
    weft_status status =
        lower_values(l, stores, schedule->first[kernel + 1] - schedule->first[kernel]);
    return status == WEFT_OK ? keep_lists(out) : status;
}

/* The most scalars that a kernel can have: two for each node of its piece, the arguments of those
 * and what it stores, at each point and at each that is left. */
static size_t most_scalars(const weft__schedule *schedule)
{
    size_t nodes = 0, stores = 0;
    for (uint32_t p = 0; p < schedule->pieces.count; p++) {
        size_t count = schedule->pieces.first[p + 1] - schedule->pieces.first[p];
        nodes = count > nodes ? count : nodes;
    }
    for (uint32_t k = 0; k < schedule->kernels_count; k++) {
        size_t count = schedule->first[k + 1] - schedule->first[k];
        stores = count > stores ? count : stores;
    }
    return 2 * 2 * (2 * 4 * nodes + 2 * stores);
}

weft_status weft__lang_lower(const weft__lang_program *program, const weft__schedule *schedule,
                             weft__lowered *kernels)
{
    size_t nodes = program->nodes_count, room = most_scalars(schedule);
    weft__lowering_of l = {.program = program, .schedule = schedule};
    char *memory =
        weft__allocate_zeroed(2 * nodes * (sizeof(weft__element) + 2 * sizeof(uint32_t)) + nodes);
    void *lists = weft__allocate(room * (sizeof(uint64_t) + sizeof(int32_t)) +
                                 WEFT__OPERANDS_MAX * sizeof(int32_t));
    weft_status status = memory && lists ? WEFT_OK : WEFT_ERROR_MEMORY;
    for (int phase = 0; phase < WEFT__PHASES && memory; phase++) {
        l.values[phase] = (weft__element *)(void *)memory + (size_t)phase * nodes;
        uint32_t *marks = (uint32_t *)(void *)((weft__element *)(void *)memory + 2 * nodes);
        l.wanted[phase] = marks + (size_t)phase * nodes;
        l.lowered[phase] = marks + (size_t)(2 + phase) * nodes;
        l.varies = (uint8_t *)(marks + 4 * nodes);
    }
    for (uint32_t k = 0; k < schedule->kernels_count && status == WEFT_OK; k++) {
        l.out = &kernels[k];
        status = lower_kernel(&l, k, lists, room);
    }
    weft__free(memory);
    weft__free(lists);
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
