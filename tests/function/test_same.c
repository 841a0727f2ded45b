/* The five programs of bench/programs.h give the same bits with both engines of the CPU and on
 * every device that is there: opencl:0, cuda:0 and the device of the tests. */
#include "../bench/programs.h"
#include "kernel/engine.h"
#include "support/arrays.h"
#include "support/check.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Large enough for many chunks of a sum, and for groups and tiles that are not full. */
enum { OPTIONS = 5000, PLANE = 61, LIMIT = 80, SHEET = 131, POINTS = 9000, CLUSTERS = 6, DIMS = 3 };
enum { BOX = 37, STEPS = 4 };

/* What the programs read and write. */
typedef struct memory {
    float options[5][OPTIONS];
    int32_t count[PLANE][PLANE];
    float sheet[4][SHEET][SHEET];
    float points[DIMS][POINTS], centre[CLUSTERS][DIMS];
    int32_t label[POINTS];
    double box[4][BOX][BOX][BOX];
    double left;
} memory;

static void spread(float *data, int count, double low, double high)
{
    for (int i = 0; i < count; i++)
        data[i] = (float)(low + (high - low) * (i * 7919 % 10007) / 10007);
}

static void fill(memory *m)
{
    memset(m, 0, sizeof *m);
    spread(m->options[0], OPTIONS, 10, 50);
    spread(m->options[1], OPTIONS, 50, 12);
    spread(m->options[2], OPTIONS, 0.2, 2);
    spread(&m->sheet[0][0][0], 2 * SHEET * SHEET, 0, 1);
    spread(&m->points[0][0], DIMS * POINTS, 0, 1);
    spread(&m->centre[0][0], CLUSTERS * DIMS, 0, 1);
    for (int i = 0; i < BOX * BOX * BOX; i++)
        (&m->box[1][0][0][0])[i] = (double)(i * 7919 % 10007) / 5003.5 - 1;
}

#define LEND(memory, dtype, ...)                                                                   \
    weft_borrow((memory), sizeof(memory), WEFT_SHAPE(__VA_ARGS__), (dtype))
/* On the device however small the work is. */
#define CALL_THERE(program, out, ...)                                                              \
    do {                                                                                           \
        static weft_function there;                                                                \
        there = (program);                                                                         \
        there.options.offload = WEFT_OFFLOAD_ALWAYS;                                               \
        WEFT_ON(where);                                                                            \
        status = weft_call(there, out, __VA_ARGS__);                                               \
    } while (0)

static weft_status run_black_scholes(weft_device where, memory *m)
{
    WEFT_AUTO weft_array *spot = LEND(m->options[0], WEFT_F32, OPTIONS);
    WEFT_AUTO weft_array *strike = LEND(m->options[1], WEFT_F32, OPTIONS);
    WEFT_AUTO weft_array *years = LEND(m->options[2], WEFT_F32, OPTIONS);
    WEFT_AUTO weft_array *call = LEND(m->options[3], WEFT_F32, OPTIONS);
    WEFT_AUTO weft_array *put = LEND(m->options[4], WEFT_F32, OPTIONS);
    weft_status status = spot && strike && years && call && put ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(black_scholes, NULL, spot, strike, years, 0.02f, 0.3f, call, put, OPTIONS);
    return status;
}

static weft_status run_mandelbrot(weft_device where, memory *m)
{
    WEFT_AUTO weft_array *count = LEND(m->count, WEFT_I32, PLANE, PLANE);
    weft_status status = count ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(mandelbrot, NULL, count, PLANE, PLANE, -2.0, -1.25, 2.5 / PLANE, LIMIT);
    return status;
}

static weft_status run_gray_scott(weft_device where, memory *m)
{
    WEFT_AUTO weft_array *u = LEND(m->sheet[0], WEFT_F32, SHEET, SHEET);
    WEFT_AUTO weft_array *v = LEND(m->sheet[1], WEFT_F32, SHEET, SHEET);
    WEFT_AUTO weft_array *p = LEND(m->sheet[2], WEFT_F32, SHEET, SHEET);
    WEFT_AUTO weft_array *q = LEND(m->sheet[3], WEFT_F32, SHEET, SHEET);
    weft_status status = u && v && p && q ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(gray_scott, NULL, u, v, p, q, SHEET, STEPS, 0.035f, 0.06f);
    return status;
}

