/* Making the code of folds: what the function, the values and the combining share. */
#ifndef WEFT_CODEGEN_LLVM_FOLD_EMIT_H
#define WEFT_CODEGEN_LLVM_FOLD_EMIT_H

#include "codegen/llvm/emit.h"
#include "codegen/llvm/fold.h"

/* One result of a fold; the second of a pair follows its first. */
typedef struct weft__folded {
    int kind;
    weft_dtype dtype;
    bool pair, second;
    bool numbered; /* the second is, in registers, the row that the first is of; -1 if none */
    weft__ref slots;
    weft__ref now[WEFT__UNROLL_MOST]; /* what was folded so far, of each vector of a turn */
} weft__folded;

typedef struct weft__folding {
    weft__folded fold[WEFT__FOLDS_MAX];
    int count;
    bool product;     /* some are complex products, for which nothing stands for nothing */
    weft__ref folded; /* i64: the number of the first element of the group */
    weft__ref rows;   /* memory for those of all vectors of a turn, if some are numbered; or NULL */
    weft__ref empty;  /* i1: nothing was folded yet; only if there are products */
    weft__ref large;  /* i1: rows are asked for ahead; only if the survey asks */
} weft__folding;

/* Combines pairs or single values: `to` and `from` have two places. */
void weft__fold_combine(const weft__emitter *emitter, const weft__folded *fold, weft__ref *to,
                        const weft__ref *from);
/* Combines the values of a vector with what it has of the fold. */
void weft__fold_add(const weft__emitter *emitter, weft__folded *fold, const weft__ref *from);
/* Combines the slots of all lanes. */
void weft__fold_halve(weft__emitter *emitter, const weft__folded *fold, weft__ref *result);

/* The slots from a column on, as values of the emitter's lanes. */
weft__ref weft__fold_slot_load(const weft__emitter *emitter, const weft__folded *fold,
                               weft__ref column);
void weft__fold_slot_store(const weft__emitter *emitter, const weft__folded *fold, weft__ref column,
                           weft__ref x);

/* How many numbers of what is folded, which have 64 bits, fill a register; at most the lanes. */
int weft__fold_number_lanes(const weft__survey *survey);
/* The whole of the points, named WEFT__FOLD_NAME. */
void weft__emit_fold_function(weft__emitter *emitter);

#endif
