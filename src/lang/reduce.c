/* Reductions as functions: each stands for the expression of that one reduction. */
#include "core/status.h"
#include "lang/texts.h"
#include <stdio.h>
#include <weft/reduce.h>

/* What a text is written for: bits of its key, from these on. The operation is with the types. */
enum {
    KEY_OUT = 0,
    KEY_KEEP = 1,
    KEY_ORDER = 2, /* 0 for the usual one, 1, and 3 for infinity */
    KEY_COUNT = 4,
    KEY_AXES = 8, /* four bits each */
    KEY_CORRECTION = 40,
    KEY_WRITER = 56,
    KEY_OPERATION = 48,
    AXIS_LEAST = -8, /* further out no array has axes */
    AXIS_MOST = 7,
    CORRECTION_MOST = 65535,
    CODE_MAX = 96
};

static unsigned field(uint64_t key, int from, unsigned mask)
{
    return (unsigned)(key >> from) & mask;
}

static void write_text(const weft__text_key *key, weft__text *text)
{
    const uint64_t what = key->what;
    const bool out = field(what, KEY_OUT, 1);
    const char *name = weft__lang_operations[field(key->types, KEY_OPERATION, 0xff)].name;
    const unsigned count = field(what, KEY_COUNT, 15), order = field(what, KEY_ORDER, 3);
    const unsigned correction = field(what, KEY_CORRECTION, 0xffff);
    char code[CODE_MAX], function[24];
    int used = snprintf(code, CODE_MAX, "%s%s(x", out ? "out = " : "", name);
    for (unsigned k = 0; k < count; k++)
        used += snprintf(code + used, CODE_MAX - (size_t)used, "%s%d", k ? ", " : ", axis=(",
                         (int)(field(what, KEY_AXES + 4 * (int)k, 15) ^ 8) - 8);
    used += snprintf(code + used, CODE_MAX - (size_t)used, "%s%s", count ? ")" : "",
                     field(what, KEY_KEEP, 1) ? ", keep=true" : "");
    if (correction)
        used += snprintf(code + used, CODE_MAX - (size_t)used, ", correction=%u", correction);
    snprintf(code + used, CODE_MAX - (size_t)used, "%s)",
             order == 1   ? ", order=1"
             : order == 3 ? ", order=inf"
                          : "");
    snprintf(function, sizeof function, "weft_%s", name);
    weft__text_set(text, function, code, out ? "x, out" : "x");
}

static weft_status add_axes(const weft_reduce_options *o, const weft_array *array, uint64_t *what)
{
    if (o->axes.count < 0 || o->axes.count > WEFT_NDIM_MAX)
        return FAIL(WEFT_ERROR_ARGUMENT, ".axes has %d axes; 0 to %d are possible", o->axes.count,
                    WEFT_NDIM_MAX);
    if (o->axes.count == 0 && o->axes.axis[0] != 0)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "axes",
                       "axes are given as .axes = WEFT_AXES(%d), not as a number alone",
                       o->axes.axis[0]);
    *what |= (uint64_t)o->axes.count << KEY_COUNT;
    for (int k = 0; k < o->axes.count; k++) {
        if (o->axes.axis[k] < AXIS_LEAST || o->axes.axis[k] > AXIS_MOST)
            return FAIL_AT(WEFT_ERROR_SHAPE, "axes",
                           "axis %d is out of range for an array of %d dimensions", o->axes.axis[k],
                           weft_array_ndim(array));
        *what |= ((uint64_t)o->axes.axis[k] & 15) << (KEY_AXES + 4 * k);
    }
    return WEFT_OK;
}

static weft_status add_order(weft__lang_operation operation, const weft_reduce_options *o,
                             uint64_t *what)
{
    const char *name = weft__lang_operations[operation].name;
    if (o->correction && operation != WEFT__LANG_var && operation != WEFT__LANG_std)
        return FAIL(WEFT_ERROR_ARGUMENT, ".correction is for var and std, not for %s", name);
    if (o->correction < 0 || o->correction > CORRECTION_MOST)
        return FAIL(WEFT_ERROR_ARGUMENT, ".correction is %d; 0 to %d are possible", o->correction,
                    CORRECTION_MOST);
    if (o->order && operation != WEFT__LANG_norm)
        return FAIL(WEFT_ERROR_ARGUMENT, ".order is for norm, not for %s", name);
    if (o->order && o->order != 1 && o->order != 2 && o->order != WEFT_NORM_INF)
        return FAIL(WEFT_ERROR_ARGUMENT, ".order is %d; norms have 1, 2 or WEFT_NORM_INF",
                    o->order);
    *what |= (uint64_t)o->correction << KEY_CORRECTION;
    *what |= (uint64_t)(o->order == 2 ? 0 : o->order & 3) << KEY_ORDER;
    return WEFT_OK;
}

static weft_array *reduce(weft__lang_operation operation, weft_array *array,
                          const weft_reduce_options *given)
{
    weft_reduce_options o = {.struct_size = sizeof o};
    weft__options_copy(&o, sizeof o, given);
    const weft_operand operands[] = {WEFT_OPERAND((const weft_array *)array), WEFT_OPERAND(o.out)};
    const int count = o.out ? 2 : 1;
    weft__text_key key = {(uint64_t)WEFT__TEXT_REDUCTION << KEY_WRITER |
                              (uint64_t)(o.out != NULL) << KEY_OUT | (uint64_t)o.keep << KEY_KEEP,
                          weft__text_types(operands, count) | (uint64_t)operation << KEY_OPERATION};
    if (!array)
        return weft__fail_null("array"), NULL;
    TRY_NULL(add_axes(&o, array, &key.what));
    TRY_NULL(add_order(operation, &o, &key.what));
    return weft__text_run(&key, write_text, operands, count, o.out);
}

#define REDUCTION(name)                                                                            \
    weft_array *weft_##name##_with(weft_array *array, const weft_reduce_options *options)          \
    {                                                                                              \
        OPERATION("weft_" #name);                                                                  \
        return reduce(WEFT__LANG_##name, array, options);                                          \
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
