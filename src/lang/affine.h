/* Affine forms of the indices of a portable kernel: what the index of an element may be. */
#ifndef WEFT_LANG_AFFINE_H
#define WEFT_LANG_AFFINE_H

#include "lang/syntax.h"

/* constant + factor[0]*i0 + factor[1]*i1 + … */
typedef struct weft__affine {
    bool valid; /* otherwise it is something else, or … */
    bool large; /* … does not fit into 64 bits */
    int64_t constant;
    int64_t factor[WEFT_NDIM_MAX];
} weft__affine;

/* The form of a node, whose arguments have got theirs in `forms`. C numbers are constants here:
 * numbers[k] is that of operand k, an integer; NULL where the operand is none. */
weft__affine weft__affine_of(const weft__lang_syntax *syntax, int32_t node,
                             const weft__affine *forms, const int64_t *const *numbers);
/* The smallest and the largest value over all points of the space, which has some; false if they do
 * not fit into 64 bits. */
bool weft__affine_range(const weft__affine *form, const weft_shape *space, int64_t *low,
                        int64_t *high);
/* The index that the form is, plus a constant; -1 if it is something else. */
int weft__affine_index(const weft__affine *form);

#endif
