/* What a kernel computes several times, of other values each time: an operation that becomes many
 * primitives becomes the same ones wherever it is written. */
#ifndef WEFT_CODEGEN_LLVM_REPEAT_H
#define WEFT_CODEGEN_LLVM_REPEAT_H

#include "codegen/llvm/survey.h"

enum { WEFT__REPEATS_MOST = 16, WEFT__REPEAT_INPUTS = 8, WEFT__REPEAT_OUTPUTS = 6 };

/* Primitives that follow each other, constants and what is the same for all points aside. */
typedef struct weft__repeat {
    uint32_t length; /* values of each time */
    uint32_t begin;  /* of the first time, in `order` */
    uint32_t count;  /* times */
    int inputs, outputs;
    uint32_t output[WEFT__REPEAT_OUTPUTS]; /* which of the values are used elsewhere, any time */
} weft__repeat;

typedef struct weft__repeats {
    const weft__survey *survey;
    void *memory;       /* that the tables below are in */
    uint32_t *order;    /* the values that may be in a repeat, in order */
    uint32_t *last_use; /* of each of them: the last that uses it; UINT32_MAX: another value */
    uint32_t *stretch;  /* of each of them: nothing is stored or folded between those of one */
    uint8_t *taken;     /* of each of them: 0, or 1 + the repeat that it is in … */
    uint8_t *begins;    /* … and whether it is the first of one time */
    int32_t *place;     /* of each value of the kernel: where it is in `order`, or -1 */
    uint8_t *fixed; /* of each value of the kernel: 0, or 1 + how many operations deep it is made of
                       constants alone */
    uint32_t order_count;
    int count;
    weft__repeat repeat[WEFT__REPEATS_MOST];
} weft__repeats;

/* Finds those that are worth a function, if there are any. Ends with weft__repeats_free. */
weft_status weft__repeats_find(const weft__survey *survey, weft__repeats *repeats);
void weft__repeats_free(weft__repeats *repeats);

/* The values that the time of a repeat which begins at `begin` takes from outside, in the order of
 * the first time. */
void weft__repeat_inputs(const weft__repeats *repeats, const weft__repeat *repeat, uint32_t begin,
                         int32_t *inputs);

#endif
