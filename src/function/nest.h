/* Loops that may become kernels. */
#ifndef WEFT_FUNCTION_NEST_H
#define WEFT_FUNCTION_NEST_H

#include "function/function.h"
#include "lang/affine.h"
#include "lang/launch.h"

enum {
    WEFT__NEST_DEPTH_MAX = 4,
    WEFT__NEST_OPERANDS_MAX = 64,
    WEFT__NEST_FOLDS_MAX = 8,
    WEFT__NEST_PLANS = 4,
    WEFT__JOINED_MAX = 4 /* loops that are one kernel */
};

/* for (v = lower; v < bound; v += step). */
typedef struct weft__nest_loop {
    int32_t statement, variable;
    int32_t index; /* the variable that it is called by in the kernel */
    int32_t lower_part, lower, bound_part, bound; /* parts, and nodes in them */
    uint8_t compare; /* less, less_equal, greater, greater_equal, not_equal */
    int64_t step;
    int32_t by_part, by; /* v += something: what, if the step is 0 … */
    bool minus;          /* … or v -= something */
    int64_t every;       /* of a loop that depends on others: it skips all but each so-manieth */
    bool depends;        /* its bounds need the variables of loops around it */
    int32_t guard;       /* then: the statement of the kernel that is true inside of them */
} weft__nest_loop;

/* s += …, in the kernel an array with a value for each point. */
typedef struct weft__nest_fold {
    int32_t variable;
    uint8_t operation; /* add, subtract, multiply, minimum, maximum */
    int32_t part;      /* without a variable: y(0) += …, the same element in all iterations */
} weft__nest_fold;

/* What is folded into: its dtype, 0 if that is not known before, and whether it is untyped. */
typedef struct weft__nest_accumulator {
    uint8_t dtype;
    bool weak;
} weft__nest_accumulator;

/* What a parameter of the kernel is. */
typedef enum weft__nest_role {
    WEFT__ROLE_VARIABLE, /* `index`: the variable */
    WEFT__ROLE_BASE,     /* `index`: the loop, whose first value it is */
    WEFT__ROLE_FOLD,     /* `index`: the fold */
    WEFT__ROLE_FOLDED    /* `index`: the fold of the kernel before, with a value for each point */
} weft__nest_role;
typedef struct weft__nest_operand {
    uint8_t role;
    int32_t index;
    bool element; /* a variable with subscripts */
    bool written, fixed;
    bool position; /* its elements are positions of others */
} weft__nest_operand;

/* Why a loop is serial. */
typedef struct weft__nest_reason {
    char text[320];        /* "" if it is not */
    uint32_t column, from; /* where, and 1 + the other place of a dependence, or 0 */
} weft__nest_reason;

/* The loop for arrays of certain types and certain bounds. */
typedef struct weft__nest_plan {
    bool made, parallel;
    bool looked; /* it needed to know what arrays hold: */
    weft__portable_range ranges[WEFT__NEST_OPERANDS_MAX];
    weft__nest_reason reason; /* if it is not parallel */
    weft_shape space;
    int64_t base[WEFT__NEST_DEPTH_MAX];
    weft__lang_operand types[WEFT__NEST_OPERANDS_MAX];
    int64_t values[WEFT__NEST_OPERANDS_MAX]; /* of those that are fixed */
    weft__nest_accumulator accumulators[WEFT__NEST_FOLDS_MAX];
    weft__launch_plan launch;
} weft__nest_plan;

typedef struct weft__task weft__task;

struct weft__function_nest {
    int32_t statement;
    int depth;
    weft__nest_loop loops[WEFT__NEST_DEPTH_MAX];
    weft__nest_reason reason; /* of the last call, or of all */
    bool done;                /* the last call ran it as kernels */
    bool candidate;           /* otherwise it is serial whatever it is called with */
    char *text;               /* of the kernel */
    weft__lang_syntax *syntax;
    int axis[WEFT__NEST_DEPTH_MAX]; /* of each loop: its index in the kernel */
    weft__nest_operand operands[WEFT__NEST_OPERANDS_MAX];
    weft__lang_name names[WEFT__NEST_OPERANDS_MAX];
    char own_names[WEFT__NEST_DEPTH_MAX + WEFT__NEST_FOLDS_MAX][16];
    int operands_count;
    bool positions; /* some operands are */
    weft__nest_fold folds[WEFT__NEST_FOLDS_MAX];
    int folds_count;
    bool folded[WEFT__NEST_DEPTH_MAX]; /* of the loops, if `second` is there */
    weft__function_nest *second; /* what is done with the folds, over the loops that are left */
    int joined;                  /* loops that follow each other, in one kernel; or 0 */
    int joined_ends[WEFT__JOINED_MAX]; /* of each: the statements of the kernel until its end */
    bool has_privates;
    weft__task *task;       /* its iterations as programs of their own, if that may be; or NULL */
    uint32_t (*columns)[2]; /* of the text, and of the body, token by token */
    uint32_t columns_count, columns_room;
    weft__nest_plan plans[WEFT__NEST_PLANS];
    int oldest;
};

