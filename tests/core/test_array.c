/* Arrays: facts, views and their layouts, resizing, raw pointers and native handles. */
#include "support/check.h"

#include <string.h>

#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* An array of i32 that counts 0, 1, 2 … in C order. */
static weft_array *counting(weft_shape shape)
{
    int64_t count = 0;
    if (weft_shape_count(shape, &count) != WEFT_OK)
        return NULL;
    WEFT_AUTO weft_array *flat =
        weft_arange(0, (double)count, 1, .dtype = WEFT_I32, .device = device());
    return weft_reshape(flat, shape);
}

/* The array has this shape and, in C order, these elements. */
static bool holds(weft_array *array, weft_shape shape, const int32_t *expected)
{
    int32_t read[256];
    size_t bytes = weft_array_bytes(array);
    return array && weft_shape_equal(weft_array_shape(array), shape) && bytes <= sizeof read &&
           weft_copy_to_host(array, read, bytes) == WEFT_OK && !memcmp(read, expected, bytes);
}

#define CHECK_HOLDS(array, shape, ...)                                                             \
    CHECK(holds((array), (shape), (const int32_t[]){__VA_ARGS__}))

TEST(A1_every_dtype_and_rank)
{
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++) {
        int rank = dtype % (WEFT_NDIM_MAX + 1);
        weft_shape shape = {rank, {1, 2, 1, 3, 1, 2, 1, 2}};
        int64_t count = 0;
        CHECK_STATUS(weft_shape_count(shape, &count), WEFT_OK);
        WEFT_AUTO weft_array *a = weft_empty(shape, .dtype = (weft_dtype)dtype, .device = device());
        CHECK(a);
        CHECK_INT(weft_array_dtype(a), dtype);
        CHECK_INT(weft_array_ndim(a), rank);
        CHECK(weft_shape_equal(weft_array_shape(a), shape));
        CHECK_INT(weft_array_count(a), count);
        CHECK_INT(weft_array_bytes(a), (size_t)count * weft_dtype_size((weft_dtype)dtype));
        CHECK(weft_array_is_contiguous(a));
        CHECK_INT((uintptr_t)weft_array_data(a) % 64, 0);
    }
}

TEST(A1_eight_dimensions)
{
    weft_shape shape = {8, {2, 1, 2, 1, 2, 1, 2, 2}};
    WEFT_AUTO weft_array *a = counting(shape);
    WEFT_AUTO weft_array *empty = weft_empty(shape, .dtype = WEFT_I32, .device = device());
    CHECK(a && empty);
    static const int64_t strides[] = {64, 64, 32, 32, 16, 16, 8, 4};
    for (int k = 0; k < 8; k++)
        CHECK_INT(weft_array_stride(empty, k), strides[k]);
    WEFT_AUTO weft_array *last = weft_slice(a, WEFT_AT(1), WEFT_AT(0), WEFT_AT(1), WEFT_AT(0),
                                            WEFT_AT(1), WEFT_AT(0), WEFT_AT(1), WEFT_AT(1));
    CHECK_HOLDS(last, WEFT_SCALAR, 31);
}

TEST(A1_large_sizes)
{
    /* half a byte in memory is enough for an array of 2^62 elements: it has one that repeats */
    WEFT_AUTO weft_array *one = weft_full(WEFT_SHAPE(1), (char)7, .device = device());
    WEFT_AUTO weft_array *wide =
        weft_broadcast(one, WEFT_SHAPE(INT64_C(1) << 31, INT64_C(1) << 31));
    CHECK(one && wide);
    CHECK_INT(weft_array_count(wide), INT64_C(1) << 62);
    CHECK_INT(weft_array_bytes(wide), INT64_C(1) << 62);
    WEFT_AUTO weft_array *corner =
        weft_slice(wide, WEFT_AT(-1), WEFT_RANGE((INT64_C(1) << 31) - 2, WEFT_END));
    CHECK(corner);
    int8_t read[2];
    CHECK_STATUS(weft_copy_to_host(corner, read, sizeof read), WEFT_OK);
    CHECK_INT(read[1], 7);
}

