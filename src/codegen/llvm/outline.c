/* Making a kernel that calls functions, and the kernels of these. */
#include "codegen/llvm/outline.h"
#include "codegen/llvm/emit.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

enum { LONG = 128 }; /* operations: what has fewer is made soon enough */

/* Kernels while values are added, each by its position in the kernel that they are made of. */
struct copying {
    const weft__repeats *repeats;
    weft__kernel *to;
    int32_t *number; /* that a value has there, or -1 */
};

static int32_t add(const struct copying *copying, weft__value value)
{
    copying->to->values[copying->to->values_count] = value;
    return (int32_t)copying->to->values_count++;
}

static int32_t copy(const struct copying *copying, uint32_t position)
{
    const weft__kernel *kernel = copying->repeats->survey->kernel;
    weft__value value = kernel->values[position];
    for (int k = 0; k < weft__value_arguments(kernel, &value); k++)
        value.argument[k] = copying->number[value.argument[k]];
    return copying->number[position] = add(copying, value);
}

/* What is made of constants alone. */
static void copy_fixed(const struct copying *copying, int32_t position)
{
    const weft__kernel *kernel = copying->repeats->survey->kernel;
    const weft__value *value = &kernel->values[position];
    if (copying->number[position] >= 0)
        return;
    for (int k = 0; k < weft__value_arguments(kernel, value); k++)
        copy_fixed(copying, value->argument[k]);
    (void)copy(copying, (uint32_t)position);
}

/* Of constants those that are used; what nobody needs may be made of what is not there. */
static void copy_with_fixed(const struct copying *copying, uint32_t position)
{
    const weft__kernel *kernel = copying->repeats->survey->kernel;
    const weft__value *value = &kernel->values[position];
    bool is_there = true;
    for (int k = 0; k < weft__value_arguments(kernel, value); k++) {
        if (copying->repeats->fixed[value->argument[k]])
            copy_fixed(copying, value->argument[k]);
        is_there &= copying->number[value->argument[k]] >= 0;
    }
    if (is_there)
        (void)copy(copying, position);
}

static weft__value moved(weft__op op, uint8_t dtype, int slot)
{
    return (weft__value){.op = (uint8_t)op, .dtype = dtype, .slot = (uint16_t)slot};
}

static void fill_piece(const struct copying *copying, const weft__repeat *repeat)
{
    const weft__repeats *repeats = copying->repeats;
    const weft__kernel *kernel = repeats->survey->kernel;
    weft__kernel_operand *operands = copying->to->operands;
    int32_t inputs[WEFT__REPEAT_INPUTS];
    weft__repeat_inputs(repeats, repeat, repeat->begin, inputs);
    for (int k = 0; k < repeat->inputs; k++) {
        operands[k].dtype = kernel->values[inputs[k]].dtype;
        copying->number[inputs[k]] = add(copying, moved(WEFT__OP_load, operands[k].dtype, k));
    }
    for (uint32_t k = 0; k < repeat->length; k++)
        copy_with_fixed(copying, repeats->order[repeat->begin + k]);
    for (int k = 0; k < repeat->outputs; k++) {
        const uint32_t position = repeats->order[repeat->begin + repeat->output[k]];
        const uint8_t dtype = kernel->values[position].dtype;
        weft__value store = moved(WEFT__OP_store, dtype, repeat->inputs + k);
        store.argument[0] = copying->number[position];
        operands[repeat->inputs + k] = (weft__kernel_operand){.dtype = dtype, .output = true};
        (void)add(copying, store);
    }
}

/* What is given is there already, and what is taken is not stored. */
static weft_status survey_piece(weft__piece *piece)
{
    weft__survey *survey = &piece->survey;
    TRY(weft__survey_begin(&piece->kernel, survey));
    survey->ndim = 1;
    survey->column_axis = 0;
    survey->row_axis = -1;
    memset(survey->spacing, WEFT__SPACING_UNIT, piece->kernel.operands_count);
    weft__survey_finish(survey);
    for (uint32_t k = 0; k < piece->kernel.values_count; k++)
        if (piece->kernel.values[k].op == WEFT__OP_load ||
            piece->kernel.values[k].op == WEFT__OP_store)
            survey->needed[k] = 0;
    return WEFT_OK;
}

static void forget(int32_t *number, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        number[k] = -1;
}

static weft_status make_piece(const weft__repeats *repeats, const weft__repeat *repeat,
                              int32_t *number, weft__piece *piece)
{
    const uint32_t count = repeats->survey->kernel->values_count;
    const size_t moves = (size_t)(repeat->inputs + repeat->outputs), values = count + moves;
    *piece = (weft__piece){.inputs = repeat->inputs, .outputs = repeat->outputs};
    piece->kernel.ndim = 1;
    piece->kernel.operands_count = (uint32_t)moves;
    piece->kernel.values = weft__allocate_zeroed(values * sizeof *piece->kernel.values +
                                                 moves * sizeof *piece->kernel.operands);
    if (piece->kernel.values == NULL)
        return WEFT_ERROR_MEMORY;
    piece->kernel.operands = (weft__kernel_operand *)(piece->kernel.values + values);
    forget(number, count);
    fill_piece(&(struct copying){repeats, &piece->kernel, number}, repeat);
    return survey_piece(piece);
}

