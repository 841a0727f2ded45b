/* Values that can be left out where nobody needs them. */
#ifndef WEFT_CODEGEN_SKIP_H
#define WEFT_CODEGEN_SKIP_H

#include "kernel/ir.h"

/* Values that only one side of selects with the same condition needs, and that are much work: they
 * are skipped where no lane takes that side. */
typedef struct weft__skip {
    uint32_t condition;
    uint32_t first; /* the first of the selects, before which the values are computed */
    uint8_t side;   /* the argument of the selects: 1 or 2 */
} weft__skip;

enum { WEFT__SKIPS_MOST = 32 };

typedef struct weft__skips {
    const weft__kernel *kernel;
    const uint8_t *needed; /* of each value; 0: it is not computed */
    const uint8_t *level;  /* of each value: those whose level is … */
    uint8_t point;         /* … this are looked at */
    uint8_t *skip;         /* of each value: 0, or 1 + the innermost of `skips` that it is in */
    weft__skip skips[WEFT__SKIPS_MOST];
    int count;
} weft__skips;

/* Fills `skip`, which is all 0, and `skips`. The room is for three numbers a value, all 0. */
void weft__skips_find(weft__skips *skips, uint32_t *room);

#endif
