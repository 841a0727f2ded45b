/* Expressions, evaluated: what users write, compared with the same in plain C. */
#include "support/arrays.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { N = 1000 };

static weft_array *floats(const float *values, weft_shape shape)
{
    int64_t count;
    if (weft_shape_count(shape, &count) != WEFT_OK)
        return NULL;
    return weft_from_host(values, (size_t)count * sizeof *values, shape, .device = device());
}

static void fill(float *values, int count, float first, float step)
{
    for (int i = 0; i < count; i++)
        values[i] = first + (float)i * step;
}

static uint64_t compilations(void)
{
    weft_statistics s = {0};
    weft_memory_stats(device(), &s);
    return s.compilations;
}

TEST(X1_one_kernel_and_no_temporary)
{
    float a[N], b[N], c[N];
    fill(a, N, 0.5f, 0.001f);
    fill(b, N, -1, 0.01f);
    fill(c, N, 3, -0.02f);
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(N)), *y = floats(b, WEFT_SHAPE(N));
    WEFT_AUTO weft_array *z = floats(c, WEFT_SHAPE(N));
    CHECK(x && y && z);
    weft_statistics before, after;
    weft_memory_stats(device(), &before);
    CHECK_STATUS(weft(z += 1.0f / x + 2.0f * x * y, x, y, z), WEFT_OK);
    weft_memory_stats(device(), &after);
    for (int i = 0; i < N; i++)
        c[i] += 1.0f / a[i] + 2.0f * a[i] * b[i];
    CHECK(holds(z, c, sizeof c));
    CHECK_INT(after.launches - before.launches, 1);
    CHECK_INT(after.allocations, before.allocations);
}

TEST(X1_nothing_is_compiled_twice)
{
    for (int n = 1; n <= 5; n++) {
        WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(n, 7 - n), .device = device());
        WEFT_AUTO weft_array *b = weft_zeros_like(a), *t = weft_transpose(b);
        float scale = (float)n;
        CHECK(a && b && t);
        uint64_t count = compilations();
        CHECK_STATUS(weft(b = a * scale - 1, a, scale, b), WEFT_OK);
        CHECK(n == 1 || compilations() == count);
        float first = -1;
        CHECK_STATUS(weft_item(t, &first), WEFT_OK);
        CHECK(first == scale - 1);
    }
}

TEST(X2_several_statements_and_results)
{
    float a[N], sum[N], difference[N];
    fill(a, N, -4, 0.01f);
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(N));
    CHECK(x);
    WEFT_AUTO weft_array *c = weft_zeros_like(x), *d = weft_zeros_like(x);
    CHECK(c && d);
    uint64_t count = launches();
    CHECK_STATUS(weft(m = x * x; c = m + 1; d = where(m < x, m, -x), x, c, d), WEFT_OK);
    CHECK_INT(launches() - count, 1);
    for (int i = 0; i < N; i++) {
        float m = a[i] * a[i];
        sum[i] = m + 1;
        difference[i] = m < a[i] ? m : -a[i];
    }
    CHECK(holds(c, sum, sizeof sum));
    CHECK(holds(d, difference, sizeof difference));
}

TEST(X2_right_sides_see_the_arrays_as_they_were)
{
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(4)), *y = floats(b, WEFT_SHAPE(4));
    CHECK(x && y);
    CHECK_STATUS(weft(old = x; x = y; y = old, x, y), WEFT_OK);
    CHECK(holds(x, b, sizeof b));
    CHECK(holds(y, a, sizeof a));
    WEFT_AUTO weft_array *back = weft_slice(x, WEFT_REVERSED);
    CHECK(back);
    const float mirrored[] = {5 + 8, 6 + 7, 7 + 6, 8 + 5};
    CHECK_STATUS(weft(x = x + back, x, back), WEFT_OK);
    CHECK(holds(x, mirrored, sizeof mirrored));
}

