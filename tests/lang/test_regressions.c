/* Programs that random ones (tests/random) showed to go wrong, each as small as it could be made.
 */
#include "support/arrays.h"
#include <math.h>

/* A literal is f16 or bf16 where the array is; it was f32. The expected bits are NumPy's. */
TEST(X2_narrow_literals_are_rounded)
{
    const uint16_t one[] = {0x3c00}, bf16_one[] = {0x3f80};
    WEFT_AUTO weft_array *h = from(one, sizeof one, WEFT_SHAPE(1), WEFT_F16);
    WEFT_AUTO weft_array *b = from(bf16_one, sizeof bf16_one, WEFT_SHAPE(1), WEFT_BF16);
    CHECK(h && b);
    WEFT_AUTO weft_array *tenth = weft_new(f32(h * 0.1), h);
    CHECK(holds(tenth, (const float[]){0x1.998p-4f}, 4));
    WEFT_AUTO weft_array *cast = weft_new(f32(f16(0.1)) + f32(h), h);
    CHECK(holds(cast, (const float[]){0x1.998p-4f + 1}, 4));
    WEFT_AUTO weft_array *third = weft_new(f32(b * 0.3), b);
    CHECK(holds(third, (const float[]){0x1.34p-2f}, 4));
    WEFT_AUTO weft_array *large = weft_new(f32(h * 65519.99), h);
    CHECK(holds(large, (const float[]){65504}, 4));
    WEFT_AUTO weft_array *beyond = weft_new(f32(h * 65520), h);
    CHECK(holds(beyond, (const float[]){INFINITY}, 4));
    WEFT_AUTO weft_array *tiny = weft_new(f32(h * 3e-8), h);
    CHECK(holds(tiny, (const float[]){0x1p-24f}, 4));
    double number = 0.1;
    WEFT_AUTO weft_array *same = weft_new(f32(h * number), h, number);
    CHECK(holds(same, (const float[]){0x1.998p-4f}, 4));
}

/* 2^53 + 2^29 + 1 is above the middle of two f32; by way of f64 it was in the middle. */
TEST(X2_integer_literals_are_rounded_once)
{
    WEFT_AUTO weft_array *one = from((const float[]){1}, 4, WEFT_SHAPE(1), WEFT_F32);
    CHECK(one);
    WEFT_AUTO weft_array *up = weft_new(one * 9007199791611905, one);
    CHECK(holds(up, (const float[]){0x1.000002p53f}, 4));
    WEFT_AUTO weft_array *down = weft_new(one * -9007199791611905, one);
    CHECK(holds(down, (const float[]){-0x1.000002p53f}, 4));
}

/* After b = a, the array under shift(b) is a; the memory of b was read before it was written. */
TEST(X3_shift_of_a_copy)
{
    const float values[] = {1, 2, 3, 4}, shifted[] = {2, 3, 4, 4};
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(4), WEFT_F32);
    WEFT_AUTO weft_array *b = weft_zeros_like(a), *c = weft_zeros_like(a);
    CHECK(a && b && c);
    CHECK_STATUS(weft(b = a; c = shift(b, 1), a, b, c), WEFT_OK);
    CHECK(holds(b, values, sizeof values));
    CHECK(holds(c, shifted, sizeof shifted));
}

/* A displaced load that is stored is a copy, NaNs and all; f16 went through f32. */
TEST(X3_shift_of_f16_moves_the_bits)
{
    const uint16_t values[] = {0x7d95, 0xfe01, 0x3c00}, shifted[] = {0xfe01, 0x3c00, 0x7d95};
    for (weft_dtype dtype = WEFT_F16; dtype <= WEFT_BF16; dtype++) {
        WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(3), dtype);
        CHECK(a);
        WEFT_AUTO weft_array *moved = weft_new(shift(a, 1, boundary = wrap), a);
        CHECK(holds(moved, shifted, sizeof shifted));
    }
}

