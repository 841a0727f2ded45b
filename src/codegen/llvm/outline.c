/* Making a kernel that calls functions, and the kernels of these. */
#include "codegen/llvm/outline.h"
#include "codegen/llvm/emit.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

enum {
    LONG = 128,        /* operations: what has fewer is made soon enough … */
    LONG_MACHINE = 48, /* … or, as machine code */
    ROW = 24           /* values that are worth a function of machine code */
};

/* Values that become a function, from a place on: what they take from outside, and what is used
 * there, both by positions in the kernel. */
struct cut {
    uint32_t begin, length;
    int inputs, outputs;
    int32_t *input;
    uint32_t *output;
};

/* Kernels while values are added, each by its position in the kernel that they are made of. */
struct copying {
    const weft__repeats *repeats;
    weft__kernel *to;
    int32_t *number;  /* that a value has there, or -1 */
    int32_t *input;   /* room for those of a cut … */
    uint32_t *output; /* … and for these */
    bool machine, all;
};

static void add_input(const struct copying *copying, struct cut *cut, int32_t position)
{
    const int64_t inside = (int64_t)copying->repeats->place[position] - cut->begin;
    if ((inside >= 0 && inside < cut->length) || copying->repeats->fixed[position])
        return;
    for (int k = 0; k < cut->inputs; k++)
        if (cut->input[k] == position)
            return;
    cut->input[cut->inputs++] = position;
}

/* Whether what is made of constants alone can be made by machine code, too. */
static bool does_fixed(const weft__survey *survey, int32_t position)
{
    const weft__kernel *kernel = survey->kernel;
    const weft__value *value = &kernel->values[position];
    bool does = value->op == WEFT__OP_constant ? weft__x86_has((weft_dtype)value->dtype)
                                               : weft__x86_does(kernel, value, survey->lanes);
    for (int k = 0; does && k < weft__value_arguments(kernel, value); k++)
        does = does_fixed(survey, value->argument[k]);
    return does;
}

/* What is stored and made of constants alone: of it nothing else may be left, either. */
static void add_fixed(const struct copying *copying, struct cut *cut)
{
    const weft__repeats *repeats = copying->repeats;
    const weft__kernel *kernel = repeats->survey->kernel;
    for (uint32_t k = repeats->order[cut->begin]; k < kernel->values_count; k++) {
        const int32_t from = kernel->values[k].argument[0];
        int known = 0;
        if (kernel->values[k].op != WEFT__OP_store || !repeats->fixed[from] ||
            !does_fixed(repeats->survey, from))
            continue;
        while (known < cut->outputs && cut->output[known] != (uint32_t)from)
            known++;
        if (known == cut->outputs)
            cut->output[cut->outputs++] = (uint32_t)from;
    }
}

/* The cut of so many values in a row, from a place on. */
static struct cut cut_row(const struct copying *copying, uint32_t begin, uint32_t length)
{
    const weft__repeats *repeats = copying->repeats;
    const weft__kernel *kernel = repeats->survey->kernel;
    struct cut cut = {begin, length, .input = copying->input, .output = copying->output};
    for (uint32_t k = 0; k < length; k++) {
        const weft__value *value = &kernel->values[repeats->order[begin + k]];
        for (int j = 0; j < weft__value_arguments(kernel, value); j++)
            add_input(copying, &cut, value->argument[j]);
        if (repeats->last_use[begin + k] >= begin + length)
            cut.output[cut.outputs++] = repeats->order[begin + k];
    }
    if (copying->all && (repeats->count == 0 || repeats->repeat[0].begin == begin))
        add_fixed(copying, &cut);
    return cut;
}

/* The cut of one time of a repeat. */
static struct cut cut_repeat(const struct copying *copying, const weft__repeat *repeat,
                             uint32_t begin)
{
    struct cut cut = {begin,           repeat->length, repeat->inputs,
                      repeat->outputs, copying->input, copying->output};
    weft__repeat_inputs(copying->repeats, repeat, begin, cut.input);
    for (int k = 0; k < repeat->outputs; k++)
        cut.output[k] = copying->repeats->order[begin + repeat->output[k]];
    return cut;
}

static struct cut cut_at(const struct copying *copying, int number, uint32_t begin)
{
    const weft__repeat *repeat = &copying->repeats->repeat[number];
    return copying->machine ? cut_row(copying, begin, repeat->length)
                            : cut_repeat(copying, repeat, begin);
}

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

/* What machine code gives may be stored as it is: all NaNs have the same bits. It gives primitives
 * only, so that a constant becomes one. */
