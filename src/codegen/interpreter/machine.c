/* Lowering with machine code. Values are computed in phases: in the odd ones primitives that can be
 * machine code, as many as there are in one go; in the even ones what else they need, and what
 * needs them. What such a phase computes is one function of blocks. */
#include "codegen/interpreter/compile.h"
#include "codegen/x86.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

enum {
    LAST = 0xfffe, /* the phase of stores and folds, which come after everything else */
    LONG = 8       /* primitives that are worth a function */
};

/* What is known of each value of the kernel, and one function of them while it is made. */
struct machine {
    weft__lowering *lowering;
    int lanes;
    uint16_t *phase;
    bool *uniform; /* it is computed once a run */
    bool *leaves;  /* of a primitive of an odd phase: another phase needs it */
    uint16_t last; /* of the phases before LAST */
    weft__kernel kernel;
    uint32_t inputs, primitives;
    int32_t *number;   /* of each value: its position in the function, or -1 */
    int32_t *operand;  /* of each operand of the function: the value that it is */
    uint8_t *moved;    /* of each operand: it is in a block */
    uint8_t *of_value; /* rooms for marks of the function's values, three of each */
    uint32_t *room;    /* three numbers of each */
};

static const weft__value *value_at(const struct machine *m, uint32_t k)
{
    return &m->lowering->kernel->values[k];
}

/* Arguments that this program needs: the result of a fold needs none. */
static int arguments_of(const struct machine *m, uint32_t k)
{
    const weft__lowering *lowering = m->lowering;
    const weft__value *value = value_at(m, k);
    if (value->op == WEFT__OP_fold && lowering->wanted[k] == WEFT__WANTED_VALUE)
        return 0;
    return weft__value_arguments(lowering->kernel, value);
}

static bool ends(const struct machine *m, uint32_t k)
{
    const weft__value *value = value_at(m, k);
    return value->op == WEFT__OP_store ||
           (value->op == WEFT__OP_fold && m->lowering->wanted[k] == WEFT__WANTED_FOLD);
}

/* Fills in what is known of a value, once that is known of its arguments. */
static void find_phase(struct machine *m, uint32_t k)
{
    const weft__value *value = value_at(m, k);
    const int arguments = arguments_of(m, k);
    uint16_t phase = 0;
    bool uniform = weft__value_is_primitive(value);
    for (int j = 0; j < arguments; j++) {
        const int32_t argument = value->argument[j];
        phase = m->phase[argument] > phase ? m->phase[argument] : phase;
        uniform &= m->uniform[argument];
    }
    m->uniform[k] = uniform || value->op == WEFT__OP_constant || value->op == WEFT__OP_scalar;
    if (ends(m, k))
        phase = LAST;
    else if (!m->uniform[k] && phase % 2 != weft__x86_does(m->lowering->kernel, value, m->lanes))
        phase++;
    m->phase[k] = phase;
    if (phase != LAST && phase > m->last)
        m->last = phase;
}

static void find_phases(struct machine *m)
{
    const uint32_t count = m->lowering->kernel->values_count;
    for (uint32_t k = 0; k < count; k++)
        if (weft__lowering_wants(m->lowering, (int32_t)k))
            find_phase(m, k);
    for (uint32_t k = 0; k < count; k++) {
        if (!weft__lowering_wants(m->lowering, (int32_t)k))
            continue;
        for (int j = 0; j < arguments_of(m, k); j++) {
            const int32_t argument = value_at(m, k)->argument[j];
            m->leaves[argument] |= m->phase[argument] != m->phase[k];
        }
    }
}

/* As many as make most of the vectors as long as they can be. */
static int lanes_of(const weft__lowering *lowering)
{
    uint32_t all = 0, wide = 0;
    for (uint32_t k = 0; k < lowering->kernel->values_count; k++) {
        const weft__value *value = &lowering->kernel->values[k];
        if (!weft__lowering_wants(lowering, (int32_t)k) || !weft__value_is_primitive(value))
            continue;
        all++;
        wide += weft_dtype_size((weft_dtype)value->dtype) == 8;
    }
    return 2 * wide > all ? 8 : 16;
}

static int32_t add(struct machine *m, weft__value value)
{
    m->kernel.values[m->kernel.values_count] = value;
    return (int32_t)m->kernel.values_count++;
}