/* A local of shape (1) has one position, 0, wherever it is repeated. */
TEST(X2_index_of_a_repeated_local)
{
    const float values[] = {1, 2, 3};
    WEFT_AUTO weft_array *one = from((const int64_t[]){5}, 8, WEFT_SHAPE(1), WEFT_I64);
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(3), WEFT_F32);
    CHECK(one && a);
    WEFT_AUTO weft_array *same = weft_new(m = index(0) + one; f32(m) + 0 * a, one, a);
    CHECK(holds(same, (const float[]){5, 5, 5}, sizeof values));
}

/* A local that is only made of index() counts along each array that it is used with; the second had
 * the positions of the first. */
TEST(X2_index_of_a_local_in_two_arrays)
{
    WEFT_AUTO weft_array *one = weft_zeros(WEFT_SHAPE(1, 1), .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *two = weft_zeros(WEFT_SHAPE(3, 2), .dtype = WEFT_I64, .device = device());
    CHECK(one && two);
    CHECK_STATUS(weft(t = 10 * index(-2) + index(1); one = t + 7; two = t; n = sum(two + 0 * t);
                      one += n, one, two),
                 WEFT_OK);
    CHECK(holds(two, (const int64_t[]){0, 1, 10, 11, 20, 21}, 48));
    CHECK(holds(one, (const int64_t[]){70}, 8));
}

/* Results in overlapping memory are there in the order of the assignments, not in that of the
 * kernels: the sum's came last. */
TEST(X2_overlapping_results_of_two_kernels)
{
    const float values[] = {1, 2, 3, 4, 5};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(5), WEFT_F32);
    WEFT_AUTO weft_array *low = weft_slice(x, WEFT_RANGE(0, 3)),
                         *high = weft_slice(x, WEFT_RANGE(2, 5));
    WEFT_AUTO weft_array *n = weft_zeros(WEFT_SHAPE(3), .device = device());
    CHECK(x && low && high && n);
    CHECK_STATUS(weft(low = sum(x); high = 7; n = shift(high, 1) + high, x, low, high, n), WEFT_OK);
    CHECK(holds(x, (const float[]){15, 15, 7, 7, 7}, sizeof values));
    CHECK(holds(n, (const float[]){14, 14, 14}, 12));
    CHECK_STATUS(weft(low = sum(x); high = sum(x) + 1; n = shift(high, 1), x, low, high, n),
                 WEFT_OK);
    CHECK(holds(x, (const float[]){51, 51, 52, 52, 52}, sizeof values));
    CHECK_STATUS(weft(high = 8; low = sum(x), x, low, high), WEFT_OK);
    CHECK(holds(x, (const float[]){258, 258, 258, 8, 8}, sizeof values));
}

/* b is read after the kernel that makes it has made c, too, partly in the same memory. */
TEST(X2_overlapping_results_of_one_kernel)
{
    const float values[] = {1, 2, 3, 4}, pairs[] = {1, 2, 3, 4, 5, 6};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(4), WEFT_F32);
    WEFT_AUTO weft_array *k =
        weft_from_host(pairs, sizeof pairs, WEFT_SHAPE(3, 2), .device = device());
    WEFT_AUTO weft_array *b = weft_slice(x, WEFT_RANGE(0, 3)), *c = weft_slice(x, WEFT_RANGE(1, 4));
    WEFT_AUTO weft_array *m = weft_zeros(WEFT_SHAPE(3), .device = device());
    CHECK(x && k && b && c && m);
    CHECK_STATUS(weft(b = sum(k, axis = 1); c = b + 100; m = shift(b, 1), b, c, k, m), WEFT_OK);
    CHECK(holds(m, (const float[]){7, 11, 11}, 12));
    CHECK(holds(x, (const float[]){3, 103, 107, 111}, sizeof values));
}

