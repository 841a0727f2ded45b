/* What each primitive computes, one element at a time, written apart from the interpreter: integers
 * exactly in 128 bits, floats with the C library. Values are bits in the low bytes. */
#ifndef WEFT_TESTS_CODEGEN_REFERENCE_H
#define WEFT_TESTS_CODEGEN_REFERENCE_H

#include "kernel/ir.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static inline bool is_float(weft_dtype dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }
static inline bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }
static inline bool is_integer(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_U64; }
static inline int bits_in(weft_dtype dtype) { return 8 * (int)weft_dtype_size(dtype); }

static inline uint64_t mask_of(weft_dtype dtype) { return ~(uint64_t)0 >> (64 - bits_in(dtype)); }

static inline wide integer_of(weft_dtype dtype, uint64_t bits)
{
    const uint64_t value = bits & mask_of(dtype);
    if (is_signed(dtype) && (value >> (bits_in(dtype) - 1)) != 0)
        return (wide)value - ((wide)1 << bits_in(dtype));
    return (wide)value;
}

static inline uint64_t integer_bits(weft_dtype dtype, wide value)
{
    return (uint64_t)(unsigned_wide)value & mask_of(dtype);
}

static inline double f64_of(weft_dtype dtype, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return dtype == WEFT_F32 ? (double)single : value;
}