TEST(A2_slices)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(10));
    CHECK(a);
    static const struct {
        int64_t start, stop, step;
        int count;
        int32_t expected[10];
    } cases[] = {/* as Python's a[start:stop:step] */
                 {2, 5, 1, 3, {2, 3, 4}},
                 {WEFT_END, WEFT_END, 1, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
                 {WEFT_END, WEFT_END, -1, 10, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
                 {WEFT_END, WEFT_END, 3, 4, {0, 3, 6, 9}},
                 {WEFT_END, WEFT_END, -4, 3, {9, 5, 1}},
                 {-3, WEFT_END, 1, 3, {7, 8, 9}},
                 {WEFT_END, -8, 1, 2, {0, 1}},
                 {8, 2, -2, 3, {8, 6, 4}},
                 {8, -9, -3, 3, {8, 5, 2}},
                 {2, WEFT_END, -1, 3, {2, 1, 0}},
                 {-100, 100, 4, 3, {0, 4, 8}},
                 {100, -100, -5, 2, {9, 4}},
                 {-100, WEFT_END, -1, 0, {0}},
                 {WEFT_END, 100, -1, 0, {0}},
                 {WEFT_END, -100, -6, 2, {9, 3}},
                 {100, WEFT_END, -6, 2, {9, 3}},
                 {5, 5, 1, 0, {0}},
                 {5, 2, 1, 0, {0}},
                 {2, 5, -1, 0, {0}},
                 {100, 200, 1, 0, {0}},
                 {-100, -50, 1, 0, {0}},
                 {3, WEFT_END, INT64_MAX, 1, {3}},
                 {3, WEFT_END, INT64_MIN, 1, {3}},
                 {INT64_MIN + 1, INT64_MAX, INT64_MAX, 1, {0}},
                 {INT64_MAX, INT64_MIN + 1, -9, 2, {9, 0}},
                 {-1, 0, -1, 9, {9, 8, 7, 6, 5, 4, 3, 2, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WEFT_AUTO weft_array *s =
            weft_slice(a, WEFT_STEP(cases[i].start, cases[i].stop, cases[i].step));
        CHECK(s);
        CHECK_INT(weft_array_count(s), cases[i].count);
        CHECK(holds(s, WEFT_SHAPE(cases[i].count), cases[i].expected));
    }
}

TEST(A2_slices_of_every_axis)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(2, 3, 4));
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_AT(-1), WEFT_STEP(2, WEFT_END, -2));
    CHECK_HOLDS(b, WEFT_SHAPE(2, 4), 20, 21, 22, 23, 12, 13, 14, 15);
    WEFT_AUTO weft_array *c =
        weft_slice(a, WEFT_NEW_AXIS, WEFT_ALL, WEFT_AT(1), WEFT_NEW_AXIS, WEFT_REVERSED);
    CHECK_HOLDS(c, WEFT_SHAPE(1, 2, 1, 4), 7, 6, 5, 4, 19, 18, 17, 16);
    WEFT_AUTO weft_array *d = weft_slice(c, WEFT_AT(0), WEFT_AT(1), WEFT_AT(0), WEFT_AT(-4));
    CHECK_HOLDS(d, WEFT_SCALAR, 19);
    WEFT_AUTO weft_array *e = weft_slice(d, WEFT_NEW_AXIS);
    CHECK_HOLDS(e, WEFT_SHAPE(1), 19);
    WEFT_AUTO weft_array *f = weft_slice_with(a, 0, NULL);
    CHECK(f);
    CHECK(weft_shape_equal(weft_array_shape(f), WEFT_SHAPE(2, 3, 4)));
}

TEST(A2_slices_of_slices)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(100));
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_STEP(WEFT_END, WEFT_END, -3)); /* 99, 96 … 0 */
    WEFT_AUTO weft_array *c = weft_slice(b, WEFT_STEP(-2, 3, -7));              /* 3, 24 … 87 */
    WEFT_AUTO weft_array *d = weft_slice(c, WEFT_REVERSED);
    CHECK_HOLDS(c, WEFT_SHAPE(5), 3, 24, 45, 66, 87);
    CHECK_HOLDS(d, WEFT_SHAPE(5), 87, 66, 45, 24, 3);
    CHECK_INT(weft_array_stride(c, 0), 84);
}