/* f16 is computed in f32 on both sides of a cut: 1/3 was rounded to f16 between two kernels. */
TEST(X4_cuts_do_not_round_f16)
{
    const uint16_t values[] = {0x3c00, 0x4000}; /* 1, 2 */
    WEFT_AUTO weft_array *h = from(values, sizeof values, WEFT_SHAPE(2), WEFT_F16);
    CHECK(h);
    WEFT_AUTO weft_array *thirds = weft_new(f32(h * (1 / sum(h, keep = true))), h);
    CHECK(holds(thirds, (const float[]){1.0f / 3, 2 * (1.0f / 3)}, 8));
}

/* A compiler took -(-32768) for a positive number when it compared it in the same kernel. */
TEST(X4_least_i16_stays_negative)
{
    const int16_t values[] = {INT16_MIN, 5, -5};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(3), WEFT_I16);
    CHECK(x);
    WEFT_AUTO weft_array *negated = weft_new(-x <= 3, x), *size = weft_new(abs(x) <= 3, x);
    CHECK(holds(negated, (const uint8_t[]){1, 1, 0}, 3));
    CHECK(holds(size, (const uint8_t[]){1, 0, 0}, 3));
}

/* A compiler forgot the sign of the last when it made one instruction of two minima. */
TEST(X4_minimum_of_three_with_a_negative)
{
    const int32_t values[] = {4, -7, 0}, others[] = {8, 1, -3};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(3), WEFT_I32);
    WEFT_AUTO weft_array *y = from(others, sizeof others, WEFT_SHAPE(3), WEFT_I32);
    CHECK(x && y);
    WEFT_AUTO weft_array *least = weft_new(minimum(x, minimum(y, -x)), x, y);
    WEFT_AUTO weft_array *most = weft_new(maximum(x, maximum(y, -x)), x, y);
    WEFT_AUTO weft_array *chosen =
        weft_new(where(x < where(y < -x, y, -x), x, where(y < -x, y, -x)), x, y);
    CHECK(holds(least, (const int32_t[]){-4, -7, -3}, sizeof values));
    CHECK(holds(most, (const int32_t[]){8, 7, 0}, sizeof values));
    CHECK(holds(chosen, (const int32_t[]){-4, -7, -3}, sizeof values));
}

/* Compiled code spilled the mask of the last elements, and wrote between them. */
TEST(X4_nothing_is_written_between_elements)
{
    enum { COUNT = 200 };
    int8_t bytes[2 * COUNT + 1], after[2 * COUNT + 1];
    int64_t numbers[2 * COUNT];
    for (int i = 0; i <= 2 * COUNT; i++)
        bytes[i] = (int8_t)(i % 19 - 20);
    for (int i = 0; i < 2 * COUNT; i++)
        numbers[i] = i * 7 % 17 - 8;
    WEFT_AUTO weft_array *around = from(bytes, sizeof bytes, WEFT_SHAPE(2 * COUNT + 1), WEFT_I8);
    WEFT_AUTO weft_array *wide = from(numbers, sizeof numbers, WEFT_SHAPE(2 * COUNT), WEFT_I64);
    WEFT_AUTO weft_array *d = weft_ones(WEFT_SHAPE(COUNT), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *v = weft_ones(WEFT_SHAPE(COUNT), .dtype = WEFT_BF16, .device = device());
    CHECK(around && wide && d && v);
    WEFT_AUTO weft_array *e = weft_slice(around, WEFT_STEP(1, 2 * COUNT + 1, 2));
    WEFT_AUTO weft_array *b = weft_slice(wide, WEFT_STEP(0, 2 * COUNT, 2));
    CHECK(e && b);
    CHECK_STATUS(weft(t = isinf(v ? bf16(b) : d);
                      e = where(t, (back_diff(b, -1) ? e : 2) & b, 0), v, b, d, e),
                 WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(around, after, sizeof after), WEFT_OK);
    for (int i = 0; i <= 2 * COUNT; i++)
        CHECK_INT(after[i], i % 2 ? 0 : bytes[i]);
}

/* PoCL's compiler lost the sign of a zero that is widened: of two zeros the second counts. */
TEST(X2_maximum_of_two_zeros_is_the_second)
{
    const float values[] = {1, -2, -0.0f, 0.5f};
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(4), WEFT_F32);
    CHECK(a);
    WEFT_AUTO weft_array *most = weft_new(f64(maximum(0.0f, a)), a);
    WEFT_AUTO weft_array *least = weft_new(f64(minimum(0.0f, a)), a);
    CHECK(holds(most, (const double[]){1, 0, -0.0, 0.5}, 32));
    CHECK(holds(least, (const double[]){0, -2, -0.0, 0}, 32));
}

