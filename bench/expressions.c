/* Expressions, over large arrays and in small calls: expressions [serve] [--device NAME]. */
#include "device.h"

/* A GPU has more memory, and less time. */
static int64_t side = SIDE, cubed_side = CUBE;
static int large_calls = 1, small_calls = 100000;
enum { ROWS_MOST = 40 };

static weft_array *a, *b, *c, *row, *far, *turned, *halves, *half, *cube, *cube_out;

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

static void choose_sizes(void)
{
    if (where.kind == WEFT_DEVICE_CPU)
        return;
    weft_device_info info;
    check(weft_device_describe(where, &info) == WEFT_OK);
    large_calls = info.unified_memory ? 2 : 20; /* a CPU takes longer */
    small_calls = 500;                          /* fewer than a driver queues before it waits */
    if (!info.unified_memory) {
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
ROW(accumulate, weft(c += b, b, c))
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

static void uniform(void *argument)
{
    (void)argument;
    release(weft_random_uniform(-1, 1, WEFT_SHAPE(side, side), .dtype = WEFT_F32));
}

/* How much more was in use since `begin`, at most. */
static double peak(bool begin)
{
    static uint64_t before;
    weft_statistics all;
    if (begin)
        check(weft_memory_reset_peak(where) == WEFT_OK);
    check(weft_memory_stats(where, &all) == WEFT_OK);
    before = begin ? all.bytes_peak : before;
    return (double)(all.bytes_peak - before);
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

static bench_row rows[ROWS_MOST];
static int rows_count;

/* A row that moves so many bytes for each element and makes `output` bytes of new arrays. */
static void add_large(const char *work, int64_t elements, int bytes, bench_body *body,
                      int64_t output)
{
    rows[rows_count++] = (bench_row){.work = work,
                                     .who = "weft",
                                     .elements = (double)elements,
                                     .bytes = (double)(bytes * elements),
                                     .repeat = large_calls,
                                     .body = body,
                                     .memory = peak,
                                     .output = (double)output};
}

static void add_all_large(void)
{
    enum { SCALAR = 64 }; /* bytes of the smallest array */
    const int64_t n = side * side, cubed = cubed_side * cubed_side * cubed_side;
    static char laplacian_name[40];
    snprintf(laplacian_name, sizeof laplacian_name, "laplacian(a), %d^3", (int)cubed_side);
    add_large("a += b", n, 12, accumulate, 0);
    add_large("c = a + b", n, 12, add, 0);
    add_large("c += 1/a + 2ab", n, 16, fused, 0);
    add_large("where(a >= b, a - b, b - a)", n, 12, choose, 0);
    add_large("sin(exp(a))", n, 8, sin_exp, 0);
    add_large("sin(a) to 10^6", n, 8, sin_far, 0);
    add_large("a + b.T", n, 12, add_turned, 0);
    add_large("(a - row)*row", n, 8, with_row, 0);
    add_large("a[:, ::2]*2", n / 2, 12, stepped, 0);
    add_large("sum(a)", n, 4, sum_all, SCALAR);
    add_large("sum(a) axis 0", n, 4, sum_0, 4 * side);
    add_large("sum(a) axis 1", n, 4, sum_1, 4 * side);
    add_large("sum(sin(a)*a)", n, 4, sum_sin, SCALAR);
    add_large("sum(sin(a)*a) axis 0", n, 4, sum_sin_0, 4 * side);
    add_large("sum(sin(a)*a) axis 1", n, 4, sum_sin_1, 4 * side);
    add_large(laplacian_name, cubed, 8, laplace, 0);
    add_large("uniform random", n, 4, uniform, 4 * n);
}

static void add_call(const char *work, int repeat, bench_body *body, small *s)
{
    rows[rows_count++] = (bench_row){.work = work,
                                     .who = "weft",
                                     .elements = SMALL,
                                     .repeat = repeat,
                                     .body = body,
                                     .argument = s,
                                     .queued = body != small_sites};
}

static void add_small(int ndim, small *s)
{
    static char names[3 * 3][80];
    static int used;
    char(*name)[80] = &names[3 * used++];
    *s = (small){small_array(ndim), small_array(ndim), small_array(ndim)};
    snprintf(name[0], sizeof *name, "call on 1024 elements, %d-d: c = a + b", ndim);
    snprintf(name[1], sizeof *name, "call on 1024 elements, %d-d: c += 1/a + 2ab", ndim);
    snprintf(name[2], sizeof *name, "200 calls on 1024 elements, %d-d: c += 1/a + 2ab", ndim);
    add_call(name[0], small_calls, small_add, s);
    add_call(name[1], small_calls, small_fused, s);
    add_call(name[2], small_calls / SITES, small_sites, s);
}

int main(int count, char **arguments)
{
    static small flat, deep, deepest;
    choose_device(count, arguments);
    choose_sizes();
    make_sites();
    if (where.kind == WEFT_DEVICE_CPU)
        add_call("10000 terms on 1024 elements", 20, many_terms, &flat);
    add_small(1, &flat);
    add_small(3, &deep);
    add_small(8, &deepest);
    make_arrays();
    add_all_large();
    int status = run_rows(count, arguments, rows, rows_count);
    weft_array *all[] = {a,      b,      c,         row,       far,      turned, halves,
                         half,   cube,   cube_out,  flat.x,    flat.y,   flat.z, deep.x,
                         deep.y, deep.z, deepest.x, deepest.y, deepest.z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        weft_array_release(all[i]);
    return status;
}
