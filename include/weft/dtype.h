/* Element types and how they combine. */
#ifndef WEFT_DTYPE_H
#define WEFT_DTYPE_H

#include <weft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* name, C name of the constant, bytes of an element, kind */
#define WEFT_DTYPE_LIST(X)                                                                         \
    X(bool, BOOL, 1, BOOL)                                                                         \
    X(i8, I8, 1, SIGNED)                                                                           \
    X(i16, I16, 2, SIGNED)                                                                         \
    X(i32, I32, 4, SIGNED)                                                                         \
    X(i64, I64, 8, SIGNED)                                                                         \
    X(u8, U8, 1, UNSIGNED)                                                                         \
    X(u16, U16, 2, UNSIGNED)                                                                       \
    X(u32, U32, 4, UNSIGNED)                                                                       \
    X(u64, U64, 8, UNSIGNED)                                                                       \
    X(f16, F16, 2, FLOAT)                                                                          \
    X(bf16, BF16, 2, FLOAT)                                                                        \
    X(f32, F32, 4, FLOAT)                                                                          \
    X(f64, F64, 8, FLOAT)                                                                          \
    X(c64, C64, 8, COMPLEX)                                                                        \
    X(c128, C128, 16, COMPLEX)

/* The type of an array's elements: WEFT_BOOL, WEFT_I8 … WEFT_C128. */
typedef enum weft_dtype {
    WEFT_DTYPE_DEFAULT, /* not given: the function's documentation says what is taken */
#define WEFT__DTYPE_ENUM(name, NAME, bytes, kind) WEFT_##NAME,
    WEFT_DTYPE_LIST(WEFT__DTYPE_ENUM)
#undef WEFT__DTYPE_ENUM
        WEFT_DTYPE_END /* one more than the last */
} weft_dtype;

/* Kinds of dtypes: within one, assignments convert. */
typedef enum weft_dtype_kind {
    WEFT_KIND_BOOL,     /* bool */
    WEFT_KIND_SIGNED,   /* i8, i16, i32, i64 */
    WEFT_KIND_UNSIGNED, /* u8, u16, u32, u64 */
    WEFT_KIND_FLOAT,    /* f16, bf16, f32, f64 */
    WEFT_KIND_COMPLEX   /* c64, c128 */
} weft_dtype_kind;

/* "f32"; "unknown" for a value that is no dtype. */
WEFT_API const char *weft_dtype_name(weft_dtype dtype);
/* WEFT_DTYPE_DEFAULT and an error if no dtype has that name. */
WEFT_API weft_dtype weft_dtype_named(const char *name);
/* Bytes of an element; 0 for a value that is no dtype. */
WEFT_API size_t weft_dtype_size(weft_dtype dtype);
/* The kind of a dtype; an error for a value that is none. */
WEFT_API weft_status weft_dtype_kind_of(weft_dtype dtype, weft_dtype_kind *kind);

/* The dtype that holds both, by the rules of the Python array API standard: within a kind the
 * wider, signed with unsigned the next wider signed, real with complex the complex one that holds
 * both. bf16 with f16 is f32. Pairs with no such dtype (i32 with f32, i64 with u64, bool with i8)
 * are an error: cast one side. */
WEFT_API weft_status weft_dtype_promote(weft_dtype a, weft_dtype b, weft_dtype *result);

/* Whether assigning `from` to `to` is a conversion within a kind (i64 to i8, f64 to f16, i8 to u8,
 * real to complex), which needs no cast. */
WEFT_API bool weft_dtype_assignable(weft_dtype to, weft_dtype from);

#ifdef __cplusplus
}
#endif
#endif
