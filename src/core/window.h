/* Windows: the last pieces of work of a stream are queued again by number alone.
 *
 * Work that was queued in the turn of claims (core/claim.h) is in the stream's window, as all that
 * follows it so. As long as that is open it is known to be as it was when the work was queued:
 * all buffers are claimed, nothing has failed, kernels and devices are what they were, and the
 * device was not asked how far it is. So the work can be queued again in a turn of its own, without
 * a look at its buffers and without a record: the last record of the stream stands for all numbers
 * after it, and the last use of a buffer that the window has used is the last number.
 *
 * Anybody may close a window, and then waits for such a turn to end. What stands for everything
 * that is not the stream's is one number, the generation, which moves with any of it. */
#ifndef WEFT_CORE_WINDOW_H
#define WEFT_CORE_WINDOW_H

#include "core/claim.h"

/* Moves on whenever something that was found out for a launch may not hold any more: kernels are
 * gone, or better ones are there; something failed; a device was lost or reset. */
extern _Atomic uint64_t weft__generation;
static inline void weft__generation_move(void) { atomic_fetch_add(&weft__generation, 1); }

/* Begins a turn for work of that window, 0 if it is in none. False if the window is closed, if it
 * is somebody else's turn, or if it is time to ask the device. */
static inline bool weft__window_enter(weft__timeline *timeline, uint64_t window)
{
    if (window == 0 || atomic_load_explicit(&timeline->window, memory_order_relaxed) != window ||
        !weft__turn_try(timeline, WEFT__TURN_AGAIN))
        return false;
    if (atomic_load(&timeline->window) == window &&
        atomic_load(&weft__generation) ==
            atomic_load_explicit(&timeline->window_generation, memory_order_relaxed) &&
        atomic_load_explicit(&timeline->submitted, memory_order_relaxed) < timeline->window_end)
        return true;
    weft__turn_end(timeline);
    return false;
}

/* In that turn: queues it. A launch that the driver refuses is left to the way with all checks. */
static inline bool weft__window_queue(weft__timeline *timeline, const weft__again *again)
{
    const bool queued = again->queue(again->what, timeline->handle) == 0;
    if (queued) {
        atomic_store_explicit(&timeline->submitted,
                              atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1,
                              memory_order_release);
        atomic_store_explicit(&timeline->launches,
                              atomic_load_explicit(&timeline->launches, memory_order_relaxed) +
                                  again->launches,
                              memory_order_relaxed);
    }
    weft__turn_end(timeline);
    return queued;
}

/* In the turn of claims, for the work with the next number: opens a window, unless there is one of
 * that generation. The work is in it once it is queued. The device is asked at every `every`-th
 * number, a power of two. */
void weft__window_open(weft__timeline *timeline, uint64_t generation, uint32_t every);
/* Who ends a claim, or looks for the last number of a record: no work is queued again after this,
 * until a window is opened by new work. */
void weft__window_close(weft__timeline *timeline);
/* In a turn, before work that is not of the window. */
void weft__window_end(weft__timeline *timeline);
/* The last number of work that uses a buffer, of which that is the number that was written down;
 * it may be later than that, but is no later than the last of the stream's. */
uint64_t weft__window_last(const weft__timeline *timeline, uint64_t sequence);

#endif
