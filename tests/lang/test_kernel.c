/* Portable kernels, compared with plain loops: neighbours, maps, linear indexing, aliasing. */
#include "core/allocate.h"
#include "kernel/background.h"
#include "support/arrays.h"
#include "support/random.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { MOST = 4096 };

static void fill(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(random_below(2000) - 1000) / 8;
}

static int64_t count_of(weft_shape shape)
{
    int64_t count = 0;
    return weft_shape_count(shape, &count) == WEFT_OK ? count : 0;
}

/* An array of some layout with the values. */
static weft_array *floats(const float *values, weft_shape shape, int layout)
{
    WEFT_AUTO weft_array *dense =
        from(values, (size_t)count_of(shape) * sizeof *values, shape, WEFT_F32);
    return dense ? laid_out(dense, layout) : NULL;
}

static bool holds_floats(weft_array *array, const float *expected)
{
    return holds(array, expected, weft_array_bytes(array));
}

static weft_kernel kernel_of(const char *parameters, const char *body)
{
    return (weft_kernel){.struct_size = sizeof(weft_kernel),
                         .name = "test",
                         .parameters = parameters,
                         .body = body,
                         .place = "here"};
}

/* Neighbours: one kernel text for each case, at one address. */

static const char letters[] = "ijkl";

struct neighbours {
    weft_shape shape;
    weft_shape space; /* at most as large */
    int64_t offset[2][WEFT_NDIM_MAX];
    int boundary;
};

static const char *const boundaries[] = {"", ", boundary=clamp", ", boundary=wrap", ", value=v"};

static size_t write_element(char *text, size_t room, const char *name, int ndim,
                            const int64_t *offset, const char *more)
{
    size_t used = (size_t)snprintf(text, room, "%s(", name);
    for (int k = 0; k < ndim; k++)
        used += (size_t)snprintf(text + used, room - used, "%s%c%+lld", k ? ", " : "", letters[k],
                                 (long long)offset[k]);
    return used + (size_t)snprintf(text + used, room - used, "%s)", more);
}

static void write_neighbours(const struct neighbours *c, char *body, size_t room)
{
    static const int64_t none[WEFT_NDIM_MAX] = {0};
    const char *rule = boundaries[c->boundary];
    size_t used = write_element(body, room, "{ out", c->shape.ndim, none, "");
    used += (size_t)snprintf(body + used, room - used, " = ");
    used += write_element(body + used, room - used, "in", c->shape.ndim, c->offset[0], rule);
    used += (size_t)snprintf(body + used, room - used, " - 2*");
    used += write_element(body + used, room - used, "in", c->shape.ndim, c->offset[1], rule);
    snprintf(body + used, room - used, " + v - v; }");
}

static float element_at(const struct neighbours *c, const float *in, int64_t point,
                        const int64_t *offset, float v)
{
    int64_t from = 0, own = point, step = 1;
    bool outside = false;
    for (int k = c->shape.ndim - 1; k >= 0; k--) {
        int64_t size = c->shape.size[k], at = point % size + offset[k];
        point /= size;
        outside |= at < 0 || at >= size;
        if (c->boundary == 1)
            at = at < 0 ? 0 : at >= size ? size - 1 : at;
        else if (c->boundary == 2)
            at = (at % size + size) % size;
        from += at * step;
        step *= size;
    }
    if (!outside || c->boundary == 1 || c->boundary == 2)
        return in[from];
    return c->boundary == 3 ? v : in[own];
}

/* The position in the array of a point of the space. */
static int64_t own_position(const struct neighbours *c, int64_t point)
{
    int64_t position = 0, step = 1;
    for (int k = c->shape.ndim - 1; k >= 0; k--) {
        position += point % c->space.size[k] * step;
        point /= c->space.size[k];
        step *= c->shape.size[k];
    }
    return position;
}