/* Results of different shapes take several kernels; the second still sees the old x. */
TEST(X2_results_of_different_shapes)
{
    float row[] = {1, 2, 3};
    const float doubled[] = {2, 4, 6}, table[] = {11, 12, 13, 21, 22, 23};
    const float tens[] = {10, 20};
    WEFT_AUTO weft_array *x = floats(row, WEFT_SHAPE(3)), *t = floats(tens, WEFT_SHAPE(2, 1));
    WEFT_AUTO weft_array *m = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    CHECK(x && t && m);
    CHECK_STATUS(weft(m = x + t; x = x * 2, x, t, m), WEFT_OK);
    CHECK(holds(m, table, sizeof table));
    CHECK(holds(x, doubled, sizeof doubled));
    CHECK_STATUS(weft_copy_from_host(x, row, sizeof row), WEFT_OK);
    CHECK_STATUS(weft(old = x; x = x * 2; m = old + t, x, t, m), WEFT_OK);
    CHECK(holds(m, table, sizeof table));
    CHECK(holds(x, doubled, sizeof doubled));
}

TEST(X2_views_and_broadcasting)
{
    float a[12];
    fill(a, 12, 0, 1);
    const float expected[] = {100, 104, 108, 201, 205, 209, 302, 306, 310, 403, 407, 411};
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(3, 4)), *t = weft_transpose(x);
    WEFT_AUTO weft_array *column = weft_arange(100, 500, 100, .device = device());
    WEFT_AUTO weft_array *tall = weft_reshape(column, WEFT_SHAPE(4, 1));
    WEFT_AUTO weft_array *sum = weft_new(t + tall, t, tall);
    CHECK(sum);
    CHECK(holds(sum, expected, sizeof expected));
}

TEST(X2_numbers_are_weak)
{
    WEFT_AUTO weft_array *half = weft_ones(WEFT_SHAPE(3), .dtype = WEFT_F16, .device = device());
    WEFT_AUTO weft_array *byte = weft_ones(WEFT_SHAPE(3), .dtype = WEFT_U8, .device = device());
    double third = 1.0 / 3;
    int two = 2;
    WEFT_AUTO weft_array *h = weft_new(half * third, half, third);
    WEFT_AUTO weft_array *b = weft_new(byte * two + 250, byte, two);
    CHECK(h && b);
    CHECK_INT(weft_array_dtype(h), WEFT_F16);
    CHECK_INT(weft_array_dtype(b), WEFT_U8);
    const uint16_t thirds[] = {0x3555, 0x3555, 0x3555};
    const uint8_t sums[] = {252, 252, 252};
    CHECK(holds(h, thirds, sizeof thirds));
    CHECK(holds(b, sums, sizeof sums));
    WEFT_AUTO weft_array *refused = weft_new(byte * third, byte, third);
    CHECK(!refused);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "byte * third");
}

/* semantics: Programs / Numbers: in every way of giving one, whether the call was seen or not. */
TEST(X2_numbers_that_do_not_fit)
{
    const struct {
        weft_dtype dtype;
        int64_t low, high;
    } all[] = {{WEFT_I8, -128, 127},
               {WEFT_I16, -32768, 32767},
               {WEFT_I32, INT32_MIN, INT32_MAX},
               {WEFT_I64, INT64_MIN, INT64_MAX},
               {WEFT_U8, 0, 255},
               {WEFT_U16, 0, 65535},
               {WEFT_U32, 0, UINT32_MAX},
               {WEFT_U64, 0, INT64_MAX}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        WEFT_AUTO weft_array *x =
            weft_zeros(WEFT_SHAPE(3), .dtype = all[k].dtype, .device = device());
        const int64_t numbers[] = {all[k].low, all[k].high, 0, all[k].low, 1};
        CHECK(x);
        for (size_t i = 0; i < 5; i++) {
            const int64_t n = numbers[i];
            CHECK_STATUS(weft(x = n, x, n), WEFT_OK);
            for (int step = -1; step <= 1; step += 2) {
                const int64_t beyond = step < 0 ? all[k].low - (all[k].low > INT64_MIN)
                                                : all[k].high + (all[k].high < INT64_MAX);
                if (beyond == all[k].low || beyond == all[k].high)
                    continue;
                CHECK_STATUS(weft(x = beyond, x, beyond), WEFT_ERROR_DTYPE);
                CHECK_ERROR(WEFT_ERROR_DTYPE, "is outside the range of ");
            }
        }
        int64_t left;
        CHECK_STATUS(weft_value(&left, i64(sum(x)), x), WEFT_OK);
        CHECK_INT(left, 3);
    }
    const uint64_t most = UINT64_MAX;
    WEFT_AUTO weft_array *l = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *v = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_U64, .device = device());
    CHECK_STATUS(weft(v = most, v, most), WEFT_OK);
    CHECK_STATUS(weft(l = most, l, most), WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "weft: 'most', 18446744073709551615 is outside the range of i64");
    CHECK_ERROR(WEFT_ERROR_DTYPE, "\n    l = most\n        ^");
    CHECK_STATUS(weft(l = i64(most), l, most), WEFT_OK);
}

