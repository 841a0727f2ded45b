/* Surveying a kernel: what is needed, how often, and how many elements at a time. */
#include "codegen/llvm/survey.h"
#include "codegen/llvm/fold.h"
#include "codegen/llvm/patch.h"
#include "core/allocate.h"
#include "core/status.h"
#include <string.h>

enum {
    UNROLL_TWO = 32,    /* kernels of up to so many operations have two vectors in a turn */
    UNROLL_CHAIN = 200, /* or more, where operations mostly wait for one another */
    UNROLL_FOUR = 48,   /* … four, if those of two are more than wait in a processor's queue */
    UNROLL_SKIPS =
        64,    /* but one, where more would be skipped than is gained, and takes long to make */
    CHAIN = 4, /* fewer than so many could be under way at once */
    STREAMING_MOST = 48, /* longer ones are not bound by memory, and need no second loop */
    STREAMED_BYTES = 16, /* the shortest store that can go past the caches */
    ASKED = 3,           /* operands: fewer are found by the processor as early as it helps */
    MOVES_MOST = 6       /* operations, beside which it counts how memory is moved */
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
    return source->op == WEFT__OP_load && !weft__load_is_bounded(kernel, source) &&
           kernel->operands[source->slot].dtype == kernel->operands[store->slot].dtype;
}

bool weft__kernel_has_index(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_index && kernel->values[k].slot != WEFT__INDEX_FOLDED)
            return true;
    return false;
}

bool weft__kernel_has_numbers(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_index && kernel->values[k].slot == WEFT__INDEX_FOLDED)
            return true;
    return false;
}

bool weft__index_by_row(const weft__survey *survey, const weft__value *index)
{
    return index->slot == WEFT__INDEX_FOLDED || index->slot == survey->row_axis;
}

bool weft__index_by_column(const weft__survey *survey, const weft__value *index)
{
    return index->slot == WEFT__INDEX_FOLDED ? survey->fold_mode == WEFT__FOLD_LANES_MODE
                                             : index->slot == survey->column_axis;
}

bool weft__fold_is_numbered(const weft__kernel *kernel, const weft__value *fold)
{
    const weft__value *second = &kernel->values[fold->argument[1]];
    return (fold->slot == WEFT__FOLD_ARGMIN || fold->slot == WEFT__FOLD_ARGMAX) &&
           second->op == WEFT__OP_index && second->slot == WEFT__INDEX_FOLDED;
}

int weft__value_size(const weft__kernel *kernel, const weft__value *value)
{
    const bool number =
        value->op == WEFT__OP_fold && value->part == 1 && weft__fold_is_numbered(kernel, value);
    return weft__memory_size(number ? WEFT_I32 : (weft_dtype)value->dtype);
}

static int arguments_of(const weft__kernel *kernel, const weft__value *value)
{
    if (value->op == WEFT__OP_fold)
        return weft__fold_is_numbered(kernel, value) ? 1 : 2;
    return weft__value_arguments(kernel, value);
}

/* Backwards from the stores, or from the folds. */
static void find_needed(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        const bool store = value->op == WEFT__OP_store;
        const bool bytes = store && weft__store_copies(kernel, value);
        if (store || value->op == WEFT__OP_fold || value->op == WEFT__OP_scatter ||
            weft__value_is_flow(value))
            survey->needed[k] = WEFT__NEEDED_VALUE;
        for (int j = 0; survey->needed[k] != 0 && j < arguments_of(kernel, value); j++)
            survey->needed[value->argument[j]] |=
                (uint8_t)(bytes ? WEFT__NEEDED_BYTES : WEFT__NEEDED_VALUE);
    }
}

const weft__kernel_shift *weft__load_shift(const weft__kernel *kernel, const weft__value *load)
{
    return load->shift == 0 ? NULL : &kernel->shifts[load->shift - 1];
}

bool weft__load_has_edges(const weft__survey *survey, const weft__value *load)
{
    const weft__kernel_shift *shift = weft__load_shift(survey->kernel, load);
    return shift != NULL && shift->offset[survey->ndim - 1] != 0;
}

