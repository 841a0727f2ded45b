/* The two halves of compiling: lowering a kernel to steps, then giving their values storage. */
#ifndef WEFT_CODEGEN_INTERPRETER_COMPILE_H
#define WEFT_CODEGEN_INTERPRETER_COMPILE_H

#include "codegen/interpreter/program.h"

enum { WEFT__LOOPS_DEEP = 16 }; /* loops in loops */

/* What a value is to a program: a fold is the end of one, or a value that another begins with. */
enum { WEFT__WANTED_VALUE = 1, WEFT__WANTED_FOLD = 2 };

/* A value of the program that is being made. */
typedef struct weft__live {
    uint8_t storage; /* weft__storage */
    uint8_t size;    /* elements of 1 << size bytes */
    int32_t ordinal; /* in its storage; of a fetch, block is its block */
    int32_t block;
    int32_t last; /* the last step that uses it, or -1 */
} weft__live;

typedef struct weft__lowering {
    const weft__kernel *kernel;
    const uint8_t *wanted; /* of each value: whether it is part of the program; NULL: all are */
    weft__program *program;
    weft__live *live; /* steps have positions in this as results and arguments */
    int32_t live_count;
    int32_t first_put; /* a step */
    uint16_t folds;    /* how many there were */
    int32_t *value;    /* of each of the kernel's values: which live one it is */
    int32_t *raw;      /* of each load: the same, before it is made a value */
    bool *used;        /* of each load: whether anything but a plain copy uses it */
    struct {
        int32_t step;   /* that comes again and again */
        int32_t test;   /* the step that leaves */
        int32_t lives;  /* live values before it */
        int32_t active; /* a live value: where points are still in it */
    } loops[WEFT__LOOPS_DEEP];
    int loops_count; /* that are open */
} weft__lowering;

/* How many of a step's arguments are used. */
static inline int weft__step_arguments(const weft__step *step)
{
    static const uint8_t count[] = {
        [WEFT__STEP_COMPUTE] = 3, [WEFT__STEP_PUT] = 1,     [WEFT__STEP_EDGE] = 2,
        [WEFT__STEP_FOLD] = 2,    [WEFT__STEP_FOLDED] = 0,  [WEFT__STEP_GATHER] = 1,
        [WEFT__STEP_COPY] = 1,    [WEFT__STEP_ENTER] = 1,   [WEFT__STEP_TEST] = 2,
        [WEFT__STEP_AGAIN] = 0,   [WEFT__STEP_SCATTER] = 3, [WEFT__STEP_GIVE] = 1,
        [WEFT__STEP_FETCH] = 0,   [WEFT__STEP_INDEX] = 0,   [WEFT__STEP_TAKE] = 0,
        [WEFT__STEP_CALL] = 0};
    return count[step->kind];
}

static inline bool weft__step_has_result(const weft__step *step)
{
    return step->kind != WEFT__STEP_PUT && step->kind != WEFT__STEP_FOLD &&
           step->kind != WEFT__STEP_SCATTER && step->kind != WEFT__STEP_TEST &&
           step->kind != WEFT__STEP_AGAIN && step->kind != WEFT__STEP_GIVE &&
           step->kind != WEFT__STEP_CALL;
}

static inline bool weft__lowering_wants(const weft__lowering *lowering, int32_t value)
{
    return !lowering->wanted || lowering->wanted[value];
}

weft_status weft__lower(weft__lowering *lowering);
/* lower.c: which loads are needed as values; returns the position of the first store. The steps of
 * a value; of a load, without what is out of bounds and that alone. */
int32_t weft__lower_survey(weft__lowering *lowering);
weft_status weft__lower_steps(weft__lowering *lowering, int32_t position);
void weft__lower_fetch(weft__lowering *lowering, int32_t position);
void weft__lower_edge(weft__lowering *lowering, int32_t position);
/* lower.c: a new value; a step that computes; an argument of a step. */
int32_t weft__lower_live(weft__lowering *lowering, weft__storage storage, uint8_t size);
int32_t weft__lower_compute(weft__lowering *lowering, weft__primitive *primitive, weft_dtype dtype,
                            int count, const int32_t *arguments);
void weft__lower_use(weft__lowering *lowering, weft__step *step, int k, int32_t live);
/* machine.c: the same as weft__lower, with rows of primitives as machine code.
 * WEFT_ERROR_UNSUPPORTED, without a message, if that would not be worth it. */
weft_status weft__lower_machine(weft__lowering *lowering);
/* loop.c: the values that say how loops go. */
weft_status weft__lower_flow(weft__lowering *lowering, int32_t position);
/* Sets what steps skip. The room is for two numbers a live value, all 0, and a mark a step. */
void weft__lower_skips(weft__lowering *lowering, int32_t *room, bool *marked);

#endif