WEFT_KERNEL(limit, (in, n, out), { out(i) = min(in(i), n); });
WEFT_FUNCTION(limit_all, (in, n, out), { out = min(in, n); });
WEFT_FUNCTION(limit_each, (in, n, out, size), {
    for (int i = 0; i < size; i++)
        out(i) = min(in(i), n);
});

TEST(X2_numbers_that_do_not_fit_everywhere)
{
    const char *const says = "300 is outside the range of u8";
    WEFT_AUTO weft_array *u = weft_arange(98, 101, 1, .dtype = WEFT_U8, .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_U8, .device = device());
    int n = 300, few = 99;
    CHECK(u && y);
    CHECK(!weft_new(u < n, u, n));
    CHECK_ERROR(WEFT_ERROR_DTYPE,
                "weft_new: 'n', 300 is outside the range of u8; cast it to u8, or");
    CHECK(!weft_new(where(u == 98, n, u), u, n));
    CHECK_ERROR(WEFT_ERROR_DTYPE, says);
    CHECK(!weft_new(shift(u, 1, value = n), u, n));
    CHECK_ERROR(WEFT_ERROR_DTYPE, says);
    CHECK(!weft_new(m = n; min(u, m), u, n));
    CHECK_ERROR(WEFT_ERROR_DTYPE, says);
    CHECK(!weft_less(u, 300) && !weft_minimum(300, u));
    CHECK_ERROR(WEFT_ERROR_DTYPE, says);
    CHECK_STATUS(weft(y += 1; y = min(u, n), u, y, n), WEFT_ERROR_DTYPE);
    CHECK_STATUS(weft_launch(limit, y, u, n, y), WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "weft_launch: 'n', 300 is outside the range of u8");
    CHECK_STATUS(weft_call(limit_all, NULL, u, n, y), WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "function 'limit_all': 300 is outside the range of u8");
    int changed;
    CHECK_STATUS(weft_value(&changed, i32(sum(y)), y), WEFT_OK);
    CHECK_INT(changed, 0);
    const uint8_t same[] = {98, 99, 100}, least[] = {98, 99, 99}, cut[] = {44, 44, 44};
    CHECK_STATUS(weft_call(limit_each, NULL, u, n, y, 3), WEFT_OK); /* there it is C's */
    CHECK(holds(y, same, sizeof same));
    CHECK_STATUS(weft(y = min(u, few), u, y, few), WEFT_OK);
    CHECK(holds(y, least, sizeof least));
    CHECK_STATUS(weft(y = min(u, u8(n)), u, y, n), WEFT_OK);
    CHECK(holds(y, cut, sizeof cut));
    CHECK_STATUS(weft(y = u8(min(i64(u), n)), u, y, n), WEFT_OK);
    CHECK(holds(y, same, sizeof same));
}

/* What is computed of C numbers alone is as in C, whatever it is used with then.
 * semantics: Programs / Numbers */
