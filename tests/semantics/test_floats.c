/* Types, floating point and NaN as docs/semantics.md has them, on any engine and device. */
#include "semantics/rows.h"
#include <fenv.h>

#define FLOATS "f32 f64"

static const struct row rows[] = {
    {"Floating point / One rounding", "x + y", "f32", {R(0x1p24), R(1)}, R(0x1p24)},
    {"Floating point / One rounding", "x + y", "f32", {R(0x1p24 + 2), R(1)}, R(0x1p24 + 4)},
    {"Floating point / One rounding", "x * y", "f32", {R(0x1p-149), R(0.5)}, R(0.0)},
    {"Floating point / One rounding", "x * y", "f32", {R(0x3p-149), R(0.5)}, R(0x1p-148)},
    {"Floating point / One rounding", "x * y", "f32", {R(0x1p-126), R(0.5)}, R(0x1p-127)},
    {"Floating point / One rounding", "x + y", "f32", {R(0x1p-149), R(0x1p-149)}, R(0x1p-148)},
    {"Floating point / One rounding", "x - y", "f32", {R(0x1.8p-126), R(0x1p-126)}, R(0x1p-127)},
    {"Floating point / One rounding", "x * y", "f64", {R(0x1p-1022), R(0.25)}, R(0x1p-1024)},
    {"Floating point / One rounding", "x / y", "f64", {R(0x3p-1074), R(2)}, R(0x1p-1073)},
    /* exact: 2^-24 and 2^-54; two roundings give 0 */
    {"Floating point / As written",
     "x * y + z",
     "f32",
     {R(1 + 0x1p-12), R(1 + 0x1p-12), R(-1 - 0x1p-11)},
     R(0)},
    {"Floating point / As written",
     "z + x * y",
     "f32",
     {R(1 + 0x1p-12), R(1 + 0x1p-12), R(-1 - 0x1p-11)},
     R(0)},
    {"Floating point / As written",
     "x * y - z",
     "f64",
     {R(1 + 0x1p-27), R(1 + 0x1p-27), R(1 + 0x1p-26)},
     R(0)},
    {"Floating point / As written",
     "z - x * y",
     "f64",
     {R(1 + 0x1p-27), R(1 + 0x1p-27), R(1 + 0x1p-26)},
     R(0)},
    {"Floating point / As written", "(x + y) + z", FLOATS, {R(1), R(0x1p100), R(-0x1p100)}, R(0)},
    {"Floating point / As written", "x + (y + z)", FLOATS, {R(1), R(0x1p100), R(-0x1p100)}, R(1)},
    {"Floating point / As written", "x * y / y", FLOATS, {R(1), R(0)}, NaN},
    {"Floating point / As written",
     "x / 3",
     "f32",
     {R(5)},
     R(0x1.aaaaaap0)}, /* 5 times 1/3 is ...acp0 */
    {"Floating point / As written", "x * 0", FLOATS, {INF}, NaN},
    {"Floating point / As written", "x * 0", FLOATS, {R(-1)}, R(-0.0)},
    {"Floating point / As written", "x + 0", FLOATS, {R(-0.0)}, R(0.0)},
    {"Floating point / As written", "x - 0", FLOATS, {R(-0.0)}, R(-0.0)},
    {"Floating point / As written", "0 - x", FLOATS, {R(0.0)}, R(0.0)},
    {"Floating point / As written", "x - x", FLOATS, {INF}, NaN},
    {"Floating point / As written", "x / x", FLOATS, {R(0)}, NaN},
    {"Floating point / As written", "x == x", FLOATS, {NaN}, I(0)},
    {"Floating point / As written", "!(x < y)", FLOATS, {NaN, R(1)}, I(1)},
    {"Floating point / As written", "where(x < y, x, y)", FLOATS, {R(0.0), R(-0.0)}, R(-0.0)},
    {"Floating point / As written", "sqrt(x) * sqrt(x)", "f32", {R(2)}, R(0x1.fffffep0)},
    {"Floating point / Overflow", "x * y", "f32", {R(0x1.fffffep127), R(2)}, INF},
    {"Floating point / Overflow", "x * y", "f64", {R(-0x1.fffffffffffffp1023), R(2)}, R(-INFINITY)},
    {"Floating point / Overflow",
     "x + y",
     "f32",
     {R(0x1.fffffep127), R(0x1p103)},
     INF}, /* a tie, to even */
    {"Floating point / Overflow",
     "x + y",
     "f32",
     {R(0x1.fffffep127), R(0x1p102)},
     R(0x1.fffffep127)},
};

TEST(arithmetic_is_as_written) { CHECK_ROWS(rows); }

