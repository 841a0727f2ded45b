/* What is rarely needed, as calls of C code that goes through it step by step: nothing is compiled
 * for it. Values go there and back through memory. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/patch.h"
#include "core/allocate.h"

#include <string.h>

enum {
    ITEMS_MOST = WEFT__RARE_ITEMS,
    WIDEST = WEFT__RARE_WIDEST,
    LINE = 64,
    OFTEN = 1000000 /* for once that a call is made */
};

/* What a skip takes from outside, and what it leaves. */
struct items {
    int inputs, count; /* the condition and other inputs, then what is left */
    uint32_t value[ITEMS_MOST];
};

static bool is_inside(const weft__survey *survey, int number, uint32_t value)
{
    int skip = survey->skip[value];
    while (skip != 0 && skip != number)
        skip = survey->skip[survey->skips[skip - 1].first];
    return skip != 0;
}

static bool add_item(struct items *items, uint32_t value)
{
    for (int k = 0; k < items->count; k++)
        if (items->value[k] == value)
            return true;
    if (items->count == ITEMS_MOST)
        return false;
    items->value[items->count++] = value;
    return true;
}

static bool add_inputs(const weft__survey *survey, int number, uint32_t value, struct items *items)
{
    const weft__kernel *kernel = survey->kernel;
    for (int k = 0; k < weft__value_arguments(kernel, &kernel->values[value]); k++) {
        const uint32_t argument = (uint32_t)kernel->values[value].argument[k];
        if (!is_inside(survey, number, argument) &&
            kernel->values[argument].op != WEFT__OP_constant && !add_item(items, argument))
            return false;
    }
    return true;
}

/* Whether there is room for all. */
static bool find_items(const weft__survey *survey, int number, struct items *items)
{
    const weft__skip *skip = &survey->skips[number - 1];
    *items = (struct items){.count = 1, .value = {skip->condition}};
    for (uint32_t k = skip->condition + 1; k < skip->first; k++)
        if (is_inside(survey, number, k) && !add_inputs(survey, number, k, items))
            return false;
    items->inputs = items->count;
    for (uint32_t k = skip->condition + 1; k < skip->first; k++)
        if (survey->skip[k] == number && weft__skip_leaves(survey, skip, k) && !add_item(items, k))
            return false;
    return true;
}

static bool multiplies_64(const weft__value *value)
{
    return (value->op == WEFT__OP_mul || value->op == WEFT__OP_mul_high) &&
           (value->dtype == WEFT_U64 || value->dtype == WEFT_I64);
}

static weft__rare_step step_of(const weft__kernel *kernel, const weft__value *value)
{
    const int typed = value->op == WEFT__OP_select;
    const bool leaf = weft__op_arity((weft__op)value->op) == 0;
    return (weft__rare_step){.op = (uint8_t)value->op,
                             .dtype = value->dtype,
                             .from =
                                 leaf ? value->dtype : kernel->values[value->argument[typed]].dtype,
                             .part = (uint8_t)value->part,
                             .item = WEFT__RARE_NO_ITEM,
                             .bits = value->op == WEFT__OP_constant ? value->bits : 0};
}

/* Whether C code can compute a value of its arguments alone. */
static bool is_plain(const weft__kernel *kernel, const weft__value *value)
{
    const weft__rare_step step = step_of(kernel, value);
    weft__primitive *primitive;
    return weft__op_arity((weft__op)value->op) > 0 && value->op != WEFT__OP_store &&
           value->op != WEFT__OP_gather && value->op != WEFT__OP_scatter &&
           value->op != WEFT__OP_fold && !weft__value_is_flow(value) &&
           weft__rare_primitive(&step, &primitive);
}

/* Products of 64 bits are what reductions of far arguments have, and a user's own choice, which may
 * not be rare, has not: that stays in vectors. */
bool weft__skip_is_apart(const weft__survey *survey, int number)
{
    const weft__skip *skip = &survey->skips[number - 1];
    struct items items;
    bool dear = false;
    int steps = ITEMS_MOST;
    if (!survey->target.masks || !weft__skip_gives_up(survey, number - 1))
        return false;
    for (uint32_t k = skip->condition + 1; k < skip->first; k++) {
        const weft__value *value = &survey->kernel->values[k];
        if (!is_inside(survey, number, k))
            continue;
        if (!is_plain(survey->kernel, value))
            return false;
        dear |= multiplies_64(value);
        steps += 1 + weft__op_arity((weft__op)value->op); /* with constants */
    }
    return dear && steps <= WEFT__RARE_STEPS && steps * survey->lanes <= WEFT__RARE_LANES &&
           find_items(survey, number, &items);
}

