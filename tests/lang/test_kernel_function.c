/* C functions as kernels: parts, order on streams, failures. */
#include "core/allocate.h"
#include "kernel/background.h"
#include "support/check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return WEFT_CPU; } /* where C functions run */

/* out = in * factor + the point. */
static weft_status scale(const weft_kernel_part *part)
{
    double factor = part->arguments[2].number.value.f;
    for (int64_t p = part->begin; p < part->end; p++) {
        const float *in = weft_kernel_at(&part->arguments[0], p);
        float *out = weft_kernel_at(&part->arguments[1], p);
        *out = (float)(factor * (double)*in + (double)p);
    }
    return WEFT_OK;
}

static void check_scale(int64_t rows, int64_t columns, bool turned)
{
    int64_t count = rows * columns;
    WEFT_AUTO weft_array *line =
        weft_arange(0, (double)count, 1, .dtype = WEFT_F32, .device = device());
    WEFT_AUTO weft_array *in = weft_reshape(line, WEFT_SHAPE(rows, columns));
    WEFT_AUTO weft_array *memory = weft_zeros(
        turned ? WEFT_SHAPE(columns, rows) : WEFT_SHAPE(rows, columns), .device = device());
    WEFT_AUTO weft_array *out = turned ? weft_transpose(memory) : weft_array_retain(memory);
    double factor = 3;
    CHECK(in && out);
    CHECK_STATUS(weft_launch_function(scale, out, (const weft_array *)in, out, factor), WEFT_OK);
    float *values = malloc((size_t)count * sizeof *values + 1);
    bool right =
        values && weft_copy_to_host(out, values, (size_t)count * sizeof *values) == WEFT_OK;
    for (int64_t p = 0; right && p < count; p++)
        right = values[p] == 3.0f * (float)p + (float)p;
    free(values);
    CHECK(right);
}

TEST(K2_every_point_is_in_one_part)
{
    check_scale(1, 1, false);
    check_scale(7, 13, true);
    check_scale(511, 1023, false);
    check_scale(300, 777, true);
    check_scale(0, 5, false);
}

static _Atomic int64_t points, parts;

static weft_status count_points(const weft_kernel_part *part)
{
    atomic_fetch_add(&points, part->end - part->begin);
    atomic_fetch_add(&parts, 1);
    return part->count == 1 && part->space.ndim == 2 && part->begin < part->end
               ? WEFT_OK
               : WEFT_ERROR_ARGUMENT;
}

TEST(K2_a_kernel_struct_does_the_same)
{
    weft_kernel kernel = {.struct_size = sizeof kernel,
                          .name = "count",
                          .parameters = "(a)",
                          .language = WEFT_KERNEL_C,
                          .function = count_points};
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000, 1000), .device = device());
    CHECK(a);
    points = parts = 0;
    CHECK_STATUS(weft_launch(kernel, WEFT_SHAPE(100, 17), a), WEFT_OK);
    CHECK_INT(points, 1700);
    CHECK(parts >= 1);
    kernel.function = NULL;
    CHECK_STATUS(weft_launch(kernel, WEFT_SHAPE(100, 17), a), WEFT_ERROR_ARGUMENT);
}

static weft_status add_one(const weft_kernel_part *part)
{
    for (int64_t p = part->begin; p < part->end; p++)
        *(double *)weft_kernel_at(&part->arguments[0], p) += 1;
    return WEFT_OK;
}

static weft_status fail_late(const weft_kernel_part *part)
{
    if (part->end == part->space.size[0])
        return weft_error_set(WEFT_ERROR_SYSTEM, "the disk is full");
    return WEFT_OK;
}

static weft_status fail_silently(const weft_kernel_part *part)
{
    (void)part;
    return (weft_status)1234;
}

TEST(K2_failures_of_synchronous_launches)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .device = device());
    CHECK(a);
    CHECK_STATUS(weft_launch_function(fail_late, a, a), WEFT_ERROR_SYSTEM);
    CHECK_ERROR(WEFT_ERROR_SYSTEM, "function 'fail_late' failed with WEFT_ERROR_SYSTEM: the disk");
    float value;
    CHECK_STATUS(weft_item(a, &value), WEFT_ERROR_RESULT);
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(10), .device = device());
    CHECK(b);
    CHECK_STATUS(weft_launch_function(fail_silently, b, (const weft_array *)b),
                 WEFT_ERROR_CALLBACK);
    CHECK_STATUS(weft_item(b, &value), WEFT_OK); /* it was only read */
}

