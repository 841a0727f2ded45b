/* Copies, casts, assignments and fills: kernels of one load and one store. */
#include "ops/copy.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/view.h"
#include "kernel/move.h"
#include "kernel/run.h"
#include "ops/number.h"
#include <string.h>

weft_status weft__copy_counted(weft_array *target, weft_array *source, weft_stream *stream)
{
    const weft_device from = weft__array_device(source);
    const bool away = from.kind > WEFT_DEVICE_CPU && !weft_device_equal(from, stream->device);
    const bool here =
        weft_device_equal(from, stream->device) || stream->device.kind == WEFT_DEVICE_CPU;
    TRY(weft__move(target, source, stream));
    weft__statistics *s = &weft__device_get(away ? from : stream->device)->statistics;
    COUNT(*(away ? &s->copies_to_host : here ? &s->copies_on_device : &s->copies_to_device), 1);
    COUNT(*(away   ? &s->bytes_to_host
            : here ? &s->bytes_on_device
                   : &s->bytes_to_device),
          weft_array_bytes(target));
    return WEFT_OK;
}

static weft_status check_broadcast(const weft_array *target, const weft_array *source)
{
    weft_shape both;
    TRY(weft__shape_broadcast(&target->shape, &source->shape, &both));
    if (weft_shape_equal(both, target->shape))
        return WEFT_OK;
    return FAIL_AT(
        WEFT_ERROR_SHAPE, "source", "source has shape %s, which does not broadcast to target's %s",
        weft__shape_text_of(&source->shape).text, weft__shape_text_of(&target->shape).text);
}

/* A handle takes over the memory of a copy, made where the source is, or where the handle was to be
 * if the source is lent; it is a handle still if that fails. */
static weft_status assign_to_handle(weft_array *target, weft_array *source)
{
    TRY(weft__array_check(source, "source"));
    weft_options options = {.struct_size = sizeof options,
                            .memory = target->request.memory,
                            .allocator = target->request.allocator,
                            .user_allocator = target->request.user_allocator,
                            .stream = target->stream ? target->stream : source->stream};
    if (target->stream && source->stream && !weft_stream_equivalent(target->stream, source->stream))
        return FAIL_AT(WEFT_ERROR_PLACEMENT, "source",
                       "target and source are bound to streams that are not equivalent; rebind one "
                       "with weft_asarray(…, .stream = …)");
    if (!options.stream && weft__array_is_lent(source))
        options.device = target->request.device;
    weft_array *copy = weft__copy_new(source, &options);
    if (!copy)
        return weft_error_code();
    target->dtype = copy->dtype;
    target->shape = copy->shape;
    memcpy(target->stride, copy->stride, sizeof target->stride);
    target->data = copy->data;
    target->buffer = copy->buffer;
    target->layout = weft__thread_number();
    target->request.device = copy->request.device;
    copy->buffer = NULL;
    weft_array_release(copy);
    return WEFT_OK;
}

static weft_status assign(weft_array *target, weft_array *source, bool cast)
{
    static const char *const names[] = {"target", "source"};
    weft_array *arrays[] = {target, source};
    weft_stream *stream;
    if (!target)
        return weft__fail_null("target");
    if (!target->buffer)
        return assign_to_handle(target, source);
    TRY(weft__array_check_output(target, "target"));
    TRY(weft__array_check(source, "source"));
    if (!cast && !weft_dtype_assignable((weft_dtype)target->dtype, (weft_dtype)source->dtype))
        return FAIL_AT(WEFT_ERROR_DTYPE, "source",
                       "%s does not become %s without a cast; use weft_assign_cast or weft_cast",
                       weft_dtype_name((weft_dtype)source->dtype),
                       weft_dtype_name((weft_dtype)target->dtype));
    TRY(check_broadcast(target, source));
    TRY(weft__place(arrays, names, 2, &stream));
    return weft__copy_counted(target, source, stream);
}

weft_status weft_assign(weft_array *target, weft_array *source)
{
    OPERATION("weft_assign");
    return assign(target, source, false);
}

weft_status weft_assign_cast(weft_array *target, weft_array *source)
{
    OPERATION("weft_assign_cast");
    return assign(target, source, true);
}

