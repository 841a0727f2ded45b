/* Surveying a kernel: what is needed, how often, and how many elements at a time. */
#include "codegen/llvm/survey.h"
#include "core/allocate.h"
#include "core/status.h"

enum {
    UNROLL_FOUR = 12,    /* kernels of up to so many operations have four vectors in a turn */
    UNROLL_TWO = 32,     /* and two */
    UNROLL_CHAIN = 200,  /* or two, where operations mostly wait for one another */
    CHAIN = 4,           /* fewer than so many could be under way at once */
    STREAMING_MOST = 48, /* longer ones are not bound by memory, and need no second loop */
    STREAMED_BYTES = 16  /* the shortest store that can go past the caches */
};

int weft__memory_size(weft_dtype dtype)
{
    static const uint8_t bytes[] = {1,
#define BYTES(name, NAME, bytes, kind) bytes >> (WEFT_KIND_##kind == WEFT_KIND_COMPLEX),
                                    WEFT_DTYPE_LIST(BYTES)
#undef BYTES
    };
    return __builtin_ctz(bytes[dtype]);
}

bool weft__dtype_is_float(weft_dtype dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }

bool weft__dtype_is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

bool weft__dtype_is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

bool weft__store_copies(const weft__kernel *kernel, const weft__value *store)
{
    const weft__value *source = &kernel->values[store->argument[0]];
    return source->op == WEFT__OP_load &&
           kernel->operands[source->slot].dtype == kernel->operands[store->slot].dtype;
}

bool weft__kernel_has_index(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_index)
            return true;
    return false;
}

/* Backwards from the stores. */
static void find_needed(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        const bool store = value->op == WEFT__OP_store;
        const bool bytes = store && weft__store_copies(kernel, value);
        if (store)
            survey->needed[k] = WEFT__NEEDED_VALUE;
        for (int j = 0; survey->needed[k] != 0 && j < weft__op_arity((weft__op)value->op); j++)
            survey->needed[value->argument[j]] |=
                (uint8_t)(bytes ? WEFT__NEEDED_BYTES : WEFT__NEEDED_VALUE);
    }
}

static weft__level level_of(const weft__survey *survey, const weft__value *value)
{
    weft__level level = WEFT__LEVEL_LAUNCH;
    if (value->op == WEFT__OP_store)
        return WEFT__LEVEL_POINT;
    if (value->op == WEFT__OP_load)
        return survey->spacing[value->slot] == WEFT__SPACING_ZERO ? WEFT__LEVEL_ROW
                                                                  : WEFT__LEVEL_POINT;
    if (value->op == WEFT__OP_index)
        return value->slot == survey->ndim - 1 ? WEFT__LEVEL_POINT : WEFT__LEVEL_ROW;
    for (int k = 0; k < weft__op_arity((weft__op)value->op); k++)
        if (survey->level[value->argument[k]] > level)
            level = (weft__level)survey->level[value->argument[k]];
    return level;
}

static void find_levels(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        survey->level[k] = (uint8_t)level_of(survey, value);
        survey->operations += survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT &&
                              value->op != WEFT__OP_store && value->op != WEFT__OP_load;
    }
}

static void find_flags(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    enum { STORED = 32, STORED_OTHER = 64, TWICE = 128 }; /* of the parts; for a moment */
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (survey->needed[k] == 0 || (value->op != WEFT__OP_load && value->op != WEFT__OP_store))
            continue;
        uint8_t *flags = &survey->flags[value->slot];
        const int part = STORED << value->part, twice = *flags & part ? TWICE : 0;
        if (value->op == WEFT__OP_load)
            *flags |= WEFT__OPERAND_READ;
        else
            *flags = (uint8_t)(*flags | WEFT__OPERAND_WRITTEN | part | twice);
    }
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        uint8_t *flags = &survey->flags[k];
        const int stored = *flags & (STORED | STORED_OTHER | TWICE);
        *flags &= STORED - 1;
        if (stored == (STORED | STORED_OTHER) && survey->spacing[k] == WEFT__SPACING_DOUBLE)
            *flags |= WEFT__OPERAND_PAIRED;
        if ((*flags & WEFT__OPERAND_WRITTEN) != 0 &&
            weft__dtype_is_complex((weft_dtype)kernel->operands[k].dtype) &&
            (stored & (STORED | STORED_OTHER)) != (STORED | STORED_OTHER))
            *flags |= WEFT__OPERAND_PARTIAL;
    }
}

