/* Kernels without folds: an item takes a few elements of a row that lie next to each other. */
#include "codegen/c_like/write.h"
#include <stdio.h>
#include <string.h>

static bool is_displaced(const weft__value *value) { return value->shift != 0; }

bool weft__is_read(const weft__kernel *kernel, const uint8_t *wanted, uint32_t operand)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (wanted[k] && kernel->values[k].op == WEFT__OP_load &&
            kernel->values[k].slot == operand && !is_displaced(&kernel->values[k]))
            return true;
    return false;
}

/* Bytes of memory as the widest pieces that are loaded at once. */
static void write_piece(weft__writer *w, int bytes, const char *to, int to_at, const char *from,
                        int from_at, bool stores)
{
    static const char *const types[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "uint2", [16] = "uint4"};
    static const char *const fetches[] = {
        [1] = "*", [2] = "*", [4] = "FETCH_4", [8] = "FETCH_8", [16] = "FETCH_16"};
    const char *to_space = stores ? "GLOBAL" : "", *from_space = stores ? "" : "GLOBAL";
    const bool once = w->dialect != WEFT__DIALECT_OPENCL_CPU && w->kernel->folds_count > 0;
    for (int at = 0, piece; at < bytes; at += piece) {
        piece = bytes - at >= 16 ? 16 : bytes - at;
        weft__text_add(
            &w->text,
            "*(%s %s *)((%s u8 *)%s + %d) = %s((%s const %s *)((%s const u8 *)%s + %d));\n",
            to_space, types[piece], to_space, to, to_at + at, once ? fetches[piece] : "*",
            from_space, types[piece], from_space, from, from_at + at);
    }
}

/* Bytes that the lanes of an item lie in. */
static int bytes_of_lanes(const weft__writer *w, uint32_t operand)
{
    const int bytes = (int)weft_dtype_size((weft_dtype)w->kernel->operands[operand].dtype);
    return w->shape.lanes * bytes * (w->shape.lie[operand] == WEFT__LIE_SECOND ? 2 : 1);
}

/* The vectors of an item: one, or several with those of the group's other items between them. */
static void write_pieces(weft__writer *w, uint32_t operand, const char *to, const char *from,
                         bool stores)
{
    const int bytes = bytes_of_lanes(w, operand);
    for (int k = 0; k < w->shape.repeat; k++) {
        const int there = k * WEFT__GROUP_ITEMS * bytes;
        write_piece(w, bytes, to, stores ? there : k * bytes, from, stores ? k * bytes : there,
                    stores);
    }
}

/* The bits of an address that must be 0 for them. */
static int mask_of(int bytes) { return (bytes < 16 ? bytes : 16) - 1; }

int weft__numbers_of(const weft__writer *w, uint32_t operand)
{
    const int parts = weft__parts_of((weft_dtype)w->kernel->operands[operand].dtype);
    const int times = w->shape.lie[operand] == WEFT__LIE_SECOND ? 2 : 1;
    return w->shape.lie[operand] == WEFT__LIE_REPEATED
               ? parts
               : parts * w->shape.lanes * w->shape.repeat * times;
}

int weft__vector_mask(const weft__writer *w, uint32_t operand)
{
    return mask_of(bytes_of_lanes(w, operand));
}

void weft__write_misaligned(weft__writer *w, uint32_t operand)
{
    weft__text_add(&w->text, " | ((size_t)(");
    weft__write_first(w, operand);
    weft__text_add(&w->text, ") & %d)", weft__vector_mask(w, operand));
}

/* The same number for all lanes. */
static bool write_single(weft__writer *w, uint32_t operand, const char *to, const char *from)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->operands[operand].dtype;
    const int numbers = weft__numbers_of(w, operand);
    for (int k = 0; numbers == weft__parts_of(dtype) && k < numbers; k++)
        weft__text_add(&w->text, "%s[%d] = ((GLOBAL const %s *)%s)[%d];\n", to, k,
                       weft__text_of_memory(dtype), from, k);
    return numbers == weft__parts_of(dtype);
}

