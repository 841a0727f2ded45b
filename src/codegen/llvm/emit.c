/* Types, constants, vectors and calls of LLVM's functions. */
#include "codegen/llvm/emit.h"

#include <string.h>

enum { LANES_MOST = 128 };

/* Five tables of values, and three that have room for all vectors of a turn. */
size_t weft__emitter_tables(const weft__survey *survey)
{
    return (5 + 3 * (size_t)survey->unroll) * survey->kernel->values_count * sizeof(weft__ref);
}

void weft__emitter_use_tables(weft__emitter *emitter, weft__ref *tables)
{
    const size_t count = emitter->survey->kernel->values_count;
    const size_t turn = (size_t)emitter->survey->unroll * count;
    emitter->single = tables;
    emitter->single_bytes = tables + count;
    emitter->vector = tables + 2 * count;
    emitter->vector_bytes = tables + 3 * count;
    emitter->rare_values = tables + 4 * count;
    emitter->value = emitter->values = tables + 5 * count;
    emitter->all_bytes = emitter->values + turn;
    emitter->all_pending = emitter->all_bytes + turn;
}

int weft__dtype_bits(weft_dtype dtype)
{
    return dtype == WEFT_BOOL ? 1 : 8 << weft__memory_size(dtype);
}

weft__type weft__emit_lanes(const weft__emitter *emitter, weft__type single)
{
    return emitter->lanes == 1 ? single : weft__llvm.VectorType(single, (unsigned)emitter->lanes);
}

weft__type weft__emit_integer(const weft__emitter *emitter, int bits)
{
    return weft__emit_lanes(emitter, weft__llvm.IntTypeInContext(emitter->context, (unsigned)bits));
}

static weft__type single_type(const weft__emitter *emitter, weft_dtype dtype)
{
    if (dtype == WEFT_F32)
        return weft__llvm.FloatTypeInContext(emitter->context);
    if (dtype == WEFT_F64)
        return weft__llvm.DoubleTypeInContext(emitter->context);
    return weft__llvm.IntTypeInContext(emitter->context, (unsigned)weft__dtype_bits(dtype));
}

weft__type weft__emit_type(const weft__emitter *emitter, weft_dtype dtype)
{
    return weft__emit_lanes(emitter, single_type(emitter, dtype));
}

static weft__ref repeat(const weft__emitter *emitter, weft__ref single)
{
    weft__ref all[LANES_MOST];
    if (emitter->lanes == 1)
        return single;
    for (int k = 0; k < emitter->lanes; k++)
        all[k] = single;
    return weft__llvm.ConstVector(all, (unsigned)emitter->lanes);
}

weft__ref weft__emit_number(const weft__emitter *emitter, int bits, uint64_t number)
{
    weft__type type = weft__llvm.IntTypeInContext(emitter->context, (unsigned)bits);
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    return repeat(emitter, weft__llvm.ConstInt(type, number & mask, 0));
}

/* By way of an integer, for a NaN keeps its bits that way. */
weft__ref weft__emit_constant(const weft__emitter *emitter, weft_dtype dtype, uint64_t bits)
{
    const int width = 8 << weft__memory_size(dtype);
    if (dtype == WEFT_BOOL)
        return weft__emit_number(emitter, 1, (bits & 0xff) != 0);
    if (!weft__dtype_is_float(dtype))
        return weft__emit_number(emitter, width, bits);
    weft__type type = weft__llvm.IntTypeInContext(emitter->context, (unsigned)width);
    weft__ref number = weft__llvm.ConstInt(type, width == 32 ? (uint32_t)bits : bits, 0);
    return repeat(emitter, weft__llvm.BuildBitCast(emitter->builder, number,
                                                   single_type(emitter, dtype), ""));
}

weft__ref weft__emit_i64(const weft__emitter *emitter, int64_t number)
{
    return weft__llvm.ConstInt(weft__llvm.IntTypeInContext(emitter->context, 64),
                               (unsigned long long)number, 1);
}

weft__ref weft__emit_shuffle(const weft__emitter *emitter, weft__ref x, weft__ref y,
                             const int *lanes, int count)
{
    weft__ref order[LANES_MOST];
    weft__type i32 = weft__llvm.IntTypeInContext(emitter->context, 32);
    for (int k = 0; k < count; k++)
        order[k] = weft__llvm.ConstInt(i32, (unsigned)lanes[k], 0);
    return weft__llvm.BuildShuffleVector(emitter->builder, x, y,
                                         weft__llvm.ConstVector(order, (unsigned)count), "");
}

weft__ref weft__emit_splat(const weft__emitter *emitter, weft__ref single, int lanes)
{
    static const int zeros[LANES_MOST];
    weft__type type = weft__llvm.VectorType(weft__llvm.TypeOf(single), (unsigned)lanes);
    weft__ref nothing = weft__llvm.GetUndef(type);
    weft__ref first = weft__llvm.BuildInsertElement(emitter->builder, nothing, single,
                                                    weft__emit_i64(emitter, 0), "");
    return weft__emit_shuffle(emitter, first, nothing, zeros, lanes);
}

/* Whether a choice is that of the smaller or larger of both, which LLVM has instructions for; or of
 * one that is the same as the other, which LLVM sees. */
static bool is_extremum(weft__ref condition, weft__ref x, weft__ref y)
{
    if (!weft__llvm.IsAICmpInst(condition))
        return false;
    weft__ref left = weft__llvm.GetOperand(condition, 0);
    weft__ref right = weft__llvm.GetOperand(condition, 1);
    return (left == x && right == y) || (left == y && right == x);
}

