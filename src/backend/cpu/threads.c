/* The pool of threads that kernels and large copies are split over. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/futex.h"
#include "backend/thread.h"
#include "core/timeline.h"
#include <sched.h>
#include <stdlib.h>

enum {
    BYTES_EACH = 256 << 10, /* less than this for each thread is not worth waking it */
    CHUNKS_EACH = 4,        /* so that a thread that comes late leaves its share to the others */
    CHUNKS_FINE = 32,       /* so that none waits long for another's last one */
    CHUNK_FINE = 1 << 20,   /* bytes; smaller ones are not worth it */
    TURNING = 1 << 20,      /* bytes; a job of fewer leaves most caches as they were */
    SPIN_NANOSECONDS = 5000,
    JOIN_SPIN_NANOSECONDS = 20000,
    THREADS_MAX = 1024
};

/* The state of the pool in one word: the low bits count the threads that are in the job; LIMIT is
 * how many it wants. A thread gets in by adding itself while the job is open, so one that comes
 * late finds it closed and nobody waits for it. */
#define OPEN (1u << 31)
#define WANTED (1u << 30) /* the caller sleeps until the last thread has left */
#define COUNT_MASK 0x7fffu
enum { LIMIT_SHIFT = 15 };

typedef struct helper {
    pthread_t thread;
    _Atomic bool works;  /* is in a job */
    _Atomic bool moving; /* somebody changes where it may run */
} helper;

static struct {
    _Atomic bool busy; /* somebody's job has the pool; guards `job` and `started` */
    _Atomic bool stop;
    int started;
    unsigned looked_at; /* helpers, by the caller, in turn; a count */
    helper helpers[THREADS_MAX];
    _Atomic uint32_t sleepers;
    _Atomic uint32_t signal; /* changes when sleepers are to look for a job */
    char apart[64];
    _Atomic uint32_t state;
    struct {
        void (*body)(void *argument, int64_t begin, int64_t end);
        void *argument;
        int64_t count, chunk, chunks;
        bool turned;    /* every other time: what was used last may be in a cache */
        int64_t middle; /* where the caller and the helpers meet, if all are as fast */
        int cpu;        /* the caller's */
    } job;
    char apart_too[64];
    _Atomic int64_t taken; /* chunks: by the caller, and, in units of HELPED, by the helpers */
} pool;

#define HELPED ((int64_t)1 << 32)

static WEFT__THREAD_LOCAL bool inside; /* a job, or the pool itself */

int weft__cpu_threads(void)
{
    static _Atomic int threads; /* 0: not asked yet */
    int count = atomic_load_explicit(&threads, memory_order_relaxed);
    if (count)
        return count;
    count = weft__cpu_threads_parse(getenv("WEFT_THREADS"));
    if (!count)
        count = weft__cpu_threads_parse(getenv("OMP_NUM_THREADS"));
    if (!count)
        count = weft__cpu_count();
    if (count > THREADS_MAX)
        count = THREADS_MAX;
    atomic_store_explicit(&threads, count, memory_order_relaxed);
    return count;
}

/* The caller takes chunks from one end and the helpers from the other, so that, of one job after
 * the other on the same memory, each finds most of it in its own cache. A job that is turned begins
 * in the middle, where the one before has ended, and goes on beyond the ends. */
static int64_t chunk_at(int64_t taken, int64_t step)
{
    const int64_t chunks = pool.job.chunks, own = taken % HELPED, helped = taken / HELPED;
    if (own + helped >= chunks)
        return -1;
    const int64_t at = step == HELPED ? chunks - 1 - helped : own;
    return pool.job.turned ? (pool.job.middle - 1 - at + chunks) % chunks : at;
}

/* Whether there was a chunk left. `step` is 1 for the caller, HELPED for a helper. */
static bool run_chunk(int64_t step)
{
    const int64_t at = chunk_at(atomic_fetch_add(&pool.taken, step), step);
    if (at < 0)
        return false;
    const int64_t begin = at * pool.job.chunk, left = pool.job.count - begin;
    pool.job.body(pool.job.argument, begin,
                  begin + (left < pool.job.chunk ? left : pool.job.chunk));
    return true;
}

