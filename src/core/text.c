/* Text that grows as it is written. */
#include "core/text.h"
#include "core/allocate.h"
#include <stdarg.h>
#include <stdio.h>

static bool reserve(weft__text *text, size_t more)
{
    size_t room = text->room ? text->room : 1024;
    while (room - text->length <= more)
        room *= 2;
    if (room == text->room)
        return true;
    char *grown = weft__reallocate(text->data, room);
    if (!grown)
        return false;
    text->data = grown;
    text->room = room;
    return true;
}

void weft__text_add(weft__text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    text->failed |= length < 0;
    if (!text->failed && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, text->room - text->length, format, again);
        text->length += (size_t)length;
    } else
        text->failed = true;
    va_end(again);
    va_end(arguments);
}

weft_status weft__text_take(weft__text *text, char **taken)
{
    weft__text_add(text, "%s", "");
    if (text->failed) {
        weft__text_free(text);
        return WEFT_ERROR_MEMORY;
    }
    *taken = text->data;
    *text = (weft__text){0};
    return WEFT_OK;
}

void weft__text_free(weft__text *text)
{
    weft__free(text->data);
    *text = (weft__text){0};
}
