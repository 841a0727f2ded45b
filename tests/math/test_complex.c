/* Functions of complex numbers: within the bounds of their table by MPC, and at zeros, infinities
 * and NaN as the C library has them. */
#include "math/complex.h"
#include "support/check.h"

#include <complex.h>
#include <stdio.h>

enum { BLOCK = 2048 };

#ifdef WEFT_TEST_MPC
static bool is_measured(int function)
{
    return weft__complex_functions[function].result != WEFT__COMPLEX_IS_BOOL;
}

static bool within_bound(weft__complex_function function, weft_dtype dtype, struct number x,
                         struct number y, struct number got)
{
    const weft__complex_facts *facts = &weft__complex_functions[function];
    const struct exact exact = complex_exact(function, x, y);
    const double ulps = complex_error(function, got, exact, x, y, dtype);
    if (ulps <= (double)facts->ulp[dtype == WEFT_C128])
        return true;
    fprintf(stderr, "%s(%a + i*%a, %a + i*%a) in %s is %La + i*%La, not %a + i*%a: %g ulp\n",
            facts->name, x.part[0], x.part[1], y.part[0], y.part[1], weft_dtype_name(dtype),
            exact.part[0], exact.part[1], got.part[0], got.part[1], ulps);
    return false;
}

static void check_function(weft__complex_function function, weft_dtype dtype, int count)
{
    static struct number x[BLOCK], y[BLOCK], result[BLOCK];
    expanded at;
    CHECK_STATUS(complex_begin(&at, function, dtype), WEFT_OK);
    bool good = true;
    for (int done = 0; done < count && good; done += BLOCK) {
        for (int k = 0; k < BLOCK; k++)
            complex_sample(function, dtype, &x[k], &y[k]);
        complex_run(&at, dtype, BLOCK, x, y, result);
        for (int k = 0; k < BLOCK && good; k++)
            good = within_bound(function, dtype, x[k], y[k], result[k]);
    }
    expand_end(&at);
    CHECK(good);
}

static void check_all(weft_dtype dtype)
{
    for (int f = 0; f < WEFT__COMPLEX_COUNT; f++)
        if (is_measured(f))
            check_function((weft__complex_function)f, dtype, test_quick() ? BLOCK : 4 * BLOCK);
}
#endif

TEST(A4_c64_within_bounds)
{
#ifdef WEFT_TEST_MPC
    check_all(WEFT_C64);
#else
    SKIP("there is no reference: install MPC");
#endif
}

TEST(A4_c128_within_bounds)
{
#ifdef WEFT_TEST_MPC
    check_all(WEFT_C128);
#else
    SKIP("there is no reference: install MPC");
#endif
}

/* The C library's function, where it has one. */
static bool reference(int function, double complex x, double complex y, double complex *result)
{
    switch (function) {
#define CASE(name, call)                                                                           \
    case WEFT__COMPLEX_##name:                                                                     \
        *result = call;                                                                            \
        return true;
        CASE(divide, x / y)
        CASE(abs, cabs(x))
        CASE(arg, carg(x))
        CASE(isnan, isnan(creal(x)) || isnan(cimag(x)))
        CASE(isinf, isinf(creal(x)) || isinf(cimag(x)))
        CASE(isfinite, isfinite(creal(x)) && isfinite(cimag(x)))
        CASE(sqrt, csqrt(x))
        CASE(exp, cexp(x))
        CASE(log, clog(x))
        CASE(sin, csin(x))
        CASE(cos, ccos(x))
        CASE(tan, ctan(x))
        CASE(asin, casin(x))
        CASE(acos, cacos(x))
        CASE(atan, catan(x))
        CASE(sinh, csinh(x))
        CASE(cosh, ccosh(x))
        CASE(tanh, ctanh(x))
        CASE(asinh, casinh(x))
        CASE(acosh, cacosh(x))
        CASE(atanh, catanh(x))
#undef CASE
    default:
        return false;
    }
}

/* Whether Annex G leaves the signs of this result open: of a zero or infinity whose sign would come
 * from a NaN, or from the sine of an infinity; and of a zero that a division gives. */
static bool sign_is_open(int function, struct number x)
{
    return function == WEFT__COMPLEX_divide || isnan(x.part[0]) || isnan(x.part[1]) ||
           isinf(x.part[0]) || isinf(x.part[1]);
}

static bool same_part(double got, double expected, bool open)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (open && (isinf(expected) || expected == 0))
        return fabs(got) == fabs(expected);
    if (expected == 0 || isinf(expected))
        return got == expected && signbit(got) == signbit(expected);
    return fabs(got - expected) <= 1e-5 * fabs(expected);
}

