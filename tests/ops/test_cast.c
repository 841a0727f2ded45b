/* Conversions: any dtype to any other, compared bit by bit with a scalar reference. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

#include "support/record.h"
#include "support/reference.h"

static weft_device device(void) { return weft_device_named(test_device()); }

static bool test_failed(void) { return test_record_failure() != NULL; }

enum { NUMBERS = 3000 };

static void check_cast(weft_dtype to, weft_dtype from, int64_t count)
{
    static char source[16 * NUMBERS], expected[16 * NUMBERS], read[16 * NUMBERS];
    uint64_t state = (uint64_t)to * 100 + (uint64_t)from;
    size_t bytes = (size_t)count * weft_dtype_size(from);
    hard_elements(from, source, count, &state);
    reference_convert_all(to, expected, from, source, count);
    WEFT_AUTO weft_array *a =
        weft_from_host(source, bytes, WEFT_SHAPE(count), .dtype = from, .device = device());
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_cast(a, to);
    CHECK(b);
    CHECK_INT(weft_array_dtype(b), to);
    CHECK_STATUS(weft_copy_to_host(b, read, weft_array_bytes(b)), WEFT_OK);
    CHECK_BITS(read, expected, weft_array_bytes(b));
}

TEST(A2_cast_any_dtype_to_any)
{
    for (int to = WEFT_BOOL; to < WEFT_DTYPE_END; to++)
        for (int from = WEFT_BOOL; from < WEFT_DTYPE_END; from++) {
            if (test_quick() && (to + from) % 4 != 0)
                continue;
            check_cast((weft_dtype)to, (weft_dtype)from, NUMBERS);
            if (test_failed()) {
                printf("from %s to %s\n", weft_dtype_name((weft_dtype)from),
                       weft_dtype_name((weft_dtype)to));
                return;
            }
        }
}

/* The same with few elements and dtypes, for the runs in which allocations fail. */
TEST(A2_cast_a_few)
{
    check_cast(WEFT_F16, WEFT_F64, 5);
    check_cast(WEFT_C64, WEFT_I64, 7);
    check_cast(WEFT_U8, WEFT_C128, 1);
    check_cast(WEFT_BOOL, WEFT_BF16, 3);
}

/* All 65536 of a narrow float, to every dtype and back through f32. */
TEST(A2_cast_every_narrow_float)
{
    enum { ALL = 65536 };
    static uint16_t source[ALL];
    static char expected[16 * ALL], read[16 * ALL];
    for (int k = 0; k < ALL; k++)
        source[k] = (uint16_t)k;
    for (int from = WEFT_F16; from <= WEFT_BF16; from++) {
        WEFT_AUTO weft_array *a = weft_from_host(source, sizeof source, WEFT_SHAPE(ALL),
                                                 .dtype = (weft_dtype)from, .device = device());
        CHECK(a);
        for (int to = WEFT_BOOL; to < WEFT_DTYPE_END; to++) {
            WEFT_AUTO weft_array *b = weft_cast(a, (weft_dtype)to);
            CHECK(b);
            reference_convert_all((weft_dtype)to, expected, (weft_dtype)from, source, ALL);
            CHECK_STATUS(weft_copy_to_host(b, read, weft_array_bytes(b)), WEFT_OK);
            CHECK_BITS(read, expected, weft_array_bytes(b));
        }
    }
}

