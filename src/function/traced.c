/* Running what statements were compiled into, with their text as the source of what it does. */
#include "function/function.h"
#include "trace/trace.h"
#include <stdio.h>

/* Where a loop ends: at the brace that closes its first one, or at the semicolon that ends it. */
static uint32_t end_of_loop(const weft__function *f, uint32_t begin)
{
    const char *text = f->code.text;
    int braces = 0, brackets = 0;
    for (uint32_t at = begin; at < f->code.length; at++) {
        braces += (text[at] == '{') - (text[at] == '}');
        brackets += (text[at] == '(') - (text[at] == ')');
        if ((text[at] == '}' || (text[at] == ';' && brackets == 0)) && braces <= 0)
            return at + 1;
    }
    return (uint32_t)f->code.length;
}

weft_status weft__function_launch(const weft__running *r, uint32_t begin,
                                  weft_status (*launch)(void *context), void *context)
{
    const weft__function *f = r->function;
    char name[64];
    if (!weft__tracing())
        return launch(context);
    snprintf(name, sizeof name, "%.*s", (int)f->name.length, f->name.text);
    const uint32_t before =
        weft__trace_begin_source(name, f->code.text + begin, end_of_loop(f, begin) - begin);
    const weft_status status = launch(context);
    weft__trace_end_source(before);
    return status;
}

weft_status weft__function_evaluate(const weft__running *r, weft__evaluation *evaluation,
                                    const weft_operand *operands, uint32_t begin, uint32_t end,
                                    weft_array **value)
{
    const weft__function *f = r->function;
    char name[64];
    if (!weft__tracing())
        return weft__evaluation_run_on(evaluation, operands, r->stream, value);
    if (end == 0)
        end = end_of_loop(f, begin);
    snprintf(name, sizeof name, "%.*s", (int)f->name.length, f->name.text);
    const uint32_t before = weft__trace_begin_source(name, f->code.text + begin, end - begin);
    const weft_status status = weft__evaluation_run_on(evaluation, operands, r->stream, value);
    weft__trace_end_source(before);
    return status;
}
