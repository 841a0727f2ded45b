/* Arrays as text, as NumPy prints them: what is shown, brackets, lines. */
#include "ops/format.h"
#include "core/allocate.h"
#include "core/view.h"
#include "ops/copy.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_WIDTH = 75, THRESHOLD = 1000, EDGE = 3 };

/* Where the text goes. Spaces wait until something follows them, since none end a broken line. */
typedef struct sink {
    FILE *file; /* or NULL: to text */
    char *text;
    size_t room;
    size_t length; /* without a bound */
    int spaces;
    int error; /* an errno */
} sink;

static void put_now(sink *s, char c)
{
    if (s->file && !s->error && putc_unlocked(c, s->file) == EOF)
        s->error = errno ? errno : EIO;
    if (s->length + 1 < s->room)
        s->text[s->length] = c;
    s->length++;
}

static void put_char(sink *s, char c)
{
    if (c == ' ') {
        s->spaces++;
        return;
    }
    for (; s->spaces > 0; s->spaces--)
        put_now(s, ' ');
    put_now(s, c);
}

static void put_text(sink *s, const char *text, int length)
{
    for (int k = 0; k < length; k++)
        put_char(s, text[k]);
}

/* Ends the line and indents the next one. */
static void put_lines(sink *s, int count, int indent)
{
    s->spaces = 0;
    for (int k = 0; k < count; k++)
        put_now(s, '\n');
    s->spaces = indent;
}

/* The elements that are shown, on the host and in order. */
typedef struct shown {
    weft_shape shape; /* of the array */
    bool summarised;  /* axes longer than two edges show only these */
    int64_t count;    /* of elements shown */
    char *data;       /* owned */
    size_t item;      /* bytes of an element */
    weft__column column;
} shown;

static bool is_cut(const shown *s, int axis)
{
    return s->summarised && s->shape.size[axis] > 2 * EDGE;
}

static int64_t shown_size(const shown *s, int axis)
{
    return is_cut(s, axis) ? 2 * EDGE : s->shape.size[axis];
}

/* Copies what is shown of the axes from `axis` on in one piece. An axis that is cut becomes two:
 * which edge, and where in it. */
static weft_status fetch_block(const shown *s, const weft_array *array, int axis, int64_t offset,
                               char **to)
{
    weft_shape shape = {0, {0}};
    int64_t strides[WEFT_NDIM_MAX] = {0};
    for (int k = axis; k < s->shape.ndim; k++) {
        if (is_cut(s, k)) {
            shape.size[shape.ndim] = 2;
            strides[shape.ndim++] = (s->shape.size[k] - EDGE) * array->stride[k];
        }
        shape.size[shape.ndim] = is_cut(s, k) ? EDGE : s->shape.size[k];
        strides[shape.ndim++] = array->stride[k];
    }
    weft_array *view = weft__view_of(array, offset, &shape, strides);
    if (!view)
        return weft_error_code();
    size_t bytes = weft_array_bytes(view);
    weft_status status = weft__copy_to_host(view, *to, bytes);
    weft_array_release(view);
    *to += bytes;
    return status;
}

/* Goes through axes one index at a time only while the rest, with its cut axes, has too many. */
static weft_status fetch(const shown *s, const weft_array *array, int axis, int64_t offset,
                         char **to)
{
    int axes = 0;
    for (int k = axis; k < s->shape.ndim; k++)
        axes += is_cut(s, k) ? 2 : 1;
    if (axes <= WEFT_NDIM_MAX)
        return fetch_block(s, array, axis, offset, to);
    int64_t size = s->shape.size[axis], count = shown_size(s, axis);
    for (int64_t k = 0; k < count; k++) {
        int64_t index = k < EDGE ? k : k + size - count;
        TRY(fetch(s, array, axis + 1, offset + index * array->stride[axis], to));
    }
    return WEFT_OK;
}

