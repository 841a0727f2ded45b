/* Casts, bitcasts, the 16-bit floats and the canonical NaN. */
#include "codegen/llvm/emit.h"

#include <math.h>
#include <string.h>

static weft__ref binary(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                        weft__ref y)
{
    return build(emitter->builder, x, y, "");
}

static weft__ref cast_to(const weft__emitter *emitter, weft__llvm_cast *build, weft__ref x,
                         weft__type type)
{
    return build(emitter->builder, x, type, "");
}

static weft__ref compare(const weft__emitter *emitter, int predicate, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildFCmp(emitter->builder, predicate, x, y, "");
}

static weft__ref u32(const weft__emitter *emitter, uint32_t number)
{
    return weft__emit_number(emitter, 32, number);
}

static weft__ref float_number(const weft__emitter *emitter, weft_dtype dtype, double number)
{
    const float single = (float)number;
    uint64_t bits = 0;
    if (dtype == WEFT_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &number, sizeof number);
    return weft__emit_constant(emitter, dtype, bits);
}

static weft__ref is_nan(const weft__emitter *emitter, weft__ref x)
{
    return compare(emitter, WEFT__FCMP_UNO, x, x);
}

weft__ref weft__emit_canonical(const weft__emitter *emitter, weft_dtype dtype, weft__ref x)
{
    if (!weft__dtype_is_float(dtype))
        return x;
    const uint64_t nan = dtype == WEFT_F32 ? 0x7fc00000U : 0x7ff8000000000000U;
    return weft__emit_select(emitter, is_nan(emitter, x), weft__emit_constant(emitter, dtype, nan),
                             x);
}

/* Only what fits is converted, the rest as 0; then the ends of the range are put in. `high` is the
 * first number beyond the range; it and `low` are exact in both float types. */
static weft__ref float_to_integer(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                                  weft__ref x)
{
    const bool is_signed = weft__dtype_is_signed(to);
    const int bits = weft__dtype_bits(to), width = bits < 32 ? 32 : bits;
    weft__ref low = float_number(emitter, from, is_signed ? -ldexp(1, bits - 1) : 0);
    weft__ref high = float_number(emitter, from, ldexp(1, is_signed ? bits - 1 : bits));
    const uint64_t top = ~(uint64_t)0 >> (64 - bits), least = is_signed ? top / 2 + 1 : 0;
    weft__ref above = compare(emitter, WEFT__FCMP_OGE, x, high);
    weft__ref below = compare(emitter, WEFT__FCMP_OLT, x, low);
    weft__ref fits = binary(emitter, weft__llvm.BuildAnd, compare(emitter, WEFT__FCMP_OGE, x, low),
                            compare(emitter, WEFT__FCMP_OLT, x, high));
    weft__ref fitting = weft__emit_select(emitter, fits, x, float_number(emitter, from, 0));
    weft__ref result =
        cast_to(emitter, is_signed || bits < 32 ? weft__llvm.BuildFPToSI : weft__llvm.BuildFPToUI,
                fitting, weft__emit_integer(emitter, width));
    if (width != bits)
        result = cast_to(emitter, weft__llvm.BuildTrunc, result, weft__emit_integer(emitter, bits));
    result = weft__emit_select(emitter, below, weft__emit_number(emitter, bits, least), result);
    return weft__emit_select(emitter, above,
                             weft__emit_number(emitter, bits, is_signed ? top / 2 : top), result);
}

static weft__ref integer_to_integer(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                                    weft__ref x)
{
    const int have = weft__dtype_bits(from), want = weft__dtype_bits(to);
    weft__llvm_cast *widen =
        weft__dtype_is_signed(from) ? weft__llvm.BuildSExt : weft__llvm.BuildZExt;
    if (have == want)
        return x;
    return cast_to(emitter, have > want ? weft__llvm.BuildTrunc : widen, x,
                   weft__emit_type(emitter, to));
}

static weft__ref integer_to_float(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                                  weft__ref x)
{
    weft__llvm_cast *cast =
        weft__dtype_is_signed(from) ? weft__llvm.BuildSIToFP : weft__llvm.BuildUIToFP;
    if (weft__dtype_bits(from) < 32) {
        x = integer_to_integer(emitter, from, WEFT_I32, x);
        cast = weft__llvm.BuildSIToFP;
    }
    return cast_to(emitter, cast, x, weft__emit_type(emitter, to));
}

