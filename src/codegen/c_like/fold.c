/* Kernels with folds, in the order of docs/semantics.md.
 *
 * What all folds of a kernel have come to is one struct in the text, `partial`, with a<k> for the
 * value k; functions make one of an element, combine two, and do the rest once all are combined.
 * How many there are and how the work is shared is then the same text for every kernel. */
#include "codegen/c_like/write.h"
#include <stdio.h>

static const char halving_text[] = "FUNCTION int power(const int count)\n"
                                   "{\n"
                                   "int n = 1;\n"
                                   "while (n < count)\n"
                                   "n *= 2;\n"
                                   "return n;\n"
                                   "}\n"
                                   "FUNCTION partial few_combined(partial *few, const int count)\n"
                                   "{\n"
                                   "ROLLED for (int h = power(count)/2; h > 0; h /= 2)\n"
                                   "ROLLED for (int s = 0; s < h && s + h < count; s++)\n"
                                   "few[s] = combine(few[s], few[s + h]);\n"
                                   "return few[0];\n"
                                   "}\n";

#define FOR_EACH_FOLD(w, k)                                                                        \
    for (uint32_t k = 0; k < (w)->kernel->values_count; k++)                                       \
        if ((w)->kernel->values[k].op == WEFT__OP_fold)

static const char *type_of(const weft__writer *w, uint32_t at)
{
    return weft__text_of_dtype((weft_dtype)w->kernel->values[at].dtype);
}

/* PoCL 3.1 drops stores to arrays of small integers. */
static const char *field_type(const weft__writer *w, uint32_t at)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->values[at].dtype;
    return weft_dtype_size(dtype) < 4 ? "i32" : weft__text_of_dtype(dtype);
}

void weft__write_fold_function(weft__writer *w, uint32_t at, const char *prefix)
{
    const weft__value *fold = &w->kernel->values[at];
    const char *type = type_of(w, at);
    weft__value values[3] = {{.dtype = fold->dtype},
                             {.dtype = fold->dtype},
                             {.op = (uint8_t)fold->slot, .dtype = fold->dtype, .argument = {0, 1}}};
    const weft__kernel small = {.values = values, .values_count = 3}, *kernel = w->kernel;
    weft__text_add(&w->text, "FUNCTION %s %s%u(const %s v0, const %s v1)\n{\n", type, prefix, at,
                   type, type);
    w->kernel = &small;
    weft__write_value(w, 2);
    w->kernel = kernel;
    weft__text_add(&w->text, "return v2;\n}\n");
}

static void write_pair(weft__writer *w, uint32_t k)
{
    const weft__value *fold = &w->kernel->values[k];
    const uint32_t j = k + 1;
    if (fold->slot == WEFT__FOLD_PRODUCT) {
        weft__text_add(&w->text, "z.a%u = x.a%u*y.a%u - x.a%u*y.a%u;\n", k, k, k, j, j);
        weft__text_add(&w->text, "z.a%u = x.a%u*y.a%u + x.a%u*y.a%u;\n", j, k, j, j, k);
        return;
    }
    weft__text_add(&w->text,
                   "{\nconst bool nan = y.a%u != y.a%u, was = x.a%u != x.a%u;\n"
                   "const bool take = y.a%u %c x.a%u || (nan && !was) ||\n"
                   "((y.a%u == x.a%u || (nan && was)) && y.a%u < x.a%u);\n",
                   k, k, k, k, k, fold->slot == WEFT__FOLD_ARGMIN ? '<' : '>', k, k, k, j, j);
    weft__text_add(&w->text, "z.a%u = take ? y.a%u : x.a%u;\nz.a%u = take ? y.a%u : x.a%u;\n}\n", k,
                   k, k, j, j, j);
}

