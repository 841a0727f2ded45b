/* Copies: any layout to any other, overlaps, host memory, sizes and strides beyond 2^31, compared
 * bit by bit with a scalar reference.
 */
#include "support/check.h"

#include <complex.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "support/record.h"
#include "support/reference.h"

static weft_device device(void) { return weft_device_named(test_device()); }

static bool test_failed(void) { return test_record_failure() != NULL; }

/* A view of a cube of memory, walked by the test itself: element (i0, i1 …) is at
 * start + sum of i_k * step_k elements. */
struct layout {
    int ndim;
    int64_t size[WEFT_NDIM_MAX], step[WEFT_NDIM_MAX], start;
};

static int64_t layout_count(const struct layout *layout)
{
    int64_t count = 1;
    for (int k = 0; k < layout->ndim; k++)
        count *= layout->size[k];
    return count;
}

/* Where the k-th element in C order is. */
static int64_t layout_at(const struct layout *layout, int64_t k)
{
    int64_t at = layout->start;
    for (int axis = layout->ndim - 1; axis >= 0; axis--) {
        at += k % layout->size[axis] * layout->step[axis];
        k /= layout->size[axis];
    }
    return at;
}

/* A view of `size` of a base that is a cube with `edge` elements along each axis: each axis of the
 * view walks one axis of the base in steps of −2 … 2. The layout is what it should be. */
static weft_array *random_view(weft_array *base, int ndim, const int64_t *size, int64_t edge,
                               uint64_t *state, struct layout *layout)
{
    weft_range ranges[WEFT_NDIM_MAX] = {{0}};
    weft_axes axes = {.count = ndim};
    for (int k = 0; k < ndim; k++)
        axes.axis[k] = k;
    for (int k = ndim - 1; k > 0; k--) {
        int other = (int)random_below(state, k + 1), axis = axes.axis[k];
        axes.axis[k] = axes.axis[other];
        axes.axis[other] = axis;
    }
    *layout = (struct layout){.ndim = ndim};
    for (int k = 0; k < ndim; k++) {
        int64_t most = size[k] > 1 ? (edge - 1) / (size[k] - 1) : 2;
        int64_t step = 1 + random_below(state, most < 2 ? most : 2);
        int64_t span = (size[k] - 1) * step,
                low = random_below(state, edge - (span > 0 ? span : 0));
        int64_t base_step = 1;
        for (int axis = axes.axis[k] + 1; axis < ndim; axis++)
            base_step *= edge;
        bool backwards = random_below(state, 2);
        int64_t first = backwards ? low + span : low;
        int64_t stop = backwards ? (low > 0 ? low - 1 : WEFT_END) : low + span + 1;
        if (size[k] == 0)
            stop = first = low;
        ranges[axes.axis[k]] = WEFT_STEP(first, stop, backwards ? -step : step);
        layout->size[k] = size[k];
        layout->step[k] = (backwards ? -step : step) * base_step;
        layout->start += first * base_step;
    }
    WEFT_AUTO weft_array *slice = weft_slice_with(base, ndim, ranges);
    return weft_permute(slice, axes);
}

static weft_shape cube(int ndim, int64_t edge)
{
    weft_shape shape = {ndim, {0}};
    for (int k = 0; k < ndim; k++)
        shape.size[k] = edge;
    return shape;
}

static int64_t cube_count(int ndim, int64_t edge)
{
    int64_t count = 1;
    for (int k = 0; k < ndim; k++)
        count *= edge;
    return count;
}

enum { CUBE = 6561 };                                         /* the most elements of a base */
static const int64_t edges[] = {1, 40, 13, 9, 7, 5, 4, 3, 3}; /* by rank */

static char source_host[16 * CUBE], target_host[16 * CUBE], moved[16 * CUBE], base_read[16 * CUBE];

/* What an assignment does: every element is read before one is written. */
static void reference_assign(const struct layout *to, weft_dtype to_dtype,
                             const struct layout *from, weft_dtype from_dtype, const char *source)
{
    int64_t count = layout_count(to);
    int64_t to_size = (int64_t)weft_dtype_size(to_dtype);
    int64_t from_size = (int64_t)weft_dtype_size(from_dtype);
    for (int64_t k = 0; k < count; k++)
        reference_convert(to_dtype, moved + k * to_size, from_dtype,
                          source + layout_at(from, k) * from_size);
    for (int64_t k = 0; k < count; k++)
        memcpy(target_host + layout_at(to, k) * to_size, moved + k * to_size, (size_t)to_size);
}

