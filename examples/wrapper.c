/* A wrapper that supplies a device context: a function called through it runs on the best device,
 * unless the caller has chosen one with WEFT_ON. */
#include "example.h"

enum { COUNT = 1000 };

WEFT_FUNCTION_WITH(wave, (.offload = WEFT_OFFLOAD_ALWAYS), (a), {
    a = sin(a);
    b = a + 2;
    return sum(b);
});

/* The first GPU, else another device than the CPU, else the CPU. */
static weft_device best_device(void)
{
    weft_device best = WEFT_CPU;
    for (int k = 0; k < weft_device_count(); k++) {
        const weft_device device = weft_device_at(k);
        if (device.kind == WEFT_DEVICE_CUDA)
            return device;
        best = device.kind == WEFT_DEVICE_CPU ? best : device;
    }
    return best;
}

/* Any function with one result, as weft_call has it, in a context. */
static weft_status call_offloaded(const weft_function *function, const weft_result *result,
                                  int count, const weft_operand *arguments)
{
    if (weft_device_context().kind != WEFT_DEVICE_NONE) /* the caller's choice */
        return weft_call_with(function, 1, result, count, arguments);
    WEFT_ON(best_device());
    return weft_call_with(function, 1, result, count, arguments);
}
#define OFFLOADED(function, out, ...)                                                              \
    call_offloaded(&(function), &(const weft_result){(out), WEFT_F32},                             \
                   sizeof((const weft_operand[]){__VA_ARGS__}) / sizeof(weft_operand),             \
                   (const weft_operand[]){__VA_ARGS__})

/* Kernels that the device has run so far. */
static uint64_t launches(weft_device device)
{
    weft_statistics statistics;
    check(weft_memory_stats(device, &statistics), "statistics");
    return statistics.launches;
}

int main(void)
{
    static float data[COUNT];
    const weft_device best = best_device();
    WEFT_AUTO weft_array *a = weft_borrow(data, sizeof data, WEFT_SHAPE(COUNT), WEFT_F32);
    float sum = 0, again = 0;
    uint64_t before = launches(best);
    check(OFFLOADED(wave, &sum, WEFT_OPERAND(a)), "a call outside of a context");
    printf("the wrapper's choice, %s: sum %g, %d kernels there\n", weft_device_id(best),
           (double)sum, (int)(launches(best) - before));
    expect(sum == 2 * COUNT && launches(best) > before, "2 for each, computed there");

    before = launches(WEFT_CPU);
    {
        WEFT_ON(WEFT_CPU);
        check(OFFLOADED(wave, &again, WEFT_OPERAND(a)), "a call inside of a context");
    }
    printf("the caller's choice, cpu: sum %g, %d kernels there\n", (double)again,
           (int)(launches(WEFT_CPU) - before));
    expect(again == sum && launches(WEFT_CPU) > before, "the same, computed here");
    return 0;
}
