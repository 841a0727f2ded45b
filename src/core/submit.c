/* Submitting work: what it must come after is read from the buffers it uses and recorded there. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/record.h"
#include "core/traced.h"
#include "core/window.h"
#include <string.h>

enum { WAITS_INLINE = 32 };

/* The points to wait for: one per timeline, the latest. */
typedef struct wait_list {
    weft__point *points;
    uint32_t count, room;
    weft__point inline_points[WAITS_INLINE];
} wait_list;

/* The work that this thread is running; while it calls a function of the user's, that is who calls
 * us. */
static WEFT__THREAD_LOCAL weft__point running;

/* Whether this thread is inside that work, so that it holds what the work uses. */
static bool is_enclosing(weft__point point)
{
    if (!running.timeline || weft__point_done(point))
        return false;
    if (point.timeline == running.timeline)
        return point.sequence == running.sequence;
    const void *owner = atomic_load_explicit(&point.timeline->owner, memory_order_relaxed);
    return owner && owner == weft__thread_peek();
}

/* Whether that work comes after the work that this thread is inside. */
static bool is_behind(weft__point point)
{
    return running.timeline && point.timeline == running.timeline &&
           point.sequence > running.sequence;
}

/* `own` is the timeline of the work; what runs `here` does not wait for what it is inside. */
static weft_status add_wait(wait_list *list, weft__point point, const weft__timeline *own,
                            bool here)
{
    if (point.timeline == own || weft__point_done(point) || (here && is_enclosing(point)))
        return WEFT_OK;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->points[i].timeline == point.timeline) {
            if (list->points[i].sequence < point.sequence)
                list->points[i].sequence = point.sequence;
            return WEFT_OK;
        }
    if (list->count == list->room) {
        bool grown = list->points != list->inline_points;
        size_t bytes = list->room * 2 * sizeof *list->points;
        weft__point *more = weft__reallocate(grown ? list->points : NULL, bytes);
        if (!more)
            return WEFT_ERROR_MEMORY;
        if (!grown)
            memcpy(more, list->inline_points, sizeof list->inline_points);
        list->points = more;
        list->room *= 2;
    }
    list->points[list->count++] = point;
    return WEFT_OK;
}

static void free_waits(wait_list *list)
{
    if (list->points != list->inline_points)
        weft__free(list->points);
}

/* The buffers of the uses, each once, by address: the order in which they are locked. */
static uint32_t sort_buffers(const weft__work *work, weft__use *sorted)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->uses_count; i++) {
        weft__use use = work->uses[i];
        uint32_t at = count;
        while (at > 0 && sorted[at - 1].buffer > use.buffer)
            at--;
        if (at > 0 && sorted[at - 1].buffer == use.buffer) {
            sorted[at - 1].write |= use.write;
            continue;
        }
        memmove(sorted + at + 1, sorted + at, (count - at) * sizeof *sorted);
        sorted[at] = use;
        count++;
    }
    return count;
}

/* Makes room for one more point, so that recording cannot fail. */
static weft_status reserve_point(weft__buffer *buffer)
{
    uint32_t kept = 0;
    if (buffer->reads_count < buffer->reads_room)
        return WEFT_OK;
    for (uint32_t i = 0; i < buffer->reads_count; i++)
        if (!weft__point_done(buffer->reads[i]))
            buffer->reads[kept++] = buffer->reads[i];
    buffer->reads_count = kept;
    if (kept < buffer->reads_room)
        return WEFT_OK;
    bool grown = buffer->reads != buffer->reads_inline;
    size_t bytes = buffer->reads_room * 2 * sizeof *buffer->reads;
    weft__point *more = weft__reallocate(grown ? buffer->reads : NULL, bytes);
    if (!more)
        return WEFT_ERROR_MEMORY;
    if (!grown)
        memcpy(more, buffer->reads_inline, sizeof buffer->reads_inline);
    buffer->reads = more;
    buffer->reads_room *= 2;
    return WEFT_OK;
}

