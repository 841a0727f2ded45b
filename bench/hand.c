/* The same work written by hand for this machine, with OpenMP and, where it has AVX-512,
 * intrinsics: what Weft is measured against. */
#include "measure.h"
#include <omp.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { COUNT = SIDE * SIDE, CUBED = CUBE * CUBE * CUBE, WIDTH = 16 };

static float *a, *b, *c, *row, *half;
static volatile float sink;

#ifdef __AVX512F__
typedef __m512 vector;
static inline vector load(const float *p) { return _mm512_load_ps(p); }
static inline vector load_any(const float *p) { return _mm512_loadu_ps(p); }
static inline void store(float *p, vector x) { _mm512_store_ps(p, x); }
static inline void stream(float *p, vector x) { _mm512_stream_ps(p, x); }
static inline void fence(void) { _mm_sfence(); }
#else
typedef float vector __attribute__((vector_size(4 * WIDTH)));
static inline vector load_any(const float *p)
{
    vector x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline vector load(const float *p) { return load_any(p); }
static inline void store(float *p, vector x) { memcpy(p, &x, sizeof x); }
static inline void stream(float *p, vector x) { store(p, x); }
static inline void fence(void) {}
#endif

/* A row: what is stored at i, streaming or not. */
#define LOOP(name, how, ...)                                                                       \
    static void name(void *argument)                                                               \
    {                                                                                              \
        (void)argument;                                                                            \
        _Pragma("omp parallel")                                                                    \
        {                                                                                          \
            _Pragma("omp for nowait") for (long i = 0; i < COUNT; i += WIDTH)                      \
                how(c + i, (__VA_ARGS__));                                                         \
            fence();                                                                               \
        }                                                                                          \
    }
LOOP(copy, stream, load(a + i))
LOOP(accumulate, store, load(c + i) + load(b + i))
LOOP(add, stream, load(a + i) + load(b + i))
LOOP(fused, store, load(c + i) + (1.0f / load(a + i) + 2.0f * load(a + i) * load(b + i)))
LOOP(with_row, stream, (load(a + i) - load(row + i % SIDE)) * load(row + i % SIDE))
#ifdef __AVX512F__
LOOP(choose, stream,
     _mm512_mask_sub_ps(_mm512_sub_ps(load(b + i), load(a + i)),
                        _mm512_cmp_ps_mask(load(a + i), load(b + i), _CMP_GE_OQ), load(a + i),
                        load(b + i)))

static void stepped(void *argument)
{
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    (void)argument;
#pragma omp parallel
    {
#pragma omp for nowait
        for (long i = 0; i < COUNT; i += 2 * WIDTH)
            stream(half + i / 2,
                   _mm512_permutex2var_ps(load(a + i), even, load(a + i + WIDTH)) * 2.0f);
        fence();
    }
}
#endif

/* 4096 elements in 8 vectors, then the next ones. */
static float sum_of(const float *data, long count)
{
    vector x[8] = {{0}};
    float total = 0;
    for (long i = 0; i < count; i += 8 * WIDTH)
        for (int k = 0; k < 8; k++)
            x[k] += load(data + i + k * WIDTH);
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < WIDTH; j++)
            total += x[k][j];
    return total;
}

static void sum_all(void *argument)
{
    float total = 0;
    (void)argument;
#pragma omp parallel for reduction(+ : total)
    for (long i = 0; i < COUNT; i += 4096)
        total += sum_of(a + i, 4096);
    sink = total;
}

static void sum_1(void *argument)
{
    (void)argument;
#pragma omp parallel for
    for (long i = 0; i < SIDE; i++)
        c[i] = sum_of(a + i * SIDE, SIDE);
}

/* Each thread adds its rows to a row of its own, a stripe of columns at a time. */
static void sum_0(void *argument)
{
    enum { STRIPE = 1024 };
    (void)argument;
#pragma omp parallel for
    for (long stripe = 0; stripe < SIDE; stripe += STRIPE) {
        memset(c + stripe, 0, STRIPE * sizeof *c);
        for (long i = 0; i < SIDE; i++)
            for (long k = stripe; k < stripe + STRIPE; k += WIDTH)
                store(c + k, load(c + k) + load(a + i * SIDE + k));
    }
}

/* One row of the Laplacian; `up` to `back` are the rows beside it, or itself at an edge. */
typedef struct laplace_rows {
    const float *p, *up, *down, *front, *back;
} laplace_rows;

static void laplace_scalars(const laplace_rows *r, long begin, long end, float *out)
{
    for (long k = begin; k < end; k++) {
        long left = k ? k - 1 : k, right = k < CUBE - 1 ? k + 1 : k;
        out[k] = 6 * r->p[k] - r->up[k] - r->down[k] - r->front[k] - r->back[k] - r->p[right] -
                 r->p[left];
    }
}

