/* Graphs on an OpenCL device, where there is one. */
#include "support/graphs.h"

static weft_device device(void)
{
    weft_device named = weft_device_named(test_device());
    return named.kind == WEFT_DEVICE_OPENCL ? named : weft_device_named("opencl:0");
}

#define OF(name) TEST_NO_FAULTS(name, "the driver compiles for each allocation that fails")
TEST_MAIN(GRAPHS(OF));
