/* Failures of work that was queued: kept with the stream and with the arrays that were to be made.
 */
#ifndef WEFT_CORE_FAILURE_H
#define WEFT_CORE_FAILURE_H

#include "core/library.h"
#include "core/status.h"
#include <stdatomic.h>

typedef struct weft__failure {
    _Atomic int references;
    _Atomic bool reported;      /* some call of the user's has returned it */
    struct weft__failure *next; /* in the list of its stream */
    weft_error error;           /* its operation is the work's */
} weft__failure;

/* From the record of this thread. Never NULL: if memory ran out, one of a few that are kept for
 * that, and if those did, a shared record that says so. */
weft__failure *weft__failure_new(const char *operation);
weft__failure *weft__failure_retain(weft__failure *failure);
void weft__failure_release(weft__failure *failure);
/* Puts it into this thread's record with `code`, marks it reported, returns `code`. */
weft_status weft__failure_report(weft__failure *failure, weft_status code);

/* Failures that nobody was told of yet, in order; the list holds references. */
typedef struct weft__failures {
    _Atomic uint32_t count;
    bool nameless; /* the last of them is one that there was no memory for */
    weft__failure *first, *last;
} weft__failures;
void weft__failures_add(weft__failures *list, weft__failure *failure);
/* Takes the oldest out; NULL if there is none. */
weft__failure *weft__failures_take(weft__failures *list);
void weft__failures_drop(weft__failures *list);
void weft__failures_fork(weft__fork_stage stage);

#endif
