/* Windows: opening and closing them. */
#include "core/window.h"
#include "core/thread.h"

_Atomic uint64_t weft__generation = 1;

/* Work that is queued in between has numbers of its own, and a record. */
static bool is_repeated(const weft__timeline *timeline, uint64_t first, uint64_t submitted)
{
    return submitted >= first + timeline->window_works;
}

void weft__window_end(weft__timeline *timeline)
{
    const uint64_t submitted = atomic_load_explicit(&timeline->submitted, memory_order_relaxed);
    const uint64_t first = atomic_load_explicit(&timeline->window_first, memory_order_relaxed);
    if (first == 0)
        return;
    atomic_store_explicit(&timeline->window, 0, memory_order_relaxed);
    if (is_repeated(timeline, first, submitted))
        atomic_store_explicit(&timeline->window_before, submitted, memory_order_release);
    atomic_store_explicit(&timeline->window_first, 0, memory_order_release);
}

void weft__window_open(weft__timeline *timeline, uint64_t generation, uint32_t every)
{
    const uint64_t next = atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1;
    if (atomic_load_explicit(&timeline->window, memory_order_relaxed) != 0 &&
        atomic_load_explicit(&timeline->window_generation, memory_order_relaxed) == generation &&
        next <= timeline->window_end)
        return;
    weft__window_end(timeline);
    atomic_store_explicit(&timeline->window_generation, generation, memory_order_release);
    timeline->window_works = 0;
    timeline->window_end = every ? (next + every - 1) & ~(uint64_t)(every - 1) : 0;
    atomic_store_explicit(&timeline->window_first, next, memory_order_release);
    atomic_store_explicit(&timeline->window, weft__thread_number(), memory_order_release);
}

void weft__window_close(weft__timeline *timeline)
{
    WEFT__STORE_FIRST(&timeline->window, 0); /* before the turn is looked at */
    weft__turn_wait(timeline, WEFT__TURN_AGAIN);
}

uint64_t weft__window_last(const weft__timeline *timeline, uint64_t sequence)
{
    const uint64_t first = atomic_load_explicit(&timeline->window_first, memory_order_acquire);
    if (first && sequence >= first)
        return atomic_load(&timeline->submitted);
    const uint64_t before = atomic_load_explicit(&timeline->window_before, memory_order_acquire);
    return sequence && sequence < before ? before : sequence;
}
