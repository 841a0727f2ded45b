/* Linear inequalities: none that integers solve is said to have no solution. */
#include "function/inequality.h"
#include "support/check.h"
#include "support/random.h"

enum { LAST = WEFT__INEQUALITY_COLUMNS - 1, VARIABLES = 3, SIZE = 5 };

static weft__inequality row_of(int64_t a, int64_t b, int64_t constant)
{
    weft__inequality row = {{a, b}};
    row.c[LAST] = constant;
    return row;
}

TEST(F3_what_no_integers_solve)
{
    static const struct {
        int64_t a, b, constant;
        bool impossible;
    } cases[] = {{2, 4, 1, true},          {2, 4, 6, false},
                 {0, 0, 0, false},         {0, 0, 5, true},
                 {3, 5, 1, false},         {INT64_MIN, 0, INT64_MIN, false},
                 {INT64_MIN, 3, 1, false}, {INT64_MIN, INT64_MIN, 0, false}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const weft__inequality zero = row_of(cases[k].a, cases[k].b, cases[k].constant);
        CHECK_INT(weft__inequality_is_impossible(&zero), cases[k].impossible);
    }
}

static int64_t value_of(const weft__inequality *row, int point)
{
    int64_t sum = row->c[LAST];
    for (int k = 0; k < VARIABLES; k++, point /= SIZE)
        sum += row->c[k] * (point % SIZE);
    return sum;
}

/* Some rows over the points of a cube; with how many of them there is none. */
static bool try_rows(weft__inequalities *all, int count, int *without)
{
    weft__inequality rows[4];
    bool solved = false;
    weft__inequalities_clear(all);
    for (int k = 0; k < VARIABLES; k++) {
        weft__inequality low = {{0}}, high = {{0}};
        low.c[k] = 1;
        high.c[k] = -1;
        high.c[LAST] = SIZE - 1;
        weft__inequality_add(all, &low);
        weft__inequality_add(all, &high);
    }
    for (int i = 0; i < count; i++) {
        rows[i] = (weft__inequality){{0}};
        for (int k = 0; k < VARIABLES; k++)
            rows[i].c[k] = random_below(9) - 4;
        rows[i].c[LAST] = random_below(25) - 12;
        (i ? weft__inequality_add : weft__inequality_equal)(all, &rows[i]);
    }
    for (int point = 0; point < SIZE * SIZE * SIZE && !solved; point++) {
        solved = value_of(&rows[0], point) == 0;
        for (int i = 1; i < count; i++)
            solved &= value_of(&rows[i], point) >= 0;
    }
    const bool may_be =
        !weft__inequality_is_impossible(&rows[0]) && weft__inequalities_have_solution(all);
    *without += !may_be;
    return may_be || !solved;
}

TEST(F3_random_inequalities)
{
    weft__inequalities all;
    int wrong = 0, without = 0;
    CHECK(weft__inequalities_open(&all));
    for (int k = 0; k < 5000; k++)
        wrong += !try_rows(&all, 1 + k % 4, &without);
    weft__inequalities_close(&all);
    CHECK_INT(wrong, 0);
    CHECK(without > 1000);
}

TEST_MAIN(TEST_OF(F3_what_no_integers_solve), TEST_OF(F3_random_inequalities));