static void check_neighbours(const struct neighbours *c, int in_layout, int out_layout)
{
    static float in[MOST], out[MOST];
    static char body[512];
    bool whole = weft_shape_equal(c->shape, c->space);
    float v = 7.5f;
    fill(in, count_of(c->shape));
    memcpy(out, in, sizeof out);
    write_neighbours(c, body, sizeof body);
    WEFT_AUTO weft_array *x = floats(in, c->shape, in_layout);
    WEFT_AUTO weft_array *y = floats(in, c->shape, out_layout);
    CHECK(x && y);
    static weft_kernel kernel;
    kernel = kernel_of("(in, out, v)", body);
    weft_status status = weft_launch(kernel, c->space, x, y, v);
    if (status == WEFT_ERROR_SHAPE && !whole && c->boundary != 1 && c->boundary != 3)
        return; /* not possible, as the documents say */
    CHECK_STATUS(status, WEFT_OK);
    for (int64_t p = 0; p < count_of(c->space); p++) {
        int64_t own = own_position(c, p);
        out[own] = element_at(c, in, own, c->offset[0], v) -
                   2 * element_at(c, in, own, c->offset[1], v) + v - v;
    }
    CHECK(holds_floats(y, out));
    CHECK_STATUS(weft_launch(kernel, c->space, x, x, v), WEFT_OK); /* in place */
    CHECK(holds_floats(x, out));
}

TEST(K1_neighbours_of_any_rank_layout_and_boundary)
{
    int cases = test_faults() ? 4 : test_quick() ? 40 : 400;
    for (int n = 0; n < cases; n++) {
        struct neighbours c = {.shape = {1 + n % 4, {0}}, .boundary = n / 4 % 4};
        static const int64_t most[] = {300, 40, 13, 7};
        for (int k = 0; k < c.shape.ndim; k++) {
            c.shape.size[k] = 1 + random_below(most[c.shape.ndim - 1]);
            for (int e = 0; e < 2; e++)
                c.offset[e][k] = random_below(5) - 2;
        }
        c.space = c.shape;
        for (int k = 0; n % 3 == 0 && k < c.shape.ndim; k++)
            c.space.size[k] = 1 + random_below(c.shape.size[k]);
        check_neighbours(&c, (int)random_below(LAYOUTS), (int)random_below(LAYOUTS));
    }
}

WEFT_KERNEL(blur, (in, out),
            { out(i, j) = 0.25f * (in(i - 1, j) + in(i + 1, j) + in(i, j - 1) + in(i, j + 1)); });

static void blur_loop(const float *in, float *out, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const float own = in[i * columns + j];
            float up = i > 0 ? in[(i - 1) * columns + j] : own;
            float down = i + 1 < rows ? in[(i + 1) * columns + j] : own;
            float left = j > 0 ? in[i * columns + j - 1] : own;
            float right = j + 1 < columns ? in[i * columns + j + 1] : own;
            out[i * columns + j] = 0.25f * (up + down + left + right);
        }
}

TEST(K1_blur_of_the_tour)
{
    enum { ROWS = 37, COLUMNS = 41 };
    static float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    fill(in, ROWS * COLUMNS);
    blur_loop(in, out, ROWS, COLUMNS);
    WEFT_AUTO weft_array *x = floats(in, WEFT_SHAPE(ROWS, COLUMNS), 0);
    WEFT_AUTO weft_array *y = weft_zeros_like(x);
    weft_statistics before, after;
    CHECK(x && y);
    weft_memory_stats(device(), &before);
    CHECK_STATUS(weft_launch(blur, y, x, y), WEFT_OK);
    weft_memory_stats(device(), &after);
    CHECK(holds_floats(y, out));
    CHECK_INT(after.launches - before.launches, 1);
    CHECK_INT(after.allocations, before.allocations);
    CHECK_STATUS(weft_launch(blur, WEFT_SHAPE(ROWS, COLUMNS), x, x), WEFT_OK);
    CHECK(holds_floats(x, out));
}

