/* Compiled kernels on disk: one file for each, which any process of the user's may write, read or
 * remove at any time. Nothing here fails: what cannot be read is not there, what cannot be written
 * is not kept. */
#ifndef WEFT_KERNEL_DISK_H
#define WEFT_KERNEL_DISK_H

#include "codegen/llvm.h"
#include "core/library.h"
#include "kernel/key.h"

/* What a file is for: the kernel, and the class of its launches. */
typedef struct weft__disk_key {
    const weft__key *kernel;
    const uint8_t *class_bytes;
    uint32_t class_count;
} weft__disk_key;

/* Fails if WEFT_CACHE is neither "on" nor "off". */
weft_status weft__disk_check(void);

/* Whether there is an entry; the object is to be freed with weft__object_free. */
bool weft__disk_load(const weft__disk_key *key, weft__object *object);

/* Keeps the object, and removes those that were not used for longest when there are too many. */
void weft__disk_store(const weft__disk_key *key, const weft__object *object);

void weft__disk_fork(weft__fork_stage stage);

/* For tests: the folder from now on; "" is none, NULL is what the environment says. */
void weft__disk_choose(const char *folder);
/* For tests: the bytes of all entries together, at most; 0 is as usual. */
void weft__disk_limit(uint64_t bytes);

#endif
