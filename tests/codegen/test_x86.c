/* Machine code of our own against the interpreter, bit by bit: every primitive, more values than
 * registers, branches around what no lane needs, and random kernels. */
#include "codegen/x86_kernels.h"

static struct x86_trial trial;
static struct x86_growth growth;

/* Corners of all tests, and more of what conversions, and NaNs, go wrong at. */
enum { MORE_CORNERS = CORNERS_MAX + 64 };

static int more_corners(weft_dtype dtype, uint64_t *corner)
{
    static const int powers[] = {8, 16, 23, 24, 25, 31, 32, 33, 52, 53, 54, 62, 63};
    int count = corners_of(dtype, corner);
    if (dtype == WEFT_F32) {
        static const uint32_t nans[] = {0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0xffc12345};
        for (int k = 0; k < 5; k++)
            corner[count++] = nans[k];
        corner[count++] = 0x4effffff; /* just below 2^31, 2^32, 2^63, and just above */
        corner[count++] = 0xcf000001;
        corner[count++] = 0x4f7fffff;
        corner[count++] = 0x5f800001;
    } else if (dtype == WEFT_F64) {
        corner[count++] = 0x7ff0000000000001;
        corner[count++] = 0xfff0000000000001;
        corner[count++] = 0xffffffffffffffff;
        corner[count++] = 0x7ff4000012345678;
        corner[count++] = 0xc1e00000001fffff; /* just above and below -2^31 - 1 */
        corner[count++] = 0xc1e0000000200000;
        corner[count++] = 0xbfefffffffffffff;
        corner[count++] = 0x43efffffffffffff;
    } else if (dtype != WEFT_BOOL) {
        for (int k = 0; k < 13; k++)
            for (int j = -1; j <= 1 && powers[k] < bits_in(dtype); j++)
                corner[count++] =
                    (((uint64_t)1 << powers[k]) + (uint64_t)(int64_t)j) & mask_of(dtype);
    }
    return count;
}

/* Who else uses the arguments of what is tried. */
enum { BEFORE = 1, AFTER = 2, BUT_LAST = 4, USES = 8 };

static void use(const int *argument, int arity, bool wanted)
{
    for (int k = 0; wanted && k < arity; k++) {
        const weft_dtype dtype = (weft_dtype)trial.values[argument[k]].dtype;
        x86_store(&trial, x86_value(&trial, dtype == WEFT_BOOL ? WEFT__OP_and : WEFT__OP_min, dtype,
                                    argument[k], argument[k], 0));
    }
}

/* A primitive, with the types of its arguments. */
struct row {
    weft__op op;
    weft_dtype to, from[3];
    int arity, part;
};

/* `same` says which argument each is: 012, or one of those before it. Those with a bit in
 * `constants` are constants with these bits. */
static void make_row(const struct row *row, const int *same, unsigned constants,
                     const uint64_t *bits, int uses)
{
    int argument[3] = {0};
    x86_begin(&trial);
    for (int k = 0; k < row->arity; k++)
        if (same[k] == k && (constants >> k & 1) == 0)
            argument[k] = x86_load(&trial, row->from[k]);
    for (int k = 0; k < row->arity; k++)
        if (same[k] == k && (constants >> k & 1) != 0)
            argument[k] = x86_constant(&trial, row->from[k], bits[k]);
    for (int k = 0; k < row->arity; k++)
        argument[k] = argument[same[k]];
    use(argument, row->arity, (uses & BEFORE) != 0);
    const int value = x86_value(&trial, row->op, row->to, argument[0], argument[1], argument[2]);
    trial.values[value].part = (uint8_t)row->part;
    use(argument, row->arity - ((uses & BUT_LAST) != 0), (uses & AFTER) != 0);
    x86_store(&trial, value);
}

