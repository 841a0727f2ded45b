/* The thread that does what can wait: one for the process, there only while there is something to
 * do. */
#ifndef WEFT_KERNEL_BACKGROUND_H
#define WEFT_KERNEL_BACKGROUND_H

#include "core/library.h"
#include <weft/device.h>

enum { WEFT__BACKGROUND_MOST = 64 }; /* jobs that wait */

/* A part of what the job is about. */
typedef struct weft__job weft__job;
struct weft__job {
    weft__job *next;
    bool (*run)(weft__job *job);  /* true: it is to be run again, when no other is left */
    void (*drop)(weft__job *job); /* it will not be run, or not again */
    weft_device device;
    bool late; /* it was run once: others come first */
};

/* Puts the job behind the others that were not run yet; false if there are too many of these, or no
 * thread can be had. */
bool weft__background_add(weft__job *job);

/* Drops the device's jobs that wait, and one that is being run when it would wait again. The number
 * is for the next. */
uint64_t weft__background_drop(weft_device device);
/* Waits until the job that was being run at that call is done, if it was the device's. */
void weft__background_wait_past(uint64_t number);

/* Whether the job waits or is being run. */
bool weft__background_holds(const weft__job *job);

/* Waits until there is nothing left to do. */
void weft__background_wait(void);

/* Waits for the job that is being run; in the child, those that waited are dropped. */
void weft__background_fork(weft__fork_stage stage);

/* Ends it, after the job that is being run; nothing is added any more. */
void weft__background_close(void);

#endif
