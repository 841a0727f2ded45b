/* Messages about a text: what is wrong, the line, and a caret under the column. */
#ifndef WEFT_LANG_ERROR_H
#define WEFT_LANG_ERROR_H

#include "core/status.h"
#include "lang/lang.h"

/* As a column: the message is about the whole text, and there is no caret. */
#define WEFT__NO_COLUMN SIZE_MAX

/* Fills the error record and returns the code. A line that is too long is cut around the column. */
weft_status weft__lang_fail(weft__lang_name code, size_t column, weft_status status,
                            const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Adds the line where an operand stands first, and a caret, to the last error if that is about the
 * operand: what is wrong with it was only seen when the program was to run. */
void weft__lang_show_operand(weft__lang_name code, const weft__lang_name *names, int count);

/* Whether this thread's last error of this kind was about the text, at a column. */
bool weft__lang_failed_at(weft__lang_name code, size_t *column);

/* A name for a message: cut to a bearable length, with bytes that are no characters as \xNN. */
typedef struct weft__lang_quoted {
    char text[72];
} weft__lang_quoted;
weft__lang_quoted weft__lang_quote(const char *text, size_t length);
#define QUOTE(bytes, count) (weft__lang_quote((bytes), (count)).text)

/* The length of the character of UTF-8 at the start of a text; 0 if there is none, or one that does
 * not belong in a line (a control character). */
size_t weft__lang_character(const char *text, size_t length);

/* The name that comes nearest to another one. Begin with {name, {NULL, 0}, 0} and offer candidates.
 */
typedef struct weft__lang_nearest {
    weft__lang_name wanted;
    weft__lang_name best; /* without text: nothing was near enough */
    int distance;
} weft__lang_nearest;
void weft__lang_offer(weft__lang_nearest *nearest, const char *text, size_t length);

/* "; did you mean 'sin'?", or nothing. */
typedef struct weft__lang_hint {
    char text[104];
} weft__lang_hint;
weft__lang_hint weft__lang_hint_of(const weft__lang_nearest *nearest);

/* What a name that is none here is in NumPy or in C's headers, and how that is written; or NULL. */
const char *weft__lang_habit(weft__lang_name name);

#endif
