/* What is kept of loops that may run as tasks: verdicts for certain numbers, kernels for certain
 * types.
 */
#ifndef WEFT_FUNCTION_TASK_PLAN_H
#define WEFT_FUNCTION_TASK_PLAN_H

#include "function/serial.h"
#include "function/task.h"

enum { WEFT__TASK_VERDICTS = 4, WEFT__TASK_PLANS = 2 };

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
} weft__task_verdict;

typedef struct weft__task_plan {
    weft__task_seen *seen; /* NULL: free; shapes and values do not matter */
    bool checked;          /* its last operand says whether subscripts were out of range */
    bool refused;
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
    bool has_arrays;                 /* that are private */
    bool has_kernels;                /* loops in it may be some */
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
/* What the variables are that the loop uses. */
void weft__task_see(const weft__running *r, const weft__task *task, weft__task_seen *seen);

#endif
