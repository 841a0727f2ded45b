/* DLPack: tensors of other libraries taken in, arrays given out, and what an array is made of. The
 * other library is a plain C producer that counts how often it is asked to delete. */
#include "support/check.h"
#include "support/streams.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* Whether the elements of the array are these bytes, all of them. */
static bool reads(weft_array *array, const void *expected, size_t bytes)
{
    char *actual = malloc(bytes + 1);
    bool same = actual && array && weft_array_bytes(array) == bytes &&
                weft_copy_to_host(array, actual, bytes) == WEFT_OK &&
                memcmp(actual, expected, bytes) == 0;
    free(actual);
    return same;
}

/* A call that makes nothing, with that code and that text in the message. */
#define CHECK_FAILS(call, code, part)                                                              \
    do {                                                                                           \
        weft_error_clear();                                                                        \
        CHECK(!(call));                                                                            \
        CHECK_ERROR(code, part);                                                                   \
    } while (0)

/* A tensor of the producer's, in either form, with all that it points to. */
typedef struct producer {
    weft_dlpack versioned;
    weft_dlpack_unversioned unversioned;
    int64_t shape[16], strides[16];
    atomic_int deletions;
} producer;

static void delete_versioned(weft_dlpack *managed)
{
    atomic_fetch_add(&((producer *)managed->context)->deletions, 1);
}

static void delete_unversioned(weft_dlpack_unversioned *managed)
{
    atomic_fetch_add(&((producer *)managed->context)->deletions, 1);
}

/* 2 × 3 f32 in C order on the CPU; tests change what they are about. */
static void produce(producer *p, void *data)
{
    memset(p, 0, sizeof *p);
    p->shape[0] = 2;
    p->shape[1] = 3;
    p->strides[0] = 3;
    p->strides[1] = 1;
    p->versioned.version.major = 1;
    p->versioned.context = p->unversioned.context = p;
    p->versioned.deleter = delete_versioned;
    p->unversioned.deleter = delete_unversioned;
    weft_dlpack_tensor *t = &p->versioned.tensor;
    t->data = data;
    t->device.type = WEFT_DLPACK_CPU;
    t->ndim = 2;
    t->dtype.code = WEFT_DLPACK_FLOAT;
    t->dtype.bits = 32;
    t->dtype.lanes = 1;
    t->shape = p->shape;
    t->strides = p->strides;
    p->unversioned.tensor = *t;
}

static weft_array *take(producer *p, bool versioned)
{
    if (versioned)
        return weft_from_dlpack(&p->versioned);
    p->unversioned.tensor = p->versioned.tensor;
    return weft_from_dlpack_unversioned(&p->unversioned);
}

TEST(M6_tensors_become_arrays_without_a_copy)
{
    static float data[6] = {1, 2, 3, 4, 5, 6};
    for (int versioned = 0; versioned < 2; versioned++) {
        producer p;
        produce(&p, data);
        weft_array *a = take(&p, versioned);
        if (!a)
            CHECK_INT(atomic_load(&p.deletions), 1);
        CHECK(a);
        WEFT_AUTO weft_array *view = weft_transpose(a);
        bool same = weft_array_data(a) == data && weft_array_dtype(a) == WEFT_F32 &&
                    weft_shape_equal(weft_array_shape(a), WEFT_SHAPE(2, 3)) &&
                    weft_device_equal(weft_array_device(a), WEFT_CPU) && reads(a, data, 24);
        weft_array_release(a);
        CHECK_INT(atomic_load(&p.deletions), view ? 0 : 1);
        CHECK(same && view);
        weft_array_release(view);
        view = NULL;
        CHECK_INT(atomic_load(&p.deletions), 1);
    }
}

/* It is placed on the CPU: it goes together with arrays that are there, unlike lent memory. */
TEST(M6_tensors_are_placed)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    const float expected[6] = {3, 4, 5, 6, 7, 8};
    producer p;
    produce(&p, data);
    WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(2, 3), 2.0f, .device = WEFT_CPU);
    CHECK(a && b);
    CHECK_STATUS(weft(a = a + b, a, b), WEFT_OK);
    CHECK_BITS(data, expected, sizeof data);
}

