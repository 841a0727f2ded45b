/* What the parser makes: nodes without types, in the order of evaluation. */
#ifndef WEFT_LANG_SYNTAX_H
#define WEFT_LANG_SYNTAX_H

#include "core/status.h"
#include "lang/lang.h"

typedef enum weft__syntax_kind {
    WEFT__SYNTAX_LITERAL,
    WEFT__SYNTAX_OPERAND, /* reads operand `index`, as it is at this point of the program */
    WEFT__SYNTAX_CAST,    /* argument 0 as `dtype` */
    WEFT__SYNTAX_CALL,    /* `operation`, an operator or a function */
    WEFT__SYNTAX_INDEX,   /* of a portable kernel: index number `index` at this point */
    WEFT__SYNTAX_ACCESS,  /* of a portable kernel: the element of operand `index` at the arguments;
                             `value.attributes` has the named ones, or is -1 */
    WEFT__SYNTAX_GATHER,  /* the same, with positions of any kind: operand `index` has the shape
                             shapes[value.attributes] */
    WEFT__SYNTAX_LOOP     /* `operation` is a weft__loop_part; arguments as there */
} weft__syntax_kind;

typedef struct weft__syntax_node {
    uint8_t kind;          /* weft__syntax_kind */
    uint8_t operation;     /* weft__lang_operation */
    uint8_t dtype;         /* of a literal: as weft__number; of a cast */
    bool weak;             /* of a literal */
    bool negative;         /* of an integer literal: minus `integer`; of a choice in a loop of a
                              function: both must be of one type, or it is an error */
    uint32_t column;       /* of the operator, the name or the literal */
    uint32_t first, count; /* arguments: positions of earlier nodes, in `arguments` */
    int32_t index;         /* the operand; of a call: its attributes, or -1 */
    union {
        uint64_t integer; /* integers and bool */
        double real;      /* floats; of complex numbers the imaginary part */
        int32_t attributes;
    } value;
} weft__syntax_node;

/* The named arguments of a call. */
typedef struct weft__syntax_attributes {
    uint32_t column; /* of the first axis */
    int32_t axis[WEFT_NDIM_MAX];
    uint8_t axes; /* how many; 0: not given */
    bool keep;
    uint8_t boundary; /* weft__boundary */
    bool bounded;     /* boundary= or value= was given */
    uint8_t order;
    uint16_t correction;
    int32_t value; /* the node of value=, or -1; with WEFT__BOUNDARY_CONSTANT, -1 is 0 */
} weft__syntax_attributes;

enum { WEFT__TARGET_LOCAL = -1, WEFT__TARGET_VALUE = -2 };

typedef struct weft__syntax_statement {
    int32_t target; /* an operand or one of the above */
    int32_t node;
    uint32_t column; /* of the statement */
    uint32_t end;    /* the nodes before this position are evaluated before the assignment */
    int32_t access;  /* of a portable kernel: the ACCESS that is assigned to, or -1 */
    int32_t under;   /* of a loop's kernel: 1 + the condition that a local is set under, or 0 */
} weft__syntax_statement;

struct weft__lang_syntax {
    char *text; /* a copy of all texts, each followed by a NUL */
    weft__lang_name code;
    weft__lang_name *names;
    int names_count;
    weft__lang_name indices[WEFT_NDIM_MAX]; /* of a portable kernel, in the order of the axes */
    int indices_count;
    uint8_t boundary;  /* of its accesses that say nothing else */
    bool loop;         /* it is of a loop of a function: indices, integers and bool are untyped */
    bool looped;       /* it has loops in it; then: */
    weft_shape points; /* of a kernel that has been rewritten: its index space */
    weft_shape *shapes;
    uint32_t shapes_count, shapes_room;
    weft__syntax_node *nodes;
    int32_t *arguments;
    weft__syntax_attributes *attributes;
    weft__syntax_statement *statements;
    uint32_t nodes_count, arguments_count, attributes_count, statements_count;
    uint32_t nodes_room, arguments_room, attributes_room, statements_room;
};

/* Sees to it that one more item has room after `count` of them. `items` is the address of the
 * pointer to them, which may move. */
weft_status weft__lang_room(void *items, uint32_t count, uint32_t *room, size_t size);

#endif
