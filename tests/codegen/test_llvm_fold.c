/* Kernels with folds: the compiling engine against the interpreter, and both against the order of
 * docs/semantics.md written out as plain loops. */
#include "codegen/folds.h"

#include <math.h>

static const weft_dtype value_types[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64, WEFT_U8,
                                         WEFT_U16,  WEFT_U32, WEFT_U64, WEFT_F32, WEFT_F64};
enum { VALUE_TYPES = sizeof value_types / sizeof value_types[0] };
static const int kinds[] = {WEFT__OP_add,      WEFT__OP_mul,      WEFT__OP_min,
                            WEFT__OP_max,      WEFT__OP_and,      WEFT__OP_or,
                            WEFT__FOLD_ARGMIN, WEFT__FOLD_ARGMAX, WEFT__FOLD_PRODUCT};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_pair(int kind) { return kind >= WEFT__FOLD_ARGMIN; }

static bool is_defined(int kind, weft_dtype dtype)
{
    if (kind == WEFT__OP_and || kind == WEFT__OP_or)
        return !is_float(dtype);
    if (kind == WEFT__FOLD_PRODUCT)
        return is_float(dtype);
    return dtype != WEFT_BOOL;
}

/* The number of part 0; for a pair, part 1 is the value after it. */
static int fold_of(struct tiny *tiny, int kind, weft_dtype dtype, weft_dtype second, int x, int y)
{
    const int first = tiny_value(tiny, WEFT__OP_fold, dtype, x, is_pair(kind) ? y : x, 0);
    tiny->values[first].slot = (uint16_t)kind;
    tiny->kernel.folds_count++;
    if (!is_pair(kind))
        return first;
    const int other = tiny_value(tiny, WEFT__OP_fold, second, x, y, 0);
    tiny->values[other].slot = (uint16_t)kind;
    tiny->values[other].part = 1;
    tiny->kernel.folds_count++;
    return first;
}

static int index_of(struct tiny *tiny, int axis)
{
    const int at = tiny_value(tiny, WEFT__OP_index, WEFT_I64, 0, 0, 0);
    tiny->values[at].slot = (uint16_t)axis;
    return at;
}

static void store_kept(struct tiny *tiny, weft_dtype dtype, int value)
{
    tiny_store(tiny, dtype, value);
    tiny->operands[tiny->kernel.operands_count - 1].kept = true;
}

/* ---- the order, as plain loops ---- */

/* A value, as bits of its type, and what goes with it. */
struct pair {
    uint64_t bits[2];
};

static double number_of(weft_dtype dtype, uint64_t bits)
{
    float single;
    double twice;
    memcpy(&single, &bits, sizeof single);
    memcpy(&twice, &bits, sizeof twice);
    return dtype == WEFT_F32 ? (double)single : twice;
}

/* Sign-extended. */
static int64_t signed_of(weft_dtype dtype, uint64_t bits)
{
    const int up = 64 - bits_in(dtype);
    return dtype == WEFT_BOOL ? (int64_t)bits : (int64_t)(bits << up) >> up;
}

static bool is_less(weft_dtype dtype, uint64_t x, uint64_t y)
{
    if (is_float(dtype))
        return number_of(dtype, x) < number_of(dtype, y);
    return is_signed(dtype) ? signed_of(dtype, x) < signed_of(dtype, y) : x < y;
}

static bool is_nan(weft_dtype dtype, uint64_t x)
{
    return is_float(dtype) && isnan(number_of(dtype, x));
}

static uint64_t float_of(weft_dtype dtype, double x)
{
    uint64_t bits = 0;
    const float single = (float)x;
    if (isnan(x))
        return dtype == WEFT_F32 ? 0x7fc00000U : 0x7ff8000000000000U;
    if (dtype == WEFT_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &x, sizeof x);
    return bits;
}

/* Sums and products of two f32 are rounded by way of f64 without harm. */
static uint64_t add_or_multiply(weft_dtype dtype, bool add, uint64_t x, uint64_t y)
{
    const double a = number_of(dtype, x), b = number_of(dtype, y);
    if (is_float(dtype))
        return float_of(dtype, add ? a + b : a * b);
    return (add ? x + y : x * y) & mask_of(dtype);
}

static uint64_t negative(weft_dtype dtype, uint64_t x)
{
    return x ^ (uint64_t)1 << (bits_in(dtype) - 1);
}

