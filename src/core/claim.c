/* Claims: the use of buffers by one calling thread without a lock. */
#include "core/claim.h"

/* A buffer's address with this bit: the work writes it. */
enum { WRITES = 1 };

static bool all_claimed(const weft__work *work)
{
    const weft__timeline *timeline = work->timeline;
    for (const weft__use *use = work->uses, *end = use + work->uses_count; use < end; use++)
        if (atomic_load(&use->buffer->claimant) != timeline)
            return false;
    return true;
}

/* Failures are left to work with locks. */
static bool is_plain(const weft__work *work)
{
    for (const weft__use *use = work->uses, *end = use + work->uses_count; use < end; use++)
        if (atomic_load_explicit(&use->buffer->failure, memory_order_relaxed))
            return false;
    return true;
}

bool weft__claim_begin(weft__work *work)
{
    weft__timeline *timeline = work->timeline;
    if (work->uses_count > WEFT__CLAIMED_MAX || !all_claimed(work) || !is_plain(work))
        return false;
    for (uint32_t i = 0; i < work->uses_count; i++)
        atomic_store_explicit(&timeline->uses[i],
                              (uintptr_t)work->uses[i].buffer | (work->uses[i].write ? WRITES : 0),
                              memory_order_release);
    atomic_store_explicit(&timeline->uses_count, work->uses_count, memory_order_release);
    work->sequence = atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1;
    WEFT__STORE_FIRST(&timeline->submitted, work->sequence); /* before claims are looked at again */
    if (all_claimed(work))
        return true;
    weft__timeline_complete(timeline, work->sequence);
    return false;
}

void weft__claim_forget(weft__timeline *timeline)
{
    atomic_store_explicit(&timeline->uses_count, 0, memory_order_release);
}

/* Whether the timeline's work that is under way uses the buffer. What is written down there may be
 * that of later work, but then this one is done. */
static bool is_using(const weft__timeline *timeline, const weft__buffer *buffer, bool write,
                     weft__point *point)
{
    bool found = false;
    point->sequence = atomic_load(&timeline->submitted);
    if (atomic_load(&timeline->completed) >= point->sequence)
        return false;
    uint32_t count = atomic_load_explicit(&timeline->uses_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t use = atomic_load_explicit(&timeline->uses[i], memory_order_acquire);
        found |= (use & ~(uintptr_t)WRITES) == (uintptr_t)buffer && (!write || (use & WRITES));
    }
    return found && atomic_load(&timeline->completed) < point->sequence;
}

bool weft__claim_pending(const weft__buffer *buffer, bool write, weft__point *point)
{
    point->timeline = atomic_load(&buffer->claimant);
    return point->timeline && is_using(point->timeline, buffer, write, point);
}

void weft__claim_make(weft__buffer *buffer, weft__timeline *timeline)
{
    uint32_t kept = 0;
    if (!weft__buffer_idle(buffer, timeline))
        return;
    for (uint32_t i = 0; i < buffer->reads_count; i++) /* room for what the end may have to add */
        if (buffer->reads[i].timeline == timeline)
            buffer->reads[kept++] = buffer->reads[i];
    buffer->reads_count = kept;
    atomic_store_explicit(&buffer->claimant, timeline, memory_order_release);
}

void weft__claim_end(weft__buffer *buffer)
{
    weft__point point = {atomic_load_explicit(&buffer->claimant, memory_order_relaxed), 0};
    if (!point.timeline)
        return;
    WEFT__STORE_FIRST(&buffer->claimant, NULL); /* before its work is looked at */
    if (is_using(point.timeline, buffer, true, &point))
        buffer->write = point;
    else if (is_using(point.timeline, buffer, false, &point))
        weft__buffer_add_read(buffer, point);
}
