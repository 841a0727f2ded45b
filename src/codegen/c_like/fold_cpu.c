/* Folds on CPUs: the same order, with groups of one item. Lanes, or neighbouring results where the
 * last axis is not folded, are the elements of an array, and a compiler makes vectors of the loops
 * over them. AT is what element l of such a loop is at. */
#include "codegen/c_like/write.h"

/* x[l] becomes element l, or what it was combined with that. */
static const char add_text[] =
    "FUNCTION void add_elements(PARAMETERS, partial *x, const I point, const I r, const int n, "
    "const bool first)\n"
    "{\n"
    "if (first)\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "x[l] = element(ARGUMENTS, AT);\n"
    "else\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "x[l] = combine(x[l], element(ARGUMENTS, AT));\n"
    "}\n";

/* Four elements each: what they are combined with is loaded and stored once. */
static const char four_text[] =
    "x[l] = combine(combine(combine(combine(x[l], element(ARGUMENTS, AT)), element(ARGUMENTS, AT + "
    "APART)), element(ARGUMENTS, AT + 2*APART)), element(ARGUMENTS, AT + 3*APART));\n";

/* Bytes from an element to the next of an operand that is read in order; else 0. */
static int step_of(const weft__writer *w, uint32_t operand)
{
    const bool ordered = w->shape.lie[operand] == WEFT__LIE_DENSE;
    return ordered && weft__is_loaded(w->kernel, operand)
               ? (int)weft_dtype_size((weft_dtype)w->kernel->operands[operand].dtype)
               : 0;
}

/* soon<operand>: what is loaded some pieces later. */
static void write_soon(weft__writer *w)
{
    enum { AHEAD = 4096, CACHED = 1 << 18 }; /* bytes; elements that are not worth it */
    weft__write_positions(w, 0, w->kept_ndim, "point");
    weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    weft__text_add(&w->text, "const bool ahead = g.kept*g.folded > %d;\n", CACHED);
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (step_of(w, k) > 0) {
            weft__text_add(&w->text, "GLOBAL const u8 *soon%u = ", k);
            weft__write_address(w, k, "i");
            weft__text_add(&w->text, " + %d;\n", AHEAD);
        }
}

static void write_prefetches(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (step_of(w, k) > 0)
            weft__text_add(&w->text,
                           "for (int c = 0; ahead && c < 4*VECTOR*%d; c += %d)\n"
                           "PREFETCH(soon%u + 4*b*%d + c);\n",
                           step_of(w, k), WEFT__LINE, k, step_of(w, k));
}

static void write_add_four(weft__writer *w, bool lanes)
{
    weft__text_add(&w->text, "FUNCTION void add_four(PARAMETERS, partial *x, const I point, const "
                             "I r, const int n)\n{\n");
    if (lanes) {
        write_soon(w);
        weft__text_add(&w->text, "for (int b = 0; b < n; b += VECTOR) {\n");
        write_prefetches(w);
        weft__text_add(&w->text, "VECTORS for (int l = b; l < b + VECTOR; l++)\n%s}\n}\n",
                       four_text);
    } else {
        weft__text_add(&w->text, "VECTORS for (int l = 0; l < n; l++)\n%s}\n", four_text);
    }
}

static const char add_branching_text[] =
    "FUNCTION void add_elements(PARAMETERS, partial *x, const I point, const I r, const int n, "
    "const bool first)\n"
    "{\n"
    "LINED partial z[MOST];\n"
    "bool some = false;\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "z[l] = element_fast(ARGUMENTS, AT, &some);\n"
    "if (some)\n"
    "for (int l = 0; l < n; l++)\n"
    "z[l] = element(ARGUMENTS, AT);\n"
    "if (first)\n"
    "for (int l = 0; l < n; l++)\n"
    "x[l] = z[l];\n"
    "else\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "x[l] = combine(x[l], z[l]);\n"
    "}\n";

