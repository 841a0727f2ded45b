/* Programs, reductions and portable kernels where docs/semantics.md says more than one would guess.
 * lang/test_fold.c has the order of folds, lang/test_kernel.c portable kernels beside plain loops.
 */
#include "support/arrays.h"
#include <math.h>
#include <stdio.h>

static weft_array *halves(const uint16_t *values, int64_t count)
{
    return from(values, (size_t)count * 2, WEFT_SHAPE(count), WEFT_F16);
}

/* semantics: Programs / f16 and bf16: 2048 + 1 is 2048 in f16. */
TEST(halves_are_rounded_where_it_says)
{
    const uint16_t large[] = {0x6800, 0x6800}, ones[] = {0x3c00, 0x3c00};
    const float kept[] = {1, 1}, lost[] = {0, 0};
    WEFT_AUTO weft_array *x = halves(large, 2), *y = halves(ones, 2);
    CHECK(x && y);
    WEFT_AUTO weft_array *t = weft_zeros_like(x);
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(t && c);
    WEFT_AUTO weft_array *whole = weft_new(f32(x + y - x), x, y);
    WEFT_AUTO weft_array *local = weft_new(m = x + y; f32(m - x), x, y);
    WEFT_AUTO weft_array *cast = weft_new(f32(f16(x + y) - x), x, y);
    CHECK(holds(whole, kept, sizeof kept));
    CHECK(holds(local, kept, sizeof kept));
    CHECK(holds(cast, lost, sizeof lost));
    CHECK_STATUS(weft(t = x + y; c = f32(t - x), x, y, t, c), WEFT_OK);
    CHECK(holds(c, lost, sizeof lost));
    WEFT_AUTO weft_array *literal = weft_new(f32(y * 2049 - 2048), y); /* 2049 is 2048 in f16 */
    double number = 2049;
    WEFT_AUTO weft_array *given = weft_new(f32(y * number - 2048), y, number);
    CHECK(holds(literal, lost, sizeof lost));
    CHECK(holds(given, lost, sizeof lost));
}

/* semantics: Folds / Reductions: f16 is added in f32 and rounded at the end, whatever comes next.
 */
TEST(reductions_of_halves_are_rounded_once)
{
    const uint16_t values[] = {0x6800, 0x3c00, 0x3c00, 0x3c00}; /* 2048, 1, 1, 1 */
    WEFT_AUTO weft_array *x = halves(values, 4);
    CHECK(x);
    WEFT_AUTO weft_array *sum = weft_new(f32(sum(x)), x), *first = weft_slice(x, WEFT_RANGE(0, 2));
    CHECK(first);
    WEFT_AUTO weft_array *next = weft_new(f32(sum(first)) - 2048, first);
    CHECK(holds(sum, (const float[]){2052}, 4)); /* 2051 is a tie, to even */
    CHECK(holds(next, (const float[]){0}, 4));
}

/* semantics: Programs / Order: what was assigned last, and memory in the order of the statements.
 */
TEST(right_sides_see_what_was_assigned_last)
{
    const float values[] = {1, 2, 3, 4, 5}, tripled[] = {6, 12, 18}, all[] = {2, 4, 7, 7, 7};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(5), WEFT_F32);
    WEFT_AUTO weft_array *low = weft_slice(x, WEFT_RANGE(0, 3)),
                         *high = weft_slice(x, WEFT_RANGE(2, 5));
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(3), .device = device());
    CHECK(x && low && high && c);
    CHECK_STATUS(weft(low = 2 * low; high = 7; c = 3 * low, low, high, c), WEFT_OK);
    CHECK(holds(c, tripled, sizeof tripled)); /* not what `high` has left in low's memory */
    CHECK(holds(x, all, sizeof all));
}

/* semantics: Programs / index: along what is assigned, or what is reduced. */
TEST(positions_of_programs)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *row = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_I64, .device = device());
    CHECK(a && row);
    CHECK_STATUS(weft(t = index(-1); a = 10 * index(0) + t;
                      row = t + sum(a * 0 + index(0), axis = 0), a, row),
                 WEFT_OK);
    CHECK(holds(a, (const int64_t[]){0, 1, 2, 10, 11, 12}, 48));
    CHECK(holds(row, (const int64_t[]){1, 2, 3}, 24));
    WEFT_AUTO weft_array *one = weft_zeros(WEFT_SHAPE(1), .dtype = WEFT_I64, .device = device());
    CHECK(one);
    WEFT_AUTO weft_array *repeated = weft_new(m = one + index(0) + 5; m + 0 * row, one, row);
    CHECK(holds(repeated, (const int64_t[]){5, 5, 5}, 24));
}

