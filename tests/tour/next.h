/* The declarations that functions will have: the shape they
 * must keep, compiled with the tour before any of them is built. A declaration moves to
 * include/weft when it works. */
#ifndef WEFT_TOUR_NEXT_H
#define WEFT_TOUR_NEXT_H

#include <weft/weft.h>

/* Functions are texts with a name; what they compile to hangs on the cache behind them. */
typedef struct weft_function {
    const char *name, *parameters, *body, *place;
} weft_function;
#define WEFT_FUNCTION(name, parameters, ...)                                                       \
    static const weft_function name = {#name, #parameters, #__VA_ARGS__,                           \
                                       __FILE__ ":" WEFT__TEXT(__LINE__)}
weft_status weft_call_with(const weft_function *function, void *out, weft_dtype dtype, int count,
                           const weft_operand *operands);
#define weft_call(function, out, ...)                                                              \
    weft_call_with(&(function), (out), WEFT__DTYPE_OF(out), WEFT__COUNT(__VA_ARGS__),              \
                   WEFT__OPERANDS(__VA_ARGS__))

#endif
