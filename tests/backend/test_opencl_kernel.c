/* Kernels that a user writes in OpenCL C: arguments, spaces, order, and what their errors say. The
 * entries for other devices follow from test_device(). */
#include "support/opencl.h"
#include "support/streams.h"

#include <string.h>

static const char text[] =
    "__kernel void scale(__global const float *in, __global float *out, float factor, long more,\n"
    "                    uchar flag)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    out[i] = factor*in[i] + (float)more + (flag ? 0.5f : 0.0f);\n"
    "}\n"
    "__kernel void where_am_i(__global int *out)\n"
    "{\n"
    "    const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "    out[(z*get_global_size(1) + y)*get_global_size(0) + x] = (int)(100*z + 10*y + x);\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(4, 2, 1))) void groups(__global int *out)\n"
    "{\n"
    "    out[get_global_id(1)*get_global_size(0) + get_global_id(0)] = (int)get_local_size(0);\n"
    "}\n"
    "__kernel void add_one(__global int *a) { a[get_global_id(0)] += 1; }\n"
    "__kernel void pair(__global float *out, float2 a, double b)\n"
    "{ out[0] = a.x; out[1] = a.y; out[2] = (float)b; }\n";

static weft_kernel kernel_of(const char *name, const char *parameters)
{
    return (weft_kernel){.struct_size = sizeof(weft_kernel),
                         .name = name,
                         .parameters = parameters,
                         .body = text,
                         .place = "here",
                         .language = WEFT_KERNEL_OPENCL};
}

TEST(K2_arrays_and_numbers)
{
    NEEDS_OPENCL;
    const weft_kernel scale = kernel_of("scale", "(in, out, factor, more, flag)");
    WEFT_AUTO weft_array *in =
        weft_arange(0, 1000, 1, .dtype = WEFT_F32, .device = opencl_device());
    WEFT_AUTO weft_array *out = weft_zeros_like(in);
    float values[1000];
    long more = -7;
    CHECK(in && out);
    CHECK_STATUS(weft_launch(scale, out, (const weft_array *)in, out, 1.5f, more, (bool)true),
                 WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(out, values, sizeof values), WEFT_OK);
    for (int i = 0; i < 1000; i++)
        CHECK(values[i] == 1.5f * (float)i - 7.0f + 0.5f);
}

TEST(K2_complex_numbers)
{
    NEEDS_OPENCL;
    const weft_kernel pair = kernel_of("pair", "(out, a, b)");
    WEFT_AUTO weft_array *out = weft_zeros(WEFT_SHAPE(3), .device = opencl_device());
    float _Complex a = __builtin_complex(1.5f, -2.5f);
    float values[3];
    CHECK(out);
    CHECK_STATUS(weft_launch(pair, WEFT_SHAPE(1), out, a, 0.25), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(out, values, sizeof values), WEFT_OK);
    CHECK(values[0] == 1.5f && values[1] == -2.5f && values[2] == 0.25f);
}

/* The last axis of the space is dimension 0. */
TEST(K2_axes_of_the_space)
{
    NEEDS_OPENCL;
    const weft_kernel where = kernel_of("where_am_i", "(out)");
    WEFT_AUTO weft_array *out =
        weft_zeros(WEFT_SHAPE(2, 3, 5), .dtype = WEFT_I32, .device = opencl_device());
    int values[2][3][5];
    CHECK(out);
    CHECK_STATUS(weft_launch(where, out, out), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(out, values, sizeof values), WEFT_OK);
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 5; x++)
                CHECK_INT(values[z][y][x], 100 * z + 10 * y + x);
    CHECK_STATUS(weft_launch(where, WEFT_SHAPE(1, 1, 1, 1), out), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_launch(where, WEFT_SHAPE(0, 5), out), WEFT_OK);
}

TEST(K2_groups_of_a_fixed_size)
{
    NEEDS_OPENCL;
    const weft_kernel groups = kernel_of("groups", "(out)");
    WEFT_AUTO weft_array *out =
        weft_zeros(WEFT_SHAPE(6, 8), .dtype = WEFT_I32, .device = opencl_device());
    CHECK(out);
    CHECK_STATUS(weft_launch(groups, out, out), WEFT_OK);
    CHECK(holds(out, 4));
    CHECK_STATUS(weft_launch(groups, WEFT_SHAPE(5, 8), out), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "kernel 'groups': its groups have 2 work-items");
}

