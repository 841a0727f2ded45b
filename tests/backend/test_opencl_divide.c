/* Divisions and roots on OpenCL devices that do not round them: computed in f64. The entries for
 * other devices follow from test_device(). */
#include "backend/opencl/opencl.h"
#include "kernel/disk.h"
#include "support/opencl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20000 };

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Any bits: subnormals, infinities and NaN are among them. */
static void fill(float *to, uint64_t seed)
{
    for (int i = 0; i < COUNT; i++) {
        const uint32_t bits = next(&seed) & (i % 4 ? 0xffffffffu : 0x80ffffffu);
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static bool same(float actual, float expected)
{
    return isnan(expected) ? isnan(actual) : memcmp(&actual, &expected, sizeof actual) == 0;
}

static bool check_all(weft_device device)
{
    static float x[COUNT], y[COUNT], quotients[COUNT], roots[COUNT];
    fill(x, 1);
    fill(y, 2);
    const weft_shape shape = WEFT_SHAPE(COUNT);
    WEFT_AUTO weft_array *a = weft_from_host(x, sizeof x, shape, .device = device);
    WEFT_AUTO weft_array *b = weft_from_host(y, sizeof y, shape, .device = device);
    WEFT_AUTO weft_array *c = weft_new(a / b, a, b), *d = weft_new(sqrt(a), a);
    CHECK_OR(c && d, false);
    CHECK_OR(weft_copy_to_host(c, quotients, sizeof quotients) == WEFT_OK, false);
    CHECK_OR(weft_copy_to_host(d, roots, sizeof roots) == WEFT_OK, false);
    for (int i = 0; i < COUNT; i++) {
        CHECK_OR(same(quotients[i], x[i] / y[i]), false);
        CHECK_OR(same(roots[i], sqrtf(x[i])), false);
    }
    return true;
}

TEST(X6_quotients_and_roots_of_f32)
{
    NEEDS_OPENCL;
    const weft_device id = opencl_device();
    weft__disk_choose(""); /* a device does not change its mind, so what is kept does not ask */
    CHECK(check_all(id));
    weft__opencl_device *device = weft__opencl_device_get(id.index);
    CHECK(device && device->f64_config);
    const cl_bitfield config = device->f32_config;
    device->f32_config &= ~(cl_bitfield)CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    weft_device_reset(id);
    const bool right = check_all(id);
    weft_device_info info = {0};
    weft_device_describe(id, &info);
    device->f32_config = config;
    weft_device_reset(id);
    weft__disk_choose(NULL);
    CHECK(right);
    CHECK(info.same_bits);
}

TEST_MAIN(TEST_NO_FAULTS(X6_quotients_and_roots_of_f32, OPENCL_SLOW));
