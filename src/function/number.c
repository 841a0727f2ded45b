/* Numbers of a function: reading, writing and converting them as kernels do. */
#include "function/number.h"
#include "core/dtype.h"
#include "lang/operations.h"
#include <math.h>
#include <string.h>

#define INTEGERS(X)                                                                                \
    X(WEFT_I8, int8_t, i)                                                                          \
    X(WEFT_I16, int16_t, i)                                                                        \
    X(WEFT_I32, int32_t, i)                                                                        \
    X(WEFT_I64, int64_t, i)                                                                        \
    X(WEFT_U8, uint8_t, u)                                                                         \
    X(WEFT_U16, uint16_t, u)                                                                       \
    X(WEFT_U32, uint32_t, u)                                                                       \
    X(WEFT_U64, uint64_t, u)                                                                       \
    X(WEFT_BOOL, uint8_t, u)

weft_operand weft__number_load(const void *from, weft_dtype dtype)
{
    weft_operand number = {.tag = WEFT_OPERAND_NUMBER, .dtype = (int32_t)dtype};
    float f;
    float pair[2];
    switch (dtype) {
#define LOAD(name, type, field)                                                                    \
    case name: {                                                                                   \
        type value;                                                                                \
        memcpy(&value, from, sizeof value);                                                        \
        number.value.field = value;                                                                \
        break;                                                                                     \
    }
        INTEGERS(LOAD)
#undef LOAD
    case WEFT_F32:
        memcpy(&f, from, sizeof f);
        number.value.f = (double)f;
        break;
    case WEFT_F64:
        memcpy(&number.value.f, from, sizeof number.value.f);
        break;
    case WEFT_C64:
        memcpy(pair, from, sizeof pair);
        number.value.complex_[0] = (double)pair[0];
        number.value.complex_[1] = (double)pair[1];
        break;
    default:
        memcpy(number.value.complex_, from, sizeof number.value.complex_);
    }
    return number;
}

void weft__number_store(void *to, const weft_operand *number, weft_dtype dtype)
{
    float f = (float)number->value.f;
    float pair[2] = {(float)number->value.complex_[0], 0};
    switch (dtype) {
#define STORE(name, type, field)                                                                   \
    case name: {                                                                                   \
        type value = (type)number->value.field;                                                    \
        memcpy(to, &value, sizeof value);                                                          \
        break;                                                                                     \
    }
        INTEGERS(STORE)
#undef STORE
    case WEFT_F32:
        memcpy(to, &f, sizeof f);
        break;
    case WEFT_F64:
        memcpy(to, &number->value.f, sizeof number->value.f);
        break;
    case WEFT_C64:
        pair[1] = (float)number->value.complex_[1];
        memcpy(to, pair, sizeof pair);
        break;
    default:
        memcpy(to, number->value.complex_, sizeof number->value.complex_);
    }
}

static bool is_unsigned(int32_t dtype) { return dtype == WEFT_BOOL || dtype >= WEFT_U8; }

/* A float as an integer of that many bits. */
static void saturate(double value, weft_dtype dtype, weft_operand *to)
{
    int bits = 8 * (int)weft_dtype_size(dtype);
    double low = is_unsigned((int32_t)dtype) ? 0 : -ldexp(1, bits - 1);
    double high = ldexp(1, is_unsigned((int32_t)dtype) ? bits : bits - 1);
    if (isnan(value))
        to->value.u = 0;
    else if (is_unsigned((int32_t)dtype))
        to->value.u = value <= low    ? 0
                      : value >= high ? UINT64_MAX >> (64 - bits)
                                      : (uint64_t)value;
    else
        to->value.i = value <= low    ? INT64_MIN >> (64 - bits)
                      : value >= high ? INT64_MAX >> (64 - bits)
                                      : (int64_t)value;
}

static double real_of(const weft_operand *number, weft_dtype dtype)
{
    bool narrow = dtype == WEFT_F32 || dtype == WEFT_C64;
    bool negative = !is_unsigned(number->dtype);
    if (weft__dtype_rank((weft_dtype)number->dtype) == WEFT__RANK_FLOAT)
        return narrow ? (double)(float)number->value.f : number->value.f;
    if (narrow) /* rounded once */
        return negative ? (double)(float)number->value.i : (double)(float)number->value.u;
    return negative ? (double)number->value.i : (double)number->value.u;
}