static void write_combine(weft__writer *w)
{
    FOR_EACH_FOLD(w, k)
    if (w->kernel->values[k].slot < WEFT__OP_COUNT)
        weft__write_fold_function(w, k, "fold");
    weft__text_add(&w->text, "FUNCTION partial combine(const partial x, const partial y)\n{\n"
                             "partial z;\n");
    FOR_EACH_FOLD(w, k)
    {
        if (w->kernel->values[k].slot < WEFT__OP_COUNT)
            weft__text_add(&w->text, "z.a%u = fold%u(x.a%u, y.a%u);\n", k, k, k, k);
        else if (w->kernel->values[k].part == 0)
            write_pair(w, k);
    }
    weft__text_add(&w->text, "return z;\n}\n");
}

/* What a fold of no elements is. */
static void write_nothing(weft__writer *w)
{
    weft__text_add(&w->text, "FUNCTION partial nothing(void)\n{\npartial z;\n");
    FOR_EACH_FOLD(w, k)
    {
        const weft__value *fold = &w->kernel->values[k];
        const bool one = fold->slot == WEFT__OP_mul || fold->slot == WEFT__OP_and ||
                         (fold->slot == WEFT__FOLD_PRODUCT && fold->part == 0);
        weft__text_add(&w->text, "z.a%u = (%s)%d;\n", k, type_of(w, k), one);
    }
    weft__text_add(&w->text, "return z;\n}\n");
}

/* What the item so many places on in the warp has. */
static void write_passed(weft__writer *w)
{
    weft__text_add(&w->text, "#ifdef PASSES\n"
                             "FUNCTION partial passed(const partial x, const int by)\n{\n"
                             "partial z;\n");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, "z.a%u = PASSED_%s(x.a%u, by);\n", k, field_type(w, k), k);
    weft__text_add(&w->text, "return z;\n}\n#endif\n");
}

/* The type of a partial result in the buffer between the stages. */
static const char *kept_type(const weft__writer *w, uint32_t at)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->values[at].dtype;
    return dtype == WEFT_BOOL ? "u8" : weft__text_of_dtype(dtype);
}

int weft__held_bytes(const weft__writer *w, uint32_t at)
{
    const int bytes = (int)weft_dtype_size((weft_dtype)w->kernel->values[at].dtype);
    return w->dialect == WEFT__DIALECT_CUDA && bytes >= 4 ? bytes : 0;
}

/* A conversion between such a result and its bits. */
static void write_bits(weft__writer *w, uint32_t at, bool from)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->values[at].dtype;
    const bool real = dtype == WEFT_F32 || dtype == WEFT_F64;
    if (from)
        weft__text_add(&w->text, real ? "AS_%s" : "(%s)", weft__text_of_dtype(dtype));
    else
        weft__text_add(&w->text, real ? "AS_u%d" : "(u%d)", 8 * weft__held_bytes(w, at));
}

static void write_keep(weft__writer *w, uint32_t at)
{
    const int bytes = weft__held_bytes(w, at);
    if (bytes) {
        weft__text_add(&w->text, "KEEP_%d((u%d *)at + number, ", bytes, 8 * bytes);
        write_bits(w, at, false);
        weft__text_add(&w->text, "(x.a%u));\n", at);
    } else {
        weft__text_add(&w->text, "((GLOBAL %s *)at)[number] = x.a%u;\n", kept_type(w, at), at);
    }
}

static void write_kept(weft__writer *w, uint32_t at)
{
    const int bytes = weft__held_bytes(w, at);
    weft__text_add(&w->text, "x.a%u = ", at);
    if (bytes) {
        write_bits(w, at, true);
        weft__text_add(&w->text, "(KEPT_%d((const u%d *)at + number));\n", bytes, 8 * bytes);
    } else {
        weft__text_add(&w->text, "((GLOBAL const %s *)at)[number];\n", kept_type(w, at));
    }
}

/* The results of each fold follow those of the one before. */
static void write_each(weft__writer *w, void (*write)(weft__writer *w, uint32_t at))
{
    weft__write_first(w, w->arguments_count - 1);
    weft__text_add(&w->text, ";\n");
    FOR_EACH_FOLD(w, k)
    {
        write(w, k);
        weft__text_add(&w->text, "at += ((i64)sizeof(%s)*g.groups*g.kept + 63)/64*64;\n",
                       kept_type(w, k));
    }
}

