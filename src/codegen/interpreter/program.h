/* A kernel as the interpreter runs it: steps on blocks of elements. */
#ifndef WEFT_CODEGEN_INTERPRETER_PROGRAM_H
#define WEFT_CODEGEN_INTERPRETER_PROGRAM_H

#include "backend/backend.h"
#include "codegen/executable.h"
#include "codegen/interpreter/variant.h"

enum {
    WEFT__SCRATCH =
        64 << 10, /* bytes for blocks and tables of a program, in the thread's scratch */
    WEFT__BLOCK_ROOM =
        64,             /* bytes after a block, which is aligned to as many: 16 lanes end there */
    WEFT__BLOCK = 1024, /* points of a patch of one row, or of short rows */
    WEFT__TILE = 4096   /* points of a patch that serves an operand with another order of axes */
};

typedef enum weft__step_kind {
    WEFT__STEP_COMPUTE,
    WEFT__STEP_FETCH,   /* elements of an operand, as they are in memory */
    WEFT__STEP_PUT,     /* elements to an operand */
    WEFT__STEP_INDEX,   /* positions along an axis */
    WEFT__STEP_EDGE,    /* argument 1 where a displaced fetch is out of bounds, else argument 0 */
    WEFT__STEP_FOLD,    /* combines the arguments with what was folded before */
    WEFT__STEP_FOLDED,  /* the result of a fold */
    WEFT__STEP_GATHER,  /* elements of an operand, by their numbers, which are argument 0 */
    WEFT__STEP_SCATTER, /* argument 1 to elements by their numbers, argument 0, if argument 2 */
    WEFT__STEP_COPY,    /* argument 0, to a result that changes in loops */
    WEFT__STEP_ENTER,   /* result: where argument 0 is true, or everywhere without one (slot 0) */
    WEFT__STEP_TEST,  /* argument 1 stays true where argument 0 is; if nowhere, goes to step `to` */
    WEFT__STEP_AGAIN, /* goes to step `to` */
    /* Machine code: where its results go, what it is given, and that it is run. `to` is a place in
     * its frame, or where it begins. */
    WEFT__STEP_TAKE,
    WEFT__STEP_GIVE,
    WEFT__STEP_CALL
} weft__step_kind;

/* Where values are, in the order of the table of addresses that a run has. A fetch is in memory, if
 * that can be read in place, else in a block. The last three are uniform: single elements that
 * depend on no point. */
typedef enum weft__storage {
    WEFT__STORAGE_BLOCK,
    WEFT__STORAGE_FETCH,
    WEFT__STORAGE_CONSTANT,
    WEFT__STORAGE_SCALAR,
    WEFT__STORAGE_UNIFORM,
    WEFT__STORAGES
} weft__storage;

typedef struct weft__step {
    weft__primitive *primitive;  /* of compute */
    int32_t result, argument[3]; /* rows of the table of addresses */
    int32_t block;               /* of fetch: for when memory cannot be read in place */
    int32_t shift;               /* of fetch and edge: 0, or 1 + the position in `shifts` */
    int32_t to; /* of loops: a step; of gather: bytes of an element; of machine code: see above */
    int32_t skips;     /* so many steps, this one first, are skipped in a patch … */
    int32_t condition; /* … if no element in this row of the table … */
    bool side;         /* … is this */
    uint16_t slot;     /* of fetch and put: the operand; of index: the axis; of folds: which one */
    uint8_t kind;      /* weft__step_kind */
    uint8_t uniform;   /* bit k: argument k is a single element */
    uint8_t size;      /* elements of the result, or of what is put, have 1 << size bytes */
    uint8_t offset;    /* of fetch and put: bytes to the part of a complex element */
    /* fetch: memory may be read where it is, as no store comes before the last use.
     * compute: the result may be written to memory, as the put that follows is its only use. */
    bool in_place;
} weft__step;

/* A result of a fold. */
typedef struct weft__fold {
    weft__primitive *combine; /* of two values */
    weft__lanes *rows;        /* the same for whole rows of lanes, or NULL */
    weft__pair *pair; /* of two pairs of values, this and the next one; NULL if it is none */
    uint64_t neutral; /* the result of folding nothing */
    uint8_t size;
    bool second; /* of a pair */
} weft__fold;

typedef struct weft__folds {
    weft__fold fold[WEFT__FOLDS_MAX];
    int32_t count;
    bool lanes;                    /* the order is that of a last axis that is folded */
    struct weft__program *points;  /* computes what is folded */
    struct weft__program *results; /* computes the rest */
} weft__folds;

typedef struct weft__program {
    const weft__variant *variant;
    weft__step *prologue, *steps; /* the prologue computes the uniform values, once a run */
    uint64_t *constants;
    weft__kernel_shift *shifts;
    int32_t prologue_count, steps_count;
    int32_t rows[WEFT__STORAGES]; /* of the table, for each storage */
    int32_t size;                 /* the largest elements of blocks have 1 << size bytes */
    int32_t elements;             /* that fit in a block */
    int32_t bytes_put;            /* at each point */
    bool moves;                   /* there are only fetches and puts */
    int32_t lanes;                /* points that machine code computes at once; 0: there is none */
    int32_t frame;                /* its bytes: a multiple of 64 */
    weft__executable code;
} weft__program;

/* Patches of rows × columns points, along row_axis and the last axis, that a launch is cut into.
 * With a row_axis, ranges of points must be whole along all axes after it; without (-1), rows is 1.
 */
typedef struct weft__plan {
    int32_t row_axis;
    int64_t rows, columns;
} weft__plan;

/* A patch has at most `elements` points. */
weft__plan weft__plan_launch(const weft__launch *launch, int64_t elements);

/* Points of the axes after `axis`, for one position along it. */
int64_t weft__launch_inner(const weft__launch *launch, int32_t axis);

/* Whether folds are computed for many points at once, though each has its elements in lanes. */
static inline bool weft__fold_is_short(const weft__launch *launch)
{
    return launch->folded <= 2 * WEFT__FOLD_LANES;
}

/* A program whose values are those wanted (NULL: all) of the kernel; if that is said, with what can
 * be machine code as such. */
weft_status weft__program_make(const weft__kernel *kernel, const uint8_t *wanted, bool machine,
                               weft__program **made);
void weft__program_free(void *program);
weft_status weft__folds_make(const weft__kernel *kernel, bool machine, weft__folds **made);
void weft__folds_free(void *folds);
void weft__folds_run(const void *folds, const weft__launch *launch, int64_t begin, int64_t end);

void weft__program_run(const void *program, const weft__launch *launch, int64_t begin, int64_t end);

#endif