weft_operand weft__number_cast(const weft_operand *number, weft_dtype dtype)
{
    weft_operand to = {.tag = WEFT_OPERAND_NUMBER, .dtype = (int32_t)dtype};
    weft__rank from_rank = weft__dtype_rank((weft_dtype)number->dtype);
    char bytes[16];
    if (number->dtype == (int32_t)dtype)
        return *number;
    switch (weft__dtype_rank(dtype)) {
    case WEFT__RANK_BOOL:
        to.value.u = weft__number_truth(number);
        return to;
    case WEFT__RANK_INTEGER:
        if (from_rank == WEFT__RANK_FLOAT) {
            saturate(number->value.f, dtype, &to);
            return to;
        }
        to.value.u = number->value.u;
        weft__number_store(bytes, &to, dtype);
        return weft__number_load(bytes, dtype);
    case WEFT__RANK_FLOAT:
        to.value.f = real_of(number, dtype);
        return to;
    default:
        if (from_rank != WEFT__RANK_COMPLEX) {
            to.value.complex_[0] = real_of(number, dtype);
            return to;
        }
        memcpy(to.value.complex_, number->value.complex_, sizeof to.value.complex_);
        weft__number_store(bytes, &to, dtype);
        return weft__number_load(bytes, dtype);
    }
}

bool weft__number_integer(const weft_operand *number, int64_t *value)
{
    if (number->dtype < WEFT_BOOL || number->dtype > WEFT_U64)
        return false;
    *value = number->value.i;
    return number->dtype != WEFT_U64 || number->value.u <= INT64_MAX;
}

bool weft__number_truth(const weft_operand *number)
{
    switch (weft__dtype_rank((weft_dtype)number->dtype)) {
    case WEFT__RANK_FLOAT:
        return number->value.f != 0;
    case WEFT__RANK_COMPLEX:
        return number->value.complex_[0] != 0 || number->value.complex_[1] != 0;
    default:
        return number->value.u != 0;
    }
}

static double combine_reals(int operation, double a, double b)
{
    switch (operation) {
    case WEFT__LANG_add:
        return a + b;
    case WEFT__LANG_subtract:
        return a - b;
    case WEFT__LANG_multiply:
        return a * b;
    case WEFT__LANG_minimum:
        return a < b || isnan(a) ? a : b;
    default:
        return a > b || isnan(a) ? a : b;
    }
}

static uint64_t combine_integers(int operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case WEFT__LANG_add:
        return a + b;
    case WEFT__LANG_subtract:
        return a - b;
    case WEFT__LANG_multiply:
        return a * b;
    case WEFT__LANG_minimum:
        return (int64_t)a < (int64_t)b ? a : b;
    default:
        return (int64_t)a > (int64_t)b ? a : b;
    }
}

weft_operand weft__number_combine(int operation, const weft_operand *a, bool a_typed,
                                  const weft_operand *b, bool b_typed, bool *typed)
{
    bool a_real = weft__dtype_rank((weft_dtype)a->dtype) == WEFT__RANK_FLOAT;
    bool b_real = weft__dtype_rank((weft_dtype)b->dtype) == WEFT__RANK_FLOAT;
    weft_operand result = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    *typed = (a_real && a_typed) || (b_real && b_typed);
    if (!a_real && !b_real) {
        result.value.u = combine_integers(operation, a->value.u, b->value.u);
        return result;
    }
    bool wide = (a_real && a_typed && a->dtype == WEFT_F64) ||
                (b_real && b_typed && b->dtype == WEFT_F64) || !*typed;
    weft_dtype dtype = wide ? WEFT_F64 : WEFT_F32;
    weft_operand x = weft__number_cast(a, dtype), y = weft__number_cast(b, dtype);
    result.dtype = (int32_t)dtype;
    result.value.f = combine_reals(operation, x.value.f, y.value.f);
    if (!wide) /* of f32 this rounds once: f64 has more than twice the digits */
        result.value.f = (double)(float)result.value.f;
    if (isnan(result.value.f))
        result.value.f = (double)NAN;
    return result;
}
