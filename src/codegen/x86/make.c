/* Making code: in which order values are computed, and who uses them when. */
#include "codegen/x86/make.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

int weft__x86_bytes(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_I32:
    case WEFT_U32:
    case WEFT_F32:
        return 4;
    case WEFT_I64:
    case WEFT_U64:
    case WEFT_F64:
        return 8;
    default:
        return 0;
    }
}

static int parts_of(weft_dtype dtype, int lanes)
{
    return weft__x86_bytes(dtype) * lanes > WEFT__X86_LINE ? 2 : 1;
}

int weft__x86_parts(const weft__maker *maker, weft_dtype dtype)
{
    return parts_of(dtype, maker->source->lanes);
}

int weft__x86_part_bytes(const weft__maker *maker, weft_dtype dtype)
{
    const int bytes = weft__x86_bytes(dtype) * maker->source->lanes;
    return bytes < WEFT__X86_LINE ? bytes : WEFT__X86_LINE;
}

bool weft__x86_has(weft_dtype dtype) { return dtype == WEFT_BOOL || weft__x86_bytes(dtype) > 0; }

bool weft__x86_does(const weft__kernel *kernel, const weft__value *value, int lanes)
{
    if ((lanes != 8 && lanes != 16) || !weft__value_is_primitive(value))
        return false;
    for (int k = 0; k < weft__value_arguments(kernel, value); k++)
        if (!weft__x86_has((weft_dtype)kernel->values[value->argument[k]].dtype))
            return false;
    return weft__x86_has((weft_dtype)value->dtype);
}

uint32_t weft__x86_operand(const weft__kernel *kernel, uint32_t operand, int lanes)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < operand; k++)
        at += WEFT__X86_LINE * (uint32_t)parts_of((weft_dtype)kernel->operands[k].dtype, lanes);
    return at;
}

uint32_t weft__x86_address(const weft__kernel *kernel, uint32_t operand, int lanes)
{
    return weft__x86_operand(kernel, kernel->operands_count, lanes) +
           (uint32_t)sizeof(void *) * operand;
}

static void add_step(weft__maker *maker, weft__x86_step_kind kind, uint32_t number)
{
    maker->steps[maker->steps_count++] = (weft__x86_step){kind, number};
}

/* The values from `begin` to before `end` that are in one skip, or in none: number 0. What is
 * skipped comes right before the first select that takes it. */
static void add_steps(weft__maker *maker, uint32_t begin, uint32_t end, int number)
{
    const weft__x86_source *source = maker->source;
    for (uint32_t k = begin; k < end; k++) {
        if (source->needed[k] == 0 || source->skip[k] != number ||
            !weft__value_is_primitive(&source->kernel->values[k]))
            continue;
        for (int j = 0; j < source->skips_count; j++) {
            if (source->skips[j].first != k)
                continue;
            add_step(maker, WEFT__X86_ENTER, (uint32_t)j);
            add_steps(maker, source->skips[j].condition + 1, k, j + 1);
            add_step(maker, WEFT__X86_LEAVE, (uint32_t)j);
        }
        add_step(maker, WEFT__X86_VALUE, k);
    }
}

/* The values that a step uses; returns how many. */
static int used_by(const weft__maker *maker, const weft__x86_step *step, int32_t *used)
{
    const weft__kernel *kernel = maker->source->kernel;
    int count = 0;
    if (step->kind == WEFT__X86_ENTER)
        used[count++] = (int32_t)maker->source->skips[step->number].condition;
    if (step->kind == WEFT__X86_VALUE)
        for (; count < weft__value_arguments(kernel, &kernel->values[step->number]); count++)
            used[count] = kernel->values[step->number].argument[count];
    return count;
}

static void find_uses(weft__maker *maker)
{
    const uint32_t values = maker->source->kernel->values_count;
    int32_t used[3];
    uint32_t total = 0;
    for (uint32_t k = 0; k < maker->steps_count; k++)
        for (int j = used_by(maker, &maker->steps[k], used); j-- > 0;)
            maker->uses_end[used[j]]++;
    for (uint32_t k = 0; k < values; k++) {
        maker->next[k] = total;
        total += maker->uses_end[k];
        maker->uses_end[k] = maker->next[k];
    }
    for (uint32_t k = 0; k < maker->steps_count; k++)
        for (int j = used_by(maker, &maker->steps[k], used); j-- > 0;)
            maker->use[maker->uses_end[used[j]]++] = k;
}

