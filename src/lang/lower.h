/* From typed programs to kernels. */
#ifndef WEFT_LANG_LOWER_H
#define WEFT_LANG_LOWER_H

#include "kernel/build.h"
#include "kernel/prepared.h"
#include "lang/schedule.h"

/* One kernel of a program, with what its operands and scalars are. */
typedef struct weft__lowered {
    weft__builder builder;
    weft_shape space;
    int32_t *operands; /* of each kernel operand: its place, as in schedule.h */
    int32_t *scalars;  /* of each run-time scalar: the program's operand, times 2, plus the part; or
                          -1 minus the position in `numbers` */
    uint64_t *numbers; /* known when it was lowered */
    uint32_t operands_count, scalars_count, numbers_count;
    void *memory;             /* of the lists */
    weft__prepared *prepared; /* of the last run, or NULL */
} weft__lowered;

/* Lowers all kernels of the schedule, in time and memory in proportion to the program. Fails with
 * WEFT_ERROR_UNSUPPORTED for what a kernel cannot hold. `kernels` is zero before; free them
 * also when it fails. In a program of several pieces literals are scalars of the launch, so that
 * pieces that differ in those alone are one kernel. */
weft_status weft__lang_lower(const weft__lang_program *program, const weft__schedule *schedule,
                             weft__lowered *kernels);
void weft__lowered_free(weft__lowered *lowered);
/* The dtype that a value has in a place: temporaries hold f16 and bf16 as what they are computed
 * in, so that no result depends on where a program is cut. */
weft_dtype weft__lower_stored(int32_t place, weft_dtype dtype);
static inline bool weft__lowered_is_output(const weft__lowered *lowered, uint32_t operand)
{
    return lowered->builder.kernel.operands[operand].output;
}

#endif
