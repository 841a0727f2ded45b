/* Very large programs (X5): cut into kernels, with the bits of the same operations in plain C, or
 * of the same program in small steps; in a bounded number of kernels and little memory. */
#include "support/check.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { COUNT = 77, TERMS = 10000, ROOM = 1 << 20 };

/* A text that grows. */
typedef struct text {
    char *bytes;
    size_t length;
} text;

static void text_free(text *t) { free(t->bytes); }
#define AUTO_TEXT __attribute__((cleanup(text_free))) text

static void add(text *t, const char *format, ...)
{
    va_list arguments;
    if (!t->bytes && !(t->bytes = malloc(ROOM)))
        abort();
    va_start(arguments, format);
    t->length += (size_t)vsnprintf(t->bytes + t->length, ROOM - t->length, format, arguments);
    va_end(arguments);
    if (t->length >= ROOM)
        abort();
}

static weft_device device(void) { return weft_device_named(test_device()); }

/* Sizes around the bounds of pieces, and beyond. */
static const int sizes[] = {1, 2, 31, 33, 63, 64, 65, 127, 128, 129, 130, 255, 257, 1000, TERMS};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int sizes_tested(void) { return test_faults() ? 10 : SIZES; }

typedef struct arrays {
    float in[3][COUNT];
    weft_array *a, *b, *c;
} arrays;

static void arrays_release(arrays *x)
{
    weft_array_release(x->a);
    weft_array_release(x->b);
    weft_array_release(x->c);
}
#define AUTO_ARRAYS __attribute__((cleanup(arrays_release))) arrays

static bool arrays_make(arrays *x)
{
    memset(x, 0, sizeof *x);
    for (int i = 0; i < COUNT; i++) {
        x->in[0][i] = 0.37f + 0.011f * (float)i;
        x->in[1][i] = -0.8f + 0.023f * (float)i;
        x->in[2][i] = 1.5f - 0.004f * (float)i;
    }
    weft_array **made[] = {&x->a, &x->b, &x->c};
    for (int k = 0; k < 3; k++)
        if (!(*made[k] =
                  weft_from_host(x->in[k], sizeof x->in[k], WEFT_SHAPE(COUNT), .device = device())))
            return false;
    return true;
}

static weft_status run(const text *t, arrays *x)
{
    const char *names[] = {"a", "b", "c"};
    const weft_operand operands[] = {WEFT_OPERAND(x->a), WEFT_OPERAND(x->b), WEFT_OPERAND(x->c)};
    return weft_evaluate(t->bytes, 3, names, operands);
}

static bool holds(weft_array *array, const float *expected)
{
    float data[COUNT];
    return weft_copy_to_host(array, data, sizeof data) == WEFT_OK &&
           memcmp(data, expected, sizeof data) == 0;
}

typedef float step(float sum, float a, float b, int k);

/* The text of many terms, run, against the same steps in C. */
static bool matches(const text *t, step *one, int terms)
{
    AUTO_ARRAYS x;
    float expected[COUNT];
    if (!arrays_make(&x) || run(t, &x) != WEFT_OK)
        return false;
    for (int i = 0; i < COUNT; i++) {
        float sum = x.in[2][i];
        for (int k = 0; k < terms; k++)
            sum = one(sum, x.in[0][i], x.in[1][i], k);
        expected[i] = sum;
    }
    return holds(x.c, expected) && holds(x.a, x.in[0]) && holds(x.b, x.in[1]);
}

static float add_in_turn(float sum, float a, float b, int k) { return sum + (k % 3 ? a : b); }

TEST(X5_a_long_sum)
{
    for (int s = 0; s < sizes_tested(); s++) {
        AUTO_TEXT t = {0};
        add(&t, "c = c");
        for (int k = 0; k < sizes[s]; k++)
            add(&t, " + %c", k % 3 ? 'a' : 'b');
        add(&t, " + 0*a*b");
        CHECK(matches(&t, add_in_turn, sizes[s]));
    }
}

