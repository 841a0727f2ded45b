/* Maps on GPUs with turned operands, where rows are aligned: an item loads vectors of up to 16
 * bytes along the axis that each operand lies along, and stores such vectors.
 *
 * An item has column `vx` of a square's vectors, and of the lines across them every so many, from
 * `vy` on. Local memory has turned squares as they are loaded, vector after vector, but with vector
 * k of line l in the place of k ^ (l/lanes & 7): so those that eight items store are in different
 * banks, and of the elements that the items of a warp then take at most two are in the same one,
 * where all have one size. */
#include "codegen/c_like/write.h"

static bool is_turned(const weft__writer *w, uint32_t operand)
{
    return w->shape.lie[operand] == WEFT__LIE_TURNED;
}

static int bytes_of(const weft__writer *w, uint32_t operand)
{
    return (int)weft_dtype_size((weft_dtype)w->kernel->operands[operand].dtype);
}

static int parts_of(const weft__writer *w, uint32_t operand)
{
    return weft__parts_of((weft_dtype)w->kernel->operands[operand].dtype);
}

static const char *memory_of(const weft__writer *w, uint32_t operand)
{
    return weft__text_of_memory((weft_dtype)w->kernel->operands[operand].dtype);
}

int weft__turned_lanes(const weft__writer *w)
{
    int largest = 1;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        largest = bytes_of(w, k) > largest ? bytes_of(w, k) : largest;
    const int most = weft__turned_side(w) / 8;
    return 16 / largest < most ? 16 / largest : most;
}

/* Vectors in a line of a square, lines that are taken at once, and vectors that an item has. */
static int across_of(const weft__writer *w) { return weft__turned_side(w) / weft__turned_lanes(w); }
static int down_of(const weft__writer *w) { return weft__turned_items(w) / across_of(w); }
static int each_of(const weft__writer *w) { return weft__turned_side(w) / down_of(w); }

static bool is_read(const weft__writer *w, uint32_t operand)
{
    return weft__is_read(w->kernel, w->wanted, operand);
}

/* Whether vectors of an operand are loaded or stored. */
static bool has_vectors(const weft__writer *w, uint32_t operand)
{
    return w->kernel->operands[operand].output ||
           (is_read(w, operand) && w->shape.lie[operand] != WEFT__LIE_ANY);
}

static void write_misaligned(weft__writer *w, uint32_t operand)
{
    const int mask = weft__turned_lanes(w) * bytes_of(w, operand) - 1;
    const int own = is_turned(w, operand) ? w->shape.turned - 1 : w->shape.ndim - 1;
    weft__text_add(&w->text, " | ((size_t)(");
    weft__write_first(w, operand);
    weft__text_add(&w->text, ") & %d)", mask);
    for (int axis = 0; axis < w->shape.ndim; axis++)
        if (axis != own) {
            weft__text_add(&w->text, " | ((size_t)");
            weft__write_stride(w, operand, axis);
            weft__text_add(&w->text, " & %d)", mask);
        }
}

/* Of a square that is not whole, vectors are: there or not. */
static void write_whole(weft__writer *w, const char *first, int axis)
{
    weft__text_add(&w->text, "(%s + %d <= (I)g.size[%d] || (g.size[%d] & %d) == 0) && ", first,
                   weft__turned_side(w), axis, axis, weft__turned_lanes(w) - 1);
}

void weft__write_turned_vectors(weft__writer *w)
{
    weft__text_add(&w->text, "const bool vectors = ");
    write_whole(w, "column", w->shape.ndim - 1);
    write_whole(w, "row", w->shape.turned - 1);
    weft__text_add(&w->text, "(0");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (has_vectors(w, k))
            write_misaligned(w, k);
    weft__text_add(&w->text, ") == 0;\n");
}

static void write_place(weft__writer *w)
{
    weft__text_add(&w->text, "const int vx = (int)LOCAL_ID & %d, vy = (int)LOCAL_ID >> %d;\n",
                   across_of(w) - 1, weft__log2(across_of(w)));
}

/* The vectors of an item, one by one, each with the line that it is in. */
static void write_vectors_begin(weft__writer *w)
{
    weft__text_add(&w->text, "UNROLL for (int n = 0; n < %d; n++) {\nconst int line = vy + %d*n;\n",
                   each_of(w), down_of(w));
}

/* Where a vector begins, or, to load without branches, one that is there. */
static void write_position(weft__writer *w, bool turned)
{
    const int last = w->shape.ndim - 1, other = w->shape.turned - 1, lanes = weft__turned_lanes(w);
    weft__text_add(&w->text, "I i%d = column + ", last);
    weft__text_add(&w->text, turned ? "line, " : "%d*vx, ", lanes);
    weft__text_add(&w->text, "i%d = row + ", other);
    weft__text_add(&w->text, turned ? "%d*vx;\n" : "line;\n", lanes);
    for (int k = 0; k < 2; k++) {
        const int axis = k ? other : last;
        weft__text_add(&w->text, "i%d = i%d < (I)g.size[%d] ? i%d : (I)g.size[%d] - %d;\n", axis,
                       axis, axis, axis, axis, (k == 1) == turned ? lanes : 1);
    }
}

