/* Warnings of what is right but slow. */
#include "core/warning.h"
#include "core/status.h"
#include "core/window.h"
#include <stdarg.h>
#include <stdio.h>

_Atomic(weft_warning_function *) weft__warning_told;
static _Atomic(void *) told_context;

void weft_warnings_set(weft_warning_function *function, void *context)
{
    atomic_store(&told_context, context);
    atomic_store(&weft__warning_told, function);
    weft__generation_move();
}

const char *weft_warning_name(weft_warning warning)
{
    static const char *const names[] = {"mixed memory", "pageable copy", "host reads"};
    return (unsigned)warning <= WEFT_WARNING_HOST_READS ? names[warning] : "unknown";
}

/* A function that warns of its own calls would never end. */
void weft__warn(weft_warning warning, const char *format, ...)
{
    static WEFT__THREAD_LOCAL bool telling;
    weft_warning_function *function = atomic_load(&weft__warning_told);
    char text[512];
    va_list arguments;
    if (!function || telling)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const weft_error error = *weft_error_last();
    const char *operation = weft__operation();
    telling = true;
    function(atomic_load(&told_context), warning, text);
    telling = false;
    weft__operation_begin(operation);
    weft__error_restore(&error);
}
