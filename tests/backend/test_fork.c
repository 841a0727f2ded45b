/* Fork with asynchronous streams: parent and child both go on, each on its own copy of the queues.
 */
#include "backend/cpu/cpu.h"
#include "backend/cuda_device.h"
#include "core/stream.h"
#include "support/check.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

#if defined __SANITIZE_THREAD__
#define NEEDS_FORK() SKIP("the thread sanitizer cannot follow a fork of several threads")
#else
#define NEEDS_FORK() ((void)0)
#endif

/* Where threads may allocate while another forks. */
#if defined __SANITIZE_ADDRESS__
#define NEEDS_ALLOCATOR()                                                                          \
    SKIP("the allocator of the address sanitizer may be locked in the child for ever")
#else
#define NEEDS_ALLOCATOR() ((void)0)
#endif

static void release_stream(weft_stream **stream) { weft_stream_release(*stream); }
#define AUTO_STREAM __attribute__((cleanup(release_stream), unused)) weft_stream *

static void pause_ms(long milliseconds)
{
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

/* A child that hangs is a failure of the test, not of the whole run. Threads of streams, which some
 * fork in, let no signals in. */
static pid_t fork_watched(void)
{
    sigset_t none;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        alarm(100);
    }
    return child;
}

/* The exit status of the child, or minus the signal that ended it. */
static int outcome(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static weft_status add_one(void *argument)
{
    atomic_fetch_add((_Atomic long *)argument, 1);
    return WEFT_OK;
}

/* A function that returns when it is told to. */
typedef struct door {
    _Atomic bool entered, open;
} door;

static weft_status pass(void *argument)
{
    door *d = argument;
    atomic_store(&d->entered, true);
    while (!atomic_load(&d->open))
        pause_ms(1);
    return WEFT_OK;
}

static void wait_entered(door *d)
{
    while (!atomic_load(&d->entered))
        pause_ms(1);
}

/* What the child finds: its stream finishes, and goes on to work. 0 is good. */
static int child_of_queue(weft_stream *stream, _Atomic long *count, long expected)
{
    if (weft_stream_synchronize(stream) != WEFT_OK)
        return 1;
    if (atomic_load(count) != expected)
        return 2;
    if (weft_stream_call(stream, add_one, count) != WEFT_OK ||
        weft_stream_synchronize(stream) != WEFT_OK)
        return 3;
    return atomic_load(count) == expected + 1 ? 0 : 4;
}

TEST(fork_with_queued_work)
{
    NEEDS_FORK();
    enum { COUNT = 20000 };
    _Atomic long count = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    for (int round = 1; round <= 20; round++) {
        for (int i = 0; i < COUNT; i++)
            CHECK_STATUS(weft_stream_call(stream, add_one, &count), WEFT_OK);
        pid_t child = fork_watched();
        /* a call that runs at this moment has failed in the child: either that is told, or all ran
         */
        if (child == 0) {
            weft_stream_synchronize(stream);
            long missing = (long)round * COUNT - atomic_load(&count);
            _exit(missing > 1 ? 5 : child_of_queue(stream, &count, atomic_load(&count)));
        }
        CHECK_INT(outcome(child), 0);
    }
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(atomic_load(&count), 20 * COUNT);
}

/* Work that has not begun, because it waits for another stream, runs in both processes. */
TEST(fork_while_a_worker_waits)
{
    NEEDS_FORK();
    door d = {0};
    _Atomic long count = 0;
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(first && second);
    CHECK_STATUS(weft_stream_call(first, pass, &d), WEFT_OK);
    CHECK_STATUS(weft_stream_wait_stream(second, first), WEFT_OK);
    for (int i = 0; i < 100; i++)
        CHECK_STATUS(weft_stream_call(second, add_one, &count), WEFT_OK);
    wait_entered(&d);
    pause_ms(5);
    pid_t child = fork_watched();
    if (child == 0)
        _exit(child_of_queue(second, &count, 100));
    atomic_store(&d.open, true);
    CHECK_INT(outcome(child), 0);
    CHECK_STATUS(weft_stream_synchronize(second), WEFT_OK);
    CHECK_INT(atomic_load(&count), 100);
}

static int child_of_call(weft_stream *stream, _Atomic long *count)
{
    if (weft_stream_synchronize(stream) != WEFT_ERROR_STREAM)
        return 10;
    return child_of_queue(stream, count, 50);
}

/* A function that runs on another thread while the process forks has failed in the child, and only
 * there. */
TEST(fork_while_a_function_runs)
{
    NEEDS_FORK();
    door d = {0};
    _Atomic long count = 0;
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_call(stream, pass, &d), WEFT_OK);
    for (int i = 0; i < 50; i++)
        CHECK_STATUS(weft_stream_call(stream, add_one, &count), WEFT_OK);
    wait_entered(&d);
    pid_t child = fork_watched();
    if (child == 0)
        _exit(child_of_call(stream, &count));
    CHECK_INT(outcome(child), 0);
    atomic_store(&d.open, true);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_INT(atomic_load(&count), 50);
}

static void *synchronize(void *stream)
{
    return weft_stream_synchronize(stream) == WEFT_OK ? stream : NULL;
}

