/* Kernels that take long to compile are compiled twice: quickly, then optimized, which replaces the
 * other when there is nothing else to compile. */
#include "kernel/engines.h"
#include <pthread.h>
#include <stdatomic.h>

enum { KERNELS = 6, ELEMENTS = 300, MOST = 1000 };

/* A maker whose code is the interpreter's, and counts its runs by how it was made. */
static _Atomic long runs[WEFT__EFFORT_QUICK + 1];
static _Atomic int allowed;  /* 0: nothing is made; 1: only quickly; 2: all */
static _Atomic int failures; /* to come, where code is optimized */
static _Atomic int begun_count, optimizing_count, made_count;
static weft__effort made[MOST]; /* in this order */

static void run_quick(const void *program, const weft__launch *launch, int64_t begin, int64_t end)
{
    const weft__image *image = program;
    atomic_fetch_add(&runs[WEFT__EFFORT_QUICK], 1);
    image->entry(image->program, launch, begin, end);
}

static void run_optimized(const void *program, const weft__launch *launch, int64_t begin,
                          int64_t end)
{
    const weft__image *image = program;
    atomic_fetch_add(&runs[WEFT__EFFORT_FULL], 1);
    image->entry(image->program, launch, begin, end);
}

static void drop_image(void *program)
{
    weft__image *image = program;
    image->destroy(image->program);
    weft__free(image);
}

static weft_status make_twice(const weft__kernel *kernel, const weft__launch *sample,
                              weft__effort *effort, weft__image *image)
{
    weft__effort unused;
    weft__image *inner = weft__allocate_zeroed(sizeof *inner);
    const bool full = *effort == WEFT__EFFORT_FULL;
    weft_status status = inner ? WEFT_OK : WEFT_ERROR_MEMORY;
    atomic_fetch_add(&begun_count, 1);
    atomic_fetch_add(&optimizing_count, full);
    while (atomic_load(&allowed) < (full ? 2 : 1))
        wait_ms(1);
    if (status == WEFT_OK && full && atomic_load(&failures) > 0) {
        atomic_fetch_sub(&failures, 1);
        status = WEFT_ERROR_MEMORY;
    }
    if (status == WEFT_OK)
        status = make_interpreted(kernel, sample, &unused, inner);
    if (status != WEFT_OK) {
        weft__free(inner);
        return status;
    }
    *effort = full ? WEFT__EFFORT_FULL : WEFT__EFFORT_QUICK;
    made[atomic_fetch_add(&made_count, 1) % MOST] = *effort;
    *image = (weft__image){full ? run_optimized : run_quick, inner, drop_image};
    return WEFT_OK;
}

static void allow(int *unused)
{
    (void)unused;
    atomic_store(&allowed, 2);
}
/* Ends before the setting does, which waits for the maker. */
#define AUTO_ALLOW __attribute__((cleanup(allow), unused)) int

static int only_quickly(void)
{
    atomic_store(&allowed, 1);
    atomic_store(&failures, 0);
    atomic_store(&begun_count, 0);
    atomic_store(&optimizing_count, 0);
    atomic_store(&made_count, 0);
    for (int k = 0; k <= WEFT__EFFORT_QUICK; k++)
        atomic_store(&runs[k], 0);
    weft__engine_set_maker(make_twice);
    return 0;
}

static void wait_made(uint64_t count)
{
    for (int k = 0; counters().compilations_llvm < count && k < 10000; k++)
        wait_ms(1);
}

/* One call site, which keeps what it found. */
static weft_status square(weft_array *a, weft_array *c) { return weft(c = a * a + 1, a, c); }

TEST(optimized_code_replaces_what_was_made_quickly)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 2.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(100), 0.0f);
    CHECK(a && c);
    weft__background_wait();
    AUTO_ALLOW ending = only_quickly();
    const uint64_t before = counters().compilations_llvm;
    for (int k = 0; k < 2; k++)
        CHECK_STATUS(square(a, c), WEFT_OK);
    wait_made(before + 1);
    CHECK_INT(runs[WEFT__EFFORT_QUICK], 0);
    for (int k = 0; k < 3; k++)
        CHECK_STATUS(square(a, c), WEFT_OK);
    CHECK_INT(runs[WEFT__EFFORT_QUICK], 3);
    CHECK_INT(counters().compilations_waiting, 1); /* it is not done */
    atomic_store(&allowed, 2);
    weft__background_wait();
    for (int k = 0; k < 4; k++)
        CHECK_STATUS(square(a, c), WEFT_OK);
    CHECK_INT(runs[WEFT__EFFORT_QUICK], 3);
    CHECK_INT(runs[WEFT__EFFORT_FULL], 4);
    CHECK_INT(counters().compilations_llvm, before + 1);
    CHECK_INT(counters().compilations_waiting, 0);
    float value;
    CHECK_STATUS(weft_item(c, &value), WEFT_OK);
    CHECK(value == 5);
}

