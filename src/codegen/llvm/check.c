/* Checks that a kernel is made of what docs/semantics.md defines, so that no wrong code reaches
 * LLVM. */
#include "codegen/llvm/survey.h"
#include "core/status.h"

static const char *const names[] = {
#define NAME(name, arity) #name,
    WEFT__OP_LIST(NAME)
#undef NAME
};

static const uint8_t arities[] = {
#define ARITY(name, arity) arity,
    WEFT__OP_LIST(ARITY)
#undef ARITY
};

int weft__op_arity(weft__op op) { return arities[op]; }

enum {
    BOOLS = 1,
    SIGNED = 2,
    UNSIGNED = 4,
    FLOATS = 8,
    SINGLE = 16,
    WIDE = 32,
    INTEGERS = SIGNED | UNSIGNED,
    NUMBERS = INTEGERS | FLOATS,
    ALL = NUMBERS | BOOLS
};

/* The types that a primitive takes; those with rules of their own are not here. */
static const uint8_t types[WEFT__OP_COUNT] = {
    [WEFT__OP_select] = ALL,
    [WEFT__OP_eq] = ALL,
    [WEFT__OP_ne] = ALL,
    [WEFT__OP_lt] = ALL,
    [WEFT__OP_le] = ALL,
    [WEFT__OP_add] = NUMBERS,
    [WEFT__OP_sub] = NUMBERS,
    [WEFT__OP_mul] = NUMBERS,
    [WEFT__OP_mul_high] = WIDE,
    [WEFT__OP_div] = NUMBERS,
    [WEFT__OP_rem] = INTEGERS,
    [WEFT__OP_fma] = FLOATS,
    [WEFT__OP_neg] = NUMBERS,
    [WEFT__OP_abs] = NUMBERS,
    [WEFT__OP_sqrt] = FLOATS,
    [WEFT__OP_min] = NUMBERS,
    [WEFT__OP_max] = NUMBERS,
    [WEFT__OP_floor] = FLOATS,
    [WEFT__OP_ceil] = FLOATS,
    [WEFT__OP_trunc] = FLOATS,
    [WEFT__OP_round] = FLOATS,
    [WEFT__OP_and] = INTEGERS | BOOLS,
    [WEFT__OP_or] = INTEGERS | BOOLS,
    [WEFT__OP_xor] = INTEGERS | BOOLS,
    [WEFT__OP_not] = INTEGERS | BOOLS,
    [WEFT__OP_shl] = INTEGERS,
    [WEFT__OP_shr] = INTEGERS,
    [WEFT__OP_round_f16] = SINGLE,
    [WEFT__OP_round_bf16] = SINGLE,
};

static int kinds_of(weft_dtype dtype)
{
    if (dtype == WEFT_BOOL)
        return BOOLS;
    if (dtype == WEFT_F32)
        return FLOATS | SINGLE;
    if (dtype == WEFT_F64)
        return FLOATS;
    if (dtype < WEFT_I8 || dtype > WEFT_U64)
        return 0;
    const int wide = weft__memory_size(dtype) >= 2 ? WIDE : 0;
    return wide | (weft__dtype_is_signed(dtype) ? SIGNED : UNSIGNED);
}

static bool check_memory(const weft__kernel *kernel, const weft__value *value)
{
    if (value->slot >= kernel->operands_count || value->part > 1)
        return false;
    const weft_dtype dtype = (weft_dtype)kernel->operands[value->slot].dtype;
    return dtype > WEFT_DTYPE_DEFAULT && dtype < WEFT_DTYPE_END &&
           (value->part == 0 || weft__dtype_is_complex(dtype)) &&
           weft__value_dtype(dtype) == (weft_dtype)value->dtype;
}

static bool check_load(const weft__kernel *kernel, const weft__value *value, const weft_dtype *from)
{
    return check_memory(kernel, value) &&
           (!weft__load_is_bounded(kernel, value) || from[0] == (weft_dtype)value->dtype);
}

static bool check_operation(const weft__value *value, const weft_dtype *from)
{
    const weft_dtype to = (weft_dtype)value->dtype;
    if (value->op == WEFT__OP_cast)
        return kinds_of(from[0]) != 0 && kinds_of(to) != 0;
    if (value->op == WEFT__OP_bitcast)
        return kinds_of(from[0]) != 0 && kinds_of(to) != 0 &&
               weft__memory_size(from[0]) == weft__memory_size(to) &&
               (value->part == 0 || (kinds_of(from[0]) & FLOATS) != 0);
    const int first = value->op == WEFT__OP_select;
    if (first == 1 && from[0] != WEFT_BOOL)
        return false;
    for (int k = first; k < arities[value->op]; k++)
        if (from[k] != from[first] || (types[value->op] & kinds_of(from[k])) == 0)
            return false;
    const bool compare = value->op >= WEFT__OP_eq && value->op <= WEFT__OP_le;
    return to == (compare ? WEFT_BOOL : from[first]);
}

