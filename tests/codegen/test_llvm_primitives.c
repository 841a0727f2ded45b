/* Every primitive on every type, compiled for each instruction set, against the interpreter. */
#include "codegen/test_llvm.h"

enum { COUNT_MAX = CORNERS_MAX * CORNERS_MAX + 4096 };

static const weft_dtype value_types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64, WEFT_U8,
                                         WEFT_U16,  WEFT_U32, WEFT_U64, WEFT_F32, WEFT_F64};
enum { VALUE_TYPES = sizeof value_types / sizeof value_types[0] };

static const struct row {
    weft__op op;
    int arity;
} rows[] = {
    {WEFT__OP_add, 2},   {WEFT__OP_sub, 2},  {WEFT__OP_mul, 2},       {WEFT__OP_mul_high, 2},
    {WEFT__OP_div, 2},   {WEFT__OP_rem, 2},  {WEFT__OP_fma, 3},       {WEFT__OP_neg, 1},
    {WEFT__OP_abs, 1},   {WEFT__OP_sqrt, 1}, {WEFT__OP_min, 2},       {WEFT__OP_max, 2},
    {WEFT__OP_floor, 1}, {WEFT__OP_ceil, 1}, {WEFT__OP_trunc, 1},     {WEFT__OP_round, 1},
    {WEFT__OP_and, 2},   {WEFT__OP_or, 2},   {WEFT__OP_xor, 2},       {WEFT__OP_not, 1},
    {WEFT__OP_shl, 2},   {WEFT__OP_shr, 2},  {WEFT__OP_eq, 2},        {WEFT__OP_ne, 2},
    {WEFT__OP_lt, 2},    {WEFT__OP_le, 2},   {WEFT__OP_round_f16, 1}, {WEFT__OP_round_bf16, 1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static uint64_t bits[3][COUNT_MAX];

/* All pairs of corners, then random numbers; a third argument that often cancels the product. */
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
        if (is_float(dtype) && k % 3 == 0)
            bits[2][count] =
                reference(WEFT__OP_neg, dtype,
                          reference(WEFT__OP_mul, dtype, bits[0][count], bits[1][count], 0), 0, 0);
    }
    return count;
}

/* Dense operands of one dimension. */
static bool trial_flat(struct trial *trial, int64_t count)
{
    trial->space = space_make(1, &count);
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++)
        trial->layout[k] = layout_make(
            &trial->space, (int64_t)weft_dtype_size(trial->tiny.operands[k].dtype), LAYOUT_DENSE);
    return trial_allocate(trial);
}

/* result = op(…) with the arguments whose bit is set in `uniform` as constants or scalars. */
static bool run_row(const struct row *row, weft_dtype dtype, unsigned uniform, int64_t from,
                    int64_t count)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    int argument[3] = {0};
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    for (int k = 0; k < row->arity; k++) {
        if ((uniform >> k & 1U) == 0) {
            argument[k] = tiny_load(tiny, dtype);
        } else if (from % 2 == 0) {
            argument[k] = tiny_constant(tiny, dtype, bits[k][from]);
        } else {
            trial.scalars[tiny->kernel.scalars_count] = bits[k][from];
            argument[k] = tiny_scalar(tiny, dtype);
        }
    }
    const weft_dtype type = row->op >= WEFT__OP_eq && row->op <= WEFT__OP_le ? WEFT_BOOL : dtype;
    tiny_store(tiny, type, tiny_value(tiny, row->op, type, argument[0], argument[1], argument[2]));
    bool passed = trial_flat(&trial, count);
    int operand = 0;
    for (int k = 0; passed && k < row->arity; k++)
        if ((uniform >> k & 1U) == 0) {
            for (int64_t j = 0; j < count; j++)
                element_write(trial.before[operand], j, dtype, bits[k][j]);
            operand++;
        }
    passed = passed && trial_run(&trial, count);
    trial_drop(&trial);
    return passed;
}

