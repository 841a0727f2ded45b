/* Pending work: finding out what is done, and recording how it went. */
#include "backend/line.h"
#include "core/allocate.h"
#include "core/window.h"
#include "trace/trace.h"
#include <sched.h>

static pthread_mutex_t lines_mutex = PTHREAD_MUTEX_INITIALIZER;
static weft__line *lines;

static void look(weft__progress *progress, weft__timeline *timeline, bool fully);

static weft__pending *take_spare(weft__line *line)
{
    if (!line->ready) {
        pthread_mutex_lock(&line->mutex);
        line->ready = line->spare;
        line->spare = NULL;
        pthread_mutex_unlock(&line->mutex);
    }
    weft__pending *spare = line->ready;
    if (spare)
        line->ready = weft__pending_next(spare);
    return spare;
}

/* When memory has run out: a record that work before this needs no longer. A program whose first
 * kernels are on their way goes on like that. The caller has buffers locked: what waits for the
 * helper, which may want them, is not waited for. */
static weft__pending *wait_for_spare(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    const weft__pending *first = weft__pending_next(line->before);
    const uint64_t sequence = first && !atomic_load(&first->deferred) ? first->work.sequence : 0;
    pthread_mutex_unlock(&line->mutex);
    if (sequence == 0)
        return NULL;
    line->device->wait(line, sequence);
    look(&line->progress, NULL, false);
    return take_spare(line);
}

/* A new one, where none is ready. */
__attribute__((noinline)) static weft__pending *make_pending(weft__line *line, uint32_t uses)
{
    const bool few = uses <= WEFT__PENDING_USES;
    weft__pending *pending = few ? take_spare(line) : NULL;
    if (pending)
        return pending;
    const weft_error before = *weft_error_last();
    const size_t more = few ? 0 : uses - WEFT__PENDING_USES;
    if (!(pending = weft__allocate(sizeof *pending + more * sizeof(weft__use))) && few &&
        (pending = wait_for_spare(line)))
        weft__error_restore(&before);
    return pending;
}

static weft__pending *new_pending(weft__line *line, uint32_t uses)
{
    weft__pending *pending = line->ready;
    if (!pending || uses > WEFT__PENDING_USES)
        return make_pending(line, uses);
    line->ready = weft__pending_next(pending);
    return pending;
}

/* Of copies, and of functions. */
__attribute__((noinline)) static void copy_whole(weft__work *to, const weft__work *work)
{
    *to = *work;
}

/* Of most kinds the whole would be several lines of the cache more. */
static void copy_work(weft__pending *pending, const weft__work *work)
{
    weft__work *to = &pending->work;
    if (work->kind == WEFT__WORK_LAUNCH || work->kind == WEFT__WORK_GRAPH) {
        to->kind = work->kind;
        to->source = work->source;
        to->operation = work->operation;
        to->sequence = work->sequence;
        to->timeline = work->timeline;
        to->uses_count = work->uses_count;
        to->waits_count = work->waits_count;
        to->waits = work->waits;
        to->again = work->again;
        to->generation = work->generation;
        to->of.launch = work->of.launch; /* a graph is the first that this has */
    } else
        copy_whole(to, work);
    to->uses = pending->uses;
    for (uint32_t i = 0; i < work->uses_count; i++)
        pending->uses[i] = work->uses[i];
}

weft__pending *weft__line_prepare(weft__line *line, weft_stream *stream, const weft__work *work)
{
    weft__pending *pending = new_pending(line, work->uses_count);
    if (!pending)
        return NULL;
    atomic_store_explicit(&pending->next, NULL, memory_order_relaxed);
    pending->stream = stream;
    pending->event = NULL;
    atomic_store_explicit(&pending->deferred, false, memory_order_relaxed);
    atomic_store_explicit(&pending->settled, false, memory_order_relaxed);
    pending->submitted = weft__tracing() ? weft__trace_now() : 0;
    copy_work(pending, work);
    return pending;
}

