/* Powers and counts of integers, and the neighbours of f16 and bf16, against plain C. */
#include "math/expand.h"
#include "math/halves.h"
#include "math/samples.h"
#include "support/check.h"

#include <stdio.h>

typedef int32_t (*expansion)(weft__builder *, weft_dtype, int32_t, int32_t);

static int32_t popcount(weft__builder *builder, weft_dtype dtype, int32_t x, int32_t y)
{
    (void)y;
    return weft__math_popcount(builder, dtype, x);
}

static weft_status begin(expanded *at, expansion expand, weft_dtype dtype)
{
    weft__builder builder;
    weft__build_begin(&builder);
    builder.kernel.ndim = 1;
    const weft__element x = weft__build_load(&builder, weft__build_operand(&builder, dtype, false));
    const weft__element y = weft__build_load(&builder, weft__build_operand(&builder, dtype, false));
    const int32_t value = expand(&builder, dtype, x.part[0], y.part[0]);
    weft__build_store(&builder, weft__build_operand(&builder, dtype, true),
                      (weft__element){.part = {value}, .dtype = dtype});
    return expand_finish(at, &builder, 2, dtype, dtype);
}

enum { COUNT = 2000 };

static bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

/* The low bits of x as a number of the dtype. */
static int64_t narrowed(uint64_t x, weft_dtype dtype)
{
    const int unused = 64 - 8 * (int)weft_dtype_size(dtype);
    x <<= unused;
    return is_signed(dtype) ? (int64_t)x >> unused : (int64_t)(x >> unused);
}

/* x multiplied y times, by the bits of y. */
static uint64_t power(uint64_t x, uint64_t y)
{
    uint64_t result = 1;
    for (; y > 0; y >>= 1, x *= x)
        result = y & 1 ? result * x : result;
    return result;
}

static int64_t expected_power(int64_t x, int64_t y, weft_dtype dtype)
{
    if (!is_signed(dtype) || y >= 0)
        return narrowed(power((uint64_t)x, (uint64_t)y), dtype);
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
}

static int64_t expected_count(int64_t x, int64_t y, weft_dtype dtype)
{
    (void)y;
    uint64_t bits = (uint64_t)x << (64 - 8 * (int)weft_dtype_size(dtype));
    int64_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* Small numbers, and any. */
static uint64_t some_integer(void)
{
    const uint64_t bits = random_bits();
    return bits & 1 ? (bits >> 8) % 140 - 6 : random_bits() >> (bits >> 1 & 63);
}

static void check_integers(expansion expand,
                           int64_t (*expected)(int64_t x, int64_t y, weft_dtype dtype))
{
    static uint64_t x[COUNT], y[COUNT], result[COUNT];
    for (int dtype = WEFT_I8; dtype <= WEFT_U64; dtype++) {
        const size_t size = weft_dtype_size((weft_dtype)dtype);
        expanded at;
        CHECK_STATUS(begin(&at, expand, (weft_dtype)dtype), WEFT_OK);
        for (int k = 0; k < COUNT; k++) {
            const uint64_t a = some_integer(), b = some_integer();
            memcpy((char *)x + size * (size_t)k, &a, size);
            memcpy((char *)y + size * (size_t)k, &b, size);
        }
        expand_run(&at, COUNT, x, y, result);
        expand_end(&at);
        for (int k = 0; k < COUNT; k++) {
            uint64_t a = 0, b = 0, got = 0;
            memcpy(&a, (char *)x + size * (size_t)k, size);
            memcpy(&b, (char *)y + size * (size_t)k, size);
            memcpy(&got, (char *)result + size * (size_t)k, size);
            CHECK_INT(narrowed(got, (weft_dtype)dtype),
                      expected(narrowed(a, (weft_dtype)dtype), narrowed(b, (weft_dtype)dtype),
                               (weft_dtype)dtype));
        }
    }
}

TEST(A4_integer_powers) { check_integers(weft__math_pow_integer, expected_power); }

TEST(A4_popcount) { check_integers(popcount, expected_count); }

/* The numbers of one sign have bits in their order. */
static uint16_t neighbour(uint16_t x, uint16_t y, weft_dtype dtype)
{
    const double from = half_value(x, dtype), to = half_value(y, dtype);
    if (isnan(from) || isnan(to))
        return dtype == WEFT_F16 ? 0x7e00 : 0x7fc0;
    if (from == to)
        return y;
    if (from == 0)
        return to < 0 ? 0x8001 : 1;
    return (uint16_t)((to > from) == (from > 0) ? x + 1 : x - 1);
}

static void check_neighbours(weft_dtype dtype)
{
    enum { ALL = 65536 };
    static uint16_t x[ALL], y[ALL], result[ALL];
    const double ends[] = {INFINITY, -INFINITY, 0};
    expanded at;
    CHECK_STATUS(begin(&at, weft__math_nextafter_narrow, dtype), WEFT_OK);
    bool good = true;
    for (int end = 0; end < 4; end++) {
        for (int k = 0; k < ALL; k++) {
            x[k] = (uint16_t)k;
            y[k] = (uint16_t)random_bits();
            if (end < 3)
                y[k] = (uint16_t)((ends[end] < 0 ? 0x8000 : 0) | (ends[end] == 0      ? 0
                                                                  : dtype == WEFT_F16 ? 0x7c00
                                                                                      : 0x7f80));
        }
        expand_run(&at, ALL, x, y, result);
        for (int k = 0; k < ALL && good; k++) {
            good = result[k] == neighbour(x[k], y[k], dtype);
            if (!good)
                fprintf(stderr, "nextafter(%04x, %04x) in %s is %04x, not %04x\n", (unsigned)x[k],
                        (unsigned)y[k], weft_dtype_name(dtype),
                        (unsigned)neighbour(x[k], y[k], dtype), (unsigned)result[k]);
        }
    }
    expand_end(&at);
    CHECK(good);
}

TEST(A4_neighbours_of_f16) { check_neighbours(WEFT_F16); }

TEST(A4_neighbours_of_bf16) { check_neighbours(WEFT_BF16); }

TEST_MAIN(TEST_OF(A4_integer_powers), TEST_OF(A4_popcount), TEST_OF(A4_neighbours_of_f16),
          TEST_OF(A4_neighbours_of_bf16));
