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

static cl_int state_of(void *event)
{
    cl_int state = -1;
    weft__cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}

/* An event is one of OpenCL's, too: not complete before its work is, and had for work that is done
 * as well. */
TEST(A5_native_event)
{
    NEEDS_OPENCL;
    AUTO_EVENT event = weft_event_new();
    AUTO_STREAM stream = weft_stream_new(opencl_device(), .async = true);
    AUTO_GATE gate = GATE;
    void *early = NULL, *late = NULL;
    CHECK(event && stream);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_event_record(event, stream), WEFT_OK);
    CHECK_STATUS(weft_event_native(event, &early), WEFT_OK);
    const cl_int before = state_of(early);
    gate_open(&gate);
    cl_event both[2] = {early, NULL};
    CHECK_INT(weft__cl.WaitForEvents(1, both), CL_SUCCESS);
    CHECK_STATUS(weft_event_synchronize(event), WEFT_OK);
    CHECK_STATUS(weft_event_native(event, &late), WEFT_OK);
    both[1] = late;
    CHECK_INT(weft__cl.WaitForEvents(2, both), CL_SUCCESS);
    CHECK(before > CL_COMPLETE && state_of(early) == CL_COMPLETE && state_of(late) == CL_COMPLETE);
    CHECK_INT(weft__cl.ReleaseEvent(early), CL_SUCCESS);
    CHECK_INT(weft__cl.ReleaseEvent(late), CL_SUCCESS);
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

static cl_mem new_object(cl_context context, const int *values, size_t bytes)
{
    cl_int code;
    return weft__cl.CreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                 (void *)(uintptr_t)values, &code);
}

static weft_dlpack tensor_over(cl_mem object, int64_t *shape)
{
    return (weft_dlpack){.version = {1, 0},
                         .tensor = {.data = object,
                                    .device = {WEFT_DLPACK_OPENCL, opencl_device().index},
                                    .ndim = 1,
                                    .dtype = {WEFT_DLPACK_SIGNED, 32, 1},
                                    .shape = shape}};
}

/* A memory object of another library's, from its second element on, and back out: the same object.
 */
TEST(M6_foreign_memory_objects)
{
    NEEDS_OPENCL;
    const weft__opencl_device *device = weft__opencl_device_get(opencl_device().index);
    static const int values[4] = {7, 5, 5, 5};
    int64_t shape[] = {3};
    cl_mem object = new_object(device->context, values, sizeof values);
    weft_dlpack theirs = tensor_over(object, shape);
    theirs.tensor.byte_offset = 4;
    WEFT_AUTO weft_array *a = weft_from_dlpack(&theirs);
    CHECK(object && a && holds(a, 5));
    CHECK(weft_device_equal(weft_array_device(a), opencl_device()));
    CHECK_STATUS(weft(a = a * 2, a), WEFT_OK);
    CHECK(holds(a, 10));
    weft_dlpack *ours = weft_to_dlpack(a);
    CHECK(ours);
    bool same = ours->tensor.data == (void *)object && ours->tensor.byte_offset == 4;
    ours->deleter(ours);
    CHECK(same);
    CHECK_INT(weft__cl.ReleaseMemObject(object), CL_SUCCESS); /* ours is still there */
    CHECK(holds(a, 10));
}

/* The object of an array of so many elements, held by nobody else any more; NULL if there is none.
 */
static cl_mem object_left(int64_t count)
{
    weft_array *a = weft_full(WEFT_SHAPE(count), 3, .dtype = WEFT_I32, .device = opencl_device());
    weft_dlpack *ours = a && weft(a = a + 2, a) == WEFT_OK ? weft_to_dlpack(a) : NULL;
    cl_mem object = ours ? ours->tensor.data : NULL;
    if (object)
        weft__cl.RetainMemObject(object);
    if (ours)
        ours->deleter(ours);
    weft_array_release(a);
    return object;
}

/* What a small and a large object are made over lives as long as they do. */
TEST(M6_objects_that_outlive_their_arrays)
{
    NEEDS_OPENCL;
    const weft__opencl_device *device = weft__opencl_device_get(opencl_device().index);
    for (int64_t count = 1000; count <= 1000000; count *= 1000) {
        cl_mem object = object_left(count);
        CHECK_STATUS(weft_device_synchronize(opencl_device()), WEFT_OK);
        CHECK_STATUS(weft_memory_trim(opencl_device(), 0), WEFT_OK);
        int last = 0;
        cl_int code;
        cl_command_queue queue = weft__cl.CreateCommandQueue(device->context, device->id, 0, &code);
        CHECK(object && queue);
        CHECK_INT(weft__cl.EnqueueReadBuffer(queue, object, 1, (size_t)(count - 1) * sizeof last,
                                             sizeof last, &last, 0, NULL, NULL),
                  CL_SUCCESS);
        CHECK_INT(last, 5);
        weft__cl.ReleaseCommandQueue(queue);
        CHECK_INT(weft__cl.ReleaseMemObject(object), CL_SUCCESS);
    }
}

TEST(M6_wrong_memory_objects)
{
    NEEDS_OPENCL;
    const weft__opencl_device *device = weft__opencl_device_get(opencl_device().index);
    static const int values[4] = {1, 1, 1, 1};
    int64_t shape[] = {5};
    cl_int code;
    cl_context other = weft__cl.CreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    cl_mem foreign = new_object(other, values, sizeof values);
    cl_mem small = new_object(device->context, values, sizeof values);
    CHECK(foreign && small);
    weft_dlpack theirs = tensor_over(foreign, shape);
    CHECK(!weft_from_dlpack(&theirs));
    CHECK_ERROR(WEFT_ERROR_DEVICE, "another context");
    theirs = tensor_over(small, shape);
    CHECK(!weft_from_dlpack(&theirs));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "bytes 0 to 20");
    weft__cl.ReleaseMemObject(foreign);
    weft__cl.ReleaseMemObject(small);
}

TEST_MAIN(TEST_NO_FAULTS(M6_foreign_memory_objects, OPENCL_SLOW),
          TEST_NO_FAULTS(M6_wrong_memory_objects, OPENCL_SLOW),
          TEST_NO_FAULTS(M6_objects_that_outlive_their_arrays, OPENCL_SLOW),
          TEST_NO_FAULTS(A5_foreign_queue, OPENCL_SLOW),
          TEST_NO_FAULTS(A5_native_event, OPENCL_SLOW),
          TEST_NO_FAULTS(A5_wrong_queues, OPENCL_SLOW),
          TEST_NO_FAULTS(M1_kinds_of_memory, OPENCL_SLOW),
          TEST_NO_FAULTS(S3_priority, OPENCL_SLOW));
