/* Moving planes of elements: turns them so that the fastest row loop fits. */
#include "codegen/interpreter/memory.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* A cache shared by many cores is not ours alone, and past this size streaming won on all that was
 * measured; the size of the last cache is the bound where that is smaller. */
enum { STREAMING_BYTES = 32 << 20 };

static _Atomic int64_t known;

void weft__memory_set_streaming_bytes(int64_t bytes)
{
    atomic_store_explicit(&known, bytes, memory_order_relaxed);
}

int64_t weft__memory_streaming_bytes(void)
{
    int64_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = STREAMING_BYTES;
#ifdef _SC_LEVEL3_CACHE_SIZE
        const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        if (cache > 0 && cache < bytes)
            bytes = cache;
#endif
        weft__memory_set_streaming_bytes(bytes);
    }
    return bytes;
}

void weft__memory_fence(void)
{
#ifdef __x86_64__
    _mm_sfence();
#endif
}

static void move_bytes(const weft__variant *variant, char *dst, const char *src, int64_t bytes,
                       bool streaming)
{
    if (streaming)
        variant->stream(dst, src, bytes);
    else if (dst != src)
        memcpy(dst, src, (size_t)bytes);
}

static void move_rows(const weft__variant *variant, int size, weft__plane dst, weft__plane src,
                      int64_t rows, int64_t columns, bool streaming)
{
    const int64_t bytes = columns << size;
    if (dst.row == bytes && src.row == bytes) {
        move_bytes(variant, dst.data, src.data, bytes * rows, streaming);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        move_bytes(variant, dst.data + r * dst.row, src.data + r * src.row, bytes, streaming);
}

/* Fills a piece with the element and streams that again and again. */
static void stream_fill(const weft__variant *variant, int size, char *dst, const char *src,
                        int64_t columns)
{
    char piece[1024];
    const int64_t element = (int64_t)1 << size, most = (int64_t)sizeof piece,
                  bytes = columns << size;
    variant->move_row[size](piece, element, src, 0, most < bytes ? most >> size : columns);
    for (int64_t at = 0; at < bytes; at += most)
        variant->stream(dst + at, piece, bytes - at < most ? bytes - at : most);
}

static weft__plane turned(weft__plane plane)
{
    return (weft__plane){.data = plane.data, .row = plane.column, .column = plane.row};
}

static weft__plane upside_down(weft__plane plane, int64_t rows)
{
    return (weft__plane){
        .data = plane.data + (rows - 1) * plane.row, .row = -plane.row, .column = plane.column};
}

void weft__memory_move(const weft__variant *variant, int size, weft__plane dst, weft__plane src,
                       int64_t rows, int64_t columns, bool streaming)
{
    const int64_t bytes = (int64_t)1 << size;
    if (dst.column != bytes && dst.row == bytes && rows > 1) {
        weft__memory_move(variant, size, turned(dst), turned(src), columns, rows, streaming);
        return;
    }
    if (src.row == -bytes && src.column != bytes && rows > 1) {
        src = upside_down(src, rows);
        dst = upside_down(dst, rows);
    }
    if (dst.column == bytes && src.column == bytes) {
        move_rows(variant, size, dst, src, rows, columns, streaming);
    } else if (dst.column == bytes && src.row == bytes && src.column != 0 && rows > 1) {
        variant->transpose[size](dst.data, dst.row, src.data, src.column, rows, columns);
    } else {
        for (int64_t r = 0; r < rows; r++) {
            if (streaming && dst.column == bytes && src.column == 0)
                stream_fill(variant, size, dst.data + r * dst.row, src.data + r * src.row, columns);
            else
                variant->move_row[size](dst.data + r * dst.row, dst.column, src.data + r * src.row,
                                        src.column, columns);
        }
    }
}