static struct pair product(weft_dtype dtype, struct pair x, struct pair y)
{
    const uint64_t rr = add_or_multiply(dtype, false, x.bits[0], y.bits[0]);
    const uint64_t ii = add_or_multiply(dtype, false, x.bits[1], y.bits[1]);
    const uint64_t ri = add_or_multiply(dtype, false, x.bits[0], y.bits[1]);
    const uint64_t ir = add_or_multiply(dtype, false, x.bits[1], y.bits[0]);
    return (struct pair){{add_or_multiply(dtype, true, rr, negative(dtype, ii)),
                          add_or_multiply(dtype, true, ri, ir)}};
}

static struct pair first_of(weft_dtype dtype, bool largest, struct pair a, struct pair b)
{
    const bool nan_a = is_nan(dtype, a.bits[0]), nan_b = is_nan(dtype, b.bits[0]);
    const bool less =
        largest ? is_less(dtype, a.bits[0], b.bits[0]) : is_less(dtype, b.bits[0], a.bits[0]);
    const bool more =
        largest ? is_less(dtype, b.bits[0], a.bits[0]) : is_less(dtype, a.bits[0], b.bits[0]);
    const bool equal = (nan_a && nan_b) || (!nan_a && !nan_b && !less && !more);
    if (less || (nan_b && !nan_a) || (equal && (int64_t)b.bits[1] < (int64_t)a.bits[1]))
        return b;
    return a;
}

static struct pair combined(int kind, weft_dtype dtype, struct pair a, struct pair b)
{
    const uint64_t x = a.bits[0], y = b.bits[0];
    switch (kind) {
    case WEFT__OP_add:
    case WEFT__OP_mul:
        return (struct pair){{add_or_multiply(dtype, kind == WEFT__OP_add, x, y)}};
    case WEFT__OP_min:
        return is_less(dtype, x, y) || is_nan(dtype, x) ? a : b;
    case WEFT__OP_max:
        return is_less(dtype, y, x) || is_nan(dtype, x) ? a : b;
    case WEFT__OP_and:
        return (struct pair){{x & y}};
    case WEFT__OP_or:
        return (struct pair){{x | y}};
    case WEFT__FOLD_PRODUCT:
        return product(dtype, a, b);
    default:
        return first_of(dtype, kind == WEFT__FOLD_ARGMAX, a, b);
    }
}

static struct pair by_halving(int kind, weft_dtype dtype, struct pair *slot, int64_t count)
{
    int64_t n = 1;
    while (n < count)
        n *= 2;
    for (int64_t h = n / 2; h >= 1; h /= 2)
        for (int64_t s = 0; s < h; s++)
            if (s + h < count)
                slot[s] = combined(kind, dtype, slot[s], slot[s + h]);
    return slot[0];
}

static struct pair in_order(int kind, weft_dtype dtype, const struct pair *x, int64_t count,
                            int64_t step)
{
    struct pair z = x[0];
    for (int64_t k = step; k < count; k += step)
        z = combined(kind, dtype, z, x[k]);
    return z;
}

/* Overwrites the elements. */
static struct pair folded(int kind, weft_dtype dtype, struct pair *x, int64_t count, bool lanes)
{
    const int64_t length = lanes ? 4096 : 64;
    int64_t chunks = 0;
    for (int64_t at = 0; at < count; at += length) {
        const int64_t size = count - at < length ? count - at : length;
        if (!lanes) {
            x[chunks++] = in_order(kind, dtype, x + at, size, 1);
            continue;
        }
        struct pair lane[128];
        for (int64_t l = 0; l < 128 && l < size; l++)
            lane[l] = in_order(kind, dtype, x + at + l, size - l, 128);
        x[chunks++] = by_halving(kind, dtype, lane, size < 128 ? size : 128);
    }
    return by_halving(kind, dtype, x, chunks);
}

/* ---- one fold of one operand, against the loops ---- */

/* Loads, the fold of a kind, and a store of each part. Products are of the parts of complex
 * numbers, the others of the elements and, where it is a pair, their numbers. */
static void simple_kernel(struct fold_trial *trial, int kind, weft_dtype dtype)
{
    struct tiny *tiny = &trial->tiny;
    const weft_dtype memory = kind != WEFT__FOLD_PRODUCT ? dtype
                              : dtype == WEFT_F32        ? WEFT_C64
                                                         : WEFT_C128;
    tiny_begin(tiny);
    tiny->kernel.ndim = trial->space.ndim;
    tiny->kernel.folded = trial->folded;
    const int x = tiny_load(tiny, memory);
    const int y = kind == WEFT__FOLD_PRODUCT ? tiny_load_from(tiny, 0, 1)
                  : is_pair(kind)            ? index_of(tiny, WEFT__INDEX_FOLDED)
                                             : x;
    const weft_dtype second = kind == WEFT__FOLD_PRODUCT ? dtype : WEFT_I64;
    const int fold = fold_of(tiny, kind, dtype, second, x, y);
    store_kept(tiny, dtype, fold);
    if (is_pair(kind))
        store_kept(tiny, second, fold + 1);
}

