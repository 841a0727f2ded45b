/* Functions of vectors that a kernel calls, each made with its first call. All vectors of a turn go
 * there together, so that one has work while another waits. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/outline.h"

#include <stdio.h>
#include <string.h>

enum {
    INTERNAL = 8, /* LLVMInternalLinkage */
    PRIVATE = 9,  /* LLVMPrivateLinkage */
    LINE = 64,
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

/* Machine code as a constant, in lines, which the loader makes executable as all that it loads. */
static weft__ref new_code(const weft__emitter *emitter, const weft__x86_code *machine)
{
    enum { WORDS = LINE / sizeof(uint64_t) };
    weft__ref lines[WEFT__X86_CODE_MOST / LINE];
    unsigned count = 0;
    for (uint32_t at = 0; at < machine->count; at += LINE) {
        uint64_t words[WORDS] = {0};
        weft__ref line[WORDS];
        memcpy(words, machine->bytes + at, machine->count - at < LINE ? machine->count - at : LINE);
        for (size_t k = 0; k < WORDS; k++)
            line[k] = weft__emit_i64(emitter, (int64_t)words[k]);
        lines[count++] = weft__llvm.ConstVector(line, WORDS);
    }
    weft__ref bytes = weft__llvm.ConstStructInContext(emitter->context, lines, count, 0);
    weft__ref code = weft__llvm.AddGlobal(emitter->module, weft__llvm.TypeOf(bytes), "");
    weft__llvm.SetInitializer(code, bytes);
    weft__llvm.SetGlobalConstant(code, 1);
    weft__llvm.SetLinkage(code, PRIVATE);
    weft__llvm.SetAlignment(code, LINE);
    return code;
}

/* Where an operand of machine code is, and its type there: bools are bits. */
static weft__ref operand_address(const weft__emitter *emitter, const weft__piece *piece,
                                 int operand)
{
    const uint32_t at =
        weft__x86_operand(&piece->kernel, (uint32_t)operand, emitter->survey->lanes);
    return weft__emit_address(emitter, emitter->called, weft__emit_i64(emitter, at));
}

static bool is_bits(const weft__piece *piece, int operand)
{
    return piece->kernel.operands[operand].dtype == WEFT_BOOL;
}

/* A single value goes there in all lanes. */
static void put_operand(const weft__emitter *emitter, const weft__piece *piece, int operand,
                        weft__ref x)
{
    const int lanes = emitter->survey->lanes;
    if (emitter->lanes == 1)
        x = weft__emit_splat(emitter, x, lanes);
    if (is_bits(piece, operand))
        x = weft__llvm.BuildBitCast(emitter->builder, x,
                                    weft__llvm.IntTypeInContext(emitter->context, (unsigned)lanes),
                                    "");
    weft__llvm.SetAlignment(
        weft__llvm.BuildStore(emitter->builder, x, operand_address(emitter, piece, operand)), LINE);
}

static weft__ref take_operand(weft__emitter *emitter, const weft__piece *piece, int operand)
{
    const int lanes = emitter->survey->lanes, own = emitter->lanes;
    emitter->lanes = lanes;
    weft__type type = weft__emit_type(emitter, (weft_dtype)piece->kernel.operands[operand].dtype);
    emitter->lanes = own;
    weft__type bits = weft__llvm.IntTypeInContext(emitter->context, (unsigned)lanes);
    weft__ref x = weft__llvm.BuildLoad2(emitter->builder, is_bits(piece, operand) ? bits : type,
                                        operand_address(emitter, piece, operand), "");
    weft__llvm.SetAlignment(x, LINE);
    if (is_bits(piece, operand))
        x = weft__llvm.BuildBitCast(emitter->builder, x, type, "");
    return own == 1
               ? weft__llvm.BuildExtractElement(emitter->builder, x, weft__emit_i64(emitter, 0), "")
               : x;
}

/* One vector after the other; what it gives are the values after the call. */
static void emit_machine(weft__emitter *emitter, uint32_t call, weft__piece *piece, int unroll)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    weft__type type =
        weft__llvm.FunctionType(weft__llvm.VoidTypeInContext(emitter->context), &pointer, 1, 0);
    const weft__value *values = emitter->survey->kernel->values;
    if (piece->code == NULL)
        piece->code = new_code(emitter, &piece->machine);
    for (int k = 0; k < unroll; k++) {
        emitter->value = values_of(emitter, k);
        int32_t pass = values[call].argument[0];
        for (int j = piece->inputs; j-- > 0; pass = values[pass].argument[1])
            put_operand(emitter, piece, j, weft__emit_argument(emitter, pass));
        (void)weft__llvm.BuildCall2(emitter->builder, type, piece->code, &emitter->called, 1, "");
        for (int j = 0; j < piece->outputs; j++)
            emitter->value[call + 1 + (uint32_t)j] =
                take_operand(emitter, piece, piece->inputs + j);
    }
}

void weft__emit_piece(weft__emitter *emitter, uint32_t call, int unroll)
{
    char name[48];
    const int number = emitter->survey->kernel->values[call].slot;
    weft__piece *piece = &emitter->survey->outline->pieces[number];
    if (emitter->survey->outline->machine) {
        emit_machine(emitter, call, piece, unroll);
        return;
    }
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
    const weft__value *values = emitter->survey->kernel->values;
    const weft__value *call = &values[result->argument[0]];
    const int outputs = emitter->survey->outline->pieces[call->slot].outputs;
    if (emitter->survey->outline->machine)
        return emitter->value[result - values];
    return weft__llvm.BuildExtractValue(emitter->builder, emitter->value[result->argument[0]],
                                        (unsigned)(emitter->turn * outputs + result->slot), "");
}

void weft__emit_called(weft__emitter *emitter)
{
    const weft__outline *outline = emitter->survey->outline;
    uint32_t bytes = 0;
    emitter->called = NULL;
    for (int k = 0; outline != NULL && k < outline->count; k++)
        if (outline->pieces[k].machine.frame > bytes)
            bytes = outline->pieces[k].machine.frame;
    if (bytes == 0)
        return;
    weft__type word = weft__llvm.IntTypeInContext(emitter->context, 64);
    emitter->called =
        weft__llvm.BuildAlloca(emitter->builder, weft__llvm.VectorType(word, bytes / 8), "");
    weft__llvm.SetAlignment(emitter->called, LINE);
}