static weft__level level_of(const weft__survey *survey, const weft__value *value)
{
    weft__level level = WEFT__LEVEL_LAUNCH;
    if (value->op == WEFT__OP_store || value->op == WEFT__OP_fold ||
        value->op == WEFT__OP_scatter || weft__value_is_flow(value))
        return WEFT__LEVEL_POINT;
    if (value->op == WEFT__OP_gather && survey->kernel->operands[value->slot].output)
        return WEFT__LEVEL_POINT; /* scatters change what it finds */
    if (value->op == WEFT__OP_gather)
        level = WEFT__LEVEL_ROW;
    if (value->op == WEFT__OP_load) {
        if (survey->spacing[value->slot] != WEFT__SPACING_ZERO ||
            weft__load_has_edges(survey, value))
            return WEFT__LEVEL_POINT;
        level = WEFT__LEVEL_ROW;
    }
    if (value->op == WEFT__OP_index)
        return weft__index_by_column(survey, value) ? WEFT__LEVEL_POINT : WEFT__LEVEL_ROW;
    for (int k = 0; k < weft__value_arguments(survey->kernel, value); k++)
        if (survey->level[value->argument[k]] > level)
            level = (weft__level)survey->level[value->argument[k]];
    return level;
}

/* Of a value: how many operations it is, about. What is only moved is none. */
static uint32_t operations_of(const weft__survey *survey, const weft__value *value)
{
    enum {
        PAIRED = 4,
        ROUNDED = 12,
        WIDENED = 8,
        DIVIDED = 14,
        DIVIDED_LANE = 5,
        CONVERTED = 6,
        BYTES = 4
    };
    const weft__kernel *kernel = survey->kernel;
    const weft_dtype dtype = (weft_dtype)value->dtype;
    const bool moves = value->op == WEFT__OP_load || value->op == WEFT__OP_store;
    const weft_dtype memory = moves ? (weft_dtype)kernel->operands[value->slot].dtype : WEFT_F32;
    switch ((weft__op)value->op) {
    case WEFT__OP_load:
        return memory == WEFT_F16 && !survey->target.halves ? WIDENED
                                                            : weft__dtype_is_complex(memory);
    case WEFT__OP_store:
        if (memory == WEFT_BF16 || (memory == WEFT_F16 && !survey->target.halves))
            return ROUNDED;
        return weft__dtype_is_complex(memory) ? PAIRED : 0;
    case WEFT__OP_round_f16:
    case WEFT__OP_round_bf16:
        return ROUNDED;
    case WEFT__OP_div:
    case WEFT__OP_rem:
        if (weft__dtype_is_float(dtype))
            return 1;
        return weft__memory_size(dtype) < 3 || weft__quotient_is_apart(&survey->target, dtype)
                   ? DIVIDED
                   : (uint32_t)(DIVIDED_LANE * survey->target.bytes / (int)sizeof(int64_t));
    case WEFT__OP_mul:
    case WEFT__OP_shl:
    case WEFT__OP_shr:
        return weft__memory_size(dtype) == 0 ? BYTES : 1;
    case WEFT__OP_mul_high:
        return CONVERTED;
    case WEFT__OP_call:
        return (uint32_t)value->bits;
    case WEFT__OP_pass:
    case WEFT__OP_result:
        return 0;
    case WEFT__OP_cast:
        return weft__dtype_is_float((weft_dtype)kernel->values[value->argument[0]].dtype) &&
                       !weft__dtype_is_float(dtype) && dtype != WEFT_BOOL
                   ? CONVERTED
                   : 1;
    default:
        return !weft__value_is_flow(value);
    }
}

static void find_levels(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        survey->level[k] = (uint8_t)level_of(survey, value);
        if (survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT)
            survey->operations += operations_of(survey, value);
    }
}

