/* A kernel of a program that is being lowered: shared by the files that do it. */
#ifndef WEFT_LANG_LOWERING_H
#define WEFT_LANG_LOWERING_H

#include "lang/lower.h"

/* Values of a kernel with reductions come in two kinds: those at each point, which are folded, and
 * those at each point that is left. A node may be needed as both. Other kernels have the second
 * kind alone. */
typedef enum weft__phase { WEFT__PHASE_POINTS, WEFT__PHASE_RESULTS, WEFT__PHASES } weft__phase;

typedef struct weft__lowering_of {
    const weft__lang_program *program;
    const weft__schedule *schedule;
    weft__lowered *out;
    int32_t level;
    int32_t fold;  /* a FOLD node of the kernel, or -1 */
    uint32_t mark; /* of the kernel: what has another one is of an earlier kernel */
    uint32_t *wanted[WEFT__PHASES];  /* of each node that is needed: 4 marks, plus 1 for its value,
                                        plus 2 for the mean of a variance */
    uint32_t *lowered[WEFT__PHASES]; /* the mark, if the next is set */
    weft__element *values[WEFT__PHASES]; /* what it has become */
    uint8_t *varies;                     /* of each node: whether it changes in a loop */
    weft_status status;                  /* of what cannot return one */
} weft__lowering_of;

/* The axis of the index space that is `back` axes before the last one of a value in this phase. */
int weft__lower_axis(const weft__lowering_of *l, weft__phase phase, int back);
/* A load from a place; its axes are those of a value in this phase. */
weft__element weft__lower_load(weft__lowering_of *l, weft__phase phase, int32_t place,
                               weft_dtype dtype);
/* The kernel operand for that. */
int weft__lower_operand(weft__lowering_of *l, weft__phase phase, int32_t place, weft_dtype dtype,
                        bool output);
/* A number that depends on shapes: a scalar of the launch. */
int32_t weft__lower_count(weft__lowering_of *l, weft_dtype dtype, int64_t number);
/* An operand that is displaced. `constant` is NULL unless the boundary is one. */
weft__element weft__lower_shift(weft__lowering_of *l, weft__phase phase,
                                const weft__lang_node *node, int32_t place,
                                const weft__element *constant);
/* lower_loop.c: a part of a loop; an element at any position. Their arguments are lowered. */
void weft__lower_loop(weft__lowering_of *l, weft__phase phase, const weft__lang_node *node,
                      weft__element *element);
weft__element weft__lower_gather(weft__lowering_of *l, weft__phase phase,
                                 const weft__lang_node *node);
/* Which nodes change in the loop that is entered at that position of the order; returns where it
 * ends. */
uint32_t weft__lower_varies(const weft__lowering_of *l, uint32_t enter, uint32_t end);
/* A reduction, or the mean that it needs; its argument is lowered. */
weft_status weft__lower_fold(weft__lowering_of *l, int32_t node, bool mean, weft__element *element);

#endif