static struct pair element_of(const struct fold_trial *trial, int kind, weft_dtype dtype,
                              int64_t point, int64_t number)
{
    const char *at = trial->before[0] + layout_at(&trial->layout[0], &trial->space, point);
    struct pair pair = {{element_read(at, 0, dtype), 0}};
    if (dtype == WEFT_BOOL)
        pair.bits[0] = pair.bits[0] != 0;
    pair.bits[1] = kind == WEFT__FOLD_PRODUCT ? element_read(at, 1, dtype) : (uint64_t)number;
    return pair;
}

/* Number `kept` of the points that are left, and `number` of those folded into it. */
static int64_t point_of(const struct fold_trial *trial, int64_t kept, int64_t number)
{
    int64_t position[WEFT_NDIM_MAX], point = 0;
    for (int k = trial->space.ndim - 1; k >= 0; k--) {
        int64_t *rest = trial->folded >> k & 1 ? &number : &kept;
        position[k] = *rest % trial->space.size[k];
        *rest /= trial->space.size[k];
    }
    for (int k = 0; k < trial->space.ndim; k++)
        point = point * trial->space.size[k] + position[k];
    return point;
}

static uint64_t canonical(weft_dtype dtype, uint64_t bits)
{
    return is_nan(dtype, bits) ? float_of(dtype, (double)NAN) : bits;
}

static bool same_as_loops(const struct fold_trial *trial, int kind, weft_dtype dtype)
{
    const struct space kept = kept_space(&trial->space, trial->folded);
    const int64_t count = kept.count > 0 ? trial->space.count / kept.count : 0;
    const bool lanes = weft__kernel_has_lanes(&trial->tiny.kernel);
    struct pair *elements = malloc((size_t)(count + 1) * sizeof *elements);
    bool same = elements != NULL;
    for (int64_t p = 0; same && count > 0 && p < kept.count; p++) {
        for (int64_t k = 0; k < count; k++)
            elements[k] = element_of(trial, kind, dtype, point_of(trial, p, k), k);
        const struct pair expected = folded(kind, dtype, elements, count, lanes);
        for (int part = 0; part <= is_pair(kind); part++) {
            const weft_dtype type = part && kind != WEFT__FOLD_PRODUCT ? WEFT_I64 : dtype;
            const int64_t at = layout_at(&trial->layout[1 + part], &kept, p);
            const uint64_t actual = element_read(trial->after[1][1 + part] + at, 0, type);
            same = same && actual == canonical(type, expected.bits[part]);
        }
    }
    free(elements);
    return same;
}

/* Numbers of a type; few of them infinite or NaN, so that most sums are something. */
static void fill(struct fold_trial *trial, int operand, bool corners)
{
    const weft_dtype dtype = (weft_dtype)trial->tiny.operands[operand].dtype;
    const weft_dtype part = tiny_loaded(dtype);
    const int64_t size = (int64_t)weft_dtype_size(part);
    uint64_t corner[CORNERS_MAX];
    const int count = corners_of(part, corner);
    if (dtype == WEFT_F16 || dtype == WEFT_BF16)
        return;
    for (int64_t k = 0; k < trial->layout[operand].bytes / size; k++) {
        const double number =
            ldexp((double)(random_bits() >> 11) * 0x1p-53 - 0.5, (int)random_below(16) - 8);
        uint64_t bits = is_float(part) ? float_bits(part, number) : random_of(part);
        if (corners && random_below(200) == 0)
            bits = corner[random_below(count)];
        element_write(trial->before[operand], k, part, bits);
    }
}

static bool check_simple(const struct space *space, unsigned axes, int kind, weft_dtype dtype,
                         enum layout_kind layout, int64_t grain)
{
    static struct fold_trial trial;
    memset(&trial, 0, sizeof trial);
    trial.space = *space;
    trial.folded = axes;
    simple_kernel(&trial, kind, dtype);
    for (uint32_t k = 0; k < trial.tiny.kernel.operands_count; k++)
        trial.layout[k] = fold_layout(&trial, (int)k, k == 0 ? layout : LAYOUT_DENSE);
    bool passed = fold_trial_allocate(&trial);
    if (passed) {
        fill(&trial, 0, random_below(2));
        passed = fold_trial_run(&trial, grain) && same_as_loops(&trial, kind, dtype);
    }
    fold_trial_drop(&trial);
    CHECK_OR(passed, false);
    return true;
}

