/* Memory that was lent with a deleter: each piece once, or it would be freed twice. */
#ifndef WEFT_CORE_LENT_H
#define WEFT_CORE_LENT_H

#include "core/buffer.h"

/* Remembers that the buffer's memory will be deleted with it; false if another buffer's will be. */
bool weft__lent_add(weft__buffer *buffer);
/* The memory is about to be deleted. */
void weft__lent_remove(weft__buffer *buffer);
void weft__lent_fork(weft__fork_stage stage);

#endif
