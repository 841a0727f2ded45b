/* Creation: empty memory and the kernels that fill it. */
#include "codegen/interpreter/mode.h"
#include "core/device.h"
#include "core/record.h"
#include "kernel/run.h"
#include "ops/copy.h"
#include "ops/number.h"
#include <math.h>
#include <string.h>

static weft_dtype dtype_or(const weft_options *options, weft_dtype otherwise)
{
    return options->dtype ? options->dtype : otherwise;
}

static const char *const result_name[] = {"result"};

/* Runs a kernel with one output on a new array; takes the array over if that fails. */
static weft_array *finish(weft_array *array, weft__builder *b, const uint64_t *scalars)
{
    weft_stream *stream;
    b->kernel.ndim = array->shape.ndim;
    weft_status status = weft__place(&array, result_name, 1, &stream);
    if (status == WEFT_OK)
        status = weft__kernel_run(&b->kernel, stream, &array->shape, &array, scalars);
    if (status == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

/* Small memory of the host's that no work uses is cleared at once, for less than a launch costs. */
static bool clear_now(const weft_array *array)
{
    enum { MOST = 64 << 10 };
    const weft__buffer *buffer = array->buffer;
    if (!buffer || buffer->device.kind != WEFT_DEVICE_CPU || buffer->bytes > MOST ||
        !weft__buffer_idle(buffer, NULL))
        return false;
    memset(buffer->data, 0, buffer->bytes);
    return true;
}

static weft_array *filled(const weft_shape *shape, weft_dtype dtype, const weft_operand *number,
                          const weft_options *options, const weft_array *like)
{
    bool zeroed;
    weft_stream *stream;
    if (weft_dtype_size(dtype) != 0)
        TRY_NULL(weft__number_check(number, dtype));
    weft_array *array = weft__array_new(shape, dtype, options, like, &zeroed);
    bool is_zero = number->dtype == WEFT_BOOL && number->value.u == 0;
    if (!array || (is_zero && !weft__recording() && (zeroed || clear_now(array))))
        return array;
    weft_status status = weft__place(&array, result_name, 1, &stream);
    if (status == WEFT_OK)
        status = weft__fill_run(array, number, stream);
    if (status == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

/* Zero and one are booleans, which every dtype takes. */
static weft_operand truth(bool value)
{
    weft_operand number = {WEFT_OPERAND_NUMBER, WEFT_BOOL, {0}};
    number.value.u = value;
    return number;
}

weft_array *weft_empty_with(weft_shape shape, const weft_options *given)
{
    OPERATION("weft_empty");
    weft_options options = weft__options_of(given);
    return weft__array_new(&shape, dtype_or(&options, WEFT_F32), &options, NULL, NULL);
}

static weft_array *constant(const weft_shape *shape, bool value, const weft_options *given)
{
    weft_options options = weft__options_of(given);
    weft_operand number = truth(value);
    return filled(shape, dtype_or(&options, WEFT_F32), &number, &options, NULL);
}

weft_array *weft_zeros_with(weft_shape shape, const weft_options *options)
{
    OPERATION("weft_zeros");
    return constant(&shape, false, options);
}

weft_array *weft_ones_with(weft_shape shape, const weft_options *options)
{
    OPERATION("weft_ones");
    return constant(&shape, true, options);
}

weft_array *weft_full_with(weft_shape shape, weft_operand number, const weft_options *given)
{
    OPERATION("weft_full");
    weft_options options = weft__options_of(given);
    weft_dtype own = number.dtype == WEFT_F64 ? WEFT_F32 : (weft_dtype)number.dtype;
    if (number.tag != WEFT_OPERAND_NUMBER)
        return FAIL_AT_NULL(WEFT_ERROR_ARGUMENT, "number",
                            "an array was given where a C number was expected");
    return filled(&shape, dtype_or(&options, own), &number, &options, NULL);
}

weft_array *weft_empty_like_with(weft_array *array, const weft_options *given)
{
    OPERATION("weft_empty_like");
    weft_options options = weft__options_of(given);
    TRY_NULL(weft__array_check(array, "array"));
    weft__place_like(&options, array);
    weft_dtype dtype = dtype_or(&options, (weft_dtype)array->dtype);
    return weft__array_new(&array->shape, dtype, &options, array, NULL);
}

static weft_array *filled_like(weft_array *array, const weft_operand *number,
                               const weft_options *given)
{
    weft_options options = weft__options_of(given);
    TRY_NULL(weft__array_check(array, "array"));
    weft__place_like(&options, array);
    weft_dtype dtype = dtype_or(&options, (weft_dtype)array->dtype);
    return filled(&array->shape, dtype, number, &options, array);
}

weft_array *weft_zeros_like_with(weft_array *array, const weft_options *options)
{
    OPERATION("weft_zeros_like");
    weft_operand number = truth(false);
    return filled_like(array, &number, options);
}

weft_array *weft_ones_like_with(weft_array *array, const weft_options *options)
{
    OPERATION("weft_ones_like");
    weft_operand number = truth(true);
    return filled_like(array, &number, options);
}

weft_array *weft_full_like_with(weft_array *array, weft_operand number, const weft_options *options)
{
    OPERATION("weft_full_like");
    return filled_like(array, &number, options);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* An f64 element as the array's dtype, stored. */
static void store_f64(weft__builder *b, int operand, int32_t value)
{
    weft__element element = {.part = {value}, .dtype = WEFT_F64};
    weft_dtype dtype = (weft_dtype)b->kernel.operands[operand].dtype;
    weft__build_store(b, operand, weft__build_convert(b, element, dtype));
}

/* Not inlined, as the next two: their arithmetic must stay between the calls that set the CPU's
 * mode. */
__attribute__((noinline)) static weft_status arange_count(double start, double stop, double step,
                                                          int64_t *count)
{
    if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "start is %g, stop %g and step %g; finite numbers and a step other than 0 were "
                    "expected",
                    start, stop, step);
    double steps = ceil((stop - start) / step);
    if (!(steps < 9.2e18))
        return FAIL(WEFT_ERROR_SHAPE,
                    "from %g to %g by %g are %g elements; less than 2^63 are possible", start, stop,
                    step, steps);
    double last =
        fma(steps - 1, step, start); /* the quotient was rounded: 1, 1.1, 1.2 end below 1.3 */
    if (steps > 0 && (step > 0 ? last >= stop : last <= stop))
        steps--;
    *count = steps > 0 ? (int64_t)steps : 0;
    return WEFT_OK;
}

weft_array *weft_arange_with(double start, double stop, double step, const weft_options *given)
{
    weft__builder b;
    weft_shape shape = {1, {0}};
    uint64_t scalars[] = {bits_of(start), bits_of(step)};
    OPERATION("weft_arange");
    weft_options options = weft__options_of(given);
    weft__mode mode = weft__mode_enter();
    weft_status status = arange_count(start, stop, step, &shape.size[0]);
    weft__mode_leave(mode);
    TRY_NULL(status);
    weft_dtype dtype = dtype_or(&options, WEFT_F32);
    weft_array *array = weft__array_new(&shape, dtype, &options, NULL, NULL);
    if (!array)
        return NULL;
    weft__build_begin(&b);
    int out = weft__build_operand(&b, dtype, true);
    int32_t first = weft__build_scalar(&b, WEFT_F64), by = weft__build_scalar(&b, WEFT_F64);
    int32_t index = weft__build_index(&b, 0);
    int32_t k = weft__build(&b, WEFT__OP_cast, WEFT_F64, index, 0, 0);
    store_f64(&b, out, weft__build(&b, WEFT__OP_fma, WEFT_F64, k, by, first));
    return finish(array, &b, scalars);
}

__attribute__((noinline)) static double linspace_step(double start, double stop, int64_t count)
{
    double steps = count > 1 ? (double)(count - 1) : 1;
    return isfinite(stop - start) ? (stop - start) / steps : stop / steps - start / steps;
}

weft_array *weft_linspace_with(double start, double stop, int64_t count, const weft_options *given)
{
    weft__builder b;
    weft_shape shape = {1, {count}};
    weft__mode mode = weft__mode_enter();
    double step = linspace_step(start, stop, count);
    weft__mode_leave(mode);
    uint64_t scalars[] = {bits_of(start), bits_of(stop), bits_of(step), (uint64_t)count - 1};
    OPERATION("weft_linspace");
    weft_options options = weft__options_of(given);
    if (!isfinite(start) || !isfinite(stop))
        return FAIL_NULL(WEFT_ERROR_ARGUMENT,
                         "start is %g and stop %g; finite numbers were expected", start, stop);
    if (count < 0)
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, "count", "count is %lld; 0 or more was expected",
                            (long long)count);
    weft_dtype dtype = dtype_or(&options, WEFT_F32);
    weft_array *array = weft__array_new(&shape, dtype, &options, NULL, NULL);
    if (!array)
        return NULL;
    weft__build_begin(&b);
    int out = weft__build_operand(&b, dtype, true);
    int32_t first = weft__build_scalar(&b, WEFT_F64), last = weft__build_scalar(&b, WEFT_F64);
    int32_t by = weft__build_scalar(&b, WEFT_F64), end = weft__build_scalar(&b, WEFT_I64);
    int32_t index = weft__build_index(&b, 0);
    int32_t k = weft__build(&b, WEFT__OP_cast, WEFT_F64, index, 0, 0);
    int32_t inner = weft__build(&b, WEFT__OP_fma, WEFT_F64, k, by, first);
    /* the last element is `stop` itself, unless it is also the first */
    int32_t zero = weft__build_constant(&b, WEFT_I64, 0);
    int32_t is_end = weft__build(&b, WEFT__OP_eq, WEFT_BOOL, index, end, 0);
    int32_t later = weft__build(&b, WEFT__OP_lt, WEFT_BOOL, zero, index, 0);
    int32_t take_stop = weft__build(&b, WEFT__OP_and, WEFT_BOOL, is_end, later, 0);
    store_f64(&b, out, weft__build(&b, WEFT__OP_select, WEFT_F64, take_stop, last, inner));
    return finish(array, &b, scalars);
}

weft_array *weft_eye_with(int64_t rows, int64_t columns, int64_t diagonal,
                          const weft_options *given)
{
    weft__builder b;
    weft_shape shape = {2, {rows, columns}};
    uint64_t scalars[] = {(uint64_t)diagonal};
    OPERATION("weft_eye");
    if (rows < 0 || columns < 0)
        return FAIL_AT_NULL(WEFT_ERROR_SHAPE, rows < 0 ? "rows" : "columns",
                            "rows is %lld and columns %lld; 0 or more was expected",
                            (long long)rows, (long long)columns);
    weft_options options = weft__options_of(given);
    weft_dtype dtype = dtype_or(&options, WEFT_F32);
    weft_array *array = weft__array_new(&shape, dtype, &options, NULL, NULL);
    if (!array)
        return NULL;
    weft__build_begin(&b);
    int out = weft__build_operand(&b, dtype, true);
    int32_t k = weft__build_scalar(&b, WEFT_I64);
    int32_t row = weft__build_index(&b, 0), column = weft__build_index(&b, 1);
    int32_t offset = weft__build(&b, WEFT__OP_sub, WEFT_I64, column, row, 0);
    weft__element on = {.dtype = WEFT_BOOL};
    on.part[0] = weft__build(&b, WEFT__OP_eq, WEFT_BOOL, offset, k, 0);
    weft__build_store(&b, out, weft__build_convert(&b, on, dtype));
    return finish(array, &b, scalars);
}
