/* What a kernel computes several times is one function in quick code: what is found, and kernels
 * that call such functions run to the same bits. */
#include "codegen/llvm/outline.h"
#include "codegen/test_llvm.h"
#include "kernel/math.h"

enum { MOST = 300, TIMES_MOST = 12 };

/* Where the results of a function go. */
enum shape {
    CHAIN, /* to the next time */
    SUM,   /* each of another argument: all are added */
    CHOICE /* to the next time, in some lanes */
};

static int32_t times(weft__builder *builder, weft__math_function function, weft_dtype dtype,
                     const int32_t *from, enum shape shape, int count)
{
    int32_t result = from[0];
    for (int k = 0; k < count; k++) {
        const int32_t by = weft__build_constant(
            builder, dtype, dtype == WEFT_F64 ? 0x3fe0000000000000 : 0x3f000000);
        int32_t x = result;
        if (shape == SUM)
            x = weft__build(builder, WEFT__OP_mul, dtype, from[k % 2], k % 3 ? by : from[0], 0);
        int32_t y = weft__math(builder, function, dtype, x, from[1]);
        if (shape == SUM && k > 0)
            y = weft__build(builder, WEFT__OP_add, dtype, result, y, 0);
        if (shape == CHOICE) {
            const int32_t less = weft__build(builder, WEFT__OP_lt, WEFT_BOOL, from[k % 2], by, 0);
            y = weft__build(builder, WEFT__OP_select, dtype, less, y, result);
        }
        result = y;
    }
    return result;
}

static weft_status build(weft__builder *builder, weft__math_function function, weft_dtype dtype,
                         enum shape shape, int count)
{
    int32_t from[2];
    weft__build_begin(builder);
    builder->kernel.ndim = 1;
    for (int k = 0; k < 2; k++)
        from[k] = weft__build_load(builder, weft__build_operand(builder, dtype, false)).part[0];
    const int32_t result = times(builder, function, dtype, from, shape, count);
    weft__build_store(builder, weft__build_operand(builder, dtype, true),
                      (weft__element){.part = {result}, .dtype = dtype});
    return weft__build_finish(builder);
}

static void begin_launch(const weft__kernel *kernel, struct tiny_launch *at, int64_t count)
{
    const struct tiny shape = {.kernel = *kernel};
    launch_begin(at, &shape, 1, &count);
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        launch_argument(at, (int)k, NULL,
                        &(int64_t){(int64_t)weft_dtype_size(kernel->operands[k].dtype)});
}

static int calls_in(const weft__kernel *kernel)
{
    int calls = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        calls += kernel->values[k].op == WEFT__OP_call;
    return calls;
}

/* Ends a kernel, frees it, and says how many functions and calls there are in its outline. */
static bool outline(weft__builder *builder, weft_status built, int *functions, int *calls)
{
    struct tiny_launch at;
    weft__survey survey = {0};
    weft__outline outline = {.count = 0};
    begin_launch(&builder->kernel, &at, MOST);
    const bool made = built == WEFT_OK &&
                      weft__survey_make(&builder->kernel, &at.launch, &survey) == WEFT_OK &&
                      weft__outline_make(&survey, &outline) == WEFT_OK;
    *functions = outline.count;
    *calls = outline.count > 0 ? calls_in(&outline.kernel) : 0;
    weft__outline_free(&outline);
    weft__survey_free(&survey);
    weft__build_free(builder);
    return made;
}

static bool finds(weft__math_function function, enum shape shape, int count, int functions,
                  int calls)
{
    weft__builder builder;
    int found, called;
    const weft_status built = build(&builder, function, WEFT_F32, shape, count);
    CHECK_OR(outline(&builder, built, &found, &called), false);
    CHECK_OR(found == functions && called == calls, false);
    return true;
}

TEST(functions_are_found)
{
    CHECK(finds(WEFT__MATH_sin, CHAIN, 8, 1, 8));
    CHECK(finds(WEFT__MATH_sin, CHOICE, 8, 1, 8));
    CHECK(finds(WEFT__MATH_sin, SUM, 8, 1, 8));
    CHECK(finds(WEFT__MATH_exp, CHAIN, 20, 1, 20));
    CHECK(finds(WEFT__MATH_pow, CHAIN, 3, 1, 3));
    CHECK(finds(WEFT__MATH_sin, CHAIN, 1, 0, 0)); /* nothing is repeated */
    CHECK(finds(WEFT__MATH_exp, CHAIN, 3, 0, 0)); /* it is too little */
}

/* Sixteen times a row of 20 values, each with a constant that is made of another by `deep`
 * products: all by the same one, or each by one of its own. */
