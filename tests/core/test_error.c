/* Status codes, the thread's error record, and what wrong arguments are told. */
#include "support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* The record has this code, operation, operand, and all parts in its message. */
static bool recorded(weft_status code, const char *operation, const char *operand,
                     const char *const *parts)
{
    const weft_error *error = weft_error_last();
    bool good = error->code == code && !strcmp(error->operation, operation) &&
                !strcmp(error->operand, operand);
    for (; *parts && good; parts++)
        good = strstr(error->message, *parts) != NULL;
    return good;
}

#define CHECK_RECORD(code, operation, operand, ...)                                                \
    CHECK(recorded((code), (operation), (operand), (const char *const[]){__VA_ARGS__, NULL}))

/* The call returns NULL and leaves this record. */
#define CHECK_REFUSED(call, code, operand, ...)                                                    \
    do {                                                                                           \
        weft_error_clear();                                                                        \
        WEFT_AUTO weft_array *refused = (call);                                                    \
        CHECK(!refused);                                                                           \
        CHECK(recorded_as((code), (operand), (const char *const[]){__VA_ARGS__, NULL}));           \
    } while (0)

static bool recorded_as(weft_status code, const char *operand, const char *const *parts)
{
    return recorded(code, weft_error_last()->operation, operand, parts);
}

TEST(error_names_and_texts)
{
    CHECK_STR(weft_status_name(WEFT_OK), "WEFT_OK");
    CHECK_STR(weft_status_name(WEFT_ERROR_SHAPE), "WEFT_ERROR_SHAPE");
    CHECK_STR(weft_status_name(WEFT_ERROR_SYSTEM), "WEFT_ERROR_SYSTEM");
    for (int status = WEFT_OK; status <= WEFT_ERROR_SYSTEM; status++)
        CHECK(strlen(weft_status_text((weft_status)status)) > 4);
    CHECK_STR(weft_status_name((weft_status)-1), "unknown status");
    CHECK_STR(weft_status_name((weft_status)1000), "unknown status");
    CHECK_STR(weft_status_text((weft_status)1000), "unknown status");
    CHECK_STR(weft_version(), "0.1.0");
}

TEST(error_reading_does_not_clear)
{
    weft_error_clear();
    CHECK_STATUS(weft_error_code(), WEFT_OK);
    CHECK_STR(weft_error_message(), "");
    CHECK_INT(weft_dtype_named("f23"), WEFT_DTYPE_DEFAULT);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(weft_error_code(), WEFT_ERROR_DTYPE);
        CHECK(strstr(weft_error_message(), "'f23'"));
        CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_dtype_named", "name", "weft_dtype_named", "f23");
    }
    weft_error_clear();
    CHECK_STATUS(weft_error_last()->code, WEFT_OK);
    CHECK_STR(weft_error_last()->operation, "");
    CHECK_STR(weft_error_last()->operand, "");
    CHECK_STR(weft_error_last()->message, "");
}

TEST(error_success_leaves_it_failure_overwrites_it)
{
    CHECK_INT(weft_dtype_named("first"), WEFT_DTYPE_DEFAULT);
    CHECK_INT(weft_dtype_named("f32"), WEFT_F32);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(a);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "first");
    CHECK_INT(weft_array_size(a, 5), -1);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_array_size", "axis", "5", "1 dimension");
    CHECK(!strstr(weft_error_message(), "first"));
}

/* A failure writes into a record of fixed size, however long what it quotes is. */
TEST(error_fixed_size)
{
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    weft_error_clear();
    CHECK_INT(weft_device_named(name).kind, WEFT_DEVICE_INVALID);
    CHECK(strlen(weft_error_message()) < sizeof weft_error_last()->message);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cpu"); /* the long name pushes nothing out */
    CHECK_INT(weft_dtype_named(name), WEFT_DTYPE_DEFAULT);
    CHECK(strlen(weft_error_message()) < sizeof weft_error_last()->message);
    CHECK_STATUS(weft_error_set(WEFT_ERROR_CALLBACK, name), WEFT_ERROR_CALLBACK);
    CHECK_INT(strlen(weft_error_message()), sizeof weft_error_last()->message - 1);
}

