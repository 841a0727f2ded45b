/* Operations as functions: each is the expression that it stands for, and the numbers are C's. */
#include "lang/operations.h"
#include "support/arrays.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

enum { N = 6 };
static const float floats[2][N] = {{0.5f, 0.75f, 0.25f, 0.9f, 0.125f, 0.6f},
                                   {2, 3, 0.5f, 1.5f, 4, 0.25f}};
static const int32_t integers[2][N] = {{5, -7, 100, 0, INT32_MIN, 12}, {2, 3, -9, 4, 1, 5}};

static weft_array *array_of(weft_dtype dtype, int which)
{
    WEFT_AUTO weft_array *made =
        dtype == WEFT_I32 ? weft_from_host(integers[which], sizeof integers[which], WEFT_SHAPE(N),
                                           .dtype = WEFT_I32, .device = device())
                          : weft_from_host(floats[which], sizeof floats[which], WEFT_SHAPE(N),
                                           .device = device());
    return weft_cast(made, dtype);
}

static bool same(weft_array *a, weft_array *b)
{
    char bytes[2][16 * N];
    const size_t size = weft_array_bytes(a);
    return a && b && weft_array_dtype(a) == weft_array_dtype(b) && size == weft_array_bytes(b) &&
           size <= sizeof bytes[0] && weft_copy_to_host(a, bytes[0], size) == WEFT_OK &&
           weft_copy_to_host(b, bytes[1], size) == WEFT_OK && !memcmp(bytes[0], bytes[1], size);
}

/* How each operator is written; functions are called by their name. */
static const struct {
    const char *name, *code;
} operators[] = {
    {"add", "x + y"},
    {"subtract", "x - y"},
    {"multiply", "x * y"},
    {"divide", "x / y"},
    {"modulo", "x % y"},
    {"negative", "-x"},
    {"positive", "+x"},
    {"bitwise_and", "x & y"},
    {"bitwise_or", "x | y"},
    {"bitwise_xor", "x ^ y"},
    {"bitwise_not", "~x"},
    {"shift_left", "x << y"},
    {"shift_right", "x >> y"},
    {"equal", "x == y"},
    {"not_equal", "x != y"},
    {"less", "x < y"},
    {"less_equal", "x <= y"},
    {"greater", "x > y"},
    {"greater_equal", "x >= y"},
    {"logical_and", "x && y"},
    {"logical_or", "x || y"},
    {"logical_not", "!x"},
};

static void code_of(const weft__lang_facts *facts, char *code, size_t room)
{
    static const char *const arguments[] = {"", "x", "x, y", "x, y, z"};
    snprintf(code, room, "%s(%s)", facts->name, arguments[facts->most]);
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (!strcmp(operators[k].name, facts->name))
            snprintf(code, room, "%s", operators[k].code);
}

static weft_dtype dtype_for(const weft__lang_facts *facts, bool condition)
{
    return condition                            ? WEFT_BOOL
           : facts->kinds & WEFT__KINDS_FLOAT   ? WEFT_F32
           : facts->kinds & WEFT__KINDS_INTEGER ? WEFT_I32
                                                : WEFT_BOOL;
}

typedef struct called {
    weft_array *made, *into;
} called;

