/* Constants of vectors, in memory. LLVM takes long for one that it sees: it is as many operands as
 * there are lanes, and each operation looks whether its negative is better, which makes another. A
 * load is one value, and says nothing. */
#include "codegen/llvm/flow.h"

enum {
    PRIVATE = 9, /* LLVMPrivateLinkage */
    LINE = 64,
    EARLY = 20,   /* constants that are in registers through all loops, … */
    EARLY_FEW = 6 /* … on machines with 16 registers; the others are loaded where they are used */
};

static weft__ref global_of(const weft__emitter *emitter, weft__ref constant)
{
    weft__ref global = weft__llvm.AddGlobal(emitter->module, weft__llvm.TypeOf(constant), "");
    weft__llvm.SetInitializer(global, constant);
    weft__llvm.SetGlobalConstant(global, 1);
    weft__llvm.SetLinkage(global, PRIVATE);
    weft__llvm.SetAlignment(global, LINE);
    return global;
}

/* That nothing writes there lets it be loaded again where registers are short. */
static weft__ref load(const weft__emitter *emitter, weft__ref global, weft__type type)
{
    weft__ref loaded = weft__llvm.BuildLoad2(emitter->builder, type, global, "");
    weft__ref nothing = weft__llvm.MetadataAsValue(
        emitter->context, weft__llvm.MDNodeInContext2(emitter->context, NULL, 0));
    weft__llvm.SetAlignment(loaded, LINE);
    weft__llvm.SetMetadata(
        loaded, weft__llvm.GetMDKindIDInContext(emitter->context, "invariant.load", 14), nothing);
    return loaded;
}

/* The one that holds a constant; or NULL, if there are too many. Constants of the same bits are the
 * same value to LLVM. */
static weft__held_constant *held(const weft__emitter *emitter, weft__ref constant)
{
    weft__held_constants *all = emitter->constants;
    for (int k = 0; k < all->count; k++)
        if (all->constant[k].value == constant)
            return &all->constant[k];
    if (all->count == WEFT__HELD_CONSTANTS)
        return NULL;
    weft__held_constant *added = &all->constant[all->count++];
    *added = (weft__held_constant){.value = constant, .global = global_of(emitter, constant)};
    return added;
}

static bool has_many_registers(const weft__emitter *emitter)
{
    const weft__isa isa = emitter->survey->target.isa;
    return isa == WEFT__ISA_AVX512 || isa == WEFT__ISA_NEON;
}

/* What is loaded before all loops is there in all blocks. */
static bool load_early(const weft__emitter *emitter, weft__held_constant *constant)
{
    weft__held_constants *all = emitter->constants;
    weft__block here = weft__flow_here(emitter);
    if (all->before == NULL || all->early == (has_many_registers(emitter) ? EARLY : EARLY_FEW))
        return false;
    weft__flow_enter(emitter, all->before);
    constant->loaded = load(emitter, constant->global, weft__llvm.TypeOf(constant->value));
    constant->block = all->before;
    all->early++;
    weft__flow_enter(emitter, here);
    return true;
}

weft__ref weft__emit_held(const weft__emitter *emitter, weft__ref x)
{
    if (!weft__llvm.IsConstant(x) || weft__llvm.IsNull(x) ||
        weft__llvm.GetTypeKind(weft__llvm.TypeOf(x)) != WEFT__TYPE_VECTOR)
        return x;
    weft__held_constant *constant = held(emitter, x);
    if (constant == NULL)
        return x;
    weft__block here = weft__flow_here(emitter);
    const bool known = constant->block != NULL &&
                       (constant->block == here || constant->block == emitter->constants->before);
    if (known || (constant->block == NULL && load_early(emitter, constant)))
        return constant->loaded;
    constant->loaded = load(emitter, constant->global, weft__llvm.TypeOf(x));
    constant->block = here;
    return constant->loaded;
}

weft__block weft__emit_held_begin(const weft__emitter *emitter)
{
    weft__held_constants *all = emitter->constants;
    for (int k = 0; k < all->count; k++)
        all->constant[k].block = NULL;
    all->early = 0;
    all->before = weft__flow_block(emitter);
    weft__flow_jump(emitter, all->before);
    return all->before;
}

void weft__emit_held_end(const weft__emitter *emitter, weft__block after)
{
    weft__flow_enter(emitter, emitter->constants->before);
    weft__flow_jump(emitter, after);
    emitter->constants->before = NULL;
}
