/* C numbers as scalars of kernels. */
#include "ops/number.h"
#include "core/dtype.h"
#include "core/status.h"
#include <string.h>

static bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

static bool integer_fits(const weft_operand *number, weft_dtype dtype)
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
        weft__dtype_rank(from) == WEFT__RANK_INTEGER && !integer_fits(number, dtype))
        return is_signed(from)
                   ? FAIL_AT(WEFT_ERROR_DTYPE, "number", "%lld is outside the range of %s",
                             (long long)number->value.i, weft_dtype_name(dtype))
                   : FAIL_AT(WEFT_ERROR_DTYPE, "number", "%llu is outside the range of %s",
                             (unsigned long long)number->value.u, weft_dtype_name(dtype));
    return WEFT_OK;
}

weft__element weft__number_build(weft__builder *builder, const weft_operand *number,
                                 uint64_t *scalars)
{
    weft_dtype from = (weft_dtype)number->dtype;
    weft__element element = {.dtype = from};
    if (weft__dtype_rank(from) == WEFT__RANK_COMPLEX)
        element.dtype = WEFT_C128;
    else if (weft__dtype_rank(from) == WEFT__RANK_FLOAT)
        element.dtype = WEFT_F64;
    else if (weft__dtype_rank(from) == WEFT__RANK_INTEGER)
        element.dtype = is_signed(from) ? WEFT_I64 : WEFT_U64;
    for (int part = 0; part < (element.dtype == WEFT_C128 ? 2 : 1); part++) {
        uint64_t *scalar = &scalars[builder->kernel.scalars_count];
        if (element.dtype == WEFT_C128)
            memcpy(scalar, &number->value.complex_[part], sizeof *scalar);
        else
            memcpy(scalar, &number->value, sizeof *scalar);
        element.part[part] = weft__build_scalar(builder, weft__value_dtype(element.dtype));
    }
    return element;
}
