/* Streams, memory and errors on a CUDA device: the one under test, or the stand-in, which can also
 * be made to fail. */
#include "backend/asynchronous.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda_device.h"
#include "kernel/disk.h"
#include <stdio.h>

/* Runs the rest of the test in a process with another value of a variable. */
static bool passes_with(const char *variable, const char *value, const char *test)
{
    const char *old = getenv(variable);
    char before[4096];
    snprintf(before, sizeof before, "%s", old ? old : "");
    setenv(variable, value, 1);
    const bool passed = test_passes_alone(test);
    if (old)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    return passed;
}

/* There is no such device, for a reason; the CPU works on. */
static void check_absent(const char *why)
{
    CHECK_INT(weft_device_named("cuda:0").kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, why);
    WEFT_AUTO weft_array *a = full(3, WEFT_CPU);
    CHECK(holds(a, 3));
}

#define ABSENT(test, variable, value, why)                                                         \
    TEST(test)                                                                                     \
    {                                                                                              \
        NEEDS_STANDIN;                                                                             \
        if (test_alone())                                                                          \
            check_absent(why);                                                                     \
        else                                                                                       \
            CHECK(passes_with(variable, value, #test));                                            \
    }
ABSENT(D1_no_driver, "WEFT_CUDA", "/nonexistent", "has no libcuda.so.1")
ABSENT(D1_driver_without_functions, "WEFT_CUDA", "libm.so.6", "the driver has no cuInit")
ABSENT(D1_driver_does_not_start, "WEFT_STANDIN", "no_start", "does not start: unknown error (999)")
ABSENT(D1_old_driver, "WEFT_STANDIN", "old_driver", "is for CUDA 10.1; one for 11.2 or newer")
ABSENT(D1_no_device, "WEFT_STANDIN", "no_device", "it has no device")

TEST(no_compiler)
{
    NEEDS_STANDIN;
    if (!test_alone()) {
        CHECK(passes_with("WEFT_NVRTC", "/nonexistent", "no_compiler"));
        CHECK(passes_with("WEFT_NVRTC", "libm.so.6", "no_compiler"));
        return;
    }
    weft_device_info info;
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    CHECK(strstr(info.compiler, "none"));
    int values[4] = {1, 2, 3, 4}, back[4] = {0};
    WEFT_AUTO weft_array *a =
        weft_from_host(values, sizeof values, WEFT_SHAPE(4), .dtype = WEFT_I32, .device = device());
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, back, sizeof back), WEFT_OK);
    CHECK_BITS(back, values, sizeof values);
    CHECK_STATUS(weft_fill(a, 1), WEFT_ERROR_UNSUPPORTED);
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "WEFT_NVRTC");
}

static void memory_runs_out(void)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1 << 18), .device = device());
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(1 << 22), .device = device());
    CHECK(!b);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "cuda:0 has no room for");
    float first = 1;
    CHECK_STATUS(weft_item(a, &first), WEFT_OK);
    CHECK(first == 0);
}

TEST(M5_memory_runs_out)
{
    NEEDS_DEVICE;
    weft_device_info info;
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    if (is_real()) {
        WEFT_AUTO weft_array *most = weft_empty(WEFT_SHAPE((int64_t)info.memory_total),
                                                .dtype = WEFT_U8, .device = device());
        CHECK(!most);
        CHECK_ERROR(WEFT_ERROR_MEMORY, "has no room for");
        WEFT_AUTO weft_array *little = full(1, device());
        CHECK(little && holds(little, 1));
    } else if (test_alone())
        memory_runs_out();
    else
        CHECK(passes_with("WEFT_STANDIN", "memory=16000000", "M5_memory_runs_out"));
}

