/* The sizes of series.c, by hand: a loop for the compiler to make vectors of, by threads once it is
 * long enough to be worth it. */
#include "measure.h"
#include "series.h"

static float *x, *y, *z; /* of the row that is measured */
static int64_t held;

static void drop(void)
{
    free(x), free(y), free(z);
    x = y = z = NULL;
    held = 0;
}

static float *filled(int64_t count, float value)
{
    const size_t bytes = ((size_t)count * sizeof(float) + 63) / 64 * 64;
    float *data = aligned_alloc(64, bytes);
    if (!data)
        exit(1);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        data[i] = value;
    return data;
}

static void hold(void *argument, bool begin)
{
    const int64_t count = *(const int64_t *)argument;
    if (!begin) {
        if (count > SERIES_KEPT)
            drop();
        return;
    }
    if (held == count)
        return;
    drop();
    x = filled(count, 0.5f), y = filled(count, 0.75f), z = filled(count, 1);
    held = count;
}

static void fused(void *argument)
{
    enum { WORTH_THREADS = 1 << 15 };
    const int64_t count = *(const int64_t *)argument;
    const float *restrict a = x, *restrict b = y;
    float *restrict c = z;
    if (count < WORTH_THREADS)
        for (int64_t i = 0; i < count; i++)
            c[i] += 1.0f / a[i] + 2.0f * a[i] * b[i];
    else
#pragma omp parallel for simd
        for (int64_t i = 0; i < count; i++)
            c[i] += 1.0f / a[i] + 2.0f * a[i] * b[i];
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    static int64_t counts[SERIES_SIZES];
    static char works[SERIES_SIZES][64];
    bench_row rows[SERIES_SIZES];
    for (int k = 0; k < SERIES_SIZES; k++) {
        counts[k] = (int64_t)1 << 2 * k;
        rows[k] = (bench_row){.work = series_size_name(works[k], k),
                              .who = "hand",
                              .elements = (double)counts[k],
                              .bytes = 16.0 * (double)counts[k],
                              .repeat = series_calls(counts[k], 100000),
                              .body = fused,
                              .argument = &counts[k],
                              .hold = hold};
    }
    const int status = run_rows(argc, argv, rows, SERIES_SIZES);
    drop();
    return status;
}