/* A side that is most of the code is what functions usually compute: the other one is of arguments
 * that are tiny, or far. */
bool weft__skip_is_rare(const weft__survey *survey, int number)
{
    const weft__skip *skip = &survey->skips[number - 1];
    uint32_t inside = 0;
    for (uint32_t k = skip->condition + 1; k < skip->first; k++)
        inside += is_inside(survey, number, k);
    return survey->always > WEFT__SHORT_MOST && weft__skip_gives_up(survey, number - 1) &&
           inside < survey->always;
}

bool weft__survey_gives_up(const weft__survey *survey)
{
    bool gives_up = false;
    if (survey->always > WEFT__SHORT_MOST)
        return false;
    for (int k = 1; survey->target.masks && k <= survey->skips_count; k++)
        gives_up |= weft__skip_gives_up(survey, k - 1) && !weft__skip_is_apart(survey, k);
    return gives_up;
}

static weft__ref item_address(const weft__emitter *emitter, int item)
{
    const int64_t begin = (int64_t)item * emitter->survey->lanes * WIDEST;
    return weft__emit_address(emitter, emitter->frame, weft__emit_i64(emitter, begin));
}

static weft_dtype dtype_of(const weft__emitter *emitter, uint32_t value)
{
    return (weft_dtype)emitter->survey->kernel->values[value].dtype;
}

static void put_item(const weft__emitter *emitter, weft__ref address, weft_dtype dtype, weft__ref x)
{
    if (dtype == WEFT_BOOL)
        x = weft__llvm.BuildZExt(emitter->builder, x, weft__emit_integer(emitter, 8), "");
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, x, address),
                            1U << weft__memory_size(dtype));
}

static weft__ref take_item(const weft__emitter *emitter, weft__ref address, weft_dtype dtype)
{
    weft__type type =
        dtype == WEFT_BOOL ? weft__emit_integer(emitter, 8) : weft__emit_type(emitter, dtype);
    weft__ref x = weft__llvm.BuildLoad2(emitter->builder, type, address, "");
    weft__llvm.SetAlignment(x, 1U << weft__memory_size(dtype));
    return dtype == WEFT_BOOL
               ? weft__llvm.BuildTrunc(emitter->builder, x, weft__emit_integer(emitter, 1), "")
               : x;
}

/* A program while it is made: which step makes each value, from 1 on. */
struct making {
    const weft__survey *survey;
    const struct items *items;
    weft__rare_step *steps;
    uint32_t count;
    uint16_t *made;
};

static uint16_t make_step(struct making *making, uint32_t value, weft__rare_step step)
{
    making->steps[making->count++] = step;
    return making->made[value] = (uint16_t)making->count;
}

static uint16_t item_of(const struct making *making, uint32_t value, int begin, int end)
{
    for (int k = begin; k < end; k++)
        if (making->items->value[k] == value)
            return (uint16_t)k;
    return WEFT__RARE_NO_ITEM;
}

/* The number of the step that makes an argument. */
static uint16_t argument_step(struct making *making, uint32_t value)
{
    const weft__kernel *kernel = making->survey->kernel;
    weft__rare_step step = step_of(kernel, &kernel->values[value]);
    if (making->made[value] == 0) {
        if (step.op != WEFT__OP_constant) {
            step = (weft__rare_step){.op = WEFT__OP_load, .dtype = step.dtype, .from = step.dtype};
            step.item = item_of(making, value, 0, making->items->inputs);
        }
        (void)make_step(making, value, step);
    }
    return (uint16_t)(making->made[value] - 1);
}

static void make_program(struct making *making, int number)
{
    const weft__survey *survey = making->survey;
    const weft__skip *skip = &survey->skips[number - 1];
    for (uint32_t k = skip->condition + 1; k < skip->first; k++) {
        const weft__value *value = &survey->kernel->values[k];
        weft__rare_step step = step_of(survey->kernel, value);
        if (!is_inside(survey, number, k))
            continue;
        for (int j = 0; j < weft__op_arity((weft__op)value->op); j++)
            step.argument[j] = argument_step(making, (uint32_t)value->argument[j]);
        step.item = item_of(making, k, making->items->inputs, making->items->count);
        (void)make_step(making, k, step);
    }
}