/* A call that fails and is no fault leaves the device as it was. */
TEST(S6_a_launch_that_is_refused)
{
    NEEDS_STANDIN;
    WEFT_AUTO weft_array *a = full(1, device());
    CHECK(a && holds(a, 1));
    fail_next("cuLaunchKernel", 701);
    CHECK_STATUS(weft_fill(a, 2), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cuLaunchKernel");
    CHECK(holds(a, 1));
    fail_next("cuModuleLoadData", 200);
    CHECK_STATUS(weft(a = a * 17 + 4, a), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cuModuleLoadData");
    CHECK_STATUS(weft(a = a * 17 + 4, a), WEFT_OK);
    CHECK(holds(a, 21));
}

static const char wild_text[] = "extern \"C\" __global__ void wild(float *a)\n"
                                "{ a[(1ll << 44) + threadIdx.x] = 1.0f; }\n";
static const char scale_text[] =
    "extern \"C\" __global__ void scale(const float *in, float *out, float factor, long long "
    "count)\n"
    "{\n"
    "    const long long i = (long long)blockIdx.x*blockDim.x + threadIdx.x;\n"
    "    if (i < count) out[i] = factor*in[i];\n"
    "}\n";

static weft_kernel kernel_of(const char *name, const char *parameters, const char *text)
{
    return (weft_kernel){.struct_size = sizeof(weft_kernel),
                         .name = name,
                         .parameters = parameters,
                         .body = text,
                         .place = "here",
                         .language = WEFT_KERNEL_CUDA};
}

TEST(K2_kernels_in_cuda_c)
{
    NEEDS_DEVICE;
    const weft_kernel scale = kernel_of("scale", "(in, out, factor, count)", scale_text);
    const weft_kernel none = kernel_of("none", "(in)", "extern \"C\" __global__ void x(int *a) {}");
    const weft_kernel wrong = kernel_of("wrong", "(in)", "extern \"C\" __global__ void wrong(in");
    WEFT_AUTO weft_array *in = weft_arange(0, 1000, 1, .dtype = WEFT_F32, .device = device());
    WEFT_AUTO weft_array *out = weft_zeros_like(in);
    WEFT_AUTO weft_array *host = weft_zeros(WEFT_SHAPE(1000));
    float values[1000];
    CHECK(in && out && host);
    CHECK_STATUS(weft_launch(scale, out, (const weft_array *)in, out, 2.5f, (int64_t)1000),
                 WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(out, values, sizeof values), WEFT_OK);
    for (int i = 0; i < 1000; i++)
        CHECK(values[i] == 2.5f * (float)i);
    CHECK_STATUS(weft_launch(wrong, out, out), WEFT_ERROR_COMPILE);
    CHECK_STATUS(weft_launch(scale, host, (const weft_array *)host, host, 2.5f, (int64_t)1000),
                 WEFT_ERROR_DEVICE);
    if (is_real())
        CHECK_STATUS(weft_launch(none, out, out), WEFT_ERROR_COMPILE);
}

/* A kernel that writes where there is no memory, or the stand-in's word for it. */
static weft_status cause_fault(weft_array *a)
{
    const weft_kernel wild = kernel_of("wild", "(a)", wild_text);
    if (is_real())
        return weft_launch(wild, a, a);
    fault_next(700);
    return weft_fill(a, 2);
}

/* On a real device it is the driver that decides; what it allows is told. */
static bool resets(void)
{
    if (weft_device_reset(device()) == WEFT_OK) {
        fprintf(stderr, "the device was reset after its fault\n");
        return true;
    }
    fprintf(stderr, "%s\n", weft_error_message());
    return false;
}

static void fault_and_reset(void)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 1, .device = device());
    WEFT_AUTO weft_array *before = full(7, device());
    AUTO_STREAM other = weft_stream_new(device(), .async = true);
    int first = 0;
    float value = 0;
    CHECK(a && before && other && holds(before, 7));
    CHECK_STATUS(weft_item(a, &value), WEFT_OK);
    CHECK_STATUS(cause_fault(a), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(weft_stream_current(device())), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "the CUDA device did not finish it");
    CHECK_ERROR(WEFT_ERROR_STREAM, "illegal memory access");
    CHECK_STATUS(weft_item(a, &value), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_fill(before, 3), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "weft_device_reset");
    WEFT_AUTO weft_array *host = full(5, WEFT_CPU);
    CHECK(host && holds(host, 5));
    WEFT_AUTO weft_array *elsewhere = is_real() ? NULL : full(6, weft_device_named("cuda:1"));
    CHECK(is_real() || (elsewhere && holds(elsewhere, 6)));
    const bool again = resets();
    CHECK(again || is_real());
    if (!again) {
        CHECK_ERROR(WEFT_ERROR_DEVICE, "a new process");
        return;
    }
    CHECK_STATUS(weft_item(before, &first), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "lost");
    WEFT_AUTO weft_array *anew = full(8, device());
    WEFT_AUTO weft_array *more = full(9, device());
    CHECK(anew && more && holds(anew, 8) && holds(more, 9));
    CHECK_STATUS(weft_item(before, &first), WEFT_ERROR_RESULT); /* wherever the new ones lie */
    WEFT_AUTO weft_array *bound = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = other);
    CHECK(bound && holds(bound, 0));
}

