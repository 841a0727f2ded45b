/* What an array is made of, in one struct. */
#include "core/array.h"
#include "core/dtype.h"
#include <string.h>
#include <weft/array.h>

weft_status weft_array_describe_sized(weft_array *array, weft_array_info *info, size_t info_size)
{
    weft_array_info all = {.bound = array && array->stream};
    OPERATION("weft_array_describe");
    TRY(weft__array_check(array, "array"));
    TRY(weft__check_result(info, "info"));
    all.data = array->data;
    all.read_only = array->read_only || array->overlapping;
    all.host_readable = weft_array_host_readable(array);
    all.ndim = array->shape.ndim;
    for (int k = 0; k < array->shape.ndim; k++) {
        all.shape[k] = array->shape.size[k];
        all.strides[k] = array->stride[k];
    }
    all.dtype = (weft_dtype)array->dtype;
    weft__dtype_typestr(all.dtype, all.typestr);
    all.device = weft__array_device(array);
    all.memory = (weft_memory)array->buffer->memory;
    all.stream = array->stream;
    if (!all.stream && all.device.kind != WEFT_DEVICE_NONE &&
        !(all.stream = weft__stream_current(all.device)))
        return weft_error_code();
    memset(info, 0, info_size);
    memcpy(info, &all, info_size < sizeof all ? info_size : sizeof all);
    return WEFT_OK;
}
