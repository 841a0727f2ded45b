/* The checker's parts: values (value.c), types (types.c), shapes (shapes.c), operations
 * (check_*.c). */
#ifndef WEFT_LANG_CHECK_H
#define WEFT_LANG_CHECK_H

#include "core/dtype.h"
#include "lang/error.h"
#include "lang/syntax.h"

/* What a node of the syntax has become. A literal waits until its use says of which dtype it is. */
typedef struct weft__check_value {
    int32_t node;    /* of the program, or -1 */
    int32_t literal; /* of the syntax, or -1 */
    int32_t shape;
    uint8_t dtype;
    bool weak;
    bool open; /* has an index() in it whose array is not known yet */
} weft__check_value;

typedef struct weft__checker {
    const weft__lang_syntax *syntax;
    const weft__lang_operand *operands;
    weft__lang_program *program;
    weft__check_value *values;                /* one for each node of the syntax */
    int32_t current[WEFT__LANG_OPERANDS_MAX]; /* the node with each operand's value at this point;
                                                 -1: neither read nor assigned yet */
    int32_t *open; /* nodes of the program that wait for an array; as a stack */
    bool *is_open; /* for each node of the program */
    uint32_t open_count, open_room, is_open_room;
} weft__checker;

#define CHECK_FAIL(c, column, status, ...)                                                         \
    weft__lang_fail((c)->syntax->code, (column), (status), __VA_ARGS__)

/* Adds a node. Its shape is `shape`, its arguments -1 where the node has none. */
weft_status weft__check_emit(weft__checker *c, weft__lang_node node, int32_t *position);
/* A node with everything unset but its kind, and the column. */
weft__lang_node weft__check_node(weft__lang_kind kind, weft_dtype dtype, uint32_t column);
/* The node of a value as `dtype`: a literal of it, a cast, or the value itself. An error if an
 * untyped literal integer does not fit; otherwise any value becomes any dtype. */
weft_status weft__check_use(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                            uint32_t column, int32_t *node);
/* The same among weak values alone, where what does not fit is cut. */
weft_status weft__check_become(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                               uint32_t column, int32_t *node);
/* The same for a cast that the user wrote: literals are cut to what fits, f16 and bf16 are rounded.
 */
weft_status weft__check_cast(weft__checker *c, const weft__check_value *value, weft_dtype dtype,
                             bool weak, uint32_t column, int32_t *node);
/* A node as a value. */
weft__check_value weft__check_value_of(const weft__checker *c, int32_t node);

/* The dtype that both become; *weak if they stay weak. False if there is none. */
bool weft__check_combine(weft_dtype *dtype, bool *weak, weft_dtype other, bool other_weak);
/* What untyped numbers of this dtype are computed as. */
weft_dtype weft__check_weak_dtype(weft_dtype dtype);
/* Whether a value may be assigned to this dtype without a cast. */
bool weft__check_assignable(weft_dtype to, const weft__check_value *value);
/* The dtype of the parts of a complex dtype; others stay. */
weft_dtype weft__check_real(weft_dtype dtype);
/* "f32", or for weak values "an integer", "a floating-point number", ... */
const char *weft__check_type_name(weft_dtype dtype, bool weak);
/* Whether the kinds hold this dtype. A weak one may be raised until they do. */
bool weft__check_kind(weft_dtype *dtype, bool weak, uint8_t kinds);
/* "integers or floats": for messages. */
const char *weft__check_kinds_name(uint8_t kinds);

const weft_shape *weft__check_shape(const weft__checker *c, int32_t shape);
/* The position of a shape in the program, which may be one that is there. */
weft_status weft__check_shape_add(weft__checker *c, const weft_shape *shape, int32_t *position);
weft_status weft__check_broadcast(weft__checker *c, int32_t a, int32_t b, uint32_t column,
                                  int32_t *result);
/* Every open index() below `value` is along an axis of that shape; *value is then not open. */
weft_status weft__check_close(weft__checker *c, weft__check_value *value, int32_t shape,
                              uint32_t column);

/* Each fills the value of one call. */
weft_status weft__check_map(weft__checker *c, const weft__syntax_node *call,
                            weft__check_value *value);
weft_status weft__check_fold(weft__checker *c, const weft__syntax_node *call,
                             weft__check_value *value);
weft_status weft__check_stencil(weft__checker *c, const weft__syntax_node *call,
                                weft__check_value *value);
weft_status weft__check_index(weft__checker *c, const weft__syntax_node *call,
                              weft__check_value *value);
/* check_loop.c: a part of a loop; an element at any position. */
weft_status weft__check_loop(weft__checker *c, const weft__syntax_node *part,
                             weft__check_value *value);
weft_status weft__check_gather(weft__checker *c, const weft__syntax_node *gather,
                               weft__check_value *value);
/* check.c: in loops of a function integers and bool are untyped, as numbers of C are. */
weft_status weft__check_loosen(weft__checker *c, uint32_t column, weft__check_value *value);
/* One operation, element by element, on values that are given. */
weft_status weft__check_apply(weft__checker *c, weft__lang_operation operation, uint32_t column,
                              const weft__check_value *arguments, int count,
                              weft__check_value *value);
/* The value of a node of the syntax, and of argument k of a call. */
weft__check_value weft__check_value_at(const weft__checker *c, int32_t position);
weft__check_value weft__check_argument(const weft__checker *c, const weft__syntax_node *call,
                                       uint32_t k);
/* The integer of a literal argument. */
int64_t weft__check_integer(const weft__checker *c, const weft__syntax_node *call, uint32_t k);

#endif
