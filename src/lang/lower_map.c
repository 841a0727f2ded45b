/* Element-by-element operations in primitives: of real numbers mostly one, of complex ones a few.
 */
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

/* Functions of floats that src/kernel/math has, by its number plus 1. */
static const uint8_t functions[WEFT__LANG_OPERATION_END] = {
#define FUNCTION_OF(name, arity, result, ulp_f32, ulp_f64)                                         \
    [WEFT__LANG_##name] = WEFT__MATH_##name + 1,
    WEFT__MATH_LIST(FUNCTION_OF)
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

/* Real operations that take a few primitives. */
static bool lower_real(weft__builder *b, weft__lang_operation operation, weft_dtype dtype,
                       const weft__element *x, int32_t *result)
{
    weft_dtype value = weft__value_dtype(dtype), of = weft__value_dtype(x[0].dtype);
    bool is_float = of == WEFT_F32 || of == WEFT_F64;
    if (functions[operation] && is_float) {
        weft__math_function function = (weft__math_function)(functions[operation] - 1);
        *result = weft__math(b, function, of, x[0].part[0], x[1].part[0]);
        return true;
    }
    switch (operation) {
    case WEFT__LANG_square:
        *result = weft__build(b, WEFT__OP_mul, value, x[0].part[0], x[0].part[0], 0);
        break;
    case WEFT__LANG_sign:
        *result = sign_of_integer(b, value, x[0].part[0]);
        break;
    case WEFT__LANG_clip:
        *result = weft__math_clip(b, x[0].part[0], x[1].part[0], x[2].part[0]);
        break;
    case WEFT__LANG_real:
    case WEFT__LANG_conj:
    case WEFT__LANG_positive:
        *result = x[0].part[0];
        break;
    case WEFT__LANG_imag:
        *result = weft__build_constant(b, of, 0);
        break;
    default:
        return false;
    }
    return true;
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

static bool lower_complex(weft__builder *b, weft__lang_operation operation, weft_dtype dtype,
                          const weft__element *x, int32_t *part)
{
    weft_dtype value = weft__value_dtype(dtype);
    weft__element squared[2] = {x[0], x[0]};
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
    case WEFT__LANG_positive:
        part[0] = x[0].part[0], part[1] = x[0].part[1];
        break;
    case WEFT__LANG_real:
        part[0] = x[0].part[0];
        break;
    case WEFT__LANG_imag:
        part[0] = x[0].part[1];
        break;
    case WEFT__LANG_conj:
        part[0] = x[0].part[0];
        part[1] = weft__build(b, WEFT__OP_neg, value, x[0].part[1], 0, 0);
        break;
    default:
        return false;
    }
    return true;
}

bool weft__lower_map(weft__builder *builder, weft__lang_operation operation, weft_dtype dtype,
                     const weft__element *arguments, weft__element *result)
{
    bool of_complex = is_complex(arguments[0].dtype) || is_complex(dtype);
    result->dtype = dtype;
    if (of_complex)
        return lower_complex(builder, operation, dtype, arguments, result->part);
    if (!primitives[operation].known)
        return lower_real(builder, operation, dtype, arguments, &result->part[0]);
    result->part[0] = primitive(builder, operation, dtype, arguments, 0);
    return true;
}