/* With a driver that gives the primary context a new beginning, and one that does not. */
TEST(D3_fault_and_reset)
{
    NEEDS_DEVICE;
    if (test_alone()) {
        fault_and_reset();
        return;
    }
    CHECK(passes_with("WEFT_STANDIN", "", "D3_fault_and_reset"));
    CHECK(passes_with("WEFT_STANDIN", "no_primary", "D3_fault_and_reset"));
}

TEST(D3_fault_for_good)
{
    NEEDS_STANDIN;
    if (!test_alone()) {
        CHECK(passes_with("WEFT_STANDIN", "no_recovery", "D3_fault_for_good"));
        return;
    }
    WEFT_AUTO weft_array *a = full(1, device());
    CHECK(a && holds(a, 1));
    fault_next(700);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    CHECK_STATUS(weft_device_reset(device()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "a new process");
    CHECK(!full(1, device()));
    WEFT_AUTO weft_array *host = full(5, WEFT_CPU);
    CHECK(host && holds(host, 5));
}

/* Larger than what is between host and device, in every direction and kind. */
TEST(M3_copies_of_all_kinds)
{
    NEEDS_DEVICE;
    enum { COUNT = 5000011 };
    static int32_t from[COUNT], back[COUNT];
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    for (int i = 0; i < COUNT; i++)
        from[i] = i;
    for (int k = 0; k < 3; k++) {
        WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(COUNT), .dtype = WEFT_I32,
                                             .device = device(), .memory = kinds[k]);
        WEFT_AUTO weft_array *b = weft_empty(WEFT_SHAPE(COUNT), .dtype = WEFT_I32,
                                             .device = device(), .memory = kinds[(k + 1) % 3]);
        CHECK(a && b && weft_array_host_readable(a) == (k > 0));
        CHECK_STATUS(weft_copy_from_host(a, from, sizeof from), WEFT_OK);
        CHECK_STATUS(weft(b = a + 1, a, b), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(b, back, sizeof back), WEFT_OK);
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(back[i], i + 1);
    }
}

/* Work on an array that another stream makes. */
static weft_array *plus_one_on(weft_stream *stream, weft_array *a)
{
    WEFT_STREAM(stream);
    return weft_new(a + 1, a);
}

static weft_status fill_on(weft_stream *stream, weft_array *a, int value)
{
    weft_stream *before = weft_stream_current(device());
    weft_stream_set_current(device(), stream);
    const weft_status status = weft_fill(a, value);
    weft_stream_set_current(device(), before);
    return status;
}

/* Pinned memory that the CPU has as its own goes to memory of the device's, at once and not by a
 * kernel. */
TEST(D6_pinned_memory_to_the_device)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *pinned = weft_full(WEFT_SHAPE(1000), 7, .dtype = WEFT_I32,
                                             .device = device(), .memory = WEFT_MEMORY_HOST);
    WEFT_AUTO weft_array *host = pinned ? weft_asarray(pinned, .device = WEFT_CPU) : NULL;
    CHECK(host && weft_array_data(host) == weft_array_data(pinned));
    CHECK_STATUS(weft_eval(pinned), WEFT_OK);
    weft_statistics before, after;
    weft_memory_stats(device(), &before);
    WEFT_AUTO weft_array *there = weft_to_device(host, device(), NULL);
    weft_memory_stats(device(), &after);
    CHECK(there);
    CHECK_INT(weft_array_memory(there), WEFT_MEMORY_DEVICE);
    CHECK_INT(after.launches, before.launches);
    CHECK(holds(there, 7));
}