weft__ref weft__emit_cast(const weft__emitter *emitter, weft_dtype from, weft_dtype to, weft__ref x)
{
    const bool from_float = weft__dtype_is_float(from), to_float = weft__dtype_is_float(to);
    if (from == to)
        return x;
    if (to == WEFT_BOOL && from_float)
        return compare(emitter, WEFT__FCMP_UNE, x, float_number(emitter, from, 0));
    if (to == WEFT_BOOL)
        return weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_NE, x,
                                    weft__emit_constant(emitter, from, 0), "");
    if (from_float && to_float)
        return cast_to(emitter, to == WEFT_F64 ? weft__llvm.BuildFPExt : weft__llvm.BuildFPTrunc, x,
                       weft__emit_type(emitter, to));
    if (from_float)
        return float_to_integer(emitter, from, to, x);
    return to_float ? integer_to_float(emitter, from, to, x)
                    : integer_to_integer(emitter, from, to, x);
}

weft__ref weft__emit_bitcast(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                             weft__ref x)
{
    if (from == to && !weft__dtype_is_float(from))
        return x;
    if (from == WEFT_BOOL || to == WEFT_BOOL)
        return weft__emit_cast(emitter, from, to, x);
    return cast_to(emitter, weft__llvm.BuildBitCast, weft__emit_canonical(emitter, from, x),
                   weft__emit_type(emitter, to));
}

static weft__ref shifted(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                         uint32_t count)
{
    return binary(emitter, build, x, u32(emitter, count));
}

static weft__ref as_f32(const weft__emitter *emitter, weft__ref bits)
{
    return cast_to(emitter, weft__llvm.BuildBitCast, bits, weft__emit_type(emitter, WEFT_F32));
}

static weft__ref as_u32(const weft__emitter *emitter, weft__ref x)
{
    return cast_to(emitter, weft__llvm.BuildBitCast, x, weft__emit_integer(emitter, 32));
}

static weft__ref below(const weft__emitter *emitter, weft__ref x, uint32_t bound)
{
    return weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_ULT, x, u32(emitter, bound), "");
}

/* The exponent of an f16, placed in an f32, is too small by 112; multiplying puts that right and
 * makes subnormals normal. Infinities and NaNs get the highest exponent. */
static weft__ref widen_f16(const weft__emitter *emitter, weft__ref wide)
{
    weft__llvm_binary *and = weft__llvm.BuildAnd, * or = weft__llvm.BuildOr;
    weft__ref magnitude = shifted(emitter, weft__llvm.BuildShl,
                                  binary(emitter, and, wide, u32(emitter, 0x7fffU)), 13);
    weft__ref sign = shifted(emitter, weft__llvm.BuildShl,
                             binary(emitter, and, wide, u32(emitter, 0x8000U)), 16);
    weft__ref finite =
        as_u32(emitter, binary(emitter, weft__llvm.BuildFMul, as_f32(emitter, magnitude),
                               float_number(emitter, WEFT_F32, 0x1p112)));
    weft__ref special = binary(emitter, or, magnitude, u32(emitter, 0x7f800000U));
    weft__ref ordered =
        weft__emit_select(emitter, below(emitter, magnitude, 0x0f800000U), finite, special);
    return as_f32(emitter, binary(emitter, or, sign, ordered));
}

/* A subnormal f16 is rounded by an addition to 0.5, whose last bit is worth as much as that of a
 * subnormal; a normal one by adding just under half of its last bit. Not for NaNs. */
