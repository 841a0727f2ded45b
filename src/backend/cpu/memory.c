/* Memory of the CPU: the allocator of the system for small blocks, pages of its own for large ones.
 */
#include "backend/cpu/cpu.h"
#include "core/allocate.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, MAPPED = 1 << 20, HUGE = 2 << 20 };

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t round_up(size_t bytes, size_t unit)
{
    return bytes > SIZE_MAX - unit ? 0 : (bytes + unit - 1) / unit * unit;
}

static void *map(size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

/* Maps more than is needed and gives the ends back, so that the kernel can use huge pages
 * throughout. */
static void *map_huge(size_t bytes)
{
    char *data = bytes > SIZE_MAX - HUGE ? NULL : map(bytes + HUGE);
    if (!data)
        return NULL;
    size_t before = (HUGE - (uintptr_t)data % HUGE) % HUGE;
    if (before)
        munmap(data, before);
    if (before < HUGE)
        munmap(data + before + bytes, HUGE - before);
    data += before;
    madvise(data, bytes, MADV_HUGEPAGE);
    return data;
}

static void *small(weft_memory kind, size_t bytes)
{
    bool paged = kind == WEFT_MEMORY_HOST || kind == WEFT_MEMORY_SHARED;
    size_t alignment = paged ? page() : ALIGNMENT;
    return aligned_alloc(alignment, round_up(bytes ? bytes : 1, alignment));
}

void *weft__cpu_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed)
{
    (void)index;
    *zeroed = bytes >= MAPPED;
    if (!weft__allocation_begin(bytes))
        return NULL;
    size_t pages = round_up(bytes, page());
    void *data = NULL;
    if (bytes < MAPPED)
        data = small(kind, bytes);
    else if (pages)
        data = bytes < HUGE ? map(pages) : map_huge(pages);
    if (!data)
        weft__allocation_end();
    return data;
}

void weft__cpu_memory_release(int index, weft_memory kind, void *data, size_t bytes)
{
    (void)index;
    (void)kind;
    if (!data)
        return;
    weft__allocation_end();
    if (bytes < MAPPED)
        free(data);
    else
        munmap(data, round_up(bytes, page()));
}

bool weft__cpu_memory_host_readable(int index, weft_memory kind)
{
    (void)index;
    (void)kind;
    return true;
}
