/* The end of the process and of the library: queued work is finished, no thread is left. */
#include "core/thread.h"
#include "support/check.h"
#include "support/threads.h"
#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

#if defined __SANITIZE_THREAD__
#define NEEDS_FORK() SKIP("the thread sanitizer cannot follow a fork of several threads")
#else
#define NEEDS_FORK() ((void)0)
#endif

enum { COUNT = 100 };

/* Counters that parent and child both see. */
typedef struct shared {
    _Atomic long count;
} shared;

static shared *new_shared(void)
{
    void *memory =
        mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static weft_status slow(void *argument)
{
    struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
    atomic_fetch_add(&((shared *)argument)->count, 1);
    return WEFT_OK;
}

static int outcome(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static int run_child(void (*child_main)(shared *), shared *s)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (size_t k = 0; k < sizeof deadly / sizeof deadly[0]; k++)
            (void)signal(deadly[k], SIG_DFL); /* the runner's would go on with the next test */
        alarm(100);
        child_main(s);
        _exit(99);
    }
    return outcome(child);
}

static void exit_with_queue(shared *s)
{
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    for (int i = 0; i < COUNT; i++)
        weft_stream_call(stream, slow, s);
    exit(3);
}

static void *compile(void *argument)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(1000));
    (void)weft(a = sin(a) * exp(a), a);
    return argument;
}

static void *explain_always(void *argument)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(1000));
    for (int k = 0; a && k < 1000; k++) {
        char *text = NULL;
        (void)weft_explain(&text, "llvm", a = sin(a) * exp(a), a);
        weft_explain_free(text);
    }
    return argument;
}

/* The thread that ends the process has never called the library, another one opens libLLVM or
 * compiles for the first time. */
static void exit_while_another_compiles(shared *s)
{
    const long moment = atomic_load(&s->count);
    const struct timespec length = {0, labs(moment)};
    pthread_t thread;
    setenv("WEFT_CACHE", "off", 1);
    setenv("WEFT_ENGINE", "llvm", 1);
    if (pthread_create(&thread, NULL, moment < 0 ? explain_always : compile, NULL) == 0)
        nanosleep(&length, NULL);
    exit(3);
}

/* Before the tests that compile something. Half of the times, the other thread wants a text. */
TEST(exit_while_libllvm_is_opened)
{
    NEEDS_FORK();
    shared *s = new_shared();
    CHECK(s);
    for (int k = 0; k < (test_quick() ? 6 : 30); k++) {
        atomic_store(&s->count, (2000000 + k * 900000) * (k % 2 ? -1 : 1));
        CHECK_INT(run_child(exit_while_another_compiles, s), 3);
    }
    munmap(s, sizeof *s);
}

static void *begin_late(void *argument)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4));
    atomic_store(&((shared *)argument)->count,
                 a == NULL && strstr(weft_error_message(), "the process ends") != NULL);
    return NULL;
}

static void begin_while_the_process_ends(shared *s)
{
    pthread_t thread;
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4));
    (void)weft__thread_close();
    if (pthread_create(&thread, NULL, begin_late, s) == 0)
        pthread_join(thread, NULL);
    _exit(a ? 3 : 4);
}

/* What it would use may be gone. */
TEST(no_thread_begins_when_the_process_ends)
{
    NEEDS_FORK();
    shared *s = new_shared();
    CHECK(s);
    const int status = run_child(begin_while_the_process_ends, s);
    const long refused = atomic_load(&s->count);
    munmap(s, sizeof *s);
    CHECK_INT(status, 3);
    CHECK_INT(refused, 1);
}

TEST(exit_finishes_what_is_queued)
{
    NEEDS_FORK();
    shared *s = new_shared();
    CHECK(s);
    int status = run_child(exit_with_queue, s);
    long count = atomic_load(&s->count);
    munmap(s, sizeof *s);
    CHECK_INT(status, 3);
    CHECK_INT(count, COUNT);
}

static weft_status call_exit(void *argument)
{
    (void)argument;
    exit(4);
}

/* The function never returns; what is queued behind it, there and on streams that wait for it, is
 * done. */
static void exit_inside_a_function(shared *s)
{
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *other = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream_call(stream, slow, s);
    weft_stream_call(stream, call_exit, s);
    weft_stream_wait_stream(other, stream);
    for (int i = 1; i < COUNT; i++)
        weft_stream_call(i % 2 ? stream : other, slow, s);
    for (;;)
        pause();
}

/* This thread goes on as if nothing happened, and is faster than the stream, which always has work
 * left. */
static void exit_beside_calls(shared *s)
{
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *other = weft_stream_new(WEFT_CPU, .async = true);
    for (long queued = 0;;) {
        if (queued == COUNT)
            weft_stream_call(stream, call_exit, s);
        if (queued - atomic_load(&s->count) > COUNT)
            continue;
        weft_stream_wait_stream(other, stream);
        queued += weft_stream_call(other, slow, s) == WEFT_OK;
    }
}

TEST(exit_inside_a_callback)
{
    NEEDS_FORK();
    for (int i = 0; i < 10; i++) {
        shared *s = new_shared();
        CHECK(s);
        int status = run_child(i % 2 ? exit_beside_calls : exit_inside_a_function, s);
        long count = atomic_load(&s->count);
        munmap(s, sizeof *s);
        CHECK_INT(status, 4);
        CHECK(i % 2 || (count > 0 && count <= COUNT));
    }
}

