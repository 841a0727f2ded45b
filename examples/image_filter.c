/* A picture: drawn, blurred, its edges found, and saved; beside a plain loop in C. */
#include "example.h"
#include <math.h>

enum { SIZE = 256 };

/* A disc and stripes. */
static weft_array *draw(void)
{
    WEFT_AUTO weft_array *canvas = weft_zeros(WEFT_SHAPE(SIZE, SIZE));
    return weft_new(
        y = f32(index(0)) - 128; x = f32(index(1)) - 128;
        canvas + where(x * x + y * y < 6400.0f, 1.0f, 0.5f + 0.3f * sin(0.2f * (x + y))), canvas);
}

int main(void)
{
    WEFT_AUTO weft_array *image = draw();
    WEFT_AUTO weft_array *rows =
        weft_new(0.25f * shift(image, -1, 0, boundary = clamp) + 0.5f * image +
                     0.25f * shift(image, 1, 0, boundary = clamp),
                 image);
    WEFT_AUTO weft_array *blurred =
        weft_new(0.25f * shift(rows, 0, -1, boundary = clamp) + 0.5f * rows +
                     0.25f * shift(rows, 0, 1, boundary = clamp),
                 rows);
    WEFT_AUTO weft_array *edges =
        weft_new(hypot(forward_diff(blurred, 0), forward_diff(blurred, 1)), blurred);
    expect(edges != NULL, weft_error_message());
    check(weft_save_png("image.png", image, .colours = WEFT_COLOURS_GREY, .low = 0, .high = 1),
          "saving");
    check(weft_save_png("edges.png", edges, .colours = WEFT_COLOURS_VIRIDIS), "saving");

    static float in[SIZE][SIZE], out[SIZE][SIZE];
    check(weft_copy_to_host(image, in, sizeof in), "reading");
    check(weft_copy_to_host(blurred, out, sizeof out), "reading");
    static const double weight[] = {0.25, 0.5, 0.25};
    double largest = 0;
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < 9; k++) {
                const int row = i + k / 3 - 1, column = j + k % 3 - 1;
                const int inside_row = row < 0 ? 0 : row < SIZE ? row : SIZE - 1;
                const int inside_column = column < 0 ? 0 : column < SIZE ? column : SIZE - 1;
                sum += weight[k / 3] * weight[k % 3] * (double)in[inside_row][inside_column];
            }
            largest = fmax(largest, fabs(sum - (double)out[i][j]));
        }
    printf("image.png and edges.png; the blur differs from a plain loop by %.1e\n", largest);
    expect(largest < 1e-6, "the blur");
    return 0;
}
