/* The texts for GPUs, run by whatever device there is, against the CPU, bit by bit: folds, turned
 * operands, stencils, and rare arguments among others; sizes that end in the middle of everything.
 */
#include "codegen/texts.h"
#include "support/arrays.h"
#include "support/random.h"

#include <stdio.h>

enum { MOST = 1 << 17, SIZE_MOST = 16 };

/* Numbers of an element's type, some of them far from 0. */
static void fill(char *data, weft_dtype dtype, int64_t count)
{
    const bool real = dtype == WEFT_F32 || dtype == WEFT_C64 || dtype == WEFT_F64;
    const size_t size = weft_dtype_size(dtype), each = dtype == WEFT_F64 ? 8 : real ? 4 : size;
    for (size_t at = 0; at < size * (size_t)count; at += each) {
        const uint64_t bits = random_bits();
        const double d = (double)(int64_t)(bits % 2001) * (bits % 97 == 0 ? 1e7 : 1e-3) - 1;
        const float f = (float)d;
        const uint16_t half = (uint16_t)(0x3000 + bits % 0x1000);
        memcpy(data + at,
               !real       ? dtype == WEFT_F16 ? (const void *)&half : (const void *)&bits
               : each == 8 ? (const void *)&d
                           : (const void *)&f,
               each);
    }
}

typedef struct trial {
    const char *code, *names; /* and which of a, b and v it has, a letter each */
    weft_shape shape;
    weft_dtype dtype;
    bool odd;   /* the arrays begin one element after where they would */
    int turned; /* b has its axes in another order: none, the last two, or all backwards */
    int step;   /* of b along the last axis, if it is not 0 */
} trial;

/* The elements of that axis that there must be, and those that are taken. */
static int64_t stretched(int64_t size, int step, weft_range *taken)
{
    const int64_t apart = step < 0 ? -step : step;
    if (!step)
        return size;
    *taken = step < 0 ? WEFT_STEP(WEFT_END, WEFT_END, step) : WEFT_STEP(0, WEFT_END, step);
    return (size - 1) * apart + 1;
}

/* `a`, `b` and `v`, of the same values wherever they are. */
static weft_array *operand(const trial *t, const char *data, weft_device device, int turned,
                           int step)
{
    const int ndim = t->shape.ndim;
    weft_shape shape = t->shape;
    weft_axes axes = {.count = ndim};
    weft_range ranges[WEFT_NDIM_MAX];
    for (int k = 0; k < ndim; k++) {
        axes.axis[k] = turned == 2 ? ndim - 1 - k : k;
        if (turned == 1 && k >= ndim - 2)
            axes.axis[k] = 2 * ndim - 3 - k;
        ranges[k] = t->odd && k == ndim - 1 ? WEFT_RANGE(1, WEFT_END) : WEFT_ALL;
    }
    for (int k = 0; k < ndim; k++)
        shape.size[axes.axis[k]] = t->shape.size[k] + (t->odd && k == ndim - 1);
    shape.size[ndim - 1] = stretched(shape.size[ndim - 1], step, &ranges[ndim - 1]);
    int64_t count = 0;
    CHECK_OR(weft_shape_count(shape, &count) == WEFT_OK && count <= MOST, NULL);
    WEFT_AUTO weft_array *memory = weft_from_host(data, weft_dtype_size(t->dtype) * (size_t)count,
                                                  shape, .dtype = t->dtype, .device = device);
    WEFT_AUTO weft_array *permuted = memory ? weft_permute(memory, axes) : NULL;
    return permuted ? weft_slice_with(permuted, ndim, ranges) : NULL;
}

static weft_array *result(const trial *t, const char *const data[2], weft_device device)
{
    static const char *const all[] = {"a", "b", "v"};
    const char *names[3];
    weft_operand operands[3];
    int count = 0;
    WEFT_AUTO weft_array *a = operand(t, data[0], device, 0, 0);
    WEFT_AUTO weft_array *b = operand(t, data[1], device, t->turned, t->step);
    WEFT_AUTO weft_array *v = weft_from_host(data[0], weft_dtype_size(t->dtype), WEFT_SCALAR,
                                             .dtype = t->dtype, .device = device);
    weft_array *arrays[] = {a, b, v};
    CHECK_OR(a && b && v, NULL);
    for (int k = 0; k < 3; k++)
        if (strchr(t->names, all[k][0])) {
            names[count] = all[k];
            operands[count++] = WEFT_OPERAND(arrays[k]);
        }
    return weft_evaluate_new(t->code, count, names, operands);
}