/* Where rounding first to f32 (or f64) and then to the narrow type gives another number. */
TEST(A2_cast_rounds_once)
{
    static const double numbers[] = {
        0x1.002p0,           /* a tie of f16: to even, down */
        0x1.0020000000001p0, /* just above it, but f32 has no bit for that: up */
        0x1.001ffffffffffp0, /* just below: down */
        0x1.006p0,           /* a tie: up */
        0x1.0060000000001p0,
        0x1.005ffffffffffp0,
        0x1.01p0, /* a tie of bf16 */
        0x1.0100000000001p0,
        0x1.00fffffffffffp0,
        65519.99999999999, /* below the tie with infinity: 65504 */
        65520.0,           /* infinity */
        0x1p-25,
        0x1.0000000000001p-25,
        0x1.8p-25,
        0x1.3ffffffffffffp-24,
        0x1p-134,
        0x1.0000000000001p-134,
        0x1.fffffefffffffp127,
        0x1.ffffff0000000p127,
        0x1.fefffffffffffp127,
        0x1.ffp127,
        1e-320,
        -1e-320,
        1.7e308};
    static const uint16_t as_f16[] = {0x3c00, 0x3c01, 0x3c00, 0x3c02, 0x3c02, 0x3c01,
                                      0x3c04, 0x3c04, 0x3c04, 0x7bff, 0x7c00, 0,
                                      0x0001, 0x0001, 0x0001, 0,      0,      0x7c00,
                                      0x7c00, 0x7c00, 0x7c00, 0,      0x8000, 0x7c00};
    static const uint16_t as_bf16[] = {0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x3f80,
                                       0x3f80, 0x3f81, 0x3f80, 0x4780, 0x4780, 0x3300,
                                       0x3300, 0x3340, 0x33a0, 0x0000, 0x0001, 0x7f80,
                                       0x7f80, 0x7f7f, 0x7f80, 0,      0x8000, 0x7f80};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    uint16_t read[COUNT];
    WEFT_AUTO weft_array *a = weft_from_host(numbers, sizeof numbers, WEFT_SHAPE(COUNT),
                                             .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *half = weft_cast(a, WEFT_F16);
    WEFT_AUTO weft_array *brain = weft_cast(a, WEFT_BF16);
    CHECK(a && half && brain);
    CHECK_STATUS(weft_copy_to_host(half, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_f16, sizeof read);
    CHECK_STATUS(weft_copy_to_host(brain, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_bf16, sizeof read);
}

TEST(A2_integers_round_once)
{
    /* 2^k plus a half of the last place, plus 1: through f64 or f32 the 1 is lost */
    static const int64_t numbers[] = {2049,
                                      2051,
                                      16777217,
                                      INT64_C(0x8080000000000) + 1,
                                      INT64_C(0x4040000000000001),
                                      INT64_C(0x4040000000000000),
                                      -INT64_C(0x4040000000000001),
                                      INT64_C(0x4000004000000001),
                                      INT64_C(0x4000004000000000),
                                      -INT64_C(0x4000004000000001),
                                      INT64_MAX,
                                      INT64_MIN,
                                      65519,
                                      65520,
                                      -65520};
    static const uint16_t as_f16[] = {0x6800, 0x6802, 0x7c00, 0x7c00, 0x7c00,
                                      0x7c00, 0xfc00, 0x7c00, 0x7c00, 0xfc00,
                                      0x7c00, 0xfc00, 0x7bff, 0x7c00, 0xfc00};
    static const uint16_t as_bf16[] = {0x4500, 0x4500, 0x4b80, 0x5901, 0x5e81,
                                       0x5e80, 0xde81, 0x5e80, 0x5e80, 0xde80,
                                       0x5f00, 0xdf00, 0x4780, 0x4780, 0xc780};
    static const uint32_t as_f32[] = {0x45001000, 0x45003000, 0x4b800000, 0x59008000, 0x5e808000,
                                      0x5e808000, 0xde808000, 0x5e800001, 0x5e800000, 0xde800001,
                                      0x5f000000, 0xdf000000, 0x477fef00, 0x477ff000, 0xc77ff000};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    uint16_t read[COUNT];
    uint32_t wide[COUNT];
    WEFT_AUTO weft_array *a = weft_from_host(numbers, sizeof numbers, WEFT_SHAPE(COUNT),
                                             .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *half = weft_cast(a, WEFT_F16);
    WEFT_AUTO weft_array *brain = weft_cast(a, WEFT_BF16);
    WEFT_AUTO weft_array *single = weft_cast(a, WEFT_F32);
    CHECK(a && half && brain && single);
    CHECK_STATUS(weft_copy_to_host(half, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_f16, sizeof read);
    CHECK_STATUS(weft_copy_to_host(brain, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_bf16, sizeof read);
    CHECK_STATUS(weft_copy_to_host(single, wide, sizeof wide), WEFT_OK);
    CHECK_BITS(wide, as_f32, sizeof wide);
}

TEST(A2_floats_saturate_to_integers)
{
    const double numbers[] = {
        127.9,       128,  -128.9, -129, 255.9, 256, -0.9, -1, (double)INFINITY, -(double)INFINITY,
        (double)NAN, 1e300};
    static const int8_t as_i8[] = {127, 127, -128, -128, 127, 127, 0, -1, 127, -128, 0, 127};
    static const uint8_t as_u8[] = {127, 128, 0, 0, 255, 255, 0, 0, 255, 0, 0, 255};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    int8_t read[COUNT];
    bool truth[COUNT];
    WEFT_AUTO weft_array *a = weft_from_host(numbers, sizeof numbers, WEFT_SHAPE(COUNT),
                                             .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *i8 = weft_cast(a, WEFT_I8);
    WEFT_AUTO weft_array *u8 = weft_cast(a, WEFT_U8);
    WEFT_AUTO weft_array *b = weft_cast(a, WEFT_BOOL);
    CHECK(i8 && u8 && b);
    CHECK_STATUS(weft_copy_to_host(i8, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_i8, sizeof read);
    CHECK_STATUS(weft_copy_to_host(u8, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, as_u8, sizeof read);
    CHECK_STATUS(weft_copy_to_host(b, truth, sizeof truth), WEFT_OK);
    for (int k = 0; k < COUNT; k++)
        CHECK(truth[k]); /* NaN too */
}

/* A copy moves bytes: payloads of NaNs, and bytes of a bool that are neither 0 nor 1. */
TEST(A2_copy_keeps_every_bit)
{
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++) {
        unsigned char host[16 * 9], read[16 * 9], expected[16 * 9];
        size_t size = weft_dtype_size((weft_dtype)dtype);
        uint64_t state = 7;
        for (size_t i = 0; i < sizeof host; i++)
            host[i] = (unsigned char)(i % 3 ? random_bits(&state) : 0xff);
        WEFT_AUTO weft_array *a = weft_from_host(host, 9 * size, WEFT_SHAPE(9),
                                                 .dtype = (weft_dtype)dtype, .device = device());
        WEFT_AUTO weft_array *reversed = weft_slice(a, WEFT_REVERSED);
        WEFT_AUTO weft_array *b = weft_copy(reversed);
        CHECK(a && b);
        for (size_t k = 0; k < 9; k++)
            memcpy(expected + k * size, host + (8 - k) * size, size);
        CHECK_STATUS(weft_copy_to_host(b, read, 9 * size), WEFT_OK);
        CHECK_BITS(read, expected, 9 * size);
    }
}

TEST_MAIN(TEST_NO_FAULTS(A2_cast_any_dtype_to_any, "A2_cast_a_few is for that"),
          TEST_OF(A2_cast_a_few),
          TEST_NO_FAULTS(A2_cast_every_narrow_float, "A2_cast_a_few is for that"),
          TEST_OF(A2_cast_rounds_once), TEST_OF(A2_integers_round_once),
          TEST_OF(A2_floats_saturate_to_integers), TEST_OF(A2_copy_keeps_every_bit));
