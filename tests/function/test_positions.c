/* Loops that find elements through others: what is looked at, when, and what is out of range. */
#include "function/open.h"
#include "support/arrays.h"
#include "support/check.h"
#include <string.h>
#include <weft/weft.h>

enum { N = 10 };

static weft_array *ramp(void)
{
    float values[N];
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    return weft_from_host(values, sizeof values, WEFT_SHAPE(N), .device = device());
}

WEFT_FUNCTION(through, (x, y, k, n), {
    for (int i = 0; i < n; i++)
        y(i) = x(k(i)) + 1;
});

/* Elements that are positions are looked at in every call; one that is out of range is an error
 * with its place, and what came before it is done.
 * semantics: Functions / Elements through others */
TEST(F3_positions)
{
    static const int64_t last[] = {3, 9, 10, 0, -1, 9};
    WEFT_AUTO weft_array *x = ramp();
    CHECK(x);
    for (size_t call = 0; call < sizeof last / sizeof last[0]; call++) {
        float expected[N], actual[N];
        int64_t positions[N];
        for (int i = 0; i < N; i++)
            positions[i] = i == 8 ? last[call] : 9 - i;
        const bool wrong = last[call] < 0 || last[call] >= N;
        for (int i = 0; i < N; i++)
            expected[i] = wrong && i >= 8 ? 0 : (float)positions[i] + 1;
        WEFT_AUTO weft_array *y = weft_zeros_like(x);
        WEFT_AUTO weft_array *k = weft_from_host(positions, sizeof positions, WEFT_SHAPE(N),
                                                 .dtype = WEFT_I64, .device = device());
        CHECK(y && k);
        CHECK_STATUS(weft_call(through, NULL, x, y, k, N), wrong ? WEFT_ERROR_SHAPE : WEFT_OK);
        if (wrong)
            CHECK_ERROR(WEFT_ERROR_SHAPE, last[call] < 0
                                              ? "subscript 1 of 'x' is -1; 0 to 9 are possible"
                                              : "subscript 1 of 'x' is 10; 0 to 9 are possible");
        CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
        if (!wrong)
            CHECK_BITS(actual, expected, sizeof actual);
        weft__function *opened;
        CHECK_STATUS(weft__function_find(&through, &opened), WEFT_OK);
        CHECK(test_faults() || (opened->totals[WEFT__DID_LOOP] == 0) == wrong);
    }
}

WEFT_FUNCTION(through_rows, (a, y, k, n), {
    for (int i = 0; i < n; i++)
        y(i) = a(k(i), i) + 1;
});

