/* Reductions, bit by bit, against the order of docs/semantics.md written out once more. */
#include "support/arrays.h"
#include "support/random.h"
#include <math.h>
#include <stdio.h>

/* A number of any size within 2^±8 whose sums are hardly ever exact. */
static double random_number(void)
{
    double x = (double)(random_bits() >> 11) * 0x1p-53 - 0.5;
    return ldexp(x, (int)random_below(16) - 8);
}

/* The reference works on f64 and rounds to f32 after each operation if `single`: the sum, product
 * or quotient of two floats is exact enough in f64 that rounding twice changes nothing. */
typedef struct reference {
    char kind; /* + * < > */
    bool single;
} reference;

static double combined(reference f, double x, double y)
{
    double z = f.kind == '+'   ? x + y
               : f.kind == '*' ? x * y
               : f.kind == '<' ? (x < y || isnan(x) ? x : y)
                               : (x > y || isnan(x) ? x : y);
    return f.single ? (double)(float)z : z;
}

static double in_order(reference f, const double *x, int64_t count, int64_t step)
{
    double z = x[0];
    for (int64_t i = step; i < count; i += step)
        z = combined(f, z, x[i]);
    return z;
}

/* Overwrites the slots. */
static double by_halving(reference f, double *slot, int64_t count)
{
    int64_t n = 1;
    while (n < count)
        n *= 2;
    for (int64_t h = n / 2; h >= 1; h /= 2)
        for (int64_t s = 0; s < h; s++)
            if (s + h < count && s + h < 2 * h)
                slot[s] = combined(f, slot[s], slot[s + h]);
    return slot[0];
}

static double folded(reference f, const double *x, int64_t count, bool last_axis)
{
    int64_t length = last_axis ? 4096 : 64, chunks = (count + length - 1) / length;
    double *results = malloc((size_t)(chunks + 1) * sizeof *results), lanes[128];
    if (!results)
        return NAN;
    for (int64_t c = 0; c < chunks; c++) {
        const double *chunk = x + c * length;
        int64_t size = count - c * length < length ? count - c * length : length;
        if (!last_axis) {
            results[c] = in_order(f, chunk, size, 1);
            continue;
        }
        int64_t used = size < 128 ? size : 128;
        for (int64_t l = 0; l < used; l++)
            lanes[l] = in_order(f, chunk + l, size - l, 128);
        results[c] = by_halving(f, lanes, used);
    }
    double result = by_halving(f, results, chunks);
    free(results);
    return result;
}

/* All results of a reduction, in C order over the axes that are left. */
static void reference_fold(reference f, const double *x, const weft_shape *shape, unsigned axes,
                           double *results)
{
    int64_t kept = 1, count = 1, position[WEFT_NDIM_MAX], total;
    if (weft_shape_count(*shape, &total) != WEFT_OK)
        return;
    for (int k = 0; k < shape->ndim; k++)
        *(axes >> k & 1 ? &count : &kept) *= shape->size[k];
    double *gathered = malloc((size_t)total * sizeof *gathered);
    for (int64_t i = 0; gathered && i < total; i++) {
        int64_t rest = i, result = 0, element = 0;
        for (int k = shape->ndim - 1; k >= 0; rest /= shape->size[k--])
            position[k] = rest % shape->size[k];
        for (int k = 0; k < shape->ndim; k++) {
            int64_t *number = axes >> k & 1 ? &element : &result;
            *number = *number * shape->size[k] + position[k];
        }
        gathered[result * count + element] = x[i];
    }
    bool last = shape->ndim > 0 && (axes >> (shape->ndim - 1) & 1);
    for (int64_t r = 0; gathered && r < kept; r++)
        results[r] = folded(f, gathered + r * count, count, last);
    free(gathered);
}

static weft_array *array_of(const double *values, const weft_shape *shape, bool single)
{
    int64_t count;
    if (weft_shape_count(*shape, &count) != WEFT_OK)
        return NULL;
    WEFT_AUTO weft_array *wide = weft_from_host(values, (size_t)count * sizeof *values, *shape,
                                                .dtype = WEFT_F64, .device = device());
    return wide && single ? weft_cast(wide, WEFT_F32) : weft_copy(wide);
}

