/* The public face of memory: kinds, statistics, trimming, limits. */
#include "core/device.h"
#include "core/thread.h"
#include <string.h>

const char *weft_memory_name(weft_memory memory)
{
    static const char *const names[] = {"default", "device", "shared", "host", "lent"};
    return (unsigned)memory <= WEFT_MEMORY_LENT ? names[memory] : "unknown";
}

/* Their order in the enumeration is their precedence; what is lent gives way to all. */
weft_memory weft_memory_combine(weft_memory a, weft_memory b)
{
    if (a == WEFT_MEMORY_DEFAULT || b == WEFT_MEMORY_DEFAULT)
        return a == WEFT_MEMORY_DEFAULT ? b : a;
    return a < b ? a : b;
}

weft_status weft_memory_stats_sized(weft_device id, weft_statistics *statistics,
                                    size_t statistics_size)
{
    OPERATION("weft_memory_stats");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    if (!statistics)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "statistics",
                       "statistics is NULL; a place for the counters was expected");
    weft_statistics all = {
#define READ_COUNTER(name) .name = atomic_load(&device->statistics.name),
        WEFT__STATISTICS_LIST(READ_COUNTER)};
    if (id.kind == WEFT_DEVICE_CPU) {
        const weft__thread_counts counts = weft__thread_count();
        all.bytes_cached += counts.magazine_bytes;
        all.allocations += counts.magazine_hits;
        all.reuses += counts.magazine_hits;
        all.launches += counts.launches;
    } else
        all.launches = weft__stream_launches(device);
    memset(statistics, 0, statistics_size);
    memcpy(statistics, &all, statistics_size < sizeof all ? statistics_size : sizeof all);
    return WEFT_OK;
}

weft_status weft_memory_reset_peak(weft_device id)
{
    OPERATION("weft_memory_reset_peak");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    atomic_store(&device->statistics.bytes_peak, atomic_load(&device->statistics.bytes_in_use));
    return WEFT_OK;
}

static void trim(weft__device *device, uint64_t keep)
{
    weft__thread *thread = weft__thread_peek();
    weft__memory_epoch_move();
    if (thread)
        weft__magazines_flush(thread);
    weft__pool_trim(device, keep);
}

weft_status weft_memory_trim(weft_device id, uint64_t keep)
{
    OPERATION("weft_memory_trim");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    trim(device, keep);
    return WEFT_OK;
}

weft_status weft_memory_set_threshold(weft_device id, uint64_t bytes)
{
    OPERATION("weft_memory_set_threshold");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    atomic_store(&device->pool.threshold, bytes);
    trim(device, bytes);
    return WEFT_OK;
}

weft_status weft_memory_set_limit(weft_device id, uint64_t bytes)
{
    OPERATION("weft_memory_set_limit");
    weft__device *device = weft__device_get(id);
    if (!device)
        return WEFT_ERROR_DEVICE;
    atomic_store(&device->pool.limit, bytes);
    return WEFT_OK;
}
