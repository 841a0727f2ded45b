/* Lending: arrays over memory of the user's, their deleters and strides. */
#include "support/check.h"

#include <stdatomic.h>
#include <string.h>

#include <weft/weft.h>

#include "support/streams.h"

struct deletion {
    atomic_int calls;
    void *data;
};

static void count_deletion(void *context, void *data)
{
    struct deletion *deletion = context;
    atomic_fetch_add(&deletion->calls, 1);
    deletion->data = data;
}

TEST(M6_deleter_is_called_once)
{
    static int32_t host[6] = {1, 2, 3, 4, 5, 6};
    struct deletion deletion = {0};
    weft_array *a = weft_borrow(host, sizeof host, WEFT_SHAPE(2, 3), WEFT_I32,
                                .deleter = count_deletion, .deleter_context = &deletion);
    CHECK(a);
    CHECK_INT(weft_array_memory(a), WEFT_MEMORY_LENT);
    CHECK(weft_array_data(a) == host);
    WEFT_AUTO weft_array *view = weft_transpose(a);
    WEFT_AUTO weft_array *flat = weft_reshape(a, WEFT_SHAPE(-1));
    weft_array_retain(a);
    weft_array_release(a);
    weft_array_release(a);
    CHECK_INT(atomic_load(&deletion.calls), view || flat ? 0 : 1);
    CHECK(view && flat);
    weft_array_release(view);
    view = NULL;
    CHECK_INT(atomic_load(&deletion.calls), 0);
    weft_array_release(flat);
    flat = NULL;
    CHECK_INT(atomic_load(&deletion.calls), 1);
    CHECK(deletion.data == host);
}

TEST(M6_deleter_is_not_called_when_borrowing_fails)
{
    _Alignas(16) static char host[64];
    struct deletion deletion = {0};
    int64_t backwards[] = {-4};
    weft_array *failed[] = {weft_borrow(host, 60, WEFT_SHAPE(16), WEFT_F32,
                                        .deleter = count_deletion, .deleter_context = &deletion),
                            weft_borrow(host + 1, 63, WEFT_SHAPE(3), WEFT_F32,
                                        .deleter = count_deletion, .deleter_context = &deletion),
                            weft_borrow(host, 64, WEFT_SHAPE(-3), WEFT_F32,
                                        .deleter = count_deletion, .deleter_context = &deletion),
                            weft_borrow(host, 64, WEFT_SHAPE(3), WEFT_F32, .strides = backwards,
                                        .deleter = count_deletion, .deleter_context = &deletion),
                            weft_borrow(host, 64, WEFT_SHAPE(3), WEFT_DTYPE_DEFAULT,
                                        .deleter = count_deletion, .deleter_context = &deletion)};
    for (size_t i = 0; i < sizeof failed / sizeof failed[0]; i++)
        CHECK(!failed[i]);
    CHECK_INT(atomic_load(&deletion.calls), 0);
}

TEST(M6_deleter_waits_for_queued_work)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    static float host[100];
    struct deletion deletion = {0};
    memset(host, 0, sizeof host);
    CHECK(stream);
    WEFT_AUTO weft_array *a = weft_borrow(host, sizeof host, WEFT_SHAPE(100), WEFT_F32,
                                          .deleter = count_deletion, .deleter_context = &deletion);
    CHECK(a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, stream), WEFT_OK);
    weft_status status = weft_fill(a, 5.0f);
    weft_array_release(a);
    a = NULL;
    weft_stream_set_current(WEFT_CPU, NULL);
    int early = atomic_load(&deletion.calls);
    gate_open(&gate);
    weft_status end = weft_stream_synchronize(stream);
    for (int i = 0; i < 20000 && !atomic_load(&deletion.calls); i++)
        pause_ms(1);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(end, WEFT_OK);
    CHECK_INT(early, 0);
    CHECK_INT(atomic_load(&deletion.calls), 1);
    CHECK(host[0] == 5 && host[99] == 5);
}

