/* Conversions between dtypes in primitives, each rounding once. */
#include "kernel/build.h"

static int32_t cast(weft__builder *b, int32_t value, weft_dtype to)
{
    return weft__build(b, WEFT__OP_cast, to, value, 0, 0);
}

/* A 64-bit integer as f64, rounded to odd: what is lost of it stays visible in the last bit, so
 * that a second rounding to fewer bits is right. Integers below 2^53 are exact as they are. */
static int32_t wide_to_f64_odd(weft__builder *b, int32_t value, weft_dtype from)
{
    int32_t zero = weft__build_constant(b, from, 0);
    int32_t low = weft__build_constant(b, from, 0x7ff);
    int32_t high = weft__build_constant(b, from, ~UINT64_C(0x7ff));
    int32_t sticky = weft__build_constant(b, from, 0x800);
    int32_t lost = weft__build(b, WEFT__OP_and, from, value, low, 0);
    int32_t inexact = weft__build(b, WEFT__OP_ne, WEFT_BOOL, lost, zero, 0);
    int32_t kept = weft__build(b, WEFT__OP_and, from, value, high, 0);
    int32_t odd = weft__build(b, WEFT__OP_or, from, kept, sticky, 0);
    int32_t rounded = weft__build(b, WEFT__OP_select, from, inexact, odd, kept);
    int32_t limit = weft__build_constant(b, WEFT_F64, UINT64_C(0x4340000000000000)); /* 2^53 */
    int32_t direct = cast(b, value, WEFT_F64);
    int32_t size = weft__build(b, WEFT__OP_abs, WEFT_F64, direct, 0, 0);
    int32_t small = weft__build(b, WEFT__OP_lt, WEFT_BOOL, size, limit, 0);
    return weft__build(b, WEFT__OP_select, WEFT_F64, small, direct, cast(b, rounded, WEFT_F64));
}

/* f64 to f32, rounded to odd: if the nearest f32 is not exact and its last bit is 0, the neighbour
 * on the other side of the value. */
static int32_t f64_to_f32_odd(weft__builder *b, int32_t value)
{
    int32_t one = weft__build_constant(b, WEFT_U32, 1), zero = weft__build_constant(b, WEFT_U32, 0);
    int32_t nearest = cast(b, value, WEFT_F32), back = cast(b, nearest, WEFT_F64);
    int32_t bits = weft__build(b, WEFT__OP_bitcast, WEFT_U32, nearest, 0, 0);
    int32_t last = weft__build(b, WEFT__OP_and, WEFT_U32, bits, one, 0);
    int32_t even = weft__build(b, WEFT__OP_eq, WEFT_BOOL, last, zero, 0);
    int32_t size = weft__build(b, WEFT__OP_abs, WEFT_F64, value, 0, 0);
    int32_t back_size = weft__build(b, WEFT__OP_abs, WEFT_F64, back, 0, 0);
    int32_t below = weft__build(b, WEFT__OP_lt, WEFT_BOOL, back_size, size, 0);
    int32_t above = weft__build(b, WEFT__OP_lt, WEFT_BOOL, size, back_size, 0);
    int32_t up = weft__build(b, WEFT__OP_add, WEFT_U32, bits, one, 0);
    int32_t down = weft__build(b, WEFT__OP_sub, WEFT_U32, bits, one, 0);
    int32_t moved = weft__build(b, WEFT__OP_select, WEFT_U32, below, up, bits);
    moved = weft__build(b, WEFT__OP_select, WEFT_U32, above, down, moved);
    moved = weft__build(b, WEFT__OP_select, WEFT_U32, even, moved, bits);
    return weft__build(b, WEFT__OP_bitcast, WEFT_F32, moved, 0, 0);
}

/* To a value that a store, or a rounding, turns into f16 or bf16. */
static int32_t to_narrow(weft__builder *b, int32_t value, weft_dtype from)
{
    if (from == WEFT_F32)
        return value;
    if (from == WEFT_F64)
        return f64_to_f32_odd(b, value);
    if (from == WEFT_I64 || from == WEFT_U64)
        return f64_to_f32_odd(b, wide_to_f64_odd(b, value, from));
    if (from == WEFT_I32 || from == WEFT_U32)
        return f64_to_f32_odd(b, cast(b, value, WEFT_F64));
    return cast(b, value, WEFT_F32); /* small integers are exact */
}

static int32_t to_bool(weft__builder *b, const weft__element *element)
{
    int32_t truth = cast(b, element->part[0], WEFT_BOOL);
    if (element->dtype != WEFT_C64 && element->dtype != WEFT_C128)
        return truth;
    return weft__build(b, WEFT__OP_or, WEFT_BOOL, truth, cast(b, element->part[1], WEFT_BOOL), 0);
}

static int32_t convert_part(weft__builder *b, int32_t value, weft_dtype from, weft_dtype to)
{
    weft_dtype value_from = weft__value_dtype(from), value_to = weft__value_dtype(to);
    if (to == WEFT_F16 || to == WEFT_BF16) {
        weft__op op = to == WEFT_F16 ? WEFT__OP_round_f16 : WEFT__OP_round_bf16;
        value = to_narrow(b, value, value_from);
        return weft__build(b, op, WEFT_F32, value, 0, 0);
    }
    return value_from == value_to ? value : cast(b, value, value_to);
}

weft__element weft__build_convert(weft__builder *builder, weft__element element, weft_dtype to)
{
    weft__element result = {.dtype = to};
    bool from_complex = element.dtype == WEFT_C64 || element.dtype == WEFT_C128;
    if (element.dtype == to)
        return element;
    if (to == WEFT_BOOL)
        result.part[0] = to_bool(builder, &element);
    else
        result.part[0] = convert_part(builder, element.part[0], element.dtype, to);
    if (to != WEFT_C64 && to != WEFT_C128)
        return result;
    result.part[1] = from_complex ? convert_part(builder, element.part[1], element.dtype, to)
                                  : weft__build_constant(builder, weft__value_dtype(to), 0);
    return result;
}
