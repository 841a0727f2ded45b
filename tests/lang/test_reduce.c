/* Reductions as functions: options, outputs and errors. tests/lang/test_fold.c has the numbers. */
#include "support/arrays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static weft_array *numbers(void)
{
    const float values[] = {1, 2, 3, 4, -5, 6};
    return weft_from_host(values, sizeof values, WEFT_SHAPE(2, 3), .device = device());
}

TEST(X4_functions_of_all_elements)
{
    WEFT_AUTO weft_array *a = numbers();
    CHECK(a);
    WEFT_AUTO weft_array *sum = weft_sum(a), *product = weft_prod(a), *low = weft_min(a);
    WEFT_AUTO weft_array *high = weft_max(a), *mean = weft_mean(a), *any = weft_any(a);
    WEFT_AUTO weft_array *all = weft_all(a), *first = weft_argmin(a), *last = weft_argmax(a);
    CHECK(holds(sum, (float[]){11}, 4));
    CHECK(holds(product, (float[]){-720}, 4));
    CHECK(holds(low, (float[]){-5}, 4));
    CHECK(holds(high, (float[]){6}, 4));
    CHECK(holds(mean, (float[]){11.0f / 6}, 4));
    CHECK(holds(any, (bool[]){true}, 1));
    CHECK(holds(all, (bool[]){true}, 1));
    CHECK(holds(first, (int64_t[]){4}, 8));
    CHECK(holds(last, (int64_t[]){5}, 8));
    CHECK_INT(weft_array_shape(sum).ndim, 0);
}

TEST(X4_axes_and_keep)
{
    WEFT_AUTO weft_array *a = numbers();
    CHECK(a);
    WEFT_AUTO weft_array *columns = weft_sum(a, .axes = WEFT_AXES(0));
    WEFT_AUTO weft_array *rows = weft_max(a, .axes = WEFT_AXES(-1), .keep = true);
    WEFT_AUTO weft_array *both = weft_sum(a, .axes = WEFT_AXES(1, 0), .keep = true);
    CHECK(holds(columns, (float[]){5, -3, 9}, 12));
    CHECK(holds(rows, (float[]){3, 6}, 8));
    CHECK(weft_shape_equal(weft_array_shape(rows), WEFT_SHAPE(2, 1)));
    CHECK(holds(both, (float[]){11}, 4));
    CHECK(weft_shape_equal(weft_array_shape(both), WEFT_SHAPE(1, 1)));
}

TEST(X4_variance_and_norms)
{
    WEFT_AUTO weft_array *a = numbers();
    CHECK(a);
    WEFT_AUTO weft_array *variance = weft_var(a, .axes = WEFT_AXES(0), .correction = 1);
    WEFT_AUTO weft_array *deviation = weft_std(a, .axes = WEFT_AXES(0));
    WEFT_AUTO weft_array *two = weft_norm(a, .axes = WEFT_AXES(1));
    WEFT_AUTO weft_array *one = weft_norm(a, .order = 1);
    WEFT_AUTO weft_array *largest = weft_norm(a, .order = WEFT_NORM_INF, .axes = WEFT_AXES(1));
    CHECK(holds(variance, (float[]){4.5f, 24.5f, 4.5f}, 12));
    CHECK(holds(deviation, (float[]){1.5f, 3.5f, 1.5f}, 12));
    CHECK(holds(two, (float[]){sqrtf(14), sqrtf(77)}, 8));
    CHECK(holds(one, (float[]){21}, 4));
    CHECK(holds(largest, (float[]){3, 6}, 8));
}

TEST(X4_into_an_array)
{
    WEFT_AUTO weft_array *a = numbers();
    WEFT_AUTO weft_array *row = weft_zeros(WEFT_SHAPE(3), .dtype = WEFT_F64, .device = device());
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    CHECK(a && row && handle);
    WEFT_AUTO weft_array *same = weft_sum(a, .axes = WEFT_AXES(0), .out = row);
    CHECK(same == row);
    CHECK(holds(row, (double[]){5, -3, 9}, 24));
    WEFT_AUTO weft_array *made = weft_sum(a, .axes = WEFT_AXES(1), .out = handle);
    CHECK(made == handle);
    CHECK(holds(handle, (float[]){6, 5}, 8));
    /* into a part of itself */
    WEFT_AUTO weft_array *column = weft_slice(a, WEFT_ALL, WEFT_AT(0));
    CHECK(column);
    WEFT_AUTO weft_array *inside = weft_sum(a, .axes = WEFT_AXES(1), .out = column);
    CHECK(inside);
    CHECK(holds(a, (float[]){6, 2, 3, 5, -5, 6}, 24));
}