static weft_status fail_everywhere(const weft_kernel_part *part)
{
    char message[64];
    snprintf(message, sizeof message, "from %lld", (long long)part->begin);
    atomic_fetch_add(&parts, 1);
    return weft_error_set(WEFT_ERROR_CALLBACK, message);
}

/* Whatever the threads do, the message is that of the first part. */
TEST(K2_the_first_failure_counts)
{
    enum { N = 4 << 20 };
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(N), .device = device());
    CHECK(a);
    for (int n = 0; n < 20; n++) {
        parts = 0;
        CHECK_STATUS(weft_launch_function(fail_everywhere, a, (const weft_array *)a),
                     WEFT_ERROR_CALLBACK);
        CHECK_ERROR(WEFT_ERROR_CALLBACK, "failed with WEFT_ERROR_CALLBACK: from 0");
    }
    CHECK(parts >= 1);
}

TEST(K2_warm_launches_allocate_nothing)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(10), .dtype = WEFT_F64, .device = device());
    CHECK(a);
    CHECK_STATUS(weft_launch_function(add_one, a, a), WEFT_OK);
    if (test_faults())
        return;
    weft__background_wait(); /* for the compiler, which allocates */
    weft__allocation_fail_at(1);
    const weft_status status = weft_launch_function(add_one, a, a);
    const bool allocated = weft__allocation_failed();
    weft__allocation_fail_at(0);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(!allocated);
}

TEST(K2_failures_stay_with_the_stream)
{
    weft_stream *stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    weft_status launched = WEFT_OK, told = WEFT_OK, again = WEFT_OK;
    bool named = false;
    {
        WEFT_STREAM(stream);
        WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .device = device());
        launched = weft_launch_function(fail_late, a, a);
        told = weft_stream_synchronize(stream);
        named = strstr(weft_error_message(), "the disk is full") != NULL;
        again = weft_stream_synchronize(stream);
    }
    weft_stream_release(stream);
    if (test_faults())
        return;
    CHECK_STATUS(launched, WEFT_OK);
    CHECK_STATUS(told, WEFT_ERROR_STREAM);
    CHECK(named);
    CHECK_STATUS(again, WEFT_OK);
}

/* Alternating with other kernels and streams, nothing is lost or out of order. */
TEST(K2_order_on_streams)
{
    enum { ROUNDS = 50, N = 70000 };
    weft_stream *one = weft_stream_new(device(), .async = true);
    weft_stream *two = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(N), .dtype = WEFT_F64, .device = device());
    bool right = one && two && a;
    for (int n = 0; right && n < (test_faults() ? 3 : ROUNDS); n++) {
        weft_stream_set_current(device(), n % 2 ? one : two);
        right = weft_launch_function(add_one, a, a) == WEFT_OK && weft(a = a * 2, a) == WEFT_OK;
    }
    weft_stream_set_current(device(), NULL);
    double expected = 0, first = 0, last = 0;
    for (int n = 0; n < (test_faults() ? 3 : ROUNDS); n++)
        expected = (expected + 1) * 2;
    WEFT_AUTO weft_array *end = right ? weft_slice(a, WEFT_RANGE(N - 1, N)) : NULL;
    right = right && end && weft_item(a, &first) == WEFT_OK && weft_item(end, &last) == WEFT_OK;
    weft_stream_release(one);
    weft_stream_release(two);
    CHECK(right);
    CHECK(first == expected && last == expected);
}

TEST(K2_wrong_arguments)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(5), .device = device());
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    CHECK(a && handle);
    CHECK_STATUS(weft_launch_function(add_one, a, handle), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_launch_function(add_one, WEFT_SHAPE(-3), a), WEFT_ERROR_SHAPE);
    weft_error_clear();
    CHECK_STATUS(weft_launch_function(add_one, a, (weft_array *)NULL), WEFT_ERROR_ARGUMENT);
    float lent[5] = {0};
    WEFT_AUTO weft_array *borrowed = weft_borrow(lent, sizeof lent, WEFT_SHAPE(5), WEFT_F32);
    CHECK(borrowed);
    CHECK_STATUS(weft_launch_function(add_one, a, a, borrowed), WEFT_ERROR_PLACEMENT);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "a on cpu (device), borrowed lent");
}

TEST_MAIN(TEST_OF(K2_every_point_is_in_one_part), TEST_OF(K2_a_kernel_struct_does_the_same),
          TEST_OF(K2_failures_of_synchronous_launches), TEST_OF(K2_the_first_failure_counts),
          TEST_OF(K2_warm_launches_allocate_nothing), TEST_OF(K2_failures_stay_with_the_stream),
          TEST_OF(K2_order_on_streams), TEST_OF(K2_wrong_arguments));
