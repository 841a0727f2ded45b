/* Programs of the interpreter as text. */
#include "codegen/interpreter.h"
#include "codegen/interpreter/compile.h"
#include "core/allocate.h"
#include "core/status.h"
#include "core/text.h"

static const char *const op_names[] = {
#define NAME(name, arity) #name,
    WEFT__OP_LIST(NAME)
#undef NAME
};

static const uint8_t arity[] = {
#define ARITY(name, arity) arity,
    WEFT__OP_LIST(ARITY)
#undef ARITY
};

static int op_of(const weft__variant *variant, weft__primitive *primitive)
{
    for (int op = 0; op < WEFT__OP_COUNT; op++)
        for (int d = 0; d < WEFT_DTYPE_END; d++)
            if (variant->primitive[op][d] == primitive)
                return op;
    return -1;
}

/* What a step computes: an operation, or one of the tables of conversions. The number of its
 * arguments. */
static int write_primitive(weft__text *text, const weft__variant *variant,
                           weft__primitive *primitive)
{
    int op = op_of(variant, primitive);
    if (op >= 0) {
        weft__text_add(text, "%s", op_names[op]);
        return arity[op];
    }
    for (int d = 0; d < WEFT_DTYPE_END; d++) {
        const char *name = weft_dtype_name((weft_dtype)d);
        for (int to = 0; to < WEFT_DTYPE_END; to++)
            if (variant->cast[d][to] == primitive)
                weft__text_add(text, "cast %s to %s", name, weft_dtype_name((weft_dtype)to));
        if (variant->canonical[d] == primitive)
            weft__text_add(text, "one_nan %s", name);
        if (variant->widen[d] == primitive)
            weft__text_add(text, "widen %s", name);
        if (variant->narrow[d] == primitive)
            weft__text_add(text, "narrow %s", name);
    }
    return 1;
}

/* A row of the table of addresses. */
static void write_row(weft__text *text, const weft__program *program, int32_t row)
{
    static const char *const names[] = {"block", "memory", "constant", "scalar", "uniform"};
    int storage = 0;
    while (storage < WEFT__STORAGES - 1 && row >= program->rows[storage])
        row -= program->rows[storage++];
    weft__text_add(text, " %s %d", names[storage], row);
}

static const char *kind_name(const weft__step *step)
{
    static const char *const names[] = {[WEFT__STEP_COMPUTE] = "compute",
                                        [WEFT__STEP_FETCH] = "fetch operand",
                                        [WEFT__STEP_PUT] = "put to operand",
                                        [WEFT__STEP_INDEX] = "index along axis",
                                        [WEFT__STEP_EDGE] = "edge",
                                        [WEFT__STEP_FOLD] = "fold",
                                        [WEFT__STEP_FOLDED] = "folded",
                                        [WEFT__STEP_GATHER] = "gather from operand",
                                        [WEFT__STEP_SCATTER] = "scatter to operand",
                                        [WEFT__STEP_COPY] = "copy",
                                        [WEFT__STEP_ENTER] = "enter a loop",
                                        [WEFT__STEP_TEST] = "leave a loop",
                                        [WEFT__STEP_AGAIN] = "go round"};
    return names[step->kind];
}

static void write_step(weft__text *text, const weft__program *program, const weft__step *step)
{
    int count = weft__step_arguments(step);
    weft__text_add(text, "    ");
    if (step->kind == WEFT__STEP_COMPUTE)
        count = write_primitive(text, program->variant, step->primitive);
    else
        weft__text_add(text, "%s %d", kind_name(step), step->slot);
    if (step->skips) {
        weft__text_add(text, " (first of %d that are skipped if%s", step->skips,
                       step->side ? " no element is true in" : " all elements are true in");
        write_row(text, program, step->condition);
        weft__text_add(text, ")");
    }
    if (step->shift)
        weft__text_add(text, " shifted by %d", step->shift - 1);
    for (int k = 0; k < count; k++)
        write_row(text, program, step->argument[k]);
    if (weft__step_has_result(step)) {
        weft__text_add(text, " ->");
        write_row(text, program, step->result);
    }
    weft__text_add(text, " (%d byte%s%s)\n", 1 << step->size, step->size ? "s" : "",
                   step->in_place ? ", in place" : "");
}

static void write_program(weft__text *text, const weft__program *program)
{
    weft__text_add(text, "  %s, blocks of at most %d elements\n", program->variant->name,
                   program->elements);
    if (program->prologue_count)
        weft__text_add(text, "  once:\n");
    for (int32_t k = 0; k < program->prologue_count; k++)
        write_step(text, program, &program->prologue[k]);
    weft__text_add(text, "  for each block:\n");
    for (int32_t k = 0; k < program->steps_count; k++)
        write_step(text, program, &program->steps[k]);
}

weft_status weft__interpreter_explain(const weft__kernel *kernel, char **text)
{
    weft__text written = {0};
    weft__program *program;
    weft__folds *folds;
    if (kernel->folds_count > 0) {
        TRY(weft__folds_make(kernel, false, &folds));
        weft__text_add(&written, "  at each point:\n");
        write_program(&written, folds->points);
        weft__text_add(&written, "  for each result:\n");
        write_program(&written, folds->results);
        weft__folds_free(folds);
    } else {
        TRY(weft__program_make(kernel, NULL, false, &program));
        write_program(&written, program);
        weft__program_free(program);
    }
    return weft__text_take(&written, text);
}
