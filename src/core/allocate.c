/* The library's own allocations, with the hook that makes one of them fail. */
#include "core/allocate.h"
#include "core/status.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic bool watching;
static _Atomic int64_t countdown; /* 0: off */
static _Atomic bool failed;
static _Atomic int64_t live;

static WEFT__THREAD_LOCAL weft__reserve *used;

bool weft__allocation_begin(size_t bytes)
{
    (void)bytes;
    if (!atomic_load_explicit(&watching, memory_order_relaxed))
        return true;
    if (atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1) {
        atomic_store(&failed, true);
        return false;
    }
    atomic_fetch_add(&live, 1);
    return true;
}

void weft__allocation_end(void)
{
    if (atomic_load_explicit(&watching, memory_order_relaxed))
        atomic_fetch_sub(&live, 1);
}

void weft__allocation_fail_at(int64_t n)
{
    atomic_store(&failed, false);
    atomic_store(&countdown, n);
    atomic_store(&watching, true);
}

bool weft__allocation_failed(void) { return atomic_load(&failed); }

int64_t weft__allocation_live(void)
{
    atomic_store(&watching, true);
    return atomic_load(&live);
}

/* The first block of a reserve begins with the address of the next one. */
static void *take_block(weft__reserve *reserve)
{
    void *block = reserve->first;
    memcpy(&reserve->first, block, sizeof block);
    reserve->count--;
    return block;
}

static void *checked(void *pointer, size_t bytes)
{
    if (!pointer && used && used->count && bytes <= used->bytes)
        return take_block(used);
    if (!pointer)
        FAIL(WEFT_ERROR_MEMORY, "the system has no %zu bytes left for the library itself", bytes);
    return pointer;
}

void *weft__allocate(size_t bytes)
{
    void *pointer = weft__allocation_begin(bytes) ? malloc(bytes) : NULL;
    return checked(pointer, bytes);
}

void *weft__allocate_zeroed(size_t bytes)
{
    void *pointer = weft__allocation_begin(bytes) ? calloc(1, bytes) : NULL;
    if (!pointer && (pointer = checked(NULL, bytes)))
        memset(pointer, 0, bytes);
    return pointer;
}

void *weft__reallocate(void *pointer, size_t bytes)
{
    if (!pointer)
        return weft__allocate(bytes);
    void *moved = NULL;
    if (weft__allocation_begin(bytes)) {
        weft__allocation_end(); /* a block that moves is still one block */
        moved = realloc(pointer, bytes);
    }
    if (!moved)
        FAIL(WEFT_ERROR_MEMORY, "the system has no %zu bytes left for the library itself", bytes);
    return moved;
}

void weft__free(void *pointer)
{
    if (!pointer)
        return;
    weft__allocation_end();
    free(pointer);
}

bool weft__reserve_fill(weft__reserve *reserve, uint32_t count, size_t bytes)
{
    if (reserve->bytes < bytes) {
        weft__reserve_free(reserve);
        reserve->bytes = bytes;
    }
    while (reserve->count < count) {
        void *block = weft__allocate(reserve->bytes);
        if (!block)
            return false;
        memcpy(block, &reserve->first, sizeof block);
        reserve->first = block;
        reserve->count++;
    }
    return true;
}

void weft__reserve_free(weft__reserve *reserve)
{
    while (reserve->count)
        weft__free(take_block(reserve));
}

weft__reserve *weft__reserve_use(weft__reserve *reserve)
{
    weft__reserve *before = used;
    used = reserve;
    return before;
}