TEST(X2_numbers_alone_are_cut)
{
    const float fours[] = {4, 4, 4};
    const uint64_t size = 5;
    const int k = -1;
    double sum = 0;
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(3), .device = device());
    WEFT_AUTO weft_array *y = weft_new(x * (size + k), x, size, k);
    WEFT_AUTO weft_array *z = weft_new(x * (size + -1), x, size);
    WEFT_AUTO weft_array *w = weft_new(where(k == size, x, 4), x, size, k);
    CHECK(holds(y, fours, sizeof fours) && holds(z, fours, sizeof fours));
    CHECK(holds(w, fours, sizeof fours));
    CHECK_STATUS(weft_value(&sum, size + k, size, k), WEFT_OK);
    CHECK(sum == 4);
    WEFT_AUTO weft_array *u = weft_ones(WEFT_SHAPE(3), .dtype = WEFT_U64, .device = device());
    CHECK(u && !weft_new(u * (size + k) + k, u, size, k));
    CHECK_ERROR(WEFT_ERROR_DTYPE, "'k', -1 is outside the range of u64");
    CHECK_STR(weft_error_last()->operand, "k");
}

/* A number that a function has computed is cut, in the kernel and on the host. */
WEFT_FUNCTION(computed_here, (in, n, out), {
    m = n + 200;
    out = min(in, m);
});
WEFT_FUNCTION(computed_there, (in, n, out), {
    m = n + 200;
    out = min(in, m);
    return m;
});
WEFT_FUNCTION(copied_here, (in, n, out), {
    m = n;
    out = min(in, m);
});
WEFT_FUNCTION(copied_there, (in, n, out), {
    m = n;
    out = min(in, m);
    return m;
});

TEST(X2_numbers_of_functions)
{
    const weft_function *const computed[] = {&computed_here, &computed_there}, *const copied[] = {
                                                                                   &copied_here,
                                                                                   &copied_there};
    const uint8_t cut[] = {44, 44, 44};
    int n = 100, far = 300;
    WEFT_AUTO weft_array *in = weft_arange(98, 101, 1, .dtype = WEFT_U8, .device = device());
    WEFT_AUTO weft_array *out = weft_zeros_like(in);
    CHECK(in && out);
    for (int k = 0; k < 2; k++) {
        const weft_operand operands[] = {WEFT_OPERAND(in), WEFT_OPERAND(n), WEFT_OPERAND(out)},
                           large[] = {WEFT_OPERAND(in), WEFT_OPERAND(far), WEFT_OPERAND(out)};
        CHECK_STATUS(weft_fill(out, 0), WEFT_OK);
        CHECK_STATUS(weft_call_with(computed[k], 0, NULL, 3, operands), WEFT_OK);
        CHECK(holds(out, cut, sizeof cut));
        CHECK_STATUS(weft_call_with(copied[k], 0, NULL, 3, large), WEFT_ERROR_DTYPE);
    }
}

