/* The pool of threads: all of the work is done once, small work stays on the caller. */
#include "backend/cpu/cpu.h"
#include "support/check.h"
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 300000 };
static const uint64_t LARGE = 64 << 20; /* bytes: worth all threads */

static _Atomic unsigned char touched[MOST];
static _Atomic int calls, wrong_cuts;
static int64_t job_count, job_grain;

/* The pool is to have threads on a machine with one CPU too; one for each CPU where it can. */
static int threads_chosen = 4;
__attribute__((constructor)) static void choose_threads(void)
{
    char text[16];
    if (weft__cpu_count() > 1 && weft__cpu_count() < 4)
        threads_chosen = weft__cpu_count();
    (void)snprintf(text, sizeof text, "%d", threads_chosen);
    setenv("WEFT_THREADS", text, 1);
}

static void touch(void *argument, int64_t begin, int64_t end)
{
    (void)argument;
    atomic_fetch_add(&calls, 1);
    if (begin % job_grain != 0 || (end % job_grain != 0 && end != job_count) || begin >= end)
        atomic_fetch_add(&wrong_cuts, 1);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add_explicit(&touched[i], 1, memory_order_relaxed);
}

static int64_t run_job(int64_t count, int64_t grain, uint64_t bytes, bool fine)
{
    int64_t once = 0;
    memset((void *)touched, 0, sizeof touched);
    atomic_store(&calls, 0);
    job_count = count;
    job_grain = grain;
    weft__cpu_parallel(count, grain, bytes, fine, touch, NULL);
    for (int64_t i = 0; i < MOST; i++)
        once += touched[i] == 1;
    return once;
}

TEST(number_of_threads)
{
    static const struct {
        const char *text;
        int count;
    } rows[] = {{"1", 1},        {"16", 16},
                {" 3 ", 3},      {"8,4", 8},
                {"99999", 1024}, {"0", 0},
                {"-2", 0},       {"abc", 0},
                {"", 0},         {"3x", 0},
                {NULL, 0},       {"1.5", 0},
                {",", 0},        {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(weft__cpu_threads_parse(rows[i].text), rows[i].count);
    CHECK_INT(weft__cpu_threads(), threads_chosen);
    CHECK(weft__cpu_count() >= 1);
}

TEST(every_element_once)
{
    static const int64_t counts[] = {1, 2, 3, 7, 255, 256, 257, 4096, 99999, MOST};
    static const int64_t grains[] = {1, 2, 256, 4096, 100000, 1 << 20};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (size_t k = 0; k < sizeof grains / sizeof grains[0]; k++) {
            CHECK_INT(run_job(counts[i], grains[k], LARGE, k % 2 == i % 2), counts[i]);
            CHECK_INT(atomic_load(&wrong_cuts), 0);
        }
    CHECK_INT(run_job(0, 1, LARGE, true), 0);
    CHECK_INT(atomic_load(&calls), 0);
    CHECK_INT(run_job(MOST, 256, LARGE, false), MOST);
    const int64_t coarse = atomic_load(&calls);
    CHECK(coarse > threads_chosen);
    CHECK_INT(run_job(MOST, 256, LARGE, true), MOST);
    CHECK(atomic_load(&calls) > coarse);
}

static void note_thread(void *argument, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    *(pthread_t *)argument = pthread_self();
}

TEST(small_work_stays_on_the_caller)
{
    pthread_t thread;
    CHECK_INT(run_job(MOST, 1, 400 << 10, true), MOST);
    CHECK_INT(atomic_load(&calls), 1);
    weft__cpu_parallel(1000, 1, 4000, false, note_thread, &thread);
    CHECK(pthread_equal(thread, pthread_self()));
}

static void nested(void *argument, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        weft__cpu_parallel(100, 1, LARGE, false, argument ? nested : touch, NULL);
}

TEST(jobs_inside_jobs_run_alone)
{
    memset((void *)touched, 0, sizeof touched);
    atomic_store(&calls, 0);
    job_count = 100;
    job_grain = 1;
    weft__cpu_parallel(50, 1, LARGE, false, nested, NULL);
    CHECK_INT(atomic_load(&calls), 50);
    for (int i = 0; i < 100; i++)
        CHECK_INT(touched[i], 50);
}

static void add_up(void *argument, int64_t begin, int64_t end)
{
    atomic_fetch_add((_Atomic int64_t *)argument, (begin + end - 1) * (end - begin) / 2);
}

static void *many_jobs(void *argument)
{
    _Atomic int *wrong = argument;
    for (int64_t i = 1; i <= 2000; i++) {
        _Atomic int64_t sum = 0;
        weft__cpu_parallel(i, 1, LARGE, true, add_up, &sum);
        atomic_fetch_add(wrong, sum != i * (i - 1) / 2);
    }
    return NULL;
}

TEST(many_callers_at_once)
{
    pthread_t threads[4];
    _Atomic int wrong = 0;
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, many_jobs, &wrong), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&wrong), 0);
}

