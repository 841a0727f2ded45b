/* weft_explain: what an expression or a portable kernel becomes, as text. */
#include "lang/explain.h"
#include "core/allocate.h"
#include "lang/error.h"
#include "lang/launch.h"
#include <string.h>
#include <weft/explain.h>

static void write_array(weft__text *text, const weft_array *array)
{
    weft__text_add(text, "%s ", weft_dtype_name((weft_dtype)array->dtype));
    if (!array->buffer) {
        weft__text_add(text, "without memory yet\n");
        return;
    }
    weft__text_add(text, "%s", weft__shape_text_of(&array->shape).text);
    if (weft__array_contiguous(array))
        weft__text_add(text, " contiguous\n");
    else {
        weft__text_add(text, " strides");
        for (int k = 0; k < array->shape.ndim; k++)
            weft__text_add(text, " %lld", (long long)array->stride[k]);
        weft__text_add(text, "\n");
    }
}

static void write_operands(const weft__explained *e, const weft_operand *operands)
{
    weft__text_add(e->text, "operands:\n");
    for (int i = 0; i < e->evaluation->count; i++) {
        weft__text_add(e->text, "    %s : ", QUOTE(e->names[i].text, e->names[i].length));
        if (e->arrays[i])
            write_array(e->text, e->arrays[i]);
        else
            weft__text_add(e->text, "a C number, %s\n",
                           weft_dtype_name((weft_dtype)operands[i].dtype));
    }
}

/* Everything about an evaluation. */
static weft_status write_all(weft__explained *e, const weft_operand *operands)
{
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    uint32_t count = e->evaluation->kernels_count;
    for (int i = 0; i < e->evaluation->count; i++)
        arrays[i] = operands[i].tag == WEFT_OPERAND_NUMBER ? NULL : operands[i].value.array;
    e->arrays = arrays;
    write_operands(e, operands);
    weft__explain_program(e);
    weft__text_add(e->text, "%u kernel%s, %u temporar%s\n", count, count == 1 ? "" : "s",
                   e->evaluation->schedule.temporaries_count,
                   e->evaluation->schedule.temporaries_count == 1 ? "y" : "ies");
    for (uint32_t k = 0; k < count; k++)
        TRY(weft__explain_kernel(e, k));
    return WEFT_OK;
}

/* Assignments, or else an expression; of two errors the one that is about what was written. */
static weft_status parse(weft__lang_name code, const weft__lang_name *names, int count,
                         weft__lang_syntax **syntax)
{
    weft_status status = weft__lang_parse(code.text, code.length, names, count, false, syntax);
    if (status != WEFT_ERROR_SYNTAX)
        return status;
    weft_error first = *weft_error_last();
    status = weft__lang_parse(code.text, code.length, names, count, true, syntax);
    if (status == WEFT_ERROR_SYNTAX && !strncmp(weft_error_last()->message, "a value is asked", 16))
        weft__error_restore(&first);
    return status;
}

static weft_status explain_evaluation(weft__text *text, const char *target, weft__lang_name code,
                                      const weft__lang_name *names, int count,
                                      const weft_operand *operands)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    weft__lang_syntax *syntax;
    weft__evaluation *evaluation = NULL;
    TRY(weft__evaluation_types(operands, count, types));
    TRY(parse(code, names, count, &syntax));
    weft_status status = weft__evaluation_new(syntax, types, count, &evaluation);
    weft__explained e = {text, evaluation, syntax->names, NULL, target};
    weft__text_add(text, "program: %.*s\n", (int)code.length, code.text);
    if (status == WEFT_OK)
        status = write_all(&e, operands);
    weft__evaluation_free(evaluation);
    weft__lang_syntax_free(syntax);
    return status;
}

/* The views that the program of a portable kernel works on; copies stand in for arguments that have
 * none. */
static weft_status explain_plan(weft__text *text, const char *target, const weft__launch_plan *plan,
                                const weft_operand *arguments)
{
    uint32_t count = plan->program.operands_count;
    char *memory =
        weft__allocate_zeroed((count + (size_t)1) * (sizeof(weft_array) + sizeof(weft_operand)));
    weft_array *views = (weft_array *)(void *)memory;
    if (!memory)
        return WEFT_ERROR_MEMORY;
    weft_operand *operands = (weft_operand *)(void *)(views + count);
    for (uint32_t i = 0; i < count; i++) {
        const weft__portable_operand *of = &plan->program.operands[i];
        operands[i] = arguments[of->argument];
        if (of->form == WEFT__PORTABLE_NUMBER)
            continue;
        if (!weft__launch_view(plan, i, operands[i].value.input, &views[i])) {
            views[i].dtype = operands[i].value.input->dtype;
            views[i].shape = plan->program.points;
        }
        operands[i].value.array = &views[i];
    }
    weft__explained e = {text, plan->evaluation, plan->program.syntax->names, NULL, target};
    weft_status status = write_all(&e, operands);
    weft__free(memory);
    return status;
}

