/* Memory for machine code: written first, then run and read. */
#ifndef WEFT_CODEGEN_EXECUTABLE_H
#define WEFT_CODEGEN_EXECUTABLE_H

#include "core/status.h"

/* Without memory there is nothing to free. */
typedef struct weft__executable {
    char *memory;
    size_t bytes;
} weft__executable;

/* Memory that is zero and can be written. */
weft_status weft__executable_new(size_t bytes, weft__executable *executable);
/* From now on it can be run, and not be written. */
weft_status weft__executable_finish(const weft__executable *executable);
void weft__executable_free(const weft__executable *executable);

#endif