/* Whether the interpreter knows the primitive for the type, and this machine can compile it. */
static bool exists(const struct row *row, weft_dtype dtype)
{
    struct tiny tiny;
    struct tiny_launch at;
    weft__image image = {0};
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, dtype);
    const bool compare = row->op >= WEFT__OP_eq && row->op <= WEFT__OP_le;
    (void)tiny_value(&tiny, row->op, compare ? WEFT_BOOL : dtype, x, x, x);
    launch_begin(&at, &tiny, 1, &(int64_t){100});
    const bool known = weft__interpreter_compile(&tiny.kernel, &image) == WEFT_OK;
    image_release(&image);
    weft__object object = {0};
    if (!known)
        CHECK_OR(compile_full(&tiny, &at, &object) == WEFT_ERROR_COMPILE, false);
    return known && weft__llvm_wants(&tiny.kernel, &at.launch);
}

static bool run_type(const struct row *row, weft_dtype dtype)
{
    const int64_t count = fill_arguments(dtype);
    if (!run_row(row, dtype, 0, 0, count))
        return false;
    const int rounds = test_quick() ? 1 : 2;
    for (unsigned uniform = 1; uniform < 1U << row->arity; uniform++) {
        for (int64_t k = 0; k < rounds; k++) {
            const int64_t at = (int64_t)(random_bits() % (uint64_t)count);
            if (!run_row(row, dtype, uniform, k < 2 ? k : at, 64 + k))
                return false;
        }
    }
    return true;
}

TEST(primitives)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int row = 0; row < ROWS; row++)
        for (int type = 0; type < VALUE_TYPES; type++)
            if (exists(&rows[row], value_types[type]))
                CHECK(run_type(&rows[row], value_types[type]));
}

/* Vectors whose numbers are all exact as f64, or all but some: of up to so many bits, some of them
 * next to a multiple of their divisor. Signed ones have either sign. */
static void fill_quotients(weft_dtype dtype, int64_t count)
{
    enum { VECTORS = 64 }; /* so many elements are a few */
    int width = 0, rarely = 0;
    for (int64_t k = 0; k < count; k++) {
        if (k % VECTORS == 0) {
            width = 1 + (int)random_below(55);
            rarely = (int)random_below(2);
        }
        const uint64_t limit = (uint64_t)1 << width, most = limit - (dtype == WEFT_I64 ? 0 : 1);
        uint64_t y = random_below(4) ? random_bits() % limit : most - random_bits() % 2;
        y = random_below(2) ? y : y >> random_below(width);
        uint64_t x = random_below(4) ? random_bits() % limit : most - random_bits() % 2;
        if (y && random_below(2))
            x = x / y * y - random_bits() % 2;
        if (rarely && random_below(VECTORS) == 0)
            *(random_below(2) ? &x : &y) = random_bits();
        const bool is_signed = dtype == WEFT_I64;
        bits[0][k] = is_signed && random_below(2) ? -x : x;
        bits[1][k] = is_signed && random_below(2) ? -y : y;
    }
}

TEST(quotients_of_64_bits)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int k = 0; k < 16; k++) {
        const struct row row = {k & 2 ? WEFT__OP_div : WEFT__OP_rem, 2};
        const weft_dtype dtype = k & 4 ? WEFT_I64 : WEFT_U64;
        fill_quotients(dtype, COUNT_MAX);
        CHECK(run_row(&row, dtype, 0, 0, COUNT_MAX));
    }
}

static bool run_select(weft_dtype dtype, unsigned uniform)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    int argument[3];
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    for (int k = 0; k < 3; k++) {
        const weft_dtype type = k == 0 ? WEFT_BOOL : dtype;
        trial.scalars[tiny->kernel.scalars_count] = random_of(type);
        argument[k] = uniform >> k & 1U ? tiny_scalar(tiny, type) : tiny_load(tiny, type);
    }
    tiny_store(tiny, dtype,
               tiny_value(tiny, WEFT__OP_select, dtype, argument[0], argument[1], argument[2]));
    const bool passed = trial_flat(&trial, 1000) && trial_run(&trial, 1000);
    trial_drop(&trial);
    return passed;
}

