/* Quick code of what is long: what a kernel computes in a row becomes a function of vectors, in
 * machine code of our own where that can be made; elsewhere what it computes several times becomes
 * one, which is made once and called. */
#ifndef WEFT_CODEGEN_LLVM_OUTLINE_H
#define WEFT_CODEGEN_LLVM_OUTLINE_H

#include "codegen/llvm/repeat.h"
#include "codegen/x86.h"

/* A function: a kernel that loads what is given and stores what is taken from it. */
typedef struct weft__piece {
    weft__kernel kernel;
    weft__survey survey;
    int inputs, outputs;
    weft__ref *tables;      /* room for those of an emitter */
    weft__x86_code machine; /* what is called, if there are such */
    weft__ref code;         /* the same, once a function calls it */
} weft__piece;

/* A kernel that calls functions: each `call` has the values that it gives, from the last one on, as
 * a chain of `pass`. */
typedef struct weft__outline {
    weft__kernel kernel; /* with the operands of the one that it was made of */
    int count;           /* of functions; 0: there is no such kernel */
    bool machine;        /* they are machine code */
    weft__piece pieces[WEFT__REPEATS_MOST];
} weft__outline;

/* What the functions of an outline may be. */
typedef enum weft__outlining {
    WEFT__OUTLINE_REPEATS,
    WEFT__OUTLINE_ROWS, /* machine code, where that can be made; else as REPEATS */
    WEFT__OUTLINE_ALL   /* the same; also of what is the same for all points: nothing may be left */
} weft__outlining;

/* Makes one of the kernel of a survey, if that saves much. Ends with weft__outline_free, also where
 * it fails. */
weft_status weft__outline_make(const weft__survey *survey, weft__outlining of,
                               weft__outline *outline);
void weft__outline_free(weft__outline *outline);

/* The survey is one of the outline's kernel: the functions have its lanes and vectors. */
weft_status weft__outline_use(weft__outline *outline, weft__survey *survey);
/* Then, if the functions are machine code, makes it, with moves of its own. Fails with
 * WEFT_ERROR_UNSUPPORTED if that would need too much memory. */
weft_status weft__outline_assemble(weft__outline *outline, const weft__x86_move *moves,
                                   uint32_t count, uint32_t pointers);

#endif
