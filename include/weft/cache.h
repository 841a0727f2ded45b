/* The disk cache: compiled kernels that are kept for the next process. */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include <weft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The folder is what the environment variable WEFT_CACHE_DIR names, else weft in XDG_CACHE_HOME,
 * else ~/.cache/weft; WEFT_CACHE=off means none. It is the user's alone. Entries that are damaged,
 * or were made by another version of Weft or for another kind of processor, are not used. Those
 * that were not used for longest are removed when all of them are larger than the limit. */
typedef struct weft_cache_info {
    char folder[4096]; /* "" if there is none; it may not exist yet */
    uint64_t entries;  /* kernels kept */
    uint64_t bytes;    /* of all entries */
    uint64_t limit;    /* bytes */
} weft_cache_info;

/* Says where the cache is and how much is in it. */
#define weft_cache_describe(info) weft_cache_describe_sized((info), sizeof(weft_cache_info))
WEFT_API weft_status weft_cache_describe_sized(weft_cache_info *info, size_t info_size);

/* Removes all entries. Kernels that processes have loaded stay with them. */
WEFT_API weft_status weft_cache_clear(void);

#ifdef __cplusplus
}
#endif
#endif