TEST(M6_every_dtype)
{
    static const struct {
        uint8_t code, bits;
        weft_dtype dtype;
        const char *typestr;
    } table[] = {{6, 8, WEFT_BOOL, "|b1"}, {0, 8, WEFT_I8, "|i1"},    {0, 16, WEFT_I16, "<i2"},
                 {0, 32, WEFT_I32, "<i4"}, {0, 64, WEFT_I64, "<i8"},  {1, 8, WEFT_U8, "|u1"},
                 {1, 16, WEFT_U16, "<u2"}, {1, 32, WEFT_U32, "<u4"},  {1, 64, WEFT_U64, "<u8"},
                 {2, 16, WEFT_F16, "<f2"}, {4, 16, WEFT_BF16, "<V2"}, {2, 32, WEFT_F32, "<f4"},
                 {2, 64, WEFT_F64, "<f8"}, {5, 64, WEFT_C64, "<c8"},  {5, 128, WEFT_C128, "<c16"}};
    _Alignas(16) static char data[96];
    CHECK_INT(sizeof table / sizeof *table, WEFT_DTYPE_END - 1);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        producer p;
        weft_array_info info = {0};
        produce(&p, data);
        p.versioned.tensor.dtype.code = table[i].code;
        p.versioned.tensor.dtype.bits = table[i].bits;
        WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
        CHECK(a);
        CHECK_INT(weft_array_dtype(a), table[i].dtype);
        CHECK_STATUS(weft_array_describe(a, &info), WEFT_OK);
        CHECK_STR(info.typestr, table[i].typestr);
        WEFT_AUTO weft_array *own = weft_zeros(WEFT_SHAPE(3), .dtype = table[i].dtype);
        CHECK(own);
        weft_dlpack *out = weft_to_dlpack(own);
        CHECK(out);
        int code = out->tensor.dtype.code, bits = out->tensor.dtype.bits;
        int lanes = out->tensor.dtype.lanes;
        out->deleter(out);
        CHECK_INT(code, table[i].code);
        CHECK_INT(bits, table[i].bits);
        CHECK_INT(lanes, 1);
    }
}

TEST(M6_strides_and_offsets)
{
    int32_t data[12];
    for (int i = 0; i < 12; i++)
        data[i] = i;
    static const struct {
        int64_t strides[2];
        uint64_t offset;
        int32_t expected[6];
    } table[] = {{{3, 1}, 0, {0, 1, 2, 3, 4, 5}},    {{3, 1}, 24, {6, 7, 8, 9, 10, 11}},
                 {{1, 2}, 0, {0, 2, 4, 1, 3, 5}},    {{-3, -1}, 20, {5, 4, 3, 2, 1, 0}},
                 {{-6, 2}, 24, {6, 8, 10, 0, 2, 4}}, {{0, 1}, 4, {1, 2, 3, 1, 2, 3}}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        producer p;
        produce(&p, data);
        p.versioned.tensor.dtype.code = WEFT_DLPACK_SIGNED;
        memcpy(p.strides, table[i].strides, sizeof table[i].strides);
        p.versioned.tensor.byte_offset = table[i].offset;
        WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
        CHECK(a && reads(a, table[i].expected, 24));
        if (table[i].strides[0] == 0)
            CHECK_STATUS(weft_fill(a, 0), WEFT_ERROR_SHAPE);
    }
    producer p;
    produce(&p, data);
    p.versioned.tensor.dtype.code = WEFT_DLPACK_SIGNED;
    p.versioned.tensor.strides = NULL;
    WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
    CHECK(a && weft_array_is_contiguous(a) && reads(a, data, 24));
}

TEST(M6_scalars_and_nothing)
{
    float data = 7;
    producer p;
    produce(&p, &data);
    p.versioned.tensor.ndim = 0;
    p.versioned.tensor.shape = p.versioned.tensor.strides = NULL;
    WEFT_AUTO weft_array *scalar = weft_from_dlpack(&p.versioned);
    CHECK(scalar && reads(scalar, &data, 4));
    producer q;
    produce(&q, NULL);
    q.shape[0] = 0;
    WEFT_AUTO weft_array *nothing = weft_from_dlpack(&q.versioned);
    CHECK(nothing && weft_array_count(nothing) == 0);
    CHECK_STATUS(weft_fill(nothing, 1), WEFT_OK);
}

