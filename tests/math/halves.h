/* f16 and bf16 in tests: their bits as numbers. */
#ifndef WEFT_TESTS_MATH_HALVES_H
#define WEFT_TESTS_MATH_HALVES_H

#include <math.h>
#include <stdint.h>
#include <weft/dtype.h>

/* The number that 16 bits stand for; a NaN has no sign. */
static inline double half_value(uint16_t bits, weft_dtype dtype)
{
    const int mantissa = dtype == WEFT_F16 ? 10 : 7, bias = dtype == WEFT_F16 ? 15 : 127;
    const int field = (bits & 0x7fff) >> mantissa, top = dtype == WEFT_F16 ? 31 : 255;
    const int fraction = bits & ((1 << mantissa) - 1);
    double size = field == top && fraction != 0 ? NAN : INFINITY;
    if (field < top)
        size = ldexp(field > 0 ? fraction + (1 << mantissa) : fraction,
                     (field > 0 ? field : 1) - bias - mantissa);
    return bits & 0x8000 && !isnan(size) ? -size : size;
}

#endif
