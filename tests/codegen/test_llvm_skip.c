/* Values that are skipped where no lane needs them: the compiling engine against the interpreter,
 * on arguments of which none, some or all are rare. */
#include "codegen/test_llvm.h"
#include "kernel/math.h"

enum { MOST = 300 };

/* Of each type: an argument that math functions take in their stride, and one that they do not. */
static double common_argument(void) { return (double)random_below(20000) / 4096 - 2; }

static double rare_argument(void)
{
    static const double rare[] = {1e7, -3e9, 1e30, -1e-30, 0, 710, -1e4, 171.5, -0.5, 1e-40};
    return rare[random_below(10)] * (1 + (double)random_below(100) / 128);
}

/* Both engines on the same arguments, bit by bit, and the interpreter on one element at a time,
 * which needs all or nothing of what may be skipped. */
static bool compare(const weft__kernel *kernel, const weft__image *images, weft_dtype dtype,
                    int64_t count, int64_t rarity)
{
    double in[2][MOST];
    uint64_t out[3][MOST];
    struct tiny_launch at;
    struct tiny shape = {.kernel = *kernel};
    for (int k = 0; k < 2; k++)
        for (int64_t j = 0; j < count; j++) {
            const double x =
                rarity > 0 && random_below(rarity) == 0 ? rare_argument() : common_argument();
            if (dtype == WEFT_F64)
                in[k][j] = x;
            else
                ((float *)(void *)in[k])[j] = (float)x;
        }
    memset(out, 0, sizeof out);
    for (int engine = 0; engine < 3; engine++) {
        const int64_t element = (int64_t)weft_dtype_size(dtype);
        launch_begin(&at, &shape, 1, &count);
        for (uint32_t k = 0; k + 1 < kernel->operands_count; k++)
            launch_argument(&at, (int)k, in[k], &element);
        launch_argument(&at, (int)kernel->operands_count - 1, out[engine],
                        &(int64_t){(int64_t)weft_dtype_size(
                            kernel->operands[kernel->operands_count - 1].dtype)});
        const weft__image *image = &images[engine % 2];
        const int64_t step = engine == 2 ? 1 : count;
        for (int64_t j = 0; j < count; j += step)
            image->entry(image->program, &at.launch, j, j + step);
    }
    CHECK_OR(memcmp(out[0], out[1], sizeof out[0]) == 0, false);
    CHECK_OR(memcmp(out[0], out[2], sizeof out[0]) == 0, false);
    return true;
}

static weft_status compile_both(const weft__kernel *kernel, weft__image *images)
{
    struct tiny_launch at;
    struct tiny shape = {.kernel = *kernel};
    static int number;
    weft__effort effort = number++ % 2 ? WEFT__EFFORT_QUICK : WEFT__EFFORT_FULL;
    weft__object object = {0};
    launch_begin(&at, &shape, 1, &(int64_t){MOST});
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        launch_argument(&at, (int)k, NULL,
                        &(int64_t){(int64_t)weft_dtype_size(kernel->operands[k].dtype)});
    weft_status status = weft__interpreter_compile(kernel, &images[0]);
    if (status == WEFT_OK)
        status = weft__llvm_compile(kernel, &at.launch, &effort, &object);
    if (status == WEFT_OK)
        status = weft__object_load(&object, &images[1]);
    weft__object_free(&object);
    return status;
}

static bool check_kernel(const weft__kernel *kernel, weft_dtype dtype)
{
    static const int64_t counts[] = {1, 2, 15, 16, 17, 32, 33, 100, MOST};
    weft__image images[2] = {{0}, {0}};
    bool passed = compile_both(kernel, images) == WEFT_OK;
    for (int k = 0; passed && k < 9; k++)
        for (int rarity = 0; passed && rarity < 4; rarity++)
            passed = compare(kernel, images, dtype, counts[k],
                             rarity == 0   ? 0
                             : rarity == 1 ? 1
                             : rarity == 2 ? 2
                                           : 40);
    image_release(&images[0]);
    image_release(&images[1]);
    CHECK_OR(passed, false);
    return true;
}

static weft_status build_function(weft__builder *builder, weft__math_function function,
                                  weft_dtype dtype)
{
    const weft__math_facts *facts = &weft__math_functions[function];
    const weft_dtype result = facts->boolean ? WEFT_BOOL : dtype;
    int32_t arguments[2] = {0, 0};
    weft__build_begin(builder);
    builder->kernel.ndim = 1;
    for (int k = 0; k < facts->arity; k++)
        arguments[k] =
            weft__build_load(builder, weft__build_operand(builder, dtype, false)).part[0];
    const int32_t value = weft__math(builder, function, dtype, arguments[0], arguments[1]);
    weft__build_store(builder, weft__build_operand(builder, result, true),
                      (weft__element){.part = {value}, .dtype = result});
    return weft__build_finish(builder);
}

