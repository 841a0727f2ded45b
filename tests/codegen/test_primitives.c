/* Every primitive on every type that has it, with each instruction set, against plain arithmetic.
 * semantics: Primitives / mul_high */
#include "codegen/corners.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { BOOLS = 1, SIGNED = 2, UNSIGNED = 4, FLOATS = 8, SINGLE = 16, WIDE = 32 };
enum { INTEGERS = SIGNED | UNSIGNED, NUMBERS = INTEGERS | FLOATS, ALL = NUMBERS | BOOLS };
enum { COUNT_MAX = CORNERS_MAX * CORNERS_MAX + 4096 };

static const struct row {
    weft__op op;
    int arity, types;
} rows[] = {
    {WEFT__OP_add, 2, NUMBERS},
    {WEFT__OP_sub, 2, NUMBERS},
    {WEFT__OP_mul, 2, NUMBERS},
    {WEFT__OP_mul_high, 2, WIDE},
    {WEFT__OP_div, 2, NUMBERS},
    {WEFT__OP_rem, 2, INTEGERS},
    {WEFT__OP_fma, 3, FLOATS},
    {WEFT__OP_neg, 1, NUMBERS},
    {WEFT__OP_abs, 1, NUMBERS},
    {WEFT__OP_sqrt, 1, FLOATS},
    {WEFT__OP_min, 2, NUMBERS},
    {WEFT__OP_max, 2, NUMBERS},
    {WEFT__OP_floor, 1, FLOATS},
    {WEFT__OP_ceil, 1, FLOATS},
    {WEFT__OP_trunc, 1, FLOATS},
    {WEFT__OP_round, 1, FLOATS},
    {WEFT__OP_and, 2, INTEGERS | BOOLS},
    {WEFT__OP_or, 2, INTEGERS | BOOLS},
    {WEFT__OP_xor, 2, INTEGERS | BOOLS},
    {WEFT__OP_not, 1, INTEGERS | BOOLS},
    {WEFT__OP_shl, 2, INTEGERS},
    {WEFT__OP_shr, 2, INTEGERS},
    {WEFT__OP_eq, 2, ALL},
    {WEFT__OP_ne, 2, ALL},
    {WEFT__OP_lt, 2, ALL},
    {WEFT__OP_le, 2, ALL},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const weft_dtype value_types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64, WEFT_U8,
                                         WEFT_U16,  WEFT_U32, WEFT_U64, WEFT_F32, WEFT_F64};
enum { VALUE_TYPES = sizeof value_types / sizeof value_types[0] };

static bool has(int types, weft_dtype dtype)
{
    const int wider =
        dtype == WEFT_I32 || dtype == WEFT_U32 || dtype == WEFT_I64 || dtype == WEFT_U64;
    const int is = dtype == WEFT_BOOL ? BOOLS
                   : is_float(dtype)  ? FLOATS
                   : is_signed(dtype) ? SIGNED
                                      : UNSIGNED;
    return (types & (is | (wider ? WIDE : 0))) != 0;
}

/* Arguments as bits, and as arrays of their type. */
static uint64_t bits[3][COUNT_MAX];
static _Alignas(64) char arrays[3][8 * COUNT_MAX], results[8 * COUNT_MAX];

static int64_t fill_arguments(weft_dtype dtype)
{
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    int64_t count = 0;
    for (int x = 0; x < corners; x++) {
        for (int y = 0; y < corners; y++, count++) {
            bits[0][count] = corner[x];
            bits[1][count] = corner[y];
            bits[2][count] = corner[random_bits() % (uint64_t)corners];
        }
    }
    for (int k = 0; k < 4095; k++, count++) {
        for (int j = 0; j < 3; j++)
            bits[j][count] = random_of(dtype);
        if (is_float(dtype) && k % 3 == 0) /* what is left of a product */
            bits[2][count] =
                reference(WEFT__OP_neg, dtype,
                          reference(WEFT__OP_mul, dtype, bits[0][count], bits[1][count], 0), 0, 0);
    }
    for (int j = 0; j < 3; j++)
        for (int64_t k = 0; k < count; k++)
            element_write(arrays[j], k, dtype, bits[j][k]);
    return count;
}

static bool is_compare(weft__op op) { return op >= WEFT__OP_eq && op <= WEFT__OP_le; }

/* Runs result = op(…) with the arguments whose bit is set in `uniform` as single elements, taken
 * from the element `from`, on `count` elements. */
