/* The thread's error record, and the names of the statuses. */
#include "core/status.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <weft/stream.h>

static _Thread_local weft_error record;
static _Thread_local bool kept; /* the record was not this failure's own */
WEFT__THREAD_LOCAL const char *weft__operation_name = "weft";

static void copy_text(char *to, size_t room, const char *from)
{
    size_t length = from ? strlen(from) : 0;
    if (length >= room)
        length = room - 1;
    memmove(to, from ? from : "", length);
    to[length] = 0;
}

weft_status weft__fail(weft_status code, const char *operand, const char *format, ...)
{
    char message[sizeof record.message]; /* an argument may be the old message */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    kept = false;
    record.code = code;
    copy_text(record.operation, sizeof record.operation, weft__operation());
    copy_text(record.operand, sizeof record.operand, operand);
    snprintf(record.message, sizeof record.message, "%.47s: %.580s", weft__operation(), message);
    return code;
}

bool weft__fail_is_kept(void) { return kept; }

weft_status weft__fail_null(const char *operand)
{
    if (record.code != WEFT_OK) {
        kept = true;
        return record.code;
    }
    return weft__fail(WEFT_ERROR_ARGUMENT, operand,
                      "%s is NULL; give one that exists (where a call returned NULL, "
                      "weft_error_message says why)",
                      operand);
}

weft_status weft__check_result(const void *place, const char *operand)
{
    if (place)
        return WEFT_OK;
    return weft__fail(WEFT_ERROR_ARGUMENT, operand,
                      "%s is NULL; a place for the result was expected", operand);
}

void weft__error_restore(const weft_error *error)
{
    kept = false;
    record = *error;
}

weft_status weft_error_set(weft_status code, const char *message)
{
    if (code <= WEFT_OK || code > WEFT_ERROR_SYSTEM)
        code = WEFT_ERROR_CALLBACK;
    kept = false;
    record.code = code;
    copy_text(record.operation, sizeof record.operation, weft__operation());
    record.operand[0] = 0;
    copy_text(record.message, sizeof record.message, message);
    return code;
}

const weft_error *weft_error_last(void) { return &record; }

weft_status weft_error_code(void) { return record.code; }

const char *weft_error_message(void) { return record.message; }

void weft_error_clear(void)
{
    kept = false;
    memset(&record, 0, sizeof record);
}

static const char *const names[] = {
#define STATUS_NAME(name, text) "WEFT_" #name,
    WEFT_STATUS_LIST(STATUS_NAME)};
static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
    WEFT_STATUS_LIST(STATUS_TEXT)};

static bool is_status(weft_status status)
{
    return (unsigned)status < sizeof names / sizeof names[0];
}

const char *weft_status_name(weft_status status)
{
    return is_status(status) ? names[status] : "unknown status";
}

const char *weft_status_text(weft_status status)
{
    return is_status(status) ? texts[status] : "unknown status";
}

const char *weft_version(void)
{
    return WEFT__TEXT(WEFT_VERSION_MAJOR) "." WEFT__TEXT(WEFT_VERSION_MINOR) "." WEFT__TEXT(
        WEFT_VERSION_PATCH);
}

void weft__options_copy(void *to, size_t room, const void *from)
{
    size_t size;
    if (!from)
        return;
    memcpy(&size, from, sizeof size);
    if (size == 0 || size > room)
        size = room;
    memcpy(to, from, size);
}
