/* The background thread: starts with the first job, ends when it has had nothing to do for a
 * moment. */
#include "kernel/background.h"
#include "core/status.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 8 << 20, /* libLLVM expects as much as a main thread has; only what is touched
                              costs memory */
    NICENESS = 5,          /* yields to threads that compute, and still gets there */
    LINGER_NANOSECONDS = 50000000
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all of this */
static pthread_cond_t added = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static weft__job *first, *current;
static bool dropped;      /* the current one is not to wait again */
static int count;         /* jobs that wait and are not late */
static uint64_t finished; /* jobs */
static bool running, closed;

static weft__job *take(void)
{
    weft__job *job = first;
    if (job) {
        first = job->next;
        count -= !job->late;
    }
    return job;
}

/* Late ones come last. */
static void put(weft__job *job)
{
    weft__job **link = &first;
    while (*link && (*link)->late <= job->late)
        link = &(*link)->next;
    job->next = *link;
    *link = job;
    count += !job->late;
}

/* With the mutex held, but while the job is run. */
static void run_one(void)
{
    weft__job *job = current = take();
    dropped = false;
    pthread_mutex_unlock(&mutex);
    const bool again = job->run(job);
    pthread_mutex_lock(&mutex);
    current = NULL;
    finished++;
    if (again && dropped)
        job->drop(job);
    else if (again) {
        job->late = true;
        put(job);
    }
    pthread_cond_broadcast(&done);
}

/* Whether there is a job, after a moment of waiting for one. */
static bool wait_for_job(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LINGER_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!first && !closed && pthread_cond_timedwait(&added, &mutex, &until) == 0)
        ;
    return first != NULL;
}

static void *run(void *unused)
{
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
    pthread_mutex_lock(&mutex);
    while (!closed && wait_for_job())
        run_one();
    running = false;
    pthread_cond_broadcast(&done);
    pthread_mutex_unlock(&mutex);
    return unused;
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
 * job opens libLLVM, which registers functions for the end of the process that must not run while
 * that goes on. */
static void wait_for_first(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (running && finished == 0 && (first || current))
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* This library stays in memory from here on: see pin. */
static void watch_end(void)
{
    static WEFT__THREAD_LOCAL bool watched;
    if (finished > 0 || watched || !__cxa_thread_atexit_impl)
        return;
    watched = __cxa_thread_atexit_impl(wait_for_first, NULL, &mutex) == 0;
}

static int create(pthread_attr_t *attributes)
{
    pthread_t thread;
    const int error = pthread_create(&thread, attributes, run, NULL);
    if (!error)
        (void)pthread_setname_np(thread, "weft-compiler");
    return error;
}

/* With the mutex held, so that the thread is still there when it is named. */
static bool start(void)
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
    running = create(&attributes) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return running;
}

bool weft__background_add(weft__job *job)
{
    pthread_mutex_lock(&mutex);
    const bool fits = !closed && count < WEFT__BACKGROUND_MOST && (running || start());
    if (fits) {
        watch_end();
        job->late = false;
        put(job);
        pthread_cond_signal(&added);
    }
    pthread_mutex_unlock(&mutex);
    return fits;
}

uint64_t weft__background_drop(weft_device device)
{
    pthread_mutex_lock(&mutex);
    weft__job **link = &first;
    while (*link) {
        weft__job *job = *link;
        if (!weft_device_equal(job->device, device)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        count -= !job->late;
        job->drop(job);
    }
    const bool under_way = current && weft_device_equal(current->device, device);
    dropped |= under_way;
    const uint64_t number = under_way ? finished + 1 : 0;
    pthread_mutex_unlock(&mutex);
    return number;
}

void weft__background_wait_past(uint64_t number)
{
    pthread_mutex_lock(&mutex);
    while (finished < number)
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

bool weft__background_holds(const weft__job *job)
{
    pthread_mutex_lock(&mutex);
    bool holds = current == job;
    for (const weft__job *waiting = first; waiting && !holds; waiting = waiting->next)
        holds = waiting == job;
    pthread_mutex_unlock(&mutex);
    return holds;
}

void weft__background_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (running && (first || current))
        pthread_cond_wait(&done, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void drop_all(void)
{
    for (weft__job *job; (job = take());)
        job->drop(job);
}

void weft__background_fork(weft__fork_stage stage)
{
    weft__mutex_fork(&mutex, stage);
    while (stage == WEFT__FORK_PREPARE && current)
        pthread_cond_wait(&done, &mutex);
    if (stage != WEFT__FORK_CHILD)
        return;
    pthread_cond_init(&added, NULL);
    pthread_cond_init(&done, NULL);
    running = false;
    drop_all();
}

void weft__background_close(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    pthread_cond_signal(&added);
    while (running)
        pthread_cond_wait(&done, &mutex);
    drop_all();
    pthread_mutex_unlock(&mutex);
}
