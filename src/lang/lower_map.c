/* Element-by-element operations: one primitive, a few, or a function of src/kernel/math. */
#include "lang/lower_map.h"
#include "kernel/math.h"

/* Operations that are one primitive for every real dtype. */
static const struct {
    uint8_t op, known;
} primitives[WEFT__LANG_OPERATION_END] = {
    [WEFT__LANG_add] = {WEFT__OP_add, 1},         [WEFT__LANG_subtract] = {WEFT__OP_sub, 1},
    [WEFT__LANG_multiply] = {WEFT__OP_mul, 1},    [WEFT__LANG_divide] = {WEFT__OP_div, 1},
    [WEFT__LANG_modulo] = {WEFT__OP_rem, 1},      [WEFT__LANG_negative] = {WEFT__OP_neg, 1},
    [WEFT__LANG_bitwise_and] = {WEFT__OP_and, 1}, [WEFT__LANG_bitwise_or] = {WEFT__OP_or, 1},
    [WEFT__LANG_bitwise_xor] = {WEFT__OP_xor, 1}, [WEFT__LANG_bitwise_not] = {WEFT__OP_not, 1},
    [WEFT__LANG_shift_left] = {WEFT__OP_shl, 1},  [WEFT__LANG_shift_right] = {WEFT__OP_shr, 1},
    [WEFT__LANG_equal] = {WEFT__OP_eq, 1},        [WEFT__LANG_not_equal] = {WEFT__OP_ne, 1},
    [WEFT__LANG_less] = {WEFT__OP_lt, 1},         [WEFT__LANG_less_equal] = {WEFT__OP_le, 1},
    [WEFT__LANG_where] = {WEFT__OP_select, 1},    [WEFT__LANG_minimum] = {WEFT__OP_min, 1},
    [WEFT__LANG_maximum] = {WEFT__OP_max, 1},     [WEFT__LANG_abs] = {WEFT__OP_abs, 1},
    [WEFT__LANG_sqrt] = {WEFT__OP_sqrt, 1},       [WEFT__LANG_fma] = {WEFT__OP_fma, 1},
    [WEFT__LANG_floor] = {WEFT__OP_floor, 1},     [WEFT__LANG_ceil] = {WEFT__OP_ceil, 1},
    [WEFT__LANG_trunc] = {WEFT__OP_trunc, 1},     [WEFT__LANG_round] = {WEFT__OP_round, 1},
};

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

static int32_t primitive(weft__builder *b, weft__lang_operation operation, weft_dtype dtype,
                         const weft__element *x, int part)
{
    return weft__build(b, (weft__op)primitives[operation].op, weft__value_dtype(dtype),
                       x[0].part[part], x[1].part[part], x[2].part[part]);
}