static const int64_t sizes[] = {1, 2, 3, 127, 128, 129, 300, 4096, 4097, 9001};

/* semantics: Folds / By halving: nothing is replaced by a zero or another neutral element. */
TEST(nothing_stands_in_for_missing_elements)
{
    enum { MOST = 9001 };
    static float zeros[MOST], infinities[MOST];
    const float zero = -0.0f, infinity = -INFINITY;
    for (int i = 0; i < MOST; i++) {
        zeros[i] = zero;
        infinities[i] = infinity;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int tall = 0; tall < 2; tall++) {
            weft_shape shape = tall ? WEFT_SHAPE(sizes[s], 1) : WEFT_SHAPE(1, sizes[s]);
            const size_t bytes = (size_t)sizes[s] * 4;
            WEFT_AUTO weft_array *x = from(zeros, bytes, shape, WEFT_F32);
            WEFT_AUTO weft_array *y = from(infinities, bytes, shape, WEFT_F32);
            CHECK(x && y);
            WEFT_AUTO weft_array *sum = tall ? weft_new(sum(x, axis = 0), x) : weft_new(sum(x), x);
            WEFT_AUTO weft_array *max = tall ? weft_new(max(y, axis = 0), y) : weft_new(max(y), y);
            CHECK(holds(sum, &zero, 4));
            CHECK(holds(max, &infinity, 4));
        }
}

/* semantics: Folds / add mul min max and or; Folds / argmin; Folds / argmax; Folds / min max;
 * Folds / argmin argmax: equal numbers and NaN. */
TEST(folds_of_zeros_and_nans)
{
    const float up[] = {0.0f, -0.0f}, down[] = {-0.0f, 0.0f};
    const uint32_t nan = 0x7fc00000;
    const float nans[] = {3, -NAN, 1, NAN};
    WEFT_AUTO weft_array *x = from(up, 8, WEFT_SHAPE(2), WEFT_F32);
    WEFT_AUTO weft_array *y = from(down, 8, WEFT_SHAPE(2), WEFT_F32);
    WEFT_AUTO weft_array *z = from(nans, 16, WEFT_SHAPE(4), WEFT_F32);
    CHECK(x && y && z);
    WEFT_AUTO weft_array *a = weft_new(min(x), x), *b = weft_new(min(y), y);
    WEFT_AUTO weft_array *c = weft_new(max(x), x), *d = weft_new(max(y), y);
    CHECK(holds(a, &up[1], 4) && holds(b, &down[1], 4)); /* of equal ones the second */
    CHECK(holds(c, &up[1], 4) && holds(d, &down[1], 4));
    WEFT_AUTO weft_array *first = weft_new(argmin(x) + 10 * argmax(y), x, y);
    WEFT_AUTO weft_array *at = weft_new(argmin(z) + 10 * argmax(z), z);
    CHECK(holds(first, (const int64_t[]){0}, 8));
    CHECK(holds(at, (const int64_t[]){11}, 8));
    WEFT_AUTO weft_array *low = weft_new(min(z), z), *high = weft_new(max(z), z);
    WEFT_AUTO weft_array *any = weft_new(any(z), z);
    CHECK(holds(low, &nan, 4) && holds(high, &nan, 4) && holds(any, (const bool[]){true}, 1));
}

/* semantics: Folds / sum prod; Folds / any all; Folds / product: they wrap, and NaN stays. */
TEST(sums_and_products_wrap_and_stay_nan)
{
    const int64_t large[] = {INT64_MAX, 1};
    const uint64_t largest[] = {UINT64_MAX, 3};
    const float complexes[] = {INFINITY, INFINITY, 1, 1};
    const uint32_t nan = 0x7fc00000;
    WEFT_AUTO weft_array *x = from(large, 16, WEFT_SHAPE(2), WEFT_I64);
    WEFT_AUTO weft_array *y = from(largest, 16, WEFT_SHAPE(2), WEFT_U64);
    WEFT_AUTO weft_array *z = from(complexes, 16, WEFT_SHAPE(2), WEFT_C64);
    CHECK(x && y && z);
    WEFT_AUTO weft_array *sum = weft_new(sum(x), x), *sums = weft_new(sum(y), y);
    WEFT_AUTO weft_array *product = weft_new(prod(y), y), *pair = weft_new(prod(z), z);
    CHECK(holds(sum, (const int64_t[]){INT64_MIN}, 8));
    CHECK(holds(sums, (const uint64_t[]){2}, 8));
    CHECK(holds(product, (const uint64_t[]){UINT64_MAX - 2}, 8));
    WEFT_AUTO weft_array *real = weft_new(real(pair), pair), *imag = weft_new(imag(pair), pair);
    CHECK(holds(real, &nan, 4));
    CHECK(holds(imag, (const float[]){INFINITY}, 4));
}

