/* Comparing whole arrays, against plain loops with NumPy's rule. */
#include "support/check.h"
#include "support/gate.h"
#include <math.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

static weft_array *of_doubles(const double *x, int64_t n, weft_dtype dtype)
{
    WEFT_AUTO weft_array *f64 = weft_from_host(x, (size_t)n * sizeof *x, WEFT_SHAPE(n),
                                               .dtype = WEFT_F64, .device = device());
    return weft_cast(f64, dtype);
}

static bool is_close(double x, double y, double rtol, double atol, bool equal_nan)
{
    if (isnan(x) || isnan(y))
        return equal_nan && isnan(x) && isnan(y);
    if (isinf(x) || isinf(y))
        return x == y;
    return fabs(x - y) <= atol + rtol * fabs(y);
}

/* All pairs of awkward numbers, one at a time and all at once. */
TEST(X4_allclose_pairs)
{
    static const double numbers[] = {0,      -0.0,     1,         1 + 1e-9,    1 + 2e-5,
                                     -1,     1e-9,     2e-8,      1e300,       -1e300,
                                     1e-320, INFINITY, -INFINITY, (double)NAN, 1e5 + 1};
    static const struct {
        double rtol, atol;
    } tolerances[] = {{1e-5, 1e-8}, {0, 1}, {0.1, 0}, {0, INFINITY}};
    const int count = (int)(sizeof numbers / sizeof *numbers);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int t = 0; t < 4; t++)
                for (int nan_too = 0; nan_too < 2; nan_too++) {
                    const double rtol = tolerances[t].rtol, atol = tolerances[t].atol;
                    WEFT_AUTO weft_array *x = of_doubles(&numbers[i], 1, WEFT_F64);
                    WEFT_AUTO weft_array *y = of_doubles(&numbers[j], 1, WEFT_F64);
                    CHECK(x && y);
                    const bool actual =
                        t ? weft_allclose(x, y, .rtol = rtol, .atol = atol, .equal_nan = nan_too)
                          : weft_allclose(x, y, .equal_nan = nan_too);
                    CHECK_INT(actual, is_close(numbers[i], numbers[j], rtol, atol, nan_too));
                }
}

TEST(X4_allclose_one_of_many)
{
    enum { N = 5000 };
    static double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = sin(i) * 100;
        y[i] = x[i] * (1 + 5e-6);
    }
    WEFT_AUTO weft_array *a = of_doubles(x, N, WEFT_F32), *b = of_doubles(y, N, WEFT_F32);
    CHECK(a && b);
    CHECK(weft_allclose(a, b));
    CHECK(!weft_allclose(a, b, .rtol = 1e-6));
    y[4321] += 1;
    WEFT_AUTO weft_array *c = of_doubles(y, N, WEFT_F32);
    CHECK(c);
    CHECK(!weft_allclose(a, c));
    CHECK(weft_allclose(a, c, .rtol = 1e-5, .atol = 1.5));
    WEFT_AUTO weft_array *promise = weft_allclose_new(a, b), *other = weft_allclose_new(a, c);
    bool yes, no;
    CHECK(promise && other);
    CHECK_INT(weft_array_ndim(promise), 0);
    CHECK_INT(weft_array_dtype(promise), WEFT_BOOL);
    CHECK_STATUS(weft_item(promise, &yes), WEFT_OK);
    CHECK_STATUS(weft_item(other, &no), WEFT_OK);
    CHECK(yes && !no);
}

TEST(X4_types_numbers_and_shapes)
{
    static const weft_dtype dtypes[] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64,
                                        WEFT_U8,   WEFT_U16, WEFT_U32, WEFT_U64, WEFT_F16,
                                        WEFT_BF16, WEFT_F32, WEFT_F64};
    const double ones[] = {1, 1, 1}, mixed[] = {1, 0, 1};
    for (int d = 0; d < 13; d++) {
        WEFT_AUTO weft_array *a = of_doubles(ones, 3, dtypes[d]),
                             *b = of_doubles(mixed, 3, dtypes[d]);
        WEFT_AUTO weft_array *f = of_doubles(ones, 3, WEFT_F64);
        CHECK(a && b && f);
        CHECK(weft_allclose(a, a) && !weft_allclose(a, b) && weft_allclose(a, b, .atol = 1));
        CHECK(weft_allclose(a, 1) && weft_allclose(1.0000001, a) && !weft_allclose(b, 1));
        CHECK(weft_allclose(a, f) && weft_allclose(f, a));
        CHECK(weft_array_equal(a, a) && !weft_array_equal(a, b));
        WEFT_AUTO weft_array *column = weft_reshape(a, WEFT_SHAPE(3, 1));
        CHECK(column);
        CHECK(weft_allclose(column, a)); /* broadcasts */
        CHECK(!weft_array_equal(column, a));
        CHECK(!weft_array_equal(a, 1));
        WEFT_AUTO weft_array *no = weft_array_equal_new(column, a);
        WEFT_AUTO weft_array *yes = weft_array_equal_new(a, a);
        bool is_no = true, is_yes = false;
        CHECK(no && yes);
        CHECK_STATUS(weft_item(no, &is_no), WEFT_OK);
        CHECK_STATUS(weft_item(yes, &is_yes), WEFT_OK);
        CHECK(!is_no && is_yes);
    }
    CHECK(weft_allclose(INT64_MAX, INT64_MAX) && !weft_array_equal(INT64_MAX, INT64_MAX - 1));
}

