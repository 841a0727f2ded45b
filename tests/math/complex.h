/* Functions of complex numbers in tests: running one on arrays, samples, and what it should give.
 */
#ifndef WEFT_TESTS_MATH_COMPLEX_H
#define WEFT_TESTS_MATH_COMPLEX_H

#include "math/expand.h"
#include "math/oracle.h"
#include "math/samples.h"

#ifdef WEFT_TEST_MPC
#include <mpc.h>
#include <stdlib.h>
#endif

/* Numbers here are pairs of doubles, whatever the dtype. */
struct number {
    double part[2];
};

struct exact {
    long double part[2];
};

static inline int complex_parts(weft__complex_function function)
{
    return weft__complex_functions[function].result == WEFT__COMPLEX_IS_COMPLEX ? 2 : 1;
}

/* `dtype` is c64 or c128. */
static inline weft_status complex_begin(expanded *at, weft__complex_function function,
                                        weft_dtype dtype)
{
    const weft__complex_facts *facts = &weft__complex_functions[function];
    const weft_dtype value = weft__value_dtype(dtype);
    const weft_dtype result = facts->result == WEFT__COMPLEX_IS_COMPLEX ? dtype
                              : facts->result == WEFT__COMPLEX_IS_REAL  ? value
                                                                        : WEFT_BOOL;
    weft__builder builder;
    weft__element x[2] = {{{0}, dtype}, {{0}, dtype}}, out = {{0}, result};
    weft__build_begin(&builder);
    builder.kernel.ndim = 1;
    for (int k = 0; k < facts->arity; k++)
        x[k] = weft__build_load(&builder, weft__build_operand(&builder, dtype, false));
    weft__math_complex(&builder, function, value, x[0].part, x[1].part, out.part);
    weft__build_store(&builder, weft__build_operand(&builder, result, true), out);
    return expand_finish(at, &builder, facts->arity, dtype, result);
}

/* Runs `count` numbers that are rounded to the dtype first. */
static inline void complex_run(const expanded *at, weft_dtype dtype, int count, struct number *x,
                               struct number *y, struct number *result)
{
    enum { MOST = 4096 };
    static _Thread_local float x32[2 * MOST], y32[2 * MOST], out32[2 * MOST];
    static _Thread_local double out[2 * MOST];
    const int parts = at->out_size == (dtype == WEFT_C64 ? 8 : 16) ? 2 : 1;
    for (int k = 0; k < 2 * count && dtype == WEFT_C64; k++) {
        x32[k] = (float)x[k / 2].part[k % 2];
        y32[k] = (float)y[k / 2].part[k % 2];
        x[k / 2].part[k % 2] = (double)x32[k];
        y[k / 2].part[k % 2] = (double)y32[k];
    }
    if (dtype == WEFT_C64)
        expand_run(at, count, x32, y32, out32);
    else
        expand_run(at, count, x, y, out);
    for (int k = 0; k < parts * count; k++) {
        double value = dtype == WEFT_C64 ? (double)out32[k] : out[k];
        if (at->out_size == 1)
            value = dtype == WEFT_C64 ? ((const char *)out32)[k] : ((const char *)out)[k];
        result[k / parts].part[k % parts] = value;
        if (parts == 1)
            result[k].part[1] = 0;
    }
}

static inline void complex_sample_any(weft__complex_function function, weft_dtype dtype,
                                      struct number *x, struct number *y)
{
    const weft_dtype value = dtype == WEFT_C64 ? WEFT_F32 : WEFT_F64;
    const uint64_t bits = random_bits();
    for (int k = 0; k < 2; k++) {
        x->part[k] = sample(value);
        y->part[k] = sample(value);
    }
    if ((bits & 3) == 0) /* near the unit circle */
        x->part[1] = rounded_to(value, sqrt(fabs(1 - x->part[0] * x->part[0])));
    if ((bits & 3) == 1) /* near 1 or -1 */
        x->part[0] = rounded_to(value, (bits & 4 ? 1 : -1) + x->part[0] * 0x1p-12);
    if (function == WEFT__COMPLEX_pow) { /* results that are numbers */
        x->part[0] = rounded_to(value, sample_near_one(16));
        x->part[1] = rounded_to(value, sample_near_one(16));
        y->part[0] = rounded_to(value, sample_near_one(12));
        y->part[1] = rounded_to(value, sample_near_one(12));
    }
}

/* Two finite numbers, of exponents that are alike or not; y is not 0. */
static inline void complex_sample(weft__complex_function function, weft_dtype dtype,
                                  struct number *x, struct number *y)
{
    do
        complex_sample_any(function, dtype, x, y);
    while (!isfinite(x->part[0]) || !isfinite(x->part[1]) || !isfinite(y->part[0]) ||
           !isfinite(y->part[1]) || (y->part[0] == 0 && y->part[1] == 0));
}

