/* The values of a kernel, in order: once for the launch, once a row, and for every point. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/fold_emit.h"
#include "codegen/llvm/patch.h"

enum {
    TIED = 8, /* so many operations apart, two vectors of a turn are tied together */
    SHORTEST_REGISTER = 16,
    BLENDED_MOST = 16
};

static const weft__value *value_at(const weft__emitter *emitter, uint32_t k)
{
    return &emitter->survey->kernel->values[k];
}

weft__ref weft__emit_argument(const weft__emitter *emitter, int32_t k)
{
    if (emitter->survey->level[k] == WEFT__LEVEL_POINT)
        return emitter->survey->uniform[k] && emitter->lanes > 1
                   ? weft__emit_splat(emitter, emitter->value[k], emitter->lanes)
                   : emitter->value[k];
    return emitter->lanes == 1 ? emitter->single[k] : emitter->vector[k];
}

static weft__ref bytes_of(const weft__emitter *emitter, int32_t k)
{
    if (emitter->survey->level[k] == WEFT__LEVEL_POINT)
        return emitter->bytes[k];
    return emitter->lanes == 1 ? emitter->single_bytes[k] : emitter->vector_bytes[k];
}

static weft__ref emit_scalar(const weft__emitter *emitter, const weft__value *value)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    const int size = weft__memory_size((weft_dtype)value->dtype);
    weft__ref scalars = weft__flow_field(emitter, emitter->patch, WEFT__PATCH_SCALARS, pointer);
    weft__ref bytes = weft__flow_field(emitter, scalars, value->slot,
                                       weft__llvm.IntTypeInContext(emitter->context, 8U << size));
    return weft__emit_widen(emitter, (weft_dtype)value->dtype, bytes);
}

/* With lanes, a row goes on where the one before it ended. */
static weft__ref emit_index(const weft__emitter *emitter, const weft__value *value)
{
    weft__ref index =
        value->slot == WEFT__INDEX_FOLDED
            ? emitter->folding->folded
            : weft__flow_field(emitter, emitter->patch, WEFT__PATCH_POSITION + value->slot,
                               weft__llvm.IntTypeInContext(emitter->context, 64));
    const bool lanes = emitter->survey->fold_mode == WEFT__FOLD_LANES_MODE;
    weft__ref row = lanes ? weft__llvm.BuildMul(emitter->builder, emitter->row,
                                                weft__emit_i64(emitter, WEFT__FOLD_LANES), "")
                          : emitter->row;
    if (weft__index_by_row(emitter->survey, value))
        index = weft__llvm.BuildAdd(emitter->builder, index, row, "");
    if (!weft__index_by_column(emitter->survey, value))
        return index;
    index = weft__llvm.BuildAdd(emitter->builder, index, emitter->at, "");
    if (emitter->lanes == 1)
        return index;
    weft__ref ramp[64];
    for (int k = 0; k < emitter->lanes; k++)
        ramp[k] = weft__emit_i64(emitter, k);
    return weft__llvm.BuildAdd(emitter->builder, weft__emit_splat(emitter, index, emitter->lanes),
                               weft__llvm.ConstVector(ramp, (unsigned)emitter->lanes), "");
}

static bool is_constant(const weft__value *value, uint64_t bits)
{
    return value->op == WEFT__OP_constant && value->bits == bits;
}

/* The one bit of an integer that decides whether the sign of a float of the same width is flipped,
 * as in sines; or -1 if the select does something else. */
static int flipping_bit(const weft__value *values, const weft__value *select)
{
    const weft__value *condition = &values[select->argument[0]];
    const weft__value *flipped = &values[select->argument[1]];
    const weft_dtype integer = select->dtype == WEFT_F32 ? WEFT_U32 : WEFT_U64;
    if ((select->dtype != WEFT_F32 && select->dtype != WEFT_F64) || flipped->op != WEFT__OP_neg ||
        flipped->argument[0] != select->argument[2] || condition->op != WEFT__OP_ne)
        return -1;
    const weft__value *masked = &values[condition->argument[0]];
    if (masked->op != WEFT__OP_and || masked->dtype != integer ||
        !is_constant(&values[condition->argument[1]], 0))
        return -1;
    const weft__value *mask = &values[masked->argument[1]];
    return mask->op == WEFT__OP_constant && __builtin_popcountll(mask->bits) == 1
               ? __builtin_ctzll(mask->bits)
               : -1;
}

