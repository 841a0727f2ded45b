/* Functions as they are kept: opened from their texts, and closed. */
#ifndef WEFT_FUNCTION_OPEN_H
#define WEFT_FUNCTION_OPEN_H

#include "function/function.h"

/* Parses and analyses, for these arguments: only which are arrays matters. */
weft_status weft__function_open(const weft_function *key, int count, const weft_operand *operands,
                                weft__function **made);
/* Whether it is right for these arguments. */
bool weft__function_takes(const weft__function *function, int count, const weft_operand *operands);
void weft__function_close(weft__function *function);
/* Whether it was made of this text: an address may be another function's by now. */
bool weft__function_is(const weft__function *function, const weft_function *key);
/* Puts the function's name before the message of a failure. */
weft_status weft__function_failed(const weft__function *function, weft_status status);
/* What this thread keeps of it. */
weft_status weft__function_find(const weft_function *key, weft__function **found);

#endif
