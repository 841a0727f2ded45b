/* Writing calls out: what the two files that do it share. */
#ifndef WEFT_FUNCTION_EXPAND_TEXT_H
#define WEFT_FUNCTION_EXPAND_TEXT_H

#include "function/expand.h"

enum { WEFT__EXPAND_NAME = 80, WEFT__EXPAND_ARGUMENTS = 32 };

/* A call that was written out: its text stands for the name. */
typedef struct weft__expand_call {
    uint32_t at, end;
    char name[WEFT__EXPAND_NAME];
} weft__expand_call;

/* A function whose text is being written. */
typedef struct weft__expand_frame {
    const struct weft__expand_frame *caller; /* NULL: the function itself */
    const weft_function *key;
    weft__lang_name name, parameters, code;
    bool serial;
    int32_t source;
    int number; /* at the end of its names; 0: they stay */
    char arguments[WEFT__EXPAND_ARGUMENTS][WEFT__EXPAND_NAME]; /* what parameters are called */
    bool lent[WEFT__EXPAND_ARGUMENTS];                         /* they are given back */
    char result[WEFT__EXPAND_NAME], left[WEFT__EXPAND_NAME];
    bool value;   /* what it returns is asked for */
    bool returns; /* a value */
    bool flagged; /* `left` says whether it has returned */
    int loops, depth;
    weft__expand_call *calls;
    uint32_t calls_count, calls_room;
} weft__expand_frame;

typedef struct weft__expander {
    weft__function *f;
    char *text;
    size_t length, room;
    uint32_t origins_room, sources_room;
    int number, frames;
    bool dry; /* nothing is written */
} weft__expander;

#define EXPAND_FAIL(x, frame, column, status, ...)                                                 \
    (weft__lang_fail((frame)->code, (column), (status), __VA_ARGS__),                              \
     weft__expand_failed((x), (frame), (column), (status)))

/* expand.c */
/* Names the function that the text of the last error is of. */
weft_status weft__expand_failed(const weft__expander *x, const weft__expand_frame *frame,
                                uint32_t column, weft_status status);
weft_status weft__expand_put(weft__expander *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes the tokens there, with the names of the frame and of calls that were written out. */
weft_status weft__expand_copy(weft__expander *x, weft__expand_frame *frame, uint32_t begin,
                              uint32_t end);
/* Whether there is a call to be written out. */
bool weft__expand_has_calls(const weft__expander *x, const weft__expand_frame *frame,
                            uint32_t begin, uint32_t end);
/* Writes the calls out, in the order of the text. *whole: they are one, and nothing else. */
weft_status weft__expand_calls(weft__expander *x, weft__expand_frame *frame, uint32_t begin,
                               uint32_t end, bool *whole);

/* walk.c: writes the statements of the frame. */
weft_status weft__expand_body(weft__expander *x, weft__expand_frame *frame);

#endif
