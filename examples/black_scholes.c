/* Black–Scholes: the prices of a million options in one kernel, two results at once. */
#include "example.h"
#include <math.h>

int main(void)
{
    const weft_shape shape = WEFT_SHAPE(1000000);
    const float rate = 0.02f, volatility = 0.3f;
    weft_random_seed(1);
    WEFT_AUTO weft_array *price = weft_random_uniform(10, 50, shape);
    WEFT_AUTO weft_array *strike = weft_random_uniform(10, 50, shape);
    WEFT_AUTO weft_array *years = weft_random_uniform(0.25, 2, shape);
    WEFT_AUTO weft_array *call = weft_empty(shape), *put = weft_empty(shape);

    check(weft(root = volatility * sqrt(years);
               d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * years) / root;
               d2 = d1 - root; n1 = 0.5f * (1 + erf(d1 * 0.70710678f));
               n2 = 0.5f * (1 + erf(d2 * 0.70710678f)); paid = strike * exp(-rate * years);
               call = price * n1 - paid * n2; put = paid * (1 - n2) - price * (1 - n1), price,
                                              strike, years, call, put, rate, volatility),
          "the prices");

    float mean = 0, parity = 1;
    check(weft_value(&mean, mean(call), call), "the mean");
    /* A call and a put together are the price less what the strike is worth today. */
    check(weft_value(&parity, max(abs(call - put - (price - strike * exp(-rate * years)))), call,
                     put, price, strike, years, rate),
          "parity");
    printf("mean price of a call %.4f; parity holds to %.1e\n", (double)mean, (double)parity);
    expect(parity < 1e-4f, "parity");

    float s, k, t, c;
    check(weft_item(price, &s), "price");
    check(weft_item(strike, &k), "strike");
    check(weft_item(years, &t), "years");
    check(weft_item(call, &c), "call");
    const double root = 0.3 * sqrt((double)t);
    const double d1 = (log((double)s / (double)k) + (0.02 + 0.045) * (double)t) / root;
    const double exact = (double)s * 0.5 * erfc(-d1 * sqrt(0.5)) -
                         (double)k * exp(-0.02 * (double)t) * 0.5 * erfc(-(d1 - root) * sqrt(0.5));
    expect(fabs((double)c - exact) < 1e-4, "the first price, computed in plain C");
    return 0;
}
