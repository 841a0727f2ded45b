/* Evaluating programs: types, kernels, placement, launches. */
#include "lang/evaluate.h"
#include "core/allocate.h"
#include "core/device.h"
#include "kernel/run.h"
#include "ops/copy.h"
#include <stdio.h>
#include <string.h>

static bool is_array(const weft_operand *operand) { return operand->tag != WEFT_OPERAND_NUMBER; }

weft_status weft__evaluation_types(const weft_operand *operands, int count,
                                   weft__lang_operand *types)
{
    for (int i = 0; i < count; i++) {
        const weft_array *array = operands[i].value.input;
        types[i] = (weft__lang_operand){.tag = (uint8_t)operands[i].tag};
        if (!is_array(&operands[i])) {
            types[i].dtype = (uint8_t)operands[i].dtype;
            continue;
        }
        if (!array)
            return weft__fail_null("operand");
        types[i].dtype = array->dtype;
        types[i].unset = !array->buffer;
        types[i].shape = array->shape;
    }
    return WEFT_OK;
}

static bool same_type(const weft__lang_operand *a, const weft__lang_operand *b)
{
    return a->tag == b->tag && a->dtype == b->dtype && a->unset == b->unset &&
           weft_shape_equal(a->shape, b->shape);
}

bool weft__evaluation_fits(const weft__evaluation *evaluation, const weft__lang_operand *types,
                           int count)
{
    if (evaluation->count != count)
        return false;
    for (int i = 0; i < count; i++)
        if (!same_type(&evaluation->types[i], &types[i]))
            return false;
    return true;
}

/* What the program leaves behind: the last assignment to each operand, then the value. */
static uint32_t list_results(const weft__lang_program *program, weft__lang_result_of *results)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->assignments_count; i++)
        if (program->assignments[i].last)
            results[count++] = (weft__lang_result_of){program->assignments[i].operand,
                                                      program->assignments[i].node};
    if (program->value >= 0)
        results[count++] = (weft__lang_result_of){-1, program->value};
    return count;
}

static bool same_shape(const weft__lang_program *program, int32_t a, int32_t b)
{
    return weft_shape_equal(program->shapes[program->nodes[a].shape],
                            program->shapes[program->nodes[b].shape]);
}

/* Results of one shape that follow each other become one kernel. */
static weft_status lower_all(weft__evaluation *e, const weft__lang_result_of *results,
                             uint32_t count)
{
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (!same_shape(e->program, results[first].node, results[next].node))
                break;
        TRY(weft__lang_lower(e->program, results + first, next - first,
                             &e->kernels[e->kernels_count++]));
    }
    return WEFT_OK;
}

static weft_status prepare(weft__evaluation *e)
{
    size_t most = e->program->assignments_count + 1u;
    weft__lang_result_of *results = weft__allocate(most * sizeof *results);
    e->kernels = weft__allocate_zeroed(most * sizeof *e->kernels);
    weft_status status = WEFT_ERROR_MEMORY;
    if (results && e->kernels)
        status = lower_all(e, results, list_results(e->program, results));
    weft__free(results);
    return status;
}

weft_status weft__evaluation_new(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                 int count, weft__evaluation **made)
{
    size_t bytes = (size_t)count * sizeof *types;
    weft__evaluation *e = weft__allocate_zeroed(sizeof *e + bytes);
    if (!e)
        return WEFT_ERROR_MEMORY;
    e->types = (weft__lang_operand *)(void *)(e + 1);
    e->count = count;
    if (bytes)
        memcpy(e->types, types, bytes);
    weft_status status = weft__lang_check(syntax, types, &e->program);
    if (status == WEFT_OK)
        status = prepare(e);
    if (status == WEFT_OK)
        *made = e;
    else
        weft__evaluation_free(e);
    return status;
}

void weft__evaluation_free(weft__evaluation *evaluation)
{
    if (!evaluation)
        return;
    for (uint32_t i = 0; i < evaluation->kernels_count; i++)
        weft__lowered_free(&evaluation->kernels[i]);
    weft__free(evaluation->kernels);
    weft__lang_free(evaluation->program);
    weft__free(evaluation);
}

/* What one run works on. */
typedef struct running {
    const weft__evaluation *evaluation;
    const weft_operand *operands;
    weft_array *
        *arrays; /* of each operand; of an input that is overwritten before its last use, a copy */
    weft_array *value;
    weft_stream *stream;
} running;

static weft_status place(running *r, const weft__lang_name *names)
{
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    char texts[WEFT__LANG_OPERANDS_MAX][16];
    const char *shown[WEFT__LANG_OPERANDS_MAX];
    int count = 0;
    for (int i = 0; i < r->evaluation->count; i++) {
        if (!is_array(&r->operands[i]))
            continue;
        snprintf(texts[count], sizeof texts[count], "%.*s", (int)names[i].length, names[i].text);
        shown[count] = texts[count];
        arrays[count++] = r->operands[i].value.array;
    }
    return weft__place(arrays, shown, count, &r->stream);
}

