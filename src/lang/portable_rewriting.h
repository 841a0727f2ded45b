/* A portable kernel that is being rewritten: shared by the files that do it. */
#ifndef WEFT_LANG_PORTABLE_REWRITING_H
#define WEFT_LANG_PORTABLE_REWRITING_H

#include "lang/affine.h"
#include "lang/error.h"
#include "lang/portable.h"

/* What a node is needed for. */
enum { WEFT__NEEDED_AS_VALUE = 1, WEFT__NEEDED_AS_INDEX = 2, WEFT__NEEDED_AS_TARGET = 4 };

typedef struct weft__rewriting {
    const weft__lang_syntax *from;
    const weft__lang_operand *types;
    weft_shape space;
    bool strict, empty; /* empty: the space has no points */
    bool plain; /* one index stands for all points of a space with several axes, and every element
                   is the one at the point itself: the axes stay */
    bool *assigned;  /* of each argument: whether elements of it are written */
    uint8_t *needed; /* of each node */
    weft__affine *forms;
    const int64_t *const
        *numbers; /* of each argument: its value if that is an integer, else NULL */
    const weft__portable_range *ranges; /* of each argument's elements, or NULL */
    int32_t *made;                      /* of each node: what it has become, or -1 */
    bool *guarded;  /* of each element: it is inside where it is used, if not everywhere */
    bool *gathered; /* … and its position is computed */
    bool *varies;   /* of each node: it is not the same at every point */
    weft__portable_program *out;
} weft__rewriting;

#define REWRITE_FAIL(r, column, status, ...)                                                       \
    weft__lang_fail((r)->from->code, (column), (status), __VA_ARGS__)

/* An element in terms of the program. */
typedef struct weft__rewritten {
    int32_t operand;
    bool displaced;
    uint8_t boundary;
    bool moved[WEFT_NDIM_MAX];     /* the constant of that index is not in the map, but … */
    int64_t base[WEFT_NDIM_MAX];   /* … this one, */
    int64_t offset[WEFT_NDIM_MAX]; /* and this displacement along each axis of the points */
} weft__rewritten;

/* Whether every element is the one at the point itself, for a single index; see `plain`. */
bool weft__rewrite_is_plain(const weft__rewriting *r);
/* The operand for an element. */
weft_status weft__rewrite_element(weft__rewriting *r, int32_t access, bool target,
                                  weft__rewritten *element);
/* The operand for an element at any position, which is known to be inside, and the shape that its
 * positions are for. */
weft_status weft__rewrite_gather(weft__rewriting *r, int32_t access, int32_t *operand,
                                 weft_shape *shape);
/* Whether an element that is guarded can be a displaced one. */
bool weft__rewrite_displaces(weft__rewriting *r, int32_t access);
/* guard.c: finds the elements that are guarded. */
weft_status weft__rewrite_guards(weft__rewriting *r);
/* range.c: the smallest and largest value of a node, in a loop that has been entered; false if they
 * are not known. */
bool weft__rewrite_range(const weft__rewriting *r, int32_t node, int64_t *low, int64_t *high);
/* The operand for a number. */
weft_status weft__rewrite_number(weft__rewriting *r, int32_t argument, uint32_t column,
                                 int32_t *operand);
/* "in(i - 1, j)", as it is written at that column. */
weft__lang_name weft__rewrite_text(const weft__rewriting *r, uint32_t column);

#endif
