/* Arrays: making, releasing, and the facts about them. */
#include "core/array.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/thread.h"
#include <stdlib.h>
#include <string.h>

weft_options weft__options_of(const weft_options *options)
{
    weft_options all = {.struct_size = sizeof all};
    if (options && options->struct_size == sizeof all)
        return *options;
    weft__options_copy(&all, sizeof all, options);
    return all;
}

static weft_array *make(weft_dtype dtype, const weft_shape *shape)
{
    weft_array *array = weft__allocate(sizeof *array);
    if (!array)
        return NULL;
    atomic_init(&array->references, 1);
    array->dtype = (uint8_t)dtype;
    array->overlapping = false;
    array->read_only = array->on_host = false;
    array->shape = *shape;
    array->layout = weft__thread_number();
    array->data = NULL;
    array->buffer = NULL;
    array->stream = NULL;
    array->request = (weft__request){0};
    return array;
}

weft_array *weft__array_over(weft__buffer *buffer, weft_dtype dtype, const weft_shape *shape,
                             const int64_t *strides)
{
    weft_array *array = make(dtype, shape);
    if (!array) {
        weft__buffer_release(buffer);
        return NULL;
    }
    array->buffer = buffer;
    array->data = buffer->data;
    memcpy(array->stride, strides, sizeof array->stride);
    return array;
}

weft_array *weft__array_view(const weft_array *array)
{
    weft_array *view = make(array->dtype, &array->shape);
    if (!view)
        return NULL;
    weft__buffer_retain(array->buffer);
    memcpy(view->stride, array->stride, sizeof view->stride);
    view->overlapping = array->overlapping;
    view->read_only = array->read_only;
    view->on_host = array->on_host;
    view->buffer = array->buffer;
    view->data = array->data;
    view->stream = weft_stream_retain(array->stream);
    view->request = array->request;
    return view;
}

/* What memory an array gets: as the options say, else as `like` has it. */
static weft_status resolve(const weft_options *options, const weft_array *like,
                           weft__request *request)
{
    weft_device of_like = like && like->buffer ? weft__array_device(like) : WEFT_NO_DEVICE;
    weft_device of_stream = options->stream ? options->stream->device : WEFT_NO_DEVICE;
    weft_device given = options->device;
    if (given.kind == WEFT_DEVICE_NONE)
        given = of_stream;
    else if (options->stream && !weft_device_equal(given, of_stream))
        return FAIL_AT(WEFT_ERROR_PLACEMENT, "stream",
                       "the stream is on %s, but the device given is %s; leave one of them out",
                       weft_device_id(of_stream), weft_device_id(given));
    TRY(weft__device_choose(given, of_like, &request->device));
    request->placed = given.kind != WEFT_DEVICE_NONE;
    request->memory = options->memory;
    request->allocator = options->allocator;
    request->user_allocator = options->user_allocator;
    request->stream = options->stream;
    bool open = !options->memory && !options->allocator && !options->user_allocator;
    if (like && like->buffer && open && like->buffer->memory != WEFT_MEMORY_LENT)
        request->memory = (weft_memory)like->buffer->memory;
    return WEFT_OK;
}

/* Gives the array memory for its shape, with rows padded if its allocator pads. */
static weft_status give_memory(weft_array *array, bool *zeroed)
{
    size_t item = weft_dtype_size((weft_dtype)array->dtype), bytes;
    weft__request request = array->request;
    bool pitched = request.allocator == WEFT_ALLOCATOR_PITCHED;
    int64_t strides[WEFT_NDIM_MAX] = {0};
    TRY(weft__shape_strides(&array->shape, item, pitched ? 64 : 1, strides, &bytes));
    request.stream = array->stream ? array->stream : weft__stream_current(request.device);
    if (!request.stream)
        return weft_error_code();
    weft__buffer *buffer = weft__buffer_new(bytes, &request, zeroed);
    if (!buffer)
        return weft_error_code();
    weft__buffer_release(array->buffer);
    memcpy(array->stride, strides, sizeof array->stride);
    array->buffer = buffer;
    buffer->elements = weft_array_bytes(array);
    array->data = buffer->data;
    array->overlapping = array->read_only = array->on_host = false;
    array->layout = weft__thread_number();
    return WEFT_OK;
}

