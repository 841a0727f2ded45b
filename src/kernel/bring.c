/* Running kernels on memory that the device cannot reach: it is brought there and back. */
#include "kernel/bring.h"
#include "core/allocate.h"
#include "kernel/move.h"
#include "kernel/run.h"
#include <string.h>

bool weft__bring_is_needed(weft_array *const *arrays, uint32_t count, weft_device device)
{
    for (uint32_t i = 0; i < count; i++)
        if (!weft__array_reachable(arrays[i], device))
            return true;
    return false;
}

/* A new array there, with the elements of one that is read. A part of a complex number that is not
 * stored stays as it is, so those are brought in any case. */
static weft_array *bring(weft_array *array, bool output, weft_stream *stream)
{
    const weft_options options = {.struct_size = sizeof options, .device = stream->device};
    weft_array *there =
        weft__array_new(&array->shape, (weft_dtype)array->dtype, &options, NULL, NULL);
    const bool whole = output && array->dtype != WEFT_C64 && array->dtype != WEFT_C128;
    if (!there || whole || weft__move(there, array, stream) == WEFT_OK)
        return there;
    weft_array_release(there);
    return NULL;
}

static weft_status run(const weft__kernel *kernel, weft_stream *stream, const weft_shape *space,
                       weft_array *const *arrays, weft_array **brought, const uint64_t *scalars)
{
    for (uint32_t i = 0; i < kernel->operands_count; i++) {
        brought[i] = weft__array_reachable(arrays[i], stream->device)
                         ? weft_array_retain(arrays[i])
                         : bring(arrays[i], kernel->operands[i].output, stream);
        if (!brought[i])
            return weft_error_code();
    }
    TRY(weft__kernel_run(kernel, stream, space, brought, scalars));
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        if (kernel->operands[i].output && brought[i] != arrays[i])
            TRY(weft__move(arrays[i], brought[i], stream));
    return WEFT_OK;
}

weft_status weft__bring_and_run(const weft__kernel *kernel, weft_stream *stream,
                                const weft_shape *space, weft_array *const *arrays,
                                const uint64_t *scalars)
{
    weft_array **brought = weft__allocate_zeroed((kernel->operands_count + 1) * sizeof *brought);
    if (!brought)
        return WEFT_ERROR_MEMORY;
    const weft_status status = run(kernel, stream, space, arrays, brought, scalars);
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        weft_array_release(brought[i]);
    weft__free(brought);
    return status;
}