static double *random_numbers(int64_t count, bool single)
{
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    for (int64_t i = 0; values && i < count; i++) {
        values[i] = random_number();
        values[i] = single ? (double)(float)values[i] : values[i];
    }
    return values;
}

static bool same_numbers(weft_array *array, const double *expected, int64_t count, bool single)
{
    double *actual = malloc((size_t)(count + 1) * sizeof *actual);
    WEFT_AUTO weft_array *wide = single ? weft_cast(array, WEFT_F64) : weft_copy(array);
    bool same = actual && wide &&
                weft_copy_to_host(wide, actual, (size_t)count * sizeof *actual) == WEFT_OK &&
                memcmp(actual, expected, (size_t)count * sizeof *actual) == 0;
    free(actual);
    return same;
}

static int axes_text(char *text, size_t room, int ndim, unsigned axes)
{
    int used = snprintf(text, room, "axis=(");
    for (int k = 0; k < ndim; k++)
        if (axes >> k & 1)
            used += snprintf(text + used, room - (size_t)used, "%s%d", used > 6 ? ", " : "", k);
    return used + snprintf(text + used, room - (size_t)used, ")");
}

/* sum, prod, min or max of one array over some axes, in every layout. */
static bool check_fold(const weft_shape *shape, unsigned axes, char kind, bool single, bool keep)
{
    static const char kinds[] = "+*<>";
    static const char *const functions[] = {"sum", "prod", "min", "max"};
    char code[100], text[60];
    int64_t count = 1, kept = 1;
    for (int k = 0; k < shape->ndim; k++) {
        count *= shape->size[k];
        kept *= axes >> k & 1 ? 1 : shape->size[k];
    }
    axes_text(text, sizeof text, shape->ndim, axes);
    snprintf(code, sizeof code, "%s(a, %s, keep=%s)", functions[strchr(kinds, kind) - kinds], text,
             keep ? "true" : "false");
    double *values = random_numbers(count, single);
    double *expected = malloc((size_t)(kept + 1) * sizeof *expected);
    WEFT_AUTO weft_array *a = values ? array_of(values, shape, single) : NULL;
    bool fine = a && expected;
    if (fine)
        reference_fold((reference){kind, single}, values, shape, axes, expected);
    for (int layout = 0; layout < LAYOUTS && fine; layout++) {
        const char *names[] = {"a"};
        WEFT_AUTO weft_array *x = laid_out(a, layout);
        weft_operand operands[] = {WEFT_OPERAND(x)};
        WEFT_AUTO weft_array *r = x ? weft_evaluate_new(code, 1, names, operands) : NULL;
        fine = r && weft_array_count(r) == kept && same_numbers(r, expected, kept, single);
        if (!fine) {
            char shown[100];
            weft_shape_format(*shape, shown, sizeof shown);
            fprintf(stderr, "%s of %s in layout %d: %s\n", code, shown, layout,
                    r ? "other bits" : weft_error_message());
        }
    }
    free(values);
    free(expected);
    return fine;
}

/* semantics: Folds / In order; Folds / The array's last axis is folded */
TEST(X4_fold_order_of_one_dimension)
{
    static const int64_t sizes[] = {1,    2,     3,     127,   128,    129,
                                    255,  256,   257,   4095,  4096,   4097,
                                    8192, 10000, 65537, 70000, 200000, (1 << 20) + 3};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int single = 0; single < 2; single++) {
            weft_shape shape = WEFT_SHAPE(sizes[s]);
            CHECK(check_fold(&shape, 1, '+', single, s % 2));
        }
}

/* One axis of many elements and one of few, both ways round.
 * semantics: Folds / It is not */
TEST(X4_fold_order_of_two_dimensions)
{
    static const int64_t sizes[] = {1,   2,   63,   64,   65,   127,  128,
                                    129, 300, 1025, 4095, 4096, 4097, 10000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned axes = 1; axes < 4; axes++) {
            weft_shape tall = WEFT_SHAPE(sizes[s], 1 + random_below(20));
            weft_shape wide = WEFT_SHAPE(1 + random_below(20), sizes[s]);
            CHECK(check_fold(&tall, axes, '+', s % 2, axes % 2));
            CHECK(check_fold(&wide, axes, '+', s % 2, axes % 2));
        }
}

