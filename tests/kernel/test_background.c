/* Compiling in the background while the rest goes on: other threads, resets, forks, the end. */
#include "core/status.h"
#include "kernel/engines.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS = 12, ELEMENTS = 300 };

/* Makes code when it is allowed to. */
static _Atomic bool may_make;
static _Atomic int makers_inside;

static weft_status make_when_allowed(const weft__kernel *kernel, const weft__launch *sample,
                                     weft__effort *effort, weft__image *image)
{
    atomic_fetch_add(&makers_inside, 1);
    while (!atomic_load(&may_make))
        wait_ms(1);
    atomic_fetch_sub(&makers_inside, 1);
    return make_interpreted(kernel, sample, effort, image);
}

/* Some kernels are made twice. */
static weft_status make_slowly(const weft__kernel *kernel, const weft__launch *sample,
                               weft__effort *effort, weft__image *image)
{
    struct timespec moment = {0, 300000};
    const bool quick = *effort == WEFT__EFFORT_FIRST && kernel->values_count % 4 < 3;
    nanosleep(&moment, NULL);
    TRY(make_interpreted(kernel, sample, effort, image));
    *effort = quick ? WEFT__EFFORT_QUICK : WEFT__EFFORT_FULL;
    return WEFT_OK;
}

static void allow(int *unused)
{
    (void)unused;
    atomic_store(&may_make, true);
}
/* Ends before the setting does, which waits for the makers. */
#define AUTO_ALLOW __attribute__((cleanup(allow), unused)) int

typedef struct user {
    _Atomic bool *stop;
    int first;
    bool async;
    long rounds, wrong;
} user;

static void *use(void *argument)
{
    user *u = argument;
    weft_stream *stream = u->async ? weft_stream_new(WEFT_CPU, .async = true) : NULL;
    if (stream)
        weft_stream_set_current(WEFT_CPU, stream);
    for (int i = u->first; !atomic_load(u->stop); i++) {
        u->wrong += !is_right(i % KERNELS + 1, ELEMENTS + i % 50);
        u->rounds++;
    }
    weft_stream_release(stream);
    return NULL;
}

static void use_at_once(bool resets)
{
    enum { THREADS = 4 };
    _Atomic bool stop = false;
    pthread_t threads[THREADS];
    user users[THREADS];
    int started = 0;
    const int rounds = test_faults() ? 3 : 30;
    for (; started < THREADS; started++) {
        users[started] = (user){&stop, 3 * started, started % 2 != 0, 0, 0};
        if (pthread_create(&threads[started], NULL, use, &users[started]) != 0)
            break;
    }
    for (int i = 0; i < rounds; i++) {
        wait_ms(test_faults() ? 1 : 10);
        if (resets)
            weft_device_reset(WEFT_CPU);
    }
    atomic_store(&stop, true);
    long wrong = 0;
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        wrong += users[i].wrong;
    }
    CHECK_INT(started, THREADS);
    CHECK_INT(wrong, 0);
}

TEST(swaps_while_threads_compute)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_slowly);
    const uint64_t before = counters().compilations_llvm;
    use_at_once(false);
    weft__background_wait();
    CHECK(test_faults() || counters().compilations_llvm >= before + KERNELS);
}

TEST(resets_while_threads_compute_and_compile)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_slowly);
    use_at_once(true);
    CHECK(is_right(1, ELEMENTS));
}

TEST(swaps_with_libllvm_while_threads_compute)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    const uint64_t before = counters().compilations_llvm;
    use_at_once(true);
    weft__background_wait();
    CHECK(counters().compilations_llvm > before);
}

static void *allow_later(void *unused)
{
    wait_ms(20);
    atomic_store(&may_make, true);
    return unused;
}

TEST(a_reset_waits_for_what_is_being_compiled)
{
    pthread_t thread;
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_ALLOW ending = 0;
    atomic_store(&may_make, false);
    weft__engine_set_maker(make_when_allowed);
    for (int i = 0; i < 3; i++)
        for (int k = 1; k <= 4; k++)
            CHECK(is_right(k, ELEMENTS));
    CHECK_INT(pthread_create(&thread, NULL, allow_later, NULL), 0);
    const weft_status status = weft_device_reset(WEFT_CPU);
    const bool inside = atomic_load(&makers_inside) > 0;
    pthread_join(thread, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(!inside);
    CHECK_INT(counters().compilations_waiting, 0);
    CHECK(is_right(2, ELEMENTS));
}

/* Waits for another one to be made, for a while. */
static _Atomic int most_inside;

static weft_status make_together(const weft__kernel *kernel, const weft__launch *sample,
                                 weft__effort *effort, weft__image *image)
{
    const int inside = atomic_fetch_add(&makers_inside, 1) + 1;
    if (inside > atomic_load(&most_inside))
        atomic_store(&most_inside, inside);
    for (int k = 0; k < 200 && atomic_load(&most_inside) < 2; k++)
        wait_ms(1);
    atomic_fetch_sub(&makers_inside, 1);
    return make_interpreted(kernel, sample, effort, image);
}

TEST(two_kernels_are_made_at_once)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        SKIP("there is one processor");
    weft__engine_set_maker(make_interpreted);
    for (int i = 0; i < 2; i++)
        CHECK(is_right(1, ELEMENTS));
    weft__background_wait(); /* the first of all is made alone */
    atomic_store(&most_inside, 0);
    weft__engine_set_maker(make_together);
    for (int i = 0; i < 2; i++)
        for (int k = 2; k <= 6; k++)
            CHECK(is_right(k, ELEMENTS));
    weft__background_wait();
    CHECK_INT(atomic_load(&most_inside), 2);
    CHECK_INT(counters().compilations_waiting, 0);
}

