/* Random numbers: what the files of that name share. */
#ifndef WEFT_OPS_RANDOM_H
#define WEFT_OPS_RANDOM_H

#include "core/array.h"
#include "kernel/random.h"
#include <weft/random.h>

/* What is drawn, checked: the parameters as the kernels' scalars. */
typedef struct weft__drawing {
    weft__distribution distribution;
    weft_dtype dtype;
    int parameters_count;
    uint64_t parameters[WEFT__RANDOM_PARAMETERS_MAX];
} weft__drawing;

/* Checks and rounds the parameters; the dtype is set. */
weft_status weft__drawing_uniform(weft__drawing *drawing, double low, double high);
weft_status weft__drawing_normal(weft__drawing *drawing, double mean, double deviation);
weft_status weft__drawing_integers(weft__drawing *drawing, const weft_operand *low,
                                   const weft_operand *high);

/* Gives every element of a new array its number, as the next call of the generator. */
weft_status weft__draw(weft_array *array, const weft__drawing *drawing, weft_random *random);

/* This thread's. */
weft_random *weft__random_own(void);
/* An error if its seed should come from the environment, and cannot be read. */
weft_status weft__random_usable(void);

#endif
