/* The parser's parts: expressions (parser.c), values (primary.c), calls (call.c), statements
 * (statement.c, loop.c), elements and indices of portable kernels (access.c). */
#ifndef WEFT_LANG_PARSER_H
#define WEFT_LANG_PARSER_H

#include "lang/error.h"
#include "lang/lexer.h"
#include "lang/names.h"
#include "lang/syntax.h"

/* Something that is open until what belongs to it has been read. */
typedef enum weft__frame_kind {
    WEFT__FRAME_GROUP,  /* ( expression ) */
    WEFT__FRAME_CALL,   /* function ( arguments ) */
    WEFT__FRAME_ACCESS, /* operand ( indices ), in a portable kernel */
    WEFT__FRAME_CAST,   /* dtype ( expression ) */
    WEFT__FRAME_PREFIX, /* ( type of C ) before its operand */
    WEFT__FRAME_UNARY,  /* an operator before its operand */
    WEFT__FRAME_BINARY, /* `left` and an operator */
    WEFT__FRAME_THEN,   /* condition `left` and ? */
    WEFT__FRAME_ELSE    /* condition `left`, `middle` and : */
} weft__frame_kind;

typedef struct weft__frame {
    uint8_t kind;
    uint8_t operation; /* of UNARY, BINARY and CALL; the dtype of CAST; the operand of ACCESS */
    uint8_t power;     /* of UNARY and BINARY: how strongly it binds */
    uint8_t named;     /* CALL: which named arguments have been seen, as bits */
    bool value;        /* CALL: the argument being read is that of value= */
    uint32_t column;
    int32_t left, middle;
    int32_t attributes; /* CALL: position, or -1 */
    uint32_t first;     /* CALL: where its arguments begin in `pending` */
} weft__frame;

enum { WEFT__LOOPS_OPEN = 8, WEFT__LOOPS_CARRIED = 64 };

/* A loop that is not closed yet. */
typedef struct weft__parser_loop {
    int first; /* of what it carries */
    int32_t enter, part;
} weft__parser_loop;

typedef struct weft__parser_carried {
    weft__lang_name name;
    int32_t before, carry; /* nodes */
} weft__parser_carried;

typedef struct weft__parser {
    weft__lang_syntax *syntax;
    weft__names names;
    weft__lexer lexer; /* behind `token` */
    weft__token token; /* the one to look at */
    weft__frame *frames;
    int32_t *pending; /* arguments of open calls */
    uint32_t frames_count, frames_room, pending_count, pending_room;
    bool wants_value;
    bool kernel;   /* a portable one: operands are elements with indices, or numbers */
    bool elements; /* of a function: operands may be elements too */
    bool loops;    /* statements may be those of loops */
    weft__parser_loop open[WEFT__LOOPS_OPEN];
    weft__parser_carried carried[WEFT__LOOPS_CARRIED]; /* by the loops that are open */
    int open_count, carried_count;
} weft__parser;

#define PARSE_FAIL(p, column, ...)                                                                 \
    weft__lang_fail((p)->syntax->code, (column), WEFT_ERROR_SYNTAX, __VA_ARGS__)

/* The text of a token. */
#define TOKEN_TEXT(p, token) ((p)->syntax->code.text + (token).at)

void weft__parser_next(weft__parser *p);
/* The token after the one to look at. */
weft__token weft__parser_peek(const weft__parser *p);
bool weft__parser_token_is(const weft__parser *p, const char *text);
/* An error that says what was expected instead of the token. */
weft_status weft__parser_expected(weft__parser *p, const char *what);

weft_status weft__parser_push(weft__parser *p, weft__frame frame);
weft_status weft__parser_pend(weft__parser *p, int32_t node);
weft_status weft__parser_node(weft__parser *p, weft__syntax_node node, int32_t *result);
/* A call of an operation, with the arguments given. */
weft_status weft__parser_call(weft__parser *p, weft__lang_operation operation, uint32_t column,
                              const int32_t *arguments, uint32_t count, int32_t *result);
/* Reads an expression; stops at the first token that cannot be part of it. */
weft_status weft__parse_expression(weft__parser *p, int32_t *node);

/* Reads the beginning of a value. Either it is complete (*node ≥ 0), or it has opened a frame. */
weft_status weft__parse_primary(weft__parser *p, int32_t *node);
/* The error for a name that means nothing here. */
weft_status weft__parse_unknown(weft__parser *p, bool function);

/* After a name and its parenthesis. As weft__parse_primary. */
weft_status weft__parse_call(weft__parser *p, weft__token name, int32_t *node);
/* An argument of the innermost call is complete; at a comma or a parenthesis. As
 * weft__parse_primary. */
weft_status weft__parse_argument_end(weft__parser *p, int32_t argument, int32_t *node);

weft_status weft__parse_statements(weft__parser *p);
/* statement.c: adds a statement. */
weft_status weft__parse_statement_add(weft__parser *p, int32_t target, int32_t access, int32_t node,
                                      uint32_t column);
/* loop.c: whether the statement is about a loop; reads it. */
bool weft__parse_is_loop(const weft__parser *p);
weft_status weft__parse_loop_statement(weft__parser *p);

/* Portable kernels. Finds the indices: the names in what is assigned to. */
weft_status weft__parse_indices(weft__parser *p);
/* The index of that name, or -1. */
int weft__parse_index_named(const weft__parser *p, const char *text, size_t length);
/* The operand of that name, or -1. */
int weft__parse_operand_named(const weft__parser *p, const char *text, size_t length);
/* The parenthesis of an access is closed; its arguments are `count` pending ones. */
weft_status weft__parse_access_end(weft__parser *p, const weft__frame *frame, uint32_t count,
                                   int32_t *node);
/* Whether an operation makes sense of one element: an error if not. */
weft_status weft__parse_kernel_call(weft__parser *p, const weft__frame *frame, uint32_t count);
/* At `boundary`, if "=" follows and it is the statement that sets the rule: reads it. */
bool weft__parse_is_boundary(const weft__parser *p);
weft_status weft__parse_boundary_statement(weft__parser *p);
/* One of unshifted, clamp, wrap and zero. */
weft_status weft__parse_boundary(weft__parser *p, uint8_t *boundary);
bool weft__is_reserved(const char *text, size_t length);

#endif
