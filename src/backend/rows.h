/* Copies of rows that lie apart: where each byte goes. */
#ifndef WEFT_BACKEND_ROWS_H
#define WEFT_BACKEND_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* One end of a copy: bytes from one row, and from one slice of rows, to the next. That of a slice
 * is a multiple of that of a row, and as long as its rows. */
typedef struct weft__pitch {
    size_t row, slice;
} weft__pitch;

/* `width` is 0 if the bytes are in one piece at both ends. */
typedef struct weft__rows {
    size_t width, rows, slices; /* bytes of a row, rows of a slice */
    weft__pitch dst, src;
} weft__rows;

/* Rows of one slice that follow each other, or a part of one. */
typedef struct weft__span {
    size_t at, width, rows; /* which byte of all is the first; what there is of each row */
    size_t dst, src;        /* where that byte is, from the beginning of each end */
} weft__span;

/* The first span of [at, end). */
weft__span weft__rows_span(const weft__rows *rows, size_t at, size_t end);

/* Between memory of the host and `packed`, where the bytes [begin, end) are without gaps. */
void weft__rows_gather(const weft__rows *rows, char *packed, const char *src, size_t begin,
                       size_t end);
void weft__rows_scatter(const weft__rows *rows, char *dst, const char *packed, size_t begin,
                        size_t end);

#endif
