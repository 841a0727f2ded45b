/* The math functions of f16 and bf16 on all their numbers: computed in f32, and rounded once. */
#include "math/expand.h"
#include "math/halves.h"
#include "math/oracle.h"
#include "math/samples.h"
#include "support/check.h"

#include <stdio.h>

enum { ALL = 65536 };

static bool within_bound(weft__math_function function, weft_dtype dtype, double x, double y,
                         double got)
{
    const double bound = oracle_bound(function, dtype);
    const double fast = oracle_fast(function, x, y);
    if (oracle_error(function, got, fast, x, y, dtype) <= bound - 1e-7)
        return true;
    const long double exact = oracle_exact(function, x, y);
    const double ulps = oracle_error(function, got, exact, x, y, dtype);
    if (ulps <= bound)
        return true;
    fprintf(stderr, "%s(%a, %a) in %s is %La, not %a: an error of %g ulp\n",
            weft__math_functions[function].name, x, y, weft_dtype_name(dtype), exact, got, ulps);
    return false;
}

static bool check_function(weft__math_function function, weft_dtype dtype)
{
    static uint16_t x[ALL], y[ALL], result[ALL];
    expanded at;
    bool good = true;
    if (expand_begin(&at, function, dtype) != WEFT_OK)
        return false;
    const bool two = at.arguments == 2;
    for (int k = 0; k < ALL; k++) {
        x[k] = (uint16_t)(two ? random_bits() : (uint64_t)k);
        y[k] = (uint16_t)random_bits();
    }
    expand_run(&at, ALL, x, y, result);
    expand_end(&at);
    for (int k = 0; k < ALL && good; k++)
        good = within_bound(function, dtype, half_value(x[k], dtype), half_value(y[k], dtype),
                            half_value(result[k], dtype));
    return good;
}

/* nextafter has a kernel of its own, and the others give what f32 gives. */
static bool is_measured(weft__math_function function)
{
    return !weft__math_functions[function].boolean && function != WEFT__MATH_nextafter;
}

static void check_all(weft_dtype dtype)
{
    bool good = true;
    for (int f = 0; f < WEFT__MATH_COUNT; f++)
        if (is_measured((weft__math_function)f))
            good = check_function((weft__math_function)f, dtype) && good;
    CHECK(good);
}

TEST(A4_all_f16_within_bounds) { check_all(WEFT_F16); }

TEST(A4_all_bf16_within_bounds) { check_all(WEFT_BF16); }

TEST_MAIN(TEST_NO_FAULTS(A4_all_f16_within_bounds, "there are too many kernels"),
          TEST_NO_FAULTS(A4_all_bf16_within_bounds, "there are too many kernels"));