/* Without a mask: on x86, comparing into one waits for the units that multiply. What was compared
 * is at hand where the comparison itself is, and not one of another function or block. */
static weft__ref emit_flip(const weft__emitter *emitter, const weft__value *select, int bit,
                           const weft__ref *x)
{
    const int last = select->dtype == WEFT_F32 ? 31 : 63;
    weft__llvm_builder builder = emitter->builder;
    weft__ref masked = weft__llvm.GetOperand(x[0], 0);
    weft__ref sign = weft__llvm.BuildShl(
        builder, masked, weft__emit_number(emitter, last + 1, (uint64_t)(last - bit)), "");
    weft__ref number = weft__llvm.BuildBitCast(builder, x[2], weft__llvm.TypeOf(sign), "");
    return weft__llvm.BuildBitCast(builder, weft__llvm.BuildXor(builder, number, sign, ""),
                                   weft__llvm.TypeOf(x[2]), "");
}

static weft__ref emit_operation(const weft__emitter *emitter, const weft__value *value)
{
    const weft__value *values = emitter->survey->kernel->values;
    const int typed = value->op == WEFT__OP_select;
    const weft_dtype from = (weft_dtype)values[value->argument[typed]].dtype;
    const weft_dtype to = (weft_dtype)value->dtype;
    weft__ref x[3] = {NULL, NULL, NULL};
    const int bit = typed ? flipping_bit(values, value) : -1;
    for (int k = 0; k < weft__op_arity((weft__op)value->op); k++)
        x[k] = weft__emit_argument(emitter, value->argument[k]);
    if (bit >= 0 && weft__llvm.IsAICmpInst(x[0]))
        return emit_flip(emitter, value, bit, x);
    if (value->op == WEFT__OP_cast)
        return weft__emit_cast(emitter, from, to, x[0]);
    if (value->op == WEFT__OP_bitcast && value->part == 1)
        return weft__llvm.BuildBitCast(emitter->builder, x[0], weft__emit_type(emitter, to), "");
    if (value->op == WEFT__OP_bitcast)
        return weft__emit_bitcast(emitter, from, to, x[0]);
    return weft__emit_arithmetic(emitter, (weft__op)value->op, from, x);
}

static weft__ref emit_value(const weft__emitter *emitter, const weft__value *value)
{
    switch ((weft__op)value->op) {
    case WEFT__OP_constant:
        return weft__emit_constant(emitter, (weft_dtype)value->dtype, value->bits);
    case WEFT__OP_scalar:
        return emit_scalar(emitter, value);
    case WEFT__OP_index:
        return emit_index(emitter, value);
    case WEFT__OP_gather:
        return weft__emit_gather(emitter, value);
    case WEFT__OP_scatter:
        weft__emit_scatter(emitter, value);
        return NULL;
    case WEFT__OP_pass:
        return weft__emit_argument(emitter, value->argument[0]);
    case WEFT__OP_result:
        return weft__emit_result(emitter, value);
    default:
        return emit_operation(emitter, value);
    }
}

static weft_dtype memory_of(const weft__emitter *emitter, const weft__value *value)
{
    return (weft_dtype)emitter->survey->kernel->operands[value->slot].dtype;
}

static void emit_load(const weft__emitter *emitter, uint32_t k, weft__ref *value, weft__ref *bytes)
{
    const weft__value *load = value_at(emitter, k);
    bytes[k] = weft__emit_load(emitter, load);
    if ((emitter->survey->needed[k] & WEFT__NEEDED_VALUE) == 0)
        return;
    value[k] = weft__emit_widen(emitter, memory_of(emitter, load), bytes[k]);
    if (weft__load_is_bounded(emitter->survey->kernel, load))
        value[k] = weft__emit_bounded(emitter, load, value[k],
                                      weft__emit_argument(emitter, load->argument[0]));
}