/* NVIDIA's compiler compared before it widened, and took the other one of two zeros then. */
TEST(X2_maximum_of_a_widened_zero_is_the_second)
{
    const float values[] = {-0.0f, 0, -1};
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(3), WEFT_F32);
    CHECK(a);
    WEFT_AUTO weft_array *most = weft_new(maximum(imag(0.5), f64(a)), a);
    WEFT_AUTO weft_array *least = weft_new(minimum(imag(0.5), f64(a)), a);
    WEFT_AUTO weft_array *first = weft_new(maximum(f64(a), imag(0.5)), a);
    WEFT_AUTO weft_array *chosen = weft_new(where(imag(0.5) > f64(a), imag(0.5), f64(a)), a);
    WEFT_AUTO weft_array *left = weft_new(where(a < 1, maximum(imag(0.5), f64(a)), 0), a);
    CHECK(holds(most, (const double[]){-0.0, 0, 0}, 24));
    CHECK(holds(least, (const double[]){-0.0, 0, -1}, 24));
    CHECK(holds(first, (const double[]){0, 0, 0}, 24));
    CHECK(holds(chosen, (const double[]){-0.0, 0, 0}, 24));
    CHECK(holds(left, (const double[]){-0.0, 0, 0}, 24));
}

/* Long rows whose vectors would cross lines begin where they do not: the inside of two arrays, with
 * and without room between their rows, and one row alone. */
TEST(X4_insides_of_arrays_with_long_rows)
{
    enum { ROWS = 41, COLUMNS = 1040 };
    static float u[ROWS * COLUMNS], v[ROWS * COLUMNS], p[ROWS * COLUMNS], q[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        u[i] = (float)(i % 97) - 31;
        v[i] = (float)(i % 89) / 8;
    }
    for (int columns = COLUMNS - 3; columns <= COLUMNS; columns += 3)
        for (int rows = 3; rows <= ROWS; rows += ROWS - 3) {
            const weft_shape shape = WEFT_SHAPE(rows, columns);
            const size_t bytes = sizeof *u * (size_t)(rows * columns);
            WEFT_AUTO weft_array *a = from(u, bytes, shape, WEFT_F32);
            WEFT_AUTO weft_array *b = from(v, bytes, shape, WEFT_F32);
            WEFT_AUTO weft_array *c = weft_zeros_like(a), *d = weft_zeros_like(a);
            CHECK(a && b && c && d);
#define INSIDE(x, i, j)                                                                            \
    WEFT_AUTO weft_array *x##_in =                                                                 \
        weft_slice(x, WEFT_RANGE(1 + (i), rows - 1 + (i)), WEFT_RANGE(1 + (j), columns - 1 + (j)))
            INSIDE(c, 0, 0);
            INSIDE(d, 0, 0);
            INSIDE(b, 0, 0);
            INSIDE(a, 0, 1);
#undef INSIDE
            CHECK(a_in && b_in && c_in && d_in);
            CHECK_STATUS(
                weft(c_in = ((((a_in * 2.0f + b_in) * 0.5f - a_in) * 0.25f + b_in) * a_in - 3.0f) *
                                0.125f +
                            b_in;
                     d_in = ((((b_in - a_in) * 0.5f + a_in) * 0.75f - b_in) * b_in + 7.0f) * 0.5f -
                            a_in,
                     a_in, b_in, c_in, d_in),
                WEFT_OK);
            for (int i = 0; i < rows * columns; i++) {
                const int row = i / columns, column = i % columns;
                const bool is_inside =
                    row > 0 && row < rows - 1 && column > 0 && column < columns - 1;
                const float x = is_inside ? u[i + 1] : 0, y = v[i];
                p[i] = ((((x * 2.0f + y) * 0.5f - x) * 0.25f + y) * x - 3.0f) * 0.125f + y;
                q[i] = ((((y - x) * 0.5f + x) * 0.75f - y) * y + 7.0f) * 0.5f - x;
                if (!is_inside)
                    p[i] = q[i] = 0;
            }
            CHECK(holds(c, p, bytes) && holds(d, q, bytes));
        }
}

