/* The kernel IR: what every operation becomes. docs/semantics.md says what each primitive computes.
 */
#ifndef WEFT_KERNEL_IR_H
#define WEFT_KERNEL_IR_H

#include <weft/dtype.h>
#include <weft/shape.h>

/* name, number of arguments.
 *
 * Values are typed bool, i8 … u64, f32 or f64. Memory may hold f16, bf16 and complex numbers: a
 * load of f16 or bf16 gives f32, a store rounds to them; a complex number is two loads or stores,
 * of part 0 (real) and part 1 (imaginary). */
#define WEFT__OP_LIST(X)                                                                           \
    X(load, 0)       /* operand `slot`, part `part`, displaced by `shift` */                       \
    X(store, 1)      /* to operand `slot`, part `part`; its value has the operand's value type */  \
    X(fold, 2)       /* part `part` of a reduction over the folded axes, by `slot`: see below */   \
    X(constant, 0)   /* `bits` */                                                                  \
    X(scalar, 0)     /* run-time scalar `slot` of the launch */                                    \
    X(index, 0)      /* i64: position along axis `slot` of the index space; or, for a fold, */     \
                     /* WEFT__INDEX_FOLDED: the number of the element among those folded */        \
    X(cast, 1)       /* to `dtype` */                                                              \
    X(bitcast, 1)    /* to `dtype`, of the same size; part 1: of a NaN, any bits */                \
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
    X(shr, 2)                                                                                      \
    X(gather, 1) /* operand `slot`, part `part`: its element number argument 0 (i64), from 0 */    \
    X(scatter,                                                                                     \
      3) /* operand `slot`: its element number argument 0 becomes argument 1, at once, if */       \
         /* argument 2: see below */                                                               \
    X(carry, 1) /* of the loop that follows: argument 0, then what its `next` says */              \
    X(loop, 0)  /* the values up to its `end` are computed again and again … */                  \
    X(test, 1)  /* … until this bool is false: there the point leaves the loop */                \
    X(next, 2)  /* carry argument 0 becomes argument 1; all of a loop do, right before `end` */    \
    X(end, 0)                                                                                      \
    X(pass, 2)   /* these three are the LLVM engine's own, in kernels that it makes: argument 0 */ \
                 /* goes to a function, and before it what argument 1 passes */                    \
    X(call, 1)   /* function `slot`, with what argument 0 passes */                                \
    X(result, 1) /* number `slot` of a call */

typedef enum weft__op {
#define WEFT__OP_ENUM(name, arity) WEFT__OP_##name,
    WEFT__OP_LIST(WEFT__OP_ENUM)
#undef WEFT__OP_ENUM
        WEFT__OP_COUNT
} weft__op;

/* A fold combines the values of its arguments over the folded axes, in the order that
 * docs/semantics.md says. `slot` is the primitive that combines two of them, of argument 0 (then
 * argument 1 is the same): add, mul, min, max, and, or. Or it is one of these, of two arguments and
 * with two results, parts 0 and 1, which are two values that follow each other: */
typedef enum weft__fold_kind {
    WEFT__FOLD_ARGMIN = 0x100, /* a value and its position: those of the smallest */
    WEFT__FOLD_ARGMAX,
    WEFT__FOLD_PRODUCT, /* the parts of a complex number */
    WEFT__FOLD_END
} weft__fold_kind;

enum { WEFT__INDEX_FOLDED = 0xffff, WEFT__FOLDS_MAX = 8 };

/* One instruction; its result is known by its position. Kernels are compared byte by byte, so there
 * is no padding: the fields called zero are 0. */
typedef struct weft__value {
    uint8_t op;    /* weft__op */
    uint8_t dtype; /* of the result; of a store: of the value stored */
    uint8_t part;
    uint8_t zero;
    uint16_t slot;
    uint16_t shift;      /* of a load: 0, or 1 + the position in `shifts` */
    int32_t argument[3]; /* positions of earlier values */
    int32_t zero_as_well;
    uint64_t bits; /* of a constant, in the low bytes */
} weft__value;

typedef struct weft__kernel_operand {
    uint8_t dtype; /* of the elements in memory */
    bool output;
    bool kept; /* its axes are those of the index space that are not folded */
} weft__kernel_operand;

enum { WEFT__OPERANDS_MAX = 768 };

typedef enum weft__boundary {
    WEFT__BOUNDARY_UNSHIFTED, /* the element at i itself, if i + k is outside along any axis */
    WEFT__BOUNDARY_CLAMP,     /* the nearest element inside, axis by axis */
    WEFT__BOUNDARY_WRAP,      /* round and round, axis by axis */
    WEFT__BOUNDARY_CONSTANT   /* the load's argument 0, of the type that the load gives */
} weft__boundary;

/* A load at i of a displaced operand is the element at i + offset, along each axis of the index
 * space; what lies outside of it is up to the boundary. */
