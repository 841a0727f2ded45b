/* Choosing the engine, and who uses libLLVM until the process ends. */
#include "kernel/engine.h"
#include "core/status.h"
#include "kernel/disk.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1 };

static _Atomic int chosen = UNKNOWN;
static _Atomic(weft__engine_maker *) maker;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* held while libLLVM is first used */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int users; /* threads that compile, once it is prepared */
static _Atomic bool prepared, missing;
static bool explained, closed; /* explained: prepared for texts */

static weft_status read_environment(weft__engine *engine)
{
    static const char *const names[] = {"auto", "interpreter", "llvm", "quick"};
    const char *text = getenv("WEFT_ENGINE");
    TRY(weft__disk_check()); /* the other variable that says how kernels are made */
    *engine = WEFT__ENGINE_AUTO;
    for (int k = 0; text && *text; k++) {
        if (k == sizeof names / sizeof names[0])
            return FAIL_AT(WEFT_ERROR_ARGUMENT, "WEFT_ENGINE",
                           "the environment variable WEFT_ENGINE is '%.40s'; auto, interpreter, "
                           "llvm or quick was expected",
                           text);
        if (strcmp(text, names[k]) == 0) {
            *engine = (weft__engine)k;
            break;
        }
    }
    atomic_store_explicit(&chosen, *engine, memory_order_relaxed);
    return WEFT_OK;
}

weft_status weft__engine_get(weft__engine *engine)
{
    const int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (known == UNKNOWN)
        return read_environment(engine);
    *engine = (weft__engine)known;
    return WEFT_OK;
}

void weft__engine_choose(int engine) { atomic_store(&chosen, engine); }

void weft__engine_set_maker(weft__engine_maker *new_maker) { atomic_store(&maker, new_maker); }

weft__engine_maker *weft__engine_get_maker(void) { return atomic_load(&maker); }

bool weft__engine_is_prepared(void) { return atomic_load(&prepared); }

bool weft__engine_is_missing(void) { return atomic_load(&missing); }

void weft__engine_settle(void)
{
    if (atomic_load(&prepared))
        return;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

/* With the mutex held: then nobody compiles before it is released. */
static void wait_for_users(void)
{
    while (users > 0)
        pthread_cond_wait(&left, &mutex);
}

/* Runs at exit, before what libLLVM had registered to run then: when it was opened, and, the second
 * time this is registered, when it compiled for the first time. Who compiles then is waited for. */
static void close_compiler(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    wait_for_users();
    pthread_mutex_unlock(&mutex);
}

/* What a thread asks for: an object, or a text. */
typedef struct job {
    const weft__kernel *kernel;
    const weft__launch *sample;
    weft__effort *effort;
    weft__object *object;
    char **text;
} job;

static weft_status do_job(const job *j)
{
    return j->text ? weft__llvm_explain(j->kernel, j->sample, j->text)
                   : weft__llvm_compile(j->kernel, j->sample, j->effort, j->object);
}

/* With the mutex held: the first time, libLLVM is one thread's. A failure may have come before
 * libLLVM compiled anything, so that the next one is the first. */
static weft_status prepare(const job *j)
{
    static bool opened;
    if (weft__llvm_open() != WEFT_OK) {
        atomic_store(&missing, true);
        return WEFT_ERROR_UNSUPPORTED;
    }
    if (!opened)
        closed = atexit(close_compiler) != 0;
    opened = true;
    const weft_status status = do_job(j);
    if (status != WEFT_OK)
        return status;
    closed |= atexit(close_compiler) != 0;
    if (j->text)
        explained = true;
    else
        prepared = true;
    return WEFT_OK;
}

/* With the mutex held, but while others may compile too. */
static weft_status compile(const job *j)
{
    users++;
    pthread_mutex_unlock(&mutex);
    const weft_status status = do_job(j);
    pthread_mutex_lock(&mutex);
    if (--users == 0)
        pthread_cond_broadcast(&left);
    return status;
}

static weft_status run(const job *j)
{
    pthread_mutex_lock(&mutex);
    const weft_status status =
        closed ? FAIL(WEFT_ERROR_SYSTEM, "the process is ending: nothing is compiled any more")
        : (j->text ? explained : prepared) ? compile(j)
                                           : prepare(j);
    pthread_mutex_unlock(&mutex);
    return status;
}

weft_status weft__engine_compile(const weft__kernel *kernel, const weft__launch *sample,
                                 weft__effort *effort, weft__object *object)
{
    return run(&(job){kernel, sample, effort, object, NULL});
}

weft_status weft__engine_explain(const weft__kernel *kernel, const weft__launch *sample,
                                 char **text)
{
    return run(&(job){.kernel = kernel, .sample = sample, .text = text});
}

void weft__engine_fork(weft__fork_stage stage)
{
    weft__mutex_fork(&mutex, stage);
    if (stage == WEFT__FORK_PREPARE)
        wait_for_users();
    if (stage == WEFT__FORK_CHILD)
        pthread_cond_init(&left, NULL);
}
