/* Copies of rows that lie apart, between the host and a device: what lies between them stays. */
#include "core/stream.h"
#include "kernel/move.h"
#include "support/arrays.h"
#include "support/check.h"
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

/* A base of bytes, and the part of it that is copied. */
typedef struct part {
    int ndim;
    int64_t size[4], begin[4], count[4];
} part;

static int64_t bytes_of(const part *p)
{
    int64_t bytes = 1;
    for (int k = 0; k < p->ndim; k++)
        bytes *= p->size[k];
    return bytes;
}

/* Where the k-th byte of the part is in the base. */
static int64_t at(const part *p, int64_t k)
{
    int64_t place = 0, step = 1;
    for (int axis = p->ndim - 1; axis >= 0; axis--) {
        place += (p->begin[axis] + k % p->count[axis]) * step;
        k /= p->count[axis];
        step *= p->size[axis];
    }
    return place;
}

typedef enum where { THERE, PINNED, LENT } where;

/* `values` are its memory, or copied. */
static weft_array *new_base(const part *p, uint8_t *values, where is)
{
    weft_shape shape = {p->ndim, {0}};
    const size_t bytes = (size_t)bytes_of(p);
    memcpy(shape.size, p->size, (size_t)p->ndim * sizeof *p->size);
    if (is == LENT)
        return weft_borrow(values, bytes, shape, WEFT_U8);
    weft_array *base = weft_empty(shape, .dtype = WEFT_U8, .device = device(),
                                  .memory = is == PINNED ? WEFT_MEMORY_HOST : WEFT_MEMORY_DEFAULT);
    if (base && weft_copy_from_host(base, values, bytes) == WEFT_OK)
        return base;
    weft_array_release(base);
    return NULL;
}

static weft_array *part_of(weft_array *base, const part *p)
{
    weft_range ranges[4];
    for (int k = 0; k < p->ndim; k++)
        ranges[k] = WEFT_RANGE(p->begin[k], p->begin[k] + p->count[k]);
    return weft_slice_with(base, p->ndim, ranges);
}

typedef struct end {
    const part *part;
    where is;
} end;

static uint8_t *new_values(const part *p, int step)
{
    uint8_t *values = malloc((size_t)bytes_of(p));
    for (int64_t i = 0; values && i < bytes_of(p); i++)
        values[i] = (uint8_t)(i * step + i / 251);
    return values;
}

static int64_t count_of(const part *p)
{
    int64_t count = 1;
    for (int k = 0; k < p->ndim; k++)
        count *= p->count[k];
    return count;
}

/* What the target's base has then, with the part of the source in it. */
static bool is_right(weft_array *target, end to, end from, const uint8_t *values)
{
    uint8_t *expected = new_values(to.part, 7), *read = new_values(to.part, 0);
    const size_t bytes = (size_t)bytes_of(to.part);
    for (int64_t k = 0; expected && k < count_of(to.part); k++)
        expected[at(to.part, k)] = values[at(from.part, k)];
    const bool right = expected && read && weft_copy_to_host(target, read, bytes) == WEFT_OK &&
                       memcmp(read, expected, bytes) == 0;
    free(expected);
    free(read);
    return right;
}

static bool copies_between(weft_array *target, weft_array *source, end to, end from, bool rows)
{
    WEFT_AUTO weft_array *written = target ? part_of(target, to.part) : NULL;
    WEFT_AUTO weft_array *taken = source ? part_of(source, from.part) : NULL;
    const uint64_t before = launches();
    CHECK_OR(written && taken, false);
    CHECK_OR(weft__move(written, taken, weft__stream_current(device())) == WEFT_OK, false);
    if (weft_array_host_readable(target) != weft_array_host_readable(source))
        CHECK_OR(!rows || launches() == before, false);
    return true;
}

static bool copies(end to, end from, bool rows)
{
    uint8_t *into = new_values(to.part, 7), *values = new_values(from.part, 13);
    bool right = false;
    if (into && values) {
        WEFT_AUTO weft_array *target = new_base(to.part, into, to.is);
        WEFT_AUTO weft_array *source = new_base(from.part, values, from.is);
        right =
            copies_between(target, source, to, from, rows) && is_right(target, to, from, values);
    }
    free(into);
    free(values);
    return right;
}

static void check_both_ways(const part *there, const part *here, bool rows)
{
    const end inside = {there, THERE}, lent = {here, LENT}, pinned = {here, PINNED};
    CHECK(copies(inside, lent, rows));
    CHECK(copies(lent, inside, rows));
    CHECK(copies(inside, pinned, rows));
    CHECK(copies(pinned, inside, rows));
}

TEST(M6_rows_of_two_and_three_dimensions)
{
    const part wide = {2, {9, 1000}, {2, 33}, {5, 700}}, other = {2, {5, 701}, {0, 1}, {5, 700}};
    const part cube = {3, {5, 7, 400}, {1, 2, 10}, {3, 4, 290}};
    const part box = {3, {6, 9, 300}, {0, 1, 5}, {3, 4, 290}};
    check_both_ways(&wide, &other, true);
    check_both_ways(&other, &wide, true);
    check_both_ways(&cube, &box, true);
    check_both_ways(&box, &cube, true);
}

/* Of one row, of whole slices, and with nothing between rows at one end. */
TEST(M6_rows_that_follow_each_other)
{
    const part one = {2, {9, 1000}, {3, 10}, {1, 300}}, all = {2, {4, 300}, {2, 0}, {1, 300}};
    const part slices = {3, {6, 10, 90}, {1, 0, 0}, {3, 10, 90}};
    const part apart = {3, {3, 12, 90}, {0, 1, 0}, {3, 10, 90}};
    check_both_ways(&one, &all, true);
    check_both_ways(&slices, &apart, true);
    check_both_ways(&apart, &slices, true);
}

/* Narrow rows, and more axes than a driver takes. */
TEST(M6_what_is_no_copy_of_rows)
{
    const part narrow = {2, {200, 40}, {3, 7}, {150, 20}}, thin = {2, {150, 21}, {0, 1}, {150, 20}};
    const part four = {4, {3, 4, 5, 300}, {1, 1, 2, 3}, {2, 2, 2, 280}};
    const part more = {4, {2, 3, 4, 290}, {0, 1, 1, 10}, {2, 2, 2, 280}};
    check_both_ways(&narrow, &thin, false);
    check_both_ways(&four, &more, false);
}

/* Rows that end in the middle of the pieces that memory is staged in, and rows that are longer. */
TEST(M6_many_bytes)
{
    const part many = {2, {3100, 4200}, {50, 60}, {3000, 4099}};
    const part tight = {2, {3000, 4100}, {0, 1}, {3000, 4099}};
    const part longer = {2, {3, 5000100}, {1, 77}, {2, 5000003}};
    const part exact = {2, {2, 5000010}, {0, 7}, {2, 5000003}};
    check_both_ways(&many, &tight, true);
    check_both_ways(&tight, &many, true);
    check_both_ways(&longer, &exact, true);
}

#define LONG "copies much"
TEST_MAIN(TEST_OF(M6_rows_of_two_and_three_dimensions), TEST_OF(M6_rows_that_follow_each_other),
          TEST_OF(M6_what_is_no_copy_of_rows), TEST_NO_FAULTS(M6_many_bytes, LONG));
