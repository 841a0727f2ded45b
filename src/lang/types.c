/* Types: how typed and untyped values combine, and what they are called in messages. */
#include "lang/check.h"

weft_dtype weft__check_weak_dtype(weft_dtype dtype)
{
    switch (weft__dtype_rank(dtype)) {
    case WEFT__RANK_BOOL:
        return WEFT_BOOL;
    case WEFT__RANK_INTEGER:
        return dtype == WEFT_U64 ? WEFT_U64 : WEFT_I64;
    case WEFT__RANK_FLOAT:
        return WEFT_F64;
    default:
        return WEFT_C128;
    }
}

/* The public function would put its own name into the error record. */
static bool promote(weft_dtype a, weft_dtype b, weft_dtype *result)
{
    const char *operation = weft__operation();
    bool possible = weft_dtype_promote(a, b, result) == WEFT_OK;
    weft__operation_begin(operation);
    return possible;
}

static weft_dtype complex_of(weft_dtype real) { return real == WEFT_F64 ? WEFT_C128 : WEFT_C64; }

weft_dtype weft__check_real(weft_dtype dtype)
{
    return dtype == WEFT_C64 ? WEFT_F32 : dtype == WEFT_C128 ? WEFT_F64 : dtype;
}

/* An untyped number takes the other's dtype if it is of that kind or a lower one. */
static bool combine_weak(weft_dtype weak, weft_dtype typed, weft_dtype *result)
{
    weft__rank rank = weft__dtype_rank(weak), other = weft__dtype_rank(typed);
    *result = rank == WEFT__RANK_COMPLEX && other == WEFT__RANK_FLOAT ? complex_of(typed) : typed;
    return rank <= other || *result != typed;
}

bool weft__check_combine(weft_dtype *dtype, bool *weak, weft_dtype other, bool other_weak)
{
    weft_dtype first = *dtype;
    bool first_weak = *weak;
    *weak = first_weak && other_weak;
    if (first == other)
        return true;
    if (first_weak && other_weak) {
        weft__rank a = weft__dtype_rank(first), b = weft__dtype_rank(other);
        *dtype = a > b ? first : b > a ? other : WEFT_U64; /* i64 with u64 is u64, as in C */
        return true;
    }
    if (first_weak || other_weak)
        return combine_weak(first_weak ? first : other, first_weak ? other : first, dtype);
    return promote(first, other, dtype);
}

bool weft__check_assignable(weft_dtype to, const weft__check_value *value)
{
    weft_dtype dtype = (weft_dtype)value->dtype;
    return value->weak ? weft__dtype_rank(dtype) <= weft__dtype_rank(to)
                       : weft_dtype_assignable(to, dtype);
}

const char *weft__check_type_name(weft_dtype dtype, bool weak)
{
    static const char *const names[] = {"an untyped bool", "an untyped integer",
                                        "an untyped floating-point number",
                                        "an untyped complex number"};
    return weak ? names[weft__dtype_rank(dtype)] : weft_dtype_name(dtype);
}

bool weft__check_kind(weft_dtype *dtype, bool weak, uint8_t kinds)
{
    static const weft_dtype of_rank[] = {WEFT_BOOL, WEFT_I64, WEFT_F64, WEFT_C128};
    int rank = (int)weft__dtype_rank(*dtype);
    if (kinds >> rank & 1)
        return true;
    while (weak && ++rank <= WEFT__RANK_COMPLEX)
        if (kinds >> rank & 1) {
            *dtype = of_rank[rank];
            return true;
        }
    return false;
}

const char *weft__check_kinds_name(uint8_t kinds)
{
    switch (kinds) {
    case WEFT__KINDS_INTEGER:
        return "integers";
    case WEFT__KINDS_FLOAT:
        return "floating-point numbers";
    case WEFT__KINDS_BITS:
        return "integers or bool";
    case WEFT__KINDS_REAL:
        return "integers or floating-point numbers";
    case WEFT__KINDS_ORDERED:
        return "bool, integers or floating-point numbers";
    case WEFT__KINDS_FLOATING:
        return "floating-point or complex numbers";
    case WEFT__KINDS_NUMBER:
        return "numbers";
    default:
        return "values of another kind";
    }
}
