/* Folds on GPUs: the canonical order, with many loads in flight.
 *
 * Where the last axis is folded, a warp takes a chunk, each of its items four lanes; the warps of a
 * group take chunks that halving combines first, so a group has one result. Otherwise an item takes
 * runs, of several neighbouring results where vectors can be loaded. */
#include "codegen/c_like/write.h"

/* SIDE elements at once for ROWS rows after each other, as far as there are so many. */
static const char vectors_text[] =
    "FUNCTION int rows_combined(PARAMETERS, partial *x, const I point, const I begin, const int "
    "rows)\n"
    "{\n"
    "bool some = !vectors(ARGUMENTS);\n"
    "if (some || rows < ROWS)\n"
    "return 0;\n"
    "held now[ROWS];\n"
    "small y[RESULTS*SIDE];\n"
    "ROLLED for (int k = 0; k + ROWS <= rows; k += ROWS) {\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "fetch(ARGUMENTS, place(ARGUMENTS, point, begin + (k + u)*APART), 0, &now[u]);\n"
    "UNROLL for (int b = 0; b < RESULTS; b++) {\n"
    "small z[ROWS][SIDE];\n"
    "UNROLL for (int u = 0; u < ROWS; u++) {\n"
    "some |= elements(ARGUMENTS, point + b*BETWEEN, begin + (k + u)*APART, &now[u], z[u]);\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "y[b*SIDE + e] = u == 0 && k == 0 ? z[u][e] : small_combined(y[b*SIDE + e], z[u][e]);\n"
    "}\n"
    "}\n"
    "}\n"
    "UNROLL for (int e = 0; e < RESULTS*SIDE; e++)\n"
    "x[e] = widened(y[e]);\n"
    "return some ? 0 : rows & -ROWS;\n"
    "}\n";

/* The same of one result, where much is done with a row: the next rows and those after them are
 * loaded ahead in turn, so that no register is moved, and found from where the first one is. */
static const char ahead_text[] =
    "FUNCTION bool rows_taken(PARAMETERS, const I point, const I begin, const held *rows, "
    "small *y, const bool first)\n"
    "{\n"
    "bool some = false;\n"
    "small z[ROWS][SIDE];\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "some |= elements(ARGUMENTS, point, begin + u*APART, &rows[u], z[u]);\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "y[e] = u == 0 && first ? z[u][e] : small_combined(y[e], z[u][e]);\n"
    "return some;\n"
    "}\n"
    "FUNCTION int rows_combined(PARAMETERS, partial *x, const I point, const I begin, const int "
    "rows)\n"
    "{\n"
    "bool some = !vectors(ARGUMENTS);\n"
    "if (some || rows < ROWS)\n"
    "return 0;\n"
    "places at = place(ARGUMENTS, point, begin);\n"
    "held now[ROWS], next[ROWS];\n"
    "small y[SIDE];\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "fetch(ARGUMENTS, at, u*APART, &now[u]);\n"
    "int k = 0;\n"
    "ROLLED for (; k + 2*ROWS <= rows; k += 2*ROWS) {\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "fetch(ARGUMENTS, at, (ROWS + u)*APART, &next[u]);\n"
    "some |= rows_taken(ARGUMENTS, point, begin + k*APART, now, y, k == 0);\n"
    "if (k + 3*ROWS <= rows)\n"
    "UNROLL for (int u = 0; u < ROWS; u++)\n"
    "fetch(ARGUMENTS, at, (2*ROWS + u)*APART, &now[u]);\n"
    "some |= rows_taken(ARGUMENTS, point, begin + (k + ROWS)*APART, next, y, false);\n"
    "move(ARGUMENTS, &at, 2*ROWS*APART);\n"
    "}\n"
    "if (k + ROWS <= rows)\n"
    "some |= rows_taken(ARGUMENTS, point, begin + k*APART, now, y, k == 0);\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "x[e] = widened(y[e]);\n"
    "return some ? 0 : rows & -ROWS;\n"
    "}\n";

