/* Expressions, over large arrays and in small calls: expressions [--device NAME]. */
#include "measure.h"
#include <weft/weft.h>

/* A GPU has more memory, and less time. */
static int64_t side = SIDE, cubed_side = CUBE;
static int large_calls = 1, small_calls = 100000;
static weft_device where;

static weft_array *a, *b, *c, *row, *far, *turned, *halves, *half, *cube, *cube_out;

static void check(bool fine)
{
    if (fine)
        return;
    fprintf(stderr, "%s\n", weft_error_message());
    exit(1);
}

static weft_array *spread(weft_shape shape, double low, double high)
{
    weft_array *array = weft_empty(shape, .device = WEFT_CPU);
    check(array != NULL);
    fill_spread(weft_array_data(array), (size_t)weft_array_count(array), low, high);
    weft_array *there = weft_to_device(array, where, NULL);
    check(there != NULL);
    weft_array_release(array);
    return there;
}

static void wait_there(void) { check(weft_device_synchronize(where) == WEFT_OK); }

static void choose_device(int count, char **arguments)
{
    where = WEFT_CPU;
    if (count != 3 || strcmp(arguments[1], "--device") != 0)
        return;
    where = weft_device_named(arguments[2]);
    check(where.kind != WEFT_DEVICE_INVALID);
    check(weft_device_set_default(where) == WEFT_OK);
    bench_device = weft_device_id(where);
    if (where.kind == WEFT_DEVICE_CPU)
        return;
    bench_wait = wait_there;
    large_calls = 20;
    small_calls = 500; /* fewer than a driver queues before it waits */
    if (where.kind == WEFT_DEVICE_CUDA) {
        side = 16384;
        cubed_side = 640;
    }
}

static void make_arrays(void)
{
    a = spread(WEFT_SHAPE(side, side), 0.5, 1.5);
    b = spread(WEFT_SHAPE(side, side), 0.7, 1.4);
    c = spread(WEFT_SHAPE(side, side), 0, 0);
    row = spread(WEFT_SHAPE(side), 0.5, 1.5);
    far = spread(WEFT_SHAPE(side, side), -1e6, 1e6);
    turned = weft_transpose(b);
    halves = weft_slice(a, WEFT_ALL, WEFT_STEP(0, WEFT_END, 2));
    half = weft_empty(WEFT_SHAPE(side, side / 2));
    cube = spread(WEFT_SHAPE(cubed_side, cubed_side, cubed_side), 0.5, 1.5);
    cube_out = weft_empty(WEFT_SHAPE(cubed_side, cubed_side, cubed_side));
    check(turned && halves && half && cube_out);
}

#define ROW(name, ...)                                                                             \
    static void name(void *argument)                                                               \
    {                                                                                              \
        (void)argument;                                                                            \
        check((__VA_ARGS__) == WEFT_OK);                                                           \
    }
ROW(accumulate, weft(a += b, a, b))
ROW(add, weft(c = a + b, a, b, c))
ROW(fused, weft(c += 1.0f / a + 2.0f * a * b, a, b, c))
ROW(choose, weft(c = where(a >= b, a - b, b - a), a, b, c))
ROW(sin_exp, weft(c = sin(exp(a)), a, c))
ROW(sin_far, weft(c = sin(far), far, c))
ROW(add_turned, weft(c = a + turned, a, turned, c))
ROW(with_row, weft(c = (a - row) * row, a, row, c))
ROW(stepped, weft(half = halves * 2, half, halves))
ROW(laplace, weft(cube_out = laplacian(cube), cube, cube_out))

static void release(weft_array *array)
{
    check(array != NULL);
    weft_array_release(array);
}
#define SUM(name, ...)                                                                             \
    static void name(void *argument)                                                               \
    {                                                                                              \
        (void)argument;                                                                            \
        release(weft_new(__VA_ARGS__));                                                            \
    }
SUM(sum_all, sum(a), a)
SUM(sum_0, sum(a, axis = 0), a)
SUM(sum_1, sum(a, axis = 1), a)
SUM(sum_sin, sum(sin(a) * a), a)
SUM(sum_sin_0, sum(sin(a) * a, axis = 0), a)
SUM(sum_sin_1, sum(sin(a) * a, axis = 1), a)

static void measure_large(const char *work, double elements, double bytes, bench_body *body)
{
    double seconds[RUNS];
    weft_statistics before, after;
    if (!is_wanted(work))
        return;
    check(weft_memory_reset_peak(where) == WEFT_OK);
    check(weft_memory_stats(where, &before) == WEFT_OK);
    measure_times(large_calls, body, NULL, seconds);
    check(weft_memory_stats(where, &after) == WEFT_OK);
    report(work, "weft", elements, seconds, bytes, (double)(after.bytes_peak - before.bytes_peak));
}