static void random_sizes(int ndim, uint64_t *state, int64_t *size)
{
    for (int k = 0; k < ndim; k++)
        size[k] = 1 + random_below(state, edges[ndim]);
    if (ndim > 0 && random_below(state, 20) == 0)
        size[random_below(state, ndim)] = 0;
    if (ndim > 0 && random_below(state, 3) == 0)
        size[random_below(state, ndim)] = 1;
}

/* Between two bases of any dtypes; some axes of the source are broadcast. */
static void check_assign(uint64_t seed)
{
    uint64_t state = seed;
    int ndim = (int)random_below(&state, 9);
    int64_t edge = edges[ndim], count = cube_count(ndim, edge), size[WEFT_NDIM_MAX] = {0};
    int64_t from_size[WEFT_NDIM_MAX] = {0};
    weft_dtype to_dtype = (weft_dtype)(1 + random_below(&state, 15));
    weft_dtype from_dtype = (weft_dtype)(1 + random_below(&state, 15));
    struct layout to, from;
    random_sizes(ndim, &state, size);
    memcpy(from_size, size, sizeof size);
    bool stretched[WEFT_NDIM_MAX] = {false};
    for (int k = 0; k < ndim; k++)
        if (random_below(&state, 6) == 0) {
            stretched[k] = size[k] != 1;
            from_size[k] = 1;
        }
    size_t to_bytes = (size_t)count * weft_dtype_size(to_dtype);
    size_t from_bytes = (size_t)count * weft_dtype_size(from_dtype);
    hard_elements(to_dtype, target_host, count, &state);
    hard_elements(from_dtype, source_host, count, &state);
    WEFT_AUTO weft_array *to_base = weft_from_host(target_host, to_bytes, cube(ndim, edge),
                                                   .dtype = to_dtype, .device = device());
    WEFT_AUTO weft_array *from_base = weft_from_host(source_host, from_bytes, cube(ndim, edge),
                                                     .dtype = from_dtype, .device = device());
    CHECK(to_base && from_base);
    WEFT_AUTO weft_array *target = random_view(to_base, ndim, size, edge, &state, &to);
    WEFT_AUTO weft_array *source = random_view(from_base, ndim, from_size, edge, &state, &from);
    CHECK(target && source);
    for (int k = 0; k < ndim; k++) {
        from.size[k] = size[k];
        if (stretched[k])
            from.step[k] = 0;
    }
    CHECK_STATUS(weft_assign_cast(target, source), WEFT_OK);
    reference_assign(&to, to_dtype, &from, from_dtype, source_host);
    CHECK_STATUS(weft_copy_to_host(to_base, base_read, to_bytes), WEFT_OK);
    CHECK_BITS(base_read, target_host, to_bytes);
    /* and read it back through the view, in C order */
    CHECK_STATUS(weft_copy_to_host(target, base_read, weft_array_bytes(target)), WEFT_OK);
    CHECK_BITS(base_read, moved, weft_array_bytes(target));
}

TEST(A2_assign_any_layout_to_any)
{
    uint64_t cases = test_quick() ? 300 : 3000;
    for (uint64_t seed = 1; seed <= cases && !test_failed(); seed++) {
        check_assign(seed);
        if (test_failed())
            printf("seed %" PRIu64 "\n", seed);
    }
}

/* Both views in one base: they overlap in every way that steps and permutations allow. */
static void check_overlap(uint64_t seed)
{
    uint64_t state = seed;
    int ndim = 1 + (int)random_below(&state, 8);
    int64_t edge = edges[ndim], count = cube_count(ndim, edge), size[WEFT_NDIM_MAX] = {0};
    weft_dtype dtype = (weft_dtype)(1 + random_below(&state, 15));
    struct layout to, from;
    random_sizes(ndim, &state, size);
    size_t bytes = (size_t)count * weft_dtype_size(dtype);
    hard_elements(dtype, target_host, count, &state);
    memcpy(source_host, target_host, bytes);
    WEFT_AUTO weft_array *base =
        weft_from_host(target_host, bytes, cube(ndim, edge), .dtype = dtype, .device = device());
    CHECK(base);
    WEFT_AUTO weft_array *target = random_view(base, ndim, size, edge, &state, &to);
    WEFT_AUTO weft_array *source = random_view(base, ndim, size, edge, &state, &from);
    CHECK(target && source);
    CHECK_STATUS(weft_assign(target, source), WEFT_OK);
    reference_assign(&to, dtype, &from, dtype, source_host);
    CHECK_STATUS(weft_copy_to_host(base, base_read, bytes), WEFT_OK);
    CHECK_BITS(base_read, target_host, bytes);
}