static void find_flags(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    enum { STORED = 32, STORED_OTHER = 64, TWICE = 128 }; /* of the parts; for a moment */
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        uint8_t *flags = &survey->flags[value->slot];
        if (survey->needed[k] != 0 &&
            (value->op == WEFT__OP_gather || value->op == WEFT__OP_scatter))
            *flags |= WEFT__OPERAND_READ;
        if (survey->needed[k] == 0 || (value->op != WEFT__OP_load && value->op != WEFT__OP_store))
            continue;
        if (value->op == WEFT__OP_load)
            survey->flags[survey->source[k]] |= WEFT__OPERAND_READ;
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

/* The operand that a displaced load reads, which is new if no load before is displaced like it. */
static uint16_t displaced_operand(weft__survey *survey, const weft__value *load)
{
    const uint32_t own = survey->kernel->operands_count;
    const uint16_t shift = (uint16_t)(load->shift - 1);
    uint32_t k = own;
    while (k < survey->operands && (survey->displaced[k - own].operand != load->slot ||
                                    survey->displaced[k - own].shift != shift))
        k++;
    if (k == survey->operands)
        survey->displaced[survey->operands++ - own] = (weft__displaced){load->slot, shift};
    return (uint16_t)k;
}

static void find_sources(weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    survey->operands = kernel->operands_count;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op != WEFT__OP_load || survey->needed[k] == 0)
            continue;
        survey->source[k] = value->shift == 0 ? value->slot : displaced_operand(survey, value);
        survey->spacing[survey->source[k]] = survey->spacing[value->slot];
        if (!weft__load_has_edges(survey, value))
            continue;
        const bool dense = survey->spacing[value->slot] == WEFT__SPACING_UNIT;
        if (survey->edges != WEFT__EDGES_SINGLE)
            survey->edges = dense && survey->target.masks ? WEFT__EDGES_VECTOR : WEFT__EDGES_SINGLE;
    }
}

/* Whether one displacement reaches further than the other. */
static bool is_beyond(const weft__survey *survey, uint32_t operand, uint32_t other)
{
    static const weft__kernel_shift none;
    const uint32_t own = survey->kernel->operands_count;
    const weft__kernel_shift *shifts = survey->kernel->shifts;
    const weft__kernel_shift *a =
        operand < own ? &none : &shifts[survey->displaced[operand - own].shift];
    const weft__kernel_shift *b =
        other < own ? &none : &shifts[survey->displaced[other - own].shift];
    for (int32_t k = 0; k < survey->ndim; k++)
        if (a->offset[k] != b->offset[k])
            return a->offset[k] > b->offset[k];
    return false;
}

static void find_leading(weft__survey *survey)
{
    const uint32_t own = survey->kernel->operands_count;
    for (uint32_t k = own; k < survey->operands; k++) {
        const uint16_t slot = survey->displaced[k - own].operand;
        uint32_t leading = slot;
        for (uint32_t j = own; j < survey->operands; j++)
            if (survey->displaced[j - own].operand == slot && is_beyond(survey, j, leading))
                leading = j;
        survey->flags[leading] |= WEFT__OPERAND_LEADS;
    }
}

/* As many elements as fill a register with those of the widest type, rare ones aside. */
static int lanes_of(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    int size = 0;
    if (kernel->scatters_count > 0) /* each point is a program of its own */
        return 1;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const int own = weft__value_size(kernel, &kernel->values[k]);
        if (survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT &&
            survey->skip[k] == 0 && survey->uniform[k] == 0 && own > size)
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
    if (survey->always > STREAMING_MOST)
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

static bool asks(const weft__survey *survey)
{
    int count = 0;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++)
        count += (survey->flags[k] & WEFT__OPERAND_READ) != 0 &&
                 survey->spacing[k] == WEFT__SPACING_UNIT;
    return survey->target.asks && count >= ASKED &&
           survey->operands == survey->kernel->operands_count;
}

