/* Random arrays: distributions, bounds, layouts, generators, threads and bad input. */
#include "support/arrays.h"
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double uniform_below(double x) { return x; }
static double normal_below(double x) { return erfc(-x / sqrt(2)) / 2; }

/* Kolmogorov and Smirnov: the largest distance to the distribution, times sqrt(n). Above 1.95 once
 * in a thousand. */
static double distance(double *x, int n, double (*below)(double))
{
    double most = 0;
    qsort(x, (size_t)n, sizeof *x, compare);
    for (int i = 0; i < n; i++) {
        const double p = below(x[i]);
        const double before = p - (double)i / n, after = (double)(i + 1) / n - p;
        const double larger = before > after ? before : after;
        if (larger > most)
            most = larger;
    }
    return most * sqrt(n);
}

enum { MANY = 100000 };

/* Whether the first four moments are those of the normal distribution, within 5 deviations. */
static bool has_moments(const double *x, int n)
{
    double sum[5] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 1; k <= 4; k++)
            sum[k] += pow(x[i], k) / n;
    const double root = sqrt(n);
    return fabs(sum[1]) < 5 / root && fabs(sum[2] - 1) < 5 * sqrt(2) / root &&
           fabs(sum[3]) < 5 * sqrt(15) / root && fabs(sum[4] - 3) < 5 * sqrt(96) / root;
}

TEST(A4_distributions)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F64};
    static double x[MANY];
    for (int k = 0; k < 2; k++) {
        weft_random random = {2024, 0, 0};
        WEFT_AUTO weft_array *u = weft_random_uniform(0, 1, WEFT_SHAPE(MANY), .dtype = dtypes[k],
                                                      .device = device(), .random = &random);
        WEFT_AUTO weft_array *z = weft_random_normal(0, 1, WEFT_SHAPE(MANY), .dtype = dtypes[k],
                                                     .device = device(), .random = &random);
        WEFT_AUTO weft_array *u64 = weft_cast(u, WEFT_F64), *z64 = weft_cast(z, WEFT_F64);
        CHECK(u64 && z64);
        CHECK_STATUS(weft_copy_to_host(u64, x, sizeof x), WEFT_OK);
        CHECK(distance(x, MANY, uniform_below) < 1.95);
        CHECK_STATUS(weft_copy_to_host(z64, x, sizeof x), WEFT_OK);
        CHECK(has_moments(x, MANY));
        CHECK(distance(x, MANY, normal_below) < 1.95);
    }
}

/* Neighbours, and elements that come of one block, are independent. */
TEST(A4_no_correlation)
{
    static const int lags[] = {1, 2, 3, 4, 255, 256, 257, 512, 768, 1024};
    static float z[MANY];
    weft_random random = {7, 0, 0};
    WEFT_AUTO weft_array *a =
        weft_random_normal(0, 1, WEFT_SHAPE(MANY), .device = device(), .random = &random);
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, z, sizeof z), WEFT_OK);
    for (size_t k = 0; k < sizeof lags / sizeof *lags; k++) {
        double sum = 0, squares = 0;
        const int n = MANY - lags[k];
        for (int i = 0; i < n; i++) {
            const double x = (double)z[i], y = (double)z[i + lags[k]];
            sum += x * y;
            squares += (x * x - 1) * (y * y - 1);
        }
        CHECK(fabs(sum) < 5 * sqrt(n));
        CHECK(fabs(squares) < 5 * 2 * sqrt(n));
    }
}