TEST(K1_warm_launches_allocate_and_compile_nothing)
{
    static float in[12] = {1, 2, 3};
    WEFT_AUTO weft_array *x = floats(in, WEFT_SHAPE(3, 4), 0), *y = weft_zeros_like(x);
    weft_statistics before, after;
    CHECK(x && y);
    for (int n = 0; n < 3; n++)
        CHECK_STATUS(weft_launch(blur, y, x, y), WEFT_OK);
    if (test_faults())
        return;
    weft__background_wait(); /* for the compiler, which allocates */
    weft_memory_stats(device(), &before);
    weft__allocation_fail_at(1);
    const weft_status status = weft_launch(blur, y, x, y);
    const bool allocated = weft__allocation_failed();
    weft__allocation_fail_at(0);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(!allocated);
    weft_memory_stats(device(), &after);
    CHECK_INT(after.compilations, before.compilations);
}

/* Maps: what indices are made of. */

WEFT_KERNEL(transposed, (in, out), { out(i, j) = in(j, i); });
WEFT_KERNEL(written_transposed, (in, out), {
    a = in(i, j);
    out(j, i) = a;
});
WEFT_KERNEL(every_second, (in, out), { out(i, j) = in(2 * i + 1, 3 * j); });
WEFT_KERNEL(row_and_column, (in, row, out), { out(i, j) = in(i, 0) * row(j) + in(0, j); });
WEFT_KERNEL(backwards, (in, out, n), { out(i) = in(n - 1 - i); });
WEFT_KERNEL(diagonal, (in, out), { out(i) = in(i, i); });
WEFT_KERNEL(by_position, (in, out), { out(i, j) = in(5 * i + j + 2); });
WEFT_KERNEL(interior, (in, out), {
    out(i + 1, j + 1) = in(i, j + 1) + in(i + 2, j + 1) + in(i + 1, j) + in(i + 1, j + 2);
});
WEFT_KERNEL(scattered, (in, out), { out(2 * i + 1) = in(i); });

#define ARRAYS(rows, columns, to_rows, to_columns)                                                 \
    enum { N = (rows), M = (columns), P = (to_rows), Q = (to_columns) };                           \
    float in[N * M], out[P * Q];                                                                   \
    fill(in, N *M);                                                                                \
    memset(out, 0, sizeof out);                                                                    \
    WEFT_AUTO weft_array *x = floats(in, WEFT_SHAPE(N, M), layout);                                \
    WEFT_AUTO weft_array *y = floats(out, WEFT_SHAPE(P, Q), (layout + 1) % LAYOUTS);               \
    CHECK(x &&y)

static void check_transposed(int layout)
{
    ARRAYS(5, 8, 8, 5);
    CHECK_STATUS(weft_launch(transposed, y, x, y), WEFT_OK);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < Q; j++)
            out[i * Q + j] = in[j * M + i];
    CHECK(holds_floats(y, out));
    CHECK_STATUS(weft_launch(written_transposed, x, x, y), WEFT_ERROR_SHAPE);
    weft_shape space = WEFT_SHAPE(8, 5); /* j comes first in out(j, i) */
    CHECK_STATUS(weft_launch(written_transposed, space, x, y), WEFT_OK);
    CHECK(holds_floats(y, out));
}

static void check_every_second(int layout)
{
    ARRAYS(9, 10, 4, 4);
    CHECK_STATUS(weft_launch(every_second, y, x, y), WEFT_OK);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < Q; j++)
            out[i * Q + j] = in[(2 * i + 1) * M + 3 * j];
    CHECK(holds_floats(y, out));
}

static void check_row_and_column(int layout)
{
    ARRAYS(6, 7, 6, 7);
    WEFT_AUTO weft_array *row = floats(in + M, WEFT_SHAPE(M), layout);
    CHECK(row);
    CHECK_STATUS(weft_launch(row_and_column, y, x, row, y), WEFT_OK);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < Q; j++)
            out[i * Q + j] = in[i * M] * in[M + j] + in[j];
    CHECK(holds_floats(y, out));
}