static int32_t add_move(struct machine *m, weft__op op, uint32_t k)
{
    const uint8_t dtype = value_at(m, k)->dtype;
    const uint32_t operand = m->kernel.operands_count++;
    m->operand[operand] = (int32_t)k;
    m->moved[operand] = !m->uniform[k];
    m->kernel.operands[operand] =
        (weft__kernel_operand){.dtype = dtype, .output = op == WEFT__OP_store};
    return add(m, (weft__value){.op = (uint8_t)op,
                                .dtype = dtype,
                                .slot = (uint16_t)operand,
                                .argument = {op == WEFT__OP_store ? m->number[k] : 0}});
}

/* A constant is in the function, everything else that it takes from outside is an operand. */
static void add_argument(struct machine *m, uint16_t phase, uint32_t k)
{
    const weft__value *value = value_at(m, k);
    if (m->number[k] >= 0 || m->phase[k] == phase)
        return;
    m->number[k] = value->op == WEFT__OP_constant ? add(m, *value) : add_move(m, WEFT__OP_load, k);
}

/* The function of a phase. */
static void fill_kernel(struct machine *m, uint16_t phase)
{
    const uint32_t count = m->lowering->kernel->values_count;
    m->kernel.values_count = m->kernel.operands_count = 0;
    m->primitives = 0;
    memset(m->number, 0xff, count * sizeof *m->number);
    for (uint32_t k = 0; k < count; k++)
        if (m->phase[k] == phase)
            for (int j = 0; j < arguments_of(m, k); j++)
                add_argument(m, phase, (uint32_t)value_at(m, k)->argument[j]);
    m->inputs = m->kernel.operands_count;
    for (uint32_t k = 0; k < count; k++) {
        weft__value value = *value_at(m, k);
        if (m->phase[k] != phase)
            continue;
        for (int j = 0; j < arguments_of(m, k); j++)
            value.argument[j] = m->number[value.argument[j]];
        m->number[k] = add(m, value);
        m->primitives++;
    }
    for (uint32_t k = 0; k < count; k++)
        if (m->phase[k] == phase && m->leaves[k])
            (void)add_move(m, WEFT__OP_store, k);
}

static bool is_worth(const struct machine *m)
{
    return m->primitives >= LONG && m->primitives >= 2 * m->kernel.operands_count;
}

/* Values of the function that only some points need. */
static weft__skips find_skips(const struct machine *m)
{
    const uint32_t count = m->kernel.values_count;
    uint8_t *needed = m->of_value, *level = needed + count, *skip = level + count;
    weft__skips skips = {
        .kernel = &m->kernel, .needed = needed, .level = level, .point = 1, .skip = skip};
    memset(needed, 1, count);
    memset(skip, 0, count);
    memset(m->room, 0, 3 * (size_t)count * sizeof *m->room);
    for (uint32_t k = 0; k < count; k++)
        level[k] = m->kernel.values[k].op != WEFT__OP_constant;
    weft__skips_find(&skips, m->room);
    return skips;
}

static weft_status assemble(const struct machine *m, weft__x86_code *code)
{
    const weft__skips skips = find_skips(m);
    return weft__x86_make(&(weft__x86_source){.kernel = &m->kernel,
                                              .needed = skips.needed,
                                              .skip = skips.skip,
                                              .skips = skips.skips,
                                              .skips_count = skips.count,
                                              .lanes = m->lanes,
                                              .moved = m->moved},
                          code);
}

/* Puts a function behind those that are there. */
static weft_status append(weft__program *program, const weft__x86_code *code, int32_t *at)
{
    const size_t begin = program->code.bytes;
    weft__executable longer;
    TRY(weft__executable_new(begin + (code->count + 63) / 64 * 64, &longer));
    if (begin > 0)
        memcpy(longer.memory, program->code.memory, begin);
    memcpy(longer.memory + begin, code->bytes, code->count);
    weft__executable_free(&program->code);
    program->code = longer;
    if (program->frame < (int32_t)code->frame)
        program->frame = (int32_t)code->frame;
    *at = (int32_t)begin;
    return WEFT_OK;
}

/* Results have blocks before arguments give theirs back, as all are there at once. */
static void lower_operands(struct machine *m, bool results)
{
    weft__lowering *lowering = m->lowering;
    weft__program *program = lowering->program;
    for (uint32_t k = 0; k < m->kernel.operands_count; k++) {
        const int32_t position = m->operand[k];
        if (results != (k >= m->inputs))
            continue;
        const uint32_t at = m->moved[k] ? weft__x86_address(&m->kernel, k, m->lanes)
                                        : weft__x86_operand(&m->kernel, k, m->lanes);
        weft__step step = {
            .kind = results ? WEFT__STEP_TAKE : WEFT__STEP_GIVE,
            .size = (uint8_t)__builtin_ctzll(weft_dtype_size(m->kernel.operands[k].dtype)),
            .to = (int32_t)at};
        if (results)
            lowering->value[position] = step.result =
                weft__lower_live(lowering, WEFT__STORAGE_BLOCK, step.size);
        else
            weft__lower_use(lowering, &step, 0, lowering->value[position]);
        program->steps[program->steps_count++] = step;
    }
}

