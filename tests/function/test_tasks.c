/* Loops whose iterations are serial programs of their own: arrays that each has for itself, views
 * that share memory, what is out of range, and what explain says. */
#include "function/open.h"
#include "support/arrays.h"
#include "support/check.h"
#include <math.h>
#include <string.h>
#include <weft/weft.h>

enum { ROWS = 33, COLUMNS = 20 };

static bool was_parallel(const weft_function *function)
{
    weft__function *opened;
    return weft__function_find(function, &opened) == WEFT_OK &&
           opened->totals[WEFT__DID_LOOP] == 1 && opened->totals[WEFT__DID_SERIAL] == 0;
}

static void fill(float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (float)((i * 37 + 11) % 50) * 0.25f - 5.0f;
}

WEFT_FUNCTION(medians, (x, y, n), {
    for (int i = 1; i < n - 1; i++) {
        float w(3);
        for (int k = 0; k < 3; k++)
            w(k) = x(i + k - 1);
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 2 - k; l++)
                if (w(l) > w(l + 1)) {
                    float t = w(l);
                    w(l) = w(l + 1);
                    w(l + 1) = t;
                }
        y(i) = w(1);
    }
});

WEFT_FUNCTION(counts, (a, y, n, m), {
    for (int i = 0; i < n; i++) {
        int h(8);
        for (int j = 0; j < m; j++)
            h(a(i, j)) += 1;
        int best = 0;
        for (int b = 1; b < 8; b++)
            if (h(b) > h(best))
                best = b;
        y(i) = best;
    }
});

