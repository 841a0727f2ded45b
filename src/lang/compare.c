/* Comparing whole arrays: expressions that fold to one bool. */
#include "core/dtype.h"
#include "lang/evaluate.h"
#include "ops/copy.h"
#include "ops/number.h"
#include <weft/compare.h>
#include <weft/create.h>

typedef struct site {
    const char *text;
    size_t length;
} site;

#define SITE(function, code, operands)                                                             \
    {                                                                                              \
        function "\0" code "\0" operands, sizeof(function "\0" code "\0" operands) - 1             \
    }
/* Tolerances may be infinite, so infinities are looked at by themselves. */
#define CLOSE(x_, y_, more)                                                                        \
    SITE("weft_allclose",                                                                          \
         "u = " x_ "; v = " y_                                                                     \
         "; all(u == v || (isfinite(u) && isfinite(v) && abs(u - v) <= atol + rtol*abs(v))" more   \
         ")",                                                                                      \
         "x, y, atol, rtol")
#define BOTH_NAN " || (u != u && v != v)"

#define CLOSE_BOTH(x_, y_)                                                                         \
    {                                                                                              \
        CLOSE(x_, y_, ""), CLOSE(x_, y_, BOTH_NAN)                                                 \
    }
#define CLOSE_ALL(x_)                                                                              \
    {                                                                                              \
        CLOSE_BOTH(x_, "y"), CLOSE_BOTH(x_, "f64(y)"), CLOSE_BOTH(x_, "f32(y)")                    \
    }

/* By what x and y are compared as, and whether NaNs are equal. */
static const site close_sites[3][3][2] = {CLOSE_ALL("x"), CLOSE_ALL("f64(x)"), CLOSE_ALL("f32(x)")};
static const site equal_sites[2] = {
    SITE("weft_array_equal", "all(x == y)", "x, y"),
    SITE("weft_array_equal", "all(x == y || (x != x && y != y))", "x, y"),
};

static weft_compare_options options_of(const weft_compare_options *given)
{
    weft_compare_options o = {.struct_size = sizeof o};
    weft__options_copy(&o, sizeof o, given);
    return o;
}

static bool is_array(const weft_operand *operand) { return operand->tag != WEFT_OPERAND_NUMBER; }

static weft_status check_operands(const weft_operand operands[2])
{
    static const char *const names[] = {"x", "y"};
    for (int k = 0; k < 2; k++)
        if (is_array(&operands[k]))
            TRY(weft__array_check(operands[k].value.input, names[k]));
    return WEFT_OK;
}

static weft_dtype dtype_of(const weft_operand *operand)
{
    return (weft_dtype)(is_array(operand) ? operand->value.input->dtype : operand->dtype);
}

/* Integers as f64, halves as f32, for tolerances take the dtype of what they are compared with. So
 * does a C number in any case; where that is f32, it does so at once, and may be infinite then. */
static int compared_as(const weft_operand *operand, const weft_operand *other)
{
    const weft_dtype dtype = dtype_of(operand), others = dtype_of(other);
    if (weft__dtype_rank(dtype) <= WEFT__RANK_INTEGER)
        return 1;
    if (dtype == WEFT_F16 || dtype == WEFT_BF16)
        return 2;
    const bool narrow =
        others == WEFT_F16 || others == WEFT_BF16 || others == WEFT_F32 || others == WEFT_C64;
    return !is_array(operand) && weft__dtype_rank(dtype) == WEFT__RANK_FLOAT && narrow ? 2 : 0;
}

static weft_status run_close(const weft_operand given[2], const weft_compare_options *options,
                             weft_array **value)
{
    weft_compare_options o = options_of(options);
    TRY(check_operands(given));
    if (!(o.rtol >= 0) || !(o.atol >= 0))
        return FAIL(WEFT_ERROR_ARGUMENT, "rtol is %g and atol %g; 0 or more was expected", o.rtol,
                    o.atol);
    if (o.rtol == 0 && o.atol == 0) {
        o.rtol = 1e-5;
        o.atol = 1e-8;
    }
    const weft_operand operands[] = {given[0], given[1], WEFT_OPERAND(o.atol),
                                     WEFT_OPERAND(o.rtol)};
    const site *s = &close_sites[compared_as(&given[0], &given[1])]
                                [compared_as(&given[1], &given[0])][o.equal_nan];
    return weft__site_run(s->text, s->length, 4, operands, true, value);
}

static bool same_shapes(const weft_operand operands[2])
{
    weft_shape shapes[2] = {WEFT_SCALAR, WEFT_SCALAR};
    for (int k = 0; k < 2; k++)
        if (is_array(&operands[k]))
            shapes[k] = operands[k].value.input->shape;
    return weft_shape_equal(shapes[0], shapes[1]);
}