TEST(error_set_takes_errors_only)
{
    CHECK_STATUS(weft_error_set(WEFT_ERROR_SYSTEM, "disk"), WEFT_ERROR_SYSTEM);
    CHECK_ERROR(WEFT_ERROR_SYSTEM, "disk");
    CHECK_STATUS(weft_error_set(WEFT_OK, "fine"), WEFT_ERROR_CALLBACK);
    CHECK_STATUS(weft_error_set((weft_status)99, "odd"), WEFT_ERROR_CALLBACK);
    CHECK_STATUS(weft_error_set(WEFT_ERROR_DTYPE, NULL), WEFT_ERROR_DTYPE);
    CHECK_STR(weft_error_message(), "");
}

TEST(error_chain_of_nulls_keeps_the_first)
{
    weft_error_clear();
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, -3), .device = device());
    WEFT_AUTO weft_array *b = weft_transpose(a);
    WEFT_AUTO weft_array *c = weft_reshape(b, WEFT_SHAPE(6));
    WEFT_AUTO weft_array *d = weft_cast(c, WEFT_F64);
    WEFT_AUTO weft_array *e = weft_slice(d, WEFT_RANGE(0, 1));
    WEFT_AUTO weft_array *f = weft_broadcast(e, WEFT_SHAPE(2, 2));
    WEFT_AUTO weft_array *g = weft_permute(f, WEFT_AXES(1, 0));
    WEFT_AUTO weft_array *h = weft_asarray(g, .dtype = WEFT_F32);
    WEFT_AUTO weft_array *i = weft_ones_like(h);
    WEFT_AUTO weft_array *j = weft_to_device(i, WEFT_CPU, NULL);
    WEFT_AUTO weft_array *k = weft_copy(j);
    double x = 5;
    char text[8];
    CHECK(!a && !b && !c && !d && !e && !f && !g && !h && !i && !j && !k);
    CHECK_STATUS(weft_item(k, &x), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_eval(k), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_fill(k, 1), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_assign(k, k), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_resize(k, WEFT_SHAPE(1)), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_copy_to_host(k, text, 8), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_copy_from_host(k, text, 8), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_print(k), WEFT_ERROR_SHAPE);
    CHECK(x == 5);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_zeros", "shape", "-3", "axis 1");
}