/* The operations that wait for one another, at most. */
static uint32_t depth_of(const weft__survey *survey, uint32_t *depth)
{
    const weft__kernel *kernel = survey->kernel;
    uint32_t deepest = 1;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        const bool counts =
            survey->needed[k] != 0 && survey->skip[k] == 0 && survey->level[k] == WEFT__LEVEL_POINT;
        for (int j = 0; counts && j < weft__value_arguments(kernel, value); j++)
            if (depth[value->argument[j]] + 1 > depth[k])
                depth[k] = depth[value->argument[j]] + 1;
        if (depth[k] > deepest)
            deepest = depth[k];
    }
    return deepest;
}

/* Whether turns have code that is skipped, other than calls. */
static bool has_skips_inside(const weft__survey *survey)
{
    bool inside = false;
    for (int k = 1; k <= survey->skips_count; k++)
        inside |= !weft__skip_is_apart(survey, k);
    return inside && !weft__survey_gives_up(survey);
}

/* Short kernels need several loads under way, long chains something to do while they wait. */
static int unroll_of(const weft__survey *survey, uint32_t *depth)
{
    const uint32_t operations = survey->always;
    if (survey->kernel->scatters_count > 0)
        return 1;
    if (survey->edges == WEFT__EDGES_VECTOR) /* few vectors shall be left for steps */
        return 1;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++)
        if (survey->spacing[k] > WEFT__SPACING_DOUBLE)
            return 1;
    if (has_skips_inside(survey) && survey->operations > UNROLL_SKIPS)
        return 1;
    if (operations <= UNROLL_TWO)
        return operations <= WEFT__SHORT_MOST ? 4 : 2;
    if (operations > UNROLL_CHAIN || operations >= CHAIN * depth_of(survey, depth))
        return 1;
    return operations > UNROLL_FOUR && survey->target.isa == WEFT__ISA_AVX512 ? 4 : 2;
}

/* Long code is made once, without masks, if the elements of what is left of a row can be moved:
 * they follow each other, and are those of the points alone. */
static bool is_whole(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    bool whole = survey->always > WEFT__SHORT_MOST && kernel->loops_count == 0 &&
                 survey->operands == kernel->operands_count && !weft__survey_gives_up(survey);
    size_t bytes = 0;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const weft_dtype dtype = (weft_dtype)kernel->operands[k].dtype;
        const weft__spacing dense =
            weft__dtype_is_complex(dtype) ? WEFT__SPACING_DOUBLE : WEFT__SPACING_UNIT;
        const bool once = (survey->flags[k] & WEFT__OPERAND_WRITTEN) == 0 &&
                          survey->spacing[k] == WEFT__SPACING_ZERO;
        whole &= survey->flags[k] == 0 || once || survey->spacing[k] == dense;
        bytes += weft_dtype_size(dtype) * (size_t)(survey->lanes * survey->unroll);
    }
    for (uint32_t k = 0; k < kernel->values_count; k++)
        whole &=
            kernel->values[k].op != WEFT__OP_gather && kernel->values[k].op != WEFT__OP_scatter;
    return whole && bytes <= WEFT__WHOLE_BYTES;
}

size_t weft__displaced_loads(const weft__kernel *kernel)
{
    size_t count = 0;
    for (uint32_t k = 0; kernel->shifts_count > 0 && k < kernel->values_count; k++)
        count += kernel->values[k].op == WEFT__OP_load && kernel->values[k].shift != 0;
    return count;
}

weft_status weft__survey_begin(const weft__kernel *kernel, weft__survey *survey)
{
    *survey = (weft__survey){.kernel = kernel, .target = weft__target_host()};
    survey->target.masks &= kernel->scatters_count == 0;
    TRY(weft__kernel_check(kernel));
    const size_t values = kernel->values_count, displaced = weft__displaced_loads(kernel);
    const size_t operands = kernel->operands_count + displaced;
    if (!weft__patch_holds(kernel->operands_count, displaced))
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "a kernel of %u operands with %zu displaced loads has too many to be compiled",
                    kernel->operands_count, displaced);
    uint32_t *depth =
        weft__allocate_zeroed((4 * sizeof *depth + sizeof *survey->source + 4) * values +
                              sizeof *survey->displaced * displaced + 2 * operands + 1);
    if (depth == NULL)
        return WEFT_ERROR_MEMORY;
    survey->memory = depth;
    survey->displaced = (weft__displaced *)(depth + 4 * values);
    survey->source = (uint16_t *)(survey->displaced + displaced);
    survey->spacing = (uint8_t *)(survey->source + values);
    survey->flags = survey->spacing + operands;
    survey->level = survey->flags + operands;
    survey->needed = survey->level + values;
    survey->skip = survey->needed + values;
    survey->uniform = survey->skip + values;
    return WEFT_OK;
}

