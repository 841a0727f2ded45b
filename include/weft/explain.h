/* What an expression or a kernel becomes, as text for people. */
#ifndef WEFT_EXPLAIN_H
#define WEFT_EXPLAIN_H

#include <weft/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/*     char *text;
 *     if (weft_explain(&text, "llvm", c = a*b + 1, a, b, c) == WEFT_OK)
 *         puts(text);
 *     weft_explain_free(text);
 *
 * The program with the type of every value, how it is cut into kernels, each kernel in primitives
 * with the form that its operands have in memory, and the code for a target: "interpreter", "llvm",
 * "cuda" or "opencl", whatever devices there are; NULL leaves the code out. The code may also be an
 * expression, as of weft_new. Nothing is computed, allocated on a device or waited for. *text is
 * NULL when it fails. */
#define weft_explain(text, target, code, ...)                                                      \
    weft_explain_site((text), (target), WEFT__PLACE "\0" #code "\0" #__VA_ARGS__,                  \
                      sizeof(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__) - 1,                        \
                      WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))
/* The same for a portable kernel: weft_explain_launch(&text, NULL, blur, out, in, out). */
#define weft_explain_launch(text, target, kernel, space, ...)                                      \
    WEFT__EXPLAIN(space)                                                                           \
    ((text), (target), &(kernel), (space), WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))

/* For code that is made at run time, as weft_evaluate. */
WEFT_API weft_status weft_explain_code(char **text, const char *target, const char *code, int count,
                                       const char *const *names, const weft_operand *operands);
WEFT_API void weft_explain_free(char *text);

/* The functions under the macros. */
WEFT_API weft_status weft_explain_site(char **text, const char *target, const char *site,
                                       size_t length, int count, const weft_operand *operands);
WEFT_API weft_status weft_explain_over(char **text, const char *target, const weft_kernel *kernel,
                                       const weft_array *space, int count,
                                       const weft_operand *operands);
WEFT_API weft_status weft_explain_shape(char **text, const char *target, const weft_kernel *kernel,
                                        weft_shape space, int count, const weft_operand *operands);

#ifdef __cplusplus
}
inline auto weft__explain(const weft_array *) { return weft_explain_over; }
inline auto weft__explain(const weft_shape &) { return weft_explain_shape; }
#define WEFT__EXPLAIN(space) weft__explain(space)
#else
#define WEFT__EXPLAIN(space)                                                                       \
    _Generic((space), weft_array *                                                                 \
             : weft_explain_over, const weft_array *                                               \
             : weft_explain_over, weft_shape                                                       \
             : weft_explain_shape)
#endif
#endif
