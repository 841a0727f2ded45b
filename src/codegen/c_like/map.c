/* Kernels without folds: an item takes a few elements of a row that lie next to each other. */
#include "codegen/c_like/write.h"
#include <stdio.h>

static bool is_displaced(const weft__value *value) { return value->shift != 0; }

/* Whether the operand is read at the point itself. */
static bool is_read(const weft__kernel *kernel, uint32_t operand)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_load && kernel->values[k].slot == operand &&
            !is_displaced(&kernel->values[k]))
            return true;
    return false;
}

/* Bytes of memory as the widest pieces that are loaded at once. */
static void write_pieces(weft__writer *w, int bytes, const char *to, const char *from,
                         const char *to_space, const char *from_space)
{
    static const char *const types[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "uint2", [16] = "uint4"};
    for (int at = 0, piece; at < bytes; at += piece) {
        piece = bytes - at >= 16 ? 16 : bytes - at;
        weft__text_add(&w->text,
                       "*(%s %s *)((%s u8 *)%s + %d) = *(%s const %s *)((%s const u8 *)%s + %d);\n",
                       to_space, types[piece], to_space, to, at, from_space, types[piece],
                       from_space, from, at);
    }
}

/* The bits of an address that must be 0 for them. */
static int mask_of(int bytes) { return (bytes < 16 ? bytes : 16) - 1; }

static int numbers_of(const weft__writer *w, uint32_t operand)
{
    const int parts = weft__parts_of((weft_dtype)w->kernel->operands[operand].dtype);
    return w->shape.lie[operand] == WEFT__LIE_REPEATED ? parts : parts * w->shape.lanes;
}

/* What is loaded of an operand that lies along the row: x<operand>. */
static void write_operand_load(weft__writer *w, uint32_t operand)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->operands[operand].dtype;
    const char *type = weft__text_of_memory(dtype);
    const int numbers = numbers_of(w, operand), bytes = numbers * weft__part_bytes(dtype);
    char to[16], from[16];
    snprintf(to, sizeof to, "x%u", operand);
    snprintf(from, sizeof from, "q%u", operand);
    weft__text_add(&w->text, "ALIGNED %s x%u[%d];\n", type, operand, numbers);
    if (numbers == weft__parts_of(dtype)) {
        for (int k = 0; k < numbers; k++)
            weft__text_add(&w->text, "x%u[%d] = ((GLOBAL const %s *)q%u)[%d];\n", operand, k, type,
                           operand, k);
        return;
    }
    weft__text_add(&w->text, "if (whole && ((size_t)q%u & %d) == 0) {\n", operand, mask_of(bytes));
    write_pieces(w, bytes, to, from, "", "GLOBAL");
    weft__text_add(&w->text,
                   "} else {\nUNROLL for (int e = 0; e < %d; e++)\nx%u[e] = e < %d*valid ? "
                   "((GLOBAL const %s *)q%u)[e] : (%s)0;\n}\n",
                   numbers, operand, weft__parts_of(dtype), type, operand, type);
}

static void write_operand_store(weft__writer *w, uint32_t operand)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->operands[operand].dtype;
    const char *type = weft__text_of_memory(dtype);
    const int numbers = numbers_of(w, operand);
    char to[16], from[16];
    snprintf(to, sizeof to, "q%u", operand);
    snprintf(from, sizeof from, "y%u", operand);
    if (w->shape.lanes == 1) {
        for (int k = 0; k < numbers; k++)
            weft__text_add(&w->text, "((GLOBAL %s *)q%u)[%d] = y%u[%d];\n", type, operand, k,
                           operand, k);
        return;
    }
    weft__text_add(&w->text, "if (whole && ((size_t)q%u & %d) == 0) {\n", operand,
                   mask_of(numbers * weft__part_bytes(dtype)));
    write_pieces(w, numbers * weft__part_bytes(dtype), to, from, "GLOBAL", "");
    weft__text_add(&w->text,
                   "} else {\nUNROLL for (int e = 0; e < %d; e++)\nif (e < %d*valid)\n"
                   "((GLOBAL %s *)q%u)[e] = y%u[e];\n}\n",
                   numbers, weft__parts_of(dtype), type, operand, operand);
}

bool weft__keeps_a_part(const weft__kernel *kernel, uint32_t operand)
{
    int stored = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_store && kernel->values[k].slot == operand)
            stored |= 1 << kernel->values[k].part;
    return weft__parts_of((weft_dtype)kernel->operands[operand].dtype) == 2 && stored != 3;
}

static void write_lane_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = value->op == WEFT__OP_load || value->op == WEFT__OP_store
                                  ? (weft_dtype)w->kernel->operands[value->slot].dtype
                                  : WEFT_DTYPE_DEFAULT;
    if (value->op == WEFT__OP_load && !is_displaced(value)) {
        const int parts = weft__parts_of(memory);
        const char *lane = w->shape.lie[value->slot] == WEFT__LIE_REPEATED ? "0" : "e";
        weft__text_add(&w->text, "const %s m%u = x%u[%d*%s + %d];\n", weft__text_of_memory(memory),
                       at, value->slot, parts, lane, value->part);
        weft__write_loaded(w, at);
    } else if (value->op == WEFT__OP_load) {
        weft__write_load(w, at);
    } else if (value->op == WEFT__OP_store) {
        weft__text_add(&w->text, "y%u[%d*e + %d] = ", value->slot, weft__parts_of(memory),
                       value->part);
        weft__write_narrowed(w, value);
        weft__text_add(&w->text, ";\n");
    } else {
        weft__write_value(w, at);
    }
}

