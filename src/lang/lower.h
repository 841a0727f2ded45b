/* From typed programs to kernels. */
#ifndef WEFT_LANG_LOWER_H
#define WEFT_LANG_LOWER_H

#include "kernel/build.h"
#include "lang/lang.h"

/* A result of a program: an operand, or the value asked for (operand -1). */
typedef struct weft__lang_result_of {
    int32_t operand, node;
} weft__lang_result_of;

/* One kernel of a program, with what its operands and scalars are. */
typedef struct weft__lowered {
    weft__builder builder;
    weft_shape space;
    int32_t *operands; /* of each kernel operand: the program's operand; -1: the value asked for */
    int32_t *scalars;  /* of each run-time scalar: the program's operand, times 2, plus the part */
    uint32_t operands_count, scalars_count;
    weft__element *values; /* of each node; scratch */
} weft__lowered;

/* Lowers the results, which all have one shape, into one kernel. Fails with WEFT_ERROR_UNSUPPORTED
 * for what a kernel cannot hold yet. Free it also when it fails. */
weft_status weft__lang_lower(const weft__lang_program *program, const weft__lang_result_of *results,
                             uint32_t count, weft__lowered *lowered);
void weft__lowered_free(weft__lowered *lowered);

#endif
