/* Kernels as text in C: their images, and what a launch passes to them. */
#include "backend/kernel_text.h"
#include "core/allocate.h"
#include <string.h>

static void free_parts(weft__kernel_text *text)
{
    weft__free(text->text);
    weft__free(text->name);
    weft__free(text->binary);
}

static void destroy(void *program)
{
    free_parts(program);
    weft__free(program);
}

weft_status weft__kernel_text_image(weft__kernel_text *text, weft__image *image)
{
    weft__kernel_text *program = weft__allocate(sizeof *program);
    if (!program) {
        free_parts(text);
        return WEFT_ERROR_MEMORY;
    }
    *program = *text;
    *image = (weft__image){.program = program, .destroy = destroy};
    return WEFT_OK;
}

int64_t weft__kernel_text_groups(const weft__kernel_text *text, const weft__launch *launch)
{
    const int64_t row = launch->size[launch->ndim - 1], lanes = text->points / text->group;
    int64_t points = launch->count;
    if (text->down) {
        const int64_t column = launch->size[text->down_axis], along = text->points / text->down;
        const int64_t steps = text->march ? launch->size[text->march_axis] : 1;
        const int64_t marches = text->march ? (steps + text->march - 1) / text->march : 1;
        return (row + along - 1) / along * ((column + text->down - 1) / text->down) *
               (launch->count / row / column / steps * marches);
    }
    if (text->rows)
        points = launch->count / row * ((row + lanes - 1) / lanes) * lanes;
    return (points + text->points - 1) / text->points;
}

size_t weft__kernel_text_bytes(size_t arguments, size_t ndim, size_t scalars)
{
    return (5 + ndim + arguments * (1 + ndim) + scalars) * sizeof(int64_t);
}

void weft__kernel_text_arguments(const weft__launch *launch, const int64_t *offsets, int64_t *to)
{
    const size_t count = launch->arguments_count, ndim = (size_t)launch->ndim;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    *to++ = launch->count;
    *to++ = launch->kept;
    *to++ = launch->folded;
    *to++ = launch->chunks;
    *to++ = launch->groups;
    if (ndim == 1) { /* most have one: a call for each number would cost more than it copies */
        *to++ = launch->size[0];
        for (size_t k = 0; k < count; k++) {
            to[k] = offsets[k];
            to[count + k] = arguments[k].stride[0];
        }
        to += 2 * count;
    } else {
        memcpy(to, launch->size, ndim * sizeof *to);
        to += ndim;
        memcpy(to, offsets, count * sizeof *to);
        to += count;
        for (size_t k = 0; k < count; k++, to += ndim)
            memcpy(to, arguments[k].stride, ndim * sizeof *to);
    }
    if (launch->scalars_count)
        memcpy(to, weft__launch_scalars(launch), launch->scalars_count * sizeof *to);
}