static void write_keeping(weft__writer *w)
{
    weft__text_add(&w->text, "FUNCTION void keep(PARAMETERS, const I number, const partial x)\n{\n"
                             "GLOBAL u8 *at = ");
    write_each(w, write_keep);
    weft__text_add(&w->text, "}\nFUNCTION partial kept(PARAMETERS, const I number)\n{\npartial x;\n"
                             "GLOBAL const u8 *at = ");
    write_each(w, write_kept);
    weft__text_add(&w->text, "return x;\n}\n");
}

/* Marks what folds depend on, or what stores depend on other than through a fold. */
static void mark(weft__writer *w, weft__op of)
{
    for (uint32_t k = w->kernel->values_count; k-- > 0;)
        w->wanted[k] = w->kernel->values[k].op == of;
    for (uint32_t k = w->kernel->values_count; k-- > 0;) {
        const weft__value *value = &w->kernel->values[k];
        const bool ends = value->op == WEFT__OP_fold && of == WEFT__OP_store;
        for (int j = 0; w->wanted[k] && !ends && j < weft__value_arguments(w->kernel, value); j++)
            w->wanted[value->argument[j]] = 1;
    }
}

void weft__want_folded(weft__writer *w) { mark(w, WEFT__OP_fold); }

static void write_input(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load)
        weft__write_load(w, at);
    else if (value->op == WEFT__OP_store)
        weft__write_store(w, value);
    else if (value->op != WEFT__OP_fold)
        weft__write_value(w, at);
}

static void write_result(weft__writer *w, uint32_t at)
{
    if (w->kernel->values[at].op == WEFT__OP_fold)
        weft__text_add(&w->text, "const %s v%u = x.a%u;\n", type_of(w, at), at, at);
    else
        write_input(w, at);
}

static void write_element_as(weft__writer *w, const char *begin)
{
    weft__want_folded(w);
    weft__text_add(&w->text, "FUNCTION partial %s\n{\npartial z;\n%s", begin,
                   w->fast ? "bool some = false;\n" : "");
    weft__write_positions(w, 0, w->kept_ndim, "point");
    weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    weft__write_wanted(w, write_input);
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, "z.a%u = v%d;\n", k,
                   w->kernel->values[k].argument[w->kernel->values[k].part]);
    weft__text_add(&w->text, w->fast ? "*taken |= some;\nreturn z;\n}\n" : "return z;\n}\n");
}

static void write_element(weft__writer *w)
{
    write_element_as(w, "element(PARAMETERS, const I point, const I r)");
}

/* Without branches; `taken` becomes true if there should have been one. */
static void write_fast_element(weft__writer *w)
{
    w->fast = true;
    write_element_as(w, "element_fast(PARAMETERS, const I point, const I r, bool *taken)");
    w->fast = false;
}

/* What is loaded for several neighbouring elements. */
static void write_held(weft__writer *w)
{
    weft__text_add(&w->text, "typedef struct { int nothing;");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (weft__is_read(w->kernel, w->wanted, k))
            weft__text_add(&w->text, " ALIGNED %s x%u[%d];",
                           weft__text_of_memory((weft_dtype)w->kernel->operands[k].dtype), k,
                           weft__numbers_of(w, k));
    weft__text_add(&w->text, " } held;\n");
}

static void write_row_address(weft__writer *w, uint32_t k, bool straight)
{
    weft__text_add(&w->text, "GLOBAL const u8 *q%u = ", k);
    if (straight) {
        weft__text_add(&w->text, "at.q%u + by*", k);
        weft__write_stride(w, k, w->kept_ndim);
    } else {
        weft__write_address(w, k, "i");
    }
    weft__text_add(&w->text, ";\n");
}