static int64_t random_grain(void)
{
    static const int64_t grains[] = {0, 0, 1, 3, 64};
    return grains[random_below(5)];
}

static const int64_t sizes[] = {0,   1,   2,    31,   63,   64,   65,   127,  128,   129,   191,
                                255, 257, 1021, 4095, 4096, 4097, 8191, 8193, 12289, 70001, 140000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

TEST(every_kind_and_type_of_one_axis)
{
    NEEDS_LLVM;
    int turn = 0;
    FOR_EACH_ISA
    for (int kind = 0; kind < KINDS; kind++)
        for (int type = 0; type < VALUE_TYPES; type++) {
            if (!is_defined(kinds[kind], value_types[type]))
                continue;
            for (int n = 0; n < (test_quick() ? 1 : 2); n++, turn++) {
                const struct space space = space_make(1, &sizes[turn * 7 % SIZES]);
                CHECK(check_simple(&space, 1, kinds[kind], value_types[type],
                                   turn % 3 ? LAYOUT_DENSE : LAYOUT_ANY, random_grain()));
            }
        }
}

/* A long axis and a short one, either of them folded, or both. */
TEST(sums_of_two_axes)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int s = 0; s < SIZES; s++)
        for (unsigned axes = 1; axes < 4; axes++) {
            const int64_t other = sizes[s] > 10000 ? 1 + random_below(3) : 1 + random_below(70);
            const int64_t high[] = {sizes[s], other}, flat[] = {other, sizes[s]};
            const struct space a = space_make(2, high), b = space_make(2, flat);
            const enum layout_kind layout = (enum layout_kind)random_below(LAYOUT_KINDS);
            if (test_quick() && s % 4 != 0)
                continue;
            CHECK(check_simple(&a, axes, WEFT__OP_add, WEFT_F32, layout, random_grain()));
            CHECK(check_simple(&b, axes, WEFT__OP_add, WEFT_F32, layout, random_grain()));
        }
}

/* Points of several whole chunks: whether those of the next point follow, as in a dense array, or
 * not; of folds that number what they fold, and of many points. */
TEST(points_of_whole_chunks)
{
    NEEDS_LLVM;
    static const int64_t spaces[][4] = {{2, 7, 8192},    {2, 1, 12288},       {2, 70, 8192},
                                        {3, 3, 5, 8192}, {3, 4, 2, 3 * 4096}, {3, 6, 2, 4096}};
    FOR_EACH_ISA
    for (int k = 0; k < 6; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            const struct space space = space_make((int)spaces[k][0], spaces[k] + 1);
            const unsigned last = 1U << (space.ndim - 1), two = last | last >> 1;
            const weft_dtype dtype = is_defined(kinds[kind], WEFT_F32) ? WEFT_F32 : WEFT_U8;
            if (test_quick() && (k + kind) % 3 != 0)
                continue;
            CHECK(check_simple(&space, last, kinds[kind], dtype, LAYOUT_DENSE, random_grain()));
            CHECK(check_simple(&space, last, kinds[kind], dtype, LAYOUT_ANY, random_grain()));
            if (space.ndim == 3)
                CHECK(check_simple(&space, two, kinds[kind], dtype, LAYOUT_DENSE, random_grain()));
        }
}

/* Up to four axes of any sizes, of any kind, type and layout. */
static struct space random_space(void)
{
    static const int64_t some[] = {1, 2, 3, 5, 17, 31, 64, 100, 129, 300, 1030, 4100, 8192};
    struct space space = {.ndim = 1 + (int)random_below(4), .count = 1};
    for (int k = 0; k < space.ndim; k++) {
        const int64_t size = some[random_below(13)];
        space.size[k] = space.count * size > 40000 ? 1 + random_below(3) : size;
        space.count *= space.size[k];
    }
    if (random_below(40) == 0)
        space.size[random_below(space.ndim)] = space.count = 0;
    return space;
}