/* What the 128 lanes of a chunk come to, of each result, for the first item of the warp. Where all
 * items have whole rows and nothing else, they pass it on to each other. */
static const char lanes_text[] =
    "FUNCTION void piece(PARAMETERS, LOCAL_POINTER partial *lane, partial *whole, const I point, "
    "const I begin, const int length)\n"
    "{\n"
    "const int t = (int)LOCAL_ID & 31, filled = length < 128 ? length : 128;\n"
    "int done = 0;\n"
    "#if SIDE > 1\n"
    "partial all[RESULTS*SIDE];\n"
    "done = rows_combined(ARGUMENTS, all, point, begin + SIDE*t, "
    "(int)((u32)length/APART))*(APART/128);\n"
    "#endif\n"
    "ROLLED for (int b = 0; b < RESULTS; b++) {\n"
    "#if SIDE > 1\n"
    "partial *y = all + b*SIDE;\n"
    "if (done)\n"
    "UNROLL for (int e = 0; e < 4; e++)\n"
    "UNROLL for (int k = 4; k < SIDE; k += 4)\n"
    "y[e] = combine(y[e], y[e + k]);\n"
    "#ifdef PASSES\n"
    "if (ALL(done && 128*done == length)) {\n"
    "UNROLL for (int h = 16; h > 0; h /= 2)\n"
    "UNROLL for (int e = 0; e < 4; e++)\n"
    "y[e] = combine(y[e], passed(y[e], h));\n"
    "whole[b] = combine(combine(y[0], y[2]), combine(y[1], y[3]));\n"
    "continue;\n"
    "}\n"
    "#endif\n"
    "if (done)\n"
    "UNROLL for (int e = 0; e < 4; e++)\n"
    "lane[4*t + e] = y[e];\n"
    "#endif\n"
    "if (!done || 128*done < length)\n"
    "ROLLED for (int e = 0; e < 4; e++) {\n"
    "const int l = SIDE > 1 ? 4*t + e : t + 32*e;\n"
    "partial x = nothing();\n"
    "if (done)\n"
    "x = lane[l];\n"
    "UNROLL_SOME for (int k = done; k < (length - l + 127) >> 7; k++) {\n"
    "const partial z = element(ARGUMENTS, point + b*BETWEEN, begin + l + 128*k);\n"
    "x = k ? combine(x, z) : z;\n"
    "}\n"
    "lane[l] = x;\n"
    "}\n"
    "WARP_BARRIER;\n"
    "#if WARPS_ALONE\n"
    "if (filled == 128)\n"
    "UNROLL for (int h = 64; h > 0; h /= 2) {\n"
    "UNROLL for (int l = 0; l < h; l += 32)\n"
    "if (t + l < h)\n"
    "lane[t + l] = combine(lane[t + l], lane[t + l + h]);\n"
    "WARP_BARRIER;\n"
    "}\n"
    "else\n"
    "#endif\n"
    "ROLLED for (int h = 64; h > 0; h /= 2) {\n"
    "for (int l = t; l < h && l + h < filled; l += 32)\n"
    "lane[l] = combine(lane[l], lane[l + h]);\n"
    "WARP_BARRIER;\n"
    "}\n"
    "whole[b] = lane[0];\n"
    "WARP_BARRIER;\n"
    "}\n"
    "}\n";