TEST(X4_all_axes_up_to_four_dimensions)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 17, 33, 130};
    int rounds = test_quick() ? 4 : 40;
    for (int round = 0; round < rounds; round++) {
        weft_shape shape = {1 + round % 4, {0}};
        int64_t count = 1;
        for (int k = 0; k < shape.ndim; k++) {
            int64_t size = sizes[random_below(7)];
            shape.size[k] = count * size > 60000 ? 2 : size;
            count *= shape.size[k];
        }
        for (unsigned axes = 1; axes < 1u << shape.ndim; axes++)
            CHECK(check_fold(&shape, axes, "+*<>"[random_below(4)], round % 2, round % 3 == 0));
    }
}

TEST(X4_many_results)
{
    weft_shape shapes[] = {WEFT_SHAPE(3000, 8),  WEFT_SHAPE(700, 200), WEFT_SHAPE(65, 3000),
                           WEFT_SHAPE(2000, 70), WEFT_SHAPE(40, 5000), WEFT_SHAPE(3, 70000)};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned axes = 1; axes < 4; axes++)
            CHECK(check_fold(&shapes[s], axes, '+', s % 2, false));
}

TEST(X4_whole_chunks_of_each_kind)
{
    weft_shape shapes[] = {WEFT_SHAPE(30001), WEFT_SHAPE(5, 5000), WEFT_SHAPE(4, 2, 8192)};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned axes = 1; axes < 1u << shapes[s].ndim; axes++)
            for (int kind = 0; kind < 4; kind++)
                CHECK(check_fold(&shapes[s], axes, "+*<>"[kind], (s + axes) % 2, false));
}

/* Operands that lie like the chunks, that have one element for a row, and one for each column. */
TEST(X4_whole_chunks_of_expressions)
{
    enum { ROWS = 5, SIZE = 9000 };
    static float a[ROWS][SIZE], b[ROWS], c[SIZE];
    static double values[ROWS * SIZE];
    double expected[ROWS];
    const weft_shape shape = WEFT_SHAPE(ROWS, SIZE);
    for (int i = 0; i < ROWS; i++)
        b[i] = (float)random_number();
    for (int i = 0; i < SIZE; i++)
        c[i] = (float)random_number();
    for (int i = 0; i < ROWS * SIZE; i++) {
        a[i / SIZE][i % SIZE] = (float)random_number();
        const float product = a[i / SIZE][i % SIZE] * b[i / SIZE], scaled = 1.5f * c[i % SIZE];
        values[i] = -(product - scaled);
    }
    WEFT_AUTO weft_array *x = from(a, sizeof a, shape, WEFT_F32);
    WEFT_AUTO weft_array *y = from(b, sizeof b, WEFT_SHAPE(ROWS, 1), WEFT_F32);
    WEFT_AUTO weft_array *z = from(c, sizeof c, WEFT_SHAPE(SIZE), WEFT_F32);
    CHECK(x && y && z);
    WEFT_AUTO weft_array *sums = weft_new(sum(-(x * y - 1.5f * z), axis = 1), x, y, z);
    WEFT_AUTO weft_array *most = weft_new(max(-(x * y - 1.5f * z), axis = 1), x, y, z);
    CHECK(sums && most);
    reference_fold((reference){'+', true}, values, &shape, 2, expected);
    CHECK(same_numbers(sums, expected, ROWS, true));
    reference_fold((reference){'>', true}, values, &shape, 2, expected);
    CHECK(same_numbers(most, expected, ROWS, true));
}

/* Large enough for several threads. */
TEST(X4_large_results)
{
    weft_shape shapes[] = {WEFT_SHAPE(1200003), WEFT_SHAPE(900, 801), WEFT_SHAPE(100000, 7)};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned axes = 1; axes < 1u << shapes[s].ndim; axes++)
            CHECK(check_fold(&shapes[s], axes, '+', s % 2, false));
}

