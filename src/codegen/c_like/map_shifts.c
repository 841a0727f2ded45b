/* Displaced loads of maps that take several elements of a row at once: rows of neighbours are
 * loaded as vectors, neighbours along the row are elements of what was loaded for the point itself,
 * and along one outer axis items march and keep the rows that they have loaded.
 *
 * In the text, x<operand>_<shift> is the row of a shift; n<operand>_<k> are the rows that an
 * operand has in a march, in the order of their positions, and r<operand> is where a step is. */
#include "codegen/c_like/write.h"
#include <stdio.h>

enum { MOST_ROWS = 5 };

static const weft__kernel_shift *shift_of(const weft__writer *w, const weft__value *value)
{
    return &w->kernel->shifts[value->shift - 1];
}

/* The only axis of the launch that is displaced along, or -1. */
static int only_axis(const weft__kernel *kernel, const weft__kernel_shift *shift)
{
    int only = -1;
    for (int axis = 0; axis < kernel->ndim; axis++)
        if (shift->offset[axis] != 0) {
            if (only >= 0)
                return -1;
            only = axis;
        }
    return only;
}

static bool is_load_of(const weft__value *value, uint32_t operand)
{
    return value->op == WEFT__OP_load && value->slot == operand;
}

/* What rows an operand has in a march along an axis: from `low` to `high`, 0 among them. */
typedef struct rows {
    int low, high;
    int64_t boundary;
    bool any; /* is there one that is displaced, and nothing against it? */
} rows;

static rows rows_of(const weft__kernel *kernel, uint32_t operand, int axis)
{
    rows r = {.boundary = -1};
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (!is_load_of(value, operand) || !value->shift)
            continue;
        const weft__kernel_shift *shift = &kernel->shifts[value->shift - 1];
        const int64_t offset = shift->offset[axis];
        if (only_axis(kernel, shift) != axis)
            continue;
        if (offset < -MOST_ROWS || offset > MOST_ROWS || (r.any && r.boundary != shift->boundary))
            return (rows){0};
        r.any = true;
        r.boundary = shift->boundary;
        r.low = offset < r.low ? (int)offset : r.low;
        r.high = offset > r.high ? (int)offset : r.high;
    }
    return r.high - r.low < MOST_ROWS ? r : (rows){0};
}

int weft__march_axis(const weft__kernel *kernel, const weft__launch *launch)
{
    for (int axis = 0; axis < launch->ndim - 2; axis++)
        for (uint32_t k = 0; k < kernel->operands_count; k++)
            if (launch->size[axis] >= WEFT__MARCH_STEPS && rows_of(kernel, k, axis).any)
                return axis;
    return -1;
}

static rows rows_in_march(const weft__writer *w, uint32_t operand)
{
    const bool dense = w->shape.lie[operand] == WEFT__LIE_DENSE;
    return w->shape.march && dense ? rows_of(w->kernel, operand, w->shape.march - 1) : (rows){0};
}

bool weft__is_marched(const weft__writer *w, uint32_t operand)
{
    return rows_in_march(w, operand).any;
}

static bool is_row(const weft__writer *w, const weft__value *value)
{
    return value->op == WEFT__OP_load && value->shift && w->shape.lanes > 1 &&
           w->shape.lie[value->slot] == WEFT__LIE_DENSE &&
           shift_of(w, value)->offset[w->kernel->ndim - 1] == 0;
}

static bool is_marched_value(const weft__writer *w, const weft__value *value)
{
    return is_row(w, value) && rows_in_march(w, value->slot).any &&
           only_axis(w->kernel, shift_of(w, value)) == w->shape.march - 1;
}

/* Whether a value before this one has the same row. */
static bool is_known(const weft__writer *w, uint32_t at)
{
    const weft__value *values = w->kernel->values;
    for (uint32_t k = 0; k < at; k++)
        if (w->wanted[k] && is_load_of(&values[k], values[at].slot) &&
            values[k].shift == values[at].shift)
            return true;
    return false;
}

