/* What is the same for all points of a vector: in kernels with loops it is computed once, and loops
 * that it decides about need no masks. */
#include "codegen/llvm/survey.h"

uint32_t weft__loop_end(const weft__kernel *kernel, uint32_t value)
{
    int depth = 0;
    for (uint32_t k = value + 1; k < kernel->values_count; k++) {
        if (kernel->values[k].op == WEFT__OP_end && depth-- == 0)
            return k;
        depth += kernel->values[k].op == WEFT__OP_loop;
    }
    return kernel->values_count;
}

static bool is_uniform(const weft__survey *survey, int32_t value)
{
    return survey->level[value] != WEFT__LEVEL_POINT || survey->uniform[value] != 0;
}

static bool has_uniform_arguments(const weft__survey *survey, const weft__value *value)
{
    for (int j = 0; j < weft__value_arguments(survey->kernel, value); j++)
        if (!is_uniform(survey, value->argument[j]))
            return false;
    return true;
}

/* Of values that are computed for each point, in their order; carries are as they are. */
static void find_uniform(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (survey->level[k] != WEFT__LEVEL_POINT || value->op == WEFT__OP_carry)
            continue;
        survey->uniform[k] = value->op != WEFT__OP_load && value->op != WEFT__OP_store &&
                             value->op != WEFT__OP_index && value->op != WEFT__OP_fold &&
                             value->op != WEFT__OP_loop && has_uniform_arguments(survey, value);
    }
}

/* A loop is uniform if its tests are. Its carries are if it is, and all that they become. Returns
 * whether something was found not to be. */
static bool judge_loop(const weft__survey *survey, uint32_t loop)
{
    const weft__kernel *kernel = survey->kernel;
    const uint32_t end = weft__loop_end(kernel, loop);
    bool uniform = true, changed = false;
    for (uint32_t k = loop + 1; k < end; k++)
        if (kernel->values[k].op == WEFT__OP_test && weft__loop_end(kernel, k) == end)
            uniform &= is_uniform(survey, kernel->values[k].argument[0]);
    survey->uniform[loop] = uniform;
    for (uint32_t k = end; k-- > 0 && kernel->values[k].op == WEFT__OP_next;) {
        const weft__value *next = &kernel->values[k];
        const int32_t carry = next->argument[0];
        const bool stays = uniform && is_uniform(survey, next->argument[1]) &&
                           is_uniform(survey, kernel->values[carry].argument[0]);
        changed |= survey->uniform[carry] != 0 && !stays;
        survey->uniform[carry] &= stays;
    }
    return changed;
}

void weft__survey_uniform(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    bool changed = kernel->loops_count > 0;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        survey->uniform[k] = kernel->values[k].op == WEFT__OP_carry;
    while (changed) {
        changed = false;
        find_uniform(survey);
        for (uint32_t k = 0; k < kernel->values_count; k++)
            changed |= kernel->values[k].op == WEFT__OP_loop && judge_loop(survey, k);
    }
}
