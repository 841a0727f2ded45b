/* Creation: every function in every dtype against numbers made here, handles, the like forms. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "core/array.h"
#include "support/gate.h"
#include "support/reference.h"

static weft_device device(void) { return weft_device_named(test_device()); }

/* Every element is the number, converted once. */
static bool is_full_of(weft_array *array, weft_dtype dtype, struct number number)
{
    char expected[16], *read = malloc(weft_array_bytes(array) + 1);
    size_t size = weft_dtype_size(dtype);
    bool good = read && weft_array_dtype(array) == dtype &&
                weft_copy_to_host(array, read, weft_array_bytes(array)) == WEFT_OK;
    number_encode(dtype, &number, expected);
    for (int64_t k = 0; good && k < weft_array_count(array); k++)
        good = !memcmp(read + (size_t)k * size, expected, size);
    free(read);
    return good;
}

static struct number whole(int64_t x)
{
    return (struct number){true, (uint64_t)x, {(long double)x, 0}};
}

static struct number real(double x) { return (struct number){false, 0, {(long double)x, 0}}; }

TEST(A4_zeros_ones_empty)
{
    static const weft_shape shapes[] = {{0, {0}}, {1, {1}}, {1, {0}}, {2, {3, 7}}};
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++) {
        weft_dtype type = (weft_dtype)dtype;
        weft_shape shape = shapes[dtype % 4];
        WEFT_AUTO weft_array *zeros = weft_zeros(shape, .dtype = type, .device = device());
        WEFT_AUTO weft_array *ones = weft_ones(shape, .dtype = type, .device = device());
        WEFT_AUTO weft_array *empty = weft_empty(shape, .dtype = type, .device = device());
        CHECK(zeros && ones && empty);
        CHECK(is_full_of(zeros, type, whole(0)));
        CHECK(is_full_of(ones, type, whole(1)));
        CHECK(weft_shape_equal(weft_array_shape(empty), shape));
        CHECK_INT(weft_array_dtype(empty), type);
    }
    WEFT_AUTO weft_array *plain = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(plain);
    CHECK_INT(weft_array_dtype(plain), WEFT_F32);
}

/* Memory that was used before is not taken for zero. */
TEST(A4_zeros_in_used_memory)
{
    static const int64_t sizes[] = {10, 5000, 600000};
    for (int i = 0; i < 3; i++) {
        weft_array *used = weft_full(WEFT_SHAPE(sizes[i]), 7.0f, .device = device());
        CHECK(used);
        void *at = weft_array_data(used);
        weft_array_release(used);
        WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(sizes[i]), .device = device());
        CHECK(a);
        CHECK(weft_array_data(a) == at || test_faults());
        CHECK(is_full_of(a, WEFT_F32, whole(0)));
    }
}

/* The stream gives the memory on to the next array while work that writes it is queued. */
TEST(A4_zeros_in_memory_that_is_still_written)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(device(), stream), WEFT_OK);
    weft_array *used = weft_full(WEFT_SHAPE(1000), 7.0f, .device = device());
    const weft__buffer *at = used ? used->buffer : NULL;
    weft_array_release(used);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .device = device());
    const bool same = a && a->buffer == at;
    weft_stream_set_current(device(), NULL);
    gate_open(&gate);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK(used && a);
    CHECK(same);
    CHECK(is_full_of(a, WEFT_F32, whole(0)));
}

