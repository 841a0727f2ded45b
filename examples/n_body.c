/* N-body: every body pulls every other, by broadcasting; nothing pulls the whole. */
#include "example.h"
#include <math.h>

enum { BODIES = 400, STEPS = 50 };

typedef struct bodies {
    weft_array *x, *y, *vx, *vy, *x_column, *y_column;
} bodies;

/* The pull of all on each, as one fused kernel with a sum over the other axis. */
static weft_status move(const bodies *b, float dt)
{
    weft_array *x = b->x, *y = b->y, *vx = b->vx, *vy = b->vy, *xi = b->x_column, *yi = b->y_column;
    WEFT_AUTO weft_array *ax =
        weft_new(dx = x - xi; dy = y - yi; r = rsqrt(dx * dx + dy * dy + 0.01f);
                 sum(dx * r * r * r, axis = 1), x, y, xi, yi);
    WEFT_AUTO weft_array *ay =
        weft_new(dx = x - xi; dy = y - yi; r = rsqrt(dx * dx + dy * dy + 0.01f);
                 sum(dy * r * r * r, axis = 1), x, y, xi, yi);
    weft_status status = weft(vx += dt * ax; vy += dt * ay, vx, vy, ax, ay, dt);
    return status == WEFT_OK ? weft(x += dt * vx; y += dt * vy, x, y, vx, vy, dt) : status;
}

int main(void)
{
    const weft_shape shape = WEFT_SHAPE(BODIES), column = WEFT_SHAPE(BODIES, 1);
    weft_random_seed(3);
    WEFT_AUTO weft_array *x = weft_random_uniform(-1, 1, shape),
                         *y = weft_random_uniform(-1, 1, shape);
    WEFT_AUTO weft_array *vx = weft_zeros(shape), *vy = weft_zeros(shape);
    WEFT_AUTO weft_array *xi = weft_reshape(x, column), *yi = weft_reshape(y, column); /* views */
    const bodies all = {x, y, vx, vy, xi, yi};
    float middle[2], later[2], speed = 0;
    check(weft_value(&middle[0], mean(x), x), "the middle");
    check(weft_value(&middle[1], mean(y), y), "the middle");
    for (int k = 0; k < STEPS; k++)
        check(move(&all, 1e-3f), "a step");
    check(weft_value(&later[0], mean(x), x), "the middle");
    check(weft_value(&later[1], mean(y), y), "the middle");
    check(weft_value(&speed, max(hypot(vx, vy)), vx, vy), "the speed");
    printf("the middle moved by (%.1e, %.1e), the fastest body has %.2f\n",
           (double)(later[0] - middle[0]), (double)(later[1] - middle[1]), (double)speed);
    expect(fabsf(later[0] - middle[0]) < 1e-5f && fabsf(later[1] - middle[1]) < 1e-5f,
           "the middle stays");
    expect(speed > 0.1f, "the bodies move");
    return 0;
}
