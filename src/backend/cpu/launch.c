/* Doing a piece of work on the CPU: kernels and copies over the pool, calls on this thread. */
#include "backend/call.h"
#include "backend/cpu/cpu.h"
#include "core/allocate.h"
#include "core/status.h"
#include <pthread.h>
#include <string.h>

struct weft__module {
    weft__image image;
};

weft_status weft__cpu_module_load(int index, weft__image *image, weft__module **module)
{
    (void)index;
    *module = weft__allocate(sizeof **module);
    if (*module) {
        (*module)->image = *image;
        return WEFT_OK;
    }
    if (image->destroy)
        image->destroy(image->program);
    return WEFT_ERROR_MEMORY;
}

void weft__cpu_module_release(weft__module *module)
{
    if (!module)
        return;
    if (module->image.destroy)
        module->image.destroy(module->image.program);
    weft__free(module);
}

static void launch_part(void *argument, int64_t begin, int64_t end)
{
    const weft__work *work = argument;
    const weft__image *image = &work->of.launch.module->image;
    image->entry(image->program, work->of.launch.launch, begin, end);
}

/* Parts of several rows may use lines of memory together: the fewer parts, the better. Points that
 * are folded one by one have lines of their own. */
static bool is_fine(const weft__launch *launch)
{
    return launch->ndim == 1 || (launch->kept_ndim < launch->ndim && launch->grain == 1);
}

static void run_launch(const weft__work *work)
{
    const weft__launch *launch = work->of.launch.launch;
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)launch->count, launch->cost, &bytes))
        bytes = UINT64_MAX;
    weft__cpu_parallel(launch->count, launch->grain, bytes, is_fine(launch), launch_part,
                       (void *)(uintptr_t)work);
}

static void copy_part(void *argument, int64_t begin, int64_t end)
{
    const weft__work *work = argument;
    memcpy((char *)work->of.copy.dst + begin, (const char *)work->of.copy.src + begin,
           (size_t)(end - begin));
}

static void run_copy(const weft__work *work)
{
    uintptr_t dst = (uintptr_t)work->of.copy.dst, src = (uintptr_t)work->of.copy.src;
    size_t bytes = work->of.copy.bytes;
    if (bytes == 0)
        return;
    if ((dst > src ? dst - src : src - dst) < bytes)
        memmove(work->of.copy.dst, work->of.copy.src, bytes);
    else
        weft__cpu_parallel((int64_t)bytes, 4096, 2 * (uint64_t)bytes, true, copy_part,
                           (void *)(uintptr_t)work);
}

/* Work in parts, and the failure of the first of them that failed. */
typedef struct parts {
    const weft__work *work;
    pthread_mutex_t mutex;
    int64_t begin;
    weft_error error;
} parts;

static void call_part(void *argument, int64_t begin, int64_t end)
{
    parts *p = argument;
    if (weft__call_user(p->work, begin, end) == WEFT_OK)
        return;
    pthread_mutex_lock(&p->mutex);
    if (p->error.code == WEFT_OK || begin < p->begin) {
        p->begin = begin;
        p->error = *weft_error_last();
    }
    pthread_mutex_unlock(&p->mutex);
}

static weft_status run_parts(const weft__work *work)
{
    enum { GRAIN = 64, MANY = 4096 };
    int64_t count = work->of.parts.count;
    parts p = {.work = work, .mutex = PTHREAD_MUTEX_INITIALIZER};
    p.error.code = WEFT_OK;
    weft__cpu_parallel(count, count < MANY ? 1 : GRAIN, work->of.parts.cost, false, call_part, &p);
    if (p.error.code != WEFT_OK)
        weft__error_restore(&p.error);
    return p.error.code;
}

weft_status weft__cpu_work_run(const weft__work *work)
{
    switch (work->kind) {
    case WEFT__WORK_LAUNCH:
        run_launch(work);
        break;
    case WEFT__WORK_COPY:
        run_copy(work);
        break;
    case WEFT__WORK_CALL:
        return weft__call_user(work, 0, 0);
    case WEFT__WORK_PARTS:
        return run_parts(work);
    case WEFT__WORK_GRAPH:
    case WEFT__WORK_NONE:
        break;
    }
    return WEFT_OK;
}
