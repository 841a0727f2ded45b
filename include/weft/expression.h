/* Expressions: C text over arrays and numbers, computed by one fused kernel. */
#ifndef WEFT_EXPRESSION_H
#define WEFT_EXPRESSION_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/*     weft(c += 1.0f/a + 2.0f*a*b, a, b, c);
 *     weft(m = a*b; c = m + 1; d = m - 1, a, b, c, d);
 *
 * The code is C over the operands that follow it, at most 32: arrays, and C numbers. An operand's
 * text is its name in the code (`s->u` too). Names that are assigned and are no operands are
 * locals. The work is queued on the stream of the arrays; every right side sees the arrays as they
 * were before. An error shows the code with a caret under what is wrong. */
#define weft(code, ...)                                                                            \
    weft_evaluate_site(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__,                                   \
                       sizeof(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__) - 1,                       \
                       WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))
/* A new array with the value of the last statement, an expression:
 * weft_new(where(a > b, a, b), a, b). */
#define weft_new(code, ...)                                                                        \
    weft_new_site(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__,                                        \
                  sizeof(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__) - 1, WEFT__COUNT(__VA_ARGS__),  \
                  WEFT__OPERANDS(__VA_ARGS__))
/* The value of an expression of one element, into a C number: waits. Of more it is an error. */
#define weft_value(out, code, ...)                                                                 \
    weft_value_site((out), WEFT__DTYPE_OF(out), WEFT__PLACE "\0" #code "\0" #__VA_ARGS__,          \
                    sizeof(WEFT__PLACE "\0" #code "\0" #__VA_ARGS__) - 1,                          \
                    WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))

/* The same for code that is made at run time, and for other languages: names[k] is the text of
 * operands[k]; at most 256. */
WEFT_API weft_status weft_evaluate(const char *code, int count, const char *const *names,
                                   const weft_operand *operands);
WEFT_API weft_array *weft_evaluate_new(const char *code, int count, const char *const *names,
                                       const weft_operand *operands);

/* The functions under the macros. A site is "file:line", the code and the operands' texts, each
 * ended by a NUL; its address is what compiled code is found by. */
WEFT_API weft_status weft_evaluate_site(const char *site, size_t length, int count,
                                        const weft_operand *operands);
WEFT_API weft_array *weft_new_site(const char *site, size_t length, int count,
                                   const weft_operand *operands);
WEFT_API weft_status weft_value_site(void *out, weft_dtype dtype, const char *site, size_t length,
                                     int count, const weft_operand *operands);

/* The code is made text in the macros above themselves: passed on, its own macros would be
 * expanded. */
#define WEFT__PLACE __FILE__ ":" WEFT__TEXT(__LINE__)
#ifdef __cplusplus
}
#include <initializer_list>
inline const weft_operand *weft__operands(std::initializer_list<weft_operand> list)
{
    return list.begin();
}
#define WEFT__OPERANDS(...) weft__operands({WEFT__LIST(WEFT_OPERAND, __VA_ARGS__)})
#else
#define WEFT__OPERANDS(...) ((const weft_operand[]){WEFT__LIST(WEFT_OPERAND, __VA_ARGS__)})
#endif
#endif
