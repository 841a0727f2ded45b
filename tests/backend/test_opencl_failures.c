/* What is said when OpenCL does not work: by a stand-in for libOpenCL whose device fails as asked.
 * The CPU works on, each time. */
#include "support/check.h"
#include "support/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs the test again in a process of its own, with the stand-in; true in that one. */
static bool with(const char *what, const char *test, bool *passed)
{
    if (test_alone())
        return true;
    setenv("WEFT_OPENCL", test_library(WEFT_TEST_STAND_IN), 1);
    setenv("STAND_IN", what, 1);
    *passed = test_passes_alone(test);
    unsetenv("WEFT_OPENCL");
    unsetenv("STAND_IN");
    return false;
}

#define WITH(what, test)                                                                           \
    do {                                                                                           \
        bool passed_ = false;                                                                      \
        if (!with(what, test, &passed_)) {                                                         \
            CHECK(passed_);                                                                        \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static bool cpu_works(void)
{
    WEFT_AUTO weft_array *a = make_full(3);
    return a && weft(a = a + 1, a) == WEFT_OK && holds(a, 4);
}

static weft_array *there(weft_dtype dtype)
{
    return weft_empty(WEFT_SHAPE(100), .dtype = dtype, .device = weft_device_named("opencl:0"));
}

TEST(no_library)
{
    if (!test_alone()) {
        setenv("WEFT_OPENCL", "/nonexistent/libOpenCL.so", 1);
        const bool passed = test_passes_alone("no_library");
        unsetenv("WEFT_OPENCL");
        CHECK(passed);
        return;
    }
    CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "WEFT_OPENCL");
    CHECK(cpu_works());
}

TEST(no_platform)
{
    WITH("no platform", "no_platform");
    CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "no platform is installed");
    CHECK(cpu_works());
}

TEST(no_device)
{
    WITH("no device", "no_device");
    CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "none has a device");
    CHECK(cpu_works());
}

/* The compiler's own words. */
TEST(no_compiler)
{
    WITH("no compiler", "no_compiler");
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    CHECK(a);
    CHECK_STATUS(weft(a = a + 1, a), WEFT_ERROR_COMPILE);
    CHECK_ERROR(WEFT_ERROR_COMPILE, "the compiler is out of letters");
    CHECK(cpu_works());
}

/* One that does not know what makes texts faster is given others; a user's text is as it is. */
TEST(a_plain_compiler)
{
    WITH("plain compiler", "a_plain_compiler");
    const weft_kernel nothing = {.struct_size = sizeof(weft_kernel),
                                 .name = "nothing",
                                 .parameters = "(a)",
                                 .body = "__kernel void nothing(__global int *a) { }",
                                 .place = "here",
                                 .language = WEFT_KERNEL_OPENCL};
    WEFT_AUTO weft_array *a = there(WEFT_F32);
    CHECK(a);
    CHECK_STATUS(weft(a = a + 1, a), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
    CHECK(weft_launch(nothing, a, a) != WEFT_OK);
    CHECK_ERROR(WEFT_ERROR_COMPILE, "the compiler is out of letters");
}

/* Said before a kernel is built; other dtypes are computed. */
TEST(no_f64)
{
    WITH("no f64", "no_f64");
    WEFT_AUTO weft_array *a = there(WEFT_F64), *b = there(WEFT_F32);
    weft_device_info info;
    CHECK(a && b);
    CHECK_STATUS(weft_device_describe(weft_array_device(a), &info), WEFT_OK);
    CHECK(!(info.dtypes >> WEFT_F64 & 1) && info.dtypes >> WEFT_F32 & 1);
    CHECK(!weft_device_supports(weft_array_device(a), WEFT_C128));
    CHECK_STATUS(weft(a = a + 1, a), WEFT_ERROR_UNSUPPORTED);
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "opencl:0 does not compute f64");
    CHECK_STATUS(weft(b = b + 1, b), WEFT_OK);
    CHECK_STATUS(weft_fill(b, 1.5), WEFT_OK);
    CHECK_STATUS(weft_eval(b), WEFT_OK);
    CHECK(cpu_works());
}

/* What the fourth launch, the first of which only compiled, was to write says so when it is read;
 * so does all that follows. */
