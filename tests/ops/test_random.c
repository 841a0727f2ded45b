/* Random arrays: the exact numbers, from a generator in plain C. test_random_use.c has the rest. */
#include "support/check.h"
#include "support/philox.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* The vectors that are published with Random123. */
TEST(A4_reference_has_the_published_values)
{
    static const struct {
        uint64_t key, call, block;
        uint32_t words[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x0370734413198a2e),
         UINT64_C(0x85a308d3243f6a88),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t words[4];
        philox(known[k].key, known[k].call, known[k].block, words);
        CHECK_BITS(words, known[k].words, sizeof words);
        /* elements of u64 are a block each, and all of them its upper half */
        weft_random random = {known[k].key, known[k].call, known[k].block};
        WEFT_AUTO weft_array *a = weft_random_integers(0, 0x1p64, WEFT_SHAPE(1), .dtype = WEFT_U64,
                                                       .device = device(), .random = &random);
        CHECK(a);
        const uint64_t expected = philox_joined(known[k].words + 2);
        uint64_t actual;
        CHECK_STATUS(weft_copy_to_host(a, &actual, sizeof actual), WEFT_OK);
        CHECK_BITS(&actual, &expected, sizeof actual);
    }
}

/* Places where something changes: runs, groups of runs, and halves of counters. */
static const uint64_t offsets[] = {0,
                                   1,
                                   1024,
                                   777,
                                   (UINT64_C(1) << 31) - 100,
                                   (UINT64_C(1) << 33) - 50,
                                   (UINT64_C(1) << 34) - 300,
                                   (UINT64_C(1) << 40) + 1024};
static const int64_t counts[] = {1, 3, 255, 256, 257, 1024, 1500, 5000};

enum { CASES = 8, MOST = 5000 };

static float f32_uniform(uint64_t seed, uint64_t call, uint64_t d, float low, float high)
{
    uint32_t words[4];
    int plane;
    philox_draw(seed, call, d, 4, &plane, words);
    const float u = (float)(words[plane] >> 8) * 0x1p-24f, x = fmaf(u, high - low, low);
    return x < high ? x : nextafterf(high, low);
}

static double f64_uniform(uint64_t seed, uint64_t call, uint64_t d, double low, double high)
{
    uint32_t words[4];
    int plane;
    philox_draw(seed, call, d, 2, &plane, words);
    const double u = (double)(philox_joined(words + 2 * plane) >> 11) * 0x1p-53;
    const double x = fma(u, high - low, low);
    return x < high ? x : nextafter(high, low);
}

/* semantics: Random numbers / uniform; Random numbers / uniform, f32 f16 bf16 c64 */
TEST(X6_uniform_f32)
{
    float actual[MOST], expected[MOST];
    for (int c = 0; c < CASES; c++) {
        weft_random random = {UINT64_C(0x1234567890abcdef) * (uint64_t)c, (uint64_t)c, offsets[c]};
        const uint64_t seed = random.seed;
        WEFT_AUTO weft_array *a = weft_random_uniform(-3, 2.5, WEFT_SHAPE(counts[c]),
                                                      .device = device(), .random = &random);
        CHECK(a);
        CHECK_INT(random.call, c + 1);
        for (int64_t i = 0; i < counts[c]; i++)
            expected[i] = f32_uniform(seed, (uint64_t)c, offsets[c] + (uint64_t)i, -3.0f, 2.5f);
        CHECK_STATUS(weft_copy_to_host(a, actual, (size_t)counts[c] * 4), WEFT_OK);
        CHECK_BITS(actual, expected, counts[c] * 4);
    }
}

/* Doubles, and complex numbers as twice as many parts.
 * semantics: Random numbers / uniform, f64 c128 */
