/* One table of inner loops; compiled once for each instruction set, whose name is WEFT__VARIANT. */
#include "codegen/interpreter/variant.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Elements of blocks, which are plain bytes to the rest of the interpreter. */
#define ALIASING __attribute__((may_alias))
typedef uint8_t ALIASING b8;
typedef int8_t ALIASING i8;
typedef int16_t ALIASING i16;
typedef int32_t ALIASING i32;
typedef int64_t ALIASING i64;
typedef uint8_t ALIASING u8;
typedef uint16_t ALIASING u16;
typedef uint32_t ALIASING u32;
typedef uint64_t ALIASING u64;
typedef float ALIASING f32;
typedef double ALIASING f64;

/* Element i of the result depends on element i of the arguments alone. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* not every loop is worth vectors */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EACH(count) INDEPENDENT for (int64_t i = 0; i < (count); i++)

#define PARAMETERS                                                                                 \
    void *result, const void *first, const void *second, const void *third, int64_t count,         \
        unsigned uniform

/* A primitive of one, two or three arguments x, y, z of types T, from an expression. The loop is
 * made for each choice of single elements, so that none has to be spread over a block first. */
#define UNARY(function, R, T, expression)                                                          \
    static void function(PARAMETERS)                                                               \
    {                                                                                              \
        R *d = result;                                                                             \
        const T *xs = first;                                                                       \
        (void)second, (void)third, (void)uniform;                                                  \
        EACH(count)                                                                                \
        {                                                                                          \
            const T x = xs[i];                                                                     \
            d[i] = (R)(expression);                                                                \
        }                                                                                          \
    }

#define BINARY_LOOP(R, T, x_of, y_of, expression)                                                  \
    EACH(count)                                                                                    \
    {                                                                                              \
        const T x = x_of, y = y_of;                                                                \
        d[i] = (R)(expression);                                                                    \
    }
#define BINARY(function, R, T, expression)                                                         \
    static void function(PARAMETERS)                                                               \
    {                                                                                              \
        R *d = result;                                                                             \
        const T *xs = first, *ys = second;                                                         \
        const T x0 = xs[0], y0 = ys[0];                                                            \
        (void)third;                                                                               \
        if (uniform == 0)                                                                          \
            BINARY_LOOP(R, T, xs[i], ys[i], expression)                                            \
        else if (uniform == 1)                                                                     \
            BINARY_LOOP(R, T, x0, ys[i], expression)                                               \
        else                                                                                       \
            BINARY_LOOP(R, T, xs[i], y0, expression)                                               \
    }

#define TERNARY_CASE(number, R, T, U, x_of, y_of, z_of, expression)                                \
    case number:                                                                                   \
        EACH(count)                                                                                \
        {                                                                                          \
            const T x = x_of;                                                                      \
            const U y = y_of, z = z_of;                                                            \
            d[i] = (R)(expression);                                                                \
        }                                                                                          \
        break;
#define TERNARY(function, R, T, U, expression)                                                     \
    static void function(PARAMETERS)                                                               \
    {                                                                                              \
        R *d = result;                                                                             \
        const T *xs = first, x0 = xs[0];                                                           \
        const U *ys = second, *zs = third, y0 = ys[0], z0 = zs[0];                                 \
        switch (uniform) {                                                                         \
            TERNARY_CASE(0, R, T, U, xs[i], ys[i], zs[i], expression)                              \
            TERNARY_CASE(1, R, T, U, x0, ys[i], zs[i], expression)                                 \
            TERNARY_CASE(2, R, T, U, xs[i], y0, zs[i], expression)                                 \
            TERNARY_CASE(3, R, T, U, x0, y0, zs[i], expression)                                    \
            TERNARY_CASE(4, R, T, U, xs[i], ys[i], z0, expression)                                 \
            TERNARY_CASE(5, R, T, U, x0, ys[i], z0, expression)                                    \
        default:                                                                                   \
            TERNARY_CASE(6, R, T, U, xs[i], y0, z0, expression)                                    \
        }                                                                                          \
    }

#include "codegen/interpreter/conversions.h"
#include "codegen/interpreter/lanes.h"
#include "codegen/interpreter/moves.h"
#include "codegen/interpreter/pairs.h"
#include "codegen/interpreter/primitives.h"

#define NAME_OF_(variant) weft__variant_##variant
#define NAME_OF(variant) NAME_OF_(variant)
#define TEXT_OF_(variant) #variant
#define TEXT_OF(variant) TEXT_OF_(variant)

extern const weft__variant NAME_OF(WEFT__VARIANT);
const weft__variant NAME_OF(WEFT__VARIANT) = {
    .name = TEXT_OF(WEFT__VARIANT),
    .primitive = PRIMITIVE_TABLE,
    .cast = CAST_TABLE,
    .canonical = {[WEFT_F32] = canonical_f32, [WEFT_F64] = canonical_f64},
    .widen = {[WEFT_BOOL] = widen_bool, [WEFT_F16] = widen_f16, [WEFT_BF16] = widen_bf16},
    .narrow = {[WEFT_F16] = narrow_f16, [WEFT_BF16] = narrow_bf16},
    .lanes = LANES_TABLE,
    .pair = PAIR_TABLE,
    .move_row = {move_row_1, move_row_2, move_row_4, move_row_8},
    .transpose = {transpose_1, transpose_2, transpose_4, transpose_8},
    .stream = stream,
};