static const char *vector_of(const weft__writer *w, uint32_t operand)
{
    static const char *const types[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "uint2", [16] = "uint4"};
    return types[weft__turned_lanes(w) * bytes_of(w, operand)];
}

/* The numbers of an item's vector n. */
static void write_own(weft__writer *w, const char *name, uint32_t operand)
{
    weft__text_add(&w->text, "*(%s *)(%s%u + %d*n)", vector_of(w, operand), name, operand,
                   weft__turned_lanes(w) * parts_of(w, operand));
}

/* Of an operand that has one for all along the last axis. */
static void write_repeated(weft__writer *w, uint32_t operand)
{
    const int parts = parts_of(w, operand), lanes = weft__turned_lanes(w);
    for (int k = 0; k < lanes * parts; k++)
        weft__text_add(&w->text, "x%u[%d*n + %d] = ((GLOBAL const %s *)q%u)[%d];\n", operand,
                       lanes * parts, k, memory_of(w, operand), operand, k % parts);
}

static void write_load(weft__writer *w, uint32_t operand)
{
    weft__text_add(&w->text, "GLOBAL const u8 *q%u = ", operand);
    weft__write_address(w, operand, "i");
    weft__text_add(&w->text, ";\n");
    if (!has_vectors(w, operand)) {
        write_repeated(w, operand);
        return;
    }
    write_own(w, "x", operand);
    weft__text_add(&w->text, " = *(GLOBAL const %s *)q%u;\n", vector_of(w, operand), operand);
}

static void write_loads(weft__writer *w, bool turned)
{
    write_vectors_begin(w);
    write_position(w, turned);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_read(w, k) && is_turned(w, k) == turned)
            write_load(w, k);
    weft__text_add(&w->text, "}\n");
}

static void write_squares(weft__writer *w)
{
    const int lanes = weft__turned_lanes(w);
    write_vectors_begin(w);
    weft__text_add(&w->text, "const int place = line*%d + (vx ^ (line >> %d & 7))*%d;\n",
                   weft__turned_side(w), weft__log2(lanes), lanes);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_read(w, k) && is_turned(w, k)) {
            weft__text_add(&w->text,
                           "*(LOCAL_POINTER %s *)((LOCAL_POINTER u8 *)square%u + %d*place) = ",
                           vector_of(w, k), k, bytes_of(w, k));
            write_own(w, "x", k);
            weft__text_add(&w->text, ";\n");
        }
    weft__text_add(&w->text, "}\n");
}

static void write_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load && is_turned(w, value->slot)) {
        const char *type = memory_of(w, value->slot);
        weft__text_add(&w->text,
                       "const %s m%u = ((LOCAL_POINTER const %s *)square%u)[%d*(place + %d*j) + "
                       "%d];\n",
                       type, at, type, value->slot, parts_of(w, value->slot), weft__turned_side(w),
                       value->part);
        weft__write_loaded(w, at);
    } else {
        weft__write_lane_value(w, at);
    }
}

static void write_results(weft__writer *w, bool begin)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (!w->kernel->operands[k].output)
            continue;
        if (begin) {
            weft__text_add(&w->text, "ALIGNED %s y%u[%d];\n", memory_of(w, k), k,
                           each_of(w) * weft__turned_lanes(w) * parts_of(w, k));
            continue;
        }
        weft__text_add(&w->text, "*(GLOBAL %s *)(", vector_of(w, k));
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ") = ");
        write_own(w, "y", k);
        weft__text_add(&w->text, ";\n");
    }
}

/* The elements of vector n, and the vector itself. */
static void write_vector(weft__writer *w)
{
    const int last = w->shape.ndim - 1, other = w->shape.turned - 1, lanes = weft__turned_lanes(w);
    weft__text_add(&w->text,
                   "const I i%d = row + line, first = column + %d*vx;\n"
                   "const int place = %d*vx + ((line >> %d) ^ (vx & 7))*%d + (line & %d);\n"
                   "if (i%d < (I)g.size[%d] && first < (I)g.size[%d]) {\n",
                   other, lanes, lanes * weft__turned_side(w), weft__log2(lanes), lanes, lanes - 1,
                   other, other, last);
    weft__text_add(&w->text,
                   "UNROLL for (int j = 0; j < %d; j++) {\n"
                   "const int e = %d*n + j;\nconst I i%d = first + j;\n",
                   lanes, lanes, last);
    weft__write_wanted(w, write_value);
    weft__text_add(&w->text, "}\nconst I i%d = first;\n", last);
    write_results(w, false);
    weft__text_add(&w->text, "}\n");
}

void weft__write_turned_by_vectors(weft__writer *w)
{
    write_place(w);
    write_loads(w, true);
    write_loads(w, false);
    write_squares(w);
    weft__text_add(&w->text, "BARRIER;\n");
    write_results(w, true);
    write_vectors_begin(w);
    write_vector(w);
    weft__text_add(&w->text, "}\n");
}
