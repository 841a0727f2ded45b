/* The same work written by hand in OpenCL C: hand_opencl [serve] [--device opencl:N]. For CPUs,
 * where vectors of 16 floats, private memory and long runs for each item are what counts. Opens
 * libOpenCL when it runs, so building it takes no OpenCL; prints nothing where there is none. */
#include "measure.h"
#include <dlfcn.h>
#include <stdint.h>

enum { COUNT = SIDE * SIDE, CUBED = CUBE * CUBE * CUBE, CALLS = 500, CHUNK = 4096 };
enum { RUN_ROWS = 128, STRIPE = 512 }; /* of a sum along axis 0: what an item takes care of */

/* Where the compiler has them, results that are not read again go around the cache. */
#define TEXT(...) #__VA_ARGS__
static const char words[] = "#if __has_builtin(__builtin_nontemporal_store)\n"
                            "#define STREAM(x, p) __builtin_nontemporal_store(x, p)\n"
                            "#else\n"
                            "#define STREAM(x, p) (*(p) = (x))\n"
                            "#endif\n"
                            "#define IN __global const float16 *restrict\n"
                            "#define OUT __global float16 *restrict\n"
                            "#define SIDE 8192\n"
                            "#define CUBE 400\n"
                            "#pragma OPENCL FP_CONTRACT OFF\n";

static const char maps[] = TEXT(
    __kernel void accumulate(IN b, OUT c) {
        const size_t i = get_global_id(0);
        c[i] += b[i];
    } __kernel void add(IN a, IN b, OUT c) {
        const size_t i = get_global_id(0);
        STREAM(a[i] + b[i], &c[i]);
    } __kernel void small_add(IN a, IN b, OUT c) {
        const size_t i = get_global_id(0);
        c[i] = a[i] + b[i];
    } __kernel void fused(IN a, IN b, OUT c) {
        const size_t i = get_global_id(0);
        c[i] += 1.0f / a[i] + 2.0f * a[i] * b[i];
    } __kernel void choose(IN a, IN b, OUT c) {
        const size_t i = get_global_id(0);
        STREAM(select(b[i] - a[i], a[i] - b[i], a[i] >= b[i]), &c[i]);
    } __kernel void sin_exp(IN a, OUT c) {
        const size_t i = get_global_id(0);
        STREAM(sin(exp(a[i])), &c[i]);
    } __kernel void sine(IN a, OUT c) {
        const size_t i = get_global_id(0);
        STREAM(sin(a[i]), &c[i]);
    } __kernel void with_row(IN a, IN row, OUT c) {
        const size_t i = get_global_id(0);
        const float16 r = row[i % (SIDE / 16)];
        STREAM((a[i] - r) * r, &c[i]);
    } __kernel void stepped(IN a, OUT c) {
        const size_t i = get_global_id(0);
        const float16 x = a[2 * i];
        const float16 y = a[2 * i + 1];
        STREAM((float16)(x.even, y.even) * 2.0f, &c[i]);
    });

/* A square of 256 by 256, so that few pages are in use at a time; 32 by 32 are turned in private
 * memory at once. */
static const char turn[] =
    TEXT(__kernel void add_turned(__global const float *restrict a,
                                  __global const float *restrict b, __global float *restrict c) {
        float t[32][32];
        for (int tile = 0; tile < 64; tile++) {
            const size_t i0 = get_group_id(1) * 256 + tile / 8 * 32;
            const size_t j0 = get_group_id(0) * 256 + tile % 8 * 32;
            for (int j = 0; j < 32; j++)
                for (int i = 0; i < 32; i++)
                    t[i][j] = b[(j0 + j) * SIDE + i0 + i];
            for (int i = 0; i < 32; i++)
                for (int j = 0; j < 32; j += 16) {
                    const size_t at = (i0 + i) * SIDE + j0 + j;
                    STREAM(vload16(0, a + at) + vload16(0, &t[i][j]), (__global float16 *)(c + at));
                }
        }
    });