static called call(weft__lang_operation operation, weft_array *x, weft_array *y, weft_array *z,
                   weft_array *out)
{
    called both = {0};
    switch ((int)operation) {
#define CALL_1(name)                                                                               \
    case WEFT__LANG_##name:                                                                        \
        both = (called){weft_##name(x), weft_##name(x, .out = out)};                               \
        break;
#define CALL_2(name)                                                                               \
    case WEFT__LANG_##name:                                                                        \
        both = (called){weft_##name(x, y), weft_##name(x, y, .out = out)};                         \
        break;
#define CALL_3(name)                                                                               \
    case WEFT__LANG_##name:                                                                        \
        both = (called){weft_##name(x, y, z), weft_##name(x, y, z, .out = out)};                   \
        break;
#define CALL_operator(name, most) CALL_##most(name)
#define CALL_choice(name, most) CALL_##most(name)
#define CALL_math(name, most) CALL_##most(name)
#define CALL_rounding(name, most) CALL_##most(name)
#define CALL_test(name, most) CALL_##most(name)
#define CALL_complex(name, most) CALL_##most(name)
#define CALL_bits(name, most) CALL_##most(name)
#define CALL_reduction(name, most)
#define CALL_stencil(name, most)
#define CALL_position(name, most)
#define CALL(name, least, most, kinds, result, group, text) CALL_##group(name, most)
#define weft_choose weft_where
        WEFT__LANG_OPERATION_LIST(CALL)
    default:
        break;
    }
    return both;
}

TEST(X2_every_operation_is_a_function)
{
    static const char *const names[] = {"x", "y", "z"};
    int checked = 0;
    for (int k = 0; k < WEFT__LANG_OPERATION_END; k++) {
        const weft__lang_facts *facts = &weft__lang_operations[k];
        if (facts->group >= WEFT__GROUP_reduction || k == WEFT__LANG_choose)
            continue;
        const weft_dtype dtype = dtype_for(facts, false);
        char code[64];
        WEFT_AUTO weft_array *x = array_of(dtype_for(facts, k == WEFT__LANG_where), 0);
        WEFT_AUTO weft_array *y = array_of(dtype, 1), *z = array_of(dtype, 0);
        CHECK(x && y && z);
        const weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT_OPERAND(z)};
        code_of(facts, code, sizeof code);
        WEFT_AUTO weft_array *expected = weft_evaluate_new(code, facts->most, names, operands);
        if (!expected && weft_error_code() == WEFT_ERROR_UNSUPPORTED)
            continue;
        CHECK(expected);
        WEFT_AUTO weft_array *out =
            weft_handle(.dtype = weft_array_dtype(expected), .device = device());
        CHECK(out);
        const called results = call((weft__lang_operation)k, x, y, z, out);
        WEFT_AUTO weft_array *made = results.made, *into = results.into;
        CHECK(into == out);
        CHECK(same(made, expected));
        CHECK(same(out, expected));
        checked++;
    }
    CHECK(checked > 70);
}

TEST(X2_numbers_are_those_of_C)
{
    WEFT_AUTO weft_array *x = array_of(WEFT_F32, 0), *y = array_of(WEFT_F32, 1);
    WEFT_AUTO weft_array *i = array_of(WEFT_I32, 0), *j = array_of(WEFT_I32, 1);
    CHECK(x && y && i && j);
    WEFT_AUTO weft_array *sum = weft_add(x, y), *half = weft_multiply(0.5, x);
    WEFT_AUTO weft_array *less = weft_less(x, 0.6), *root = weft_sqrt(y);
    WEFT_AUTO weft_array *chosen = weft_where(less, x, -1), *fused = weft_fma(x, y, 1);
    WEFT_AUTO weft_array *rest = weft_modulo(i, j), *shifted = weft_shift_right(i, 1);
    WEFT_AUTO weft_array *low = weft_clip(i, -5, 50);
    CHECK(sum && half && less && root && chosen && fused && rest && shifted && low);
    float f[6][N];
    bool b[N];
    int32_t n[3][N];
    weft_array *of_floats[] = {sum, half, root, chosen, fused},
               *of_integers[] = {rest, shifted, low};
    for (int k = 0; k < 5; k++)
        CHECK_STATUS(weft_copy_to_host(of_floats[k], f[k], sizeof f[k]), WEFT_OK);
    for (int k = 0; k < 3; k++)
        CHECK_STATUS(weft_copy_to_host(of_integers[k], n[k], sizeof n[k]), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(less, b, sizeof b), WEFT_OK);
    for (int k = 0; k < N; k++) {
        const float p = floats[0][k], q = floats[1][k];
        const int32_t u = integers[0][k], v = integers[1][k];
        CHECK(f[0][k] == p + q && f[1][k] == 0.5f * p && f[2][k] == sqrtf(q));
        CHECK(b[k] == (p < 0.6f) && f[3][k] == (p < 0.6f ? p : -1) && f[4][k] == fmaf(p, q, 1));
        CHECK(n[0][k] == u % v && n[1][k] == u >> 1);
        CHECK(n[2][k] == (u < -5 ? -5 : u > 50 ? 50 : u));
    }
}

TEST(X2_shapes_layouts_and_outputs)
{
    WEFT_AUTO weft_array *column = weft_arange(0, 3, 1, .device = device());
    WEFT_AUTO weft_array *as_column = weft_reshape(column, WEFT_SHAPE(3, 1));
    WEFT_AUTO weft_array *row = weft_arange(0, 4, 1, .device = device());
    WEFT_AUTO weft_array *table = weft_add(as_column, row);
    CHECK(table);
    CHECK(weft_shape_equal(weft_array_shape(table), WEFT_SHAPE(3, 4)));
    WEFT_AUTO weft_array *turned = weft_transpose(table);
    WEFT_AUTO weft_array *same_place = weft_negative(turned, .out = turned); /* in place */
    CHECK(same_place == turned);
    float values[12];
    CHECK_STATUS(weft_copy_to_host(table, values, sizeof values), WEFT_OK);
    for (int k = 0; k < 12; k++)
        CHECK(values[k] == -(float)(k / 4 + k % 4));
    /* one function on many types and ranks in turn */
    for (int k = 0; k < 50; k++) {
        weft_shape shape = {k % 5, {2, 1, 2, 1}};
        WEFT_AUTO weft_array *a =
            weft_ones(shape, .dtype = k % 2 ? WEFT_F64 : WEFT_I16, .device = device());
        WEFT_AUTO weft_array *b = weft_add(a, a);
        CHECK(b);
        CHECK_INT(weft_array_dtype(b), k % 2 ? WEFT_F64 : WEFT_I16);
        double x;
        CHECK_STATUS(weft_item(b, &x), WEFT_OK);
        CHECK(x == 2);
    }
}

/* Threads that use a function for the first time at once. */
static void *use_functions(void *argument)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F64, WEFT_I32, WEFT_U8};
    int *wrong = argument;
    for (int k = 0; k < 40; k++) {
        weft_shape shape = {k % 4, {2, 3, 1}};
        WEFT_AUTO weft_array *a = weft_ones(shape, .dtype = dtypes[k / 4 % 4], .device = device());
        WEFT_AUTO weft_array *sum = weft_add(a, a), *difference = weft_subtract(sum, 1);
        WEFT_AUTO weft_array *all = weft_max(difference, .keep = k % 2);
        double x = 0;
        *wrong += !all || weft_item(all, &x) != WEFT_OK || x != 1;
    }
    return NULL;
}

