/* Kernels without folds on CPUs: a group has one item, which takes care of many elements. They go
 * block by block along the rows: a loop over a block is what compilers make vectors of, and its
 * results are stored at once, around the cache where they are too many for it. Light ones, which
 * take as long as memory does, go vector by vector (map_vectors.c).
 *
 * Where an operand is turned, a group takes a square, so that few pages are in use at a time, and
 * turns a tile of it in private memory before the rows of the tile are done. */
#include "codegen/c_like/write.h"

enum { RUN = 1 << 14, RUN_DISPLACED = 1 << 15 }; /* elements of a group */
enum { BLOCK = 512, SQUARE = 256, TILE_ROWS = 32, TILE_COLUMNS = 64 };
enum { LINE = WEFT__LINE };

static weft_dtype dtype_of(const weft__writer *w, uint32_t operand)
{
    return (weft_dtype)w->kernel->operands[operand].dtype;
}

static const char *memory_of(const weft__writer *w, uint32_t operand)
{
    return weft__text_of_memory(dtype_of(w, operand));
}

static bool is_turned(const weft__writer *w, uint32_t operand)
{
    return w->shape.lie[operand] == WEFT__LIE_TURNED;
}

static bool is_output(const weft__writer *w, uint32_t operand)
{
    return w->kernel->operands[operand].output;
}

/* A group with neighbours in other rows shares some of those with the next. */
static int run_of(const weft__writer *w)
{
    return w->kernel->shifts_count > 0 ? RUN_DISPLACED : RUN;
}

static bool has_turned(const weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_turned(w, k))
            return true;
    return false;
}

bool weft__is_loaded(const weft__kernel *kernel, uint32_t operand)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_load && kernel->values[k].slot == operand)
            return true;
    return false;
}

/* What has been read is in the cache when it is stored. */
bool weft__is_streamed(const weft__writer *w, uint32_t operand)
{
    return is_output(w, operand) && w->shape.lie[operand] == WEFT__LIE_DENSE &&
           !weft__is_loaded(w->kernel, operand) && !weft__keeps_a_part(w->kernel, operand);
}

/* The count of operands, if there is none. */
static uint32_t first_streamed(const weft__writer *w)
{
    uint32_t k = 0;
    while (k < w->kernel->operands_count && !weft__is_streamed(w, k))
        k++;
    return k;
}

static void write_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load && !value->shift && is_turned(w, value->slot)) {
        const weft_dtype memory = dtype_of(w, value->slot);
        weft__text_add(&w->text, "const %s m%u = x%u[d][%d*e + %d];\n",
                       weft__text_of_memory(memory), at, value->slot, weft__parts_of(memory),
                       value->part);
        weft__write_loaded(w, at);
    } else if (value->op == WEFT__OP_load) {
        weft__write_load(w, at);
    } else {
        weft__write_lane_value(w, at);
    }
}

static void write_loop(weft__writer *w, const char *loop)
{
    weft__text_add(&w->text, "%s {\nconst I i%d = first + e;\n", loop, w->shape.ndim - 1);
    weft__write_wanted(w, write_value);
    weft__text_add(&w->text, "}\n");
}

/* The elements [from, to) of the block whose displaced loads stay inside along the row. */
static bool write_inside(weft__writer *w)
{
    const int last = w->shape.ndim - 1;
    bool any = false;
    weft__text_add(&w->text, "int from = 0, to = n;\n");
    for (uint32_t k = 0; k < w->kernel->shifts_count; k++)
        for (int axis = 0; axis < w->kernel->ndim; axis++) {
            const weft__kernel_shift *shift = &w->kernel->shifts[k];
            if (shift->offset[axis] == 0 || weft__axis_launched(w->kernel, axis) != last)
                continue;
            any = true;
            weft__text_add(&w->text, "{\nconst i64 by = ");
            weft__write_offset(w, shift, axis);
            weft__text_add(&w->text,
                           ", low = -by - first, high = g.size[%d] - by - first;\n"
                           "from = from < low ? (int)(low < n ? low : n) : from;\n"
                           "to = to > high ? (int)(high > 0 ? high : 0) : to;\n}\n",
                           last);
        }
    if (any)
        weft__text_add(&w->text, "to = to < from ? from : to;\n");
    return any;
}