TEST(lost_while_it_works)
{
    WITH("lost", "lost_while_it_works");
    int first;
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    CHECK(a);
    CHECK_STATUS(weft(a = a + 1, a), WEFT_OK);
    CHECK_STATUS(weft(a = a + 1, a), WEFT_OK);
    CHECK_STATUS(weft_item(a, &first), WEFT_OK);
    CHECK_STATUS(weft(a = a + 1, a), WEFT_OK);
    CHECK(weft_item(a, &first) != WEFT_OK);
    CHECK(strstr(weft_error_message(), "out of resources"));
    CHECK(weft(a = a + 1, a) != WEFT_OK);
    CHECK(weft_item(a, &first) != WEFT_OK);
    CHECK(cpu_works());
}

/* A launch failed, the next ones do not, and nobody waits: some call soon says so. */
TEST(S6_told_soon)
{
    enum { SOON = 100 };
    WITH("fourth fails", "S6_told_soon");
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    int calls = 0;
    CHECK(a);
    while (calls < SOON && weft_fill(a, 1) == WEFT_OK)
        calls++;
    CHECK(calls < SOON);
    CHECK_ERROR(WEFT_ERROR_STREAM, "out of resources");
    CHECK_STATUS(weft_fill(a, 1), WEFT_OK);
}

/* What is read, or waited for, says so at once. */
TEST(S6_told_by_waiting)
{
    WITH("fourth fails", "S6_told_by_waiting");
    WEFT_AUTO weft_array *a = there(WEFT_I32), *b = there(WEFT_I32);
    CHECK(a && b);
    for (int i = 0; i < 3; i++) /* the first launch of all is one with nothing to do */
        CHECK_STATUS(weft_fill(a, i), WEFT_OK);
    CHECK_STATUS(weft_fill(b, 1), WEFT_OK);
    CHECK_STATUS(weft_eval(b), WEFT_OK); /* was computed; but now the failure is known */
    CHECK_STATUS(weft_fill(b, 2), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "out of resources");
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
}

/* So often by one call site: from the third time on it is queued again, without an event. */
static weft_status add_often(weft_array *a, int times)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < times && status == WEFT_OK; k++)
        status = weft(a += 1, a);
    return status;
}

static weft_status add_once(weft_array *a) { return weft(a += 1, a); }