/* Views, whose elements do not follow each other: every second one, backwards, turned. */
TEST(F3_positions_in_views)
{
    static const int64_t steps[][3] = {{0, 2 * N, 2}, {2 * N - 1, N - 1, -1}, {3, N + 3, 1}};
    int64_t positions[N];
    float actual[N];
    WEFT_AUTO weft_array *all = weft_arange(0, 2 * N * N, 1, .dtype = WEFT_F32, .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(N), .device = device());
    WEFT_AUTO weft_array *rows = all ? weft_reshape(all, WEFT_SHAPE(N, 2 * N)) : NULL;
    WEFT_AUTO weft_array *turned = rows ? weft_transpose(rows) : NULL;
    for (int i = 0; i < N; i++)
        positions[i] = (7 * i + 2) % N;
    WEFT_AUTO weft_array *k = weft_from_host(positions, sizeof positions, WEFT_SHAPE(N),
                                             .dtype = WEFT_I64, .device = device());
    CHECK(turned && y && k);
    for (size_t v = 0; v < sizeof steps / sizeof steps[0]; v++) {
        WEFT_AUTO weft_array *x = weft_slice(all, WEFT_STEP(steps[v][0], steps[v][1], steps[v][2]));
        CHECK_STATUS(weft_call(through, NULL, x, y, k, N), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
        for (int i = 0; i < N; i++)
            CHECK(actual[i] == (float)(steps[v][0] + positions[i] * steps[v][2] + 1));
    }
    CHECK_STATUS(weft_call(through_rows, NULL, turned, y, k, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    for (int i = 0; i < N; i++)
        CHECK(actual[i] == (float)(2 * N * i + positions[i] + 1));
}

WEFT_FUNCTION(looked_up, (table, image, out, n), {
    for (int i = 0; i < n; i++)
        out(i) = table(image(i));
});

/* Bytes are always inside of 256 elements: nothing has to be looked at. */
TEST(F3_positions_of_bytes)
{
    float table[256], actual[N];
    uint8_t image[N];
    for (int i = 0; i < 256; i++)
        table[i] = (float)(i * i);
    for (int i = 0; i < N; i++)
        image[i] = (uint8_t)(255 - 28 * i);
    WEFT_AUTO weft_array *t =
        weft_from_host(table, sizeof table, WEFT_SHAPE(256), .device = device());
    WEFT_AUTO weft_array *m =
        weft_from_host(image, sizeof image, WEFT_SHAPE(N), .dtype = WEFT_U8, .device = device());
    WEFT_AUTO weft_array *out = weft_zeros(WEFT_SHAPE(N), .dtype = WEFT_F32, .device = device());
    CHECK(t && m && out);
    CHECK_STATUS(weft_call(looked_up, NULL, t, m, out, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(out, actual, sizeof actual), WEFT_OK);
    for (int i = 0; i < N; i++)
        CHECK(actual[i] == table[image[i]]);
    weft__function *opened;
    CHECK_STATUS(weft__function_find(&looked_up, &opened), WEFT_OK);
    CHECK(test_faults() || opened->totals[WEFT__DID_LOOP] == 1);
    CHECK_INT(opened->totals[WEFT__DID_LOOK], 0);
}

WEFT_FUNCTION(before_the_first, (x, y, k, n), {
    for (int i = 0; i < n; i++)
        y(i) = x(k(i - 2)) + 1;
});

/* The error is about the subscript that is out of range, also where another one is made of it. */
TEST(F3_positions_of_positions)
{
    WEFT_AUTO weft_array *x = ramp(), *y = weft_zeros_like(x);
    WEFT_AUTO weft_array *k = weft_zeros(WEFT_SHAPE(N), .dtype = WEFT_I32, .device = device());
    CHECK(x && y && k);
    CHECK_STATUS(weft_call(before_the_first, NULL, x, y, k, N), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "subscript 1 of 'k' is -2; 0 to 9 are possible");
}

WEFT_FUNCTION(again_and_again, (x, y, k, n), {
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < n; i++)
            y(i) = y(i) + x(k(i));
    k(0) = 2;
    for (int i = 0; i < n; i++)
        y(i) = y(i) + x(k(i));
});

/* Positions are looked at once, and again when they have changed. */
TEST(F3_positions_that_stay)
{
    int64_t positions[N];
    float actual[N];
    for (int i = 0; i < N; i++)
        positions[i] = i * 3 % N;
    WEFT_AUTO weft_array *x = ramp(), *y = weft_zeros_like(x);
    WEFT_AUTO weft_array *k = weft_from_host(positions, sizeof positions, WEFT_SHAPE(N),
                                             .dtype = WEFT_I64, .device = device());
    CHECK(x && y && k);
    CHECK_STATUS(weft_call(again_and_again, NULL, x, y, k, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    for (int i = 0; i < N; i++)
        CHECK(actual[i] == (float)(i ? 4 * positions[i] : 2));
    weft__function *opened;
    CHECK_STATUS(weft__function_find(&again_and_again, &opened), WEFT_OK);
    CHECK(test_faults() || opened->totals[WEFT__DID_LOOK] == 2);
}

TEST_MAIN(TEST_OF(F3_positions), TEST_OF(F3_positions_in_views), TEST_OF(F3_positions_of_bytes),
          TEST_OF(F3_positions_that_stay), TEST_OF(F3_positions_of_positions));