TEST(A2_slices_of_empty_arrays)
{
    /* whose strides are beyond any address */
    WEFT_AUTO weft_array *a =
        weft_empty(WEFT_SHAPE(INT64_MAX, 0, INT64_MAX, 3), .device = device());
    CHECK(a);
    WEFT_AUTO weft_array *b =
        weft_slice(a, WEFT_AT(INT64_MAX - 1), WEFT_REVERSED, WEFT_STEP(INT64_MAX - 1, 5, -1000));
    CHECK(b);
    CHECK_INT(weft_array_count(b), 0);
    CHECK_INT(weft_array_ndim(b), 3);
    WEFT_AUTO weft_array *c = weft_copy(b);
    WEFT_AUTO weft_array *d = weft_reshape(b, WEFT_SHAPE(0));
    WEFT_AUTO weft_array *t = weft_transpose(a);
    CHECK(c && d && t);
    CHECK_STATUS(weft_fill(b, 1), WEFT_OK);
    CHECK_STATUS(weft_assign(c, b), WEFT_OK);
}

TEST(A2_permutations)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(2, 1, 3));
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_permute(a, WEFT_AXES(2, 0, 1));
    CHECK_HOLDS(b, WEFT_SHAPE(3, 2, 1), 0, 3, 1, 4, 2, 5);
    WEFT_AUTO weft_array *c = weft_permute(a, WEFT_AXES(-1, -3, -2));
    CHECK_HOLDS(c, WEFT_SHAPE(3, 2, 1), 0, 3, 1, 4, 2, 5);
    WEFT_AUTO weft_array *d = weft_transpose(a);
    CHECK_HOLDS(d, WEFT_SHAPE(3, 1, 2), 0, 3, 1, 4, 2, 5);
    CHECK(weft_array_data(d) == weft_array_data(a));
    CHECK_INT(weft_array_stride(d, 0), 4);
    CHECK_INT(weft_array_stride(d, 2), 12);
    CHECK(!weft_array_is_contiguous(d));
    WEFT_AUTO weft_array *s = weft_full(WEFT_SCALAR, 5, .device = device());
    WEFT_AUTO weft_array *t = weft_transpose(s);
    WEFT_AUTO weft_array *p = weft_permute(s, (weft_axes){.count = 0});
    CHECK_HOLDS(t, WEFT_SCALAR, 5);
    CHECK_HOLDS(p, WEFT_SCALAR, 5);
}

TEST(A2_broadcasts)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(2, 1));
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_broadcast(a, WEFT_SHAPE(2, 2, 3));
    CHECK_HOLDS(b, WEFT_SHAPE(2, 2, 3), 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1);
    CHECK_INT(weft_array_stride(b, 0), 0);
    CHECK_INT(weft_array_stride(b, 2), 0);
    CHECK(!weft_array_is_contiguous(b));
    WEFT_AUTO weft_array *none = weft_broadcast(a, WEFT_SHAPE(2, 0));
    CHECK(none);
    CHECK_INT(weft_array_count(none), 0);
    /* nothing repeats: may be written */
    WEFT_AUTO weft_array *same = weft_broadcast(a, WEFT_SHAPE(1, 2, 1));
    CHECK(same);
    CHECK_STATUS(weft_fill(same, 9), WEFT_OK);
    CHECK_HOLDS(a, WEFT_SHAPE(2, 1), 9, 9);
}