static weft_status run_kmeans(weft_device where, memory *m)
{
    WEFT_AUTO weft_array *points = LEND(m->points, WEFT_F32, DIMS, POINTS);
    WEFT_AUTO weft_array *centre = LEND(m->centre, WEFT_F32, CLUSTERS, DIMS);
    WEFT_AUTO weft_array *label = LEND(m->label, WEFT_I32, POINTS);
    weft_status status = points && centre && label ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(kmeans, NULL, points, centre, label, POINTS, CLUSTERS, DIMS, STEPS);
    return status;
}

static weft_status run_gradient(weft_device where, memory *m)
{
    WEFT_AUTO weft_array *x = LEND(m->box[0], WEFT_F64, BOX, BOX, BOX);
    WEFT_AUTO weft_array *b = LEND(m->box[1], WEFT_F64, BOX, BOX, BOX);
    WEFT_AUTO weft_array *r = LEND(m->box[2], WEFT_F64, BOX, BOX, BOX);
    WEFT_AUTO weft_array *p = LEND(m->box[3], WEFT_F64, BOX, BOX, BOX);
    weft_status status = x && b && r && p ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(conjugate_gradient, &m->left, x, b, r, p, BOX, STEPS);
    return status;
}

static const struct {
    const char *name;
    weft_status (*run)(weft_device where, memory *m);
} programs[] = {{"Black-Scholes", run_black_scholes},
                {"Mandelbrot", run_mandelbrot},
                {"Gray-Scott", run_gray_scott},
                {"k-means", run_kmeans},
                {"conjugate gradient", run_gradient}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static void run_all(weft_device where, memory *m)
{
    fill(m);
    for (int k = 0; k < PROGRAMS; k++)
        CHECK_STATUS(programs[k].run(where, m), WEFT_OK);
}

/* Program after program, so that the name of the one that differs is known. */
static void check_same(weft_device where, const char *what, const memory *expected)
{
    static memory actual;
    static const struct {
        size_t begin, end;
    } parts[PROGRAMS] = {{0, offsetof(memory, count)},
                         {offsetof(memory, count), offsetof(memory, sheet)},
                         {offsetof(memory, sheet), offsetof(memory, points)},
                         {offsetof(memory, points), offsetof(memory, box)},
                         {offsetof(memory, box), sizeof(memory)}};
    run_all(where, &actual);
    for (int k = 0; k < PROGRAMS; k++) {
        const char *a = (const char *)&actual, *b = (const char *)expected;
        const size_t bytes = parts[k].end - parts[k].begin;
        if (memcmp(a + parts[k].begin, b + parts[k].begin, bytes) != 0)
            fprintf(stderr, "%s differs: %s\n", programs[k].name, what);
        CHECK_BITS(a + parts[k].begin, b + parts[k].begin, bytes);
    }
}

TEST(F3_programs_have_the_same_bits_everywhere)
{
    static memory expected, tried;
    const char *const devices[] = {test_device(), "opencl:0", "cuda:0"};
    weft__engine_choose(WEFT__ENGINE_INTERPRETER);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    run_all(WEFT_CPU, &expected);
    weft__engine_choose(WEFT__ENGINE_LLVM);
    CHECK_STATUS(weft_device_reset(WEFT_CPU), WEFT_OK);
    fill(&tried);
    (void)programs[0].run(WEFT_CPU, &tried); /* looks for libLLVM */
    if (!weft__engine_is_missing())
        check_same(WEFT_CPU, "compiled code of the CPU", &expected);
    weft__engine_choose(-1);
    for (int k = 0; k < 3; k++) {
        const weft_device where = weft_device_named(devices[k]);
        if (where.kind != WEFT_DEVICE_INVALID && where.kind != WEFT_DEVICE_CPU)
            check_same(where, devices[k], &expected);
    }
    printf("left of the right side: %.17g\n", expected.left);
}

TEST_MAIN(TEST_NO_FAULTS(F3_programs_have_the_same_bits_everywhere,
                         "function/programs has their allocations"));
