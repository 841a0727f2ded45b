/* The parameters of distributions: checked, rounded to the dtype, and as scalars of kernels. */
#include "codegen/interpreter/mode.h"
#include "core/dtype.h"
#include "ops/random.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Binary floats of a dtype: bits of the significand, the least exponent of normal numbers, the
 * largest number. */
typedef struct format {
    int bits, least;
    double most;
} format;

static format format_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F16:
        return (format){11, -14, 65504};
    case WEFT_BF16:
        return (format){8, -126, 0x1.fep127};
    case WEFT_F64:
    case WEFT_C128:
        return (format){53, -1022, DBL_MAX};
    default:
        return (format){24, -126, FLT_MAX};
    }
}

/* The distance of numbers with the exponent of x. */
static double spacing_at(format f, double x)
{
    int exponent = x == 0 ? f.least : ilogb(x);
    return ldexp(1, (exponent < f.least ? f.least : exponent) - f.bits + 1);
}

static double rounded_to(format f, double x)
{
    double spacing = spacing_at(f, x), rounded = rint(x / spacing) * spacing;
    return x != x || fabs(rounded) <= f.most ? rounded : copysign(INFINITY, x);
}

/* The largest number below x. */
static double below(format f, double x)
{
    double spacing = spacing_at(f, x);
    bool power = x > 0 && x == ldexp(1, ilogb(x)) && ilogb(x) > f.least;
    return x - (power ? spacing / 2 : spacing);
}

static void set(weft__drawing *drawing, int at, double x)
{
    float narrow = (float)x;
    drawing->parameters[at] = 0;
    if (drawing->dtype == WEFT_F64 || drawing->dtype == WEFT_C128)
        memcpy(&drawing->parameters[at], &x, sizeof x);
    else
        memcpy(&drawing->parameters[at], &narrow, sizeof narrow);
}

static weft_status check_floating(weft_dtype dtype)
{
    if (weft_dtype_size(dtype) == 0)
        return weft__fail_dtype(dtype);
    if (weft__dtype_rank(dtype) >= WEFT__RANK_FLOAT)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_DTYPE, "dtype",
                   "dtype is %s; a float or complex one was expected (weft_random_integers makes "
                   "integers)",
                   weft_dtype_name(dtype));
}

/* Whether the largest of the numbers, which rounds as the kernels do, is less than `to`; `step` is
 * the distance of two, which must be a number without rounding. */
static bool stays_below(const weft__drawing *drawing, double step, double from, double to)
{
    const double last = ldexp(1, weft__random_bits(drawing->dtype)) - 1;
    const format f = format_of(drawing->dtype);
    const bool wide = f.bits == 53;
    const double x =
        wide ? fma(last, step, from) : (double)fmaf((float)last, (float)step, (float)from);
    return step >= (wide ? DBL_MIN : FLT_MIN) && rounded_to(f, x) < to;
}

/* Not inlined, as the next: their arithmetic must stay between the calls that set the CPU's mode.
 */
__attribute__((noinline)) static weft_status set_uniform(weft__drawing *drawing, double low,
                                                         double high)
{
    const format f = format_of(drawing->dtype);
    const double from = rounded_to(f, low), to = rounded_to(f, high);
    const double unit = ldexp(1, -weft__random_bits(drawing->dtype));
    if (!isfinite(from) || !isfinite(to) || !(from < to))
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "low is %.17g and high %.17g, as %s %.17g and %.17g; finite numbers with low < "
                    "high were expected",
                    low, high, weft_dtype_name(drawing->dtype), from, to);
    const bool far = !(to - from <= f.most); /* their distance is no number of this dtype */
    const double range = far ? to / 2 - from / 2 : to - from;
    set(drawing, 0, far ? 2 * unit : unit);
    set(drawing, 1, range);
    set(drawing, 2, from);
    set(drawing, 3, to);
    set(drawing, 4, below(f, to));
    drawing->parameters_count = 5;
    const double step = (f.bits == 53 ? range : (float)range) * (far ? 2 * unit : unit);
    if (stays_below(drawing, step, from, to)) {
        drawing->distribution = WEFT__UNIFORM_BELOW;
        drawing->parameters_count = 2;
        set(drawing, 0, step);
        set(drawing, 1, from);
    }
    return WEFT_OK;
}

weft_status weft__drawing_uniform(weft__drawing *drawing, double low, double high)
{
    TRY(check_floating(drawing->dtype));
    const weft__mode mode = weft__mode_enter();
    const weft_status status = set_uniform(drawing, low, high);
    weft__mode_leave(mode);
    return status;
}

