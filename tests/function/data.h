/* The arrays that loops of the tests work on, in plain C and as functions, and calls of both. */
#ifndef WEFT_TESTS_FUNCTION_DATA_H
#define WEFT_TESTS_FUNCTION_DATA_H

#include "support/arrays.h"
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

/* A loop in plain C, where function/elements.h is included; and as a function, by its text. */
typedef void oracle(float *, float *, float *, float *, float *, int32_t *, int);
#define ORACLE(name, ...)                                                                          \
    __attribute__((unused)) static void c_##name(float *X, float *Y, float *Z, float *A, float *C, \
                                                 int32_t *K, int n)                                \
    {                                                                                              \
        (void)X, (void)Y, (void)Z, (void)A, (void)C, (void)K, (void)n;                             \
        __VA_ARGS__                                                                                \
    }
#define FUNCTION(name, text)                                                                       \
    {                                                                                              \
        sizeof(weft_function), name, "(x, y, z, a, c, k, n)", text, WEFT__PLACE,                   \
        {                                                                                          \
            sizeof(weft_function_options), false, WEFT_SERIAL_ERROR, WEFT_OFFLOAD_ALWAYS           \
        }                                                                                          \
    }

static inline void call_oracle(oracle *c, data *d, int alias)
{
    c(vector(d, 0, alias), vector(d, 1, alias), vector(d, 2, alias), d->matrices[0], d->matrices[1],
      d->indices, N);
}

static inline weft_status call_function(const weft_function *function, data *d, int alias)
{
    WEFT_AUTO weft_array *x = lend(vector(d, 0, alias), N, false, WEFT_F32);
    WEFT_AUTO weft_array *y = lend(vector(d, 1, alias), N, false, WEFT_F32);
    WEFT_AUTO weft_array *z = lend(vector(d, 2, alias), N, false, WEFT_F32);
    WEFT_AUTO weft_array *a = lend(d->matrices[0], N, true, WEFT_F32);
    WEFT_AUTO weft_array *c = lend(d->matrices[1], N, true, WEFT_F32);
    WEFT_AUTO weft_array *k = lend(d->indices, N, false, WEFT_I32);
    if (!x || !y || !z || !a || !c || !k)
        return weft_error_code();
    WEFT_ON(device());
    return weft_call(*function, NULL, x, y, z, a, c, k, N);
}

/* Calls it twice, each time from the beginning: the second time it is warm. */
static inline weft_status call_twice(const weft_function *function, data *d, int alias)
{
    weft_status status = WEFT_OK;
    for (int again = 0; again < 2 && status == WEFT_OK; again++) {
        fill(d);
        status = call_function(function, d, alias);
    }
    return status;
}

#endif
