/* The commands of an asynchronous stream that are not known to be done, in order. */
#ifndef WEFT_BACKEND_OPENCL_LINE_H
#define WEFT_BACKEND_OPENCL_LINE_H

#include "backend/opencl/opencl.h"
#include "backend/times.h"

enum { WEFT__PENDING_USES = 8 };

/* A piece of work, copied. */
typedef struct weft__pending {
    struct weft__pending *next;
    weft_stream *stream;
    cl_event event;
    _Atomic bool settled; /* how it went is recorded already */
    weft__work work;      /* its uses are here */
    weft__use uses[WEFT__PENDING_USES];
} weft__pending;

/* What a timeline asks; never freed while the library is loaded, but used again. Only who has
 * `settling` takes work out at the front; `mutex` is held for a moment only, and nothing is locked
 * inside it: a submission, which has buffers locked, may take it. */
typedef struct weft__line {
    weft__progress progress; /* first: a timeline knows this */
    pthread_mutex_t settling, mutex;
    weft__pending *first, *last;
    weft__pending *spare; /* to be used again; guarded by mutex as well */
    weft__timeline *timeline;
    weft__times *times; /* NULL without profiling */
    cl_context context;
    struct weft__line *next; /* all lines */
    bool used;
} weft__line;

/* A line for a stream's timeline; NULL, with the record set, if memory ran out. */
weft__line *weft__line_open(weft_stream *stream, cl_context context);
void weft__line_close(weft__line *line);

/* A copy of the work, to be added or dropped; NULL, with the record set, if memory ran out. */
weft__pending *weft__line_prepare(weft__line *line, weft_stream *stream, const weft__work *work);
void weft__line_add(weft__line *line, weft__pending *pending);
void weft__line_drop(weft__line *line, weft__pending *pending);

/* The event of a point, retained, if it is a command of this context that is not known to be done;
 * else NULL. */
cl_event weft__line_event(weft__point point, cl_context context);

/* In the child of a fork: nothing that was pending will be done here. */
void weft__lines_after_fork(void);

#endif
