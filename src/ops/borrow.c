/* Lending: arrays over memory that belongs to the user. */
#include "core/array.h"
#include "core/dtype.h"
#include "core/lent.h"
#include <stdlib.h>
#include <string.h>

/* Whether every element that the strides reach lies in [0, bytes). */
static weft_status check_reach(const weft_array *array, size_t bytes)
{
    int64_t low = 0, high = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    bool overflow = bytes > INT64_MAX;
    for (int k = 0; k < array->shape.ndim; k++) {
        int64_t span, size = array->shape.size[k];
        if (size == 0)
            return WEFT_OK;
        overflow |= __builtin_mul_overflow(size - 1, array->stride[k], &span);
        overflow |=
            __builtin_add_overflow(*(span < 0 ? &low : &high), span, span < 0 ? &low : &high);
    }
    if (overflow || low < 0 || high > (int64_t)bytes)
        return FAIL_AT(
            WEFT_ERROR_SHAPE, "strides",
            "elements of shape %s with these strides reach bytes %lld to %lld of the %zu that "
            "are lent",
            weft__shape_text_of(&array->shape).text, (long long)low, (long long)high, bytes);
    return WEFT_OK;
}

static weft_status check_borrow(const void *data, size_t bytes, const weft_shape *shape,
                                weft_dtype dtype)
{
    int64_t count;
    size_t item = weft_dtype_size(dtype), part = item;
    TRY(weft__shape_check(shape, &count));
    if (item == 0)
        return weft__fail_dtype(dtype);
    if (dtype == WEFT_C64 || dtype == WEFT_C128)
        part = item / 2;
    if (!data && (count > 0 || bytes > 0))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "data", "data is NULL; %zu bytes were announced",
                       bytes);
    if ((uintptr_t)data % part != 0)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "data",
                       "data at %p is not aligned to the %zu bytes of %s", data, part,
                       weft_dtype_name(dtype));
    return WEFT_OK;
}

static weft_status take_strides(weft_array *array, const int64_t *strides)
{
    size_t item = weft_dtype_size((weft_dtype)array->dtype), bytes;
    bool is_complex = array->dtype == WEFT_C64 || array->dtype == WEFT_C128;
    int64_t part = (int64_t)(is_complex ? item / 2 : item);
    if (!strides)
        return weft__shape_strides(&array->shape, item, 1, array->stride, &bytes);
    for (int k = 0; k < array->shape.ndim; k++) {
        array->stride[k] = strides[k];
        if (strides[k] % part != 0)
            return FAIL_AT(WEFT_ERROR_SHAPE, "strides",
                           "stride %lld of axis %d is no multiple of the %lld bytes of %s",
                           (long long)strides[k], k, (long long)part,
                           weft_dtype_name((weft_dtype)array->dtype));
    }
    return WEFT_OK;
}

/* Memory with two deleters would be freed twice. */
static weft_status check_deleter(weft__buffer *buffer, weft_deleter *deleter)
{
    if (!deleter || !buffer->data || weft__lent_add(buffer))
        return WEFT_OK;
    return FAIL_AT(
        WEFT_ERROR_ARGUMENT, "deleter",
        "the memory at %p is lent with a deleter already, which would free it twice; lend it "
        "again without one",
        (void *)buffer->data);
}

weft_array *weft_borrow_with(void *data, size_t bytes, weft_shape shape, weft_dtype dtype,
                             const weft_borrow_options *given)
{
    weft_borrow_options options = {.struct_size = sizeof options};
    int64_t none[WEFT_NDIM_MAX] = {0};
    OPERATION("weft_borrow");
    weft__options_copy(&options, sizeof options, given);
    TRY_NULL(check_borrow(data, bytes, &shape, dtype));
    weft__buffer *buffer = weft__buffer_lent(data, bytes, NULL, NULL);
    weft_array *array = buffer ? weft__array_over(buffer, dtype, &shape, none) : NULL;
    if (!array)
        return NULL;
    if (take_strides(array, options.strides) != WEFT_OK || check_reach(array, bytes) != WEFT_OK ||
        check_deleter(buffer, options.deleter) != WEFT_OK) {
        weft_array_release(array);
        return NULL;
    }
    array->overlapping = weft__array_overlaps(array);
    buffer->deleter = options.deleter;
    buffer->deleter_context = options.deleter_context;
    return array;
}
