/* Explaining programs and their kernels: what is shared by the files that write the text. */
#ifndef WEFT_LANG_EXPLAIN_H
#define WEFT_LANG_EXPLAIN_H

#include "core/text.h"
#include "lang/evaluate.h"

/* What is explained. */
typedef struct weft__explained {
    weft__text *text;
    const weft__evaluation *evaluation;
    const weft__lang_name *names; /* of the operands */
    weft_array *const *arrays;    /* of the operands; NULL for numbers */
    const char *target;           /* or NULL */
} weft__explained;

/* An error unless the target is NULL or one that exists. */
weft_status weft__explain_target(const char *target);
/* The values of the program, and what is assigned. */
void weft__explain_program(const weft__explained *e);
/* Kernel number k: its operands in memory, its values, and its code. */
weft_status weft__explain_kernel(const weft__explained *e, uint32_t k);
/* The name of a place: "a", "a, assigned", "temporary 0", "the value". */
typedef struct weft__explain_name {
    char text[88];
} weft__explain_name;
weft__explain_name weft__explain_place(const weft__explained *e, int32_t place);

#endif