/* LLVM 15 makes a widened choice of two loads a choice of two widening loads, with AVX2 also where
 * its mask is as wide as before, and ends the process. It looks through nothing that is frozen. */
static bool is_widened_wrongly(const weft__emitter *emitter, weft__ref condition, weft__ref x,
                               weft__ref y)
{
    weft__type type = weft__llvm.TypeOf(x);
    return emitter->survey->target.isa == WEFT__ISA_AVX2 &&
           weft__llvm.GetTypeKind(type) == WEFT__TYPE_VECTOR &&
           weft__llvm.GetTypeKind(weft__llvm.GetElementType(type)) == WEFT__TYPE_INTEGER &&
           !weft__llvm.IsConstant(x) && !weft__llvm.IsConstant(y) && !is_extremum(condition, x, y);
}

weft__ref weft__emit_select(const weft__emitter *emitter, weft__ref condition, weft__ref x,
                            weft__ref y)
{
    if (weft__llvm.IsConstant(condition) && weft__llvm.IsNull(condition))
        return y;
    if (x == y || condition == weft__llvm.ConstAllOnes(weft__llvm.TypeOf(condition)))
        return x;
    x = weft__emit_held(emitter, x);
    y = weft__emit_held(emitter, y);
    if (is_widened_wrongly(emitter, condition, x, y))
        x = weft__llvm.BuildFreeze(emitter->builder, x, "");
    return weft__llvm.BuildSelect(emitter->builder, condition, x, y, "");
}

weft__ref weft__emit_intrinsic(const weft__emitter *emitter, const char *name, weft__type *types,
                               int types_count, weft__ref *arguments, unsigned count)
{
    const unsigned number = weft__llvm.LookupIntrinsicID(name, strlen(name));
    weft__ref function =
        weft__llvm.GetIntrinsicDeclaration(emitter->module, number, types, (size_t)types_count);
    weft__type type =
        weft__llvm.IntrinsicGetType(emitter->context, number, types, (size_t)types_count);
    return weft__llvm.BuildCall2(emitter->builder, type, function, arguments, count, "");
}

weft__ref weft__emit_call(const weft__emitter *emitter, const char *name, weft__ref *arguments,
                          unsigned count)
{
    weft__type type = weft__llvm.TypeOf(arguments[0]);
    return weft__emit_intrinsic(emitter, name, &type, 1, arguments, count);
}

weft__ref weft__emit_address(const weft__emitter *emitter, weft__ref base, weft__ref offset)
{
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    return weft__llvm.BuildGEP2(emitter->builder, byte, base, &offset, 1, "");
}

/* Without the first one, tables for unwinding would be made. */
void weft__emit_attributes(const weft__emitter *emitter, weft__ref function, bool soon)
{
    static const char *const names[] = {"nounwind", "noinline", "optnone"};
    for (int k = 0; k < (soon ? 3 : 1); k++) {
        const unsigned kind = weft__llvm.GetEnumAttributeKindForName(names[k], strlen(names[k]));
        weft__llvm.AddAttributeAtIndex(function, (unsigned)WEFT__ATTRIBUTE_FUNCTION,
                                       weft__llvm.CreateEnumAttribute(emitter->context, kind, 0));
    }
}

weft__ref weft__emit_opaque(const weft__emitter *emitter, weft__ref x)
{
    static const char same_register[] = "=r,0";
    weft__type i64 = weft__llvm.TypeOf(x), type = weft__llvm.FunctionType(i64, &i64, 1, 0);
    weft__ref nothing =
        weft__llvm.GetInlineAsm(type, "", 0, same_register, sizeof same_register - 1, 0, 0, 0, 0);
    return weft__llvm.BuildCall2(emitter->builder, type, nothing, &x, 1, "");
}

weft__ref weft__emit_opaque_vector(const weft__emitter *emitter, weft__ref x)
{
    const bool is_arm = emitter->survey->target.isa == WEFT__ISA_NEON;
    weft__type vector = weft__llvm.TypeOf(x);
    weft__type type = weft__llvm.FunctionType(vector, &vector, 1, 0);
    weft__ref nothing =
        weft__llvm.GetInlineAsm(type, "", 0, is_arm ? "=w,0" : "=v,0", 4, 0, 0, 0, 0);
    return weft__llvm.BuildCall2(emitter->builder, type, nothing, &x, 1, "");
}

void weft__emit_tie(const weft__emitter *emitter, weft__ref *x, weft__ref *y)
{
    static const char x86[] = "=v,=v,0,1", arm[] = "=w,=w,0,1";
    const bool is_arm = emitter->survey->target.isa == WEFT__ISA_NEON;
    weft__type types[2] = {weft__llvm.TypeOf(*x), weft__llvm.TypeOf(*y)};
    weft__type both = weft__llvm.StructTypeInContext(emitter->context, types, 2, 0);
    weft__type type = weft__llvm.FunctionType(both, types, 2, 0);
    weft__ref arguments[2] = {*x, *y};
    weft__ref nothing =
        weft__llvm.GetInlineAsm(type, "", 0, is_arm ? arm : x86, sizeof x86 - 1, 0, 0, 0, 0);
    weft__ref tied = weft__llvm.BuildCall2(emitter->builder, type, nothing, arguments, 2, "");
    *x = weft__llvm.BuildExtractValue(emitter->builder, tied, 0, "");
    *y = weft__llvm.BuildExtractValue(emitter->builder, tied, 1, "");
}
