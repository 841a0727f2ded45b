/* Moving elements between devices: packed on the one side, copied as bytes, unpacked on the other.
 */
#include "core/device.h"
#include "kernel/move.h"

static bool is_on_host(const weft_array *array) { return weft__array_reachable(array, WEFT_CPU); }

/* Where work on the array goes; what is the host's goes to the CPU. */
static weft_stream *stream_of(const weft_array *array)
{
    if (array->stream && !is_on_host(array))
        return array->stream;
    return weft__stream_current(is_on_host(array) ? WEFT_CPU : array->buffer->device);
}

/* A new array in C order where the other one is. */
static weft_array *new_beside(const weft_array *array, const weft_shape *shape, weft_dtype dtype)
{
    const weft_options options = {
        .struct_size = sizeof options,
        .device = is_on_host(array) ? WEFT_CPU : array->buffer->device,
    };
    return weft__array_new(shape, dtype, &options, NULL, NULL);
}

/* The source's elements in C order and of the target's dtype, where the source is. */
static weft_array *packed(weft_array *source, weft_dtype dtype)
{
    if (source->dtype == dtype && weft__array_contiguous(source))
        return weft_array_retain(source);
    weft_array *copy = new_beside(source, &source->shape, dtype);
    weft_stream *stream = copy ? stream_of(source) : NULL;
    if (stream && weft__move(copy, source, stream) == WEFT_OK)
        return copy;
    weft_array_release(copy);
    return NULL;
}

static weft__use use_of(const weft_array *array, bool write)
{
    return (weft__use){array->buffer, atomic_load(&array->buffer->generation), write,
                       weft_array_bytes(array) == array->buffer->elements};
}

/* Both are in C order; one of them is the stream's device's. */
static weft_status copy_bytes(weft_array *target, const weft_array *source, weft_stream *stream)
{
    const weft__use uses[] = {use_of(source, false), use_of(target, true)};
    weft__work work = {.kind = WEFT__WORK_COPY,
                       .operation = weft__operation(),
                       .uses = uses,
                       .uses_count = 2,
                       .of.copy = {target->data, source->data, weft_array_bytes(source)}};
    return weft__submit(stream, &work);
}

/* From one array in C order to another of the same shape and dtype, without waiting. Two devices
 * that are not the CPU meet in its memory. */
static weft_status copy_packed(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (is_on_host(source))
        return copy_bytes(target, source, stream);
    weft_stream *from = stream_of(source);
    if (!from)
        return weft_error_code();
    if (is_on_host(target))
        return copy_bytes(target, source, from);
    weft_array *between = weft__array_new(
        &source->shape, (weft_dtype)source->dtype,
        &(weft_options){.struct_size = sizeof(weft_options), .device = WEFT_CPU}, NULL, NULL);
    weft_status status = between ? copy_bytes(between, source, from) : weft_error_code();
    if (status == WEFT_OK)
        status = copy_bytes(target, between, stream);
    weft_array_release(between);
    return status;
}

static weft_status unpack(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (weft__shape_same(&target->shape, &source->shape) && weft__array_contiguous(target))
        return copy_packed(target, source, stream);
    weft_array *copy = new_beside(target, &source->shape, (weft_dtype)target->dtype);
    weft_status status = copy ? copy_packed(copy, source, stream) : weft_error_code();
    if (status == WEFT_OK)
        status = weft__move(target, copy, stream);
    weft_array_release(copy);
    return status;
}

weft_status weft__transfer(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (!weft__array_reachable(target, stream->device) && !(stream = stream_of(target)))
        return weft_error_code();
    if (is_on_host(target) && is_on_host(source)) { /* lent, or memory that both sides can use */
        weft_stream *here = weft__stream_current(WEFT_CPU);
        return here ? weft__move(target, source, here) : weft_error_code();
    }
    if (is_on_host(target) && !stream->async)
        TRY(weft__waits_check());
    weft_array *elements = packed(source, (weft_dtype)target->dtype);
    if (!elements)
        return weft_error_code();
    weft_status status = unpack(target, elements, stream);
    weft_array_release(elements);
    if (status == WEFT_OK && !stream->async)
        status = weft__buffer_wait(target->buffer, true, false);
    return status;
}