static weft__ref narrow_f16(const weft__emitter *emitter, weft__ref x)
{
    weft__llvm_binary *add = weft__llvm.BuildAdd, *lower = weft__llvm.BuildLShr;
    weft__ref bits = as_u32(emitter, x);
    weft__ref magnitude = binary(emitter, weft__llvm.BuildAnd, bits, u32(emitter, 0x7fffffffU));
    weft__ref half = binary(emitter, weft__llvm.BuildFAdd, as_f32(emitter, magnitude),
                            float_number(emitter, WEFT_F32, 0.5));
    weft__ref subnormal =
        binary(emitter, weft__llvm.BuildSub, as_u32(emitter, half), u32(emitter, 0x3f000000U));
    weft__ref odd = binary(emitter, weft__llvm.BuildAnd, shifted(emitter, lower, magnitude, 13),
                           u32(emitter, 1));
    weft__ref moved = binary(emitter, add, magnitude, u32(emitter, 0xfffU - 0x38000000U));
    weft__ref normal = shifted(emitter, lower, binary(emitter, add, moved, odd), 13);
    weft__ref finite =
        weft__emit_select(emitter, below(emitter, magnitude, 0x38800000U), subnormal, normal);
    weft__ref ordered = weft__emit_select(emitter, below(emitter, magnitude, 0x477ff000U), finite,
                                          u32(emitter, 0x7c00U));
    weft__ref sign = binary(emitter, weft__llvm.BuildAnd, shifted(emitter, lower, bits, 16),
                            u32(emitter, 0x8000U));
    return binary(emitter, weft__llvm.BuildOr, ordered, sign);
}

static weft__ref narrow_bf16(const weft__emitter *emitter, weft__ref x)
{
    weft__ref bits = as_u32(emitter, x);
    weft__ref odd = binary(emitter, weft__llvm.BuildAnd,
                           shifted(emitter, weft__llvm.BuildLShr, bits, 16), u32(emitter, 1));
    weft__ref moved = binary(emitter, weft__llvm.BuildAdd, bits, u32(emitter, 0x7fffU));
    return shifted(emitter, weft__llvm.BuildLShr, binary(emitter, weft__llvm.BuildAdd, moved, odd),
                   16);
}

static weft__type half_type(const weft__emitter *emitter)
{
    return weft__emit_lanes(emitter, weft__llvm.HalfTypeInContext(emitter->context));
}

weft__ref weft__emit_widen(const weft__emitter *emitter, weft_dtype memory, weft__ref bytes)
{
    if (memory == WEFT_BOOL)
        return weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_NE, bytes,
                                    weft__emit_number(emitter, 8, 0), "");
    if (memory != WEFT_F16 && memory != WEFT_BF16)
        return cast_to(emitter, weft__llvm.BuildBitCast, bytes,
                       weft__emit_type(emitter, weft__value_dtype(memory)));
    if (memory == WEFT_F16 && emitter->survey->target.halves)
        return cast_to(emitter, weft__llvm.BuildFPExt,
                       cast_to(emitter, weft__llvm.BuildBitCast, bytes, half_type(emitter)),
                       weft__emit_type(emitter, WEFT_F32));
    weft__ref wide = cast_to(emitter, weft__llvm.BuildZExt, bytes, weft__emit_integer(emitter, 32));
    return memory == WEFT_F16 ? widen_f16(emitter, wide)
                              : as_f32(emitter, shifted(emitter, weft__llvm.BuildShl, wide, 16));
}

weft__ref weft__emit_narrow(const weft__emitter *emitter, weft_dtype memory, weft__ref x)
{
    weft__type i16 = weft__emit_integer(emitter, 16);
    weft__ref rounded;
    if (memory == WEFT_BOOL)
        return cast_to(emitter, weft__llvm.BuildZExt, x, weft__emit_integer(emitter, 8));
    if (memory != WEFT_F16 && memory != WEFT_BF16)
        return cast_to(emitter, weft__llvm.BuildBitCast, x,
                       weft__emit_integer(emitter, 8 << weft__memory_size(memory)));
    if (memory == WEFT_F16 && emitter->survey->target.halves)
        rounded = cast_to(emitter, weft__llvm.BuildBitCast,
                          cast_to(emitter, weft__llvm.BuildFPTrunc, x, half_type(emitter)), i16);
    else
        rounded =
            cast_to(emitter, weft__llvm.BuildTrunc,
                    memory == WEFT_F16 ? narrow_f16(emitter, x) : narrow_bf16(emitter, x), i16);
    return weft__emit_select(emitter, is_nan(emitter, x),
                             weft__emit_number(emitter, 16, memory == WEFT_F16 ? 0x7e00U : 0x7fc0U),
                             rounded);
}
