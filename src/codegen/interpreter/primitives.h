/* The arithmetic primitives, by type; part of variant.c. docs/semantics.md says what each computes.
 */

/* What a family of types computes. T is the type's name here, U its unsigned twin, B its bits. Sums
 * and products are made in unsigned arithmetic of at least 32 bits: they wrap. */

/* Whatever the sign: made for unsigned numbers, used for the signed type of the size as well. */
#define WRAPPING(T, B)                                                                             \
    BINARY(add_##T, T, T, 1U * x + y)                                                              \
    BINARY(sub_##T, T, T, 1U * x - y)                                                              \
    BINARY(mul_##T, T, T, 1U * x * y)                                                              \
    UNARY(neg_##T, T, T, 0U - x)                                                                   \
    BINARY(and_##T, T, T, (x) & (y))                                                               \
    BINARY(or_##T, T, T, x | y)                                                                    \
    BINARY(xor_##T, T, T, x ^ y)                                                                   \
    UNARY(not_##T, T, T, ~x)                                                                       \
    BINARY(shl_##T, T, T, y < B ? (1U * x) << (y & (B - 1)) : 0U)                                  \
    BINARY(eq_##T, b8, T, x == y)                                                                  \
    BINARY(ne_##T, b8, T, x != y)                                                                  \
    TERNARY(select_##T, T, b8, T, x ? y : z)

#define ORDERED(T)                                                                                 \
    BINARY(lt_##T, b8, T, x < y)                                                                   \
    BINARY(le_##T, b8, T, x <= y)                                                                  \
    BINARY(min_##T, T, T, x < y ? x : y)                                                           \
    BINARY(max_##T, T, T, x > y ? x : y)

#define UNSIGNED(T, B)                                                                             \
    UNARY(abs_##T, T, T, x)                                                                        \
    BINARY(div_##T, T, T, y == 0 ? 0 : x / y)                                                      \
    BINARY(rem_##T, T, T, y == 0 ? x : x % y)                                                      \
    BINARY(shr_##T, T, T, y < B ? x >> (y & (B - 1)) : 0)

/* A divisor of -1 is handled apart: MIN / -1 does not fit. A count past the width shifts by all
 * bits but one, which leaves the sign. */
#define SIGNED(T, U, B)                                                                            \
    UNARY(abs_##T, T, T, x < 0 ? (T)(0U - (U)x) : x)                                               \
    BINARY(div_##T, T, T, y == 0 ? 0 : y == -1 ? (T)(0U - (U)x) : x / y)                           \
    BINARY(rem_##T, T, T, y == 0 || y == -1 ? (y == 0 ? x : 0) : x % y)                            \
    BINARY(shr_##T, T, T, x >> ((U)y < B ? (U)y : B - 1))

/* `f` is what the names of the C library's functions end in. */
#define FLOATING(T, f)                                                                             \
    BINARY(add_##T, T, T, x + y)                                                                   \
    BINARY(sub_##T, T, T, x - y)                                                                   \
    BINARY(mul_##T, T, T, x *y)                                                                    \
    BINARY(div_##T, T, T, x / y)                                                                   \
    TERNARY(fma_##T, T, T, T, fma##f(x, y, z))                                                     \
    UNARY(neg_##T, T, T, -x)                                                                       \
    UNARY(abs_##T, T, T, fabs##f(x))                                                               \
    UNARY(sqrt_##T, T, T, sqrt##f(x))                                                              \
    UNARY(floor_##T, T, T, floor##f(x))                                                            \
    UNARY(ceil_##T, T, T, ceil##f(x))                                                              \
    UNARY(trunc_##T, T, T, trunc##f(x))                                                            \
    UNARY(round_##T, T, T, rint##f(x))                                                             \
    BINARY(min_##T, T, T, ((x < y) | (x != x)) ? x : y)                                            \
    BINARY(max_##T, T, T, ((x > y) | (x != x)) ? x : y)                                            \
    BINARY(eq_##T, b8, T, x == y)                                                                  \
    BINARY(ne_##T, b8, T, x != y)                                                                  \
    BINARY(lt_##T, b8, T, x < y)                                                                   \
    BINARY(le_##T, b8, T, x <= y)

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* clang-format off */
WRAPPING(u8, 8U) WRAPPING(u16, 16U) WRAPPING(u32, 32U) WRAPPING(u64, 64U)
ORDERED(u8) ORDERED(u16) ORDERED(u32) ORDERED(u64)
ORDERED(i8) ORDERED(i16) ORDERED(i32) ORDERED(i64)
UNSIGNED(u8, 8U) UNSIGNED(u16, 16U) UNSIGNED(u32, 32U) UNSIGNED(u64, 64U)
SIGNED(i8, u8, 8U) SIGNED(i16, u16, 16U) SIGNED(i32, u32, 32U) SIGNED(i64, u64, 64U)
FLOATING(f32, f) FLOATING(f64, )
UNARY(not_bool, b8, b8, x ^ 1U)
BINARY(mul_high_i32, i32, i32, ((i64)x * y) >> 32)
BINARY(mul_high_u32, u32, u32, ((u64)x * y) >> 32)
BINARY(mul_high_i64, i64, i64, ((i128)x * y) >> 64)
BINARY(mul_high_u64, u64, u64, ((u128)x * y) >> 64)
/* clang-format on */

/* The table has, for each primitive and type, the function of one of the types above. */

/* clang-format off */
#define ENTRY(TYPE, type, primitive) [WEFT__OP_##primitive][WEFT_##TYPE] = primitive##_##type,
#define ORDERED_ENTRIES(TYPE, type)                                                                \
    ENTRY(TYPE, type, lt) ENTRY(TYPE, type, le) ENTRY(TYPE, type, min) ENTRY(TYPE, type, max)      \
    ENTRY(TYPE, type, div) ENTRY(TYPE, type, abs)
#define INTEGER_ENTRIES(TYPE, type, twin)                                                          \
    ENTRY(TYPE, twin, add) ENTRY(TYPE, twin, sub) ENTRY(TYPE, twin, mul) ENTRY(TYPE, twin, neg)    \
    ENTRY(TYPE, twin, and) ENTRY(TYPE, twin, or) ENTRY(TYPE, twin, xor) ENTRY(TYPE, twin, not)     \
    ENTRY(TYPE, twin, shl) ENTRY(TYPE, twin, eq) ENTRY(TYPE, twin, ne)                             \
    ENTRY(TYPE, twin, select)                                                                      \
    ENTRY(TYPE, type, rem) ENTRY(TYPE, type, shr) ORDERED_ENTRIES(TYPE, type)
#define FLOAT_ENTRIES(TYPE, type, twin)                                                            \
    ENTRY(TYPE, type, add) ENTRY(TYPE, type, sub) ENTRY(TYPE, type, mul) ENTRY(TYPE, type, neg)    \
    ENTRY(TYPE, type, floor) ENTRY(TYPE, type, ceil) ENTRY(TYPE, type, trunc)                      \
    ENTRY(TYPE, type, round) ENTRY(TYPE, type, sqrt) ENTRY(TYPE, type, fma)                        \
    ENTRY(TYPE, type, eq) ENTRY(TYPE, type, ne) ENTRY(TYPE, twin, select)                          \
    ORDERED_ENTRIES(TYPE, type)
#define BOOL_ENTRIES(TYPE)                                                                         \
    ENTRY(TYPE, u8, and) ENTRY(TYPE, u8, or) ENTRY(TYPE, u8, xor) ENTRY(TYPE, bool, not)           \
    ENTRY(TYPE, u8, eq) ENTRY(TYPE, u8, ne) ENTRY(TYPE, u8, lt) ENTRY(TYPE, u8, le)                \
    ENTRY(TYPE, u8, select)

#define PRIMITIVE_TABLE                                                                            \
    {                                                                                              \
        BOOL_ENTRIES(BOOL)                                                                         \
        INTEGER_ENTRIES(I8, i8, u8) INTEGER_ENTRIES(U8, u8, u8)                                    \
        INTEGER_ENTRIES(I16, i16, u16) INTEGER_ENTRIES(U16, u16, u16)                              \
        INTEGER_ENTRIES(I32, i32, u32) INTEGER_ENTRIES(U32, u32, u32)                              \
        INTEGER_ENTRIES(I64, i64, u64) INTEGER_ENTRIES(U64, u64, u64)                              \
        FLOAT_ENTRIES(F32, f32, u32) FLOAT_ENTRIES(F64, f64, u64)                                  \
        ENTRY(I32, i32, mul_high) ENTRY(U32, u32, mul_high)                                        \
        ENTRY(I64, i64, mul_high) ENTRY(U64, u64, mul_high)                                        \
        ENTRY(F32, f32, round_f16) ENTRY(F32, f32, round_bf16)                                     \
    }
    /* clang-format on */