static bool run_row(const struct row *row, weft_dtype dtype, unsigned uniform, int64_t from,
                    int64_t count)
{
    struct tiny tiny;
    void *data[4];
    uint64_t scalars[3];
    int argument[3] = {0}, operands = 0;
    tiny_begin(&tiny);
    for (int k = 0; k < row->arity; k++) {
        if ((uniform >> k & 1U) == 0) {
            data[operands++] = arrays[k];
            argument[k] = tiny_load(&tiny, dtype);
        } else if (from % 2 == 0) {
            argument[k] = tiny_constant(&tiny, dtype, bits[k][from]);
        } else {
            scalars[tiny.kernel.scalars_count] = bits[k][from];
            argument[k] = tiny_scalar(&tiny, dtype);
        }
    }
    const weft_dtype type = is_compare(row->op) ? WEFT_BOOL : dtype;
    const int value = tiny_value(&tiny, row->op, type, argument[0], argument[1], argument[2]);
    tiny_store(&tiny, type, value);
    data[operands] = results;
    memset(results, 0xee, (size_t)(8 * count));
    CHECK_OR(tiny_run_flat(&tiny, count, data, scalars) == WEFT_OK, false);
    for (int64_t k = 0; k < count; k++) {
        uint64_t given[3];
        for (int j = 0; j < 3; j++)
            given[j] = bits[j][uniform >> j & 1U ? from : k];
        const uint64_t expected = reference(row->op, dtype, given[0], given[1], given[2]);
        const uint64_t actual = element_read(results, k, type);
        if (actual != expected)
            fprintf(stderr, "%s: op %d of %s: %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
                    weft__interpreter_isa(), (int)row->op, weft_dtype_name(dtype), given[0],
                    given[1], given[2]);
        CHECK_OR(actual == expected, false);
    }
    return true;
}

static bool run_type(const struct row *row, weft_dtype dtype)
{
    const int64_t count = fill_arguments(dtype);
    if (!run_row(row, dtype, 0, 0, count))
        return false;
    for (unsigned uniform = 1; uniform < 1U << row->arity; uniform++) {
        for (int64_t from = 0; from < 60; from++) {
            const int64_t at = (int64_t)(random_bits() % (uint64_t)count);
            if (!run_row(row, dtype, uniform, from < 2 ? from : at, 64 + from))
                return false;
        }
    }
    return true;
}

TEST(primitives)
{
    FOR_EACH_ISA
    for (int row = 0; row < ROWS; row++) {
        for (int type = 0; type < VALUE_TYPES; type++) {
            if (has(rows[row].types, value_types[type]))
                CHECK(run_type(&rows[row], value_types[type]));
        }
    }
}

TEST(undefined_combinations_do_not_compile)
{
    for (int row = 0; row < ROWS; row++) {
        for (int type = 0; type < VALUE_TYPES; type++) {
            if (has(rows[row].types, value_types[type]))
                continue;
            struct tiny tiny;
            weft__image image = {0};
            tiny_begin(&tiny);
            const int x = tiny_load(&tiny, value_types[type]);
            (void)tiny_value(&tiny, rows[row].op, value_types[type], x, x, x);
            CHECK_STATUS(weft__interpreter_compile(&tiny.kernel, &image), WEFT_ERROR_COMPILE);
        }
    }
}

/* Any bytes but 0 are true, so the condition has some of those. */
static bool run_select(weft_dtype dtype, unsigned uniform)
{
    static uint8_t conditions[1000];
    struct tiny tiny;
    void *data[4];
    int operands = 0, argument[3];
    tiny_begin(&tiny);
    const uint64_t scalar = random_bits() & 1U;
    for (int k = 0; k < 1000; k++)
        conditions[k] = (uint8_t)(k % 3 == 0 ? 0 : k % 256);
    for (int k = 0; k < 3; k++) {
        const weft_dtype type = k == 0 ? WEFT_BOOL : dtype;
        if ((uniform >> k & 1U) == 0) {
            data[operands++] = k == 0 ? (void *)conditions : arrays[k];
            argument[k] = tiny_load(&tiny, type);
        } else {
            argument[k] =
                k == 0 ? tiny_scalar(&tiny, type) : tiny_constant(&tiny, type, bits[k][0]);
        }
    }
    tiny_store(&tiny, dtype,
               tiny_value(&tiny, WEFT__OP_select, dtype, argument[0], argument[1], argument[2]));
    data[operands] = results;
    CHECK_OR(tiny_run_flat(&tiny, 1000, data, &scalar) == WEFT_OK, false);
    for (int64_t k = 0; k < 1000; k++) {
        const bool condition = uniform & 1U ? scalar != 0 : conditions[k] != 0;
        const int chosen = condition ? 1 : 2;
        uint64_t expected = bits[chosen][uniform >> chosen & 1U ? 0 : k];
        if (is_float(dtype))
            expected = float_bits(dtype, f64_of(dtype, expected));
        CHECK_OR(element_read(results, k, dtype) == expected, false);
    }
    return true;
}

TEST(select)
{
    FOR_EACH_ISA
    for (int type = 0; type < VALUE_TYPES; type++) {
        (void)fill_arguments(value_types[type]);
        for (unsigned uniform = 0; uniform < 8; uniform++)
            CHECK(run_select(value_types[type], uniform));
    }
}

