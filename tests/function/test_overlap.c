/* Copies of functions beside their kernels, on a stream of their own. */
#include "function/function.h"
#include "support/arrays.h"
#include "support/check.h"
#include "support/gate.h"
#include <stdlib.h>
#include <weft/weft.h>

enum { COUNT = 1 << 19 };

WEFT_FUNCTION_WITH(pair, (.offload = WEFT_OFFLOAD_ALWAYS), (x, y), {
    x = 2 * x;
    for (k = 0; k < 1; k++)
        y = y + 1;
    x = x + 1;
});

static weft_array *ramp(int step)
{
    weft_array *array = weft_empty(WEFT_SHAPE(COUNT), .dtype = WEFT_I32, .device = WEFT_CPU);
    int *data = array ? weft_array_data(array) : NULL;
    for (int i = 0; data && i < COUNT; i++)
        data[i] = i * step;
    return array;
}

static bool is(weft_array *array, int step, int offset)
{
    if (weft_eval(array) != WEFT_OK)
        return false;
    const int *data = weft_array_data(array);
    for (int i = 0; i < COUNT; i++)
        if (data[i] != i * step + offset)
            return false;
    return true;
}

static weft_status call(weft_array *x, weft_array *y)
{
    WEFT_ON(device());
    return weft_call(pair, NULL, x, y);
}

/* Kernels on arrays of the device; one array comes from the host. */
WEFT_FUNCTION_WITH(ahead, (.offload = WEFT_OFFLOAD_ALWAYS), (d, y), {
    d = d + 1;
    for (k = 0; k < 1; k++)
        d = d + y;
});

static weft_status call_ahead(weft_array *d, weft_array *y)
{
    WEFT_ON(device());
    return weft_call(ahead, NULL, d, y);
}

/* The kernels are held up, and the copy that need not wait for them is done. */
TEST(F5_copies_overlap)
{
    if (device().kind == WEFT_DEVICE_CPU)
        SKIP("the host copies nothing");
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *d = weft_zeros(WEFT_SHAPE(COUNT), .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *y = ramp(3);
    CHECK(stream && d && y);
    CHECK_STATUS(call_ahead(d, y), WEFT_OK); /* kernels are compiled, and the stream is there */
    CHECK_STATUS(weft_eval(d), WEFT_OK);
    weft_stream *beside = weft__function_copies(device());
    CHECK(beside);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(device(), stream), WEFT_OK);
    const weft_status status = call_ahead(d, y), copied = weft_stream_synchronize(beside);
    const bool before = weft_waits_forbid(true); /* so that what is not done is an error */
    const weft_status done = weft__buffer_wait(y->buffer, true, true);
    weft_waits_forbid(before);
    gate_open(&gate);
    weft_stream_set_current(device(), NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(copied, WEFT_OK);
    CHECK_STATUS(done, WEFT_OK);
    WEFT_AUTO weft_array *here = weft_to_device(d, WEFT_CPU, NULL);
    CHECK(here && is(here, 6, 2));
}

/* The same numbers of copies and bytes, large or small. */
TEST(F5_copies_are_counted)
{
    weft_statistics before, after;
    WEFT_AUTO weft_array *x = ramp(1), *y = ramp(3);
    CHECK(x && y);
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    CHECK_STATUS(call(x, y), WEFT_OK);
    CHECK(is(x, 2, 1) && is(y, 3, 1));
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK_INT(after.launches - before.launches, 3);
    if (device().kind == WEFT_DEVICE_CPU)
        return;
    CHECK_INT(after.copies_to_device - before.copies_to_device, 2);
    CHECK_INT(after.copies_to_host - before.copies_to_host, 2);
    CHECK_INT(after.bytes_to_device - before.bytes_to_device, 2 * COUNT * 4);
    CHECK_INT(after.bytes_to_host - before.bytes_to_host, 2 * COUNT * 4);
}

TEST_MAIN(TEST_OF(F5_copies_overlap), TEST_OF(F5_copies_are_counted));