/* Rows that are read a few at a time, in parts of all rows, and longer than what is done at once.
 */
TEST(X4_long_rows)
{
    weft_shape shapes[] = {WEFT_SHAPE(1100, 1500), WEFT_SHAPE(1090, 8300)};
    for (int s = 0; s < (test_quick() ? 1 : 2); s++) {
        CHECK(check_fold(&shapes[s], 1, '+', true, false));
        CHECK(check_fold(&shapes[s], 1, s % 2 ? '<' : '+', false, false));
    }
}

TEST(X4_same_bits_with_any_number_of_threads)
{
    static const char *const threads[] = {"1", "2", "8"};
    if (test_alone())
        SKIP("runs others alone");
    for (int i = 0; i < 3; i++) {
        setenv("WEFT_THREADS", threads[i], 1);
        bool passed = test_passes_alone("X4_large_results") && test_passes_alone("X4_long_rows");
        unsetenv("WEFT_THREADS");
        CHECK(passed);
    }
}

TEST(X4_fused_with_what_produces_its_input)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 20, 30};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 3), WEFT_F32);
    WEFT_AUTO weft_array *y = from(b, sizeof b, WEFT_SHAPE(3), WEFT_F32);
    CHECK(x && y);
    uint64_t before = launches();
    WEFT_AUTO weft_array *dot = weft_new(sum(x * y - 1, axis = 1), x, y);
    CHECK_INT(launches() - before, 1);
    CHECK(holds(dot, (float[]){137, 317}, 8));
    before = launches();
    WEFT_AUTO weft_array *r = weft_new(sum(x) / sum(x * x) + max(x) * 2, x);
    CHECK_INT(launches() - before, 1);
    CHECK(holds(r, (float[]){21.0f / 91.0f + 12}, 4));
    before = launches();
    WEFT_AUTO weft_array *columns = weft_new(sum(x, axis = 0) * y + f32(index(0)), x, y);
    CHECK_INT(launches() - before, 1);
    CHECK(holds(columns, (float[]){50, 141, 272}, 12));
}

TEST(X4_repeated_over_the_array)
{
    const float a[] = {3, 4, 6, 8}, squares[] = {25, 100};
    float expected[4], scaled[4];
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 2), WEFT_F32);
    CHECK(x);
    WEFT_AUTO weft_array *c = weft_zeros_like(x), *n = weft_handle(.device = device());
    CHECK(c && n);
    uint64_t before = launches();
    CHECK_STATUS(weft(c = x / sum(x * x, axis = 1, keep = true), x, c), WEFT_OK);
    CHECK_INT(launches() - before, 2);
    for (int i = 0; i < 4; i++) {
        expected[i] = a[i] / squares[i / 2];
        scaled[i] = a[i] / (i < 2 ? 5.0f : 10.0f);
    }
    CHECK(holds(c, expected, sizeof expected));
    before = launches();
    CHECK_STATUS(weft(s = sum(x * x, axis = 1, keep = true); x = x / sqrt(s); n = s, x, n),
                 WEFT_OK);
    CHECK_INT(launches() - before, 2);
    CHECK(holds(x, scaled, sizeof scaled));
    CHECK(holds(n, squares, sizeof squares));
}

TEST(X4_reductions_of_reductions)
{
    const double a[] = {1, 5, 2, 8, 3, 4};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 3), WEFT_F64);
    CHECK(x);
    WEFT_AUTO weft_array *m = weft_new(sum(max(x, axis = 1)) + min(sum(x, axis = 0)), x);
    CHECK(holds(m, (double[]){13 + 6}, 8));
    WEFT_AUTO weft_array *d = weft_new(sum((x - mean(x)) * (x - mean(x))), x);
    WEFT_AUTO weft_array *v = weft_new(var(x) * 6, x);
    CHECK(d && v);
    double by_hand = 0, own = 0;
    CHECK_STATUS(weft_item(d, &by_hand), WEFT_OK);
    CHECK_STATUS(weft_item(v, &own), WEFT_OK);
    CHECK(fabs(by_hand - own) < 1e-14);
}