/* semantics: Floating point / The mode */
TEST(the_mode_of_the_caller_changes_nothing)
{
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    enum { N = 1000 };
    static float x[N], expected[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i + 1) * (i % 2 ? 0x1.9p-127f : -0x1.3p3f);
        expected[i] = x[i] / 3 + 0x1p-130f;
    }
    WEFT_AUTO weft_array *a = from(x, sizeof x, WEFT_SHAPE(N), WEFT_F32);
    CHECK(a);
    for (int k = 0; k < 3; k++) {
        CHECK(fesetround(directions[k]) == 0);
        weft_array *made = weft_new(a / 3 + 0x1p-130f, a);
        const int after = fegetround();
        (void)fesetround(FE_TONEAREST);
        const bool right = holds(made, expected, sizeof expected);
        weft_array_release(made);
        CHECK(right);
        CHECK_INT(after, directions[k]);
    }
}

static const struct {
    weft_dtype dtype;
    uint64_t canonical, other, one; /* other: negative, with a payload */
} nans[] = {
    {WEFT_F16, 0x7e00, 0xfe01, 0x3c00},
    {WEFT_BF16, 0x7fc0, 0xffc1, 0x3f80},
    {WEFT_F32, 0x7fc00000, 0xffc12345, 0x3f800000},
    {WEFT_F64, 0x7ff8000000000000, 0xfff8000000012345, 0x3ff0000000000000},
};
enum { NANS = sizeof nans / sizeof nans[0], COUNT = 37 };

/* {other, one, other, one ...} and what is expected where a NaN is. */
static weft_array *nan_array(int k, weft_dtype dtype)
{
    char data[COUNT * 8];
    const size_t size = weft_dtype_size(nans[k].dtype);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(data + i * size, i % 2 ? &nans[k].one : &nans[k].other, size);
    const bool pairs = dtype != nans[k].dtype;
    return from(data, (COUNT - pairs) * size, WEFT_SHAPE(pairs ? COUNT / 2 : COUNT), dtype);
}

static bool has_bits(weft_array *array, int k, const uint64_t even, const uint64_t odd)
{
    char expected[COUNT * 8];
    const size_t size = weft_dtype_size(nans[k].dtype);
    const size_t bytes = array ? weft_array_bytes(array) : 0;
    for (size_t i = 0; i < bytes / size; i++)
        memcpy(expected + i * size, i % 2 ? &odd : &even, size);
    const bool same = array && holds(array, expected, bytes);
    weft_array_release(array);
    return same;
}

/* semantics: Floating point / NaN; Floating point / canonical NaN */
TEST(a_computed_nan_is_canonical_and_a_copy_is_a_copy)
{
    for (int k = 0; k < NANS; k++) {
        const uint64_t nan = nans[k].canonical, other = nans[k].other, one = nans[k].one;
        WEFT_AUTO weft_array *a = nan_array(k, nans[k].dtype);
        CHECK(a);
        WEFT_AUTO weft_array *b = weft_zeros_like(a);
        CHECK(b);
        CHECK(has_bits(weft_new(a * 1, a), k, nan, one));
        CHECK(has_bits(weft_new(-(-a), a), k, nan, one));
        CHECK(has_bits(weft_new(where(a == a, a, a), a), k, nan, one));
        CHECK(has_bits(weft_new(shift(a, 2, value = 1), a), k, nan, one) == false);
        CHECK(has_bits(weft_copy(a), k, other, one));
        CHECK_STATUS(weft(b = a, a, b), WEFT_OK);
        CHECK(has_bits(weft_array_retain(b), k, other, one));
        CHECK(has_bits(weft_new(shift(a, 2), a), k, other, one));
        CHECK(has_bits(weft_new(shift(a, 0, value = 1), a), k, other, one));
        CHECK(has_bits(weft_new(shift(a, 36, boundary = clamp), a), k, other, other));
    }
}

/* semantics: Floating point / NaN: a displaced load with a constant boundary is no copy. */
TEST(a_shift_with_a_constant_is_no_copy)
{
    const uint32_t values[] = {0xffc12345, 0xffc12345, 0xffc12345};
    const uint32_t expected[] = {0x7fc00000, 0x7fc00000, 0x40000000};
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(3), WEFT_F32);
    CHECK(a);
    WEFT_AUTO weft_array *moved = weft_new(shift(a, 1, value = 2), a);
    CHECK(holds(moved, expected, sizeof expected));
}

/* semantics: Floating point / NaN: each part of a complex number is a store of its own; a part is
 * of another dtype than its number. */
