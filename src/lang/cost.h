/* How much of a kernel the nodes of a program take. */
#ifndef WEFT_LANG_COST_H
#define WEFT_LANG_COST_H

#include "lang/lang.h"

/* Values of the kernel IR that the node becomes, once its arguments are there: about, for what is
 * no MAP. */
uint32_t weft__node_cost(const weft__lang_program *program, int32_t node);

#endif
