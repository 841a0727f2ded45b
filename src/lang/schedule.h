/* Cutting a program into kernels: what must be in memory before something else can be computed. */
#ifndef WEFT_LANG_SCHEDULE_H
#define WEFT_LANG_SCHEDULE_H

#include "lang/pieces.h"

/* Memory that kernels of a program read or write, as a number: an operand (0 to 255) as it was
 * before the program, or as a result; 256 + an operand: as an earlier kernel has left it; the value
 * asked for; or a temporary: WEFT__PLACE_TEMPORARY minus its number. */
enum {
    WEFT__PLACE_ASSIGNED = WEFT__LANG_OPERANDS_MAX,
    WEFT__PLACE_VALUE = -1,
    WEFT__PLACE_TEMPORARY = -2,
    WEFT__PLACE_NONE = INT32_MIN
};

/* A node that a kernel stores. */
typedef struct weft__scheduled {
    int32_t node, place;
    int32_t level; /* of its kernel: kernels of one level need nothing of each other */
    bool mean;     /* not the variance at the node but the mean that it needs */
} weft__scheduled;

typedef struct weft__schedule {
    weft__pieces pieces;     /* what kernels after those of its piece need of it is stored */
    weft__scheduled *stores; /* kernel after kernel */
    uint32_t *first; /* the first store of each kernel; one more has the number of all stores */
    uint32_t stores_count, kernels_count, temporaries_count;
    int32_t *level; /* of each node: the first level at which it can be computed */
    int32_t *home;  /* of each node: where it is stored for the levels after its own, or NONE */
    int32_t *mean;  /* the same for the mean of a variance */
    int32_t *fold;  /* of each node: -1, or a FOLD whose kernel it can be computed in: one that it
                       depends on, as well as on others over the same axes of the same shape */
} weft__schedule;

/* Free it also when it fails. */
weft_status weft__schedule_make(const weft__lang_program *program, weft__schedule *schedule);
void weft__schedule_free(weft__schedule *schedule);

/* Whether the FOLD takes two passes. */
bool weft__fold_has_mean(const weft__lang_node *fold);

#endif