typedef struct weft__kernel_shift {
    int64_t offset[WEFT_NDIM_MAX];
    int64_t boundary; /* weft__boundary */
} weft__kernel_shift;

/* Elements that are folded at once, as one chunk: in lanes where the last axis is folded, else in
 * order. */
enum { WEFT__FOLD_LANES = 128, WEFT__FOLD_CHUNK = 4096, WEFT__FOLD_RUN = 64 };

/* An index space of `ndim` axes; for every point of it the values are computed in order. The values
 * of one point see the memory as it was before the kernel, at that point; outputs do not overlap
 * inputs under another map, nor displaced ones at all (weft__kernel_run sees to that).
 *
 * In a kernel with folds (at most WEFT__FOLDS_MAX), what a fold depends on is computed at every
 * point; what a store depends on, other than through a fold, at every point of the axes that are
 * not folded (at position 0 of those that are). No fold depends on another. Such a kernel is
 * launched over the points that are left (WEFT__STAGE_WHOLE), or twice: over groups of the chunks
 * of each of them, with a result for each group in a buffer, and then over those points to combine
 * the groups and do the rest.
 *
 * Loops may be in loops. Values of a loop are used in that loop alone; what it carries is there
 * afterwards. A kernel has loops or folds, not both. The operand of a gather has no strides: its
 * elements follow each other from the first one on, and positions are inside.
 *
 * A kernel with scatters is a serial program at each of its points, in a loop, if only of one
 * round: gathers see what scatters of the same point before them have written. No point writes what
 * another one reads or writes. */
typedef struct weft__kernel {
    int32_t ndim;
    uint32_t folded; /* bit k: axis k of the index space is folded; compared with ndim */
    uint32_t values_count, values_room;
    uint32_t operands_count, operands_room;
    uint32_t shifts_count, shifts_room;
    uint32_t scalars_count;
    uint32_t folds_count; /* values that are folds */
    uint32_t loops_count; /* values that are loops */
    uint32_t scatters_count;
    weft__value *values;
    weft__kernel_operand *operands;
    weft__kernel_shift *shifts;
} weft__kernel;

/* Whether a value is a load with a constant out of bounds, its argument 0. Such a load is no copy:
 * what is stored of it goes the way of computed values. */
static inline bool weft__load_is_bounded(const weft__kernel *kernel, const weft__value *value)
{
    return value->op == WEFT__OP_load && value->shift &&
           kernel->shifts[value->shift - 1].boundary == WEFT__BOUNDARY_CONSTANT;
}

/* Whether a value is computed of others at the same point alone. */
static inline bool weft__value_is_primitive(const weft__value *value)
{
    return value->op >= WEFT__OP_cast && value->op <= WEFT__OP_shr;
}

/* Whether a value says how a loop goes. */
static inline bool weft__value_is_flow(const weft__value *value)
{
    return value->op >= WEFT__OP_carry && value->op <= WEFT__OP_end;
}

/* How many arguments a value has. */
static inline int weft__value_arguments(const weft__kernel *kernel, const weft__value *value)
{
    static const uint8_t arity[] = {
#define WEFT__OP_ARITY(name, arity) arity,
        WEFT__OP_LIST(WEFT__OP_ARITY)
#undef WEFT__OP_ARITY
    };
    return weft__load_is_bounded(kernel, value) ? 1 : arity[value->op];
}

/* Where a launch has an axis of the kernel: kept ones come before those that are folded. */
static inline int weft__axis_launched(const weft__kernel *kernel, int axis)
{
    const uint32_t all = (1U << kernel->ndim) - 1, before = (1U << axis) - 1;
    const uint32_t folded = kernel->folded & all, kept = ~folded & all;
    if (kept >> axis & 1)
        return __builtin_popcount(kept & before);
    return __builtin_popcount(kept) + __builtin_popcount(folded & before);
}

/* Whether folds go by lanes: the last axis is folded. */
static inline bool weft__kernel_has_lanes(const weft__kernel *kernel)
{
    return kernel->ndim > 0 && (kernel->folded >> (kernel->ndim - 1) & 1);
}

/* Bytes in a buffer for `count` results of a fold, of this size each. */
static inline int64_t weft__fold_bytes(int64_t size, int64_t count)
{
    return (size * count + 63) / 64 * 64;
}

/* How many results there are at once of a fold of so many chunks that are combined as soon as their
 * order allows: those that differ in the highest bit of their number first. */
static inline int64_t weft__fold_levels(int64_t chunks)
{
    int64_t levels = 1;
    for (int64_t half = 1; half < chunks; half *= 2)
        levels++;
    return levels;
}

/* The type that loads of a memory dtype give: f32 for f16 and bf16, the part's type for complex. */
weft_dtype weft__value_dtype(weft_dtype memory_dtype);

#endif