TEST(A4_full_takes_the_numbers_dtype)
{
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(2), (bool)true, .device = device());
    WEFT_AUTO weft_array *i8 = weft_full(WEFT_SHAPE(2), (signed char)-3, .device = device());
    WEFT_AUTO weft_array *u16 = weft_full(WEFT_SHAPE(2), (unsigned short)65535, .device = device());
    WEFT_AUTO weft_array *i32 = weft_full(WEFT_SHAPE(2), -7, .device = device());
    WEFT_AUTO weft_array *i64 = weft_full(WEFT_SHAPE(2), -7LL, .device = device());
    WEFT_AUTO weft_array *u64 = weft_full(WEFT_SHAPE(2), UINT64_MAX, .device = device());
    WEFT_AUTO weft_array *f32 = weft_full(WEFT_SHAPE(2), 2.5f, .device = device());
    WEFT_AUTO weft_array *d = weft_full(WEFT_SHAPE(2), 0.1, .device = device());
    CHECK(b && i8 && u16 && i32 && i64 && u64 && f32 && d);
    CHECK(is_full_of(b, WEFT_BOOL, whole(1)));
    CHECK(is_full_of(i8, WEFT_I8, whole(-3)));
    CHECK(is_full_of(u16, WEFT_U16, whole(65535)));
    CHECK(is_full_of(i32, WEFT_I32, whole(-7)));
    CHECK(is_full_of(i64, WEFT_I64, whole(-7)));
    CHECK(is_full_of(u64, WEFT_U64, whole(-1)));
    CHECK(is_full_of(f32, WEFT_F32, real(2.5)));
    CHECK(is_full_of(d, WEFT_F32, real(0.1))); /* a double literal is f32 */
}

TEST(A4_full_of_complex)
{
    double _Complex z;
    double parts[2] = {1.5, -2.25}, read[4];
    float narrow[4];
    memcpy(&z, parts, sizeof z);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(2), z, .device = device());
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(2), z, .dtype = WEFT_C64, .device = device());
    CHECK(a && b);
    CHECK_INT(weft_array_dtype(a), WEFT_C128);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK(read[2] == 1.5 && read[3] == -2.25);
    CHECK_STATUS(weft_copy_to_host(b, narrow, sizeof narrow), WEFT_OK);
    CHECK(narrow[2] == 1.5f && narrow[3] == -2.25f);
    WEFT_AUTO weft_array *real_part = weft_full(WEFT_SHAPE(1), z, .dtype = WEFT_F32);
    CHECK(!real_part);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "c128");
}

/* A number is rounded once, to f16 and bf16 too, from a double or a 64-bit integer. */
TEST(A4_full_rounds_once)
{
    static const double numbers[] = {0x1.002p0,
                                     0x1.0020000000001p0,
                                     0x1.00201p0,
                                     0x1.006p0,
                                     0x1.01p0,
                                     0x1.0100000000001p0,
                                     65519.9999,
                                     65520.0,
                                     -0.0,
                                     0x1p-25,
                                     0x1.0000000000001p-25,
                                     1e-310};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (int dtype = WEFT_F16; dtype <= WEFT_F64; dtype++) {
            WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(3), numbers[i],
                                                .dtype = (weft_dtype)dtype, .device = device());
            CHECK(a);
            CHECK(is_full_of(a, (weft_dtype)dtype, real(numbers[i])));
        }
    static const int64_t integers[] = {2049,
                                       4098,
                                       4099,
                                       16777217,
                                       INT64_C(0x4008000000000001),
                                       INT64_C(0x4008000000000000),
                                       INT64_MIN,
                                       257,
                                       65519,
                                       65520,
                                       (INT64_C(1) << 54) + (INT64_C(1) << 46) + 1};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        for (int dtype = WEFT_F16; dtype <= WEFT_F64; dtype++) {
            WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(3), integers[i],
                                                .dtype = (weft_dtype)dtype, .device = device());
            CHECK(a);
            CHECK(is_full_of(a, (weft_dtype)dtype, whole(integers[i])));
        }
}

