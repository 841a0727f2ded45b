/* Compiling: from a kernel to the bytes of an object, with everything of LLVM's made and dropped
 * here. */
#include "codegen/llvm/emit.h"
#include "codegen/llvm/object.h"
#include "core/allocate.h"
#include "core/status.h"

#include <string.h>

enum { LONG = 200, LONGEST = 500 };

/* LLVM's own listener prints. What matters comes back as a message too. */
static void ignore(weft__llvm_diagnostic diagnostic, void *context)
{
    (void)diagnostic, (void)context;
}

/* Four tables of values, and three that have room for all vectors of a turn. */
static weft_status make_tables(weft__emitter *emitter, const weft__survey *survey)
{
    const size_t count = survey->kernel->values_count, turn = WEFT__UNROLL_MOST * count;
    const size_t refs = 4 * count + 3 * turn;
    weft__ref *tables = weft__allocate_zeroed(refs * sizeof *tables +
                                              survey->operands * sizeof(weft__emitted_operand) + 1);
    if (tables == NULL)
        return WEFT_ERROR_MEMORY;
    emitter->single = tables;
    emitter->single_bytes = tables + count;
    emitter->vector = tables + 2 * count;
    emitter->vector_bytes = tables + 3 * count;
    emitter->values = tables + 4 * count;
    emitter->all_bytes = emitter->values + turn;
    emitter->all_pending = emitter->all_bytes + turn;
    emitter->operands = (weft__emitted_operand *)(void *)(tables + refs);
    return WEFT_OK;
}

/* Kernels call nothing and never unwind; without the attribute tables for that would be made. */
static void make_function(weft__emitter *emitter)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    weft__type type =
        weft__llvm.FunctionType(weft__llvm.VoidTypeInContext(emitter->context), &pointer, 1, 0);
    const unsigned nounwind = weft__llvm.GetEnumAttributeKindForName("nounwind", 8);
    emitter->function = weft__llvm.AddFunction(emitter->module, WEFT__KERNEL_NAME, type);
    weft__llvm.AddAttributeAtIndex(emitter->function, (unsigned)WEFT__ATTRIBUTE_FUNCTION,
                                   weft__llvm.CreateEnumAttribute(emitter->context, nounwind, 0));
    weft__emit_function(emitter);
}

static weft_status emit_file(weft__emitter *emitter, weft__llvm_machine machine, int kind,
                             weft__llvm_buffer *buffer)
{
    char *message = NULL;
    weft__llvm_layout layout = weft__llvm.CreateTargetDataLayout(machine);
    weft__llvm.SetModuleDataLayout(emitter->module, layout);
    weft__llvm.DisposeTargetData(layout);
    weft__llvm.SetTarget(emitter->module, weft__target_triple());
    make_function(emitter);
#ifndef NDEBUG
    if (weft__llvm.VerifyModule(emitter->module, 2, &message) != 0) {
        (void)FAIL(WEFT_ERROR_COMPILE, "the code for LLVM is wrong: %s", message);
        weft__llvm.DisposeMessage(message);
        return WEFT_ERROR_COMPILE;
    }
    weft__llvm.DisposeMessage(message);
#endif
    if (weft__llvm.TargetMachineEmitToMemoryBuffer(machine, emitter->module, kind, &message,
                                                   buffer) != 0) {
        (void)FAIL(WEFT_ERROR_COMPILE, "libLLVM made no code of the kernel: %s", message);
        weft__llvm.DisposeMessage(message);
        return WEFT_ERROR_COMPILE;
    }
    return WEFT_OK;
}

/* Allocation of registers, and more, takes longer than linear time with much code in one block. */
static int level_of(const weft__survey *survey)
{
    return survey->operations <= LONG ? 2 : survey->operations <= LONGEST ? 1 : 0;
}

static weft_status with_context(weft__emitter *emitter, int kind, weft__llvm_buffer *buffer)
{
    weft__llvm_machine machine;
    TRY(weft__target_machine(&emitter->survey->target, level_of(emitter->survey), &machine));
    emitter->context = weft__llvm.ContextCreate();
    weft__llvm.ContextSetDiagnosticHandler(emitter->context, ignore, NULL);
    emitter->module = weft__llvm.ModuleCreateWithNameInContext("weft", emitter->context);
    emitter->builder = weft__llvm.CreateBuilderInContext(emitter->context);
    const weft_status status = emit_file(emitter, machine, kind, buffer);
    weft__llvm.DisposeBuilder(emitter->builder);
    weft__llvm.DisposeModule(emitter->module);
    weft__llvm.ContextDispose(emitter->context);
    weft__llvm.DisposeTargetMachine(machine);
    return status;
}