/* The number of the program that is the same as that of so many new steps, which may be it. */
static int find_program(weft__made_rares *rares, uint32_t count, int lanes)
{
    const weft__rare_step *steps = rares->step + rares->steps_count;
    for (uint32_t k = 0; k < rares->count; k++)
        if (rares->rare[k].count == count && rares->rare[k].lanes == (uint32_t)lanes &&
            memcmp(rares->step + rares->rare[k].first, steps, count * sizeof *steps) == 0)
            return (int)k;
    rares->rare[rares->count] = (weft__rare){rares->steps_count, count, (uint32_t)lanes};
    rares->steps_count += count;
    return (int)rares->count++;
}

static int program_of(const weft__emitter *emitter, int number, const struct items *items)
{
    weft__made_rares *rares = emitter->rares;
    struct making making = {.survey = emitter->survey,
                            .items = items,
                            .steps = rares->step + rares->steps_count,
                            .made = emitter->rare_steps};
    memset(making.made, 0, emitter->survey->kernel->values_count * sizeof *making.made);
    make_program(&making, number);
    return find_program(rares, making.count, emitter->survey->lanes);
}

static void emit_call(weft__emitter *emitter, int64_t program)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    weft__type types[] = {pointer, weft__flow_i64(emitter), pointer};
    weft__type type =
        weft__llvm.FunctionType(weft__llvm.VoidTypeInContext(emitter->context), types, 3, 0);
    weft__ref rares = weft__flow_field(emitter, emitter->patch, WEFT__PATCH_RARES, pointer);
    weft__ref arguments[] = {rares, weft__emit_i64(emitter, program), emitter->frame};
    (void)weft__llvm.BuildCall2(emitter->builder, type,
                                weft__flow_field(emitter, rares, 0, pointer), arguments, 3, "");
}

void weft__emit_rare(weft__emitter *emitter, int number)
{
    struct items items;
    (void)find_items(emitter->survey, number, &items);
    for (int k = 0; k < items.inputs; k++) {
        const weft_dtype dtype = dtype_of(emitter, items.value[k]);
        put_item(emitter, item_address(emitter, k), dtype,
                 weft__emit_argument(emitter, (int32_t)items.value[k]));
    }
    emit_call(emitter, program_of(emitter, number, &items));
    for (int k = items.inputs; k < items.count; k++) {
        const weft_dtype dtype = dtype_of(emitter, items.value[k]);
        emitter->value[items.value[k]] = take_item(emitter, item_address(emitter, k), dtype);
    }
}

/* What the caller has in registers then stays there where nothing is called. */
void weft__emit_rarely(const weft__emitter *emitter, weft__ref branch)
{
    static const char name[] = "branch_weights";
    weft__type i32 = weft__llvm.IntTypeInContext(emitter->context, 32);
    weft__llvm_metadata parts[3] = {
        weft__llvm.MDStringInContext2(emitter->context, name, sizeof name - 1),
        weft__llvm.ValueAsMetadata(weft__llvm.ConstInt(i32, 1, 0)),
        weft__llvm.ValueAsMetadata(weft__llvm.ConstInt(i32, OFTEN, 0))};
    weft__ref node = weft__llvm.MetadataAsValue(
        emitter->context, weft__llvm.MDNodeInContext2(emitter->context, parts, 3));
    weft__llvm.SetMetadata(branch, weft__llvm.GetMDKindIDInContext(emitter->context, "prof", 4),
                           node);
}

void weft__emit_frame(weft__emitter *emitter)
{
    weft__type word = weft__llvm.IntTypeInContext(emitter->context, 8 * WIDEST);
    weft__type room = weft__llvm.VectorType(word, (unsigned)(ITEMS_MOST * emitter->survey->lanes));
    emitter->frame = NULL;
    for (int k = 1; k <= emitter->survey->skips_count && emitter->frame == NULL; k++)
        if (weft__skip_is_apart(emitter->survey, k)) {
            emitter->frame = weft__llvm.BuildAlloca(emitter->builder, room, "");
            weft__llvm.SetAlignment(emitter->frame, LINE);
        }
}
