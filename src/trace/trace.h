/* The timeline of WEFT_TRACE: what every layer records, and where it goes. */
#ifndef WEFT_TRACE_TRACE_H
#define WEFT_TRACE_TRACE_H

#include "core/status.h"
#include <stdatomic.h>
#include <stddef.h>
#include <weft/device.h>

/* Whether there is a timeline; a load on warm paths. */
extern _Atomic bool weft__trace_on;
static inline bool weft__tracing(void)
{
    return __builtin_expect(atomic_load_explicit(&weft__trace_on, memory_order_relaxed), false);
}

typedef enum weft__trace_kind {
    WEFT__TRACE_KERNEL,
    WEFT__TRACE_COPY,
    WEFT__TRACE_CALL, /* a function of the user's */
    WEFT__TRACE_WAIT, /* of the host */
    WEFT__TRACE_ALLOCATION,
    WEFT__TRACE_COMPILE
} weft__trace_kind;

/* Something that took from `begin` to `end`, in nanoseconds of weft__trace_now or, if
 * `device_clock`, of the device's own clock, which weft__trace_align has been told of. */
typedef struct weft__trace_event {
    uint64_t begin, end;
    uint64_t bytes;  /* 0: none */
    uint32_t row;    /* of a stream; 0: the calling thread's */
    uint32_t name;   /* a text */
    uint32_t source; /* a text: the code that this comes from; 0: none */
    weft_device device;
    uint8_t kind; /* weft__trace_kind */
    bool device_clock;
} weft__trace_event;

/* Records a copy of the event: takes no lock, and waits for nobody. */
void weft__trace_add(const weft__trace_event *event);
uint64_t weft__trace_now(void);

/* The number of a text, of which a copy is kept; the same for the same text, 0 if there is no room
 * left. Long ones are cut. */
uint32_t weft__trace_text(const char *text, size_t length);
/* The code that this thread is running, which work that it submits comes from. */
extern WEFT__THREAD_LOCAL uint32_t weft__trace_source;
/* Sets it to the code, on one line, after the name of what it is the code of, which may be "";
 * returns what it was, to be set again. */
uint32_t weft__trace_begin_source(const char *name, const char *code, size_t length);
/* For what is kept beyond the call: the name of the function that is running if there is no code.
 */
uint32_t weft__trace_source_or_operation(void);
static inline void weft__trace_end_source(uint32_t before) { weft__trace_source = before; }

/* A row of its own for a stream, and what it is called. */
uint32_t weft__trace_new_row(weft_device device, uint64_t number);
const char *weft__trace_row_name(uint32_t row);
weft_device weft__trace_row_device(uint32_t row);
/* The host's clock showed `host` before the device's own showed `device_time`. */
void weft__trace_align(weft_device device, uint64_t host, uint64_t device_time);

/* Reads WEFT_TRACE, at the first use of the library. */
void weft__trace_open(void);
/* The library is being closed: what is queued is still done and recorded, but not for ever, if
 * another thread goes on queueing. */
void weft__trace_closing(void);
/* Writes the files, when all work is done; if no other thread may record any more (`alone`), the
 * memory is given back. */
void weft__trace_close(bool alone);
/* In the child of a fork: a timeline of its own begins. */
void weft__trace_after_fork(void);

#endif
