/* The background threads: each starts with its first job and ends when it has had nothing to do for
 * a moment. */
#include "kernel/background.h"
#include "core/status.h"
#include "kernel/engine.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 8 << 20, /* libLLVM expects as much as a main thread has; only what is touched
                              costs memory */
    NICENESS = 5,          /* of what is late: yields to threads that compute, and gets there */
    LINGER_NANOSECONDS = 50000000
};

/* A thread, and the jobs that wait for it. */
typedef struct line {
    const char *name;
    weft__job *first, *current;
    bool dropped;      /* the current one is not to be run again */
    uint64_t finished; /* jobs */
    bool running;
    pthread_cond_t added;
} line;

enum { FIRST, LATE, LINES };

static line lines[LINES] = {
    [FIRST] = {.name = "weft-compiler", .added = PTHREAD_COND_INITIALIZER},
    [LATE] = {.name = "weft-optimizer", .added = PTHREAD_COND_INITIALIZER},
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all of this */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int count; /* jobs that wait for their first run */
static bool forking, closed;

static bool start(line *l);

static weft__job *take(line *l)
{
    weft__job *job = l->first;
    if (job) {
        l->first = job->next;
        count -= l == &lines[FIRST];
    }
    return job;
}

static void put(line *l, weft__job *job)
{
    weft__job **link = &l->first;
    while (*link)
        link = &(*link)->next;
    job->next = NULL;
    *link = job;
    count += l == &lines[FIRST];
    pthread_cond_signal(&l->added);
}

static bool is_busy(const line *l) { return l->running && (l->first || l->current); }

/* The line whose first job a thread may take now, or NULL. What is late begins when there is
 * nothing else to do, and keeps nothing else from beginning; its thread helps with the others, once
 * libLLVM is open. */
static line *source_of(line *l)
{
    line *first = &lines[FIRST];
    const bool helps = l != first && first->current && first->finished > 0;
    if (forking)
        return NULL;
    if (first->first && (l == first || helps))
        return first;
    return l->first && !is_busy(first) ? l : NULL;
}

/* A job that waits while another one is run is taken by the thread that optimizes, if it has
 * nothing to do. */
static void ask_for_help(void)
{
    static long processors;
    line *first = &lines[FIRST], *late = &lines[LATE];
    if (!first->first || !first->current || first->finished == 0)
        return;
    if (processors == 0)
        processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > 1 && (late->running || start(late)))
        pthread_cond_signal(&late->added);
}

/* With the mutex held, but while the job is run. */
static void run_one(line *l)
{
    weft__job *job = l->current = take(source_of(l));
    line *late = &lines[LATE];
    l->dropped = false;
    ask_for_help();
    pthread_mutex_unlock(&mutex);
    const bool again = job->run(job);
    pthread_mutex_lock(&mutex);
    l->current = NULL;
    l->finished++;
    if (again && (l->dropped || closed || !(late->running || start(late))))
        job->drop(job);
    else if (again) {
        job->late = true;
        put(late, job);
    }
    pthread_cond_signal(&late->added);
    pthread_cond_broadcast(&done);
}

