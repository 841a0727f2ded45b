/* How launches of kernels with folds are cut. */
#include "codegen/llvm/fold.h"

enum {
    SHORT = 32,     /* elements: so few, side by side for many points, are faster than in lanes */
    SEGMENT = 1024, /* pieces of one axis that are worth a call of their own */
    LINE = 64
};

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static const int64_t *strides_of(const weft__launch *launch, uint32_t operand)
{
    return weft__launch_arguments_of(launch)[operand].stride;
}

/* Whether the folded elements of each point are one distance apart. */
static bool is_linear(const weft__launch *launch, uint32_t operand)
{
    const int64_t *stride = strides_of(launch, operand);
    for (int32_t k = launch->kept_ndim; k < launch->ndim - 1; k++)
        if (stride[k] != stride[k + 1] * launch->size[k + 1])
            return false;
    return true;
}

int32_t weft__fold_band(const weft__launch *launch, uint32_t operand)
{
    const int64_t *stride = strides_of(launch, operand);
    const int32_t last = launch->ndim - 1;
    int64_t closest = magnitude(stride[last]);
    int32_t axis = -1;
    if (launch->ndim == launch->kept_ndim || closest < LINE || launch->size[last] == 1)
        return -1;
    for (int32_t k = 0; k < last; k++)
        if (stride[k] != 0 && magnitude(stride[k]) < closest && launch->size[k] > 1) {
            closest = magnitude(stride[k]);
            axis = k;
        }
    return axis;
}

/* Whether the elements of a column are closer together than those of a row. */
static bool is_across(const weft__fold_plan *plan, const weft__launch *launch, uint32_t operand)
{
    const int64_t *stride = strides_of(launch, operand);
    if (plan->row_axis < 0 || plan->column_axis < 0 || launch->size[plan->row_axis] == 1 ||
        launch->size[plan->column_axis] == 1)
        return false;
    const int64_t row = magnitude(stride[plan->row_axis]);
    return row != 0 && row < magnitude(stride[plan->column_axis]);
}

bool weft__fold_packed(const weft__fold_plan *plan, const weft__launch *launch, uint32_t operand)
{
    if (!plan->packs)
        return false;
    if (plan->mode != WEFT__FOLD_LANES_MODE)
        return is_across(plan, launch, operand);
    return !is_linear(launch, operand) || weft__fold_band(launch, operand) >= 0;
}

/* Where many short pieces would be folded, or memory would be read across its lines; if there is
 * room. */
static bool lanes_pack(const weft__launch *launch, uint32_t operands_count)
{
    const int32_t last = launch->ndim - 1;
    const bool pieces = launch->ndim - launch->kept_ndim > 1 && launch->size[last] < SEGMENT;
    bool wanted = false;
    int packed = 0;
    for (uint32_t k = 0; k < operands_count; k++) {
        const bool banded = weft__fold_band(launch, k) >= 0, linear = is_linear(launch, k);
        wanted |= banded || (pieces && !linear);
        packed += banded || !linear;
    }
    return wanted && packed <= WEFT__FOLD_PACKED_MOST;
}

static bool are_linear(const weft__launch *launch, uint32_t operands_count)
{
    for (uint32_t k = 0; k < operands_count; k++)
        if (!is_linear(launch, k))
            return false;
    return true;
}

weft__fold_plan weft__fold_plan_of(const weft__launch *launch, bool lanes, bool has_index,
                                   uint32_t operands_count)
{
    const int32_t last = launch->ndim > launch->kept_ndim ? launch->ndim - 1 : -1;
    weft__fold_plan plan = {.mode = WEFT__FOLD_COLUMNS_MODE,
                            .packs = true,
                            .row_axis = last,
                            .column_axis = launch->kept_ndim - 1,
                            .length = WEFT__FOLD_RUN,
                            .chunks = launch->chunks};
    if (lanes && launch->folded <= SHORT && launch->kept > launch->folded) {
        plan.mode = WEFT__FOLD_SHORT_MODE;
        plan.length = 1;
        plan.chunks = launch->folded;
    } else if (lanes) {
        plan.mode = WEFT__FOLD_LANES_MODE;
        plan.length = WEFT__FOLD_CHUNK;
        plan.column_axis = last;
        plan.packs = !has_index && lanes_pack(launch, operands_count);
        plan.linear = plan.packs;
        if (!plan.packs)
            plan.linear = (!has_index || launch->ndim - launch->kept_ndim <= 1) &&
                          are_linear(launch, operands_count);
    }
    return plan;
}

static uint8_t spacing_along(const weft__launch *launch, const weft__kernel *kernel,
                             uint32_t operand, int32_t axis, bool packed)
{
    const weft_dtype dtype = (weft_dtype)kernel->operands[operand].dtype;
    const int64_t stride = axis < 0 ? 0 : strides_of(launch, operand)[axis];
    const bool single = packed || axis < 0 || launch->size[axis] == 1;
    return (uint8_t)weft__spacing_of(dtype, stride, single ? 1 : 2);
}

void weft__fold_spacings(const weft__kernel *kernel, const weft__launch *launch,
                         const weft__fold_plan *plan, uint8_t *spacing)
{
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        spacing[k] =
            spacing_along(launch, kernel, k, plan->column_axis, weft__fold_packed(plan, launch, k));
}

void weft__fold_result_spacings(const weft__kernel *kernel, const weft__launch *launch,
                                uint8_t *spacing)
{
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        spacing[k] = spacing_along(launch, kernel, k, launch->kept_ndim - 1, false);
}

static weft__fold_plan plan_of(const weft__kernel *kernel, const weft__launch *launch)
{
    return weft__fold_plan_of(launch, weft__kernel_has_lanes(kernel),
                              weft__kernel_has_index(kernel), kernel->operands_count);
}

uint8_t weft__fold_class(const weft__kernel *kernel, const weft__launch *launch, uint8_t *operands)
{
    const weft__fold_plan plan = plan_of(kernel, launch);
    uint8_t results[WEFT__OPERANDS_MAX];
    weft__fold_spacings(kernel, launch, &plan, operands);
    weft__fold_result_spacings(kernel, launch, results);
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        operands[k] = (uint8_t)(operands[k] | results[k] << 4);
    return (uint8_t)((int)plan.mode << 4 | (launch->kept == 1) << 6);
}

/* Pieces of a few elements would each be a call. */
bool weft__fold_wants(const weft__kernel *kernel, const weft__launch *launch)
{
    const weft__fold_plan plan = plan_of(kernel, launch);
    if (kernel->operands_count + kernel->folds_count > WEFT__OPERANDS_MAX)
        return false;
    return plan.mode != WEFT__FOLD_LANES_MODE || plan.linear ||
           launch->size[launch->ndim - 1] >= WEFT__FOLD_LANES;
}

/* Whole groups of all columns, where there are many. */
int64_t weft__fold_grain(const weft__kernel *kernel, const weft__launch *launch)
{
    enum { COLUMNS = 256, GROUPS = 64 };
    if (weft__kernel_has_lanes(kernel) && launch->stage != WEFT__STAGE_FINISH)
        return 1;
    return launch->stage == WEFT__STAGE_CHUNKS && launch->groups >= GROUPS ? launch->kept : COLUMNS;
}