/* A work-item does 4096 elements in 8 vectors, or a stripe of columns over some rows. */
static const char sums[] = TEXT(
    float across(float16 x) {
        const float8 y = x.lo + x.hi;
        const float4 z = y.lo + y.hi;
        return z.x + z.y + z.z + z.w;
    } float sum_of(IN a, int vectors) {
        float16 x0 = 0;
        float16 x1 = 0;
        float16 x2 = 0;
        float16 x3 = 0;
        for (int i = 0; i < vectors; i += 4) {
            x0 += a[i];
            x1 += a[i + 1];
            x2 += a[i + 2];
            x3 += a[i + 3];
        }
        return across((x0 + x1) + (x2 + x3));
    } float sum_sin_of(IN a, int vectors) {
        float16 x = 0;
        for (int i = 0; i < vectors; i++)
            x += sin(a[i]) * a[i];
        return across(x);
    } __kernel void sum_runs(IN a, __global float *c, int vectors) {
        c[get_global_id(0)] = sum_of(a + get_global_id(0) * vectors, vectors);
    } __kernel void sum_sin_runs(IN a, __global float *c, int vectors) {
        c[get_global_id(0)] = sum_sin_of(a + get_global_id(0) * vectors, vectors);
    } __kernel void sum_columns(IN a, OUT c, int rows) {
        float16 x[32];
        const size_t first = get_global_id(0) * 32;
        for (int k = 0; k < 32; k++)
            x[k] = a[get_global_id(1) * rows * (SIDE / 16) + first + k];
        for (int i = 1; i < rows; i++)
            for (int k = 0; k < 32; k++)
                x[k] += a[(get_global_id(1) * rows + i) * (SIDE / 16) + first + k];
        for (int k = 0; k < 32; k++)
            c[get_global_id(1) * (SIDE / 16) + first + k] = x[k];
    } __kernel void sum_sin_columns(IN a, OUT c, int rows) {
        float16 x[32];
        const size_t first = get_global_id(0) * 32;
        for (int k = 0; k < 32; k++)
            x[k] = 0;
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < 32; k++) {
                const float16 y = a[(get_global_id(1) * rows + i) * (SIDE / 16) + first + k];
                x[k] += sin(y) * y;
            }
        for (int k = 0; k < 32; k++)
            c[get_global_id(1) * (SIDE / 16) + first + k] = x[k];
    });

/* A work-item does a row. */
static const char laplacian[] = TEXT(
    void edge(__global const float *p, const long *to, __global float *out, int k) {
        const int left = k ? k - 1 : k;
        const int right = k < CUBE - 1 ? k + 1 : k;
        out[k] = 6 * p[k] - p[to[0] + k] - p[to[1] + k] - p[to[2] + k] - p[to[3] + k] - p[right] -
                 p[left];
    } __kernel void laplace(__global const float *restrict a, __global float *restrict c) {
        const size_t y = get_global_id(0);
        const size_t z = get_global_id(1);
        const size_t at = (z * CUBE + y) * CUBE;
        __global const float *p = a + at;
        __global float *out = c + at;
        const long to[4] = {z < CUBE - 1 ? CUBE * CUBE : 0, z ? -CUBE * CUBE : 0,
                            y < CUBE - 1 ? CUBE : 0, y ? -CUBE : 0};
        for (int k = 0; k < 16; k++)
            edge(p, to, out, k);
        for (int k = 16; k < CUBE - 16; k += 16) {
            const float16 x = 6.0f * vload16(0, p + k) - vload16(0, p + to[0] + k) -
                              vload16(0, p + to[1] + k) - vload16(0, p + to[2] + k) -
                              vload16(0, p + to[3] + k) - vload16(0, p + k + 1) -
                              vload16(0, p + k - 1);
            STREAM(x, (__global float16 *)(out + k));
        }
        for (int k = CUBE - 16; k < CUBE; k++)
            edge(p, to, out, k);
    });

