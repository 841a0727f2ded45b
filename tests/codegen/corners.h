/* The numbers at which arithmetic goes wrong, for each type. */
#ifndef WEFT_TESTS_CODEGEN_CORNERS_H
#define WEFT_TESTS_CODEGEN_CORNERS_H

#include "codegen/kernels.h"
#include "codegen/reference.h"

enum { CORNERS_MAX = 128 };

static inline int corners_of_integers(weft_dtype dtype, uint64_t *corner)
{
    const int bits = bits_in(dtype);
    const uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t list[] = {0,
                             1,
                             2,
                             3,
                             7,
                             10,
                             100,
                             (uint64_t)(bits - 1),
                             (uint64_t)bits,
                             (uint64_t)(bits + 1),
                             top - 1,
                             top,
                             top + 1,
                             top - 2,
                             ~(uint64_t)0,
                             ~(uint64_t)1,
                             ~(uint64_t)2,
                             top / 2,
                             top / 2 + 1,
                             0x5555555555555555U};
    const int count = (int)(sizeof list / sizeof list[0]);
    for (int k = 0; k < count; k++)
        corner[k] = list[k] & mask_of(dtype);
    return count;
}

static inline int corners_of_floats(weft_dtype dtype, uint64_t *corner)
{
    static const double list[] = {0.0,
                                  1.0,
                                  0.5,
                                  1.5,
                                  2.5,
                                  3.5,
                                  0.25,
                                  0.75,
                                  0x1p-149,
                                  0x1p-148,
                                  0x1p-126,
                                  0x1.fffffcp-127,
                                  0x1p-1074,
                                  0x1p-1022,
                                  0x1.fffffffffffffp-1023,
                                  0x1.fffffep127,
                                  0x1.fffffffffffffp1023,
                                  0x1.000002p0,
                                  0x1.0000000000001p0,
                                  0x1p23,
                                  0x1p23 + 1,
                                  0x1p22 + 0.5,
                                  0x1p52,
                                  0x1p51 + 0.5,
                                  127.5,
                                  128.0,
                                  128.5,
                                  129.0,
                                  255.5,
                                  256.0,
                                  32767.5,
                                  32768.0,
                                  32769.0,
                                  65535.5,
                                  65536.0,
                                  0x1.fffffep30,
                                  0x1p31,
                                  2147483647.5,
                                  0x1p32,
                                  4294967295.5,
                                  0x1.fffffep62,
                                  0x1p63,
                                  0x1p64,
                                  0x1.fffffffffffffp62,
                                  0x1.fffffffffffffp63,
                                  0x1.fffffep63,
                                  65504.0,
                                  65519.996,
                                  65520.0,
                                  0x1.fffffefffffffp127,
                                  0x1.ffffffp127,
                                  0x1.ffffffp0,
                                  0x1.fffffep0,
                                  3.0,
                                  1e10,
                                  1e-10};
    int count = 0;
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        corner[count++] = float_bits(dtype, list[k]);
        corner[count++] = float_bits(dtype, -list[k]);
    }
    corner[count++] = float_bits(dtype, (double)INFINITY);
    corner[count++] = float_bits(dtype, -(double)INFINITY);
    const uint64_t nan = float_bits(dtype, (double)NAN);
    corner[count++] = nan;
    corner[count++] = nan | (uint64_t)1 << (bits_in(dtype) - 1);
    corner[count++] = nan | 5;
    return count;
}

static inline int corners_of(weft_dtype dtype, uint64_t *corner)
{
    if (dtype == WEFT_BOOL) {
        corner[0] = 0;
        corner[1] = 1;
        return 2;
    }
    return is_float(dtype) ? corners_of_floats(dtype, corner) : corners_of_integers(dtype, corner);
}

/* A number of the type: any bits, or small, which is where additions cancel and shifts shift. */
static inline uint64_t random_of(weft_dtype dtype)
{
    const uint64_t bits = random_bits();
    if (dtype == WEFT_BOOL)
        return bits >> 63;
    if (bits % 4 != 0)
        return (bits >> 2) * 0x9e3779b97f4a7c15U & mask_of(dtype);
    const int64_t small = (int64_t)(bits >> 8) % 1000 - 500;
    return is_float(dtype) ? float_bits(dtype, (double)small / 8)
                           : integer_bits(dtype, (wide)(small / 4));
}

#endif