TEST(others_are_compiled_before_something_is_optimized)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_ALLOW ending = only_quickly();
    const uint64_t before = counters().compilations_llvm;
    for (int i = 0; i < 2; i++)
        for (int k = 1; k <= KERNELS; k++)
            CHECK(is_right(k, ELEMENTS));
    wait_made(before + 1);
    for (int i = 0; i < 2; i++) /* while one of those is being optimized, others are added */
        for (int k = KERNELS + 1; k <= 2 * KERNELS; k++)
            CHECK(is_right(k, ELEMENTS));
    atomic_store(&allowed, 2);
    weft__background_wait();
    const int count = atomic_load(&made_count);
    int optimized = 0, late = 0; /* … before the last that was not */
    for (int k = 0; k < count; k++) {
        optimized += made[k] == WEFT__EFFORT_FULL;
        late = made[k] == WEFT__EFFORT_QUICK ? optimized : late;
    }
    CHECK(count >= 4 * KERNELS);
    CHECK_INT(2 * optimized, count);
    CHECK(late <= 1);
    CHECK_INT(counters().compilations_waiting, 0);
}

/* The optimizing of the first goes on until the others have code. */
TEST(nothing_waits_for_something_that_is_being_optimized)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_ALLOW ending = only_quickly();
    const uint64_t before = counters().compilations_llvm;
    for (int i = 0; i < 2; i++)
        CHECK(is_right(1, ELEMENTS));
    for (int k = 0; !atomic_load(&optimizing_count) && k < 10000; k++)
        wait_ms(1);
    const uint64_t begun = counters().compilations_llvm;
    CHECK(begun > before);
    CHECK_INT(atomic_load(&optimizing_count), 1);
    for (int i = 0; i < 2; i++)
        for (int k = 2; k <= KERNELS; k++)
            CHECK(is_right(k, ELEMENTS));
    wait_made(begun + KERNELS - 1);
    CHECK(counters().compilations_llvm >= begun + KERNELS - 1);
    CHECK_INT(atomic_load(&optimizing_count), 1);
    const long quickly = atomic_load(&runs[WEFT__EFFORT_QUICK]);
    CHECK(is_right(KERNELS, ELEMENTS));
    CHECK(atomic_load(&runs[WEFT__EFFORT_QUICK]) > quickly);
    CHECK_INT(atomic_load(&runs[WEFT__EFFORT_FULL]), 0);
    atomic_store(&allowed, 2);
    weft__background_wait();
    CHECK_INT(counters().compilations_waiting, 0);
    CHECK_INT(2 * atomic_load(&optimizing_count), atomic_load(&made_count));
}

/* Once nothing waits but what is under way. */
static void *allow_later(void *unused)
{
    for (int k = 0; counters().compilations_waiting > 1 && k < 10000; k++)
        wait_ms(1);
    atomic_store(&allowed, 2);
    return unused;
}

static int optimized_count(void)
{
    int count = 0;
    for (int k = 0; k < atomic_load(&made_count); k++)
        count += made[k] == WEFT__EFFORT_FULL;
    return count;
}

/* While the first is made, or one of the second. */
TEST(a_reset_drops_what_is_to_be_optimized)
{
    for (int quickly = 0; quickly < 2; quickly++) {
        pthread_t thread;
        AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
        AUTO_ALLOW ending = only_quickly();
        const uint64_t before = counters().compilations_llvm;
        atomic_store(&allowed, quickly);
        for (int i = 0; i < 2; i++)
            for (int k = 1; k <= KERNELS; k++)
                CHECK(is_right(k, ELEMENTS));
        if (quickly)
            wait_made(before + KERNELS);
        for (int k = 0; !atomic_load(&begun_count) && k < 10000; k++)
            wait_ms(1);
        CHECK_INT(pthread_create(&thread, NULL, allow_later, NULL), 0);
        const weft_status status = weft_device_reset(WEFT_CPU);
        pthread_join(thread, NULL);
        CHECK_STATUS(status, WEFT_OK);
        weft__background_wait();
        CHECK_INT(counters().compilations_waiting, 0);
        CHECK(atomic_load(&made_count) > 0);
        CHECK(optimized_count() <= quickly);
        CHECK(is_right(2, ELEMENTS));
    }
}

