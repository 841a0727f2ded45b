/* Heat spreads in a rod: one expression a step, beside the exact solution. */
#include "example.h"
#include <math.h>

int main(void)
{
    enum { CELLS = 1000, STEPS = 20000 };
    const double pi = 3.14159265358979323846, length = 1, dx = length / CELLS;
    const double alpha = 0.4 * dx * dx; /* how much of the difference flows in a step */
    WEFT_AUTO weft_array *x = weft_linspace(0, length, CELLS + 1, .dtype = WEFT_F64);
    WEFT_AUTO weft_array *u = weft_new(sin(pi * x), x, pi), *next = weft_zeros_like(u);

    /* The ends stay at 0; at them shift gives the cell itself, and where picks the 0. */
    for (int k = 0; k < STEPS; k++) {
        check(weft(next = where(x > 0 && x < length,
                                u + alpha / (dx * dx) * (shift(u, 1) - 2 * u + shift(u, -1)), 0.0),
                   next, u, x, alpha, dx, length),
              "a step");
        weft_array *old = u;
        u = next, next = old;
    }

    const double exact = exp(-pi * pi * alpha * STEPS);
    double middle = 0, error = 1;
    check(weft_value(&middle, max(u), u), "the middle");
    check(weft_value(&error, max(abs(u - exact * sin(pi * x))), u, x, exact, pi), "the error");
    printf("the middle is at %.6f, exactly %.6f; largest error %.1e\n", middle, exact, error);
    expect(error < 1e-6, "the solution is near the exact one");
    return 0;
}