weft_array *weft__array_new(const weft_shape *shape, weft_dtype dtype, const weft_options *options,
                            const weft_array *like, bool *zeroed)
{
    weft__request request;
    if (weft_dtype_size(dtype) == 0)
        return weft__fail_dtype(dtype), NULL;
    TRY_NULL(resolve(options, like, &request));
    weft_array *array = make(dtype, shape);
    if (!array)
        return NULL;
    array->request = request;
    array->request.stream = NULL;
    array->stream = weft_stream_retain(options->stream);
    if (give_memory(array, zeroed) != WEFT_OK) {
        weft_array_release(array);
        return NULL;
    }
    return array;
}

weft_array *weft_handle_with(const weft_options *given)
{
    weft_options options = weft__options_of(given);
    weft_shape none = {0, {0}};
    weft__request request;
    OPERATION("weft_handle");
    if (options.dtype && weft_dtype_size(options.dtype) == 0)
        return weft__fail_dtype(options.dtype), NULL;
    TRY_NULL(resolve(&options, NULL, &request));
    weft_array *array = make(options.dtype, &none);
    if (!array)
        return NULL;
    array->request = request;
    array->request.stream = NULL;
    array->stream = weft_stream_retain(options.stream);
    return array;
}

weft_status weft__array_resize(weft_array *array, const weft_shape *shape)
{
    weft_shape old = array->shape;
    if (array->buffer && array->buffer->memory == WEFT_MEMORY_LENT)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "array",
                       "lent memory cannot be resized; copy the array with weft_copy first");
    array->shape = *shape;
    weft_status status = give_memory(array, NULL);
    if (status != WEFT_OK)
        array->shape = old;
    return status;
}

weft_status weft__array_become(weft_array *handle, weft_dtype dtype, const weft_shape *shape)
{
    uint8_t old = handle->dtype;
    if (old == WEFT_DTYPE_DEFAULT)
        handle->dtype = (uint8_t)dtype;
    weft_status status = weft__array_resize(handle, shape);
    if (status != WEFT_OK)
        handle->dtype = old;
    return status;
}

void weft__array_empty(weft_array *array, uint8_t dtype)
{
    if (!array->buffer)
        return;
    weft__buffer_release(array->buffer);
    array->buffer = NULL;
    array->data = NULL;
    array->shape = (weft_shape){0, {0}};
    array->dtype = dtype;
    array->layout = weft__thread_number();
}

weft_status weft_resize(weft_array *array, weft_shape shape)
{
    OPERATION("weft_resize");
    return array ? weft__array_become(array, WEFT_F32, &shape) : weft__fail_null("array");
}

weft_array *weft_array_retain(weft_array *array)
{
    if (array)
        atomic_fetch_add_explicit(&array->references, 1, memory_order_relaxed);
    return array;
}

void weft_array_release(weft_array *array)
{
    if (!array || !weft__reference_drop(&array->references))
        return;
    weft__buffer_release(array->buffer);
    weft_stream_release(array->stream);
    weft__free(array);
}

/* An empty array may have other sizes whose product is beyond any integer. */
static bool has_no_elements(const weft_array *array)
{
    bool empty = !array->buffer;
    for (int k = 0; k < array->shape.ndim; k++)
        empty |= array->shape.size[k] == 0;
    return empty;
}

int64_t weft__array_count(const weft_array *array)
{
    int64_t count = 1;
    if (has_no_elements(array))
        return 0;
    for (int k = 0; k < array->shape.ndim; k++)
        count *= array->shape.size[k];
    return count;
}

bool weft__array_contiguous(const weft_array *array)
{
    int64_t step = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    if (weft__array_count(array) == 0)
        return true;
    for (int k = array->shape.ndim - 1; k >= 0; k--) {
        if (array->shape.size[k] != 1 && array->stride[k] != step)
            return false;
        step *= array->shape.size[k];
    }
    return true;
}

void weft__array_reach(const weft_array *array, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    if (has_no_elements(array))
        return;
    *high = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    for (int k = 0; k < array->shape.ndim; k++) {
        int64_t span = (array->shape.size[k] - 1) * array->stride[k];
        *(span < 0 ? low : high) += span;
    }
}

bool weft__array_overlaps(const weft_array *array)
{
    int64_t reached = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    bool used[WEFT_NDIM_MAX] = {false};
    for (int k = 0; k < array->shape.ndim; k++) {
        used[k] = array->shape.size[k] == 1; /* whatever its stride is */
        if (array->shape.size[k] == 0)
            return false;
    }
    for (;;) {
        int next = -1;
        for (int k = 0; k < array->shape.ndim; k++)
            if (!used[k] && (next < 0 || llabs(array->stride[k]) < llabs(array->stride[next])))
                next = k;
        if (next < 0)
            return false;
        used[next] = true;
        if (llabs(array->stride[next]) < reached)
            return true;
        reached += (array->shape.size[next] - 1) * llabs(array->stride[next]);
    }
}

