/* Tables of corners: code, arguments, and the one result that docs/semantics.md allows. */
#ifndef WEFT_TESTS_SEMANTICS_ROWS_H
#define WEFT_TESTS_SEMANTICS_ROWS_H

#include "support/arrays.h"
#include "support/reference.h"
#include <ctype.h>
#include <stdio.h>

/* A row holds for each of its dtypes, of which all arguments are. */
struct row {
    const char *corner; /* as scripts/check_semantics.sh has it */
    const char *code;   /* of x, y and z */
    const char *dtypes; /* with blanks between */
    struct number argument[3], expected;
};

#define I(n)                                                                                       \
    {                                                                                              \
        true, (uint64_t)(n), { (long double)(n) }                                                  \
    }
#define R(x)                                                                                       \
    {                                                                                              \
        false, 0, { (long double)(x) }                                                             \
    }
#define C(re, im)                                                                                  \
    {                                                                                              \
        false, 0, { (long double)(re), (long double)(im) }                                         \
    }
#define NaN R(NAN)
#define INF R(INFINITY)

enum { ROW_COUNT = 37 }; /* elements: more than two vectors, and a rest */

static inline bool row_uses(const char *code, char name)
{
    for (const char *at = code; (at = strchr(at, name)) != NULL; at++)
        if ((at == code || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[1]))
            return true;
    return false;
}

/* Argument k of a row as a C number; the widest of its kind, which is weak. */
static inline weft_operand row_number(const struct row *row, int k, weft_dtype dtype)
{
    const struct number *n = &row->argument[k];
    if (is_complex(dtype))
        return weft__operand_complex(WEFT_C128, (double)n->part[0], (double)n->part[1]);
    if (is_float(dtype))
        return WEFT_OPERAND((double)n->part[0]);
    return is_signed(dtype) ? WEFT_OPERAND((int64_t)n->integer) : WEFT_OPERAND(n->integer);
}

/* Argument k of the rows in turn, as an array. */
static inline weft_array *row_array(const struct row *rows, int count, int k, weft_dtype dtype)
{
    char data[ROW_COUNT * 16];
    size_t size = weft_dtype_size(dtype);
    for (int i = 0; i < ROW_COUNT; i++)
        number_encode(dtype, &rows[i % count].argument[k], data + (size_t)i * size);
    return from(data, ROW_COUNT * size, WEFT_SHAPE(ROW_COUNT), dtype);
}

static inline bool row_fits(const struct row *rows, int count, weft_array *result, weft_dtype dtype)
{
    char actual[ROW_COUNT * 16], expected[16];
    weft_dtype type = weft_array_dtype(result);
    size_t size = weft_dtype_size(type);
    if (weft_copy_to_host(result, actual, ROW_COUNT * size) != WEFT_OK)
        return false;
    for (int i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &rows[i % count];
        number_encode(type, &row->expected, expected);
        if (memcmp(actual + (size_t)i * size, expected, size) == 0)
            continue;
        struct number n = number_decode(type, actual + (size_t)i * size);
        fprintf(stderr, "%s: %s of %s: %Lg, %Lg, %Lg gives %La%+Lai\n", row->corner, row->code,
                weft_dtype_name(dtype), row->argument[0].part[0], row->argument[1].part[0],
                row->argument[2].part[0], n.part[0], n.part[1]);
        return false;
    }
    return true;
}

/* Computes rows that have one code; arguments with a bit in `numbers` are C numbers. */
static inline bool rows_run(const struct row *rows, int count, weft_dtype dtype, unsigned numbers)
{
    static const char *const all[] = {"x", "y", "z"};
    const char *names[3];
    weft_operand operands[3];
    weft_array *arrays[3] = {NULL};
    int used = 0;
    bool made = true;
    for (int k = 0; k < 3; k++) {
        if (!row_uses(rows->code, all[k][0]))
            continue;
        names[used] = all[k];
        if (!(numbers >> k & 1))
            made = (arrays[k] = row_array(rows, count, k, dtype)) && made;
        operands[used++] = numbers >> k & 1 ? row_number(rows, k, dtype) : WEFT_OPERAND(arrays[k]);
    }
    WEFT_AUTO weft_array *result =
        made ? weft_evaluate_new(rows->code, used, names, operands) : NULL;
    bool fits = result && row_fits(rows, count, result, dtype);
    if (!result)
        fprintf(stderr, "%s: %s\n", rows->corner, weft_error_message());
    for (int k = 0; k < 3; k++)
        weft_array_release(arrays[k]);
    return fits;
}

/* All as arrays; then each row with its last, and with its first argument as a number. */
static inline bool rows_check_dtype(const struct row *rows, int count, weft_dtype dtype)
{
    if (!rows_run(rows, count, dtype, 0))
        return false;
    for (int k = 0; k < count && row_uses(rows->code, 'y') && dtype != WEFT_BOOL; k++)
        if (!rows_run(&rows[k], 1, dtype, 2) || !rows_run(&rows[k], 1, dtype, 1))
            return false;
    return true;
}

/* Rows that follow each other with the same code and dtypes are computed together, so that
 * neighbours in a vector differ. */
static inline bool rows_check(const struct row *rows, int count)
{
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && strcmp(rows[end].code, rows[first].code) == 0 &&
                              strcmp(rows[end].dtypes, rows[first].dtypes) == 0;)
            end++;
        char dtypes[80], *rest = dtypes;
        snprintf(dtypes, sizeof dtypes, "%s", rows[first].dtypes);
        for (char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) {
            if (!rows_check_dtype(rows + first, end - first, weft_dtype_named(name)))
                return false;
        }
    }
    return true;
}

#define CHECK_ROWS(rows) CHECK(rows_check(rows, (int)(sizeof rows / sizeof rows[0])))

#endif