/* Chunk first, first + step, …, one for each warp, and then again from where the last was. */
static const char warps_text[] =
    "FUNCTION void chunks_combined(PARAMETERS, LOCAL_POINTER partial *lanes, partial *whole, const "
    "I point, const I first, const I step)\n"
    "{\n"
    "const int warp = (int)(LOCAL_ID >> 5) & (WARPS - 1);\n"
    "LOCAL_POINTER partial *lane = lanes + 128*warp;\n"
    "partial few[RESULTS][16/WARPS];\n"
    "int held = 0;\n"
    "ROLLED for (int k = 0; first + k*step < (I)g.chunks; k += WARPS) {\n"
    "const I chunk = first + (warp + k)*step, left = (I)g.folded - chunk*4096;\n"
    "piece(ARGUMENTS, lane, whole, point, chunk*4096, "
    "left < 0 ? 0 : left < 4096 ? (int)left : 4096);\n"
    "for (int b = 0; b < RESULTS; b++)\n"
    "few[b][held] = whole[b];\n"
    "held += left > 0;\n"
    "}\n"
    "ROLLED for (int b = 0; b < RESULTS; b++) {\n"
    "if ((LOCAL_ID & 31) == 0)\n"
    "lane[0] = held ? few_combined(few[b], held) : nothing();\n"
    "BARRIER;\n"
    "if ((LOCAL_ID & (32*WARPS - 1)) == 0)\n"
    "ROLLED for (int h = WARPS/2; h > 0; h /= 2)\n"
    "ROLLED for (int s = 0; s < h && first + (s + h)*step < (I)g.chunks; s++)\n"
    "lanes[128*s] = combine(lanes[128*s], lanes[128*(s + h)]);\n"
    "whole[b] = lanes[0];\n"
    "if (b + 1 < RESULTS)\n"
    "BARRIER;\n"
    "}\n"
    "}\n";

/* Where every order gives the same, a warp takes chunks that follow each other as one. */
static const char orderless_text[] =
    "FUNCTION void chunks_combined(PARAMETERS, LOCAL_POINTER partial *lanes, partial *whole, const "
    "I point, const I first, const I step)\n"
    "{\n"
    "const int warp = (int)(LOCAL_ID >> 5) & (WARPS - 1);\n"
    "const I each = (I)((U)g.chunks/(U)step), more = (I)g.chunks - each*step;\n"
    "const I begin = first*each + (first < more ? first : more), count = each + (first < more);\n"
    "const I mine = (I)((U)(count + WARPS - 1)/WARPS), from = (begin + warp*mine)*4096;\n"
    "const I end = begin + (warp + 1 < WARPS ? (warp + 1)*mine : count);\n"
    "const I last = begin + count < end ? begin + count : end;\n"
    "const I left = (last*4096 < (I)g.folded ? last*4096 : (I)g.folded) - from;\n"
    "piece(ARGUMENTS, lanes + 128*warp, whole, point, from, left < 0 ? 0 : (int)left);\n"
    "ROLLED for (int b = 0; b < RESULTS; b++) {\n"
    "if ((LOCAL_ID & 31) == 0)\n"
    "lanes[128*warp] = whole[b];\n"
    "BARRIER;\n"
    "if ((LOCAL_ID & (32*WARPS - 1)) == 0)\n"
    "ROLLED for (int h = WARPS/2; h > 0; h /= 2)\n"
    "ROLLED for (int s = 0; s < h && (s + h)*mine < count; s++)\n"
    "lanes[128*s] = combine(lanes[128*s], lanes[128*(s + h)]);\n"
    "whole[b] = lanes[0];\n"
    "if (b + 1 < RESULTS)\n"
    "BARRIER;\n"
    "}\n"
    "}\n";

/* RESULTS that are BETWEEN points apart: the points of an axis of so many times RESULTS. */
static const char lanes_chunks_text[] =
    "LOCAL partial lanes[WARPS*128];\n"
    "partial whole[RESULTS];\n"
    "const U kept = (U)g.kept/RESULTS;\n"
    "const I number = (I)GROUP_ID, group = (I)((U)number/kept);\n"
    "const I some = number - group*(I)kept, before = (I)((U)some/(U)(BETWEEN));\n"
    "const I point = some + before*(RESULTS - 1)*BETWEEN;\n"
    "chunks_combined(ARGUMENTS, lanes, whole, point, group, (I)g.groups);\n"
    "if (LOCAL_ID == 0)\n"
    "ROLLED for (int b = 0; b < RESULTS; b++)\n"
    "keep(ARGUMENTS, group*(I)g.kept + point + b*BETWEEN, whole[b]);\n"
    "}\n";

