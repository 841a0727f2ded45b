/* The language of expressions: text in, typed program out.
 *
 *     weft__lang_parse   code and the texts of the operands -> syntax; knows no types, can be kept
 *     weft__lang_check   syntax and the types of the operands -> program
 *     weft__lang_split   "a, s->u, n" -> the texts of the operands
 *
 * An error has a caret under the column of the code where it was found. Nothing recurses on the
 * user's text; sizes beyond the bounds below are errors.
 *
 * A program is an array of nodes in the order of evaluation: a node's arguments come before it, and
 * its position is its name. Locals are gone (their readers point at the value), and so is what can
 * be written with something simpler:
 *
 *     a > b, a >= b              b < a, b <= a
 *     a && b, a || b, !a         bitwise_and, bitwise_or, bitwise_not, of bool
 *     x ? y : z                  where
 *     +a                         a
 *     c += a                     c = c + a
 *     min(a, b, c)               minimum(minimum(a, b), c)
 *     forward_diff, laplacian    shift, subtract, multiply
 *
 * Conversions are nodes (CAST): the arguments of an operation have the same dtype, except the
 * condition of where, which is bool. Broadcasting is none: the shapes of the arguments broadcast to
 * that of the node. */
#ifndef WEFT_LANG_LANG_H
#define WEFT_LANG_LANG_H

#include "kernel/ir.h"
#include "lang/operations.h"
#include <weft/operand.h>
#include <weft/shape.h>

enum {
    WEFT__LANG_TEXT_MAX = 64 << 20, /* bytes of code */
    WEFT__LANG_NODES_MAX = 1 << 20, /* nodes of a syntax; a program has at most 4 times as many */
    WEFT__LANG_DEPTH_MAX = 10000,   /* parentheses, calls and operators that are open at once */
    WEFT__LANG_OPERANDS_MAX = 256,
    WEFT__LANG_OPERAND_TOKENS_MAX = 256
};

/* A piece of text that the caller keeps; it need not end with a NUL. */
typedef struct weft__lang_name {
    const char *text;
    size_t length;
} weft__lang_name;

/* The type of an operand. */
typedef struct weft__lang_operand {
    uint8_t tag;   /* weft_operand_tag */
    uint8_t dtype; /* weft_dtype; of a number: its C type */
    bool unset;    /* an array without memory yet: the first assignment gives it the shape, and the
                      dtype if that is WEFT_DTYPE_DEFAULT */
    bool typed;    /* a number of exactly that dtype, as an array would be */
    bool computed; /* a number of a function's own: what does not fit into a dtype is cut */
    weft_shape shape; /* of an array */
} weft__lang_operand;

typedef enum weft__lang_kind {
    WEFT__NODE_LITERAL, /* `literal`, of type `dtype` */
    WEFT__NODE_OPERAND, /* the elements of array `operand` as they were before the program, or the C
                           number `operand`: the field of weft_operand.value that `dtype` says
                           (weak: bool, i64, u64, f64 or c128) */
    WEFT__NODE_CAST,    /* argument 0 as `dtype`; to f16 or bf16 it rounds, even from these */
    WEFT__NODE_BROADCAST, /* argument 0 repeated to the node's shape: what a reader of an assigned
                             operand sees */
    WEFT__NODE_INDEX,  /* i64: the position along an axis, which is `axis` axes before the last one
                          of whatever the value is used in */
    WEFT__NODE_SHIFT,  /* operand `operand` displaced by shifts[shift]. Argument 0 is its value at
                          this point: an OPERAND node, or something else if the program has assigned
                          to it (assignments[].node) before; then that must have been stored first.
                          Argument 1, for WEFT__BOUNDARY_CONSTANT: the value out of bounds */
    WEFT__NODE_MAP,    /* `operation`, element by element */
    WEFT__NODE_FOLD,   /* reduction `operation` of argument 0 over `axes` */
    WEFT__NODE_GATHER, /* the element of operand `operand`, which has the shape shapes[shift], at
                          the positions that the arguments are */
    WEFT__NODE_LOOP    /* `operation` is a weft__loop_part */
} weft__lang_kind;

/* Loops of portable kernels that loops of a function have become. The parts of one follow each
 * other in this order, with what they need between them; that is computed once for each round, from
 * ENTER to END, or before the loop if it depends on no part of it. */
typedef enum weft__loop_part {
    WEFT__LOOP_CARRY, /* argument 0 at first, then what its NEXT says */
    WEFT__LOOP_ENTER,
    WEFT__LOOP_TEST,  /* leaves where argument 0, a bool, is false; argument 1 is ENTER */
    WEFT__LOOP_NEXT,  /* the CARRY argument 0 becomes argument 1; argument 2: the part before */
    WEFT__LOOP_END,   /* argument 0: the part before */
    WEFT__LOOP_RESULT /* what the CARRY argument 0 is afterwards; argument 1: END */
} weft__loop_part;