/* Fills the first array with single arguments: corners with their neighbours, then random ones. */
static int64_t fill_single(weft_dtype dtype)
{
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    int64_t count = 0;
    const int64_t near = dtype == WEFT_BOOL ? 0 : 3;
    for (int k = 0; k < corners; k++)
        for (int64_t j = -near; j <= near; j++)
            bits[0][count++] = (corner[k] + (uint64_t)j) & mask_of(dtype);
    for (int k = 0; k < 8191; k++)
        bits[0][count++] = random_of(dtype);
    /* halfway between two floats, with the bits below the middle clear or not */
    for (int k = 0; k < 4096 && is_integer(dtype); k++) {
        const uint64_t tie = (random_bits() | 1U) << (random_bits() % 40);
        bits[0][count++] = (tie + random_bits() % 3 - 1) & mask_of(dtype);
    }
    for (int64_t k = 0; k < count; k++)
        element_write(arrays[0], k, dtype, bits[0][k]);
    return count;
}

static bool run_cast(weft_dtype from, weft_dtype to)
{
    struct tiny tiny;
    const int64_t count = fill_single(from);
    tiny_begin(&tiny);
    int value = tiny_load(&tiny, from);
    if (from == to && is_float(from)) /* or it would be a copy */
        value = tiny_value(&tiny, WEFT__OP_neg, from,
                           tiny_value(&tiny, WEFT__OP_neg, from, value, 0, 0), 0, 0);
    tiny_store(&tiny, to, tiny_value(&tiny, WEFT__OP_cast, to, value, 0, 0));
    CHECK_OR(tiny_run_flat(&tiny, count, (void *[]){arrays[0], results}, NULL) == WEFT_OK, false);
    for (int64_t k = 0; k < count; k++) {
        const uint64_t expected = reference_cast(from, to, bits[0][k]);
        if (element_read(results, k, to) != expected)
            fprintf(stderr, "%s: %s to %s: %" PRIx64 "\n", weft__interpreter_isa(),
                    weft_dtype_name(from), weft_dtype_name(to), bits[0][k]);
        CHECK_OR(element_read(results, k, to) == expected, false);
    }
    return true;
}

/* semantics: Primitives / cast */
TEST(casts)
{
    FOR_EACH_ISA
    for (int from = 0; from < VALUE_TYPES; from++)
        for (int to = 0; to < VALUE_TYPES; to++)
            CHECK(run_cast(value_types[from], value_types[to]));
}

/* Part 1 leaves open what becomes of a NaN. */
static bool run_bitcast(weft_dtype from, weft_dtype to, int part)
{
    struct tiny tiny;
    const int64_t count = fill_single(from);
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, from);
    const int moved = tiny_value(&tiny, WEFT__OP_bitcast, to, x, 0, 0);
    tiny.kernel.values[moved].part = (uint8_t)part;
    tiny_store(&tiny, to, moved);
    CHECK_OR(tiny_run_flat(&tiny, count, (void *[]){arrays[0], results}, NULL) == WEFT_OK, false);
    for (int64_t k = 0; k < count; k++) {
        uint64_t expected = bits[0][k];
        if (is_float(from) || is_float(to))
            expected = float_bits(is_float(from) ? from : to,
                                  f64_of(is_float(from) ? from : to, expected));
        else if (to == WEFT_BOOL)
            expected = expected != 0;
        if (part == 1 && is_float(from) && isnan(f64_of(from, bits[0][k])))
            continue;
        CHECK_OR(element_read(results, k, to) == expected, false);
    }
    return true;
}

/* semantics: Primitives / bitcast */
TEST(bitcasts)
{
    FOR_EACH_ISA
    for (int from = 0; from < VALUE_TYPES; from++) {
        for (int to = 0; to < VALUE_TYPES; to++) {
            if (bits_in(value_types[from]) != bits_in(value_types[to]))
                continue;
            CHECK(run_bitcast(value_types[from], value_types[to], 0));
            if (is_float(value_types[from]))
                CHECK(run_bitcast(value_types[from], value_types[to], 1));
        }
    }
}

TEST(failed_allocations)
{
    struct tiny tiny;
    weft__image image = {0};
    tiny_begin(&tiny);
    tiny_store(&tiny, WEFT_F16, tiny_load(&tiny, WEFT_F32));
    CHECK_STATUS(weft__interpreter_compile(&tiny.kernel, &image), WEFT_OK);
    image_release(&image);
}

#define LONG "compiles thousands of kernels; failed_allocations covers it"
TEST_MAIN(TEST_NO_FAULTS(primitives, LONG), TEST_OF(undefined_combinations_do_not_compile),
          TEST_NO_FAULTS(select, LONG), TEST_NO_FAULTS(casts, LONG), TEST_NO_FAULTS(bitcasts, LONG),
          TEST_OF(failed_allocations));
