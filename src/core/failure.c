/* Failures of queued work, shared by the stream and the arrays that were to be made. */
#include "core/failure.h"
#include "core/allocate.h"
#include <string.h>

static weft__failure no_memory = {
    .references = 1,
    .error = {.code = WEFT_ERROR_MEMORY,
              .message = "queued work failed, and there was no memory left to say how"}};

weft__failure *weft__failure_new(void)
{
    weft_error error = *weft_error_last();
    weft__failure *failure = weft__allocate(sizeof *failure);
    if (!failure)
        return weft__failure_retain(&no_memory);
    atomic_init(&failure->references, 1);
    atomic_init(&failure->reported, false);
    failure->error = error;
    return failure;
}

weft__failure *weft__failure_retain(weft__failure *failure)
{
    atomic_fetch_add(&failure->references, 1);
    return failure;
}

void weft__failure_release(weft__failure *failure)
{
    if (failure && atomic_fetch_sub(&failure->references, 1) == 1)
        weft__free(failure);
}

weft_status weft__failure_report(weft__failure *failure, weft_status code)
{
    const char *what = code == WEFT_ERROR_RESULT ? "the array was never computed, because "
                                                 : "work queued earlier on this stream failed: ";
    if (failure != &no_memory)
        atomic_store(&failure->reported, true);
    return FAIL(code, "%s%.500s", what, failure->error.message);
}