/* semantics: Folds / mean: n is rounded to the type. 2^24 over 2^24 + 1 elements is 1 in f32. */
TEST(the_count_of_a_mean_is_rounded)
{
    enum { N = (1 << 24) + 1 };
    WEFT_AUTO weft_array *zero = weft_zeros(WEFT_SHAPE(1), .device = device());
    WEFT_AUTO weft_array *x = weft_broadcast(zero, WEFT_SHAPE(N));
    CHECK(x);
    WEFT_AUTO weft_array *mean = weft_new(mean(where(index(0) == 0, 16777216.0f, x)), x);
    CHECK(holds(mean, (const float[]){1}, 4));
}

/* semantics: Folds / var; Folds / norm: the divisor does not go below 0; the mean is not rounded.
 */
TEST(variances_and_norms)
{
    const double values[] = {1, 2, 4}, same[] = {3, 3, 3};
    const uint64_t nan = 0x7ff8000000000000;
    const uint16_t near[] = {0x3c00, 0x3c01}; /* 1 and 1 + 2^-10; the mean lies between */
    WEFT_AUTO weft_array *x = from(values, 24, WEFT_SHAPE(3), WEFT_F64);
    WEFT_AUTO weft_array *y = from(same, 24, WEFT_SHAPE(3), WEFT_F64), *h = halves(near, 2);
    CHECK(x && y && h);
    WEFT_AUTO weft_array *beyond = weft_new(var(x, correction = 5), x);
    WEFT_AUTO weft_array *none = weft_new(var(y, correction = 3), y);
    CHECK(holds(beyond, (const double[]){INFINITY}, 8));
    CHECK(holds(none, &nan, 8));
    WEFT_AUTO weft_array *deviation = weft_new(std(h), h);
    CHECK(holds(deviation, (const uint16_t[]){0x1000}, 2)); /* 2^-11 */
    const float parts[] = {3, 4, -0.0f, -12};
    WEFT_AUTO weft_array *z = from(parts, 16, WEFT_SHAPE(2), WEFT_C64);
    CHECK(z);
    WEFT_AUTO weft_array *norm = weft_new(norm(z), z), *most = weft_new(norm(z, order = inf), z);
    CHECK(holds(norm, (const float[]){13}, 4));
    CHECK(holds(most, (const float[]){12}, 4));
}

static weft_status launch(const char *body, weft_shape space, weft_array *in, weft_array *out)
{
    weft_kernel kernel = {
        .struct_size = sizeof kernel, .name = "test", .parameters = "(in, out)", .body = body};
    weft_operand operands[] = {WEFT_OPERAND(in), WEFT_OPERAND(out)};
    return weft_launch_shape(&kernel, space, 2, operands);
}

/* semantics: Portable kernels / Read: which boundary a space may have that is smaller, or larger,
 * than the array; here 4 points and 6 elements, which read 1 to 6. */