/* What is left: what would have left the array, or the whole block. */
static void write_rest(weft__writer *w)
{
    weft__text_add(&w->text, "if (some)\nto = from;\nfor (int part = 0; part < 2; part++)\n");
    write_loop(w, "for (int e = part ? to : 0; e < (part ? n : from); e++)");
}

/* Where not all begin and end at a vector, the first and the last one share some with those next to
 * them: one by one they would take as long as all the others, which are where lines begin. */
static const char inside_loop[] = "if (to - from < VECTOR)\n"
                                  "to = from;\n"
                                  "for (int v = from; v < to; v = (v & -VECTOR) + VECTOR) {\n";

static const char inside_vector[] =
    "VECTORS for (int e = v < to - VECTOR ? v : to - VECTOR, k = 0; k < VECTOR; k++, e++)";

static void write_vectors_inside(weft__writer *w)
{
    weft__text_add(&w->text, "%s", inside_loop);
    weft__write_ahead(w);
    write_loop(w, inside_vector);
    weft__text_add(&w->text, "}\n");
}

/* All vectors of a block that is done in one loop. */
static void write_block_ahead(weft__writer *w)
{
    weft__text_add(&w->text, "for (int v = 0; v < n; v += VECTOR) {\n");
    weft__write_ahead(w);
    weft__text_add(&w->text, "}\n");
}

static void write_block(weft__writer *w)
{
    w->in_block = true;
    const bool edges = write_inside(w);
    weft__text_add(&w->text, "bool some = false;\n");
    w->fast = w->inside = true;
    if (edges) {
        write_vectors_inside(w);
    } else {
        write_block_ahead(w);
        write_loop(w, "VECTORS for (int e = from; e < to; e++)");
    }
    w->fast = w->inside = false;
    if (edges || w->skips.count > 0)
        write_rest(w);
    w->in_block = false;
}

/* q<operand>: the first element of the block. */
static void write_firsts(weft__writer *w)
{
    weft__text_add(&w->text, "{\nconst I i%d = first;\n", w->shape.ndim - 1);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        weft__text_add(&w->text, "q%u = ", k);
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "}\n");
}

/* The loop over the elements of a block, and over the parts of one. */
static void write_numbers(weft__writer *w, uint32_t operand)
{
    const int parts = weft__parts_of(dtype_of(w, operand));
    weft__text_add(&w->text, "VECTORS for (int e = 0; e < n; e++)\n");
    if (parts > 1)
        weft__text_add(&w->text, "for (int k = 0; k < %d; k++)\n", parts);
}

static void write_memory(weft__writer *w, uint32_t operand)
{
    weft__text_add(&w->text, "((GLOBAL %s *)(q%u + (i64)e*", memory_of(w, operand), operand);
    weft__write_stride(w, operand, w->inner);
    weft__text_add(&w->text, "))[%s]", weft__parts_of(dtype_of(w, operand)) > 1 ? "k" : "0");
}

static void write_private(weft__writer *w, uint32_t operand)
{
    weft__text_add(&w->text, weft__parts_of(dtype_of(w, operand)) > 1 ? "y%u[2*e + k]" : "y%u[e]",
                   operand);
}

static void write_kept(weft__writer *w, uint32_t operand)
{
    write_numbers(w, operand);
    write_private(w, operand);
    weft__text_add(&w->text, " = ");
    write_memory(w, operand);
    weft__text_add(&w->text, ";\n");
}

static void write_plain_store(weft__writer *w, uint32_t operand)
{
    write_numbers(w, operand);
    write_memory(w, operand);
    weft__text_add(&w->text, " = ");
    write_private(w, operand);
    weft__text_add(&w->text, ";\n");
}

/* Bytes that are stored at once: those of a vector of results, which are not in memory yet. */
static int piece_of(const weft__writer *w, uint32_t operand)
{
    const int bytes = weft__vector_of(w->kernel) * (int)weft_dtype_size(dtype_of(w, operand));
    return bytes < LINE ? bytes : LINE;
}