TEST(select)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int type = 0; type < VALUE_TYPES; type++)
        for (unsigned uniform = 0; uniform < 8; uniform++)
            CHECK(run_select(value_types[type], uniform));
}

/* A sign that is flipped where a bit is set, and what differs from that in one thing: nothing is
 * negated, the second is, another number is, bits are none, compared with another number, or found
 * to be the same. */
enum { FLIP, PLAIN, SECOND, OTHER, COMPARED, SAME, VARIANTS };

static bool run_flip(weft_dtype dtype, weft_dtype integer, uint64_t mask, int variant)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    const int x = tiny_load(tiny, dtype), y = tiny_load(tiny, dtype);
    trial.scalars[0] = random_bits();
    const int from = random_below(4) ? tiny_load(tiny, integer) : tiny_scalar(tiny, integer);
    const int masked =
        tiny_value(tiny, WEFT__OP_and, integer, from, tiny_constant(tiny, integer, mask), 0);
    const int set = tiny_value(tiny, variant == SAME ? WEFT__OP_eq : WEFT__OP_ne, WEFT_BOOL, masked,
                               tiny_constant(tiny, integer, variant == COMPARED ? mask : 0), 0);
    const int negated = tiny_value(tiny, WEFT__OP_neg, dtype, variant == OTHER ? y : x, 0, 0);
    const int first = variant == PLAIN ? y : variant == SECOND ? x : negated;
    tiny_store(
        tiny, dtype,
        tiny_value(tiny, WEFT__OP_select, dtype, set, first, variant == SECOND ? negated : x));
    const bool passed = trial_flat(&trial, 1001) && trial_run(&trial, 1001);
    trial_drop(&trial);
    return passed;
}

TEST(flipped_signs)
{
    static const weft_dtype integers[] = {WEFT_U32, WEFT_U64, WEFT_I32, WEFT_U8};
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int k = 0; k < 8; k++) {
        const weft_dtype integer = integers[k / 2], dtype = k % 2 ? WEFT_F32 : WEFT_F64;
        const int last = (int)weft_dtype_size(integer) * 8 - 1;
        const uint64_t most = UINT64_MAX >> (63 - last);
        const uint64_t masks[] = {1, 2, most >> 1 ^ most, 6, 0, most};
        for (int mask = 0; mask < 6; mask++)
            for (int variant = 0; variant < VARIANTS; variant++)
                CHECK(run_flip(dtype, integer, masks[mask], variant));
    }
}

/* Two loads, one of them widened, and the chosen one converted; what chooses is the same for all or
 * an operand. */
static bool run_choice(weft_dtype narrow, weft_dtype from, weft_dtype to, bool uniform)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    trial.scalars[0] = random_of(WEFT_BOOL);
    const int choice = uniform ? tiny_scalar(tiny, WEFT_BOOL)
                               : tiny_value(tiny, WEFT__OP_lt, WEFT_BOOL, tiny_load(tiny, to),
                                            tiny_load(tiny, to), 0);
    const int x = tiny_value(tiny, WEFT__OP_cast, from, tiny_load(tiny, narrow), 0, 0);
    const int y = tiny_load(tiny, from);
    const int chosen = tiny_value(tiny, WEFT__OP_select, from, choice, x, y);
    tiny_store(tiny, to, tiny_value(tiny, WEFT__OP_cast, to, chosen, 0, 0));
    const bool passed = trial_flat(&trial, 1000) && trial_run(&trial, 1000);
    trial_drop(&trial);
    return passed;
}

TEST(choices_of_loads_are_converted)
{
    static const weft_dtype types[] = {WEFT_I8,  WEFT_U8,  WEFT_I16, WEFT_U16, WEFT_I32,
                                       WEFT_U32, WEFT_I64, WEFT_U64, WEFT_F32, WEFT_F64};
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int from = 2; from < 8; from++)
        for (int narrow = 0; narrow < from / 2 * 2; narrow++)
            for (int to = from / 2 * 2 + 2; to < 10; to++)
                for (int uniform = 0; uniform < 2; uniform++)
                    CHECK(run_choice(types[narrow], types[from], types[to], uniform != 0));
}

