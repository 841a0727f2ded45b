/* Pending work: finding out what is done, and recording how it went. */
#include "backend/line.h"
#include "core/allocate.h"
#include "trace/trace.h"
#include <sched.h>
#include <string.h>

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
        line->ready = spare->next;
    return spare;
}

/* When memory has run out: a record that work before this needs no longer. A program whose first
 * kernels are on their way goes on like that. The caller has buffers locked: what waits for the
 * helper, which may want them, is not waited for. */
static weft__pending *wait_for_spare(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    const weft__pending *first = line->first;
    const uint64_t sequence = first && !atomic_load(&first->deferred) ? first->work.sequence : 0;
    pthread_mutex_unlock(&line->mutex);
    if (sequence == 0)
        return NULL;
    line->device->wait(line, sequence);
    look(&line->progress, NULL, false);
    return take_spare(line);
}

static weft__pending *new_pending(weft__line *line, uint32_t uses)
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

weft__pending *weft__line_prepare(weft__line *line, weft_stream *stream, const weft__work *work)
{
    weft__pending *pending = new_pending(line, work->uses_count);
    if (!pending)
        return NULL;
    pending->next = NULL;
    pending->stream = stream;
    pending->event = NULL;
    atomic_store_explicit(&pending->deferred, false, memory_order_relaxed);
    atomic_store_explicit(&pending->settled, false, memory_order_relaxed);
    pending->submitted = weft__tracing() ? weft__trace_now() : 0;
    pending->work = *work;
    if (work->uses_count)
        memcpy(pending->uses, work->uses, work->uses_count * sizeof *work->uses);
    pending->work.uses = pending->uses;
    return pending;
}

void weft__line_drop(weft__line *line, weft__pending *pending)
{
    if (pending->event)
        line->device->release(line, pending->event);
    if (pending->work.uses_count > WEFT__PENDING_USES) {
        weft__free(pending);
        return;
    }
    pthread_mutex_lock(&line->mutex);
    pending->next = line->spare;
    line->spare = pending;
    pthread_mutex_unlock(&line->mutex);
}

void weft__line_add(weft__line *line, weft__pending *pending)
{
    pthread_mutex_lock(&line->mutex);
    *(line->first ? &line->last->next : &line->first) = pending;
    line->last = pending;
    pthread_mutex_unlock(&line->mutex);
}

static weft__pending *first_of(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    weft__pending *first = line->first;
    pthread_mutex_unlock(&line->mutex);
    return first;
}

/* Takes the first one out, for good; the one that is then the first. */
static weft__pending *take_first(weft__line *line)
{
    pthread_mutex_lock(&line->mutex);
    weft__pending *first = line->first, *next = first->next;
    const uint64_t sequence = first->work.sequence;
    void *event = first->event;
    const bool few = first->work.uses_count <= WEFT__PENDING_USES;
    line->first = next;
    if (few) {
        first->next = line->spare;
        line->spare = first;
    }
    pthread_mutex_unlock(&line->mutex);
    atomic_store(&line->timeline->completed, sequence);
    if (event)
        line->device->release(line, event);
    if (!few)
        weft__free(first);
    return next;
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
    weft__pending *first = first_of(line);
    while (first) {
        const int state = line->device->state(line, first);
        const bool plain =
            atomic_load(&first->settled) || (state == 0 && weft__work_is_plain(&first->work));
        if (state > 0 || (!plain && !fully))
            return;
        if (!plain)
            settle(line, first, state);
        line->device->done(line, first);
        first = take_first(line);
    }
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
    weft__pending *pending = line->first;
    while (pending && pending->work.sequence != sequence)
        pending = pending->next;
    return pending;
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
    pthread_mutex_init(&line->settling, NULL);
    pthread_mutex_init(&line->mutex, NULL);
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
    weft__pending *lists[] = {line->spare, line->ready};
    line->spare = line->ready = NULL;
    line->timeline = NULL;
    weft__free(line->times);
    line->times = NULL;
    pthread_mutex_unlock(&line->mutex);
    pthread_mutex_unlock(&line->settling);
    for (int k = 0; k < 2; k++)
        for (weft__pending *spare = lists[k], *next; spare; spare = next) {
            next = spare->next;
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
        line->first = NULL;
        if (line->timeline)
            atomic_store(&line->timeline->completed, atomic_load(&line->timeline->submitted));
    }
}
