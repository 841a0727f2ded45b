/* Shifts and what is made of them, against a reference that looks at one element at a time.
 * semantics: Points, memory and order / A displaced load */
#include "support/arrays.h"
#include "support/random.h"
#include <inttypes.h>
#include <stdio.h>

enum { MOST = 6000 };
static const char *const boundaries[] = {"boundary=unshifted", "boundary=clamp", "boundary=wrap",
                                         "value=v"};

/* Small integers, exact in every dtype, as elements of it. */
static void fill(char *data, weft_dtype dtype, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t n = 1 + random_below(100);
        float f = (float)n;
        double d = (double)n;
        uint32_t bits;
        char *at = data + i * (int64_t)weft_dtype_size(dtype);
        memcpy(&bits, &f, sizeof bits);
        uint16_t bf16 = (uint16_t)(bits >> 16), f16 = (uint16_t)((bits >> 13) - (112U << 10));
        switch (dtype) {
        case WEFT_BOOL:
            at[0] = (char)(n & 1);
            break;
        case WEFT_F16:
            memcpy(at, &f16, 2);
            break;
        case WEFT_BF16:
            memcpy(at, &bf16, 2);
            break;
        case WEFT_F32:
            memcpy(at, &f, 4);
            break;
        case WEFT_F64:
            memcpy(at, &d, 8);
            break;
        case WEFT_C64:
            memcpy(at, (float[]){f, -f}, 8);
            break;
        case WEFT_C128:
            memcpy(at, (double[]){d, -d}, 16);
            break;
        default:
            memcpy(at, &n, weft_dtype_size(dtype));
        }
    }
}

/* The element that a shifted one is, or -1 for the constant. */
static int64_t source(const weft_shape *shape, int64_t at, const int64_t *offset, int boundary)
{
    int64_t position[WEFT_NDIM_MAX], from = 0;
    for (int k = shape->ndim - 1; k >= 0; at /= shape->size[k--])
        position[k] = at % shape->size[k];
    int64_t own = 0;
    bool outside = false;
    for (int k = 0; k < shape->ndim; k++) {
        int64_t size = shape->size[k], to = position[k] + offset[k];
        own = own * size + position[k];
        outside |= to < 0 || to >= size;
        if (boundary == 1)
            to = to < 0 ? 0 : to >= size ? size - 1 : to;
        else if (boundary == 2)
            to = (to % size + size) % size;
        from = from * size + to;
    }
    return !outside || boundary == 1 || boundary == 2 ? from : boundary == 3 ? -1 : own;
}

struct shift_case {
    weft_shape shape;
    weft_dtype dtype;
    int64_t offset[WEFT_NDIM_MAX];
    int boundary, layout;
};

static void write_code(const struct shift_case *c, char *code, size_t room)
{
    int used = snprintf(code, room, "shift(a");
    for (int k = 0; k < c->shape.ndim; k++)
        used += snprintf(code + used, room - (size_t)used, ", %" PRId64, c->offset[k]);
    snprintf(code + used, room - (size_t)used, ", %s)", boundaries[c->boundary]);
}

static bool check_shift(const struct shift_case *c)
{
    static char data[16 * MOST], expected[16 * MOST], actual[16 * MOST];
    char constant[16], code[400];
    size_t size = weft_dtype_size(c->dtype);
    int64_t count;
    CHECK_OR(weft_shape_count(c->shape, &count) == WEFT_OK && count <= MOST, false);
    fill(data, c->dtype, count);
    fill(constant, c->dtype, 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t from = source(&c->shape, i, c->offset, c->boundary);
        memcpy(expected + (size_t)i * size, from < 0 ? constant : data + (size_t)from * size, size);
    }
    WEFT_AUTO weft_array *a =
        weft_from_host(data, size * (size_t)count, c->shape, .dtype = c->dtype, .device = device());
    WEFT_AUTO weft_array *v =
        weft_from_host(constant, size, WEFT_SCALAR, .dtype = c->dtype, .device = device());
    CHECK_OR(a && v, false);
    WEFT_AUTO weft_array *x = laid_out(a, c->layout);
    CHECK_OR(x != NULL, false);
    const char *names[] = {"a", "v"};
    weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(v)};
    write_code(c, code, sizeof code);
    WEFT_AUTO weft_array *r = weft_evaluate_new(code, c->boundary == 3 ? 2 : 1, names, operands);
    CHECK_OR(r != NULL, false);
    CHECK_OR(weft_copy_to_host(r, actual, size * (size_t)count) == WEFT_OK, false);
    if (memcmp(actual, expected, size * (size_t)count) != 0)
        fprintf(stderr, "%s of %s, layout %d\n", code, weft_dtype_name(c->dtype), c->layout);
    CHECK_OR(memcmp(actual, expected, size * (size_t)count) == 0, false);
    return true;
}