/* Philox4x32-10: 16 blocks of 4 words at once. */
static const char random_words[] = TEXT(
    float16 unit(uint16 x) {
        return convert_float16(x >> 8) * 0x1p-23f - 1.0f;
    } __kernel void uniform(OUT c) {
        const uint first = (uint)get_global_id(0) * 16;
        uint16 x = first + (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        uint16 y = 0;
        uint16 z = 1;
        uint16 w = 2;
        uint k = 12345;
        uint l = 67890;
        for (int i = 0; i < 10; i++) {
            const uint16 high = mul_hi(z, (uint16)0xcd9e8d57) ^ y ^ k;
            const uint16 other = mul_hi(x, (uint16)0xd2511f53) ^ w ^ l;
            y = z * 0xcd9e8d57;
            w = x * 0xd2511f53;
            x = high;
            z = other;
            k += 0x9e3779b9;
            l += 0xbb67ae85;
        }
        OUT to = c + get_global_id(0) * 4;
        STREAM(unit(x), to);
        STREAM(unit(y), to + 1);
        STREAM(unit(z), to + 2);
        STREAM(unit(w), to + 3);
    });

typedef struct object *handle; /* platforms, devices and all that is made */
#define FUNCTIONS(X)                                                                               \
    X(int, GetPlatformIDs, (unsigned, handle *, unsigned *))                                       \
    X(int, GetDeviceIDs, (handle, uint64_t, unsigned, handle *, unsigned *))                       \
    X(handle, CreateContext, (const intptr_t *, unsigned, const handle *, void *, void *, int *))  \
    X(handle, CreateCommandQueue, (handle, handle, uint64_t, int *))                               \
    X(handle, CreateBuffer, (handle, uint64_t, size_t, void *, int *))                             \
    X(handle, CreateProgramWithSource, (handle, unsigned, const char **, const size_t *, int *))   \
    X(int, BuildProgram, (handle, unsigned, const handle *, const char *, void *, void *))         \
    X(int, GetProgramBuildInfo, (handle, handle, unsigned, size_t, void *, size_t *))              \
    X(handle, CreateKernel, (handle, const char *, int *))                                         \
    X(int, SetKernelArg, (handle, unsigned, size_t, const void *))                                 \
    X(int, EnqueueWriteBuffer,                                                                     \
      (handle, handle, unsigned, size_t, size_t, const void *, unsigned, const handle *,           \
       handle *))                                                                                  \
    X(int, EnqueueNDRangeKernel,                                                                   \
      (handle, handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned,         \
       const handle *, handle *))                                                                  \
    X(int, Finish, (handle))
static struct functions {
#define FIELD(result, name, parameters) result(*name) parameters;
    FUNCTIONS(FIELD)
} cl;

static handle queue, context, device, program;
static handle a, b, c, row, half, cube, cube_out, far_away, partial, x, y, z;

static void check(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "hand_opencl: %s failed\n", what);
    exit(1);
}

static void open_library(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library)
        exit(0);
