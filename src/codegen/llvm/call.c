/* Functions of vectors that a kernel calls, each made with its first call. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/outline.h"

#include <stdio.h>
#include <string.h>

enum { INTERNAL = 8 }; /* LLVMInternalLinkage */

static weft__type type_of(const weft__emitter *emitter, const weft__piece *piece)
{
    weft__type types[WEFT__REPEAT_INPUTS + WEFT__REPEAT_OUTPUTS];
    for (int k = 0; k < piece->inputs + piece->outputs; k++)
        types[k] = weft__emit_type(emitter, (weft_dtype)piece->kernel.operands[k].dtype);
    weft__type results = weft__llvm.StructTypeInContext(emitter->context, types + piece->inputs,
                                                        (unsigned)piece->outputs, 0);
    return weft__llvm.FunctionType(results, types, (unsigned)piece->inputs, 0);
}

/* From the beginning of a function: no lane is missing, and no memory is at hand. */
static weft__emitter begin_function(const weft__emitter *emitter, weft__piece *piece)
{
    weft__emitter inner = {.survey = &piece->survey,
                           .context = emitter->context,
                           .module = emitter->module,
                           .builder = emitter->builder};
    memset(piece->tables, 0, weft__emitter_tables(&piece->survey));
    weft__emitter_use_tables(&inner, piece->tables);
    return inner;
}

static void emit_body(weft__emitter *inner, const weft__piece *piece, int lanes)
{
    weft__ref results[WEFT__REPEAT_OUTPUTS];
    weft__flow_enter(inner, weft__flow_block(inner));
    weft__emit_frame(inner);
    weft__emit_level(inner, WEFT__LEVEL_LAUNCH);
    inner->lanes = lanes;
    for (int k = 0; k < piece->inputs; k++)
        inner->values[k] = weft__llvm.GetParam(inner->function, (unsigned)k);
    weft__emit_vector(inner);
    const weft__value *stores = piece->kernel.values + piece->kernel.values_count - piece->outputs;
    for (int k = 0; k < piece->outputs; k++)
        results[k] = weft__emit_argument(inner, stores[k].argument[0]);
    weft__llvm.BuildAggregateRet(inner->builder, results, (unsigned)piece->outputs);
}

static weft__ref new_function(const weft__emitter *emitter, weft__piece *piece, const char *name,
                              weft__type type)
{
    weft__held_constants constants = {.count = 0};
    weft__block here = weft__flow_here(emitter);
    weft__emitter inner = begin_function(emitter, piece);
    inner.constants = &constants;
    inner.function = weft__llvm.AddFunction(emitter->module, name, type);
    weft__llvm.SetLinkage(inner.function, INTERNAL);
    weft__emit_attributes(emitter, inner.function, false);
    emit_body(&inner, piece, emitter->lanes);
    weft__flow_enter(emitter, here);
    return inner.function;
}

weft__ref weft__emit_piece(const weft__emitter *emitter, const weft__value *call)
{
    char name[32];
    const weft__value *values = emitter->survey->kernel->values;
    weft__piece *piece = &emitter->survey->outline->pieces[call->slot];
    weft__type type = type_of(emitter, piece);
    weft__ref inputs[WEFT__REPEAT_INPUTS];
    int32_t pass = call->argument[0];
    for (int k = piece->inputs; k-- > 0; pass = values[pass].argument[1])
        inputs[k] = weft__emit_argument(emitter, pass);
    (void)snprintf(name, sizeof name, "weft_piece_%d_%d", call->slot, emitter->lanes);
    weft__ref function = weft__llvm.GetNamedFunction(emitter->module, name);
    if (function == NULL)
        function = new_function(emitter, piece, name, type);
    return weft__llvm.BuildCall2(emitter->builder, type, function, inputs, (unsigned)piece->inputs,
                                 "");
}
