/* Linear inequalities: solved over the rationals (Fourier and Motzkin), tightened to integers where
 * that is easy. */
#include "function/inequality.h"
#include "core/allocate.h"
#include <string.h>

enum { COLUMNS = WEFT__INEQUALITY_COLUMNS, ROWS_MAX = 600 };

bool weft__inequalities_open(weft__inequalities *all)
{
    *all = (weft__inequalities){.row = weft__allocate(2 * ROWS_MAX * sizeof *all->row)};
    all->other = all->row ? all->row + ROWS_MAX : NULL;
    return all->row != NULL;
}

void weft__inequalities_close(weft__inequalities *all)
{
    weft__free(all->row < all->other ? all->row : all->other);
}

void weft__inequalities_clear(weft__inequalities *all)
{
    all->count = 0;
    all->unknown = false;
}

/* 0 of zeros; 1 where it does not fit. */
static int64_t greatest_divisor(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

void weft__inequality_add(weft__inequalities *to, const weft__inequality *new_row)
{
    weft__inequality r = *new_row;
    int64_t divisor = 0;
    for (int k = 0; k < COLUMNS - 1; k++)
        divisor = greatest_divisor(divisor, r.c[k]);
    for (int k = 0; divisor > 1 && k < COLUMNS - 1; k++)
        r.c[k] /= divisor;
    if (divisor > 1)
        r.c[COLUMNS - 1] = floor_divide(r.c[COLUMNS - 1], divisor);
    for (int i = 0; i < to->count; i++)
        if (!memcmp(to->row[i].c, r.c, (COLUMNS - 1) * sizeof *r.c)) { /* the tighter one stays */
            if (r.c[COLUMNS - 1] < to->row[i].c[COLUMNS - 1])
                to->row[i].c[COLUMNS - 1] = r.c[COLUMNS - 1];
            return;
        }
    if (to->count == ROWS_MAX)
        to->unknown = true;
    else
        to->row[to->count++] = r;
}

/* scale*a + other*b. */
static bool combine(const weft__inequality *a, int64_t scale, const weft__inequality *b,
                    int64_t other, weft__inequality *sum)
{
    for (int k = 0; k < COLUMNS; k++) {
        int64_t x, y;
        if (__builtin_mul_overflow(a->c[k], scale, &x) ||
            __builtin_mul_overflow(b->c[k], other, &y) || __builtin_add_overflow(x, y, &sum->c[k]))
            return false;
    }
    return true;
}

void weft__inequality_equal(weft__inequalities *to, const weft__inequality *zero)
{
    weft__inequality negative;
    for (int k = 0; k < COLUMNS; k++) {
        if (zero->c[k] == INT64_MIN) {
            to->unknown = true;
            return;
        }
        negative.c[k] = -zero->c[k];
    }
    weft__inequality_add(to, zero);
    weft__inequality_add(to, &negative);
}

bool weft__inequality_is_impossible(const weft__inequality *zero)
{
    int64_t divisor = 0;
    for (int k = 0; k < COLUMNS - 1; k++)
        divisor = greatest_divisor(divisor, zero->c[k]);
    return divisor ? zero->c[COLUMNS - 1] % divisor != 0 : zero->c[COLUMNS - 1] != 0;
}

/* Rows that say the same without the variable. */
static void eliminate(weft__inequalities *all, int variable)
{
    const weft__inequalities from = *all;
    all->row = from.other;
    all->other = from.row;
    all->count = 0;
    for (int i = 0; i < from.count && !all->unknown; i++) {
        int64_t low = from.row[i].c[variable];
        if (low == 0)
            weft__inequality_add(all, &from.row[i]);
        for (int k = 0; low > 0 && k < from.count && !all->unknown; k++) {
            int64_t high = from.row[k].c[variable];
            weft__inequality sum;
            if (high >= 0)
                continue;
            if (high == INT64_MIN || !combine(&from.row[i], -high, &from.row[k], low, &sum))
                all->unknown = true;
            else
                weft__inequality_add(all, &sum);
        }
    }
}

/* The variable that leaves the fewest rows; -1 if none is left. */
static int next_variable(const weft__inequalities *all)
{
    int best = -1, fewest = 0;
    for (int k = 0; k < COLUMNS - 1; k++) {
        int low = 0, high = 0;
        for (int i = 0; i < all->count; i++) {
            low += all->row[i].c[k] > 0;
            high += all->row[i].c[k] < 0;
        }
        if (low + high > 0 && (best < 0 || low * high < fewest)) {
            best = k;
            fewest = low * high;
        }
    }
    return best;
}

bool weft__inequalities_have_solution(weft__inequalities *all)
{
    for (int k = next_variable(all); k >= 0 && !all->unknown; k = next_variable(all))
        eliminate(all, k);
    bool solution = true;
    for (int i = 0; i < all->count && !all->unknown; i++)
        solution &= all->row[i].c[COLUMNS - 1] >= 0;
    return solution;
}
