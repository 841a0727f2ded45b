/* Serial loops as one kernel of one point: what the files that make it share. */
#ifndef WEFT_FUNCTION_SERIAL_H
#define WEFT_FUNCTION_SERIAL_H

#include "function/function.h"
#include "kernel/build.h"

enum { WEFT__SERIAL_ARRAYS = 16, WEFT__SERIAL_SCALARS = 128, WEFT__SERIAL_PLANS = 2 };

/* What a variable is that tasks leave: what the last one set, or what all of them fold; or the
 * least or greatest, and what goes with it. */
typedef enum weft__serial_kept_kind {
    WEFT__KEPT_NOT,
    WEFT__KEPT_LAST,
    WEFT__KEPT_FOLLOWS,
    WEFT__KEPT_FOLD,
    WEFT__KEPT_EXTREME
} weft__serial_kept_kind;

/* What a scalar of the launch is. */
typedef enum weft__serial_input {
    WEFT__INPUT_NUMBER, /* of variable `index` */
    WEFT__INPUT_SIZE,   /* of axis `axis` of array `index` */
    WEFT__INPUT_STRIDE, /* the same, in elements */
    WEFT__INPUT_FIRST,  /* of tasks: what the loop counts from … */
    WEFT__INPUT_STEP,   /* … and by, */
    WEFT__INPUT_TRIPS,  /* how often … */
    WEFT__INPUT_LENGTH  /* … and how often in one task */
} weft__serial_input;
typedef struct weft__serial_scalar {
    uint8_t kind;
    int8_t axis;
    int32_t index;
    int32_t value; /* of the kernel */
} weft__serial_scalar;

/* A variable as the kernel has it: f32, f64, bool, u64, or i64 for all other integers. */
typedef struct weft__serial_variable {
    int32_t value; /* of the kernel; -1: there is none */
    uint8_t dtype; /* of the number */
    bool typed, set;
} weft__serial_variable;

typedef struct weft__serial {
    weft__running *r;
    weft__function *f;
    weft__builder builder;
    weft__serial_variable *variables;
    int32_t arrays[WEFT__SERIAL_ARRAYS]; /* variables; operands come in the same order */
    bool written[WEFT__SERIAL_ARRAYS];
    int arrays_count;
    weft__serial_scalar scalars[WEFT__SERIAL_SCALARS];
    int scalars_count;
    int32_t active; /* bool: this point of the program is reached; -1: it always is */
    int32_t gone;   /* bool: the rest of the round is skipped; -1: it is not */
    int32_t left;   /* bool: the loop is left; -1: it is not */
    int32_t failed; /* i64: 1 + the part with a subscript that is out of range, or 0 */
    int32_t inside; /* bool: the subscripts of the present part are in range; -1: there are none */
    int32_t point;  /* i64: of tasks, which one this is; -1: it is no task */
    const bool *private; /* of the variables: arrays that each task has for itself */
    /* Of tasks that are several iterations: what they leave, by variable; there is another variable
     * for each, behind those of the function, which says whether it was set. Or NULL. */
    const uint8_t *kept;
    size_t variables_count;
    bool refused;
} weft__serial;

static inline int32_t weft__serial_refuse(weft__serial *s)
{
    s->refused = true;
    return 0;
}
/* The type of the kernel that a number of a dtype is kept in. */
weft_dtype weft__serial_kept(uint8_t dtype);
/* A scalar of the launch; the same one for the same thing. */
int32_t weft__serial_scalar_of(weft__serial *s, weft__serial_input kind, int32_t index, int axis,
                               weft_dtype dtype);
int32_t weft__serial_and(weft__serial *s, int32_t a, int32_t b);
int32_t weft__serial_not(weft__serial *s, int32_t a);
int32_t weft__serial_cast(weft__serial *s, weft_dtype dtype, int32_t a);

/* Of an array that each task has for itself: how many elements. */
int32_t weft__serial_count(weft__serial *s, int operand, int ndim);
/* The operand that a variable's array is; a new one if need be. */
int weft__serial_operand(weft__serial *s, int32_t variable);

/* serial_part.c: an expression or an assignment to an element. `value` gets what it is; *weak and
 * *dtype say of which type. */
weft_status weft__serial_part(weft__serial *s, int32_t part, bool as_value, int32_t *value,
                              uint8_t *dtype, bool *typed);
/* serial_flow.c: a variable gets a value, where the program is at this point. */
void weft__serial_set(weft__serial *s, int32_t variable, int32_t value, uint8_t dtype, bool typed);
/* An array that the task has for itself is zeros from here on. */
void weft__serial_zeros(weft__serial *s, int32_t variable);
weft_status weft__serial_list(weft__serial *s, int32_t first);
/* The loop from its condition on. */
weft_status weft__serial_loop(weft__serial *s, const weft__function_statement *loop);

#endif