TEST(A2_overlapping_assign)
{
    uint64_t cases = test_quick() ? 300 : 3000;
    for (uint64_t seed = 1; seed <= cases && !test_failed(); seed++) {
        check_overlap(seed);
        if (test_failed())
            printf("seed %" PRIu64 "\n", seed);
    }
}

/* Few, for the runs in which allocations fail: a copy in between is one of them. */
TEST(A2_overlapping_assign_a_few)
{
    check_overlap(5);
    check_overlap(17);
    check_assign(5);
}

TEST(A2_overlapping_shifts)
{
    enum { LENGTH = 100000 }; /* long enough to be cut into pieces that run at once */
    static int32_t host[LENGTH], read[LENGTH];
    static const int64_t shifts[] = {1, -1, 7, -7, 16, -1000, 40000};
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        int64_t by = shifts[i], size = LENGTH - llabs(by);
        for (int k = 0; k < LENGTH; k++)
            host[k] = k * 3;
        WEFT_AUTO weft_array *a = weft_from_host(host, sizeof host, WEFT_SHAPE(LENGTH),
                                                 .dtype = WEFT_I32, .device = device());
        int64_t to = by > 0 ? by : 0, from = by > 0 ? 0 : -by;
        WEFT_AUTO weft_array *target = weft_slice(a, WEFT_RANGE(to, to + size));
        WEFT_AUTO weft_array *source = weft_slice(a, WEFT_RANGE(from, from + size));
        CHECK(target && source);
        CHECK_STATUS(weft_assign(target, source), WEFT_OK);
        memmove(host + to, host + from, (size_t)size * sizeof *host);
        CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
        CHECK_BITS(read, host, sizeof host);
    }
    WEFT_AUTO weft_array *a = weft_from_host(host, sizeof host, WEFT_SHAPE(LENGTH),
                                             .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *reversed = weft_slice(a, WEFT_REVERSED);
    CHECK(reversed);
    CHECK_STATUS(weft_assign(a, reversed), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    for (int k = 0; k < LENGTH; k++)
        CHECK_INT(read[k], host[LENGTH - 1 - k]);
    WEFT_AUTO weft_array *first = weft_slice(a, WEFT_AT(3)); /* a broadcast of its own element */
    CHECK(first);
    CHECK_STATUS(weft_assign(a, first), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_OK);
    for (int k = 0; k < LENGTH; k++)
        CHECK_INT(host[k], read[3]);
}

TEST(A2_transpose_in_place)
{
    enum { EDGE = 67 };
    static double host[EDGE][EDGE], read[EDGE][EDGE];
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            host[i][j] = i * 1000 + j;
    WEFT_AUTO weft_array *a = weft_from_host(host, sizeof host, WEFT_SHAPE(EDGE, EDGE),
                                             .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *t = weft_transpose(a);
    CHECK(t);
    CHECK_STATUS(weft_assign(a, t), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            CHECK(read[i][j] == host[j][i]);
    CHECK_STATUS(weft_assign(a, a), WEFT_OK); /* itself */
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_OK);
    CHECK_BITS(host, read, sizeof read);
}

/* One piece of memory, lent twice with different dtypes: it overlaps though no array shares it. */
TEST(A2_overlap_across_dtypes)
{
    static _Alignas(16) unsigned char memory[16 * 64], before[sizeof memory];
    uint64_t cases = test_faults() ? 4 : 400;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        uint64_t state = seed;
        weft_dtype to = (weft_dtype)(1 + random_below(&state, 15));
        weft_dtype from = (weft_dtype)(1 + random_below(&state, 15));
        size_t to_size = weft_dtype_size(to), from_size = weft_dtype_size(from);
        int64_t count = 1 + random_below(&state, 40);
        size_t to_at = (size_t)random_below(&state, 20) * to_size;
        size_t from_at = (size_t)random_below(&state, 20) * from_size;
        hard_elements(from, memory, (int64_t)(sizeof memory / from_size), &state);
        memcpy(before, memory, sizeof memory);
        WEFT_AUTO weft_array *target =
            weft_borrow(memory + to_at, sizeof memory - to_at, WEFT_SHAPE(count), to);
        WEFT_AUTO weft_array *source =
            weft_borrow(memory + from_at, sizeof memory - from_at, WEFT_SHAPE(count), from);
        CHECK(target && source);
        CHECK_STATUS(weft_assign_cast(target, source), WEFT_OK);
        reference_convert_all(to, moved, from, before + from_at, count);
        CHECK_BITS(memory + to_at, moved, (size_t)count * to_size);
        CHECK_BITS(memory, before, to_at);
        size_t end = to_at + (size_t)count * to_size;
        CHECK_BITS(memory + end, before + end, sizeof memory - end);
    }
}

TEST(A2_assign_broadcasts)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3, 2), .dtype = WEFT_I8, .device = device());
    WEFT_AUTO weft_array *row = weft_arange(1, 4, 1, .dtype = WEFT_I8, .device = device());
    WEFT_AUTO weft_array *column = weft_reshape(row, WEFT_SHAPE(3, 1));
    WEFT_AUTO weft_array *scalar = weft_full(WEFT_SCALAR, 9, .device = device());
    CHECK(a && column && scalar);
    int8_t read[12];
    CHECK_STATUS(weft_assign(a, column), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int8_t[]){1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}), sizeof read);
    CHECK_STATUS(weft_assign(a, scalar), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int8_t[]){9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}), sizeof read);
    WEFT_AUTO weft_array *wide = weft_broadcast(column, WEFT_SHAPE(2, 3, 2));
    WEFT_AUTO weft_array *copy = weft_copy(wide);
    CHECK(copy);
    CHECK(weft_array_is_contiguous(copy));
    CHECK_STATUS(weft_copy_to_host(copy, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int8_t[]){1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}), sizeof read);
    CHECK_STATUS(weft_fill(copy, 4), WEFT_OK); /* a copy of what repeats does not repeat */
}