TEST(any_axes_kinds_types_and_layouts)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int k = 0; k < (test_quick() ? 30 : 120); k++) {
        const struct space space = random_space();
        const unsigned axes = 1 + (unsigned)random_below((1 << space.ndim) - 1);
        const int kind = kinds[random_below(KINDS)];
        weft_dtype dtype;
        do
            dtype = value_types[random_below(VALUE_TYPES)];
        while (!is_defined(kind, dtype));
        CHECK(check_simple(&space, axes, kind, dtype, (enum layout_kind)random_below(LAYOUT_KINDS),
                           random_grain()));
    }
}

/* Elements of a chunk in different lines of memory, with chunks that end in the next row, plane or
 * point. */
TEST(across_the_lines_of_memory)
{
    NEEDS_LLVM;
    static const int64_t spaces[][4] = {{2, 30, 5000},   {2, 65, 4097},    {2, 100, 1000},
                                        {2, 70, 300},    {3, 20, 3, 2000}, {3, 3, 20, 4100},
                                        {3, 2, 100, 33}, {3, 40, 17, 129}};
    static const int some[] = {WEFT__OP_add, WEFT__OP_max, WEFT__FOLD_ARGMIN, WEFT__FOLD_PRODUCT};
    static const weft_dtype types[] = {WEFT_F32, WEFT_F64, WEFT_F32, WEFT_F32};
    FOR_EACH_ISA
    for (int k = 0; k < (test_quick() ? 4 : 24); k++) {
        const int64_t *given = spaces[k % 8];
        const struct space space = space_make((int)given[0], given + 1);
        const unsigned axes = 1U << (space.ndim - 1) | (unsigned)random_below(1 << space.ndim);
        CHECK(check_simple(&space, axes, some[k % 4], types[k % 4],
                           k % 3 ? LAYOUT_TRANSPOSED : LAYOUT_ANY, random_grain()));
    }
}

/* The operand's element at a point, which is a whole number. */
static double whole_of(const struct fold_trial *trial, int operand, int64_t point)
{
    const char *at =
        trial->before[operand] + layout_at(&trial->layout[operand], &trial->space, point);
    return number_of(WEFT_F64, element_read(at, 0, WEFT_F64));
}

enum { RARE = 100, LARGE = 50, STEPS = 20 };
enum more { MORE_NEVER, MORE_RARELY, MORE_ALWAYS }; /* of large numbers; of all, in long code */

/* Sums of products of whole numbers, which are the same in every order. */
static bool same_as_sums(const struct fold_trial *trial, enum more more)
{
    const struct space kept = kept_space(&trial->space, trial->folded);
    for (int64_t p = 0; p < kept.count; p++) {
        double sum = 0;
        for (int64_t k = 0; k < trial->space.count / kept.count; k++) {
            const int64_t point = point_of(trial, p, k);
            const double x = whole_of(trial, 0, point);
            const bool adds = more == MORE_ALWAYS || (more == MORE_RARELY && x > LARGE);
            sum += (adds ? x + STEPS : x) * whole_of(trial, 1, point);
        }
        const int64_t at = layout_at(&trial->layout[2], &kept, p);
        CHECK_OR(number_of(WEFT_F64, element_read(trial->after[1][2] + at, 0, WEFT_F64)) == sum,
                 false);
    }
    return true;
}

/* One after the other, so that they are worth to be skipped. */
static int more_than(struct tiny *tiny, int x, enum more how)
{
    const int large = tiny_constant(tiny, WEFT_F64, float_bits(WEFT_F64, LARGE));
    const int one = tiny_constant(tiny, WEFT_F64, float_bits(WEFT_F64, 1));
    const int is_large = tiny_value(tiny, WEFT__OP_lt, WEFT_BOOL, large, x, 0);
    int more = x;
    for (int k = 0; k < STEPS; k++)
        more = tiny_value(tiny, WEFT__OP_add, WEFT_F64, more, one, 0);
    if (how == MORE_ALWAYS)
        return more;
    return tiny_value(tiny, WEFT__OP_select, WEFT_F64, is_large, more, x);
}

static uint64_t random_whole(void)
{
    const double large = random_below(RARE) == 0 ? 2 * LARGE : 0;
    return float_bits(WEFT_F64, large + (double)random_below(15) - 7);
}