static weft_status gather(shown *s, const weft_array *array)
{
    weft_dtype dtype = (weft_dtype)array->dtype;
    s->shape = array->shape;
    s->summarised = weft__array_count(array) > THRESHOLD;
    s->item = weft_dtype_size(dtype);
    s->count = 0;
    if (weft__array_count(array) == 0)
        return WEFT_OK;
    s->count = 1;
    for (int k = 0; k < s->shape.ndim; k++)
        s->count *= shown_size(s, k);
    size_t bytes = (size_t)s->count * s->item;
    s->data = weft__allocate(bytes);
    if (!s->data)
        return weft_error_code();
    char *to = s->data;
    TRY(fetch(s, array, 0, 0, &to));
    weft__column_measure(&s->column, dtype, s->shape.ndim == 0, s->data, s->count);
    return WEFT_OK;
}

static int element_text(const shown *s, const char **next, char *text)
{
    int length = weft__column_text(&s->column, *next, text);
    *next += s->item;
    return length;
}

/* Adds a word to a row, on a new line if it does not fit; returns the column after it. */
static int put_word(sink *to, const char *word, int length, int column, int indent)
{
    if (column > indent) {
        put_char(to, ' ');
        column++;
    }
    if (column + length > LINE_WIDTH - indent && column > indent) {
        put_lines(to, 1, indent);
        column = indent;
    }
    put_text(to, word, length);
    return column + length;
}

static void put_row(const shown *s, int axis, const char **next, sink *to)
{
    char text[WEFT__ELEMENT_TEXT];
    int indent = axis + 1, column = indent;
    int64_t count = shown_size(s, axis);
    for (int64_t k = 0; k < count; k++) {
        if (k == EDGE && is_cut(s, axis))
            column = put_word(to, "...", 3, column, indent);
        int length = element_text(s, next, text);
        column = put_word(to, text, length, column, indent);
    }
}

static void put_axis(const shown *s, int axis, const char **next, sink *to)
{
    int left = s->shape.ndim - axis - 1; /* axes below this one, and so lines between its blocks */
    int64_t count = shown_size(s, axis);
    put_char(to, '[');
    if (left == 0)
        put_row(s, axis, next, to);
    for (int64_t k = 0; left > 0 && k < count; k++) {
        if (k > 0)
            put_lines(to, left, axis + 1);
        if (k == EDGE && is_cut(s, axis)) {
            put_text(to, "...", 3);
            put_lines(to, left, axis + 1);
        }
        put_axis(s, axis + 1, next, to);
    }
    put_char(to, ']');
}

static void put_array(const shown *s, sink *to)
{
    const char *next = s->data;
    char text[WEFT__ELEMENT_TEXT];
    if (s->count == 0)
        put_text(to, "[]", 2);
    else if (s->shape.ndim == 0)
        put_text(to, text, element_text(s, &next, text));
    else
        put_axis(s, 0, &next, to);
}

weft_status weft_format(weft_array *array, char *text, size_t room, size_t *length)
{
    shown s = {.data = NULL};
    sink to = {.text = text, .room = room};
    OPERATION("weft_format");
    if (room > 0 && !text)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "text",
                       "text is NULL, but its room is %zu bytes; give 0 to get only the length",
                       room);
    if (room > 0)
        text[0] = 0;
    if (length)
        *length = 0;
    TRY(weft__array_check(array, "array"));
    weft_status status = gather(&s, array);
    if (status == WEFT_OK) {
        put_array(&s, &to);
        if (room > 0)
            text[to.length < room ? to.length : room - 1] = 0;
        if (length)
            *length = to.length;
    }
    weft__free(s.data);
    return status;
}

weft_status weft_print(weft_array *array)
{
    shown s = {.data = NULL};
    sink to = {.file = stdout};
    OPERATION("weft_print");
    TRY(weft__array_check(array, "array"));
    weft_status status = gather(&s, array);
    if (status == WEFT_OK) {
        flockfile(stdout);
        put_array(&s, &to);
        put_char(&to, '\n');
        funlockfile(stdout);
    }
    weft__free(s.data);
    if (to.error)
        return FAIL(WEFT_ERROR_SYSTEM, "the standard output cannot be written: %s",
                    strerror(to.error));
    return status;
}