/* A view that begins inside of its memory, in order with other work, many times. */
TEST(K2_views_and_order)
{
    NEEDS_OPENCL;
    const weft_kernel add_one = kernel_of("add_one", "(a)");
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(4096), .dtype = WEFT_I32, .device = opencl_device());
    WEFT_AUTO weft_array *half = weft_slice(a, WEFT_RANGE(2048, 4096));
    WEFT_AUTO weft_array *first = weft_slice(a, WEFT_RANGE(0, 2048));
    AUTO_STREAM other = weft_stream_new(opencl_device(), .async = true);
    CHECK(half && first && other);
    for (int i = 0; i < 50; i++) {
        WEFT_AUTO weft_array *bound = weft_asarray(half, .stream = i % 2 ? other : NULL);
        CHECK_STATUS(weft_launch(add_one, half, bound), WEFT_OK);
        CHECK_STATUS(weft(half *= 1, half), WEFT_OK);
    }
    CHECK(holds(half, 50));
    CHECK(holds(first, 0));
    WEFT_AUTO weft_array *odd = weft_slice(a, WEFT_RANGE(1, 5));
    WEFT_AUTO weft_array *back = weft_slice(a, WEFT_STEP(10, 2, -1));
    const weft_status status = weft_launch(add_one, odd, odd); /* up to the device */
    CHECK(status == WEFT_OK || status == WEFT_ERROR_UNSUPPORTED);
    CHECK_STATUS(weft_launch(add_one, back, back), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "kernel 'add_one': argument 1 lies backwards");
}

TEST(K2_the_compiler_is_heard)
{
    NEEDS_OPENCL;
    weft_kernel wrong = kernel_of("wrong", "(a)");
    wrong.body = "__kernel void wrong(__global int *a) { a[0] = nowhere; }";
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(8), .dtype = WEFT_I32, .device = opencl_device());
    CHECK(a);
    CHECK_STATUS(weft_launch(wrong, a, a), WEFT_ERROR_COMPILE);
    CHECK_ERROR(WEFT_ERROR_COMPILE, "kernel 'wrong': ");
    CHECK(strstr(weft_error_message(), "nowhere"));
    const weft_kernel missing = kernel_of("missing", "(a)");
    CHECK_STATUS(weft_launch(missing, a, a), WEFT_ERROR_COMPILE);
    CHECK_ERROR(WEFT_ERROR_COMPILE, "no kernel of the name 'missing'");
    CHECK(holds(a, 0));
}

TEST(K2_wrong_arguments)
{
    NEEDS_OPENCL;
    const weft_kernel add_one = kernel_of("add_one", "(a)");
    const weft_kernel pair = kernel_of("pair", "(out, a, b)");
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(8), .dtype = WEFT_I32, .device = opencl_device());
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(8), .dtype = WEFT_I32, .device = WEFT_CPU);
    CHECK(a && b);
    const weft_kernel short_of = kernel_of("pair", "(out)");
    CHECK_STATUS(weft_launch(short_of, a, a), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "it has 3 parameters in its text, and 1 arguments");
    CHECK_STATUS(weft_launch(pair, a, a, 1, 2.0), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "argument 2 is a C number of 4 bytes");
    CHECK_STATUS(weft_launch(add_one, b, b), WEFT_ERROR_DEVICE);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "'add_one' is OpenCL C and runs on OpenCL devices");
    CHECK(holds(a, 0));
}

/* Compiled once, and again after a reset. */
TEST(K2_kept_until_a_reset)
{
    NEEDS_OPENCL;
    const weft_kernel add_one = kernel_of("add_one", "(a)");
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(8), .dtype = WEFT_I32, .device = opencl_device());
    weft_statistics first = {0}, second = {0}, third = {0};
    CHECK(a);
    CHECK_STATUS(weft_launch(add_one, a, a), WEFT_OK);
    weft_memory_stats(opencl_device(), &first);
    for (int i = 0; i < 5; i++)
        CHECK_STATUS(weft_launch(add_one, a, a), WEFT_OK);
    weft_memory_stats(opencl_device(), &second);
    CHECK_INT(second.compilations, first.compilations);
    CHECK_INT(second.launches, first.launches + 5);
    CHECK_STATUS(weft_device_reset(opencl_device()), WEFT_OK);
    CHECK_STATUS(weft_launch(add_one, a, a), WEFT_OK);
    weft_memory_stats(opencl_device(), &third);
    CHECK_INT(third.compilations, second.compilations + 1);
    CHECK(holds(a, 7));
}

TEST_MAIN(TEST_NO_FAULTS(K2_arrays_and_numbers, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_complex_numbers, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_axes_of_the_space, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_groups_of_a_fixed_size, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_views_and_order, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_the_compiler_is_heard, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_wrong_arguments, OPENCL_SLOW),
          TEST_NO_FAULTS(K2_kept_until_a_reset, OPENCL_SLOW));
