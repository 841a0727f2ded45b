/* Building kernels: values are added one after the other, each known by its number. */
#ifndef WEFT_KERNEL_BUILD_H
#define WEFT_KERNEL_BUILD_H

#include "kernel/ir.h"

enum { WEFT__BUILD_VALUES = 96, WEFT__BUILD_OPERANDS = 4, WEFT__BUILD_SHIFTS = 2 };

/* Begins with room of its own and grows when that is full. If memory runs out, what is built is
 * useless and weft__build_finish says so; until then every call is harmless. */
typedef struct weft__builder {
    weft__kernel kernel;
    bool failed; /* memory ran out */
    weft__value values[WEFT__BUILD_VALUES];
    weft__kernel_operand operands[WEFT__BUILD_OPERANDS];
    weft__kernel_shift shifts[WEFT__BUILD_SHIFTS];
} weft__builder;

/* An element: one value, or two for a complex number. */
typedef struct weft__element {
    int32_t part[2];
    weft_dtype dtype; /* as in memory: f16 and c64 too */
} weft__element;

void weft__build_begin(weft__builder *builder);
/* Fails if memory ran out while building. */
weft_status weft__build_finish(const weft__builder *builder);
/* Frees what was grown. */
void weft__build_free(weft__builder *builder);
/* The number of the new operand. */
int weft__build_operand(weft__builder *builder, weft_dtype dtype, bool output);
/* Each gives the number of the new value. */
int32_t weft__build(weft__builder *builder, weft__op op, weft_dtype dtype, int32_t a, int32_t b,
                    int32_t c);
/* A bitcast of a float that leaves open what the bits of a NaN are: no result may depend on them.
 */
int32_t weft__build_raw_bitcast(weft__builder *builder, weft_dtype dtype, int32_t a);
int32_t weft__build_constant(weft__builder *builder, weft_dtype dtype, uint64_t bits);
int32_t weft__build_scalar(weft__builder *builder, weft_dtype dtype);
/* A fold: `kind` is a weft__op or a weft__fold_kind, b is a unless that has two arguments; then
 * part 1 is the value after the one returned, of type `dtype_1`. */
int32_t weft__build_fold(weft__builder *builder, int kind, weft_dtype dtype, weft_dtype dtype_1,
                         int32_t a, int32_t b);
int32_t weft__build_index(weft__builder *builder, int axis);

weft__element weft__build_load(weft__builder *builder, int operand);
/* The operand displaced; `constant` (else NULL) is for that boundary, and has the operand's dtype.
 */
weft__element weft__build_shifted(weft__builder *builder, int operand,
                                  const weft__kernel_shift *shift, const weft__element *constant);
/* The element at a position, an i64, of an operand without strides. */
weft__element weft__build_gather(weft__builder *builder, int operand, int32_t position);
/* If `condition`, that element becomes the value, which has the operand's value type. */
void weft__build_scatter(weft__builder *builder, int operand, int32_t position, int32_t value,
                         int32_t condition);
/* A value that says how a loop goes; see ir.h. */
int32_t weft__build_flow(weft__builder *builder, weft__op op, weft_dtype dtype, int32_t a,
                         int32_t b);
void weft__build_store(weft__builder *builder, int operand, weft__element element);
/* Any dtype to any other, rounding once: docs/semantics.md. */
weft__element weft__build_convert(weft__builder *builder, weft__element element, weft_dtype to);

#endif