static float add_scaled(float sum, float a, float b, int k)
{
    return sum + ((float)k + 0.5f) * a * b;
}

TEST(X5_a_long_sum_with_other_numbers)
{
    for (int s = 0; s < sizes_tested(); s++) {
        AUTO_TEXT t = {0};
        add(&t, "c = c");
        for (int k = 0; k < sizes[s]; k++)
            add(&t, " + %d.5f*a*b", k);
        CHECK(matches(&t, add_scaled, sizes[s]));
    }
}

static float multiply_first(float sum, float a, float b, int k)
{
    (void)k;
    return a * b + sum;
}

/* Nested to the right: text order would need all the products at once. */
TEST(X5_a_deep_sum)
{
    for (int s = 0; s < sizes_tested(); s++) {
        AUTO_TEXT t = {0};
        int terms = sizes[s] < TERMS ? sizes[s] : 9990;
        add(&t, "c = ");
        for (int k = 0; k < terms / 2; k++)
            add(&t, "a*b + (");
        add(&t, "c");
        for (int k = 0; k < terms / 2; k++)
            add(&t, ")");
        add(&t, terms < 2 ? " + 0*a*b" : "");
        CHECK(matches(&t, multiply_first, terms / 2));
    }
}

static float add_once(float sum, float a, float b, int k)
{
    (void)a, (void)k;
    return sum + b;
}

TEST(X5_ten_thousand_parentheses)
{
    AUTO_TEXT t = {0};
    add(&t, "c = 0*a + ");
    for (int k = 0; k < TERMS - 2; k++)
        add(&t, "(");
    add(&t, "c");
    for (int k = 0; k < TERMS - 2; k++)
        add(&t, "+b)");
    CHECK(matches(&t, add_once, TERMS - 2));
}

static float halve(float sum, float a, float b, int k)
{
    (void)k;
    return sum * 0.5f + (a - b);
}

TEST(X5_thousands_of_locals)
{
    for (int s = 0; s < sizes_tested(); s++) {
        AUTO_TEXT t = {0};
        add(&t, "x0 = c; ");
        for (int k = 0; k < sizes[s]; k++)
            add(&t, "x%d = x%d*0.5f + (a - b); ", k + 1, k);
        add(&t, "c = x%d", sizes[s]);
        CHECK(matches(&t, halve, sizes[s]));
    }
}

TEST(X5_thousands_of_assignments)
{
    for (int s = 0; s < sizes_tested(); s++) {
        AUTO_TEXT t = {0};
        for (int k = 0; k < sizes[s]; k++)
            add(&t, "c = c*0.5f + (a - b); ");
        CHECK(matches(&t, halve, sizes[s]));
    }
}

/* Each value is needed at once and again much later, in the other order. */
TEST(X5_many_values_that_stay_needed)
{
    const int counts[] = {10, 100, 200, 700};
    for (int s = 0; s < (test_faults() ? 3 : 4); s++) {
        AUTO_TEXT t = {0};
        AUTO_ARRAYS x;
        const int count = counts[s];
        float expected[2][COUNT];
        CHECK(arrays_make(&x));
        for (int k = 0; k < count; k++)
            add(&t, "x%d = a*%d + b; ", k, k);
        add(&t, "b = c");
        for (int k = 0; k < count; k++)
            add(&t, " + x%d", k);
        add(&t, "; c = a");
        for (int k = count - 1; k >= 0; k--)
            add(&t, " - x%d", k);
        for (int i = 0; i < COUNT; i++) {
            float up = x.in[2][i], down = x.in[0][i];
            for (int k = 0; k < count; k++)
                up += x.in[0][i] * (float)k + x.in[1][i];
            for (int k = count - 1; k >= 0; k--)
                down -= x.in[0][i] * (float)k + x.in[1][i];
            expected[0][i] = up;
            expected[1][i] = down;
        }
        CHECK_STATUS(run(&t, &x), WEFT_OK);
        CHECK(holds(x.b, expected[0]) && holds(x.c, expected[1]));
    }
}

