/* Compiling a kernel with folds: a program for the points and one for the results. */
#include "codegen/interpreter/compile.h"
#include "core/allocate.h"
#include "core/status.h"

/* Marks what the wanted values depend on; arguments come before their users. */
static void mark(const weft__kernel *kernel, uint8_t *wanted)
{
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        const bool ends = value->op == WEFT__OP_fold && wanted[k] == WEFT__WANTED_VALUE;
        if (!wanted[k] || ends)
            continue;
        for (int j = 0; j < weft__value_arguments(kernel, value); j++)
            wanted[value->argument[j]] = WEFT__WANTED_VALUE;
    }
}

/* By bits, in the type of the fold. */
static uint64_t neutral_of(const weft__value *fold)
{
    const bool one = fold->slot == WEFT__OP_mul || fold->slot == WEFT__OP_and ||
                     (fold->slot == WEFT__FOLD_PRODUCT && fold->part == 0);
    if (!one)
        return 0;
    return fold->dtype == WEFT_F32   ? 0x3f800000U
           : fold->dtype == WEFT_F64 ? 0x3ff0000000000000U
                                     : 1;
}

static weft_status describe_fold(const weft__kernel *kernel, const weft__value *value,
                                 weft__fold *fold)
{
    const weft__variant *variant = weft__variant_chosen();
    const uint8_t first = kernel->values[value->argument[0]].dtype;
    *fold = (weft__fold){.neutral = neutral_of(value),
                         .size = (uint8_t)__builtin_ctz((unsigned)weft_dtype_size(value->dtype)),
                         .second = value->part == 1};
    if (value->slot >= WEFT__FOLD_ARGMIN && value->slot < WEFT__FOLD_END)
        fold->pair = variant->pair[value->slot - WEFT__FOLD_ARGMIN][first];
    else if (value->slot < WEFT__OP_COUNT) {
        fold->combine = variant->primitive[value->slot][first];
        fold->rows = variant->lanes[value->slot][first];
    }
    if (!fold->pair && !fold->combine)
        return FAIL(WEFT_ERROR_COMPILE, "a fold of the kernel is not defined for its types");
    return WEFT_OK;
}

/* With machine code, if that is worth it. */
static weft_status make_program(const weft__kernel *kernel, const uint8_t *wanted, bool *machine,
                                weft__program **made)
{
    const weft_status status =
        *machine ? weft__program_make(kernel, wanted, true, made) : WEFT_ERROR_UNSUPPORTED;
    *machine = status == WEFT_OK;
    return status == WEFT_ERROR_UNSUPPORTED ? weft__program_make(kernel, wanted, false, made)
                                            : status;
}

static weft_status make_programs(const weft__kernel *kernel, bool machine, weft__folds *folds,
                                 uint8_t *points)
{
    uint8_t *results = points + kernel->values_count;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        results[k] = value->op == WEFT__OP_store ? WEFT__WANTED_VALUE : 0;
        points[k] = value->op == WEFT__OP_fold ? WEFT__WANTED_FOLD : 0;
        if (value->op != WEFT__OP_fold)
            continue;
        if (folds->count == WEFT__FOLDS_MAX)
            return FAIL(WEFT_ERROR_COMPILE, "the kernel has more than %d folds", WEFT__FOLDS_MAX);
        TRY(describe_fold(kernel, value, &folds->fold[folds->count++]));
    }
    mark(kernel, points);
    mark(kernel, results);
    bool for_points = machine, for_results = machine;
    TRY(make_program(kernel, points, &for_points, &folds->points));
    TRY(make_program(kernel, results, &for_results, &folds->results));
    return machine && !for_points && !for_results ? WEFT_ERROR_UNSUPPORTED : WEFT_OK;
}

weft_status weft__folds_make(const weft__kernel *kernel, bool machine, weft__folds **made)
{
    weft__folds *folds = weft__allocate_zeroed(sizeof *folds);
    uint8_t *wanted = weft__allocate_zeroed(2 * (size_t)kernel->values_count);
    weft_status status = WEFT_ERROR_MEMORY;
    if (folds && wanted) {
        folds->lanes = weft__kernel_has_lanes(kernel);
        status = make_programs(kernel, machine, folds, wanted);
    }
    weft__free(wanted);
    if (status == WEFT_OK)
        *made = folds;
    else
        weft__folds_free(folds);
    return status;
}

void weft__folds_free(void *pointer)
{
    weft__folds *folds = pointer;
    if (!folds)
        return;
    weft__program_free(folds->points);
    weft__program_free(folds->results);
    weft__free(folds);
}
