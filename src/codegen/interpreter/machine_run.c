/* Running machine code in a patch: operands are blocks, which have room for all lanes of their last
 * points, or memory of whole vectors. */
#include "codegen/interpreter/patch.h"

#include <string.h>

void weft__machine_take(const weft__patch *frame, const weft__step *step)
{
    memcpy(frame->machine + step->to, &frame->at[step->result], sizeof frame->at[0]);
}

/* In all lanes; a bool is a bit of each. */
static void repeat(char *to, const char *element, int size, int32_t lanes)
{
    if (size == 0)
        memset(to, *element ? 0xff : 0, 2);
    for (int32_t k = 0; size > 0 && k < lanes; k++)
        memcpy(to + ((size_t)k << size), element, (size_t)1 << size);
}

void weft__machine_give(const weft__patch *frame, const weft__step *step)
{
    char *argument = frame->at[step->argument[0]], *to = frame->machine + step->to;
    if (step->uniform)
        repeat(to, argument, step->size, frame->program->lanes);
    else
        memcpy(to, &argument, sizeof argument);
}

void weft__machine_call(const weft__patch *frame, const weft__step *step)
{
    void (*code)(char *machine, int64_t vectors);
    const char *begin = frame->program->code.memory + step->to;
    const int64_t lanes = frame->program->lanes, count = frame->rows * frame->columns;
    memcpy(&code, &begin, sizeof code);
    code(frame->machine, (count + lanes - 1) / lanes);
}