TEST(A4_integers_are_equally_likely)
{
    static int64_t x[MANY];
    static const int ranges[] = {2, 3, 7, 100};
    for (int k = 0; k < 4; k++) {
        double squares = 0;
        int found[100] = {0};
        const int n = ranges[k];
        weft_random random = {11, (uint64_t)k, 0};
        WEFT_AUTO weft_array *a = weft_random_integers(-3, n - 3, WEFT_SHAPE(MANY),
                                                       .device = device(), .random = &random);
        CHECK(a);
        CHECK_STATUS(weft_copy_to_host(a, x, sizeof x), WEFT_OK);
        for (int i = 0; i < MANY; i++) {
            CHECK(x[i] >= -3 && x[i] < n - 3);
            found[x[i] + 3]++;
        }
        for (int i = 0; i < n; i++)
            squares += pow(found[i] - (double)MANY / n, 2) / ((double)MANY / n);
        CHECK(squares < n - 1 + 4 * sqrt(2.0 * n)); /* chi-square */
    }
}

/* The end is never reached, however close it is. */
TEST(A4_bounds)
{
    static const struct {
        weft_dtype dtype;
        double low, high;
    } cases[] = {
        {WEFT_F32, 1, 1.0000002384185791},
        {WEFT_F32, -0x1.fffffep127, 0x1.fffffep127},
        {WEFT_F64, -DBL_MAX, DBL_MAX},
        {WEFT_F32, 0, 0x1p-149},
        {WEFT_F32, -1, 0},
        {WEFT_F32, -0x1p-149, 0x1p-149},
        {WEFT_F16, 1000, 1001},
        {WEFT_F16, -65504, 65504},
        {WEFT_BF16, 1, 2},
        {WEFT_F16, 0, 0x1p-24},
        {WEFT_F32, 1e9, 1.0000001e9},
    };
    static double x[4000];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        weft_random random = {c, 0, 0};
        WEFT_AUTO weft_array *a =
            weft_random_uniform(cases[c].low, cases[c].high, WEFT_SHAPE(4000),
                                .dtype = cases[c].dtype, .device = device(), .random = &random);
        WEFT_AUTO weft_array *f64 = weft_cast(a, WEFT_F64);
        CHECK(f64);
        CHECK_STATUS(weft_copy_to_host(f64, x, sizeof x), WEFT_OK);
        for (int i = 0; i < 4000; i++)
            CHECK(x[i] >= cases[c].low && x[i] < cases[c].high);
    }
}

/* The same bits as an array without gaps has. */
static bool same_elements(weft_array *a, weft_array *b)
{
    static char bytes[2][1 << 16];
    const size_t size = weft_array_bytes(a);
    return a && b && size == weft_array_bytes(b) && size <= sizeof bytes[0] &&
           weft_copy_to_host(a, bytes[0], size) == WEFT_OK &&
           weft_copy_to_host(b, bytes[1], size) == WEFT_OK && !memcmp(bytes[0], bytes[1], size);
}

TEST(X6_any_layout_and_parts)
{
    static const weft_dtype dtypes[] = {WEFT_F16, WEFT_F32, WEFT_F64, WEFT_C64, WEFT_C128};
    for (int k = 0; k < 5; k++) {
        weft_random random = {3, 4, 0}, again = random, part = {3, 4, 1024 + 17 * 37};
        WEFT_AUTO weft_array *dense = weft_random_normal(
            0, 1, WEFT_SHAPE(3, 31, 37), .dtype = dtypes[k], .device = device(), .random = &random);
        WEFT_AUTO weft_array *pitched =
            weft_random_normal(0, 1, WEFT_SHAPE(3, 31, 37), .dtype = dtypes[k], .device = device(),
                               .random = &again, .allocator = WEFT_ALLOCATOR_PITCHED);
        WEFT_AUTO weft_array *flat = weft_reshape(dense, WEFT_SHAPE(-1));
        CHECK(flat && pitched && same_elements(dense, pitched));
        WEFT_AUTO weft_array *wanted = weft_slice(flat, WEFT_RANGE(1024 + 17 * 37, 3 * 31 * 37));
        WEFT_AUTO weft_array *rest =
            weft_random_normal(0, 1, WEFT_SHAPE(3 * 31 * 37 - 1024 - 17 * 37), .dtype = dtypes[k],
                               .device = device(), .random = &part);
        CHECK(same_elements(wanted, rest));
    }
}

