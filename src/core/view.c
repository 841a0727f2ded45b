/* Views: slices, permutations, broadcasts, and reshapes that need no copy. */
#include "core/view.h"

weft_array *weft_permute(weft_array *array, weft_axes axes)
{
    OPERATION("weft_permute");
    TRY_NULL(weft__array_check(array, "array"));
    int ndim = array->shape.ndim;
    bool seen[WEFT_NDIM_MAX] = {false};
    weft_shape shape = {ndim, {0}};
    int64_t strides[WEFT_NDIM_MAX] = {0};
    if (axes.count != ndim)
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "axes",
                            "%d axes were given for an array of %d dimensions", axes.count, ndim);
    for (int k = 0; k < ndim; k++) {
        int axis;
        TRY_NULL(weft__axis_check(axes.axis[k], ndim, &axis));
        if (seen[axis])
            return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "axes", "axis %d is given twice", axis);
        seen[axis] = true;
        shape.size[k] = array->shape.size[axis];
        strides[k] = array->stride[axis];
    }
    return weft__view_of(array, 0, &shape, strides);
}

weft_array *weft__view_of(const weft_array *array, int64_t offset, const weft_shape *shape,
                          const int64_t *strides)
{
    weft_array *view = weft__array_view(array);
    if (!view)
        return NULL;
    view->data += offset;
    view->shape = *shape;
    for (int k = 0; k < shape->ndim; k++)
        view->stride[k] = strides[k];
    if (view->overlapping) /* a part of what repeats elements may have each once */
        view->overlapping = weft__array_overlaps(view);
    return view;
}

weft_array *weft_transpose(weft_array *array)
{
    OPERATION("weft_transpose");
    TRY_NULL(weft__array_check(array, "array"));
    int ndim = array->shape.ndim;
    weft_shape shape = {ndim, {0}};
    int64_t strides[WEFT_NDIM_MAX] = {0};
    for (int k = 0; k < ndim; k++) {
        shape.size[k] = array->shape.size[ndim - 1 - k];
        strides[k] = array->stride[ndim - 1 - k];
    }
    return weft__view_of(array, 0, &shape, strides);
}

weft_array *weft_broadcast(weft_array *array, weft_shape shape)
{
    OPERATION("weft_broadcast");
    int64_t count;
    size_t bytes, item = array ? weft_dtype_size((weft_dtype)array->dtype) : 0;
    weft_shape both;
    int64_t strides[WEFT_NDIM_MAX] = {0};
    TRY_NULL(weft__array_check(array, "array"));
    TRY_NULL(weft__shape_check(&shape, &count));
    if (__builtin_mul_overflow((size_t)count, item, &bytes))
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "shape", "%s takes more than 2^64 - 1 bytes",
                            weft__shape_text_of(&shape).text);
    TRY_NULL(weft__shape_broadcast(&array->shape, &shape, &both));
    if (!weft_shape_equal(both, shape))
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "shape",
                            "an array of shape %s cannot be broadcast to the smaller shape %s",
                            weft__shape_text_of(&array->shape).text,
                            weft__shape_text_of(&shape).text);
    bool repeats = false;
    for (int k = 0; k < shape.ndim; k++) {
        int own = k - (shape.ndim - array->shape.ndim);
        bool repeated = own < 0 || array->shape.size[own] != shape.size[k];
        strides[k] = repeated ? 0 : array->stride[own];
        repeats |= repeated && shape.size[k] > 1;
    }
    weft_array *view = weft__view_of(array, 0, &shape, strides);
    if (view)
        view->overlapping |= repeats;
    return view;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Python's rules for one range over an axis of that size. */
static weft_status resolve_step(const weft_range *range, int axis, int64_t size, int64_t *start,
                                int64_t *count)
{
    int64_t step = range->step, first = step < 0 ? size - 1 : 0, last = step < 0 ? -1 : size;
    if (step == 0)
        return FAIL_AT(WEFT_ERROR_SHAPE, "range", "the step of the range for axis %d is 0", axis);
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    int64_t from = range->start == WEFT_END ? first : range->start;
    int64_t to = range->stop == WEFT_END ? last : range->stop;
    if (range->start != WEFT_END)
        from = clamp(from < 0 ? from + size : from, low, high);
    if (range->stop != WEFT_END)
        to = clamp(to < 0 ? to + size : to, low, high);
    *start = from;
    *count = 0;
    if (step > 0 && to > from)
        *count = (to - from - 1) / step + 1;
    else if (step < 0 && from > to) /* -(step + 1) cannot overflow, -step can */
        *count = (int64_t)((uint64_t)(from - to - 1) / ((uint64_t) - (step + 1) + 1)) + 1;
    return WEFT_OK;
}