TEST(X2_integers_are_as_in_c)
{
    const int32_t a[] = {7, -7, INT32_MIN, 5, 0}, b[] = {2, 2, -1, 0, 3};
    const int32_t quotient[] = {3, -3, INT32_MIN, 0, 0}, rest[] = {1, -1, 0, 5, 0};
    const int32_t bits[] = {(7 & 2) | 8, (-7 & 2) | 8, (INT32_MIN & -1) | 8, 8, 8};
    WEFT_AUTO weft_array *x =
        weft_from_host(a, sizeof a, WEFT_SHAPE(5), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *y =
        weft_from_host(b, sizeof b, WEFT_SHAPE(5), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *q = weft_new(x / y, x, y), *r = weft_new(x % y, x, y);
    WEFT_AUTO weft_array *o = weft_new((x & y) | 8, x, y);
    CHECK(q && r && o);
    CHECK(holds(q, quotient, sizeof quotient));
    CHECK(holds(r, rest, sizeof rest));
    CHECK(holds(o, bits, sizeof bits));
}

TEST(X2_complex_numbers)
{
    const float a[] = {1, 2, -3, 0.5f}, product[] = {1 - 4, 2 + 2, 9 - 0.25f, -1.5f + -1.5f};
    const float turned[] = {1, -2, -3, -0.5f};
    WEFT_AUTO weft_array *x =
        weft_from_host(a, sizeof a, WEFT_SHAPE(2), .dtype = WEFT_C64, .device = device());
    WEFT_AUTO weft_array *square = weft_new(x * x, x), *mirrored = weft_new(conj(x), x);
    WEFT_AUTO weft_array *same = weft_new(real(x) + 1.0i * imag(x) == x, x);
    CHECK(square && mirrored && same);
    CHECK(holds(square, product, sizeof product));
    CHECK(holds(mirrored, turned, sizeof turned));
    const bool yes[] = {true, true};
    CHECK(holds(same, yes, sizeof yes));
}

TEST(X2_errors_show_the_place)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(3), .device = device());
    WEFT_AUTO weft_array *c = weft_zeros_like(a);
    WEFT_AUTO weft_array *wide = weft_broadcast(a, WEFT_SHAPE(2, 3)), *wide2 = weft_copy(wide);
    CHECK(a && c && wide && wide2);
    uint64_t count = launches();
    CHECK_STATUS(weft(c = a + cc, a, c), WEFT_ERROR_SYNTAX);
    CHECK_ERROR(WEFT_ERROR_SYNTAX, "did you mean 'c'");
    CHECK_STATUS(weft(c = a +, a, c), WEFT_ERROR_SYNTAX);
    CHECK_ERROR(WEFT_ERROR_SYNTAX, "^");
    CHECK_STATUS(weft(d = a, a), WEFT_ERROR_SYNTAX); /* writes nothing */
    CHECK_STATUS(weft(wide = a, a, wide), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "weft: wide is broadcast");
    CHECK_ERROR(WEFT_ERROR_SHAPE, "\n    wide = a\n    ^");
    CHECK_STATUS(weft(wide2 = a; wide = a, a, wide2, wide), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "\n    wide2 = a; wide = a\n               ^");
    weft_array *missing = NULL;
    weft_error_clear();
    CHECK_STATUS(weft(a = missing, a, missing), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "operand 2 is NULL");
    const weft_array *input = a;
    CHECK(weft(input = c, input, c) != WEFT_OK);
    weft_array *none = NULL;
    weft_error_clear();
    CHECK_STATUS(weft(c = none, none, c), WEFT_ERROR_ARGUMENT);
    CHECK_INT(launches(), count);
}

TEST(A4_a_handle_becomes_the_result)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(2, 3), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *h = weft_handle(.dtype = WEFT_F64, .device = device());
    CHECK(a && h);
    CHECK_STATUS(weft(h = a * 3, a, h), WEFT_OK);
    const double threes[] = {3, 3, 3, 3, 3, 3};
    CHECK(holds(h, threes, sizeof threes));
    CHECK(weft_shape_equal(weft_array_shape(h), WEFT_SHAPE(2, 3)));
}

TEST(A4_a_handle_without_a_dtype_takes_that_of_the_value)
{
    const int16_t values[] = {1, -2, 3}, squares[] = {1, 4, 9};
    const bool negative[] = {false, true, false};
    const float halves[] = {0.5f, -1, 1.5f};
    WEFT_AUTO weft_array *a =
        weft_from_host(values, sizeof values, WEFT_SHAPE(3), .dtype = WEFT_I16, .device = device());
    WEFT_AUTO weft_array *h = weft_handle(.device = device()), *m = weft_handle(.device = device());
    WEFT_AUTO weft_array *f = weft_handle(.dtype = WEFT_F32, .device = device());
    CHECK(a && h && m && f);
    CHECK_INT(weft_array_dtype(h), WEFT_F32); /* what a resize would make it */
    CHECK_STATUS(weft(h = a * a; m = a < 0; f = f64(a) / 2, a, h, m, f), WEFT_OK);
    CHECK_INT(weft_array_dtype(h), WEFT_I16);
    CHECK_INT(weft_array_dtype(m), WEFT_BOOL);
    CHECK_INT(weft_array_dtype(f), WEFT_F32);
    CHECK(holds(h, squares, sizeof squares));
    CHECK(holds(m, negative, sizeof negative));
    CHECK(holds(f, halves, sizeof halves));
    WEFT_AUTO weft_array *sums = weft_handle(.device = device());
    WEFT_AUTO weft_array *same = weft_cumulative_sum(a, 0, .out = sums);
    CHECK(same == sums);
    CHECK_INT(weft_array_dtype(sums), WEFT_I64);
}