#ifdef WEFT_TEST_MPC
/* Enough bits for 1 + x, or for an angle of this size. */
static inline mpfr_prec_t precision_for(const struct number *x)
{
    int most = 0;
    for (int k = 0; k < 2; k++)
        if (isfinite(x->part[k]) && x->part[k] != 0 && abs(ilogb(x->part[k])) > most)
            most = abs(ilogb(x->part[k]));
    return 160 + 2 * most;
}

static inline void over_log(mpc_t r, unsigned base)
{
    mpfr_t log;
    mpfr_init2(log, 160);
    mpfr_set_ui(log, base, MPFR_RNDN);
    mpfr_log(log, log, MPFR_RNDN);
    mpc_div_fr(r, r, log, MPC_RNDNN);
    mpfr_clear(log);
}

static inline void times_log_2(mpc_t r, const mpc_t a)
{
    mpfr_t log;
    mpfr_init2(log, mpfr_get_prec(mpc_realref(r)));
    mpfr_const_log2(log, MPFR_RNDN);
    mpc_mul_fr(r, a, log, MPC_RNDNN);
    mpfr_clear(log);
}

static inline void unit_of(mpc_t r, const mpc_t a)
{
    mpfr_t size;
    mpfr_init2(size, 160);
    mpc_abs(size, a, MPFR_RNDN);
    if (mpfr_zero_p(size))
        mpc_set(r, a, MPC_RNDNN);
    else
        mpc_div_fr(r, a, size, MPC_RNDNN);
    mpfr_clear(size);
}