static weft_status collect(const weft__use *uses, uint32_t count, wait_list *waits,
                           const weft__timeline *own, bool here)
{
    for (uint32_t i = 0; i < count; i++) {
        weft__buffer *buffer = uses[i].buffer;
        TRY(add_wait(waits, buffer->write, own, here));
        TRY(reserve_point(buffer));
        for (uint32_t k = 0; uses[i].write && k < buffer->reads_count; k++)
            TRY(add_wait(waits, buffer->reads[k], own, here));
    }
    return WEFT_OK;
}

/* A device may be past work that its stream has not been asked about, and whose record still names
 * the buffer. */
static bool is_unsettled(weft__point point, const weft__timeline *own)
{
    return point.timeline && point.timeline != own && atomic_load(&point.timeline->progress) &&
           atomic_load(&point.timeline->completed) < point.sequence;
}

static bool is_read_by(const weft__buffer *buffer, const weft__timeline *timeline)
{
    for (uint32_t k = 0; k < buffer->reads_count; k++)
        if (buffer->reads[k].timeline == timeline)
            return true;
    return false;
}

/* A write comes after all that was recorded, so that this is enough to wait for; but a buffer is
 * not idle while there are records of it, nor while work uses it that this one is inside. */
static void record_write(weft__buffer *buffer, weft__point point, bool inside)
{
    const weft__point before = buffer->write;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < buffer->reads_count; k++)
        if (is_unsettled(buffer->reads[k], point.timeline) ||
            (inside && is_enclosing(buffer->reads[k])))
            buffer->reads[kept++] = buffer->reads[k];
    buffer->reads_count = kept;
    if (inside && is_enclosing(before))
        return;
    buffer->write = point;
    if (is_unsettled(before, point.timeline) && !is_read_by(buffer, before.timeline))
        weft__buffer_add_read(buffer, before);
}

static void record(const weft__use *uses, uint32_t count, weft__point point, bool inside)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!uses[i].write)
            weft__buffer_add_read(uses[i].buffer, point);
        else
            record_write(uses[i].buffer, point, inside);
    }
}

static void lock_all(const weft__use *uses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weft__buffer_lock(uses[i].buffer);
        weft__claim_end(uses[i].buffer);
    }
}

static void unlock_all(const weft__use *uses, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        weft__buffer_unlock(uses[i].buffer);
}

static weft_status fail_wait(void)
{
    return FAIL(
        WEFT_ERROR_WAIT,
        "the call would wait for work queued on another stream, and weft_waits_forbid is in "
        "force; make the stream that computes this current, or allow waits");
}

weft_status weft__waits_check(void)
{
    const weft__thread *thread = weft__thread_peek();
    return thread && thread->waits_forbidden ? fail_wait() : WEFT_OK;
}

static weft_status fail_self(void)
{
    return FAIL(WEFT_ERROR_STREAM,
                "a function called by a stream waits for work that comes after it on "
                "the same stream; it would wait forever");
}

weft_status weft__stream_waits_check(const weft_stream *stream)
{
    TRY(weft__record_refuse(WEFT__RECORD_WAITS));
    if (!stream->async)
        return WEFT_OK;
    return weft__in_callback_of(stream) ? fail_self() : weft__waits_check();
}

bool weft__waits_are_limited(void)
{
    const weft__thread *thread = weft__thread_peek();
    return running.timeline || (thread && thread->waits_forbidden);
}

static weft_status check_waits(const wait_list *waits)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if (is_behind(waits->points[i]))
            return fail_self();
    return waits->count && weft__thread_get()->waits_forbidden ? fail_wait() : WEFT_OK;
}

/* Of what this thread computes in its calls, at the present depth; NULL if that was nothing yet. */
static weft__timeline *own_timeline(void)
{
    const weft__thread *thread = weft__thread_peek();
    return thread && thread->depth < WEFT__DEPTH_MAX ? thread->timelines[thread->depth] : NULL;
}

/* The next point of the buffer that is not done: its last write or, if `all`, also the reads since.
 */
