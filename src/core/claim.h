/* Claims: a buffer that the work of one calling thread, or of one stream, alone uses is theirs,
 * without a lock.
 *
 * A timeline of a calling thread has at most one piece of work under way. Before that begins it
 * writes down which buffers it uses, takes its number, and then looks whether all of them are still
 * claimed by it. Who else wants a buffer, with its lock held, first ends the claim and then looks
 * at what is written there. Whichever comes first, one sees the other: either the work is seen and
 * waited for, or it is withdrawn, and begins again with locks.
 *
 * A stream has much work under way, and each buffer that it has claimed has the numbers of its last
 * uses. Who queues work takes the timeline's turn for that, then looks whether all buffers are
 * claimed by it; who ends a claim then looks whose turn it is, and waits while claims are used:
 * after that the numbers are those of all uses. */
#ifndef WEFT_CORE_CLAIM_H
#define WEFT_CORE_CLAIM_H

#include "core/stream.h"

/* If every buffer of the work is claimed by its timeline, and none has a failure: numbers the work,
 * and true. Nothing has to be waited for then, or recorded. */
bool weft__claim_begin(weft__work *work);
/* Whose turn it is to queue work on a stream: nobody's, of one who uses claims, of one who locks
 * buffers, or of one who queues again what the stream has a record of (core/window.h). Who has it
 * uses no claim of another stream's, so that who waits for it waits only for a call of the driver.
 */
enum weft__turn { WEFT__TURN_FREE, WEFT__TURN_CLAIMS, WEFT__TURN_LOCKS, WEFT__TURN_AGAIN };
static inline bool weft__turn_try(weft__timeline *timeline, int turn)
{
    int nobody = WEFT__TURN_FREE;
    return atomic_compare_exchange_strong(&timeline->turn, &nobody, turn);
}
static inline void weft__turn_end(weft__timeline *timeline)
{
    atomic_store_explicit(&timeline->turn, WEFT__TURN_FREE, memory_order_release);
}
/* Waits for it; with the stream's mutex held, so that others sleep meanwhile. */
void weft__turn_take(weft__timeline *timeline, int turn);
/* Waits while it is such a turn. */
void weft__turn_wait(const weft__timeline *timeline, int turn);

/* The same for work that is about to be queued, with its number, in the turn of claims: until that
 * ends no claim of the timeline's does. */
bool weft__claim_queue(const weft__work *work);
/* Work that was not begun so: what the timeline's last work used is no longer of interest. */
void weft__claim_forget(weft__timeline *timeline);
/* Lets the timeline, of a stream if it `queues`, claim a buffer that is locked, if no other has
 * work on it. */
void weft__claim_make(weft__buffer *buffer, weft__timeline *timeline, bool queues);
/* Ends the claim of a buffer that is locked, leaving points for what is under way. */
void weft__claim_end(weft__buffer *buffer);
/* Whether the claimant of the buffer, if there is one, is using it now, for a write if `write`; and
 * the point of that. */
bool weft__claim_pending(const weft__buffer *buffer, bool write, weft__point *point);

#endif
