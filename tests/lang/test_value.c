/* Values of expressions as C numbers: what fails has changed nothing. */
#include "support/arrays.h"
#include "support/gate.h"

static const float before[] = {1, 2, 3};

static weft_array *numbers(void) { return weft_arange(1, 4, 1, .device = device()); }

#define CHECK_REFUSED(call, code, part)                                                            \
    do {                                                                                           \
        const uint64_t count = launches();                                                         \
        weft_error_clear();                                                                        \
        CHECK_STATUS((call), (code));                                                              \
        CHECK_ERROR((code), (part));                                                               \
        CHECK_INT(launches(), count);                                                              \
    } while (0)

/* Twice: the second call finds what the first one has compiled. */
TEST(X1_a_value_of_another_shape_or_type_changes_nothing)
{
    WEFT_AUTO weft_array *a = numbers(), *h = weft_handle(.device = device());
    double d = 7;
    int k = 7;
    CHECK(a && h);
    for (int round = 0; round < 2; round++) {
        CHECK_REFUSED(weft_value(&d, a = a + 1; a, a), WEFT_ERROR_SHAPE,
                      "weft_value: the value has the shape (3,), and a C number takes one element");
        CHECK_REFUSED(weft_value(&k, a = a + 1; sum(a), a), WEFT_ERROR_DTYPE,
                      "the value is f32 and *out i32; cast it, as in i32(...)");
        CHECK_REFUSED(weft_value(&k, a = a + 1; 2.5, a), WEFT_ERROR_DTYPE, "*out i32");
        CHECK_REFUSED(weft_value(&k, h = a; sum(a), a, h), WEFT_ERROR_DTYPE, "*out i32");
        CHECK(weft_array_is_handle(h));
        CHECK_REFUSED(weft_value((double *)NULL, a = a + 1; sum(a), a), WEFT_ERROR_ARGUMENT,
                      "weft_value: out is NULL; a place for a number was expected");
        CHECK_STR(weft_error_last()->operand, "out");
    }
    CHECK(d == 7 && k == 7);
    CHECK(holds(a, before, sizeof before));
}

/* One site, of which a call that is fine has been seen before. */
TEST(X1_a_value_that_becomes_too_large_changes_nothing)
{
    WEFT_AUTO weft_array *a = numbers(), *one = weft_ones(WEFT_SHAPE(1), .device = device());
    weft_array *const arrays[] = {one, a, one, a};
    double d = 0;
    CHECK(a && one);
    for (int round = 0; round < 4; round++) {
        weft_array *x = arrays[round];
        const weft_status status = weft_value(&d, x = x + 1; x, x);
        CHECK_INT(status, x == one ? WEFT_OK : WEFT_ERROR_SHAPE);
    }
    CHECK(d == 3);
    CHECK(holds(a, before, sizeof before));
}

TEST(X2_a_refused_value_shows_the_place)
{
    WEFT_AUTO weft_array *a = numbers();
    double d;
    int k;
    uint8_t u8;
    CHECK(a);
    CHECK_REFUSED(weft_value(&d, a = a + 1; a * 2, a), WEFT_ERROR_SHAPE,
                  "\n    a = a + 1; a * 2\n               ^");
    CHECK_REFUSED(weft_value(&k, sum(a), a), WEFT_ERROR_DTYPE, "\n    sum(a)\n    ^");
    CHECK_REFUSED(weft_value(&u8, a = a + 1; 300, a), WEFT_ERROR_DTYPE,
                  "\n    a = a + 1; 300\n               ^");
}

/* What is not computed is known before anything runs. */
TEST(X2_numbers_alone_that_do_not_fit_change_nothing)
{
    WEFT_AUTO weft_array *a = numbers();
    const int low = -1, high = 300, fits = 255;
    const uint64_t most = UINT64_MAX;
    uint8_t u8 = 7;
    int64_t i64 = 7;
    CHECK(a);
    CHECK_REFUSED(weft_value(&u8, a = a + 1; 300, a), WEFT_ERROR_DTYPE,
                  "weft_value: 300 is outside the range of u8");
    CHECK_REFUSED(weft_value(&u8, a = a + 1; - 1, a), WEFT_ERROR_DTYPE,
                  "-1 is outside the range of u8");
    CHECK_REFUSED(weft_value(&u8, a = a + 1; high, a, high), WEFT_ERROR_DTYPE, "300 is outside");
    CHECK_REFUSED(weft_value(&u8, a = a + 1; low, a, low), WEFT_ERROR_DTYPE, "-1 is outside");
    CHECK_REFUSED(weft_value(&i64, a = a + 1; most, a, most), WEFT_ERROR_DTYPE,
                  "18446744073709551615 is outside the range of i64");
    CHECK(u8 == 7 && i64 == 7);
    CHECK(holds(a, before, sizeof before));
    CHECK_STATUS(weft_value(&u8, a = a + 0; fits, a, fits), WEFT_OK);
    CHECK_INT(u8, 255);
    CHECK_STATUS(weft_value(&u8, a = a + 0; u8(high), a, high), WEFT_OK);
    CHECK_INT(u8, 44);
    CHECK_STATUS(weft_value(&u8, a = a + 0; high == 300, a, high), WEFT_OK);
    CHECK_INT(u8, 1);
    CHECK(holds(a, before, sizeof before));
}