static weft_status resolve_at(const weft_range *range, int axis, int64_t size, int64_t *start)
{
    int64_t at = range->start;
    if (at < -size || at >= size)
        return FAIL_AT(WEFT_ERROR_SHAPE, "range",
                       "index %lld is out of range for axis %d of size %lld", (long long)at, axis,
                       (long long)size);
    *start = at < 0 ? at + size : at;
    return WEFT_OK;
}

typedef struct slicing {
    weft_shape shape;
    int64_t strides[WEFT_NDIM_MAX];
    int64_t offset;
    int axis; /* the next axis of the array */
    bool empty;
} slicing;

static weft_status add_axis(slicing *s, int64_t size, int64_t stride)
{
    if (s->shape.ndim == WEFT_NDIM_MAX)
        return FAIL_AT(WEFT_ERROR_SHAPE, "ranges", "the slice has more than %d dimensions",
                       WEFT_NDIM_MAX);
    s->shape.size[s->shape.ndim] = size;
    s->strides[s->shape.ndim++] = stride;
    return WEFT_OK;
}

static weft_status apply_range(slicing *s, const weft_array *array, const weft_range *range)
{
    int64_t start = 0, count = 0;
    if (range->kind == WEFT_RANGE_NEW_AXIS)
        return add_axis(s, 1, 0);
    if (range->kind != WEFT_RANGE_STEP && range->kind != WEFT_RANGE_AT)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "ranges",
                       "%d is no range; one index is WEFT_AT(%d), all of an axis is WEFT_ALL",
                       range->kind, range->kind);
    if (s->axis == array->shape.ndim)
        return FAIL_AT(WEFT_ERROR_SHAPE, "ranges",
                       "there are more ranges than the array's %d dimensions", array->shape.ndim);
    int axis = s->axis++;
    /* the strides of an empty array lead nowhere, and may be beyond any address */
    int64_t size = array->shape.size[axis], stride = s->empty ? 0 : array->stride[axis];
    if (range->kind == WEFT_RANGE_AT) {
        TRY(resolve_at(range, axis, size, &start));
        s->offset += start * stride;
        return WEFT_OK;
    }
    TRY(resolve_step(range, axis, size, &start, &count));
    if (count > 0)
        s->offset += start * stride;
    return add_axis(s, count, count > 1 ? stride * range->step : stride);
}

weft_array *weft_slice_with(weft_array *array, int count, const weft_range *ranges)
{
    slicing s = {.offset = 0};
    static const weft_range all = {WEFT_RANGE_STEP, WEFT_END, WEFT_END, 1};
    OPERATION("weft_slice");
    TRY_NULL(weft__array_check(array, "array"));
    s.empty = weft__array_count(array) == 0;
    if (count < 0 || (count > 0 && !ranges))
        return FAIL_AT_NULL(
            WEFT_ERROR_ARGUMENT, "ranges",
            "%d ranges at %s were given; 0 or more, and their address, were expected", count,
            ranges ? "an address" : "NULL");
    for (int k = 0; k < count; k++)
        TRY_NULL(apply_range(&s, array, &ranges[k]));
    while (s.axis < array->shape.ndim)
        TRY_NULL(apply_range(&s, array, &all));
    return weft__view_of(array, s.offset, &s.shape, s.strides);
}

/* Strides for the new shape over the same memory: groups of old axes that are contiguous with each
 * other are matched, from the last, with groups of new axes of the same number of elements. */
bool weft__reshape_strides(const weft_array *array, const weft_shape *shape, int64_t *strides)
{
    int old = array->shape.ndim - 1;
    int64_t item = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    int64_t step = item, left = 1; /* elements of the current old group not used yet */
    for (int k = shape->ndim - 1; k >= 0; k--) {
        int64_t size = shape->size[k];
        if (size == 1) {
            strides[k] = item;
            continue;
        }
        if (left == 1) { /* begin the next group of old axes */
            while (old >= 0 && array->shape.size[old] == 1)
                old--;
            if (old < 0)
                return false;
            step = array->stride[old];
            left = array->shape.size[old--];
        }
        while (left % size != 0) { /* the new axis reaches into the next old one */
            while (old >= 0 && array->shape.size[old] == 1)
                old--;
            if (old < 0 || array->stride[old] != step * left)
                return false;
            left *= array->shape.size[old--];
        }
        strides[k] = step;
        step *= size;
        left /= size;
    }
    return true;
}