/* Of a list from `first` to `last`. */
static void give_spares(weft__line *line, weft__pending *first, weft__pending *last)
{
    pthread_mutex_lock(&line->mutex);
    atomic_store_explicit(&last->next, line->spare, memory_order_relaxed);
    line->spare = first;
    pthread_mutex_unlock(&line->mutex);
}

void weft__line_drop(weft__line *line, weft__pending *pending)
{
    if (pending->event)
        line->device->release(line, pending->event);
    if (pending->work.uses_count > WEFT__PENDING_USES)
        weft__free(pending);
    else
        give_spares(line, pending, pending);
}

void weft__line_add(weft__line *line, weft__pending *pending)
{
    atomic_store_explicit(&line->last->next, pending, memory_order_release);
    line->last = pending;
}

/* Takes all up to `last` out, for good. The last stays as what the rest follows. */
static void take_out(weft__line *line, weft__pending *last)
{
    weft__pending *out = line->before, *next, *first_spare = NULL, *last_spare = NULL;
    const uint64_t until = weft__line_until(line, last);
    pthread_mutex_lock(&line->mutex);
    line->before = last;
    pthread_mutex_unlock(&line->mutex);
    atomic_store(&line->timeline->completed, until);
    for (; out != last; out = next) {
        next = weft__pending_next(out);
        if (next->event)
            line->device->release(line, next->event);
        next->event = NULL;
        if (out == &line->none)
            continue;
        if (out->work.uses_count > WEFT__PENDING_USES) {
            weft__free(out);
            continue;
        }
        if (last_spare)
            atomic_store_explicit(&last_spare->next, out, memory_order_relaxed);
        else
            first_spare = out;
        last_spare = out;
    }
    if (first_spare)
        give_spares(line, first_spare, last_spare);
}

/* The record of the thread that looks stays as it is. */
static void settle(const weft__line *line, const weft__pending *pending, int state)
{
    const weft_error before = *weft_error_last();
    const char *operation = weft__operation();
    weft__operation_begin(pending->work.operation);
    const weft_status status = state == 0 ? WEFT_OK : line->device->fail(state);
    weft__work_settle(pending->stream, &pending->work, status);
    weft__operation_begin(operation);
    weft__error_restore(&before);
}

/* With `settling` held. */
static void advance(weft__line *line, bool fully)
{
    weft__pending *last = line->before, *first;
    while ((first = weft__pending_next(last))) {
        const int state = line->device->state(line, first);
        const bool plain = (state == 0 && weft__work_is_plain(&first->work)) ||
                           atomic_load_explicit(&first->settled, memory_order_acquire);
        if (state > 0 || (!plain && !fully))
            break;
        if (!plain)
            settle(line, first, state);
        line->device->done(line, first);
        last = first;
    }
    if (last != line->before)
        take_out(line, last);
}

static void look(weft__progress *progress, weft__timeline *timeline, bool fully)
{
    weft__line *line = (weft__line *)progress;
    (void)timeline;
    if (pthread_mutex_trylock(&line->settling) != 0) /* somebody looks already */
        return;
    advance(line, fully);
    pthread_mutex_unlock(&line->settling);
    if (fully && atomic_load(&weft__retired_count) != 0)
        weft__retired_sweep();
}

/* What is not there was taken out, and the number will be written any moment. */
static void wait_for(weft__progress *progress, weft__timeline *timeline, uint64_t sequence)
{
    weft__line *line = (weft__line *)progress;
    while (atomic_load(&timeline->completed) < sequence) {
        pthread_mutex_lock(&line->mutex);
        const bool there = weft__line_find(line, sequence) != NULL;
        pthread_mutex_unlock(&line->mutex);
        if (there)
            line->device->wait(line, sequence);
        else
            sched_yield();
        look(progress, timeline, true);
    }
}

weft__pending *weft__line_find(const weft__line *line, uint64_t sequence)
{
    weft__pending *pending = weft__pending_next(line->before), *next;
    if (!pending || pending->work.sequence > sequence)
        return NULL;
    while ((next = weft__pending_next(pending)) && next->work.sequence <= sequence)
        pending = next;
    return pending;
}

