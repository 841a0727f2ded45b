/* What is kept of loops that may run as tasks: verdicts for certain numbers, kernels for certain
 * types.
 */
#ifndef WEFT_FUNCTION_TASK_PLAN_H
#define WEFT_FUNCTION_TASK_PLAN_H

#include "function/serial.h"
#include "function/task.h"

enum {
    WEFT__TASK_VERDICTS = 4,
    WEFT__TASK_PLANS = 2,
    WEFT__TASK_VIEWS = WEFT__SERIAL_ARRAYS + 2 * WEFT__TASK_KEPT + 1
};

/* A variable that is there after the loop. */
typedef struct weft__task_kept {
    int32_t variable;
    uint8_t kind;      /* weft__serial_kept_kind */
    uint8_t operation; /* of a fold; or minimum or maximum */
    bool closed;       /* of an extreme: of equal ones it is the last */
    int32_t leader;    /* what it follows: the extreme's variable */
} weft__task_kept;

/* What a variable is; of numbers that are integers, which. */
typedef struct weft__task_seen {
    uint8_t holding, dtype;
    bool typed, input, overlapping;
    int64_t value;
    weft_shape shape;
} weft__task_seen;

typedef struct weft__task_verdict {
    weft__task_loop loop;
    weft__task_seen *seen; /* of each variable; NULL: free */
    bool parallel, inside;
    int64_t rounds; /* of the loops in it */
    int accesses;
    int32_t folded[WEFT__TASK_FOLDED];
    int folded_count;
} weft__task_verdict;

typedef struct weft__task_plan {
    weft__task_seen *seen; /* NULL: free; shapes and values do not matter */
    bool checked;          /* its last operand says whether subscripts were out of range */
    bool refused;
    bool shared;   /* what a task reads may change, as another array that it writes is there too */
    bool *private; /* of the variables: arrays of which each task has one, those that are folded too
                    */
    int32_t folded[WEFT__TASK_FOLDED];
    int folded_count;
    weft__builder builder;
    int32_t arrays[WEFT__SERIAL_ARRAYS];
    bool written[WEFT__SERIAL_ARRAYS];
    int arrays_count;
    weft__serial_scalar scalars[WEFT__SERIAL_SCALARS];
    int scalars_count;
} weft__task_plan;

struct weft__task {
    int32_t statement;
    weft__nest_loop loop;
    bool *assigned, *private, *used; /* of the variables */
    uint8_t *kinds;                  /* of the variables: weft__serial_kept_kind */
    uint8_t *folds;                  /* of arrays that are only folded into: 1 + the operation */
    weft__task_kept kept[WEFT__TASK_KEPT];
    int kept_count;
    bool parts;       /* the last run had tasks of several iterations */
    bool has_arrays;  /* that are private */
    bool has_kernels; /* loops in it may be some */
    bool guesses;     /* parts may look at elements that the loop, in order, does not */
    bool tried, ran;
    weft__task_verdict verdicts[WEFT__TASK_VERDICTS];
    weft__task_plan *plans[WEFT__TASK_PLANS];
    int oldest_verdict, oldest_plan;
};

/* task.c: whether the iterations are independent of each other. */
weft_status weft__task_judge(weft__running *r, weft__task *task, const weft__task_loop *loop,
                             const weft__task_verdict **verdict);
/* task_plan.c: the kernel; NULL if there is none. */
weft_status weft__task_find_plan(weft__running *r, weft__task *task,
                                 const weft__task_verdict *verdict, weft__task_plan **plan);
void weft__task_plan_free(weft__task_plan *plan);
/* task_fold.c: which variables are there after the loop, and which arrays are only folded into;
 * false if an iteration needs what another one computed. */
bool weft__task_find_kept(const weft__function *f, weft__task *task);
/* What the parts left, put together: of each, its elements of type `dtype` and whether they were
 * set.
 */
void weft__task_put_together(weft__running *r, const weft__task *task, int64_t parts,
                             void *const *values, int64_t *const *flags);
/* array op= what the parts have of it, in a kernel. */
weft_status weft__task_fold_array(weft__running *r, weft_array *array, weft_array *parts_of_it,
                                  int64_t parts, uint8_t operation);
/* What the variables are that the loop uses. */
void weft__task_see(const weft__running *r, const weft__task *task, weft__task_seen *seen);

#endif
