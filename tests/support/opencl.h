/* For tests of OpenCL devices: the one to test, or a skip where there is none. */
#ifndef WEFT_TESTS_SUPPORT_OPENCL_H
#define WEFT_TESTS_SUPPORT_OPENCL_H

#include "support/check.h"
#include <weft/weft.h>

static inline weft_device opencl_device(void)
{
    weft_device named = weft_device_named(test_device());
    return named.kind == WEFT_DEVICE_OPENCL ? named : weft_device_named("opencl:0");
}

#define NEEDS_OPENCL                                                                               \
    do {                                                                                           \
        if (opencl_device().kind == WEFT_DEVICE_INVALID)                                           \
            SKIP(weft_error_message());                                                            \
    } while (0)

/* Why tests of it do not run with failing allocations. */
#define OPENCL_SLOW "the driver compiles for each allocation that fails"

#endif
