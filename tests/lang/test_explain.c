/* weft_explain: the text says what is computed, in which kernels, with which code. */
#include "support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* Whether the parts come in the text one after the other; NULL ends the list. */
static bool has_in_order(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        const char *found = text ? strstr(text, *parts) : NULL;
        if (!found) {
            fprintf(stderr, "'%s' is missing in\n%s\n", *parts, text ? text : "(nothing)");
            return false;
        }
        text = found + strlen(*parts);
    }
    return true;
}

#define CHECK_PARTS(text, ...)                                                                     \
    do {                                                                                           \
        const char *const parts[] = {__VA_ARGS__, NULL};                                           \
        bool right = has_in_order(text, parts);                                                    \
        weft_explain_free(text);                                                                   \
        CHECK(right);                                                                              \
    } while (0)

static uint64_t work_done(void)
{
    weft_statistics s = {0};
    weft_memory_stats(device(), &s);
    return s.launches + s.compilations + s.allocations;
}

TEST(X1_explain_an_expression)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(6, 4), .device = device());
    WEFT_AUTO weft_array *b = weft_zeros_like(a), *t = weft_transpose(b);
    double s = 2;
    char *text;
    CHECK(a && b && t);
    uint64_t before = work_done();
    CHECK_STATUS(weft_explain(&text, NULL, b += 1.0f / a + s * a, a, s, b), WEFT_OK);
    CHECK_INT(work_done(), before);
    CHECK_PARTS(text, "program: b += 1.0f / a + s * a\n", "operands:\n",
                "    a : f32 (6, 4) contiguous\n", "    s : a C number, f64\n", "values:\n",
                " = divide %", " = multiply %", "    b = %", "1 kernel, 0 temporaries\n",
                "kernel 0:\n", "index space (6, 4), canonical (24,)\n", "reads a f32, unit\n",
                "writes b f32, unit\n", "load a : f32\n", "div v", "scalar s : f64\n", "cast v",
                "store v");
    CHECK_STATUS(weft_explain(&text, NULL, sin(t) > 0, t), WEFT_OK);
    CHECK_PARTS(text, "    t : f32 (4, 6) strides 4 16\n", "sin %", "the value is %", "kernel 0:\n",
                "index space (4, 6), canonical (4, 6)", "reads t f32, unit general\n",
                "writes the value bool, general unit\n", "fma v", "store v", "the value\n");
}

TEST(X4_explain_several_kernels)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(6, 4), .device = device());
    char *text;
    CHECK(a);
    CHECK_STATUS(weft_explain(&text, "interpreter", a / sqrt(sum(a * a, axis = 1, keep = true)), a),
                 WEFT_OK);
    CHECK_PARTS(text, "= sum %", "over axes 1 : f32 (6, 1)\n", "2 kernels, 1 temporary\n",
                "kernel 0:\n", "writes temporary 0 f32", "= fold add v", "code for interpreter:\n",
                "at each point:\n", "fetch operand 0", "mul ", "fold 0", "for each result:\n",
                "sqrt ", "put to operand 1", "kernel 1:\n", "reads temporary 0 f32",
                "code for interpreter:\n", "div ", "put to operand 2");
    CHECK_STATUS(weft_explain(&text, NULL, shift(a, 1, boundary = wrap) * 2.0i, a), WEFT_OK);
    CHECK_PARTS(text, "shift a by (1, 0), boundary wrap : f32 (6, 4)\n", "0+2i : c64",
                "load a shifted by (1, 0) wrap : f32\n", "store v", "the value, real\n",
                "the value, imaginary\n");
}

TEST(X1_explain_the_code_of_llvm)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(64), .device = device());
    char *text = NULL;
    CHECK(a);
    weft_status status = weft_explain(&text, "llvm", a * 2, a);
    if (status == WEFT_ERROR_UNSUPPORTED)
        SKIP("there is no libLLVM");
    CHECK_STATUS(status, WEFT_OK);
    CHECK_PARTS(text, "code for llvm:\n", ".text", "ret");
}

