/* Memory: its kinds, who allocates it, and what is counted. */
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where memory lives and who may touch it. */
typedef enum weft_memory {
    WEFT_MEMORY_DEFAULT, /* not given: what the allocator gives, else device */
    WEFT_MEMORY_DEVICE,  /* the device's own; on a GPU the host cannot read it */
    WEFT_MEMORY_SHARED,  /* both sides, migrates */
    WEFT_MEMORY_HOST,    /* the host's, pinned, the device can read it */
    WEFT_MEMORY_LENT     /* plain host memory that belongs to the user */
} weft_memory;

/* The allocators that Weft has. On the CPU all of them give memory that the host reads; they differ
 * in alignment, padding and pooling. */
typedef enum weft_allocator {
    WEFT_ALLOCATOR_DEFAULT, /* pooled */
    WEFT_ALLOCATOR_ASYNC,   /* pooled, reused in stream order */
    WEFT_ALLOCATOR_PITCHED, /* pooled, and each row begins on its own 64-byte line */
    WEFT_ALLOCATOR_PINNED,  /* host memory; page-aligned, not pooled on the CPU */
    WEFT_ALLOCATOR_MANAGED  /* shared memory; page-aligned, not pooled on the CPU */
} weft_allocator;

/* An allocator of the user's own. It must outlive the arrays made with it, and may be called from
 * any thread. What `allocate` returns must be aligned to 64 bytes and usable by `device`. */
typedef struct weft_user_allocator {
    /* `bytes` of memory, or NULL if there is none. */
    void *(*allocate)(void *context, size_t bytes, weft_device device);
    /* Takes it back, when no array and no queued work uses it. */
    void (*release)(void *context, void *pointer, size_t bytes, weft_device device);
    void *context;      /* handed to both */
    weft_memory memory; /* the kind of what it gives; default: device */
} weft_user_allocator;

/* "device", "shared", "host", "lent". */
WEFT_API const char *weft_memory_name(weft_memory memory);
/* The kind of a result computed from operands of these kinds: device beats shared beats host. */
WEFT_API weft_memory weft_memory_combine(weft_memory a, weft_memory b);

/* Counters of one device. Everything counts from the start of the process, except the three sizes
 * and what waits. */
typedef struct weft_statistics {
    uint64_t bytes_in_use;         /* held by arrays */
    uint64_t bytes_peak;           /* the most that bytes_in_use has been */
    uint64_t bytes_cached;         /* free, kept for reuse */
    uint64_t allocations;          /* arrays' memory asked for */
    uint64_t reuses;               /* … of which the cache had it */
    uint64_t copies_to_device;     /* copies from the host's memory to the device's */
    uint64_t copies_to_host;       /* … and back */
    uint64_t copies_on_device;     /* … within its memory */
    uint64_t bytes_to_device;      /* copied there */
    uint64_t bytes_to_host;        /* … and back */
    uint64_t bytes_on_device;      /* … within its memory */
    uint64_t launches;             /* kernels queued */
    uint64_t compilations;         /* kernels compiled; on the CPU, for the interpreter */
    uint64_t waits;                /* times that the host waited for a stream */
    uint64_t compilations_llvm;    /* kernels compiled to machine code of the CPU; again to
                                    * optimize it, which is not counted */
    uint64_t compilations_loaded;  /* … or such code was found in the disk cache */
    uint64_t compilations_waiting; /* now: to be compiled in the background */
} weft_statistics;

/* Reads the counters: weft_memory_stats(device, &statistics). */
#define weft_memory_stats(device, statistics)                                                      \
    weft_memory_stats_sized((device), (statistics), sizeof(weft_statistics))
WEFT_API weft_status weft_memory_stats_sized(weft_device device, weft_statistics *statistics,
                                             size_t statistics_size);
/* Makes bytes_peak what bytes_in_use is now. */
WEFT_API weft_status weft_memory_reset_peak(weft_device device);

/* Gives cached memory back to the system until at most `keep` bytes are cached. Memory that queued
 * work still uses is kept. Other threads' small caches follow at their next allocation. */
WEFT_API weft_status weft_memory_trim(weft_device device, uint64_t keep);
/* How much may be cached; what is freed beyond that goes back at once or, if
 * queued work still uses it, when a later call finds that done. Default: the environment
 * variable WEFT_MEMORY_THRESHOLD (bytes, or with K, M, G), else no bound but the next. */
WEFT_API weft_status weft_memory_set_threshold(weft_device device, uint64_t bytes);
/* How much may be in use and cached together. Beyond it caches are dropped, then allocation fails.
 * Default: the environment variable WEFT_MEMORY_LIMIT, else no limit. 0 is no limit. */
WEFT_API weft_status weft_memory_set_limit(weft_device device, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
