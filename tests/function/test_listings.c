/* The listings of seed 004, with the exact number of kernels, copies and bytes of each. */
#include "support/arrays.h"
#include "support/check.h"
#include <math.h>
#include <string.h>
#include <weft/weft.h>

/* Whatever it costs: the numbers below are those of offloading. */
#define ALWAYS (.offload = WEFT_OFFLOAD_ALWAYS)

enum { COUNT = 1000, BYTES = COUNT * sizeof(float) };

static bool has_copies(void) { return device().kind != WEFT_DEVICE_CPU; }

/* What a call did on the device. */
typedef struct moved {
    int64_t launches, to_device, to_host, copies;
} moved;

static moved counters(void)
{
    weft_statistics s;
    if (weft_memory_stats(device(), &s) != WEFT_OK)
        return (moved){-1, -1, -1, -1};
    return (moved){(int64_t)s.launches, (int64_t)s.bytes_to_device, (int64_t)s.bytes_to_host,
                   (int64_t)(s.copies_to_device + s.copies_to_host)};
}

static moved since(moved before)
{
    moved now = counters();
    return (moved){now.launches - before.launches, now.to_device - before.to_device,
                   now.to_host - before.to_host, now.copies - before.copies};
}

/* Host functions: they double, and count their calls. */
static int calls;

static weft_status double_it(int count, const weft_operand *arguments, void *context)
{
    (void)context;
    calls++;
    for (int k = 0; k < count; k++) {
        if (arguments[k].tag != WEFT_OPERAND_ARRAY)
            continue;
        float *data = weft_array_data(arguments[k].value.array);
        for (int i = 0; i < COUNT; i++)
            data[i] *= 2;
    }
    return WEFT_OK;
}

static weft_status look(int count, const weft_operand *arguments, void *context)
{
    (void)context;
    calls++;
    return count == 0 || arguments[0].tag == WEFT_OPERAND_INPUT
               ? WEFT_OK
               : weft_error_set(WEFT_ERROR_CALLBACK, "an input was expected");
}

static bool bind(void)
{
    calls = 0;
    return weft_host_bind("some_serial_preprocessing", double_it) == WEFT_OK &&
           weft_host_bind("another_serial_processing", double_it) == WEFT_OK &&
           weft_host_bind("look_at", look, .access = "read") == WEFT_OK &&
           weft_host_bind("print", look) == WEFT_OK;
}

/* An array of the kind: lent host memory, or shared. */
typedef struct argument {
    float data[COUNT];
    weft_array *array;
} argument;

static bool make(argument *a, bool shared, float start, float step)
{
    for (int i = 0; i < COUNT; i++)
        a->data[i] = start + step * (float)(i % 16);
    a->array = shared ? weft_empty(WEFT_SHAPE(COUNT), .dtype = WEFT_F32, .device = device(),
                                   .memory = WEFT_MEMORY_SHARED)
                      : weft_borrow(a->data, sizeof a->data, WEFT_SHAPE(COUNT), WEFT_F32);
    return a->array &&
           (!shared || weft_copy_from_host(a->array, a->data, sizeof a->data) == WEFT_OK);
}

static void drop(argument *a) { weft_array_release(a->array); }

/* The elements as they are for the caller now. */
static const float *seen(argument *a, bool shared)
{
    if (shared && weft_array_host_readable(a->array))
        return weft_eval(a->array) == WEFT_OK ? weft_array_data(a->array) : NULL;
    const bool copied = shared && weft_copy_to_host(a->array, a->data, sizeof a->data) == WEFT_OK;
    return copied || !shared ? a->data : NULL;
}

WEFT_FUNCTION_WITH(listing_3_1, ALWAYS, (x, y), {
    a = 0.5;
    some_serial_preprocessing(x);
    y = a * x + y;
    another_serial_processing(y);
    r = sum(y);
    return r;
});

WEFT_FUNCTION_WITH(listing_3_1_read, ALWAYS, (x, y), {
    a = 0.5;
    some_serial_preprocessing(x);
    y = a * x + y;
    look_at(y);
    r = sum(y);
    return r;
});