static weft__point pending_point(weft__buffer *buffer, bool all)
{
    weft__point point;
    if (weft__claim_pending(buffer, !all, &point) && !is_enclosing(point))
        return point;
    if (point.timeline && point.timeline == own_timeline())
        return (weft__point){0};
    weft__buffer_lock(buffer);
    point = buffer->write;
    for (uint32_t k = 0; all && k < buffer->reads_count; k++)
        if (weft__point_done(point) || is_enclosing(point))
            point = buffer->reads[k];
    weft__buffer_unlock(buffer);
    return point;
}

weft_status weft__buffer_waits_check(weft__buffer *buffer, bool all)
{
    const weft__point point = pending_point(buffer, all);
    if (weft__point_done(point) || is_enclosing(point))
        return WEFT_OK;
    return is_behind(point) ? fail_self() : weft__waits_check();
}

static weft__failure *failed_input(const weft__work *work)
{
    weft__failure *failure = NULL;
    for (uint32_t i = 0; i < work->uses_count && !failure; i++)
        if (!work->uses[i].write)
            failure = weft__buffer_failure(work->uses[i].buffer, work->uses[i].generation);
    return failure;
}

/* Once all that the work waits for is done. */
static weft_status check_inputs(const weft__work *work)
{
    weft__failure *failure = failed_input(work);
    const weft_status status = failure ? weft__failure_report(failure, WEFT_ERROR_RESULT) : WEFT_OK;
    weft__failure_release(failure);
    return status;
}

/* The failure of an input, retained. NULL if there is none or, with *pending set, while work is on
 * its way that may write the input anew. */
static weft__failure *known_failure(const weft__use *use, weft__point *pending)
{
    *pending = pending_point(use->buffer, false);
    weft__failure *failure = weft__buffer_failure(use->buffer, use->generation);
    if (failure && !weft__point_done(*pending) && !is_enclosing(*pending)) {
        weft__failure_release(failure);
        return NULL;
    }
    *pending = (weft__point){0};
    return failure;
}

/* What is not known yet is known when the work begins; but a device does not ask then, and how its
 * work went is found out in the order of one stream: what another stream writes is waited for. */
static weft_status check_known_input(const weft_stream *stream, const weft__work *work,
                                     const weft__use *use)
{
    weft__point pending;
    weft__failure *failure = known_failure(use, &pending);
    if (pending.timeline && pending.timeline != work->timeline &&
        stream->device.kind != WEFT_DEVICE_CPU) {
        TRY(weft__wait_points(&pending, 1, stream->device, true));
        failure = known_failure(use, &pending);
    }
    const weft_status status = failure ? weft__failure_report(failure, WEFT_ERROR_RESULT) : WEFT_OK;
    weft__failure_release(failure);
    return status;
}

/* Before work is queued. */
static weft_status check_known_inputs(const weft_stream *stream, const weft__work *work)
{
    for (const weft__use *use = work->uses, *end = use + work->uses_count; use < end; use++)
        if (!use->write && atomic_load_explicit(&use->buffer->failure, memory_order_acquire))
            TRY(check_known_input(stream, work, use));
    return WEFT_OK;
}

static void begin(const weft__work *work)
{
    if (!running.timeline) /* a function of the user's may compute: the outermost work counts */
        running = (weft__point){work->timeline, work->sequence};
    weft__operation_begin(work->operation);
}

static void end(const weft__work *work)
{
    if (running.timeline == work->timeline && running.sequence == work->sequence)
        running = (weft__point){0};
}

static weft_status do_now(weft_stream *stream, const weft__work *work)
{
    return weft__tracing() ? weft__traced_run(stream, work)
                           : stream->backend->stream_submit(stream, work);
}

/* Does work that has a number, in the caller's thread. */
static weft_status do_here(weft_stream *stream, const weft__work *work)
{
    weft_status status = do_now(stream, work);
    weft__work_end(stream, work, status);
    return status;
}

/* Nothing to wait for, and nothing to record: the thread has claimed all that the work uses. A
 * launch calls nothing of the user's, so that nothing has failed meanwhile either. */