TEST(X3_shift_of_one_dimension)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 17, 1023, 1024, 1025, 3000};
    static const int64_t offsets[] = {0,   1,    -1,    2,    -2,        5,
                                      -16, 1000, -1024, 2999, INT32_MAX, -INT32_MAX};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
            for (int boundary = 0; boundary < 4; boundary++) {
                struct shift_case c = {
                    WEFT_SHAPE(sizes[s]), WEFT_F32, {offsets[o]}, boundary, (int)(s + o) % LAYOUTS};
                CHECK(check_shift(&c));
            }
}

TEST(X3_shift_of_every_dtype)
{
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++)
        for (int boundary = 0; boundary < 4; boundary++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                struct shift_case c = {
                    WEFT_SHAPE(7, 60), (weft_dtype)dtype, {-2, 3}, boundary, layout};
                CHECK(check_shift(&c));
            }
}

TEST(X3_shift_of_many_dimensions)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 16, 33, 100, 700};
    int rounds = test_quick() ? 300 : 3000;
    for (int round = 0; round < rounds; round++) {
        struct shift_case c = {.dtype = round % 3 ? WEFT_F32 : WEFT_I16};
        int64_t count = 1;
        c.shape.ndim = 1 + (int)random_below(round % 10 ? 4 : 8);
        c.boundary = (int)random_below(4);
        c.layout = (int)random_below(LAYOUTS);
        for (int k = 0; k < c.shape.ndim; k++) {
            int64_t size = sizes[random_below(8)];
            c.shape.size[k] = count * size > MOST ? 1 + random_below(2) : size;
            count *= c.shape.size[k];
            if (count > MOST)
                c.shape.size[k] = 1, count /= 2;
            c.offset[k] = random_below(3) ? random_below(5) - 2 : random_below(81) - 40;
        }
        CHECK(check_shift(&c));
    }
}

static weft_array *numbers(int64_t count, float *values)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(random_below(2000) - 1000) / 8;
    return weft_from_host(values, (size_t)count * sizeof *values, WEFT_SHAPE(count),
                          .device = device());
}

/* Large enough for several threads, which would write what others have yet to read. */
TEST(X3_in_place_is_right)
{
    enum { N = 1 << 18 };
    static float a[N], expected[N];
    WEFT_AUTO weft_array *x = numbers(N, a);
    CHECK(x);
    for (int i = 0; i < N; i++)
        expected[i] = a[i + 1 < N ? i + 1 : i] - a[i];
    CHECK_STATUS(weft(x = shift(x, 1) - x, x), WEFT_OK);
    CHECK(holds(x, expected, N * sizeof(float)));
    WEFT_AUTO weft_array *y = numbers(N, a);
    CHECK(y);
    for (int i = 0; i < N; i++)
        expected[i] = a[i ? i - 1 : 0] + 2 * a[i];
    CHECK_STATUS(weft(y *= 2; y += shift(y, -1) / 2, y), WEFT_OK);
    CHECK(holds(y, expected, N * sizeof(float)));
}

