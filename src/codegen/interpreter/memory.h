/* Moving planes of elements between memory and blocks, whatever their layout. */
#ifndef WEFT_CODEGEN_INTERPRETER_MEMORY_H
#define WEFT_CODEGEN_INTERPRETER_MEMORY_H

#include "codegen/interpreter/variant.h"

/* Rows of elements: where the first is, and how far apart rows and columns are, in bytes. */
typedef struct weft__plane {
    char *data;
    int64_t row, column;
} weft__plane;

/* Whether the elements lie one after the other, row after row. */
static inline bool weft__plane_dense(const weft__plane *plane, int64_t rows, int64_t columns,
                                     int64_t bytes)
{
    return (plane->column == bytes || columns == 1) && (rows == 1 || plane->row == columns * bytes);
}

/* Moves rows × columns elements of 1 << size bytes. `streaming` goes past the caches where dst has
 * whole lines; weft__memory_fence must follow before another thread looks. The two are equal or
 * disjoint. */
void weft__memory_move(const weft__variant *variant, int size, weft__plane dst, weft__plane src,
                       int64_t rows, int64_t columns, bool streaming);

void weft__memory_fence(void);

/* Launches that write more than this many bytes go past the caches. */
int64_t weft__memory_streaming_bytes(void);
/* For tests: this many; 0: what suits the machine. */
void weft__memory_set_streaming_bytes(int64_t bytes);

#endif
