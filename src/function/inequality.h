/* Linear inequalities of integers, and whether they have a solution. */
#ifndef WEFT_FUNCTION_INEQUALITY_H
#define WEFT_FUNCTION_INEQUALITY_H

#include <stdbool.h>
#include <stdint.h>

enum { WEFT__INEQUALITY_COLUMNS = 17 };

/* c[0]*v0 + c[1]*v1 + … + c[WEFT__INEQUALITY_COLUMNS - 1] >= 0 */
typedef struct weft__inequality {
    int64_t c[WEFT__INEQUALITY_COLUMNS];
} weft__inequality;

typedef struct weft__inequalities {
    weft__inequality *row, *other; /* the others are of an elimination */
    int count;
    bool unknown; /* a number or the number of rows was too large */
} weft__inequalities;

/* False if memory ran out; close it also then. */
bool weft__inequalities_open(weft__inequalities *all);
void weft__inequalities_close(weft__inequalities *all);
void weft__inequalities_clear(weft__inequalities *all);
void weft__inequality_add(weft__inequalities *to, const weft__inequality *row);
/* The row is 0. */
void weft__inequality_equal(weft__inequalities *to, const weft__inequality *zero);
/* No integers make it 0: its factors have a common divisor that the constant has not. */
bool weft__inequality_is_impossible(const weft__inequality *zero);
/* False if they surely have none. The rows are gone afterwards. */
bool weft__inequalities_have_solution(weft__inequalities *all);

#endif
