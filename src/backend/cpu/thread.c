/* Starting threads, and how many there may be. */
#include "backend/cpu/cpu.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Users' functions run on these stacks; pages that are not touched cost nothing. */
enum { STACK_BYTES = 1 << 20, THREADS_MAX = 1024 };

int weft__cpu_thread_start(pthread_t *thread, const char *name, void *(*body)(void *),
                           void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: signals are for the user's threads */
    error = pthread_create(thread, &attributes, body, argument);
    if (error == EINVAL) /* the program's thread-local variables do not fit into the stack */
        error = pthread_create(thread, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(*thread, name);
    return error;
}

static int ask_count(void)
{
    for (size_t most = 1024; most <= 1 << 16; most *= 4) {
        size_t bytes = CPU_ALLOC_SIZE(most);
        cpu_set_t *set = CPU_ALLOC(most);
        int count = set && sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int weft__cpu_count(void)
{
    static _Atomic int known; /* 0: not asked yet */
    int count = atomic_load_explicit(&known, memory_order_relaxed);
    if (!count) {
        count = ask_count();
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count;
}

bool weft__cpu_may_spin(void) { return weft__cpu_count() > 1; }

int weft__cpu_threads_parse(const char *text)
{
    char *end;
    if (!text)
        return 0;
    errno = 0;
    long count = strtol(text, &end, 10);
    end += strspn(end, " \t");
    bool whole = end != text && (*end == '\0' || *end == ',');
    if (!whole || errno || count < 1)
        return 0;
    return count > THREADS_MAX ? THREADS_MAX : (int)count;
}
