/* Kernels of which rows, or all of it, become machine code of our own: the compiling engine against
 * the interpreter. */
#include "codegen/test_llvm.h"
#include "codegen/x86_kernels.h"

static struct x86_trial trial;
static struct x86_growth growth;

/* On dense operands, or on some with gaps, which are not moved as they lie. */
static const weft__launch *launch(char *outputs, bool gaps)
{
    static struct {
        weft__launch launch;
        char room[X86_OPERANDS * sizeof(weft__argument)];
    } at;
    memset(&at.launch, 0, sizeof at.launch);
    at.launch.ndim = 1;
    at.launch.arguments_count = (uint16_t)trial.kernel.operands_count;
    at.launch.count = at.launch.size[0] = trial.count;
    for (uint32_t k = 0; k < trial.kernel.operands_count; k++) {
        const int64_t size = (int64_t)weft_dtype_size(trial.operands[k].dtype);
        weft__launch_arguments(&at.launch)[k] = (weft__argument){
            .data = x86_element(&trial, trial.operands[k].output ? outputs : trial.given, k, 0),
            .stride = {gaps && k % 2 ? X86_CELL : size}};
    }
    return &at.launch;
}

static void fill(bool gaps)
{
    for (uint32_t k = 0; k < trial.kernel.operands_count; k++) {
        const weft_dtype dtype = (weft_dtype)trial.operands[k].dtype;
        const int64_t step = gaps && k % 2 ? X86_CELL / (int64_t)weft_dtype_size(dtype) : 1;
        uint64_t corner[CORNERS_MAX];
        const int corners = corners_of(dtype, corner);
        int kind = 0;
        for (int64_t at = 0; !trial.operands[k].output && at < trial.count; at++) {
            kind = at % 16 ? kind : (int)random_below(7);
            const uint64_t bits = dtype == WEFT_BOOL ? x86_truth(kind, (int)(at % 16), 16, 3)
                                  : random_below(3)  ? random_of(dtype)
                                                     : corner[random_below(corners)];
            element_write(x86_element(&trial, trial.given, k, 0), at * step, dtype, bits);
        }
    }
}

/* Both engines leave the same bytes, also where they should write nothing. */
static bool same(weft__effort effort, bool gaps)
{
    weft__object object = {0};
    weft__image images[2] = {{0}, {0}};
    const size_t bytes = trial.kernel.operands_count * (size_t)trial.count * X86_CELL;
    CHECK_OR(bytes <= X86_MEMORY, false);
    fill(gaps);
    memset(trial.expected, 0xee, bytes);
    memset(trial.made, 0xee, bytes);
    bool passed =
        weft__interpreter_compile(&trial.kernel, &images[0]) == WEFT_OK &&
        weft__llvm_compile(&trial.kernel, launch(trial.made, gaps), &effort, &object) == WEFT_OK &&
        weft__object_load(&object, &images[1]) == WEFT_OK;
    if (passed) {
        images[0].entry(images[0].program, launch(trial.expected, gaps), 0, trial.count);
        images[1].entry(images[1].program, launch(trial.made, gaps), 0, trial.count);
        passed = memcmp(trial.expected, trial.made, bytes) == 0;
    }
    weft__object_free(&object);
    image_release(&images[0]);
    image_release(&images[1]);
    if (!passed)
        x86_print(&trial);
    CHECK_OR(passed, false);
    return true;
}

/* To try others, WEFT_TEST_KERNELS says how many and WEFT_TEST_SEED which. */
TEST(random_kernels)
{
    NEEDS_LLVM;
    const char *kernels = getenv("WEFT_TEST_KERNELS"), *text = getenv("WEFT_TEST_SEED");
    const int count = kernels != NULL ? atoi(kernels) : test_quick() ? 15 : 250;
    const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
    weft__interpreter_isa_choose(NULL);
    for (int k = 0; k < count; k++) {
        random_state = (seed + (uint64_t)k) * 0x9e3779b97f4a7c15U | 1;
        x86_random_kernel(&growth, &trial, 50 + (int)random_below(200));
        trial.count = 1 + random_below(150);
        const bool passed = same(WEFT__EFFORT_QUICK, random_below(3) == 0);
        if (!passed)
            fprintf(stderr, "WEFT_TEST_KERNELS=1 WEFT_TEST_SEED=%llu\n",
                    (unsigned long long)(seed + (uint64_t)k));
        CHECK(passed);
    }
}