/* A condition that a thread of the parent's waits for has no waiter in the child. */
TEST(fork_while_a_thread_waits_for_a_device)
{
    NEEDS_FORK();
    if (device().kind == WEFT_DEVICE_INVALID)
        SKIP("there is no stand-in");
    door d = {0};
    pthread_t thread;
    void *fine = NULL;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_stream_call(stream, pass, &d), WEFT_OK);
    wait_entered(&d);
    CHECK_INT(pthread_create(&thread, NULL, synchronize, stream), 0);
    pause_ms(50);
    pid_t child = fork_watched();
    if (child == 0) {
        weft_stream_release(stream);
        _exit(0);
    }
    const int ended = outcome(child);
    atomic_store(&d.open, true);
    CHECK(pthread_join(thread, &fine) == 0 && fine);
    CHECK_INT(ended, 0);
}

typedef struct forker {
    weft_stream *other;
    _Atomic long *count;
    pid_t child;
    bool leaves; /* the child returns into the stream instead of ending here */
} forker;

static weft_status fork_here(void *argument)
{
    forker *f = argument;
    pid_t child = fork_watched();
    if (child == 0 && !f->leaves)
        _exit(child_of_queue(f->other, f->count, 100));
    if (child != 0)
        f->child = child;
    return WEFT_OK;
}

static weft_status end_child(void *argument)
{
    forker *f = argument;
    if (f->child == 0)
        _exit(f->leaves ? 42 : 43);
    return WEFT_OK;
}

TEST(fork_inside_a_function)
{
    NEEDS_FORK();
    NEEDS_ALLOCATOR();
    for (int leaves = 0; leaves <= 1; leaves++) {
        _Atomic long count = 0;
        door d = {0};
        AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
        AUTO_STREAM gate = weft_stream_new(WEFT_CPU, .async = true);
        AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
        CHECK(stream && gate && other);
        forker f = {.other = other, .count = &count, .leaves = leaves};
        CHECK_STATUS(weft_stream_call(gate, pass, &d), WEFT_OK);
        wait_entered(&d);
        CHECK_STATUS(weft_stream_wait_stream(other, gate), WEFT_OK);
        for (int i = 0; i < 100; i++)
            CHECK_STATUS(weft_stream_call(other, add_one, &count), WEFT_OK);
        CHECK_STATUS(weft_stream_call(stream, fork_here, &f), WEFT_OK);
        CHECK_STATUS(weft_stream_call(stream, end_child, &f), WEFT_OK);
        CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
        CHECK_INT(outcome(f.child), leaves ? 42 : 0);
        atomic_store(&d.open, true);
        CHECK_STATUS(weft_stream_synchronize(other), WEFT_OK);
        CHECK_INT(atomic_load(&count), 100);
    }
}

static void sum_part(void *argument, int64_t begin, int64_t end)
{
    atomic_fetch_add((_Atomic int64_t *)argument, end - begin);
}

static int pool_works(void)
{
    _Atomic int64_t sum = 0;
    weft__cpu_parallel(1 << 20, 256, 64 << 20, false, sum_part, &sum);
    return sum == 1 << 20 ? 0 : 1;
}

static void *use_pool(void *argument)
{
    _Atomic bool *stop = argument;
    while (!atomic_load(stop))
        pool_works();
    return NULL;
}

TEST(fork_while_the_pool_works)
{
    NEEDS_FORK();
    _Atomic bool stop = false;
    pthread_t thread;
    int wrong = 0;
    CHECK_INT(pthread_create(&thread, NULL, use_pool, &stop), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork_watched();
        if (child == 0)
            _exit(pool_works());
        wrong += outcome(child) != 0;
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK_INT(wrong, 0);
}

/* Forks while other threads make streams, use them and release them. */
static void *churn(void *argument)
{
    _Atomic bool *stop = argument;
    while (!atomic_load(stop)) {
        _Atomic long count = 0;
        weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
        for (int i = 0; i < 200; i++)
            weft_stream_call(stream, add_one, &count);
        weft_stream_release(stream);
    }
    return NULL;
}

static int child_of_churn(void)
{
    _Atomic long count = 0;
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    int result = stream ? child_of_queue(stream, &count, 0) : 20;
    weft_stream_release(stream);
    return result;
}

TEST(fork_while_streams_come_and_go)
{
    NEEDS_FORK();
    NEEDS_ALLOCATOR();
    _Atomic bool stop = false;
    pthread_t threads[3];
    int wrong = 0;
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, churn, &stop), 0);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork_watched();
        if (child == 0)
            _exit(child_of_churn());
        int status = outcome(child);
        if (status != 0)
            fprintf(stderr, "child %d: %d\n", i, status);
        wrong += status != 0;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(wrong, 0);
}

#define NO_FAULTS "a child process has no part in the count of allocations"

TEST_MAIN(TEST_NO_FAULTS(fork_with_queued_work, NO_FAULTS),
          TEST_NO_FAULTS(fork_while_a_worker_waits, NO_FAULTS),
          TEST_NO_FAULTS(fork_while_a_function_runs, NO_FAULTS),
          TEST_NO_FAULTS(fork_while_a_thread_waits_for_a_device, NO_FAULTS),
          TEST_NO_FAULTS(fork_inside_a_function, NO_FAULTS),
          TEST_NO_FAULTS(fork_while_the_pool_works, NO_FAULTS),
          TEST_NO_FAULTS(fork_while_streams_come_and_go, NO_FAULTS));
