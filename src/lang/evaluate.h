/* Evaluating programs: from operands to queued kernels. */
#ifndef WEFT_LANG_EVALUATE_H
#define WEFT_LANG_EVALUATE_H

#include "core/array.h"
#include "lang/lower.h"

/* A kernel that writes an operand. */
typedef struct weft__evaluation_write {
    uint32_t kernel;
    int32_t operand;
    uint32_t assignment; /* its last one */
} weft__evaluation_write;

/* An operand of the last run. */
typedef struct weft__evaluation_seen {
    uint64_t layout; /* the array's; 0: a number */
    int32_t tag, dtype;
} weft__evaluation_seen;

/* A program lowered for operands of certain types: its kernels, in order. Used by one thread at a
 * time: each run leaves what the next one can use again. */
typedef struct weft__evaluation {
    int count;
    bool repeats;                /* a run with the operands that were seen last is a launch … */
    bool lent;                   /* … on the CPU, of memory that is lent */
    weft__evaluation_seen *seen; /* of each operand */
    weft__lowered *kernels;
    uint32_t kernels_count;
    weft__lang_program *program;
    weft__lang_operand *types; /* what the operands must be for it to be run */
    weft__schedule schedule;
    weft__evaluation_write *writes; /* in the order of the kernels */
    uint32_t writes_count;
    bool entangled; /* an operand is written before another that is assigned before it, or together
                       with one that a later kernel reads: trouble if they overlap */
    bool limited;   /* C numbers have limits, as in program->limits */
    bool handles;   /* an operand is an array without memory */
    bool single;    /* one kernel, which reads and writes operands and the value alone */
    uint32_t *reads[2];       /* of each operand: the last kernel that reads it as it was before the
                                 program, and as an earlier kernel has left it */
    uint32_t *temporary_ends; /* of each temporary: the last kernel that uses it */
} weft__evaluation;

/* The types of operands; an error for a NULL array. */
weft_status weft__evaluation_types(const weft_operand *operands, int count,
                                   weft__lang_operand *types);
/* Whether the evaluation was made for operands of such types; not if an array is NULL. */
bool weft__evaluation_fits(const weft__evaluation *evaluation, const weft_operand *operands,
                           int count);
/* Checks and lowers; `types` are copied. */
weft_status weft__evaluation_new(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                 int count, weft__evaluation **made);
void weft__evaluation_free(weft__evaluation *evaluation);
/* Queues the kernels. *value, if the program has one, is the new array; if it is `awaited`, nothing
 * is queued where it could not be waited for. */
weft_status weft__evaluation_run(weft__evaluation *evaluation, const weft_operand *operands,
                                 const weft__lang_name *names, bool awaited, weft_array **value);
/* The same on a stream that is given: operands need not be placed together, as lent memory and
 * arrays of the CPU, and what is not reachable from there is an error of the launch. */
weft_status weft__evaluation_run_on(weft__evaluation *evaluation, const weft_operand *operands,
                                    weft_stream *stream, weft_array **value);
/* The same, if the operands are those of the last run and nothing has to be decided anew: one
 * launch, whose outcome is in *status. If it is false, nothing was done. */
bool weft__evaluation_repeat(weft__evaluation *evaluation, const weft_operand *operands, int count,
                             weft_status *status);

/* Runs a call site, as weft_evaluate_site and weft_new_site do. */
weft_status weft__site_run(const char *site, size_t length, int count, const weft_operand *operands,
                           bool wants_value, weft_array **value);
/* Runs code, as weft_evaluate and weft_evaluate_new do. What this thread ran lately is not parsed
 * again. */
weft_status weft__evaluate_text(const char *code, int count, const char *const *names,
                                const weft_operand *operands, bool wants_value, weft_array **value);

#endif