TEST(X1_values_and_text_at_run_time)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SCALAR, 2.5, .dtype = WEFT_F64, .device = device());
    double value = 0;
    int n = 4;
    CHECK(a);
    CHECK_STATUS(weft_value(&value, a * n + 1, a, n), WEFT_OK);
    CHECK(value == 11);
    CHECK_STATUS(weft_value(&value, (int)a * 2 - (int)-a + -(long)(a + 1.6) % 3, a), WEFT_OK);
    CHECK(value == 2 * 2 + 2 - 4 % 3);
    CHECK_STATUS(weft_value(&value, (unsigned char)(a + 258) + (unsigned)a * (unsigned)(bool)a, a),
                 WEFT_OK);
    CHECK(value == 255 + 2 * 1); /* too large a number becomes the largest */
    CHECK_STATUS(weft_value(&value, (unsigned long long)a - (const long int)a, a),
                 WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "u64 and i64");
    WEFT_AUTO weft_array *several = weft_ones(WEFT_SHAPE(2, 3), .device = device());
    WEFT_AUTO weft_array *single = weft_full(WEFT_SHAPE(1, 1), 7.0, .device = device());
    CHECK(several && single);
    CHECK_STATUS(weft_value(&value, several + 1, several), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "the value has the shape (2, 3), and a C number takes one");
    CHECK_STATUS(weft_value(&n, sum(several), several), WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "the value is f32 and *out i32; cast it, as in i32(...)");
    CHECK_STATUS(weft_value(&value, single, single), WEFT_OK);
    CHECK(value == 7 && n == 4);
    const char *names[] = {"a", "n"};
    weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(n)};
    WEFT_AUTO weft_array *made = weft_evaluate_new("sqrt(a * n - 6)", 2, names, operands);
    CHECK(made);
    CHECK_STATUS(weft_item(made, &value), WEFT_OK);
    CHECK(value == 2);
    CHECK_STATUS(weft_evaluate("a = a - n", 2, names, operands), WEFT_OK);
    CHECK_STATUS(weft_item(a, &value), WEFT_OK);
    CHECK(value == -1.5);
    CHECK_STATUS(weft_evaluate(NULL, 0, NULL, NULL), WEFT_ERROR_ARGUMENT);
}

/* Many call sites at once: each keeps its own code. */
TEST(X1_many_sites)
{
    enum { SITES = 300 };
    static char sites[SITES][64];
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .dtype = WEFT_I32, .device = device());
    weft_operand operands[] = {WEFT_OPERAND(a)};
    int32_t expected = 0, value = 0;
    CHECK(a);
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < SITES; k++) {
            int length = snprintf(sites[k], sizeof sites[k], "f:%d%ca += %d%ca", k, 0, k, 0);
            CHECK_STATUS(weft_evaluate_site(sites[k], (size_t)length, 1, operands), WEFT_OK);
            expected += k;
        }
    CHECK_STATUS(weft_item(a, &value), WEFT_OK);
    CHECK_INT(value, expected);
}

TEST(S5_expressions_on_streams_keep_their_order)
{
    weft_stream *q = weft_stream_new(device(), .async = true);
    CHECK(q);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(10000), .device = device());
    bool fine = a != NULL;
    for (int i = 0; i < 50 && fine; i++) {
        fine = weft_stream_set_current(device(), i % 2 ? q : NULL) == WEFT_OK &&
               weft(a = a * 2 + 1, a) == WEFT_OK && weft(a = a / 2, a) == WEFT_OK;
    }
    weft_stream_set_current(device(), NULL);
    float last = 0;
    fine = fine && weft_item(a, &last) == WEFT_OK;
    weft_stream_release(q);
    CHECK(fine);
    CHECK(last == 25);
}

