/* Folds on CUDA devices: the same order, with many loads in flight. */
#include "codegen/c_like/write.h"

/* Halving across warps takes barriers, within one it does not; only item 0 uses the result. */
const char weft__fold_lanes_gpu[] =
    "FUNCTION partial piece(PARAMETERS, partial *lane, const I point, const I begin)\n"
    "{\n"
    "const int l = (int)LOCAL_ID;\n"
    "const int length = (I)g.folded - begin < 4096 ? (int)((I)g.folded - begin) : 4096;\n"
    "const int filled = length < 128 ? length : 128, count = (length - l + 127)/128;\n"
    "partial x = nothing();\n"
    "if (l < filled)\n"
    "x = element(ARGUMENTS, point, begin + l);\n"
    "UNROLL_SOME for (int k = 1; k < count; k++)\n"
    "x = combine(x, element(ARGUMENTS, point, begin + l + 128*k));\n"
    "BARRIER;\n"
    "lane[l] = x;\n"
    "BARRIER;\n"
    "if (l < 64 && l + 64 < filled)\n"
    "lane[l] = combine(lane[l], lane[l + 64]);\n"
    "BARRIER;\n"
    "if (l < 32 && l + 32 < filled)\n"
    "lane[l] = combine(lane[l], lane[l + 32]);\n"
    "ROLLED for (int h = 16; h > 0; h /= 2) {\n"
    "__syncwarp();\n"
    "if (l < h && l + h < filled)\n"
    "lane[l] = combine(lane[l], lane[l + h]);\n"
    "}\n"
    "__syncwarp();\n"
    "return lane[0];\n"
    "}\n";

/* A group has POINTS results, and PARTS items for each: item y takes the chunks y, y + PARTS …,
 * which halving combines with each other first, and then they with theirs. More chunks than an item
 * keeps are combined in memory before. */
static const char finish_text[] =
    "LOCAL partial lane[POINTS*PARTS];\n"
    "const int x = (int)LOCAL_ID % POINTS, y = (int)LOCAL_ID/POINTS;\n"
    "const I point = (I)GROUP_ID*POINTS + x;\n"
    "const bool mine = point < (I)g.kept;\n"
    "int count = (int)g.chunks, held = 0;\n"
    "ROLLED for (int h = power(count)/2; h >= 64*PARTS; h /= 2) {\n"
    "ROLLED for (int s = y; mine && s < h && s + h < count; s += PARTS)\n"
    "keep(ARGUMENTS, (I)s*(I)g.kept + point,\n"
    "combine(kept(ARGUMENTS, (I)s*(I)g.kept + point), kept(ARGUMENTS, (I)(s + h)*(I)g.kept + "
    "point)));\n"
    "BARRIER;\n"
    "count = count < h ? count : h;\n"
    "}\n"
    "partial few[64];\n"
    "_Pragma(\"unroll 8\") for (int s = y; s < count; s += PARTS)\n"
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

void weft__write_finish_gpu(weft__writer *w, int partial_bytes, weft__kernel_text *source)
{
    enum { ITEMS = 1024, SHARED = 40000, WARP = 32 };
    const uint32_t points = w->shape.wide ? WARP : 1;
    uint32_t items = ITEMS;
    while (items > 2 * WARP && (int)items * partial_bytes > SHARED)
        items /= 2;
    weft__text_add(&w->text, "#define POINTS %u\n#define PARTS %u\n", points, items / points);
    weft__write_kernel(w, items);
    weft__text_add(&w->text, "%s", finish_text);
    source->group = items;
    source->points = points;
}

/* Fewer where a point takes much computing: then code is dear, and loads are not what it waits
 * for. */
int weft__fold_unroll(const weft__kernel *kernel)
{
    enum { LIGHT = 24, HEAVY = 80 };
    return kernel->values_count <= LIGHT ? 8 : kernel->values_count <= HEAVY ? 4 : 2;
}
