/* C numbers as scalars of kernels. */
#include "ops/number.h"
#include "core/dtype.h"
#include "core/status.h"
#include <string.h>

static bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

bool weft__number_fits(const weft_operand *number, weft_dtype dtype)
{
    unsigned bits = (unsigned)weft_dtype_size(dtype) * 8;
    bool negative = is_signed((weft_dtype)number->dtype) && number->value.i < 0;
    uint64_t top = is_signed(dtype) ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (negative)
        return is_signed(dtype) && number->value.i >= -(int64_t)top - 1;
    return number->value.u <= top;
}

weft_status weft__number_check(const weft_operand *number, weft_dtype dtype)
{
    weft_dtype from = (weft_dtype)number->dtype;
    if (number->tag == WEFT_OPERAND_NUMBER && weft_dtype_size(from) == 0)
        return weft__fail_dtype(from);
    if (number->tag != WEFT_OPERAND_NUMBER)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "number",
                       "an array was given where a C number was expected");
    if (weft__dtype_rank(from) > weft__dtype_rank(dtype))
        return FAIL_AT(
            WEFT_ERROR_DTYPE, "number",
            "a number of type %s does not become %s without a cast; convert it in C first",
            weft_dtype_name(from), weft_dtype_name(dtype));
    if (weft__dtype_rank(dtype) == WEFT__RANK_INTEGER &&
        weft__dtype_rank(from) == WEFT__RANK_INTEGER && !weft__number_fits(number, dtype))
        return is_signed(from)
                   ? FAIL_AT(WEFT_ERROR_DTYPE, "number", "%lld is outside the range of %s",
                             (long long)number->value.i, weft_dtype_name(dtype))
                   : FAIL_AT(WEFT_ERROR_DTYPE, "number", "%llu is outside the range of %s",
                             (unsigned long long)number->value.u, weft_dtype_name(dtype));
    return WEFT_OK;
}

/* The bits of an f32, in integers because the thread's rounding may be another. Rounded to nearest;
 * or, if `odd`, to the odd neighbour, which a 16-bit float rounded from it does not notice. */
static uint64_t narrowed(double number, bool odd)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    const uint64_t sign = bits >> 63 << 31, fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (number != number)
        return 0x7fc00000;
    if (exponent > 127)
        return sign | 0x7f800000;
    const int shift = exponent < -126 ? 29 - 126 - exponent : 29;
    if (exponent == -1023 || shift > 54)
        return sign | (odd && bits << 1 != 0);
    const uint64_t whole = fraction | UINT64_C(1) << 52, half = UINT64_C(1) << (shift - 1);
    const uint64_t kept = whole >> shift, rest = whole & (2 * half - 1);
    const bool up = odd ? rest && !(kept & 1) : rest > half || (rest == half && kept & 1);
    const uint64_t above = exponent < -126 ? 0 : (uint64_t)(exponent + 126) << 23;
    return sign | (above + kept + up);
}

static weft_dtype wide_dtype(weft_dtype from, bool narrow)
{
    if (weft__dtype_rank(from) == WEFT__RANK_COMPLEX)
        return narrow ? WEFT_C64 : WEFT_C128;
    if (weft__dtype_rank(from) == WEFT__RANK_FLOAT)
        return narrow ? WEFT_F32 : WEFT_F64;
    if (weft__dtype_rank(from) == WEFT__RANK_INTEGER)
        return is_signed(from) ? WEFT_I64 : WEFT_U64;
    return from;
}

weft__element weft__number_build(weft__builder *builder, const weft_operand *number, weft_dtype to,
                                 uint64_t *scalars)
{
    const weft_dtype from = (weft_dtype)number->dtype;
    const bool narrow = weft__value_dtype(to) == WEFT_F32, odd = to == WEFT_F16 || to == WEFT_BF16;
    weft__element element = {.dtype = wide_dtype(from, narrow)};
    const bool complex = weft__dtype_rank(from) == WEFT__RANK_COMPLEX;
    for (int part = 0; part < (complex ? 2 : 1); part++) {
        uint64_t *scalar = &scalars[builder->kernel.scalars_count];
        const double value = complex ? number->value.complex_[part] : number->value.f;
        if (from == WEFT_BOOL)
            *scalar = number->value.u != 0;
        else if (weft__dtype_rank(from) < WEFT__RANK_FLOAT)
            memcpy(scalar, &number->value, sizeof *scalar);
        else if (narrow)
            *scalar = narrowed(value, odd);
        else
            memcpy(scalar, &value, sizeof *scalar);
        element.part[part] = weft__build_scalar(builder, weft__value_dtype(element.dtype));
    }
    return element;
}
