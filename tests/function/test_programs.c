/* The five programs of bench/programs.h, at small sizes, against plain C. What they compute is made
 * of primitives alone, or compared with what C's functions give. */
#include "../bench/programs.h"
#include "support/arrays.h"
#include "support/check.h"
#include <math.h>
#include <string.h>

/* Numbers that follow no pattern, from low to high. */
static void spread(float *data, int count, double low, double high)
{
    for (int i = 0; i < count; i++)
        data[i] = (float)(low + (high - low) * (i * 7919 % 10007) / 10007);
}

#define LEND(memory, dtype, ...)                                                                   \
    weft_borrow((memory), sizeof(memory), WEFT_SHAPE(__VA_ARGS__), (dtype))

/* On the device however small the work is. */
#define CALL_THERE(program, out, ...)                                                              \
    do {                                                                                           \
        static weft_function there;                                                                \
        there = (program);                                                                         \
        there.options.offload = WEFT_OFFLOAD_ALWAYS;                                               \
        WEFT_ON(device());                                                                         \
        status = weft_call(there, out, __VA_ARGS__);                                               \
    } while (0)

/* Whether an error of C's functions and of Weft's, each a few units, explains the difference. */
static bool is_near(float actual, float expected)
{
    return fabsf(actual - expected) <= 1e-5f * fabsf(expected) + 2e-5f;
}

TEST(F3_black_scholes)
{
    enum { N = 1000 };
    static float spot[N], strike[N], years[N], call[N], put[N];
    const float rate = 0.02f, volatility = 0.3f;
    spread(spot, N, 10, 50);
    spread(strike, N, 50, 12);
    spread(years, N, 0.2, 2);
    WEFT_AUTO weft_array *s = LEND(spot, WEFT_F32, N), *k = LEND(strike, WEFT_F32, N);
    WEFT_AUTO weft_array *t = LEND(years, WEFT_F32, N), *c = LEND(call, WEFT_F32, N);
    WEFT_AUTO weft_array *p = LEND(put, WEFT_F32, N);
    weft_status status = s && k && t && c && p ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(black_scholes, NULL, s, k, t, rate, volatility, c, p, N);
    CHECK_STATUS(status, WEFT_OK);
    for (int i = 0; i < N && status == WEFT_OK; i++) {
        const double root = volatility * sqrt(years[i]);
        const double d1 =
            (log((double)spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) /
            root;
        const double n1 = 0.5 * erfc(-d1 / sqrt(2)), n2 = 0.5 * erfc((root - d1) / sqrt(2));
        const double discounted = strike[i] * exp(-rate * years[i]);
        CHECK(is_near(call[i], (float)(spot[i] * n1 - discounted * n2)));
        CHECK(is_near(put[i], (float)(discounted * (1 - n2) - spot[i] * (1 - n1))));
    }
}

TEST(F3_mandelbrot)
{
    enum { H = 37, W = 53, LIMIT = 60 };
    static int32_t actual[H][W], expected[H][W];
    const double left = -2, top = -1.25, step = 0.05;
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            const double a = left + j * step, b = top + i * step;
            double x = 0, y = 0;
            int k = 0;
            for (; k < LIMIT && x * x + y * y <= 4; k++) {
                const double t = x * x - y * y + a;
                y = 2 * x * y + b;
                x = t;
            }
            expected[i][j] = k;
        }
    WEFT_AUTO weft_array *count = LEND(actual, WEFT_I32, H, W);
    weft_status status = count ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(mandelbrot, NULL, count, H, W, left, top, step, LIMIT);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
}

enum { GRID = 29 };
typedef float grid[GRID][GRID];

static void react(grid from_u, grid from_v, grid to_u, grid to_v, float feed, float kill)
{
    for (int i = 1; i < GRID - 1; i++)
        for (int j = 1; j < GRID - 1; j++) {
            const float u = from_u[i][j], v = from_v[i][j], uvv = u * v * v;
            const float lu = from_u[i - 1][j] + from_u[i + 1][j] + from_u[i][j - 1] +
                             from_u[i][j + 1] - 4.0f * u;
            const float lv = from_v[i - 1][j] + from_v[i + 1][j] + from_v[i][j - 1] +
                             from_v[i][j + 1] - 4.0f * v;
            to_u[i][j] = u + (0.16f * lu - uvv + feed * (1.0f - u));
            to_v[i][j] = v + (0.08f * lv + uvv - (feed + kill) * v);
        }
}

TEST(F3_gray_scott)
{
    enum { STEPS = 6 };
    static grid actual[4], expected[4];
    const float feed = 0.035f, kill = 0.065f;
    for (int k = 0; k < 4; k++) {
        spread(&actual[k][0][0], GRID * GRID, 0, 1);
        memcpy(expected[k], actual[k], sizeof expected[k]);
    }
    for (int s = 0; s < STEPS; s += 2) {
        react(expected[0], expected[1], expected[2], expected[3], feed, kill);
        react(expected[2], expected[3], expected[0], expected[1], feed, kill);
    }
    WEFT_AUTO weft_array *u = LEND(actual[0], WEFT_F32, GRID, GRID);
    WEFT_AUTO weft_array *v = LEND(actual[1], WEFT_F32, GRID, GRID);
    WEFT_AUTO weft_array *p = LEND(actual[2], WEFT_F32, GRID, GRID);
    WEFT_AUTO weft_array *q = LEND(actual[3], WEFT_F32, GRID, GRID);
    weft_status status = u && v && p && q ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(gray_scott, NULL, u, v, p, q, GRID, STEPS, feed, kill);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_BITS(actual, expected, sizeof actual);
}

