/* Which engine runs a kernel: the swap from one to the other, what is compiled and what is not, and
 * the choices of the user. */
#include "codegen/llvm/target.h"
#include "kernel/engines.h"
#include <stdatomic.h>

/* A maker whose code counts its runs. */
static _Atomic long compiled_runs;

static void count_run(const void *program, const weft__launch *launch, int64_t begin, int64_t end)
{
    const weft__image *image = program;
    atomic_fetch_add(&compiled_runs, 1);
    image->entry(image->program, launch, begin, end);
}

static void drop_counted(void *program)
{
    weft__image *image = program;
    if (image->destroy)
        image->destroy(image->program);
    weft__free(image);
}

static weft_status make_counted(const weft__kernel *kernel, const weft__launch *sample,
                                weft__effort *effort, weft__image *image)
{
    (void)sample;
    *effort = WEFT__EFFORT_FULL;
    weft__image *inner = weft__allocate_zeroed(sizeof *inner);
    if (!inner)
        return WEFT_ERROR_MEMORY;
    const weft_status status = weft__interpreter_compile(kernel, inner);
    if (status != WEFT_OK) {
        weft__free(inner);
        return status;
    }
    *image = (weft__image){count_run, inner, drop_counted};
    return WEFT_OK;
}

TEST(a_swap_takes_effect)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_counted);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 2.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(100), 0.0f);
    CHECK(a && c);
    weft__background_wait();
    const long before = atomic_load(&compiled_runs);
    for (int i = 0; i < 5; i++) { /* one call site, which keeps what it found */
        CHECK_STATUS(weft(c = a * a + 1, a, c), WEFT_OK);
        weft__background_wait();
        CHECK_INT(atomic_load(&compiled_runs) - before, i < 2 ? 0 : i - 1);
    }
    float value;
    CHECK_STATUS(weft_item(c, &value), WEFT_OK);
    CHECK(value == 5);
}

TEST(a_swap_keeps_the_bits)
{
    enum { N = 5000 };
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    static float x[N], y[N], first[N], later[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i - N / 2) * 1.37f;
        y[i] = 1.0f / (float)(i + 1);
    }
    WEFT_AUTO weft_array *a = weft_from_host(x, sizeof x, WEFT_SHAPE(N), .dtype = WEFT_F32);
    WEFT_AUTO weft_array *b = weft_from_host(y, sizeof y, WEFT_SHAPE(N), .dtype = WEFT_F32);
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(N), .dtype = WEFT_F32);
    CHECK(a && b && c);
    const weft_statistics before = counters();
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(weft(c = 1.0f / b + 2.0f * a * b, a, b, c), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(c, i ? later : first, sizeof first), WEFT_OK);
        CHECK(!i || memcmp(first, later, sizeof first) == 0);
        weft__background_wait();
    }
    CHECK(counters().compilations_llvm > before.compilations_llvm);
    CHECK_INT(counters().compilations_waiting, 0);
    for (int i = 0; i < N; i++)
        CHECK(first[i] == 1.0f / y[i] + 2.0f * x[i] * y[i]);
}

static bool scale_is_right(weft_array *array, float by)
{
    WEFT_AUTO weft_array *doubled = weft_empty_like(array);
    double sum = 0, expected = 0;
    CHECK_OR(doubled && weft(doubled = array * by, doubled, array, by) == WEFT_OK, false);
    CHECK_OR(weft_value(&sum, sum(f64(doubled)), doubled) == WEFT_OK, false);
    CHECK_OR(weft_value(&expected, sum(f64(array)), array) == WEFT_OK, false);
    return sum == expected * (double)by;
}

/* Whole numbers, so that every sum is exact. */
static weft_array *count_up(int rows, int columns)
{
    WEFT_AUTO weft_array *flat = weft_arange(0, rows * columns, 1, .dtype = WEFT_F32);
    return weft_reshape(flat, WEFT_SHAPE(rows, columns));
}

TEST(a_new_shape_stride_or_scalar_compiles_nothing)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_interpreted);
    WEFT_AUTO weft_array *all = count_up(60, 70);
    CHECK(all);
    weft_statistics before = {0};
    for (int round = 0; round < 3; round++) {
        for (int n = 3; n < 60; n += 7) {
            WEFT_AUTO weft_array *part = weft_slice(all, WEFT_RANGE(0, n), WEFT_RANGE(n % 5, 60));
            CHECK(part);
            CHECK(scale_is_right(part, (float)(n + round)));
            CHECK(scale_is_right(all, (float)n));
            if (round == 0 && n == 10) {
                weft__background_wait();
                before = counters(); /* both the array's rows and a part's have run twice */
            }
        }
    }
    weft__background_wait();
    const weft_statistics after = counters();
    CHECK(before.compilations_llvm > 0);
    CHECK_INT(after.compilations, before.compilations);
    CHECK_INT(after.compilations_llvm, before.compilations_llvm);
    CHECK_INT(after.compilations_loaded, before.compilations_loaded);
}

