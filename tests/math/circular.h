/* A reference for sin, cos and tan of f32, for sweeps over all of them: in f64, many at a time. The
 * angle in turns is a sum of four products, of which three are exact, less their integers. */
#ifndef WEFT_TESTS_MATH_CIRCULAR_H
#define WEFT_TESTS_MATH_CIRCULAR_H

#include "kernel/math.h"

#include <math.h>

#if defined(__x86_64__) && !defined(__clang__)
#define CIRCULAR_FAST                                                                              \
    __attribute__((optimize("O3", "no-trapping-math", "no-math-errno"),                            \
                   target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CIRCULAR_FAST
#endif

/* Digits of 1/(2*pi), 29 in each part but the last. For x from 2^74 on, a multiple of 2^51, those
 * before 2^-51 make whole turns. */
static const double circular_near[] = {0x1.45f306dp-3, 0x1.9391054p-32, 0x1.4fe13abp-61,
                                       0x1.d1f534ddc0db6p-90};
static const double circular_far[] = {0x1.529fc24p-54, 0x1.abe8fa9p-81, 0x1.4ddc0dbp-110,
                                      0x1.8a5664f10e41p-140};

/* (r - sin(r)) / r^3 and (1 - cos(r)) / r^2 for z = r^2, by their series. */
#define CIRCULAR_TERM(z, n, rest) (1 - (z) * (1.0 / (n)) * (rest))
#define CIRCULAR_SINE_REST(z)                                                                      \
    (CIRCULAR_TERM(z, 20, CIRCULAR_TERM(z, 42, CIRCULAR_TERM(z, 72, CIRCULAR_SINE_MORE(z)))) *     \
     (1.0 / 6))
#define CIRCULAR_SINE_MORE(z)                                                                      \
    CIRCULAR_TERM(z, 110, CIRCULAR_TERM(z, 156, CIRCULAR_TERM(z, 210, 1 - (z) * (1.0 / 272))))
#define CIRCULAR_COSINE_REST(z)                                                                    \
    (CIRCULAR_TERM(z, 12, CIRCULAR_TERM(z, 30, CIRCULAR_TERM(z, 56, CIRCULAR_COSINE_MORE(z)))) *   \
     0.5)
#define CIRCULAR_COSINE_MORE(z)                                                                    \
    CIRCULAR_TERM(z, 90, CIRCULAR_TERM(z, 132, CIRCULAR_TERM(z, 182, 1 - (z) * (1.0 / 240))))

/* Of x in turns: the fraction, in parts that add up to it. */
#define CIRCULAR_FRACTION(x, part) ((x) * (part)-rint((x) * (part)))

/* One loop with no function in it, which can be compiled for vectors. */
CIRCULAR_FAST
static void circular_exact(weft__math_function function, const float *x, double *exact, int count)
{
    const double *const near = circular_near, *const far = circular_far;
    const int cosine_wanted = function == WEFT__MATH_cos, tangent = function == WEFT__MATH_tan;
    for (int k = 0; k < count; k++) {
        const double at = (double)x[k];
        const int distant = fabs(at) >= 0x1p74;
        const double a = CIRCULAR_FRACTION(at, distant ? far[0] : near[0]);
        const double b = CIRCULAR_FRACTION(at, distant ? far[1] : near[1]);
        const double c = CIRCULAR_FRACTION(at, distant ? far[2] : near[2]);
        const double d = at * (distant ? far[3] : near[3]);
        const double quarters = rint(4 * (a + b + c + d));
        const double r = ((((a - quarters * 0.25) + b) + c) + d) * 0x1.921fb54442d18p+2;
        const double z = r * r, sine = r - r * z * CIRCULAR_SINE_REST(z);
        const double cosine = 1 - z * CIRCULAR_COSINE_REST(z);
        const int turn = (int)quarters + cosine_wanted, odd = turn & 1;
        const double over = odd ? cosine : sine, under = odd ? sine : cosine;
        const double sign = turn & 2 ? -1 : 1, other = odd ? -1 : 1;
        exact[k] = tangent ? other * over / under : sign * over;
    }
}

#endif
