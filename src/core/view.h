/* Views: what other layers need of them. */
#ifndef WEFT_CORE_VIEW_H
#define WEFT_CORE_VIEW_H

#include "core/array.h"

/* A view of the array's memory that begins `offset` bytes after its first element. */
weft_array *weft__view_of(const weft_array *array, int64_t offset, const weft_shape *shape,
                          const int64_t *strides);
/* Whether the shape, of as many elements, fits the memory in place; then its strides. */
bool weft__reshape_strides(const weft_array *array, const weft_shape *shape, int64_t *strides);

#endif