TEST(X4_errors_of_functions)
{
    WEFT_AUTO weft_array *a = numbers();
    WEFT_AUTO weft_array *small = weft_zeros(WEFT_SHAPE(2), .device = device());
    WEFT_AUTO weft_array *empty = weft_zeros(WEFT_SHAPE(0), .device = device());
    CHECK(a && small && empty);
    CHECK(!weft_sum(a, .axes = WEFT_AXES(2)));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "axis 2");
    CHECK(!weft_sum_with(a, &(weft_reduce_options){.struct_size = sizeof(weft_reduce_options),
                                                   .axes.axis[0] = 1})); /* .axes = 1 */
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, ".axes = WEFT_AXES(1)");
    CHECK(!weft_sum(a, .axes = WEFT_AXES(0, 0)));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "twice");
    CHECK(!weft_argmax(a, .axes = WEFT_AXES(0, 1)));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "one axis");
    CHECK(!weft_sum(a, .axes = WEFT_AXES(0), .out = small));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(3,)");
    CHECK(!weft_min(empty));
    CHECK_ERROR(WEFT_ERROR_SHAPE, "no elements");
    CHECK(!weft_sum(a, .correction = 1));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, ".correction");
    CHECK(!weft_norm(a, .order = 3));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, ".order");
    weft_error_clear();
    CHECK(!weft_mean(NULL));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_mean");
    CHECK_STR(weft_error_last()->operation, "weft_mean");
}

/* Sums of column j of whole numbers: exact, in any order. Between its stages a fold on a CPU takes
 * at most 256 KiB, however many rows there are. */
static bool sums_in_little_memory(int64_t rows, int64_t columns)
{
    enum { BETWEEN = 256 << 10 };
    weft_statistics before, after;
    const size_t bytes = (size_t)(rows * columns) * sizeof(float);
    float *values = malloc(bytes), *sums = malloc((size_t)columns * sizeof *sums);
    for (int64_t k = 0; values && k < rows * columns; k++)
        values[k] = (float)(k / columns % 3 - k % columns % 5);
    WEFT_AUTO weft_array *a =
        weft_from_host(values, bytes, WEFT_SHAPE(rows, columns), .device = device());
    bool right = values && sums && a && weft_memory_reset_peak(device()) == WEFT_OK &&
                 weft_memory_stats(device(), &before) == WEFT_OK;
    WEFT_AUTO weft_array *sum = weft_sum(a, .axes = WEFT_AXES(0));
    right = right && sum && weft_copy_to_host(sum, sums, weft_array_bytes(sum)) == WEFT_OK &&
            weft_memory_stats(device(), &after) == WEFT_OK;
    for (int64_t j = 0; right && j < columns; j++) {
        const int64_t rest = rows % 3, thirds = rows / 3 * 3 + (rest == 2);
        right = sums[j] == (float)(thirds - rows * (j % 5));
    }
    if (right && device().kind == WEFT_DEVICE_CPU)
        right = after.bytes_peak <= before.bytes_peak + weft_array_bytes(sum) + BETWEEN;
    free(values);
    free(sums);
    return right;
}

TEST(M5_folds_take_little_memory)
{
    static const int64_t shapes[][2] = {{50000, 7},   {6000, 1000}, {4097, 300},
                                        {1500, 8192}, {300, 20000}, {1100, 16384}};
    for (size_t k = 0; k < (test_quick() ? 2 : sizeof shapes / sizeof *shapes); k++)
        CHECK(sums_in_little_memory(shapes[k][0], shapes[k][1]));
}

TEST_MAIN(TEST_NO_FAULTS(M5_folds_take_little_memory, "large arrays; the others cover it"),
          TEST_OF(X4_functions_of_all_elements), TEST_OF(X4_axes_and_keep),
          TEST_OF(X4_variance_and_norms), TEST_OF(X4_into_an_array),
          TEST_OF(X4_errors_of_functions));
