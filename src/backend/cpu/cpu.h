/* The CPU backend: what its files share. */
#ifndef WEFT_BACKEND_CPU_CPU_H
#define WEFT_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include <pthread.h>
#include <sched.h>

extern const weft__backend weft__backend_cpu;

/* device.c */
int weft__cpu_device_count(const char **why);
weft_status weft__cpu_device_describe(int index, weft_device_info *info);
weft_status weft__cpu_device_reset(int index);

/* memory.c */
void *weft__cpu_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed);
void weft__cpu_memory_release(int index, weft_memory kind, void *data, size_t bytes);
bool weft__cpu_memory_host_readable(int index, weft_memory kind);

/* launch.c: what a piece of work does, on the thread that calls. */
weft_status weft__cpu_work_run(const weft__work *work);
weft_status weft__cpu_module_load(int index, weft__image *image, weft__module **module);
void weft__cpu_module_release(weft__module *module);

/* stream.c */
weft_status weft__cpu_stream_open(weft_stream *stream);
void weft__cpu_stream_close(weft_stream *stream);
weft_status weft__cpu_stream_submit(weft_stream *stream, const weft__work *work);
weft_status weft__cpu_stream_time(weft_stream *stream, uint64_t sequence, double *seconds);

/* threads.c: one pool for the process. */

/* Calls body(argument, begin, end) for ranges that together are [0, count), cut at multiples of
 * `grain`, on as many threads as `bytes`, the memory that all of it moves, is worth; returns when
 * all is done. Large work is cut into many ranges if `fine`, into few if that has them share. */
void weft__cpu_parallel(int64_t count, int64_t grain, uint64_t bytes, bool fine,
                        void (*body)(void *argument, int64_t begin, int64_t end), void *argument);
/* The threads that compute, the caller's included. */
int weft__cpu_threads(void);
void weft__cpu_pool_pause(void);      /* before fork: returns between two jobs … */
void weft__cpu_pool_resume(void);     /* … that go on in the parent */
void weft__cpu_pool_after_fork(void); /* in the child: its threads are not here */
void weft__cpu_pool_stop(void);       /* ends its threads; the next job starts new ones */

/* thread.c */

/* The CPUs that this process may use, and whether there is more than one, so that it can pay to
 * spin. */
int weft__cpu_count(void);
bool weft__cpu_may_spin(void);
/* Keeps a thread off a CPU until it is allowed what it was before. One that waits for that CPU is
 * moved to another one; one that is woken meanwhile, too. False, with nothing done, if it may not
 * run there anyway, or nowhere else. */
bool weft__cpu_forbid(pthread_t thread, int cpu, cpu_set_t *allowed);
void weft__cpu_allow(pthread_t thread, int cpu, const cpu_set_t *allowed);
/* Moves the calling thread to another CPU if it is on this one. */
void weft__cpu_move_off(int cpu);
/* A number of threads from the text of an environment variable ("8", or OpenMP's "8,4"); 0 if it is
 * none. */
int weft__cpu_threads_parse(const char *text);

#endif
