/* Calls again and again on an OpenCL device, with arguments that stay or change; and arrays that
 * are large enough for whatever a device does with those alone. Beside plain loops. */
#include "support/opencl.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 1000, LARGE = (32 << 20) / 4 + 77 };

static weft_array *filled(int64_t count, float first)
{
    weft_array *array = weft_empty(WEFT_SHAPE(count), .dtype = WEFT_F32, .device = WEFT_CPU);
    float *data = array ? weft_array_data(array) : NULL;
    for (int64_t i = 0; data && i < count; i++)
        data[i] = first + (float)(i % 1021);
    weft_array *there = array ? weft_to_device(array, opencl_device(), NULL) : NULL;
    weft_array_release(array);
    return there;
}

static bool is_sum(weft_array *z, float first, float factor, float second)
{
    static float values[FEW];
    if (weft_copy_to_host(z, values, sizeof values) != WEFT_OK)
        return false;
    for (int i = 0; i < FEW; i++)
        if (values[i] != (first + (float)i) + factor * (second + (float)i))
            return false;
    return true;
}

/* The same kernel: with the same arrays, with others, with another number, with others that lie
 * where the first ones were, and with the first ones again. */
TEST(X1_arguments_that_change)
{
    NEEDS_OPENCL;
    WEFT_AUTO weft_array *x = filled(FEW, 1), *y = filled(FEW, 2), *z = filled(FEW, 0);
    CHECK(x && y && z);
    for (int k = 0; k < 12; k++) {
        const float factor = k % 3 == 0 ? 2 : 3, first = (float)(10 * k);
        weft_array *other = filled(FEW, first), *out = k % 2 ? filled(FEW, 0) : z;
        CHECK(other && out);
        const weft_status apart = weft(out = other + factor * y, other, factor, y, out);
        const bool right = apart == WEFT_OK && is_sum(out, first, factor, 2);
        const weft_status again = weft(z = x + factor * y, x, factor, y, z);
        const bool still = again == WEFT_OK && is_sum(z, 1, factor, 2);
        weft_array_release(other);
        if (out != z)
            weft_array_release(out);
        CHECK(right && still);
    }
}

/* Elements [3, …) of one array, [0, …) of another and every second of a third, into [1, …). */
static bool is_right(const float *before, const float *after)
{
    for (int64_t i = 0; i < LARGE - 3; i++) {
        const float a = 0.5f + (float)((i + 3) % 1021), b = 0.25f + (float)(i % 1021);
        const float second = (float)(2 * i % 1021), sum = a + b;
        if (before[i + 1] != sum || after[i + 1] != sum * second + sum)
            return false;
    }
    return before[0] == 0 && after[0] == 0 && after[LARGE - 2] == (float)((LARGE - 2) % 1021);
}

TEST(X1_large_arrays)
{
    NEEDS_OPENCL;
    WEFT_AUTO weft_array *a = filled(LARGE, 0.5f), *b = filled(LARGE, 0.25f);
    WEFT_AUTO weft_array *c = filled(LARGE, 0), *d = filled(2 * LARGE, 0);
    const size_t bytes = LARGE * sizeof(float);
    float *before = malloc(bytes), *after = malloc(bytes);
    CHECK(a && b && c && d && before && after);
    WEFT_AUTO weft_array *x = weft_slice(a, WEFT_RANGE(3, WEFT_END));
    WEFT_AUTO weft_array *y = weft_slice(b, WEFT_RANGE(0, LARGE - 3));
    WEFT_AUTO weft_array *z = weft_slice(c, WEFT_RANGE(1, LARGE - 2));
    WEFT_AUTO weft_array *w = weft_slice(d, WEFT_STEP(0, 2 * (LARGE - 3), 2));
    CHECK(x && y && z && w);
    CHECK_STATUS(weft(z = x + y, x, y, z), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(c, before, bytes), WEFT_OK);
    CHECK_STATUS(weft(z += z * w, z, w), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(c, after, bytes), WEFT_OK);
    const bool right = is_right(before, after);
    free(before);
    free(after);
    CHECK(right);
}

TEST_MAIN(TEST_NO_FAULTS(X1_arguments_that_change, OPENCL_SLOW),
          TEST_NO_FAULTS(X1_large_arrays, OPENCL_SLOW));