static weft_status emit(const weft__survey *survey, int kind, weft__llvm_buffer *buffer)
{
    weft__emitter emitter = {.survey = survey};
    TRY(make_tables(&emitter, survey));
    const weft_status status = with_context(&emitter, kind, buffer);
    weft__free(emitter.single);
    return status;
}

static void pack_operands(const weft__survey *survey, char *data)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = kernel->operands_count; k < survey->operands; k++) {
        const weft__displaced from = survey->displaced[k - kernel->operands_count];
        const weft__kernel_shift *shift = &kernel->shifts[from.shift];
        weft__object_displaced displaced = {.boundary = (uint32_t)shift->boundary,
                                            .operand = from.operand};
        memcpy(displaced.offset, shift->offset, sizeof displaced.offset);
        memcpy(data, &displaced, sizeof displaced);
        data += sizeof displaced;
    }
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const size_t bytes = weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        const weft__object_operand operand = {survey->flags[k], (uint8_t)__builtin_ctzll(bytes)};
        memcpy(data + k * sizeof operand, &operand, sizeof operand);
    }
}

/* The header, the operands and the file, one after the other. */
static weft_status pack(const weft__survey *survey, weft__llvm_buffer buffer, weft__object *object)
{
    const weft__kernel *kernel = survey->kernel;
    const size_t file = weft__llvm.GetBufferSize(buffer);
    weft__object_header header = {.isa = survey->target.isa,
                                  .halves = survey->target.halves,
                                  .streamed = survey->streamed,
                                  .has_index = weft__kernel_has_index(kernel),
                                  .operands_count = kernel->operands_count,
                                  .displaced_count = survey->operands - kernel->operands_count};
    size_t begin = sizeof header + kernel->operands_count * sizeof(weft__object_operand) +
                   header.displaced_count * sizeof(weft__object_displaced);
    begin += -begin & 15U;
    char *data = weft__allocate_zeroed(begin + file);
    if (data == NULL)
        return WEFT_ERROR_MEMORY;
    memcpy(header.magic, WEFT__OBJECT_MAGIC, sizeof header.magic);
    memcpy(data, &header, sizeof header);
    pack_operands(survey, data + sizeof header);
    memcpy(data + begin, weft__llvm.GetBufferStart(buffer), file);
    *object = (weft__object){data, begin + file};
    return WEFT_OK;
}

/* Everything up to LLVM's buffer, which is to be disposed of. */
static weft_status compile(const weft__kernel *kernel, const weft__launch *sample, int kind,
                           weft__survey *survey, weft__llvm_buffer *buffer)
{
    TRY(weft__llvm_open());
    TRY(weft__survey_make(kernel, sample, survey));
    const weft_status status =
        survey->target.isa == WEFT__ISA_NONE
            ? FAIL(WEFT_ERROR_UNSUPPORTED, "kernels are not compiled for this kind of machine")
            : emit(survey, kind, buffer);
    if (status != WEFT_OK)
        weft__survey_free(survey);
    return status;
}

weft_status weft__llvm_compile(const weft__kernel *kernel, const weft__launch *sample,
                               weft__object *object)
{
    weft__survey survey;
    weft__llvm_buffer buffer;
    TRY(compile(kernel, sample, WEFT__FILE_OBJECT, &survey, &buffer));
    const weft_status status = pack(&survey, buffer, object);
    weft__llvm.DisposeMemoryBuffer(buffer);
    weft__survey_free(&survey);
    return status;
}

weft_status weft__llvm_explain(const weft__kernel *kernel, const weft__launch *sample, char **text)
{
    weft__survey survey;
    weft__llvm_buffer buffer;
    TRY(compile(kernel, sample, WEFT__FILE_ASSEMBLY, &survey, &buffer));
    const size_t bytes = weft__llvm.GetBufferSize(buffer);
    if ((*text = weft__allocate_zeroed(bytes + 1)) != NULL)
        memcpy(*text, weft__llvm.GetBufferStart(buffer), bytes);
    weft__llvm.DisposeMemoryBuffer(buffer);
    weft__survey_free(&survey);
    return *text != NULL ? WEFT_OK : WEFT_ERROR_MEMORY;
}
