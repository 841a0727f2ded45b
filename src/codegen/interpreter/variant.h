/* The inner loops of the interpreter, as one table for each instruction set. */
#ifndef WEFT_CODEGEN_INTERPRETER_VARIANT_H
#define WEFT_CODEGEN_INTERPRETER_VARIANT_H

#include "kernel/ir.h"

/* Computes `count` elements. Bit k of `uniform` says that argument k is a single element, meant for
 * all; never all of them at once, unless count is 1. The result may be the same memory as an
 * argument whose elements have the same size. */
typedef void weft__primitive(void *result, const void *x, const void *y, const void *z,
                             int64_t count, unsigned uniform);

/* Combines WEFT__FOLD_LANES lanes with rows of as many values, one after the other. */
typedef void weft__lanes(void *lanes, const void *values, int64_t rows);

/* Combines `count` pairs v, p with pairs x, y; bits 0 and 1 of `uniform` are for x and y. */
typedef void weft__pair(void *v, void *p, const void *x, const void *y, int64_t count,
                        unsigned uniform);

/* Moves `count` elements; strides are in bytes. */
typedef void weft__move_row(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                            int64_t count);

/* dst[r][c] = src[c][r], the elements of a row of dst and those of a row of src adjacent. */
typedef void weft__transpose(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                             int64_t rows, int64_t columns);

/* Elements are moved by their size alone: 1, 2, 4 or 8 bytes, given as its logarithm. */
enum { WEFT__SIZES = 4 };

typedef struct weft__variant {
    const char *name;
    /* By the type of the arguments (of select, its second); no cast, bitcast, load or store. */
    weft__primitive *primitive[WEFT__OP_COUNT][WEFT_DTYPE_END];
    weft__primitive *cast[WEFT_DTYPE_END][WEFT_DTYPE_END]; /* from, to */
    weft__primitive *canonical[WEFT_DTYPE_END];            /* f32, f64: one NaN */
    weft__primitive *widen[WEFT_DTYPE_END];                /* memory to value: bool, f16, bf16 */
    weft__primitive *narrow[WEFT_DTYPE_END];               /* value to memory: f16, bf16 */
    /* For some primitives and types: the others go row by row. */
    weft__lanes *lanes[WEFT__OP_COUNT][WEFT_DTYPE_END];
    /* By the type of the first: smallest and largest with their positions, complex product. */
    weft__pair *pair[WEFT__FOLD_END - WEFT__FOLD_ARGMIN][WEFT_DTYPE_END];
    weft__move_row *move_row[WEFT__SIZES];
    weft__transpose *transpose[WEFT__SIZES];
    /* Like memcpy, past the caches; needs a fence at the end. */
    void (*stream)(char *dst, const char *src, int64_t bytes);
} weft__variant;

/* The one to use. */
const weft__variant *weft__variant_chosen(void);

#endif