/* How far element e of an item is from its first one along the last axis. */
static void write_step(const weft__writer *w, char *to, size_t room)
{
    const int lanes = w->shape.lanes;
    if (w->shape.repeat == 1)
        snprintf(to, room, "e");
    else
        snprintf(to, room, "((e & %d) + (e >> %d)*%d)", lanes - 1, weft__log2(lanes),
                 lanes * WEFT__GROUP_ITEMS);
}

/* Elements that are not next to each other. */
static void write_elements(weft__writer *w, uint32_t operand, const char *to, const char *from)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->operands[operand].dtype;
    const int parts = weft__parts_of(dtype);
    char step[64];
    write_step(w, step, sizeof step);
    weft__text_add(&w->text, "UNROLL for (int e = 0; e < %d; e++) {\n",
                   w->shape.lanes * w->shape.repeat);
    for (int k = 0; k < parts; k++) {
        weft__text_add(&w->text, "%s[%d*e + %d] = ((GLOBAL const %s *)(%s + (I)%s*", to, parts, k,
                       weft__text_of_memory(dtype), from, step);
        weft__write_stride(w, operand, w->shape.ndim - 1);
        weft__text_add(&w->text, "))[%d];\n", k);
    }
    weft__text_add(&w->text, "}\n");
}

void weft__write_row_load(weft__writer *w, uint32_t operand, const char *to, const char *from)
{
    if (w->shape.lie[operand] == WEFT__LIE_ANY)
        write_elements(w, operand, to, from);
    else if (!write_single(w, operand, to, from))
        write_pieces(w, operand, to, from, false);
}

void weft__write_row(weft__writer *w, uint32_t operand, const char *to, const char *from)
{
    weft__text_add(&w->text, "ALIGNED %s %s[%d];\n",
                   weft__text_of_memory((weft_dtype)w->kernel->operands[operand].dtype), to,
                   weft__numbers_of(w, operand));
    weft__write_row_load(w, operand, to, from);
}

void weft__write_vector(weft__writer *w, uint32_t operand)
{
    char to[16], from[16];
    snprintf(to, sizeof to, "x%u", operand);
    snprintf(from, sizeof from, "q%u", operand);
    weft__write_row(w, operand, to, from);
}

static void write_operand_store(weft__writer *w, uint32_t operand)
{
    char to[16], from[16];
    snprintf(to, sizeof to, "q%u", operand);
    snprintf(from, sizeof from, "y%u", operand);
    write_pieces(w, operand, to, from, true);
}

bool weft__keeps_a_part(const weft__kernel *kernel, uint32_t operand)
{
    int stored = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_store && kernel->values[k].slot == operand)
            stored |= 1 << kernel->values[k].part;
    return weft__parts_of((weft_dtype)kernel->operands[operand].dtype) == 2 && stored != 3;
}

void weft__write_lane_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = value->op == WEFT__OP_load || value->op == WEFT__OP_store
                                  ? (weft_dtype)w->kernel->operands[value->slot].dtype
                                  : WEFT_DTYPE_DEFAULT;
    if (value->op == WEFT__OP_load) {
        if (!weft__write_lane_load(w, at))
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

/* Positions along the outer axes; along one of them a range of steps, from `begin` to `end`. */
static void write_march_place(weft__writer *w)
{
    const int axis = w->shape.march - 1;
    weft__text_add(&w->text, "I rest0 = rest;\n");
    for (int k = w->shape.ndim - 3; k >= 0; k--) {
        if (k == axis)
            weft__text_add(
                &w->text,
                "const I parts = (I)((U)(g.size[%d] + %d)/%d);\n"
                "const I over = (I)((U)rest0/(U)parts), begin = (rest0 - over*parts)*%d;\n"
                "rest0 = over;\n"
                "const I end = begin + %d < (I)g.size[%d] ? begin + %d : (I)g.size[%d];\n",
                k, WEFT__MARCH_STEPS - 1, WEFT__MARCH_STEPS, WEFT__MARCH_STEPS, WEFT__MARCH_STEPS,
                k, WEFT__MARCH_STEPS, k);
        else
            weft__write_divided(w, k, 0);
    }
}

/* In a piece of several rows. */
static void write_tiled_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, along = WEFT__GROUP_ITEMS / WEFT__TILE_ROWS;
    weft__text_add(&w->text,
                   "const U across = (U)(g.size[%d] + %d) >> %d;\n"
                   "const I tile = (I)((U)GROUP_ID/across);\n"
                   "const U down = (U)(g.size[%d] + %d)/%d;\nconst I rest = (I)((U)tile/down);\n",
                   last, along * w->shape.lanes - 1, weft__log2(along * w->shape.lanes), last - 1,
                   WEFT__TILE_ROWS - 1, WEFT__TILE_ROWS);
    weft__text_add(&w->text,
                   "const I first = (((I)GROUP_ID - tile*(I)across)*%d + ((I)LOCAL_ID & %d))*%d;\n"
                   "const I i%d = (tile - rest*(I)down)*%d + ((I)LOCAL_ID >> %d);\n"
                   "if (first >= (I)g.size[%d] || i%d >= (I)g.size[%d])\nreturn;\n",
                   along, along - 1, w->shape.lanes, last - 1, WEFT__TILE_ROWS, weft__log2(along),
                   last, last - 1, last - 1);
    if (w->shape.march)
        write_march_place(w);
    else
        weft__write_positions(w, 0, last - 1, "rest");
}