TEST(A4_full_at_the_ends_of_a_range)
{
    static const struct {
        weft_dtype dtype;
        int64_t low;
        uint64_t high;
    } ends[] = {{WEFT_I8, INT8_MIN, INT8_MAX},    {WEFT_I16, INT16_MIN, INT16_MAX},
                {WEFT_I32, INT32_MIN, INT32_MAX}, {WEFT_I64, INT64_MIN, INT64_MAX},
                {WEFT_U8, 0, UINT8_MAX},          {WEFT_U16, 0, UINT16_MAX},
                {WEFT_U32, 0, UINT32_MAX},        {WEFT_U64, 0, UINT64_MAX}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        weft_dtype dtype = ends[i].dtype;
        WEFT_AUTO weft_array *low =
            weft_full(WEFT_SHAPE(2), ends[i].low, .dtype = dtype, .device = device());
        WEFT_AUTO weft_array *high =
            weft_full(WEFT_SHAPE(2), ends[i].high, .dtype = dtype, .device = device());
        CHECK(low && high);
        CHECK(is_full_of(low, dtype, whole(ends[i].low)));
        CHECK(is_full_of(high, dtype, whole((int64_t)ends[i].high)));
        if (ends[i].low > INT64_MIN) {
            WEFT_AUTO weft_array *below =
                weft_full(WEFT_SHAPE(2), ends[i].low - 1, .dtype = dtype, .device = device());
            CHECK(!below);
            CHECK_ERROR(WEFT_ERROR_DTYPE, weft_dtype_name(dtype));
        }
        if (ends[i].high < UINT64_MAX) {
            WEFT_AUTO weft_array *above =
                weft_full(WEFT_SHAPE(2), ends[i].high + 1, .dtype = dtype, .device = device());
            CHECK(!above);
            CHECK_ERROR(WEFT_ERROR_DTYPE, weft_dtype_name(dtype));
        }
    }
}

/* Element k is start + k * step, computed without an error in between and rounded once to f64. */
static bool is_range(weft_array *array, weft_dtype dtype, double start, double step, double last)
{
    size_t size = weft_dtype_size(dtype);
    char expected[16], *read = malloc(weft_array_bytes(array) + 1);
    bool good = read && weft_array_dtype(array) == dtype &&
                weft_copy_to_host(array, read, weft_array_bytes(array)) == WEFT_OK;
    int64_t count = weft_array_count(array);
    for (int64_t k = 0; good && k < count; k++) {
        struct number x = real(fma((double)k, step, start));
        if (k == count - 1 && k > 0 && !isnan(last))
            x = real(last);
        number_encode(dtype, &x, expected);
        good = !memcmp(read + (size_t)k * size, expected, size);
    }
    free(read);
    return good;
}