/* Numbers of any size; the last of two integers often close to a multiple of the first. */
static void fill_random(int inputs, int64_t begin)
{
    for (int64_t at = begin; at < trial.count; at++) {
        uint64_t bits = 1;
        for (int j = inputs; j-- > 0;) {
            const weft_dtype dtype = (weft_dtype)trial.operands[j].dtype;
            const uint64_t any = random_of(dtype);
            if (!is_integer(dtype) || dtype == WEFT_BOOL)
                bits = any;
            else if (j == inputs - 1)
                bits = any >> random_below(bits_in(dtype));
            else if (random_below(2))
                bits = (any >> random_below(bits_in(dtype))) * bits + (uint64_t)random_below(3) - 1;
            else
                bits = any >> random_below(bits_in(dtype));
            element_write(x86_element(&trial, trial.given, (uint32_t)j, at), 0, dtype, bits);
        }
    }
}

/* All pairs of corners for two inputs, all corners for one; others are random corners. Then come
 * numbers of any size. */
static void fill_corners(void)
{
    uint64_t corner[3][MORE_CORNERS];
    int corners[3] = {1, 1, 1}, inputs = 0;
    for (uint32_t k = 0; k < trial.kernel.operands_count; k++)
        if (!trial.operands[k].output) {
            corners[inputs] = more_corners((weft_dtype)trial.operands[k].dtype, corner[inputs]);
            inputs++;
        }
    const int last = inputs > 0 ? inputs - 1 : 0;
    int64_t count = corners[last] * (inputs > 1 ? corners[last - 1] : 1);
    if (test_quick() && count > 1000)
        count = 1000;
    trial.count = (count * 5 / 4 + trial.lanes - 1) / trial.lanes * trial.lanes;
    const int64_t begin = test_quick() ? random_below(1 << 20) : 0;
    for (int j = 0; j < inputs; j++)
        for (int64_t at = 0; at < count; at++) {
            const int64_t number = j == last       ? begin + at
                                   : j == last - 1 ? (begin + at) / corners[last]
                                                   : random_below(corners[j]);
            element_write(x86_element(&trial, trial.given, (uint32_t)j, at), 0,
                          trial.operands[j].dtype, corner[j][number % corners[j]]);
        }
    fill_random(inputs, count);
}

/* With inputs alone, and with constants of which all corners come at each place. */
static bool try_row_with(const struct row *row, const int *same, unsigned constants, int uses)
{
    uint64_t corner[3][MORE_CORNERS];
    int corners[3] = {1, 1, 1}, times = 1;
    for (int k = 0; k < row->arity; k++) {
        corners[k] = more_corners(row->from[k], corner[k]);
        if ((constants >> k & 1) != 0 && corners[k] > times)
            times = corners[k];
    }
    const int step = constants == 0 ? 1 : test_quick() ? 29 : uses != 0 ? 23 : 1;
    for (int n = 0; n < times; n += step) {
        uint64_t bits[3];
        for (int k = 0; k < 3; k++)
            bits[k] = corner[k][(n + (k > 0 ? (int)random_below(corners[k]) : 0)) % corners[k]];
        make_row(row, same, constants, bits, uses);
        fill_corners();
        if (!x86_try(&trial))
            return false;
    }
    return true;
}

static bool try_row(const struct row *row)
{
    static const int sames[][3] = {{0, 1, 2}, {0, 0, 2}, {0, 1, 1}, {0, 1, 0}, {0, 0, 0}};
    static const int of_arity[] = {0, 1, 2, 5};
    for (int s = 0; s < of_arity[row->arity]; s++) {
        const int *same = sames[s];
        bool fits = true;
        unsigned distinct = 0;
        for (int k = 0; k < row->arity; k++) {
            fits &= row->from[k] == row->from[same[k]];
            distinct |= 1U << same[k];
        }
        for (unsigned constants = 0; fits && constants <= distinct; constants++)
            for (int uses = 0; (constants & ~distinct) == 0 && uses < USES; uses++)
                if (uses != BUT_LAST && uses != (BUT_LAST | BEFORE) &&
                    !try_row_with(row, same, constants, uses))
                    return false;
    }
    return true;
}