/* Nothing can be queued any more, not even what would tell how it went. */
TEST(S6_lost_while_work_is_queued_again)
{
    WITH("lost again", "S6_lost_while_work_is_queued_again");
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    int first;
    CHECK(a);
    CHECK_STATUS(add_often(a, 3), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK(strstr(weft_error_message(), "out of resources"));
    CHECK(add_often(a, 1) != WEFT_OK && weft_item(a, &first) != WEFT_OK);
    CHECK(cpu_works());
}

TEST(S6_a_failure_of_work_that_is_queued_again)
{
    WITH("again fails", "S6_a_failure_of_work_that_is_queued_again");
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    CHECK(a);
    CHECK_STATUS(add_often(a, 6), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK(strstr(weft_error_message(), "out of resources"));
    CHECK(cpu_works());
}

/* What came next fails; so may what was queued again before it. */
TEST(S6_a_failure_after_work_that_is_queued_again)
{
    WITH("again fails", "S6_a_failure_after_work_that_is_queued_again");
    WEFT_AUTO weft_array *a = there(WEFT_I32), *b = there(WEFT_I32);
    CHECK(a && b);
    CHECK_STATUS(add_often(a, 6), WEFT_OK);
    CHECK_STATUS(add_once(b), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_eval(b), WEFT_ERROR_RESULT);
}

/* The last launch that has an event, which with one that only compiled is the fourth; and another
 * stream waits for all of it. */
TEST(S6_a_failure_before_work_that_is_queued_again)
{
    WITH("fourth fails", "S6_a_failure_before_work_that_is_queued_again");
    AUTO_STREAM other = weft_stream_new(weft_device_named("opencl:0"), .async = true);
    WEFT_AUTO weft_array *a = there(WEFT_I32), *b = there(WEFT_I32);
    CHECK(other && a && b);
    CHECK_STATUS(add_once(a), WEFT_OK);
    CHECK_STATUS(add_often(a, 6), WEFT_OK);
    weft_stream_set_current(weft_device_named("opencl:0"), other);
    (void)weft(b = a + 1, a, b);
    weft_stream_set_current(weft_device_named("opencl:0"), NULL);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
    CHECK(strstr(weft_error_message(), "out of resources"));
}

/* That launch failed, but what was queued again after it still runs: its memory is in use. */
TEST(S6_a_failure_is_not_told_while_work_runs)
{
    WITH("fourth fails early", "S6_a_failure_is_not_told_while_work_runs");
    WEFT_AUTO weft_array *a = there(WEFT_I32);
    bool done = true;
    CHECK(a);
    CHECK_STATUS(add_once(a), WEFT_OK);
    CHECK_STATUS(add_often(a, 6), WEFT_OK);
    CHECK_STATUS(weft_stream_query(weft_stream_current(weft_array_device(a)), &done), WEFT_OK);
    CHECK(!done);
    CHECK_STATUS(weft_eval(a), WEFT_ERROR_RESULT);
}

/* Between the events of a stream of a device whose barriers have no time, or nothing has one. */
static weft_status time_a_fill(double *seconds)
{
    const weft_device device = weft_device_named("opencl:0");
    AUTO_STREAM stream = weft_stream_new(device, .async = true, .profiling = true);
    AUTO_EVENT begin = weft_event_new();
    AUTO_EVENT end = weft_event_new();
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(100), .stream = stream);
    if (!stream || !begin || !end || !a || weft_event_record(begin, stream) != WEFT_OK ||
        weft_fill(a, 1) != WEFT_OK || weft_event_record(end, stream) != WEFT_OK ||
        weft_event_synchronize(end) != WEFT_OK)
        return weft_error_code();
    return weft_event_elapsed(begin, end, seconds);
}

TEST(S3_barriers_without_times)
{
    double seconds = 0;
    WITH("", "S3_barriers_without_times");
    CHECK_STATUS(time_a_fill(&seconds), WEFT_OK);
    CHECK(seconds > 1.5e-6 && seconds < 1e-3); /* a launch and an event, a microsecond each */
}

TEST(S3_no_times)
{
    double seconds = 0;
    WITH("no times", "S3_no_times");
    CHECK_STATUS(time_a_fill(&seconds), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "the device has none for it");
}

/* A kernel does not hold its arguments: what is made for a view lives until the launch is queued.
 */
TEST(a_view_as_an_argument)
{
    WITH("", "a_view_as_an_argument");
    const weft_kernel add_one = {.struct_size = sizeof(weft_kernel),
                                 .name = "add_one",
                                 .parameters = "(a)",
                                 .body = "__kernel void add_one(__global int *a) { a[0]++; }",
                                 .place = "here",
                                 .language = WEFT_KERNEL_OPENCL};
    WEFT_AUTO weft_array *a = there(WEFT_I32), *half = weft_slice(a, WEFT_RANGE(50, 100));
    CHECK(half);
    CHECK_STATUS(weft_launch(add_one, half, half), WEFT_OK);
    CHECK_STATUS(weft_eval(a), WEFT_OK);
}

/* A process that is started later finds the same drivers. */
TEST(the_environment_stays_as_it_is)
{
    static const char drivers[] = "libfirst.so:libsecond.so";
    if (!test_alone()) {
        bool passed = false;
        setenv("OCL_ICD_FILENAMES", drivers, 1);
        (void)with("", "the_environment_stays_as_it_is", &passed);
        unsetenv("OCL_ICD_FILENAMES");
        CHECK(passed);
        return;
    }
    CHECK(weft_device_named("opencl:0").kind == WEFT_DEVICE_OPENCL);
    CHECK_STR(getenv("OCL_ICD_FILENAMES"), drivers);
}

/* Beside a driver of CUDA with two GPUs, in slot 1 of the buses 7 and 8. */
static bool gpus_are(const char *const *names)
{
    char name[16];
    bool right = true;
    for (int n = 0; n < 4 && right; n++) {
        snprintf(name, sizeof name, "gpu:%d", n);
        const weft_device found = weft_device_named(name);
        right = names[n] ? strcmp(weft_device_id(found), names[n]) == 0
                         : found.kind == WEFT_DEVICE_INVALID;
    }
    return right;
}

static bool passes_beside_cuda(const char *what, const char *test)
{
    bool passed = false;
    setenv("WEFT_CUDA", test_library(WEFT_TEST_STANDIN), 1);
    with(what, test, &passed);
    unsetenv("WEFT_CUDA");
    return passed;
}

TEST(D1_a_gpu_counts_once)
{
    static const char *const once[] = {"cuda:0", "cuda:1", NULL, NULL};
    if (!test_alone())
        CHECK(passes_beside_cuda("gpu", "D1_a_gpu_counts_once"));
    else {
        CHECK(gpus_are(once));
        CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_OPENCL); /* by its own name */
    }
}

