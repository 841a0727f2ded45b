/* Kernels with folds: the two kernels that one is split into, how a launch of it is cut, and what
 * compiled code is called with. */
#ifndef WEFT_CODEGEN_LLVM_FOLD_H
#define WEFT_CODEGEN_LLVM_FOLD_H

#include "codegen/llvm/survey.h"

/* The kernels that a kernel with folds is made of. The points end in folds; the results are a plain
 * kernel over the axes that are kept, with the results of folds as operands after the others. Axes
 * of indices are those of launches. */
typedef struct weft__fold_parts {
    weft__kernel points, results;
    void *memory;
} weft__fold_parts;

weft_status weft__fold_split(const weft__kernel *kernel, weft__fold_parts *parts);
void weft__fold_parts_free(weft__fold_parts *parts);

/* How the points of a launch are laid out before compiled code:
 *
 * lanes   each row has WEFT__FOLD_LANES elements that follow each other in the fold, one a lane.
 * columns each column is a point that is kept; rows are what is folded, in order.
 * short   as columns, with a result for each row: its elements are fewer than the lanes. */
typedef enum weft__fold_mode {
    WEFT__FOLD_LANES_MODE = 1,
    WEFT__FOLD_COLUMNS_MODE,
    WEFT__FOLD_SHORT_MODE
} weft__fold_mode;

typedef struct weft__fold_plan {
    weft__fold_mode mode;
    bool packs;                    /* some operands are packed first, chunk by chunk */
    int32_t row_axis, column_axis; /* or -1; of lanes, both are the last one that is folded */
    int64_t length;                /* elements of a chunk */
    int64_t chunks;
    bool linear; /* each operand that is not packed has its folded elements one distance apart */
} weft__fold_plan;

/* Follows from the sizes and strides alone; `arguments` are those of the kernel. */
weft__fold_plan weft__fold_plan_of(const weft__launch *launch, bool lanes, bool has_index,
                                   uint32_t operands_count);
enum {
    WEFT__FOLD_PACKED_MOST = 6, /* operands */
    WEFT__FOLD_PACK_BYTES = 16 * WEFT__FOLD_PACKED_MOST * WEFT__FOLD_CHUNK
};
/* Whether an operand is read from memory of its own, where its elements lie as the plan wants them.
 */
bool weft__fold_packed(const weft__fold_plan *plan, const weft__launch *launch, uint32_t operand);
/* The axis, other than that of the columns or rows, along which an operand that is packed lies
 * closest together: its lines are used up by chunks that differ along it. Or -1. */
int32_t weft__fold_band(const weft__launch *launch, uint32_t operand);

/* Of each operand, as the points see it; of the results, those of their operands too. */
void weft__fold_spacings(const weft__kernel *kernel, const weft__launch *launch,
                         const weft__fold_plan *plan, uint8_t *spacing);
void weft__fold_result_spacings(const weft__kernel *kernel, const weft__launch *launch,
                                uint8_t *spacing);

/* As weft__llvm_class, wants and grain: a byte for each operand, and bits for the byte before them.
 */
uint8_t weft__fold_class(const weft__kernel *kernel, const weft__launch *launch, uint8_t *operands);
bool weft__fold_wants(const weft__kernel *kernel, const weft__launch *launch);
int64_t weft__fold_grain(const weft__kernel *kernel, const weft__launch *launch);

/* At each point, up to which a turn has as many vectors as there are registers for. More are long
 * code, which is made once. */
enum { WEFT__FOLD_OPERATIONS = 12 };

/* Of the two parts of a kernel; `sample` is a launch of the whole. */
weft_status weft__fold_survey_points(const weft__kernel *kernel, const weft__kernel *points,
                                     const weft__launch *sample, weft__survey *survey);
weft_status weft__fold_survey_results(const weft__kernel *kernel, const weft__kernel *results,
                                      const weft__launch *sample, weft__survey *survey);

struct weft__object_fold;
/* fold_store.c: whether all that is done with results is to store them. Then the folds, which are
 * described already, say where to, and nothing is compiled for it. */
bool weft__fold_only_stored(const weft__kernel *kernel, const weft__kernel *results,
                            struct weft__object_fold *folds);

/* The element that leaves any other as it is, whichever comes first; bits of the type. The complex
 * product has none. */
uint64_t weft__fold_identity(int kind, weft_dtype dtype, int part);
/* The result of folding nothing. */
uint64_t weft__fold_neutral(int kind, weft_dtype dtype, int part);

/* What the points are called with, besides the patch. All fields have 8 bytes; fold_function.c
 * knows their order.
 *
 * lanes: for each group, `rows` of the patch that are whole, and then `tail` elements of one more;
 * `halves` says whether that is the end of the chunk, whose lanes are then combined.
 * columns: one group, `rows` and `columns` of the patch. */
typedef struct weft__sheet {
    int64_t groups, tail;
    int64_t fresh; /* nothing was folded before: 1 into all slots, 2 into those of the tail */
    int64_t halves;
    int64_t folded;                /* the number of the first element among those folded */
    int64_t folded_group;          /* how much higher that is in the next group */
    char *slot[WEFT__FOLDS_MAX];   /* lanes, or columns */
    char *result[WEFT__FOLDS_MAX]; /* of the first group, and how far apart the next one's is */
    int64_t result_step[WEFT__FOLDS_MAX];
    int64_t group[WEFT__OPERANDS_MAX]; /* from a group to the next, in bytes */
} weft__sheet;

enum {
    WEFT__SHEET_GROUPS,
    WEFT__SHEET_TAIL,
    WEFT__SHEET_FRESH,
    WEFT__SHEET_HALVES,
    WEFT__SHEET_FOLDED,
    WEFT__SHEET_FOLDED_GROUP,
    WEFT__SHEET_SLOT,
    WEFT__SHEET_RESULT = WEFT__SHEET_SLOT + WEFT__FOLDS_MAX,
    WEFT__SHEET_RESULT_STEP = WEFT__SHEET_RESULT + WEFT__FOLDS_MAX,
    WEFT__SHEET_GROUP = WEFT__SHEET_RESULT_STEP + WEFT__FOLDS_MAX
};

#endif
