/* Kernels with folds, in the order of docs/semantics.md.
 *
 * What all folds of a kernel have come to is one struct in the text, `partial`, with a<k> for the
 * value k; functions make one of an element, combine two, and do the rest once all are combined.
 * How many there are and how the work is shared is then the same text for every kernel. */
#include "codegen/c_like/write.h"

/* Where the last axis is folded, a group takes a chunk, and an item is a lane. */
static const char lanes_text[] =
    "FUNCTION partial piece(PARAMETERS, LOCAL_POINTER partial *lane, const I point, const I "
    "begin)\n"
    "{\n"
    "const int l = (int)LOCAL_ID;\n"
    "const I end = (I)g.folded - begin < 4096 ? (I)g.folded : begin + 4096;\n"
    "const int filled = end - begin < 128 ? (int)(end - begin) : 128;\n"
    "partial x = nothing();\n"
    "if (l < filled) {\n"
    "x = element(ARGUMENTS, point, begin + l);\n"
    "for (I r = begin + l + 128; r < end; r += 128)\n"
    "x = combine(x, element(ARGUMENTS, point, r));\n"
    "}\n"
    "BARRIER;\n"
    "lane[l] = x;\n"
    "BARRIER;\n"
    "for (int h = 64; h > 0; h /= 2) {\n"
    "if (l < h && l + h < filled)\n"
    "lane[l] = combine(lane[l], lane[l + h]);\n"
    "BARRIER;\n"
    "}\n"
    "return lane[0];\n"
    "}\n";

/* Otherwise an item takes a run, and its neighbours those of neighbouring results. */
static const char runs_text[] =
    "FUNCTION partial piece(PARAMETERS, const I point, const I begin)\n"
    "{\n"
    "const I end = (I)g.folded - begin < 64 ? (I)g.folded : begin + 64;\n"
    "partial x = element(ARGUMENTS, point, begin);\n"
    "UNROLL_SOME for (I r = begin + 1; r < end; r++)\n"
    "x = combine(x, element(ARGUMENTS, point, r));\n"
    "return x;\n"
    "}\n";

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

static const char lanes_chunks_text[] =
    "LOCAL partial lane[128];\n"
    "const I number = (I)GROUP_ID;\n"
    "const partial x = piece(ARGUMENTS, lane, number % (I)g.kept, number/(I)g.kept*4096);\n"
    "if (LOCAL_ID == 0)\n"
    "keep(ARGUMENTS, number, x);\n"
    "}\n";

static const char lanes_whole_text[] =
    "LOCAL partial lane[128];\n"
    "partial few[16];\n"
    "const I point = (I)GROUP_ID;\n"
    "ROLLED for (int c = 0; c < (int)g.chunks; c++)\n"
    "few[c] = piece(ARGUMENTS, lane, point, (I)c*4096);\n"
    "if (LOCAL_ID == 0)\n"
    "finish(ARGUMENTS, point, g.chunks ? few_combined(few, (int)g.chunks) : nothing());\n"
    "}\n";

static const char runs_chunks_text[] =
    "const I number = (I)GROUP_ID*128 + (I)LOCAL_ID;\n"
    "if (number < (I)g.count)\n"
    "keep(ARGUMENTS, number, piece(ARGUMENTS, number % (I)g.kept, number/(I)g.kept*64));\n"
    "}\n";

static const char runs_whole_text[] =
    "partial few[16];\n"
    "const I point = (I)GROUP_ID*128 + (I)LOCAL_ID;\n"
    "if (point >= (I)g.count)\n"
    "return;\n"
    "ROLLED for (int c = 0; c < (int)g.chunks; c++)\n"
    "few[c] = piece(ARGUMENTS, point, (I)c*64);\n"
    "finish(ARGUMENTS, point, g.chunks ? few_combined(few, (int)g.chunks) : nothing());\n"
    "}\n";

/* A group combines the chunks of a result where they are. */
static const char finish_text[] =
    "const I point = (I)GROUP_ID;\n"
    "const int count = (int)g.chunks;\n"
    "for (int h = power(count)/2; h > 0; h /= 2) {\n"
    "for (int s = (int)LOCAL_ID; s < h && s + h < count; s += 128)\n"
    "keep(ARGUMENTS, (I)s*(I)g.kept + point,\n"
    "combine(kept(ARGUMENTS, (I)s*(I)g.kept + point), kept(ARGUMENTS, (I)(s + h)*(I)g.kept + "
    "point)));\n"
    "BARRIER;\n"
    "}\n"
    "if (LOCAL_ID == 0)\n"
    "finish(ARGUMENTS, point, kept(ARGUMENTS, point));\n"
    "}\n";

#define FOR_EACH_FOLD(w, k)                                                                        \
    for (uint32_t k = 0; k < (w)->kernel->values_count; k++)                                       \
        if ((w)->kernel->values[k].op == WEFT__OP_fold)

static const char *type_of(const weft__writer *w, uint32_t at)
{
    return weft__text_of_dtype((weft_dtype)w->kernel->values[at].dtype);
}

