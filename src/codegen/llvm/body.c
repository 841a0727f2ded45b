/* The values of a kernel, in order: once for the launch, once a row, and for every point. */
#include "codegen/llvm/fold_emit.h"
#include "codegen/llvm/patch.h"

enum {
    TIED = 8, /* so many operations apart, two vectors of a turn are tied together */
    SHORTEST_REGISTER = 16
};

static const weft__value *value_at(const weft__emitter *emitter, uint32_t k)
{
    return &emitter->survey->kernel->values[k];
}

/* A value as an argument, with the lanes of what is made now. */
static weft__ref argument_of(const weft__emitter *emitter, int32_t k)
{
    if (emitter->survey->level[k] == WEFT__LEVEL_POINT)
        return emitter->value[k];
    return emitter->lanes == 1 ? emitter->single[k] : emitter->vector[k];
}

static weft__ref bytes_of(const weft__emitter *emitter, int32_t k)
{
    if (emitter->survey->level[k] == WEFT__LEVEL_POINT)
        return emitter->bytes[k];
    return emitter->lanes == 1 ? emitter->single_bytes[k] : emitter->vector_bytes[k];
}

weft__ref weft__emit_field(const weft__emitter *emitter, weft__ref base, int64_t number,
                           weft__type type)
{
    weft__ref address = weft__emit_address(emitter, base, weft__emit_i64(emitter, 8 * number));
    return weft__llvm.BuildLoad2(emitter->builder, type, address, "");
}

static weft__ref emit_scalar(const weft__emitter *emitter, const weft__value *value)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    const int size = weft__memory_size((weft_dtype)value->dtype);
    weft__ref scalars = weft__emit_field(emitter, emitter->patch, WEFT__PATCH_SCALARS, pointer);
    weft__ref bytes = weft__emit_field(emitter, scalars, value->slot,
                                       weft__llvm.IntTypeInContext(emitter->context, 8U << size));
    return weft__emit_widen(emitter, (weft_dtype)value->dtype, bytes);
}

/* With lanes, a row goes on where the one before it ended. */
static weft__ref emit_index(const weft__emitter *emitter, const weft__value *value)
{
    weft__ref index =
        value->slot == WEFT__INDEX_FOLDED
            ? emitter->folding->folded
            : weft__emit_field(emitter, emitter->patch, WEFT__PATCH_POSITION + value->slot,
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

static weft__ref emit_operation(const weft__emitter *emitter, const weft__value *value)
{
    const weft__value *values = emitter->survey->kernel->values;
    const int typed = value->op == WEFT__OP_select;
    const weft_dtype from = (weft_dtype)values[value->argument[typed]].dtype;
    const weft_dtype to = (weft_dtype)value->dtype;
    weft__ref x[3] = {NULL, NULL, NULL};
    for (int k = 0; k < weft__op_arity((weft__op)value->op); k++)
        x[k] = argument_of(emitter, value->argument[k]);
    if (value->op == WEFT__OP_cast)
        return weft__emit_cast(emitter, from, to, x[0]);
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
        value[k] =
            weft__emit_bounded(emitter, load, value[k], argument_of(emitter, load->argument[0]));
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
    weft__ref x = argument_of(emitter, store->argument[0]);
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
    weft__ref from[2] = {argument_of(emitter, value->argument[0]),
                         argument_of(emitter, value->argument[1])};
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
}

/* Left alone, LLVM puts the whole code of one vector before that of the other, and a processor sees
 * only one of them at a time. */
static void tie(weft__emitter *emitter, uint32_t k)
{
    const weft__value *value = value_at(emitter, k);
    const weft_dtype dtype = (weft_dtype)value->dtype;
    if (value->op != WEFT__OP_store && value->op != WEFT__OP_load && value->op != WEFT__OP_fold &&
        weft__dtype_is_float(dtype) &&
        emitter->lanes << weft__memory_size(dtype) >= SHORTEST_REGISTER)
        weft__emit_tie(emitter, &emitter->values[k],
                       &emitter->values[k + emitter->survey->kernel->values_count]);
}

/* The vectors take turns, so that one has work while another waits. All loads come before all
 * stores: that is what the semantics ask for within a point, and what lets a scheduler that knows
 * nothing of aliases have many loads under way. */
void weft__emit_turn(weft__emitter *emitter, weft__ref first, int unroll)
{
    const weft__survey *survey = emitter->survey;
    weft__ref at[WEFT__UNROLL_MOST];
    uint32_t made = 0;
    for (int k = 0; k < unroll; k++)
        at[k] = weft__llvm.BuildAdd(emitter->builder, first,
                                    weft__emit_i64(emitter, (int64_t)k * emitter->lanes), "");
    for (uint32_t value = 0; value < survey->kernel->values_count; value++) {
        if (survey->level[value] != WEFT__LEVEL_POINT || survey->needed[value] == 0)
            continue;
        for (int k = 0; k < unroll; k++) {
            turn_to(emitter, k, at);
            emit_point(emitter, value, emitter->pending);
        }
        if (unroll == 2 && ++made % TIED == 0)
            tie(emitter, value);
    }
    for (int k = 0; k < unroll; k++) {
        turn_to(emitter, k, at);
        emit_stores(emitter, emitter->pending);
    }
}
