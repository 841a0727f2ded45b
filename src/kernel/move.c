/* Copies and casts: kernels of one load and one store. */
#include "kernel/move.h"
#include "core/allocate.h"
#include "kernel/build.h"
#include "kernel/run.h"

/* Whether every element is aligned to its size: those of lent complex arrays may be to their parts
 * only. */
static bool is_aligned(const weft_array *array)
{
    size_t item = weft_dtype_size((weft_dtype)array->dtype);
    bool aligned = (uintptr_t)array->data % item == 0;
    for (int k = 0; k < array->shape.ndim; k++)
        aligned &= array->stride[k] % (int64_t)item == 0;
    return aligned;
}

/* Elements of the same dtype are moved as integers of their size, so that one kernel serves all. */
static weft_dtype carrier_of(weft_dtype dtype)
{
    switch (weft_dtype_size(dtype)) {
    case 1:
        return WEFT_U8;
    case 2:
        return WEFT_U16;
    case 4:
        return WEFT_U32;
    case 8:
        return WEFT_U64;
    default:
        return dtype;
    }
}

typedef weft_status kernel_function(const weft__kernel *kernel, weft_stream *stream,
                                    const weft_shape *space, weft_array *const *arrays,
                                    const uint64_t *scalars);

static weft_status reserve(const weft__kernel *kernel, weft_stream *stream, const weft_shape *space,
                           weft_array *const *arrays, const uint64_t *scalars)
{
    weft__prepared *kept = NULL;
    const weft_status status = weft__kernel_reserve(kernel, &kept, stream, space, arrays, scalars);
    weft__free(kept);
    return status;
}

static weft_status call_copy(weft_array *target, weft_dtype to, weft_array *source, weft_dtype from,
                             weft_stream *stream, kernel_function *function)
{
    weft__builder b;
    weft_array *arrays[] = {source, target};
    weft__build_begin(&b);
    int in = weft__build_operand(&b, from, false), out = weft__build_operand(&b, to, true);
    weft__element element = weft__build_convert(&b, weft__build_load(&b, in), to);
    weft__build_store(&b, out, element);
    b.kernel.ndim = target->shape.ndim;
    return function(&b.kernel, stream, &target->shape, arrays, NULL);
}

static weft_status call_move(weft_array *target, weft_array *source, weft_stream *stream,
                             kernel_function *function)
{
    weft_dtype to = (weft_dtype)target->dtype, from = (weft_dtype)source->dtype;
    bool same = to == from && is_aligned(target) && is_aligned(source);
    return call_copy(target, same ? carrier_of(to) : to, source, same ? carrier_of(from) : from,
                     stream, function);
}

/* Between memory of the device and of the host the device copies faster than its kernels do. */
static bool is_between_kinds(const weft_array *target, const weft_array *source,
                             const weft_stream *stream)
{
    return stream->device.kind != WEFT_DEVICE_CPU && target->dtype == source->dtype &&
           weft_array_host_readable(target) != weft_array_host_readable(source) &&
           weft__shape_same(&target->shape, &source->shape);
}

weft_status weft__move(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (!weft__array_reachable(target, stream->device) ||
        !weft__array_reachable(source, stream->device))
        return weft__transfer(target, source, stream);
    if (is_between_kinds(target, source, stream)) {
        weft__rows rows;
        if (weft__array_contiguous(target) && weft__array_contiguous(source))
            return weft__transfer_bytes(target, source, stream);
        if (weft__transfer_has_rows(target, source, &rows))
            return weft__transfer_rows(target, source, &rows, stream);
    }
    return call_move(target, source, stream, weft__kernel_run);
}

weft_status weft__move_reserve(weft_array *target, weft_array *source, weft_stream *stream)
{
    weft__rows rows;
    if (!weft__array_reachable(target, stream->device) ||
        !weft__array_reachable(source, stream->device))
        return WEFT_OK;
    if (is_between_kinds(target, source, stream) &&
        ((weft__array_contiguous(target) && weft__array_contiguous(source)) ||
         weft__transfer_has_rows(target, source, &rows)))
        return WEFT_OK;
    return call_move(target, source, stream, reserve);
}