static bool rows_of_constants(int deep, bool same, int *functions)
{
    weft__builder builder;
    int calls;
    weft__build_begin(&builder);
    builder.kernel.ndim = 1;
    int32_t y = weft__build_load(&builder, weft__build_operand(&builder, WEFT_F32, false)).part[0];
    for (int k = 0; k < 16; k++) {
        int32_t c = weft__build_constant(&builder, WEFT_F32, 0x3f000000 + (same ? 0 : (uint64_t)k));
        for (int j = 0; j < deep; j++)
            c = weft__build(&builder, WEFT__OP_mul, WEFT_F32, c, c, 0);
        for (int j = 0; j < 20; j++)
            y = weft__build(&builder, j % 3 ? WEFT__OP_fma : WEFT__OP_mul, WEFT_F32, y, c, y);
    }
    weft__build_store(&builder, weft__build_operand(&builder, WEFT_F32, true),
                      (weft__element){.part = {y}, .dtype = WEFT_F32});
    return outline(&builder, weft__build_finish(&builder), functions, &calls);
}

/* What is made of constants is compared as what it is made of … */
TEST(rows_of_other_constants_are_not_alike)
{
    int functions;
    for (int deep = 0; deep < 3; deep++) {
        CHECK(rows_of_constants(deep, true, &functions));
        CHECK_INT(functions, 1);
        CHECK(rows_of_constants(deep, false, &functions));
        CHECK_INT(functions, 0);
    }
}

/* … of which there may be far too much. */
TEST(deep_constants_take_no_time)
{
    int functions;
    CHECK(rows_of_constants(40, true, &functions));
}

static void fill(void *to, weft_dtype dtype, int64_t count)
{
    static const double rare[] = {1e7, -3e9, 1e30, -1e-30, 0, 710, -1e4, 171.5, -0.5, 1e-40};
    for (int64_t j = 0; j < count; j++) {
        const double x =
            random_below(9) == 0 ? rare[random_below(10)] : (double)random_below(20000) / 4096 - 2;
        if (dtype == WEFT_F64)
            ((double *)to)[j] = x;
        else
            ((float *)to)[j] = (float)x;
    }
}

static bool compare(const weft__kernel *kernel, const weft__image *images, weft_dtype dtype,
                    int64_t count)
{
    double in[2][MOST];
    uint64_t out[2][MOST];
    struct tiny_launch at;
    const int64_t element = (int64_t)weft_dtype_size(dtype);
    fill(in[0], dtype, count);
    fill(in[1], dtype, count);
    memset(out, 0, sizeof out);
    for (int engine = 0; engine < 2; engine++) {
        begin_launch(kernel, &at, count);
        launch_argument(&at, 0, in[0], &element);
        launch_argument(&at, 1, in[1], &element);
        launch_argument(&at, 2, out[engine], &element);
        images[engine].entry(images[engine].program, &at.launch, 0, count);
    }
    CHECK_OR(memcmp(out[0], out[1], sizeof out[0]) == 0, false);
    return true;
}

static bool same_bits(weft__math_function function, weft_dtype dtype, enum shape shape, int count)
{
    static const int64_t counts[] = {1, 7, 16, 33, MOST};
    weft__builder builder;
    struct tiny_launch at;
    weft__image images[2] = {{0}, {0}};
    weft__object object = {0};
    weft__effort effort = WEFT__EFFORT_QUICK;
    bool passed = build(&builder, function, dtype, shape, count) == WEFT_OK;
    begin_launch(&builder.kernel, &at, MOST);
    passed = passed && weft__interpreter_compile(&builder.kernel, &images[0]) == WEFT_OK &&
             weft__llvm_compile(&builder.kernel, &at.launch, &effort, &object) == WEFT_OK &&
             weft__object_load(&object, &images[1]) == WEFT_OK;
    for (int k = 0; passed && k < 5; k++)
        passed = compare(&builder.kernel, images, dtype, counts[k]);
    weft__object_free(&object);
    image_release(&images[0]);
    image_release(&images[1]);
    weft__build_free(&builder);
    CHECK_OR(passed, false);
    return true;
}

TEST(bits_of_every_function)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    {
        if (isa == 0) /* has no fma */
            continue;
        for (int k = 0; k < 6 * WEFT__MATH_COUNT; k++)
            if (!weft__math_functions[k / 6].boolean && (!test_quick() || k % 4 == isa))
                CHECK(same_bits((weft__math_function)(k / 6), k % 2 ? WEFT_F64 : WEFT_F32,
                                (enum shape)(k % 6 / 2), 2 + (k / 6 + k) % TIMES_MOST));
    }
}

TEST(made_and_freed)
{
    NEEDS_LLVM;
    CHECK(same_bits(WEFT__MATH_sin, WEFT_F32, CHAIN, 6));
}

#define LONG "compiles very many kernels; made_and_freed covers it"
TEST_MAIN(TEST_OF(functions_are_found), TEST_OF(rows_of_other_constants_are_not_alike),
          TEST_OF(deep_constants_take_no_time), TEST_NO_FAULTS(bits_of_every_function, LONG),
          TEST_OF(made_and_freed));
