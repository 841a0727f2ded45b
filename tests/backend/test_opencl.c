/* Streams, memory and errors on an OpenCL device, where there is one, and what is said where not.
 */
#include "backend/asynchronous.h"

static weft_device device(void)
{
    weft_device named = weft_device_named(test_device());
    return named.kind == WEFT_DEVICE_OPENCL ? named : weft_device_named("opencl:0");
}

/* Without platforms there is no device, and the reason is given; the CPU works on. */
TEST(D1_no_platform)
{
    if (!test_alone()) {
        setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
        const bool passed = test_passes_alone("D1_no_platform");
        unsetenv("OCL_ICD_VENDORS");
        CHECK(passed);
        return;
    }
    CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "OpenCL: ");
    WEFT_AUTO weft_array *a = full(3, WEFT_CPU);
    CHECK(holds(a, 3));
}

#define SLOW "the driver compiles for each allocation that fails"
TEST_MAIN(TEST_OF(D1_no_platform), ASYNCHRONOUS(SLOW));