/* Lines go around the cache, and what is left of the last one does not. */
static void write_streamed_store(weft__writer *w, uint32_t operand)
{
    const int bytes = (int)weft_dtype_size(dtype_of(w, operand)), piece = piece_of(w, operand);
    weft__text_add(&w->text,
                   "if (streams%u && ((size_t)q%u & %d) == 0) {\nconst int pieces = n*%d/%d;\n"
                   "UNROLLED for (int e = 0; e < pieces; e++)\n"
                   "STREAM(((const uint%d *)y%u)[e], (GLOBAL uint%d *)q%u + e);\n",
                   operand, operand, LINE - 1, bytes, piece, piece / 4, operand, piece / 4,
                   operand);
    weft__text_add(&w->text,
                   "for (int e = pieces*%d; e < n*%d; e++)\n"
                   "((GLOBAL %s *)q%u)[e] = y%u[e];\n} else {\n",
                   piece / weft__part_bytes(dtype_of(w, operand)),
                   weft__parts_of(dtype_of(w, operand)), memory_of(w, operand), operand, operand);
    write_plain_store(w, operand);
    weft__text_add(&w->text, "}\n");
}

static void write_rows(weft__writer *w)
{
    write_firsts(w);
    if (weft__takes_vectors(w)) {
        weft__write_vectors(w);
        return;
    }
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_output(w, k) && weft__keeps_a_part(w->kernel, k))
            write_kept(w, k);
    write_block(w);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (weft__is_streamed(w, k))
            write_streamed_store(w, k);
        else if (is_output(w, k))
            write_plain_store(w, k);
    }
}

/* The number of elements after which the first output that is streamed has a whole line. */
static void write_peel(weft__writer *w)
{
    const uint32_t k = first_streamed(w);
    if (k == w->kernel->operands_count)
        return;
    const int bytes = (int)weft_dtype_size(dtype_of(w, k)), last = w->shape.ndim - 1;
    weft__text_add(&w->text,
                   "if (streams%u) {\nconst I i%d = first;\nconst int over = (int)((size_t)(", k,
                   last);
    weft__write_address(w, k, "i");
    weft__text_add(&w->text, ") & %d)/%d;\nif (over > 0 && n > %d - over)\nn = %d - over;\n}\n",
                   LINE - 1, bytes, LINE / bytes, LINE / bytes);
}

static void write_run(weft__writer *w)
{
    const int last = w->shape.ndim - 1, run = run_of(w);
    const int most = weft__takes_vectors(w) ? run : BLOCK;
    weft__text_add(
        &w->text,
        "I at = (I)GROUP_ID*%d;\n"
        "const I end = (I)g.count - at < %d ? (I)g.count : at + %d;\n"
        "while (at < end) {\n"
        "const I row = at/(I)g.size[%d], first = at - row*(I)g.size[%d];\n"
        "const I left = (I)g.size[%d] - first < end - at ? (I)g.size[%d] - first : end - "
        "at;\nint n = left < %d ? (int)left : %d;\n",
        run, run, run, last, last, last, last, most, most);
    weft__write_positions(w, 0, last, "row");
    write_peel(w);
    write_rows(w);
    weft__text_add(&w->text, "at += n;\n}\n");
}

/* x<operand>[d][e] is the element in row d and column e of the tile. */
static void write_turn(weft__writer *w, uint32_t operand)
{
    const int last = w->shape.ndim - 1, parts = weft__parts_of(dtype_of(w, operand));
    weft__text_add(&w->text,
                   "{\nconst I i%d = up, i%d = first;\nGLOBAL const u8 *from = ", last - 1, last);
    weft__write_address(w, operand, "i");
    weft__text_add(&w->text, ";\nfor (int e = 0; e < n; e++)\nfor (int d = 0; d < rows; d++)\n");
    for (int k = 0; k < parts; k++)
        weft__text_add(&w->text,
                       "%sx%u[d][%d*e + %d] = ((GLOBAL const %s *)(from + (i64)e*g.stride[%u][%d]))"
                       "[%d*d + %d]%s",
                       k == 0 && parts > 1 ? "{\n" : "", operand, parts, k, memory_of(w, operand),
                       operand, last, parts, k, k == parts - 1 && parts > 1 ? ";\n}\n" : ";\n");
    weft__text_add(&w->text, "}\n");
}

