/* What is rarely needed, as a function of its own for one element: made once, where it would be
 * made for vectors and again for every loop. Values go there and back through memory. */
#include "codegen/llvm/flow.h"

#include <string.h>

enum {
    ITEMS_MOST = 16, /* values that go there and back */
    WIDEST = 8,      /* bytes of a value in that memory */
    LINE = 64,
    OFTEN = 1000000, /* for once that a call is made */
    INTERNAL = 8     /* LLVMInternalLinkage */
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

/* Products of 64 bits are what reductions of far arguments have, and a user's own choice, which may
 * not be rare, has not: that stays in vectors. */
bool weft__skip_is_apart(const weft__survey *survey, int number)
{
    const weft__skip *skip = &survey->skips[number - 1];
    struct items items;
    bool dear = false;
    if (!survey->target.masks || !weft__skip_gives_up(survey, number - 1))
        return false;
    for (uint32_t k = skip->condition + 1; k < skip->first; k++) {
        if (!is_inside(survey, number, k))
            continue;
        if (survey->kernel->values[k].op == WEFT__OP_index)
            return false;
        dear |= multiplies_64(&survey->kernel->values[k]);
    }
    return dear && find_items(survey, number, &items);
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

/* Where an item is, from the lane `at` on. */
static weft__ref item_address(const weft__emitter *emitter, weft__ref frame, int item, weft__ref at,
                              weft_dtype dtype)
{
    const int64_t begin = (int64_t)item * emitter->survey->lanes * WIDEST;
    weft__ref base = weft__emit_address(emitter, frame, weft__emit_i64(emitter, begin));
    if (at == NULL)
        return base;
    weft__ref size = weft__emit_i64(emitter, (int64_t)1 << weft__memory_size(dtype));
    return weft__emit_address(emitter, base, weft__llvm.BuildMul(emitter->builder, at, size, ""));
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

/* Constants that the values inside use are made again, with their lanes. */
static void make_constants(weft__emitter *inner, int number)
{
    const weft__survey *survey = inner->survey;
    const weft__kernel *kernel = survey->kernel;
    const weft__skip *skip = &survey->skips[number - 1];
    for (uint32_t k = skip->condition + 1; k < skip->first; k++)
        for (int j = 0;
             is_inside(survey, number, k) && j < weft__value_arguments(kernel, &kernel->values[k]);
             j++) {
            const int32_t argument = kernel->values[k].argument[j];
            const weft__value *value = &kernel->values[argument];
            if (value->op == WEFT__OP_constant)
                inner->values[argument] =
                    weft__emit_constant(inner, (weft_dtype)value->dtype, value->bits);
        }
}

static void emit_lane(weft__emitter *inner, int number, const struct items *items, weft__ref frame,
                      weft__ref at)
{
    make_constants(inner, number);
    for (int k = 0; k < items->inputs; k++) {
        const weft_dtype dtype = dtype_of(inner, items->value[k]);
        inner->values[items->value[k]] =
            take_item(inner, item_address(inner, frame, k, at, dtype), dtype);
    }
    weft__emit_skipped(inner, number);
    for (int k = items->inputs; k < items->count; k++) {
        const weft_dtype dtype = dtype_of(inner, items->value[k]);
        put_item(inner, item_address(inner, frame, k, at, dtype), dtype,
                 inner->values[items->value[k]]);
    }
}

/* Whether the lane takes the side of the skip. */
static weft__ref is_taken(const weft__emitter *inner, int number, weft__ref frame, weft__ref at)
{
    weft__ref condition = take_item(inner, item_address(inner, frame, 0, at, WEFT_BOOL), WEFT_BOOL);
    return inner->survey->skips[number - 1].side == 1
               ? condition
               : weft__llvm.BuildXor(inner->builder, condition, weft__emit_number(inner, 1, 1), "");
}

static void emit_loop(weft__emitter *inner, int number, const struct items *items)
{
    weft__ref frame = weft__llvm.GetParam(inner->function, 0);
    weft__ref end = weft__emit_i64(inner, inner->survey->lanes);
    weft__block entry = weft__flow_block(inner), loop = weft__flow_block(inner),
                taken = weft__flow_block(inner), next = weft__flow_block(inner),
                after = weft__flow_block(inner);
    weft__flow_enter(inner, entry);
    weft__flow_jump(inner, loop);
    weft__flow_enter(inner, loop);
    weft__ref at = weft__flow_phi(inner, weft__flow_i64(inner));
    weft__flow_branch(inner, is_taken(inner, number, frame, at), taken, next);
    weft__flow_enter(inner, taken);
    emit_lane(inner, number, items, frame, at);
    weft__flow_jump(inner, next);
    weft__flow_enter(inner, next);
    weft__ref following = weft__flow_plus(inner, at, 1);
    weft__flow_incoming(at, weft__emit_i64(inner, 0), entry);
    weft__flow_incoming(at, following, next);
    weft__flow_branch(inner, weft__flow_compare(inner, WEFT__ICMP_SLT, following, end), loop,
                      after);
    weft__flow_enter(inner, after);
    weft__llvm.BuildRetVoid(inner->builder);
}

static weft__ref make_function(const weft__emitter *emitter, weft__type type)
{
    weft__ref function = weft__llvm.AddFunction(emitter->module, "weft_rare", type);
    weft__llvm.SetLinkage(function, INTERNAL);
    weft__emit_attributes(emitter, function, true);
    return function;
}

static void emit_function(weft__emitter *emitter, int number, const struct items *items,
                          weft__type type)
{
    weft__block here = weft__flow_here(emitter);
    weft__emitter inner = *emitter;
    inner.function = emitter->rare[number - 1] = make_function(emitter, type);
    inner.lanes = 1;
    inner.values = inner.value = inner.single = inner.vector = emitter->rare_values;
    inner.mask = NULL;
    inner.give_up = NULL;
    emit_loop(&inner, number, items);
    weft__flow_enter(emitter, here);
}

void weft__emit_rare(weft__emitter *emitter, int number)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    weft__type type =
        weft__llvm.FunctionType(weft__llvm.VoidTypeInContext(emitter->context), &pointer, 1, 0);
    struct items items;
    (void)find_items(emitter->survey, number, &items);
    if (emitter->rare[number - 1] == NULL)
        emit_function(emitter, number, &items, type);
    for (int k = 0; k < items.inputs; k++) {
        const weft_dtype dtype = dtype_of(emitter, items.value[k]);
        put_item(emitter, item_address(emitter, emitter->frame, k, NULL, dtype), dtype,
                 weft__emit_argument(emitter, (int32_t)items.value[k]));
    }
    (void)weft__llvm.BuildCall2(emitter->builder, type, emitter->rare[number - 1], &emitter->frame,
                                1, "");
    for (int k = items.inputs; k < items.count; k++) {
        const weft_dtype dtype = dtype_of(emitter, items.value[k]);
        emitter->value[items.value[k]] =
            take_item(emitter, item_address(emitter, emitter->frame, k, NULL, dtype), dtype);
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
    memset(emitter->rare, 0, sizeof emitter->rare);
    for (int k = 1; k <= emitter->survey->skips_count && emitter->frame == NULL; k++)
        if (weft__skip_is_apart(emitter->survey, k)) {
            emitter->frame = weft__llvm.BuildAlloca(emitter->builder, room, "");
            weft__llvm.SetAlignment(emitter->frame, LINE);
        }
}
