/* The kernels that are compiled, by what they compute and for which device. */
#ifndef WEFT_KERNEL_CACHE_H
#define WEFT_KERNEL_CACHE_H

#include "core/thread.h"
#include "core/window.h"
#include "kernel/ir.h"

/* Kernels that are kept, in all. Beyond that, those that were not looked for the longest go, when
 * nothing uses them any more; they are made anew when they are wanted again. */
enum { WEFT__KERNELS_MOST = 2048 };

/* What was found for a launch. */
typedef struct weft__compiled {
    weft__module *module;
    int64_t grain;       /* for launch->grain */
    uint64_t generation; /* for weft__cache_reenter; 0: not to be kept */
    void *entry;         /* for weft__cache_hold */
} weft__compiled;

/* Finds or compiles what runs the launch, whose stage, sizes and strides are set. What is found
 * stays valid until weft__cache_leave, which must follow every success; work that is queued
 * meanwhile keeps its module until it is done. */
weft_status weft__cache_enter(const weft__kernel *kernel, weft_device device,
                              const weft__launch *launch, weft__compiled *found);
void weft__cache_leave(void);

/* The same as weft__cache_enter, without looking for it, with what this thread found earlier for
 * the same kernel and device, and a launch of the same stage, sizes and strides (addresses and
 * scalars may differ): true if that still is what would be found. If it is false, `found` is
 * useless and nothing was entered. */
static inline bool weft__cache_reenter(const weft__compiled *found)
{
    weft__thread_reading(true); /* before the generation is read: a drop moves it, then waits */
    if (atomic_load(&weft__generation) == found->generation)
        return true;
    weft__thread_reading(false);
    return false;
}

/* Holds an entry, or lets it go: it is not dropped to make room, only when its device is reset. Its
 * device was not reset since it was found, and between enter and leave, or while the thread reads.
 * NULL is fine. */
void weft__cache_hold(void *entry, bool hold);
/* What runs the launch by now, of an entry that is held. */
weft_status weft__cache_find_held(void *entry, const weft__launch *launch, weft__compiled *found);

/* For tests: how many there are, and how many of those are taken out and not freed yet; and how
 * many are kept from now on. */
uint32_t weft__cache_count(uint32_t *waiting);
void weft__cache_limit(uint32_t limit);

#endif