TEST(X4_in_place_and_assigned)
{
    float a[] = {1, 2, 3, 4};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(4), WEFT_F32);
    WEFT_AUTO weft_array *s = weft_zeros(WEFT_SCALAR, .device = device());
    CHECK(x && s);
    CHECK_STATUS(weft(x = x - mean(x), x), WEFT_OK);
    CHECK(holds(x, (float[]){-1.5f, -0.5f, 0.5f, 1.5f}, 16));
    CHECK_STATUS(weft(x = x * 2; s = max(shift(x, 1) - x) + sum(x * x), x, s), WEFT_OK);
    CHECK(holds(s, (float[]){2 + 20}, 4));
    WEFT_AUTO weft_array *row = weft_reshape(x, WEFT_SHAPE(1, 4));
    WEFT_AUTO weft_array *part = weft_slice(x, WEFT_RANGE(0, 1));
    CHECK(row && part);
    CHECK_STATUS(weft(part = sum(row, axis = 1), row, part), WEFT_OK);
    CHECK(holds(part, (float[]){0}, 4));
    CHECK_STATUS(weft(x = sum(x, keep = true), x), WEFT_OK);
    CHECK(holds(x, (float[]){3, 3, 3, 3}, 16));
}

TEST(X4_mean_var_std_norm)
{
    const double a[] = {1, 2, 3, 4, 5, 6, 7, 8};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 4), WEFT_F64);
    CHECK(x);
    WEFT_AUTO weft_array *m = weft_new(mean(x, axis = 1), x);
    WEFT_AUTO weft_array *v = weft_new(var(x, axis = 1, keep = true), x);
    WEFT_AUTO weft_array *u = weft_new(var(x, axis = 0, correction = 1), x);
    WEFT_AUTO weft_array *s = weft_new(std(x, axis = (0, 1)), x);
    WEFT_AUTO weft_array *t = weft_new(norm(x, axis = 1), x);
    WEFT_AUTO weft_array *o = weft_new(norm(-x, order = 1), x);
    WEFT_AUTO weft_array *i = weft_new(norm(-x, order = inf, axis = 0), x);
    CHECK(holds(m, (double[]){2.5, 6.5}, 16));
    CHECK(holds(v, (double[]){1.25, 1.25}, 16));
    CHECK(holds(u, (double[]){8, 8, 8, 8}, 32));
    CHECK(holds(s, (double[]){sqrt(5.25)}, 8));
    CHECK(holds(t, (double[]){sqrt(30), sqrt(174)}, 16));
    CHECK(holds(o, (double[]){36}, 8));
    CHECK(holds(i, (double[]){5, 6, 7, 8}, 32));
}

TEST(X4_integers_and_booleans)
{
    const uint8_t a[] = {200, 100, 0, 255};
    const int32_t b[] = {INT32_MAX, INT32_MAX, -5, 0};
    const bool c[] = {true, false, true, true};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 2), WEFT_U8);
    WEFT_AUTO weft_array *y = from(b, sizeof b, WEFT_SHAPE(4), WEFT_I32);
    WEFT_AUTO weft_array *z = from(c, sizeof c, WEFT_SHAPE(2, 2), WEFT_BOOL);
    CHECK(x && y && z);
    weft_array *r[] = {weft_new(sum(x, axis = 0), x), weft_new(sum(y), y),
                       weft_new(sum(z), z),           weft_new(max(x), x),
                       weft_new(any(x, axis = 1), x), weft_new(all(x, axis = 1), x),
                       weft_new(all(z, axis = 0), z), weft_new(prod(y % 100 - 1), y)};
    bool fine = holds(r[0], (uint64_t[]){200, 355}, 16) &&
                holds(r[1], (int64_t[]){2 * (int64_t)INT32_MAX - 5}, 8) &&
                holds(r[2], (int64_t[]){3}, 8) && holds(r[3], (uint8_t[]){255}, 1) &&
                holds(r[4], (bool[]){true, true}, 2) && holds(r[5], (bool[]){true, false}, 2) &&
                holds(r[6], (bool[]){true, false}, 2) && holds(r[7], (int64_t[]){46 * 46 * 6}, 8);
    for (int k = 0; k < 8; k++)
        weft_array_release(r[k]);
    CHECK(fine);
}

