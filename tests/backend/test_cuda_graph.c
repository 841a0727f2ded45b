/* Graphs on a CUDA device: the one under test, or the stand-in. */
#include "backend/cuda_device.h"
#include "support/graphs.h"

/* Of a body that adds 1 to the array; NULL, with the record set, if there is none. */
static weft_graph *record_add(weft_array *a)
{
    if (weft_graph_begin(here()) != WEFT_OK)
        return NULL;
    const weft_status status = weft(a += 1, a);
    weft_graph *graph = weft_graph_end(here());
    if (status == WEFT_OK)
        return graph;
    weft_graph_release(graph);
    return NULL;
}

/* However many kernels it has. */
TEST(S3_graph_is_one_launch)
{
    NEEDS_STANDIN;
    WEFT_AUTO weft_array *a = ints(1000, 0);
    CHECK(a);
    CHECK_STATUS(weft_graph_begin(here()), WEFT_OK);
    AUTO_END recording = here();
    for (int k = 0; k < 20; k++)
        CHECK_STATUS(weft(a += 1, a), WEFT_OK);
    AUTO_GRAPH graph = weft_graph_end(recording);
    recording = NULL;
    CHECK(graph);
    const int kernels = calls_of("cuLaunchKernel"), graphs = calls_of("cuGraphLaunch");
    for (int k = 0; k < 10; k++)
        CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK_INT(calls_of("cuLaunchKernel"), kernels);
    CHECK_INT(calls_of("cuGraphLaunch"), graphs + 10);
    CHECK(holds(a, 200));
    void *handle = NULL;
    CHECK_STATUS(weft_graph_native(graph, &handle), WEFT_OK);
    CHECK(handle);
}

TEST(S3_graph_that_the_driver_refuses)
{
    NEEDS_STANDIN;
    static const char *const symbols[] = {"cuStreamCreateWithPriority", "cuStreamBeginCapture_v2",
                                          "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                                          "cuLaunchKernel"};
    WEFT_AUTO weft_array *a = ints(1000, 0);
    CHECK(a && holds(a, 0));
    AUTO_GRAPH right = record_add(a);
    CHECK(right);
    for (int k = 0; k < 5; k++) {
        fail_next(symbols[k], 999);
        AUTO_GRAPH graph = record_add(a);
        CHECK(!graph);
        CHECK_ERROR(WEFT_ERROR_DEVICE, "unknown error (999)");
    }
    fail_next("cuGraphLaunch", 999);
    CHECK_STATUS(weft_graph_launch(right, here()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cuGraphLaunch");
    CHECK(holds(a, 0));
    CHECK_STATUS(weft_graph_launch(right, here()), WEFT_OK);
    CHECK(holds(a, 1));
}

/* A fault in a graph is reported as one of its launch, and takes the graph with it. */
TEST(D3_graph_that_faults)
{
    NEEDS_STANDIN;
    if (!test_alone()) {
        CHECK(test_passes_alone("D3_graph_that_faults"));
        return;
    }
    WEFT_AUTO weft_array *a = ints(1000, 0);
    CHECK(a && holds(a, 0));
    AUTO_GRAPH graph = record_add(a);
    CHECK(graph);
    fault_next(700);
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_OK);
    CHECK_STATUS(weft_stream_synchronize(here()), WEFT_ERROR_STREAM);
    CHECK_ERROR(WEFT_ERROR_STREAM, "illegal memory access");
    CHECK_ERROR(WEFT_ERROR_STREAM, "weft_graph_launch");
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_graph_launch(graph, here()), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "record it again");
}

#define OF(name) TEST_NO_FAULTS(name, "the stand-in compiles for each allocation that fails")
TEST_MAIN(GRAPHS(OF), OF(S3_graph_is_one_launch), OF(S3_graph_that_the_driver_refuses),
          OF(D3_graph_that_faults));