#define FIND(result, name, parameters)                                                             \
    {                                                                                              \
        void *found = dlsym(library, "cl" #name);                                                  \
        check(found != NULL, "cl" #name);                                                          \
        memcpy(&cl.name, &found, sizeof found);                                                    \
    }
    FUNCTIONS(FIND)
}

/* The device of this number, counted over all platforms, as Weft does. */
static void open_device(int number)
{
    enum { MOST = 16 };
    handle platforms[MOST], devices[MOST];
    unsigned count = 0, of_platform = 0;
    int code;
    if (cl.GetPlatformIDs(MOST, platforms, &count) != 0)
        exit(0);
    for (unsigned k = 0; k < count && !device; k++) {
        if (cl.GetDeviceIDs(platforms[k], 0xFFFFFFFF, MOST, devices, &of_platform) != 0)
            continue;
        if (number < (int)of_platform)
            device = devices[number];
        number -= (int)of_platform;
    }
    if (!device)
        exit(0);
    context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(context != NULL, "clCreateContext");
    queue = cl.CreateCommandQueue(context, device, 0, &code);
    check(queue != NULL, "clCreateCommandQueue");
}

static void build_program(void)
{
    enum { BUILD_LOG = 0x1183 };
    const char *texts[] = {words, maps, turn, sums, laplacian, random_words};
    static char log[4000];
    int code;
    program = cl.CreateProgramWithSource(context, sizeof texts / sizeof *texts, texts, NULL, &code);
    check(program != NULL, "clCreateProgramWithSource");
    if (cl.BuildProgram(program, 1, &device, "-cl-fp32-correctly-rounded-divide-sqrt", NULL,
                        NULL) == 0)
        return;
    cl.GetProgramBuildInfo(program, device, BUILD_LOG, sizeof log, log, NULL);
    check(false, log);
}

static handle spread(size_t count, double low, double high)
{
    int code;
    float *data = malloc(count * sizeof *data);
    check(data != NULL, "malloc");
    fill_spread(data, count, low, high);
    handle buffer = cl.CreateBuffer(context, 1, count * sizeof *data, NULL, &code);
    check(buffer && cl.EnqueueWriteBuffer(queue, buffer, 1, 0, count * sizeof *data, data, 0, NULL,
                                          NULL) == 0,
          "a buffer");
    free(data);
    return buffer;
}

/* A kernel with its arguments and its ranges; a sum has two. */
typedef struct stage {
    const char *name;
    handle *arguments[3];
    int number; /* after them, if it is not 0 */
    size_t all[2], group[2];
    handle kernel;
} stage;

static void set_arguments(const stage *s)
{
    unsigned k = 0;
    for (; k < 3 && s->arguments[k]; k++)
        check(cl.SetKernelArg(s->kernel, k, sizeof(handle), s->arguments[k]) == 0, s->name);
    if (s->number)
        check(cl.SetKernelArg(s->kernel, k, sizeof s->number, &s->number) == 0, s->name);
}

static void enqueue(void *argument)
{
    const stage *s = argument;
    check(cl.EnqueueNDRangeKernel(queue, s->kernel, 2, NULL, s->all, s->group, 0, NULL, NULL) == 0,
          s->name);
}

static void run_one(void *argument)
{
    set_arguments(argument);
    enqueue(argument);
}

static void run_two(void *argument)
{
    run_one(argument);
    run_one((stage *)argument + 1);
}

static void wait_there(void) { check(cl.Finish(queue) == 0, "clFinish"); }

#define WHOLE                                                                                      \
    {COUNT / 16, 1}, { 256, 1 }
#define RUNS_OF(chunk, by)                                                                         \
    {COUNT / (chunk), 1}, { by, 1 }
#define COLUMNS(rows, of)                                                                          \
    {SIDE / STRIPE, (of) / (rows)}, { 1, 1 }
static stage stages[] = {
    {"accumulate", {&b, &c}, 0, WHOLE, NULL},
    {"add", {&a, &b, &c}, 0, WHOLE, NULL},
    {"fused", {&a, &b, &c}, 0, WHOLE, NULL},
    {"choose", {&a, &b, &c}, 0, WHOLE, NULL},
    {"sin_exp", {&a, &c}, 0, WHOLE, NULL},
    {"sine", {&far_away, &c}, 0, WHOLE, NULL},
    {"add_turned", {&a, &b, &c}, 0, {SIDE / 256, SIDE / 256}, {1, 1}, NULL},
    {"with_row", {&a, &row, &c}, 0, WHOLE, NULL},
    {"stepped", {&a, &half}, 0, {COUNT / 32, 1}, {256, 1}, NULL},
    {"sum_runs", {&a, &partial}, CHUNK / 16, RUNS_OF(CHUNK, 8), NULL},
    {"sum_runs", {&partial, &c}, COUNT / CHUNK / 16, {1, 1}, {1, 1}, NULL},
    {"sum_columns", {&a, &partial}, RUN_ROWS, COLUMNS(RUN_ROWS, SIDE), NULL},
    {"sum_columns", {&partial, &c}, SIDE / RUN_ROWS, COLUMNS(1, 1), NULL},
    {"sum_runs", {&a, &c}, SIDE / 16, RUNS_OF(SIDE, 8), NULL},
    {"sum_sin_runs", {&a, &partial}, CHUNK / 16, RUNS_OF(CHUNK, 8), NULL},
    {"sum_runs", {&partial, &c}, COUNT / CHUNK / 16, {1, 1}, {1, 1}, NULL},
    {"sum_sin_columns", {&a, &partial}, RUN_ROWS, COLUMNS(RUN_ROWS, SIDE), NULL},
    {"sum_columns", {&partial, &c}, SIDE / RUN_ROWS, COLUMNS(1, 1), NULL},
    {"sum_sin_runs", {&a, &c}, SIDE / 16, RUNS_OF(SIDE, 8), NULL},
    {"laplace", {&cube, &cube_out}, 0, {CUBE, CUBE}, {16, 1}, NULL},
    {"uniform", {&c}, 0, {COUNT / 64, 1}, {256, 1}, NULL},
    {"small_add", {&x, &y, &z}, 0, {SMALL / 16, 1}, {SMALL / 16, 1}, NULL},
    {"fused", {&x, &y, &z}, 0, {SMALL / 16, 1}, {SMALL / 16, 1}, NULL},
};
enum { STAGES = sizeof stages / sizeof *stages };

#define LARGE(name, count, moved, at, run)                                                         \
    {                                                                                              \
        .work = name, .who = "hand", .elements = count, .bytes = (double)(moved) * (count),        \
        .repeat = 2, .body = run, .argument = &stages[at]                                          \
    }
#define BIG(name, moved, at, run) LARGE(name, COUNT, moved, at, run)
#define CALL(name, whose, at, run)                                                                 \
    {                                                                                              \
        .work = "call on 1024 elements, 1-d: " name, .who = whose, .elements = SMALL,              \
        .repeat = CALLS, .body = run, .argument = &stages[at], .queued = true                      \
    }
static const bench_row rows[] = {
    CALL("c = a + b", "hand", 21, run_one),
    CALL("c = a + b", "bare enqueue", 21, enqueue),
    CALL("c += 1/a + 2ab", "hand", 22, run_one),
    CALL("c += 1/a + 2ab", "bare enqueue", 22, enqueue),
    BIG("a += b", 12, 0, run_one),
    BIG("c = a + b", 12, 1, run_one),
    BIG("c += 1/a + 2ab", 16, 2, run_one),
    BIG("where(a >= b, a - b, b - a)", 12, 3, run_one),
    BIG("sin(exp(a))", 8, 4, run_one),
    BIG("sin(a) to 10^6", 8, 5, run_one),
    BIG("a + b.T", 12, 6, run_one),
    BIG("(a - row)*row", 8, 7, run_one),
    LARGE("a[:, ::2]*2", COUNT / 2, 12, 8, run_one),
    BIG("sum(a)", 4, 9, run_two),
    BIG("sum(a) axis 0", 4, 11, run_two),
    BIG("sum(a) axis 1", 4, 13, run_one),
    BIG("sum(sin(a)*a)", 4, 14, run_two),
    BIG("sum(sin(a)*a) axis 0", 4, 16, run_two),
    BIG("sum(sin(a)*a) axis 1", 4, 18, run_one),
    LARGE("laplacian(a), 400^3", CUBED, 8, 19, run_one),
    BIG("uniform random", 4, 20, run_one),
};

static void make_all(void)
{
    int code;
    a = spread(COUNT, 0.5, 1.5), b = spread(COUNT, 0.7, 1.4), c = spread(COUNT, 0, 0);
    row = spread(SIDE, 0.5, 1.5), half = spread(COUNT / 2, 0, 0);
    far_away = spread(COUNT, -1e6, 1e6), partial = spread(SIDE * SIDE / RUN_ROWS, 0, 0);
    cube = spread(CUBED, 0.5, 1.5), cube_out = spread(CUBED, 0, 0);
    x = spread(SMALL, 0.5, 1.5), y = spread(SMALL, 0.5, 1.5), z = spread(SMALL, 0.5, 1.5);
    for (int k = 0; k < STAGES; k++) {
        stages[k].kernel = cl.CreateKernel(program, stages[k].name, &code);
        check(stages[k].kernel != NULL, stages[k].name);
        set_arguments(&stages[k]);
    }
}

int main(int argc, char **argv)
{
    static char name[32];
    int number = 0;
    for (int k = 1; k + 1 < argc; k++)
        if (strcmp(argv[k], "--device") == 0 && sscanf(argv[k + 1], "opencl:%d", &number) != 1)
            return 0;
    snprintf(name, sizeof name, "opencl:%d", number);
    bench_device = name;
    bench_wait = wait_there;
    open_library();
    open_device(number);
    build_program();
    make_all();
    return run_rows(argc, argv, rows, sizeof rows / sizeof *rows);
}
