/* Maps on GPUs with operands that lie along another axis than the last: a group takes a square of
 * both axes, and turns theirs in local memory, so that all memory is read and written along rows.
 *
 * An item has column `tx` of the square, and of its rows every so many, from `ty` on. */
#include "codegen/c_like/write.h"

enum { SIDE = 32, SIDE_MOST = 64, ITEMS_MOST = 512, LONG = 64 };

int weft__turned_bytes(weft_dtype dtype) { return SIDE * (SIDE + 1) * (int)weft_dtype_size(dtype); }

static bool is_turned(const weft__writer *w, uint32_t operand)
{
    return w->shape.lie[operand] == WEFT__LIE_TURNED;
}

/* Longer rows of memory where little is held: one turned operand of 4 bytes, and one other. */
int weft__turned_side(const weft__writer *w)
{
    int turned = 0, others = 0;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (!weft__is_read(w->kernel, w->wanted, k))
            continue;
        const int words = ((int)weft_dtype_size((weft_dtype)w->kernel->operands[k].dtype) + 3) / 4;
        *(is_turned(w, k) ? &turned : &others) += words;
    }
    return turned == 1 && others <= 1 ? SIDE_MOST : SIDE;
}

/* So many that each has two vectors of an operand, where squares are large; OpenCL's devices are
 * asked for no more than is usual. */
int weft__turned_items(const weft__writer *w)
{
    const bool large = w->shape.vector && weft__turned_side(w) == SIDE_MOST;
    if (!large || w->dialect != WEFT__DIALECT_CUDA)
        return WEFT__GROUP_ITEMS;
    const int items = SIDE_MOST * SIDE_MOST / 2 / weft__turned_lanes(w);
    return items < ITEMS_MOST ? items : ITEMS_MOST;
}

/* Groups of the most items that there are to be at once, where little is held: with a fourth,
 * memory would be read in more places, and not faster. */
static int at_once(const weft__writer *w)
{
    enum { FEW = 3 };
    const bool bound = weft__is_light(w->kernel) && w->kernel->operands_count <= FEW &&
                       weft__turned_items(w) == ITEMS_MOST;
    return bound ? 3 : 0;
}

/* Rows of a square that are taken at once. */
static int down_of(const weft__writer *w) { return weft__turned_items(w) / weft__turned_side(w); }
/* Elements of a square that an item has. */
static int each_of(const weft__writer *w) { return weft__turned_side(w) / down_of(w); }

static void write_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, other = w->shape.turned - 1, side = weft__turned_side(w);
    weft__text_add(
        &w->text,
        "const int tx = (int)LOCAL_ID & %d, ty = (int)LOCAL_ID >> %d;\n"
        "const I across = (I)((U)(g.size[%d] + %d)/%d), square = (I)((U)GROUP_ID/(U)across);\n"
        "const I down = (I)((U)(g.size[%d] + %d)/%d), others = (I)((U)square/(U)down);\n",
        side - 1, weft__log2(side), last, side - 1, side, other, side - 1, side);
    weft__text_add(&w->text,
                   "const I column = ((I)GROUP_ID - square*across)*%d, row = (square - "
                   "others*down)*%d;\nI rest0 = others;\n",
                   side, side);
    for (int k = last - 1; k >= 0; k--)
        if (k != other)
            weft__write_divided(w, k, 0);
}

/* Where element e of an item is, or where it is the other way round. */
static void write_element_place(weft__writer *w, bool turned)
{
    const int last = w->shape.ndim - 1, other = w->shape.turned - 1;
    weft__text_add(&w->text, "const int te = ty + %d*e;\nI i%d = column + %s, i%d = row + %s;\n",
                   down_of(w), last, turned ? "te" : "tx", other, turned ? "tx" : "te");
}

/* Whether it is there, and, to load without branches, one that is. */
static void write_element_there(weft__writer *w)
{
    const int last = w->shape.ndim - 1, other = w->shape.turned - 1;
    weft__text_add(&w->text, "if (i%d < (I)g.size[%d] && i%d < (I)g.size[%d]) {\n", last, last,
                   other, other);
}