/* The numbers before the record is looked at: what is submitted then and not in the next one is in
 * this one. */
uint64_t weft__line_until(const weft__line *line, const weft__pending *pending)
{
    const uint64_t own = pending->work.sequence;
    weft__window_close(line->timeline);
    const uint64_t submitted = atomic_load(&line->timeline->submitted);
    const weft__pending *next = weft__pending_next(pending);
    if (next)
        return next->work.sequence - 1;
    return submitted > own ? submitted : own;
}

weft__line *weft__line_lock(weft__point point, const weft__line_device *device)
{
    weft__progress *progress = atomic_load(&point.timeline->progress);
    if (!progress || progress->look != look)
        return NULL;
    weft__line *line = (weft__line *)progress;
    pthread_mutex_lock(&line->mutex);
    if (line->timeline == point.timeline && line->device == device)
        return line;
    pthread_mutex_unlock(&line->mutex);
    return NULL;
}

/* With lines_mutex held. */
static weft__line *take_line(void)
{
    weft__line *line = lines;
    while (line && line->used)
        line = line->next;
    if (line || !(line = weft__allocate_zeroed(sizeof *line)))
        return line;
    weft__allocation_end(); /* never given back while the library is loaded */
    line->progress = (weft__progress){look, wait_for};
    line->before = line->last = &line->none;
    pthread_mutex_init(&line->settling, NULL);
    pthread_mutex_init(&line->mutex, NULL);
    pthread_cond_init(&line->changed, NULL);
    line->next = lines;
    lines = line;
    return line;
}

weft__line *weft__line_open(weft_stream *stream, const weft__line_device *device, void *owner)
{
    weft__times *times = stream->profiling ? weft__times_new() : NULL;
    if (stream->profiling && !times)
        return NULL;
    pthread_mutex_lock(&lines_mutex);
    weft__line *line = take_line();
    if (line)
        line->used = true;
    pthread_mutex_unlock(&lines_mutex);
    if (!line) {
        weft__free(times);
        return NULL;
    }
    pthread_mutex_lock(&line->mutex);
    line->timeline = stream->timeline;
    line->device = device;
    line->owner = owner;
    line->times = times;
    pthread_mutex_unlock(&line->mutex);
    atomic_store(&stream->timeline->progress, &line->progress);
    return line;
}

void weft__line_close(weft__line *line)
{
    atomic_store(&line->timeline->progress, NULL);
    pthread_mutex_lock(&line->settling); /* somebody may be looking */
    pthread_mutex_lock(&line->mutex);
    weft__pending *lists[] = {line->spare, line->ready,
                              line->before == &line->none ? NULL : line->before};
    line->spare = line->ready = NULL;
    line->before = line->last = &line->none; /* somebody may still look for what is pending */
    atomic_store_explicit(&line->none.next, NULL, memory_order_relaxed);
    line->timeline = NULL;
    weft__free(line->times);
    line->times = NULL;
    pthread_mutex_unlock(&line->mutex);
    pthread_mutex_unlock(&line->settling);
    for (int k = 0; k < 3; k++)
        for (weft__pending *spare = lists[k], *next; spare; spare = next) {
            next = weft__pending_next(spare);
            weft__free(spare);
        }
    pthread_mutex_lock(&lines_mutex);
    line->used = false;
    pthread_mutex_unlock(&lines_mutex);
}

void weft__lines_after_fork(void)
{
    pthread_mutex_init(&lines_mutex, NULL);
    for (weft__line *line = lines; line; line = line->next) {
        pthread_mutex_init(&line->settling, NULL);
        pthread_mutex_init(&line->mutex, NULL);
        pthread_cond_init(&line->changed, NULL);
        line->before = line->last;
        if (line->timeline)
            atomic_store(&line->timeline->completed, atomic_load(&line->timeline->submitted));
    }
}