/* NVIDIA's assembler took absolute values for positive; that of the least integer is itself. */
TEST(X2_sign_of_the_absolute_value_of_the_least_integer)
{
    const int64_t values[] = {INT64_MIN, -3, 0, 5}, signs[] = {-1, 1, 0, 1};
    const int32_t smaller[] = {INT32_MIN, -3, 0, 5}, smaller_signs[] = {-1, 1, 0, 1};
    WEFT_AUTO weft_array *a = from(values, sizeof values, WEFT_SHAPE(4), WEFT_I64);
    WEFT_AUTO weft_array *b = from(smaller, sizeof smaller, WEFT_SHAPE(4), WEFT_I32);
    CHECK(a && b);
    WEFT_AUTO weft_array *c = weft_new(sign(abs(a)), a);
    WEFT_AUTO weft_array *d = weft_new(sign(abs(b)), b);
    CHECK(holds(c, signs, sizeof signs));
    CHECK(holds(d, smaller_signs, sizeof smaller_signs));
}

/* Compiled code that folds two vectors in a turn stored the slots of the second one, which has no
 * lane here, over those of the next point: it had a mask of its own, but the first one's length. */
TEST(X4_truths_of_long_code)
{
    enum { COUNT = 11 };
    const int16_t c[] = {-2, -8, 1, -7, -5, 6, -1, 7, 3, -3, 9};
    const int16_t e[] = {1, 2, 4, -1, 6, -4, -9, -4, 4, 7, 0};
    const int8_t f[] = {-9, 6, -8, 2, -6, 3, 9, 5, -3, 5, -5};
    const uint32_t b[] = {0, 4, 5, 4, 5, 9, 7, 6, 7, 4, 1};
    const bool a[] = {0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0};
    const weft_shape shape = WEFT_SHAPE(COUNT, 1, 1);
    int64_t expected[COUNT];
    for (int i = 0; i < COUNT; i++)
        expected[i] = ((a[i] ? (int64_t)b[i] : c[i]) != 0 ? e[i] : f[i]) != 0 ? i : 0;
    WEFT_AUTO weft_array *p = from(a, sizeof a, shape, WEFT_BOOL);
    WEFT_AUTO weft_array *q = from(b, sizeof b, shape, WEFT_U32);
    WEFT_AUTO weft_array *r = from(c, sizeof c, shape, WEFT_I16);
    WEFT_AUTO weft_array *s = from(e, sizeof e, shape, WEFT_I16);
    WEFT_AUTO weft_array *u = from(f, sizeof f, shape, WEFT_I8);
    WEFT_AUTO weft_array *d = weft_ones(shape, .dtype = WEFT_F64, .device = device());
    CHECK(p && q && r && s && u && d);
    for (int again = 0; again < 3; again++) {
        WEFT_AUTO weft_array *got = weft_new(
            t = any(where(where(p, q, r) && i64(isfinite(d)), s, u), axis = 2, keep = true);
            where(t, index(0), 0), p, q, r, d, s, u);
        CHECK(holds(got, expected, sizeof expected));
    }
}

