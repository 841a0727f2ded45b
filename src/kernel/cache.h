/* The kernels that are compiled, by what they compute and for which device. */
#ifndef WEFT_KERNEL_CACHE_H
#define WEFT_KERNEL_CACHE_H

#include "backend/backend.h"
#include "kernel/ir.h"

typedef struct weft__compiled {
    weft__module *module;
    int64_t (*grain)(const weft__kernel *kernel, const weft__launch *launch);
} weft__compiled;

/* Finds or compiles. What is found stays valid until weft__cache_leave, which must follow every
 * success; work that is queued meanwhile keeps its module until it is done. */
weft_status weft__cache_enter(const weft__kernel *kernel, weft_device device,
                              weft__compiled *found);
void weft__cache_leave(void);

#endif
