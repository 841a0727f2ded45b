/* Cumulative sums and products: the exact order, from plain loops; layouts, outputs, bad input.
 * semantics: Cumulative sums and products */
#include "support/arrays.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { MOST = 5000 };
static const int64_t sizes[] = {1,   2,   15,  16,  17,   32,   33,  255,
                                256, 257, 272, 273, 4096, 4113, MOST};

/* docs/semantics.md, for one C type: blocks of 16, their totals in the same way. */
#define ORDER(type, combine)                                                                       \
    static void order_##type##_##combine(const type *x, type *r, int64_t n)                        \
    {                                                                                              \
        const int64_t blocks = (n + 15) / 16;                                                      \
        type totals[MOST / 16 + 1], before[MOST / 16 + 1];                                         \
        for (int64_t b = 0; b + 1 < blocks; b++) {                                                 \
            totals[b] = x[16 * b];                                                                 \
            for (int64_t k = 1; k < 16; k++)                                                       \
                totals[b] = combine(totals[b], x[16 * b + k]);                                     \
        }                                                                                          \
        if (blocks > 1)                                                                            \
            order_##type##_##combine(totals, before, blocks - 1);                                  \
        for (int64_t b = 0; b < blocks; b++) {                                                     \
            type run = x[16 * b];                                                                  \
            for (int64_t i = 16 * b; i < n && i < 16 * b + 16; i++) {                              \
                run = i % 16 ? combine(run, x[i]) : x[i];                                          \
                r[i] = b ? combine(before[b - 1], run) : run;                                      \
            }                                                                                      \
        }                                                                                          \
    }
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
typedef float _Complex complex_float;
static complex_float product_of(complex_float a, complex_float b)
{
    const float re = crealf(a) * crealf(b), im = crealf(a) * cimagf(b);
    const float parts[2] = {re - cimagf(a) * cimagf(b), im + cimagf(a) * crealf(b)};
    complex_float z;
    memcpy(&z, parts, sizeof z);
    return z;
}
ORDER(float, SUM)
ORDER(double, SUM)
ORDER(double, PROD)
ORDER(complex_float, SUM)
ORDER(complex_float, product_of)

/* Between 0.5 and 1.5, so that products stay in range. */
static double number(int64_t i) { return 1 + 0.5 * sin((double)i * 1.37 + 0.1); }

TEST(X6_order_of_floats)
{
    static float x[MOST], r[MOST];
    static double wide[MOST], wide_r[MOST];
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        const int64_t n = sizes[c];
        for (int64_t i = 0; i < n; i++) {
            wide[i] = number(i);
            x[i] = (float)wide[i];
        }
        WEFT_AUTO weft_array *a =
            weft_from_host(x, (size_t)n * 4, WEFT_SHAPE(n), .device = device());
        WEFT_AUTO weft_array *b = weft_from_host(wide, (size_t)n * 8, WEFT_SHAPE(n),
                                                 .dtype = WEFT_F64, .device = device());
        CHECK(a && b);
        WEFT_AUTO weft_array *sum = weft_cumulative_sum(a, 0),
                             *wide_sum = weft_cumulative_sum(b, 0);
        WEFT_AUTO weft_array *product = weft_cumulative_prod(b, -1);
        order_float_SUM(x, r, n);
        CHECK(holds(sum, r, (size_t)n * 4));
        order_double_SUM(wide, wide_r, n);
        CHECK(holds(wide_sum, wide_r, (size_t)n * 8));
        order_double_PROD(wide, wide_r, n);
        CHECK(holds(product, wide_r, (size_t)n * 8));
    }
}

TEST(X6_order_of_complex_numbers)
{
    static complex_float x[MOST], r[MOST];
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        const int64_t n = sizes[c];
        for (int64_t i = 0; i < n; i++) {
            const float parts[2] = {(float)cos(number(i)), (float)sin(number(i))};
            memcpy(&x[i], parts, sizeof x[i]);
        }
        WEFT_AUTO weft_array *a =
            weft_from_host(x, (size_t)n * 8, WEFT_SHAPE(n), .dtype = WEFT_C64, .device = device());
        CHECK(a);
        WEFT_AUTO weft_array *sum = weft_cumulative_sum(a, 0),
                             *product = weft_cumulative_prod(a, 0);
        order_complex_float_SUM(x, r, n);
        CHECK(holds(sum, r, (size_t)n * 8));
        order_complex_float_product_of(x, r, n);
        CHECK(holds(product, r, (size_t)n * 8));
    }
}

