/* Splitting a kernel with folds into one for the points and one for the results. */
#include "codegen/llvm/fold.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

/* Kept axes come first in a launch, folded ones after them. */
static uint16_t launched_axis(const weft__kernel *kernel, int axis)
{
    const uint32_t all = (1U << kernel->ndim) - 1, before = (1U << axis) - 1;
    const uint32_t folded = kernel->folded & all, kept = ~folded & all;
    if ((kept >> axis & 1) != 0)
        return (uint16_t)__builtin_popcount(kept & before);
    return (uint16_t)(__builtin_popcount(kept) + __builtin_popcount(folded & before));
}

static weft__value renumbered(const weft__kernel *kernel, uint32_t position, const int32_t *number)
{
    weft__value value = kernel->values[position];
    for (int j = 0; j < weft__op_arity((weft__op)value.op); j++)
        value.argument[j] = number[value.argument[j]];
    if (value.op == WEFT__OP_index && value.slot != WEFT__INDEX_FOLDED)
        value.slot = launched_axis(kernel, value.slot);
    return value;
}

/* Backwards from the folds; or from the stores, to the folds. */
static void mark(const weft__kernel *kernel, bool points, uint8_t *wanted)
{
    memset(wanted, 0, kernel->values_count);
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        const bool fold = value->op == WEFT__OP_fold;
        if (fold || value->op == WEFT__OP_store)
            wanted[k] = fold || !points;
        const bool goes_on = wanted[k] && (points || !fold);
        for (int j = 0; goes_on && j < weft__op_arity((weft__op)value->op); j++)
            wanted[value->argument[j]] = 1;
    }
}

static void make_points(const weft__kernel *kernel, const uint8_t *wanted, int32_t *number,
                        weft__kernel *points)
{
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        if (!wanted[k])
            continue;
        points->values[points->values_count] = renumbered(kernel, k, number);
        number[k] = (int32_t)points->values_count++;
    }
}

/* What a fold becomes is no load, so that a NaN of it is made canonical when it is stored. */
static weft__value result_of(const weft__value *fold, int32_t load)
{
    return (weft__value){.op = WEFT__OP_cast, .dtype = fold->dtype, .argument = {load}};
}

static bool is_folded_index(const weft__kernel *kernel, const weft__value *value)
{
    return value->op == WEFT__OP_index &&
           (value->slot == WEFT__INDEX_FOLDED || (kernel->folded >> value->slot & 1) != 0);
}

static void make_results(const weft__kernel *kernel, const uint8_t *wanted, int32_t *number,
                         weft__kernel *results)
{
    uint32_t folds = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op != WEFT__OP_fold)
            continue;
        results->operands[results->operands_count] =
            (weft__kernel_operand){.dtype = value->dtype, .kept = true};
        results->values[results->values_count++] =
            (weft__value){.op = WEFT__OP_load,
                          .dtype = value->dtype,
                          .slot = (uint16_t)results->operands_count++};
    }
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (!wanted[k])
            continue;
        weft__value *made = &results->values[results->values_count];
        if (value->op == WEFT__OP_fold)
            *made = result_of(value, (int32_t)folds++);
        else if (is_folded_index(kernel, value)) /* results are at position 0 of these axes */
            *made = (weft__value){.op = WEFT__OP_constant, .dtype = WEFT_I64};
        else
            *made = renumbered(kernel, k, number);
        number[k] = (int32_t)results->values_count++;
    }
}

static weft_status check(const weft__kernel *kernel)
{
    uint32_t folds = 0;
    if (kernel->shifts_count > 0)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "folds of displaced loads are not compiled");
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        folds += value->op == WEFT__OP_fold;
        for (int j = 0; j < weft__op_arity((weft__op)value->op); j++)
            if (value->argument[j] < 0 || value->argument[j] >= (int32_t)k)
                return FAIL(WEFT_ERROR_COMPILE, "value %u of the kernel has no such argument", k);
    }
    if (folds > WEFT__FOLDS_MAX || kernel->operands_count + folds > WEFT__OPERANDS_MAX)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "the kernel has too many folds or operands");
    return WEFT_OK;
}

weft_status weft__fold_split(const weft__kernel *kernel, weft__fold_parts *parts)
{
    TRY(check(kernel));
    const size_t values = kernel->values_count, operands = kernel->operands_count;
    const size_t room = values + WEFT__FOLDS_MAX;
    weft__value *memory =
        weft__allocate_zeroed((values + room) * sizeof *memory +
                              (operands + WEFT__FOLDS_MAX) * sizeof(weft__kernel_operand) +
                              values * (sizeof(int32_t) + 1) + sizeof(int32_t));
    if (memory == NULL)
        return WEFT_ERROR_MEMORY;
    *parts = (weft__fold_parts){*kernel, *kernel, memory};
    int32_t *number = (int32_t *)(void *)(memory + values + room);
    uint8_t *wanted = (uint8_t *)(number + values);
    parts->points.values = memory;
    parts->results.values = memory + values;
    parts->results.operands = (weft__kernel_operand *)(void *)(wanted + values);
    if (operands > 0)
        memcpy(parts->results.operands, kernel->operands, operands * sizeof *kernel->operands);
    parts->points.values_count = parts->results.values_count = parts->results.folds_count = 0;
    mark(kernel, true, wanted);
    make_points(kernel, wanted, number, &parts->points);
    mark(kernel, false, wanted);
    make_results(kernel, wanted, number, &parts->results);
    return WEFT_OK;
}

void weft__fold_parts_free(weft__fold_parts *parts) { weft__free(parts->memory); }

uint64_t weft__fold_neutral(int kind, weft_dtype dtype, int part)
{
    const bool one =
        kind == WEFT__OP_mul || kind == WEFT__OP_and || (kind == WEFT__FOLD_PRODUCT && part == 0);
    if (!one)
        return 0;
    return dtype == WEFT_F32 ? 0x3f800000U : dtype == WEFT_F64 ? 0x3ff0000000000000U : 1;
}

/* The largest number of a type, or the smallest. */
static uint64_t end_of(weft_dtype dtype, bool largest)
{
    if (dtype == WEFT_F32)
        return largest ? 0x7f800000U : 0xff800000U;
    if (dtype == WEFT_F64)
        return largest ? 0x7ff0000000000000U : 0xfff0000000000000U;
    const int bits = 8 << weft__memory_size(dtype);
    const uint64_t all = ~(uint64_t)0 >> (64 - bits);
    if (weft__dtype_is_signed(dtype))
        return largest ? all / 2 : all / 2 + 1;
    return largest ? all : 0;
}

uint64_t weft__fold_identity(int kind, weft_dtype dtype, int part)
{
    switch (kind) {
    case WEFT__OP_add: /* of floats, -0: 0 would change a sum of -0 */
        return dtype == WEFT_F32 ? 0x80000000U : dtype == WEFT_F64 ? 0x8000000000000000U : 0;
    case WEFT__OP_and:
        return ~(uint64_t)0;
    case WEFT__OP_min:
        return end_of(dtype, true);
    case WEFT__OP_max:
        return end_of(dtype, false);
    case WEFT__FOLD_ARGMIN:
    case WEFT__FOLD_ARGMAX: /* of equals the one with the lower position is taken */
        return end_of(dtype, part == 1 || kind == WEFT__FOLD_ARGMIN);
    default:
        return weft__fold_neutral(kind, dtype, part);
    }
}