TEST(D1_another_gpu_counts_too)
{
    static const char *const all[] = {"cuda:0", "cuda:1", "opencl:0", NULL};
    if (!test_alone())
        CHECK(passes_beside_cuda("another gpu", "D1_another_gpu_counts_too"));
    else
        CHECK(gpus_are(all));
}

static weft_array *bytes_there(int64_t bytes, weft_memory memory)
{
    return weft_empty(WEFT_SHAPE(bytes), .dtype = WEFT_U8, .memory = memory,
                      .device = weft_device_named("opencl:0"));
}

/* What the driver gives at once can be had, all of it; of more the error says how much it is. */
TEST(the_largest_array)
{
    WITH("little memory", "the_largest_array");
    enum { MOST = 1000010 / 64 * 64 };
    for (int turn = 0; turn < 3; turn++) {
        WEFT_AUTO weft_array *less = bytes_there(MOST - 40000, WEFT_MEMORY_DEVICE);
        CHECK(less);
        weft_array_release(less); /* is taken again for the next one, of the same class */
        less = NULL;
        WEFT_AUTO weft_array *all = bytes_there(MOST, WEFT_MEMORY_DEVICE);
        CHECK(all);
        CHECK(!bytes_there(MOST + 1, WEFT_MEMORY_DEVICE));
        CHECK_ERROR(WEFT_ERROR_MEMORY, "1000001 bytes is more than opencl:0 gives at once, its "
                                       "driver's limit is 1000000");
        weft_array_release(all);
        all = NULL; /* and what is cached now is no room for more */
        CHECK(!bytes_there(MOST + 1, WEFT_MEMORY_DEVICE));
        CHECK(!bytes_there(INT64_MAX / 4, WEFT_MEMORY_HOST));
        CHECK_ERROR(WEFT_ERROR_MEMORY, "several arrays");
    }
    CHECK(cpu_works());
}

#define PROCESS "the failing allocations are those of another process"
TEST_MAIN(TEST_NO_FAULTS(no_library, PROCESS), TEST_NO_FAULTS(no_platform, PROCESS),
          TEST_NO_FAULTS(no_device, PROCESS), TEST_NO_FAULTS(no_compiler, PROCESS),
          TEST_NO_FAULTS(a_plain_compiler, PROCESS), TEST_NO_FAULTS(no_f64, PROCESS),
          TEST_NO_FAULTS(lost_while_it_works, PROCESS), TEST_NO_FAULTS(S6_told_soon, PROCESS),
          TEST_NO_FAULTS(S6_told_by_waiting, PROCESS),
          TEST_NO_FAULTS(S6_lost_while_work_is_queued_again, PROCESS),
          TEST_NO_FAULTS(S6_a_failure_of_work_that_is_queued_again, PROCESS),
          TEST_NO_FAULTS(S6_a_failure_after_work_that_is_queued_again, PROCESS),
          TEST_NO_FAULTS(S6_a_failure_before_work_that_is_queued_again, PROCESS),
          TEST_NO_FAULTS(S6_a_failure_is_not_told_while_work_runs, PROCESS),
          TEST_NO_FAULTS(S3_barriers_without_times, PROCESS), TEST_NO_FAULTS(S3_no_times, PROCESS),
          TEST_NO_FAULTS(a_view_as_an_argument, PROCESS),
          TEST_NO_FAULTS(the_environment_stays_as_it_is, PROCESS),
          TEST_NO_FAULTS(D1_a_gpu_counts_once, PROCESS),
          TEST_NO_FAULTS(D1_another_gpu_counts_too, PROCESS),
          TEST_NO_FAULTS(the_largest_array, PROCESS));
