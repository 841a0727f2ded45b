/* Launching kernels: plans of portable ones, C functions, texts. */
#ifndef WEFT_LANG_LAUNCH_H
#define WEFT_LANG_LAUNCH_H

#include "lang/evaluate.h"
#include "lang/portable.h"
#include <weft/kernel.h>

/* A portable kernel, parsed. */
typedef struct weft__launch_kernel {
    char *text; /* a copy of what follows */
    weft__lang_name name, parameters, body;
    weft__lang_name names[WEFT__LANG_OPERANDS_MAX]; /* of the parameters */
    bool fixed[WEFT__LANG_OPERANDS_MAX];            /* indices are made of that number */
    int count;
    weft__lang_syntax *syntax;
} weft__launch_kernel;

/* A portable kernel for arguments of certain types over a certain space. Used by one thread at a
 * time, as its evaluation is. */
typedef struct weft__launch_plan {
    weft_shape space;
    weft__lang_operand *types; /* of the arguments */
    int64_t *values;           /* of those that are fixed */
    weft__portable_program program;
    weft__lang_name *names; /* of the program's operands: the arguments that they are of */
    weft__evaluation *evaluation;
} weft__launch_plan;

/* Fails unless what every kernel has is there, and its struct has all fields. */
weft_status weft__launch_check_kernel(const weft_kernel *kernel);
/* Parses, for so many arguments. Free it also when it fails. */
weft_status weft__launch_kernel_open(const weft_kernel *kernel, int count,
                                     weft__launch_kernel *opened);
void weft__launch_kernel_close(weft__launch_kernel *opened);
/* Fails unless the kernel has that many parameters. */
weft_status weft__launch_check_count(const weft_kernel *kernel, const weft__launch_kernel *opened,
                                     int count);

weft_status weft__launch_plan_new(const weft__launch_kernel *kernel, const weft_shape *space,
                                  const weft_operand *arguments, weft__launch_plan **made);
void weft__launch_plan_free(weft__launch_plan *plan);
bool weft__launch_plan_fits(const weft__launch_plan *plan, const weft__launch_kernel *kernel,
                            const weft_shape *space, const weft_operand *arguments);
weft_status weft__launch_plan_run(const weft__launch_plan *plan, const weft_operand *arguments);

/* An operand of the program on these arguments, without a reference. `source` is the argument, or a
 * copy whose elements lie one after another; false if it must be one. */
bool weft__launch_view(const weft__launch_plan *plan, uint32_t operand, const weft_array *source,
                       weft_array *view);

/* What is between the outer brackets, if there are any, without blanks around it. */
weft__lang_name weft__launch_inside(weft__lang_name text, char open, char close);
/* Puts the kernel's name before the message of a failure. */
weft_status weft__launch_failed(const weft_kernel *kernel, weft_status status);

/* Places the arrays, which messages call by the parameters' names. */
weft_status weft__launch_place(const weft_kernel *kernel, int count, const weft_operand *arguments,
                               weft_stream **stream);
/* Reads, then writes, of at most twice as many as there are arguments; an array that is not const
 * is both. *bytes is that of all arrays. */
uint32_t weft__launch_uses(int count, const weft_operand *arguments, weft__use *uses,
                           uint64_t *bytes);

/* A text in the language of a device. */
weft_status weft__launch_native(const weft_kernel *kernel, const weft_shape *space, int count,
                                const weft_operand *arguments);
weft_status weft__launch_function(const weft_kernel *kernel, const weft_shape *space, int count,
                                  const weft_operand *arguments);

#endif
