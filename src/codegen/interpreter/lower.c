/* Lowering: from the values of a kernel to steps. Memory is moved as it is; what loads and stores
 * mean for a dtype (widening, rounding, one NaN) become steps of their own. */
#include "codegen/interpreter/compile.h"
#include "core/status.h"

static const char *const op_names[] = {
#define NAME(name, arity) #name,
    WEFT__OP_LIST(NAME)
#undef NAME
};

/* What is moved at once: of complex numbers, a part. */
static uint8_t moved_size(weft_dtype dtype)
{
    static const uint8_t bytes[] = {0,
#define BYTES(name, NAME, bytes, kind) bytes >> (WEFT_KIND_##kind == WEFT_KIND_COMPLEX),
                                    WEFT_DTYPE_LIST(BYTES)
#undef BYTES
    };
    return (uint8_t)__builtin_ctz(bytes[dtype]);
}

static bool is_float(weft_dtype dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }

int32_t weft__lower_live(weft__lowering *lowering, weft__storage storage, uint8_t size)
{
    lowering->live[lowering->live_count] = (weft__live){
        .storage = (uint8_t)storage,
        .size = size,
        .ordinal = lowering->program->rows[storage]++,
        .last = -1,
    };
    return lowering->live_count++;
}

static bool is_uniform(const weft__lowering *lowering, int32_t live)
{
    return lowering->live[live].storage >= WEFT__STORAGE_CONSTANT;
}

void weft__lower_use(weft__lowering *lowering, weft__step *step, int k, int32_t live)
{
    step->argument[k] = live;
    step->uniform = (uint8_t)(step->uniform | is_uniform(lowering, live) << k);
    lowering->live[live].last = lowering->program->steps_count;
}

/* A step that computes: once, if its arguments are uniform, else in every patch. */
int32_t weft__lower_compute(weft__lowering *lowering, weft__primitive *primitive, weft_dtype dtype,
                            int count, const int32_t *arguments)
{
    weft__program *program = lowering->program;
    weft__step step = {.primitive = primitive, .size = moved_size(dtype)};
    for (int k = 0; k < count; k++)
        weft__lower_use(lowering, &step, k, arguments[k]);
    const bool once = step.uniform == (1U << count) - 1;
    step.result =
        weft__lower_live(lowering, once ? WEFT__STORAGE_UNIFORM : WEFT__STORAGE_BLOCK, step.size);
    if (once)
        program->prologue[program->prologue_count++] = step;
    else
        program->steps[program->steps_count++] = step;
    return step.result;
}

/* A fetch that is out of bounds has some element there, which is replaced after the widening. */
void weft__lower_edge(weft__lowering *lowering, int32_t position)
{
    const weft__value *load = &lowering->kernel->values[position];
    weft__program *program = lowering->program;
    if (!weft__load_is_bounded(lowering->kernel, load))
        return;
    weft__step step = {
        .kind = WEFT__STEP_EDGE, .size = moved_size(load->dtype), .shift = load->shift};
    weft__lower_use(lowering, &step, 0, lowering->value[position]);
    weft__lower_use(lowering, &step, 1, lowering->value[load->argument[0]]);
    step.result = weft__lower_live(lowering, WEFT__STORAGE_BLOCK, step.size);
    program->steps[program->steps_count++] = step;
    lowering->value[position] = step.result;
}

void weft__lower_fetch(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const weft_dtype dtype = lowering->kernel->operands[value->slot].dtype;
    weft__program *program = lowering->program;
    const uint8_t size = moved_size(dtype);
    const int32_t raw = weft__lower_live(lowering, WEFT__STORAGE_FETCH, size);
    program->steps[program->steps_count++] = (weft__step){.kind = WEFT__STEP_FETCH,
                                                          .result = raw,
                                                          .size = size,
                                                          .slot = value->slot,
                                                          .shift = value->shift,
                                                          .offset = (uint8_t)(value->part << size)};
    weft__primitive *widen = program->variant->widen[dtype];
    lowering->raw[position] = raw;
    lowering->value[position] = widen && lowering->used[position]
                                    ? weft__lower_compute(lowering, widen, value->dtype, 1, &raw)
                                    : raw;
}

