/* The floating-point mode of the caller: changes no result, and is the same after a kernel. */
#include "codegen/interpreter/mode.h"
#include "codegen/kernels.h"

#include <fenv.h>

enum { COUNT = 300 };

static float in[COUNT];

/* In the mode that tests begin with. */
static void fill(void)
{
    for (int k = 0; k < COUNT; k++)
        in[k] = (float)(k + 1) * 0x1.123456p-127F * (k % 2 ? -1.0F : 1.0F);
}

/* Sums, products with subnormals, roots, roundings and conversions, all in one kernel. */
static weft_status run(uint32_t *out)
{
    struct tiny tiny;
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_F32);
    const int third = tiny_constant(&tiny, WEFT_F32, 0x3eaaaaabU);
    const int scaled = tiny_value(&tiny, WEFT__OP_mul, WEFT_F32, x, third, 0);
    const int fused = tiny_value(&tiny, WEFT__OP_fma, WEFT_F32, scaled, third, x);
    const int quotient = tiny_value(&tiny, WEFT__OP_div, WEFT_F32, third, fused, 0);
    const int rounded = tiny_value(&tiny, WEFT__OP_round, WEFT_F32, quotient, 0, 0);
    const int wide = tiny_value(&tiny, WEFT__OP_cast, WEFT_F64, quotient, 0, 0);
    const int divided = tiny_value(&tiny, WEFT__OP_div, WEFT_F64, wide,
                                   tiny_constant(&tiny, WEFT_F64, 0x4008000000000000U), 0);
    tiny_store(&tiny, WEFT_F32, scaled);
    tiny_store(&tiny, WEFT_F32, fused);
    tiny_store(&tiny, WEFT_F32, rounded);
    tiny_store(&tiny, WEFT_F32, tiny_value(&tiny, WEFT__OP_cast, WEFT_F32, divided, 0, 0));
    void *data[] = {in, out, out + COUNT, out + 2 * COUNT, out + 3 * COUNT};
    return tiny_run_flat(&tiny, COUNT, data, NULL);
}

static uint32_t expected[4 * COUNT], actual[4 * COUNT];

TEST(rounding_direction)
{
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fill();
    FOR_EACH_ISA
    {
        CHECK_STATUS(run(expected), WEFT_OK);
        for (int k = 0; k < 3; k++) {
            CHECK(fesetround(directions[k]) == 0);
            const weft_status status = run(actual);
            const int after = fegetround();
            (void)fesetround(FE_TONEAREST);
            CHECK_STATUS(status, WEFT_OK);
            CHECK_INT(after, directions[k]);
            CHECK_BITS(actual, expected, sizeof expected);
        }
    }
}

#if defined __x86_64__
/* Flush to zero, denormals are zero, both, and exceptions that would end the program. */
static const weft__mode modes[] = {0x9f80U, 0x1fc0U, 0x9fc0U, 0x0000U};
#elif defined __aarch64__
static const weft__mode modes[] = {(weft__mode)1 << 24, (weft__mode)1 << 22};
#else
static const weft__mode modes[] = {FE_UPWARD};
#endif

TEST(flushing_and_traps)
{
    fill();
    FOR_EACH_ISA
    {
        CHECK_STATUS(run(expected), WEFT_OK);
        CHECK((expected[0] & 0x7f800000U) == 0 && (expected[0] & 0x7fffffU) != 0);
        const weft__mode before = weft__mode_read();
        for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
            weft__mode_write(modes[k]);
            const weft_status status = run(actual);
            const weft__mode after = weft__mode_read();
            weft__mode_write(before);
            CHECK_STATUS(status, WEFT_OK);
            CHECK_INT(after & weft__mode_bits, modes[k] & weft__mode_bits);
            CHECK_BITS(actual, expected, sizeof expected);
        }
    }
}

TEST_MAIN(TEST_OF(rounding_direction), TEST_OF(flushing_and_traps));
