/* Functions of vectors that a kernel calls, each made with its first call. All vectors of a turn go
 * there together, so that one has work while another waits. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/outline.h"

#include <stdio.h>
#include <string.h>

enum {
    INTERNAL = 8, /* LLVMInternalLinkage */
    INPUTS_MOST = WEFT__REPEAT_INPUTS * WEFT__UNROLL_MOST,
    OUTPUTS_MOST = WEFT__REPEAT_OUTPUTS * WEFT__UNROLL_MOST
};

static weft__type type_of(const weft__emitter *emitter, const weft__piece *piece, int unroll)
{
    const weft__kernel_operand *operands = piece->kernel.operands;
    weft__type inputs[INPUTS_MOST], outputs[OUTPUTS_MOST];
    for (int k = 0; k < unroll * piece->inputs; k++)
        inputs[k] = weft__emit_type(emitter, (weft_dtype)operands[k % piece->inputs].dtype);
    operands += piece->inputs;
    for (int k = 0; k < unroll * piece->outputs; k++)
        outputs[k] = weft__emit_type(emitter, (weft_dtype)operands[k % piece->outputs].dtype);
    weft__type results = weft__llvm.StructTypeInContext(emitter->context, outputs,
                                                        (unsigned)(unroll * piece->outputs), 0);
    return weft__llvm.FunctionType(results, inputs, (unsigned)(unroll * piece->inputs), 0);
}

/* The values of vector number k of a turn. */
static weft__ref *values_of(const weft__emitter *emitter, int k)
{
    return emitter->values + (size_t)k * emitter->survey->kernel->values_count;
}

static void emit_return(weft__emitter *inner, const weft__piece *piece, int unroll)
{
    const weft__kernel *kernel = &piece->kernel;
    const weft__value *stores = kernel->values + kernel->values_count - piece->outputs;
    weft__ref results[OUTPUTS_MOST];
    for (int k = 0; k < unroll * piece->outputs; k++) {
        inner->value = values_of(inner, k / piece->outputs);
        results[k] = weft__emit_argument(inner, stores[k % piece->outputs].argument[0]);
    }
    weft__llvm.BuildAggregateRet(inner->builder, results, (unsigned)(unroll * piece->outputs));
}

static void emit_body(weft__emitter *inner, const weft__piece *piece, int lanes, int unroll)
{
    weft__flow_enter(inner, weft__flow_block(inner));
    weft__emit_frame(inner);
    weft__emit_level(inner, WEFT__LEVEL_LAUNCH);
    inner->lanes = lanes;
    for (int k = 0; k < unroll * piece->inputs; k++)
        values_of(inner, k / piece->inputs)[k % piece->inputs] =
            weft__llvm.GetParam(inner->function, (unsigned)k);
    weft__emit_vectors(inner, unroll);
    emit_return(inner, piece, unroll);
}

/* No lane is missing, and no memory is at hand. */
static weft__ref new_function(const weft__emitter *emitter, const weft__piece *piece,
                              const char *name, weft__type type, int unroll)
{
    weft__held_constants constants = {.count = 0};
    weft__block here = weft__flow_here(emitter);
    weft__emitter inner = {.survey = &piece->survey,
                           .context = emitter->context,
                           .module = emitter->module,
                           .builder = emitter->builder,
                           .constants = &constants};
    memset(piece->tables, 0, weft__emitter_tables(&piece->survey));
    weft__emitter_use_tables(&inner, piece->tables);
    inner.function = weft__llvm.AddFunction(emitter->module, name, type);
    weft__llvm.SetLinkage(inner.function, INTERNAL);
    weft__emit_attributes(emitter, inner.function, false);
    emit_body(&inner, piece, emitter->lanes, unroll);
    weft__flow_enter(emitter, here);
    return inner.function;
}

static void find_inputs(weft__emitter *emitter, uint32_t call, int count, weft__ref *inputs)
{
    const weft__value *values = emitter->survey->kernel->values;
    int32_t pass = values[call].argument[0];
    for (int k = count; k-- > 0; pass = values[pass].argument[1])
        inputs[k] = weft__emit_argument(emitter, pass);
}

void weft__emit_piece(weft__emitter *emitter, uint32_t call, int unroll)
{
    char name[48];
    const int number = emitter->survey->kernel->values[call].slot;
    const weft__piece *piece = &emitter->survey->outline->pieces[number];
    weft__type type = type_of(emitter, piece, unroll);
    weft__ref inputs[INPUTS_MOST];
    for (int k = 0; k < unroll; k++) {
        emitter->value = values_of(emitter, k);
        find_inputs(emitter, call, piece->inputs, inputs + k * piece->inputs);
    }
    (void)snprintf(name, sizeof name, "weft_piece_%d_%d_%d", number, emitter->lanes, unroll);
    weft__ref function = weft__llvm.GetNamedFunction(emitter->module, name);
    if (function == NULL)
        function = new_function(emitter, piece, name, type, unroll);
    weft__ref called = weft__llvm.BuildCall2(emitter->builder, type, function, inputs,
                                             (unsigned)(unroll * piece->inputs), "");
    for (int k = 0; k < unroll; k++)
        values_of(emitter, k)[call] = called;
}

weft__ref weft__emit_result(const weft__emitter *emitter, const weft__value *result)
{
    const weft__value *call = &emitter->survey->kernel->values[result->argument[0]];
    const int outputs = emitter->survey->outline->pieces[call->slot].outputs;
    return weft__llvm.BuildExtractValue(emitter->builder, emitter->value[result->argument[0]],
                                        (unsigned)(emitter->turn * outputs + result->slot), "");
}
