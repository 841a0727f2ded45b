/* Status codes and the thread's error record. */
#ifndef WEFT_STATUS_H
#define WEFT_STATUS_H

#include <weft/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every status: its name, and what it means in a few words. */
#define WEFT_STATUS_LIST(X)                                                                        \
    X(OK, "no error")                                                                              \
    X(ERROR_ARGUMENT, "an argument is missing or out of its range")                                \
    X(ERROR_SHAPE, "a shape, axis or index does not fit")                                          \
    X(ERROR_DTYPE, "a dtype does not fit")                                                         \
    X(ERROR_DEVICE, "a device does not exist or cannot be used")                                   \
    X(ERROR_PLACEMENT, "operands live in places that do not go together")                          \
    X(ERROR_MEMORY, "memory ran out")                                                              \
    X(ERROR_STREAM, "work queued earlier on the stream failed")                                    \
    X(ERROR_RESULT, "the array was never computed, because the work that makes it failed")         \
    X(ERROR_WAIT, "the call would wait, and waits are forbidden here")                             \
    X(ERROR_UNSUPPORTED, "this device or build cannot do that")                                    \
    X(ERROR_SYNTAX, "the text is not a program")                                                   \
    X(ERROR_COMPILE, "a kernel could not be compiled")                                             \
    X(ERROR_CALLBACK, "a function given by the user failed")                                       \
    X(ERROR_SYSTEM, "the operating system refused")

/* What a call answers: WEFT_OK, or what went wrong. */
typedef enum weft_status {
#define WEFT__STATUS_ENUM(name, text) WEFT_##name,
    WEFT_STATUS_LIST(WEFT__STATUS_ENUM)
#undef WEFT__STATUS_ENUM
} weft_status;

/* What went wrong last in this thread. The record has a fixed size: failing allocates nothing. */
typedef struct weft_error {
    weft_status code;   /* as the call returned it */
    char operation[48]; /* the public function that failed, as "weft_reshape" */
    char operand[32];   /* the operand at fault, as "shape", or "" */
    char message[640];  /* what was given, what was expected, what to do */
} weft_error;

/* The record of this thread. A failing call overwrites it; a call that succeeds leaves it; reading
 * it does not clear it. A NULL array handed to a call keeps the record of the failure that made the
 * NULL, so a chain of calls is checked once, at its end. */
WEFT_API const weft_error *weft_error_last(void);
/* Its code, and its message, which is "" if nothing went wrong. */
WEFT_API weft_status weft_error_code(void);
WEFT_API const char *weft_error_message(void);
/* Empties it. */
WEFT_API void weft_error_clear(void);

/* "WEFT_ERROR_SHAPE", and its meaning in a few words. */
WEFT_API const char *weft_status_name(weft_status status);
WEFT_API const char *weft_status_text(weft_status status);

#ifdef __cplusplus
}
#endif
#endif