TEST(error_null_without_a_failure)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(a);
    CHECK_REFUSED(weft_copy(NULL), WEFT_ERROR_ARGUMENT, "array", "NULL");
    CHECK_REFUSED(weft_cast(NULL, WEFT_F32), WEFT_ERROR_ARGUMENT, "array", "NULL");
    CHECK_REFUSED(weft_reshape(NULL, WEFT_SHAPE(1)), WEFT_ERROR_ARGUMENT, "array", "NULL");
    CHECK_REFUSED(weft_empty_like(NULL), WEFT_ERROR_ARGUMENT, "array", "NULL");
    CHECK_REFUSED(weft_full_like(NULL, 1), WEFT_ERROR_ARGUMENT, "array", "NULL");
    CHECK_REFUSED(weft_slice(NULL, WEFT_ALL), WEFT_ERROR_ARGUMENT, "array", "NULL");
    weft_error_clear();
    CHECK_STATUS(weft_assign(a, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_assign", "source", "source", "NULL");
    weft_error_clear();
    CHECK_STATUS(weft_assign(NULL, a), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_assign", "target", "target", "NULL");
    weft_error_clear();
    CHECK_STATUS(weft_stream_synchronize(NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "stream");
    weft_array_release(NULL);
    weft_stream_release(NULL);
    weft_event_release(NULL);
    CHECK(!weft_array_retain(NULL));
}

TEST(error_null_places)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(a);
    float two[2];
    weft_error_clear();
    CHECK_STATUS(weft_copy_to_host(a, NULL, 8), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_copy_to_host", "data", "NULL", "8 bytes");
    CHECK_STATUS(weft_copy_from_host(a, NULL, 8), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_copy_from_host", "data", "NULL");
    CHECK_STATUS(weft_item(a, (float *)NULL), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_item", "out", "NULL");
    CHECK_REFUSED(weft_from_host(NULL, 8, WEFT_SHAPE(2)), WEFT_ERROR_ARGUMENT, "data", "NULL");
    CHECK_REFUSED(weft_borrow(NULL, 8, WEFT_SHAPE(2), WEFT_F32), WEFT_ERROR_ARGUMENT, "data",
                  "NULL", "8");
    CHECK_REFUSED(weft_slice_with(a, 1, NULL), WEFT_ERROR_ARGUMENT, "ranges", "NULL");
    CHECK_REFUSED(weft_slice_with(a, -1, NULL), WEFT_ERROR_ARGUMENT, "ranges", "-1");
    CHECK_STATUS(weft_device_describe_sized(WEFT_CPU, NULL, 0), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_memory_stats_sized(WEFT_CPU, NULL, 0), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_query(weft_stream_current(WEFT_CPU), NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_native(weft_stream_current(WEFT_CPU), NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_copy_to_host(a, two, sizeof two), WEFT_OK);
}

static void *fail_in_thread(void *argument)
{
    const char **seen = argument;
    static char before[64];
    strncpy(before, weft_error_message(), sizeof before - 1);
    *seen = before;
    weft_dtype_named("inner");
    return NULL;
}

TEST(error_belongs_to_its_thread)
{
    pthread_t thread;
    const char *seen = "nothing";
    CHECK_INT(weft_dtype_named("outer"), WEFT_DTYPE_DEFAULT);
    CHECK_INT(pthread_create(&thread, NULL, fail_in_thread, &seen), 0);
    pthread_join(thread, NULL);
    CHECK_STR(seen, "");
    CHECK_ERROR(WEFT_ERROR_DTYPE, "outer");
    CHECK(!strstr(weft_error_message(), "inner"));
}

TEST(bad_sizes)
{
    static const struct {
        weft_shape shape;
        const char *value;
    } cases[] = {{{-1, {0}}, "-1 dimensions"},
                 {{-2147483647 - 1, {0}}, "-2147483648"},
                 {{9, {1, 1, 1, 1, 1, 1, 1, 1}}, "9 dimensions"},
                 {{1, {-5}}, "-5"},
                 {{2, {0, -5}}, "-5"},
                 {{1, {INT64_MIN}}, "-9223372036854775808"},
                 {{2, {INT64_MAX, INT64_MAX}}, "9223372036854775807"},
                 {{1, {INT64_MAX}}, "bytes"}, /* as f32 they do not fit */
                 {{2, {INT64_C(1) << 31, INT64_C(1) << 31}}, "bytes"}};
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(a);
    char data[8] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_shape shape = cases[i].shape;
        const char *value = cases[i].value;
        CHECK_REFUSED(weft_empty(shape, .device = device()), WEFT_ERROR_SHAPE, "shape", value);
        CHECK_REFUSED(weft_zeros(shape, .device = device()), WEFT_ERROR_SHAPE, "shape", value);
        CHECK_REFUSED(weft_full(shape, 1.5, .device = device()), WEFT_ERROR_SHAPE, "shape", value);
        CHECK_REFUSED(weft_empty(shape, .device = device(), .allocator = WEFT_ALLOCATOR_PITCHED),
                      WEFT_ERROR_SHAPE, "shape", value);
        CHECK_REFUSED(weft_from_host(data, 8, shape, .device = device()), WEFT_ERROR_SHAPE, "shape",
                      value);
        CHECK_REFUSED(weft_borrow(data, 8, shape, WEFT_F32), WEFT_ERROR_SHAPE, "shape", value);
        weft_error_clear();
        CHECK_STATUS(weft_resize(a, shape), WEFT_ERROR_SHAPE);
        CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_resize", "shape", value);
        CHECK(weft_shape_equal(weft_array_shape(a), WEFT_SHAPE(2))); /* as it was */
    }
    CHECK_REFUSED(weft_eye(-1, 2, 0, .device = device()), WEFT_ERROR_SHAPE, "rows", "-1");
    CHECK_REFUSED(weft_linspace(0, 1, -4, .device = device()), WEFT_ERROR_SHAPE, "count", "-4");
    CHECK_REFUSED(weft_linspace(0, 1, INT64_MIN, .device = device()), WEFT_ERROR_SHAPE, "count",
                  "-9223372036854775808");
}

TEST(bad_ranks_and_axes)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    CHECK(a);
    static const int axes[] = {2, -3, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char axis[16];
        snprintf(axis, sizeof axis, "axis %d", axes[i]);
        weft_error_clear();
        CHECK_INT(weft_array_size(a, axes[i]), -1);
        CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_array_size", "axis", axis, "2 dimensions");
        weft_error_clear();
        CHECK_INT(weft_array_stride(a, axes[i]), 0);
        CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_array_stride", "axis", axis, "2 dimensions");
        CHECK_REFUSED(weft_permute(a, WEFT_AXES(0, axes[i])), WEFT_ERROR_SHAPE, "axis", axis);
    }
    CHECK_REFUSED(weft_permute(a, WEFT_AXES(0)), WEFT_ERROR_SHAPE, "axes", "1 axes", "2 dim");
    CHECK_REFUSED(weft_permute(a, WEFT_AXES(0, 1, 2)), WEFT_ERROR_SHAPE, "axes", "3 axes");
    CHECK_REFUSED(weft_permute(a, (weft_axes){.count = -2}), WEFT_ERROR_SHAPE, "axes", "-2");
    CHECK_REFUSED(weft_permute(a, WEFT_AXES(1, -1)), WEFT_ERROR_SHAPE, "axes", "axis 1", "twice");
    CHECK_REFUSED(weft_slice(a, WEFT_ALL, WEFT_ALL, WEFT_ALL), WEFT_ERROR_SHAPE, "ranges",
                  "2 dimensions");
    CHECK_REFUSED(weft_slice(a, WEFT_AT(2)), WEFT_ERROR_SHAPE, "range", "index 2", "axis 0",
                  "size 2");
    CHECK_REFUSED(weft_slice(a, WEFT_ALL, WEFT_AT(-4)), WEFT_ERROR_SHAPE, "range", "-4", "axis 1");
    CHECK_REFUSED(weft_slice(a, WEFT_AT(INT64_MIN)), WEFT_ERROR_SHAPE, "range", "axis 0");
    CHECK_REFUSED(weft_slice(a, WEFT_STEP(0, 1, 0)), WEFT_ERROR_SHAPE, "range", "step", "0");
    weft_range odd = {77, 0, 0, 1};
    CHECK_REFUSED(weft_slice_with(a, 1, &odd), WEFT_ERROR_ARGUMENT, "ranges", "WEFT_AT(77)");
    for (odd.kind = 0; odd.kind < 3; odd.kind++) /* weft_slice(a, 1), which C takes for a range */
        CHECK_REFUSED(weft_slice_with(a, 1, &odd), WEFT_ERROR_ARGUMENT, "ranges", "WEFT_AT");
    CHECK_REFUSED(weft_slice(a, WEFT_NEW_AXIS, WEFT_NEW_AXIS, WEFT_NEW_AXIS, WEFT_NEW_AXIS,
                             WEFT_NEW_AXIS, WEFT_NEW_AXIS, WEFT_NEW_AXIS),
                  WEFT_ERROR_SHAPE, "ranges", "8 dimensions");
}

TEST(bad_reshapes_and_broadcasts)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    WEFT_AUTO weft_array *t = weft_transpose(a);
    CHECK(a && t);
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(5)), WEFT_ERROR_SHAPE, "shape", "(2, 3)", "6", "(5,)");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(-1, -1)), WEFT_ERROR_SHAPE, "shape", "axes 0 and 1");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(4, -1)), WEFT_ERROR_SHAPE, "shape", "6", "(4, -1)");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(0, -1)), WEFT_ERROR_SHAPE, "shape", "(0, -1)");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(-2, -3)), WEFT_ERROR_SHAPE, "shape", "-2");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(-2, -3, -1)), WEFT_ERROR_SHAPE, "shape", "-2");
    CHECK_REFUSED(weft_reshape(a, WEFT_SHAPE(INT64_MAX, INT64_MAX, -1)), WEFT_ERROR_SHAPE, "shape",
                  "9223372036854775807");
    CHECK_REFUSED(weft_reshape(a, ((weft_shape){9, {6}})), WEFT_ERROR_SHAPE, "shape", "9");
    CHECK_REFUSED(weft_reshape(a, ((weft_shape){-1, {6}})), WEFT_ERROR_SHAPE, "shape", "-1");
    CHECK_REFUSED(weft_reshape(t, WEFT_SHAPE(6), .copy = WEFT_COPY_NEVER), WEFT_ERROR_SHAPE,
                  "shape", "(6,)", "(3, 2)", "copy");
    CHECK_REFUSED(weft_broadcast(a, WEFT_SHAPE(3)), WEFT_ERROR_SHAPE, "shape", "(2, 3)", "(3,)");
    CHECK_REFUSED(weft_broadcast(a, WEFT_SHAPE(2, 4)), WEFT_ERROR_SHAPE, "", "(2, 3)", "(2, 4)");
    CHECK_REFUSED(weft_broadcast(a, WEFT_SHAPE(-2, 2, 3)), WEFT_ERROR_SHAPE, "shape", "-2");
    CHECK_REFUSED(weft_broadcast(a, WEFT_SHAPE(INT64_C(1) << 62, 2, 3)), WEFT_ERROR_SHAPE, "shape",
                  "4611686018427387904");
    /* 2^60 × 6 elements can be counted, their bytes cannot */
    CHECK_REFUSED(weft_broadcast(a, WEFT_SHAPE(INT64_C(1) << 60, 2, 3)), WEFT_ERROR_SHAPE, "shape",
                  "bytes");
}