/* Handles get memory of the shape that the program gives them. */
static weft_status give_handles_memory(const running *r)
{
    const weft__lang_program *program = r->evaluation->program;
    for (uint32_t i = 0; i < program->assignments_count; i++) {
        const weft__lang_assignment *assignment = &program->assignments[i];
        weft_array *array = r->operands[assignment->operand].value.array;
        if (array->buffer)
            continue;
        array->dtype = program->nodes[assignment->node].dtype;
        TRY(weft__array_resize(array, &program->shapes[program->nodes[assignment->node].shape]));
    }
    return WEFT_OK;
}

static weft_status make_value(running *r)
{
    const weft__lang_program *program = r->evaluation->program;
    weft_options options = {.struct_size = sizeof options, .device = r->stream->device};
    if (program->value < 0)
        return WEFT_OK;
    const weft__lang_node *node = &program->nodes[program->value];
    r->value = weft__array_new(&program->shapes[node->shape], (weft_dtype)node->dtype, &options,
                               NULL, NULL);
    return r->value ? WEFT_OK : weft_error_code();
}

static bool is_written_before(const weft__evaluation *e, int32_t operand, uint32_t kernel)
{
    for (uint32_t k = 0; k < kernel; k++)
        for (uint32_t i = 0; i < e->kernels[k].operands_count; i++)
            if (e->kernels[k].operands[i] == operand &&
                e->kernels[k].builder.kernel.operands[i].output)
                return true;
    return false;
}

/* Inputs of a kernel that an earlier kernel overwrites are copied before anything runs. */
static weft_status copy_overwritten(running *r)
{
    const weft__evaluation *e = r->evaluation;
    for (uint32_t k = 1; k < e->kernels_count; k++) {
        const weft__lowered *lowered = &e->kernels[k];
        for (uint32_t i = 0; i < lowered->operands_count; i++) {
            int32_t operand = lowered->operands[i];
            bool input = operand >= 0 && !lowered->builder.kernel.operands[i].output;
            if (!input || !is_written_before(e, operand, k) || r->arrays[operand])
                continue;
            weft_options options = {.struct_size = sizeof options, .stream = r->stream};
            r->arrays[operand] = weft__copy_new(r->operands[operand].value.array, &options);
            if (!r->arrays[operand])
                return weft_error_code();
        }
    }
    return WEFT_OK;
}

static void fill_scalars(const running *r, const weft__lowered *lowered, uint64_t *scalars)
{
    for (uint32_t i = 0; i < lowered->scalars_count; i++) {
        const weft_operand *number = &r->operands[lowered->scalars[i] / 2];
        bool is_complex = number->dtype == WEFT_C64 || number->dtype == WEFT_C128;
        const double *part = &number->value.complex_[lowered->scalars[i] % 2];
        memcpy(&scalars[i], is_complex ? (const void *)part : (const void *)&number->value,
               sizeof *scalars);
    }
}

static weft_status run_kernel(const running *r, const weft__lowered *lowered)
{
    enum { INLINE = 64 };
    weft_array *inline_arrays[INLINE], **arrays = inline_arrays;
    uint64_t inline_scalars[INLINE], *scalars = inline_scalars;
    size_t bytes =
        lowered->operands_count * sizeof *arrays + lowered->scalars_count * sizeof *scalars;
    bool large = lowered->operands_count > INLINE || lowered->scalars_count > INLINE;
    if (large) {
        if (!(scalars = weft__allocate(bytes)))
            return WEFT_ERROR_MEMORY;
        arrays = (weft_array **)(void *)(scalars + lowered->scalars_count);
    }
    for (uint32_t i = 0; i < lowered->operands_count; i++) {
        int32_t operand = lowered->operands[i];
        bool output = lowered->builder.kernel.operands[i].output;
        if (operand < 0)
            arrays[i] = r->value;
        else
            arrays[i] = !output && r->arrays[operand] ? r->arrays[operand]
                                                      : r->operands[operand].value.array;
    }
    fill_scalars(r, lowered, scalars);
    weft_status status =
        weft__kernel_run(&lowered->builder.kernel, r->stream, &lowered->space, arrays, scalars);
    if (large)
        weft__free(scalars);
    return status;
}

static weft_status run_all(running *r, const weft__lang_name *names)
{
    const weft__evaluation *e = r->evaluation;
    for (uint32_t i = 0; i < e->program->assignments_count; i++) {
        const weft_operand *operand = &r->operands[e->program->assignments[i].operand];
        if (operand->value.array->buffer)
            TRY(weft__array_check_output(operand->value.array, "operand"));
    }
    TRY(give_handles_memory(r));
    TRY(place(r, names));
    TRY(make_value(r));
    TRY(copy_overwritten(r));
    for (uint32_t k = 0; k < e->kernels_count; k++)
        TRY(run_kernel(r, &e->kernels[k]));
    return WEFT_OK;
}

weft_status weft__evaluation_run(const weft__evaluation *evaluation, const weft_operand *operands,
                                 const weft__lang_name *names, weft_array **value)
{
    weft_array *copies[WEFT__LANG_OPERANDS_MAX];
    running r = {.evaluation = evaluation, .operands = operands, .arrays = copies};
    memset(copies, 0, (size_t)evaluation->count * sizeof *copies);
    weft_status status = run_all(&r, names);
    for (int i = 0; i < evaluation->count; i++)
        weft_array_release(copies[i]);
    if (status == WEFT_OK)
        *value = r.value;
    else
        weft_array_release(r.value);
    return status;
}