/* A product of two operands that lie in different ways. */
static bool check_products(const struct space *space, unsigned axes, enum more more,
                           enum layout_kind first, enum layout_kind second)
{
    static struct fold_trial trial;
    const enum layout_kind layouts[] = {first, second, LAYOUT_DENSE};
    memset(&trial, 0, sizeof trial);
    trial.space = *space;
    trial.folded = axes;
    struct tiny *tiny = &trial.tiny;
    tiny_begin(tiny);
    tiny->kernel.ndim = space->ndim;
    tiny->kernel.folded = trial.folded;
    const int x = tiny_load(tiny, WEFT_F64), y = tiny_load(tiny, WEFT_F64);
    const int factor = more ? more_than(tiny, x, more) : x;
    const int product = tiny_value(tiny, WEFT__OP_mul, WEFT_F64, factor, y, 0);
    store_kept(tiny, WEFT_F64, fold_of(tiny, WEFT__OP_add, WEFT_F64, WEFT_F64, product, product));
    for (int k = 0; k < 3; k++)
        trial.layout[k] = fold_layout(&trial, k, layouts[k]);
    bool passed = fold_trial_allocate(&trial);
    for (int k = 0; passed && k < 2; k++)
        for (int64_t n = 0; n < trial.layout[k].bytes / 8; n++)
            element_write(trial.before[k], n, WEFT_F64, random_whole());
    passed = passed && fold_trial_run(&trial, random_grain()) && same_as_sums(&trial, more);
    fold_trial_drop(&trial);
    return passed;
}

/* Of operands that are not packed, each row is another, too. */
TEST(packed_operands_beside_others)
{
    NEEDS_LLVM;
    static const int64_t spaces[][2] = {{8, 8}, {65, 300}, {7, 4500}, {100, 33}};
    FOR_EACH_ISA
    for (int k = 0; k < 4; k++) {
        const struct space space = space_make(2, spaces[k]);
        CHECK(check_products(&space, 2, MORE_NEVER, LAYOUT_TRANSPOSED, LAYOUT_DENSE));
        CHECK(check_products(&space, 2, MORE_NEVER, LAYOUT_DENSE, LAYOUT_TRANSPOSED));
        CHECK(check_products(&space, 2, MORE_NEVER, LAYOUT_TRANSPOSED, LAYOUT_BROADCAST));
        CHECK(check_products(&space, 2, MORE_NEVER, LAYOUT_TRANSPOSED, LAYOUT_TRANSPOSED));
    }
}

/* What few lanes need is computed apart. */
TEST(lanes_that_need_more)
{
    NEEDS_LLVM;
    static const int64_t spaces[][2] = {{100, 200}, {3, 5000}, {500, 37}};
    FOR_EACH_ISA
    for (int k = 0; k < 3; k++)
        for (unsigned axes = 1; axes < 4; axes++) {
            const struct space space = space_make(2, spaces[k]);
            CHECK(check_products(&space, axes, MORE_RARELY, LAYOUT_DENSE, LAYOUT_DENSE));
        }
}

/* What is made once, for whole vectors and for what is left, of any length. */
TEST(long_code)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (int k = 1; k < (test_quick() ? 12 : SIZES); k++) {
        const struct space line = space_make(1, &sizes[k]);
        const struct space plane = space_make(2, (const int64_t[]){5, sizes[k] % 1000});
        CHECK(check_products(&line, 1, MORE_ALWAYS, LAYOUT_DENSE, LAYOUT_DENSE));
        CHECK(check_products(&plane, 1, MORE_ALWAYS, LAYOUT_DENSE, LAYOUT_DENSE));
        CHECK(check_products(&plane, 2, MORE_ALWAYS, LAYOUT_DENSE, LAYOUT_BROADCAST));
        CHECK(check_products(&plane, 3, MORE_ALWAYS, LAYOUT_DENSE, LAYOUT_ANY));
    }
}

/* ---- random kernels, against the interpreter ---- */

/* A value of the type among those from `first` on, or one of them that is cast to it. */
static int random_argument(struct tiny *tiny, int first, weft_dtype dtype)
{
    const int count = (int)tiny->kernel.values_count;
    for (int tries = 0; tries < 8; tries++) {
        const int at = first + (int)random_below(count - first);
        if (tiny->values[at].dtype == dtype && tiny->values[at].op != WEFT__OP_store)
            return at;
    }
    int from = first + (int)random_below(count - first);
    while (tiny->values[from].op == WEFT__OP_store)
        from = from > first ? from - 1 : first;
    return tiny_value(tiny, WEFT__OP_cast, dtype, from, 0, 0);
}

static weft_dtype random_type(void) { return value_types[random_below(VALUE_TYPES)]; }