TEST(bad_writes)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(3), .device = device());
    WEFT_AUTO weft_array *wide = weft_broadcast(a, WEFT_SHAPE(2, 3));
    WEFT_AUTO weft_array *part = weft_slice(wide, WEFT_RANGE(0, 2), WEFT_RANGE(0, 1));
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(2, 3), .device = device());
    CHECK(a && wide && part && b);
    float host[6] = {0};
    weft_error_clear();
    CHECK_STATUS(weft_assign(wide, b), WEFT_ERROR_SHAPE);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_assign", "target", "target", "broadcast");
    CHECK_STATUS(weft_fill(part, 1), WEFT_ERROR_SHAPE);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_fill", "array", "share memory");
    CHECK_STATUS(weft_copy_from_host(wide, host, sizeof host), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_assign(a, b), WEFT_ERROR_SHAPE); /* too large for the target */
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_assign", "source", "(2, 3)", "(3,)");
    CHECK_STATUS(weft_copy_to_host(a, host, 12), WEFT_OK);
    CHECK_BITS(host, ((float[3]){0, 0, 0}), 12); /* nothing was written */
}

TEST(bad_dtypes)
{
    WEFT_AUTO weft_array *f = weft_zeros(WEFT_SHAPE(2), .device = device());
    WEFT_AUTO weft_array *i = weft_zeros(WEFT_SHAPE(2), .dtype = WEFT_I16, .device = device());
    CHECK(f && i);
    static const int wrong[] = {WEFT_DTYPE_END, -1, 999};
    static int host[1];
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        weft_dtype no = (weft_dtype)wrong[k];
        char value[16];
        snprintf(value, sizeof value, "%d", wrong[k]);
        CHECK_REFUSED(weft_empty(WEFT_SHAPE(2), .dtype = no, .device = device()), WEFT_ERROR_DTYPE,
                      "dtype", value);
        CHECK_REFUSED(weft_ones(WEFT_SHAPE(2), .dtype = no), WEFT_ERROR_DTYPE, "dtype", value);
        CHECK_REFUSED(weft_handle(.dtype = no), WEFT_ERROR_DTYPE, "dtype", value);
        CHECK_REFUSED(weft_cast(f, no), WEFT_ERROR_DTYPE, "dtype", value);
        CHECK_REFUSED(weft_copy(f, .dtype = no), WEFT_ERROR_DTYPE, "dtype", value);
        CHECK_REFUSED(weft_arange(0, 3, 1, .dtype = no), WEFT_ERROR_DTYPE, "dtype", value);
        CHECK_REFUSED(weft_borrow(host, 4, WEFT_SHAPE(1), no), WEFT_ERROR_DTYPE, "dtype", value);
    }
    CHECK_REFUSED(weft_cast(f, WEFT_DTYPE_DEFAULT), WEFT_ERROR_DTYPE, "dtype",
                  "no dtype was given");
    weft_error_clear();
    CHECK_STATUS(weft_assign(i, f), WEFT_ERROR_DTYPE);
    CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_assign", "source", "f32", "i16", "weft_assign_cast");
    CHECK_STATUS(weft_assign(f, i), WEFT_ERROR_DTYPE);
    CHECK_STATUS(weft_fill(i, 2.5), WEFT_ERROR_DTYPE);
    CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_fill", "number", "f64", "i16");
    CHECK_STATUS(weft_fill(i, 32768), WEFT_ERROR_DTYPE);
    CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_fill", "number", "32768", "i16");
    CHECK_STATUS(weft_fill(i, 18446744073709551615u), WEFT_ERROR_DTYPE);
    CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_fill", "number", "18446744073709551615");
    CHECK_STATUS(weft_fill(i, f), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_fill", "number", "array");
    CHECK_REFUSED(weft_full(WEFT_SHAPE(1), f), WEFT_ERROR_ARGUMENT, "number", "array");
    int whole = 5;
    CHECK_STATUS(weft_item(f, &whole), WEFT_ERROR_DTYPE);
    CHECK_RECORD(WEFT_ERROR_DTYPE, "weft_item", "out", "f32", "i32", "weft_cast");
    CHECK_INT(whole, 5);
}