static weft_status run_claimed(weft_stream *stream, weft__work *work)
{
    weft__thread *thread = weft__thread_state;
    const char *operation = weft__operation(); /* the work may have a name of the user's */
    thread->depth++;
    begin(work);
    weft_status status = do_now(stream, work);
    if (status == WEFT_OK && work->kind == WEFT__WORK_LAUNCH)
        end(work);
    else
        weft__work_end(stream, work, status);
    weft__operation_begin(operation);
    thread->depth--;
    weft__timeline_complete(work->timeline, work->sequence);
    return status;
}

/* Recorded first, so that other threads order themselves after it. */
static void number_here(weft__work *work, const weft__use *uses, uint32_t count)
{
    weft__timeline *timeline = work->timeline;
    weft__claim_forget(timeline);
    work->sequence = atomic_fetch_add(&timeline->submitted, 1) + 1;
    record(uses, count, (weft__point){timeline, work->sequence}, running.timeline != NULL);
    for (uint32_t i = 0; i < count; i++)
        weft__claim_make(uses[i].buffer, timeline, false);
    unlock_all(uses, count);
}

static weft_status run_here(weft_stream *stream, weft__work *work, const weft__use *uses,
                            uint32_t count, wait_list *waits)
{
    weft__thread *thread = weft__thread_get();
    weft_status status = waits->count ? check_waits(waits) : WEFT_OK;
    if (status != WEFT_OK) {
        unlock_all(uses, count);
        return status;
    }
    number_here(work, uses, count);
    const char *operation = weft__operation();
    thread->depth++;
    status = weft__wait_points(waits->points, waits->count, stream->device, false);
    if (status == WEFT_OK && weft__work_begin(work))
        status = do_here(stream, work);
    else if (status == WEFT_OK)
        status = check_inputs(work);
    weft__operation_begin(operation);
    thread->depth--;
    weft__timeline_complete(work->timeline, work->sequence);
    return status;
}

/* In the turn of claims: nothing to wait for, and a number to record, if the stream has claimed all
 * that the work uses. False if that is not so any more. */
static bool queue_claimed(weft_stream *stream, weft__work *work, weft_status *status)
{
    weft__timeline *timeline = work->timeline;
    work->sequence = atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1;
    if (work->again)
        weft__window_open(timeline, work->generation, stream->backend->look_every);
    if (!weft__claim_queue(work))
        return false;
    *status = stream->backend->stream_submit(stream, work);
    if (*status == WEFT_OK) {
        atomic_store_explicit(&timeline->submitted, work->sequence, memory_order_release);
        timeline->window_works++;
        if (work->again && work->again->queue) /* the backend says so when it is queued */
            atomic_store_explicit(&work->again->window,
                                  atomic_load_explicit(&timeline->window, memory_order_relaxed),
                                  memory_order_relaxed);
    }
    return true;
}

/* It is another thread's turn: sleeps, as with locks. */
__attribute__((noinline)) static void await_turn(weft_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    weft__turn_take(stream->timeline, WEFT__TURN_CLAIMS);
    pthread_mutex_unlock(&stream->mutex);
}

__attribute__((noinline)) static bool try_claimed(weft_stream *stream, weft__work *work,
                                                  weft_status *status)
{
    if (!weft__turn_try(work->timeline, WEFT__TURN_CLAIMS))
        await_turn(stream);
    const bool queued = queue_claimed(stream, work, status);
    weft__turn_end(work->timeline);
    return queued;
}

static weft_status queue(weft_stream *stream, weft__work *work, const weft__use *uses,
                         uint32_t count, const wait_list *waits)
{
    weft__timeline *timeline = work->timeline;
    work->sequence = atomic_load_explicit(&timeline->submitted, memory_order_relaxed) + 1;
    work->waits = waits->points;
    work->waits_count = waits->count;
    weft_status status = stream->backend->stream_submit(stream, work);
    if (status == WEFT_OK) {
        record(uses, count, (weft__point){timeline, work->sequence}, false);
        atomic_store(&timeline->submitted, work->sequence);
        for (uint32_t i = 0; stream->backend->claims && i < count; i++)
            weft__claim_make(uses[i].buffer, timeline, true);
    }
    unlock_all(uses, count);
    return status;
}

