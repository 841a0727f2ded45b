/* Whole chunks of the simplest folds on CPUs: sums, products, least and greatest of floats that lie
 * next to each other, or of what simple arithmetic makes of those. Lanes are vectors in registers:
 * an array of them, which compilers keep in memory, holds up the loads of elements. In this text
 * the name of the float type is that of a vector. */
#include "codegen/c_like/write.h"

enum { ROW_BYTES = 64 };

static bool is_simple(uint8_t op)
{
    return op == WEFT__OP_add || op == WEFT__OP_mul || op == WEFT__OP_min || op == WEFT__OP_max;
}

/* Whether the wanted value is one that vectors have too. */
static bool is_row(const weft__writer *w, const weft__value *value, weft_dtype dtype)
{
    if (value->dtype != dtype || value->shift)
        return false;
    if (value->op == WEFT__OP_load)
        return w->kernel->operands[value->slot].dtype == dtype &&
               (w->shape.lie[value->slot] == WEFT__LIE_DENSE ||
                w->shape.lie[value->slot] == WEFT__LIE_REPEATED);
    return value->op == WEFT__OP_constant || value->op == WEFT__OP_scalar ||
           value->op == WEFT__OP_sub || value->op == WEFT__OP_neg || is_simple(value->op);
}

static uint32_t fold_of(const weft__kernel *kernel)
{
    uint32_t k = 0;
    while (kernel->values[k].op != WEFT__OP_fold)
        k++;
    return k;
}

bool weft__takes_rows(weft__writer *w)
{
    const weft__kernel *kernel = w->kernel;
    if (kernel->folds_count != 1 || w->shape.ndim - w->kept_ndim != 1 || kernel->loops_count > 0)
        return false;
    const weft__value *fold = &kernel->values[fold_of(kernel)];
    const weft_dtype dtype = (weft_dtype)fold->dtype;
    if ((dtype != WEFT_F32 && dtype != WEFT_F64) || fold->slot >= WEFT__OP_COUNT ||
        !is_simple((uint8_t)fold->slot))
        return false;
    weft__want_folded(w);
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (w->wanted[k] && kernel->values[k].op != WEFT__OP_fold &&
            !is_row(w, &kernel->values[k], dtype))
            return false;
    return true;
}

static void write_row_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const bool wide = value->dtype == WEFT_F64;
    if (value->op == WEFT__OP_load) {
        const bool dense = w->shape.lie[value->slot] == WEFT__LIE_DENSE;
        const char *number = wide ? "double" : "float";
        weft__text_add(&w->text, "const %s v%u = ", weft__text_of_dtype((weft_dtype)value->dtype),
                       at);
        if (dense)
            weft__text_add(&w->text, "vload%d(0, (GLOBAL const %s *)(", wide ? 8 : 16, number);
        else
            weft__text_add(&w->text, "(*(GLOBAL const %s *)(", number);
        weft__write_point(w, value->slot);
        weft__text_add(&w->text, "));\n");
    } else if (value->op != WEFT__OP_fold) {
        weft__write_value(w, at);
    }
}

static void write_row(weft__writer *w, const weft__value *fold)
{
    weft__text_add(&w->text, "FUNCTION %s row(PARAMETERS, const I point, const I r)\n{\n",
                   weft__text_of_dtype((weft_dtype)fold->dtype));
    weft__write_positions(w, 0, w->kept_ndim, "point");
    weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    weft__write_wanted(w, write_row_value);
    weft__text_add(&w->text, "return v%d;\n}\n", fold->argument[0]);
}

/* Halving: of vectors, then within the one that is left, whose upper part does not matter. */
static void write_halving(weft__writer *w, uint32_t at, int rows, int width)
{
    for (int h = rows / 2; h > 0; h /= 2)
        for (int k = 0; k < h; k++)
            weft__text_add(&w->text, "x%d = rows%u(x%d, x%d);\n", k, at, k, k + h);
    for (int h = width / 2; h > 0; h /= 2) {
        weft__text_add(&w->text, "x0 = rows%u(x0, x0.s", at);
        for (int k = 0; k < width; k++)
            weft__text_add(&w->text, "%x", (unsigned)(h + k % h));
        weft__text_add(&w->text, ");\n");
    }
}

/* whole(point, begin): a chunk that has all of its elements. */
void weft__write_rows(weft__writer *w)
{
    const uint32_t at = fold_of(w->kernel);
    const weft__value *fold = &w->kernel->values[at];
    const char *type = weft__text_of_dtype((weft_dtype)fold->dtype);
    const int width = fold->dtype == WEFT_F64 ? ROW_BYTES / 8 : ROW_BYTES / 4;
    const int rows = WEFT__FOLD_LANES / width;
    weft__text_add(&w->text, "#define %s %s%d\n", type, width == 8 ? "double" : "float", width);
    weft__write_fold_function(w, at, "rows");
    weft__want_folded(w);
    write_row(w, fold);
    weft__text_add(&w->text, "FUNCTION partial whole(PARAMETERS, const I point, const I begin)\n{\n"
                             "partial z;\n");
    for (int k = 0; k < rows; k++)
        weft__text_add(&w->text, "%s x%d = row(ARGUMENTS, point, begin + %d);\n", type, k,
                       k * width);
    weft__text_add(&w->text, "for (I r = begin + %d; r < begin + %d; r += %d) {\n",
                   WEFT__FOLD_LANES, WEFT__FOLD_CHUNK, WEFT__FOLD_LANES);
    for (int k = 0; k < rows; k++)
        weft__text_add(&w->text, "x%d = rows%u(x%d, row(ARGUMENTS, point, r + %d));\n", k, at, k,
                       k * width);
    weft__text_add(&w->text, "}\n");
    write_halving(w, at, rows, width);
    weft__text_add(&w->text, "z.a%u = x0.s0;\nreturn z;\n}\n#undef %s\n", at, type);
}
