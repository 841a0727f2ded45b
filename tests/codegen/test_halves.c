/* f16 and bf16: every pattern loaded, and rounding at every tie, against arithmetic in f64.
 * semantics: Types / f16, bf16 */
#include "codegen/corners.h"

/* How a small format is made: bits of precision, the smallest normal exponent, the first power of
 * two that is too large. */
static const struct format {
    weft_dtype dtype;
    weft__op round;
    int precision, smallest, largest;
    uint16_t nan, infinity;
} formats[] = {
    {WEFT_F16, WEFT__OP_round_f16, 11, -14, 16, 0x7e00U, 0x7c00U},
    {WEFT_BF16, WEFT__OP_round_bf16, 8, -126, 128, 0x7fc0U, 0x7f80U},
};

/* The exact value of a pattern. */
static double widened(const struct format *format, uint16_t half)
{
    const int fraction = format->precision - 1;
    const int exponent = (half & 0x7fff) >> fraction, rest = half & ((1 << fraction) - 1);
    const double sign = half & 0x8000U ? -1.0 : 1.0;
    if ((half & 0x7fffU) > format->infinity)
        return (double)NAN;
    if ((half & 0x7fffU) == format->infinity)
        return sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(rest, format->smallest - fraction);
    return sign * ldexp(rest + (1 << fraction), exponent - 1 + format->smallest - fraction);
}

/* The pattern nearest to a value, ties to even. */
static uint16_t narrowed(const struct format *format, double value)
{
    const int fraction = format->precision - 1;
    const uint16_t sign = signbit(value) ? 0x8000U : 0;
    int exponent;
    if (isnan(value))
        return format->nan;
    if (isinf(value))
        return sign | format->infinity;
    if (fpclassify(value) == FP_ZERO)
        return sign;
    (void)frexp(value, &exponent);
    const int unit = (exponent - 1 > format->smallest ? exponent - 1 : format->smallest) - fraction;
    const double steps = nearbyint(ldexp(fabs(value), -unit)); /* of the last bit */
    if (ldexp(steps, unit) >= ldexp(1.0, format->largest))
        return sign | format->infinity;
    /* a carry into the next exponent is the next pattern, so one sum serves for all */
    const int lead = unit + fraction - format->smallest;
    return (uint16_t)(sign | (uint16_t)((lead << fraction) + (int)steps));
}

TEST(every_pattern_is_widened)
{
    static uint16_t in[65536];
    static uint32_t out[65536];
    for (int k = 0; k < 65536; k++)
        in[k] = (uint16_t)k;
    FOR_EACH_ISA
    for (int f = 0; f < 2; f++) {
        struct tiny tiny;
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_F32, tiny_load(&tiny, formats[f].dtype));
        CHECK_STATUS(tiny_run_flat(&tiny, 65536, (void *[]){in, out}, NULL), WEFT_OK);
        for (int k = 0; k < 65536; k++)
            CHECK_INT(out[k], float_bits(WEFT_F32, widened(&formats[f], (uint16_t)k)));
    }
}

enum { BATCH = 65536 };
static uint32_t batch[BATCH], rounded[BATCH];
static uint16_t halves[BATCH];

/* Stores a batch as halves and rounds it as values: both are the nearest. */
static bool check_batch(const struct format *format, int count)
{
    struct tiny tiny;
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_F32);
    tiny_store(&tiny, format->dtype, x);
    tiny_store(&tiny, WEFT_F32, tiny_value(&tiny, format->round, WEFT_F32, x, 0, 0));
    void *data[] = {batch, halves, rounded};
    CHECK_OR(tiny_run_flat(&tiny, count, data, NULL) == WEFT_OK, false);
    for (int k = 0; k < count; k++) {
        const uint16_t expected = narrowed(format, f64_of(WEFT_F32, batch[k]));
        CHECK_OR(halves[k] == expected, false);
        CHECK_OR(rounded[k] == float_bits(WEFT_F32, widened(format, expected)), false);
    }
    return true;
}

/* 2^24 patterns of f32, evenly spread; fewer for each instruction set but the best. */
TEST(rounding_is_even_over_all_numbers)
{
    FOR_EACH_ISA
    for (int f = 0; f < 2; f++) {
        const uint64_t step = isa == 2 ? 256 : 256 * 16;
        for (uint64_t start = 0; start < (uint64_t)1 << 32; start += step * BATCH) {
            for (int k = 0; k < BATCH; k++)
                batch[k] = (uint32_t)(start + step * (uint64_t)k + random_bits() % step);
            CHECK(check_batch(&formats[f], BATCH));
        }
    }
}

/* Each pattern, the tie above it, and the f32 next to both. */
TEST(rounding_at_every_tie)
{
    FOR_EACH_ISA
    for (int f = 0; f < 2; f++) {
        for (uint32_t half = 0; half < 65536;) {
            int count = 0;
            for (; half < 65536 && count + 6 <= BATCH; half++) {
                const double here = widened(&formats[f], (uint16_t)half);
                const double next = widened(&formats[f], (uint16_t)(half + 1));
                const uint32_t exact = (uint32_t)float_bits(WEFT_F32, here);
                const uint32_t tie = (uint32_t)float_bits(WEFT_F32, (here + next) / 2);
                for (uint32_t j = 0; j < 3; j++) {
                    batch[count++] = exact + j - 1;
                    batch[count++] = tie + j - 1;
                }
            }
            CHECK(check_batch(&formats[f], count));
        }
    }
}

TEST(limits)
{
    static const struct {
        float value;
        uint16_t f16, bf16;
    } rows[] = {
        {65504.0F, 0x7bffU, 0x4780U},        {0x1.ffdffep15F, 0x7bffU, 0x4780U},
        {65520.0F, 0x7c00U, 0x4780U},        {0x1p-24F, 0x0001U, 0x3380U},
        {0x1p-25F, 0x0000U, 0x3300U},        {0x1.000002p-25F, 0x0001U, 0x3300U},
        {-0x1p-26F, 0x8000U, 0xb280U},       {0x1p-133F, 0x0000U, 0x0001U},
        {0x1p-134F, 0x0000U, 0x0000U},       {0x1.fep127F, 0x7c00U, 0x7f7fU},
        {0x1.fefffep127F, 0x7c00U, 0x7f7fU}, {0x1.ffp127F, 0x7c00U, 0x7f80U},
        {-0.0F, 0x8000U, 0x8000U},
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    float in[COUNT];
    uint16_t out[2][COUNT];
    for (int k = 0; k < COUNT; k++)
        in[k] = rows[k].value;
    FOR_EACH_ISA
    {
        struct tiny tiny;
        tiny_begin(&tiny);
        const int x = tiny_load(&tiny, WEFT_F32);
        tiny_store(&tiny, WEFT_F16, x);
        tiny_store(&tiny, WEFT_BF16, x);
        CHECK_STATUS(tiny_run_flat(&tiny, COUNT, (void *[]){in, out[0], out[1]}, NULL), WEFT_OK);
        for (int k = 0; k < COUNT; k++) {
            CHECK_INT(out[0][k], rows[k].f16);
            CHECK_INT(out[1][k], rows[k].bf16);
        }
    }
}

TEST_MAIN(TEST_OF(every_pattern_is_widened),
          TEST_NO_FAULTS(rounding_is_even_over_all_numbers, "rounds 2^24 numbers"),
          TEST_NO_FAULTS(rounding_at_every_tie, "rounds all ties"), TEST_OF(limits));
