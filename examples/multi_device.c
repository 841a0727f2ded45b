/* Several devices: each computes a part of one sum at the same time, and the host adds them up. */
#include "example.h"
#include <math.h>

enum { PARTS_MAX = 16, ELEMENTS = 300000 };

int main(void)
{
    const int devices = weft_device_count() < PARTS_MAX ? weft_device_count() : PARTS_MAX;
    weft_array *parts[PARTS_MAX] = {0};
    weft_random generator = {.seed = 5};
    double sum = 0, alone = 0;

    /* Element k of a part is element offset + k of the whole: no device needs what another has. */
    for (int k = 0; k < devices; k++) {
        const int64_t begin = (int64_t)ELEMENTS * k / devices;
        const int64_t count = (int64_t)ELEMENTS * (k + 1) / devices - begin;
        weft_random mine = generator;
        mine.offset = (uint64_t)begin;
        WEFT_AUTO weft_array *x = weft_random_uniform(-1, 1, WEFT_SHAPE(count), .dtype = WEFT_F64,
                                                      .device = weft_device_at(k), .random = &mine);
        parts[k] = weft_new(sum(x * x), x); /* queued there; nothing waits yet */
        expect(parts[k] != NULL, weft_error_message());
    }
    for (int k = 0; k < devices; k++) {
        double part = 0;
        check(weft_item(parts[k], &part), "a part"); /* this waits */
        printf("%-9s %.6f\n", weft_device_id(weft_device_at(k)), part);
        sum += part;
        weft_array_release(parts[k]);
    }

    WEFT_AUTO weft_array *all = weft_random_uniform(-1, 1, WEFT_SHAPE(ELEMENTS), .dtype = WEFT_F64,
                                                    .device = WEFT_CPU, .random = &generator);
    check(weft_value(&alone, sum(all * all), all), "all on one device");
    printf("together  %.6f, on one device %.6f\n", sum, alone);
    expect(fabs(sum - alone) < 1e-8 * alone, "the parts are those of the whole");
    return 0;
}