/* Through all lanes, in both directions, and with a lane that fails. */
TEST(M3_large_copies_of_pageable_memory)
{
    NEEDS_STANDIN;
    enum { COUNT = 9000001 };
    WEFT_AUTO weft_array *host = weft_arange(0, COUNT, 1, .dtype = WEFT_I32, .device = WEFT_CPU);
    WEFT_AUTO weft_array *there = host ? weft_to_device(host, device(), NULL) : NULL;
    WEFT_AUTO weft_array *back = there ? weft_to_device(there, WEFT_CPU, NULL) : NULL;
    CHECK(back);
    CHECK_STATUS(weft_eval(back), WEFT_OK);
    CHECK_BITS(weft_array_data(back), weft_array_data(host), COUNT * sizeof(int));
    fail_next("cuMemcpyAsync", 999);
    WEFT_AUTO weft_array *again = weft_to_device(host, device(), NULL);
    CHECK(!again || weft_eval(again) != WEFT_OK);
    CHECK(strstr(weft_error_message(), "cuMemcpyAsync"));
    (void)weft_stream_synchronize(weft_stream_current(device())); /* is told of it once */
}

/* A stream that is held does not hold another one, except for what it needs of it. */
TEST(S5_streams_wait_for_each_other)
{
    NEEDS_DEVICE;
    AUTO_STREAM first = weft_stream_new(device(), .async = true, .priority = -100);
    AUTO_STREAM second = weft_stream_new(device(), .async = true, .priority = 100);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *a = full(0, device());
    CHECK(first && second && a);
    CHECK_STATUS(fill_on(first, a, 3), WEFT_OK);
    CHECK_STATUS(hold(first, &gate), WEFT_OK);
    WEFT_AUTO weft_array *b = plus_one_on(second, a); /* waits for what it queued */
    CHECK(b && holds(b, 4));
    CHECK_STATUS(fill_on(first, a, 4), WEFT_OK);
    CHECK_STATUS(fill_on(second, a, 5), WEFT_OK);
    CHECK(stays_busy(second));
    gate_open(&gate);
    CHECK(holds(a, 5));
}

/* More than the driver queues, with nobody asking how far it has come. */
TEST(S1_thousands_of_launches)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = full(0, device());
    CHECK(a);
    const int launches = 5000;
    for (int k = 0; k < launches; k++)
        CHECK_STATUS(weft(a += 1, a), WEFT_OK);
    CHECK(holds(a, launches));
}

/* How far the device has come is not asked each time, nor is an event recorded. */
TEST(S1_a_launch_is_one_call_of_the_driver)
{
    NEEDS_STANDIN;
    enum { LAUNCHES = 640 };
    static const char *const symbols[] = {"cuEventRecord", "cuEventQuery", "cuEventCreate"};
    WEFT_AUTO weft_array *a = full(0, device());
    CHECK(a && weft(a += 1, a) == WEFT_OK && holds(a, 1));
    int before = 0, after = 0;
    const int launches = calls_of("cuLaunchKernel");
    for (int k = 0; k < 3; k++)
        before += calls_of(symbols[k]);
    for (int k = 0; k < LAUNCHES; k++)
        CHECK_STATUS(weft(a += 1, a), WEFT_OK);
    for (int k = 0; k < 3; k++)
        after += calls_of(symbols[k]);
    CHECK(holds(a, LAUNCHES + 1)); /* the helper may have had some of them */
    CHECK_INT(calls_of("cuLaunchKernel"), launches + LAUNCHES);
    CHECK(after - before <= LAUNCHES / 10);
}