/* Which row, and where in it: of a single row without a division. */
static void write_row_place(weft__writer *w)
{
    const int last = w->shape.ndim - 1, lanes = w->shape.lanes;
    weft__text_add(&w->text, "const I item = (I)GROUP_ID*%d + (I)LOCAL_ID;\n",
                   WEFT__GROUP_ITEMS * w->shape.repeat);
    if (last == 0) {
        weft__text_add(&w->text, "const I first = item*%d;\nif (first >= (I)g.size[0])\nreturn;\n",
                       lanes);
        return;
    }
    weft__text_add(&w->text, "const I items = (I)(g.size[%d] + %d) >> %d, row = %s;\n", last,
                   lanes - 1, weft__log2(lanes),
                   w->shape.even ? "item >> BITS((u32)items - 1)" : "(I)((U)item/(U)items)");
    weft__text_add(&w->text, "const I first = (item - row*items)*%d;\nif (row >= (I)g.size[0]",
                   lanes);
    for (int k = 1; k < last; k++)
        weft__text_add(&w->text, "*(I)g.size[%d]", k);
    weft__text_add(&w->text, ")\nreturn;\n");
    weft__write_positions(w, 0, last, "row");
}

static void write_place(weft__writer *w)
{
    if (w->shape.tiled)
        write_tiled_place(w);
    else
        write_row_place(w);
}

static void write_operands(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        weft__text_add(&w->text, "GLOBAL u8 *q%u;\n", k);
    weft__text_add(&w->text, "{\nconst I i%d = first;\n", w->shape.ndim - 1);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        weft__text_add(&w->text, "q%u = ", k);
        weft__write_point(w, k);
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "}\n");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (weft__is_read(w->kernel, w->wanted, k) && !weft__is_marched(w, k))
            weft__write_vector(w, k);
    weft__write_shifted_rows(w);
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
        weft__text_add(&w->text, "ALIGNED %s y%u[%d];\n", type, k, weft__numbers_of(w, k));
        if (weft__keeps_a_part(w->kernel, k))
            weft__text_add(&w->text,
                           "for (int e = 0; e < %d; e++)\ny%u[e] = ((GLOBAL const %s *)q%u)[e];\n",
                           weft__numbers_of(w, k), k, type, k);
    }
}

static void write_lanes(weft__writer *w, const char *begin, const char *position,
                        void (*write)(weft__writer *w, uint32_t at))
{
    weft__text_add(&w->text, "%s {\nconst I i%d = %s;\n", begin, w->shape.ndim - 1, position);
    weft__write_wanted(w, write);
    weft__text_add(&w->text, "}\n");
}

/* Straight from memory to memory. */
static void write_apart(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load)
        weft__write_load(w, at);
    else if (value->op == WEFT__OP_store)
        weft__write_store(w, value);
    else
        weft__write_value(w, at);
}

/* Where element e of an item is along the last axis. */
static void write_position(const weft__writer *w, char *to, size_t room)
{
    char step[48];
    write_step(w, step, sizeof step);
    snprintf(to, room, "first + %s", step);
}