static void write_square(weft__writer *w)
{
    const int last = w->shape.ndim - 1;
    weft__text_add(&w->text,
                   "const I across = ((I)g.size[%d] + %d)/%d, square = (I)GROUP_ID/across;\n"
                   "const I down = ((I)g.size[%d] + %d)/%d, rest = square/down;\n"
                   "const I left = ((I)GROUP_ID - square*across)*%d, top = (square - "
                   "rest*down)*%d;\n",
                   last, SQUARE - 1, SQUARE, last - 1, SQUARE - 1, SQUARE, SQUARE, SQUARE);
    weft__text_add(&w->text,
                   "const I right = (I)g.size[%d] - left < %d ? (I)g.size[%d] : left + %d;\n"
                   "const I bottom = (I)g.size[%d] - top < %d ? (I)g.size[%d] : top + %d;\n",
                   last, SQUARE, last, SQUARE, last - 1, SQUARE, last - 1, SQUARE);
    weft__write_positions(w, 0, last - 1, "rest");
    weft__text_add(&w->text,
                   "for (I up = top; up < bottom; up += %d)\n"
                   "for (I first = left; first < right; first += %d) {\n"
                   "const int rows = bottom - up < %d ? (int)(bottom - up) : %d;\n"
                   "const int n = right - first < %d ? (int)(right - first) : %d;\n",
                   TILE_ROWS, TILE_COLUMNS, TILE_ROWS, TILE_ROWS, TILE_COLUMNS, TILE_COLUMNS);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_turned(w, k))
            write_turn(w, k);
    weft__text_add(&w->text, "for (int d = 0; d < rows; d++) {\nconst I i%d = up + d;\n", last - 1);
    write_rows(w);
    weft__text_add(&w->text, "}\n}\n");
}

/* Whether an output goes around the cache: not where it is an input too, and so in the cache. */
static void write_streams(weft__writer *w, uint32_t operand)
{
    weft__text_add(&w->text, "const bool streams%u = STREAMS && g.count > %d", operand,
                   WEFT__STREAMING_BYTES / (int)weft_dtype_size(dtype_of(w, operand)));
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (!is_output(w, k))
            weft__text_add(&w->text, " && p%u + g.offset[%u] != p%u + g.offset[%u]", k, k, operand,
                           operand);
    weft__text_add(&w->text, ";\n");
}

static void write_arrays(weft__writer *w, int block)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const char *memory = memory_of(w, k);
        const int parts = weft__parts_of(dtype_of(w, k));
        weft__text_add(&w->text, "GLOBAL u8 *q%u;\n", k);
        if (is_output(w, k) && !weft__takes_vectors(w))
            weft__text_add(&w->text, "LINED %s y%u[%d];\n", memory, k, parts * block);
        if (is_turned(w, k))
            weft__text_add(&w->text, "LINED %s x%u[%d][%d];\n", memory, k, TILE_ROWS,
                           parts * TILE_COLUMNS);
        if (weft__is_streamed(w, k))
            write_streams(w, k);
    }
}

void weft__write_blocks(weft__writer *w, weft__kernel_text *source)
{
    const bool turned = has_turned(w);
    weft__write_types(w);
    weft__write_kernel(w, 1);
    weft__text_add(&w->text, "TOUCH;\n");
    write_arrays(w, turned ? TILE_COLUMNS : BLOCK);
    weft__write_ahead_flags(w);
    if (turned)
        write_square(w);
    else
        write_run(w);
    weft__text_add(&w->text, "STREAMED;\n}\n");
    source->group = 1;
    source->points = turned ? SQUARE * SQUARE : (uint32_t)run_of(w);
    source->down = turned ? SQUARE : 0;
    source->down_axis = turned ? w->shape.ndim - 2u : 0;
}
