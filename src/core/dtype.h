/* Element types: what the layers above need beside the public part. */
#ifndef WEFT_CORE_DTYPE_H
#define WEFT_CORE_DTYPE_H

#include <weft/dtype.h>

/* A number of one rank becomes one of the same or a higher rank without a cast. */
typedef enum weft__rank {
    WEFT__RANK_BOOL,
    WEFT__RANK_INTEGER,
    WEFT__RANK_FLOAT,
    WEFT__RANK_COMPLEX
} weft__rank;
weft__rank weft__dtype_rank(weft_dtype dtype);
/* As NumPy writes it, in the byte order of this machine: "<f4", "|b1"; of bf16, which NumPy does
 * not have, "<V2". */
void weft__dtype_typestr(weft_dtype dtype, char text[8]);
/* Records that a value is no dtype, as operand "dtype". */
weft_status weft__fail_dtype(weft_dtype dtype);

#endif