/* In the field for the dtype, as in weft_operand. */
typedef union weft__lang_literal {
    int64_t i;
    uint64_t u; /* unsigned integers and bool */
    double f;   /* every float */
    double complex_[2];
} weft__lang_literal;

typedef struct weft__lang_node {
    uint8_t kind;  /* weft__lang_kind */
    uint8_t dtype; /* weft_dtype. f16 and bf16 are computed in f32, and round when cast or stored */
    bool weak;     /* made of untyped literals and C numbers only: has no axes, is computed as bool,
                      i64, u64, f64 or c128, and is the same for all elements; in loops of a
                      function also what is made of their indices */
    uint8_t axes;  /* FOLD: bit k is set if axis k of the argument is folded */
    bool keep;     /* FOLD: folded axes stay, with size 1 */
    uint8_t axis;  /* INDEX */
    uint8_t order; /* FOLD, norm: 1, 2, or 0 for infinity */
    uint8_t operation;   /* weft__lang_operation of a MAP or FOLD */
    uint16_t operand;    /* OPERAND, SHIFT */
    uint16_t correction; /* FOLD, var and std */
    uint32_t column;     /* offset in the code */
    int32_t shape;       /* position in `shapes` */
    int32_t shift;       /* SHIFT: position in `shifts` */
    int32_t argument[3]; /* positions of earlier nodes, -1 where there is none */
    weft__lang_literal literal;
} weft__lang_node;

typedef struct weft__lang_shift {
    int64_t offset[WEFT_NDIM_MAX]; /* along each axis of the operand */
    uint8_t boundary;              /* weft__boundary */
} weft__lang_shift;

/* Operand `operand` gets the value of `node`, which has the operand's dtype and shape. A number is
 * repeated by a BROADCAST node; f16 and bf16 have been rounded by a CAST. */
typedef struct weft__lang_assignment {
    int32_t operand, node;
    uint32_t column;
    bool last; /* none to the same operand follows */
} weft__lang_assignment;

typedef struct weft__lang_program {
    weft__lang_node *nodes;
    weft_shape *shapes; /* the first one is that of a number */
    weft__lang_shift *shifts;
    weft__lang_assignment *assignments;
    uint32_t nodes_count, shapes_count, shifts_count, assignments_count;
    uint32_t nodes_room, shapes_room, shifts_room, assignments_room;
    int32_t value;                           /* the node of the value asked for, or -1 */
    uint8_t limits[WEFT__LANG_OPERANDS_MAX]; /* of each C number: bit k is set if it must be within
                                                the range of dtype WEFT_I8 + k */
} weft__lang_program;

typedef struct weft__lang_syntax weft__lang_syntax;

/* Parses `code`. With `wants_value` the last statement is an expression, the value. The texts are
 * copied. Fails with WEFT_ERROR_SYNTAX for what can be said without types: grammar, unknown names,
 * operands that are never used, locals that are never read, a program without effect. */
weft_status weft__lang_parse(const char *code, size_t length, const weft__lang_name *names,
                             int count, bool wants_value, weft__lang_syntax **syntax);
/* The same for the body of a portable kernel, whose elements are written a(i, j): see portable.h.
 */
weft_status weft__lang_parse_kernel(const char *code, size_t length, const weft__lang_name *names,
                                    int count, weft__lang_syntax **syntax);
/* The same for what a loop of a function has become. Its statements may also be loops of what has
 * been assigned before, which they may assign again: "weft_loop x y; …; weft_test condition; …;
 * weft_end". What it assigns for the first time is not there afterwards. Indices need not be
 * affine. */
weft_status weft__lang_parse_loop(const char *code, size_t length, const weft__lang_name *names,
                                  int count, weft__lang_syntax **syntax);
/* The same for one statement of a function: the text of `code` from `begin` on. Operands may be
 * elements too (ACCESS nodes). Code and names are not copied, and must outlive the syntax. */
weft_status weft__lang_parse_part(weft__lang_name code, size_t begin, const weft__lang_name *names,
                                  int count, bool wants_value, weft__lang_syntax **syntax);
void weft__lang_syntax_free(weft__lang_syntax *syntax);

/* Checks a syntax against the types of its operands, in the order of the names. The syntax is only
 * read. Fails with WEFT_ERROR_DTYPE, WEFT_ERROR_SHAPE, or WEFT_ERROR_ARGUMENT for an assignment to
 * an operand that cannot be written. */
weft_status weft__lang_check(const weft__lang_syntax *syntax, const weft__lang_operand *operands,
                             weft__lang_program **program);
void weft__lang_free(weft__lang_program *program);

/* Cuts the text of a macro's variable arguments at its commas, as the preprocessor did; the names
 * point into it. An error if their number is not `count`. */
weft_status weft__lang_split(const char *text, size_t length, int count, weft__lang_name *names);

#endif
