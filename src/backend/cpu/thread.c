/* How many threads there may be, and where. */
#include "backend/cpu/cpu.h"
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

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

bool weft__cpu_forbid(pthread_t thread, int cpu, cpu_set_t *allowed)
{
    cpu_set_t others;
    if (cpu < 0 || cpu >= CPU_SETSIZE ||
        pthread_getaffinity_np(thread, sizeof *allowed, allowed) != 0 ||
        !CPU_ISSET((size_t)cpu, allowed))
        return false;
    others = *allowed;
    CPU_CLR((size_t)cpu, &others);
    return CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0;
}

/* What the user has set meanwhile stays. */
void weft__cpu_allow(pthread_t thread, int cpu, const cpu_set_t *allowed)
{
    cpu_set_t now, others = *allowed;
    CPU_CLR((size_t)cpu, &others);
    if (pthread_getaffinity_np(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &others))
        (void)pthread_setaffinity_np(thread, sizeof *allowed, allowed);
}

/* Where it may run is narrowed for a moment: that is what has it moved at once. */
void weft__cpu_move_off(int cpu)
{
    cpu_set_t allowed;
    if (sched_getcpu() == cpu && weft__cpu_forbid(pthread_self(), cpu, &allowed))
        weft__cpu_allow(pthread_self(), cpu, &allowed);
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