/* A comparison with a NaN is known, and LLVM made 255 of it where it is computed once for all. */
TEST(X2_a_nan_on_the_left)
{
    enum { COUNT = 21 };
    static const weft_dtype dtypes[] = {WEFT_F16, WEFT_F32, WEFT_F64};
    WEFT_AUTO weft_array *e = weft_ones(WEFT_SHAPE(COUNT), .dtype = WEFT_I32, .device = device());
    int32_t expected[COUNT];
    for (int i = 0; i < COUNT; i++)
        expected[i] = 1 + 2 + 4;
    for (int k = 0; k < 3; k++) {
        WEFT_AUTO weft_array *d = weft_ones(WEFT_SHAPE(1), .dtype = dtypes[k], .device = device());
        CHECK(e && d);
        WEFT_AUTO weft_array *left = weft_new(
            e * i32(nan != d) + 2 * i32(!(nan <= d)) + 4 * i32(d != nan) + 8 * i32(nan == d), e, d);
        CHECK(holds(left, expected, sizeof expected));
    }
}

/* A sign is flipped in what one side of a select needs, by a condition that the other needs too: of
 * functions apart it is an input, without what it was made of. */
TEST(X6_a_flip_by_a_condition_from_elsewhere)
{
    enum { COUNT = 1000 };
    float x[COUNT], expected[COUNT];
    uint32_t y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i - 700) / 64;
        y[i] = (uint32_t)i * 2654435761U >> 7;
    }
    WEFT_AUTO weft_array *a = from(x, sizeof x, WEFT_SHAPE(COUNT), WEFT_F32);
    WEFT_AUTO weft_array *u = from(y, sizeof y, WEFT_SHAPE(COUNT), WEFT_U32);
    WEFT_AUTO weft_array *flipped = weft_new(where((u & 1) != 0, -a, a), a, u);
    WEFT_AUTO weft_array *sines = weft_new(sin(flipped), flipped);
    CHECK(a && u && sines && weft_copy_to_host(sines, expected, sizeof expected) == WEFT_OK);
    for (int i = 0; i < COUNT; i++)
        if (x[i] <= 0)
            expected[i] = y[i] & 1 ? x[i] + 1 : x[i] * 2;
    WEFT_AUTO weft_array *got = weft_new(
        m = (u & 1) != 0; where(a > 0, sin(where(m, -a, a)), where(m, a + 1, a * 2)), a, u);
    CHECK(holds(got, expected, sizeof expected));
}

TEST_MAIN(TEST_OF(X2_a_nan_on_the_left), TEST_OF(X6_a_flip_by_a_condition_from_elsewhere),
          TEST_OF(X4_insides_of_arrays_with_long_rows),
          TEST_OF(X2_sign_of_the_absolute_value_of_the_least_integer),
          TEST_OF(X2_maximum_of_a_widened_zero_is_the_second),
          TEST_OF(X2_maximum_of_two_zeros_is_the_second), TEST_OF(X4_truths_of_long_code),
          TEST_OF(X4_nothing_is_written_between_elements),
          TEST_OF(X4_minimum_of_three_with_a_negative), TEST_OF(X4_least_i16_stays_negative),
          TEST_OF(X2_narrow_literals_are_rounded), TEST_OF(X2_integer_literals_are_rounded_once),
          TEST_OF(X3_shift_of_a_copy), TEST_OF(X3_shift_of_f16_moves_the_bits),
          TEST_OF(X2_index_of_a_repeated_local), TEST_OF(X2_index_of_a_local_in_two_arrays),
          TEST_OF(X2_overlapping_results_of_two_kernels),
          TEST_OF(X2_overlapping_results_of_one_kernel), TEST_OF(X4_cuts_do_not_round_f16));
