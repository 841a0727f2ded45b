/* k-means: which of a few centres each of many points belongs to, by broadcasting and reductions.
 */
#include "example.h"
#include <math.h>

enum { POINTS = 60000, CENTRES = 3 };

/* Points around three places; which of them depends on the number of the point. */
static weft_array *make_points(void)
{
    WEFT_AUTO weft_array *noise = weft_random_normal(0, 0.1, WEFT_SHAPE(POINTS, 2));
    return weft_new(
        g = index(0) % 3;
        noise + where(index(1) == 0, where(g == 1, 5.0f, 0.0f), where(g == 2, 3.0f, 0.0f)), noise);
}

int main(void)
{
    weft_random_seed(2);
    WEFT_AUTO weft_array *points = make_points();
    WEFT_AUTO weft_array *first = weft_slice(points, WEFT_RANGE(0, CENTRES)); /* one of each */
    WEFT_AUTO weft_array *centres = weft_copy(first);
    WEFT_AUTO weft_array *wide = weft_reshape(points, WEFT_SHAPE(POINTS, 1, 2));
    WEFT_AUTO weft_array *numbers = weft_arange(0, CENTRES, 1, .dtype = WEFT_I64);
    expect(wide && centres && numbers, "the arrays are there");

    for (int k = 0; k < 10; k++) {
        WEFT_AUTO weft_array *distance =
            weft_new(sum(square(wide - centres), axis = 2), wide, centres);
        WEFT_AUTO weft_array *nearest = weft_new(argmin(distance, axis = 1), distance);
        WEFT_AUTO weft_array *column = weft_reshape(nearest, WEFT_SHAPE(POINTS, 1));
        WEFT_AUTO weft_array *belongs = weft_new(f32(column == numbers), column, numbers);
        WEFT_AUTO weft_array *weights = weft_reshape(belongs, WEFT_SHAPE(POINTS, CENTRES, 1));
        WEFT_AUTO weft_array *sums = weft_new(sum(weights * wide, axis = 0), weights, wide);
        WEFT_AUTO weft_array *counts = weft_new(sum(weights, axis = 0), weights);
        check(weft(centres = sums / counts, centres, sums, counts), "the centres");
    }

    float found[CENTRES][2];
    const double expected[CENTRES][2] = {{0, 0}, {5, 0}, {0, 3}};
    check(weft_copy_to_host(centres, found, sizeof found), "reading");
    for (int k = 0; k < CENTRES; k++) {
        printf("centre %d at (%.3f, %.3f)\n", k, (double)found[k][0], (double)found[k][1]);
        expect(fabs((double)found[k][0] - expected[k][0]) < 0.01 &&
                   fabs((double)found[k][1] - expected[k][1]) < 0.01,
               "the centres are those that the points were made around");
    }
    return 0;
}