static const char lanes_text[] =
    "FUNCTION partial piece(PARAMETERS, const I point, const I begin)\n"
    "{\n"
    "#if WHOLE\n"
    "if ((I)g.folded - begin >= 4096)\n"
    "return whole(ARGUMENTS, point, begin);\n"
    "#endif\n"
    "LINED partial lane[128];\n"
    "const I end = (I)g.folded - begin < 4096 ? (I)g.folded : begin + 4096;\n"
    "const int filled = end - begin < 128 ? (int)(end - begin) : 128;\n"
    "I r = begin;\n"
    "while (r + 128 <= end) {\n"
    "const bool four = FOUR && r > begin && r + 512 <= end;\n"
    "if (four)\n"
    "add_four(ARGUMENTS, lane, point, r, 128);\n"
    "else\n"
    "add_elements(ARGUMENTS, lane, point, r, 128, r == begin);\n"
    "r += four ? 512 : 128;\n"
    "}\n"
    "if (r < end)\n"
    "add_elements(ARGUMENTS, lane, point, r, (int)(end - r), r == begin);\n"
    "int h = 64;\n"
    "for (; filled == 128 && h >= VECTOR; h /= 2)\n"
    "VECTORS for (int l = 0; l < h; l++)\n"
    "lane[l] = combine(lane[l], lane[l + h]);\n"
    "for (; h > 0; h /= 2)\n"
    "for (int l = 0; l < h && l + h < filled; l++)\n"
    "lane[l] = combine(lane[l], lane[l + h]);\n"
    "return lane[0];\n"
    "}\n";

static const char lanes_chunks_text[] =
    "const I first = (I)GROUP_ID*POINTS;\n"
    "for (I number = first; number < (I)g.count && number < first + POINTS; number++)\n"
    "keep(ARGUMENTS, number, piece(ARGUMENTS, number % (I)g.kept, number/(I)g.kept*4096));\n"
    "}\n";

static const char lanes_whole_text[] =
    "partial few[16];\n"
    "const I point = (I)GROUP_ID;\n"
    "for (int c = 0; c < (int)g.chunks; c++)\n"
    "few[c] = piece(ARGUMENTS, point, (I)c*4096);\n"
    "finish(ARGUMENTS, point, g.chunks ? few_combined(few, (int)g.chunks) : nothing());\n"
    "}\n";

/* One run of n neighbouring results. */
static const char runs_text[] =
    "FUNCTION void run(PARAMETERS, partial *x, const I point, const I begin, const int n)\n"
    "{\n"
    "const I end = (I)g.folded - begin < 64 ? (I)g.folded : begin + 64;\n"
    "for (I r = begin; r < end;) {\n"
    "const bool four = FOUR && r > begin && r + 4 <= end;\n"
    "if (four)\n"
    "add_four(ARGUMENTS, x, point, r, n);\n"
    "else\n"
    "add_elements(ARGUMENTS, x, point, r, n, r == begin);\n"
    "r += four ? 4 : 1;\n"
    "}\n"
    "}\n";

static const char runs_chunks_text[] =
    "LINED partial x[POINTS];\n"
    "I number = (I)GROUP_ID*POINTS;\n"
    "const I end = (I)g.count - number < POINTS ? (I)g.count : number + POINTS;\n"
    "while (number < end) {\n"
    "const I chunk = number/(I)g.kept, point = number - chunk*(I)g.kept;\n"
    "const int n = (int)((I)g.kept - point < end - number ? (I)g.kept - point : end - number);\n"
    "run(ARGUMENTS, x, point, chunk*64, n);\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "keep(ARGUMENTS, number + l, x[l]);\n"
    "number += n;\n"
    "}\n"
    "}\n";

