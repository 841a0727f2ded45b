/* Graphs on the device under test. */
#include "support/graphs.h"

static weft_device device(void) { return weft_device_named(test_device()); }

TEST_MAIN(GRAPHS(TEST_OF));
