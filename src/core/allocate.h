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