static weft_status explain_opened(weft__text *text, const char *target,
                                  const weft__launch_kernel *opened, const weft_shape *space,
                                  const weft_operand *arguments)
{
    weft__launch_plan *plan;
    TRY(weft__launch_plan_new(opened, space, arguments, &plan));
    weft__text_add(text, "kernel %s%s over %s: %s\n", opened->name.text, opened->parameters.text,
                   weft__shape_text_of(space).text, opened->body.text);
    weft_status status = explain_plan(text, target, plan, arguments);
    weft__launch_plan_free(plan);
    return status;
}

static weft_status explain_kernel(weft__text *text, const char *target, const weft_kernel *kernel,
                                  const weft_shape *space, int count, const weft_operand *arguments)
{
    weft__launch_kernel *opened;
    int64_t points;
    TRY(weft__launch_check_kernel(kernel));
    if (kernel->language != WEFT_KERNEL_PORTABLE || !kernel->body)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "kernel '%s' is no portable one: it is its own code",
                    QUOTE(kernel->name, strlen(kernel->name)));
    TRY(weft__shape_check(space, &points));
    if (!(opened = weft__allocate_zeroed(sizeof *opened)))
        return WEFT_ERROR_MEMORY;
    weft_status status = weft__launch_kernel_open(kernel, count, opened);
    if (status == WEFT_OK)
        status =
            weft__launch_failed(kernel, explain_opened(text, target, opened, space, arguments));
    weft__launch_kernel_close(opened);
    weft__free(opened);
    return status;
}

static weft_status check(char **text, const char *target, int count, const weft_operand *operands)
{
    TRY(weft__check_result(text, "text"));
    *text = NULL;
    if (count < 0 || count > WEFT__LANG_OPERANDS_MAX || (count > 0 && !operands))
        return FAIL(WEFT_ERROR_ARGUMENT, "%d is not 0 to %d operands, or they are missing", count,
                    (int)WEFT__LANG_OPERANDS_MAX);
    return weft__explain_target(target);
}

static weft_status finish(weft_status status, weft__text *written, char **text)
{
    if (status == WEFT_OK)
        return weft__text_take(written, text);
    weft__text_free(written);
    return status;
}

weft_status weft_explain_site(char **text, const char *target, const char *site, size_t length,
                              int count, const weft_operand *operands)
{
    weft__lang_name names[WEFT__LANG_OPERANDS_MAX];
    weft__text written = {0};
    OPERATION("weft_explain");
    TRY(check(text, target, count, operands));
    const char *code = site + strlen(site) + 1, *list = code + strlen(code) + 1;
    TRY(weft__lang_split(list, (size_t)(site + length - list), count, names));
    return finish(explain_evaluation(&written, target, (weft__lang_name){code, strlen(code)}, names,
                                     count, operands),
                  &written, text);
}

weft_status weft_explain_code(char **text, const char *target, const char *code, int count,
                              const char *const *names, const weft_operand *operands)
{
    weft__lang_name given[WEFT__LANG_OPERANDS_MAX];
    weft__text written = {0};
    OPERATION("weft_explain_code");
    TRY(check(text, target, count, operands));
    if (!code || (count && !names))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, code ? "names" : "code",
                       "the code or the names of the operands are missing");
    for (int i = 0; i < count; i++) {
        if (!names[i])
            return weft__fail_null("names");
        given[i] = (weft__lang_name){names[i], strlen(names[i])};
    }
    return finish(explain_evaluation(&written, target, (weft__lang_name){code, strlen(code)}, given,
                                     count, operands),
                  &written, text);
}

static weft_status explain_launch(char **text, const char *target, const weft_kernel *kernel,
                                  const weft_shape *space, int count, const weft_operand *operands)
{
    weft__text written = {0};
    TRY(check(text, target, count, operands));
    return finish(explain_kernel(&written, target, kernel, space, count, operands), &written, text);
}

weft_status weft_explain_shape(char **text, const char *target, const weft_kernel *kernel,
                               weft_shape space, int count, const weft_operand *operands)
{
    OPERATION("weft_explain");
    return explain_launch(text, target, kernel, &space, count, operands);
}

weft_status weft_explain_over(char **text, const char *target, const weft_kernel *kernel,
                              const weft_array *space, int count, const weft_operand *operands)
{
    OPERATION("weft_explain");
    if (!space)
        return weft__fail_null("space");
    return explain_launch(text, target, kernel, &space->shape, count, operands);
}

void weft_explain_free(char *text) { weft__free(text); }
