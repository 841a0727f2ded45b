/* Element-by-element operations in primitives. */
#ifndef WEFT_LANG_LOWER_MAP_H
#define WEFT_LANG_LOWER_MAP_H

#include "kernel/build.h"
#include "lang/operations.h"

/* The result of an operation that the checker allowed, whose arguments have one dtype (but where's
 * condition). */
void weft__lower_map(weft__builder *builder, weft__lang_operation operation, weft_dtype dtype,
                     const weft__element *arguments, weft__element *result);

#endif
