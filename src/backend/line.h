/* The work of an asynchronous stream that is not known to be done, in order, for devices that are
 * asked how far they have come. */
#ifndef WEFT_BACKEND_LINE_H
#define WEFT_BACKEND_LINE_H

#include "backend/times.h"
#include "core/stream.h"

enum { WEFT__PENDING_USES = 8 };

/* A piece of work, copied. */
typedef struct weft__pending {
    _Atomic(struct weft__pending *) next;
    void *event;           /* the device's, after this work; NULL if there is none */
    uint64_t until;        /* (of OpenCL's) the last number before `finish`; its own without */
    uint64_t submitted;    /* when, if there is a trace; else 0 */
    _Atomic bool deferred; /* the helper has something to do first */
    _Atomic bool settled;  /* how it went is recorded already */
    weft_stream *stream;
    weft__work work;      /* its uses are here */
    void *start, *finish; /* the device's events around this work, if it needs some for that */
    weft__use uses[WEFT__PENDING_USES];
} weft__pending;

typedef struct weft__line weft__line;

/* What a line asks of a device. */
typedef struct weft__line_device {
    /* Of the first one, with `settling` held: above 0 it is not done, below 0 it failed. */
    int (*state)(weft__line *line, weft__pending *first);
    /* Fails with what that number means. */
    weft_status (*fail)(int state);
    /* Waits until the work is done or has failed; may return sooner. */
    void (*wait)(weft__line *line, uint64_t sequence);
    /* It is done, and will be taken out. */
    void (*done)(weft__line *line, weft__pending *pending);
    void (*release)(weft__line *line, void *event);
} weft__line_device;

/* What a timeline asks; never freed while the library is loaded, but used again. Only who has
 * `settling` takes work out at the front; `mutex` is held for a moment only, and nothing is locked
 * inside it: a submission, which has buffers locked, may take it. */
struct weft__line {
    weft__progress progress; /* first: a timeline knows this */
    const weft__line_device *device;
    void *owner; /* the device's: whose line it is */
    pthread_mutex_t settling, mutex;
    pthread_cond_t changed; /* with `mutex`: work is no longer deferred */
    /* What was taken out last, or `none` if nothing was: what is pending follows it. */
    weft__pending *before;
    weft__pending *last;  /* … and this is added to, by submissions: they need no lock for that */
    weft__pending *spare; /* to be used again; guarded by mutex as well */
    weft__pending *ready; /* the same, for submissions: one at a time */
    weft__timeline *timeline;
    weft__times *times;      /* NULL without profiling */
    struct weft__line *next; /* all lines */
    bool used;
    weft__pending none;
};

/* A line for a stream's timeline; NULL, with the record set, if memory ran out. */
weft__line *weft__line_open(weft_stream *stream, const weft__line_device *device, void *owner);
void weft__line_close(weft__line *line);

/* A copy of the work, to be added or dropped; NULL, with the record set, if memory ran out. By a
 * submission, of which a stream has one at a time. */
weft__pending *weft__line_prepare(weft__line *line, weft_stream *stream, const weft__work *work);
void weft__line_add(weft__line *line, weft__pending *pending);
static inline weft__pending *weft__pending_next(const weft__pending *pending)
{
    return atomic_load_explicit(&pending->next, memory_order_acquire);
}
void weft__line_drop(weft__line *line, weft__pending *pending);

/* The line that a point is on, with its mutex held, if it is of that device; else NULL. */
weft__line *weft__line_lock(weft__point point, const weft__line_device *device);
/* The record of the work with that number, with the mutex held; NULL if it was taken out. */
weft__pending *weft__line_find(const weft__line *line, uint64_t sequence);
/* The last number that a record stands for: work that was queued again has none of its own. No more
 * is added to it after this. */
uint64_t weft__line_until(const weft__line *line, const weft__pending *pending);

/* In the child of a fork: nothing that was pending will be done here. */
void weft__lines_after_fork(void);

#endif
