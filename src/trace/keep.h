/* What was recorded: buffers, rows and texts, for who writes them. */
#ifndef WEFT_TRACE_KEEP_H
#define WEFT_TRACE_KEEP_H

#include "trace/trace.h"
#include <stdio.h>

enum { WEFT__TRACE_ROWS = 1024, WEFT__TRACE_BUFFER = 1024, WEFT__TRACE_DEVICES = 32 };

/* Events of one thread after another; only the owner adds, and everybody may read those that
 * `count` has reached. */
typedef struct weft__trace_buffer {
    struct weft__trace_buffer *next;
    _Atomic bool owned;
    _Atomic uint32_t count;
    weft__trace_event events[WEFT__TRACE_BUFFER];
} weft__trace_buffer;

extern _Atomic(weft__trace_buffer *) weft__trace_buffers;
/* Events that had no room. */
extern _Atomic uint64_t weft__trace_lost;
/* Nanoseconds to be added to a device's own clock; `known` if there was something to tell by. */
int64_t weft__trace_offset(weft_device device, bool *known);

/* A row: of a stream, or of a thread, which has no device. */
typedef struct weft__trace_row {
    weft_device device;
    char name[56];
} weft__trace_row;
extern weft__trace_row weft__trace_rows[WEFT__TRACE_ROWS];
uint32_t weft__trace_rows_count(void); /* the first is no row */

/* Gives the buffers back, unless other threads may still use them; and begins anew, in the child of
 * a fork. */
void weft__trace_buffers_close(bool alone);
void weft__trace_buffers_forget(void);

/* How many events are kept, at most: WEFT_TRACE_EVENTS. */
extern uint64_t weft__trace_most;
/* The text with that number, ended by a NUL; "" for 0. */
const char *weft__trace_text_of(uint32_t text);
bool weft__trace_texts_open(void);
void weft__trace_texts_close(void);

/* What is written: events by row and time, in nanoseconds since `origin`. */
typedef struct weft__trace_list {
    const weft__trace_event *events;
    size_t count;
    uint64_t origin;
    uint64_t shortest; /* events that took less are left out … */
    uint64_t left_out; /* … so many */
} weft__trace_list;
/* As JSON, in the trace-event format. What goes wrong, the file says (ferror). */
void weft__trace_write_json(const weft__trace_list *list, FILE *file);
/* As one page, with that JSON in it. */
void weft__trace_write_page(const weft__trace_list *list, FILE *file);

#endif
