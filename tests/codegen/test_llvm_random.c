/* Random kernels and copies of random layouts and sizes: the compiling engine against the
 * interpreter. */
#include "codegen/llvm/target.h"
#include "codegen/random_kernels.h"
#include "codegen/test_llvm.h"

static bool random_trial(int operations)
{
    static struct trial trial;
    struct tiny_launch at;
    bool passed = random_trial_make(&trial, operations);
    if (passed) {
        trial_launch(&trial, 1, &at);
        const weft__kernel *kernel = &trial.tiny.kernel;
        const bool compiles = strcmp(weft__interpreter_isa(), "baseline") != 0 ||
                              weft__llvm_wants(kernel, &at.launch);
        passed = !compiles || trial_run(&trial, random_below(3) == 0 ? 1 : 0);
    }
    trial_drop(&trial);
    return passed;
}

TEST(random_kernels)
{
    NEEDS_LLVM;
    const char *text = getenv("WEFT_TEST_KERNELS");
    const int kernels = text != NULL ? atoi(text) : test_quick() ? 40 : 400;
    const bool narrow = weft__target_host().narrow;
    FOR_EACH_ISA
    for (int k = 0; k < kernels; k++) {
        weft__target_set_narrow(random_below(2) != 0);
        CHECK(random_trial(k % 4 == 0 ? 60 : k % 4 * 4));
    }
    weft__target_set_narrow(narrow);
}

/* out = a, with elements of some size and both arrays laid out in some way. */
static bool check_copy(const struct space *space, weft_dtype dtype, enum layout_kind from,
                       enum layout_kind to)
{
    static struct trial trial;
    const int64_t element = (int64_t)weft_dtype_size(dtype);
    memset(&trial, 0, sizeof trial);
    trial.space = *space;
    tiny_begin(&trial.tiny);
    tiny_store(&trial.tiny, dtype, tiny_load(&trial.tiny, dtype));
    trial.layout[0] = layout_make(space, element, from);
    trial.layout[1] = layout_make(space, element, to);
    const bool passed = trial_allocate(&trial) && trial_run(&trial, random_below(3) == 0 ? 1 : 0);
    trial_drop(&trial);
    return passed;
}

static const weft_dtype copied[] = {WEFT_U8, WEFT_BF16, WEFT_F32, WEFT_F64, WEFT_BOOL, WEFT_F16};

TEST(copies_of_any_layout)
{
    NEEDS_LLVM;
    static const int64_t sizes[] = {1, 15, 16, 17, 63, 64, 65, 129, 1000, 4097};
    const bool narrow = weft__target_host().narrow;
    FOR_EACH_ISA
    for (int k = 0; k < (test_quick() ? 30 : 300); k++) {
        const int64_t size = sizes[k % 10];
        weft__target_set_narrow(k % 2 != 0);
        const struct space space = k % 3 ? random_space() : space_make(1, &size);
        CHECK(check_copy(&space, copied[random_below(6)],
                         (enum layout_kind)random_below(LAYOUT_KINDS),
                         (enum layout_kind)random_below(LAYOUT_BROADCAST)));
    }
    weft__target_set_narrow(narrow);
}

#define LONG "compiles very many kernels; test_llvm covers it"
TEST_MAIN(TEST_NO_FAULTS(copies_of_any_layout, LONG), TEST_NO_FAULTS(random_kernels, LONG));
