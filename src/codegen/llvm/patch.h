/* What compiled code is called with: rows of columns, and where their operands are. */
#ifndef WEFT_CODEGEN_LLVM_PATCH_H
#define WEFT_CODEGEN_LLVM_PATCH_H

#include "backend/backend.h"
#include "kernel/ir.h"

/* The first element, and how far apart rows and columns are, in bytes. */
typedef struct weft__patch_operand {
    char *data;
    int64_t row, column;
} weft__patch_operand;

/* A displaced operand, which follows the others and takes the place of two: by how many columns,
 * and whether its rows are inside of the index space; `data` is displaced already, if they are. */
typedef struct weft__patch_displaced {
    weft__patch_operand operand;
    int64_t offset, inside, zero;
} weft__patch_displaced;

/* Large launches ask for memory before they read it, and their stores go past the caches, after
 * rows are aligned to lines; unless that cannot be, or what is written is in the cache. */
typedef enum weft__streaming {
    WEFT__STREAMING_NOT,
    WEFT__STREAMING_STORES,
    WEFT__STREAMING_LOADS_ONLY
} weft__streaming;

/* All fields have 8 bytes; function.c knows their order. */
typedef struct weft__patch {
    int64_t rows, columns; /* at least 1 */
    int64_t streaming;     /* weft__streaming */
    int64_t begin, end;    /* the columns of which displaced operands are inside, begin <= end */
    int64_t size;          /* of the last axis */
    const uint64_t *scalars;
    const struct weft__sheet *sheet; /* of the points of a kernel with folds */
    int64_t position[WEFT_NDIM_MAX]; /* of the first point, along each axis */
    weft__patch_operand operands[WEFT__OPERANDS_MAX];
} weft__patch;

enum {
    WEFT__PATCH_ROWS,
    WEFT__PATCH_COLUMNS,
    WEFT__PATCH_STREAMING,
    WEFT__PATCH_BEGIN,
    WEFT__PATCH_END,
    WEFT__PATCH_SIZE,
    WEFT__PATCH_SCALARS,
    WEFT__PATCH_SHEET,
    WEFT__PATCH_POSITION,
    WEFT__PATCH_OPERANDS = WEFT__PATCH_POSITION + WEFT_NDIM_MAX
};

/* Where an operand is, of which `own` are not displaced: the number of a field. */
static inline int64_t weft__patch_field(uint32_t own, uint32_t operand)
{
    const int64_t place = operand < own ? operand : 2 * (int64_t)operand - own;
    return WEFT__PATCH_OPERANDS + 3 * place;
}

/* Whether there is room. */
static inline bool weft__patch_holds(size_t operands, size_t displaced)
{
    return operands + 2 * displaced <= WEFT__OPERANDS_MAX;
}

typedef void weft__patch_run(const weft__patch *patch);

#endif
