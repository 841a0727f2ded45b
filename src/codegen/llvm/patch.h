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

/* All fields have 8 bytes; function.c knows their order. */
typedef struct weft__patch {
    int64_t rows, columns; /* at least 1 */
    int64_t streaming;     /* whether stores go past the caches; rows are aligned to lines first */
    const uint64_t *scalars;
    int64_t position[WEFT_NDIM_MAX]; /* of the first point, along each axis */
    weft__patch_operand operands[WEFT__OPERANDS_MAX];
} weft__patch;

enum {
    WEFT__PATCH_ROWS,
    WEFT__PATCH_COLUMNS,
    WEFT__PATCH_STREAMING,
    WEFT__PATCH_SCALARS,
    WEFT__PATCH_POSITION,
    WEFT__PATCH_OPERANDS = WEFT__PATCH_POSITION + WEFT_NDIM_MAX
};

typedef void weft__patch_run(const weft__patch *patch);

#endif
