/* An independent scalar reference of what a conversion between dtypes gives, in wide arithmetic:
 * every element of every dtype is exact as a long double of 64 bits or more, and is then rounded
 * once. Also numbers that are hard to convert, and a generator of others.
 */
#ifndef WEFT_TESTS_SUPPORT_REFERENCE_H
#define WEFT_TESTS_SUPPORT_REFERENCE_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <weft/weft.h>

_Static_assert(LDBL_MANT_DIG >= 64, "a long double must hold every i64, u64 and f64");

/* An element, exactly. An integer is `integer` modulo 2^64 as well, for wrapping. */
struct number {
    bool is_integer;
    uint64_t integer;
    long double part[2];
};

/* How a float dtype is laid out: bits of the fraction, smallest exponent of its last bit. */
struct float_format {
    int bits, fraction, lowest;
};

static inline struct float_format float_format_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F16:
        return (struct float_format){16, 10, -24};
    case WEFT_BF16:
        return (struct float_format){16, 7, -133};
    case WEFT_F32:
    case WEFT_C64:
        return (struct float_format){32, 23, -149};
    default:
        return (struct float_format){64, 52, -1074};
    }
}

static inline bool is_float(weft_dtype dtype) { return dtype >= WEFT_F16 && dtype <= WEFT_F64; }
static inline bool is_complex(weft_dtype dtype) { return dtype >= WEFT_C64; }
static inline bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }

static inline long double float_decode(struct float_format format, uint64_t bits)
{
    uint64_t fraction = bits & ((UINT64_C(1) << format.fraction) - 1);
    int exponent_bits = format.bits - 1 - format.fraction;
    int exponent = (int)(bits >> format.fraction & ((UINT64_C(1) << exponent_bits) - 1));
    long double size;
    if (exponent == (1 << exponent_bits) - 1)
        size = fraction ? (long double)NAN : (long double)INFINITY;
    else if (exponent == 0)
        size = ldexpl((long double)fraction, format.lowest);
    else
        size = ldexpl((long double)(fraction | UINT64_C(1) << format.fraction),
                      format.lowest + exponent - 1);
    return bits >> (format.bits - 1) & 1 ? -size : size;
}

/* The nearest float, ties to even; NaN is the canonical one. */
static inline uint64_t float_encode(struct float_format format, long double x)
{
    int exponent_bits = format.bits - 1 - format.fraction, exponent = 0;
    uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << format.fraction;
    uint64_t sign = signbit(x) ? UINT64_C(1) << (format.bits - 1) : 0;
    if (isnan(x))
        return infinity | UINT64_C(1) << (format.fraction - 1);
    if (isinf(x))
        return sign | infinity;
    if (x == 0)
        return sign;
    frexpl(x, &exponent); /* |x| is in [2^(exponent-1), 2^exponent) */
    int last = exponent - 1 - format.fraction;
    if (last < format.lowest)
        last = format.lowest;
    uint64_t whole = (uint64_t)nearbyintl(ldexpl(fabsl(x), -last));
    uint64_t bits = whole; /* a subnormal, or a carry into the exponent, needs nothing more */
    if (whole >> format.fraction)
        bits = whole + ((uint64_t)(last - format.lowest) << format.fraction);
    return sign | (bits < infinity ? bits : infinity);
}

static inline struct number number_decode(weft_dtype dtype, const void *element)
{
    struct number number = {0};
    size_t size = weft_dtype_size(dtype);
    uint64_t bits[2] = {0};
    if (is_complex(dtype)) {
        memcpy(&bits[0], element, size / 2);
        memcpy(&bits[1], (const char *)element + size / 2, size / 2);
    } else
        memcpy(&bits[0], element, size);
    if (is_float(dtype) || is_complex(dtype)) {
        number.part[0] = float_decode(float_format_of(dtype), bits[0]);
        number.part[1] = is_complex(dtype) ? float_decode(float_format_of(dtype), bits[1]) : 0;
        return number;
    }
    number.is_integer = true;
    if (dtype == WEFT_BOOL)
        bits[0] = bits[0] != 0;
    unsigned unused = 64 - 8 * (unsigned)size;
    number.integer = bits[0];
    if (is_signed(dtype) && bits[0] >> (8 * size - 1))
        number.integer |= unused ? ~UINT64_C(0) << (8 * size) : 0;
    number.part[0] =
        is_signed(dtype) ? (long double)(int64_t)number.integer : (long double)number.integer;
    return number;
}