TEST(primitives)
{
    NEEDS_AVX512;
    for (int op = WEFT__OP_select; op <= WEFT__OP_shr; op++)
        for (int k = 0; k < 2 * X86_TYPES; k++) {
            const weft_dtype dtype = x86_types[k / 2];
            const bool compares = op >= WEFT__OP_eq && op <= WEFT__OP_le;
            struct row row = {.op = (weft__op)op,
                              .to = compares ? WEFT_BOOL : dtype,
                              .from = {dtype, dtype, dtype}};
            x86_begin(&trial);
            row.arity = weft__value_arguments(&trial.kernel, &(weft__value){.op = (uint8_t)op});
            if (op == WEFT__OP_select)
                row.from[0] = WEFT_BOOL;
            trial.lanes = k % 2 ? 8 : 16;
            if (is_defined((weft__op)op, dtype))
                CHECK(try_row(&row));
        }
}

TEST(conversions)
{
    NEEDS_AVX512;
    for (int k = 0; k < 2 * X86_TYPES * X86_TYPES; k++) {
        const weft_dtype from = x86_types[k / 2 / X86_TYPES], to = x86_types[k / 2 % X86_TYPES];
        trial.lanes = k % 2 ? 8 : 16;
        CHECK(try_row(&(struct row){WEFT__OP_cast, to, {from}, 1, 0}));
        for (int part = 0; part <= is_float(from) && bits_in(from) == bits_in(to); part++)
            CHECK(try_row(&(struct row){WEFT__OP_bitcast, to, {from}, 1, part}));
    }
    for (int k = 0; k < 2; k++) {
        trial.lanes = k % 2 ? 8 : 16;
        CHECK(try_row(&(struct row){WEFT__OP_round_f16, WEFT_F32, {WEFT_F32}, 1, 0}));
        CHECK(try_row(&(struct row){WEFT__OP_round_bf16, WEFT_F32, {WEFT_F32}, 1, 0}));
    }
}

/* What is not made: dtypes and lanes that there are no vectors of, and what is no arithmetic. */
TEST(what_is_not_made)
{
    x86_begin(&trial);
    const int x = x86_load(&trial, WEFT_I32), y = x86_load(&trial, WEFT_U8);
    weft__value value = {.op = WEFT__OP_add, .dtype = WEFT_I32, .argument = {x, x, x}};
    CHECK(weft__x86_does(&trial.kernel, &value, 8) && weft__x86_does(&trial.kernel, &value, 16));
    CHECK(!weft__x86_does(&trial.kernel, &value, 4) && !weft__x86_does(&trial.kernel, &value, 32));
    value.dtype = WEFT_U8;
    CHECK(!weft__x86_does(&trial.kernel, &value, 16));
    value = (weft__value){.op = WEFT__OP_cast, .dtype = WEFT_I32, .argument = {y}};
    CHECK(!weft__x86_does(&trial.kernel, &value, 16));
    value.op = WEFT__OP_load;
    CHECK(!weft__x86_does(&trial.kernel, &value, 16));
    value.op = WEFT__OP_gather;
    CHECK(!weft__x86_does(&trial.kernel, &value, 16));
}

/* So many values of mixed dtypes, all made before any is used by what is stored, which happens in
 * two orders. */
static void many_live(int live)
{
    static int value[X86_VALUES];
    x86_grow_begin(&growth, &trial, 4 + live / 8);
    growth.near = 2;
    const int begin = growth.seen_count;
    while (growth.seen_count - begin < live)
        x86_operation(&growth);
    const int count = growth.seen_count;
    memcpy(value, growth.seen, (size_t)count * sizeof *value);
    for (int k = 0; k < 2 * count; k++) {
        const int x = value[k < count ? k : (k * 37 + 11) % count];
        const int y = value[k < count ? count - 1 - k : k * 13 % count];
        const weft_dtype dtype = x86_dtype_of(&growth, x);
        const int same = x86_dtype_of(&growth, y) == dtype
                             ? y
                             : x86_grow(&growth, WEFT__OP_cast, dtype, y, 0, 0);
        const weft__op op = dtype == WEFT_BOOL ? WEFT__OP_xor : k % 2 ? WEFT__OP_sub : WEFT__OP_mul;
        const int result = x86_grow(&growth, op, dtype, x, same, 0);
        if (k % 2 == 0)
            x86_store(&trial, result);
    }
}