WEFT_FUNCTION_WITH(listing_3_2, ALWAYS, (x, y), {
    a = 0.5;
    some_serial_preprocessing(x);
    y = a * x + y;
    print();
    r = sum(y);
    return r;
});

/* Bytes that a call copies: where the arguments are lent memory, and where they are shared memory
 * that the host cannot read on this device, so that host functions get copies. Other shared memory
 * is not copied. */
typedef struct bytes {
    int64_t to_device, to_host;
} bytes;

static bool is_readable(bool shared)
{
    WEFT_AUTO weft_array *a =
        weft_empty(WEFT_SHAPE(1), .device = device(), .memory = WEFT_MEMORY_SHARED);
    return shared && weft_array_host_readable(a);
}

static bool moved_bytes(moved did, bool shared, bytes lent, bytes hidden, int64_t result)
{
    const bytes none = {0, -result}, *expected = !shared               ? &lent
                                                 : is_readable(shared) ? &none
                                                                       : &hidden;
    CHECK_OR(!has_copies() || did.to_device == expected->to_device, false);
    CHECK_OR(!has_copies() || did.to_host == expected->to_host + result, false);
    return true;
}

/* x = 0 … 15, y = 1: after the call x is doubled, y = 2x/2 + 1, doubled if `doubled`. */
static void check_axpy(const weft_function *f, bool shared, bool doubled, bytes lent, bytes hidden)
{
    argument x, y;
    float r = 0, expected = 0;
    CHECK(bind());
    bool made_x = make(&x, shared, 0, 1), made_y = make(&y, shared, 1, 0), made = made_x && made_y;
    moved before = counters(), did;
    weft_status status = WEFT_ERROR_ARGUMENT;
    if (made) {
        WEFT_ON(device());
        const weft_operand operands[] = {WEFT_OPERAND(x.array), WEFT_OPERAND(y.array)};
        status = weft_call_with(f, 1, WEFT__RESULT(&r), 2, operands);
    }
    did = since(before);
    const float *xs = made ? seen(&x, shared) : NULL, *ys = made ? seen(&y, shared) : NULL;
    bool right = xs && ys;
    for (int i = 0; right && i < COUNT; i++) {
        float value = (float)(doubled ? 2 : 1) * ((float)(i % 16) + 1);
        right = xs[i] == 2 * (float)(i % 16) && ys[i] == value;
        expected += value;
    }
    drop(&x);
    drop(&y);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(right);
    CHECK(r == expected);
    CHECK_INT(calls, 2);
    CHECK_INT(did.launches, 2);
    CHECK(moved_bytes(did, shared, lent, hidden, sizeof(float)));
}

static void check_both(const weft_function *f, bool doubled, bytes lent, bytes hidden)
{
    check_axpy(f, false, doubled, lent, hidden);
    check_axpy(f, true, doubled, lent, hidden);
}

TEST(F5_listing_3_1)
{
    check_both(&listing_3_1, true, (bytes){3 * BYTES, BYTES}, (bytes){2 * BYTES, 2 * BYTES});
}

TEST(F5_listing_3_1_read_only)
{
    check_both(&listing_3_1_read, false, (bytes){2 * BYTES, BYTES}, (bytes){BYTES, 2 * BYTES});
}

TEST(F5_listing_3_2)
{
    check_both(&listing_3_2, false, (bytes){2 * BYTES, BYTES}, (bytes){BYTES, BYTES});
}

/* Listings 3.3 to 3.6: a = sin(a), b = a + 2. */
WEFT_FUNCTION_WITH(listing_3_3, ALWAYS, (a), { a = sin(a); });
WEFT_FUNCTION_WITH(listing_3_4, ALWAYS, (a), {
    a = sin(a);
    b = a + 2;
    return b;
});
WEFT_FUNCTION_WITH(listing_3_5, ALWAYS, (a, b), {
    a = sin(a);
    b = a + 2;
});
WEFT_FUNCTION_WITH(listing_3_6, ALWAYS, (a, b), {
    a = sin(a);
    b = a + 2;
    some_serial_operation(b);
});

