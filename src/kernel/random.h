/* Random numbers in primitives: Philox4x32-10 and what is made of its words.
 *
 * A call has a seed (the key) and a number (the upper half of the counter); the lower half numbers
 * its blocks of four words. Draws are numbered from 0 in the order of the elements, the real part
 * of a complex one first. A block gives `planes` draws, and draws of one plane are next to each
 * other: draw d is in plane d / WEFT__RANDOM_RUN % planes of block d / (planes * WEFT__RANDOM_RUN)
 * * WEFT__RANDOM_RUN + d % WEFT__RANDOM_RUN. */
#ifndef WEFT_KERNEL_RANDOM_H
#define WEFT_KERNEL_RANDOM_H

#include "kernel/build.h"

enum { WEFT__RANDOM_RUN = 256, WEFT__RANDOM_PLANES_MAX = 4 };

typedef enum weft__distribution {
    WEFT__UNIFORM, /* scalars of the value type: unit, range, low, high, and the number below it */
    WEFT__UNIFORM_BELOW, /* the same, of which none rounds to high: unit*range, low */
    WEFT__NORMAL,        /* scalars of the value type: deviation, mean */
    WEFT__INTEGERS       /* scalars, u64: how many, or 0 for all that there are; low */
} weft__distribution;

enum { WEFT__RANDOM_ROUNDS = 10 };
enum { WEFT__RANDOM_SCALARS = 2 * WEFT__RANDOM_ROUNDS + 2, WEFT__RANDOM_PARAMETERS_MAX = 5 };

/* Draws that a block of four words gives, for elements of this dtype. */
int weft__random_planes(weft__distribution distribution, weft_dtype dtype);
/* Bits of a uniform number: as many as a float of this dtype holds below 1. */
int weft__random_bits(weft_dtype dtype);

/* The first scalars of all kernels: the halves of the key of each round, and those of the call, low
 * first, u32. */
void weft__random_scalars(uint64_t seed, uint64_t call, uint64_t scalars[WEFT__RANDOM_SCALARS]);

/* Kernels. After those, they have the scalars of the distribution; then the ones said here.
 *
 * Whole runs: the index space is (n, WEFT__RANDOM_RUN), there is an output for each plane, of a
 * real dtype. One more scalar, i64: the first block, a multiple of WEFT__RANDOM_RUN. */
void weft__random_runs(weft__builder *b, weft__distribution distribution, weft_dtype dtype);
/* Any elements: the index space is the shape of the output, of any layout. More scalars, i64: the
 * number of the first draw, and the sizes of all axes but the first. */
void weft__random_elements(weft__builder *b, weft__distribution distribution, weft_dtype dtype,
                           int ndim);

#endif