/* What is not taken is deleted at once, once, and the message says why. */
TEST(M6_refused_tensors_are_deleted_once)
{
    static float data[8];
    static const struct {
        weft_status code;
        const char *part;
    } table[] = {
        {WEFT_ERROR_DTYPE, "4 lanes"},           {WEFT_ERROR_DTYPE, "type code 3"},
        {WEFT_ERROR_DTYPE, "with 4 bits"},       {WEFT_ERROR_SHAPE, "9 dimensions"},
        {WEFT_ERROR_SHAPE, "-1 dimensions"},     {WEFT_ERROR_SHAPE, "-2"},
        {WEFT_ERROR_ARGUMENT, "no shape"},       {WEFT_ERROR_ARGUMENT, "no data"},
        {WEFT_ERROR_ARGUMENT, "aligned"},        {WEFT_ERROR_DEVICE, "type 10"},
        {WEFT_ERROR_DEVICE, "index 77"},         {WEFT_ERROR_SHAPE, "beyond all memory"},
        {WEFT_ERROR_SHAPE, "beyond all memory"}, {WEFT_ERROR_ARGUMENT, "beyond all memory"}};
    for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        producer p;
        produce(&p, data);
        weft_dlpack_tensor *t = &p.versioned.tensor;
        size_t what = i / 2;
        t->dtype.lanes = what == 0 ? 4 : 1;
        t->dtype.code = what == 1 ? 3 : t->dtype.code;
        t->dtype.bits = what == 2 ? 4 : t->dtype.bits;
        t->ndim = what == 3 ? 9 : what == 4 ? -1 : t->ndim;
        p.shape[0] = what == 5 ? -2 : p.shape[0];
        t->shape = what == 6 ? NULL : t->shape;
        t->data = what == 7 ? NULL : what == 8 ? (char *)data + 1 : t->data;
        t->device.type = what == 9 ? 10 : what == 10 ? WEFT_DLPACK_CUDA : t->device.type;
        t->device.index = what == 10 ? 77 : 0;
        p.strides[0] = what == 11 ? INT64_MAX : p.strides[0];
        p.strides[1] = what == 12 ? INT64_MAX / 8 : p.strides[1];
        t->byte_offset = what == 13 ? UINT64_MAX - 3 : 0;
        weft_error_clear();
        weft_array *a = take(&p, i % 2);
        weft_array_release(a);
        CHECK(!a);
        CHECK_INT(atomic_load(&p.deletions), 1);
        CHECK_ERROR(table[what].code, table[what].part);
    }
}

TEST(M6_versions)
{
    static float data[6];
    producer p;
    produce(&p, data);
    p.versioned.version.minor = 99; /* only adds */
    WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
    CHECK(a);
    producer q;
    produce(&q, data);
    q.versioned.version.major = 2;
    CHECK_FAILS(weft_from_dlpack(&q.versioned), WEFT_ERROR_UNSUPPORTED, "DLPack 2.0");
    CHECK_INT(atomic_load(&q.deletions), 1);
    producer r;
    produce(&r, data);
    r.versioned.deleter = NULL; /* there is nothing to free */
    WEFT_AUTO weft_array *b = weft_from_dlpack(&r.versioned);
    CHECK(b);
    CHECK_FAILS(weft_from_dlpack(NULL), WEFT_ERROR_ARGUMENT, "NULL");
}

WEFT_KERNEL(write_all, (a), { a(i, j) = 1; });

TEST(M6_read_only_tensors_are_not_written)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    const float doubled[6] = {2, 4, 6, 8, 10, 12};
    producer p;
    produce(&p, data);
    p.versioned.flags = WEFT_DLPACK_READ_ONLY;
    WEFT_AUTO weft_array *a = weft_from_dlpack(&p.versioned);
    CHECK(a);
    WEFT_AUTO weft_array *view = weft_transpose(a);
    CHECK(view);
    CHECK_STATUS(weft_fill(a, 0), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_copy");
    CHECK_STATUS(weft_fill(view, 0), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft(a = a * 2, a), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch(write_all, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_copy_from_host(a, doubled, sizeof doubled), WEFT_ERROR_ARGUMENT);
    WEFT_AUTO weft_array *b = weft_new(a * 2, a);
    CHECK(b && reads(b, doubled, sizeof doubled));
    CHECK(data[0] == 1 && data[5] == 6);
    weft_array_info info = {0};
    CHECK_STATUS(weft_array_describe(a, &info), WEFT_OK);
    CHECK(info.read_only);
    CHECK_FAILS(weft_to_dlpack_unversioned(a), WEFT_ERROR_UNSUPPORTED, "version");
    weft_dlpack *out = weft_to_dlpack(a);
    CHECK(out);
    uint64_t flags = out->flags;
    out->deleter(out);
    CHECK_INT(flags, WEFT_DLPACK_READ_ONLY);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(6)), WEFT_OK); /* memory of its own */
    CHECK_STATUS(weft_fill(a, 0), WEFT_OK);
}

