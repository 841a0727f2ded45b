/* Quick code of what is long: what a kernel computes several times becomes a function of vectors,
 * which is made once and called. */
#ifndef WEFT_CODEGEN_LLVM_OUTLINE_H
#define WEFT_CODEGEN_LLVM_OUTLINE_H

#include "codegen/llvm/repeat.h"

/* A function: a kernel that loads what is given and stores what is taken from it. */
typedef struct weft__piece {
    weft__kernel kernel;
    weft__survey survey;
    int inputs, outputs;
    weft__ref *tables; /* room for those of an emitter */
} weft__piece;

/* A kernel that calls functions: each `call` has the values that it gives, from the last one on, as
 * a chain of `pass`. */
typedef struct weft__outline {
    weft__kernel kernel; /* with the operands of the one that it was made of */
    int count;           /* of functions; 0: there is no such kernel */
    weft__piece pieces[WEFT__REPEATS_MOST];
} weft__outline;

/* Makes one of the kernel of a survey, if that saves much. Ends with weft__outline_free, also where
 * it fails. */
weft_status weft__outline_make(const weft__survey *survey, weft__outline *outline);
void weft__outline_free(weft__outline *outline);

/* The survey is one of the outline's kernel: the functions have its lanes and vectors. */
weft_status weft__outline_use(weft__outline *outline, weft__survey *survey);

#endif