static void check_single_index(int layout)
{
    ARRAYS(7, 7, 1, 7);
    WEFT_AUTO weft_array *line = weft_slice(y, WEFT_AT(0));
    CHECK(line);
    CHECK_STATUS(weft_launch(diagonal, line, x, line), WEFT_OK);
    for (int i = 0; i < Q; i++)
        out[i] = in[i * M + i];
    CHECK(holds_floats(line, out));
    for (int n = 7; n < 50; n += 21) { /* the same kernel for another number */
        CHECK_STATUS(weft_launch(backwards, line, x, line, n), WEFT_OK);
        for (int i = 0; i < Q; i++)
            out[i] = in[n - 1 - i];
        CHECK(holds_floats(line, out));
    }
}

static void check_by_position(int layout)
{
    ARRAYS(6, 7, 4, 5);
    CHECK_STATUS(weft_launch(by_position, y, x, y), WEFT_OK);
    for (int i = 0; i < P; i++)
        for (int j = 0; j < Q; j++)
            out[i * Q + j] = in[5 * i + j + 2];
    CHECK(holds_floats(y, out));
}

static void check_interior(int layout)
{
    ARRAYS(8, 9, 8, 9);
    CHECK_STATUS(weft_launch(interior, WEFT_SHAPE(N - 2, M - 2), x, y), WEFT_OK);
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++)
            out[i * M + j] =
                in[(i - 1) * M + j] + in[(i + 1) * M + j] + in[i * M + j - 1] + in[i * M + j + 1];
    CHECK(holds_floats(y, out));
}

static void check_scattered(int layout)
{
    ARRAYS(3, 4, 5, 5);
    CHECK_STATUS(weft_launch(scattered, WEFT_SHAPE(12), x, y), WEFT_OK);
    for (int i = 0; i < 12; i++)
        out[2 * i + 1] = in[i];
    CHECK(holds_floats(y, out));
}

TEST(K1_maps)
{
    for (int layout = 0; layout < (test_faults() ? 2 : LAYOUTS); layout++) {
        check_transposed(layout);
        check_every_second(layout);
        check_row_and_column(layout);
        check_single_index(layout);
        check_by_position(layout);
        check_interior(layout);
        check_scattered(layout);
    }
}

/* Linear indexing of arrays with several axes. */

WEFT_KERNEL(linear, (a, b, out), { out(i) = a(i) * 2 + b(i); });
WEFT_KERNEL(linear_neighbours, (a, out), {
    boundary = clamp;
    out(i) = a(i + 1) - a(i - 1);
});
WEFT_KERNEL(linear_index, (a, out), { out(i) = a(i) + f32(i % 10); });

static void check_linear(weft_shape shape, int layout)
{
    static float a[MOST], b[MOST], out[MOST];
    int n = (int)count_of(shape);
    fill(a, n);
    fill(b, n);
    WEFT_AUTO weft_array *x = floats(a, shape, layout);
    WEFT_AUTO weft_array *y = floats(b, WEFT_SHAPE(n), 3);
    WEFT_AUTO weft_array *z = floats(a, shape, (layout + 1) % LAYOUTS);
    CHECK(x && y && z);
    CHECK_STATUS(weft_launch(linear, x, x, y, z), WEFT_OK);
    for (int i = 0; i < n; i++)
        out[i] = a[i] * 2 + b[i];
    CHECK(holds_floats(z, out));
    CHECK_STATUS(weft_launch(linear_neighbours, WEFT_SHAPE(n), x, z), WEFT_OK);
    for (int i = 0; i < n; i++)
        out[i] = a[i + 1 < n ? i + 1 : i] - a[i > 0 ? i - 1 : 0];
    CHECK(holds_floats(z, out));
    CHECK_STATUS(weft_launch(linear_neighbours, x, x, x), WEFT_OK); /* in place */
    CHECK(holds_floats(x, out));
    CHECK_STATUS(weft_launch(linear_index, z, z, z), WEFT_OK);
    for (int i = 0; i < n; i++)
        out[i] += (float)(i % 10);
    CHECK(holds_floats(z, out));
}