/* fold<k>(v0, v1) of one primitive. */
static void write_function(weft__writer *w, uint32_t at)
{
    const weft__value *fold = &w->kernel->values[at];
    const char *type = type_of(w, at);
    weft__value values[3] = {{.dtype = fold->dtype},
                             {.dtype = fold->dtype},
                             {.op = (uint8_t)fold->slot, .dtype = fold->dtype, .argument = {0, 1}}};
    const weft__kernel small = {.values = values, .values_count = 3}, *kernel = w->kernel;
    weft__text_add(&w->text, "FUNCTION %s fold%u(const %s v0, const %s v1)\n{\n", type, at, type,
                   type);
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
        write_function(w, k);
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

/* The type of a partial result in the buffer between the stages. */
static const char *kept_type(const weft__writer *w, uint32_t at)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->values[at].dtype;
    return dtype == WEFT_BOOL ? "u8" : weft__text_of_dtype(dtype);
}

static void write_keeping(weft__writer *w)
{
    const uint32_t buffer = w->arguments_count - 1;
    weft__text_add(&w->text,
                   "FUNCTION void keep(PARAMETERS, const I number, const partial x)\n{\n"
                   "GLOBAL u8 *at = p%u + g.offset[%u];\n",
                   buffer, buffer);
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text,
                   "((GLOBAL %s *)at)[number] = x.a%u;\n"
                   "at += ((i64)sizeof(%s)*g.chunks*g.kept + 63)/64*64;\n",
                   kept_type(w, k), k, kept_type(w, k));
    weft__text_add(&w->text,
                   "}\nFUNCTION partial kept(PARAMETERS, const I number)\n{\npartial x;\n"
                   "GLOBAL const u8 *at = p%u + g.offset[%u];\n",
                   buffer, buffer);
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text,
                   "x.a%u = ((GLOBAL const %s *)at)[number];\n"
                   "at += ((i64)sizeof(%s)*g.chunks*g.kept + 63)/64*64;\n",
                   k, kept_type(w, k), kept_type(w, k));
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

static void write_store(weft__writer *w, const weft__value *store)
{
    const weft_dtype memory = (weft_dtype)w->kernel->operands[store->slot].dtype;
    weft__text_add(&w->text, "*(GLOBAL %s *)(", weft__text_of_memory(memory));
    weft__write_address(w, store->slot, "i");
    weft__text_add(&w->text, " + %d) = ", store->part * weft__part_bytes(memory));
    weft__write_narrowed(w, store);
    weft__text_add(&w->text, ";\n");
}

static void write_input(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load)
        weft__write_load(w, at);
    else if (value->op == WEFT__OP_store)
        write_store(w, value);
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
    mark(w, WEFT__OP_fold);
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

/* PoCL 3.1 drops stores to arrays of small integers. */
static const char *field_type(const weft__writer *w, uint32_t at)
{
    const weft_dtype dtype = (weft_dtype)w->kernel->values[at].dtype;
    return weft_dtype_size(dtype) < 4 ? "i32" : weft__text_of_dtype(dtype);
}

/* What a group does in each stage. */
static const char *stage_text(const weft__writer *w, bool lanes)
{
    if (w->shape.stage == WEFT__STAGE_FINISH)
        return finish_text;
    if (w->shape.stage == WEFT__STAGE_CHUNKS)
        return lanes ? lanes_chunks_text : runs_chunks_text;
    return lanes ? lanes_whole_text : runs_whole_text;
}

static int partial_bytes(const weft__writer *w)
{
    int bytes = 0;
    FOR_EACH_FOLD(w, k)
    bytes += 8;
    return bytes;
}

void weft__write_fold(weft__writer *w, weft__kernel_text *source)
{
    const bool lanes = weft__kernel_has_lanes(w->kernel), gpu = w->dialect == WEFT__DIALECT_CUDA;
    const bool by_item = !lanes && w->shape.stage != WEFT__STAGE_FINISH;
    const bool cpu = w->dialect == WEFT__DIALECT_OPENCL_CPU;
    bool branches = false;
    weft__write_types(w);
    if (gpu)
        weft__text_add(&w->text, "#define UNROLL_SOME _Pragma(\"unroll %d\")\n",
                       weft__fold_unroll(w->kernel));
    else
        weft__text_add(&w->text, "#define UNROLL_SOME\n");
    weft__text_add(&w->text, "typedef struct {");
    FOR_EACH_FOLD(w, k)
    weft__text_add(&w->text, " %s a%u;", field_type(w, k), k);
    weft__text_add(&w->text, " } partial;\n");
    write_combine(w);
    write_nothing(w);
    write_keeping(w);
    write_element(w);
    if (cpu && (branches = w->skips.count > 0))
        write_fast_element(w);
    write_finish(w);
    if (cpu) {
        weft__text_add(&w->text, "%s", halving_text);
        weft__write_fold_cpu(w, partial_bytes(w), branches, source);
        return;
    }
    weft__text_add(&w->text, "%s%s",
                   !lanes ? runs_text
                   : gpu  ? weft__fold_lanes_gpu
                          : lanes_text,
                   halving_text);
    if (gpu && w->shape.stage == WEFT__STAGE_FINISH) {
        weft__write_finish_gpu(w, partial_bytes(w), source);
        return;
    }
    source->group = 128;
    source->points = by_item ? 128 : 1;
    weft__write_kernel(w, source->group);
    weft__text_add(&w->text, "%s", stage_text(w, lanes));
}
