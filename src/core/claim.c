/* Claims: the use of buffers by one calling thread, or by one stream, without a lock. */
#include "core/claim.h"
#include "core/window.h"
#include <sched.h>
#include <time.h>

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

/* A call of the driver takes microseconds, or, where its queue is full, as long as a kernel. */
static void wait_a_while(int *spins)
{
    enum { SPINS = 64, YIELDS = 64 };
    if (++*spins % SPINS != 0)
        return;
    if (*spins < SPINS * YIELDS)
        sched_yield();
    else {
        *spins = SPINS * YIELDS - 1;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

void weft__turn_take(weft__timeline *timeline, int turn)
{
    for (int spins = 0; !weft__turn_try(timeline, turn);)
        wait_a_while(&spins);
}

/* When the number has moved on it is another's turn, or this one has done what it was for: who
 * queues all the time leaves few moments in which it is nobody's. */
void weft__turn_wait(const weft__timeline *timeline, int turn)
{
    const uint64_t submitted = atomic_load(&timeline->submitted);
    for (int spins = 0;
         atomic_load(&timeline->turn) == turn && atomic_load(&timeline->submitted) == submitted;)
        wait_a_while(&spins);
}

/* A number that is left behind where the work was not queued after all is that of the next:
 * somebody may wait for that in vain, and no longer. */
bool weft__claim_queue(const weft__work *work)
{
    const weft__timeline *timeline = work->timeline;
    for (const weft__use *use = work->uses, *end = use + work->uses_count; use < end; use++) {
        weft__buffer *buffer = use->buffer;
        if (atomic_load(&buffer->claimant) != timeline ||
            atomic_load_explicit(&buffer->failure, memory_order_relaxed))
            return false;
        atomic_store_explicit(use->write ? &buffer->claim_write : &buffer->claim_read,
                              work->sequence, memory_order_relaxed);
    }
    return true;
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

static uint64_t last_use(const weft__timeline *timeline, const weft__buffer *buffer, bool write)
{
    const uint64_t written = atomic_load_explicit(&buffer->claim_write, memory_order_relaxed);
    const uint64_t read =
        write ? 0 : atomic_load_explicit(&buffer->claim_read, memory_order_relaxed);
    return weft__window_last(timeline, read > written ? read : written);
}

/* The same for a stream's. What is about to be queued does not count yet, and may fail to be. */
static bool has_queued(const weft__timeline *timeline, const weft__buffer *buffer, bool write,
                       weft__point *point)
{
    const uint64_t used = last_use(timeline, buffer, write);
    const uint64_t submitted = atomic_load(&timeline->submitted);
    point->sequence = used < submitted ? used : submitted;
    return atomic_load(&timeline->completed) < point->sequence;
}

bool weft__claim_pending(const weft__buffer *buffer, bool write, weft__point *point)
{
    point->timeline = atomic_load(&buffer->claimant);
    return point->timeline && (has_queued(point->timeline, buffer, write, point) ||
                               is_using(point->timeline, buffer, write, point));
}

static bool is_done(weft__point point, const weft__timeline *own)
{
    return !point.timeline || point.timeline == own ||
           atomic_load(&point.timeline->completed) >= point.sequence;
}

/* Without asking a device: that would cost more than the claim saves. */
static bool is_used_by_others(const weft__buffer *buffer, const weft__timeline *timeline)
{
    bool done = is_done(buffer->write, timeline);
    for (uint32_t i = 0; done && i < buffer->reads_count; i++)
        done = is_done(buffer->reads[i], timeline);
    return !done;
}

void weft__claim_make(weft__buffer *buffer, weft__timeline *timeline, bool queues)
{
    uint32_t kept = 0;
    if (queues ? is_used_by_others(buffer, timeline) : !weft__buffer_idle(buffer, timeline))
        return;
    for (uint32_t i = 0; i < buffer->reads_count; i++) /* room for what the end may have to add */
        if (buffer->reads[i].timeline == timeline)
            buffer->reads[kept++] = buffer->reads[i];
    buffer->reads_count = kept;
    const bool writes = queues && buffer->write.timeline == timeline, reads = queues && kept > 0;
    atomic_store_explicit(&buffer->claim_write, writes ? buffer->write.sequence : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&buffer->claim_read, reads ? buffer->reads[0].sequence : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&buffer->claimant, timeline, memory_order_release);
}

/* It takes as long as a call of the driver. Nobody who queues so wants a buffer's lock. First the
 * turn that may still have seen the claim, since that may open a window: its store of the number
 * may come after that of 0 otherwise, as it is not in order with its look at the claim. */
static void end_queued(weft__buffer *buffer, weft__timeline *timeline)
{
    weft__turn_wait(timeline, WEFT__TURN_CLAIMS);
    weft__window_close(timeline);
    const uint64_t written = last_use(timeline, buffer, true);
    const uint64_t used = last_use(timeline, buffer, false);
    const uint64_t submitted = atomic_load(&timeline->submitted);
    if (written)
        buffer->write = (weft__point){timeline, written < submitted ? written : submitted};
    if (used > written)
        weft__buffer_add_read(buffer, (weft__point){timeline, used < submitted ? used : submitted});
}

void weft__claim_end(weft__buffer *buffer)
{
    weft__point point = {atomic_load_explicit(&buffer->claimant, memory_order_relaxed), 0};
    if (!point.timeline)
        return;
    WEFT__STORE_FIRST(&buffer->claimant, NULL); /* before its work is looked at */
    end_queued(buffer, point.timeline);
    if (is_using(point.timeline, buffer, true, &point))
        buffer->write = point;
    else if (is_using(point.timeline, buffer, false, &point))
        weft__buffer_add_read(buffer, point);
}