static weft_status submit(weft_stream *stream, weft__work *work, wait_list *waits,
                          weft__use *sorted)
{
    uint32_t count = sort_buffers(work, sorted);
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < work->waits_count && status == WEFT_OK; i++)
        status = add_wait(waits, work->waits[i], work->timeline, !stream->async);
    if (status != WEFT_OK)
        return status;
    lock_all(sorted, count);
    status = collect(sorted, count, waits, work->timeline, !stream->async);
    if (status != WEFT_OK) {
        unlock_all(sorted, count);
        return status;
    }
    return stream->async ? queue(stream, work, sorted, count, waits)
                         : run_here(stream, work, sorted, count, waits);
}

static weft_status submit_locked(weft_stream *stream, weft__work *work)
{
    enum { SORTED_INLINE = 16 };
    weft__use inline_uses[SORTED_INLINE], *sorted = inline_uses;
    wait_list waits; /* not all of it is cleared: it is large, and most work waits for nothing */
    weft_status status;
    waits.points = waits.inline_points;
    waits.count = 0;
    waits.room = WAITS_INLINE;
    if (work->uses_count >= SORTED_INLINE &&
        !(sorted = weft__allocate((work->uses_count + 1) * sizeof *sorted)))
        return WEFT_ERROR_MEMORY;
    if (stream->async)
        weft__stream_submission_lock(stream);
    status = submit(stream, work, &waits, sorted);
    if (stream->async)
        weft__stream_submission_unlock(stream);
    free_waits(&waits);
    if (sorted != inline_uses)
        weft__free(sorted);
    return status;
}

/* Whether the calling thread does the work, and nothing is known that has to be reported first. */
static bool is_direct(const weft_stream *stream, const weft__work *work)
{
    return !stream->async && !work->waits_count &&
           !atomic_load_explicit(&stream->failures.count, memory_order_relaxed);
}

/* Whether nothing is known that has to be reported first, and it may be queued without locks of the
 * buffers: the first is as good a guess as all. */
static bool may_be_claimed(const weft_stream *stream, const weft__work *work)
{
    return stream->async && stream->backend->claims && !work->waits_count && work->uses_count &&
           !atomic_load_explicit(&stream->failures.count, memory_order_relaxed) &&
           (work->kind == WEFT__WORK_LAUNCH || work->kind == WEFT__WORK_GRAPH) &&
           atomic_load_explicit(&work->uses->buffer->claimant, memory_order_relaxed) ==
               work->timeline;
}

/* Whether to ask the device: so often that what is pending stays short, where that costs something.
 */
static bool is_time_to_look(const weft_stream *stream, const weft__timeline *timeline)
{
    const uint32_t every = stream->backend->look_every;
    const uint64_t submitted = atomic_load_explicit(&timeline->submitted, memory_order_relaxed);
    return every == 0 || (submitted & (every - 1)) == 0;
}

/* Work that failed before, and that nobody has asked about, says more than that this was refused.
 */
static weft_status check_after(weft_stream *stream, weft_status status)
{
    const weft_status before =
        stream->backend->look_every > 0 ? weft__stream_check(stream) : WEFT_OK;
    return before != WEFT_OK ? before : status;
}

/* Kept out of what is called for each warm launch, which is then in fewer lines of the cache. */
__attribute__((noinline)) static weft_status submit_slowly(weft_stream *stream, weft__work *work)
{
    weft_status status;
    TRY(is_time_to_look(stream, work->timeline) ? weft__stream_check(stream)
                                                : weft__stream_check_known(stream));
    if (!may_be_claimed(stream, work) || !try_claimed(stream, work, &status)) {
        TRY(check_known_inputs(stream, work));
        status = submit_locked(stream, work);
    }
    return status == WEFT_OK ? WEFT_OK : check_after(stream, status);
}

weft_status weft__submit(weft_stream *stream, weft__work *work)
{
    const weft__thread *thread = weft__thread_get();
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (thread->recorder)
        return weft__record(stream, work);
    work->timeline = stream->timeline ? stream->timeline : weft__thread_timeline();
    if (!work->timeline)
        return WEFT_ERROR_MEMORY;
    if (is_direct(stream, work) && weft__claim_begin(work))
        return run_claimed(stream, work);
    weft_status status;
    if (may_be_claimed(stream, work) && !is_time_to_look(stream, work->timeline) &&
        try_claimed(stream, work, &status))
        return status == WEFT_OK ? WEFT_OK : check_after(stream, status);
    return submit_slowly(stream, work);
}