TEST(what_does_not_fit_into_the_queue_is_tried_later)
{
    enum { MANY = WEFT__BACKGROUND_MOST + 30 };
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    AUTO_ALLOW ending = 0;
    atomic_store(&may_make, false);
    weft__engine_set_maker(make_when_allowed);
    const uint64_t before = counters().compilations_llvm;
    for (int i = 0; i < 2; i++)
        for (int k = 1; k <= MANY; k++)
            CHECK(is_right(k, 10));
    CHECK(counters().compilations_waiting <= WEFT__BACKGROUND_MOST + 2);
    atomic_store(&may_make, true);
    for (int i = 0; i < 4; i++) {
        weft__background_wait();
        for (int k = 1; k <= MANY; k++)
            CHECK(is_right(k, 10));
    }
    weft__background_wait();
    CHECK(test_faults() || counters().compilations_llvm >= before + MANY);
    CHECK_INT(counters().compilations_waiting, 0);
}

TEST(compiling_that_fails_changes_nothing) { CHECK(test_passes_alone("alone_broken")); }

static weft_status make_nothing(const weft__kernel *kernel, const weft__launch *sample,
                                weft__effort *effort, weft__image *image)
{
    static _Atomic int number;
    (void)kernel, (void)sample, (void)effort, (void)image;
    return atomic_fetch_add(&number, 1) % 2 ? WEFT_ERROR_MEMORY : WEFT_ERROR_COMPILE;
}

TEST(alone_broken)
{
    if (!test_alone())
        SKIP("is run by compiling_that_fails_changes_nothing");
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_nothing);
    for (int i = 0; i < 5; i++) {
        for (int k = 1; k < 8; k++)
            CHECK(is_right(k, ELEMENTS));
        weft__background_wait();
    }
    CHECK_INT(weft_error_code(), WEFT_OK);
    CHECK_INT(counters().compilations_llvm, 0);
    CHECK_INT(counters().compilations_waiting, 0);
}

static int outcome(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The child has what is compiled and can compile on. */
static int child_main(void)
{
    alarm(100);
    for (int i = 0; i < 3; i++) {
        for (int k = 1; k <= KERNELS; k++)
            if (!is_right(k, ELEMENTS))
                return 1;
        weft__background_wait();
    }
    return counters().compilations_waiting == 0 ? 0 : 2;
}

static void fork_often(int times)
{
    for (int i = 0; i < times; i++) {
        for (int k = 1; k <= KERNELS; k++)
            CHECK(is_right(k, i % 2 ? ELEMENTS : COUNT_MOST));
        wait_ms(i % 4);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            exit(child_main());
        const bool right = is_right(i % KERNELS + 1, ELEMENTS);
        const int status = outcome(child);
        CHECK(right);
        CHECK_INT(status, 0);
        CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    }
}

TEST(forks_while_compiling)
{
    NEEDS_FORK();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    weft__engine_set_maker(make_slowly);
    fork_often(10);
}

TEST(forks_while_libllvm_compiles)
{
    NEEDS_FORK();
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_AUTO);
    fork_often(10);
}

/* Programs that end at any moment of the first compilations, the opening of libLLVM included. */
TEST(ends_while_compiling)
{
    char text[16];
    NEEDS_LLVM();
    for (int i = 0; i < 24; i++) {
        snprintf(text, sizeof text, "%d", i * 3);
        setenv("WEFT_TEST_ENDS_AFTER", text, 1);
        const bool passes = test_passes_alone("alone_ends");
        unsetenv("WEFT_TEST_ENDS_AFTER");
        CHECK(passes);
    }
}

TEST(alone_ends)
{
    const char *text = getenv("WEFT_TEST_ENDS_AFTER");
    if (!test_alone() || !text)
        SKIP("is run by ends_while_compiling");
    weft__engine_choose(WEFT__ENGINE_AUTO);
    weft__disk_choose("");
    for (int k = 1; k <= 20; k++)
        CHECK(is_right(k, COUNT_MOST));
    wait_ms(atoi(text));
}

#define NO_FAULTS "another process has no part in the count of allocations"
#define LLVM_ALLOCATES "takes too long where each of very many allocations fails"

TEST_MAIN(TEST_OF(swaps_while_threads_compute), TEST_OF(resets_while_threads_compute_and_compile),
          TEST_NO_FAULTS(swaps_with_libllvm_while_threads_compute, LLVM_ALLOCATES),
          TEST_OF(a_reset_waits_for_what_is_being_compiled),
          TEST_NO_FAULTS(two_kernels_are_made_at_once, "a thread that cannot be had is no help"),
          TEST_NO_FAULTS(what_does_not_fit_into_the_queue_is_tried_later, LLVM_ALLOCATES),
          TEST_NO_FAULTS(compiling_that_fails_changes_nothing, NO_FAULTS),
          TEST_NO_FAULTS(alone_broken, NO_FAULTS), TEST_NO_FAULTS(forks_while_compiling, NO_FAULTS),
          TEST_NO_FAULTS(forks_while_libllvm_compiles, NO_FAULTS),
          TEST_NO_FAULTS(ends_while_compiling, NO_FAULTS), TEST_NO_FAULTS(alone_ends, NO_FAULTS));