TEST(more_values_than_registers)
{
    NEEDS_AVX512;
    random_state = 1;
    for (trial.lanes = 8; trial.lanes <= 16; trial.lanes += 8) {
        const int most = trial.lanes == 8 ? 300 : 240; /* that a frame has room for */
        for (int live = 10; live <= most; live += test_quick() ? 50 : 5) {
            many_live(live);
            trial.count = 12 * trial.lanes;
            x86_fill(&trial);
            CHECK(x86_try(&trial));
        }
    }
}

/* A chain of operations of one dtype, that ends in one value. */
static int chain(int x, int y, int length)
{
    const weft_dtype dtype = x86_dtype_of(&growth, x);
    for (int k = 0; k < length; k++) {
        static const weft__op ops[] = {WEFT__OP_add, WEFT__OP_mul, WEFT__OP_max, WEFT__OP_sub};
        static const weft__op truths[] = {WEFT__OP_xor, WEFT__OP_eq, WEFT__OP_lt, WEFT__OP_or};
        const weft__op op = dtype == WEFT_BOOL ? truths[k % 4] : ops[k % 4];
        const int by = k % 3 ? y : x86_new_constant(&growth, dtype);
        x = x86_grow(&growth, op, dtype, x, by, 0);
    }
    return x;
}

/* An input that is a bool. */
static int truth_given(void)
{
    int at = (int)random_below(trial.kernel.operands_count);
    while (x86_dtype_of(&growth, at) != WEFT_BOOL)
        at = (int)random_below(trial.kernel.operands_count);
    return at;
}

/* A choice whose sides use what was made before, of which some is used inside alone, and make what
 * several selects take, the last of them far behind the first; deeper ones are in both sides. */
static int branch(const int *before, int count, weft_dtype dtype, int depth)
{
    const int condition = chain(truth_given(), 0, 1);
    int side[2][2], inside[2];
    for (int s = 0; s < 2; s++) {
        inside[s] = chain(x86_pick(&growth, dtype), x86_pick(&growth, dtype), 2);
        const int begin = growth.seen_count;
        int x = chain(inside[s], x86_pick(&growth, dtype), 10);
        for (int k = s; k < count; k += 2)
            if (x86_dtype_of(&growth, before[k]) == dtype)
                x = chain(x, before[k], 2);
        if (depth > 0) {
            growth.seen[growth.seen_count++] = x;
            x = chain(x, branch(before, count, dtype, depth - 1), 3);
        }
        side[s][0] = chain(x, inside[s], 8);
        side[s][1] = chain(side[s][0], x, 4);
        growth.seen_count = begin;
    }
    const int first = x86_grow(&growth, WEFT__OP_select, dtype, condition, side[0][0], side[1][0]);
    const int far = chain(first, first, 6);
    const int second = x86_grow(&growth, WEFT__OP_select, dtype, condition, side[0][1], side[1][1]);
    return chain(far, second, 2);
}

/* So many values live across the choice, and so many bools. */
static void branches(weft_dtype dtype, int live, int depth)
{
    static int before[X86_VALUES];
    x86_grow_begin(&growth, &trial, X86_TYPES + 8);
    const int begin = growth.seen_count;
    while (growth.seen_count - begin < live) {
        (void)chain(x86_pick(&growth, dtype), x86_pick(&growth, dtype), 1);
        x86_operation(&growth);
    }
    const int count = growth.seen_count;
    memcpy(before, growth.seen, (size_t)count * sizeof *before);
    (void)branch(before, count, dtype, depth);
    for (int k = 0; k < count; k += 2)
        (void)chain(before[k], before[k], 1);
    x86_grow_end(&growth, 1 + live / 8);
}