weft_array *weft__copy_new(weft_array *source, const weft_options *options)
{
    static const char *const names[] = {"array"};
    weft_stream *stream = options->stream;
    weft_dtype dtype = options->dtype ? options->dtype : (weft_dtype)source->dtype;
    bool named = stream || options->device.kind != WEFT_DEVICE_NONE;
    TRY_NULL(named ? WEFT_OK : weft__place_lent(source));
    weft_array *copy = weft__array_new(&source->shape, dtype, options, source, NULL);
    if (!copy)
        return NULL;
    weft_status status = stream ? WEFT_OK : weft__place(&copy, names, 1, &stream);
    if (status == WEFT_OK)
        status = weft__copy_counted(copy, source, stream);
    if (status == WEFT_OK)
        return copy;
    weft_array_release(copy);
    return NULL;
}

weft_array *weft_copy_with(weft_array *array, const weft_options *given)
{
    weft_options options = weft__options_of(given);
    OPERATION("weft_copy");
    TRY_NULL(weft__array_check(array, "array"));
    weft__place_like(&options, array);
    return weft__copy_new(array, &options);
}

weft_array *weft_cast(weft_array *array, weft_dtype dtype)
{
    weft_options options = {.struct_size = sizeof options, .dtype = dtype};
    OPERATION("weft_cast");
    TRY_NULL(weft__array_check(array, "array"));
    if (weft_dtype_size(dtype) == 0)
        return weft__fail_dtype(dtype), NULL;
    options.stream = array->stream;
    return weft__copy_new(array, &options);
}

/* A view of the array that is on the device, if one is given, and bound to the stream. It stays
 * bound to a stream of that device. */
static weft_array *rebound(weft_array *array, weft_device device, weft_stream *stream)
{
    weft_array *same = weft__array_view(array);
    if (!same)
        return NULL;
    if (device.kind != WEFT_DEVICE_NONE)
        same->on_host = !weft_device_equal(device, array->buffer->device);
    const bool moved = device.kind != WEFT_DEVICE_NONE && same->stream &&
                       !weft_device_equal(device, same->stream->device);
    if (stream || moved) {
        weft_stream_release(same->stream);
        same->stream = weft_stream_retain(stream);
    }
    return same;
}

static weft_status check_copying(weft_copying copy)
{
    if ((unsigned)copy <= WEFT_COPY_ALWAYS)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "copy",
                   "copy is %d; WEFT_COPY_IF_NEEDED, _NEVER or _ALWAYS was expected", (int)copy);
}

weft_array *weft_to_device(weft_array *array, weft_device device, weft_stream *stream)
{
    weft_options options = {.struct_size = sizeof options, .device = device, .stream = stream};
    OPERATION("weft_to_device");
    TRY_NULL(weft__array_check(array, "array"));
    if (device.kind == WEFT_DEVICE_NONE)
        return FAIL_AT_NULL(WEFT_ERROR_DEVICE, "device", "no device was given");
    if (!weft__device_get(device))
        return NULL;
    if (array->buffer && array->buffer->memory == WEFT_MEMORY_HOST) /* is asked to leave the host */
        options.memory = WEFT_MEMORY_DEVICE;
    if (!weft_device_equal(weft__array_device(array), device))
        return weft__copy_new(array, &options);
    return stream && stream != array->stream ? rebound(array, device, stream)
                                             : weft_array_retain(array);
}

static weft_device wanted_device(const weft_options *options)
{
    const bool by_stream = options->device.kind == WEFT_DEVICE_NONE && options->stream;
    return by_stream ? options->stream->device : options->device;
}

/* Whether the array already is what the options ask for, or is as a view that the device can use.
 */
static bool fits(const weft_array *array, const weft_options *options)
{
    weft_device wanted = wanted_device(options);
    bool device = wanted.kind == WEFT_DEVICE_NONE || weft__array_reachable(array, wanted);
    bool memory = !options->memory || options->memory == (weft_memory)array->buffer->memory;
    bool dtype = !options->dtype || options->dtype == (weft_dtype)array->dtype;
    return device && memory && dtype && !options->allocator && !options->user_allocator;
}