/* Out, as another library sees it. */
TEST(M6_arrays_become_tensors)
{
    const float values[6] = {1, 2, 3, 4, 5, 6};
    WEFT_AUTO weft_array *a =
        weft_from_host(values, sizeof values, WEFT_SHAPE(2, 3), .device = WEFT_CPU);
    WEFT_AUTO weft_array *view = a ? weft_slice(a, WEFT_AT(1), WEFT_REVERSED) : NULL;
    CHECK(view);
    weft_dlpack *out = weft_to_dlpack(view);
    CHECK(out);
    void *data = weft_array_data(view);
    weft_array_release(view); /* the tensor keeps the memory */
    weft_array_release(a);
    a = view = NULL;
    const weft_dlpack_tensor *t = &out->tensor;
    const float *first = (const float *)((const char *)t->data + t->byte_offset);
    bool same = first == data && t->ndim == 1 && t->shape[0] == 3 && t->strides[0] == -1 &&
                t->device.type == WEFT_DLPACK_CPU && t->device.index == 0 &&
                out->version.major == 1 && out->flags == 0 && first[0] == 6 && first[-2] == 4;
    out->deleter(out);
    CHECK(same);
}

TEST(M6_tensors_that_come_back)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4), .device = device());
    CHECK(a);
    weft_dlpack *out = weft_to_dlpack(a);
    CHECK(out);
    WEFT_AUTO weft_array *b = weft_from_dlpack(out);
    CHECK(b && weft_array_data(b) == weft_array_data(a));
    weft_dlpack_unversioned *old = weft_to_dlpack_unversioned(a);
    CHECK(old);
    WEFT_AUTO weft_array *c = weft_from_dlpack_unversioned(old);
    CHECK(c && weft_array_data(c) == weft_array_data(a));
    CHECK_STATUS(weft_fill(c, 3), WEFT_OK);
    const float expected[4] = {3, 3, 3, 3};
    CHECK(reads(a, expected, sizeof expected) && reads(b, expected, sizeof expected));
}

/* The device's own memory as another library of that device would take it: what we give out is
 * handed in again by somebody else, and both see the same elements. */
TEST(M6_tensors_of_the_device)
{
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    const int32_t expected[] = {5, 5, 10, 10, 5, 5};
    for (int k = 0; k < 3; k++) {
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(6), 5, .dtype = WEFT_I32, .device = device(), .memory = kinds[k]);
        WEFT_AUTO weft_array *part = a ? weft_slice(a, WEFT_RANGE(2, 4)) : NULL;
        CHECK(part);
        weft_dlpack *out = weft_to_dlpack(part);
        CHECK(out);
        producer p;
        produce(&p, NULL);
        p.versioned.tensor = out->tensor;
        weft_array *b = weft_from_dlpack(&p.versioned);
        weft_status status = b ? weft(b = b * 2, b) : weft_error_code();
        if (b && status == WEFT_OK)
            status = weft_eval(b);
        weft_array_release(b);
        bool once = atomic_load(&p.deletions) == 1;
        out->deleter(out);
        CHECK_STATUS(status, WEFT_OK);
        CHECK(once);
        CHECK(reads(a, expected, sizeof expected));
    }
}

