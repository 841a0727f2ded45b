/* Work that a stream of a CUDA device has a record of is queued again by number alone, also when
 * the device faults or is reset. */
#include "backend/cuda_device.h"
#include "backend/windows.h"

/* All of it is failed, and nothing is queued on what is lost. */
TEST(S6_a_fault_of_what_was_queued_again)
{
    NEEDS_STANDIN;
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0), *b = full(ELEMENTS, 0);
    CHECK(a && b && holds(b, 0));
    AUTO_GRAPH graph = record_add(b);
    CHECK(graph);
    for (int k = 0; k < 4; k++) {
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
        CHECK_STATUS(add(a, 1), WEFT_OK);
    }
    fault_next(700);
    CHECK_STATUS(add(a, 1), WEFT_OK);
    CHECK(weft_stream_synchronize(here()) != WEFT_OK);
    CHECK(weft_eval(a) != WEFT_OK && weft_eval(b) != WEFT_OK);
    CHECK(weft_graph_launch(graph, here()) != WEFT_OK && add(a, 1) != WEFT_OK);
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "record it again");
    WEFT_AUTO weft_array *anew = full(ELEMENTS, 1);
    CHECK(anew);
    for (int k = 0; k < 4; k++)
        CHECK_STATUS(add(anew, 1), WEFT_OK);
    CHECK(holds(anew, 5));
}

TEST(M6_a_reset_ends_a_graph_that_is_launched_again)
{
    NEEDS_STANDIN;
    WEFT_AUTO weft_array *a = full(ELEMENTS, 0);
    CHECK(a);
    AUTO_GRAPH graph = record_add(a);
    CHECK(graph);
    for (int k = 0; k < 5; k++)
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "record it again");
}

TEST_MAIN(WINDOW_TESTS, TEST_NO_FAULTS(M6_a_reset_ends_a_graph_that_is_launched_again, VARIES),
          TEST_NO_FAULTS(S6_a_fault_of_what_was_queued_again, VARIES));
