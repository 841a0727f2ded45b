/* What a warm call of a function costs over its launches: three loops that cannot be one kernel, of
 * 1024 elements, beside the same three kernels launched one by one. Prints a table of its own. */
#include "measure.h"
#include <weft/weft.h>

enum { CALLS = 20000, ROUNDS = 9 };

WEFT_FUNCTION(three, (x, y, z, n), {
    for (int i = 0; i < n; i++)
        y(i) = 2 * x(i) + 1;
    for (int i = 0; i < n; i++)
        z(i) = y(n - 1 - i) - x(i);
    for (int i = 0; i < n; i++)
        x(i) = 0.5f * z(n - 1 - i);
});
WEFT_FUNCTION(none, (x, y, z, n), { m = n; });

WEFT_KERNEL(first, (x, y), { y(i) = 2 * x(i) + 1; });
WEFT_KERNEL(second, (x, y, z), { z(i) = y(1023 - i) - x(i); });
WEFT_KERNEL(third, (x, z), { x(i) = 0.5f * z(1023 - i); });

static weft_array *x, *y, *z;
static weft_status status;

static void call_three(void) { status |= weft_call(three, NULL, x, y, z, (int)SMALL); }
static void call_none(void) { status |= weft_call(none, NULL, x, y, z, (int)SMALL); }
static void launch_three(void)
{
    status |= weft_launch(first, y, x, y);
    status |= weft_launch(second, z, x, y, z);
    status |= weft_launch(third, x, x, z);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Nanoseconds of one call: the median of several rounds. */
static double measure_calls(void (*body)(void))
{
    double rounds[ROUNDS];
    for (double end = now() + WARM_UP; now() < end;)
        body();
    for (int k = 0; k < ROUNDS; k++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            body();
        rounds[k] = (now() - start) / CALLS * 1e9;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_value);
    return rounds[ROUNDS / 2];
}

int main(void)
{
    x = weft_ones(WEFT_SHAPE(SMALL));
    y = weft_zeros(WEFT_SHAPE(SMALL));
    z = weft_zeros(WEFT_SHAPE(SMALL));
    double called = measure_calls(call_three), launched = measure_calls(launch_three);
    double nothing = measure_calls(call_none);
    if (status != WEFT_OK)
        return fprintf(stderr, "%s\n", weft_error_message()), 1;
    printf("a call of three loops       %7.0f ns\n", called);
    printf("the same kernels, launched  %7.0f ns\n", launched);
    printf("the call over its launches  %7.0f ns\n", called - launched);
    printf("a call that launches none   %7.0f ns\n", nothing);
    weft_array_release(x);
    weft_array_release(y);
    weft_array_release(z);
    return 0;
}