TEST(A4_arange)
{
    static const struct {
        double start, stop, step;
        int64_t count;
    } cases[] = {{0, 10, 1, 10},   {0, 10, 3, 4},           {0, 9, 3, 3},
                 {5, 0, -1, 5},    {5, 0, -2, 3},           {0, 0, 1, 0},
                 {3, 1, 1, 0},     {1, 3, -1, 0},           {-7.5, 2, 0.5, 19},
                 {0, 1, 0.1, 10},  {1, 1.3, 0.1, 3},        {250, 260, 1, 10},
                 {-3, 300, 7, 44}, {1e6, 1e6 + 1, 0.25, 4}, {-0.0, 1, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype += test_faults() ? 5 : 1) {
            WEFT_AUTO weft_array *a = weft_arange(cases[i].start, cases[i].stop, cases[i].step,
                                                  .dtype = (weft_dtype)dtype, .device = device());
            CHECK(a);
            CHECK_INT(weft_array_count(a), cases[i].count);
            CHECK(is_range(a, (weft_dtype)dtype, cases[i].start, cases[i].step, (double)NAN));
        }
}

TEST(A4_linspace)
{
    static const struct {
        double start, stop;
        int64_t count;
    } cases[] = {{0, 1, 5},     {0, 1, 2},        {0, 1, 1},          {0, 1, 0},
                 {1, 0, 11},    {-3, 3, 7},       {5, 5, 4},          {0, 1e300, 13},
                 {0, 255, 256}, {0.1, 0.7, 1000}, {1, 1.0000001, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype += test_faults() ? 5 : 1) {
            int64_t count = cases[i].count;
            double step = count > 1 ? (cases[i].stop - cases[i].start) / (double)(count - 1) : 0;
            WEFT_AUTO weft_array *a = weft_linspace(cases[i].start, cases[i].stop, count,
                                                    .dtype = (weft_dtype)dtype, .device = device());
            CHECK(a);
            CHECK_INT(weft_array_count(a), count);
            CHECK(is_range(a, (weft_dtype)dtype, cases[i].start, step, cases[i].stop));
        }
}

/* From one end of f64 to the other: the difference of the ends overflows, no element does. */
TEST(A4_linspace_over_the_whole_range)
{
    double read[5];
    WEFT_AUTO weft_array *a =
        weft_linspace(-1.7e308, 1.7e308, 5, .dtype = WEFT_F64, .device = device());
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK(read[0] == -1.7e308 && read[4] == 1.7e308);
    CHECK(fabs(read[1] + 0.85e308) < 1e294);
    CHECK(fabs(read[2]) < 1e294);
    CHECK(fabs(read[3] - 0.85e308) < 1e294);
}

TEST(A4_eye)
{
    static const struct {
        int64_t rows, columns, diagonal;
    } cases[] = {{3, 3, 0},  {3, 4, 1},  {4, 3, -2},        {2, 5, 4},
                 {2, 5, 5},  {0, 3, 0},  {3, 0, 0},         {1, 1, 0},
                 {5, 1, -4}, {7, 13, 2}, {3, 3, INT64_MIN}, {3, 3, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype += test_faults() ? 5 : 1) {
            size_t size = weft_dtype_size((weft_dtype)dtype);
            char read[16 * 100], expected[16];
            WEFT_AUTO weft_array *a = weft_eye(cases[i].rows, cases[i].columns, cases[i].diagonal,
                                               .dtype = (weft_dtype)dtype, .device = device());
            CHECK(a);
            CHECK(
                weft_shape_equal(weft_array_shape(a), WEFT_SHAPE(cases[i].rows, cases[i].columns)));
            CHECK_STATUS(weft_copy_to_host(a, read, weft_array_bytes(a)), WEFT_OK);
            for (int64_t r = 0; r < cases[i].rows; r++)
                for (int64_t c = 0; c < cases[i].columns; c++) {
                    struct number x = whole(cases[i].diagonal == c - r);
                    number_encode((weft_dtype)dtype, &x, expected);
                    CHECK_BITS(read + (size_t)(r * cases[i].columns + c) * size, expected, size);
                }
        }
}

TEST(A4_creation_in_pitched_memory)
{
    WEFT_AUTO weft_array *eye = weft_eye(3, 5, 1, .dtype = WEFT_I8, .device = device(),
                                         .allocator = WEFT_ALLOCATOR_PITCHED);
    WEFT_AUTO weft_array *ones =
        weft_ones(WEFT_SHAPE(3, 5), .device = device(), .allocator = WEFT_ALLOCATOR_PITCHED);
    CHECK(eye && ones);
    int8_t read[15];
    CHECK_STATUS(weft_copy_to_host(eye, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int8_t[]){0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0}), sizeof read);
    CHECK(is_full_of(ones, WEFT_F32, whole(1)));
}

TEST(A4_like)
{
    WEFT_AUTO weft_array *base = weft_zeros(WEFT_SHAPE(3, 4), .dtype = WEFT_I16, .device = device(),
                                            .memory = WEFT_MEMORY_HOST);
    WEFT_AUTO weft_array *a = weft_transpose(base); /* the shape counts, not the layout */
    CHECK(base && a);
    WEFT_AUTO weft_array *empty = weft_empty_like(a);
    WEFT_AUTO weft_array *zeros = weft_zeros_like(a, .dtype = WEFT_F64);
    WEFT_AUTO weft_array *ones = weft_ones_like(a, .memory = WEFT_MEMORY_DEVICE);
    WEFT_AUTO weft_array *full = weft_full_like(a, -5, .device = device());
    CHECK(empty && zeros && ones && full);
    weft_array *all[] = {empty, zeros, ones, full};
    for (int i = 0; i < 4; i++) {
        CHECK(weft_shape_equal(weft_array_shape(all[i]), WEFT_SHAPE(4, 3)));
        CHECK(weft_array_is_contiguous(all[i]));
        CHECK(weft_device_equal(weft_array_device(all[i]), device()));
        CHECK_INT(weft_array_memory(all[i]), i == 2 ? WEFT_MEMORY_DEVICE : WEFT_MEMORY_HOST);
    }
    CHECK_INT(weft_array_dtype(empty), WEFT_I16);
    CHECK(is_full_of(zeros, WEFT_F64, whole(0)));
    CHECK(is_full_of(ones, WEFT_I16, whole(1)));
    CHECK(is_full_of(full, WEFT_I16, whole(-5)));
    WEFT_AUTO weft_array *wrong = weft_full_like(a, 2.5);
    CHECK(!wrong);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "i16");
}

TEST(A4_handle)
{
    WEFT_AUTO weft_array *h = weft_handle(.dtype = WEFT_I16, .device = device());
    CHECK(h);
    CHECK(weft_array_is_handle(h));
    CHECK_INT(weft_array_count(h), 0);
    CHECK_INT(weft_array_bytes(h), 0);
    CHECK_INT(weft_array_dtype(h), WEFT_I16);
    CHECK(weft_device_equal(weft_array_device(h), device()));
    CHECK(!weft_array_data(h));
    CHECK_STATUS(weft_resize(h, WEFT_SHAPE(2, 2)), WEFT_OK);
    CHECK(!weft_array_is_handle(h));
    CHECK_INT(weft_array_count(h), 4);
    CHECK_STATUS(weft_fill(h, 3), WEFT_OK);
    CHECK(is_full_of(h, WEFT_I16, whole(3)));
    WEFT_AUTO weft_array *plain = weft_handle();
    CHECK(plain);
    CHECK_INT(weft_array_dtype(plain), WEFT_F32);
}

TEST(A4_assign_to_a_handle)
{
    WEFT_AUTO weft_array *source = weft_arange(0, 6, 1, .dtype = WEFT_I64, .device = device());
    WEFT_AUTO weft_array *view = weft_slice(source, WEFT_STEP(WEFT_END, WEFT_END, -2));
    WEFT_AUTO weft_array *h = weft_handle(.device = device(), .allocator = WEFT_ALLOCATOR_PINNED);
    CHECK(view && h);
    CHECK_STATUS(weft_assign(h, view), WEFT_OK);
    int64_t read[3];
    CHECK(weft_shape_equal(weft_array_shape(h), WEFT_SHAPE(3)));
    CHECK_INT(weft_array_dtype(h), WEFT_I64); /* a copy */
    CHECK_INT(weft_array_memory(h), WEFT_MEMORY_HOST);
    CHECK(weft_array_is_contiguous(h));
    CHECK_STATUS(weft_copy_to_host(h, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int64_t[]){5, 3, 1}), sizeof read);
    CHECK_STATUS(weft_fill(source, 9), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(h, read, sizeof read), WEFT_OK);
    CHECK_INT(read[0], 5);
    CHECK_STATUS(weft_resize(h, WEFT_SHAPE(2)), WEFT_OK); /* as it was to be */
    CHECK_INT(weft_array_memory(h), WEFT_MEMORY_HOST);
}

