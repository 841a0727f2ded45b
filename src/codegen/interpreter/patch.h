/* What a run of a program is at: the patch of points it computes. */
#ifndef WEFT_CODEGEN_INTERPRETER_PATCH_H
#define WEFT_CODEGEN_INTERPRETER_PATCH_H

#include "codegen/interpreter/memory.h"
#include "codegen/interpreter/program.h"

typedef struct weft__patch {
    const weft__program *program;
    const weft__launch *launch;
    const weft__argument *arguments;
    char **at;     /* the table of addresses */
    char *machine; /* the frame of machine code */
    bool streaming;
    weft__plan plan;
    int64_t position[WEFT_NDIM_MAX]; /* of the first point of the patch */
    int64_t rows, columns;           /* of this patch */
    int32_t column_axis;             /* mostly the last; -1: columns are one point */
    struct weft__folding *folding;   /* of programs of folds */
    int64_t folded;   /* the number of the first point of the patch among those folded */
    bool folded_rows; /* these go along rows, not along columns */
} weft__patch;

/* The patch in an operand. */
static inline weft__plane weft__patch_plane(const weft__patch *frame, const weft__step *step)
{
    const weft__argument *argument = &frame->arguments[step->slot];
    const int32_t last = frame->launch->ndim - 1, row_axis = frame->plan.row_axis;
    const int32_t column_axis = frame->column_axis;
    weft__plane plane = {.data = argument->data + step->offset,
                         .row = row_axis < 0 ? 0 : argument->stride[row_axis],
                         .column = column_axis < 0 ? 0 : argument->stride[column_axis]};
    for (int32_t k = 0; k <= last; k++)
        plane.data += frame->position[k] * argument->stride[k];
    return plane;
}

/* The patch in a block. */
static inline weft__plane weft__patch_block(const weft__patch *frame, char *block, int size)
{
    return (weft__plane){
        .data = block, .row = frame->columns << size, .column = (int64_t)1 << size};
}

/* Prepares to run patches of up to `points` points in the scratch memory, of WEFT__SCRATCH bytes.
 */
void weft__patch_begin(weft__patch *frame, char *scratch, int64_t points);
void weft__patch_run(weft__patch *frame);

/* loop_run.c: elements by their numbers; a value that loops change; the points that enter a loop.
 */
void weft__loop_gather(const weft__patch *frame, const weft__step *step);
void weft__loop_scatter(const weft__patch *frame, const weft__step *step);
void weft__loop_copy(const weft__patch *frame, const weft__step *step);
void weft__loop_enter(const weft__patch *frame, const weft__step *step);
/* Whether a point stays in the loop. */
bool weft__loop_test(const weft__patch *frame, const weft__step *step);

/* machine_run.c: what goes to machine code and where its results go, and running it. */
void weft__machine_take(const weft__patch *frame, const weft__step *step);
void weft__machine_give(const weft__patch *frame, const weft__step *step);
void weft__machine_call(const weft__patch *frame, const weft__step *step);
/* Whether memory may be read in place: machine code reads all lanes of its last points. */
static inline bool weft__machine_reads(const weft__patch *frame)
{
    const int64_t lanes = frame->program->lanes;
    return lanes == 0 || frame->rows * frame->columns % lanes == 0;
}

/* Combines what a patch has computed with what was folded before. */
void weft__fold_step(const weft__patch *frame, const weft__step *step);
/* Where the result of a fold is. */
char *weft__fold_result(const weft__patch *frame, int32_t fold);

/* Displaced fetches. Whether all of the patch is in bounds; then the plane is moved to what it
 * reads. */
bool weft__shift_inside(const weft__patch *frame, const weft__step *step, weft__plane *plane);
/* Fills the block of a displaced fetch, piece by piece. */
void weft__shift_fetch(const weft__patch *frame, const weft__step *step);
/* Fills the block of an edge. */
void weft__shift_edge(const weft__patch *frame, const weft__step *step);

#endif
