/* Shapes: counting with overflow checks, broadcasting, positions and back, text. */
#include "support/check.h"

#include <string.h>

#include <weft/weft.h>

static const int64_t big = INT64_C(1) << 31;

TEST(A1_count)
{
    static const struct {
        weft_shape shape;
        int64_t count;
    } cases[] = {{{0, {0}}, 1},
                 {{1, {0}}, 0},
                 {{1, {7}}, 7},
                 {{3, {2, 3, 4}}, 24},
                 {{8, {1, 2, 1, 3, 1, 5, 1, 7}}, 210},
                 {{2, {3037000499, 3037000499}}, INT64_C(9223372030926249001)},
                 {{1, {INT64_MAX}}, INT64_MAX},
                 {{3, {INT64_MAX, 1, 1}}, INT64_MAX},
                 /* nothing overflows where there is nothing, wherever the zero stands */
                 {{3, {0, INT64_MAX, INT64_MAX}}, 0},
                 {{3, {INT64_MAX, INT64_MAX, 0}}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t count = -7;
        CHECK_STATUS(weft_shape_count(cases[i].shape, &count), WEFT_OK);
        CHECK_INT(count, cases[i].count);
    }
}

TEST(A1_wrong_shapes)
{
    static const struct {
        weft_shape shape;
        const char *part;
    } cases[] = {{{-1, {0}}, "-1"},
                 {{9, {1}}, "9"},
                 {{INT32_MAX, {1}}, "2147483647"},
                 {{INT32_MIN, {1}}, "-2147483648"},
                 {{2, {3, -4}}, "-4"},
                 {{2, {0, -1}}, "-1"},
                 {{1, {INT64_MIN}}, "-9223372036854775808"},
                 {{2, {INT64_MAX, 2}}, "(9223372036854775807, 2)"},
                 {{2, {3037000500, 3037000500}}, "3037000500"},
                 {{8, {256, 256, 256, 256, 256, 256, 256, 256}}, "256"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t count = -7;
        weft_error_clear();
        CHECK_STATUS(weft_shape_count(cases[i].shape, &count), WEFT_ERROR_SHAPE);
        CHECK_INT(count, -7);
        CHECK_ERROR(WEFT_ERROR_SHAPE, cases[i].part);
        CHECK_STR(weft_error_last()->operand, "shape");
        CHECK_STR(weft_error_last()->operation, "weft_shape_count");
    }
}

TEST(A2_broadcast_shapes)
{
    static const struct {
        weft_shape a, b, both;
    } cases[] = {{{0, {0}}, {0, {0}}, {0, {0}}},
                 {{0, {0}}, {2, {2, 3}}, {2, {2, 3}}},
                 {{1, {3}}, {2, {2, 3}}, {2, {2, 3}}},
                 {{2, {2, 1}}, {1, {3}}, {2, {2, 3}}},
                 {{4, {8, 1, 6, 1}}, {3, {7, 1, 5}}, {4, {8, 7, 6, 5}}},
                 {{1, {1}}, {1, {0}}, {1, {0}}}, /* 1 stretches to 0 */
                 {{2, {3, 0}}, {2, {1, 1}}, {2, {3, 0}}},
                 {{8, {1, 1, 1, 1, 1, 1, 1, 2}}, {1, {1}}, {8, {1, 1, 1, 1, 1, 1, 1, 2}}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_shape both = {7, {0}};
        CHECK_STATUS(weft_shape_broadcast(cases[i].a, cases[i].b, &both), WEFT_OK);
        CHECK(weft_shape_equal(both, cases[i].both));
        CHECK_STATUS(weft_shape_broadcast(cases[i].b, cases[i].a, &both), WEFT_OK);
        CHECK(weft_shape_equal(both, cases[i].both));
    }
}

TEST(A2_broadcast_errors)
{
    weft_shape both = {7, {0}};
    CHECK_STATUS(weft_shape_broadcast(WEFT_SHAPE(2, 3), WEFT_SHAPE(4), &both), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(2, 3)");
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(4,)");
    CHECK_STATUS(weft_shape_broadcast(WEFT_SHAPE(0), WEFT_SHAPE(2), &both), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_shape_broadcast(WEFT_SHAPE(-1), WEFT_SHAPE(1), &both), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_shape_broadcast(WEFT_SHAPE(1), (weft_shape){9, {0}}, &both),
                 WEFT_ERROR_SHAPE);
    CHECK_INT(both.ndim, 7);
    weft_error_clear();
    CHECK_STATUS(weft_shape_broadcast(WEFT_SHAPE(1), WEFT_SHAPE(1), NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "result");
}

TEST(A2_broadcast_result_can_overflow)
{
    weft_shape both = {7, {0}};
    weft_shape tall = {2, {INT64_C(1) << 40, 1}};
    weft_shape wide = {2, {1, INT64_C(1) << 40}};
    CHECK_STATUS(weft_shape_broadcast(tall, wide, &both), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "2^63");
}

TEST(A2_equal)
{
    CHECK(weft_shape_equal(WEFT_SCALAR, WEFT_SCALAR));
    CHECK(weft_shape_equal(WEFT_SHAPE(2, 3), WEFT_SHAPE(2, 3)));
    CHECK(!weft_shape_equal(WEFT_SHAPE(2, 3), WEFT_SHAPE(3, 2)));
    CHECK(!weft_shape_equal(WEFT_SHAPE(2), WEFT_SHAPE(2, 1)));
    CHECK(!weft_shape_equal(WEFT_SCALAR, WEFT_SHAPE(1)));
    /* what lies beyond the dimensions does not count */
    CHECK(weft_shape_equal((weft_shape){1, {2, 9}}, (weft_shape){1, {2, 8}}));
}

TEST(A3_positions_and_back)
{
    weft_shape shape = WEFT_SHAPE(2, 3, 1, 4);
    int64_t expected[4] = {0}, at[4], index;
    for (int64_t k = 0; k < 24; k++) {
        CHECK_STATUS(weft_shape_position(shape, k, at), WEFT_OK);
        CHECK_BITS(at, expected, sizeof at);
        CHECK_STATUS(weft_shape_index(shape, at, &index), WEFT_OK);
        CHECK_INT(index, k);
        for (int axis = 3; axis >= 0 && ++expected[axis] == shape.size[axis]; axis--)
            expected[axis] = 0;
    }
}

TEST(A3_positions_of_large_shapes)
{
    weft_shape shape = WEFT_SHAPE(big, 3, big / 4);
    int64_t at[3] = {0}, index = 0;
    int64_t last = big * 3 * (big / 4) - 1;
    CHECK_STATUS(weft_shape_position(shape, last, at), WEFT_OK);
    CHECK_INT(at[0], big - 1);
    CHECK_INT(at[1], 2);
    CHECK_INT(at[2], big / 4 - 1);
    CHECK_STATUS(weft_shape_index(shape, at, &index), WEFT_OK);
    CHECK_INT(index, last);
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(INT64_MAX), INT64_MAX - 1, at), WEFT_OK);
    CHECK_INT(at[0], INT64_MAX - 1);
}

TEST(A3_position_of_a_scalar)
{
    int64_t at[1] = {-5}, index = -5;
    CHECK_STATUS(weft_shape_position(WEFT_SCALAR, 0, at), WEFT_OK);
    CHECK_INT(at[0], -5);
    CHECK_STATUS(weft_shape_index(WEFT_SCALAR, at, &index), WEFT_OK);
    CHECK_INT(index, 0);
    CHECK_STATUS(weft_shape_index(WEFT_SCALAR, NULL, &index), WEFT_OK); /* none is needed */
}

TEST(A3_positions_out_of_range)
{
    int64_t at[8] = {-7, -7}, index = -7;
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(2, 3), 6, at), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "index 6");
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(2, 3)");
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(2, 3), -1, at), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(2, 0), 0, at), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(-2), 0, at), WEFT_ERROR_SHAPE);
    CHECK_INT(at[0], -7);
    CHECK_STATUS(weft_shape_index(WEFT_SHAPE(2, 3), (int64_t[]){1, 3}, &index), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "position 3 along axis 1");
    CHECK_STATUS(weft_shape_index(WEFT_SHAPE(2, 3), (int64_t[]){-1, 0}, &index), WEFT_ERROR_SHAPE);
    CHECK_INT(index, -7);
    weft_error_clear();
    CHECK_STATUS(weft_shape_position(WEFT_SHAPE(2), 0, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "position");
    weft_error_clear();
    CHECK_STATUS(weft_shape_index(WEFT_SHAPE(2), NULL, &index), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "position");
    weft_error_clear();
    CHECK_STATUS(weft_shape_index(WEFT_SHAPE(2), at, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "index");
    weft_error_clear();
    CHECK_STATUS(weft_shape_count(WEFT_SHAPE(2), NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "count");
}

TEST(A3_shape_text)
{
    static const struct {
        weft_shape shape;
        const char *text;
    } cases[] = {{{0, {0}}, "()"},
                 {{1, {3}}, "(3,)"},
                 {{2, {2, 3}}, "(2, 3)"},
                 {{3, {0, -1, 5}}, "(0, -1, 5)"}};
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(weft_shape_format(cases[i].shape, text, sizeof text), strlen(cases[i].text));
        CHECK_STR(text, cases[i].text);
    }
    weft_shape widest = {8, {0}};
    for (int k = 0; k < 8; k++)
        widest.size[k] = INT64_MIN;
    CHECK_INT(weft_shape_format(widest, text, sizeof text), 8 * 20 + 7 * 2 + 2);
    CHECK_INT(strlen(text), 8 * 20 + 7 * 2 + 2);
}

TEST(A3_shape_text_stays_in_its_room)
{
    static const char whole[] = "(12, 345)";
    for (size_t room = 0; room < sizeof whole + 2; room++) {
        char text[16];
        memset(text, '#', sizeof text);
        CHECK_INT(weft_shape_format(WEFT_SHAPE(12, 345), text, room), sizeof whole - 1);
        size_t kept = room == 0 ? 0 : room - 1 < sizeof whole - 1 ? room - 1 : sizeof whole - 1;
        CHECK_BITS(text, whole, kept);
        if (room > 0)
            CHECK_INT(text[kept], 0);
        CHECK_INT(text[room > kept ? room : kept], '#');
    }
    CHECK_INT(weft_shape_format(WEFT_SHAPE(12, 345), NULL, 0), sizeof whole - 1);
}

TEST_MAIN(TEST_OF(A1_count), TEST_OF(A1_wrong_shapes), TEST_OF(A2_broadcast_shapes),
          TEST_OF(A2_broadcast_errors), TEST_OF(A2_broadcast_result_can_overflow),
          TEST_OF(A2_equal), TEST_OF(A3_positions_and_back), TEST_OF(A3_positions_of_large_shapes),
          TEST_OF(A3_position_of_a_scalar), TEST_OF(A3_positions_out_of_range),
          TEST_OF(A3_shape_text), TEST_OF(A3_shape_text_stays_in_its_room));
