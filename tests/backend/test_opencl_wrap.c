/* Queues and memory that are not Weft's own on OpenCL devices. The entries for other devices follow
 * from test_device(). */
#include "backend/opencl/opencl.h"
#include "support/opencl.h"
#include "support/streams.h"

static cl_command_queue new_queue(cl_bitfield properties)
{
    const weft__opencl_device *device = weft__opencl_device_get(opencl_device().index);
    cl_int code;
    return weft__cl.CreateCommandQueue(device->context, device->id, properties, &code);
}

/* Work goes through the foreign queue, in order with that of others; the queue stays. */
TEST(A5_foreign_queue)
{
    NEEDS_OPENCL;
    cl_command_queue queue = new_queue(0);
    void *handle = NULL;
    CHECK(queue);
    {
        AUTO_STREAM stream = weft_stream_wrap(opencl_device(), queue);
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(1000), 2, .dtype = WEFT_I32, .stream = stream);
        CHECK(stream && a && weft_stream_is_async(stream));
        CHECK_STATUS(weft_stream_native(stream, &handle), WEFT_OK);
        CHECK(handle == (void *)queue);
        CHECK_STATUS(weft(a = a * 3, a), WEFT_OK);
        CHECK(holds(a, 6));
    }
    CHECK_INT(weft__cl.Flush(queue), CL_SUCCESS);
    CHECK_INT(weft__cl.ReleaseCommandQueue(queue), CL_SUCCESS);
}

TEST(A5_wrong_queues)
{
    NEEDS_OPENCL;
    const weft__opencl_device *device = weft__opencl_device_get(opencl_device().index);
    cl_int code;
    cl_context other = weft__cl.CreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    cl_command_queue foreign = weft__cl.CreateCommandQueue(other, device->id, 0, &code);
    cl_command_queue unordered = new_queue(CL_QUEUE_OUT_OF_ORDER);
    CHECK(foreign && unordered);
    CHECK(!weft_stream_wrap(opencl_device(), foreign));
    CHECK_ERROR(WEFT_ERROR_STREAM, "another context");
    CHECK(!weft_stream_wrap(opencl_device(), unordered));
    CHECK_ERROR(WEFT_ERROR_STREAM, "order");
    weft__cl.ReleaseCommandQueue(foreign);
    weft__cl.ReleaseCommandQueue(unordered);
}

/* Shared and host memory mix with the device's own; what the host may read, it reads. */
TEST(M1_kinds_of_memory)
{
    NEEDS_OPENCL;
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    for (int i = 0; i < 9; i++) {
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000), 2, .dtype = WEFT_I32,
                                            .device = opencl_device(), .memory = kinds[i / 3]);
        WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(1000), 3, .dtype = WEFT_I32,
                                            .device = opencl_device(), .memory = kinds[i % 3]);
        WEFT_AUTO weft_array *c = weft_new(a * b, a, b);
        CHECK(a && b && c);
        CHECK(holds(c, 6));
        CHECK_STATUS(weft_assign(a, c), WEFT_OK);
        CHECK(holds(a, 6));
    }
}

/* Lower and higher priorities are taken, and change nothing but when work runs. */
TEST(S3_priority)
{
    NEEDS_OPENCL;
    for (int priority = -1; priority <= 1; priority++) {
        AUTO_STREAM stream = weft_stream_new(opencl_device(), .async = true, .priority = priority);
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(1000), 4, .dtype = WEFT_I32, .stream = stream);
        CHECK(stream && a && holds(a, 4));
    }
}

TEST_MAIN(TEST_NO_FAULTS(A5_foreign_queue, OPENCL_SLOW),
          TEST_NO_FAULTS(A5_wrong_queues, OPENCL_SLOW),
          TEST_NO_FAULTS(M1_kinds_of_memory, OPENCL_SLOW),
          TEST_NO_FAULTS(S3_priority, OPENCL_SLOW));
