/* Claims: a buffer that the work of one calling thread alone uses is that thread's, without a lock.
 *
 * A timeline of a calling thread has at most one piece of work under way. Before that begins it
 * writes down which buffers it uses, takes its number, and then looks whether all of them are still
 * claimed by it. Who else wants a buffer, with its lock held, first ends the claim and then looks
 * at what is written there. Whichever comes first, one sees the other: either the work is seen and
 * waited for, or it is withdrawn, and begins again with locks. */
#ifndef WEFT_CORE_CLAIM_H
#define WEFT_CORE_CLAIM_H

#include "core/stream.h"

/* If every buffer of the work is claimed by its timeline, and none has a failure: numbers the work,
 * and true. Nothing has to be waited for then, or recorded. */
bool weft__claim_begin(weft__work *work);
/* Work that was not begun so: what the timeline's last work used is no longer of interest. */
void weft__claim_forget(weft__timeline *timeline);
/* Lets the timeline claim a buffer that is locked, if no other has work on it. */
void weft__claim_make(weft__buffer *buffer, weft__timeline *timeline);
/* Ends the claim of a buffer that is locked, leaving points for what is under way. */
void weft__claim_end(weft__buffer *buffer);
/* Whether the claimant of the buffer, if there is one, is using it now, for a write if `write`; and
 * the point of that. */
bool weft__claim_pending(const weft__buffer *buffer, bool write, weft__point *point);

#endif
