/* The worker of an asynchronous stream: a thread that does the work of a queue in order. */
#ifndef WEFT_BACKEND_CPU_WORKER_H
#define WEFT_BACKEND_CPU_WORKER_H

#include "backend/cpu/queue.h"
#include "backend/times.h"
#include "core/stream.h"

/* What the thread of a worker is doing. While it is RUNNING, fork waits for it; everywhere else it
 * is at a place from which the child can go on without that thread. */
typedef enum weft__activity {
    WEFT__WORKER_ABSENT, /* there is no thread */
    WEFT__WORKER_RESTING,
    WEFT__WORKER_RUNNING,
    WEFT__WORKER_WAITING, /* for the points of the first work in the queue, which has not begun */
    WEFT__WORKER_CALLING, /* inside a function of the user's, the first work in the queue */
    WEFT__WORKER_COMPLETING, /* the first work is done; who waits is told, and deleters may run */
    WEFT__WORKER_LEAVING     /* about to end */
} weft__activity;

typedef struct weft__worker {
    weft_stream *stream;
    weft__times *times; /* NULL without profiling */
    weft__queue queue;
    char apart[64];
    _Atomic uint32_t activity; /* a weft__activity, set by the thread */
    bool orphan;               /* the thread owns the last reference of the stream */
    char apart_too[64];
    _Atomic uint32_t sleeping; /* 1 while the thread waits for work */
    bool present;              /* a thread will look at the queue; the stream's mutex guards it */
    _Atomic bool stop;         /* end when the queue is empty */
    _Atomic bool joinable;     /* who makes it false joins `thread` */
    uint32_t interrupted;      /* what the thread was doing when it was lost in a fork */
    pthread_t thread;
    struct weft__worker *next, *previous; /* all workers */
} weft__worker;

/* NULL, with the record set, if memory ran out. */
weft__worker *weft__worker_new(weft_stream *stream);
/* Ends the thread, if there is one, and frees the worker. From the stream's own work: takes a
 * reference to the stream instead, and releases it when the queue is empty. */
void weft__worker_close(weft__worker *worker);
/* Queues a copy of the work; starts or wakes the thread. The stream's mutex is held. */
weft_status weft__worker_submit(weft__worker *worker, const weft__work *work);

/* worker_loop.c: what the thread does. */
void *weft__worker_main(void *worker);
/* The worker whose thread this is, or NULL. */
weft__worker *weft__worker_current(void);
/* This thread goes on as the worker's, whose own is gone: first deals with the work that was
 * interrupted, then does what is in the queue. */
void weft__worker_take_over(weft__worker *worker);
/* Ends the worker's activity unless its queue has work; true if it has ended. */
bool weft__worker_leave(weft__worker *worker);
void weft__worker_wake(weft__worker *worker);
/* While the gate is closed no worker starts a piece of work. */
void weft__worker_gate(bool closed);

/* Around fork. Every worker stops between two pieces of work, its queue as it is, and goes on in
 * both processes, in the child on a copy of the queue and, where there was something left, on a new
 * thread. A worker inside a function of the user's is not waited for, since it may never end: in
 * the child that piece of work has failed, unless its thread is the one that forks, which then goes
 * on there. Neither is one that waits for other streams: in the child it waits again. The core
 * holds the streams' mutexes from before pause until after resume, and has repaired timelines and
 * mutexes before after_fork. */
void weft__workers_pause(void);
void weft__workers_resume(void);
void weft__workers_after_fork(void);
/* Finishes all queues and ends all threads; other threads cannot queue any more. A thread that
 * calls it from inside a stream's work does not return there: that work has failed, and the rest of
 * its queue is done here. */
void weft__workers_finish(void);

#endif