static void lower_gather(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const weft_dtype dtype = lowering->kernel->operands[value->slot].dtype;
    weft__program *program = lowering->program;
    weft__primitive *widen = program->variant->widen[dtype];
    const uint8_t size = moved_size(dtype);
    weft__step step = {.kind = WEFT__STEP_GATHER,
                       .size = size,
                       .slot = value->slot,
                       .to = (int32_t)weft_dtype_size(dtype),
                       .offset = (uint8_t)(value->part << size)};
    weft__lower_use(lowering, &step, 0, lowering->value[value->argument[0]]);
    step.result = weft__lower_live(lowering, WEFT__STORAGE_BLOCK, size);
    program->steps[program->steps_count++] = step;
    lowering->value[position] =
        widen ? weft__lower_compute(lowering, widen, value->dtype, 1, &step.result) : step.result;
}

/* Whether a store moves what a load of the same dtype found, as it is. */
static bool is_copy(const weft__kernel *kernel, const weft__value *store)
{
    const weft__value *source = &kernel->values[store->argument[0]];
    return source->op == WEFT__OP_load && !weft__load_is_bounded(kernel, source) &&
           kernel->operands[source->slot].dtype == kernel->operands[store->slot].dtype;
}

/* The step that a value goes through to be memory: rounding or one NaN. NULL if there is none. */
static weft__primitive *leaving(const weft__lowering *lowering, uint16_t operand, int32_t value)
{
    const weft__variant *variant = lowering->program->variant;
    const weft__value *values = lowering->kernel->values, *source = &values[value];
    weft__primitive *narrow = variant->narrow[lowering->kernel->operands[operand].dtype];
    if (narrow != NULL)
        return narrow;
    if (source->op == WEFT__OP_cast && !is_float(values[source->argument[0]].dtype))
        return NULL; /* an integer is no NaN */
    return variant->canonical[source->dtype];
}

static void lower_store(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const weft_dtype dtype = lowering->kernel->operands[value->slot].dtype;
    weft__program *program = lowering->program;
    weft__step step = {.kind = WEFT__STEP_PUT, .size = moved_size(dtype), .slot = value->slot};
    step.offset = (uint8_t)(value->part << step.size);
    int32_t source = lowering->value[value->argument[0]];
    if (is_copy(lowering->kernel, value)) {
        source = lowering->raw[value->argument[0]];
    } else {
        weft__primitive *primitive = leaving(lowering, value->slot, value->argument[0]);
        if (primitive != NULL)
            source = weft__lower_compute(lowering, primitive, dtype, 1, &source);
    }
    weft__lower_use(lowering, &step, 0, source);
    if (lowering->first_put < 0)
        lowering->first_put = program->steps_count;
    program->bytes_put += 1 << step.size;
    program->steps[program->steps_count++] = step;
}

static void lower_leaf(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    weft__program *program = lowering->program;
    const uint8_t size = moved_size(value->dtype);
    int32_t live;
    if (value->op == WEFT__OP_constant) {
        program->constants[program->rows[WEFT__STORAGE_CONSTANT]] = value->bits;
        live = weft__lower_live(lowering, WEFT__STORAGE_CONSTANT, size);
    } else if (value->op == WEFT__OP_scalar) {
        live = weft__lower_live(lowering, WEFT__STORAGE_SCALAR, size);
        lowering->live[live].ordinal = value->slot; /* the table has all scalars of the launch */
    } else {
        live = weft__lower_live(lowering, WEFT__STORAGE_BLOCK, size);
        weft__step step = {.kind = WEFT__STEP_INDEX, .result = live, .size = size};
        step.slot = value->slot;
        if (step.slot != WEFT__INDEX_FOLDED && step.slot < lowering->kernel->ndim)
            step.slot = (uint16_t)weft__axis_launched(lowering->kernel, value->slot);
        program->steps[program->steps_count++] = step;
    }
    lowering->value[position] = live;
}