TEST(X2_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&threads[k], NULL, use_functions, &wrong[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(wrong[k], 0);
}

TEST(X2_bad_input)
{
    WEFT_AUTO weft_array *f = array_of(WEFT_F32, 0), *i = array_of(WEFT_I32, 0);
    WEFT_AUTO weft_array *short_ = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(f && i && short_);
    CHECK_FAILS(weft_add(f, (weft_array *)NULL), WEFT_ERROR_ARGUMENT, "operand");
    CHECK_STR(weft_error_last()->operation, "weft_add");
    CHECK_FAILS(weft_exp(i), WEFT_ERROR_DTYPE, "i32");
    CHECK_STR(weft_error_last()->operation, "weft_exp");
    CHECK_FAILS(weft_modulo(f, f), WEFT_ERROR_DTYPE, "f32");
    CHECK_FAILS(weft_add(f, short_), WEFT_ERROR_SHAPE, "(2,)");
    CHECK_FAILS(weft_add(f, f, .out = short_), WEFT_ERROR_SHAPE, "(6,)");
    CHECK_FAILS(weft_add(f, f, .out = i), WEFT_ERROR_DTYPE, "i32");
    CHECK_FAILS(weft_where(f, f, f), WEFT_ERROR_DTYPE, "bool");
    WEFT_AUTO weft_array *wide = weft_broadcast(short_, WEFT_SHAPE(3, 2));
    WEFT_AUTO weft_array *input = weft_zeros(WEFT_SHAPE(3, 2), .device = device());
    CHECK(wide && input);
    CHECK_FAILS(weft_exp(input, .out = wide), WEFT_ERROR_SHAPE, "broadcast");
}

TEST_MAIN(TEST_OF(X2_every_operation_is_a_function), TEST_OF(X2_numbers_are_those_of_C),
          TEST_OF(X2_shapes_layouts_and_outputs),
          TEST_NO_FAULTS(X2_threads, "threads allocate in no fixed order"), TEST_OF(X2_bad_input));
