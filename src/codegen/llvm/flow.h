/* Blocks, loops and fields of what a kernel is called with: the small words of emitting functions.
 */
#ifndef WEFT_CODEGEN_LLVM_FLOW_H
#define WEFT_CODEGEN_LLVM_FLOW_H

#include "codegen/llvm/emit.h"

static inline weft__block weft__flow_block(const weft__emitter *emitter)
{
    return weft__llvm.AppendBasicBlockInContext(emitter->context, emitter->function, "");
}

static inline void weft__flow_enter(const weft__emitter *emitter, weft__block to)
{
    weft__llvm.PositionBuilderAtEnd(emitter->builder, to);
}

static inline weft__block weft__flow_here(const weft__emitter *emitter)
{
    return weft__llvm.GetInsertBlock(emitter->builder);
}

static inline weft__type weft__flow_i64(const weft__emitter *emitter)
{
    return weft__llvm.IntTypeInContext(emitter->context, 64);
}

/* A field of 8 bytes, by its number. */
static inline weft__ref weft__flow_field(const weft__emitter *emitter, weft__ref base,
                                         int64_t number, weft__type type)
{
    weft__ref address = weft__emit_address(emitter, base, weft__emit_i64(emitter, 8 * number));
    return weft__llvm.BuildLoad2(emitter->builder, type, address, "");
}

static inline weft__ref weft__flow_plus(const weft__emitter *emitter, weft__ref x, int64_t number)
{
    return weft__llvm.BuildAdd(emitter->builder, x, weft__emit_i64(emitter, number), "");
}

static inline weft__ref weft__flow_compare(const weft__emitter *emitter, int predicate, weft__ref x,
                                           weft__ref y)
{
    return weft__llvm.BuildICmp(emitter->builder, predicate, x, y, "");
}

static inline weft__ref weft__flow_phi(const weft__emitter *emitter, weft__type type)
{
    return weft__llvm.BuildPhi(emitter->builder, type, "");
}

/* One more way into the block of a phi. */
static inline void weft__flow_incoming(weft__ref phi, weft__ref value, weft__block from)
{
    weft__llvm.AddIncoming(phi, &value, &from, 1);
}

static inline void weft__flow_jump(const weft__emitter *emitter, weft__block to)
{
    weft__llvm.BuildBr(emitter->builder, to);
}

static inline void weft__flow_branch(const weft__emitter *emitter, weft__ref condition,
                                     weft__block yes, weft__block no)
{
    weft__llvm.BuildCondBr(emitter->builder, condition, yes, no);
}

#endif