/* Functions against the C library's f64, within a few ulps of f32; tests/math is exact about it. */
TEST(X2_functions_of_floats)
{
    float a[N], b[N], values[N];
    fill(a, N, 0.01f, 0.0009f);
    fill(b, N, 0.3f, 0.002f);
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(N)), *y = floats(b, WEFT_SHAPE(N));
    CHECK(x && y);
    const char *names[] = {"x", "y"};
    weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(y)};
    static const struct {
        const char *code;
        double (*one)(double);
        double (*two)(double, double);
    } cases[] = {
        {"sin(x)", sin, NULL},     {"cos(x)", cos, NULL},        {"tan(x)", tan, NULL},
        {"exp(x)", exp, NULL},     {"log(x)", log, NULL},        {"log1p(x)", log1p, NULL},
        {"expm1(x)", expm1, NULL}, {"tanh(x)", tanh, NULL},      {"sinh(x)", sinh, NULL},
        {"cosh(x)", cosh, NULL},   {"asin(x)", asin, NULL},      {"acos(x)", acos, NULL},
        {"atan(x)", atan, NULL},   {"cbrt(x)", cbrt, NULL},      {"erf(x)", erf, NULL},
        {"log2(x)", log2, NULL},   {"log10(x)", log10, NULL},    {"exp2(x)", exp2, NULL},
        {"pow(x, y)", NULL, pow},  {"atan2(x, y)", NULL, atan2}, {"hypot(x, y)", NULL, hypot},
        {"fmod(x, y)", NULL, fmod}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bool one = cases[k].one != NULL;
        WEFT_AUTO weft_array *made = weft_evaluate_new(cases[k].code, one ? 1 : 2, names, operands);
        CHECK(made);
        CHECK_STATUS(weft_copy_to_host(made, values, sizeof values), WEFT_OK);
        for (int i = 0; i < N; i++) {
            double p = (double)a[i], q = (double)b[i];
            double exact = one ? cases[k].one(p) : cases[k].two(p, q);
            CHECK(fabs((double)values[i] - exact) <= 3e-7 * fabs(exact));
        }
    }
}

/* Other languages have other bits for true. */
TEST(X6_true_is_one)
{
    static const char *const names[] = {"a", "flag"};
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(3000), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *bools = weft_zeros(WEFT_SHAPE(9), .dtype = WEFT_BOOL, .device = device());
    bool read[9] = {false};
    CHECK(a && bools);
    for (int k = 0; k < 4; k++) {
        const weft_operand flag = {WEFT_OPERAND_NUMBER, WEFT_BOOL, {.u = (uint64_t)k << k}};
        const weft_operand operands[] = {WEFT_OPERAND(a), flag};
        WEFT_AUTO weft_array *sum = weft_evaluate_new(
            "sum(a + i32(flag)) + sum(i32((flag == true) && a > 0)) + sum(i32(u8(flag)))", 2, names,
            operands);
        int64_t value = 0;
        CHECK(sum);
        CHECK_STATUS(weft_item(sum, &value), WEFT_OK);
        CHECK_INT(value, k == 0 ? 3000 : 9001);
        CHECK_STATUS(weft_fill_with(bools, flag), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(bools, read, sizeof read), WEFT_OK);
        unsigned char byte;
        memcpy(&byte, &read[8], 1);
        CHECK_INT(byte, k != 0);
    }
}

TEST_MAIN(TEST_OF(X1_one_kernel_and_no_temporary), TEST_OF(X6_true_is_one),
          TEST_OF(X1_nothing_is_compiled_twice), TEST_OF(X2_several_statements_and_results),
          TEST_OF(X2_right_sides_see_the_arrays_as_they_were),
          TEST_OF(X2_results_of_different_shapes), TEST_OF(X2_views_and_broadcasting),
          TEST_OF(X2_numbers_are_weak), TEST_OF(X2_numbers_that_do_not_fit),
          TEST_OF(X2_numbers_that_do_not_fit_everywhere), TEST_OF(X2_numbers_alone_are_cut),
          TEST_OF(X2_numbers_of_functions), TEST_OF(X2_integers_are_as_in_c),
          TEST_OF(X2_complex_numbers), TEST_OF(X2_errors_show_the_place),
          TEST_OF(A4_a_handle_becomes_the_result),
          TEST_OF(A4_a_handle_without_a_dtype_takes_that_of_the_value),
          TEST_OF(X1_values_and_text_at_run_time),
          TEST_NO_FAULTS(X1_many_sites, "hundreds of allocations that are all alike"),
          TEST_OF(S5_expressions_on_streams_keep_their_order),
          TEST_NO_FAULTS(X2_functions_of_floats, "X1_values_and_text_at_run_time is for that"));