/* semantics: Functions / Tasks; Points, memory and order / A scatter */
TEST(F3_arrays_of_their_own)
{
    enum { N = 500 };
    float from[N], expected[N] = {0}, actual[N];
    fill(from, N);
    for (int i = 1; i < N - 1; i++) {
        float p = from[i - 1], q = from[i], r = from[i + 1];
        expected[i] = p < q ? (q < r ? q : p < r ? r : p) : (p < r ? p : q < r ? r : q);
    }
    WEFT_AUTO weft_array *x = weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
    WEFT_AUTO weft_array *y = weft_zeros_like(x);
    CHECK_STATUS(weft_call(medians, NULL, x, y, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK(test_faults() || was_parallel(&medians));
}

TEST(F3_counts_of_their_own)
{
    int32_t bins[ROWS][COLUMNS], expected[ROWS], actual[ROWS];
    for (int i = 0; i < ROWS; i++) {
        int h[8] = {0}, best = 0;
        for (int j = 0; j < COLUMNS; j++) {
            bins[i][j] = (i * 7 + j * j) % 8;
            h[bins[i][j]]++;
        }
        for (int b = 1; b < 8; b++)
            best = h[b] > h[best] ? b : best;
        expected[i] = best;
    }
    WEFT_AUTO weft_array *a = weft_from_host(bins, sizeof bins, WEFT_SHAPE(ROWS, COLUMNS),
                                             .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(ROWS), .dtype = WEFT_I32, .device = device());
    CHECK_STATUS(weft_call(counts, NULL, a, y, ROWS, COLUMNS), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK(test_faults() || was_parallel(&counts));
}

WEFT_FUNCTION(prefix_rows, (a, n, m), {
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            a(i, j) += a(i, j - 1);
});

/* Rows of views: the same bits whatever their strides are. */
TEST(F3_rows_of_views)
{
    float from[ROWS][2 * COLUMNS], expected[ROWS][2 * COLUMNS], actual[ROWS][2 * COLUMNS];
    fill(from[0], 2 * ROWS * COLUMNS);
    memcpy(expected, from, sizeof from);
    for (int i = ROWS - 1; i >= 0; i -= 2)
        for (int j = 2; j < 2 * COLUMNS; j += 2)
            expected[i][j] += expected[i][j - 2];
    WEFT_AUTO weft_array *a =
        weft_from_host(from, sizeof from, WEFT_SHAPE(ROWS, 2 * COLUMNS), .device = device());
    WEFT_AUTO weft_array *view =
        weft_slice(a, WEFT_STEP(-1, WEFT_END, -2), WEFT_STEP(0, WEFT_END, 2));
    CHECK_STATUS(weft_call(prefix_rows, NULL, view, (ROWS + 1) / 2, COLUMNS), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK(test_faults() || was_parallel(&prefix_rows));
}

WEFT_FUNCTION(halved, (x, y, n), {
    for (int i = 0; i < n; i++)
        y(i) = x(i) * 0.5f + 1.0f;
});

/* Views of one array: even and odd elements never meet, and neither do halves; others may. */
TEST(F3_views_that_share_memory)
{
    enum { N = 64 };
    static const struct {
        int64_t x, y, step;
        int n;
        bool parallel;
    } cases[] = {{0, 1, 2, 32, true},   {1, 0, 2, 32, true},  {0, 32, 1, 32, true},
                 {0, 31, 1, 32, false}, {5, 5, 1, 40, true},  {0, 1, 1, 40, false},
                 {1, 0, 1, 40, false},  {0, 3, 3, 20, false}, {0, 2, 3, 20, true}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        float from[N], actual[N];
        fill(from, N);
        WEFT_AUTO weft_array *all = weft_from_host(from, sizeof from, WEFT_SHAPE(N));
        const int64_t step = cases[k].step, reach = step * (cases[k].n - 1) + 1;
        WEFT_AUTO weft_array *x = weft_slice(all, WEFT_STEP(cases[k].x, cases[k].x + reach, step));
        WEFT_AUTO weft_array *y = weft_slice(all, WEFT_STEP(cases[k].y, cases[k].y + reach, step));
        for (int i = 0; i < cases[k].n; i++)
            from[cases[k].y + i * step] = from[cases[k].x + i * step] * 0.5f + 1.0f;
        CHECK_STATUS(weft_call(halved, NULL, x, y, cases[k].n), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(all, actual, sizeof actual), WEFT_OK);
        CHECK_BITS(actual, from, sizeof actual);
        CHECK(test_faults() || was_parallel(&halved) == cases[k].parallel);
    }
}

WEFT_FUNCTION(hopping, (x, k, y, n), {
    for (int i = 0; i < n; i++) {
        int at = i;
        for (int j = 0; j < 3; j++)
            at = k(at);
        y(i) = x(at);
    }
});

/* What is out of range is an error with its place, also if that is only found out on the way. */
TEST(F3_tasks_out_of_range)
{
    enum { N = 12 };
    for (int wrong = 0; wrong < 2; wrong++) {
        float from[N], expected[N], actual[N];
        int32_t next[N];
        fill(from, N);
        for (int i = 0; i < N; i++)
            next[i] = (i * 5 + 1) % N;
        for (int i = 0; i < N; i++)
            expected[i] = from[next[next[next[i]]]];
        if (wrong)
            next[7] = N;
        WEFT_AUTO weft_array *x =
            weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
        WEFT_AUTO weft_array *k =
            weft_from_host(next, sizeof next, WEFT_SHAPE(N), .dtype = WEFT_I32, .device = device());
        WEFT_AUTO weft_array *y = weft_zeros_like(x);
        CHECK_STATUS(weft_call(hopping, NULL, x, k, y, N), wrong ? WEFT_ERROR_SHAPE : WEFT_OK);
        if (wrong)
            CHECK_ERROR(WEFT_ERROR_SHAPE, " is 12; 0 to 11 are possible");
        CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
        if (!wrong)
            CHECK_BITS(actual, expected, sizeof actual);
        CHECK(test_faults() || was_parallel(&hopping) == !wrong);
    }
}

WEFT_FUNCTION(histogram, (k, h, n), {
    for (int i = 0; i < n; i++)
        h(k(i)) += 1;
});

WEFT_FUNCTION(joint, (k, h, n), {
    for (int i = 1; i < n; i++)
        h(k(i - 1), k(i)) ^= 1 + i;
});

/* Elements that several iterations count in are what C has, and wrap around as its do.
 * semantics: Functions / Parts */
TEST(F3_histograms)
{
    enum { N = 5000, BINS = 7 };
    int32_t bins[N];
    uint8_t expected[BINS], actual[BINS];
    int64_t pairs[BINS][2 * BINS], found[BINS][2 * BINS];
    for (int i = 0; i < N; i++)
        bins[i] = i * i % 11 % BINS;
    for (int b = 0; b < BINS; b++)
        expected[b] = (uint8_t)(b * 40);
    for (int i = 0; i < BINS * 2 * BINS; i++)
        pairs[i / (2 * BINS)][i % (2 * BINS)] = i;
    WEFT_AUTO weft_array *k =
        weft_from_host(bins, sizeof bins, WEFT_SHAPE(N), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *h = weft_from_host(expected, sizeof expected, WEFT_SHAPE(BINS),
                                             .dtype = WEFT_U8, .device = device());
    WEFT_AUTO weft_array *p = weft_from_host(pairs, sizeof pairs, WEFT_SHAPE(BINS, 2 * BINS),
                                             .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *view = weft_slice(p, WEFT_ALL, WEFT_STEP(1, WEFT_END, 2));
    for (int i = 0; i < N; i++)
        expected[bins[i]]++;
    for (int i = 1; i < N; i++)
        pairs[bins[i - 1]][2 * bins[i] + 1] ^= 1 + i;
    CHECK_STATUS(weft_call(histogram, NULL, k, h, N), WEFT_OK);
    CHECK_STATUS(weft_call(joint, NULL, k, view, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(h, actual, sizeof actual), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(p, found, sizeof found), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
    CHECK_BITS(found, pairs, sizeof found);
    CHECK(test_faults() || (was_parallel(&histogram) && was_parallel(&joint)));
}

WEFT_FUNCTION(least, (x, first, n), {
    float m = first;
    int at = -1;
    for (int i = 0; i < n; i++)
        if (x(i) < m) {
            m = x(i);
            at = i;
        }
    return m, at;
});

WEFT_FUNCTION(last_greatest, (x, first, n), {
    float m = first;
    int at = -1;
    for (int i = 0; i < n; i++)
        if (m <= x(i)) {
            m = x(i);
            at = i;
        }
    return m, at;
});

static weft_status find(const weft_function *function, weft_array *x, float first, int n,
                        float *value, int *where)
{
    const weft_result results[] = {{value, WEFT_F32}, {where, WEFT_I32}};
    weft_operand operands[3] = {{.tag = WEFT_OPERAND_ARRAY},
                                {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_F64},
                                {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64}};
    operands[0].value.array = x;
    operands[1].value.f = (double)first;
    operands[2].value.i = n;
    return weft_call_with(function, 2, results, 3, operands);
}

/* Equal ones, zeros of both signs, NaN among them and NaN at first: as C has it, in any part. */
TEST(F3_where_the_least_is)
{
    enum { N = 1000 };
    static const float firsts[] = {100.0f, -3.0f, 0.0f, -0.0f, NAN, INFINITY, -INFINITY};
    float from[N];
    for (int i = 0; i < N; i++)
        from[i] = i % 3 == 0 ? NAN : i % 7 == 1 ? -0.0f : i % 11 == 2 ? 0.0f : (float)(i % 5) - 3;
    WEFT_AUTO weft_array *x = weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
    for (size_t k = 0; k < sizeof firsts / sizeof firsts[0]; k++) {
        float m = firsts[k], g = firsts[k], value = 0, other = 0;
        int at = -1, last = -1, where = 0, there = 0;
        for (int i = 0; i < N; i++) {
            at = from[i] < m ? i : at;
            m = from[i] < m ? from[i] : m;
            last = g <= from[i] ? i : last;
            g = g <= from[i] ? from[i] : g;
        }
        CHECK_STATUS(find(&least, x, firsts[k], N, &value, &where), WEFT_OK);
        CHECK_STATUS(find(&last_greatest, x, firsts[k], N, &other, &there), WEFT_OK);
        CHECK(test_faults() || (where == at && there == last));
        CHECK_BITS(&value, &m, m == m ? sizeof m : 0);
        CHECK_BITS(&other, &g, g == g ? sizeof g : 0);
        CHECK(test_faults() || (was_parallel(&least) && was_parallel(&last_greatest)));
    }
}

WEFT_FUNCTION(improvements, (x, y, n), {
    float m = 100;
    int count = 0;
    int at = -1;
    int before = -1;
    for (int i = 0; i < n; i++)
        if (x(i) < m) {
            m = x(i);
            count = count + 1;
            before = at;
            at = i;
        }
    y(0) = count;
    y(1) = before;
    y(2) = at;
});

/* What a choice makes of what an earlier one left is not that of one part alone. */
TEST(F3_choices_that_go_on_from_earlier_ones)
{
    enum { N = 1000 };
    float from[N], m = 100;
    int32_t expected[3] = {0, -1, -1}, actual[3];
    for (int i = 0; i < N; i++) {
        from[i] = i % 90 == 0 ? -(float)i : (float)(i % 7);
        if (from[i] < m) {
            m = from[i];
            expected[0]++;
            expected[1] = expected[2];
            expected[2] = i;
        }
    }
    WEFT_AUTO weft_array *x = weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_I32, .device = device());
    CHECK_STATUS(weft_call(improvements, NULL, x, y, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
}

WEFT_FUNCTION(all_are_large, (x, k, n), {
    int all = 1;
    for (int i = 0; i < n; i++)
        all = all && x(k(i)) > 3.0f;
    return all;
});

WEFT_FUNCTION(at_the_least, (x, k, z, n), {
    float m = 100;
    float v = 0;
    for (int i = 0; i < n; i++)
        if (x(i) < m) {
            m = x(i);
            v = z(k(i));
        }
    return v;
});

/* A part does not know what the ones before it found; what they would not look at may be anywhere.
 */
TEST(F3_parts_look_at_no_more_than_the_loop)
{
    enum { N = 500 };
    float from[N], found = 0;
    int32_t positions[N];
    int all = 1;
    for (int i = 0; i < N; i++) {
        from[i] = i < 3 ? 5.0f - (float)i : 7.0f; /* 5, 4, 3, 7, 7 … */
        positions[i] = i < 3 ? i : 1000000;
    }
    WEFT_AUTO weft_array *x = weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
    WEFT_AUTO weft_array *k = weft_from_host(positions, sizeof positions, WEFT_SHAPE(N),
                                             .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *z = weft_from_host(from, sizeof from, WEFT_SHAPE(N), .device = device());
    CHECK_STATUS(weft_call(all_are_large, &all, x, k, N), WEFT_OK);
    CHECK_INT(all, 0);
    CHECK_STATUS(weft_call(at_the_least, &found, x, k, z, N), WEFT_OK);
    CHECK(found == 3.0f);
}

WEFT_FUNCTION(around_the_world, (x, y, n), {
    for (int i = 0; i < n; i++)
        if (i % 4 == 0)
            y(i * 4611686018427387904) = x(i);
});

/* All of them are element 0. */
TEST(F3_subscripts_that_wrap_around)
{
    WEFT_AUTO weft_array *x = weft_arange(0, 100, 1, .dtype = WEFT_F32, .device = device());
    WEFT_AUTO weft_array *y = weft_zeros_like(x);
    float first = 0;
    CHECK_STATUS(weft_call(around_the_world, NULL, x, y, 100), WEFT_OK);
    CHECK_STATUS(weft_item(y, &first), WEFT_OK);
    CHECK(first == 96.0f);
    CHECK(test_faults() || !was_parallel(&around_the_world));
}

WEFT_FUNCTION(to_and_fro, (x, y, z, n), {
    for (int i = 0; i < n; i++) {
        float t = 0;
        for (int j = 0; j < 3; j++)
            if (i == 3) {
                y(4) = t + 2.0f;
                t = t * 0.5f + x(5);
            }
        z(i) = t;
    }
});

/* An iteration reads what it has written, through another array; compiled, too. */
TEST(F3_iterations_that_read_what_they_write)
{
    enum { N = 20 };
    float memory[N + 1] = {0}, results[N];
    WEFT_AUTO weft_array *all = weft_from_host(memory, sizeof memory, WEFT_SHAPE(N + 1));
    WEFT_AUTO weft_array *x = weft_slice(all, WEFT_RANGE(0, N));
    WEFT_AUTO weft_array *y = weft_slice(all, WEFT_RANGE(1, N + 1));
    WEFT_AUTO weft_array *z = weft_zeros(WEFT_SHAPE(N));
    CHECK_STATUS(weft_call(to_and_fro, NULL, x, y, z, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(z, results, sizeof results), WEFT_OK);
    CHECK(results[2] == 0 && results[3] == 9.5f); /* 2, 1 + 4, 2.5 + 7 */
    CHECK(test_faults() || was_parallel(&to_and_fro));
}

TEST(F7_tasks)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4, 5));
    char *text = NULL;
    CHECK_STATUS(weft_call(prefix_rows, NULL, a, 4, 5), WEFT_OK);
    CHECK_STATUS(weft_function_explain(&text, &prefix_rows), WEFT_OK);
    CHECK(text && strstr(text, ": parallel, each iteration in order\n"));
    weft_explain_free(text);
}

TEST_MAIN(TEST_OF(F3_arrays_of_their_own), TEST_OF(F3_counts_of_their_own),
          TEST_OF(F3_rows_of_views), TEST_OF(F3_views_that_share_memory),
          TEST_OF(F3_tasks_out_of_range), TEST_OF(F3_histograms), TEST_OF(F3_where_the_least_is),
          TEST_OF(F3_choices_that_go_on_from_earlier_ones),
          TEST_OF(F3_parts_look_at_no_more_than_the_loop), TEST_OF(F3_subscripts_that_wrap_around),
          TEST_OF(F3_iterations_that_read_what_they_write), TEST_OF(F7_tasks));
