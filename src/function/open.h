/* Functions as they are kept: opened from their texts, and closed. */
#ifndef WEFT_FUNCTION_OPEN_H
#define WEFT_FUNCTION_OPEN_H

#include "function/function.h"

/* Parses and analyses. */
weft_status weft__function_open(const weft_function *key, weft__function **made);
void weft__function_close(weft__function *function);
/* Whether it was made of this text: an address may be another function's by now. */
bool weft__function_is(const weft__function *function, const weft_function *key);
/* Puts the function's name before the message of a failure. */
weft_status weft__function_failed(const weft_function *key, weft_status status);
/* What this thread keeps of it. */
weft_status weft__function_find(const weft_function *key, weft__function **found);

#endif