/* Sums of halves are kept in f32 and rounded once. */
TEST(X6_order_of_halves)
{
    static float x[MOST], r[MOST];
    for (int k = 0; k < 2; k++) {
        const weft_dtype dtype = k ? WEFT_BF16 : WEFT_F16;
        for (int64_t i = 0; i < MOST; i++)
            x[i] = (float)((i * 37) % 19) / 64;
        order_float_SUM(x, r, MOST);
        WEFT_AUTO weft_array *f32 =
            weft_from_host(x, sizeof x, WEFT_SHAPE(MOST), .device = device());
        WEFT_AUTO weft_array *a = weft_cast(f32, dtype);
        WEFT_AUTO weft_array *expected =
            weft_from_host(r, sizeof r, WEFT_SHAPE(MOST), .device = device());
        WEFT_AUTO weft_array *sum = weft_cumulative_sum(a, 0),
                             *rounded = weft_cast(expected, dtype);
        CHECK(sum && rounded);
        static uint16_t bits[MOST];
        CHECK_STATUS(weft_copy_to_host(rounded, bits, sizeof bits), WEFT_OK);
        CHECK(holds(sum, bits, sizeof bits));
        CHECK_INT(weft_array_dtype(sum), dtype);
    }
}

TEST(X2_integers_widen)
{
    static const weft_dtype dtypes[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64,
                                        WEFT_U8,   WEFT_U16, WEFT_U32, WEFT_U64};
    static int64_t x[MOST], r[MOST], p[MOST];
    for (int d = 0; d < 9; d++) {
        const bool is_unsigned = dtypes[d] >= WEFT_U8;
        uint64_t sum = 0, product = 1;
        for (int i = 0; i < MOST; i++) {
            x[i] = dtypes[d] == WEFT_BOOL ? i % 3 != 0 : is_unsigned ? i % 11 + 1 : i % 11 - 7;
            r[i] = (int64_t)(sum += (uint64_t)x[i]);
            p[i] = (int64_t)(product *= (uint64_t)x[i]);
        }
        WEFT_AUTO weft_array *i64 =
            weft_from_host(x, sizeof x, WEFT_SHAPE(MOST), .dtype = WEFT_I64, .device = device());
        WEFT_AUTO weft_array *a = weft_cast(i64, dtypes[d]);
        CHECK(a);
        WEFT_AUTO weft_array *sums = weft_cumulative_sum(a, 0),
                             *products = weft_cumulative_prod(a, 0);
        CHECK(holds(sums, r, sizeof r));
        CHECK(holds(products, p, sizeof p));
        CHECK_INT(weft_array_dtype(sums), is_unsigned ? WEFT_U64 : WEFT_I64);
    }
}

/* Every axis of an array in every layout, against the dense one along each line. */
TEST(X6_axes_and_layouts)
{
    enum { A = 3, B = 35, C = 21, ALL = A * B * C };
    static const int64_t size[] = {A, B, C}, step[] = {B * C, C, 1};
    static float x[ALL], expected[ALL], line[B], summed[B];
    for (int i = 0; i < ALL; i++)
        x[i] = (float)number(i);
    WEFT_AUTO weft_array *dense =
        weft_from_host(x, sizeof x, WEFT_SHAPE(A, B, C), .device = device());
    CHECK(dense);
    for (int axis = 0; axis < 3; axis++) {
        for (int64_t i = 0; i < ALL; i++) {
            if (i / step[axis] % size[axis])
                continue;
            for (int64_t k = 0; k < size[axis]; k++)
                line[k] = x[i + k * step[axis]];
            order_float_SUM(line, summed, size[axis]);
            for (int64_t k = 0; k < size[axis]; k++)
                expected[i + k * step[axis]] = summed[k];
        }
        for (int layout = 0; layout < LAYOUTS; layout++) {
            WEFT_AUTO weft_array *a = laid_out(dense, layout);
            CHECK(a);
            WEFT_AUTO weft_array *sum = weft_cumulative_sum(a, axis - 3);
            CHECK(holds(sum, expected, sizeof expected));
            WEFT_AUTO weft_array *own = weft_copy(a), *view = laid_out(own, layout ? layout : 1);
            CHECK(own && view);
            WEFT_AUTO weft_array *in_place = weft_cumulative_sum(view, axis, .out = view);
            CHECK(in_place == view);
            CHECK(holds(view, expected, sizeof expected));
        }
    }
}