/* The same in every lane. */
static void make_vector(weft__emitter *emitter, uint32_t k)
{
    const weft__value *value = value_at(emitter, k);
    const int lanes = emitter->survey->lanes;
    if (value->op == WEFT__OP_constant) {
        emitter->lanes = lanes;
        emitter->vector[k] = emit_value(emitter, value);
        emitter->lanes = 1;
        return;
    }
    if (emitter->single[k] != NULL)
        emitter->vector[k] = weft__emit_splat(emitter, emitter->single[k], lanes);
    if ((emitter->survey->needed[k] & WEFT__NEEDED_BYTES) != 0)
        emitter->vector_bytes[k] = weft__emit_splat(emitter, emitter->single_bytes[k], lanes);
}

void weft__emit_level(weft__emitter *emitter, weft__level level)
{
    const weft__survey *survey = emitter->survey;
    emitter->lanes = 1;
    emitter->at = weft__emit_i64(emitter, 0);
    for (uint32_t k = 0; k < survey->kernel->values_count; k++) {
        if (survey->level[k] != level || survey->needed[k] == 0)
            continue;
        if (value_at(emitter, k)->op == WEFT__OP_load)
            emit_load(emitter, k, emitter->single, emitter->single_bytes);
        else
            emitter->single[k] = emit_value(emitter, value_at(emitter, k));
        make_vector(emitter, k);
    }
}

/* What a store puts into memory: the bytes of a load, or a value that is rounded or has one NaN. */
static weft__ref leaving(const weft__emitter *emitter, const weft__value *store)
{
    const weft__value *values = emitter->survey->kernel->values;
    const weft__value *source = &values[store->argument[0]];
    const weft_dtype memory = memory_of(emitter, store);
    if (weft__store_copies(emitter->survey->kernel, store))
        return bytes_of(emitter, store->argument[0]);
    weft__ref x = weft__emit_argument(emitter, store->argument[0]);
    const bool was_integer = source->op == WEFT__OP_cast &&
                             !weft__dtype_is_float((weft_dtype)values[source->argument[0]].dtype);
    if (memory != WEFT_F16 && memory != WEFT_BF16 && !was_integer)
        x = weft__emit_canonical(emitter, (weft_dtype)source->dtype, x);
    return weft__emit_narrow(emitter, memory, x);
}

/* Combines a value with what the vector has of its fold. */
static void emit_fold(const weft__emitter *emitter, const weft__value *value)
{
    weft__folding *folding = emitter->folding;
    int number = 0;
    for (const weft__value *k = emitter->survey->kernel->values; k < value; k++)
        number += k->op == WEFT__OP_fold;
    weft__folded *fold = &folding->fold[number];
    weft__ref from[2] = {weft__emit_argument(emitter, value->argument[0]),
                         fold->numbered ? NULL : weft__emit_argument(emitter, value->argument[1])};
    if (!fold->second)
        weft__fold_add(emitter, fold, from);
}

static void emit_point(weft__emitter *emitter, uint32_t k, weft__ref *pending)
{
    const weft__value *value = value_at(emitter, k);
    if (value->op == WEFT__OP_store)
        pending[k] = leaving(emitter, value);
    else if (value->op == WEFT__OP_load)
        emit_load(emitter, k, emitter->value, emitter->bytes);
    else if (value->op == WEFT__OP_fold)
        emit_fold(emitter, value);
    else
        emitter->value[k] = emit_value(emitter, value);
}

/* The store of the other part, if it comes before this one; else -1. */
static int32_t earlier_part(const weft__emitter *emitter, uint32_t k)
{
    const weft__value *store = value_at(emitter, k);
    for (int32_t j = (int32_t)k - 1; j >= 0; j--) {
        const weft__value *other = value_at(emitter, (uint32_t)j);
        if (other->op == WEFT__OP_store && other->slot == store->slot)
            return j;
    }
    return -1;
}