TEST(M6_tensors_elsewhere)
{
    const float ones[4] = {1, 1, 1, 1};
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4), .device = device());
    CHECK(a);
    weft_dlpack *out = weft_to_dlpack(a, .device = WEFT_CPU);
    CHECK(out);
    bool copied = out->flags & WEFT_DLPACK_COPIED, host = out->tensor.device.type == 1;
    bool same = memcmp(out->tensor.data, ones, sizeof ones) == 0;
    out->deleter(out);
    CHECK(host && same);
    CHECK_INT(copied, !weft_array_host_readable(a));
    out = weft_to_dlpack(a, .copy = WEFT_COPY_ALWAYS);
    CHECK(out);
    copied = out->flags & WEFT_DLPACK_COPIED;
    same = out->tensor.data == weft_array_data(a);
    out->deleter(out);
    CHECK(copied && !same);
    if (!weft_array_host_readable(a))
        CHECK_FAILS(weft_to_dlpack(a, .device = WEFT_CPU, .copy = WEFT_COPY_NEVER),
                    WEFT_ERROR_PLACEMENT, "cpu");
}

/* Hand-over: the consumer's stream is held until the producer's work is done, without a wait. */
TEST(M6_streams_are_handed_over)
{
    AUTO_STREAM producing = weft_stream_new(device(), .async = true);
    AUTO_STREAM consuming = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    CHECK(producing && consuming);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4), .stream = producing);
    CHECK(a);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK_STATUS(hold(producing, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    bool before = weft_waits_forbid(true);
    weft_dlpack *refused = weft_to_dlpack(a);
    weft_status code = weft_error_code();
    weft_dlpack *out = weft_to_dlpack(a, .stream = consuming);
    weft_waits_forbid(before);
    bool busy = stays_busy(consuming);
    gate_open(&gate);
    bool done = finishes(consuming);
    if (out)
        out->deleter(out);
    CHECK(out && !refused && busy && done);
    CHECK_STATUS(code, WEFT_ERROR_WAIT);
}

/* What the consumer still has queued when it deletes comes before the memory is used again. */
TEST(M6_memory_comes_back_in_order)
{
    AUTO_STREAM consuming = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4), .device = device());
    CHECK(consuming && a);
    weft_dlpack *out = weft_to_dlpack(a, .stream = consuming);
    CHECK(out);
    weft_status status = hold(consuming, &gate);
    out->deleter(out);
    CHECK_STATUS(status, WEFT_OK);
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    CHECK(other);
    CHECK_STATUS(weft_stream_set_current(device(), other), WEFT_OK);
    status = weft_fill(a, 1);
    weft_stream_set_current(device(), NULL);
    bool waited = stays_busy(other);
    gate_open(&gate);
    CHECK(finishes(other));
    CHECK_STATUS(status, WEFT_OK);
    CHECK(waited);
}

TEST(M6_tensors_come_after_their_stream)
{
    static float data[6];
    AUTO_STREAM producing = weft_stream_new(device(), .async = true);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    producer p;
    CHECK(producing && other);
    CHECK_STATUS(hold(producing, &gate), WEFT_OK);
    produce(&p, data);
    weft_array *a = weft_from_dlpack(&p.versioned, .stream = producing);
    weft_stream_set_current(WEFT_CPU, other);
    weft_status status = a ? weft_fill(a, 1) : weft_error_code();
    weft_stream_set_current(WEFT_CPU, NULL);
    bool waited = stays_busy(other);
    gate_open(&gate);
    bool done = finishes(other);
    weft_array_release(a);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(waited && done);
    for (int i = 0; i < 20000 && !atomic_load(&p.deletions); i++)
        pause_ms(1);
    CHECK_INT(atomic_load(&p.deletions), 1);
}

/* Those that are our own, and come back from another library, too. */
TEST(M6_own_tensors_come_after_their_stream)
{
    AUTO_STREAM producing = weft_stream_new(device(), .async = true);
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4), .device = device());
    CHECK(producing && other && a);
    weft_dlpack *out = weft_to_dlpack(a);
    CHECK(out);
    weft_status status = hold(producing, &gate);
    weft_array *back = weft_from_dlpack(out, .stream = producing);
    CHECK(back);
    weft_stream_set_current(device(), other);
    if (status == WEFT_OK)
        status = weft_fill(back, 1);
    weft_stream_set_current(device(), NULL);
    bool waited = stays_busy(other);
    gate_open(&gate);
    bool done = finishes(other);
    weft_array_release(back);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(waited && done);
}