static weft_status lower_call(struct machine *m)
{
    weft__program *program = m->lowering->program;
    weft__step call = {.kind = WEFT__STEP_CALL};
    weft__x86_code code = {0};
    TRY(assemble(m, &code));
    const weft_status status = append(program, &code, &call.to);
    weft__x86_free(&code);
    TRY(status);
    lower_operands(m, true);
    lower_operands(m, false);
    program->steps[program->steps_count++] = call;
    return WEFT_OK;
}

/* Loads are before all others, what is out of bounds where the value of that is known. Folds have
 * numbers in the order that they are in, also those that nobody wants. */
static weft_status lower_phase(struct machine *m, uint16_t phase)
{
    weft__lowering *lowering = m->lowering;
    const uint32_t count = lowering->kernel->values_count;
    if (phase % 2 != 0) {
        fill_kernel(m, phase);
        if (is_worth(m))
            return lower_call(m);
    }
    for (uint32_t k = 0; k < count; k++) {
        const bool wants = weft__lowering_wants(lowering, (int32_t)k);
        if (m->phase[k] != phase)
            continue;
        if (wants && value_at(m, k)->op == WEFT__OP_load)
            weft__lower_edge(lowering, (int32_t)k);
        else
            TRY(weft__lower_steps(lowering, (int32_t)k));
    }
    return WEFT_OK;
}

static weft_status lower(struct machine *m)
{
    weft__lowering *lowering = m->lowering;
    (void)weft__lower_survey(lowering);
    lowering->first_put = -1;
    for (uint32_t k = 0; k < lowering->kernel->values_count; k++)
        if (value_at(m, k)->op == WEFT__OP_load && weft__lowering_wants(lowering, (int32_t)k))
            weft__lower_fetch(lowering, (int32_t)k);
    for (uint32_t phase = 0; phase <= m->last; phase++)
        TRY(lower_phase(m, (uint16_t)phase));
    TRY(lower_phase(m, LAST));
    lowering->program->lanes = m->lanes;
    if (lowering->program->code.bytes == 0)
        return WEFT_ERROR_UNSUPPORTED;
    return weft__executable_finish(&lowering->program->code);
}

/* Operands of a function are values, and there are as many more to store. */
static weft_status make_tables(struct machine *m, void **memory)
{
    const size_t values = m->lowering->kernel->values_count, most = 3 * values;
    char *at = *memory = weft__allocate(most * sizeof(weft__value) + most * 3 * sizeof *m->room +
                                        values * sizeof *m->number + most * sizeof *m->operand +
                                        most * sizeof *m->kernel.operands +
                                        values * sizeof *m->phase + 4 * most + 2 * values);
    if (at == NULL)
        return WEFT_ERROR_MEMORY;
    m->kernel.values = (weft__value *)(void *)at;
    m->room = (uint32_t *)(void *)(m->kernel.values + most);
    m->number = (int32_t *)(m->room + 3 * most);
    m->operand = m->number + values;
    m->phase = (uint16_t *)(m->operand + most);
    m->kernel.operands = (weft__kernel_operand *)(m->phase + values);
    m->moved = (uint8_t *)(m->kernel.operands + most);
    m->of_value = m->moved + most;
    m->uniform = (bool *)(m->of_value + 3 * most);
    m->leaves = m->uniform + values;
    memset(m->phase, 0, values * sizeof *m->phase);
    memset(m->uniform, 0, 2 * values);
    return WEFT_OK;
}

weft_status weft__lower_machine(weft__lowering *lowering)
{
    const weft__kernel *kernel = lowering->kernel;
    struct machine m = {.lowering = lowering, .lanes = lanes_of(lowering), .kernel = {.ndim = 1}};
    void *memory;
    if (strcmp(lowering->program->variant->name, "avx512") != 0 || kernel->loops_count > 0 ||
        kernel->scatters_count > 0 || kernel->values_count >= LAST)
        return WEFT_ERROR_UNSUPPORTED;
    TRY(make_tables(&m, &memory));
    find_phases(&m);
    const weft_status status = lower(&m);
    weft__free(memory);
    return status;
}
