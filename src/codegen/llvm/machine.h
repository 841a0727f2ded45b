/* Kernels that are all machine code of our own: what is moved to it and from it. */
#ifndef WEFT_CODEGEN_LLVM_MACHINE_H
#define WEFT_CODEGEN_LLVM_MACHINE_H

#include "codegen/llvm/object.h"

typedef struct weft__moves {
    weft__object_move *move; /* what C code moves: elements, or their addresses */
    uint32_t count;          /* 0: LLVM is needed */
    weft__x86_move *own;     /* what the machine code moves itself */
    uint32_t own_count, pointers;
} weft__moves;

/* Of the survey of an outline's kernel, or of another, which has none. */
weft_status weft__moves_find(const weft__survey *survey, weft__moves *moves);
void weft__moves_free(weft__moves *moves);

#endif