static void emit_stores(const weft__emitter *emitter, const weft__ref *pending)
{
    const weft__survey *survey = emitter->survey;
    for (uint32_t k = 0; k < survey->kernel->values_count; k++) {
        const weft__value *value = value_at(emitter, k);
        if (value->op != WEFT__OP_store)
            continue;
        if (emitter->lanes == 1 || (survey->flags[value->slot] & WEFT__OPERAND_PAIRED) == 0) {
            weft__emit_store(emitter, value, pending[k]);
            continue;
        }
        const int32_t other = earlier_part(emitter, k);
        if (other >= 0)
            weft__emit_store_pair(emitter, value, pending[value->part == 0 ? k : (uint32_t)other],
                                  pending[value->part == 0 ? (uint32_t)other : k]);
    }
}

/* Makes vector number k of a turn the one that values and addresses are of. */
static void turn_to(weft__emitter *emitter, int k, const weft__ref *at)
{
    const size_t offset = (size_t)k * emitter->survey->kernel->values_count;
    emitter->at = at[k];
    emitter->turn = k;
    emitter->value = emitter->values + offset;
    emitter->bytes = emitter->all_bytes + offset;
    emitter->pending = emitter->all_pending + offset;
    weft__emit_use_mask(emitter, k);
}

/* Left alone, LLVM puts the whole code of one vector before that of the other, and a processor sees
 * only one of them at a time. What no register holds cannot be tied. */
static void tie(weft__emitter *emitter, uint32_t k, int unroll)
{
    const weft__value *value = value_at(emitter, k);
    const weft_dtype dtype = (weft_dtype)value->dtype;
    const size_t bytes = (size_t)emitter->lanes << weft__memory_size(dtype);
    if (value->op == WEFT__OP_store || value->op == WEFT__OP_load || value->op == WEFT__OP_fold ||
        dtype == WEFT_BOOL || bytes < SHORTEST_REGISTER ||
        bytes > (size_t)emitter->survey->target.bytes)
        return;
    if (unroll == 2)
        weft__emit_tie(emitter, &emitter->values[k],
                       &emitter->values[k + emitter->survey->kernel->values_count]);
    else if (!weft__dtype_is_float(dtype))
        emitter->values[k] = weft__emit_opaque_vector(emitter, emitter->values[k]);
}

/* The vectors of a turn, and what is made of them now. */
struct turn {
    weft__ref at[WEFT__UNROLL_MOST];
    int unroll;
    uint32_t made;
    uint32_t given_up;            /* bit k: no lane takes the side of skip number k */
    int blended;                  /* selects that were made with a skip, before their place … */
    uint32_t blend[BLENDED_MOST]; /* … and which */
};
_Static_assert((int)WEFT__SKIPS_MOST <= 32, "skips");

static weft__ref value_in(const weft__emitter *emitter, int k, uint32_t value)
{
    return emitter->values[(size_t)k * emitter->survey->kernel->values_count + value];
}

/* i1: whether any lane of any vector takes the side of a skip. */
static weft__ref emit_any(const weft__emitter *emitter, const struct turn *turn,
                          const weft__skip *skip)
{
    weft__ref any = NULL;
    for (int k = 0; k < turn->unroll; k++) {
        weft__ref lanes = value_in(emitter, k, skip->condition);
        if (skip->side == 2)
            lanes =
                weft__llvm.BuildXor(emitter->builder, lanes, weft__emit_number(emitter, 1, 1), "");
        any = any == NULL ? lanes : weft__llvm.BuildOr(emitter->builder, any, lanes, "");
    }
    if (emitter->lanes == 1)
        return any;
    weft__type bits = weft__llvm.IntTypeInContext(emitter->context, (unsigned)emitter->lanes);
    return weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_NE,
                                weft__llvm.BuildBitCast(emitter->builder, any, bits, ""),
                                weft__llvm.ConstNull(bits), "");
}

