/* A kernel of your own: Conway's game of life, written for one cell, run on whatever device. */
#include "example.h"
#include <string.h>

enum { SIZE = 64, STEPS = 40 };

WEFT_KERNEL(live, (in, out), {
    around = in(i - 1, j - 1) + in(i - 1, j) + in(i - 1, j + 1) + in(i, j - 1) + in(i, j + 1) +
             in(i + 1, j - 1) + in(i + 1, j) + in(i + 1, j + 1);
    out(i, j) = where(around == 3 || (around == 2 && in(i, j) == 1), i32(1), i32(0));
});

/* One step in plain C, on the inner cells; the border is empty. */
static void live_in_c(int32_t from[SIZE][SIZE], int32_t to[SIZE][SIZE])
{
    for (int i = 1; i < SIZE - 1; i++)
        for (int j = 1; j < SIZE - 1; j++) {
            int around = -from[i][j];
            for (int k = 0; k < 9; k++)
                around += from[i + k / 3 - 1][j + k % 3 - 1];
            to[i][j] = around == 3 || (around == 2 && from[i][j]);
        }
}

int main(void)
{
    static int32_t cells[2][SIZE][SIZE], found[SIZE][SIZE];
    static const int glider[5][2] = {{1, 2}, {2, 3}, {3, 1}, {3, 2}, {3, 3}};
    for (int k = 0; k < 5; k++)
        cells[0][glider[k][0] + 4][glider[k][1] + 4] = 1;
    WEFT_AUTO weft_array *a =
        weft_from_host(cells[0], sizeof cells[0], WEFT_SHAPE(SIZE, SIZE), .dtype = WEFT_I32);
    WEFT_AUTO weft_array *b = weft_zeros_like(a);
    for (int k = 0; k < STEPS; k++) {
        check(weft_launch(live, b, a, b), "a step");
        weft_array *old = a;
        a = b, b = old;
        live_in_c(cells[k % 2], cells[1 - k % 2]);
    }
    check(weft_copy_to_host(a, found, sizeof found), "reading");
    int alive = 0;
    for (int k = 0; k < SIZE * SIZE; k++)
        alive += found[k / SIZE][k % SIZE];
    printf("after %d steps %d cells live\n", STEPS, alive);
    expect(memcmp(found, cells[STEPS % 2], sizeof found) == 0, "the cells are those of plain C");
    return 0;
}