/* Both parts of a pair have the arguments of both. */
static bool check_fold(const weft__kernel *kernel, const weft__value *value, const weft_dtype *from)
{
    const weft_dtype to = (weft_dtype)value->dtype;
    switch ((int)value->slot) {
    case WEFT__OP_add:
    case WEFT__OP_mul:
    case WEFT__OP_min:
    case WEFT__OP_max:
    case WEFT__OP_and:
    case WEFT__OP_or:
        return value->part == 0 && to == from[0] && (types[value->slot] & kinds_of(to)) != 0;
    case WEFT__FOLD_ARGMIN:
    case WEFT__FOLD_ARGMAX:
        if ((kinds_of(from[0]) & NUMBERS) == 0 || from[1] != WEFT_I64 || to != from[value->part])
            return false;
        break;
    case WEFT__FOLD_PRODUCT:
        if ((kinds_of(to) & FLOATS) == 0 || from[0] != to || from[1] != to)
            return false;
        break;
    default:
        return false;
    }
    const weft__value *other = value->part == 0 ? value + 1 : value - 1;
    return other >= kernel->values && other < kernel->values + kernel->values_count &&
           other->op == WEFT__OP_fold && other->slot == value->slot &&
           other->part == 1 - value->part && other->argument[0] == value->argument[0] &&
           other->argument[1] == value->argument[1];
}

static bool check_value(const weft__kernel *kernel, uint32_t position)
{
    const weft__value *value = &kernel->values[position];
    weft_dtype from[3] = {WEFT_DTYPE_DEFAULT};
    if (value->op >= WEFT__OP_COUNT || value->shift > kernel->shifts_count || value->part > 1)
        return false;
    for (int k = 0; k < weft__value_arguments(kernel, value); k++) {
        const int32_t at = value->argument[k];
        if (at < 0 || at >= (int32_t)position || kernel->values[at].op == WEFT__OP_store ||
            kernel->values[at].op == WEFT__OP_fold)
            return false;
        from[k] = (weft_dtype)kernel->values[at].dtype;
    }
    switch ((weft__op)value->op) {
    case WEFT__OP_store:
        return check_memory(kernel, value) && from[0] == (weft_dtype)value->dtype;
    case WEFT__OP_load:
        return check_load(kernel, value, from);
    case WEFT__OP_gather:
        return check_memory(kernel, value) && from[0] == WEFT_I64;
    case WEFT__OP_scatter:
        return check_memory(kernel, value) && from[0] == WEFT_I64 &&
               from[1] == (weft_dtype)value->dtype && from[2] == WEFT_BOOL;
    case WEFT__OP_carry:
        return from[0] == (weft_dtype)value->dtype && kinds_of(from[0]) != 0;
    case WEFT__OP_test:
        return from[0] == WEFT_BOOL;
    case WEFT__OP_next:
        return kernel->values[value->argument[0]].op == WEFT__OP_carry && from[0] == from[1] &&
               from[0] == (weft_dtype)value->dtype;
    case WEFT__OP_loop:
    case WEFT__OP_end:
    case WEFT__OP_pass:
    case WEFT__OP_call:
    case WEFT__OP_result:
        return true;
    case WEFT__OP_index:
        return value->dtype == WEFT_I64 &&
               (value->slot < WEFT_NDIM_MAX || value->slot == WEFT__INDEX_FOLDED);
    case WEFT__OP_fold:
        return check_fold(kernel, value, from);
    case WEFT__OP_scalar:
        return value->slot < kernel->scalars_count && kinds_of((weft_dtype)value->dtype) != 0;
    case WEFT__OP_constant:
        return kinds_of((weft_dtype)value->dtype) != 0;
    default:
        return check_operation(value, from);
    }
}

weft_status weft__kernel_check(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const uint8_t op = kernel->values[k].op;
        if (!check_value(kernel, k))
            return FAIL(WEFT_ERROR_COMPILE,
                        "value %u of the kernel: %s is not defined for its types", k,
                        op < WEFT__OP_COUNT ? names[op] : "an unknown primitive");
    }
    return WEFT_OK;
}
