/* What a call costs by the number of elements, and by the length of the expression: series [serve]
 * [--device NAME]. Apart from expressions.c, since the largest arrays leave room for no others. */
#include "series.h"
#include "device.h"

static const char *const names[] = {"x", "y", "z"};
static weft_array *arrays[3]; /* of the row that is measured */

typedef struct point {
    int64_t count;
    char *code; /* NULL: the expression of the sizes */
} point;

static void drop(void)
{
    for (int k = 0; k < 3; k++) {
        weft_array_release(arrays[k]);
        arrays[k] = NULL;
    }
}

/* Arrays stay until a row of another size comes, but the largest leave room for other programs. */
static void hold(void *argument, bool begin)
{
    const int64_t count = ((const point *)argument)->count;
    if (!begin) {
        if (count > SERIES_KEPT) {
            drop();
            check(weft_memory_trim(where, 0) == WEFT_OK);
        }
        return;
    }
    if (arrays[0] && weft_array_count(arrays[0]) == count)
        return;
    drop();
    for (int k = 0; k < 3; k++) {
        arrays[k] = weft_full(WEFT_SHAPE(count), 0.5 + 0.25 * k, .device = where);
        check(arrays[k] && weft_eval(arrays[k]) == WEFT_OK);
    }
}

static void by_size(void *argument)
{
    weft_array *x = arrays[0], *y = arrays[1], *z = arrays[2];
    (void)argument;
    check(weft(z += 1.0f / x + 2.0f * x * y, x, y, z) == WEFT_OK);
}

static void by_length(void *argument)
{
    const point *p = argument;
    const weft_operand operands[] = {WEFT_OPERAND(arrays[0]), WEFT_OPERAND(arrays[1]),
                                     WEFT_OPERAND(arrays[2])};
    check(weft_evaluate(p->code, 3, names, operands) == WEFT_OK);
}

/* "z = x+y+x+y" */
static char *sum_of(int terms)
{
    char *code = malloc((size_t)terms * 2 + 8);
    check(code != NULL);
    size_t length = (size_t)sprintf(code, "z = x");
    for (int k = 1; k < terms; k++)
        length += (size_t)sprintf(code + length, k % 2 ? "+y" : "+x");
    return code;
}

static bench_row row_of(point *p, const char *work, int bytes, bench_body *body)
{
    return (bench_row){.work = work,
                       .who = "weft",
                       .elements = (double)p->count,
                       .bytes = (double)(bytes * p->count),
                       .repeat = series_calls(p->count, bench_wait ? 500 : 100000),
                       .body = body,
                       .argument = p,
                       .hold = hold};
}

int main(int count, char **arguments)
{
    static point sizes[SERIES_SIZES], lengths[SERIES_LENGTHS];
    static char works[SERIES_SIZES + SERIES_LENGTHS][64];
    bench_row rows[SERIES_SIZES + SERIES_LENGTHS];
    int used = 0;
    choose_device(count, arguments);
    for (int k = 0; k < SERIES_SIZES; k++, used++) {
        sizes[k] = (point){(int64_t)1 << 2 * k, NULL};
        rows[used] = row_of(&sizes[k], series_size_name(works[used], k), 16, by_size);
    }
    for (int k = 0; k < SERIES_LENGTHS; k++, used++) {
        lengths[k] = (point){SERIES_COUNT, sum_of(2 << 2 * k)};
        rows[used] = row_of(&lengths[k], series_length_name(works[used], k), 12, by_length);
    }
    const int status = run_rows(count, arguments, rows, used);
    for (int k = 0; k < SERIES_LENGTHS; k++)
        free(lengths[k].code);
    drop();
    return status;
}
