/* Five programs, each one function of Weft: what bench/functions.c measures and
 * tests/function/test_programs.c tests. */
#ifndef WEFT_BENCH_PROGRAMS_H
#define WEFT_BENCH_PROGRAMS_H

#include <weft/weft.h>

/* Prices of European options, by the formula of Black and Scholes. */
WEFT_FUNCTION(black_scholes, (spot, strike, years, rate, volatility, call, put, n), {
    for (int i = 0; i < n; i++) {
        float root = volatility * sqrt(years(i));
        float d1 =
            (log(spot(i) / strike(i)) + (rate + 0.5f * volatility * volatility) * years(i)) / root;
        float d2 = d1 - root;
        float n1 = 0.5f + 0.5f * erf(0.70710678f * d1);
        float n2 = 0.5f + 0.5f * erf(0.70710678f * d2);
        float discounted = strike(i) * exp(-rate * years(i));
        call(i) = spot(i) * n1 - discounted * n2;
        put(i) = discounted * (1.0f - n2) - spot(i) * (1.0f - n1);
    }
});

/* How many steps of z*z + c each point of the plane takes to leave the circle. */
WEFT_FUNCTION(mandelbrot, (count, height, width, left, top, step, limit), {
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            double a = left + j * step;
            double b = top + i * step;
            double x = 0;
            double y = 0;
            int k = 0;
            while (k < limit && x * x + y * y <= 4.0) {
                double t = x * x - y * y + a;
                y = 2.0 * x * y + b;
                x = t;
                k++;
            }
            count(i, j) = k;
        }
});

/* Two substances that react and spread, two steps at a time. */
WEFT_FUNCTION(gray_scott, (u, v, p, q, n, steps, feed, kill), {
    for (int s = 0; s < steps; s += 2) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float uvv = u(i, j) * v(i, j) * v(i, j);
                float lu = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u(i, j);
                float lv = v(i - 1, j) + v(i + 1, j) + v(i, j - 1) + v(i, j + 1) - 4.0f * v(i, j);
                p(i, j) = u(i, j) + (0.16f * lu - uvv + feed * (1.0f - u(i, j)));
                q(i, j) = v(i, j) + (0.08f * lv + uvv - (feed + kill) * v(i, j));
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float pqq = p(i, j) * q(i, j) * q(i, j);
                float lp = p(i - 1, j) + p(i + 1, j) + p(i, j - 1) + p(i, j + 1) - 4.0f * p(i, j);
                float lq = q(i - 1, j) + q(i + 1, j) + q(i, j - 1) + q(i, j + 1) - 4.0f * q(i, j);
                u(i, j) = p(i, j) + (0.16f * lp - pqq + feed * (1.0f - p(i, j)));
                v(i, j) = q(i, j) + (0.08f * lq + pqq - (feed + kill) * q(i, j));
            }
    }
});

/* Lloyd's algorithm: every point goes to the nearest centre, every centre to the mean of its
 * points. x has a row for each coordinate. */
WEFT_FUNCTION(kmeans, (x, centre, label, n, clusters, dims, steps), {
    double members(clusters);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++) {
            float least = 3e38f;
            int nearest = 0;
            for (int k = 0; k < clusters; k++) {
                float distance = 0;
                for (int d = 0; d < dims; d++) {
                    float t = x(d, i) - centre(k, d);
                    distance += t * t;
                }
                if (distance < least) {
                    least = distance;
                    nearest = k;
                }
            }
            label(i) = nearest;
        }
        for (int k = 0; k < clusters; k++) {
            double count = 0;
            for (int i = 0; i < n; i++)
                if (label(i) == k)
                    count += 1;
            members(k) = count;
        }
        for (int k = 0; k < clusters; k++)
            for (int d = 0; d < dims; d++) {
                double total = 0;
                for (int i = 0; i < n; i++)
                    if (label(i) == k)
                        total += x(d, i);
                if (members(k) > 0)
                    centre(k, d) = f32(total / members(k));
            }
    }
});

/* Solves A x = b for the 7-point Laplacian; the faces of the cube stay 0. Returns the square of
 * what is left. A p is computed twice, which is less than to store it and read it again. */
WEFT_FUNCTION(conjugate_gradient, (x, b, r, p, n, steps), {
    double rr = 0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                r(i, j, k) = b(i, j, k);
                p(i, j, k) = b(i, j, k);
                x(i, j, k) = 0;
                rr += b(i, j, k) * b(i, j, k);
            }
    for (int s = 0; s < steps; s++) {
        double curvature = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    curvature += p(i, j, k) * (6.0 * p(i, j, k) - p(i - 1, j, k) - p(i + 1, j, k) -
                                               p(i, j - 1, k) - p(i, j + 1, k) - p(i, j, k - 1) -
                                               p(i, j, k + 1));
        double alpha = rr / curvature;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    r(i, j, k) -=
                        alpha * (6.0 * p(i, j, k) - p(i - 1, j, k) - p(i + 1, j, k) -
                                 p(i, j - 1, k) - p(i, j + 1, k) - p(i, j, k - 1) - p(i, j, k + 1));
        double next = sum(r * r);
        double beta = next / rr;
        rr = next;
        x += alpha * p;
        p = r + beta * p;
    }
    return rr;
});

#endif
