/* Waiting for a word of memory to change: unlike a mutex, it needs no repair after fork. */
#ifndef WEFT_BACKEND_CPU_FUTEX_H
#define WEFT_BACKEND_CPU_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while the word is `value`, at most `nanoseconds` long (0: for ever); may wake early. */
static inline void weft__futex_wait(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
    struct timespec limit = {0, nanoseconds};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? &limit : NULL, NULL, 0);
}

static inline void weft__futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline uint64_t weft__nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void weft__relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* One turn of a loop that waits by spinning; false when `until` has passed. */
static inline bool weft__spin(uint64_t until)
{
    for (int i = 0; i < 4; i++)
        weft__relax();
    return weft__nanoseconds() < until;
}

#endif