/* A new array of one element, or NULL. */
static weft_array *array_of(const weft_operand *number, weft_dtype dtype,
                            const weft_options *options)
{
    static const char *const names[] = {"result"};
    const weft_shape scalar = WEFT_SCALAR;
    weft_stream *stream;
    weft_array *array = weft__array_new(&scalar, dtype, options, NULL, NULL);
    if (array && weft__place(&array, names, 1, &stream) == WEFT_OK &&
        weft__fill_run(array, number, stream) == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

/* False, where the operands are. */
static weft_status make_false(const weft_operand operands[2], weft_array **value)
{
    static const char *const names[] = {"x", "y"};
    const weft_operand number = WEFT_OPERAND((bool)false);
    weft_array *arrays[2];
    weft_stream *stream;
    int count = 0;
    for (int k = 0; k < 2; k++)
        if (is_array(&operands[k]))
            arrays[count++] = operands[k].value.array;
    TRY(weft__place(arrays, count == 2 || is_array(&operands[0]) ? names : names + 1, count,
                    &stream));
    const weft_options options = weft__place_result(arrays, count, stream);
    *value = array_of(&number, WEFT_BOOL, &options);
    return *value ? WEFT_OK : weft_error_code();
}

/* Whether an array has no element that the number is. */
static bool is_beyond(const weft_operand *number, const weft_operand *array)
{
    const weft_dtype dtype = dtype_of(array);
    return !is_array(number) && weft__dtype_rank(dtype_of(number)) == WEFT__RANK_INTEGER &&
           weft__dtype_rank(dtype) == WEFT__RANK_INTEGER && !weft__number_fits(number, dtype);
}

static weft_status run_equal(const weft_operand operands[2], const weft_compare_options *options,
                             weft_array **value)
{
    const weft_compare_options o = options_of(options);
    const site *s = &equal_sites[o.equal_nan];
    TRY(check_operands(operands));
    if (o.rtol != 0 || o.atol != 0)
        return FAIL(WEFT_ERROR_ARGUMENT, ".rtol and .atol are for weft_allclose");
    if (!same_shapes(operands) || is_beyond(&operands[0], &operands[1]) ||
        is_beyond(&operands[1], &operands[0]))
        return make_false(operands, value);
    return weft__site_run(s->text, s->length, 2, operands, true, value);
}

typedef weft_status compare(const weft_operand operands[2], const weft_compare_options *options,
                            weft_array **value);

/* That of two C numbers, whichever comes first; what is longer than its type in C is no other
 * number. */
static weft_dtype common_dtype(const weft_operand *x, const weft_operand *y)
{
    const weft__rank x_rank = weft__dtype_rank(dtype_of(x)), y_rank = weft__dtype_rank(dtype_of(y));
    const weft__rank rank = x_rank > y_rank ? x_rank : y_rank;
    return rank == WEFT__RANK_COMPLEX ? WEFT_C128
           : rank == WEFT__RANK_FLOAT ? WEFT_F64
           : dtype_of(x) == WEFT_U64  ? WEFT_U64
                                      : WEFT_I64;
}

/* Of two numbers, one becomes an array. */
static weft_status run(compare *function, weft_operand x, weft_operand y,
                       const weft_compare_options *options, weft_array **value)
{
    const weft_options none = {.struct_size = sizeof none};
    if (is_array(&x) || is_array(&y))
        return function((weft_operand[]){x, y}, options, value);
    WEFT_AUTO weft_array *array = array_of(&x, common_dtype(&x, &y), &none);
    if (!array)
        return weft_error_code();
    return function((weft_operand[]){WEFT_OPERAND(array), y}, options, value);
}

/* Reads the answer: waits. */
static bool answer(weft_status status, weft_array *value)
{
    bool result = false;
    if (status == WEFT_OK && weft__item(value, &result, WEFT_BOOL) != WEFT_OK)
        result = false;
    if (status == WEFT_OK)
        weft_array_release(value);
    return result;
}

bool weft_allclose_with(weft_operand x, weft_operand y, const weft_compare_options *options)
{
    weft_array *value = NULL;
    OPERATION("weft_allclose");
    const weft_status status = run(run_close, x, y, options, &value);
    return answer(status, value);
}

bool weft_array_equal_with(weft_operand x, weft_operand y, const weft_compare_options *options)
{
    weft_array *value = NULL;
    OPERATION("weft_array_equal");
    const weft_status status = run(run_equal, x, y, options, &value);
    return answer(status, value);
}

weft_array *weft_allclose_new_with(weft_operand x, weft_operand y,
                                   const weft_compare_options *options)
{
    weft_array *value = NULL;
    OPERATION("weft_allclose_new");
    return run(run_close, x, y, options, &value) == WEFT_OK ? value : NULL;
}

weft_array *weft_array_equal_new_with(weft_operand x, weft_operand y,
                                      const weft_compare_options *options)
{
    weft_array *value = NULL;
    OPERATION("weft_array_equal_new");
    return run(run_equal, x, y, options, &value) == WEFT_OK ? value : NULL;
}
