/* The programs of programs.h at a real size, on the CPU or with --device on another device, where
 * their arrays are. functions.py runs it beside peers. */
#include "programs.h"

#include "measure.h"

enum {
    OPTIONS = 1 << 26,
    PLANE = 2000,
    LIMIT = 1000,
    SHEET = 2048,
    SHEET_STEPS = 200,
    POINTS = 1 << 20,
    DIMS = 4,
    CLUSTERS = 16,
    ROUNDS = 20,
    BOX = 256,
    BOX_STEPS = 20
};

static weft_device where;
static weft_array *spot, *strike, *years, *buys, *sells;
static weft_array *count;
static weft_array *u, *v, *p, *q, *first_v;
static weft_array *x, *centre, *label, *first_centre;
static weft_array *solution, *b, *rest, *direction;

static void check(bool right)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", weft_error_message());
    exit(1);
}

static void wait_there(void) { check(weft_device_synchronize(where) == WEFT_OK); }

static void run_options(void *unused)
{
    (void)unused;
    check(weft_call(black_scholes, NULL, spot, strike, years, 0.02f, 0.3f, buys, sells, OPTIONS) ==
          WEFT_OK);
}

static void run_mandelbrot(void *unused)
{
    (void)unused;
    check(weft_call(mandelbrot, NULL, count, PLANE, PLANE, -2.0, -1.25, 2.5 / PLANE, LIMIT) ==
          WEFT_OK);
}

static void run_gray_scott(void *unused)
{
    (void)unused;
    weft(u = 1.0f; v = first_v, u, v, first_v);
    check(weft_call(gray_scott, NULL, u, v, p, q, SHEET, SHEET_STEPS, 0.035f, 0.06f) == WEFT_OK);
}

static void run_kmeans(void *unused)
{
    (void)unused;
    weft(centre = first_centre, centre, first_centre);
    check(weft_call(kmeans, NULL, x, centre, label, POINTS, CLUSTERS, DIMS, ROUNDS) == WEFT_OK);
}

static void run_gradient(void *unused)
{
    double left;
    (void)unused;
    check(weft_call(conjugate_gradient, &left, solution, b, rest, direction, BOX, BOX_STEPS) ==
          WEFT_OK);
    check(left >= 0);
}

/* Numbers from low to high, on the device. */
static weft_array *spread(weft_shape shape, double low, double high)
{
    WEFT_AUTO weft_array *here = weft_empty(shape, .dtype = WEFT_F32, .device = WEFT_CPU);
    check(here != NULL);
    fill_spread(weft_array_data(here), (size_t)weft_array_count(here), low, high);
    weft_array *there = weft_to_device(here, where, NULL);
    check(there != NULL && weft_eval(there) == WEFT_OK);
    return there;
}

static weft_array *zeros(weft_shape shape, weft_dtype dtype)
{
    weft_array *made = weft_zeros(shape, .dtype = dtype, .device = where);
    check(made != NULL);
    return made;
}

static void make_arrays(void)
{
    const weft_shape options = WEFT_SHAPE(OPTIONS), sheet = WEFT_SHAPE(SHEET, SHEET);
    const weft_shape box = WEFT_SHAPE(BOX, BOX, BOX);
    spot = spread(options, 10, 50);
    strike = spread(options, 50, 12);
    years = spread(options, 0.2, 2);
    buys = zeros(options, WEFT_F32);
    sells = zeros(options, WEFT_F32);
    count = zeros(WEFT_SHAPE(PLANE, PLANE), WEFT_I32);
    first_v = spread(sheet, 0, 0.5);
    u = zeros(sheet, WEFT_F32);
    v = zeros(sheet, WEFT_F32);
    p = zeros(sheet, WEFT_F32);
    q = zeros(sheet, WEFT_F32);
    x = spread(WEFT_SHAPE(DIMS, POINTS), 0, 1);
    first_centre = spread(WEFT_SHAPE(CLUSTERS, DIMS), 0, 1);
    centre = zeros(WEFT_SHAPE(CLUSTERS, DIMS), WEFT_F32);
    label = zeros(WEFT_SHAPE(POINTS), WEFT_I32);
    WEFT_AUTO weft_array *narrow = spread(box, -1, 1);
    solution = zeros(box, WEFT_F64);
    b = zeros(box, WEFT_F64);
    rest = zeros(box, WEFT_F64);
    direction = zeros(box, WEFT_F64);
    weft(b = f64(narrow), b, narrow);
}

static void choose_device(int argc, char **argv)
{
    where = WEFT_CPU;
    for (int k = 1; k + 1 < argc; k++)
        if (strcmp(argv[k], "--device") == 0)
            where = weft_device_named(argv[k + 1]);
    check(where.kind != WEFT_DEVICE_INVALID);
    bench_device = weft_device_id(where);
    if (where.kind != WEFT_DEVICE_CPU)
        bench_wait = wait_there;
}

int main(int argc, char **argv)
{
    static const bench_row rows[] = {
        {.work = "Black-Scholes, 2^26 options", .body = run_options},
        {.work = "Mandelbrot, 2000^2, 1000 steps", .body = run_mandelbrot},
        {.work = "Gray-Scott, 2048^2, 200 steps", .body = run_gray_scott},
        {.work = "k-means, 2^20 points of 4, 16 centres, 20 steps", .body = run_kmeans},
        {.work = "conjugate gradient, 256^3, 20 steps", .body = run_gradient},
    };
    bench_row made[sizeof rows / sizeof rows[0]];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        made[k] = rows[k];
        made[k].who = "weft";
        made[k].repeat = 1;
    }
    choose_device(argc, argv);
    make_arrays();
    int status = run_rows(argc, argv, made, (int)(sizeof rows / sizeof rows[0]));
    weft_array *all[] = {spot,     strike, years, buys,      sells,       count,  u,
                         v,        p,      q,     x,         first_v,     centre, label,
                         solution, b,      rest,  direction, first_centre};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        weft_array_release(all[k]);
    return status;
}
