/* Compiling: from a kernel to the bytes of an object, with everything of LLVM's made and dropped
 * here. */
#include "codegen/llvm/fatal.h"
#include "codegen/llvm/fold_emit.h"
#include "codegen/llvm/object.h"
#include "codegen/llvm/outline.h"
#include "codegen/llvm/stack.h"
#include "core/allocate.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

enum {
    LONG = 200,      /* operations: longer code is optimized less … */
    LONGEST = 1100,  /* … and not at all if it is longer than most kernels can be */
    COMPLAINT = 200, /* characters */
    SOON = 24,     /* operations of all vectors in a turn, or values: optimized code is made soon */
    QUICK_MOST = 1 /* vectors of a turn in code that is made quickly */
};

/* LLVM's own listener prints. An error in it does not keep LLVM from making code, with anything in
 * the place of what it could not make. */
static void listen(weft__llvm_diagnostic diagnostic, void *context)
{
    char *complaint = context;
    if (weft__llvm.GetDiagInfoSeverity(diagnostic) != WEFT__SEVERITY_ERROR)
        return;
    char *text = weft__llvm.GetDiagInfoDescription(diagnostic);
    (void)snprintf(complaint, COMPLAINT, "%s", text);
    weft__llvm.DisposeMessage(text);
}

/* What code is made of: the surveys of a kernel; or, of one with folds, those of its results and
 * points. */
struct surveys {
    bool folds;
    bool stored; /* is all that results are */
    weft__object_fold described[WEFT__FOLDS_MAX];
    weft__fold_parts parts;
    weft__survey kernel, points;
    weft__outline outline; /* of the points, in quick code */
};

/* The tables of values, then the operands. */
static weft_status make_tables(weft__emitter *emitter)
{
    const size_t values = weft__emitter_tables(emitter->survey);
    weft__ref *tables = weft__allocate_zeroed(
        values + emitter->survey->operands * sizeof(weft__emitted_operand) + 1);
    if (tables == NULL)
        return WEFT_ERROR_MEMORY;
    weft__emitter_use_tables(emitter, tables);
    emitter->operands = (weft__emitted_operand *)(void *)((char *)tables + values);
    return WEFT_OK;
}

static void make_function(weft__emitter *emitter, const char *name,
                          void (*fill)(weft__emitter *emitter))
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    weft__type type =
        weft__llvm.FunctionType(weft__llvm.VoidTypeInContext(emitter->context), &pointer, 1, 0);
    emitter->function = weft__llvm.AddFunction(emitter->module, name, type);
    weft__emit_attributes(emitter, emitter->function, emitter->survey->soon);
    fill(emitter);
}

/* The functions of a kernel: one, or with folds those of the points and of the results. */
static weft_status make_functions(weft__emitter *emitter, const struct surveys *surveys)
{
    weft__folding folding = {.count = 0};
    emitter->survey = &surveys->kernel;
    if (!surveys->stored) {
        TRY(make_tables(emitter));
        make_function(emitter, WEFT__KERNEL_NAME, weft__emit_function);
        weft__free(emitter->single);
    }
    if (!surveys->folds)
        return WEFT_OK;
    emitter->survey = &surveys->points;
    emitter->folding = &folding;
    TRY(make_tables(emitter));
    make_function(emitter, WEFT__FOLD_NAME, weft__emit_fold_function);
    weft__free(emitter->single);
    return WEFT_OK;
}

