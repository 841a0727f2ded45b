/* Processes that end while an OpenCL device has work: all of it is done, and nothing crashes. The
 * entries for other devices follow from test_device(). */
#include "support/opencl.h"

#include <stdio.h>
#include <stdlib.h>

/* A driver that compiles at the first launch, on a thread of its own, has not compiled this yet. */
TEST(end_with_a_new_kernel)
{
    enum { TIMES = 8 };
    NEEDS_OPENCL;
    if (test_alone()) {
        WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(9), .device = opencl_device());
        CHECK(a && weft(a = sin(a) * 3 + sqrt(a), a) == WEFT_OK);
        return;
    }
    const char *before = getenv("POCL_CACHE_DIR");
    int right = 0;
    for (int k = 0; k < TIMES; k++) {
        char folder[] = "/tmp/weft-test-XXXXXX", command[64];
        CHECK(mkdtemp(folder));
        setenv("POCL_CACHE_DIR", folder, 1);
        right += test_passes_alone("end_with_a_new_kernel");
        snprintf(command, sizeof command, "rm -rf %s", folder);
        CHECK(system(command) == 0);
    }
    if (before)
        setenv("POCL_CACHE_DIR", before, 1);
    CHECK_INT(right, TIMES);
}

TEST_MAIN(TEST_NO_FAULTS(end_with_a_new_kernel, OPENCL_SLOW));