/* Whether a job is open and has a place left. */
static bool has_place(uint32_t state)
{
    uint32_t limit = (state & ~(OPEN | WANTED)) >> LIMIT_SHIFT;
    return (state & OPEN) && (state & COUNT_MASK) < limit;
}

static bool try_enter(void)
{
    uint32_t state = atomic_load(&pool.state);
    while (has_place(state))
        if (atomic_compare_exchange_weak(&pool.state, &state, state + 1))
            return true;
    return false;
}

/* Nobody gets in any more. Done by the first who finds no chunk left, and by the caller. */
static void close_job(void) { atomic_fetch_and(&pool.state, WANTED | COUNT_MASK); }

static void leave(void)
{
    close_job();
    if (atomic_fetch_sub(&pool.state, 1) == (WANTED | 1u))
        weft__futex_wake(&pool.state, 1);
}

static bool may_spin(void)
{
    return weft__cpu_may_spin() && weft__cpu_threads() <= weft__cpu_count();
}

static bool has_job(void) { return has_place(atomic_load(&pool.state)) || atomic_load(&pool.stop); }

/* Sleeps until a job is opened or the pool stops; spins a little first. */
static void wait_for_job(void)
{
    uint32_t signal = atomic_load(&pool.signal);
    uint64_t until = weft__nanoseconds() + SPIN_NANOSECONDS;
    while (may_spin() && weft__spin(until))
        if (has_job())
            return;
    atomic_fetch_add(&pool.sleepers, 1);
    if (!has_job())
        weft__futex_wait(&pool.signal, signal, 0);
    atomic_fetch_sub(&pool.sleepers, 1);
}

static void *pool_main(void *argument)
{
    helper *h = argument;
    inside = true;
    while (!atomic_load(&pool.stop)) {
        if (try_enter()) {
            atomic_store_explicit(&h->works, true, memory_order_relaxed);
            if (!atomic_exchange(&h->moving, true)) {
                weft__cpu_move_off(pool.job.cpu);
                atomic_store(&h->moving, false);
            }
            while (run_chunk(HELPED))
                ;
            atomic_store_explicit(&h->works, false, memory_order_relaxed);
            leave();
        }
        wait_for_job();
    }
    return NULL;
}

static void wake_sleepers(int count)
{
    if (atomic_load(&pool.sleepers) == 0)
        return;
    atomic_fetch_add(&pool.signal, 1);
    weft__futex_wake(&pool.signal, count);
}

/* As many of `count` threads as the system gives. */
static int start_threads(int count)
{
    for (; pool.started < count; pool.started++) {
        helper *h = &pool.helpers[pool.started];
        atomic_store(&h->works, false);
        atomic_store(&h->moving, false);
        if (weft__backend_thread_start(&h->thread, "weft-pool", pool_main, h) != 0)
            break;
    }
    return pool.started < count ? pool.started : count;
}

static void open_job(int helpers)
{
    atomic_store_explicit(&pool.taken, 0, memory_order_relaxed);
    WEFT__STORE_FIRST(&pool.state, OPEN | (uint32_t)helpers << LIMIT_SHIFT);
    wake_sleepers(helpers);
}

static void wait_until_empty(void)
{
    uint64_t until = weft__nanoseconds() + JOIN_SPIN_NANOSECONDS;
    uint32_t state;
    while ((state = atomic_load(&pool.state)) & COUNT_MASK) {
        if (may_spin() && weft__spin(until))
            continue;
        if ((state & WANTED) || atomic_compare_exchange_strong(&pool.state, &state, state | WANTED))
            weft__futex_wait(&pool.state, state | WANTED, 0);
    }
    atomic_store(&pool.state, 0);
}

/* The system may wake a thread where the caller runs, although another CPU is idle (of a virtual
 * machine, an idle one counts as taken), and takes milliseconds to move it: until then it waits for
 * the caller. */