static weft_status emit_file(weft__emitter *emitter, const struct surveys *surveys,
                             weft__llvm_machine machine, int kind, weft__llvm_buffer *buffer,
                             bool *lost)
{
    char complaint[COMPLAINT];
    weft__llvm_layout layout = weft__llvm.CreateTargetDataLayout(machine);
    weft__llvm.SetModuleDataLayout(emitter->module, layout);
    weft__llvm.DisposeTargetData(layout);
    weft__llvm.SetTarget(emitter->module, weft__target_triple());
    TRY(make_functions(emitter, surveys));
#ifndef NDEBUG
    char *message = NULL;
    if (weft__llvm.VerifyModule(emitter->module, 2, &message) != 0) {
        (void)FAIL(WEFT_ERROR_COMPILE, "the code for LLVM is wrong: %s", message);
        weft__llvm.DisposeMessage(message);
        return WEFT_ERROR_COMPILE;
    }
    weft__llvm.DisposeMessage(message);
#endif
    if (!weft__llvm_emit(machine, emitter->module, kind, buffer, complaint, sizeof complaint, lost))
        return FAIL(WEFT_ERROR_COMPILE,
                    "libLLVM made no code of the kernel: %s; it runs with WEFT_ENGINE=interpreter",
                    complaint);
    return WEFT_OK;
}

/* Whether LLVM takes longer than over a short map: folds have code that combines their lanes, and
 * operands that are displaced have ends of rows with masks. Values that are the same for all points
 * are no operations of vectors. */
static bool takes_long(const struct surveys *surveys)
{
    const weft__survey *survey = &surveys->kernel;
    return surveys->folds || survey->operands > survey->kernel->operands_count ||
           survey->kernel->values_count > SOON ||
           survey->operations * (uint32_t)survey->unroll > SOON;
}

/* Allocation of registers, and more, takes longer than linear time with much code in one block. */
static int full_level(const struct surveys *surveys)
{
    uint32_t operations = surveys->kernel.operations;
    if (surveys->folds && surveys->points.operations > operations)
        operations = surveys->points.operations;
    return operations <= LONG ? 2 : operations <= LONGEST ? 1 : 0;
}

static int level_of(const struct surveys *surveys, weft__effort *effort)
{
    const int full = full_level(surveys);
    if (full == 0 || (*effort == WEFT__EFFORT_FIRST && !takes_long(surveys)))
        *effort = WEFT__EFFORT_FULL;
    if (*effort == WEFT__EFFORT_FULL)
        return full;
    *effort = WEFT__EFFORT_QUICK;
    return 0;
}

/* From then on the points are those of the outline, if there is one; a turn has as many vectors
 * as before. */
static weft_status outline(const weft__kernel *kernel, const weft__launch *sample,
                           struct surveys *surveys)
{
    weft__survey *points = surveys->folds ? &surveys->points : &surveys->kernel;
    const weft__kernel *outlined = &surveys->outline.kernel;
    TRY(weft__outline_make(points, &surveys->outline));
    if (surveys->outline.count == 0)
        return WEFT_OK;
    const int unroll = points->unroll;
    weft__survey_free(points);
    TRY(surveys->folds ? weft__fold_survey_points(kernel, outlined, sample, points)
                       : weft__survey_make(outlined, sample, points));
    weft__survey_set_unroll(points, unroll);
    return weft__outline_use(&surveys->outline, points);
}

static weft_status emit(const struct surveys *surveys, int kind, int level,
                        weft__llvm_buffer *buffer)
{
    weft__llvm_machine machine;
    weft__held_constants constants = {.count = 0};
    char complaint[COMPLAINT] = "";
    bool lost = false;
    weft__emitter emitter = {.survey = &surveys->kernel, .constants = &constants};
    if (surveys->kernel.target.isa == WEFT__ISA_NONE)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "kernels are not compiled for this kind of machine");
    TRY(weft__target_take(&surveys->kernel.target, level, &machine));
    emitter.context = weft__llvm.ContextCreate();
    weft__llvm.ContextSetDiagnosticHandler(emitter.context, listen, complaint);
    emitter.module = weft__llvm.ModuleCreateWithNameInContext("weft", emitter.context);
    emitter.builder = weft__llvm.CreateBuilderInContext(emitter.context);
    weft_status status = emit_file(&emitter, surveys, machine, kind, buffer, &lost);
    weft__llvm.DisposeBuilder(emitter.builder);
    if (lost)
        return status;
    if (status == WEFT_OK && complaint[0] != '\0') {
        weft__llvm.DisposeMemoryBuffer(*buffer);
        status = FAIL(WEFT_ERROR_COMPILE, "libLLVM made wrong code of the kernel: %s", complaint);
    }
    weft__llvm.DisposeModule(emitter.module);
    weft__llvm.ContextDispose(emitter.context);
    weft__target_give(&surveys->kernel.target, level, machine);
    return status;
}

