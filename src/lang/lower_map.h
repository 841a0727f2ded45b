/* Element-by-element operations in primitives. */
#ifndef WEFT_LANG_LOWER_MAP_H
#define WEFT_LANG_LOWER_MAP_H

#include "kernel/build.h"
#include "lang/operations.h"

/* The result of the operation, whose arguments have one dtype (but where's condition); false if
 * there is no expansion for it yet. */
bool weft__lower_map(weft__builder *builder, weft__lang_operation operation, weft_dtype dtype,
                     const weft__element *arguments, weft__element *result);

#endif