TEST(bad_host_copies)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    WEFT_AUTO weft_array *none = weft_zeros(WEFT_SHAPE(0, 3), .device = device());
    CHECK(a && none);
    float host[7] = {1, 2, 3, 4, 5, 6, 7};
    float one;
    weft_error_clear();
    CHECK_STATUS(weft_copy_to_host(a, host, 23), WEFT_ERROR_SHAPE);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_copy_to_host", "bytes", "23", "24", "(2, 3)", "f32");
    CHECK_STATUS(weft_copy_to_host(a, host, 28), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_copy_from_host(a, host, 0), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_copy_from_host(a, host, SIZE_MAX), WEFT_ERROR_SHAPE);
    CHECK_BITS(host, ((float[7]){1, 2, 3, 4, 5, 6, 7}), sizeof host);
    CHECK_REFUSED(weft_from_host(host, 20, WEFT_SHAPE(6)), WEFT_ERROR_SHAPE, "bytes", "20", "24");
    /* told before the memory of a mistaken shape is asked for */
    CHECK_REFUSED(weft_from_host(host, 24, WEFT_SHAPE(INT64_C(1) << 55)), WEFT_ERROR_SHAPE, "bytes",
                  "24", "36028797018963968");
    CHECK_STATUS(weft_item(none, &one), WEFT_ERROR_SHAPE);
    CHECK_RECORD(WEFT_ERROR_SHAPE, "weft_item", "array", "(0, 3)");
    CHECK_STATUS(weft_copy_to_host(none, NULL, 0), WEFT_OK); /* nothing needs no place */
    CHECK_STATUS(weft_copy_from_host(none, NULL, 0), WEFT_OK);
}