TEST(X6_outputs)
{
    enum { N = 100 };
    static double x[N], r[N + 1], over[N + 1];
    for (int i = 0; i < N; i++)
        x[i] = number(i);
    order_double_SUM(x, r + 1, N);
    WEFT_AUTO weft_array *a =
        weft_from_host(x, sizeof x, WEFT_SHAPE(N), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *handle = weft_handle(.dtype = WEFT_F64, .device = device());
    CHECK(a && handle);
    WEFT_AUTO weft_array *whole = weft_cumulative_sum(a, 0, .include_initial = true);
    CHECK(holds(whole, r, sizeof r));
    WEFT_AUTO weft_array *into = weft_cumulative_sum(a, 0, .out = handle);
    CHECK(into == handle);
    CHECK(holds(handle, r + 1, sizeof x));
    /* an output that begins in the middle of its input, and one that has one element more */
    memcpy(over + 1, x, sizeof x);
    WEFT_AUTO weft_array *memory =
        weft_from_host(over, sizeof over, WEFT_SHAPE(N + 1), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *input = weft_slice(memory, WEFT_RANGE(1, N + 1));
    CHECK(memory && input);
    WEFT_AUTO weft_array *shifted =
        weft_cumulative_sum(input, 0, .out = memory, .include_initial = true);
    CHECK(shifted == memory);
    CHECK(holds(memory, r, sizeof r));
    /* one element repeated, into another dtype of the kind */
    WEFT_AUTO weft_array *one = weft_ones(WEFT_SHAPE(1, 1), .device = device());
    WEFT_AUTO weft_array *wide = weft_broadcast(one, WEFT_SHAPE(40, 3));
    WEFT_AUTO weft_array *f64 =
        weft_zeros(WEFT_SHAPE(40, 3), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *counted = weft_cumulative_sum(wide, 0, .out = f64);
    CHECK(counted);
    double numbers[120];
    for (int i = 0; i < 120; i++)
        numbers[i] = i / 3 + 1;
    CHECK(holds(f64, numbers, sizeof numbers));
}

TEST(X2_nothing_and_initial)
{
    WEFT_AUTO weft_array *none = weft_zeros(WEFT_SHAPE(0, 4), .device = device());
    WEFT_AUTO weft_array *sums = weft_cumulative_sum(none, 0),
                         *across = weft_cumulative_sum(none, 1);
    CHECK(sums && across);
    CHECK_INT(weft_array_count(sums), 0);
    WEFT_AUTO weft_array *products = weft_cumulative_prod(none, 0, .include_initial = true);
    CHECK(holds(products, (float[]){1, 1, 1, 1}, 16));
    CHECK(weft_shape_equal(weft_array_shape(products), WEFT_SHAPE(1, 4)));
}

TEST(X2_bad_input)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    WEFT_AUTO weft_array *i = weft_zeros(WEFT_SHAPE(2, 3), .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *scalar = weft_zeros(WEFT_SCALAR, .device = device());
    WEFT_AUTO weft_array *row = weft_zeros(WEFT_SHAPE(3), .device = device());
    WEFT_AUTO weft_array *repeated = weft_broadcast(row, WEFT_SHAPE(2, 3));
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    CHECK(a && i && scalar && repeated && handle);
    CHECK_FAILS(weft_cumulative_sum(NULL, 0), WEFT_ERROR_ARGUMENT, "array");
    CHECK_FAILS(weft_cumulative_sum(handle, 0), WEFT_ERROR_ARGUMENT, "handle");
    CHECK_FAILS(weft_cumulative_sum(a, 2), WEFT_ERROR_SHAPE, "axis 2");
    CHECK_FAILS(weft_cumulative_sum(a, -3), WEFT_ERROR_SHAPE, "axis -3");
    CHECK_FAILS(weft_cumulative_prod(scalar, 0), WEFT_ERROR_SHAPE, "0 dimensions");
    CHECK_STR(weft_error_last()->operation, "weft_cumulative_prod");
    CHECK_FAILS(weft_cumulative_sum(a, 0, .out = row), WEFT_ERROR_SHAPE, "(3,)");
    CHECK_FAILS(weft_cumulative_sum(a, 0, .out = a, .include_initial = true), WEFT_ERROR_SHAPE,
                "(3, 3)");
    CHECK_FAILS(weft_cumulative_sum(a, 0, .out = i), WEFT_ERROR_DTYPE, "i64");
    CHECK_FAILS(weft_cumulative_sum(a, 0, .out = repeated), WEFT_ERROR_SHAPE, "broadcast");
}

TEST_MAIN(TEST_OF(X6_order_of_floats), TEST_OF(X6_order_of_complex_numbers),
          TEST_OF(X6_order_of_halves), TEST_OF(X2_integers_widen), TEST_OF(X6_axes_and_layouts),
          TEST_OF(X6_outputs), TEST_OF(X2_nothing_and_initial), TEST_OF(X2_bad_input));