bool weft__skip_gives_up(const weft__survey *survey, int number)
{
    const weft__skip *skip = &survey->skips[number];
    for (int k = 0; k < survey->skips_count; k++)
        if (k != number && survey->skips[k].condition == skip->condition)
            return false;
    return survey->skip[skip->first] == 0;
}

static void find_skips(weft__survey *survey, uint32_t *room)
{
    weft__skips found = {.kernel = survey->kernel,
                         .needed = survey->needed,
                         .level = survey->level,
                         .point = WEFT__LEVEL_POINT,
                         .skip = survey->skip};
    weft__skips_find(&found, room);
    memcpy(survey->skips, found.skips, sizeof found.skips);
    survey->skips_count = found.count;
    for (int k = 0; k < survey->skips_count; k++)
        survey->gives_up |= survey->target.masks && weft__skip_gives_up(survey, k);
    survey->always = survey->operations;
    for (uint32_t k = 0; k < survey->kernel->values_count; k++)
        if (survey->skip[k] != 0)
            survey->always -= operations_of(survey, &survey->kernel->values[k]);
}

void weft__survey_finish(weft__survey *survey)
{
    uint32_t *room = survey->memory;
    find_needed(survey);
    find_sources(survey);
    find_levels(survey);
    weft__survey_uniform(survey);
    find_flags(survey);
    find_leading(survey);
    find_skips(survey, room + survey->kernel->values_count);
    survey->lanes = lanes_of(survey);
    find_streamed(survey);
    survey->asks = asks(survey);
    survey->unroll = unroll_of(survey, room);
}

/* Whether code is bound by memory, and has nothing in it but vectors of one size: few operations on
 * elements that follow each other. */
static bool only_moves(const weft__survey *survey)
{
    const weft__kernel *kernel = survey->kernel;
    bool dense = survey->operands == kernel->operands_count && kernel->loops_count == 0 &&
                 kernel->scatters_count == 0;
    unsigned sizes = 0;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        dense &= survey->flags[k] == 0 || survey->spacing[k] <= WEFT__SPACING_UNIT;
        if (survey->flags[k] != 0)
            sizes |= 1U << weft__memory_size((weft_dtype)kernel->operands[k].dtype);
    }
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (survey->needed[k] != 0 && survey->level[k] == WEFT__LEVEL_POINT &&
            kernel->values[k].dtype != WEFT_BOOL)
            sizes |= 1U << weft__value_size(kernel, &kernel->values[k]);
    return dense && survey->always <= MOVES_MOST && (sizes & (sizes - 1)) == 0;
}

weft_status weft__survey_make(const weft__kernel *kernel, const weft__launch *sample,
                              weft__survey *survey)
{
    TRY(weft__survey_begin(kernel, survey));
    survey->ndim = sample->ndim;
    survey->column_axis = sample->ndim - 1;
    survey->row_axis = sample->ndim - 2;
    weft__spacings(kernel, sample, survey->spacing);
    weft__survey_finish(survey);
    if (survey->target.narrow && only_moves(survey)) {
        survey->target.bytes /= 2;
        survey->lanes = lanes_of(survey);
    }
    survey->whole = is_whole(survey);
    return WEFT_OK;
}

void weft__survey_set_unroll(weft__survey *survey, int unroll)
{
    survey->unroll = unroll;
    survey->whole = survey->kernel->folds_count == 0 && is_whole(survey);
}

void weft__survey_free(weft__survey *survey) { weft__free(survey->memory); }