static void random_operations(struct tiny *tiny, int first, int count)
{
    static const weft__op ops[] = {WEFT__OP_add, WEFT__OP_sub, WEFT__OP_mul, WEFT__OP_min,
                                   WEFT__OP_max, WEFT__OP_neg, WEFT__OP_abs};
    for (int k = 0; k < count; k++) {
        const weft_dtype dtype = random_type();
        const weft__op op = ops[random_below(7)];
        if (dtype == WEFT_BOOL) {
            const weft_dtype compared = random_type();
            const int x = random_argument(tiny, first, compared);
            (void)tiny_value(tiny, WEFT__OP_lt, WEFT_BOOL, x,
                             random_argument(tiny, first, compared), 0);
            continue;
        }
        const int x = random_argument(tiny, first, dtype), y = random_argument(tiny, first, dtype);
        (void)tiny_value(tiny, op, dtype, x, y, 0);
    }
}

struct choice {
    int kind, x, y;
    weft_dtype dtype, second;
};

static struct choice random_choice(struct tiny *tiny)
{
    struct choice choice = {.kind = kinds[random_below(KINDS)]};
    do
        choice.dtype = random_type();
    while (!is_defined(choice.kind, choice.dtype));
    choice.second = choice.kind == WEFT__FOLD_PRODUCT ? choice.dtype : WEFT_I64;
    choice.x = choice.y = random_argument(tiny, 0, choice.dtype);
    if (is_pair(choice.kind))
        choice.y = choice.second == WEFT_I64 && random_below(2)
                       ? index_of(tiny, WEFT__INDEX_FOLDED)
                       : random_argument(tiny, 0, choice.second);
    return choice;
}

/* What is folded is chosen first, for no fold depends on another. Returns the first fold. */
static int random_folds(struct tiny *tiny, int count)
{
    struct choice choice[4];
    for (int k = 0; k < count; k++)
        choice[k] = random_choice(tiny);
    const int first = (int)tiny->kernel.values_count;
    for (int k = 0; k < count; k++)
        (void)fold_of(tiny, choice[k].kind, choice[k].dtype, choice[k].second, choice[k].x,
                      choice[k].y);
    return first;
}

/* Loads of some operands, of which some have the kept axes alone; operations; folds; then
 * operations on those and on kept operands, and stores. */
static void random_kernel(struct fold_trial *trial)
{
    static const weft_dtype memory[] = {WEFT_BOOL, WEFT_I8,   WEFT_I32, WEFT_U16, WEFT_U64,
                                        WEFT_F16,  WEFT_BF16, WEFT_F32, WEFT_F32, WEFT_F64,
                                        WEFT_C64,  WEFT_C128, WEFT_I64};
    struct tiny *tiny = &trial->tiny;
    tiny_begin(tiny);
    tiny->kernel.ndim = trial->space.ndim;
    tiny->kernel.folded = trial->folded;
    for (int64_t k = 1 + random_below(3); k > 0; k--) {
        const uint16_t slot = tiny_operand(tiny, memory[random_below(13)], false);
        tiny->operands[slot].kept = random_below(4) == 0;
        (void)tiny_load_from(tiny, slot, 0);
        if (tiny->operands[slot].dtype >= WEFT_C64)
            (void)tiny_load_from(tiny, slot, 1);
    }
    if (random_below(3) == 0)
        (void)tiny_scalar(tiny, WEFT_F32);
    if (random_below(3) == 0)
        (void)index_of(tiny, (int)random_below(trial->space.ndim));
    random_operations(tiny, 0, (int)random_below(6));
    const int first = random_folds(tiny, 1 + (int)random_below(3));
    const uint16_t kept = tiny_operand(tiny, memory[random_below(13)], false);
    tiny->operands[kept].kept = true;
    (void)tiny_load_from(tiny, kept, 0);
    random_operations(tiny, first, (int)random_below(5));
    for (int64_t k = 1 + random_below(2); k > 0; k--) {
        const weft_dtype dtype = memory[random_below(10)];
        store_kept(tiny, dtype, random_argument(tiny, first, tiny_loaded(dtype)));
    }
}

static bool random_trial(void)
{
    static struct fold_trial trial;
    memset(&trial, 0, sizeof trial);
    trial.space = random_space();
    trial.folded = 1 + (unsigned)random_below((1 << trial.space.ndim) - 1);
    random_kernel(&trial);
    trial.scalars[0] = float_bits(WEFT_F32, 1.25);
    for (uint32_t k = 0; k < trial.tiny.kernel.operands_count; k++)
        trial.layout[k] =
            fold_layout(&trial, (int)k,
                        (enum layout_kind)random_below(
                            trial.tiny.operands[k].output ? LAYOUT_BROADCAST : LAYOUT_KINDS));
    bool passed = fold_trial_allocate(&trial);
    for (uint32_t k = 0; passed && k < trial.tiny.kernel.operands_count; k++)
        fill(&trial, (int)k, true);
    passed = passed && fold_trial_run(&trial, random_grain());
    fold_trial_drop(&trial);
    return passed;
}