/* Corners with their neighbours, random ones, and for integers what lies halfway between two
 * floats. */
static int64_t fill_single(weft_dtype dtype)
{
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    const int64_t near = dtype == WEFT_BOOL ? 0 : 3;
    int64_t count = 0;
    for (int k = 0; k < corners; k++)
        for (int64_t j = -near; j <= near; j++)
            bits[0][count++] = (corner[k] + (uint64_t)j) & mask_of(dtype);
    for (int k = 0; k < 8191; k++)
        bits[0][count++] = random_of(dtype);
    for (int k = 0; k < 4096 && is_integer(dtype); k++) {
        const uint64_t tie = (random_bits() | 1U) << (random_bits() % 40);
        bits[0][count++] = (tie + random_bits() % 3 - 1) & mask_of(dtype);
    }
    return count;
}

/* Part 1 of a bitcast leaves open what becomes of a NaN: there is none. */
static bool run_conversion(weft__op op, weft_dtype from, weft_dtype to, int part)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    const int64_t count = fill_single(from);
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    const int x = tiny_load(tiny, from);
    const int moved = tiny_value(tiny, op, to, x, 0, 0);
    tiny->kernel.values[moved].part = (uint8_t)part;
    tiny_store(tiny, to, moved);
    bool passed = trial_flat(&trial, count);
    for (int64_t k = 0; passed && k < count; k++)
        element_write(trial.before[0], k, from,
                      part == 1 && isnan(f64_of(from, bits[0][k])) ? 0 : bits[0][k]);
    passed = passed && trial_run(&trial, count);
    trial_drop(&trial);
    return passed;
}

TEST(casts_and_bitcasts)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int from = 0; from < VALUE_TYPES; from++)
        for (int to = 0; to < VALUE_TYPES; to++) {
            CHECK(run_conversion(WEFT__OP_cast, value_types[from], value_types[to], 0));
            if (bits_in(value_types[from]) != bits_in(value_types[to]))
                continue;
            CHECK(run_conversion(WEFT__OP_bitcast, value_types[from], value_types[to], 0));
            if (!is_integer(value_types[from]) && value_types[from] != WEFT_BOOL)
                CHECK(run_conversion(WEFT__OP_bitcast, value_types[from], value_types[to], 1));
        }
}

/* Every f16 and bf16 to f32 and back, with numbers from f32 between them. */
static bool run_halves(weft_dtype half, bool widen, uint32_t shift)
{
    static struct trial trial;
    struct tiny *tiny = &trial.tiny;
    const weft_dtype from = widen ? half : WEFT_F32, to = widen ? WEFT_F32 : half;
    const int64_t count = 1 << 16;
    memset(&trial, 0, sizeof trial);
    tiny_begin(tiny);
    tiny_store(tiny, to, tiny_load(tiny, from));
    bool passed = trial_flat(&trial, count);
    for (int64_t k = 0; passed && k < count; k++)
        element_write(trial.before[0], k, from,
                      widen ? (uint64_t)k
                            : ((uint64_t)k << 16 | (random_bits() & 0xffffU) >> shift));
    passed = passed && trial_run(&trial, count);
    trial_drop(&trial);
    return passed;
}

TEST(halves)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int half = WEFT_F16; half <= WEFT_BF16; half++) {
        CHECK(run_halves((weft_dtype)half, true, 0));
        for (uint32_t shift = 0; shift <= 16; shift += 4)
            CHECK(run_halves((weft_dtype)half, false, shift));
    }
}

#define LONG "compiles thousands of kernels; test_llvm covers it"
TEST_MAIN(TEST_NO_FAULTS(primitives, LONG), TEST_NO_FAULTS(select, LONG),
          TEST_NO_FAULTS(flipped_signs, LONG), TEST_NO_FAULTS(quotients_of_64_bits, LONG),
          TEST_NO_FAULTS(choices_of_loads_are_converted, LONG),
          TEST_NO_FAULTS(casts_and_bitcasts, LONG), TEST_NO_FAULTS(halves, LONG));