/* Whether value k is a select that takes a value of a skip. */
static bool is_taken_by(const weft__survey *survey, const weft__skip *skip, uint32_t value,
                        uint32_t k)
{
    const weft__value *select = &survey->kernel->values[k];
    return select->op == WEFT__OP_select && survey->needed[k] != 0 &&
           select->argument[skip->side] == (int32_t)value;
}

bool weft__skip_leaves(const weft__survey *survey, const weft__skip *skip, uint32_t value)
{
    for (uint32_t k = skip->first; k < survey->kernel->values_count; k++)
        if (is_taken_by(survey, skip, value, k))
            return true;
    return false;
}

/* Whether a select takes what a skip leaves and what is there already. */
static bool is_blend(const weft__survey *survey, const weft__skip *skip, uint32_t k)
{
    const weft__value *value = &survey->kernel->values[k];
    return value->op == WEFT__OP_select && survey->needed[k] != 0 &&
           value->argument[0] == (int32_t)skip->condition &&
           survey->skip[k] == survey->skip[skip->first] &&
           value->argument[3 - skip->side] < (int32_t)skip->first &&
           value->argument[skip->side] < (int32_t)skip->first;
}

/* Selects of what a skip leaves are made where it is computed: elsewhere there is nothing to
 * select.
 */
static void emit_blends(weft__emitter *emitter, struct turn *turn, int number, weft__block before,
                        weft__block after)
{
    const weft__survey *survey = emitter->survey;
    const weft__skip *skip = &survey->skips[number - 1];
    const size_t count = survey->kernel->values_count;
    weft__block inside = weft__flow_here(emitter);
    for (uint32_t k = skip->first; k < count && turn->blended < BLENDED_MOST; k++) {
        if (!is_blend(survey, skip, k))
            continue;
        turn->blend[turn->blended++] = k;
        for (int j = 0; j < turn->unroll; j++) {
            turn_to(emitter, j, turn->at);
            weft__flow_enter(emitter, inside);
            emit_point(emitter, k, NULL);
            weft__ref selected = emitter->value[k];
            weft__ref other =
                weft__emit_argument(emitter, value_at(emitter, k)->argument[3 - skip->side]);
            weft__flow_enter(emitter, after);
            emitter->value[k] = weft__flow_phi(emitter, weft__llvm.TypeOf(selected));
            weft__flow_incoming(emitter->value[k], selected, inside);
            weft__flow_incoming(emitter->value[k], other, before);
        }
    }
    weft__flow_enter(emitter, inside);
}

static bool is_blended(const struct turn *turn, uint32_t value)
{
    for (int k = 0; k < turn->blended; k++)
        if (turn->blend[k] == value)
            return true;
    return false;
}

/* Whether a select takes a value of a skip, other than those that were made with it. */
static bool is_left(const weft__survey *survey, const struct turn *turn, const weft__skip *skip,
                    uint32_t value)
{
    for (uint32_t k = skip->first; k < survey->kernel->values_count; k++)
        if (is_taken_by(survey, skip, value, k) && !is_blended(turn, k))
            return true;
    return false;
}

/* What a skip leaves is what it computed, or anything. */
static void emit_left(weft__emitter *emitter, const struct turn *turn, int number,
                      weft__block before, weft__block inside)
{
    const weft__survey *survey = emitter->survey;
    const weft__skip *skip = &survey->skips[number - 1];
    for (uint32_t value = skip->condition + 1; value < skip->first; value++) {
        if (survey->skip[value] != number || !is_left(survey, turn, skip, value))
            continue;
        for (int k = 0; k < turn->unroll; k++) {
            weft__ref *made = &emitter->values[(size_t)k * survey->kernel->values_count + value];
            weft__type type = weft__llvm.TypeOf(*made);
            weft__ref phi = weft__llvm.BuildPhi(emitter->builder, type, "");
            weft__ref nothing = weft__llvm.ConstNull(type);
            weft__llvm.AddIncoming(phi, made, &inside, 1);
            weft__llvm.AddIncoming(phi, &nothing, &before, 1);
            *made = phi;
        }
    }
}