/* Views of one array are read and written at once. */
TEST(X3_in_place_through_views)
{
    enum { N = 5000 };
    static float a[N], expected[N];
    WEFT_AUTO weft_array *x = numbers(N, a), *back = weft_slice(x, WEFT_REVERSED);
    CHECK(x && back);
    for (int i = 0; i < N; i++) {
        int j = N - 1 - i;
        expected[i] = a[j] + a[j ? j - 1 : j];
    }
    CHECK_STATUS(weft(x = back + shift(back, 1), x, back), WEFT_OK);
    CHECK(holds(x, expected, N * sizeof(float)));
}

/* What was assigned is stored before it is shifted, wherever it goes. */
TEST(X3_shift_of_what_was_assigned)
{
    enum { N = 1001 };
    static float a[N], b[N], c[N];
    WEFT_AUTO weft_array *x = numbers(N, a);
    CHECK(x);
    WEFT_AUTO weft_array *y = weft_zeros_like(x), *z = weft_zeros_like(x);
    CHECK(y && z);
    uint64_t before = launches();
    CHECK_STATUS(weft(y = 3 * x; z = shift(y, 2) + y, x, y, z), WEFT_OK);
    CHECK_INT(launches() - before, 2);
    for (int i = 0; i < N; i++)
        b[i] = 3 * a[i];
    for (int i = 0; i < N; i++)
        c[i] = b[i + 2 < N ? i + 2 : i] + b[i];
    CHECK(holds(y, b, N * sizeof(float)));
    CHECK(holds(z, c, N * sizeof(float)));
    /* y and x are overwritten in between, and read as they were at each point */
    CHECK_STATUS(
        weft(old = x; y = x + 1; x = shift(y, 1); y = shift(x, 1) + old; z = x - y, x, y, z),
        WEFT_OK);
    for (int i = 0; i < N; i++)
        b[i] = a[i + 1 < N ? i + 1 : i] + 1;
    CHECK(holds(x, b, N * sizeof(float)));
    for (int i = 0; i < N; i++)
        c[i] = b[i + 1 < N ? i + 1 : i] + a[i];
    CHECK(holds(y, c, N * sizeof(float)));
    for (int i = 0; i < N; i++)
        c[i] = b[i] - c[i];
    CHECK(holds(z, c, N * sizeof(float)));
}

/* Operands that overlap: what a later kernel reads was stored in memory that another one writes. */
TEST(X3_overlapping_operands)
{
    enum { N = 100, M = 40 };
    float a[N], y[M], z[M];
    WEFT_AUTO weft_array *x = numbers(N, a);
    WEFT_AUTO weft_array *low = weft_slice(x, WEFT_RANGE(0, M));
    WEFT_AUTO weft_array *high = weft_slice(x, WEFT_RANGE(M / 2, M / 2 + M));
    CHECK(x && low && high);
    WEFT_AUTO weft_array *r = weft_zeros_like(low);
    CHECK(r);
    for (int i = 0; i < M; i++)
        y[i] = 2 * a[i];
    for (int i = 0; i < M; i++)
        z[i] = y[i + 1 < M ? i + 1 : i] + a[M / 2 + i];
    CHECK_STATUS(weft(low = 2 * low; high = shift(low, 1) + high; r = shift(high, 1), low, high, r),
                 WEFT_OK);
    CHECK(holds(high, z, M * sizeof(float)));
    for (int i = 0; i < M; i++)
        y[i] = z[i + 1 < M ? i + 1 : i];
    CHECK(holds(r, y, M * sizeof(float)));
}

