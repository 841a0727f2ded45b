/* Copies of rows that lie apart: see the header. */
#include "backend/rows.h"
#include <string.h>

static size_t least(size_t x, size_t y) { return x < y ? x : y; }

weft__span weft__rows_span(const weft__rows *rows, size_t at, size_t end)
{
    if (rows->width == 0)
        return (weft__span){at, end - at, 1, at, at};
    const size_t number = at / rows->width, column = at % rows->width;
    const size_t slice = number / rows->rows, row = number % rows->rows;
    weft__span span = {.at = at,
                       .width = least(rows->width - column, end - at),
                       .rows = 1,
                       .dst = slice * rows->dst.slice + row * rows->dst.row + column,
                       .src = slice * rows->src.slice + row * rows->src.row + column};
    if (span.width == rows->width)
        span.rows = least((end - at) / rows->width, rows->rows - row);
    return span;
}

void weft__rows_gather(const weft__rows *rows, char *packed, const char *src, size_t begin,
                       size_t end)
{
    for (size_t at = begin; at < end;) {
        const weft__span span = weft__rows_span(rows, at, end);
        for (size_t k = 0; k < span.rows; k++, at += span.width)
            memcpy(packed + (at - begin), src + span.src + k * rows->src.row, span.width);
    }
}

void weft__rows_scatter(const weft__rows *rows, char *dst, const char *packed, size_t begin,
                        size_t end)
{
    for (size_t at = begin; at < end;) {
        const weft__span span = weft__rows_span(rows, at, end);
        for (size_t k = 0; k < span.rows; k++, at += span.width)
            memcpy(dst + span.dst + k * rows->dst.row, packed + (at - begin), span.width);
    }
}