static void laplace_row(const laplace_rows *r, float *out)
{
    laplace_scalars(r, 0, WIDTH, out);
    for (long k = WIDTH; k < CUBE - WIDTH; k += WIDTH) {
        vector x = 6.0f * load(r->p + k) - load(r->up + k) - load(r->down + k);
        x = x - load(r->front + k) - load(r->back + k);
        stream(out + k, x - load_any(r->p + k + 1) - load_any(r->p + k - 1));
    }
    laplace_scalars(r, CUBE - WIDTH, CUBE, out);
}

static void laplace(void *argument)
{
    const long plane = CUBE * CUBE;
    (void)argument;
#pragma omp parallel for
    for (long z = 0; z < CUBE; z++)
        for (long y = 0; y < CUBE; y++) {
            const float *p = a + z * plane + y * CUBE;
            laplace_rows rows = {p, z < CUBE - 1 ? p + plane : p, z ? p - plane : p,
                                 y < CUBE - 1 ? p + CUBE : p, y ? p - CUBE : p};
            laplace_row(&rows, c + (p - a));
        }
}

static void small_add(void *argument)
{
    (void)argument;
    for (long i = 0; i < SMALL; i += WIDTH)
        store(c + i, load(a + i) + load(b + i));
    __asm__ volatile("" ::: "memory");
}

static void small_fused(void *argument)
{
    (void)argument;
    for (long i = 0; i < SMALL; i += WIDTH)
        store(c + i, load(c + i) + (1.0f / load(a + i) + 2.0f * load(a + i) * load(b + i)));
    __asm__ volatile("" ::: "memory");
}

/* How fast the machine computes at most: the roof of the plots. */
#ifdef __AVX512F__
static inline vector multiply_add(vector x, vector y, vector z) { return _mm512_fmadd_ps(x, y, z); }
#else
static inline vector multiply_add(vector x, vector y, vector z) { return x * y + z; }
#endif

enum { CHAINS = 12, TURNS = 1 << 18 };

static void compute(void *argument)
{
    (void)argument;
#pragma omp parallel
    {
        vector x[CHAINS], factor = load(a), term = load(b);
        float total = 0;
        for (int k = 0; k < CHAINS; k++)
            x[k] = load(a + WIDTH * k);
        for (long turn = 0; turn < TURNS; turn++)
            for (int k = 0; k < CHAINS; k++)
                x[k] = multiply_add(x[k], factor, term);
        for (int k = 0; k < CHAINS; k++)
            total += x[k][0];
        sink = total;
    }
}

/* Operations of one call. */
static double computed(void) { return 2.0 * CHAINS * WIDTH * TURNS * omp_get_max_threads(); }

static float *spread(size_t count, double low, double high)
{
    float *data = aligned_alloc(64, count * sizeof *data);
    if (!data)
        exit(1);
    fill_spread(data, count, low, high);
    return data;
}

#define ROW(name, count, moved, calls, function)                                                   \
    {                                                                                              \
        .work = name, .who = "hand", .elements = count, .bytes = moved, .repeat = calls,           \
        .body = function                                                                           \
    }
#define BIG(name, moved, function) ROW(name, COUNT, (double)(moved)*COUNT, 1, function)
#define CALL(name, function) ROW(name, SMALL, 0, 100000, function)
static bench_row rows[] = {
    {.work = "multiply and add in registers", .who = "hand", .repeat = 1, .body = compute},
    CALL("call on 1024 elements, 1-d: c = a + b", small_add),
    CALL("call on 1024 elements, 1-d: c += 1/a + 2ab", small_fused),
    BIG("streaming copy", 8, copy),
    BIG("a += b", 12, accumulate),
    BIG("c = a + b", 12, add),
    BIG("c += 1/a + 2ab", 16, fused),
#ifdef __AVX512F__
    BIG("where(a >= b, a - b, b - a)", 12, choose),
    ROW("a[:, ::2]*2", COUNT / 2, 6.0 * COUNT, 1, stepped),
#endif
    BIG("(a - row)*row", 8, with_row),
    BIG("sum(a)", 4, sum_all),
    BIG("sum(a) axis 0", 4, sum_0),
    BIG("sum(a) axis 1", 4, sum_1),
    ROW("laplacian(a), 400^3", CUBED, 8.0 * CUBED, 1, laplace),
};

int main(int argc, char **argv)
{
    a = spread(COUNT, 0.5, 1.5);
    b = spread(COUNT, 0.7, 1.4);
    c = spread(COUNT, 0, 0);
    row = spread(SIDE, 0.5, 1.5);
    half = spread(COUNT / 2, 0, 0);
    rows[0].elements = computed();
    int status = run_rows(argc, argv, rows, sizeof rows / sizeof *rows);
    free(a), free(b), free(c), free(row), free(half);
    return status;
}