static void fail_outputs(const weft__work *work, weft__failure *failure)
{
    for (uint32_t i = 0; i < work->uses_count; i++)
        if (work->uses[i].write)
            weft__buffer_set_failure(work->uses[i].buffer, work->uses[i].generation, failure);
}

bool weft__in_callback(void) { return running.timeline != NULL; }

bool weft__in_callback_of(const weft_stream *stream)
{
    return running.timeline && running.timeline == stream->timeline;
}

bool weft__work_begin(const weft__work *work)
{
    weft__failure *failure = failed_input(work);
    if (failure) {
        fail_outputs(work, failure);
        weft__failure_release(failure);
        return false;
    }
    begin(work);
    return true;
}

static void end_work(weft_stream *stream, const weft__work *work, weft_status status)
{
    if (status != WEFT_OK) {
        weft__failure *failure = weft__failure_new(work->operation);
        fail_outputs(work, failure);
        if (stream->async)
            weft__stream_keep_failure(stream, failure);
        weft__failure_release(failure);
        return;
    }
    for (uint32_t i = 0; i < work->uses_count; i++) {
        const weft__use *use = &work->uses[i];
        if (use->write && use->whole && atomic_load(&use->buffer->failure))
            weft__buffer_set_failure(use->buffer, use->generation, NULL);
    }
}

void weft__work_end(weft_stream *stream, const weft__work *work, weft_status status)
{
    end(work);
    end_work(stream, work, status);
}

void weft__work_settle(weft_stream *stream, const weft__work *work, weft_status status)
{
    weft__failure *failure = failed_input(work);
    if (failure)
        fail_outputs(work, failure);
    else
        end_work(stream, work, status);
    weft__failure_release(failure);
}

bool weft__work_is_plain(const weft__work *work)
{
    if (atomic_load(&weft__buffers_failed) == 0)
        return true;
    for (uint32_t i = 0; i < work->uses_count; i++)
        if (atomic_load_explicit(&work->uses[i].buffer->failure, memory_order_acquire))
            return false;
    return true;
}

void weft__work_complete(const weft__work *work)
{
    weft__operation_begin("weft"); /* the work's name may be the user's, and gone after this */
    running = (weft__point){work->timeline, work->sequence};
    weft__timeline_complete(work->timeline, work->sequence);
    running = (weft__point){0};
}

weft_status weft__wait_points(const weft__point *points, uint32_t count, weft_device device,
                              bool hidden)
{
    weft__thread *thread = weft__thread_peek();
    for (uint32_t i = 0; i < count; i++) {
        weft__point point = points[i];
        if (weft__point_done(point))
            continue;
        if (is_enclosing(point) || is_behind(point))
            return fail_self();
        if (hidden && thread && thread->waits_forbidden)
            return fail_wait();
        COUNT(weft__device_get(device)->statistics.waits, 1);
        if (weft__tracing())
            weft__traced_wait(point, NULL);
        else
            weft__timeline_wait(point.timeline, point.sequence);
    }
    return WEFT_OK;
}

weft_status weft__buffer_wait(weft__buffer *buffer, bool hidden, bool all)
{
    weft_device device = buffer->device.kind == WEFT_DEVICE_NONE ? WEFT_CPU : buffer->device;
    TRY(weft__record_refuse(WEFT__RECORD_WAITS));
    for (;;) {
        weft__point point = pending_point(buffer, all);
        if (weft__point_done(point) || is_enclosing(point))
            break;
        TRY(weft__wait_points(&point, 1, device, hidden));
    }
    weft__failure *failure = weft__buffer_failure(buffer, atomic_load(&buffer->generation));
    if (!failure)
        return WEFT_OK;
    weft_status status = weft__failure_report(failure, WEFT_ERROR_RESULT);
    weft__failure_release(failure);
    return status;
}