TEST(A4_assign_lent_memory_to_a_handle)
{
    int16_t host[3] = {4, 5, 6}, read[3];
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(3), WEFT_I16);
    WEFT_AUTO weft_array *h = weft_handle(.device = device());
    CHECK(lent && h);
    CHECK_STATUS(weft_assign(h, lent), WEFT_OK);
    CHECK(weft_device_equal(weft_array_device(h), device()));
    CHECK_INT(weft_array_memory(h), WEFT_MEMORY_DEVICE);
    CHECK_STATUS(weft_device_synchronize(device()), WEFT_OK); /* it may be read only now */
    host[0] = 0;
    CHECK_STATUS(weft_copy_to_host(h, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int16_t[]){4, 5, 6}), sizeof read);
}

TEST(A4_failed_assignment_leaves_a_handle)
{
    WEFT_AUTO weft_array *h = weft_handle(.dtype = WEFT_I8, .device = device());
    WEFT_AUTO weft_array *source = weft_ones(WEFT_SHAPE(1 << 20), .device = device());
    CHECK(h && source);
    CHECK_STATUS(weft_memory_set_limit(device(), 1), WEFT_OK);
    weft_status assigned = weft_assign(h, source);
    weft_status resized = weft_resize(h, WEFT_SHAPE(1 << 24));
    weft_memory_set_limit(device(), 0);
    CHECK_STATUS(assigned, WEFT_ERROR_MEMORY);
    CHECK_STATUS(resized, WEFT_ERROR_MEMORY);
    CHECK(weft_array_is_handle(h));
    CHECK_INT(weft_array_dtype(h), WEFT_I8);
    CHECK_INT(weft_array_ndim(h), 0);
    CHECK_STATUS(weft_assign(h, NULL), WEFT_ERROR_MEMORY); /* the record that there is */
    CHECK(weft_array_is_handle(h));
    CHECK_STATUS(weft_assign(h, source), WEFT_OK);
    CHECK_INT(weft_array_dtype(h), WEFT_F32);
}