TEST(K1_linear_indexing)
{
    for (int layout = 0; layout < (test_faults() ? 2 : LAYOUTS); layout++) {
        check_linear(WEFT_SHAPE(17), layout);
        check_linear(WEFT_SHAPE(5, 7), layout);
        check_linear(WEFT_SHAPE(3, 5, 11), layout);
        check_linear(WEFT_SHAPE(1, 3, 1, 9), layout);
    }
}

/* What a point sees. semantics: Portable kernels / Order */

WEFT_KERNEL(steps, (a, b, c, n), {
    m = a(i) * n;
    b(i) = m + 1;
    c(i) = b(i) + b(i - 1);
    b(i) -= where(i > 2, m, 0.5f);
    c(i) *= 2;
});

TEST(K1_an_assigned_element_is_new_and_its_neighbour_is_old)
{
    enum { N = 100 };
    float a[N], b[N], c[N], old[N];
    int n = 3;
    fill(a, N);
    fill(b, N);
    WEFT_AUTO weft_array *x = floats(a, WEFT_SHAPE(N), 0), *y = floats(b, WEFT_SHAPE(N), 2);
    WEFT_AUTO weft_array *z = floats(a, WEFT_SHAPE(N), 3);
    CHECK(x && y && z);
    memcpy(old, b, sizeof old);
    CHECK_STATUS(weft_launch(steps, y, x, y, z, n), WEFT_OK);
    for (int i = 0; i < N; i++) {
        float m = a[i] * 3;
        b[i] = m + 1;
        c[i] = b[i] + old[i > 0 ? i - 1 : 0]; /* unshifted: b(i) as it was */
        b[i] -= i > 2 ? m : 0.5f;
        c[i] *= 2;
    }
    CHECK(holds_floats(y, b));
    CHECK(holds_floats(z, c));
}

WEFT_KERNEL(two_writes, (out), {
    out(i) = 1;
    out(i + 1) = 2;
});
WEFT_KERNEL(sum_of_two, (a, b, out), { out(i) = a(i) + b(i) * 10; });

TEST(K1_arguments_that_overlap)
{
    enum { N = 50 };
    float values[N + 1], expected[N + 1];
    fill(values, N + 1);
    WEFT_AUTO weft_array *all = floats(values, WEFT_SHAPE(N + 1), 0);
    WEFT_AUTO weft_array *first = weft_slice(all, WEFT_RANGE(0, N));
    WEFT_AUTO weft_array *second = weft_slice(all, WEFT_RANGE(1, N + 1));
    WEFT_AUTO weft_array *back = weft_slice(first, WEFT_REVERSED);
    CHECK(all && first && second && back);
    CHECK_STATUS(weft_launch(sum_of_two, first, first, back, second), WEFT_OK);
    memcpy(expected, values, sizeof expected);
    for (int i = 0; i < N; i++)
        expected[i + 1] = values[i] + values[N - 1 - i] * 10;
    CHECK(holds_floats(all, expected));
    CHECK_STATUS(weft_launch(two_writes, WEFT_SHAPE(N), all), WEFT_OK);
    expected[0] = 1;
    for (int i = 1; i <= N; i++)
        expected[i] = 2;
    CHECK(holds_floats(all, expected));
}

/* An array that is read by position, which some layouts have a copy for, and written otherwise. */

WEFT_KERNEL(plus_first, (a), { a(i, j) = a(i, j) + a(0); });
WEFT_KERNEL(minus_line, (a), { a(i, i) -= a(i); });
WEFT_KERNEL(plus_even, (a), { a(i, j) += a(2 * i + j); });
WEFT_KERNEL(less_by_third, (a), {
    t = a(2) - 3;
    a(i, j) = t + a(i, j - 2, boundary = clamp);
});
WEFT_KERNEL(line_and_row, (a), {
    a(i) += a(1, i);
    a(i) *= 2;
});

enum { SIDE = 5, SQUARE = SIDE * SIDE };