/* A point that is not there is computed as another is. */
static const char lanes_whole_text[] =
    "LOCAL partial lanes[POINTS*WARPS*128];\n"
    "const int which = (int)((U)LOCAL_ID/(32*WARPS));\n"
    "const I point = (I)GROUP_ID*POINTS + which;\n"
    "const bool mine = point < (I)g.count;\n"
    "partial whole[1];\n"
    "chunks_combined(ARGUMENTS, lanes + 128*WARPS*which, whole, mine ? point : 0, 0, 1);\n"
    "if (mine && (LOCAL_ID & (32*WARPS - 1)) == 0)\n"
    "finish(ARGUMENTS, point, g.chunks ? whole[0] : nothing());\n"
    "}\n";

static const char runs_text[] =
    "FUNCTION void piece(PARAMETERS, partial *x, const I point, const I begin)\n"
    "{\n"
    "const int length = (I)g.folded - begin < 64 ? (int)((I)g.folded - begin) : 64;\n"
    "int done = 0;\n"
    "#if SIDE > 1\n"
    "partial y[SIDE];\n"
    "done = rows_combined(ARGUMENTS, y, point, begin, length);\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "x[e] = y[e];\n"
    "#endif\n"
    "ROLLED for (int e = 0; e < SIDE && done < length; e++) {\n"
    "partial v = x[e];\n"
    "UNROLL_SOME for (int k = done; k < length; k++) {\n"
    "const partial z = element(ARGUMENTS, point + e, begin + k);\n"
    "v = k ? combine(v, z) : z;\n"
    "}\n"
    "x[e] = v;\n"
    "}\n"
    "}\n";

/* Chunk first, first + groups, …, of which there are at most RUNS, in the order of halving. */
static const char runs_chunks_text[] =
    "const I number = ((I)GROUP_ID*128 + (I)LOCAL_ID)*SIDE;\n"
    "if (number >= (I)g.count)\n"
    "return;\n"
    "const I group = (I)((U)number/(U)g.kept), point = number - group*(I)g.kept;\n"
    "partial few[RUNS][SIDE];\n"
    "ROLLED for (int c = 0; c < RUNS && group + c*(I)g.groups < (I)g.chunks; c++)\n"
    "piece(ARGUMENTS, few[c], point, (group + c*(I)g.groups)*64);\n"
    "ROLLED for (int h = RUNS/2; h > 0; h /= 2)\n"
    "ROLLED for (int s = 0; s < h && group + (s + h)*(I)g.groups < (I)g.chunks; s++)\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "few[s][e] = combine(few[s][e], few[s + h][e]);\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "keep(ARGUMENTS, number + e, few[0][e]);\n"
    "}\n";

static const char runs_whole_text[] =
    "partial few[SIDE][16], x[SIDE];\n"
    "const I point = ((I)GROUP_ID*128 + (I)LOCAL_ID)*SIDE;\n"
    "if (point >= (I)g.count)\n"
    "return;\n"
    "ROLLED for (int c = 0; c < (int)g.chunks; c++) {\n"
    "piece(ARGUMENTS, x, point, (I)c*64);\n"
    "UNROLL for (int e = 0; e < SIDE; e++)\n"
    "few[e][c] = x[e];\n"
    "}\n"
    "ROLLED for (int e = 0; e < SIDE; e++)\n"
    "finish(ARGUMENTS, point + e, g.chunks ? few_combined(few[e], (int)g.chunks) : nothing());\n"
    "}\n";

/* A group has POINTS results, and PARTS items for each: item y takes the groups y, y + PARTS …,
 * which halving combines with each other first, and then they with theirs. More than an item keeps
 * are combined in memory before. */