TEST(X6_uniform_f64_and_complex)
{
    static double actual[2 * MOST], expected[2 * MOST];
    static float narrow[2 * MOST], expected_narrow[2 * MOST];
    for (int c = 0; c < CASES; c++) {
        const int64_t n = counts[c];
        const uint64_t call = UINT64_MAX - 2, o = offsets[c];
        weft_random random = {42, call, o};
        WEFT_AUTO weft_array *f64 = weft_random_uniform(0, 7, WEFT_SHAPE(n), .dtype = WEFT_F64,
                                                        .device = device(), .random = &random);
        WEFT_AUTO weft_array *c128 = weft_random_uniform(0, 7, WEFT_SHAPE(n), .dtype = WEFT_C128,
                                                         .device = device(), .random = &random);
        WEFT_AUTO weft_array *c64 = weft_random_uniform(0, 7, WEFT_SHAPE(n), .dtype = WEFT_C64,
                                                        .device = device(), .random = &random);
        CHECK(f64 && c128 && c64);
        CHECK_INT(random.call, 0);
        for (uint64_t i = 0; i < 2 * (uint64_t)n; i++)
            expected[i] = f64_uniform(42, call, o + i, 0, 7);
        CHECK_STATUS(weft_copy_to_host(f64, actual, (size_t)n * 8), WEFT_OK);
        CHECK_BITS(actual, expected, n * 8);
        for (uint64_t i = 0; i < 2 * (uint64_t)n; i++) {
            expected[i] = f64_uniform(42, call + 1, 2 * o + i, 0, 7);
            expected_narrow[i] = f32_uniform(42, call + 2, 2 * o + i, 0, 7);
        }
        CHECK_STATUS(weft_copy_to_host(c128, actual, (size_t)n * 16), WEFT_OK);
        CHECK_BITS(actual, expected, n * 16);
        CHECK_STATUS(weft_copy_to_host(c64, narrow, (size_t)n * 8), WEFT_OK);
        CHECK_BITS(narrow, expected_narrow, n * 8);
    }
}

/* Ranges of which the largest number rounds to high, or whose steps are no normal numbers, and
 * others. */
TEST(X6_uniform_of_narrow_ranges)
{
    static const double ranges[][2] = {{-1, 1},          {0.5, 1.5},           {1, 1 + 0x1p-23},
                                       {1, 1 + 0x1p-21}, {-1 - 0x1p-22, -1},   {0, 0x1.8p-102},
                                       {0, 0x1p-140},    {0x1p-149, 0x1p-146}, {-0.0, 0x1.8p-103},
                                       {3, 0x1p127}};
    static float actual[MOST], expected[MOST];
    static double wide[MOST], expected_wide[MOST];
    for (size_t c = 0; c < sizeof ranges / sizeof *ranges; c++) {
        const double low = ranges[c][0], high = ranges[c][1];
        weft_random random = {c, 0, 0};
        WEFT_AUTO weft_array *f32 =
            weft_random_uniform(low, high, WEFT_SHAPE(MOST), .device = device(), .random = &random);
        WEFT_AUTO weft_array *f64 =
            weft_random_uniform(low, low + (high - low) * 0x1p-29, WEFT_SHAPE(MOST),
                                .dtype = WEFT_F64, .device = device(), .random = &random);
        CHECK(f32 && f64);
        for (int i = 0; i < MOST; i++) {
            expected[i] = f32_uniform(c, 0, (uint64_t)i, (float)low, (float)high);
            expected_wide[i] = f64_uniform(c, 1, (uint64_t)i, low, low + (high - low) * 0x1p-29);
        }
        CHECK_STATUS(weft_copy_to_host(f32, actual, sizeof actual), WEFT_OK);
        CHECK_BITS(actual, expected, sizeof actual);
        CHECK_STATUS(weft_copy_to_host(f64, wide, sizeof wide), WEFT_OK);
        CHECK_BITS(wide, expected_wide, sizeof wide);
    }
}

/* No number of 16 bits is high, either. */
TEST(X6_uniform_halves_of_narrow_ranges)
{
    static float actual[MOST];
    for (int wide = 0; wide < 2; wide++) {
        const float spacing = wide ? 0x1p-7f : 0x1p-10f;
        for (int k = 1; k < 6; k++) {
            WEFT_AUTO weft_array *a =
                weft_random_uniform(1, 1 + (double)k * (double)spacing, WEFT_SHAPE(MOST),
                                    .dtype = wide ? WEFT_BF16 : WEFT_F16, .device = device());
            WEFT_AUTO weft_array *f32 = weft_cast(a, WEFT_F32);
            CHECK(f32);
            CHECK_STATUS(weft_copy_to_host(f32, actual, sizeof actual), WEFT_OK);
            for (int i = 0; i < MOST; i++)
                CHECK(actual[i] >= 1 && actual[i] < 1 + (float)k * spacing);
        }
    }
}