static void launch_square(const weft_kernel *kernel, weft_shape space, const float *in,
                          const float *expected, int layout)
{
    WEFT_AUTO weft_array *a = floats(in, WEFT_SHAPE(SIDE, SIDE), layout);
    CHECK(a);
    CHECK_STATUS(weft_launch(*kernel, space, a), WEFT_OK);
    CHECK(holds_floats(a, expected));
}

static void check_read_by_position(int layout)
{
    float in[SQUARE], all[4][SQUARE], line[SQUARE];
    const weft_shape square = WEFT_SHAPE(SIDE, SIDE), few = WEFT_SHAPE(SIDE);
    fill(in, SQUARE);
    memcpy(all[1], in, sizeof in);
    memcpy(line, in, sizeof in);
    for (int p = 0; p < SQUARE; p++) {
        const int i = p / SIDE, j = p % SIDE;
        all[0][p] = in[p] + in[0];
        all[1][p] -= i == j ? in[i] : 0;
        all[2][p] = in[p] + in[2 * i + j];
        all[3][p] = in[2] - 3 + in[j > 2 ? p - 2 : i * SIDE];
        line[p] = i == 0 ? (in[p] + in[SIDE + p]) * 2 : in[p];
    }
    launch_square(&plus_first, square, in, all[0], layout);
    launch_square(&minus_line, few, in, all[1], layout);
    launch_square(&plus_even, square, in, all[2], layout);
    launch_square(&less_by_third, square, in, all[3], layout);
    launch_square(&line_and_row, few, in, line, layout);
}

TEST(K1_an_array_is_read_by_position_and_written)
{
    for (int layout = 0; layout < (test_faults() ? 2 : LAYOUTS); layout++)
        check_read_by_position(layout);
}

/* Numbers of indices. */

WEFT_KERNEL(divided, (in, out, n, by), { out(i) = in(i + 3 + n / by + n % by); });

TEST(K1_quotients_of_indices_are_those_of_integers)
{
    static const int64_t cases[][3] = {{7, 2, 4}, {2, 0, 2}, {-3, -1, 3}, {-7, -4, -2}};
    enum { N = 11, M = 4 };
    float in[N];
    fill(in, N);
    WEFT_AUTO weft_array *x = floats(in, WEFT_SHAPE(N), 0), *y = floats(in, WEFT_SHAPE(M), 0);
    CHECK(x && y);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const int64_t n = cases[c][0], by = cases[c][1];
        CHECK_STATUS(weft_launch(divided, y, x, y, n, by), WEFT_OK);
        CHECK(holds_floats(y, in + 3 + cases[c][2]));
    }
}

WEFT_KERNEL(positions, (out, whole), {
    out(i, j, k) = f32(100 * i + 10 * j + k);
    whole(i, j, k) = k - i;
});

/* semantics: Portable kernels / Index values */
TEST(K1_indices_are_values)
{
    float expected[4 * 5 * 6];
    int16_t whole[4 * 5 * 6], actual[4 * 5 * 6];
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(4, 5, 6), .device = device());
    WEFT_AUTO weft_array *w = weft_zeros_like(x, .dtype = WEFT_I16);
    CHECK(x && w);
    CHECK_STATUS(weft_launch(positions, x, x, w), WEFT_OK);
    for (int p = 0; p < 120; p++) {
        expected[p] = (float)(p / 30 * 100 + p / 6 % 5 * 10 + p % 6);
        whole[p] = (int16_t)(p % 6 - p / 30);
    }
    CHECK(holds_floats(x, expected));
    CHECK_STATUS(weft_copy_to_host(w, actual, sizeof actual), WEFT_OK);
    CHECK_BITS(actual, whole, sizeof whole);
}

WEFT_KERNEL(mixed, (a, b, c, z), {
    c(i) = a(i) ? f64(b(i - 1)) : 0.5;
    z(i) = z(i + 1, value = 2.0i) * 2;
});