static void write_element_near(weft__writer *w)
{
    for (int k = 0; k < 2; k++) {
        const int axis = k ? w->shape.turned - 1 : w->shape.ndim - 1;
        weft__text_add(&w->text, "i%d = i%d < (I)g.size[%d] ? i%d : (I)g.size[%d] - 1;\n", axis,
                       axis, axis, axis, axis);
    }
}

static void write_square(weft__writer *w, uint32_t operand)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->operands[operand].dtype;
    const char *type = weft__text_of_memory(dtype);
    const char *aligned = w->shape.vector ? "ALIGNED " : "";
    const int parts = weft__parts_of(dtype), side = weft__turned_side(w);
    if (is_turned(w, operand))
        weft__text_add(&w->text, "LOCAL %s%s square%u[%d][%d];\n", aligned, type, operand, side,
                       parts * (side + 1));
    weft__text_add(&w->text, "%s%s x%u[%d];\n", aligned, type, operand, parts * each_of(w));
}

static void write_loads(weft__writer *w, bool turned)
{
    weft__text_add(&w->text, "UNROLL for (int e = 0; e < %d; e++) {\n", each_of(w));
    write_element_place(w, turned);
    write_element_near(w);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const weft_dtype dtype = (weft_dtype)w->kernel->operands[k].dtype;
        const int parts = weft__parts_of(dtype);
        if (!weft__is_read(w->kernel, w->wanted, k) || is_turned(w, k) != turned)
            continue;
        weft__text_add(&w->text, "GLOBAL const %s *q%u = (GLOBAL const %s *)(",
                       weft__text_of_memory(dtype), k, weft__text_of_memory(dtype));
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ");\n");
        for (int part = 0; part < parts; part++)
            weft__text_add(&w->text, "x%u[%d*e + %d] = q%u[%d];\n", k, parts, part, k, part);
    }
    weft__text_add(&w->text, "}\n");
}

static void write_squares(weft__writer *w)
{
    weft__text_add(&w->text, "UNROLL for (int e = 0; e < %d; e++) {\n", each_of(w));
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const int parts = weft__parts_of((weft_dtype)w->kernel->operands[k].dtype);
        for (int part = 0; is_turned(w, k) && part < parts; part++)
            if (weft__is_read(w->kernel, w->wanted, k))
                weft__text_add(&w->text, "square%u[ty + %d*e][%d*tx + %d] = x%u[%d*e + %d];\n", k,
                               down_of(w), parts, part, k, parts, part);
    }
    weft__text_add(&w->text, "}\n");
}

static void write_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_store) {
        weft__write_store(w, value);
    } else if (value->op == WEFT__OP_load && !value->shift && is_turned(w, value->slot)) {
        const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
        weft__text_add(&w->text, "const %s m%u = square%u[tx][%d*te + %d];\n",
                       weft__text_of_memory(memory), at, value->slot, weft__parts_of(memory),
                       value->part);
        weft__write_loaded(w, at);
    } else {
        weft__write_lane_value(w, at);
    }
}

/* Element by element. */
static void write_one_by_one(weft__writer *w)
{
    write_loads(w, true);
    write_loads(w, false);
    write_squares(w);
    weft__text_add(&w->text, "BARRIER;\nUNROLL for (int e = 0; e < %d; e++) {\n", each_of(w));
    write_element_place(w, false);
    write_element_there(w);
    weft__write_wanted(w, write_value);
    weft__text_add(&w->text, "}\n}\n");
}

void weft__write_turned(weft__writer *w, weft__kernel_text *source)
{
    const uint32_t side = (uint32_t)weft__turned_side(w);
    source->group = (uint32_t)weft__turned_items(w);
    source->points = side * side;
    source->down = side;
    source->down_axis = w->shape.turned - 1;
    source->thorough = w->shape.vector && w->kernel->values_count <= LONG;
    w->at_once = at_once(w);
    weft__write_types(w);
    weft__write_kernel(w, source->group);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (weft__is_read(w->kernel, w->wanted, k))
            write_square(w, k);
    write_place(w);
    if (w->shape.vector) {
        weft__write_turned_vectors(w);
        weft__text_add(&w->text, "if (vectors) {\n");
        weft__write_turned_by_vectors(w);
        weft__text_add(&w->text, "} else {\n");
    }
    write_one_by_one(w);
    weft__text_add(&w->text, w->shape.vector ? "}\n}\n" : "}\n");
}