/* Tolerances are not rounded to what is compared. */
TEST(X4_halves_are_compared_as_f32)
{
    static const struct {
        weft_dtype dtype;
        double x, y, atol;
        bool close;
    } cases[] = {
        {WEFT_F16, 65504, -65504, 1e5, false},   {WEFT_F16, 65504, -65504, 131008, true},
        {WEFT_BF16, 1, 1.5, 0.4999, false},      {WEFT_BF16, 1, 1.5, 0.5, true},
        {WEFT_F16, 1, 1 + 0x1p-10, 9e-4, false}, {WEFT_F16, 1, 1 + 0x1p-10, 0x1p-10, true},
        {WEFT_F16, 0, 0x1p-24, 4e-8, false},     {WEFT_F16, 0, 0x1p-24, 6e-8, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WEFT_AUTO weft_array *x = of_doubles(&cases[k].x, 1, cases[k].dtype),
                             *y = of_doubles(&cases[k].y, 1, cases[k].dtype),
                             *single = of_doubles(&cases[k].y, 1, WEFT_F32);
        CHECK(x && y && single);
        CHECK_INT(weft_allclose(x, y, .atol = cases[k].atol), cases[k].close);
        CHECK_INT(weft_allclose(y, x, .atol = cases[k].atol), cases[k].close);
        CHECK_INT(weft_allclose(x, single, .atol = cases[k].atol), cases[k].close);
        CHECK_INT(weft_allclose(x, cases[k].y, .atol = cases[k].atol), cases[k].close);
    }
}

TEST(X4_numbers_alone)
{
    weft_error_clear();
    CHECK(weft_allclose(2.0, 3.0, .atol = 1) && !weft_allclose(2.0, 3.0, .atol = 0.5));
    CHECK(weft_allclose(INFINITY, INFINITY) && weft_allclose(1.0f, 1) && weft_allclose(2, 2));
    CHECK(weft_array_equal(1, 1) && weft_array_equal(1.5, 1.5) && !weft_array_equal(1.5, 2.5));
    CHECK(weft_allclose(1, 1.0) && !weft_allclose(1, 1.5) && !weft_allclose(1.5, 1));
    CHECK(weft_array_equal(1, 1.0) && !weft_array_equal(1, 1.5) && !weft_array_equal(1.5, 1));
    CHECK(!weft_array_equal(0.1f, 0.1) && weft_array_equal(true, 1));
    CHECK(!weft_array_equal(-1, UINT64_MAX) && !weft_array_equal(UINT64_MAX, -1));
    CHECK(!weft_array_equal(INT64_MIN, UINT64_C(1) << 63) && weft_array_equal(UINT64_C(5), 5));
    CHECK(!weft_array_equal(UINT64_C(1) << 63, INT64_MIN) && weft_array_equal(5, UINT64_C(5)));
    CHECK(!weft_allclose(-1, UINT64_MAX) && !weft_allclose(UINT64_MAX, -1));
    WEFT_AUTO weft_array *byte = weft_full(WEFT_SCALAR, 99, .dtype = WEFT_U8, .device = device());
    CHECK(weft_array_equal(byte, 99) && !weft_array_equal(byte, 355) &&
          !weft_array_equal(-157, byte));
    CHECK(!weft_array_equal((double)NAN, (double)NAN));
    CHECK(weft_array_equal((double)NAN, (double)NAN, .equal_nan = true));
    CHECK_STATUS(weft_error_code(), WEFT_OK);
}

/* A number takes the dtype of the array beside it at once, wherever it stands. */
TEST(X4_numbers_beside_arrays)
{
    WEFT_AUTO weft_array *x = weft_full(WEFT_SHAPE(3), 0.1, .dtype = WEFT_F32, .device = device()),
                         *infinite = weft_full(WEFT_SHAPE(3), INFINITY, .dtype = WEFT_F32,
                                               .device = device());
    CHECK(x && infinite);
    CHECK(weft_allclose(x, 0.1, .atol = 1e-12) && weft_allclose(0.1, x, .atol = 1e-12));
    CHECK(weft_allclose(infinite, 1e300) && weft_allclose(1e300, infinite));
    CHECK(!weft_allclose(x, 1e300, .atol = INFINITY) && !weft_allclose(1e300, x, .atol = INFINITY));
    CHECK_STATUS(weft_error_code(), WEFT_OK);
}

TEST(X4_equality_is_exact)
{
    const double numbers[] = {0, 1, (double)NAN, INFINITY},
                 negative[] = {-0.0, 1, (double)NAN, INFINITY};
    WEFT_AUTO weft_array *a = of_doubles(numbers, 4, WEFT_F64),
                         *b = of_doubles(negative, 4, WEFT_F64);
    WEFT_AUTO weft_array *first = weft_slice(a, WEFT_RANGE(0, 2)),
                         *second = weft_slice(b, WEFT_RANGE(0, 2));
    WEFT_AUTO weft_array *none = weft_zeros(WEFT_SHAPE(0), .device = device());
    WEFT_AUTO weft_array *turned = weft_slice(a, WEFT_REVERSED);
    CHECK(a && b && first && second && none && turned);
    CHECK(weft_array_equal(first, second));
    CHECK(!weft_array_equal(a, b) && weft_array_equal(a, b, .equal_nan = true));
    CHECK(!weft_array_equal(a, turned, .equal_nan = true));
    CHECK(weft_array_equal(none, none) && weft_allclose(none, none));
    CHECK(!weft_array_equal(first, 1 + 1e-15));
}

/* What waits is refused where waits are forbidden; the twin is queued. */
TEST(E3_waits)
{
    AUTO_STREAM queue = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(3), .stream = queue);
    AUTO_GATE gate = GATE;
    CHECK(queue && a);
    CHECK_STATUS(hold(queue, &gate), WEFT_OK);
    weft_waits_forbid(true);
    const bool refused = weft_allclose(a, a), refused_too = weft_array_equal(a, a);
    const weft_status code = weft_error_code();
    WEFT_AUTO weft_array *promise = weft_allclose_new(a, a), *other = weft_array_equal_new(a, 1);
    weft_waits_forbid(false);
    CHECK(!refused && !refused_too);
    CHECK_INT(code, WEFT_ERROR_WAIT);
    CHECK(promise && other);
    bool yes = false, no = true;
    gate_open(&gate);
    CHECK_STATUS(weft_item(promise, &yes), WEFT_OK);
    CHECK_STATUS(weft_item(other, &no), WEFT_OK);
    CHECK(yes && !no);
}

