/* Running portable kernels: views of the arguments, and copies of those that have no such view. */
#include "core/allocate.h"
#include "kernel/move.h"
#include "lang/error.h"
#include "lang/launch.h"
#include "ops/copy.h"
#include <string.h>

enum { INLINE = 12 };

/* What one run works on. */
typedef struct running {
    const weft__launch_plan *plan;
    const weft_operand *arguments;
    weft_array *views; /* of each operand of the program */
    weft_operand *operands;
    weft_array **copies; /* of each operand: a copy of its argument that it is a view of, or NULL */
} running;

static weft_status fail_lent(const running *r, uint32_t operand)
{
    weft__lang_name name = r->plan->names[operand];
    return FAIL(WEFT_ERROR_UNSUPPORTED,
                "'%s' is lent memory whose elements do not lie one after another, so that the "
                "position in C order is no index for it; place it with weft_to_device first",
                QUOTE(name.text, name.length));
}

/* The copy that serves all operands of the same argument. */
static weft_status copy_argument(running *r, uint32_t operand, weft_array *array, weft_array **copy)
{
    const weft__portable_operand *operands = r->plan->program.operands;
    for (uint32_t i = 0; i < operand; i++)
        if (r->copies[i] && operands[i].argument == operands[operand].argument) {
            *copy = r->copies[i];
            return WEFT_OK;
        }
    if (weft__array_is_lent(array))
        return fail_lent(r, operand);
    weft_options options = {.struct_size = sizeof options};
    *copy = r->copies[operand] = weft__copy_new(array, &options);
    return *copy ? WEFT_OK : weft_error_code();
}

static weft_status make_operand(running *r, uint32_t i)
{
    const weft__portable_operand *of = &r->plan->program.operands[i];
    r->operands[i] = r->arguments[of->argument];
    if (of->form == WEFT__PORTABLE_NUMBER)
        return WEFT_OK;
    weft_array *source = r->operands[i].value.array;
    if (of->written && (source->overlapping || source->read_only))
        return weft__array_check_output(source, "argument");
    if (!weft__launch_view(r->plan, i, source, &r->views[i])) {
        TRY(copy_argument(r, i, source, &source));
        weft__launch_view(r->plan, i, source, &r->views[i]);
    }
    r->operands[i].value.array = &r->views[i];
    return WEFT_OK;
}

/* An operand that is written and a view of the copy, or -1: a copy that is only read stays so. */
static int64_t written_in(const running *r, const weft_array *copy)
{
    for (uint32_t i = 0; i < r->plan->program.operands_count; i++)
        if (r->plan->program.operands[i].written && r->views[i].buffer == copy->buffer)
            return i;
    return -1;
}

static weft_status fail_shared(const running *r, uint32_t operand)
{
    const weft__lang_syntax *syntax = r->plan->program.syntax;
    const weft__lang_name name = r->plan->names[operand];
    size_t column = WEFT__NO_COLUMN;
    for (uint32_t i = syntax->statements_count; i-- > 0;)
        if (syntax->statements[i].target == (int32_t)operand)
            column = syntax->statements[i].column;
    return weft__lang_fail(syntax->code, column, WEFT_ERROR_UNSUPPORTED,
                           "'%s' is written by its position in C order, is not contiguous, and "
                           "shares memory with what else is written; copy it first",
                           QUOTE(name.text, name.length));
}

/* A copy that is written back as a whole would undo what the kernel wrote there otherwise. */
static weft_status check_copies(const running *r)
{
    const weft__portable_operand *operands = r->plan->program.operands;
    for (uint32_t i = 0; i < r->plan->program.operands_count; i++) {
        const weft_array *array = r->arguments[operands[i].argument].value.array;
        const int64_t written = r->copies[i] ? written_in(r, r->copies[i]) : -1;
        for (uint32_t k = 0; written >= 0 && k < r->plan->program.operands_count; k++)
            if (operands[k].written && r->views[k].buffer != r->copies[i]->buffer &&
                weft__array_may_overlap(array, &r->views[k]))
                return fail_shared(r, (uint32_t)written);
    }
    return WEFT_OK;
}

static weft_status write_back(const running *r)
{
    static const char *const names[] = {"argument", "copy"};
    for (uint32_t i = 0; i < r->plan->program.operands_count; i++) {
        if (!r->copies[i] || written_in(r, r->copies[i]) < 0)
            continue;
        const int32_t argument = r->plan->program.operands[i].argument;
        weft_array *arrays[] = {r->arguments[argument].value.array, r->copies[i]};
        weft_stream *stream;
        TRY(weft__place(arrays, names, 2, &stream));
        TRY(weft__move(arrays[0], arrays[1], stream));
    }
    return WEFT_OK;
}

static weft_status run(running *r)
{
    weft_array *value = NULL;
    for (uint32_t i = 0; i < r->plan->program.operands_count; i++)
        TRY(make_operand(r, i));
    TRY(check_copies(r));
    TRY(weft__evaluation_run(r->plan->evaluation, r->operands, r->plan->names, false, &value));
    return write_back(r);
}

weft_status weft__launch_plan_run(const weft__launch_plan *plan, const weft_operand *arguments)
{
    weft_array inline_views[INLINE], *inline_copies[INLINE];
    weft_operand inline_operands[INLINE];
    running r = {plan, arguments, inline_views, inline_operands, inline_copies};
    uint32_t count = plan->program.operands_count;
    char *memory = NULL;
    for (int k = 0; k < plan->space.ndim; k++)
        if (plan->space.size[k] == 0)
            return WEFT_OK;
    if (count > INLINE) {
        memory = weft__allocate(count * (sizeof *r.views + sizeof *r.operands + sizeof *r.copies));
        if (!memory)
            return WEFT_ERROR_MEMORY;
        r.views = (weft_array *)(void *)memory;
        r.operands = (weft_operand *)(void *)(r.views + count);
        r.copies = (weft_array **)(void *)(r.operands + count);
    }
    memset(r.copies, 0, count * sizeof *r.copies);
    weft_status status = run(&r);
    for (uint32_t i = 0; i < count; i++)
        weft_array_release(r.copies[i]);
    weft__free(memory);
    return status;
}
