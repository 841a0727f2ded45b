/* C numbers as scalars of kernels. */
#ifndef WEFT_OPS_NUMBER_H
#define WEFT_OPS_NUMBER_H

#include "kernel/build.h"
#include <weft/operand.h>

/* Checks that a C number can become an element of the dtype: its kind is not above the dtype's (2.5
 * is no i32), and an integer is within its range. */
weft_status weft__number_check(const weft_operand *number, weft_dtype dtype);
/* Whether an integer is within the range of a dtype of integers. */
bool weft__number_fits(const weft_operand *number, weft_dtype dtype);
/* Adds the number to the kernel as run-time scalars, whose bits it writes to `scalars` from
 * position kernel.scalars_count on; room for two. The element has a 64-bit dtype or bool; or, if
 * `to`, what it will be converted to, is computed in f32, a float is an f32 that gives the same. */
weft__element weft__number_build(weft__builder *builder, const weft_operand *number, weft_dtype to,
                                 uint64_t *scalars);

#endif