/* The values from `begin` to before `end` that are in one skip, or in none: number 0. */
static void emit_values(weft__emitter *emitter, struct turn *turn, uint32_t begin, uint32_t end,
                        int number);

void weft__emit_skipped(weft__emitter *emitter, int number)
{
    const weft__skip *skip = &emitter->survey->skips[number - 1];
    struct turn turn = {.unroll = 1};
    emit_values(emitter, &turn, skip->condition + 1, skip->first, number);
}

static bool is_called(const weft__emitter *emitter, int number)
{
    return emitter->lanes > 1 && weft__skip_is_apart(emitter->survey, number);
}

static void emit_skip(weft__emitter *emitter, struct turn *turn, int number)
{
    const weft__skip *skip = &emitter->survey->skips[number - 1];
    const bool gives_up =
        emitter->give_up != NULL && weft__skip_gives_up(emitter->survey, number - 1);
    weft__block after = weft__flow_block(emitter);
    weft__block inside = gives_up ? emitter->give_up : weft__flow_block(emitter);
    weft__block before = weft__llvm.GetInsertBlock(emitter->builder);
    weft__ref branch =
        weft__llvm.BuildCondBr(emitter->builder, emit_any(emitter, turn, skip), inside, after);
    if (gives_up) {
        turn->given_up |= (uint32_t)1 << (number - 1);
        weft__llvm.PositionBuilderAtEnd(emitter->builder, after);
        return;
    }
    weft__llvm.PositionBuilderAtEnd(emitter->builder, inside);
    if (is_called(emitter, number)) {
        weft__emit_rarely(emitter, branch);
        for (int k = 0; k < turn->unroll; k++) {
            turn_to(emitter, k, turn->at);
            weft__emit_rare(emitter, number);
        }
        emit_blends(emitter, turn, number, before, after);
    } else {
        emit_values(emitter, turn, skip->condition + 1, skip->first, number);
        if (weft__skip_is_rare(emitter->survey, number))
            weft__emit_rarely(emitter, branch);
        if (emitter->lanes > 1 && weft__skip_gives_up(emitter->survey, number - 1))
            emit_blends(emitter, turn, number, before, after);
    }
    inside = weft__llvm.GetInsertBlock(emitter->builder);
    weft__llvm.BuildBr(emitter->builder, after);
    weft__llvm.PositionBuilderAtEnd(emitter->builder, after);
    emit_left(emitter, turn, number, before, inside);
}

/* The skips that come before a value. */
static void emit_skips(weft__emitter *emitter, struct turn *turn, uint32_t value)
{
    const weft__survey *survey = emitter->survey;
    for (int k = 0; k < survey->skips_count; k++)
        if (survey->skips[k].first == value)
            emit_skip(emitter, turn, k + 1);
}

/* The argument that a select is known to give, or 0 if it is not known. */
static int known_side(const weft__emitter *emitter, const struct turn *turn,
                      const weft__value *value)
{
    const weft__survey *survey = emitter->survey;
    for (int k = 0; turn->given_up != 0 && k < survey->skips_count; k++)
        if ((turn->given_up >> k & 1) != 0 && value->op == WEFT__OP_select &&
            value->argument[0] == (int32_t)survey->skips[k].condition)
            return 3 - survey->skips[k].side;
    return 0;
}

/* What is the same in all lanes of all vectors is made once. */
static void emit_uniform(weft__emitter *emitter, const struct turn *turn, uint32_t value)
{
    const int lanes = emitter->lanes;
    turn_to(emitter, 0, turn->at);
    emitter->lanes = 1;
    emit_point(emitter, value, emitter->pending);
    emitter->lanes = lanes;
    for (int k = 1; k < turn->unroll; k++)
        emitter->values[(size_t)k * emitter->survey->kernel->values_count + value] =
            emitter->values[value];
}

