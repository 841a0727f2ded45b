/* Running compiled folds: what the files of it share. */
#ifndef WEFT_CODEGEN_LLVM_FOLD_RUN_H
#define WEFT_CODEGEN_LLVM_FOLD_RUN_H

#include "codegen/interpreter/memory.h"
#include "codegen/llvm/fold.h"
#include "codegen/llvm/object.h"

/* Combines many values, or pairs of them: one of the two. */
typedef struct weft__fold_combine_function {
    weft__primitive *primitive;
    weft__pair *pair;
} weft__fold_combine_function;
weft__fold_combine_function weft__fold_combiner(const weft__object_fold *fold);

typedef struct weft__fold_frame {
    const weft__native *native;
    const weft__launch *launch;
    const weft__argument *arguments;
    const weft__variant *variant;
    weft__fold_plan plan;
    int32_t count;             /* of folds */
    int size[WEFT__FOLDS_MAX]; /* log2 of the bytes of a result */
    bool product, has_index;
    int64_t columns;              /* kept points that are done at once */
    char *slot[WEFT__FOLDS_MAX];  /* of all lanes */
    char *chunk[WEFT__FOLDS_MAX]; /* the first results of chunks, for the columns */
    char *pack;                   /* for elements of operands that are packed */
    int64_t pack_bytes;
    weft__sheet sheet;
    weft__patch points, results;
} weft__fold_frame;

/* Combines `count` groups of values by halving into the first of them; groups have `columns` values
 * and are `pitch` values apart. */
void weft__fold_groups(const weft__fold_frame *frame, char *const *groups, int64_t count,
                       int64_t pitch, int64_t columns);

/* Folds `chunks` chunks of the columns; the results of a chunk go to `to`, those of the next are
 * `pitch` values further on. */
void weft__fold_lanes(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                      int64_t pitch);
void weft__fold_columns(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                        int64_t pitch);
/* How many columns there is room to pack at once. */
int64_t weft__fold_columns_most(const weft__fold_frame *frame);

/* Moves rows × columns elements, whatever their alignment. */
void weft__fold_move(const weft__fold_frame *frame, int size, weft__plane dst, weft__plane src,
                     int64_t rows, int64_t columns);

/* Sets the position along the axes from `first` to before `end` to that of a point. */
static inline void weft__fold_place(weft__fold_frame *frame, int32_t first, int32_t end,
                                    int64_t point)
{
    for (int32_t k = end - 1; k >= first; k--) {
        const int64_t size = frame->launch->size[k];
        frame->points.position[k] = point % size;
        point /= size;
    }
}

/* Where an operand's element at the position is. */
static inline char *weft__fold_data(const weft__fold_frame *frame, uint32_t operand)
{
    const weft__argument *argument = &frame->arguments[operand];
    char *data = argument->data;
    for (int32_t k = 0; k < frame->launch->ndim; k++)
        data += frame->points.position[k] * argument->stride[k];
    return data;
}

static inline int64_t weft__fold_least(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
