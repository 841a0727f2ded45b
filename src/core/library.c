/* The library as a whole: first use, fork, unloading. */
#include "core/library.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/lent.h"
#include "core/thread.h"
#include "trace/trace.h"

static bool opened;

static void each_backend(void (*const *hooks)(void))
{
    for (int b = 0; b < weft__backends_count; b++)
        if (hooks[b])
            hooks[b]();
}

#define CALL_BACKENDS(hook)                                                                        \
    do {                                                                                           \
        void (*hooks[8])(void) = {0};                                                              \
        for (int b = 0; b < weft__backends_count && b < 8; b++)                                    \
            hooks[b] = weft__backends[b]->hook;                                                    \
        each_backend(hooks);                                                                       \
    } while (0)

enum { HOOKS_MAX = 8 };
static void (*fork_hooks[HOOKS_MAX])(weft__fork_stage stage);
static _Atomic int fork_hooks_count;

void weft__mutex_fork(pthread_mutex_t *mutex, weft__fork_stage stage)
{
    if (stage == WEFT__FORK_PREPARE)
        pthread_mutex_lock(mutex);
    else if (stage == WEFT__FORK_PARENT)
        pthread_mutex_unlock(mutex);
    else
        pthread_mutex_init(mutex, NULL);
}

/* The caller holds a mutex of its own while it registers. */
void weft__library_on_fork(void (*hook)(weft__fork_stage stage))
{
    int count = atomic_load(&fork_hooks_count);
    for (int k = 0; k < count; k++)
        if (fork_hooks[k] == hook)
            return;
    if (count < HOOKS_MAX) {
        fork_hooks[count] = hook;
        atomic_store(&fork_hooks_count, count + 1);
    }
}

static void (*_Atomic close_hook)(void);

void weft__library_on_close(void (*hook)(void)) { atomic_store(&close_hook, hook); }

static void run_hooks(weft__fork_stage stage)
{
    for (int k = 0; k < atomic_load(&fork_hooks_count); k++)
        fork_hooks[k](stage);
}

/* Locks that are held for a moment only, and inside which no other is taken. */
static void fork_leaves(weft__fork_stage stage)
{
    weft__timeline_fork(stage);
    weft__thread_fork(stage);
    weft__retired_fork(stage);
    weft__lent_fork(stage);
    weft__failures_fork(stage);
}

static int forked_devices; /* whose pools are locked meanwhile */

static void fork_prepare(void)
{
    run_hooks(WEFT__FORK_PREPARE);
    weft__stream_list_lock();
    weft__stream_submissions_lock();
    CALL_BACKENDS(fork_prepare);
    forked_devices = weft__device_count();
    for (int k = 0; k < forked_devices; k++)
        pthread_mutex_lock(&weft__device_at(k)->pool.mutex);
    fork_leaves(WEFT__FORK_PREPARE);
}

static void fork_parent(void)
{
    fork_leaves(WEFT__FORK_PARENT);
    for (int k = forked_devices - 1; k >= 0; k--)
        pthread_mutex_unlock(&weft__device_at(k)->pool.mutex);
    CALL_BACKENDS(fork_parent);
    weft__stream_submissions_unlock();
    weft__stream_list_unlock();
    run_hooks(WEFT__FORK_PARENT);
}

static void fork_child(void)
{
    const weft__thread *thread = weft__thread_peek();
    run_hooks(WEFT__FORK_CHILD);
    weft__buffer_after_fork();
    for (int k = 0; k < weft__device_count(); k++) {
        weft__pool_after_fork(weft__device_at(k));
        pthread_mutex_init(&weft__device_at(k)->mutex, NULL);
    }
    fork_leaves(WEFT__FORK_CHILD);
    weft__timeline_after_fork(thread);
    weft__stream_list_after_fork();
    weft__thread_after_fork();
    weft__trace_after_fork();
    CALL_BACKENDS(fork_child);
}

void weft__library_open(void)
{
    opened = true;
    weft__trace_open();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void weft__shutdown_caches(void)
{
    weft__stream_wait_all(WEFT_NO_DEVICE);
    for (int k = 0; k < weft__device_count(); k++)
        weft__device_drop(weft__device_at(k));
}

/* Runs at exit and when the library is unloaded: work that is queued is finished, our threads are
 * joined, memory is given back. Other threads may go on while the process exits, so what they may
 * be using stays. */
__attribute__((destructor)) static void library_close(void)
{
    if (!opened)
        return;
    weft__trace_closing();
    CALL_BACKENDS(shutdown);
    if (atomic_load(&close_hook))
        atomic_load (&close_hook)();
    const bool alone = weft__thread_close();
    weft__trace_close(alone);
    if (!alone) {
        for (int k = 0; k < weft__device_count(); k++)
            weft__pool_trim(weft__device_at(k), 0);
        return;
    }
    for (int k = 0; k < weft__device_count(); k++)
        weft_stream_release(weft__device_at(k)->default_stream);
    weft__shutdown_caches();
    weft__timeline_free_all();
}