/* Of the size that says how many lanes the function had better have. */
static uint8_t dtype_of(const weft__survey *survey)
{
    static const uint8_t dtypes[] = {WEFT_U8, WEFT_U16, WEFT_U32, WEFT_U64};
    return dtypes[__builtin_ctz((unsigned)(survey->target.bytes / survey->lanes))];
}

static void add_call(const struct copying *copying, const weft__outline *outline, int piece,
                     uint32_t begin)
{
    const weft__repeats *repeats = copying->repeats;
    const weft__kernel *kernel = repeats->survey->kernel;
    const weft__repeat *repeat = &repeats->repeat[piece];
    const weft__survey *survey = &outline->pieces[piece].survey;
    weft__value call = moved(WEFT__OP_call, dtype_of(survey), piece);
    int32_t inputs[WEFT__REPEAT_INPUTS];
    weft__repeat_inputs(repeats, repeat, begin, inputs);
    for (int k = 0; k < repeat->inputs; k++) {
        weft__value pass = moved(WEFT__OP_pass, kernel->values[inputs[k]].dtype, k);
        pass.argument[0] = copying->number[inputs[k]];
        pass.argument[1] = k == 0 ? pass.argument[0] : call.argument[0];
        call.argument[0] = add(copying, pass);
    }
    call.bits = survey->always;
    const int32_t called = add(copying, call);
    for (int k = 0; k < repeat->outputs; k++) {
        const uint32_t position = repeats->order[begin + repeat->output[k]];
        weft__value result = moved(WEFT__OP_result, kernel->values[position].dtype, k);
        result.argument[0] = called;
        copying->number[position] = add(copying, result);
    }
}

/* A call comes where the last of its values was. */
static void fill_kernel(const struct copying *copying, const weft__outline *outline)
{
    const weft__repeats *repeats = copying->repeats;
    uint32_t begin = 0;
    for (uint32_t k = 0; k < repeats->survey->kernel->values_count; k++) {
        const int32_t place = repeats->place[k];
        const int number = place < 0 ? 0 : repeats->taken[place];
        if (number == 0 && !repeats->fixed[k])
            copy_with_fixed(copying, k);
        if (number == 0)
            continue;
        if (repeats->begins[place])
            begin = (uint32_t)place;
        if ((uint32_t)place + 1 == begin + repeats->repeat[number - 1].length)
            add_call(copying, outline, number - 1, begin);
    }
}

/* A time has at least as many values as a call. */
static weft_status make_kernel(const weft__repeats *repeats, int32_t *number,
                               weft__outline *outline)
{
    const weft__kernel *kernel = repeats->survey->kernel;
    outline->kernel = *kernel;
    outline->kernel.values_count = 0;
    outline->kernel.values = weft__allocate_zeroed(kernel->values_count * sizeof *kernel->values);
    if (outline->kernel.values == NULL)
        return WEFT_ERROR_MEMORY;
    forget(number, kernel->values_count);
    fill_kernel(&(struct copying){repeats, &outline->kernel, number}, outline);
    return WEFT_OK;
}

static weft_status make(const weft__repeats *repeats, weft__outline *outline)
{
    const uint32_t count = repeats->survey->kernel->values_count;
    weft_status status = WEFT_OK;
    int32_t *number = weft__allocate_zeroed(count * sizeof *number);
    if (number == NULL)
        return WEFT_ERROR_MEMORY;
    while (status == WEFT_OK && outline->count < repeats->count) {
        const int k = outline->count++;
        status = make_piece(repeats, &repeats->repeat[k], number, &outline->pieces[k]);
    }
    if (status == WEFT_OK && outline->count > 0)
        status = make_kernel(repeats, number, outline);
    weft__free(number);
    return status;
}

/* The operations of all vectors, and once those that are rare. */
static uint32_t made_of(const weft__survey *survey)
{
    return survey->operations + survey->always * (uint32_t)(survey->unroll - 1);
}

weft_status weft__outline_make(const weft__survey *survey, weft__outline *outline)
{
    const weft__kernel *kernel = survey->kernel;
    weft__repeats repeats;
    outline->count = 0;
    outline->kernel.values = NULL;
    if (made_of(survey) <= LONG || kernel->loops_count > 0 || kernel->scatters_count > 0)
        return WEFT_OK;
    TRY(weft__repeats_find(survey, &repeats));
    const weft_status status = make(&repeats, outline);
    weft__repeats_free(&repeats);
    return status;
}

weft_status weft__outline_use(weft__outline *outline, weft__survey *survey)
{
    survey->outline = outline;
    for (int k = 0; k < outline->count; k++) {
        weft__piece *piece = &outline->pieces[k];
        piece->survey.lanes = survey->lanes;
        piece->survey.unroll = survey->unroll;
        piece->tables = weft__allocate_zeroed(weft__emitter_tables(&piece->survey));
        if (piece->tables == NULL)
            return WEFT_ERROR_MEMORY;
    }
    return WEFT_OK;
}

void weft__outline_free(weft__outline *outline)
{
    for (int k = 0; k < outline->count; k++) {
        weft__free(outline->pieces[k].tables);
        weft__free(outline->pieces[k].kernel.values);
        weft__survey_free(&outline->pieces[k].survey);
    }
    weft__free(outline->kernel.values);
}