static const char finish_text[] =
    "LOCAL partial lane[POINTS*PARTS];\n"
    "const int x = (int)LOCAL_ID & (POINTS - 1), y = (int)((u32)LOCAL_ID/POINTS);\n"
    "const I point = (I)GROUP_ID*POINTS + x;\n"
    "const bool mine = point < (I)g.kept;\n"
    "int count = (int)g.groups, held = 0;\n"
    "ROLLED for (int h = power(count)/2; h >= 64*PARTS; h /= 2) {\n"
    "ROLLED for (int s = y; mine && s < h && s + h < count; s += PARTS)\n"
    "keep(ARGUMENTS, (I)s*(I)g.kept + point,\n"
    "combine(kept(ARGUMENTS, (I)s*(I)g.kept + point), kept(ARGUMENTS, (I)(s + h)*(I)g.kept + "
    "point)));\n"
    "BARRIER;\n"
    "count = count < h ? count : h;\n"
    "}\n"
    "partial few[64];\n"
    "UNROLL_EIGHT for (int s = y; s < count; s += PARTS)\n"
    "if (mine)\n"
    "few[held++] = kept(ARGUMENTS, (I)s*(I)g.kept + point);\n"
    "lane[LOCAL_ID] = held ? few_combined(few, held) : nothing();\n"
    "BARRIER;\n"
    "ROLLED for (int h = PARTS/2; h > 0; h /= 2) {\n"
    "if (y < h && y + h < count)\n"
    "lane[LOCAL_ID] = combine(lane[LOCAL_ID], lane[LOCAL_ID + h*POINTS]);\n"
    "BARRIER;\n"
    "}\n"
    "if (mine && y == 0)\n"
    "finish(ARGUMENTS, point, lane[x]);\n"
    "}\n";

enum { SHARED = 40000, WARP = 32, RUNS = 4, RUNS_HEAVY = 2 };

static int partial_bytes(const weft__kernel *kernel) { return 8 * (int)kernel->folds_count; }

/* Groups of large elements have fewer, so that the last groups of a launch are not waited for. */
static int warps_of(const weft__kernel *kernel)
{
    int warps = weft__largest_read(kernel) < 8 ? 8 : 4;
    while (warps > 1 && warps * 128 * partial_bytes(kernel) > SHARED)
        warps /= 2;
    return warps;
}

/* Whether loads are not what a point waits for: then code is dear. */
static bool is_heavy(const weft__kernel *kernel)
{
    enum { HEAVY = 80 };
    return kernel->values_count > HEAVY;
}

/* Chunks that a warp takes where every order gives the same: as many bytes for all types, as long
 * as there are groups for a whole device. */
static int64_t chunks_of_warp(const weft__kernel *kernel, const weft__launch *launch)
{
    enum { GROUPS = 2048, BYTES = 8 };
    const int64_t most = weft__is_orderless(kernel) ? BYTES / weft__largest_read(kernel) : 1;
    int64_t chunks = 1;
    while (2 * chunks <= most &&
           weft__is_more(launch->kept * launch->chunks, 2 * chunks * warps_of(kernel) * GROUPS))
        chunks *= 2;
    return chunks;
}

/* Items that have runs take several of them where there are many items. */
int64_t weft__c_like_groups(const weft__kernel *kernel, const weft__launch *launch)
{
    enum { ITEMS = 1 << 20 };
    const bool lanes = weft__kernel_has_lanes(kernel);
    const bool many = weft__is_more(launch->kept * launch->chunks, ITEMS);
    const int64_t runs = !many ? 1 : is_heavy(kernel) ? RUNS_HEAVY : RUNS;
    const int64_t each = lanes ? warps_of(kernel) * chunks_of_warp(kernel, launch) : runs;
    int64_t groups = 1;
    if (each == 1)
        return launch->chunks;
    while (groups * each < launch->chunks)
        groups *= 2;
    return groups;
}

bool weft__passes(const weft__writer *w)
{
    enum { FEW = 2 };
    const uint32_t folds = w->kernel->folds_count;
    return w->dialect != WEFT__DIALECT_OPENCL_CPU && folds > 0 && folds <= FEW &&
           w->shape.lanes > 1 && w->shape.stage != WEFT__STAGE_FINISH &&
           weft__kernel_has_lanes(w->kernel);
}