TEST(X4_positions)
{
    enum { N = 9000 };
    static float a[2 * N];
    for (int i = 0; i < 2 * N; i++)
        a[i] = (float)(i * 7919 % 1000);
    a[5000] = a[300] = a[8999] = -1; /* the first of equals, in another lane and chunk */
    a[N + 700] = a[N + 44] = NAN;
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, N), WEFT_F32);
    CHECK(x);
    WEFT_AUTO weft_array *low = weft_new(argmin(x, axis = 1), x);
    WEFT_AUTO weft_array *high = weft_new(argmax(x, axis = 1), x), *all = weft_new(argmin(x), x);
    CHECK(holds(low, (int64_t[]){300, 44}, 16));
    int64_t largest = 0;
    for (int i = 1; i < N; i++)
        largest = a[i] > a[largest] ? i : largest;
    CHECK(holds(high, (int64_t[]){largest, 44}, 16));
    CHECK(holds(all, (int64_t[]){N + 44}, 8));
    WEFT_AUTO weft_array *t = weft_transpose(x), *down = weft_new(argmax(t, axis = 0) + 1, t);
    CHECK(holds(down, (int64_t[]){largest + 1, 45}, 16));
    const int8_t b[] = {3, -4, 3, -4, 3, 0};
    WEFT_AUTO weft_array *y = from(b, sizeof b, WEFT_SHAPE(3, 2), WEFT_I8);
    CHECK(y);
    WEFT_AUTO weft_array *columns = weft_new(argmax(y, axis = 0), y);
    CHECK(holds(columns, (int64_t[]){0, 2}, 16));
}

/* Halves are added in f32: 1 + 2^-11 is kept until the end. */
TEST(X4_halves)
{
    enum { N = 4096 };
    static uint16_t a[N];
    for (int i = 0; i < N; i++)
        a[i] = 0x1400; /* 2^-10 */
    a[0] = 0x3c00;     /* 1 */
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(N), WEFT_F16);
    CHECK(x);
    WEFT_AUTO weft_array *s = weft_new(sum(x), x), *m = weft_new(mean(x), x);
    const uint16_t sum = 0x4500; /* 4.999: to 5 */
    CHECK(s && weft_array_dtype(s) == WEFT_F16);
    CHECK(holds(s, &sum, 2));
    CHECK(m && weft_array_dtype(m) == WEFT_F16);
    WEFT_AUTO weft_array *d = weft_new(x / sum(x), x);
    CHECK(d && weft_array_dtype(d) == WEFT_F16);
}

TEST(X4_complex)
{
    const float a[] = {1, 2, 3, -1, 0, 1};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(3), WEFT_C64);
    CHECK(x);
    WEFT_AUTO weft_array *s = weft_new(sum(x), x), *p = weft_new(prod(x), x);
    WEFT_AUTO weft_array *m = weft_new(mean(x * 3), x), *n = weft_new(norm(x), x);
    CHECK(holds(s, (float[]){4, 2}, 8));
    CHECK(holds(p, (float[]){-5, 5}, 8));
    CHECK(holds(m, (float[]){4, 2}, 8));
    CHECK(holds(n, (float[]){4}, 4));
    const float b[] = {3, 4, -6, 8, 0, -5};
    WEFT_AUTO weft_array *y = from(b, sizeof b, WEFT_SHAPE(3), WEFT_C64);
    CHECK(y);
    WEFT_AUTO weft_array *o = weft_new(norm(y, order = 1), y);
    WEFT_AUTO weft_array *i = weft_new(norm(y, order = inf), y);
    CHECK(holds(o, (float[]){20}, 4));
    CHECK(holds(i, (float[]){10}, 4));
    WEFT_AUTO weft_array *any = weft_new(any(x * 0), x), *all = weft_new(all(x - 3), x);
    CHECK(holds(any, (bool[]){false}, 1));
    CHECK(holds(all, (bool[]){true}, 1));
}

