/* Cumulative sums and products: the functions and what they check. */
#include "ops/cumulative.h"
#include "core/dtype.h"
#include "ops/copy.h"
#include <string.h>
#include <weft/cumulative.h>

static weft_dtype result_dtype(weft_dtype dtype)
{
    return weft__dtype_rank(dtype) <= WEFT__RANK_INTEGER ? weft__cumulative_dtype(dtype) : dtype;
}

static weft_status check_axis(const weft_array *array, int given, int *axis)
{
    *axis = given < 0 ? given + array->shape.ndim : given;
    if (*axis >= 0 && *axis < array->shape.ndim)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_SHAPE, "axis",
                   "axis %d is out of range for an array of %d dimensions", given,
                   array->shape.ndim);
}

/* The shape that the result has. A handle is given memory of it. */
static weft_status check_out(weft_array *array, const weft_shape *shape, weft_array *out)
{
    const weft_dtype dtype = result_dtype((weft_dtype)array->dtype);
    if (out->dtype && !weft_dtype_assignable((weft_dtype)out->dtype, dtype))
        return FAIL_AT(WEFT_ERROR_DTYPE, "out",
                       "out is %s and the result %s; use an out of that kind",
                       weft_dtype_name((weft_dtype)out->dtype), weft_dtype_name(dtype));
    if (!out->buffer) {
        weft__place_handle(out, &array, 1);
        return weft__array_become(out, dtype, shape);
    }
    if (!weft_shape_equal(out->shape, *shape))
        return FAIL_AT(WEFT_ERROR_SHAPE, "out", "out has shape %s and the result %s",
                       weft__shape_text_of(&out->shape).text, weft__shape_text_of(shape).text);
    return weft__array_check_output(out, "out");
}

static bool has_same_map(const weft_array *a, const weft_array *b)
{
    return a->data == b->data && a->dtype == b->dtype && weft_shape_equal(a->shape, b->shape) &&
           !memcmp(a->stride, b->stride, (size_t)a->shape.ndim * sizeof *a->stride);
}

/* The first element along the axis, and the others. */
static weft_status write_initial(const weft__cumulative *c, weft_array *rest)
{
    weft_array first = {.references = 1,
                        .dtype = rest->dtype,
                        .shape = rest->shape,
                        .data = rest->data,
                        .buffer = rest->buffer};
    const weft_operand number = WEFT_OPERAND((bool)c->product);
    memcpy(first.stride, rest->stride, sizeof first.stride);
    first.shape.size[c->axis] = 1;
    rest->data += rest->stride[c->axis];
    rest->shape.size[c->axis]--;
    return weft__fill_run(&first, &number, c->stream);
}

static weft_status run(const weft__cumulative *c, weft_array *array, const weft_array *out)
{
    const weft_options options = {.struct_size = sizeof options, .stream = c->stream};
    weft_array rest = {.references = 1,
                       .dtype = out->dtype,
                       .shape = out->shape,
                       .data = out->data,
                       .buffer = out->buffer};
    weft_array *copy = NULL;
    memcpy(rest.stride, out->stride, sizeof rest.stride);
    if (weft__array_may_overlap(array, out) && !has_same_map(array, out)) {
        copy = weft__copy_new(array, &options);
        if (!copy)
            return weft_error_code();
    }
    weft_status status = WEFT_OK;
    if (!weft_shape_equal(array->shape, out->shape))
        status = write_initial(c, &rest);
    if (status == WEFT_OK)
        status = weft__cumulative_run(c, copy ? copy : array, &rest);
    weft_array_release(copy);
    return status;
}

static weft_array *cumulative(weft_array *array, int axis, bool product,
                              const weft_cumulative_options *given)
{
    static const char *const names[] = {"array", "out"};
    weft_cumulative_options o = {.struct_size = sizeof o};
    weft__cumulative c = {.product = product};
    weft__options_copy(&o, sizeof o, given);
    TRY_NULL(weft__array_check(array, "array"));
    TRY_NULL(check_axis(array, axis, &c.axis));
    weft_shape shape = array->shape;
    shape.size[c.axis] += o.include_initial;
    if (o.out)
        TRY_NULL(check_out(array, &shape, o.out));
    TRY_NULL(weft__place((weft_array *[]){array, o.out}, names, o.out ? 2 : 1, &c.stream));
    const weft_options options = weft__place_result(&array, 1, c.stream);
    weft_array *out = o.out ? weft_array_retain(o.out)
                            : weft__array_new(&shape, result_dtype((weft_dtype)array->dtype),
                                              &options, NULL, NULL);
    if (!out || run(&c, array, out) == WEFT_OK)
        return out;
    weft_array_release(out);
    return NULL;
}

weft_array *weft_cumulative_sum_with(weft_array *array, int axis,
                                     const weft_cumulative_options *options)
{
    OPERATION("weft_cumulative_sum");
    return cumulative(array, axis, false, options);
}

weft_array *weft_cumulative_prod_with(weft_array *array, int axis,
                                      const weft_cumulative_options *options)
{
    OPERATION("weft_cumulative_prod");
    return cumulative(array, axis, true, options);
}