void weft__write_shifted_rows(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->values_count; k++) {
        const weft__value *value = &w->kernel->values[k];
        char to[32], from[32];
        if (!w->wanted[k] || !is_row(w, value) || is_marched_value(w, value) || is_known(w, k))
            continue;
        snprintf(to, sizeof to, "x%u_%u", value->slot, value->shift);
        snprintf(from, sizeof from, "q%u_%u", value->slot, value->shift);
        weft__text_add(&w->text, "bool inside%s;\nGLOBAL const u8 *%s;\n{\nconst I i%d = first;\n",
                       to + 1, from, w->shape.ndim - 1);
        weft__write_displaced(w, value, to + 1, from);
        weft__text_add(&w->text, "}\n");
        weft__write_row(w, value->slot, to, from);
    }
}

/* Loads row `number` of an operand, which is so far from this position along the axis, or beyond an
 * end; r<operand> is at `here`. */
static void write_march_load(weft__writer *w, uint32_t operand, int number, const char *here,
                             int distance)
{
    const int axis = w->shape.march - 1;
    const rows r = rows_in_march(w, operand);
    char to[32];
    snprintf(to, sizeof to, "n%u_%d", operand, number);
    weft__text_add(&w->text, "{\nconst I length = (I)g.size[%d];\nI at = %s + (%d);\n", axis, here,
                   distance);
    if (r.boundary == WEFT__BOUNDARY_WRAP)
        weft__text_add(&w->text, "at %%= length;\nat += at < 0 ? length : 0;\n");
    else
        weft__text_add(&w->text, "at = at < 0 ? 0 : at < length ? at : length - 1;\n");
    weft__text_add(&w->text, "GLOBAL const u8 *from = r%u + (at - %s)*", operand, here);
    weft__write_stride(w, operand, axis);
    weft__text_add(&w->text, ";\n");
    weft__write_row_load(w, operand, to, "from");
    weft__text_add(&w->text, "}\n");
}

static void write_march_places(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        weft__text_add(&w->text, "GLOBAL u8 *r%u;\n", k);
    weft__text_add(&w->text, "{\nconst I i%d = begin, i%d = first;\n", w->shape.march - 1,
                   w->shape.ndim - 1);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        weft__text_add(&w->text, "r%u = ", k);
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "}\n");
}

static void write_march_rows(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const rows r = rows_in_march(w, k);
        const weft_dtype dtype = (weft_dtype)w->kernel->operands[k].dtype;
        for (int row = 0; r.any && row <= r.high - r.low; row++) {
            weft__text_add(&w->text, "ALIGNED %s n%u_%d[%d];\n", weft__text_of_memory(dtype), k,
                           row, weft__parts_of(dtype) * w->shape.lanes);
            if (row > 0)
                write_march_load(w, k, row, "begin", row + r.low - 1);
        }
    }
}

static void write_march_step(weft__writer *w)
{
    char position[16];
    snprintf(position, sizeof position, "i%d", w->shape.march - 1);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const rows r = rows_in_march(w, k);
        const int numbers =
            weft__parts_of((weft_dtype)w->kernel->operands[k].dtype) * w->shape.lanes;
        if (!r.any)
            continue;
        weft__text_add(&w->text, "UNROLL for (int e = 0; e < %d; e++) {\n", numbers);
        for (int row = 0; row < r.high - r.low; row++)
            weft__text_add(&w->text, "n%u_%d[e] = n%u_%d[e];\n", k, row, k, row + 1);
        weft__text_add(&w->text, "}\n");
        write_march_load(w, k, r.high - r.low, position, r.high);
    }
}

void weft__write_march_begin(weft__writer *w)
{
    const int axis = w->shape.march - 1;
    write_march_places(w);
    write_march_rows(w);
    weft__text_add(&w->text, "ROLLED for (I i%d = begin; i%d < end; i%d++", axis, axis, axis);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        weft__text_add(&w->text, ", r%u += ", k);
        weft__write_stride(w, k, axis);
    }
    weft__text_add(&w->text, ") {\n");
    write_march_step(w);
}

