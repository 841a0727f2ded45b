/* Streams: the part that all backends share. */
#ifndef WEFT_CORE_STREAM_H
#define WEFT_CORE_STREAM_H

#include "backend/backend.h"
#include "core/buffer.h"
#include <weft/stream.h>

struct weft_stream {
    _Atomic int references;
    weft_device device;
    bool async, profiling, is_default;
    int32_t priority;
    const weft__backend *backend;
    weft__timeline *timeline; /* NULL if synchronous: then the calling thread's counts */
    pthread_mutex_t mutex;    /* asynchronous: the order of submission; guards `native` too, as the
                                 turn of the timeline does: core/claim.h */
    weft__failures failures;  /* not reported yet */
    void *native;             /* the backend's */
    struct weft_stream *next, *previous; /* all streams that live, the youngest first */
    uint64_t number;                     /* how many were made before it */
};

/* The timeline that work submitted by this thread to the stream counts on; NULL, with the record
 * set, on failure. */
weft__timeline *weft__stream_timeline(weft_stream *stream);
/* This thread's current stream of a device (borrowed), or NULL with the record set. */
weft_stream *weft__stream_current(weft_device device);
/* The default stream of a device (borrowed), or NULL with the record set. */
weft_stream *weft__stream_default(weft_device device);
/* Fails with the stream's failure if there is one that nobody was told of. */
weft_status weft__stream_check(weft_stream *stream);
/* The same for what is known without asking the device. */
weft_status weft__stream_check_known(weft_stream *stream);
/* Keeps a failure of queued work; called by backends. Takes no reference. */
void weft__stream_keep_failure(weft_stream *stream, weft__failure *failure);
/* Waits for everything queued so far; tells nothing of how it went. */
weft_status weft__stream_wait(weft_stream *stream);
/* Calls `visit` for every stream that lives, with the list locked. */
void weft__stream_each(void (*visit)(weft_stream *stream, void *argument), void *argument);
/* Whether work is being queued again on one of them, by number alone, that was found out about
 * before the generation moved: core/window.h. */
bool weft__stream_any_again(void);
/* All launches on a device: those of its statistics, and those that its streams have counted. */
struct weft__device;
uint64_t weft__stream_launches(struct weft__device *device);
/* The lock of that list, for fork. */
void weft__stream_list_lock(void);
void weft__stream_list_unlock(void);
/* Of an asynchronous stream: nobody else queues work until it is unlocked. */
void weft__stream_submission_lock(weft_stream *stream);
void weft__stream_submission_unlock(weft_stream *stream);
/* The same of all streams, with the list locked. */
void weft__stream_submissions_lock(void);
void weft__stream_submissions_unlock(void);
void weft__stream_list_after_fork(void);
/* Waits for everything submitted to asynchronous streams of the device (any, for WEFT_NO_DEVICE).
 */
void weft__stream_wait_all(weft_device device);

/* Puts work in order after all work that it depends on, through the points of the buffers it uses,
 * and hands it to the stream's backend. `work->waits` and `work->sequence` are filled in here;
 * waits that the caller set are kept. On a synchronous stream the work is done on return. A failure
 * has queued nothing and changed nothing. */
weft_status weft__submit(weft_stream *stream, weft__work *work);

/* For backends: runs what precedes and follows the work itself. `begin` checks the inputs: if one
 * was never computed it marks the outputs so and returns false. `end` records how the work went. */
bool weft__work_begin(const weft__work *work);
void weft__work_end(weft_stream *stream, const weft__work *work, weft_status status);
/* For work that a device did by itself, once it is done and before that is known: records how it
 * went, as begin and end together. */
void weft__work_settle(weft_stream *stream, const weft__work *work, weft_status status);
/* Whether there is nothing to record for work that succeeded: no failure is about. */
bool weft__work_is_plain(const weft__work *work);
/* Says that queued work is done; deleters that this calls count as called by the work. */
void weft__work_complete(const weft__work *work);
/* Whether this thread is running a piece of work, so that the caller is a function of the user's in
 * it. */
bool weft__in_callback(void);
bool weft__in_callback_of(const weft_stream *stream);

/* Waits until the buffer's last write, or all work that uses it, is done; fails if its contents
 * were never computed. A wait that is `hidden` fails where hidden waits are forbidden. */
weft_status weft__buffer_wait(weft__buffer *buffer, bool hidden, bool all);

/* Work on the stream from now on comes after the point. */
weft_status weft__stream_wait_point(weft_stream *stream, weft__point point);

/* Fails where hidden waits are forbidden, for a call that will have to wait. */
weft_status weft__waits_check(void);
/* Fails where work that is queued on the stream from now on could not be waited for. */
weft_status weft__stream_waits_check(const weft_stream *stream);
/* Whether this thread is refused some waits; and fails if it is that for the buffer's last write,
 * or for all work that uses it. So a call knows before the first of its works. */
bool weft__waits_are_limited(void);
weft_status weft__buffer_waits_check(weft__buffer *buffer, bool all);

/* Waits on the host, and counts that; points on this thread's own timeline are done. */
weft_status weft__wait_points(const weft__point *points, uint32_t count, weft_device device,
                              bool hidden);

#endif