/* Functions that src/kernel/math has, by their number plus 1: of floats, and of complex numbers. */
static const uint8_t functions[WEFT__LANG_OPERATION_END] = {
#define FUNCTION_OF(name, arity, result, ulp_f32, ulp_f64)                                         \
    [WEFT__LANG_##name] = WEFT__MATH_##name + 1,
    WEFT__MATH_LIST(FUNCTION_OF)
#undef FUNCTION_OF
};

static const uint8_t complex_functions[WEFT__LANG_OPERATION_END] = {
#define FUNCTION_OF(name, arity, result, ulp_c64, ulp_c128)                                        \
    [WEFT__LANG_##name] = WEFT__COMPLEX_##name + 1,
    WEFT__COMPLEX_LIST(FUNCTION_OF)
#undef FUNCTION_OF
};

/* -1, 0 or 1 of an integer. */
static int32_t sign_of_integer(weft__builder *b, weft_dtype dtype, int32_t x)
{
    int32_t zero = weft__build_constant(b, dtype, 0), one = weft__build_constant(b, dtype, 1);
    int32_t minus = weft__build_constant(b, dtype, UINT64_MAX);
    int32_t above = weft__build(b, WEFT__OP_lt, WEFT_BOOL, zero, x, 0);
    int32_t below = weft__build(b, WEFT__OP_lt, WEFT_BOOL, x, zero, 0);
    int32_t positive = weft__build(b, WEFT__OP_select, dtype, above, one, zero);
    return weft__build(b, WEFT__OP_select, dtype, below, minus, positive);
}

/* The angle of a float: 0, or pi if its sign is negative. */
static int32_t angle_of_real(weft__builder *b, weft_dtype dtype, int32_t x)
{
    bool wide = dtype == WEFT_F64;
    int32_t pi = weft__build_constant(b, dtype, wide ? UINT64_C(0x400921fb54442d18) : 0x40490fdb);
    int32_t zero = weft__build_constant(b, dtype, 0);
    int32_t back = weft__math(b, WEFT__MATH_signbit, dtype, x, x);
    int32_t angle = weft__build(b, WEFT__OP_select, dtype, back, pi, zero);
    int32_t known = weft__build(b, WEFT__OP_eq, WEFT_BOOL, x, x, 0);
    return weft__build(b, WEFT__OP_select, dtype, known, angle, x);
}

static int32_t function_of_real(weft__builder *b, weft__lang_operation operation,
                                const weft__element *x)
{
    weft_dtype dtype = x[0].dtype;
    int32_t first = x[0].part[0], second = x[1].part[0];
    if (operation == WEFT__LANG_nextafter && (dtype == WEFT_F16 || dtype == WEFT_BF16))
        return weft__math_nextafter_narrow(b, dtype, first, second);
    return weft__math(b, (weft__math_function)(functions[operation] - 1), weft__value_dtype(dtype),
                      first, second);
}

/* Real operations that take more than one primitive. */
static int32_t lower_real(weft__builder *b, weft__lang_operation operation, const weft__element *x)
{
    weft_dtype of = weft__value_dtype(x[0].dtype);
    int32_t first = x[0].part[0];
    if (functions[operation] && (of == WEFT_F32 || of == WEFT_F64))
        return function_of_real(b, operation, x);
    switch (operation) {
    case WEFT__LANG_square:
        return weft__build(b, WEFT__OP_mul, of, first, first, 0);
    case WEFT__LANG_sign:
        return sign_of_integer(b, of, first);
    case WEFT__LANG_pow:
        return weft__math_pow_integer(b, of, first, x[1].part[0]);
    case WEFT__LANG_popcount:
        return weft__math_popcount(b, of, first);
    case WEFT__LANG_clip:
        return weft__math_clip(b, first, x[1].part[0], x[2].part[0]);
    case WEFT__LANG_arg:
        return angle_of_real(b, of, first);
    case WEFT__LANG_imag:
        return weft__build_constant(b, of, 0);
    default: /* real, conj and positive */
        return first;
    }
}

static int32_t two(weft__builder *b, weft__op op, weft_dtype dtype, int32_t x, int32_t y)
{
    return weft__build(b, op, dtype, x, y, 0);
}

/* The four products of the parts, each rounded, then a difference and a sum. */
static void multiply_complex(weft__builder *b, weft_dtype value, const weft__element *x,
                             int32_t *part)
{
    int32_t rr = two(b, WEFT__OP_mul, value, x[0].part[0], x[1].part[0]);
    int32_t ii = two(b, WEFT__OP_mul, value, x[0].part[1], x[1].part[1]);
    int32_t ri = two(b, WEFT__OP_mul, value, x[0].part[0], x[1].part[1]);
    int32_t ir = two(b, WEFT__OP_mul, value, x[0].part[1], x[1].part[0]);
    part[0] = two(b, WEFT__OP_sub, value, rr, ii);
    part[1] = two(b, WEFT__OP_add, value, ri, ir);
}

static int32_t compare_complex(weft__builder *b, weft__lang_operation operation,
                               const weft__element *x)
{
    weft__op op = operation == WEFT__LANG_equal ? WEFT__OP_eq : WEFT__OP_ne;
    weft__op join = operation == WEFT__LANG_equal ? WEFT__OP_and : WEFT__OP_or;
    int32_t real = two(b, op, WEFT_BOOL, x[0].part[0], x[1].part[0]);
    return two(b, join, WEFT_BOOL, real, two(b, op, WEFT_BOOL, x[0].part[1], x[1].part[1]));
}

static void lower_complex(weft__builder *b, weft__lang_operation operation, weft_dtype dtype,
                          const weft__element *x, int32_t *part)
{
    weft_dtype value = weft__value_dtype(dtype);
    weft__element squared[2] = {x[0], x[0]};
    if (complex_functions[operation]) {
        weft__math_complex(b, (weft__complex_function)(complex_functions[operation] - 1),
                           weft__value_dtype(x[0].dtype), x[0].part, x[1].part, part);
        return;
    }
    switch (operation) {
    case WEFT__LANG_add:
    case WEFT__LANG_subtract:
    case WEFT__LANG_negative:
        for (int k = 0; k < 2; k++)
            part[k] = primitive(b, operation, dtype, x, k);
        break;
    case WEFT__LANG_where:
        for (int k = 0; k < 2; k++)
            part[k] =
                weft__build(b, WEFT__OP_select, value, x[0].part[0], x[1].part[k], x[2].part[k]);
        break;
    case WEFT__LANG_multiply:
        multiply_complex(b, value, x, part);
        break;
    case WEFT__LANG_square:
        multiply_complex(b, value, squared, part);
        break;
    case WEFT__LANG_equal:
    case WEFT__LANG_not_equal:
        part[0] = compare_complex(b, operation, x);
        break;
    case WEFT__LANG_imag:
        part[0] = x[0].part[1];
        break;
    case WEFT__LANG_conj:
        part[0] = x[0].part[0];
        part[1] = weft__build(b, WEFT__OP_neg, value, x[0].part[1], 0, 0);
        break;
    default: /* real and positive */
        part[0] = x[0].part[0], part[1] = x[0].part[1];
        break;
    }
}

void weft__lower_map(weft__builder *builder, weft__lang_operation operation, weft_dtype dtype,
                     const weft__element *arguments, weft__element *result)
{
    result->dtype = dtype;
    if (is_complex(arguments[0].dtype) || is_complex(dtype))
        lower_complex(builder, operation, dtype, arguments, result->part);
    else if (primitives[operation].known)
        result->part[0] = primitive(builder, operation, dtype, arguments, 0);
    else
        result->part[0] = lower_real(builder, operation, arguments);
}
