/* The kernel IR: what every operation becomes. docs/semantics.md says what each primitive computes.
 */
#ifndef WEFT_KERNEL_IR_H
#define WEFT_KERNEL_IR_H

#include <weft/dtype.h>

/* name, number of arguments.
 *
 * Values are typed bool, i8 … u64, f32 or f64. Memory may hold f16, bf16 and complex numbers: a
 * load of f16 or bf16 gives f32, a store rounds to them; a complex number is two loads or stores,
 * of part 0 (real) and part 1 (imaginary). */
#define WEFT__OP_LIST(X)                                                                           \
    X(load, 0)       /* operand `slot`, part `part` */                                             \
    X(store, 1)      /* to operand `slot`, part `part`; its value has the operand's value type */  \
    X(constant, 0)   /* `bits` */                                                                  \
    X(scalar, 0)     /* run-time scalar `slot` of the launch */                                    \
    X(index, 0)      /* i64: position along axis `slot` of the index space */                      \
    X(cast, 1)       /* to `dtype` */                                                              \
    X(bitcast, 1)    /* to `dtype`, of the same size */                                            \
    X(round_f16, 1)  /* f32 to the nearest f16, as f32 */                                          \
    X(round_bf16, 1) /* f32 to the nearest bf16, as f32 */                                         \
    X(select, 3)     /* bool ? second : third */                                                   \
    X(eq, 2)                                                                                       \
    X(ne, 2)                                                                                       \
    X(lt, 2)                                                                                       \
    X(le, 2)                                                                                       \
    X(add, 2)                                                                                      \
    X(sub, 2)                                                                                      \
    X(mul, 2)                                                                                      \
    X(mul_high, 2) /* the high half of the product; i32, u32, i64, u64 */                          \
    X(div, 2)                                                                                      \
    X(rem, 2) /* integers */                                                                       \
    X(fma, 3) /* f32, f64: first × second + third, rounded once */                                \
    X(neg, 1)                                                                                      \
    X(abs, 1)                                                                                      \
    X(sqrt, 1)                                                                                     \
    X(min, 2)                                                                                      \
    X(max, 2)                                                                                      \
    X(floor, 1)                                                                                    \
    X(ceil, 1)                                                                                     \
    X(trunc, 1)                                                                                    \
    X(round, 1) /* to the nearest integer, ties to even */                                         \
    X(and, 2)   /* bool and integers, as the next five */                                          \
    X(or, 2)                                                                                       \
    X(xor, 2)                                                                                      \
    X(not, 1)                                                                                      \
    X(shl, 2) /* integers, by a count of the same type */                                          \
    X(shr, 2)

typedef enum weft__op {
#define WEFT__OP_ENUM(name, arity) WEFT__OP_##name,
    WEFT__OP_LIST(WEFT__OP_ENUM)
#undef WEFT__OP_ENUM
        WEFT__OP_COUNT
} weft__op;

/* One instruction; its result is known by its position. Kernels are compared byte by byte, so there
 * is no padding: the fields called zero are 0. */
typedef struct weft__value {
    uint8_t op;    /* weft__op */
    uint8_t dtype; /* of the result; of a store: of the value stored */
    uint8_t part;
    uint8_t zero;
    uint16_t slot;
    uint16_t zero_too;
    int32_t argument[3]; /* positions of earlier values */
    int32_t zero_as_well;
    uint64_t bits; /* of a constant, in the low bytes */
} weft__value;

typedef struct weft__kernel_operand {
    uint8_t dtype; /* of the elements in memory */
    bool output;
} weft__kernel_operand;

enum { WEFT__OPERANDS_MAX = 256 };

/* An index space of `ndim` axes; for every point of it the values are computed in order. The values
 * of one point see the memory as it was before the kernel, at that point; outputs do not overlap
 * inputs under another map (weft__kernel_run sees to that). */
typedef struct weft__kernel {
    int32_t ndim;
    uint32_t values_count, values_room;
    uint32_t operands_count, operands_room;
    uint32_t scalars_count;
    weft__value *values;
    weft__kernel_operand *operands;
} weft__kernel;

/* The type that loads of a memory dtype give: f32 for f16 and bf16, the part's type for complex. */
weft_dtype weft__value_dtype(weft_dtype memory_dtype);

#endif