/* Hundreds of kilobytes of machine code, in one function. */
TEST(long_code)
{
    NEEDS_LLVM;
    x86_begin(&trial);
    int x = x86_load(&trial, WEFT_I64);
    const int y = x86_load(&trial, WEFT_I64);
    for (int k = 0; k < 6000; k++)
        x = x86_value(&trial, k % 2 ? WEFT__OP_xor : WEFT__OP_mul_high, WEFT_I64, x, y, 0);
    x86_store(&trial, x);
    trial.count = 100;
    CHECK(same(WEFT__EFFORT_QUICK, false));
    CHECK(same(WEFT__EFFORT_FULL, true));
}

/* A frame of machine code has no room for what lives at once here, so that LLVM makes it all. Nor
 * has the interpreter; but all values are the one that is given. */
TEST(too_many_values_for_a_frame)
{
    NEEDS_LLVM;
    enum { LIVE = 800, COUNT = 50 };
    static int value[LIVE];
    weft__object object = {0};
    weft__image image = {0};
    weft__effort effort = WEFT__EFFORT_QUICK;
    x86_begin(&trial);
    int sum = x86_load(&trial, WEFT_F64);
    const int first = sum;
    for (int k = 0; k < LIVE; k++)
        value[k] = sum = x86_value(&trial, WEFT__OP_abs, WEFT_F64,
                                   x86_value(&trial, WEFT__OP_neg, WEFT_F64, sum, 0, 0), 0, 0);
    for (int k = 0; k < LIVE; k++)
        sum = x86_value(&trial, k % 2 ? WEFT__OP_min : WEFT__OP_max, WEFT_F64, sum, value[k], 0);
    x86_store(&trial, x86_value(&trial, WEFT__OP_sub, WEFT_F64, sum, first, 0));
    x86_store(&trial, sum);
    trial.count = COUNT;
    fill(false);
    for (int k = 0; k < COUNT; k++)
        element_write(x86_element(&trial, trial.given, 0, 0), k, WEFT_F64,
                      float_bits(WEFT_F64, k + 0.5));
    CHECK_STATUS(weft__llvm_compile(&trial.kernel, launch(trial.made, false), &effort, &object),
                 WEFT_OK);
    const weft_status status = weft__object_load(&object, &image);
    weft__object_free(&object);
    CHECK_STATUS(status, WEFT_OK);
    image.entry(image.program, launch(trial.made, false), 0, COUNT);
    image_release(&image);
    for (int k = 0; k < COUNT; k++) {
        CHECK(element_read(x86_element(&trial, trial.made, 1, 0), k, WEFT_F64) == 0);
        CHECK(element_read(x86_element(&trial, trial.made, 2, 0), k, WEFT_F64) ==
              float_bits(WEFT_F64, k + 0.5));
    }
}

/* One of each kind: machine code alone, and what calls it. */
TEST(made_and_freed)
{
    NEEDS_LLVM;
    random_state = 3;
    x86_random_kernel(&growth, &trial, 120);
    trial.count = 40;
    CHECK(same(WEFT__EFFORT_QUICK, false));
    CHECK(same(WEFT__EFFORT_QUICK, true));
}

#define LONG "compiles very many kernels; made_and_freed covers it"
TEST_MAIN(TEST_NO_FAULTS(random_kernels, LONG), TEST_NO_FAULTS(long_code, LONG),
          TEST_NO_FAULTS(too_many_values_for_a_frame, LONG), TEST_OF(made_and_freed));