TEST(random_kernels_with_folds)
{
    NEEDS_LLVM;
    const char *text = getenv("WEFT_TEST_KERNELS");
    const int kernels = text != NULL ? atoi(text) : test_quick() ? 40 : 150;
    FOR_EACH_ISA
    for (int k = 0; k < kernels; k++)
        CHECK(random_trial());
}

/* Sums of both parts of complex numbers, as such, as halves and as they are: nothing is compiled to
 * store them, unless something is computed of one. */
static void stored_kernel(struct fold_trial *trial, bool computed)
{
    struct tiny *tiny = &trial->tiny;
    tiny_begin(tiny);
    tiny->kernel.ndim = trial->space.ndim;
    tiny->kernel.folded = trial->folded;
    const int x = tiny_load(tiny, WEFT_C64), y = tiny_load_from(tiny, 0, 1);
    const int real = fold_of(tiny, WEFT__OP_add, WEFT_F32, 0, x, 0);
    const int imaginary = fold_of(tiny, WEFT__OP_add, WEFT_F32, 0, y, 0);
    const int least = fold_of(tiny, WEFT__OP_min, WEFT_F32, 0, x, 0);
    const int most = fold_of(tiny, WEFT__OP_max, WEFT_F32, 0, y, 0);
    store_kept(tiny, WEFT_C64, real);
    const int other = tiny_value(tiny, WEFT__OP_store, WEFT_F32, imaginary, 0, 0);
    tiny->values[other].slot = (uint16_t)(tiny->kernel.operands_count - 1);
    tiny->values[other].part = 1;
    store_kept(tiny, WEFT_BF16, least);
    store_kept(tiny, WEFT_F32,
               computed ? tiny_value(tiny, WEFT__OP_add, WEFT_F32, most, most, 0) : most);
}

static bool check_stored(uint32_t axes, enum layout_kind layout, bool computed)
{
    static struct fold_trial trial;
    const int64_t size[] = {67, 131};
    struct fold_launch at;
    char *text = NULL;
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(2, size);
    trial.folded = axes;
    stored_kernel(&trial, computed);
    for (uint32_t k = 0; k < trial.tiny.kernel.operands_count; k++)
        trial.layout[k] = fold_layout(&trial, (int)k, k == 0 ? LAYOUT_DENSE : layout);
    bool passed = fold_trial_allocate(&trial);
    if (passed) {
        fill(&trial, 0, true);
        passed = fold_trial_run(&trial, 0);
        fold_launch_make(&trial, 1, &at);
        passed &= weft__llvm_explain(&trial.tiny.kernel, &at.launch, &text) == WEFT_OK &&
                  (strstr(text, "weft_kernel:") != NULL) == computed;
        weft__free(text);
    }
    fold_trial_drop(&trial);
    CHECK_OR(passed, false);
    return true;
}

TEST(results_that_are_stored)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    for (uint32_t axes = 1; axes < 4; axes++)
        for (int k = 0; k < 4; k++)
            CHECK(check_stored(axes, k % 2 ? LAYOUT_ANY : LAYOUT_DENSE, k / 2));
}

/* Small enough for every allocation to fail in turn. */
TEST(one_fold)
{
    NEEDS_LLVM;
    const int64_t size[] = {3, 130};
    const struct space space = space_make(2, size);
    CHECK(check_simple(&space, 2, WEFT__OP_add, WEFT_F32, LAYOUT_DENSE, 0));
}

#define LONG "compiles very many kernels; one_fold covers it"
TEST_MAIN(TEST_OF(one_fold), TEST_NO_FAULTS(every_kind_and_type_of_one_axis, LONG),
          TEST_NO_FAULTS(sums_of_two_axes, LONG), TEST_NO_FAULTS(points_of_whole_chunks, LONG),
          TEST_NO_FAULTS(any_axes_kinds_types_and_layouts, LONG),
          TEST_NO_FAULTS(across_the_lines_of_memory, LONG),
          TEST_NO_FAULTS(packed_operands_beside_others, LONG),
          TEST_NO_FAULTS(lanes_that_need_more, LONG), TEST_NO_FAULTS(long_code, LONG),
          TEST_NO_FAULTS(results_that_are_stored, LONG),
          TEST_NO_FAULTS(random_kernels_with_folds, LONG));