/* The new value of `a` is ready before its old one has been read for the last time. */
TEST(X5_operands_that_are_overwritten_early)
{
    AUTO_TEXT t = {0};
    AUTO_ARRAYS x;
    float expected[2][COUNT];
    CHECK(arrays_make(&x));
    add(&t, "x = c");
    for (int k = 0; k < 300; k++)
        add(&t, " + a");
    add(&t, "; a = b");
    for (int k = 0; k < 300; k++)
        add(&t, " + b");
    add(&t, "; c = x - a");
    for (int i = 0; i < COUNT; i++) {
        float old = x.in[2][i], new = x.in[1][i];
        for (int k = 0; k < 300; k++)
            old += x.in[0][i], new += x.in[1][i];
        expected[0][i] = new;
        expected[1][i] = old - new;
    }
    CHECK_STATUS(run(&t, &x), WEFT_OK);
    CHECK(holds(x.a, expected[0]) && holds(x.c, expected[1]));
}

/* Operands that are the same memory, one element apart. */
TEST(X5_operands_that_overlap)
{
    AUTO_TEXT t = {0};
    AUTO_ARRAYS x;
    enum { PART = COUNT - 1, EACH = 200 };
    float data[COUNT], from[COUNT], expected[COUNT];
    CHECK(arrays_make(&x));
    memcpy(from, x.in[0], sizeof from);
    WEFT_AUTO weft_array *low = weft_slice(x.a, WEFT_RANGE(0, PART));
    WEFT_AUTO weft_array *high = weft_slice(x.a, WEFT_RANGE(1, COUNT));
    const char *names[] = {"low", "high"};
    CHECK(low && high);
    const weft_operand operands[] = {WEFT_OPERAND(low), WEFT_OPERAND(high)};
    add(&t, "x = low");
    for (int k = 0; k < EACH; k++)
        add(&t, " + high");
    add(&t, "; low = high - x");
    for (int k = 0; k < EACH; k++)
        add(&t, " + high");
    add(&t, "; high = x");
    for (int i = 0; i < PART; i++) { /* `high` is assigned after `low` */
        float sum = from[i];
        for (int k = 0; k < EACH; k++)
            sum += from[i + 1];
        expected[i + 1] = sum;
        if (i > 0)
            continue;
        expected[0] = from[1] - sum;
        for (int k = 0; k < EACH; k++)
            expected[0] += from[1];
    }
    CHECK_STATUS(weft_evaluate(t.bytes, 2, names, operands), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(x.a, data, sizeof data), WEFT_OK);
    CHECK_BITS(data, expected, sizeof data);
}