/* The primitive of a value, or NULL if its argument is already the result; false if there is none.
 */
static bool primitive_of(const weft__lowering *lowering, const weft__value *value,
                         weft__primitive **primitive)
{
    const weft__variant *variant = lowering->program->variant;
    const int typed = value->op == WEFT__OP_select; /* the argument that decides on the type */
    const uint8_t from = lowering->kernel->values[value->argument[typed]].dtype;
    *primitive = NULL;
    if (value->op == WEFT__OP_cast) {
        *primitive = variant->cast[from][value->dtype];
        return *primitive != NULL || from == value->dtype;
    }
    if (value->op == WEFT__OP_bitcast) {
        if (value->part == 0)
            *primitive =
                value->dtype == WEFT_BOOL ? variant->widen[WEFT_BOOL] : variant->canonical[from];
        return moved_size(from) == moved_size(value->dtype);
    }
    *primitive = variant->primitive[value->op][from];
    return *primitive != NULL;
}

static weft_status lower_operation(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const int count = weft__value_arguments(lowering->kernel, value);
    int32_t arguments[3] = {0};
    weft__primitive *primitive;
    for (int k = 0; k < count; k++)
        arguments[k] = lowering->value[value->argument[k]];
    if (!primitive_of(lowering, value, &primitive))
        return FAIL(WEFT_ERROR_COMPILE, "value %d of the kernel: %s is not defined for its types",
                    position, op_names[value->op]);
    lowering->value[position] =
        primitive == NULL
            ? arguments[0]
            : weft__lower_compute(lowering, primitive, value->dtype, count, arguments);
    return WEFT_OK;
}

/* A fold is what the program of the points ends with, and that of the results begins with. */
static void lower_fold(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    weft__program *program = lowering->program;
    const bool folds = lowering->wanted[position] == WEFT__WANTED_FOLD;
    weft__step step = {.kind = folds ? WEFT__STEP_FOLD : WEFT__STEP_FOLDED,
                       .slot = lowering->folds++,
                       .size = moved_size(value->dtype)};
    if (folds && value->part == 1)
        return; /* it is in the step of part 0 */
    for (int k = 0; folds && k < 2; k++)
        weft__lower_use(lowering, &step, k, lowering->value[value->argument[k]]);
    if (!folds)
        step.result = weft__lower_live(lowering, WEFT__STORAGE_FETCH, step.size);
    program->steps[program->steps_count++] = step;
    lowering->value[position] = step.result;
}

/* What a gather found goes back as it is. Points that have left the loop write nothing. */
static void lower_scatter(weft__lowering *lowering, int32_t position)
{
    const weft__value *value = &lowering->kernel->values[position];
    const weft__kernel_operand *operands = lowering->kernel->operands;
    const weft__value *source = &lowering->kernel->values[value->argument[1]];
    const weft_dtype dtype = (weft_dtype)operands[value->slot].dtype;
    const bool copies = source->op == WEFT__OP_gather &&
                        operands[source->slot].dtype == operands[value->slot].dtype;
    weft__primitive *primitive = copies ? NULL : leaving(lowering, value->slot, value->argument[1]);
    weft__primitive *both = lowering->program->variant->primitive[WEFT__OP_and][WEFT_BOOL];
    int32_t stored = lowering->value[value->argument[1]];
    int32_t conditions[] = {lowering->value[value->argument[2]],
                            lowering->loops[lowering->loops_count - 1].active};
    weft__step step = {.kind = WEFT__STEP_SCATTER, .size = moved_size(dtype), .slot = value->slot};
    if (primitive != NULL)
        stored = weft__lower_compute(lowering, primitive, dtype, 1, &stored);
    int32_t condition = weft__lower_compute(lowering, both, WEFT_BOOL, 2, conditions);
    weft__lower_use(lowering, &step, 0, lowering->value[value->argument[0]]);
    weft__lower_use(lowering, &step, 1, stored);
    weft__lower_use(lowering, &step, 2, condition);
    lowering->program->steps[lowering->program->steps_count++] = step;
}