static void drop_surveys(struct surveys *surveys)
{
    weft__survey_free(&surveys->kernel);
    weft__survey_free(&surveys->points);
    weft__outline_free(&surveys->outline);
    if (surveys->folds)
        weft__fold_parts_free(&surveys->parts);
}

static void describe_folds(const weft__kernel *kernel, weft__object_fold *folds)
{
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op == WEFT__OP_fold)
            *folds++ = (weft__object_fold){
                .kind = value->slot, .dtype = value->dtype, .part = value->part};
    }
}

/* Also where it fails, the surveys are to be dropped. */
static weft_status make_surveys(const weft__kernel *kernel, const weft__launch *sample,
                                struct surveys *surveys)
{
    *surveys = (struct surveys){.folds = false};
    if (kernel->folds_count == 0)
        return weft__survey_make(kernel, sample, &surveys->kernel);
    TRY(weft__fold_split(kernel, &surveys->parts));
    surveys->folds = true;
    describe_folds(kernel, surveys->described);
    surveys->stored = weft__fold_only_stored(kernel, &surveys->parts.results, surveys->described);
    TRY(weft__fold_survey_points(kernel, &surveys->parts.points, sample, &surveys->points));
    return weft__fold_survey_results(kernel, &surveys->parts.results, sample, &surveys->kernel);
}

static void describe_displaced(const weft__survey *survey, char *at)
{
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = kernel->operands_count; k < survey->operands; k++) {
        const weft__displaced from = survey->displaced[k - kernel->operands_count];
        const weft__kernel_shift *shift = &kernel->shifts[from.shift];
        weft__object_displaced displaced = {.boundary = (uint32_t)shift->boundary,
                                            .operand = from.operand};
        memcpy(displaced.offset, shift->offset, sizeof displaced.offset);
        memcpy(at, &displaced, sizeof displaced);
        at += sizeof displaced;
    }
}

static void describe_operands(const weft__kernel *kernel, const weft__survey *survey, char *at)
{
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const size_t bytes = weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        const weft__object_operand operand = {survey->flags[k], (uint8_t)__builtin_ctzll(bytes)};
        memcpy(at + k * sizeof operand, &operand, sizeof operand);
    }
}

/* The header, the operands, the folds and the file, one after the other. */
static weft_status pack(const weft__kernel *kernel, const struct surveys *surveys,
                        weft__llvm_buffer buffer, weft__object *object)
{
    const weft__survey *survey = &surveys->kernel;
    const weft__kernel *results = survey->kernel;
    const size_t file = weft__llvm.GetBufferSize(buffer);
    weft__object_header header = {
        .isa = survey->target.isa,
        .halves = survey->target.halves,
        .streamed = survey->streamed,
        .has_index = weft__kernel_has_index(kernel),
        .numbered = weft__kernel_has_numbers(kernel),
        .operands_count = kernel->operands_count,
        .displaced_count = survey->operands - results->operands_count,
        .folds_count = kernel->folds_count,
        .lanes = weft__kernel_has_lanes(kernel),
        .width = survey->whole ? (uint32_t)(survey->lanes * survey->unroll) : 0};
    const size_t displaced = sizeof header,
                 operands = displaced + header.displaced_count * sizeof(weft__object_displaced);
    const size_t folds = operands + kernel->operands_count * sizeof(weft__object_operand);
    size_t begin = folds + kernel->folds_count * sizeof(weft__object_fold);
    begin += -begin & 15U;
    char *data = weft__allocate_zeroed(begin + file);
    if (data == NULL)
        return WEFT_ERROR_MEMORY;
    memcpy(header.magic, WEFT__OBJECT_MAGIC, sizeof header.magic);
    memcpy(data, &header, sizeof header);
    describe_displaced(survey, data + displaced);
    describe_operands(kernel, surveys->folds ? &surveys->points : survey, data + operands);
    memcpy(data + folds, surveys->described, kernel->folds_count * sizeof(weft__object_fold));
    header.checksum = weft__object_checksum(data, begin);
    memcpy(data, &header, sizeof header);
    memcpy(data + begin, weft__llvm.GetBufferStart(buffer), file);
    *object = (weft__object){data, begin + file};
    return WEFT_OK;
}