/* In a piece of several rows. */
static void write_tiled_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, along = WEFT__GROUP_ITEMS / WEFT__TILE_ROWS;
    weft__text_add(&w->text,
                   "const I across = ((I)g.size[%d] + %d)/%d, tile = (I)GROUP_ID/across;\n"
                   "const I down = ((I)g.size[%d] + %d)/%d, rest = tile/down;\n",
                   last, along * w->shape.lanes - 1, along * w->shape.lanes, last - 1,
                   WEFT__TILE_ROWS - 1, WEFT__TILE_ROWS);
    weft__text_add(&w->text,
                   "const I first = (((I)GROUP_ID - tile*across)*%d + (I)LOCAL_ID %% %d)*%d;\n"
                   "const I i%d = (tile - rest*down)*%d + (I)LOCAL_ID/%d;\n"
                   "if (first >= (I)g.size[%d] || i%d >= (I)g.size[%d])\nreturn;\n",
                   along, along, w->shape.lanes, last - 1, WEFT__TILE_ROWS, along, last, last - 1,
                   last - 1);
    weft__write_positions(w, 0, last - 1, "rest");
}

/* Which row, and where in it: of a single row without a division. */
static void write_row_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, lanes = w->shape.lanes;
    weft__text_add(&w->text, "const I item = (I)GROUP_ID*%d + (I)LOCAL_ID;\n", WEFT__GROUP_ITEMS);
    if (last == 0) {
        weft__text_add(&w->text, "const I first = item*%d;\nif (first >= (I)g.size[0])\nreturn;\n",
                       lanes);
        return;
    }
    weft__text_add(&w->text,
                   "const I items = ((I)g.size[%d] + %d)/%d, row = item/items;\n"
                   "const I first = (item - row*items)*%d;\n"
                   "if (row >= (I)(g.count/g.size[%d]))\nreturn;\n",
                   last, lanes - 1, lanes, lanes, last);
    weft__write_positions(w, 0, last, "row");
}

static void write_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, lanes = w->shape.lanes;
    if (w->shape.tiled)
        write_tiled_place(w);
    else
        write_row_place(w);
    if (lanes > 1)
        weft__text_add(&w->text,
                       "const int valid = (int)((I)g.size[%d] - first < %d ? (I)g.size[%d] - first "
                       ": %d);\nconst bool whole = valid == %d;\n",
                       last, lanes, last, lanes, lanes);
}

static void write_operands(weft__writer *w)
{
    weft__text_add(&w->text, "{\nconst I i%d = first;\n", w->shape.ndim - 1);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        weft__text_add(&w->text, "q%u = ", k);
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "}\n");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_read(w->kernel, k))
            write_operand_load(w, k);
}

static void write_outputs(weft__writer *w, bool begin)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (!w->kernel->operands[k].output)
            continue;
        if (!begin) {
            write_operand_store(w, k);
            continue;
        }
        const char *type = weft__text_of_memory((weft_dtype)w->kernel->operands[k].dtype);
        weft__text_add(&w->text, "ALIGNED %s y%u[%d];\n", type, k, numbers_of(w, k));
        if (weft__keeps_a_part(w->kernel, k))
            weft__text_add(&w->text,
                           "for (int e = 0; e < %d; e++)\ny%u[e] = ((GLOBAL const %s *)q%u)[e];\n",
                           numbers_of(w, k), k, type, k);
    }
}

void weft__write_map(weft__writer *w, weft__kernel_text *source)
{
    const int last = w->shape.ndim - 1;
    weft__write_types(w);
    weft__write_kernel(w, WEFT__GROUP_ITEMS);
    write_place(w);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        weft__text_add(&w->text, "GLOBAL u8 *q%u;\n", k);
    write_operands(w);
    write_outputs(w, true);
    weft__text_add(&w->text, "UNROLL for (int e = 0; e < %d; e++) {\n", w->shape.lanes);
    if (w->shape.lanes == 1)
        weft__text_add(&w->text, "const I i%d = first;\n", last);
    else
        weft__text_add(&w->text, "const I i%d = first + (e < valid ? e : valid - 1);\n", last);
    weft__write_wanted(w, write_lane_value);
    weft__text_add(&w->text, "}\n");
    write_outputs(w, false);
    weft__text_add(&w->text, "}\n");
    source->group = WEFT__GROUP_ITEMS;
    source->points = WEFT__GROUP_ITEMS * w->shape.lanes;
    source->rows = last > 0;
    source->down = w->shape.tiled ? WEFT__TILE_ROWS : 0;
}