/* (inf + i*NaN) and (NaN + i*inf) are infinities alike. A finite quotient of the C library is only
 * near in its modulus. */
static bool same(int function, struct number x, struct number got, double complex expected)
{
    const double parts[2] = {creal(expected), cimag(expected)};
    const bool infinite = isinf(parts[0]) || isinf(parts[1]);
    if (function == WEFT__COMPLEX_divide && infinite)
        return isinf(got.part[0]) || isinf(got.part[1]);
    if (function == WEFT__COMPLEX_divide && isfinite(parts[0]) && isfinite(parts[1]))
        return hypot(got.part[0] - parts[0], got.part[1] - parts[1]) <= 1e-5 * cabs(expected);
    for (int k = 0; k < complex_parts((weft__complex_function)function); k++)
        if (!same_part(got.part[k], parts[k], sign_is_open(function, x)))
            return false;
    return true;
}

static const double special[] = {0.0, -0.0, 0.5, -0.5, 1, -1, 2, -3, INFINITY, -INFINITY, NAN};

enum { SPECIALS = sizeof special / sizeof special[0] };

/* CMPLX, which not every compiler has: no arithmetic, so that zeros keep their signs. */
static double complex complex_of(struct number number)
{
    double complex result;
    memcpy(&result, number.part, sizeof result);
    return result;
}

static bool check_special(int function, const expanded *at, weft_dtype dtype, int k, int l)
{
    struct number x = {{special[k / SPECIALS], special[k % SPECIALS]}}, got;
    struct number y = {{special[l / SPECIALS], special[l % SPECIALS]}};
    double complex expected;
    complex_run(at, dtype, 1, &x, &y, &got);
    if (!reference(function, complex_of(x), complex_of(y), &expected) ||
        same(function, x, got, expected))
        return true;
    fprintf(stderr, "%s(%g + i*%g, %g + i*%g) in %s should be %g + i*%g, not %g + i*%g\n",
            weft__complex_functions[function].name, x.part[0], x.part[1], y.part[0], y.part[1],
            weft_dtype_name(dtype), creal(expected), cimag(expected), got.part[0], got.part[1]);
    return false;
}

static bool check_specials(int function, weft_dtype dtype)
{
    const bool two = weft__complex_functions[function].arity == 2;
    expanded at;
    bool good = true;
    if (complex_begin(&at, (weft__complex_function)function, dtype) != WEFT_OK)
        return false;
    for (int k = 0; k < SPECIALS * SPECIALS; k++)
        for (int l = 0; l < (two ? SPECIALS * SPECIALS : 1); l++)
            good = check_special(function, &at, dtype, k, l) && good;
    expand_end(&at);
    return good;
}

TEST(A4_complex_special_values)
{
    bool good = true;
    for (int f = 0; f < WEFT__COMPLEX_COUNT; f++) {
        good = check_specials(f, WEFT_C64) && good;
        good = check_specials(f, WEFT_C128) && good;
    }
    CHECK(good);
}

/* The first samples of every function by the interpreter and by compiled code. */
static bool same_compiled(weft__complex_function function, weft_dtype dtype)
{
    enum { FEW = 500 };
    static struct number x[FEW], y[FEW], result[2][FEW];
    for (int k = 0; k < FEW; k++)
        complex_sample_any(function, dtype, &x[k], &y[k]);
    bool good = true;
    for (int engine = 0; engine < 2 && good; engine++) {
        expanded at;
        expand_compiled = engine == 1;
        good = complex_begin(&at, function, dtype) == WEFT_OK;
        expand_compiled = false;
        if (good)
            complex_run(&at, dtype, FEW, x, y, result[engine]);
        expand_end(&at);
    }
    return good && memcmp(result[0], result[1], sizeof result[0]) == 0;
}

TEST(X6_complex_functions_have_the_same_bits_compiled)
{
    if (weft__llvm_open() != WEFT_OK)
        SKIP("there is no libLLVM");
    for (int f = 0; f < WEFT__COMPLEX_COUNT; f++) {
        CHECK(same_compiled((weft__complex_function)f, WEFT_C64));
        CHECK(same_compiled((weft__complex_function)f, WEFT_C128));
    }
}

TEST_MAIN(TEST_NO_FAULTS(A4_c64_within_bounds, "there are too many kernels"),
          TEST_NO_FAULTS(A4_c128_within_bounds, "there are too many kernels"),
          TEST_NO_FAULTS(A4_complex_special_values, "there are too many kernels"),
          TEST_NO_FAULTS(X6_complex_functions_have_the_same_bits_compiled,
                         "there are too many kernels"));
