/* What other languages have, and how it is written here. */
#include "lang/error.h"
#include "lang/operations.h"
#include <string.h>

#define RANDOM "random numbers are an operand, made by weft_random_uniform or weft_random_normal"

static bool is(weft__lang_name name, const char *text)
{
    return strlen(text) == name.length && !memcmp(text, name.text, name.length);
}

static const char *last_dot(weft__lang_name name)
{
    for (size_t k = name.length; k-- > 0;)
        if (name.text[k] == '.')
            return name.text + k;
    return NULL;
}

/* x.T, x.sum() */
static const char *habit_of_member(weft__lang_name member)
{
    static const char *const members[][2] = {
        {"T", "its transposed view is an operand of its own, made with weft_transpose"},
        {"astype", "a cast is written f32(x)"},
        {"shape", "a size is an operand of its own, a C number"},
        {"size", "a size is an operand of its own, a C number"},
    };
    for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
        if (is(member, members[k][0]))
            return members[k][1];
    return weft__lang_function_named(member.text, member.length) == WEFT__LANG_OPERATION_END
               ? NULL
               : "a function stands before what it is of, as sum(a)";
}

const char *weft__lang_habit(weft__lang_name name)
{
    static const char *const names[][2] = {
        {"not", "the opposite is !x"},
        {"I", "an imaginary number is written 1.0i"},
        {"M_PI", "here it is pi"},
        {"INFINITY", "here it is inf"},
        {"NAN", "here it is nan"},
        {"len", "how many there are is an operand; sum(a)/len(a) is mean(a)"},
        {"roll", "roll(a, 1, axis=0) is shift(a, -1, boundary=wrap)"},
        {"fmax", "max(x, y) is the larger, or NaN if either is"},
        {"fmin", "min(x, y) is the smaller, or NaN if either is"},
        {"fmaxf", "max(x, y) is the larger, or NaN if either is"},
        {"fminf", "min(x, y) is the smaller, or NaN if either is"},
        {"rint", "it is round(x)"},
        {"nearbyint", "it is round(x)"},
        {"ln", "the natural logarithm is log(x)"},
        {"erfc", "it is 1 - erf(x), with fewer digits where x is large"},
        {"power", "it is pow(x, y)"},
        {"absolute", "it is abs(x)"},
        {"mod", "it is remainder(x, y), of integers x % y"},
        {"arcsin", "it is asin(x)"},
        {"arccos", "it is acos(x)"},
        {"arctan", "it is atan(x)"},
        {"arctan2", "it is atan2(y, x)"},
        {"astype", "a cast is written f32(x)"},
        {"count_nonzero", "it is sum(x != 0)"},
        {"dot", "of vectors it is sum(x*y); there are no products of matrices"},
        {"matmul", "there are no products of matrices"},
        {"nansum", "without NaNs it is sum(where(isnan(x), 0, x))"},
        {"nanmean", "without NaNs it is sum(where(isnan(x), 0, x))/f64(sum(!isnan(x)))"},
        {"nanmin", "without NaNs it is min(where(isnan(x), inf, x))"},
        {"nanmax", "without NaNs it is max(where(isnan(x), -inf, x))"},
        {"rand", RANDOM},
        {"randn", RANDOM},
        {"random", RANDOM},
        {"uniform", RANDOM},
        {"normal", RANDOM},
        {"cumsum", "running sums are made by the function weft_cumulative_sum"},
        {"cumprod", "running products are made by the function weft_cumulative_prod"},
    };
    const char *dot = last_dot(name);
    if (name.length > 3 && !memcmp(name.text, "np.", 3))
        return "functions and constants have their plain names, as sum(a) and pi";
    for (size_t k = 0; !dot && k < sizeof names / sizeof names[0]; k++)
        if (is(name, names[k][0]))
            return names[k][1];
    return dot ? habit_of_member(
                     (weft__lang_name){dot + 1, (size_t)(name.text + name.length - dot) - 1})
               : NULL;
}
