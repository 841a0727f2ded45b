/* Failing: the macros and functions that fill the thread's error record. */
#ifndef WEFT_CORE_STATUS_H
#define WEFT_CORE_STATUS_H

#include <weft/status.h>

/* Small thread-local variables of warm paths: no call to find them. */
#define WEFT__THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* Names the public function that is running, for error records; first line of every public function
 * that can fail. Internal code calls internal functions, so the name stays the user's. */
extern WEFT__THREAD_LOCAL const char *weft__operation_name;
static inline void weft__operation_begin(const char *name) { weft__operation_name = name; }
static inline const char *weft__operation(void) { return weft__operation_name; }
#define OPERATION(name) weft__operation_begin(name)

/* Records a failure and returns the code. `operand` may be NULL. */
weft_status weft__fail(weft_status code, const char *operand, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* A NULL array came in: keeps the record of the failure that made it, or records a new one. */
weft_status weft__fail_null(const char *operand) __attribute__((cold));
/* Whether the last failure has kept the record of the one before it. */
bool weft__fail_is_kept(void);
/* Fails if the place that a result goes to is NULL. */
weft_status weft__check_result(const void *place, const char *operand);
/* Replaces the thread's record, as when a failure of a worker reaches the caller. */
void weft__error_restore(const weft_error *error);

/* Copies an options struct into a newer or older one: what the caller does not know stays as it is.
 * A caller that left struct_size out knows all fields. */
void weft__options_copy(void *to, size_t room, const void *from);

#define FAIL(code, ...) weft__fail((code), NULL, __VA_ARGS__)
#define FAIL_AT(code, operand, ...) weft__fail((code), (operand), __VA_ARGS__)
#define FAIL_NULL(code, ...) (weft__fail((code), NULL, __VA_ARGS__), NULL)
#define FAIL_AT_NULL(code, operand, ...) (weft__fail((code), (operand), __VA_ARGS__), NULL)

#define TRY(call)                                                                                  \
    do {                                                                                           \
        weft_status weft__status = (call);                                                         \
        if (weft__status != WEFT_OK)                                                               \
            return weft__status;                                                                   \
    } while (0)
#define TRY_NULL(call)                                                                             \
    do {                                                                                           \
        if ((call) != WEFT_OK)                                                                     \
            return NULL;                                                                           \
    } while (0)

#endif