TEST(branches_around_what_no_lane_needs)
{
    NEEDS_AVX512;
    random_state = 1;
    static const int lives[] = {0, 12, 40, 90};
    int kernels = 0, skips = 0, nested = 0;
    for (int k = 0; k < 2 * 4 * 4 * X86_TYPES; k += test_quick() ? 5 : 1)
        for (int times = 0; times < (test_quick() ? 1 : 4); times++) {
            const int depth = k / 2 % 4;
            trial.lanes = k % 2 ? 8 : 16;
            branches(x86_types[k / 32], lives[k / 8 % 4], depth);
            trial.count = 40 * trial.lanes;
            x86_fill(&trial);
            CHECK(x86_try(&trial));
            kernels++;
            for (int j = 0; j < trial.skips.count; j++) {
                skips++;
                nested += trial.skip[trial.skips.skips[j].first] != 0;
            }
        }
    CHECK(skips > 5 * kernels && nested > 3 * kernels);
}

/* To try others, WEFT_TEST_KERNELS says how many and WEFT_TEST_SEED which. */
TEST(random_kernels)
{
    NEEDS_AVX512;
    const char *kernels = getenv("WEFT_TEST_KERNELS"), *text = getenv("WEFT_TEST_SEED");
    const int count = kernels != NULL ? atoi(kernels) : test_quick() ? 60 : 2500;
    const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
    for (int k = 0; k < count; k++) {
        random_state = (seed + (uint64_t)k) * 0x9e3779b97f4a7c15U | 1;
        x86_random_kernel(&growth, &trial, 50 + (int)random_below(k % 8 ? 200 : 550));
        trial.lanes = random_below(2) ? 8 : 16;
        trial.count = 6 * trial.lanes;
        x86_fill(&trial);
        const bool passed = x86_try(&trial);
        if (!passed)
            fprintf(stderr, "WEFT_TEST_KERNELS=1 WEFT_TEST_SEED=%llu\n",
                    (unsigned long long)(seed + (uint64_t)k));
        CHECK(passed);
    }
}

/* More values at once than a frame has room for. */
TEST(too_many_values_for_a_frame)
{
    weft__x86_code code = {0};
    x86_grow_begin(&growth, &trial, X86_TYPES);
    int sum = growth.seen[X86_TYPES - 1], value[800];
    for (int k = 0; k < 800; k++)
        value[k] = sum = x86_grow(&growth, WEFT__OP_add, WEFT_F64, sum, sum, 0);
    for (int k = 0; k < 800; k++)
        sum = x86_grow(&growth, WEFT__OP_add, WEFT_F64, sum, value[k], 0);
    x86_store(&trial, sum);
    trial.lanes = 16;
    CHECK_STATUS(x86_make(&trial, &code), WEFT_ERROR_UNSUPPORTED);
    CHECK(code.bytes == NULL);
}

/* Enough for every list to grow. */
TEST(made_and_freed)
{
    weft__x86_code code = {0};
    random_state = 5;
    x86_random_kernel(&growth, &trial, 900);
    trial.lanes = 16;
    CHECK_STATUS(x86_make(&trial, &code), WEFT_OK);
    weft__x86_free(&code);
    CHECK(code.bytes == NULL && code.count == 0);
}

#define LONG "makes very many kernels; made_and_freed covers it"
TEST_MAIN(TEST_NO_FAULTS(primitives, LONG), TEST_NO_FAULTS(conversions, LONG),
          TEST_OF(what_is_not_made), TEST_NO_FAULTS(more_values_than_registers, LONG),
          TEST_NO_FAULTS(branches_around_what_no_lane_needs, LONG),
          TEST_NO_FAULTS(random_kernels, LONG), TEST_OF(too_many_values_for_a_frame),
          TEST_OF(made_and_freed));