TEST(M6_borrowed_strides)
{
    int16_t host[12];
    for (int i = 0; i < 12; i++)
        host[i] = (int16_t)i;
    int64_t columns[] = {2, 8}; /* Fortran order: 4 × 3 */
    WEFT_AUTO weft_array *a =
        weft_borrow(host, sizeof host, WEFT_SHAPE(4, 3), WEFT_I16, .strides = columns);
    CHECK(a);
    WEFT_AUTO weft_array *copy = weft_copy(a);
    CHECK(copy);
    int16_t read[12];
    CHECK_STATUS(weft_copy_to_host(copy, read, sizeof read), WEFT_OK);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            CHECK_INT(read[i * 3 + j], j * 4 + i);
    CHECK_STATUS(weft_fill(a, 1), WEFT_OK); /* no element twice: writable */
}

TEST(M6_borrowed_strides_are_checked)
{
    _Alignas(16) static int32_t host[8];
    static const struct {
        weft_shape shape;
        int64_t strides[2];
        size_t bytes;
        bool good, writable;
    } cases[] = {
        {{2, {2, 4}}, {16, 4}, 32, true, true},
        {{2, {2, 4}}, {16, 4}, 31, false, false},
        {{2, {2, 4}}, {20, 4}, 32, false, false},
        {{2, {2, 4}}, {4, 8}, 32, true, true},
        {{2, {2, 4}}, {4, 4}, 32, true, false},   /* a sliding window */
        {{2, {2, 4}}, {0, 4}, 16, true, false},   /* a broadcast */
        {{2, {2, 4}}, {-4, 4}, 32, false, false}, /* before its begin */
        {{2, {2, 4}}, {6, 4}, 32, false, false},  /* no multiple */
        {{2, {2, 4}}, {INT64_MAX / 4 * 4, 4}, 32, false, false},
        {{2, {3, 3}}, {INT64_MIN, INT64_MIN}, 32, false, false},
        {{2, {1, 8}}, {INT64_MIN, 4}, 32, true, true}, /* of one element, no stride matters */
        {{2, {0, 8}}, {4, INT64_MAX / 4 * 4}, 32, true, true}, /* … nor of none */
        {{2, {8, 0}}, {INT64_MIN, 4}, 0, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_error_clear();
        WEFT_AUTO weft_array *a = weft_borrow(host, cases[i].bytes, cases[i].shape, WEFT_I32,
                                              .strides = cases[i].strides);
        if (!cases[i].good) {
            CHECK(!a);
            CHECK_ERROR(WEFT_ERROR_SHAPE, "stride");
            CHECK_STR(weft_error_last()->operand, "strides");
            continue;
        }
        CHECK(a);
        CHECK_STATUS(weft_fill(a, 3), cases[i].writable ? WEFT_OK : WEFT_ERROR_SHAPE);
        WEFT_AUTO weft_array *part = weft_slice(a, WEFT_ALL, WEFT_REVERSED);
        CHECK(part);
    }
}

TEST(M6_misaligned_memory)
{
    _Alignas(16) static char host[64];
    weft_error_clear();
    WEFT_AUTO weft_array *a = weft_borrow(host + 4, 16, WEFT_SHAPE(2), WEFT_F64);
    CHECK(!a);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "aligned");
    WEFT_AUTO weft_array *b = weft_borrow(host + 8, 32, WEFT_SHAPE(2), WEFT_C128);
    CHECK(b); /* as aligned as its parts */
    WEFT_AUTO weft_array *c = weft_borrow(host + 1, 2, WEFT_SHAPE(2), WEFT_BOOL);
    CHECK(c);
}

TEST(M6_lent_memory_cannot_be_resized)
{
    float host[2] = {1, 2};
    WEFT_AUTO weft_array *a = weft_borrow(host, sizeof host, WEFT_SHAPE(2), WEFT_F32);
    CHECK(a);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(1)), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_copy");
    CHECK(weft_array_data(a) == host);
}

TEST_MAIN(TEST_OF(M6_deleter_is_called_once),
          TEST_OF(M6_deleter_is_not_called_when_borrowing_fails),
          TEST_OF(M6_deleter_waits_for_queued_work), TEST_OF(M6_borrowed_strides),
          TEST_OF(M6_borrowed_strides_are_checked), TEST_OF(M6_misaligned_memory),
          TEST_OF(M6_lent_memory_cannot_be_resized));