TEST(parts_of_complex_numbers_are_stored_apart)
{
    const uint32_t values[] = {0xffc12345, 0xffc54321, 0x3f800000, 0x7fa00001};
    const uint32_t conjugated[] = {0xffc12345, 0x7fc00000, 0x3f800000, 0x7fc00000};
    const uint32_t reals[] = {0x7fc00000, 0x3f800000};
    WEFT_AUTO weft_array *z = from(values, sizeof values, WEFT_SHAPE(2), WEFT_C64);
    CHECK(z);
    WEFT_AUTO weft_array *conjugate = weft_new(conj(z), z), *real = weft_new(real(z), z);
    CHECK(holds(conjugate, conjugated, sizeof conjugated));
    CHECK(holds(real, reals, sizeof reals));
}

/* semantics: Floating point / NaN: it has no sign. */
TEST(a_nan_has_no_sign)
{
    for (int k = 2; k < NANS; k++) {
        char one[8 * COUNT];
        const size_t size = weft_dtype_size(nans[k].dtype);
        for (size_t i = 0; i < COUNT; i++)
            memcpy(one + i * size, &nans[k].one, size);
        const bool none[COUNT] = {false};
        WEFT_AUTO weft_array *a = nan_array(k, nans[k].dtype);
        CHECK(a);
        WEFT_AUTO weft_array *signs = weft_new(signbit(a), a), *minus = weft_new(signbit(-a), a);
        WEFT_AUTO weft_array *copied = weft_new(copysign(-1, a), a);
        CHECK(holds(signs, none, COUNT));
        CHECK(holds(copied, one, COUNT * size));
        bool negative[COUNT];
        for (int i = 0; i < COUNT; i++)
            negative[i] = i % 2;
        CHECK(holds(minus, negative, COUNT));
    }
}

/* semantics: Types / bool: any byte but 0 is true, and true is stored as 1; a copy keeps bytes. */
TEST(bools_in_memory)
{
    const uint8_t bytes[] = {0, 1, 2, 255, 128, 0, 3}, truth[] = {0, 1, 1, 1, 1, 0, 1};
    const uint8_t untruth[] = {1, 0, 0, 0, 0, 1, 0};
    const float numbers[] = {2, 1, 1, 1, 1, 2, 1};
    const int64_t sum = 5;
    WEFT_AUTO weft_array *m = from(bytes, sizeof bytes, WEFT_SHAPE(7), WEFT_BOOL);
    CHECK(m);
    WEFT_AUTO weft_array *both = weft_new(m & m, m), *copied = weft_copy(m);
    WEFT_AUTO weft_array *not_m = weft_new(!m, m), *number = weft_new(u8(m), m);
    WEFT_AUTO weft_array *chosen = weft_new(where(m, 1.0f, 2.0f), m), *sums = weft_new(sum(m), m);
    WEFT_AUTO weft_array *same = weft_new(m == (m | m), m);
    CHECK(holds(both, truth, 7));
    CHECK(holds(copied, bytes, 7));
    CHECK(holds(not_m, untruth, 7));
    CHECK(holds(number, truth, 7));
    CHECK(holds(chosen, numbers, sizeof numbers));
    CHECK(holds(sums, &sum, 8));
    CHECK(holds(same, (const uint8_t[]){1, 1, 1, 1, 1, 1, 1}, 7));
}

/* semantics: Types / c64, c128: the real part comes first in memory. */
TEST(complex_numbers_in_memory)
{
    const double values[] = {1, 2, -0.0, INFINITY};
    WEFT_AUTO weft_array *z = from(values, sizeof values, WEFT_SHAPE(2), WEFT_C128);
    CHECK(z);
    WEFT_AUTO weft_array *re = weft_new(real(z), z), *im = weft_new(imag(z), z);
    WEFT_AUTO weft_array *narrow = weft_new(c64(z), z);
    CHECK(holds(re, (const double[]){1, -0.0}, 16));
    CHECK(holds(im, (const double[]){2, INFINITY}, 16));
    CHECK(holds(narrow, (const float[]){1, 2, -0.0f, INFINITY}, 16));
}

#define LONG "hundreds of allocations that are all alike"
TEST_MAIN(TEST_NO_FAULTS(arithmetic_is_as_written, LONG),
          TEST_OF(the_mode_of_the_caller_changes_nothing),
          TEST_NO_FAULTS(a_computed_nan_is_canonical_and_a_copy_is_a_copy, LONG),
          TEST_OF(a_shift_with_a_constant_is_no_copy),
          TEST_OF(parts_of_complex_numbers_are_stored_apart),
          TEST_NO_FAULTS(a_nan_has_no_sign, LONG), TEST_OF(bools_in_memory),
          TEST_OF(complex_numbers_in_memory));
