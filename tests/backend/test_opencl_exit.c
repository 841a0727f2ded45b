/* Processes that end while an OpenCL device has work: all of it is done, and nothing crashes. The
 * entries for other devices follow from test_device(). */
#include "support/opencl.h"

#include <stdio.h>
#include <stdlib.h>

static void remove_folder(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

/* A driver that compiles at the first launch, on a thread of its own, has not compiled this yet.
 * Several processes side by side: then the compiler of some has not begun when they end. */
TEST(end_with_a_new_kernel)
{
    enum { TIMES = 8 };
    NEEDS_OPENCL;
    if (test_alone()) {
        WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(9), .device = opencl_device());
        CHECK(a && weft(a = sin(a) * 3 + sqrt(a), a) == WEFT_OK);
        return;
    }
    char before[4096], folders[TIMES][32];
    int processes[TIMES], right = 0;
    snprintf(before, sizeof before, "%s", getenv("POCL_CACHE_DIR") ? getenv("POCL_CACHE_DIR") : "");
    for (int k = 0; k < TIMES; k++) {
        snprintf(folders[k], sizeof folders[k], "/tmp/weft-test-XXXXXX");
        CHECK(mkdtemp(folders[k]));
        setenv("POCL_CACHE_DIR", folders[k], 1);
        processes[k] = test_start_alone("end_with_a_new_kernel");
    }
    for (int k = 0; k < TIMES; k++)
        right += test_ended_well(processes[k]);
    for (int k = 0; k < TIMES; k++)
        remove_folder(folders[k]);
    if (before[0])
        setenv("POCL_CACHE_DIR", before, 1);
    else
        unsetenv("POCL_CACHE_DIR");
    CHECK_INT(right, TIMES);
}

TEST_MAIN(TEST_NO_FAULTS(end_with_a_new_kernel, OPENCL_SLOW));