static void *open_library(void)
{
    char path[4096], library[4200];
    const char *given = getenv("WEFT_TEST_LIBRARY");
    if (given && *given)
        return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    snprintf(library, sizeof library, "%s/../libweft.so", dirname(path));
    return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

/* A function of the library that was opened, not of the one in this program. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

TEST(unloading_finishes_and_leaves_no_thread)
{
    weft_stream *(*stream_new)(weft_device, const weft_stream_options *);
    weft_status (*call)(weft_stream *, weft_stream_function *, void *, const weft_call_options *);
    static weft_stream *held[3][3]; /* never released; the leak checker finds them here */
    static shared s;
    const weft_stream_options options = {.struct_size = sizeof options, .async = true};
    int before = threads_before();
    for (int round = 1; round <= 3; round++) {
        void *library = open_library();
        if (!library)
            SKIP("libweft.so is not beside the tests; WEFT_TEST_LIBRARY names it");
        CHECK(find(library, "weft_stream_new_with", &stream_new));
        CHECK(find(library, "weft_stream_call_with", &call));
        for (int k = 0; k < 3; k++) {
            weft_stream *stream = held[round - 1][k] = stream_new(WEFT_CPU, &options);
            CHECK(stream);
            for (int i = 0; i < COUNT; i++)
                CHECK_INT(call(stream, slow, &s, NULL), WEFT_OK);
        }
        CHECK(threads_now() > before);
        CHECK_INT(dlclose(library), 0);
        CHECK(threads_settle(before));
        CHECK_INT(atomic_load(&s.count), (long)round * 3 * COUNT);
    }
}

/* Kernels are being compiled in the background when the library is closed. Its code has to stay
 * then; the thread ends all the same. */
TEST(closing_while_kernels_are_compiled)
{
    weft_array *(*ones)(weft_shape, const weft_options *);
    weft_status (*item)(weft_array *, void *, weft_dtype);
    void (*release)(weft_array *);
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F64, WEFT_U8, WEFT_I16, WEFT_I64, WEFT_U32};
#if defined __SANITIZE_THREAD__
    SKIP("libLLVM is not built for the thread sanitizer");
#endif
    setenv("WEFT_CACHE", "off", 1);
    setenv("WEFT_ENGINE", "auto", 1);
    setenv("WEFT_THREADS", "1", 1); /* those that compute stay with the library */
    int before = threads_before();
    for (int round = 0; round < 3; round++) {
        void *library = open_library();
        if (!library)
            SKIP("libweft.so is not beside the tests; WEFT_TEST_LIBRARY names it");
        CHECK(find(library, "weft_ones_with", &ones));
        CHECK(find(library, "weft_item_as", &item));
        CHECK(find(library, "weft_array_release", &release));
        for (int k = 0; k < 6; k++) {
            double value = 0;
            weft_options options = {.struct_size = sizeof options, .dtype = dtypes[k]};
            weft_array *array = ones(WEFT_SHAPE(100000 + round), &options);
            CHECK(array);
            weft_status status = item(array, &value, WEFT_F64);
            release(array);
            CHECK_INT(status, WEFT_OK);
            CHECK(value == 1);
        }
        CHECK_INT(dlclose(library), 0);
    }
    CHECK(threads_settle(before));
}

enum { NOTHING_TO_CALL = 5, TOLD = 1 /* how libLLVM ends a process */ };

static int find_libllvm(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libLLVM"))
        return 0;
    *(const char **)path = info->dlpi_name;
    return 1;
}

/* Has libLLVM opened by the library alone, unloads that, and is another user of libLLVM. */
static void fail_after_unloading(shared *s)
{
    weft_array *(*empty)(weft_shape, const weft_options *);
    weft_status (*explain)(char **, const char *, const char *, int, const char *const *,
                           const weft_operand *);
    void (*release)(weft_array *), (*explain_free)(char *);
    void (*fatal)(const char *reason, bool with_trace);
    const char *path = NULL, *name = "a";
    char *text = NULL;
    void *library = open_library();
    (void)s;
    if (!library || !find(library, "weft_empty_with", &empty) ||
        !find(library, "weft_explain_code", &explain) ||
        !find(library, "weft_explain_free", &explain_free) ||
        !find(library, "weft_array_release", &release))
        _exit(NOTHING_TO_CALL);
    weft_array *a = empty(WEFT_SHAPE(1000), NULL);
    const weft_operand operand = WEFT_OPERAND(a);
    if (explain(&text, "llvm", "a + a", 1, &name, &operand) != WEFT_OK)
        _exit(NOTHING_TO_CALL);
    explain_free(text);
    release(a);
    (void)dlclose(library);
    (void)dl_iterate_phdr(find_libllvm, (void *)&path);
    library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library || !find(library, "_ZN4llvm18report_fatal_errorEPKcb", &fatal))
        _exit(NOTHING_TO_CALL);
    fatal("an error of another library's, for a test", false);
}

TEST(libllvm_does_not_call_what_is_unloaded)
{
    NEEDS_FORK();
    const int status = run_child(fail_after_unloading, NULL);
    if (status == NOTHING_TO_CALL)
        SKIP("libweft.so is not beside the tests, or there is no libLLVM");
    CHECK_INT(status, TOLD);
}

#define NO_FAULTS "a child process has no part in the count of allocations"

TEST_MAIN(TEST_NO_FAULTS(no_thread_begins_when_the_process_ends, NO_FAULTS),
          TEST_NO_FAULTS(exit_while_libllvm_is_opened, NO_FAULTS),
          TEST_NO_FAULTS(exit_finishes_what_is_queued, NO_FAULTS),
          TEST_NO_FAULTS(exit_inside_a_callback, NO_FAULTS),
          TEST_NO_FAULTS(unloading_finishes_and_leaves_no_thread,
                         "the library that is opened has a count of its own"),
          TEST_NO_FAULTS(libllvm_does_not_call_what_is_unloaded, NO_FAULTS),
          TEST_NO_FAULTS(closing_while_kernels_are_compiled,
                         "the library that is opened has a count of its own"));
