/* Functions of the C library that NumPy does not have, over arrays, for the reference. */
#include <math.h>
#include <stddef.h>

#define EXTRA __attribute__((visibility("default")))

EXTRA void extra_fma_f32(size_t count, const float *x, const float *y, const float *z, float *out);
EXTRA void extra_fma_f64(size_t count, const double *x, const double *y, const double *z,
                         double *out);
EXTRA void extra_erf(size_t count, const long double *x, long double *out);
EXTRA void extra_tgamma(size_t count, const long double *x, long double *out);
EXTRA void extra_lgamma(size_t count, const long double *x, long double *out);

void extra_fma_f32(size_t count, const float *x, const float *y, const float *z, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = fmaf(x[i], y[i], z[i]);
}

void extra_fma_f64(size_t count, const double *x, const double *y, const double *z, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = fma(x[i], y[i], z[i]);
}

void extra_erf(size_t count, const long double *x, long double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = erfl(x[i]);
}

void extra_tgamma(size_t count, const long double *x, long double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = tgammal(x[i]);
}

void extra_lgamma(size_t count, const long double *x, long double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = lgammal(x[i]);
}