/* A tensor is deleted after the queued work that uses it. */
TEST(M6_deleters_wait_for_queued_work)
{
    static float data[6];
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    producer p;
    CHECK(stream);
    produce(&p, data);
    weft_array *a = weft_from_dlpack(&p.versioned);
    CHECK(a);
    weft_status status = hold(stream, &gate);
    weft_stream_set_current(WEFT_CPU, stream);
    if (status == WEFT_OK)
        status = weft_fill(a, 1);
    weft_stream_set_current(WEFT_CPU, NULL);
    weft_array_release(a);
    int early = atomic_load(&p.deletions);
    gate_open(&gate);
    CHECK(finishes(stream));
    for (int i = 0; i < 20000 && !atomic_load(&p.deletions); i++)
        pause_ms(1);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(early, 0);
    CHECK_INT(atomic_load(&p.deletions), 1);
}

TEST(M6_what_an_array_is_made_of)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .dtype = WEFT_F64, .stream = stream,
                                         .memory = WEFT_MEMORY_SHARED);
    WEFT_AUTO weft_array *turned = a ? weft_transpose(a) : NULL;
    WEFT_AUTO weft_array *free = weft_zeros(WEFT_SHAPE(2), .device = device());
    float host[2] = {0, 0};
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(2), WEFT_F32);
    CHECK(stream && turned && free && lent);
    weft_array_info i = {0};
    CHECK_STATUS(weft_array_describe(turned, &i), WEFT_OK);
    CHECK(i.data == weft_array_data(a) && i.stream == stream && i.bound && !i.read_only);
    CHECK(i.ndim == 2 && i.shape[0] == 3 && i.shape[1] == 2 && i.strides[0] == 8 &&
          i.strides[1] == 24);
    CHECK_STR(i.typestr, "<f8");
    CHECK(weft_device_equal(i.device, device()) && i.memory == WEFT_MEMORY_SHARED);
    CHECK_INT(i.host_readable, weft_array_host_readable(a));
    CHECK_STATUS(weft_array_describe(free, &i), WEFT_OK);
    CHECK(!i.bound && i.stream == weft_stream_current(device()));
    CHECK_STATUS(weft_array_describe(lent, &i), WEFT_OK);
    CHECK(!i.stream && i.data == host && i.memory == WEFT_MEMORY_LENT && i.host_readable);
    CHECK_STATUS(weft_array_describe(NULL, &i), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_array_describe(lent, NULL), WEFT_ERROR_ARGUMENT);
}

static uint64_t bytes_in_use(void)
{
    weft_statistics statistics = {0};
    weft_memory_stats(device(), &statistics);
    return statistics.bytes_in_use;
}

TEST(M6_a_thousand_exchanges)
{
    static float data[6];
    const uint64_t before = bytes_in_use();
    int deletions = 0;
    for (int i = 0; i < 1000; i++) {
        producer p;
        produce(&p, data);
        WEFT_AUTO weft_array *a = take(&p, i % 2);
        WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(6), .device = device());
        weft_dlpack *out = b ? weft_to_dlpack(b) : NULL;
        bool made = a && out;
        weft_array_release(a);
        a = NULL;
        deletions += atomic_load(&p.deletions);
        if (out)
            out->deleter(out);
        CHECK(made);
    }
    CHECK_INT(deletions, 1000);
    CHECK_INT(bytes_in_use(), before);
}

TEST_MAIN(TEST_OF(M6_tensors_become_arrays_without_a_copy), TEST_OF(M6_tensors_are_placed),
          TEST_OF(M6_every_dtype), TEST_OF(M6_strides_and_offsets), TEST_OF(M6_scalars_and_nothing),
          TEST_OF(M6_refused_tensors_are_deleted_once), TEST_OF(M6_versions),
          TEST_OF(M6_read_only_tensors_are_not_written), TEST_OF(M6_arrays_become_tensors),
          TEST_OF(M6_tensors_that_come_back), TEST_OF(M6_tensors_of_the_device),
          TEST_OF(M6_tensors_elsewhere), TEST_OF(M6_streams_are_handed_over),
          TEST_OF(M6_memory_comes_back_in_order), TEST_OF(M6_tensors_come_after_their_stream),
          TEST_OF(M6_own_tensors_come_after_their_stream),
          TEST_OF(M6_deleters_wait_for_queued_work), TEST_OF(M6_what_an_array_is_made_of),
          TEST_NO_FAULTS(M6_a_thousand_exchanges, "a thousand times what the others do"));
