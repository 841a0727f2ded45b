/* Warnings: telling the user's function, if there is one. */
#ifndef WEFT_CORE_WARNING_H
#define WEFT_CORE_WARNING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <weft/warning.h>

extern _Atomic(weft_warning_function *) weft__warning_told;

/* Whether there is somebody to tell; a load on warm paths. */
static inline bool weft__warnings_are_on(void)
{
    return atomic_load_explicit(&weft__warning_told, memory_order_relaxed) != NULL;
}

/* Tells; the thread's error record and operation stay as they are. */
void weft__warn(weft_warning warning, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

#endif