static int32_t add_canonical(const struct copying *copying, uint32_t position)
{
    const weft__value *value = &copying->repeats->survey->kernel->values[position];
    weft__value same = moved(WEFT__OP_bitcast, value->dtype, 0);
    same.argument[0] = copying->number[position];
    const bool as_it_is =
        !weft__dtype_is_float((weft_dtype)value->dtype) && value->op != WEFT__OP_constant;
    return as_it_is ? same.argument[0] : add(copying, same);
}

static void fill_piece(const struct copying *copying, const struct cut *cut)
{
    const weft__repeats *repeats = copying->repeats;
    const weft__kernel *kernel = repeats->survey->kernel;
    weft__kernel_operand *operands = copying->to->operands;
    for (int k = 0; k < cut->inputs; k++) {
        operands[k].dtype = kernel->values[cut->input[k]].dtype;
        copying->number[cut->input[k]] = add(copying, moved(WEFT__OP_load, operands[k].dtype, k));
    }
    for (uint32_t k = 0; k < cut->length; k++)
        copy_with_fixed(copying, repeats->order[cut->begin + k]);
    for (int k = 0; k < cut->outputs; k++) {
        const uint32_t position = cut->output[k];
        const uint8_t dtype = kernel->values[position].dtype;
        weft__value store = moved(WEFT__OP_store, dtype, cut->inputs + k);
        if (repeats->fixed[position])
            copy_fixed(copying, (int32_t)position);
        store.argument[0] =
            copying->machine ? add_canonical(copying, position) : copying->number[position];
        operands[cut->inputs + k] = (weft__kernel_operand){.dtype = dtype, .output = true};
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

static weft_status make_piece(struct copying copying, const struct cut *cut, weft__piece *piece)
{
    const uint32_t count = copying.repeats->survey->kernel->values_count;
    const size_t moves = (size_t)(cut->inputs + cut->outputs);
    const size_t values = count + moves + (size_t)cut->outputs;
    *piece = (weft__piece){.inputs = cut->inputs, .outputs = cut->outputs};
    piece->kernel.ndim = 1;
    piece->kernel.operands_count = (uint32_t)moves;
    piece->kernel.values = weft__allocate_zeroed(values * sizeof *piece->kernel.values +
                                                 moves * sizeof *piece->kernel.operands);
    if (piece->kernel.values == NULL)
        return WEFT_ERROR_MEMORY;
    piece->kernel.operands = (weft__kernel_operand *)(piece->kernel.values + values);
    forget(copying.number, count);
    copying.to = &piece->kernel;
    fill_piece(&copying, cut);
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
    const struct cut cut = cut_at(copying, piece, begin);
    const weft__survey *survey = &outline->pieces[piece].survey;
    weft__value call =
        moved(WEFT__OP_call, dtype_of(outline->machine ? repeats->survey : survey), piece);
    for (int k = 0; k < cut.inputs; k++) {
        weft__value pass = moved(WEFT__OP_pass, kernel->values[cut.input[k]].dtype, k);
        pass.argument[0] = copying->number[cut.input[k]];
        pass.argument[1] = k == 0 ? pass.argument[0] : call.argument[0];
        call.argument[0] = add(copying, pass);
    }
    call.bits = outline->machine ? survey->operations : survey->always;
    const int32_t called = add(copying, call);
    for (int k = 0; k < cut.outputs; k++) {
        const uint32_t position = cut.output[k];
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
static weft_status make_kernel(struct copying copying, weft__outline *outline)
{
    const weft__kernel *kernel = copying.repeats->survey->kernel;
    outline->kernel = *kernel;
    outline->kernel.values_count = 0;
    outline->kernel.values = weft__allocate_zeroed(kernel->values_count * sizeof *kernel->values);
    if (outline->kernel.values == NULL)
        return WEFT_ERROR_MEMORY;
    forget(copying.number, kernel->values_count);
    copying.to = &outline->kernel;
    fill_kernel(&copying, outline);
    return WEFT_OK;
}

/* Whether the value at a place goes on with a row of machine code. */
static bool goes_on(const weft__repeats *repeats, uint32_t begin, uint32_t place)
{
    const weft__survey *survey = repeats->survey;
    return place < repeats->order_count && repeats->stretch[place] == repeats->stretch[begin] &&
           weft__x86_does(survey->kernel, &survey->kernel->values[repeats->order[place]],
                          survey->lanes);
}

/* Takes a row if that is worth a call; a call without inputs there is none. */
static void take_row(const struct copying *copying, weft__repeats *repeats, uint32_t begin,
                     uint32_t length)
{
    const struct cut cut = cut_row(copying, begin, length);
    if (length < ROW || cut.inputs == 0 || length < 2 * (uint32_t)(cut.inputs + cut.outputs))
        return;
    repeats->repeat[repeats->count++] = (weft__repeat){.length = length, .begin = begin};
    repeats->begins[begin] = 1;
    memset(repeats->taken + begin, repeats->count, length);
}

/* All that can be machine code, in rows. */
static void take_rows(const struct copying *copying, weft__repeats *repeats)
{
    for (uint32_t k = 0; k < repeats->order_count && repeats->count < WEFT__REPEATS_MOST;) {
        uint32_t length = 0;
        while (goes_on(repeats, k, k + length))
            length++;
        take_row(copying, repeats, k, length);
        k += length > 0 ? length : 1;
    }
}

/* With tables that nobody needs afterwards. */
static weft_status make(weft__repeats *repeats, bool all, weft__outline *outline)
{
    const uint32_t count = repeats->survey->kernel->values_count;
    weft_status status = WEFT_OK;
    int32_t *number = weft__allocate_zeroed(3 * (size_t)count * sizeof *number);
    if (number == NULL)
        return WEFT_ERROR_MEMORY;
    const struct copying copying = {.repeats = repeats,
                                    .number = number,
                                    .input = number + count,
                                    .output = (uint32_t *)(number + 2 * (size_t)count),
                                    .machine = outline->machine,
                                    .all = all};
    if (outline->machine)
        take_rows(&copying, repeats);
    while (status == WEFT_OK && outline->count < repeats->count) {
        const int k = outline->count++;
        const struct cut cut = cut_at(&copying, k, repeats->repeat[k].begin);
        status = make_piece(copying, &cut, &outline->pieces[k]);
    }
    if (status == WEFT_OK && outline->count > 0)
        status = make_kernel(copying, outline);
    weft__free(number);
    return status;
}

/* The operations of all vectors, and once those that are rare. */
static uint32_t made_of(const weft__survey *survey)
{
    return survey->operations + survey->always * (uint32_t)(survey->unroll - 1);
}

/* Whether there is enough to do, for each point or, with `all`, at all. */
static bool is_long(const weft__survey *survey, bool machine, bool all)
{
    const weft__kernel *kernel = survey->kernel;
    uint32_t count = 0;
    for (uint32_t k = 0; machine && all && k < kernel->values_count; k++)
        count += survey->needed[k] != 0 && kernel->values[k].op >= WEFT__OP_cast &&
                 kernel->values[k].op <= WEFT__OP_shr;
    return count > LONG_MACHINE || made_of(survey) > (machine ? LONG_MACHINE : LONG);
}

/* Whether the processor has what machine code of our own needs. */
static bool has_machine(const weft__survey *survey)
{
    return survey->target.isa == WEFT__ISA_AVX512 && (survey->lanes == 8 || survey->lanes == 16);
}

weft_status weft__outline_make(const weft__survey *survey, weft__outlining of,
                               weft__outline *outline)
{
    const bool all = of == WEFT__OUTLINE_ALL;
    const weft__kernel *kernel = survey->kernel;
    weft__repeats repeats;
    outline->count = 0;
    outline->machine = of != WEFT__OUTLINE_REPEATS && has_machine(survey);
    outline->kernel.values = NULL;
    if (!is_long(survey, outline->machine, all) || kernel->loops_count > 0 ||
        kernel->scatters_count > 0)
        return WEFT_OK;
    weft_status status = outline->machine ? weft__repeats_begin(survey, all, &repeats)
                                          : weft__repeats_find(survey, &repeats);
    if (status == WEFT_OK)
        status = make(&repeats, all, outline);
    weft__repeats_free(&repeats);
    return status;
}

weft_status weft__outline_assemble(weft__outline *outline, const weft__x86_move *moves,
                                   uint32_t count, uint32_t pointers)
{
    for (int k = 0; outline->machine && k < outline->count; k++) {
        const weft__piece *piece = &outline->pieces[k];
        const weft__survey *survey = &piece->survey;
        const weft__x86_source source = {.kernel = &piece->kernel,
                                         .needed = survey->needed,
                                         .skip = survey->skip,
                                         .skips = survey->skips,
                                         .skips_count = survey->skips_count,
                                         .lanes = survey->lanes,
                                         .moves = moves,
                                         .moves_count = count,
                                         .pointers = pointers};
        TRY(weft__x86_make(&source, &outline->pieces[k].machine));
    }
    return WEFT_OK;
}

weft_status weft__outline_use(weft__outline *outline, weft__survey *survey)
{
    survey->outline = outline;
    for (int k = 0; k < outline->count; k++) {
        weft__piece *piece = &outline->pieces[k];
        piece->survey.lanes = survey->lanes;
        piece->survey.unroll = survey->unroll;
        if (outline->machine)
            continue;
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
        weft__x86_free(&outline->pieces[k].machine);
        weft__survey_free(&outline->pieces[k].survey);
    }
    weft__free(outline->kernel.values);
}