static void free_helper(helper *h)
{
    cpu_set_t allowed;
    if (atomic_load_explicit(&h->works, memory_order_relaxed) || atomic_exchange(&h->moving, true))
        return;
    if (weft__cpu_forbid(h->thread, pool.job.cpu, &allowed))
        weft__cpu_allow(h->thread, pool.job.cpu, &allowed);
    atomic_store(&h->moving, false);
}

static int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* How many threads the work is worth: one for each BYTES_EACH, and none without a grain to do. */
static int threads_for(int64_t units, uint64_t bytes)
{
    int64_t threads = weft__cpu_threads();
    if (bytes / BYTES_EACH < (uint64_t)threads)
        threads = (int64_t)(bytes / BYTES_EACH);
    return (int)(units < threads ? units : threads);
}

static int64_t chunks_for(int threads, uint64_t bytes, bool fine)
{
    const uint64_t each = bytes / CHUNK_FINE / (uint64_t)threads;
    if (!fine || each <= CHUNKS_EACH)
        return threads * (int64_t)CHUNKS_EACH;
    return threads * (int64_t)(each < CHUNKS_FINE ? each : CHUNKS_FINE);
}

/* Shares the work out; false, with nothing done, if the pool is busy or there are no threads. */
static bool share(int64_t count, int64_t grain, uint64_t bytes, bool fine,
                  void (*body)(void *argument, int64_t begin, int64_t end), void *argument)
{
    int64_t units = divide_up(count, grain);
    int threads = threads_for(units, bytes);
    if (threads < 2 || atomic_exchange(&pool.busy, true))
        return false;
    int helpers = start_threads(threads - 1);
    if (helpers > 0) {
        int64_t chunk = divide_up(units, chunks_for(helpers + 1, bytes, fine)) * grain;
        pool.job.body = body;
        pool.job.argument = argument;
        pool.job.count = count;
        pool.job.chunk = chunk;
        pool.job.chunks = divide_up(count, chunk);
        pool.job.middle = pool.job.chunks / (helpers + 1);
        pool.job.turned ^= bytes >= TURNING;
        pool.job.cpu = sched_getcpu();
        open_job(helpers);
        inside = true;
        const bool all = helpers == pool.started && may_spin(); /* else others may sleep on */
        while (run_chunk(1))
            if (all && has_place(atomic_load(&pool.state)))
                free_helper(&pool.helpers[pool.looked_at++ % (unsigned)helpers]);
        inside = false;
        close_job();
        wait_until_empty();
    }
    atomic_store(&pool.busy, false);
    return helpers > 0;
}

void weft__cpu_parallel(int64_t count, int64_t grain, uint64_t bytes, bool fine,
                        void (*body)(void *argument, int64_t begin, int64_t end), void *argument)
{
    if (count <= 0)
        return;
    if (bytes < 2 * BYTES_EACH || inside ||
        !share(count, grain < 1 ? 1 : grain, bytes, fine, body, argument))
        body(argument, 0, count);
}

/* Waits until no job has the pool, and takes it. */
static void take_pool(void)
{
    while (atomic_exchange(&pool.busy, true)) {
        struct timespec moment = {0, 20000};
        nanosleep(&moment, NULL);
    }
}

void weft__cpu_pool_pause(void)
{
    if (!inside)
        take_pool();
}

void weft__cpu_pool_resume(void)
{
    if (!inside)
        atomic_store(&pool.busy, false);
}

void weft__cpu_pool_after_fork(void)
{
    pool.started = 0;
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.state, 0);
    weft__cpu_pool_resume();
}

void weft__cpu_pool_stop(void)
{
    if (inside)
        return;
    take_pool();
    atomic_store(&pool.stop, true);
    atomic_fetch_add(&pool.signal, 1);
    weft__futex_wake(&pool.signal, INT_MAX);
    for (int i = 0; i < pool.started; i++)
        pthread_join(pool.helpers[i].thread, NULL);
    pool.started = 0;
    atomic_store(&pool.stop, false);
    atomic_store(&pool.busy, false);
}
