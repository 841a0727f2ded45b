/* The arrays that loops of the tests work on, in plain C and as functions. */
#ifndef WEFT_TESTS_FUNCTION_DATA_H
#define WEFT_TESTS_FUNCTION_DATA_H

#include <weft/weft.h>

enum { N = 24, SPARE = 32, APART = 1000 };

/* The arrays of a loop. x and y have room around them, in which one may be a part of the other. */
typedef struct data {
    float vectors[3][N + 2 * SPARE], matrices[2][N * N];
    int32_t indices[N];
} data;

/* Small multiples of a quarter, so that sums are exact in any order. */
static inline void fill(data *d)
{
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < N + 2 * SPARE; i++)
            d->vectors[v][i] = (float)((i * 7 + v * 5) % 17) / 4;
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < N * N; i++)
            d->matrices[m][i] = (float)((i * 11 + m * 3) % 19) / 4;
    for (int i = 0; i < N; i++)
        d->indices[i] = i * 5 % N;
}

static inline float *vector(data *d, int v, int alias)
{
    if (v == 1 && alias != APART)
        return d->vectors[0] + SPARE + alias;
    return d->vectors[v] + SPARE;
}

static inline weft_array *lend(void *memory, int64_t count, bool square, weft_dtype dtype)
{
    weft_shape shape = square ? WEFT_SHAPE(N, N) : WEFT_SHAPE(count);
    return weft_borrow(memory, (size_t)(square ? N * N : count) * 4, shape, dtype);
}

#endif