static const char runs_whole_text[] =
    "LINED partial x[16][POINTS];\n"
    "const I point = (I)GROUP_ID*POINTS;\n"
    "const int n = (int)((I)g.count - point < POINTS ? (I)g.count - point : POINTS);\n"
    "const int count = (int)g.chunks;\n"
    "for (int c = 0; c < count; c++)\n"
    "run(ARGUMENTS, x[c], point, (I)c*64, n);\n"
    "for (int h = power(count)/2; h > 0; h /= 2)\n"
    "for (int s = 0; s < h && s + h < count; s++)\n"
    "VECTORS for (int l = 0; l < n; l++)\n"
    "x[s][l] = combine(x[s][l], x[s + h][l]);\n"
    "for (int l = 0; l < n; l++)\n"
    "finish(ARGUMENTS, point + l, count ? x[0][l] : nothing());\n"
    "}\n";

/* The chunks of neighbouring results are neighbours; all of them are, if the group has all. */
static const char finish_text[] =
    "const I point = (I)GROUP_ID*POINTS, kept_count = (I)g.kept;\n"
    "const int n = (int)(kept_count - point < POINTS ? kept_count - point : POINTS);\n"
    "const int count = (int)g.chunks;\n"
    "for (int h = power(count)/2; h > 0; h /= 2) {\n"
    "const int pairs = count - h < h ? count - h : h, rows = n == kept_count ? 1 : pairs;\n"
    "const I along = n == kept_count ? (I)pairs*n : n, other = h*kept_count;\n"
    "for (int s = 0; s < rows; s++)\n"
    "VECTORS for (I l = s*kept_count + point; l < s*kept_count + point + along; l++)\n"
    "keep(ARGUMENTS, l, combine(kept(ARGUMENTS, l), kept(ARGUMENTS, l + other)));\n"
    "}\n"
    "for (int l = 0; l < n; l++)\n"
    "finish(ARGUMENTS, point + l, kept(ARGUMENTS, point + l));\n"
    "}\n";

/* How many numbers, or results, a group takes care of: fewer where each of them takes more room. */
static uint32_t points_of(const weft__writer *w, bool lanes, int partial_bytes)
{
    enum { ROOM = 8192, CHUNKS = 4, WHOLE = 128, FINISH = 256 };
    const uint32_t fitting = (uint32_t)(ROOM / partial_bytes), most = fitting < 64 ? 64 : fitting;
    if (w->shape.stage == WEFT__STAGE_FINISH)
        return FINISH;
    if (w->shape.stage == WEFT__STAGE_CHUNKS)
        return lanes ? CHUNKS : most;
    return lanes ? 1 : most < WHOLE ? most : WHOLE;
}

static const char *stage_text(const weft__writer *w, bool lanes)
{
    if (w->shape.stage == WEFT__STAGE_FINISH)
        return finish_text;
    if (w->shape.stage == WEFT__STAGE_CHUNKS)
        return lanes ? lanes_chunks_text : runs_chunks_text;
    return lanes ? lanes_whole_text : runs_whole_text;
}

void weft__write_fold_cpu(weft__writer *w, int partial_bytes, bool branches,
                          weft__kernel_text *source)
{
    const bool lanes = weft__kernel_has_lanes(w->kernel);
    const uint32_t points = points_of(w, lanes, partial_bytes);
    weft__text_add(&w->text, "#define POINTS %u\n#define MOST %u\n#define AT %s\n", points,
                   lanes ? 128 : points, lanes ? "point, r + l" : "point + l, r");
    if (w->shape.stage != WEFT__STAGE_FINISH) {
        const bool four = !branches && weft__is_light(w->kernel);
        weft__text_add(&w->text, "#define FOUR %d\n#define APART %d\n", four, lanes ? 128 : 1);
        if (four)
            write_add_four(w, lanes);
        else
            weft__text_add(&w->text, "#define add_four(...)\n");
        const bool whole = lanes && four && weft__takes_rows(w);
        weft__text_add(&w->text, "#define WHOLE %d\n", whole);
        if (whole)
            weft__write_rows(w);
        weft__text_add(&w->text, "%s%s", branches ? add_branching_text : add_text,
                       lanes ? lanes_text : runs_text);
    }
    weft__write_kernel(w, 1);
    weft__text_add(&w->text, "TOUCH;\n%s", stage_text(w, lanes));
    source->group = 1;
    source->points = points;
}