static bool is_same(const void *given)
{
    const trial *t = given;
    static char data[2][SIZE_MOST * MOST], expected[SIZE_MOST * MOST], actual[SIZE_MOST * MOST];
    const char *const both[] = {data[0], data[1]};
    for (int k = 0; k < 2; k++)
        fill(data[k], t->dtype, MOST);
    WEFT_AUTO weft_array *here = result(t, both, weft_device_named("cpu"));
    WEFT_AUTO weft_array *there = result(t, both, text_device());
    if (!here || !there)
        fprintf(stderr, "%s: %s\n", t->code, weft_error_message());
    CHECK_OR(here && there, false);
    const size_t bytes = weft_array_bytes(here);
    CHECK_OR(weft_array_bytes(there) == bytes && bytes <= sizeof expected, false);
    CHECK_OR(weft_copy_to_host(here, expected, bytes) == WEFT_OK, false);
    CHECK_OR(weft_copy_to_host(there, actual, bytes) == WEFT_OK, false);
    const bool same = memcmp(actual, expected, bytes) == 0;
    if (!same)
        fprintf(stderr, "%s of %s, turned %d, step %d, odd %d\n", t->code,
                weft_dtype_name(t->dtype), t->turned, t->step, t->odd);
    return same;
}

/* In one stage and in two, along the last axis and along others; whole chunks, and ends of one. */
TEST(folds)
{
    static const trial trials[] = {
        {"sum(a)", "a", {1, {100003}}, WEFT_F32, false, 0, 0},
        {"sum(sin(a)*a)", "a", {1, {80000}}, WEFT_F32, false, 0, 0},
        {"sum(a, axis=1)", "a", {2, {7, 9001}}, WEFT_F32, false, 0, 0},
        {"sum(sin(a)*a, axis=0)", "a", {2, {150, 260}}, WEFT_F32, false, 0, 0},
        {"sum(a*b, axis=0)", "ab", {2, {1500, 36}}, WEFT_F64, false, 0, 0},
        {"max(a, axis=1)", "a", {2, {300, 130}}, WEFT_F16, true, 0, 0},
        {"sum(a + b, axis=2)", "ab", {3, {5, 6, 1100}}, WEFT_U8, false, 1, 0},
        {"argmax(a, axis=1)", "a", {2, {20, 4097}}, WEFT_I32, false, 0, 0},
        {"argmin(a*b, axis=1)", "ab", {2, {9, 8196}}, WEFT_F32, false, 0, 0},
        {"prod(a, axis=0)", "a", {2, {70, 400}}, WEFT_C64, true, 0, 0},
        {"sum(a)", "a", {1, {99999}}, WEFT_I8, false, 0, 0},
        {"sum(a, axis=1)", "a", {2, {3, 9000}}, WEFT_U16, false, 0, 0},
        {"max(a) - sum(a)", "a", {1, {70001}}, WEFT_I8, true, 0, 0},
        {"sum(a, axis=0)", "a", {2, {1409, 68}}, WEFT_F32, false, 0, 0},
        {"sum(sin(a), axis=0)", "a", {2, {1600, 64}}, WEFT_F32, false, 0, 0},
        {"sum(a, axis=0)", "a", {2, {1900, 64}}, WEFT_I16, false, 0, 0},
        {"sum(a)", "a", {1, {131071}}, WEFT_U8, true, 0, 0},
        {"prod(a)", "a", {1, {80000}}, WEFT_I32, false, 0, 0},
        {"sum(a*b)", "ab", {1, {90000}}, WEFT_F16, false, 0, 0},
        {"min(a, axis=1)", "a", {2, {11, 4500}}, WEFT_U8, false, 0, 0},
    };
    CHECK_ALL(trials);
}

/* Rows that are loaded ahead: none, one time or more often, and some that are left. No argument is
 * so far that an item does its elements again. */