/* From 0 to 1 they are exact multiples of the last place. */
TEST(X6_uniform_halves)
{
    static float actual[MOST];
    for (int wide = 0; wide < 2; wide++) {
        const int bits = wide ? 8 : 11;
        weft_random random = {5, 6, 0};
        WEFT_AUTO weft_array *a =
            weft_random_uniform(0, 1, WEFT_SHAPE(MOST), .dtype = wide ? WEFT_BF16 : WEFT_F16,
                                .device = device(), .random = &random);
        WEFT_AUTO weft_array *f32 = weft_cast(a, WEFT_F32);
        CHECK(f32);
        CHECK_STATUS(weft_copy_to_host(f32, actual, sizeof actual), WEFT_OK);
        for (int i = 0; i < MOST; i++) {
            uint32_t words[4];
            int plane;
            philox_draw(5, 6, (uint64_t)i, 4, &plane, words);
            CHECK(actual[i] == ldexpf((float)(words[plane] >> (32 - bits)), -bits));
        }
    }
}

__extension__ typedef unsigned __int128 u128;

/* The upper part of random bits times the number of values, here with all bits at once. */
static uint64_t integer(uint64_t seed, uint64_t d, bool wide, uint64_t low, uint64_t range)
{
    uint32_t words[4];
    int plane;
    philox_draw(seed, 0, d, wide ? 1 : 2, &plane, words);
    if (!wide) {
        const u128 bits = philox_joined(words + 2 * plane), count = range ? range : (u128)1 << 32;
        return low + (uint64_t)(bits * count >> 64);
    }
    const u128 first = philox_joined(words), second = philox_joined(words + 2);
    if (!range)
        return low + (uint64_t)second;
    return low + (uint64_t)((second * range + (first * range >> 64)) >> 64);
}

/* semantics: Random numbers / integers; Random numbers / i64, u64;
 * Random numbers / integers of up to 32 bits, bool */
TEST(X6_integers)
{
    static const struct {
        weft_dtype dtype;
        double low, high;
    } cases[] = {
        {WEFT_I64, -5, 7},
        {WEFT_I64, -0x1p63, 0x1p63},
        {WEFT_U64, 0, 0x1p64},
        {WEFT_U64, 0x1p63, 0x1p64},
        {WEFT_I64, -0x1p62, 0x1p62 + 0x1p61},
        {WEFT_I32, -0x1p31, 0x1p31},
        {WEFT_U32, 0, 0x1p32},
        {WEFT_I32, -1000000, 1000000},
        {WEFT_I8, -128, 128},
        {WEFT_U8, 0, 256},
        {WEFT_I16, -3, 4},
        {WEFT_U16, 65535, 65536},
        {WEFT_BOOL, 0, 2},
    };
    static char actual[MOST * 8];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t size = weft_dtype_size(cases[c].dtype);
        const int64_t n = counts[c % CASES];
        const uint64_t seed = c * UINT64_C(0x9e3779b97f4a7c15), offset = offsets[(c + 3) % CASES];
        weft_random random = {seed, 0, offset};
        WEFT_AUTO weft_array *a =
            weft_random_integers(cases[c].low, cases[c].high, WEFT_SHAPE(n),
                                 .dtype = cases[c].dtype, .device = device(), .random = &random);
        CHECK(a);
        CHECK_STATUS(weft_copy_to_host(a, actual, (size_t)n * size), WEFT_OK);
        const uint64_t low =
            cases[c].low < 0 ? 0 - (uint64_t)-cases[c].low : (uint64_t)cases[c].low;
        const double range = cases[c].high - cases[c].low;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t expected =
                integer(seed, offset + (uint64_t)i, size == 8, low,
                        range == 0x1p64 || (size < 8 && range == 0x1p32) ? 0 : (uint64_t)range);
            CHECK_BITS(actual + (size_t)i * size, &expected, size);
        }
    }
}

/* Box and Muller with the C library's functions; the distance from the origin as well. */
static double normal(uint64_t seed, uint64_t d, bool wide, double *radius)
{
    uint32_t words[4];
    int plane;
    double u, turn;
    philox_draw(seed, 0, d, wide ? 2 : 4, &plane, words);
    if (wide) {
        u = fma((double)(philox_joined(words) >> 11), 0x1p-53, 0x1p-54);
        turn = (double)(int64_t)philox_joined(words + 2) * 0x1p-64;
    } else {
        u = (double)fmaf((float)words[plane & 2], 0x1p-32f, 0x1p-33f);
        turn = (double)(int32_t)words[(plane & 2) + 1] * 0x1p-32;
    }
    const double angle = 2 * acos(-1) * turn;
    *radius = sqrt(-2 * log(u));
    return *radius * (plane & 1 ? sin(angle) : cos(angle));
}