TEST(A4_shapes_and_likes)
{
    weft_random random = {1, 0, 0};
    WEFT_AUTO weft_array *none = weft_random_uniform(0, 1, WEFT_SHAPE(3, 0), .device = device());
    WEFT_AUTO weft_array *one = weft_random_normal(5, 0, WEFT_SCALAR, .device = device());
    WEFT_AUTO weft_array *model =
        weft_zeros(WEFT_SHAPE(2, 5), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *whole = weft_zeros(WEFT_SHAPE(4), .dtype = WEFT_U8, .device = device());
    CHECK(none && one && model && whole);
    CHECK_INT(weft_array_count(none), 0);
    CHECK_INT(weft_array_ndim(one), 0);
    CHECK_INT(weft_array_dtype(one), WEFT_F32);
    float x;
    CHECK_STATUS(weft_item(one, &x), WEFT_OK);
    CHECK(x == 5);
    WEFT_AUTO weft_array *u = weft_random_uniform_like(model, 2, 3, .random = &random);
    WEFT_AUTO weft_array *z = weft_random_normal_like(model, 0, 1, .dtype = WEFT_F32);
    WEFT_AUTO weft_array *i = weft_random_integers_like(whole, 9, 10);
    CHECK(u && z && i);
    CHECK(weft_shape_equal(weft_array_shape(u), WEFT_SHAPE(2, 5)));
    CHECK_INT(weft_array_dtype(u), WEFT_F64);
    CHECK_INT(weft_array_dtype(z), WEFT_F32);
    CHECK_INT(weft_array_dtype(i), WEFT_U8);
    uint8_t nines[4];
    CHECK_STATUS(weft_copy_to_host(i, nines, 4), WEFT_OK);
    CHECK_BITS(nines, ((uint8_t[]){9, 9, 9, 9}), 4);
    WEFT_AUTO weft_array *default_dtype = weft_random_integers(0, 2, WEFT_SHAPE(1));
    CHECK_INT(weft_array_dtype(default_dtype), WEFT_I64);
}

static weft_array *some(void)
{
    return weft_random_uniform(0, 1, WEFT_SHAPE(1000), .device = device());
}

TEST(A4_seeds_and_calls)
{
    weft_random_seed(7);
    WEFT_AUTO weft_array *a = some(), *b = some();
    CHECK(a && b);
    CHECK_INT(weft_random_get().call, 2);
    CHECK_INT(weft_random_get().seed, 7);
    const weft_random saved = weft_random_get();
    WEFT_AUTO weft_array *c = some();
    weft_random_seed(7);
    WEFT_AUTO weft_array *again = some();
    weft_random_set(saved);
    WEFT_AUTO weft_array *third = some();
    weft_random_seed(8);
    WEFT_AUTO weft_array *other = some();
    CHECK(c && again && third && other);
    CHECK(same_elements(a, again));
    CHECK(same_elements(c, third));
    CHECK(!same_elements(a, b) && !same_elements(b, c) && !same_elements(a, other));
    /* of many calls no two have a number in common */
    enum { CALLS = 32, EACH = 64 };
    double x[CALLS * EACH];
    for (int k = 0; k < CALLS; k++) {
        WEFT_AUTO weft_array *f64 =
            weft_random_uniform(0, 1, WEFT_SHAPE(EACH), .dtype = WEFT_F64, .device = device());
        CHECK(f64);
        CHECK_STATUS(weft_copy_to_host(f64, x + k * EACH, EACH * sizeof *x), WEFT_OK);
    }
    qsort(x, CALLS * EACH, sizeof *x, compare);
    for (int i = 1; i < CALLS * EACH; i++)
        CHECK(x[i - 1] != x[i]);
}

/* A thread that was not seeded has calls of its own; one that was, the numbers of its seed. */
static void *draw_in_thread(void *argument)
{
    weft_array **made = argument;
    made[0] = some();
    weft_random_seed(7);
    made[1] = some();
    return NULL;
}

TEST(A4_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    weft_array *made[THREADS][2] = {{0}};
    weft_random_seed(7);
    WEFT_AUTO weft_array *mine = some();
    CHECK(mine);
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, draw_in_thread, made[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    int wrong = 0;
    for (int k = 0; k < THREADS; k++) {
        wrong += !made[k][0] || !made[k][1] || !same_elements(made[k][1], mine);
        for (int j = 0; j < k; j++)
            wrong += !made[j][0] || !made[k][0] || same_elements(made[j][0], made[k][0]);
    }
    for (int k = 0; k < THREADS; k++) {
        weft_array_release(made[k][0]);
        weft_array_release(made[k][1]);
    }
    CHECK_INT(wrong, 0);
}

/* In processes of their own: WEFT_SEED and the number of threads are read once. */
TEST(X6_seed_of_the_environment)
{
    static const char known[] = "WEFT_TEST_RANDOM_SUM";
    double sum = 0, x[512];
    char text[64];
    if (!test_alone()) {
        setenv("WEFT_SEED", "12345", 1);
        weft_random_set((weft_random){12345, 0, 0});
    }
    WEFT_AUTO weft_array *a =
        weft_random_normal(0, 1, WEFT_SHAPE(512), .dtype = WEFT_F64, .device = device());
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, x, sizeof x), WEFT_OK);
    for (int i = 0; i < 512; i++)
        sum += x[i];
    snprintf(text, sizeof text, "%a", sum);
    if (test_alone()) {
        CHECK_STR(getenv(known), text);
        return;
    }
    setenv(known, text, 1);
    CHECK(test_passes_alone("X6_seed_of_the_environment"));
    setenv("WEFT_THREADS", "3", 1);
    CHECK(test_passes_alone("X6_seed_of_the_environment"));
    unsetenv("WEFT_THREADS");
    unsetenv("WEFT_SEED");
}

