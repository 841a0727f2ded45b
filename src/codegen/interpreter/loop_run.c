/* The steps of loops, and elements by their numbers. */
#include "codegen/interpreter/patch.h"

#include <string.h>

static int64_t points_of(const weft__patch *frame) { return frame->rows * frame->columns; }

void weft__loop_gather(const weft__patch *frame, const weft__step *step)
{
    const char *from = frame->arguments[step->slot].data + step->offset;
    const char *numbers = frame->at[step->argument[0]];
    char *to = frame->at[step->result];
    const int64_t count = points_of(frame), size = (int64_t)1 << step->size;
    for (int64_t k = 0; k < count; k++) {
        int64_t number;
        memcpy(&number, numbers + (step->uniform ? 0 : 8 * k), sizeof number);
        memcpy(to + k * size, from + number * step->to, (size_t)size);
    }
}

void weft__loop_scatter(const weft__patch *frame, const weft__step *step)
{
    char *to = frame->arguments[step->slot].data;
    const char *numbers = frame->at[step->argument[0]], *values = frame->at[step->argument[1]];
    const char *condition = frame->at[step->argument[2]];
    const int64_t count = points_of(frame), size = (int64_t)1 << step->size;
    for (int64_t k = 0; k < count; k++) {
        int64_t number;
        if (!condition[step->uniform & 4 ? 0 : k])
            continue;
        memcpy(&number, numbers + (step->uniform & 1 ? 0 : 8 * k), sizeof number);
        memcpy(to + number * size, values + (step->uniform & 2 ? 0 : k * size), (size_t)size);
    }
}

void weft__loop_copy(const weft__patch *frame, const weft__step *step)
{
    const weft__plane uniform = {.data = frame->at[step->argument[0]]};
    const weft__plane to = weft__patch_block(frame, frame->at[step->result], step->size);
    const weft__plane from = weft__patch_block(frame, uniform.data, step->size);
    weft__memory_move(frame->program->variant, step->size, to, step->uniform ? uniform : from,
                      frame->rows, frame->columns, false);
}

void weft__loop_enter(const weft__patch *frame, const weft__step *step)
{
    const size_t count = (size_t)points_of(frame);
    if (step->slot)
        memcpy(frame->at[step->result], frame->at[step->argument[0]], count);
    else
        memset(frame->at[step->result], 1, count);
}

bool weft__loop_test(const weft__patch *frame, const weft__step *step)
{
    const char *condition = frame->at[step->argument[0]];
    char *active = frame->at[step->argument[1]];
    const int64_t count = points_of(frame);
    char any = 0;
    if (step->uniform & 1)
        return *condition != 0;
    for (int64_t k = 0; k < count; k++) {
        active[k] = (char)(active[k] & condition[k]);
        any = (char)(any | active[k]);
    }
    return any != 0;
}
