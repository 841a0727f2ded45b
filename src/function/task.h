/* Loops whose iterations are independent of each other, though each is a serial program: they are
 * the points of one kernel, with what each of them computes for itself in variables and arrays. */
#ifndef WEFT_FUNCTION_TASK_H
#define WEFT_FUNCTION_TASK_H

#include "function/inequality.h"
#include "function/nest.h"

enum {
    WEFT__TASK_SYMBOLS = 8, /* this loop and those in it */
    WEFT__TASK_FACTS = 256,
    WEFT__TASK_ACCESSES = 128,
    WEFT__TASK_KEPT = 8,
    WEFT__TASK_FOLDED = 4
};

/* The loop, in a call: iteration t counts first + t*step. */
typedef struct weft__task_loop {
    int32_t statement, variable;
    int64_t first, step, trips;
} weft__task_loop;

/* The form is not negative, and so on with the parent; the form's index 0 is the number of the
 * iteration, the others are those of the rounds of loops in it. */
typedef struct weft__task_fact {
    weft__affine form;
    int32_t parent; /* -1: none */
} weft__task_fact;

/* An element that the loop reads or writes, where these facts hold. */
typedef struct weft__task_access {
    int32_t variable;
    weft__affine subscripts[WEFT_NDIM_MAX]; /* not valid: any integer */
    int count;
    bool written;
    int32_t fact;
} weft__task_access;

/* What is known of a loop. */
typedef struct weft__task_view {
    weft__running *r;
    weft__function *f;
    const weft__task_loop *loop;
    const bool *assigned,
        *private;        /* of the variables: numbers that the loop assigns, its arrays */
    weft__affine *forms; /* of the variables that it assigns: what they are now */
    int64_t most[WEFT__TASK_SYMBOLS]; /* rounds of each loop, less one; -1: not known */
    int symbols;
    weft__task_fact facts[WEFT__TASK_FACTS];
    int facts_count;
    int32_t fact; /* that holds here */
    weft__task_access accesses[WEFT__TASK_ACCESSES];
    int accesses_count;
    int64_t rounds, most_rounds; /* of the loops around, and of any */
    const uint8_t
        *folds; /* of the variables: 1 + the operation, of arrays that are only folded into */
    int32_t folded[WEFT__TASK_FOLDED]; /* arrays that iterations meet in, and fold into */
    int folded_count;
    bool refused;
} weft__task_view;

/* task_walk.c: fills the view. */
void weft__task_walk(weft__task_view *view);
/* task_judge.c: whether no iteration writes what another one reads or writes. */
bool weft__task_is_parallel(weft__task_view *view, weft__inequalities *known);
/* Whether all subscripts are surely inside of their arrays. */
bool weft__task_is_inside(weft__task_view *view, weft__inequalities *known);

/* task_run.c: what is known without a call; *made is NULL if the loop cannot be run so. */
weft_status weft__task_new(const weft__function *f, int32_t statement, weft__task **made);
void weft__task_free(weft__task *task);
/* Runs the loop so, if its iterations are found to be independent. */
weft_status weft__task_run(weft__running *r, weft__task *task, bool *done);
/* Whether it was tried, and whether it ran so. */
bool weft__task_was_tried(const weft__task *task);
bool weft__task_has_run(const weft__task *task);
/* … in parts of several iterations that were put together. */
bool weft__task_has_parts(const weft__task *task);

#endif
