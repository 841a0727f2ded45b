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
    uint64_t *numbers; /* that depend on shapes */
    uint32_t operands_count, scalars_count, numbers_count;
    void *memory;             /* of the lists */
    weft__prepared *prepared; /* of the last run, or NULL */
} weft__lowered;

/* Lowers kernel `kernel` of the schedule. Fails with WEFT_ERROR_UNSUPPORTED for what a kernel
 * cannot hold yet. Free it also when it fails. */
weft_status weft__lang_lower(const weft__lang_program *program, const weft__schedule *schedule,
                             uint32_t kernel, weft__lowered *lowered);
void weft__lowered_free(weft__lowered *lowered);

#endif
