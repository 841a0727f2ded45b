/* Branches around what few items need, such as the reduction of far arguments of a sine. */
#include "codegen/c_like/write.h"
#include <string.h>

/* The skip that a side of a select is in and the select is for, or 0. */
static int skip_of_side(const weft__writer *w, uint32_t select, int side)
{
    const weft__value *value = &w->kernel->values[select];
    const int number = w->skips.skip[value->argument[side]];
    const weft__skip *skip = &w->skips.skips[number > 0 ? number - 1 : 0];
    const bool leaves = number > 0 && skip->side == side &&
                        skip->condition == (uint32_t)value->argument[0] &&
                        w->skips.skip[select] == w->skips.skip[skip->first];
    return leaves ? number : 0;
}

bool weft__is_left_out(const weft__writer *w, uint32_t select, int side)
{
    return skip_of_side(w, select, side) != 0;
}

void weft__write_side(weft__writer *w, uint32_t select, int side)
{
    if (skip_of_side(w, select, side))
        weft__text_add(&w->text, "t%u_%d", select, side);
    else
        weft__text_add(&w->text, "v%d", w->kernel->values[select].argument[side]);
}

static bool is_for(const weft__writer *w, uint32_t select, int number)
{
    return w->wanted[select] && w->kernel->values[select].op == WEFT__OP_select &&
           skip_of_side(w, select, w->skips.skips[number - 1].side) == number;
}

static void write_in_skip(weft__writer *w, int number, void (*write)(weft__writer *w, uint32_t at));

/* A compiler makes no vectors of a loop that branches: all go on with 0, and are done again if one
 * should not have. */
static void write_untaken(weft__writer *w, int number)
{
    const weft__skip *skip = &w->skips.skips[number - 1];
    for (uint32_t k = skip->first; k < w->kernel->values_count; k++)
        if (is_for(w, k, number))
            weft__text_add(&w->text, "t%u_%d = 0;\n", k, skip->side);
    weft__text_add(&w->text, "some |= %sv%u;\n", skip->side == 1 ? "" : "!", skip->condition);
}

/* Whether there is another for the other side of the same selects. One of them is always taken:
 * functions have what is usual first. */
static bool is_usual(const weft__writer *w, int number)
{
    const weft__skip *skip = &w->skips.skips[number - 1];
    for (int k = 0; k < w->skips.count && skip->side == 1; k++)
        if (w->skips.skips[k].first == skip->first && w->skips.skips[k].side == 2)
            return true;
    return false;
}

static void write_skip(weft__writer *w, int number, void (*write)(weft__writer *w, uint32_t at))
{
    const weft__skip *skip = &w->skips.skips[number - 1];
    const weft__value *values = w->kernel->values;
    const bool usual = w->fast && is_usual(w, number);
    for (uint32_t k = skip->first; k < w->kernel->values_count; k++)
        if (is_for(w, k, number))
            weft__text_add(&w->text, "%s t%u_%d;\n",
                           weft__text_of_dtype((weft_dtype)values[k].dtype), k, skip->side);
    if (w->fast && !usual) {
        write_untaken(w, number);
        return;
    }
    if (!usual)
        weft__text_add(&w->text, "if (%sv%u)\n", skip->side == 1 ? "" : "!", skip->condition);
    weft__text_add(&w->text, "{\n");
    write_in_skip(w, number, write);
    for (uint32_t k = skip->first; k < w->kernel->values_count; k++)
        if (is_for(w, k, number))
            weft__text_add(&w->text, "t%u_%d = v%d;\n", k, skip->side,
                           values[k].argument[skip->side]);
    weft__text_add(&w->text, "}\n");
}

/* The values of one skip, or with number 0 those of none. */
static void write_in_skip(weft__writer *w, int number, void (*write)(weft__writer *w, uint32_t at))
{
    for (uint32_t k = 0; k < w->kernel->values_count; k++) {
        if (!w->wanted[k] || w->skips.skip[k] != number)
            continue;
        for (int inner = 0; inner < w->skips.count; inner++)
            if (w->skips.skips[inner].first == k)
                write_skip(w, inner + 1, write);
        write(w, k);
    }
}

void weft__write_wanted(weft__writer *w, void (*write)(weft__writer *w, uint32_t at))
{
    const size_t values = w->kernel->values_count;
    memset(w->room, 0, 3 * values * sizeof *w->room);
    memset(w->skips.skip, 0, values);
    w->skips.kernel = w->kernel;
    w->skips.needed = w->skips.level = w->wanted;
    w->skips.point = 1;
    w->skips.count = 0;
    weft__skips_find(&w->skips, w->room);
    write_in_skip(w, 0, write);
}
