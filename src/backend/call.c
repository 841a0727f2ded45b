/* Calling functions of the user's. */
#include "backend/call.h"
#include "core/status.h"

weft_status weft__call_user(const weft__work *work, int64_t begin, int64_t end)
{
    weft_error before;
    bool failed_before = weft_error_code() != WEFT_OK;
    if (failed_before) {
        before = *weft_error_last();
        weft_error_clear();
    }
    weft_status status = work->kind == WEFT__WORK_CALL
                             ? work->of.call.function(work->of.call.argument)
                             : work->of.parts.function(work->of.parts.block, begin, end);
    if ((unsigned)status > WEFT_ERROR_SYSTEM)
        status = WEFT_ERROR_CALLBACK;
    weft__operation_begin(work->operation); /* calls it made have left their own names */
    if (status == WEFT_OK && failed_before)
        weft__error_restore(&before);
    else if (status != WEFT_OK && weft_error_code() == WEFT_OK)
        FAIL(status, "the function returned %s and left no message; weft_error_set leaves one",
             weft_status_name(status));
    return status;
}