/* (sinh(2a) + i*sin(2b)) / (cosh(2a) + cos(2b)); MPC's own takes very long for large a. */
static inline void tanh_of(mpc_t r, double a, double b)
{
    mpfr_t x, y, over, part, under, other;
    mpfr_inits2(600, x, y, over, part, under, other, (mpfr_ptr)0);
    mpfr_set_d(x, 2 * fmax(fmin(a, 8000), -8000), MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
    mpfr_sinh_cosh(over, under, x, MPFR_RNDN);
    mpfr_sin_cos(part, other, y, MPFR_RNDN);
    mpfr_add(under, under, other, MPFR_RNDN);
    mpfr_div(mpc_realref(r), over, under, MPFR_RNDN);
    mpfr_div(mpc_imagref(r), part, under, MPFR_RNDN);
    mpfr_clears(x, y, over, part, under, other, (mpfr_ptr)0);
}

/* -i*log(i*x + sqrt(1 - x^2)), or of x + i*sqrt(1 - x^2), with bits to spare: MPC's own functions
 * take all memory for some x. */
static inline void arc_of(mpc_t r, double a, double b, bool cosine)
{
    const struct number x = {{a, b}};
    mpc_t z, root;
    mpc_init2(z, 2 * precision_for(&x));
    mpc_init2(root, 2 * precision_for(&x));
    mpc_set_d_d(z, a, b, MPC_RNDNN);
    mpc_sqr(root, z, MPC_RNDNN);
    mpc_ui_sub(root, 1, root, MPC_RNDNN);
    mpc_sqrt(root, root, MPC_RNDNN);
    if (cosine)
        mpc_mul_i(root, root, 1, MPC_RNDNN);
    else
        mpc_mul_i(z, z, 1, MPC_RNDNN);
    mpc_add(root, root, z, MPC_RNDNN);
    mpc_log(root, root, MPC_RNDNN);
    mpc_mul_i(r, root, -1, MPC_RNDNN);
    mpc_clear(z);
    mpc_clear(root);
}

static inline void asin_of(mpc_t r, double a, double b) { arc_of(r, a, b, false); }

static inline void acos_of(mpc_t r, double a, double b) { arc_of(r, a, b, true); }

static inline void asinh_of(mpc_t r, double a, double b)
{
    asin_of(r, b, a);
    mpfr_swap(mpc_realref(r), mpc_imagref(r));
}

static inline void acosh_of(mpc_t r, double a, double b)
{
    acos_of(r, a, b);
    mpfr_swap(mpc_realref(r), mpc_imagref(r));
    mpfr_abs(mpc_realref(r), mpc_realref(r), MPFR_RNDN);
    mpfr_setsign(mpc_imagref(r), mpc_imagref(r), signbit(b) != 0, MPFR_RNDN);
}

static inline void tan_of(mpc_t r, double a, double b)
{
    tanh_of(r, b, a);
    mpfr_swap(mpc_realref(r), mpc_imagref(r));
}

#define COMPLEX_ORACLES(X)                                                                         \
    X(divide, mpc_div(r, a, b, MPC_RNDNN))                                                         \
    X(abs, mpc_abs(mpc_realref(r), a, MPFR_RNDN))                                                  \
    X(arg, mpc_arg(mpc_realref(r), a, MPFR_RNDN))                                                  \
    X(sign, unit_of(r, a))                                                                         \
    X(sqrt, mpc_sqrt(r, a, MPC_RNDNN))                                                             \
    X(exp, mpc_exp(r, a, MPC_RNDNN))                                                               \
    X(exp2, (times_log_2(r, a), mpc_exp(r, r, MPC_RNDNN)))                                         \
    X(expm1, (mpc_exp(r, a, MPC_RNDNN), mpc_sub_ui(r, r, 1, MPC_RNDNN)))                           \
    X(log, mpc_log(r, a, MPC_RNDNN))                                                               \
    X(log2, (mpc_log(r, a, MPC_RNDNN), over_log(r, 2)))                                            \
    X(log10, (mpc_log(r, a, MPC_RNDNN), over_log(r, 10)))                                          \
    X(log1p, (mpc_add_ui(r, a, 1, MPC_RNDNN), mpc_log(r, r, MPC_RNDNN)))                           \
    X(sin, mpc_sin(r, a, MPC_RNDNN))                                                               \
    X(cos, mpc_cos(r, a, MPC_RNDNN))                                                               \
    X(tan, tan_of(r, x.part[0], x.part[1]))                                                        \
    X(asin, asin_of(r, x.part[0], x.part[1]))                                                      \
    X(acos, acos_of(r, x.part[0], x.part[1]))                                                      \
    X(atan, mpc_atan(r, a, MPC_RNDNN))                                                             \
    X(sinh, mpc_sinh(r, a, MPC_RNDNN))                                                             \
    X(cosh, mpc_cosh(r, a, MPC_RNDNN))                                                             \
    X(tanh, tanh_of(r, x.part[0], x.part[1]))                                                      \
    X(asinh, asinh_of(r, x.part[0], x.part[1]))                                                    \
    X(acosh, acosh_of(r, x.part[0], x.part[1]))                                                    \
    X(atanh, mpc_atanh(r, a, MPC_RNDNN))                                                           \
    X(pow, mpc_pow(r, a, b, MPC_RNDNN))

static inline bool needs_precision(weft__complex_function function)
{
    return function == WEFT__COMPLEX_exp2 || function == WEFT__COMPLEX_expm1 ||
           function == WEFT__COMPLEX_log1p;
}

static inline struct exact complex_exact(weft__complex_function function, struct number x,
                                         struct number y)
{
    static _Thread_local bool ready;
    static _Thread_local mpc_t a, b, r;
    if (!ready) {
        mpc_init2(a, 53);
        mpc_init2(b, 53);
        mpc_init2(r, 80);
        ready = true;
    }
    mpc_set_prec(r, needs_precision(function) ? precision_for(&x) : 80);
    mpc_set_d_d(a, x.part[0], x.part[1], MPC_RNDNN);
    mpc_set_d_d(b, y.part[0], y.part[1], MPC_RNDNN);
    switch (function) {
#define CASE(name, call)                                                                           \
    case WEFT__COMPLEX_##name:                                                                     \
        call;                                                                                      \
        break;
        COMPLEX_ORACLES(CASE)
#undef CASE
    default:
        break;
    }
    return (struct exact){
        {mpfr_get_ld(mpc_realref(r), MPFR_RNDN),
         complex_parts(function) == 2 ? mpfr_get_ld(mpc_imagref(r), MPFR_RNDN) : 0}};
}
#else
static inline struct exact complex_exact(weft__complex_function function, struct number x,
                                         struct number y)
{
    (void)function, (void)x, (void)y;
    return (struct exact){{(long double)NAN, (long double)NAN}};
}
#endif

static inline long double within(long double x, long double limit)
{
    return fabsl(x) > limit ? copysignl(limit, x) : x;
}

/* The distance of two numbers in units in the last place of the second's modulus. What is beyond
 * the largest number is taken for the power of two after it. */
static inline double complex_ulps(struct number got, struct exact exact, weft_dtype dtype)
{
    const struct float_format format = format_of(dtype);
    const long double limit = ldexpl(1, format.most);
    long double apart[2], size = 0;
    for (int k = 0; k < 2; k++) {
        if (isnan(got.part[k]) || isnan(exact.part[k]))
            return isnan(got.part[k]) && isnan(exact.part[k]) ? 0 : INFINITY;
        apart[k] = within(got.part[k], limit) - within(exact.part[k], limit);
        size = hypotl(size, within(exact.part[k], limit));
    }
    return (double)ldexpl(hypotl(apart[0], apart[1]), -unit_of_size(size, format));
}

/* The error as the bounds of math.h count it. */
static inline double complex_error(weft__complex_function function, struct number got,
                                   struct exact exact, struct number x, struct number y,
                                   weft_dtype dtype)
{
    const double ulps = complex_ulps(got, exact, dtype);
    if (function != WEFT__COMPLEX_pow || dtype == WEFT_C64)
        return ulps;
    const double length = hypot(log(hypot(x.part[0], x.part[1])), atan2(x.part[1], x.part[0]));
    return ulps / fmax(1, length * hypot(y.part[0], y.part[1]));
}

#endif