TEST(X3_differences_and_laplacian)
{
    enum { R = 37, C = 41 };
    static float a[R * C], expected[R * C];
    WEFT_AUTO weft_array *flat = numbers(R * C, a);
    WEFT_AUTO weft_array *x = weft_reshape(flat, WEFT_SHAPE(R, C));
    CHECK(x);
    WEFT_AUTO weft_array *f = weft_new(forward_diff(x, 0), x), *b = weft_new(back_diff(x, -1), x);
    WEFT_AUTO weft_array *l = weft_new(laplacian(x), x);
    CHECK(f && b && l);
    for (int i = 0; i < R * C; i++)
        expected[i] = i / C + 1 < R ? a[i + C] - a[i] : 0;
    CHECK(holds(f, expected, (R * C) * sizeof(float)));
    for (int i = 0; i < R * C; i++)
        expected[i] = i % C ? a[i] - a[i - 1] : 0;
    CHECK(holds(b, expected, (R * C) * sizeof(float)));
    for (int i = 0; i < R * C; i++) {
        float e = 4 * a[i];
        e -= i / C + 1 < R ? a[i + C] : a[i];
        e -= i / C ? a[i - C] : a[i];
        e -= i % C + 1 < C ? a[i + 1] : a[i];
        expected[i] = e - (i % C ? a[i - 1] : a[i]);
    }
    CHECK(holds(l, expected, (R * C) * sizeof(float)));
}

/* An operand with fewer axes, or with an axis of size 1, is repeated after it was shifted. */
TEST(X3_shift_and_broadcast)
{
    const float row[] = {1, 2, 3}, column[] = {10, 20}, one[] = {5, 6, 7};
    WEFT_AUTO weft_array *x = weft_from_host(row, sizeof row, WEFT_SHAPE(3), .device = device());
    WEFT_AUTO weft_array *y =
        weft_from_host(column, sizeof column, WEFT_SHAPE(2, 1), .device = device());
    WEFT_AUTO weft_array *z = weft_from_host(one, sizeof one, WEFT_SHAPE(1, 3), .device = device());
    CHECK(x && y && z);
    WEFT_AUTO weft_array *a = weft_new(shift(x, 1) + shift(y, -1, 0), x, y);
    WEFT_AUTO weft_array *b = weft_new(y + shift(z, 1, 1), y, z);
    WEFT_AUTO weft_array *c = weft_new(y + shift(z, 1, 1, boundary = wrap), y, z);
    WEFT_AUTO weft_array *d = weft_new(y + shift(z, 1, 0, value = 9), y, z);
    CHECK(a && b && c && d);
    CHECK(holds(a, (float[]){12, 13, 13, 12, 13, 13}, 6 * sizeof(float)));
    CHECK(holds(b, (float[]){15, 16, 17, 25, 26, 27}, 6 * sizeof(float)));
    CHECK(holds(c, (float[]){16, 17, 15, 26, 27, 25}, 6 * sizeof(float)));
    CHECK(holds(d, (float[]){19, 19, 19, 29, 29, 29}, 6 * sizeof(float)));
}

TEST(X3_two_outputs_that_overlap)
{
    float a[10], expected[10];
    WEFT_AUTO weft_array *x = numbers(10, a);
    WEFT_AUTO weft_array *low = weft_slice(x, WEFT_RANGE(0, 6)),
                         *high = weft_slice(x, WEFT_RANGE(4, 10));
    CHECK(x && low && high);
    CHECK_STATUS(weft(low = low + 1; high = high * 2, low, high), WEFT_OK);
    for (int i = 0; i < 10; i++)
        expected[i] = i < 4 ? a[i] + 1 : a[i] * 2;
    CHECK(holds(x, expected, 10 * sizeof(float)));
}

TEST_MAIN(TEST_NO_FAULTS(X3_shift_of_one_dimension, "hundreds of allocations that are all alike"),
          TEST_NO_FAULTS(X3_shift_of_every_dtype, "hundreds of allocations that are all alike"),
          TEST_NO_FAULTS(X3_shift_of_many_dimensions, "thousands of allocations, all alike"),
          TEST_OF(X3_in_place_is_right), TEST_OF(X3_in_place_through_views),
          TEST_OF(X3_shift_of_what_was_assigned), TEST_OF(X3_overlapping_operands),
          TEST_OF(X3_differences_and_laplacian), TEST_OF(X3_shift_and_broadcast),
          TEST_OF(X3_two_outputs_that_overlap));