__attribute__((noinline)) static weft_status set_normal(weft__drawing *drawing, double mean,
                                                        double deviation)
{
    const format f = format_of(weft__value_dtype(drawing->dtype));
    if (!isfinite(rounded_to(f, mean)) || !(deviation >= 0) || !isfinite(rounded_to(f, deviation)))
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "mean is %.17g and deviation %.17g; finite %s numbers with deviation >= 0 were "
                    "expected",
                    mean, deviation, weft_dtype_name(drawing->dtype));
    drawing->parameters_count = 2;
    set(drawing, 0, deviation);
    set(drawing, 1, mean);
    return WEFT_OK;
}

weft_status weft__drawing_normal(weft__drawing *drawing, double mean, double deviation)
{
    TRY(check_floating(drawing->dtype));
    const weft__mode mode = weft__mode_enter();
    const weft_status status = set_normal(drawing, mean, deviation);
    weft__mode_leave(mode);
    return status;
}

/* An integer of 65 bits: sign and magnitude, from -2^63 to 2^64, which is `above`. */
typedef struct whole {
    bool negative, above;
    uint64_t magnitude;
} whole;

static weft_status whole_of(const weft_operand *number, const char *name, whole *w)
{
    const weft__rank rank =
        number->tag == WEFT_OPERAND_NUMBER ? weft__dtype_rank((weft_dtype)number->dtype) : 0;
    const double x = number->value.f;
    *w = (whole){0};
    if (number->tag != WEFT_OPERAND_NUMBER)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, name, "%s is an array; a C number was expected", name);
    if (rank <= WEFT__RANK_INTEGER) {
        w->negative = number->dtype >= WEFT_I8 && number->dtype <= WEFT_I64 && number->value.i < 0;
        w->magnitude = w->negative ? 0 - number->value.u : number->value.u;
        return WEFT_OK;
    }
    if (rank != WEFT__RANK_FLOAT || !(x >= -0x1p63 && x <= 0x1p64) || x != floor(x))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, name,
                       "%s is %g; an integer from -2^63 to 2^64 was expected", name, x);
    w->negative = x < 0;
    w->above = x == 0x1p64;
    w->magnitude = w->above ? 0 : w->negative ? (uint64_t)-x : (uint64_t)x;
    return WEFT_OK;
}

static bool is_less(whole a, whole b)
{
    if (a.negative != b.negative)
        return a.negative;
    if (a.above != b.above)
        return b.above;
    return a.negative ? a.magnitude > b.magnitude : a.magnitude < b.magnitude;
}

/* The smallest number of the dtype, and the one after the largest. */
static void limits_of(weft_dtype dtype, whole *low, whole *high)
{
    const unsigned bits = dtype == WEFT_BOOL ? 1 : 8 * (unsigned)weft_dtype_size(dtype);
    const bool is_signed = dtype >= WEFT_I8 && dtype <= WEFT_I64;
    const unsigned top = bits - is_signed;
    const uint64_t end = top == 64 ? 0 : UINT64_C(1) << top;
    *low = (whole){.negative = is_signed, .magnitude = is_signed ? end : 0};
    *high = (whole){.above = top == 64, .magnitude = end};
}

static uint64_t bits_of(whole w) { return w.negative ? 0 - w.magnitude : w.magnitude; }

static const char *text_of(whole w, char *text, size_t room)
{
    if (w.above)
        snprintf(text, room, "2^64");
    else
        snprintf(text, room, "%s%llu", w.negative ? "-" : "", (unsigned long long)w.magnitude);
    return text;
}

weft_status weft__drawing_integers(weft__drawing *drawing, const weft_operand *low,
                                   const weft_operand *high)
{
    char texts[4][24];
    whole from, to, least, end;
    const weft_dtype dtype = drawing->dtype;
    if (weft_dtype_size(dtype) == 0)
        return weft__fail_dtype(dtype);
    if (weft__dtype_rank(dtype) > WEFT__RANK_INTEGER)
        return FAIL_AT(WEFT_ERROR_DTYPE, "dtype",
                       "dtype is %s; an integer one or bool was expected", weft_dtype_name(dtype));
    TRY(whole_of(low, "low", &from));
    TRY(whole_of(high, "high", &to));
    limits_of(dtype, &least, &end);
    if (is_less(from, least) || is_less(end, to) || !is_less(from, to))
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "low is %s and high %s; low < high, both from %s to %s for %s, were expected",
                    text_of(from, texts[0], sizeof texts[0]),
                    text_of(to, texts[1], sizeof texts[1]),
                    text_of(least, texts[2], sizeof texts[2]),
                    text_of(end, texts[3], sizeof texts[3]), weft_dtype_name(dtype));
    drawing->parameters_count = 2;
    drawing->parameters[0] = bits_of(to) - bits_of(from);
    drawing->parameters[1] = bits_of(from);
    return WEFT_OK;
}