/* --- the calls around them --- */

TEST(A3_from_and_to_host_through_views)
{
    int16_t host[6] = {1, 2, 3, 4, 5, 6}, read[12];
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(3, 4), .dtype = WEFT_I16, .device = device());
    WEFT_AUTO weft_array *part = weft_slice(a, WEFT_REVERSED, WEFT_STEP(3, WEFT_END, -2));
    CHECK(part);
    CHECK_STATUS(weft_copy_from_host(part, host, sizeof host), WEFT_OK);
    memset(host, 0x77, sizeof host); /* may be reused at once */
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int16_t[]){0, 6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1}), sizeof read);
    CHECK_STATUS(weft_copy_to_host(part, host, sizeof host), WEFT_OK);
    CHECK_BITS(host, ((int16_t[]){1, 2, 3, 4, 5, 6}), sizeof host);
}

TEST(A3_from_host_on_an_asynchronous_stream)
{
    weft_stream *stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(1000), .device = device(), .stream = stream);
    weft_stream_release(stream);
    CHECK(a);
    static float host[1000], read[1000];
    for (int round = 0; round < 20; round++) {
        for (int k = 0; k < 1000; k++)
            host[k] = (float)(k + round);
        CHECK_STATUS(weft_copy_from_host(a, host, sizeof host), WEFT_OK);
        memset(host, 0, sizeof host);
    }
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    for (int k = 0; k < 1000; k++)
        CHECK(read[k] == (float)(k + 19));
}

#define CHECK_ITEM(type, array, expected)                                                          \
    do {                                                                                           \
        type got = 0;                                                                              \
        CHECK_STATUS(weft_item((array), &got), WEFT_OK);                                           \
        CHECK(got == (type)(expected));                                                            \
    } while (0)