/* Which number it is, is only known then. */
TEST(X2_a_computed_number_that_does_not_fit)
{
    WEFT_AUTO weft_array *i = weft_arange(1, 4, 1, .dtype = WEFT_I32, .device = device());
    uint8_t u8 = 7;
    CHECK(i);
    CHECK_STATUS(weft_value(&u8, sum(i) * 1000, i), WEFT_ERROR_DTYPE);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "6000 is outside the range of u8");
    CHECK_INT(u8, 7);
}

static weft_status value_forbidden(weft_array *a, weft_array *h, double *d)
{
    const bool old = weft_waits_forbid(true);
    const weft_status status =
        h ? weft_value(d, h = a; a = a + 1; sum(a), a, h) : weft_value(d, a = a + 1; sum(a), a);
    weft_waits_forbid(old);
    return status;
}

TEST(E3_a_value_that_would_wait_changes_nothing)
{
    AUTO_STREAM queue = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_arange(1, 4, 1, .stream = queue);
    WEFT_AUTO weft_array *h = weft_handle(.stream = queue);
    AUTO_GATE gate = GATE;
    double d = 7;
    CHECK(queue && a && h);
    for (int round = 0; round < 2; round++) {
        CHECK_REFUSED(value_forbidden(a, NULL, &d), WEFT_ERROR_WAIT, "weft_waits_forbid");
        CHECK_REFUSED(value_forbidden(a, h, &d), WEFT_ERROR_WAIT, "weft_waits_forbid");
        CHECK(weft_array_is_handle(h));
        CHECK_STATUS(round ? WEFT_OK : hold(queue, &gate), WEFT_OK);
    }
    gate_open(&gate);
    CHECK(d == 7);
    CHECK(holds(a, before, sizeof before));
    CHECK_STATUS(weft_value(&d, a = a + 1; sum(a), a), WEFT_OK);
    CHECK(d == 9);
}

/* What computes in the call is done when it returns. */
TEST(E3_a_value_of_a_synchronous_stream_does_not_wait)
{
    WEFT_AUTO weft_array *a = weft_arange(1, 4, 1);
    double d = 0;
    CHECK(a);
    CHECK_STATUS(value_forbidden(a, NULL, &d), WEFT_OK);
    CHECK(d == 9);
}

/* The first kernel has nothing to wait for, the second one has. */
TEST(E3_a_program_is_refused_before_its_first_kernel)
{
    AUTO_STREAM queue = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *pending = weft_ones(WEFT_SHAPE(2, 5), .stream = queue);
    WEFT_AUTO weft_array *b = weft_asarray(pending, .stream = weft_stream_current(WEFT_CPU));
    WEFT_AUTO weft_array *a = weft_arange(1, 4, 1), *c = weft_zeros(WEFT_SHAPE(2, 5));
    AUTO_GATE gate = GATE;
    double d = 7;
    CHECK(queue && pending && a && b && c);
    CHECK_STATUS(hold(queue, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(pending, 2), WEFT_OK);
    weft_waits_forbid(true);
    const weft_status value = weft_value(&d, a = a + 1; sum(b), a, b),
                      plain = weft(a = a + 1; c = b, a, b, c),
                      written = weft(a = a + 1; b = c, a, b, c);
    weft_waits_forbid(false);
    CHECK_INT(value, WEFT_ERROR_WAIT);
    CHECK_INT(plain, WEFT_ERROR_WAIT);
    CHECK_INT(written, WEFT_ERROR_WAIT);
    gate_open(&gate);
    CHECK(d == 7 && memcmp(weft_array_data(a), before, sizeof before) == 0);
    CHECK_STATUS(weft_value(&d, a = a + 1; sum(b), a, b), WEFT_OK);
    CHECK(d == 20);
}

TEST_MAIN(TEST_OF(X1_a_value_of_another_shape_or_type_changes_nothing),
          TEST_OF(X1_a_value_that_becomes_too_large_changes_nothing),
          TEST_OF(X2_a_refused_value_shows_the_place),
          TEST_OF(X2_numbers_alone_that_do_not_fit_change_nothing),
          TEST_OF(X2_a_computed_number_that_does_not_fit),
          TEST_OF(E3_a_value_that_would_wait_changes_nothing),
          TEST_OF(E3_a_value_of_a_synchronous_stream_does_not_wait),
          TEST_OF(E3_a_program_is_refused_before_its_first_kernel));