static void measure_all_large(void)
{
    const double n = (double)(side * side), cubed = (double)(cubed_side * cubed_side * cubed_side);
    char laplacian_name[40];
    snprintf(laplacian_name, sizeof laplacian_name, "laplacian(a), %d^3", (int)cubed_side);
    make_arrays();
    measure_large("a += b", n, 12 * n, accumulate);
    release(a);
    a = spread(WEFT_SHAPE(side, side), 0.5, 1.5);
    release(halves);
    check((halves = weft_slice(a, WEFT_ALL, WEFT_STEP(0, WEFT_END, 2))) != NULL);
    measure_large("c = a + b", n, 12 * n, add);
    measure_large("c += 1/a + 2ab", n, 16 * n, fused);
    measure_large("where(a >= b, a - b, b - a)", n, 12 * n, choose);
    measure_large("sin(exp(a))", n, 8 * n, sin_exp);
    measure_large("sin(a) to 10^6", n, 8 * n, sin_far);
    measure_large("a + b.T", n, 12 * n, add_turned);
    measure_large("(a - row)*row", n, 8 * n, with_row);
    measure_large("a[:, ::2]*2", n / 2, 6 * n, stepped);
    measure_large("sum(a)", n, 4 * n, sum_all);
    measure_large("sum(a) axis 0", n, 4 * n, sum_0);
    measure_large("sum(a) axis 1", n, 4 * n, sum_1);
    measure_large("sum(sin(a)*a)", n, 4 * n, sum_sin);
    measure_large("sum(sin(a)*a) axis 0", n, 4 * n, sum_sin_0);
    measure_large("sum(sin(a)*a) axis 1", n, 4 * n, sum_sin_1);
    measure_large(laplacian_name, cubed, 8 * cubed, laplace);
}

/* Three operands of 1024 elements. */
typedef struct small {
    weft_array *x, *y, *z;
} small;

static weft_array *small_array(int ndim)
{
    weft_shape shape = WEFT_SHAPE(SMALL);
    for (int k = 1; k < ndim; k++) {
        shape.ndim++;
        shape.size[k] = 2;
        shape.size[0] /= 2;
    }
    return spread(shape, 0.5, 1.5);
}

static void small_add(void *argument)
{
    small *s = argument;
    check(weft(s->z = s->x + s->y, s->x, s->y, s->z) == WEFT_OK);
}

static void small_fused(void *argument)
{
    small *s = argument;
    check(weft(s->z += 1.0f / s->x + 2.0f * s->x * s->y, s->x, s->y, s->z) == WEFT_OK);
}

/* Two hundred call sites in turn: what the macro passes, with texts that differ in their line. */
enum { SITES = 200, SITE_ROOM = 80 };
static char sites[SITES][SITE_ROOM];
static size_t site_length;

static void make_sites(void)
{
    for (int i = 0; i < SITES; i++) {
        int used =
            snprintf(sites[i], SITE_ROOM, "bench.c:%03d%cz += 1.0f/x + 2.0f*x*y%cx, y, z", i, 0, 0);
        site_length = (size_t)used;
    }
}

static void small_sites(void *argument)
{
    small *s = argument;
    const weft_operand operands[] = {WEFT_OPERAND(s->x), WEFT_OPERAND(s->y), WEFT_OPERAND(s->z)};
    for (int i = 0; i < SITES; i++)
        check(weft_evaluate_site(sites[i], site_length, 3, operands) == WEFT_OK);
}

static void measure_queued(const char *work, bench_body *body, small *s)
{
    double seconds[RUNS];
    if (!is_wanted(work))
        return;
    measure_calls(small_calls, where.kind != WEFT_DEVICE_CPU, body, s, seconds);
    report(work, "weft", SMALL, seconds, 0, -1);
}

static void measure_small(int ndim)
{
    char work[80];
    small s = {small_array(ndim), small_array(ndim), small_array(ndim)};
    snprintf(work, sizeof work, "call on 1024 elements, %d-d: c = a + b", ndim);
    measure_queued(work, small_add, &s);
    snprintf(work, sizeof work, "call on 1024 elements, %d-d: c += 1/a + 2ab", ndim);
    measure_queued(work, small_fused, &s);
    snprintf(work, sizeof work, "200 calls on 1024 elements, %d-d: c += 1/a + 2ab", ndim);
    measure(work, "weft", SMALL, 0, small_calls / 200, small_sites, &s);
    release(s.x), release(s.y), release(s.z);
}

/* Parsed, cut, lowered and run each time: too long to be kept. */
static void many_terms(void *argument)
{
    const small *s = argument;
    static char code[32768];
    const char *names[] = {"x", "y", "z"};
    const weft_operand operands[] = {WEFT_OPERAND(s->x), WEFT_OPERAND(s->y), WEFT_OPERAND(s->z)};
    size_t length = (size_t)snprintf(code, sizeof code, "z = x");
    for (int i = 1; i < 10000; i++)
        length += (size_t)snprintf(code + length, sizeof code - length, i % 2 ? "+y" : "+x");
    check(weft_evaluate(code, 3, names, operands) == WEFT_OK);
}

static void measure_many_terms(void)
{
    small s = {small_array(1), small_array(1), small_array(1)};
    measure("10000 terms on 1024 elements", "weft", SMALL, 0, 20, many_terms, &s);
    release(s.x), release(s.y), release(s.z);
}

static void make_random(void *argument)
{
    (void)argument;
    release(weft_random_uniform(0, 1, WEFT_SHAPE(side, side), .dtype = WEFT_F32));
}

int main(int count, char **arguments)
{
    choose_device(count, arguments);
    make_sites();
    if (where.kind == WEFT_DEVICE_CPU)
        measure_many_terms();
    measure_small(1);
    measure_small(3);
    measure_small(8);
    measure_all_large();
    if (where.kind != WEFT_DEVICE_CPU)
        measure_large("uniform random", (double)(side * side), 4.0 * (double)(side * side),
                      make_random);
    weft_array *all[] = {a, b, c, row, far, turned, halves, half, cube, cube_out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        weft_array_release(all[i]);
    return 0;
}