/* A row that is `by` elements of the folded axes on from a place, and a place so far on. Along one
 * axis places are addresses: what is added to them is then known before. */
static void write_fetch(weft__writer *w, bool straight)
{
    weft__text_add(&w->text, "FUNCTION void fetch(PARAMETERS, const places at, const I by, held "
                             "*h)\n{\n");
    if (!straight) {
        weft__text_add(&w->text, "const I point = at.point, r = at.r + by;\n");
        weft__write_positions(w, 0, w->kept_ndim, "point");
        weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    }
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        char to[24], from[16];
        if (!weft__is_read(w->kernel, w->wanted, k))
            continue;
        write_row_address(w, k, straight);
        snprintf(to, sizeof to, "h->x%u", k);
        snprintf(from, sizeof from, "q%u", k);
        weft__write_row_load(w, k, to, from);
    }
    weft__text_add(&w->text, "}\nFUNCTION void move(PARAMETERS, places *at, const I by)\n{\n"
                             "at->r += by;\n");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (!straight || !weft__is_read(w->kernel, w->wanted, k))
            continue;
        weft__text_add(&w->text, "at->q%u += by*", k);
        weft__write_stride(w, k, w->kept_ndim);
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "}\n");
}

static void write_places(weft__writer *w)
{
    const bool straight = w->shape.ndim - w->kept_ndim == 1;
    weft__text_add(&w->text, "typedef struct { I point, r;");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (straight && weft__is_read(w->kernel, w->wanted, k))
            weft__text_add(&w->text, " GLOBAL const u8 *q%u;", k);
    weft__text_add(&w->text, " } places;\n"
                             "FUNCTION places place(PARAMETERS, const I point, const I r)\n{\n"
                             "places at;\nat.point = point;\nat.r = r;\n");
    weft__write_positions(w, 0, w->kept_ndim, "point");
    weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (!straight || !weft__is_read(w->kernel, w->wanted, k))
            continue;
        weft__text_add(&w->text, "at.q%u = ", k);
        weft__write_address(w, k, "i");
        weft__text_add(&w->text, ";\n");
    }
    weft__text_add(&w->text, "return at;\n}\n");
    write_fetch(w, straight);
}

static bool is_aligned(weft__writer *w, uint32_t k)
{
    return weft__is_read(w->kernel, w->wanted, k) && w->shape.lie[k] == WEFT__LIE_DENSE;
}

static void write_lane_input(weft__writer *w, uint32_t at)
{
    if (w->kernel->values[at].op != WEFT__OP_fold)
        weft__write_lane_value(w, at);
}

/* Whether a sum is of integers so small that those of a chunk fit 32 bits: the value that is added,
 * or -1. */
static int32_t small_value(const weft__writer *w, uint32_t at)
{
    const weft__value *fold = &w->kernel->values[at];
    const weft__value *added = &w->kernel->values[fold->argument[fold->part]];
    const bool wide = fold->dtype == WEFT_I64 || fold->dtype == WEFT_U64;
    if (fold->slot != WEFT__OP_add || !wide || added->op != WEFT__OP_cast)
        return -1;
    const weft_dtype from = (weft_dtype)w->kernel->values[added->argument[0]].dtype;
    const bool whole = from == WEFT_BOOL || (from >= WEFT_I8 && from <= WEFT_U64);
    return whole && weft_dtype_size(from) <= 2 ? added->argument[0] : -1;
}

