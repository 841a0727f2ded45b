/* Operands: arrays and C numbers as tagged values, made by the macros. */
#ifndef WEFT_OPERAND_H
#define WEFT_OPERAND_H

#include <weft/dtype.h>

#ifdef __cplusplus
#include <complex>
extern "C" {
#endif

/* An n-d array: <weft/array.h>. */
typedef struct weft_array weft_array;

/* What an operand is. */
typedef enum weft_operand_tag {
    WEFT_OPERAND_ARRAY, /* value.array; may be written */
    WEFT_OPERAND_INPUT, /* value.input; only read */
    WEFT_OPERAND_NUMBER /* a C number of type dtype, in the field for its kind */
} weft_operand_tag;

/* An array or a C number; WEFT_OPERAND makes one. */
typedef struct weft_operand {
    int32_t tag;   /* a weft_operand_tag */
    int32_t dtype; /* of a number: the C type it came from */
    union {
        weft_array *array;       /* may be written */
        const weft_array *input; /* only read */
        int64_t i;               /* signed integers */
        uint64_t u;              /* unsigned integers and bool */
        double f;                /* f32 and f64 */
        double complex_[2];      /* c64 and c128: real and imaginary part */
    } value;                     /* one of them, as the tag and the dtype say */
} weft_operand;

/* A plain char is signed on some machines. */
#define WEFT__CHAR ('\xff' < 0 ? WEFT_I8 : WEFT_U8)

#ifdef __cplusplus
}
#define WEFT__OPERAND_CAST(type, x) static_cast<type>(x)
#define WEFT__OPERAND_NAME(name) weft__operand
#define WEFT__OPERAND_INLINE inline
#else
#define WEFT__OPERAND_CAST(type, x) (type)(x)
#define WEFT__OPERAND_NAME(name) weft__operand_##name
#define WEFT__OPERAND_INLINE static inline
#endif

/* C type, a name for it, tag, dtype, field, type of the field */
#define WEFT__OPERAND_LIST(X)                                                                      \
    X(weft_array *, array, ARRAY, 0, array, weft_array *)                                          \
    X(const weft_array *, input, INPUT, 0, input, const weft_array *)                              \
    X(bool, boolean, NUMBER, WEFT_BOOL, u, uint64_t)                                               \
    X(char, char, NUMBER, WEFT__CHAR, i, int64_t)                                                  \
    X(signed char, schar, NUMBER, WEFT_I8, i, int64_t)                                             \
    X(short, short, NUMBER, WEFT_I16, i, int64_t)                                                  \
    X(int, int, NUMBER, WEFT_I32, i, int64_t)                                                      \
    X(long, long, NUMBER, sizeof(long) == 8 ? WEFT_I64 : WEFT_I32, i, int64_t)                     \
    X(long long, llong, NUMBER, WEFT_I64, i, int64_t)                                              \
    X(unsigned char, uchar, NUMBER, WEFT_U8, u, uint64_t)                                          \
    X(unsigned short, ushort, NUMBER, WEFT_U16, u, uint64_t)                                       \
    X(unsigned int, uint, NUMBER, WEFT_U32, u, uint64_t)                                           \
    X(unsigned long, ulong, NUMBER, sizeof(long) == 8 ? WEFT_U64 : WEFT_U32, u, uint64_t)          \
    X(unsigned long long, ullong, NUMBER, WEFT_U64, u, uint64_t)                                   \
    X(float, float, NUMBER, WEFT_F32, f, double)                                                   \
    X(double, double, NUMBER, WEFT_F64, f, double)                                                 \
    X(long double, ldouble, NUMBER, WEFT_F64, f, double)

#define WEFT__OPERAND_MAKE(type, name, tag_, dtype_, field, wide)                                  \
    WEFT__OPERAND_INLINE weft_operand WEFT__OPERAND_NAME(name)(type x)                             \
    {                                                                                              \
        weft_operand operand;                                                                      \
        operand.tag = WEFT_OPERAND_##tag_;                                                         \
        operand.dtype = dtype_;                                                                    \
        operand.value.field = WEFT__OPERAND_CAST(wide, x);                                         \
        return operand;                                                                            \
    }
WEFT__OPERAND_LIST(WEFT__OPERAND_MAKE)

#ifndef __cplusplus
static inline weft_operand weft__operand_complex(int32_t dtype, double real, double imaginary)
{
    weft_operand operand = {WEFT_OPERAND_NUMBER, dtype, {0}};
    operand.value.complex_[0] = real;
    operand.value.complex_[1] = imaginary;
    return operand;
}
static inline weft_operand weft__operand_c64(float _Complex x)
{
    const float *parts = (const float *)&x;
    return weft__operand_complex(WEFT_C64, (double)parts[0], (double)parts[1]);
}
static inline weft_operand weft__operand_c128(double _Complex x)
{
    const double *parts = (const double *)&x;
    return weft__operand_complex(WEFT_C128, parts[0], parts[1]);
}
#define WEFT__OPERAND_CASE(type, name, tag, dtype, field, wide)                                    \
    type:                                                                                          \
    weft__operand_##name,
/* Any array or C number as an operand; other types do not compile. */
#define WEFT_OPERAND(x)                                                                            \
    _Generic((x), WEFT__OPERAND_LIST(WEFT__OPERAND_CASE) float _Complex                            \
             : weft__operand_c64, double _Complex                                                  \
             : weft__operand_c128)(x)
#else
template <class Real> inline weft_operand weft__operand(std::complex<Real> x)
{
    weft_operand operand;
    operand.tag = WEFT_OPERAND_NUMBER;
    operand.dtype = sizeof(Real) == 4 ? WEFT_C64 : WEFT_C128;
    operand.value.complex_[0] = static_cast<double>(x.real());
    operand.value.complex_[1] = static_cast<double>(x.imag());
    return operand;
}
template <class Other> weft_operand weft__operand(Other *) = delete;
#define WEFT_OPERAND(x) (weft__operand(x))
#endif
#endif