/* semantics: Random numbers / normal; Random numbers / normal, f64 c128 */
TEST(X6_normal)
{
    static double actual[MOST];
    for (int c = 0; c < 2 * CASES; c++) {
        const bool wide = c >= CASES;
        const int64_t n = counts[c % CASES];
        const uint64_t offset = offsets[c % CASES];
        weft_random random = {99, 0, offset};
        WEFT_AUTO weft_array *a =
            weft_random_normal(10, 3, WEFT_SHAPE(n), .dtype = wide ? WEFT_F64 : WEFT_F32,
                               .device = device(), .random = &random);
        WEFT_AUTO weft_array *f64 = weft_cast(a, WEFT_F64);
        CHECK(f64);
        CHECK_STATUS(weft_copy_to_host(f64, actual, (size_t)n * 8), WEFT_OK);
        const double last_place = wide ? DBL_EPSILON : (double)FLT_EPSILON;
        for (int64_t i = 0; i < n; i++) {
            double radius;
            const double expected = 10 + 3 * normal(99, offset + (uint64_t)i, wide, &radius);
            CHECK(fabs(actual[i] - expected) <= last_place * (fabs(expected) + 3 * 3 * radius));
        }
    }
}

/* The same draws in another dtype: f16 and bf16 are the f32 ones, rounded; the parts of complex
 * numbers are draws of f32 or f64, two by two.
 * semantics: Random numbers / normal, f32 f16 bf16 c64 */
TEST(X6_normal_in_other_dtypes)
{
    static const struct {
        weft_dtype dtype, drawn;
    } cases[] = {
        {WEFT_F16, WEFT_F32}, {WEFT_BF16, WEFT_F32}, {WEFT_C64, WEFT_F32}, {WEFT_C128, WEFT_F64}};
    static char actual[MOST * 16], expected[MOST * 16];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const bool pairs = cases[c].dtype >= WEFT_C64;
        const int64_t n = MOST / 2, draws = pairs ? 2 * n : n;
        weft_random random = {3, 4, 100}, drawn = {3, 4, pairs ? 200 : 100};
        WEFT_AUTO weft_array *a = weft_random_normal(-2, 5, WEFT_SHAPE(n), .dtype = cases[c].dtype,
                                                     .device = device(), .random = &random);
        WEFT_AUTO weft_array *plain =
            weft_random_normal(-2, 5, WEFT_SHAPE(draws), .dtype = cases[c].drawn,
                               .device = device(), .random = &drawn);
        WEFT_AUTO weft_array *rounded = weft_cast(plain, pairs ? cases[c].drawn : cases[c].dtype);
        CHECK(a && rounded);
        const size_t bytes = weft_array_bytes(a);
        CHECK_INT(weft_array_bytes(rounded), bytes);
        CHECK_STATUS(weft_copy_to_host(a, actual, bytes), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(rounded, expected, bytes), WEFT_OK);
        CHECK_BITS(actual, expected, bytes);
    }
}

/* Where high - low is too large: 2u times half of it. */
TEST(X6_uniform_over_the_whole_range)
{
    static float actual[MOST];
    const float low = -0x1.fffffep127f, high = 0x1.fffffcp127f;
    weft_random random = {8, 9, 0};
    WEFT_AUTO weft_array *a = weft_random_uniform((double)low, (double)high, WEFT_SHAPE(MOST),
                                                  .device = device(), .random = &random);
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, actual, sizeof actual), WEFT_OK);
    for (int i = 0; i < MOST; i++) {
        uint32_t words[4];
        int plane;
        philox_draw(8, 9, (uint64_t)i, 4, &plane, words);
        const float u = (float)(words[plane] >> 8) * 0x1p-24f;
        const float x = fmaf(2 * u, high / 2 - low / 2, low);
        CHECK(actual[i] == (x < high ? x : nextafterf(high, low)));
    }
}

TEST_MAIN(TEST_OF(A4_reference_has_the_published_values), TEST_OF(X6_uniform_f32),
          TEST_OF(X6_uniform_f64_and_complex), TEST_OF(X6_uniform_halves),
          TEST_OF(X6_uniform_of_narrow_ranges), TEST_OF(X6_uniform_halves_of_narrow_ranges),
          TEST_OF(X6_integers), TEST_OF(X6_normal), TEST_OF(X6_normal_in_other_dtypes),
          TEST_OF(X6_uniform_over_the_whole_range));
