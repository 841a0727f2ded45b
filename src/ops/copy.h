/* Copying between arrays: what other operations need of it. */
#ifndef WEFT_OPS_COPY_H
#define WEFT_OPS_COPY_H

#include "core/array.h"

/* A new array as the options say, with source's elements; dtype and placement default to source's.
 */
weft_array *weft__copy_new(weft_array *source, const weft_options *options);
/* As weft__move. A copy to or from another device counts there. */
weft_status weft__copy_counted(weft_array *target, weft_array *source, weft_stream *stream);
/* The elements in C order into host memory of exactly that size; waits. */
weft_status weft__copy_to_host(weft_array *array, void *data, size_t bytes);
/* The first element as a number of that dtype; waits. */
weft_status weft__item(weft_array *array, void *out, weft_dtype dtype);
/* Gives every element the number, which was checked for the array's dtype. */
weft_status weft__fill_run(weft_array *array, const weft_operand *number, weft_stream *stream);

#endif