/* As many arrays as there can be. */
TEST(X5_two_hundred_and_fifty_six_operands)
{
    enum { OPERANDS = 256, ROUNDS = 20 };
    static char names[OPERANDS][8];
    const char *shown[OPERANDS];
    weft_operand operands[OPERANDS];
    AUTO_TEXT t = {0};
    WEFT_AUTO weft_array *all =
        weft_zeros(WEFT_SHAPE(OPERANDS, 3), .dtype = WEFT_I64, .device = device());
    weft_array *rows[OPERANDS] = {0};
    int64_t data[OPERANDS * 3], expected[3] = {0};
    bool made = all != NULL;
    for (int k = 0; k < OPERANDS * 3; k++)
        data[k] = (int64_t)k * k * k * 1000003;
    made = made && weft_copy_from_host(all, data, sizeof data) == WEFT_OK;
    add(&t, "o0 = o0");
    for (int k = 0; k < OPERANDS && made; k++) {
        snprintf(names[k], sizeof names[k], "o%d", k);
        shown[k] = names[k];
        made = (rows[k] = weft_slice(all, WEFT_AT(k))) != NULL;
        operands[k] = WEFT_OPERAND(rows[k]);
    }
    for (int k = 1; k < OPERANDS * ROUNDS; k++)
        add(&t, " %c o%d", k % 5 ? '+' : '^', k % OPERANDS);
    weft_status status =
        made ? weft_evaluate(t.bytes, OPERANDS, shown, operands) : WEFT_ERROR_MEMORY;
    for (int k = 0; k < OPERANDS; k++)
        weft_array_release(rows[k]);
    CHECK_STATUS(status, WEFT_OK);
    for (int i = 0; i < 3; i++) { /* + binds more tightly than ^ */
        uint64_t result = 0, sum = (uint64_t)data[i];
        for (int k = 1; k < OPERANDS * ROUNDS; k++) {
            uint64_t term = (uint64_t)data[k % OPERANDS * 3 + i];
            if (k % 5) {
                sum += term;
                continue;
            }
            result ^= sum;
            sum = term;
        }
        expected[i] = (int64_t)(result ^ sum);
    }
    int64_t got[OPERANDS * 3];
    CHECK_STATUS(weft_copy_to_host(all, got, sizeof got), WEFT_OK);
    CHECK_BITS(got, expected, sizeof expected);
    CHECK_BITS(got + 3, data + 3, sizeof data - sizeof expected);
}

/* A new value of every term, added by one call each. */
static weft_status in_steps(arrays *x, const char *const *terms, int count, int repeats)
{
    for (int k = 0; k < count * repeats; k++) {
        AUTO_TEXT t = {0};
        add(&t, "c = c + (%s) + 0*a*b", terms[k % count]);
        weft_status status = run(&t, x);
        if (status != WEFT_OK)
            return status;
    }
    return WEFT_OK;
}

/* Terms of every kind, in one program and in steps. */
static bool same_as_steps(const char *const *terms, int count, int repeats)
{
    AUTO_ARRAYS whole, steps;
    AUTO_TEXT t = {0};
    float expected[COUNT];
    memset(&steps, 0, sizeof steps);
    if (!arrays_make(&whole) || !arrays_make(&steps))
        return false;
    add(&t, "c = c");
    for (int k = 0; k < count * repeats; k++)
        add(&t, " + (%s) + 0*a*b", terms[k % count]);
    return run(&t, &whole) == WEFT_OK && in_steps(&steps, terms, count, repeats) == WEFT_OK &&
           weft_copy_to_host(steps.c, expected, sizeof expected) == WEFT_OK &&
           holds(whole.c, expected);
}

TEST(X5_functions)
{
    const char *const terms[] = {"sin(a)",
                                 "pow(a, b)",
                                 "tgamma(a + 1)",
                                 "where(a < b, a, b)",
                                 "f32(i32(a*9))",
                                 "f32(f16(a)*f16(b))",
                                 "real(c64(a)*2.0i*c64(b))",
                                 "f32(index(0))",
                                 "min(a, b, 0.5f)"};
    CHECK(same_as_steps(terms, 9, test_faults() ? 2 : 30));
}

TEST(X5_shifts)
{
    const char *const terms[] = {
        "shift(a, 1)",  "shift(b, -2, boundary=wrap)", "shift(a, 3, boundary=clamp)*b",
        "laplacian(a)", "shift(b, -1, value=2.5)",     "forward_diff(a, 0)"};
    CHECK(same_as_steps(terms, 6, test_faults() ? 2 : 60));
}

TEST(X5_reductions)
{
    const char *const terms[] = {
        "sum(a)",        "a*max(b)",       "var(a*b)",          "mean(a)*b",
        "a/norm(a + b)", "f32(argmax(b))", "sum(a*shift(b, 1))"};
    CHECK(same_as_steps(terms, 7, test_faults() ? 2 : 40));
}