WEFT_KERNEL(blur, (in, out), { out(i, j) = 0.5f * (in(i - 1, j) + in(j, i)); });

TEST(K1_explain_a_kernel)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(5, 5), .device = device());
    WEFT_AUTO weft_array *b = weft_zeros_like(a);
    char *text;
    CHECK(a && b);
    uint64_t before = work_done();
    CHECK_STATUS(weft_explain_launch(&text, "interpreter", blur, b, a, b), WEFT_OK);
    CHECK_INT(work_done(), before);
    CHECK_PARTS(text, "kernel blur(in, out) over (5, 5): ", "    in : f32 (5, 5) contiguous\n",
                "    in(j, i) : f32 (5, 5) strides 4 20\n", "    out(i, j) : f32 (5, 5)",
                "shift in by (-1, 0), boundary unshifted", "out(i, j) = %",
                "1 kernel, 0 temporaries", "writes out(i, j) f32, general unit\n",
                "load in shifted by (-1, 0) unshifted : f32\n", "load in(j, i) : f32\n",
                "code for interpreter:\n", "put to operand");
    CHECK_STATUS(weft_explain_launch(&text, NULL, blur, WEFT_SHAPE(2, 2), a, b), WEFT_OK);
    CHECK_PARTS(text, "over (2, 2)", "kernel 0:\n");
    CHECK_STATUS(weft_explain_launch(&text, NULL, blur, WEFT_SHAPE(9, 9), a, b), WEFT_ERROR_SHAPE);
    CHECK(!text);
}

TEST(X1_explain_for_devices_that_are_not_here)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(5, 7), .device = device());
    char *text;
    CHECK(a);
    CHECK_STATUS(weft_explain(&text, "cuda", 2 * a, a), WEFT_OK);
    CHECK_PARTS(text, "code for cuda:\n", "__global__", "weft_kernel(");
    CHECK_STATUS(weft_explain(&text, "opencl", sum(a, axis = 0), a), WEFT_OK);
    CHECK_PARTS(text, "code for opencl:\n", "__kernel", "weft_kernel(");
}

TEST(X1_explain_at_run_time_and_errors)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(5), .device = device());
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    static const char *const names[] = {"a", "h"};
    char *text = NULL;
    CHECK(a && handle);
    weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(handle)};
    CHECK_STATUS(weft_explain_code(&text, NULL, "h = a + 1", 2, names, operands), WEFT_OK);
    CHECK(weft_array_is_handle(handle));
    CHECK_PARTS(text, "    h : ", "without memory yet\n", "writes h f32, unit\n");
    CHECK_STATUS(weft_explain(&text, "metal", a + 1, a), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "'metal' is no target; there are interpreter, llvm, cuda");
    CHECK(!text);
    CHECK_STATUS(weft_explain_code(&text, NULL, "a + b", 1, names, operands), WEFT_ERROR_SYNTAX);
    CHECK_ERROR(WEFT_ERROR_SYNTAX, "unknown name 'b'");
    CHECK_STATUS(weft_explain_code(&text, NULL, "a = b", 1, names, operands), WEFT_ERROR_SYNTAX);
    CHECK_ERROR(WEFT_ERROR_SYNTAX, "unknown name 'b'");
    CHECK_STATUS(weft_explain_code(&text, NULL, NULL, 1, names, operands), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_explain_code(NULL, NULL, "a", 1, names, operands), WEFT_ERROR_ARGUMENT);
    weft_explain_free(NULL);
}

TEST_MAIN(TEST_OF(X1_explain_an_expression), TEST_OF(X4_explain_several_kernels),
          TEST_NO_FAULTS(X1_explain_the_code_of_llvm, "libLLVM keeps what it allocates"),
          TEST_OF(K1_explain_a_kernel), TEST_OF(X1_explain_for_devices_that_are_not_here),
          TEST_OF(X1_explain_at_run_time_and_errors));
