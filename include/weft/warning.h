/* Warnings: a function of the user's that is told of what is right but slow. */
#ifndef WEFT_WARNING_H
#define WEFT_WARNING_H

#include <weft/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can be slow. */
typedef enum weft_warning {
    WEFT_WARNING_MIXED_MEMORY,  /* operands of several kinds: shared memory migrates to a device,
                                   host memory is read over its bus */
    WEFT_WARNING_PAGEABLE_COPY, /* at least 64 KiB between a device and memory that is not pinned */
    WEFT_WARNING_HOST_READS     /* this thread reads from a device a few bytes at a time, again and
                                   again: told at every 16th read of up to 64 bytes */
} weft_warning;

/* Called in the thread whose call is slow, before its work; the text is gone after that. It must
 * return, and may call Weft. */
typedef void weft_warning_function(void *context, weft_warning warning, const char *message);

/* Has the function told, for the whole process; NULL, as at first, turns that off. Set it before
 * other threads use the library. While it is on, calls are slower. */
WEFT_API void weft_warnings_set(weft_warning_function *function, void *context);
/* "mixed memory", "pageable copy", "host reads". */
WEFT_API const char *weft_warning_name(weft_warning warning);

#ifdef __cplusplus
}
#endif
#endif