TEST(folds_of_long_code)
{
    static const trial trials[] = {
        {"sum(sin(min(a, 1))*a, axis=1)", "a", {2, {3, 260}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*a)", "a", {1, {80000}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*f32(index(1)))", "a", {3, {8, 16, 256}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*b, axis=1)", "ab", {2, {5, 4736}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*a, axis=1)", "a", {2, {3, 388}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*a, axis=1)", "a", {2, {3, 516}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*a, axis=0)", "a", {2, {1500, 84}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1))*a, axis=1)", "a", {2, {3, 772}}, WEFT_F32, false, 0, 0},
        {"argmax(sin(min(a, 1)), axis=1)", "a", {2, {9, 4228}}, WEFT_F32, false, 0, 0},
        {"sum(sin(min(a, 1)), axis=1)", "a", {2, {4, 8192}}, WEFT_F64, false, 0, 0},
        {"max(sin(min(a, 1)))", "a", {1, {65536}}, WEFT_F16, true, 0, 0},
    };
    CHECK_ALL(trials);
}

/* `x` of the last two sizes, seen along the first or the second axis as if it were there often. */
static weft_array *repeated(const char *data, const trial *t, bool second, weft_device device)
{
    weft_shape all = t->shape, few = all;
    few.size[second] = 1;
    const size_t bytes = weft_dtype_size(t->dtype) * (size_t)(all.size[!second] * all.size[2]);
    WEFT_AUTO weft_array *memory =
        weft_from_host(data, bytes, few, .dtype = t->dtype, .device = device);
    return memory ? weft_broadcast(memory, all) : NULL;
}

static size_t compute_repeated(const trial *t, const char *data, weft_device device, char *to,
                               size_t room)
{
    const char *const names[] = {"a"};
    WEFT_AUTO weft_array *a = repeated(data, t, t->turned, device);
    CHECK_OR(a != NULL, 0);
    const weft_operand operands[] = {WEFT_OPERAND(a)};
    WEFT_AUTO weft_array *made = weft_evaluate_new(t->code, 1, names, operands);
    CHECK_OR(made && weft_array_bytes(made) <= room, 0);
    CHECK_OR(weft_copy_to_host(made, to, weft_array_bytes(made)) == WEFT_OK, 0);
    return weft_array_bytes(made);
}

/* Results that differ in their position alone share what is loaded. */
TEST(results_of_the_same_elements)
{
    static const trial trials[] = {
        {"sum(where(a > f32(index(0)) - 1, a, 0), axis=2)",
         "a",
         {3, {8, 2, 70000}},
         WEFT_F32,
         0,
         0,
         0},
        {"sum(where(a > f32(index(1)), a, 1), axis=2)", "a", {3, {2, 4, 70004}}, WEFT_F32, 0, 1, 0},
        {"sum(a*f64(index(0)), axis=2)", "a", {3, {6, 1, 80003}}, WEFT_F64, 0, 0, 0},
        {"sum(where(i64(a) == index(0), 1, 0), axis=2)", "a", {3, {4, 3, 69008}}, WEFT_I8, 0, 0, 0},
        {"max(a - f32(index(1)), axis=2) + min(a*f32(index(1)), axis=2)",
         "a",
         {3, {1, 8, 65537}},
         WEFT_F32,
         0,
         1,
         0},
        {"argmax(abs(a - f32(index(0))), axis=2)", "a", {3, {4, 3, 70004}}, WEFT_F32, 0, 0, 0},
        {"sum(a + i32(index(0)), axis=2)", "a", {3, {2, 2, 69632}}, WEFT_I32, 0, 0, 0},
        {"prod(a - u16(index(1)), axis=2)", "a", {3, {2, 2, 131064}}, WEFT_U16, 0, 1, 0},
    };
    static char data[SIZE_MOST * MOST], expected[256], actual[256];
    const weft_device device = text_device();
    if (device.kind == WEFT_DEVICE_INVALID)
        SKIP(weft_error_message());
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k += test_quick() ? 3 : 1) {
        fill(data, trials[k].dtype, 3 * MOST);
        const size_t bytes =
            compute_repeated(&trials[k], data, weft_device_named("cpu"), expected, sizeof expected);
        weft__c_like_as_gpu(true);
        weft__c_like_share(0);
        const size_t made = compute_repeated(&trials[k], data, device, actual, sizeof actual);
        weft__c_like_share(-1);
        weft__c_like_as_gpu(false);
        CHECK(made > 0 && made == bytes);
        CHECK_BITS(actual, expected, bytes);
    }
}

