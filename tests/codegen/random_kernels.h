/* Random kernels, of random layouts and sizes, with numbers that make trouble. */
#ifndef WEFT_TESTS_CODEGEN_RANDOM_KERNELS_H
#define WEFT_TESTS_CODEGEN_RANDOM_KERNELS_H

#include "codegen/corners.h"
#include "codegen/trials.h"

/* Sizes whose product stays small, with some of 0 and 1. */
static inline struct space random_space(void)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 15, 16, 17, 31, 33, 64, 65, 100, 128, 257, 700};
    struct space space = {.ndim = 1 + (int)random_below(WEFT_NDIM_MAX), .count = 1};
    if (random_below(2))
        space.ndim = 1 + (int)random_below(3);
    for (int k = 0; k < space.ndim; k++) {
        const int64_t size = sizes[random_below(16)];
        space.size[k] = space.count * size > 20000 ? 1 + random_below(2) : size;
        space.count *= space.size[k];
    }
    if (random_below(50) == 0)
        space.size[random_below(space.ndim)] = space.count = 0;
    return space;
}

static const weft_dtype memory_types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64,
                                          WEFT_U8,   WEFT_U16, WEFT_U32, WEFT_U64, WEFT_F16,
                                          WEFT_BF16, WEFT_F32, WEFT_F64, WEFT_C64, WEFT_C128};
enum { MEMORY_TYPES = sizeof memory_types / sizeof memory_types[0] };

static inline weft_dtype random_type(void) { return memory_types[random_below(MEMORY_TYPES)]; }

static inline weft_dtype random_value_type(void) { return tiny_loaded(random_type()); }

/* A value of the type that there is already, or a new constant or cast. */
static inline int random_argument(struct tiny *tiny, weft_dtype dtype)
{
    const int count = (int)tiny->kernel.values_count;
    for (int tries = 0; tries < 12 && count > 0; tries++) {
        const int at = (int)random_below(count);
        if (tiny->values[at].dtype == dtype && tiny->values[at].op != WEFT__OP_store)
            return at;
    }
    const int from = count > 0 ? (int)random_below(count) : 0;
    if (count > 0 && tiny->values[from].op != WEFT__OP_store && random_below(2))
        return tiny_value(tiny, WEFT__OP_cast, dtype, from, 0, 0);
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    return tiny_constant(tiny, dtype,
                         random_below(2) ? corner[random_below(corners)] : random_of(dtype));
}

static inline bool is_defined(weft__op op, weft_dtype dtype)
{
    const bool integer = is_integer(dtype) && dtype != WEFT_BOOL, real = is_float(dtype);
    switch (op) {
    case WEFT__OP_mul_high:
        return integer && bits_in(dtype) >= 32;
    case WEFT__OP_rem:
    case WEFT__OP_shl:
    case WEFT__OP_shr:
        return integer;
    case WEFT__OP_and:
    case WEFT__OP_or:
    case WEFT__OP_xor:
    case WEFT__OP_not:
        return !real;
    case WEFT__OP_fma:
    case WEFT__OP_sqrt:
    case WEFT__OP_floor:
    case WEFT__OP_ceil:
    case WEFT__OP_trunc:
    case WEFT__OP_round:
        return real;
    case WEFT__OP_round_f16:
    case WEFT__OP_round_bf16:
        return dtype == WEFT_F32;
    case WEFT__OP_select:
    case WEFT__OP_eq:
    case WEFT__OP_ne:
    case WEFT__OP_lt:
    case WEFT__OP_le:
        return true;
    default:
        return integer || real;
    }
}

static inline void random_operation(struct tiny *tiny, const struct space *space)
{
    const weft__op op =
        (weft__op)(WEFT__OP_scalar + random_below(WEFT__OP_gather - WEFT__OP_scalar));
    const weft_dtype dtype = random_value_type();
    if (op == WEFT__OP_scalar) {
        if (tiny->kernel.scalars_count < TINY_SCALARS)
            (void)tiny_scalar(tiny, dtype);
    } else if (op == WEFT__OP_index) {
        if (random_below(4) == 0)
            tiny->values[tiny_value(tiny, op, WEFT_I64, 0, 0, 0)].slot =
                (uint16_t)random_below(space->ndim);
    } else if (op == WEFT__OP_cast) {
        (void)tiny_value(tiny, op, dtype, random_argument(tiny, random_value_type()), 0, 0);
    } else if (op == WEFT__OP_bitcast) {
        const weft_dtype from = random_value_type();
        if (bits_in(from) == bits_in(dtype))
            (void)tiny_value(tiny, op, dtype, random_argument(tiny, from), 0, 0);
    } else if (is_defined(op, dtype)) {
        const bool compare = op >= WEFT__OP_eq && op <= WEFT__OP_le, choice = op == WEFT__OP_select;
        const int x = random_argument(tiny, choice ? WEFT_BOOL : dtype);
        const int y = random_argument(tiny, dtype), z = random_argument(tiny, dtype);
        (void)tiny_value(tiny, op, compare ? WEFT_BOOL : dtype, x, y, z);
    }
}

