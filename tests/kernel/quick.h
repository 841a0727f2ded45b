/* Texts for several dtypes, and their results by two engines. */
#ifndef WEFT_TESTS_KERNEL_QUICK_H
#define WEFT_TESTS_KERNEL_QUICK_H

#include "kernel/engines.h"
#include "support/arrays.h"

/* `$` is for the dtype that is computed in. */
static inline void write_code(const char *code, const char *dtype, char *text)
{
    for (; *code; code++)
        if (*code == '$')
            text += snprintf(text, 8, "%s", dtype);
        else
            *text++ = *code;
    *text = '\0';
}

/* Whether what quick code gave has the bits of what the interpreter gave; `bytes` has room for
 * them. */
static inline bool is_same(const char *text, weft_array *plain, weft_array *quick, char *bytes)
{
    const size_t count = plain ? weft_array_bytes(plain) : 0;
    const bool same = plain && quick && weft_copy_to_host(plain, bytes, count) == WEFT_OK &&
                      holds(quick, bytes, count);
    if (!same)
        fprintf(stderr, "%s: %s\n", text, weft_error_message());
    return same;
}

#endif