TEST(bad_ranges_of_numbers)
{
    CHECK_REFUSED(weft_arange(0, 1, 0), WEFT_ERROR_ARGUMENT, "", "step 0");
    CHECK_REFUSED(weft_arange(0, (double)__builtin_inf(), 1), WEFT_ERROR_ARGUMENT, "", "inf");
    CHECK_REFUSED(weft_arange((double)__builtin_nan(""), 1, 1), WEFT_ERROR_ARGUMENT, "", "nan");
    CHECK_REFUSED(weft_arange(0, 1e30, 1e-5), WEFT_ERROR_SHAPE, "", "1e+30", "1e-05");
    CHECK_REFUSED(weft_linspace(0, (double)__builtin_inf(), 3), WEFT_ERROR_ARGUMENT, "", "inf");
}

TEST(bad_memory_options)
{
    CHECK_REFUSED(weft_empty(WEFT_SHAPE(1), .allocator = (weft_allocator)9), WEFT_ERROR_ARGUMENT,
                  "allocator", "9");
    CHECK_REFUSED(weft_empty(WEFT_SHAPE(1), .memory = WEFT_MEMORY_LENT), WEFT_ERROR_ARGUMENT,
                  "memory", "lent", "weft_borrow");
    CHECK_REFUSED(weft_empty(WEFT_SHAPE(1), .memory = (weft_memory)33), WEFT_ERROR_ARGUMENT,
                  "memory", "33");
    CHECK_REFUSED(
        weft_empty(WEFT_SHAPE(1), .memory = WEFT_MEMORY_HOST, .allocator = WEFT_ALLOCATOR_MANAGED),
        WEFT_ERROR_ARGUMENT, "memory", "shared", "host");
}