TEST(A2_reshape_is_a_view_where_it_can)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(4, 6));
    WEFT_AUTO weft_array *columns = weft_slice(a, WEFT_ALL, WEFT_RANGE(0, 4)); /* strides 24, 4 */
    WEFT_AUTO weft_array *rows = weft_slice(a, WEFT_STEP(WEFT_END, WEFT_END, -2)); /* −48, 4 */
    WEFT_AUTO weft_array *t = weft_transpose(a);                                   /* 4, 24 */
    CHECK(a && columns && rows && t);
    const struct {
        weft_array *array;
        weft_shape shape;
        bool view;
    } cases[] = {{a, WEFT_SHAPE(24), true},
                 {a, WEFT_SHAPE(2, 3, 2, 2), true},
                 {a, WEFT_SHAPE(8, 3), true},
                 {a, WEFT_SHAPE(1, 4, 1, 6, 1), true},
                 {a, WEFT_SHAPE(3, -1), true},
                 {columns, WEFT_SHAPE(2, 2, 4), true},
                 {columns, WEFT_SHAPE(4, 2, 2), true},
                 {columns, WEFT_SHAPE(2, 2, 1, 2, 2), true},
                 {columns, WEFT_SHAPE(16), false},
                 {columns, WEFT_SHAPE(2, 8), false},
                 {rows, WEFT_SHAPE(2, 3, 2), true},
                 {rows, WEFT_SHAPE(2, 1, 6), true},
                 {rows, WEFT_SHAPE(12), false},
                 {rows, WEFT_SHAPE(3, 4), false},
                 {t, WEFT_SHAPE(2, 3, 2, 2), true},
                 {t, WEFT_SHAPE(24), false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t expected[24], read[24];
        size_t bytes = weft_array_bytes(cases[i].array);
        WEFT_AUTO weft_array *r = weft_reshape(cases[i].array, cases[i].shape);
        CHECK(r);
        CHECK_INT(weft_array_data(r) == weft_array_data(cases[i].array), cases[i].view);
        CHECK_STATUS(weft_copy_to_host(cases[i].array, expected, bytes), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(r, read, bytes), WEFT_OK);
        CHECK_BITS(read, expected, bytes);
        WEFT_AUTO weft_array *never =
            weft_reshape(cases[i].array, cases[i].shape, .copy = WEFT_COPY_NEVER);
        CHECK_INT(never != NULL, cases[i].view);
        WEFT_AUTO weft_array *always =
            weft_reshape(cases[i].array, cases[i].shape, .copy = WEFT_COPY_ALWAYS);
        CHECK(always);
        CHECK(weft_array_data(always) != weft_array_data(cases[i].array));
        CHECK_STATUS(weft_copy_to_host(always, read, bytes), WEFT_OK);
        CHECK_BITS(read, expected, bytes);
    }
}

TEST(A2_reshape_of_scalars_and_nothing)
{
    WEFT_AUTO weft_array *s = weft_full(WEFT_SCALAR, 5, .device = device());
    WEFT_AUTO weft_array *one = weft_reshape(s, WEFT_SHAPE(1, 1, -1));
    CHECK_HOLDS(one, WEFT_SHAPE(1, 1, 1), 5);
    WEFT_AUTO weft_array *back = weft_reshape(one, WEFT_SCALAR);
    CHECK_HOLDS(back, WEFT_SCALAR, 5);
    WEFT_AUTO weft_array *none = weft_zeros(WEFT_SHAPE(3, 0), .device = device());
    WEFT_AUTO weft_array *flat = weft_reshape(none, WEFT_SHAPE(-1, 7));
    CHECK(none && flat);
    CHECK(weft_shape_equal(weft_array_shape(flat), WEFT_SHAPE(0, 7)));
}

/* A program that was built before the option existed. */
TEST(A2_reshape_options_of_other_sizes)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(4));
    CHECK(a);
    weft_reshape_options older = {.struct_size = sizeof(size_t), .copy = WEFT_COPY_ALWAYS};
    WEFT_AUTO weft_array *b = weft_reshape_with(a, WEFT_SHAPE(2, 2), &older);
    WEFT_AUTO weft_array *c = weft_reshape_with(a, WEFT_SHAPE(2, 2), NULL);
    CHECK(b && c);
    CHECK(weft_array_data(b) == weft_array_data(a));
    CHECK(weft_array_data(c) == weft_array_data(a));
}

