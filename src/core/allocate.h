/* The library's own allocations: every one goes through here, so that tests can make each of them
 * fail. */
#ifndef WEFT_CORE_ALLOCATE_H
#define WEFT_CORE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc and free, but a failure fills the error record. */
void *weft__allocate(size_t bytes);
void *weft__allocate_zeroed(size_t bytes);
void *weft__reallocate(void *pointer, size_t bytes);
void weft__free(void *pointer);

/* Blocks for something that must not stop half-way when memory runs out. */
typedef struct weft__reserve {
    void *first;
    uint32_t count;
    size_t bytes; /* of each */
} weft__reserve;
/* Sees to it that there are so many, each of so many bytes at least; false, with the record set, if
 * memory ran out. */
bool weft__reserve_fill(weft__reserve *reserve, uint32_t count, size_t bytes);
void weft__reserve_free(weft__reserve *reserve);
/* From now on this thread's allocations take them where the system has no memory; NULL: no more.
 * Returns what they took until now. */
weft__reserve *weft__reserve_use(weft__reserve *reserve);

/* For memory that comes from elsewhere (mmap): false if the test hook makes this allocation fail;
 * the second says that it was given back. */
bool weft__allocation_begin(size_t bytes);
void weft__allocation_end(void);

/* For tests. The n-th allocation from now, over all threads, fails once; 0 turns that off. */
void weft__allocation_fail_at(int64_t n);
/* Whether that failure has happened. */
bool weft__allocation_failed(void);
/* Allocations alive; counted from the first call of weft__allocation_fail_at or of this. */
int64_t weft__allocation_live(void);
/* Waits for all streams and drops every cache, so that live counts can be compared. */
void weft__shutdown_caches(void);

#endif