/* Rounds to the type; a NaN is the canonical one. */
static inline uint64_t float_bits(weft_dtype dtype, double value)
{
    uint64_t bits = 0;
    const float single = (float)value;
    if (isnan(value))
        return dtype == WEFT_F32 ? 0x7fc00000U : 0x7ff8000000000000U;
    if (dtype == WEFT_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

static inline wide power_of_two(int exponent) { return (wide)1 << exponent; }

static inline wide floor_divided(wide x, wide y)
{
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static inline uint64_t reference_integer(weft__op op, weft_dtype dtype, uint64_t xs, uint64_t ys)
{
    const wide x = integer_of(dtype, xs), y = integer_of(dtype, ys);
    const uint64_t count = ys & mask_of(dtype);
    const int bits = bits_in(dtype);
    wide result = 0;
    switch ((int)op) {
    case WEFT__OP_add:
        result = x + y;
        break;
    case WEFT__OP_sub:
        result = x - y;
        break;
    case WEFT__OP_mul:
        result = (wide)((unsigned_wide)x * (unsigned_wide)y);
        break;
    case WEFT__OP_mul_high:
        result = is_signed(dtype) ? floor_divided(x * y, power_of_two(bits))
                                  : (wide)(((unsigned_wide)x * (unsigned_wide)y) >> bits);
        break;
    case WEFT__OP_div:
        result = y == 0 ? 0 : x / y;
        break;
    case WEFT__OP_rem:
        result = y == 0 ? x : x % y;
        break;
    case WEFT__OP_neg:
        result = -x;
        break;
    case WEFT__OP_abs:
        result = x < 0 ? -x : x;
        break;
    case WEFT__OP_min:
        result = x < y ? x : y;
        break;
    case WEFT__OP_max:
        result = x > y ? x : y;
        break;
    case WEFT__OP_and:
        result = (wide)(xs & ys);
        break;
    case WEFT__OP_or:
        result = (wide)(xs | ys);
        break;
    case WEFT__OP_xor:
        result = (wide)(xs ^ ys);
        break;
    case WEFT__OP_not:
        result = -x - 1;
        break;
    case WEFT__OP_shl:
        result = count >= (uint64_t)bits ? 0 : (wide)((unsigned_wide)x << count);
        break;
    case WEFT__OP_shr:
        result =
            count >= (uint64_t)bits ? (x < 0 ? -1 : 0) : floor_divided(x, power_of_two((int)count));
        break;
    default:
        break;
    }
    return integer_bits(dtype, result);
}

/* One operation of f32 done in f64 and rounded again is the correctly rounded one: f64 has more
 * than twice the bits. Only fma needs its own. */
static inline uint64_t reference_float(weft__op op, weft_dtype dtype, uint64_t xs, uint64_t ys,
                                       uint64_t zs)
{
    const double x = f64_of(dtype, xs), y = f64_of(dtype, ys), z = f64_of(dtype, zs);
    double result = 0;
    switch ((int)op) {
    case WEFT__OP_add:
        result = x + y;
        break;
    case WEFT__OP_sub:
        result = x - y;
        break;
    case WEFT__OP_mul:
        result = x * y;
        break;
    case WEFT__OP_div:
        result = x / y;
        break;
    case WEFT__OP_fma:
        result = dtype == WEFT_F32 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
        break;
    case WEFT__OP_neg:
        result = copysign(x, signbit(x) ? 1.0 : -1.0);
        break;
    case WEFT__OP_abs:
        result = copysign(x, 1.0);
        break;
    case WEFT__OP_sqrt:
        result = sqrt(x);
        break;
    case WEFT__OP_floor:
        result = floor(x);
        break;
    case WEFT__OP_ceil:
        result = ceil(x);
        break;
    case WEFT__OP_trunc:
        result = trunc(x);
        break;
    case WEFT__OP_round:
        result = nearbyint(x);
        break;
    case WEFT__OP_min:
        result = isnan(x) ? x : isnan(y) ? y : isless(x, y) ? x : y;
        break;
    case WEFT__OP_max:
        result = isnan(x) ? x : isnan(y) ? y : isless(y, x) ? x : y;
        break;
    default:
        break;
    }
    return float_bits(dtype, result);
}

static inline bool reference_compare(weft__op op, weft_dtype dtype, uint64_t xs, uint64_t ys)
{
    int less, equal;
    if (is_float(dtype)) {
        const double x = f64_of(dtype, xs), y = f64_of(dtype, ys);
        less = isless(x, y);
        equal = !isunordered(x, y) && !isless(x, y) && !isless(y, x);
    } else {
        const wide x = integer_of(dtype, xs), y = integer_of(dtype, ys);
        less = x < y;
        equal = x == y;
    }
    switch ((int)op) {
    case WEFT__OP_eq:
        return equal;
    case WEFT__OP_ne:
        return !equal;
    case WEFT__OP_lt:
        return less;
    default:
        return less || equal;
    }
}

/* The result of a primitive on arguments of `dtype`. A select takes its condition from `zs`. */
static inline uint64_t reference(weft__op op, weft_dtype dtype, uint64_t xs, uint64_t ys,
                                 uint64_t zs)
{
    if (op >= WEFT__OP_eq && op <= WEFT__OP_le)
        return reference_compare(op, dtype, xs, ys);
    if (dtype == WEFT_BOOL)
        return op == WEFT__OP_not ? !xs : reference_integer(op, WEFT_U8, xs, ys);
    return is_float(dtype) ? reference_float(op, dtype, xs, ys, zs)
                           : reference_integer(op, dtype, xs, ys);
}

/* The integer nearest to value / 2^shift, ties to even. */
static inline unsigned_wide shifted_nearest(unsigned_wide value, int shift)
{
    const unsigned_wide half = (unsigned_wide)1 << (shift - 1), rest = value & (2 * half - 1);
    const unsigned_wide down = value >> shift;
    return down + (rest > half || (rest == half && (down & 1) != 0));
}

/* The nearest number with `precision` bits: every step is exact. */
static inline double nearest(wide value, int precision)
{
    unsigned_wide magnitude = (unsigned_wide)(value < 0 ? -value : value);
    int bits = 0;
    while (bits < 127 && magnitude >> bits != 0)
        bits++;
    const int shift = bits > precision ? bits - precision : 0;
    if (shift > 0)
        magnitude = shifted_nearest(magnitude, shift);
    return ldexp((double)(uint64_t)magnitude, shift) * (value < 0 ? -1.0 : 1.0);
}

static inline uint64_t reference_to_integer(weft_dtype to, double value)
{
    const int bits = bits_in(to) - is_signed(to);
    const double high = ldexp(1.0, bits), low = is_signed(to) ? -high : 0.0;
    if (isnan(value))
        return 0;
    if (value >= high)
        return integer_bits(to, power_of_two(bits) - 1);
    if (value <= low)
        return integer_bits(to, is_signed(to) ? -power_of_two(bits) : 0);
    return integer_bits(to, (wide)trunc(value));
}

static inline uint64_t reference_cast(weft_dtype from, weft_dtype to, uint64_t bits)
{
    if (is_float(from)) {
        const double value = f64_of(from, bits);
        if (to == WEFT_BOOL)
            return isnan(value) || fpclassify(value) != FP_ZERO;
        return is_float(to) ? float_bits(to, value) : reference_to_integer(to, value);
    }
    const wide value = integer_of(from, bits);
    if (to == WEFT_BOOL)
        return value != 0;
    if (is_float(to))
        return float_bits(to, nearest(value, to == WEFT_F32 ? 24 : 53));
    return integer_bits(to, value);
}

#endif