/* The row that a point itself is in. */
static void write_own_row(weft__writer *w, uint32_t operand)
{
    const rows r = rows_in_march(w, operand);
    if (r.any)
        weft__text_add(&w->text, "n%u_%d", operand, -r.low);
    else
        weft__text_add(&w->text, "x%u", operand);
}

/* Beyond an end is the row at that end, which for its neighbour is the row of the point. */
static void write_marched(weft__writer *w, uint32_t at, int parts, const char *type)
{
    const weft__value *value = &w->kernel->values[at];
    const weft__kernel_shift *shift = shift_of(w, value);
    const int axis = w->shape.march - 1, offset = (int)shift->offset[axis];
    const rows r = rows_in_march(w, value->slot);
    weft__text_add(&w->text,
                   "const bool inside%u = i%d + (%d) >= 0 && i%d + (%d) < (I)g.size[%d];\n", at,
                   axis, offset, axis, offset, axis);
    weft__text_add(&w->text, "const %s m%u = ", type, at);
    if (shift->boundary == WEFT__BOUNDARY_UNSHIFTED && offset != 1 && offset != -1)
        weft__text_add(&w->text, "!inside%u ? n%u_%d[%d*e + %d] : ", at, value->slot, -r.low, parts,
                       value->part);
    weft__text_add(&w->text, "n%u_%d[%d*e + %d];\n", value->slot, offset - r.low, parts,
                   value->part);
}

/* Whether it is displaced along the row by less than what is loaded of it. */
static bool is_beside(const weft__writer *w, const weft__value *value)
{
    const int last = w->kernel->ndim - 1;
    const int64_t offset = shift_of(w, value)->offset[last], most = w->shape.lanes - 1;
    return w->shape.lanes > 1 && w->shape.lie[value->slot] == WEFT__LIE_DENSE &&
           only_axis(w->kernel, shift_of(w, value)) == last && offset >= -most && offset <= most &&
           (weft__is_read(w->kernel, w->wanted, value->slot) || weft__is_marched(w, value->slot));
}

static void write_beside(weft__writer *w, uint32_t at, int parts, const char *type)
{
    const weft__value *value = &w->kernel->values[at];
    const int offset = (int)shift_of(w, value)->offset[w->kernel->ndim - 1];
    char name[16], from[16];
    snprintf(name, sizeof name, "%u", at);
    snprintf(from, sizeof from, "q_%u", at);
    weft__text_add(&w->text,
                   "%s m%u; bool inside%u = true;\nif (e + (%d) >= 0 && e + (%d) < %d) {\n"
                   "m%u = ",
                   type, at, at, offset, offset, w->shape.lanes, at);
    write_own_row(w, value->slot);
    weft__text_add(&w->text, "[%d*(e + (%d)) + %d];\n} else {\nGLOBAL const u8 *%s;\n", parts,
                   offset, value->part, from);
    weft__write_displaced(w, value, name, from);
    weft__text_add(&w->text, "m%u = ((GLOBAL const %s *)%s)[%d];\n}\n", at, type, from,
                   value->part);
}

bool weft__write_lane_load(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    const char *type = weft__text_of_memory(memory);
    const int parts = weft__parts_of(memory), lie = w->shape.lie[value->slot];
    if (!value->shift) {
        weft__text_add(&w->text, "const %s m%u = ", type, at);
        write_own_row(w, value->slot);
        weft__text_add(&w->text, "[%d*%s + %d];\n", lie == WEFT__LIE_SECOND ? 2 * parts : parts,
                       lie == WEFT__LIE_REPEATED ? "0" : "e", value->part);
    } else if (is_marched_value(w, value)) {
        write_marched(w, at, parts, type);
    } else if (is_row(w, value)) {
        weft__text_add(&w->text, "const bool inside%u = inside%u_%u;\n", at, value->slot,
                       value->shift);
        weft__text_add(&w->text, "const %s m%u = x%u_%u[%d*e + %d];\n", type, at, value->slot,
                       value->shift, parts, value->part);
    } else if (is_beside(w, value)) {
        write_beside(w, at, parts, type);
    } else {
        return false;
    }
    weft__write_loaded(w, at);
    return true;
}