/* As many elements as fill a register with those of the widest type. */
static int lanes_of(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    int size = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const int own = weft__memory_size((weft_dtype)kernel->values[k].dtype);
        if (survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT && own > size)
            size = own;
    }
    return survey->target.bytes >> size;
}

/* What is read is in the cache already; the others must be of one element size, for one alignment.
 */
static void find_streamed(weft__survey *survey)
{
    size_t element = 0;
    survey->streamed = -1;
    if (survey->operations > STREAMING_MOST)
        return;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++) {
        const size_t size = weft_dtype_size((weft_dtype)survey->kernel->operands[k].dtype);
        const int flags = survey->flags[k] & (WEFT__OPERAND_READ | WEFT__OPERAND_WRITTEN);
        const bool dense = survey->spacing[k] == WEFT__SPACING_UNIT ||
                           (survey->flags[k] & WEFT__OPERAND_PAIRED) != 0;
        if (flags != WEFT__OPERAND_WRITTEN || !dense || (element != 0 && size != element) ||
            size * (size_t)survey->lanes < STREAMED_BYTES)
            continue;
        element = size;
        survey->flags[k] |= WEFT__OPERAND_STREAMED;
        if (survey->streamed < 0)
            survey->streamed = (int32_t)k;
    }
}

/* The operations that wait for one another, at most. */
static uint32_t depth_of(const weft__survey *survey, uint32_t *depth)
{
    const weft__kernel *kernel = survey->kernel;
    uint32_t deepest = 1;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        const bool counts = survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT;
        for (int j = 0; counts && j < weft__op_arity((weft__op)value->op); j++)
            if (depth[value->argument[j]] + 1 > depth[k])
                depth[k] = depth[value->argument[j]] + 1;
        if (depth[k] > deepest)
            deepest = depth[k];
    }
    return deepest;
}

/* Short kernels need several loads under way, long chains something to do while they wait. */
static int unroll_of(const weft__survey *survey, uint32_t *depth)
{
    const uint32_t operations = survey->operations;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++)
        if (survey->spacing[k] > WEFT__SPACING_DOUBLE)
            return 1;
    if (operations <= UNROLL_TWO)
        return operations <= UNROLL_FOUR ? 4 : 2;
    return operations <= UNROLL_CHAIN && operations < CHAIN * depth_of(survey, depth) ? 2 : 1;
}

weft_status weft__survey_make(const weft__kernel *kernel, const weft__launch *sample,
                              weft__survey *survey)
{
    *survey = (weft__survey){.kernel = kernel, .target = weft__target_host(), .ndim = sample->ndim};
    TRY(weft__kernel_check(kernel));
    const size_t values = kernel->values_count, operands = kernel->operands_count;
    uint32_t *depth = weft__allocate_zeroed((sizeof *depth + 2) * values + 2 * operands + 1);
    if (depth == NULL)
        return WEFT_ERROR_MEMORY;
    survey->memory = depth;
    survey->spacing = (uint8_t *)(depth + values);
    survey->flags = survey->spacing + operands;
    survey->level = survey->flags + operands;
    survey->needed = survey->level + values;
    weft__spacings(kernel, sample, survey->spacing);
    find_needed(survey);
    find_levels(survey);
    find_flags(survey);
    survey->lanes = lanes_of(survey);
    find_streamed(survey);
    survey->unroll = unroll_of(survey, depth);
    return WEFT_OK;
}

void weft__survey_free(weft__survey *survey) { weft__free(survey->memory); }
