/* Text that grows as it is written. */
#ifndef WEFT_CORE_TEXT_H
#define WEFT_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/status.h>

/* Begins as {0}. If memory runs out the rest is dropped, and weft__text_take says so. */
typedef struct weft__text {
    char *data;
    size_t length, room;
    bool failed;
} weft__text;

void weft__text_add(weft__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands the text over, to be freed with weft__free; it ends with a NUL. */
weft_status weft__text_take(weft__text *text, char **taken);
void weft__text_free(weft__text *text);

#endif