TEST(spaces_that_are_not_as_large_as_the_array)
{
    static const struct {
        const char *body;
        int64_t points;
        bool possible;
        float expected[6];
    } cases[] = {
        {"out(i) = in(i - 1)", 4, true, {1, 1, 2, 3}},
        {"out(i) = in(i - 2)", 6, true, {1, 2, 1, 2, 3, 4}},
        {"out(i) = in(i + 1)", 6, true, {2, 3, 4, 5, 6, 6}},
        {"out(i) = in(i + 3)", 4, false, {0}}, /* 6 is outside */
        {"out(i) = in(i + 2)", 4, true, {3, 4, 5, 6}},
        {"out(i) = in(i - 1, boundary=clamp)", 4, true, {1, 1, 2, 3}},
        {"out(i) = in(i + 3, boundary=clamp)", 4, true, {4, 5, 6, 6}},
        {"out(i) = in(i - 1, boundary=zero)", 4, true, {0, 1, 2, 3}},
        {"out(i) = in(i + 4, value=9)", 4, true, {5, 6, 9, 9}},
        {"out(i) = in(i - 1, boundary=wrap)", 4, false, {0}},
        {"out(i) = in(i - 1, boundary=wrap)", 6, true, {6, 1, 2, 3, 4, 5}},
        {"out(i) = in(2*i - 1)", 3, false, {0}},
    };
    const float values[] = {1, 2, 3, 4, 5, 6};
    WEFT_AUTO weft_array *x = from(values, 24, WEFT_SHAPE(6), WEFT_F32);
    CHECK(x);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WEFT_AUTO weft_array *y = weft_zeros_like(x);
        CHECK(y);
        weft_status status = launch(cases[k].body, WEFT_SHAPE(cases[k].points), x, y);
        const bool right = status == (cases[k].possible ? WEFT_OK : WEFT_ERROR_SHAPE) &&
                           holds(y, cases[k].expected, 24);
        if (!right)
            fprintf(stderr, "%s over %d: %s\n", cases[k].body, (int)cases[k].points,
                    weft_error_message());
        CHECK(right);
    }
    WEFT_AUTO weft_array *long_one = weft_zeros(WEFT_SHAPE(8), .device = device());
    CHECK(long_one);
    CHECK_STATUS(launch("out(i) = in(i)", WEFT_SHAPE(8), x, long_one), WEFT_ERROR_SHAPE);
    CHECK_STATUS(launch("out(i) = in(i, boundary=clamp)", WEFT_SHAPE(8), x, long_one),
                 WEFT_ERROR_SHAPE);
}

/* semantics: Portable kernels / Order: by the subscripts as they are written, also where there is
 * one point only and all are the same element. */
TEST(one_point_is_no_other_rule)
{
    static const struct {
        const char *body;
        float expected;
    } cases[] = {
        {"in(i) = 5; out(i) = in(i)", 5},
        {"in(i) = 5; out(i) = in(0)", 3},
        {"in(i) = 5; out(i) = in(2*i)", 3},
        {"in(2*i) = 5; out(i) = in(2*i) - in(i)", 2},
        {"in(i) = 5; out(i) = in(1*i + 0)", 5},
        {"in(0*i + i) = in(0); out(i) = in(-i) + in(i)", 6},
        {"in(i) = 5; in(i) += in(3*i); out(i) = in(i)", 8},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WEFT_AUTO weft_array *x = weft_full(WEFT_SHAPE(1), 3.0f, .device = device());
        WEFT_AUTO weft_array *y = weft_zeros_like(x);
        CHECK(x && y);
        CHECK_STATUS(launch(cases[k].body, WEFT_SHAPE(1), x, y), WEFT_OK);
        if (!holds(y, &cases[k].expected, 4))
            fprintf(stderr, "%s\n", cases[k].body);
        CHECK(holds(y, &cases[k].expected, 4));
    }
}

/* semantics: Portable kernels / Read: a point is outside if any subscript is. */
TEST(a_corner_is_outside_along_one_axis)
{
    const float values[] = {1, 2, 3, 4};
    static const struct {
        const char *body;
        float expected[4];
    } cases[] = {
        {"out(i, j) = in(i + 1, j - 1)", {1, 3, 3, 4}},
        {"out(i, j) = in(i + 1, j - 1, boundary=clamp)", {3, 3, 3, 3}},
        {"out(i, j) = in(i + 1, j - 1, boundary=wrap)", {4, 3, 2, 1}},
        {"out(i, j) = in(i + 1, j - 1, value=-7)", {-7, 3, -7, -7}},
    };
    static const char *const twice[] = {"out(i) = in(i - 1, i)",
                                        "out(i) = in(2*i, i - 1)",
                                        "out(i) = in(i - 1, 2*i)",
                                        "out(i) = in(2*i, i - 1, boundary=zero)",
                                        "out(i) = in(1 - i, i + 2)",
                                        "out(i) = in(1 - i, i + 2, boundary=clamp)",
                                        "out(i, j) = in(i - 1, j - i + 1)",
                                        "out(i, j) = in(i - 1, i + j - 1)"};
    WEFT_AUTO weft_array *x = from(values, 16, WEFT_SHAPE(2, 2), WEFT_F32);
    CHECK(x);
    for (size_t k = 0; k < sizeof twice / sizeof *twice; k++) { /* an index in two subscripts */
        WEFT_AUTO weft_array *wide = weft_zeros(WEFT_SHAPE(3, 3), .device = device());
        WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(2), .device = device());
        WEFT_AUTO weft_array *z = weft_zeros(WEFT_SHAPE(2, 2), .device = device());
        const bool plane = strstr(twice[k], "out(i, j)");
        CHECK(wide && y && z);
        CHECK_STATUS(plane ? launch(twice[k], WEFT_SHAPE(2, 2), wide, z)
                           : launch(twice[k], WEFT_SHAPE(2), wide, y),
                     WEFT_ERROR_SHAPE);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WEFT_AUTO weft_array *y = weft_zeros_like(x);
        CHECK(y);
        CHECK_STATUS(launch(cases[k].body, WEFT_SHAPE(2, 2), x, y), WEFT_OK);
        CHECK(holds(y, cases[k].expected, 16));
    }
}