/* Loops that follow each other and may be one kernel. */
struct weft__function_join {
    int32_t last; /* the statement of the last one */
    int32_t loops[WEFT__JOINED_MAX];
    int count;
    bool done;                    /* in the last call they were */
    uint64_t refused;             /* the signature of a call in which they were not; or 0 */
    weft__function_nest *nest;    /* of all of them; its reason says why they are not one */
    weft__function_join *shorter; /* the same without the last one; or NULL */
};

/* emit.c: the kernel's text, with loops in it or without; a reason why there is none. */
weft_status weft__nest_emit(weft__function *f, weft__function_nest *nest, bool loops);
/* inner.c: the same with loops beside other statements, if it was refused without. */
weft_status weft__nest_emit_inner(weft__function *f, weft__function_nest *nest);
/* rows.c: forgets what was written. */
void weft__nest_clear(weft__function_nest *nest);
/* rows.c: the same for a loop around one that folds, if it was refused as one kernel. */
weft_status weft__nest_emit_rows(weft__function *f, weft__function_nest *nest);
/* nest.c: a loop that counts; its step is 0 if that is no literal. */
bool weft__nest_find_loop(const weft__function *f, int32_t statement, weft__nest_loop *loop);
/* Adds the loop at the statement to the nest, if it counts by a literal. */
bool weft__nest_add_loop(const weft__function *f, int32_t statement, weft__function_nest *nest);
/* The first statement of a body, without the braces around it. */
int32_t weft__nest_body(const weft__function *f, int32_t body);
void weft__nest_refuse(weft__function_nest *nest, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the error that there is, in the text of the kernel. */
void weft__nest_refuse_kernel(const weft__function *f, weft__function_nest *nest,
                              weft__lang_name code);
/* The column of the body for one of the kernel's text. */
uint32_t weft__nest_column(const weft__function_nest *nest, uint32_t column);

/* nest_run.c: what the loops of a nest count, in a call. */
typedef struct weft__nest_bounds {
    int64_t base[WEFT__NEST_DEPTH_MAX], trips[WEFT__NEST_DEPTH_MAX];
} weft__nest_bounds;
/* False if that is not known before the loops. */
bool weft__nest_count(weft__running *r, weft__function_nest *nest, weft__nest_bounds *bounds);
/* Runs it as kernels; if *done is false, nothing was done, and the nest has a reason. */
weft_status weft__nest_run(weft__running *r, weft__function_nest *nest, bool *done);

/* extent.c: between which integers the elements of the operands are: by their types … */
void weft__extent_allowed(const weft__function_nest *nest, const weft__lang_operand *types,
                          weft__portable_range *ranges);
/* … or, of positions, as they are, */
weft_status weft__extent_look(weft__running *r, const weft__function_nest *nest,
                              const weft__lang_operand *types, weft__portable_range *ranges);
/* and as they may be too if they are used as positions alone. */
void weft__extent_widen(const weft__function_nest *nest, const weft__lang_operand *types,
                        weft__portable_range *ranges);

/* nest_fold.c: the fold whose values the operand has, or -1. */
int weft__nest_fold_of(const weft__function_nest *nest, const weft__portable_program *program,
                       int32_t operand);
/* The array that a fold without a variable is into an element of. */
int32_t weft__nest_fold_array(const weft__function *f, const weft__nest_fold *fold);
/* What is folded into: a variable or an element, which is a number that can be. */
bool weft__nest_fold_is_number(weft__running *r, const weft__nest_fold *fold);
weft_status weft__nest_fold_before(weft__running *r, const weft__nest_fold *fold,
                                   weft_operand *number, bool *typed);
weft_status weft__nest_fold_set(weft__running *r, const weft__nest_fold *fold,
                                const weft_operand *number, bool typed);
/* Makes reductions of the values that are folded, cast where `casts` has a dtype; they come last.
 */
weft_status weft__nest_fold_results(const weft__function_nest *nest, const uint8_t *casts,
                                    weft__portable_program *program);

/* depend.c: whether an iteration needs what another one wrote. Forms are those of all nodes of the
 * kernel. */
bool weft__nest_depends(weft__function_nest *nest, const weft_shape *space,
                        const weft__affine *forms);

#endif
