/* Expressions that have the same operations again and again: quick code, in which these are
 * functions, has the bits of the interpreter, in every layout. */
#include "kernel/quick.h"
#include <math.h>

static const int64_t shapes[][2] = {{1, 1}, {3, 5}, {7, 67}, {2, 300}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST = 600 };

static const char *const codes[] = {
    "sin(sin(sin(sin(sin(sin(a + b))))))",
    "sin($(2)*a) + sin($(3)*b) + cos(a) + cos(b) + exp(a) + exp(b) + exp(a*b)",
    "a/b/a/b/a/b/a/b",
    "exp(a)*sin(b) + exp(b)*sin(a)",
    "pow(a, b) + pow(b, a) + pow(a, a) + pow(b, b)",
    "tanh(tanh(tanh(a*b) + a) + b) - tanh(a - b)",
    "sqrt(sqrt(sqrt(sqrt(sqrt(a) + b) + a) + b) + a)",
    "where(a == b, log(log(a)), where(b == $(2), acos(acos(a)), acos(acos(b))))",
    "log(log(a*d) + log(b*d)) + log(d) + log(log(d))",
    "sum(sin(a)*sin(b) + sin(a + b)*sin(a - b))",
    "sum(log(a) + log(b) + log(a*b) + log(a + b), axis=0)",
    "sum(exp(exp(exp(a) + b) + a) + exp(b), axis=1)",
};
enum { CODES = sizeof codes / sizeof codes[0], TEXT = 400 };

/* Numbers of which some are far, tiny, infinite or none. */
static weft_array *numbers(const int64_t *size, uint64_t state, weft_dtype dtype)
{
    static const float rare[] = {0, -0.0F, 1e7F, -3e9F, 1e30F, 1e-30F, INFINITY, NAN};
    float values[MOST];
    const int64_t count = size[0] * size[1];
    for (int64_t k = 0; k < count; k++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        values[k] = state >> 60 == 3 ? rare[state >> 57 & 7] : (float)(state >> 40) * 0x1p-22F - 1;
    }
    WEFT_AUTO weft_array *plain =
        from(values, (size_t)count * sizeof *values, WEFT_SHAPE(size[0], size[1]), WEFT_F32);
    return plain ? weft_cast(plain, dtype) : NULL;
}

static weft_array *compute(weft__engine engine, const char *text, weft_array *const *arrays)
{
    static const char *const names[] = {"a", "b", "d"};
    const weft_operand operands[] = {WEFT_OPERAND(arrays[0]), WEFT_OPERAND(arrays[1]),
                                     WEFT_OPERAND(arrays[2])};
    weft__engine_choose((int)engine);
    weft_device_reset(WEFT_CPU);
    return weft_evaluate_new(text, strchr(text, 'd') && strstr(text, "*d") ? 3 : 2, names,
                             operands);
}

static bool same_bits(const char *code, weft_array *const *arrays)
{
    static char bytes[16 * MOST];
    char text[TEXT];
    write_code(code, weft_dtype_name(weft_array_dtype(arrays[0])), text);
    WEFT_AUTO weft_array *plain = compute(WEFT__ENGINE_INTERPRETER, text, arrays);
    WEFT_AUTO weft_array *quick = compute(WEFT__ENGINE_QUICK, text, arrays);
    return is_same(text, plain, quick, bytes);
}

static bool check_layout(const int64_t *shape, weft_dtype dtype, int layout)
{
    WEFT_AUTO weft_array *x = numbers(shape, 1, dtype), *y = numbers(shape, 2, dtype);
    WEFT_AUTO weft_array *d = numbers((int64_t[]){1, shape[1]}, 3, dtype);
    CHECK_OR(x && y && d, false);
    WEFT_AUTO weft_array *a = laid_out(x, layout), *b = laid_out(y, 2 * layout % LAYOUTS);
    CHECK_OR(a && b, false);
    for (int k = 0; k < CODES; k++)
        if (!test_quick() || (k + layout) % 3 == 0)
            CHECK_OR(same_bits(codes[k], (weft_array *const[]){a, b, d}), false);
    return true;
}

TEST(same_bits_in_every_layout)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F64, WEFT_C64, WEFT_C128, WEFT_F16};
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_QUICK);
    for (int d = 0; d < 5; d++)
        for (int s = 0; s < SHAPES; s++)
            CHECK(check_layout(shapes[s], dtypes[d], (d + s) % LAYOUTS));
    for (int layout = 0; layout < LAYOUTS; layout++)
        CHECK(check_layout(shapes[2], WEFT_F32, layout));
}

TEST_MAIN(TEST_NO_FAULTS(same_bits_in_every_layout,
                         "compiles many kernels; llvm_repeat covers it"));