TEST(A2_views_write_through)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(3, 3), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_REVERSED, WEFT_AT(1));
    WEFT_AUTO weft_array *c = counting(WEFT_SHAPE(3));
    CHECK(a && b && c);
    CHECK_STATUS(weft_assign(b, c), WEFT_OK);
    CHECK_HOLDS(a, WEFT_SHAPE(3, 3), 0, 2, 0, 0, 1, 0, 0, 0, 0);
    WEFT_AUTO weft_array *diagonal = weft_reshape(a, WEFT_SHAPE(9));
    WEFT_AUTO weft_array *every = weft_slice(diagonal, WEFT_STEP(0, WEFT_END, 4));
    CHECK(every);
    CHECK_STATUS(weft_fill(every, 7), WEFT_OK);
    CHECK_HOLDS(a, WEFT_SHAPE(3, 3), 7, 2, 0, 0, 7, 0, 0, 0, 7);
}

TEST(A3_facts)
{
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(4, 5, 6), .dtype = WEFT_I16, .device = device());
    CHECK(a);
    CHECK_INT(weft_array_size(a, 0), 4);
    CHECK_INT(weft_array_size(a, -1), 6);
    CHECK_INT(weft_array_size(a, -3), 4);
    CHECK_INT(weft_array_stride(a, 0), 60);
    CHECK_INT(weft_array_stride(a, -2), 12);
    CHECK_INT(weft_array_count(a), 120);
    CHECK_INT(weft_array_bytes(a), 240);
    CHECK(weft_device_equal(weft_array_device(a), device()));
    CHECK(!weft_array_stream(a));
    CHECK(!weft_array_is_handle(a));
}

TEST(A3_facts_of_null)
{
    CHECK_INT(weft_array_dtype(NULL), WEFT_DTYPE_DEFAULT);
    CHECK_INT(weft_array_ndim(NULL), 0);
    CHECK_INT(weft_array_shape(NULL).ndim, 0);
    CHECK_INT(weft_array_count(NULL), 0);
    CHECK_INT(weft_array_bytes(NULL), 0);
    CHECK(weft_device_equal(weft_array_device(NULL), WEFT_NO_DEVICE));
    CHECK_INT(weft_array_memory(NULL), WEFT_MEMORY_DEFAULT);
    CHECK(!weft_array_stream(NULL));
    CHECK(!weft_array_is_contiguous(NULL));
    CHECK(!weft_array_is_handle(NULL));
    CHECK(!weft_array_data(NULL));
    CHECK_INT(weft_array_size(NULL, 0), -1);
    CHECK_INT(weft_array_stride(NULL, 0), 0);
}

TEST(A3_contiguous)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(4, 1, 6));
    WEFT_AUTO weft_array *row = weft_slice(a, WEFT_RANGE(1, 3));
    WEFT_AUTO weft_array *swapped = weft_permute(a, WEFT_AXES(1, 0, 2));
    WEFT_AUTO weft_array *one = weft_slice(a, WEFT_STEP(0, 1, 3), WEFT_ALL, WEFT_STEP(5, 4, -1));
    WEFT_AUTO weft_array *part = weft_slice(a, WEFT_ALL, WEFT_ALL, WEFT_RANGE(0, 5));
    WEFT_AUTO weft_array *reversed = weft_slice(a, WEFT_REVERSED);
    WEFT_AUTO weft_array *none = weft_slice(part, WEFT_RANGE(2, 2));
    CHECK(row && swapped && one && part && reversed && none);
    CHECK(weft_array_is_contiguous(row));
    CHECK(weft_array_is_contiguous(swapped)); /* the axis of one element may be anywhere */
    CHECK(weft_array_is_contiguous(one));
    CHECK(!weft_array_is_contiguous(part));
    CHECK(!weft_array_is_contiguous(reversed));
    CHECK(weft_array_is_contiguous(none));
}

