/* Host memory: copies from and to it, and reading one element. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/record.h"
#include "core/view.h"
#include "core/warning.h"
#include "kernel/move.h"
#include "ops/copy.h"
#include "ops/number.h"
#include <string.h>

/* An array over host memory in C order; freed like any other. */
static weft_array *over_host(void *data, const weft_shape *shape, weft_dtype dtype)
{
    size_t bytes;
    int64_t strides[WEFT_NDIM_MAX] = {0};
    TRY_NULL(weft__shape_strides(shape, weft_dtype_size(dtype), 1, strides, &bytes));
    weft__buffer *buffer = weft__buffer_lent(data, bytes, NULL, NULL);
    return buffer ? weft__array_over(buffer, dtype, shape, strides) : NULL;
}

static weft_status check_size(const weft_shape *shape, weft_dtype dtype, const void *data,
                              size_t bytes)
{
    size_t whole;
    TRY(weft__shape_bytes(shape, weft_dtype_size(dtype), &whole));
    if (bytes != whole)
        return FAIL_AT(WEFT_ERROR_SHAPE, "bytes", "%zu bytes were given; %s of shape %s takes %zu",
                       bytes, weft_dtype_name(dtype), weft__shape_text_of(shape).text, whole);
    if (!data && bytes > 0)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "data", "data is NULL; %zu bytes were expected", bytes);
    return WEFT_OK;
}

static weft_status check_bytes(const weft_array *array, const void *data, size_t bytes)
{
    TRY(weft__array_check(array, "array"));
    return check_size(&array->shape, (weft_dtype)array->dtype, data, bytes);
}

/* Kernels use elements where they are aligned; host memory may be anywhere. */
static bool is_aligned(const void *data, weft_dtype dtype)
{
    return (uintptr_t)data % weft_dtype_size(dtype) == 0;
}

/* An array of the shape in memory that no queued work uses. */
static weft_array *staging(const weft_shape *shape, weft_dtype dtype, const weft__request *request)
{
    int64_t strides[WEFT_NDIM_MAX] = {0};
    size_t bytes;
    TRY_NULL(weft__shape_strides(shape, weft_dtype_size(dtype), 1, strides, &bytes));
    weft__buffer *buffer = weft__buffer_new(bytes, request, NULL);
    return buffer ? weft__array_over(buffer, dtype, shape, strides) : NULL;
}

/* What an asynchronous stream is to read must outlive this call: it gets a copy. */
static weft_array *snapshot(const weft_array *array, const void *data, size_t bytes)
{
    const weft__request request = {.device = WEFT_CPU};
    weft_array *copy = staging(&array->shape, (weft_dtype)array->dtype, &request);
    if (copy)
        memcpy(copy->data, data, bytes);
    return copy;
}

static weft_status copy_from_host(weft_array *array, const void *data, size_t bytes)
{
    static const char *const names[] = {"array"};
    weft_stream *stream;
    TRY(weft__record_refuse("it copies from memory of the host's; do that before"));
    TRY(weft__place(&array, names, 1, &stream));
    weft_dtype dtype = (weft_dtype)array->dtype;
    weft_array *source = stream->async || !is_aligned(data, dtype)
                             ? snapshot(array, data, bytes)
                             : over_host((void *)(uintptr_t)data, &array->shape, dtype);
    if (!source)
        return weft_error_code();
    weft_status status = weft__move(array, source, stream);
    weft_array_release(source);
    return status;
}

static void count_copy(const weft_array *array, bool to_host)
{
    weft_device id =
        array->buffer->device.kind == WEFT_DEVICE_NONE ? WEFT_CPU : array->buffer->device;
    weft__statistics *statistics = &weft__device_get(id)->statistics;
    COUNT(*(to_host ? &statistics->copies_to_host : &statistics->copies_to_device), 1);
    COUNT(*(to_host ? &statistics->bytes_to_host : &statistics->bytes_to_device),
          weft_array_bytes(array));
}

weft_status weft_copy_from_host(weft_array *array, const void *data, size_t bytes)
{
    OPERATION("weft_copy_from_host");
    TRY(check_bytes(array, data, bytes));
    TRY(weft__array_check_output(array, "array"));
    if (bytes == 0)
        return WEFT_OK;
    TRY(copy_from_host(array, data, bytes));
    count_copy(array, false);
    return WEFT_OK;
}

/* A few bytes from a device take as long as many. */
static void warn_of_read(const weft_array *array)
{
    enum { FEW = 64, OFTEN = 16 };
    static WEFT__THREAD_LOCAL unsigned reads;
    const weft_device device = array->buffer->device;
    if (device.kind > WEFT_DEVICE_CPU && weft_array_bytes(array) <= FEW && ++reads % OFTEN == 0)
        weft__warn(WEFT_WARNING_HOST_READS,
                   "%s: this thread reads a few bytes from %s for the %uth time, and waits each "
                   "time; keep results there, or read many at once with weft_copy_to_host",
                   weft__operation(), weft_device_id(device), reads);
}

/* CUDA writes to memory that it does not know by a thread, and to wake that takes longer than to
 * copy a few bytes: those go to pinned memory first. */
static bool takes_cell(const weft_array *array, weft_dtype dtype)
{
    return array->buffer->device.kind == WEFT_DEVICE_CUDA &&
           weft__array_count(array) * (int64_t)weft_dtype_size(dtype) <= WEFT__POOL_CELL &&
           !weft__array_reachable(array, WEFT_CPU);
}

static weft_status copy_to_cell(weft_array *array, weft_array *target)
{
    weft_stream *there =
        array->stream ? array->stream : weft__stream_current(array->buffer->device);
    if (!there)
        return weft_error_code();
    TRY(weft__waits_check());
    TRY(weft__move(target, array, there));
    return weft__buffer_wait(target->buffer, true, false);
}