static bool check_function(weft__math_function function, weft_dtype dtype)
{
    weft__builder builder;
    const bool passed = build_function(&builder, function, dtype) == WEFT_OK &&
                        check_kernel(&builder.kernel, dtype);
    weft__build_free(&builder);
    return passed;
}

TEST(math_functions)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    {
        if (isa == 0) /* has no fma */
            continue;
        for (int k = 0; k < WEFT__MATH_COUNT; k++)
            if (!test_quick() || k % 4 == isa) {
                CHECK(check_function((weft__math_function)k, WEFT_F32));
                CHECK(check_function((weft__math_function)k, WEFT_F64));
            }
    }
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* Long code is made once, with what it rarely needs in its midst: asinh has 16 products and sums of
 * one rounding. */
TEST(made_once)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    {
        weft__builder builder;
        struct tiny_launch at;
        char *text = NULL;
        if (isa == 0) /* has no fma */
            continue;
        const weft_status built = build_function(&builder, WEFT__MATH_asinh, WEFT_F32);
        if (built != WEFT_OK)
            weft__build_free(&builder);
        CHECK_STATUS(built, WEFT_OK);
        struct tiny shape = {.kernel = builder.kernel};
        launch_begin(&at, &shape, 1, &(int64_t){MOST});
        for (int k = 0; k < 2; k++)
            launch_argument(&at, k, NULL, &(int64_t){sizeof(float)});
        const weft_status status = weft__llvm_explain(&builder.kernel, &at.launch, &text);
        weft__build_free(&builder);
        CHECK_STATUS(status, WEFT_OK);
        const int fused = count_of(text, "vfm") + count_of(text, "vfnm") + count_of(text, "fmla");
        weft__free(text);
        CHECK(fused > 0 && fused <= 20);
    }
}

/* A chain of work on x that ends in one value. */
static int chain(struct tiny *tiny, int x, int length, uint32_t seed)
{
    int sum = x;
    for (int k = 0; k < length; k++) {
        const int by = tiny_constant(tiny, WEFT_F32, 0x3f800000U + seed + (uint32_t)k * 77);
        sum = tiny_value(tiny, k % 2 ? WEFT__OP_add : WEFT__OP_mul, WEFT_F32, sum, by, 0);
    }
    return sum;
}

/* where(x < y, f(x), g(y)), with more of the same inside of f and g, and values that both need. */
static int choice(struct tiny *tiny, int x, int y, int depth)
{
    const int less = tiny_value(tiny, depth % 2 ? WEFT__OP_lt : WEFT__OP_le, WEFT_BOOL, x, y, 0);
    const int f = chain(tiny, x, 20, (uint32_t)depth), g = chain(tiny, y, 20, 5000);
    const int inner = depth > 0 ? choice(tiny, f, g, depth - 1) : f;
    const int shared = chain(tiny, inner, 3, 9);
    const int yes = tiny_value(tiny, WEFT__OP_add, WEFT_F32, chain(tiny, shared, 20, 1), x, 0);
    const int no = tiny_value(tiny, WEFT__OP_sub, WEFT_F32, chain(tiny, y, 20, 2), shared, 0);
    const int first = tiny_value(tiny, WEFT__OP_select, WEFT_F32, less, yes, no);
    const int second = tiny_value(tiny, WEFT__OP_select, WEFT_F32, less, g, f);
    return tiny_value(tiny, WEFT__OP_add, WEFT_F32, first, second, 0);
}

TEST(choices)
{
    NEEDS_LLVM;
    struct tiny tiny;
    FOR_EACH_ISA
    for (int depth = 0; depth < 4; depth++) {
        tiny_begin(&tiny);
        const int x = tiny_load(&tiny, WEFT_F32), y = tiny_load(&tiny, WEFT_F32);
        tiny_store(&tiny, WEFT_F32, choice(&tiny, x, y, depth));
        CHECK(check_kernel(&tiny.kernel, WEFT_F32));
    }
}

#define LONG "compiles very many kernels; test_llvm covers it"
TEST_MAIN(TEST_NO_FAULTS(choices, LONG), TEST_NO_FAULTS(math_functions, LONG), TEST_OF(made_once));
