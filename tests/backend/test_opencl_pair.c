/* Two OpenCL devices, of which one has memory that the host can use at any time, and the other a
 * driver as NVIDIA's is: a stand-in makes them of one. */
#include "support/check.h"
#include "support/streams.h"

#include <stdlib.h>

/* Runs the test again in a process of its own, with the two devices; true in that one. */
static bool with_pair(const char *test, bool *passed)
{
    if (test_alone())
        return true;
    setenv("WEFT_OPENCL", test_library(WEFT_TEST_COARSE), 1);
    setenv("STAND_IN", "first as it is", 1);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    *passed = test_passes_alone(test);
    unsetenv("WEFT_OPENCL");
    unsetenv("STAND_IN");
    unsetenv("POCL_DEVICES");
    return false;
}

static bool has_pair(void)
{
    weft_device_info info[2];
    return weft_device_describe(weft_device_named("opencl:0"), &info[0]) == WEFT_OK &&
           weft_device_describe(weft_device_named("opencl:1"), &info[1]) == WEFT_OK;
}

/* Goes to the memory that the other device shares with the host, and back, while it is not computed
 * yet: to the stream's driver that memory is the host's. */
static void there_and_back(weft_stream *from, weft_stream *to, int value)
{
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = from,
                                         .memory = WEFT_MEMORY_SHARED);
    CHECK(a);
    CHECK_STATUS(hold(from, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, value), WEFT_OK);
    WEFT_AUTO weft_array *there = weft_to_device(a, weft_device_named("opencl:0"), NULL);
    CHECK(there && weft_array_memory(there) == WEFT_MEMORY_SHARED);
    if (!weft_array_host_readable(there))
        SKIP("opencl:0 shares no memory with the host");
    WEFT_AUTO weft_array *back = weft_to_device(there, weft_stream_device(to), to);
    CHECK(back);
    CHECK(stays_busy(to));
    gate_open(&gate);
    CHECK(holds(back, value));
}

TEST(S5_there_and_back_by_shared_memory)
{
    bool passed = false;
    if (!*WEFT_TEST_COARSE)
        SKIP("there is no OpenCL to stand in for");
    if (!with_pair("S5_there_and_back_by_shared_memory", &passed)) {
        CHECK(passed);
        return;
    }
    if (!has_pair())
        SKIP(weft_error_message());
    AUTO_STREAM one = weft_stream_new(weft_device_named("opencl:1"), .async = true);
    AUTO_STREAM other = weft_stream_new(weft_device_named("opencl:1"), .async = true);
    CHECK(one && other);
    there_and_back(one, one, 7);
    there_and_back(one, other, 8);
}

TEST_MAIN(TEST_NO_FAULTS(S5_there_and_back_by_shared_memory, "it runs in a process of its own"));