/* What is given is in the frame, and what is taken goes there. */
static void find_operands(weft__maker *maker)
{
    const weft__kernel *kernel = maker->source->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        const bool store = value->op == WEFT__OP_store, load = value->op == WEFT__OP_load;
        const uint32_t of = store ? (uint32_t)value->argument[0] : k;
        const int32_t at =
            load || store ? (int32_t)weft__x86_operand(kernel, value->slot, maker->source->lanes)
                          : 0;
        for (int part = 0; part < 2 && (load || store); part++)
            maker->place[2 * of + (uint32_t)part] = at + part * WEFT__X86_LINE;
        if (load || value->op == WEFT__OP_constant)
            maker->kept[2 * k] = maker->kept[2 * k + 1] = 1;
        if (store)
            maker->leaves[of] = 1;
    }
}

static weft_status make_tables(weft__maker *maker)
{
    const size_t values = maker->source->kernel->values_count, units = 2 * values,
                 steps = values + 2 * (size_t)maker->source->skips_count, uses = 3 * steps;
    const size_t bytes = steps * sizeof *maker->steps + uses * sizeof *maker->use +
                         3 * values * sizeof *maker->next + units * sizeof *maker->place +
                         2 * units + values;
    maker->memory = weft__allocate_zeroed(bytes + 1);
    if (maker->memory == NULL)
        return WEFT_ERROR_MEMORY;
    maker->steps = maker->memory;
    maker->use = (uint32_t *)(maker->steps + steps);
    maker->next = maker->use + uses;
    maker->uses_end = maker->next + values;
    maker->made = maker->uses_end + values;
    maker->place = (int32_t *)(maker->made + values);
    maker->in = (int8_t *)(maker->place + units);
    maker->kept = (uint8_t *)(maker->in + units);
    maker->leaves = maker->kept + units;
    memset(maker->place, 0xff, units * sizeof *maker->place);
    memset(maker->in, 0xff, units);
    memset(maker->held, 0xff, sizeof maker->held);
    return WEFT_OK;
}

static void pass(weft__maker *maker, const weft__x86_step *step)
{
    int32_t used[3];
    for (int k = used_by(maker, step, used); k-- > 0;)
        while (maker->next[used[k]] < maker->uses_end[used[k]] &&
               maker->use[maker->next[used[k]]] <= maker->now)
            maker->next[used[k]]++;
    memset(maker->pinned, 0, sizeof maker->pinned);
}

static void make_steps(weft__maker *maker)
{
    weft__x86_moves(maker, false);
    for (; maker->now < maker->steps_count && !maker->code.failed; maker->now++) {
        const weft__x86_step *step = &maker->steps[maker->now];
        if (step->kind == WEFT__X86_ENTER)
            weft__place_enter(maker, step->number);
        else if (step->kind == WEFT__X86_LEAVE)
            weft__place_leave(maker);
        else
            weft__x86_lower(maker, step->number);
        pass(maker, step);
    }
    weft__x86_moves(maker, true);
    weft__x86_repeat(maker);
    weft__assemble_end(&maker->code);
}

static weft_status finish(weft__maker *maker, weft__x86_code *code)
{
    if (maker->code.failed)
        return WEFT_ERROR_MEMORY;
    if (maker->frame > WEFT__X86_FRAME_MOST)
        return WEFT_ERROR_UNSUPPORTED;
    *code = (weft__x86_code){maker->code.bytes, maker->code.count, maker->frame};
    maker->code.bytes = NULL;
    return WEFT_OK;
}

weft_status weft__x86_make(const weft__x86_source *source, weft__x86_code *code)
{
    weft__maker maker = {.source = source};
    TRY(make_tables(&maker));
    maker.frame = weft__x86_address(
        source->kernel, source->moved != NULL ? source->kernel->operands_count : 0, source->lanes);
    maker.frame += -maker.frame & (WEFT__X86_LINE - 1);
    find_operands(&maker);
    add_steps(&maker, 0, source->kernel->values_count, 0);
    find_uses(&maker);
    make_steps(&maker);
    const weft_status status = finish(&maker, code);
    weft__assembly_free(&maker.code);
    weft__free(maker.memory);
    return status;
}

void weft__x86_free(weft__x86_code *code)
{
    weft__free(code->bytes);
    *code = (weft__x86_code){0};
}
