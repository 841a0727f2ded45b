/* When the latest events of a profiling stream were reached. */
#include "backend/times.h"
#include "core/allocate.h"
#include "core/status.h"
#include <inttypes.h>

enum { ROOM = 1024 };

/* An entry is read and overwritten without a lock: it counts only if its number is the same before
 * and after its time is read. */
struct weft__times {
    _Atomic uint64_t count;
    struct {
        _Atomic uint64_t sequence; /* 0: none */
        _Atomic uint64_t nanoseconds;
    } entries[ROOM];
};

weft__times *weft__times_new(void) { return weft__allocate_zeroed(sizeof(weft__times)); }

void weft__times_add(weft__times *times, uint64_t sequence, uint64_t nanoseconds)
{
    uint64_t at = atomic_fetch_add(&times->count, 1) % ROOM;
    atomic_store(&times->entries[at].sequence, 0);
    atomic_store(&times->entries[at].nanoseconds, nanoseconds);
    atomic_store(&times->entries[at].sequence, sequence);
}

static bool read_entry(const weft__times *times, uint64_t at, uint64_t sequence, double *seconds)
{
    if (atomic_load(&times->entries[at].sequence) != sequence)
        return false;
    *seconds = 1e-9 * (double)atomic_load(&times->entries[at].nanoseconds);
    return atomic_load(&times->entries[at].sequence) == sequence;
}

weft_status weft__times_find(const weft__times *times, uint64_t sequence, double *seconds)
{
    uint64_t count = atomic_load(&times->count);
    for (uint64_t back = 1; back <= count && back <= ROOM; back++)
        if (read_entry(times, (count - back) % ROOM, sequence, seconds))
            return WEFT_OK;
    return FAIL(WEFT_ERROR_ARGUMENT,
                "the time of number %" PRIu64
                " on this stream is not known: it is not done, was no "
                "event, the device has none for it, or %d later events have taken its place",
                sequence, ROOM);
}