TEST(turned_operands)
{
    static const trial trials[] = {
        {"a + b", "ab", {2, {100, 75}}, WEFT_F32, false, 1, 0},
        {"a - b", "ab", {3, {3, 40, 70}}, WEFT_F64, true, 1, 0},
        {"b*2", "b", {3, {33, 20, 65}}, WEFT_U8, false, 2, 0},
        {"a*b", "ab", {2, {64, 96}}, WEFT_C64, true, 2, 0},
        {"sin(b)", "b", {2, {50, 90}}, WEFT_F32, false, 1, 0},
    };
    CHECK_ALL(trials);
}

/* Every second element, by loading all, and others one by one; rows that end in the middle. */
TEST(elements_apart)
{
    static const trial trials[] = {
        {"b*2", "b", {2, {50, 1000}}, WEFT_F32, false, 0, 2},
        {"a + b", "ab", {2, {40, 1003}}, WEFT_F32, false, 0, 3},
        {"b*a - b", "ab", {2, {7, 4096}}, WEFT_F64, false, 0, 2},
        {"sin(b)", "b", {1, {50001}}, WEFT_F32, false, 0, 2},
        {"sin(b) + tan(b)", "b", {1, {40000}}, WEFT_F32, false, 0, -1},
        {"b + a", "ab", {2, {16, 1024}}, WEFT_C64, false, 0, 2},
        {"b + 1", "b", {2, {33, 1280}}, WEFT_I8, false, 0, 2},
        {"b ^ a", "ab", {3, {5, 9, 640}}, WEFT_U16, false, 0, -2},
        {"a*b", "ab", {2, {31, 1000}}, WEFT_F16, false, 0, -1},
        {"b - a", "ab", {2, {30, 500}}, WEFT_C128, false, 0, 5},
    };
    CHECK_ALL(trials);
}

/* With the march along the first axis, rows of neighbours, and neighbours along the row. */
TEST(stencils)
{
#define STAR(boundary)                                                                             \
    "shift(a, 1, 0, 0, " boundary ") - shift(a, -2, 0, 0, " boundary ") + a*shift(a, 0, 1, 0, "    \
    "" boundary ") - shift(a, 0, 0, 1, " boundary ") + shift(a, 0, -1, -3, " boundary              \
    ") + shift(a, 0, 0, -5, " boundary ")"
    static const trial trials[] = {
        {"laplacian(a)", "a", {3, {40, 21, 44}}, WEFT_F32, false, 0, 0},
        {STAR("boundary=unshifted"), "a", {3, {35, 10, 36}}, WEFT_F32, false, 0, 0},
        {STAR("boundary=clamp"), "a", {3, {18, 9, 33}}, WEFT_F32, false, 0, 0},
        {STAR("boundary=wrap"), "a", {3, {17, 9, 40}}, WEFT_F64, false, 0, 0},
        {STAR("value=v"), "av", {3, {50, 9, 24}}, WEFT_C64, false, 0, 0},
        {"sin(shift(a, 1, 0, 0)) + a", "a", {3, {33, 8, 64}}, WEFT_F32, true, 0, 0},
        {"shift(b, 0, 1) + shift(b, 1, 0)*sin(b)", "b", {2, {70, 64}}, WEFT_F32, false, 0, 0},
    };
    CHECK_ALL(trials);
}

/* Arguments that are far from 0 among others that are not. */
TEST(rare_arguments)
{
    static const trial trials[] = {
        {"sin(a)", "a", {1, {30001}}, WEFT_F32, false, 0, 0},
        {"sin(a)*cos(b)", "ab", {1, {20000}}, WEFT_F64, true, 0, 0},
        {"where(a > 0, sin(a), exp(b))", "ab", {1, {20000}}, WEFT_F32, false, 0, 0},
        {"exp(sin(a)) + sin(b)", "ab", {1, {9217}}, WEFT_F32, false, 0, 0}};
    CHECK_ALL(trials);
}

/* Of the same kernel, with different texts. */
static const trial different[] = {
    {"sum(a, axis=1)", "a", {2, {7, 9001}}, WEFT_F32, false, 0, 0},
    {"sum(a, axis=1)", "a", {2, {300, 130}}, WEFT_F32, false, 0, 0},
    {"sum(a, axis=1)", "a", {2, {12, 6001}}, WEFT_F32, false, 0, 0},
};

TEST(alone_forwards)
{
    if (!test_alone())
        SKIP("is run by machine_code_of_another_process");
    CHECK_ALL(different);
}