enum { POINTS = 300, DIMS = 3, CLUSTERS = 5 };

/* Coordinates are multiples of 1/64, so that sums of doubles are exact in any order. */
static void cluster(float (*x)[POINTS], float (*centre)[DIMS], int32_t *label)
{
    double total[CLUSTERS][DIMS] = {{0}}, members[CLUSTERS] = {0};
    for (int i = 0; i < POINTS; i++) {
        float least = 3e38f;
        for (int k = 0; k < CLUSTERS; k++) {
            float distance = 0;
            for (int d = 0; d < DIMS; d++) {
                const float t = x[d][i] - centre[k][d];
                distance += t * t;
            }
            if (distance < least) {
                least = distance;
                label[i] = k;
            }
        }
        members[label[i]]++;
        for (int d = 0; d < DIMS; d++)
            total[label[i]][d] += (double)x[d][i];
    }
    for (int k = 0; k < CLUSTERS; k++)
        for (int d = 0; d < DIMS; d++)
            if (members[k] > 0)
                centre[k][d] = (float)(total[k][d] / members[k]);
}

TEST(F3_kmeans)
{
    enum { STEPS = 4 };
    static float x[DIMS][POINTS], actual[CLUSTERS][DIMS], expected[CLUSTERS][DIMS];
    static int32_t label[POINTS], expected_label[POINTS];
    spread(&x[0][0], POINTS * DIMS, 0, 16);
    for (int i = 0; i < POINTS * DIMS; i++)
        x[i % DIMS][i / DIMS] = floorf(x[i % DIMS][i / DIMS] * 64) / 64;
    memcpy(actual, x, sizeof actual);
    memcpy(expected, x, sizeof expected);
    for (int s = 0; s < STEPS; s++)
        cluster(x, expected, expected_label);
    WEFT_AUTO weft_array *points = LEND(x, WEFT_F32, DIMS, POINTS);
    WEFT_AUTO weft_array *centre = LEND(actual, WEFT_F32, CLUSTERS, DIMS);
    WEFT_AUTO weft_array *labels = LEND(label, WEFT_I32, POINTS);
    weft_status status = points && centre && labels ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(kmeans, NULL, points, centre, labels, POINTS, CLUSTERS, DIMS, STEPS);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_BITS(label, expected_label, sizeof label);
    CHECK_BITS(actual, expected, sizeof actual);
}

enum { SIDE = 12 };
typedef double cube[SIDE][SIDE][SIDE];

#define EACH                                                                                       \
    for (int i = 1; i < SIDE - 1; i++)                                                             \
        for (int j = 1; j < SIDE - 1; j++)                                                         \
            for (int k = 1; k < SIDE - 1; k++)

static double multiply(cube p, cube q)
{
    double sum = 0;
    EACH
    {
        q[i][j][k] = 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] -
                     p[i][j + 1][k] - p[i][j][k - 1] - p[i][j][k + 1];
        sum += p[i][j][k] * q[i][j][k];
    }
    return sum;
}

/* Sums in another order: what is compared is the solution, and what is left of the right side. */
TEST(F3_conjugate_gradient)
{
    enum { STEPS = 60 };
    static cube solution, b, x, r, p;
    double left = 1, error = 0;
    memset(x, 0, sizeof x);
    memset(r, 0, sizeof r);
    memset(p, 0, sizeof p);
    EACH solution[i][j][k] = (double)((i * 31 + j * 17 + k * 7) % 23) - 11;
    (void)multiply(solution, b);
    WEFT_AUTO weft_array *ax = LEND(x, WEFT_F64, SIDE, SIDE, SIDE);
    WEFT_AUTO weft_array *ab = LEND(b, WEFT_F64, SIDE, SIDE, SIDE);
    WEFT_AUTO weft_array *ar = LEND(r, WEFT_F64, SIDE, SIDE, SIDE);
    WEFT_AUTO weft_array *ap = LEND(p, WEFT_F64, SIDE, SIDE, SIDE);
    weft_status status = ax && ab && ar && ap ? WEFT_OK : weft_error_code();
    if (status == WEFT_OK)
        CALL_THERE(conjugate_gradient, &left, ax, ab, ar, ap, SIDE, STEPS);
    CHECK_STATUS(status, WEFT_OK);
    if (status != WEFT_OK)
        return;
    EACH error = fmax(error, fabs(x[i][j][k] - solution[i][j][k]));
    CHECK(left >= 0 && left < 1e-12);
    CHECK(error < 1e-8);
}

TEST_MAIN(TEST_OF(F3_black_scholes), TEST_OF(F3_mandelbrot), TEST_OF(F3_gray_scott),
          TEST_OF(F3_kmeans), TEST_OF(F3_conjugate_gradient));