uint8_t weft__fold_warps(const weft__kernel *kernel, const weft__launch *launch)
{
    int warps = 1;
    if (launch->stage == WEFT__STAGE_CHUNKS)
        return (uint8_t)warps_of(kernel);
    while (warps < launch->chunks && warps < warps_of(kernel))
        warps *= 2;
    return (uint8_t)warps;
}

/* Whether nothing that a point reads changes along an axis. */
static bool is_same_along(const weft__kernel *kernel, const weft__launch *launch, int axis)
{
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (!kernel->operands[k].output && !kernel->operands[k].kept &&
            weft__launch_arguments_of(launch)[k].stride[axis] != 0)
            return false;
    return true;
}

/* As many results as an item has registers for, as long as there are groups for a whole device. */
void weft__share_loads(const weft__kernel *kernel, const weft__launch *launch,
                       weft__c_like_shape *shape)
{
    enum { LIGHT = 24, BYTES = 128, GROUPS = 256 };
    const bool light = kernel->values_count <= LIGHT && kernel->shifts_count == 0;
    shape->shared = 1;
    for (int axis = 0; light && axis < launch->kept_ndim; axis++) {
        int most = 1;
        if (!is_same_along(kernel, launch, axis))
            continue;
        while (launch->size[axis] % (2 * most) == 0 &&
               2 * most * shape->lanes * partial_bytes(kernel) <= BYTES &&
               weft__is_more(launch->count, 2 * most * GROUPS - 1))
            most *= 2;
        if (most <= shape->shared)
            continue;
        shape->shared = (uint8_t)most;
        shape->across = (uint8_t)axis;
    }
}

static void write_finish(weft__writer *w, weft__kernel_text *source)
{
    const uint32_t most = w->dialect == WEFT__DIALECT_CUDA ? 1024 : WEFT__GROUP_ITEMS;
    const uint32_t points = w->shape.wide ? WARP : 1;
    uint32_t items = most;
    while (items > 2 * WARP && (int)items * partial_bytes(w->kernel) > SHARED)
        items /= 2;
    weft__text_add(&w->text, "#define POINTS %u\n#define PARTS %u\n", points, items / points);
    weft__write_kernel(w, items);
    weft__text_add(&w->text, "%s", finish_text);
    source->group = items;
    source->points = points;
}

/* Whether one operand of 4 bytes is loaded: then registers can be few. */
static bool is_narrow(const weft__writer *w)
{
    int inputs = 0;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        inputs += !w->kernel->operands[k].output;
    return inputs == 1 && weft__vector_of(w->kernel) == 16;
}

/* Whether the next rows are loaded while something is done with these. NVIDIA's compiler for OpenCL
 * C does not move loads ahead as its compiler for CUDA C does, so that it gains by that where items
 * have runs, too. */
static bool loads_ahead(const weft__writer *w)
{
    return is_heavy(w->kernel) &&
           (weft__kernel_has_lanes(w->kernel) || w->dialect != WEFT__DIALECT_CUDA);
}

static int rows_of_long_code(const weft__writer *w)
{
    if (loads_ahead(w))
        return 2;
    return is_heavy(w->kernel) && is_narrow(w) ? 8 : 4;
}

/* How many rows are loaded at once: as many as registers hold, where little is done with them. */
static int rows_of(const weft__writer *w)
{
    enum { LIGHT = 24, VECTORS = 256, MOST = 16 };
    const int times = weft__kernel_has_lanes(w->kernel) ? 1 : 2;
    int bytes = 0;
    if (w->kernel->values_count > LIGHT)
        return rows_of_long_code(w);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (!w->kernel->operands[k].output)
            bytes +=
                w->shape.lanes * (int)weft_dtype_size((weft_dtype)w->kernel->operands[k].dtype);
    int rows = w->shape.shared > 1 ? MOST / 8 : times * MOST;
    while (rows > 2 &&
           (rows * bytes > times * VECTORS || rows * 32 * w->shape.lanes > WEFT__FOLD_CHUNK))
        rows /= 2;
    return rows;
}

