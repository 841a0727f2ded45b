/* Quotients of integers. Vectors have no instructions for them: those of few bits go by way of
 * floats; those of 64 bits too, if all lanes are exact as f64, else lane by lane. */
#include "codegen/llvm/flow.h"

#include <stdio.h>

enum {
    INTERNAL = 8, /* LLVMInternalLinkage */
    EXACT = 53,   /* bits of an integer that is exact as f64 */
    LINE = 64
};

/* Of up to 32 bits, by way of floats that hold them exactly: a quotient that is no integer is
 * further from the next one than it is rounded. */
static weft__ref divide_as_floats(const weft__emitter *emitter, weft_dtype dtype, weft__ref x,
                                  weft__ref y)
{
    const weft_dtype through = weft__dtype_bits(dtype) < 32 ? WEFT_F32 : WEFT_F64;
    const bool is_signed = weft__dtype_is_signed(dtype);
    weft__ref quotient =
        weft__llvm.BuildFDiv(emitter->builder, weft__emit_cast(emitter, dtype, through, x),
                             weft__emit_cast(emitter, dtype, through, y), "");
    if (weft__dtype_bits(dtype) == 32) {
        weft__llvm_cast *cast = is_signed ? weft__llvm.BuildFPToSI : weft__llvm.BuildFPToUI;
        return cast(emitter->builder, quotient, weft__emit_integer(emitter, 32), "");
    }
    weft__ref wide =
        weft__llvm.BuildFPToSI(emitter->builder, quotient, weft__emit_integer(emitter, 32), "");
    return weft__llvm.BuildTrunc(emitter->builder, wide, weft__emit_type(emitter, dtype), "");
}

/* The same of 64 bits that are exact. */
static weft__ref divide_as_f64(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    weft__type f64 = weft__emit_type(emitter, WEFT_F64);
    weft__ref quotient =
        weft__llvm.BuildFDiv(emitter->builder, weft__llvm.BuildSIToFP(emitter->builder, x, f64, ""),
                             weft__llvm.BuildSIToFP(emitter->builder, y, f64, ""), "");
    return weft__llvm.BuildFPToSI(emitter->builder, quotient, weft__emit_integer(emitter, 64), "");
}

/* i1: whether they are from -2^53 on, or 0, and less than 2^53, in all lanes. */
static weft__ref are_exact(const weft__emitter *emitter, bool is_signed, weft__ref x, weft__ref y)
{
    weft__ref least = weft__emit_number(emitter, 64, (uint64_t)1 << EXACT);
    weft__type bits = weft__llvm.IntTypeInContext(emitter->context, (unsigned)emitter->lanes);
    if (is_signed) {
        x = weft__llvm.BuildAdd(emitter->builder, x, least, "");
        y = weft__llvm.BuildAdd(emitter->builder, y, least, "");
    }
    weft__ref count = weft__emit_number(emitter, 64, EXACT + (uint64_t)is_signed);
    weft__ref high = weft__llvm.BuildLShr(
        emitter->builder, weft__llvm.BuildOr(emitter->builder, x, y, ""), count, "");
    weft__ref some =
        weft__flow_compare(emitter, WEFT__ICMP_NE, high, weft__emit_number(emitter, 64, 0));
    return weft__flow_compare(emitter, WEFT__ICMP_EQ,
                              weft__llvm.BuildBitCast(emitter->builder, some, bits, ""),
                              weft__llvm.ConstNull(bits));
}

/* Divides what is in the first room by what is in the other one. */
static void emit_lanes(const weft__emitter *emitter, bool is_signed, const weft__ref *room)
{
    weft__llvm_binary *divide = is_signed ? weft__llvm.BuildSDiv : weft__llvm.BuildUDiv;
    weft__type i64 = weft__flow_i64(emitter);
    weft__ref end = weft__emit_i64(emitter, emitter->lanes);
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_jump(emitter, loop);
    weft__flow_enter(emitter, loop);
    weft__ref at = weft__flow_phi(emitter, i64), x[2], address[2];
    weft__ref bytes = weft__llvm.BuildShl(emitter->builder, at, weft__emit_i64(emitter, 3), "");
    for (int k = 0; k < 2; k++) {
        address[k] = weft__emit_address(emitter, room[k], bytes);
        x[k] = weft__llvm.BuildLoad2(emitter->builder, i64, address[k], "");
    }
    (void)weft__llvm.BuildStore(emitter->builder, divide(emitter->builder, x[0], x[1], ""),
                                address[0]);
    weft__ref next = weft__flow_plus(emitter, at, 1);
    weft__flow_incoming(at, weft__emit_i64(emitter, 0), before);
    weft__flow_incoming(at, next, loop);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, next, end), loop, after);
    weft__flow_enter(emitter, after);
}

