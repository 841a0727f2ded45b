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
    int64_t pack_elements; /* of each operand that there is room for: whole chunks */
    weft__sheet sheet;
    weft__patch points, results;
} weft__fold_frame;

/* Whether what all points read is more than the caches hold. */
bool weft__fold_is_large(const weft__fold_frame *frame);

/* Combines `count` groups of values by halving into the first of them; groups have `columns` values
 * and are `pitch` values apart. */
void weft__fold_groups(const weft__fold_frame *frame, char *const *groups, int64_t count,
                       int64_t pitch, int64_t columns);

/* Stores results, which are in frame->chunk, for the columns. */
void weft__fold_store(const weft__fold_frame *frame);

/* Folds `chunks` chunks of the columns; the results of a chunk go to `to`, those of the next are
 * `pitch` values further on. */
void weft__fold_lanes(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                      int64_t pitch);
void weft__fold_columns(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                        int64_t pitch);
/* As weft__fold_lanes, for plans that pack. */
void weft__fold_packs(weft__fold_frame *frame, int64_t chunk, int64_t chunks, char *const *to,
                      int64_t pitch);
/* Makes the operands that are packed those of chunk number `chunk` of the ones that were. */
void weft__fold_use_packs(weft__fold_frame *frame, int64_t chunk);
/* Folds `groups` chunks of `length` elements, of which the first begins with element `first`; the
 * next one is `step` positions further along `axis`. Results go to value `at` of `to`, and then
 * `result_step` further on. */
void weft__fold_set(weft__fold_frame *frame, int64_t first, int64_t length, int64_t groups,
                    int32_t axis, int64_t step, char *const *to, int64_t at, int64_t result_step);
/* For bands along the last kept axis; along a folded one, of rows of at least a chunk, for the
 * first of the columns. */
void weft__fold_kept_windows(weft__fold_frame *frame, int64_t chunk, int64_t chunks,
                             char *const *to, int64_t pitch);
void weft__fold_folded_windows(weft__fold_frame *frame, int32_t axis, int64_t chunk, int64_t chunks,
                               char *const *to, int64_t column, int64_t pitch);
/* Whether an operand that is folded is packed; the bytes of an element of all that are. */
bool weft__fold_is_packed(const weft__fold_frame *frame, uint32_t operand);
int64_t weft__fold_packed_bytes(const weft__fold_frame *frame);
/* Elements of the axes after one that is folded, for one position along it. */
int64_t weft__fold_inner(const weft__launch *launch, int32_t axis);

/* Calls compiled code for whole rows of lanes and a tail. */
void weft__fold_call(weft__fold_frame *frame, int64_t rows, int64_t tail);
/* Makes the operands those of the position, in steps along the last axis. */
void weft__fold_find_operands(weft__fold_frame *frame);
/* Folds the elements [at, end) of a chunk that begins with `begin`, of which the operands are found
 * already. Those that begin between lanes end with the last lane at most. */
void weft__fold_piece(weft__fold_frame *frame, char *const *slots, int64_t at, int64_t end,
                      int64_t begin);
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
