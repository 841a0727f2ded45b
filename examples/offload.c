/* A whole function, with loops and a call of the host's, on each device: its parallel parts run
 * there, and what the host reads is on the host before it reads. */
#include "example.h"
#include <math.h>

enum { COUNT = 10000 };

/* Called from the function; its array is on the host by then. */
static weft_status clip(int count, const weft_operand *arguments, void *context)
{
    float *x = weft_array_data(arguments[0].value.array);
    (void)count, (void)context;
    for (int k = 0; k < COUNT; k++)
        x[k] = x[k] > 2 ? 2 : x[k];
    return WEFT_OK;
}

WEFT_FUNCTION(smooth, (x, y), {
    y = 3 * x;
    clip(y);
    for (int k = 0; k < 3; k++)
        y = 0.5f * y + 0.25f * (shift(y, 1) + shift(y, -1));
    return sum(y);
});

/* The same in plain C. */
static double smooth_in_c(const float *x)
{
    static float y[2][COUNT];
    double sum = 0;
    for (int k = 0; k < COUNT; k++)
        y[0][k] = 3 * x[k] > 2 ? 2 : 3 * x[k];
    for (int step = 0; step < 3; step++)
        for (int k = 0; k < COUNT; k++) {
            const float *from = y[step % 2];
            y[1 - step % 2][k] = 0.5f * from[k] + 0.25f * (from[k < COUNT - 1 ? k + 1 : k] +
                                                           from[k > 0 ? k - 1 : k]);
        }
    for (int k = 0; k < COUNT; k++)
        sum += (double)y[1][k];
    return sum;
}

int main(void)
{
    static float host[COUNT];
    float first = 0;
    weft_random_seed(4);
    WEFT_AUTO weft_array *x = weft_random_uniform(0, 1, WEFT_SHAPE(COUNT));
    check(weft_copy_to_host(x, host, sizeof host), "reading");
    check(weft_host_bind("clip", clip), "binding");
    for (int k = 0; k < weft_device_count(); k++) {
        WEFT_ON(weft_device_at(k));
        WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(COUNT), .device = WEFT_CPU);
        float sum = 0;
        check(weft_call(smooth, &sum, x, y), "the call");
        printf("on %-9s %.3f\n", weft_device_id(weft_device_at(k)), (double)sum);
        first = k == 0 ? sum : first;
        expect(sum == first, "the same bits on every device");
    }
    expect(fabs((double)first - smooth_in_c(host)) < 0.05, "the sum of plain C");
    return 0;
}