static weft__ref new_room(const weft__emitter *emitter)
{
    weft__ref room = weft__llvm.BuildAlloca(emitter->builder, weft__emit_integer(emitter, 64), "");
    weft__llvm.SetAlignment(room, LINE);
    return room;
}

static void emit_wide(const weft__emitter *emitter, bool is_signed, weft__ref x, weft__ref y)
{
    weft__ref room[2] = {new_room(emitter), new_room(emitter)};
    weft__block exact = weft__flow_block(emitter), others = weft__flow_block(emitter);
    weft__flow_branch(emitter, are_exact(emitter, is_signed, x, y), exact, others);
    weft__flow_enter(emitter, exact);
    weft__llvm.BuildRet(emitter->builder, divide_as_f64(emitter, x, y));
    weft__flow_enter(emitter, others);
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, x, room[0]), LINE);
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, y, room[1]), LINE);
    emit_lanes(emitter, is_signed, room);
    weft__ref all =
        weft__llvm.BuildLoad2(emitter->builder, weft__emit_integer(emitter, 64), room[0], "");
    weft__llvm.SetAlignment(all, LINE);
    weft__llvm.BuildRet(emitter->builder, all);
}

static weft__ref new_function(const weft__emitter *emitter, const char *name, weft__type type,
                              weft_dtype dtype)
{
    weft__block here = weft__flow_here(emitter);
    weft__emitter inner = *emitter;
    inner.function = weft__llvm.AddFunction(emitter->module, name, type);
    weft__llvm.SetLinkage(inner.function, INTERNAL);
    weft__emit_attributes(emitter, inner.function, true);
    weft__flow_enter(&inner, weft__flow_block(&inner));
    weft__ref x = weft__llvm.GetParam(inner.function, 0),
              y = weft__llvm.GetParam(inner.function, 1);
    if (weft__dtype_bits(dtype) == 64)
        emit_wide(&inner, weft__dtype_is_signed(dtype), x, y);
    else
        weft__llvm.BuildRet(inner.builder, divide_as_floats(&inner, dtype, x, y));
    weft__flow_enter(emitter, here);
    return inner.function;
}

/* AVX-512 has instructions between integers of 64 bits and f64; others divide lanes as fast. Bytes
 * are four vectors of floats. */
bool weft__quotient_is_apart(const weft__target *target, weft_dtype dtype)
{
    return target->isa == WEFT__ISA_AVX512 &&
           (weft__memory_size(dtype) == 0 || weft__memory_size(dtype) == 3);
}

weft__ref weft__emit_quotient(const weft__emitter *emitter, weft_dtype dtype, weft__ref x,
                              weft__ref y)
{
    char name[32];
    const bool apart =
        emitter->lanes > 1 && weft__quotient_is_apart(&emitter->survey->target, dtype);
    if (!apart && weft__dtype_bits(dtype) <= 32)
        return divide_as_floats(emitter, dtype, x, y);
    if (!apart)
        return (weft__dtype_is_signed(dtype) ? weft__llvm.BuildSDiv
                                             : weft__llvm.BuildUDiv)(emitter->builder, x, y, "");
    weft__type vector = weft__emit_type(emitter, dtype), types[2] = {vector, vector};
    weft__type type = weft__llvm.FunctionType(vector, types, 2, 0);
    weft__ref arguments[2] = {x, y};
    (void)snprintf(name, sizeof name, "weft_divide_%s_%d", weft_dtype_name(dtype), emitter->lanes);
    weft__ref function = weft__llvm.GetNamedFunction(emitter->module, name);
    if (function == NULL)
        function = new_function(emitter, name, type, dtype);
    return weft__llvm.BuildCall2(emitter->builder, type, function, arguments, 2, "");
}