static weft_status copy_by_cell(weft_array *array, void *data, weft_dtype dtype, void *cell)
{
    size_t bytes;
    int64_t strides[WEFT_NDIM_MAX] = {0};
    TRY(weft__shape_strides(&array->shape, weft_dtype_size(dtype), 1, strides, &bytes));
    weft__buffer *buffer =
        weft__buffer_foreign(array->buffer->device, WEFT_MEMORY_HOST, cell, bytes);
    weft_array *target = buffer ? weft__array_over(buffer, dtype, &array->shape, strides) : NULL;
    if (!target)
        return weft_error_code();
    const weft_status status = copy_to_cell(array, target);
    if (status == WEFT_OK)
        memcpy(data, cell, bytes);
    weft_array_release(target);
    return status;
}

/* Converts and copies on the calling thread. */
static weft_status copy_plain(weft_array *array, void *data, weft_dtype dtype)
{
    const weft__request request = {.device = WEFT_CPU};
    weft_stream *here = weft__stream_default(WEFT_CPU);
    if (!here)
        return weft_error_code();
    weft_array *target = is_aligned(data, dtype) ? over_host(data, &array->shape, dtype)
                                                 : staging(&array->shape, dtype, &request);
    if (!target)
        return weft_error_code();
    weft_status status = weft__move(target, array, here);
    if (status == WEFT_OK && target->data != data)
        memcpy(data, target->data, weft_array_bytes(target));
    weft_array_release(target);
    return status;
}

/* After the work that makes the array, and waits. */
static weft_status copy_out(weft_array *array, void *data, weft_dtype dtype)
{
    weft_status status;
    if (weft__warnings_are_on())
        warn_of_read(array);
    TRY(weft__buffer_wait(array->buffer, true, false)); /* tells of its failure, if it has one */
    const weft_error before = *weft_error_last();
    weft__device *device =
        takes_cell(array, dtype) ? weft__device_get(array->buffer->device) : NULL;
    void *cell = device ? weft__pool_cell_take(device) : NULL;
    if (cell) {
        status = copy_by_cell(array, data, dtype, cell);
        weft__pool_cell_give(device, cell, status == WEFT_OK);
    } else {
        weft__error_restore(&before); /* it can be done without */
        status = copy_plain(array, data, dtype);
    }
    if (status == WEFT_OK)
        count_copy(array, true);
    return status;
}

weft_status weft__copy_to_host(weft_array *array, void *data, size_t bytes)
{
    TRY(check_bytes(array, data, bytes));
    return bytes == 0 ? WEFT_OK : copy_out(array, data, (weft_dtype)array->dtype);
}

weft_status weft_copy_to_host(weft_array *array, void *data, size_t bytes)
{
    OPERATION("weft_copy_to_host");
    return weft__copy_to_host(array, data, bytes);
}

weft_array *weft_from_host_with(const void *data, size_t bytes, weft_shape shape,
                                const weft_options *given)
{
    OPERATION("weft_from_host");
    weft_options options = weft__options_of(given);
    weft_dtype dtype = options.dtype ? options.dtype : WEFT_F32;
    if (weft_dtype_size(dtype) != 0)
        TRY_NULL(check_size(&shape, dtype, data, bytes));
    weft_array *array = weft__array_new(&shape, dtype, &options, NULL, NULL);
    if (!array)
        return NULL;
    weft_status status = bytes > 0 ? copy_from_host(array, data, bytes) : WEFT_OK;
    if (status == WEFT_OK) {
        count_copy(array, false);
        return array;
    }
    weft_array_release(array);
    return NULL;
}

/* An integer must fit the one that it is read into. */
static weft_status check_item(weft_array *first, weft_dtype dtype)
{
    weft_dtype from = (weft_dtype)first->dtype;
    bool integers = weft__dtype_rank(from) == WEFT__RANK_INTEGER &&
                    weft__dtype_rank(dtype) == WEFT__RANK_INTEGER;
    weft_operand number = {WEFT_OPERAND_NUMBER, from <= WEFT_I64 ? WEFT_I64 : WEFT_U64, {0}};
    if (!integers || from == dtype)
        return WEFT_OK;
    TRY(copy_out(first, &number.value, (weft_dtype)number.dtype));
    return weft__number_check(&number, dtype);
}

weft_status weft__item(weft_array *array, void *out, weft_dtype dtype)
{
    weft_shape one = {0, {0}};
    TRY(weft__array_check(array, "array"));
    if (weft__array_count(array) == 0)
        return FAIL_AT(WEFT_ERROR_SHAPE, "array", "an array of shape %s has no first element",
                       weft__shape_text_of(&array->shape).text);
    if (!out || weft_dtype_size(dtype) == 0)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "out", "out is %s; a place for a number was expected",
                       out ? "of no known dtype" : "NULL");
    if (weft__dtype_rank((weft_dtype)array->dtype) > weft__dtype_rank(dtype))
        return FAIL_AT(WEFT_ERROR_DTYPE, "out",
                       "%s does not become %s without a cast; use weft_cast",
                       weft_dtype_name((weft_dtype)array->dtype), weft_dtype_name(dtype));
    weft_array *first = weft__view_of(array, 0, &one, NULL);
    if (!first)
        return weft_error_code();
    weft_status status = check_item(first, dtype);
    if (status == WEFT_OK)
        status = copy_out(first, out, dtype);
    weft_array_release(first);
    return status;
}

weft_status weft_item_as(weft_array *array, void *out, weft_dtype dtype)
{
    OPERATION("weft_item");
    return weft__item(array, out, dtype);
}
