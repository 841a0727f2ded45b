/* Calls of other functions, written out in the text of the one that makes them. */
#ifndef WEFT_FUNCTION_EXPAND_H
#define WEFT_FUNCTION_EXPAND_H

#include "function/function.h"

/* A text that the function's code was made of; the first is its own. */
struct weft__function_source {
    weft__lang_name name, code;
    char *memory;   /* of both */
    int32_t caller; /* the source that calls it, or -1 … */
    uint32_t call;  /* … and where */
};

/* From here on the code is that of a source. */
struct weft__function_origin {
    uint32_t at;
    int32_t source;
    uint32_t column;
};

/* Writes bound functions into the code where it calls them. Without such calls nothing changes. */
weft_status weft__function_expand(weft__function *function);
/* The source and the column in it that a column of the code comes from. */
const weft__function_source *weft__function_origin_of(const weft__function *function,
                                                      uint32_t *column);
void weft__function_sources_free(weft__function *function);
/* The last error about the code, shown in the text that it comes from. */
weft_status weft__function_relocate(const weft__function *function, weft_status status);

/* names.c: what a name of a body is, before anything is parsed. */
/* Whether the text assigns to the name as a whole, or declares it. */
bool weft__function_text_assigns(weft__lang_name code, const char *text, size_t length);
/* The parameters of "(x, y)"; -1 if it is none of them. */
int weft__function_parameter(weft__lang_name list, const char *text, size_t length);
int weft__function_parameters(weft__lang_name list);
/* Ends in __ and a number, as only names that are made here do. */
bool weft__function_is_made(const char *text, size_t length);

#endif
