/* What a fold is added to, or multiplied with, and so on: it decides the type that is folded in. */
#ifndef WEFT_FUNCTION_ACCUMULATOR_H
#define WEFT_FUNCTION_ACCUMULATOR_H

#include "function/nest.h"

/* The accumulator of a fold in this call. */
weft__nest_accumulator weft__accumulator_of(const weft__running *r, const weft__function_nest *nest,
                                            int fold);
/* The dtype that the term becomes before it is folded, or WEFT_DTYPE_DEFAULT: its own. False if
 * folding gives something else than the loop, whatever the order. */
bool weft__accumulator_cast(const weft__function_nest *nest, int fold,
                            weft__nest_accumulator accumulator, const weft__lang_node *term,
                            uint8_t *cast);
/* Whether the value that comes out would have been cut on the way. */
bool weft__accumulator_overflows(weft__nest_accumulator accumulator, uint8_t operation,
                                 const weft_operand *value);

#endif