/* Truncated toward zero, the nearest end beyond the range, 0 for NaN. */
static inline uint64_t float_to_integer(weft_dtype dtype, long double x)
{
    int bits = 8 * (int)weft_dtype_size(dtype);
    long double low = is_signed(dtype) ? -ldexpl(1, bits - 1) : 0;
    long double high = ldexpl(1, is_signed(dtype) ? bits - 1 : bits) - 1;
    if (isnan(x))
        return 0;
    x = truncl(x);
    x = x < low ? low : x > high ? high : x;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static inline void number_encode(weft_dtype dtype, const struct number *number, void *element)
{
    size_t size = weft_dtype_size(dtype);
    uint64_t bits[2] = {0};
    if (is_float(dtype) || is_complex(dtype)) {
        bits[0] = float_encode(float_format_of(dtype), number->part[0]);
        bits[1] = float_encode(float_format_of(dtype), number->part[1]);
    } else if (dtype == WEFT_BOOL)
        bits[0] = number->part[0] != 0 || number->part[1] != 0;
    else
        bits[0] = number->is_integer ? number->integer : float_to_integer(dtype, number->part[0]);
    if (!is_complex(dtype)) {
        memcpy(element, &bits[0], size);
        return;
    }
    memcpy(element, &bits[0], size / 2);
    memcpy((char *)element + size / 2, &bits[1], size / 2);
}

/* One element from one dtype to another; a copy keeps every bit. */
static inline void reference_convert(weft_dtype to, void *target, weft_dtype from,
                                     const void *source)
{
    if (to == from) {
        memcpy(target, source, weft_dtype_size(to));
        return;
    }
    struct number number = number_decode(from, source);
    number_encode(to, &number, target);
}

static inline void reference_convert_all(weft_dtype to, void *target, weft_dtype from,
                                         const void *source, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        reference_convert(to, (char *)target + k * (int64_t)weft_dtype_size(to), from,
                          (const char *)source + k * (int64_t)weft_dtype_size(from));
}

/* A small generator, the same everywhere. */
static inline uint64_t random_bits(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline int64_t random_below(uint64_t *state, int64_t bound)
{
    return (int64_t)(random_bits(state) % (uint64_t)bound);
}

/* Integers around every power of two, at the ties of narrower floats, and one beside them. */
static inline uint64_t hard_integer(uint64_t *state)
{
    int power = (int)random_below(state, 64);
    uint64_t x = UINT64_C(1) << power;
    switch (random_below(state, 6)) {
    case 0:
        return x;
    case 1:
        return x - 1;
    case 2:
        return 0 - x;
    case 3: { /* a tie of f16, bf16, f32 or f64 … */
        static const int fraction[] = {10, 7, 23, 52};
        int half = power - fraction[random_below(state, 4)] - 1;
        uint64_t tie = half >= 0 ? x | UINT64_C(1) << half : x;
        if (half >= 0 && random_below(state, 2))
            tie |= UINT64_C(2) << half;                /* … whose neighbour below is odd … */
        tie += (uint64_t)(random_below(state, 3) - 1); /* … or one beside it */
        return random_below(state, 2) ? tie : 0 - tie;
    }
    case 4:
        return random_bits(state);
    default:
        return (uint64_t)(random_below(state, 7) - 3);
    }
}

/* The same for a float: specials, ties of narrower formats, the ends of the integer ranges. */
static inline uint64_t hard_float(struct float_format format, uint64_t *state)
{
    static const long double ends[] = {0.5L,
                                       127.5L,
                                       128.0L,
                                       -128.5L,
                                       -129.0L,
                                       255.5L,
                                       256.0L,
                                       65519.0L,
                                       65519.99L,
                                       65520.0L,
                                       65504.L,
                                       2147483647.5L,
                                       2147483648.L,
                                       -2147483649.L,
                                       4294967295.5L,
                                       4294967296.L,
                                       9223372036854775807.L,
                                       -9223372036854775808.L,
                                       18446744073709551615.L,
                                       -0.75L,
                                       0x1p-24L,
                                       0x1p-25L,
                                       0x1.0000000000001p-25L,
                                       0x1p-133L,
                                       0x1p-134L,
                                       0x1p-149L,
                                       0x1p-150L,
                                       0x1.8p-150L,
                                       0x1p-1074L,
                                       0x1.fffffep127L,
                                       0x1.ffffffp127L,
                                       0x1.fffffefffffffp127L,
                                       0x1.fep127L,
                                       0x1.ffp127L,
                                       1.0L,
                                       -1.0L};
    uint64_t sign = random_below(state, 2) ? UINT64_C(1) << (format.bits - 1) : 0;
    uint64_t infinity = ((UINT64_C(1) << (format.bits - 1 - format.fraction)) - 1)
                        << format.fraction;
    switch (random_below(state, 8)) {
    case 0:
        return sign;
    case 1:
        return sign | infinity;
    case 2:
        return sign | infinity | 1; /* a signalling NaN with a payload */
    case 3:
        return sign | (uint64_t)random_below(state, 4); /* subnormals */
    case 4:
        return sign |
               float_encode(format,
                            ends[random_below(state, (int64_t)(sizeof ends / sizeof ends[0]))]);
    case 5: { /* a tie of f16, bf16 or f32, or one beside it, at a moderate exponent */
        static const int narrow[] = {10, 7, 23};
        int fraction = narrow[random_below(state, 3)];
        long double x =
            1 + ldexpl((long double)random_below(state, 4), -fraction) + ldexpl(1, -fraction - 1);
        int exponent = (int)random_below(state, 200) - 150;
        uint64_t bits = float_encode(format, ldexpl(x, exponent));
        return sign | (bits + (uint64_t)(random_below(state, 3) - 1));
    }
    default:
        return random_bits(state) &
               (format.bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << format.bits) - 1);
    }
}

/* Fills memory with elements that are hard to convert. */
static inline void hard_elements(weft_dtype dtype, void *data, int64_t count, uint64_t *state)
{
    size_t size = weft_dtype_size(dtype), part = is_complex(dtype) ? size / 2 : size;
    for (size_t at = 0; at < (size_t)count * size; at += part) {
        uint64_t bits = is_float(dtype) || is_complex(dtype)
                            ? hard_float(float_format_of(dtype), state)
                            : hard_integer(state);
        if (dtype == WEFT_BOOL)
            bits &= 1;
        memcpy((char *)data + at, &bits, part);
    }
}

#endif