weft_status weft__lower_steps(weft__lowering *lowering, int32_t position)
{
    if (!weft__lowering_wants(lowering, position)) {
        lowering->folds =
            (uint16_t)(lowering->folds + (lowering->kernel->values[position].op == WEFT__OP_fold));
        return WEFT_OK;
    }
    switch ((weft__op)lowering->kernel->values[position].op) {
    case WEFT__OP_load:
        weft__lower_fetch(lowering, position);
        weft__lower_edge(lowering, position);
        return WEFT_OK;
    case WEFT__OP_store:
        lower_store(lowering, position);
        return WEFT_OK;
    case WEFT__OP_constant:
    case WEFT__OP_scalar:
    case WEFT__OP_index:
        lower_leaf(lowering, position);
        return WEFT_OK;
    case WEFT__OP_fold:
        if (!lowering->wanted)
            return FAIL(WEFT_ERROR_COMPILE, "the kernel has a fold and says that it has none");
        lower_fold(lowering, position);
        return WEFT_OK;
    case WEFT__OP_gather:
        lower_gather(lowering, position);
        return WEFT_OK;
    case WEFT__OP_scatter:
        if (!lowering->loops_count)
            return FAIL(WEFT_ERROR_COMPILE, "the kernel has a scatter outside of a loop");
        lower_scatter(lowering, position);
        return WEFT_OK;
    case WEFT__OP_carry:
    case WEFT__OP_loop:
    case WEFT__OP_test:
    case WEFT__OP_next:
    case WEFT__OP_end:
        return weft__lower_flow(lowering, position);
    default:
        return lower_operation(lowering, position);
    }
}

/* Finds which loads are needed as values. Returns the position of the first store. */
int32_t weft__lower_survey(weft__lowering *lowering)
{
    const weft__kernel *kernel = lowering->kernel;
    const int32_t count = (int32_t)kernel->values_count;
    int32_t first = count;
    for (int32_t k = 0; k < count; k++) {
        const weft__value *value = &kernel->values[k];
        const bool store = value->op == WEFT__OP_store;
        if (!weft__lowering_wants(lowering, k))
            continue;
        if (store && first == count)
            first = k;
        const bool folded = lowering->wanted && value->op == WEFT__OP_fold &&
                            lowering->wanted[k] == WEFT__WANTED_VALUE;
        const int arguments = folded ? 0 : weft__value_arguments(kernel, value);
        lowering->used[k] |= weft__load_is_bounded(kernel, value); /* the edge is put in */
        for (int j = 0; j < arguments; j++)
            lowering->used[value->argument[j]] |= !(store && is_copy(kernel, value));
    }
    return first;
}

/* Loads see what was there before the kernel: those after the first store are moved before it. */
weft_status weft__lower(weft__lowering *lowering)
{
    const weft__kernel *kernel = lowering->kernel;
    const int32_t count = (int32_t)kernel->values_count, first = weft__lower_survey(lowering);
    lowering->first_put = -1;
    for (int32_t k = 0; k < first; k++)
        TRY(weft__lower_steps(lowering, k));
    for (int32_t k = first; k < count; k++) {
        if (kernel->values[k].op == WEFT__OP_load && weft__lowering_wants(lowering, k))
            weft__lower_fetch(lowering, k);
    }
    for (int32_t k = first; k < count; k++) {
        if (kernel->values[k].op != WEFT__OP_load)
            TRY(weft__lower_steps(lowering, k));
        else if (weft__lowering_wants(lowering, k))
            weft__lower_edge(lowering, k);
    }
    return WEFT_OK;
}