TEST(A3_item_of_every_c_type)
{
    WEFT_AUTO weft_array *i =
        weft_full(WEFT_SHAPE(2, 2), 100, .dtype = WEFT_I16, .device = device());
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(2), .dtype = WEFT_BOOL, .device = device());
    WEFT_AUTO weft_array *h = weft_full(WEFT_SHAPE(2), 1.5, .dtype = WEFT_F16, .device = device());
    CHECK(i && b && h);
    CHECK_ITEM(char, i, 100);
    CHECK_ITEM(signed char, i, 100);
    CHECK_ITEM(short, i, 100);
    CHECK_ITEM(int, i, 100);
    CHECK_ITEM(long, i, 100);
    CHECK_ITEM(long long, i, 100);
    CHECK_ITEM(unsigned char, i, 100);
    CHECK_ITEM(unsigned short, i, 100);
    CHECK_ITEM(unsigned int, i, 100);
    CHECK_ITEM(unsigned long, i, 100);
    CHECK_ITEM(unsigned long long, i, 100);
    CHECK_ITEM(float, i, 100);
    CHECK_ITEM(double, i, 100);
    CHECK_ITEM(float _Complex, i, 100);
    CHECK_ITEM(double _Complex, i, 100);
    CHECK_ITEM(bool, b, true);
    CHECK_ITEM(int, b, 1);
    CHECK_ITEM(double, b, 1);
    CHECK_ITEM(float, h, 1.5f);
    CHECK_ITEM(double, h, 1.5);
    CHECK_ITEM(double _Complex, h, 1.5);
    bool truth = false;
    CHECK_STATUS(weft_item(i, &truth), WEFT_ERROR_DTYPE);
    int whole = 0;
    CHECK_STATUS(weft_item(h, &whole), WEFT_ERROR_DTYPE);
}

TEST(A3_item_is_the_first_of_a_view)
{
    WEFT_AUTO weft_array *a = weft_arange(0, 12, 1, .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_STEP(7, WEFT_END, -3));
    WEFT_AUTO weft_array *wide = weft_broadcast(b, WEFT_SHAPE(1000000, 3));
    CHECK(wide);
    CHECK_ITEM(int, b, 7);
    CHECK_ITEM(double, wide, 7);
}

TEST(A3_assign_within_a_kind)
{
    WEFT_AUTO weft_array *d = weft_full(WEFT_SHAPE(2), 0.1, .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *f = weft_zeros(WEFT_SHAPE(2), .device = device());
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(2), .dtype = WEFT_C64, .device = device());
    WEFT_AUTO weft_array *i = weft_full(WEFT_SHAPE(2), 300, .device = device());
    WEFT_AUTO weft_array *u = weft_zeros(WEFT_SHAPE(2), .dtype = WEFT_U8, .device = device());
    CHECK(d && f && c && i && u);
    CHECK_STATUS(weft_assign(f, d), WEFT_OK);
    CHECK_ITEM(float, f, 0.1f);
    CHECK_STATUS(weft_assign(c, d), WEFT_OK);
    CHECK_ITEM(float _Complex, c, 0.1f);
    CHECK_STATUS(weft_assign(u, i), WEFT_OK);
    CHECK_ITEM(int, u, 300 % 256);
    CHECK_STATUS(weft_assign(f, c), WEFT_ERROR_DTYPE);
    CHECK_STATUS(weft_assign(i, f), WEFT_ERROR_DTYPE);
    CHECK_STATUS(weft_assign_cast(i, f), WEFT_OK);
    CHECK_ITEM(int, i, 0);
    CHECK_STATUS(weft_assign_cast(f, c), WEFT_OK);
    CHECK_ITEM(float, f, 0.1f);
}

TEST(A3_fill_through_views)
{
    int32_t read[12];
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(3, 4), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *part = weft_slice(a, WEFT_STEP(2, WEFT_END, -2), WEFT_RANGE(1, 3));
    WEFT_AUTO weft_array *t = weft_transpose(part);
    CHECK(t);
    CHECK_STATUS(weft_fill(t, -1), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int32_t[]){0, -1, -1, 0, 0, 0, 0, 0, 0, -1, -1, 0}), sizeof read);
}

