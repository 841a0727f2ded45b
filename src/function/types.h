/* Types of C and of Weft, as names of declarations. */
#ifndef WEFT_FUNCTION_TYPES_H
#define WEFT_FUNCTION_TYPES_H

#include "lang/lexer.h"

/* The type at the lexer's position, which then moves behind it, if a name follows it;
 * WEFT_DTYPE_DEFAULT if there is none. */
weft_dtype weft__function_type(weft__lexer *lexer);

#endif