TEST(K1_other_dtypes)
{
    const uint8_t a[] = {1, 0, 2, 0};
    const int64_t b[] = {10, -20, 30, 40};
    const double z[] = {1, 2, 3, 4, 5, 6, 7, 8}, expected_z[] = {6, 8, 10, 12, 14, 16, 0, 4};
    const double expected[] = {10, 0.5, -20, 0.5};
    double c[4], actual_z[8];
    weft_shape four = WEFT_SHAPE(4);
    WEFT_AUTO weft_array *x =
        weft_from_host(a, sizeof a, four, .dtype = WEFT_BOOL, .device = device());
    WEFT_AUTO weft_array *y =
        weft_from_host(b, sizeof b, four, .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *w = weft_zeros(four, .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *q =
        weft_from_host(z, sizeof z, four, .dtype = WEFT_C128, .device = device());
    CHECK(x && y && w && q);
    CHECK_STATUS(weft_launch(mixed, four, x, y, w, q), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(w, c, sizeof c), WEFT_OK);
    CHECK_BITS(c, expected, sizeof c);
    CHECK_STATUS(weft_copy_to_host(q, actual_z, sizeof actual_z), WEFT_OK);
    CHECK_BITS(actual_z, expected_z, sizeof actual_z);
}

TEST(K1_spaces_without_points_and_of_one)
{
    float one = 3, expected = 3;
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(0, 5), .device = device());
    WEFT_AUTO weft_array *y = floats(&one, WEFT_SHAPE(1, 1), 0);
    CHECK(x && y);
    CHECK_STATUS(weft_launch(blur, x, x, x), WEFT_OK);
    CHECK_STATUS(weft_launch(blur, WEFT_SHAPE(0, 7), y, y), WEFT_OK); /* nothing is outside */
    CHECK_STATUS(weft_launch(linear_index, x, x, x), WEFT_OK);
    CHECK_STATUS(weft_launch(blur, y, y, y), WEFT_OK);
    CHECK(holds_floats(y, &expected));
}

static void *launch_often(void *argument)
{
    enum { ROWS = 19, COLUMNS = 23 };
    bool *right = argument;
    float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    for (int p = 0; p < ROWS * COLUMNS; p++)
        in[p] = (float)(p * 7 % 31);
    blur_loop(in, out, ROWS, COLUMNS);
    *right = true;
    for (int n = 0; *right && n < (test_faults() ? 3 : 50); n++) {
        WEFT_AUTO weft_array *x = floats(in, WEFT_SHAPE(ROWS, COLUMNS), n % LAYOUTS);
        WEFT_AUTO weft_array *y = x ? weft_zeros_like(x) : NULL;
        *right = y && weft_launch(blur, y, x, y) == WEFT_OK && holds_floats(y, out);
    }
    return NULL;
}

TEST(K1_threads_and_streams)
{
    pthread_t threads[4];
    bool right[4] = {false};
    for (int t = 0; t < 4; t++)
        CHECK(pthread_create(&threads[t], NULL, launch_often, &right[t]) == 0);
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < 4; t++)
        CHECK(right[t]);
    weft_stream *stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    {
        WEFT_STREAM(stream);
        launch_often(&right[0]);
    }
    weft_stream_release(stream);
    CHECK(right[0]);
}

TEST_MAIN(TEST_OF(K1_neighbours_of_any_rank_layout_and_boundary), TEST_OF(K1_blur_of_the_tour),
          TEST_OF(K1_warm_launches_allocate_and_compile_nothing), TEST_OF(K1_maps),
          TEST_OF(K1_linear_indexing),
          TEST_OF(K1_an_assigned_element_is_new_and_its_neighbour_is_old),
          TEST_OF(K1_arguments_that_overlap), TEST_OF(K1_an_array_is_read_by_position_and_written),
          TEST_OF(K1_quotients_of_indices_are_those_of_integers), TEST_OF(K1_indices_are_values),
          TEST_OF(K1_other_dtypes), TEST_OF(K1_spaces_without_points_and_of_one),
          TEST_OF(K1_threads_and_streams));