/* The reduction of a large expression, and a large expression of reductions. */
TEST(X5_a_reduction_of_a_long_sum)
{
    AUTO_ARRAYS x;
    AUTO_TEXT t = {0}, inner = {0};
    float expected[COUNT];
    CHECK(arrays_make(&x));
    add(&inner, "a");
    for (int k = 0; k < 1000; k++)
        add(&inner, " + %d.25f*a", k);
    add(&t, "b = 0*c + (%s); c = b/sum(b) + shift(b, 1)", inner.bytes);
    CHECK_STATUS(run(&t, &x), WEFT_OK);
    WEFT_AUTO weft_array *sum = weft_copy(x.b);
    CHECK(sum && weft(sum = sum / sum(sum) + shift(sum, 1), sum) == WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(sum, expected, sizeof expected), WEFT_OK);
    CHECK(holds(x.c, expected));
    for (int i = 0; i < COUNT; i++) {
        expected[i] = x.in[0][i];
        for (int k = 0; k < 1000; k++)
            expected[i] += ((float)k + 0.25f) * x.in[0][i];
        expected[i] = 0 * x.in[2][i] + expected[i];
    }
    CHECK(holds(x.b, expected));
}

/* An accumulation that grows makes few kernels, whatever numbers are in it. */
TEST(X5_a_program_that_grows)
{
    enum { STEPS = 1000 };
    AUTO_ARRAYS x;
    AUTO_TEXT t = {0};
    weft_statistics before, after;
    CHECK(arrays_make(&x));
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    add(&t, "c = 0*c + b");
    for (int k = 0; k < (test_faults() ? 150 : STEPS); k++) {
        add(&t, " + %d.5f*a", k);
        CHECK_STATUS(run(&t, &x), WEFT_OK);
    }
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    /* once for each length up to a piece, and for each of what is left after whole pieces */
    CHECK(after.compilations - before.compilations <= 2 * 128);
}

TEST(X5_few_kernels_and_little_memory)
{
    enum { SIDE = 256, BYTES = SIDE * SIDE * 4 };
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(SIDE, SIDE), .device = device());
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(SIDE, SIDE), .device = device());
    weft_statistics before, after;
    AUTO_TEXT t = {0};
    const char *names[] = {"a", "c"};
    float least, most;
    CHECK(a && c);
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(c)};
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    add(&t, "c = a");
    for (int k = 1; k < (test_faults() ? 300 : TERMS); k++)
        add(&t, "+a");
    CHECK_STATUS(weft_evaluate(t.bytes, 2, names, operands), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK(after.launches - before.launches <= TERMS / 64);
    CHECK(after.compilations - before.compilations <= 3);
    CHECK(after.bytes_peak <= before.bytes_in_use + 2 * BYTES || before.bytes_peak > 4 * BYTES);
    CHECK_STATUS(weft_value(&least, min(c), c), WEFT_OK);
    CHECK_STATUS(weft_value(&most, max(c), c), WEFT_OK);
    CHECK(least == most && (test_faults() || least == TERMS));
}

TEST_MAIN(TEST_OF(X5_a_long_sum), TEST_OF(X5_a_long_sum_with_other_numbers), TEST_OF(X5_a_deep_sum),
          TEST_OF(X5_ten_thousand_parentheses), TEST_OF(X5_thousands_of_locals),
          TEST_OF(X5_thousands_of_assignments), TEST_OF(X5_many_values_that_stay_needed),
          TEST_OF(X5_operands_that_are_overwritten_early), TEST_OF(X5_operands_that_overlap),
          TEST_OF(X5_two_hundred_and_fifty_six_operands), TEST_OF(X5_functions), TEST_OF(X5_shifts),
          TEST_OF(X5_reductions), TEST_OF(X5_a_reduction_of_a_long_sum),
          TEST_OF(X5_a_program_that_grows), TEST_OF(X5_few_kernels_and_little_memory));