TEST(A3_copy_options)
{
    WEFT_AUTO weft_array *a = weft_arange(0, 4, 1, .dtype = WEFT_I32, .device = device());
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_copy(a, .dtype = WEFT_F64, .memory = WEFT_MEMORY_HOST);
    WEFT_AUTO weft_array *c = weft_asarray(a);
    WEFT_AUTO weft_array *d = weft_asarray(a, .dtype = WEFT_I32, .copy = WEFT_COPY_ALWAYS);
    WEFT_AUTO weft_array *e = weft_asarray(a, .dtype = WEFT_I64);
    CHECK(b && c && d && e);
    CHECK_INT(weft_array_dtype(b), WEFT_F64);
    CHECK_INT(weft_array_memory(b), WEFT_MEMORY_HOST);
    CHECK(weft_array_data(c) == weft_array_data(a));
    CHECK(weft_array_data(d) != weft_array_data(a));
    CHECK_INT(weft_array_dtype(e), WEFT_I64);
    WEFT_AUTO weft_array *f = weft_asarray(a, .dtype = WEFT_I64, .copy = WEFT_COPY_NEVER);
    CHECK(!f);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "i32");
    WEFT_AUTO weft_array *g = weft_asarray(a, .memory = WEFT_MEMORY_HOST, .copy = WEFT_COPY_NEVER);
    CHECK(!g);
    int32_t read[4];
    CHECK_STATUS(weft_copy_to_host(d, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int32_t[]){0, 1, 2, 3}), sizeof read);
}

/* --- beyond 2^31 --- */

static bool has_room(double gibibytes)
{
    weft_device_info info;
    return weft_device_describe(device(), &info) == WEFT_OK &&
           (double)info.memory_free > gibibytes * (1 << 30);
}

static const int64_t large = (INT64_C(1) << 31) + 5;

/* Gives the memory back: the next test needs it. */
static void trim(int *unused)
{
    (void)unused;
    weft_memory_trim(device(), 0);
}
#define TRIM_AT_END __attribute__((cleanup(trim), unused)) int trimmed = 0

