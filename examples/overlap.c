/* Streams: two pipelines at once, ordered by the arrays they share, and nothing waits until the
 * end. */
#include "example.h"

int main(void)
{
    const weft_device device = weft_device_default();
    weft_stream *first = weft_stream_new(device, .async = true);
    weft_stream *second = weft_stream_new(device, .async = true);
    expect(first && second, weft_error_message());
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1000, 1000), 1.0f, .device = device);
    WEFT_AUTO weft_array *b = weft_full_like(a, 2.0f), *sum = weft_zeros_like(a);
    {
        WEFT_STREAM(first); /* current to the end of the block, then waited for */
        for (int k = 0; k < 10; k++)
            check(weft(a = 0.5f * a + 1, a), "the first pipeline");
        check(weft_stream_set_current(device, second), "the second stream");
        for (int k = 0; k < 10; k++)
            check(weft(b = 0.5f * b + 2, b), "the second pipeline");
        check(weft(sum = a + b, sum, a, b), "both"); /* after the work on a, without a word */
    }
    float least = 0, largest = 0;
    check(weft_value(&least, min(sum), sum), "the least");
    check(weft_value(&largest, max(sum), sum), "the largest");
    check(weft_stream_set_current(device, NULL), "the default stream");
    weft_stream_release(first);
    weft_stream_release(second);
    float x = 1, y = 2;
    for (int k = 0; k < 10; k++)
        x = 0.5f * x + 1, y = 0.5f * y + 2;
    printf("both pipelines: %.6f\n", (double)least);
    expect(least == x + y && largest == x + y, "the sum is that of the loop in plain C");
    return 0;
}
