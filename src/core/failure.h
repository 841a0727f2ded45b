/* Failures of work that was queued: kept with the stream and with the arrays that were to be made. */
#ifndef WEFT_CORE_FAILURE_H
#define WEFT_CORE_FAILURE_H

#include "core/status.h"
#include <stdatomic.h>

typedef struct weft__failure {
    _Atomic int references;
    _Atomic bool reported; /* some call of the user's has returned it */
    weft_error error;
} weft__failure;

/* From the record of this thread. Never NULL: if memory ran out, a shared record that says so. */
weft__failure *weft__failure_new(void);
weft__failure *weft__failure_retain(weft__failure *failure);
void weft__failure_release(weft__failure *failure);
/* Puts it into this thread's record with `code`, marks it reported, returns `code`. */
weft_status weft__failure_report(weft__failure *failure, weft_status code);

#endif