TEST(A1_more_than_2_to_the_31_elements)
{
    if (test_quick() || !has_room(6))
        SKIP("it takes 6 GiB, and time");
    TRIM_AT_END;
    /* 0 until the last five, which are 0 … 4: the index of an element is computed in 64 bits */
    WEFT_AUTO weft_array *a =
        weft_arange(-(double)(INT64_C(1) << 31), 5, 1, .dtype = WEFT_U8, .device = device());
    CHECK(a);
    CHECK_INT(weft_array_count(a), large);
    uint8_t read[10];
    WEFT_AUTO weft_array *tail = weft_slice(a, WEFT_RANGE(-10, WEFT_END));
    CHECK(tail);
    CHECK_STATUS(weft_copy_to_host(tail, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((uint8_t[]){0, 0, 0, 0, 0, 0, 1, 2, 3, 4}), sizeof read);
    WEFT_AUTO weft_array *middle =
        weft_slice(a, WEFT_STEP((INT64_C(1) << 31) + 2, INT64_C(1) << 30, -(INT64_C(1) << 29)));
    CHECK(middle);
    CHECK_INT(weft_array_count(middle), 3);
    CHECK_STATUS(weft_fill(middle, 77), WEFT_OK);
    WEFT_AUTO weft_array *reversed = weft_slice(a, WEFT_REVERSED);
    WEFT_AUTO weft_array *b = weft_copy(reversed);
    CHECK(b);
    static const struct {
        int64_t at;
        uint8_t value;
    } cases[] = {{0, 4},
                 {1, 3},
                 {2, 77},
                 {3, 1},
                 {4, 0},
                 {2 + (1 << 29), 77},
                 {2 + (1 << 30), 77},
                 {3 + (1 << 30), 0},
                 {(INT64_C(1) << 31) + 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WEFT_AUTO weft_array *one = weft_slice(b, WEFT_AT(cases[i].at));
        unsigned char x = 255;
        CHECK_STATUS(weft_item(one, &x), WEFT_OK);
        CHECK_INT(x, cases[i].value);
    }
}

TEST(A2_strides_beyond_2_to_the_31)
{
    if (!has_room(7))
        SKIP("it takes 7 GiB of addresses");
    TRIM_AT_END;
    /* memory fresh from the system is zero without being touched: only a few pages are used */
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    WEFT_AUTO weft_array *a =
        weft_empty(WEFT_SHAPE(3, large), .dtype = WEFT_U8, .device = device());
    if (!a && !test_faults() && device().kind != WEFT_DEVICE_CPU)
        SKIP(weft_error_message()); /* drivers have a limit of their own for one array */
    CHECK(a);
    CHECK_INT(weft_array_stride(a, 0), large);
    WEFT_AUTO weft_array *ends = weft_slice(a, WEFT_ALL, WEFT_STEP(5, WEFT_END, large - 11));
    WEFT_AUTO weft_array *up = weft_slice(ends, WEFT_REVERSED);
    WEFT_AUTO weft_array *t = weft_transpose(up);
    CHECK(ends && up && t);
    CHECK(weft_shape_equal(weft_array_shape(t), WEFT_SHAPE(2, 3)));
    CHECK_INT(weft_array_stride(t, 1), -large);
    uint8_t host[6] = {1, 2, 3, 4, 5, 6}, read[6];
    CHECK_STATUS(weft_copy_from_host(t, host, sizeof host), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(ends, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((uint8_t[]){3, 6, 2, 5, 1, 4}), sizeof read);
    WEFT_AUTO weft_array *copy = weft_cast(up, WEFT_F32);
    CHECK(copy);
    float wide[6];
    CHECK_STATUS(weft_copy_to_host(copy, wide, sizeof wide), WEFT_OK);
    CHECK_BITS(wide, ((float[]){1, 4, 2, 5, 3, 6}), sizeof wide);
    /* rows onto each other: they overlap by nothing, and one by itself */
    CHECK_STATUS(weft_assign(up, ends), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(ends, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((uint8_t[]){1, 4, 2, 5, 3, 6}), sizeof read);
}

/* A number is rounded once: f32 as C does, 16-bit floats as a cast from f64 does. */
TEST(A3_fill_rounds_once)
{
    static const double numbers[] = {0.1,
                                     -0.1,
                                     1 + 0x1p-24,
                                     1 + 0x1.8p-24,
                                     1 + 0x3p-24,
                                     0x1.fffffffp127,
                                     -0x1p128,
                                     0x1p-126,
                                     0x1.fp-127,
                                     0x1.8p-149,
                                     0x1p-150,
                                     0x1.00001p-150,
                                     -0x1p-151,
                                     1e300,
                                     1e-310,
                                     -0.0,
                                     65519.99999,
                                     65520,
                                     0x1.004p0,
                                     0x1.00200000001p0,
                                     0x1.00600000001p0,
                                     0x1.01p0,
                                     0x1.0100001p0,
                                     0x1p-25,
                                     0x1.0000001p-25,
                                     0x1p-24,
                                     0x1.80000001p-134};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const float expected = (float)numbers[i];
        float single;
        WEFT_AUTO weft_array *wide =
            weft_from_host(&numbers[i], sizeof *numbers, WEFT_SHAPE(1), .dtype = WEFT_F64);
        WEFT_AUTO weft_array *f32 = weft_full(WEFT_SHAPE(1), numbers[i], .dtype = WEFT_F32);
        CHECK(wide && f32);
        CHECK_STATUS(weft_copy_to_host(f32, &single, sizeof single), WEFT_OK);
        CHECK(memcmp(&single, &expected, sizeof single) == 0);
        for (int k = 0; k < 2; k++) {
            const weft_dtype dtype = k ? WEFT_F16 : WEFT_BF16;
            uint16_t filled = 1, cast = 2;
            WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1), numbers[i], .dtype = dtype);
            WEFT_AUTO weft_array *b = weft_cast(wide, dtype);
            CHECK(a && b);
            CHECK_STATUS(weft_copy_to_host(a, &filled, sizeof filled), WEFT_OK);
            CHECK_STATUS(weft_copy_to_host(b, &cast, sizeof cast), WEFT_OK);
            CHECK_INT(filled, cast);
        }
    }
}

TEST_MAIN(TEST_NO_FAULTS(A2_assign_any_layout_to_any, "A2_overlapping_assign_a_few is for that"),
          TEST_NO_FAULTS(A2_overlapping_assign, "A2_overlapping_assign_a_few is for that"),
          TEST_OF(A2_overlapping_assign_a_few), TEST_OF(A2_overlapping_shifts),
          TEST_OF(A2_transpose_in_place), TEST_OF(A2_overlap_across_dtypes),
          TEST_OF(A2_assign_broadcasts), TEST_OF(A3_from_and_to_host_through_views),
          TEST_OF(A3_from_host_on_an_asynchronous_stream), TEST_OF(A3_item_of_every_c_type),
          TEST_OF(A3_item_is_the_first_of_a_view), TEST_OF(A3_assign_within_a_kind),
          TEST_OF(A3_fill_through_views), TEST_OF(A3_fill_rounds_once), TEST_OF(A3_copy_options),
          TEST_NO_FAULTS(A1_more_than_2_to_the_31_elements, "it is large"),
          TEST_NO_FAULTS(A2_strides_beyond_2_to_the_31, "it is large"));
