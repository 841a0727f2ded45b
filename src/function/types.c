/* Types of C and of Weft, as names of declarations. */
#include "function/types.h"

weft_dtype weft__function_type(weft__lexer *lexer)
{
    weft__lexer behind = *lexer;
    const weft_dtype dtype = weft__lang_type(&behind, true);
    weft__lexer after = behind;
    if (!dtype || weft__lex(&after).kind != WEFT__TOKEN_NAME)
        return WEFT_DTYPE_DEFAULT;
    *lexer = behind;
    return dtype;
}