/* What a reset leaves are the files. */
TEST(machine_code_is_kept_on_disk)
{
    NEEDS_DEVICE;
    char folder[] = "/tmp/weft-test-XXXXXX", command[64];
    weft_statistics first = {0}, second = {0}, third = {0};
    CHECK(mkdtemp(folder));
    weft__disk_choose(folder);
    WEFT_AUTO weft_array *a = full(3, device());
    weft_device_reset(device());
    weft_memory_stats(device(), &first);
    bool right = a && weft(a = a * 7 + 1, a) == WEFT_OK && holds(a, 22);
    weft_memory_stats(device(), &second);
    weft_device_reset(device());
    right = right && weft(a = a * 7 + 1, a) == WEFT_OK && holds(a, 155);
    weft_memory_stats(device(), &third);
    weft__disk_choose(NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    CHECK(right);
    CHECK_INT(second.compilations, first.compilations + 1);
    CHECK_INT(third.compilations, second.compilations);
    CHECK_INT(third.compilations_loaded, second.compilations_loaded + 1);
}

TEST(A5_native_handles)
{
    NEEDS_DEVICE;
    void *context = NULL, *handle = NULL;
    CHECK_STATUS(weft_device_native(device(), &context), WEFT_OK);
    CHECK_STATUS(weft_stream_native(weft_stream_current(device()), &handle), WEFT_OK);
    CHECK(context && handle);
    AUTO_STREAM wrapped = weft_stream_wrap(device(), handle);
    CHECK(wrapped);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000), .dtype = WEFT_I32, .stream = wrapped);
    CHECK(a);
    CHECK_STATUS(weft_fill(a, 9), WEFT_OK);
    CHECK(holds(a, 9));
}

/* An event is one of the driver's, too, once the device has the work before it. */
TEST(A5_native_event)
{
    NEEDS_DEVICE;
    AUTO_EVENT event = weft_event_new();
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    void *handle = NULL;
    CHECK(event && stream);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_event_native(event, &handle), WEFT_ERROR_UNSUPPORTED);
    CHECK(!handle && strstr(weft_error_message(), "weft_event_synchronize"));
    gate_open(&gate);
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    CHECK_STATUS(weft_event_native(event, &handle), WEFT_OK);
    const bool entered = weft__cuda_enter(weft__cuda_device_get(device().index));
    const CUresult waited = weft__cu.EventSynchronize(handle);
    const CUresult destroyed = weft__cu.EventDestroy(handle);
    weft__cuda_leave(entered);
    CHECK_INT(waited, CUDA_SUCCESS);
    CHECK_INT(destroyed, CUDA_SUCCESS);
}

#define SLOW "the stand-in compiles for each allocation that fails"
#define VARIES "how many launches wait at once, whose records are kept for others, varies"
TEST_MAIN(TEST_NO_FAULTS(D1_no_driver, SLOW), TEST_NO_FAULTS(D1_driver_without_functions, SLOW),
          TEST_NO_FAULTS(D1_driver_does_not_start, SLOW), TEST_NO_FAULTS(D1_old_driver, SLOW),
          TEST_NO_FAULTS(D1_no_device, SLOW), TEST_NO_FAULTS(no_compiler, SLOW),
          TEST_NO_FAULTS(M5_memory_runs_out, SLOW), ASYNCHRONOUS(SLOW),
          TEST_NO_FAULTS(S6_a_launch_that_is_refused, SLOW),
          TEST_NO_FAULTS(K2_kernels_in_cuda_c, SLOW),
          TEST_NO_FAULTS(machine_code_is_kept_on_disk, SLOW),
          TEST_NO_FAULTS(M3_copies_of_all_kinds, SLOW),
          TEST_NO_FAULTS(D6_pinned_memory_to_the_device, SLOW),
          TEST_NO_FAULTS(M3_large_copies_of_pageable_memory, SLOW),
          TEST_NO_FAULTS(S5_streams_wait_for_each_other, VARIES),
          TEST_NO_FAULTS(S1_thousands_of_launches, VARIES),
          TEST_NO_FAULTS(S1_a_launch_is_one_call_of_the_driver, VARIES), TEST_OF(A5_native_handles),
          TEST_NO_FAULTS(A5_native_event, VARIES), TEST_NO_FAULTS(D3_fault_and_reset, SLOW),
          TEST_NO_FAULTS(D3_fault_for_good, SLOW));
