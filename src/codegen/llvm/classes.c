/* What distinguishes launches of one kernel for the compiler, and which of them it is worth to
 * compile. */
#include "codegen/llvm/fold.h"
#include "codegen/llvm/object.h"

enum {
    SHORT_MASKED =
        4,     /* rows of fewer columns are slower than the interpreter's blocks of many rows */
    SHORT = 8, /* the same, where each element that fills no vector is a step of its own */
    GRAIN = 1024,
    PLANES = 32
};

static weft__tiling tiling_of(const weft__kernel *kernel, const weft__launch *launch)
{
    weft__object_operand operands[WEFT__OPERANDS_MAX];
    if (kernel->shifts_count > 0) /* what is displaced does not stay in a tile */
        return (weft__tiling){.axis = -1};
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const size_t bytes = weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        operands[k] = (weft__object_operand){0, (uint8_t)__builtin_ctzll(bytes)};
    }
    return weft__tiling_of(launch, operands, weft__kernel_has_index(kernel));
}

weft__spacing weft__spacing_of(weft_dtype dtype, int64_t stride, int64_t size)
{
    const int64_t part = (int64_t)1 << weft__memory_size(dtype);
    if (size == 1) /* no distance: as the dense ones, it needs no code of its own */
        stride = (int64_t)weft_dtype_size(dtype);
    if (stride == 0)
        return WEFT__SPACING_ZERO;
    if (stride == part)
        return WEFT__SPACING_UNIT;
    if (stride == 2 * part)
        return WEFT__SPACING_DOUBLE;
    return stride == -part ? WEFT__SPACING_REVERSED : WEFT__SPACING_GENERAL;
}

void weft__spacings(const weft__kernel *kernel, const weft__launch *launch, uint8_t *spacing)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    const int32_t last = launch->ndim - 1;
    const bool tiling = tiling_of(kernel, launch).axis >= 0;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const weft_dtype dtype = (weft_dtype)kernel->operands[k].dtype;
        const bool tiled =
            tiling && weft__tiled(launch, k, __builtin_ctzll(weft_dtype_size(dtype)));
        spacing[k] = (uint8_t)weft__spacing_of(dtype, arguments[k].stride[last],
                                               tiled ? 1 : launch->size[last]);
    }
}

uint32_t weft__llvm_class(const weft__kernel *kernel, const weft__launch *launch, uint8_t *bytes,
                          uint32_t room)
{
    const weft__target target = weft__target_host();
    uint8_t all[3 + WEFT__OPERANDS_MAX];
    const uint32_t count = 3 + kernel->operands_count;
    all[0] = (uint8_t)target.isa;
    all[1] = (uint8_t)(target.halves | target.asks << 1 | target.narrow << 2 | target.roomy << 3);
    all[2] = weft__kernel_has_index(kernel) || kernel->shifts_count > 0 ? (uint8_t)launch->ndim : 0;
    if (kernel->folds_count > 0)
        all[2] |= weft__fold_class(kernel, launch, all + 3);
    else
        weft__spacings(kernel, launch, all + 3);
    for (uint32_t k = 0; k < count && k < room; k++)
        bytes[k] = all[k];
    return count;
}

/* Without instructions for them, these would be calls of functions that compiled code does not
 * have. */
static bool needs_fused(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const uint8_t op = kernel->values[k].op;
        if (op == WEFT__OP_fma || op == WEFT__OP_floor || op == WEFT__OP_ceil ||
            op == WEFT__OP_trunc || op == WEFT__OP_round)
            return true;
    }
    return false;
}

/* An operand across the rows that cannot go through a tile. */
static bool is_scattered(const weft__kernel *kernel, const weft__launch *launch)
{
    if (tiling_of(kernel, launch).axis >= 0)
        return false;
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (weft__tiled(launch, k, 0))
            return true;
    return false;
}

bool weft__llvm_wants(const weft__kernel *kernel, const weft__launch *launch)
{
    const weft__target target = weft__target_host();
    const int64_t columns = launch->size[launch->ndim - 1];
    if (kernel->folds_count != 0 && kernel->shifts_count != 0) /* only the interpreter has both */
        return false;
    if (!weft__patch_holds(kernel->operands_count, weft__displaced_loads(kernel)))
        return false;
    if (target.isa == WEFT__ISA_NONE || (!target.fused && needs_fused(kernel)))
        return false;
    if (kernel->folds_count > 0)
        return weft__fold_wants(kernel, launch);
    if (columns < (target.masks ? SHORT_MASKED : SHORT) && columns < launch->count)
        return false;
    return !is_scattered(kernel, launch);
}

/* Whether there are enough planes of rows for threads to share, and shifts from one to another. */
static bool has_planes(const weft__kernel *kernel, const weft__launch *launch)
{
    int64_t planes = 1;
    bool crossed = false;
    for (int32_t axis = 0; axis < launch->ndim - 2; axis++) {
        planes *= launch->size[axis];
        for (uint32_t k = 0; k < kernel->shifts_count; k++)
            crossed |= kernel->shifts[k].offset[axis] != 0;
    }
    return crossed && planes >= PLANES;
}

int64_t weft__llvm_grain(const weft__kernel *kernel, const weft__launch *launch)
{
    if (kernel->folds_count > 0)
        return weft__fold_grain(kernel, launch);
    if (kernel->scatters_count > 0)
        return 1;
    const weft__tiling tiling = tiling_of(kernel, launch);
    int64_t inner = 1;
    if (tiling.axis < 0)
        return has_planes(kernel, launch)
                   ? launch->size[launch->ndim - 2] * launch->size[launch->ndim - 1]
                   : GRAIN;
    for (int32_t k = tiling.axis + 1; k < launch->ndim; k++)
        inner *= launch->size[k];
    return tiling.rows * inner;
}