static bool is_near(const float *values, double factor, double offset)
{
    bool near = values != NULL;
    for (int i = 0; near && i < COUNT; i++) {
        double expected = factor * (sin(0.25 * (i % 16)) + offset);
        near = fabs((double)values[i] - expected) <= 1e-6;
    }
    return near;
}

static void check_sine(const weft_function *f, int count, bool shared, double factor, bytes lent,
                       bytes hidden)
{
    argument a, b;
    weft_array *result = NULL;
    moved before, did;
    CHECK(bind());
    CHECK_STATUS(weft_host_bind("some_serial_operation", double_it), WEFT_OK);
    bool made_a = make(&a, shared, 0, 0.25f), made_b = make(&b, shared, 9, 0);
    weft_status status = WEFT_ERROR_ARGUMENT;
    before = counters();
    if (made_a && made_b) {
        WEFT_ON(device());
        const weft_operand operands[] = {WEFT_OPERAND(a.array), WEFT_OPERAND(b.array)};
        status = weft_call_with(f, f == &listing_3_4, WEFT__RESULT(&result), count, operands);
    }
    did = since(before);
    bool right = status == WEFT_OK && is_near(seen(&a, shared), 1, 0);
    if (right && count == 2)
        right = is_near(seen(&b, shared), factor, 2);
    float values[COUNT];
    bool there = !result || weft_device_equal(weft_array_device(result), device());
    if (right && result)
        right =
            weft_copy_to_host(result, values, sizeof values) == WEFT_OK && is_near(values, 1, 2);
    drop(&a);
    drop(&b);
    weft_array_release(result);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(right && there);
    CHECK_INT(did.launches, 1);
    CHECK(moved_bytes(did, shared, lent, hidden, 0));
}

TEST(F5_listings_3_3_to_3_6)
{
    const bytes none = {0, 0}, one = {BYTES, BYTES}, results = {BYTES, 2 * BYTES};
    for (int shared = 0; shared < 2; shared++) {
        check_sine(&listing_3_3, 1, shared, 1, one, none);
        check_sine(&listing_3_4, 1, shared, 1, one, none);
        check_sine(&listing_3_5, 2, shared, 1, results, none);
        check_sine(&listing_3_6, 2, shared, 2, results, one);
    }
}

/* Outside of a context arrays of the host are computed on the host; listing 2.2 supplies one. */
static weft_status in_context(weft_device wanted, weft_array *a)
{
    if (weft_device_context().kind != WEFT_DEVICE_NONE)
        return weft_call(listing_3_3, NULL, a);
    WEFT_ON(wanted);
    return weft_call(listing_3_3, NULL, a);
}

static weft_status in_both(weft_array *a)
{
    WEFT_ON(WEFT_CPU);
    return in_context(device(), a);
}

TEST(F8_listings_2_1_and_2_2)
{
    argument a;
    bool made = make(&a, false, 0, 0.25f);
    int64_t launches[4] = {0};
    weft_status status[4] = {WEFT_ERROR_ARGUMENT};
    weft_statistics s = {0};
    for (int i = 0; made && i < 4; i++) {
        moved before = counters();
        if (i == 0)
            status[i] = weft_call(listing_3_3, NULL, a.array);
        else if (i == 3)
            status[i] = in_both(a.array);
        else
            status[i] = in_context(device(), a.array);
        launches[i] = since(before).launches;
        if (i == 1)
            weft_memory_stats(device(), &s);
    }
    weft_statistics after = {0};
    weft_memory_stats(device(), &after);
    drop(&a);
    for (int i = 0; i < 4; i++) {
        bool here = i == 1 || i == 2 || !has_copies();
        CHECK_STATUS(status[i], WEFT_OK);
        CHECK_INT(launches[i], here);
    }
    CHECK_INT(after.compilations, s.compilations); /* nothing is compiled twice */
}

TEST_MAIN(TEST_OF(F5_listing_3_1), TEST_OF(F5_listing_3_1_read_only), TEST_OF(F5_listing_3_2),
          TEST_OF(F5_listings_3_3_to_3_6), TEST_OF(F8_listings_2_1_and_2_2));
