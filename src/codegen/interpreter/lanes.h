/* Folding rows of lanes: the loops of large reductions, in registers; part of variant.c. */

/* Rows of WEFT__FOLD_LANES elements are combined with the lanes, a row at a time. Eight vectors of
 * 64 bytes stay in registers: all lanes of 4 bytes, half of those of 8. */
#define LANES_LOAD(k)                                                                              \
    V v##k;                                                                                        \
    memcpy(&v##k, at + (k)*64, 64);
#define LANES_STEP(k)                                                                              \
    {                                                                                              \
        V y;                                                                                       \
        const V x = v##k;                                                                          \
        memcpy(&y, row + (k)*64, 64);                                                              \
        v##k = LANES_EXPRESSION;                                                                   \
    }
#define LANES_STORE(k) memcpy(at + (k)*64, &v##k, 64);
#define LANES_EIGHT(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7)

#define LANES_BODY(T)                                                                              \
    {                                                                                              \
        typedef T V __attribute__((vector_size(64)));                                              \
        const int64_t bytes = WEFT__FOLD_LANES * (int64_t)sizeof(T);                               \
        for (int64_t part = 0; part < bytes; part += 512) {                                        \
            char *at = (char *)lanes + part;                                                       \
            const char *row = (const char *)values + part;                                         \
            LANES_EIGHT(LANES_LOAD)                                                                \
            for (int64_t r = 0; r < rows; r++, row += bytes) {                                     \
                LANES_EIGHT(LANES_STEP)                                                            \
            }                                                                                      \
            LANES_EIGHT(LANES_STORE)                                                               \
        }                                                                                          \
    }
#define LANES_PARAMETERS void *lanes, const void *values, int64_t rows

/* Of vectors: x where the condition holds, else y. */
#define LANES_CHOOSE(condition) ((V)(((M)(x) & (M)(condition)) | ((M)(y) & ~(M)(condition))))
#define LANES_MASK typedef int64_t M __attribute__((vector_size(64)));

#define LANES_EXPRESSION (x + y)
static void
lanes_add_f32(LANES_PARAMETERS) LANES_BODY(float) static void lanes_add_f64(LANES_PARAMETERS)
    LANES_BODY(double) static void lanes_add_u64(LANES_PARAMETERS) LANES_BODY(uint64_t)
#undef LANES_EXPRESSION

#define LANES_EXPRESSION (x * y)
        static void lanes_mul_f32(LANES_PARAMETERS)
            LANES_BODY(float) static void lanes_mul_f64(LANES_PARAMETERS)
                LANES_BODY(double) static void lanes_mul_u64(LANES_PARAMETERS) LANES_BODY(uint64_t)
#undef LANES_EXPRESSION

#define LANES_CHOICE(function, T)                                                                  \
    static void function(LANES_PARAMETERS)                                                         \
    {                                                                                              \
        LANES_MASK                                                                                 \
        LANES_BODY(T)                                                                              \
    }
#define LANES_EXPRESSION LANES_CHOOSE((x < y) | (x != x))
                    LANES_CHOICE(lanes_min_f32, float) LANES_CHOICE(lanes_min_f64, double)
                        LANES_CHOICE(lanes_min_i32, int32_t) LANES_CHOICE(lanes_min_i64, int64_t)
#undef LANES_EXPRESSION

#define LANES_EXPRESSION LANES_CHOOSE((x > y) | (x != x))
                            LANES_CHOICE(lanes_max_f32, float) LANES_CHOICE(lanes_max_f64, double)
                                LANES_CHOICE(lanes_max_i32, int32_t)
                                    LANES_CHOICE(lanes_max_i64, int64_t)
#undef LANES_EXPRESSION

/* What is not here goes a row at a time through the primitive. */
#define LANES_TABLE                                                                                \
    {                                                                                              \
        [WEFT__OP_add] = {[WEFT_F32] = lanes_add_f32,                                              \
                          [WEFT_F64] = lanes_add_f64,                                              \
                          [WEFT_I64] = lanes_add_u64,                                              \
                          [WEFT_U64] = lanes_add_u64},                                             \
        [WEFT__OP_mul] = {[WEFT_F32] = lanes_mul_f32,                                              \
                          [WEFT_F64] = lanes_mul_f64,                                              \
                          [WEFT_I64] = lanes_mul_u64,                                              \
                          [WEFT_U64] = lanes_mul_u64},                                             \
        [WEFT__OP_min] = {[WEFT_F32] = lanes_min_f32,                                              \
                          [WEFT_F64] = lanes_min_f64,                                              \
                          [WEFT_I32] = lanes_min_i32,                                              \
                          [WEFT_I64] = lanes_min_i64},                                             \
        [WEFT__OP_max] = {[WEFT_F32] = lanes_max_f32,                                              \
                          [WEFT_F64] = lanes_max_f64,                                              \
                          [WEFT_I32] = lanes_max_i32,                                              \
                          [WEFT_I64] = lanes_max_i64},                                             \
    }