static void write_small(weft__writer *w)
{
    weft__text_add(&w->text, "typedef struct {");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, " %s a%u;", small_value(w, k) < 0 ? field_type(w, k) : "i32", k);
    weft__text_add(&w->text, " } small;\n"
                             "FUNCTION small small_combined(const small x, const small y)\n{\n"
                             "partial p, q; small z;\n");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, "p.a%u = x.a%u;\nq.a%u = y.a%u;\n", k, k, k, k);
    weft__text_add(&w->text, "p = combine(p, q);\n");
    FOR_EACH_FOLD(w, k)
    {
        if (small_value(w, k) < 0)
            weft__text_add(&w->text, "z.a%u = p.a%u;\n", k, k);
        else
            weft__text_add(&w->text, "z.a%u = x.a%u + y.a%u;\n", k, k, k);
    }
    weft__text_add(&w->text,
                   "return z;\n}\nFUNCTION partial widened(const small x)\n{\npartial z;\n");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, "z.a%u = x.a%u;\n", k, k);
    weft__text_add(&w->text, "return z;\n}\n");
}

/* Neighbouring elements along the axis that operands lie along, without branches; whether there
 * should have been one. */
static void write_elements(weft__writer *w)
{
    weft__want_folded(w);
    write_small(w);
    write_held(w);
    write_places(w);
    weft__text_add(&w->text,
                   "FUNCTION bool elements(PARAMETERS, const I point, const I begin, "
                   "const held *h, small *z)\n{\nbool some = false;\nconst I r = begin;\n");
    weft__write_positions(w, 0, w->kept_ndim, "point");
    weft__write_positions(w, w->kept_ndim, w->shape.ndim, "r");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (weft__is_read(w->kernel, w->wanted, k))
            weft__text_add(&w->text, "const %s *x%u = h->x%u;\n",
                           weft__text_of_memory((weft_dtype)w->kernel->operands[k].dtype), k, k);
    weft__text_add(&w->text,
                   "const I first = i%d;\nUNROLL for (int e = 0; e < %d; e++) {\n"
                   "const I i%d = first + e;\n%s",
                   w->along, w->shape.lanes, w->along,
                   w->along < w->kept_ndim ? "" : "const I r = begin + e;\n");
    w->fast = true;
    weft__write_wanted(w, write_lane_input);
    w->fast = false;
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, "z[e].a%u = v%d;\n", k,
                   small_value(w, k) < 0 ? w->kernel->values[k].argument[w->kernel->values[k].part]
                                         : small_value(w, k));
    weft__text_add(&w->text, "}\nreturn some;\n}\n"
                             "FUNCTION bool vectors(PARAMETERS)\n{\nreturn (0");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (is_aligned(w, k))
            weft__write_misaligned(w, k);
    weft__text_add(&w->text, ") == 0;\n}\n");
}

static void write_finish(weft__writer *w)
{
    mark(w, WEFT__OP_store);
    weft__text_add(&w->text,
                   "FUNCTION void finish(PARAMETERS, const I point, const partial x)\n{\n");
    weft__write_positions(w, 0, w->kept_ndim, "point");
    for (int k = w->kept_ndim; k < w->shape.ndim; k++)
        weft__text_add(&w->text, "const I i%d = 0;\n", k);
    weft__write_wanted(w, write_result);
    weft__text_add(&w->text, "}\n");
}

void weft__write_fold(weft__writer *w, weft__kernel_text *source)
{
    const bool cpu = w->dialect == WEFT__DIALECT_OPENCL_CPU;
    bool branches = false;
    weft__write_types(w);
    weft__text_add(&w->text, "typedef struct {");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, " %s a%u;", field_type(w, k), k);
    weft__text_add(&w->text, " } partial;\n");
    write_combine(w);
    write_nothing(w);
    write_keeping(w);
    if (weft__passes(w))
        write_passed(w);
    if (cpu || w->shape.stage != WEFT__STAGE_FINISH)
        write_element(w);
    if (cpu && (branches = w->skips.count > 0))
        write_fast_element(w);
    if (!cpu && w->shape.lanes > 1)
        write_elements(w);
    if (cpu || w->shape.stage != WEFT__STAGE_CHUNKS)
        write_finish(w);
    weft__text_add(&w->text, "%s", halving_text);
    if (cpu)
        weft__write_fold_cpu(w, 8 * (int)w->kernel->folds_count, branches, source);
    else
        weft__write_fold_gpu(w, source);
}