/* Branches for each of several elements would keep them from being computed side by side: all go
 * without, and if one should not have, all are done again. */
static void write_several(weft__writer *w)
{
    char begin[64], position[64];
    write_position(w, position, sizeof position);
    snprintf(begin, sizeof begin, "bool some = false;\nUNROLL for (int e = 0; e < %d; e++)",
             w->shape.lanes * w->shape.repeat);
    weft__text_add(&w->text, "if (vectors) {\n");
    if (w->shape.march)
        weft__write_march_begin(w);
    write_operands(w);
    write_outputs(w, true);
    w->fast = true;
    write_lanes(w, begin, position, weft__write_lane_value);
    w->fast = false;
    if (w->skips.count > 0)
        weft__text_add(&w->text, "if (!some) {\n");
    write_outputs(w, false);
    weft__text_add(&w->text, "%s;\n%s", w->shape.march ? "continue" : "return",
                   w->skips.count > 0 ? "}\n" : "");
}

/* Whether all elements of an item are there, and where vectors of them can be loaded: of every
 * second one, also the one after the last. */
static void write_vectors(weft__writer *w)
{
    const int last = w->shape.ndim - 1, lanes = w->shape.lanes;
    const bool second = memchr(w->shape.lie, WEFT__LIE_SECOND, w->kernel->operands_count) != NULL;
    weft__text_add(&w->text, "const bool vectors = (I)g.size[%d] - first >= %d && (0", last,
                   lanes + (w->shape.repeat - 1) * lanes * WEFT__GROUP_ITEMS + second);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (w->shape.lie[k] == WEFT__LIE_DENSE || w->shape.lie[k] == WEFT__LIE_SECOND)
            weft__write_misaligned(w, k);
    weft__text_add(&w->text, ") == 0;\n");
}

static void write_one_by_one(weft__writer *w)
{
    char begin[160], position[64];
    write_position(w, position, sizeof position);
    snprintf(begin, sizeof begin, "\nROLLED for (int e = 0; e < %d && %s < (I)g.size[%d]; e++)",
             w->shape.lanes * w->shape.repeat, position, w->shape.ndim - 1);
    write_lanes(w, begin, position, write_apart);
}

/* Several elements at once, or one after the other. */
static void write_row(weft__writer *w)
{
    const int axis = w->shape.march - 1;
    write_vectors(w);
    w->marching = w->shape.march;
    write_several(w);
    w->marching = false;
    if (w->shape.march && w->skips.count > 0)
        write_one_by_one(w);
    if (w->shape.march)
        weft__text_add(&w->text, "}\nreturn;\n");
    weft__text_add(&w->text, "}\n");
    if (w->shape.march)
        weft__text_add(&w->text, "ROLLED for (I i%d = begin; i%d < end; i%d++)", axis, axis, axis);
    write_one_by_one(w);
}

/* What reads nothing, such as random numbers, waits for nothing but its computing. */
static bool reads(const weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (weft__is_read(w->kernel, w->wanted, k))
            return true;
    return w->kernel->shifts_count > 0;
}

void weft__write_map(weft__writer *w, weft__kernel_text *source)
{
    weft__write_types(w);
    weft__write_kernel(w, WEFT__GROUP_ITEMS);
    write_place(w);
    if (w->shape.lanes > 1)
        write_row(w);
    else
        write_lanes(w, "", "first", write_apart);
    weft__text_add(&w->text, "}\n");
    source->group = WEFT__GROUP_ITEMS;
    source->points = (uint32_t)(WEFT__GROUP_ITEMS * w->shape.lanes * w->shape.repeat);
    source->thorough = w->shape.lanes > 1 && (!reads(w) || w->shape.march);
    source->rows = w->shape.ndim > 1;
    source->down = w->shape.tiled ? WEFT__TILE_ROWS : 0;
    source->down_axis = w->shape.tiled ? w->shape.ndim - 2u : 0;
    source->march = w->shape.march ? WEFT__MARCH_STEPS : 0;
    source->march_axis = w->shape.march ? w->shape.march - 1u : 0;
}
