/* Shapes: counting, broadcasting, positions and strides, with every product checked. */
#include "core/shape.h"
#include <stdio.h>
#include <string.h>

weft_status weft__shape_check(const weft_shape *shape, int64_t *count)
{
    int64_t product = 1;
    bool empty = false;
    if (shape->ndim < 0 || shape->ndim > WEFT_NDIM_MAX)
        return FAIL_AT(WEFT_ERROR_SHAPE, "shape",
                       "the shape has %d dimensions; 0 to %d are possible", shape->ndim,
                       WEFT_NDIM_MAX);
    for (int k = 0; k < shape->ndim; k++) {
        if (shape->size[k] < 0)
            return FAIL_AT(WEFT_ERROR_SHAPE, "shape",
                           "size %lld of axis %d is negative; a size is 0 or more",
                           (long long)shape->size[k], k);
        empty |= shape->size[k] == 0;
    }
    for (int k = 0; k < shape->ndim && !empty; k++)
        if (__builtin_mul_overflow(product, shape->size[k], &product))
            return FAIL_AT(WEFT_ERROR_SHAPE, "shape", "%s has more than 2^63 - 1 elements",
                           weft__shape_text_of(shape).text);
    *count = empty ? 0 : product;
    return WEFT_OK;
}

weft_status weft__shape_strides(const weft_shape *shape, size_t item, size_t row_alignment,
                                int64_t *strides, size_t *bytes)
{
    int64_t count, step = (int64_t)item;
    bool overflow = false;
    TRY(weft__shape_check(shape, &count));
    for (int k = shape->ndim - 1; k >= 0; k--) {
        strides[k] = step;
        overflow |= __builtin_mul_overflow(step, shape->size[k] > 0 ? shape->size[k] : 1, &step);
        if (k == shape->ndim - 1 && shape->ndim > 1) {
            int64_t padding = (int64_t)row_alignment - 1;
            overflow |= __builtin_add_overflow(step, padding, &step);
            step -= step % (int64_t)row_alignment;
        }
    }
    if (overflow && count > 0)
        return FAIL_AT(WEFT_ERROR_SHAPE, "shape", "%s takes more than 2^63 - 1 bytes",
                       weft__shape_text_of(shape).text);
    *bytes = count > 0 ? (size_t)step : 0;
    return WEFT_OK;
}

weft_status weft__shape_bytes(const weft_shape *shape, size_t item, size_t *bytes)
{
    int64_t strides[WEFT_NDIM_MAX];
    return weft__shape_strides(shape, item, 1, strides, bytes);
}

weft_status weft__shape_broadcast(const weft_shape *a, const weft_shape *b, weft_shape *result)
{
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    weft_shape both = {ndim, {0}};
    for (int k = 1; k <= ndim; k++) {
        int64_t x = k <= a->ndim ? a->size[a->ndim - k] : 1;
        int64_t y = k <= b->ndim ? b->size[b->ndim - k] : 1;
        if (x != y && x != 1 && y != 1)
            return FAIL(WEFT_ERROR_SHAPE,
                        "shapes %s and %s do not go together: sizes %lld and %lld, counted %d from "
                        "the last axis, differ and neither is 1",
                        weft__shape_text_of(a).text, weft__shape_text_of(b).text, (long long)x,
                        (long long)y, k);
        both.size[ndim - k] = x == 1 ? y : x;
    }
    *result = both;
    return WEFT_OK;
}

weft_status weft__axis_check(int axis, int ndim, int *result)
{
    if (axis < -ndim || axis >= ndim)
        return FAIL_AT(WEFT_ERROR_SHAPE, "axis",
                       "axis %d is out of range for an array of %d dimensions", axis, ndim);
    *result = axis < 0 ? axis + ndim : axis;
    return WEFT_OK;
}

weft_status weft_shape_count(weft_shape shape, int64_t *count)
{
    OPERATION("weft_shape_count");
    TRY(weft__check_result(count, "count"));
    return weft__shape_check(&shape, count);
}

bool weft_shape_equal(weft_shape a, weft_shape b)
{
    if (a.ndim != b.ndim)
        return false;
    for (int k = 0; k < a.ndim && k < WEFT_NDIM_MAX; k++)
        if (a.size[k] != b.size[k])
            return false;
    return true;
}

weft_status weft_shape_broadcast(weft_shape a, weft_shape b, weft_shape *result)
{
    int64_t count;
    weft_shape both;
    OPERATION("weft_shape_broadcast");
    TRY(weft__shape_check(&a, &count));
    TRY(weft__shape_check(&b, &count));
    TRY(weft__check_result(result, "result"));
    TRY(weft__shape_broadcast(&a, &b, &both));
    TRY(weft__shape_check(&both, &count));
    *result = both;
    return WEFT_OK;
}

weft_status weft_shape_position(weft_shape shape, int64_t index, int64_t *position)
{
    int64_t count;
    OPERATION("weft_shape_position");
    TRY(weft__shape_check(&shape, &count));
    if (index < 0 || index >= count)
        return FAIL_AT(WEFT_ERROR_SHAPE, "index",
                       "index %lld is out of range for shape %s, which has %lld elements",
                       (long long)index, weft__shape_text_of(&shape).text, (long long)count);
    if (shape.ndim > 0)
        TRY(weft__check_result(position, "position"));
    for (int k = shape.ndim - 1; k >= 0; k--) {
        position[k] = index % shape.size[k];
        index /= shape.size[k];
    }
    return WEFT_OK;
}

weft_status weft_shape_index(weft_shape shape, const int64_t *position, int64_t *index)
{
    int64_t count, sum = 0;
    OPERATION("weft_shape_index");
    TRY(weft__shape_check(&shape, &count));
    TRY(weft__check_result(index, "index"));
    if (shape.ndim > 0 && !position)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "position",
                       "position is NULL; a position along each of %d axes was expected",
                       shape.ndim);
    for (int k = 0; k < shape.ndim; k++)
        if (position[k] < 0 || position[k] >= shape.size[k])
            return FAIL_AT(WEFT_ERROR_SHAPE, "position",
                           "position %lld along axis %d is out of range for shape %s",
                           (long long)position[k], k, weft__shape_text_of(&shape).text);
    for (int k = 0; k < shape.ndim; k++)
        sum = sum * shape.size[k] + position[k];
    *index = sum;
    return WEFT_OK;
}

size_t weft_shape_format(weft_shape shape, char *text, size_t room)
{
    int ndim = shape.ndim < 0 ? 0 : shape.ndim > WEFT_NDIM_MAX ? WEFT_NDIM_MAX : shape.ndim;
    size_t length = 0;
    for (int k = -1; k <= ndim; k++) {
        char piece[32];
        const char *tail = k == ndim - 1 ? (ndim == 1 ? "," : "") : ", ";
        if (k < 0 || k == ndim)
            snprintf(piece, sizeof piece, "%s", k < 0 ? "(" : ")");
        else
            snprintf(piece, sizeof piece, "%lld%s", (long long)shape.size[k], tail);
        size_t size = strlen(piece);
        for (size_t i = 0; i < size; i++)
            if (text && length + i + 1 < room)
                text[length + i] = piece[i];
        length += size;
    }
    if (text && room)
        text[length < room ? length : room - 1] = 0;
    return length;
}

weft__shape_text weft__shape_text_of(const weft_shape *shape)
{
    weft__shape_text result;
    weft_shape_format(*shape, result.text, sizeof result.text);
    return result;
}