TEST(bad_handles)
{
    WEFT_AUTO weft_array *h = weft_handle(.device = device());
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1), .device = device());
    CHECK(h && a);
    float x;
    weft_error_clear();
    CHECK_STATUS(weft_fill(h, 1), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_fill", "array", "handle", "weft_resize");
    CHECK_STATUS(weft_assign(a, h), WEFT_ERROR_ARGUMENT);
    CHECK_RECORD(WEFT_ERROR_ARGUMENT, "weft_assign", "source", "handle");
    CHECK_STATUS(weft_assign(h, h), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_item(h, &x), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_eval(h), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_copy_to_host(h, &x, 4), WEFT_ERROR_ARGUMENT);
    CHECK_REFUSED(weft_copy(h), WEFT_ERROR_ARGUMENT, "array", "handle");
    CHECK_REFUSED(weft_transpose(h), WEFT_ERROR_ARGUMENT, "array", "handle");
    CHECK_REFUSED(weft_zeros_like(h), WEFT_ERROR_ARGUMENT, "array", "handle");
    CHECK(weft_array_is_handle(h));
}

TEST_MAIN(TEST_OF(error_names_and_texts), TEST_OF(error_reading_does_not_clear),
          TEST_OF(error_success_leaves_it_failure_overwrites_it), TEST_OF(error_fixed_size),
          TEST_OF(error_set_takes_errors_only), TEST_OF(error_chain_of_nulls_keeps_the_first),
          TEST_OF(error_null_without_a_failure), TEST_OF(error_null_places),
          TEST_OF(error_belongs_to_its_thread), TEST_OF(bad_sizes), TEST_OF(bad_ranks_and_axes),
          TEST_OF(bad_reshapes_and_broadcasts), TEST_OF(bad_writes), TEST_OF(bad_dtypes),
          TEST_OF(bad_host_copies), TEST_OF(bad_ranges_of_numbers), TEST_OF(bad_memory_options),
          TEST_OF(bad_handles));