/* One that cannot be read is an error, until the thread is given another. */
TEST(X6_no_seed_of_the_environment)
{
    if (!test_alone()) {
        static const char *const wrong[] = {"x", "12a", "1.5", "99999999999999999999999"};
        bool passes = true;
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            setenv("WEFT_SEED", wrong[k], 1);
            passes &= test_passes_alone("X6_no_seed_of_the_environment");
        }
        unsetenv("WEFT_SEED");
        CHECK(passes);
        return;
    }
    weft_random mine = {7, 0, 0};
    CHECK(!weft_random_uniform(0, 1, WEFT_SHAPE(4), .device = device()));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "WEFT_SEED is");
    (void)weft_random_get();
    CHECK(!weft_random_normal(0, 1, WEFT_SHAPE(4), .device = device()));
    WEFT_AUTO weft_array *a =
        weft_random_uniform(0, 1, WEFT_SHAPE(4), .device = device(), .random = &mine);
    CHECK(a);
    weft_random_seed(3);
    WEFT_AUTO weft_array *b = weft_random_uniform(0, 1, WEFT_SHAPE(4), .device = device());
    CHECK(b);
}

TEST(A4_bad_input)
{
    const weft_shape two = WEFT_SHAPE(2);
    const weft_random before = weft_random_get();
    WEFT_AUTO weft_array *a = weft_zeros(two, .dtype = WEFT_I32, .device = device());
    CHECK(a);
    CHECK_FAILS(weft_random_uniform(1, 1, two), WEFT_ERROR_ARGUMENT, "low < high");
    CHECK_FAILS(weft_random_uniform(2, 1, two), WEFT_ERROR_ARGUMENT, "low is 2");
    CHECK_FAILS(weft_random_uniform(1, 1 + 1e-12, two), WEFT_ERROR_ARGUMENT, "as f32");
    CHECK_FAILS(weft_random_uniform(0, INFINITY, two), WEFT_ERROR_ARGUMENT, "finite");
    CHECK_FAILS(weft_random_uniform((double)NAN, 1, two), WEFT_ERROR_ARGUMENT, "finite");
    CHECK_FAILS(weft_random_uniform(0, 1e39, two), WEFT_ERROR_ARGUMENT, "finite");
    CHECK_FAILS(weft_random_uniform(0, 1, two, .dtype = WEFT_I32), WEFT_ERROR_DTYPE, "i32");
    CHECK_FAILS(weft_random_uniform(0, 1, two, .dtype = (weft_dtype)99), WEFT_ERROR_DTYPE, "99");
    CHECK_FAILS(weft_random_uniform(0, 1, WEFT_SHAPE(-1)), WEFT_ERROR_SHAPE, "-1");
    CHECK_FAILS(weft_random_uniform_like(NULL, 0, 1), WEFT_ERROR_ARGUMENT, "array");
    CHECK_FAILS(weft_random_uniform_like(a, 0, 1), WEFT_ERROR_DTYPE, "weft_random_integers");
    CHECK_FAILS(weft_random_normal(0, -1, two), WEFT_ERROR_ARGUMENT, "deviation");
    CHECK_FAILS(weft_random_normal((double)NAN, 1, two), WEFT_ERROR_ARGUMENT, "mean");
    CHECK_FAILS(weft_random_normal(0, (double)NAN, two), WEFT_ERROR_ARGUMENT, "deviation");
    CHECK_FAILS(weft_random_normal(0, 1e300, two), WEFT_ERROR_ARGUMENT, "deviation");
    CHECK_FAILS(weft_random_normal(0, 1, two, .dtype = WEFT_BOOL), WEFT_ERROR_DTYPE, "bool");
    CHECK_FAILS(weft_random_normal_like(NULL, 0, 1), WEFT_ERROR_ARGUMENT, "array");
    CHECK_FAILS(weft_random_integers(3, 3, two), WEFT_ERROR_ARGUMENT, "low is 3 and high 3");
    CHECK_FAILS(weft_random_integers(0, 257, two, .dtype = WEFT_U8), WEFT_ERROR_ARGUMENT,
                "0 to 256");
    CHECK_FAILS(weft_random_integers(-1, 2, two, .dtype = WEFT_U64), WEFT_ERROR_ARGUMENT, "2^64");
    CHECK_FAILS(weft_random_integers(0, 0.5, two), WEFT_ERROR_ARGUMENT, "integer");
    CHECK_FAILS(weft_random_integers((double)NAN, 1, two), WEFT_ERROR_ARGUMENT, "low");
    CHECK_FAILS(weft_random_integers(0, a, two), WEFT_ERROR_ARGUMENT, "array");
    CHECK_FAILS(weft_random_integers(0, 2, two, .dtype = WEFT_F32), WEFT_ERROR_DTYPE, "f32");
    CHECK_FAILS(weft_random_integers_like(NULL, 0, 1), WEFT_ERROR_ARGUMENT, "array");
    CHECK_STR(weft_error_last()->operation, "weft_random_integers_like");
    CHECK_INT(weft_random_get().call, before.call); /* what failed took no number */
}

TEST_MAIN(TEST_OF(A4_distributions), TEST_OF(A4_no_correlation),
          TEST_OF(A4_integers_are_equally_likely), TEST_OF(A4_bounds),
          TEST_OF(X6_any_layout_and_parts), TEST_OF(A4_shapes_and_likes),
          TEST_OF(A4_seeds_and_calls), TEST_OF(A4_threads),
          TEST_NO_FAULTS(X6_seed_of_the_environment, "starts processes"),
          TEST_NO_FAULTS(X6_no_seed_of_the_environment, "starts processes"), TEST_OF(A4_bad_input));
