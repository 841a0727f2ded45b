/* The two halves of compiling: lowering a kernel to steps, then giving their values a place. */
#ifndef WEFT_CODEGEN_INTERPRETER_COMPILE_H
#define WEFT_CODEGEN_INTERPRETER_COMPILE_H

#include "codegen/interpreter/program.h"

/* A value of the program that is being made. */
typedef struct weft__live {
    uint8_t place;   /* weft__place */
    uint8_t size;    /* elements of 1 << size bytes */
    int32_t ordinal; /* in its place; of a fetch, block is its block */
    int32_t block;
    int32_t last; /* the last step that uses it, or -1 */
} weft__live;

typedef struct weft__lowering {
    const weft__kernel *kernel;
    weft__program *program;
    weft__live *live; /* steps have positions in this as results and arguments */
    int32_t live_count;
    int32_t first_put; /* a step */
    int32_t *value;    /* of each of the kernel's values: which live one it is */
    int32_t *raw;      /* of each load: the same, before it is made a value */
    bool *used;        /* of each load: whether anything but a plain copy uses it */
} weft__lowering;

weft_status weft__lower(weft__lowering *lowering);

#endif
