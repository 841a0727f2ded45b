/* The math functions keep the error bounds of their table, with the same bits from every
 * instruction set. WEFT_ACCURACY=full in the environment runs all inputs of f32, and 10^7 of the
 * others. */
#include "math/expand.h"
#include "math/oracle.h"
#include "math/samples.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 12 };

static bool full(void)
{
    const char *text = getenv("WEFT_ACCURACY");
    return text != NULL && strcmp(text, "full") == 0;
}

/* These have one right result, which test_values.c knows. */
static bool is_exact(weft__math_function function)
{
    return weft__math_functions[function].boolean || function == WEFT__MATH_sign ||
           function == WEFT__MATH_copysign || function == WEFT__MATH_nextafter;
}

static double value_of(const void *data, int64_t at, weft_dtype dtype)
{
    return dtype == WEFT_F64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void value_set(void *data, int64_t at, weft_dtype dtype, double x)
{
    if (dtype == WEFT_F64)
        ((double *)data)[at] = x;
    else
        ((float *)data)[at] = (float)x;
}

static bool within_bound(weft__math_function function, weft_dtype dtype, double x, double y,
                         double got)
{
    const double bound = (double)weft__math_functions[function].ulp[dtype == WEFT_F64];
    if (dtype == WEFT_F32 && weft__math_functions[function].arity == 1) {
        const double fast = oracle_fast(function, x, 0);
        if (oracle_error(function, got, fast, x, 0, dtype) <= bound * 0.99)
            return true;
    }
    const long double exact = oracle_exact(function, x, y);
    const double ulps = oracle_error(function, got, exact, x, y, dtype);
    if (ulps <= bound)
        return true;
    fprintf(stderr, "%s(%a, %a) in %s is %La, not %a: an error of %g ulp\n",
            weft__math_functions[function].name, x, y, weft_dtype_name(dtype), exact, got, ulps);
    return false;
}

/* A block of inputs, from the sweep of all f32 or at random. */
static int64_t fill(weft__math_function function, weft_dtype dtype, uint64_t *bits, uint64_t step,
                    void *x, void *y)
{
    int64_t count = 0;
    for (; count < BLOCK && *bits < UINT64_C(1) << 32; *bits += step) {
        double one = f32_of((uint32_t)*bits), two = 0;
        if (dtype == WEFT_F64 || weft__math_functions[function].arity == 2)
            sample_two(function, dtype, &one, &two);
        value_set(x, count, dtype, one);
        value_set(y, count, dtype, two);
        count++;
    }
    return count;
}

static void check_function(weft__math_function function, weft_dtype dtype)
{
    static _Alignas(64) double x[BLOCK], y[BLOCK], result[BLOCK];
    const bool sweep = dtype == WEFT_F32 && weft__math_functions[function].arity == 1;
    const uint64_t step = full() ? (sweep ? 1 : 429) : test_quick() ? 4000037 : 200003;
    expanded at;
    CHECK_STATUS(expand_begin(&at, function, dtype), WEFT_OK);
    bool good = true;
    for (uint64_t bits = 0; good && bits < UINT64_C(1) << 32;) {
        const int64_t count = fill(function, dtype, &bits, step, x, y);
        expand_run(&at, count, x, y, result);
        for (int64_t k = 0; good && k < count; k++)
            good = within_bound(function, dtype, value_of(x, k, dtype), value_of(y, k, dtype),
                                value_of(result, k, dtype));
    }
    expand_end(&at);
    CHECK(good);
}

TEST(A4_f32_within_bounds)
{
    for (int f = 0; f < WEFT__MATH_COUNT; f++)
        if (!is_exact((weft__math_function)f))
            check_function((weft__math_function)f, WEFT_F32);
}

TEST(A4_f64_within_bounds)
{
    if (!ORACLE_WIDE)
        SKIP("the reference has no more bits than f64: install MPFR");
    for (int f = 0; f < WEFT__MATH_COUNT; f++)
        if (!is_exact((weft__math_function)f))
            check_function((weft__math_function)f, WEFT_F64);
}

/* Arguments for which reductions lose most: close to multiples of pi/2, near the limits of a
 * method, where results turn subnormal or overflow. */
static const double hard[] = {
    0x1.6ac5b262ca1ffp+849,
    0x1.b951f1572eba5p+23,
    0x1.504cac51f1eafp+131,
    0x1.e009c53148be1p+991,
    0x1.4c96c11134d36p+577,
    0x1.f37c8ap+95,
    0x1.47d0fep+34,
    0x1.628d4cp+41,
    0x1.7b9b40p+126,
    -0x1.628d4cp+41,
    0x1.p28,
    0x1.p16,
    0x1.fffffep15,
    0x1.921fb6p+0,
    0x1.921fb54442d18p+0,
    0x1.2d97c8p+1,
    0x1.f9cbe2p+4,
    0x1.ffffffp27,
    0x1.62e42fefa39efp+9,
    0x1.62e42ep+6,
    -0x1.74910d52d3051p+9,
    -0x1.9fe368p+6,
    -0x1.6232bdd7abcd2p+9,
    -0x1.5d58ap+6,
    0x1.65a9fp+6,
    0x1.633ce8fb9f87dp+9,
    0x1.fffffep127,
    0x1.fffffffffffffp1023,
    0x1p-149,
    0x1p-126,
    0x1p-1074,
    0x1p-1022,
    0x1.8p-1025,
    -0x1.8p-1025,
    -0x1p-1074,
    -0x1p-149,
    0x1.64796a81e111fp-2,
    0x1.64796a820fe5ap-2,
    0x1.fffffep-1,
    0x1.fffffffffffffp-1,
    0x1.000002p0,
    0x1.0000000000001p0,
    0x1.6a09e6p-1,
    0x1.6a09e667f3bcdp-1,
    0x1.6a09e667f3bccp0,
    0x1.6a09e8p0,
    171.62437695630270,
    -184.5,
    35.0401,
    -2.4570247382208006,
    -2.457024738220801,
    0.5,
    0.55,
    1,
    3,
};

TEST(A4_hard_arguments)
{
    double x[sizeof hard / sizeof hard[0]], y[sizeof hard / sizeof hard[0]];
    float x32[sizeof hard / sizeof hard[0]], y32[sizeof hard / sizeof hard[0]];
    const int count = (int)(sizeof hard / sizeof hard[0]);
    for (int k = 0; k < count; k++)
        x32[k] = (float)(x[k] = hard[k]);
    for (int f = 0; f < WEFT__MATH_COUNT; f++) {
        for (int sign = 0; sign < 4 && !is_exact((weft__math_function)f); sign++) {
            const weft_dtype dtype = (sign & 1) != 0 && ORACLE_WIDE ? WEFT_F64 : WEFT_F32;
            double result[sizeof hard / sizeof hard[0]];
            expanded at;
            for (int k = 0; k < count; k++)
                y32[k] =
                    (float)(y[k] = sign < 2 ? hard[count - 1 - k] : -hard[(k * 7 + 3) % count]);
            CHECK_STATUS(expand_begin(&at, (weft__math_function)f, dtype), WEFT_OK);
            const void *left = dtype == WEFT_F64 ? (void *)x : (void *)x32;
            const void *right = dtype == WEFT_F64 ? (void *)y : (void *)y32;
            expand_run(&at, count, left, right, result);
            expand_end(&at);
            for (int k = 0; k < count; k++)
                CHECK(within_bound((weft__math_function)f, dtype, value_of(left, k, dtype),
                                   value_of(right, k, dtype), value_of(result, k, dtype)));
        }
    }
}

/* One function on all instruction sets. */
static void check_isa(weft__math_function function, weft_dtype dtype)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    static _Alignas(64) double x[BLOCK], y[BLOCK], result[BLOCK], first[BLOCK];
    uint64_t bits = 0;
    const int64_t count = fill(function, dtype, &bits, UINT64_C(1048573), x, y);
    bool same = true;
    for (int k = 0; k < 3; k++) {
        expanded at;
        weft__interpreter_isa_choose(names[k]);
        const weft_status status = expand_begin(&at, function, dtype);
        weft__interpreter_isa_choose(NULL);
        CHECK_STATUS(status, WEFT_OK);
        expand_run(&at, count, x, y, k == 0 ? first : result);
        same = same && (k == 0 || memcmp(first, result, (size_t)(count * at.out_size)) == 0);
        expand_end(&at);
    }
    CHECK(same);
}

TEST(A4_same_bits_on_every_instruction_set)
{
    if (expand_is_compiled())
        SKIP("is about the interpreter");
    for (int f = 0; f < WEFT__MATH_COUNT; f++) {
        check_isa((weft__math_function)f, WEFT_F32);
        check_isa((weft__math_function)f, WEFT_F64);
    }
}

TEST_MAIN(TEST_NO_FAULTS(A4_f32_within_bounds, "test_values.c does that faster"),
          TEST_NO_FAULTS(A4_f64_within_bounds, "test_values.c does that faster"),
          TEST_NO_FAULTS(A4_hard_arguments, "test_values.c does that faster"),
          TEST_NO_FAULTS(A4_same_bits_on_every_instruction_set, "test_values.c does that faster"));
