/* Portable kernels: their bodies become programs whose operands are views of the arguments.
 *
 *     weft__lang_parse_kernel    text -> syntax with indices and elements
 *     weft__portable_rewrite     syntax, the arguments' types and an index space -> syntax of an
 *                                expression over arrays that all have the shape of the space
 *
 * in(i-1, j) is shift(in, -1, 0) where it may leave its array, else a view of it; the map of an
 * element, affine in the indices, is known in full before the launch, and so are its bounds. */
#ifndef WEFT_LANG_PORTABLE_H
#define WEFT_LANG_PORTABLE_H

#include "lang/syntax.h"

typedef enum weft__portable_form {
    WEFT__PORTABLE_NUMBER,
    WEFT__PORTABLE_ELEMENTS, /* one index for each axis of the argument */
    WEFT__PORTABLE_LINEAR,   /* one index: the position in C order */
    WEFT__PORTABLE_WHOLE,    /* all elements, by their positions in C order, of any point */
    WEFT__PORTABLE_RESHAPED /* the same where the index space has axes: the argument in its shape */
} weft__portable_form;

/* An operand of the program: a number, or for each point of the space an element of an argument. */
typedef struct weft__portable_operand {
    int32_t argument;
    uint8_t form;
    bool written;
    bool before; /* as the argument was, though elements of it are written */
    uint8_t subscripts;
    int64_t offset[WEFT_NDIM_MAX];              /* of each subscript */
    int64_t step[WEFT_NDIM_MAX][WEFT_NDIM_MAX]; /* subscript, axis of the points */
} weft__portable_operand;

/* A kernel for arguments of certain types. */
typedef struct weft__portable_program {
    weft__lang_syntax *syntax;        /* refers to the texts of the one it was made from */
    weft__portable_operand *operands; /* in the order of the syntax's names */
    uint32_t operands_count, operands_room;
    weft_shape points; /* the index space, or the number of its points for linear indexing */
    bool relied[WEFT__LANG_OPERANDS_MAX]; /* of each argument: a number that conditions are made of
                                             which keep elements inside; also if it failed */
} weft__portable_program;

/* Between which integers the elements of an argument are. */
typedef struct weft__portable_range {
    int64_t low, high;
} weft__portable_range;

/* Numbers that indices are made of: fixed[k] says whether argument k is one, so that the program
 * depends on its value; positions[k], if not NULL, whether it is an array whose elements are.
 * *unused, if not NULL, becomes an element that nothing is made of, if there is one. */
weft_status weft__portable_fixed(const weft__lang_syntax *syntax, bool *fixed, bool *positions,
                                 int32_t *unused);
/* `numbers[k]` is the value of argument k if that is an integer, else NULL. `ranges`, of the
 * arguments, are for elements that are positions of others; NULL: there are none. `strict`: an
 * element outside of its array is an error, whatever its boundary. Free the program also when it
 * fails. */
weft_status weft__portable_rewrite(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                   const int64_t *const *numbers,
                                   const weft__portable_range *ranges, const weft_shape *space,
                                   bool strict, weft__portable_program *program);
void weft__portable_free(weft__portable_program *program);

#endif