/* Both parts of a complex operand, mostly. */
static inline void random_stores(struct tiny *tiny, uint16_t slot)
{
    const weft_dtype dtype = (weft_dtype)tiny->operands[slot].dtype;
    const int parts = dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1;
    const uint8_t first = (uint8_t)(parts == 2 && random_below(2));
    for (int part = 0; part < parts; part++)
        if (random_below(8) || parts == 1)
            tiny_store_to(tiny, slot, (uint8_t)(part ^ first),
                          random_argument(tiny, tiny_loaded(dtype)));
    if (random_below(10) == 0)
        tiny_store_to(tiny, slot, 0, random_argument(tiny, tiny_loaded(dtype)));
}

/* Loads of up to four inputs, operations, stores to one to three outputs of which some are read
 * too. */
static inline void random_kernel(struct tiny *tiny, const struct space *space, int operations)
{
    tiny_begin(tiny);
    for (int64_t k = random_below(5); k > 0; k--) {
        const uint16_t slot = tiny_operand(tiny, random_type(), false);
        const weft_dtype dtype = (weft_dtype)tiny->operands[slot].dtype;
        (void)tiny_load_from(tiny, slot, 0);
        if ((dtype == WEFT_C64 || dtype == WEFT_C128) && random_below(3))
            (void)tiny_load_from(tiny, slot, 1);
    }
    const uint16_t inputs = (uint16_t)tiny->kernel.operands_count;
    for (int64_t k = 1 + random_below(3); k > 0; k--) {
        const uint16_t slot = tiny_operand(tiny, random_type(), true);
        if (random_below(4) == 0)
            (void)tiny_load_from(tiny, slot, 0);
    }
    for (int k = 0; k < operations; k++)
        random_operation(tiny, space);
    for (uint16_t k = inputs; k < tiny->kernel.operands_count; k++)
        random_stores(tiny, k);
}

/* Mostly numbers of the type that make sense; any bytes for a start. */
static inline void fill_numbers(struct trial *trial, int operand)
{
    const weft_dtype dtype = (weft_dtype)trial->tiny.operands[operand].dtype;
    const weft_dtype part = tiny_loaded(dtype);
    const int64_t size = (int64_t)weft_dtype_size(part);
    if (dtype == WEFT_F16 || dtype == WEFT_BF16 || dtype == WEFT_BOOL || random_below(4) == 0)
        return;
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(part, corner);
    for (int64_t k = 0; k < trial->layout[operand].bytes / size; k++)
        element_write(trial->before[operand], k, part,
                      random_below(3) ? random_of(part) : corner[random_below(corners)]);
}

/* To be dropped also if it fails. */
static inline bool random_trial_make(struct trial *trial, int operations)
{
    memset(trial, 0, sizeof *trial);
    trial->space = random_space();
    random_kernel(&trial->tiny, &trial->space, operations);
    const bool plain = random_below(2) == 0;
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++) {
        const int64_t kinds = trial->tiny.operands[k].output ? LAYOUT_BROADCAST : LAYOUT_KINDS;
        const int64_t element = (int64_t)weft_dtype_size(trial->tiny.operands[k].dtype);
        trial->layout[k] = layout_make(
            &trial->space, element,
            plain && random_below(4) ? LAYOUT_DENSE : (enum layout_kind)random_below(kinds));
    }
    for (int k = 0; k < TINY_SCALARS; k++)
        trial->scalars[k] = random_bits() >> (random_bits() % 64);
    for (uint32_t k = 0; k < trial->tiny.kernel.values_count; k++)
        if (trial->tiny.values[k].op == WEFT__OP_scalar)
            trial->scalars[trial->tiny.values[k].slot] = random_of(trial->tiny.values[k].dtype);
    bool passed = trial_allocate(trial);
    for (uint32_t k = 0; passed && k < trial->tiny.kernel.operands_count; k++)
        fill_numbers(trial, (int)k);
    return passed;
}

#endif