TEST(A4_from_host)
{
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++) {
        char host[16 * 6], read[16 * 6];
        uint64_t state = (uint64_t)dtype;
        size_t bytes = 6 * weft_dtype_size((weft_dtype)dtype);
        hard_elements((weft_dtype)dtype, host, 6, &state);
        WEFT_AUTO weft_array *a = weft_from_host(host, bytes, WEFT_SHAPE(3, 2),
                                                 .dtype = (weft_dtype)dtype, .device = device());
        CHECK(a);
        CHECK_STATUS(weft_copy_to_host(a, read, bytes), WEFT_OK);
        CHECK_BITS(read, host, bytes); /* every bit, NaNs too */
    }
    WEFT_AUTO weft_array *none = weft_from_host(NULL, 0, WEFT_SHAPE(0), .device = device());
    CHECK(none);
}

/* Options of a program that was built before some of them existed. */
TEST(A4_options_of_other_sizes)
{
    weft_options older = {.struct_size = offsetof(weft_options, memory),
                          .dtype = WEFT_I8,
                          .device = device(),
                          .memory = WEFT_MEMORY_LENT, /* would be an error */
                          .allocator = (weft_allocator)99};
    WEFT_AUTO weft_array *a = weft_ones_with(WEFT_SHAPE(2), &older);
    CHECK(a);
    CHECK_INT(weft_array_dtype(a), WEFT_I8);
    WEFT_AUTO weft_array *b = weft_ones_with(WEFT_SHAPE(2), NULL);
    CHECK(b);
    weft_stream_options stream_older = {.struct_size = sizeof(size_t), .async = true};
    weft_stream *stream = weft_stream_new_with(device(), &stream_older);
    CHECK(stream);
    bool async = weft_stream_is_async(stream);
    weft_stream_release(stream);
    CHECK(!async);
}

TEST_MAIN(TEST_OF(A4_zeros_ones_empty), TEST_OF(A4_zeros_in_used_memory),
          TEST_OF(A4_zeros_in_memory_that_is_still_written),
          TEST_OF(A4_full_takes_the_numbers_dtype), TEST_OF(A4_full_of_complex),
          TEST_OF(A4_full_rounds_once), TEST_OF(A4_full_at_the_ends_of_a_range), TEST_OF(A4_arange),
          TEST_OF(A4_linspace), TEST_OF(A4_linspace_over_the_whole_range), TEST_OF(A4_eye),
          TEST_OF(A4_creation_in_pitched_memory), TEST_OF(A4_like), TEST_OF(A4_handle),
          TEST_OF(A4_assign_to_a_handle), TEST_OF(A4_assign_lent_memory_to_a_handle),
          TEST_OF(A4_failed_assignment_leaves_a_handle), TEST_OF(A4_from_host),
          TEST_OF(A4_options_of_other_sizes));