/* The quick code stays, and what there was no memory for is tried again. */
TEST(optimizing_may_fail)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_ALLOW ending = only_quickly();
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 2.0f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(100), 0.0f);
    CHECK(a && c);
    atomic_store(&failures, MOST);
    atomic_store(&allowed, 2);
    for (int k = 0; k < 8; k++) {
        CHECK_STATUS(square(a, c), WEFT_OK);
        weft__background_wait();
        CHECK_INT(counters().compilations_waiting, 0);
    }
    CHECK(runs[WEFT__EFFORT_QUICK] >= 6);
    CHECK_INT(runs[WEFT__EFFORT_FULL], 0);
    CHECK(atomic_load(&failures) < MOST - 1);
    atomic_store(&failures, 0);
    for (int k = 0; k < 4; k++) {
        CHECK_STATUS(square(a, c), WEFT_OK);
        weft__background_wait();
    }
    CHECK(runs[WEFT__EFFORT_FULL] > 0);
    CHECK_INT(weft_error_code(), WEFT_OK);
}

static weft_status heavy(weft_array *a, weft_array *b, weft_array *c)
{
    return weft(c = pow(abs(a), b) + sin(a) * b, a, b, c);
}

/* By the interpreter, by code that was made quickly, and by optimized code, at one call site. */
TEST(libllvm_makes_code_of_the_same_bits_twice)
{
    enum { N = 5000 };
    NEEDS_LLVM();
    static float x[N], y[N], first[N], later[N];
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i - N / 2) * 1.37f;
        y[i] = 1.0f / (float)(i + 1);
    }
    WEFT_AUTO weft_array *a = weft_from_host(x, sizeof x, WEFT_SHAPE(N), .dtype = WEFT_F32);
    WEFT_AUTO weft_array *b = weft_from_host(y, sizeof y, WEFT_SHAPE(N), .dtype = WEFT_F32);
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(N), .dtype = WEFT_F32);
    CHECK(a && b && c);
    weft__background_wait();
    const weft_statistics before = counters();
    int states = 0; /* bits: nothing was compiled, it was but not optimized, it was optimized */
    for (int i = 0; states < 4 || i < 20; i++) {
        const weft_statistics now = counters();
        CHECK_STATUS(heavy(a, b, c), WEFT_OK);
        states |= now.compilations_llvm == before.compilations_llvm ? 1
                  : now.compilations_waiting                        ? 2
                                                                    : 4;
        CHECK_STATUS(weft_copy_to_host(c, i ? later : first, sizeof first), WEFT_OK);
        CHECK(!i || memcmp(first, later, sizeof first) == 0);
    }
    weft__background_wait();
    CHECK_INT(counters().compilations_llvm, before.compilations_llvm + 1);
    CHECK(states & 1);
    for (int engine = WEFT__ENGINE_LLVM; engine <= WEFT__ENGINE_QUICK; engine++) {
        weft__engine_choose(engine);
        weft_device_reset(WEFT_CPU);
        CHECK_STATUS(heavy(a, b, c), WEFT_OK);
        CHECK_STATUS(weft_copy_to_host(c, later, sizeof later), WEFT_OK);
        CHECK(memcmp(first, later, sizeof first) == 0);
    }
}

#define LLVM_ALLOCATES "takes too long where each of very many allocations fails"
#define NO_FAULTS "where allocations fail it is not known what is made"

TEST_MAIN(TEST_NO_FAULTS(optimized_code_replaces_what_was_made_quickly, NO_FAULTS),
          TEST_NO_FAULTS(others_are_compiled_before_something_is_optimized, NO_FAULTS),
          TEST_NO_FAULTS(nothing_waits_for_something_that_is_being_optimized, NO_FAULTS),
          TEST_NO_FAULTS(a_reset_drops_what_is_to_be_optimized, NO_FAULTS),
          TEST_NO_FAULTS(optimizing_may_fail, NO_FAULTS),
          TEST_NO_FAULTS(libllvm_makes_code_of_the_same_bits_twice, LLVM_ALLOCATES));
