/* Versions of a kernel: machine code, one for each class of launches. */
#ifndef WEFT_KERNEL_VERSION_H
#define WEFT_KERNEL_VERSION_H

#include "codegen/c_like.h"
#include "core/device.h"
#include "kernel/background.h"
#include "kernel/engine.h"
#include "kernel/key.h"

typedef enum weft__version_state {
    WEFT__VERSION_NEW,     /* used too little so far */
    WEFT__VERSION_WAITING, /* the background thread has it */
    WEFT__VERSION_SETTLED  /* what there is stays: optimized code, or none can be had */
} weft__version_state;

typedef struct weft__version weft__version;

/* What the versions are of; lives for longer than they do. */
typedef struct weft__versions {
    _Atomic(weft__version *) first;
    weft__device *device;
    const weft__kernel *kernel;
    weft__key key;
} weft__versions;

/* What is found: the module is NULL where the interpreter must run this time. If that can change
 * without weft__generation moving on, it is not settled. */
typedef struct weft__version_found {
    weft__module *module;
    bool settled;
} weft__version_found;

/* The version for the launch, made if there is none: from the disk at once; with
 * WEFT__ENGINE_LLVM and QUICK by compiling; else, once it is worth it, in the background: what
 * takes long first quickly, then optimized, which replaces the other. `mutex` is taken where
 * something is added. Fails only with WEFT__ENGINE_LLVM and QUICK. */
weft_status weft__version_find(weft__versions *versions, const weft__launch *launch,
                               weft__engine engine, pthread_mutex_t *mutex,
                               weft__version_found *found);

/* The same for devices other than the CPU, whose own compilers are given text, in the call. */
weft_status weft__version_find_text(weft__versions *versions, const weft__launch *launch,
                                    pthread_mutex_t *mutex, weft__module **module);

/* In which words texts for a device other than the CPU are written. */
weft__dialect weft__version_dialect(const weft__device *device);

/* Whether no job is left, of versions that nobody looks for any more. */
bool weft__versions_idle(const weft__versions *versions);
/* When nobody uses them any more, and no job is left. */
void weft__versions_free(weft__versions *versions);

#endif