static struct timespec moment_from_now(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LINGER_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* Whether there is a job, after a moment of waiting for one. */
static bool wait_for_job(line *l)
{
    const struct timespec until = moment_from_now();
    int error = 0;
    while (!closed && !source_of(l) && (l->first || error == 0))
        error = l->first ? pthread_cond_wait(&l->added, &mutex)
                         : pthread_cond_timedwait(&l->added, &mutex, &until);
    return !closed && source_of(l);
}

/* A thread that is woken must not take the processor from the caller that wakes it and wants its
 * result: the kernel's batch policy. What is late has a lower priority, too, but not first code,
 * which is short work that others wait for. */
static void take_turns(const line *l)
{
    const struct sched_param none = {0};
    if (sched_getscheduler(0) == SCHED_OTHER)
        (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
    if (l == &lines[LATE])
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
}

static void *run(void *argument)
{
    line *l = argument;
    take_turns(l);
    pthread_mutex_lock(&mutex);
    while (wait_for_job(l))
        run_one(l);
    l->running = false;
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Keeps this library from being unloaded: dlclose holds the loader's lock while it would wait for
 * the thread, and the thread may need that lock to go on. */
static void pin(void)
{
    static bool pinned;
    Dl_info info;
    if (!pinned && dladdr(&mutex, &info) != 0 && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    pinned = true;
}

extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library)
    __attribute__((weak));

/* Runs when the thread ends or, before all else that runs then, when it ends the process. The first
 * job opens libLLVM, unless another thread does, which registers functions for the end of the
 * process that must not run while that goes on. */
static void wait_for_first(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (lines[FIRST].finished == 0 && is_busy(&lines[FIRST]))
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
    weft__engine_settle();
}

/* This library stays in memory from here on: see pin. */
static void watch_end(void)
{
    static WEFT__THREAD_LOCAL bool watched;
    if (lines[FIRST].finished > 0 || watched || !__cxa_thread_atexit_impl)
        return;
    watched = __cxa_thread_atexit_impl(wait_for_first, NULL, &mutex) == 0;
}

/* Whether this code was there when the program started: in itself, or in a library of its own. */
static bool is_of(void *program)
{
    struct link_map *own = NULL, *whole = NULL;
    Dl_info info;
    (void)dladdr1(&mutex, &info, (void **)&own, RTLD_DL_LINKMAP);
    (void)dlinfo(program, RTLD_DI_LINKMAP, &whole);
    return (own && own == whole) || dlsym(program, "weft_version");
}

/* The thread that starts a program ends most programs, also where only others compile. A library
 * that the program opens later may be closed again, and is not watched. */
__attribute__((constructor)) static void watch_main(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program && is_of(program))
        watch_end();
    if (program)
        dlclose(program);
}

static int create(line *l, pthread_attr_t *attributes)
{
    pthread_t thread;
    const int error = pthread_create(&thread, attributes, run, l);
    if (!error)
        (void)pthread_setname_np(thread, l->name);
    return error;
}

/* With the mutex held, so that the thread is still there when it is named. */
static bool start(line *l)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pin();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: signals are for the user's threads */
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    l->running = create(l, &attributes) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return l->running;
}

bool weft__background_add(weft__job *job)
{
    line *l = &lines[job->late ? LATE : FIRST];
    pthread_mutex_lock(&mutex);
    const bool fits = !closed && count < WEFT__BACKGROUND_MOST && (l->running || start(l));
    if (fits) {
        watch_end();
        put(l, job);
        ask_for_help();
    }
    pthread_mutex_unlock(&mutex);
    return fits;
}

/* Those that wait. Returns the number of jobs that are finished when the one that is being run is,
 * if it is the device's. */
static uint64_t drop_waiting(line *l, weft_device device)
{
    weft__job **link = &l->first;
    while (*link) {
        weft__job *job = *link;
        if (!weft_device_equal(job->device, device)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        count -= l == &lines[FIRST];
        job->drop(job);
    }
    const bool under_way = l->current && weft_device_equal(l->current->device, device);
    l->dropped |= under_way;
    return under_way ? l->finished + 1 : 0;
}

void weft__background_drop(weft_device device)
{
    uint64_t until[LINES];
    pthread_mutex_lock(&mutex);
    for (int k = 0; k < LINES; k++)
        until[k] = drop_waiting(&lines[k], device);
    pthread_cond_signal(&lines[LATE].added); /* it may have waited for those of the other */
    for (int k = 0; k < LINES; k++)
        while (lines[k].finished < until[k])
            pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

bool weft__background_holds(const weft__job *job)
{
    bool holds = false;
    pthread_mutex_lock(&mutex);
    for (int k = 0; k < LINES; k++) {
        holds |= lines[k].current == job;
        for (const weft__job *waiting = lines[k].first; waiting && !holds; waiting = waiting->next)
            holds = waiting == job;
    }
    pthread_mutex_unlock(&mutex);
    return holds;
}

void weft__background_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (is_busy(&lines[FIRST]) || is_busy(&lines[LATE]))
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void drop_all(void)
{
    for (int k = 0; k < LINES; k++)
        for (weft__job *job; (job = take(&lines[k]));)
            job->drop(job);
}

/* With the mutex held: then no job is begun before it is released. */
static void wait_for_current(void)
{
    forking = true;
    while (lines[FIRST].current || lines[LATE].current)
        pthread_cond_wait(&done, &mutex);
    forking = false;
    for (int k = 0; k < LINES; k++)
        pthread_cond_signal(&lines[k].added);
}

void weft__background_fork(weft__fork_stage stage)
{
    weft__mutex_fork(&mutex, stage);
    if (stage == WEFT__FORK_PREPARE)
        wait_for_current();
    if (stage != WEFT__FORK_CHILD)
        return;
    pthread_cond_init(&done, NULL);
    for (int k = 0; k < LINES; k++) {
        pthread_cond_init(&lines[k].added, NULL);
        lines[k].running = false;
    }
    drop_all();
}

void weft__background_close(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    for (int k = 0; k < LINES; k++)
        pthread_cond_signal(&lines[k].added);
    while (lines[FIRST].running || lines[LATE].running)
        pthread_cond_wait(&done, &mutex);
    drop_all();
    pthread_mutex_unlock(&mutex);
}
