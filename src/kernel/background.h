/* The threads that do what can wait: one for the first runs of jobs, and one for the second runs,
 * for which no first run has to wait. Each is there only while it has something to do. */
#ifndef WEFT_KERNEL_BACKGROUND_H
#define WEFT_KERNEL_BACKGROUND_H

#include "core/library.h"
#include <weft/device.h>

enum { WEFT__BACKGROUND_MOST = 64 }; /* jobs that wait for their first run */

/* A part of what the job is about. */
typedef struct weft__job weft__job;
struct weft__job {
    weft__job *next;
    bool (*run)(weft__job *job);  /* true: it is to be run again, when no other waits */
    void (*drop)(weft__job *job); /* it will not be run, or not again */
    weft_device device;
    bool late; /* it was run once: others come first */
};

/* Puts the job behind the others; false if too many wait for their first run, or no thread can be
 * had. One that was run once may be added again, to be run a second time. */
bool weft__background_add(weft__job *job);

/* Drops the device's jobs that wait, and waits for those that are being run, which are not run
 * again. */
void weft__background_drop(weft_device device);

/* Whether the job waits or is being run. */
bool weft__background_holds(const weft__job *job);

/* Waits until there is nothing left to do. */
void weft__background_wait(void);

/* Waits for the jobs that are being run; in the child, those that waited are dropped. */
void weft__background_fork(weft__fork_stage stage);

/* Ends them, after the jobs that are being run; nothing is added any more. */
void weft__background_close(void);

#endif