/* So that 1024 items are there at once. */
static int groups_at_once(const weft__writer *w, uint32_t group)
{
    return is_heavy(w->kernel) && is_narrow(w) ? 1024 / (int)group : 0;
}

static void write_lanes(weft__writer *w, weft__kernel_text *source)
{
    const int warps = w->shape.warps, all = warps_of(w->kernel);
    source->group = (uint32_t)all * WARP;
    w->at_once = groups_at_once(w, source->group);
    source->points = (uint32_t)(w->shape.shared > 1 ? w->shape.shared : all / warps);
    weft__text_add(&w->text, "#define WARPS %d\n#define POINTS %d\n%s%s", warps, all / warps,
                   lanes_text, weft__is_orderless(w->kernel) ? orderless_text : warps_text);
    weft__write_kernel(w, source->group);
    weft__text_add(&w->text, "%s",
                   w->shape.stage == WEFT__STAGE_CHUNKS ? lanes_chunks_text : lanes_whole_text);
}

static void write_runs(weft__writer *w, weft__kernel_text *source)
{
    source->group = 128;
    source->points = 128u * w->shape.lanes;
    w->at_once = w->shape.lanes > 1 ? groups_at_once(w, source->group) : 0;
    weft__text_add(&w->text, "#define RUNS %d\n%s", RUNS, runs_text);
    weft__write_kernel(w, source->group);
    weft__text_add(&w->text, "%s",
                   w->shape.stage == WEFT__STAGE_CHUNKS ? runs_chunks_text : runs_whole_text);
}

/* NVIDIA's compiler for OpenCL C unrolls as it likes, which is best where lanes are folded; items
 * that have runs are a sixth faster if it leaves the loops for what vectors cannot do as they are.
 */
static void write_unrolling(weft__writer *w, bool lanes, int times)
{
    const char *some = "#define UNROLL_SOME\n";
    if (w->dialect == WEFT__DIALECT_CUDA)
        weft__text_add(&w->text, "#define UNROLL_SOME _Pragma(\"unroll %d\")\n", times);
    else if (lanes || w->shape.lanes == 1)
        weft__text_add(&w->text, "%s", some);
    else
        weft__text_add(&w->text,
                       "#ifdef NVIDIA_WORDS\n"
                       "#undef ROLLED\n"
                       "#define ROLLED _Pragma(\"unroll 1\")\n"
                       "#define UNROLL_SOME _Pragma(\"unroll %d\")\n"
                       "#else\n%s#endif\n",
                       times, some);
}

static void write_sharing(weft__writer *w)
{
    weft__text_add(&w->text, "#define RESULTS %d\n#define BETWEEN (1",
                   w->shape.shared > 1 ? w->shape.shared : 1);
    for (int axis = w->shape.across + 1; w->shape.shared > 1 && axis < w->kept_ndim; axis++)
        weft__text_add(&w->text, "*(I)g.size[%d]", axis);
    weft__text_add(&w->text, ")\n");
}

void weft__write_fold_gpu(weft__writer *w, weft__kernel_text *source)
{
    const bool lanes = weft__kernel_has_lanes(w->kernel), several = w->shape.lanes > 1;
    const int rows = rows_of(w);
    if (w->shape.stage == WEFT__STAGE_FINISH) {
        write_finish(w, source);
        return;
    }
    weft__text_add(&w->text, "#define SIDE %d\n#define ROWS %d\n#define APART %d\n", w->shape.lanes,
                   rows, lanes ? 32 * w->shape.lanes : 1);
    write_sharing(w);
    write_unrolling(w, lanes, several ? 2 : rows);
    if (several)
        weft__text_add(&w->text, "%s", loads_ahead(w) ? ahead_text : vectors_text);
    (lanes ? write_lanes : write_runs)(w, source);
}