TEST(X4_nan_and_zeros)
{
    const uint32_t nan = 0x7fc00000;
    const float a[] = {1, NAN, -2, 0, -0.0f, 3};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(2, 3), WEFT_F32);
    CHECK(x);
    WEFT_AUTO weft_array *low = weft_new(min(x, axis = 1), x), *high = weft_new(max(x), x);
    WEFT_AUTO weft_array *s = weft_new(sum(x), x);
    CHECK(low && high && s);
    float lows[2];
    CHECK_STATUS(weft_copy_to_host(low, lows, sizeof lows), WEFT_OK);
    CHECK(isnan(lows[0]) && lows[1] == 0 && signbit(lows[1]));
    CHECK(holds(high, &nan, 4));
    CHECK(holds(s, &nan, 4));
}

/* semantics: Folds / A fold of no elements */
TEST(X4_of_nothing)
{
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(0, 3), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SCALAR, .device = device());
    CHECK(x && y);
    WEFT_AUTO weft_array *s = weft_new(sum(x, axis = 0), x), *p = weft_new(prod(x), x);
    WEFT_AUTO weft_array *o = weft_new(any(x), x), *e = weft_new(all(x, axis = 0), x);
    WEFT_AUTO weft_array *m = weft_new(mean(x), x), *n = weft_new(norm(x, order = inf), x);
    WEFT_AUTO weft_array *rows = weft_new(sum(x, axis = 1), x), *one = weft_new(sum(y + 2), y);
    const uint64_t nan = 0x7ff8000000000000;
    CHECK(holds(s, (double[]){0, 0, 0}, 24));
    CHECK(holds(p, (double[]){1}, 8));
    CHECK(holds(o, (bool[]){false}, 1));
    CHECK(holds(e, (bool[]){true, true, true}, 3));
    CHECK(holds(m, &nan, 8));
    CHECK(holds(n, (double[]){0}, 8));
    CHECK(rows && weft_array_count(rows) == 0);
    CHECK(holds(one, (float[]){2}, 4));
    WEFT_AUTO weft_array *refused = weft_new(min(x), x);
    CHECK(!refused);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "no elements");
}

/* More folds than one kernel has room for. */
TEST(X4_many_folds_in_one_expression)
{
    const double a[] = {1, 2, 3};
    char code[4000];
    int used = 0;
    for (int k = 0; k < 100; k++)
        used +=
            snprintf(code + used, sizeof code - (size_t)used, "%ssum(a * %d)", k ? " + " : "", k);
    const char *names[] = {"a"};
    WEFT_AUTO weft_array *x = from(a, sizeof a, WEFT_SHAPE(3), WEFT_F64);
    CHECK(x);
    weft_operand operands[] = {WEFT_OPERAND(x)};
    WEFT_AUTO weft_array *r = weft_evaluate_new(code, 1, names, operands);
    CHECK(holds(r, (double[]){6 * 4950}, 8));
}

#define MANY(test) TEST_NO_FAULTS(test, "hundreds of allocations that are all alike")

TEST_MAIN(MANY(X4_fold_order_of_one_dimension), MANY(X4_fold_order_of_two_dimensions),
          MANY(X4_all_axes_up_to_four_dimensions), MANY(X4_many_results),
          MANY(X4_whole_chunks_of_each_kind), TEST_OF(X4_whole_chunks_of_expressions),
          MANY(X4_large_results), MANY(X4_long_rows), MANY(X4_same_bits_with_any_number_of_threads),
          TEST_OF(X4_fused_with_what_produces_its_input), TEST_OF(X4_repeated_over_the_array),
          TEST_OF(X4_reductions_of_reductions), TEST_OF(X4_in_place_and_assigned),
          TEST_OF(X4_mean_var_std_norm), TEST_OF(X4_integers_and_booleans), TEST_OF(X4_positions),
          TEST_OF(X4_halves), TEST_OF(X4_complex), TEST_OF(X4_nan_and_zeros),
          TEST_OF(X4_of_nothing), MANY(X4_many_folds_in_one_expression));