TEST(layouts_have_code_of_their_own)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    WEFT_AUTO weft_array *all = count_up(40, 50);
    CHECK(all);
    WEFT_AUTO weft_array *other = weft_transpose(all);
    WEFT_AUTO weft_array *back = weft_slice(all, WEFT_ALL, WEFT_REVERSED);
    WEFT_AUTO weft_array *apart = weft_slice(all, WEFT_ALL, WEFT_STEP(0, 50, 3));
    WEFT_AUTO weft_array *row = weft_broadcast(all, WEFT_SHAPE(3, 40, 50));
    weft_array *const arrays[] = {all, other, back, apart, row};
    CHECK(other && back && apart && row);
    for (int i = 0; i < 10; i++)
        CHECK(scale_is_right(arrays[i % 5], (float)(i + 1)));
}

TEST(small_work_that_is_done_once_is_not_compiled)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_interpreted);
    const uint64_t before = counters().compilations_llvm;
    for (int k = 20; k < 40; k++)
        CHECK(is_right(k, 50));
    weft__background_wait();
    const uint64_t once = counters().compilations_llvm;
    CHECK(once - before < 5); /* what moves the arrays in and out runs more than once */
    CHECK(is_right(20, 50));
    weft__background_wait();
    CHECK_INT(counters().compilations_llvm, once + 1);
    CHECK(is_right(41, COUNT_MOST));
    weft__background_wait();
    CHECK_INT(counters().compilations_llvm, once + 2);
}

TEST(a_maker_that_fails_is_not_heard_of)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(NULL);
    setenv("WEFT_LLVM", "/no/such/libLLVM.so", 1);
    const bool passes = test_passes_alone("alone_without_llvm");
    unsetenv("WEFT_LLVM");
    CHECK(passes);
}

TEST(alone_without_llvm)
{
    if (!test_alone())
        SKIP("is run by a_maker_that_fails_is_not_heard_of");
    weft__engine_choose(WEFT__ENGINE_AUTO);
    for (int i = 0; i < 4; i++) {
        CHECK(is_right(3, COUNT_MOST));
        weft__background_wait();
    }
    CHECK_INT(weft_error_code(), WEFT_OK);
    CHECK_INT(counters().compilations_llvm, 0);
    CHECK_INT(counters().compilations_waiting, 0);
}

static bool passes_with(const char *variable, const char *value, const char *name)
{
    const char *before = getenv(variable);
    char *kept = before ? strdup(before) : NULL;
    setenv(variable, value, 1);
    const bool passes = test_passes_alone(name);
    if (kept)
        setenv(variable, kept, 1);
    else
        unsetenv(variable);
    free(kept);
    return passes;
}

TEST(wrong_choices_are_errors)
{
    CHECK(passes_with("WEFT_ENGINE", "turbo", "alone_wrong_engine"));
    CHECK(passes_with("WEFT_CACHE", "maybe", "alone_wrong_cache"));
}

TEST(alone_wrong_engine)
{
    if (!test_alone())
        SKIP("is run by wrong_choices_are_errors");
    for (int i = 0; i < 2; i++) {
        CHECK(!weft_full(WEFT_SHAPE(10), 1));
        CHECK_ERROR(WEFT_ERROR_ARGUMENT,
                    "WEFT_ENGINE is 'turbo'; auto, interpreter, llvm or quick");
    }
}

TEST(alone_wrong_cache)
{
    if (!test_alone())
        SKIP("is run by wrong_choices_are_errors");
    CHECK(!weft_full(WEFT_SHAPE(10), 1));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "WEFT_CACHE is 'maybe'; on or off");
}

TEST(llvm_without_libllvm_is_an_error)
{
    setenv("WEFT_LLVM", "/no/such/libLLVM.so", 1);
    const bool passes = passes_with("WEFT_ENGINE", "llvm", "alone_llvm_is_missing");
    unsetenv("WEFT_LLVM");
    CHECK(passes);
}

TEST(alone_llvm_is_missing)
{
    if (!test_alone())
        SKIP("is run by llvm_without_libllvm_is_an_error");
    weft__disk_choose("");
    if (weft__target_host().isa == WEFT__ISA_NONE)
        return;
    CHECK(!weft_full(WEFT_SHAPE(100000), 1.0f));
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "WEFT_ENGINE is llvm");
    CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "/no/such/libLLVM.so");
}

#define NO_FAULTS "another process has no part in the count of allocations"
#define LLVM_ALLOCATES "takes too long where each of very many allocations fails"

TEST_MAIN(TEST_OF(a_swap_takes_effect), TEST_NO_FAULTS(a_swap_keeps_the_bits, LLVM_ALLOCATES),
          TEST_OF(a_new_shape_stride_or_scalar_compiles_nothing),
          TEST_NO_FAULTS(layouts_have_code_of_their_own, LLVM_ALLOCATES),
          TEST_OF(small_work_that_is_done_once_is_not_compiled),
          TEST_NO_FAULTS(a_maker_that_fails_is_not_heard_of, NO_FAULTS),
          TEST_NO_FAULTS(alone_without_llvm, NO_FAULTS),
          TEST_NO_FAULTS(wrong_choices_are_errors, NO_FAULTS),
          TEST_NO_FAULTS(alone_wrong_engine, NO_FAULTS),
          TEST_NO_FAULTS(alone_wrong_cache, NO_FAULTS),
          TEST_NO_FAULTS(llvm_without_libllvm_is_an_error, NO_FAULTS),
          TEST_NO_FAULTS(alone_llvm_is_missing, NO_FAULTS));
