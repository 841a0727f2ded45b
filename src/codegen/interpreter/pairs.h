/* Combining pairs of values, for folds; part of variant.c. */

/* Values v with what belongs to them, p; and others, x and y. */
#define PAIRS(function, T, P, ...)                                                                 \
    static void function(void *vs_, void *ps_, const void *xs_, const void *ys_, int64_t count,    \
                         unsigned uniform)                                                         \
    {                                                                                              \
        T *vs = vs_;                                                                               \
        P *ps = ps_;                                                                               \
        const T *xs = xs_;                                                                         \
        const P *ys = ys_;                                                                         \
        const int64_t x_step = !(uniform & 1), y_step = !(uniform & 2);                            \
        EACH(count)                                                                                \
        {                                                                                          \
            const T v = vs[i], x = xs[i * x_step];                                                 \
            const P p = ps[i], y = ys[i * y_step];                                                 \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* A NaN is before everything; of equals the one with the lower position is first. */
#define FIRST(function, T, before)                                                                 \
    PAIRS(function, T, i64, {                                                                      \
        const bool nan = x != x, was = v != v;                                                     \
        const bool equal = (x == v) | (nan & was);                                                 \
        const bool better = (x before v) | (nan & !was) | (equal & (y < p));                       \
        vs[i] = better ? x : v;                                                                    \
        ps[i] = better ? y : p;                                                                    \
    })

#define PRODUCT(T)                                                                                 \
    PAIRS(product_##T, T, T, {                                                                     \
        const T rr = v * x, ii = p * y, ri = v * y, ir = p * x;                                    \
        vs[i] = rr - ii;                                                                           \
        ps[i] = ri + ir;                                                                           \
    })

/* clang-format off */
#define FIRSTS(T) FIRST(argmin_##T, T, <) FIRST(argmax_##T, T, >)
FIRSTS(i8) FIRSTS(i16) FIRSTS(i32) FIRSTS(i64)
FIRSTS(u8) FIRSTS(u16) FIRSTS(u32) FIRSTS(u64)
FIRSTS(f32) FIRSTS(f64)
PRODUCT(f32) PRODUCT(f64)

#define PAIR_ENTRY(KIND, kind, TYPE, type)                                                         \
    [WEFT__FOLD_##KIND - WEFT__FOLD_ARGMIN][WEFT_##TYPE] = kind##_##type,
#define FIRST_ENTRIES(TYPE, type)                                                                  \
    PAIR_ENTRY(ARGMIN, argmin, TYPE, type) PAIR_ENTRY(ARGMAX, argmax, TYPE, type)
#define PAIR_TABLE                                                                                 \
    {                                                                                              \
        FIRST_ENTRIES(I8, i8) FIRST_ENTRIES(I16, i16) FIRST_ENTRIES(I32, i32)                      \
        FIRST_ENTRIES(I64, i64) FIRST_ENTRIES(U8, u8) FIRST_ENTRIES(U16, u16)                      \
        FIRST_ENTRIES(U32, u32) FIRST_ENTRIES(U64, u64)                                            \
        FIRST_ENTRIES(F32, f32) FIRST_ENTRIES(F64, f64)                                            \
        PAIR_ENTRY(PRODUCT, product, F32, f32) PAIR_ENTRY(PRODUCT, product, F64, f64)              \
    }
    /* clang-format on */
