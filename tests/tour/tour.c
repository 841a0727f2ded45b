/* The API as a whole in one program: it is compiled, warning-free, and not linked. */
#include <weft/weft.h>

typedef struct simulation {
    weft_array *u;
} simulation;

WEFT_FUNCTION(smooth, (x, y), {
    a = 0.5;
    preprocess(x);
    y = a * x + y;
    postprocess(y);
    return sum(y);
});

WEFT_KERNEL(blur, (in, out),
            { out(i, j) = 0.25f * (in(i - 1, j) + in(i + 1, j) + in(i, j - 1) + in(i, j + 1)); });

static weft_status expressions(weft_device gpu)
{
    WEFT_AUTO weft_array *a =
        weft_random_uniform(-1, 1, WEFT_SHAPE(256, 256, 256), .dtype = WEFT_F32, .device = gpu);
    WEFT_AUTO weft_array *b = weft_full_like(a, 2.0, .memory = WEFT_MEMORY_SHARED);
    WEFT_AUTO weft_array *c = weft_zeros_like(a);
    WEFT_AUTO weft_array *d = weft_zeros_like(a);
    const weft_array *k = b;
    simulation state = {a}, *s = &state;
    double total;
    float scale = 0.25f;
    weft(c += 1.0f / a + 2.0f * a * b, a, b, c);
    weft(c = where(a >= b, a - b, b - a), a, b, c);
    weft(m = a * b; c = m + 1; d = m - 1, a, b, c, d);
    weft(c = s->u * scale + k, s->u, scale, k, c);
    WEFT_AUTO weft_array *l = weft_new(laplacian(a), a);
    WEFT_AUTO weft_array *row = weft_sum(l, .axes = WEFT_AXES(0, 2), .keep = true);
    WEFT_AUTO weft_array *all = weft_sum(row);
    weft_item(all, &total);
    return weft_value(&total, sum(sin(a) * b), a, b);
}

static weft_status streams(weft_device gpu, weft_array *a)
{
    weft_stream *q = weft_stream_new(gpu, .async = true, .profiling = true);
    for (int i = 0; i < 3; i++) {
        WEFT_STREAM(q);
        if (i == 1)
            continue;
        weft(a += i, a, i);
    }
    weft_stream_release(q);
    WEFT_AUTO weft_array *v = weft_slice(a, WEFT_ALL, WEFT_STEP(10, 0, -2), WEFT_AT(3));
    WEFT_AUTO weft_array *h = weft_to_device(v, WEFT_CPU, NULL);
    return weft_eval(h);
}

int main(void)
{
    weft_device gpu = weft_device_named("gpu:0");
    WEFT_AUTO weft_array *x = weft_ones(WEFT_SHAPE(64, 64));
    WEFT_AUTO weft_array *y = weft_zeros_like(x);
    double r;
    if (expressions(gpu) != WEFT_OK || streams(gpu, x) != WEFT_OK)
        return 1;
    {
        WEFT_ON(gpu);
        weft_call(smooth, &r, x, y);
    }
    weft_launch(blur, y, x, y);
    return weft_launch(blur, WEFT_SHAPE(64, 64), x, y) != WEFT_OK;
}