/* Runs a test of this program alone, with WEFT_CHECK set. */
static bool passes_with_check(const char *value, const char *name)
{
    setenv("WEFT_CHECK", value, 1);
    const bool passed = test_passes_alone(name);
    unsetenv("WEFT_CHECK");
    return passed;
}

/* semantics: Portable kernels / WEFT_CHECK=bounds: whatever the boundary, and nothing is launched.
 */
TEST(alone_with_bounds)
{
    static const char *const bodies[] = {"out(i) = in(i - 1)", "out(i) = in(i + 1, boundary=clamp)",
                                         "out(i) = in(i - 1, boundary=wrap)",
                                         "out(i) = in(i + 1, value=5)"};
    if (!test_alone())
        SKIP("is run by checks_of_bounds");
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(6), .device = device());
    WEFT_AUTO weft_array *y = weft_zeros_like(x);
    CHECK(x && y);
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        CHECK_STATUS(launch(bodies[k], WEFT_SHAPE(6), x, y), WEFT_ERROR_SHAPE);
        CHECK_ERROR(WEFT_ERROR_SHAPE, k % 2 ? "at i = 5: index 6" : "at i = 0: index -1");
        CHECK_ERROR(WEFT_ERROR_SHAPE, "'in' has 6 elements");
    }
    CHECK(holds(y, (const float[6]){0}, 24));
    CHECK_STATUS(launch("out(i) = in(i)", WEFT_SHAPE(6), x, y), WEFT_OK);
}

TEST(alone_without_bounds)
{
    if (!test_alone())
        SKIP("is run by checks_of_bounds");
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(6), .device = device());
    CHECK(x);
    CHECK_STATUS(launch("out(i) = in(i - 1)", WEFT_SHAPE(6), x, x), WEFT_OK);
}

TEST(checks_of_bounds)
{
    if (test_alone())
        SKIP("runs others alone");
    CHECK(passes_with_check("bounds", "alone_with_bounds"));
    CHECK(passes_with_check("none", "alone_without_bounds"));
    CHECK(passes_with_check("", "alone_without_bounds"));
}

#define NO_FAULTS "another process has no part in the count of allocations"
TEST_MAIN(TEST_OF(halves_are_rounded_where_it_says), TEST_OF(reductions_of_halves_are_rounded_once),
          TEST_OF(right_sides_see_what_was_assigned_last), TEST_OF(positions_of_programs),
          TEST_NO_FAULTS(nothing_stands_in_for_missing_elements,
                         "hundreds of allocations that are all alike"),
          TEST_OF(folds_of_zeros_and_nans), TEST_OF(sums_and_products_wrap_and_stay_nan),
          TEST_OF(the_count_of_a_mean_is_rounded), TEST_OF(variances_and_norms),
          TEST_OF(spaces_that_are_not_as_large_as_the_array), TEST_OF(one_point_is_no_other_rule),
          TEST_OF(a_corner_is_outside_along_one_axis), TEST_NO_FAULTS(alone_with_bounds, NO_FAULTS),
          TEST_NO_FAULTS(alone_without_bounds, NO_FAULTS),
          TEST_NO_FAULTS(checks_of_bounds, NO_FAULTS));
