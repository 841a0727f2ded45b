/* The library as a whole: first use, fork, unloading. */
#include "core/library.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/thread.h"

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

static void fork_prepare(void)
{
    weft__stream_list_lock();
    weft__stream_submissions_lock();
    CALL_BACKENDS(fork_prepare);
    for (int k = 0; k < weft__device_count(); k++)
        pthread_mutex_lock(&weft__device_at(k)->pool.mutex);
}

static void fork_parent(void)
{
    for (int k = weft__device_count() - 1; k >= 0; k--)
        pthread_mutex_unlock(&weft__device_at(k)->pool.mutex);
    CALL_BACKENDS(fork_parent);
    weft__stream_submissions_unlock();
    weft__stream_list_unlock();
}

static void fork_child(void)
{
    const weft__thread *thread = weft__thread_peek();
    weft__buffer_after_fork();
    for (int k = 0; k < weft__device_count(); k++) {
        weft__pool_after_fork(weft__device_at(k));
        pthread_mutex_init(&weft__device_at(k)->mutex, NULL);
    }
    weft__timeline_after_fork(thread);
    weft__retired_after_fork();
    weft__failures_after_fork();
    weft__stream_list_after_fork();
    weft__thread_after_fork();
    CALL_BACKENDS(fork_child);
}

void weft__library_open(void)
{
    opened = true;
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
    CALL_BACKENDS(shutdown);
    if (!weft__thread_close())
        return;
    for (int k = 0; k < weft__device_count(); k++)
        weft_stream_release(weft__device_at(k)->default_stream);
    weft__shutdown_caches();
    weft__timeline_free_all();
}
