/* Messages about a text: the line is cut around the column, and what is no text is written as \xNN.
 */
#include "lang/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    BEFORE = 44, /* columns of the line that are shown before the one at fault */
    COLUMNS = 72,
    LINE_BYTES = 160,
    MESSAGE_BYTES = 330
};

/* Text that is being written, into a fixed room. */
typedef struct writer {
    char *text;
    size_t length, room;
    int columns;
} writer;

size_t weft__lang_character(const char *text, size_t length)
{
    const unsigned char *c = (const unsigned char *)text;
    uint32_t code;
    size_t size = length == 0 ? 0 : c[0] < 0x80 ? 1 : c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (size == 0 || size > length || (c[0] >= 0x80 && c[0] < 0xc2) || c[0] > 0xf4)
        return 0;
    if (size == 1)
        return c[0] >= 0x20 && c[0] != 0x7f;
    code = c[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) || code > 0x10ffff)
        return 0;
    return code < 0xa0 || (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

/* Writes one character and returns how many bytes of the text it took; 0 if there is no room. */
static size_t write_character(writer *w, const char *text, size_t length)
{
    char escaped[8];
    size_t taken = weft__lang_character(text, length), size = taken;
    if (!taken) {
        bool blank = *text == '\t' || *text == '\r';
        size = (size_t)snprintf(escaped, sizeof escaped, blank ? " " : "\\x%02x",
                                (unsigned)(unsigned char)*text);
        text = escaped;
        taken = 1;
    }
    if (w->length + size + sizeof "…" > w->room)
        return 0;
    memcpy(w->text + w->length, text, size);
    w->length += size;
    w->columns += text == escaped ? (int)size : 1;
    w->text[w->length] = 0;
    return taken;
}

/* There is always room for one. */
static void write_dots(writer *w)
{
    memcpy(w->text + w->length, "…", sizeof "…");
    w->length += sizeof "…" - 1;
    w->columns++;
}

weft__lang_quoted weft__lang_quote(const char *text, size_t length)
{
    weft__lang_quoted quoted = {""};
    writer w = {quoted.text, 0, sizeof quoted.text, 0};
    size_t at = 0, taken;
    while (at < length && w.columns < 40) {
        taken = write_character(&w, text + at, length - at);
        if (!taken)
            break;
        at += taken;
    }
    if (at < length)
        write_dots(&w);
    return quoted;
}

/* Where to begin, so that the column is shown. */
static size_t first_shown(const char *text, size_t line, size_t column)
{
    size_t at = column;
    int columns = 0;
    while (at > line && columns < BEFORE) {
        at--;
        while (at > line && column - at < 4 && ((unsigned char)text[at] & 0xc0) == 0x80)
            at--;
        columns += weft__lang_character(text + at, column - at) ? 1 : 4;
    }
    while (at > line && at < column && ((unsigned char)text[at] & 0xc0) == 0x80)
        at++;
    return at;
}

/* Writes the line around the column; returns the column that the caret goes under. */
static int write_line(writer *w, weft__lang_name code, size_t column)
{
    const char *text = code.text;
    size_t line = column, end = column, taken;
    int caret = 0;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    while (end < code.length && text[end] != '\n')
        end++;
    size_t at = first_shown(text, line, column);
    if (at > line)
        write_dots(w);
    for (caret = w->columns; at < end && w->columns < COLUMNS; at += taken) {
        taken = write_character(w, text + at, end - at);
        if (!taken)
            break;
        if (at + taken <= column)
            caret = w->columns;
    }
    if (at < end)
        write_dots(w);
    return caret;
}

/* A place at the end is behind the last thing that is written there: text that is made at run time
 * often ends a line. */
static size_t place_of(weft__lang_name code, size_t column)
{
    if (column < code.length)
        return column;
    for (column = code.length; column > 0 && strchr(" \t\r\n", code.text[column - 1]);)
        column--;
    return column;
}

/* Where the last error of this thread was. */
static WEFT__THREAD_LOCAL struct {
    const char *text;
    size_t column;
} failed;

bool weft__lang_failed_at(weft__lang_name code, size_t *column)
{
    *column = failed.column;
    return failed.text && failed.text == code.text && failed.column != WEFT__NO_COLUMN;
}

weft_status weft__lang_fail(weft__lang_name code, size_t column, weft_status status,
                            const char *format, ...)
{
    char message[MESSAGE_BYTES], line[LINE_BYTES + 8] = "";
    writer w = {line, 0, LINE_BYTES, 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    bool caret = column != WEFT__NO_COLUMN;
    failed.text = code.text;
    failed.column = column;
    int before = write_line(&w, code, caret ? place_of(code, column) : 0);
    if (!line[0])
        return weft__fail(status, NULL, "%s", message);
    if (!caret)
        return weft__fail(status, NULL, "%s\n    %s", message, line);
    return weft__fail(status, NULL, "%s\n    %s\n    %*s^", message, line, before, "");
}

static bool is_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Where the name stands by itself, or WEFT__NO_COLUMN. */
static size_t column_of(weft__lang_name code, const char *name)
{
    const size_t length = strlen(name);
    for (size_t at = 0; at + length <= code.length; at++) {
        const char *from = code.text + at, *to = from + length;
        if (memcmp(from, name, length) == 0 && (at == 0 || !is_of_name(from[-1])) &&
            (at + length == code.length || !is_of_name(*to)))
            return at;
    }
    return WEFT__NO_COLUMN;
}

static bool is_operand(const char *text, weft__lang_name name)
{
    for (; name.length && strchr(" \t\n", *name.text); name.length--)
        name.text++;
    return name.length && strlen(text) == name.length && memcmp(text, name.text, name.length) == 0;
}

void weft__lang_show_operand(weft__lang_name code, const weft__lang_name *names, int count)
{
    char line[LINE_BYTES + 8] = "";
    writer w = {line, 0, LINE_BYTES, 0};
    weft_error error = *weft_error_last();
    int i = 0;
    while (i < count && !is_operand(error.operand, names[i]))
        i++;
    const size_t column = i < count ? column_of(code, error.operand) : WEFT__NO_COLUMN;
    if (column == WEFT__NO_COLUMN || strchr(error.message, '\n'))
        return;
    const int before = write_line(&w, code, column);
    const size_t length = strlen(error.message);
    snprintf(error.message + length, sizeof error.message - length, "\n    %s\n    %*s^", line,
             before, "");
    weft__error_restore(&error);
}