weft_array *weft_asarray_with(weft_array *array, const weft_options *given)
{
    weft_options options = weft__options_of(given);
    OPERATION("weft_asarray");
    TRY_NULL(weft__array_check(array, "array"));
    if (options.device.kind != WEFT_DEVICE_NONE && !weft__device_get(options.device))
        return NULL;
    TRY_NULL(check_copying(options.copy));
    bool view = options.copy != WEFT_COPY_ALWAYS && fits(array, &options);
    if (!view && options.copy == WEFT_COPY_NEVER)
        return FAIL_AT_NULL(
            WEFT_ERROR_PLACEMENT, "copy",
            "a copy is needed (the array is %s on %s, %s memory) and .copy forbids it",
            weft_dtype_name((weft_dtype)array->dtype), weft_device_id(weft__array_device(array)),
            weft_memory_name((weft_memory)array->buffer->memory));
    if (!view) {
        weft__place_like(&options, array);
        return weft__copy_new(array, &options);
    }
    return rebound(array, wanted_device(&options), options.stream);
}

weft_status weft_fill_with(weft_array *array, weft_operand number)
{
    static const char *const names[] = {"array"};
    weft_stream *stream;
    OPERATION("weft_fill");
    TRY(weft__array_check_output(array, "array"));
    TRY(weft__number_check(&number, (weft_dtype)array->dtype));
    TRY(weft__place(&array, names, 1, &stream));
    return weft__fill_run(array, &number, stream);
}

weft_status weft__fill_run(weft_array *array, const weft_operand *number, weft_stream *stream)
{
    weft__builder b;
    uint64_t scalars[2];
    weft__build_begin(&b);
    int out = weft__build_operand(&b, (weft_dtype)array->dtype, true);
    weft__element element = weft__number_build(&b, number, (weft_dtype)array->dtype, scalars);
    weft__build_store(&b, out, weft__build_convert(&b, element, (weft_dtype)array->dtype));
    b.kernel.ndim = array->shape.ndim;
    return weft__kernel_run(&b.kernel, stream, &array->shape, &array, scalars);
}

static weft_status infer_size(const weft_array *array, weft_shape *shape)
{
    int64_t known = 1, count = weft__array_count(array);
    int open = -1;
    for (int k = 0; k < shape->ndim && k < WEFT_NDIM_MAX; k++) {
        if (shape->size[k] != -1) {
            if (__builtin_mul_overflow(known, shape->size[k], &known))
                known = 0;
        } else if (open >= 0)
            return FAIL_AT(WEFT_ERROR_SHAPE, "shape",
                           "axes %d and %d both have size -1; only one size can be left open", open,
                           k);
        else
            open = k;
    }
    if (open < 0)
        return WEFT_OK;
    if (known <= 0 || count % known != 0)
        return FAIL_AT(WEFT_ERROR_SHAPE, "shape", "%lld elements do not fill %s", (long long)count,
                       weft__shape_text_of(shape).text);
    shape->size[open] = count / known;
    return WEFT_OK;
}

weft_array *weft_reshape_with(weft_array *array, weft_shape shape,
                              const weft_reshape_options *given)
{
    weft_reshape_options asked = {.struct_size = sizeof asked};
    weft__options_copy(&asked, sizeof asked, given);
    weft_copying copy = asked.copy;
    weft_options options = {.struct_size = sizeof options};
    int64_t count, strides[WEFT_NDIM_MAX] = {0};
    OPERATION("weft_reshape");
    TRY_NULL(weft__array_check(array, "array"));
    TRY_NULL(check_copying(copy));
    TRY_NULL(infer_size(array, &shape));
    TRY_NULL(weft__shape_check(&shape, &count));
    if (count != weft__array_count(array))
        return FAIL_AT_NULL(
            WEFT_ERROR_SHAPE, "shape", "an array of shape %s has %lld elements; shape %s has %lld",
            weft__shape_text_of(&array->shape).text, (long long)weft__array_count(array),
            weft__shape_text_of(&shape).text, (long long)count);
    bool fits_in_place = count == 0 || weft__reshape_strides(array, &shape, strides);
    if (copy != WEFT_COPY_ALWAYS && fits_in_place)
        return weft__view_of(array, 0, &shape, strides);
    if (copy == WEFT_COPY_NEVER)
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "shape",
                            "shape %s needs a copy of this view of shape %s, and .copy forbids it",
                            weft__shape_text_of(&shape).text,
                            weft__shape_text_of(&array->shape).text);
    options.stream = array->stream;
    weft_array *whole = weft__copy_new(array, &options);
    if (!whole)
        return NULL;
    size_t bytes;
    whole->shape = shape;
    weft__shape_strides(&shape, weft_dtype_size((weft_dtype)array->dtype), 1, whole->stride,
                        &bytes);
    return whole;
}
