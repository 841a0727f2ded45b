/* Reductions as functions: each writes the expression that it stands for. */
#include "core/status.h"
#include "lang/evaluate.h"
#include <stdio.h>
#include <string.h>
#include <weft/reduce.h>

enum { CODE_MAX = 256 };

/* The options that this library knows, whatever the caller was built with. */
static weft_reduce_options options_of(const weft_reduce_options *options)
{
    weft_reduce_options all = {.struct_size = sizeof all};
    if (options)
        memcpy(&all, options,
               options->struct_size < sizeof all ? options->struct_size : sizeof all);
    return all;
}

static weft_status write_code(const char *name, const weft_reduce_options *o, char *code)
{
    int used = snprintf(code, CODE_MAX, "%s%s(a", o->out ? "r = " : "", name);
    bool deviation = !strcmp(name, "var") || !strcmp(name, "std");
    if (o->axes.count < 0 || o->axes.count > WEFT_NDIM_MAX)
        return FAIL(WEFT_ERROR_ARGUMENT, ".axes has %d axes; 0 to %d are possible", o->axes.count,
                    WEFT_NDIM_MAX);
    for (int k = 0; k < o->axes.count; k++)
        used += snprintf(code + used, CODE_MAX - (size_t)used, "%s%d", k ? ", " : ", axis=(",
                         o->axes.axis[k]);
    used += snprintf(code + used, CODE_MAX - (size_t)used, "%s%s", o->axes.count ? ")" : "",
                     o->keep ? ", keep=true" : "");
    if (o->correction && deviation)
        used += snprintf(code + used, CODE_MAX - (size_t)used, ", correction=%d", o->correction);
    else if (o->correction)
        return FAIL(WEFT_ERROR_ARGUMENT, ".correction is for var and std, not for %s", name);
    if (o->order && strcmp(name, "norm") != 0)
        return FAIL(WEFT_ERROR_ARGUMENT, ".order is for norm, not for %s", name);
    if (o->order && o->order != 1 && o->order != 2 && o->order != WEFT_NORM_INF)
        return FAIL(WEFT_ERROR_ARGUMENT, ".order is %d; norms have 1, 2 or WEFT_NORM_INF",
                    o->order);
    snprintf(code + used, CODE_MAX - (size_t)used, "%s)",
             o->order == 1               ? ", order=1"
             : o->order == WEFT_NORM_INF ? ", order=inf"
                                         : "");
    return WEFT_OK;
}

static weft_array *reduce(const char *name, weft_array *array, const weft_reduce_options *options)
{
    static const char *const names[] = {"a", "r"};
    const weft_reduce_options o = options_of(options);
    weft_operand operands[] = {WEFT_OPERAND((const weft_array *)array), WEFT_OPERAND(o.out)};
    char code[CODE_MAX];
    weft_array *value = NULL;
    if (!array)
        return weft__fail_null("array"), NULL;
    if (write_code(name, &o, code) != WEFT_OK)
        return NULL;
    if (weft__evaluate_text(code, o.out ? 2 : 1, names, operands, !o.out, &value) != WEFT_OK)
        return NULL;
    return o.out ? weft_array_retain(o.out) : value;
}

#define REDUCTION(name)                                                                            \
    weft_array *weft_##name##_with(weft_array *array, const weft_reduce_options *options)          \
    {                                                                                              \
        OPERATION("weft_" #name);                                                                  \
        return reduce(#name, array, options);                                                      \
    }
REDUCTION(sum)
REDUCTION(prod)
REDUCTION(min)
REDUCTION(max)
REDUCTION(mean)
REDUCTION(var)
REDUCTION(std)
REDUCTION(any)
REDUCTION(all)
REDUCTION(argmin)
REDUCTION(argmax)
REDUCTION(norm)