static bool emit_looped(weft__emitter *emitter, const struct turn *turn, uint32_t value)
{
    const bool flow = weft__value_is_flow(value_at(emitter, value));
    if (flow)
        weft__emit_flow(emitter, value, turn->unroll);
    else if (emitter->survey->uniform[value])
        emit_uniform(emitter, turn, value);
    return flow || emitter->survey->uniform[value];
}

static void emit_values(weft__emitter *emitter, struct turn *turn, uint32_t begin, uint32_t end,
                        int number)
{
    const weft__survey *survey = emitter->survey;
    for (uint32_t value = begin; value < end; value++) {
        if (survey->level[value] != WEFT__LEVEL_POINT || survey->needed[value] == 0 ||
            survey->skip[value] != number ||
            (survey->kernel->loops_count > 0 && emit_looped(emitter, turn, value)))
            continue;
        emit_skips(emitter, turn, value);
        if (is_blended(turn, value))
            continue;
        if (value_at(emitter, value)->op == WEFT__OP_call) {
            weft__emit_piece(emitter, value, turn->unroll);
            continue;
        }
        const int side = known_side(emitter, turn, value_at(emitter, value));
        for (int k = 0; k < turn->unroll; k++) {
            turn_to(emitter, k, turn->at);
            if (side != 0)
                emitter->value[value] =
                    weft__emit_argument(emitter, value_at(emitter, value)->argument[side]);
            else
                emit_point(emitter, value, emitter->pending);
        }
        if (turn->unroll <= 2 && survey->kernel->loops_count == 0 && ++turn->made % TIED == 0)
            tie(emitter, value, turn->unroll);
    }
}

void weft__emit_vectors(weft__emitter *emitter, int unroll)
{
    struct turn turn = {.unroll = unroll};
    emit_values(emitter, &turn, 0, emitter->survey->kernel->values_count, 0);
}

static void emit_all_stores(weft__emitter *emitter, const struct turn *turn)
{
    for (int k = 0; k < turn->unroll; k++) {
        turn_to(emitter, k, turn->at);
        emit_stores(emitter, emitter->pending);
    }
}

static bool all_streamed(const weft__survey *survey)
{
    bool streamed = true;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++)
        streamed &= (survey->flags[k] & WEFT__OPERAND_WRITTEN) == 0 ||
                    (survey->flags[k] & WEFT__OPERAND_STREAMED) != 0;
    return streamed;
}

/* All stores with streaming, or all without: one branch. */
static void emit_either_stores(weft__emitter *emitter, const struct turn *turn)
{
    weft__block streaming = weft__flow_block(emitter), plain = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_branch(emitter, emitter->whole, streaming, plain);
    emitter->whole = NULL;
    for (int k = 0; k < 2; k++) {
        weft__flow_enter(emitter, k == 0 ? streaming : plain);
        emitter->streaming = k == 0;
        emit_all_stores(emitter, turn);
        weft__flow_jump(emitter, after);
    }
    emitter->streaming = false;
    weft__flow_enter(emitter, after);
}

/* The vectors take turns, so that one has work while another waits. All loads come before all
 * stores: that is what the semantics ask for within a point, and what lets a scheduler that knows
 * nothing of aliases have many loads under way. */
void weft__emit_turn(weft__emitter *emitter, weft__ref first, int unroll)
{
    struct turn turn = {.unroll = unroll};
    for (int k = 0; k < unroll; k++)
        turn.at[k] = weft__llvm.BuildAdd(emitter->builder, first,
                                         weft__emit_i64(emitter, (int64_t)k * emitter->lanes), "");
    emit_values(emitter, &turn, 0, emitter->survey->kernel->values_count, 0);
    if (emitter->whole != NULL && unroll > 1 && all_streamed(emitter->survey))
        emit_either_stores(emitter, &turn);
    else
        emit_all_stores(emitter, &turn);
}
