/* Keys: the parts of a kernel that its code depends on, as bytes. */
#ifndef WEFT_KERNEL_KEY_H
#define WEFT_KERNEL_KEY_H

#include "kernel/ir.h"

enum { WEFT__KEY_PIECES = 4 };

typedef struct weft__key {
    const void *piece[WEFT__KEY_PIECES]; /* in the kernel */
    size_t bytes[WEFT__KEY_PIECES];
    size_t total;
    uint64_t hash;
} weft__key;

weft__key weft__key_of(const weft__kernel *kernel);
bool weft__key_equal(const weft__key *a, const weft__key *b);

/* Goes on with a hash. Bytes that differ in one place give another one for sure. */
uint64_t weft__hash(uint64_t hash, const void *data, size_t bytes);

/* A kernel that owns what it is made of, in one block; to be freed with weft__free. NULL, with the
 * record set, if memory runs out. */
weft__kernel *weft__kernel_copy(const weft__kernel *kernel);

#endif