TEST(X4_bad_input)
{
    const double ones[] = {1, 1, 1};
    weft_array *missing = NULL;
    WEFT_AUTO weft_array *a = of_doubles(ones, 3, WEFT_F32), *b = of_doubles(ones, 2, WEFT_F32);
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    CHECK(a && b && handle);
    weft_error_clear();
    CHECK(!weft_allclose(a, missing));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "y");
    weft_error_clear();
    CHECK(!weft_array_equal(missing, a));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "x");
    CHECK(!weft_allclose(handle, a));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "handle");
    CHECK(!weft_allclose(a, b));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(2,)");
    CHECK(!weft_allclose(a, a, .rtol = -1));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "rtol is -1");
    CHECK(!weft_allclose_new(a, a, .atol = (double)NAN));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "atol");
    CHECK_STR(weft_error_last()->operation, "weft_allclose_new");
    CHECK(!weft_array_equal(a, a, .atol = 1));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_allclose");
}

TEST_MAIN(TEST_OF(X4_allclose_pairs), TEST_OF(X4_allclose_one_of_many),
          TEST_OF(X4_types_numbers_and_shapes), TEST_OF(X4_halves_are_compared_as_f32),
          TEST_OF(X4_numbers_alone), TEST_OF(X4_numbers_beside_arrays),
          TEST_OF(X4_equality_is_exact), TEST_OF(E3_waits), TEST_OF(X4_bad_input));