bool weft__array_may_overlap(const weft_array *a, const weft_array *b)
{
    int64_t a_low, a_high, b_low, b_high;
    weft__array_reach(a, &a_low, &a_high);
    weft__array_reach(b, &b_low, &b_high);
    return a->data + a_low < b->data + b_high && b->data + b_low < a->data + a_high;
}

weft_status weft__array_check(const weft_array *array, const char *operand)
{
    if (!array)
        return weft__fail_null(operand);
    if (!array->buffer)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, operand,
                       "%s is a handle with no memory yet; give it some with weft_resize or "
                       "weft_assign",
                       operand);
    return WEFT_OK;
}

static bool repeats(const weft_array *array)
{
    for (int k = 0; k < array->shape.ndim; k++)
        if (array->stride[k] == 0 && array->shape.size[k] > 1)
            return true;
    return false;
}

weft_status weft__array_check_output(const weft_array *array, const char *operand)
{
    TRY(weft__array_check(array, operand));
    if (array->overlapping)
        return FAIL_AT(WEFT_ERROR_SHAPE, operand,
                       "%s is %s, so it cannot be written; copy it with weft_copy first", operand,
                       repeats(array) ? "broadcast: several of its elements share memory"
                                      : "of strides whose elements may share memory");
    if (array->read_only)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, operand,
                       "%s is over memory of another library that may not be written; copy it "
                       "with weft_copy first",
                       operand);
    return WEFT_OK;
}

weft_dtype weft_array_dtype(const weft_array *array)
{
    if (!array)
        return WEFT_DTYPE_DEFAULT;
    return array->dtype ? (weft_dtype)array->dtype : WEFT_F32; /* what a resize would make it */
}

int weft_array_ndim(const weft_array *array) { return array ? array->shape.ndim : 0; }

weft_shape weft_array_shape(const weft_array *array) { return array ? array->shape : WEFT_SCALAR; }

int64_t weft_array_size(const weft_array *array, int axis)
{
    OPERATION("weft_array_size");
    if (!array) {
        weft__fail_null("array");
        return -1;
    }
    if (weft__axis_check(axis, weft_array_ndim(array), &axis) != WEFT_OK)
        return -1;
    return array->shape.size[axis];
}

int64_t weft_array_stride(const weft_array *array, int axis)
{
    OPERATION("weft_array_stride");
    if (!array) {
        weft__fail_null("array");
        return 0;
    }
    if (weft__axis_check(axis, weft_array_ndim(array), &axis) != WEFT_OK)
        return 0;
    return array->stride[axis];
}

int64_t weft_array_count(const weft_array *array) { return array ? weft__array_count(array) : 0; }

size_t weft_array_bytes(const weft_array *array)
{
    return (size_t)weft_array_count(array) * weft_dtype_size(weft_array_dtype(array));
}

weft_device weft_array_device(const weft_array *array)
{
    if (!array)
        return WEFT_NO_DEVICE;
    return array->buffer ? weft__array_device(array) : array->request.device;
}

weft_memory weft_array_memory(const weft_array *array)
{
    return array && array->buffer ? (weft_memory)array->buffer->memory : WEFT_MEMORY_DEFAULT;
}

weft_stream *weft_array_stream(const weft_array *array) { return array ? array->stream : NULL; }

bool weft_array_is_contiguous(const weft_array *array)
{
    return array && weft__array_contiguous(array);
}

bool weft_array_is_handle(const weft_array *array) { return array && !array->buffer; }

bool weft_array_host_readable(const weft_array *array)
{
    if (!array || !array->buffer)
        return false;
    if (array->buffer->memory == WEFT_MEMORY_LENT)
        return true;
    const weft__device *device = weft__device_get(array->buffer->device);
    return device && device->backend->memory_host_readable(device->id.index,
                                                           (weft_memory)array->buffer->memory);
}

bool weft__array_reachable(const weft_array *array, weft_device device)
{
    const weft_device own = array->buffer->device;
    if (device.kind != WEFT_DEVICE_CPU)
        return weft_device_equal(own, device);
    return own.kind <= WEFT_DEVICE_CPU || weft_array_host_readable(array);
}

void *weft_array_data(const weft_array *array) { return array ? array->data : NULL; }

weft_status weft_eval(weft_array *array)
{
    OPERATION("weft_eval");
    TRY(weft__array_check(array, "array"));
    return weft__buffer_wait(array->buffer, false, true);
}