TEST(pool_stops_and_starts_again)
{
    for (int i = 0; i < 20; i++) {
        CHECK_INT(run_job(10000, 16, LARGE, false), 10000);
        weft__cpu_pool_stop();
    }
    weft__cpu_pool_stop();
}

/* Nothing keeps the system from moving it back, so several tries may be needed. */
TEST(a_thread_moves_off_a_cpu)
{
    cpu_set_t before, after, one;
    bool moved = false;
    CHECK_INT(sched_getaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < 1000 && !moved; i++) {
        const int cpu = sched_getcpu();
        weft__cpu_move_off(cpu);
        moved = sched_getcpu() != cpu;
    }
    CHECK(moved == (CPU_COUNT(&before) > 1));
    CHECK_INT(sched_getaffinity(0, sizeof after, &after), 0);
    CHECK(CPU_EQUAL(&before, &after));
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    weft__cpu_move_off(sched_getcpu());
    CHECK_INT(sched_getaffinity(0, sizeof after, &after), 0);
    CHECK_INT(sched_setaffinity(0, sizeof before, &before), 0);
    CHECK(CPU_EQUAL(&one, &after));
}

/* How many threads of this process may run elsewhere than where it may; all of them are counted. */
static int threads_elsewhere(const cpu_set_t *allowed, int *all)
{
    DIR *tasks = opendir("/proc/self/task");
    int elsewhere = 0;
    *all = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        cpu_set_t set;
        if (task->d_name[0] == '.' ||
            sched_getaffinity((pid_t)atoi(task->d_name), sizeof set, &set) != 0)
            continue;
        elsewhere += !CPU_EQUAL(&set, allowed);
        ++*all;
    }
    if (tasks)
        closedir(tasks);
    return elsewhere;
}

/* The caller goes from one CPU to the next and sleeps, so that helpers are woken where it is. */
TEST(helpers_may_run_where_they_might_before)
{
    cpu_set_t before, one;
    const struct timespec moment = {0, 50000};
    int all;
    CHECK_INT(sched_getaffinity(0, sizeof before, &before), 0);
    CHECK_INT(run_job(10000, 16, LARGE, false), 10000);
    for (int i = 0; i < 400; i++) {
        const size_t cpu = (size_t)i % 4;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (CPU_ISSET(cpu, &before))
            CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
        CHECK_INT(run_job(10000, 16, LARGE, i % 2), 10000);
        nanosleep(&moment, NULL);
    }
    CHECK_INT(sched_setaffinity(0, sizeof before, &before), 0);
    CHECK_INT(threads_elsewhere(&before, &all), 0);
    CHECK(all >= threads_chosen);
}

TEST_MAIN(TEST_OF(number_of_threads), TEST_OF(every_element_once),
          TEST_OF(small_work_stays_on_the_caller), TEST_OF(jobs_inside_jobs_run_alone),
          TEST_OF(many_callers_at_once), TEST_OF(pool_stops_and_starts_again),
          TEST_OF(a_thread_moves_off_a_cpu), TEST_OF(helpers_may_run_where_they_might_before));
