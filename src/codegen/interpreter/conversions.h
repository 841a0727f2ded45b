/* Casts, the 16-bit floats and the canonical NaN; part of variant.c. */

static inline uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static const uint64_t nan_bits_f64 = 0x7ff8000000000000U;

static inline double nan_f64(void)
{
    double x;
    memcpy(&x, &nan_bits_f64, sizeof x);
    return x;
}

UNARY(canonical_f32, f32, f32, x == x ? x : f32_of_bits(0x7fc00000U))
UNARY(canonical_f64, f64, f64, x == x ? x : nan_f64())

/* The exponent of an f16, placed in an f32, is too small by 112; multiplying puts that right and
 * makes subnormals normal. Infinities and NaNs get the highest exponent. */
static inline float f32_of_f16(uint16_t half)
{
    const uint32_t magnitude = (uint32_t)(half & 0x7fffU) << 13;
    const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
    const uint32_t finite = bits_of_f32(f32_of_bits(magnitude) * 0x1p112f);
    const uint32_t special = magnitude | 0x7f800000U;
    return f32_of_bits(sign | (magnitude < 0x0f800000U ? finite : special));
}

/* Of the three candidates, the subnormal one is rounded by an addition to 0.5, whose last bit is
 * worth as much as that of a subnormal f16; the normal one by adding just under half of its last
 * bit. */
static inline uint16_t f16_of_f32(float x)
{
    const uint32_t bits = bits_of_f32(x), magnitude = bits & 0x7fffffffU;
    const uint32_t subnormal = bits_of_f32(f32_of_bits(magnitude) + 0.5F) - 0x3f000000U;
    const uint32_t normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    const uint32_t finite = magnitude < 0x38800000U ? subnormal : normal;
    const uint32_t ordered = magnitude < 0x477ff000U ? finite : 0x7c00U;
    const uint32_t sign = (bits >> 16) & 0x8000U;
    return (uint16_t)(magnitude > 0x7f800000U ? 0x7e00U : (ordered | sign));
}

static inline uint16_t bf16_of_f32(float x)
{
    const uint32_t bits = bits_of_f32(x);
    const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return (uint16_t)((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc0U : rounded);
}

UNARY(widen_bool, b8, u8, x != 0)
UNARY(widen_f16, f32, u16, f32_of_f16(x))
UNARY(widen_bf16, f32, u16, f32_of_bits((uint32_t)x << 16))
UNARY(narrow_f16, u16, f32, f16_of_f32(x))
UNARY(narrow_bf16, u16, f32, bf16_of_f32(x))
UNARY(round_f16_f32, f32, f32, f32_of_f16(f16_of_f32(x)))
UNARY(round_bf16_f32, f32, f32, f32_of_bits((uint32_t)bf16_of_f32(x) << 16))

/* Only what fits is converted, the rest as 0, so that the ends of the range can be put in after.
 * LOW and HIGH, the first number beyond the range, are exact in both float types. */
#define FITTING(LOW, HIGH) (((x >= (LOW)) & (x < (HIGH))) ? x : 0)
#define BEYOND(LOW, HIGH, MIN, MAX) (x >= (HIGH) ? (MAX) : x < (LOW) ? (MIN) : 0)
#define FLOAT_TO_INTEGER(from, to, LOW, HIGH, MIN, MAX)                                            \
    UNARY(cast_##from##_##to, to, from, (to)FITTING(LOW, HIGH) | BEYOND(LOW, HIGH, MIN, MAX))
#define FLOAT_TO_INTEGERS(from)                                                                    \
    FLOAT_TO_INTEGER(from, i8, -0x1p7F, 0x1p7F, INT8_MIN, INT8_MAX)                                \
    FLOAT_TO_INTEGER(from, i16, -0x1p15F, 0x1p15F, INT16_MIN, INT16_MAX)                           \
    FLOAT_TO_INTEGER(from, i32, -0x1p31F, 0x1p31F, INT32_MIN, INT32_MAX)                           \
    FLOAT_TO_INTEGER(from, i64, -0x1p63F, 0x1p63F, INT64_MIN, INT64_MAX)                           \
    FLOAT_TO_INTEGER(from, u8, 0.0F, 0x1p8F, 0, UINT8_MAX)                                         \
    FLOAT_TO_INTEGER(from, u16, 0.0F, 0x1p16F, 0, UINT16_MAX)                                      \
    FLOAT_TO_INTEGER(from, u32, 0.0F, 0x1p32F, 0, UINT32_MAX)                                      \
    FLOAT_TO_INTEGER(from, u64, 0.0F, 0x1p64F, 0, UINT64_MAX)

/* clang-format off */
#define CONVERSION(from, to) UNARY(cast_##from##_##to, to, from, x)
#define TO_BOOL(from) UNARY(cast_##from##_b8, b8, from, x != 0)
#define CONVERSIONS(from)                                                                          \
    CONVERSION(from, i8) CONVERSION(from, i16) CONVERSION(from, i32) CONVERSION(from, i64)         \
    CONVERSION(from, u8) CONVERSION(from, u16) CONVERSION(from, u32) CONVERSION(from, u64)         \
    CONVERSION(from, f32) CONVERSION(from, f64) TO_BOOL(from)

CONVERSIONS(u8) CONVERSIONS(u16) CONVERSIONS(u32) CONVERSIONS(u64)
CONVERSIONS(i8) CONVERSIONS(i16) CONVERSIONS(i32) CONVERSIONS(i64)
FLOAT_TO_INTEGERS(f32) FLOAT_TO_INTEGERS(f64)
CONVERSION(f32, f64) CONVERSION(f64, f32)
TO_BOOL(f32) TO_BOOL(f64)

#define CAST_ENTRY(FROM, from, TO, to) [WEFT_##FROM][WEFT_##TO] = cast_##from##_##to,
#define CASTS_FROM_FLOAT(FROM, from)                                                               \
    CAST_ENTRY(FROM, from, BOOL, b8) CAST_ENTRY(FROM, from, I8, i8)                                \
    CAST_ENTRY(FROM, from, I16, i16) CAST_ENTRY(FROM, from, I32, i32)                              \
    CAST_ENTRY(FROM, from, I64, i64) CAST_ENTRY(FROM, from, U8, u8)                                \
    CAST_ENTRY(FROM, from, U16, u16) CAST_ENTRY(FROM, from, U32, u32)                              \
    CAST_ENTRY(FROM, from, U64, u64)
#define CASTS_FROM_INTEGER(FROM, from)                                                             \
    CASTS_FROM_FLOAT(FROM, from)                                                                   \
    CAST_ENTRY(FROM, from, F32, f32) CAST_ENTRY(FROM, from, F64, f64)

#define CAST_TABLE                                                                                 \
    {                                                                                              \
        CASTS_FROM_INTEGER(BOOL, u8)                                                               \
        CASTS_FROM_INTEGER(I8, i8) CASTS_FROM_INTEGER(I16, i16)                                    \
        CASTS_FROM_INTEGER(I32, i32) CASTS_FROM_INTEGER(I64, i64)                                  \
        CASTS_FROM_INTEGER(U8, u8) CASTS_FROM_INTEGER(U16, u16)                                    \
        CASTS_FROM_INTEGER(U32, u32) CASTS_FROM_INTEGER(U64, u64)                                  \
        CASTS_FROM_FLOAT(F32, f32) CAST_ENTRY(F32, f32, F64, f64)                                  \
        CASTS_FROM_FLOAT(F64, f64) CAST_ENTRY(F64, f64, F32, f32)                                  \
    }
    /* clang-format on */