TEST(alone_backwards)
{
    enum { COUNT = sizeof different / sizeof *different };
    trial backwards[COUNT];
    if (!test_alone())
        SKIP("is run by machine_code_of_another_process");
    for (int k = 0; k < COUNT; k++)
        backwards[k] = different[COUNT - 1 - k];
    CHECK_ALL(backwards);
}

/* What is on the disk is taken for the text that it was made of, and for no other. */
TEST(machine_code_of_another_process)
{
    char folder[] = "/tmp/weft-shapes-XXXXXX", command[64];
    if (text_device().kind == WEFT_DEVICE_INVALID)
        SKIP(weft_error_message());
    CHECK(mkdtemp(folder));
    setenv("WEFT_CACHE_DIR", folder, 1);
    setenv("WEFT_CACHE", "on", 1);
    const bool right = test_passes_alone("alone_forwards") && test_passes_alone("alone_backwards");
    setenv("WEFT_CACHE", "off", 1);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    CHECK(right);
}

/* What loops over the inside of an array read: its elements, from neighbouring rows and columns. */
static weft_array *from_neighbours(const char *data, weft_dtype dtype, weft_device device)
{
    enum { PLANES = 3, ROWS = 45, COLUMNS = 71 };
    const weft_range inside = WEFT_RANGE(1, -1), before = WEFT_RANGE(0, -2),
                     after = WEFT_RANGE(2, WEFT_END);
    WEFT_AUTO weft_array *all =
        weft_from_host(data, weft_dtype_size(dtype) * PLANES * ROWS * COLUMNS,
                       WEFT_SHAPE(PLANES, ROWS, COLUMNS), .dtype = dtype, .device = device);
    WEFT_AUTO weft_array *middle = all ? weft_slice(all, WEFT_ALL, inside, inside) : NULL;
    WEFT_AUTO weft_array *up = all ? weft_slice(all, WEFT_ALL, before, inside) : NULL;
    WEFT_AUTO weft_array *down = all ? weft_slice(all, WEFT_ALL, after, inside) : NULL;
    WEFT_AUTO weft_array *left = all ? weft_slice(all, WEFT_ALL, inside, before) : NULL;
    WEFT_AUTO weft_array *right = all ? weft_slice(all, WEFT_ALL, inside, after) : NULL;
    if (!middle || !up || !down || !left || !right)
        return NULL;
    return weft_new(4 * middle - up - down * left - right, middle, up, down, left, right);
}

static bool has_same_neighbours(weft_dtype dtype)
{
    static char data[SIZE_MOST * MOST], expected[SIZE_MOST * MOST], actual[SIZE_MOST * MOST];
    fill(data, dtype, MOST);
    WEFT_AUTO weft_array *here = from_neighbours(data, dtype, weft_device_named("cpu"));
    WEFT_AUTO weft_array *there = from_neighbours(data, dtype, text_device());
    CHECK_OR(here && there, false);
    const size_t bytes = weft_array_bytes(here);
    CHECK_OR(weft_copy_to_host(here, expected, bytes) == WEFT_OK, false);
    CHECK_OR(weft_copy_to_host(there, actual, bytes) == WEFT_OK, false);
    return memcmp(actual, expected, bytes) == 0;
}

TEST(views_of_one_array)
{
    if (text_device().kind == WEFT_DEVICE_INVALID)
        SKIP(weft_error_message());
    weft__c_like_as_gpu(true);
    weft__c_like_share(0);
    const bool same = has_same_neighbours(WEFT_F32) && has_same_neighbours(WEFT_F64);
    weft__c_like_share(-1);
    weft__c_like_as_gpu(false);
    CHECK(same);
}

#define LONG "compiles very many kernels"
TEST_MAIN(TEST_NO_FAULTS(folds, LONG), TEST_NO_FAULTS(folds_of_long_code, LONG),
          TEST_NO_FAULTS(results_of_the_same_elements, LONG), TEST_NO_FAULTS(turned_operands, LONG),
          TEST_NO_FAULTS(elements_apart, LONG), TEST_NO_FAULTS(stencils, LONG),
          TEST_NO_FAULTS(rare_arguments, LONG), TEST_NO_FAULTS(alone_forwards, LONG),
          TEST_NO_FAULTS(alone_backwards, LONG),
          TEST_NO_FAULTS(machine_code_of_another_process, LONG),
          TEST_NO_FAULTS(views_of_one_array, LONG));