TEST(A3_resize)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(2, 3));
    WEFT_AUTO weft_array *view = weft_transpose(a);
    CHECK(a && view);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(5)), WEFT_OK);
    CHECK(weft_shape_equal(weft_array_shape(a), WEFT_SHAPE(5)));
    CHECK_INT(weft_array_dtype(a), WEFT_I32);
    CHECK_STATUS(weft_fill(a, 8), WEFT_OK);
    CHECK_HOLDS(a, WEFT_SHAPE(5), 8, 8, 8, 8, 8);
    CHECK_HOLDS(view, WEFT_SHAPE(3, 2), 0, 3, 1, 4, 2, 5); /* keeps the old memory */
    CHECK_STATUS(weft_resize(view, WEFT_SCALAR), WEFT_OK); /* a view gets memory of its own */
    CHECK_STATUS(weft_fill(view, 3), WEFT_OK);
    CHECK_HOLDS(view, WEFT_SCALAR, 3);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(0, 4)), WEFT_OK);
    CHECK_INT(weft_array_count(a), 0);
    WEFT_AUTO weft_array *wide = weft_broadcast(view, WEFT_SHAPE(4));
    CHECK(wide);
    CHECK_STATUS(weft_resize(wide, WEFT_SHAPE(2)), WEFT_OK); /* nothing repeats any more */
    CHECK_STATUS(weft_fill(wide, 1), WEFT_OK);
}

TEST(A5_raw_pointer)
{
    WEFT_AUTO weft_array *a = counting(WEFT_SHAPE(4, 5));
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_AT(2), WEFT_RANGE(1, 3));
    weft_statistics before, after;
    CHECK(a && b);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    char *first = weft_array_data(a), *inner = weft_array_data(b);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    /* neither copies nor waits; what compiles in the background may count on */
    CHECK_INT(after.waits, before.waits);
    CHECK_INT(after.launches, before.launches);
    CHECK_INT(after.allocations, before.allocations);
    CHECK_INT(after.copies_to_device, before.copies_to_device);
    CHECK_INT(after.copies_to_host, before.copies_to_host);
    CHECK_INT(after.copies_on_device, before.copies_on_device);
    CHECK_INT(inner - first, (2 * 5 + 1) * 4);
    if (weft_array_host_readable(b))
        CHECK_INT(*(int32_t *)(void *)inner, 11);
}

TEST(A5_native_stream)
{
    void *handle = &handle;
    weft_stream *stream = weft_stream_current(device());
    CHECK(stream);
    weft_error_clear();
    weft_status status = weft_stream_native(stream, &handle);
    if (device().kind != WEFT_DEVICE_CPU) {
        CHECK_STATUS(status, WEFT_OK);
        return;
    }
    CHECK_STATUS(status, WEFT_ERROR_UNSUPPORTED); /* the CPU has none */
    CHECK_STR(weft_error_last()->operation, "weft_stream_native");
    CHECK(strlen(weft_error_message()) > 30);
}

TEST(A5_native_event)
{
    void *handle = NULL;
    weft_event *event = weft_event_new();
    CHECK(event);
    weft_status recorded = weft_event_record(event, weft_stream_current(WEFT_CPU));
    weft_status nowhere = weft_event_native(event, NULL);
    weft_error_clear();
    weft_status status = weft_event_native(event, &handle);
    weft_event_release(event);
    CHECK_STATUS(recorded, WEFT_OK);
    CHECK_STATUS(nowhere, WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(status, WEFT_ERROR_UNSUPPORTED); /* the CPU has none */
    CHECK_STR(weft_error_last()->operation, "weft_event_native");
    CHECK(!handle && strstr(weft_error_message(), "cpu"));
}

TEST_MAIN(TEST_OF(A1_every_dtype_and_rank), TEST_OF(A1_eight_dimensions), TEST_OF(A1_large_sizes),
          TEST_OF(A2_slices), TEST_OF(A2_slices_of_every_axis), TEST_OF(A2_slices_of_slices),
          TEST_OF(A2_slices_of_empty_arrays), TEST_OF(A2_permutations), TEST_OF(A2_broadcasts),
          TEST_OF(A2_reshape_is_a_view_where_it_can), TEST_OF(A2_reshape_of_scalars_and_nothing),
          TEST_OF(A2_reshape_options_of_other_sizes), TEST_OF(A2_views_write_through),
          TEST_OF(A3_facts), TEST_OF(A3_facts_of_null), TEST_OF(A3_contiguous), TEST_OF(A3_resize),
          TEST_OF(A5_raw_pointer), TEST_OF(A5_native_stream), TEST_OF(A5_native_event));
