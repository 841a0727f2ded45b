/* The first rows of expressions.c with elements of other types: dtypes [serve] [--device NAME]. */
#include "device.h"

/* f16 values that fit all: 1 to 2. */
typedef struct typed {
    weft_dtype dtype;
    int64_t count;
    weft_array *x, *y, *z;
} typed;

enum { TYPES = 4, WORKS = 4 };

/* Made for the row, and gone after it. */
static void hold(void *argument, bool begin)
{
    typed *t = argument;
    weft_array **const all[] = {&t->x, &t->y, &t->z};
    for (int k = 0; k < 3; k++)
        if (begin)
            check((*all[k] = weft_full(WEFT_SHAPE(t->count), 1 + (k == 1), .dtype = t->dtype)) !=
                  NULL);
        else
            weft_array_release(*all[k]);
}

static void accumulate(void *argument)
{
    weft_array *y = ((typed *)argument)->y, *z = ((typed *)argument)->z;
    check(weft(z += y, y, z) == WEFT_OK);
}

static void fuse(void *argument)
{
    weft_array *x = ((typed *)argument)->x, *y = ((typed *)argument)->y,
               *z = ((typed *)argument)->z;
    check(weft(z += 1 / x + 2 * x * y, x, y, z) == WEFT_OK);
}

/* Complex numbers have no order, their real parts have. */
static void choose(void *argument)
{
    const typed *t = argument;
    weft_array *x = t->x, *y = t->y, *z = t->z;
    check((t->dtype == WEFT_C64 ? weft(z = where(real(x) >= real(y), x - y, y - x), x, y, z)
                                : weft(z = where(x >= y, x - y, y - x), x, y, z)) == WEFT_OK);
}

static void add_up(void *argument)
{
    weft_array *x = ((typed *)argument)->x, *sum = weft_new(sum(x), x);
    check(sum != NULL);
    weft_array_release(sum);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int operands; /* that are moved */
        bench_body *body;
    } works[WORKS] = {{"a += b", 3, accumulate},
                      {"c += 1/a + 2ab", 4, fuse},
                      {"where(a >= b, a - b, b - a)", 3, choose},
                      {"sum(a)", 1, add_up}};
    static typed types[TYPES] = {
        {.dtype = WEFT_F16}, {.dtype = WEFT_F64}, {.dtype = WEFT_I8}, {.dtype = WEFT_C64}};
    static bench_row rows[TYPES * WORKS];
    static char names[TYPES * WORKS][60];
    choose_device(count, arguments);
    for (int k = 0; k < TYPES * WORKS; k++) {
        typed *t = &types[k / WORKS];
        const int64_t bytes = (int64_t)weft_dtype_size(t->dtype);
        t->count = (where.kind == WEFT_DEVICE_CUDA ? INT64_C(1) << 30 : INT64_C(1) << 28) / bytes;
        snprintf(names[k], sizeof names[k], "%s, %s", works[k % WORKS].name,
                 weft_dtype_name(t->dtype));
        rows[k] = (bench_row){.work = names[k],
                              .who = "weft",
                              .elements = (double)t->count,
                              .bytes = (double)(works[k % WORKS].operands * bytes * t->count),
                              .repeat = where.kind == WEFT_DEVICE_CPU ? 1 : 20,
                              .body = works[k % WORKS].body,
                              .argument = t,
                              .hold = hold};
    }
    return run_rows(count, arguments, rows, TYPES * WORKS);
}
