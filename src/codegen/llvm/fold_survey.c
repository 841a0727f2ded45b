/* Surveying the two kernels that a kernel with folds is split into. */
#include "codegen/llvm/fold.h"
#include "core/status.h"

enum {
    UNROLL_MOST = 8,     /* vectors of a turn */
    UNROLL_LONG = 2,     /* … of long code */
    UNROLL_NUMBERED = 4, /* of values with their numbers … */
    UNROLL_SEVERAL = 2   /* … and of several folds: more is no faster, and takes long to make */
};

/* Registers that hold one vector of each fold. */
static int registers_of(const weft__survey *survey)
{
    int registers = 0;
    for (uint32_t k = 0; k < survey->kernel->values_count; k++) {
        const weft__value *value = &survey->kernel->values[k];
        if (value->op != WEFT__OP_fold)
            continue;
        const int bytes = survey->lanes << weft__value_size(survey->kernel, value);
        registers += bytes > survey->target.bytes ? bytes / survey->target.bytes : 1;
    }
    return registers;
}

static bool is_numbered(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_fold &&
            weft__fold_is_numbered(kernel, &kernel->values[k]))
            return true;
    return false;
}

/* What is folded stays in registers, and half of them are for everything else. All lanes must be a
 * multiple. */
static int unroll_of(const weft__survey *survey)
{
    const int most =
        survey->target.isa == WEFT__ISA_AVX512 || survey->target.isa == WEFT__ISA_NEON ? 16 : 8;
    int unroll = survey->operations <= WEFT__FOLD_OPERATIONS ? UNROLL_MOST
                 : survey->unroll > UNROLL_LONG              ? UNROLL_LONG
                                                             : survey->unroll;
    const int several = is_numbered(survey) ? UNROLL_NUMBERED : UNROLL_SEVERAL;
    if (unroll > several && registers_of(survey) > 1)
        unroll = several;
    while (unroll > 1 &&
           (unroll * registers_of(survey) > most || unroll * survey->lanes > WEFT__FOLD_LANES))
        unroll /= 2;
    return unroll;
}

/* Where few columns of many rows are read at a time, a processor that is busy with long code does
 * not see by itself what comes next. */
static void ask_ahead(weft__survey *survey)
{
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++)
        if (survey->flags[k] != 0 && survey->spacing[k] == WEFT__SPACING_UNIT)
            survey->flags[k] |= WEFT__OPERAND_LEADS;
}

weft_status weft__fold_survey_points(const weft__kernel *kernel, const weft__kernel *points,
                                     const weft__launch *sample, weft__survey *survey)
{
    const weft__fold_plan plan =
        weft__fold_plan_of(sample, weft__kernel_has_lanes(kernel), weft__kernel_has_index(kernel),
                           kernel->operands_count);
    TRY(weft__survey_begin(points, survey));
    survey->fold_mode = (int32_t)plan.mode;
    survey->row_axis = plan.row_axis;
    survey->column_axis = plan.column_axis;
    weft__fold_spacings(points, sample, &plan, survey->spacing);
    weft__survey_finish(survey);
    survey->streamed = -1;
    survey->unroll = unroll_of(survey);
    const bool is_long = survey->operations > WEFT__FOLD_OPERATIONS,
               columns = plan.mode == WEFT__FOLD_COLUMNS_MODE,
               whole = survey->unroll * survey->lanes == WEFT__FOLD_LANES,
               seen = columns && !is_long && !survey->target.asks && survey->target.roomy;
    /* What is bound by memory alone is hindered by what comes to the first cache, and on most
     * processors by whatever it asks for; so are rows side by side on AMD's from Zen 5 on. */
    survey->asks = !survey->target.asks && !is_long && !seen &&
                   (columns || (plan.mode == WEFT__FOLD_LANES_MODE && whole));
    if ((columns && is_long) || (!whole && !survey->asks && !seen))
        ask_ahead(survey);
    return WEFT_OK;
}

weft_status weft__fold_survey_results(const weft__kernel *kernel, const weft__kernel *results,
                                      const weft__launch *sample, weft__survey *survey)
{
    TRY(weft__survey_begin(results, survey));
    survey->row_axis = -1;
    survey->column_axis = sample->kept_ndim - 1;
    weft__fold_result_spacings(kernel, sample, survey->spacing);
    for (uint32_t k = kernel->operands_count; k < results->operands_count; k++)
        survey->spacing[k] = WEFT__SPACING_UNIT;
    weft__survey_finish(survey);
    survey->streamed = -1;
    survey->unroll = 1;
    survey->few = true;
    survey->single = sample->kept == 1;
    /* Each fold has a cast, of what it is in memory. */
    survey->soon = survey->target.masks && survey->operations <= kernel->folds_count;
    return WEFT_OK;
}