/* Of folds the points that are long, and the results. */
static void limit_vectors(struct surveys *surveys)
{
    if (surveys->kernel.unroll > QUICK_MOST)
        weft__survey_set_unroll(&surveys->kernel, QUICK_MOST);
    if (surveys->folds && surveys->points.unroll > QUICK_MOST &&
        surveys->points.operations > WEFT__FOLD_OPERATIONS)
        weft__survey_set_unroll(&surveys->points, QUICK_MOST);
}

/* Everything up to LLVM's buffer, which is to be disposed of; then the surveys are to be dropped.
 */
static weft_status compile(const weft__kernel *kernel, const weft__launch *sample, int kind,
                           weft__effort *effort, struct surveys *surveys, weft__llvm_buffer *buffer)
{
    TRY(weft__llvm_open());
    weft_status status = make_surveys(kernel, sample, surveys);
    const int level = status == WEFT_OK ? level_of(surveys, effort) : 0;
    if (status == WEFT_OK && *effort == WEFT__EFFORT_QUICK)
        limit_vectors(surveys);
    if (status == WEFT_OK && level == 0)
        status = outline(kernel, sample, surveys);
    if (status == WEFT_OK)
        status = emit(surveys, kind, level, buffer);
    if (status != WEFT_OK)
        drop_surveys(surveys);
    return status;
}

/* What is compiled, and what becomes of it: an object or a text. */
struct task {
    const weft__kernel *kernel;
    const weft__launch *sample;
    weft__effort *effort;
    weft__object *object;
    char **text;
};

static weft_status make_object(void *argument)
{
    const struct task *task = argument;
    struct surveys surveys;
    weft__llvm_buffer buffer;
    TRY(compile(task->kernel, task->sample, WEFT__FILE_OBJECT, task->effort, &surveys, &buffer));
    const weft_status status = pack(task->kernel, &surveys, buffer, task->object);
    weft__llvm.DisposeMemoryBuffer(buffer);
    drop_surveys(&surveys);
    return status;
}

static weft_status make_text(void *argument)
{
    const struct task *task = argument;
    struct surveys surveys;
    weft__llvm_buffer buffer;
    TRY(compile(task->kernel, task->sample, WEFT__FILE_ASSEMBLY, task->effort, &surveys, &buffer));
    const size_t bytes = weft__llvm.GetBufferSize(buffer);
    if ((*task->text = weft__allocate_zeroed(bytes + 1)) != NULL)
        memcpy(*task->text, weft__llvm.GetBufferStart(buffer), bytes);
    weft__llvm.DisposeMemoryBuffer(buffer);
    drop_surveys(&surveys);
    return *task->text != NULL ? WEFT_OK : WEFT_ERROR_MEMORY;
}

weft_status weft__llvm_compile(const weft__kernel *kernel, const weft__launch *sample,
                               weft__effort *effort, weft__object *object)
{
    struct task task = {kernel, sample, effort, object, NULL};
    return weft__llvm_with_stack(make_object, &task);
}

weft_status weft__llvm_explain(const weft__kernel *kernel, const weft__launch *sample, char **text)
{
    weft__effort effort = WEFT__EFFORT_FULL;
    struct task task = {kernel, sample, &effort, NULL, text};
    return weft__llvm_with_stack(make_text, &task);
}
